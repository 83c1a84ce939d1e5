//! Characters on foot: how they follow the path over cells, and how they plan around each other.
//!
//! The planner of a character finds a path among everything that stands. A few times a second, the character
//! compares its course along this path with the courses that the others have announced. If one of them would come too
//! near, it searches for another course, which may wait (`space_time.rs`), and announces it. Characters with larger
//! ids make room for those with smaller ones, so two of them never wait for each other, and one of two that meet in a
//! door waits beside it.

use super::plans::{Planner, Planning, Step};
use super::search::Found;
use super::space_time::{Room, SLOT, SLOTS, SpaceTime};
use crate::records::FARTHEST;
use crate::route::{Exact, PlannedPath, Waypoint};
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, Pose, heading_of, polyline};
use roadwright_planning::open_ground::{
    Cell, CellSize, PlanEnd, Reader, Reading, Space, TileCache, TileSpace, Window,
};
use serde::{Deserialize, Serialize};

/// Time between two looks at other characters, s.
const LOOKS_EVERY: f64 = 0.24;
/// Distance within which other characters are taken into account, m.
pub(super) const SIGHT: f64 = 9.0;
/// Minimum distance between the centres of two characters, as a multiple of the diagonal of their outline.
const APART: f64 = 1.1;
/// Time ahead for which courses are compared, s.
const HORIZON: f64 = 5.0;
/// Distance along the path to the place where a detour returns to it, m.
const RETURNS: f64 = 6.0;
/// Distance by which the map of a detour extends beyond its ends, m.
const BEYOND: f64 = 2.5;
/// Distance from its path beyond which a character looks for a new one, m.
const STRAYED: f64 = 0.45;
/// Longest wait during which a character stays on its path, s. At a longer wait, the path ends until the wait
/// is over.
const WAIT: f64 = 0.25;
/// Shortest path that is worth walking, m.
const SHORTEST: f64 = 0.15;
/// Angle to the beginning of its course above which a character first turns on the spot, rad.
const TURNS_FROM: f64 = 1.4;
/// Turn rate on the spot, rad/s.
const TURNING: f64 = 2.3;
/// Speed below which a character counts as standing, m/s.
const STANDS: f64 = 0.2;
/// Time for which a standing character is expected to stay, s.
const LAG: f64 = 1.2;
/// Distance between the centres of two characters that touch, as a multiple of the diagonal of their outline.
const TOUCHING: f64 = 0.72;
/// Deceleration before a stop, m/s^2.
const STOPPING: f64 = 1.0;
/// Clearance of paths that is reported to controllers, m.
const MARGIN: f64 = 0.1;
/// Maximum length of the straight pieces of a path, in cells.
const LONGEST_CHORD: usize = 100;
/// Distance from the end of a path that does not reach the goal at which the character looks for the next one, m.
const LEFT: f64 = 2.0;

/// A position at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Moment {
    pub(super) place: DVec2,
    /// Simulation time, s.
    pub(super) time: f64,
}

/// Activity of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
enum Mode {
    /// The character has no path yet.
    #[default]
    Idle,
    /// The character follows its path.
    OnPath,
    /// The character passes other characters.
    Passing,
    /// The character stands until others have passed.
    Waiting,
}

/// Plan of a character. Saves store it separately from the agent's plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct WalkPlan {
    mode: Mode,
    /// The path around everything that is stationary, m.
    path: Vec<DVec2>,
    /// Whether the path ends at the goal.
    ends_at_goal: bool,
    /// Distance walked along the path, m.
    walked: f64,
    /// Course that the character has announced, as positions and times.
    course: Vec<Moment>,
    /// Time of the next look at other characters, s.
    looks_at: f64,
}

/// A character on the map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pedestrian {
    pub(super) id: u64,
    pub(super) place: DVec2,
    /// Velocity, m/s.
    pub(super) velocity: DVec2,
    /// Radius of the circle around the character's outline, m.
    pub(super) radius: f64,
}

