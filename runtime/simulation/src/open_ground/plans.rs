//! The plans of all agents off the lanes, and the map that they share.

use super::drivable::DrivePlan;
use super::follow::{CREEP, Closeness, DRIVEN, Driver, FreeDisc, Track, brake_in_time, end_slowly};
use super::inspection::{self, GroundInspection, GroundQuestion};
use super::live_map::{LiveMap, OnGround};
use super::manoeuvre::{Begin, Manoeuvre};
use super::module_search::{ModuleSearch, SearchQuestion};
use super::profiles::growth_of;
use super::search::{Fields, Found, SavedWindow, Seeker};
use super::steering::{KnownSteering, Steering};
use super::verdict::{NoPath, PathStatus, SavedSearch};
use super::walking::{MOST_OTHERS, Other, Pedestrian, WalkPlan};
use crate::records::FARTHEST;
use crate::route::{Exact, PlannedPath, Waypoint};
use crate::vehicle_type::VehicleType;
use roadwright_agent::{Avoid, GroundAnswer, GroundPlanning, GroundSearch};
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose, heading_of, polyline};
use roadwright_ground::Ground;
use roadwright_planning::open_ground::{
    Body, CellSize, Disagreement, GoalCosts, HybridMemory, HybridParameters, HybridPath,
    IncrementalPath, LayerEffect, OpenGround, Owner, PlanEnd, Profile, Reachability, Rules, Spot,
    Stamp, Trip, Verdict,
};
use roadwright_plugin_api::PlanPose;
use roadwright_scenario::{BodyKind, OffRoad};
use roadwright_vehicle::trailer::Train;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A vehicle counts as having left its path if its lateral offset exceeds this, m.
const BESIDE: f64 = 1.0;
/// A vehicle counts as having left its path if its heading differs from the path by more than this,
/// rad.
const ASKEW: f64 = 1.0;
/// A vehicle needs a manoeuvre at the start of a path if its heading differs from the path by more
/// than this, rad.
const BEHIND: f64 = 1.05;
/// A vehicle that has been stationary on a free path for this time searches for a manoeuvre, s.
pub(super) const STUCK_AFTER: f64 = 4.0;
/// Like `STUCK_AFTER`, for a vehicle that would collide if it drove off without turning its wheels,
/// s.
const BLOCKED_AFTER: f64 = 0.6;
/// Time that a vehicle has at the start of a manoeuvre for turning its wheels and driving off, s.
const TURNS_WHEELS: f64 = 3.0;
/// When a vehicle drives off, this distance is checked for a collision, m.
const BLOCKED_WITHIN: f64 = 0.4;
/// Length of the path ahead that must be drivable for an agent to keep its path, m.
const KEPT: f64 = 10.0;
/// An agent keeps its path as long as its offset from the path is at most this, m.
const KEPT_BESIDE: f64 = 0.2;
/// A vehicle that begins a manoeuvre counts as stationary up to this speed, m/s.
const ROLLING: f64 = 0.1;
/// A vehicle that rolls faster than this against its gear counts as stuck, m/s. The slope ahead is
/// then too steep for its engine.
const ROLLS_BACK: f64 = 1.0;
/// A manoeuvre is replanned if the vehicle is farther than this from its current part, m. The
/// clearance of the manoeuvre was checked without such an offset.
const ASTRAY: f64 = 0.7;
/// After this distance along the last part of a manoeuvre, the agent may switch to another path, m.
const LEAVES_AFTER: f64 = 2.0;
/// Minimum cell size of a planner, m.
const FINEST: f64 = 0.05;
/// A part of a manoeuvre counts as complete at this distance from its end, m.
const PART_END: f64 = 0.3;
/// The agent replans within this distance of the end of the last part, m.
const LAST_PART_END: f64 = 3.0;
/// Maximum fraction of the last part that may remain when the agent replans.
const LAST_SHARE: f64 = 0.5;
/// A path that joins a lane continues along the lane for this length, m.
const ALONG_LANE: f64 = 30.0;
/// Distance between the points of the path along the lane, m.
const LANE_STEP: f64 = 6.0;
/// Deceleration of a vehicle that has found no path, m/s^2.
const HALTING: f64 = 2.5;
/// Maximum distance that a vehicle without a path still drives to get clear of the lanes, m.
const FARTHEST_CLEAR: u32 = 40;
/// Speed at which a vehicle without a path clears the lanes, m/s.
const CLEARING_SPEED: f64 = 2.5;
/// Clearance between a lane and a vehicle that has cleared it, m.
const CLEAR_OF_LANE: f64 = 0.5;
/// Length of the stopping path of a vehicle that has no path to its goal, m.
const HALT: f64 = 3.0;
/// Distance between a place where a vehicle would touch something and the earliest point where it
/// returns to its path, m.
const PAST: f64 = 3.0;
/// The line along a manoeuvre has one point for this many poses of the manoeuvre.
const SWING_POINTS: usize = 4;
/// Time after which a failed search for a manoeuvre is repeated, s.
const TRIES_AGAIN: f64 = 1.0;
/// Maximum number of cells that the searches for a verdict expand. If there is no verdict by then,
/// the agent keeps the status "searching".
const MOST_SPENT: u64 = 20_000_000;
/// Speed on a path that is not known to be free, m/s.
const CREEPING: f64 = 1.5;
/// Distance below which the points of a path are merged, m.
const CLOSE: f64 = 0.3;
/// Minimum distance from the end of a track to the next point of the path, m.
const AHEAD: f64 = 1.0;
/// Assumed speed for comparing tracks and manoeuvres, m/s.
const COMPARED_SPEED: f64 = 4.0;
/// Maximum length of a manoeuvre in a save, m. Longer ones are rejected.
const LONGEST: f64 = 1e5;
/// An agent counts as lost if it has learned values in more than this many tiles. Usual trips need
/// fewer.
const LOST: usize = 12;
/// Number of cells and poses that the first plans of agents may expand in a step. After that, the
/// remaining agents wait.
const FIRST_PLANS: u64 = 10_000;
/// Minimum number of cells charged for a first plan.
const LEAST_SPENT: u64 = 500;
/// Number of poses charged for a search for a manoeuvre.
const MANOEUVRE_SPENT: u64 = 4000;
/// Number of cells that the reachability search expands at a time.
const TURN: u64 = 512;

