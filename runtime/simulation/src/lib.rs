//! The world and its step.
//!
//! Contract: the same scenario, seed and program version give the same bits on every run and with
//! any number of threads. A step runs its stages in a fixed order; threads share the work inside
//! a stage and never its order of effects. Nothing here reads the clock.

mod collisions;
mod fitness;
mod flow;
mod index;
mod kind;
mod mover;
mod obstacles;
mod perception;
mod populate;
mod reservation;
mod roads;
mod snapshot;
mod spawn;
mod steering;
mod summary;
mod way;
mod world;

pub use collisions::{Collision, Party};
pub use fitness::CrashAndSpeed;
pub use mover::Status;
pub use snapshot::{Snapshot, VehicleRecord};
pub use summary::{AgentCounts, ModuleRecord, ReplanCounts, Statistic, Summary};
pub use world::{
    Inspection, LogLine, Mark, ModuleOverrides, RunOptions, SimulationError, SwapRecord, World,
};

use roadwright_agent::Registry;

/// The built-in modules of all slots.
pub fn builtin_modules() -> Registry {
    let mut registry = Registry::default();
    roadwright_control::register(&mut registry);
    roadwright_planning::register(&mut registry);
    registry.add(CrashAndSpeed::entry());
    registry
}
