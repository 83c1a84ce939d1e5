//! Covariance matrix adaptation [Hansen 2016]: a normal distribution that moves towards the better samples
//! and adapts its shape to their directions.
//!
//! The parameters are the defaults in table 1 of the tutorial, with negative weights for the worse half. All
//! sums are computed in a fixed order, so equal samples and ranks give bit-identical results.

use super::symmetric::{Eigen, Matrix};
use roadwright_geometry::math::{Stream, cos, exp, ln, pow};
use std::f64::consts::TAU;

/// Limits of the step size. Far beyond these limits, all samples are at the ends of the gene ranges, or have
/// the same value.
const STEPS: [f64; 2] = [1e-12, 1e3];

/// Weights of the ranks, and learning rates. They depend on the number of samples and the number of
/// dimensions.
#[derive(Debug, Clone, PartialEq)]
struct Rates {
    /// Weight of each rank, best first. The weights of the better half add up to 1. The weights of
    /// the worse half are negative.
    weights: Vec<f64>,
    /// Number of positive weights.
    parents: usize,
    /// Variance-effective number of samples in the better half: the mean of this number of equally weighted
    /// samples has the same variance as the weighted mean.
    effective: f64,
    path: f64,
    rank_one: f64,
    rank_mu: f64,
    step: f64,
    damping: f64,
}

impl Rates {
    fn new(samples: usize, dimensions: usize) -> Self {
        let (count, n) = (samples as f64, dimensions as f64);
        let raw = (1..=samples).map(|rank| ln(0.5 * (count + 1.0)) - ln(rank as f64));
        let mut weights: Vec<f64> = raw.collect();
        let parents = (samples / 2).max(1);
        let (sum, sum_of_rest) = (total(&weights[..parents]), total(&weights[parents..]));
        let effective = sum * sum / squares(&weights[..parents]);
        let effective_of_rest = match squares(&weights[parents..]) {
            0.0 => 0.0,
            squares => sum_of_rest * sum_of_rest / squares,
        };
        let rank_one = 2.0 / ((n + 1.3) * (n + 1.3) + effective);
        let wanted = 2.0 * (0.25 + effective + 1.0 / effective - 2.0);
        let rank_mu = (wanted / ((n + 2.0) * (n + 2.0) + effective)).min(1.0 - rank_one);
        let step = (effective + 2.0) / (n + effective + 5.0);
        let excess = ((effective - 1.0) / (n + 1.0)).max(0.0).sqrt() - 1.0;
        // Equations 50 to 53: in total, the negative weights may not outweigh the positive ones.
        let least = [
            1.0 + rank_one / rank_mu,
            1.0 + 2.0 * effective_of_rest / (effective + 2.0),
            (1.0 - rank_one - rank_mu) / (n * rank_mu),
        ];
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        let negative: f64 = weights.iter().filter(|weight| **weight < 0.0).sum();
        for (rank, weight) in weights.iter_mut().enumerate() {
            if rank < parents {
                *weight /= sum;
            } else if *weight < 0.0 {
                *weight *= least / -negative;
            }
        }
        Self {
            weights,
            parents,
            effective,
            path: (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n),
            rank_one,
            rank_mu,
            step,
            damping: 1.0 + 2.0 * excess.max(0.0) + step,
        }
    }
}

/// The adapted distribution.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Covariance {
    rates: Rates,
    generation: u32,
    mean: Vec<f64>,
    /// Step size: the scale of the distribution.
    sigma: f64,
    matrix: Matrix,
    eigen: Eigen,
    /// Evolution paths of the matrix and of the step size.
    path: Vec<f64>,
    step_path: Vec<f64>,
}

impl Covariance {
    /// Creates the initial distribution: spherical around `mean` with a standard deviation of `sigma`, for
    /// generations of `samples` samples.
    pub(super) fn new(mean: Vec<f64>, sigma: f64, samples: usize) -> Self {
        let n = mean.len();
        let matrix = Matrix::identity(n);
        Self {
            rates: Rates::new(samples, n),
            generation: 0,
            sigma,
            eigen: matrix.eigen(),
            matrix,
            path: vec![0.0; n],
            step_path: vec![0.0; n],
            mean,
        }
    }

    /// Returns the number of generations that the distribution has learned from.
    pub(super) fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns the point at `step` from the mean, where `step` was drawn by [`step`](Self::step).
    pub(super) fn point(&self, step: &[f64]) -> Vec<f64> {
        let along = self.mean.iter().zip(step);
        along.map(|(mean, step)| mean + self.sigma * step).collect()
    }

    /// Draws a step from the mean, before it is scaled by the step size.
    pub(super) fn step(&self, stream: &mut Stream) -> Vec<f64> {
        let scales = self.eigen.values.iter();
        let scaled: Vec<f64> = scales.map(|value| value.sqrt() * normal(stream)).collect();
        self.eigen.vectors.times(&scaled)
    }

