//! A kart track at level `sliding`.

use super::builder::{Builder, named, one_way, trip};
use roadwright_geometry::DVec2;
use roadwright_scenario::{
    DrivingSide, DynamicsLevel, Edit, ModuleSetting, Obstacle, Place, RoadId, Scenario, Settings,
    Shape, Stack,
};

/// Centre line of the first half, counter-clockwise: the straight and the hairpin.
const HAIRPIN: [(f64, f64); 5] = [
    (-40.0, -30.0),
    (70.0, -30.0),
    (100.0, -5.0),
    (70.0, 15.0),
    (50.0, 10.0),
];
/// Centre line of the second half: esses and a wide bend.
const ESSES: [(f64, f64); 8] = [
    (50.0, 10.0),
    (30.0, 5.0),
    (-5.0, 32.0),
    (-40.0, 12.0),
    (-75.0, 40.0),
    (-115.0, 5.0),
    (-95.0, -30.0),
    (-40.0, -30.0),
];

/// Racers and soapbox karts on a one-way track, two laps at level `sliding`.
pub(crate) fn kart_track() -> Scenario {
    let mut b = Builder::new(
        "kart-track",
        "A track with a straight, a hairpin and esses, driven with the sliding-car model: \
         three racers chase three soapbox karts between tyres.",
        DrivingSide::Right,
    );
    b.settings(9, 150.0);
    let settings = Settings {
        dt: 0.02.into(),
        dynamics: DynamicsLevel::Sliding,
        ..b.scenario.settings()
    };
    b.apply(Edit::Settings(settings));
    b.vehicles([("racer", "sliding-racer"), ("kart", "soapbox-kart")]);
    let mut racing = Stack::with_controller("pursuit");
    racing.controller = ModuleSetting::new("pursuit");
    b.stack("pursuit", racing);
    for half in [&HAIRPIN[..], &ESSES[..]] {
        b.road(half, 14.0, &one_way("Kart Track", 2));
    }
    tyres(&mut b);
    for number in 0..6u32 {
        let (kind, lane) = if number % 2 == 0 {
            ("kart", -1)
        } else {
            ("racer", -2)
        };
        let start = Place::lane(RoadId(1), lane, 12.0 + 6.0 * f64::from(number / 2));
        let [straight, esses] = [1, 2].map(|road| Place::lane(RoadId(road), lane, 50.0));
        let goal = Place::lane(RoadId(2), lane, 240.0);
        let mut agent = trip(kind, "pursuit", start, goal, 0.0);
        agent.via = vec![esses, straight, esses];
        if kind == "racer" {
            agent.depart = 6.0.into();
        }
        b.agent(named(&format!("{kind} {}", number / 2 + 1), agent));
    }
    b.scenario
}

/// Stacks of tyres on the inside of the hairpin and of the esses.
fn tyres(b: &mut Builder) {
    for place in [
        (80.0, -8.0),
        (72.0, -4.0),
        (-3.0, 14.0),
        (-42.0, 32.0),
        (-85.0, 12.0),
    ] {
        let at = DVec2::from(place);
        b.obstacle(Obstacle {
            name: "tyres".into(),
            shape: Shape::Circle {
                x: at.x.into(),
                y: at.y.into(),
                radius: 0.6.into(),
            },
            base: 0.0.into(),
            height: 0.8.into(),
            mass: None.into(),
        });
    }
}
