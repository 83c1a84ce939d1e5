//! Arms: road ends as seen from a junction, looking outward.

use super::{ArmEnd, Sign, Turns};
use crate::access::LaneAccess;
use crate::driving_side::DrivingSide;
use crate::ids::RoadId;
use crate::road::{LaneSection, Poly3, Road, RoadEnd};
use glam::DVec2;
use roadwright_geometry::math::{atan2, wrap_angle};
use roadwright_geometry::{OwnFrame, Pose, ReferenceLine, Segment, heading_of, left_of};
use std::sync::Arc;

/// Largest distance between a curved edge and its points, m.
const EDGE_TOLERANCE: f64 = 0.01;
/// Largest distance between points of an edge whose width may change, m.
const EDGE_STEP: f64 = 2.0;

/// Fraction of an arm that one junction may use before a fillet is reduced. It is slightly less than half, so
/// that some road remains between the junctions at both ends.
const ARM_SHARE: f64 = 0.45;
/// Minimum length of a dead-end road after trimming, m. It leaves room for a car.
const LEAST_DEAD_END: f64 = 5.0;

/// Length of the piece over which the direction of a lane is measured, m.
const DRIFT_STEP: f64 = 0.01;

/// A side of an arm, looking outward from the junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flank {
    /// The left side, towards the next arm counter-clockwise.
    Left,
    /// The right side.
    Right,
}

/// A pair of values, one for an arm and one for the next arm counter-clockwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair<T> {
    /// Value for the arm.
    pub(super) arm: T,
    /// Value for the next arm.
    pub(super) next: T,
}

impl<T> Pair<T> {
    /// Returns a pair with the same value for both arms.
    pub(super) fn both(value: T) -> Self
    where
        T: Copy,
    {
        Self {
            arm: value,
            next: value,
        }
    }

    /// Applies a function to both values.
    pub(super) fn map<U>(self, of: impl Fn(T) -> U) -> Pair<U> {
        Pair {
            arm: of(self.arm),
            next: of(self.next),
        }
    }
}

/// Kind of the far end of an arm. It limits how much of the arm a junction may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FarEnd {
    /// Another junction, which may use the same fraction of the arm.
    Junction,
    /// A node where the road merely continues as another road.
    RoadGoesOn,
    /// A dead end: no other road meets the arm there.
    DeadEnd,
}

/// A road end, with its reference line oriented outward from the junction.
#[derive(Debug, Clone)]
pub struct Arm<'a> {
    /// The road's id.
    pub road_id: RoadId,
    /// End of the road that meets the junction.
    pub end: RoadEnd,
    /// The road itself.
    pub road: &'a Road,
    /// The road as a shared pointer, if there is one.
    shared: Option<&'a Arc<Road>>,
    /// The reference line, running outward from the node.
    pub outward: ReferenceLine,
    /// The half-widths, if they are constant along the road. They are cached, because corners query
    /// them often.
    constant: Option<(f64, f64)>,
    far_end: FarEnd,
}

/// Whether lanes enter or leave a junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    In,
    Out,
}

/// A drivable lane of an arm, at its cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmLane {
    /// Lane id in the road.
    pub id: i8,
    /// Vehicles that may use the lane.
    pub access: LaneAccess,
    /// Whether traffic on the lane enters the junction.
    pub entering: bool,
    /// Pose of the lane's centre at the cut, in the driving direction.
    pub pose: Pose,
    /// Curvature of the reference line at the cut, in the driving direction, 1/m, positive to the left.
    pub curvature: f64,
    /// Width, m.
    pub width: f64,
    /// Lateral offset from the reference line, m, positive to the left in the driving direction.
    pub lateral: f64,
    /// The arrows marked on the lane.
    pub turns: Turns,
}

impl<'a> Arm<'a> {
    /// Creates an arm from a road and the road end that meets the junction.
    pub fn new(road_id: RoadId, road: &'a Road, end: RoadEnd) -> Self {
        let outward = match end {
            RoadEnd::Start => road.reference_line.clone(),
            RoadEnd::End => road.reference_line.reversed(),
        };
        let mut arm = Self {
            road_id,
            end,
            road,
            shared: None,
            outward,
            constant: None,
            far_end: FarEnd::Junction,
        };
        arm.constant = has_constant_widths(road).then(|| arm.half_widths(0.0));
        arm
    }

    /// Like `new`, but keeps a shared pointer to the road.
    pub(super) fn of_shared(road_id: RoadId, road: &'a Arc<Road>, end: RoadEnd) -> Self {
        Self {
            shared: Some(road),
            ..Self::new(road_id, road, end)
        }
    }

