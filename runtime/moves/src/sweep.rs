//! Areas that a vehicle sweeps during a move.
//!
//! A move is cut into pieces. Within a piece, each corner of the outline is assumed to move straight from its
//! first to its last position, so that the piece sweeps the convex hull of both outlines. This causes two
//! errors, whose sum bounds the distance between the hull and the true sweep, in both directions:
//!
//! - corners deviate from the straight line by at most the largest deviation of a corner in an intermediate
//!   frame;
//! - a point of the hull is a weighted mean of points of both outlines. Its distance from the interpolated
//!   outline is at most a quarter of the rotation times the diagonal.
//!
//! Both bounds hold at each moment, not only for the area, so the same pieces can be used for moving
//! obstacles: relative to an obstacle with a constant velocity, the last outline is shifted.

use crate::body::{BodyOutline, Bounds, Convex};
use crate::frame::Frame;
use crate::mask::Mask;
use crate::placement::Placement;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::wrap_angle;

/// Maximum distance between the tested and the true sweep, m.
pub const TOLERANCE: f64 = 0.05;
/// Change of heading above which the source tests intermediate frames, rad.
const SHARP: f64 = 0.1;
/// Number of frames that the source tests within a sharp turn.
const BETWEEN: usize = 3;

/// Method of computing sweeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SweepKind {
    /// The outline, swept over pieces that are within [`TOLERANCE`] of the true sweep.
    #[default]
    Exact,
    /// The lines along both sides of the car, as in the source: from the first to the last frame of a
    /// straight move, and through three intermediate frames of a turn. An obstacle between the two sides is
    /// not detected.
    Source,
}

/// A piece of a sweep, relative to the placement at which the move begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Start of the piece, in frames from the beginning of the move.
    pub begin: f64,
    /// End of the piece, in frames from the beginning of the move.
    pub end: f64,
    /// Corners of the outline at the start of the piece.
    from: [DVec2; 4],
    /// The same corners at the end of the piece.
    to: [DVec2; 4],
    /// Area that the body sweeps during the piece.
    pub hull: Convex,
    /// Bounding box of the area.
    pub bounds: Bounds,
}

impl Piece {
    fn new(begin: f64, end: f64, from: [DVec2; 4], to: [DVec2; 4]) -> Self {
        let hull = hull_of(&from, &to);
        Self {
            begin,
            end,
            from,
            to,
            hull,
            bounds: hull.bounds(),
        }
    }

    /// Area swept relative to an obstacle that moves by `shift` during the piece.
    #[inline]
    pub fn relative_to(&self, shift: DVec2) -> Convex {
        hull_of(&self.from, &self.to.map(|corner| corner - shift))
    }
}

fn hull_of(from: &[DVec2; 4], to: &[DVec2; 4]) -> Convex {
    let mut all = [DVec2::ZERO; 8];
    all[..4].copy_from_slice(from);
    all[4..].copy_from_slice(to);
    Convex::hull(all)
}

/// Area that a vehicle sweeps during a move, relative to the placement at which the move begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// Pieces of the sweep, in temporal order.
    pub pieces: Vec<Piece>,
    /// Bounding box of all pieces.
    pub bounds: Bounds,
    /// Mask of all pieces; `None` for sweeps between two frames.
    pub(crate) mask: Option<Mask>,
}

impl Sweep {
    /// Computes the sweep of a body over frames. If there is only one frame, the body does not
    /// move.
    pub fn of(frames: &[Frame], body: &BodyOutline, kind: SweepKind) -> Self {
        let track = Track::of(frames, body);
        let pieces = match kind {
            SweepKind::Exact => track.exact_pieces(),
            SweepKind::Source => track.lines_of_source(),
        };
        let mask = Mask::of(&pieces);
        Self {
            mask: Some(mask),
            ..Self::without_mask(pieces)
        }
    }

    /// Computes the sweep between two consecutive frames, relative to the first of all frames.
    pub fn between(frames: &[Frame], body: &BodyOutline, first: usize) -> Self {
        Self::without_mask(Track::of(frames, body).within(first))
    }

    /// Duration of the sweep, in frames.
    pub(crate) fn frames(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.end)
    }

    fn without_mask(pieces: Vec<Piece>) -> Self {
        let mut bounds = pieces[0].bounds;
        for piece in &pieces[1..] {
            bounds = bounds.with(&piece.bounds);
        }
        Self {
            pieces,
            bounds,
            mask: None,
        }
    }
}

/// Motion of a body's corners.
struct Track {
    body: BodyOutline,
    places: Vec<Placement>,
    corners: Vec<[DVec2; 4]>,
    /// Change of heading from each frame to the next, rad.
    turns: Vec<f64>,
}

