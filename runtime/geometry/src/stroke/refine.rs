//! Fits lines and arcs with clothoids between them to samples.
//!
//! The parameters are, in this order: x, y and heading of the start, the length of each span, the
//! length of each spiral, the curvature of each arc. Residuals are the normal distances of the
//! samples and the errors at both ends. Gauss-Newton steps solve
//!
//! ```text
//!   (J^T J + damping diag(J^T J)) step = -J^T residuals
//! ```
//!
//! with J by finite differences. A step that does not reduce the residuals is undone and tried
//! again with ten times the damping, which makes it shorter and turns it towards the steepest
//! descent. A step that reduces them also reduces the damping.

use super::StrokeOptions;
use super::segmentation::Span;
use crate::polyline;
use crate::pose::{Pose, heading_of};
use crate::reference_line::ReferenceLine;
use crate::segment::Segment;
use glam::DVec2;

/// Minimum length of a spiral, m.
const MIN_SPIRAL: f64 = 2.0;
/// Minimum length of a line or arc, m.
const MIN_SPAN: f64 = 0.5;
/// Maximum number of iterations.
const ITERATIONS: usize = 14;
/// Maximum number of samples that contribute residuals.
const MAX_RESIDUALS: usize = 300;
/// Maximum change of a length in one step, m. The curve is far from linear in its parameters: if a
/// heading is wrong by a radian, the closest points are on other spans.
const STEP_LENGTH: f64 = 4.0;
/// Maximum change of a curvature in one step, 1/m.
const STEP_CURVATURE: f64 = 0.05;
/// Maximum change of a heading in one step, rad.
const STEP_HEADING: f64 = 0.3;

/// The parameters of a curve: start, span lengths and curvatures, spiral lengths.
#[derive(Debug, Clone, PartialEq)]
struct Model {
    start: Pose,
    /// Length and curvature of each span. A curvature of exactly 0 means a line, and stays 0.
    spans: Vec<(f64, f64)>,
    /// Length of the spiral after each span except the last.
    spirals: Vec<f64>,
}

impl Model {
    /// Returns an initial guess based on the spans of the segmentation; `None` if there are no
    /// spans.
    fn guess(samples: &[DVec2], spans: &[Span]) -> Option<Self> {
        let length = |span: &Span| polyline::length(&samples[span.from..=span.to]);
        let mut model = Self {
            start: Pose {
                position: samples[0],
                heading: start_heading(samples, spans.first()?),
            },
            spans: Vec::new(),
            spirals: Vec::new(),
        };
        // The heading is tracked along the chain. The direction of a line shows how much turn is
        // missing between it and the previous line.
        let mut heading = model.start.heading;
        for span in spans {
            let straight = span.curvature == 0.0;
            let after_line = model.spans.last().is_some_and(|s| s.1 == 0.0);
            if straight && after_line {
                // Two lines meet in a bend that was too short to be detected, so an arc is inserted.
                let direction = samples[span.to] - samples[span.from];
                let turn = crate::math::wrap_angle(heading_of(direction) - heading);
                let bend = (0.3 * length(span)).clamp(1.0, 10.0);
                model.push(bend, turn / bend.max(1e-6));
                heading += turn;
            }
            model.push(length(span).max(MIN_SPAN), span.curvature);
            heading += length(span) * span.curvature;
        }
        // A spiral takes half of its length from each neighbour. It turns by as much as if one half
        // had the curvature of one neighbour, and the other half that of the other neighbour.
        for i in 0..model.spirals.len() {
            let shorter = model.spans[i].0.min(model.spans[i + 1].0);
            // A span loses half of a spiral at each end, so it loses at most 0.4 of its length in
            // total and more than half of it stays a line or an arc.
            model.spirals[i] = (0.4 * shorter).clamp(MIN_SPIRAL, 60.0);
        }
        for i in 0..model.spans.len() {
            let before = if i > 0 { model.spirals[i - 1] } else { 0.0 };
            let after = model.spirals.get(i).copied().unwrap_or(0.0);
            let span = &mut model.spans[i];
            span.0 = (span.0 - 0.5 * (before + after)).max(MIN_SPAN);
        }
        Some(model)
    }

