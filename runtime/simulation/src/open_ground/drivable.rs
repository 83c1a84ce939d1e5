//! The planner `drivable_path` during a run: an agent searches for a path that its vehicle can
//! drive. It then follows the parts of the path one after the other, each in one gear.
//!
//! A search takes several steps. Meanwhile, the vehicle stands, or drives to the end of the part of
//! its last path that is still free, where the new path will begin.

use super::follow::{Driver, Track, brake_in_time, end_slowly};
use super::module_search::{ModuleSearch, Run, SearchArea, SearchQuestion, SearchStart, runs_of};
use super::plans::{PlannedPart, Planner, Planning, STUCK_AFTER, Step};
use super::verdict::PathStatus;
use crate::records::FARTHEST;
use crate::route::{Exact, Waypoint};
use roadwright_agent::{GroundAnswer, GroundPlanning, GroundReason, GroundSearch, Searcher};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose};
use roadwright_planning::open_ground::{
    Bounds, Change, DrivablePath, DrivableProgress, DrivableSearch, DrivableSettings,
    DrivableTrailer, DrivableTrip, DrivableVehicle, LONGEST_TRIP, OpenGround, Reading, Stamp,
};
use roadwright_plugin_api::{GroundPlannerInput, PlanPose};
use roadwright_vehicle::trailer::Train;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Maximum distance between the poses of a path, m.
const STEP: f64 = 0.25;
/// Length of forward driving that costs as much as one second of gear changing, m.
const METRES_PER_SECOND: f64 = 4.0;
/// Clearance that is used where even the minimum clearance does not fit, m.
const TIGHT: f64 = 0.02;
/// A vehicle can begin to follow a found path if it is at most this far from the start of the path,
/// m.
const NEAR_START: f64 = 0.3;
/// A vehicle can begin to follow a found path if its heading differs by at most this from the
/// heading at the start of the path, rad.
const TURNED_FROM_START: f64 = 0.05;
/// Speed below which a vehicle counts as stationary, m/s.
const STANDS: f64 = 0.05;
/// A stationary vehicle begins the next part if it is within this distance of the end of the
/// current part, m.
const PART_END: f64 = 0.1;
/// A vehicle that has been stationary for `STANDS_FOR` begins the next part if it is within this
/// distance of the end of the current part, m.
const NEAR_PART_END: f64 = 0.4;
/// Time at a standstill after which a vehicle near the end of a part begins the next part, s.
const STANDS_FOR: f64 = 0.7;
/// Speed at which a vehicle approaches a gear change or the destination, m/s.
const END_SPEED: f64 = 0.3;
/// Maximum speed in places where the usual clearance does not fit, m/s.
const NARROW_SPEED: f64 = 1.0;
/// Maximum number of times that an agent repeats the last part of its trip because it has not
/// stopped exactly at its goal. After that, the trip ends at the pose that the agent has reached.
const MOST_CORRECTIONS: u32 = 5;
/// The agent replans if its lateral offset from the path exceeds this, m.
const BESIDE: f64 = 0.6;
/// An agent without a path repeats the search after this time even if the map has not changed, s.
const TRIES_AGAIN: f64 = 10.0;
/// Deceleration for a stop at the end of the free part of the path, m/s^2.
const STOPPING: f64 = 1.5;
/// The vehicle stops at this distance before an obstacle on the path, m.
const BEFORE_OBSTACLE: f64 = 0.5;
/// Constant part of the lookahead distance to the waypoint in narrow places, m.
const NEAR_IN_GAPS: f64 = 2.0;
/// Speed at which a trailer is pushed, m/s.
const PUSHING_SPEED: f64 = 0.6;
/// An agent that pushes a trailer replans if its lateral offset from the path exceeds this, m.
const BESIDE_PUSHING: f64 = 1.2;
/// Maximum hitch angle at a destination with a heading, rad.
pub(crate) const STRAIGHT: f64 = 0.08;
/// Part of the lookahead distance in narrow places that is proportional to the speed, s.
const AHEAD_IN_GAPS: f64 = 0.5;

