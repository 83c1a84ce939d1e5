//! Tests of `roadwright plan` and `roadwright bench planners`.

use crate::common::{roadwright, root};
use serde_json::Value;
use std::path::PathBuf;

fn maps() -> PathBuf {
    root().join("runtime/cli/tests/maps")
}

/// Returns the JSON document of a call, and its exit code.
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
        (vec!["plan"], "required"),
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
    let drivable = &report["drivable"];
    let count = |key: &str| drivable[key].as_u64().unwrap();
    assert_eq!(count("problems") + count("direct"), 3, "{drivable}");
    assert_eq!(count("failed"), 0, "{drivable}");
    let crowd = &report["crowd"];
    assert_eq!(crowd["agents"], 100);
    assert_eq!(crowd["steps"], 60);
    assert!(crowd["mean_ms"].as_f64().unwrap() > 0.0, "{crowd}");
    let walkers = &report["walkers"];
    assert_eq!(walkers["characters"], 1000);
    assert_eq!(walkers["with_feet"], 1000);
    for key in ["following_ms", "feet_ms", "step_ms"] {
        assert!(walkers[key].as_f64().unwrap() > 0.0, "{walkers}");
    }
}

/// A scenario with a jeep, a wall across its path, a gate beside this wall, and a room without a door.
const YARD: &str = r#"{
  "format": "roadwright-scenario",
  "version": 2,
  "about": {"name": "yard", "driving_side": "right"},
  "settings": {"dt": 0.02, "seed": 1, "duration": 60.0},
  "vehicle_types": {
    "jeep": {"name": "Jeep", "length": 3.34, "width": 1.57, "height": 1.8, "wheelbase": 2.45,
      "rear_overhang": 0.57, "mass": 1040.0, "max_speed": 31.9, "max_acceleration": 2.0,
      "max_braking": 7.0, "max_steering": 0.55, "steering_rate": 0.9},
    "lorry": {"name": "Lorry", "length": 8.0, "width": 2.5, "height": 3.5, "wheelbase": 5.0,
      "rear_overhang": 1.5, "mass": 9000.0, "max_speed": 25.0, "max_acceleration": 1.0,
      "max_braking": 6.0, "max_steering": 0.6, "steering_rate": 0.6}
  },
  "stacks": {
    "pursuit": {"planner": {"module": "route"}, "behaviour": {"module": "lane_keeper"},
      "controller": {"module": "pursuit"}, "fitness": {"module": "crash_and_speed"}}
  },
  "obstacles": {
    "1": {"shape": {"type": "box", "x": 40.0, "y": 0.0, "length": 1.0, "width": 60.0}, "height": 3.0},
    "2": {"shape": {"type": "box", "x": 40.0, "y": 35.0, "length": 1.0, "width": 10.0}, "base": 2.5, "height": 3.0},
    "3": {"shape": {"type": "box", "x": 40.0, "y": 90.0, "length": 1.0, "width": 100.0}, "height": 3.0},
    "4": {"shape": {"type": "box", "x": 120.0, "y": 10.0, "length": 21.0, "width": 1.0}, "height": 3.0},
    "5": {"shape": {"type": "box", "x": 120.0, "y": -10.0, "length": 21.0, "width": 1.0}, "height": 3.0},
    "6": {"shape": {"type": "box", "x": 130.0, "y": 0.0, "length": 1.0, "width": 21.0}, "height": 3.0},
    "7": {"shape": {"type": "box", "x": 110.0, "y": 0.0, "length": 1.0, "width": 21.0}, "height": 3.0}
  },
  "agents": {
    "7": {"vehicle": "jeep", "stack": "pursuit", "start": {"x": -10.0, "y": 0.0},
      "destination": {"x": 80.0, "y": 0.0}}
  }
}
"#;

/// Plans a trip in the yard. Returns the document and the exit code.
fn trip(words: &str) -> (Value, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("yard.scenario.json");
    std::fs::write(&file, YARD).unwrap();
    let file = file.to_str().unwrap();
    let mut call = vec!["plan", file, "--json"];
    call.extend(words.split(' '));
    document(&call)
}

