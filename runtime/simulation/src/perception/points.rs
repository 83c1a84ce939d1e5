//! Points of the path ahead, the motion and the vehicle of an agent, for controllers that request
//! them.
//!
//! Points lie at multiples of a spacing along the route, so that they stay in place while the agent
//! drives. They are computed from the route and the agent's place alone. Two things are kept
//! between calls: the positions of roads along their routes, so that the cost does not depend on
//! the length of the trip, and the points that do not depend on the agent's place ([`KeptPaths`]).
//! A restored world starts without them and gives the same points.

use super::near::ObjectScene;
use super::{Look, View};
use crate::records::{AgentIndex, Command};
use crate::route::{Goal, GroundPath, Road, Route};
use crate::vehicle_type::VehicleRecords;
use glam::DVec2;
use roadwright_agent::{Needs, PathNeeds};
use roadwright_geometry::math::{atan, exp, ln, sinh, wrap_angle};
use roadwright_geometry::{Pose, unit};
use roadwright_plugin_api::{
    MotionInput, NearData, NeedsInput, PATH_CONNECTION, PATH_END, PATH_LANE_CHANGE, PATH_REVERSE,
    PATH_STOP, PathPoint,
};
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use std::f64::consts::FRAC_PI_2;
use std::sync::{Mutex, PoisonError};

/// A vehicle within this distance of the wanted line counts as being on the line, m. Its path then
/// follows the line. For a vehicle farther away, the path begins this much closer to the line than
/// the vehicle.
const ON_LINE: f64 = 0.3;
/// Time constant of small offsets of the path from the wanted line: they decrease to 37 % in this
/// time, s.
const RETURN_TIME: f64 = 1.2;
/// Minimum distance that counts as covered in [`RETURN_TIME`], m.
const LEAST_RETURN: f64 = 5.0;
/// Offset beyond which the path returns to the line at a constant angle, m. Larger values make lane changes quicker.
const STRAIGHT_BEYOND: f64 = 1.0;
/// A path begins at most this far from the wanted line, m.
const FARTHEST: f64 = 50.0;
/// Time for half of a lane change that has not begun yet, s.
const HALF_OF_CHANGE: f64 = 1.5;
/// Maximum length of half of a lane change that has not begun yet, as a fraction of the available
/// distance.
const ROOM_FOR_HALF: f64 = 0.5;

/// A place on a path, without curvature and grade, which are computed later.
#[derive(Debug, Clone, Copy)]
struct Place {
    position: DVec2,
    heading: f64,
    height: f64,
    speed: f64,
    left: f64,
    right: f64,
    lanelet: LaneletIndex,
    flags: u32,
    /// Whether the place depends only on the route.
    is_fixed: bool,
}

/// Key that stays the same as long as the points of a path do.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct PathKey {
    route_version: u64,
    /// State of the roads, see [`Routes::roads_version`](crate::route::Routes::roads_version).
    roads_version: u64,
    spacing: f64,
}

/// Consecutive points of an agent's path that depend only on its route.
#[derive(Debug, Default)]
struct KeptPath {
    key: PathKey,
    /// Number of the first point: its position as a multiple of the spacing.
    first: i64,
    points: Vec<PathPoint>,
    /// Number of points at the start of the list that are no longer used.
    passed: usize,
    /// Places of the last point and of its successor, if there are points.
    last: Option<[Place; 2]>,
}

impl KeptPath {
    /// Returns the kept points, starting with number `first`, and marks the points before it as
    /// passed. Drops all points if they belong to another path. `count` is the number of points
    /// that the caller needs in total.
    fn from(&mut self, key: PathKey, first: i64, count: usize) -> &[PathPoint] {
        let passed = first - self.first;
        if self.key != key || !(0..=self.points.len() as i64).contains(&passed) {
            (self.key, self.first, self.passed) = (key, first, 0);
            self.points.clear();
            self.last = None;
            self.points.reserve(MOST_PASSED + count + 1);
        } else {
            self.passed = passed as usize;
        }
        // Removing points moves the remaining ones, which costs as much as copying them to a row,
        // so it is done rarely.
        if self.passed > MOST_PASSED {
            self.points.drain(..self.passed);
            (self.first, self.passed) = (first, 0);
        }
        &self.points[self.passed..]
    }

