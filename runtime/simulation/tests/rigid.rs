//! Tests of level `rigid`: the usual stacks can drive at this level, also on hills. Saves resume
//! exactly, and obstacles push back.

use crate::common::*;
use roadwright_geometry::math::{cos, sin};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_scenario::vehicle_file::{VehicleFile, WheelShape};
use roadwright_scenario::{
    Agent, DynamicsLevel, Edit, Forest, ForestId, Obstacle, ObstacleId, Scenario, Shape,
};
use roadwright_simulation::{Ground, RunOptions, World, builtin_modules};
use roadwright_testing::is_slow;

const SHAPES: [WheelShape; 2] = [WheelShape::Ray, WheelShape::Sphere];

/// Adds hills of the given height (m) to a scenario.
fn hilly(mut scenario: Scenario, height: f64) -> Scenario {
    let flat = HeightField::level(DVec2::splat(-300.0), DVec2::splat(300.0), 10.0).unwrap();
    let columns = flat.columns();
    let heights = (0..flat.heights().len()).map(|sample| {
        let (x, y) = (sample % columns, sample / columns);
        height * sin(0.3 * x as f64) * cos(0.25 * y as f64)
    });
    let hills = flat.with_heights(heights.collect()).unwrap();
    let edit = Edit::Terrain(Some(Box::new(hills)));
    scenario.apply(edit).unwrap();
    scenario
}

fn rigid(dt: f64) -> RunOptions {
    RunOptions {
        dynamics: Some(DynamicsLevel::Rigid),
        dt: Some(dt),
        ..straight()
    }
}

/// All of old-town with 150 vehicles. An ordinary test run covers the first 100 seconds of one seed.
#[test]
fn the_old_town_drives_at_rigid_without_getting_stuck() {
    let (seconds, seeds) = if is_slow() {
        (600.0, 1..=3)
    } else {
        (100.0, 1..=1)
    };
    for seed in seeds {
        let options = RunOptions {
            seed: Some(seed),
            ..rigid(0.02)
        };
        let (arrived, summary) = run(&shipped("old-town"), &options, seconds);
        let depths = summary.collisions.iter().map(|contact| contact.depth);
        let deepest = depths.fold(0.0, f64::max);
        println!(
            "seed {seed}: {} arrived, mean {:.1} s, {} contacts, the deepest {deepest:.2} m, {:?}, {:?}",
            arrived.len(),
            summary.travel_time.mean,
            summary.collisions.len(),
            summary.mishaps,
            summary.standing
        );
        // The front of a turning bus touches a car at its stop line, because the bus cannot steer fast enough.
        assert!(summary.collisions.len() <= 10 && deepest <= 0.12);
        assert_eq!((summary.mishaps.tipped_over, summary.mishaps.stuck), (0, 0));
        if is_slow() {
            assert_eq!(arrived.len(), 150);
            assert!(summary.standing.is_empty(), "{:?}", summary.standing);
        }
    }
}

#[test]
fn rigid_bodies_take_the_same_stacks_to_the_same_goals() {
    for name in ["crossroads", "figure-eight"] {
        let scenario = shipped(name);
        let steers = RunOptions {
            dynamics: Some(DynamicsLevel::OneTrack),
            ..rigid(0.02)
        };
        let (arrived, summary) = run(&scenario, &steers, 600.0);
        let (arrived_rigidly, rigidly) = run(&scenario, &rigid(0.02), 600.0);
        println!(
            "{name}: {}, {}: {:.1}, {:.1} s, {}, {} contacts",
            arrived.len(),
            arrived_rigidly.len(),
            summary.travel_time.mean,
            rigidly.travel_time.mean,
            summary.collisions.len(),
            rigidly.collisions.len()
        );
        assert_eq!(arrived_rigidly, arrived, "{name}");
        let ratio = rigidly.travel_time.mean / summary.travel_time.mean;
        assert!((ratio - 1.0).abs() < 0.15, "{name}: {ratio} times as long");
        assert!(
            rigidly.collisions.len() <= 2 * summary.collisions.len(),
            "{name}"
        );
    }
}

