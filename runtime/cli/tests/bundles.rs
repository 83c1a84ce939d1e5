//! Bundles on the command line.

use crate::common::scenario;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn call(home: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_roadwright"));
    // The user's own scripts and plugins are not available.
    program
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CACHE_HOME");
    program.args(arguments).output().unwrap()
}

#[test]
fn a_scenario_is_packed_sent_and_driven_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (bundle, again, town) = (path("a.rwz"), path("b.rwz"), path("town"));
    for out in [&bundle, &again] {
        let packed = call(folder.path(), &["pack", &scenario("chase"), "--out", out]);
        assert_eq!(packed.status.code(), Some(0), "{packed:?}");
        let text = String::from_utf8(packed.stdout).unwrap();
        assert!(text.contains("scripts/evader.rhai"), "{text}");
    }
    assert_eq!(
        std::fs::read(&bundle).unwrap(),
        std::fs::read(&again).unwrap()
    );
    let unpacked = call(
        folder.path(),
        &["unpack", &bundle, "--into", &town, "--json"],
    );
    assert_eq!(unpacked.status.code(), Some(0), "{unpacked:?}");
    let report: Value = serde_json::from_slice(&unpacked.stdout).unwrap();
    let unpacked = report["scenario"].as_str().unwrap();
    assert!(report["lacks"].as_array().unwrap().is_empty());
    let hash = |file: &str| {
        let run = call(folder.path(), &["run", file, "--seconds", "10", "--json"]);
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        report["state_hash"].clone()
    };
    assert_eq!(hash(unpacked), hash(&scenario("chase")));
    // A bundle is neither written over an existing file nor made from a file that is not a
    // scenario.
    for (arguments, expected) in [
        (
            vec!["unpack", &bundle, "--into", &town],
            "not an empty folder",
        ),
        (vec!["unpack", unpacked, "--into", "x"], "not a bundle"),
        (vec!["run", &bundle], "roadwright unpack"),
    ] {
        let refused = call(folder.path(), &arguments);
        let error = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_is_not_here_is_told_and_ends_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let town = folder.path().join("a.scenario.json");
    let text = std::fs::read_to_string(scenario("crossroads")).unwrap();
    let text = text.replace("\"idm\"", "\"their_driver\"");
    std::fs::write(&town, text).unwrap();
    let bundle = folder.path().join("a.rwz").display().to_string();
    let town = town.display().to_string();
    let packed = call(folder.path(), &["pack", &town, "--out", &bundle]);
    assert_eq!(packed.status.code(), Some(1), "{packed:?}");
    let into = folder.path().join("out").display().to_string();
    let unpacked = call(folder.path(), &["unpack", &bundle, "--into", &into]);
    assert_eq!(unpacked.status.code(), Some(1), "{unpacked:?}");
    let text = String::from_utf8(unpacked.stdout).unwrap();
    assert!(
        text.contains("their_driver is not available here"),
        "{text}"
    );
}