/// Current state of an agent off the lanes, for planning.
#[derive(Clone, Copy)]
pub(crate) struct Planner<'a> {
    pub(crate) id: u64,
    pub(crate) kind: &'a VehicleType,
    pub(crate) body: Body,
    /// Effects of cost layers on the vehicle type.
    pub(crate) effects: &'a Arc<[LayerEffect]>,
    /// Conditions under which the vehicle type leaves the lanes.
    pub(crate) off_road: OffRoad,
    /// Kind of the agent's body.
    pub(crate) body_kind: BodyKind,
    /// Pose of the rear axle.
    pub(crate) pose: Pose,
    pub(crate) speed: f64,
    /// Path curvature that corresponds to the current wheel angle, 1/m.
    pub(crate) curvature: f64,
    /// Time for which the vehicle has been stationary, s.
    pub(crate) standing: f64,
    /// The trailers that the vehicle tows.
    pub(crate) train: &'a Train,
    /// Angle from the heading of the first trailer to that of the vehicle, rad; 0 without a trailer.
    pub(crate) hitch: f64,
    /// Position along the planned path, m; 0 without a path.
    pub(crate) s: f64,
    /// Offset to the left of the planned path, m; 0 without a path.
    pub(crate) t: f64,
    /// The planned path; `None` if the agent has none.
    pub(crate) path: Option<&'a PlannedPath>,
    pub(crate) goal: DVec2,
    /// Heading of the goal in the scenario, rad; `None` if it is unknown.
    pub(crate) goal_heading: Option<f64>,
    /// The lane that the path joins at the goal.
    pub(crate) lane: Option<Beyond<'a>>,
    pub(crate) ground: &'a Ground,
    pub(crate) planning: GroundPlanning,
    /// Speed off the roads, m/s.
    pub(crate) top_speed: f64,
    /// Simulation time, s.
    pub(crate) now: f64,
    /// Number of the step.
    pub(crate) step: u64,
    /// Whether the agent is due for planning.
    pub(crate) is_due: bool,
    /// Key of the vehicle type, which selects the costs of painted layers.
    pub(crate) vehicle_type: &'a Arc<str>,
}

/// The lane on which a path over open ground continues.
#[derive(Clone, Copy)]
pub(crate) struct Beyond<'a> {
    pub(crate) line: CentreLine<'a>,
    /// Position along the lane where the path joins it, m.
    pub(crate) s: f64,
}

impl Beyond<'_> {
    /// Points along the lane beyond the place where the path joins it.
    pub(super) fn points(&self) -> impl Iterator<Item = DVec2> {
        let count = (ALONG_LANE / LANE_STEP) as u32;
        let along = (1..=count).map(|number| self.s + LANE_STEP * f64::from(number));
        along.map(|s| {
            let end = self.line.length();
            self.line.pose(s.min(end)).point((s - end).max(0.0), 0.0)
        })
    }
}

impl Planner<'_> {
    /// Heading with which the agent has to arrive at its goal, rad; `None` for any heading.
    pub(super) fn heading_at_goal(&self) -> Option<f64> {
        let GroundSearch::Drivable { keeps_heading, .. } = self.planning.search else {
            return None;
        };
        match &self.lane {
            Some(lane) => Some(lane.line.heading(lane.s)),
            None => self.goal_heading.filter(|_| keeps_heading),
        }
    }

    pub(super) fn owner(&self) -> Owner {
        Owner(self.id)
    }

    /// Pose of the centre of the body.
    fn centre(&self) -> Pose {
        Pose {
            position: self.pose.point(self.kind.body_centre, 0.0),
            heading: self.pose.heading,
        }
    }

    /// Clearance that the path of a short vehicle keeps from obstacles if such a path exists, m.
    /// Short vehicles are planned for over very fine cells. Without this clearance, a path could
    /// lead through gaps that are hardly wider than the vehicle, which no driver can steer through.
    fn room(&self) -> f64 {
        let is_short = self.body_kind == BodyKind::Vehicle && self.kind.scale() < 1.0;
        match self.planning.search {
            GroundSearch::Bounded { .. } if is_short => self.planning.tracking_margin,
            _ => 0.0,
        }
    }

    /// Creates the vehicle's profile for paths that pass obstacles as closely as the vehicle fits.
    pub(super) fn profile(&self, cell: f64) -> Profile {
        let cell = CellSize::new(cell).unwrap_or(CellSize::WAY_POINTS);
        Profile {
            vehicle_type: Some(self.vehicle_type.clone()),
            costs: (&self.planning).into(),
            effects: self.effects.clone(),
            growth: growth_of(self.body_kind),
            ..Profile::new(self.body, cell)
        }
    }

    /// Creates the trip to the goal over cells of the given size, m. The trip keeps `room` metres
    /// from obstacles.
    fn trip(&self, map: &mut OpenGround, cell: f64, from: Pose, room: f64) -> Trip {
        Trip {
            profile: map.add_profile(Profile {
                room,
                ..self.profile(cell)
            }),
            owner: Some(self.owner()),
            from: Spot::at(from),
            to: match self.heading_at_goal() {
                Some(heading) => {
                    let axle = Pose {
                        position: self.goal,
                        heading,
                    };
                    Spot::at(Pose {
                        position: axle.point(self.kind.body_centre, 0.0),
                        heading,
                    })
                }
                None => Spot::anyhow(self.goal),
            },
        }
    }

    /// Whether the agent has left its path or is not heading along it.
    pub(super) fn has_left_path(&self) -> bool {
        let Some(path) = self.path else { return false };
        has_left(LeftPath {
            kind: self.kind,
            path,
            heading: match path.path.is_reversing() {
                true => self.pose.heading + std::f64::consts::PI,
                false => self.pose.heading,
            },
            s: self.s,
            t: self.t,
        })
    }
}

/// Position of a vehicle relative to a planned path.
#[derive(Clone, Copy)]
pub(crate) struct LeftPath<'a> {
    pub(crate) kind: &'a VehicleType,
    pub(crate) path: &'a PlannedPath,
    /// Direction of travel, rad.
    pub(crate) heading: f64,
    /// Position along the path, m.
    pub(crate) s: f64,
    /// Offset to the left of the path, m.
    pub(crate) t: f64,
}

/// Whether a vehicle has left its planned path or is not heading along it.
pub(crate) fn has_left(place: LeftPath<'_>) -> bool {
    let heading = place.path.path.line().heading(place.s);
    place.t.abs() > BESIDE * place.kind.scale() || wrap_angle(place.heading - heading).abs() > ASKEW
}

/// Functions that a plan calls for data about its agent. They are slow, so they are called only if
/// necessary.
pub(crate) struct Asked<'a> {
    /// Returns the driver's steering, for a new path.
    pub(crate) steering: &'a dyn Fn() -> Steering,
    /// Returns whether and why the driver disagrees with its plan.
    pub(crate) disagreement: &'a dyn Fn() -> Option<Disagreement>,
    /// Lets the agent's module search for a path. Poses of a path that it finds are stored in the
    /// list.
    pub(crate) search: &'a dyn Fn(&SearchQuestion<'_>, &mut Vec<PlanPose>) -> GroundAnswer,
}

