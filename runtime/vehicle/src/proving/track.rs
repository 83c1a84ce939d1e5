//! A vehicle on the test track, with a driver that follows a path.

use super::Subject;
use crate::drive_train::{DriveState, Driver};
use crate::dynamic::{DynamicState, GRAVITY, SingleTrack, Wish};
use roadwright_geometry::math::{atan, wrap_angle};
use roadwright_geometry::{DVec2, Pose};

/// Rate of the force computation, Hz.
const RATE_HZ: f64 = 200.0;
/// Gain of the speed control, 1/s.
const SPEED_GAIN: f64 = 1.0;

/// A path to follow, relative to the vehicle: lateral offset, direction and curvature.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// Offset of the vehicle from the path, m to the left.
    pub(super) offset: f64,
    /// Heading of the path, rad.
    pub(super) heading: f64,
    /// Curvature of the path, 1/m.
    pub(super) curvature: f64,
}

/// A vehicle on the track.
pub(super) struct Car<'a> {
    subject: &'a Subject<'a>,
    model: &'a SingleTrack,
    drive: DriveState,
    pub(super) state: DynamicState,
}

impl<'a> Car<'a> {
    pub(super) fn new(subject: &'a Subject<'a>, model: &'a SingleTrack, speed: f64) -> Self {
        let mut drive = DriveState::default();
        if let Some(train) = &subject.train {
            let gears = train.gears.iter();
            let below = gears.filter(|gear| train.rpm(gear, speed) >= train.up_rpm);
            drive.shifting.gear = below.count().min(train.gears.len() - 1) as u8;
        }
        let state = DynamicState {
            speed,
            ..DynamicState::default()
        };
        Self {
            subject,
            model,
            drive,
            state,
        }
    }

    /// Takes a step. `acceleration` is the requested acceleration in m/s^2, and `steering` is the requested
    /// steering angle in rad.
    pub(super) fn step(&mut self, acceleration: f64, steering: f64, dt: f64) {
        let limits = &self.subject.limits;
        self.state = match &self.subject.train {
            Some(train) => {
                let mut driver = Driver {
                    train,
                    state: &mut self.drive,
                    acceleration,
                    is_reversing: false,
                    pull: 0.0,
                    pedals: None,
                };
                (self.state).step(self.model, limits, &mut driver, steering, dt, RATE_HZ)
            }
            None => {
                let mut wish = Wish {
                    acceleration,
                    is_reversing: false,
                    limits: *limits,
                };
                (self.state).step(self.model, limits, &mut wish, steering, dt, RATE_HZ)
            }
        };
    }

    /// Steers along a path at a constant speed, m/s. The steering angle is the one for the path's
    /// curvature without slip, corrected for the offset and the heading error.
    pub(super) fn follow(&mut self, aim: Aim, speed: f64, dt: f64) {
        let along = self.state.speed.max(1.0);
        // The return to the path is of second order, with a time constant of 0.6 s and a damping ratio of 0.8
        // at any speed.
        let (stiff, damped) = (1.0 / (0.6 * along), 1.6);
        // The direction of motion is used rather than the heading, because with slip the body
        // points into the bend.
        let error = wrap_angle(self.course() - aim.heading);
        let back = -stiff * stiff * aim.offset - damped * stiff * error;
        let steering = atan(self.model.wheelbase() * (aim.curvature + back));
        self.step(SPEED_GAIN * (speed - self.state.speed), steering, dt);
    }

    /// Position of the centre of gravity.
    pub(super) fn centre(&self) -> DVec2 {
        self.state.pose.point(self.model.rear, 0.0)
    }

    /// Direction of motion of the centre of gravity, rad.
    fn course(&self) -> f64 {
        let state = &self.state;
        let across = state.sideways + self.model.rear * state.yaw_rate;
        state.pose.heading + atan(across / state.speed.max(1.0))
    }

    /// Corners of the body, m.
    pub(super) fn corners(&self) -> [DVec2; 4] {
        let body = &self.subject.file.body;
        let centre = Pose {
            position: self.centre(),
            heading: self.state.pose.heading,
        };
        let (length, width) = (0.5 * body.length, 0.5 * body.width);
        [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
            .map(|(ahead, left)| centre.point(ahead * length, left * width))
    }

    /// Highest possible speed on level ground, m/s.
    pub(super) fn top_speed(subject: &Subject<'_>) -> f64 {
        match &subject.train {
            Some(train) => train.top_speed(),
            None => subject.limits.max_speed,
        }
    }

    /// Maximum lateral acceleration that the grip allows, m/s^2.
    pub(super) fn grip(model: &SingleTrack) -> f64 {
        model.friction * GRAVITY
    }
}
