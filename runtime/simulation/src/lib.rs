//! The world and its step.
//!
//! Contract: the same scenario, seed and program version give bit-identical results on every run and with any
//! number of threads. A step runs its stages in a fixed order; threads share the work inside a stage but
//! never change the order of its effects. Nothing here reads the wall clock.
//!
//! ```
//! use roadwright_simulation::{Ending, RunOptions, Session, World, builtin_modules};
//!
//! let scenario = roadwright_scenario::file::load("../../scenarios/crossroads.scenario.json".as_ref())?;
//! let world = World::new(&scenario, &builtin_modules(), &RunOptions::default())?;
//! let mut session = Session::new(world);
//! session.run(Ending::AtTime(10.0), &mut [], |_| true);
//! for vehicle in session.world().snapshot().vehicles {
//!     println!("{} at {} with {} m/s", vehicle.agent, vehicle.pose.position, vehicle.speed);
//! }
//! let summary = session.world().summary();
//! assert!(summary.agents.spawned > 0 && summary.collisions.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Parts
//!
//! [`World`] owns the parts and takes a step. Each stage of a step is a function of the parts that it reads
//! and writes; `stages/mod.rs` has the table of stages. [`Session`] is the loop that steps a world, and
//! [`Observer`]s watch it. Renderers read [`Snapshot`]s, and runs are resumed from a [`SavedWorld`].
//!
//! # Words
//!
//! - **ground**: roads, speeds in bends, conflicts and obstacles; immutable, shared by worlds. **world**:
//!   everything that a step changes. **traffic**: index, claims, contacts and delays of a world.
//! - **agent**: a driver with its vehicle. Its **id** is for users, files and random streams; its
//!   **index** is a dense number while it drives, which is reused afterwards.
//! - **demand**: agents still to be spawned. **Departures** wait to be spawned, and **flows** add more of
//!   them.
//! - **lanelet**: a directed ribbon of one lane: a piece of a lane, or a **connection** through a
//!   junction. **Lane position**: lanelet, distance `s` along it, distance `t` to the left of it.
//! - **goal**: a place to reach; an agent may have several, in order. **Route**: the **legs** that lead to
//!   the goals, each a sequence of lanelets or a **path** over open ground; immutable and shared.
//!   **Progress**: where an agent is on its route.
//! - **conflict**: two connections of a junction that cannot be driven at once. **Claim**: an
//!   agent's requests and grants at junctions.
//! - **wish**: a lasting request of a behaviour. **Command**: the output of a controller.
//!   **Effect**: a single request of a behaviour.
//! - **level**: a model of dynamics with its state. **Stride**: the steps for which a level holds a
//!   command.
//! - **module pool**: the **instances** of modules that run in a world, each with its **settings**.
//!   **Step boundary**: the moment between two steps; reloads, edits and saves happen there.

// Unit tests also include the helpers of the integration tests, which use the name of this crate.
#[cfg(test)]
extern crate self as roadwright_simulation;

mod agents;
mod channels;
mod check;
mod clock;
mod coupling;
mod demand;
mod dynamics;
mod edit;
mod fitness;
mod fixed;
mod hands;
mod hash;
mod heat_map;
mod inspect;
mod junction_watch;
mod lamps;
mod lane_choice;
mod messages;
mod modules;
mod move_trees;
mod open_ground;
mod options;
mod perception;
mod planned_route;
mod records;
mod report;
mod route;
mod save;
mod session;
mod setup;
mod slope_cost;
mod snapshot;
mod stage;
mod stages;
mod standing;
mod statistics;
mod summary;
#[cfg(test)]
mod testing;
mod traffic;
mod trip_finder;
mod unmet;
mod vehicle_type;
mod world;

pub use agents::{Drive, Status};
pub use channels::{
    CHANNELS, Channel, ChannelLevels, Point, TraceRate, UnusableRate, trace_columns,
};
pub use check::check_on_ground;
pub use coupling::{CouplingError, CouplingOrder};
pub use demand::{RandomTrip, agent_name, random_trips};
pub use dynamics::LooseCounts;
pub use hands::{HandControls, SteeringLock};
pub use heat_map::{HeatCell, HeatLane, HeatMap, HeatPlace, heat_as_csv};
pub use inspect::{
    AlleyInspection, ApproachLane, Followed, HeadVehicle, Inspection, JunctionInspection,
    LaneInspection, PlannedLane, ProgrammeInspection, RoadCell, RoadInspection, RoadVehicle,
    Turning, Waiting,
};
pub use junction_watch::{ApproachFigures, JunctionFigures, JunctionWatch};
pub use lane_choice::{ChosenLanes, DrawnStop, LONGER_ON_PURPOSE};
pub use messages::{LogLine, Mark};
pub use move_trees::{
    FixedOutlines, InspectedMove, MoveInspection, ObstacleTouch, WatchedBranch, WatchedTree,
    blocked_moves,
};
pub use open_ground::{
    CellFactors, Disagreement, FixedItems, GroundInspection, GroundQuestion, ItemSource,
    LayerShare, NarrowGap, NoPath, NoPathKind, PLAIN_FACTOR, PathComparison, PathReport,
    PathStatus, PlannedPose, SearchOrder, body_of, effects_of, profile_of,
};
pub use options::{ModuleOverrides, PopulateFrom, Population, RunOptions, SimulationError};
pub use perception::{Travel, lateral_model};
pub use planned_route::{PlannedRoute, RouteFinder, TripEnd};
pub use records::{
    AgentIndex, Collision, LooseRecord, ModuleFailure, Party, PeopleCounts, PersonRecord,
    RigidShape, SaveError,
};
pub use roadwright_ground::{Ground, SignalHead};
pub use roadwright_vehicle::DriveReading;
pub use roadwright_vehicle::gait::Figure as PersonFigure;
pub use route::Waypoint;
pub use save::SavedWorld;
pub use session::{CarriedOut, Ending, Observer, Session};
pub use snapshot::{
    Attitude, CharacterRecord, Lying, MechanicsRecord, Mishap, Snapshot, StandingTrailer,
    TrailerRecord, VehicleRecord, WheelRecord,
};
pub use stage::Stage;
pub use standing::{ChainEnd, StopReason, StopTarget, WaitChain, WaitLink};
pub use statistics::{Statistics, StatisticsMark, TimeRow, Trip, time_rows_as_csv, trips_as_csv};
pub use summary::{
    AgentCounts, AgentWithoutPath, FitnessSummary, FreshStart, LawCounts, MishapCounts,
    ModuleRecord, MoveTreeRecord, ReplanCounts, StackSummary, StandingCount, Statistic, Summary,
    SwapRecord,
};
pub use traffic::{
    AlleyWait, NoCrossing, PERSON_RADIUS, StagePhase, Ticket, Waits, Why, alley_waits,
    longest_wait_at,
};
pub use trip_finder::{LegKind, TripAnswer, TripFinder, TripLeg, TripPlan, TripQuestion};
pub use unmet::unmet;
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
