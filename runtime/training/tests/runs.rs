//! Tests of mileage logs, hashes of courses, stopping by differences, and time compression.

use roadwright_scenario::{Edit, ModuleSetting, Stack, file};
use roadwright_simulation::builtin_modules;
use roadwright_training::experiment::{Results, RunSeries, Stop, Stopped};
use roadwright_training::genetic::{self, Evaluate, Problem};
use roadwright_training::{Course, Setup, measure, measure_logged};
use std::collections::BTreeMap;

fn driven_by(controller: &str) -> Setup {
    Setup::with_driver(Stack::with_controller(controller))
}

#[test]
fn a_drive_is_noted_every_10_m_and_logging_changes_nothing() {
    let (course, modules) = (Course::named("obstacle-stream").unwrap(), builtin_modules());
    let setup = driven_by("pursuit");
    let (measured, marks) = measure_logged(&course, &setup, &modules, 7).unwrap();
    assert_eq!(measured, measure(&course, &setup, &modules, 7).unwrap());
    let mut by_agent: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for mark in &marks {
        assert!(mark.time > 0.0 && mark.fitness.is_finite() && mark.driver == 0);
        by_agent.entry(mark.agent).or_default().push(mark.distance);
    }
    assert_eq!(by_agent.len(), 40);
    for (agent, distances) in by_agent {
        // Every vehicle drives 300 m, with an entry every 10 m and none beyond.
        assert_eq!(distances.len(), 30, "{agent}: {distances:?}");
        for (number, distance) in distances.iter().enumerate() {
            let due = 10.0 * (number + 1) as f64;
            assert!(
                (due..due + 10.0).contains(distance),
                "{agent}: {distances:?}"
            );
        }
    }
}

#[test]
fn a_course_is_told_by_what_it_is_and_not_by_its_name_or_drivers() {
    let path = "../../scenarios/obstacle-field.scenario.json";
    let scenario = file::load(path.as_ref()).unwrap();
    let hash = |name: &str, scenario| Course::own(name, scenario).hash().unwrap();
    let own = hash("a", scenario.clone());
    let mut trained = scenario.clone();
    let mut stack = trained.stacks()["fuzzy_driver"].clone();
    stack.controller = ModuleSetting::new("idm");
    let edit = Edit::Stack("fuzzy_driver".into(), Some(Box::new(stack)));
    trained.apply(edit).unwrap();
    assert_eq!(hash("b", trained), own);
    let mut cleared = scenario;
    let first = *cleared.obstacles().keys().next().unwrap();
    cleared.apply(Edit::Obstacle(first, None)).unwrap();
    assert_ne!(hash("a", cleared), own);
    let all: Vec<String> = Course::all()
        .iter()
        .map(|course| course.hash().unwrap())
        .collect();
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), all.len());
}

fn run(setup: &Setup, stop: Stop, against: Option<&Results>) -> Result<Results, String> {
    let (course, modules) = (Course::named("arena").unwrap(), builtin_modules());
    let experiment = RunSeries {
        course: &course,
        setup,
        modules: &modules,
        first_seed: 1,
        stop,
        against,
        level: 0.95,
        threads: 2,
    };
    experiment.run(None, &()).map_err(|error| error.to_string())
}

#[test]
fn an_experiment_stops_when_a_driver_is_known_to_be_better() {
    let idm = run(&driven_by("idm"), Stop::Runs { runs: 40 }, None).unwrap();
    let rule = |max_runs| Stop::Difference {
        against: u64::from_str_radix(&idm.hash, 16).unwrap(),
        min_runs: 5,
        max_runs,
    };
    let found = run(&driven_by("pursuit"), rule(40), Some(&idm)).unwrap();
    assert_eq!(found.stopped, Some(Stopped::Reached));
    assert!((5..40).contains(&found.rows.len()), "{}", found.rows.len());
    let text = found.to_text();
    assert_eq!(Results::parse(&text).unwrap(), found);
    // No driver is better than itself, and rows without a partner are not compared.
    let same = run(&driven_by("idm"), rule(12), Some(&idm)).unwrap();
    assert_eq!((same.stopped, same.rows.len()), (Some(Stopped::Runs), 12));
    let error = run(&driven_by("idm"), rule(41), Some(&idm)).unwrap_err();
    assert!(error.contains("seed 41"), "{error}");
    assert!(run(&driven_by("idm"), rule(12), None).is_err());
}

#[test]
fn breeding_may_be_compressed_and_judging_is_not_and_points_are_better_the_more() {
    let text = r#"{"format": "roadwright-experiment", "version": 1, "course": "arena", "stack": "pursuit",
        "genes": ["pursuit.speed_gain"], "runs": 2, "stop": {"generations": 3}, "time_compression": 2,
        "seeds": {"train": [1, 9], "validate": [10, 12], "test": [20, 29]}}"#;
    let experiment = genetic::Experiment::from_text(text).unwrap();
    let problem = Problem::new(&experiment, None, &builtin_modules()).unwrap();
    let start = problem.genome().start();
    let (bred, judged) = (
        problem.run(&start, 3).unwrap(),
        problem.run_exactly(&start, 3).unwrap(),
    );
    assert_ne!(bred.hash, judged.hash);
    let bench = measure(
        &Course::named("arena").unwrap(),
        &driven_by("pursuit"),
        &builtin_modules(),
        3,
    );
    let row = bench.unwrap().row;
    assert_eq!(judged.row.as_ref(), Some(&row));
    // The points of the arena are converted to a score, of which lower values are better.
    assert!(!problem.lower_is_better());
    assert_eq!(Some(judged.score), row.fitness.map(|fitness| -fitness));
    let results = problem.results(&start, 3, &[Ok(judged)]).unwrap().unwrap();
    assert_eq!(
        (&results.rows[0], results.head.lower_is_better),
        (&row, false)
    );
}
