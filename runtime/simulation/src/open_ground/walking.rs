//! Characters on foot: how they follow the path over cells, and how they plan around each other.
//!
//! The planner of a character finds a path around everything that is stationary. Along this path,
//! the character announces a course, which states where it will be at which time. A new course
//! takes into account the courses that others have announced before, and never comes too near to
//! them. Where the plain path would come too near, a search in space and time finds another path,
//! which may include waits (`space_time.rs`).
//!
//! Courses are promises about the order in which characters pass a place, not about the time
//! ([Hoenig 2016]). Each character records how far along its course it is. It may walk on to a
//! place unless another character that is to pass there earlier has not passed yet. The character
//! that is farthest behind never has to wait. Thus characters never wait for each other in a
//! circle, however late some of them are.
//!
//! ```text
//!            |   |
//!     1 -->  |   |  <-- 2     1 passes the door from 3 s to 5 s, 2 from 5 s on.
//!            |   |            If 1 is late, 2 waits beside the door until 1 has passed.
//! ```

use super::plans::{AgentPlan, Planner, Planning, Step};
use super::search::Found;
use super::space_time::{Room, SLOT, SLOTS, SpaceTime};
use crate::records::FARTHEST;
use crate::route::{Exact, PlannedPath, Waypoint};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose, heading_of, polyline};
use roadwright_planning::open_ground::{
    Cell, CellSize, OpenGround, PlanEnd, Reader, Reading, Space, TileCache, TileSpace, Window,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Interval at which a character looks at other characters, s.
const LOOKS_EVERY: f64 = 0.24;
/// Other characters within this distance are taken into account, m.
pub(super) const SIGHT: f64 = 9.0;
/// When a course is planned, the courses of other characters within this distance are taken into
/// account, m.
pub(super) const FAR_SIGHT: f64 = 45.0;
/// Preferred and minimum distance between the centres of two characters in their courses, as
/// multiples of the diagonal of their outline. The cells and time slots of the search make courses
/// inexact by up to 0.25 m.
const APART: [f64; 2] = [2.0, 1.65];
/// Minimum distance between two characters along at least one axis of the world, as a multiple of
/// the side of their outline.
const BESIDE_EACH_OTHER: f64 = 1.08;
/// If the centres of two characters are closer than this, one of them waits. Given as a multiple of
/// the diagonal of their outline.
const HELD: f64 = 1.25;
/// A character checks whether it may walk on over this distance ahead, m.
const AHEAD: f64 = 3.0;
/// Sampling interval for comparing courses, s.
const TICK: f64 = 0.05;
/// Maximum number of other characters that a character takes into account. The nearest ones are
/// used.
pub(super) const MOST_OTHERS: usize = 64;
/// Maximum number of searches for courses in a step, for all characters together. The remaining
/// characters plan in later steps.
pub(super) const MOST_SEARCHES: u32 = 4;
/// Length of the path that a course covers when it is planned, m.
const RESERVED: f64 = 30.0;
/// The next course is planned at this distance before the end of the current one if the path
/// continues, m.
const RENEWED: f64 = 10.0;
/// A character plans again after it has been blocked for this time by a character without a course,
/// or has found no course for this time, s.
const PATIENCE: f64 = 1.0;
/// After it has waited this long for others, a character asks them to change their courses, s.
const LONGEST_WAIT: f64 = 3.0;
/// Interval after which a character may plan together with others again, s.
const CALLS_EVERY: f64 = 2.0;
/// An arrived character is expected to remain at its destination for this time, s.
const LEAVES: f64 = 0.6;
/// A character without a course is expected to have left its place after this time, s.
const SETS_OFF: f64 = 6.0;
/// Like `RENEWED`, for a course that only leads to a waiting place beside other characters, m.
const NEARLY: f64 = 0.3;
/// A corner of a course that is sharper than this angle is passed at the speed `AT_CORNERS`, rad.
const SHARP: f64 = 1.2;
/// Speed at sharp corners of courses, m/s.
const AT_CORNERS: f64 = 0.4;
/// The controller gets a longer path only if the path has grown by at least this, m.
const GROWS: f64 = 0.3;
/// A path is extended when its remaining length is less than this, m.
const EXTENDS: f64 = 2.0;
/// A character that has to wait stands still within this distance of the end of its path, m.
const STOPS_WITHIN: f64 = 0.2;
/// Minimum distance along a course that counts as progress, m.
const PROGRESS: f64 = 0.05;
/// A character that may walk on counts as stuck after this time without progress, s.
const STUCK: f64 = 2.0;
/// A stuck character counts as arrived if it is within this distance of the end of its path, m.
const NEAR_STOP: f64 = 0.3;
/// Speed below which a character counts as stationary, m/s.
const STANDS: f64 = 0.05;
/// A path ends at a corner where the direction changes by more than this within [`CORNER`], rad.
/// Controllers that steer towards a waypoint ahead would cut such a corner.
const SHARPEST: f64 = 0.7;
/// If a character is farther than this from its course, its path begins at the character itself
/// instead of on the course, m.
const BESIDE: f64 = 0.15;
/// A change of direction within this length of a course counts as one corner, m.
const CORNER: f64 = 0.45;
/// The map for a detour extends this far beyond the start and end of the detour, m.
const BEYOND: f64 = 2.5;
/// A character searches for a new path if it is farther than this from its path, m.
const STRAYED: f64 = 0.45;
/// Length below which a path is not walked, m.
const SHORTEST: f64 = 0.15;
/// A character first turns on the spot if the angle to the start of its course exceeds this, rad.
const TURNS_FROM: f64 = 1.4;
/// Turn rate on the spot, rad/s.
const TURNING: f64 = 2.3;
/// Distance between the centres of two characters that touch, as a multiple of the diagonal of their outline.
const TOUCHING: f64 = 0.72;
/// Deceleration before a stop, m/s^2.
const STOPPING: f64 = 1.0;
/// Path clearance that is reported to controllers, m.
const MARGIN: f64 = 0.03;
/// Maximum length of the straight pieces of a path, in cells.
const LONGEST_CHORD: usize = 100;
/// If a path does not reach the goal, the character searches for the next path at this distance
/// from its end, m.
const LEFT: f64 = 2.0;
/// Lowest speed for which courses are planned, m/s. At lower speeds, courses would have too many
/// samples to compare. The difference does not matter, because a course only promises an order.
const SLOWEST: f64 = 0.05;
/// Lowest speed on a piece of a course for characters that can walk faster, m/s.
const SLOWEST_PIECE: f64 = 0.3;

/// A position, and the time at which it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Moment {
    pub(super) place: DVec2,
    /// Simulation time, s.
    pub(super) time: f64,
}

