//! Gap acceptance of agents that cross or join a road from open ground.
//!
//! ```text
//!      open ground |      lane      |      lane      |
//!    [agent]--->---|---->-----------|---->-----------|---> path
//!                  ^ stops here until no vehicle on either lane arrives while it crosses
//! ```
//!
//! Decisions are not stored. An agent that approaches the road decides anew in every step, and an
//! agent whose front is on the road drives on. In reverse, for example out of a parking bay, its
//! rear leads.

use super::View;
use super::open_ground::beyond;
use crate::records::AgentIndex;
use crate::route::GroundPath;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_ground::OBSTACLE_REACH;
use roadwright_scenario::lane_graph::LaneletIndex;
use std::collections::BTreeMap;

/// Distance between the points of the path that are examined, m.
const STEP: f64 = 1.0;
/// Deceleration for stopping before a road, m/s^2.
const BRAKING: f64 = 1.5;
/// Margin in addition to the braking distance, m.
const ROOM: f64 = 8.0;
/// Distance between the vehicle's front and the nearest lane when the vehicle waits, m.
const BEFORE_LANE: f64 = 1.0;
/// Maximum length of the path on roads that is examined, m.
const LONGEST: f64 = 40.0;
/// Margin for crossing lanes one at a time, m. If the distance between two lanes exceeds the length
/// of the vehicle by more than this margin, they are crossed separately.
const APART: f64 = 2.0;
/// Acceleration (m/s^2) and top speed (m/s) that the agent is expected to reach while crossing.
const CROSSING: (f64, f64) = (1.2, 5.0);
/// Minimum speed that is assumed along a path, m/s. The planned speed may fall to 0 at the end.
const SLOWEST: f64 = 0.3;
/// Time that an agent needs to change gear and to turn its wheels, s.
const CHANGING: f64 = 3.0;
/// Minimum time between the agent and the first vehicle that passes after it, s.
const AFTER: f64 = 1.5;
/// Minimum time between the agent and the last vehicle that passes before it, s.
const BEFORE: f64 = 0.5;
/// Time that a vehicle needs to adapt to an agent that has joined the lane ahead of it, s.
const ADAPTING: f64 = 4.0;
/// Acceleration that vehicles on lanes are expected to reach, m/s^2.
const THEIRS: f64 = 2.0;
/// Vehicles on lanes are expected to drive at up to this multiple of the free speed.
const EXCESS: f64 = 1.1;
/// Vehicles on lanes are expected to brake for a manoeuvring agent with this deceleration, m/s^2.
const YIELDING: f64 = 4.5;
/// Vehicles on lanes stop at this distance from a manoeuvring agent, m.
const BEFORE_AGENT: f64 = 2.0;
/// Corner radius of a manoeuvring vehicle, m.
const CORNER: f64 = 0.3;
/// A vehicle before the crossing that has been stationary for this time is no longer expected to
/// start, s.
const WAITS: f64 = 5.0;
/// Vehicles on lanes are considered for this time ahead, s. Lanes are searched backwards for the
/// distance that is driven in this time at their free speed.
const HORIZON: f64 = 14.0;
/// If the angle between an agent and a lane is smaller than this, the agent counts as joining or
/// leaving the lane, and not as crossing it, rad.
const ALONG: f64 = 0.6;
/// Margin along a lane on each side of the agent's path, in addition to half the width of the agent, m.
const BESIDE: f64 = 1.0;

/// The part of the path on which the agent crosses or joins one lane.
#[derive(Debug, Clone, Copy)]
struct Strip {
    /// Distances from the agent's front at which the path enters the lane (`from`) and leaves it
    /// (`to`), m.
    from: f64,
    to: f64,
    /// Range of positions along the lane that the path covers, from `low` to `high`, m.
    low: f64,
    high: f64,
    /// Whether the agent is aligned with the lane at the end of this part and joins it.
    is_joined: bool,
}

/// The leading end of a vehicle on its path: its front or, in reverse, the rear of its last
/// trailer.
#[derive(Debug, Clone, Copy)]
struct EndAhead {
    /// Distance from the rear axle, m.
    distance: f64,
    /// Speed in the direction of the path, m/s.
    speed: f64,
}

/// An agent on its path, for computing how long it takes to cover a distance.
#[derive(Debug, Clone, Copy)]
struct Crossing<'a> {
    path: &'a GroundPath,
    /// Position along the path, m.
    s: f64,
    /// Speed along the path, m/s.
    speed: f64,
}

