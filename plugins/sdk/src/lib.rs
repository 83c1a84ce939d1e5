//! Write Roadwright plugins in safe Rust.
//!
//! ```
//! use roadwright_plugin_sdk::prelude::*;
//!
//! /// Keeps the speed of the road and looks at nothing else.
//! struct Cruise {
//!     gain: f64,
//! }
//!
//! impl Default for Cruise {
//!     fn default() -> Self {
//!         Self { gain: 0.8 }
//!     }
//! }
//!
//! impl Plugin for Cruise {
//!     const INFO: PluginInfo = PluginInfo::new("com.example.cruise", "Cruise", "1.0.0");
//!
//!     fn parameters(&mut self, list: &mut Parameters<'_>) {
//!         list.number("gain", &mut self.gain, 0.0..=5.0)
//!             .unit("1/s")
//!             .doc("Acceleration per missing speed.");
//!     }
//! }
//!
//! impl Controller for Cruise {
//!     fn control(&mut self, _: &Agent, input: &ControllerInput, output: &mut ControllerOutput) {
//!         output.acceleration = self.gain * (input.road_speed - input.speed);
//!     }
//! }
//!
//! export_plugin!(Cruise: Controller);
//! # fn main() {}
//! ```
//!
//! Build it as a `cdylib` and put the library into a folder of plugins. Panics are caught inside
//! the plugin and told to the host with their place; the host then drives with its own module.

pub mod export;
pub mod math;
mod parameters;
mod plugin;

pub use parameters::{Parameter, Parameters};
pub use plugin::{
    Agent, AgentsChanged, Controller, Fitness, Host, Lookahead, PerAgent, Planner, Plugin,
    PluginInfo, Roads, Route, StepInfo,
};

/// What a plugin usually needs.
pub mod prelude {
    pub use crate::export_plugin;
    pub use crate::{
        Agent, AgentsChanged, Controller, Fitness, Host, Lookahead, Parameters, PerAgent, Planner,
        Plugin, PluginInfo, Roads, Route, StepInfo,
    };
    pub use roadwright_plugin_api::abi::{RwPoint, RwStrip};
    pub use roadwright_plugin_api::{
        ControllerInput, ControllerOutput, FitnessInput, FitnessOutput, NOTHING, PlannerInput,
        PlannerOutput,
    };
}
