//! Agents that have not been spawned yet: their starts and goals, and the check for room at the
//! start.

use crate::dynamics::Bodies;
use crate::options::SimulationError;
use crate::records::{AgentIndex, FARTHEST};
use crate::route::Goal;
use crate::traffic::{Claims, Index, Lanes, space};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use roadwright_geometry::Pose;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::Ground;
use roadwright_scenario::alleys::AlleySide;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use roadwright_scenario::{DynamicsLevel, Place, Scenario};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Clearance between a spawned vehicle and other vehicles, m.
const ROOM: f64 = 2.0;
/// A spawned vehicle may force the vehicles behind it to brake with at most this deceleration,
/// m/s^2.
const BRAKING: f64 = 3.0;
/// Minimum distance between the bounding circles of two bodies off the lanes, m.
const APART: f64 = 0.2;
/// Search distance for bodies off the lanes, and for vehicles ahead on lanes, m.
pub(crate) const REACH: f64 = 30.0;
/// The search beyond an alley ends after this many consecutive lanelets without room for a vehicle
/// to stand.
const MOST_WITHOUT_PLACE: usize = 200;
/// Vehicles on the lane that are farther than this behind a spawned vehicle always have room to
/// brake, m.
const SIGHT: f64 = 60.0;

/// An agent that has not been spawned yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Departure {
    pub(crate) id: u64,
    /// Departure time, s.
    pub(crate) time: f64,
    pub(crate) start: Start,
    pub(crate) goals: Vec<Goal>,
    /// Initial speed, m/s.
    pub(crate) speed: f64,
    pub(crate) vehicle_type: u16,
    pub(crate) stack: u16,
    /// Dynamics level of the vehicle, if the scenario sets one for this agent.
    pub(crate) dynamics: Option<DynamicsLevel>,
}

impl Departure {
    /// Whether start and goals are on existing lanelets or at valid places, and all numbers are finite.
    pub(crate) fn is_sound(&self, lanelets: usize) -> bool {
        let start = match self.start {
            Start::Lane { lanelet, s } => (lanelet.index()) < lanelets && s.is_finite(),
            Start::Ground(Pose { position, heading }) => {
                position.abs().max_element() <= FARTHEST && heading.is_finite()
            }
        };
        let mut goals = self.goals.iter();
        start && (self.time + self.speed).is_finite() && goals.all(|goal| goal.is_sound(lanelets))
    }
}

/// Place where an agent is spawned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Start {
    Lane { lanelet: LaneletIndex, s: f64 },
    Ground(Pose),
}

impl Start {
    /// Pose at which the agent is spawned.
    pub(crate) fn pose(&self, ground: &Ground) -> Pose {
        match *self {
            Self::Lane { lanelet, s } => ground.graph().line(lanelet).pose(s),
            Self::Ground(pose) => pose,
        }
    }
}

/// Returns the start and goals of an agent. If any of them is off the lanes, the agent drives on
/// open ground.
pub(crate) fn places(
    scenario: &Scenario,
    ground: &Ground,
    who: &str,
    start: &Place,
    goals: &[Place],
) -> Result<(Start, Vec<Goal>), SimulationError> {
    let missing = |place: &Place| no_such_place(who, place);
    // If a single place is off the lanes, the whole trip leads over open ground, and places on
    // lanes count as points.
    let open = std::iter::once(start)
        .chain(goals)
        .any(|place| matches!(place, Place::Ground(_)));
    let pose = |place: &Place| scenario.pose_of(place).ok_or_else(|| missing(place));
    let locate = |place: &Place| match place {
        Place::Lane(at) => ground.graph().locate(at).ok_or_else(|| missing(place)),
        Place::Ground(_) => Err(missing(place)),
    };
    if open {
        let goals = goals
            .iter()
            .map(|place| Ok(Goal::Ground(pose(place)?.position)));
        return Ok((
            Start::Ground(pose(start)?),
            goals.collect::<Result<_, SimulationError>>()?,
        ));
    }
    let (lanelet, s) = locate(start)?;
    let goals = goals.iter().map(|place| {
        let (lanelet, s) = locate(place)?;
        Ok(Goal::Lane { lanelet, s })
    });
    Ok((
        Start::Lane { lanelet, s },
        goals.collect::<Result<_, SimulationError>>()?,
    ))
}

