//! Gaps in the traffic of a road that an agent crosses or joins from open ground.
//!
//! ```text
//!      open ground |      lane      |      lane      |
//!    [agent]--->---|---->-----------|---->-----------|---> path
//!                  ^ stops here until no vehicle on either lane arrives while it crosses
//! ```
//!
//! Decisions are not stored: an agent that rolls up to the road decides anew in every step, and an agent
//! whose front is on the road drives on.

use super::View;
use crate::records::AgentIndex;
use crate::route::GroundPath;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::lane_graph::LaneletIndex;
use std::collections::BTreeMap;

/// Distance between the points of the path that are examined, m.
const STEP: f64 = 1.0;
/// Deceleration for stopping before a road, m/s^2.
const BRAKING: f64 = 1.5;
/// Margin added to the braking distance, m.
const ROOM: f64 = 8.0;
/// Distance between the vehicle's front and the nearest lane when the vehicle waits, m.
const BEFORE_LANE: f64 = 1.0;
/// Maximum length of a path on roads that is examined, m.
const LONGEST: f64 = 40.0;
/// Margin for crossing lanes one by one, m. Lanes are crossed one by one if the distance between them exceeds
/// the length of the vehicle by more than this margin.
const APART: f64 = 2.0;
/// Acceleration (m/s^2) and speed (m/s) with which the agent is expected to cross.
const CROSSING: (f64, f64) = (1.2, 5.0);
/// Minimum time between the agent and the next vehicle, which passes after the agent, s.
const AFTER: f64 = 1.5;
/// Minimum time between the agent and the last vehicle that passes before it, s.
const BEFORE: f64 = 0.5;
/// Time that a vehicle needs to adapt to an agent that has joined the lane ahead of it, s.
const ADAPTING: f64 = 4.0;
/// Acceleration that is expected of vehicles on lanes, m/s^2.
const THEIRS: f64 = 2.0;
/// Factor by which vehicles on lanes may exceed the free speed.
const EXCESS: f64 = 1.1;
/// Standing time after which a vehicle before the crossing is no longer expected to start, s.
const WAITS: f64 = 5.0;
/// Time ahead for which vehicles on lanes are considered, s. Lanes are followed back for this time
/// at their free speed.
const HORIZON: f64 = 14.0;
/// Angle to a lane below which an agent counts as joining or leaving the lane rather than crossing it, rad.
const ALONG: f64 = 0.6;
/// Margin along a lane on each side of the agent's path, in addition to half the width of the agent, m.
const BESIDE: f64 = 1.0;

/// Part of the path that crosses or joins one lane.
#[derive(Debug, Clone, Copy)]
struct Strip {
    /// Distances from the agent's front at which the path enters and leaves the lane, m.
    from: f64,
    to: f64,
    /// Range of positions along the lane that the path covers, m.
    low: f64,
    high: f64,
    /// Whether the path ends along the lane.
    is_joined: bool,
}

/// Time interval in which the agent is on a lane, in seconds from now.
#[derive(Debug, Clone, Copy)]
struct Window {
    from: f64,
    to: f64,
}

