//! The old town: everything that makes traffic in a city difficult, around a campus.

use super::builder::{Builder, alley, avenue, bus_street, footway, one_way, street, trip};
use super::houses::{Block, Houses, Side};
use super::small::city_fuzzy;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::{Stream, cos, sin};
use roadwright_scenario::junction::layout;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind};
use roadwright_scenario::{DrivingSide, LandUse, Place, RoadClass, RoadId, Scenario};
use std::f64::consts::TAU;

/// Number of driving vehicles.
const VEHICLES: usize = 150;

pub(crate) fn old_town() -> Scenario {
    let mut b = Builder::new(
        "old-town",
        "A district around a campus: dense one-way streets, junctions of five streets, bus lanes, \
         alleys, avenues and a street without cars; 150 vehicles with destinations.",
        DrivingSide::Left,
    );
    b.settings(7, 900.0);
    roads(&mut b);
    blocks(&mut b);
    b.stack("fuzzy_driver", city_fuzzy(6.5, 20.0));
    traffic(&mut b);
    b.scenario
}

/// Draws the streets, from the outer ones to the alleys. Junctions are created where streets cross.
fn roads(b: &mut Builder) {
    // Avenues around the district.
    b.road(
        &[(-420.0, 300.0), (420.0, 300.0)],
        0.0,
        &avenue("North Quay"),
    );
    b.road(
        &[(-420.0, -300.0), (420.0, -300.0)],
        0.0,
        &avenue("Canal Road"),
    );
    b.road(
        &[(-350.0, -360.0), (-350.0, 360.0)],
        0.0,
        &avenue("Castle Street"),
    );
    b.road(
        &[(350.0, -360.0), (350.0, 360.0)],
        0.0,
        &avenue("Station Road"),
    );
    // The one-way ring around the campus, clockwise, with its bus lane.
    let ring = [
        (-140.0, 120.0),
        (150.0, 120.0),
        (150.0, -110.0),
        (-140.0, -110.0),
        (-140.0, 120.0),
    ];
    for (pair, name) in ring.windows(2).zip([
        "College Street",
        "East Gate",
        "South Gate",
        "Parliament Row",
    ]) {
        b.road(pair, 0.0, &bus_street(name));
    }
    // Pairs of one-way streets between the ring and the avenues.
    b.road(
        &[(-140.0, 300.0), (-140.0, 120.0)],
        0.0,
        &one_way("Bridge Street", 2),
    );
    b.road(
        &[(150.0, 120.0), (150.0, 300.0)],
        0.0,
        &one_way("Custom House Lane", 2),
    );
    b.road(
        &[(150.0, -300.0), (150.0, -110.0)],
        0.0,
        &one_way("Merchant Street", 2),
    );
    b.road(
        &[(-140.0, -110.0), (-140.0, -300.0)],
        0.0,
        &one_way("Mill Street", 2),
    );
    b.road(
        &[(-350.0, 120.0), (-140.0, 120.0)],
        0.0,
        &one_way("Dame Row", 2),
    );
    b.road(
        &[(-140.0, -110.0), (-350.0, -110.0)],
        0.0,
        &one_way("Saint Anne's Row", 2),
    );
    b.road(
        &[(150.0, 120.0), (350.0, 120.0)],
        0.0,
        &one_way("Market Street", 2),
    );
    b.road(
        &[(350.0, -110.0), (150.0, -110.0)],
        0.0,
        &one_way("Lincoln Row", 2),
    );
    // A street at an angle, which creates junctions with five arms.
    b.road(
        &[(-350.0, -110.0), (-240.0, 10.0), (-140.0, 120.0)],
        60.0,
        &street("Old Post Road"),
    );
    // Two-way streets inside the districts.
    b.road(
        &[(-240.0, 300.0), (-240.0, 120.0)],
        0.0,
        &street("Cutler Street"),
    );
    b.road(
        &[(250.0, 300.0), (250.0, -300.0)],
        0.0,
        &street("Fenian Street"),
    );
    b.road(
        &[(0.0, 300.0), (0.0, 210.0), (10.0, 120.0)],
        60.0,
        &street("Hawkins Street"),
    );
    b.road(
        &[(0.0, -110.0), (0.0, -300.0)],
        0.0,
        &street("Dawson Street"),
    );
    b.road(
        &[(-350.0, 210.0), (0.0, 210.0), (350.0, 210.0)],
        0.0,
        &street("Poolbeg Street"),
    );
    b.road(
        &[(-350.0, -205.0), (350.0, -205.0)],
        0.0,
        &street("Molesworth Street"),
    );
    // Alleys.
    b.road(
        &[(-70.0, 210.0), (-70.0, 120.0)],
        0.0,
        &alley("Tanner's Alley"),
    );
    b.road(&[(75.0, 120.0), (75.0, 210.0)], 0.0, &alley("Rope Walk"));
    b.road(
        &[(-240.0, -205.0), (-240.0, -110.0)],
        0.0,
        &alley("Cooper's Alley"),
    );
    b.road(
        &[(75.0, -205.0), (75.0, -300.0)],
        0.0,
        &alley("Hat Makers' Lane"),
    );
    // The street without cars.
    b.road(
        &[(-70.0, -117.5), (-70.0, -196.0)],
        0.0,
        &footway("Grove Street"),
    );
}