/// Returns the start and goals of a character, which walks over open ground even between places on
/// lanes.
pub(crate) fn places_on_foot(
    scenario: &Scenario,
    who: &str,
    start: &Place,
    goals: &[Place],
) -> Result<(Start, Vec<Goal>), SimulationError> {
    let pose = |place: &Place| {
        let pose = scenario.pose_of(place);
        pose.ok_or_else(|| no_such_place(who, place))
    };
    let goals = goals
        .iter()
        .map(|place| Ok(Goal::Ground(pose(place)?.position)));
    Ok((
        Start::Ground(pose(start)?),
        goals.collect::<Result<_, SimulationError>>()?,
    ))
}

fn no_such_place(who: &str, place: &Place) -> SimulationError {
    SimulationError::NoSuchPlace {
        who: who.into(),
        place: match place {
            Place::Lane(at) => format!("lane {} of {} at s = {} m", at.lane, at.road, at.s),
            Place::Ground(at) => format!("({}, {})", at.x, at.y),
        },
    }
}

/// Result of the search beyond an alley.
enum Beyond {
    /// An oncoming vehicle in another alley.
    Oncoming,
    /// A place where a vehicle can stand.
    Place,
    /// The search found neither. The value is the length without alleys at the end of the last
    /// lane, m.
    Clear(f64),
}

/// Borrowed parts of the world that decide whether there is room to spawn an agent.
pub(crate) struct Room<'a> {
    pub(crate) bodies: Bodies<'a>,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) index: &'a Index,
    pub(crate) claims: &'a Claims,
    /// Agents admitted in this step, by lanelet; `None` for agents off the lanes.
    pub(crate) appeared: &'a BTreeMap<Option<LaneletIndex>, Vec<AgentIndex>>,
}

