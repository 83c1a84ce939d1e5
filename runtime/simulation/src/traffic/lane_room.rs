//! Free space beside a lane, which limits how far a vehicle may deviate before it touches an
//! obstacle.

use crate::records::LanePosition;
use crate::vehicle_type::VehicleType;
use roadwright_geometry::math::wrap_angle;
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};

/// Computes the free space around a vehicle: the space beside its lane, minus the deviation of its
/// body from the lane.
///
/// ```text
///           .------.
///         '         '.      The body is straight ahead of the rear axle, and the lane turns away from
///   ---[==o==========]'     it by the sum of the heading differences, metre by metre.
///                      '
/// ```
pub(super) struct LaneRoom<'a> {
    pub(super) ground: &'a Ground,
    pub(super) heading: f64,
    pub(super) vehicle_type: &'a VehicleType,
}

impl LaneRoom<'_> {
    /// Lower bound on the distance that any point of the vehicle may move without touching an
    /// obstacle, m; 0 or less if unknown.
    pub(super) fn of(&self, position: &LanePosition) -> f64 {
        let &LanePosition { lanelet, s, t, .. } = position;
        // The space before the start and after the end of a lanelet is unknown.
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

    /// Free space beside a lanelet, m; 0 if unknown.
    fn beside(&self, lanelet: LaneletIndex) -> f64 {
        let lanes = self.ground.lane_obstacles();
        lanes.room_aside(lanelet, self.vehicle_type.is_long())
    }

    /// Maximum deviation of the body from the lane between two positions on a lanelet, m. The
    /// second position may be beyond the end of the lanelet. Infinite near obstacles, or if the
    /// lanes beyond are unknown or too short.
    fn drift_ahead(&self, lanelet: LaneletIndex, from: f64, to: f64) -> f64 {
        let here = self.drift_on(lanelet, from, to);
        let over = to - self.ground.length(lanelet);
        if over <= 0.0 {
            return here;
        }
        here + self.drift_beyond(self.ground.successors(lanelet), over, |_| (0.0, over))
    }

    /// Like `drift_ahead`, but the first position may be before the start of the lanelet.
    fn drift_behind(&self, lanelet: LaneletIndex, from: f64, to: f64) -> f64 {
        let here = self.drift_on(lanelet, from, to);
        if from >= 0.0 {
            return here;
        }
        let before = self.ground.graph().predecessors(lanelet);
        here + self.drift_beyond(before, -from, |length| (length + from, length))
    }

    /// Maximum deviation on the lanelets beyond one end of a lanelet, m. On each of them, `over`
    /// metres are examined. `stretch` returns the interval to examine for a lanelet of the given
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

    /// Maximum deviation between two positions on a lanelet, m. Positions beyond its ends are clamped.
    fn drift_on(&self, lanelet: LaneletIndex, from: f64, to: f64) -> f64 {
        let line = self.ground.line(lanelet);
        let (spacing, last) = (line.spacing(), line.count() - 1);
        // Whole pieces are examined, even if they are only partly covered.
        let first = ((from / spacing).max(0.0) as usize).min(last);
        let end = ((to / spacing).max(0.0).ceil() as usize).min(last);
        let poses = line.poses()[first..=end].iter();
        let turned = poses.map(|pose| wrap_angle(pose.heading - self.heading).abs());
        turned.sum::<f64>() * spacing
    }
}