/// Adds the campus with its trees, and the houses around it.
fn blocks(b: &mut Builder) {
    let mut block = |name: &str, (x, y): (f64, f64), (width, depth): (f64, f64), height: f64| {
        let corners = [
            (x, y),
            (x + width, y),
            (x + width, y + depth),
            (x, y + depth),
        ];
        b.building(name, &corners, height);
    };
    block("Old Library", (-60.0, -20.0), (70.0, 18.0), 18.0);
    block("Chapel", (-90.0, 40.0), (24.0, 36.0), 22.0);
    block("Theatre", (60.0, 40.0), (30.0, 40.0), 20.0);
    block("Physics", (80.0, -70.0), (40.0, 26.0), 15.0);
    b.forest(
        &[
            (-110.0, -90.0),
            (60.0, -90.0),
            (60.0, -35.0),
            (-110.0, -35.0),
        ],
        160.0,
        6.0,
        5,
    );
    b.forest(
        &[(-40.0, 20.0), (45.0, 20.0), (45.0, 95.0), (-40.0, 95.0)],
        120.0,
        7.0,
        6,
    );
    houses(b);
    land(b);
}

/// Adds houses around courtyards in the blocks, and along the sides of the two triangles beside Old Post Road.
fn houses(b: &mut Builder) {
    let mut houses = Houses::new(b, "old town");
    // Left, bottom, width and depth of a box inside each block.
    for [x, y, width, depth] in [
        [-220.0, 140.0, 55.0, 48.0],
        [-120.0, 140.0, 36.0, 48.0],
        [-50.0, 140.0, 36.0, 48.0],
        [24.0, 140.0, 38.0, 48.0],
        [90.0, 140.0, 40.0, 48.0],
        [172.0, 140.0, 55.0, 48.0],
        [-120.0, 228.0, 90.0, 46.0],
        [20.0, 228.0, 105.0, 46.0],
        [172.0, 228.0, 56.0, 46.0],
        [-120.0, -185.0, 36.0, 52.0],
        [-48.0, -185.0, 30.0, 52.0],
        [20.0, -185.0, 105.0, 52.0],
        [172.0, -185.0, 56.0, 52.0],
        [-120.0, -280.0, 95.0, 52.0],
        [20.0, -280.0, 40.0, 52.0],
        [90.0, -280.0, 38.0, 52.0],
        [172.0, -280.0, 56.0, 52.0],
        [-330.0, -280.0, 160.0, 52.0],
        [270.0, -90.0, 60.0, 190.0],
        [172.0, -90.0, 56.0, 190.0],
        [270.0, 228.0, 60.0, 46.0],
        [-330.0, 228.0, 70.0, 46.0],
        [-218.0, 228.0, 56.0, 46.0],
        [270.0, 140.0, 60.0, 48.0],
        [270.0, -280.0, 60.0, 52.0],
        [270.0, -185.0, 60.0, 52.0],
        [-328.0, 140.0, 68.0, 48.0],
        [-328.0, -185.0, 68.0, 52.0],
        [-220.0, -185.0, 60.0, 52.0],
    ] {
        houses.around_courtyard(Block::new([x, y], [x + width, y + depth]));
    }
    for (low, high, side) in [
        ([-336.0, -64.0], [-324.0, 109.5], Side::West),
        ([-322.0, 97.5], [-194.0, 109.5], Side::North),
        ([-169.0, -84.0], [-157.0, 52.0], Side::East),
        ([-294.0, -99.5], [-171.0, -87.5], Side::South),
    ] {
        houses.row(Block::new(low, high), side, 11.5, false);
    }
    houses.trees(&[(-318.0, -8.0), (-318.0, 89.0), (-230.0, 89.0)]);
    houses.trees(&[(-262.0, -80.0), (-176.0, -80.0), (-176.0, 14.0)]);
}

