//! Three detailed places: a street corner, a motorway, a roundabout.

use super::builder::{Builder, street};
use super::junctions::{all_to_all, builder, cross, flow, ring_of_streets, rule};
use roadwright_geometry::DVec2;
use roadwright_scenario::junction::{Turn, Turns};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::{
    Control, CrossSection, CrossingRule, Edit, JunctionRules, LandUse, Lane, LaneSection, LaneType,
    Poly3, RoadClass, RoadId, Scenario, Settings,
};

/// Width of a lane in these streets, m.
const LANE: f64 = 3.25;
/// Width of a pavement, m.
const PAVEMENT: f64 = 3.6;
/// Length of a turn lane including its taper, m.
const POCKET: f64 = 65.0;
/// Length of the taper, m.
const TAPER: f64 = 20.0;

/// A signalled junction with turn lanes, cycle lanes and pedestrians, and a side street whose traffic yields.
pub(crate) fn linden_street() -> Scenario {
    let mut b = builder(
        "linden-street",
        "A signalled crossing with turn lanes, cycle lanes and people on foot, and a side street that \
         gives way.",
    );
    people(&mut b, 240.0);
    let settings = Settings {
        duration: 900.0.into(),
        ..b.scenario.settings()
    };
    b.apply(Edit::Settings(settings));
    let (west, side, east) = (-160.0, 46.0, 220.0);
    let name = RoadStyle {
        section: with_parking(0),
        ..linden(RoadClass::Arterial)
    };
    b.road(&[(west, 0.0), (0.0, 0.0)], 0.0, &name);
    let bays = RoadStyle {
        section: with_parking(1),
        ..name.clone()
    };
    b.road(&[(0.0, 0.0), (side, 0.0)], 0.0, &bays);
    b.road(
        &[(side, 0.0), (east, 0.0)],
        0.0,
        &linden(RoadClass::Arterial),
    );
    for end in [150.0, -150.0] {
        let id = b.scenario.network().next_road_id();
        b.road(&[(0.0, end), (0.0, 0.0)], 0.0, &main_street("Mill Lane"));
        add_pocket(&mut b, id);
    }
    let minor = RoadStyle {
        class: RoadClass::Residential,
        ..main_street("Bell Row")
    };
    b.road(&[(side, 140.0), (side, 0.0)], 0.0, &minor);
    cross(&mut b, DVec2::ZERO, Some(Control::Signals));
    cross_minor(&mut b, DVec2::new(side, 0.0));
    lawns(&mut b);
    houses(&mut b);
    park(&mut b);
    let ends = [
        (west, 0.0),
        (east, 0.0),
        (0.0, 150.0),
        (0.0, -150.0),
        (side, 140.0),
    ];
    all_to_all(&mut b, &ends.map(DVec2::from), 55.0);
    b.scenario
}

/// Cross-section of the street, with cycle lanes on both sides.
fn linden(class: RoadClass) -> RoadStyle {
    let lanes = vec![
        (LaneType::Driving, LANE),
        (LaneType::Biking, 1.6),
        (LaneType::Sidewalk, PAVEMENT),
    ];
    RoadStyle {
        class,
        section: CrossSection {
            forward: lanes.clone(),
            backward: lanes,
        },
        ..street("Linden Street")
    }
}

/// Like `linden`, but with parking bays on one side: 0 for the forward side, 1 for the backward side.
fn with_parking(side: usize) -> CrossSection {
    let mut section = linden(RoadClass::Arterial).section;
    let lanes = if side == 0 {
        &mut section.forward
    } else {
        &mut section.backward
    };
    lanes.insert(2, (LaneType::Parking, 2.1));
    section
}

fn main_street(name: &str) -> RoadStyle {
    let section = CrossSection::driving(1, 1, LANE).with_border(LaneType::Sidewalk, PAVEMENT);
    RoadStyle {
        class: RoadClass::Collector,
        section,
        ..street(name)
    }
}

