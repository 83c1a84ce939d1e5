//! Conversion between world coordinates (x, y, z) and road coordinates (s, t, h).

use crate::math::sin_cos;
use crate::pose::left_of;
use crate::reference_line::ReferenceLine;
use glam::{DVec2, DVec3};

/// A point in road coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RoadPoint {
    /// Distance along the reference line, in [0, length], m.
    pub s: f64,
    /// Distance to the left of the reference line, m. For a point beyond an end, it is the lateral part of
    /// the offset from that end.
    pub t: f64,
    /// Height above the surface, m.
    pub h: f64,
}

/// Maximum spacing of the knots of the guiding curve, m.
const KNOT_SPACING: f64 = 2.0;
/// Maximum turn between two knots, rad. It keeps the guiding curve within about a millimetre of the
/// line.
const KNOT_TURN: f64 = 0.25;
/// Distance from the line within which the grid finds points, m. Points farther away are found by a
/// scan over all knots.
const REACH: f64 = 32.0;
/// Cell size of the look-up grid before cells are enlarged to respect [`MAX_CELLS`], m.
const CELL: f64 = 4.0;
/// Maximum number of cells of the look-up grid.
const MAX_CELLS: f64 = 1e6;

/// Finds the point of a reference line that is closest to a given point.
///
/// A cubic Hermite curve through a table of knots guides a safeguarded Newton iteration. The last
/// steps use the exact line, so results are exact to about 1e-10 m. Where several roads overlap,
/// the caller chooses the projector of the intended road.
#[derive(Debug, Clone)]
pub struct Projector {
    line: ReferenceLine,
    knots: Vec<Knot>,
    spacing: f64,
    cells: CellIndex,
}

#[derive(Debug, Clone, Copy)]
struct Knot {
    position: DVec2,
    /// Unit tangent.
    tangent: DVec2,
}

impl Projector {
    /// Prepares a line for look-ups. O(length) time and memory.
    pub fn new(line: ReferenceLine) -> Self {
        let turn_spacing = KNOT_TURN / line.max_curvature().max(1e-9);
        let wanted = KNOT_SPACING.min(turn_spacing).max(0.05);
        let count = (line.length() / wanted).ceil().clamp(1.0, 1e6) as usize;
        let spacing = line.length() / count as f64;
        let knots: Vec<_> = (0..=count)
            .map(|i| {
                let pose = line.pose(i as f64 * spacing);
                let (sin, cos) = sin_cos(pose.heading);
                Knot {
                    position: pose.position,
                    tangent: DVec2::new(cos, sin),
                }
            })
            .collect();
        let cells = CellIndex::new(&knots);
        Self {
            line,
            knots,
            spacing,
            cells,
        }
    }

    /// Returns the reference line.
    pub fn line(&self) -> &ReferenceLine {
        &self.line
    }

    /// Returns the world point at the given road coordinates. `surface` returns the ground height
    /// at a point.
    pub fn world(&self, at: RoadPoint, surface: impl FnOnce(DVec2) -> f64) -> DVec3 {
        let point = self.line.point(at.s, at.t);
        point.extend(surface(point) + at.h)
    }

    /// Returns the road coordinates of a world point, found without an initial guess. `surface`
    /// returns the ground height at a point.
    pub fn road(&self, point: DVec3, surface: impl FnOnce(DVec2) -> f64) -> RoadPoint {
        let ground = point.truncate();
        RoadPoint {
            h: point.z - surface(ground),
            ..self.closest(ground)
        }
    }

    /// Projects `point` onto the line near a guess of the distance along the line, such as the
    /// previous result.
    ///
    /// Finds the closest point on the branch of the line that contains the guess. Takes about 150
    /// ns.
    pub fn closest_near(&self, point: DVec2, guess: f64) -> RoadPoint {
        let s = self.guided_newton(point, guess);
        self.polish(point, s)
    }