impl Room<'_> {
    fn vehicle_type(&self, agent: AgentIndex) -> &VehicleType {
        self.types
            .get(self.bodies.agents.identity[agent.index()].vehicle_type)
    }

    /// Whether the place of a departure is free and no other vehicle would have to brake hard if the agent
    /// were spawned.
    pub(crate) fn is_there(&self, departure: &Departure) -> bool {
        let own_type = self.types.get(departure.vehicle_type);
        if !self.is_clear_of_standing(departure, own_type) {
            return false;
        }
        match departure.start {
            Start::Lane { lanelet, s } => {
                self.has_room_at_seams(lanelet, s, departure.speed, own_type)
                    && self.is_clear_of_turning(lanelet, s, own_type)
                    && self.leaves_what_is_promised(lanelet, own_type)
                    && self.meets_nobody_in_alleys(lanelet, s, own_type)
                    && self
                        .on_lane(lanelet)
                        .all(|agent| self.is_apart_on_lane(agent, s, departure.speed, own_type))
            }
            Start::Ground(pose) => {
                let mut near = Vec::new();
                let place = pose.position;
                self.index.for_each_near(place, REACH, |number, _| {
                    near.push(self.index.body(number).0);
                });
                let appeared = self.appeared.values().flatten().copied();
                near.into_iter()
                    .chain(appeared)
                    .all(|agent| self.is_apart_on_ground(agent, pose, own_type))
            }
        }
    }

    /// Whether no body covers the place of a departure. Bodies on all lanes are checked, because
    /// roads may overlap without a junction. `appeared` are the agents admitted in this step that
    /// may be near. The grid must have been built.
    pub(crate) fn is_clear_of_bodies(
        &self,
        departure: &Departure,
        mut appeared: impl Iterator<Item = AgentIndex>,
    ) -> bool {
        let Start::Lane { lanelet, .. } = departure.start else {
            return true;
        };
        let ground = self.bodies.ground;
        let (layers, pose) = (ground.layers_of(lanelet), departure.start.pose(ground));
        let own = self.types.get(departure.vehicle_type).in_line(pose);
        let is_on_layer = |agent: AgentIndex| {
            let position = &self.bodies.agents.position[agent.index()];
            !position.is_on_lane() || ground.layers_of(position.lanelet) & layers != 0
        };
        let is_clear = |agent: AgentIndex, body: OrientedBox| {
            !is_on_layer(agent) || own.penetration(&body) <= 0.0
        };
        let mut all_clear = true;
        self.index.for_each_near(pose.position, REACH, |number, _| {
            let (agent, part) = self.index.body(number);
            all_clear = all_clear
                && match part.checked_sub(1) {
                    None => is_clear(
                        agent,
                        self.vehicle_type(agent).covered(self.bodies.pose(agent)),
                    ),
                    Some(trailer) => {
                        let boxes = self.bodies.trailer_boxes(agent, self.types);
                        boxes
                            .get(usize::from(trailer))
                            .is_none_or(|&body| is_clear(agent, body))
                    }
                };
        });
        all_clear
            && appeared.all(|agent| {
                let body = self.vehicle_type(agent).in_line(self.bodies.pose(agent));
                is_clear(agent, body)
            })
    }

    /// Whether the place is clear of uncoupled trailers.
    fn is_clear_of_standing(&self, departure: &Departure, own_type: &VehicleType) -> bool {
        let (ground, standing) = (self.bodies.ground, &self.bodies.dynamics.standing);
        if standing.is_empty() {
            return true;
        }
        let pose = departure.start.pose(ground);
        let layers = match departure.start {
            Start::Lane { lanelet, .. } => ground.layers_of(lanelet),
            Start::Ground(_) => u32::MAX,
        };
        let centre = Pose {
            position: pose.point(own_type.hull_circle().0, 0.0),
            ..pose
        };
        let length = own_type.whole_length + 2.0 * APART;
        let hull = OrientedBox::new(centre, length, own_type.width + 2.0 * APART);
        standing.iter().all(|train| {
            let mut bodies = train.bodies(self.types);
            train.layers & layers == 0 || bodies.all(|(_, body)| hull.penetration(&body) <= 0.0)
        })
    }

    /// Returns the vehicles on a lanelet, including those admitted there in this step.
    fn on_lane(&self, lanelet: LaneletIndex) -> impl Iterator<Item = AgentIndex> + '_ {
        let here = self.index.on_lanelet(lanelet).iter();
        let appeared = self.appeared.get(&Some(lanelet)).into_iter().flatten();
        here.map(|entry| entry.agent).chain(appeared.copied())
    }

    /// Whether vehicles that have been admitted to a junction would still find room on the lane
    /// beyond it after another vehicle has been spawned on that lane.
    fn leaves_what_is_promised(&self, lanelet: LaneletIndex, own_type: &VehicleType) -> bool {
        let lanes = Lanes {
            ground: self.bodies.ground,
            types: self.types,
            index: self.index,
            agents: self.bodies.agents,
        };
        let appeared = self.appeared.get(&Some(lanelet)).into_iter().flatten();
        self.claims
            .grants
            .may_appear(lanes, lanelet, appeared.copied(), space(own_type))
    }

    /// Whether a vehicle spawned here cannot meet an oncoming vehicle in an alley, where neither
    /// could give way. The check includes all further alleys up to the next place where a vehicle
    /// can stand.
    fn meets_nobody_in_alleys(&self, lanelet: LaneletIndex, s: f64, own: &VehicleType) -> bool {
        let alleys = self.bodies.ground.alleys();
        let body = (s - own.rear_overhang, s + own.front);
        let mut sides = alleys.on(lanelet).iter().filter(|&&side| {
            let direction = alleys.direction(side);
            let is_heeded = alleys.passing(side).holds_up_any(own.is_long());
            is_heeded && body.1 > direction.from && body.0 < direction.to
        });
        sides.all(|&side| {
            let inside = alleys.direction(side).to;
            self.is_empty_of_oncoming(side, own) && self.meets_nobody_beyond(lanelet, inside, own)
        })
    }

    /// Whether no oncoming vehicle is in the alleys on any route from position `s` (m) on a
    /// lanelet. On each route, the search ends at the first stretch without alleys that is as long
    /// as a vehicle. O(lanelets searched).
    fn meets_nobody_beyond(&self, lanelet: LaneletIndex, s: f64, own: &VehicleType) -> bool {
        let from = (lanelet, s);
        // Lanelets to search, each with the length without alleys directly before it, m.
        let mut ends = vec![(from, 0.0)];
        let mut seen: BTreeMap<LaneletIndex, f64> = BTreeMap::new();
        while let Some(((lanelet, start), clear)) = ends.pop() {
            match self.clear_beyond(lanelet, start, clear, own) {
                Beyond::Oncoming => return false,
                Beyond::Place => {}
                Beyond::Clear(clear) => {
                    for &next in self.bodies.ground.graph().successors(lanelet) {
                        // With a shorter length before it, the search has to continue farther, so
                        // the lanelet is searched again.
                        let least = seen.get(&next).copied().unwrap_or(f64::INFINITY);
                        if clear < least && seen.len() < MOST_WITHOUT_PLACE {
                            seen.insert(next, clear);
                            ends.push(((next, 0.0), clear));
                        }
                    }
                }
            }
        }
        true
    }

    /// Searches a lanelet from position `start` (m) for oncoming vehicles and places to stand.
    /// `clear` is the length without alleys directly before `start`, m.
    fn clear_beyond(
        &self,
        lanelet: LaneletIndex,
        start: f64,
        mut clear: f64,
        own: &VehicleType,
    ) -> Beyond {
        let (ground, space) = (self.bodies.ground, space(own));
        let mut s = start;
        for &side in ground.alleys().on(lanelet) {
            let direction = ground.alleys().direction(side);
            let is_heeded = ground.alleys().passing(side).holds_up_any(own.is_long());
            if direction.from < start || !is_heeded {
                continue;
            }
            // Alleys may be nested.
            clear += (direction.from - s).max(0.0);
            if clear >= space {
                return Beyond::Place;
            }
            if !self.is_empty_of_oncoming(side, own) {
                return Beyond::Oncoming;
            }
            (clear, s) = (0.0, s.max(direction.to));
        }
        if ground.lanelet(lanelet).is_connection() {
            // Vehicles do not stand on connections.
            return Beyond::Clear(0.0);
        }
        clear += ground.length(lanelet) - s;
        if clear >= space {
            Beyond::Place
        } else {
            Beyond::Clear(clear)
        }
    }

    /// Whether an alley is free of oncoming vehicles that this vehicle cannot pass: none holds the
    /// alley, is in it, or has been spawned there in this step.
    fn is_empty_of_oncoming(&self, side: AlleySide, own: &VehicleType) -> bool {
        let other = side.opposite();
        let passing = self.bodies.ground.alleys().passing(other);
        let holds_up = |kind: &VehicleType| passing.holds_up(own.is_long(), kind.is_long());
        let facing = self.bodies.ground.alleys().direction(other);
        // Vehicles that were spawned since junctions were last updated are only in the index.
        let mut there = self.index.on_lanelet(facing.lanelet).iter();
        let is_outside = there.all(|entry| {
            let kind = self.vehicle_type(entry.agent);
            let is_clear =
                entry.s + kind.front <= facing.from || entry.s - kind.rear_overhang >= facing.to;
            is_clear || !holds_up(kind)
        });
        let mut holders = self.claims.alleys.holders(other);
        is_outside
            && !holders.any(|holder| holds_up(self.vehicle_type(holder)))
            && !self.appeared.contains_key(&Some(facing.lanelet))
    }

    /// Whether a departure and another vehicle on the same lane are so far apart that neither has
    /// to brake hard. Positions are in m, speeds in m/s.
    fn is_apart_on_lane(
        &self,
        agent: AgentIndex,
        s: f64,
        own: f64,
        own_type: &VehicleType,
    ) -> bool {
        let other = &self.bodies.agents.position[agent.index()];
        let other_type = self.vehicle_type(agent);
        let ahead = other.s - other_type.rear_overhang - (s + own_type.front);
        let behind = s - own_type.rear_overhang - (other.s + other_type.front);
        let speed = self.bodies.agents.motion[agent.index()].speed;
        // To a vehicle that approaches from behind, the spawned vehicle counts as stationary.
        ahead > needed(own, speed) || behind > needed(speed, 0.0)
    }

    fn is_apart_on_ground(&self, agent: AgentIndex, pose: Pose, own_type: &VehicleType) -> bool {
        let other_type = self.vehicle_type(agent);
        // Trailers of other vehicles are treated as if they were in line with their vehicle.
        let (own, theirs) = (own_type.hull_circle(), other_type.hull_circle());
        let middle = pose.point(own.0, 0.0);
        let other_middle = self.bodies.pose(agent).point(theirs.0, 0.0);
        (middle - other_middle).length() > own.1 + theirs.1 + APART
    }

    /// Whether vehicles on the preceding and following lanelets leave enough room for a departure.
    /// The check of the departure's own lanelet does not see these vehicles.
    fn has_room_at_seams(
        &self,
        lanelet: LaneletIndex,
        s: f64,
        speed: f64,
        own_type: &VehicleType,
    ) -> bool {
        let to_end = self.bodies.ground.length(lanelet) - (s + own_type.front);
        self.is_clear_ahead(lanelet, to_end, speed)
            && self.is_clear_behind(lanelet, s - own_type.rear_overhang)
    }

    /// Whether the place is clear of turning vehicles in adjacent lanes. Long vehicles swing out over other
    /// lanes.
    fn is_clear_of_turning(&self, lanelet: LaneletIndex, s: f64, own_type: &VehicleType) -> bool {
        if s - own_type.rear_overhang > REACH {
            return true;
        }
        let ground = self.bodies.ground;
        let own = own_type.covered(ground.line(lanelet).pose(s));
        let is_clear = |connection: LaneletIndex| {
            self.on_lane(connection).all(|agent| {
                let body = self.vehicle_type(agent).covered(self.bodies.pose(agent));
                own.penetration(&body) <= 0.0
            })
        };
        (0..2).all(|side| {
            let beside = std::iter::successors(Some(lanelet), |&lane| {
                let next = ground.beside(lane)[side];
                (next != NO_LANELET).then_some(next)
            });
            let mut into = beside
                .skip(1)
                .flat_map(|lane| ground.graph().predecessors(lane));
            into.all(|&connection| is_clear(connection))
        })
    }

    /// Whether the lane ahead is free for a vehicle with the given speed, m/s. Each route is
    /// checked up to the first vehicle on it. `to_end` is the distance from the vehicle's front to
    /// the end of the lanelet, m.
    fn is_clear_ahead(&self, lanelet: LaneletIndex, to_end: f64, speed: f64) -> bool {
        let ground = self.bodies.ground;
        let mut connections = ground.graph().successors(lanelet).iter();
        connections.all(|&next| {
            let length = to_end + ground.length(next);
            let mut is_last = length > REACH.max(needed(speed, 0.0));
            let mut all = self.on_lane(next);
            let is_apart = all.all(|agent| {
                is_last = true;
                let s = self.bodies.agents.position[agent.index()].s;
                let other = self.bodies.agents.motion[agent.index()].speed;
                let gap = to_end + s - self.vehicle_type(agent).rear_overhang;
                gap > needed(speed, other)
            });
            is_apart && (is_last || self.is_clear_ahead(next, length, speed))
        })
    }

    /// Whether no vehicle behind would have to brake hard. Each route to the lanelet is checked
    /// back to the first vehicle on it. `to_start` is the distance from the start of the lanelet to
    /// the rear of the spawned vehicle, m.
    fn is_clear_behind(&self, lanelet: LaneletIndex, to_start: f64) -> bool {
        let ground = self.bodies.ground;
        let mut connections = ground.graph().predecessors(lanelet).iter();
        connections.all(|&before| {
            let length = to_start + ground.length(before);
            let mut is_last = length > SIGHT;
            let mut all = self.on_lane(before);
            let is_apart = all.all(|agent| {
                is_last = true;
                let s = self.bodies.agents.position[agent.index()].s;
                let speed = self.bodies.agents.motion[agent.index()].speed;
                let gap = length - s - self.vehicle_type(agent).front;
                gap > needed(speed, 0.0)
            });
            is_apart && (is_last || self.is_clear_behind(before, length))
        })
    }
}

