//! Imports of whole towns. One is small and synthetic. If `ROADWRIGHT_TEST_DATA` is set, parts of Dublin are
//! imported as well.

use crate::merged_junctions::hold;
use crate::osm::imported;
use roadwright_interchange::osm::{
    Elements, ImportOptions, ImportSummary, SignKind, Way, great_circle_distance, import, read,
};
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::{Control, DrivingSide, LaneType, RoadId, Scenario};
use roadwright_testing::{CITY_RESTRICTIONS, CITY_SIGNALS, city};

/// Expected contents of a town.
struct Expected {
    ways: usize,
    /// Number of nodes with signals.
    signal_nodes: usize,
    /// Number of junctions that get signals.
    signals: usize,
    restrictions: usize,
    /// Minimum number of one-way roads.
    one_way: usize,
}

fn signal_nodes(elements: &Elements) -> usize {
    let nodes = elements.nodes.values();
    nodes
        .filter(|node| node.sign.kind == Some(SignKind::Signals))
        .count()
}

/// Returns the number of ways that the summary lists as left out. Other warnings about ways are
/// about parts of them, such as bus lanes, or about changes of their course.
fn left_out(summary: &ImportSummary) -> usize {
    let warnings = summary.warnings.iter();
    let of_whole_ways = warnings.filter(|warning| {
        let reasons = ["highway=", "area=yes", "closed to motor vehicles"];
        reasons.iter().any(|one| warning.reason.starts_with(one))
    });
    of_whole_ways.map(|warning| warning.count).sum()
}

/// Returns the total length of all ways that cars may use, measured along great circles, m.
fn drivable_length(elements: &Elements, kinds: &[&str]) -> f64 {
    let length = |way: &Way| {
        let pairs = way.nodes.windows(2);
        pairs
            .map(|pair| great_circle_distance(&elements.nodes[&pair[0]], &elements.nodes[&pair[1]]))
            .sum::<f64>()
    };
    let ways = elements.ways.iter();
    ways.filter(|way| kinds.contains(&way.tags["highway"].as_str()))
        .filter(|way| way.tags.get("area").is_none_or(|value| value != "yes") && !is_closed(way))
        .map(length)
        .sum()
}

fn is_closed(way: &Way) -> bool {
    let get = |key: &str| way.tags.get(key).map(String::as_str);
    let general = ["motorcar", "motor_vehicle", "vehicle", "access"]
        .iter()
        .find_map(|key| get(key));
    let bus = ["bus", "psv"]
        .iter()
        .any(|key| matches!(get(key), Some("yes" | "designated" | "official")));
    general == Some("no") && !bus
}

fn one_way_roads(scenario: &Scenario) -> usize {
    let roads = scenario.network().roads();
    let is_one_way = |lanes: &[roadwright_scenario::Lane]| {
        let mut lanes = lanes.iter();
        lanes.all(|lane| lane.id > 0 && lane.kind != LaneType::Sidewalk)
    };
    roads
        .filter(|(_, road)| is_one_way(&road.lane_sections[0].lanes))
        .count()
}

/// Compares an import with the known contents of its town.
fn arrives_whole(elements: &Elements, kinds: &[&str], expected: &Expected) {
    assert_eq!(elements.ways.len(), expected.ways);
    assert_eq!(signal_nodes(elements), expected.signal_nodes);
    assert_eq!(elements.restrictions.len(), expected.restrictions);
    let (scenario, summary) = imported(elements);
    assert_eq!(
        (summary.signals, summary.signals_unassigned),
        (expected.signals, 0)
    );
    assert_eq!(summary.driving_side, DrivingSide::Left);
    assert_eq!(
        summary.ways + left_out(&summary),
        expected.ways,
        "every way arrives or is listed: {:?}",
        summary.warnings
    );
    let length = drivable_length(elements, kinds);
    let error = summary.road_km * 1000.0 / length - 1.0;
    assert!(
        error.abs() < 1e-3,
        "{error}: {} of {length}; {:?}",
        summary.road_km,
        summary.warnings
    );
    let findings = check(&scenario);
    assert!(
        findings
            .iter()
            .all(|finding| finding.code != Code::JointGap),
        "{findings:?}"
    );
    let one_way = one_way_roads(&scenario);
    assert!(one_way >= expected.one_way, "{one_way}");
}

/// Reads a complete file, and the same file cut off at several points.
fn loads_whole_only(bytes: &[u8], name: &str) {
    let (_, summary) = imported(&read(bytes).unwrap());
    assert!(summary.roads > 5, "{name}");
    for share in [1, 3, 7, 9] {
        let cut = bytes.len() * share / 10;
        assert!(read(&bytes[..cut]).is_err(), "{name} cut at {cut}");
    }
}

fn houses_keep_clear(elements: &Elements, buildings: usize, land: usize) {
    let (scenario, summary) = import(elements, &ImportOptions::default()).unwrap();
    assert!(
        summary.buildings > buildings && summary.land > land,
        "{summary:?}"
    );
    let on_roads = check(&scenario).into_iter();
    let on_roads = on_roads.filter(|finding| finding.code == Code::ObstacleOnRoad);
    assert_eq!(on_roads.count(), 0);
}

fn merged_junctions_lead_nowhere_new(elements: &Elements, least: usize) {
    let options = ImportOptions {
        roads_only: true,
        ..ImportOptions::default()
    };
    let (scenario, _) = import(elements, &options).unwrap();
    let tally = hold(&scenario);
    assert!(tally.junctions >= least, "{tally:?}");
}

