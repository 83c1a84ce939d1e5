//! Curves of bounded curvature for vehicles that can drive forwards and in reverse ([Reeds 1990]).
//!
//! A curve consists of up to five arcs and straight lines. The shortest path between two poses is
//! always one of 48 combinations, which are enumerated here with the sign of each piece. All
//! lengths are computed for a turning radius of 1 and then scaled.

use crate::math::{acos, asin, atan2, sin_cos, wrap_angle};
use crate::pose::Pose;
use glam::DVec2;
use std::f64::consts::{FRAC_PI_2, PI};

/// Length below which a piece is omitted, in turning radii.
const TINY: f64 = 1e-12;
/// Maximum number of pieces of a curve.
const MOST_PIECES: usize = 5;

/// Direction in which a piece of a curve bends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bend {
    /// To the left.
    Left,
    /// The piece is straight.
    Straight,
    /// To the right.
    Right,
}

impl Bend {
    /// Sign of the curvature: 1 to the left, 0 straight on, -1 to the right.
    #[inline]
    pub fn sign(self) -> f64 {
        match self {
            Self::Left => 1.0,
            Self::Straight => 0.0,
            Self::Right => -1.0,
        }
    }

    fn mirrored(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Straight => Self::Straight,
            Self::Right => Self::Left,
        }
    }
}

/// An arc or a straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePiece {
    /// Direction of the bend.
    pub bend: Bend,
    /// Length, m; negative if driven in reverse.
    pub length: f64,
}

/// A curve of up to five pieces.
///
/// ```
/// use roadwright_geometry::{Pose, reeds_shepp::ReedsShepp};
///
/// // Turning round on the spot takes three arcs of a sixth of a circle.
/// let curve = ReedsShepp::shortest(Pose::new(0.0, 0.0, 0.0), Pose::new(0.0, 0.0, 3.14159), 5.0);
/// assert!((curve.length() - 5.0 * 3.14159).abs() < 1e-3);
/// assert_eq!(curve.pieces().len(), 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReedsShepp {
    pieces: [CurvePiece; MOST_PIECES],
    count: usize,
    radius: f64,
}

impl ReedsShepp {
    /// Returns the shortest curve between two poses. `radius` is the turning radius, m.
    pub fn shortest(from: Pose, to: Pose, radius: f64) -> Self {
        let mut best = Self::empty(radius);
        let mut least = f64::INFINITY;
        Self::for_each(from, to, radius, |curve| {
            let length = curve.length();
            if length < least {
                (best, least) = (curve, length);
            }
        });
        best
    }

    /// Calls `visit` with every curve between two poses that could be the shortest one, in a fixed
    /// order. There is at least one such curve.
    pub fn for_each(from: Pose, to: Pose, radius: f64, mut visit: impl FnMut(Self)) {
        let local = from.to_local(to.position) / radius;
        let goal = Goal::new(local, wrap_angle(to.heading - from.heading));
        let reversed = goal.reversed();
        for change in Change::ALL {
            let words = Words {
                goal: goal.changed(change),
                change,
                radius,
            };
            words.visit_from_start(&mut visit);
            let words = Words {
                goal: reversed.changed(change),
                change,
                radius,
            };
            words.visit_from_end(&mut visit);
        }
    }

    fn empty(radius: f64) -> Self {
        let nothing = CurvePiece {
            bend: Bend::Straight,
            length: 0.0,
        };
        Self {
            pieces: [nothing; MOST_PIECES],
            count: 0,
            radius,
        }
    }

    /// Pieces of the curve in driving order.
    pub fn pieces(&self) -> &[CurvePiece] {
        &self.pieces[..self.count]
    }

    /// Turning radius of the arcs, m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Length, m.
    pub fn length(&self) -> f64 {
        self.pieces().iter().map(|piece| piece.length.abs()).sum()
    }

    /// Returns the number of changes between forwards and reverse.
    pub fn gear_changes(&self) -> usize {
        let pairs = self.pieces().windows(2);
        let is_change = |pair: &&[CurvePiece]| pair[0].length * pair[1].length < 0.0;
        pairs.filter(is_change).count()
    }