    /// Learns from the steps of a generation, best first. O(samples * dimensions^2 + dimensions^3).
    pub(super) fn learn(&mut self, steps: &[&[f64]]) {
        let n = self.mean.len();
        let rates = &self.rates;
        let mut moved = vec![0.0; n];
        for (step, weight) in steps.iter().zip(&rates.weights[..rates.parents]) {
            add(&mut moved, *weight, step);
        }
        add(&mut self.mean, self.sigma, &moved);
        self.generation += 1;

        let share = (rates.step * (2.0 - rates.step) * rates.effective).sqrt();
        let whitened = self.eigen.whitened(&moved);
        scale(&mut self.step_path, 1.0 - rates.step);
        add(&mut self.step_path, share, &whitened);
        let length = squares(&self.step_path).sqrt();
        let count = n as f64;
        let expected = count.sqrt() * (1.0 - 1.0 / (4.0 * count) + 1.0 / (21.0 * count * count));

        // While the path of the step size is long, the step size grows, and the path of the matrix is not
        // extended.
        let settled = 1.0 - pow(1.0 - rates.step, 2.0 * f64::from(self.generation));
        let is_short = length / settled.sqrt() < (1.4 + 2.0 / (count + 1.0)) * expected;
        scale(&mut self.path, 1.0 - rates.path);
        if is_short {
            let share = (rates.path * (2.0 - rates.path) * rates.effective).sqrt();
            add(&mut self.path, share, &moved);
        }
        let lost = match is_short {
            true => 0.0,
            false => rates.path * (2.0 - rates.path),
        };
        let kept = 1.0 + rates.rank_one * lost - rates.rank_one;
        self.matrix
            .scale(kept - rates.rank_mu * total(&rates.weights));
        self.matrix.add_outer(rates.rank_one, &self.path);
        for (step, &weight) in steps.iter().zip(&rates.weights) {
            let weight = match weight < 0.0 {
                // A long step of a bad sample must not make the matrix lose its positive definiteness.
                true => weight * count / squares(&self.eigen.whitened(step)).max(1e-300),
                false => weight,
            };
            self.matrix.add_outer(rates.rank_mu * weight, step);
        }
        self.eigen = self.matrix.eigen();
        self.sigma *= exp((rates.step / rates.damping) * (length / expected - 1.0));
        self.sigma = self.sigma.clamp(STEPS[0], STEPS[1]);
    }
}

/// Draws a standard normal number with the Box-Muller method.
fn normal(stream: &mut Stream) -> f64 {
    // The logarithm of 0 is infinite; 1 minus a number in [0, 1) is above 0.
    let radius = (-2.0 * ln(1.0 - stream.next_unit())).sqrt();
    radius * cos(TAU * stream.next_unit())
}

fn total(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn scale(values: &mut [f64], factor: f64) {
    values.iter_mut().for_each(|value| *value *= factor);
}

fn add(values: &mut [f64], factor: f64, others: &[f64]) {
    for (value, other) in values.iter_mut().zip(others) {
        *value += factor * other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_tutorial() {
        // Ten dimensions, with the number of samples that the tutorial proposes for them: 4 + 3 ln 10.
        let rates = Rates::new(10, 10);
        assert_eq!(rates.parents, 5);
        assert!((total(&rates.weights[..5]) - 1.0).abs() < 1e-12);
        assert!(
            (rates.effective - 3.167).abs() < 1e-3,
            "{}",
            rates.effective
        );
        assert!(rates.weights.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(total(&rates.weights[5..]) < 0.0);
        // By default, all weights add up to about 0, so that the matrix hardly decays.
        let decay = rates.rank_one + rates.rank_mu * total(&rates.weights);
        assert!((-1e-9..0.1).contains(&decay), "{decay}");
    }

    /// Searches a function that has a minimum of 0 at the origin, and returns the smallest value
    /// found.
    fn minimum(value: impl Fn(&[f64]) -> f64, generations: usize) -> f64 {
        let mut covariance = Covariance::new(vec![0.5; 6], 0.3, 12);
        let mut best = f64::INFINITY;
        for generation in 0..generations {
            let mut stream = Stream::new(7, "test", generation as u64);
            let steps: Vec<Vec<f64>> = (0..12).map(|_| covariance.step(&mut stream)).collect();
            let mut ranked: Vec<(f64, &[f64])> = steps
                .iter()
                .map(|step| (value(&covariance.point(step)), step.as_slice()))
                .collect();
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
            best = best.min(ranked[0].0);
            let steps: Vec<&[f64]> = ranked.iter().map(|(_, step)| *step).collect();
            covariance.learn(&steps);
        }
        best
    }

    #[test]
    fn it_finds_minima_along_narrow_valleys() {
        let sphere = |x: &[f64]| squares(x);
        assert!(minimum(sphere, 150) < 1e-10);
        // A thousand times as steep in one direction as in another, with rotated axes.
        let ellipsoid = |x: &[f64]| {
            let turned = (0..6).map(|i| x[i] + 0.5 * x[(i + 1) % 6]);
            let scales = turned
                .enumerate()
                .map(|(i, y)| pow(10.0, 0.6 * i as f64) * y * y);
            scales.sum::<f64>()
        };
        assert!(minimum(ellipsoid, 400) < 1e-8);
    }

    #[test]
    fn equal_samples_and_extremes_leave_it_finite() {
        let mut covariance = Covariance::new(vec![0.5; 3], 0.3, 2);
        for generation in 0..3_000 {
            let mut stream = Stream::new(1, "test", generation);
            let steps = [covariance.step(&mut stream), covariance.step(&mut stream)];
            covariance.learn(&[&steps[0], &steps[1]]);
            let point = covariance.point(&steps[0]);
            assert!(point.iter().all(|x| x.is_finite()), "{generation}");
        }
    }
}
