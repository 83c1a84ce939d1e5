//! Quadratic programs with linear limits, solved by the dual active-set method of [Goldfarb 1983].

use super::Matrix;

/// Quadratic program: minimise x'Hx + 2 f'x subject to rows x <= bounds. Everything independent of f and the
/// bounds is computed once.
///
/// The method starts at the minimum without limits and activates one violated limit after another. Each
/// activation raises the cost, so no set of active limits is visited twice. The result is
/// deterministic.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraticProgram {
    /// J', where H^-1 = J J'.
    factor: Matrix,
    rows: Matrix,
    /// Euclidean norm of each row.
    lengths: Vec<f64>,
}

/// Reason why a program has no minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoMinimum {
    /// The limits contradict each other.
    Contradiction,
    /// The minimum was not found within the allowed iterations.
    Iterations,
}

/// Largest distance beyond a limit that does not count as a violation, in units of the variables.
const TOLERANCE: f64 = 1e-9;
/// Ratio below which a row counts as linearly dependent on the active limits. It is the squared
/// norm of the row's component outside the span of the active rows, divided by that of its
/// component inside.
const DEPENDENT: f64 = 1e-18;

impl QuadraticProgram {
    /// Prepares a program; `None` if H is not positive definite. Rows have at least one entry other than 0.
    pub fn new(quadratic: &Matrix, rows: Matrix) -> Option<Self> {
        let size = quadratic.rows();
        let inverse = quadratic.solve(&Matrix::identity(size))?.symmetric();
        let lengths = (0..rows.rows()).map(|row| dot(rows.row(row), rows.row(row)).sqrt());
        Some(Self {
            lengths: lengths.collect(),
            factor: inverse.cholesky()?.transposed(),
            rows,
        })
    }

    /// Returns the minimum without limits, given the linear term f.
    pub fn free_minimum(&self, linear: &[f64]) -> Vec<f64> {
        let size = self.factor.rows();
        let mut point = vec![0.0; size];
        for at in 0..size {
            let column = self.factor.row(at);
            add_scaled(&mut point, -dot(column, linear), column);
        }
        point
    }

    /// Whether a point satisfies all limits.
    pub fn allows(&self, point: &[f64], bounds: &[f64]) -> bool {
        self.worst(point, bounds, &[]).is_none()
    }

    /// Returns the minimum for f and the bounds, found in at most the given number of iterations. Each
    /// iteration activates or drops a limit.
    ///
    /// # Errors
    /// If limits contradict each other, or iterations do not suffice.
    pub fn minimum(
        &self,
        linear: &[f64],
        bounds: &[f64],
        most_iterations: u32,
    ) -> Result<Vec<f64>, NoMinimum> {
        let mut search = Search::new(self, self.free_minimum(linear));
        let mut left = most_iterations;
        while let Some(row) = self.worst(&search.point, bounds, &search.active) {
            search.take_up(row, bounds[row], &mut left)?;
        }
        Ok(search.point)
    }

    /// Returns the limit that a point violates most; `None` if it violates none. Active limits are
    /// ignored, because the point violates them only by rounding.
    fn worst(&self, point: &[f64], bounds: &[f64], active: &[usize]) -> Option<usize> {
        let mut worst = None;
        let mut most = TOLERANCE;
        for (row, bound) in bounds.iter().enumerate() {
            let beyond = (dot(self.rows.row(row), point) - bound) / self.lengths[row];
            if beyond > most && !active.contains(&row) {
                (worst, most) = (Some(row), beyond);
            }
        }
        worst
    }
}

/// A point with the limits that are active there.
struct Search<'a> {
    program: &'a QuadraticProgram,
    point: Vec<f64>,
    /// Rows of the active limits.
    active: Vec<usize>,
    /// Multiplier of each active limit, at least 0.
    forces: Vec<f64>,
    /// J', rotated so that the first columns of J span the active limits.
    basis: Matrix,
    /// Columns of the upper triangle R, where J' times the normals of the active limits is R above zeros.
    triangle: Vec<Vec<f64>>,
}

impl<'a> Search<'a> {
    fn new(program: &'a QuadraticProgram, point: Vec<f64>) -> Self {
        Self {
            program,
            point,
            active: Vec::new(),
            forces: Vec::new(),
            basis: program.factor.clone(),
            triangle: Vec::new(),
        }
    }

