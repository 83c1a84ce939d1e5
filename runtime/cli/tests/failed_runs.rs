//! Runs in which a module failed must never count as results.
#![cfg(unix)]

use crate::evil::{ID, folder, roadwright, told};
use roadwright_training::experiment::Results;
use roadwright_training::genetic::Record;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

const PLUGINS: [&str; 3] = ["--plugins", "plugins", "--trust-plugins"];

/// Runs the program with a plugin that has the given misbehaviour.
fn call(folder: &Path, evil: &str, words: &str) -> Output {
    let words: Vec<&str> = words.split(' ').collect();
    roadwright(folder, evil, &[&words[..], &PLUGINS].concat())
}

fn code_of(output: &Output, expected: i32) {
    assert_eq!(output.status.code(), Some(expected), "{}", told(output));
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the lines on standard error that report runs without a result.
fn named(output: &Output) -> Vec<String> {
    let lines = told(output);
    let lines = lines.lines().filter(|line| line.ends_with("; no result"));
    lines.map(str::to_owned).collect()
}

fn bench(course: &str) -> String {
    format!("bench run {course} --use controller={ID} --runs 12 --out rows.json --json")
}

#[test]
fn a_run_with_a_module_that_failed_is_named_and_is_in_no_figure() {
    let folder = folder();
    let read = || std::fs::read_to_string(folder.path().join("rows.json")).unwrap();
    // Both twins drive alike, but the other one fails on some seeds.
    let sound = call(folder.path(), "", &bench("pendulum"));
    code_of(&sound, 0);
    let sound = Results::parse(&read()).unwrap();
    assert_eq!(sound.failures().len(), 0);
    std::fs::rename(
        folder.path().join("rows.json"),
        folder.path().join("sound.json"),
    )
    .unwrap();
    let output = call(folder.path(), "nan by chance", &bench("pendulum"));
    code_of(&output, 1);
    let results = Results::parse(&read()).unwrap();
    let failures = results.failures();
    assert!((2..11).contains(&failures.len()), "{failures:?}");
    let lines: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert_eq!(named(&output), lines);
    for line in &lines {
        assert!(line.contains(&format!(": {ID} failed at ")), "{line}");
    }
    // The other runs are the same as without failures, and figures use only them.
    let mut left = Vec::new();
    for (row, twin) in results.rows.iter().zip(&sound.rows) {
        if row.failed.is_none() {
            assert_eq!(row, twin);
            left.extend(row.fitness);
        }
    }
    let found = document(&output);
    let mean = left.iter().sum::<f64>() / left.len() as f64;
    let reported = found["fitness"]["mean"].as_f64().unwrap();
    assert!((reported - mean).abs() < 1e-9, "{reported} {mean}");
    assert_eq!(found["runs"], left.len());
    assert_eq!(found["failed"], failures.len());
    assert_eq!(found["failures"].as_array().unwrap().len(), failures.len());
    let table = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    assert_eq!(
        table.matches(&format!("\"{ID} failed")).count(),
        failures.len()
    );
    // The experiment resumes and ends with the same rows.
    let again = call(folder.path(), "nan by chance", &bench("pendulum"));
    code_of(&again, 1);
    assert_eq!(document(&again), found);
    // A failed row has to fail again.
    let verify = |evil| call(folder.path(), evil, "bench verify rows.json");
    code_of(&verify("nan by chance"), 0);
    code_of(&verify(""), 1);
    // Comparisons are refused, because failures are not random.
    for words in ["rows.json sound.json", "sound.json rows.json"] {
        let words = format!("bench compare {words}");
        let call = |words: &str| {
            let words: Vec<&str> = words.split(' ').collect();
            roadwright(folder.path(), "", &words)
        };
        let refused = call(&words);
        code_of(&refused, 2);
        assert!(told(&refused).contains("--without-failed"));
        let compared = call(&format!("{words} --without-failed --json"));
        code_of(&compared, 0);
        let compared = &document(&compared)["comparisons"][0];
        assert_eq!(compared["pairs"], left.len());
    }
    let until = "bench run pendulum --use controller=idm --until-difference rows.json --min-runs 2";
    code_of(&call(folder.path(), "", until), 2);
    let until = format!("{until} --without-failed");
    code_of(&call(folder.path(), "", &until), 0);
}

#[test]
fn an_experiment_that_fails_in_every_run_ends_with_two_and_writes_nothing() {
    for (course, evil) in [("parking", "soon nan"), ("arena", "soon panic")] {
        let folder = folder();
        let output = call(folder.path(), evil, &bench(course));
        code_of(&output, 2);
        let said = told(&output);
        assert!(said.contains("all 12 runs failed"), "{said}");
        assert!(said.contains(&format!("{ID} failed at ")), "{said}");
        assert!(output.stdout.is_empty());
        for file in ["rows.json", "rows.csv"] {
            assert!(!folder.path().join(file).exists(), "{file}");
        }
    }
    // A missing plugin stops the command before the first run.
    let folder = folder();
    std::fs::remove_file(folder.path().join("plugins/chaos.so")).unwrap();
    code_of(&call(folder.path(), "", &bench("pendulum")), 2);
    assert!(!folder.path().join("rows.json").exists());
}

#[test]
fn a_script_that_faults_in_a_run_is_no_driver() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = folder.path().join("scripts");
    std::fs::create_dir(&scripts).unwrap();
    // Drives of the arena end before or after this time, depending on their starts.
    let text = "fn behave(agent) {\n  if agent.time > 70.0 { throw \"tired\"; }\n}\n";
    std::fs::write(scripts.join("tired.rhai"), text).unwrap();
    let words = "bench run arena --use controller=pursuit --use behaviour=tired.rhai --runs 8 --scripts scripts \
                 --json";
    let words: Vec<&str> = words.split(' ').collect();
    let output = roadwright(folder.path(), "", &words);
    code_of(&output, 1);
    let found = document(&output);
    let failed = found["failures"].as_array().unwrap();
    assert!((1..8).contains(&failed.len()), "{found}");
    for failure in failed {
        let reason = failure["reason"].as_str().unwrap();
        assert!(
            reason.contains("tired.rhai failed at 70.") && reason.contains("tired)"),
            "{reason}"
        );
    }
    assert_eq!(named(&output).len(), failed.len());
}