    /// Projects `point` onto the whole line. Takes about 370 ns within 32 m of the line. Beyond
    /// that, the time is linear in the line's length.
    pub fn closest(&self, point: DVec2) -> RoadPoint {
        match self.cells.candidates(point) {
            Some(intervals) => {
                self.closest_among(point, intervals.iter().map(|&index| index as usize))
            }
            None => self.closest_among(point, 0..self.knots.len() - 1),
        }
    }

    /// Finds the closest foot on some intervals between knots, given in order along the line.
    ///
    /// Beyond the centre of curvature of a bend, many intervals are about equally near, and each
    /// may have a local minimum. All candidates are therefore examined, rather than only the
    /// nearest chord. A candidate is an interval across which the distance changes from decreasing
    /// to increasing. Its chord must be no farther away than the nearest chord plus the difference
    /// between chord and curve.
    fn closest_among(
        &self,
        point: DVec2,
        intervals: impl Iterator<Item = usize> + Clone,
    ) -> RoadPoint {
        let (mut nearest, mut guess) = (f64::INFINITY, 0.0);
        for index in intervals.clone() {
            let (distance, s) = self.chord_foot(point, index);
            if distance < nearest {
                (nearest, guess) = (distance, s);
            }
        }
        let mut best = self.closest_near(point, guess);
        // On each side, the curve deviates from its chords by at most KNOT_TURN / 8 of the spacing.
        let reach = nearest.sqrt() + 0.25 * KNOT_TURN * self.spacing;
        for index in intervals {
            let (distance, s) = self.chord_foot(point, index);
            // The foot on this chord is almost the same as the best one up to now, so it would lead
            // to the same minimum.
            let same_foot = (s - best.s).abs() < 0.25 * self.spacing;
            if distance > reach * reach || same_foot || !self.has_minimum(point, index) {
                continue;
            }
            let foot = self.closest_near(point, s);
            if self.distance_squared(point, foot) < self.distance_squared(point, best) {
                best = foot;
            }
        }
        best
    }

    /// Returns the squared distance from a point to the chord of an interval, and the position of
    /// its foot along the line.
    #[inline]
    fn chord_foot(&self, point: DVec2, index: usize) -> (f64, f64) {
        let start = self.knots[index].position;
        let chord = self.knots[index + 1].position - start;
        let u = ((point - start).dot(chord) / chord.length_squared()).clamp(0.0, 1.0);
        let distance = (start + chord * u - point).length_squared();
        (distance, (index as f64 + u) * self.spacing)
    }

    /// Whether the distance to the line decreases at the start of an interval and increases at its end. At
    /// the first and last knot of the line, the condition counts as met.
    fn has_minimum(&self, point: DVec2, index: usize) -> bool {
        let ahead = |knot: &Knot| (point - knot.position).dot(knot.tangent);
        let falls = ahead(&self.knots[index]) >= 0.0 || index == 0;
        let grows = ahead(&self.knots[index + 1]) <= 0.0 || index + 2 == self.knots.len();
        falls && grows
    }

    fn distance_squared(&self, point: DVec2, foot: RoadPoint) -> f64 {
        (self.line.frame(foot.s).position - point).length_squared()
    }

    /// Finds the foot on the guiding curve by Newton's method within a shrinking bracket.
    fn guided_newton(&self, point: DVec2, guess: f64) -> f64 {
        let length = self.line.length();
        // `clamp` is not used, because a guess of NaN also has to become 0.
        let mut s = if guess > 0.0 { guess.min(length) } else { 0.0 };
        for _ in 0..12 {
            let (position, tangent, bend) = self.hermite(s);
            let offset = point - position;
            // Derivative of half the squared distance. Its own derivative is the growth.
            let slope = -offset.dot(tangent);
            let growth = tangent.length_squared() - offset.dot(bend);
            // On a curve of unit speed, this factor is 1 - curvature * t: it is 1 on the line and 0 at the
            // centre of curvature, where Newton's step is unbounded.
            let step = if growth > 0.2 {
                -slope / growth
            } else {
                // Beyond the centre of curvature, take a bounded step that decreases the distance.
                -slope.signum() * offset.length().min(4.0 * self.spacing)
            };
            let step = step.clamp(-20.0 * self.spacing, 20.0 * self.spacing);
            let next = (s + step).clamp(0.0, length);
            let moved = (next - s).abs();
            s = next;
            // A millimetre is close enough, because each step on the exact line squares the error.
            if moved < 1e-3 {
                break;
            }
        }
        s
    }

