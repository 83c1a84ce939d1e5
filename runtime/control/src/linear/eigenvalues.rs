//! Eigenvalues of small matrices.

use super::Matrix;
use roadwright_geometry::math::atan2;
use std::ops::{Add, Mul, Sub};

/// Pole of a discrete system: an eigenvalue of its matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pole {
    /// Real part of the pole.
    pub real: f64,
    /// Imaginary part of the pole.
    pub imaginary: f64,
}

impl Pole {
    /// Absolute value; below 1 for a mode that decays.
    pub fn size(&self) -> f64 {
        (self.real * self.real + self.imaginary * self.imaginary).sqrt()
    }

    /// Argument of the pole in the complex plane, rad.
    pub fn angle(&self) -> f64 {
        atan2(self.imaginary, self.real)
    }

    fn inverse(self) -> Self {
        let square = self.real * self.real + self.imaginary * self.imaginary;
        Self {
            real: self.real / square,
            imaginary: -self.imaginary / square,
        }
    }
}

impl Add for Pole {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            real: self.real + other.real,
            imaginary: self.imaginary + other.imaginary,
        }
    }
}

impl Sub for Pole {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            real: self.real - other.real,
            imaginary: self.imaginary - other.imaginary,
        }
    }
}

impl Mul for Pole {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            real: self.real * other.real - self.imaginary * other.imaginary,
            imaginary: self.real * other.imaginary + self.imaginary * other.real,
        }
    }
}

/// Maximum number of iterations.
const MOST_ITERATIONS: usize = 500;
/// Relative size below which an imaginary part counts as a rounding error.
const REAL: f64 = 1e-9;

/// Returns the eigenvalues of a square matrix, the largest first. They are the roots of its characteristic
/// polynomial, which is exact enough for the few rows of a vehicle model. A multiple eigenvalue is found to
/// about 1e-5.
pub fn poles(matrix: &Matrix) -> Vec<Pole> {
    let coefficients = characteristic(matrix);
    let mut roots = roots(&coefficients);
    for root in &mut roots {
        if root.imaginary.abs() <= REAL * root.size().max(1e-3) {
            root.imaginary = 0.0;
        }
    }
    roots.sort_by(|a, b| {
        let by_size = b.size().total_cmp(&a.size());
        by_size.then(b.imaginary.total_cmp(&a.imaginary))
    });
    roots
}

/// Returns the coefficients of the characteristic polynomial after the leading 1, highest power first: the
/// method of Faddeev and LeVerrier.
fn characteristic(matrix: &Matrix) -> Vec<f64> {
    let size = matrix.rows();
    let mut coefficients = Vec::with_capacity(size);
    let mut helper = Matrix::zeros(size, size);
    let mut last = 1.0;
    for k in 1..=size {
        helper = &(matrix * &helper) + &Matrix::identity(size).scaled(last);
        last = -(matrix * &helper).trace() / k as f64;
        coefficients.push(last);
    }
    coefficients
}

/// Finds all roots of x^n + c1 x^(n-1) + ... simultaneously, by the method of Durand and Kerner.
fn roots(coefficients: &[f64]) -> Vec<Pole> {
    let value = |at: Pole| {
        let one = Pole {
            real: 1.0,
            imaginary: 0.0,
        };
        coefficients.iter().fold(one, |sum, &real| {
            sum * at
                + Pole {
                    real,
                    imaginary: 0.0,
                }
        })
    };
    // Initial guesses that are neither real nor roots of unity.
    let beginning = Pole {
        real: 0.4,
        imaginary: 0.9,
    };
    let powers = std::iter::successors(Some(beginning), |&power| Some(power * beginning));
    let mut roots: Vec<Pole> = powers.take(coefficients.len()).collect();
    for _ in 0..MOST_ITERATIONS {
        let mut moved = 0.0f64;
        for at in 0..roots.len() {
            let own = roots[at];
            let others = roots.iter().enumerate().filter(|(other, _)| *other != at);
            let apart = others.fold(
                Pole {
                    real: 1.0,
                    imaginary: 0.0,
                },
                |product, (_, &other)| product * (own - other),
            );
            if apart.size() == 0.0 {
                continue;
            }
            let step = value(own) * apart.inverse();
            roots[at] = own - step;
            moved = moved.max(step.size());
        }
        if moved < 1e-15 {
            break;
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poles_of_a_rotation_and_a_decay_are_found() {
        let matrix = Matrix::from_rows(&[[0.6, -0.5, 0.0], [0.5, 0.6, 0.0], [0.3, 0.1, -0.2]]);
        let poles = poles(&matrix);
        let expected = [[0.6, 0.5], [0.6, -0.5], [-0.2, 0.0]];
        for (pole, [real, imaginary]) in poles.iter().zip(expected) {
            assert!((pole.real - real).abs() < 1e-12, "{poles:?}");
            assert!((pole.imaginary - imaginary).abs() < 1e-12, "{poles:?}");
        }
        assert!((poles[0].angle() - atan2(0.5, 0.6)).abs() < 1e-12);
    }
}