/// Creates a folder with an experiment and its script, whose behaviour fails after some time, s.
fn experiment(patience: f64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{
  "format": "roadwright-experiment",
  "version": 1,
  "course": "arena",
  "stack": {"planner": {"module": "route"}, "behaviour": {"module": "tired.rhai"},
    "controller": {"module": "fuzzy_driver"}, "fitness": {"module": "arena_score"}},
  "genes": ["fuzzy_driver.rule_avoid_*"],
  "seeds": {"train": [5, 50], "validate": [101, 101], "test": [201, 206]},
  "operators": {"n": 3},
  "runs": 1,
  "stop": {"generations": 2}
}
"#;
    std::fs::write(folder.path().join("x.experiment.json"), text).unwrap();
    let scripts = folder.path().join("scripts");
    std::fs::create_dir(&scripts).unwrap();
    let text =
        format!("fn behave(agent) {{ if agent.time > {patience:?} {{ throw \"tired\"; }} }}");
    std::fs::write(scripts.join("tired.rhai"), text).unwrap();
    folder
}

/// Runs `train` with the script.
fn train(folder: &Path, words: &str) -> Output {
    let words: Vec<&str> = words.split(' ').collect();
    roadwright(
        folder,
        "",
        &[&words[..], &["--scripts", "scripts"]].concat(),
    )
}

