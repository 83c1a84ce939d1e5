//! Tests of agents in scenarios with a known outcome.

use crate::modules::with_test_modules;
use crate::scenarios::*;
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::*;
use roadwright_simulation::{Ground, Party, RunOptions, Summary, World, builtin_modules};
use std::path::PathBuf;

fn run(scenario: &Scenario, seconds: f64) -> Summary {
    run_with(scenario, seconds, &RunOptions::default())
}

fn run_with(scenario: &Scenario, seconds: f64, options: &RunOptions) -> Summary {
    let mut world = World::new(scenario, &builtin_modules(), options).unwrap();
    while world.time() < seconds && !world.is_over() {
        world.step();
    }
    world.summary()
}

fn put(scenario: &mut Scenario, id: u32, agent: Agent) {
    scenario
        .apply(Edit::Agent(AgentId(id), Some(Box::new(agent))))
        .unwrap();
}

fn on_lane(road: u32, lane: i8, s: f64) -> Place {
    Place::lane(RoadId(road), lane, s)
}

/// Creates a straight road of 400 m with lanes in one direction.
fn one_way_road(lanes: usize) -> Scenario {
    let mut scenario = Scenario::new("road");
    let style = RoadStyle {
        section: CrossSection::driving(lanes, 0, 3.25),
        ..street("road")
    };
    draw(&mut scenario, (0.0, 0.0), (400.0, 0.0), &style);
    scenario
}

