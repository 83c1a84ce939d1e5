//! Dense matrices of a few rows.

use std::ops::{Add, Index, IndexMut, Mul, Sub};

/// Dense matrix of doubles, row by row. Operations panic if dimensions do not match.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// Creates a matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            values: vec![0.0; rows * columns],
        }
    }

    /// Creates the identity of the given size.
    pub fn identity(size: usize) -> Self {
        Self::diagonal(&vec![1.0; size])
    }

    /// Creates a diagonal matrix.
    pub fn diagonal(values: &[f64]) -> Self {
        let mut matrix = Self::zeros(values.len(), values.len());
        for (at, &value) in values.iter().enumerate() {
            matrix[[at, at]] = value;
        }
        matrix
    }

    /// Creates a matrix from its rows, which have the same length.
    pub fn from_rows<const COLUMNS: usize>(rows: &[[f64; COLUMNS]]) -> Self {
        Self {
            rows: rows.len(),
            columns: COLUMNS,
            values: rows.concat(),
        }
    }

    /// Creates a matrix with one column.
    pub fn column(values: &[f64]) -> Self {
        Self {
            rows: values.len(),
            columns: 1,
            values: values.to_vec(),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Values of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// Returns the transpose.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut result = Self::zeros(self.columns, self.rows);
        for row in 0..self.rows {
            for column in 0..self.columns {
                result[[column, row]] = self[[row, column]];
            }
        }
        result
    }

    /// Returns the matrix times a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            values: self.values.iter().map(|value| factor * value).collect(),
            ..*self
        }
    }

    /// Copies a block into this matrix, with its first value at `[row, column]`.
    pub fn put(&mut self, at: [usize; 2], block: &Self) {
        for row in 0..block.rows {
            for column in 0..block.columns {
                self[[at[0] + row, at[1] + column]] = block[[row, column]];
            }
        }
    }

    /// Returns a block of the given size, `[rows, columns]`, whose first value is at `[row, column]`.
    #[must_use]
    pub fn block(&self, at: [usize; 2], size: [usize; 2]) -> Self {
        let mut result = Self::zeros(size[0], size[1]);
        for row in 0..size[0] {
            for column in 0..size[1] {
                result[[row, column]] = self[[at[0] + row, at[1] + column]];
            }
        }
        result
    }

    /// Returns the largest absolute value of any entry.
    pub fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |most, v| v.abs().max(most))
    }

    /// Sum of the diagonal.
    pub fn trace(&self) -> f64 {
        (0..self.rows.min(self.columns))
            .map(|at| self[[at, at]])
            .sum()
    }

    /// Returns the mean of the matrix and its transpose, which removes the asymmetry of rounding.
    #[must_use]
    pub fn symmetric(&self) -> Self {
        (self + &self.transposed()).scaled(0.5)
    }

    /// Solves `self` X = `right` for a symmetric positive definite matrix by Cholesky's method; `None` if the
    /// matrix is not positive definite.
    pub fn solve(&self, right: &Self) -> Option<Self> {
        let size = self.rows;
        let factor = self.cholesky()?;
        let mut solution = right.clone();
        for column in 0..right.columns {
            for row in 0..size {
                let done = (0..row).map(|k| factor[[row, k]] * solution[[k, column]]);
                let left = solution[[row, column]] - done.sum::<f64>();
                solution[[row, column]] = left / factor[[row, row]];
            }
            for row in (0..size).rev() {
                let done = (row + 1..size).map(|k| factor[[k, row]] * solution[[k, column]]);
                let left = solution[[row, column]] - done.sum::<f64>();
                solution[[row, column]] = left / factor[[row, row]];
            }
        }
        Some(solution)
    }

    /// Returns the Cholesky factor of a symmetric positive definite matrix: the lower triangle L for which
    /// the matrix is L L'. `None` if the matrix is not positive definite.
    pub(super) fn cholesky(&self) -> Option<Self> {
        let size = self.rows;
        let mut factor = Self::zeros(size, size);
        for row in 0..size {
            for column in 0..=row {
                let (a, b) = (&factor.row(row)[..column], &factor.row(column)[..column]);
                let taken: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                let left = self[[row, column]] - taken;
                if row > column {
                    factor[[row, column]] = left / factor[[column, column]];
                } else if left > 0.0 {
                    factor[[row, row]] = left.sqrt();
                } else {
                    return None;
                }
            }
        }
        Some(factor)
    }

    /// Applies a plane rotation to a row and the next one. The first row becomes cos first + sin next.
    pub(super) fn rotate_rows(&mut self, row: usize, cos: f64, sin: f64) {
        let both = &mut self.values[row * self.columns..(row + 2) * self.columns];
        let (first, next) = both.split_at_mut(self.columns);
        for (a, b) in first.iter_mut().zip(next) {
            (*a, *b) = (cos * *a + sin * *b, cos * *b - sin * *a);
        }
    }

    /// Returns the matrix exponential. The matrix is halved until its powers decay quickly, the series is
    /// summed, and the sum is squared once for each halving.
    #[must_use]
    pub fn exponential(&self) -> Self {
        let (mut halvings, mut size) = (0, self.largest() * self.rows as f64);
        while size > 0.5 && halvings < 60 {
            size *= 0.5;
            halvings += 1;
        }
        let small = self.scaled(1.0 / (1u64 << halvings) as f64);
        let mut term = Self::identity(self.rows);
        let mut sum = term.clone();
        // 0.5^18 / 18! is far below the rounding of a sum near 1.
        for power in 1..=18 {
            term = (&term * &small).scaled(1.0 / f64::from(power));
            sum = &sum + &term;
        }
        for _ in 0..halvings {
            sum = &sum * &sum;
        }
        sum
    }
}