/// Activity of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
enum Mode {
    /// The character has no course yet.
    #[default]
    Idle,
    /// The character follows its course.
    Walking,
    /// The character stays in place because it has found no course.
    Standing,
}

/// Plan of a character. Saves store it separately from the agent's plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct WalkPlan {
    mode: Mode,
    /// Path around all stationary obstacles, m.
    path: Vec<DVec2>,
    /// Whether the path ends at the goal.
    ends_at_goal: bool,
    /// Distance walked along the course, m.
    walked: f64,
    /// Announced course of the character, as positions with planned times.
    course: Arc<[Moment]>,
    /// Highest speed of the course, m/s.
    fastest: f64,
    /// Whether the course ends where the path ends.
    is_whole: bool,
    /// The next course is planned when the character has reached this distance along the course, m.
    /// If the course is whole, this distance lies beyond its end.
    renews_from: f64,
    /// Planned time of the character's current position on its course, s.
    reached: f64,
    /// The controller has been given a path up to this distance along the course, m.
    given: f64,
    /// Time at which a character without a course began to block the path, s.
    blocked_since: Option<f64>,
    /// Distance along the course when progress was last recorded, m.
    moved: f64,
    /// Time of the last progress, s.
    moved_at: f64,
    /// Time of the next look at other characters, s.
    looks_at: f64,
    /// Whether the controller has no part of the course yet.
    is_new: bool,
    /// Whether the character can make progress only if others change their courses.
    asks: bool,
    /// The character may plan together with others again from this time on, s.
    calls_from: f64,
    /// Distance along the course where the character waits, m.
    waited: f64,
    /// Time at which the character began to wait at this place, s.
    waits_from: f64,
}

/// A character on the map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pedestrian {
    pub(super) id: u64,
    pub(super) place: DVec2,
    /// Radius of the circle around the character's outline, m.
    pub(super) radius: f64,
}

/// Another character, as it appears to the planning character.
#[derive(Debug, Clone)]
pub(super) struct Other {
    place: DVec2,
    radius: f64,
    /// Course of the character; empty if it has announced none or has strayed from it.
    course: Arc<[Moment]>,
    /// Highest speed of the course, m/s.
    fastest: f64,
    /// Planned time of the character's current position on its course, s.
    reached: f64,
    /// Planned time at which the character leaves its last place, s.
    until: f64,
}

impl Other {
    /// Returns a pedestrian as it appears to other characters. `plan` is the plan of the
    /// pedestrian.
    pub(super) fn of(one: &Pedestrian, plan: Option<&WalkPlan>, now: f64) -> Self {
        let announced = plan.filter(|plan| {
            let is_known = plan.mode == Mode::Walking && !plan.course.is_empty();
            is_known && (place_at(&plan.course, plan.reached) - one.place).length() < 2.0 * STRAYED
        });
        Self {
            place: one.place,
            radius: one.radius,
            course: announced.map_or_else(Arc::default, |plan| plan.course.clone()),
            fastest: announced.map_or(0.0, |plan| plan.fastest),
            reached: announced.map_or(0.0, |plan| plan.reached),
            until: match announced {
                Some(plan) if plan.is_whole && plan.ends_at_goal => {
                    let last = plan.course.last().map_or(0.0, |last| last.time);
                    last.max(plan.reached) + LEAVES
                }
                // The character plans its course around announced courses, so it is expected to leave.
                None if plan.is_some_and(|plan| plan.path.len() > 1) => now + SETS_OFF,
                Some(_) | None => f64::INFINITY,
            },
        }
    }

    /// Creates a character that has not yet started on its course.
    pub(super) fn with_course(one: &Pedestrian, course: &Course, ends_at_goal: bool) -> Self {
        let last = course.moments.last().map_or(0.0, |last| last.time);
        Self {
            place: one.place,
            radius: one.radius,
            fastest: fastest(&course.moments),
            reached: course.moments.first().map_or(0.0, |first| first.time),
            until: match course.is_whole && ends_at_goal {
                true => last + LEAVES,
                false => f64::INFINITY,
            },
            course: course.moments.as_slice().into(),
        }
    }

    /// Creates a character without a course that stays in its place until the time `until`, s.
    pub(super) fn leaving(one: &Pedestrian, until: f64) -> Self {
        Self {
            place: one.place,
            radius: one.radius,
            course: Arc::default(),
            fastest: 0.0,
            reached: 0.0,
            until,
        }
    }

    /// Whether the course of the character still leads within `apart` metres of a place before the
    /// planned time `time`, s.
    fn is_to_pass(&self, place: DVec2, time: f64, apart: f64) -> bool {
        if self.course.is_empty() {
            return (self.place - place).length() < apart;
        }
        let mut at = self.reached;
        while at < time {
            let Some(there) = self.at(at) else {
                return false;
            };
            let away = (there - place).length();
            if away < apart {
                return true;
            }
            // The character cannot be nearer before this time.
            at += ((away - apart) / self.fastest.max(0.1)).max(TICK);
        }
        false
    }