    /// Returns the position, first and second derivative of the guiding curve at `s`.
    #[inline]
    fn hermite(&self, s: f64) -> (DVec2, DVec2, DVec2) {
        let scaled = s / self.spacing;
        let index = (scaled as usize).min(self.knots.len() - 2);
        let (a, b) = (&self.knots[index], &self.knots[index + 1]);
        let (u, h) = (scaled - index as f64, self.spacing);
        let chord = (b.position - a.position) / h;
        let quadratic = 3.0 * chord - 2.0 * a.tangent - b.tangent;
        let cubic = a.tangent + b.tangent - 2.0 * chord;
        let position = a.position + h * u * (a.tangent + u * (quadratic + u * cubic));
        let tangent = a.tangent + u * (2.0 * quadratic + 3.0 * u * cubic);
        let bend = (2.0 * quadratic + 6.0 * u * cubic) / h;
        (position, tangent, bend)
    }

    /// Takes Newton steps on the exact line. Returns the foot with its lateral offset.
    fn polish(&self, point: DVec2, start: f64) -> RoadPoint {
        let length = self.line.length();
        let mut s = start;
        let mut t = 0.0;
        for _ in 0..8 {
            let frame = self.line.frame(s);
            let offset = point - frame.position;
            t = offset.dot(left_of(frame.tangent));
            // Close to the centre of curvature, the distance is nearly constant, so small slopes
            // would move the foot far away.
            let growth = (1.0 - frame.curvature * t).max(1e-3);
            let step = (offset.dot(frame.tangent) / growth).clamp(-self.spacing, self.spacing);
            let next = (s + step).clamp(0.0, length);
            let moved = (next - s).abs();
            s = next;
            // The next step would be about the curvature times the square of this step, which is below 1e-10
            // m.
            if moved < 3e-5 {
                break;
            }
        }
        RoadPoint { s, t, h: 0.0 }
    }
}

/// Knot intervals that may contain the foot of a point, by the grid cell of the point.
#[derive(Debug, Clone)]
struct CellIndex {
    origin: DVec2,
    cell: f64,
    columns: usize,
    rows: usize,
    /// Start of each cell's list in `intervals`.
    offsets: Vec<u32>,
    intervals: Vec<u32>,
}

impl CellIndex {
    fn new(knots: &[Knot]) -> Self {
        let positions: Vec<_> = knots.iter().map(|knot| knot.position).collect();
        let (low, high) = crate::polygon::bounds(&positions).expect("at least two knots");
        let (low, high) = (low - DVec2::splat(REACH), high + DVec2::splat(REACH));
        let size = high - low;
        let cell = CELL.max((size.x * size.y / MAX_CELLS).sqrt());
        let columns = (size.x / cell).ceil() as usize;
        let rows = (size.y / cell).ceil() as usize;
        let mut index = Self {
            origin: low,
            cell,
            columns,
            rows,
            offsets: vec![0; columns * rows + 1],
            intervals: Vec::new(),
        };
        index.fill(knots);
        index
    }

