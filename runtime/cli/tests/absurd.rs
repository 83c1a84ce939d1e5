//! Absurd files must be rejected quickly and without filling the memory.
#![cfg(unix)]

use crate::scenarios::{crossroads, draw, street};
use roadwright_geometry::{DVec2, Pose, ReferenceLine, Segment};
use roadwright_scenario::{
    Edit, Forest, ForestId, Lane, LaneSection, LaneType, Node, NodeId, Obstacle, ObstacleId, Road,
    RoadAccess, RoadClass, RoadId, Scenario, Shape, file,
};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Memory limit of the program, KiB. It covers the program's own code and threads, and 500 MiB for the file.
const MEMORY: u64 = 1_500_000;
/// Time after which a command counts as hanging. On an idle machine, the slowest command takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs the program in a folder; `None` if it hangs.
fn roadwright(folder: &Path, words: &[&str]) -> Option<Output> {
    roadwright_within(MEMORY, folder, words)
}

/// Runs the program with another memory limit, KiB; `None` if it hangs.
fn roadwright_within(memory: u64, folder: &Path, words: &[&str]) -> Option<Output> {
    let script = format!("ulimit -v {memory}; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_roadwright")])
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(folder.join("out")).unwrap())
        .stderr(std::fs::File::create(folder.join("err")).unwrap())
        .spawn()
        .unwrap();
    let ticks = PATIENCE.as_millis() / 50;
    for _ in 0..ticks {
        if let Some(status) = child.try_wait().unwrap() {
            let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
            return Some(Output {
                status,
                stdout: read("out"),
                stderr: read("err"),
            });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// Returns the exit codes and messages of `check` and of a short run for a scenario.
fn told(scenario: &Scenario) -> [(Option<i32>, String); 2] {
    let folder = tempfile::tempdir().unwrap();
    file::save(scenario, &folder.path().join("absurd.json")).unwrap();
    let words: [&[&str]; 2] = [
        &["check", "absurd.json"],
        &["run", "absurd.json", "--seconds", "0.5"],
    ];
    words.map(|words| {
        let output = roadwright(folder.path(), words);
        let output = output.unwrap_or_else(|| panic!("{words:?} hangs"));
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let code = output.status.code();
        assert!(
            code.is_some_and(|code| code <= 2),
            "{words:?}: {code:?} {text}"
        );
        (code, text)
    })
}

fn moved(scenario: &mut Scenario, road: RoadId, to: DVec2) {
    let mut road_of = scenario.network().road(road).unwrap().clone();
    let line = &road_of.reference_line;
    let start = Pose {
        position: to,
        ..line.start()
    };
    road_of.reference_line = ReferenceLine::new(start, line.segments().to_vec()).unwrap();
    let edit = Edit::Road(road, Some(Box::new(road_of)));
    scenario.apply(edit).unwrap();
}

/// Adds an obstacle beside the crossroads, at the same place each time.
fn put_obstacle(scenario: &mut Scenario, id: u32) {
    let obstacle = Obstacle {
        name: String::new(),
        shape: Shape::Circle {
            x: 60.0.into(),
            y: 60.0.into(),
            radius: 2.0.into(),
        },
        base: 0.0.into(),
        height: 1.0.into(),
        mass: None.into(),
    };
    let edit = Edit::Obstacle(ObstacleId(id), Some(Box::new(obstacle)));
    scenario.apply(edit).unwrap();
}

#[test]
fn what_is_as_it_should_be_runs() {
    let [(check, said), (run, _)] = told(&crossroads());
    assert_eq!((check, run), (Some(0), Some(0)), "{said}");
}

#[test]
fn a_road_that_begins_elsewhere_gets_no_paths_of_many_kilometres() {
    let mut scenario = crossroads();
    moved(&mut scenario, RoadId(1), DVec2::new(65_535.0, 0.0));
    let [(code, said), (run, _)] = told(&scenario);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("joint-gap") && said.contains("road 1"),
        "{said}"
    );
    assert_eq!(run, Some(0), "the rest can be driven");
}

#[test]
fn one_long_road_costs_what_it_holds() {
    let mut scenario = crossroads();
    draw(
        &mut scenario,
        (0.0, 200.0),
        (2_000_000.0, 200.0),
        &street("Far"),
    );
    let [(code, said), (run, _)] = told(&scenario);
    assert_eq!((code, run), (Some(0), Some(0)), "{said}");
}

#[test]
fn an_obstacle_beside_long_roads_costs_little() {
    let mut scenario = crossroads();
    for y in 1..5 {
        let y = 1_000.0 * f64::from(y);
        draw(
            &mut scenario,
            (-1_200_000.0, y),
            (1_200_000.0, y),
            &street("Far"),
        );
    }
    // All points of all lanes are compared with the obstacle. Together, they would not fit into
    // memory.
    put_obstacle(&mut scenario, 1);
    let folder = tempfile::tempdir().unwrap();
    file::save(&scenario, &folder.path().join("far.json")).unwrap();
    let output = roadwright_within(700_000, folder.path(), &["check", "far.json"]).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
fn roads_without_end_are_named() {
    let mut scenario = crossroads();
    for y in 1..100 {
        let y = 1_000.0 * f64::from(y);
        draw(
            &mut scenario,
            (-4_000_000.0, y),
            (4_000_000.0, y),
            &street("Far"),
        );
    }
    let [(code, said), (run, refused)] = told(&scenario);
    assert_eq!((code, run), (Some(1), Some(2)), "{said} {refused}");
    assert!(
        said.contains("too-much") && said.contains("8000 km long"),
        "{said}"
    );
    assert!(
        refused.contains("road ") && refused.contains("20,000 km"),
        "{refused}"
    );
}

/// Creates sixty forests of 64 km², each with a million candidate places for trees.
fn forests() -> Scenario {
    let mut scenario = crossroads();
    for id in 1..=60 {
        let (low, high) = (1_000.0 * f64::from(id), 9_000.0 + 1_000.0 * f64::from(id));
        let forest = Forest {
            area: ([(low, low), (high, low), (high, high), (low, high)]
                .map(DVec2::from)
                .to_vec())
            .into(),
            density: 5_000.0.into(),
            spacing: 1.0.into(),
            trunk_radius: 0.2.into(),
            seed: 1,
        };
        let edit = Edit::Forest(ForestId(id), Some(Box::new(forest)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

#[test]
fn forests_of_a_million_trees_are_drawn_as_a_colour() {
    let folder = tempfile::tempdir().unwrap();
    file::save(&forests(), &folder.path().join("forests.json")).unwrap();
    let words = ["render", "forests.json", "--out", "forests.png"];
    let output = roadwright(folder.path(), &words).expect("drawing millions of trees hangs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(folder.path().join("forests.png").exists());
}

#[test]
fn forests_without_end_are_named() {
    let scenario = forests();
    let [(code, said), (run, _)] = told(&scenario);
    assert_eq!((code, run), (Some(1), Some(0)), "{said}");
    assert!(
        said.contains("forest 4") && said.contains("four million"),
        "{said}"
    );
}

#[test]
fn obstacles_in_one_place_are_each_told_once() {
    let mut scenario = crossroads();
    let count = 20_000;
    for id in 1..=count {
        put_obstacle(&mut scenario, id);
    }
    let [(code, said), (run, _)] = told(&scenario);
    assert_eq!((code, run), (Some(0), Some(0)));
    assert_eq!(
        said.matches("obstacles-overlap").count(),
        count as usize - 1
    );
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.json");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.rhai")).unwrap();
    for (words, kind) in [
        (&["check", "pipe.json"][..], "a pipe"),
        (&["run", "pipe.json"], "a pipe"),
        (&["import", "pipe.json", "--out", "x.json"], "a pipe"),
        (&["check", "zero.json"], "a device"),
        (&["script", "check", "zero.rhai"], "a device"),
        (&["script", "check", "pipe.json"], "a pipe"),
    ] {
        let output = roadwright(folder.path(), words);
        let output = output.unwrap_or_else(|| panic!("{words:?} hangs"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        let expected = format!("it is {kind}, not a file");
        assert_eq!(said.matches(&expected).count(), 1, "{words:?}: {said}");
    }
}

#[test]
fn scripts_beside_a_scenario_do_not_hold_it_up() {
    let folder = tempfile::tempdir().unwrap();
    file::save(&crossroads(), &folder.path().join("town.json")).unwrap();
    let scripts = folder.path().join("scripts");
    std::fs::create_dir(&scripts).unwrap();
    let pipe = scripts.join("x.rhai");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", scripts.join("y.rhai")).unwrap();
    std::os::unix::fs::symlink("/", scripts.join("root")).unwrap();
    std::os::unix::fs::symlink(".", scripts.join("self")).unwrap();
    std::fs::write(scripts.join("good.rhai"), "fn behave(agent) {}").unwrap();
    let words = [
        "run",
        "town.json",
        "--seconds",
        "1",
        "--use",
        "behaviour=good.rhai",
    ];
    let output = roadwright(folder.path(), &words).expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

/// Creates a scenario in which `arms` roads meet at one node. Each has `lanes` lanes in both
/// directions.
fn star(arms: u32, lanes: i8) -> Scenario {
    let mut scenario = Scenario::new("star");
    let section = LaneSection {
        s: 0.0.into(),
        lanes: (-lanes..=lanes)
            .rev()
            .filter(|id| *id != 0)
            .map(|id| Lane::new(id, LaneType::Driving, 0.5))
            .collect(),
    };
    let mut edits = vec![Edit::Node(NodeId(1), Some(Node::at(DVec2::ZERO)))];
    for arm in 0..arms {
        let heading = f64::from(arm) * std::f64::consts::TAU / f64::from(arms);
        let line = ReferenceLine::new(
            Pose::new(0.0, 0.0, heading),
            vec![Segment::Line { length: 900.0 }],
        );
        let line = line.unwrap();
        let far = NodeId(arm + 2);
        edits.push(Edit::Node(far, Some(Node::at(line.end().position))));
        let road = Road {
            from: NodeId(1),
            to: far,
            name: String::new(),
            class: RoadClass::Arterial,
            layer: 0,
            access: RoadAccess::All,
            speed_limit: 14.0.into(),
            reference_line: line,
            lane_offset: Vec::new(),
            lane_sections: vec![section.clone()],
        };
        edits.push(Edit::Road(RoadId(arm + 1), Some(Box::new(road))));
    }
    scenario.apply(Edit::Batch(edits)).unwrap();
    scenario
}

#[test]
fn junctions_of_too_many_lanes_get_no_connections() {
    // A node with 32 roads and 20 lanes per direction has millions of pairs of connections.
    // Comparing all of them would take a minute and 2 GB.
    for (arms, lanes) in [(32, 20), (32, 3), (8, 40)] {
        let [(code, findings), (run, _)] = told(&star(arms, lanes));
        assert_eq!(code, Some(0), "{findings}");
        assert!(
            findings.contains("too-much") && findings.contains("node 1"),
            "{findings}"
        );
        assert_eq!(run, Some(0));
    }
    // A large junction like those in real towns works.
    let [(_, findings), (run, _)] = told(&star(8, 4));
    assert!(!findings.contains("too-much"), "{findings}");
    assert_eq!(run, Some(0));
}
