use super::*;
use crate::experiment::Summary;
use roadwright_scenario::{ModuleSetting, Stack};
use roadwright_simulation::builtin_modules;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns a short course: the arena with a time limit of half a minute.
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

    fn experiment(&self, stop: Stop, threads: usize) -> RunSeries<'_> {
        RunSeries {
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

/// A watcher that stops after a number of runs.
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
    // The experiment stopped at the first number of runs with sufficient precision, which is not at
    // the end of a batch.
    let fitnesses = watched.fitnesses();
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
        // The results pass through a file, as they do for users.
        let read = Results::parse(&part.to_text()).unwrap();
        assert_eq!(read, part);
        let done = lab.experiment(WATCHED, 2).run(Some(read), &()).unwrap();
        assert_eq!(done, whole);
    }
    // Finished results are not run again.
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

/// Returns the indices of all rows.
fn all_of(results: &Results) -> Vec<usize> {
    (0..results.rows.len()).collect()
}

#[test]
fn a_changed_row_is_found() {
    let lab = Lab::new();
    let experiment = lab.experiment(Stop::Runs { runs: 7 }, 2);
    let results = experiment.run(None, &()).unwrap();
    let all = all_of(&results);
    assert_eq!(experiment.run_again(&results, &all, &()).unwrap(), []);
    for (name, change) in [
        (
            "fitness",
            (|row: &mut RunRow| row.fitness = row.fitness.map(f64::next_up)) as fn(&mut RunRow),
        ),
        ("time", |row| row.time += 1e-9),
        ("hash", |row| row.hash = "0123456789abcdef".into()),
        ("failed", |row| {
            *row = RunRow::failed(row.seed, "bad luck".into())
        }),
    ] {
        let mut changed = results.clone();
        change(&mut changed.rows[3]);
        assert!(changed.check_hash().is_err(), "{name}");
        let found = experiment.run_again(&changed, &all, &()).unwrap();
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
fn rows_that_do_not_follow_from_the_rule_are_found() {
    let lab = Lab::new();
    for stop in [Stop::Runs { runs: 20 }, WATCHED] {
        let experiment = lab.experiment(stop, 2);
        let results = experiment.run(None, &()).unwrap();
        assert_eq!(experiment.check(&results).unwrap(), Vec::<String>::new());
        let row = results.rows[results.rows.len() - 1].clone();
        for (name, change, expected) in [
            (
                "cut",
                (|results: &mut Results| drop(results.rows.pop())) as fn(&mut Results),
                "stopped:",
            ),
            (
                "cut and unfinished",
                |results| {
                    results.rows.pop();
                    results.stopped = None;
                },
                "not finished",
            ),
            ("none", |results| results.rows.clear(), "no rows"),
            (
                "another end",
                |results| {
                    let other = results.stopped == Some(Stopped::Runs);
                    results.stopped = Some(if other {
                        Stopped::Reached
                    } else {
                        Stopped::Runs
                    });
                },
                "stopped:",
            ),
            (
                "direction",
                |results| results.head.lower_is_better = !results.head.lower_is_better,
                "lower_is_better",
            ),
            (
                "content",
                |results| results.head.course_hash.clear(),
                "course_hash",
            ),
        ] {
            let mut forged = results.clone();
            change(&mut forged);
            forged.seal();
            let wrong = experiment.check(&forged).unwrap();
            assert_eq!(wrong.len(), 1, "{name}: {wrong:?}");
            assert!(wrong[0].contains(expected), "{name}: {wrong:?}");
        }
        let mut longer = results.clone();
        longer.rows.push(RunRow {
            seed: row.seed + 1,
            ..row
        });
        longer.seal();
        let wrong = experiment.check(&longer).unwrap();
        assert!(
            wrong[0].contains("the stopping rule ends with row"),
            "{wrong:?}"
        );
    }
}

#[test]
fn files_of_version_1_are_read_and_say_what_their_hash_does_not_cover() {
    let lab = Lab::new();
    let experiment = lab.experiment(Stop::Runs { runs: 3 }, 1);
    let results = experiment.run(None, &()).unwrap();
    let text = results.to_text();
    let seal = format!("\"seal\": \"{}\",\n", results.seal);
    let old = text
        .replacen("\"version\": 2", "\"version\": 1", 1)
        .replacen(&seal, "", 1);
    let old = Results::parse(&old).unwrap();
    assert!(old.check_hash().is_ok() && !old.is_sealed() && results.is_sealed());
    assert_eq!(experiment.check(&old).unwrap(), Vec::<String>::new());
    // Continuing such results writes the current version.
    assert_eq!(experiment.run(Some(old.clone()), &()).unwrap(), results);
    // In version 1, no hash covers the head. In the current version, the seal covers it.
    for (mut results, is_found) in [(old, false), (results, true)] {
        results.head.level = 0.5;
        assert_eq!(results.check_hash().is_err(), is_found);
        results.machine = "toaster".into();
        assert_eq!(results.check_hash().is_err(), is_found);
    }
}

#[test]
fn a_draw_is_a_sample_and_its_risk_is_that_of_an_urn() {
    let order = draw(40, 7);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..40).collect::<Vec<_>>());
    assert_eq!(order, draw(40, 7));
    assert_ne!(order, draw(40, 8));
    let near = |is: f64, expected: f64| assert!((is - expected).abs() < 1e-12, "{is} {expected}");
    // One of 30 rows is forged and five are drawn: it escapes in 25 of 30 cases.
    near(escape_chance(30, 1, 5), 25.0 / 30.0);
    // 20 of 30 rows are forged and five are drawn: C(10, 5) / C(30, 5).
    near(escape_chance(30, 20, 5), 252.0 / 142_506.0);
    near(escape_chance(30, 0, 5), 1.0);
    near(escape_chance(30, 1, 30), 0.0);
    near(escape_chance(30, 26, 5), 0.0);
    near(escape_chance(0, 0, 0), 1.0);
    for count in [0, 1, 4, 5, 30, 51, 200, 10_000] {
        let enough = enough_rows(count);
        assert!(enough >= count.min(5) && enough <= count, "{count}");
        let risk = escape_chance(count, tenth(count), enough);
        assert!(count == 0 || risk <= 0.05, "{count}: {risk}");
        if enough > 5 && enough < count {
            let less = escape_chance(count, tenth(count), enough - 1);
            assert!(less > 0.05, "{count}: {less}");
        }
    }
    assert!((28..40).contains(&enough_rows(10_000)));
}