/// No agent has been off the lanes before, so the grid of positions does not exist yet.
#[test]
fn who_leaves_its_lane_looks_around_in_the_same_step() {
    let mut scenario = one_way_road(1);
    let mut stack = Stack::with_controller("idm");
    stack.behaviour = ModuleSetting::new("truant");
    let edit = Edit::Stack("truant".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    let agent = |stack: &str, s: f64| Agent {
        stack: stack.into(),
        start: on_lane(1, -1, s),
        destination: Some(on_lane(1, -1, 390.0)),
        ..west_to_east()
    };
    put(&mut scenario, 1, agent("truant", 20.0));
    put(&mut scenario, 2, agent("idm", 60.0));
    let mut world = World::new(&scenario, &with_test_modules(), &RunOptions::default()).unwrap();
    while world.time() < 60.0 && !world.is_over() {
        world.step();
    }
    let summary = world.summary();
    assert_eq!((summary.agents.arrived, summary.collisions.len()), (1, 0));
    let vehicles = world.snapshot().vehicles;
    let off = vehicles.iter().find(|one| one.agent == 1).unwrap();
    let missing = (off.pose.position - DVec2::new(120.0, 20.0)).length();
    assert!(missing < 3.0 && off.speed < 0.1, "{off:?}");
}

#[test]
fn every_controller_drives_through_a_junction_and_arrives() {
    for controller in ["idm", "pursuit", "fuzzy_driver"] {
        let mut scenario = crossroads();
        let mut stack = Stack::with_controller(controller);
        if controller == "fuzzy_driver" {
            stack.controller = ModuleSetting::new(controller)
                .with("lookahead_distance", 9.0)
                .with("route_steering_gain", 9.0);
        }
        scenario
            .apply(Edit::Stack(controller.into(), Some(Box::new(stack))))
            .unwrap();
        for (id, goal) in [
            (1, on_lane(4, -1, 80.0)),
            (2, on_lane(3, -1, 80.0)),
            (3, on_lane(2, 1, 20.0)),
        ] {
            let start = on_lane(1, -1, 5.0 + 15.0 * f64::from(id));
            put(
                &mut scenario,
                id,
                Agent {
                    stack: controller.into(),
                    start,
                    destination: Some(goal),
                    ..west_to_east()
                },
            );
        }
        let summary = run(&scenario, 120.0);
        assert_eq!(summary.agents.arrived, 3, "{controller}: {summary:?}");
        assert!(
            summary.collisions.is_empty(),
            "{controller}: {:?}",
            summary.collisions
        );
    }
}

/// Returns the maximum offset of a car from the centre line of its lane in the tight right and left
/// turns of a crossing, m.
fn beside_in_turns(controller: &ModuleSetting) -> f64 {
    let modules = with_test_modules();
    let mut most: f64 = 0.0;
    for goal in [on_lane(2, 1, 20.0), on_lane(3, -1, 80.0)] {
        let mut scenario = crossroads();
        let stack = Stack {
            controller: controller.clone(),
            ..Stack::default()
        };
        let edit = Edit::Stack("driver".into(), Some(Box::new(stack)));
        scenario.apply(edit).unwrap();
        let agent = Agent {
            stack: "driver".into(),
            destination: Some(goal),
            ..west_to_east()
        };
        put(&mut scenario, 1, agent);
        let options = RunOptions {
            dt: Some(0.01),
            ..RunOptions::default()
        };
        let mut world = World::new(&scenario, &modules, &options).unwrap();
        while world.time() < 60.0 && !world.is_over() {
            world.step();
            let offset = world.inspect(1).map_or(0.0, |seen| seen.input.lane_offset);
            most = most.max(offset.abs());
        }
        assert_eq!(world.summary().agents.arrived, 1, "{controller:?}");
    }
    most
}

#[test]
fn tight_turns_are_driven_along_the_middle_of_the_lane() {
    for controller in ["idm", "pursuit"] {
        let beside = beside_in_turns(&ModuleSetting::new(controller));
        assert!(beside < 0.2, "{controller}: {beside} m");
    }
    // A controller that steers towards a point on the lane ahead cuts corners.
    assert!(beside_in_turns(&ModuleSetting::new("unlawful")) > 0.3);
}

#[test]
fn the_fuzzy_driver_cuts_tight_turns_less_if_it_aims_along_the_bend() {
    let aiming = |aim: f64| {
        let mut driver = ModuleSetting::new("fuzzy_driver");
        for (parameter, value) in [
            ("route_steering_gain", 18.0),
            ("lookahead_distance", 6.0),
            ("lookahead_time", 0.5),
            ("aim", aim),
        ] {
            driver = driver.with(parameter, value);
        }
        beside_in_turns(&driver)
    };
    let (chord, bend) = (aiming(0.0), aiming(1.0));
    assert!(bend < 0.5, "{bend} m");
    assert!(
        chord > bend + 0.3,
        "on the path {chord} m, along the bend {bend} m"
    );
}

#[test]
fn a_queue_stops_behind_an_obstacle_without_touching() {
    let mut scenario = one_way_road(1);
    scenario
        .apply(Edit::Obstacle(
            ObstacleId(1),
            Some(Box::new(crate_at(300.0, 0.0))),
        ))
        .unwrap();
    for id in 1..=5 {
        let start = on_lane(1, -1, 20.0 * f64::from(id));
        put(
            &mut scenario,
            id,
            Agent {
                start,
                destination: Some(on_lane(1, -1, 390.0)),
                ..west_to_east()
            },
        );
    }
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    while world.time() < 90.0 {
        world.step();
    }
    let snapshot = world.snapshot();
    assert!(
        snapshot.vehicles.iter().all(|v| v.speed < 0.5),
        "{:?}",
        snapshot.vehicles
    );
    let first = snapshot
        .vehicles
        .iter()
        .map(|v| v.pose.position.x)
        .fold(0.0, f64::max);
    assert!(first > 270.0 && first < 298.0, "{first}");
    assert!(world.summary().collisions.is_empty());
}

/// Makes agents off the lanes drive straight to their goals.
fn drive_straight(scenario: &mut Scenario) {
    for (key, stack) in scenario.stacks().clone() {
        let stack = Stack {
            ground_planner: Some(ModuleSetting::new("straight")),
            ..stack
        };
        let edit = Edit::Stack(key, Some(Box::new(stack)));
        scenario.apply(edit).unwrap();
    }
}

#[test]
fn what_drives_into_an_obstacle_is_a_collision() {
    let mut scenario = Scenario::new("open ground");
    scenario
        .apply(Edit::Obstacle(
            ObstacleId(7),
            Some(Box::new(crate_at(30.0, 0.5))),
        ))
        .unwrap();
    let agent = Agent {
        stack: "pursuit".into(),
        start: Place::ground(0.0, 0.0, 0.0),
        destination: Some(Place::ground(80.0, 0.0, 0.0)),
        ..west_to_east()
    };
    put(&mut scenario, 1, agent);
    drive_straight(&mut scenario);
    let summary = run(&scenario, 60.0);
    assert_eq!(summary.agents.arrived, 1);
    assert_eq!(summary.collisions.len(), 1);
    let hit = summary.collisions[0];
    assert_eq!((hit.agent, hit.with), (1, Party::Obstacle(7)));
    // The front, 3.55 m ahead of the axle, hits the crate at 29 m.
    assert!(hit.x > 24.0 && hit.x < 29.0, "{hit:?}");
}

#[test]
fn the_fuzzy_driver_avoids_what_the_pursuer_hits() {
    let mut scenario = Scenario::new("open ground");
    scenario
        .apply(Edit::Obstacle(
            ObstacleId(7),
            Some(Box::new(crate_at(40.0, 1.0))),
        ))
        .unwrap();
    let agent = Agent {
        stack: "fuzzy_driver".into(),
        start: Place::ground(0.0, 0.0, 0.0),
        destination: Some(Place::ground(100.0, 0.0, 0.0)),
        ..west_to_east()
    };
    put(&mut scenario, 1, agent);
    let summary = run(&scenario, 120.0);
    assert_eq!(
        (summary.agents.arrived, summary.collisions.len()),
        (1, 0),
        "{summary:?}"
    );
}

#[test]
fn lanes_are_changed_to_reach_the_destination() {
    let mut scenario = one_way_road(3);
    for id in 1..=6 {
        let lane = -1 - (id as i8 % 3);
        let start = on_lane(1, lane, 15.0 * f64::from(id));
        let goal = on_lane(1, -1 - (lane.abs() % 3), 380.0);
        put(
            &mut scenario,
            id,
            Agent {
                start,
                destination: Some(goal),
                ..west_to_east()
            },
        );
    }
    let summary = run(&scenario, 90.0);
    assert_eq!(summary.agents.arrived, 6, "{summary:?}");
    assert!(summary.collisions.is_empty(), "{:?}", summary.collisions);
}

#[test]
fn who_has_its_goal_beside_changes_in_time_for_it_however_long_the_lane_is() {
    // The lane ends far beyond the goal. On its last 300 m, it is too late to change lanes for the
    // goal.
    let mut scenario = one_way_road(2);
    let agent = Agent {
        destination: Some(on_lane(1, -2, 100.0)),
        start: on_lane(1, -1, 5.0),
        ..west_to_east()
    };
    put(&mut scenario, 1, agent);
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    let mut last = 0.0;
    while world.time() < 60.0 && !world.is_over() {
        let mut driving = world.snapshot().vehicles.into_iter();
        last = driving.next().map_or(last, |car| car.pose.position.y);
        world.step();
    }
    let summary = world.summary();
    assert_eq!((summary.agents.arrived, summary.law.missed_turns), (1, 0));
    // The car began on the left lane.
    assert!((-1.7..-1.5).contains(&last), "{last}");
}

#[test]
fn who_cannot_change_lanes_where_it_begins_is_refused_if_no_other_way_leads_on() {
    let mut scenario = one_way_road(2);
    let style = RoadStyle {
        section: CrossSection::driving(1, 0, 3.25),
        ..street("road")
    };
    draw(&mut scenario, (400.0, 0.0), (600.0, 0.0), &style);
    // Only one of the two lanes continues.
    end_lane(&mut scenario, 1, -2, 2, -1);
    for (s, refused) in [(370.0, 0), (398.0, 1)] {
        let mut scenario = scenario.clone();
        for (id, lane) in [(1, -1), (2, -2)] {
            let agent = Agent {
                start: on_lane(1, lane, s),
                destination: Some(on_lane(2, -1, 150.0)),
                ..west_to_east()
            };
            put(&mut scenario, id, agent);
        }
        let agents = run(&scenario, 120.0).agents;
        assert_eq!(
            (agents.refused, agents.arrived),
            (refused, 2 - refused),
            "{s} m"
        );
    }
}

#[test]
fn who_cannot_get_there_is_refused() {
    let mut scenario = crossroads();
    put(
        &mut scenario,
        1,
        Agent {
            start: on_lane(2, -1, 50.0),
            destination: Some(on_lane(1, -1, 5.0)),
            ..west_to_east()
        },
    );
    put(&mut scenario, 2, west_to_east());
    let summary = run(&scenario, 120.0);
    assert_eq!((summary.agents.refused, summary.agents.arrived), (1, 1));
}

#[test]
fn agents_wait_until_their_place_is_free() {
    let mut scenario = one_way_road(1);
    for id in 1..=4 {
        let (start, goal) = (on_lane(1, -1, 20.0), on_lane(1, -1, 380.0));
        put(
            &mut scenario,
            id,
            Agent {
                start,
                destination: Some(goal),
                ..west_to_east()
            },
        );
    }
    let summary = run(&scenario, 120.0);
    assert_eq!(summary.agents.arrived, 4);
    assert!(summary.collisions.is_empty());
}

#[test]
fn a_flow_brings_agents_at_its_rate() {
    let mut scenario = one_way_road(1);
    let flow = Flow {
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        origin: on_lane(1, -1, 10.0),
        destination: on_lane(1, -1, 390.0),
        rate_per_hour: 600.0.into(),
        begin: 0.0.into(),
        end: 600.0.into(),
    };
    scenario
        .apply(Edit::Flow(FlowId(1), Some(Box::new(flow))))
        .unwrap();
    let summary = run(&scenario, 700.0);
    // The expected number is 100, with a standard deviation of 10.
    assert!(
        (70..=130).contains(&summary.agents.arrived),
        "{:?}",
        summary.agents
    );
    assert!(summary.collisions.is_empty());
}

#[test]
fn bridges_and_roads_below_do_not_meet() {
    let mut scenario = Scenario::new("bridge");
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &street("below"));
    draw(
        &mut scenario,
        (0.0, -100.0),
        (0.0, 100.0),
        &RoadStyle {
            layer: 1,
            ..street("above")
        },
    );
    put(
        &mut scenario,
        1,
        Agent {
            start: on_lane(1, -1, 20.0),
            destination: Some(on_lane(1, -1, 190.0)),
            ..west_to_east()
        },
    );
    put(
        &mut scenario,
        2,
        Agent {
            start: on_lane(2, -1, 20.0),
            destination: Some(on_lane(2, -1, 190.0)),
            ..west_to_east()
        },
    );
    let summary = run(&scenario, 60.0);
    assert_eq!((summary.agents.arrived, summary.collisions.len()), (2, 0));
}