/// Adds a second lane at the end of a road with one lane in each direction. The inner lane is for left turns,
/// and the new lane for going straight ahead and right turns.
fn add_pocket(b: &mut Builder, id: RoadId) {
    let road = b.scenario.network().road(id);
    let mut road = road.expect("drawn a moment ago").clone();
    let from = road.length() - POCKET;
    let mut lanes: Vec<Lane> = road.lane_sections[0].lanes.clone();
    for lane in &mut lanes {
        match lane.id {
            -1 => lane.turns = Turns::NONE.with(Turn::Left),
            -2 => lane.id = -3,
            _ => {}
        }
    }
    let mut ahead = Lane::new(-2, LaneType::Driving, LANE);
    ahead.width = vec![
        Poly3::smooth_step(LANE, TAPER),
        Poly3 {
            s: TAPER.into(),
            ..Poly3::constant(LANE)
        },
    ];
    ahead.turns = Turns::from_iter([Turn::Straight, Turn::Right]);
    let at = lanes
        .iter()
        .position(|lane| lane.id < -2)
        .unwrap_or(lanes.len());
    lanes.insert(at, ahead);
    road.lane_sections.push(LaneSection {
        s: from.into(),
        lanes,
    });
    b.apply(Edit::Road(id, Some(Box::new(road))));
}

/// Sets the number of pedestrians per hour on each side of each crossing.
fn people(b: &mut Builder, rate: f64) {
    let settings = Settings {
        pedestrians: rate.into(),
        ..b.scenario.settings()
    };
    b.apply(Edit::Settings(settings));
}

/// Adds a zebra crossing on the arm of a T-junction whose traffic yields.
fn cross_minor(b: &mut Builder, at: DVec2) {
    let (id, _) = b.node_at(at);
    let network = b.scenario.network();
    let minor = network.ends_at(id).into_iter().map(|(road, _)| road);
    let is_minor = |road: &RoadId| {
        network
            .road(*road)
            .is_some_and(|road| road.class == RoadClass::Residential)
    };
    let rules = JunctionRules {
        crossings: minor.filter(is_minor).map(CrossingRule::over).collect(),
        ..JunctionRules::default()
    };
    rule(b, at, rules);
}

/// Houses around the corner.
fn houses(b: &mut Builder) {
    let north_west = [
        (-16.0, 15.0),
        (-11.0, 20.0),
        (-11.0, 60.0),
        (-60.0, 60.0),
        (-60.0, 15.0),
    ];
    let north = [
        (14.0, 60.0),
        (14.0, 18.0),
        (18.0, 14.0),
        (27.0, 14.0),
        (30.0, 17.0),
        (30.0, 60.0),
    ];
    let north_east = [
        (55.0, 60.0),
        (55.0, 18.0),
        (59.0, 14.0),
        (90.0, 14.0),
        (90.0, 60.0),
    ];
    let south_west = [
        (-16.0, -15.0),
        (-60.0, -15.0),
        (-60.0, -60.0),
        (-11.0, -60.0),
        (-11.0, -20.0),
    ];
    b.building("Linden House", &north_west, 16.0);
    b.building("Mill Court", &north, 14.0);
    b.building("Bell House", &north_east, 18.0);
    b.building("Old Bakery", &south_west, 12.0);
}

/// Adds a park with paths.
fn park(b: &mut Builder) {
    let corners = [(6.0, -7.0), (150.0, -7.0), (150.0, -70.0), (6.0, -70.0)];
    b.land(LandUse::Park, "Linden Park", &corners);
    let through = [
        (7.0, -10.5),
        (12.0, -7.5),
        (34.0, -24.0),
        (58.0, -30.0),
        (90.0, -44.0),
        (150.0, -56.0),
        (150.0, -60.0),
        (89.0, -47.5),
        (56.0, -33.5),
        (32.0, -27.5),
        (9.0, -15.0),
    ];
    b.land(LandUse::Sand, "", &through);
    let to_street = [
        (60.0, -7.0),
        (64.0, -7.0),
        (62.0, -20.0),
        (54.0, -31.5),
        (50.0, -29.5),
        (58.0, -19.0),
    ];
    b.land(LandUse::Sand, "", &to_street);
    // Trees along the street, and on both sides of the path.
    b.forest(&strip(16.0, 58.0, -11.5), 900.0, 4.0, 12);
    b.forest(&strip(66.0, 148.0, -11.5), 900.0, 4.0, 15);
    let north = [
        (34.0, -15.0),
        (56.0, -14.0),
        (50.0, -27.0),
        (38.0, -22.0),
        (30.0, -18.0),
    ];
    b.forest(&north, 420.0, 4.5, 11);
    let east = [
        (66.0, -15.0),
        (148.0, -15.0),
        (148.0, -54.0),
        (92.0, -42.0),
        (62.0, -29.0),
    ];
    b.forest(&east, 380.0, 4.5, 14);
    let south = [
        (13.0, -20.0),
        (31.0, -30.0),
        (55.0, -36.0),
        (88.0, -50.0),
        (148.0, -62.0),
        (148.0, -68.0),
        (13.0, -68.0),
    ];
    b.forest(&south, 340.0, 4.5, 13);
}

