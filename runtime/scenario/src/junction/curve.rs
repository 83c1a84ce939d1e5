//! The curve of a connecting path.

use super::corner::Fillet;
use glam::DVec2;
use roadwright_geometry::clothoid::displacement;
use roadwright_geometry::cubic::Cubic;
use roadwright_geometry::math::{cos, sin, tan, wrap_angle};
use roadwright_geometry::{MIN_SEGMENT, Pose, ReferenceLine, Segment, unit};
use std::f64::consts::FRAC_PI_2;

/// Fraction of the turn that each of the two spirals covers. With spirals, the radius is 20 % smaller than
/// that of a pure arc, but drivers have time to turn the steering wheel.
const SPIRAL_SHARE: f64 = 0.15;
/// Maximum relative difference at which the curvatures of two lanes count as equal to that of the
/// arc between them.
const SAME_BEND: f64 = 0.2;
/// Maximum turn for which a path is built from its two tangents, rad. The tangents of a larger turn
/// meet too far away.
const MAX_TURN: f64 = 150.0 * std::f64::consts::PI / 180.0;
/// Maximum distance between the ends of a path, m. No junction is that large. A longer path would
/// mean that a road ends in the wrong place, so it is not built.
const LONGEST: f64 = 300.0;
/// Clearance of a path from the kerb on its inner side, m: slightly more than half the width of a
/// bus.
const BESIDE_KERB: f64 = 1.3;
/// Minimum radius to which a path is tightened so that it keeps clear of a kerb, m.
const TIGHTEST: f64 = 6.0;
/// Tolerance for reaching an end of the curve, m.
const END_TOLERANCE: f64 = 1e-6;

/// Returns a smooth curve from one pose to another, made of OpenDRIVE geometry records. `None` if there is no such
/// curve, or if it could not be built as a road.
///
/// These forms are tried in order: a line; if the tangents meet ahead, a line, spiral, arc, spiral and line
/// (in closed form, so the ends are exact to about 1e-9 m); one clothoid; a cubic.
pub fn connecting_curve(start: Pose, end: Pose) -> Option<ReferenceLine> {
    connecting_bend(LaneEnds::straight(start, end), None)
}

/// The poses at the end of one lane and at the start of the next, which a path joins.
#[derive(Clone, Copy)]
pub(super) struct LaneEnds {
    pub(super) start: Pose,
    pub(super) end: Pose,
    /// Curvature of the first lane at its end, 1/m, positive to the left.
    pub(super) bent_before: f64,
    /// Curvature of the second lane at its start, 1/m, positive to the left.
    pub(super) bent_after: f64,
}

impl LaneEnds {
    /// Returns the ends of two straight lanes.
    pub(super) fn straight(start: Pose, end: Pose) -> Self {
        Self {
            start,
            end,
            bent_before: 0.0,
            bent_after: 0.0,
        }
    }
}

/// Like `connecting_curve`, but for lanes that may be curved at their ends. Lanes of equal
/// curvature are joined by an arc with that curvature, without spirals to a straight line and back,
/// so that a ring stays round. If the path goes round a kerb, it starts to turn late enough to keep
/// clear of the kerb.
pub(super) fn connecting_bend(ends: LaneEnds, kerb: Option<&Fillet>) -> Option<ReferenceLine> {
    let LaneEnds { start, end, .. } = ends;
    let local = start.to_local(end.position);
    let turn = wrap_angle(end.heading - start.heading);
    if local.length() > LONGEST {
        return None;
    }
    if local.x > MIN_SEGMENT && local.y.abs() < 1e-9 && turn.abs() < 1e-9 {
        return ReferenceLine::straight(start.position, end.position).ok();
    }
    if let Some(line) = rounded_turn(ends, local, turn, kerb).filter(|line| meets(line, end)) {
        return Some(line);
    }
    let chord = local.length();
    let smooth = ReferenceLine::join(start, end)
        .ok()
        // A longer curve would loop.
        .filter(|line| meets(line, end) && line.length() < 3.0 * chord);
    smooth.or_else(|| cubic(start, end).filter(|line| meets(line, end)))
}

/// Whether a line ends at the required pose. This is nearly always the case, because quadrature and
/// Newton's method are accurate enough. If a path missed its lane, vehicles would jump.
fn meets(line: &ReferenceLine, end: Pose) -> bool {
    let reached = line.end();
    (reached.position - end.position).length() < END_TOLERANCE
        && wrap_angle(reached.heading - end.heading).abs() < END_TOLERANCE
}

