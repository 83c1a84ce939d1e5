//! The clothoid kernel: points on a curve whose curvature changes linearly, and G1 interpolation.

use crate::math::{sin_cos, wrap_angle};
use crate::pose::{Pose, heading_of};
use glam::DVec2;

/// Nodes and weights of ten-point Gauss-Legendre quadrature on [-1, 1], positive half.
const GAUSS10: [(f64, f64); 5] = [
    (0.148_874_338_981_631_21, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_19, 0.269_266_719_309_996_36),
    (0.679_409_568_299_024_41, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_51, 0.149_451_349_150_580_59),
    (0.973_906_528_517_171_72, 0.066_671_344_308_688_14),
];

/// Like `GAUSS10`, but for six points.
const GAUSS6: [(f64, f64); 3] = [
    (0.238_619_186_083_196_9, 0.467_913_934_572_691_05),
    (0.661_209_386_466_264_5, 0.360_761_573_048_138_6),
    (0.932_469_514_203_152, 0.171_324_492_379_170_36),
];

/// Maximum turn that a panel of ten points integrates with an error of about 1e-13 m, rad.
const PANEL_TURN: f64 = 2.0;
/// Maximum turn up to which six points are as accurate as ten, rad. Their error grows with the
/// sixth power of the turn.
const SIX_POINT_TURN: f64 = 0.2;

/// Returns the displacement after `length` along a curve from the origin. The curve starts with the
/// given heading and curvature, and its curvature grows by `sharpness` per metre.
///
/// Uses Gauss-Legendre quadrature over panels of at most two radians, so that straight lines, arcs
/// and inflections need no special case (a Fresnel form loses digits close to an arc).
pub fn displacement(heading: f64, curvature: f64, sharpness: f64, length: f64) -> DVec2 {
    let end_curvature = curvature + sharpness * length;
    // The curvature is linear, so the mean of its absolute values at the ends bounds the turn of
    // the curve, even if the curvature changes sign.
    let turn = 0.5 * (curvature.abs() + end_curvature.abs()) * length.abs();
    let quadrature = |rule: &[(f64, f64)], panels: usize| {
        let half = 0.5 * length / panels as f64;
        let mut sum = DVec2::ZERO;
        for panel in 0..panels {
            let middle = (2 * panel + 1) as f64 * half;
            for &(node, weight) in rule {
                for u in [middle - node * half, middle + node * half] {
                    let angle = heading + u * (curvature + 0.5 * sharpness * u);
                    let (sin, cos) = sin_cos(angle);
                    sum += weight * DVec2::new(cos, sin);
                }
            }
        }
        sum * half
    };
    if turn <= SIX_POINT_TURN {
        quadrature(&GAUSS6, 1)
    } else {
        quadrature(
            &GAUSS10,
            (turn / PANEL_TURN).ceil().clamp(1.0, 1e6) as usize,
        )
    }
}

/// A clothoid that joins two poses, given by its curvature at the start, its change of curvature
/// and its length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clothoid {
    /// Curvature at the start, 1/m, positive to the left.
    pub curvature: f64,
    /// Change of curvature along the curve, 1/m^2.
    pub sharpness: f64,
    /// Length, m.
    pub length: f64,
}

impl Clothoid {
    /// Curvature at the end, 1/m.
    pub fn end_curvature(&self) -> f64 {
        self.curvature + self.sharpness * self.length
    }
}

/// Returns the clothoid from one pose to another with matching headings (G1 Hermite interpolation).
///
/// Solves for the one free shape parameter by Newton's method from a polynomial guess (Bertolazzi and Frego
/// 2015), and by a scan if that does not converge. Returns `None` if the poses coincide, are not finite, or
/// the solution would be longer than 100 chords.
pub fn join_poses(start: Pose, end: Pose) -> Option<Clothoid> {
    let chord = end.position - start.position;
    let distance = chord.length();
    if !distance.is_finite() || distance < 1e-9 {
        return None;
    }
    let direction = heading_of(chord);
    let phi0 = wrap_angle(start.heading - direction);
    let phi1 = wrap_angle(end.heading - direction);
    let turn = phi1 - phi0;
    // In the unit chord, the heading is phi0 + (turn - A) u + A u^2, which ends at phi1 for any
    // shape A. The remaining condition is that the lateral offset at u = 1 vanishes. For small
    // angles, this offset is the mean of the heading, phi0 + turn / 2 - A / 6, so A = 3 (phi0 +
    // phi1).
    let guess = 3.0 * (phi0 + phi1);
    newton_shape(phi0, turn, guess)
        .and_then(|shape| scaled(phi0, turn, shape, distance))
        // Newton's method may have found a curve that winds around, so a scan then searches for a
        // shorter one.
        .filter(|join| join.length < 10.0 * distance)
        .or_else(|| scan_shapes(phi0, turn, distance))
}

