//! Slip roads: one-way roads that join or leave a fast one-way road at a small angle.
//!
//! ```text
//!   ---------------------------------------------      The new road ends beside the host, where a
//!    host        ->         :            ->            lane opens for it and continues for a while,
//!   ------___-------------- : - - - - - - _______      so that merging vehicles can find a gap. An
//!       .--- gore           :    -> ___.--             exit has such a lane before the node. The
//!   ---'    ->      --------:------'                   node is a direct junction without stops.
//!                         node   auxiliary lane
//! ```

use super::super::lane_sections::{replace_lanes, width_beside_node};
use super::{
    Crossing, DrawError, Drawing, LayerChange, LayeredStyle, MIN_PIECE, RoadStyle, StrokeEnd,
};
use crate::driving_side::DrivingSide;
use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::lane_type::LaneType;
use crate::road::{Lane, LaneDirection, Poly3, Road, RoadClass, RoadEnd};
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::projection::Projector;
use roadwright_geometry::{Pose, ReferenceLine, heading_of};

/// Minimum speed limit of a host, m/s. Slower roads get junctions instead.
const FAST: f64 = 70.0 / 3.6;
/// Maximum angle between the last stretch of a slip road and its host, rad.
const SMALL_ANGLE: f64 = 0.6;
/// Maximum distance between the carriageway and the end of a line that joins it, m.
pub(super) const REACH: f64 = 1.0;
/// Minimum lateral distance between a line and its final position beside the host, measured where
/// the line begins to bend towards the host, m.
const AWAY: f64 = 4.0;
/// Minimum and maximum length of the bent part of the line, m.
const BENDING: (f64, f64) = (60.0, 200.0);
/// Length of the auxiliary lane, m.
const AUXILIARY: f64 = 130.0;
/// Minimum useful length of the auxiliary lane, m.
const LEAST_AUXILIARY: f64 = 40.0;
/// Length of the taper of the auxiliary lane, m.
const TAPER: f64 = 60.0;
/// Minimum length of the host beyond the auxiliary lane, m.
const BEYOND: f64 = 5.0;

/// Connection between an end of a new road and its host.
#[derive(Debug, Clone, PartialEq)]
pub struct Slip {
    host: RoadId,
    /// Distance of the node along the host, m.
    s: f64,
    /// Whether the auxiliary lane is to the left of the host's lanes.
    is_left: bool,
    /// Length of the full auxiliary lane, m.
    auxiliary: f64,
    /// Length of the bent part at the end of the new road, m.
    bending: f64,
    /// Lateral shift of the new road's lanes at the end, m to the left.
    shift: f64,
    /// Pose of the reference line of the host at the node, in the driving direction.
    at: Pose,
}

impl Slip {
    /// Returns the road that the slip road joins or leaves.
    pub fn host(&self) -> RoadId {
        self.host
    }

    /// Returns the distance of the node along the host, m.
    pub(super) fn s(&self) -> f64 {
        self.s
    }
}

/// A curve parametrised by distance: a reference line, or the points of a stroke that has not been fitted
/// yet.
pub(super) struct Course<'a> {
    /// Length, m.
    pub(super) length: f64,
    /// Returns the pose at a distance from the start of the curve, m.
    pub(super) pose: &'a dyn Fn(f64) -> Pose,
    /// Returns the roads near a point in ascending order. The list may contain roads that are not near.
    pub(super) roads_near: &'a dyn Fn(DVec2) -> Vec<RoadId>,
}

/// Returns the slip-road connections of a curve to fast roads, at its start and at its end.
/// `layers` contains the layers of both ends.
pub(super) fn slips(
    scenario: &Scenario,
    course: &Course<'_>,
    style: &RoadStyle,
    layers: [i8; 2],
) -> [Option<Slip>; 2] {
    let is_one_way = style.section.backward.is_empty() && !style.section.forward.is_empty();
    let driven = |lane: &(LaneType, f64)| lane.0 == LaneType::Driving;
    if !is_one_way || !style.section.forward.iter().all(driven) {
        return [None, None];
    }
    let [first, last] = layers;
    let start = slip(scenario, course, style, first, RoadEnd::Start);
    let end = slip(scenario, course, style, last, RoadEnd::End);
    match bending(&start) + bending(&end) + MIN_PIECE < course.length {
        true => [start, end],
        false => [None, None],
    }
}