    /// Returns the road as a shared pointer. If it is not shared, it is copied.
    pub(super) fn shared_road(&self) -> Arc<Road> {
        let copy = || Arc::new(self.road.clone());
        self.shared.map_or_else(copy, Arc::clone)
    }

    /// Returns the kind of the far end.
    pub(super) fn far_end(&self) -> FarEnd {
        self.far_end
    }

    /// Length of the reference line, m.
    pub fn length(&self) -> f64 {
        self.outward.length()
    }

    /// Returns the arm with the given far end.
    pub(super) fn with_far_end(self, far_end: FarEnd) -> Self {
        Self { far_end, ..self }
    }

    /// Returns the length of the arm that the junction may use before its corners are reduced, m.
    pub(super) fn share(&self) -> f64 {
        ARM_SHARE * self.length()
    }

    /// Returns the length of the arm that the junction may use if a corner would otherwise be too
    /// tight for cars, m.
    pub(super) fn usable(&self) -> f64 {
        match self.far_end {
            FarEnd::Junction => self.share(),
            FarEnd::RoadGoesOn => self.length(),
            FarEnd::DeadEnd => self.share().max(self.length() - LEAST_DEAD_END),
        }
    }

    /// Returns the distance along the road of a point `distance` metres outward from the node, m.
    pub fn road_s(&self, distance: f64) -> f64 {
        match self.end {
            RoadEnd::Start => distance,
            RoadEnd::End => self.length() - distance,
        }
    }

    /// Returns the half-widths of the carriageway to the left and right of the reference line, m,
    /// at `distance` metres outward from the node. Left and right are as seen looking outward.
    pub fn half_widths(&self, distance: f64) -> (f64, f64) {
        let there = || {
            let (right, left) = self.road.carriageway(self.road_s(distance));
            self.outward_pair(right, left)
        };
        self.constant.unwrap_or_else(there)
    }

    /// Returns the widths of the pavements to the left and right of the carriageway, m, at
    /// `distance` metres outward from the node. Left and right are as seen looking outward.
    pub fn pavements(&self, distance: f64) -> (f64, f64) {
        let (right, left) = self.road.edges(self.road_s(distance));
        let (left, right) = self.outward_pair(right, left);
        let (inner_left, inner_right) = self.half_widths(distance);
        ((left - inner_left).max(0.0), (right - inner_right).max(0.0))
    }

    /// Converts half-widths to the right and left of the road into half-widths to the left and
    /// right of the arm, looking outward.
    fn outward_pair(&self, right: f64, left: f64) -> (f64, f64) {
        match self.end {
            RoadEnd::Start => (left, -right),
            RoadEnd::End => (-right, left),
        }
    }

    /// Returns the pose on the left edge of the carriageway `distance` metres out, heading outward.
    pub fn left_edge(&self, distance: f64) -> Pose {
        self.beside(Flank::Left, distance, 0.0)
    }

    /// Returns the pose on the right edge of the carriageway `distance` metres out, heading
    /// outward.
    pub fn right_edge(&self, distance: f64) -> Pose {
        self.beside(Flank::Right, distance, 0.0)
    }

    /// Returns the pose `beyond` metres outside an edge of the carriageway, heading outward.
    pub(super) fn beside(&self, flank: Flank, distance: f64, beyond: f64) -> Pose {
        let lateral = self.lateral(flank, distance, beyond);
        self.outward.offset_pose(distance, lateral)
    }

    /// Returns the frame of the pose [`beside`](Self::beside) an edge, for callers that also need
    /// the direction vector.
    pub(super) fn frame_beside(&self, flank: Flank, distance: f64, beyond: f64) -> OwnFrame {
        let lateral = self.lateral(flank, distance, beyond);
        let (_, frame) = self.outward.own_frame(distance);
        OwnFrame {
            origin: frame.origin + left_of(frame.forward) * lateral,
            ..frame
        }
    }

    /// Returns the offset from the reference line to a line `beyond` metres outside an edge, m,
    /// positive to the left when looking outward.
    fn lateral(&self, flank: Flank, distance: f64, beyond: f64) -> f64 {
        let (left, right) = self.half_widths(distance);
        match flank {
            Flank::Left => left + beyond,
            Flank::Right => -right - beyond,
        }
    }

    /// Returns the distance that a point `beyond` metres outside an edge moves for each metre along
    /// the reference line. It is more than one metre on the outside of a bend, and less on the
    /// inside.
    pub(super) fn stretch_beside(&self, flank: Flank, distance: f64, beyond: f64) -> f64 {
        let lateral = self.lateral(flank, distance, beyond);
        // The lateral offset is positive to the left. In a left bend, the left is the inside, where
        // points are closer together.
        1.0 - self.outward.curvature(distance) * lateral
    }

