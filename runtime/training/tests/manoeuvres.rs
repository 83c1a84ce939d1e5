//! Tests of courses that simulate their vehicle themselves: pendulum, parking, trailer-reverse.

use roadwright_scenario::{DynamicsLevel, ModuleSetting, Stack};
use roadwright_simulation::{World, builtin_modules};
use roadwright_training::{Course, End, Measured, Setup, measure, measure_while};

fn run(course: &str, setup: &Setup, seed: u64) -> Measured {
    let course = Course::named(course).unwrap();
    measure(&course, setup, &builtin_modules(), seed).unwrap()
}

fn driven_by(controller: &str) -> Setup {
    Setup::with_driver(Stack::with_controller(controller))
}

#[test]
fn each_driver_masters_its_manoeuvre() {
    for (name, end, best, worst) in [
        ("pendulum", End::Held, 0.0, 0.02),
        ("parking", End::Arrived, 10.0, 30.0),
        ("trailer-reverse", End::Arrived, 15.0, 40.0),
    ] {
        for seed in 1..=40 {
            let Measured { row, drives, .. } = run(name, &Setup::default(), seed);
            assert_eq!(
                (row.drives, row.completed),
                (1, 1),
                "{name} {seed}: {row:?}"
            );
            assert_eq!(drives[0].end, end, "{name} {seed}");
            assert!(
                (best..worst).contains(&row.fitness.unwrap()),
                "{name} {seed}: {row:?}"
            );
        }
    }
}

#[test]
fn who_does_not_know_the_manoeuvre_fails() {
    for controller in ["pursuit", "idm", "fuzzy_driver", "fuzzy_mechanic"] {
        let fallen = run("pendulum", &driven_by(controller), 1);
        assert_eq!(fallen.drives[0].end, End::Fell, "{controller}");
        assert!(fallen.row.fitness > Some(50.0), "{:?}", fallen.row);
        for course in ["parking", "trailer-reverse"] {
            let failed = run(course, &driven_by(controller), 1);
            assert_eq!(failed.row.completed, 0, "{controller} {course}");
            assert!(failed.row.fitness >= Some(90.0), "{:?}", failed.row);
        }
    }
}

#[test]
fn a_manoeuvre_is_its_seed_bit_by_bit() {
    for name in ["pendulum", "parking", "trailer-reverse"] {
        let of = |seed| run(name, &Setup::default(), seed);
        assert_eq!(of(3), of(3), "{name}");
        assert_ne!(of(3).row.hash, of(4).row.hash, "{name}");
        let finer = Setup {
            dt: Some(0.01),
            ..Setup::default()
        };
        let finer = run(name, &finer, 3);
        assert_eq!(finer.row.completed, 1, "{name}");
        assert!((finer.row.time - of(3).row.time).abs() < 2.0, "{name}");
    }
}

#[test]
fn what_cannot_be_driven_is_refused_with_words() {
    let course = Course::named("pendulum").unwrap();
    let error = |setup: &Setup| {
        let error = measure(&course, setup, &builtin_modules(), 1);
        error.unwrap_err().to_string()
    };
    let rigid = Setup {
        dynamics: Some(DynamicsLevel::Rigid),
        ..Setup::default()
    };
    assert!(error(&rigid).contains("one_track"), "{}", error(&rigid));
    assert!(error(&driven_by("nobody")).contains("pole_balance"));
    let slow = Setup {
        dt: Some(70.0),
        ..Setup::default()
    };
    assert!(error(&slow).contains("time step"), "{}", error(&slow));
    let one_track = Setup {
        dynamics: Some(DynamicsLevel::OneTrack),
        ..Setup::default()
    };
    let default = run("pendulum", &Setup::default(), 5);
    assert_eq!(run("pendulum", &one_track, 5), default);
}

#[test]
fn a_worse_engine_and_worse_gains_let_the_pole_fall() {
    let held = |setup: &Setup| {
        let runs = (1..=30).map(|seed| run("pendulum", setup, seed).row.completed);
        runs.sum::<usize>()
    };
    let bus = Setup {
        vehicle: Some("enviro_400".into()),
        ..Setup::default()
    };
    // An acceleration of 1.2 m/s^2 rather than 2.6 m/s^2 only balances the gentle pushes.
    assert!((1..15).contains(&held(&bus)), "{}", held(&bus));
    let mut stack = Stack::with_controller("pole_balance");
    stack.controller = stack.controller.with("lean_gain", 5.0);
    assert_eq!(held(&Setup::with_driver(stack)), 0);
}

#[test]
fn any_fitness_rates_a_manoeuvre_and_whoever_looks_on_may_end_it() {
    let setup = Setup {
        fitness: Some(["comfort", "steer_bench"].map(ModuleSetting::new).to_vec()),
        ..Setup::default()
    };
    let scores = &run("parking", &setup, 1).drives[0].scores;
    assert!(scores.iter().all(|(_, score)| *score > 0.0), "{scores:?}");
    let course = Course::named("parking").unwrap();
    let mut asked = 0;
    let goes_on = &mut |_: &World| {
        asked += 1;
        asked < 3
    };
    let modules = builtin_modules();
    let ended = measure_while(&course, &Setup::default(), &modules, 1, goes_on).unwrap();
    assert_eq!(
        (ended.drives[0].end, ended.drives[0].time),
        (End::Time, 3.0)
    );
}
