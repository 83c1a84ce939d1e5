use super::*;
use roadwright_scenario::{ModuleSetting, Stack};
use roadwright_simulation::{SteeringLock, builtin_modules};

fn run(course: &str, setup: &Setup, seed: u64) -> Measured {
    let course = Course::named(course).unwrap();
    measure(&course, setup, &builtin_modules(), seed).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_does_not() {
    for course in ["obstacle-stream", "arena", "old-town", "forest"] {
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
    assert_eq!(
        (Some(mean), measured.row.completed),
        (measured.row.fitness, 40)
    );
    // The intelligent driver stops before obstacles instead of driving around them.
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
fn a_run_on_shared_ground_is_one_on_ground_of_its_own() {
    let course = Course::named("old-town").unwrap();
    let shared = measure(&course, &Setup::default(), &builtin_modules(), 7).unwrap();
    // If the same scenario is a user's own, it has no shared ground.
    let scenario = course.scenario(7, &Setup::default()).unwrap();
    let mut own = Course::own("own", scenario);
    own.ends = course.ends;
    let setup = Setup {
        fitness: Some(vec![ModuleSetting::new(course.fitness)]),
        ..Setup::default()
    };
    assert!(own.shared_ground().is_none() && course.shared_ground().is_some());
    assert_eq!(
        measure(&own, &setup, &builtin_modules(), 7).unwrap().row,
        shared.row
    );
}

#[test]
fn most_trips_through_the_town_arrive() {
    let measured = run("old-town", &Setup::default(), 3);
    assert_eq!(measured.row.drives, 60);
    assert!(measured.row.completed > 40, "{:?}", measured.row);
    for drive in &measured.drives {
        assert!(
            drive.end != End::Arrived || drive.distance > 150.0,
            "{drive:?}"
        );
    }
}

#[test]
fn nobody_to_rate_is_an_error() {
    let course = Course::own("empty", roadwright_scenario::Scenario::new("empty"));
    let error = measure(&course, &Setup::default(), &builtin_modules(), 1).unwrap_err();
    assert!(error.to_string().contains("no agent has driven"), "{error}");
}

/// A fitness function that always returns NaN.
struct Nothing;

impl roadwright_agent::Logic for Nothing {}

impl roadwright_agent::Fitness for Nothing {
    fn step(
        &self,
        _: &roadwright_agent::ParameterSet,
        _: &roadwright_agent::Step<'_>,
        _: &[roadwright_plugin_api::FitnessInput],
        outputs: &mut [roadwright_plugin_api::FitnessOutput],
    ) {
        outputs
            .iter_mut()
            .for_each(|output| output.score = f64::NAN);
    }
}

#[test]
fn a_score_that_is_no_number_is_an_error() {
    let mut modules = builtin_modules();
    let info = roadwright_agent::ModuleInfo {
        id: "nothing",
        name: "Nothing",
        doc: "Returns NaN.",
    };
    let make = || Box::new(Nothing) as Box<dyn roadwright_agent::Fitness>;
    modules.add(roadwright_agent::ModuleEntry::new(info, &[], make));
    let course = Course::named("arena").unwrap();
    let rated = |id: &str| Setup {
        fitness: Some(vec![ModuleSetting::new(id)]),
        ..Setup::default()
    };
    let error = measure(&course, &rated("nothing"), &modules, 1).unwrap_err();
    assert!(
        error.to_string().contains("\"nothing\" returns NaN"),
        "{error}"
    );
    assert!(measure(&course, &rated("comfort"), &modules, 1).is_ok());
}

#[test]
fn a_drive_through_the_forest_ends_as_the_course_says_and_scores_equation_12_2() {
    let course = Course::named("forest").unwrap();
    let modules = builtin_modules();
    let (mut arrived, mut failed) = (0, 0);
    for controller in ["fuzzy_mechanic", "pursuit", "idm"] {
        let setup = Setup::with_driver(Stack::with_controller(controller));
        for seed in 1..=12 {
            let measured = measure(&course, &setup, &modules, seed).unwrap();
            let [drive] = &measured.drives[..] else {
                panic!("one drive");
            };
            let score = drive.fitness().unwrap();
            match drive.end {
                End::Arrived => {
                    assert!((score - drive.time).abs() < 1e-9 && drive.time < 60.0);
                    // The drive covers 114 m at 8 m/s, and then ends.
                    assert!(drive.time > 14.0);
                    arrived += 1;
                }
                End::Struck | End::Stuck | End::Time => {
                    assert!(
                        (66.0..=180.5).contains(&score),
                        "{controller} {seed}: {score}"
                    );
                    failed += 1;
                }
                end => panic!("{end}"),
            }
            match drive.end {
                End::Stuck => assert!(drive.time >= 12.0),
                End::Time => assert!((drive.time - 60.0).abs() < 0.1),
                _ => {}
            }
        }
    }
    assert!(
        arrived > 0 && failed > 0,
        "{arrived} arrived, {failed} failed"
    );
}

/// Controls that drive straight on for some steps and then brake.
fn straight_on() -> Vec<ControlChange> {
    let change = |step, pedals, steering| ControlChange {
        step,
        pedals,
        steering,
        lock: SteeringLock::Limited,
    };
    vec![
        change(1, 1.0, 0.0),
        change(100, 0.6, 0.1),
        change(220, -1.0, 0.0),
    ]
}

#[test]
fn a_persons_try_is_driven_again_from_its_controls() {
    let (course, modules) = (Course::named("forest").unwrap(), builtin_modules());
    let setup = Setup::default();
    let drive = |controls| PersonTry::drive(&course, &setup, &modules, 3, controls).unwrap();
    let own = drive(straight_on());
    assert_eq!((own.row.drives, own.row.seed), (1, 3));
    assert_eq!(own, drive(straight_on()));
    assert_ne!(own.row.hash, run("forest", &setup, 3).row.hash);
    // Other controls lead to a different drive.
    let mut other = straight_on();
    other[1].steering = 0.2;
    assert_ne!(own.row.hash, drive(other).row.hash);
    let text = own.to_text();
    assert!(PersonTry::is_try(&text));
    let read = PersonTry::from_text(&text).unwrap();
    assert_eq!(read, own);
    let again = read.drive_again(&course, &modules).unwrap();
    assert_eq!(
        (again.row, again.wrong),
        (own.row.clone(), Vec::<String>::new())
    );
    // The result has been changed, and the course is a different one.
    let mut wrong = read.clone();
    wrong.row.time -= 1.0;
    let wrong = wrong.drive_again(&course, &modules).unwrap().wrong;
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    let mut wrong = read;
    wrong.course_hash = "0".repeat(16);
    let wrong = wrong.drive_again(&course, &modules).unwrap().wrong;
    assert!(wrong[0].contains("0000000000000000"), "{wrong:?}");
}

#[test]
fn the_full_lock_is_part_of_a_try_and_tries_without_it_keep_their_format() {
    let (course, modules) = (Course::named("forest").unwrap(), builtin_modules());
    let setup = Setup::default();
    let drive = |controls| PersonTry::drive(&course, &setup, &modules, 3, controls).unwrap();
    let mut controls = straight_on();
    controls[1].steering = 1.0;
    let limited = drive(controls.clone());
    assert!(limited.to_text().contains("\"version\": 1"));
    controls[1].lock = SteeringLock::Full;
    let full = drive(controls);
    assert_ne!(limited.row.hash, full.row.hash);
    let text = full.to_text();
    assert!(text.contains("\"version\": 2") && text.contains("full_lock"));
    let read = PersonTry::from_text(&text).unwrap();
    assert_eq!(read, full);
    let again = read.drive_again(&course, &modules).unwrap();
    assert_eq!(again.wrong, Vec::<String>::new());
    // No other word is a valid lock.
    let other = text.replace("full_lock", "half_lock");
    let refused = PersonTry::from_text(&other);
    assert!(matches!(refused, Err(TryError::Syntax(_))), "{refused:?}");
}

#[test]
fn a_try_judges_the_first_agent_alone_and_as_the_live_judge_does() {
    let course = Course::named("arena").unwrap();
    let (setup, modules) = (Setup::default(), builtin_modules());
    let measured = measure_driven(&course, &setup, &modules, 1, &straight_on()).unwrap();
    assert_eq!(measured.drives.len(), 1);
    // The same drive step by step, as in the editor.
    let scenario = course.whole_scenario(1, &setup).unwrap();
    let level = scenario.settings().dynamics;
    let mut judge = Judge::of_person(&course, level, &scenario);
    let mut world = World::new(&scenario, &modules, &RunOptions::default()).unwrap();
    let agent = judge.driven_by_person().unwrap();
    let controls = straight_on();
    while judge.person_drive().is_none() {
        let step = world.steps();
        for change in controls.iter().filter(|change| change.step == step) {
            assert!(world.drive_by_hand(agent, change.controls()));
        }
        world.step();
        judge.after_step(&world);
    }
    assert_eq!(judge.person_drive(), measured.drives.first());
}

#[test]
fn damaged_tries_are_refused_with_the_reason() {
    let course = Course::named("forest").unwrap();
    let (setup, modules) = (Setup::default(), builtin_modules());
    let own = PersonTry::drive(&course, &setup, &modules, 3, straight_on()).unwrap();
    let mut falls = own.clone();
    falls.controls[2].step = 5;
    let refused = PersonTry::from_text(&falls.to_text());
    assert!(matches!(refused, Err(TryError::Control(2))), "{refused:?}");
    let mut far = own.clone();
    far.controls[1].pedals = 1.5;
    let refused = PersonTry::from_text(&far.to_text());
    assert!(matches!(refused, Err(TryError::Control(1))), "{refused:?}");
    let newer = own.to_text().replace("\"version\": 1", "\"version\": 3");
    let refused = PersonTry::from_text(&newer);
    assert!(
        matches!(refused, Err(TryError::Format { version: 3, .. })),
        "{refused:?}"
    );
    for text in ["{", "{}", "{\"format\": \"roadwright-try\"}"] {
        let refused = PersonTry::from_text(text);
        assert!(matches!(refused, Err(TryError::Syntax(_))), "{text}");
    }
    // A course that simulates its vehicle itself has no world to drive in.
    let bay = Course::named("parking").unwrap();
    assert!(measure_driven(&bay, &setup, &modules, 1, &[]).is_err());
}