#[test]
fn a_champion_that_fails_on_a_test_course_says_so() {
    let folder = experiment(120.0);
    let output = train(folder.path(), "train x.experiment.json --out r.json --json");
    code_of(&output, 1);
    let found = document(&output);
    let failed = found["held_out"]["failed"].as_u64().unwrap();
    assert!((1..6).contains(&failed), "{found}");
    let lines = named(&output);
    let of_champion = |line: &&String| line.starts_with("the champion: seed 20");
    assert_eq!(
        lines.iter().filter(of_champion).count() as u64,
        failed,
        "{lines:?}"
    );
    let text = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let record = Record::from_text(&text).unwrap();
    let held_out = record.champion.unwrap().held_out;
    let without = held_out.iter().filter(|score| score.is_none()).count();
    assert_eq!(without as u64, failed);
    let compare = |more: &[&str]| {
        let words = ["train", "compare", "r.json", "r.json"];
        roadwright(folder.path(), "", &[&words, more].concat())
    };
    let refused = compare(&[]);
    code_of(&refused, 2);
    assert!(told(&refused).contains("--without-failed"));
    code_of(&compare(&["--without-failed"]), 0);
    code_of(&train(folder.path(), "train verify r.json"), 0);
    // Comparing it alone or on a front is refused as well.
    for words in ["train compare r.json", "train front r.json --last 1"] {
        let refused = train_or_compare(folder.path(), words);
        code_of(&refused, 2);
        assert!(told(&refused).contains("--without-failed"), "{words}");
    }
    let alone = train_or_compare(folder.path(), "train compare r.json --without-failed");
    code_of(&alone, 0);
    let says = format!("the champion failed on {failed} of 6 test courses");
    let shown = String::from_utf8_lossy(&alone.stdout).into_owned();
    assert!(shown.starts_with(&says), "{shown}");
    let front = "train front r.json --last 1 --without-failed --json";
    let front = train(folder.path(), front);
    code_of(&front, 0);
    let front = document(&front);
    let left_out = front["failed"].as_u64().unwrap();
    assert!(left_out >= failed, "{front}");
    for driver in front["drivers"].as_array().unwrap() {
        assert_eq!(driver["runs"].as_u64().unwrap() + left_out, 6, "{driver}");
        assert_eq!(driver["drives"], driver["runs"], "one vehicle a run");
    }
}

/// Runs the program, with the script if the command accepts scripts.
fn train_or_compare(folder: &Path, words: &str) -> Output {
    if words.starts_with("train compare") {
        let words: Vec<&str> = words.split(' ').collect();
        return roadwright(folder, "", &words);
    }
    train(folder, words)
}

/// Changes the script without changing its behaviour.
fn rebuild(folder: &Path) {
    let path = folder.join("scripts/tired.rhai");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("// Another build.\n{text}")).unwrap();
}

#[test]
fn finished_results_are_not_shown_for_a_changed_script() {
    let folder = experiment(1000.0);
    let run = "bench run arena --use controller=pursuit --use behaviour=tired.rhai --runs 3 --out rows.json";
    code_of(&train(folder.path(), run), 0);
    let read = || std::fs::read_to_string(folder.path().join("rows.json")).unwrap();
    let before = read();
    let again = train(folder.path(), run);
    code_of(&again, 0);
    assert_eq!(read(), before);
    rebuild(folder.path());
    let refused = train(folder.path(), run);
    code_of(&refused, 2);
    let said = told(&refused);
    assert!(
        said.contains("the results were made with behaviour tired.rhai"),
        "{said}"
    );
    assert_eq!(read(), before);
}

#[test]
fn a_training_goes_on_with_the_same_script_only() {
    let folder = experiment(1000.0);
    let resume = "train x.experiment.json --out r.json --resume --quiet";
    code_of(&train(folder.path(), resume), 0);
    let read = || std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let finished = read();
    let record = Record::from_text(&finished).unwrap();
    let modules = record.modules.unwrap();
    assert!(
        modules.len() == 1 && modules[0].starts_with("behaviour tired.rhai "),
        "{modules:?}"
    );
    let path = folder.path().join("r.json");
    let written = || std::fs::metadata(&path).unwrap().modified().unwrap();
    let first = written();
    code_of(&train(folder.path(), resume), 0);
    assert_eq!((read(), written()), (finished.clone(), first));
    rebuild(folder.path());
    let longer = format!("{resume} --generations 3");
    for words in [resume, &longer, "train verify r.json"] {
        let refused = train(folder.path(), words);
        code_of(&refused, 2);
        let said = told(&refused);
        assert!(
            said.contains("the record was made with behaviour tired.rhai"),
            "{words}: {said}"
        );
        assert_eq!(read(), finished, "{words}");
    }
}

#[test]
fn a_training_in_which_everybody_fails_ends_with_two_and_keeps_nothing() {
    let folder = experiment(1.0);
    let output = train(folder.path(), "train x.experiment.json --out r.json --json");
    code_of(&output, 2);
    let said = told(&output);
    assert!(
        said.contains("every individual of the first generation failed"),
        "{said}"
    );
    assert!(!folder.path().join("r.json").exists());
}