/// State that an agent keeps from one plan to the next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentPlan {
    goal: DVec2,
    pub(crate) status: PathStatus,
    memory: HybridMemory,
    pub(super) verdict: Option<SavedSearch>,
    /// Whether the planner's search over its own cells found no exit.
    is_walled_in: bool,
    /// Cell size for gaps that are too narrow for the planner's own cells, m.
    cell: Option<f64>,
    window: Option<SavedWindow>,
    /// Parts of a manoeuvre after the current one.
    pub(super) rest: Vec<PlannedPart>,
    /// Position on the current path where the last part of a manoeuvre ends, m; `None` if the path is not a
    /// manoeuvre.
    pub(super) manoeuvre_until: Option<f64>,
    pub(super) gear: i8,
    /// No manoeuvre is searched for before this time, because the last search found none, s.
    gives_up_until: f64,
    /// Position of the vehicle at the last gear change, m.
    pub(super) changed_at: DVec2,
    pub(super) planned_at: Option<f64>,
    #[serde(skip)]
    pub(super) live: Live,
    /// State of `drivable_path`. Saves store it separately.
    #[serde(skip)]
    pub(super) drive: DrivePlan,
    /// State of a character. Saves store it separately.
    #[serde(skip)]
    pub(super) walk: WalkPlan,
}

/// A part of a manoeuvre, driven in one gear.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlannedPart {
    pub(super) waypoints: Vec<Waypoint>,
    pub(super) margin: f64,
    /// Distance from the start of the part to its end, m.
    pub(super) until: f64,
    /// Waypoints of the axle of a trailer that is pushed along the part; empty if none is pushed.
    pub(super) towed: Vec<Waypoint>,
}

/// Searches in progress, which a restored world repeats.
#[derive(Debug, Clone, Default)]
pub(super) struct Live {
    pub(super) searches: Option<Reachability>,
    incremental: Option<IncrementalPath>,
    /// Costs from a search that starts at the goal. The search begins when bounded searches get
    /// lost.
    costs: Option<GoalCosts>,
    /// Number of cells that the search for `costs` had expanded when the world was saved.
    saved_costs: Option<u64>,
}

/// Effect of planning on the path of an agent.
pub(crate) enum Step {
    /// The agent keeps its current path.
    Stays,
    /// The agent gets a new path.
    Follow(Box<PlannedPath>),
    /// The agent gets a new path, and reaches its goal only at the end of this path.
    Exact(Box<PlannedPath>, Exact),
}

impl AgentPlan {
    /// Whether a loaded plan is valid.
    pub(crate) fn is_sound(&self) -> bool {
        let parts = self.rest.iter();
        let waypoints = parts.flat_map(|part| part.waypoints.iter().chain(&part.towed));
        let are_sound = waypoints.into_iter().all(|waypoint| {
            let Pose { position, heading } = waypoint.pose;
            position.abs().max_element() <= FARTHEST && (heading + waypoint.speed).is_finite()
        });
        let length: f64 = self
            .rest
            .iter()
            .flat_map(|part| part.waypoints.windows(2))
            .map(|pair| (pair[1].pose.position - pair[0].pose.position).length())
            .sum();
        are_sound
            && length <= LONGEST
            && self.memory.is_sound()
            && self.drive.is_sound()
            && self.walk.is_sound()
    }

    fn new(agent: &Planner<'_>) -> Self {
        Self {
            goal: agent.goal,
            status: PathStatus::Searching,
            memory: HybridMemory::default(),
            verdict: None,
            is_walled_in: false,
            cell: None,
            window: None,
            rest: Vec::new(),
            manoeuvre_until: None,
            gear: if agent.speed < 0.0 { -1 } else { 1 },
            gives_up_until: f64::NEG_INFINITY,
            changed_at: DVec2::INFINITY,
            planned_at: None,
            live: Live::default(),
            drive: DrivePlan::default(),
            walk: WalkPlan::default(),
        }
    }
}

/// The map of a world off the lanes, and the plans of its agents.
pub(crate) struct GroundPlans {
    pub(super) live: Option<LiveMap>,
    pub(super) agents: BTreeMap<u64, AgentPlan>,
    /// Characters, from west to east.
    pub(super) pedestrians: Vec<Pedestrian>,
    hybrid: HybridPath,
    fields: Fields,
    /// Number of cells and poses that the first plans of agents have expanded in this step.
    spent: u64,
    /// Number of searches for courses of characters that have been made in this step.
    searches: u32,
    /// Known steering of the drivers.
    pub(crate) steering: KnownSteering,
}

impl Default for GroundPlans {
    fn default() -> Self {
        Self {
            live: None,
            agents: BTreeMap::new(),
            pedestrians: Vec::new(),
            hybrid: HybridPath::new(HybridParameters::default()),
            fields: Fields::default(),
            spent: 0,
            searches: 0,
            steering: KnownSteering::default(),
        }
    }
}

impl GroundPlans {
    /// Whether no agent has a plan.
    pub(crate) fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// The plans, for a save.
    pub(crate) fn saved(&self) -> &BTreeMap<u64, AgentPlan> {
        &self.agents
    }

    /// States of the agents that use `drivable_path`, for a save.
    pub(crate) fn saved_drives(&self) -> BTreeMap<u64, &DrivePlan> {
        let drives = self.agents.iter().map(|(&id, plan)| (id, &plan.drive));
        drives.filter(|(_, drive)| !drive.is_empty()).collect()
    }

    /// Adds the states of agents that use `drivable_path` to restored plans.
    pub(crate) fn restore_drives(&mut self, drives: BTreeMap<u64, DrivePlan>) {
        for (id, drive) in drives {
            if let Some(plan) = self.agents.get_mut(&id) {
                plan.drive = drive;
            }
        }
    }

    /// Searches that modules carry out, for a save.
    pub(crate) fn saved_module_searches(&self) -> BTreeMap<u64, ModuleSearch> {
        let all = self.agents.iter();
        all.filter_map(|(&id, plan)| Some((id, plan.drive.module_search()?)))
            .collect()
    }

    /// Adds searches that modules carry out to restored plans.
    pub(crate) fn restore_module_searches(&mut self, searches: BTreeMap<u64, ModuleSearch>) {
        for (id, search) in searches {
            if let Some(plan) = self.agents.get_mut(&id) {
                plan.drive.restore_module_search(search);
            }
        }
    }

    /// Plans of characters, for a save.
    pub(crate) fn saved_walks(&self) -> BTreeMap<u64, &WalkPlan> {
        let walks = self.agents.iter().map(|(&id, plan)| (id, &plan.walk));
        walks.filter(|(_, walk)| !walk.is_empty()).collect()
    }

    /// Number of cells that each search from a goal has expanded, for a save.
    pub(crate) fn saved_costs(&self) -> BTreeMap<u64, u64> {
        let all = self.agents.iter();
        let costs = all.filter_map(|(&id, plan)| Some((id, plan.costs()?.expanded())));
        costs.collect()
    }

    /// Adds the searches from goals to restored plans.
    pub(crate) fn restore_costs(&mut self, costs: BTreeMap<u64, u64>) {
        for (id, expanded) in costs {
            if let Some(plan) = self.agents.get_mut(&id) {
                plan.live.saved_costs = Some(expanded);
            }
        }
    }