impl View<'_> {
    /// Whether an agent on a planned path waits for a gap in the traffic of a road.
    pub(crate) fn waits_for_gap(&self, agent: AgentIndex) -> bool {
        let (route, reached) = (self.route(agent), self.progress(agent).reached);
        let planned = route.planned_to(reached);
        planned.is_some_and(|planned| self.wait_before_road(agent, &planned.path).is_some())
    }

    /// Returns the distance from the front of an agent on a planned path to the place where it has
    /// to wait for a gap before a road, m; `None` if it may drive on.
    pub(super) fn wait_before_road(&self, agent: AgentIndex, path: &GroundPath) -> Option<f64> {
        if self.ground.graph().lanelets().is_empty() || path.is_reversing() {
            return None;
        }
        let (entry, strips) = self.strips_ahead(agent, path)?;
        let kind = self.vehicle_type(agent);
        let speed = self.motion(agent).speed.max(0.0);
        let is_blocked = strips.iter().any(|(&lanelet, strip)| {
            let from = time_for(strip.from.max(0.0), speed);
            let window = Window {
                from,
                to: match strip.is_joined {
                    true => from + ADAPTING,
                    false => time_for(strip.to + kind.whole_length, speed),
                },
            };
            self.has_traffic(agent, lanelet, *strip, window)
        });
        is_blocked.then_some((entry - BEFORE_LANE).max(0.0))
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
        let speed = self.motion(agent).speed.max(0.0);
        let reach = speed * speed / (2.0 * BRAKING) + ROOM;
        let beside = 0.5 * kind.width;
        let covering = |distance: f64| {
            let s = position.s + kind.front + distance;
            let pose = match s <= line.length() {
                true => line.pose(s),
                false => {
                    let end = line.pose(line.length());
                    Pose {
                        position: end.point(s - line.length(), 0.0),
                        ..end
                    }
                }
            };
            let finder = self.ground.finder();
            let spots = finder.covering(self.ground.graph(), pose.position, beside);
            (pose, spots)
        };
        // A vehicle that leaves its own lane may still wait before it crosses the others.
        let (_, under) = covering(-kind.front.min(1.0));
        let heading = self.pose(agent).heading;
        let is_along = |&(id, s): &(LaneletIndex, f64), heading: f64| {
            wrap_angle(heading - self.ground.line(id).heading(s)).abs() < ALONG
        };
        let here: Vec<(LaneletIndex, f64)> = under.iter().map(|spot| (spot.0, spot.1)).collect();
        if here.iter().any(|spot| !is_along(spot, heading)) {
            return None;
        }
        let own: Vec<LaneletIndex> = here.iter().map(|spot| spot.0).collect();
        let end = (line.length() - position.s - kind.front).min(reach + LONGEST);
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
                strip.is_joined = is_along(&(lanelet, s), pose.heading);
            }
            distance += STEP;
        }
        // If its front is already on the road, the agent drives on.
        let entry = entry.filter(|entry| *entry > 0.0 || !own.is_empty())?;
        Some((entry, strips))
    }

    /// Whether a vehicle on the lane of a strip, or on its way there, is at the strip within a time window.
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
            // Every vehicle behind the place where the agent joins has to brake.
            true => (strip.low - half, strip.low + half),
            false => (strip.low - half, strip.high + half),
        };
        let horizon = HORIZON * graph.lanelet(lanelet).free_speed;
        // Lanelets, each with the distance from its start to the start of the strip's lanelet, m.
        let mut open = vec![(lanelet, 0.0)];
        let mut seen = vec![lanelet];
        while let Some((id, before)) = open.pop() {
            let comes = self.index.on_lanelet(id).iter().any(|entry| {
                entry.agent != agent && {
                    let place = entry.s - before;
                    self.is_there(entry.agent, low - place, high - place, window)
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

/// Returns the time that the agent takes to cover a distance, s. `distance` is in m, the initial
/// `speed` in m/s.
fn time_for(distance: f64, speed: f64) -> f64 {
    let (acceleration, most) = CROSSING;
    time_of(distance, speed, acceleration, most.max(speed))
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

    #[test]
    fn times_follow_from_acceleration_and_top_speed() {
        // From rest with 1.2 m/s^2: 2.4 m in 2 s, 5 m/s after 10.4 m.
        assert!((time_for(2.4, 0.0) - 2.0).abs() < 1e-12);
        assert!((time_for(20.0, 5.0) - 4.0).abs() < 1e-12);
        assert!((time_for(24.0, 8.0) - 3.0).abs() < 1e-12);
        assert_eq!(arrival(-1.0, 10.0, 10.0), 0.0);
        assert!((arrival(100.0, 10.0, 10.0) - 10.0).abs() < 1e-12);
        let ramp = 100.0 / (2.0 * THEIRS);
        assert!((arrival(ramp + 10.0, 0.0, 10.0) - 6.0).abs() < 1e-12);
    }
}
