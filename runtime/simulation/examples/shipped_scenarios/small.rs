//! The small scenarios.

use super::builder::{Builder, avenue, street, trip};
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, HeightField, Pose, ReferenceLine, Segment};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::{
    Control, DrivingSide, Edit, Flow, JunctionRules, ModuleSetting, Node, Obstacle, Place, RoadId,
    Scenario, Shape, Stack,
};

/// Two crossing avenues, with a stream of cars from each side.
pub(crate) fn crossroads() -> Scenario {
    let mut b = Builder::new(
        "crossroads",
        "Two avenues cross at traffic signals; cars arrive from all four sides and turn in all \
         directions.",
        DrivingSide::Right,
    );
    b.settings(1, 300.0);
    b.road(
        &[(-200.0, 0.0), (200.0, 0.0)],
        0.0,
        &avenue("Sunset Avenue"),
    );
    b.road(
        &[(0.0, -200.0), (0.0, 200.0)],
        0.0,
        &avenue("Harbour Avenue"),
    );
    let signals = JunctionRules {
        control: Some(Control::Signals),
        ..JunctionRules::default()
    };
    let (id, node) = b.node_at(DVec2::ZERO);
    let lit = Node {
        rules: signals,
        ..node
    };
    b.apply(Edit::Node(id, Some(lit)));
    // Roads 1 to 4 are west, south, north and east of the crossing.
    let arms = [(1, -1, 1), (2, -1, 1), (3, 1, -1), (4, 1, -1)];
    let far = |road: u32| if road <= 2 { 10.0 } else { 185.0 };
    for (i, &(from, inward, _)) in arms.iter().enumerate() {
        for (j, &(to, _, outward)) in arms.iter().enumerate() {
            if i != j {
                let lane = if (i + j) % 2 == 0 { 1 } else { 2 };
                b.flow(Flow {
                    vehicle: "car".into(),
                    stack: if j == 0 {
                        "pursuit".into()
                    } else {
                        "idm".into()
                    },
                    dynamics: None,
                    origin: Place::lane(RoadId(from), inward * lane, far(from)),
                    destination: Place::lane(RoadId(to), outward * lane, far(to)),
                    rate_per_hour: 90.0.into(),
                    begin: 0.0.into(),
                    end: 240.0.into(),
                });
            }
        }
    }
    b.scenario
}

/// A road in the shape of a figure of eight that crosses over itself, with three drivers to compare.
pub(crate) fn figure_eight() -> Scenario {
    let mut b = Builder::new(
        "figure-eight",
        "A figure-of-eight road crosses over itself; three controllers drive it.",
        DrivingSide::Right,
    );
    b.settings(1, 300.0);
    // The right loop turns clockwise by 270 degrees and ends at the mirror image of its start. The start is
    // chosen such that both straights pass through the origin.
    let start_heading = std::f64::consts::FRAC_PI_4;
    let unplaced = loop_line(Pose::new(0.0, 0.0, start_heading), -1.0);
    let d = -0.5 * unplaced.end().position.y;
    let style = |name: &str, layer: i8| RoadStyle {
        layer,
        ..street(name)
    };
    let straight = |from: (f64, f64), to: (f64, f64)| {
        ReferenceLine::straight(DVec2::from(from), DVec2::from(to)).expect("two points")
    };
    b.line(&straight((-d, -d), (d, d)), &style("", 0));
    b.line(
        &loop_line(Pose::new(d, d, start_heading), -1.0),
        &style("East Loop", 0),
    );
    b.line(&straight((d, -d), (-d, d)), &style("Bridge", 1));
    b.line(
        &loop_line(Pose::new(-d, d, 3.0 * start_heading), 1.0),
        &style("West Loop", 0),
    );
    let stack = |key: &str| match key {
        "fuzzy_driver" => city_fuzzy(7.0, 22.0),
        other => Stack::with_controller(other),
    };
    for (key, lead) in [("idm", 46.0), ("pursuit", 28.0), ("fuzzy_driver", 10.0)] {
        b.stack(key, stack(key));
        let (start, goal) = (
            Place::lane(RoadId(1), -1, lead),
            Place::lane(RoadId(1), -1, 58.0),
        );
        let mut agent = trip("car", key, start, goal, 0.0);
        // Two laps.
        let (bridge, underpass) = (
            Place::lane(RoadId(3), -1, 40.0),
            Place::lane(RoadId(1), -1, 52.0),
        );
        agent.via = vec![bridge, underpass, bridge];
        agent.name = format!("{key} car");
        b.agent(agent);
    }
    b.scenario
}

