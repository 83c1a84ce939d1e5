//! A proving ground for testing vehicles at level `rigid`.

use super::builder::{Builder, named, style, trip};
use roadwright_geometry::math::{cos, sin};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_scenario::{
    CrossSection, DrivingSide, DynamicsLevel, Edit, GroundGrip, Obstacle, Place, RoadClass, RoadId,
    Scenario, Settings, Shape, Stack,
};
use std::f64::consts::{PI, TAU};

/// Half the length of the oval's straights, m.
const STRAIGHT: f64 = 110.0;
/// Radius of the oval's bends, m.
const BEND: f64 = 50.0;
/// Centre of the skid pad, m.
const PAD: (f64, f64) = (-75.0, 0.0);
/// Radius of the skid pad, m.
const PAD_RADIUS: f64 = 25.0;
/// Start of the double lane change: x and y, m.
const CONES: (f64, f64) = (-30.0, -30.0);
/// Sections of the ISO 3888-1 track: length (m) and whether the section is offset to the left.
const SECTIONS: [(f64, bool); 3] = [(0.0, false), (45.0, true), (95.0, false)];
/// Offset to the left, m.
const OFFSET: f64 = 3.5;
/// Position of the ridges, m north.
const RIDGES: f64 = 75.0;
/// Position of the hill, m north.
const HILL: f64 = 110.0;
/// Spacing of the terrain samples, m.
const SPACING: f64 = 2.0;

/// An oval, a skid pad, a double lane change between cones, gravel and ice, ridges and a hill.
pub(crate) fn proving_ground() -> Scenario {
    let mut b = Builder::new(
        "proving-ground",
        "A proving ground for vehicles as rigid bodies: an oval, a skid pad, a double lane change \
         between loose cones, a gravel road that turns to ice, ridges and a hill.",
        DrivingSide::Right,
    );
    b.settings(3, 120.0);
    let settings = Settings {
        dt: 0.02.into(),
        dynamics: DynamicsLevel::Rigid,
        grip: GroundGrip {
            service: 0.6.into(),
            residential: 0.1.into(),
            ..GroundGrip::default()
        },
        ..b.scenario.settings()
    };
    b.apply(Edit::Settings(settings));
    b.apply(Edit::Terrain(Some(Box::new(country()))));
    b.vehicles([
        ("jeep", "willys-mb"),
        ("bus", "enviro-400"),
        ("kart", "soapbox-kart"),
        ("tank", "t-28"),
    ]);
    b.stack("idm", Stack::with_controller("idm"));
    b.stack("pursuit", Stack::with_controller("pursuit"));
    roads(&mut b);
    cones(&mut b);
    on_roads(&mut b);
    off_roads(&mut b);
    b.scenario
}

/// Points of an arc around a centre, counter-clockwise, from a start angle over a given angle.
fn arc(x: f64, y: f64, radius: f64, from: f64, by: f64) -> Vec<(f64, f64)> {
    let middle = (x, y);
    (0..=12)
        .map(|part| {
            let angle = from + by * f64::from(part) / 12.0;
            (
                middle.0 + radius * cos(angle),
                middle.1 + radius * sin(angle),
            )
        })
        .collect()
}

/// Roads 1 and 2 are the oval, 3 and 4 the skid pad, 5 the gravel and 6 the ice.
fn roads(b: &mut Builder) {
    let oval = style(
        "Oval",
        RoadClass::Arterial,
        70.0,
        CrossSection::driving(2, 0, 3.75),
    );
    let south = [(-STRAIGHT, -BEND), (STRAIGHT, -BEND)];
    let east = arc(STRAIGHT, 0.0, BEND, -0.5 * PI, PI);
    let west = arc(-STRAIGHT, 0.0, BEND, 0.5 * PI, PI);
    let first: Vec<_> = south[..1].iter().copied().chain(east).collect();
    let north = [(STRAIGHT, BEND)];
    let second: Vec<_> = north.into_iter().chain(west).collect();
    for half in [first, second] {
        b.road(&half, BEND, &oval);
    }
    let pad = style(
        "Skid pad",
        RoadClass::Collector,
        30.0,
        CrossSection::driving(1, 0, 5.0),
    );
    for from in [0.0, PI] {
        b.road(&arc(PAD.0, PAD.1, PAD_RADIUS, from, PI), PAD_RADIUS, &pad);
    }
    let section = || CrossSection::driving(1, 0, 5.0);
    let gravel = style("Gravel", RoadClass::Service, 36.0, section());
    // A higher limit than on gravel. Vehicles on ice cannot reach it.
    let ice = style("Ice", RoadClass::Residential, 60.0, section());
    b.road(&[(-30.0, 10.0), (40.0, 10.0)], 0.0, &gravel);
    b.road(&[(40.0, 10.0), (105.0, 10.0)], 0.0, &ice);
}

