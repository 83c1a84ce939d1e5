//! Finds where bodies that drive through a junction touch, by comparing boxes along two
//! connections.
//!
//! ```text
//!         |   :   |         The distance between two centre lines nearly always shows where bodies
//!         | b :   |         meet, but not here: the front of `a`, which turns tightly, swings over
//!     ----+ | :.-.+         the adjacent lane before its rear axle gets there. Vehicles that pass
//!           v .-' /         close to the end of another arm also meet bodies that extend back into
//!     ----- .'  a           that arm.
//! ```

use super::conflicts::{Body, Interval};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, OwnFrame, ReferenceLine};

/// Maximum distance between the sampled poses of a body, m.
const STEP: f64 = 0.5;
/// Maximum turn between two sampled poses on a tight path, rad.
const TURNS: f64 = 0.15;
/// Minimum distance between the sampled poses of a body, m.
const LEAST_STEP: f64 = 0.05;
/// Clearance on each side of a body, m. It covers the gaps between sampled poses, and drivers'
/// deviations from their line.
pub(super) const BESIDE: f64 = 0.05;

/// Boxes of a body along a connection, from where its front enters the connection to where its rear
/// leaves it.
pub(super) struct Boxes {
    all: Vec<OrientedBox>,
    /// Lower corner of the bounding box of the centres of all boxes.
    low: DVec2,
    high: DVec2,
    /// Longest distance between the centres of consecutive boxes, m.
    most_between: f64,
    /// Radius of the circle that contains one box, m.
    radius: f64,
    body: Body,
    /// Distance between successive boxes, m.
    step: f64,
    /// Length of the connection, m.
    length: f64,
}

impl Boxes {
    /// Computes the boxes of a body along a connection. O(length).
    pub(super) fn along(curve: &ReferenceLine, body: Body) -> Self {
        let length = curve.length();
        let step = (TURNS / curve.max_curvature()).clamp(LEAST_STEP, STEP);
        let count = ((body.length() + length) / step).ceil() as usize;
        let track = Track::of(curve);
        let boxes = (0..=count).map(|i| {
            let (on_curve, beyond) = track.at(step * i as f64 - body.front);
            let axle = OwnFrame {
                origin: on_curve.point(beyond, 0.0),
                ..on_curve
            };
            OrientedBox {
                centre: axle.point(0.5 * (body.front - body.rear), 0.0),
                forward: axle.forward,
                half_length: 0.5 * body.length(),
                half_width: 0.5 * (body.width + 2.0 * BESIDE),
            }
        });
        let all: Vec<OrientedBox> = boxes.collect();
        let centres = || all.iter().map(|one| one.centre);
        let between = all
            .windows(2)
            .map(|pair| (pair[1].centre - pair[0].centre).length());
        Self {
            low: centres().fold(DVec2::INFINITY, DVec2::min),
            high: centres().fold(DVec2::NEG_INFINITY, DVec2::max),
            most_between: between.fold(LEAST_STEP, f64::max),
            radius: all[0].radius(),
            all,
            body,
            step,
            length,
        }
    }

    /// Returns the intervals on this connection and on another one where bodies overlap by more
    /// than `depth` metres, extended to include the intervals in `known`. `None` if there are no
    /// intervals. O(product of the numbers of boxes).
    pub(super) fn meeting(
        &self,
        other: &Self,
        depth: f64,
        known: Option<(Interval, Interval)>,
    ) -> Option<(Interval, Interval)> {
        let mut met = known;
        // From each end, boxes are tested up to the first one that extends the intervals. The boxes
        // between these two need to be compared only with boxes outside the other interval. The
        // order does not affect the result.
        let (mut low, mut high) = (0, self.all.len());
        while low < high {
            let number = low;
            let skipped = self.skipped_at(number, other);
            low += skipped.max(1);
            if skipped == 0 {
                let before = met;
                met = self.meeting_of(number, other, depth, met);
                if met != before {
                    break;
                }
            }
        }
        while low < high {
            let number = high - 1;
            let skipped = self.skipped_at(number, other);
            high = high.saturating_sub(skipped.max(1)).max(low);
            if skipped == 0 {
                let before = met;
                met = self.meeting_of(number, other, depth, met);
                if met != before {
                    break;
                }
            }
        }
        while low < high {
            let skipped = self.skipped_at(low, other);
            if skipped == 0 {
                met = self.meeting_of(low, other, depth, met);
            }
            low += skipped.max(1);
        }
        // A vehicle whose length exceeds the interval occupies it until its rear has passed the
        // point where its front entered.
        let whole = |place: Interval| Interval {
            to: place.to.max(place.from),
            ..place
        };
        met.map(|(own, theirs)| (whole(own), whole(theirs)))
    }