    /// Returns the position at the planned `time` (s); `None` once the character has left. A
    /// character without a course is expected to stay in place. If it wants to walk, it is expected
    /// to leave after some time.
    fn at(&self, time: f64) -> Option<DVec2> {
        let place = || match self.course.is_empty() {
            true => self.place,
            false => place_at(&self.course, time.max(self.reached)),
        };
        (time <= self.until).then(place)
    }
}

/// Position on a course at `time` (s), clamped to the start and end of the course.
fn place_at(course: &[Moment], time: f64) -> DVec2 {
    let next = course.partition_point(|moment| moment.time <= time);
    let Some(before) = next.checked_sub(1).map(|at| course[at]) else {
        return course.first().map_or(DVec2::ZERO, |moment| moment.place);
    };
    let Some(after) = course.get(next) else {
        return before.place;
    };
    let share = (time - before.time) / (after.time - before.time).max(1e-9);
    before.place.lerp(after.place, share)
}

impl WalkPlan {
    /// Whether a loaded plan is valid.
    pub(crate) fn is_sound(&self) -> bool {
        let moments = self.course.iter().map(|moment| moment.place);
        let places = self.path.iter().copied().chain(moments);
        let mut times = self.course.iter().map(|moment| moment.time);
        let numbers = [
            self.walked,
            self.looks_at,
            self.reached,
            self.given,
            self.fastest,
        ];
        let all = [
            self.renews_from,
            self.moved,
            self.moved_at,
            self.calls_from,
            self.waited,
            self.waits_from,
        ];
        numbers.iter().chain(&all).all(|number| number.is_finite())
            && self.blocked_since.is_none_or(f64::is_finite)
            && times.all(f64::is_finite)
            && places
                .clone()
                .all(|place| place.abs().max_element() <= FARTHEST)
    }

    /// Distance within which the character looks at other characters at time `now` (s), m; `None`
    /// if it does not look in this step.
    pub(super) fn sight(&self, now: f64) -> Option<f64> {
        let looks = now >= self.looks_at && self.path.len() > 1;
        looks.then(|| {
            if self.needs_course(now) {
                FAR_SIGHT
            } else {
                SIGHT
            }
        })
    }

    /// Whether the character has to plan a course at the time `now`, s.
    fn needs_course(&self, now: f64) -> bool {
        let is_blocked = self
            .blocked_since
            .is_some_and(|since| now - since >= PATIENCE);
        self.mode != Mode::Walking || is_blocked || self.walked >= self.renews_from
    }

    /// Whether there is nothing to save.
    pub(crate) fn is_empty(&self) -> bool {
        self.mode == Mode::Idle && self.path.is_empty() && self.course.is_empty()
    }

    /// Finds the point nearest to a place on the course, or on the path if there is no course.
    /// Returns its distance along that line (m) and its distance from the place (m). Only the part
    /// of the course that the character may walk on counts, because the course may return to the
    /// same place later.
    fn project(&self, place: DVec2) -> (f64, f64) {
        match self.course.is_empty() {
            true => nearest_on(self.path.iter().copied(), place, 0.0, f64::INFINITY),
            false => {
                let line = self.course.iter().map(|moment| moment.place);
                nearest_on(line, place, self.walked - 0.3, self.given + 0.05)
            }
        }
    }

    /// Distance along the course to the next sharp corner, m; the length of the course if there is
    /// none.
    fn next_corner(&self) -> f64 {
        let mut from = 0.0;
        for (at, pair) in self.course.windows(2).enumerate() {
            let piece = pair[1].place - pair[0].place;
            from += piece.length();
            if from < self.walked + STOPS_WITHIN || piece.length() < 1e-6 {
                continue;
            }
            let mut beyond = 0.0;
            let before = heading_of(piece);
            for next in self.course[at + 1..].windows(2) {
                let turned = next[1].place - next[0].place;
                if turned.length() < 1e-6 {
                    continue;
                }
                if wrap_angle(heading_of(turned) - before).abs() > SHARPEST {
                    return from;
                }
                beyond += turned.length();
                if beyond > CORNER {
                    break;
                }
            }
        }
        from
    }

    /// Starts a course at the time `now`, s.
    pub(super) fn adopt(&mut self, course: Course, now: f64) {
        self.mode = Mode::Walking;
        self.reached = course.moments.first().map_or(now, |first| first.time);
        let length = length_of(&course.moments);
        self.renews_from = match (course.is_whole, course.arrives) {
            (true, _) => FARTHEST,
            (false, true) => length - RENEWED,
            (false, false) => length - NEARLY,
        };
        self.fastest = fastest(&course.moments);
        self.course = course.moments.into();
        self.is_whole = course.is_whole;
        self.walked = 0.0;
        self.given = 0.0;
        self.blocked_since = None;
        self.is_new = true;
        self.looks_at = now;
    }

    /// Abandons the course. The character stays in place.
    pub(super) fn stand(&mut self, agent: &Planner<'_>) {
        self.mode = match agent.path.is_some() {
            true => Mode::Standing,
            false => Mode::Idle,
        };
        self.course = Arc::default();
        self.walked = distance_along(&self.path, agent.pose.position);
        self.given = 0.0;
        self.looks_at = agent.now;
    }

    /// Whether the character asks others for a joint plan at the time `now`, s.
    pub(super) fn calls(&self, now: f64) -> bool {
        self.asks && now >= self.calls_from && self.path.len() > 1
    }

    /// Whether the character is walking on a course that does not end in a deadlock.
    pub(super) fn gets_on(&self) -> bool {
        self.mode == Mode::Walking && !self.asks
    }

