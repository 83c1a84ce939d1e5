//! Tests of courses without lanes.

use roadwright_simulation::builtin_modules;
use roadwright_training::{Course, End, Measured, Setup, measure};
use std::collections::BTreeMap;

/// Drives a course. Returns the results, and the time of each agent as a multiple of its free travel time.
fn drive(name: &str, seed: u64) -> (Measured, BTreeMap<u64, f64>) {
    let course = Course::named(name).unwrap();
    let setup = Setup::default();
    let scenario = course.scenario(seed, &setup).unwrap();
    let free = course.free_times(&scenario).into_iter();
    let free: BTreeMap<u64, f64> = free
        .map(|(agent, time)| (u64::from(agent.0), time))
        .collect();
    let measured = measure(&course, &setup, &builtin_modules(), seed).unwrap();
    let drives = measured.drives.iter();
    let ratios = drives.map(|drive| (drive.agent, drive.time / free[&drive.agent]));
    let ratios = ratios.collect();
    (measured, ratios)
}

#[test]
fn cars_drive_between_houses_in_time() {
    for seed in [1, 2, 4, 7] {
        let (measured, ratios) = drive("obstacle-town", seed);
        let ends = measured.drives.iter();
        assert!(
            ends.clone().all(|drive| drive.end == End::Arrived),
            "{seed}: {:?}",
            measured.drives
        );
        assert!(
            ratios.values().all(|ratio| *ratio <= 2.5),
            "{seed}: {ratios:?}"
        );
    }
}

/// Turns round ends of walls have to begin on the outside of a corridor.
#[test]
fn a_jeep_drives_through_a_maze_in_time() {
    for seed in [8, 9] {
        let (measured, ratios) = drive("maze", seed);
        let drive = &measured.drives[0];
        assert_eq!(drive.end, End::Arrived, "{seed}: {drive:?}");
        assert!(ratios[&1] <= 2.5, "{seed}: {ratios:?}");
    }
}

/// Once a car stood between walls until its time was over.
#[test]
fn a_car_does_not_stand_for_ever_between_walls() {
    let (measured, ratios) = drive("obstacle-town", 5);
    let ends = measured.drives.iter();
    assert!(
        ends.clone().all(|drive| drive.end == End::Arrived),
        "{:?}",
        measured.drives
    );
    assert!(ratios.values().all(|ratio| *ratio <= 2.5), "{ratios:?}");
}

/// The goal of the first jeep is on a hill whose slopes cost as much as a detour of several hundred metres.
#[test]
fn a_jeep_does_not_circle_round_a_hill_for_ever() {
    let (measured, ratios) = drive("hill-country-drive", 1);
    let first = &measured.drives[0];
    assert_eq!((first.agent, first.end), (1, End::Arrived), "{first:?}");
    assert!(ratios[&1] <= 2.5, "{ratios:?}");
}

/// A car must not keep to the last part of a manoeuvre until it drifts off it and touches a house.
#[test]
fn a_car_leaves_a_manoeuvre_as_soon_as_it_can_drive_on() {
    let (measured, _) = drive("obstacle-town", 19);
    let struck = measured.drives.iter();
    let struck = struck.filter(|drive| drive.end == End::Struck);
    assert_eq!(struck.count(), 0, "{:?}", measured.drives);
}
