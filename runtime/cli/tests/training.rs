//! Tests of `roadwright train` and its error messages.
#![cfg(unix)]

use crate::common::{command, roadwright};
use roadwright_editor::experiment::{Phase, Trainer};
use roadwright_simulation::builtin_modules;
use roadwright_testing::{is_slow, scaled};
use roadwright_training::genetic::{Experiment, Record};
use serde_json::Value;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

const PAGE: &str = include_str!("../../../docs/training.md");

/// A training experiment in the arena that runs for a few seconds.
const SMALL: &str = r#"{
  "format": "roadwright-experiment",
  "version": 1,
  "course": "arena",
  "stack": "fuzzy_driver",
  "genes": ["fuzzy_driver.rule_avoid_*"],
  "seeds": {"train": [1, 50], "validate": [101, 102], "test": [201, 203]},
  "operators": {"n": 3},
  "runs": 2,
  "stop": {"generations": 4}
}
"#;

fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn small() -> tempfile::TempDir {
    folder_with("small.experiment.json", SMALL)
}

fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(output: &Output, expected: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(expected), "{said}\nexpected {expected}");
}

fn train(folder: &Path, words: &[&str]) -> Output {
    let all = [&["train", "small.experiment.json"], words].concat();
    roadwright(folder, &all)
}

#[test]
fn the_window_trains_to_the_same_pool_and_champion() {
    let folder = small();
    let printed = document(&train(folder.path(), &["--json"]));
    let experiment = Experiment::from_text(SMALL).unwrap();
    let trainer = Trainer::start(experiment, None, builtin_modules(), || ());
    while trainer.picture().phase.is_busy() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let seen = trainer.picture();
    assert_eq!(printed["pool_hash"], seen.pool_hash);
    let verdict = seen.verdict.as_ref().unwrap();
    assert_eq!(printed["held_out"]["hash"], verdict.held_out.hash);
    assert_eq!(printed["start"]["hash"], verdict.start.hash);
    let genome = seen.problem.as_ref().unwrap().genome();
    let genes = genome.print(&verdict.champion.genes);
    assert_eq!(printed["champion"]["genes"], genes);
    // The command line can resume the record from the window.
    let mut record = Record::clone(seen.record.as_ref().unwrap());
    std::fs::write(folder.path().join("r.json"), record.to_text()).unwrap();
    let more = [
        "--json",
        "--generations",
        "6",
        "--resume",
        "--out",
        "r.json",
    ];
    let resumed = document(&train(folder.path(), &more));
    let whole = document(&train(folder.path(), &["--json", "--generations", "6"]));
    assert_eq!(resumed["pool_hash"], whole["pool_hash"]);
    assert_ne!(resumed["pool_hash"], printed["pool_hash"]);
}

#[test]
fn an_experiment_that_the_window_makes_passes_the_check() {
    let mut experiment = Experiment::new("arena", "fuzzy_driver");
    experiment.genes = vec!["fuzzy_driver.rule_*".into()];
    let folder = folder_with("made.experiment.json", &experiment.to_text());
    let checked = roadwright(folder.path(), &["check", "made.experiment.json"]);
    let said = String::from_utf8_lossy(&checked.stdout);
    assert_eq!(said, "no problems found\n");
}