    /// Records that the character took part in a joint plan at the time `now`, s.
    pub(super) fn has_agreed(&mut self, now: f64) {
        self.calls_from = now + CALLS_EVERY;
    }

    /// Sets whether the character needs a joint plan because its course does not reach the destination.
    pub(super) fn ask(&mut self, asks: bool) {
        self.asks = asks;
    }

    /// Path around all stationary obstacles, m.
    pub(super) fn path(&self) -> &[DVec2] {
        &self.path
    }

    /// Remaining length of the path from the point nearest to a place, m.
    pub(super) fn path_left(&self, place: DVec2) -> f64 {
        polyline::length(&self.path) - distance_along(&self.path, place)
    }

    /// Whether the path ends at the goal.
    pub(super) fn ends_at_goal(&self) -> bool {
        self.ends_at_goal
    }

    /// Records that the character has reached the distance `along` on its course, m.
    fn arrive_at(&mut self, along: f64) {
        self.walked = self.walked.max(along);
        self.reached = self.reached.max(self.time_at(self.walked));
    }

    /// Points of the course, or of the path if there is no course.
    fn line(&self) -> Vec<DVec2> {
        match self.course.is_empty() {
            true => self.path.clone(),
            false => self.course.iter().map(|moment| moment.place).collect(),
        }
    }

    /// Returns the planned time (s) at which the character reaches the distance `along` (m) on its
    /// course.
    fn time_at(&self, along: f64) -> f64 {
        let mut from = 0.0;
        for pair in self.course.windows(2) {
            let length = (pair[1].place - pair[0].place).length();
            if from + length >= along && length > 0.0 {
                let share = ((along - from) / length).clamp(0.0, 1.0);
                return pair[0].time + share * (pair[1].time - pair[0].time);
            }
            from += length;
        }
        self.course.last().map_or(0.0, |last| last.time)
    }
}

/// Highest speed of a course, m/s.
fn fastest(course: &[Moment]) -> f64 {
    let speed = |pair: &[Moment]| {
        (pair[1].place - pair[0].place).length() / (pair[1].time - pair[0].time).max(1e-3)
    };
    course.windows(2).map(speed).fold(0.0, f64::max)
}

fn length_of(course: &[Moment]) -> f64 {
    let pieces = course.windows(2);
    pieces
        .map(|pair| (pair[1].place - pair[0].place).length())
        .sum()
}

/// Returns the rest of a line, starting at the distance `from` (m) along it.
fn rest(line: &[DVec2], from: f64) -> Vec<DVec2> {
    let mut points = Vec::new();
    let mut s = 0.0;
    for pair in line.windows(2) {
        let length = (pair[1] - pair[0]).length();
        if s + length > from {
            if points.is_empty() {
                let share = ((from - s) / length.max(1e-9)).clamp(0.0, 1.0);
                points.push(pair[0].lerp(pair[1], share));
            }
            points.push(pair[1]);
        }
        s += length;
    }
    if points.is_empty() {
        points.extend(line.last());
    }
    points
}

/// Creates a course along points at `speed` (m/s), beginning at the time `now` (s).
fn course_along(points: impl IntoIterator<Item = DVec2>, now: f64, speed: f64) -> Vec<Moment> {
    let mut time = now;
    let mut before: Option<DVec2> = None;
    let moments = points.into_iter().map(|place| {
        time += before.map_or(0.0, |before| (place - before).length() / speed);
        before = Some(place);
        Moment { place, time }
    });
    moments.collect()
}

/// Returns the planned time of the character that is farthest behind on its announced course, s; at
/// most `now`.
pub(super) fn begin_among(others: &[Other], now: f64) -> f64 {
    let announced = others.iter().filter(|other| !other.course.is_empty());
    announced.fold(now, |first, other| first.min(other.reached))
}

/// Distances that a course has to keep from another character.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    /// Distance between the centres, m.
    pub(super) distance: f64,
    /// A place is also too near if its offsets along both axes of the world are less than this, m.
    /// Outlines are squares that are aligned with these axes.
    pub(super) beside: f64,
}

impl Apart {
    /// Computes the distance to keep: `usual` times the diagonal of the outlines. If the characters
    /// are already closer, they must not come closer still.
    fn new(agent: &Planner<'_>, other: &Other, usual: f64) -> Self {
        let both = agent.kind.radius + other.radius;
        let now = other.place - agent.pose.position;
        let side = both * std::f64::consts::FRAC_1_SQRT_2;
        Self {
            distance: (usual * both).min(now.length().max(TOUCHING * both)),
            beside: (BESIDE_EACH_OTHER * side).min(now.abs().max_element()),
        }
    }

    /// Whether a place with this offset from the other character is too near.
    pub(super) fn is_near(&self, offset: DVec2) -> bool {
        offset.length_squared() < self.distance * self.distance
            || offset.abs().max_element() < self.beside
    }

    /// Distance within which places may be too near, m.
    pub(super) fn reach(&self) -> f64 {
        self.distance.max(std::f64::consts::SQRT_2 * self.beside)
    }
}