impl Crossing<'_> {
    /// Shortest time to cover a distance from the agent's position, s.
    fn shortest_time_for(self, distance: f64) -> f64 {
        let (acceleration, most) = CROSSING;
        time_of(distance, self.speed, acceleration, most.max(self.speed))
    }

    /// Time to cover a distance from the agent's position, s. The agent accelerates up to the
    /// speeds of its path. If the path ends slowly, for example at a gear change, the time to drive
    /// on from its end is added.
    fn time_for(self, distance: f64) -> f64 {
        let (acceleration, most) = CROSSING;
        let length = self.path.line().length();
        let end = self.s + distance;
        let (mut time, mut s, mut speed) = (0.0, self.s, self.speed);
        while s < end.min(length) {
            let step = STEP.min(end.min(length) - s).max(1e-3);
            let limit = self.path.speed(s + step).max(SLOWEST);
            let faster = (speed * speed + 2.0 * acceleration * step).sqrt();
            let next = faster.min(most.max(self.speed)).min(limit);
            time += step / (0.5 * (speed + next)).max(0.5 * SLOWEST);
            (s, speed) = (s + step, next);
        }
        match end > length {
            true if self.path.speed(length) < 2.0 * SLOWEST => {
                time + CHANGING + time_of(end - s, 0.0, acceleration, most)
            }
            true => time + time_of(end - s, speed, acceleration, most.max(speed)),
            false => time,
        }
    }
}

/// Time interval in which the agent is on a lane, in seconds from now.
#[derive(Debug, Clone, Copy)]
struct Window {
    from: f64,
    /// Time at which the agent reaches the lane if it keeps to the speeds of its path, even if they
    /// are low.
    entered: f64,
    to: f64,
}