    /// Returns the points along a line `beyond` metres outside an edge of the carriageway, from one
    /// distance to another. Both ends are included. The second distance may be smaller than the
    /// first.
    pub(super) fn along(
        &self,
        flank: Flank,
        from: f64,
        to: f64,
        beyond: impl Fn(f64) -> f64,
    ) -> Vec<DVec2> {
        let (low, high) = (from.min(to), from.max(to));
        let inside = |s: &f64| *s > low + 1e-6 && *s < high - 1e-6;
        let mut distances: Vec<f64> = Vec::new();
        // A straight arm of constant width needs no points between its ends.
        if high - low > 1e-6 && !self.is_plain() {
            let reach = self.half_widths(low).0.max(self.half_widths(low).1);
            let bends = self.outward.sample_distances(EDGE_TOLERANCE, reach);
            let steps = ((high - low) / EDGE_STEP).ceil().clamp(1.0, 200.0) as usize;
            let even = (1..steps).map(|i| low + (high - low) * i as f64 / steps as f64);
            distances.extend(bends.into_iter().chain(even).filter(inside));
            distances.sort_by(f64::total_cmp);
        }
        if from > to {
            distances.reverse();
        }
        let all = std::iter::once(from).chain(distances).chain([to]);
        all.map(|s| self.beside(flank, s, beyond(s)).position)
            .collect()
    }

    /// Whether the edges of the arm are straight.
    fn is_plain(&self) -> bool {
        let line = self.road.reference_line.segments();
        self.constant.is_some() && matches!(line, [Segment::Line { .. }])
    }

    /// Returns the distance from the node at which the direction of the arm is measured, m. It is
    /// large enough that a bend next to the node does not distort the direction.
    pub fn sight_distance(&self) -> f64 {
        let (left, right) = self.half_widths(0.0);
        (2.0 * left.max(right)).clamp(5.0, 15.0).min(self.length())
    }

    /// Returns the outward heading near the junction, measured along the chord to the sight
    /// distance.
    pub fn bearing(&self) -> f64 {
        let far = self.outward.pose(self.sight_distance()).position;
        heading_of(far - self.outward.start().position)
    }

    /// Returns the end of the arm after it has been cut back by `trim`, with its sign.
    pub fn cut(&self, trim: f64, sign: Sign) -> ArmEnd {
        ArmEnd {
            road: self.road_id,
            end: self.end,
            trim,
            left_cut: self.left_edge(trim).position,
            right_cut: self.right_edge(trim).position,
            sign,
            speed_limit: self.road.speed_limit.get(),
        }
    }

    /// Returns the drivable lanes that enter the junction, at a cut, from left to right in the
    /// driving direction.
    pub fn entering_lanes(&self, trim: f64, side: DrivingSide) -> Vec<ArmLane> {
        self.lanes(trim, side, Heading::In)
    }

    /// Returns the drivable lanes that leave the junction, at a cut, from left to right in the
    /// driving direction.
    pub fn leaving_lanes(&self, trim: f64, side: DrivingSide) -> Vec<ArmLane> {
        self.lanes(trim, side, Heading::Out)
    }

    fn lanes(&self, trim: f64, side: DrivingSide, heading: Heading) -> Vec<ArmLane> {
        let entering = heading == Heading::In;
        let s = self.road_s(trim);
        // The section next to the junction is used, even if the cut is exactly at the end of that section.
        let inside = match self.end {
            RoadEnd::Start => s + 1e-6,
            RoadEnd::End => s - 1e-6,
        };
        let section = self.road.section_at(inside);
        let bands = self.road.lane_bands(section, s);
        // Vehicles that enter the junction at the end of the road drive in the direction of increasing s, and
        // vehicles that enter at its start drive towards s = 0. Leaving vehicles drive in the opposite
        // direction.
        let toward_growing_s = (self.end == RoadEnd::End) == entering;
        let mut lanes: Vec<_> = section
            .lanes
            .iter()
            .zip(bands)
            .filter(|(lane, _)| {
                lane.kind.is_drivable() && lane.is_forward(side) == toward_growing_s
            })
            .map(|(lane, band)| {
                let pose = self.road.reference_line.offset_pose(s, band.centre);
                let pose = match self.constant {
                    Some(_) => pose,
                    None => pose.turned(self.drift(section, s, lane.id)),
                };
                let curvature = self.road.reference_line.curvature(s);
                let (pose, lateral, curvature) = if toward_growing_s {
                    (pose, band.centre, curvature)
                } else {
                    (pose.reversed(), -band.centre, -curvature)
                };
                ArmLane {
                    id: lane.id,
                    access: LaneAccess::of(lane.kind),
                    entering,
                    pose,
                    curvature,
                    width: band.width,
                    lateral,
                    turns: lane.turns,
                }
            })
            .collect();
        lanes.sort_by(|a, b| b.lateral.total_cmp(&a.lateral).then(a.id.cmp(&b.id)));
        lanes
    }

