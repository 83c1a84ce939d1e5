//! `run --save` and `run --restore` as users run them.

use crate::common::{roadwright, scenario};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the JSON document of a run in a folder. The run has to succeed.
fn json(folder: &Path, words: &[&str]) -> Value {
    let output = roadwright(folder, &[&["run", "--json"], words].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns a document without entries that depend on the machine.
fn timeless(mut document: Value) -> Value {
    let fields = document.as_object_mut().unwrap();
    for key in [
        "wall_seconds",
        "cpu_seconds",
        "updates_per_cpu_second",
        "realtime_factor",
    ] {
        assert!(fields.remove(key).is_some(), "{key}");
    }
    document
}

/// Returns the rows of a table after a given time in seconds.
fn rows_after(table: &Path, time: f64) -> Vec<String> {
    let text = std::fs::read_to_string(table).unwrap();
    let rows = text.lines().skip(1).map(str::to_owned);
    rows.filter(|row| row.split(',').next().unwrap().parse::<f64>().unwrap() > time)
        .collect()
}

#[test]
fn a_restored_run_ends_as_one_that_was_never_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = &*scenario("crossroads");
    let (whole, later) = (folder.join("whole.csv"), folder.join("later.csv"));
    let in_one = json(folder, &[file, "--seconds", "30", "--trace", "whole.csv"]);
    json(folder, &[file, "--seconds", "17.3", "--save", "a.rwworld"]);
    let restored = [
        file,
        "--restore",
        "a.rwworld",
        "--seconds",
        "30",
        "--trace",
        "later.csv",
    ];
    let in_two = json(folder, &restored);
    // Each run observes its junctions separately.
    let [in_one, in_two] = [in_one, in_two].map(|document| {
        let mut document = timeless(document);
        assert!(document["junctions"].as_array().is_some());
        document.as_object_mut().unwrap().remove("junctions");
        document
    });
    assert_eq!(in_one, in_two);
    assert_eq!(in_two["reproducible"], true);
    let rows = rows_after(&later, 17.35);
    assert!(rows.len() > 100);
    assert_eq!(rows, rows_after(&whole, 17.35));
    let scores = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(scores("later.scores.csv"), scores("whole.scores.csv"));
    // Continues again from the same file, and through a second save.
    let more = [
        "--restore",
        "a.rwworld",
        "--seconds",
        "21",
        "--save",
        "b.rwworld",
        "--threads",
        "2",
    ];
    json(folder, &[&[file], &more[..]].concat());
    let again = json(folder, &[file, "--restore", "b.rwworld", "--seconds", "30"]);
    assert_eq!(again["state_hash"], in_one["state_hash"]);
}

/// Returns the one-line message of `run --restore` for a file that it refuses with exit code 2.
fn refused(folder: &Path, file: &str, save: &str) -> String {
    let output = roadwright(folder, &["run", file, "--restore", save, "--seconds", "5"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(output.stdout.is_empty());
    let said = told(&output);
    assert!(said.contains(&format!("cannot restore {save}")), "{said}");
    said
}

/// Returns a save in which a part has another version. The version follows the name of the part.
fn with_version(bytes: &[u8], part: &str, change: fn(u8) -> u8) -> Vec<u8> {
    let mut bytes = bytes[..bytes.len() - 8].to_vec();
    let name = [&[part.len() as u8], part.as_bytes()].concat();
    let mut places = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&name));
    let at = places.next().unwrap() + name.len();
    bytes[at] = change(bytes[at]);
    let sum = twox_hash::XxHash3_64::oneshot(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

#[test]
fn what_cannot_be_restored_is_said_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = &*scenario("figure-eight");
    json(folder, &[file, "--seconds", "2", "--save", "a.rwworld"]);
    let bytes = std::fs::read(folder.join("a.rwworld")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    write("text.rwworld", b"This was never a world.");
    write("empty.rwworld", b"");
    write("cut.rwworld", &bytes[..bytes.len() / 2]);
    let other = |change| with_version(&bytes, "claims", change);
    write("newer.rwworld", &other(|version| version + 1));
    write("older.rwworld", &other(|version| version - 1));
    for (save, words) in [
        ("text.rwworld", "not a saved world: its checksum differs"),
        ("empty.rwworld", "not a saved world: it is too short"),
        ("cut.rwworld", "not a saved world: its checksum differs"),
        (
            "newer.rwworld",
            "the saved world was written by a newer Roadwright: part \"claims\" has version",
        ),
        (
            "older.rwworld",
            "the saved world was written by an older Roadwright: part \"claims\" has version",
        ),
        ("none.rwworld", "cannot restore none.rwworld"),
    ] {
        let said = refused(folder, file, save);
        assert!(said.contains(words), "{save}: {said}");
    }
    let said = refused(folder, &scenario("crossroads"), "a.rwworld");
    assert!(
        said.contains("belongs to a scenario with different roads or obstacles"),
        "{said}"
    );
    // Control: the file itself is valid.
    let versions = with_version(&bytes, "claims", |version| version);
    assert_eq!(versions, bytes);
}

/// Returns the modules that started fresh according to a document, with the reasons.
fn fresh(document: &Value) -> Vec<(&str, &str)> {
    let all = document["started_fresh"].as_array();
    all.into_iter()
        .flatten()
        .map(|one| {
            (
                one["module"].as_str().unwrap(),
                one["why"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn other_modules_make_a_branch_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = &*scenario("figure-eight");
    json(folder, &[file, "--seconds", "5", "--save", "a.rwworld"]);
    let words = ["--restore", "a.rwworld", "--seconds", "10"];
    let same = [&[file], &words[..]].concat();
    let other = [&same[..], &["--use", "controller=pursuit"]].concat();
    let exact = json(folder, &same);
    assert_eq!(exact["reproducible"], true);
    assert_eq!(exact["started_fresh"], Value::Null);
    let branch = json(folder, &other);
    assert_ne!(branch["state_hash"], exact["state_hash"]);
    let told_fresh = fresh(&branch);
    assert!(!told_fresh.is_empty());
    for (module, why) in told_fresh {
        assert_eq!(module, "pursuit");
        assert!(why.contains("starts fresh and replaces"), "{why}");
    }
    assert_eq!(branch["reproducible"], false);
    let why = branch["not_reproducible_because"].as_str().unwrap();
    assert!(
        why.contains("restored at 5.00 s, controller pursuit starts fresh"),
        "{why}"
    );
    // The difference is also printed at the beginning and at the end.
    let output = roadwright(folder, &[&["run"], &other[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let said = told(&output);
    let note = "not exact: controller pursuit: starts fresh and replaces";
    assert!(said.contains(note), "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("NOT REPRODUCIBLE: restored at 5.00 s"),
        "{table}"
    );
    let output = roadwright(folder, &[&["run"], &same[..]].concat());
    assert!(!told(&output).contains("not exact"));
}

/// A behaviour that drives slowly; `FACTOR` stands for the factor on its speed.
const SLOW: &str = "fn behave(agent) { agent.speed_factor = FACTOR; }";

#[test]
fn another_text_of_a_script_and_another_script_start_fresh() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("scripts")).unwrap();
    let write = |name: &str, factor: &str| {
        let text = SLOW.replace("FACTOR", factor);
        std::fs::write(folder.join("scripts").join(name), text).unwrap();
    };
    write("slow.rhai", "0.8");
    write("slower.rhai", "0.5");
    let file = &*scenario("figure-eight");
    let run = |more: &[&str]| {
        let words = [file, "--scripts", "scripts"];
        json(folder, &[&words[..], more].concat())
    };
    let slow = ["--use", "behaviour=slow.rhai"];
    let first = [&slow[..], &["--seconds", "5", "--save", "a.rwworld"]].concat();
    run(&first);
    let restored = ["--restore", "a.rwworld", "--seconds", "10"];
    // Replacements of modules are part of the save.
    let exact = run(&restored);
    let whole = run(&[&slow[..], &["--seconds", "10"]].concat());
    assert_eq!(exact["state_hash"], whole["state_hash"]);
    assert!(fresh(&exact).is_empty());
    let other = run(&[&restored[..], &["--use", "behaviour=slower.rhai"]].concat());
    assert_eq!(
        fresh(&other),
        [("slower.rhai", "starts fresh and replaces slow.rhai")]
    );
    assert_ne!(other["state_hash"], whole["state_hash"]);
    write("slow.rhai", "0.6");
    let changed = run(&restored);
    let [(module, why)] = fresh(&changed)[..] else {
        panic!("{changed}");
    };
    assert_eq!(module, "slow.rhai");
    assert!(
        why.contains("starts fresh, because its build has changed"),
        "{why}"
    );
    assert_ne!(changed["state_hash"], whole["state_hash"]);
    // The script with which the save was made may be missing.
    std::fs::remove_file(folder.join("scripts/slow.rhai")).unwrap();
    let without = run(&[&restored[..], &["--use", "behaviour=slower.rhai"]].concat());
    assert_eq!(without["state_hash"], other["state_hash"]);
}

#[test]
fn what_was_asked_for_holds_on_and_what_is_changed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = &*scenario("crossroads");
    let whole = [file, "--seconds", "60", "--dynamics", "lane"];
    let whole = json(folder, &whole);
    let save = ["--seconds", "10", "--dynamics", "lane", "--save", "a.rw"];
    json(folder, &[&[file], &save[..]].concat());
    let rest = ["--restore", "a.rw", "--seconds", "60"];
    let restored = json(folder, &[&[file], &rest[..]].concat());
    assert_eq!(restored["state_hash"], whole["state_hash"]);
    assert_eq!(restored["reproducible"], true);
    let other = ["--dynamics", "one_track"];
    let branch = json(folder, &[&[file], &rest[..], &other].concat());
    assert_ne!(branch["state_hash"], whole["state_hash"]);
    assert_eq!(branch["reproducible"], false);
    assert_eq!(branch["started_fresh"][0]["module"], "dynamics");
    // The scenario is edited after the save.
    let edited = |name: &str, edit: fn(&mut Value)| {
        let text = std::fs::read_to_string(file).unwrap();
        let mut scenario: Value = serde_json::from_str(&text).unwrap();
        edit(&mut scenario);
        std::fs::write(folder.join(name), scenario.to_string()).unwrap();
    };
    edited("flows.json", |scenario| {
        let flows = scenario["flows"].as_object_mut().unwrap();
        flows.values_mut().next().unwrap()["rate_per_hour"] = 71.into();
    });
    let branch = json(folder, &[&["flows.json"], &rest[..]].concat());
    assert_eq!(branch["started_fresh"][0]["module"], "flows");
    edited("longer.json", |scenario| {
        scenario["vehicle_types"]["car"]["length"] = 5.5.into();
    });
    let branch = json(folder, &[&["longer.json"], &rest[..]].concat());
    assert_eq!(branch["started_fresh"][0]["module"], "vehicle types");
    edited("types.json", |scenario| {
        let types = scenario["vehicle_types"].as_object_mut().unwrap();
        types.insert("ambulance".into(), types["car"].clone());
    });
    let said = refused(folder, "types.json", "a.rw");
    assert!(said.contains("different vehicle types"), "{said}");
}

#[test]
fn what_a_restored_run_cannot_do_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = &*scenario("crossroads");
    json(folder, &[file, "--seconds", "10", "--save", "a.rw"]);
    for (words, expected) in [
        (&["--seed", "7"][..], "cannot be used with '--seed"),
        (&["--populate", "7"], "cannot be used with '--populate"),
        (&["--seconds", "4"], "which is at 10.00 s"),
        (&["--explain", "1@4"], "--explain: 4 s is earlier"),
        (&["--couple", "1@4"], "--couple: 4 s is earlier"),
    ] {
        let call = [&["run", file, "--restore", "a.rw"], words].concat();
        let output = roadwright(folder, &call);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(told(&output).contains(expected), "{}", told(&output));
    }
}

#[test]
fn results_do_not_replace_what_is_read_or_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::copy(scenario("crossroads"), folder.join("own.json")).unwrap();
    let before = std::fs::read(folder.join("own.json")).unwrap();
    let run = ["run", "own.json", "--seconds", "1", "--quiet"];
    for (words, expected) in [
        (
            &["--save", "own.json"][..],
            "--save: own.json ends in .json, the extension of a JSON document",
        ),
        (
            &["--trace", "./own.json"],
            "--trace: ./own.json ends in .json",
        ),
        (
            &["--save", "same", "--signals", "./same"],
            "--signals: ./same is already used for --save",
        ),
    ] {
        let output = roadwright(folder, &[&run[..], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(told(&output).contains(expected), "{}", told(&output));
    }
    assert_eq!(std::fs::read(folder.join("own.json")).unwrap(), before);
    assert!(!folder.join("same").exists());
    let apart = ["--save", "a", "--signals", "b", "--trace", "c.csv"];
    let output = roadwright(folder, &[&run[..], &apart].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}
