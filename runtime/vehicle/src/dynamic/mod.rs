//! The dynamic one-track model: a bicycle model with tyre slip.
//!
//! State: velocity of the centre of gravity along and across the body, and yaw rate. Lateral forces
//! follow from the slip angles and loads of the two axles and from the [`Tyre`]. The loads shift
//! with the acceleration. Longitudinal and lateral forces share the grip of an axle (friction
//! circle). The [`linear`] form is for a given speed and small angles ([CommonRoad models 2020],
//! single-track model).
//!
//! Slip angles are meaningless when the vehicle comes to rest. Therefore, in the speed range
//! [`BLEND`], the motion blends into that of the kinematic model, as in [Kabzan 2020]. Below this
//! range, the state and tyre equations still apply. The body moves by the mean of both motions,
//! weighted by speed.
//!
//! ```
//! use roadwright_scenario::VehicleType;
//! use roadwright_vehicle::dynamic::{DynamicState, SingleTrack, Wish};
//! use roadwright_vehicle::OneTrackLimits;
//!
//! let kind = VehicleType::car();
//! let (limits, model) = (OneTrackLimits::from(&kind), SingleTrack::from(&kind));
//! let mut state = DynamicState { speed: 20.0, ..DynamicState::default() };
//! let mut wish = Wish { acceleration: 0.0, is_reversing: false, limits };
//! for _ in 0..100 {
//!     state = state.step(&model, &limits, &mut wish, 0.02, 0.01, 200.0);
//! }
//! // It turns to the left, and its rear axle swings out to the right.
//! assert!(state.yaw_rate > 0.1 && state.sideways < 0.0);
//! ```

pub mod linear;
mod substep;
mod tyre;

pub use linear::LinearState;
pub use tyre::Tyre;

use crate::one_track::OneTrackLimits;
use roadwright_geometry::Pose;
use roadwright_scenario::VehicleType;
use roadwright_scenario::vehicle_file::{TyreModel, VehicleFile};

/// Acceleration of gravity, m/s^2.
pub const GRAVITY: f64 = 9.81;
/// Speed range in which the kinematic model blends into the dynamic model, m/s. Below it, slip speeds of a
/// few mm/s would dominate the slip angles. Its upper end is a brisk walking pace, at which side slip is
/// still negligible.
pub const BLEND: [f64; 2] = [1.0, 3.0];
/// Friction coefficient, and cornering stiffness divided by load (1/rad), of a passenger car's tyre
/// on dry asphalt. The values are p_dy1 and -p_ky1 of [CommonRoad models 2020], table of tyre
/// parameters.
pub const CAR_TYRE: (f64, f64) = (1.0489, 21.92);
/// Default height of the centre of gravity as a fraction of the overall height. Common cars have 0.37 to
/// 0.40.
pub(crate) const CENTRE_HEIGHT: f64 = 0.38;
/// Minimum distance of the centre of gravity from both axles as a fraction of the wheelbase. It
/// applies if the position is not given.
const CENTRE_MARGIN: f64 = 0.3;
/// Maximum number of substeps per step.
const MOST_SUBSTEPS: f64 = 4096.0;

/// Parameters of the dynamic one-track model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SingleTrack {
    /// Mass, kg.
    pub mass: f64,
    /// Yaw inertia about the vertical axis through the centre of gravity, kg m^2.
    pub yaw_inertia: f64,
    /// Distance from the centre of gravity to the front axle, m.
    pub front: f64,
    /// Distance from the centre of gravity to the rear axle, m.
    pub rear: f64,
    /// Height of the centre of gravity above the ground, m.
    pub height: f64,
    /// Friction coefficient of tyres on the ground.
    pub friction: f64,
    /// Cornering stiffness of front and rear axle divided by their loads, 1/rad.
    pub stiffness: [f64; 2],
    /// Relation between lateral tyre force and slip.
    pub tyre: Tyre,
}

/// Creates the model from the dimensions and limits of a vehicle type. The centre of gravity is at
/// the centre of the body. The yaw inertia is mass x front x rear, which is within 10 % of the
/// measured values of vehicles 1 to 3 of [CommonRoad models 2020]. The tyres are those of a
/// passenger car.
impl From<&VehicleType> for SingleTrack {
    fn from(kind: &VehicleType) -> Self {
        if let Some(file) = &kind.file {
            return Self::from(&file.vehicle);
        }
        let margin = CENTRE_MARGIN * kind.wheelbase;
        let rear = kind.body_centre().clamp(margin, kind.wheelbase - margin);
        let front = kind.wheelbase - rear;
        let (friction, stiffness) = CAR_TYRE;
        Self {
            mass: kind.mass.get(),
            yaw_inertia: kind.mass * front * rear,
            front,
            rear,
            height: CENTRE_HEIGHT * kind.height,
            friction,
            stiffness: [stiffness; 2],
            tyre: Tyre::Brush,
        }
    }
}

/// Creates the model of a vehicle file. The axle positions and the yaw inertia are those of the
/// file. Missing values have the same defaults as for vehicle types without a file.
impl From<&VehicleFile> for SingleTrack {
    fn from(file: &VehicleFile) -> Self {
        let (front, rear) = file.axles();
        let height = file.body.height + file.body.ground_clearance;
        let stiffness = file.wheels.cornering_stiffness.unwrap_or(CAR_TYRE.1);
        Self {
            mass: file.mass(),
            yaw_inertia: file.yaw_inertia(),
            front,
            rear: -rear,
            height: file.body.centre_height.unwrap_or(CENTRE_HEIGHT * height),
            friction: file.wheels.friction.unwrap_or(CAR_TYRE.0),
            stiffness: [stiffness; 2],
            tyre: match file.wheels.tyre {
                TyreModel::Saturating => Tyre::Brush,
                TyreModel::Linear => Tyre::Linear,
            },
        }
    }
}

