//! The middleware between host and modules: interfaces, slots, parameters and calls of modules.
//!
//! A module converts a batch of plain input records to a batch of plain output records, and describes its
//! parameters. The host treats built-ins, plugins and scripts alike.
//!
//! | part | contents |
//! | --- | --- |
//! | `module.rs` | the traits of the four kinds: [`Planner`], [`Behaviour`], [`Controller`], [`Fitness`] |
//! | `behaviour.rs` | the view of other agents that behaviours receive ([`Surroundings`]), and the effects that they can request ([`Effect`]) |
//! | `parameter.rs` | parameters that describe themselves, and their values |
//! | `needs.rs` | motion, vehicle, path ahead and objects around, for controllers that request them |
//! | `path_input.rs` | perception for controllers with a model of their vehicle |
//! | `registry.rs` | the available modules, and instances of them |
//! | `rate.rs` | how often a slot is called |
//!
//! # Words
//!
//! - **agent**: a driver with its vehicle. Its *id* is for users, files and random streams. Its *index* is a
//!   dense number that it has while it drives, and that is reused afterwards.
//! - **stack**: the modules that drive an agent. **slot**: the place of a module in a stack. **kind**: the
//!   interface of a module; two slots can take the same kind.
//! - **module**: an entry that can be chosen. **instance**: a running module with its parameters.
//!   **logic**: its code, behind the trait of its kind.
//! - **step**: one dt of the world. **step boundary**: the moment between two steps, at which modules are
//!   notified of new and removed agents, and newer builds replace older ones.
//! - **wish**: a lasting request of a behaviour. **effect**: a single request beyond its output row.
//!
//! # A module
//!
//! ```
//! use roadwright_agent::{
//!     Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Registry, Step,
//! };
//! use roadwright_plugin_api::{ControllerInput, ControllerOutput};
//!
//! struct Cruise;
//!
//! static PARAMETERS: [ParameterInfo; 1] =
//!     [ParameterInfo::number("gain", "1/s", (0.0, 10.0), 0.5, "Acceleration per unit of speed error.")];
//!
//! impl Logic for Cruise {}
//!
//! impl Controller for Cruise {
//!     fn step(
//!         &self,
//!         parameters: &ParameterSet,
//!         _: &Step<'_>,
//!         inputs: &[ControllerInput],
//!         outputs: &mut [ControllerOutput],
//!     ) {
//!         let gain = parameters.value("gain");
//!         for (input, output) in inputs.iter().zip(outputs) {
//!             output.acceleration = gain * (input.road_speed - input.speed);
//!         }
//!     }
//!
//!     fn lookahead(&self, _: &ParameterSet) -> Lookahead {
//!         Lookahead { distance: 5.0, time: 0.6 }
//!     }
//! }
//!
//! let info = ModuleInfo { id: "cruise", name: "Cruise", doc: "Keeps the speed of the road." };
//! let mut registry = Registry::default();
//! registry.add(ModuleEntry::<dyn Controller>::new(info, &PARAMETERS, || Box::new(Cruise)));
//!
//! let module = registry.of::<dyn Controller>()[0].make();
//! let input = ControllerInput { speed: 10.0, road_speed: 14.0, ..ControllerInput::default() };
//! let mut outputs = [ControllerOutput::default()];
//! module.step(&Step::default(), &[input], &mut outputs);
//! assert_eq!(outputs[0].acceleration, 2.0);
//! ```

mod behaviour;
mod ground_planner;
mod module;
mod needs;
mod parameter;
mod path_input;
mod rate;
mod registry;
mod signals;

pub use behaviour::{
    AgentFacts, BehaviourView, Datum, Effect, Effects, Indicator, Letter, Message, NamedPlace,
    Outlook, Surroundings,
};
pub use ground_planner::{
    Avoid, GroundAnswer, GroundPlanner, GroundPlanning, GroundReason, GroundSearch, MoveExecution,
    MoveHeuristic, MoveTreeLibrary, MoveTreeSearch, Searcher,
};
pub use module::{
    Behaviour, Controller, Failure, Fitness, LANE_ENDS, LaneEndSight, Logic, LogicState, Lookahead,
    Module, ModuleInfo, Planner, PlannerView, Step, StepBoundary, Swap,
};
pub use needs::{NearNeeds, Needs, Objects, PathNeeds, Views};
pub use parameter::{
    ParameterError, ParameterInfo, ParameterKind, ParameterSet, ParameterTable, TableCell,
    write_value,
};
pub use path_input::{BodyInput, PATH_PARTS, PathInput, PathParts, TowedInput, TyreInput};
pub use rate::Rate;
pub use registry::{Choosable, ModuleEntry, ModuleError, Registry, set_parameters};
pub use roadwright_plugin_api::Conduct;
pub use roadwright_scenario::{HowMany, ModuleKind, Slot};
pub use signals::{
    ByDemand, Demand, FixedTimes, MovementFacts, SignalController, SignalFacts, SignalView,
    StageFacts,
};
