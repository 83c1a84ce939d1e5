//! Space for vehicles that wait between two junctions.

use super::Layout;
use crate::ids::RoadId;
use crate::network::RoadNetwork;
use crate::road::RoadEnd;

/// Length of road that a car waiting at a stop line occupies, m. A car is 4.5 m long and needs 2 m
/// behind it.
const ROOM_TO_WAIT: f64 = 6.5;

/// Length of road on which vehicles can wait before the cut at a road end, m. It is infinite if
/// there is enough room for any stop line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoomToWait(f64);

impl RoomToWait {
    /// Whether a car can wait at a stop line that is set back by `setback` metres. Otherwise there
    /// is no stop line, and the signals and signs of the previous junction apply to both junctions.
    pub fn fits_car(self, setback: f64) -> bool {
        self.0 - setback >= ROOM_TO_WAIT
    }

    /// Whether there is room for a stop line at any setback.
    pub fn is_ample(self) -> bool {
        self.0.is_infinite()
    }
}

impl Layout {
    /// Returns the length of road where vehicles can wait before the cut at an end of a road. It
    /// extends back to the previous junction or pedestrian crossing. Nodes where roads merely
    /// continue are skipped. The search stops at the length of a car plus the longest setback. The
    /// room is ample if the road is longer, comes from a dead end, or is the ring of a roundabout,
    /// where vehicles may stop anywhere.
    pub fn room_before(&self, network: &RoadNetwork, road: RoadId, end: RoadEnd) -> RoomToWait {
        RoomToWait(self.metres_before(network, road, end))
    }

    fn metres_before(&self, network: &RoadNetwork, road: RoadId, end: RoadEnd) -> f64 {
        let mut room = 0.0;
        let (mut id, mut from) = (road, end);
        // Each iteration adds a road. The search ends even in a loop of short roads, because the
        // lengths add up.
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

/// Maximum search distance, m. It is the length of a car plus 7 m, the longest setback of a line.
const FARTHEST: f64 = 15.0;
/// Minimum length that the search assumes for each piece of road, m. It guarantees that the search
/// ends.
const LEAST_PIECE: f64 = 0.1;