    /// Returns the pose at the end of the curve, given the pose at its start.
    pub fn end(&self, from: Pose) -> Pose {
        self.pieces().iter().fold(from, |pose, piece| {
            arc(pose, piece.bend.sign() / self.radius, piece.length)
        })
    }
}

/// Returns the pose after a distance along an arc. `curvature` is in 1/m, positive to the left. `length` is in m,
/// negative in reverse.
#[inline]
pub fn arc(pose: Pose, curvature: f64, length: f64) -> Pose {
    let turn = curvature * length;
    let (sin, cos) = sin_cos(turn);
    let (ahead, left) = if turn.abs() < 1e-6 {
        // For small angles, the first terms of the series are used, because the exact quotients lose precision.
        (length * (1.0 - turn * turn / 6.0), 0.5 * length * turn)
    } else {
        (sin / curvature, (1.0 - cos) / curvature)
    };
    Pose {
        position: pose.point(ahead, left),
        heading: wrap_angle(pose.heading + turn),
    }
}

/// A symmetry that maps curves to other curves.
#[derive(Debug, Clone, Copy)]
struct Change {
    /// Whether forwards and reverse are exchanged.
    flips_gear: bool,
    /// Whether left and right are exchanged.
    mirrors: bool,
}

impl Change {
    const ALL: [Self; 4] = [
        Self::new(false, false),
        Self::new(true, false),
        Self::new(false, true),
        Self::new(true, true),
    ];

    const fn new(flips_gear: bool, mirrors: bool) -> Self {
        Self {
            flips_gear,
            mirrors,
        }
    }
}

/// End of a curve that starts at the origin, in units of the turning radius.
#[derive(Debug, Clone, Copy)]
struct Goal {
    x: f64,
    y: f64,
    heading: f64,
    sin: f64,
    cos: f64,
}

impl Goal {
    fn new(place: DVec2, heading: f64) -> Self {
        let (sin, cos) = sin_cos(heading);
        Self {
            x: place.x,
            y: place.y,
            heading,
            sin,
            cos,
        }
    }

    fn changed(self, change: Change) -> Self {
        let mut goal = self;
        if change.flips_gear {
            goal.x = -goal.x;
            (goal.heading, goal.sin) = (-goal.heading, -goal.sin);
        }
        if change.mirrors {
            goal.y = -goal.y;
            (goal.heading, goal.sin) = (-goal.heading, -goal.sin);
        }
        goal
    }

    /// Returns the goal of the curve that leads from the end of this curve back to its start.
    fn reversed(self) -> Self {
        Self {
            x: self.x * self.cos + self.y * self.sin,
            y: self.x * self.sin - self.y * self.cos,
            ..self
        }
    }

    /// Returns the vector between the centres of the left turning circles of the start and the end.
    fn same_side(&self) -> DVec2 {
        DVec2::new(self.x - self.sin, self.y - 1.0 + self.cos)
    }

    /// Returns the vector from the centre of the start's left turning circle to that of the end's
    /// right turning circle.
    fn other_side(&self) -> DVec2 {
        DVec2::new(self.x + self.sin, self.y - 1.0 - self.cos)
    }
}

/// Curves to a goal, with a symmetry applied. Equation numbers refer to [Reeds 1990].
struct Words {
    goal: Goal,
    change: Change,
    radius: f64,
}

use Bend::{Left as L, Right as R, Straight as S};

impl Words {
    fn make(&self, pieces: &[(Bend, f64)], visit: &mut impl FnMut(ReedsShepp)) {
        let mut curve = ReedsShepp::empty(self.radius);
        let sign = if self.change.flips_gear { -1.0 } else { 1.0 };
        for &(bend, length) in pieces {
            if length.abs() < TINY {
                continue;
            }
            let bend = if self.change.mirrors {
                bend.mirrored()
            } else {
                bend
            };
            curve.pieces[curve.count] = CurvePiece {
                bend,
                length: sign * length * self.radius,
            };
            curve.count += 1;
        }
        visit(curve);
    }

