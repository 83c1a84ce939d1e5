//! Tests of the program as users run it.

use crate::common::scenario;
use serde_json::Value;
use std::process::{Command, Output};

/// Returns the command that runs the program without a display.
fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_roadwright"));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        program.env_remove(name);
    }
    program
}

pub(crate) fn call(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn json(arguments: &[&str]) -> Value {
    let output = call(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_time_of_the_steps_is_told_by_stage_and_changes_nothing() {
    let file = scenario("crossroads");
    let plain = json(&["run", &file, "--seconds", "20", "--json"]);
    assert!(plain["stages"].is_null());
    let measured = json(&["run", &file, "--seconds", "20", "--json", "--stage-times"]);
    assert_eq!(plain["state_hash"], measured["state_hash"]);
    let stages = &measured["stages"];
    let seconds = stages["cpu_seconds"].as_object().unwrap();
    assert_eq!(seconds.len(), 8, "{stages}");
    let all: f64 = seconds.values().map(|value| value.as_f64().unwrap()).sum();
    let planning = seconds["plan"].as_f64().unwrap();
    let share = stages["planning_share"].as_f64().unwrap();
    assert!(
        all > 0.0 && (share - planning / all).abs() < 1e-9,
        "{stages}"
    );
    let output = call(&["run", &file, "--seconds", "5", "--stage-times"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("CPU by stage     planning "), "{text}");
}

#[test]
fn run_reports_what_came_of_it() {
    let file = scenario("crossroads");
    let report = json(&["run", &file, "--seconds", "40", "--json"]);
    for key in [
        "state_hash",
        "steps",
        "sim_seconds",
        "wall_seconds",
        "cpu_seconds",
        "agents",
        "agent_updates",
        "updates_per_cpu_second",
        "realtime_factor",
        "collisions",
        "distance_driven",
        "stacks",
    ] {
        assert!(!report[key].is_null(), "{key}");
    }
    for key in ["spawned", "arrived", "active", "refused"] {
        assert!(report["agents"][key].is_u64(), "{key}");
    }
    assert_eq!(report["steps"], 4000);
    let again = json(&["run", &file, "--seconds", "40", "--json", "--threads", "2"]);
    assert_eq!(report["state_hash"], again["state_hash"]);
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.csv").display().to_string();
    let traced = json(&["run", &file, "--seconds", "40", "--json", "--trace", &trace]);
    assert_eq!(report["state_hash"], traced["state_hash"]);
    let rows = std::fs::read_to_string(&trace).unwrap();
    assert!(rows.starts_with("time_s,agent,x_m,y_m,heading_rad,speed_mps"));
    assert!(rows.lines().count() > 100);
    let other = json(&[
        "run",
        &file,
        "--seconds",
        "40",
        "--json",
        "--use",
        "controller=pursuit",
        "--seed",
        "5",
        "--dt",
        "0.02",
    ]);
    assert_eq!(other["steps"], 2000);
    assert_ne!(report["state_hash"], other["state_hash"]);
    let eight = scenario("figure-eight");
    let whole = json(&["run", &eight, "--json"]);
    assert!(
        whole["sim_seconds"].as_f64() < Some(299.0),
        "ends when all have arrived"
    );
    let asked = json(&["run", &eight, "--json", "--seconds", "299"]);
    assert_eq!(
        asked["steps"], 29900,
        "a time that is asked for is simulated"
    );
    let text = stdout(&call(&["run", &file, "--seconds", "5"]));
    assert!(
        text.contains("state hash") && text.contains("standard deviation"),
        "{text}"
    );
    // One run is one observation, whose drives interact, so it has no standard error.
    assert!(
        !text.contains("standard error") && !text.contains('±'),
        "{text}"
    );
}

#[test]
fn run_writes_what_came_of_it_as_tables() {
    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().join("tables").display().to_string();
    let file = scenario("crossroads");
    let output = call(&["run", &file, "--seconds", "90", "--statistics", &tables]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let read = |name: &str| {
        let path = folder.path().join("tables").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(read("timeline.csv").lines().count(), 92);
    let picture = std::fs::read(folder.path().join("tables/timeline.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    assert!(read("trips.csv").starts_with("agent,stack,status,"));
    let heat = read("heat.csv");
    assert!(heat.starts_with("road,lane,to_road,to_lane,from_m,to_m,"));
    // Lanes, and connections through the junction.
    let cells = |row: &str| row.split(',').map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<_> = heat.lines().skip(1).map(cells).collect();
    let (lanes, connections): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row[2].is_empty());
    assert!(lanes.len() > 10 && !connections.is_empty(), "{heat}");
    let seconds = |row: &Vec<String>| row[8].parse::<f64>().unwrap();
    assert!(rows.iter().all(|row| seconds(row) > 0.0), "{heat}");
}

#[test]
fn run_tells_what_junctions_and_signals_do_and_whom_agents_wait_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (signals, trace) = (at("signals.csv"), at("trace.csv"));
    let file = scenario("signal-corridor");
    let common = ["run", &file, "--seconds", "90"];
    let tables = ["--signals", &signals, "--trace", &trace, "--json"];
    let report = json(&[&common[..], &tables].concat());
    let junctions = report["junctions"].as_array().unwrap();
    let approaches = || {
        junctions
            .iter()
            .flat_map(|j| j["approaches"].as_array().unwrap())
    };
    let passed: u64 = approaches().map(|a| a["passed"].as_u64().unwrap()).sum();
    assert!(passed > 10, "{junctions:?}");
    for approach in approaches() {
        let [mean, max] = ["delay_mean", "delay_max"].map(|key| approach[key].as_f64().unwrap());
        assert!(0.0 <= mean && mean <= max && max < 90.0, "{approach}");
        assert!(approach["road"].is_u64() && approach["queue_max"].is_u64());
        assert!(["start", "end"].contains(&approach["end"].as_str().unwrap()));
    }
    for junction in junctions {
        let [wait, bound] = ["longest_wait", "bound"].map(|key| junction[key].as_f64().unwrap());
        assert!(wait <= bound, "{junction}");
        assert_eq!(junction["control"], "signals");
    }
    // Each lane shows all lights in their order.
    let rows = std::fs::read_to_string(&signals).unwrap();
    assert!(rows.starts_with("time_s,node,road,lane,state\n"), "{rows}");
    let lane = ",5,1,-1,";
    let of_lane = rows.lines().filter(|row| row.contains(lane));
    let shown: Vec<&str> = of_lane.map(|row| row.rsplit(',').next().unwrap()).collect();
    assert!(shown.len() >= 4, "{shown:?}");
    let follows = |pair: &[&str]| {
        matches!(
            pair,
            ["green", "amber"] | ["amber", "red"] | ["red", "green"]
        )
    };
    assert!(shown.windows(2).all(follows), "{shown:?}");
    // A vehicle waits at a red light, as the trace shows.
    let rows = std::fs::read_to_string(&trace).unwrap();
    let stands = |row: &&str| {
        let cells: Vec<&str> = row.split(',').collect();
        cells[0] == "40.000" && cells[5].parse::<f64>().unwrap() < 0.1
    };
    let agent = rows
        .lines()
        .skip(1)
        .find(stands)
        .unwrap()
        .split(',')
        .nth(1)
        .unwrap();
    let asked = [format!("{agent}@40"), "7@3".into(), format!("{agent}@4000")];
    let standing = asked[0].clone();
    let asked = [
        "--quiet",
        "--explain",
        &asked[0],
        "--explain",
        &asked[1],
        "--explain",
        &asked[2],
    ];
    let told = stderr(&call(&[&common[..], &asked].concat()));
    let (chain, lines): (Vec<&str>, Vec<&str>) =
        told.lines().partition(|line| line.starts_with("  "));
    assert_eq!(lines.len(), 3, "{told}");
    let first = format!("  agent {agent} on road ");
    assert!(chain[0].starts_with(&first), "{told}");
    assert!(
        chain[0].contains(" stationary since ") && chain[0].contains(": waits for "),
        "{told}"
    );
    assert_eq!(lines[0], "agent 7 is not driving at 3.00 s");
    assert!(
        lines[1].starts_with(&format!("agent {agent} at 40.00 s: on road ")),
        "{told}"
    );
    assert!(lines[1].contains("; waits for "), "{told}");
    assert!(lines[2].ends_with("the run ended before that"), "{told}");
    // Without a time, the agent is explained at the end of the run.
    let asked = ["--json", "--explain", &standing, "--explain", agent];
    let document = json(&[&common[..], &asked].concat());
    let explanations = document["explanations"].as_array().unwrap();
    assert_eq!(explanations.len(), 2, "{explanations:?}");
    assert_eq!(explanations[0]["time"].as_f64().unwrap().round(), 40.0);
    let chain = explanations[0]["chain"].as_array().unwrap();
    assert_eq!(chain[0]["agent"].to_string(), agent);
    assert!(chain[0]["since"].as_f64().unwrap() < 40.0, "{chain:?}");
    assert!(chain[0]["waits_for"].is_string(), "{chain:?}");
    assert_eq!(explanations[1]["time"], document["sim_seconds"]);
    let wrong = call(&["run", &file, "--explain", "x"]);
    assert_eq!(code(&wrong), 2);
    assert!(stderr(&wrong).contains("not an agent with a time"));
}

#[test]
fn run_lets_trailers_go_and_joins_them_on() {
    let file = scenario("trailer-yard");
    let common = ["run", &file, "--seconds", "4"];
    let done = call(&[&common[..], &["--uncouple", "1@0.1", "--couple", "1@0.2"]].concat());
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    let told = stderr(&done);
    for line in [
        "agent 1 at 0.10 s: uncoupled 1 trailer",
        "agent 1 at 0.20 s: coupled 1 trailer",
    ] {
        assert!(told.lines().any(|told| told == line), "{told}");
    }
    let wishes = [
        "--quiet",
        "--uncouple",
        "2@0.1:3",
        "--couple",
        "9@1",
        "--couple",
        "1@60",
    ];
    let refused = call(&[&common[..], &wishes].concat());
    assert_eq!(code(&refused), 1);
    let told = stderr(&refused);
    let lines: Vec<&str> = told.lines().collect();
    let expected = [
        "agent 2 at 0.10 s: cannot uncouple: there is no trailer 3 to uncouple, because the vehicle tows 1 (numbered from 1 at the front)",
        "agent 9 at 1.00 s: cannot couple: agent 9 is not driving",
        "agent 1 at 60.00 s: cannot couple: the run ended before that",
    ];
    assert_eq!(lines, expected);
    // Uncoupling changes the run, and naming the only trailer makes no difference.
    let hash =
        |flags: &[&str]| json(&[&common[..], &["--json"], flags].concat())["state_hash"].clone();
    assert_ne!(hash(&["--uncouple", "3@0.1"]), hash(&[]));
    assert_eq!(
        hash(&["--uncouple", "3@0.1"]),
        hash(&["--uncouple", "3@0.1:1"])
    );
    for wrong in ["7", "7@", "x@1", "7@1:0", "7@1:x", "7@1:300", "7@-1"] {
        let wrong = format!("--uncouple={wrong}");
        assert_eq!(code(&call(&["run", &file, &wrong])), 2, "{wrong}");
    }
}

#[test]
fn run_takes_a_level_of_dynamics() {
    let file = scenario("crossroads");
    let run = |flags: &[&str]| {
        let common = ["run", &file, "--seconds", "60", "--json"];
        json(&[&common[..], flags].concat())
    };
    let (steers, follows) = (run(&[]), run(&["--dynamics", "lane"]));
    assert_ne!(steers["state_hash"], follows["state_hash"]);
    assert_eq!(
        run(&["--dynamics", "one_track"])["state_hash"],
        steers["state_hash"]
    );
    // Comparing bodies finds no contact here, and does not change the run.
    let verified = run(&["--dynamics", "lane", "--verify"]);
    assert_eq!(verified["state_hash"], follows["state_hash"]);
    let rigid = run(&["--dynamics", "rigid"]);
    assert_ne!(rigid["state_hash"], steers["state_hash"]);
    let shared = run(&["--dynamics", "rigid", "--threads", "2"]);
    assert_eq!(shared["state_hash"], rigid["state_hash"]);
    // No obstacle was pushed here; in the hill country, a bus without a planner pushes some.
    assert!(rigid["loose"].is_null());
    let hills = scenario("hill-country");
    let without_plans = ["--use", "ground_planner=straight"];
    let hills = json(
        &[
            &["run", &hills, "--seconds", "25", "--json"],
            &without_plans[..],
        ]
        .concat(),
    );
    assert!(
        hills["loose"]["felled"].as_u64() >= Some(3),
        "{}",
        hills["loose"]
    );
    let output = call(&["run", &file, "--dynamics", "dense"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("use one of one_track, lane, dynamic_one_track, rigid, sliding")
    );
}

#[test]
fn unusable_calls_end_with_two_and_say_why() {
    let file = scenario("crossroads");
    let refused = |arguments: &[&str], words: &str| {
        let output = call(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(
            stderr(&output).contains(words),
            "{arguments:?}: {}",
            stderr(&output)
        );
    };
    refused(&["run", "missing.scenario.json"], "missing.scenario.json");
    refused(&["run", &file, "--dt", "0"], "--dt must be");
    refused(&["run", &file, "--seconds=-3"], "--seconds");
    refused(
        &["run", &file, "--use", "controller=nobody"],
        "expected one of: fuzzy_driver, fuzzy_mechanic, idm, pursuit, stanley,",
    );
    refused(&["run", &file, "--use", "brakes"], "expected SLOT=MODULE");
    refused(
        &["run", &file, "--populate", "5", "--stack", "nobody"],
        "unknown stack \"nobody\"",
    );
    refused(
        &["render", &file, "--out", "x.png", "--size", "big"],
        "--size big",
    );
    refused(
        &["render", &file, "--out", "x.png", "--view", "1,2,3"],
        "--view needs four numbers",
    );
    refused(
        &["render", &file, "--out", "x.png", "--hide", "land,cars"],
        "\"cars\" is not a part of a map; use roads",
    );
    refused(&["render", &file, "--out", "x.gif"], "--until SECONDS");
    refused(
        &["render", &file, "--out", "x.png", "--bodies"],
        "--bodies needs a run: add --at SECONDS",
    );
    refused(
        &["render", &file, "--out", "x.png", "--until", "5"],
        "--out must end in .gif",
    );
    refused(
        &[
            "render", &file, "--out", "x.gif", "--at", "5", "--until", "5",
        ],
        "must be later than --at, which is 5",
    );
    refused(
        &["render", &file, "--out", "x.gif", "--until", "1e9"],
        "too many",
    );
    refused(
        &[
            "render", &file, "--out", "x.gif", "--until", "1", "--every", "0",
        ],
        "is out of range: expected 0.02 to 60 s",
    );
    refused(
        &[
            "controller",
            "eval",
            "fuzzy_driver.route.speed",
            "--input",
            "angle=0.3",
        ],
        "input \"distance\" is missing",
    );
    refused(
        &["controller", "eval", "fuzzy_driver", "--input", "angle=0.3"],
        "expected one of: fuzzy_driver.route.speed",
    );
    refused(&["controller", "show", "nobody"], "controller list");
    refused(&["frobnicate"], "unrecognized subcommand");
}

#[test]
fn check_tells_errors_by_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let fine = call(&["check", &scenario("old-town")]);
    assert_eq!(
        (code(&fine), stdout(&fine).as_str()),
        (0, "no problems found\n")
    );
    let text = std::fs::read_to_string(scenario("figure-eight")).unwrap();
    let path = folder
        .path()
        .join("bad.scenario.json")
        .display()
        .to_string();
    std::fs::write(
        &path,
        text.replace("\"lane\": -1, \"s\": 28.0", "\"lane\": -9, \"s\": 28.0"),
    )
    .unwrap();
    let bad = call(&["check", &path, "--json"]);
    assert_eq!(code(&bad), 1);
    let report: Value = serde_json::from_slice(&bad.stdout).unwrap();
    assert_eq!(report["errors"], 1);
    assert_eq!(report["findings"][0]["code"], "no-such-lane");
    assert_eq!(report["findings"][0]["object"]["agent"], 2);
    assert!(report["findings"][0]["place"].is_array());
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert_eq!(code(&call(&["check", &path])), 2);
    check_tells_why_a_run_would_not_begin(&path);
    let schema: Value = serde_json::from_slice(&call(&["check", "--schema"]).stdout).unwrap();
    assert_eq!(schema["title"], "Roadwright scenario");
}

/// Checks that `check` reports every reason for which `run` rejects a scenario.
fn check_tells_why_a_run_would_not_begin(path: &str) {
    let text = std::fs::read_to_string(scenario("crossroads")).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    let stacks = &mut file["stacks"];
    stacks["idm"]["controller"] =
        serde_json::json!({"module": "idm", "parameters": {"headway": -5}});
    stacks["pursuit"]["planner"]["module"] = "routes".into();
    std::fs::write(path, file.to_string()).unwrap();
    let checked = call(&["check", path]);
    let lines = stdout(&checked);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!((code(&checked), lines.len()), (1, 3), "{lines:?}");
    assert!(lines[0].contains("controller \"idm\": ") && lines[0].contains("headway"));
    assert!(lines[1].contains("no planner is called \"routes\""));
    assert_eq!(lines[2], "2 errors, 0 warnings");
    let run = call(&["run", path, "--seconds", "1"]);
    assert_eq!(code(&run), 2);
    let refused = stderr(&run);
    let refused = refused.trim().strip_prefix("error: ").unwrap();
    assert_eq!(lines[0], format!("error[refused] {refused}"));
}

#[test]
fn check_groups_findings_by_kind_with_errors_first() {
    let text = std::fs::read_to_string(scenario("obstacle-field")).unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    let places = &mut file["points_of_interest"];
    *places = serde_json::json!({
        "1": {"name": "Here", "x": 5, "y": 5},
        "2": {"name": "Here", "x": 9, "y": 5},
        "3": {"name": "Here", "x": 9, "y": 9},
    });
    for agent in file["agents"].as_object_mut().unwrap().values_mut() {
        agent["destination"] = Value::Null;
        agent["via"] = serde_json::json!([]);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kinds.scenario.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let path = path.display().to_string();
    let checked = call(&["check", &path]);
    let lines = stdout(&checked);
    let lines: Vec<&str> = lines.lines().collect();
    // Each group has a heading with its number of lines, followed by the indented lines.
    let mut rest = &lines[..lines.len() - 1];
    let mut headings = Vec::new();
    while let Some((heading, others)) = rest.split_first() {
        let count = heading.rsplit_once('(').unwrap().1;
        let count: usize = count.trim_end_matches(')').parse().unwrap();
        let (group, others) = others.split_at(count);
        let code = |line: &str| line.trim().split(' ').next().unwrap().to_owned();
        assert!(group.iter().all(|line| line.starts_with("  ")), "{lines:?}");
        assert!(group.iter().all(|line| code(line) == code(group[0])));
        headings.push(code(group[0]));
        rest = others;
    }
    assert!(headings.len() > 1, "{lines:?}");
    let first_warning = headings.iter().position(|code| code.starts_with("warning"));
    let last_error = headings.iter().rposition(|code| code.starts_with("error"));
    assert!(first_warning.unwrap() > last_error.unwrap(), "{headings:?}");
    // The JSON document still has one flat list.
    let document: Value =
        serde_json::from_str(&stdout(&call(&["check", &path, "--json"]))).unwrap();
    let listed = document["findings"].as_array().unwrap().len();
    assert_eq!(listed + headings.len() + 1, lines.len());
}

const OSM: &str = r#"<osm><node id="1" lat="53.34" lon="-6.262"/><node id="2" lat="53.34" lon="-6.26"/>
<node id="3" lat="53.34" lon="-6.258"/><node id="4" lat="53.339" lon="-6.26"/><node id="5" lat="53.341" lon="-6.26"/>
<way id="10"><nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="secondary"/></way>
<way id="11"><nd ref="4"/><nd ref="2"/><nd ref="5"/><tag k="highway" v="residential"/></way></osm>"#;

#[test]
fn import_check_and_render_work_hand_in_hand() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("a.osm"), OSM).unwrap();
    let report = json(&[
        "import",
        &path("a.osm"),
        "--out",
        &path("a.scenario.json"),
        "--json",
    ]);
    assert_eq!(
        (&report["roads"], &report["junctions"], &report["lanes"]),
        (&4.into(), &1.into(), &8.into())
    );
    for key in ["road_km", "lane_km", "signals", "restrictions", "warnings"] {
        assert!(!report[key].is_null(), "{key}");
    }
    assert_eq!(report["driving_side"], "left");
    // Imports with land (a park and a house), and the same roads without it.
    let park = "<way id=\"12\"><nd ref=\"1\"/><nd ref=\"4\"/><nd ref=\"5\"/><nd ref=\"1\"/>\
                <tag k=\"leisure\" v=\"park\"/></way></osm>";
    std::fs::write(path("land.osm"), OSM.replace("</osm>", park)).unwrap();
    let (land, out) = (path("land.osm"), path("land.scenario.json"));
    let with = json(&["import", &land, "--out", &out, "--json"]);
    assert_eq!((&with["land"], &with["buildings"]), (&1.into(), &0.into()));
    let bare = path("bare.scenario.json");
    let without = json(&["import", &land, "--out", &bare, "--json", "--roads-only"]);
    assert_eq!(without["land"], 0);
    let roads = |path: &str| std::fs::read_to_string(path).unwrap();
    assert_eq!(
        roads(&bare).replace("\"land\"", "\"a\""),
        roads(&path("a.scenario.json")).replace("\"land\"", "\"a\"")
    );
    let right = json(&[
        "import",
        &path("a.osm"),
        "--out",
        &path("b.scenario.json"),
        "--json",
        "--drive-on",
        "right",
        "--box",
        "-6.261,53.3395,-6.259,53.3405",
    ]);
    assert_eq!(right["driving_side"], "right");
    assert_eq!(
        (&report["country"], &right["country"]),
        (&"IE".into(), &"IE".into())
    );
    let elsewhere = |country: &str, out: &str| {
        let (file, out) = (path("a.osm"), path(out));
        call(&["import", &file, "--out", &out, "--country", country])
    };
    assert_eq!(code(&elsewhere("us", "us.scenario.json")), 0);
    let text = std::fs::read_to_string(path("us.scenario.json")).unwrap();
    assert!(text.contains("\"country\": \"US\""), "{text}");
    let nowhere = elsewhere("nowhere", "none.scenario.json");
    assert_eq!(code(&nowhere), 2);
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("ISO 3166-1"));
    assert!(right["road_km"].as_f64() < report["road_km"].as_f64());
    assert_eq!(code(&call(&["check", &path("a.scenario.json")])), 0);
    let drawn = call(&[
        "render",
        &path("a.scenario.json"),
        "--out",
        &path("a.png"),
        "--size",
        "400x300",
    ]);
    assert_eq!(code(&drawn), 0, "{}", stderr(&drawn));
    assert!(
        std::fs::read(path("a.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    std::fs::write(path("page.osm"), "<!DOCTYPE html><html></html>").unwrap();
    let html = call(&[
        "import",
        &path("page.osm"),
        "--out",
        &path("c.scenario.json"),
    ]);
    assert_eq!(code(&html), 2);
    assert!(
        stderr(&html).contains("not OpenStreetMap data"),
        "{}",
        stderr(&html)
    );
    assert!(!folder.path().join("c.scenario.json").exists());
}

#[test]
fn pictures_are_the_same_every_time_and_show_vehicles() {
    let folder = tempfile::tempdir().unwrap();
    let draw = |name: &str, at: Option<&str>| {
        let out = folder.path().join(name).display().to_string();
        let file = scenario("crossroads");
        let mut arguments = vec!["render", &file, "--out", &out, "--size", "320x240"];
        arguments.extend(at.into_iter().flat_map(|at| ["--at", at]));
        assert_eq!(code(&call(&arguments)), 0);
        std::fs::read(out).unwrap()
    };
    let first = draw("a.png", Some("30"));
    assert_eq!(first, draw("b.png", Some("30")));
    assert_ne!(first, draw("c.png", None));
}

#[test]
fn pictures_leave_out_what_they_are_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let draw = |hide: &[&str]| {
        let out = folder.path().join("x.png").display().to_string();
        let file = scenario("crossroads");
        let mut arguments = vec!["render", &file, "--out", &out, "--size", "320x240"];
        arguments.extend(hide);
        assert_eq!(code(&call(&arguments)), 0);
        std::fs::read(out).unwrap()
    };
    let whole = draw(&[]);
    assert_ne!(whole, draw(&["--hide", "forests,roads"]));
    // The crossroads are on layer 0 only.
    assert_eq!(draw(&["--hide", "roads"]), draw(&["--hide", "layer:0"]));
    assert_eq!(whole, draw(&["--hide", "layer:-3"]));
}

#[test]
fn films_are_the_same_every_time_and_as_long_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let film = |name: &str, until: &str, every: &str| {
        let out = folder.path().join(name).display().to_string();
        let file = scenario("crossroads");
        let run = ["--at", "20", "--until", until, "--every", every];
        let picture = ["render", &file, "--out", &out, "--size", "160x120"];
        assert_eq!(code(&call(&[&picture[..], &run[..]].concat())), 0);
        std::fs::read(out).unwrap()
    };
    let first = film("a.gif", "21", "0.2");
    assert!(first.starts_with(b"GIF89a"));
    assert_eq!(first, film("b.GIF", "21", "0.2"));
    let longer = film("c.gif", "22", "0.2");
    assert!(longer.len() > first.len());
    // Each frame begins with a graphic control block.
    let frames = |gif: &[u8]| gif.windows(3).filter(|w| *w == [0x21, 0xf9, 4]).count();
    assert_eq!([frames(&first), frames(&longer)], [6, 11]);
}

#[test]
fn controllers_explain_themselves() {
    let list = stdout(&call(&["controller", "list"]));
    for name in ["idm", "pursuit", "fuzzy_driver", "fuzzy_driver.avoid.steer"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name}");
    }
    let name = "fuzzy_driver.route.speed";
    let one = json(&[
        "controller",
        "eval",
        name,
        "--input",
        "distance=10",
        "--input",
        "angle=0.3",
        "--json",
    ]);
    assert!((one["output"].as_f64().unwrap() - 1.6 / 3.0).abs() < 1e-12);
    assert_eq!(one["rules"].as_array().unwrap().len(), 4);
    assert_eq!(one["inputs"]["distance"], 10.0);
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("rows.csv").display().to_string();
    std::fs::write(&table, "angle, distance\n0.3,10\n0.0,40\n").unwrap();
    let rows = json(&["controller", "eval", name, "--csv", &table, "--json"]);
    assert_eq!(rows[0]["output"], one["output"]);
    assert_eq!(rows[1]["output"], 1.0);
    let text = stdout(&call(&[
        "controller",
        "eval",
        name,
        "--input",
        "distance=10",
        "--input",
        "angle=0.3",
    ]));
    assert!(
        text.contains("NEAR 0.5000") && text.contains("output    0.533333"),
        "{text}"
    );
    let surface = folder.path().join("s.png").display().to_string();
    assert_eq!(
        code(&call(&["controller", "surface", name, "--out", &surface])),
        0
    );
    assert!(std::fs::metadata(surface).unwrap().len() > 10_000);
    let shown = json(&["controller", "show", "idm", "--json"]);
    assert_eq!(shown["parameters"][0]["key"], "acceleration");
    std::fs::write(&table, "angle,distance\n0.3,ten\n").unwrap();
    let bad = call(&["controller", "eval", name, "--csv", &table]);
    assert!(
        code(&bad) == 2 && stderr(&bad).contains(":2: \"ten\" is not a number"),
        "{}",
        stderr(&bad)
    );
}

#[test]
fn help_and_completions_are_there() {
    let help = stdout(&call(&["--help"]));
    assert!(help.contains("Examples:") && help.contains("Exit codes"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&call(&["completions", shell])).contains("roadwright"));
    }
}

#[test]
fn without_a_verb_old_town_is_run_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let output = program().current_dir(folder.path()).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("no display"));
    assert!(stdout(&output).contains("state hash"));
    assert!(folder.path().join("old-town.png").exists());
    // The editor itself needs a display, and reports that.
    assert_eq!(code(&call(&["edit"])), 2);
}

#[test]
fn random_trips_come_over_the_edges_of_the_map_or_begin_inside() {
    let file = scenario("all-junctions");
    let population = |from: &str| {
        let run = json(&[
            "run",
            &file,
            "--populate",
            "24",
            "--populate-from",
            from,
            "--seconds",
            "1",
            "--json",
        ]);
        assert_eq!(run["agents"]["refused"], 0);
        let of = |key: &str| run["population"][key].as_u64().unwrap();
        assert_eq!((of("wanted"), of("made")), (24, 24), "{from}");
        (of("from_edges"), of("to_edges"))
    };
    assert_eq!(population("edges"), (24, 24));
    assert_eq!(population("inside"), (0, 0));
    let (begin, end) = population("both");
    assert!((1..24).contains(&begin) && (1..24).contains(&end));
    let table = call(&["run", &file, "--populate", "24", "--seconds", "1"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("random trips     24 of 24"), "{table}");
    // Without the option, there is no report.
    let plain = json(&["run", &file, "--seconds", "1", "--json"]);
    assert!(plain.get("population").is_none());
}

#[test]
fn each_fitness_scores_each_agent_on_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.csv");
    let words = [
        "run",
        &scenario("crossroads"),
        "--seconds",
        "30",
        "--use",
        "fitness=safety,comfort",
        "--trace",
        trace.to_str().unwrap(),
        "--json",
    ];
    let document = json(&words);
    let drives = document["drives"].as_array().unwrap();
    assert!(drives.len() > 3);
    let mut sums = [0.0, 0.0];
    for drive in drives {
        for (sum, fitness) in sums.iter_mut().zip(["comfort", "safety"]) {
            *sum += drive["scores"][fitness].as_f64().unwrap();
        }
    }
    let mut means = [0.0, 0.0];
    for stack in document["stacks"].as_array().unwrap() {
        for (mean, fitness) in means.iter_mut().zip(stack["fitness"].as_array().unwrap()) {
            *mean += fitness["mean"].as_f64().unwrap() * fitness["count"].as_f64().unwrap();
        }
    }
    for (sum, mean) in sums.iter().zip(means) {
        assert!(
            (sum - mean).abs() < 1e-9 * drives.len() as f64,
            "{sums:?} {means:?}"
        );
    }
    let scores = std::fs::read_to_string(trace.with_extension("scores.csv")).unwrap();
    let title = "agent,stack,status,started_s,ended_s,distance_m,comfort,safety";
    assert!(scores.starts_with(title), "{scores}");
    assert_eq!(scores.lines().count(), drives.len() + 1);
}

#[test]
fn the_page_about_fitnesses_names_them_all() {
    let page = include_str!("../../../docs/fitness.md");
    let registry = roadwright_simulation::builtin_modules();
    for (info, parameters) in registry.infos(roadwright_agent::ModuleKind::Fitness) {
        assert!(page.contains(&format!("| `{}` |", info.id)), "{}", info.id);
        let plain = [
            "contacts",
            "progress",
            "time_above_limit",
            "time_times_overlap",
            "path_error",
            "settled_speed",
        ];
        assert!(!parameters.is_empty() || plain.contains(&info.id));
    }
}

#[test]
fn a_script_decides_about_all_signals_of_a_run() {
    let file = scenario("signal-corridor");
    let by = |decides: &str| {
        let decides = format!("signal_controller={decides}");
        json(&[
            "run",
            &file,
            "--seconds",
            "120",
            "--json",
            "--use",
            &decides,
        ])
    };
    let hashes = ["fixed", "actuated", "longest_queue.rhai"].map(|decides| {
        let report = by(decides);
        assert_eq!(report["law"]["red_passed"], 0, "{decides}");
        report["state_hash"].clone()
    });
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    let modules = by("longest_queue.rhai")["modules"].to_string();
    assert!(modules.contains("signal_controller"), "{modules}");
    let wrong = call(&["run", &file, "--use", "signal_controller=nobody"]);
    assert_eq!(code(&wrong), 2);
    let said = stderr(&wrong);
    assert!(
        said.contains("no signal_controller is called \"nobody\""),
        "{said}"
    );
    assert!(
        said.contains("fixed, actuated, longest_queue.rhai"),
        "{said}"
    );
}

#[test]
fn traces_have_controls_and_a_rate() {
    let folder = tempfile::tempdir().unwrap();
    let file = scenario("kart-track");
    let trace = |name: &str, rest: &[&str]| {
        let path = folder.path().join(name).display().to_string();
        let mut words = vec!["run", &file, "--seconds", "6", "--quiet", "--trace", &path];
        words.extend(rest);
        let output = call(&words);
        assert!(output.status.success(), "{output:?}");
        std::fs::read_to_string(&path).unwrap()
    };
    let sliding = trace(
        "sliding.csv",
        &[
            "--dynamics",
            "sliding",
            "--dt",
            "0.02",
            "--trace-rate",
            "25",
        ],
    );
    let mut lines = sliding.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let added = [
        "sideways_mps",
        "yaw_rate_radps",
        "throttle",
        "brake",
        "steering_command_rad",
        "reversing",
    ];
    assert_eq!(columns[12..], added);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let times: Vec<f64> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    let first = rows[0][1];
    let own: Vec<f64> = (0..rows.len())
        .filter(|&i| rows[i][1] == first)
        .map(|i| times[i])
        .collect();
    assert!(own.len() > 100);
    assert!(
        own.windows(2)
            .all(|pair| (pair[1] - pair[0] - 0.04).abs() < 1e-9)
    );
    // Controllers command accelerations, so there are no pedals.
    for row in &rows {
        assert!(
            row[12].parse::<f64>().is_ok() && row[13].parse::<f64>().is_ok(),
            "{row:?}"
        );
        assert_eq!((row[14], row[15], row[17]), ("", "", "0"), "{row:?}");
    }
    // Vehicles at level `lane` neither slip nor steer.
    let lane = trace("lane.csv", &["--dynamics", "lane"]);
    for line in lane.lines().skip(1) {
        let row: Vec<&str> = line.split(',').collect();
        assert_eq!((row[12], row[16], row[17]), ("", "", ""), "{row:?}");
    }
    // More rows than steps per second are refused.
    let path = folder.path().join("refused.csv").display().to_string();
    let words = [
        "run",
        &file,
        "--seconds",
        "1",
        "--dt",
        "0.02",
        "--trace",
        &path,
        "--trace-rate",
        "60",
    ];
    let output = call(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--trace-rate") && said.contains("at most 50"),
        "{said}"
    );
    assert!(!std::path::Path::new(&path).exists());
}