#[test]
fn who_was_struck_out_in_the_window_is_told_of_on_the_command_line() {
    let folder = small();
    let experiment = Experiment::from_text(SMALL).unwrap();
    let trainer = Trainer::start(experiment, None, builtin_modules(), || ());
    let wait = |done: fn(&Phase) -> bool| {
        while !done(&trainer.picture().phase) {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait(|phase| *phase == Phase::Over);
    let best = trainer.picture().best().unwrap().birth;
    trainer.strike_out(best);
    wait(|phase| *phase == Phase::Stopped);
    let mut record = Record::clone(trainer.picture().record.as_ref().unwrap());
    assert_eq!(record.struck_out(), 1);
    std::fs::write(folder.path().join("r.json"), record.to_text()).unwrap();
    let more = ["--generations", "5", "--resume", "--out", "r.json"];
    let said = train(folder.path(), &more);
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.contains("individuals struck out by hand: 1"), "{said}");
    let plain = train(folder.path(), &["--generations", "5"]);
    assert!(!String::from_utf8_lossy(&plain.stdout).contains("struck out"));
}

#[test]
fn the_document_has_its_keys_and_workers_change_none_of_it() {
    let folder = small();
    let one = document(&train(folder.path(), &["--json", "--workers", "1"]));
    for key in [
        "experiment",
        "generations",
        "champion",
        "held_out",
        "start",
        "difference",
        "manners",
        "pool_hash",
    ] {
        assert!(!one[key].is_null(), "{key}");
    }
    assert_eq!(one["experiment"], "small");
    assert_eq!(one["generations"].as_array().unwrap().len(), 4);
    for key in [
        "generation",
        "best",
        "mean",
        "pool_best",
        "ended_early",
        "runs",
    ] {
        assert!(one["generations"][0][key].is_number(), "{key}");
    }
    // The stack's own values and three children drive two courses each.
    assert_eq!(one["generations"][0]["runs"], 8);
    assert_eq!(one["champion"]["genes"].as_str().unwrap().len(), 18);
    assert_eq!(one["held_out"]["runs"], 3);
    let fitness = &one["held_out"]["fitness"];
    for key in ["mean", "standard_deviation", "standard_error", "level"] {
        assert!(fitness[key].is_number(), "{key}");
    }
    let end = |index: usize| fitness["interval"][index].as_f64().unwrap();
    let mean = fitness["mean"].as_f64().unwrap();
    assert!(end(0) <= mean && mean <= end(1), "{fitness}");
    // Three test courses with one drive each, regardless of their fitness.
    assert_eq!(one["manners"]["drives"], 3);
    let share = one["manners"]["above_limit"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&share), "{share}");
    let preset = &one["champion"]["preset"]["fuzzy_driver"];
    assert_eq!(preset.as_object().unwrap().len(), 18);
    let three = document(&train(folder.path(), &["--json", "--workers", "3"]));
    assert_eq!(one, three);
    let other = document(&train(folder.path(), &["--json", "--seed", "2"]));
    assert_ne!(one["pool_hash"], other["pool_hash"]);
}

#[test]
fn a_training_that_was_killed_goes_on_to_the_same_end() {
    let folder = small();
    let whole = document(&train(folder.path(), &["--json"]));
    let words = [
        "train",
        "small.experiment.json",
        "--out",
        "kept.json",
        "--resume",
        "--json",
    ];
    let record = folder.path().join("kept.json");
    let mut kills = 0;
    // Killed repeatedly at different moments, with different numbers of workers, until one run completes.
    for (number, milliseconds) in [0, 300, 600, 900, 1300, 2000].into_iter().enumerate() {
        let workers = (number % 3 + 1).to_string();
        let mut child = command(folder.path(), &words)
            .args(["--workers", &workers])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        // SIGKILL leaves no opportunity to clean up.
        child.kill().unwrap();
        kills += usize::from(!child.wait().unwrap().success());
        if record.exists() {
            let text = std::fs::read_to_string(&record).unwrap();
            assert!(text.ends_with("}\n"), "a record is whole or not there");
        }
    }
    assert!(kills > 0, "nothing was killed: the test shows nothing");
    let resumed = document(&roadwright(folder.path(), &words));
    assert_eq!(resumed, whole);
    // One more generation of a finished training run.
    let more = [&words[..], &["--generations", "5"]].concat();
    let more = document(&roadwright(folder.path(), &more));
    assert_eq!(more["generations"].as_array().unwrap().len(), 5);
    assert_eq!(more["generations"][3], whole["generations"][3]);
}

#[test]
fn resume_alone_keeps_its_record_beside_the_experiment() {
    let folder = small();
    let words = ["--resume", "--generations", "1", "--json"];
    let first = document(&train(folder.path(), &words));
    let record = folder.path().join("small.training.json");
    let written = std::fs::read_to_string(&record).unwrap();
    assert_eq!(document(&train(folder.path(), &words)), first);
    assert_eq!(std::fs::read_to_string(&record).unwrap(), written);
    let more = document(&train(folder.path(), &["--resume", "--json"]));
    assert_eq!(more["generations"][0], first["generations"][0]);
    assert_eq!(more["generations"].as_array().unwrap().len(), 4);
}