impl View<'_> {
    /// Whether an agent on a planned path waits for a gap in the traffic of a road.
    pub(crate) fn waits_for_gap(&self, agent: AgentIndex) -> bool {
        let (route, reached) = (self.route(agent), self.progress(agent).reached);
        let planned = route.planned_to(reached);
        planned.is_some_and(|planned| self.wait_before_road(agent, &planned.path).is_some())
    }

    /// Distance from the front of an agent on a planned path to the place where it has to wait for
    /// a gap before a road, m; `None` if it may drive on.
    pub(super) fn wait_before_road(&self, agent: AgentIndex, path: &GroundPath) -> Option<f64> {
        if self.ground.graph().lanelets().is_empty() {
            return None;
        }
        let (entry, strips) = self.strips_ahead(agent, path)?;
        let kind = self.vehicle_type(agent);
        let crossing = Crossing {
            path,
            s: self.position(agent).s,
            speed: self.end_ahead(agent, path).speed,
        };
        let is_blocked = strips.iter().any(|(&lanelet, strip)| {
            let from = crossing.shortest_time_for(strip.from.max(0.0));
            let window = Window {
                from,
                entered: crossing.time_for(strip.from.max(0.0)),
                to: match strip.is_joined {
                    true => from + ADAPTING,
                    false => crossing.time_for(strip.to + kind.whole_length),
                },
            };
            self.has_traffic(agent, lanelet, *strip, window)
        });
        is_blocked.then_some((entry - BEFORE_LANE).max(0.0))
    }

    /// Whether an agent is in the middle of a manoeuvre, such as parking. On the sharp bends of a
    /// manoeuvre, the agent's front does not follow the line of its rear axle. Because the agent is
    /// slow, it enters the road as soon as other vehicles can brake.
    fn is_manoeuvring(&self, agent: AgentIndex) -> bool {
        let reached = self.progress(agent).reached;
        self.route(agent).exact_to(reached).is_some()
    }

    /// Leading end of an agent on a path.
    fn end_ahead(&self, agent: AgentIndex, path: &GroundPath) -> EndAhead {
        let (kind, speed) = (self.vehicle_type(agent), self.motion(agent).speed);
        match path.is_reversing() {
            true => EndAhead {
                distance: kind.whole_length - kind.front,
                speed: (-speed).max(0.0),
            },
            false => EndAhead {
                distance: kind.front,
                speed: speed.max(0.0),
            },
        }
    }

    /// Returns the next lanes that an agent crosses on its path without stopping in between, and
    /// the distance from the agent's front to the first of them, m. `None` if there are none within
    /// its braking distance, or if the agent is already on them.
    fn strips_ahead(
        &self,
        agent: AgentIndex,
        path: &GroundPath,
    ) -> Option<(f64, BTreeMap<LaneletIndex, Strip>)> {
        let (line, position) = (path.line(), self.position(agent));
        let kind = self.vehicle_type(agent);
        let EndAhead {
            distance: lead,
            speed,
        } = self.end_ahead(agent, path);
        let reach = speed * speed / (2.0 * BRAKING) + ROOM;
        let is_exact = self.is_manoeuvring(agent);
        let (finder, graph) = (self.ground.finder(), self.ground.graph());
        let under_corners = |axle: Pose, ahead: f64| {
            let corners = [1.0, -1.0].map(|side| {
                let across = side * (0.5 * kind.width - CORNER);
                finder.covering(graph, axle.point(ahead, across), CORNER)
            });
            let mut spots = corners.concat();
            spots.sort_by_key(|spot| spot.0);
            spots.dedup_by_key(|spot| spot.0);
            spots
        };
        let covering = |distance: f64| {
            let pose = beyond(line, position.s + lead + distance);
            let spots = match is_exact {
                true => under_corners(beyond(line, position.s + distance), lead - CORNER),
                false => finder.covering(graph, pose.position, 0.5 * kind.width),
            };
            (pose, spots)
        };
        // A vehicle that leaves its own lane may still wait before it crosses other lanes.
        let under = match is_exact {
            // If any end of the vehicle is on the road, other vehicles already stop for it.
            true => {
                let axle = self.pose(agent);
                let rear = kind.whole_length - kind.front;
                let ends = [kind.front - CORNER, CORNER - rear];
                ends.map(|end| under_corners(axle, end)).concat()
            }
            false => covering(-lead.min(1.0)).1,
        };
        let heading = self.pose(agent).heading;
        let is_along = |&(id, s): &(LaneletIndex, f64), heading: f64| {
            wrap_angle(heading - self.ground.line(id).heading(s)).abs() < ALONG
        };
        let here: Vec<(LaneletIndex, f64)> = under.iter().map(|spot| (spot.0, spot.1)).collect();
        if here.iter().any(|spot| !is_along(spot, heading)) {
            return None;
        }
        let own: Vec<LaneletIndex> = here.iter().map(|spot| spot.0).collect();
        let is_reversing = path.is_reversing();
        // The front is on the line of the rear axle, or ahead of the axle by its distance on the
        // vehicle.
        let beyond_axle = if is_exact { 0.0 } else { lead };
        let end = (line.length() - position.s - beyond_axle).min(reach + LONGEST);
        let mut entry: Option<f64> = None;
        let mut last = 0.0;
        let mut strips: BTreeMap<LaneletIndex, Strip> = BTreeMap::new();
        let mut distance = 0.0;
        while distance <= end {
            let (pose, spots) = covering(distance);
            let is_over = entry.is_some() && distance - last > kind.length + APART;
            if is_over || entry.is_none() && distance > reach {
                break;
            }
            for (lanelet, s, _) in spots {
                if own.contains(&lanelet) {
                    continue;
                }
                entry = entry.or(Some(distance));
                last = distance;
                let strip = strips.entry(lanelet).or_insert(Strip {
                    from: distance,
                    to: distance,
                    low: s,
                    high: s,
                    is_joined: false,
                });
                strip.to = distance + STEP;
                (strip.low, strip.high) = (strip.low.min(s), strip.high.max(s));
                strip.is_joined = !is_reversing && is_along(&(lanelet, s), pose.heading);
            }
            distance += STEP;
        }
        // If its front is already on the road, the agent drives on.
        let entry = entry.filter(|entry| *entry > 0.0 || !own.is_empty())?;
        Some((entry, strips))
    }

    /// Whether a vehicle that is on the lane of a strip, or will get there, occupies the strip
    /// within a time window.
    fn has_traffic(
        &self,
        agent: AgentIndex,
        lanelet: LaneletIndex,
        strip: Strip,
        window: Window,
    ) -> bool {
        let graph = self.ground.graph();
        let half = 0.5 * self.vehicle_type(agent).width + BESIDE;
        let (low, high) = match strip.is_joined {
            // Every vehicle that is behind the point where the agent joins the lane has to brake.
            true => (strip.low - half, strip.low + half),
            false => (strip.low - half, strip.high + half),
        };
        let yields = self.is_manoeuvring(agent).then_some(window.entered);
        let horizon = HORIZON * graph.lanelet(lanelet).free_speed;
        // Lanelets to search, each with the distance from its start to the start of the strip's
        // lanelet, m.
        let mut open = vec![(lanelet, 0.0)];
        let mut seen = vec![lanelet];
        while let Some((id, before)) = open.pop() {
            let comes = self.index.on_lanelet(id).iter().any(|entry| {
                entry.agent != agent && {
                    let place = entry.s - before;
                    let can_yield =
                        yields.is_some_and(|time| self.can_yield(entry.agent, low - place, time));
                    !can_yield && self.is_there(entry.agent, low - place, high - place, window)
                }
            });
            if comes {
                return true;
            }
            for &previous in graph.predecessors(id) {
                let length = before + graph.lanelet(previous).length();
                if length - graph.lanelet(previous).length() < horizon && !seen.contains(&previous)
                {
                    seen.push(previous);
                    open.push((previous, length));
                }
            }
        }
        false
    }

    /// Whether a vehicle on a lane can brake in time for an agent that will be on the lane in
    /// `time` seconds. `begin` is the distance from the vehicle's rear axle to the agent's strip,
    /// m.
    fn can_yield(&self, other: AgentIndex, begin: f64, time: f64) -> bool {
        let position = self.position(other);
        if !position.is_on_lane() {
            return false;
        }
        let speed = self.motion(other).speed.max(0.0);
        let limit = self.ground.lanelet(position.lanelet).free_speed * EXCESS;
        let speed = speed.max(limit);
        // Distance at which the vehicle has to notice the agent.
        let needed = speed * speed / (2.0 * YIELDING) + BEFORE_AGENT;
        needed <= OBSTACLE_REACH
            && begin - self.vehicle_type(other).front - speed * time > OBSTACLE_REACH
    }

    /// Whether a vehicle on a lane covers part of the lane within a time window. `begin` and `end`
    /// are the distances from the vehicle's rear axle to the ends of that part, m.
    fn is_there(&self, other: AgentIndex, begin: f64, end: f64, window: Window) -> bool {
        let kind = self.vehicle_type(other);
        let speed = self.motion(other).speed.max(0.0);
        // The vehicle's rear has passed the strip.
        if end + kind.rear_overhang <= 0.0 {
            return false;
        }
        let is_before = begin - kind.front > 0.0;
        if is_before && self.progress(other).standing > WAITS {
            return false;
        }
        let position = self.position(other);
        let limit = match position.is_on_lane() {
            true => self.ground.lanelet(position.lanelet).free_speed * EXCESS,
            // The vehicle has left its lane in this step, after vehicles were indexed.
            false => speed,
        };
        let arrives = arrival(begin - kind.front, speed, limit.max(speed));
        if arrives > window.to + AFTER {
            return false;
        }
        let passed = (end + kind.rear_overhang) / speed.max(0.1);
        passed > window.from - BEFORE
    }
}

