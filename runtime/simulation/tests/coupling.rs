//! Tests of uncoupling and coupling trailers, and of uncoupled trailers as obstacles.

use crate::common::*;
use roadwright_scenario::*;
use roadwright_simulation::{
    CouplingError, CouplingOrder, Ending, HandControls, Party, RunOptions, Session, Snapshot,
    World, builtin_modules,
};

const LEVELS: [DynamicsLevel; 4] = [
    DynamicsLevel::OneTrack,
    DynamicsLevel::DynamicOneTrack,
    DynamicsLevel::Lane,
    DynamicsLevel::Rigid,
];

/// Creates a car with a number of caravans in a row.
fn road_train(trailers: usize) -> VehicleType {
    vehicle("escort-caravan", |file| {
        let one = file.trailers[0].clone();
        file.trailers = vec![one; trailers];
    })
}

/// Creates agents of these types on open ground, one after another along the x axis, heading east.
fn yard(agents: &[(&VehicleType, f64, f64)]) -> Scenario {
    let mut scenario = Scenario::new("yard");
    let stack = Stack::with_controller("pursuit");
    scenario
        .apply(Edit::Stack("pursuit".into(), Some(Box::new(stack))))
        .unwrap();
    for (number, &(kind, x, y)) in (1..).zip(agents) {
        let key = format!("type {number}");
        let kind = Edit::VehicleType(key.clone(), Some(Box::new(kind.clone())));
        scenario.apply(kind).unwrap();
        let agent = Agent {
            name: String::new(),
            vehicle: key,
            stack: "pursuit".into(),
            dynamics: None,
            start: Place::ground(x, y, 0.0),
            via: Vec::new(),
            destination: Some(Place::ground(x + 400.0, y, 0.0)),
            depart: 0.0.into(),
            speed: 0.0.into(),
            repeat: None.into(),
        };
        let edit = Edit::Agent(AgentId(number), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

fn options(level: DynamicsLevel, threads: usize) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        threads,
        ..RunOptions::default()
    }
}

fn world(scenario: &Scenario, level: DynamicsLevel) -> World {
    World::new(scenario, &builtin_modules(), &options(level, 1)).unwrap()
}

fn drive(world: &mut World, pedals: f64, steering: f64, seconds: f64) {
    // Agents are spawned in the first step.
    if world.steps() == 0 {
        world.step();
    }
    assert!(world.drive_by_hand(
        1,
        HandControls {
            pedals,
            steering,
            ..HandControls::default()
        }
    ));
    let steps = (seconds / world.dt()).round() as u64;
    (0..steps).for_each(|_| world.step());
}

/// Brakes to a standstill with the pedal for the opposite direction.
fn stop(world: &mut World) {
    for _ in 0..3000 {
        let speed = speed(world);
        if speed.abs() < 0.02 {
            break;
        }
        drive(world, -0.3 * speed.signum(), 0.0, 0.02);
    }
    drive(world, 0.0, 0.0, 1.0);
    assert!(speed(world).abs() < 0.05, "{}", speed(world));
}

/// Reverses straight by pressing the pedal briefly until a condition is met.
fn back_until(world: &mut World, is_there: impl Fn(&Snapshot) -> bool) {
    for _ in 0..3000 {
        if is_there(&world.snapshot()) {
            break;
        }
        let pedals = if speed(world) > -0.4 { -0.2 } else { 0.0 };
        drive(world, pedals, 0.0, 0.02);
    }
    stop(world);
    assert!(is_there(&world.snapshot()));
}

fn speed(world: &World) -> f64 {
    let vehicles = world.snapshot().vehicles;
    vehicles.iter().find(|one| one.agent == 1).unwrap().speed
}

/// Asserts that each trailer is coupled to the rear of the body ahead of it.
fn hold_together(snapshot: &Snapshot) {
    for pair in snapshot.trailers.windows(2) {
        let rear = pair[0].body.point(-0.5 * pair[0].length, 0.0);
        assert!((rear - pair[1].coupling).length() < 1e-9, "{pair:?}");
        assert!(pair[1].angle.abs() <= 1.3 + 1e-9);
    }
}

/// Returns the distance between the end of the last towed trailer and the coupling of the first
/// uncoupled trailer, m.
fn gap(snapshot: &Snapshot) -> f64 {
    let (last, first) = (snapshot.trailers.last(), snapshot.standing.first());
    let (last, first) = (last.unwrap(), first.unwrap().trailer);
    (last.body.point(-0.5 * last.length, 0.0) - first.coupling).length()
}

/// Drives six trailers around a bend and back, uncouples two, and couples them again. Returns the hash after
/// each part.
fn six(world: &mut World, look: impl Fn(World) -> World) -> Vec<u64> {
    let mut hashes = Vec::new();
    drive(world, 1.0, 0.0, 0.1);
    let before = world.snapshot();
    assert_eq!(before.trailers.len(), 6);
    drive(world, 0.5, 0.0, 5.0);
    drive(world, 0.1, 0.6, 8.0);
    let bend = world.snapshot();
    hold_together(&bend);
    let turned = bend.trailers.last().unwrap().body.heading;
    let angles = bend.trailers.iter().map(|trailer| trailer.angle.abs());
    assert!(angles.fold(0.0, f64::max) > 0.1, "no bend: {bend:?}");
    assert!(turned.abs() < bend.vehicles[0].pose.heading.abs());
    drive(world, 0.2, 0.0, 8.0);
    stop(world);
    let stood = world.snapshot();
    // Reverses a short distance. After driving forwards, the angles are so small that the train
    // stays straight.
    back_until(world, |now| {
        (now.vehicles[0].pose.position - stood.vehicles[0].pose.position).length() > 2.0
    });
    hold_together(&world.snapshot());
    hashes.push(world.state_hash());
    assert_eq!(
        world.uncouple(1, Some(7)),
        Err(CouplingError::NoSuchTrailer {
            towed: 6,
            wanted: 7
        })
    );
    assert_eq!(world.uncouple(1, Some(5)), Ok(2));
    let parted = world.snapshot();
    assert_eq!((parted.trailers.len(), parted.standing.len()), (4, 2));
    drive(world, 0.3, 0.0, 4.0);
    stop(world);
    let away = world.snapshot();
    // The uncoupled trailers have not moved at all, but the others have.
    assert_eq!(away.standing, parted.standing);
    assert!(gap(&away) > 2.0, "{}", gap(&away));
    assert!(matches!(world.couple(1), Err(CouplingError::TooFar(_))));
    let mut middle = look(std::mem::replace(world, empty()));
    std::mem::swap(world, &mut middle);
    hashes.push(world.state_hash());
    back_until(world, |now| gap(now) < 0.35);
    assert_eq!(world.couple(1), Ok(2));
    assert_eq!(world.couple(1), Err(CouplingError::NoFreeCoupling));
    let joined = world.snapshot();
    assert_eq!((joined.trailers.len(), joined.standing.len()), (6, 0));
    drive(world, 0.5, 0.2, 5.0);
    hold_together(&world.snapshot());
    let (a, b) = (joined.trailers[5].body, world.snapshot().trailers[5].body);
    assert!((a.position - b.position).length() > 5.0);
    assert!(world.collisions().is_empty(), "{:?}", world.collisions());
    hashes.push(world.state_hash());
    hashes
}

fn empty() -> World {
    world(&Scenario::new("nothing"), DynamicsLevel::OneTrack)
}

#[test]
fn a_train_of_six_goes_round_bends_and_back_loses_two_and_gets_them_again() {
    let scenario = yard(&[(&road_train(6), 0.0, 0.0)]);
    for level in [DynamicsLevel::OneTrack, DynamicsLevel::DynamicOneTrack] {
        let runs = [1, 2].map(|threads| {
            let options = options(level, threads);
            let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
            six(&mut world, |world| world)
        });
        assert_eq!(runs[0], runs[1], "{level}");
        assert!(runs[0].windows(2).all(|pair| pair[0] != pair[1]));
        let over_a_save = six(&mut world(&scenario, level), |whole| {
            restored(&whole, &scenario, &options(level, 1))
        });
        assert_eq!(runs[0], over_a_save, "{level}");
    }
}

#[test]
fn a_lighter_and_shorter_vehicle_is_left() {
    // With a drive train, trailers put a load on the engine, so the vehicle accelerates better without them.
    let jeep = vehicle("willys-mb", |file| {
        let caravan = vehicle("escort-caravan", |_| {});
        let caravan = caravan.file.as_ref().unwrap().vehicle.clone();
        file.articulation = caravan.articulation;
        file.trailers = caravan.trailers;
    });
    let scenario = yard(&[(&jeep, 0.0, 0.0)]);
    let outcomes = [true, false].map(|lets_go| {
        let mut world = world(&scenario, DynamicsLevel::DynamicOneTrack);
        drive(&mut world, 0.0, 0.0, 1.0);
        if lets_go {
            assert_eq!(world.carry_out(1, CouplingOrder::Uncouple(None)), Ok(1));
        }
        drive(&mut world, 1.0, 0.0, 5.0);
        assert!(world.collisions().is_empty(), "{:?}", world.collisions());
        world.snapshot().vehicles[0].pose.position.x
    });
    assert!(outcomes[0] > 1.1 * outcomes[1], "{outcomes:?}");
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let (train, car) = (road_train(2), vehicle("ford-escort", |_| {}));
    let scenario = yard(&[(&train, 0.0, 0.0), (&car, 0.0, 30.0), (&train, 0.0, 60.0)]);
    let mut world = world(&scenario, DynamicsLevel::OneTrack);
    assert_eq!(world.uncouple(1, None), Err(CouplingError::NotDriving(1)));
    drive(&mut world, 0.0, 0.0, 0.1);
    let before = world.state_hash();
    assert_eq!(world.couple(1), Err(CouplingError::NoFreeCoupling));
    assert_eq!(world.couple(2), Err(CouplingError::NoFreeCoupling));
    assert_eq!(world.uncouple(2, None), Err(CouplingError::TowsNothing));
    for wanted in [0, 3, 255] {
        let refused = CouplingError::NoSuchTrailer { towed: 2, wanted };
        assert_eq!(world.uncouple(1, Some(wanted)), Err(refused));
    }
    assert_eq!(world.state_hash(), before);
    drive(&mut world, 1.0, 0.0, 3.0);
    assert!(speed(&world) > 2.0);
    assert!(matches!(
        world.uncouple(1, None),
        Err(CouplingError::Moves(_))
    ));
    stop(&mut world);
    assert_eq!(world.uncouple(1, None), Ok(1));
    // A vehicle of another type cannot couple this trailer, although its file is the same. At
    // first, the next uncoupled trailer is refused as well.
    assert_eq!(world.uncouple(1, None), Ok(1));
    assert_eq!(world.uncouple(1, None), Err(CouplingError::TowsNothing));
    // Both trailers stand where they were. The nearer one that fits is coupled first, followed by
    // the other.
    assert_eq!(world.couple(1), Ok(1));
    assert_eq!(world.couple(1), Ok(1));
    assert_eq!(world.uncouple(1, Some(1)), Ok(2));
    // If the car has turned away on the spot, it is too far from the trailer. If it stands beside
    // the trailer at an angle, this angle is too large.
    for _ in 0..40 {
        drive(&mut world, 0.3, 1.0, 1.0);
        stop(&mut world);
        match world.couple(1) {
            Err(CouplingError::TooFar(distance)) => {
                assert!(distance > 0.5);
                break;
            }
            Err(why) => panic!("{why}"),
            Ok(_) => assert_eq!(world.uncouple(1, Some(1)), Ok(2)),
        }
    }
}

#[test]
fn who_comes_behind_stands_before_what_was_let_go() {
    for level in LEVELS {
        // Positive control: without the uncoupled trailer, the car passes the place.
        let ends = [true, false].map(|lets_go| {
            let mut world = world(&behind_each_other(), level);
            let mut session = Session::new({
                (0..500).for_each(|_| world.step());
                world
            });
            if lets_go {
                session.order(12.0, 1, CouplingOrder::Uncouple(None));
            }
            session.run(Ending::AtTime(60.0), &mut [], |_| true);
            let world = session.world();
            assert!(
                world.collisions().is_empty(),
                "{level} {:?}",
                world.collisions()
            );
            if lets_go {
                let done = session.carried_out();
                assert_eq!(done[0].result, Some(Ok(1)), "{level}");
                let snapshot = world.snapshot();
                let swift = &snapshot.vehicles[1];
                let rear = snapshot.standing[0].trailer.body.point(-2.75, 0.0);
                let gap = (swift.body.point(0.5 * swift.length, 0.0) - rear).length();
                assert!(swift.speed.abs() < 0.05 && gap < 12.0, "{level}: {gap}");
                assert!(gap > 0.3, "{level}: {gap}");
            }
            world.snapshot().vehicles[1].pose.position.x
        });
        assert!(ends[1] > ends[0] + 5.0, "{level}: {ends:?}");
    }
}

/// Creates a slow car with a caravan on a long road, and a fast car behind it.
fn behind_each_other() -> Scenario {
    let mut scenario = without_stack(shipped("trailer-yard"), "shuttle");
    let (agents, flows) = (scenario.agents().clone(), scenario.flows().clone());
    for id in agents.into_keys() {
        scenario.apply(Edit::Agent(id, None)).unwrap();
    }
    for id in flows.into_keys() {
        scenario.apply(Edit::Flow(id, None)).unwrap();
    }
    let slow = vehicle("escort-caravan", |file| {
        file.performance.max_speed = 1.3.into()
    });
    let kinds = [("slow", slow), ("swift", VehicleType::car())];
    for (number, (key, kind)) in (1..).zip(kinds) {
        let edit = Edit::VehicleType(key.into(), Some(Box::new(kind)));
        scenario.apply(edit).unwrap();
        let place = |s| Place::lane(RoadId(1), -1, s);
        let agent = Agent {
            name: String::new(),
            vehicle: key.into(),
            stack: "idm".into(),
            dynamics: None,
            start: place(if number == 1 { 60.0 } else { 15.0 }),
            via: Vec::new(),
            destination: Some(Place::lane(RoadId(3), -1, 200.0)),
            depart: 0.0.into(),
            speed: 0.0.into(),
            repeat: None.into(),
        };
        let edit = Edit::Agent(AgentId(number), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

#[test]
fn who_drives_into_it_hits_it_at_every_level_and_rigid_bodies_do_not_pass() {
    // Rigid bodies push each other. At all other levels, contacts are only counted.
    for level in LEVELS {
        let (train, jeep) = (road_train(1), vehicle("willys-mb", |_| {}));
        let scenario = yard(&[(&jeep, -40.0, 0.0), (&train, 0.0, 0.0)]);
        let ends = [true, false].map(|lets_go| {
            let options = RunOptions {
                dynamics: None,
                ..options(level, 1)
            };
            let mut scenario = scenario.clone();
            let id = AgentId(1);
            let agent = Agent {
                dynamics: Some(level),
                ..scenario.agents()[&id].clone()
            };
            let edit = Edit::Agent(id, Some(Box::new(agent)));
            scenario.apply(edit).unwrap();
            let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
            drive(&mut world, 0.0, 0.0, 0.1);
            if lets_go {
                assert_eq!(world.uncouple(2, None), Ok(1));
            }
            drive(&mut world, 1.0, 0.0, 8.0);
            let met = world.collisions().iter();
            let met = met.filter(|hit| hit.agent == 1 && hit.with == Party::Trailer(1));
            assert_eq!(
                met.count() > 0,
                lets_go,
                "{level}: {:?}",
                world.collisions()
            );
            world.snapshot().vehicles[0].body.position.x
        });
        if level == DynamicsLevel::Rigid {
            // The front of the caravan is about 9.2 m behind its car's rear axle.
            assert!(ends[0] < -8.0 && ends[1] > 0.0, "{level}: {ends:?}");
        } else {
            assert!(
                ends[0] > 0.0,
                "contacts are counted, not resolved: {ends:?}"
            );
        }
    }
}

#[test]
fn a_tractor_drives_off_below_its_semi_trailer_and_backs_up_to_it() {
    let truck = vehicle("semi-trailer-truck", |_| {});
    let mut world = world(&yard(&[(&truck, 0.0, 0.0)]), DynamicsLevel::OneTrack);
    drive(&mut world, 0.0, 0.0, 0.1);
    let start = world.snapshot();
    assert_eq!(world.uncouple(1, None), Ok(1));
    drive(&mut world, 0.5, 0.0, 5.0);
    stop(&mut world);
    let away =
        |now: &Snapshot| (now.vehicles[0].pose.position - start.vehicles[0].pose.position).length();
    assert!(away(&world.snapshot()) > 4.0);
    back_until(&mut world, |now| away(now) < 0.3);
    assert_eq!(world.couple(1), Ok(1));
    assert!(world.collisions().is_empty(), "{:?}", world.collisions());
    // Positive control: other contacts with the trailer are counted.
    let car = vehicle("ford-escort", |_| {});
    let scenario = yard(&[(&car, -40.0, 0.0), (&truck, 0.0, 0.0)]);
    let mut world = self::world(&scenario, DynamicsLevel::OneTrack);
    drive(&mut world, 0.0, 0.0, 0.1);
    assert_eq!(world.uncouple(2, None), Ok(1));
    drive(&mut world, 1.0, 0.0, 8.0);
    let met = world.collisions().iter().map(|hit| hit.with);
    assert!(
        met.clone().any(|with| with == Party::Trailer(1)),
        "{:?}",
        met.collect::<Vec<_>>()
    );
}

#[test]
fn it_stays_when_its_vehicle_arrives_and_goes_with_its_type() {
    let (train, car) = (road_train(2), VehicleType::car());
    let scenario = yard(&[(&train, 0.0, 0.0), (&car, 0.0, 40.0)]);
    let mut world = world(&scenario, DynamicsLevel::OneTrack);
    (0..5).for_each(|_| world.step());
    assert_eq!(world.uncouple(1, None), Ok(1));
    let stood = world.snapshot().standing;
    while world.time() < 300.0 && !world.is_over() {
        world.step();
    }
    assert_eq!(
        (world.counts().arrived, world.snapshot().trailers.len()),
        (2, 0)
    );
    assert_eq!(world.snapshot().standing, stood);
    // An unrelated edit does not affect the trailer. An edit that deletes its type removes it.
    let mut renamed = scenario.clone();
    renamed.apply(Edit::Agent(AgentId(2), None)).unwrap();
    let another = Edit::VehicleType("a new first".into(), Some(Box::new(VehicleType::car())));
    renamed.apply(another).unwrap();
    world
        .update(&scenario, &renamed, &builtin_modules())
        .unwrap();
    world.step();
    assert_eq!(world.snapshot().standing, stood);
    let mut fewer = renamed.clone();
    let one = Edit::VehicleType("type 1".into(), Some(Box::new(road_train(1))));
    fewer.apply(one).unwrap();
    world.update(&renamed, &fewer, &builtin_modules()).unwrap();
    assert!(world.snapshot().standing.is_empty());
    assert!(
        world
            .log()
            .any(|line| line.text.contains("1 row of uncoupled trailers removed,"))
    );
}

#[test]
fn an_edit_lets_what_is_left_be() {
    let train = road_train(3);
    let scenario = yard(&[(&train, 0.0, 0.0)]);
    let mut world = world(&scenario, DynamicsLevel::OneTrack);
    drive(&mut world, 0.0, 0.0, 0.1);
    assert_eq!(world.uncouple(1, Some(2)), Ok(2));
    let mut edited = scenario.clone();
    let another = Edit::VehicleType("a new first".into(), Some(Box::new(VehicleType::car())));
    edited.apply(another).unwrap();
    world
        .update(&scenario, &edited, &builtin_modules())
        .unwrap();
    drive(&mut world, 0.0, 0.0, 0.1);
    assert_eq!(world.snapshot().trailers.len(), 1);
    assert_eq!(world.couple(1), Ok(2));
}

#[test]
fn nobody_appears_where_it_stands() {
    let train = road_train(1);
    // The second agent is due to spawn where the first agent uncouples its caravan.
    let mut scenario = yard(&[(&train, 0.0, 0.0), (&VehicleType::car(), -7.0, 0.0)]);
    let late = Agent {
        depart: 20.0.into(),
        ..scenario.agents()[&AgentId(2)].clone()
    };
    let edit = Edit::Agent(AgentId(2), Some(Box::new(late)));
    scenario.apply(edit).unwrap();
    for lets_go in [true, false] {
        let mut world = world(&scenario, DynamicsLevel::OneTrack);
        drive(&mut world, 0.0, 0.0, 0.1);
        if lets_go {
            assert_eq!(world.uncouple(1, None), Ok(1));
        }
        drive(&mut world, 1.0, 0.0, 30.0);
        assert_eq!(world.counts().waiting, usize::from(lets_go));
    }
}

#[test]
fn a_session_carries_orders_out_in_their_order_and_says_what_came_of_them() {
    let scenario = yard(&[(&road_train(2), 0.0, 0.0)]);
    let mut world = world(&scenario, DynamicsLevel::OneTrack);
    drive(&mut world, 0.0, 0.0, 0.1);
    let mut session = Session::new(world);
    session.order(99.0, 1, CouplingOrder::Couple);
    session.order(1.0, 1, CouplingOrder::Uncouple(None));
    session.order(1.0, 1, CouplingOrder::Couple);
    session.order(0.5, 7, CouplingOrder::Couple);
    session.run(Ending::AtTime(2.0), &mut [], |_| true);
    let told: Vec<_> = session.carried_out();
    let results: Vec<_> = told.iter().map(|one| (one.agent, &one.result)).collect();
    assert_eq!(
        results,
        [
            (7, &Some(Err(CouplingError::NotDriving(7)))),
            (1, &Some(Ok(1))),
            (1, &Some(Ok(1))),
            (1, &None),
        ]
    );
    assert!((told[1].time - 1.0).abs() < 1e-9, "{told:?}");
}
