//! Buildings and land from OpenStreetMap: what is imported, clearance from lanes, and damaged data.

use proptest::prelude::*;
use roadwright_geometry::polygon;
use roadwright_interchange::osm::{
    Elements, GeoBox, ImportOptions, ImportSummary, LocalProjection, import, read,
};
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::file::to_text;
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::LaneGraph;
use roadwright_scenario::{Edit, LandUse, Obstacle, Scenario, Shape};
use std::fmt::Write;

/// Latitude and longitude of the start of the test street, degrees.
const ORIGIN: (f64, f64) = (53.34, -6.26);

/// A map around a street of 200 m along x, described in metres, with the middle of the street as the origin.
struct Town {
    nodes: String,
    rest: String,
    next: i64,
    projection: LocalProjection,
}

impl Town {
    fn new() -> Self {
        let mut town = Self {
            nodes: String::new(),
            rest: String::new(),
            next: 1,
            projection: LocalProjection::new(ORIGIN.0, ORIGIN.1),
        };
        town.way(&[(-100.0, 0.0), (100.0, 0.0)], false, "highway=residential");
        town
    }

    fn node(&mut self, x: f64, y: f64) -> i64 {
        let (latitude, longitude) = self.projection.to_degrees((x, y).into());
        self.next += 1;
        let id = self.next;
        writeln!(
            self.nodes,
            "<node id=\"{id}\" lat=\"{latitude}\" lon=\"{longitude}\"/>"
        )
        .unwrap();
        id
    }

    /// Adds an open or closed way through the given points.
    fn way(&mut self, places: &[(f64, f64)], closed: bool, tags: &str) -> i64 {
        let mut nodes: Vec<i64> = places.iter().map(|at| self.node(at.0, at.1)).collect();
        if closed {
            nodes.push(nodes[0]);
        }
        self.way_of(&nodes, tags)
    }

    fn way_of(&mut self, nodes: &[i64], tags: &str) -> i64 {
        self.next += 1;
        let id = self.next;
        let refs: String = nodes
            .iter()
            .map(|id| format!("<nd ref=\"{id}\"/>"))
            .collect();
        writeln!(self.rest, "<way id=\"{id}\">{refs}{}</way>", tagged(tags)).unwrap();
        id
    }

    fn multipolygon(&mut self, members: &[(i64, &str)], tags: &str) {
        self.next += 1;
        let members: String = members
            .iter()
            .map(|(id, role)| format!("<member type=\"way\" ref=\"{id}\" role=\"{role}\"/>"))
            .collect();
        let tags = tagged(&format!("type=multipolygon {tags}"));
        let id = self.next;
        writeln!(
            self.rest,
            "<relation id=\"{id}\">{members}{tags}</relation>"
        )
        .unwrap();
    }

    fn elements(&self) -> Elements {
        let text = format!("<osm version=\"0.6\">{}{}</osm>", self.nodes, self.rest);
        read(text.as_bytes()).unwrap()
    }

    fn import(&self) -> (Scenario, ImportSummary) {
        import(&self.elements(), &ImportOptions::default()).unwrap()
    }
}

fn tagged(tags: &str) -> String {
    let tag = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap();
        format!("<tag k=\"{key}\" v=\"{value}\"/>")
    };
    tags.split_whitespace().map(tag).collect()
}

fn square(x: f64, y: f64, half: f64) -> [(f64, f64); 4] {
    [
        (x - half, y - half),
        (x + half, y - half),
        (x + half, y + half),
        (x - half, y + half),
    ]
}

fn told(summary: &ImportSummary, words: &str) -> usize {
    let found = summary
        .warnings
        .iter()
        .filter(|warning| warning.reason.contains(words));
    found.map(|warning| warning.count).sum()
}

/// Returns the smallest distance between a lane's edge and a building, m.
fn room_beside_lanes(scenario: &Scenario) -> f64 {
    let layout = layout(scenario.network(), scenario.about());
    let graph = LaneGraph::new(scenario, &layout);
    let mut least = f64::INFINITY;
    for (id, lanelet) in graph.numbered() {
        for point in graph.line(id).points() {
            for obstacle in scenario.obstacles().values() {
                least = least.min(obstacle.shape.distance(point) - 0.5 * lanelet.width);
            }
        }
    }
    least
}