#[test]
fn held_out_runs_are_those_of_bench_and_a_fitness_says_which_way_is_better() {
    let folder = small();
    let trained = document(&train(folder.path(), &["--json"]));
    let run = "bench run arena --use controller=fuzzy_driver --runs 3 --seed 201 --json";
    let words: Vec<&str> = run.split(' ').collect();
    let bench = document(&roadwright(folder.path(), &words));
    // The baseline consists of the controller's own values.
    assert_eq!(trained["start"], bench);
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&trained["held_out"]), keys(&bench));
    // The score of the arena is in points, so the best individual of a generation has the most
    // points.
    assert_eq!(bench["lower_is_better"], false);
    for generation in trained["generations"].as_array().unwrap() {
        let number = |key: &str| generation[key].as_f64().unwrap();
        assert!(number("best") >= number("mean"), "{generation}");
        assert!(number("pool_best") >= number("best") - 1e-9, "{generation}");
    }
}

#[test]
fn a_manoeuvre_is_trained_from_random_gains() {
    let text = SMALL
        .replace("arena", "pendulum")
        .replace("fuzzy_driver.rule_avoid_*", "pole_balance.*")
        .replace("fuzzy_driver", "pole_balance")
        .replace(
            "{\"n\": 3}",
            "{\"n\": 8, \"r\": 0.5}, \"start\": \"random\"",
        )
        .replace("\"runs\": 2", "\"runs\": 4")
        .replace("\"generations\": 4", "\"generations\": 30");
    let folder = folder_with("small.experiment.json", &text);
    let trained = document(&train(folder.path(), &["--json"]));
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(
        number(&trained["generations"][0]["mean"]) > 10.0,
        "most random gains drop it"
    );
    assert_eq!(
        trained["held_out"]["completed"], 3,
        "{}",
        trained["held_out"]
    );
}

#[test]
fn records_that_do_not_fit_are_refused_with_the_reason() {
    let folder = small();
    let out = ["--out", "kept.json", "--generations", "1"];
    assert_eq!(train(folder.path(), &out).status.code(), Some(0));
    refused(&train(folder.path(), &out), "already exists");
    let resume = ["--out", "kept.json", "--resume"];
    refused(
        &train(folder.path(), &[&resume[..], &["--seed", "9"]].concat()),
        "the experiment file is different",
    );
    let record = folder.path().join("kept.json");
    let text = std::fs::read_to_string(&record).unwrap();
    let scores = text.find("\"scores\":[").unwrap() + 10;
    let mut damaged = text.clone();
    let digit = if &text[scores..=scores] == "9" {
        "8"
    } else {
        "9"
    };
    damaged.replace_range(scores..=scores, digit);
    std::fs::write(&record, &damaged).unwrap();
    refused(
        &train(folder.path(), &resume),
        "the record was damaged or changed",
    );
    std::fs::write(&record, &text[..text.len() / 2]).unwrap();
    refused(
        &train(folder.path(), &resume),
        "the file is not a training record",
    );
    // Another version of the course or of a module would lead to other candidates; here the courses
    // change.
    std::fs::write(&record, &text).unwrap();
    std::fs::write(
        folder.path().join("small.experiment.json"),
        SMALL.replace("\"train\": [1,", "\"train\": [2,"),
    )
    .unwrap();
    refused(
        &train(folder.path(), &resume),
        "the experiment file is different",
    );
}

