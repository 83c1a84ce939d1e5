//! Typical uses of scripts. Each is a script of a few lines whose effect is observed.

use crate::common::run;
use crate::road::Road;
use roadwright_scenario::{AgentId, DynamicsLevel, Edit, Place, RoadId, Stack};
use roadwright_simulation::{Ground, RunOptions, SavedWorld, Status, World, agent_name};

#[test]
fn who_stops_stands_and_resumes() {
    let script = "fn behave(agent) {
        if agent.once(\"stop\", agent.time > 5.0) { agent.stop(); }
        if agent.once(\"stands\", agent.time > 6.0 && agent.speed == 0.0) { agent.log(\"stands\"); }
        if agent.once(\"go\", agent.time > 25.0) { agent.resume(); }
    }";
    for controller in ["idm", "pursuit", "fuzzy_driver"] {
        let mut road = Road::driven_by(script, 1, controller);
        road.run(24.9);
        let (speed, x) = (road.car(1).speed, road.car(1).pose.position.x);
        assert_eq!(speed, 0.0, "{controller}");
        assert!(road.log().contains("stands"), "{controller}");
        road.run(10.0);
        assert!(road.car(1).pose.position.x > x + 20.0, "{controller}");
    }
}

#[test]
fn braking_is_as_hard_as_asked_for() {
    let script = "fn behave(agent) {
        if agent.once(\"brake\", agent.time > 10.0) { agent.brake(6.0); }
        if agent.once(\"go\", agent.time > 20.0) { agent.resume(); }
    }";
    let mut road = Road::new(script, 1);
    road.run(10.0);
    let before = road.car(1);
    assert!(before.speed > 8.0);
    road.run(6.0);
    let driven = road.car(1).pose.position.x - before.pose.position.x;
    let expected = before.speed * before.speed / 12.0;
    assert_eq!(road.car(1).speed, 0.0);
    // The script is called after at most a fifth of a second.
    assert!(
        (driven - expected) < 0.15 * before.speed + 1.0,
        "{driven}, {expected}"
    );
    road.run(10.0);
    assert!(road.car(1).speed > 3.0);
}

#[test]
fn vehicles_leave_and_others_come() {
    let script = "fn behave(agent) {
        if agent.id == 1 && agent.once(\"spawn\", agent.time > 5.0) {
            agent.add_vehicle(\"car\", \"wish\", 300.0, -5.0, 900.0, -5.0);
        }
        if agent.id == 2 && agent.time > 8.0 { agent.leave(); }
    }";
    let mut road = Road::new(script, 2);
    road.run(10.0);
    assert_eq!(road.is_gone(2), Some(Status::Removed));
    let vehicles = road.world.snapshot().vehicles;
    assert_eq!(vehicles.len(), 2);
    assert_eq!(agent_name(vehicles[1].agent), "added vehicle 1");
    let counts = road.world.counts();
    assert_eq!((counts.spawned, counts.removed), (3, 1));
    assert!((300.0..400.0).contains(&vehicles[1].pose.position.x));
    // A spawned vehicle behaves like any other, so it arrives.
    run(&mut road.world, 120.0);
    assert_eq!(road.world.counts().arrived, 2);
    let mut wrong = Road::new(
        "fn on_start(agent) { agent.add_vehicle(\"boat\", \"wish\", 0, 0, 9, 0); } fn behave(agent) {}",
        1,
    );
    run(&mut wrong.world, 1.0);
    let faults = wrong.world.faults();
    assert!(
        faults
            .keys()
            .any(|text| text.contains("no vehicle type \"boat\"")),
        "{faults:?}"
    );
}

#[test]
fn collisions_are_told_to_both() {
    // Car 2 runs into car 1, which is stationary.
    let script = "fn on_start(agent) {
        if agent.id == 1 { agent.stop(); }
        if agent.id == 2 { agent.use_module(\"controller\", \"blind\"); }
    }
    fn behave(agent) {}
    fn on_collision(agent, other) {
        agent.log(`hit ${other.id}, ${agent.collisions} so far`);
        agent.stop();
    }";
    let mut road = Road::new(script, 3);
    road.run(30.0);
    let log = road.log();
    assert!(log.contains("1 hit 2, 1 so far"), "{log}");
    assert!(log.contains("2 hit 1, 1 so far"), "{log}");
    assert!(!log.contains("3 hit"), "{log}");
}

#[test]
fn leaders_and_followers_are_known() {
    let script = "fn behave(agent) {
        if agent.once(\"tell\", agent.time > 5.0) {
            let ahead = if agent.leader == () { 0 } else { agent.leader.id };
            let behind = if agent.follower == () { 0 } else { agent.follower.id };
            agent.log(`between ${ahead} and ${behind}`);
        }
    }";
    let mut road = Road::new(script, 3);
    road.run(6.0);
    let log = road.log();
    for line in [
        "1 between 0 and 2",
        "2 between 1 and 3",
        "3 between 2 and 0",
    ] {
        assert!(log.contains(line), "{log}");
    }
}

#[test]
fn a_lane_is_chosen_and_left_again() {
    let script = "fn behave(agent) {
        if agent.once(\"left\", agent.time > 5.0) { agent.use_lane(-1); }
    }";
    let mut road = Road::new(script, 1);
    road.run(5.0);
    assert_eq!(road.car(1).lane, Some((RoadId(1), -2)));
    road.run(10.0);
    assert_eq!(road.car(1).lane, Some((RoadId(1), -1)));
    assert!((road.car(1).pose.position.y + 1.625).abs() < 0.5);
}

#[test]
fn the_wrong_way_is_a_path_like_others() {
    // The car drives on the outer lane of the opposite direction, against the traffic there.
    let script = "fn on_start(agent) {
        let line = [];
        for i in 1..40 { line.push([100.0 + i * 5.0, 4.9, 8.0]); }
        agent.drive_path(line);
    }
    fn on_arrive(agent) { if agent.once(\"back\", true) { agent.go_to(900.0, -5.0); } }
    fn behave(agent) {}";
    let mut road = Road::new(script, 1);
    road.run(15.0);
    let car = road.car(1);
    assert!(
        car.lane.is_none() && (car.pose.position.y - 4.9).abs() < 0.7,
        "{car:?}"
    );
    assert!(car.speed > 5.0);
    // No lane leads on from the wrong carriageway, so the car drives over open ground to its own side.
    run(&mut road.world, 120.0);
    assert_eq!(road.is_gone(1), Some(Status::Arrived));
    assert!(!road.log().contains("there is no route"), "{}", road.log());
    let drive = road.world.finished().next().unwrap();
    assert!(drive.distance > 700.0, "{drive:?}");
}

#[test]
fn a_car_parks_at_the_kerb_and_pulls_out_again() {
    let script = "fn behave(agent) {
        if agent.once(\"park\", agent.time > 5.0) { agent.pull_over(-2.5, 30.0); }
        if agent.once(\"go\", agent.time > 40.0) { agent.go_to(900.0, -5.0); }
    }
    fn on_arrive(agent) { if agent.time < 45.0 { agent.wait(1.0); } }";
    let mut road = Road::new(script, 2);
    road.run(38.0);
    let parked = road.car(1);
    assert!(parked.speed < 0.2, "{parked:?}");
    assert!((parked.pose.position.y + 7.375).abs() < 0.6, "{parked:?}");
    run(&mut road.world, 100.0);
    assert_eq!(road.is_gone(1), Some(Status::Arrived));
    assert!(road.world.collisions().is_empty());
}

#[test]
fn who_stands_is_passed() {
    let script = "fn behave(agent) {
        if agent.id == 1 { agent.stop(); }
        if agent.id == 2 && agent.leader != () && agent.once(\"pass\", agent.leader_gap < 25.0) {
            agent.pass(3.25, 20.0, 20.0);
        }
    }";
    let mut road = Road::new(script, 2);
    run(&mut road.world, 60.0);
    assert!(road.car(1).pose.position.x < 130.0);
    let (gone, collisions) = (road.is_gone(2), road.world.collisions().len());
    let passed = gone.is_some() || road.car(2).pose.position.x > 200.0;
    assert!(
        passed && collisions == 0,
        "{gone:?} {collisions} {}",
        road.bench.said()
    );
    run(&mut road.world, 60.0);
    assert_eq!(road.is_gone(2), Some(Status::Arrived));
}

#[test]
fn a_place_without_a_way_can_be_tried_and_another_one_chosen() {
    // On a one-way road, there is no route to a place behind the car.
    let script = "fn behave(agent) {
        if agent.once(\"back\", agent.time > 5.0) { agent.go_to(10.0, -5.0); }
    }
    fn on_no_route(agent) { agent.log(\"no way\"); agent.go_to(500.0, -5.0); }
    fn on_arrive(agent) { agent.log(\"there\"); }";
    let mut road = Road::with_lanes(2, 0, script, 1, "idm");
    road.run(60.0);
    let log = road.log();
    assert!(log.contains("1 no way") && log.contains("1 there"), "{log}");
    assert!(road.world.time() < 61.0 && road.is_gone(1).is_some());
}

#[test]
fn random_places_are_on_lanes_and_the_same_again() {
    let script = "fn behave(agent) {
        if agent.once(\"where\", true) {
            let place = agent.random_place();
            agent.log(`${place[0]} ${place[1]}`);
        }
    }";
    let places = || {
        let mut road = Road::new(script, 3);
        road.run(1.0);
        road.log()
    };
    let log = places();
    let xs = log.lines().map(|line| -> f64 {
        let words: Vec<&str> = line.split(' ').collect();
        words[1].parse().unwrap()
    });
    let is_middle = |x: f64| (x - 250.0).abs() < 5.0 || (x - 750.0).abs() < 5.0;
    assert_eq!(xs.filter(|&x| is_middle(x)).count(), 3, "{log}");
    assert_eq!(log, places());
}

#[test]
fn groups_hear_and_messages_carry_maps() {
    let script = "fn on_start(agent) {
        if agent.id != 3 { agent.join(\"taxi\"); }
    }
    fn behave(agent) {
        if agent.id == 1 && agent.once(\"call\", agent.time > 2.0) {
            agent.send_group(\"taxi\", \"call\", #{x: 40.0, who: \"Ann\"});
            agent.log(`${agent.members(\"taxi\").len()} others`);
        }
        if agent.id == 2 && agent.once(\"quit\", agent.time > 4.0) { agent.quit(\"taxi\"); }
        if agent.id == 1 && agent.once(\"again\", agent.time > 5.0) {
            agent.log(`${agent.members(\"taxi\").len()} others now`);
        }
    }
    fn on_message(agent, message) {
        agent.log(`${message.topic} from ${message.from}: ${message.data.who} at ${message.data.x}`);
    }";
    let mut road = Road::new(script, 3);
    road.run(6.0);
    let log = road.log();
    assert!(log.contains("2 call from 1: Ann at 40.0"), "{log}");
    assert!(
        log.contains("1 1 others\n") && log.contains("1 0 others now"),
        "{log}"
    );
    assert!(!log.contains("3 call"), "{log}");
}

#[test]
fn times_zones_and_conditions_trigger() {
    let script = "fn behave(agent) {
        if agent.every(\"tick\", 2.0) { agent.memory.ticks = (agent.memory.ticks ?? 0) + 1; }
        if agent.once(\"zone\", agent.is_within(200.0, -5.0, 20.0)) { agent.log(\"in the zone\"); }
        if agent.once(\"end\", agent.time > 20.0) { agent.log(`${agent.memory.ticks} ticks`); }
    }";
    let mut road = Road::new(script, 1);
    road.run(21.0);
    let log = road.log();
    assert_eq!(log.matches("in the zone").count(), 1, "{log}");
    assert!(
        log.contains("1 11 ticks") || log.contains("1 10 ticks"),
        "{log}"
    );
}

#[test]
fn who_passes_goes_on_to_all_of_its_destinations() {
    let script = "fn behave(agent) {
        if agent.once(\"pass\", agent.time > 8.0) { agent.pass(3.25, 15.0, 10.0); }
    }";
    let mut road = Road::new(script, 1);
    let mut scenario = road.scenario.clone();
    let mut agent = scenario.agents()[&AgentId(1)].clone();
    agent.via = vec![
        Place::lane(RoadId(1), -2, 400.0),
        Place::lane(RoadId(2), -2, 100.0),
    ];
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    let registry = road.bench.host().registry();
    road.world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
    run(&mut road.world, 10.0);
    // Moving a slider in the meantime does not change that.
    let mut edited = scenario.clone();
    let idm = Stack::with_controller("idm");
    edited
        .apply(Edit::Stack("other".into(), Some(Box::new(idm))))
        .unwrap();
    road.world.update(&scenario, &edited, &registry).unwrap();
    run(&mut road.world, 120.0);
    assert_eq!(road.is_gone(1), Some(Status::Arrived));
    let drive = road.world.finished().next().unwrap();
    assert!(drive.distance > 800.0, "{drive:?}");
}

#[test]
fn braking_ends_with_what_asked_for_it() {
    let script = "fn behave(agent) {
        if agent.id == 1 && agent.time > 5.0 { agent.brake(3.0); }
        if agent.id == 1 && agent.once(\"other\", agent.time > 15.0) {
            agent.use_module(\"behaviour\", \"lane_keeper\");
        }
        if agent.id == 2 && agent.once(\"brake\", agent.time > 5.0) { agent.brake(3.0); }
        if agent.id == 2 && agent.time > 15.0 { throw \"tired\"; }
    }
    fn on_blocked(agent) { agent.log(\"blocked\"); }";
    let mut road = Road::new(script, 2);
    road.run(14.0);
    assert_eq!((road.car(1).speed, road.car(2).speed), (0.0, 0.0));
    run(&mut road.world, 20.0);
    assert!(road.car(1).speed > 5.0 && road.car(2).speed > 5.0);
    // A vehicle that its script has stopped is not blocked.
    assert!(!road.log().contains("blocked"), "{}", road.log());
}

#[test]
fn scripts_cannot_speak_for_the_host() {
    let script = "fn behave(agent) {
        if agent.id == 1 && agent.time > 5.0 { agent.broadcast(2000.0, \"\\x01no route\", 0); }
        if agent.id == 2 && agent.once(\"far\", true) { agent.use_lane(127); agent.use_lane(-127); }
    }";
    let mut road = Road::new(script, 2);
    run(&mut road.world, 8.0);
    let faults = road.world.faults();
    assert!(
        faults
            .keys()
            .any(|text| text.contains("must not contain control characters")),
        "{faults:?}"
    );
    assert_eq!(road.is_gone(2), None);
}

/// Returns the offset of a car to the left of the right lane's centre line, m.
fn beside_lane(road: &Road, id: u64) -> f64 {
    road.car(id).pose.position.y + 4.875
}

#[test]
fn a_lateral_wish_is_kept_while_the_leader_is_followed() {
    let script = "fn behave(agent) {
        if agent.id == 1 { agent.desired_speed = 6.0; }
        agent.lane_offset = if agent.time < 25.0 { -0.5 } else { 0.0 };
        if agent.once(\"said\", agent.time > 20.0) { agent.log(`${agent.offset}`); }
    }";
    for dynamics in [DynamicsLevel::OneTrack, DynamicsLevel::Lane] {
        let mut road = Road::new(script, 3);
        let options = RunOptions {
            dynamics: Some(dynamics),
            ..RunOptions::default()
        };
        let registry = road.bench.host().registry();
        road.world = World::new(&road.scenario, &registry, &options).unwrap();
        // They spawn in the first step.
        road.world.step();
        let (mut before, mut fastest) = (beside_lane(&road, 2), 0.0f64);
        for _ in 0..200 {
            run(&mut road.world, 0.1);
            let now = beside_lane(&road, 2);
            fastest = fastest.max((now - before).abs() / 0.1);
            before = now;
        }
        assert!((before + 0.5).abs() < 0.05, "{dynamics}: {before}");
        assert!(fastest < 1.0, "{dynamics}: {fastest} m/s aside");
        assert!(fastest > 0.1, "{dynamics}: it did not move aside");
        // The car follows the slow one throughout.
        assert!((road.car(2).speed - 6.0).abs() < 0.5, "{dynamics}");
        road.run(20.0);
        assert!(beside_lane(&road, 2).abs() < 0.05, "{dynamics}: back");
        let log = road.log();
        let said = log.lines().find(|line| line.starts_with("2 ")).unwrap();
        let offset: f64 = said[2..].parse().unwrap();
        assert!((offset + 0.5).abs() < 0.05, "{said}");
    }
}

#[test]
fn a_lateral_wish_ends_where_the_lane_does() {
    let script = "fn behave(agent) { agent.lane_offset = 9.0; }";
    let mut road = Road::new(script, 1);
    road.run(15.0);
    let beside = beside_lane(&road, 1);
    let width = 1.8;
    // Half of the space beside a car in a lane of 3.25 m, minus a few centimetres.
    assert!((0.3..0.5 * (3.25 - width)).contains(&beside), "{beside}");
    // Control: without the wish, the car drives in the middle of the lane.
    let mut road = Road::new("fn behave(agent) { agent.lane_offset = 0.0; }", 1);
    road.run(15.0);
    assert!(beside_lane(&road, 1).abs() < 0.02);
}

#[test]
fn the_offset_of_a_car_at_the_kerb_is_that_from_its_lane() {
    let script = "fn behave(agent) {
        if agent.once(\"park\", agent.time > 5.0) { agent.pull_over(-2.0, 20.0); }
        if agent.once(\"said\", agent.time > 30.0) { agent.log(`${agent.offset}`); }
    }
    fn on_arrive(agent) { agent.wait(60.0); }";
    let mut road = Road::new(script, 1);
    road.run(35.0);
    let log = road.log();
    let offset: f64 = log.trim()[2..].parse().unwrap();
    assert!((-2.3..-1.7).contains(&offset), "{log}");
}

/// A script that combines all of the above uses, in a run in which cars spawn and leave.
const ALL: &str =
    "fn on_start(agent) { agent.join(if agent.id % 2 == 0 { \"even\" } else { \"odd\" }); }
fn behave(agent) {
    if agent.every(\"call\", 3.0) { agent.send_group(\"odd\", \"call\", #{x: agent.x}); }
    if agent.id == 2 && agent.once(\"lane\", agent.time > 4.0) { agent.use_lane(-1); }
    if agent.id == 3 && agent.once(\"park\", agent.time > 6.0) { agent.pull_over(-2.5, 30.0); }
    if agent.id == 3 && agent.once(\"out\", agent.time > 18.0) { agent.go_to(900.0, -5.0); }
    if agent.id == 1 && agent.once(\"brake\", agent.time > 8.0) { agent.brake(3.0); }
    if agent.id == 1 && agent.once(\"go\", agent.time > 16.0) { agent.resume(); }
    if agent.id == 4 && agent.every(\"more\", 5.0) {
        let to = agent.random_place();
        agent.add_vehicle(\"car\", \"wish\", 20.0, -5.0, to[0], to[1]);
    }
    if agent.id == 5 && agent.once(\"leave\", agent.time > 12.0) { agent.leave(); }
    if agent.id == 4 && agent.leader != () && agent.once(\"pass\", agent.time > 9.0) {
        agent.pass(3.25, 20.0, 20.0);
    }
}
fn on_arrive(agent) { if agent.id == 3 && agent.time < 20.0 { agent.wait(1.0); } }
fn on_message(agent, message) { agent.memory.heard = message.data.x; }
fn on_collision(agent, other) { agent.log(`${agent.collisions}`); }";

#[test]
fn a_saved_world_goes_on_as_if_nothing_had_been_saved() {
    for dynamics in [DynamicsLevel::OneTrack, DynamicsLevel::Lane] {
        let mut road = Road::new(ALL, 5);
        let registry = road.bench.host().registry();
        let options = |threads: usize| RunOptions {
            dynamics: Some(dynamics),
            threads,
            ..RunOptions::default()
        };
        let scenario = road.scenario.clone();
        let world = |threads| World::new(&scenario, &registry, &options(threads)).unwrap();
        let hash_after = |mut world: World, seconds: f64| {
            run(&mut world, seconds);
            (world.state_hash(), world.snapshot().hash())
        };
        let expected = hash_after(world(1), 30.0);
        assert_eq!(hash_after(world(2), 30.0), expected, "{dynamics}: threads");
        for at in [2.5, 6.51, 9.3, 11.0, 17.77] {
            let mut first = world(1);
            run(&mut first, at);
            let bytes = first.save().unwrap().to_bytes();
            let saved = SavedWorld::from_bytes(&bytes).unwrap();
            let ground = Ground::new(&scenario);
            let (second, notes) =
                World::restore(ground, &scenario, &registry, &options(1), &saved).unwrap();
            assert_eq!(notes, [""; 0], "{dynamics} {at}");
            assert_eq!(hash_after(second, 30.0 - at), expected, "{dynamics} {at}");
        }
        road.world = world(1);
        run(&mut road.world, 30.0);
        assert!(road.world.counts().spawned > 6, "vehicles were added");
    }
}

#[test]
fn trailers_are_let_go_and_joined_on_again() {
    let script = "fn behave(agent) {
        if agent.once(\"first\", agent.time > 0.05) {
            agent.log(`tows ${agent.trailers}`);
            agent.uncouple(7);
            agent.uncouple();
        }
        if agent.once(\"second\", agent.time > 0.25) {
            agent.log(`tows ${agent.trailers}`);
            agent.couple();
            agent.brake(9.0);
        }
        if agent.once(\"third\", agent.time > 2.0) {
            agent.log(`tows ${agent.trailers} of ${agent.vehicle}`);
            agent.uncouple(1);
            agent.resume();
        }
        if agent.once(\"fourth\", agent.time > 9.0) { agent.couple(); }
        if agent.once(\"fifth\", agent.time > 10.0) { agent.uncouple(0); }
    }";
    let road = Road::new(script, 1);
    let mut scenario = road.scenario.clone();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios/vehicles/escort-caravan.vehicle.json");
    let vehicle = roadwright_scenario::vehicle_file::VehicleFile::load(&path).unwrap();
    let kind = roadwright_scenario::VehicleType {
        file: Some(std::sync::Arc::new(
            roadwright_scenario::vehicle_file::FileReference {
                path: "escort-caravan".into(),
                hash: String::new(),
                was: None,
                vehicle: vehicle.clone(),
            },
        )),
        ..vehicle.vehicle_type()
    };
    let kind = Edit::VehicleType("car".into(), Some(Box::new(kind)));
    scenario.apply(kind).unwrap();
    let mut registry = road.bench.host().registry();
    crate::modules::add_to(&mut registry);
    let mut world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
    run(&mut world, 12.0);
    let log: Vec<String> = world.log().map(|line| line.text.clone()).collect();
    let expected = [
        "tows 1",
        "there is no trailer 7 to uncouple, because the vehicle tows 1",
        "uncoupled 1, which is parked with its brakes on",
        "tows 0",
        "coupled 1",
        "tows 1 of car",
        "uncoupled 1, which is parked with its brakes on",
        "couple: the vehicle is moving at ",
        "there is no trailer 0",
    ];
    assert_eq!(log.len(), expected.len(), "{log:#?}");
    for (line, expected) in log.iter().zip(expected) {
        assert!(line.contains(expected), "{line}: {expected}");
    }
    assert_eq!(world.snapshot().standing.len(), 1);
}