#[test]
fn unknown_modules_and_parameters_name_the_known_ones() {
    let error = |setting: ModuleSetting| {
        let mut scenario = crossroads();
        let stack = Stack {
            controller: setting,
            ..Stack::with_controller("idm")
        };
        scenario
            .apply(Edit::Stack("idm".into(), Some(Box::new(stack))))
            .unwrap();
        World::new(&scenario, &builtin_modules(), &RunOptions::default())
            .err()
            .unwrap()
            .to_string()
    };
    let text = error(ModuleSetting::new("idn"));
    assert_eq!(
        text,
        "stack \"idm\": no controller is called \"idn\"; expected one of: fuzzy_driver, fuzzy_mechanic, idm, pursuit, stanley, pd_follower, lqr, linear_mpc, bay_parking, pole_balance, trailer_backing, constant_speed"
    );
    let text = error(ModuleSetting::new("idm").with("headway", -1.0));
    assert!(
        text.contains("headway = -1 is out of range: expected 0.1 to 5 s"),
        "{text}"
    );
}

/// Checks that a fitness function has scored agents, and that the mean of each stack is below the score of a
/// stationary vehicle. Returns the number of scored agents.
fn rated(summary: &Summary) -> usize {
    let mut count = 0;
    for fitness in summary.stacks.iter().flat_map(|stack| &stack.fitness) {
        assert!(fitness.score.mean < 1.0, "{fitness:?}");
        count += fitness.score.count;
    }
    count
}

