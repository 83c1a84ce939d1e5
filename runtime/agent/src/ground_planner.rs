//! The interface of ground planners, which plan paths on open ground.

use crate::module::{Logic, Module, Step};
use crate::needs::{Needs, Views};
use crate::parameter::ParameterSet;
use roadwright_plugin_api::{GroundPlannerInput, PlanPose};

/// Methods for searching open ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroundSearch {
    /// No search: the path is the straight line to the goal.
    Straight,
    /// The cheapest path from the agent to the goal ([Kuffner 1998]).
    Whole {
        /// Whether the distance to the goal guides the search (A*). Otherwise, it is Dijkstra's algorithm.
        is_guided: bool,
    },
    /// The cheapest paths from every cell to the goal, shared by all agents with this goal (Pollithy).
    FlowField,
    /// A* with a limited number of expansions. It learns from the cells that it has expanded
    /// ([Gerdelan 2011], [Koenig 2006]).
    Bounded {
        /// Maximum number of cells that each search expands.
        budget: u64,
    },
    /// The cheapest path, which is repaired where the map has changed ([Koenig 2002]).
    Incremental,
    /// A path that the vehicle can drive, both forwards and in reverse ([Dolgov 2010]).
    Drivable {
        /// Number of poses that a search expands per step.
        budget: u64,
        /// Maximum number of poses that a search expands before it gives up.
        most: u64,
        /// Whether vehicles reach destinations at the specified heading. Otherwise, any heading is
        /// accepted.
        keeps_heading: bool,
    },
    /// The best sequence of recorded moves, found without a map ([Adam 2007]).
    MoveTree(MoveTreeSearch),
}

impl GroundSearch {
    /// Whether this method searches the map of open ground.
    pub fn uses_map(self) -> bool {
        !matches!(self, Self::Straight | Self::MoveTree(_))
    }
}

/// Settings of a search over recorded moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveTreeSearch {
    /// Library that contains the recorded moves.
    pub library: MoveTreeLibrary,
    /// How vehicles execute their plans.
    pub execution: MoveExecution,
    /// Planning horizon, in frames of the library.
    pub horizon: u32,
    /// Maximum number of moves that each search considers.
    pub nodes: u32,
    /// Order in which moves are considered.
    pub heuristic: MoveHeuristic,
}

/// Order in which a search considers recorded moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MoveHeuristic {
    /// By the travel time along the straight line to the goal at top speed.
    #[default]
    Straight,
    /// By a bound that accounts for turning, acceleration, and detours around fixed obstacles.
    Detours,
}

/// The library of moves that a search uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveTreeLibrary {
    /// A library shipped with the program, by name.
    Shipped(&'static str),
    /// The first library of the agent's vehicle type that fits the ground.
    OfVehicle,
}

/// How vehicles execute a plan of recorded moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MoveExecution {
    /// The recorded motion is played back instead of simulating the vehicle's dynamics.
    #[default]
    Played,
    /// The vehicle's dynamics are simulated with the recorded commands, which are corrected to keep the
    /// vehicle on the recorded motion.
    Replayed,
}

/// Obstacles that controllers perceive while they follow a planned path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Avoid {
    /// Moving bodies, and stationary obstacles on the path.
    #[default]
    Path,
    /// All bodies and obstacles ahead.
    All,
}

/// Component that searches for a drivable path.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Searcher {
    /// The host.
    #[default]
    Host,
    /// The module itself, with [`GroundPlanner::search`].
    Module {
        /// Cell size of the map that the module requests, m; `None` if it requests no map.
        grid: Option<f64>,
    },
}

/// Answer of a module that searches for paths itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroundAnswer {
    /// A path has been found, and its poses have been stored.
    Found {
        /// Number of expansions by the search so far.
        expanded: u64,
    },
    /// The search continues in the next step.
    Searching {
        /// Number of expansions by the search so far.
        expanded: u64,
    },
    /// There is no path.
    NoPath {
        /// Number of expansions by the search.
        expanded: u64,
        /// The reason; `None` if it is not known.
        reason: Option<GroundReason>,
    },
    /// The host has to search instead.
    ByHost,
}

/// Reason given by a module if there is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroundReason {
    /// The vehicle overlaps an obstacle at its start.
    StartBlocked,
    /// The vehicle would overlap an obstacle at its goal.
    GoalBlocked,
    /// The start is enclosed on all sides.
    StartWalledIn,
    /// The goal is enclosed on all sides.
    GoalWalledIn,
}