impl Planning<'_> {
    /// Plans the walk of a character.
    pub(super) fn step_walking(&mut self) -> Step {
        let agent = self.agent;
        let (walked, away) = self.plan.walk.project(agent.pose.position);
        let has_path = self.plan.walk.path.len() > 1;
        let is_walking = self.plan.walk.mode == Mode::Walking;
        let has_strayed = away > STRAYED && is_walking;
        let is_paused = self
            .plan
            .planned_at
            .is_some_and(|at| agent.now - at < agent.planning.pause);
        let is_over = !self.plan.walk.ends_at_goal && self.is_nearly_over(walked);
        let has_lost_leg =
            agent.path.is_none() && self.plan.walk.mode != Mode::Idle && !self.plan.walk.is_new;
        if !has_path || has_lost_leg || has_strayed || is_over {
            return match is_paused && agent.path.is_some() {
                true => Step::Stays,
                false => self.find_walk(),
            };
        }
        if is_walking {
            let walk = &mut self.plan.walk;
            walk.arrive_at(walked);
        }
        if agent.is_due && !self.is_path_open() {
            return self.find_walk();
        }
        if self.plan.walk.sight(agent.now).is_none() {
            let left = self.plan.walk.given - self.plan.walk.walked;
            if left > 0.0 && left < STOPS_WITHIN {
                // The path may be extended as early as the next step.
                self.plan.walk.looks_at = agent.now;
            }
            return Step::Stays;
        }
        self.plan.walk.looks_at = agent.now + LOOKS_EVERY;
        if self.plan.walk.needs_course(agent.now) {
            return self.announce();
        }
        let is_new = std::mem::take(&mut self.plan.walk.is_new);
        self.walk_on(is_new.then_some(0.0))
    }

    fn is_nearly_over(&self, walked: f64) -> bool {
        let walk = &self.plan.walk;
        let length = match walk.course.is_empty() {
            true => polyline::length(&walk.path),
            false => length_of(&walk.course),
        };
        walk.is_whole && length - walked < LEFT
    }

    /// Searches for a path around all stationary obstacles.
    fn find_walk(&mut self) -> Step {
        self.plan.planned_at = Some(self.agent.now);
        let found = self.find();
        self.note(found.end);
        if found.points.is_empty() {
            self.plan.walk = WalkPlan::default();
            return self.halt();
        }
        let path = self.straightened(&found);
        // The other characters are only known in the next step.
        self.plan.walk = WalkPlan {
            path,
            ends_at_goal: found.end == PlanEnd::Goal,
            looks_at: self.agent.now,
            ..WalkPlan::default()
        };
        Step::Stays
    }

    fn cells(&mut self) -> (TileCache, CellSize) {
        let profile = self.agent.profile(self.plan.cell(self.agent));
        let size = profile.cell;
        let reader = Reader {
            profile: self.map.add_profile(profile),
            owner: Some(self.agent.owner()),
            reading: Reading::Standing,
        };
        (TileCache::new(self.map, reader), size)
    }

    /// Whether the rest of the path is clear of everything that is stationary.
    fn is_path_open(&mut self) -> bool {
        let rest = rest(&self.plan.walk.line(), self.plan.walk.walked);
        let (mut cache, size) = self.cells();
        let mut space = cache.space(self.map);
        // Cells next to the character may be blocked, because the character may already stand too close to an
        // obstacle.
        let near = self.agent.pose.position;
        rest.windows(2).all(|pair| {
            let steps = samples(pair[0], pair[1], size);
            let mut points = steps.filter(|point| (*point - near).length() > 2.0 * size.metres());
            points.all(|point| factor_at(&mut space, size, point) > 0)
        })
    }

    /// Returns the path over cells without the points that a straight line can skip at no
    /// additional cost.
    fn straightened(&mut self, found: &Found) -> Vec<DVec2> {
        let here = self.agent.pose.position;
        let goal = self.agent.goal;
        let (mut cache, size) = self.cells();
        let mut space = cache.space(self.map);
        let points = &found.points;
        let factors: Vec<u32> = points
            .iter()
            .map(|&point| factor_at(&mut space, size, point))
            .collect();
        let mut path = vec![here];
        let mut at = 0;
        while at + 1 < points.len() {
            let mut end = at + 1;
            let (mut stride, mut next) = (2, at + 2);
            while next < points.len() && next - at <= LONGEST_CHORD {
                let most = factors[at..=next].iter().copied().max().unwrap_or(0);
                let is_straight = samples(points[at], points[next], size).all(|point| {
                    let factor = factor_at(&mut space, size, point);
                    factor > 0 && factor <= most
                });
                if is_straight {
                    end = next;
                    stride *= 2;
                } else if stride > 2 {
                    stride = 2;
                } else {
                    break;
                }
                next = end + stride;
            }
            path.push(points[end]);
            at = end;
        }
        match found.end {
            PlanEnd::Goal => {
                // The path ends at the goal itself, not at the centre of its cell.
                if path.len() > 1 {
                    path.pop();
                }
                path.push(goal);
            }
            PlanEnd::Budget | PlanEnd::WalledIn | PlanEnd::Spot(_) => {}
        }
        path.dedup_by(|next, before| (*next - *before).length() < 0.05);
        if path.len() < 2 {
            path.push(goal);
        }
        path
    }

    /// Plans a course around the courses of other characters, and announces it.
    fn announce(&mut self) -> Step {
        let agent = *self.agent;
        let begin = begin_among(self.others, agent.now);
        let mut walker = Walker::new(&agent, self.others, self.plan, self.map);
        // A character without progress along the plain path tries another one.
        let is_stuck = self.plan.walk.blocked_since.is_some();
        let plain = if is_stuck { None } else { walker.plain(begin) };
        let found = match plain {
            Some(course) => Some(course),
            None if *self.searches >= MOST_SEARCHES => {
                self.plan.walk.looks_at = agent.now;
                return match agent.path.is_some() {
                    true => Step::Stays,
                    false => self.halt(),
                };
            }
            None => {
                *self.searches += 1;
                walker.around(begin)
            }
        };
        let walk = &mut self.plan.walk;
        walk.blocked_since = None;
        walk.asks = is_stuck || found.as_ref().is_none_or(|course| !course.arrives);
        let Some(course) = found else {
            walk.stand(&agent);
            walk.looks_at = agent.now + PATIENCE;
            return match agent.path.is_some() && agent.speed == 0.0 {
                true => Step::Stays,
                false => self.halt(),
            };
        };
        walk.adopt(course, agent.now);
        self.plan.walk.is_new = false;
        self.walk_on(Some(0.0))
    }

    /// Gives the controller the path up to the place where the character has to wait for others.
    /// `given` is the distance along the course up to which the controller's current path reaches,
    /// m.
    fn walk_on(&mut self, given: Option<f64>) -> Step {
        let agent = self.agent;
        let (limit, is_blocked) = self.limit();
        let until = limit.min(self.plan.walk.next_corner());
        let walk = &mut self.plan.walk;
        let length = length_of(&walk.course);
        let is_end = until >= length - 1e-6;
        let before = given.unwrap_or(walk.given);
        walk.blocked_since = match is_blocked {
            true => walk.blocked_since.or(Some(agent.now)),
            false => None,
        };
        let is_at_stop = walk.given <= walk.walked;
        if given.is_some() || is_at_stop || walk.walked > walk.moved + PROGRESS {
            (walk.moved, walk.moved_at) = (walk.walked, agent.now);
        }
        if agent.now - walk.moved_at >= STUCK {
            // An obstacle that the course does not take into account keeps the character from
            // walking on.
            (walk.moved, walk.moved_at) = (walk.walked, agent.now);
            match before - walk.walked < NEAR_STOP && before < length - 1e-6 {
                true => walk.arrive_at(before),
                false => walk.blocked_since = Some(agent.now - PATIENCE),
            }
            walk.looks_at = agent.now;
            return Step::Stays;
        }
        if !is_end && limit < walk.walked + STOPS_WITHIN {
            // The character counts as having reached its limit, so that characters that wait for it
            // can walk on.
            walk.arrive_at(limit);
            let is_standing = given.is_none() && walk.given <= walk.walked && agent.speed < STANDS;
            walk.given = walk.walked;
            if walk.walked > walk.waited + PROGRESS || given.is_some() {
                (walk.waited, walk.waits_from) = (walk.walked, agent.now);
            } else if agent.now - walk.waits_from >= LONGEST_WAIT {
                walk.asks = true;
            }
            return match is_standing {
                true => Step::Stays,
                false => self.halt(),
            };
        }
        let left = before - walk.walked;
        let has_stopped = left < STOPS_WITHIN || agent.speed < STANDS;
        let grows = match has_stopped || is_end {
            true => until > before + 1e-6,
            false => left < EXTENDS && until > before + GROWS,
        };
        let shrinks = until < before - 0.05 && before > walk.walked + 0.05;
        if given.is_none() && !grows && !shrinks {
            return Step::Stays;
        }
        walk.given = until;
        let (points, speeds) = self.stretch(until);
        let ends_at_goal = self.plan.walk.ends_at_goal && self.plan.walk.is_whole;
        if points.len() < 2 || polyline::length(&points) < SHORTEST && !is_end {
            return self.halt();
        }
        self.follow_walk(&points, &speeds, is_end && ends_at_goal)
    }

    /// Returns the part of the course from the character to the distance `until` (m), without
    /// waits, as points and speeds (m/s).
    fn stretch(&self, until: f64) -> (Vec<DVec2>, Vec<f64>) {
        let walk = &self.plan.walk;
        let most = self.agent.top_speed;
        let (mut points, mut speeds): (Vec<DVec2>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut from = 0.0;
        for pair in walk.course.windows(2) {
            let piece = pair[1].place - pair[0].place;
            let length = piece.length();
            let (a, b) = (walk.walked.max(from), until.min(from + length));
            // A character that is beside its course skips a corner that it has almost reached.
            let start = pair[0].place + piece * ((a - from) / length.max(1e-9));
            let is_beside = (start - self.agent.pose.position).length() > BESIDE;
            let is_near = is_beside && points.is_empty() && b - a < STOPS_WITHIN && until > b;
            if length > 1e-6 && b > a && !is_near {
                let speed = length / (pair[1].time - pair[0].time).max(1e-3);
                let speed = speed.clamp(SLOWEST_PIECE.min(most), most);
                if points.is_empty() {
                    points.push(match is_beside {
                        true => self.agent.pose.position,
                        false => start,
                    });
                    speeds.push(speed);
                }
                if let Some(last) = speeds.last_mut() {
                    *last = last.min(speed);
                }
                if let (Some(last), [.., before, corner]) = (speeds.last_mut(), &points[..]) {
                    let before = heading_of(*corner - *before);
                    let angle = wrap_angle(heading_of(piece) - before).abs();
                    *last = last.min(corner_speed(angle, most));
                }
                points.push(pair[0].place + piece * ((b - from) / length));
                speeds.push(speed);
            }
            from += length;
        }
        (points, speeds)
    }

    /// Returns how far along its course the character may walk now, m, and whether a character
    /// without a course blocks it there.
    fn limit(&self) -> (f64, bool) {
        let walk = &self.plan.walk;
        let agent = self.agent;
        let mut along = walk.walked;
        let mut time = walk.reached;
        let mut here = place_at(&walk.course, time);
        let end = walk.course.last().map_or(time, |last| last.time);
        let held: Vec<f64> = self
            .others
            .iter()
            .map(|other| Apart::new(agent, other, HELD).distance)
            .collect();
        while time < end && along < walk.walked + AHEAD {
            let next = (time + TICK).min(end);
            let place = place_at(&walk.course, next);
            let moved = (place - here).length();
            if moved > 1e-9 {
                for (other, &held) in self.others.iter().zip(&held) {
                    if other.is_to_pass(place, time, held) {
                        return (along, other.course.is_empty());
                    }
                }
            }
            along += moved;
            (time, here) = (next, place);
        }
        match time >= end {
            true => (length_of(&walk.course), false),
            false => (along, false),
        }
    }

    /// Makes the character follow points at the given `speeds`, m/s.
    fn follow_walk(&self, points: &[DVec2], speeds: &[f64], is_last: bool) -> Step {
        let agent = self.agent;
        let heading = |at: usize| {
            let (from, to) = (points[at.saturating_sub(1)], points[at]);
            let next = points.get(at + 1).copied().unwrap_or(to);
            let along = if at == 0 { next - to } else { to - from };
            if along == DVec2::ZERO {
                agent.pose.heading
            } else {
                heading_of(along)
            }
        };
        let mut waypoints: Vec<Waypoint> = points
            .iter()
            .zip(speeds)
            .enumerate()
            .map(|(at, (&position, &speed))| Waypoint {
                pose: Pose {
                    position,
                    heading: heading(at),
                },
                speed,
                gear: 1,
            })
            .collect();
        end_at_rest(&mut waypoints);
        let path = PlannedPath {
            path: waypoints.into(),
            margin: MARGIN,
            near: agent.planning.near,
            ahead: agent.planning.ahead,
            // Controllers see the waypoint at its actual position, because characters turn without
            // delay.
            sharpest: 1.0,
            response: None,
            sees_all: agent.planning.avoid == roadwright_agent::Avoid::All,
            towed: None,
        };
        Step::Exact(Box::new(path), Exact { is_last })
    }
}