#[test]
fn a_fitness_stands_once_in_a_stack() {
    let mut scenario = crate::scenarios::crossroads();
    let mut stack = Stack::default();
    let twice = vec![ModuleSetting::new("safety"), ModuleSetting::new("safety")];
    assert!(stack.set(Slot::Fitness, twice));
    let edit = Edit::Stack("idm".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    let error = World::new(&scenario, &builtin_modules(), &RunOptions::default());
    let error = error.err().unwrap().to_string();
    assert_eq!(error, "stack \"idm\": fitness \"safety\" is listed twice");
}

#[test]
fn shipped_scenarios_are_sound_and_everyone_arrives() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for name in [
        "crossroads",
        "figure-eight",
        "linden-street",
        "motorway-m4",
        "obstacle-field",
        "old-town",
        "station-road",
    ] {
        let scenario = file::load(&folder.join(format!("{name}.scenario.json"))).unwrap();
        assert_eq!(check::check(&scenario), [], "{name}");
        let summary = run(&scenario, scenario.settings().duration.get());
        let agents = summary.agents;
        assert!(
            agents.arrived * 10 >= (agents.spawned + agents.waiting) * 9,
            "{name}: {agents:?}"
        );
        assert_eq!(agents.refused, 0, "{name}");
        assert!(rated(&summary) == agents.spawned, "{name}");
    }
}