    /// Adds the plans of characters to restored plans.
    pub(crate) fn restore_walks(&mut self, walks: BTreeMap<u64, WalkPlan>) {
        for (id, walk) in walks {
            if let Some(plan) = self.agents.get_mut(&id) {
                plan.walk = walk;
            }
        }
    }

    /// Returns the other characters as they appear to the planning character, in the order of ids.
    /// Empty if the character does not look at others in this step.
    fn others(&self, agent: &Planner<'_>) -> Vec<Other> {
        let own = self.agents.get(&agent.id);
        let Some(sight) = own.and_then(|plan| plan.walk.sight(agent.now)) else {
            return Vec::new();
        };
        let own = agent.pose.position;
        let from = self
            .pedestrians
            .partition_point(|one| one.place.x < own.x - sight);
        let near = self.pedestrians[from..].iter();
        let near = near.take_while(|one| one.place.x <= own.x + sight);
        let mut near: Vec<&Pedestrian> = near
            .filter(|one| one.id != agent.id && (one.place - own).length() <= sight)
            .collect();
        let away = |one: &Pedestrian| (one.place - own).length_squared();
        if near.len() > MOST_OTHERS {
            near.select_nth_unstable_by(MOST_OTHERS, |a, b| {
                away(a).total_cmp(&away(b)).then(a.id.cmp(&b.id))
            });
            near.truncate(MOST_OTHERS);
        }
        near.sort_unstable_by_key(|one| one.id);
        let plan = |id: u64| self.agents.get(&id).map(|plan| &plan.walk);
        near.into_iter()
            .map(|one| Other::of(one, plan(one.id), agent.now))
            .collect()
    }

    /// Status of an agent's path; `None` if the agent does not plan.
    pub(crate) fn status(&self, id: u64) -> Option<&PathStatus> {
        self.agents.get(&id).map(|plan| &plan.status)
    }

    /// Inspects an agent that plans; `None` if it has no plan yet.
    pub(crate) fn inspect(
        &self,
        agent: &Planner<'_>,
        disagreement: Option<Disagreement>,
        question: &GroundQuestion,
    ) -> Option<GroundInspection> {
        let plan = self.agents.get(&agent.id)?;
        let live = self.live.as_ref()?;
        let mut inspection = inspection::inspect(live, plan, agent, question);
        inspection.disagreement = disagreement;
        Some(inspection)
    }

    /// Waypoints of the parts of an agent's manoeuvre after the current one.
    pub(crate) fn waypoints_after_part(&self, id: u64) -> impl Iterator<Item = &Waypoint> {
        let plan = self.agents.get(&id).into_iter();
        plan.flat_map(|plan| plan.rest.iter().flat_map(|part| &part.waypoints))
    }

    /// Agents that have no path, or whose search has not ended, with the statuses of their paths,
    /// by id.
    pub(crate) fn without_known_path(&self) -> impl Iterator<Item = (u64, &PathStatus)> {
        let open = self.agents.iter().filter(|(_, plan)| match plan.status {
            PathStatus::NoPath(_) => true,
            PathStatus::Found => false,
            PathStatus::Searching => {
                let searches = plan.live.searches.as_ref();
                searches.is_none_or(|searches| searches.verdict() == Verdict::Searching)
            }
        });
        open.map(|(&id, plan)| (id, &plan.status))
    }

    /// Whether an agent may have a path. `false` only if it is known that there is none.
    pub(crate) fn has_path(&self, id: u64) -> bool {
        !matches!(self.status(id), Some(PathStatus::NoPath(_)))
    }

    /// Agents without a path, by id.
    pub(crate) fn without_path(&self) -> impl Iterator<Item = (u64, &NoPath)> {
        self.agents
            .iter()
            .filter_map(|(&id, plan)| match &plan.status {
                PathStatus::NoPath(why) => Some((id, why)),
                PathStatus::Searching | PathStatus::Found => None,
            })
    }

    /// Restores saved plans. The map has to be built afterwards.
    pub(crate) fn restore(&mut self, saved: BTreeMap<u64, AgentPlan>) {
        self.agents = saved;
        self.live = None;
    }

    /// Begins a step. Deletes all plans except those of the given agents, whose ids must be in
    /// ascending order.
    pub(crate) fn keep(&mut self, planning: &[u64]) {
        (self.spent, self.searches) = (0, 0);
        self.agents
            .retain(|id, _| planning.binary_search(id).is_ok());
        if self.agents.is_empty() && planning.is_empty() {
            self.live = None;
            self.fields = Fields::default();
        }
    }

    /// Updates the map to the state of a world and drops results that are no longer valid. Worlds
    /// are saved only after this, so that a save contains the current state but no pending changes.
    pub(crate) fn update_map(
        &mut self,
        ground: &Arc<Ground>,
        shown: &OnGround<'_>,
        planners: &[Planner<'_>],
    ) {
        if planners.is_empty() {
            return;
        }
        let is_new = self.live.is_none();
        let live = self.live.get_or_insert_with(|| LiveMap::new(ground));
        let before = live.map.stamp();
        live.update(ground, shown);
        self.pedestrians = shown.pedestrians();
        let since = match is_new {
            true => live.map.stamp(),
            false => before,
        };
        for agent in planners {
            let Some(plan) = self.agents.get_mut(&agent.id) else {
                continue;
            };
            if is_new {
                plan.resume_searches(&mut live.map, agent);
                plan.drive.resume(&mut live.map, agent);
            }
            plan.notice_changes(&mut live.map, since, &mut self.hybrid, agent);
            plan.drive.notice_changes(&mut live.map);
        }
    }

    /// Lets an agent plan. Call `update_map` before this in every step.
    pub(crate) fn plan(&mut self, agent: &Planner<'_>, asked: &Asked<'_>) -> Step {
        let others = match agent.body_kind {
            BodyKind::Vehicle => Vec::new(),
            BodyKind::Character => self.others(agent),
        };
        let Some(live) = &mut self.live else {
            return Step::Stays;
        };
        let plan = self
            .agents
            .entry(agent.id)
            .or_insert_with(|| AgentPlan::new(agent));
        if plan.goal != agent.goal {
            *plan = AgentPlan {
                gear: plan.gear,
                changed_at: plan.changed_at,
                ..AgentPlan::new(agent)
            };
        }
        let mut planning = Planning {
            map: &mut live.map,
            hybrid: &mut self.hybrid,
            fields: &mut self.fields,
            agent,
            asked,
            plan,
            room: agent.room(),
            others: &others,
            spent: &mut self.spent,
            searches: &mut self.searches,
        };
        planning.step()
    }
}

impl AgentPlan {
    pub(super) fn cell(&self, agent: &Planner<'_>) -> f64 {
        self.cell.unwrap_or(agent.planning.cell)
    }

    /// Reachability status of the agent.
    pub(super) fn status(&self) -> &PathStatus {
        &self.status
    }

