use super::*;
use crate::experiment::Summary;
use roadwright_scenario::{ModuleSetting, Stack};
use roadwright_simulation::builtin_modules;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A short course: the arena with half a minute.
fn short() -> Course {
    let mut course = Course::named("arena").unwrap();
    course.ends.time = 20.0;
    course
}

struct Lab {
    course: Course,
    setup: Setup,
    modules: Registry,
}

impl Lab {
    fn new() -> Self {
        Self {
            course: short(),
            setup: Setup {
                fitness: Some(vec![ModuleSetting::new("crash_and_speed")]),
                ..Setup::with_driver(Stack::with_controller("pursuit"))
            },
            modules: builtin_modules(),
        }
    }

    fn experiment(&self, stop: Stop, threads: usize) -> Experiment<'_> {
        Experiment {
            course: &self.course,
            setup: &self.setup,
            modules: &self.modules,
            first_seed: 1,
            against: None,
            stop,
            level: 0.95,
            threads,
        }
    }
}

const WATCHED: Stop = Stop::StandardError {
    at_most: 0.05,
    min_runs: 5,
    max_runs: 60,
};

/// Says no after so many runs.
struct After(AtomicUsize);

impl Watcher for After {
    fn goes_on(&self) -> bool {
        let left = |n: usize| n.checked_sub(1);
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
            .is_ok()
    }
}

#[test]
fn rows_and_the_decision_to_stop_are_the_same_for_any_number_of_threads() {
    let lab = Lab::new();
    for stop in [Stop::Runs { runs: 11 }, WATCHED] {
        let one = lab.experiment(stop, 1).run(None, &()).unwrap();
        let three = lab.experiment(stop, 3).run(None, &()).unwrap();
        assert_eq!(one, three);
        assert_eq!(one.rows.len() as u64, Summary::of(&one).unwrap().runs);
    }
    let watched = lab.experiment(WATCHED, 3).run(None, &()).unwrap();
    // It stopped at the first number that is good enough, which is no end of a batch.
    let fitnesses: Vec<f64> = watched.rows.iter().map(|row| row.fitness).collect();
    let error = |count: usize| Moments::of(&fitnesses[..count]).standard_error();
    let count = watched.rows.len();
    assert_eq!(watched.stopped, Some(Stopped::Reached));
    assert!(
        error(count) <= 0.05 && (5..count).all(|n| error(n) > 0.05),
        "{count}"
    );
}

#[test]
fn an_interrupted_experiment_goes_on_to_the_same_rows() {
    let lab = Lab::new();
    let whole = lab.experiment(WATCHED, 2).run(None, &()).unwrap();
    for runs in [0, 1, 4] {
        let part = lab
            .experiment(WATCHED, 1)
            .run(None, &After(AtomicUsize::new(runs)));
        let part = part.unwrap();
        assert_eq!((part.rows.len(), part.stopped), (runs, None));
        // Through the file, as people do.
        let read = Results::parse(&part.to_text()).unwrap();
        assert_eq!(read, part);
        let done = lab.experiment(WATCHED, 2).run(Some(read), &()).unwrap();
        assert_eq!(done, whole);
    }
    // One that is finished is not run again.
    let again = lab
        .experiment(WATCHED, 2)
        .run(Some(whole.clone()), &After(AtomicUsize::new(0)));
    assert_eq!(again.unwrap(), whole);
}

#[test]
fn results_of_another_experiment_are_refused() {
    let lab = Lab::new();
    let results = lab
        .experiment(Stop::Runs { runs: 2 }, 1)
        .run(None, &())
        .unwrap();
    let mut other = Lab::new();
    other.setup.vehicle = Some("car".into());
    let error = other
        .experiment(Stop::Runs { runs: 2 }, 1)
        .run(Some(results.clone()), &());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the scenario") && error.contains("another experiment"),
        "{error}"
    );
    let error = lab
        .experiment(Stop::Runs { runs: 3 }, 1)
        .run(Some(results), &());
    assert!(error.unwrap_err().to_string().contains("the stopping rule"));
}

#[test]
fn a_changed_row_is_found() {
    let lab = Lab::new();
    let experiment = lab.experiment(Stop::Runs { runs: 7 }, 2);
    let results = experiment.run(None, &()).unwrap();
    let all = sample(&results, true);
    assert_eq!(all.len(), 7);
    assert_eq!(experiment.verify(&results, &all, &()).unwrap(), []);
    for (name, change) in [
        (
            "fitness",
            (|row: &mut Row| row.fitness = row.fitness.next_up()) as fn(&mut Row),
        ),
        ("time", |row| row.time += 1e-9),
        ("hash", |row| row.hash = "0123456789abcdef".into()),
    ] {
        let mut changed = results.clone();
        change(&mut changed.rows[3]);
        assert!(changed.check_hash().is_err(), "{name}");
        let found = experiment.verify(&changed, &all, &()).unwrap();
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(
            (&found[0].found, found[0].written.seed),
            (&results.rows[3], 4),
            "{name}"
        );
    }
    assert!(results.check_hash().is_ok());
}

