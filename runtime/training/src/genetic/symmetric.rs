//! Symmetric matrices and their eigenvalues.

/// Minimum ratio between an eigenvalue and the largest eigenvalue. Without this limit, rounding could make
/// small eigenvalues negative.
const LEAST: f64 = 1e-14;
/// Maximum number of sweeps. Ten sweeps are enough for hundreds of dimensions.
const SWEEPS: usize = 60;

/// A square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    size: usize,
    values: Vec<f64>,
}

/// Eigenvalues of a symmetric matrix, and its eigenvectors as the columns of a matrix. All
/// eigenvalues are positive.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Eigen {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Matrix,
}

impl Matrix {
    pub(super) fn identity(size: usize) -> Self {
        let mut values = vec![0.0; size * size];
        for i in 0..size {
            values[i * size + i] = 1.0;
        }
        Self { size, values }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|value| *value *= factor);
    }

    /// Adds the outer product of a vector with itself, times a factor.
    pub(super) fn add_outer(&mut self, factor: f64, vector: &[f64]) {
        for (row, a) in self.values.chunks_mut(self.size.max(1)).zip(vector) {
            for (value, b) in row.iter_mut().zip(vector) {
                // The product of the two elements is computed first, so that the matrix stays symmetric to
                // the last bit.
                *value += factor * (a * b);
            }
        }
    }

    /// Multiplies the matrix by a vector.
    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let rows = self.values.chunks(self.size.max(1));
        rows.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
            .collect()
    }

    /// Multiplies the transposed matrix by a vector.
    fn transposed_times(&self, vector: &[f64]) -> Vec<f64> {
        let column = |column| {
            let products = vector.iter().enumerate();
            products.map(|(row, x)| self.at(row, column) * x).sum()
        };
        (0..self.size).map(column).collect()
    }

    /// Computes eigenvalues and eigenvectors by Jacobi's method. Eigenvalues that are not clearly positive
    /// are raised to a small fraction of the largest eigenvalue. O(size^3).
    pub(super) fn eigen(&self) -> Eigen {
        let n = self.size;
        let mut rotated = self.clone();
        let mut vectors = Self::identity(n);
        for _ in 0..SWEEPS {
            let off: f64 = (0..n)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| rotated.at(i, j) * rotated.at(i, j))
                .sum();
            let trace: f64 = (0..n).map(|i| rotated.at(i, i) * rotated.at(i, i)).sum();
            // Also ends if a value is not finite.
            if off.partial_cmp(&(1e-30 * trace)) != Some(std::cmp::Ordering::Greater) {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotated.rotate(p, q, &mut vectors);
                }
            }
        }
        let values: Vec<f64> = (0..n).map(|i| rotated.at(i, i)).collect();
        let least = LEAST * values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        Eigen {
            values: values.into_iter().map(|value| value.max(least)).collect(),
            vectors,
        }
    }

    /// Rotates the axes `p` and `q` so that the off-diagonal matrix element between them becomes zero.
    fn rotate(&mut self, p: usize, q: usize, vectors: &mut Self) {
        let between = self.at(p, q);
        if between == 0.0 {
            return;
        }
        let n = self.size;
        let ratio = (self.at(q, q) - self.at(p, p)) / (2.0 * between);
        let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
        let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
        let sine = tangent * cosine;
        let turn = |values: &mut [f64], a: usize, b: usize| {
            let (x, y) = (values[a], values[b]);
            values[a] = cosine * x - sine * y;
            values[b] = sine * x + cosine * y;
        };
        for k in 0..n {
            turn(&mut self.values, k * n + p, k * n + q);
        }
        for k in 0..n {
            turn(&mut self.values, p * n + k, q * n + k);
        }
        for k in 0..n {
            turn(&mut vectors.values, k * n + p, k * n + q);
        }
        (self.values[p * n + q], self.values[q * n + p]) = (0.0, 0.0);
    }
}

impl Eigen {
    /// Multiplies a vector by the inverse square root of the matrix.
    pub(super) fn whitened(&self, vector: &[f64]) -> Vec<f64> {
        let along = self.vectors.transposed_times(vector);
        let scaled = along.iter().zip(&self.values);
        let scaled: Vec<f64> = scaled.map(|(x, value)| x / value.sqrt()).collect();
        self.vectors.times(&scaled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::math::Stream;

    /// Creates a random symmetric matrix with positive eigenvalues.
    fn matrix(size: usize, seed: u64) -> Matrix {
        let mut stream = Stream::new(seed, "matrix", size as u64);
        let mut matrix = Matrix::identity(size);
        for _ in 0..size {
            let vector: Vec<f64> = (0..size).map(|_| stream.next_in(-2.0, 2.0)).collect();
            matrix.add_outer(1.0, &vector);
        }
        matrix
    }

    #[test]
    fn vectors_times_values_give_the_matrix_again() {
        for size in [1, 2, 3, 9, 36] {
            let matrix = matrix(size, 5);
            let Eigen { values, vectors } = matrix.eigen();
            for i in 0..size {
                for j in 0..size {
                    let product = |k: usize| vectors.at(i, k) * values[k] * vectors.at(j, k);
                    let again: f64 = (0..size).map(product).sum();
                    assert!((again - matrix.at(i, j)).abs() < 1e-9 * size as f64);
                    let dot: f64 = (0..size).map(|k| vectors.at(k, i) * vectors.at(k, j)).sum();
                    assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-12);
                }
            }
            assert!(values.iter().all(|value| *value > 0.9), "{values:?}");
        }
    }

    #[test]
    fn known_values_come_out() {
        let mut matrix = Matrix::identity(2);
        matrix.values = vec![2.0, 1.0, 1.0, 2.0];
        let mut values = matrix.eigen().values;
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 1.0).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14);
        // The inverse square root divides a vector along an eigenvector by the square root of its eigenvalue.
        let whitened = matrix.eigen().whitened(&[1.0, 1.0]);
        assert!(
            whitened
                .iter()
                .all(|x| (x - 1.0 / 3.0f64.sqrt()).abs() < 1e-14)
        );
    }

    #[test]
    fn broken_matrices_end_and_stay_positive() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut matrix = Matrix::identity(3);
            matrix.values[1] = value;
            matrix.values[3] = value;
            matrix.values[4] = value;
            let values = matrix.eigen().values;
            assert!(
                values.iter().all(|value| *value > 0.0 || value.is_nan()),
                "{values:?}"
            );
        }
    }
}