impl Track {
    fn of(frames: &[Frame], body: &BodyOutline) -> Self {
        let origin = frames[0].placement();
        let places: Vec<Placement> = frames
            .iter()
            .map(|frame| origin.relative(&frame.placement()))
            .collect();
        Self {
            body: *body,
            corners: places.iter().map(|place| body.corners(place)).collect(),
            places,
            turns: frames
                .windows(2)
                .map(|pair| wrap_angle(pair[1].pose.heading - pair[0].pose.heading))
                .collect(),
        }
    }

    fn exact_pieces(&self) -> Vec<Piece> {
        let last = self.places.len() - 1;
        if last == 0 {
            return vec![Piece::new(0.0, 0.0, self.corners[0], self.corners[0])];
        }
        let mut pieces = Vec::new();
        let mut from = 0;
        while from < last {
            let mut to = from + 1;
            if self.error(from, to) > TOLERANCE {
                pieces.extend(self.within(from));
                from = to;
                continue;
            }
            while to < last && self.error(from, to + 1) <= TOLERANCE {
                to += 1;
            }
            pieces.push(self.piece(from, to));
            from = to;
        }
        pieces
    }

    fn piece(&self, from: usize, to: usize) -> Piece {
        Piece::new(from as f64, to as f64, self.corners[from], self.corners[to])
    }

    /// Bound on the distance between the tested and the true sweep between two frames, m.
    fn error(&self, from: usize, to: usize) -> f64 {
        let turned: f64 = self.turns[from..to].iter().sum();
        let sharpest = self.turns[from..to]
            .iter()
            .fold(0.0, |most: f64, turn| most.max(turn.abs()));
        let mut farthest: f64 = 0.0;
        for frame in from + 1..to {
            let share = (frame - from) as f64 / (to - from) as f64;
            for corner in 0..4 {
                let straight = self.corners[from][corner].lerp(self.corners[to][corner], share);
                farthest = farthest.max((self.corners[frame][corner] - straight).length());
            }
        }
        // Poses between two frames are interpolated, so that corners move along arcs.
        let arc = self.body.reach() * sharpest * sharpest / 8.0;
        farthest + arc + 0.25 * turned.abs() * self.body.diagonal()
    }

    /// Returns the pieces between a frame and the next one, with interpolated poses.
    fn within(&self, from: usize) -> Vec<Piece> {
        let turned = self.turns[from];
        let error = self.error(from, from + 1);
        let count = (error / (0.9 * TOLERANCE)).ceil().max(1.0) as u32;
        if count == 1 {
            return vec![self.piece(from, from + 1)];
        }
        let (begin, end) = (self.places[from], self.places[from + 1]);
        let at = |share: f64| {
            let (sin, cos) = roadwright_geometry::math::sin_cos(turned * share);
            self.body.corners(&Placement {
                position: begin.position.lerp(end.position, share),
                forward: begin.forward.rotate(DVec2::new(cos, sin)),
            })
        };
        let piece = |number: u32| {
            let [first, last] = [number, number + 1].map(|n| f64::from(n) / f64::from(count));
            let frame = from as f64;
            Piece::new(frame + first, frame + last, at(first), at(last))
        };
        (0..count).map(piece).collect()
    }

