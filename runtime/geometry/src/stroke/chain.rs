//! A chain of clothoids with continuous heading, for strokes that lines and arcs cannot represent.

use crate::error::GeometryError;
use crate::pose::{Pose, heading_of};
use crate::reference_line::ReferenceLine;
use glam::DVec2;

/// Builds the chain greedily: each clothoid runs along the samples for as long as it stays within the
/// tolerance.
///
/// # Errors
/// [`GeometryError::NoJoin`] where the stroke turns back on itself.
pub(super) fn chain(samples: &[DVec2], tolerance: f64) -> Result<ReferenceLine, GeometryError> {
    let last = samples.len() - 1;
    let mut line: Option<ReferenceLine> = None;
    let mut from = 0;
    while from < last {
        let start = pose_at(samples, from);
        // Finds the longest step within the tolerance by first doubling and then halving the step.
        let (mut good, mut step) = (from + 1, 1);
        while from + 2 * step <= last && holds(samples, start, from, from + 2 * step, tolerance) {
            step *= 2;
            good = from + step;
        }
        // Doubling may step past the end of the stroke, so the last sample is tried separately.
        if holds(samples, start, from, last, tolerance) {
            good = last;
        }
        while step > 1 {
            step /= 2;
            if good + step <= last && holds(samples, start, from, good + step, tolerance) {
                good += step;
            }
        }
        // Both pieces that meet at a sample use the direction at the sample, so the heading is
        // continuous there, but the curvature may jump.
        let piece = ReferenceLine::join(start, pose_at(samples, good))?;
        line = Some(match line {
            None => piece,
            Some(before) => before.joined(&piece)?,
        });
        from = good;
    }
    line.ok_or(GeometryError::TooFewPoints {
        needed: 2,
        given: samples.len(),
    })
}

/// Returns the position of sample `i` and the direction of the stroke there. The direction is
/// computed from five samples, so that the tremor of a single sample does not turn the line.
fn pose_at(samples: &[DVec2], i: usize) -> Pose {
    let (low, high) = (i.saturating_sub(2), (i + 2).min(samples.len() - 1));
    Pose {
        position: samples[i],
        heading: heading_of(samples[high] - samples[low]),
    }
}

/// Whether one clothoid without a loop represents a range of samples within the tolerance.
fn holds(samples: &[DVec2], start: Pose, from: usize, to: usize, tolerance: f64) -> bool {
    let end = pose_at(samples, to);
    let chord = (end.position - start.position).length();
    ReferenceLine::join(start, end).is_ok_and(|line| {
        line.length() < 2.0 * chord.max(1e-3)
            && super::sampling::deviation(&line, &samples[from..=to]) <= tolerance
    })
}