#[test]
fn who_joins_a_motorway_or_leaves_it_stops_for_nobody() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let scenario = file::load(&folder.join("motorway-m4.scenario.json")).unwrap();
    for level in [DynamicsLevel::Lane, DynamicsLevel::OneTrack] {
        let mut scenario = scenario.clone();
        let settings = Settings {
            dynamics: level,
            ..scenario.settings()
        };
        scenario.apply(Edit::Settings(settings)).unwrap();
        let summary = run(&scenario, 240.0);
        assert!(
            summary.agents.arrived > 150,
            "{level:?}: {:?}",
            summary.agents
        );
        assert_eq!(summary.collisions.len(), 0, "{level:?}");
        assert!(
            summary.law.longest_wait < 5.0,
            "{level:?}: {:?}",
            summary.law
        );
        assert!(
            summary.law.missed_turns <= 2,
            "{level:?}: {:?}",
            summary.law
        );
    }
}

#[test]
fn lane_graphs_of_shipped_scenarios_are_continuous() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for name in ["crossroads", "figure-eight", "motorway-m4", "old-town"] {
        let scenario = file::load(&folder.join(format!("{name}.scenario.json"))).unwrap();
        let layout = junction::layout(scenario.network(), scenario.about().driving_side);
        let graph = lane_graph::LaneGraph::new(&scenario, &layout);
        for (id, lanelet) in graph.numbered() {
            let end: DVec2 = graph.line(id).position(lanelet.length());
            for &next in graph.successors(id) {
                let gap = (graph.line(next).position(0.0) - end).length();
                assert!(
                    gap < 0.05,
                    "{name}: {:?} to {:?}: {gap}",
                    lanelet.kind,
                    graph.lanelet(next).kind
                );
            }
        }
    }
}

#[test]
fn the_last_way_point_is_the_destination_of_those_without_one() {
    // A loop of waypoints that never ends must not hang the run.
    let mut scenario = Scenario::new("round");
    let agent = Agent {
        start: Place::ground(0.0, 0.0, 0.0),
        via: vec![Place::ground(40.0, 0.0, 0.0), Place::ground(80.0, 0.0, 0.0)],
        destination: None,
        ..west_to_east()
    };
    put(&mut scenario, 1, agent.clone());
    assert_eq!(run(&scenario, 60.0).agents.arrived, 1);
    put(
        &mut scenario,
        1,
        Agent {
            via: vec![],
            ..agent
        },
    );
    let error = World::new(&scenario, &builtin_modules(), &RunOptions::default())
        .err()
        .unwrap();
    assert!(
        error
            .to_string()
            .contains("agent 1 has neither a destination nor a waypoint")
    );
}

