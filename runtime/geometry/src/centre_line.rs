//! Centre lines: polylines of evenly spaced points, for millions of queries per second.
//!
//! A [`CentreLine`] is a view into points in a buffer that many lines share ([`CentreLines`]).
//! Lines that are used together are therefore close together in memory.

use crate::math::wrap_angle;
use crate::shared_list::SharedList;
use crate::{Pose, heading_of};
use glam::DVec2;

/// Preferred distance between the points of a centre line, m.
const SPACING: f64 = 1.0;
/// Maximum length of lines whose points are [`SPACING`] apart, m. On longer lines, the distance between
/// points is limited only by the sharpest bend of the line and by [`WIDEST`].
const LONG: f64 = 2_000.0;
/// Maximum deviation of a chord from the sharpest bend of a long line, m.
const SAGITTA: f64 = 0.01;
/// Maximum distance between the points of any line, m.
const WIDEST: f64 = 10.0;

/// A centre line as points at equal distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CentreLine<'a> {
    spacing: f64,
    poses: &'a [Pose],
}

/// Range of the points of a line in [`CentreLines`], with their spacing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LineSpan {
    /// Distance between points along the line, m.
    pub spacing: f64,
    /// Index of the line's first point.
    pub first: u32,
    /// Number of the line's points, at least 2.
    pub count: u32,
}

impl LineSpan {
    /// Length, m.
    #[inline]
    pub fn length(&self) -> f64 {
        self.spacing * f64::from(self.count - 1)
    }
}

/// Many centre lines in one buffer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CentreLines {
    // Points are stored together with their headings rather than in separate lists, because both
    // are needed together, in random order.
    poses: SharedList<Pose>,
}

impl CentreLines {
    /// Adds a line through points, resampled to equal distances of about 1 m, or of up to 10 m if
    /// the line is longer than 2 km. Returns `None` if there are fewer than two points, or if all
    /// are equal.
    pub fn push(&mut self, points: &[DVec2]) -> Option<LineSpan> {
        self.push_with(points, None)
    }

    /// Like `push`, but for a line with given headings at its start and end, rad. Chords alone
    /// cannot represent a bend that is shorter than the chords.
    pub fn push_between(&mut self, points: &[DVec2], headings: [f64; 2]) -> Option<LineSpan> {
        self.push_with(points, Some(headings))
    }