#[test]
fn a_street_has_its_houses_its_park_and_its_pond() {
    let mut town = Town::new();
    town.way(
        &square(0.0, 30.0, 8.0),
        true,
        "building=house height=9.5 name=Inn",
    );
    town.way(&square(50.0, 40.0, 15.0), true, "leisure=park name=Green");
    let shore = town.way(&square(-50.0, 50.0, 20.0), true, "source=survey");
    let island = town.way(&square(-50.0, 50.0, 5.0), true, "natural=wood");
    town.multipolygon(
        &[(shore, "outer"), (island, "inner")],
        "natural=water name=Pond",
    );
    let (scenario, summary) = town.import();
    assert_eq!((summary.buildings, summary.land), (1, 3));
    let house = scenario.obstacles().values().next().unwrap();
    assert_eq!(
        (*house.height, house.name.as_str(), *house.mass),
        (9.5, "Inn", None)
    );
    assert!((polygon::signed_area(&house.shape.outline()) - 256.0).abs() < 1.0);
    let find = |usage| {
        scenario
            .land()
            .values()
            .find(|land| land.usage == usage)
            .unwrap()
    };
    assert_eq!(find(LandUse::Park).name, "Green");
    let pond = find(LandUse::Water);
    assert_eq!((pond.name.as_str(), pond.holes.len()), ("Pond", 1));
    assert!((pond.area() - 1500.0).abs() < 3.0, "{}", pond.area());
    assert!((find(LandUse::Wood).area() - 100.0).abs() < 1.0);
    assert_eq!(check(&scenario), []);
}

#[test]
fn land_changes_nothing_of_the_roads() {
    let mut town = Town::new();
    town.way(&square(0.0, 5.0, 8.0), true, "building=yes");
    town.way(&square(50.0, 0.0, 15.0), true, "leisure=park");
    let elements = town.elements();
    let options = |roads_only| ImportOptions {
        roads_only,
        ..ImportOptions::default()
    };
    let (mut with, summary) = import(&elements, &options(false)).unwrap();
    let (without, bare) = import(&elements, &options(true)).unwrap();
    assert!(summary.buildings > 0 && summary.land > 0);
    assert_eq!((bare.buildings, bare.land), (0, 0));
    assert_ne!(to_text(&with), to_text(&without));
    let obstacles: Vec<_> = with.obstacles().keys().copied().collect();
    let land: Vec<_> = with.land().keys().copied().collect();
    obstacles
        .into_iter()
        .for_each(|id| drop(with.apply(Edit::Obstacle(id, None)).unwrap()));
    land.into_iter()
        .for_each(|id| drop(with.apply(Edit::Land(id, None)).unwrap()));
    assert_eq!(to_text(&with), to_text(&without));
}

#[test]
fn a_gate_over_a_street_becomes_two_houses_and_a_roof_none() {
    let mut town = Town::new();
    town.way(
        &[(-5.0, -20.0), (5.0, -20.0), (5.0, 20.0), (-5.0, 20.0)],
        true,
        "building=yes",
    );
    // A kiosk on the lane, a station above it, and objects below the ground.
    town.way(&square(60.0, 0.0, 3.0), true, "building=kiosk");
    town.way(&square(-60.0, 0.0, 12.0), true, "building=roof");
    town.way(&square(30.0, 20.0, 5.0), true, "building=yes layer=-1");
    let (scenario, summary) = town.import();
    assert_eq!(summary.buildings, 2, "{:?}", summary.warnings);
    assert_eq!(told(&summary, "buildings trimmed"), 1);
    assert_eq!(told(&summary, "on or over lanes"), 1);
    assert_eq!(told(&summary, "roofs on posts"), 1);
    assert_eq!(told(&summary, "underground"), 1);
    assert!(room_beside_lanes(&scenario) > 0.1);
    // A check of the measure itself: without the cut, the same house stands on the lane.
    let mut uncut = scenario.clone();
    let (&id, first) = scenario.obstacles().iter().next().unwrap();
    let points = square(0.0, 0.0, 5.0).map(|(x, y)| (x, y).into()).to_vec();
    let shape = Shape::Polygon {
        points: points.into(),
    };
    let wrong = Obstacle {
        shape,
        ..first.clone()
    };
    uncut
        .apply(Edit::Obstacle(id, Some(Box::new(wrong))))
        .unwrap();
    assert!(room_beside_lanes(&uncut) < 0.0);
    assert!(
        check(&uncut)
            .iter()
            .any(|finding| finding.code == Code::ObstacleOnRoad)
    );
}

#[test]
fn a_box_cuts_land_at_its_edge() {
    let mut town = Town::new();
    town.way(&square(0.0, 0.0, 5_000.0), true, "landuse=residential");
    town.way(&square(0.0, 40.0, 10.0), true, "building=yes");
    town.way(&square(900.0, 40.0, 10.0), true, "building=yes");
    // If no box is given, land ends near the roads, because a county around a street would be of no use.
    let (scenario, summary) = town.import();
    assert_eq!((summary.buildings, summary.land), (1, 1));
    let (low, high) = scenario.bounds().unwrap();
    assert!((high - low).max_element() < 600.0, "{low} {high}");
    let (south, west) = town.projection.to_degrees((-60.0, -50.0).into());
    let (north, east) = town.projection.to_degrees((120.0, 42.0).into());
    let options = ImportOptions {
        clip: Some(GeoBox {
            west,
            south,
            east,
            north,
        }),
        ..ImportOptions::default()
    };
    let (cut, _) = import(&town.elements(), &options).unwrap();
    let quarter = cut.land().values().next().unwrap();
    assert!(
        (quarter.area() - 180.0 * 92.0).abs() < 10.0,
        "{}",
        quarter.area()
    );
    let house = cut.obstacles().values().next().unwrap().shape.outline();
    assert!((polygon::signed_area(&house) - 20.0 * 12.0).abs() < 2.0);
}