    /// Adds the next point, with the places of that point and its successor.
    fn push(&mut self, point: PathPoint, places: [Place; 2]) {
        self.points.push(point);
        self.last = Some(places);
    }
}

/// Points of all agents' paths, kept if they depend only on the route. They are exactly the points
/// that the caller would compute itself, so it does not matter which points are kept.
#[derive(Default)]
pub(crate) struct KeptPaths {
    of: Vec<Mutex<KeptPath>>,
}

impl KeptPaths {
    /// Makes room for agents with indices below `capacity`.
    pub(crate) fn set_capacity(&mut self, capacity: usize) {
        if self.of.len() < capacity {
            self.of.resize_with(capacity, Mutex::default);
        }
    }

    /// Memory used by the points, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let own = self.of.capacity() * size_of::<Mutex<KeptPath>>();
        let points = self.of.iter().map(|kept| {
            let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.points.capacity() * size_of::<PathPoint>()
        });
        own + points.sum::<usize>()
    }
}

/// Passed points are removed once there are more than this many.
const MOST_PASSED: usize = 32;

/// Request of a controller, with the objects of the world if it requests them.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) needs: &'a Needs,
    pub(crate) paths: &'a KeptPaths,
    pub(crate) scene: Option<ObjectScene<'a>>,
}

/// Number of used elements in each list of a row. All elements beyond them are zero.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    points: u32,
    near: u32,
}

/// Elements of the controller's lists that belong to one row.
pub(crate) struct NeedsLists<'a> {
    pub(crate) points: &'a mut [PathPoint],
    pub(crate) near: &'a mut [NearData],
    pub(crate) used: &'a mut Used,
}

/// Sets the elements beyond the first `count` to zero. Elements beyond the previously `used` ones
/// are zero already.
fn clear<T: Clone + Default>(elements: &mut [T], used: &mut u32, count: usize) {
    if let Some(old) = elements.get_mut(count..*used as usize) {
        old.fill(T::default());
    }
    *used = count as u32;
}

/// A road of the route, with the agent's lanes on it.
#[derive(Debug, Clone, Copy)]
struct Stage {
    road: Road,
    /// Position along the path from which the agent still has to change to the last lane, m.
    from: f64,
}

impl From<Road> for Stage {
    fn from(road: Road) -> Self {
        Self {
            road,
            from: road.begin,
        }
    }
}

/// Lateral offset of a path from the line that the agent should follow. The offset is the agent's
/// own at the start of the path, and decays along it.
///
/// The slope depends only on the offset: `-(w / length) tanh(offset / w)`, where `w` is
/// [`STRAIGHT_BEYOND`]. Thus a vehicle on the path gets the same path at its next place, and a
/// vehicle that heads away from the path can detect its error. If the path began with the vehicle's
/// own slope, a vehicle that overshoots would detect no error.
#[derive(Debug, Clone, Copy, Default)]
struct Return {
    /// Position of the agent along its path, m.
    from: f64,
    /// Hyperbolic sine of the agent's offset divided by [`STRAIGHT_BEYOND`].
    sinh: f64,
    length: f64,
}

impl Return {
    /// Creates the decay from an offset at position `from` (m). `length` is the length constant of the decay
    /// near the line, m.
    fn new(from: f64, offset: f64, length: f64) -> Self {
        let begin = (offset.abs() - ON_LINE)
            .clamp(0.0, FARTHEST)
            .copysign(offset);
        Self {
            from,
            sinh: sinh(begin / STRAIGHT_BEYOND),
            length,
        }
    }

    /// Offset to the left (m) and slope at position `s` along the path (m).
    fn at(&self, s: f64) -> (f64, f64) {
        if self.sinh == 0.0 {
            return (0.0, 0.0);
        }
        let sinh = self.sinh * exp((self.from - s) / self.length);
        let cosh = (1.0 + sinh * sinh).sqrt();
        let offset = STRAIGHT_BEYOND * ln(sinh.abs() + cosh).copysign(sinh);
        (offset, -STRAIGHT_BEYOND / self.length * (sinh / cosh))
    }
}

