//! Input of controllers that follow a path with a model of their vehicle.

use roadwright_plugin_api::ControllerInput;

/// Number of parts of the path ahead in a [`PathInput`].
pub const PATH_PARTS: usize = 40;

/// Length of the parts into which a controller divides the path ahead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathParts {
    /// Driving time of a part, s.
    pub time: f64,
    /// Minimum speed for computing the length of the parts, m/s. It ensures that a stationary
    /// vehicle also perceives part of the path.
    pub slowest: f64,
}

impl PathParts {
    /// Returns the length of a part at the given speed, m.
    pub fn length(&self, speed: f64) -> f64 {
        self.time * speed.abs().max(self.slowest)
    }
}

/// Perception of a controller that follows a path with a model of its vehicle. As in
/// [`ControllerInput`], a vehicle that drives backwards is turned around, so that it appears to
/// drive forwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathInput {
    /// The input that every controller receives.
    pub seen: ControllerInput,
    /// Lateral offset of the rear axle to the left of the path, m.
    pub offset: f64,
    /// Heading relative to the path, rad.
    pub heading_error: f64,
    /// Lateral speed of the rear axle to the left, m/s; 0 at levels without slip.
    pub sideways: f64,
    /// Yaw rate, rad/s.
    pub yaw_rate: f64,
    /// Mean curvature of the path in each part ahead of the vehicle, 1/m.
    pub curvature: [f64; PATH_PARTS],
    /// Limits and tyres of the vehicle.
    pub body: BodyInput,
    /// Curvature just ahead of the rear axle on a path that has to be followed exactly, for example
    /// into a parking bay, 1/m; `None` on other paths.
    pub exact_curvature: Option<f64>,
    /// First trailer of a vehicle that drives backwards; `None` when driving forwards or without trailers.
    pub towed: Option<TowedInput>,
}

/// Limits of a vehicle, and its tyres at levels with side slip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyInput {
    /// Steering lock, rad.
    pub max_steering: f64,
    /// Steering rate of the front wheels, rad/s.
    pub steering_rate: f64,
    /// Maximum acceleration, m/s^2.
    pub max_acceleration: f64,
    /// Maximum deceleration, m/s^2.
    pub max_braking: f64,
    /// Tyres at levels with side slip; `None` at kinematic levels.
    pub tyres: Option<TyreInput>,
}

/// Linear single-track model of a vehicle. Positions are in the direction of travel, so `front` and
/// `rear` are negative when the vehicle drives backwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TyreInput {
    /// Mass, kg.
    pub mass: f64,
    /// Yaw inertia, kg m^2.
    pub yaw_inertia: f64,
    /// Distance from the centre of gravity to the steered axle, m.
    pub front: f64,
    /// Distance from the rear axle to the centre of gravity, m.
    pub rear: f64,
    /// Cornering stiffness of the steered axle, N/rad.
    pub front_stiffness: f64,
    /// Cornering stiffness of the rear axle, N/rad.
    pub rear_stiffness: f64,
}

/// Trailer of a vehicle that drives backwards. The axle of the trailer leads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TowedInput {
    /// Distance from the rear axle of the vehicle back to the coupling, m.
    pub coupling: f64,
    /// Distance from the coupling back to the axle of the trailer, m.
    pub to_axle: f64,
    /// Heading of the vehicle relative to the trailer, rad.
    pub hitch: f64,
    /// Lateral offset of the trailer's axle to the left of the path in the direction of travel, m.
    pub offset: f64,
    /// Direction of travel of the trailer relative to the path, rad.
    pub heading_error: f64,
}

impl BodyInput {
    /// A passenger car at a kinematic level, for callers that do not know their vehicle.
    pub const CAR: Self = Self {
        max_steering: 0.6,
        steering_rate: 0.9,
        max_acceleration: 3.0,
        max_braking: 8.0,
        tyres: None,
    };
}

impl PathInput {
    /// Creates the input of a kinematic car that sees the path only up to its waypoint. The
    /// curvature at the waypoint is assumed to continue.
    pub fn of_waypoint(seen: ControllerInput) -> Self {
        Self {
            seen,
            offset: seen.lane_offset,
            heading_error: seen.heading_error,
            sideways: 0.0,
            yaw_rate: 0.0,
            curvature: [seen.path_curvature; PATH_PARTS],
            body: BodyInput::CAR,
            exact_curvature: None,
            towed: None,
        }
    }
}

impl Default for PathInput {
    fn default() -> Self {
        Self::of_waypoint(ControllerInput::default())
    }
}