    fn visit_from_start(&self, visit: &mut impl FnMut(ReedsShepp)) {
        if let Some([t, u, v]) = self.left_straight_left() {
            self.make(&[(L, t), (S, u), (L, v)], visit);
        }
        if let Some([t, u, v]) = self.left_straight_right() {
            self.make(&[(L, t), (S, u), (R, v)], visit);
        }
        if let Some([t, u, v]) = self.left_right_left() {
            self.make(&[(L, t), (R, u), (L, v)], visit);
        }
        if let Some([t, u, v]) = self.four_arcs() {
            self.make(&[(L, t), (R, u), (L, -u), (R, v)], visit);
        }
        if let Some([t, u, v]) = self.four_arcs_two_changes() {
            self.make(&[(L, t), (R, u), (L, u), (R, v)], visit);
        }
        if let Some([t, u, v]) = self.turn_then_left() {
            self.make(&[(L, t), (R, -FRAC_PI_2), (S, u), (L, v)], visit);
        }
        if let Some([t, u, v]) = self.turn_then_right() {
            self.make(&[(L, t), (R, -FRAC_PI_2), (S, u), (R, v)], visit);
        }
        if let Some([t, u, v]) = self.five_pieces() {
            let pieces = [(L, t), (R, -FRAC_PI_2), (S, u), (L, -FRAC_PI_2), (R, v)];
            self.make(&pieces, visit);
        }
    }

    fn visit_from_end(&self, visit: &mut impl FnMut(ReedsShepp)) {
        if let Some([t, u, v]) = self.left_right_left() {
            self.make(&[(L, v), (R, u), (L, t)], visit);
        }
        if let Some([t, u, v]) = self.turn_then_left() {
            self.make(&[(L, v), (S, u), (R, -FRAC_PI_2), (L, t)], visit);
        }
        if let Some([t, u, v]) = self.turn_then_right() {
            self.make(&[(R, v), (S, u), (R, -FRAC_PI_2), (L, t)], visit);
        }
    }

    /// Returns the lengths of an arc to the left, a straight line and an arc to the left (equation
    /// 8.1); `None` if no such curve leads to the goal.
    fn left_straight_left(&self) -> Option<[f64; 3]> {
        let between = self.goal.same_side();
        let (u, t) = (between.length(), atan2(between.y, between.x));
        let v = wrap_angle(self.goal.heading - t);
        (t >= -TINY && v >= -TINY).then_some([t, u, v])
    }

    /// Returns the lengths of an arc to the left, a straight line and an arc to the right (equation
    /// 8.2); `None` if no such curve leads to the goal.
    fn left_straight_right(&self) -> Option<[f64; 3]> {
        let between = self.goal.other_side();
        let squared = between.length_squared();
        if squared < 4.0 {
            return None;
        }
        let u = (squared - 4.0).sqrt();
        let t = wrap_angle(atan2(between.y, between.x) + atan2(2.0, u));
        let v = wrap_angle(t - self.goal.heading);
        (t >= -TINY && v >= -TINY).then_some([t, u, v])
    }

    /// Returns the lengths of arcs to the left, to the right in the other gear, and to the left
    /// (equations 8.3 and 8.4); `None` if no such curve leads to the goal.
    fn left_right_left(&self) -> Option<[f64; 3]> {
        let between = self.goal.same_side();
        let distance = between.length();
        if distance > 4.0 {
            return None;
        }
        let u = -2.0 * asin(0.25 * distance);
        let t = wrap_angle(atan2(between.y, between.x) + 0.5 * u + PI);
        let v = wrap_angle(self.goal.heading - t + u);
        (t >= -TINY && u <= TINY).then_some([t, u, v])
    }

    /// Returns the lengths of the first and the last of four arcs, given the lengths of the two
    /// arcs between them.
    fn outer_arcs(&self, u: f64, v: f64) -> (f64, f64) {
        let DVec2 { x: xi, y: eta } = self.goal.other_side();
        let delta = wrap_angle(u - v);
        let ((sin_u, cos_u), (sin_delta, cos_delta)) = (sin_cos(u), sin_cos(delta));
        let (a, b) = (sin_u - sin_delta, cos_u - cos_delta - 1.0);
        let angle = atan2(eta * a - xi * b, xi * a + eta * b);
        let side = 2.0 * (cos_delta - sin_cos(v).1 - cos_u) + 3.0;
        let tau = wrap_angle(if side < 0.0 { angle + PI } else { angle });
        (tau, wrap_angle(tau - u + v - self.goal.heading))
    }

