//! Vehicles as rigid bodies in three dimensions: a hull on springs, with wheels that are rays.
//!
//! Each wheel looks down the axis of its spring to the [`Surface`]: spring, damper and anti-sway bar
//! give its load, and its tyre forces along and across that share the grip (friction circle). Tyres
//! are brushes with a deflection of their own, so slip builds up over a way ("relaxation length"),
//! and a wheel that its brake holds is a spring: a parked car stays where it is, on a slope as well.
//! Wheels turn at speeds of their own: with the ground as long as their tyres hold, faster where an
//! engine gives too much, not at all where a brake does ([`WheelState`]); their mass is part of the hull.
//! Wheels of [`Tracks`] turn side by side instead, and the difference of the sides steers.
//!
//! Trailers are bodies of their own that a [`Joint`] holds.
//!
//! Where hulls meet what stands about, and each other, [rapier](https://rapier.rs) solves the
//! contacts ([`Yard`]). It is set up anew from plain states at each step of the world: nothing is kept
//! in it, so a state that was saved goes on bit for bit.
//!
//! ```
//! use roadwright_scenario::VehicleType;
//! use roadwright_vehicle::rigid::{ALL_LAYERS, CarState, Controls, Entry, Flat, RigidModel, Yard};
//!
//! let model = RigidModel::from(&VehicleType::car());
//! let mut state = CarState::at_rest(&model, Default::default(), &Flat);
//! for _ in 0..50 {
//!     let controls = Controls { acceleration: 2.0, ..Controls::default() };
//!     let yard = Yard::new(&Flat, 200.0);
//!     let entry = Entry { model: &model, state: &mut state, controls, layers: ALL_LAYERS, towed: &mut [] };
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