    /// Returns how many consecutive boxes, counted from box `number` in either direction, cannot
    /// touch any box of the other connection because they are too far from it. Most boxes are far
    /// apart, so many of them are skipped at once.
    fn skipped_at(&self, number: usize, other: &Self) -> usize {
        let centre = self.all[number].centre;
        let reach = self.radius + other.radius;
        let lacks = (centre - centre.clamp(other.low, other.high)).length() - reach;
        if lacks >= 0.0 {
            1 + (lacks / self.most_between) as usize
        } else {
            0
        }
    }

    /// Like `meeting`, but for one box of this connection.
    fn meeting_of(
        &self,
        number: usize,
        other: &Self,
        depth: f64,
        mut met: Option<(Interval, Interval)>,
    ) -> Option<(Interval, Interval)> {
        let reach = self.radius + other.radius;
        let (one, own) = (&self.all[number], self.place(number));
        // Most of the nearby boxes are within the known intervals.
        let known = met.filter(|(places, _)| places.holds(own));
        let known = known.map_or(0..0, |(_, theirs)| other.inside(theirs));
        let mut j = 0;
        while let Some(another) = other.all.get(j) {
            if known.contains(&j) {
                j = known.end;
                continue;
            }
            let apart = (one.centre - another.centre).length_squared();
            if apart >= reach * reach {
                j += 1 + ((apart.sqrt() - reach) / other.most_between) as usize;
                continue;
            }
            if one.penetrates(another, depth) {
                let place = (own, other.place(j));
                met = Some(met.map_or(place, |(a, b)| (a.and(place.0), b.and(place.1))));
            }
            j += 1;
        }
        met
    }

    /// Returns the indices of the boxes whose intervals are within `interval`.
    fn inside(&self, interval: Interval) -> std::ops::Range<usize> {
        let count = self.all.len();
        let numbers = |s: f64| (s / self.step) as usize;
        let first = match interval.from > 0.0 {
            true => numbers(interval.from) + 2,
            false => 0,
        };
        let end = match interval.to < self.length {
            true => numbers(interval.to + self.body.length()),
            false => count,
        };
        first.min(end)..end.min(count)
    }

    /// Returns the interval that the body covers between the poses before and after a given pose, m
    /// along the connection.
    #[inline]
    fn place(&self, number: usize) -> Interval {
        // The distance of the front along the connection equals the distance of the rear axle from
        // its first pose.
        let front = self.step * number as f64;
        Interval {
            from: (front - self.step).clamp(0.0, self.length),
            to: (front + self.step - self.body.length()).clamp(0.0, self.length),
        }
    }
}

/// A curve that bodies follow, with the frames at its ends, which give the poses beyond the ends.
pub(super) struct Track<'a> {
    curve: &'a ReferenceLine,
    length: f64,
    start: OwnFrame,
    end: OwnFrame,
}

impl<'a> Track<'a> {
    pub(super) fn of(curve: &'a ReferenceLine) -> Self {
        let length = curve.length();
        Self {
            curve,
            length,
            start: curve.own_frame(0.0).1,
            end: curve.own_frame(length).1,
        }
    }

    /// Returns the frame at `s`, clamped to the curve, and the distance from there to `s` along a straight
    /// continuation of the curve, m. The distance is negative before the start of the curve.
    pub(super) fn at(&self, s: f64) -> (OwnFrame, f64) {
        let nearest = s.clamp(0.0, self.length);
        let frame = if nearest <= 0.0 {
            self.start
        } else if nearest >= self.length {
            self.end
        } else {
            self.curve.own_frame(nearest).1
        };
        (frame, s - nearest)
    }
}
