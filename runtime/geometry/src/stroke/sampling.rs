//! Samples of a stroke: even spacing, smoothing and corners.

use super::StrokeOptions;
use crate::math::{exp, wrap_angle};
use crate::pose::heading_of;
use crate::projection::Projector;
use crate::reference_line::ReferenceLine;
use glam::DVec2;

/// Half the width of the smoothing window, in samples.
const WINDOW: usize = 7;
/// Standard deviation of the smoothing window, in samples.
const SIGMA: f64 = 2.5;
/// Minimum turn within a few metres that counts as a corner, rad (50 degrees).
const CORNER: f64 = 0.873;

/// Returns points about `spacing` apart along the stroke. The first and last points are kept exactly.
///
/// Points that are not finite are left out. O(points + length / spacing).
pub fn resampled(points: &[DVec2], spacing: f64) -> Vec<DVec2> {
    let mut usable = points.iter().copied().filter(|p| p.is_finite());
    let Some(first) = usable.next() else {
        return Vec::new();
    };
    let mut samples = vec![first];
    let (mut last, mut missing) = (first, spacing);
    for point in usable {
        let mut step = (point - last).length();
        // `missing` is the distance to the next sample. It is carried over the corners of the drawn
        // polyline.
        while step >= missing {
            last += (point - last) * (missing / step);
            samples.push(last);
            step = (point - last).length();
            missing = spacing;
        }
        missing -= step;
        last = point;
    }
    // The last point is kept exactly. A sample just before it would create a short edge in an arbitrary
    // direction.
    let close = samples.len() > 1 && (samples[samples.len() - 1] - last).length() < 0.5 * spacing;
    if close {
        samples.pop();
    }
    if samples.last() != Some(&last) {
        samples.push(last);
    }
    samples
}

/// Smooths the samples with a Gaussian window that shrinks towards the ends, which stay in place.
pub fn smoothed(samples: &[DVec2]) -> Vec<DVec2> {
    let weights: [f64; WINDOW + 1] = std::array::from_fn(|k| {
        let x = k as f64 / SIGMA;
        exp(-0.5 * x * x)
    });
    (0..samples.len())
        .map(|i| {
            // The window has the same number of samples on both sides. Otherwise a sample near an end would
            // be pulled inwards.
            let reach = WINDOW.min(i).min(samples.len() - 1 - i);
            let (mut sum, mut total) = (weights[0] * samples[i], weights[0]);
            for (k, weight) in weights.iter().enumerate().take(reach + 1).skip(1) {
                sum += *weight * (samples[i - k] + samples[i + k]);
                total += 2.0 * weight;
            }
            sum / total
        })
        .collect()
}

/// Returns the indices of the samples where the stroke turns a corner, in ascending order.
pub(super) fn corners(samples: &[DVec2], options: &StrokeOptions) -> Vec<usize> {
    // A bend turns over its whole length, whereas a corner turns within a few metres. The turn
    // between the chord over one window before and the chord over one window after distinguishes
    // them.
    let window = 4.0f64.max(4.0 * options.tolerance);
    let reach = ((window / options.spacing).round() as usize).max(3);
    if samples.len() < 2 * reach + 1 {
        return Vec::new();
    }
    let turn = |i: usize| {
        let before = heading_of(samples[i] - samples[i - reach]);
        let after = heading_of(samples[i + reach] - samples[i]);
        wrap_angle(after - before).abs()
    };
    let turns: Vec<f64> = (reach..samples.len() - reach).map(turn).collect();
    let mut found = Vec::new();
    for (at, &here) in turns.iter().enumerate() {
        // Only the largest turn within a window is a corner. If several are equal, the first one is
        // used.
        let (low, high) = (at.saturating_sub(reach), (at + reach).min(turns.len() - 1));
        let is_peak =
            turns[low..at].iter().all(|t| *t < here) && turns[at..=high].iter().all(|t| *t <= here);
        if here > CORNER && is_peak {
            found.push(at + reach);
        }
    }
    found
}

/// Returns the largest distance of a sample from a line, m.
pub(super) fn deviation(line: &ReferenceLine, samples: &[DVec2]) -> f64 {
    let projector = Projector::new(line.clone());
    let mut guess = 0.0;
    let mut worst = 0.0f64;
    for &sample in samples {
        let foot = projector.closest_near(sample, guess);
        guess = foot.s;
        let miss = (line.pose(foot.s).position - sample).length();
        worst = worst.max(miss);
    }
    worst
}