/// Settings for planning on open ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroundPlanning {
    /// Method of searching open ground.
    pub search: GroundSearch,
    /// Component that searches for a drivable path.
    pub searcher: Searcher,
    /// Size of the cells of the map, m.
    pub cell: f64,
    /// Whether straight and diagonal steps cost 5741 and 8119 instead of 10 and 14.
    pub is_octile: bool,
    /// Whether diagonal steps may cut the corners of blocked cells.
    pub cuts_corners: bool,
    /// Expected deviation of vehicles from their paths, m.
    pub tracking_margin: f64,
    /// Distance from obstacles below which cells cost more, m.
    pub clearance: f64,
    /// Lookahead distance to the waypoint at standstill, m.
    pub near: f64,
    /// Additional lookahead to the waypoint, as a travel time at the current speed, s.
    pub ahead: f64,
    /// Minimum time between replans of a vehicle that has left its path, s.
    pub pause: f64,
    /// Time penalty for each change between forwards and reverse, s.
    pub gear_change: f64,
    /// Cost of driving in reverse, as a multiple of the cost of driving forwards.
    pub reverse: f64,
    /// Minimum clearance of paths where there is no room for the usual clearance, m.
    pub least_margin: f64,
    /// Prediction horizon for moving bodies, s.
    pub forecast: f64,
    /// Number of cells expanded per step by the search that decides whether a path exists.
    pub verdict_budget: u64,
    /// Obstacles that controllers perceive.
    pub avoid: Avoid,
}

/// Settings that differ for characters. Each pair contains the default for vehicles and the default
/// for characters.
mod on_foot {
    /// Size of cells, m.
    pub(super) const CELL: [f64; 2] = [1.0, 0.2];
    /// Expected deviation from the path, m.
    pub(super) const TRACKING_MARGIN: [f64; 2] = [0.3, 0.15];
    /// Distance from obstacles below which cells cost more, m.
    pub(super) const CLEARANCE: [f64; 2] = [2.0, 0.6];
    /// Lookahead distance to the waypoint at standstill, m.
    pub(super) const NEAR: [f64; 2] = [4.0, 0.5];
    /// Additional lookahead to the waypoint, as a travel time at the current speed, s.
    pub(super) const AHEAD: [f64; 2] = [1.0, 0.0];
}

impl GroundPlanning {
    /// Returns the settings for a character: values that equal the defaults for vehicles are
    /// replaced by the defaults for characters.
    #[must_use]
    pub fn on_foot(self) -> Self {
        let or =
            |value: f64, [vehicle, person]: [f64; 2]| if value == vehicle { person } else { value };
        let cell = match self.search {
            // This search has no parameter for the cell size.
            GroundSearch::Drivable { .. } => on_foot::CELL[1],
            _ => or(self.cell, on_foot::CELL),
        };
        Self {
            cell,
            tracking_margin: or(self.tracking_margin, on_foot::TRACKING_MARGIN),
            clearance: or(self.clearance, on_foot::CLEARANCE),
            near: or(self.near, on_foot::NEAR),
            ahead: or(self.ahead, on_foot::AHEAD),
            ..self
        }
    }
}

/// Plans paths for agents on open ground.
///
/// A built-in planner only provides settings, and the host performs the search. The map and the learned
/// values belong to the world: they are shared by all agents, updated by edits and stored in saves. A planner
/// that replaces another one therefore continues with the same map. A planner with [`Searcher::Module`]
/// performs the search itself, a limited number of expansions per call, and the host makes vehicles follow
/// the resulting paths.
pub trait GroundPlanner: Logic {
    /// Returns the planning settings for the given parameters.
    fn planning(&self, parameters: &ParameterSet) -> GroundPlanning;

    /// Returns the data that a planner with its own search needs in addition to its input row.
    fn needs(&self) -> Option<Needs> {
        None
    }

    /// Starts or continues the search for one agent, and stores the poses of the path if it finds
    /// one.
    fn search(
        &self,
        _: &Step<'_>,
        _: &Views<'_>,
        _: &GroundPlannerInput,
        _: &mut Vec<PlanPose>,
    ) -> GroundAnswer {
        GroundAnswer::ByHost
    }
}

impl Module<dyn GroundPlanner> {
    /// Returns the planning settings for the current parameters.
    pub fn planning(&self) -> GroundPlanning {
        self.logic.planning(&self.parameters)
    }
}