/// The path of an agent, evaluated at increasing positions.
enum Course<'a> {
    Lanes(LaneCourse<'a>),
    /// A path over open ground.
    Path {
        path: &'a GroundPath,
        share: f64,
        room: f64,
        flags: u32,
    },
    /// A straight line to a place.
    Straight {
        to: Pose,
        speed: f64,
        room: f64,
    },
}

/// A path along lanes.
struct LaneCourse<'a> {
    route: &'a Route,
    here: Stage,
    /// The agent's current road.
    own: Stage,
    /// Wanted lateral offset, m to the left.
    aside: f64,
    back: Return,
    /// Lane that the agent is leaving.
    leaving: LaneletIndex,
}

impl View<'_> {
    /// Returns the input of a controller that requests more than the standard row, before the
    /// request of the behaviour is applied. `last` is the last command of its agent. Fills in the
    /// lists of the row. Zeroes the elements that only the previous row used.
    pub(crate) fn needs_input(
        &self,
        agent: AgentIndex,
        look: Look,
        Wanted {
            needs,
            paths,
            scene,
        }: Wanted<'_>,
        last: Command,
        lists: NeedsLists<'_>,
    ) -> NeedsInput {
        let mut input = NeedsInput::of(self.allowed_input(agent, look));
        if needs.motion {
            input.motion = self.motion_input(agent, last);
        }
        if needs.vehicles {
            let number = self.agents.identity[agent.index()].vehicle_type;
            input.vehicle = VehicleRecords::index(number, self.level(agent));
        }
        if let Some(wanted) = &needs.path {
            let kept = paths.of[agent.index()].lock();
            let mut kept = kept.unwrap_or_else(PoisonError::into_inner);
            let count = self.fill_path(agent, wanted, &mut kept, &mut input, lists.points);
            clear(lists.points, &mut lists.used.points, count);
            input.path_count = count as u32;
        }
        if let (Some(needs), Some(scene)) = (&needs.near, scene) {
            let count = self.fill_near(agent, needs, scene, &mut input, lists.near);
            clear(lists.near, &mut lists.used.near, count);
        }
        input
    }

    fn motion_input(&self, agent: AgentIndex, last: Command) -> MotionInput {
        let (pose, motion) = (self.pose(agent), self.motion(agent));
        let kind = self.vehicle_type(agent);
        let [lateral_speed, yaw_rate] = self.bodies().slip(agent, kind);
        let (pitch, roll) = match self.dynamics.rigid.attitude(agent) {
            Some(attitude) => (-attitude.pitch, attitude.roll),
            None => self.lie(pose, kind.limits.wheelbase, kind.width),
        };
        MotionInput {
            x: pose.position.x,
            y: pose.position.y,
            z: self.height(pose.position),
            heading: pose.heading,
            pitch,
            roll,
            lateral_speed,
            yaw_rate,
            acceleration: motion.acceleration,
            lateral_acceleration: motion.speed * yaw_rate,
            last_acceleration: last.acceleration,
            last_steering: last.steering,
            // Rows describe the state at the start of the step, and commands take effect in the same step.
            age: 0.0,
            delay: 0.0,
        }
    }

    /// Pitch and roll of a vehicle that stands on the ground at a pose, rad.
    fn lie(&self, pose: Pose, wheelbase: f64, width: f64) -> (f64, f64) {
        let Some(land) = self.ground.slopes() else {
            return (0.0, 0.0);
        };
        let rise = land.height(pose.point(wheelbase, 0.0)) - land.height(pose.position);
        let bank = self.ground.bank(pose, wheelbase, width);
        (-atan(rise / wheelbase), atan(bank / width))
    }

    /// Height of the ground at a place, m; 0 without terrain.
    pub(super) fn height(&self, place: DVec2) -> f64 {
        self.ground
            .terrain()
            .map_or(0.0, |terrain| terrain.height(place))
    }

    /// Fills in the points of an agent's path, and the fields of its row that refer to them.
    /// Returns the number of points.
    fn fill_path(
        &self,
        agent: AgentIndex,
        wanted: &PathNeeds,
        kept: &mut KeptPath,
        input: &mut NeedsInput,
        points: &mut [PathPoint],
    ) -> usize {
        let progress = self.progress(agent);
        let is_on_lane = self.position(agent).is_on_lane();
        let part = if is_on_lane {
            0
        } else {
            u64::from(progress.reached) + 1
        };
        input.route_version = self
            .routes
            .hash_of(progress.route)
            .wrapping_add(part.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let spacing = wanted.spacing;
        let Some((path_s, mut course)) = self.course(agent, input, spacing) else {
            return 0;
        };
        input.path_s = path_s;
        let count = wanted.points(input.seen.speed).min(points.len());
        let first = (path_s / spacing).floor();
        let keeps = course.keeps_line();
        let mut known = 0;
        if keeps {
            let key = PathKey {
                route_version: input.route_version,
                roads_version: self.routes.roads_version(),
                spacing,
            };
            let old = kept.from(key, first as i64, count);
            known = old.len().min(count);
            points[..known].copy_from_slice(&old[..known]);
        }
        if known < count {
            let at = |number: f64| (first + number) * spacing;
            // Curvature and grade are central differences, over one spacing before and one after a point.
            let begin = known as f64;
            let [mut before, mut here] = match kept.last.filter(|_| keeps) {
                Some(places) => places,
                None => [begin - 1.0, begin].map(|number| course.at(self, at(number))),
            };
            let mut is_fixed = keeps && before.is_fixed && here.is_fixed;
            for (number, point) in points[..count].iter_mut().enumerate().skip(known) {
                let s = at(number as f64);
                let after = course.at(self, at(number as f64 + 1.0));
                *point = PathPoint {
                    s,
                    x: here.position.x,
                    y: here.position.y,
                    z: here.height,
                    heading: wrap_angle(here.heading),
                    curvature: wrap_angle(after.heading - before.heading) / (2.0 * spacing),
                    grade: (after.height - before.height) / (2.0 * spacing),
                    speed: here.speed,
                    left: here.left,
                    right: here.right,
                    lanelet: here.lanelet.number(),
                    flags: here.flags,
                };
                is_fixed &= after.is_fixed;
                if is_fixed {
                    kept.push(*point, [here, after]);
                }
                (before, here) = (here, after);
            }
        }
        let stop = path_s + input.seen.stop_distance;
        let stops = points[..count].iter_mut().rev();
        for point in stops.take_while(|point| point.s >= stop) {
            point.flags |= PATH_STOP;
        }
        count
    }

    /// Finds the path of an agent and its position along it, m; `None` if no path is known.
    fn course(
        &self,
        agent: AgentIndex,
        input: &NeedsInput,
        spacing: f64,
    ) -> Option<(f64, Course<'_>)> {
        let position = self.position(agent);
        if position.is_on_lane() {
            let (s, course) = self.lane_course(agent, input, spacing);
            return Some((s, Course::Lanes(course)));
        }
        let (route, reached) = (self.route(agent), self.progress(agent).reached);
        let half = 0.5 * self.vehicle_type(agent).width;
        if let Some(path) = route.path_to(reached) {
            let margin = route.planned_to(reached).map_or(0.0, |plan| plan.margin);
            let is_reversing = self.is_reversing(agent);
            let course = Course::Path {
                path,
                share: self.open_ground_share(agent),
                room: half + margin,
                flags: if is_reversing { PATH_REVERSE } else { 0 },
            };
            return Some((position.s, course));
        }
        let goal = route.next_goal(reached)?.position(self.ground.graph());
        let pose = self.pose(agent);
        let way = goal - pose.position;
        let distance = way.length();
        let heading = if distance > 0.0 {
            roadwright_geometry::heading_of(way)
        } else {
            pose.heading
        };
        let course = Course::Straight {
            to: Pose {
                position: goal,
                heading,
            },
            speed: input.seen.road_speed,
            room: half,
        };
        Some((-distance, course))
    }

    /// The path of an agent on a lane, and its position along it, m.
    fn lane_course(
        &self,
        agent: AgentIndex,
        input: &NeedsInput,
        spacing: f64,
    ) -> (f64, LaneCourse<'_>) {
        let (route, progress, position) = (
            self.route(agent),
            self.progress(agent),
            self.position(agent),
        );
        let roads = self.routes.roads_of(progress.route, self.ground);
        let number = roads.partition_point(|road| road.last < progress.at);
        let number = number.min(roads.len() - 1);
        let mut road = roads[number];
        // In a bend, adjacent lanes have different lengths.
        let share = road.length / self.ground.length(position.lanelet).max(1e-6);
        let agent_s = road.begin + position.s * share;
        road.first = progress.at;
        let own = Stage {
            road,
            from: agent_s.max(road.begin),
        };
        let mut here = own;
        // The first points may lie on the previous road.
        let behind = (agent_s / spacing).floor() * spacing - spacing;
        if behind < road.begin
            && let Some(before) = number.checked_sub(1)
        {
            let before = roads[before];
            here = Stage::from(Road {
                first: before.last,
                ..before
            });
        }
        let length = (RETURN_TIME * input.seen.speed).max(LEAST_RETURN);
        let course = LaneCourse {
            route,
            here,
            own,
            aside: self.led_to(agent),
            back: Return::new(agent_s, input.seen.lane_offset, length),
            leaving: position.leaving,
        };
        (agent_s, course)
    }

    /// Place on a lane of a road, at position `s` (m) along the path.
    fn on_lane(&self, road: &Road, lanelet: LaneletIndex, s: f64) -> Place {
        let length = self.ground.length(lanelet);
        let own = (s - road.begin) * (length / road.length.max(1e-6));
        let line = self.ground.line(lanelet);
        let mut pose = line.pose(own.clamp(0.0, length));
        if !(0.0..=length).contains(&own) {
            let beyond = own - own.clamp(0.0, length);
            pose.position = pose.point(beyond, 0.0);
        }
        let facts = self.ground.lanelet(lanelet);
        let half = 0.5 * facts.width;
        Place {
            position: pose.position,
            heading: pose.heading,
            height: 0.0,
            speed: self.ground.road_speed(lanelet, own.clamp(0.0, length)),
            left: half,
            right: half,
            lanelet,
            flags: if facts.is_connection() {
                PATH_CONNECTION
            } else {
                0
            },
            is_fixed: road.first == road.last,
        }
    }
}