#[test]
fn the_jeep_and_the_bus_drive_over_hills_to_their_goals() {
    // The bus starts in second gear and climbs 3.5 %, as in its source.
    for (name, height, shape) in [
        ("willys-mb", 2.0, WheelShape::Ray),
        ("willys-mb", 2.0, WheelShape::Sphere),
        ("enviro-400", 0.7, WheelShape::Ray),
        ("enviro-400", 0.7, WheelShape::Sphere),
    ] {
        let kind = vehicle(name, |file| {
            file.wheels.friction = Some(0.8).into();
            file.wheels.shape = shape;
        });
        let scenario = hilly(driven_by(shipped("figure-eight"), &kind), height);
        let mut world = world(&scenario, &rigid(0.02));
        let mut steepest = 0.0f64;
        while world.time() < 600.0 && !world.is_over() {
            world.step();
            let vehicles = world.snapshot().vehicles.into_iter();
            let pitches = vehicles.filter_map(|one| one.attitude.map(|lies| lies.pitch.abs()));
            steepest = pitches.fold(steepest, f64::max);
        }
        assert_eq!(world.counts().arrived, 3, "{name}");
        assert!(world.summary().collisions.is_empty(), "{name}");
        assert!(steepest > 0.01 && steepest < 0.3, "{name}: {steepest}");
    }
}

#[test]
fn a_saved_world_goes_on_bit_for_bit_with_any_number_of_threads() {
    let hashes = SHAPES.map(goes_on_bit_for_bit);
    assert_ne!(hashes[0], hashes[1], "wheels are all the same");
}

/// Checks that a restored run is bit-identical. Returns the final hash of the state.
fn goes_on_bit_for_bit(shape: WheelShape) -> u64 {
    let kind = vehicle("willys-mb", |file| file.wheels.shape = shape);
    let mut scenario = hilly(driven_by(shipped("figure-eight"), &kind), 1.0);
    // All but the first vehicle use level `rigid`.
    let agents = scenario.agents().clone();
    for (number, (id, agent)) in agents.into_iter().enumerate() {
        let dynamics = if number == 0 {
            DynamicsLevel::OneTrack
        } else {
            DynamicsLevel::Rigid
        };
        let agent = Agent {
            dynamics: Some(dynamics),
            ..agent
        };
        scenario
            .apply(Edit::Agent(id, Some(Box::new(agent))))
            .unwrap();
    }
    let options = |threads| RunOptions {
        threads,
        dynamics: None,
        ..rigid(0.02)
    };
    let mut hashes = Vec::new();
    for threads in [1, 2] {
        let mut whole = world(&scenario, &options(threads));
        (0..400).for_each(|_| whole.step());
        let mut restored = restored(&whole, &scenario, &options(threads));
        assert_eq!(restored.state_hash(), whole.state_hash());
        for _ in 0..600 {
            whole.step();
            restored.step();
            assert_eq!(restored.state_hash(), whole.state_hash());
        }
        hashes.push(whole.state_hash());
    }
    assert_eq!(hashes[0], hashes[1]);
    // Different hills give a different ground and a different run.
    let other = world(&hilly(scenario.clone(), 0.5), &options(1));
    let mut other = other;
    (0..1000).for_each(|_| other.step());
    assert_ne!(other.state_hash(), hashes[0]);
    hashes[0]
}

/// A vehicle that is made to drive into a wall across the road is stopped by the wall, and the
/// contact is counted.
#[test]
fn a_wall_holds_a_vehicle_that_does_not_look() {
    let scenario = shipped("figure-eight");
    let driven = |level, mut scenario: Scenario| {
        let mut world = world(
            &scenario,
            &RunOptions {
                dynamics: Some(level),
                ..rigid(0.02)
            },
        );
        (0..500).for_each(|_| world.step());
        let car = world.snapshot().vehicles[0];
        let ahead = car.body.position
            + 0.5 * (car.length + 0.2) * roadwright_geometry::unit(car.body.heading);
        let before = scenario.clone();
        let wall = Obstacle {
            name: "wall".into(),
            shape: Shape::Box {
                x: ahead.x.into(),
                y: ahead.y.into(),
                heading: car.body.heading.into(),
                length: 0.3.into(),
                width: 12.0.into(),
            },
            base: 0.0.into(),
            height: 2.0.into(),
            mass: None.into(),
        };
        let id = ObstacleId(900);
        scenario
            .apply(Edit::Obstacle(id, Some(Box::new(wall))))
            .unwrap();
        world
            .update(&before, &scenario, &builtin_modules())
            .unwrap();
        let speed = car.speed;
        let mut beyond = f64::NEG_INFINITY;
        for _ in 0..50 {
            world.step();
            let now = world
                .snapshot()
                .vehicles
                .into_iter()
                .find(|one| one.agent == car.agent);
            let along = roadwright_geometry::unit(car.body.heading);
            let distance = now.map_or(0.0, |now| (now.body.position - ahead).dot(along));
            beyond = beyond.max(distance + 0.5 * car.length);
        }
        (speed, beyond, world.summary().collisions.len())
    };
    let (speed, beyond, contacts) = driven(DynamicsLevel::Rigid, scenario.clone());
    assert!(
        speed > 5.0 && beyond < 0.5 && contacts > 0,
        "{speed} {beyond} {contacts}"
    );
    // A kinematic vehicle drives through the wall, because its brakes do not stop it within centimetres.
    let (_, beyond, _) = driven(DynamicsLevel::OneTrack, scenario);
    assert!(beyond > 1.0, "{beyond}");
}