/// Returns a line, spiral, arc, spiral and line between two tangents that meet ahead.
///
/// ```text
///                          | end
///                          | line, if `last` is the longer one
///                        .'
///                     .-'  spiral, arc, spiral
///   start ---------.-'- - - + meeting point
///          line  |<tangent>|
///          |<--- first --->|
/// ```
///
/// A bend that continues the curvature of both lanes has no spirals. Both tangents are shortened if the bend
/// would otherwise come too close to the kerb.
fn rounded_turn(
    ends: LaneEnds,
    end: DVec2,
    turn: f64,
    kerb: Option<&Fillet>,
) -> Option<ReferenceLine> {
    let start = ends.start;
    if turn.abs() < 1e-4 || turn.abs() > MAX_TURN {
        return None;
    }
    // Start tangent: y = 0. End tangent: through `end` at angle `turn`. Going back along the end tangent by
    // `last` leads to y = 0 at x = `first`, where the two meet.
    let last = end.y / sin(turn);
    let first = end.x - last * cos(turn);
    let tangent = first.min(last);
    if tangent < 1e-3 {
        return None;
    }
    let size = turn.abs();
    let line = |length: f64| (length >= MIN_SEGMENT).then_some(Segment::Line { length });
    // The tangent of an arc without spirals is R tan(turn / 2).
    let plain = turn.signum() * tan(0.5 * size) / tangent;
    let goes_on = |bent: f64| (bent / plain - 1.0).abs() < SAME_BEND;
    if goes_on(ends.bent_before) && goes_on(ends.bent_after) {
        let arc = Segment::Arc {
            length: size / plain.abs(),
            curvature: plain,
        };
        let lines = (line(first - tangent), line(last - tangent));
        let segments = lines.0.into_iter().chain([arc]).chain(lines.1);
        return ReferenceLine::new(start, segments.collect()).ok();
    }
    let spiral_turn = SPIRAL_SHARE * size;
    // Computed for a unit radius first, and then scaled by the radius.
    let spiral = unit_spiral(spiral_turn);
    let unit_tangent = unit_tangent(size);
    let meeting = start.point(first, 0.0);
    let limit = kerb.and_then(|kerb| largest_radius(kerb, start, meeting, turn));
    let limit = limit.map_or(f64::INFINITY, |limit| limit.max(TIGHTEST));
    let widest = tangent / unit_tangent;
    let (radius, tangent) = match limit < widest {
        true => (limit, limit * unit_tangent),
        false => (widest, tangent),
    };
    let curvature = turn.signum() / radius;
    let (spiral, arc) = (spiral * radius, (size - 2.0 * spiral_turn) * radius);
    let mut segments = Vec::with_capacity(5);
    segments.extend(line(first - tangent));
    segments.push(Segment::Spiral {
        length: spiral,
        curvature_start: 0.0,
        curvature_end: curvature,
    });
    segments.push(Segment::Arc {
        length: arc,
        curvature,
    });
    segments.push(Segment::Spiral {
        length: spiral,
        curvature_start: curvature,
        curvature_end: 0.0,
    });
    segments.extend(line(last - tangent));
    ReferenceLine::new(start, segments).ok()
}

/// Returns the length of a spiral that turns by an angle and ends with radius 1. A clothoid whose
/// curvature grows from 0 to 1 turns by half its length.
fn unit_spiral(turn: f64) -> f64 {
    2.0 * turn
}

/// Returns the tangent length of a turn by `size` with an arc of unit radius: the distance from an
/// end of the turn to the point where its tangents meet.
pub(super) fn unit_tangent(size: f64) -> f64 {
    let Lead { shift, lead } = Lead::of(size);
    (1.0 + shift) * tan(0.5 * size) + lead
}

/// Effect of the spirals on a turn whose arc has unit radius. As in surveying: compared with a plain arc, the spiral
/// shifts the arc inward by `shift` and begins `lead` earlier, so the tangent of the whole curve is
/// (R + shift) tan(turn / 2) + lead.
struct Lead {
    shift: f64,
    lead: f64,
}

impl Lead {
    fn of(size: f64) -> Self {
        let spiral_turn = SPIRAL_SHARE * size;
        let spiral = unit_spiral(spiral_turn);
        let reach = displacement(0.0, 0.0, 1.0 / spiral, spiral);
        Self {
            shift: reach.y - (1.0 - cos(spiral_turn)),
            lead: reach.x - sin(spiral_turn),
        }
    }
}

/// Returns the largest radius that keeps the arc of a turn clear of the kerb on the inside of the
/// turn; `None` if no radius does. The tangents of the turn meet at `meeting`.
///
/// ```text
///  meeting +-----------     The centre of the arc is at distance R k from the meeting point, on the bisector.
///          |`. .-'          The point of the arc that is nearest to the kerb's centre K is R - |centre - K|
///          | .'  _.--       away from it, which has to be the kerb's radius and the clearance. With q from K to
///          |'  .'  K        the meeting point and b along the bisector, (R - m)^2 = |q + R k b|^2.
/// ```
fn largest_radius(kerb: &Fillet, start: Pose, meeting: DVec2, turn: f64) -> Option<f64> {
    let inward = FRAC_PI_2.copysign(turn);
    let bisector = unit(start.heading + 0.5 * turn + inward);
    let from_centre = meeting - kerb.centre;
    let beside = |heading: f64| -from_centre.dot(unit(heading + inward)) - kerb.radius;
    let lanes = beside(start.heading).min(beside(start.heading + turn));
    let clear = kerb.radius + BESIDE_KERB.min(lanes);
    let k = (1.0 + Lead::of(turn.abs()).shift) / cos(0.5 * turn);
    let a = k * k - 1.0;
    let b = k * from_centre.dot(bisector) + clear;
    let c = from_centre.length_squared() - clear * clear;
    let square = b * b - a * c;
    (lanes > 0.0 && square >= 0.0).then(|| (square.sqrt() - b) / a)
}

