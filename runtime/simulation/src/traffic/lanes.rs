//! Room on lanes: how far vehicles can drive onto a lane, and whether they can complete a lane change.

use super::{Index, LaneEntry, space};
use crate::agents::AgentsRef;
use crate::records::{AgentIndex, LaneSpot};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use roadwright_ground::Ground;
use roadwright_scenario::Connection;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// Distance that a body has to drive in a lane change until it has left its old lane, m.
const DISTANCE_TO_CHANGE: f64 = 10.0;
/// Deceleration of the vehicle ahead that is assumed during a lane change, m/s^2.
const STOPPING: f64 = 2.0;
/// Maximum number of lane changes that are followed in the search for the front of a queue.
const MOST_LANES_BESIDE: usize = 8;

/// Data for computing room on lanes.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) index: &'a Index,
    pub(crate) agents: AgentsRef<'a>,
}

/// The part of a lane that vehicles can reach from its start.
#[derive(Clone, Copy)]
pub(super) struct Tail<'a> {
    /// Maximum distance that entering vehicles can drive along the lane, m.
    pub(super) reach: f64,
    /// Vehicles on this part of the lane, from back to front.
    pub(super) there: &'a [LaneEntry],
    /// Whether this part is the whole lane, because no vehicle is between this lane and another
    /// one.
    pub(super) is_whole: bool,
}

impl<'a> Lanes<'a> {
    /// The part of a lane that entering vehicles can reach. It ends at the rearmost vehicle that is
    /// between this lane and an adjacent one, because that vehicle may have to wait there for
    /// vehicles on the other lane.
    pub(super) fn tail(self, lanelet: LaneletIndex) -> Tail<'a> {
        let all = self.index.on_lanelet(lanelet);
        // Searched from back to front. Entering vehicles may have to stop behind the first vehicle
        // that is between two lanes.
        match all.iter().position(|entry| self.is_between(entry, lanelet)) {
            None => Tail {
                reach: self.queue_end(lanelet),
                there: all,
                is_whole: true,
            },
            Some(place) => Tail {
                reach: self.rear(&all[place]).min(self.queue_end(lanelet)),
                there: &all[..place],
                is_whole: false,
            },
        }
    }

    /// Returns the vehicle at the front of the queue that begins at the start of a lane. It is on an adjacent lane
    /// if a vehicle of the queue has moved there only partly, because that vehicle then follows the queue there.
    pub(super) fn front_of_queue(self, lanelet: LaneletIndex) -> Option<AgentIndex> {
        let mut lane = lanelet;
        let mut queue = self.index.on_lanelet(lane);
        for _ in 0..MOST_LANES_BESIDE {
            let lane_of = |entry: &LaneEntry| self.agents.position[entry.agent.index()].lanelet;
            let Some(leaving) = queue.iter().find(|entry| lane_of(entry) != lane) else {
                return queue.last().map(|entry| entry.agent);
            };
            lane = lane_of(leaving);
            let all = self.index.on_lanelet(lane);
            let place = all.iter().position(|entry| entry.agent == leaving.agent)?;
            queue = &all[place..];
        }
        None
    }

    /// Position of the first vehicle in a queue, m: the end of the lane or, if it is before the
    /// end, the stop line.
    pub(super) fn queue_end(self, lanelet: LaneletIndex) -> f64 {
        self.ground.length(lanelet) - self.line_before_end(lanelet)
    }

    /// Distance between the end of a lane and the stop lines of the connections beyond it, m; 0 for
    /// most lanes.
    pub(super) fn line_before_end(self, lanelet: LaneletIndex) -> f64 {
        let connections = self.ground.successors(lanelet).iter();
        let lines = connections.filter_map(|&connection| {
            let Connection {
                junction,
                number: path,
            } = self.ground.contested(connection)?;
            let has_buses = self.types.sets_lines_back;
            Some(self.ground.setback(junction, path, has_buses))
        });
        lines.fold(0.0, f64::max)
    }

    /// Whether a vehicle is partly on this lane and partly on another one.
    fn is_between(self, entry: &LaneEntry, lanelet: LaneletIndex) -> bool {
        let position = &self.agents.position[entry.agent.index()];
        // The vehicle is changing from this lane or to it.
        position.lanelet != lanelet || position.leaving != NO_LANELET
    }

    /// Whether a vehicle at the given position on a lane can drive far enough to complete a change
    /// to the adjacent lane, even if the vehicle ahead of it stops. The change has to be complete
    /// within `room` metres in any case. If the vehicle stopped between two lanes, it would block
    /// both of them, and possibly even the vehicles that it waits for.
    pub(crate) fn has_room_to_get_over(self, agent: AgentIndex, spot: LaneSpot, room: f64) -> bool {
        let LaneSpot { lanelet, s } = spot;
        let mut others = self.index.on_lanelet(lanelet).iter();
        let Some(leader) = others.find(|entry| entry.agent != agent && entry.s > s) else {
            return true;
        };
        let gap = self.rear(leader) - (s + self.vehicle_type(agent).front);
        let speed = self.agents.motion[leader.agent.index()].speed.max(0.0);
        // If the vehicle ahead stops, it still covers its braking distance. This distance is
        // available as well.
        gap + speed * speed / (2.0 * STOPPING) >= DISTANCE_TO_CHANGE.min(room)
    }

    /// Queue length taken up by a vehicle, including the gap, m.
    pub(super) fn space(self, agent: AgentIndex) -> f64 {
        space(self.vehicle_type(agent))
    }

    /// Position of a vehicle's rear along its lane, m.
    pub(super) fn rear(self, entry: &LaneEntry) -> f64 {
        entry.s - self.vehicle_type(entry.agent).rear_overhang
    }

    fn vehicle_type(self, agent: AgentIndex) -> &'a VehicleType {
        let number = self.agents.identity[agent.index()].vehicle_type;
        self.types.get(number)
    }
}

