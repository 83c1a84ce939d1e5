//! Scenarios that several tests use.
#![allow(dead_code, reason = "each test binary uses some of these")]

use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::*;

/// A residential two-way street.
pub(crate) fn street(name: &str) -> RoadStyle {
    RoadStyle {
        name: name.into(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 50.0 / 3.6,
        section: CrossSection::driving(1, 1, 3.25),
    }
}

/// Draws a straight road.
pub(crate) fn draw(scenario: &mut Scenario, from: (f64, f64), to: (f64, f64), style: &RoadStyle) {
    let line = ReferenceLine::straight(DVec2::from(from), DVec2::from(to)).unwrap();
    let edit = draw::road(scenario, &line, style).unwrap();
    scenario.apply(edit).unwrap();
}

/// Lets a lane lead to another one no more, by the numbers of their roads and lanes; the first road ends there.
pub(crate) fn end_lane(scenario: &mut Scenario, from: (u32, i8), to: (u32, i8)) {
    let on = |(road, lane): (u32, i8)| RoadLane {
        road: RoadId(road),
        lane,
    };
    let network = scenario.network();
    let end = network.road(RoadId(from.0)).unwrap().to;
    let mut node = network.node(end).unwrap().clone();
    node.rules.turns.remove(LaneTurn {
        from: on(from),
        to: on(to),
    });
    scenario.apply(Edit::Node(end, Some(node))).unwrap();
}

/// Two streets that cross in the middle.
pub(crate) fn crossroads() -> Scenario {
    let mut scenario = Scenario::new("crossroads");
    draw(
        &mut scenario,
        (-100.0, 0.0),
        (100.0, 0.0),
        &street("East Street"),
    );
    draw(
        &mut scenario,
        (0.0, -100.0),
        (0.0, 100.0),
        &street("North Street"),
    );
    scenario
}

/// An agent that drives from the west to the east end of the crossroads, straight over it.
pub(crate) fn west_to_east() -> Agent {
    Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start: Place::lane(RoadId(1), -1, 5.0),
        via: vec![],
        destination: Some(Place::lane(RoadId(4), -1, 80.0)),
        depart: 0.0,
        repeat: None,
        speed: 0.0,
    }
}

/// A pond of 20 m by 20 m with an island of 4 m by 4 m.
pub(crate) fn pond_at(x: f64, y: f64) -> Land {
    let ring = |half: f64| {
        let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
        corners.map(|(u, v)| DVec2::new(x + u, y + v)).to_vec()
    };
    Land {
        name: "pond".into(),
        usage: LandUse::Water,
        outline: ring(10.0),
        holes: vec![ring(2.0)],
    }
}

/// An obstacle of 2 m by 2 m.
pub(crate) fn crate_at(x: f64, y: f64) -> Obstacle {
    Obstacle {
        name: "crate".into(),
        shape: Shape::Box {
            x,
            y,
            heading: 0.3,
            length: 2.0,
            width: 2.0,
        },
        height: 1.0,
        mass: Some(80.0),
    }
}