impl Course<'_> {
    /// Whether the agent follows the centre lines of its lanes.
    fn keeps_line(&self) -> bool {
        matches!(self, Self::Lanes(course) if course.aside == 0.0 && course.back.sinh == 0.0)
    }

    /// Place at position `s` (m) along the path.
    fn at(&mut self, view: &View<'_>, s: f64) -> Place {
        let mut place = match self {
            Self::Lanes(course) => course.at(view, s),
            Self::Path {
                path,
                share,
                room,
                flags,
            } => {
                let line = path.line();
                let length = line.length();
                let mut pose = line.pose(s);
                if !(0.0..=length).contains(&s) {
                    pose.position = pose.point(s - s.clamp(0.0, length), 0.0);
                }
                Place {
                    position: pose.position,
                    heading: pose.heading,
                    height: 0.0,
                    speed: path.speed(s) * *share,
                    left: *room,
                    right: *room,
                    lanelet: NO_LANELET,
                    flags: if s > length {
                        *flags | PATH_END
                    } else {
                        *flags
                    },
                    is_fixed: false,
                }
            }
            Self::Straight { to, speed, room } => Place {
                position: to.point(s, 0.0),
                heading: to.heading,
                height: 0.0,
                speed: *speed,
                left: *room,
                right: *room,
                lanelet: NO_LANELET,
                flags: if s > 0.0 { PATH_END } else { 0 },
                is_fixed: false,
            },
        };
        place.height = view.height(place.position);
        place
    }
}