#[test]
fn trained_values_are_compared_and_applied() {
    let folder = small();
    let out = ["--out", "kept.json", "--quiet"];
    let output = train(folder.path(), &out);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty());
    let compared = document(&roadwright(
        folder.path(),
        &["train", "compare", "kept.json", "--json"],
    ));
    assert_eq!(compared["genes"].as_array().unwrap().len(), 18);
    assert_eq!(
        compared["genes"][0]["gene"],
        "fuzzy_driver.rule_avoid_steer_narrow_near"
    );
    assert_eq!(compared["genes"][0]["before"], "SHARP");
    let scenario = crate::common::scenario("obstacle-field");
    let apply = |stack: &str| {
        let words = [
            "train",
            "apply",
            "kept.json",
            "--to",
            &scenario,
            "--stack",
            stack,
        ];
        roadwright(
            folder.path(),
            &[&words[..], &["--out", "trained.scenario.json"]].concat(),
        )
    };
    refused(
        &apply("nobody"),
        "expected one of: fuzzy_driver, idm, pursuit",
    );
    refused(&apply("idm"), "the stack does not use fuzzy_driver");
    // If the module is added first, it is trained as well.
    let put = |module: &str| {
        let words = [
            "train",
            "apply",
            "kept.json",
            "--to",
            &scenario,
            "--stack",
            "idm",
        ];
        let more = ["--out", "put.scenario.json", "--use", module];
        roadwright(folder.path(), &[&words[..], &more].concat())
    };
    refused(
        &put("controller=pursuit"),
        "the stack does not use fuzzy_driver",
    );
    refused(&put("controller=fuzzy_driver,idm"), "takes");
    assert_eq!(put("controller=fuzzy_driver").status.code(), Some(0));
    let text = std::fs::read_to_string(folder.path().join("put.scenario.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    let controller = &written["stacks"]["idm"]["controller"];
    assert_eq!(controller["module"], "fuzzy_driver");
    assert_eq!(controller["parameters"].as_object().unwrap().len(), 18);
    assert_eq!(apply("fuzzy_driver").status.code(), Some(0));
    let text = std::fs::read_to_string(folder.path().join("trained.scenario.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    let parameters = &written["stacks"]["fuzzy_driver"]["controller"]["parameters"];
    // Parameters that are not genes keep their values.
    assert_eq!(parameters["avoid_steering_gain"], 2.5);
    assert_eq!(
        parameters
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| key.starts_with("rule_avoid_"))
            .count(),
        18
    );
    let run = ["run", "trained.scenario.json", "--seconds", "5", "--json"];
    document(&roadwright(folder.path(), &run));
}

/// A training experiment in the forest that runs for a few seconds. Its vehicles lean, and posts fall over.
const FOREST: &str = r#"{
  "format": "roadwright-experiment",
  "version": 1,
  "course": "forest",
  "dynamics": "rigid",
  "stack": "fuzzy_mechanic",
  "genes": ["fuzzy_mechanic.rule_*"],
  "seeds": {"train": [1, 50], "validate": [101, 101], "test": [201, 202]},
  "operators": {"n": 2, "p": 1},
  "runs": 1,
  "stop": {"generations": 2}
}
"#;

#[test]
fn what_was_paid_for_being_fast_is_told_beside_the_time() {
    let folder = folder_with("small.experiment.json", FOREST);
    let out = ["--out", "kept.json", "--quiet"];
    assert_eq!(train(folder.path(), &out).status.code(), Some(0));
    let front = |words: &[&str]| {
        let words = [&["train", "front", "kept.json", "--last", "1"], words].concat();
        roadwright(folder.path(), &words)
    };
    let found = document(&front(&["--json", "--plots", "plots"]));
    let objectives = found["objectives"].as_array().unwrap().iter();
    let names: Vec<&str> = objectives
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["forest_score", "felled", "roll_margin"]);
    let drivers = found["drivers"].as_array().unwrap();
    // The first driver is on the front, and each dominated driver names another driver.
    assert!(drivers[0]["beaten_by"].is_null(), "{found}");
    for driver in drivers {
        assert_eq!(
            (
                &driver["runs"],
                driver["estimates"].as_array().unwrap().len()
            ),
            (&2.into(), 3)
        );
        let by = &driver["beaten_by"];
        assert!(by.is_null() || drivers.iter().any(|other| other["name"] == *by));
    }
    for file in ["front_felled.svg", "front_roll_margin.csv"] {
        assert!(folder.path().join("plots").join(file).is_file(), "{file}");
    }
    // Any number of workers gives the same result; without leaning, the fitness is the only
    // objective.
    let same = document(&front(&["--json", "--workers", "1"]));
    assert_eq!(found, same);
    let flat = document(&front(&[
        "--json",
        "--dynamics",
        "one_track",
        "--runs",
        "1",
    ]));
    assert_eq!(flat["objectives"].as_array().unwrap().len(), 1);
    refused(
        &front(&["--runs", "3"]),
        "the experiment has only 2 test courses",
    );
}

