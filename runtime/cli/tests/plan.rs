//! `roadwright plan grid` and `roadwright bench planners`.

use crate::common::{roadwright, root};
use serde_json::Value;
use std::path::PathBuf;

fn maps() -> PathBuf {
    root().join("runtime/cli/tests/maps")
}

/// The JSON document of a call, and its exit code.
fn document(words: &[&str]) -> (Value, Option<i32>) {
    let output = roadwright(&maps(), words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = serde_json::from_slice(&output.stdout);
    let document = document.unwrap_or_else(|_| panic!("{words:?}: {said}"));
    (document, output.status.code())
}

#[test]
fn every_planner_solves_the_rooms() {
    let call = [
        "plan",
        "grid",
        "rooms.map",
        "--scen",
        "rooms.map.scen",
        "--json",
    ];
    for planner in [
        "grid_path",
        "dijkstra",
        "flow_field",
        "incremental_path",
        "hybrid_fuzzy_path",
    ] {
        let (report, code) = document(&[&call[..], &["--planner", planner]].concat());
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(report["planner"], planner);
        for key in ["problems", "solved", "optimal"] {
            assert_eq!(report[key], 4, "{planner}: {report}");
        }
        assert!(report["expanded"].as_u64().unwrap() > 0);
        assert!(report["median_ms"].as_f64().unwrap() <= report["p99_ms"].as_f64().unwrap());
    }
}

#[test]
fn a_path_that_is_longer_than_the_file_says_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("wrong.scen");
    std::fs::write(&wrong, "version 1\n1\trooms.map\t8\t6\t0\t0\t7\t0\t6.5\n").unwrap();
    let wrong = wrong.to_str().unwrap();
    let (report, code) = document(&["plan", "grid", "rooms.map", "--scen", wrong, "--json"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        (&report["solved"], &report["optimal"]),
        (&1.into(), &0.into())
    );
}

#[test]
fn unusable_files_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.scen");
    std::fs::write(&other, "version 1\n1\tbig.map\t9\t6\t0\t0\t7\t0\t6.5\n").unwrap();
    let other = other.to_str().unwrap();
    for (words, expected) in [
        (vec!["plan", "grid"], "required"),
        (
            vec!["plan", "grid", "rooms.map.scen", "--scen", other],
            "type octile",
        ),
        (vec!["plan", "grid", "rooms.map", "--scen", other], "9 x 6"),
        (
            vec!["plan", "grid", "none.map", "--scen", other],
            "none.map",
        ),
        (
            vec!["plan", "grid", "rooms.map", "--scen", "rooms.map"],
            "version 1",
        ),
    ] {
        let output = roadwright(&maps(), &words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

#[test]
fn edits_are_repaired_as_a_star_plans_anew() {
    let call = "plan grid rooms.map --edits 2 --times 50 --seed 3 --json";
    let words: Vec<&str> = call.split(' ').collect();
    let (report, code) = document(&words);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(
        (&report["changes"], &report["differing"]),
        (&50.into(), &0.into())
    );
    assert_eq!(report["edits"].as_array().unwrap().len(), 50);
}

#[test]
fn the_bench_has_all_rows_of_the_source() {
    let (report, code) = document(&["bench", "planners", "--problems", "3", "--json"]);
    assert_eq!(code, Some(0), "{report}");
    let rows = report["rows"].as_array().unwrap();
    let cells: Vec<u64> = rows
        .iter()
        .map(|row| row["cells"].as_u64().unwrap())
        .collect();
    assert_eq!(cells, [50, 100, 150, 45, 90, 135]);
    let boxes = |at: usize| rows[at]["boxes"].as_u64().unwrap();
    assert!(boxes(2) >= 232 && boxes(5) >= 1277);
    assert_eq!(report["incremental"]["differing"], 0);
}