/// State of `drivable_path` for an agent. Saves store it separately from the agent's plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct DrivePlan {
    search: Option<SavedDrive>,
    /// Whether the agent follows a path that has been checked.
    follows: bool,
    /// Whether the agent brakes because it has no path.
    halts: bool,
    /// No new search begins before this time, s.
    waits_until: Option<f64>,
    /// Number of corrections so far, each made because the agent had not stopped exactly at its
    /// goal.
    corrections: u32,
    #[serde(skip)]
    live: Option<DrivableSearch>,
    /// The search of a module. Saves store it separately.
    #[serde(skip)]
    by_module: Option<ModuleSearch>,
    /// Area of the module's search.
    #[serde(skip)]
    area: Option<SearchArea>,
    /// Poses of the path that a module has just found.
    #[serde(skip)]
    found: Vec<PlanPose>,
    /// Reason that a module has just given for not finding a path.
    #[serde(skip)]
    reason: Option<GroundReason>,
    /// Version of the map when the path was last checked.
    #[serde(skip)]
    checked: Stamp,
}

/// Saved form of a search. A restored world repeats the search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct SavedDrive {
    from: Pose,
    gear: i8,
    /// Maximum curvature of the path, 1/m.
    curvature: f64,
    /// Preferred clearance of the path, m.
    margin: f64,
    /// Angle from the heading of the trailer to that of the vehicle, rad; 0 without a trailer.
    hitch: f64,
    /// Whether the vehicle may drive in reverse.
    reverses: bool,
    spent: u64,
}

/// A path that has been found.
enum FoundDrive {
    /// Found by the built-in search.
    Searched(DrivablePath),
    /// Found by a module: poses, and the hitch angle at the start (rad).
    Given { poses: Vec<PlanPose>, hitch: f64 },
}

impl DrivePlan {
    /// The search of a module, for a save.
    pub(crate) fn module_search(&self) -> Option<ModuleSearch> {
        self.by_module
    }

    /// Adds the search of a module to a restored state.
    pub(crate) fn restore_module_search(&mut self, search: ModuleSearch) {
        self.by_module = Some(search);
    }

    /// Whether a module carries out the search itself.
    fn is_by_module(&self) -> bool {
        self.by_module.is_some_and(|search| !search.by_host)
    }

    /// Whether the search was started by `searcher`; false if the planner has changed since then.
    fn is_for(&self, searcher: Searcher) -> bool {
        self.by_module.is_some() == (searcher != Searcher::Host)
    }

    /// Whether a loaded state is valid.
    pub(crate) fn is_sound(&self) -> bool {
        self.search.is_none_or(|saved| {
            let Pose { position, heading } = saved.from;
            position.abs().max_element() <= FARTHEST
                && heading.is_finite()
                && saved.margin.is_finite()
                && saved.hitch.is_finite()
                && (1e-6..1e3).contains(&saved.curvature)
        })
    }

    /// Whether there is nothing to save.
    pub(crate) fn is_empty(&self) -> bool {
        let is_idle = self.search.is_none() && self.waits_until.is_none();
        is_idle && !self.follows && !self.halts && self.corrections == 0
    }

    /// Drops a search that is based on an outdated map. Call this after each change of the map.
    pub(super) fn notice_changes(&mut self, map: &mut OpenGround) {
        let area = self.area.as_ref();
        if self.live.as_ref().is_some_and(|live| live.is_outdated(map))
            || area.is_some_and(|area| area.is_outdated(map))
        {
            self.end_search();
            self.waits_until = None;
        }
    }

    /// Resets the state when another planner takes over.
    pub(super) fn reset(&mut self) {
        if !self.is_empty() {
            *self = Self::default();
        }
    }

    /// Ends the search and returns its path; `None` if it has found none.
    fn take_path(&mut self) -> Option<FoundDrive> {
        let path = match self.is_by_module() {
            true => self.search.map(|saved| FoundDrive::Given {
                poses: std::mem::take(&mut self.found),
                hitch: saved.hitch,
            }),
            false => {
                let live = self.live.as_ref();
                live.and_then(|live| live.path().cloned().map(FoundDrive::Searched))
            }
        };
        self.end_search();
        path
    }