#[test]
fn an_obstacle_with_a_notch_is_hit_once() {
    let points = [
        (30.0, -3.0),
        (36.0, -3.0),
        (36.0, 3.0),
        (30.0, 3.0),
        (33.0, 0.0),
    ];
    let shape = Shape::Polygon {
        points: points.map(DVec2::from).to_vec().into(),
    };
    let mut scenario = Scenario::new("arrow");
    let obstacle = Obstacle {
        shape,
        ..crate_at(0.0, 0.0)
    };
    scenario
        .apply(Edit::Obstacle(ObstacleId(1), Some(Box::new(obstacle))))
        .unwrap();
    let agent = Agent {
        stack: "pursuit".into(),
        start: Place::ground(0.0, 1.0, 0.0),
        destination: Some(Place::ground(80.0, 1.0, 0.0)),
        ..west_to_east()
    };
    put(&mut scenario, 1, agent);
    drive_straight(&mut scenario);
    assert_eq!(run(&scenario, 60.0).collisions.len(), 1);
}

#[test]
fn a_world_without_cars_cannot_be_populated() {
    let mut scenario = crossroads();
    scenario
        .apply(Edit::VehicleType("car".into(), None))
        .unwrap();
    let options = RunOptions {
        populate: 1,
        ..RunOptions::default()
    };
    let error = World::new(&scenario, &builtin_modules(), &options)
        .err()
        .unwrap()
        .to_string();
    assert_eq!(error, "unknown vehicle type \"car\"");
}

#[test]
fn who_finds_no_place_waits_in_a_queue_at_the_lane() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../../scenarios/figure-eight.scenario.json");
    let scenario = file::load(&path).unwrap();
    let own = scenario.agents().len();
    let options = RunOptions {
        populate: 2000,
        dt: Some(0.05),
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    world.step();
    let begun = world.counts();
    assert!(begun.active > 10 && begun.waiting > 1000, "{begun:?}");
    while world.time() < 120.0 {
        world.step();
    }
    let later = world.counts();
    assert!(
        later.waiting < begun.waiting && later.spawned > begun.spawned,
        "{later:?}"
    );
    assert_eq!(later.spawned + later.waiting + later.refused, 2000 + own);
}

#[test]
fn one_starts_and_arrives_on_a_road_that_lies_within_a_junction() {
    let mut scenario = Scenario::new("dog-leg");
    draw(&mut scenario, (-100.0, 0.0), (100.0, 0.0), &street("main"));
    draw(&mut scenario, (-3.0, 0.0), (-3.0, 100.0), &street("north"));
    draw(&mut scenario, (3.0, 0.0), (3.0, -100.0), &street("south"));
    let ground = Ground::new(&scenario);
    let layout = junction::layout(scenario.network(), scenario.about());
    let inside: Vec<RoadId> = layout.internal.iter().copied().collect();
    let [RoadId(inside)] = inside[..] else {
        panic!("one road lies within: {inside:?}");
    };
    let ends_at_east = |(_, road): &(RoadId, &Road)| road.reference_line.end().position.x > 99.0;
    let east = scenario.network().roads().find(ends_at_east).unwrap().0.0;
    // The first trip leads from each end of the main street to the middle of the crossing, and the
    // next one from there to the other end.
    let (from_west, to_west) = (on_lane(1, -1, 20.0), on_lane(1, 1, 20.0));
    let (from_east, to_east) = (on_lane(east, 1, 77.0), on_lane(east, -1, 77.0));
    for (id, lane, onward, [from, to]) in [
        (10, -1, 1.0, [from_west, to_east]),
        (20, 1, -1.0, [from_east, to_west]),
    ] {
        let within = on_lane(inside, lane, 3.0);
        let Place::Lane(place) = within else {
            unreachable!("a lane was asked for");
        };
        let (lanelet, s) = ground.graph().locate(&place).unwrap();
        let behind = ground.graph().line(lanelet).pose(s).position;
        assert!(behind.x * onward > 3.0 && behind.y.abs() < 3.0, "{behind}");
        for (number, start, destination) in [(id, from, within), (id + 1, within, to)] {
            let agent = Agent {
                start,
                destination: Some(destination),
                depart: (15.0 * f64::from(number % 10)).into(),
                ..west_to_east()
            };
            put(&mut scenario, number, agent);
        }
    }
    let found = check::check(&scenario);
    assert!(found.is_empty(), "{found:?}");
    let summary = run(&scenario, 300.0);
    assert_eq!((summary.agents.spawned, summary.agents.arrived), (4, 4));
}