    fn push(&mut self, length: f64, curvature: f64) {
        if !self.spans.is_empty() {
            self.spirals.push(MIN_SPIRAL);
        }
        self.spans.push((length, curvature));
    }

    fn line(&self) -> Option<ReferenceLine> {
        let mut segments = Vec::with_capacity(2 * self.spans.len());
        for (i, &(length, curvature)) in self.spans.iter().enumerate() {
            segments.push(if curvature == 0.0 {
                Segment::Line { length }
            } else {
                Segment::Arc { length, curvature }
            });
            if let (Some(&spiral), Some(next)) = (self.spirals.get(i), self.spans.get(i + 1)) {
                segments.push(Segment::Spiral {
                    length: spiral,
                    curvature_start: curvature,
                    curvature_end: next.1,
                });
            }
        }
        ReferenceLine::new(self.start, segments).ok()
    }

    fn parameter_count(&self) -> usize {
        let arcs = self.spans.iter().filter(|span| span.1 != 0.0).count();
        3 + self.spans.len() + self.spirals.len() + arcs
    }

    /// Changes parameter `index` by `step`, within its bounds.
    fn shift(&mut self, index: usize, step: f64, max_curvature: f64) {
        let (spans, spirals) = (self.spans.len(), self.spirals.len());
        match index {
            0 => self.start.position.x += step.clamp(-STEP_LENGTH, STEP_LENGTH),
            1 => self.start.position.y += step.clamp(-STEP_LENGTH, STEP_LENGTH),
            2 => self.start.heading += step.clamp(-STEP_HEADING, STEP_HEADING),
            i if i < 3 + spans => {
                let length = &mut self.spans[i - 3].0;
                *length = (*length + step.clamp(-STEP_LENGTH, STEP_LENGTH)).max(MIN_SPAN);
            }
            i if i < 3 + spans + spirals => {
                let length = &mut self.spirals[i - 3 - spans];
                *length = (*length + step.clamp(-STEP_LENGTH, STEP_LENGTH)).max(MIN_SPIRAL);
            }
            i => {
                let arcs = self.spans.iter_mut().filter(|span| span.1 != 0.0);
                if let Some(span) = arcs.into_iter().nth(i - 3 - spans - spirals) {
                    let step = step.clamp(-STEP_CURVATURE, STEP_CURVATURE);
                    let (low, high) = if span.1 > 0.0 {
                        (1e-5, max_curvature)
                    } else {
                        (-max_curvature, -1e-5)
                    };
                    // The sign is kept, so that a left bend cannot become a right bend.
                    span.1 = (span.1 + step).clamp(low, high);
                }
            }
        }
    }

    /// Returns the step size for the numerical derivative with respect to a parameter.
    fn probe(&self, index: usize) -> f64 {
        // Each of these steps moves the far end of a road of some hundred metres by about a tenth of a
        // millimetre or more. This is large compared with rounding and small compared with the bends of the
        // curve.
        match index {
            2 => 1e-6,
            i if i < 3 + self.spans.len() + self.spirals.len() => 1e-4,
            _ => 1e-7,
        }
    }
}

/// Returns the heading at the start of a span: that of its chord, minus half of its turn.
fn start_heading(samples: &[DVec2], span: &Span) -> f64 {
    let far = samples[span.to] - samples[span.from];
    let length = polyline::length(&samples[span.from..=span.to]);
    // The chord of an arc deviates by half its turn from the direction at its start.
    heading_of(far) - 0.5 * length * span.curvature
}

