//! Move trees on the command line: the commands of docs/move-trees.md, and calls that are refused.

use crate::common::roadwright;
use crate::program::{call, code, json};
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/move-trees.md");

/// The commands of the page, in order.
fn commands() -> Vec<Vec<&'static str>> {
    let blocks = PAGE.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    lines
        .map(|line| line.split_whitespace().skip(1).collect())
        .collect()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    std::os::unix::fs::symlink(scenarios, folder.path().join("scenarios")).unwrap();
    folder
}

fn refused(folder: &Path, words: &[&str], expected: &str) {
    let output = roadwright(folder, words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
    assert!(said.contains(expected), "{words:?}: {said}");
}

#[test]
fn the_commands_of_the_page_lead_from_a_drive_to_a_graph() {
    let folder = folder();
    let commands = commands();
    assert!(commands.len() >= 6, "{commands:?}");
    for words in commands.iter().filter(|words| words[0] != "bench") {
        let output = roadwright(folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {said}");
    }
    // Problems are reported.
    let at = folder.path();
    refused(
        at,
        &[
            "moves",
            "record",
            "kart.csv",
            "--vehicle",
            "sliding-racer",
            "--agent",
            "999",
            "--out",
            "x.clips.json",
        ],
        "expected one of the agents",
    );
    refused(
        at,
        &[
            "moves",
            "record",
            "kart.csv",
            "--vehicle",
            "sliding-racer",
            "--agent",
            "1",
            "--clip",
            "a=50..900",
            "--out",
            "x.clips.json",
        ],
        "outside the drive",
    );
    refused(
        at,
        &[
            "moves",
            "record",
            "kart.csv",
            "--vehicle",
            "sliding-racer",
            "--agent",
            "1",
            "--out",
            "x.csv",
        ],
        "clips",
    );
    refused(at, &["moves", "show", "kart.clips.json"], "format");
    // Clips that have changed since are noticed.
    let text = std::fs::read_to_string(at.join("kart.clips.json")).unwrap();
    std::fs::write(
        at.join("kart.clips.json"),
        text.replace("\"grip\":1.0", "\"grip\":0.5"),
    )
    .unwrap();
    let output = roadwright(at, &["moves", "check", "kart.moves.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("clips_hash"));
}

#[test]
fn presets_are_built_shown_and_checked() {
    let folder = folder();
    let file = folder.path().join("tree.moves.json").display().to_string();
    for (preset, moves) in [
        ("five", 5),
        ("seven", 7),
        ("large", 37),
        ("large-angles", 43),
        ("large-without-skids", 35),
    ] {
        let built = json(&[
            "moves", "build", "--preset", preset, "--out", &file, "--json",
        ]);
        assert_eq!(built["moves"], moves);
        let shown = json(&["moves", "show", &file, "--json"]);
        assert_eq!(shown["moves"].as_array().unwrap().len(), moves);
        assert_eq!(shown["hash"], built["hash"]);
        let checked = json(&["moves", "check", &file, "--dt", "0.02", "--json"]);
        assert_eq!(checked["findings"].as_array().unwrap().len(), 0);
    }
    // Another vehicle, and a time step that does not fit, are findings.
    let output = call(&[
        "moves",
        "check",
        &file,
        "--dt",
        "0.03",
        "--vehicle",
        "bmw-320i",
    ]);
    assert_eq!(code(&output), 1);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("not a multiple of the time step"), "{said}");
    assert!(
        said.contains("was recorded") || said.contains("were recorded"),
        "{said}"
    );
    assert!(said.contains("the front end"), "{said}");
}

#[test]
fn a_row_of_each_table_is_driven_from_one_start() {
    for table in ["4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8"] {
        let words = [
            "bench",
            "move-trees",
            "--table",
            table,
            "--row",
            "1",
            "--starts",
            "1",
            "--json",
        ];
        let [one, other] = ["1", "2"].map(|threads| {
            let mut words = words.to_vec();
            words.extend(["--threads", threads]);
            json(&words)
        });
        let row = &one["rows"][0];
        assert_eq!(row["starts"], 1);
        assert!(row["plans"].as_u64().unwrap() > 0);
        for key in [
            "median_s",
            "nodes_per_plan",
            "crashed",
            "arrived",
            "survived",
            "plans",
        ] {
            assert_eq!(row[key], other["rows"][0][key], "{table} {key}");
        }
    }
    let output = call(&["bench", "move-trees", "--table", "4.1", "--row", "9"]);
    assert_eq!(code(&output), 2);
}
