//! Scripts that use names, the time and the road ahead, give signals to other drivers, and park.

use crate::common::run;
use crate::road::{Road, point};
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{
    Control, CrossSection, CrossingRule, DynamicsLevel, Edit, Movement, NodeId, Obstacle,
    ObstacleId, RoadClass, RoadId, Scenario, Shape, SignalPlan, SignalStage,
};
use roadwright_simulation::{Ground, RunOptions, SavedWorld, Status, World};
use std::f64::consts::{FRAC_PI_2, PI};

#[test]
fn places_and_streets_are_found_by_name() {
    let script = "fn behave(agent) {
        if agent.once(\"where\", true) {
            let shop = agent.place(\"Bakery\");
            let street = agent.place(\"road\");
            let bay = agent.place(\"bay 1\");
            agent.log(`${shop[0]} ${shop.len()} ${street[0]} ${bay[2]}`);
            agent.go_to(shop);
        }
    }
    fn on_arrive(agent) { agent.log(`at ${agent.x}`); }";
    let mut road = Road::new(script, 1);
    road.edit([
        point(1, "Bakery", 300.0, -12.0, None),
        point(2, "bay 1", 400.0, -9.0, Some(0.5)),
    ]);
    road.run(60.0);
    let log = road.log();
    assert!(log.contains("1 300.0 2 250.0 0.5\n"), "{log}");
    assert!(log.contains("1 at 30"), "{log}");
}

#[test]
fn a_name_that_nobody_has_is_told_with_the_one_that_was_meant() {
    let mut road = Road::new("fn behave(agent) { agent.place(\"Bakry\"); }", 1);
    road.edit([point(1, "Bakery", 300.0, -12.0, None)]);
    run(&mut road.world, 1.0);
    let faults = road.world.faults();
    let is_told = |text: &String| text.contains("\"Bakry\"; did you mean \"Bakery\"?");
    assert!(faults.keys().any(is_told), "{faults:?}");
}

#[test]
fn the_time_of_day_goes_on_and_round() {
    let script = "fn behave(agent) {
        if agent.once(\"start\", true) { agent.log(`${agent.time_of_day}`); }
        if agent.once(\"late\", agent.time > 36.0) { agent.log(`${agent.time_of_day < 0.01}`); }
    }";
    let mut road = Road::new(script, 1);
    road.run(1.0);
    assert!(road.log().contains("1 12.0000"), "{}", road.log());
    let settings = roadwright_scenario::Settings {
        time_of_day: 23.99.into(),
        ..road.scenario.settings()
    };
    road.edit([Edit::Settings(settings)]);
    road.run(37.0);
    let log = road.log();
    assert!(log.contains("1 23.990") && log.contains("1 true"), "{log}");
    let wrong = RunOptions {
        time_of_day: Some(24.0),
        ..RunOptions::default()
    };
    let registry = road.bench.host().registry();
    let error = World::new(&road.scenario, &registry, &wrong).err().unwrap();
    assert!(error.to_string().contains("0 to below 24"), "{error}");
}

#[test]
fn limits_and_bends_ahead_are_known() {
    // The second half of the road allows 30 km/h.
    let script = "fn behave(agent) {
        if agent.once(\"far\", agent.x > 200.0) {
            agent.log(`${agent.speed_limit} ${agent.road_speed_within(150.0)}`);
        }
        if agent.once(\"near\", agent.x > 400.0) {
            let slow = agent.road_speed_within(150.0);
            agent.log(`${slow < agent.road_speed_within(50.0)} ${slow}`);
            agent.log(`${agent.road_speed_within(1000000.0) == slow}`);
        }
    }";
    let mut road = Road::new(script, 1);
    let mut slow = road.scenario.network().road(RoadId(2)).unwrap().clone();
    slow.speed_limit = 8.5.into();
    road.edit([Edit::Road(RoadId(2), Some(Box::new(slow)))]);
    road.run(60.0);
    let log = road.log();
    let limit = road.scenario.network().road(RoadId(1)).unwrap().speed_limit;
    assert!(log.contains(&format!("1 {limit:?} ")), "{log}");
    assert!(
        log.contains("1 true 8.5\n") && log.contains("1 true\n"),
        "{log}"
    );
}

/// Adds traffic signals in the middle of the road at a side street. They are red for all traffic for 40 s,
/// then green for the road for 20 s.
fn with_signals(road: &mut Road) {
    let style = RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 10.0,
        section: CrossSection::driving(1, 1, 3.25),
    };
    let line = ReferenceLine::straight(DVec2::new(250.0, -80.0), DVec2::new(250.0, 0.0));
    let side_street = draw::road(&road.scenario, &line.unwrap(), &style).unwrap();
    road.edit([side_street]);
    let network = road.scenario.network();
    let is_between = |id: NodeId| network.ends_at(id).len() == 3;
    let found = network.nodes().find(|(id, _)| is_between(*id));
    let (id, mut node) = found.map(|(id, node)| (id, node.clone())).unwrap();
    let stage = |green: Vec<Movement>, time: f64| SignalStage {
        green,
        permitted: Vec::new(),
        time: time.into(),
        min: None.into(),
        max: None.into(),
        amber: None.into(),
        all_red: None.into(),
    };
    let all = [RoadId(1), RoadId(2)].map(|road| Movement {
        road,
        turns: Vec::new(),
    });
    let plan = SignalPlan {
        stages: vec![stage(Vec::new(), 40.0), stage(all.into(), 20.0)],
        ..SignalPlan::default()
    };
    node.rules.control = Some(Control::Signals);
    node.rules.plan = Some(plan);
    road.edit([Edit::Node(id, Some(node))]);
}

#[test]
fn traffic_signals_are_seen_and_can_be_ignored() {
    let seen = "fn behave(agent) {
        for light in [\"none\", \"red\", \"green\"] {
            if agent.once(light, agent.signal == light) { agent.log(`${light} ${agent.x < 250.0}`); }
        }
    }";
    let mut road = Road::new(seen, 1);
    with_signals(&mut road);
    road.run(80.0);
    let log = road.log();
    for words in ["1 red true", "1 green true", "1 none"] {
        assert!(log.contains(words), "{words}: {log}");
    }
    let law = road.world.summary().law;
    assert_eq!((law.red_passed, law.breaches), (0, 0));
    let ignores = "fn behave(agent) { if agent.once(\"start\", true) { agent.ignore_law(true); } }";
    let mut road = Road::new(ignores, 1);
    with_signals(&mut road);
    road.run(80.0);
    let law = road.world.summary().law;
    assert_eq!((law.red_passed, law.breaches), (1, 1));
}