/// Returns the refined curve.
///
/// Its ends are exactly the first and last sample, because the whole curve is rotated and scaled, which
/// preserves the type of each segment.
pub(super) fn refined(
    samples: &[DVec2],
    spans: &[Span],
    options: &StrokeOptions,
) -> Option<ReferenceLine> {
    let mut model = Model::guess(samples, spans)?;
    let max_curvature = 1.0 / options.min_radius.max(1.0);
    // Every n-th sample is enough, because each span covers many samples.
    let stride = samples.len().div_ceil(MAX_RESIDUALS);
    let chosen: Vec<DVec2> = samples.iter().copied().step_by(stride).collect();
    let mut line = model.line()?;
    let mut error = f64::INFINITY;
    let mut damping = 1e-3;
    for _ in 0..ITERATIONS {
        // Feet are recomputed in each round, because they move with the curve. Within a round, they
        // are fixed.
        let feet = feet(&line, &chosen);
        let residuals = residuals(&line, &chosen, &feet, samples);
        let now = squared(&residuals);
        if (error - now).abs() < 1e-4 * now {
            break;
        }
        error = now;
        let step = gauss_newton(&model, &line, &chosen, &feet, samples, &residuals, damping)?;
        let mut trial = model.clone();
        for (index, step) in step.iter().enumerate() {
            trial.shift(index, *step, max_curvature);
        }
        let trial_line = trial.line()?;
        let trial_feet = self::feet(&trial_line, &chosen);
        let trial_residuals = self::residuals(&trial_line, &chosen, &trial_feet, samples);
        if squared(&trial_residuals) < now {
            (model, line) = (trial, trial_line);
            damping = (0.3 * damping).max(1e-6);
        } else {
            damping *= 10.0;
            // The error is the same in the next round, which must not be mistaken for convergence.
            error = f64::INFINITY;
            if damping > 1e4 {
                break;
            }
        }
    }
    between(&model, samples[0], samples[samples.len() - 1])
}

/// Returns the sum of squares.
fn squared(residuals: &[f64]) -> f64 {
    residuals.iter().map(|r| r * r).sum()
}

/// Returns the distances along the line of the points nearest to the samples, in non-decreasing
/// order.
fn feet(line: &ReferenceLine, samples: &[DVec2]) -> Vec<f64> {
    // Each search starts at the foot of the previous sample, so that samples stay on their own
    // branch where the line comes close to itself.
    let mut s = 0.0;
    samples
        .iter()
        .map(|&sample| {
            for _ in 0..4 {
                let pose = line.pose(s);
                let ahead = pose.forward().dot(sample - pose.position);
                let left = pose.left().dot(sample - pose.position);
                // Beside the line, a step corresponds to a different distance along the line.
                // Beyond the centre of a bend, this distance would be unbounded, so it is clamped.
                let stretch = (1.0 - line.curvature(s) * left).max(0.2);
                s = (s + ahead / stretch).clamp(0.0, line.length());
            }
            s
        })
        .collect()
}

/// Returns the normal distances of the samples and the errors at both ends.
fn residuals(line: &ReferenceLine, chosen: &[DVec2], feet: &[f64], samples: &[DVec2]) -> Vec<f64> {
    let mut all: Vec<f64> = chosen
        .iter()
        .zip(feet)
        .map(|(sample, &s)| {
            let pose = line.pose(s);
            pose.left().dot(pose.position - *sample)
        })
        .collect();
    let start = line.start().position - samples[0];
    let end = line.end().position - samples[samples.len() - 1];
    // Each end counts as two additional samples, because the curve is finally moved to match the
    // ends and should not have to be moved far.
    all.extend([start.x, start.y, end.x, end.y]);
    all
}

/// Returns the damped step that reduces the residuals, by parameter; `None` if no step does.
fn gauss_newton(
    model: &Model,
    line: &ReferenceLine,
    chosen: &[DVec2],
    feet: &[f64],
    samples: &[DVec2],
    residuals: &[f64],
    damping: f64,
) -> Option<Vec<f64>> {
    let n = model.parameter_count();
    // Normals of the unchanged line. With them, the residual is linear in the shift.
    let normals: Vec<DVec2> = feet.iter().map(|&s| line.pose(s).left()).collect();
    let columns: Option<Vec<Vec<f64>>> = (0..n)
        .map(|index| derivative(model, index, chosen, feet, &normals, samples, residuals))
        .collect();
    let columns = columns?;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for i in 0..n {
        for j in 0..n {
            matrix[i][j] = dot(&columns[i], &columns[j]);
        }
        // A parameter that affects no residual has an empty row, and a multiple of zero stays zero, so the
        // small term keeps the matrix from being singular.
        matrix[i][i] = matrix[i][i] * (1.0 + damping) + 1e-9;
        // Lengths are damped slightly, because they are undetermined along a straight.
        if (3..3 + model.spans.len() + model.spirals.len()).contains(&i) {
            matrix[i][i] += 0.02;
        }
        matrix[i][n] = -dot(&columns[i], residuals);
    }
    solved(matrix)
}