/// Scales the unit clothoid of a shape to a chord. Returns `None` if the clothoid leads backwards or is
/// longer than 100 chords.
fn scaled(phi0: f64, turn: f64, shape: f64, distance: f64) -> Option<Clothoid> {
    // The unit clothoid ends at (ahead, 0). It is scaled by length = distance / ahead, so
    // curvatures are divided by the length and their change by its square.
    let ahead = displacement(phi0, turn - shape, 2.0 * shape, 1.0).x;
    let length = distance / ahead;
    (length > 0.0 && length < 100.0 * distance).then(|| Clothoid {
        curvature: (turn - shape) / length,
        sharpness: 2.0 * shape / (length * length),
        length,
    })
}

/// Finds the shape of the unit clothoid by Newton's method from a guess; `None` if it does not
/// converge within 20 steps.
fn newton_shape(phi0: f64, turn: f64, guess: f64) -> Option<f64> {
    let mut shape = guess;
    for _ in 0..20 {
        let curvature = turn - shape;
        let lateral = displacement(phi0, curvature, 2.0 * shape, 1.0).y;
        if lateral.abs() < 1e-14 {
            return Some(shape);
        }
        let step = lateral / lateral_slope(phi0, curvature, shape);
        if !step.is_finite() {
            return None;
        }
        shape -= step;
        if step.abs() < 1e-13 * (1.0 + shape.abs()) {
            return Some(shape);
        }
    }
    None
}

/// Finds the shortest join by scanning shapes and bisection.
///
/// If both tangents are nearly opposite to the chord, the polynomial guess is near a fold of the
/// offset function. Newton's method then oscillates, or converges to a circle of a hundred chords.
/// In this case, a curve that turns by one full turn less is also tried: leaving on one side and
/// returning on the other is much shorter. With shape parameters above 30, the curve winds around
/// several times.
fn scan_shapes(phi0: f64, turn: f64, distance: f64) -> Option<Clothoid> {
    const REACH: i32 = 120;
    const STEP: f64 = 0.25;
    let mut best: Option<Clothoid> = None;
    // Turning in the other direction leads to the same heading, for example 160 degrees to the
    // right instead of 200 degrees to the left.
    for turn in [turn, turn - std::f64::consts::TAU.copysign(turn)] {
        let lateral = |shape: f64| displacement(phi0, turn - shape, 2.0 * shape, 1.0).y;
        for low in (-REACH..REACH).map(|i| f64::from(i) * STEP) {
            if (lateral(low) > 0.0) == (lateral(low + STEP) > 0.0) {
                continue;
            }
            let shape = bisect(low, low + STEP, lateral);
            let shorter = |join: &Clothoid| best.is_none_or(|best| join.length < best.length);
            best = scaled(phi0, turn, shape, distance).filter(shorter).or(best);
        }
    }
    best
}

