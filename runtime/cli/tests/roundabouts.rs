//! Imports synthetic roundabouts that are mapped in unusual forms, and drives through them.

use crate::program::{call, code, json};
use roadwright_testing::{SplitRoundabout, small_ring};
use serde_json::{Value, json as value};
use std::path::Path;

/// Imports data and returns the scenario.
fn imported(folder: &Path, osm: &str) -> (String, Value) {
    let path = |name: &str| folder.join(name).display().to_string();
    let (data, file) = (path("data.osm"), path("data.scenario.json"));
    std::fs::write(&data, osm).unwrap();
    assert_eq!(code(&call(&["import", &data, "--out", &file])), 0);
    let text = std::fs::read_to_string(&file).unwrap();
    (file, serde_json::from_str(&text).unwrap())
}

/// Returns the roads that begin at the edge of the map, in order.
fn stems(scenario: &Value) -> Vec<u64> {
    let roads = scenario["roads"].as_object().unwrap();
    let ends = || roads.values().flat_map(|road| [&road["from"], &road["to"]]);
    let is_edge = |node: &Value| ends().filter(|end| *end == node).count() == 1;
    let stems = roads.iter().filter(|(_, road)| is_edge(&road["from"]));
    let mut stems: Vec<u64> = stems.map(|(id, _)| id.parse().unwrap()).collect();
    stems.sort_unstable();
    stems
}

#[test]
fn a_mini_roundabout_with_split_arms_carries_750_vehicles_an_hour() {
    for (ring, rates) in [(None, [200, 150, 100]), (Some(14.0), [200, 150, 100])] {
        let folder = tempfile::tempdir().unwrap();
        let roundabout = SplitRoundabout {
            ring,
            fork: 30.0,
            more: "",
        };
        let (file, mut scenario) = imported(folder.path(), &roundabout.osm());
        let arms = stems(&scenario);
        assert_eq!(arms.len(), 3);
        let flow = |(from, to, rate): (usize, usize, u32)| {
            value!({
                "vehicle": "car", "stack": "idm", "rate_per_hour": rate, "end": 540.0,
                "origin": {"road": arms[from], "lane": 1, "s": 10},
                "destination": {"road": arms[to], "lane": -1, "s": 20},
            })
        };
        let [busy, medium, quiet] = rates;
        let flows = [
            (0, 2, busy),
            (2, 0, busy),
            (1, 0, medium),
            (1, 2, quiet),
            (0, 1, quiet),
        ];
        let flows: serde_json::Map<String, Value> = (1..)
            .zip(flows)
            .map(|(id, one): (u32, _)| (id.to_string(), flow(one)))
            .collect();
        scenario["flows"] = flows.into();
        std::fs::write(&file, scenario.to_string()).unwrap();
        let report = json(&["run", &file, "--seconds", "600", "--verify", "--json"]);
        let count = |key: &str| report["agents"][key].as_u64().unwrap();
        assert_eq!(report["collisions"], value!([]), "ring {ring:?}");
        assert_eq!(
            count("waiting") + count("queued"),
            0,
            "{}",
            report["agents"]
        );
        assert!(count("spawned") >= 95, "{}", report["agents"]);
        // Vehicles that spawned in the last minute may still be driving.
        assert!(
            count("arrived") + 13 >= count("spawned"),
            "{}",
            report["agents"]
        );
    }
}

#[test]
fn all_arrive_over_a_small_ring_of_short_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = imported(folder.path(), &small_ring());
    for seed in ["1", "2", "3"] {
        let words = [
            "run",
            &file,
            "--populate",
            "80",
            "--seconds",
            "600",
            "--seed",
            seed,
        ];
        let report = json(&[&words[..], &["--verify", "--json"]].concat());
        assert_eq!(report["collisions"], value!([]), "seed {seed}");
        assert_eq!(
            report["agents"]["arrived"], 80,
            "seed {seed}: {}",
            report["agents"]
        );
        assert_eq!(report["law"]["gridlocks"], 0, "seed {seed}");
    }
}
