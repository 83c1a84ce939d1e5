//! The Riccati recursion of finite and infinite horizons.

use super::{LONGEST_BATCH, Matrix, poles};
use thiserror::Error;

/// Linear system x(k+1) = A x(k) + B u(k) + E w(k) with steps of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct Plant {
    /// A: effect of the state.
    pub state: Matrix,
    /// B: effect of the control.
    pub control: Matrix,
    /// E: effect of the value that is known in advance for each step, as a single column.
    pub known: Matrix,
}

/// Quadratic cost: x'Qx + u'Ru of each step, and x'Q_f x at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Q: weights of the state, positive semidefinite.
    pub state: Matrix,
    /// R: weights of the control, positive definite.
    pub control: Matrix,
    /// Q_f: weights of the final state, positive semidefinite.
    pub last: Matrix,
}

/// Reason why a problem has no solution.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LinearError {
    /// A mode that grows or persists cannot be influenced by the control.
    #[error("the pair (A, B) is not stabilisable: a mode that does not decay is not controllable")]
    NotStabilisable,
    /// The horizon has no steps.
    #[error("the horizon is 0 steps; expected at least 1")]
    NoSteps,
    /// The batch solution would lose its precision.
    #[error(
        "a batch solution cannot have {steps} steps: beyond {LONGEST_BATCH} steps, its matrix is \
         ill-conditioned; use the finite or the infinite horizon"
    )]
    BatchTooLong {
        /// The requested number of steps.
        steps: usize,
    },
    /// A weight matrix that has to be positive definite is not.
    #[error("the control weights are not positive definite")]
    Weights,
}

/// Gains of one step: u = -K x + sum over i of F(i) w(i), where w(0) acts in this step.
#[derive(Debug, Clone, PartialEq)]
pub struct Gains {
    /// K: a row for each control.
    pub state: Matrix,
    /// F: a column for each known value ahead.
    pub known: Matrix,
}

impl Gains {
    /// Returns the controls for a state and the known values ahead. Values beyond the number of
    /// gains are ignored. If there are fewer values than gains, the last value is repeated.
    pub fn controls(&self, state: &[f64], known: &[f64]) -> Vec<f64> {
        let last = known.last().copied().unwrap_or(0.0);
        let ahead = known.iter().copied().chain(std::iter::repeat(last));
        let row = |row: usize| {
            let back: f64 = self
                .state
                .row(row)
                .iter()
                .zip(state)
                .map(|(k, x)| k * x)
                .sum();
            let forward: f64 = self
                .known
                .row(row)
                .iter()
                .zip(ahead.clone())
                .map(|(f, w)| f * w)
                .sum();
            forward - back
        };
        (0..self.state.rows()).map(row).collect()
    }
}

/// One backward step of the recursion.
struct Backward {
    /// P of this step.
    cost: Matrix,
    /// K of this step.
    gain: Matrix,
    /// Inverse of (R + B'PB), times B'.
    reply: Matrix,
    /// A - B K.
    closed: Matrix,
}

/// Computes one step: P(k) = Q + A'PA - A'PB (R + B'PB)^-1 B'PA, and K(k) = (R + B'PB)^-1 B'PA,
/// with P = P(k+1).
fn backward(plant: &Plant, cost: &Cost, next: &Matrix) -> Result<Backward, LinearError> {
    let (a, b) = (&plant.state, &plant.control);
    let bp = &b.transposed() * next;
    let within = &cost.control + &(&bp * b);
    let reply = within.symmetric().solve(&b.transposed());
    let reply = reply.ok_or(LinearError::Weights)?;
    let gain = &reply * &(next * a);
    let closed = a - &(b * &gain);
    // Joseph's form stays symmetric and positive: Q + K'RK + (A - BK)' P (A - BK).
    let spent = &gain.transposed() * &(&cost.control * &gain);
    let kept = &closed.transposed() * &(next * &closed);
    Ok(Backward {
        cost: (&(&cost.state + &spent) + &kept).symmetric(),
        gain,
        reply,
        closed,
    })
}

/// Solution of a finite horizon: the gains of each of its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Recursion {
    /// K of each step, from the first one.
    pub gains: Vec<Matrix>,
    /// The gains of the first step, including those for all known values of the horizon.
    pub first: Gains,
}