/// Another character, as the planning character sees it.
#[derive(Debug, Clone)]
pub(super) struct Other {
    id: u64,
    place: DVec2,
    radius: f64,
    course: Vec<Moment>,
    /// Whether the character walks to a goal, so that it makes room for characters with smaller ids.
    makes_room: bool,
    /// Time by which the character is expected to lag behind its course, s.
    lag: f64,
}

impl Other {
    /// Returns a pedestrian as other characters see it. `plan` is the plan of the pedestrian.
    pub(super) fn of(one: &Pedestrian, plan: Option<&WalkPlan>, now: f64) -> Self {
        let announced = plan.filter(|plan| {
            let is_known = !plan.course.is_empty();
            is_known && (place_at(&plan.course, now) - one.place).length() < STRAYED
        });
        let course = match announced {
            Some(plan) => plan.course.clone(),
            // A character without an announced course is expected to keep its velocity for a second.
            None => vec![
                Moment {
                    place: one.place,
                    time: now,
                },
                Moment {
                    place: one.place + one.velocity,
                    time: now + 1.0,
                },
            ],
        };
        Self {
            id: one.id,
            place: one.place,
            radius: one.radius,
            course,
            makes_room: plan.is_some_and(|plan| plan.mode != Mode::Idle),
            // A standing character is held up by what is in front of it. Delaying its course leaves time to
            // make room for it.
            lag: if one.velocity.length() < STANDS {
                LAG
            } else {
                0.0
            },
        }
    }

    fn at(&self, time: f64) -> DVec2 {
        place_at(&self.course, time - self.lag)
    }
}

/// Position on a course at a time, s. Before the course begins, this is the start of the course, and
/// afterwards its end.
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
        (self.walked + self.looks_at).is_finite()
            && times.all(f64::is_finite)
            && places
                .clone()
                .all(|place| place.abs().max_element() <= FARTHEST)
    }

    /// Whether the character looks at other characters in a step at `now`, s.
    pub(super) fn looks(&self, now: f64) -> bool {
        now >= self.looks_at && self.path.len() > 1
    }

    /// Whether there is nothing to save.
    pub(crate) fn is_empty(&self) -> bool {
        self.mode == Mode::Idle && self.path.is_empty() && self.course.is_empty()
    }

    /// Distance along the path of the point nearest to a place (m), and the distance to it (m). Parts of the
    /// path that the character has already walked are left out.
    fn project(&self, place: DVec2) -> (f64, f64) {
        let mut best = (self.walked, f64::INFINITY);
        let mut from = 0.0;
        for pair in self.path.windows(2) {
            let piece = pair[1] - pair[0];
            let length = piece.length();
            let share = (place - pair[0]).dot(piece) / length.powi(2).max(1e-12);
            let along = share.clamp(0.0, 1.0) * length;
            let away = (pair[0] + piece * share.clamp(0.0, 1.0) - place).length();
            if from + length >= self.walked - 0.5 && away < best.1 {
                best = (from + along, away);
            }
            from += length;
        }
        best
    }

    /// Points of the path beyond a distance, m.
    fn rest(&self, from: f64) -> Vec<DVec2> {
        let mut points = Vec::new();
        let mut s = 0.0;
        for pair in self.path.windows(2) {
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
            points.extend(self.path.last());
        }
        points
    }
}

/// Course along points at a speed, m/s, beginning at `now`, s.
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

/// Minimum distance between the centres of two characters, m. If they are already closer, they must not come
/// closer still.
fn apart(agent: &Planner<'_>, other: &Other) -> f64 {
    let usual = APART * (agent.kind.radius + other.radius);
    let now = (other.place - agent.pose.position).length();
    usual.min((now - 0.03).max(TOUCHING * (agent.kind.radius + other.radius)))
}