/// Pairs of loose cones along the lanes of the double lane change.
fn cones(b: &mut Builder) {
    // The lane is wider than the standard prescribes for a kart, because there is no human driver who
    // corrects the vehicle.
    let half = 1.6;
    for (along, is_left) in SECTIONS {
        let line = CONES.1 + if is_left { OFFSET } else { 0.0 };
        for pair in 0..4 {
            for side in [-half, half] {
                b.obstacle(Obstacle {
                    name: "cone".into(),
                    shape: Shape::Circle {
                        x: (CONES.0 + along + 5.0 * f64::from(pair)).into(),
                        y: (line + side).into(),
                        radius: 0.15.into(),
                    },
                    base: 0.0.into(),
                    height: 0.5.into(),
                    mass: Some(2.0).into(),
                });
            }
        }
    }
}

/// Agents on the oval, on the skid pad, and on gravel and ice.
fn on_roads(b: &mut Builder) {
    let on = |road: u32, lane: i8, s: f64| Place::lane(RoadId(road), lane, s);
    let trips = [
        ("jeep", "oval, inner lane", -1, 25.0),
        ("bus", "oval, outer lane", -2, 45.0),
    ];
    for (kind, name, lane, s) in trips {
        let mut agent = trip(kind, "idm", on(1, lane, s), on(1, lane, 200.0), 0.0);
        agent.via = vec![on(2, lane, 100.0)];
        b.agent(named(name, agent));
    }
    let mut pad = trip("jeep", "idm", on(3, -1, 10.0), on(4, -1, 60.0), 0.0);
    pad.via = vec![on(4, -1, 40.0), on(3, -1, 40.0)];
    b.agent(named("skid pad", pad));
    let ice = trip("jeep", "idm", on(5, -1, 5.0), on(6, -1, 50.0), 0.0);
    b.agent(named("gravel and ice", ice));
}

/// Agents that drive between the cones, over the ridges and over the hill.
fn off_roads(b: &mut Builder) {
    let place = |x: f64, y: f64| Place::ground(x, y, 0.0);
    let (x, y) = CONES;
    let mut kart = trip(
        "kart",
        "pursuit",
        place(x - 25.0, y),
        place(x + 135.0, y),
        0.0,
    );
    let gates = SECTIONS.map(|(along, is_left)| {
        let line = y + if is_left { OFFSET } else { 0.0 };
        [place(x + along, line), place(x + along + 15.0, line)]
    });
    kart.via = gates.into_iter().flatten().collect();
    b.agent(named("double lane change", kart));
    for (kind, depart) in [("jeep", 0.0), ("kart", 6.0)] {
        let ridges = trip(
            kind,
            "pursuit",
            place(-100.0, RIDGES),
            place(60.0, RIDGES),
            depart,
        );
        b.agent(named("ridges", ridges));
    }
    for (kind, line) in [("jeep", HILL - 4.0), ("tank", HILL + 4.0)] {
        let hill = trip(kind, "pursuit", place(-75.0, line), place(75.0, line), 0.0);
        b.agent(named("hill", hill));
    }
}

/// The terrain, sampled every 2 m: level, except for ridges and a hill with slopes of 15 %.
fn country() -> HeightField {
    let (low, high) = (DVec2::new(-120.0, 60.0), DVec2::new(120.0, 130.0));
    let level = HeightField::level(low, high, SPACING).expect("a small field");
    let heights = (0..level.rows() * level.columns())
        .map(|sample| {
            let place = level.position(sample % level.columns(), sample / level.columns());
            (height(place) * 100.0).round() / 100.0
        })
        .collect();
    level.with_heights(heights).expect("finite heights")
}

fn height(place: DVec2) -> f64 {
    let DVec2 { x, y } = place;
    if (y - RIDGES).abs() < 9.0 && (-80.0..40.0).contains(&x) {
        // At first, the ridges on both sides are level with each other, and then they alternate.
        let shift = if x > -20.0 && y > RIDGES { 0.5 } else { 0.0 };
        return 0.12
            * (1.0 - cos(TAU * (x / 12.0 + shift)))
            * (1.0 - ((y - RIDGES).abs() / 9.0).powi(4));
    }
    if (y - HILL).abs() < 14.0 {
        let flank = (50.0 - x.abs()).clamp(0.0, 40.0);
        // The profile is rounded at the foot and at the top.
        let share = 0.5 * (1.0 - cos(PI * flank / 40.0));
        let side = ((14.0 - (y - HILL).abs()) / 5.0).clamp(0.0, 1.0);
        return 4.0 * share * side;
    }
    0.0
}