/// Returns the change of the residuals per unit of a parameter, by a forward difference; `None` if
/// the changed parameters give no valid line.
fn derivative(
    model: &Model,
    index: usize,
    chosen: &[DVec2],
    feet: &[f64],
    normals: &[DVec2],
    samples: &[DVec2],
    residuals: &[f64],
) -> Option<Vec<f64>> {
    let probe = model.probe(index);
    let mut other = model.clone();
    // Ignores the bound on curvature. At the bound, the probe would be clamped and have no effect,
    // so the derivative would be 0.
    other.shift(index, probe, f64::INFINITY);
    let moved = other.line()?;
    let mut column: Vec<f64> = chosen
        .iter()
        .zip(feet.iter().zip(normals))
        .zip(residuals)
        .map(|((sample, (&s, normal)), before)| {
            (normal.dot(moved.pose(s).position - *sample) - before) / probe
        })
        .collect();
    let start = moved.start().position - samples[0];
    let end = moved.end().position - samples[samples.len() - 1];
    let ends = [start.x, start.y, end.x, end.y];
    let before = &residuals[residuals.len() - 4..];
    column.extend(
        ends.iter()
            .zip(before)
            .map(|(now, before)| (now - before) / probe),
    );
    Some(column)
}

/// Solves a linear system by elimination with pivoting. The right-hand side is the last column. `None` if
/// there is no unique solution.
fn solved(mut m: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = m.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| m[a][k].abs().total_cmp(&m[b][k].abs()))?;
        m.swap(k, pivot);
        if m[k][k].abs() < 1e-14 {
            return None;
        }
        let (top, rest) = m.split_at_mut(k + 1);
        let row = &top[k];
        for other in rest {
            let factor = other[k] / row[k];
            for (value, own) in other.iter_mut().zip(row).skip(k) {
                *value -= factor * own;
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][n] - known) / m[k][k];
    }
    x.iter().all(|value| value.is_finite()).then_some(x)
}

/// Returns the model's line, rotated, scaled and shifted so that it runs exactly between two
/// points; `None` if the line would have to be scaled too much or cannot be built.
fn between(model: &Model, from: DVec2, to: DVec2) -> Option<ReferenceLine> {
    let line = model.line()?;
    let own = line.end().position - line.start().position;
    let wanted = to - from;
    if own.length() < 0.2 * line.length() || wanted.length() < 1e-6 {
        // A closed stroke cannot be scaled to match its ends, so its tail is bent instead.
        let mut closed = model.clone();
        closed.start.position = from;
        let line = closed.line()?;
        let cut = (line.length() - (0.2 * line.length()).min(20.0)).max(0.5 * line.length());
        let head = line.slice(0.0, cut).ok()?;
        let end = Pose {
            position: to,
            heading: line.end().heading,
        };
        return head
            .joined(&ReferenceLine::join(head.end(), end).ok()?)
            .ok();
    }
    // Rotating and scaling the whole line preserves lines, arcs and smooth joints. Curvatures are
    // divided by the scale. A scale that differs much from 1 means that the fit has failed.
    let scale = wanted.length() / own.length();
    if !(0.5..2.0).contains(&scale) {
        return None;
    }
    let mut scaled = model.clone();
    scaled.start = Pose {
        position: from,
        heading: model.start.heading + heading_of(wanted) - heading_of(own),
    };
    for span in &mut scaled.spans {
        *span = (span.0 * scale, span.1 / scale);
    }
    scaled
        .spirals
        .iter_mut()
        .for_each(|spiral| *spiral *= scale);
    scaled.line()
}
