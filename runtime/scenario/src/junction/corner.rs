//! Corners between neighbouring arms, and how far they cut the arms back.
//!
//! ```text
//!                |       |
//!      left edge |  arm  |
//!               .'       |       The left edge of an arm meets the right edge of the next one
//!   _________..'                 counter-clockwise at `+`, `distance` out along the arm and
//!    right edge  +               `next_distance` out along the next one. An arc rounds the
//!   next                         corner; it begins `tangent` metres farther out on both edges.
//!   _________                    An arm is cut back by the larger demand of its two corners.
//! ```

use super::arm::Arm;
use crate::road::LaneDirection;
use roadwright_geometry::heading_of;
use roadwright_geometry::math::{cos, sin, tan, wrap_angle};
use std::f64::consts::{PI, TAU};

/// Below this angle two arms part like a gore, not at a corner.
const GORE_ANGLE: f64 = 35.0 * PI / 180.0;
/// Within this of a straight line two arms are joined by a taper.
const STRAIGHT: f64 = 22.5 * PI / 180.0;
/// Longest trim of a gore, m.
const GORE_TRIM: f64 = 25.0;
/// Longest trim at all, m. Edges that are nearly parallel meet far out.
const MAX_TRIM: f64 = 200.0;
/// Part of an arm that one junction may use before the fillet is made smaller: a little less than
/// half, so that the junctions at both ends leave something between them.
const ARM_SHARE: f64 = 0.45;
/// Radius that a bend between two arms is given, m.
const BEND_RADIUS: f64 = 20.0;
/// Least radius of a bend's inner kerb, m: a car has to get round it in its lane.
const MIN_BEND_RADIUS: f64 = 5.0;
/// Smallest radius at which turning back is offered, m: what a car can drive.
pub(super) const U_TURN_RADIUS: f64 = 4.5;
/// Space beyond the path of a vehicle that turns round in a dead end, m.
const TURNING_MARGIN: f64 = 1.5;
/// Shortest taper, m.
const MIN_TAPER: f64 = 0.15;

/// What stands between an arm and the next one counter-clockwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// Distance along this arm at which the edges meet, m.
    pub distance: f64,
    /// Distance along the next arm at which the edges meet, m.
    pub next_distance: f64,
    /// Radius that the class of the roads asks for, m; 0 where there is no kerb to round.
    pub wanted_radius: f64,
    /// Radius that fits, m.
    pub radius: f64,
    /// Length that the fillet takes of each arm beyond the meeting point, m.
    pub tangent: f64,
}

impl Corner {
    fn plain(distance: f64, next_distance: f64) -> Self {
        Self {
            distance,
            next_distance,
            wanted_radius: 0.0,
            radius: 0.0,
            tangent: 0.0,
        }
    }
}

