//! The world and its step.
//!
//! Contract: the same scenario, seed and program version give the same bits on every run and with
//! any number of threads. A step runs its stages in a fixed order; threads share the work inside
//! a stage and never its order of effects. Nothing here reads the clock.

mod agents;
mod clock;
mod demand;
mod dynamics;
mod edit;
mod fitness;
mod ground;
mod hash;
mod heat_map;
mod inspect;
mod messages;
mod modules;
mod options;
mod perception;
mod report;
mod route;
mod save;
mod session;
mod setup;
mod snapshot;
mod stages;
mod summary;
#[cfg(test)]
mod testing;
mod traffic;
mod vehicle_type;
mod world;

pub use agents::{Drive, Status};
pub use ground::Ground;
pub use heat_map::{HeatCell, HeatMap};
pub use inspect::Inspection;
pub use messages::{LogLine, Mark};
pub use options::{ModuleOverrides, RunOptions, SimulationError};
pub use route::Waypoint;
pub use save::{SaveError, SavedWorld};
pub use session::{Ending, Observer, Session};
pub use snapshot::{Snapshot, VehicleRecord};
pub use summary::{
    AgentCounts, FitnessSummary, ModuleRecord, ReplanCounts, StackSummary, Statistic, Summary,
    SwapRecord,
};
pub use traffic::{Collision, Party};
pub use world::World;

pub use roadwright_agent::Indicator;

use roadwright_agent::Registry;

/// The built-in modules of all slots.
pub fn builtin_modules() -> Registry {
    let mut registry = Registry::default();
    roadwright_control::register(&mut registry);
    roadwright_planning::register(&mut registry);
    fitness::register(&mut registry);
    registry
}
