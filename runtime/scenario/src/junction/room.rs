//! Where one can wait between two junctions.

use super::Layout;
use crate::ids::RoadId;
use crate::network::RoadNetwork;
use crate::road::RoadEnd;

/// What a car takes that waits at a line, m: its length of 4.5 m, and 2 m behind it.
const ROOM_TO_WAIT: f64 = 6.5;

/// How much road lies before the cut at an end of a road, m: infinite where there is room for every line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoomToWait(f64);

impl RoomToWait {
    /// Whether a car can wait at a line that is set back by so many metres: it takes 6.5 m, its length of
    /// 4.5 m and 2 m behind it. Where none can, signals and signs at the junction behind hold for both
    /// junctions, and there is no line.
    pub fn fits_car(self, setback: f64) -> bool {
        self.0 - setback >= ROOM_TO_WAIT
    }

    /// Whether there is room for every line, however far it is set back.
    pub fn is_ample(self) -> bool {
        self.0.is_infinite()
    }
}

impl Layout {
    /// How much road lies before the cut at an end of a road: up to the junction or the crossing for
    /// people on foot behind, over nodes at which roads only go on. Not looked at farther than a car and
    /// what lines can be set back: ample where the road is longer, comes from a dead end, or is the ring of
    /// a roundabout, in which vehicles may stand anywhere.
    pub fn room_before(&self, network: &RoadNetwork, road: RoadId, end: RoadEnd) -> RoomToWait {
        RoomToWait(self.metres_before(network, road, end))
    }

    fn metres_before(&self, network: &RoadNetwork, road: RoadId, end: RoadEnd) -> f64 {
        let mut room = 0.0;
        let (mut id, mut from) = (road, end);
        // Each round adds a road; short ones in a circle of nodes where roads only go on come to an end by
        // their length.
        while room < FARTHEST {
            let Some(road) = network.road(id) else {
                return f64::INFINITY;
            };
            let Some((start, stop)) = self.remaining(id, road) else {
                return room;
            };
            if self.rings.contains(&id) {
                return f64::INFINITY;
            }
            room += (stop - start).max(LEAST_PIECE);
            let behind = from.opposite();
            let Some(junction) = self.junction_at(road.node_at(behind)) else {
                return f64::INFINITY;
            };
            if junction.is_ruled() {
                return if room < FARTHEST { room } else { f64::INFINITY };
            }
            let is_other = |arm: &&super::ArmEnd| (arm.road, arm.end) != (id, behind);
            match junction.arms.iter().find(is_other) {
                Some(next) if junction.arms.len() == 2 => (id, from) = (next.road, next.end),
                _ => return f64::INFINITY,
            }
        }
        f64::INFINITY
    }
}

/// How far is looked, m: a car and the most that a line is set back, 7 m.
const FARTHEST: f64 = 15.0;
/// Less than a piece of road can be, m: so that looking comes to an end.
const LEAST_PIECE: f64 = 0.1;