    fn push_with(&mut self, points: &[DVec2], ends: Option<[f64; 2]>) -> Option<LineSpan> {
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            along.push(along[along.len() - 1] + (pair[1] - pair[0]).length());
        }
        let length = along[along.len() - 1];
        if length < 1e-6 {
            return None;
        }
        let count = (length / wanted_spacing(points, length)).round().max(1.0) as usize;
        let spacing = length / count as f64;
        let first = self.poses.len();
        // Both lists are in ascending order along the line, so one pass over the given points is
        // enough.
        let mut piece = 0;
        let resample = |i: usize| {
            let s = i as f64 * spacing;
            while piece + 2 < along.len() && along[piece + 1] < s {
                piece += 1;
            }
            let span = (along[piece + 1] - along[piece]).max(1e-12);
            let u = ((s - along[piece]) / span).clamp(0.0, 1.0);
            points[piece].lerp(points[piece + 1], u)
        };
        let resampled: Vec<DVec2> = (0..=count).map(resample).collect();
        // Headings of the chords, averaged at inner points.
        let of_chords = |i: usize| {
            let (before, after) = (i.saturating_sub(1), (i + 1).min(count));
            heading_of(resampled[after] - resampled[before])
        };
        let heading = |i: usize| match ends {
            Some([start, _]) if i == 0 => wrap_angle(start),
            Some([_, end]) if i == count => wrap_angle(end),
            _ => of_chords(i),
        };
        self.poses.extend((0..=count).map(|i| Pose {
            position: resampled[i],
            heading: heading(i),
        }));
        Some(LineSpan {
            spacing,
            first: first as u32,
            count: count as u32 + 1,
        })
    }

    /// Adds a line through poses, resampled to equal distances of about `spacing` metres. Headings
    /// between the poses are interpolated, so that short bends keep their directions, even at their
    /// ends. Returns `None` if there are fewer than two poses, or if all are at the same position.
    pub fn push_poses(&mut self, poses: &[Pose], spacing: f64) -> Option<LineSpan> {
        let mut along = vec![0.0];
        for pair in poses.windows(2) {
            along.push(along[along.len() - 1] + (pair[1].position - pair[0].position).length());
        }
        let length = along[along.len() - 1];
        if length < 1e-6 {
            return None;
        }
        let count = (length / spacing).round().max(1.0) as usize;
        let spacing = length / count as f64;
        let first = self.poses.len();
        let mut piece = 0;
        let resampled = (0..=count).map(|i| {
            let s = i as f64 * spacing;
            while piece + 2 < along.len() && along[piece + 1] < s {
                piece += 1;
            }
            let span = (along[piece + 1] - along[piece]).max(1e-12);
            let u = ((s - along[piece]) / span).clamp(0.0, 1.0);
            let (a, b) = (&poses[piece], &poses[piece + 1]);
            Pose {
                position: a.position.lerp(b.position, u),
                heading: wrap_angle(between(a.heading, b.heading, u)),
            }
        });
        let resampled: Vec<Pose> = resampled.collect();
        self.poses.extend(resampled);
        Some(LineSpan {
            spacing,
            first: first as u32,
            count: count as u32 + 1,
        })
    }

    /// Adds a copy of a line of another buffer. Returns the span of the copy.
    pub fn push_copy(&mut self, others: &Self, span: LineSpan) -> LineSpan {
        let first = self.poses.len() as u32;
        self.poses.extend(others.line(span).poses.iter().copied());
        LineSpan { first, ..span }
    }

    /// Shares all lines with future copies. O(points).
    pub fn share(&mut self) {
        self.poses.share();
    }

    /// Whether another buffer begins with the lines that this buffer shares, so that these lines
    /// have the same positions in both buffers.
    pub fn share_with(&self, others: &Self) -> bool {
        self.poses.shares_with(&others.poses)
    }

    /// Returns the fraction of the points that are not shared with copies, in [0, 1].
    pub fn own_share(&self) -> f64 {
        self.poses.own_share()
    }

    /// Returns a line that has been added.
    #[inline]
    pub fn line(&self, span: LineSpan) -> CentreLine<'_> {
        let range = span.first as usize..(span.first + span.count) as usize;
        CentreLine {
            spacing: span.spacing,
            poses: self.poses.slice(range),
        }
    }
}

/// Returns the preferred distance between the points of a line, m.
fn wanted_spacing(points: &[DVec2], length: f64) -> f64 {
    if length <= LONG {
        return SPACING;
    }
    // The turn divided by the length is the curvature of the bend that a vertex represents. Points
    // that are close together count as a metre apart, because otherwise noise would look like a
    // sharp bend.
    let bends = points.windows(3).map(|three| {
        let (before, after) = (three[1] - three[0], three[2] - three[1]);
        let turn = wrap_angle(heading_of(after) - heading_of(before)).abs();
        turn / (0.5 * (before.length() + after.length())).max(SPACING)
    });
    let sharpest = bends.fold(0.0, f64::max);
    // A chord c of a bend with radius r deviates from it by c^2 / (8 r) in the middle.
    (8.0 * SAGITTA / sharpest.max(1e-9))
        .sqrt()
        .clamp(SPACING, WIDEST)
}

impl<'a> CentreLine<'a> {
    /// Length, m.
    #[inline]
    pub fn length(&self) -> f64 {
        self.spacing * (self.poses.len() - 1) as f64
    }

