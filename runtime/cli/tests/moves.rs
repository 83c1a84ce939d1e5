//! Move trees on the command line: the commands of docs/move-trees.md, and calls that are refused.

use crate::common::roadwright;
use crate::program::{call, code, json};
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/move-trees.md");

/// Returns the commands in docs/move-trees.md, in order.
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
    // Problems in clips are reported.
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
        "choose one of the agents in the table",
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
    let merged = "moves build kart.clips.json --merge --ks 5 --out x.moves.json";
    let words: Vec<&str> = merged.split(' ').collect();
    refused(at, &words, "cannot be used with");
    // Clips that have changed since are detected.
    let text = std::fs::read_to_string(at.join("kart.clips.json")).unwrap();
    std::fs::write(
        at.join("kart.clips.json"),
        text.replace("\"grip\":1.0", "\"grip\":0.5"),
    )
    .unwrap();
    let output = roadwright(at, &["moves", "check", "kart.moves.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("clips_hash"));
    // A state without moves is listed only once, even if the library has another problem first.
    let graph = std::fs::read_to_string(at.join("kart.moves.json")).unwrap();
    let graph = graph.replacen("\"states\": [", "\"states\": [\"Nowhere\", ", 1);
    std::fs::write(at.join("kart.moves.json"), graph).unwrap();
    for clips in [None, Some(text)] {
        let has_both = clips.is_none();
        if let Some(clips) = clips {
            std::fs::write(at.join("kart.clips.json"), clips).unwrap();
        }
        let output = roadwright(at, &["moves", "check", "kart.moves.json"]);
        let said = String::from_utf8_lossy(&output.stdout);
        let dead_end = "no move leaves state \"Nowhere\"";
        assert_eq!(said.matches(dead_end).count(), 1, "{said}");
        assert_eq!(said.contains("clips_hash"), has_both, "{said}");
    }
}

#[test]
fn clips_that_touch_something_on_their_track_are_refused() {
    let folder = folder();
    let at = folder.path();
    let ran = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let output = roadwright(at, &words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}");
    };
    let track = "generate track --length 200 --corners 3 --width 12";
    ran(&format!("{track} --seed 4 --out own.scenario.json"));
    ran(&format!("{track} --seed 5 --out other.scenario.json"));
    ran("run own.scenario.json --seconds 12 --quiet --trace drive.csv --trace-rate 25");
    let record = "moves record drive.csv --vehicle sliding-racer --out drive.clips.json --scenario";
    ran(&format!("{record} own.scenario.json"));
    let words = format!("{record} other.scenario.json");
    let words: Vec<&str> = words.split(' ').collect();
    refused(at, &words, "clip \"drive\" touches obstacle");
    refused(at, &words, "cut it with --clip drive=");
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
        ("large-slow", 37),
        ("shunting", 12),
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
    // The drive is the same for every method of testing collisions.
    let [masks, boxes, exact] = ["masks", "boxes", "exact"].map(|how| {
        let row = ["--table", "4.3", "--row", "6", "--starts", "1", "--json"];
        let mut words = vec!["bench", "move-trees", "--collisions", how];
        words.extend(row);
        let mut row = json(&words)["rows"][0].clone();
        // Only the CPU times differ.
        for key in ["ms_per_plan", "run_s"] {
            row[key] = 0.into();
        }
        row
    });
    assert_eq!(masks, exact);
    assert_eq!(boxes, exact);
}

fn arrived(result: &serde_json::Value) -> u64 {
    result["agents"]["arrived"].as_u64().unwrap()
}