    /// Learned values of the agent's planner.
    pub(super) fn memory(&self) -> &HybridMemory {
        &self.memory
    }

    /// Factor on the usual budget of a bounded search. Finer cells cover less ground, so more of
    /// them are needed.
    pub(super) fn budget_factor(&self, planning: &GroundPlanning) -> u64 {
        let scale = planning.cell / self.cell.unwrap_or(planning.cell);
        (scale * scale).round().clamp(1.0, 64.0) as u64
    }

    /// Creates the trip for which the agent's planner searches for a path.
    pub(super) fn trip(&self, map: &mut OpenGround, agent: &Planner<'_>) -> Trip {
        agent.trip(map, self.cell(agent), agent.centre(), agent.room())
    }

    /// Costs from a search that starts at the goal; `None` if no such search was needed.
    pub(super) fn costs(&self) -> Option<&GoalCosts> {
        self.live.costs.as_ref()
    }

    /// Repeats the searches for a verdict and from the goal, up to the state in which they were
    /// saved.
    fn resume_searches(&mut self, map: &mut OpenGround, agent: &Planner<'_>) {
        if let Some(expanded) = self.live.saved_costs.take() {
            let trip = self.trip(map, agent);
            self.live.costs = GoalCosts::new(map, &trip, Rules::from(&agent.planning));
            if let Some(costs) = &mut self.live.costs {
                costs.advance(map, expanded);
            }
        }
        let Some(saved) = self.verdict else { return };
        let trip = agent.trip(map, agent.planning.cell, saved.from, 0.0);
        let mut searches = Reachability::new(map, trip);
        searches.advance(map, saved.spent.min(MOST_SPENT));
        self.live.searches = Some(searches);
    }

    /// Drops search results and decisions that are affected by changes of the map.
    fn notice_changes(
        &mut self,
        map: &mut OpenGround,
        since: Stamp,
        hybrid: &mut HybridPath,
        agent: &Planner<'_>,
    ) {
        if since != map.stamp() && matches!(agent.planning.search, GroundSearch::Bounded { .. }) {
            let trip = self.trip(map, agent);
            let mut memory = std::mem::take(&mut self.memory);
            memory.set_stamp(since);
            hybrid.restore(memory);
            hybrid.catch_up(map, &trip);
            self.memory = hybrid.take_memory();
            self.memory.set_stamp(Stamp::default());
        }
        if self.costs().is_some_and(|costs| costs.is_outdated(map)) {
            self.live.costs = None;
        }
        let searches = self.live.searches.as_ref();
        if searches.is_some_and(|searches| searches.is_outdated(map)) {
            self.live.searches = None;
            self.verdict = None;
            self.drive.retry();
            if matches!(self.status, PathStatus::NoPath(_)) {
                self.status = PathStatus::Searching;
                self.planned_at = None;
            }
        }
    }
}

/// Data for planning the path of one agent in the current step.
pub(super) struct Planning<'a> {
    pub(super) map: &'a mut OpenGround,
    hybrid: &'a mut HybridPath,
    fields: &'a mut Fields,
    pub(super) agent: &'a Planner<'a>,
    pub(super) asked: &'a Asked<'a>,
    pub(super) plan: &'a mut AgentPlan,
    /// Distance that paths keep from obstacles, m.
    room: f64,
    /// Characters around the agent, if the agent is a character.
    pub(super) others: &'a [Other],
    /// Number of cells and poses that the first plans of agents have expanded in this step.
    spent: &'a mut u64,
    /// Number of searches for courses of characters that have been made in this step.
    pub(super) searches: &'a mut u32,
}

