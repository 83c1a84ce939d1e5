//! Batch solution: all controls over a horizon from one system of equations.

use super::{Cost, Gains, LinearError, Matrix, Plant};

/// Largest horizon of a batch solution, in steps. With Pollithy's matrices, its condition number is 1e8 at
/// 100 steps and 1e9 at this length. Longer horizons would lose the precision of doubles.
pub const LONGEST_BATCH: usize = 200;

/// A finite horizon as a quadratic form of all its controls U: U'HU + 2 U'(F x + G w), plus a constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// H, symmetric and positive definite.
    pub quadratic: Matrix,
    /// F: effect of the initial state.
    pub state: Matrix,
    /// G: effect of the known values, a column for each step.
    pub known: Matrix,
    steps: usize,
}

impl Batch {
    /// Sets up a horizon of `steps` steps.
    ///
    /// # Errors
    /// If there are no steps, or more than [`LONGEST_BATCH`].
    pub fn new(plant: &Plant, cost: &Cost, steps: usize) -> Result<Self, LinearError> {
        match steps {
            0 => return Err(LinearError::NoSteps),
            LONGEST_BATCH.. if steps > LONGEST_BATCH => {
                return Err(LinearError::BatchTooLong { steps });
            }
            _ => {}
        }
        let (states, controls) = (plant.control.rows(), plant.control.columns());
        // x(k) = A^k x(0) + sum of A^(k-1-j) (B u(j) + E w(j)), for k from 1 to the number of steps.
        let mut power = Matrix::identity(states);
        let mut free = Matrix::zeros(steps * states, states);
        let mut forced = Matrix::zeros(steps * states, steps * controls);
        let mut known = Matrix::zeros(steps * states, steps);
        for lag in 0..steps {
            let (by_control, by_known) = (&power * &plant.control, &power * &plant.known);
            for from in 0..steps - lag {
                forced.put([(from + lag) * states, from * controls], &by_control);
                known.put([(from + lag) * states, from], &by_known);
            }
            power = &power * &plant.state;
            free.put([lag * states, 0], &power);
        }
        let weighted = weighted(&forced, cost, steps);
        let back = weighted.transposed();
        let mut quadratic = &back * &forced;
        for step in 0..steps {
            let at = step * controls;
            for row in 0..controls {
                for column in 0..controls {
                    quadratic[[at + row, at + column]] += cost.control[[row, column]];
                }
            }
        }
        Ok(Self {
            quadratic: quadratic.symmetric(),
            state: &back * &free,
            known: &back * &known,
            steps,
        })
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns all controls for an initial state and known values, step by step. Missing values count as 0.
    ///
    /// # Errors
    /// If the weights of the control are not positive definite.
    pub fn controls(&self, state: &[f64], known: &[f64]) -> Result<Vec<f64>, LinearError> {
        let pull = self.linear(state, known).scaled(-1.0);
        let solution = self.quadratic.solve(&pull).ok_or(LinearError::Weights)?;
        Ok(solution.values().to_vec())
    }

    /// Returns F x + G w, which gives the linear term 2 U'(F x + G w) of the quadratic form.
    pub fn linear(&self, state: &[f64], known: &[f64]) -> Matrix {
        let mut ahead = vec![0.0; self.steps];
        for (to, &from) in ahead.iter_mut().zip(known) {
            *to = from;
        }
        &(&self.state * &Matrix::column(state)) + &(&self.known * &Matrix::column(&ahead))
    }

    /// Returns the gains of the first step.
    ///
    /// # Errors
    /// If the weights of the control are not positive definite.
    pub fn first(&self) -> Result<Gains, LinearError> {
        let controls = self.quadratic.rows() / self.steps;
        let mut chosen = Matrix::zeros(self.quadratic.rows(), controls);
        chosen.put([0, 0], &Matrix::identity(controls));
        let rows = self
            .quadratic
            .solve(&chosen)
            .ok_or(LinearError::Weights)?
            .transposed();
        Ok(Gains {
            state: &rows * &self.state,
            known: (&rows * &self.known).scaled(-1.0),
        })
    }
}

/// Multiplies the rows of each step by the weights of the states: Q_f in the last step and Q in all others.
fn weighted(forced: &Matrix, cost: &Cost, steps: usize) -> Matrix {
    let states = cost.state.rows();
    let mut result = Matrix::zeros(forced.rows(), forced.columns());
    for step in 0..steps {
        let weight = if step + 1 == steps {
            &cost.last
        } else {
            &cost.state
        };
        let rows = forced.block([step * states, 0], [states, forced.columns()]);
        result.put([step * states, 0], &(weight * &rows));
    }
    result
}
