//! OpenStreetMap import: small data of our own, real Dublin where it is at hand, and damage.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use roadwright_interchange::osm::{
    Elements, GeoBox, ImportError, ImportOptions, ImportSummary, great_circle_distance, import,
    read, read_file,
};
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::{DrivingSide, LaneType, RestrictionKind, Scenario};
use std::path::PathBuf;

/// A crossroads in Dublin with a one-way arm, a banned turn and a footpath.
const CROSSROADS: &str = r#"<?xml version="1.0"?>
<osm version="0.6">
  <node id="1" lat="53.3400" lon="-6.2620"/>
  <node id="2" lat="53.3400" lon="-6.2600"><tag k="highway" v="traffic_signals"/></node>
  <node id="3" lat="53.3400" lon="-6.2580"/>
  <node id="4" lat="53.3390" lon="-6.2600"/>
  <node id="5" lat="53.3410" lon="-6.2600"/>
  <node id="6" lat="53.3410" lon="-6.2590"/>
  <way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="secondary"/><tag k="name" v="West &amp; Co"/></way>
  <way id="11"><nd ref="2"/><nd ref="3"/><tag k="highway" v="secondary"/><tag k="lanes" v="4"/></way>
  <way id="12"><nd ref="4"/><nd ref="2"/><nd ref="5"/><tag k="highway" v="residential"/><tag k="oneway" v="yes"/></way>
  <way id="13"><nd ref="5"/><nd ref="6"/><tag k="highway" v="footway"/></way>
  <relation id="20"><member type="way" ref="10" role="from"/><member type="node" ref="2" role="via"/><member type="way" ref="11" role="to"/><tag k="type" v="restriction"/><tag k="restriction" v="no_straight_on"/></relation>
  <relation id="21"><member type="way" ref="10" role="from"/><tag k="type" v="restriction"/><tag k="restriction" v="no_left_turn"/></relation>
</osm>"#;

fn imported(elements: &Elements) -> (Scenario, ImportSummary) {
    let options = ImportOptions {
        name: "test".into(),
        ..ImportOptions::default()
    };
    import(elements, &options).unwrap()
}

#[test]
fn a_crossroads_arrives_whole() {
    let (scenario, summary) = imported(&read(CROSSROADS.as_bytes()).unwrap());
    assert_eq!((summary.ways, summary.roads, summary.junctions), (3, 4, 1));
    assert_eq!((summary.signals, summary.restrictions), (1, 1));
    assert_eq!(summary.lanes, 2 + 4 + 1 + 1);
    assert_eq!(summary.driving_side, DrivingSide::Left);
    let (_, west) = scenario.network().roads().next().unwrap();
    assert_eq!(west.name, "West & Co");
    let one_way = scenario
        .network()
        .roads()
        .find(|(_, r)| r.lane_sections[0].lanes.len() == 1);
    assert!(
        one_way.unwrap().1.lane_sections[0].lanes[0].id > 0,
        "left-hand traffic keeps left"
    );
    let restricted = scenario
        .network()
        .nodes()
        .find(|(_, n)| !n.restrictions.is_empty())
        .unwrap();
    assert_eq!(restricted.1.restrictions[0].kind, RestrictionKind::No);
    assert!(restricted.1.signals);
    let reasons: Vec<_> = summary.warnings.iter().map(|w| w.reason.as_str()).collect();
    assert!(reasons.iter().any(|r| r.contains("footway")), "{reasons:?}");
    assert!(reasons.iter().any(|r| r.contains("via")), "{reasons:?}");
    assert!(scenario.about().attribution.contains("OpenStreetMap"));
}

#[test]
fn a_box_cuts_roads_at_its_edge() {
    let elements = read(CROSSROADS.as_bytes()).unwrap();
    let clip = GeoBox {
        west: -6.2610,
        south: 53.3395,
        east: -6.2590,
        north: 53.3405,
    };
    let options = ImportOptions {
        clip: Some(clip),
        ..ImportOptions::default()
    };
    let (_, summary) = import(&elements, &options).unwrap();
    let (_, whole) = imported(&elements);
    assert_eq!(summary.roads, 4);
    assert!(
        (summary.road_km - 0.5 * whole.road_km).abs() < 0.01,
        "{}",
        summary.road_km
    );
    let away = GeoBox {
        west: 0.0,
        south: 0.0,
        east: 1.0,
        north: 1.0,
    };
    let options = ImportOptions {
        clip: Some(away),
        ..ImportOptions::default()
    };
    let error = import(&elements, &options).unwrap_err().to_string();
    assert!(error.contains("inside the box"), "{error}");
}