    /// Returns the lengths t, u and v of the arcs t, u, -u, v, which bend alternately to the left
    /// and to the right (equation 8.7); `None` if no such curve leads to the goal.
    fn four_arcs(&self) -> Option<[f64; 3]> {
        let rho = 0.25 * (2.0 + self.goal.other_side().length());
        if rho > 1.0 {
            return None;
        }
        let u = acos(rho);
        let (t, v) = self.outer_arcs(u, -u);
        (t >= -TINY && v <= TINY).then_some([t, u, v])
    }

    /// Returns the lengths t, u and v of the arcs t, u, u, v, which bend alternately to the left
    /// and to the right (equation 8.8); `None` if no such curve leads to the goal.
    fn four_arcs_two_changes(&self) -> Option<[f64; 3]> {
        let rho = (20.0 - self.goal.other_side().length_squared()) / 16.0;
        if !(0.0..=1.0).contains(&rho) {
            return None;
        }
        let u = -acos(rho);
        let (t, v) = self.outer_arcs(u, u);
        (t >= -TINY && v >= -TINY).then_some([t, u, v])
    }

    /// Returns the lengths of the first arc, the straight line and the last arc of a curve. The
    /// second piece of the curve is a quarter circle in the other gear. The last arc bends to the
    /// left (equation 8.9). `None` if no such curve leads to the goal.
    fn turn_then_left(&self) -> Option<[f64; 3]> {
        let between = self.goal.same_side();
        let rho = between.length();
        if rho < 2.0 {
            return None;
        }
        let r = (rho * rho - 4.0).sqrt();
        let u = 2.0 - r;
        let t = wrap_angle(atan2(between.y, between.x) + atan2(r, -2.0));
        let v = wrap_angle(self.goal.heading - FRAC_PI_2 - t);
        (t >= -TINY && u <= TINY && v <= TINY).then_some([t, u, v])
    }

    /// Like [`Self::turn_then_left`], but with a last arc that bends to the right (equation 8.10).
    fn turn_then_right(&self) -> Option<[f64; 3]> {
        let between = self.goal.other_side();
        let rho = between.length();
        if rho < 2.0 {
            return None;
        }
        let t = atan2(between.x, -between.y);
        let u = 2.0 - rho;
        let v = wrap_angle(t + FRAC_PI_2 - self.goal.heading);
        (t >= -TINY && u <= TINY && v <= TINY).then_some([t, u, v])
    }

