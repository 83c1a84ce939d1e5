//! Ground planners, which find paths on open ground.

use crate::plugin::{Agent, List, NearNeeds, Plugin, StepInfo};
use roadwright_plugin_api::abi::{
    NO_PATH_GOAL_BLOCKED, NO_PATH_GOAL_WALLED_IN, NO_PATH_START_BLOCKED, NO_PATH_START_WALLED_IN,
    NO_PATH_UNKNOWN, RwPoint,
};
use roadwright_plugin_api::{
    GridData, GroundPlannerInput, HitchData, NearData, ObjectData, PlanPose, VehicleData,
};

/// A plugin that finds paths on open ground. It requires hosts of 1.5.
///
/// The host requests a path for an agent at the start, for each new goal, when the vehicle has left
/// its path or stands still on it, and when its path is blocked.
pub trait GroundPlanner: Plugin {
    /// Whether [`Terrain`] contains the vehicle with its trailers.
    const VEHICLE: bool = true;

    /// Returns the requested size of the cells of the map, m, 0.2 to 4; `None` for no map. Called
    /// again after parameters have changed.
    fn map(&self) -> Option<f64> {
        Some(0.5)
    }

    /// Returns the request for nearby objects; `None` for no objects. Called again after parameters
    /// have changed.
    fn near(&self) -> Option<NearNeeds> {
        None
    }

    /// Called before each batch.
    fn begin(&mut self, _: &StepInfo) {}

    /// Begins or continues the search for one agent, and appends the poses of a path that it finds.
    ///
    /// A search that needs more than `input.budget` expansions answers [`PathAnswer::Searching`],
    /// and `plan` is called again in the next step with the same `input.search`. A planner that
    /// does not have this search in memory any more, because the run was restored or the plugin
    /// reloaded, begins again with `input.expanded + input.budget` expansions.
    fn plan(
        &mut self,
        agent: &Agent,
        input: &GroundPlannerInput,
        terrain: &Terrain<'_>,
        path: &mut PathPoses<'_>,
    ) -> PathAnswer;
}

/// Answer of a [`GroundPlanner`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PathAnswer {
    /// The poses lead from start to goal.
    Found {
        /// Cost of the path, in m of driving forwards on plain ground.
        cost: f64,
        /// Number of expansions of this search so far.
        expanded: u64,
    },
    /// The search continues in the next step.
    Searching {
        /// Number of expansions of this search so far.
        expanded: u64,
    },
    /// There is no path.
    NoPath {
        /// Reason why there is no path.
        reason: NoPathReason,
        /// Number of expansions of this search.
        expanded: u64,
    },
    /// The built-in planner `drivable_path` searches instead, which is not a fault.
    BuiltIn,
}

/// Reason why there is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPathReason {
    /// The reason is not known.
    Unknown,
    /// The vehicle overlaps an obstacle at its start.
    StartBlocked,
    /// The vehicle would overlap an obstacle at its goal.
    GoalBlocked,
    /// The start is enclosed without an exit.
    StartWalledIn,
    /// The goal is enclosed without an entrance.
    GoalWalledIn,
}

impl NoPathReason {
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Unknown => NO_PATH_UNKNOWN,
            Self::StartBlocked => NO_PATH_START_BLOCKED,
            Self::GoalBlocked => NO_PATH_GOAL_BLOCKED,
            Self::StartWalledIn => NO_PATH_START_WALLED_IN,
            Self::GoalWalledIn => NO_PATH_GOAL_WALLED_IN,
        }
    }
}

/// A path under construction.
pub struct PathPoses<'a> {
    pub(crate) buffer: &'a mut [PlanPose],
    pub(crate) length: usize,
}

impl PathPoses<'_> {
    /// Appends a pose. Poses beyond the capacity are dropped; in this case, the path counts as not found.
    pub fn push(&mut self, pose: PlanPose) {
        // The length also counts dropped poses, so that the caller can tell that the path did not fit.
        if let Some(place) = self.buffer.get_mut(self.length) {
            *place = pose;
        }
        self.length += 1;
    }
}

/// Vehicle, map and objects for a [`GroundPlanner`].
#[derive(Clone, Copy)]
pub struct Terrain<'a> {
    /// The vehicle at its level of dynamics; `None` if the planner has not requested it.
    pub vehicle: Option<&'a VehicleData>,
    /// Trailers of the vehicle.
    pub hitches: List<'a, HitchData>,
    /// Hitch angle of each trailer at the start, rad: heading of the body in front minus heading of
    /// the trailer.
    pub hitch_angles: List<'a, f64>,
    /// The map; `None` if the planner has not requested it.
    pub map: Option<CostMap<'a>>,
    /// Nearby objects, nearest first.
    pub near: List<'a, NearData>,
    /// All objects of the world.
    pub objects: List<'a, ObjectData>,
    /// Corners of the outlines of all objects.
    pub outlines: List<'a, RwPoint>,
}

impl Terrain<'_> {
    /// Terrain without a vehicle or a map, for tests.
    pub const NOTHING: Self = Self {
        vehicle: None,
        hitches: List::EMPTY,
        hitch_angles: List::EMPTY,
        map: None,
        near: List::EMPTY,
        objects: List::EMPTY,
        outlines: List::EMPTY,
    };
}

/// Map of the cost of driving, for the middle of the vehicle.
#[derive(Clone, Copy)]
pub struct CostMap<'a> {
    /// Position, size and version of the map.
    pub data: &'a GridData,
    /// Its cells, row by row from the south-west; 0 is blocked.
    pub cells: List<'a, u16>,
}

impl CostMap<'_> {
    /// Returns the index of the cell at a position; `None` outside the map.
    pub fn cell(&self, x: f64, y: f64) -> Option<usize> {
        let column = ((x - self.data.x) / self.data.cell).floor();
        let row = ((y - self.data.y) / self.data.cell).floor();
        let is_inside = column >= 0.0
            && row >= 0.0
            && column < f64::from(self.data.columns)
            && row < f64::from(self.data.rows);
        is_inside.then(|| row as usize * self.data.columns as usize + column as usize)
    }

    /// Returns the cost of driving at a position, relative to plain ground; `None` where it is
    /// blocked or outside the map.
    pub fn cost(&self, x: f64, y: f64) -> Option<f64> {
        let value = *self.cells.get(self.cell(x, y)?)?;
        (value > 0).then(|| f64::from(value) / f64::from(self.data.plain.max(1)))
    }
}