#[test]
fn signals_and_horns_are_noticed() {
    let script = "fn behave(agent) {
        if agent.id == 1 && agent.once(\"signal\", agent.time > 2.0) {
            agent.indicator = \"left\";
            agent.honk();
        }
        if agent.id == 2 && agent.once(\"see\", agent.time > 3.0) {
            agent.log(`${agent.leader.indicator} ${agent.indicator} ${agent.leader.offset < 0.1}`);
        }
    }
    fn on_message(agent, message) { agent.log(`${message.topic} of ${message.from}`); }";
    let mut road = Road::new(script, 2);
    road.run(4.0);
    let log = road.log();
    assert!(log.contains("2 left off true"), "{log}");
    assert!(
        log.contains("2 horn of 1") && !log.contains("1 horn"),
        "{log}"
    );
    assert_eq!(road.car(1).indicator.name(), "left");
    assert_eq!(road.car(2).indicator.name(), "off");
}

/// Position of bays beside the right lane. The centre line of the lane is at y = -4.875 and its edge at y =
/// -6.5.
const ALONG: (f64, f64) = (200.0, -7.7);

/// Returns edits that add parked cars as obstacles. The cars leave room for a bay of normal size.
fn neighbours(at: &[(f64, f64)], heading: f64) -> Vec<Edit> {
    let parked = |(number, &(x, y)): (usize, &(f64, f64))| {
        let obstacle = Obstacle {
            name: "parked".into(),
            shape: Shape::Box {
                x: x.into(),
                y: y.into(),
                heading: heading.into(),
                length: 4.6.into(),
                width: 1.8.into(),
            },
            base: 0.0.into(),
            height: 1.5.into(),
            mass: None.into(),
        };
        Edit::Obstacle(ObstacleId(number as u32 + 1), Some(Box::new(obstacle)))
    };
    at.iter().enumerate().map(parked).collect()
}

/// Returns a script for a car that parks in the bay when it is near, waits for a while and
/// continues.
fn parker(near: f64) -> String {
    format!(
        "fn behave(agent) {{
            let bay = agent.place(\"bay\");
            if agent.time < 80.0 && agent.x > bay[0] - 60.0 {{ agent.desired_speed = 4.0; }}
            if agent.once(\"park\", agent.x > bay[0] - {near:?}) {{ agent.park(bay); }}
            if agent.once(\"go\", agent.time > 90.0) {{
                agent.desired_speed = 1000000.0;
                agent.go_to(900.0, -5.0);
            }}
        }}
        fn on_arrive(agent) {{
            if agent.time < 90.0 {{
                agent.once(\"parked\", true);
                agent.memory.parked = true;
                agent.wait(1.0);
            }}
        }}"
    )
}