#[test]
fn rows_that_failed_are_counted_and_are_in_no_figure() {
    let lab = Lab::new();
    let experiment = lab.experiment(Stop::Runs { runs: 12 }, 2);
    let whole = experiment.run(None, &()).unwrap();
    let mut failing = whole.clone();
    for index in [2, 5] {
        let seed = failing.rows[index].seed;
        failing.rows[index] = RunRow::failed(seed, "com.example.x failed at 0.2 s (panic)".into());
    }
    failing.seal();
    let read = Results::parse(&failing.to_text()).unwrap();
    assert_eq!(read, failing);
    assert_eq!(experiment.check(&read).unwrap(), Vec::<String>::new());
    let summary = Summary::of(&read).unwrap();
    assert_eq!((summary.runs, summary.failed, summary.drives), (10, 2, 10));
    assert_eq!(
        summary.failures[0].to_string(),
        "seed 3: com.example.x failed at 0.2 s (panic); no result"
    );
    let kept = |index: &usize| ![2, 5].contains(index);
    let fitnesses = whole.fitnesses();
    let left: Vec<f64> = (0..12).filter(kept).map(|index| fitnesses[index]).collect();
    assert_eq!(read.fitnesses(), left);
    assert_eq!(summary.fitness.mean, Moments::of(&left).mean());
    assert_eq!(pairs(&whole, &read).unwrap().len(), 10);
    assert_eq!(pairs(&read, &whole).unwrap().len(), 10);
    let table = read.to_csv();
    let failed = table.lines().nth(3).unwrap();
    assert!(
        failed.ends_with(",3,0,0,,,,,\"com.example.x failed at 0.2 s (panic)\""),
        "{failed}"
    );
    // A failed row with values is rejected.
    let text = failing.to_text();
    let forged = text.replacen("\"fitness\":null", "\"fitness\":1.5", 1);
    let error = Results::parse(&forged).unwrap_err().to_string();
    assert!(
        error.contains("row 3 (seed 3): it failed but has values"),
        "{error}"
    );
    // A failed row has to fail again, but this module does not fail.
    let different = experiment.run_again(&read, &all_of(&read), &()).unwrap();
    assert_eq!(different.len(), 2);
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
    assert!(error(cut).contains("cannot be read as results"));
    assert!(error("").contains("cannot be read as results"));
    for (format, expected) in [
        ("scenario", "this is a scenario; expected a results file"),
        (
            "training",
            "this is a training record; expected a results file",
        ),
        (
            "experiment",
            "this is an experiment; expected a results file",
        ),
    ] {
        let text = format!("{{\"format\": \"roadwright-{format}\", \"about\": 3}}");
        assert_eq!(error(&text), expected);
    }
    for (from, to, expected) in [
        (
            "roadwright-results",
            "else",
            "the format is \"else\"; expected a results file",
        ),
        ("\"version\": 2", "\"version\": 9", "newer"),
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
    let last = RunSeries {
        first_seed: u64::MAX,
        ..lab.experiment(Stop::Runs { runs: 2 }, 1)
    };
    assert!(matches!(
        last.run(None, &()),
        Err(ExperimentError::Seeds { .. })
    ));
    for level in [0.0, 1.0, -1.0, f64::NAN] {
        let experiment = RunSeries {
            level,
            ..lab.experiment(Stop::Runs { runs: 2 }, 1)
        };
        assert!(experiment.run(None, &()).is_err(), "{level}");
    }
    let unknown = Setup {
        fitness: Some(vec![ModuleSetting::new("beauty")]),
        ..Setup::default()
    };
    let experiment = RunSeries {
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
    let experiment = RunSeries {
        setup: &none,
        ..lab.experiment(Stop::Runs { runs: 2 }, 1)
    };
    assert!(experiment.run(None, &()).is_err());
}