impl Planning<'_> {
    fn step(&mut self) -> Step {
        self.retry_no_path();
        let had_path = !matches!(self.plan.status, PathStatus::NoPath(_));
        match self.agent.off_road {
            OffRoad::Never if had_path => {
                self.plan.status = PathStatus::NoPath(NoPath::no_lanes());
            }
            OffRoad::Never => {}
            OffRoad::WhenNeeded | OffRoad::Free => self.search_for_verdict(),
        }
        self.search_from_goal();
        if matches!(self.plan.status, PathStatus::NoPath(_)) {
            // The agent stays in place until something changes.
            return match had_path || self.agent.path.is_none() {
                true => self.halt(),
                false => Step::Stays,
            };
        }
        if self.agent.body_kind == BodyKind::Character {
            return self.step_walking();
        }
        if self.is_drivable() {
            return self.step_drivable();
        }
        self.plan.drive.reset();
        if let Some(step) = self.go_on_with_manoeuvre() {
            return step;
        }
        let agent = self.agent;
        let since = self.plan.planned_at.map(|planned| agent.now - planned);
        let is_first = agent.path.is_none() || since.is_none();
        let since = since.unwrap_or(f64::INFINITY);
        let is_called = || since >= agent.planning.pause && (self.asked.disagreement)().is_some();
        if self.plan.planned_at.is_none() && *self.spent >= FIRST_PLANS {
            // If many agents begin at once, this agent waits for its turn, in the order of ids.
            return match agent.path.is_none() {
                true => self.halt(),
                false => Step::Stays,
            };
        }
        match is_first || agent.is_due || is_called() {
            true => self.replan(),
            false => Step::Stays,
        }
    }

    /// Continues the search that decides whether there is a path, unless this is already known.
    fn search_for_verdict(&mut self) {
        let Some(searches) = &mut self.plan.live.searches else {
            return;
        };
        let budget = (self.agent.planning.verdict_budget / TURN).max(1) * TURN;
        let Some(saved) = &mut self.plan.verdict else {
            return;
        };
        // Some verdicts are reached before the first cell is expanded.
        let is_open = searches.verdict() == Verdict::Searching;
        if is_open && saved.spent >= MOST_SPENT {
            return;
        }
        if is_open {
            saved.spent += budget;
        }
        match searches.advance(self.map, budget) {
            Verdict::Searching => {}
            Verdict::Reachable => {
                // The planner's cells may be too coarse for the path that these searches have
                // found.
                let mut cell = searches.cell_size().metres();
                let own = self.plan.cell(self.agent);
                if self.plan.is_walled_in && cell >= own {
                    cell = (0.5 * own).max(FINEST);
                }
                if cell < own {
                    self.plan.cell = Some(cell);
                    self.plan.planned_at = None;
                    self.plan.is_walled_in = false;
                }
            }
            Verdict::NoPath(reason) => {
                self.plan.status = PathStatus::NoPath(reason.into());
                self.plan.manoeuvre_until = None;
                self.plan.rest.clear();
            }
        }
    }

    /// Begins a search from the goal if bounded searches have covered a large area without reaching
    /// the goal.
    fn ask_for_costs(&mut self) {
        let is_bounded = matches!(self.agent.planning.search, GroundSearch::Bounded { .. });
        if !is_bounded || self.plan.memory.learned_tiles() < LOST {
            return;
        }
        let trip = self.plan.trip(self.map, self.agent);
        let rules = Rules::from(&self.agent.planning);
        let known = self.plan.costs();
        if !known.is_some_and(|costs| costs.serves(&trip, rules)) {
            self.plan.live.costs = GoalCosts::new(self.map, &trip, rules);
        }
    }

    /// Continues the search from the goal until a path is known.
    fn search_from_goal(&mut self) {
        if self.plan.status != PathStatus::Searching {
            return;
        }
        if let Some(costs) = &mut self.plan.live.costs {
            costs.advance(self.map, self.agent.planning.verdict_budget);
        }
    }

    pub(super) fn ask_for_verdict(&mut self) {
        if self.plan.live.searches.is_some() {
            return;
        }
        let from = self.agent.centre();
        let trip = (self.agent).trip(self.map, self.agent.planning.cell, from, 0.0);
        self.plan.verdict = Some(SavedSearch { from, spent: 0 });
        self.plan.live.searches = Some(Reachability::new(self.map, trip));
    }

    /// Returns the next part of a manoeuvre; `None` if there is none, or if the manoeuvre has to be replanned.
    fn go_on_with_manoeuvre(&mut self) -> Option<Step> {
        let until = self.plan.manoeuvre_until?;
        let agent = self.agent;
        let path = agent.path?;
        let is_last = self.plan.rest.is_empty();
        let scale = agent.kind.scale();
        let is_driven = match is_last {
            true => agent.s >= until - (LAST_PART_END * scale).min(LAST_SHARE * until),
            false => agent.s >= until - PART_END * scale,
        };
        if is_driven && is_last {
            self.plan.manoeuvre_until = None;
            return None;
        }
        if is_driven {
            let next = self.plan.rest.remove(0);
            return Some(self.begin_part(next));
        }
        let is_astray = agent.t.abs() > ASTRAY * scale;
        if self.is_manoeuvre_stuck() || is_astray || !self.is_still_free(path, until) {
            self.plan.manoeuvre_until = None;
            self.plan.rest.clear();
            return None;
        }
        let may_leave = is_last && self.plan.gear > 0 && agent.s > LEAVES_AFTER * scale;
        if may_leave
            && agent.is_due
            && let Some(step) = self.leave_manoeuvre()
        {
            return Some(step);
        }
        Some(Step::Stays)
    }

    /// Ends a manoeuvre early if the vehicle can follow a path from its current pose. `None` if it
    /// cannot.
    fn leave_manoeuvre(&mut self) -> Option<Step> {
        let found = self.find();
        if found.points.is_empty() {
            return None;
        }
        let agent = *self.agent;
        let mut driver = self.driver();
        let path = path_over(&mut driver, &agent, &found);
        if turn_onto(&agent, &path) >= BEHIND {
            return None;
        }
        let track = driver.driven(agent.pose, &path, Closeness::Usual)?;
        let waypoints = along(&driver, &track, &path);
        self.plan.planned_at = Some(agent.now);
        self.note(found.end);
        self.end_manoeuvre(1);
        Some(self.follow(waypoints, track.clearance))
    }

    /// Whether the vehicle makes no progress along its manoeuvre. It is first given time to turn
    /// its wheels.
    fn is_manoeuvre_stuck(&mut self) -> bool {
        let since = self.plan.planned_at.map(|at| self.agent.now - at);
        since.is_none_or(|since| since > TURNS_WHEELS) && self.is_stuck()
    }

    /// Whether the vehicle makes no progress along its path.
    fn is_stuck(&mut self) -> bool {
        let agent = self.agent;
        let rolls_back = f64::from(self.plan.gear) * agent.speed < -ROLLS_BACK;
        if agent.standing > STUCK_AFTER || rolls_back {
            return true;
        }
        if agent.standing <= BLOCKED_AFTER {
            return false;
        }
        let gear = f64::from(self.plan.gear);
        let driver = self.driver();
        let ahead = gear * BLOCKED_WITHIN * driver.scale();
        let margin = driver.room_at(agent.pose, driver.least_margin());
        !driver.is_clear_along(agent.pose, ahead, agent.curvature, margin)
    }

    /// Whether the rest of a part of a manoeuvre is clear of obstacles.
    fn is_still_free(&mut self, path: &PlannedPath, until: f64) -> bool {
        if !self.agent.is_due {
            return true;
        }
        let s = self.agent.s;
        let driver = self.driver();
        let line = path.path.line();
        let turned = if path.path.is_reversing() {
            std::f64::consts::PI
        } else {
            0.0
        };
        let scale = driver.scale();
        let count = ((until - s).max(0.0) / scale).floor() as u32;
        (1..=count).all(|step| {
            let pose = line.pose(s + scale * f64::from(step));
            let pose = Pose {
                heading: pose.heading + turned,
                ..pose
            };
            driver.fits(pose, 0.0)
        })
    }

    fn begin_part(&mut self, part: PlannedPart) -> Step {
        let gear = part.waypoints.first().map_or(1, |w| w.gear);
        if gear != self.plan.gear {
            self.plan.gear = gear;
            self.plan.changed_at = self.agent.pose.position;
        }
        self.plan.manoeuvre_until = Some(part.until);
        self.follow(part.waypoints, part.margin)
    }

    pub(super) fn follow(&self, waypoints: Vec<Waypoint>, margin: f64) -> Step {
        let steering = (self.asked.steering)();
        Step::Follow(Box::new(PlannedPath {
            path: waypoints.into(),
            margin,
            near: self.agent.planning.near,
            ahead: self.agent.planning.ahead,
            sharpest: steering.sharpest,
            response: steering.response,
            sees_all: self.agent.planning.avoid == Avoid::All,
            towed: None,
        }))
    }

    /// Returns a path that stops the agent. The agent stops clear of the lanes if it can get there
    /// by driving straight, forwards or in reverse.
    pub(super) fn halt(&mut self) -> Step {
        let gear = if self.agent.speed < 0.0 { -1 } else { 1 };
        if let Some(distance) = self.way_off_lanes(gear) {
            return self.drive_straight(distance);
        }
        let place = |distance: f64| Waypoint {
            pose: Pose {
                position: self.agent.pose.point(f64::from(gear) * distance, 0.0),
                ..self.agent.pose
            },
            speed: 0.0,
            gear,
        };
        self.plan.gear = gear;
        self.follow(vec![place(0.0), place(HALT)], 0.0)
    }

    /// Distance that the agent has to drive straight to get clear of the lanes, m; negative in
    /// reverse. `None` if the agent will be clear of them anyway or cannot get clear.
    fn way_off_lanes(&mut self, gear: i8) -> Option<f64> {
        let agent = self.agent;
        let braking = agent.speed * agent.speed / (2.0 * HALTING);
        let at = |distance: f64| Pose {
            position: agent.pose.point(distance, 0.0),
            ..agent.pose
        };
        let is_clear = |distance: f64| {
            let body = agent.kind.covered(at(distance));
            !agent.ground.covers_lane(&body, CLEAR_OF_LANE)
        };
        let stop = f64::from(gear) * braking;
        if is_clear(stop) {
            return None;
        }
        let driver = self.driver();
        let way = |gear: i8| {
            let ahead =
                (0..=FARTHEST_CLEAR).map(|step| f64::from(gear) * (braking + f64::from(step)));
            let mut free = ahead.take_while(|&distance| driver.fits(at(distance), 0.0));
            free.find(|&distance| is_clear(distance))
        };
        way(gear).or_else(|| way(-gear))
    }

    fn drive_straight(&mut self, distance: f64) -> Step {
        let gear = if distance < 0.0 { -1 } else { 1 };
        let count = distance.abs().ceil().max(1.0) as u32;
        let mut waypoints: Vec<Waypoint> = (0..=count)
            .map(|number| Waypoint {
                pose: Pose {
                    position: (self.agent.pose)
                        .point(distance * f64::from(number) / f64::from(count), 0.0),
                    ..self.agent.pose
                },
                speed: CLEARING_SPEED,
                gear,
            })
            .collect();
        if let Some(last) = waypoints.last_mut() {
            last.speed = 0.0;
        }
        brake_in_time(&mut waypoints);
        self.plan.gear = gear;
        self.follow(waypoints, 0.0)
    }

    /// Whether the driver can push a trailer in reverse.
    pub(super) fn pushes_trailers(&self) -> bool {
        (self.asked.steering)().pushes_trailers
    }

    pub(super) fn driver(&mut self) -> Driver<'_> {
        let profile = Profile {
            room: self.room,
            ..self.agent.profile(self.plan.cell(self.agent))
        };
        let steering = (self.asked.steering)();
        Driver {
            profile: self.map.add_profile(profile),
            map: self.map,
            owner: self.agent.owner(),
            kind: self.agent.kind,
            ground: self.agent.ground,
            tightest: steering.tightest,
            margin: self.agent.planning.tracking_margin,
            speed: self.agent.top_speed,
            moves_at: self.agent.speed,
            curvature: self.agent.curvature,
            free: Cell::new(FreeDisc::default()),
        }
    }

    fn replan(&mut self) -> Step {
        let is_first = self.plan.planned_at.is_none();
        self.plan.planned_at = Some(self.agent.now);
        let found = self.find();
        if is_first {
            *self.spent += found.expanded.max(LEAST_SPENT);
        }
        self.note(found.end);
        if found.points.is_empty() {
            return self.halt();
        }
        self.drive_along(found)
    }

    /// Searches for a path that keeps its distance from obstacles, or for any path if there is none.
    pub(super) fn find(&mut self) -> Found {
        self.room = self.agent.room();
        let found = self.find_with_room();
        if self.room <= 0.0 || matches!(found.end, PlanEnd::Goal | PlanEnd::Budget) {
            return found;
        }
        self.room = 0.0;
        self.find_with_room()
    }

    fn find_with_room(&mut self) -> Found {
        let (agent, cell) = (self.agent, self.plan.cell(self.agent));
        let trip = agent.trip(self.map, cell, agent.centre(), self.room);
        let mut seeker = Seeker {
            map: self.map,
            hybrid: self.hybrid,
            fields: self.fields,
            planning: &self.agent.planning,
            trip,
            budget_factor: self.plan.budget_factor(&self.agent.planning),
            costs: self.plan.live.costs.as_ref(),
            now: self.agent.now,
        };
        seeker.find(
            &mut self.plan.memory,
            &mut self.plan.window,
            &mut self.plan.live.incremental,
        )
    }

    /// Records the result of a search, and starts a search for a verdict if no path was found.
    pub(super) fn note(&mut self, end: PlanEnd) {
        self.plan.is_walled_in = end == PlanEnd::WalledIn;
        match end {
            PlanEnd::Goal => {
                self.plan.status = PathStatus::Found;
                self.plan.live.searches = None;
                self.plan.verdict = None;
            }
            PlanEnd::Budget | PlanEnd::WalledIn | PlanEnd::Spot(_) => {
                self.plan.status = PathStatus::Searching;
                self.ask_for_verdict();
                if end == PlanEnd::Budget {
                    self.ask_for_costs();
                }
            }
        }
    }

    fn drive_along(&mut self, found: Found) -> Step {
        let agent = *self.agent;
        let is_stuck = self.is_stuck();
        let (gear, changed_at) = (self.plan.gear, self.plan.changed_at);
        let gives_up = agent.now < self.plan.gives_up_until;
        let mut driver = self.driver();
        let path = path_over(&mut driver, &agent, &found);
        let turn = turn_onto(&agent, &path);
        let usual = driver.driven(agent.pose, &path, Closeness::Usual);
        if let Some(track) = &usual
            && turn < BEHIND
            && !is_stuck
            && gear > 0
        {
            let waypoints = along(&driver, track, &path);
            let clearance = track.clearance;
            self.end_manoeuvre(1);
            return self.follow(waypoints, clearance);
        }
        if usual.is_none() && gear > 0 && !is_stuck && keeps_path(&driver, &agent) {
            return Step::Stays;
        }
        let moved = (agent.pose.position - changed_at).length();
        let begin = Begin {
            pose: agent.pose,
            gear,
            stands: agent.speed.abs() < ROLLING,
            may_change: is_stuck || moved > agent.kind.length,
            gear_change: agent.planning.gear_change,
        };
        if usual.is_none() && gear > 0 && !is_stuck && !gives_up && !stops_at_once(&agent) {
            let nearest = driver.reach_along(agent.pose, &path) + PAST * driver.scale();
            let swing = driver.swing(begin, &path, nearest);
            if let Some(swing) = swing {
                let track = swung(&driver, &agent, &swing, &path);
                let waypoints = along(&driver, &track, &path);
                *self.spent += MANOEUVRE_SPENT;
                self.end_manoeuvre(1);
                return self.follow(waypoints, track.clearance);
            }
        }
        let driven = usual.or_else(|| driver.driven(agent.pose, &path, Closeness::Narrow));
        if driven.is_none()
            && turn < BEHIND
            && gear > 0
            && !is_stuck
            && let Some(track) = driver.driven_part(agent.pose, &path)
        {
            // The agent searches for a manoeuvre when it has arrived there, because a search from
            // here would not find the best one.
            let mut waypoints = driver.waypoints(&track, 1, &[]);
            end_slowly(&mut waypoints, CREEP * driver.scale().sqrt());
            self.end_manoeuvre(1);
            return self.follow(waypoints, track.clearance);
        }
        let manoeuvre = match gives_up {
            true => None,
            false => driver.manoeuvre(begin, &path),
        };
        // A manoeuvre without parts means that the vehicle already stands at the start of the path.
        let manoeuvre = manoeuvre.filter(|manoeuvre| !manoeuvre.parts.is_empty());
        let is_found = manoeuvre.is_some();
        let is_sooner = |manoeuvre: &Manoeuvre| {
            driven.as_ref().is_none_or(|track| {
                let time = driver.time_along(track, COMPARED_SPEED);
                is_stuck || manoeuvre.is_complete && manoeuvre.full_time(&path) < time
            })
        };
        if let Some(manoeuvre) = manoeuvre.filter(is_sooner) {
            let parts = parts_of(&driver, &manoeuvre);
            *self.spent += MANOEUVRE_SPENT;
            return self.begin_manoeuvre(parts);
        }
        let (waypoints, margin) = match &driven {
            Some(track) => (along(&driver, track, &path), track.clearance),
            None => (creeping(&agent, &path), 0.0),
        };
        if !gives_up {
            *self.spent += MANOEUVRE_SPENT;
        }
        if !is_found && !gives_up {
            self.plan.gives_up_until = agent.now + TRIES_AGAIN;
        }
        self.end_manoeuvre(1);
        self.follow(waypoints, margin)
    }

    fn end_manoeuvre(&mut self, gear: i8) {
        self.plan.rest.clear();
        self.plan.manoeuvre_until = None;
        if self.plan.gear != gear {
            self.plan.gear = gear;
            self.plan.changed_at = self.agent.pose.position;
        }
    }

    fn begin_manoeuvre(&mut self, mut parts: Vec<PlannedPart>) -> Step {
        if parts.is_empty() {
            return self.halt();
        }
        let first = parts.remove(0);
        self.plan.rest = parts;
        self.begin_part(first)
    }
}