impl LaneCourse<'_> {
    /// Place at position `s` (m) along the path. Positions must increase from call to call.
    fn at(&mut self, view: &View<'_>, s: f64) -> Place {
        while s > self.here.road.end() && self.goes_on(view) {
            self.enter_next(view);
        }
        let mut place = self.on_road(view, s);
        if self.is_beyond_goal(view, s) {
            place.flags |= PATH_END;
        }
        let (offset, slope) = self.back.at(s);
        let aside = self.aside + offset;
        if aside != 0.0 {
            place.position += aside * unit(place.heading + FRAC_PI_2);
            place.heading += atan(slope);
            place.left -= aside;
            place.right += aside;
        }
        if offset.abs() > ON_LINE && self.leaving != NO_LANELET {
            place.flags |= PATH_LANE_CHANGE;
            let width = view.ground.lanelet(self.leaving).width;
            match offset > 0.0 {
                true => place.left += width,
                false => place.right += width,
            }
        }
        place
    }

    /// Whether the route continues beyond the road.
    fn goes_on(&self, view: &View<'_>) -> bool {
        let (Some(here), Some(next)) = (
            self.route.lanelet(self.here.road.last),
            self.route.lanelet(self.here.road.last + 1),
        ) else {
            return false;
        };
        view.ground.leads_to(here, next)
    }

    fn enter_next(&mut self, view: &View<'_>) {
        let Road { last, .. } = self.here.road;
        let next = (self.route).road(last + 1, self.here.road.end(), view.ground);
        // On its current road, the agent may already have changed lanes.
        self.here = if next.last == self.own.road.last {
            self.own
        } else {
            next.into()
        };
    }

    /// Whether a position along the path (m) lies beyond the destination.
    fn is_beyond_goal(&self, view: &View<'_>, s: f64) -> bool {
        let road = &self.here.road;
        if s > road.end() {
            return true;
        }
        match (self.route.goals.last(), self.route.lanelet(road.last)) {
            (Some(&Goal::Lane { lanelet, s: goal }), Some(last))
                if lanelet == last && self.route.lanelet(road.last + 1).is_none() =>
            {
                let share = road.length / view.ground.length(last).max(1e-6);
                s > road.begin + goal * share
            }
            _ => false,
        }
    }

    /// Place on the current road at position `s` (m) along the path, without the lateral offset.
    fn on_road(&self, view: &View<'_>, s: f64) -> Place {
        let Stage { road, from } = &self.here;
        let lane = |at: u32| self.route.lanelet(at).unwrap_or(NO_LANELET);
        let changes = road.last - road.first;
        if changes == 0 {
            return view.on_lane(road, lane(road.last), s);
        }
        // The rest of the road is divided equally between the lane changes, because their actual
        // places depend on other vehicles.
        let part = (road.end() - from).max(0.0) / f64::from(changes + 1);
        let half = (HALF_OF_CHANGE * view.ground.lanelet(lane(road.first)).free_speed)
            .min(ROOM_FOR_HALF * part)
            .max(0.01);
        let number = ((s - from) / part.max(0.01) - 0.5).floor();
        let number = (number.max(0.0) as u32).min(changes - 1);
        let middle = from + f64::from(number + 1) * part;
        let old = view.on_lane(road, lane(road.first + number), s);
        let share = (s - (middle - half)) / (2.0 * half);
        if share <= 0.0 {
            return old;
        }
        let new = view.on_lane(road, lane(road.first + number + 1), s);
        if share >= 1.0 {
            return new;
        }
        between(&old, &new, share, 2.0 * half)
    }
}

/// Returns the place at the fraction `share` of a lane change that is `length` metres long. The
/// heading is continuous, also where the lane change begins and ends.
fn between(old: &Place, new: &Place, share: f64, length: f64) -> Place {
    let weight = share * share * share * (10.0 - 15.0 * share + 6.0 * share * share);
    let growth = 30.0 * share * share * (1.0 - share) * (1.0 - share) / length;
    let along = old.heading + weight * wrap_angle(new.heading - old.heading);
    let apart = (new.position - old.position).dot(unit(along + FRAC_PI_2));
    // Free width of both lanes, measured from a place between them.
    let (left, right) = match apart > 0.0 {
        true => (
            apart * (1.0 - weight) + new.left,
            weight * apart + old.right,
        ),
        false => (
            old.left - weight * apart,
            new.right - apart * (1.0 - weight),
        ),
    };
    Place {
        position: old.position.lerp(new.position, weight),
        heading: along + atan(growth * apart),
        height: 0.0,
        speed: old.speed.min(new.speed),
        left,
        right,
        lanelet: if weight < 0.5 {
            old.lanelet
        } else {
            new.lanelet
        },
        flags: old.flags | new.flags | PATH_LANE_CHANGE,
        is_fixed: false,
    }
}
