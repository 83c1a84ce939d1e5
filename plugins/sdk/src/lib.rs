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
//!             .doc("Acceleration per unit of speed error.");
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
//! Build it as a `cdylib` and put the library into a plugin folder. Panics are caught inside the plugin and
//! reported to the host with their location; the built-in module then answers instead.
//!
//! # Parts
//!
//! - [`Plugin`] describes a plugin and lists its parameters; [`Controller`], [`PedalController`],
//!   [`ModelController`], [`Planner`], [`GroundPlanner`], [`Fitness`] and [`SignalController`] answer one row at a
//!   time.
//! - [`Parameters`] binds names, ranges and units to fields.
//! - [`export_plugin!`] generates the entry point for the host, by means of [`export`].
//! - [`math`] has functions that give the same bits on every processor, unlike those of the standard library.
//!
//! # Terms
//!
//! - **Row**: question and answer about one agent. **Batch**: the rows of one call.
//! - **Instance**: one value of your type. A run has one for each parameter setting and, for a signal
//!   controller, one for each programme.
//! - **Agent index**: a number below the capacity that an agent keeps while it drives, see [`PerAgent`].
//! - **Lanelet**: a stretch of lane or a connection through a junction.

pub mod export;
mod ground;
pub mod math;
mod parameters;
mod plugin;

pub use ground::{CostMap, GroundPlanner, NoPathReason, PathAnswer, PathPoses, Terrain};
pub use parameters::{Parameter, Parameters, Shape};
pub use plugin::{
    Agent, AgentsChanged, Ahead, Controller, Fitness, Host, List, Lookahead, ModelController,
    NearNeeds, PathNeeds, PedalController, PerAgent, Planner, Plugin, PluginInfo, Roads, Route,
    SignalController, StepInfo,
};

/// Common imports of a plugin.
pub mod prelude {
    pub use crate::export_plugin;
    pub use crate::{
        Agent, AgentsChanged, Ahead, Controller, CostMap, Fitness, GroundPlanner, Host, List,
        Lookahead, ModelController, NearNeeds, NoPathReason, Parameters, PathAnswer, PathNeeds,
        PathPoses, PedalController, PerAgent, Planner, Plugin, PluginInfo, Roads, Route, Shape,
        SignalController, StepInfo, Terrain,
    };
    pub use roadwright_plugin_api::abi::{
        GROUND_ANY_HEADING, GROUND_NO_REVERSE, RwLanelet, RwPoint,
    };
    pub use roadwright_plugin_api::{
        Conduct, ControllerInput, ControllerOutput, DriveInput, FitnessInput, FitnessOutput,
        GridData, GroundPlannerInput, HitchData, LANE_UNKNOWN, MotionInput, NEAR_HAS_PRIORITY,
        NEAR_LEADER, NEAR_SAME_TEAM, NOTHING, NearData, NeedsInput, OBJECT_IS_AGENT,
        OBJECT_IS_ROUND, OBJECT_OBSTACLE, OBJECT_PERSON, OBJECT_TRAILER, OBJECT_TREE,
        OBJECT_VEHICLE, ObjectData, PATH_CONNECTION, PATH_END, PATH_LANE_CHANGE, PATH_REVERSE,
        PATH_STOP, PathPoint, PedalsOutput, PlanPose, PlannerInput, PlannerOutput, SignalInput,
        SignalMovement, SignalStage, VehicleData,
    };
}
