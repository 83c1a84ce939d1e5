//! Rigid-body vehicles in three dimensions: a hull on springs, with wheels as rays or spheres.
//!
//! Each wheel probes the [`Surface`] along the axis of its spring. Spring, damper and anti-sway bar
//! determine its load, and its longitudinal and lateral tyre forces share the grip (friction
//! circle). Tyres are brushes with their own deflection, so that slip builds up over a distance
//! (relaxation length). A wheel held by its brake acts like a spring, so a parked car stays in
//! place even on a slope. Each wheel has its own rotational speed. It rolls as long as its tyre has
//! grip, spins if the engine is too strong, and locks if the brake is too strong ([`WheelState`]).
//! The wheels' mass is part of the hull. The wheels of [`Tracks`] turn together on each side, and
//! the difference between the speeds of the two sides steers the vehicle.
//!
//! Trailers are separate bodies that are held by a [`Joint`].
//!
//! Contacts of hulls with obstacles and with each other are solved by [rapier](https://rapier.rs)
//! ([`Yard`]). It is set up from plain states in each step of the world and keeps no state, so that
//! a restored world continues bit-identically.
//!
//! ```
//! use roadwright_scenario::VehicleType;
//! use roadwright_vehicle::rigid::{ALL_LAYERS, CarEntry, CarState, Controls, Flat, RigidModel, Yard};
//!
//! let model = RigidModel::from(&VehicleType::car());
//! let mut state = CarState::at_rest(&model, Default::default(), &Flat);
//! for _ in 0..50 {
//!     let controls = Controls { acceleration: 2.0, ..Controls::default() };
//!     let yard = Yard::new(&Flat, 200.0);
//!     let entry = CarEntry { model: &model, state: &mut state, controls, layers: ALL_LAYERS, towed: &mut [] };
//!     yard.step(vec![entry], Vec::new(), 0.02);
//! }
//! assert!((state.speed(&model) - 2.0).abs() < 0.1);
//! ```

mod body;
mod brush;
mod car;
mod model;
mod moment;
mod solid;
mod sphere;
mod surface;
mod towed;
mod tracks;
mod wheels;
mod yard;

pub use body::{BodyState, LooseModel, LooseState};
pub use brush::Brush;
pub use car::{CarState, Controls};
pub use model::{RigidModel, Wheel};
pub use solid::Solid;
pub use sphere::{SphereState, Spheres};
pub use surface::{Flat, Surface};
pub use towed::{Joint, Towed};
pub use tracks::Tracks;
pub use wheels::WheelState;
pub use yard::{ALL_LAYERS, CarEntry, KinematicBody, LooseEntry, Still, Yard};