    /// Adds a violated limit to the active ones and moves to the minimum on all of them. Drops
    /// limits whose multipliers would be negative there.
    fn take_up(&mut self, row: usize, bound: f64, left: &mut u32) -> Result<(), NoMinimum> {
        let length = self.program.lengths[row];
        let limit = self.program.rows.row(row);
        let normal: Vec<f64> = limit.iter().map(|value| -value / length).collect();
        let mut force = 0.0;
        loop {
            *left = left.checked_sub(1).ok_or(NoMinimum::Iterations)?;
            let beyond = dot(&normal, &self.point) + bound / length;
            let turned: Vec<f64> = (0..normal.len())
                .map(|at| dot(self.basis.row(at), &normal))
                .collect();
            let pulls = self.pulls(&turned);
            let (held, free) = turned.split_at(self.active.len());
            let reach = dot(free, free);
            let full = match reach > DEPENDENT * dot(held, held).max(reach) {
                true => -beyond / reach,
                false => f64::INFINITY,
            };
            let (first, given_up) = self.first_to_yield(&pulls);
            let step = full.min(first);
            if step == f64::INFINITY {
                return Err(NoMinimum::Contradiction);
            }
            if full < f64::INFINITY {
                for (at, part) in free.iter().enumerate() {
                    let column = self.basis.row(self.active.len() + at);
                    add_scaled(&mut self.point, step * part, column);
                }
            }
            for (own, pull) in self.forces.iter_mut().zip(&pulls) {
                *own = (*own - step * pull).max(0.0);
            }
            force += step;
            match given_up.filter(|_| first < full) {
                Some(place) => self.give_up(place),
                None => {
                    self.activate(row, turned, force);
                    return Ok(());
                }
            }
        }
    }

    /// Returns the rates r at which the multipliers of the active limits decrease. Solves R r = d,
    /// where d is the first part of a normal expressed in the basis.
    fn pulls(&self, turned: &[f64]) -> Vec<f64> {
        let mut pulls = turned[..self.active.len()].to_vec();
        for at in (0..pulls.len()).rev() {
            pulls[at] /= self.triangle[at][at];
            let value = pulls[at];
            for (above, factor) in pulls[..at].iter_mut().zip(&self.triangle[at]) {
                *above -= value * factor;
            }
        }
        pulls
    }

    /// Finds the active limit whose multiplier reaches 0 first. Returns the step length until then
    /// and the position of the limit in the list; infinity and `None` if no multiplier decreases.
    fn first_to_yield(&self, pulls: &[f64]) -> (f64, Option<usize>) {
        let mut first = (f64::INFINITY, None);
        for (place, (pull, force)) in pulls.iter().zip(&self.forces).enumerate() {
            if *pull > 0.0 && force / pull < first.0 {
                first = (force / pull, Some(place));
            }
        }
        first
    }

    /// Adds a limit. `turned` is its normal, expressed in the basis.
    fn activate(&mut self, row: usize, mut turned: Vec<f64>, force: f64) {
        let place = self.active.len();
        for at in (place + 1..turned.len()).rev() {
            let rotation = Rotation::to_first(turned[at - 1], turned[at]);
            (turned[at - 1], turned[at]) = rotation.of(turned[at - 1], turned[at]);
            self.basis.rotate_rows(at - 1, rotation.cos, rotation.sin);
        }
        turned.truncate(place + 1);
        self.triangle.push(turned);
        self.active.push(row);
        self.forces.push(force);
    }

    /// Drops the active limit at a position in the list.
    fn give_up(&mut self, place: usize) {
        self.active.remove(place);
        self.forces.remove(place);
        self.triangle.remove(place);
        // Each later column has one entry below the diagonal.
        for at in place..self.triangle.len() {
            let column = &self.triangle[at];
            let rotation = Rotation::to_first(column[at], column[at + 1]);
            for column in &mut self.triangle[at..] {
                (column[at], column[at + 1]) = rotation.of(column[at], column[at + 1]);
            }
            self.triangle[at].truncate(at + 1);
            self.basis.rotate_rows(at, rotation.cos, rotation.sin);
        }
    }
}

/// Plane rotation, applied to two rows or columns.
#[derive(Clone, Copy)]
struct Rotation {
    cos: f64,
    sin: f64,
}

impl Rotation {
    /// Returns the rotation that makes the second number 0 and the first one positive.
    fn to_first(first: f64, second: f64) -> Self {
        let length = (first * first + second * second).sqrt();
        match length > 0.0 {
            true => Self {
                cos: first / length,
                sin: second / length,
            },
            false => Self { cos: 1.0, sin: 0.0 },
        }
    }

    fn of(self, first: f64, second: f64) -> (f64, f64) {
        (
            self.cos * first + self.sin * second,
            self.cos * second - self.sin * first,
        )
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_scaled(to: &mut [f64], factor: f64, values: &[f64]) {
    for (sum, value) in to.iter_mut().zip(values) {
        *sum += factor * value;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests;
