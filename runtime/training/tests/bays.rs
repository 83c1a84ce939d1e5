//! Tests of courses that end in a parking bay of a real world.

use roadwright_scenario::{DynamicsLevel, Stack};
use roadwright_simulation::builtin_modules;
use roadwright_training::{Course, End, Measured, Setup, measure};

fn run(course: &str, setup: &Setup, seed: u64) -> Measured {
    let course = Course::named(course).unwrap();
    measure(&course, setup, &builtin_modules(), seed).unwrap()
}

#[test]
fn a_car_parks_at_every_level() {
    for course in ["park-parallel", "park-perpendicular"] {
        for level in [
            DynamicsLevel::OneTrack,
            DynamicsLevel::DynamicOneTrack,
            DynamicsLevel::Rigid,
        ] {
            let setup = Setup {
                dynamics: Some(level),
                ..Setup::default()
            };
            let Measured { drives, row, .. } = run(course, &setup, 1);
            assert_eq!(drives[0].end, End::Arrived, "{course} {level}: {drives:?}");
            assert!(row.gear_changes.is_some(), "{course} {level}");
        }
    }
}

#[test]
fn a_car_backs_its_caravan_into_a_bay() {
    for (level, seeds) in [
        (DynamicsLevel::OneTrack, 1..4),
        (DynamicsLevel::Rigid, 1..2),
    ] {
        let setup = Setup {
            dynamics: Some(level),
            ..Setup::default()
        };
        for seed in seeds {
            let Measured { drives, row, .. } = run("park-trailer", &setup, seed);
            assert_eq!(drives[0].end, End::Arrived, "{level} {seed}: {drives:?}");
            // The car has to change direction, because it enters the bay tail first.
            assert!(row.gear_changes >= Some(1.0), "{level} {seed}");
        }
    }
}

#[test]
fn a_driver_that_cannot_push_a_trailer_does_not_park_it() {
    let stack = Stack::with_controller("pursuit");
    let failed = run("park-trailer", &Setup::with_driver(stack), 1);
    assert_eq!(failed.row.completed, 0, "{:?}", failed.drives);
    assert_eq!(failed.row.gear_changes, Some(0.0));
}

#[test]
fn a_driver_that_heads_straight_for_the_bay_does_not_park() {
    let stack = Stack {
        ground_planner: Some(roadwright_scenario::ModuleSetting::new("straight")),
        ..Stack::with_controller("lqr")
    };
    let failed = run("park-parallel", &Setup::with_driver(stack), 1);
    assert_eq!(failed.row.completed, 0, "{:?}", failed.drives);
}

#[test]
fn a_course_in_a_bay_is_its_seed_bit_by_bit() {
    let of = |seed| run("park-perpendicular", &Setup::default(), seed).row;
    assert_eq!(of(3), of(3));
    assert_ne!(of(3).hash, of(4).hash);
}

/// Reads a number from an environment variable.
fn number_of(key: &str, usual: u64) -> u64 {
    let value = std::env::var(key).ok().and_then(|value| value.parse().ok());
    value.unwrap_or(usual)
}

#[test]
#[ignore = "measures; courses are in BAY_COURSES, seeds in BAY_FIRST and BAY_SEEDS, the number of the level in BAY_LEVEL"]
fn figures_of_parking() {
    let levels = [
        DynamicsLevel::OneTrack,
        DynamicsLevel::DynamicOneTrack,
        DynamicsLevel::Rigid,
    ];
    let (first, seeds) = (number_of("BAY_FIRST", 1), number_of("BAY_SEEDS", 10));
    let only = number_of("BAY_LEVEL", 3) as usize;
    let courses = std::env::var("BAY_COURSES");
    let courses =
        courses.unwrap_or_else(|_| "park-parallel,park-perpendicular,park-trailer".into());
    for course in courses.split(',') {
        for level in levels
            .iter()
            .enumerate()
            .filter(|(at, _)| only > 2 || *at == only)
        {
            let setup = Setup {
                dynamics: Some(*level.1),
                ..Setup::default()
            };
            let (mut parked, mut time, mut changes) = (0u32, 0.0, 0.0);
            for seed in first..first + seeds {
                let drive = &run(course, &setup, seed).drives[0];
                if drive.end == End::Arrived {
                    parked += 1;
                    time += drive.time;
                    changes += f64::from(drive.gear_changes.unwrap());
                } else {
                    println!(
                        "{course} {} seed {seed}: {} at {:.1} s",
                        level.1, drive.end, drive.time
                    );
                }
            }
            let count = f64::from(parked.max(1));
            println!(
                "{course} {}: {parked} of {seeds}, {:.1} s, {:.1} changes",
                level.1,
                time / count,
                changes / count
            );
        }
    }
}

#[test]
#[ignore = "measures; planners are in FIELD_PLANNERS, controllers in FIELD_CONTROLLERS, the number of seeds in FIELD_SEEDS"]
fn figures_of_the_obstacle_field() {
    use roadwright_scenario::{ModuleSetting, file};
    use roadwright_simulation::{RunOptions, World};
    const FIELD: &str = include_str!("../../../scenarios/obstacle-field.scenario.json");
    let list = |key: &str, usual: &str| -> Vec<String> {
        let text = std::env::var(key).unwrap_or_else(|_| usual.into());
        text.split(',').map(String::from).collect()
    };
    let scenario = file::from_text(FIELD).unwrap();
    let course = Course::own("obstacle-field", scenario);
    for planner in list("FIELD_PLANNERS", "drivable_path") {
        for controller in list("FIELD_CONTROLLERS", "fuzzy_driver") {
            let (mut trips, mut time, mut missing, mut contacts, mut fastest) =
                (0, 0.0, 0, 0, 0.0f64);
            for seed in 1..=number_of("FIELD_SEEDS", 3) {
                let mut setup = Setup::default();
                let slots = [("ground_planner", &planner), ("controller", &controller)];
                for (slot, module) in slots.into_iter().filter(|(_, module)| *module != "own") {
                    let setting = vec![ModuleSetting::new(module.as_str())];
                    setup.modules.insert(slot.into(), setting);
                }
                let scenario = course.whole_scenario(seed, &setup).unwrap();
                let options = RunOptions {
                    seed: Some(seed),
                    ..RunOptions::default()
                };
                let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
                while !world.is_over() && world.time() < 60.0 {
                    world.step();
                    let snapshot = world.snapshot();
                    let speeds = snapshot.vehicles.iter().map(|vehicle| vehicle.speed.abs());
                    fastest = speeds.fold(fastest, f64::max);
                }
                contacts += world.collisions().len();
                for drive in world.finished() {
                    trips += 1;
                    time += drive.ended - drive.started;
                }
                // An agent that has not arrived counts as 60 s plus its remaining distance. Without the
                // distance, the sum is too low.
                let left = scenario.agents().len() - world.finished().len();
                missing += left;
                time += 60.0 * left as f64;
                trips += left;
            }
            println!(
                "{planner} {controller}: {trips} trips, {missing} missing, {contacts} contacts, {:.1} s, {fastest:.2} m/s",
                time / trips as f64
            );
        }
    }
}