    /// Lists, for each cell near the line, the intervals that may be closest to a point of the
    /// cell.
    fn fill(&mut self, knots: &[Knot]) {
        // Every point of a cell is within this distance of its centre.
        let radius = 0.5 * self.cell * std::f64::consts::SQRT_2;
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for (interval, pair) in knots.windows(2).enumerate() {
            let middle = 0.5 * (pair[0].position + pair[1].position);
            let half = 0.5 * (pair[1].position - pair[0].position).length();
            self.for_cells_near(middle, REACH + half, |cell, centre| {
                entries.push((cell, interval as u32, (centre - middle).length() - half));
            });
        }
        // No two entries have the same key, so the order is unique. Within a cell, the intervals
        // are in order along the line, as the search for the closest interval requires.
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
        let mut start = 0;
        while start < entries.len() {
            let cell = entries[start].0;
            let count = entries[start..].iter().take_while(|e| e.0 == cell).count();
            let group = &entries[start..start + count];
            let nearest = group.iter().map(|e| e.2).fold(f64::INFINITY, f64::min);
            // An interval can be the closest to a point of the cell only if it is not farther away
            // than the nearest interval by more than the cell's width and the intervals' own
            // extent.
            let limit = nearest + 2.0 * radius + 2.0 * KNOT_SPACING;
            let kept = group.iter().filter(|e| e.2 <= limit).map(|e| e.1);
            self.intervals.extend(kept);
            self.offsets[cell as usize + 1] = self.intervals.len() as u32;
            start += count;
        }
        // Cells without entries were skipped. They get the end of the previous cell, so that their
        // lists are empty.
        for i in 1..self.offsets.len() {
            self.offsets[i] = self.offsets[i].max(self.offsets[i - 1]);
        }
    }

    fn for_cells_near(&self, point: DVec2, reach: f64, mut visit: impl FnMut(u32, DVec2)) {
        let low = (point - self.origin - DVec2::splat(reach)) / self.cell;
        let high = (point - self.origin + DVec2::splat(reach)) / self.cell;
        let clamp = |v: f64, count: usize| v.clamp(0.0, count as f64 - 1.0) as usize;
        for row in clamp(low.y, self.rows)..=clamp(high.y, self.rows) {
            for column in clamp(low.x, self.columns)..=clamp(high.x, self.columns) {
                let centre =
                    self.origin + self.cell * DVec2::new(column as f64 + 0.5, row as f64 + 0.5);
                visit((row * self.columns + column) as u32, centre);
            }
        }
    }