/// The corner after each arm (arms counter-clockwise); none for a single arm.
pub(super) fn corners(arms: &[Arm<'_>]) -> Vec<Corner> {
    if arms.len() < 2 {
        return Vec::new();
    }
    (0..arms.len())
        .map(|i| between(&arms[i], &arms[(i + 1) % arms.len()], arms.len() == 2))
        .collect()
}

/// How far arm `i` is cut back: what the corners on both of its sides ask for, m.
pub(super) fn trim(arms: &[Arm<'_>], corners: &[Corner], i: usize) -> f64 {
    if corners.is_empty() {
        return turning_space(&arms[i]);
    }
    let (after, before) = (&corners[i], &corners[(i + arms.len() - 1) % arms.len()]);
    let demand = (after.distance + after.tangent).max(before.next_distance + before.tangent);
    // Stored in micrometres, so that reading a file back builds the same junction.
    (demand.min(MAX_TRIM) * 1e6).round() / 1e6
}

/// How much of a dead end is needed to turn round in: 0 where the road is too narrow for a car.
fn turning_space(arm: &Arm<'_>) -> f64 {
    let section = arm.road.section_at(arm.road_s(0.0));
    let bands = arm.road.lane_bands(section, arm.road_s(0.0));
    let drivable = section
        .lanes
        .iter()
        .zip(&bands)
        .filter(|(lane, _)| lane.kind.is_drivable());
    let places = drivable.filter(|(lane, _)| lane.direction == LaneDirection::Standard);
    let (mut right, mut left) = (0.0f64, 0.0f64);
    for (lane, band) in places {
        if lane.id < 0 {
            right = right.max(-band.centre);
        } else {
            left = left.max(band.centre);
        }
    }
    let radius = 0.5 * (left + right);
    let room = radius + TURNING_MARGIN;
    if left == 0.0 || right == 0.0 || radius < U_TURN_RADIUS || room > ARM_SHARE * arm.length() {
        return 0.0;
    }
    room
}

/// The corner from the left edge of `arm` to the right edge of `next`.
///
/// By the angle between them, counter-clockwise from `arm`:
///
/// ```text
///   0 .. 35 degrees     gore: arms part slowly; no kerb to round, and a limit of the trim
///   35 .. 157.5         fillet
///   157.5 .. 202.5      taper: arms in line
///   202.5 .. 325        none: the outside of a bend, where edges do not meet ahead
///   325 .. 360          a gore whose arms have changed places
/// ```
fn between(arm: &Arm<'_>, next: &Arm<'_>, only_two: bool) -> Corner {
    let angle = (next.bearing() - arm.bearing()).rem_euclid(TAU);
    if only_two {
        return bend(arm, next, angle);
    }
    if (angle - PI).abs() < STRAIGHT {
        return taper(arm, next, angle);
    }
    // Arms of a merged junction need not start at one point, so their order can invert.
    let inverted = angle > TAU - GORE_ANGLE;
    if angle > PI && !inverted {
        return Corner::plain(0.0, 0.0);
    }
    let Some((distance, next_distance)) = edges_meet(arm, next) else {
        // Arms that start in parallel part later: they share the first stretch.
        let shared = |arm: &Arm<'_>| GORE_TRIM.min(ARM_SHARE * arm.length());
        return Corner::plain(shared(arm), shared(next));
    };
    if angle < GORE_ANGLE || inverted {
        let widths = arm.half_widths(0.0).0 + next.half_widths(0.0).1;
        let cap = GORE_TRIM.min(2.0 * widths / sin(GORE_ANGLE));
        return Corner::plain(distance.min(cap), next_distance.min(cap));
    }
    let class = arm.road.class.min(next.road.class);
    fillet(
        arm,
        next,
        (distance, next_distance),
        angle,
        class.corner_radius(),
    )
}

/// A corner rounded by an arc; `base_radius` is the one wanted at a right angle.
fn fillet(
    arm: &Arm<'_>,
    next: &Arm<'_>,
    (distance, next_distance): (f64, f64),
    angle: f64,
    base_radius: f64,
) -> Corner {
    // Sharp corners get a smaller kerb radius than blunt ones: the tangent is radius / tan(angle / 2),
    // and with one radius for all a sharp corner would cut its arms back many times as far. For a
    // base radius of 8 m:
    //   60 degrees: 4.8 m, tangent 8.3 m; 90 degrees: 8 m, 8 m; 120 degrees: 11 m, 6.4 m.
    let blunt = if angle <= PI / 3.0 {
        0.6
    } else if angle <= PI / 2.0 {
        0.6 + 0.4 * (angle - PI / 3.0) / (PI / 6.0)
    } else {
        (1.0 + 0.5 * (angle - PI / 2.0) / (40.0 * PI / 180.0)).min(1.5)
    };
    let wanted_radius = base_radius * blunt;
    let room = |arm: &Arm<'_>, used: f64| (ARM_SHARE * arm.length() - used).max(0.0);
    let fits = room(arm, distance).min(room(next, next_distance)) * tan(0.5 * angle);
    let radius = wanted_radius.min(fits);
    Corner {
        distance,
        next_distance,
        wanted_radius,
        radius,
        tangent: radius / tan(0.5 * angle),
    }
}

/// Two arms in line, perhaps of other widths.
fn taper(arm: &Arm<'_>, next: &Arm<'_>, angle: f64) -> Corner {
    let (a, b) = (arm.half_widths(0.0).0, next.half_widths(0.0).1);
    let lanes = arm.road.section_at(arm.road_s(0.0)).lanes.len() as f64;
    // Longer for a sharper bend, by a metre for each radian and lane; a step in width is spread over
    // five times its size.
    let wanted = MIN_TAPER
        .max((angle - PI).abs() * lanes)
        .max((a - b).abs() * 5.0);
    let held = |arm: &Arm<'_>| wanted.min(ARM_SHARE * arm.length());
    Corner::plain(held(arm), held(next))
}

/// The corner of a bend: two arms only.
fn bend(arm: &Arm<'_>, next: &Arm<'_>, angle: f64) -> Corner {
    if continues(arm, next) {
        return Corner::plain(0.0, 0.0);
    }
    let straightness = (angle - PI).abs();
    if straightness < STRAIGHT {
        // The tangent of an arc of that radius: a gentle bend is smoothed, not given a corner.
        let wanted = BEND_RADIUS * tan(0.5 * straightness);
        let tapered = taper(arm, next, angle);
        let held = |arm: &Arm<'_>, d: f64| d.max(wanted).min(ARM_SHARE * arm.length());
        return Corner::plain(
            held(arm, tapered.distance),
            held(next, tapered.next_distance),
        );
    }
    // The outside of the bend: the corner on its inside cuts both arms back far enough.
    if angle > PI {
        return Corner::plain(0.0, 0.0);
    }
    match edges_meet(arm, next) {
        Some((d, n)) if angle >= GORE_ANGLE => {
            let class = arm.road.class.min(next.road.class);
            fillet(
                arm,
                next,
                (d, n),
                angle,
                class.corner_radius().max(MIN_BEND_RADIUS),
            )
        }
        Some((d, n)) => Corner::plain(d.min(GORE_TRIM), n.min(GORE_TRIM)),
        None => Corner::plain(0.0, 0.0),
    }
}

/// Whether two arms are one road in all but name: same place, heading and lanes.
pub(super) fn continues(arm: &Arm<'_>, next: &Arm<'_>) -> bool {
    let (a, b) = (arm.outward.start(), next.outward.start());
    let same_place = (a.position - b.position).length() < 1e-3;
    let straight = (wrap_angle(a.heading - b.heading).abs() - PI).abs() < 1e-3;
    let (left, right) = arm.half_widths(0.0);
    let (next_left, next_right) = next.half_widths(0.0);
    let same_edges = (left - next_right).abs() < 1e-3 && (right - next_left).abs() < 1e-3;
    let lanes = |arm: &Arm<'_>| arm.road.section_at(arm.road_s(0.0)).lanes.len();
    same_place && straight && same_edges && lanes(arm) == lanes(next)
}

/// Where the left edge of one arm meets the right edge of the next: distances along both, held
/// inside each arm. An arm that is shorter than the corner needs is used up: the layout sees to it.
///
/// Newton's method on the true offset curves from the node outward; exact in one step for
/// straight arms. `None` if the edges run parallel.
fn edges_meet(arm: &Arm<'_>, next: &Arm<'_>) -> Option<(f64, f64)> {
    let limit = |arm: &Arm<'_>| arm.length().min(MAX_TRIM);
    let (mut distance, mut next_distance) = (0.0, 0.0);
    for _ in 0..12 {
        let (a, b) = (arm.left_edge(distance), next.right_edge(next_distance));
        let (u, v) = (a.forward(), b.forward());
        let cross = u.perp_dot(v);
        // Sine of the angle between the edges: within a twentieth of a degree they are parallel.
        if cross.abs() < 1e-3 {
            return None;
        }
        // a + step u = b + next_step v, the crossing of the two tangents, by Cramer's rule.
        let gap = b.position - a.position;
        let (step, next_step) = (gap.perp_dot(v) / cross, gap.perp_dot(u) / cross);
        let moved = (distance + step).clamp(0.0, limit(arm)) - distance;
        let next_moved = (next_distance + next_step).clamp(0.0, limit(next)) - next_distance;
        distance += moved;
        next_distance += next_moved;
        if moved.abs() < 1e-9 && next_moved.abs() < 1e-9 {
            break;
        }
    }
    Some((distance, next_distance))
}

/// Distance between a corner point and its fillet's centre along the bisector, m.
pub(super) fn fillet_centre_distance(radius: f64, angle: f64) -> f64 {
    radius / sin(0.5 * angle).max(1e-6)
}

/// Angle at the corner between two edges, from the edges' headings, rad in [0, pi].
pub(super) fn edge_angle(heading: f64, next_heading: f64) -> f64 {
    roadwright_geometry::math::acos(cos(heading - next_heading))
}

/// Heading of the bisector of two outward headings.
pub(super) fn bisector(heading: f64, next_heading: f64) -> f64 {
    heading_of(roadwright_geometry::unit(heading) + roadwright_geometry::unit(next_heading))
}
