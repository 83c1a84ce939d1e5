//! The dynamic one-track model: a bicycle whose tyres slip.
//!
//! State: velocity of the centre of gravity along and across the body, and yaw rate. Lateral forces
//! follow from the slip angles of the two axles, from their loads, which shift with the acceleration,
//! and from the [`Tyre`]; force along and across share the grip of an axle (friction circle). The
//! [`linear`] form has the speed given and small angles: [CommonRoad models 2020], single-track model.
//!
//! Slip angles lose their meaning as the vehicle comes to rest. So between [`BLEND`] of speed the
//! motion goes over to that of the kinematic model, as in [Kabzan 2020]: state and
//! equations of the tyres go on below, and what moves the body is the mean of both, by speed.
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
/// Speeds between which the kinematic model goes over into the dynamic one, m/s. Below the first,
/// slip angles of a few millimetres a second would rule; the second is a brisk walk, where side slip
/// is still of no weight.
pub const BLEND: [f64; 2] = [1.0, 3.0];
/// Friction and cornering stiffness over load (1/rad) of a passenger car's tyre on dry asphalt:
/// p_dy1 and -p_ky1 of [CommonRoad models 2020], table of tyre parameters.
pub const CAR_TYRE: (f64, f64) = (1.0489, 21.92);
/// Height of the centre of gravity as a share of the height over all, where nothing says it: 0.37 to
/// 0.40 of common cars.
pub(crate) const CENTRE_HEIGHT: f64 = 0.38;
/// The centre of gravity lies at least this share of the wheelbase away from both axles, where
/// nothing says where it is.
const CENTRE_MARGIN: f64 = 0.3;
/// Most steps that a step is made of.
const MOST_SUBSTEPS: f64 = 4096.0;

/// What the dynamic one-track model knows of a vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SingleTrack {
    /// kg.
    pub mass: f64,
    /// About the vertical axis through the centre of gravity, kg m^2.
    pub yaw_inertia: f64,
    /// From the centre of gravity forward to the front axle, m.
    pub front: f64,
    /// From the centre of gravity back to the rear axle, m.
    pub rear: f64,
    /// Of the centre of gravity above the ground, m.
    pub height: f64,
    /// Of tyres and ground.
    pub friction: f64,
    /// Cornering stiffness of front and rear axle over their loads, 1/rad.
    pub stiffness: [f64; 2],
    /// How lateral forces grow with slip.
    pub tyre: Tyre,
}

/// A vehicle of which only dimensions and limits are known: its centre of gravity is in the middle
/// of its body, its yaw inertia is mass x front x rear (within 10 % of the measured ones of vehicles
/// 1 to 3 of [CommonRoad models 2020]), and its tyres are those of a passenger car.
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

/// A vehicle with a file of its own: its centre of gravity is in the middle of its body; what the
/// file does not say is as for vehicles without one.
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
    /// Distance between the axles, m.
    #[inline]
    pub fn wheelbase(&self) -> f64 {
        self.front + self.rear
    }

    /// Loads of front and rear axle, N, at an acceleration, m/s^2; an axle that would lift has none.
    #[inline]
    pub fn axle_loads(&self, acceleration: f64) -> [f64; 2] {
        let share = self.mass / self.wheelbase();
        let shifted = acceleration * self.height;
        let whole = self.mass * GRAVITY;
        let front = (share * (GRAVITY * self.rear - shifted)).clamp(0.0, whole);
        let rear = (share * (GRAVITY * self.front + shifted)).clamp(0.0, whole);
        [front, rear]
    }

    /// Angle of the wheels that a circle takes beyond that of a vehicle without slip, over the
    /// lateral acceleration, rad s^2/m: more than 0 if the front axle is the softer one over its load.
    pub fn understeer_gradient(&self) -> f64 {
        let [front, rear] = self.stiffness;
        (1.0 / front - 1.0 / rear) / GRAVITY
    }

    /// The fastest rate with which side slip and yaw rate come to rest at a speed, 1/s: steps have to
    /// be shorter than twice its inverse.
    #[inline]
    pub fn stiffness_rate(&self, speed: f64) -> f64 {
        let moment = self.mass * self.front * self.rear / self.yaw_inertia;
        let stiffest = self.stiffness[0].max(self.stiffness[1]);
        stiffest * GRAVITY * moment.max(1.0) / speed.max(BLEND[0])
    }
}

/// Where a vehicle is and how it moves: the middle of its rear axle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DynamicState {
    /// Middle of the rear axle, heading of the body.
    pub pose: Pose,
    /// Speed along the body, m/s; negative backwards.
    pub speed: f64,
    /// Speed of the rear axle across the body, m/s, positive to the left.
    pub sideways: f64,
    /// rad/s.
    pub yaw_rate: f64,
    /// Angle of the front wheels, rad, positive to the left.
    pub steering: f64,
}

/// Forces along a vehicle over its mass, m/s^2.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Push {
    /// Of the driven wheels on the ground; negative backwards.
    pub drive: f64,
    /// Share of `drive` on the front axle, 0 to 1; `None`: as the axles are loaded.
    pub driven_front: Option<f64>,
    /// Of the brakes, at least 0, against the motion; shared as the axles are loaded.
    pub brake: f64,
    /// Of air and rolling, at least 0, against the motion; asks nothing of the grip.
    pub resistance: f64,
    /// Of gravity along the body; less than 0 uphill. Asks nothing of the grip by itself.
    pub slope: f64,
    /// Of gravity across the body, positive to the left: the tyres hold against it as far as their grip
    /// goes.
    pub bank: f64,
}

/// What gives a vehicle its speed: pedals, engine and brakes.
pub trait Propulsion {
    /// Forces for the next `dt` seconds at a speed along the body, m/s.
    fn push(&mut self, speed: f64, dt: f64) -> Push;
}

/// Forces along a vehicle that stands on a slope across its heading.
#[derive(Debug)]
pub struct Banked<'a, P> {
    /// What gives the forces along it.
    pub propulsion: &'a mut P,
    /// Acceleration of gravity across the body, m/s^2, positive to the left.
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

/// A vehicle that does what it is asked within its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wish {
    /// Wanted acceleration the way that it is to drive, m/s^2; one that is not finite counts as full
    /// braking.
    pub acceleration: f64,
    /// Whether it is to drive backwards.
    pub is_reversing: bool,
    /// What it can do.
    pub limits: OneTrackLimits,
}

impl Propulsion for Wish {
    fn push(&mut self, speed: f64, dt: f64) -> Push {
        let direction = if self.is_reversing { -1.0 } else { 1.0 };
        let along = speed * direction;
        let wanted = self.limits.acceleration(self.acceleration);
        // A gear is engaged when the vehicle stands: until then it brakes the way that it rolls.
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
        // Faster than its top speed it does not drive, and it does not get there within the step.
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

    /// Vehicle 2 of [CommonRoad models 2020], parameters_vehicle2.yaml of version 3.0.2; the model has
    /// the height of the sprung mass for that of the whole one.
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
