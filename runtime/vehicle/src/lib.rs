//! Vehicle models: pure functions from a state, a command and a time step to the next state.
//!
//! - [`one_track`]: the kinematic one-track model, a bicycle without slip, and the **actuators**,
//!   which limit a command to the capabilities of the vehicle: acceleration within the limits of
//!   engine and brakes, and wheels within their **lock** and **steering rate**.
//! - [`dynamic`]: the dynamic one-track model, a bicycle with tyre slip: side slip and yaw rate, axle loads,
//!   linear or saturating tyres.
//! - [`drive_train`]: engine, clutch, gearbox, brakes and resistance, and the actuator stage that operates
//!   them.
//! - [`rigid`]: a three-dimensional hull on springs, with wheels as rays or spheres, and with contacts.
//! - [`sliding`]: the sliding car, which skids in bends.
//! - [`walker`]: the oriented disc of a character on foot, and [`gait`]: its feet.
//! - [`trailer`]: kinematic trailers behind any of them.
//! - [`sheet`]: figures that follow from a vehicle file without driving.
//! - [`proving`]: manoeuvres that measure a vehicle.
//!
//! At all dynamics levels, poses refer to the centre of the rear axle.
//!
//! ```
//! use roadwright_scenario::VehicleType;
//! use roadwright_vehicle::{OneTrackLimits, OneTrackState, step};
//!
//! let car = OneTrackLimits::from(&VehicleType::car());
//! let mut state = OneTrackState { speed: 10.0, ..OneTrackState::default() };
//! for _ in 0..100 {
//!     // Brake with 2 m/s^2 and hold the wheels 0.1 rad to the left, in steps of 10 ms.
//!     state = step(&state, &car, -2.0, 0.1, 0.01);
//! }
//! assert!((state.speed - 8.0).abs() < 1e-9);
//! assert!(state.pose.heading > 0.2 && state.pose.position.x > 8.0);
//! ```

pub mod drive_train;
pub mod dynamic;
pub mod gait;
pub mod grade;
pub mod one_track;
pub mod proving;
pub mod rigid;
pub mod sheet;
pub mod sliding;
pub mod trailer;
pub mod walker;

pub use drive_train::{DriveReading, DriveState, DriveTrain, Driver, PedalCommand, Pedals};
pub use dynamic::{DynamicState, SingleTrack, Tyre};
pub use grade::{Ask, Climb, Effort, Grade};
pub use one_track::{
    OneTrackLimits, OneTrackState, at_rest, moving_time, step, step_on_grade, step_within,
};
pub use sheet::Sheet;
