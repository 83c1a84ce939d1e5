//! The sliding car of the level `sliding`, driven by the commands of frames.

use crate::frame::{Frame, FrameCommand, Gear};
use roadwright_geometry::{DVec2, Pose, left_of, unit};
use roadwright_scenario::vehicle_file::VehicleFile;
use roadwright_vehicle::OneTrackLimits;
use roadwright_vehicle::sliding::{SlidingModel, SlidingState, Wanted};

/// Minimum step rate of the vehicle model, Hz.
const PHYSICS_RATE: f64 = 200.0;

/// A sliding car and its limits.
#[derive(Debug, Clone)]
pub struct SlidingCar {
    model: SlidingModel,
    limits: OneTrackLimits,
}

/// State of a sliding car, with the angle of its wheels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarState {
    state: SlidingState,
    wheels: f64,
}

impl CarState {
    /// Yaw rate, rad/s, positive to the left.
    pub fn yaw_rate(&self) -> f64 {
        self.state.yaw_rate
    }
}

impl SlidingCar {
    /// Creates the car of a vehicle file; `None` if the file has no sliding car.
    pub fn of_file(file: &VehicleFile) -> Option<Self> {
        Some(Self {
            model: SlidingModel::of_file(file)?,
            limits: OneTrackLimits::from(&file.vehicle_type()),
        })
    }

    /// Distance between the axles, m.
    pub fn wheelbase(&self) -> f64 {
        self.model.wheelbase()
    }

    /// Returns the car at the origin, driving straight ahead at `speed` m/s.
    pub fn begin(&self, speed: f64) -> CarState {
        let state = SlidingState {
            position: Pose::new(0.0, 0.0, 0.0).point(self.model.rear, 0.0),
            velocity: DVec2::new(speed, 0.0),
            ..SlidingState::default()
        };
        CarState { state, wheels: 0.0 }
    }

    /// Returns the car with the motion of a frame.
    pub fn at(&self, frame: &Frame) -> CarState {
        let forward = unit(frame.pose.heading);
        CarState {
            state: SlidingState {
                position: frame.pose.point(self.model.rear, 0.0),
                heading: frame.pose.heading,
                velocity: forward * frame.forward + left_of(forward) * frame.sideways,
                yaw_rate: frame.yaw_rate,
            },
            wheels: frame.wheels,
        }
    }

    /// Returns the state of the car after it has followed a command for `dt` seconds.
    pub fn after(&self, now: &CarState, command: FrameCommand, dt: f64) -> CarState {
        let wanted = Wanted {
            acceleration: command.acceleration,
            is_reversing: command.gear == Gear::Reverse,
            // Controllers see a vehicle that reverses as turned around.
            steering: match command.gear {
                Gear::Forwards => command.steering,
                Gear::Reverse => -command.steering,
            },
            limits: self.limits,
            slope: None,
            pedals: None,
        };
        let advanced = now
            .state
            .advance(&self.model, &wanted, now.wheels, dt, PHYSICS_RATE);
        CarState {
            state: advanced.0,
            wheels: advanced.1,
        }
    }

    /// Converts the state of the car to a frame, with the command that follows.
    pub fn frame(&self, now: &CarState, command: FrameCommand) -> Frame {
        let pose = now.state.pose(&self.model);
        Frame {
            pose,
            forward: now.state.along(),
            sideways: now.state.velocity.dot(pose.left()),
            yaw_rate: now.state.yaw_rate,
            wheels: now.wheels,
            command,
        }
    }
}