    /// Returns the lengths of the first arc, the straight line and the last arc of a curve. Its
    /// straight line is between two quarter circles (equation 8.11); `None` if no such curve leads
    /// to the goal.
    fn five_pieces(&self) -> Option<[f64; 3]> {
        let between = self.goal.other_side();
        let rho = between.length();
        if rho < 2.0 {
            return None;
        }
        let u = 4.0 - (rho * rho - 4.0).sqrt();
        if u > TINY {
            return None;
        }
        let DVec2 { x: xi, y: eta } = between;
        let t = wrap_angle(atan2(
            (4.0 - u) * xi - 2.0 * eta,
            -2.0 * xi + (u - 4.0) * eta,
        ));
        let v = wrap_angle(t - self.goal.heading);
        (t >= -TINY && v >= -TINY).then_some([t, u, v])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Stream;
    use proptest::prelude::*;

    fn error(a: Pose, b: Pose) -> f64 {
        let turned = wrap_angle(a.heading - b.heading).abs();
        (a.position - b.position).length().max(turned)
    }

    proptest! {
        #[test]
        fn every_curve_ends_at_its_goal(
            x in -30.0..30.0f64, y in -30.0..30.0f64, h in -3.2..3.2f64,
            gx in -30.0..30.0f64, gy in -30.0..30.0f64, gh in -3.2..3.2f64,
            near in 0.001..1.0f64, radius in 0.5..12.0f64,
        ) {
            let from = Pose::new(x, y, h);
            let to = Pose::new(x + near * (gx - x), y + near * (gy - y), gh);
            let mut count = 0;
            let mut worst = 0.0f64;
            ReedsShepp::for_each(from, to, radius, |curve| {
                count += 1;
                worst = worst.max(error(curve.end(from), to));
            });
            prop_assert!(count >= 2);
            prop_assert!(worst < 1e-9, "{worst}");
            let length = ReedsShepp::shortest(from, to, radius).length();
            prop_assert!(length >= (to.position - from.position).length() - 1e-9);
        }

        #[test]
        fn the_shortest_curve_has_the_same_length_backwards_and_mirrored(
            x in -12.0..12.0f64, y in -12.0..12.0f64, h in -3.1..3.1f64,
        ) {
            let (from, to) = (Pose::default(), Pose::new(x, y, h));
            let length = ReedsShepp::shortest(from, to, 3.0).length();
            let back = ReedsShepp::shortest(to, from, 3.0).length();
            let mirrored = ReedsShepp::shortest(from, Pose::new(x, -y, -h), 3.0).length();
            prop_assert!((length - back).abs() < 1e-9);
            prop_assert!((length - mirrored).abs() < 1e-9);
        }
    }

    /// Returns the length of the shortest path to the cell around a pose, found by Dijkstra's
    /// algorithm over short steps.
    fn searched(to: Pose, cell: f64, headings: i32) -> f64 {
        use std::cmp::Reverse;
        use std::collections::{BTreeMap, BinaryHeap};
        let key = |pose: &Pose| {
            let heading = (pose.heading / std::f64::consts::TAU * f64::from(headings)).round();
            let place = (pose.position / cell).round();
            (
                place.x as i32,
                place.y as i32,
                (heading as i32).rem_euclid(headings),
            )
        };
        let step = 1.2 * cell;
        let mut poses = vec![Pose::default()];
        let mut best = BTreeMap::new();
        let mut queue = BinaryHeap::from([Reverse((0u64, 0usize))]);
        while let Some(Reverse((steps, at))) = queue.pop() {
            let pose = poses[at];
            if best.insert(key(&pose), steps).is_some() {
                continue;
            }
            if key(&pose) == key(&to) {
                return steps as f64 * step;
            }
            for gear in [1.0, -1.0] {
                for curvature in [-1.0, 0.0, 1.0] {
                    let next = arc(pose, curvature, gear * step);
                    let is_inside = next.position.abs().max_element() < 4.0;
                    if is_inside && !best.contains_key(&key(&next)) {
                        poses.push(next);
                        queue.push(Reverse((steps + 1, poses.len() - 1)));
                    }
                }
            }
        }
        f64::INFINITY
    }

    #[test]
    fn no_searched_path_is_shorter() {
        let mut stream = Stream::new(5, "reeds_shepp", 0);
        let (cell, headings) = (0.125, 48);
        for _ in 0..10 {
            let mut along = || stream.next_in(-2.0, 2.0);
            let to = Pose::new(along(), along(), 1.5 * along());
            let length = ReedsShepp::shortest(Pose::default(), to, 1.0).length();
            let found = searched(to, cell, headings);
            // Because of the cells, the path of the search is slightly too short at each gear
            // change, and the search can take only whole steps.
            assert!(length < found + 0.35, "{to:?}: {length} {found}");
            assert!(found < 1.25 * length + 0.4, "{to:?}: {length} {found}");
        }
    }

    #[test]
    fn known_curves_are_found() {
        let from = Pose::default();
        let lengths = [
            (Pose::new(10.0, 0.0, 0.0), 10.0),
            (Pose::new(-10.0, 0.0, 0.0), 10.0),
            (Pose::new(2.0, 2.0, FRAC_PI_2), PI),
            (Pose::new(0.0, 0.0, PI), 2.0 * PI),
            (Pose::new(0.0, 4.0, PI), 2.0 * PI),
        ];
        for (to, length) in lengths {
            let curve = ReedsShepp::shortest(from, to, 2.0);
            assert!((curve.length() - length).abs() < 1e-9, "{to:?}: {curve:?}");
        }
    }
}