/// Returns the connection between an end of a curve and a host on its layer; `None` if they do not meet.
fn slip(
    scenario: &Scenario,
    course: &Course<'_>,
    style: &RoadStyle,
    layer: i8,
    end: RoadEnd,
) -> Option<Slip> {
    // The angle is measured along the last stretch of the curve, because the tip of a hand-drawn
    // stroke may hook towards the middle of the road.
    let reach = BENDING.0.min(course.length);
    let pose = course.pose;
    let (tip, from, to) = match end {
        RoadEnd::Start => (pose(0.0), pose(0.0), pose(reach)),
        RoadEnd::End => (
            pose(course.length),
            pose(course.length - reach),
            pose(course.length),
        ),
    };
    let tip = Pose {
        heading: heading_of(to.position - from.position),
        ..tip
    };
    let side = scenario.about().driving_side;
    let near = (course.roads_near)(tip.position).into_iter();
    let hosts = near.filter_map(|id| Some((id, scenario.network().road(id)?)));
    hosts
        .filter(|(_, road)| road.layer == layer && is_host(road, side))
        .filter(|(_, road)| is_near_carriageway(road, tip))
        .find_map(|(id, road)| slip_beside(id, road, course, style, end))
}

/// Whether a road can be the host of a slip road: it must be fast and one-way in the direction of
/// its line.
fn is_host(road: &Road, side: DrivingSide) -> bool {
    let is_fast = road.class >= RoadClass::Ramp || road.speed_limit >= FAST;
    let lanes = || road.lane_sections.iter().flat_map(|section| &section.lanes);
    let driven = |lane: &Lane| lane.kind == LaneType::Driving && lane.is_forward(side);
    is_fast && lanes().all(driven)
}

fn is_near_carriageway(road: &Road, tip: Pose) -> bool {
    let (right, left) = road.edges(0.0);
    let half = left.max(-right);
    let (low, high) = road.reference_line.bounds(half + REACH);
    tip.position.cmpge(low).all() && tip.position.cmple(high).all() && {
        let foot = Projector::new(road.reference_line.clone()).closest(tip.position);
        let (right, left) = road.edges(foot.s);
        let inside = foot.t >= right - REACH && foot.t <= left + REACH;
        let bend = wrap_angle(tip.heading - road.reference_line.heading(foot.s)).abs();
        inside && bend < SMALL_ANGLE
    }
}

fn slip_beside(
    host: RoadId,
    road: &Road,
    course: &Course<'_>,
    style: &RoadStyle,
    end: RoadEnd,
) -> Option<Slip> {
    let projector = Projector::new(road.reference_line.clone());
    // Pose at a distance along the line from the end that meets the host.
    let at = |distance: f64| match end {
        RoadEnd::Start => (course.pose)(distance),
        RoadEnd::End => (course.pose)(course.length - distance),
    };
    let s = projector.closest(at(0.0).position).s;
    // The side from which the line comes is determined 60 m away, because its tip may have hooked
    // across the host.
    let far = projector
        .closest(at(BENDING.0.min(course.length)).position)
        .t;
    let is_left = far > 0.0;
    let (right, left) = road.edges(s);
    let width: f64 = style.section.forward.iter().map(|(_, width)| width).sum();
    // The centre of the new lanes, which are placed beside the outermost lane of the host.
    let shift = if is_left {
        left + 0.5 * width
    } else {
        right - 0.5 * width
    };
    // Searches back along the line for the point where it is clear of the host.
    let is_clear = |distance: &f64| {
        let t = projector.closest(at(*distance).position).t;
        if is_left {
            t > shift + AWAY
        } else {
            t < shift - AWAY
        }
    };
    let candidates =
        (0..=((BENDING.1 - BENDING.0) / 5.0) as u32).map(|i| BENDING.0 + 5.0 * f64::from(i));
    let bending = candidates
        .take_while(|distance| *distance < course.length)
        .find(is_clear)?;
    // The lane beyond the node must be within one section of the host.
    let index = road.section_index(s);
    // A road that joins needs room for the lane after the node, and a road that leaves needs it
    // before the node.
    let room = match end {
        RoadEnd::End => road.section_end(index) - s,
        RoadEnd::Start => s - road.lane_sections[index].s,
    };
    let auxiliary = (room - TAPER - BEYOND).min(AUXILIARY);
    let is_inside = s > MIN_PIECE && s < road.length() - MIN_PIECE;
    (auxiliary >= LEAST_AUXILIARY && is_inside).then(|| Slip {
        host,
        s,
        is_left,
        auxiliary,
        bending,
        shift,
        at: road.reference_line.pose(s),
    })
}

