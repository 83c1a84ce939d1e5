//! Tests that, at all levels of dynamics, a vehicle passes below obstacles above its height and drives over
//! obstacles below its clearance, without perceiving or touching them.

use crate::common::*;
use crate::scenarios::west_to_east;
use roadwright_geometry::DVec2;
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, Obstacle, ObstacleId, Place, Scenario, Shape, VehicleType,
};
use roadwright_simulation::{RunOptions, Status, World, builtin_modules};

/// Lower and upper edge of an obstacle, m.
#[derive(Debug, Clone, Copy)]
struct Heights {
    base: f64,
    top: f64,
}

/// Outcome of a drive through the obstacle.
#[derive(Debug, PartialEq)]
struct Drive {
    arrived: bool,
    saw_it: bool,
    touched_it: bool,
}

/// The vehicle passed without perceiving or touching the obstacle.
const FREE: Drive = Drive {
    arrived: true,
    saw_it: false,
    touched_it: false,
};

/// Creates a bar across the path of a vehicle that drives straight ahead.
fn bar(Heights { base, top }: Heights) -> Obstacle {
    Obstacle {
        name: "bar".into(),
        shape: Shape::Box {
            x: 40.0.into(),
            y: 0.0.into(),
            heading: 0.0.into(),
            length: 1.0.into(),
            width: 30.0.into(),
        },
        base: base.into(),
        height: top.into(),
        mass: None.into(),
    }
}

/// Creates a vehicle that drives through a bar with the given heights. If its level follows lanes, it drives
/// on a street.
fn course(level: DynamicsLevel, kind: &VehicleType, heights: Heights) -> Scenario {
    let mut scenario = Scenario::new("gate");
    let (start, goal) = match level {
        DynamicsLevel::Lane => {
            let (from, to) = (DVec2::new(-20.0, 0.0), DVec2::new(120.0, 0.0));
            draw_street(&mut scenario, from, to, &street(1, 1));
            let road = scenario.network().roads().next().unwrap().0;
            (Place::lane(road, -1, 10.0), Place::lane(road, -1, 120.0))
        }
        _ => (Place::ground(0.0, 0.0, 0.0), Place::ground(100.0, 0.0, 0.0)),
    };
    let edit = Edit::VehicleType("tested".into(), Some(Box::new(kind.clone())));
    scenario.apply(edit).unwrap();
    let edit = Edit::Obstacle(ObstacleId(1), Some(Box::new(bar(heights))));
    scenario.apply(edit).unwrap();
    let agent = Agent {
        vehicle: "tested".into(),
        // This driver perceives obstacles but does not react to them.
        stack: "pursuit".into(),
        start,
        destination: Some(goal),
        ..west_to_east()
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    scenario
}

fn drive(level: DynamicsLevel, kind: &VehicleType, heights: Heights) -> Drive {
    let options = RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        ..straight()
    };
    let scenario = course(level, kind, heights);
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    let mut saw_it = false;
    while world.time() < 60.0 && !world.is_over() {
        world.step();
        let seen = world.inspect(1).and_then(|agent| agent.obstacle);
        saw_it = saw_it || seen.is_some();
    }
    let mut finished = world.finished();
    Drive {
        arrived: finished.any(|agent| agent.status == Status::Arrived),
        saw_it,
        touched_it: !world.summary().collisions.is_empty(),
    }
}

/// Creates a jeep that is 1.8 m high, has a clearance of 0.3 m, and has the data that all levels
/// need.
fn jeep() -> VehicleType {
    vehicle("willys-mb", |file| {
        file.body.ground_clearance = 0.3.into();
        file.body.height = 1.5.into();
    })
}

#[test]
fn a_gate_above_a_vehicle_is_passed_underneath_at_every_level() {
    for level in DynamicsLevel::FOR_VEHICLES {
        let kind = kind_for(level);
        let height = kind.height.get();
        let gate = Heights {
            base: 2.5,
            top: 3.0,
        };
        assert_eq!(drive(level, &kind, gate), FREE, "{level}");
        // The bar is slightly above the roof. A sprung body rises by less than this margin.
        let low = Heights {
            base: height
                + if level == DynamicsLevel::Rigid {
                    0.2
                } else {
                    0.0
                },
            top: 3.0,
        };
        assert_eq!(drive(level, &kind, low), FREE, "{level} {height}");
        // An obstacle that the roof hits.
        let beam = Heights {
            base: height - 0.1,
            top: 3.0,
        };
        let driven = drive(level, &kind, beam);
        assert!(driven.saw_it && driven.touched_it, "{level} {driven:?}");
    }
}

#[test]
fn a_step_below_the_clearance_is_driven_over_at_every_level() {
    for level in DynamicsLevel::FOR_VEHICLES {
        let kind = kind_for(level);
        let clearance = kind.ground_clearance();
        // A wheel is a sphere, so it climbs obstacles well below its axle.
        let top = match level {
            DynamicsLevel::Rigid => 0.12,
            _ => clearance,
        };
        let step = Heights { base: 0.0, top };
        assert_eq!(drive(level, &kind, step), FREE, "{level}");
        let wall = Heights {
            base: 0.0,
            top: clearance + 0.05,
        };
        let driven = drive(level, &kind, wall);
        assert!(driven.saw_it && driven.touched_it, "{level} {driven:?}");
    }
}

/// Returns the jeep or, at the sliding level, a car of the same height, because the jeep's file
/// lacks the values that this level needs.
fn kind_for(level: DynamicsLevel) -> VehicleType {
    match level {
        DynamicsLevel::Sliding => VehicleType {
            height: 1.8.into(),
            ..VehicleType::car()
        },
        _ => jeep(),
    }
}

#[test]
fn the_tallest_of_a_vehicle_and_its_trailers_counts() {
    let train = vehicle("escort-caravan", |_| {});
    let (own, whole) = (train.vertical_span(), train.whole_span());
    assert!(whole.high > own.high + 0.3, "{own:?} {whole:?}");
    // The car fits below the gate, but its caravan does not.
    let gate = Heights {
        base: own.high + 0.1,
        top: 4.0,
    };
    let level = DynamicsLevel::OneTrack;
    let driven = drive(level, &train, gate);
    assert!(driven.saw_it && driven.touched_it, "{driven:?}");
    let high = Heights {
        base: whole.high,
        top: 4.0,
    };
    assert_eq!(drive(level, &train, high), FREE);
    // Without the caravan, the car passes.
    let car = VehicleType {
        file: None,
        ..train.clone()
    };
    assert_eq!(drive(level, &car, gate), FREE);
}

#[test]
fn what_has_its_lower_edge_above_its_top_is_not_there() {
    for level in DynamicsLevel::FOR_VEHICLES {
        let nothing = Heights {
            base: 1.5,
            top: 1.0,
        };
        assert_eq!(drive(level, &kind_for(level), nothing), FREE, "{level}");
    }
}

#[test]
fn a_mass_that_hangs_stays_where_it_is() {
    let level = DynamicsLevel::Rigid;
    let heights = Heights {
        base: 1.0,
        top: 1.5,
    };
    let mut scenario = course(level, &jeep(), heights);
    let beam = Obstacle {
        mass: Some(10.0).into(),
        ..bar(heights)
    };
    let edit = Edit::Obstacle(ObstacleId(1), Some(Box::new(beam)));
    scenario.apply(edit).unwrap();
    let options = RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        ..straight()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    (0..800).for_each(|_| world.step());
    let jeep = &world.snapshot().vehicles[0];
    assert!(jeep.body.position.x < 39.0, "{}", jeep.body.position);
    assert!(world.snapshot().loose.is_empty());
}