#[test]
fn a_file_without_springs_is_refused_with_what_is_missing() {
    let kind = vehicle("bmw-320i", |_| {});
    let scenario = driven_by(shipped("figure-eight"), &kind);
    let refused = World::new(&scenario, &builtin_modules(), &rigid(0.02)).err();
    let said = refused.unwrap().to_string();
    assert!(
        said.contains("\"rigid\"") && said.contains("has no suspension"),
        "{said}"
    );
    let served = RunOptions {
        dynamics: Some(DynamicsLevel::DynamicOneTrack),
        ..rigid(0.02)
    };
    assert!(World::new(&scenario, &builtin_modules(), &served).is_ok());
}

#[test]
fn a_damaged_save_is_an_error() {
    let scenario = driven_by(shipped("figure-eight"), &vehicle("willys-mb", |_| {}));
    let mut world = world(&scenario, &rigid(0.02));
    (0..50).for_each(|_| world.step());
    let saved = world.save().unwrap();
    // The same save is restored for vehicles with other wheels.
    let six = driven_by(
        scenario,
        &vehicle("willys-mb", |file| {
            file.wheels.positions.push([-2.0, 0.68, -0.495]);
            file.wheels.positions.push([-2.0, -0.68, -0.495]);
        }),
    );
    let restored = World::restore(
        Ground::new(&six),
        &six,
        &builtin_modules(),
        &rigid(0.02),
        &saved,
    );
    let error = restored.err().unwrap().to_string();
    assert!(error.contains("an agent is invalid"), "{error}");
}

/// All vehicles on the proving ground arrive without touching a single cone.
#[test]
fn the_proving_ground_is_driven_without_contacts_and_faults() {
    let scenario = shipped("proving-ground");
    let (arrived, summary) = run(&scenario, &straight(), 120.0);
    assert_eq!(
        arrived.len(),
        scenario.agents().len(),
        "{:?}",
        summary.agents
    );
    assert!(summary.collisions.is_empty(), "{:?}", summary.collisions);
    let mishaps = &summary.mishaps;
    assert_eq!((mishaps.tipped_over, mishaps.stuck), (0, 0));
    assert!(
        summary
            .loose
            .is_none_or(|loose| loose.moved == 0 && loose.felled == 0)
    );
}

/// Control for the proving ground: vehicles drive differently if the gravel and ice are replaced by dry
/// asphalt, and they hit cones that are placed on their path.
#[test]
fn the_proving_ground_notices_what_it_is_made_of() {
    let scenario = shipped("proving-ground");
    let hash = |scenario: &Scenario| {
        // There is no planner, because planned paths would avoid the cones.
        let mut world = world(scenario, &straight());
        while world.time() < 12.0 {
            world.step();
        }
        (world.snapshot().hash(), world.summary().loose)
    };
    let mut dry = scenario.clone();
    let settings = roadwright_scenario::Settings {
        grip: Default::default(),
        ..dry.settings()
    };
    dry.apply(Edit::Settings(settings)).unwrap();
    assert_ne!(hash(&scenario).0, hash(&dry).0);
    let mut blocked = scenario.clone();
    let mut cone = blocked.obstacles()[&ObstacleId(1)].clone();
    for (number, x) in [-42.0, -41.0, -40.0].into_iter().enumerate() {
        cone.shape = Shape::Circle {
            x: x.into(),
            y: (-30.0 + 0.4 * (number as f64 - 1.0)).into(),
            radius: 0.3.into(),
        };
        let id = ObstacleId(900 + number as u32);
        blocked
            .apply(Edit::Obstacle(id, Some(Box::new(cone.clone()))))
            .unwrap();
    }
    let loose = hash(&blocked).1.unwrap();
    assert!(loose.moved + loose.felled > 0, "{loose:?}");
}