    fn end_search(&mut self) {
        self.search = None;
        self.live = None;
        self.by_module = None;
        self.area = None;
    }

    /// Repeats a saved search up to the point at which the world was saved.
    pub(super) fn resume(&mut self, map: &mut OpenGround, agent: &Planner<'_>) {
        if let Some(saved) = self.search {
            if self.is_by_module() {
                self.area = Some(SearchArea::read(map, agent, saved.from.position));
                return;
            }
            let mut live = saved.begin(map, agent);
            live.advance(map, saved.spent);
            self.live = Some(live);
        }
    }

    /// Ends the waiting time, so that a new search may begin immediately.
    pub(super) fn retry(&mut self) {
        self.waits_until = None;
    }
}

impl SavedDrive {
    fn begin(&self, map: &mut OpenGround, agent: &Planner<'_>) -> DrivableSearch {
        let planning = &agent.planning;
        let profile = agent.profile(planning.cell);
        let trip = DrivableTrip {
            profile: map.add_profile(profile),
            owner: Some(agent.owner()),
            vehicle: DrivableVehicle {
                length: agent.kind.length,
                width: agent.body.width,
                centre: agent.kind.body_centre,
                curvature: self.curvature,
                reverses: self.reverses,
                trailer: only_trailer(agent.train),
            },
            from: self.from,
            gear: self.gear,
            to: agent.goal,
            heading: agent.heading_at_goal(),
            hitch: self.hitch,
            // A vehicle that joins a lane straightens its trailer on that lane.
            hitch_at_end: if agent.lane.is_none() { STRAIGHT } else { PI },
        };
        DrivableSearch::new(map, trip, settings_for(planning, self.margin))
    }
}

/// The trailer of a vehicle with exactly one trailer; otherwise `None`. With several trailers,
/// paths are planned for the vehicle alone.
pub(crate) fn only_trailer(train: &Train) -> Option<DrivableTrailer> {
    let [trailer] = train.trailers() else {
        return None;
    };
    Some(DrivableTrailer {
        coupling: trailer.coupling,
        to_axle: trailer.to_axle,
        centre: trailer.middle(),
        length: trailer.length,
        width: trailer.width,
        lock: trailer.lock,
    })
}

/// Hitch angle after a drive along waypoints, rad; 0 unless the vehicle tows exactly one trailer.
fn hitch_along(train: &Train, hitch: f64, waypoints: &[Waypoint]) -> f64 {
    let Some(trailer) = only_trailer(train) else {
        return 0.0;
    };
    waypoints.windows(2).fold(hitch, |hitch, pair| {
        let (from, to) = (&pair[0], &pair[1]);
        let length = f64::from(from.gear) * (to.pose.position - from.pose.position).length();
        let turn = wrap_angle(to.pose.heading - from.pose.heading);
        match length.abs() > 1e-6 {
            true => trailer.hitch_after_arc(hitch, turn / length, length),
            false => hitch,
        }
    })
}

/// Settings of a search with the given preferred clearance, m.
pub(crate) fn settings_for(planning: &GroundPlanning, margin: f64) -> DrivableSettings {
    let least = planning.least_margin.min(margin);
    DrivableSettings {
        reverse: planning.reverse,
        gear_change: planning.gear_change * METRES_PER_SECOND,
        margins: [margin, least, TIGHT.min(least)],
        ..DrivableSettings::default()
    }
}