/// Shortest time in which a vehicle on a lane can cover a distance, s. `distance` is in m, `speed` and the
/// speed limit `limit` are in m/s.
fn arrival(distance: f64, speed: f64, limit: f64) -> f64 {
    if distance <= 0.0 {
        return 0.0;
    }
    time_of(distance, speed, THEIRS, limit)
}

/// Returns the time to cover a distance with an acceleration up to a top speed, s. The top speed
/// must not be below the initial speed.
fn time_of(distance: f64, speed: f64, acceleration: f64, top: f64) -> f64 {
    let ramp = (top * top - speed * speed) / (2.0 * acceleration);
    if distance <= ramp {
        return ((speed * speed + 2.0 * acceleration * distance).sqrt() - speed) / acceleration;
    }
    (top - speed) / acceleration + (distance - ramp) / top.max(0.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Waypoint;

    /// Creates a straight path of 20 m. Its speed is the same everywhere except at its end, m/s.
    fn straight(speed: f64, at_end: f64) -> GroundPath {
        let waypoint = |number: u32| Waypoint {
            pose: Pose::new(f64::from(number), 0.0, 0.0),
            speed: if number < 20 { speed } else { at_end },
            gear: 1,
        };
        (0..=20).map(waypoint).collect::<Vec<_>>().into()
    }

    #[test]
    fn times_follow_from_acceleration_and_the_speeds_of_the_path() {
        let time = |path: &GroundPath, speed: f64, distance: f64| {
            let crossing = Crossing {
                path,
                s: 0.0,
                speed,
            };
            crossing.time_for(distance)
        };
        // With 1.2 m/s^2 from rest, the agent covers 2.4 m in 2 s, and reaches 5 m/s after 10.4 m.
        let fast = straight(8.0, 8.0);
        assert!((time(&fast, 0.0, 2.4) - 2.0).abs() < 1e-9);
        assert!((time(&fast, 5.0, 20.0) - 4.0).abs() < 1e-9);
        assert!((time(&fast, 5.0, 40.0) - 8.0).abs() < 1e-9);
        // A path into a bay at 1 m/s, while the vehicle is still faster.
        let slow = straight(1.0, 0.0);
        assert!((10.0..12.0).contains(&time(&slow, 2.0, 11.0)));
        // It stands at the end before it drives on.
        assert!(time(&slow, 1.0, 22.4) > 20.0 + CHANGING + 2.0 - 1e-9);
        assert_eq!(arrival(-1.0, 10.0, 10.0), 0.0);
        assert!((arrival(100.0, 10.0, 10.0) - 10.0).abs() < 1e-12);
        let ramp = 100.0 / (2.0 * THEIRS);
        assert!((arrival(ramp + 10.0, 0.0, 10.0) - 6.0).abs() < 1e-12);
    }
}
