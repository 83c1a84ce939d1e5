//! Tests of the accuracy with which controllers follow the lanes of a figure of eight.

use roadwright_scenario::{DynamicsLevel, ModuleSetting, Stack};
use roadwright_simulation::builtin_modules;
use roadwright_training::{Course, Setup, UNSEEN_SEED, measure};

/// Returns the deviation (m) and mean speed (m/s) of each of the two cars, which drive in opposite
/// directions.
fn deviations(controller: &str, level: DynamicsLevel) -> Vec<[f64; 2]> {
    let course = Course::named("follow-path").unwrap();
    let fitness = ["path_error", "settled_speed"].map(ModuleSetting::new);
    let setup = Setup {
        dynamics: Some(level),
        fitness: Some(fitness.to_vec()),
        ..Setup::with_driver(Stack::with_controller(controller))
    };
    let measured = measure(&course, &setup, &builtin_modules(), UNSEEN_SEED).unwrap();
    assert_eq!(measured.drives.len(), 2, "one car in each direction");
    let scores = measured.drives.iter().map(|drive| &drive.scores);
    scores.map(|scores| [scores[0].1, scores[1].1]).collect()
}

/// Asserts that a controller stays within `most` metres of its lane at 8 m/s in both directions.
fn assert_keeps(controller: &str, level: DynamicsLevel, most: f64) {
    for [deviation, speed] in deviations(controller, level) {
        assert!(deviation <= most, "{controller}, {level}: {deviation} m");
        assert!(
            (speed / 8.0 - 1.0).abs() < 0.02,
            "{controller}, {level}: {speed} m/s"
        );
    }
}

#[test]
fn the_regulator_keeps_to_its_lane_both_ways_round() {
    assert_keeps("lqr", DynamicsLevel::OneTrack, 0.010);
    assert_keeps("lqr", DynamicsLevel::DynamicOneTrack, 0.100);
}

#[test]
fn the_predictive_controller_keeps_to_its_lane_both_ways_round() {
    assert_keeps("linear_mpc", DynamicsLevel::OneTrack, 0.005);
    assert_keeps("linear_mpc", DynamicsLevel::DynamicOneTrack, 0.050);
}

#[test]
#[ignore = "prints the table of the documents"]
fn all_controllers_are_measured() {
    for controller in [
        "linear_mpc",
        "lqr",
        "stanley",
        "pd_follower",
        "pursuit",
        "idm",
        "fuzzy_driver",
    ] {
        for level in [
            DynamicsLevel::OneTrack,
            DynamicsLevel::DynamicOneTrack,
            DynamicsLevel::Sliding,
        ] {
            println!(
                "{controller} {level}: {:.4?}",
                deviations(controller, level)
            );
        }
    }
}