#[test]
fn a_trip_leads_around_what_its_vehicle_meets() {
    let (jeep, code) = trip("--from -10,0,0 --to 80,0 --vehicle jeep");
    assert_eq!(code, Some(0), "{jeep}");
    assert_eq!(
        (&jeep["found"], &jeep["reason"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(jeep["legs"][0]["kind"], "ground");
    let number = |report: &Value, key: &str| report[key].as_f64().unwrap();
    // Under the gate at the end of the wall.
    let length = number(&jeep, "length");
    assert!((110.0..135.0).contains(&length), "{length}");
    assert!(number(&jeep, "time") > length / 8.0);
    let poses = jeep["poses"].as_array().unwrap();
    assert_eq!(poses.last().unwrap()[0], 80.0);
    assert_eq!(jeep["legs"][0]["last_pose"], poses.len() - 1);
    // The lorry is too high for the gate.
    let (lorry, code) = trip("--from -10,0,0 --to 80,0 --vehicle lorry");
    assert_eq!(code, Some(0), "{lorry}");
    let around = number(&lorry, "length");
    assert!(around > length && number(&lorry, "cost") > 0.0, "{around}");
    // An agent provides everything that a trip needs.
    let (agent, code) = trip("--agent 7");
    assert_eq!((code, &agent["vehicle"]), (Some(0), &"jeep".into()));
    let (later, code) = trip("--agent 7 --at 1");
    assert_eq!(code, Some(0), "{later}");
    assert!(number(&later, "length") < number(&agent, "length") + 1.0);
}

#[test]
fn every_planner_plans_a_trip_and_exact_ones_the_same() {
    let cost = |planner: &str| {
        let words = format!("--agent 7 --planner {planner}");
        let (report, code) = trip(&words);
        assert_eq!(code, Some(0), "{planner}: {report}");
        assert_eq!(report["planner"], planner);
        report["cost"].as_u64().unwrap()
    };
    let best = cost("grid_path");
    assert_eq!(cost("flow_field"), best);
    assert_eq!(cost("incremental_path"), best);
    assert!(cost("hybrid_fuzzy_path") >= best);
    let (straight, code) = trip("--agent 7 --planner straight");
    assert_eq!(code, Some(1));
    assert!(
        straight["reason"]
            .as_str()
            .unwrap()
            .contains("straight path")
    );
}

#[test]
fn a_drivable_path_has_gears_and_ends_with_the_heading() {
    let planner = "--vehicle jeep --planner drivable_path";
    // The goal is behind the jeep, which stands in front of the wall.
    let (report, code) = trip(&format!("--from 36,0,0 --to 10,6,3.1 {planner}"));
    assert_eq!(code, Some(0), "{report}");
    let rows = |key: &str| report[key].as_array().unwrap().clone();
    let (poses, gears) = (rows("poses"), rows("gears"));
    assert_eq!(poses.len(), gears.len());
    assert!(gears.contains(&1.into()) && gears.contains(&(-1).into()));
    let last = poses.last().unwrap();
    for (at, expected) in [10.0, 6.0, 3.1].into_iter().enumerate() {
        assert!(
            (last[at].as_f64().unwrap() - expected).abs() < 1e-6,
            "{last}"
        );
    }
    let (report, code) = trip(&format!("--from 0,0 --to 120,0 {planner}"));
    assert_eq!(code, Some(1));
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains("the goal is walled in"), "{reason}");
    let (report, code) = trip(&format!("--from 0,0,0 --to 80,0 {planner} --most 2000"));
    assert_eq!(code, Some(1), "{report}");
}

#[test]
fn a_trip_without_a_path_says_why() {
    for (words, expected) in [
        (
            "--from 0,0 --to 120,0 --vehicle jeep",
            "the goal is walled in",
        ),
        (
            "--from 120,0 --to 0,0 --vehicle jeep",
            "the start is walled in",
        ),
        (
            "--from 0,0 --to 40,0 --vehicle jeep",
            "the goal is inside an obstacle",
        ),
        (
            "--from 40,0 --to 0,0 --vehicle jeep",
            "the start is inside an obstacle",
        ),
        (
            "--from 0,0 --to nan,0 --vehicle jeep",
            "the goal is not within 10,000 km",
        ),
        (
            "--from inf,0 --to 0,0 --vehicle jeep",
            "the start is not within 10,000 km",
        ),
        (
            "--from 0,0 --to 1e8,0 --vehicle jeep",
            "the goal is not within 10,000 km",
        ),
        (
            "--from 0,0 --to 80,0 --vehicle jeep --most 20",
            "did not finish within",
        ),
        (
            "--from 0,0 --to 9999000,0 --vehicle jeep --most 5000",
            "did not finish within",
        ),
    ] {
        let (report, code) = trip(words);
        assert_eq!(
            (code, &report["found"]),
            (Some(1), &false.into()),
            "{words}"
        );
        let reason = report["reason"].as_str().unwrap();
        assert!(reason.contains(expected), "{words}: {reason}");
        assert!(report["poses"].as_array().unwrap().is_empty());
    }
}

#[test]
fn on_lanes_the_route_planner_plans() {
    let scenario = root().join("scenarios/old-town.scenario.json");
    let scenario = scenario.to_str().unwrap();
    let (report, code) = document(&["plan", scenario, "--agent", "1", "--json"]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["legs"][0]["kind"], "lanes");
    assert!(report["length"].as_f64().unwrap() > 20.0, "{report}");
    // From a start beside the lanes, the trip begins over open ground.
    let words = ["plan", scenario, "--agent", "1", "--from", "0,0", "--json"];
    let (beside, _) = document(&words);
    assert_eq!(beside["legs"][0]["kind"], "ground", "{beside}");
}

#[test]
fn pictures_and_cells_of_a_trip_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("yard.scenario.json"), YARD).unwrap();
    let run = |words: &[&str]| {
        let file = path("yard.scenario.json");
        let output = roadwright(folder.path(), &[&["plan", &file], words].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said, output.stdout)
    };
    let trip = [
        "--from",
        "-10,0,0",
        "--to",
        "80,-1.5,0",
        "--vehicle",
        "jeep",
    ];
    let (picture, cells, text) = (path("trip.png"), path("cells.png"), path("cells.txt"));
    let (code, said, out) = run(&[&trip[..], &["--picture", &picture, "--cells", &cells]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(String::from_utf8_lossy(&out).contains("leg       ground"));
    for file in [&picture, &cells] {
        assert!(std::fs::read(file).unwrap().starts_with(b"\x89PNG"));
    }
    let (code, said, _) = run(&[&trip[..], &["--cells", &text]].concat());
    assert_eq!(code, Some(0), "{said}");
    let written = std::fs::read_to_string(&text).unwrap();
    for sign in ['#', '*', 'A', 'G', '.'] {
        assert!(written.contains(sign), "{sign}\n{written}");
    }
    // Inputs and other kinds of files are protected.
    let (code, said, _) = run(&[&trip[..], &["--picture", &path("yard.scenario.json")]].concat());
    assert_eq!(code, Some(2), "{said}");
    // Trips that cannot be planned are rejected with a message.
    for (words, expected) in [
        (vec!["--from", "1", "--to", "2,3"], "X,Y"),
        (
            vec!["--from", "0,0", "--to", "2,3"],
            "specify the vehicle type",
        ),
        (
            vec!["--from", "0,0", "--to", "2,3", "--vehicle", "tank"],
            "unknown vehicle type",
        ),
        (vec!["--agent", "8"], "no such agent"),
        (vec!["--agent", "7", "--planner", "magic"], "magic"),
        (vec!["--agent", "7", "--seed", "3"], "--at"),
    ] {
        let (code, said, _) = run(&words);
        assert_eq!(code, Some(2), "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

#[test]
fn check_finds_destinations_that_nobody_gets_to_over_open_ground() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("yard.scenario.json");
    let check = |text: &str| {
        std::fs::write(&file, text).unwrap();
        document(&["check", file.to_str().unwrap(), "--json"])
    };
    let (fine, _) = check(YARD);
    let is_unreachable = |finding: &&Value| finding["code"] == "unreachable-destination";
    let count = |report: &Value| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().filter(is_unreachable).count()
    };
    assert_eq!(count(&fine), 0, "{fine}");
    let walled = YARD.replace(
        "\"destination\": {\"x\": 80.0",
        "\"destination\": {\"x\": 120.0",
    );
    let (report, code) = check(&walled);
    assert_eq!((code, count(&report)), (Some(1), 1), "{report}");
}