/// Finds a root of `value` between two arguments where it has different signs.
fn bisect(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let rising = value(high) > 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if (value(middle) > 0.0) == rising {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// Returns the derivative of the lateral end offset with respect to the shape parameter.
fn lateral_slope(phi0: f64, curvature: f64, shape: f64) -> f64 {
    // One panel is enough even if the offset needs several, because the slope determines only the
    // next step, and the iteration ends when the offset vanishes.
    let mut sum = 0.0;
    for (node, weight) in GAUSS10 {
        for u in [0.5 - 0.5 * node, 0.5 + 0.5 * node] {
            let angle = phi0 + u * (curvature + shape * u);
            // The angle is phi0 + (turn - A) u + A u^2, so its derivative with respect to A is u^2 - u.
            sum += 0.5 * weight * (u * u - u) * crate::math::cos(angle);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Stream;
    use proptest::prelude::*;

    #[test]
    fn a_quarter_circle_ends_beside_its_centre() {
        let end = displacement(0.0, 0.1, 0.0, 5.0 * std::f64::consts::PI);
        assert!((end - DVec2::new(10.0, 10.0)).length() < 1e-12);
    }

    #[test]
    fn rules_of_few_points_agree_with_many_panels() {
        // Tests each rule at its maximum turn, on clothoids with and without an inflection.
        for turn in [SIX_POINT_TURN, PANEL_TURN] {
            for share in [0.0, 0.5, 1.0] {
                let (length, total) = (60.0, 2.0 * turn / 60.0);
                let (first, last) = (share * total, (1.0 - share) * total);
                let sharpness = (last - first) / length;
                let whole = displacement(0.3, first, sharpness, length);
                let mut pieces = DVec2::ZERO;
                for i in 0..64 {
                    let (u, step) = (f64::from(i) * length / 64.0, length / 64.0);
                    let heading = 0.3 + u * (first + 0.5 * sharpness * u);
                    pieces += displacement(heading, first + sharpness * u, sharpness, step);
                }
                assert!((whole - pieces).length() < 1e-12, "{turn} {share}");
            }
        }
    }

    /// Joins two poses and returns the error at the end, in metres and radians, and the length in chords.
    fn join_and_measure(start: Pose, end: Pose) -> Option<(f64, f64, f64)> {
        let clothoid = join_poses(start, end)?;
        let reached = start.position
            + displacement(
                start.heading,
                clothoid.curvature,
                clothoid.sharpness,
                clothoid.length,
            );
        let turn = 0.5 * (clothoid.curvature + clothoid.end_curvature()) * clothoid.length;
        let chord = (end.position - start.position).length();
        Some((
            (reached - end.position).length(),
            wrap_angle(start.heading + turn - end.heading).abs(),
            clothoid.length / chord,
        ))
    }

    #[test]
    fn tangents_nearly_opposite_to_the_chord_are_joined() {
        let start = Pose::new(0.0, 0.0, 2.21753);
        let end = Pose::new(35.10094, -48.86860, 2.17418);
        let (miss, turn, chords) = join_and_measure(start, end).expect("a join");
        assert!(
            miss < 1e-9 && turn < 1e-9 && chords < 10.0,
            "{miss} {turn} {chords}"
        );
    }

    #[test]
    fn poses_of_all_headings_are_joined() {
        let mut stream = Stream::new(3, "joins", 0);
        let angle =
            |stream: &mut Stream| stream.next_in(-std::f64::consts::PI, std::f64::consts::PI);
        for _ in 0..5_000 {
            let start = Pose::new(0.0, 0.0, angle(&mut stream));
            let (x, y) = (stream.next_in(-60.0, 60.0), stream.next_in(-60.0, 60.0));
            let end = Pose::new(x, y, angle(&mut stream));
            let (miss, turn, chords) = join_and_measure(start, end).expect("a join");
            assert!(
                miss < 1e-8 && turn < 1e-8 && chords < 10.0,
                "{start:?} {end:?}: {miss} {turn} {chords}"
            );
        }
    }

    #[test]
    fn coinciding_poses_have_no_clothoid() {
        assert_eq!(join_poses(Pose::default(), Pose::default()), None);
    }

    proptest! {
        #[test]
        fn joined_poses_meet_at_the_end(
            x in -50.0..50.0f64, y in -50.0..50.0f64, h0 in -2.0..2.0f64, h1 in -2.0..2.0f64,
        ) {
            prop_assume!(DVec2::new(x, y).length() > 1.0);
            let direction = heading_of(DVec2::new(x, y));
            let start = Pose::new(0.0, 0.0, direction + h0);
            let end = Pose::new(x, y, direction + h1);
            let clothoid = join_poses(start, end).expect("solvable");
            let reached = displacement(
                start.heading, clothoid.curvature, clothoid.sharpness, clothoid.length);
            prop_assert!((reached - end.position).length() < 1e-9);
            let heading = start.heading
                + 0.5 * (clothoid.curvature + clothoid.end_curvature()) * clothoid.length;
            prop_assert!(wrap_angle(heading - end.heading).abs() < 1e-10);
        }
    }
}