/// Returns the line that an agent follows for a path over cells, including the lane beyond the
/// path.
fn path_over(driver: &mut Driver<'_>, agent: &Planner<'_>, found: &Found) -> Vec<DVec2> {
    let mut path = vec![agent.pose.position];
    let mut smooth = driver.smoothed(&found.points);
    if found.end == PlanEnd::Goal
        && let Some(last) = smooth.last_mut()
    {
        *last = agent.goal;
    }
    path.extend(smooth.into_iter().skip(1));
    let close = CLOSE * driver.scale();
    path.dedup_by(|next, before| (*next - *before).length() < close);
    if found.end == PlanEnd::Goal
        && let Some(lane) = &agent.lane
    {
        path.extend(lane.points());
    }
    if path.len() < 2 {
        path.push(agent.goal);
    }
    path
}

/// Creates the track along a forward manoeuvre and the path beyond it. Uses a smoother line if that
/// is free.
fn swung(driver: &Driver<'_>, agent: &Planner<'_>, swing: &Manoeuvre, path: &[DVec2]) -> Track {
    let own = &swing.parts[0].track;
    let poses = own.poses.iter().step_by(SWING_POINTS);
    let mut line: Vec<DVec2> = poses.map(|pose| pose.position).collect();
    line.extend(path.get(swing.joins..).unwrap_or_default());
    let round = driver.driven(agent.pose, &line, Closeness::Usual);
    round.unwrap_or_else(|| own.clone())
}

