//! Bounding boxes of roads, used to find the roads near a point.

use crate::ids::RoadId;
use crate::network::RoadNetwork;
use crate::road::Road;
use glam::DVec2;

/// The bounding box of a road and its lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoadBox {
    /// The road.
    pub road: RoadId,
    /// South-west corner, m.
    pub low: DVec2,
    /// North-east corner, m.
    pub high: DVec2,
}

impl RoadBox {
    /// Returns the box of a road.
    pub fn of(id: RoadId, road: &Road) -> Self {
        let (low, high) = road.reference_line.bounds(widest(road));
        Self {
            road: id,
            low,
            high,
        }
    }
}

/// Returns the maximum distance of a lane's edge from the reference line, m. Lanes widen and shift
/// along a section, so this distance is measured at several positions.
fn widest(road: &Road) -> f64 {
    let places = road
        .lane_sections
        .iter()
        .enumerate()
        .flat_map(|(i, section)| {
            let (from, to) = (section.s.get(), road.section_end(i));
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| from + share * (to - from - 1e-6))
        });
    let widest = places.fold(0.0, |reach: f64, s| {
        let (right, left) = road.edges(s);
        reach.max(left).max(-right)
    });
    // Between these positions, a lane may be slightly wider.
    1.1 * widest + 1.0
}

/// The boxes of all roads of a network.
#[derive(Debug, Clone, Default)]
pub struct RoadBoxes {
    /// The boxes, ordered by western edge.
    boxes: Vec<RoadBox>,
    /// For each box, the easternmost edge among this box and all boxes before it, m.
    east: Vec<f64>,
}

impl RoadBoxes {
    /// Returns the boxes of the roads of a network. O(length of all roads).
    pub fn new(network: &RoadNetwork) -> Self {
        Self::of(network.roads().map(|(id, road)| RoadBox::of(id, road)))
    }

    /// Creates a list of boxes. O(n log n).
    pub fn of(boxes: impl IntoIterator<Item = RoadBox>) -> Self {
        let mut boxes: Vec<RoadBox> = boxes.into_iter().collect();
        boxes.sort_by(|a, b| a.low.x.total_cmp(&b.low.x).then(a.road.cmp(&b.road)));
        let mut east = Vec::with_capacity(boxes.len());
        let mut farthest = f64::NEG_INFINITY;
        for road in &boxes {
            farthest = farthest.max(road.high.x);
            east.push(farthest);
        }
        Self { boxes, east }
    }

    /// Returns the boxes.
    pub fn iter(&self) -> impl Iterator<Item = &RoadBox> {
        self.boxes.iter()
    }

    /// Returns the roads whose boxes are within `reach` of a point, in ascending order.
    pub fn near(&self, point: DVec2, reach: f64) -> Vec<RoadId> {
        self.overlapping(point - reach, point + reach)
    }

    /// Returns the roads whose boxes overlap the box between two corners, in ascending order.
    pub fn overlapping(&self, low: DVec2, high: DVec2) -> Vec<RoadId> {
        let end = self.boxes.partition_point(|road| road.low.x <= high.x);
        let begin = self.east.partition_point(|east| *east < low.x);
        let range = self.boxes.get(begin..end).unwrap_or_default().iter();
        let near = range.filter(|road| road.high.cmpge(low).all() && road.low.cmple(high).all());
        let mut found: Vec<RoadId> = near.map(|road| road.road).collect();
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_finds_the_boxes_that_reach_it() {
        let boxes = (0..40u32).map(|i| {
            let low = DVec2::new(f64::from(i * 7 % 40), f64::from(i * 11 % 40));
            let size = DVec2::new(f64::from(i % 5) * 6.0, f64::from(i % 3) * 4.0);
            RoadBox {
                road: RoadId(i),
                low,
                high: low + size,
            }
        });
        let all: Vec<RoadBox> = boxes.collect();
        let index = RoadBoxes::of(all.iter().copied());
        for i in 0..60 {
            let point = DVec2::new(f64::from(i), f64::from(i * 3 % 50));
            for reach in [0.0, 2.5] {
                let is_near = |one: &&RoadBox| {
                    point.clamp(one.low, one.high).distance(point) <= reach * 2.0
                        && (point + reach).cmpge(one.low).all()
                        && (point - reach).cmple(one.high).all()
                };
                let mut expected: Vec<RoadId> =
                    all.iter().filter(is_near).map(|one| one.road).collect();
                expected.sort_unstable();
                assert_eq!(index.near(point, reach), expected);
            }
        }
    }
}