    /// Returns the pose at `s`, clamped to the line. O(1).
    #[inline]
    pub fn pose(&self, s: f64) -> Pose {
        let (index, u) = self.place(s);
        let (a, b) = (&self.poses[index], &self.poses[index + 1]);
        Pose {
            position: a.position.lerp(b.position, u),
            heading: between(a.heading, b.heading, u),
        }
    }

    /// Returns the position at `s`, clamped to the line. O(1).
    #[inline]
    pub fn position(&self, s: f64) -> DVec2 {
        let (index, u) = self.place(s);
        let (a, b) = (&self.poses[index], &self.poses[index + 1]);
        a.position.lerp(b.position, u)
    }

    /// Returns the heading at `s`, rad.
    #[inline]
    pub fn heading(&self, s: f64) -> f64 {
        let (index, u) = self.place(s);
        between(self.poses[index].heading, self.poses[index + 1].heading, u)
    }

    /// Returns the curvature around `s`, 1/m, positive to the left. It is the mean over about
    /// `reach` metres on each side, so that a vertex of a traced line does not count as a bend. If
    /// the line ends within this reach, it is treated as if it continued straight. O(1).
    #[inline]
    pub fn curvature(&self, s: f64, reach: f64) -> f64 {
        let reach = ((reach / self.spacing) as usize).max(1);
        let nearest = (s / self.spacing + 0.5).max(0.0) as usize;
        let last = self.poses.len() - 1;
        // Near an end of the line, the window is cut off at this end, so it is shorter and not centred on
        // `s`.
        let (from, to) = (
            nearest.min(last).saturating_sub(reach),
            (nearest + reach).min(last),
        );
        let turn = wrap_angle(self.poses[to].heading - self.poses[from].heading);
        turn / ((to - from).max(reach) as f64 * self.spacing)
    }

    /// Returns the [curvature](Self::curvature) at each point of the line.
    pub fn curvatures(&self, reach: f64) -> impl Iterator<Item = f64> + use<'a> {
        let line = *self;
        (0..line.count()).map(move |point| line.curvature(point as f64 * line.spacing, reach))
    }

    /// Projects a point onto the line. Returns the distance along the line and the distance to its
    /// left, m. The search starts at `guess`. The result is exact on the polyline within a few
    /// metres of the guess.
    #[inline]
    pub fn project(&self, point: DVec2, guess: f64) -> (f64, f64) {
        // The guess is usually the result of the previous step, on the same chord or the one before
        // it, so the search ends after one or two checks.
        let (mut index, _) = self.place(guess);
        let mut last_move = 0i8;
        loop {
            let start = self.poses[index].position;
            let chord = self.poses[index + 1].position - start;
            let along = (point - start).dot(chord) / (self.spacing * self.spacing);
            // If the foot is beyond an inner end of the chord, it is on another chord. If the
            // search reverses, the point is beside a bend, and the vertex between the two chords is
            // its foot.
            if along > 1.0 && index + 2 < self.poses.len() && last_move >= 0 {
                index += 1;
                last_move = 1;
                continue;
            }
            if along < 0.0 && index > 0 && last_move <= 0 {
                index -= 1;
                last_move = -1;
                continue;
            }
            let t = chord.perp_dot(point - start) / self.spacing;
            return ((index as f64 + along) * self.spacing, t);
        }
    }

    /// Returns the points, evenly spaced, with their headings.
    #[inline]
    pub fn poses(&self) -> &'a [Pose] {
        self.poses
    }

    /// Returns the points, evenly spaced.
    #[inline]
    pub fn points(&self) -> impl ExactSizeIterator<Item = DVec2> + Clone + use<'a> {
        self.poses.iter().map(|pose| pose.position)
    }

    /// Returns the distance between the points of the line, m.
    #[inline]
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Returns the number of points of the line, at least 2.
    #[inline]
    pub fn count(&self) -> usize {
        self.poses.len()
    }

    #[inline]
    /// Returns the index of the chord at the given distance, and the position within it, in [0, 1].
    fn place(&self, s: f64) -> (usize, f64) {
        let last = self.poses.len() - 1;
        let scaled = (s / self.spacing).clamp(0.0, last as f64);
        let index = (scaled as usize).min(last - 1);
        (index, scaled - index as f64)
    }
}

