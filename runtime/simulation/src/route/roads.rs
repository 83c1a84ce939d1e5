//! Roads along a route, with their positions on it.

use super::Route;
use roadwright_ground::Ground;

/// Lanes of a route that lie side by side on one road; usually one lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Road {
    /// Route index of the lane on which an agent enters the road.
    pub(crate) first: u32,
    /// Route index of the last lane.
    pub(crate) last: u32,
    /// Position of the start of the road along the route, m.
    pub(crate) begin: f64,
    /// Length of the road, measured on the first lane, m.
    pub(crate) length: f64,
}

impl Road {
    /// Position of the end of the road along the route, m.
    pub(crate) fn end(&self) -> f64 {
        self.begin + self.length
    }
}

impl Route {
    /// Returns the road that begins with the lane at route index `first` and at position `begin`
    /// along the route, m.
    pub(crate) fn road(&self, first: u32, begin: f64, ground: &Ground) -> Road {
        let length = self.lanelet(first).map_or(0.0, |id| ground.length(id));
        Road {
            first,
            last: first + self.lane_changes_on(first, ground),
            begin,
            length,
        }
    }

    /// All roads of the route. There is at least one.
    pub(super) fn roads(&self, ground: &Ground) -> Box<[Road]> {
        let mut road = self.road(0, 0.0, ground);
        let mut all = vec![road];
        while (road.last as usize) + 1 < self.lanelets.len() {
            road = self.road(road.last + 1, road.end(), ground);
            all.push(road);
        }
        all.into()
    }
}

#[cfg(test)]
mod tests {
    use crate::route::Route;
    use crate::testing::{draw_street, street};
    use roadwright_ground::Ground;
    use roadwright_scenario::{LaneletIndex, Scenario};

    #[test]
    fn roads_follow_each_other_and_hold_lanes_that_lie_side_by_side() {
        let mut scenario = Scenario::new("roads");
        for (from, to) in [((-60.0, 0.0), (60.0, 0.0)), ((0.0, -60.0), (0.0, 60.0))] {
            draw_street(&mut scenario, from, to, &street(2, 2));
        }
        let ground = Ground::new(&scenario);
        let graph = ground.graph();
        let indices = || LaneletIndex::up_to(graph.lanelets().len());
        // The route changes lanes, crosses the junction, and ends on the lane beyond it.
        let beside = |id: LaneletIndex| graph.lanelet(id).left;
        let goes_on = |id: LaneletIndex| ground.successors(id).first().copied();
        let start = indices().find(|&id| {
            let left = beside(id);
            left.index() < graph.lanelets().len() && goes_on(left).is_some()
        });
        let start = start.unwrap();
        let left = beside(start);
        let connection = goes_on(left).unwrap();
        let mut lanelets = vec![start, left, connection];
        lanelets.extend(goes_on(connection));
        let route = Route {
            lanelets: lanelets.clone().into(),
            ..Route::default()
        };
        let roads = route.roads(&ground);
        assert_eq!(roads.len(), lanelets.len() - 1);
        assert_eq!((roads[0].first, roads[0].last), (0, 1));
        let mut begin = 0.0;
        for road in &roads {
            assert_eq!(road.begin, begin);
            assert_eq!(road.length, ground.length(lanelets[road.first as usize]));
            begin = road.end();
        }
        let all = roads.iter().flat_map(|road| road.first..=road.last);
        assert!(all.eq(0..lanelets.len() as u32));
    }
}
