//! Tests of characters on foot: how they walk, pass each other and get through doors.

use crate::common;
use glam::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, ModuleSetting, Obstacle, ObstacleId, Place, Scenario,
    Shape, Stack, VehicleType, file,
};
use roadwright_simulation::{PathStatus, RunOptions, SimulationError, World, builtin_modules};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A wall: its centre, and its extent along x and y, m.
type Wall = (DVec2, DVec2);

fn wall(x: f64, y: f64, along_x: f64, along_y: f64) -> Wall {
    (DVec2::new(x, y), DVec2::new(along_x, along_y))
}

/// Creates a scene with walls, and people who each walk between two places.
fn scene(walls: &[Wall], walks: &[(Place, Place)], controller: &str) -> Scenario {
    let mut scenario = Scenario::new("on foot");
    let mut apply = |edit| {
        scenario.apply(edit).unwrap();
    };
    let person = VehicleType::person();
    apply(Edit::VehicleType("person".into(), Some(Box::new(person))));
    let mut stack = Stack::with_controller(controller);
    stack.ground_planner = Some(ModuleSetting::new("grid_path"));
    apply(Edit::Stack("on_foot".into(), Some(Box::new(stack))));
    for (number, (middle, extent)) in (1..).zip(walls) {
        let wall = Obstacle {
            name: "wall".into(),
            shape: Shape::Box {
                x: middle.x.into(),
                y: middle.y.into(),
                heading: 0.0.into(),
                length: extent.x.into(),
                width: extent.y.into(),
            },
            base: 0.0.into(),
            height: 2.5.into(),
            mass: None.into(),
        };
        apply(Edit::Obstacle(ObstacleId(number), Some(Box::new(wall))));
    }
    for (number, (start, destination)) in (1..).zip(walks) {
        let walker = Agent {
            name: String::new(),
            vehicle: "person".into(),
            stack: "on_foot".into(),
            dynamics: None,
            start: *start,
            via: Vec::new(),
            destination: Some(*destination),
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        apply(Edit::Agent(AgentId(number), Some(Box::new(walker))));
    }
    scenario
}

/// Creates an office of 24 m by 14 m, with doors of 1.2 m and twelve people.
fn office() -> Scenario {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/common");
    file::load(&folder.join("office-people.scenario.json")).unwrap()
}

fn to(x: f64, y: f64) -> Place {
    Place::ground(x, y, 0.0)
}

fn world(scenario: &Scenario) -> World {
    let options = RunOptions {
        dt: Some(0.02),
        ..RunOptions::default()
    };
    World::new(scenario, &builtin_modules(), &options).unwrap()
}

/// Runs until everyone has arrived, for at most `seconds`.
fn walk(world: &mut World, seconds: f64, mut look: impl FnMut(&World)) {
    while world.time() < seconds && !world.is_over() {
        world.step();
        look(world);
    }
}

/// Asserts that everyone has arrived without contacts.
fn assert_all_arrived(world: &World, what: &str) {
    let summary = world.summary();
    let count = world.finished().len();
    assert_eq!(
        summary.agents.arrived, count,
        "{what}: {:?}",
        summary.agents
    );
    assert!(
        world.is_over(),
        "{what}: {:?} at {} s",
        summary.agents,
        world.time()
    );
    assert!(
        summary.collisions.is_empty(),
        "{what}: {:?}",
        summary.collisions
    );
}

#[test]
fn a_person_walks_to_its_goal_and_stops_there() {
    for controller in ["pd_follower", "pursuit", "idm", "lqr", "stanley"] {
        let scenario = scene(&[], &[(to(0.0, 0.0), to(12.0, 5.0))], controller);
        let mut world = world(&scenario);
        let mut last = DVec2::ZERO;
        let mut fastest: f64 = 0.0;
        walk(&mut world, 40.0, |world| {
            if let Some(walker) = world.snapshot().vehicles.first() {
                last = walker.body.position;
                fastest = fastest.max(walker.speed);
            }
        });
        assert_all_arrived(&world, controller);
        assert!(
            (last - DVec2::new(12.0, 5.0)).length() < 0.3,
            "{controller}: {last}"
        );
        assert!(
            (1.0..=1.4).contains(&fastest),
            "{controller}: {fastest} m/s"
        );
        assert!(world.time() < 20.0, "{controller}: {} s", world.time());
    }
}

#[test]
fn a_person_whose_path_leads_back_turns_on_the_spot() {
    let scenario = scene(&[], &[(to(0.0, 0.0), to(-8.0, 0.0))], "pd_follower");
    let mut world = world(&scenario);
    let mut moved: f64 = 0.0;
    walk(&mut world, 30.0, |world| {
        if let Some(walker) = world.snapshot().vehicles.first()
            && walker.body.heading.abs() < 2.0
        {
            moved = moved.max(walker.body.position.length());
        }
    });
    assert_all_arrived(&world, "back");
    assert!(moved < 0.15, "{moved} m");
}

#[test]
fn without_a_path_a_person_stops_and_waits() {
    // The goal is in a closed room.
    let walls = [
        wall(10.0, 3.0, 6.2, 0.2),
        wall(10.0, -3.0, 6.2, 0.2),
        wall(7.0, 0.0, 0.2, 6.2),
        wall(13.0, 0.0, 0.2, 6.2),
    ];
    let closed = scene(&walls, &[(to(0.0, 0.0), to(10.0, 0.0))], "pd_follower");
    let mut world = world(&closed);
    walk(&mut world, 20.0, |_| ());
    assert!(matches!(world.path_status(1), Some(PathStatus::NoPath(_))));
    let snapshot = world.snapshot();
    assert_eq!(snapshot.vehicles[0].speed, 0.0);
    assert!(
        snapshot.characters[0]
            .figure
            .feet
            .iter()
            .all(|foot| foot.is_down)
    );
    // The room is opened.
    let open = scene(&walls[..3], &[(to(0.0, 0.0), to(10.0, 0.0))], "pd_follower");
    world.update(&closed, &open, &builtin_modules()).unwrap();
    walk(&mut world, 60.0, |_| ());
    assert_all_arrived(&world, "opened");
}

#[test]
fn two_people_who_meet_in_a_door_pass_one_after_the_other() {
    let walls = [wall(0.0, 5.6, 0.2, 10.0), wall(0.0, -5.6, 0.2, 10.0)];
    for offset in [0.0, 0.3, 1.0, -0.7] {
        for lateral in [0.0, 0.4, 2.0] {
            let walks = [
                (to(-5.0, lateral), to(5.0, lateral)),
                (
                    Place::ground(5.0 + offset, -lateral, std::f64::consts::PI),
                    to(-5.0, -lateral),
                ),
            ];
            let scenario = scene(&walls, &walks, "pd_follower");
            let mut world = world(&scenario);
            let (mut both, mut face_to_face, mut longest) = (false, 0.0_f64, 0.0_f64);
            walk(&mut world, 60.0, |world| {
                let snapshot = world.snapshot();
                let in_door = |place: DVec2| place.x.abs() < 0.2;
                both |= snapshot
                    .vehicles
                    .iter()
                    .filter(|one| in_door(one.body.position))
                    .count()
                    > 1;
                let stand = |pair: &[roadwright_simulation::VehicleRecord]| {
                    let near = (pair[0].body.position - pair[1].body.position).length() < 1.5;
                    near && pair.iter().all(|one| one.speed < 0.1)
                };
                face_to_face = match snapshot.vehicles.windows(2).any(stand) {
                    true => face_to_face + 0.02,
                    false => 0.0,
                };
                longest = longest.max(face_to_face);
            });
            let what = format!("{offset} m, {lateral} m aside");
            assert_all_arrived(&world, &what);
            assert!(!both, "{what}");
            assert!(longest < 5.0, "{what}: {longest} s");
            assert!(world.time() < 25.0, "{what}: {} s", world.time());
        }
    }
}

#[test]
fn in_a_passage_where_nobody_can_pass_one_goes_back() {
    // A corridor that is 1 m wide and 8 m long.
    let walls = [wall(0.0, 1.5, 8.0, 2.0), wall(0.0, -1.5, 8.0, 2.0)];
    let walks = [(to(-7.0, 0.0), to(7.0, 0.0)), (to(3.0, 0.0), to(-7.0, 1.0))];
    let scenario = scene(&walls, &walks, "pd_follower");
    let mut world = world(&scenario);
    walk(&mut world, 90.0, |_| ());
    assert_all_arrived(&world, "passage");
}

#[test]
fn a_crowd_in_the_open_crosses_without_contacts() {
    let count = 10;
    let place = |number: usize| {
        let angle = std::f64::consts::TAU * number as f64 / count as f64;
        let at = 6.0 * roadwright_geometry::unit(angle);
        to(at.x, at.y)
    };
    let walks: Vec<(Place, Place)> = (0..count)
        .map(|number| (place(number), place(number + count / 2)))
        .collect();
    let scenario = scene(&[], &walks, "pd_follower");
    let mut world = world(&scenario);
    walk(&mut world, 60.0, |_| ());
    assert_all_arrived(&world, "crowd");
}

/// Sums over the samples of a person: distances from the planned path, speeds, and the number of
/// samples in which the person walks.
#[derive(Debug, Default)]
struct Tracking {
    sum: f64,
    samples: f64,
    most: f64,
    speed: f64,
    walking: f64,
}

/// Quality of path following: means over all samples of the distance (m) and of the speed (m/s),
/// the largest distance (m), and the number of contacts.
#[derive(Debug, Default)]
struct Follows {
    mean: f64,
    most: f64,
    speed: f64,
    contacts: usize,
}

/// Walks each person of the office on their own, at up to `fastest` m/s, in steps of 1/30 s as in
/// [Kuffner 1998].
fn alone_in_the_office(fastest: f64) -> Follows {
    let mut all = office();
    let person = VehicleType {
        max_speed: fastest.into(),
        ..all.vehicle_types()["person"].clone()
    };
    let edit = Edit::VehicleType("person".into(), Some(Box::new(person)));
    all.apply(edit).unwrap();
    let options = RunOptions {
        dt: Some(1.0 / 30.0),
        ..RunOptions::default()
    };
    let (mut found, mut samples) = (Follows::default(), 0.0);
    for alone in all.agents().keys() {
        let mut scenario = all.clone();
        for other in all.agents().keys().filter(|other| *other != alone) {
            scenario.apply(Edit::Agent(*other, None)).unwrap();
        }
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        walk(&mut world, 60.0, |world| {
            for one in &world.snapshot().vehicles {
                samples += 1.0;
                found.mean += one.t.abs();
                found.most = found.most.max(one.t.abs());
                found.speed += one.speed;
            }
        });
        assert_eq!(
            world.summary().agents.arrived,
            1,
            "{alone:?} at {fastest} m/s"
        );
        found.contacts += world.collisions().len();
    }
    found.mean /= samples;
    found.speed /= samples;
    found
}

#[test]
fn people_who_are_alone_in_the_office_keep_close_to_their_paths() {
    let walking = alone_in_the_office(1.4);
    println!("{walking:?}");
    assert!(walking.mean <= 0.2 && walking.most <= 0.8, "{walking:?}");
    assert!(walking.speed >= 0.7 && walking.contacts == 0, "{walking:?}");
    // As in [Kuffner 1998], section 8, jogging people follow their paths less closely.
    let jogging = alone_in_the_office(3.0);
    println!("{jogging:?}");
    assert!(jogging.mean > walking.mean && jogging.speed > walking.speed);
}

/// Returns the longest time for which two people have been standing in front of each other, s.
/// `together` contains the times of all pairs.
fn face_to_face(world: &World, dt: f64, together: &mut BTreeMap<(u64, u64), f64>) -> f64 {
    let people = world.snapshot().vehicles.clone();
    let mut longest: f64 = 0.0;
    for (at, a) in people.iter().enumerate() {
        for b in &people[at + 1..] {
            let between = b.body.position - a.body.position;
            let near = between.length() < 1.2;
            let face = between.dot(a.body.forward()) > 0.0 && between.dot(b.body.forward()) < 0.0;
            let stand = near && face && a.speed < 0.1 && b.speed < 0.1;
            let time = together.entry((a.agent, b.agent)).or_default();
            *time = if stand { *time + dt } else { 0.0 };
            longest = longest.max(*time);
        }
    }
    longest
}

#[test]
fn in_the_office_all_arrive_without_a_contact_close_to_their_paths() {
    let scenario = office();
    for dt in [0.02, 1.0 / 30.0] {
        let options = RunOptions {
            dt: Some(dt),
            ..RunOptions::default()
        };
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let mut people: BTreeMap<u64, Tracking> = BTreeMap::new();
        let mut together: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        walk(&mut world, 90.0, |world| {
            let snapshot = world.snapshot();
            for one in &snapshot.vehicles {
                let own = people.entry(one.agent).or_default();
                own.sum += one.t.abs();
                own.samples += 1.0;
                own.most = own.most.max(one.t.abs());
                if one.speed > 0.1 {
                    own.speed += one.speed;
                    own.walking += 1.0;
                }
            }
            let longest = face_to_face(world, dt, &mut together);
            assert!(longest < 5.0, "{longest} s at {} s", world.time());
        });
        assert_all_arrived(&world, "office");
        let samples: f64 = people.values().map(|own| own.samples).sum();
        let mean = |of: &dyn Fn(&Tracking) -> f64| people.values().map(of).sum::<f64>() / samples;
        let most = people.values().map(|own| own.most).fold(0.0, f64::max);
        let walking: f64 = people.values().map(|own| own.walking).sum();
        let away = mean(&|own| own.sum);
        let speed = people.values().map(|own| own.speed).sum::<f64>() / walking;
        eprintln!(
            "dt {dt:.4}: {away:.3} m from the path in the mean, {most:.3} m at most, {speed:.2} m/s, {:.1} s",
            world.time()
        );
        assert!(away <= 0.2, "{away} m");
        assert!(most <= 0.8, "{most} m");
        assert!(speed >= 0.7, "{speed} m/s");
    }
}

/// Shifts a place off the lanes at random by up to 0.25 m along each axis.
fn shifted(place: Place, stream: &mut Stream) -> Place {
    match place {
        Place::Ground(place) => to(
            place.x.get() + stream.next_in(-0.25, 0.25),
            place.y.get() + stream.next_in(-0.25, 0.25),
        ),
        Place::Lane(_) => place,
    }
}

/// Returns the office with other starts, destinations and departures.
fn drawn_office(seed: u64) -> Scenario {
    let mut scenario = office();
    let mut stream = Stream::new(seed, "office", 0);
    for (id, mut agent) in scenario.agents().clone() {
        agent.depart = stream.next_in(0.0, 3.0).into();
        agent.start = shifted(agent.start, &mut stream);
        agent.destination = agent.destination.map(|place| shifted(place, &mut stream));
        scenario
            .apply(Edit::Agent(id, Some(Box::new(agent))))
            .unwrap();
    }
    scenario
}

#[test]
#[ignore = "not reached yet: about one of 32 runs does not end, and about one of 20 has a contact of 2 cm"]
fn with_other_departures_all_in_the_office_arrive_as_well() {
    let first = match std::env::var("OFFICE_FIRST") {
        Ok(text) => text.parse().unwrap(),
        Err(_) => 1,
    };
    let count = roadwright_testing::scaled(64);
    for seed in first..first + count {
        let dt = [0.02, 1.0 / 30.0][(seed % 2) as usize];
        let options = RunOptions {
            dt: Some(dt),
            ..RunOptions::default()
        };
        let scenario = drawn_office(seed);
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let mut together: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        let mut longest: f64 = 0.0;
        walk(&mut world, 150.0, |world| {
            longest = longest.max(face_to_face(world, dt, &mut together));
        });
        println!(
            "{seed}: {:.1} s, longest {longest:.1} s, contacts {}",
            world.time(),
            world.collisions().len()
        );
        assert_all_arrived(&world, &format!("seed {seed}"));
        assert!(longest < 5.0, "seed {seed}: {longest} s");
    }
}

#[test]
fn the_office_is_the_same_with_two_threads_and_after_a_save() {
    let scenario = office();
    let with = |threads| RunOptions {
        threads,
        ..RunOptions::default()
    };
    let mut one = World::new(&scenario, &builtin_modules(), &with(1)).unwrap();
    let mut two = World::new(&scenario, &builtin_modules(), &with(2)).unwrap();
    let mut restored: Vec<World> = Vec::new();
    for step in 1..=900 {
        for world in restored.iter_mut().chain([&mut one, &mut two]) {
            world.step();
        }
        if step % 50 == 0 {
            assert_eq!(one.state_hash(), two.state_hash(), "step {step}");
            for world in &restored {
                assert_eq!(one.state_hash(), world.state_hash(), "step {step}");
                assert_eq!(one.snapshot(), world.snapshot(), "step {step}");
            }
        }
        if [7, 143, 290, 555].contains(&step) {
            let world = common::restored(&one, &scenario, &with(2));
            restored.push(world);
        }
    }
}

#[test]
fn characters_on_other_levels_and_vehicles_on_foot_are_refused() {
    let scenario = scene(&[], &[(to(0.0, 0.0), to(12.0, 5.0))], "pd_follower");
    let with = |vehicle: &str, dynamics| {
        let mut changed = scenario.clone();
        let mut agent = scenario.agents()[&AgentId(1)].clone();
        (agent.vehicle, agent.dynamics) = (vehicle.into(), dynamics);
        let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
        changed.apply(edit).unwrap();
        World::new(&changed, &builtin_modules(), &RunOptions::default()).map(|_| ())
    };
    assert!(with("person", None).is_ok());
    assert!(with("person", Some(DynamicsLevel::Walker)).is_ok());
    for level in DynamicsLevel::ALL {
        let (person, car) = (with("person", Some(level)), with("car", Some(level)));
        if level == DynamicsLevel::Walker {
            let error = car.unwrap_err();
            assert!(matches!(error, SimulationError::Body { .. }), "{error}");
            assert!(
                error.to_string().contains("moves characters only"),
                "{error}"
            );
        } else {
            let error = person.unwrap_err();
            assert!(error.to_string().contains("it is a character"), "{error}");
        }
    }
    // A level that the options set for vehicles does not apply to people.
    let forced = |level| RunOptions {
        dynamics: Some(level),
        ..RunOptions::default()
    };
    let world = World::new(&scenario, &builtin_modules(), &forced(DynamicsLevel::Lane));
    let mut world = world.unwrap();
    walk(&mut world, 40.0, |_| ());
    assert_all_arrived(&world, "forced level");
}