/// Whether a short vehicle can stop within its own length even from its top speed. Stopping for a
/// manoeuvre costs such a vehicle little time, so it does not search for manoeuvres while moving.
fn stops_at_once(agent: &Planner<'_>) -> bool {
    let braking = agent.kind.limits.max_braking;
    let is_short = agent.kind.scale() < 1.0;
    is_short && agent.top_speed * agent.top_speed < 2.0 * braking * agent.kind.length
}

/// Angle between an agent's heading and the first segment of a path, rad.
fn turn_onto(agent: &Planner<'_>, path: &[DVec2]) -> f64 {
    wrap_angle(heading_of(path[1] - path[0]) - agent.pose.heading).abs()
}

/// Whether an agent is on a path that stays drivable for some distance. If such an agent finds no
/// other path, it keeps this one instead of stopping for a manoeuvre.
fn keeps_path(driver: &Driver<'_>, agent: &Planner<'_>) -> bool {
    let Some(path) = agent.path else { return false };
    let scale = driver.scale();
    if path.path.is_reversing() || agent.t.abs() > KEPT_BESIDE * scale || agent.has_left_path() {
        return false;
    }
    let line = path.path.line();
    if line.length() - agent.s < KEPT * scale {
        return false;
    }
    let margin = driver.least_margin();
    let steps = (2.0 * KEPT) as u32;
    (1..=steps).all(|step| {
        let pose = line.pose(agent.s + 0.5 * scale * f64::from(step));
        driver.fits(pose, margin)
    })
}

/// Returns waypoints along a track, then along the rest of the path.
fn along(driver: &Driver<'_>, track: &Track, path: &[DVec2]) -> Vec<Waypoint> {
    let end = track.poses.last().copied().unwrap_or_default();
    let nearest = path
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, point)| end.to_local(**point).x > AHEAD * driver.scale())
        .min_by(|a, b| {
            let distance = |point: &DVec2| (*point - end.position).length_squared();
            distance(a.1).total_cmp(&distance(b.1))
        });
    let beyond = nearest.map_or(&[][..], |(at, _)| &path[at..]);
    let mut waypoints = driver.waypoints(track, 1, beyond);
    brake_in_time(&mut waypoints);
    waypoints
}

impl Manoeuvre {
    /// Driving time along a track and the path beyond it, up to the usual length of a track, s.
    fn full_time(&self, path: &[DVec2]) -> f64 {
        let joined = polyline::length(&path[..path.len().min(self.joins.saturating_add(1))]);
        let whole = polyline::length(path).min(DRIVEN);
        self.time + (whole - joined).max(0.0) / COMPARED_SPEED
    }
}

/// Converts the parts of a manoeuvre to paths. The agent may switch from the last part to another
/// path before its end.
fn parts_of(driver: &Driver<'_>, manoeuvre: &Manoeuvre) -> Vec<PlannedPart> {
    let part = |(at, part): (usize, &super::manoeuvre::Part)| {
        let is_last = at + 1 == manoeuvre.parts.len();
        let mut waypoints = driver.waypoints(&part.track, part.gear, &[]);
        match is_last {
            true => brake_in_time(&mut waypoints),
            false => end_slowly(&mut waypoints, CREEP * driver.scale().sqrt()),
        }
        PlannedPart {
            waypoints,
            margin: part.track.clearance,
            until: part.track.length(),
            towed: Vec::new(),
        }
    };
    manoeuvre.parts.iter().enumerate().map(part).collect()
}

/// Returns waypoints of a path that is not known to be free, with low speeds, so that the vehicle
/// creeps along it.
fn creeping(agent: &Planner<'_>, path: &[DVec2]) -> Vec<Waypoint> {
    let mut before = agent.pose;
    let point = |&place: &DVec2| {
        let offset = place - before.position;
        before = Pose {
            position: place,
            heading: heading_of(offset),
        };
        Waypoint {
            pose: before,
            speed: CREEPING * agent.kind.scale().sqrt(),
            gear: 1,
        }
    };
    path.iter().map(point).collect()
}