/// A script that drives at the speed of its parameter, and fails if that is too fast.
const SCRIPT: &str = r#"parameter("eagerness", 0.4, 0.0, 1.0, "", "Factor on the speed.");

fn behave(agent) {
    let eagerness = agent.parameter("eagerness");
    if eagerness > 0.8 { throw "too eager"; }
    agent.speed_factor = eagerness;
}
"#;

#[test]
fn a_script_is_trained_and_its_faults_cost_individuals_only() {
    let stack = r#"{"planner": {"module": "route"}, "behaviour": {"module": "eager.rhai"},
        "controller": {"module": "fuzzy_driver"}, "fitness": []}"#;
    let text = SMALL
        .replace("\"fuzzy_driver\"", stack)
        .replace("fuzzy_driver.rule_avoid_*", "eager.rhai.eagerness")
        .replace("\"n\": 3}", "\"n\": 6}, \"start\": \"random\"");
    let folder = folder_with("small.experiment.json", &text);
    std::fs::create_dir(folder.path().join("scripts")).unwrap();
    std::fs::write(folder.path().join("scripts/eager.rhai"), SCRIPT).unwrap();
    let output = train(folder.path(), &["--json"]);
    // Failed drives are not results, which the exit code shows.
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("eager.rhai failed at "), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let failed = |generation: &Value| generation["failed"].as_u64().unwrap();
    let generations = document["generations"].as_array().unwrap();
    assert!(
        generations.iter().map(failed).sum::<u64>() > 0,
        "{generations:?}"
    );
    let eagerness = &document["champion"]["preset"]["eager.rhai"]["eagerness"];
    assert!(
        (0.0..=0.8).contains(&eagerness.as_f64().unwrap()),
        "{eagerness}"
    );
}