/// The bus of hill-country ploughs through its field of posts. The posts are counted, saved, and found at
/// their current positions.
#[test]
fn posts_are_pushed_felled_saved_and_seen_where_they_lie() {
    let scenario = shipped("hill-country");
    let options = straight();
    let mut whole = world(&scenario, &options);
    while whole.time() < 30.0 {
        whole.step();
    }
    let counts = whole.summary().loose.unwrap();
    assert!(counts.moved >= 3 && counts.felled >= 3, "{counts:?}");
    let snapshot = whole.snapshot();
    let record = snapshot
        .loose
        .iter()
        .find(|record| record.tilt > 0.8)
        .unwrap();
    // A fallen post covers a larger area than an upright one.
    let area = roadwright_geometry::polygon::signed_area(&record.outline);
    assert!(area > 0.5, "{area}");
    // Contacts with posts are counted.
    assert!(!whole.summary().collisions.is_empty());
    let mut restored = restored(&whole, &scenario, &options);
    assert_eq!(restored.snapshot(), snapshot);
    for _ in 0..250 {
        whole.step();
        restored.step();
        assert_eq!(restored.state_hash(), whole.state_hash());
    }
    // Without rigid bodies, posts are not pushed.
    let steers = RunOptions {
        dynamics: Some(DynamicsLevel::OneTrack),
        ..options
    };
    let mut other = world(&scenario, &steers);
    (0..500).for_each(|_| other.step());
    assert_eq!(other.summary().loose, None);
    // A post that the user moves stands upright at its new place.
    let id = record.obstacle;
    let mut edited = scenario.clone();
    let obstacle = Obstacle {
        shape: Shape::Circle {
            x: 10.0.into(),
            y: (-170.0).into(),
            radius: 0.25.into(),
        },
        ..scenario.obstacles()[&id].clone()
    };
    edited
        .apply(Edit::Obstacle(id, Some(Box::new(obstacle))))
        .unwrap();
    whole
        .update(&scenario, &edited, &builtin_modules())
        .unwrap();
    assert!(
        whole
            .snapshot()
            .loose
            .iter()
            .all(|record| record.obstacle != id)
    );
    whole.step();
}

/// With fifty vehicles among 210 posts, results are bit-identical in repeated runs and for any
/// number of threads.
#[test]
fn fifty_among_posts_are_the_same_on_every_run() {
    SHAPES.into_iter().for_each(fifty_are_the_same);
}

fn fifty_are_the_same(shape: WheelShape) {
    let scenario = field(50, 210, shape);
    let hash = |threads| {
        let options = RunOptions {
            threads,
            ..rigid(0.02)
        };
        let mut world = world(&scenario, &options);
        let steps = if is_slow() { 500 } else { 200 };
        (0..steps).for_each(|_| world.step());
        (world.state_hash(), world.summary().loose)
    };
    let first = hash(1);
    assert!(first.1.is_some(), "no post has been pushed");
    assert_eq!(hash(1), first);
    assert_eq!(hash(2), first);
}