/// A course, and whether it reaches the end of the path.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) moments: Vec<Moment>,
    /// Whether the course leads to the end of the path.
    is_whole: bool,
    /// Whether the course leads to the end of the part of the path that was searched. Otherwise it
    /// leads to a place beside other characters.
    pub(super) arrives: bool,
}

/// A character that plans a course among others.
pub(super) struct Walker<'a> {
    agent: &'a Planner<'a>,
    others: &'a [Other],
    /// The rest of the path around all stationary obstacles, m.
    left: Vec<DVec2>,
    map: &'a mut OpenGround,
    /// Size of the cells, m.
    cell: f64,
    /// Distance from others, as a multiple of the diagonal of both outlines.
    apart: f64,
}

impl<'a> Walker<'a> {
    /// Prepares a character for planning. The character prefers the usual distance from others.
    pub(super) fn new(
        agent: &'a Planner<'a>,
        others: &'a [Other],
        plan: &AgentPlan,
        map: &'a mut OpenGround,
    ) -> Self {
        let path = &plan.walk.path;
        Self {
            agent,
            others,
            left: rest(path, distance_along(path, agent.pose.position)),
            map,
            cell: plan.cell(agent),
            apart: APART[0],
        }
    }

    /// Time at which the character has turned towards the rest of its path and walks at full speed,
    /// s.
    fn starts(&self, begin: f64) -> f64 {
        begin + self.delay(self.left.get(1).copied().unwrap_or(self.agent.goal))
    }

