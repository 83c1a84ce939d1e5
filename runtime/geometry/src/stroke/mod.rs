//! Converts a freehand stroke to a road's reference line of lines, arcs and clothoids.
//!
//! The samples are resampled by length, smoothed, and cut at corners. Each leg is represented by the cheapest
//! chain of lines and arcs (dynamic programming, after [Baran 2010], with transitions inserted afterwards),
//! and refined to a curve of continuous curvature by damped Gauss-Newton steps. By construction, straights
//! have no curvature and each bend has one sign, so a shaky hand causes no inflections. A leg that cannot be
//! represented within its tolerance becomes a chain of clothoids with continuous heading.

mod chain;
mod refine;
mod sampling;
mod segmentation;

use crate::alignment::Alignment;
use crate::error::GeometryError;
use crate::polyline;
use crate::pose::Pose;
use crate::reference_line::ReferenceLine;
use crate::segment::Segment;
use glam::DVec2;

pub use sampling::{resampled, smoothed};

/// Options for fitting a line to a stroke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrokeOptions {
    /// Maximum deviation of the line from the stroke, m.
    pub tolerance: f64,
    /// Distance between samples, m.
    pub spacing: f64,
    /// Minimum radius of bends, m. Corners of the stroke are rounded with this radius. A leg with
    /// tighter bends is followed as drawn.
    pub min_radius: f64,
}

impl StrokeOptions {
    /// Returns the options for drawing at `scale` metres per pixel: a tolerance of half a metre or
    /// two pixels, and a sample every metre or four pixels.
    pub fn at_scale(scale: f64, min_radius: f64) -> Self {
        Self {
            tolerance: (2.0 * scale).max(0.5),
            spacing: (4.0 * scale).max(1.0),
            min_radius,
        }
    }
}

/// The result of fitting a line to a stroke.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The line. It starts and ends exactly at the ends of the stroke.
    pub line: ReferenceLine,
    /// Maximum distance of a sample from the line, m, except at rounded corners.
    pub deviation: f64,
    /// Whether a leg had to be represented by a chain of clothoids instead of lines and arcs.
    pub is_chain: bool,
}

/// Maximum number of lines and arcs of one leg that are refined together.
const MOST_SPANS: usize = 40;
/// Number of samples above which a leg gets fewer fitting attempts, so that fitting takes little
/// time after the button is released.
const LONG: usize = 400;
/// Factor by which the radius of a refined bend may be smaller than requested.
const TIGHTEST: f64 = 1.1;

/// Fits a line to the points of a stroke, in drawing order.
///
/// Takes about 6 ms for 200 samples and 160 ms for 1,000. The search for spans takes time
/// proportional to the square of the longest span, and the refinement to the cube of the number of
/// spans.
///
/// # Errors
/// [`GeometryError::TooFewPoints`] if the stroke is shorter than two tolerances,
/// [`GeometryError::NoJoin`] if it turns straight back on itself, and the errors of
/// [`ReferenceLine::new`] for coordinates out of range.
pub fn fit(points: &[DVec2], options: &StrokeOptions) -> Result<Fit, GeometryError> {
    let samples = resampled(points, options.spacing);
    let too_short = GeometryError::TooFewPoints {
        needed: 2,
        given: samples.len().min(1),
    };
    let [first, .., last] = samples.as_slice() else {
        return Err(too_short);
    };
    if polyline::length(&samples) < 2.0 * options.tolerance
        || (*first == *last && samples.len() < 4)
    {
        return Err(too_short);
    }
    let mut legs = Vec::new();
    let mut stops = vec![0];
    stops.extend(sampling::corners(&samples, options));
    stops.push(samples.len() - 1);
    for pair in stops.windows(2) {
        legs.push(fit_leg(&samples[pair[0]..=pair[1]], options)?);
    }
    let deviation = legs.iter().map(|leg| leg.deviation).fold(0.0, f64::max);
    let is_chain = legs.iter().any(|leg| leg.is_chain);
    let mut legs = legs.into_iter();
    let first = legs.next().ok_or(too_short)?;
    // Legs are joined from first to last, and each corner is rounded as far as its two legs permit.
    // `left` is the length of the previous leg that is still available for the next corner.
    let (mut line, mut left) = (first.line.clone(), first.line.length());
    for leg in legs {
        let cut = corner_cut(&line, left, &leg.line, options.min_radius);
        left = leg.line.length() - cut;
        line = rounded(&line, &leg.line, cut)?;
    }
    Ok(Fit {
        line,
        deviation,
        is_chain,
    })
}

