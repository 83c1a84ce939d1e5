//! Imports whole towns and fills them with traffic. One is small and synthetic; if `ROADWRIGHT_TEST_DATA` is
//! set, another is a part of Dublin.

use crate::program::{call, code, json};
use roadwright_testing::city;
use std::path::Path;

/// Number of random trips in a town, and minimum number of arrivals within the given time.
struct Traffic {
    trips: u64,
    seconds: u64,
    arrivals: u64,
}

/// Imports and checks a town, and runs traffic in it with one thread and with two.
fn traffic_arrives(town: &Path, traffic: &Traffic) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("town.scenario.json");
    let (town, file) = (town.display().to_string(), file.display().to_string());
    json(&["import", &town, "--out", &file, "--json"]);
    assert_eq!(code(&call(&["check", &file])), 0);
    let (trips, seconds) = (traffic.trips.to_string(), traffic.seconds.to_string());
    let run = |threads: &str| {
        let words = ["run", &file, "--populate", &trips, "--seconds", &seconds];
        json(&[&words[..], &["--threads", threads, "--json"]].concat())
    };
    let (one, two) = (run("1"), run("2"));
    assert_eq!(one["state_hash"], two["state_hash"]);
    assert!(
        one["agents"]["arrived"].as_u64() >= Some(traffic.arrivals),
        "{}",
        one["agents"]
    );
    assert_eq!(one["agents"]["refused"], 0);
}

#[test]
fn at_least_nine_of_ten_cars_arrive_in_a_city_of_our_own() {
    let folder = tempfile::tempdir().unwrap();
    let town = folder.path().join("city.osm");
    std::fs::write(&town, city()).unwrap();
    let traffic = Traffic {
        trips: 60,
        seconds: 400,
        arrivals: 54,
    };
    traffic_arrives(&town, &traffic);
}

/// Tests that need `ROADWRIGHT_TEST_DATA`.
mod real_data {
    use super::*;
    use roadwright_testing::data;

    #[test]
    #[ignore = "set ROADWRIGHT_TEST_DATA"]
    fn at_least_nine_of_ten_cars_arrive_in_real_dublin() {
        let traffic = Traffic {
            trips: 150,
            seconds: 900,
            arrivals: 135,
        };
        traffic_arrives(&data("osm/trinity-ring-roads.osm"), &traffic);
    }
}
