//! Races of the user on courses: countdown, judging, and keeping and repeating attempts.

use crate::common::Bench;
use egui::Key;
use egui_kittest::kittest::Queryable;
use roadwright_editor::experiment::ExperimentAction;
use roadwright_editor::model::Action;
use roadwright_editor::race::{RaceAction, RaceOrder, RacePhase};
use roadwright_simulation::builtin_modules;
use roadwright_training::{Course, PersonTry, Setup};

fn order(bench: &Bench, course: &str) -> RaceOrder {
    RaceOrder {
        course: Course::named(course).unwrap(),
        setup: Setup::default(),
        seed: 3,
        folder: Some(bench.folder.path().join("tries")),
    }
}

/// Starts a race and waits until the countdown is over.
pub(crate) fn start(bench: &mut Bench, course: &str) {
    let order = order(bench, course);
    bench.ask(Action::Race(RaceAction::Start(Box::new(order))));
    wait_for_countdown(bench);
}

fn phase(bench: &Bench) -> RacePhase {
    bench.editor().model().race.as_ref().unwrap().phase
}

fn wait_for_countdown(bench: &mut Bench) {
    if matches!(phase(bench), RacePhase::Countdown(_)) {
        let steps = bench.live().snapshot.step;
        assert!(steps <= 1, "nothing moves before the start: {steps}");
    }
    for _ in 0..200 {
        if phase(bench) == RacePhase::Driving {
            return;
        }
        bench.harness.step();
    }
    panic!("the countdown does not end");
}

/// Drives straight on until the attempt has ended and is kept.
fn drive_to_end(bench: &mut Bench) {
    bench.hold_key(Key::W);
    for _ in 0..200 {
        bench.step_run(50);
        if phase(bench) == RacePhase::Ended {
            break;
        }
    }
    bench.release_key(Key::W);
    bench.settle();
}

#[test]
fn each_try_is_judged_kept_and_driven_again() {
    let mut bench = Bench::start();
    bench.close_dialog();
    start(&mut bench, "forest");
    let origin = bench.editor().model().waiting.is_some();
    assert!(origin, "the document waits");
    let planner = bench
        .editor()
        .model()
        .race
        .clone()
        .unwrap()
        .ready
        .planner
        .clone();
    assert!(planner.drive.is_some() && planner.path.len() > 10);
    // The ghost is at the planner's position, and is not shown before or after its drive.
    let (time, pose) = planner.path[5];
    assert_eq!(planner.at(time), Some(pose));
    assert!(planner.at(time + 0.05).is_some());
    assert_eq!(planner.at(planner.path.last().unwrap().0 + 1.0), None);
    drive_to_end(&mut bench);
    let race = bench.editor().model().race.clone().unwrap();
    assert_eq!((race.phase, race.tries.len()), (RacePhase::Ended, 1));
    let kept = race.tries[0].clone();
    let text = std::fs::read_to_string(&kept.path).unwrap();
    let own = PersonTry::from_text(&text).unwrap();
    assert!(own.controls.iter().any(|change| change.pedals == 1.0));
    let course = Course::named("forest").unwrap();
    let again = own.drive_again(&course, &builtin_modules()).unwrap();
    assert!(again.wrong.is_empty(), "{:?}", again.wrong);
    // The window and the file have the same result.
    let judged = bench.live().race.clone().unwrap().ended.unwrap();
    assert_eq!((judged.time, Some(judged.end)), (kept.time, kept.end));
    // One key restarts it, and the next attempt gets its own file.
    bench.key(Key::Q);
    wait_for_countdown(&mut bench);
    drive_to_end(&mut bench);
    let race = bench.editor().model().race.clone().unwrap();
    assert_eq!(race.tries.len(), 2);
    assert_ne!(race.tries[0].path, race.tries[1].path);
    // A race on the same course lists the earlier attempts.
    start(&mut bench, "forest");
    assert_eq!(bench.editor().model().race.as_ref().unwrap().tries.len(), 2);
    // A deleted attempt leaves a gap, and its number is not reused.
    std::fs::remove_file(&race.tries[0].path).unwrap();
    std::fs::write(race.tries[0].path.with_file_name("forest-4-9.try.json"), "").unwrap();
    // After the largest number, there is no number for the next attempt.
    let last = format!("forest-4-{}.try.json", u64::MAX);
    std::fs::copy(&race.tries[1].path, race.tries[1].path.with_file_name(last)).unwrap();
    start(&mut bench, "forest");
    let numbers = |bench: &Bench| -> Vec<u64> {
        let race = bench.editor().model().race.as_ref().unwrap();
        race.tries.iter().map(|kept| kept.number).collect()
    };
    assert_eq!(numbers(&bench), [2]);
    drive_to_end(&mut bench);
    assert_eq!(numbers(&bench), [2, 3]);
    bench.ask(Action::Experiment(ExperimentAction::Back));
    assert!(bench.editor().model().race.is_none());
    assert!(bench.editor().model().waiting.is_none());
}

#[test]
fn a_rewound_try_is_not_kept_and_a_race_needs_a_course() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.key(Key::Q);
    let said =
        |bench: &Bench, text: &str| bench.harness.query_all_by_label_contains(text).count() > 0;
    assert!(said(&bench, "Start a race"));
    start(&mut bench, "forest");
    bench.step_run(200);
    bench.ask(Action::LookBack(1.0));
    drive_to_end(&mut bench);
    let race = bench.editor().model().race.clone().unwrap();
    assert!(race.tries.is_empty(), "{:?}", race.tries);
    assert!(said(&bench, "This try is not kept"));
}