impl Recursion {
    /// Solves a horizon of `steps` steps.
    ///
    /// # Errors
    /// If there are no steps, or the weights of the control are not positive definite.
    pub fn solve(plant: &Plant, cost: &Cost, steps: usize) -> Result<Self, LinearError> {
        let mut next = cost.last.clone();
        let mut stages = Vec::with_capacity(steps);
        for _ in 0..steps {
            let stage = backward(plant, cost, &next)?;
            let after = std::mem::replace(&mut next, stage.cost.clone());
            stages.push((stage, after));
        }
        stages.reverse();
        let (first, _) = stages.first().ok_or(LinearError::NoSteps)?;
        let mut known = Matrix::zeros(first.gain.rows(), steps);
        // The known value i steps ahead reaches the control through the closed loops in between.
        let mut through = Matrix::identity(plant.state.rows());
        for (at, (stage, after)) in stages.iter().enumerate() {
            if at > 0 {
                through = &through * &stage.closed.transposed();
            }
            let pull = &(&first.reply * &through) * &(after * &plant.known);
            known.put([0, at], &pull.scaled(-1.0));
        }
        let gains = stages.iter().map(|(stage, _)| stage.gain.clone()).collect();
        let state = first.gain.clone();
        let first = Gains { state, known };
        Ok(Self { gains, first })
    }
}

/// Infinite-horizon solution: a single gain for all steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Regulator {
    /// P: cost of a state.
    pub cost: Matrix,
    /// K: gain of the state.
    pub gain: Matrix,
    /// A - B K.
    pub closed: Matrix,
    /// Minimum length of a finite horizon that has the same gain, to within 1e-9 of its largest
    /// value, in steps.
    pub horizon: usize,
    reply: Matrix,
}

/// Maximum number of steps of the recursion. Systems that need more steps are so close to the limit that they
/// count as not stabilisable.
const MOST_STEPS: usize = 20_000;
/// Relative change of cost and gain below which the recursion has converged.
const CONVERGED: f64 = 1e-13;
/// Relative difference below which gains count as equal.
const EQUAL: f64 = 1e-9;
/// Largest absolute value of a pole of a stable loop.
const STABLE: f64 = 1.0 - 1e-9;

impl Regulator {
    /// Solves the infinite horizon by the recursion, which starts at the final weight.
    ///
    /// # Errors
    /// If the pair (A, B) cannot be stabilised, or the weights of the control are not positive definite.
    pub fn solve(plant: &Plant, cost: &Cost) -> Result<Self, LinearError> {
        let mut next = cost.last.clone();
        let mut gains: Vec<Matrix> = Vec::new();
        while gains.len() < MOST_STEPS {
            let stage = backward(plant, cost, &next)?;
            let is_same = |new: &Matrix, old: &Matrix| {
                (new - old).largest() <= CONVERGED * new.largest().max(f64::MIN_POSITIVE)
            };
            let is_converged = is_same(&stage.cost, &next)
                && gains.last().is_some_and(|gain| is_same(&stage.gain, gain));
            gains.push(stage.gain.clone());
            if is_converged {
                return Self::of(plant, stage, &gains);
            }
            if !stage.cost.largest().is_finite() {
                break;
            }
            next = stage.cost;
        }
        Err(LinearError::NotStabilisable)
    }

    fn of(plant: &Plant, stage: Backward, gains: &[Matrix]) -> Result<Self, LinearError> {
        let largest = poles(&stage.closed).into_iter().map(|pole| pole.size());
        if largest.fold(0.0, f64::max) > STABLE {
            return Err(LinearError::NotStabilisable);
        }
        let tolerance = EQUAL * stage.gain.largest();
        let differs = |gain: &Matrix| (gain - &stage.gain).largest() > tolerance;
        // The gain at index i belongs to a horizon of i + 1 steps.
        let horizon = gains.iter().rposition(differs).map_or(1, |last| last + 2);
        debug_assert_eq!(plant.state.rows(), stage.cost.rows());
        Ok(Self {
            cost: stage.cost,
            gain: stage.gain,
            closed: stage.closed,
            reply: stage.reply,
            horizon,
        })
    }

    /// Returns the vector p. If a known value w continues forever, the cost of all steps that follow a state
    /// x is x'Px + 2 x'p w plus a constant.
    pub fn beyond(&self, plant: &Plant) -> Matrix {
        let next = self.closed.transposed();
        let mut effect = &next * &(&self.cost * &plant.known);
        let mut sum = effect.clone();
        for _ in 0..MOST_STEPS {
            effect = &next * &effect;
            sum = &sum + &effect;
            if effect.largest() <= CONVERGED * sum.largest() {
                break;
            }
        }
        sum
    }

    /// Returns the gains, including those for `count` known values ahead. The last value is assumed to
    /// continue forever.
    pub fn gains(&self, plant: &Plant, count: usize) -> Gains {
        let mut known = Matrix::zeros(self.gain.rows(), count);
        let mut effect = &self.cost * &plant.known;
        let next = self.closed.transposed();
        for at in 0..MOST_STEPS {
            let pull = &self.reply * &effect;
            let to = at.min(count.saturating_sub(1));
            for row in 0..known.rows() {
                known[[row, to]] -= pull[[row, 0]];
            }
            if at > count && pull.largest() <= CONVERGED * known.largest() {
                break;
            }
            effect = &next * &effect;
        }
        Gains {
            state: self.gain.clone(),
            known,
        }
    }
}