/// Creates jeeps on level ground that drive through a field of posts without seeing them.
fn field(jeeps: u32, posts: u32, shape: WheelShape) -> Scenario {
    let mut scenario = shipped("obstacle-field");
    let kind = vehicle("willys-mb", |file| file.wheels.shape = shape);
    scenario
        .apply(Edit::VehicleType("willys_mb".into(), Some(Box::new(kind))))
        .unwrap();
    for id in scenario.obstacles().clone().into_keys() {
        scenario.apply(Edit::Obstacle(id, None)).unwrap();
    }
    for number in 0..posts {
        let post = Obstacle {
            name: "post".into(),
            shape: Shape::Circle {
                x: (30.0 + 6.0 * f64::from(number % 21)).into(),
                y: (-70.0 + 14.0 * f64::from(number / 21)).into(),
                radius: 0.2.into(),
            },
            base: 0.0.into(),
            height: 1.5.into(),
            mass: Some(40.0).into(),
        };
        scenario
            .apply(Edit::Obstacle(ObstacleId(number + 1), Some(Box::new(post))))
            .unwrap();
    }
    let agents = scenario.agents().clone();
    let model = agents.values().next().unwrap().clone();
    for id in agents.keys() {
        scenario.apply(Edit::Agent(*id, None)).unwrap();
    }
    for number in 0..jeeps {
        let y = -70.0 + 14.0 * f64::from(number % 10) + 0.1;
        let x = 10.0 - 8.0 * f64::from(number / 10);
        let agent = Agent {
            stack: "pursuit".into(),
            start: roadwright_scenario::Place::ground(x, y, 0.0),
            destination: Some(roadwright_scenario::Place::ground(250.0, y, 0.0)),
            depart: 0.0.into(),
            ..model.clone()
        };
        let id = roadwright_scenario::AgentId(number + 1);
        scenario
            .apply(Edit::Agent(id, Some(Box::new(agent))))
            .unwrap();
    }
    scenario
}

