//! Carriageways that the data draw too close to each other.

use crate::osm::imported;
use roadwright_interchange::osm::{ImportSummary, read};
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::{Poly3, Scenario};

/// Returns the OSM data of a main street with three lanes, a frontage road in the same direction,
/// and the other direction of the main street with two lanes, given by their distances from the
/// middle, m to the west. All lead along a meridian near Berlin for about 330 m and end there.
fn side_by_side(frontage: f64, main: f64, other: f64, tags: &str) -> String {
    let mut text = String::from("<osm>");
    let mut ways = String::new();
    let streets = [(frontage, 2, true), (main, 3, true), (other, 2, false)];
    for (i, (west, lanes, is_south)) in streets.into_iter().enumerate() {
        let ends = [(3 * i + 1, 52.503), (3 * i + 2, 52.5)];
        for (id, latitude) in ends {
            let longitude = 13.4 - west / 67_690.0;
            text += &format!("<node id=\"{id}\" lat=\"{latitude}\" lon=\"{longitude:.8}\"/>");
        }
        let mut nodes = ends.map(|(id, _)| format!("<nd ref=\"{id}\"/>"));
        if !is_south {
            nodes.reverse();
        }
        let more = if i == 0 { tags } else { "" };
        ways += &format!(
            "<way id=\"{}\">{}<tag k=\"highway\" v=\"primary\"/><tag k=\"oneway\" v=\"yes\"/>\
             <tag k=\"lanes\" v=\"{lanes}\"/>{more}</way>",
            i + 1,
            nodes.concat()
        );
    }
    text + &ways + "</osm>"
}

fn imports(text: &str) -> (Scenario, ImportSummary) {
    imported(&read(text.as_bytes()).unwrap())
}

fn overlaps(scenario: &Scenario) -> usize {
    let findings = check(scenario);
    findings
        .iter()
        .filter(|finding| finding.code == Code::LanesOverlap)
        .count()
}

fn still_overlapping(summary: &ImportSummary) -> usize {
    let mut warnings = summary.warnings.iter();
    let left = warnings.find(|warning| warning.reason.contains("still overlap"));
    left.map_or(0, |warning| warning.count)
}

#[test]
fn neighbours_that_overlap_move_apart_by_at_most_half_their_width() {
    // Lanes are 3.25 m wide, so the three need 6.5, 9.75 and 6.5 m.
    let (scenario, summary) = imports(&side_by_side(8.0, 0.0, -6.0, ""));
    assert_eq!(overlaps(&scenario), 0);
    assert_eq!(still_overlapping(&summary), 0);
    let moved = &summary.moved_carriageways;
    assert_eq!(moved.iter().map(|m| m.way).collect::<Vec<_>>(), [1, 2, 3]);
    for (carriageway, half) in moved.iter().zip([3.25, 4.875, 3.25]) {
        assert!(
            carriageway.by > 0.02 && carriageway.by <= half + 1e-6,
            "{carriageway:?}"
        );
        let road = scenario.network().road(carriageway.road).unwrap();
        let offsets = (0..=100).map(|i| {
            let s = road.length() * f64::from(i) / 100.0;
            Poly3::value_in(&road.lane_offset, s) - half
        });
        let largest = offsets.map(f64::abs).fold(0.0, f64::max);
        assert!(
            (largest - carriageway.by).abs() < 0.05,
            "{largest}, {carriageway:?}"
        );
    }
    // Where the lines are far enough apart, nothing moves.
    let (_, summary) = imports(&side_by_side(9.0, 0.0, -9.0, ""));
    assert_eq!(summary.moved_carriageways, []);
}

#[test]
fn what_cannot_be_separated_stays_and_is_reported() {
    let (scenario, summary) = imports(&side_by_side(0.3, 0.0, -0.3, ""));
    assert!(still_overlapping(&summary) > 0);
    assert!(overlaps(&scenario) > 0);
    for carriageway in &summary.moved_carriageways {
        assert!(carriageway.by <= 4.875 + 1e-6, "{carriageway:?}");
    }
}

#[test]
fn a_bridge_over_a_road_moves_nothing() {
    let bridge = "<tag k=\"bridge\" v=\"yes\"/><tag k=\"layer\" v=\"1\"/>";
    let (scenario, summary) = imports(&side_by_side(2.0, 0.0, -20.0, bridge));
    assert_eq!(summary.moved_carriageways, []);
    assert_eq!(overlaps(&scenario), 0);
}
