//! The middleware: what a module is, which slots it can fill, and how slots are asked.
//!
//! A module answers a batch of plain input records with a batch of plain output records and
//! describes its parameters. Built-ins, plugins and scripts are the same thing to the host.

mod behaviour;
mod module;
mod parameter;
mod rate;
mod registry;

pub use behaviour::{
    AgentFacts, BehaviourView, Datum, Effect, Effects, Indicator, Letter, Message, NamedPlace,
    Outlook, Scene,
};
pub use module::{
    Behaviour, Conduct, Controller, Fitness, Logic, LogicState, Lookahead, Module, ModuleInfo,
    Planner, PlannerView, Step, StepBoundary, Swap,
};
pub use parameter::{ParameterError, ParameterInfo, ParameterKind, ParameterSet};
pub use rate::Rate;
pub use registry::{Choosable, Entry, ModuleError, Registry, set_parameters};
pub use roadwright_scenario::{HowMany, ModuleKind, Slot};