    /// Returns the intervals to try for a point; `None` if the point is not near the line.
    #[inline]
    fn candidates(&self, point: DVec2) -> Option<&[u32]> {
        let local = (point - self.origin) / self.cell;
        // Written so that points with NaN coordinates are outside.
        if !(local.x >= 0.0 && local.y >= 0.0) {
            return None;
        }
        let (column, row) = (local.x as usize, local.y as usize);
        if column >= self.columns || row >= self.rows {
            return None;
        }
        let cell = row * self.columns + column;
        let list = &self.intervals[self.offsets[cell] as usize..self.offsets[cell + 1] as usize];
        (!list.is_empty()).then_some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Stream;
    use crate::pose::Pose;
    use crate::segment::Segment;
    use proptest::prelude::*;

    /// Creates a winding road with curvature up to 1/30 m that does not cross itself.
    pub(crate) fn winding(pieces: usize) -> ReferenceLine {
        let mut segments = Vec::new();
        let mut stream = Stream::new(11, "winding", 0);
        for i in 0..pieces {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            let curvature = sign * stream.next_in(0.005, 1.0 / 30.0);
            let turn = 0.9 / curvature.abs();
            segments.push(Segment::Spiral {
                length: 12.0,
                curvature_start: 0.0,
                curvature_end: curvature,
            });
            segments.push(Segment::Arc {
                length: turn.min(60.0) * 0.5,
                curvature,
            });
            segments.push(Segment::Spiral {
                length: 12.0,
                curvature_start: curvature,
                curvature_end: 0.0,
            });
            segments.push(Segment::Line {
                length: stream.next_in(10.0, 40.0),
            });
        }
        ReferenceLine::new(Pose::new(100.0, 50.0, -0.3), segments).unwrap()
    }

    #[test]
    fn random_points_near_a_road_go_there_and_back() {
        let projector = Projector::new(winding(24));
        let mut stream = Stream::new(5, "points", 0);
        // The `projection` example is a longer run of the same test (10^7 points).
        for _ in 0..100_000 {
            let s = stream.next_in(0.0, projector.line().length());
            let t = stream.next_in(-15.0, 15.0);
            let point = projector.line().point(s, t);
            let cold = projector.closest(point);
            let warm = projector.closest_near(point, (s + stream.next_in(-1.0, 1.0)).max(0.0));
            for foot in [cold, warm] {
                assert!(
                    (foot.s - s).abs() < 1e-9 && (foot.t - t).abs() < 1e-9,
                    "{s} {t} {foot:?}"
                );
            }
        }
    }

    #[test]
    fn height_is_measured_from_the_surface() {
        let projector = Projector::new(winding(2));
        let surface = |p: DVec2| 0.1 * p.x;
        let at = RoadPoint {
            s: 30.0,
            t: 2.0,
            h: 1.5,
        };
        let back = projector.road(projector.world(at, surface), surface);
        assert!((back.h - 1.5).abs() < 1e-9 && (back.s - 30.0).abs() < 1e-9);
    }

    /// Returns the distance from a point to the closest of many points of a line, m.
    fn closest_sample(line: &ReferenceLine, point: DVec2) -> f64 {
        let count = (line.length() / 0.1).ceil();
        (0..=count as usize)
            .map(|i| line.pose(line.length() * i as f64 / count).position)
            .map(|position| (position - point).length())
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn points_beyond_the_centre_of_curvature_find_the_right_branch() {
        // A bend of radius 21.6 m between clothoids. Points 30 m to its inside are beyond the
        // centre of curvature, so they are about equally close to the whole arc.
        let line = ReferenceLine::new(
            Pose::default(),
            vec![
                Segment::Line { length: 40.0 },
                Segment::Spiral {
                    length: 20.0,
                    curvature_start: 0.0,
                    curvature_end: 1.0 / 21.6,
                },
                Segment::Arc {
                    length: 30.0,
                    curvature: 1.0 / 21.6,
                },
                Segment::Spiral {
                    length: 20.0,
                    curvature_start: 1.0 / 21.6,
                    curvature_end: 0.0,
                },
                Segment::Line { length: 40.0 },
            ],
        )
        .unwrap();
        let projector = Projector::new(line);
        let mut stream = Stream::new(7, "beyond", 0);
        for _ in 0..1_000 {
            let s = stream.next_in(0.0, projector.line().length());
            let point = projector.line().point(s, stream.next_in(-30.0, 30.0));
            let foot = projector.closest(point);
            let found = (projector.line().pose(foot.s).position - point).length();
            let sampled = closest_sample(projector.line(), point);
            assert!(
                found <= sampled + 1e-9,
                "{s} {point} {foot:?}: {found} > {sampled}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_point_has_a_foot_no_farther_than_the_knots(
            x in -2000.0..3000.0f64, y in -2000.0..2000.0f64,
        ) {
            let projector = Projector::new(winding(4));
            let point = DVec2::new(x, y);
            let foot = projector.closest(point);
            let distance = (projector.line().pose(foot.s).position - point).length();
            let nearest = projector.knots.iter()
                .map(|k| (k.position - point).length()).fold(f64::INFINITY, f64::min);
            prop_assert!(distance <= nearest + 1e-6);
        }

        #[test]
        fn wild_guesses_are_held_on_the_line(guess in proptest::num::f64::ANY) {
            let projector = Projector::new(winding(1));
            let foot = projector.closest_near(DVec2::new(110.0, 52.0), guess);
            prop_assert!(foot.s >= 0.0 && foot.s <= projector.line().length());
        }
    }
}
