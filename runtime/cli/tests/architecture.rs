//! The layers point one way, and ARCHITECTURE.md names what there is.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The platform that this test runs on; crates of others are not downloaded.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("rustc names its host").to_owned()
}

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", &host()])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What each crate of ours may build on, directly.
fn allowed(name: &str) -> &'static [&'static str] {
    match name {
        "roadwright-files" | "roadwright-geometry" | "roadwright-plugin-api" => &[],
        "roadwright-plugin-sdk" => &["plugin-api"],
        // Example plugins see what any author sees.
        "pure-pursuit" | "lattice-planner" | "comfort-fitness" | "rw-chaos" => &["plugin-sdk"],
        // The tests run worlds, and hold the built-in modules against what stands in for them.
        "roadwright-extension" => &[
            "files",
            "geometry",
            "scenario",
            "plugin-api",
            "agent",
            "control",
            "simulation",
            "plugin-sdk",
        ],
        "roadwright-scenario" => &["files", "geometry"],
        "roadwright-interchange" => &["files", "geometry", "scenario"],
        "roadwright-agent" => &["geometry", "scenario", "plugin-api"],
        "roadwright-vehicle" | "roadwright-control" | "roadwright-planning" => {
            &["geometry", "scenario", "plugin-api", "agent"]
        }
        "roadwright-simulation" => &[
            "geometry",
            "scenario",
            "plugin-api",
            "agent",
            "vehicle",
            "control",
            "planning",
        ],
        "roadwright-render" => &["geometry", "scenario", "simulation"],
        "roadwright-editor" => &[
            "files",
            "geometry",
            "scenario",
            "plugin-api",
            "interchange",
            "agent",
            "control",
            "simulation",
            "extension",
            "render",
        ],
        // The library: what is below the editor, and nothing that draws.
        "roadwright" => &[
            "extension",
            "geometry",
            "scenario",
            "plugin-api",
            "agent",
            "simulation",
        ],
        "roadwright-cli" => &[
            "editor",
            "extension",
            "files",
            "geometry",
            "scenario",
            "plugin-api",
            "interchange",
            "agent",
            "vehicle",
            "control",
            "planning",
            "simulation",
            "render",
        ],
        other => {
            panic!("{other} has no place in the layers: give it one here and in ARCHITECTURE.md")
        }
    }
}

fn members(metadata: &Value) -> BTreeMap<String, &Value> {
    let ids: BTreeSet<&str> = metadata["workspace_members"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .filter(|package| ids.contains(package["id"].as_str().unwrap()))
        .map(|package| (package["name"].as_str().unwrap().to_owned(), package))
        .collect()
}

#[test]
fn arrows_point_one_way() {
    let metadata = metadata();
    for (name, package) in members(&metadata) {
        let allowed = allowed(&name);
        for dependency in package["dependencies"].as_array().unwrap() {
            let on = dependency["name"].as_str().unwrap();
            // Nobody of ours builds on the library: it is for others.
            assert_ne!(on, "roadwright", "{name} must not build on {on}");
            if let Some(short) = on.strip_prefix("roadwright-") {
                assert!(allowed.contains(&short), "{name} must not build on {on}");
            }
        }
    }
}

#[test]
fn nothing_below_the_editor_reaches_egui() {
    let metadata = metadata();
    let nodes: BTreeMap<&str, Vec<&str>> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| {
            let dependencies = node["dependencies"].as_array().unwrap().iter();
            (
                node["id"].as_str().unwrap(),
                dependencies.filter_map(Value::as_str).collect(),
            )
        })
        .collect();
    let reached = |package: &Value| -> Option<String> {
        let mut open = vec![package["id"].as_str().unwrap()];
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                let is_ui = ["egui", "eframe", "epaint", "wgpu"]
                    .iter()
                    .any(|ui| id.contains(&format!("#{ui}@")));
                if is_ui {
                    return Some(id.to_owned());
                }
                open.extend(&nodes[id]);
            }
        }
        None
    };
    for (name, package) in members(&metadata) {
        // The program opens the editor; nothing else may. That these two do reach it shows that
        // the search works.
        let may = ["roadwright-editor", "roadwright-cli"].contains(&name.as_str());
        assert_eq!(
            reached(package).is_some(),
            may,
            "{name}: {:?}",
            reached(package)
        );
    }
}

#[test]
fn the_architecture_document_names_what_there_is() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut named = 0;
    for word in text.split('`').skip(1).step_by(2) {
        let is_path = word.contains('/')
            && !word.contains(' ')
            && !word.contains('*')
            && !word.contains("::");
        if is_path {
            named += 1;
            assert!(
                root().join(word).exists(),
                "ARCHITECTURE.md names {word}, which does not exist"
            );
        }
    }
    assert!(named > 10, "only {named} paths found");
    for name in members(&metadata()).keys() {
        assert!(
            text.contains(name.trim_start_matches("roadwright-")),
            "{name} is missing in ARCHITECTURE.md"
        );
    }
}