/// Interpolates between two headings along the shorter arc, because headings jump from pi to -pi in the west.
#[inline]
fn between(a: f64, b: f64, share: f64) -> f64 {
    wrap_angle(a + share * wrap_angle(b - a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_have_points_as_their_bends_need_them() {
        let spacing_of = |points: &[DVec2]| {
            let mut lines = CentreLines::default();
            lines.push(points).unwrap().spacing
        };
        let straight = |length: f64| [DVec2::ZERO, DVec2::new(length, 0.0)];
        assert_eq!(spacing_of(&straight(2_000.0)), 1.0);
        assert_eq!(spacing_of(&straight(3_000.0)), 10.0);
        assert_eq!(spacing_of(&straight(1e7)), 10.0);
        // An arc of 3 km, with chords as long as a deviation of 1 cm allows.
        for radius in [50.0, 400.0, 2_000.0] {
            let arc = |i: u32| {
                let angle = f64::from(i) / radius;
                radius * DVec2::new(crate::math::sin(angle), 1.0 - crate::math::cos(angle))
            };
            let points: Vec<DVec2> = (0..=3_000).map(arc).collect();
            let spacing = spacing_of(&points);
            let off = spacing * spacing / (8.0 * radius);
            assert!(off < 0.0105 && spacing >= 1.0, "{radius}: {spacing}");
            assert!(off > 0.006 || spacing == 10.0, "{radius}: {spacing}");
        }
    }

    #[test]
    fn a_bend_shorter_than_a_chord_counts_at_the_end_of_a_line() {
        let mut lines = CentreLines::default();
        let points = [DVec2::ZERO, DVec2::new(10.0, 0.0)];
        let plain = lines.push(&points).unwrap();
        let between = lines.push_between(&points, [0.0, 1.5]).unwrap();
        let (plain, between) = (lines.line(plain), lines.line(between));
        assert_eq!(plain.curvature(10.0, 3.0), 0.0);
        assert_eq!(between.curvature(10.0, 3.0), 0.5);
        assert_eq!((between.heading(0.0), between.heading(10.0)), (0.0, 1.5));
        assert_eq!(between.curvature(5.0, 3.0), 0.0);
        // On a line shorter than `reach`, a kink is averaged out, because the line is continued
        // straight at both ends.
        let short = [DVec2::ZERO, DVec2::new(0.3, 0.0)];
        let short = lines.push_between(&short, [-0.015, 0.015]).unwrap();
        let kink = lines.line(short).curvature(0.0, 3.0);
        assert!((kink - 0.01).abs() < 1e-9, "{kink}");
    }

    #[test]
    fn lines_in_one_buffer_keep_apart() {
        let mut lines = CentreLines::default();
        let along = |y: f64| [DVec2::new(0.0, y), DVec2::new(10.2, y)];
        let a = lines.push(&along(0.0)).unwrap();
        let b = lines.push(&along(5.0)).unwrap();
        assert!(lines.push(&[DVec2::ONE, DVec2::ONE]).is_none());
        assert_eq!((a.count, b.first), (11, 11));
        assert!((b.length() - 10.2).abs() < 1e-12);
        let pose = lines.line(b).pose(5.0);
        assert!((pose.position - DVec2::new(5.0, 5.0)).length() < 1e-12);
        // Beyond its end, the line is continued by its last chord.
        let (s, t) = lines.line(a).project(DVec2::new(12.0, -1.0), 3.0);
        assert!((s - 12.0).abs() < 1e-12 && (t + 1.0).abs() < 1e-12);
    }
}