    /// Creates the course along the path; `None` unless it keeps its distance from all others.
    pub(super) fn plain(&self, begin: f64) -> Option<Course> {
        let place = self.agent.pose.position;
        let points = std::iter::once(place).chain(self.left.iter().skip(1).copied());
        let speed = self.agent.top_speed.max(SLOWEST);
        let mut moments = course_along(points, self.starts(begin), speed);
        moments.insert(0, Moment { place, time: begin });
        self.is_undisturbed(&moments).then_some(Course {
            moments,
            is_whole: true,
            arrives: true,
        })
    }

    /// Time until the character walks at full speed towards a place, s: it accelerates, and turns first if
    /// the place lies behind it. Only half of the time to accelerate counts, because the character already
    /// moves during that time.
    fn delay(&self, towards: DVec2) -> f64 {
        let agent = self.agent;
        let limits = &agent.kind.limits;
        let missing = (agent.top_speed - agent.speed.max(0.0)).max(0.0);
        let accelerates = 0.5 * missing / limits.max_acceleration;
        let offset = towards - agent.pose.position;
        if offset.length() < SHORTEST {
            return accelerates;
        }
        let angle = wrap_angle(heading_of(offset) - agent.pose.heading).abs();
        match angle > TURNS_FROM {
            true => accelerates + angle / TURNING,
            false => accelerates,
        }
    }

    fn is_undisturbed(&self, course: &[Moment]) -> bool {
        let (Some(first), Some(last)) = (course.first(), course.last()) else {
            return true;
        };
        let own = fastest(course);
        self.others.iter().all(|other| {
            let apart = Apart::new(self.agent, other, self.apart);
            let mut time = first.time;
            while time <= last.time
                && let Some(at) = other.at(time)
            {
                let offset = at - place_at(course, time);
                if apart.is_near(offset) {
                    return false;
                }
                // Until then, they cannot be nearer.
                time +=
                    ((offset.length() - apart.reach()) / (own + other.fastest).max(0.1)).max(TICK);
            }
            true
        })
    }

    /// Searches for a course around other characters.
    pub(super) fn around(&mut self, begin: f64) -> Option<Course> {
        let wide = self.around_at(begin).filter(|course| course.arrives);
        if wide.is_some() {
            return wide;
        }
        self.apart = APART[1];
        self.around_at(begin)
    }

    /// Searches for a course that keeps the distance `apart` from other characters.
    fn around_at(&mut self, begin: f64) -> Option<Course> {
        let here = self.agent.pose.position;
        let delay = self.starts(begin) - begin;
        let (target, after) = split(&self.left, RESERVED);
        let mut search = self.space_time(here, target, begin)?;
        // If there is no passage with the usual clearance, there may be one without it.
        let found = search
            .find(here, target, delay, Room::Usual)
            .filter(|found| found.arrives)
            .or_else(|| search.find(here, target, delay, Room::Narrow))?;
        let is_move = length_of(&found.moments) >= SHORTEST;
        is_move.then_some(Course {
            is_whole: found.arrives && after.is_empty(),
            moments: found.moments,
            arrives: found.arrives,
        })
    }