/// Three quarters of a circle with a radius of 45 m, with spirals at both ends. If `side` is 1, it turns
/// left.
fn loop_line(start: Pose, side: f64) -> ReferenceLine {
    let curvature = side / 45.0;
    let (turn, spiral) = (1.5 * std::f64::consts::PI, 25.0);
    let segments = vec![
        Segment::Spiral {
            length: spiral,
            curvature_start: 0.0,
            curvature_end: curvature,
        },
        Segment::Arc {
            length: turn * 45.0 - spiral,
            curvature,
        },
        Segment::Spiral {
            length: spiral,
            curvature_start: curvature,
            curvature_end: 0.0,
        },
    ];
    ReferenceLine::new(start, segments).expect("plain numbers")
}

/// The fuzzy driver for streets with tight corners: it aims along the bend just ahead, so that it neither cuts
/// corners nor swings out into the oncoming lane (`docs/controllers.md`). `lookahead_distance` is in metres.
pub(crate) fn city_fuzzy(lookahead_distance: f64, route_steering_gain: f64) -> Stack {
    let mut stack = Stack::with_controller("fuzzy_driver");
    stack.controller = ModuleSetting::new("fuzzy_driver")
        .with("aim", 1.0)
        .with("lookahead_distance", lookahead_distance)
        .with("lookahead_time", 0.5)
        .with("route_steering_gain", route_steering_gain);
    stack
}

/// Open ground with posts, trees and a hill, crossed by jeeps with the fuzzy driver as published.
pub(crate) fn obstacle_field() -> Scenario {
    let mut b = Builder::new(
        "obstacle-field",
        "Open ground with loose posts, a wood and a hill; jeeps find their way with fuzzy rules.",
        DrivingSide::Right,
    );
    b.settings(3, 120.0);
    let mut stack = Stack::with_controller("fuzzy_driver");
    stack.controller = ModuleSetting::new("fuzzy_driver")
        .with("avoid_steering_gain", 2.5)
        .with("route_steering_gain", 2.0);
    b.stack("fuzzy_driver", stack);
    b.apply(Edit::Terrain(Some(Box::new(hill()))));
    let mut stream = Stream::new(12, "posts", 0);
    for row in 0..5 {
        for column in -3..=3 {
            let x = 35.0 + 22.0 * f64::from(row) + stream.next_in(-4.0, 4.0);
            let y =
                24.0 * f64::from(column) + 12.0 * f64::from(row % 2) + stream.next_in(-4.0, 4.0);
            b.obstacle(Obstacle {
                name: "post".into(),
                shape: Shape::Box {
                    x: x.into(),
                    y: y.into(),
                    heading: stream.next_in(0.0, 1.5).into(),
                    length: 2.0.into(),
                    width: 2.0.into(),
                },
                base: 0.0.into(),
                height: 10.0.into(),
                mass: Some(1000.0).into(),
            });
        }
    }
    b.forest(
        &[(40.0, 105.0), (120.0, 95.0), (140.0, 125.0), (60.0, 135.0)],
        180.0,
        5.0,
        2,
    );
    for (i, y) in [-60.0, -36.0, -12.0, 12.0, 36.0, 60.0]
        .into_iter()
        .enumerate()
    {
        let destination = Place::ground(160.0, -y, 0.0);
        b.agent(trip(
            "willys_mb",
            "fuzzy_driver",
            Place::ground(0.0, y, 0.0),
            destination,
            2.0 * i as f64,
        ));
    }
    b.scenario
}

/// A round hill beside a gentle slope, sampled every 5 m.
fn hill() -> HeightField {
    let (low, high) = (DVec2::new(-20.0, -140.0), DVec2::new(185.0, 140.0));
    let level = HeightField::level(low, high, 5.0).expect("a small field");
    let heights = (0..level.rows() * level.columns())
        .map(|i| {
            let p = level.position(i % level.columns(), i / level.columns());
            let from_top = (p - DVec2::new(120.0, -90.0)).length_squared();
            let height = 12.0 * roadwright_geometry::math::exp(-from_top / 1800.0) + 0.02 * p.x;
            (height * 100.0).round() / 100.0
        })
        .collect();
    level.with_heights(heights).expect("finite heights")
}
