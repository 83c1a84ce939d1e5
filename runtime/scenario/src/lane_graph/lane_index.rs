//! The index of lanelets by road and lane.

use super::{Lanelet, LaneletIndex, LaneletKind, runs};
use crate::ids::RoadId;
use std::ops::Range;

/// The lanelets of each lane of each road, found by binary search over the roads.
#[derive(Debug, Clone, Default)]
pub(super) struct LaneIndex {
    /// Roads that have lanelets, in ascending order of road id.
    roads: Vec<RoadLanes>,
    lanes: Vec<LaneLanelets>,
    /// The lanelets of each lane, in the order of lane sections.
    lanelets: Vec<LaneletIndex>,
}

/// The lanes of one road.
#[derive(Debug, Clone)]
struct RoadLanes {
    road: RoadId,
    /// Lanelets of the road. They are consecutive because they were added together.
    lanelets: Range<LaneletIndex>,
    /// Drivable lanes of the road, in ascending order of id.
    lanes: Range<u32>,
}

/// The lanelets of one lane.
#[derive(Debug, Clone)]
struct LaneLanelets {
    lane: i8,
    lanelets: Range<u32>,
}

impl LaneIndex {
    /// Creates the index. `lanelets` must be ordered by road and, within each road, by lane
    /// section. Connections are left out. O(lanelets).
    pub(super) fn new(lanelets: &[Lanelet]) -> Self {
        let mut index = Self::default();
        for own in runs(lanelets, Lanelet::road) {
            if let Some(road) = lanelets[own.start.index()].road() {
                index.add_road(road, own, lanelets);
            }
        }
        index
    }

    fn add_road(&mut self, road: RoadId, own: Range<LaneletIndex>, lanelets: &[Lanelet]) {
        let lane = |lanelet: &Lanelet| match lanelet.kind {
            LaneletKind::Lane { lane, .. } => lane,
            LaneletKind::Connection { .. } => 0,
        };
        let lane = |id: LaneletIndex| (lane(&lanelets[id.index()]), id);
        let mut members: Vec<(i8, LaneletIndex)> =
            LaneletIndex::within(own.clone()).map(lane).collect();
        members.sort_unstable();
        let first_lane = self.lanes.len() as u32;
        for (lane, id) in members {
            let place = self.lanelets.len() as u32;
            self.lanelets.push(id);
            let of_road = &mut self.lanes[first_lane as usize..];
            match of_road.last_mut().filter(|last| last.lane == lane) {
                Some(last) => last.lanelets.end = place + 1,
                None => self.lanes.push(LaneLanelets {
                    lane,
                    lanelets: place..place + 1,
                }),
            }
        }
        self.roads.push(RoadLanes {
            road,
            lanelets: own,
            lanes: first_lane..self.lanes.len() as u32,
        });
    }

    fn road(&self, id: RoadId) -> Option<&RoadLanes> {
        let found = self.roads.binary_search_by_key(&id, |lanes| lanes.road);
        Some(&self.roads[found.ok()?])
    }

    /// Returns the lanelets of a road; empty if the road has no drivable lane.
    pub(super) fn of_road(&self, id: RoadId) -> Range<LaneletIndex> {
        self.road(id)
            .map_or(LaneletIndex::new(0)..LaneletIndex::new(0), |lanes| {
                lanes.lanelets.clone()
            })
    }

    /// Returns the drivable lanes of a road in ascending order of id, each with its lanelets in the
    /// order of lane sections.
    pub(super) fn lanes_of(&self, id: RoadId) -> impl Iterator<Item = (i8, &[LaneletIndex])> {
        let lanes = self.road(id).map(|lanes| lanes.lanes.clone());
        self.named(lanes.unwrap_or_default())
    }

    /// Returns the lanelets of a lane in the order of lane sections; empty if the lane does not
    /// exist.
    pub(super) fn of_lane(&self, road: RoadId, lane: i8) -> &[LaneletIndex] {
        let mut lanes = self.lanes_of(road);
        let found = lanes.find(|(id, _)| *id == lane);
        found.map_or(&[], |(_, lanelets)| lanelets)
    }

    /// Returns all lanes in ascending order of road id and lane id, with their lanelets.
    pub(super) fn iter(&self) -> impl Iterator<Item = ((RoadId, i8), &[LaneletIndex])> {
        self.roads.iter().flat_map(|road| {
            let lanes = self.named(road.lanes.clone());
            lanes.map(move |(lane, lanelets)| ((road.road, lane), lanelets))
        })
    }

    fn named(&self, lanes: Range<u32>) -> impl Iterator<Item = (i8, &[LaneletIndex])> {
        let lanes = &self.lanes[lanes.start as usize..lanes.end as usize];
        lanes.iter().map(|lane| {
            let range = lane.lanelets.start as usize..lane.lanelets.end as usize;
            (lane.lane, &self.lanelets[range])
        })
    }
}
