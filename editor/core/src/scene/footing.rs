//! The surface at a point, classified as in runs: roads by class, junctions, and open ground.

use super::{SAMPLING, Scene};
use roadwright_geometry::{DVec2, polygon, polyline};
use roadwright_scenario::{NodeId, RoadClass};
use std::collections::BTreeSet;

/// Maximum distance by which a junction extends beyond the roads that meet there, m. It extends
/// beyond them because its kerbs are rounded.
const CORNERS: f64 = 30.0;
/// Tolerance for junction outlines and road ends, m.
const TOLERANCE: f64 = 0.05;

impl Scene {
    /// Returns the class of the uppermost road at a point, or of the most important road of a junction there.
    /// `None` on open ground, regardless of the land drawn there.
    pub fn class_at(&self, point: DVec2) -> Option<RoadClass> {
        let found = self
            .road_at(point)
            .into_iter()
            .chain(self.junction_at(point));
        // A stable sort, so that a road comes before a junction on the same layer.
        found
            .rev()
            .max_by_key(|(layer, _)| *layer)
            .map(|(_, class)| class)
    }

    /// Returns the layer and class of the uppermost road at a point, ignoring junctions.
    fn road_at(&self, point: DVec2) -> Option<(i8, RoadClass)> {
        let on_road = self.roads_near(point, 0.0).filter(|shape| {
            // Projecting onto clothoids is slow, so polylines rule out nearly all roads first.
            if polyline::distance(&shape.line, point) > shape.reach + 2.0 * SAMPLING {
                return false;
            }
            let road = &shape.road;
            let Some((from, to)) = self.layout.remaining(shape.id, road) else {
                return false;
            };
            let foot = shape.foot(point);
            let on_line = road.reference_line.pose(foot.s);
            let beyond = (point - on_line.position).dot(on_line.forward()).abs();
            let (right, left) = road.edges(foot.s);
            beyond <= TOLERANCE && (from..=to).contains(&foot.s) && (right..=left).contains(&foot.t)
        });
        on_road
            .map(|shape| (shape.road.layer, shape.road.class))
            .max_by_key(|(layer, _)| *layer)
    }

    /// Returns the layer and class of the uppermost junction at a point.
    fn junction_at(&self, point: DVec2) -> Option<(i8, RoadClass)> {
        let roads = self.roads_near(point, CORNERS);
        let nodes: BTreeSet<NodeId> = roads
            .flat_map(|shape| [shape.road.from, shape.road.to])
            .collect();
        let junctions = nodes
            .into_iter()
            .filter_map(|node| self.layout.junction_at(node));
        let under = junctions.filter_map(|junction| {
            if !polygon::contains(&junction.polygon_within(TOLERANCE), point) {
                return None;
            }
            let network = self.scenario.network();
            let roads = junction.arms.iter();
            let roads = roads.filter_map(|arm| network.road(arm.road));
            let kinds: Vec<_> = roads.map(|road| (road.layer, road.class)).collect();
            let layer = kinds.iter().map(|(layer, _)| *layer).min()?;
            let class = kinds.iter().map(|(_, class)| *class).max()?;
            Some((layer, class))
        });
        under.max_by_key(|(layer, _)| *layer)
    }
}
