use super::*;
use roadwright_scenario::{ModuleSetting, Stack};
use roadwright_simulation::builtin_modules;

fn run(course: &str, setup: &Setup, seed: u64) -> Measured {
    let course = Course::named(course).unwrap();
    measure(&course, setup, &builtin_modules(), seed).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_does_not() {
    for course in ["obstacle-stream", "arena"] {
        let (first, again) = (
            run(course, &Setup::default(), 4),
            run(course, &Setup::default(), 4),
        );
        assert_eq!(first, again, "{course}");
        assert_ne!(
            first.row.hash,
            run(course, &Setup::default(), 5).row.hash,
            "{course}"
        );
    }
}

#[test]
fn drives_of_the_stream_end_by_mileage_or_time() {
    let pursuit = Setup::with_driver(Stack::with_controller("pursuit"));
    let measured = run("obstacle-stream", &pursuit, 1);
    assert_eq!((measured.row.drives, measured.drives.len()), (40, 40));
    for drive in &measured.drives {
        assert_eq!(
            (drive.end, drive.scores[0].0.as_str()),
            (End::Mileage, "crash_and_speed")
        );
        assert!((300.0..301.0).contains(&drive.distance) && drive.time < 60.0);
    }
    let mean = measured
        .drives
        .iter()
        .filter_map(DriveRow::fitness)
        .sum::<f64>()
        / 40.0;
    assert_eq!((mean, measured.row.completed), (measured.row.fitness, 40));
    // The intelligent driver stops before obstacles and does not drive around them.
    let idm = Setup::with_driver(Stack::with_controller("idm"));
    let measured = run("obstacle-stream", &idm, 1);
    for drive in &measured.drives {
        match drive.end {
            End::Mileage => assert!((300.0..301.0).contains(&drive.distance)),
            End::Time => assert!(drive.distance < 300.0 && (drive.time - 60.0).abs() < 0.1),
            end => panic!("{end}"),
        }
    }
    let completed = measured.row.completed;
    assert!(completed > 0 && completed < 40, "{:?}", measured.row);
    assert_eq!(measured.row.ends[&End::Mileage], completed);
}

#[test]
fn drivers_are_told_apart() {
    let slow = Stack {
        controller: ModuleSetting::new("fuzzy_driver"),
        ..Stack::default()
    };
    let setup = Setup {
        drivers: vec![slow, Stack::with_controller("idm")],
        ..Setup::default()
    };
    let measured = run("obstacle-stream", &setup, 2);
    for driver in [0, 1] {
        let drives = measured
            .drives
            .iter()
            .filter(|drive| drive.driver == driver);
        assert_eq!(drives.count(), 20);
    }
}

#[test]
fn nobody_to_rate_is_an_error() {
    let course = Course::own("empty", roadwright_scenario::Scenario::new("empty"));
    let error = measure(&course, &Setup::default(), &builtin_modules(), 1).unwrap_err();
    assert!(error.to_string().contains("no agent has driven"), "{error}");
}