#[cfg(test)]
mod tests {
    use super::Lanes;
    use crate::records::LaneSpot;
    use crate::testing::Stand;
    use roadwright_scenario::lane_graph::LaneletIndex;

    fn lanes(stand: &Stand) -> Lanes<'_> {
        Lanes {
            ground: &stand.ground,
            types: &stand.types,
            index: &stand.index,
            agents: stand.agents.lent(),
        }
    }

    /// Creates a road of 300 m. Returns it with its two lanes, from the right.
    fn road() -> (Stand, Vec<LaneletIndex>) {
        let stand = Stand::on(&[((0.0, 0.0), (300.0, 0.0), 2, 0)]);
        let lanes = stand.lanes_from_the_right();
        (stand, lanes)
    }

    #[test]
    fn who_comes_onto_a_lane_gets_up_to_the_hindmost_one_that_is_between_two() {
        let (mut stand, right_and_left) = road();
        let [right, left] = right_and_left[..] else {
            panic!("there are two lanes");
        };
        for (id, s) in [(1, 20.0), (2, 60.0), (3, 100.0)] {
            stand.car(id, &[right], s, 0.0);
        }
        stand.look();
        let tail = lanes(&stand).tail(right);
        assert_eq!((tail.reach, tail.there.len()), (300.0, 3));
        // The second vehicle has begun to change to the left lane and has stopped.
        stand.agents.position[1].lanelet = left;
        stand.agents.position[1].leaving = right;
        stand.look();
        let rear = 60.0
            - lanes(&stand)
                .vehicle_type(crate::records::AgentIndex::new(1))
                .rear_overhang;
        let (old, new) = (lanes(&stand).tail(right), lanes(&stand).tail(left));
        assert_eq!((old.reach, old.there.len()), (rear, 1));
        assert_eq!((new.reach, new.there.len()), (rear, 0));
    }

    #[test]
    fn a_queue_is_followed_to_its_front_past_vehicles_between_two_lanes() {
        let (mut stand, right_and_left) = road();
        let [right, left] = right_and_left[..] else {
            panic!("there are two lanes");
        };
        for (id, s) in [(1, 20.0), (2, 60.0), (3, 100.0)] {
            stand.car(id, &[right], s, 0.0);
        }
        for (id, s) in [(4, 40.0), (5, 90.0)] {
            stand.car(id, &[left], s, 0.0);
        }
        let fronts = |stand: &mut Stand| {
            stand.look();
            [right, left].map(|lane| {
                let front = lanes(stand).front_of_queue(lane);
                front.map(|agent| stand.agents.identity[agent.index()].id)
            })
        };
        assert_eq!(fronts(&mut stand), [Some(3), Some(5)]);
        // The second vehicle has moved partly onto the left lane, so it waits for the fifth one.
        stand.agents.position[1].lanelet = left;
        stand.agents.position[1].leaving = right;
        assert_eq!(fronts(&mut stand), [Some(5), Some(5)]);
        // A vehicle that has come from the left lane is part of the queue on the right one.
        stand.agents.position[1].lanelet = right;
        stand.agents.position[1].leaving = left;
        assert_eq!(fronts(&mut stand), [Some(3), Some(3)]);
    }

    #[test]
    fn who_stands_close_behind_another_one_has_no_way_over() {
        // (gap ahead, m; speed of the vehicle ahead, m/s; room, m; whether the vehicle can change
        // lanes)
        let cases = [
            (2.0, 0.0, 100.0, false),
            (9.9, 0.0, 100.0, false),
            (10.1, 0.0, 100.0, true),
            // The vehicle ahead drives at least v^2 / 4 before it stops.
            (2.0, 5.0, 100.0, false),
            (2.0, 6.0, 100.0, true),
            // The lane ends earlier.
            (6.0, 0.0, 5.0, true),
        ];
        for (gap, speed, room, expected) in cases {
            let (mut stand, right_and_left) = road();
            let right = right_and_left[0];
            let own = stand.car(1, &[right], 100.0, 0.0);
            let kind = lanes(&stand).vehicle_type(own);
            let s = 100.0 + kind.front + gap + kind.rear_overhang;
            stand.car(2, &[right], s, speed);
            stand.look();
            let found = lanes(&stand).has_room_to_get_over(
                own,
                LaneSpot {
                    lanelet: right,
                    s: 100.0,
                },
                room,
            );
            assert_eq!(found, expected, "{gap} m, {speed} m/s, {room} m");
        }
    }
}