#[test]
fn a_league_counts_the_runs_that_failed() {
    let folder = folder();
    let words = format!("bench league parking --controller {ID} --runs 12 --json");
    for (evil, code) in [("", 0), ("nan by chance", 1), ("soon nan", 2)] {
        let output = call(folder.path(), evil, &words);
        code_of(&output, code);
        if code == 2 {
            continue;
        }
        let table = document(&output);
        let rows = table.as_array().unwrap();
        let own = rows.iter().find(|row| row["controller"] == ID).unwrap();
        let failed = own["failed"].as_u64().unwrap();
        assert_eq!(failed > 0, code == 1, "{own}");
        assert_eq!(own["runs"].as_u64().unwrap() + failed, 12);
        let mut others = rows.iter().filter(|row| row["controller"] != ID);
        assert!(others.all(|row| row["failed"] == 0));
    }
}

/// The expected reaction of a command to a plugin that misbehaves in every run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    /// A result is written.
    Result,
    /// There is no result: exit code 2, and nothing is written.
    Nothing,
}

/// Kinds of misbehaviour, each given by a switch (empty for a plugin that behaves well), whether the plugin
/// is isolated, and the verdict.
const KINDS: [(&str, bool, Verdict); 14] = [
    ("", false, Verdict::Result),
    ("", true, Verdict::Result),
    // Allowed by the interface.
    ("keep", false, Verdict::Result),
    ("soon brake hard", false, Verdict::Result),
    // Unusable answers.
    ("soon nan", false, Verdict::Nothing),
    ("soon one nan", false, Verdict::Nothing),
    ("soon panic", false, Verdict::Nothing),
    ("status 3", false, Verdict::Nothing),
    ("soon return fatal", false, Verdict::Nothing),
    ("soon return -1", false, Verdict::Nothing),
    // The process of the command or of the plugin ends.
    ("soon _exit 0", false, Verdict::Nothing),
    ("soon null", false, Verdict::Nothing),
    ("soon abort", true, Verdict::Nothing),
    ("soon exit 0", true, Verdict::Nothing),
];

/// Writes an experiment that trains parameters that do not affect parking, so that only the plugin
/// matters.
fn plugin_experiment(folder: &Path) {
    let text = format!(
        r#"{{
  "format": "roadwright-experiment",
  "version": 1,
  "course": "parking",
  "stack": {{"planner": {{"module": "route"}}, "behaviour": {{"module": "lane_keeper"}},
    "controller": {{"module": "{ID}"}}, "fitness": {{"module": "manoeuvre_score"}}}},
  "genes": ["route.turn_time"],
  "seeds": {{"train": [1, 9], "validate": [101, 101], "test": [201, 202]}},
  "operators": {{"n": 2}},
  "runs": 1,
  "stop": {{"generations": 1}}
}}
"#
    );
    std::fs::write(folder.join("x.experiment.json"), text).unwrap();
}

#[test]
fn ten_kinds_of_misbehaviour_are_no_results_of_bench_train_and_league() {
    let mut surprises = Vec::new();
    for (evil, is_isolated, verdict) in KINDS {
        for (words, file) in [
            (
                format!("bench run parking --use controller={ID} --runs 3 --out rows.json --json"),
                Some("rows.json"),
            ),
            (
                "train x.experiment.json --out r.json --json".to_owned(),
                Some("r.json"),
            ),
            (
                format!("bench league parking --controller {ID} --runs 3 --json"),
                None,
            ),
        ] {
            // A new folder each time, because a disabled plugin is marked beside its file.
            let folder = folder();
            plugin_experiment(folder.path());
            let isolate = if is_isolated {
                format!(" --isolate {ID}")
            } else {
                String::new()
            };
            let output = call(folder.path(), evil, &format!("{words}{isolate}"));
            let file = file.map(|file| folder.path().join(file));
            // An interrupted training may leave a record without a judged individual.
            let kept = file.as_ref().is_some_and(|file| {
                let text = std::fs::read_to_string(file).unwrap_or_default();
                let document: Value = serde_json::from_str(&text).unwrap_or_default();
                !document["rows"].is_null() || !document["champion"].is_null()
            });
            let found = (output.status.code(), output.stdout.is_empty(), kept);
            let expected = match verdict {
                Verdict::Result => (Some(0), false, file.is_some()),
                Verdict::Nothing => (Some(2), true, false),
            };
            let is_named = verdict == Verdict::Result || told(&output).contains(ID);
            if found != expected || !is_named {
                surprises.push(format!(
                    "\"{evil}\" isolated {is_isolated}, {words}: {found:?} instead of {expected:?}\n{}",
                    told(&output)
                ));
            }
        }
    }
    assert_eq!(surprises, Vec::<String>::new(), "{}", surprises.join("\n"));
}