#[test]
fn a_tenth_is_looked_at_and_five_at_least() {
    let lab = Lab::new();
    let one = lab
        .experiment(Stop::Runs { runs: 1 }, 1)
        .run(None, &())
        .unwrap();
    for (rows, expected) in [(0, 0), (1, 1), (4, 4), (5, 5), (30, 5), (51, 6), (200, 20)] {
        let mut results = one.clone();
        results.rows = vec![one.rows[0].clone(); rows];
        let sampled = sample(&results, false);
        assert_eq!(sampled.len(), expected, "{rows}");
        assert!(sampled.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(sampled.iter().all(|&row| row < rows));
    }
}

#[test]
fn damaged_results_are_refused_with_reasons() {
    let lab = Lab::new();
    let results = lab
        .experiment(Stop::Runs { runs: 3 }, 1)
        .run(None, &())
        .unwrap();
    let text = results.to_text();
    assert_eq!(Results::parse(&text).unwrap(), results);
    let cut = &text[..text.len() / 2];
    let error = |text: &str| Results::parse(text).unwrap_err().to_string();
    assert!(error(cut).contains("no results that can be read"));
    assert!(error("").contains("no results that can be read"));
    for (from, to, expected) in [
        (
            "roadwright-results",
            "else",
            "expected \"roadwright-results\"",
        ),
        ("\"version\": 1", "\"version\": 9", "newer"),
        ("\"seed\":2", "\"seed\":7", "row 2 (seed 7)"),
        ("\"drives\":1", "\"drives\":0", "row 1"),
        ("\"completed\":0", "\"completed\":1", "completed"),
        ("\"runs\":3", "\"runs\":0", "head.stop"),
        ("\"machine\"", "\"speed\": 3, \"machine\"", "speed"),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from}");
        let error = error(&damaged);
        assert!(error.contains(expected), "{to}: {error}");
    }
    let lines = results.to_csv();
    assert_eq!(lines.lines().count(), 4);
    assert!(lines.lines().nth(1).unwrap().starts_with("\"arena\","));
}

#[test]
fn one_run_has_no_interval_and_watched_ones_have_wider_ones() {
    let lab = Lab::new();
    let summary = |stop| {
        let results = lab.experiment(stop, 2).run(None, &()).unwrap();
        Summary::of(&results).unwrap()
    };
    let one = summary(Stop::Runs { runs: 1 });
    assert_eq!((one.fitness.interval, one.fitness.method), (None, None));
    assert_eq!(one.completed_share.interval, None);
    let watched = summary(WATCHED);
    let fixed = summary(Stop::Runs { runs: watched.runs });
    assert_eq!(watched.fitness.mean, fixed.fitness.mean);
    let width = |summary: &Summary| {
        let [low, high] = summary.fitness.interval.unwrap();
        high - low
    };
    assert!(width(&watched) > 1.1 * width(&fixed));
    let json = serde_json::to_value(&fixed).unwrap();
    assert_eq!(json["fitness"]["method"], "student_t");
    assert_eq!(json["completed_share"]["method"], "wilson");
    let json = serde_json::to_value(&watched).unwrap();
    assert_eq!(json["fitness"]["method"], "asymptotic_sequence");
    assert_eq!(json["completed_share"]["method"], "betting_sequence");
    for key in ["runs", "completed", "fitness", "hash"] {
        assert!(!json[key].is_null(), "{key}");
    }
    for key in [
        "mean",
        "standard_deviation",
        "standard_error",
        "interval",
        "level",
    ] {
        assert!(!json["fitness"][key].is_null(), "{key}");
    }
}

#[test]
fn seeds_and_levels_out_of_range_are_refused() {
    let lab = Lab::new();
    let last = Experiment {
        first_seed: u64::MAX,
        ..lab.experiment(Stop::Runs { runs: 2 }, 1)
    };
    assert!(matches!(
        last.run(None, &()),
        Err(ExperimentError::Seeds { .. })
    ));
    for level in [0.0, 1.0, -1.0, f64::NAN] {
        let experiment = Experiment {
            level,
            ..lab.experiment(Stop::Runs { runs: 2 }, 1)
        };
        assert!(experiment.run(None, &()).is_err(), "{level}");
    }
    let unknown = Setup {
        fitness: Some(vec![ModuleSetting::new("beauty")]),
        ..Setup::default()
    };
    let experiment = Experiment {
        setup: &unknown,
        ..lab.experiment(Stop::Runs { runs: 2 }, 1)
    };
    let error = experiment.run(None, &()).unwrap_err().to_string();
    assert!(
        error.contains("beauty") && error.contains("crash_and_speed"),
        "{error}"
    );
    let none = Setup {
        fitness: Some(Vec::new()),
        ..Setup::default()
    };
    let experiment = Experiment {
        setup: &none,
        ..lab.experiment(Stop::Runs { runs: 2 }, 1)
    };
    assert!(experiment.run(None, &()).is_err());
}