/// Returns the edit that draws a road with a slip road at one end or at both.
pub(super) fn draw(
    scenario: &Scenario,
    line: &ReferenceLine,
    style: &LayeredStyle<'_>,
    ends: &[StrokeEnd; 2],
) -> Result<Edit, DrawError> {
    let [start, end] = ends.each_ref().map(|end| end.slip().cloned());
    let bends = bending(&start) + bending(&end) + MIN_PIECE;
    if line.length() <= bends {
        return Err(DrawError::TooShort(line.length()));
    }
    let bent = bent_line(line, start.as_ref(), end.as_ref())?;
    let changes = moved_changes(style.changes, line, &bent);
    let style = &LayeredStyle {
        changes: &changes,
        ..*style
    };
    let mut drawing = Drawing::new(scenario);
    let (head, tail) = (bending(&start), bending(&end));
    // Near their hosts, slip roads cross no other road.
    let length = bent.length();
    let is_apart = |cut: &Crossing| {
        let is_joint = ends[0].covers(scenario, cut.own_s, cut.road, cut.s)
            || ends[1].covers(scenario, length - cut.own_s, cut.road, cut.s);
        let is_inner = cut.own_s > head.max(MIN_PIECE) && cut.own_s < length - tail.max(MIN_PIECE);
        is_inner && !is_joint
    };
    let mut cuts = drawing.crossings(&bent, style);
    cuts.retain(is_apart);
    let from = drawing.end_node(&ends[0].joint, bent.start().position);
    let to = drawing.end_node(&ends[1].joint, bent.end().position);
    let stops = drawing.stops(bent.length(), from, to, &cuts);
    let stops = drawing.layer_stops(&bent, style, stops);
    let first = drawing.edits.len();
    drawing.add_pieces(&bent, style, &stops)?;
    let own = &mut drawing.edits[first..];
    if let (Some(slip), Some(Edit::Road(_, Some(road)))) = (&start, own.first_mut()) {
        shift_start(road, slip);
    }
    if let (Some(slip), Some(Edit::Road(_, Some(road)))) = (&end, own.last_mut()) {
        shift_end(road, slip);
    }
    // The edits after those of the road's own pieces belong to the roads that were cut, including
    // the hosts.
    let own = first + own.len();
    let Edit::Batch(mut edits) = drawing.finish()? else {
        return Ok(Edit::Batch(Vec::new()));
    };
    let side = scenario.about().driving_side;
    for (slip, at, node) in [(&start, RoadEnd::End, from), (&end, RoadEnd::Start, to)] {
        if let Some(slip) = slip {
            open_lane(&mut edits[own..], slip, at, node, style.style, side);
        }
    }
    Ok(Edit::Batch(edits))
}

/// Returns the changes of layer with their distances along the bent line. Their positions and order
/// are kept.
fn moved_changes(
    changes: &[LayerChange],
    line: &ReferenceLine,
    bent: &ReferenceLine,
) -> Vec<LayerChange> {
    if changes.is_empty() {
        return Vec::new();
    }
    let projector = Projector::new(bent.clone());
    let mut last = 0.0_f64;
    let moved = changes.iter().map(|change| {
        last = last.max(projector.closest(line.pose(change.s).position).s);
        LayerChange { s: last, ..*change }
    });
    moved.collect()
}