/// Runs a command that succeeds, and returns what it prints.
fn printed(folder: &Path, words: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let output = roadwright(folder, &words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_library_of_ones_own_drives_on_a_generated_track() {
    let folder = folder();
    let at = folder.path();
    let ok = |words: &[&str]| {
        let output = roadwright(at, words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let value = |text: String| -> serde_json::Value { serde_json::from_str(&text).unwrap() };
    let build = [
        "moves",
        "build",
        "--preset",
        "large",
        "--out",
        "own.moves.json",
        "--json",
    ];
    let built = value(ok(&build));
    let track = [
        "generate",
        "track",
        "--length",
        "200",
        "--corners",
        "1",
        "--seed",
        "3",
        "--library",
        "own.moves.json",
        "--out",
        "own.scenario.json",
    ];
    ok(&track);
    let result = value(ok(&["run", "own.scenario.json", "--json"]));
    assert_eq!(arrived(&result), 1, "{result}");
    assert_eq!(result["move_trees"][0]["library"], "own.moves.json");
    assert_eq!(result["move_trees"][0]["hash"], built["hash"]);
    assert_eq!(result["move_trees"][0]["worst_distance"], 0.0);
    // If a file that the scenario names is missing, the error names it.
    let clips = at.join("own.clips.json");
    let kept = std::fs::read(&clips).unwrap();
    std::fs::remove_file(&clips).unwrap();
    refused(
        at,
        &["run", "own.scenario.json"],
        "there is no file \"own.clips.json\"",
    );
    std::fs::write(&clips, kept).unwrap();
    // A different vehicle is also found by `check`.
    let mut other = track.to_vec();
    other.extend(["--vehicle", "bmw-320i"]);
    ok(&other);
    refused(
        at,
        &["run", "own.scenario.json"],
        "was recorded with sliding-racer",
    );
    let output = roadwright(at, &["check", "own.scenario.json"]);
    assert_ne!(output.status.code(), Some(0));
    let mut outside = track.to_vec();
    outside[9] = "../own.moves.json";
    refused(at, &outside, "--library");
}

#[test]
fn tracks_are_generated_by_seed() {
    let folder = folder();
    let at = folder.path();
    let text = |words: &[&str]| {
        let mut all = vec!["generate", "track", "--out", "a.scenario.json", "--quiet"];
        all.extend(words);
        let output = roadwright(at, &all);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {said}");
        std::fs::read_to_string(at.join("a.scenario.json")).unwrap()
    };
    assert_eq!(text(&["--seed", "5"]), text(&["--seed", "5"]));
    assert_ne!(text(&["--seed", "5"]), text(&["--seed", "6"]));
    for track in [
        "long-straight",
        "cornered",
        "cornered-cars",
        "sharp-corners",
        "final",
        "final-dense",
        "dead-end",
        "narrow-turn",
    ] {
        text(&["--track", track]);
        let output = roadwright(at, &["check", "a.scenario.json"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{track}: {said}");
    }
    let out = ["generate", "track", "--out", "a.scenario.json"];
    for (words, expected) in [
        (
            &["--length", "60", "--corners", "20"][..],
            "the walls cross each other",
        ),
        (&["--laps", "2", "--corners", "2"], "at least 3"),
        (&["--laps", "2", "--cars", "4"], "cannot be used with"),
        (&["--sharpness", "2"], "expected 0 to 1.2 rad"),
        (&["--cars", "4"], "use --corners 0"),
        (&["--vehicle", "bmw-320i"], "--library"),
    ] {
        let mut all = out.to_vec();
        all.extend(words);
        refused(at, &all, expected);
    }
}

#[test]
fn clips_are_followed_on_free_ground_and_on_tracks() {
    let output = call(&["bench", "move-trees", "--free-ground", "40", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(rows.len() >= 5);
    for row in rows {
        let share = row["close"].as_f64().unwrap() / row["drives"].as_f64().unwrap();
        let is_large = row["tree"].as_str().unwrap().starts_with("large");
        assert_eq!(share >= 0.5, is_large, "{row}");
    }
    let row = [
        "bench",
        "move-trees",
        "--table",
        "4.7",
        "--row",
        "1",
        "--starts",
        "1",
        "--replayed",
        "--json",
    ];
    let report = json(&row);
    let row = &report["rows"][0];
    assert!(row["worst_distance"].as_f64().unwrap() > 0.0, "{row}");
    assert!(report["statements"].as_array().unwrap().is_empty());
}

#[test]
fn ten_minutes_of_pursuit_become_a_graph_that_takes_the_cornered_track() {
    let folder = folder();
    let at = folder.path();
    let ok = |words: &str| printed(at, words);
    // One of the racers of the kart track, which drives twenty laps instead of two.
    let text = std::fs::read_to_string(at.join("scenarios/kart-track.scenario.json")).unwrap();
    std::fs::create_dir(at.join("vehicles")).unwrap();
    for name in ["sliding-racer", "soapbox-kart"] {
        let file = format!("vehicles/{name}.vehicle.json");
        std::fs::copy(at.join("scenarios").join(&file), at.join(&file)).unwrap();
    }
    let mut scenario: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut racer = scenario["agents"]["2"].clone();
    let via = racer["via"].as_array().unwrap().clone();
    let laps: Vec<serde_json::Value> = (0..20).flat_map(|_| via.clone()).collect();
    racer["via"] = laps.into();
    scenario["agents"] = serde_json::json!({ "2": racer });
    scenario["settings"]["duration"] = 620.0.into();
    std::fs::write(at.join("ten.scenario.json"), scenario.to_string()).unwrap();
    ok(
        "run ten.scenario.json --seconds 606 --quiet --dynamics sliding --dt 0.02 --trace ten.csv --trace-rate 25",
    );
    let said = ok("moves record ten.csv --vehicle sliding-racer --mirror --out ten.clips.json");
    let seconds = said.split_whitespace().rev().nth(1).unwrap();
    assert!(seconds.parse::<f64>().unwrap() > 590.0, "{said}");
    // The graph in which each frame with a transition is a state would be too large for a library.
    let build =
        "moves build ten.clips.json --merge --kc 24 --prune 1 --prune-angle 0.1 --prune-frames 8";
    let built = ok(&format!("{build} --out ten.moves.json --json"));
    let built: serde_json::Value = serde_json::from_str(&built).unwrap();
    assert!(built["moves"].as_u64().unwrap() < 500, "{}", built["moves"]);
    ok("moves check ten.moves.json --dt 0.02");
    ok("generate track --track cornered --library ten.moves.json --quiet --out own.scenario.json");
    let result = ok("run own.scenario.json --seconds 180 --json");
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(arrived(&result), 1, "{result}");
    assert_eq!(result["move_trees"][0]["library"], "ten.moves.json");
}

#[test]
fn ten_minutes_of_a_double_decker_become_a_library_that_takes_bends() {
    let folder = folder();
    let at = folder.path();
    let ok = |words: &str| printed(at, words);
    std::fs::create_dir(at.join("vehicles")).unwrap();
    let file = "vehicles/enviro-400.vehicle.json";
    std::fs::copy(at.join("scenarios").join(file), at.join(file)).unwrap();
    // Laps on open ground, around six places.
    ok("generate track --length 400 --corners 0 --width 80 --quiet --out bus.scenario.json");
    let text = std::fs::read_to_string(at.join("bus.scenario.json")).unwrap();
    let mut scenario: serde_json::Value = serde_json::from_str(&text).unwrap();
    let places = [(60, 0), (90, 30), (60, 60), (0, 60), (-30, 30), (0, 0)];
    let place = |(x, y): (i32, i32)| serde_json::json!({ "x": x, "y": y });
    let laps: Vec<serde_json::Value> = (0..20).flat_map(|_| places.map(place)).collect();
    let mut bus = scenario["agents"]["1"].clone();
    bus["vehicle"] = "bus".into();
    bus["stack"] = "pursuit".into();
    bus["dynamics"] = "one_track".into();
    bus["start"] = serde_json::json!({ "x": 0, "y": 0, "heading": 0 });
    bus["destination"] = place((30, 0));
    bus["via"] = laps.into();
    scenario["agents"] = serde_json::json!({ "1": bus });
    scenario["obstacles"] = serde_json::json!({});
    scenario["vehicle_types"]["bus"] = serde_json::json!({ "file": file });
    scenario["settings"]["duration"] = 600.0.into();
    std::fs::write(at.join("bus.scenario.json"), scenario.to_string()).unwrap();
    ok("run bus.scenario.json --seconds 600 --quiet --trace bus.csv --trace-rate 25");
    ok("moves record bus.csv --vehicle enviro-400 --mirror --out bus.clips.json");
    ok(
        "moves build bus.clips.json --merge --kc 24 --prune 1 --prune-angle 0.1 --prune-frames 8 --out bus.moves.json",
    );
    ok("moves check bus.moves.json --dt 0.02");
    ok(
        "generate track --length 300 --corners 3 --sharpness 0.5 --width 30 --seed 4 --library bus.moves.json --quiet --out bends.scenario.json",
    );
    let result = ok("run bends.scenario.json --seconds 120 --json");
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(arrived(&result), 1, "{result}");
    assert_eq!(result["collisions"], serde_json::json!([]), "{result}");
    let used = &result["move_trees"][0];
    assert_eq!(used["library"], "bus.moves.json");
    assert_eq!(used["without_path"], 0, "{used}");
}
