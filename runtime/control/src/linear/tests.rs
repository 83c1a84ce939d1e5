//! Compares finite, infinite and batch solutions with each other and with closed forms.

use super::*;

/// The system of Pollithy: a double integrator whose second control acts on the speed.
fn published() -> (Plant, Cost) {
    let plant = Plant {
        state: Matrix::from_rows(&[[1.0, 1.0], [0.0, 1.0]]),
        control: Matrix::from_rows(&[[0.0, 0.0], [0.0, 1.0]]),
        known: Matrix::from_rows(&[[0.0], [0.3]]),
    };
    let cost = Cost {
        state: Matrix::diagonal(&[10.0, 1.0]),
        control: Matrix::identity(2),
        last: Matrix::diagonal(&[100.0, 1.0]),
    };
    (plant, cost)
}

/// Simulates a plant with the gains of each step. Returns the controls, step by step.
fn driven(plant: &Plant, gains: &[Matrix], start: &[f64]) -> Vec<f64> {
    let mut state = Matrix::column(start);
    let mut controls = Vec::new();
    for gain in gains {
        let control = (gain * &state).scaled(-1.0);
        state = &(&plant.state * &state) + &(&plant.control * &control);
        controls.extend_from_slice(control.values());
    }
    controls
}

#[test]
fn the_scalar_case_gives_the_golden_ratio() {
    let one = Matrix::identity(1);
    let plant = Plant {
        state: one.clone(),
        control: one.clone(),
        known: one.clone(),
    };
    let cost = Cost {
        state: one.clone(),
        control: one.clone(),
        last: one,
    };
    let regulator = Regulator::solve(&plant, &cost).unwrap();
    let golden = 0.5 * (1.0 + 5.0f64.sqrt());
    assert!((regulator.cost[[0, 0]] - golden).abs() < 1e-14);
    assert!((regulator.gain[[0, 0]] - (golden - 1.0)).abs() < 1e-14);
}

#[test]
fn batch_and_finite_horizon_give_the_same_controls() {
    let (plant, cost) = published();
    let start = [3.0, 0.0];
    for steps in [1, 2, 5, 20, 50, 99, 100] {
        let recursion = Recursion::solve(&plant, &cost, steps).unwrap();
        let finite = driven(&plant, &recursion.gains, &start);
        let batch = Batch::new(&plant, &cost, steps).unwrap();
        let all = batch.controls(&start, &[]).unwrap();
        assert_eq!(all.len(), 2 * steps);
        for (a, b) in finite.iter().zip(&all) {
            assert!((a - b).abs() < 1e-9, "{steps} steps: {a} {b}");
        }
    }
}

#[test]
fn what_is_known_ahead_counts_alike_in_both() {
    let (plant, cost) = published();
    let known: Vec<f64> = (0..40).map(|k| f64::from(k % 7) - 2.5).collect();
    let start = [1.0, -0.5];
    for steps in [1, 3, 40] {
        let known = &known[..steps];
        let batch = Batch::new(&plant, &cost, steps).unwrap();
        let all = batch.controls(&start, known).unwrap();
        let finite = Recursion::solve(&plant, &cost, steps).unwrap().first;
        for gains in [&finite, &batch.first().unwrap()] {
            let first = gains.controls(&start, known);
            assert!(
                (first[1] - all[1]).abs() < 1e-9,
                "{steps}: {first:?} {all:?}"
            );
        }
    }
    // With many known values ahead, the infinite horizon gives the same control as a long finite one.
    let regulator = Regulator::solve(&plant, &cost).unwrap();
    let long = Recursion::solve(&plant, &cost, 200).unwrap().first;
    let short = regulator.gains(&plant, 40);
    let constant = [0.7; 200];
    let difference = short.controls(&start, &constant)[1] - long.controls(&start, &constant)[1];
    assert!(difference.abs() < 1e-9, "{difference}");
}

#[test]
fn a_batch_refuses_long_horizons() {
    let (plant, cost) = published();
    assert!(Batch::new(&plant, &cost, LONGEST_BATCH).is_ok());
    let refused = Batch::new(&plant, &cost, 201).unwrap_err();
    assert_eq!(refused, LinearError::BatchTooLong { steps: 201 });
    let text = refused.to_string();
    assert!(
        text.contains("cannot have 201 steps") && text.contains("beyond 200"),
        "{text}"
    );
    assert_eq!(
        Batch::new(&plant, &cost, 0).unwrap_err(),
        LinearError::NoSteps
    );
}

#[test]
fn gains_are_independent_of_the_horizon_from_the_printed_length_on() {
    let (plant, cost) = published();
    let regulator = Regulator::solve(&plant, &cost).unwrap();
    let gain = |steps| Recursion::solve(&plant, &cost, steps).unwrap().gains[0].clone();
    let differs =
        |steps| (&gain(steps) - &regulator.gain).largest() > 1e-9 * regulator.gain.largest();
    assert!(
        regulator.horizon > 3 && regulator.horizon < 100,
        "{}",
        regulator.horizon
    );
    assert!(differs(regulator.horizon - 1));
    for steps in regulator.horizon..regulator.horizon + 50 {
        assert!(!differs(steps), "{steps}");
    }
}

#[test]
fn a_mode_out_of_reach_is_refused() {
    let (mut plant, cost) = published();
    plant.control = Matrix::zeros(2, 2);
    let refused = Regulator::solve(&plant, &cost).unwrap_err();
    assert_eq!(refused, LinearError::NotStabilisable);
    // A stable mode needs no control.
    plant.state = Matrix::diagonal(&[0.9, 0.5]);
    assert!(Regulator::solve(&plant, &cost).is_ok());
}