/// Adds the ground of the blocks, College Green with its paths and pond, and the river north of the quay.
fn land(b: &mut Builder) {
    let rectangle = |left: f64, bottom: f64, right: f64, top: f64| {
        [(left, bottom), (right, bottom), (right, top), (left, top)]
    };
    let ground = rectangle(-350.0, -300.0, 350.0, 300.0);
    b.land(LandUse::Residential, "", &ground);
    let triangles = [
        [(-320.0, -34.0), (-320.0, 93.0), (-206.0, 93.0)],
        [(-285.0, -83.0), (-173.0, -83.0), (-173.0, 41.0)],
    ];
    for triangle in triangles {
        b.land(LandUse::Grass, "", &triangle);
    }
    let green = rectangle(-131.0, -101.0, 141.0, 111.0);
    b.land(LandUse::Park, "College Green", &green);
    let paths = [
        [
            (-131.0, -95.0),
            (-80.0, -28.0),
            (-25.0, -27.0),
            (30.0, -12.0),
            (60.0, 10.0),
            (141.0, 103.0),
        ],
        [
            (-131.0, 103.0),
            (-60.0, 20.0),
            (-25.0, 5.0),
            (30.0, 5.0),
            (68.0, -20.0),
            (141.0, -93.0),
        ],
    ];
    for path in paths {
        b.land(LandUse::Paved, "", &strip(&path, 3.5));
    }
    for yard in [
        rectangle(-64.0, -24.0, 14.0, 2.0),
        rectangle(-94.0, 36.0, -62.0, 80.0),
        rectangle(56.0, 36.0, 94.0, 84.0),
        rectangle(76.0, -74.0, 124.0, -40.0),
    ] {
        b.land(LandUse::Paved, "", &yard);
    }
    let pond = (0..24).map(|i| {
        let angle = f64::from(i) * TAU / 24.0;
        (
            decimetres(108.0 + 21.0 * cos(angle)),
            decimetres(6.0 + 14.0 * sin(angle)),
        )
    });
    b.land(LandUse::Water, "College Pond", &pond.collect::<Vec<_>>());
    let bank = |y: f64, height: f64, length: f64| {
        let x = (0..36).map(|i| 40.0 * f64::from(i) - 700.0);
        x.map(move |x| (x, decimetres(y + height * sin(x / length))))
    };
    let south = bank(317.0, 2.0, 95.0);
    let north: Vec<(f64, f64)> = bank(343.0, 2.5, 80.0).collect();
    let river: Vec<(f64, f64)> = south.chain(north.into_iter().rev()).collect();
    b.land(LandUse::Water, "River Tarn", &river);
    let meadow = rectangle(-700.0, 309.0, 700.0, 360.0);
    b.land(LandUse::Grass, "", &meadow);
}

/// Returns the outline of a path along points, of a width in metres.
fn strip(points: &[(f64, f64)], width: f64) -> Vec<(f64, f64)> {
    let at = |i: usize| DVec2::from(points[i.min(points.len() - 1)]);
    let edge = |side: f64| {
        (0..points.len()).map(move |i| {
            let ahead = (at(i + 1) - at(i.saturating_sub(1))).normalize_or_zero();
            let point = at(i) + 0.5 * side * width * ahead.perp();
            (decimetres(point.x), decimetres(point.y))
        })
    };
    let mut outline: Vec<(f64, f64)> = edge(1.0).collect();
    let right: Vec<(f64, f64)> = edge(-1.0).collect();
    outline.extend(right.into_iter().rev());
    outline
}

/// A length rounded to decimetres, m.
fn decimetres(length: f64) -> f64 {
    (10.0 * length).round() / 10.0
}

/// Adds cars, jeeps and buses that drive between places that are far apart and connected by a route.
fn traffic(b: &mut Builder) {
    let layout = layout(b.scenario.network(), b.scenario.about());
    let graph = LaneGraph::new(&b.scenario, &layout);
    let main = graph.main_component();
    let lanes: Vec<LaneletIndex> = main
        .iter()
        .copied()
        .filter(|&id| {
            let lanelet = graph.lanelet(id);
            let road = lanelet
                .road()
                .and_then(|road| b.scenario.network().road(road));
            lanelet.length() > 40.0 && road.is_some_and(|road| road.class != RoadClass::Service)
        })
        .collect();
    let mut stream = Stream::new(2009, "old town", 0);
    let mut taken: Vec<(LaneletIndex, f64)> = Vec::new();
    while taken.len() < VEHICLES {
        let (from, to) = (
            lanes[stream.next_index(lanes.len())],
            lanes[stream.next_index(lanes.len())],
        );
        let start = stream.next_in(8.0, graph.lanelet(from).length() - 12.0);
        let goal = stream.next_in(10.0, graph.lanelet(to).length() - 12.0);
        let position = |id: LaneletIndex, s: f64| graph.line(id).position(s);
        let near = (position(from, start) - position(to, goal)).length() < 250.0;
        let crowded = taken
            .iter()
            .any(|&(other, s)| other == from && (s - start).abs() < 18.0);
        if near || crowded {
            continue;
        }
        taken.push((from, start));
        let number = taken.len();
        let (vehicle, stack) = match number % 10 {
            0 => ("enviro_400", "idm"),
            1 | 2 => ("willys_mb", "pursuit"),
            3 | 4 => ("car", "fuzzy_driver"),
            _ => ("car", "idm"),
        };
        let place = |id: LaneletIndex, s: f64| place_on(&graph, id, s);
        b.agent(trip(
            vehicle,
            stack,
            place(from, start),
            place(to, goal),
            0.0,
        ));
    }
}

/// A place on a lane of a road, rounded to centimetres.
fn place_on(graph: &LaneGraph, id: LaneletIndex, s: f64) -> Place {
    let lanelet = graph.lanelet(id);
    let (from, to) = lanelet.road_span;
    let road_s = from + (to - from) * s / lanelet.length();
    match lanelet.kind {
        LaneletKind::Lane { road, lane, .. } => {
            Place::lane(road, lane, (road_s * 100.0).round() / 100.0)
        }
        LaneletKind::Connection { .. } => Place::lane(RoadId(0), 0, 0.0),
    }
}
