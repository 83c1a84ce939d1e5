//! A yard for vehicles with trailers.

use super::builder::{Builder, avenue, named, street, trip};
use super::scripted::driven_by_script;
use roadwright_scenario::{
    DrivingSide, Edit, Flow, ModuleSetting, Obstacle, Place, RoadId, Scenario, Settings, Shape,
    Stack,
};

/// Names of towing vehicles, with their vehicle files.
const TRAINS: [(&str, &str); 3] = [
    ("truck", "semi-trailer-truck"),
    ("articulated bus", "articulated-bus"),
    ("caravan", "escort-caravan"),
];

/// Vehicles with trailers on a street with other traffic, around a corner, and in slaloms over open ground.
pub(crate) fn trailer_yard() -> Scenario {
    let mut b = Builder::new(
        "trailer-yard",
        "Trucks, articulated buses and caravans: on an avenue among cars, turning off into a side \
         street, and in slaloms round posts on the yard beside it; one truck leaves its trailer \
         there and fetches it later.",
        DrivingSide::Right,
    );
    b.settings(6, 180.0);
    let settings = Settings {
        dt: 0.02.into(),
        ..b.scenario.settings()
    };
    b.apply(Edit::Settings(settings));
    b.vehicles(TRAINS);
    b.stack("idm", Stack::with_controller("idm"));
    let mut careful = Stack::with_controller("pursuit");
    careful.controller = ModuleSetting::new("pursuit");
    b.stack("pursuit", careful);
    b.road(&[(-220.0, 0.0), (220.0, 0.0)], 0.0, &avenue("Yard Avenue"));
    b.road(&[(0.0, 0.0), (0.0, -160.0)], 0.0, &street("Depot Lane"));
    traffic(&mut b);
    slaloms(&mut b);
    shuttle(&mut b);
    b.scenario
}

/// Adds a truck that leaves its trailer in the yard for a while. Its driver is a script that contains the
/// paths.
fn shuttle(b: &mut Builder) {
    b.stack("shuttle", driven_by_script("trailer_shuttle", "pursuit"));
    let (start, goal) = (
        Place::ground(40.0, -120.0, 0.0),
        Place::ground(205.0, -120.0, 0.0),
    );
    b.agent(named("shuttle", trip("truck", "shuttle", start, goal, 2.0)));
}

/// Adds the traffic. Road 1 is the avenue west of the junction, road 2 leads to the depot, and road 3 is the
/// avenue to the east.
fn traffic(b: &mut Builder) {
    let (west, south, east) = (RoadId(1), RoadId(2), RoadId(3));
    let trips = [
        (
            "car",
            Place::lane(west, -1, 10.0),
            Place::lane(east, -1, 200.0),
            240.0,
        ),
        (
            "truck",
            Place::lane(west, -2, 30.0),
            Place::lane(east, -2, 200.0),
            80.0,
        ),
        (
            "caravan",
            Place::lane(east, 1, 200.0),
            Place::lane(west, 1, 15.0),
            80.0,
        ),
        (
            "articulated bus",
            Place::lane(west, -2, 30.0),
            Place::lane(south, -1, 140.0),
            60.0,
        ),
        (
            "car",
            Place::lane(east, 2, 205.0),
            Place::lane(west, 2, 15.0),
            200.0,
        ),
    ];
    for (vehicle, origin, destination, rate) in trips {
        b.flow(Flow {
            vehicle: vehicle.into(),
            stack: "idm".into(),
            dynamics: None,
            origin,
            destination,
            rate_per_hour: rate.into(),
            begin: 0.0.into(),
            end: 150.0.into(),
        });
    }
}

/// Adds slaloms: each vehicle with trailers drives around its own row of posts.
fn slaloms(b: &mut Builder) {
    for (number, (key, _)) in TRAINS.into_iter().enumerate() {
        let y = 55.0 + 46.0 * number as f64;
        let mut via = Vec::new();
        for post in 0..3 {
            let x = -90.0 + 60.0 * f64::from(post);
            let side = if post % 2 == 0 { 10.0 } else { -10.0 };
            via.push(Place::ground(x, y + side, 0.0));
            b.obstacle(Obstacle {
                name: "post".into(),
                shape: Shape::Circle {
                    x: x.into(),
                    y: y.into(),
                    radius: 0.3.into(),
                },
                base: 0.0.into(),
                height: 2.0.into(),
                mass: None.into(),
            });
        }
        let (start, goal) = (
            Place::ground(-150.0, y, 0.0),
            Place::ground(110.0, y + 10.0, 0.0),
        );
        let mut agent = trip(key, "pursuit", start, goal, 0.0);
        agent.via = via;
        b.agent(named(key, agent));
    }
}
