//! Built-in controllers: fuzzy driving, car following, and pursuit of a point on the route.
//!
//! A controller turns what an agent perceives (a [`ControllerInput`]) into a command: acceleration and the
//! angle of the front wheels. It keeps no state between steps, so the host may process slices of a batch in
//! parallel.
//!
//! | part | contents |
//! | --- | --- |
//! | `fuzzy_driver.rs`, [`fuzzy`] | the fuzzy traffic driver of [Gerdelan 2011], its inference and its rule tables |
//! | `fuzzy_mechanic.rs` | the same author's driver for open ground, with brake, throttle and switches |
//! | `idm.rs` | the intelligent driver model of [Treiber 2000] |
//! | `pursuit.rs` | the pursuit point of [Wang 2004] with linear laws for speed and gap |
//! | `stanley.rs` | the front-axle law of [Hoffmann 2007] |
//! | `pd_follower.rs` | the proportional-derivative laws of [Kuffner 1998] |
//! | `bay_parking.rs`, `pole_balance.rs`, `trailer_backing.rs` | drivers for manoeuvring courses |
//! | `constant_speed.rs` | a constant speed, without braking for anything |
//! | `linear_mpc.rs` | linear model predictive control, within the limits of the vehicle |
//! | `lqr.rs`, `lateral.rs`, [`linear`] | the linear-quadratic regulator, the model of lateral errors, and its mathematics |
//! | [`laws`] | shared laws: pursuit steering, safe speed and halting speed |
//! | `formulas.rs` | the laws as plain text, for `roadwright controller show` |
//!
//! Sources are cited by author and year; `docs/sources.md` lists them.
//!
//! # Terms
//!
//! - **row**: the input or output of one agent in a batch. `NOTHING` in a distance or gap means "none".
//! - **waypoint**: the point ahead on the route that a controller steers towards.
//! - **leader**: the vehicle ahead on the route. **gap**: distance from the agent's front to the leader's
//!   rear, m.
//! - **halting speed**: the highest speed from which the agent can still stop behind its leader and before a
//!   closed junction.
//! - **road speed**: the speed allowed by the speed limit, the bends and the behaviour's wish, m/s.
//!
//! # Example
//!
//! ```
//! use roadwright_agent::Step;
//! use roadwright_control::Idm;
//! use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};
//!
//! let input = ControllerInput {
//!     speed: 10.0,
//!     road_speed: 14.0,
//!     wheelbase: 2.7,
//!     waypoint_distance: 10.0,
//!     leader_gap: 8.0,
//!     leader_speed: 6.0,
//!     stop_distance: NOTHING,
//!     obstacle_distance: NOTHING,
//!     ..ControllerInput::default()
//! };
//! let mut outputs = [ControllerOutput::default()];
//! Idm::entry().make().step(&Step::default(), &[input], &mut outputs);
//! // A slower leader is close, and the route leads straight on.
//! assert!(outputs[0].acceleration < -2.0);
//! assert_eq!(outputs[0].steering, 0.0);
//! ```
//!
//! [`ControllerInput`]: roadwright_plugin_api::ControllerInput

mod bay_parking;
mod constant_speed;
mod formulas;
pub mod fuzzy;
mod fuzzy_driver;
mod fuzzy_mechanic;
mod idm;
mod lateral;
pub mod laws;
pub mod linear;
mod linear_mpc;
mod lqr;
mod pd_follower;
mod pole_balance;
mod pursuit;
mod speed_law;
mod stanley;
mod term;
mod trailer_backing;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod trailer_following;

pub use bay_parking::BayParking;
pub use constant_speed::ConstantSpeed;
pub use formulas::formulas;
pub use fuzzy_driver::FuzzyDriver;
pub use fuzzy_mechanic::FuzzyMechanic;
pub use idm::Idm;
pub use lateral::{Following, LateralModel, LateralWeights};
pub use linear_mpc::LinearMpc;
pub use lqr::{Lqr, LqrDesign, LqrSolution};
pub use pd_follower::{PdFollower, PdGains};
pub use pole_balance::PoleBalance;
pub use pursuit::Pursuit;
pub use stanley::Stanley;
pub use term::Term;
pub use trailer_backing::TrailerBacking;

use roadwright_agent::Registry;

/// Adds the built-in controllers.
pub fn register(registry: &mut Registry) {
    registry.add(FuzzyDriver::entry());
    registry.add(FuzzyMechanic::entry());
    registry.add(Idm::entry());
    registry.add(Pursuit::entry());
    registry.add(Stanley::entry());
    registry.add(PdFollower::entry());
    registry.add(Lqr::entry());
    registry.add(LinearMpc::entry());
    registry.add(BayParking::entry());
    registry.add(PoleBalance::entry());
    registry.add(TrailerBacking::entry());
    registry.add(ConstantSpeed::entry());
}
