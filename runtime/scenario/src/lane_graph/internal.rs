//! Places on internal roads, which have no lanelets although trips may start or end there.
//!
//! ```text
//!            |  |
//!     -------'  '---.......---'  '-----       The lane of a place is below a connection that is driven
//!      from  ==>  x  connection  ==>  to      in the same direction. The lanelet after the connection
//!     -------.  .---.......---.  .-----       represents the place: a trip to `x` ends on it.
//! ```

use super::after_edit::Before;
use super::build::Builder;
use super::{LaneGraph, LaneletIndex, NO_LANELET};
use crate::driving_side::DrivingSide;
use crate::ids::RoadId;
use crate::junction::Layout;
use crate::network::RoadNetwork;
use crate::road::Road;
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_4;

/// Maximum distance between the centre of a connection and the centre of a lane below it, m. Their
/// directions may differ by up to an eighth of a turn.
const ON_LANE: f64 = 2.0;

impl Builder {
    /// Returns, for each lane of an internal road, the lanelet that represents places on it. The
    /// lanelet is reused if all connections of the junction are copies. O(lanes inside junctions *
    /// connections of these junctions).
    pub(super) fn connections_out(
        &self,
        network: &RoadNetwork,
        side: DrivingSide,
        layout: &Layout,
        before: Option<Before<'_>>,
    ) -> BTreeMap<(RoadId, i8), LaneletIndex> {
        let mut found = BTreeMap::new();
        if layout.internal.is_empty() {
            return found;
        }
        let firsts = super::after_edit::first_paths(layout);
        for &id in &layout.internal {
            let Some(road) = network.road(id) else {
                continue;
            };
            let Some(&junction) = layout.junction_of.get(&road.from) else {
                continue;
            };
            if let Some(before) = before.filter(|_| self.copied_junctions[junction]) {
                found.extend(self.copied_connections_out(id, before.graph));
                continue;
            }
            let paths = firsts[junction]..firsts[junction + 1];
            for (lane, pose) in middles(road, side) {
                if let Some(to) = self.connection_out(paths.clone(), pose) {
                    found.insert((id, lane), to);
                }
            }
        }
        found
    }

    /// For each lane of an internal road, returns the lane and the copy of the lanelet that
    /// represented it before the edit.
    fn copied_connections_out(
        &self,
        road: RoadId,
        before: &LaneGraph,
    ) -> impl Iterator<Item = ((RoadId, i8), LaneletIndex)> {
        let lanes = before.of_internal.range((road, i8::MIN)..=(road, i8::MAX));
        lanes.map(|(&lane, &to)| (lane, self.copy_of[to.index()]))
    }

    /// Finds the connection that is nearest to a pose and has the same direction, and returns the
    /// lanelet after this connection; `None` if no connection is near enough.
    fn connection_out(&self, paths: std::ops::Range<usize>, pose: Pose) -> Option<LaneletIndex> {
        let near = self.paths[paths].iter().filter_map(|path| {
            if path.between == NO_LANELET {
                return None;
            }
            let line = self.lines.line(self.lanelet(path.between).line);
            let (s, t) = line.project(pose.position, 0.5 * line.length());
            let along = line.pose(s).heading;
            let is_on_it = t.abs() < ON_LANE && wrap_angle(along - pose.heading).abs() < FRAC_PI_4;
            is_on_it.then_some((t.abs(), path.to))
        });
        let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        nearest.map(|(_, to)| to)
    }
}

/// Returns the drivable lanes at the middle of a road, each with the pose of its centre there, in
/// the driving direction.
fn middles(road: &Road, side: DrivingSide) -> impl Iterator<Item = (i8, Pose)> + '_ {
    let s = 0.5 * road.length();
    let section = road.section_at(s);
    let lanes = section.lanes.iter().zip(road.lane_bands(section, s));
    lanes
        .filter(|(lane, _)| lane.kind.is_drivable())
        .map(move |(lane, band)| {
            let pose = road.reference_line.offset_pose(s, band.centre);
            let pose = match lane.is_forward(side) {
                true => pose,
                false => pose.reversed(),
            };
            (lane.id, pose)
        })
}