/// Returns the gap that a vehicle at `speed` needs behind another one at speed `other`, m: the
/// clearance plus the braking distance from `speed` to `other`. Both speeds are in m/s.
fn needed(speed: f64, other: f64) -> f64 {
    ROOM + (speed * speed - other * other).max(0.0) / (2.0 * BRAKING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stand;

    /// Whether a car may be spawned on the first or the last of three consecutive roads while another car is
    /// on the road at the other end. The middle road is 3 m long.
    fn may_appear(on_first: bool, s: f64, speed: f64, other_s: f64, other_speed: f64) -> bool {
        let other = (other_s, other_speed);
        let mut stand = Stand::on(&[
            ((0.0, 0.0), (100.0, 0.0), 1, 0),
            ((100.0, 0.0), (103.0, 0.0), 1, 0),
            ((103.0, 0.0), (203.0, 0.0), 1, 0),
        ]);
        let graph = stand.ground.graph();
        let all = graph.indices();
        let ends = |none_before: bool| {
            let is_end = |&id: &LaneletIndex| match none_before {
                true => graph.predecessors(id).is_empty(),
                false => graph.successors(id).is_empty(),
            };
            all.clone().find(is_end).unwrap()
        };
        let (first, last) = (ends(true), ends(false));
        let (own, of_other) = if on_first {
            (first, last)
        } else {
            (last, first)
        };
        stand.car(1, &[of_other], other.0, other.1);
        stand.look();
        let room = Room {
            bodies: Bodies {
                ground: &stand.ground,
                agents: stand.agents.lent(),
                dynamics: &stand.dynamics,
            },
            types: &stand.types,
            index: &stand.index,
            claims: &stand.claims,
            appeared: &BTreeMap::new(),
        };
        room.is_there(&Departure {
            id: 2,
            time: 0.0,
            start: Start::Lane { lanelet: own, s },
            goals: Vec::new(),
            speed,
            vehicle_type: 0,
            stack: 0,
            dynamics: None,
        })
    }

    #[test]
    fn nobody_appears_in_the_rear_of_who_is_beyond_a_short_road() {
        let car = *crate::testing::Stand::crossing().types.get(0);
        // The rear axle of the other car is 1 m beyond the short road. The gap extends from the front of this
        // car to the rear of the other.
        let gap = |s: f64| (104.0 - car.rear_overhang) - (s + car.front);
        let free = 104.0 - car.rear_overhang - car.front - ROOM;
        for (s, fits) in [(free - 0.1, true), (free + 0.1, false), (99.0, false)] {
            assert_eq!(may_appear(true, s, 0.0, 1.0, 0.0), fits, "{} m", gap(s));
        }
    }

    #[test]
    fn nobody_appears_so_fast_that_it_cannot_brake_for_who_is_ahead() {
        let car = *crate::testing::Stand::crossing().types.get(0);
        let free = 104.0 - car.rear_overhang - car.front - ROOM;
        // At 12 m/s, the car needs 24 m to stop and 18 m to slow down to 6 m/s. Behind a car of
        // equal speed, it needs no distance.
        for (speed, needed) in [(0.0, 24.0), (6.0, 18.0), (12.0, 0.0)] {
            for (more, fits) in [(0.1, true), (-0.1, false)] {
                let may = may_appear(true, free - needed - more, 12.0, 1.0, speed);
                assert_eq!(may, fits, "{speed} m/s, {more} m more than needed");
            }
        }
    }

    #[test]
    fn nobody_appears_before_who_comes_beyond_a_short_road() {
        let car = *crate::testing::Stand::crossing().types.get(0);
        // The other car approaches at 6 m/s and needs 6 m to stop.
        let behind = |gap: f64| 103.0 + 2.0 - car.rear_overhang - gap - car.front;
        for (gap, fits) in [(ROOM + 6.1, true), (ROOM + 5.9, false)] {
            assert_eq!(
                may_appear(false, 2.0, 0.0, behind(gap), 6.0),
                fits,
                "{gap} m"
            );
        }
        assert!(
            may_appear(false, 2.0, 0.0, behind(ROOM + 0.1), 0.0),
            "it stands"
        );
    }
}