const CITY_KINDS: [&str; 5] = ["primary", "secondary", "tertiary", "residential", "service"];

#[test]
fn a_city_of_our_own_arrives_whole() {
    let elements = read(city().as_bytes()).unwrap();
    let expected = Expected {
        ways: elements.ways.len(),
        signal_nodes: CITY_SIGNALS,
        signals: CITY_SIGNALS,
        restrictions: CITY_RESTRICTIONS + 1,
        one_way: 20,
    };
    arrives_whole(&elements, &CITY_KINDS, &expected);
}

#[test]
fn a_city_of_our_own_has_what_it_names() {
    let (scenario, summary) = imported(&read(city().as_bytes()).unwrap());
    assert_eq!(summary.restrictions, CITY_RESTRICTIONS);
    let network = scenario.network();
    let named = |name: &str| -> Vec<RoadId> {
        let roads = network.roads().filter(|(_, road)| road.name == name);
        roads.map(|(id, _)| id).collect()
    };
    // The bridge crosses above the avenue and has no junction with it.
    let bridge = named("Bridge");
    let [bridge] = bridge[..] else {
        panic!("one bridge: {bridge:?}")
    };
    assert_eq!(network.road(bridge).unwrap().layer, 1);
    for id in named("Avenue 1") {
        assert_eq!(network.road(id).unwrap().layer, 0);
    }
    assert!(named("Ring").len() >= 4, "the ring has four arms");
    let lanes = |name: &str| {
        let road = network.road(named(name)[2]).unwrap();
        let lanes = road.lane_sections[0].lanes.iter();
        lanes.filter(|lane| lane.kind == LaneType::Driving).count()
    };
    assert_eq!(
        (lanes("Avenue 2"), lanes("Street 2"), lanes("Avenue 3")),
        (4, 2, 2)
    );
    let controls = network.nodes().filter_map(|(_, node)| node.rules.control);
    let controls: Vec<Control> = controls.collect();
    for wanted in [
        Control::Signals,
        Control::MiniRoundabout,
        Control::AllWayStop,
    ] {
        assert!(controls.contains(&wanted), "{wanted:?}: {controls:?}");
    }
    let reasons: Vec<&str> = summary.warnings.iter().map(|w| w.reason.as_str()).collect();
    assert!(
        reasons.iter().any(|reason| reason.contains("footway")),
        "{reasons:?}"
    );
    assert!(
        reasons.iter().any(|reason| reason.contains("do not meet")),
        "{reasons:?}"
    );
}

#[test]
fn a_city_of_our_own_that_is_cut_off_is_an_error() {
    loads_whole_only(city().as_bytes(), "the city");
}

#[test]
fn houses_of_a_city_of_our_own_keep_clear_of_its_lanes() {
    houses_keep_clear(&read(city().as_bytes()).unwrap(), 60, 1);
}

#[test]
fn merged_junctions_of_a_city_of_our_own_lead_nowhere_where_its_streets_do_not() {
    merged_junctions_lead_nowhere_new(&read(city().as_bytes()).unwrap(), 6);
}

/// Tests that need `ROADWRIGHT_TEST_DATA`. Its subfolder `osm` must contain OpenStreetMap extracts around
/// Trinity College.
mod real_data {
    use super::*;
    use roadwright_interchange::osm::read_file;
    use roadwright_testing::data;

    #[test]
    #[ignore = "set ROADWRIGHT_TEST_DATA"]
    fn the_ring_around_trinity_college_arrives_whole() {
        let elements = read_file(&data("osm/trinity-ring-roads.osm")).unwrap();
        let kinds = [
            "service",
            "secondary",
            "unclassified",
            "tertiary",
            "residential",
            "secondary_link",
            "tertiary_link",
        ];
        let expected = Expected {
            ways: 1386,
            signal_nodes: 97,
            signals: 76,
            restrictions: 44,
            one_way: 201,
        };
        arrives_whole(&elements, &kinds, &expected);
    }

    #[test]
    #[ignore = "set ROADWRIGHT_TEST_DATA"]
    fn xml_and_pbf_of_other_areas_load_and_truncation_is_an_error() {
        for name in [
            "osm/trinity-one-junction-filtered.osm",
            "osm/trinity-ring-filtered.osm.pbf",
            "osm/dublin-centre-roads.osm.pbf",
        ] {
            loads_whole_only(&std::fs::read(data(name)).unwrap(), name);
        }
    }

    #[test]
    #[ignore = "set ROADWRIGHT_TEST_DATA"]
    fn houses_of_dublin_keep_clear_of_its_lanes() {
        let elements = read_file(&data("osm/trinity-ring-filtered.osm.pbf")).unwrap();
        houses_keep_clear(&elements, 1_000, 100);
    }

    #[test]
    #[ignore = "set ROADWRIGHT_TEST_DATA"]
    fn merged_junctions_of_real_towns_lead_nowhere_where_their_streets_do_not() {
        for (name, least) in [
            ("osm/trinity-ring-filtered.osm.pbf", 3),
            ("osm/dublin-centre-roads.osm.pbf", 100),
        ] {
            merged_junctions_lead_nowhere_new(&read_file(&data(name)).unwrap(), least);
        }
    }
}
