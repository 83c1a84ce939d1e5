//! Lanes that end because they merge (`turn:lanes=merge_to_left`).

use crate::osm::imported;
use roadwright_interchange::osm::{ImportSummary, read};
use roadwright_scenario::junction::{Layout, LinkKind, layout};
use roadwright_scenario::{RoadId, Scenario};

/// Creates two streets of 300 m in line, with the given tags. They lead along a parallel near
/// Berlin, or near London, where traffic keeps left.
fn street(in_london: bool, before: &str, beyond: &str) -> (Scenario, ImportSummary, Layout) {
    let (latitude, longitude) = if in_london {
        (51.5, -0.12)
    } else {
        (52.5, 13.4)
    };
    let mut text = String::from("<osm>");
    for id in 0..3 {
        let x = longitude + 0.0043 * f64::from(id);
        text += &format!("<node id=\"{}\" lat=\"{latitude}\" lon=\"{x}\"/>", id + 1);
    }
    for (id, tags) in [(1, before), (2, beyond)] {
        let tags = tags
            .split_whitespace()
            .filter_map(|tag| tag.split_once('='));
        let tags = tags.map(|(key, value)| format!("<tag k=\"{key}\" v=\"{value}\"/>"));
        text += &format!(
            "<way id=\"{id}\"><nd ref=\"{id}\"/><nd ref=\"{}\"/><tag k=\"highway\" v=\"secondary\"/>{}</way>",
            id + 1,
            tags.collect::<String>()
        );
    }
    let (scenario, summary) = imported(&read((text + "</osm>").as_bytes()).unwrap());
    let layout = layout(scenario.network(), scenario.about());
    (scenario, summary, layout)
}

/// Returns the lanes of road 1 that end, and the lanes that the others lead to.
fn ending(layout: &Layout) -> (Vec<i8>, Vec<(i8, i8)>) {
    let paths = layout.junctions.iter().flat_map(|junction| &junction.paths);
    let own: Vec<_> = paths.filter(|path| path.from.road == RoadId(1)).collect();
    let lanes = |kind: LinkKind| {
        let paths = own.iter().filter(move |path| path.kind == kind);
        let mut lanes: Vec<(i8, i8)> = paths.map(|path| (path.from.lane, path.to.lane)).collect();
        lanes.sort_unstable_by_key(|(from, _)| from.abs());
        lanes
    };
    let merging = lanes(LinkKind::Merge).into_iter().map(|(from, _)| from);
    (merging.collect(), lanes(LinkKind::Normal))
}

fn left_out(summary: &ImportSummary) -> usize {
    let mut warnings = summary.warnings.iter();
    let left_out = warnings.find(|warning| warning.reason.contains("merge_to_left"));
    left_out.map_or(0, |warning| warning.count)
}

#[test]
fn the_lane_that_the_data_name_ends() {
    for (values, expected) in [
        ("||merge_to_left", (vec![-3], vec![(-1, -1), (-2, -2)])),
        ("merge_to_right||", (vec![-1], vec![(-2, -1), (-3, -2)])),
        // Without arrows, the lane at the kerb ends.
        ("||", (vec![-3], vec![(-1, -1), (-2, -2)])),
    ] {
        let before = format!("oneway=yes lanes=3 turn:lanes={values}");
        let (_, summary, layout) = street(false, &before, "oneway=yes lanes=2");
        assert_eq!(ending(&layout), expected, "{values}");
        assert_eq!(left_out(&summary), 0);
    }
    // Two lanes become one.
    for (values, expected) in [
        ("|merge_to_left", (vec![-2], vec![(-1, -1)])),
        ("merge_to_right|", (vec![-1], vec![(-2, -1)])),
    ] {
        let before = format!("oneway=yes lanes=2 turn:lanes={values}");
        let (_, _, layout) = street(false, &before, "oneway=yes lanes=1");
        assert_eq!(ending(&layout), expected, "{values}");
    }
    // In left-hand traffic, the lane at the kerb is the left one.
    for (values, expected) in [
        ("||merge_to_left", (vec![1], vec![(2, 1), (3, 2)])),
        ("merge_to_right||", (vec![3], vec![(1, 1), (2, 2)])),
    ] {
        let before = format!("oneway=yes lanes=3 turn:lanes={values}");
        let (_, _, layout) = street(true, &before, "oneway=yes lanes=2");
        assert_eq!(ending(&layout), expected, "{values}");
    }
}

#[test]
fn the_road_beyond_begins_beside_the_lane_that_ends() {
    let before = "oneway=yes lanes=3 turn:lanes=merge_to_right||";
    let (scenario, _, _) = street(false, before, "oneway=yes lanes=2");
    let centre = |road: u32, lane: i8, s: f64| {
        let road = scenario.network().road(RoadId(road)).unwrap();
        road.lane_band(lane, s).unwrap().centre
    };
    let end = scenario.network().road(RoadId(1)).unwrap().length();
    for (lane, next) in [(-2, -1), (-3, -2)] {
        assert!((centre(1, lane, end) - centre(2, next, 0.0)).abs() < 1e-6);
    }
    // 80 m later, it is centred on its line again.
    assert!((centre(2, -1, 80.0) + centre(2, -2, 80.0)).abs() < 1e-6);
}

#[test]
fn lanes_of_one_direction_of_a_two_way_street_end() {
    let before = "lanes=3 lanes:forward=2 lanes:backward=1 turn:lanes:forward=|merge_to_left";
    let (_, summary, layout) = street(false, before, "lanes=2");
    assert_eq!(ending(&layout), (vec![-2], vec![(-1, -1)]));
    assert_eq!(left_out(&summary), 0);
}

#[test]
fn lanes_that_go_on_in_the_next_way_are_reported() {
    let before = "oneway=yes lanes=3 turn:lanes=||merge_to_left";
    let (_, summary, layout) = street(false, before, "oneway=yes lanes=3");
    assert_eq!(left_out(&summary), 1);
    assert_eq!(ending(&layout).0, Vec::<i8>::new());
}