impl SingleTrack {
    /// Wheelbase, m.
    #[inline]
    pub fn wheelbase(&self) -> f64 {
        self.front + self.rear
    }

    /// Returns the loads of the front and rear axle at the given longitudinal acceleration (m/s^2), N. The
    /// load of a lifted axle is 0.
    #[inline]
    pub fn axle_loads(&self, acceleration: f64) -> [f64; 2] {
        let share = self.mass / self.wheelbase();
        let shifted = acceleration * self.height;
        let whole = self.mass * GRAVITY;
        let front = (share * (GRAVITY * self.rear - shifted)).clamp(0.0, whole);
        let rear = (share * (GRAVITY * self.front + shifted)).clamp(0.0, whole);
        [front, rear]
    }

    /// Understeer gradient, rad s^2/m: the additional steering angle on a circle compared with a vehicle
    /// without slip, divided by the lateral acceleration. Positive if the front axle is softer relative to
    /// its load.
    pub fn understeer_gradient(&self) -> f64 {
        let [front, rear] = self.stiffness;
        (1.0 / front - 1.0 / rear) / GRAVITY
    }

    /// Returns the fastest decay rate of side slip and yaw rate at the given speed, 1/s. Steps must
    /// be shorter than twice the inverse of this rate.
    #[inline]
    pub fn stiffness_rate(&self, speed: f64) -> f64 {
        let moment = self.mass * self.front * self.rear / self.yaw_inertia;
        let stiffest = self.stiffness[0].max(self.stiffness[1]);
        stiffest * GRAVITY * moment.max(1.0) / speed.max(BLEND[0])
    }
}

/// Position and motion of a vehicle, at the centre of its rear axle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DynamicState {
    /// Position of the centre of the rear axle, and heading of the body.
    pub pose: Pose,
    /// Speed along the body, m/s; negative backwards.
    pub speed: f64,
    /// Lateral speed of the rear axle, m/s, positive to the left.
    pub sideways: f64,
    /// Yaw rate, rad/s.
    pub yaw_rate: f64,
    /// Angle of the front wheels, rad, positive to the left.
    pub steering: f64,
}

/// Forces on a vehicle divided by its mass, m/s^2.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Push {
    /// Force of the driven wheels on the ground; negative backwards.
    pub drive: f64,
    /// Fraction of `drive` on the front axle, 0 to 1; `None` to distribute it in proportion to the axle
    /// loads.
    pub driven_front: Option<f64>,
    /// Force of the brakes against the motion, at least 0. It is distributed in proportion to the axle loads.
    pub brake: f64,
    /// Drag and rolling resistance against the motion, at least 0. They need no grip.
    pub resistance: f64,
    /// Acceleration due to gravity along the body; negative uphill. It needs no grip.
    pub slope: f64,
    /// Acceleration due to gravity across the body, positive to the left. The tyres resist it as
    /// far as their grip permits.
    pub bank: f64,
}

/// Source of a vehicle's driving and braking forces, such as pedals with engine and brakes.
pub trait Propulsion {
    /// Returns the forces for the next `dt` seconds at the given speed along the body, m/s.
    fn push(&mut self, speed: f64, dt: f64) -> Push;
}

/// Propulsion of a vehicle on a slope across its heading.
#[derive(Debug)]
pub struct Banked<'a, P> {
    /// Propulsion along the vehicle.
    pub propulsion: &'a mut P,
    /// Acceleration due to gravity across the body, m/s^2, positive to the left.
    pub bank: f64,
}

impl<P: Propulsion> Propulsion for Banked<'_, P> {
    fn push(&mut self, speed: f64, dt: f64) -> Push {
        Push {
            bank: self.bank,
            ..self.propulsion.push(speed, dt)
        }
    }
}

/// Propulsion that realises a requested acceleration within the limits of the vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wish {
    /// Requested acceleration in the intended direction of travel, m/s^2; non-finite values mean full
    /// braking.
    pub acceleration: f64,
    /// Whether the driver wants to reverse.
    pub is_reversing: bool,
    /// Limits of the vehicle.
    pub limits: OneTrackLimits,
}

impl Propulsion for Wish {
    fn push(&mut self, speed: f64, dt: f64) -> Push {
        let direction = if self.is_reversing { -1.0 } else { 1.0 };
        let along = speed * direction;
        let wanted = self.limits.acceleration(self.acceleration);
        // A gear is engaged only at a standstill. Until then, the vehicle brakes against the
        // direction in which it rolls.
        if along < 0.0 {
            return Push {
                brake: self.limits.max_braking,
                ..Push::default()
            };
        }
        if wanted < 0.0 {
            return Push {
                brake: -wanted,
                ..Push::default()
            };
        }
        // The vehicle does not exceed its top speed even within the step.
        let room = (self.limits.max_speed - along).max(0.0) / dt;
        Push {
            drive: direction * wanted.min(room),
            ..Push::default()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Vehicle 2 of [CommonRoad models 2020], from parameters_vehicle2.yaml of version 3.0.2. The model uses
    /// the height of the sprung mass for the whole vehicle.
    pub(crate) fn bmw_320i() -> SingleTrack {
        SingleTrack {
            mass: 1_093.295_233_467_404_6,
            yaw_inertia: 1_791.599_530_012_285_6,
            front: 1.156_195_706_4,
            rear: 1.422_717_093_6,
            height: 0.613_730_04,
            friction: CAR_TYRE.0,
            stiffness: [CAR_TYRE.1; 2],
            tyre: Tyre::Brush,
        }
    }
}