/// Joins two poses by a single cubic with handles of 40 % of the chord; `None` if the cubic is not
/// valid.
fn cubic(start: Pose, end: Pose) -> Option<ReferenceLine> {
    let local = start.to_local(end.position);
    // A handle is a third of the velocity at its end: 1.2 / 3 of the chord.
    let speed = 1.2 * local.length();
    let turn = end.heading - start.heading;
    let velocity = DVec2::new(cos(turn), sin(turn)) * speed;
    let cubic = Cubic::hermite(speed, local, velocity);
    ReferenceLine::new(start, vec![Segment::Cubic(cubic)]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::junction::arm::Pair;
    use proptest::prelude::*;

    #[test]
    fn a_right_angle_loses_a_fifth_of_the_arc_radius() {
        let line = connecting_curve(Pose::default(), Pose::new(8.0, 8.0, FRAC_PI_2)).unwrap();
        // A pure arc would have a radius of 8 m. With spirals of 15 % each, the radius is 8 / 1.244.
        assert!((1.0 / line.max_curvature() - 8.0 / 1.244).abs() < 0.01);
        assert_eq!(line.segments().len(), 3);
    }

    #[test]
    fn unequal_arms_get_a_straight_piece() {
        let line = connecting_curve(Pose::default(), Pose::new(8.0, 20.0, FRAC_PI_2)).unwrap();
        assert_eq!(line.segments().len(), 4);
        assert!((1.0 / line.max_curvature() - 8.0 / 1.244).abs() < 0.01);
    }

    #[test]
    fn a_lane_shift_and_a_u_turn_have_curves() {
        assert!(connecting_curve(Pose::default(), Pose::new(20.0, 3.0, 0.0)).is_some());
        let back = connecting_curve(Pose::default(), Pose::new(0.0, 12.0, std::f64::consts::PI));
        assert!((1.0 / back.unwrap().max_curvature() - 6.0).abs() < 1e-6);
    }

    #[test]
    fn a_bend_that_goes_on_keeps_its_radius() {
        let on_ring = |angle: f64| Pose {
            position: 18.0 * DVec2::new(cos(angle), sin(angle)),
            heading: angle + FRAC_PI_2,
        };
        let ends = (on_ring(-0.4), on_ring(0.3));
        let bent = 1.0 / 18.0;
        let bend = |bent_before, bent_after| {
            let ends = LaneEnds {
                start: ends.0,
                end: ends.1,
                bent_before,
                bent_after,
            };
            connecting_bend(ends, None).unwrap()
        };
        let line = bend(bent, bent);
        assert!((line.length() - 0.7 * 18.0).abs() < 1e-6);
        assert!((line.max_curvature() - bent).abs() < 1e-9);
        // Spirals join a straight lane and a bend, so that drivers have time to turn the steering
        // wheel.
        for (before, after) in [(0.0, bent), (bent, 0.0), (-bent, bent)] {
            let line = bend(before, after);
            assert!(line.max_curvature() > 1.1 * bent);
        }
    }

    /// The stop lines of zebra crossings are far back. A bend that began there would cut across the
    /// kerb.
    #[test]
    fn a_turn_from_far_back_keeps_clear_of_the_kerb() {
        let kerb = Fillet {
            feet: Pair::both(0.0),
            centre: DVec2::new(-7.5, 7.5),
            radius: 6.0,
        };
        let nearest = |line: &ReferenceLine| {
            let points = (0..200).map(|i| line.pose(line.length() * f64::from(i) / 200.0));
            let distances = points.map(|pose| (pose.position - kerb.centre).length());
            distances.fold(f64::INFINITY, f64::min) - kerb.radius
        };
        for (before, after) in [(20.0, 20.0), (14.0, 20.0), (20.0, 14.0)] {
            let (start, end) = (
                Pose::new(-before, 0.0, 0.0),
                Pose::new(0.0, after, FRAC_PI_2),
            );
            let ends = LaneEnds::straight(start, end);
            let wide = connecting_bend(ends, None).unwrap();
            assert!(nearest(&wide) < 0.5, "{}", nearest(&wide));
            let line = connecting_bend(ends, Some(&kerb)).unwrap();
            assert!(
                (nearest(&line) - BESIDE_KERB).abs() < 0.01,
                "{}",
                nearest(&line)
            );
            assert!(meets(&line, end));
        }
    }

    proptest! {
        #[test]
        fn ends_are_met(x in 2.0..40.0f64, y in -30.0..30.0f64, turn in -2.6..2.6f64) {
            let start = Pose::new(1e5, -2e5, 0.7);
            let end = Pose { position: start.point(x, y), heading: start.heading + turn };
            if let Some(line) = connecting_curve(start, end) {
                prop_assert!(meets(&line, end));
            }
        }
    }
}
