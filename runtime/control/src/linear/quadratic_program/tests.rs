//! Programs with known minima, and random programs compared with the interior point solver of the crate
//! `clarabel`.

use super::*;
use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::NonnegativeConeT;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus};
use roadwright_geometry::math::Stream;
use std::time::Instant;

/// Minimum found by the crate; `None` if it finds none.
fn by_crate(quadratic: &Matrix, linear: &[f64], rows: &Matrix, bounds: &[f64]) -> Option<Vec<f64>> {
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .max_iter(100)
        .max_threads(1)
        .direct_solve_method("qdldl".to_owned())
        .tol_gap_abs(1e-12)
        .tol_gap_rel(1e-12)
        .tol_feas(1e-12)
        .build()
        .unwrap();
    let cones = [NonnegativeConeT(bounds.len())];
    let (form, limits) = (sparse(quadratic, Part::Upper), sparse(rows, Part::Whole));
    let mut solver = DefaultSolver::new(&form, linear, &limits, bounds, &cones, settings).unwrap();
    solver.solve();
    let is_solved = matches!(
        solver.solution.status,
        SolverStatus::Solved | SolverStatus::AlmostSolved
    );
    is_solved.then(|| solver.solution.x.clone())
}

/// The part of a matrix that is passed to the other solver.
#[derive(Clone, Copy)]
enum Part {
    Whole,
    Upper,
}

/// Returns a part of a matrix column by column, without its zeros.
fn sparse(matrix: &Matrix, part: Part) -> CscMatrix<f64> {
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..matrix.columns() {
        let end = match part {
            Part::Whole => matrix.rows(),
            Part::Upper => column + 1,
        };
        for row in (0..end).filter(|&row| matrix[[row, column]] != 0.0) {
            rows.push(row);
            values.push(matrix[[row, column]]);
        }
        starts.push(values.len());
    }
    CscMatrix::new(matrix.rows(), matrix.columns(), starts, rows, values)
}

/// A random program over a horizon: rates and their sums are limited in both directions.
struct Random {
    quadratic: Matrix,
    linear: Vec<f64>,
    rows: Matrix,
    bounds: Vec<f64>,
}

impl Random {
    fn new(size: usize, seed: u64) -> Self {
        let mut stream = Stream::new(seed, "programs", 0);
        let mut draw = |most: f64| most * (2.0 * stream.next_unit() - 1.0);
        let mut root = Matrix::zeros(size, size);
        for row in 0..size {
            for column in 0..size {
                root[[row, column]] = draw(1.0);
            }
        }
        let quadratic = &(&root.transposed() * &root) + &Matrix::identity(size).scaled(0.1);
        let linear = (0..size).map(|_| draw(4.0)).collect();
        let mut rows = Matrix::zeros(4 * size, size);
        for k in 0..size {
            for (half, sign) in [(0, 1.0), (2 * size, -1.0)] {
                rows[[half + k, k]] = sign;
                for before in 0..=k {
                    rows[[half + size + k, before]] = 0.05 * sign;
                }
            }
        }
        let bounds = (0..4 * size).map(|row| {
            let scale = if (row / size).is_multiple_of(2) {
                0.3
            } else {
                0.02
            };
            scale * (1.05 + draw(1.0))
        });
        Self {
            bounds: bounds.collect(),
            quadratic,
            linear,
            rows,
        }
    }

    fn prepared(&self) -> QuadraticProgram {
        QuadraticProgram::new(&self.quadratic, self.rows.clone()).unwrap()
    }
}

#[test]
fn a_limit_moves_the_minimum_to_its_edge() {
    // (x - 1)^2 + (y - 2)^2 with x + y <= 2: at (0.5, 1.5).
    let rows = Matrix::from_rows(&[[1.0, 1.0], [-1.0, 0.0]]);
    let program = QuadraticProgram::new(&Matrix::identity(2), rows).unwrap();
    let (linear, bounds) = ([-1.0, -2.0], [2.0, 10.0]);
    let found = program.minimum(&linear, &bounds, 50).unwrap();
    assert!((found[0] - 0.5).abs() < 1e-12 && (found[1] - 1.5).abs() < 1e-12);
    assert!(program.allows(&found, &bounds) && !program.allows(&[1.0, 2.0], &bounds));
    // Both limits: x >= 0.75.
    let cornered = program.minimum(&linear, &[2.0, -0.75], 50).unwrap();
    assert!((cornered[0] - 0.75).abs() < 1e-12 && (cornered[1] - 1.25).abs() < 1e-12);
}

#[test]
fn a_program_without_a_minimum_says_why() {
    let rows = Matrix::from_rows(&[[1.0], [-1.0]]);
    let program = QuadraticProgram::new(&Matrix::identity(1), rows).unwrap();
    let contradiction = program.minimum(&[0.0], &[-1.0, -1.0], 50);
    assert_eq!(contradiction, Err(NoMinimum::Contradiction));
    let limited = program.minimum(&[2.0], &[1.0, 1.0], 0);
    assert_eq!(limited, Err(NoMinimum::Iterations));
    assert_eq!(program.minimum(&[0.5], &[1.0, 1.0], 0), Ok(vec![-0.5]));
    let indefinite = QuadraticProgram::new(&Matrix::diagonal(&[1.0, -1.0]), Matrix::zeros(0, 2));
    assert_eq!(indefinite, None);
}

#[test]
fn random_programs_have_the_minimum_that_an_interior_point_solver_finds() {
    for (size, seeds) in [(3, 0..60), (12, 60..90), (30, 90..100)] {
        for seed in seeds {
            let random = Random::new(size, seed);
            let program = random.prepared();
            let own = program
                .minimum(&random.linear, &random.bounds, 400)
                .unwrap();
            let other = by_crate(
                &random.quadratic,
                &random.linear,
                &random.rows,
                &random.bounds,
            )
            .unwrap();
            assert!(program.allows(&own, &random.bounds));
            for (a, b) in own.iter().zip(&other) {
                assert!((a - b).abs() < 1e-6, "seed {seed}: {a} {b}");
            }
            let again = program
                .minimum(&random.linear, &random.bounds, 400)
                .unwrap();
            assert_eq!(own, again);
        }
    }
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "no result depends on the measured time"
)]
#[ignore = "prints the times of both solvers"]
fn both_solvers_are_timed() {
    let programs: Vec<Random> = (0..50).map(|seed| Random::new(30, seed)).collect();
    let prepared: Vec<QuadraticProgram> = programs.iter().map(Random::prepared).collect();
    let begin = Instant::now();
    for (random, program) in programs.iter().zip(&prepared) {
        program
            .minimum(&random.linear, &random.bounds, 400)
            .unwrap();
    }
    let own = begin.elapsed().as_secs_f64() / 50.0;
    let begin = Instant::now();
    for random in &programs {
        by_crate(
            &random.quadratic,
            &random.linear,
            &random.rows,
            &random.bounds,
        )
        .unwrap();
    }
    let other = begin.elapsed().as_secs_f64() / 50.0;
    println!("30 variables, 120 limits: own {own:.6} s, clarabel {other:.6} s");
}