    /// Returns the angle between the centre line of a lane and the reference line, rad, positive to
    /// the left. `s` is the distance along the road. The angle is not zero where lanes open, close
    /// or widen beside the lane.
    fn drift(&self, section: &LaneSection, s: f64, lane: i8) -> f64 {
        let centre = |s: f64| {
            let bands = self.road.lane_bands(section, s);
            let place = section.lanes.iter().position(|other| other.id == lane);
            place.map_or(0.0, |place| bands[place].centre)
        };
        // Stays within the section, because in the next section lanes with the same id may be at
        // other positions.
        let inside = match self.end {
            RoadEnd::Start => s + DRIFT_STEP,
            RoadEnd::End => s - DRIFT_STEP,
        };
        let slope = (centre(inside) - centre(s)) / (inside - s);
        let stretched = 1.0 - self.road.reference_line.curvature(s) * centre(s);
        atan2(slope, stretched.max(0.1))
    }
}

/// Whether all lanes of a road keep their width from start to end.
fn has_constant_widths(road: &Road) -> bool {
    let is_constant = |polys: &[Poly3]| match polys {
        [] => true,
        [poly] => poly.b == 0.0 && poly.c == 0.0 && poly.d == 0.0,
        _ => false,
    };
    let [section] = road.lane_sections.as_slice() else {
        return false;
    };
    let mut lanes = section.lanes.iter();
    is_constant(&road.lane_offset) && lanes.all(|lane| is_constant(&lane.width))
}

/// Sorts arms counter-clockwise by the bearing of a point on their centre line at some distance
/// from the node.
///
/// At the node itself, curved arms would be in the wrong order. Ties are resolved farther out, and
/// finally by road and end, so the order is total.
pub(super) fn sort_counter_clockwise(arms: &mut Vec<Arm<'_>>, centre: DVec2) {
    let tie = 0.5f64.to_radians();
    let mut keyed: Vec<_> = arms
        .drain(..)
        .map(|arm| (bearings(&arm, centre), arm))
        .collect();
    keyed.sort_by(|(a, first), (b, second)| {
        a[0].total_cmp(&b[0])
            .then(first.road_id.cmp(&second.road_id))
            .then(first.end.cmp(&second.end))
    });
    // The circular order is split at the widest gap, so that nearly tied arms are adjacent in the
    // list.
    let gap = |i: usize| {
        let before = (i + keyed.len() - 1) % keyed.len();
        (keyed[i].0[0] - keyed[before].0[0]).rem_euclid(std::f64::consts::TAU)
    };
    let widest = (0..keyed.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b)).then(b.cmp(&a)));
    keyed.rotate_left(widest.unwrap_or(0));
    // Adjacent arms that are nearly tied are compared farther out. One pass of swaps is enough. The
    // result does not depend on the order of the input, because the first sort is total.
    for i in 1..keyed.len() {
        if wrap_angle(keyed[i].0[0] - keyed[i - 1].0[0]).abs() < tie {
            let farther = |k: usize| wrap_angle(keyed[i].0[k] - keyed[i - 1].0[k]);
            let decisive = [farther(1), farther(2)]
                .into_iter()
                .find(|d| d.abs() >= tie);
            if decisive.is_some_and(|d| d < 0.0) {
                keyed.swap(i, i - 1);
            }
        }
    }
    arms.extend(keyed.into_iter().map(|(_, arm)| arm));
}

/// Returns the bearings of three points on the centre line of an arm, seen from the node, rad. The
/// points are at one, two and four times the sight distance of the arm.
fn bearings(arm: &Arm<'_>, centre: DVec2) -> [f64; 3] {
    [1.0, 2.0, 4.0].map(|factor| {
        let distance = (factor * arm.sight_distance()).min(arm.length());
        let (left, right) = arm.half_widths(distance);
        let middle = arm
            .outward
            .offset_pose(distance, 0.5 * (left - right))
            .position;
        heading_of(middle - centre)
    })
}