    /// Prepares a search among the cells around a character and its target, with the times at which
    /// other characters occupy these cells.
    fn space_time(&mut self, here: DVec2, target: DVec2, begin: f64) -> Option<SpaceTime> {
        let agent = *self.agent;
        let profile = agent.profile(self.cell);
        let size = profile.cell;
        let profile = self.map.add_profile(profile);
        let mut points = vec![here, target];
        let mut length = 0.0;
        for pair in self.left.windows(2) {
            length += (pair[1] - pair[0]).length();
            if length <= RESERVED {
                points.push(pair[1]);
            }
        }
        let lowest = points.iter().fold(here, |low, point| low.min(*point));
        let highest = points.iter().fold(here, |high, point| high.max(*point));
        let low = size.cell_of(lowest - BEYOND)?;
        let high = size.cell_of(highest + BEYOND)?;
        let window = Window {
            origin: low,
            columns: high.x.abs_diff(low.x) + 1,
            rows: high.y.abs_diff(low.y) + 1,
        };
        let owner = Some(agent.owner());
        let mut map = self
            .map
            .window(profile, owner, Reading::Standing, window)
            .ok()?;
        // The cells around the character's own position count as free.
        if let Some(own) = size.cell_of(here)
            && map.factor_at(own) == 0
        {
            for (x, y) in (-1..=1).flat_map(|y| (-1..=1).map(move |x| (x, y))) {
                map.set(Cell::new(own.x + x, own.y + y), 16);
            }
        }
        let mut search = SpaceTime::new(map, size, begin, agent.top_speed.max(SLOWEST));
        for other in self.others {
            search.take(Apart::new(&agent, other, self.apart), |time| other.at(time));
        }
        Some(search)
    }
}

/// Returns the point at `distance` (m) along a line, and the points beyond it.
fn split(points: &[DVec2], distance: f64) -> (DVec2, Vec<DVec2>) {
    let mut left = distance;
    for (at, pair) in points.windows(2).enumerate() {
        let length = (pair[1] - pair[0]).length();
        if length >= left {
            let point = pair[0].lerp(pair[1], left / length.max(1e-9));
            return (point, points[at + 1..].to_vec());
        }
        left -= length;
    }
    (points.last().copied().unwrap_or(DVec2::ZERO), Vec::new())
}

/// Returns the distance along a path to the point nearest to a place, m.
fn distance_along(path: &[DVec2], place: DVec2) -> f64 {
    nearest_on(path.iter().copied(), place, 0.0, f64::INFINITY).0
}

/// Finds the point of a line that is nearest to a place. Returns its distance along the line and
/// its distance from the place, m. Only the part of the line between two distances along it counts.
fn nearest_on(
    line: impl Iterator<Item = DVec2> + Clone,
    place: DVec2,
    low: f64,
    high: f64,
) -> (f64, f64) {
    let mut best = (low.max(0.0), f64::INFINITY);
    let mut from = 0.0;
    for (start, end) in line.clone().zip(line.skip(1)) {
        let piece = end - start;
        let length = piece.length();
        let (first, last) = (low.max(from), high.min(from + length));
        if first <= last {
            let along = from + (place - start).dot(piece) / length.max(1e-9);
            let along = along.clamp(first, last);
            let point = start + piece * ((along - from) / length.max(1e-9));
            let away = (point - place).length();
            if away < best.1 {
                best = (along, away);
            }
        }
        from += length;
    }
    best
}

/// Speed at which a character passes a corner of its course, m/s. `angle` is in rad.
fn corner_speed(angle: f64, most: f64) -> f64 {
    let share = (angle / SHARP).min(1.0);
    most + share * (AT_CORNERS.min(most) - most)
}

/// Adds waypoints where the character begins to brake, and lowers the speeds after them.
fn end_at_rest(waypoints: &mut Vec<Waypoint>) {
    let Some(last) = waypoints.last_mut() else {
        return;
    };
    let speed = last.speed;
    last.speed = 0.0;
    let end = *last;
    let braking = 0.5 * speed * speed / STOPPING;
    // The speed is lowered in steps, because speeds between waypoints are interpolated along the path.
    let mut left = braking;
    let Some(before) = waypoints.len().checked_sub(2).map(|at| waypoints[at].pose) else {
        return;
    };
    let piece = (end.pose.position - before.position).length();
    let mut added = Vec::new();
    while left > 0.1 {
        if left < piece {
            added.push(Waypoint {
                pose: Pose {
                    position: end.pose.position.lerp(before.position, left / piece),
                    ..end.pose
                },
                speed: (2.0 * STOPPING * left).sqrt().min(speed),
                gear: 1,
            });
        }
        left *= 0.6;
    }
    let at = waypoints.len() - 1;
    waypoints.splice(at..at, added);
    for at in (1..waypoints.len()).rev() {
        let length = (waypoints[at].pose.position - waypoints[at - 1].pose.position).length();
        let ahead = waypoints[at].speed;
        let most = (ahead * ahead + 2.0 * STOPPING * length).sqrt();
        waypoints[at - 1].speed = waypoints[at - 1].speed.min(most);
    }
}

/// Points of a straight line, half a cell apart.
fn samples(from: DVec2, to: DVec2, size: CellSize) -> impl Iterator<Item = DVec2> {
    let steps = (2.0 * (to - from).length() / size.metres()).ceil().max(1.0) as u32;
    (0..=steps).map(move |step| from.lerp(to, f64::from(step) / f64::from(steps)))
}

fn factor_at(space: &mut TileSpace<'_>, size: CellSize, point: DVec2) -> u32 {
    let cell = size.cell_of(point);
    let node = cell.and_then(|cell| space.node(cell));
    node.map_or(0, |node| space.factor(node))
}

// At 0.5 m/s or more, a search looks farther ahead than the time needed to walk the path for which
// it is made.
const _: () = assert!(0.5 * SLOTS as f64 * SLOT > RESERVED);