#[track_caller]
fn parks(x: f64, y: f64, heading: f64, near: f64, others: &[(f64, f64)], dynamics: DynamicsLevel) {
    let mut road = Road::new(&parker(near), 1);
    road.edit(neighbours(others, heading));
    let settings = roadwright_scenario::Settings {
        dynamics,
        ..road.scenario.settings()
    };
    road.edit([
        Edit::Settings(settings),
        point(1, "bay", x, y, Some(heading)),
    ]);
    road.run(88.0);
    let car = road.car(1);
    let miss = (car.body.position - roadwright_geometry::DVec2::new(x, y)).length();
    let turn = roadwright_geometry::math::wrap_angle(car.pose.heading - heading).abs();
    assert_eq!(car.speed, 0.0, "{car:?}");
    assert!(
        miss < 0.5 && turn < 0.15,
        "{miss:.2} m, {turn:.2} rad: {car:?}"
    );
    road.run(120.0);
    let collisions = road.world.collisions();
    assert!(collisions.is_empty(), "{collisions:?}");
    assert_eq!(
        road.is_gone(1),
        Some(Status::Arrived),
        "{:?}",
        road.world.snapshot().vehicles
    );
}

#[test]
fn a_bay_along_the_road_is_entered_forwards_where_there_is_room() {
    parks(ALONG.0, ALONG.1, 0.0, 16.0, &[], DynamicsLevel::OneTrack);
    parks(ALONG.0, ALONG.1, 0.0, 16.0, &[], DynamicsLevel::Lane);
}

#[test]
fn a_bay_between_two_cars_is_entered_backwards() {
    // A single clothoid would need more room than a car that shunts: 11.8 m for a car of 4.5 m.
    let others = [(ALONG.0 - 8.2, ALONG.1), (ALONG.0 + 8.2, ALONG.1)];
    parks(ALONG.0, ALONG.1, 0.0, 2.0, &others, DynamicsLevel::OneTrack);
}

#[test]
fn a_bay_across_the_road_is_left_backwards() {
    let bay = (200.0, -9.6);
    parks(bay.0, bay.1, -FRAC_PI_2, 11.0, &[], DynamicsLevel::OneTrack);
    // The car enters the bay backwards and leaves it forwards.
    parks(bay.0, bay.1, FRAC_PI_2, 3.0, &[], DynamicsLevel::OneTrack);
}

#[test]
fn a_bay_without_a_way_is_told() {
    let mut road = Road::new(&parker(1.0), 1);
    // Paths around obstacles are searched within 1,000 m.
    road.edit([point(1, "bay", 200.0, 1500.0, Some(PI))]);
    run(&mut road.world, 60.0);
    let faults = road.world.faults();
    assert!(
        faults
            .keys()
            .any(|text| text.contains("no path into that bay")),
        "{faults:?}"
    );
}

#[test]
fn a_world_saved_while_somebody_reverses_goes_on_the_same() {
    let mut road = Road::new(&parker(2.0), 1);
    road.edit([point(1, "bay", ALONG.0, ALONG.1, Some(0.0))]);
    let registry = road.bench.host().registry();
    let scenario: Scenario = road.scenario.clone();
    let world = || World::new(&scenario, &registry, &RunOptions::default()).unwrap();
    let mut first = world();
    let mut seconds = 0.0;
    while first
        .snapshot()
        .vehicles
        .first()
        .is_none_or(|car| car.speed >= -0.5)
    {
        run(&mut first, 0.5);
        seconds += 0.5;
        assert!(seconds < 90.0, "it never reverses");
    }
    let bytes = first.save().unwrap().to_bytes();
    let saved = SavedWorld::from_bytes(&bytes).unwrap();
    let ground = Ground::new(&scenario);
    let (mut second, notes) =
        World::restore(ground, &scenario, &registry, &RunOptions::default(), &saved).unwrap();
    assert_eq!(notes, [""; 0]);
    for world in [&mut first, &mut second] {
        run(world, 60.0);
    }
    assert_eq!(first.state_hash(), second.state_hash());
}

#[test]
fn a_script_calls_people_to_a_crossing_and_is_told_where_there_is_none() {
    let script = "fn behave(agent) {
        if agent.once(\"call\", true) {
            agent.call_pedestrian(2);
            agent.call_pedestrian(2);
            agent.call_pedestrian(4711);
        }
        if agent.once(\"wrong\", agent.time > 1.0) { agent.call_pedestrian(-1); }
    }";
    let mut road = Road::new(script, 1);
    let node = road.scenario.network().node(NodeId(2)).unwrap().clone();
    assert_eq!(road.scenario.network().ends_at(NodeId(2)).len(), 2);
    let mut crossed = node;
    crossed.rules.crossings = vec![CrossingRule::over(RoadId(1))];
    road.edit([Edit::Node(NodeId(2), Some(crossed))]);
    run(&mut road.world, 3.0);
    assert_eq!(road.world.summary().people.unwrap().came, 2);
    let faults = road.world.faults();
    let told = |what: &str| faults.keys().any(|text| text.contains(what));
    assert!(told("node 4711 has no crossing"), "{faults:?}");
    assert!(told("-1 is not a node"), "{faults:?}");
    // Both cross before the car arrives.
    run(&mut road.world, 40.0);
    assert_eq!(road.world.summary().people.unwrap().arrived, 2);
}