    /// Returns the lines along both sides of the car, as the source tests them.
    fn lines_of_source(&self) -> Vec<Piece> {
        let last = self.places.len() - 1;
        let turned: f64 = self.turns.iter().map(|turn| turn.abs()).sum();
        let count = if turned < SHARP || last <= BETWEEN {
            1
        } else {
            BETWEEN + 1
        };
        let mut pieces = Vec::new();
        for number in 0..count {
            let [from, to] = [number, number + 1].map(|number| number * last / count);
            // Front left, rear left, rear right, front right: the first line of a side begins at the rear.
            let [first, end] = [self.corners[from], self.corners[to]];
            for (front, rear) in [(0, 1), (3, 2)] {
                let begin = if number == 0 {
                    first[rear]
                } else {
                    first[front]
                };
                let [from, to] = [from as f64, to as f64];
                pieces.push(Piece::new(from, to, [begin; 4], [end[front]; 4]));
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::tests::CAR;
    use proptest::prelude::*;
    use roadwright_geometry::Pose;

    /// Frames of a body that drives, slides and turns with constant accelerations.
    fn frames([speed, gain, slide, turn, growth]: [f64; 5]) -> Vec<Frame> {
        let (mut x, mut y, mut heading) = (3.0, -4.0, 0.7);
        (0..26)
            .map(|frame| {
                let pose = Pose::new(x, y, heading);
                let time = f64::from(frame) / 25.0;
                let step = pose.forward() * (speed + gain * time) + pose.left() * slide;
                (x, y) = (x + 0.04 * step.x, y + 0.04 * step.y);
                heading = wrap_angle(heading + 0.04 * (turn + growth * time));
                Frame {
                    pose,
                    ..Frame::default()
                }
            })
            .collect()
    }

    /// Placement during the true sweep at the given time, in frames, relative to the first frame.
    fn truth(frames: &[Frame], time: f64) -> Placement {
        let first = (time.floor() as usize).min(frames.len() - 2);
        let share = time - first as f64;
        let [a, b] = [frames[first].pose, frames[first + 1].pose];
        let heading = a.heading + share * wrap_angle(b.heading - a.heading);
        let place = Pose {
            position: a.position.lerp(b.position, share),
            heading,
        };
        frames[0].placement().relative(&Placement::of(place))
    }

    /// Distance from a point to the body at a placement, m.
    fn outside(place: &Placement, point: DVec2) -> f64 {
        let seen = place.to_local(point);
        let beyond = DVec2::new(
            (seen.x - CAR.front).max(-CAR.rear - seen.x),
            seen.y.abs() - CAR.half_width,
        );
        beyond.max(DVec2::ZERO).length()
    }

    /// Lower bound of the distance from a point to a convex outline: the largest distance from the line of an
    /// edge.
    fn outside_hull(hull: &Convex, point: DVec2) -> f64 {
        let corners = hull.corners();
        (0..corners.len())
            .map(|i| {
                let from = corners[i];
                let along = (corners[(i + 1) % corners.len()] - from).normalize();
                -along.perp_dot(point - from)
            })
            .fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_sweep_is_within_five_centimetres_of_the_true_one(
            motion in [0.0..40.0f64, -8.0..6.0, -8.0..8.0, -2.5..2.5, -2.0..2.0],
        ) {
            let frames = frames(motion);
            let sweep = Sweep::of(&frames, &CAR, SweepKind::Exact);
            let last = (frames.len() - 1) as f64;
            prop_assert_eq!(sweep.pieces[0].begin, 0.0);
            prop_assert_eq!(sweep.pieces.last().unwrap().end, last);
            for piece in &sweep.pieces {
                let times: Vec<f64> = (0..=16)
                    .map(|n| piece.begin + (piece.end - piece.begin) * f64::from(n) / 16.0)
                    .collect();
                let places: Vec<Placement> = times.iter().map(|&time| truth(&frames, time)).collect();
                // No point of the true sweep is farther than that from the hull.
                for place in &places {
                    for corner in CAR.corners(place) {
                        let miss = outside_hull(&piece.hull, corner);
                        prop_assert!(miss <= TOLERANCE + 1e-6, "{}", miss);
                    }
                }
                // The hull adds nothing beyond that. Sampled times leave gaps along the motion.
                let corners = piece.hull.corners();
                for (i, &from) in corners.iter().enumerate() {
                    let to = corners[(i + 1) % corners.len()];
                    for n in 0..=8 {
                        let point = from.lerp(to, f64::from(n) / 8.0);
                        let many = (0..=400).map(|n| {
                            let share = f64::from(n) / 400.0;
                            truth(&frames, piece.begin + (piece.end - piece.begin) * share)
                        });
                        let far = many.map(|place| outside(&place, point)).fold(f64::MAX, f64::min);
                        prop_assert!(far <= TOLERANCE + 0.01, "{}", far);
                    }
                }
            }
        }

        #[test]
        fn pieces_follow_each_other(
            motion in [0.0..40.0f64, -8.0..6.0, -8.0..8.0, -2.5..2.5, -2.0..2.0],
        ) {
            let frames = frames(motion);
            let sweep = Sweep::of(&frames, &CAR, SweepKind::Exact);
            for pair in sweep.pieces.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].begin);
            }
            // Frame by frame, the same area is covered.
            for first in 0..frames.len() - 1 {
                let between = Sweep::between(&frames, &CAR, first);
                prop_assert_eq!(between.pieces[0].begin, first as f64);
                prop_assert_eq!(between.pieces.last().unwrap().end, (first + 1) as f64);
            }
        }
    }

    #[test]
    fn a_straight_move_at_constant_speed_is_one_piece_and_a_skid_has_many() {
        let straight = Sweep::of(&frames([20.0, 0.0, 0.0, 0.0, 0.0]), &CAR, SweepKind::Exact);
        assert_eq!(straight.pieces.len(), 1);
        let skid = Sweep::of(&frames([15.0, 0.0, -6.0, 2.0, 0.0]), &CAR, SweepKind::Exact);
        // Even without other motion, the turn of 2 rad needs 2 * 3.756 / 4 / 0.05 = 38 pieces.
        assert!(skid.pieces.len() >= 38, "{}", skid.pieces.len());
    }

    #[test]
    fn the_frames_of_the_source_are_one_or_four_lines_a_side() {
        let straight = Sweep::of(&frames([20.0, 0.0, 0.0, 0.0, 0.0]), &CAR, SweepKind::Source);
        assert_eq!(straight.pieces.len(), 2);
        let turn = Sweep::of(&frames([20.0, 0.0, 0.0, 1.0, 0.0]), &CAR, SweepKind::Source);
        assert_eq!(turn.pieces.len(), 8);
        assert!(
            turn.pieces
                .iter()
                .all(|piece| piece.hull.corners().len() == 2)
        );
    }
}
