//! Damaged files: readable objects are kept, and the rest is reported.

use roadwright_scenario::{Scenario, file};
use std::path::{Path, PathBuf};

fn shipped(name: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios")
        .join(format!("{name}.scenario.json"));
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

fn salvaged(text: &[u8]) -> Result<file::Salvage, file::FileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.scenario.json");
    std::fs::write(&path, text).unwrap();
    let salvage = file::salvage(&path);
    assert_eq!(std::fs::read(&path).unwrap(), text, "the file is touched");
    salvage
}

fn objects(scenario: &Scenario) -> usize {
    let network = scenario.network();
    network.nodes().count()
        + network.road_count()
        + scenario.obstacles().len()
        + scenario.forests().len()
        + scenario.land().len()
        + scenario.points_of_interest().len()
        + scenario.agents().len()
        + scenario.flows().len()
}

#[test]
fn a_sound_file_is_kept_whole() {
    for name in ["crossroads", "old-town", "obstacle-field"] {
        let (path, text) = shipped(name);
        let salvage = salvaged(text.as_bytes()).unwrap();
        assert_eq!(salvage.scenario, file::load(&path).unwrap(), "{name}");
        assert_eq!(salvage.left_out, []);
        let kinds = salvage.scenario.vehicle_types().len() + salvage.scenario.stacks().len();
        assert_eq!(salvage.kept, objects(&salvage.scenario) + kinds);
    }
}

#[test]
fn a_file_that_is_cut_off_anywhere_gives_what_was_before() {
    let (path, text) = shipped("crossroads");
    let whole = file::load(&path).unwrap();
    let mut most = 0;
    for cut in (200..text.len()).step_by(97) {
        let part = &text.as_bytes()[..cut];
        let salvage = salvaged(part).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        let kept = objects(&salvage.scenario);
        assert!(kept >= most, "cut at {cut}: {kept} of {most}");
        most = kept;
    }
    assert!(most + 2 >= objects(&whole), "{most} of {}", objects(&whole));
}

#[test]
fn a_broken_line_costs_its_object_and_those_that_need_it() {
    let (path, text) = shipped("crossroads");
    let whole = file::load(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let section = lines
        .iter()
        .position(|line| line.contains("\"roads\""))
        .unwrap();
    let mut broken = lines.clone();
    broken[section + 2] = "    \"oops\": {{ ][ \"unfinished";
    let salvage = salvaged(broken.join("\n").as_bytes()).unwrap();
    let roads = salvage.scenario.network().road_count();
    assert_eq!(roads + 1, whole.network().road_count());
    let named = salvage.left_out.iter().map(|error| error.line);
    assert!(
        named.clone().any(|line| line == section + 3),
        "{:?}",
        salvage.left_out
    );
    // Objects on the lost road are also lost, and each is reported with its reason.
    for error in &salvage.left_out {
        assert!(!error.message.is_empty());
    }
}

#[test]
fn what_is_not_allowed_is_left_out_with_its_key() {
    let (_, text) = shipped("crossroads");
    let text = text.replacen("\"speed_limit\":", "\"sped_limit\":", 1);
    let salvage = salvaged(text.as_bytes()).unwrap();
    let first = &salvage.left_out[0];
    assert!(first.key.starts_with("roads."), "{first:?}");
    assert!(first.message.contains("sped_limit"), "{first:?}");
    assert!(first.line > 0);
}

#[test]
fn what_is_no_scenario_stays_an_error() {
    for text in [
        "",
        "{",
        "<html>",
        "[1, 2]",
        "{\"format\": \"roadwright-vehicle\", \"version\": 1}",
        "{\"format\": \"roadwright-scenario\", \"version\": 99}",
        "roadwright-scenario",
        "\"roadwright-scenario\n\n\n",
    ] {
        assert!(salvaged(text.as_bytes()).is_err(), "{text}");
    }
    assert!(salvaged(&[0xff, 0xfe, 0x00, 0x80]).is_err());
    assert!(file::salvage(Path::new("/does/not/exist")).is_err());
    // Neither deep nesting nor many broken lines cause a hang or a panic.
    let deep = format!(
        "{{\"format\": \"roadwright-scenario\", \"x\": {}",
        "[".repeat(100_000)
    );
    assert!(salvaged(deep.as_bytes()).is_err());
    let many = format!(
        "{{\"format\": \"roadwright-scenario\",\n{}",
        "oops\n".repeat(10_000)
    );
    assert!(salvaged(many.as_bytes()).is_err());
}