/// Lawns between the pavements and the houses, with trees.
fn lawns(b: &mut Builder) {
    // The lawns extend below the pavements, which cover them.
    let lots: [&[(f64, f64)]; 4] = [
        &[(-66.0, 7.0), (-6.0, 7.0), (-6.0, 66.0), (-66.0, 66.0)],
        &[(6.0, 9.0), (44.0, 9.0), (44.0, 66.0), (6.0, 66.0)],
        &[(48.0, 7.0), (100.0, 7.0), (100.0, 66.0), (48.0, 66.0)],
        &[(-66.0, -9.0), (-6.0, -9.0), (-6.0, -66.0), (-66.0, -66.0)],
    ];
    for lot in lots {
        b.land(LandUse::Grass, "", lot);
    }
    b.forest(&strip(-62.0, -12.0, 12.0), 900.0, 4.0, 31);
    b.forest(&strip(-62.0, -12.0, -13.0), 900.0, 4.0, 33);
    b.forest(&strip(54.0, 99.0, 11.2), 900.0, 4.0, 34);
}

/// A strip of trees, 2 m wide, along the street.
fn strip(from: f64, to: f64, y: f64) -> [(f64, f64); 4] {
    [
        (from, y - 0.8),
        (to, y - 0.8),
        (to, y + 0.8),
        (from, y + 0.8),
    ]
}

/// Width of a lane of a motorway, m.
const FAST_LANE: f64 = 3.6;
/// A motorway with an entry and an exit slip road, and a bridge over it.
pub(crate) fn motorway_m4() -> Scenario {
    let mut b = builder(
        "motorway-m4",
        "A motorway with a bridge, a slip road that joins it, another that leaves it, and an \
         auxiliary lane between the two.",
    );
    carriageway(&mut b, 1.0);
    carriageway(&mut b, -1.0);
    bridge(&mut b);
    countryside(&mut b);
    motorway_traffic(&mut b);
    b.scenario
}

/// Adds one carriageway with its slip road. `sign` is 1 for the eastbound carriageway, which has an
/// entry, and -1 for the westbound one, which has an exit.
fn carriageway(b: &mut Builder, sign: f64) {
    let at = |x: f64, y: f64| (x, sign * y);
    let line = [at(-420.0, -22.0), at(40.0, -10.0), at(420.0, -30.0)];
    let style = RoadStyle {
        name: "M 4".into(),
        class: RoadClass::Motorway,
        layer: 0,
        speed_limit: 33.33,
        section: fast_lanes(3),
    };
    let ramp = RoadStyle {
        name: String::new(),
        class: RoadClass::Ramp,
        speed_limit: 16.67,
        section: fast_lanes(1),
        ..style.clone()
    };
    let slip = [at(-330.0, -130.0), at(-200.0, -40.0), at(-60.0, -17.0)];
    let turned = |points: [(f64, f64); 3]| {
        let [a, b, c] = points;
        if sign > 0.0 { [a, b, c] } else { [c, b, a] }
    };
    b.road(&turned(line), 2500.0, &style);
    b.road(&turned(slip), 300.0, &ramp);
}

fn fast_lanes(count: usize) -> CrossSection {
    CrossSection::driving(count, 0, FAST_LANE)
}

fn bridge(b: &mut Builder) {
    let style = RoadStyle {
        layer: 1,
        class: RoadClass::Collector,
        section: CrossSection::driving(1, 1, 3.5).with_border(LaneType::Sidewalk, 1.5),
        ..street("Heron Lane")
    };
    b.road(&[(75.0, -260.0), (110.0, 260.0)], 0.0, &style);
}