impl Planning<'_> {
    /// Plans the walk of a character.
    pub(super) fn step_walking(&mut self) -> Step {
        let agent = self.agent;
        let (walked, away) = self.plan.walk.project(agent.pose.position);
        let has_path = self.plan.walk.path.len() > 1;
        let has_strayed = away > STRAYED && self.plan.walk.mode != Mode::Waiting;
        let is_paused = self
            .plan
            .planned_at
            .is_some_and(|at| agent.now - at < agent.planning.pause);
        let is_over = !self.plan.walk.ends_at_goal && self.is_nearly_over(walked);
        let has_lost_leg = agent.path.is_none() && self.plan.walk.mode != Mode::Idle;
        if !has_path || has_lost_leg || has_strayed || is_over {
            return match is_paused && agent.path.is_some() {
                true => Step::Stays,
                false => self.find_walk(),
            };
        }
        self.plan.walk.walked = walked;
        if agent.is_due && !self.is_path_open() {
            return self.find_walk();
        }
        match self.plan.walk.looks(agent.now) {
            true => self.look(),
            false => Step::Stays,
        }
    }

    fn is_nearly_over(&self, walked: f64) -> bool {
        polyline::length(&self.plan.walk.rest(walked)) < LEFT
    }

    /// Searches for a path around everything that is stationary.
    fn find_walk(&mut self) -> Step {
        self.plan.planned_at = Some(self.agent.now);
        let found = self.find();
        self.note(found.end);
        if found.points.is_empty() {
            self.plan.walk = WalkPlan::default();
            return self.stand();
        }
        let path = self.straightened(&found);
        let walk = &mut self.plan.walk;
        walk.path = path;
        walk.ends_at_goal = found.end == PlanEnd::Goal;
        walk.walked = 0.0;
        walk.mode = Mode::Idle;
        // The other characters are known in the next step.
        walk.looks_at = self.agent.now;
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
        let rest = self.plan.walk.rest(self.plan.walk.walked);
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

    /// The path of cells, without the points that a straight line can skip at no additional cost.
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
                // The path ends at the goal itself instead of the centre of its cell.
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

    /// Compares the character's course with those of other characters, and changes it if necessary.
    fn look(&mut self) -> Step {
        let agent = self.agent;
        self.plan.walk.looks_at = agent.now + LOOKS_EVERY;
        let rest = self.plan.walk.rest(self.plan.walk.walked);
        let here = agent.pose.position;
        let ahead = rest.get(1).copied().unwrap_or(agent.goal);
        let starts = agent.now + self.delay(ahead);
        let points = std::iter::once(here).chain(rest.iter().skip(1).copied());
        let mut course = course_along(points, starts, agent.top_speed);
        course.insert(
            0,
            Moment {
                place: here,
                time: agent.now,
            },
        );
        if self.is_undisturbed(&course) {
            let was = self.plan.walk.mode;
            self.plan.walk.mode = Mode::OnPath;
            self.plan.walk.course = course;
            if was == Mode::OnPath && agent.path.is_some() {
                return Step::Stays;
            }
            let speeds = vec![agent.top_speed; rest.len()];
            return self.follow_walk(&rest, &speeds, self.plan.walk.ends_at_goal);
        }
        self.pass(&rest)
    }

    /// Other characters that this character takes into account. Characters that make room for it are left
    /// out, because two that make room for each other would both wait.
    fn noticed(&self) -> impl Iterator<Item = &Other> {
        let own = self.agent.id;
        self.others
            .iter()
            .filter(move |other| other.id < own || !other.makes_room)
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
        let agent = self.agent;
        self.noticed().all(|other| {
            let apart = apart(agent, other) - 0.02;
            let steps = (HORIZON / SLOT) as u32;
            (0..=steps).all(|step| {
                let time = agent.now + SLOT * f64::from(step);
                (other.at(time) - place_at(course, time)).length() >= apart
            })
        })
    }

    /// Searches for a course around other characters.
    fn pass(&mut self, rest: &[DVec2]) -> Step {
        let agent = *self.agent;
        let here = agent.pose.position;
        let (target, after) = split(rest, RETURNS);
        let begins = self.delay(rest.get(1).copied().unwrap_or(target));
        let Some(search) = self.space_time(here, target) else {
            return self.stand();
        };
        // If there is no passage with the usual clearance, there may be one without it.
        let found = search
            .find(here, target, begins, Room::Usual)
            .filter(|found| found.arrives)
            .or_else(|| search.find(here, target, begins, Room::Narrow));
        let Some(found) = found else {
            return self.stand();
        };
        let mut course = found.moments;
        if found.arrives
            && let Some(last) = course.last().copied()
        {
            let beyond = std::iter::once(last.place).chain(after.iter().copied());
            course.extend(
                course_along(beyond, last.time, agent.top_speed)
                    .into_iter()
                    .skip(1),
            );
        }
        let is_whole = found.arrives && self.plan.walk.ends_at_goal;
        // The path ends where the character has to wait. The next one begins when the wait is over.
        let waits = |pair: &[Moment]| {
            let length = (pair[1].place - pair[0].place).length();
            // The delay at the start of the course does not count as a wait.
            let delay = if pair[0].time == agent.now {
                begins
            } else {
                0.0
            };
            pair[1].time - pair[0].time > length / agent.top_speed + WAIT + delay
        };
        let until = course.windows(2).position(waits);
        let mut walked = course[..until.map_or(course.len(), |at| at + 1)].to_vec();
        // Short waits are removed: the character walks on from the same point at the later time.
        walked.dedup_by(|next, kept| {
            let is_same = (next.place - kept.place).length() < 0.02;
            if is_same {
                kept.time = next.time;
            }
            is_same
        });
        let points: Vec<DVec2> = walked.iter().map(|moment| moment.place).collect();
        let speeds = speeds_of(&walked, agent.top_speed);
        self.plan.walk.course = course;
        let length: f64 = points
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).length())
            .sum();
        if length < SHORTEST {
            return self.wait();
        }
        self.plan.walk.mode = Mode::Passing;
        self.follow_walk(&points, &speeds, until.is_none() && is_whole)
    }

    /// The cells around a character and its target, with the times at which other characters are there.
    fn space_time(&mut self, here: DVec2, target: DVec2) -> Option<SpaceTime> {
        let agent = *self.agent;
        let profile = agent.profile(self.plan.cell(&agent));
        let size = profile.cell;
        let profile = self.map.add_profile(profile);
        let low = size.cell_of(here.min(target) - BEYOND)?;
        let high = size.cell_of(here.max(target) + BEYOND)?;
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
        let mut search = SpaceTime::new(map, size, agent.now, agent.top_speed);
        for other in self.noticed() {
            search.take(apart(&agent, other), |time| other.at(time));
        }
        Some(search)
    }

    /// Makes the character wait, with the course that it has announced.
    fn wait(&mut self) -> Step {
        let was = self.plan.walk.mode;
        self.plan.walk.mode = Mode::Waiting;
        match was == Mode::Waiting && self.agent.path.is_some() {
            true => Step::Stays,
            false => self.halt(),
        }
    }

    /// Makes the character stand, and announces this.
    fn stand(&mut self) -> Step {
        self.plan.walk.course = vec![Moment {
            place: self.agent.pose.position,
            time: self.agent.now,
        }];
        self.wait()
    }

    /// Follows points at the given speeds, m/s.
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
            // Controllers see the waypoint at its actual position, because characters turn at once.
            sharpest: 1.0,
            response: None,
            sees_all: agent.planning.avoid == roadwright_agent::Avoid::All,
            towed: None,
        };
        Step::Exact(Box::new(path), Exact { is_last })
    }
}

/// Returns the point at a distance along a line, m, and the points beyond it.
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

/// Speeds at the moments of a course, at most `most`, m/s.
fn speeds_of(course: &[Moment], most: f64) -> Vec<f64> {
    let speed = |pair: &[Moment]| {
        let length = (pair[1].place - pair[0].place).length();
        (length / (pair[1].time - pair[0].time).max(1e-3)).clamp(0.2, most)
    };
    let mut speeds: Vec<f64> = course.windows(2).map(speed).collect();
    speeds.push(speeds.last().copied().unwrap_or(most));
    speeds
}

/// Adds the places where the character begins to brake, and lowers the speeds beyond them.
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

// A search looks farther ahead than courses are compared.
const _: () = assert!(SLOTS as f64 * SLOT > HORIZON);
