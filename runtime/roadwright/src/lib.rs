//! Roadwright as a library: load, run, observe, edit and save scenarios of driving agents.
//!
//! ```
//! use roadwright::{Ending, Edit, RunOptions, Session, Waits, Why, World, builtin_modules, load, save};
//! # use std::path::Path;
//! # let path = Path::new("../../scenarios/crossroads.scenario.json");
//! # let folder = tempfile::tempdir()?;
//! # let copy = &folder.path().join("copy.scenario.json");
//! let (scenario, modules) = (load(path)?, builtin_modules());
//! let world = World::new(&scenario, &modules, &RunOptions::default())?;
//! let mut session = Session::new(world);
//! session.run(Ending::AtTime(20.0), &mut [], |_| true);
//! println!("{} vehicles drive", session.world().snapshot().vehicles.len());
//! let mut edited = scenario.clone();
//! let undo = edited.apply(Edit::Flow(roadwright::FlowId(1), None))?;
//! session.world_mut().update(&scenario, &edited, &modules)?;
//! save(&edited, copy)?;
//! let moment = session.world().save()?.to_bytes();
//! # assert!(load(copy)? == edited && !moment.is_empty());
//! # edited.apply(undo)?;
//! # assert!(edited == scenario);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Most programs need only the items listed here. Everything else is in the crates that this one is built on
//! (`roadwright-scenario`, `roadwright-simulation` and others). The library neither opens a window nor reads
//! the clock. The same scenario, seed and version give bit-identical results in every run.

/// Geometry: positions, poses, and reference lines made of lines, arcs, clothoids and cubics.
pub use roadwright_geometry::{DVec2, GeometryError, HeightField, Pose, ReferenceLine, Segment};

/// Road coordinates (s, t, h) of a point, and occupancy grids that show where a body is free.
pub use roadwright_geometry::{
    occupancy::OccupancyGrid,
    projection::{Projector, RoadPoint},
};

/// A scenario, its objects, and edits with their inverses.
pub use roadwright_scenario::{
    About, Agent, AgentId, ConnectionIndex, DrivingSide, DynamicsLevel, Edit, EditError, Flow,
    FlowId, Forest, ForestId, GeoOrigin, GroundGrip, GroundPlace, Group, GroupId, JunctionIndex,
    Land, LandId, LandUse, Lane, LaneBand, LaneChange, LaneDirection, LanePlace, LaneSection,
    LaneTurn, LaneType, LaneletIndex, ListOrder, ModuleSetting, MoveLibrary, NodeId, ObjectId,
    Obstacle, ObstacleId, PaintCost, PaintId, PaintLayer, PaintedCells, Place, PointOfInterest,
    Poly3, Road, RoadAccess, RoadClass, RoadEnd, RoadId, RoadNetwork, Scenario, Settings, Shape,
    Stack, TableShape, VehicleClass, VehicleType,
};

/// Rules of junctions: control, major roads, turn restrictions, and signal plans.
pub use roadwright_scenario::{
    Control, CornerRule, CrossingRule, JunctionRules, Movement, Node, Restriction, RestrictionKind,
    SignalControllerSetting, SignalMode, SignalPlan, SignalStage, TurnRules, ViaRestriction,
    junction::Light, junction::Turn,
};

/// Reads scenarios from files and writes them.
pub use roadwright_scenario::file::{load, save};

/// Checks that report the problems of a scenario and their positions.
pub use roadwright_scenario::check;
/// Green waves along a street with signals.
pub use roadwright_scenario::green_wave;
/// The junctions that result from roads and rules.
pub use roadwright_scenario::junction::{Junction, Layout, layout};
/// Operations on objects, such as moving, rotating, copying, reshaping and deleting.
pub use roadwright_scenario::operation;
/// Operations that add and split roads.
pub use roadwright_scenario::operation::draw;

/// Running: worlds, grounds, sessions, observers, and results of runs.
pub use roadwright_simulation::{
    AgentCounts, AlleyInspection, ApproachFigures, ApproachLane, Attitude, CarriedOut, ChainEnd,
    Collision, CouplingError, CouplingOrder, Drive, DriveReading, Ending, FitnessSummary,
    FreshStart, Ground, HandControls, HeadVehicle, HeatCell, HeatLane, HeatMap, HeatPlace,
    Indicator, Inspection, JunctionFigures, JunctionInspection, JunctionWatch, LaneInspection,
    LawCounts, LogLine, LooseCounts, LooseRecord, Lying, Mark, MechanicsRecord, Mishap,
    MishapCounts, ModuleOverrides, ModuleRecord, MoveTreeRecord, NoCrossing, Observer, Party,
    PeopleCounts, PersonRecord, PlannedLane, PlannedRoute, PopulateFrom, Population,
    ProgrammeInspection, RandomTrip, ReplanCounts, RigidShape, RoadCell, RoadInspection,
    RoadVehicle, RouteFinder, RunOptions, SaveError, SavedWorld, Session, SignalHead,
    SimulationError, Snapshot, StackSummary, Stage, StagePhase, StandingCount, StandingTrailer,
    Statistic, Statistics, StatisticsMark, Status, SteeringLock, StopReason, StopTarget, Summary,
    SwapRecord, Ticket, TimeRow, TrailerRecord, Trip, Turning, VehicleRecord, WaitChain, WaitLink,
    Waiting, Waits, Waypoint, WheelRecord, Why, World, builtin_modules, random_trips, unmet,
};

/// Modules: the registry, and the interfaces through which a program adds modules of its own.
pub use roadwright_agent::{
    AgentFacts, Behaviour, BehaviourView, Choosable, Conduct, Controller, Datum, Demand, Effect,
    Effects, Fitness, HowMany, Letter, Logic, LogicState, Lookahead, Message, Module, ModuleEntry,
    ModuleError, ModuleInfo, MovementFacts, NamedPlace, Outlook, ParameterError, ParameterInfo,
    ParameterKind, ParameterSet, ParameterTable, Planner, PlannerView, Registry, SignalController,
    SignalFacts, SignalView, Slot, StageFacts, Step, StepBoundary, Surroundings, Swap, TableCell,
};

/// The input and output rows of modules.
pub use roadwright_plugin_api::{
    BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput, DriveInput, FitnessInput,
    FitnessOutput, NOTHING, PedalsInput, PedalsOutput, PlannerInput, PlannerOutput,
};

/// Compiled plugins and scripts in folders.
pub use roadwright_extension::{
    CallWatch, Event, FileRow, FileState, Hang, Health, Host, HostOptions, ISOLATED_MEMORY,
    Level as EventLevel, ModuleRow, PluginInfo, Trust, Wanted,
};
