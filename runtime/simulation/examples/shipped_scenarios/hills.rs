//! Open country with hills at level `rigid`.

use super::builder::{Builder, named, street, trip};
use roadwright_geometry::math::{Stream, cos, exp, sin};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_scenario::{
    DrivingSide, DynamicsLevel, Edit, ModuleSetting, Obstacle, Place, RoadId, Scenario, Settings,
    Shape, Stack,
};
use std::f64::consts::PI;

/// Hills, each with its centre, height and extent, m.
const HILLS: [((f64, f64), f64, f64); 4] = [
    ((-80.0, 95.0), 13.0, 48.0),
    ((95.0, 110.0), 17.0, 55.0),
    ((120.0, -110.0), 9.0, 45.0),
    ((-140.0, -110.0), 11.0, 50.0),
];

/// A village in a valley. Jeeps and a tracked vehicle cross the hills, a bus clears a field of posts, and
/// cars keep to the road.
pub(crate) fn hill_country() -> Scenario {
    let mut b = Builder::new(
        "hill-country",
        "A village in a valley, with vehicles as rigid bodies: \
         jeeps and a tracked vehicle cross the hills, a bus clears a field of posts, cars keep to the road.",
        DrivingSide::Right,
    );
    b.settings(4, 150.0);
    let settings = Settings {
        dt: 0.02.into(),
        dynamics: DynamicsLevel::Rigid,
        ..b.scenario.settings()
    };
    b.apply(Edit::Settings(settings));
    b.apply(Edit::Terrain(Some(Box::new(country()))));
    b.vehicles([
        ("jeep", "willys-mb"),
        ("bus", "enviro-400"),
        ("tank", "t-28"),
    ]);
    let mut stack = Stack::with_controller("fuzzy_driver");
    stack.controller = ModuleSetting::new("fuzzy_driver")
        .with("avoid_steering_gain", 2.5)
        .with("route_steering_gain", 2.0);
    b.stack("fuzzy_driver", stack);
    b.stack("pursuit", Stack::with_controller("pursuit"));
    b.stack("idm", Stack::with_controller("idm"));
    village(&mut b);
    posts(&mut b);
    b.forest(
        &[(40.0, 70.0), (150.0, 60.0), (160.0, 150.0), (60.0, 160.0)],
        60.0,
        9.0,
        7,
    );
    drivers(&mut b);
    b.scenario
}

/// Adds a road through the valley with houses on both sides.
fn village(b: &mut Builder) {
    let points = [(-190.0, -14.0), (-60.0, 6.0), (50.0, -6.0), (190.0, 16.0)];
    b.road(&points, 120.0, &street("Valley Road"));
    let mut stream = Stream::new(5, "houses", 0);
    for number in 0..8 {
        let x = -75.0 + 20.0 * f64::from(number) + stream.next_in(-3.0, 3.0);
        let side = if number % 2 == 0 { 1.0 } else { -1.0 };
        b.obstacle(Obstacle {
            name: "house".into(),
            shape: Shape::Box {
                x: x.into(),
                y: (side * stream.next_in(24.0, 28.0)).into(),
                heading: stream.next_in(-0.15, 0.15).into(),
                length: stream.next_in(10.0, 13.0).into(),
                width: stream.next_in(8.0, 10.0).into(),
            },
            base: 0.0.into(),
            height: stream.next_in(6.0, 9.0).into(),
            mass: None.into(),
        });
    }
}

/// Adds a field of loose posts in the path of the bus.
fn posts(b: &mut Builder) {
    let mut stream = Stream::new(12, "posts", 0);
    for row in 0..4 {
        for column in -1..=1 {
            let x = -20.0 + 14.0 * f64::from(row) + stream.next_in(-1.5, 1.5);
            let y = -52.0 + 1.2 * f64::from(column) + stream.next_in(-0.4, 0.4);
            b.obstacle(Obstacle {
                name: "post".into(),
                shape: Shape::Circle {
                    x: x.into(),
                    y: y.into(),
                    radius: 0.25.into(),
                },
                base: 0.0.into(),
                height: 2.0.into(),
                mass: Some(60.0).into(),
            });
        }
    }
}

fn drivers(b: &mut Builder) {
    let across = [
        ((-150.0, 60.0), (-20.0, 130.0)),
        ((-150.0, 100.0), (0.0, 100.0)),
        ((20.0, 60.0), (30.0, 150.0)),
        ((150.0, -60.0), (20.0, -130.0)),
    ];
    for (number, (from, to)) in across.into_iter().enumerate() {
        let heading = roadwright_geometry::heading_of(DVec2::from(to) - DVec2::from(from));
        let (start, goal) = (
            Place::ground(from.0, from.1, heading),
            Place::ground(to.0, to.1, heading),
        );
        let depart = 2.0 * number as f64;
        b.agent(named(
            "jeep",
            trip("jeep", "fuzzy_driver", start, goal, depart),
        ));
    }
    let (start, goal) = (
        Place::ground(-50.0, -52.0, 0.0),
        Place::ground(45.0, -52.0, 0.0),
    );
    b.agent(named("bus", trip("bus", "pursuit", start, goal, 0.0)));
    let road = RoadId(1);
    for (number, kind) in ["car", "jeep", "car"].into_iter().enumerate() {
        let (east, west) = (Place::lane(road, -1, 15.0), Place::lane(road, -1, 360.0));
        let depart = 6.0 * number as f64;
        b.agent(named(kind, trip(kind, "idm", east, west, depart)));
    }
    let (start, goal) = (
        Place::ground(40.0, -150.0, PI),
        Place::ground(-120.0, -60.0, 2.2),
    );
    b.agent(named("tank", trip("tank", "pursuit", start, goal, 0.0)));
}

/// Terrain heights, sampled every 5 m: an undulating valley, and hills beside it.
fn country() -> HeightField {
    let (low, high) = (DVec2::new(-220.0, -180.0), DVec2::new(220.0, 180.0));
    let level = HeightField::level(low, high, 5.0).expect("a small field");
    let heights = (0..level.rows() * level.columns())
        .map(|sample| {
            let place = level.position(sample % level.columns(), sample / level.columns());
            let hills = HILLS.map(|(middle, height, reach)| {
                let from_top = (place - DVec2::from(middle)).length_squared();
                height * exp(-from_top / (reach * reach))
            });
            let waves = 0.25 * sin(place.x / 16.0) * cos(place.y / 21.0);
            let height = hills.iter().sum::<f64>() + waves;
            (height * 100.0).round() / 100.0
        })
        .collect();
    level.with_heights(heights).expect("finite heights")
}