#[test]
fn outlines_that_are_not_whole_are_told() {
    let mut town = Town::new();
    let half = town.way(&[(20.0, 20.0), (40.0, 20.0), (40.0, 40.0)], false, "");
    town.multipolygon(&[(half, "outer"), (4711, "outer")], "landuse=forest");
    town.multipolygon(&[], "natural=water");
    town.way_of(&[999_991, 999_992, 999_993, 999_991], "building=yes");
    // An outline with many crossings.
    let zigzag: Vec<(f64, f64)> = (0..120)
        .map(|i| {
            (
                f64::from(i % 2) * 40.0 + f64::from(i) * 0.1,
                f64::from((i * 37) % 60),
            )
        })
        .collect();
    town.way(&zigzag, true, "leisure=park");
    // A bow tie is repaired.
    let tie = [(0.0, 20.0), (10.0, 30.0), (10.0, 20.0), (0.0, 30.0)];
    town.way(&tie, true, "leisure=garden");
    let (scenario, summary) = town.import();
    assert_eq!(told(&summary, "is incomplete"), 1);
    assert_eq!(told(&summary, "nodes that are missing"), 1);
    assert_eq!(
        told(&summary, "self-intersections"),
        1,
        "{:?}",
        summary.warnings
    );
    assert_eq!((summary.buildings, summary.land), (0, 2));
    assert_eq!(check(&scenario), []);
}

#[test]
fn walls_that_houses_share_stay_side_by_side() {
    let mut town = Town::new();
    let nodes: Vec<i64> = [
        (0.0, 20.0),
        (10.0, 20.0),
        (20.0, 20.0),
        (20.0, 30.0),
        // A corner on the party wall, barely beside the line between the ends of the wall.
        (10.05, 25.0),
        (10.0, 30.0),
        (0.0, 30.0),
    ]
    .map(|at| town.node(at.0, at.1))
    .to_vec();
    let [a, b, c, d, wall, e, f] = nodes[..] else {
        panic!("seven nodes");
    };
    town.way_of(&[a, b, wall, e, f, a], "building=house");
    town.way_of(&[b, c, d, e, wall, b], "building=house");
    let (scenario, _) = town.import();
    assert_eq!(scenario.obstacles().len(), 2);
    let corners = |obstacle: &Obstacle| obstacle.shape.outline().len();
    assert!(scenario.obstacles().values().all(|one| corners(one) == 5));
    assert_eq!(check(&scenario), []);
}

/// Generates a random position on the map, or a position where other nodes are likely.
fn place() -> impl Strategy<Value = (f64, f64)> {
    prop_oneof![
        (-150.0..150.0f64, -60.0..60.0f64),
        (-5i32..5, -5i32..5).prop_map(|(x, y)| (f64::from(x) * 10.0, f64::from(y) * 4.0)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_outlines_are_read_and_keep_clear_of_lanes(
        outlines in proptest::collection::vec(proptest::collection::vec(place(), 1..14), 0..8),
        is_closed in proptest::collection::vec(any::<bool>(), 8),
        kinds in proptest::collection::vec(0usize..5, 8),
        members in proptest::collection::vec((0usize..10, any::<bool>()), 0..6),
    ) {
        let tags = ["building=yes", "leisure=park", "natural=water", "", "building=yes height=x"];
        let mut town = Town::new();
        let mut ways = Vec::new();
        for ((outline, closed), kind) in outlines.iter().zip(is_closed).zip(kinds) {
            ways.push(town.way(outline, closed, tags[kind]));
        }
        let members: Vec<(i64, &str)> = members
            .iter()
            .map(|(way, outer)| {
                let id = ways.get(*way).copied().unwrap_or(77_777);
                (id, if *outer { "outer" } else { "inner" })
            })
            .collect();
        town.multipolygon(&members, "building=yes");
        town.multipolygon(&members, "landuse=forest");
        let (scenario, summary) = town.import();
        prop_assert_eq!(scenario.obstacles().len(), summary.buildings);
        prop_assert_eq!(scenario.land().len(), summary.land);
        prop_assert!(room_beside_lanes(&scenario) > 0.1);
        for land in scenario.land().values() {
            prop_assert!(land.area() > 1.0);
        }
        let text = to_text(&scenario);
        let back = roadwright_scenario::file::from_text(&text).unwrap();
        prop_assert_eq!(to_text(&back), text);
    }
}