/// Fits a line to one leg between two corners.
fn fit_leg(samples: &[DVec2], options: &StrokeOptions) -> Result<Fit, GeometryError> {
    let smooth = smoothed(samples);
    let mut best = None;
    let attempts = if samples.len() > LONG { 2 } else { 4 };
    // Tries finer and coarser chains in turn. With too few spans, the tolerance is exceeded. With
    // too many, the line follows the tremor of the hand into bends that are too tight.
    for penalty in [1.0, 0.5, 2.0, 0.2].into_iter().take(attempts) {
        let spans = segmentation::spans(&smooth, options, penalty);
        if spans.len() > MOST_SPANS {
            // The refinement of a long scribble would take seconds.
            break;
        }
        // Smoothing shrinks bends, so it is used only to find the spans.
        let Some(line) = refine::refined(samples, &spans, options) else {
            continue;
        };
        let found = (sampling::deviation(&line, samples), line);
        let tight = found.1.max_curvature() * options.min_radius > TIGHTEST;
        if found.0 <= 1.5 * options.tolerance && !tight {
            best = Some(found);
            break;
        }
    }
    if let Some((deviation, line)) = best {
        return Ok(Fit {
            line,
            deviation,
            is_chain: false,
        });
    }
    // A scribble that turns back on itself still becomes a polygon with rounded corners.
    let line = chain::chain(&smooth, options.tolerance)
        .or_else(|_| Alignment::polygon(&smooth, options.min_radius, 0.0)?.line())?;
    let deviation = sampling::deviation(&line, &smooth);
    Ok(Fit {
        line,
        deviation,
        is_chain: true,
    })
}

/// Returns the length that a corner takes from each of the two legs that it joins, m.
fn corner_cut(before: &ReferenceLine, left: f64, after: &ReferenceLine, radius: f64) -> f64 {
    let turn = crate::math::wrap_angle(after.start().heading - before.end().heading).abs();
    // Tangent length of an arc with this radius. It is unbounded for a hairpin, so the turn is
    // limited to 2.6 rad. At most half of the next leg is used, to leave room for its other corner.
    let wanted = radius * crate::math::tan(0.5 * turn.min(2.6));
    wanted.min(0.9 * left).min(0.45 * after.length()).max(1e-3)
}

/// Joins two legs with a rounded corner, which takes `cut` metres from each leg.
fn rounded(
    before: &ReferenceLine,
    after: &ReferenceLine,
    cut: f64,
) -> Result<ReferenceLine, GeometryError> {
    let head = before.slice(0.0, before.length() - cut)?;
    let tail = after.slice(cut, after.length())?;
    let bend = corner_curve(head.end(), tail.start())
        .map_or_else(|| ReferenceLine::join(head.end(), tail.start()), Ok)?;
    head.joined(&bend)?.joined(&tail)
}

/// Returns the arc that joins two poses; `None` if its tangents would not be equally long, or if
/// there is no bend.
fn corner_curve(from: Pose, to: Pose) -> Option<ReferenceLine> {
    let chord = to.position - from.position;
    let turn = crate::math::wrap_angle(to.heading - from.heading);
    let bow = crate::math::wrap_angle(crate::heading_of(chord) - from.heading);
    // The tangents are equally long if and only if the angle between chord and start heading is half of the
    // turn.
    if (bow - 0.5 * turn).abs() > 1e-9 || turn.abs() < 1e-6 {
        return None;
    }
    let radius = chord.length() / (2.0 * crate::math::sin(0.5 * turn.abs()));
    let arc = Segment::Arc {
        length: radius * turn.abs(),
        curvature: turn.signum() / radius,
    };
    ReferenceLine::new(from, vec![arc]).ok()
}

#[cfg(test)]
mod tests;