/// Checks that valid but absurd vehicles, posts and hills cause no panic, and that all visible
/// values stay finite.
#[test]
fn what_is_absurd_neither_panics_nor_leaves_the_world() {
    type Change = fn(&mut VehicleFile);
    let changes: [Change; 10] = [
        |_| {},
        |file| file.body.mass = 9e5.into(),
        |file| file.body.mass = (1e-3).into(),
        |file| (*file.wheels.friction, *file.wheels.cornering_stiffness) = (Some(5.0), Some(200.0)),
        |file| file.suspension.as_mut().unwrap().spring = 1e7.into(),
        |file| file.suspension.as_mut().unwrap().damping = 0.0.into(),
        |file| file.body.centre_height = Some(4.0).into(),
        |file| file.wheels.shape = WheelShape::Sphere,
        |file| {
            file.wheels.shape = WheelShape::Sphere;
            (*file.wheels.mass, *file.wheels.radial_stiffness) = (1e-3, Some(1e9));
        },
        |file| {
            file.wheels.shape = WheelShape::Sphere;
            (*file.wheels.mass, *file.wheels.radial_stiffness) = (5e3, Some(1e3));
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        for (mass, height) in [(1e-3, 0.0), (1e6, 40.0), (100.0, 1e5)] {
            let mut scenario = hilly(field(6, 40, WheelShape::Ray), height);
            let kind = vehicle("willys-mb", change);
            scenario
                .apply(Edit::VehicleType("willys_mb".into(), Some(Box::new(kind))))
                .unwrap();
            for (id, obstacle) in scenario.obstacles().clone() {
                let other = Obstacle {
                    mass: Some(mass).into(),
                    ..obstacle
                };
                scenario
                    .apply(Edit::Obstacle(id, Some(Box::new(other))))
                    .unwrap();
            }
            let mut world = world(&scenario, &rigid(0.05));
            for _ in 0..150 {
                world.step();
                for one in world.snapshot().vehicles {
                    let numbers = [
                        one.pose.position.x,
                        one.pose.position.y,
                        one.pose.heading,
                        one.speed,
                    ];
                    assert!(
                        numbers.iter().all(|n| n.is_finite()),
                        "{number} {mass} {height}"
                    );
                }
                for one in world.snapshot().loose {
                    assert!(
                        one.outline.iter().all(|p| p.is_finite()),
                        "{number} {mass} {height}"
                    );
                }
            }
        }
    }
}

/// A vehicle drives on after an edit has changed its wheels.
#[test]
fn a_vehicle_that_is_edited_drives_on() {
    let scenario = driven_by(shipped("figure-eight"), &vehicle("willys-mb", |_| {}));
    let mut world = world(&scenario, &rigid(0.02));
    (0..300).for_each(|_| world.step());
    let six = driven_by(
        scenario.clone(),
        &vehicle("willys-mb", |file| {
            file.wheels.positions.push([-2.0, 0.68, -0.495]);
            file.wheels.positions.push([-2.0, -0.68, -0.495]);
        }),
    );
    let before = world.snapshot().vehicles[0];
    world.update(&scenario, &six, &builtin_modules()).unwrap();
    (0..100).for_each(|_| world.step());
    let after = world.snapshot().vehicles[0];
    let distance = (after.pose.position - before.pose.position).length();
    assert!(distance > 5.0 && distance < 60.0, "{distance}");
}

/// Cliffs of a hundred kilometres give vehicles invalid motions. Such vehicles are stopped, logged
/// and counted. On flat ground, there are none.
#[test]
fn who_is_thrown_about_is_put_to_rest_and_told() {
    let told = |height| {
        let kind = vehicle("willys-mb", |_| {});
        let scenario = hilly(driven_by(shipped("figure-eight"), &kind), height);
        let mut world = world(&scenario, &rigid(0.02));
        (0..3000).for_each(|_| world.step());
        world.faults().values().sum::<u64>()
    };
    assert_eq!(told(0.0), 0);
    assert!(told(1e6) > 0);
}

/// Outlines of fixed obstacles around rigid bodies equal the convex parts in the solver.
#[test]
fn what_stands_fixed_near_a_place_has_the_outlines_of_the_solver() {
    use roadwright_geometry::polygon;
    let mut scenario = Scenario::new("yard");
    let points = |all: &[(f64, f64)]| all.iter().map(|&at| DVec2::from(at)).collect::<Vec<_>>();
    let corner = [
        (0.0, 0.0),
        (6.0, 0.0),
        (6.0, 2.0),
        (2.0, 2.0),
        (2.0, 6.0),
        (0.0, 6.0),
    ];
    let obstacle = |shape: Shape, mass: Option<f64>| Obstacle {
        name: String::new(),
        shape,
        base: 0.0.into(),
        height: 3.0.into(),
        mass: mass.into(),
    };
    let disc = |x: f64, radius: f64| Shape::Circle {
        x: x.into(),
        y: 0.0.into(),
        radius: radius.into(),
    };
    for (id, one) in [
        (
            1,
            obstacle(
                Shape::Polygon {
                    points: points(&corner).into(),
                },
                None,
            ),
        ),
        (2, obstacle(disc(-10.0, 2.0), None)),
        // This obstacle is loose and far away.
        (3, obstacle(disc(-20.0, 1.0), Some(100.0))),
        (4, obstacle(disc(90.0, 2.0), None)),
    ] {
        scenario
            .apply(Edit::Obstacle(ObstacleId(id), Some(Box::new(one))))
            .unwrap();
    }
    let forest = Forest {
        area: points(&[(-5.0, -25.0), (5.0, -25.0), (5.0, -15.0), (-5.0, -15.0)]).into(),
        density: 400.0.into(),
        spacing: 3.0.into(),
        trunk_radius: 0.2.into(),
        seed: 4,
    };
    let trees = forest.trees().len();
    assert!(trees > 1);
    scenario
        .apply(Edit::Forest(ForestId(1), Some(Box::new(forest))))
        .unwrap();
    let ground = Ground::new(&scenario);
    let seen = ground.still_outlines(&[DVec2::ZERO], 30.0);
    // A concave shape consists of several convex bodies that cover it.
    let is_convex = |outline: &[DVec2]| {
        let edges: Vec<DVec2> = polygon::edges(outline).map(|(a, b)| b - a).collect();
        (0..edges.len()).all(|i| edges[i].perp_dot(edges[(i + 1) % edges.len()]) > 0.0)
    };
    assert!(seen.iter().all(|outline| is_convex(outline)), "{seen:?}");
    let area = |outline: &Vec<DVec2>| polygon::signed_area(outline);
    let triangles: Vec<_> = seen.iter().filter(|one| one.len() == 3).collect();
    let covered: f64 = triangles.iter().map(|one| area(one)).sum();
    assert!((covered - 20.0).abs() < 1e-9, "{covered}");
    let discs: Vec<_> = seen.iter().filter(|one| one.len() > 8).collect();
    assert_eq!(discs.len(), 1 + trees);
    let radius = discs[0]
        .iter()
        .map(|at| (*at - DVec2::new(-10.0, 0.0)).length());
    assert!(radius.into_iter().all(|radius| (radius - 2.0).abs() < 1e-9));
    // Comparison: the loose obstacle and the distant one exist, but they are not near this place.
    assert_eq!(
        ground.still_outlines(&[DVec2::new(90.0, 0.0)], 5.0).len(),
        1
    );
    assert!(
        ground
            .still_outlines(&[DVec2::new(-20.0, 0.0)], 3.0)
            .is_empty()
    );
    assert!(ground.still_outlines(&[], 30.0).is_empty());
}