#[test]
fn champions_are_compared_on_the_courses_that_both_were_judged_on() {
    let folder = small();
    let out = |words: &[&str]| assert_eq!(train(folder.path(), words).status.code(), Some(0));
    out(&["--out", "a.json", "--quiet"]);
    out(&["--out", "b.json", "--quiet", "--seed", "7"]);
    let others = SMALL.replace("[201, 203]", "[202, 204]");
    std::fs::write(folder.path().join("small.experiment.json"), others).unwrap();
    out(&["--out", "c.json", "--quiet"]);
    let compare = |words: &[&str]| {
        roadwright(
            folder.path(),
            &[&["train", "compare", "a.json", "--json"], words].concat(),
        )
    };
    let found = document(&compare(&["b.json", "a.json"]));
    let rows = found["others"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    // Compared with itself, a champion shows no difference, with p = 1.
    assert_eq!(
        (&rows[1]["difference"], &rows[1]["p_holm"]),
        (&0.0.into(), &1.0.into())
    );
    let held_out = |name: &str| {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        let scores = record["champion"]["held_out"].as_array().unwrap().clone();
        scores
            .iter()
            .map(|score| score.as_f64().unwrap())
            .sum::<f64>()
            / scores.len() as f64
    };
    let expected = held_out("a.json") - held_out("b.json");
    let difference = rows[0]["difference"].as_f64().unwrap();
    assert!(
        (difference - expected).abs() < 1e-12,
        "{difference} {expected}"
    );
    refused(&compare(&["c.json"]), "evaluated on other courses");
    refused(
        &compare(&["small.experiment.json"]),
        "the file is not a training record",
    );
}

#[test]
fn what_is_absurd_is_refused() {
    for (from, to, expected) in [
        ("\"arena\"", "\"moon\"", "unknown course \"moon\""),
        ("fuzzy_driver\",", "nobody\",", "unknown stack \"nobody\""),
        ("rule_avoid_*", "courage", "has no such parameter"),
        ("[\"fuzzy_driver.rule_avoid_*\"]", "[]", "nothing to train"),
        ("\"n\": 3", "\"n\": -1", "small.experiment.json:8"),
        ("\"n\": 3", "\"r\": 1e999", "small.experiment.json:8"),
        ("\"runs\": 2", "\"runs\": 2, \"walks\": 3", "walks"),
        (
            "\"runs\": 2",
            "\"runs\": 2, \"method\": \"cma_es\", \"vehicle\": \"raft\"",
            "raft",
        ),
        (
            "\"course\": \"arena\"",
            "\"scenario\": \"no.scenario.json\"",
            "no.scenario.json",
        ),
    ] {
        assert!(SMALL.contains(from), "{from}");
        let folder = folder_with("small.experiment.json", &SMALL.replace(from, to));
        refused(&train(folder.path(), &[]), expected);
    }
    let folder = small();
    refused(
        &train(folder.path(), &["--workers", "0"]),
        "--workers 0 is out of range",
    );
    refused(
        &train(folder.path(), &["--generations", "0"]),
        "generations",
    );
    refused(
        &train(folder.path(), &["--out", "nowhere/x.json"]),
        "cannot write nowhere/x.json",
    );
    refused(&roadwright(folder.path(), &["train"]), "EXPERIMENT");
    refused(
        &roadwright(folder.path(), &["train", "study", "love"]),
        "expected one of: chromosomes",
    );
    refused(
        &roadwright(
            folder.path(),
            &["train", "study", "parents", "--seeds", "1"],
        ),
        "error bar",
    );
}

/// Returns the shipped experiments.
fn shipped() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let names = std::fs::read_dir(folder).unwrap();
    let paths = names.map(|entry| entry.unwrap().path().display().to_string());
    let mut paths: Vec<String> = paths
        .filter(|path| path.ends_with(".experiment.json"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn experiments_are_checked() {
    let folder = small();
    assert!(shipped().len() >= 2);
    for path in shipped() {
        let output = roadwright(folder.path(), &["check", &path]);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "no problems found\n",
            "{path}"
        );
    }
    let output = roadwright(folder.path(), &["check", "small.experiment.json", "--json"]);
    let found = document(&output);
    assert_eq!(
        (&found["errors"], &found["warnings"]),
        (&0.into(), &2.into())
    );
    let few = SMALL.replace("rule_avoid_*", "rule_route_speed_wide_*");
    std::fs::write(folder.path().join("few.experiment.json"), few).unwrap();
    let output = roadwright(folder.path(), &["check", "few.experiment.json"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("[clones] operators.r: with 3 genes"),
        "{said}"
    );
    let bad = SMALL.replace("rule_avoid_*", "courage");
    std::fs::write(folder.path().join("bad.experiment.json"), bad).unwrap();
    let output = roadwright(folder.path(), &["check", "bad.experiment.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("has no such parameter"));
}

#[test]
fn the_schema_is_that_of_this_version() {
    let folder = tempfile::tempdir().unwrap();
    let output = roadwright(folder.path(), &["train", "--schema"]);
    assert!(
        String::from_utf8(output.stdout).unwrap()
            == include_str!("../../../docs/experiment.schema.json"),
        "docs/experiment.schema.json is out of date; renew with: \
         roadwright train --schema > docs/experiment.schema.json"
    );
}

#[test]
fn every_command_of_the_page_runs() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["experiments", "scenarios"] {
        let there = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
        std::os::unix::fs::symlink(there, folder.path().join(name)).unwrap();
    }
    let blocks = PAGE.split("```sh\n").skip(1);
    let commands: Vec<&str> = blocks
        .flat_map(|block| block.split("```").next().unwrap().lines())
        .collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[0], "roadwright", "{command}");
        // The 2,400 test drives of this study take as long as all other commands together.
        if words.contains(&"time-compression") && !is_slow() {
            continue;
        }
        let words = with_fewer_seeds(&words[1..]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = roadwright(folder.path(), &words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
}

/// Returns the words of a command with a tenth of the seeds that it requests. In a slow test, all seeds are
/// kept.
fn with_fewer_seeds(words: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    if let Some(option) = words.iter().position(|word| word == "--seeds") {
        let whole = words[option + 1].parse().unwrap();
        // Error bars need at least two seeds.
        words[option + 1] = scaled(whole).max(2).to_string();
    }
    words
}