#[test]
fn foreign_and_damaged_files_are_clear_errors() {
    let error = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
    assert!(error("").contains("the file is empty"));
    assert!(error("<!DOCTYPE html><html><body>404</body></html>").contains("root <html>"));
    assert!(error("{\"type\": \"FeatureCollection\"}").contains("not OpenStreetMap data"));
    assert!(error("<gpx></gpx>").contains("root <gpx>"));
    let half = &CROSSROADS[..CROSSROADS.len() / 2];
    assert!(error(half).contains("line"), "{}", error(half));
    let no_lat = CROSSROADS.replace("lat=\"53.3390\"", "lat=\"north\"");
    assert!(
        error(&no_lat).contains("(line 6): lat=\"north\" is not a number"),
        "{}",
        error(&no_lat)
    );
    let far = CROSSROADS.replace("lat=\"53.3390\"", "lat=\"1e308\"");
    assert!(
        error(&far).contains("latitude 1e308") || error(&far).contains("latitude 1000"),
        "{}",
        error(&far)
    );
    let empty = read(b"<osm version=\"0.6\"></osm>").unwrap();
    let no_roads = import(&empty, &ImportOptions::default()).unwrap_err();
    assert!(matches!(no_roads, ImportError::NoRoads(_)));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
    }

    #[test]
    fn damaged_xml_is_read_or_refused(at in 0usize..2000, byte in any::<u8>(), cut in 0usize..2000) {
        let mut bytes = CROSSROADS.as_bytes().to_vec();
        let index = at % bytes.len();
        bytes[index] = byte;
        bytes.truncate(1 + cut % bytes.len());
        if let Ok(elements) = read(&bytes) {
            let _ = import(&elements, &ImportOptions::default());
        }
    }
}

/// The real data, if they are at hand.
fn data(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/osm")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: {name} is not at hand");
    None
}

#[test]
fn the_ring_around_trinity_college_arrives_whole() {
    let Some(path) = data("trinity-ring-roads.osm") else {
        return;
    };
    let elements = read_file(&path).unwrap();
    assert_eq!(elements.ways.len(), 1386);
    assert_eq!(elements.nodes.values().filter(|n| n.signals).count(), 97);
    assert_eq!(elements.restrictions.len(), 44);
    let (scenario, summary) = imported(&elements);
    assert_eq!(summary.driving_side, DrivingSide::Left);
    let left_out: usize = summary
        .warnings
        .iter()
        .filter(|w| {
            w.examples.iter().any(|e| e.starts_with("way"))
                && !w.reason.contains("missing")
                && !w.reason.contains("stretches")
                && !w.reason.contains("loops")
        })
        .map(|w| w.count)
        .sum();
    assert_eq!(
        summary.ways + left_out,
        1386,
        "every way arrives or is listed"
    );
    // Lengths against the great-circle sum of the same ways.
    let not_taken: Vec<&str> = summary.warnings.iter().map(|w| w.reason.as_str()).collect();
    let drivable = [
        "service",
        "secondary",
        "unclassified",
        "tertiary",
        "residential",
        "secondary_link",
        "tertiary_link",
    ];
    let expected: f64 = elements
        .ways
        .iter()
        .filter(|w| drivable.contains(&w.tags["highway"].as_str()))
        .filter(|w| w.tags.get("area").is_none_or(|v| v != "yes") && !closed(w))
        .map(|w| {
            w.nodes
                .windows(2)
                .map(|p| great_circle_distance(&elements.nodes[&p[0]], &elements.nodes[&p[1]]))
                .sum::<f64>()
        })
        .sum();
    let error = summary.road_km * 1000.0 / expected - 1.0;
    assert!(
        error.abs() < 1e-3,
        "{error}: {} of {expected}; {not_taken:?}",
        summary.road_km
    );
    let findings = check(&scenario);
    assert!(
        findings.iter().all(|f| f.code != Code::JointGap),
        "{findings:?}"
    );
    // One-way streets stay one-way.
    let one_way = scenario
        .network()
        .roads()
        .filter(|(_, r)| {
            let lanes = &r.lane_sections[0].lanes;
            lanes
                .iter()
                .all(|l| l.id > 0 && l.kind != LaneType::Sidewalk)
        })
        .count();
    assert!(one_way > 200, "{one_way}");
}

fn closed(way: &roadwright_interchange::osm::Way) -> bool {
    let get = |key: &str| way.tags.get(key).map(String::as_str);
    let general = ["motorcar", "motor_vehicle", "vehicle", "access"]
        .iter()
        .find_map(|k| get(k));
    let bus = ["bus", "psv"]
        .iter()
        .any(|k| matches!(get(k), Some("yes" | "designated" | "official")));
    general == Some("no") && !bus
}

#[test]
fn xml_and_pbf_of_other_areas_load_and_truncation_is_an_error() {
    for name in [
        "trinity-one-junction-filtered.osm",
        "trinity-ring-filtered.osm.pbf",
        "dublin-centre-roads.osm.pbf",
    ] {
        let Some(path) = data(name) else { return };
        let bytes = std::fs::read(&path).unwrap();
        let (_, summary) = imported(&read(&bytes).unwrap());
        assert!(summary.roads > 5, "{name}");
        for share in [1, 3, 7, 9] {
            let cut = bytes.len() * share / 10;
            assert!(read(&bytes[..cut]).is_err(), "{name} cut at {cut}");
        }
    }
}