impl Index<[usize; 2]> for Matrix {
    type Output = f64;

    fn index(&self, [row, column]: [usize; 2]) -> &f64 {
        &self.values[row * self.columns + column]
    }
}

impl IndexMut<[usize; 2]> for Matrix {
    fn index_mut(&mut self, [row, column]: [usize; 2]) -> &mut f64 {
        &mut self.values[row * self.columns + column]
    }
}

impl Mul for &Matrix {
    type Output = Matrix;

    fn mul(self, other: Self) -> Matrix {
        assert_eq!(self.columns, other.rows, "a product needs matching sizes");
        let mut result = Matrix::zeros(self.rows, other.columns);
        for row in 0..self.rows {
            for (k, &factor) in self.row(row).iter().enumerate() {
                if factor == 0.0 {
                    continue;
                }
                let to = &mut result.values[row * other.columns..(row + 1) * other.columns];
                for (sum, value) in to.iter_mut().zip(other.row(k)) {
                    *sum += factor * value;
                }
            }
        }
        result
    }
}

impl Add for &Matrix {
    type Output = Matrix;

    fn add(self, other: Self) -> Matrix {
        combined(self, other, |a, b| a + b)
    }
}

impl Sub for &Matrix {
    type Output = Matrix;

    fn sub(self, other: Self) -> Matrix {
        combined(self, other, |a, b| a - b)
    }
}

fn combined(a: &Matrix, b: &Matrix, with: impl Fn(f64, f64) -> f64) -> Matrix {
    assert_eq!([a.rows, a.columns], [b.rows, b.columns], "sizes differ");
    let values = a.values.iter().zip(&b.values).map(|(&a, &b)| with(a, b));
    Matrix {
        values: values.collect(),
        ..*a
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn a_solution_satisfies_its_equations() {
        let a = Matrix::from_rows(&[[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]]);
        let b = Matrix::from_rows(&[[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]);
        let x = a.solve(&b).unwrap();
        assert!((&(&a * &x) - &b).largest() < 1e-14);
        assert!(
            Matrix::diagonal(&[1.0, -1.0])
                .solve(&b.block([0, 0], [2, 1]))
                .is_none()
        );
    }

    #[test]
    fn the_exponential_of_a_rotation_is_a_rotation() {
        for angle in [0.1, 2.0, 30.0] {
            let e = Matrix::from_rows(&[[0.0, -angle], [angle, 0.0]]).exponential();
            let (sin, cos) = roadwright_geometry::math::sin_cos(angle);
            let expected = Matrix::from_rows(&[[cos, -sin], [sin, cos]]);
            assert!((&e - &expected).largest() < 1e-13, "{angle}: {e:?}");
        }
    }

    #[test]
    fn a_double_integrator_is_exact() {
        let e = Matrix::from_rows(&[[0.0, 3.0], [0.0, 0.0]]).exponential();
        assert!((&e - &Matrix::from_rows(&[[1.0, 3.0], [0.0, 1.0]])).largest() < 1e-15);
    }
}