/// Woods beside the motorway.
fn countryside(b: &mut Builder) {
    for (i, (x, y)) in [
        (-150.0, 62.0),
        (-30.0, 52.0),
        (70.0, 90.0),
        (-70.0, -62.0),
        (-10.0, -82.0),
        (150.0, 60.0),
        (40.0, -60.0),
        (-160.0, -92.0),
    ]
    .into_iter()
    .enumerate()
    {
        let wood = [
            (-24.0, -8.0),
            (-6.0, -17.0),
            (22.0, -10.0),
            (26.0, 9.0),
            (4.0, 16.0),
            (-20.0, 11.0),
        ];
        let area = wood.map(|(dx, dy)| (x + dx, y + dy));
        b.forest(&area, 260.0, 5.0, 3 + i as u64);
    }
}

/// Adds through traffic on the inner lanes, and traffic that enters and leaves.
fn motorway_traffic(b: &mut Builder) {
    let (west, east) = (-420.0, 420.0);
    let ends = [
        (DVec2::new(west, -22.0), DVec2::new(east, -30.0)),
        (DVec2::new(east, 30.0), DVec2::new(west, 22.0)),
    ];
    for (from, to) in ends {
        for lane in 1..=3 {
            flow(b, from, lane, to, lane, 700.0);
        }
    }
    let (joins, leaves) = (DVec2::new(-330.0, -130.0), DVec2::new(-330.0, 130.0));
    flow(b, joins, 1, ends[0].1, 3, 500.0);
    flow(b, ends[1].0, 3, leaves, 1, 500.0);
}

/// Mean radius of the ring in station-road, m.
const RING: f64 = 14.1;
/// Length of the streets in station-road, m.
const ARM: f64 = 110.0;

/// A roundabout of four streets with zebra crossings on all of them.
pub(crate) fn station_road() -> Scenario {
    let mut b = builder(
        "station-road",
        "A roundabout of four streets between a station and its park, with zebra crossings on all \
         arms.",
    );
    people(&mut b, 60.0);
    let arm = RoadStyle {
        class: RoadClass::Collector,
        section: CrossSection::driving(1, 1, 3.35).with_border(LaneType::Sidewalk, PAVEMENT),
        ..street("Station Road")
    };
    let ends = ring_of_streets(&mut b, DVec2::ZERO, RING, 4, &arm, ARM);
    for angle in [0.0, 90.0, 180.0, 270.0_f64] {
        cross_arm(&mut b, RING * roadwright_geometry::unit(angle.to_radians()));
    }
    let house =
        |b: &mut Builder, name: &str, corners: &[(f64, f64)]| b.building(name, corners, 14.0);
    house(
        &mut b,
        "Station",
        &[
            (-27.0, 21.0),
            (-22.0, 26.0),
            (-22.0, 60.0),
            (-80.0, 60.0),
            (-80.0, 21.0),
        ],
    );
    house(
        &mut b,
        "Post office",
        &[
            (26.0, 21.0),
            (80.0, 21.0),
            (80.0, 60.0),
            (21.0, 60.0),
            (21.0, 26.0),
        ],
    );
    house(
        &mut b,
        "Hotel",
        &[
            (-26.0, -22.0),
            (-80.0, -22.0),
            (-80.0, -60.0),
            (-21.0, -60.0),
            (-21.0, -27.0),
        ],
    );
    b.forest(
        &[(17.0, -19.0), (80.0, -11.0), (80.0, -60.0), (11.0, -60.0)],
        220.0,
        4.5,
        21,
    );
    b.forest(
        &[(-6.0, -6.0), (6.0, -6.0), (6.0, 6.0), (-6.0, 6.0)],
        900.0,
        3.0,
        5,
    );
    all_to_all(&mut b, &ends, 70.0);
    b.scenario
}

/// Adds a zebra crossing on the street that meets a ring at a place.
fn cross_arm(b: &mut Builder, at: DVec2) {
    let (id, _) = b.node_at(at);
    let network = b.scenario.network();
    let arms = network.ends_at(id).into_iter().map(|(road, _)| road);
    let is_street = |road: &RoadId| {
        network
            .road(*road)
            .is_some_and(|road| !road.name.is_empty())
    };
    let rules = JunctionRules {
        crossings: arms.filter(is_street).map(CrossingRule::over).collect(),
        ..JunctionRules::default()
    };
    rule(b, at, rules);
}
