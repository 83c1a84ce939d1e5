//! How much room a vehicle has beside the lane that it keeps to, before obstacles.

use crate::ground::Ground;
use crate::records::LanePosition;
use crate::vehicle_type::VehicleType;
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// The room of a vehicle with a heading: what it leaves of the room beside its lane.
///
/// ```text
///           .------.
///         '         '.      From the rear axle on the body goes straight on, and the lane turns away
///   ---[==o==========]'     from it by the sum of what both headings differ, metre by metre.
///                      '
/// ```
pub(super) struct LaneRoom<'a> {
    pub(super) ground: &'a Ground,
    pub(super) heading: f64,
    pub(super) vehicle_type: &'a VehicleType,
}

impl LaneRoom<'_> {
    /// How far its points may move without touching an obstacle, m, at least; 0 or less if nothing is known.
    pub(super) fn of(&self, position: &LanePosition) -> f64 {
        let &LanePosition { lanelet, s, t, .. } = position;
        // Before the start or beyond the end of its lanelet a body is beside nothing that is known.
        let is_on = lanelet != NO_LANELET && (0.0..=self.ground.length(lanelet)).contains(&s);
        if !is_on {
            return 0.0;
        }
        let room = self.beside(lanelet);
        if room <= t.abs() {
            return 0.0;
        }
        let ahead = self.drift_ahead(lanelet, s, s + self.vehicle_type.front);
        let behind = self.drift_behind(lanelet, s - self.vehicle_type.rear_overhang, s);
        room - t.abs() - ahead.max(behind)
    }

    /// Room beside a lanelet, m; 0 if nothing is known.
    fn beside(&self, lanelet: LaneletIndex) -> f64 {
        let lanes = &self.ground.lane_obstacles;
        lanes.room_aside(lanelet, self.vehicle_type.is_long())
    }

    /// By how much at most the body leaves the lane from one place of a lanelet to another, m, which may be beyond
    /// its end; infinity where obstacles are near, or where the lanes beyond are not known or short.
    fn drift_ahead(&self, lanelet: LaneletIndex, from: f64, to: f64) -> f64 {
        let here = self.drift_on(lanelet, from, to);
        let over = to - self.ground.length(lanelet);
        if over <= 0.0 {
            return here;
        }
        here + self.drift_beyond(self.ground.successors(lanelet), over, |_| (0.0, over))
    }

    /// The same where the first place may be before its start.
    fn drift_behind(&self, lanelet: LaneletIndex, from: f64, to: f64) -> f64 {
        let here = self.drift_on(lanelet, from, to);
        if from >= 0.0 {
            return here;
        }
        let before = self.ground.graph().predecessors(lanelet);
        here + self.drift_beyond(before, -from, |length| (length + from, length))
    }

    /// The most of several lanelets beyond an end, over so many metres of each; `stretch` says which of one of a
    /// length, m.
    fn drift_beyond(
        &self,
        lanelets: &[LaneletIndex],
        over: f64,
        stretch: impl Fn(f64) -> (f64, f64),
    ) -> f64 {
        let drift = |&id: &LaneletIndex| {
            let length = self.ground.length(id);
            match over <= length && self.beside(id) > 0.0 {
                true => {
                    let (from, to) = stretch(length);
                    self.drift_on(id, from, to)
                }
                false => f64::INFINITY,
            }
        };
        let drifts = lanelets.iter().map(drift);
        drifts.reduce(f64::max).unwrap_or(f64::INFINITY)
    }

    /// The same between two places that are on a lanelet, or cut where it ends.
    fn drift_on(&self, lanelet: LaneletIndex, from: f64, to: f64) -> f64 {
        let line = self.ground.line(lanelet);
        let (spacing, last) = (line.spacing(), line.count() - 1);
        // Whole pieces: those that are begun count.
        let first = ((from / spacing).max(0.0) as usize).min(last);
        let end = ((to / spacing).max(0.0).ceil() as usize).min(last);
        let poses = line.poses()[first..=end].iter();
        let turned = poses.map(|pose| wrap_angle(pose.heading - self.heading).abs());
        turned.sum::<f64>() * spacing
    }
}