impl Planning<'_> {
    /// Whether the planner is `drivable_path` and the goal is close enough for it.
    pub(super) fn is_drivable(&self) -> bool {
        let is_near = (self.agent.goal - self.agent.pose.position).length() < LONGEST_TRIP;
        matches!(self.agent.planning.search, GroundSearch::Drivable { .. }) && is_near
    }

    pub(super) fn step_drivable(&mut self) -> Step {
        if self.plan.drive.follows && self.agent.path.is_some() {
            if let Some(step) = self.follow_parts() {
                return step;
            }
        } else {
            self.plan.drive.follows = false;
        }
        self.search_drive()
    }

    /// Follows the path. Returns `None` if the agent has to search for a path.
    fn follow_parts(&mut self) -> Option<Step> {
        let agent = self.agent;
        let until = self.plan.manoeuvre_until.unwrap_or(0.0);
        let is_last = self.plan.rest.is_empty();
        let pushes = agent.path.is_some_and(|path| path.towed.is_some());
        let most = if pushes { BESIDE_PUSHING } else { BESIDE };
        let has_left = agent.t.abs() > most || agent.has_left_path();
        let is_exact = !is_last || self.is_exact();
        let since = self
            .plan
            .planned_at
            .map_or(f64::INFINITY, |at| agent.now - at);
        let is_stuck = agent.standing > STUCK_AFTER && since > STUCK_AFTER;
        let is_over = is_exact && self.is_part_over(until);
        if has_left || is_stuck && !is_over {
            self.leave_path();
            return None;
        }
        if is_over && !is_last {
            let next = self.plan.rest.remove(0);
            return Some(self.begin_drive_part(next));
        }
        if is_over {
            return self.correct();
        }
        if self.plan.drive.checked == self.map.stamp() {
            return self.stays_on_path(is_last, until);
        }
        let area = self.remaining();
        let change = self.map.change_for(
            Some(self.agent.owner()),
            self.plan.drive.checked,
            &area,
            Reading::Standing,
        );
        self.plan.drive.checked = self.map.stamp();
        if change == Change::Unchanged {
            return self.stays_on_path(is_last, until);
        }
        match self.free_until(until) {
            None => self.stays_on_path(is_last, until),
            Some(free) => Some(self.stop_at(free)),
        }
    }

    /// Whether the vehicle has stopped at the end of the current part, or near the end some time
    /// ago.
    fn is_part_over(&self, until: f64) -> bool {
        let agent = self.agent;
        let since = (self.plan.planned_at).map_or(f64::INFINITY, |at| agent.now - at);
        let stands = agent.speed.abs() < STANDS;
        let stays = agent.standing > STANDS_FOR && since > STANDS_FOR;
        let near = NEAR_PART_END.min(0.5 * until);
        stands && agent.s >= until - PART_END.min(near) || stays && agent.s >= until - near
    }

    /// Plans again for a vehicle that has stopped at the end of its path, but not exactly at its
    /// goal. After several attempts, the vehicle counts as arrived where it is.
    fn correct(&mut self) -> Option<Step> {
        self.plan.drive.corrections += 1;
        if self.plan.drive.corrections > MOST_CORRECTIONS {
            // A goal at the end of an inexact path is reached within a radius.
            return Some(match self.agent.path {
                Some(path) => Step::Follow(Box::new(path.clone())),
                None => Step::Stays,
            });
        }
        self.leave_path();
        None
    }

    fn stays_on_path(&mut self, is_last: bool, until: f64) -> Option<Step> {
        // If the drive was interrupted, the path ends before an obstacle, where the next path
        // begins.
        let is_interrupted = self.plan.drive.search.is_some();
        if is_interrupted {
            return Some(self.search_ahead());
        }
        let is_over = is_last && self.agent.s >= until - 0.05;
        if is_over && !self.is_exact() && self.agent.lane.is_none() {
            self.leave_path();
            return None;
        }
        Some(Step::Stays)
    }

    /// Area that the vehicle covers on the rest of the path.
    fn remaining(&self) -> Bounds {
        let ahead = self
            .agent
            .path
            .into_iter()
            .flat_map(|path| path.path.ahead(self.agent.s));
        let rest = self.plan.rest.iter().flat_map(|part| &part.waypoints);
        let points = (ahead.map(|(_, waypoint)| waypoint).chain(rest))
            .map(|waypoint| waypoint.pose.position)
            .chain([self.agent.pose.position]);
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for point in points {
            (low, high) = (low.min(point), high.max(point));
        }
        Bounds { low, high }.grown(self.agent.kind.length)
    }

    /// Returns how far the vehicle can drive on the current part, m from its start; `None` if the
    /// whole path is free. If only a later part is blocked, the result is the end of the current
    /// part, `until`. Checks whole waypoints, so that the result does not depend on the time of the
    /// call.
    fn free_until(&mut self, until: f64) -> Option<f64> {
        let agent = self.agent;
        let path = agent.path?;
        let rest = self.plan.rest.iter().flat_map(|part| {
            let own = part.waypoints.iter().zip(distances(&part.waypoints));
            own.take_while(move |(_, at)| *at <= part.until + 1e-6)
        });
        let rest: Vec<Pose> = rest.map(|(waypoint, _)| waypoint.pose).collect();
        let driver = self.driver();
        let mut ahead = path
            .path
            .ahead(agent.s)
            .take_while(|(at, _)| *at <= until + 1e-6);
        let blocked = ahead.find(|(_, waypoint)| !driver.fits(waypoint.pose, 0.0));
        match blocked {
            Some((at, _)) => Some((at - BEFORE_OBSTACLE).max(agent.s)),
            None if rest.into_iter().all(|pose| driver.fits(pose, 0.0)) => None,
            None => Some(until),
        }
    }

    /// Stops at a position on the current part, and searches for a path that begins there.
    fn stop_at(&mut self, free: f64) -> Step {
        let agent = *self.agent;
        let Some(path) = agent.path else {
            return self.halt();
        };
        let braking = agent.speed * agent.speed / (2.0 * STOPPING);
        let end = free
            .max(agent.s + braking.min(1.0))
            .min(path.path.line().length());
        let gear = if path.path.is_reversing() { -1 } else { 1 };
        let turned = if gear < 0 { std::f64::consts::PI } else { 0.0 };
        let line = path.path.line();
        let pose_at = |s: f64| {
            let pose = line.pose(s);
            Pose {
                heading: wrap_angle(pose.heading + turned),
                ..pose
            }
        };
        let count = ((end - agent.s) / STEP).ceil().max(1.0);
        let mut waypoints: Vec<Waypoint> = (0..=count as u32)
            .map(|number| {
                let s = agent.s + (end - agent.s) * f64::from(number) / count;
                Waypoint {
                    pose: pose_at(s),
                    speed: path.path.speed(s),
                    gear,
                }
            })
            .collect();
        if let Some(last) = waypoints.last_mut() {
            last.speed = 0.0;
        }
        brake_in_time(&mut waypoints);
        let margin = path.margin;
        let from = pose_at(end);
        self.plan.rest.clear();
        self.plan.manoeuvre_until = Some(end - agent.s);
        let hitch = hitch_along(agent.train, agent.hitch, &waypoints);
        self.begin_search(from, gear, hitch);
        let part = PlannedPart {
            waypoints,
            margin,
            until: end - agent.s,
            towed: path.towed.clone().map_or(Vec::new(), Vec::from),
        };
        self.follow_as(part, Some(Exact { is_last: false }))
    }

    /// Continues the search for a path from the end of the current part.
    fn search_ahead(&mut self) -> Step {
        match self.advance_search() {
            DrivableProgress::Found => {
                let path = self.plan.drive.take_path();
                if let Some(path) = path {
                    self.plan.status = PathStatus::Found;
                    self.plan.rest = self.parts(&path);
                }
                Step::Stays
            }
            DrivableProgress::Searching => Step::Stays,
            DrivableProgress::StartBlocked
            | DrivableProgress::GoalBlocked
            | DrivableProgress::TooFar
            | DrivableProgress::NoPath => {
                if self.agent.speed.abs() < STANDS {
                    self.plan.drive.end_search();
                    self.leave_path();
                }
                Step::Stays
            }
        }
    }

    fn leave_path(&mut self) {
        self.plan.drive.follows = false;
        self.plan.drive.halts = false;
        self.plan.rest.clear();
        self.plan.manoeuvre_until = None;
    }

    /// Searches for a path from the agent's position. Once a path is found, the agent follows it.
    fn search_drive(&mut self) -> Step {
        let agent = *self.agent;
        if self
            .plan
            .drive
            .waits_until
            .is_some_and(|until| agent.now < until)
        {
            return self.keep_halting();
        }
        let is_near = |from: Pose| {
            let offset = (from.position - agent.pose.position).length();
            let turned = wrap_angle(from.heading - agent.pose.heading).abs();
            offset < NEAR_START && turned < TURNED_FROM_START
        };
        let drive = &self.plan.drive;
        if drive.search.is_none_or(|saved| !is_near(saved.from))
            || !drive.is_for(agent.planning.searcher)
        {
            let gear = match agent.speed {
                speed if speed.abs() < STANDS => 0,
                speed if speed < 0.0 => -1,
                _ => 1,
            };
            self.begin_search(agent.pose, gear, agent.hitch);
        }
        match self.advance_search() {
            DrivableProgress::Found => {
                let path = self.plan.drive.take_path();
                match path {
                    Some(path) => self.begin_drive(&path),
                    None => self.keep_halting(),
                }
            }
            DrivableProgress::Searching => self.keep_halting(),
            DrivableProgress::StartBlocked
            | DrivableProgress::GoalBlocked
            | DrivableProgress::TooFar
            | DrivableProgress::NoPath => {
                // The searches over cells determine whether a path exists at all.
                self.plan.drive.end_search();
                self.plan.drive.waits_until = Some(agent.now + TRIES_AGAIN);
                self.plan.status = match self.plan.drive.reason.take() {
                    Some(reason) => PathStatus::NoPath(reason.into()),
                    None => PathStatus::Searching,
                };
                self.ask_for_verdict();
                self.keep_halting()
            }
        }
    }

    fn keep_halting(&mut self) -> Step {
        if self.plan.drive.halts && self.agent.path.is_some() {
            return Step::Stays;
        }
        self.plan.drive.halts = true;
        self.halt()
    }

    fn begin_search(&mut self, from: Pose, gear: i8, hitch: f64) {
        let pushes_trailers = self.pushes_trailers();
        let driver = self.driver();
        let saved = SavedDrive {
            from,
            gear,
            curvature: 1.0 / driver.exact_radius(),
            margin: driver.margin,
            hitch,
            reverses: match self.agent.train.trailers().len() {
                0 => true,
                1 => pushes_trailers,
                // No controller can reverse with more than one trailer.
                _ => false,
            },
            spent: 0,
        };
        let drive = &mut self.plan.drive;
        drive.end_search();
        drive.search = Some(saved);
        match self.agent.planning.searcher {
            Searcher::Host => drive.live = Some(saved.begin(self.map, self.agent)),
            Searcher::Module { .. } => {
                drive.by_module = Some(ModuleSearch {
                    number: self.agent.step,
                    by_host: false,
                });
                drive.area = Some(SearchArea::read(self.map, self.agent, from.position));
            }
        }
    }

    /// Lets a module with its own search resume a search that it has given up.
    pub(super) fn retry_no_path(&mut self) {
        let until = self.plan.drive.waits_until;
        if self.agent.planning.searcher != Searcher::Host
            && matches!(self.plan.status, PathStatus::NoPath(_))
            && until.is_some_and(|until| self.agent.now >= until)
        {
            self.plan.status = PathStatus::Searching;
        }
    }

    /// Asks the module to begin or continue its search. If the module does not search itself, the
    /// built-in search begins.
    fn ask_module(&mut self, budget: u64) -> Option<DrivableProgress> {
        let agent = self.agent;
        let drive = &mut self.plan.drive;
        let (Some(saved), Some(search), Some(area)) =
            (&mut drive.search, &mut drive.by_module, &drive.area)
        else {
            return Some(DrivableProgress::NoPath);
        };
        let start = SearchStart {
            from: saved.from,
            gear: saved.gear,
            curvature: saved.curvature,
            reverses: saved.reverses,
        };
        let question = SearchQuestion {
            row: GroundPlannerInput {
                gear_change: agent.planning.gear_change * METRES_PER_SECOND,
                search: search.number,
                expanded: saved.spent,
                budget,
                ..area.row(agent, start)
            },
            map: area.map.as_ref(),
            hitch: saved.hitch,
        };
        drive.found.clear();
        match (self.asked.search)(&question, &mut drive.found) {
            GroundAnswer::Found { expanded } => {
                saved.spent = expanded;
                Some(DrivableProgress::Found)
            }
            GroundAnswer::Searching { expanded } => {
                saved.spent = expanded;
                Some(DrivableProgress::Searching)
            }
            GroundAnswer::NoPath { expanded, reason } => {
                saved.spent = expanded;
                drive.reason = reason;
                Some(DrivableProgress::NoPath)
            }
            GroundAnswer::ByHost => {
                search.by_host = true;
                saved.spent = 0;
                drive.area = None;
                drive.live = Some(saved.begin(self.map, agent));
                None
            }
        }
    }

    fn advance_search(&mut self) -> DrivableProgress {
        let GroundSearch::Drivable { budget, most, .. } = self.agent.planning.search else {
            return DrivableProgress::NoPath;
        };
        let by_module = match self.plan.drive.is_by_module() {
            true => self.ask_module(budget),
            false => None,
        };
        let drive = &mut self.plan.drive;
        let Some(saved) = &mut drive.search else {
            return DrivableProgress::NoPath;
        };
        let progress = match (by_module, &mut drive.live) {
            (Some(progress), _) => progress,
            (None, Some(live)) => {
                let progress = live.advance(self.map, budget);
                saved.spent = live.expanded();
                progress
            }
            (None, None) => DrivableProgress::NoPath,
        };
        if progress != DrivableProgress::Searching || saved.spent < most {
            return progress;
        }
        let live = drive.live.as_mut();
        match live.map(|live| live.settle(self.map)) {
            Some(DrivableProgress::Found) => DrivableProgress::Found,
            _ => DrivableProgress::NoPath,
        }
    }

    fn begin_drive(&mut self, path: &FoundDrive) -> Step {
        self.plan.status = PathStatus::Found;
        self.plan.live.searches = None;
        self.plan.verdict = None;
        let mut parts = self.parts(path);
        if parts.is_empty() {
            return self.keep_halting();
        }
        let first = parts.remove(0);
        self.plan.rest = parts;
        self.plan.drive.follows = true;
        self.plan.drive.halts = false;
        // A restored world checks the path again, so the original world has to do the same.
        self.plan.drive.checked = Stamp::default();
        self.begin_drive_part(first)
    }

    fn begin_drive_part(&mut self, part: PlannedPart) -> Step {
        let gear = part.waypoints.first().map_or(1, |waypoint| waypoint.gear);
        if gear != self.plan.gear {
            self.plan.gear = gear;
            self.plan.changed_at = self.agent.pose.position;
        }
        self.plan.planned_at = Some(self.agent.now);
        self.plan.manoeuvre_until = Some(part.until);
        let is_last = self.plan.rest.is_empty();
        let exact = (!is_last || self.is_exact()).then_some(Exact { is_last });
        self.follow_as(part, exact)
    }

    /// Whether the vehicle has to stop exactly at its goal.
    fn is_exact(&self) -> bool {
        self.agent.lane.is_none() && self.agent.heading_at_goal().is_some()
    }

    fn follow_as(&self, part: PlannedPart, exact: Option<Exact>) -> Step {
        let usual = self.agent.planning.tracking_margin;
        let margin = part.margin;
        let Step::Follow(mut path) = self.follow(part.waypoints, margin) else {
            return Step::Stays;
        };
        path.towed = (!part.towed.is_empty()).then(|| part.towed.into());
        if margin < usual || path.path.is_reversing() {
            path.near = path.near.min(NEAR_IN_GAPS);
            path.ahead = path.ahead.min(AHEAD_IN_GAPS);
        }
        match exact {
            Some(exact) => Step::Exact(path, exact),
            None => Step::Follow(path),
        }
    }

    /// Splits a path into parts, each in one gear.
    fn parts(&mut self, path: &FoundDrive) -> Vec<PlannedPart> {
        let beyond: Vec<DVec2> = match &self.agent.lane {
            Some(lane) => lane.points().collect(),
            None => Vec::new(),
        };
        let is_exact = self.is_exact();
        let agent = self.agent;
        let driver = self.driver();
        let step = STEP.min(driver.step());
        let (runs, path_margin, trailer) = match path {
            FoundDrive::Searched(path) => {
                let runs = path.runs(step).into_iter();
                let runs = runs.map(|driven| Run {
                    driven,
                    speeds: Vec::new(),
                });
                let trailer = path.towed.map(|towed| towed.trailer);
                (runs.collect(), path.margin, trailer)
            }
            FoundDrive::Given { poses, hitch } => {
                let trailer = only_trailer(agent.train);
                let runs = runs_of(poses, step, trailer.as_ref(), *hitch);
                let margin = margin_along(&driver, &runs, agent.planning.least_margin);
                (runs, margin, trailer)
            }
        };
        let last = runs.len().saturating_sub(1);
        let parts = runs.into_iter().enumerate().map(|(number, run)| {
            let Run {
                driven: run,
                speeds,
            } = run;
            let pushed = trailer.filter(|_| run.gear < 0);
            let towed: Vec<Waypoint> = pushed.map_or(Vec::new(), |trailer| {
                let places = run.poses.iter().zip(&run.hitches);
                let waypoint = |(pose, hitch): (&Pose, &f64)| Waypoint {
                    pose: trailer.axle(*pose, *hitch),
                    speed: PUSHING_SPEED,
                    gear: run.gear,
                };
                places.map(waypoint).collect()
            });
            let track = Track {
                poses: run.poses,
                margin: path_margin.max(driver.margin),
                clearance: path_margin,
                spacing: run.spacing,
            };
            let is_last = number == last;
            let beyond = if is_last { &beyond[..] } else { &[][..] };
            let mut waypoints = driver.waypoints(&track, run.gear, beyond);
            for (waypoint, speed) in waypoints.iter_mut().zip(speeds) {
                waypoint.speed = waypoint.speed.min(speed);
            }
            if path_margin < driver.margin {
                slow_in_gaps(&driver, &mut waypoints);
            }
            if pushed.is_some() {
                for waypoint in &mut waypoints {
                    waypoint.speed = waypoint.speed.min(PUSHING_SPEED);
                }
            }
            match !is_last || is_exact {
                true => end_slowly(&mut waypoints, END_SPEED),
                false => brake_in_time(&mut waypoints),
            }
            PlannedPart {
                waypoints,
                margin: path_margin,
                until: track.length(),
                towed,
            }
        });
        parts.collect()
    }
}