fn bending(slip: &Option<Slip>) -> f64 {
    slip.as_ref().map_or(0.0, |slip| slip.bending)
}

/// Returns the line with its ends bent onto the reference lines of its hosts.
fn bent_line(
    line: &ReferenceLine,
    start: Option<&Slip>,
    end: Option<&Slip>,
) -> Result<ReferenceLine, DrawError> {
    let from = start.map_or(0.0, |slip| slip.bending);
    let to = line.length() - end.map_or(0.0, |slip| slip.bending);
    let mut bent = line.slice(from, to)?;
    if let Some(slip) = start {
        bent = ReferenceLine::join(slip.at, bent.start())?.joined(&bent)?;
    }
    if let Some(slip) = end {
        bent = bent.joined(&ReferenceLine::join(bent.end(), slip.at)?)?;
    }
    Ok(bent)
}

/// Shifts the lanes of the last piece of a slip road so that they are beside those of its host.
fn shift_end(road: &mut Road, slip: &Slip) {
    let offset = Poly3::value_in(&road.lane_offset, 0.0);
    let from = (road.length() - slip.bending).max(0.0);
    let length = road.length() - from;
    road.lane_offset.push(Poly3 {
        s: from.into(),
        a: offset.into(),
        ..Poly3::smooth_step(slip.shift, length)
    });
    // The new polynomial starts where the old one started, and replaces it.
    if from == 0.0 {
        road.lane_offset.remove(0);
    }
}

/// Shifts the lanes of the first piece of a slip road so that they are beside those of its host.
fn shift_start(road: &mut Road, slip: &Slip) {
    let offset = Poly3::value_in(&road.lane_offset, 0.0);
    let length = slip.bending.min(road.length());
    let back = Poly3 {
        a: (offset + slip.shift).into(),
        ..Poly3::smooth_step(-slip.shift, length)
    };
    let rest = Poly3 {
        s: length.into(),
        ..Poly3::constant(offset)
    };
    road.lane_offset = vec![back, rest];
}

/// Opens the auxiliary lanes on the piece of the host that begins or ends at a node.
fn open_lane(
    edits: &mut [Edit],
    slip: &Slip,
    at: RoadEnd,
    node: NodeId,
    style: &RoadStyle,
    side: DrivingSide,
) {
    let piece = edits.iter_mut().find_map(|edit| match edit {
        Edit::Road(_, Some(road)) if road.node_at(at) == node => Some(road),
        _ => None,
    });
    let Some(road) = piece else { return };
    let length = slip.auxiliary + TAPER;
    let (from, to) = match at {
        RoadEnd::Start => (0.0, length),
        RoadEnd::End => (road.length() - length, road.length()),
    };
    // Looked up at the middle, because the next section may begin at either end.
    let mut lanes = road.section_at(0.5 * (from + to)).lanes.clone();
    for (_, width) in &style.section.forward {
        lanes.push(auxiliary_lane(&lanes, *width, slip, at, side));
    }
    lanes.sort_by_key(|lane| -lane.id);
    replace_lanes(road, from, to, lanes);
}

/// Adds a lane on one side of the road, beside the existing lanes and driven in the direction of
/// the road.
fn auxiliary_lane(
    others: &[Lane],
    width: f64,
    slip: &Slip,
    at: RoadEnd,
    side: DrivingSide,
) -> Lane {
    let ids = others.iter().map(|lane| lane.id);
    let id = if slip.is_left {
        ids.fold(0, i8::max) + 1
    } else {
        ids.fold(0, i8::min) - 1
    };
    let mut lane = Lane::new(id, LaneType::Driving, width);
    // On the far side of the line, lanes run against the line unless they are reversed.
    if !lane.is_forward(side) {
        lane.direction = LaneDirection::Reversed;
    }
    lane.width = width_beside_node(width, slip.auxiliary, TAPER, at);
    lane
}