/// Largest clearance that a vehicle has everywhere along runs, m: the usual one, the minimum one,
/// or `TIGHT` if neither fits.
fn margin_along(driver: &Driver<'_>, runs: &[Run], least: f64) -> f64 {
    let least = least.min(driver.margin);
    let poses = || runs.iter().flat_map(|run| &run.driven.poses);
    let margins = [driver.margin, least].into_iter();
    let mut margins = margins.filter(|&margin| poses().all(|pose| driver.fits(*pose, margin)));
    margins.next().unwrap_or(TIGHT.min(least))
}

/// Limits the speed at waypoints where the usual clearance does not fit.
fn slow_in_gaps(driver: &Driver<'_>, waypoints: &mut [Waypoint]) {
    for waypoint in waypoints {
        if waypoint.speed > NARROW_SPEED && !driver.fits(waypoint.pose, driver.margin) {
            waypoint.speed = NARROW_SPEED;
        }
    }
}

/// Distances of waypoints along their path, m.
fn distances(waypoints: &[Waypoint]) -> impl Iterator<Item = f64> {
    let steps = waypoints.windows(2);
    let lengths = steps.map(|pair| (pair[1].pose.position - pair[0].pose.position).length());
    std::iter::once(0.0).chain(lengths).scan(0.0, |s, length| {
        *s += length;
        Some(*s)
    })
}
