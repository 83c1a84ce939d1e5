//! Tests of edits of a running world between two steps.

use crate::scenarios::{crate_at, crossroads, draw, flows_between_ends, street, west_to_east};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_scenario::ConnectionIndex;
use roadwright_scenario::*;
use roadwright_simulation::{PopulateFrom, RunOptions, SaveError, Status, World, builtin_modules};
use roadwright_testing::{scaled, seed};

struct Run {
    scenario: Scenario,
    world: World,
}

impl Run {
    fn new() -> Self {
        let mut scenario = crossroads();
        let agent = Edit::Agent(AgentId(1), Some(Box::new(west_to_east())));
        scenario.apply(agent).unwrap();
        let world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
        Self { scenario, world }
    }

    fn drive(&mut self, seconds: f64) {
        let end = self.world.time() + seconds;
        while self.world.time() < end && !self.world.is_over() {
            self.world.step();
        }
    }

    fn edit(&mut self, edit: Edit) {
        let before = self.scenario.clone();
        self.scenario.apply(edit).unwrap();
        self.world
            .update(&before, &self.scenario, &builtin_modules())
            .unwrap();
    }

    fn change_agent(&mut self, change: impl FnOnce(&mut Agent)) {
        let mut agent = self.scenario.agents()[&AgentId(1)].clone();
        change(&mut agent);
        self.edit(Edit::Agent(AgentId(1), Some(Box::new(agent))));
    }

    fn position(&self) -> (f64, f64) {
        let vehicle = self.world.snapshot().vehicles[0];
        (vehicle.pose.position.x, vehicle.pose.position.y)
    }
}

#[test]
fn a_car_stops_for_an_obstacle_that_is_put_before_it() {
    let mut run = Run::new();
    run.drive(4.0);
    let x = run.position().0;
    run.edit(Edit::Obstacle(
        ObstacleId(1),
        Some(Box::new(crate_at(x + 30.0, -1.6))),
    ));
    run.drive(20.0);
    let stopped = run.world.snapshot().vehicles[0];
    assert!(
        stopped.speed < 0.2 && stopped.pose.position.x < x + 30.0,
        "{stopped:?}"
    );
    assert!(run.world.summary().collisions.is_empty());
    run.edit(Edit::Obstacle(ObstacleId(1), None));
    run.drive(60.0);
    assert_eq!(run.world.counts().arrived, 1);
}

#[test]
fn a_car_replans_when_its_destination_is_moved() {
    let mut run = Run::new();
    run.drive(3.0);
    run.change_agent(|agent| agent.destination = Some(Place::lane(RoadId(3), -1, 80.0)));
    let goal = run.world.inspect(1).unwrap().goals[0];
    assert!((goal.x - 1.6).abs() < 0.1 && goal.y > 70.0, "{goal}");
    run.drive(60.0);
    assert_eq!(run.world.counts().arrived, 1);
}

#[test]
fn a_car_keeps_its_place_when_roads_are_drawn_around_it() {
    let mut run = Run::new();
    run.drive(5.0);
    let before = run.position();
    let mut copy = run.scenario.clone();
    draw(
        &mut copy,
        (-20.0, -80.0),
        (-20.0, 80.0),
        &street("New Street"),
    );
    let line =
        roadwright_geometry::ReferenceLine::straight((-20.0, -80.0).into(), (-20.0, 80.0).into());
    run.edit(
        roadwright_scenario::operation::draw::road(
            &run.scenario,
            &line.unwrap(),
            &street("New Street"),
        )
        .unwrap(),
    );
    assert_eq!(run.position(), before);
    run.drive(60.0);
    assert_eq!(run.world.counts().arrived, 1);
    assert!(run.world.summary().collisions.is_empty());
}

#[test]
fn a_car_in_the_middle_of_a_junction_survives_that_its_roads_change() {
    let mut inside = 0;
    for at in 0..14 {
        let mut run = Run::new();
        run.drive(8.0 + 0.5 * f64::from(at));
        assert_eq!(run.world.counts().active, 1, "{at}");
        inside += usize::from(run.world.snapshot().vehicles[0].lane.is_none());
        let mut road = run.scenario.network().road(RoadId(2)).unwrap().clone();
        road.speed_limit = 5.0.into();
        run.edit(Edit::Road(RoadId(2), Some(Box::new(road))));
        run.drive(80.0);
        assert_eq!(run.world.counts().arrived, 1, "{at}");
    }
    assert!(inside >= 2, "{inside} of the moments are in the junction");
}

#[test]
fn an_agent_that_is_deleted_is_gone_and_a_new_one_comes() {
    let mut run = Run::new();
    run.drive(3.0);
    run.edit(Edit::Agent(AgentId(1), None));
    assert!(run.world.snapshot().vehicles.is_empty());
    run.drive(1.0);
    let mut late = west_to_east();
    late.start = Place::lane(RoadId(2), -1, 5.0);
    run.edit(Edit::Agent(AgentId(2), Some(Box::new(late))));
    run.drive(80.0);
    assert_eq!(run.world.counts().arrived, 1);
}

#[test]
fn a_stack_can_be_changed_while_it_drives() {
    let mut run = Run::new();
    run.drive(3.0);
    run.change_agent(|agent| agent.stack = "fuzzy_driver".into());
    assert_eq!(run.world.inspect(1).unwrap().controller, "fuzzy_driver");
    run.drive(80.0);
    assert_eq!(run.world.counts().arrived, 1);
}

#[test]
fn a_bad_edit_leaves_the_run_as_it_is() {
    let mut run = Run::new();
    run.drive(3.0);
    let hash = run.world.state_hash();
    let mut other = run.scenario.clone();
    let mut agent = west_to_east();
    agent.destination = Some(Place::lane(RoadId(2), -7, 20.0));
    other
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    assert!(
        run.world
            .update(&run.scenario, &other, &builtin_modules())
            .is_err()
    );
    assert_eq!(run.world.state_hash(), hash);
    run.drive(80.0);
    assert_eq!(run.world.counts().arrived, 1);
}

#[test]
fn the_same_edits_at_the_same_steps_give_the_same_bits() {
    let hash = |threads| {
        let mut run = Run::new();
        run.world = World::new(
            &run.scenario,
            &builtin_modules(),
            &RunOptions {
                threads,
                ..RunOptions::default()
            },
        )
        .unwrap();
        run.drive(3.0);
        run.edit(Edit::Obstacle(
            ObstacleId(1),
            Some(Box::new(crate_at(10.0, -2.0))),
        ));
        run.drive(4.0);
        run.change_agent(|agent| agent.destination = Some(Place::lane(RoadId(3), -1, 60.0)));
        run.edit(Edit::Obstacle(ObstacleId(1), None));
        run.drive(4.0);
        run.world.state_hash()
    };
    assert_eq!(hash(1), hash(1));
    assert_eq!(hash(1), hash(2));
}

#[test]
fn an_edit_that_changes_nothing_changes_nothing() {
    let mut run = Run::new();
    let mut untouched = Run::new();
    run.drive(5.0);
    untouched.drive(5.0);
    let about = run.scenario.about().clone();
    run.edit(Edit::About(Box::new(About {
        name: "other".into(),
        ..about
    })));
    run.drive(20.0);
    untouched.drive(20.0);
    assert_eq!(run.world.state_hash(), untouched.world.state_hash());
}

#[test]
fn looking_into_an_agent_shows_its_way() {
    let mut run = Run::new();
    run.drive(4.0);
    let seen = run.world.inspect(1).unwrap();
    assert_eq!((seen.stack.as_str(), seen.controller), ("idm", "idm"));
    let goal = *seen.goals.last().unwrap();
    let end = *seen.path.last().unwrap();
    assert!((goal - end).length() < 1.0, "{goal} {end}");
    assert!(seen.pursuit.is_some() && seen.obstacle.is_none());
    assert!(run.world.inspect(99).is_none());
}

#[test]
fn a_lenient_run_refuses_who_has_nowhere_to_go_and_drives_the_rest() {
    let mut scenario = crossroads();
    let aimless = Agent {
        destination: None,
        start: Place::lane(RoadId(2), -1, 5.0),
        ..west_to_east()
    };
    for (id, agent) in [(1, west_to_east()), (2, aimless)] {
        let edit = Edit::Agent(AgentId(id), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    let options = |lenient| RunOptions {
        lenient,
        ..RunOptions::default()
    };
    assert!(World::new(&scenario, &builtin_modules(), &options(false)).is_err());
    let world = World::new(&scenario, &builtin_modules(), &options(true)).unwrap();
    assert_eq!(world.counts().refused, 1);
    let mut run = Run { scenario, world };
    run.drive(5.0);
    // The second agent gets its destination while the first one drives.
    let mut agent = run.scenario.agents()[&AgentId(2)].clone();
    agent.destination = Some(Place::lane(RoadId(3), -1, 80.0));
    run.edit(Edit::Agent(AgentId(2), Some(Box::new(agent))));
    run.drive(120.0);
    assert_eq!(run.world.counts().arrived, 2);
}

/// Creates the run of the other tests with an additional flow from south to north.
fn with_flow(rate_per_hour: f64) -> Run {
    let mut run = Run::new();
    let flow = Flow {
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        origin: Place::lane(RoadId(2), -1, 5.0),
        destination: Place::lane(RoadId(3), -1, 80.0),
        rate_per_hour: rate_per_hour.into(),
        begin: 0.0.into(),
        end: 1000.0.into(),
    };
    run.edit(Edit::Flow(FlowId(1), Some(Box::new(flow))));
    run
}

#[test]
fn a_flow_whose_rate_is_changed_does_not_make_up_for_the_past() {
    let mut run = with_flow(100.0);
    run.drive(120.0);
    for rate in [200.0, 300.0, 400.0, 600.0] {
        let mut flow = run.scenario.flows()[&FlowId(1)].clone();
        flow.rate_per_hour = rate.into();
        run.edit(Edit::Flow(FlowId(1), Some(Box::new(flow))));
    }
    let before = run.world.counts();
    run.drive(3.0);
    let after = run.world.counts();
    assert!(after.spawned + after.waiting <= before.spawned + before.waiting + 2);
}

#[test]
fn a_flow_that_is_deleted_and_undone_numbers_its_agents_on() {
    let mut run = with_flow(1800.0);
    run.drive(20.0);
    let flow = run.scenario.flows()[&FlowId(1)].clone();
    run.edit(Edit::Flow(FlowId(1), None));
    run.edit(Edit::Flow(FlowId(1), Some(Box::new(flow))));
    run.drive(20.0);
    let mut ids: Vec<u64> = run
        .world
        .snapshot()
        .vehicles
        .iter()
        .map(|v| v.agent)
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn who_waits_on_a_road_that_goes_does_not_come_back() {
    let mut run = with_flow(3600.0);
    run.drive(20.0);
    let mut late = west_to_east();
    late.start = Place::lane(RoadId(2), -1, 30.0);
    late.depart = 40.0.into();
    run.edit(Edit::Agent(AgentId(7), Some(Box::new(late))));
    let gone = std::iter::once(ObjectId::Road(RoadId(2))).collect();
    run.edit(operation::deleted(&run.scenario, &gone));
    run.drive(60.0);
    assert!(run.world.snapshot().vehicles.iter().all(|v| v.agent != 7));
}

#[test]
fn who_has_arrived_does_not_set_out_again_when_its_road_is_cut() {
    let mut run = Run::new();
    run.drive(80.0);
    assert_eq!(run.world.counts().arrived, 1);
    run.edit(roadwright_scenario::operation::draw::split(&run.scenario, RoadId(4), 40.0).unwrap());
    run.drive(20.0);
    assert_eq!(
        (run.world.counts().arrived, run.world.counts().active),
        (1, 0)
    );
}

#[test]
fn goals_move_with_their_road() {
    let mut run = Run::new();
    run.drive(3.0);
    let far = operation::moved(
        &run.scenario,
        &std::iter::once(ObjectId::Node(
            run.scenario.network().road(RoadId(4)).unwrap().to,
        ))
        .collect(),
        &operation::Motion::shift(roadwright_geometry::DVec2::new(0.0, 25.0)),
    );
    run.edit(far.unwrap());
    let goal = run.world.inspect(1).unwrap().goals[0];
    assert!(goal.y > 10.0, "{goal}");
    run.drive(80.0);
    assert_eq!(run.world.counts().arrived, 1);
}

#[test]
fn another_country_rules_the_junctions_of_a_running_world() {
    let mut run = Run::new();
    run.drive(3.0);
    let about = |country: &str, run: &Run| {
        let mut about = run.scenario.about().clone();
        about.country = country.into();
        Edit::About(Box::new(about))
    };
    let control = |run: &Run| {
        let network = run.scenario.network();
        let crossing = network
            .nodes()
            .find(|(id, _)| network.ends_at(*id).len() > 2);
        run.world
            .inspect_junction(crossing.unwrap().0)
            .unwrap()
            .control
    };
    assert_eq!(control(&run), Control::Uncontrolled);
    run.edit(about("US", &run));
    assert_eq!(control(&run), Control::AllWayStop);
    let nowhere = run
        .scenario
        .clone()
        .apply(about("usa", &run))
        .unwrap_err()
        .to_string();
    assert!(nowhere.contains("ISO 3166-1"), "{nowhere}");
    run.drive(60.0);
    assert_eq!(run.world.counts().arrived, 1);
}

#[test]
fn another_street_name_changes_nothing_in_the_run() {
    let mut run = Run::new();
    let mut untouched = Run::new();
    run.drive(12.0);
    untouched.drive(12.0);
    let mut road = run.scenario.network().road(RoadId(1)).unwrap().clone();
    road.name = "Other Street".into();
    run.edit(Edit::Road(RoadId(1), Some(Box::new(road))));
    run.drive(10.0);
    untouched.drive(10.0);
    assert_eq!(run.world.state_hash(), untouched.world.state_hash());
}

#[test]
fn a_destination_dragged_over_open_ground_leaves_no_junction_blocked() {
    let mut run = Run::new();
    let second = Agent {
        start: Place::lane(RoadId(2), -1, 5.0),
        destination: Some(Place::lane(RoadId(3), -1, 80.0)),
        depart: 14.0.into(),
        ..west_to_east()
    };
    run.edit(Edit::Agent(AgentId(2), Some(Box::new(second))));
    // Runs until the first agent has been admitted.
    run.drive(9.0);
    run.change_agent(|agent| agent.destination = Some(Place::ground(-60.0, -40.0, 0.0)));
    run.drive(1.0);
    run.change_agent(|agent| agent.destination = Some(Place::lane(RoadId(1), -1, 85.0)));
    run.drive(120.0);
    assert!(run.world.counts().arrived >= 1);
    assert!(run.world.snapshot().vehicles.iter().all(|v| v.agent != 2));
}

#[test]
fn agents_of_a_deleted_stack_leave_and_others_drive_on() {
    // Random trips may use a stack that no agent of the scenario names, so it can be deleted.
    for (name, gone) in [("a_first", "idm"), ("m_middle", "idm"), ("z_last", "idm")] {
        let mut scenario = crossroads();
        let own = Stack::with_controller(gone);
        let stack = Edit::Stack(name.into(), Some(Box::new(own)));
        scenario.apply(stack).unwrap();
        let options = RunOptions {
            populate: 6,
            // Inside the map, all of them are spawned at once. At an edge, some would have to wait
            // for others.
            populate_from: PopulateFrom::Inside,
            populate_stack: Some(name.into()),
            ..RunOptions::default()
        };
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let mut edited = scenario.clone();
        edited
            .apply(Edit::Agent(AgentId(50), Some(Box::new(west_to_east()))))
            .unwrap();
        (0..300).for_each(|_| world.step());
        world
            .update(&scenario, &edited, &builtin_modules())
            .unwrap();
        (0..100).for_each(|_| world.step());
        assert!(world.counts().active > 3, "{name}");
        let mut without = edited.clone();
        without.apply(Edit::Stack(name.into(), None)).unwrap();
        world.update(&edited, &without, &builtin_modules()).unwrap();
        // Other vehicles may have blocked the agent's start until now.
        (0..100).for_each(|_| world.step());
        // Only the agent of the scenario is left, with its original stack.
        let driving: Vec<u64> = world.snapshot().vehicles.iter().map(|v| v.agent).collect();
        assert_eq!(driving, [50], "{name}");
        assert_eq!(world.inspect(50).unwrap().stack, "idm", "{name}");
        let finished = world.finished();
        let removed: Vec<_> = finished.filter(|f| f.status == Status::Removed).collect();
        assert!(removed.len() >= 5, "{name}");
        assert!(
            removed
                .iter()
                .all(|f| f.started == 0.0 || !f.scores.is_empty()),
            "{name}"
        );
        (0..3000).for_each(|_| world.step());
        assert_eq!(world.counts().active, 0, "{name}: it arrives");
    }
}

#[test]
fn what_an_agent_has_done_does_not_count_after_it_starts_again() {
    let mut scenario = crossroads();
    let mut drawn = west_to_east();
    drawn.destination = None;
    scenario
        .apply(Edit::Agent(AgentId(1), Some(Box::new(drawn))))
        .unwrap();
    let options = RunOptions {
        lenient: true,
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    assert_eq!(world.counts().refused, 1);
    let mut edited = scenario.clone();
    edited
        .apply(Edit::Agent(AgentId(1), Some(Box::new(west_to_east()))))
        .unwrap();
    world
        .update(&scenario, &edited, &builtin_modules())
        .unwrap();
    assert_eq!((world.counts().refused, world.counts().waiting), (0, 1));
    while !world.is_over() {
        world.step();
    }
    assert_eq!((world.counts().arrived, world.counts().spawned), (1, 1));
    // After its destination has been moved, the agent departs again. In the end, it has arrived
    // once.
    let mut moved = edited.clone();
    let mut agent = west_to_east();
    agent.destination = Some(Place::lane(RoadId(4), -1, 60.0));
    moved
        .apply(Edit::Agent(AgentId(1), Some(Box::new(agent))))
        .unwrap();
    world.update(&edited, &moved, &builtin_modules()).unwrap();
    assert_eq!((world.counts().arrived, world.counts().waiting), (0, 1));
    while !world.is_over() {
        world.step();
    }
    assert_eq!((world.counts().arrived, world.counts().spawned), (1, 1));
    assert_eq!(world.finished().len(), 3);
}

#[test]
fn an_edit_elsewhere_leaves_everybody_on_its_way() {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for (name, populate) in [("crossroads", 0), ("old-town", 80)] {
        let file = folder.join(format!("{name}.scenario.json"));
        let scenario = roadwright_scenario::file::load(&file).unwrap();
        let options = RunOptions {
            populate,
            ..RunOptions::default()
        };
        let mut plain = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let mut edited = World::new(&scenario, &builtin_modules(), &options).unwrap();
        let mut now = scenario;
        for round in 0..6 {
            for _ in 0..1200 {
                plain.step();
                edited.step();
            }
            assert!(plain.counts().active > 0);
            // Roads are added and removed at the other end of the world, which changes the numbers
            // of all later lanelets and junctions.
            let before = now.clone();
            if round % 2 == 0 {
                let y = 5000.0 + 100.0 * f64::from(round);
                draw(&mut now, (-5000.0, y), (-4000.0, y), &street("far"));
                draw(
                    &mut now,
                    (-4500.0, y - 50.0),
                    (-4500.0, y + 40.0),
                    &street("far"),
                );
            } else {
                let far = now.network().roads().filter(|(_, road)| road.name == "far");
                let id = far.map(|(id, _)| id).next().unwrap();
                now.apply(Edit::Road(id, None)).unwrap();
            }
            edited.update(&before, &now, &builtin_modules()).unwrap();
        }
        assert_eq!(edited.snapshot().hash(), plain.snapshot().hash(), "{name}");
        let (a, b) = (edited.summary(), plain.summary());
        assert_eq!((a.agents, a.replans), (b.agents, b.replans), "{name}");
    }
}

#[test]
fn who_drives_on_a_road_that_is_reshaped_keeps_its_route() {
    let mut run = Run::new();
    run.drive(5.0);
    let (id, road) = run.scenario.network().roads().next().unwrap();
    let mut road = road.clone();
    for section in &mut road.lane_sections {
        for lane in &mut section.lanes {
            lane.width[0].a += 0.4;
        }
    }
    let before = run.position();
    run.edit(Edit::Road(id, Some(Box::new(road))));
    // The vehicle stays in place, is off the centre line of its lane after the edit, and drives back to it.
    assert_eq!(run.position(), before);
    let beside = |run: &Run| run.world.snapshot().vehicles[0].t.abs();
    assert!(beside(&run) > 0.1, "{}", beside(&run));
    run.drive(3.0);
    assert!(beside(&run) < 0.1, "{}", beside(&run));
    run.drive(60.0);
    assert_eq!(run.world.counts().arrived, 1);
}

/// Creates a road of 400 m with a lane in each direction, and a car that drives along it, eastwards or
/// westwards.
fn on_a_long_road(eastwards: bool, level: DynamicsLevel, own_goal: bool) -> Run {
    let mut scenario = Scenario::new("long road");
    draw(&mut scenario, (0.0, 0.0), (400.0, 0.0), &street("long"));
    let (lane, from, to) = if eastwards {
        (-1, 20.0, 390.0)
    } else {
        (1, 380.0, 10.0)
    };
    let place = |s| Place::lane(RoadId(1), lane, s);
    let options = RunOptions {
        dynamics: Some(level),
        ..RunOptions::default()
    };
    if own_goal {
        // Its destination is not in the scenario, like that of a random trip.
        let flow = Flow {
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: None,
            origin: place(from),
            destination: place(to),
            rate_per_hour: 3600.0.into(),
            begin: 0.0.into(),
            end: 8.0.into(),
        };
        let edit = Edit::Flow(FlowId(1), Some(Box::new(flow)));
        scenario.apply(edit).unwrap();
    } else {
        let agent = Agent {
            start: place(from),
            destination: Some(place(to)),
            ..west_to_east()
        };
        let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    let world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    Run { scenario, world }
}

#[test]
fn a_road_that_is_cut_is_driven_on_both_parts() {
    for eastwards in [true, false] {
        for level in DynamicsLevel::FOR_VEHICLES {
            for own_goal in [false, true] {
                // The road is cut behind the vehicles, between them, and ahead of them.
                for cut in [60.0, 150.0, 300.0] {
                    let mut run = on_a_long_road(eastwards, level, own_goal);
                    run.drive(14.0);
                    let x = if eastwards { cut } else { 400.0 - cut };
                    let vehicles = run.world.snapshot().vehicles.into_iter();
                    let places = vehicles.map(|vehicle| (vehicle.agent, vehicle.pose.position));
                    let before = run.scenario.clone();
                    draw(&mut run.scenario, (x, -80.0), (x, 80.0), &street("across"));
                    let modules = builtin_modules();
                    run.world.update(&before, &run.scenario, &modules).unwrap();
                    let what = format!("east {eastwards}, {level}, own {own_goal}, cut at {x}");
                    let driving = places.len();
                    assert!(driving > 0, "{what}");
                    let mut last: std::collections::BTreeMap<_, _> = places.collect();
                    while !run.world.is_over() && run.world.time() < 120.0 {
                        run.world.step();
                        for vehicle in run.world.snapshot().vehicles {
                            let at = vehicle.pose.position;
                            assert!(at.y.abs() < 3.0, "{what}: {at} is off the road");
                            if let Some(was) = last.insert(vehicle.agent, at) {
                                let moved: f64 = (at - was).length();
                                assert!(moved < 0.3, "{what}: {moved} m in a step");
                            }
                        }
                    }
                    let counts = run.world.counts();
                    assert_eq!(counts.arrived, counts.spawned, "{what}: {counts:?}");
                    assert!(counts.arrived >= driving, "{what}: {counts:?}");
                }
            }
        }
    }
}

#[test]
fn who_drives_where_no_road_is_any_more_is_taken_out() {
    let mut run = on_a_long_road(true, DynamicsLevel::OneTrack, false);
    run.drive(8.0);
    let mut road = run.scenario.network().road(RoadId(1)).unwrap().clone();
    // The road is moved sideways by 30 m.
    let line = roadwright_geometry::ReferenceLine::straight(
        DVec2::new(0.0, 30.0),
        DVec2::new(400.0, 30.0),
    );
    road.reference_line = line.unwrap();
    let ends = [(road.from, 0.0), (road.to, 400.0)];
    let before = run.scenario.clone();
    for (node, x) in ends {
        let moved = Node::at(DVec2::new(x, 30.0));
        run.scenario.apply(Edit::Node(node, Some(moved))).unwrap();
    }
    run.scenario
        .apply(Edit::Road(RoadId(1), Some(Box::new(road))))
        .unwrap();
    run.world
        .update(&before, &run.scenario, &builtin_modules())
        .unwrap();
    let finished: Vec<_> = run.world.finished().map(|agent| agent.status).collect();
    assert_eq!(
        (run.world.counts().active, finished),
        (0, vec![Status::Removed])
    );
}

/// Number of edits of a junction full of cars in a nightly run. `ROADWRIGHT_EDITS=10000` makes more edits,
/// and `ROADWRIGHT_SEED=8` makes different ones.
const EDITS: u64 = 200;

fn edits() -> u64 {
    let wanted = std::env::var("ROADWRIGHT_EDITS").ok();
    wanted.map_or_else(|| scaled(EDITS), |text| text.parse().unwrap())
}

/// Two crossing streets with more cars than can pass.
struct FullCrossing {
    scenario: Scenario,
    world: World,
    random: Stream,
    /// Controls that random rules can choose.
    controls: Vec<Control>,
}

impl FullCrossing {
    fn new(seed: u64) -> Self {
        let mut scenario = crossroads();
        for flow in flows_between_ends(&scenario, 10.0, 500.0) {
            crate::common::add_flow(&mut scenario, flow);
        }
        let options = RunOptions {
            dt: Some(0.1),
            dynamics: Some(DynamicsLevel::Lane),
            verify: true,
            lenient: true,
            ..RunOptions::default()
        };
        let world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        Self {
            scenario,
            world,
            random: Stream::new(seed, "edits", 0),
            controls: Control::ALL.into_iter().collect(),
        }
    }

    fn drive(&mut self, seconds: f64) {
        let end = self.world.time() + seconds;
        while self.world.time() < end {
            self.world.step();
        }
    }

    /// Runs for the given time, s. If two vehicles touch, panics with the state of the junction.
    fn drive_apart(&mut self, seconds: f64, what: &str) {
        let end = self.world.time() + seconds;
        while self.world.time() < end {
            self.world.step();
            let Some(touch) = self.world.collisions().first() else {
                continue;
            };
            let (id, _) = self.middle();
            let tickets = self.world.inspect_junction(id).map(|seen| seen.tickets);
            let vehicles = self.world.snapshot().vehicles;
            let near = vehicles.iter().filter(|vehicle| {
                let middle = vehicle.pose.position;
                (middle - DVec2::new(touch.x, touch.y)).length() < 12.0
            });
            let near: Vec<_> = near.map(|v| (v.agent, v.pose, v.speed)).collect();
            panic!("{what}: {touch:?}\n{tickets:#?}\n{near:#?}");
        }
    }

    /// Applies an edit and returns its inverse.
    fn edit(&mut self, edit: Edit) -> Edit {
        let before = self.scenario.clone();
        let inverse = self.scenario.apply(edit).unwrap();
        self.world
            .update(&before, &self.scenario, &builtin_modules())
            .unwrap();
        inverse
    }

    fn middle(&self) -> (NodeId, Node) {
        let network = self.scenario.network();
        let mut nodes = network.nodes();
        let (id, node) = nodes
            .find(|(id, _)| network.ends_at(*id).len() > 2)
            .unwrap();
        (id, node.clone())
    }

    /// Returns rules with a random control, major road and signal plan, and possibly a forbidden turn.
    fn other_rules(&mut self) -> JunctionRules {
        let random = &mut self.random;
        let controls = &self.controls;
        let road = |random: &mut Stream| RoadId(1 + random.next_index(4) as u32);
        let restriction = Restriction {
            kind: RestrictionKind::No,
            from: road(random),
            to: road(random),
        };
        let modes = [SignalMode::Fixed, SignalMode::Actuated, SignalMode::Off];
        let plan = SignalPlan {
            mode: modes[random.next_index(3)],
            offset: random.next_in(0.0, 40.0).into(),
            ..SignalPlan::default()
        };
        JunctionRules {
            control: Some(controls[random.next_index(controls.len())]),
            major: vec![road(random)],
            restrictions: if random.next_index(4) == 0 {
                vec![restriction]
            } else {
                Vec::new()
            },
            plan: (random.next_index(2) == 0).then_some(plan),
            ..JunctionRules::default()
        }
    }

    /// Sets random corner radii in `rules`, adds pedestrian crossings, and removes connections
    /// between lanes.
    fn other_shape(&mut self, rules: &mut JunctionRules) {
        let network = self.scenario.network();
        let (middle, _) = self.middle();
        let layout = junction::layout(network, self.scenario.about());
        let junction = layout.junction_at(middle).unwrap();
        let random = &mut self.random;
        let arms = &junction.arms;
        for i in 0..arms.len() {
            let next = arms[(i + 1) % arms.len()].road;
            let radius = (random.next_index(3) == 0).then(|| random.next_in(0.5, 12.0));
            rules.set_corner(arms[i].road, next, radius);
            if random.next_index(3) == 0 {
                rules.crossings.push(CrossingRule::over(arms[i].road));
            }
        }
        let lane = |end: junction::LaneEnd| RoadLane {
            road: end.road,
            lane: end.lane,
        };
        for path in &junction.paths {
            if random.next_index(12) == 0 {
                rules.turns.remove(LaneTurn {
                    from: lane(path.from),
                    to: lane(path.to),
                });
            }
        }
    }

    /// Asserts that traffic recovers: once the original rules apply again, many vehicles arrive.
    fn goes_on(&mut self) {
        let (id, node) = self.middle();
        let rules = JunctionRules::default();
        self.edit(Edit::Node(id, Some(Node { rules, ..node })));
        self.drive(60.0);
        let before = self.world.counts().arrived;
        self.drive(120.0);
        let arrived = self.world.counts().arrived - before;
        assert!(arrived > 20, "{arrived} in two minutes");
    }
}

#[test]
fn rules_of_a_full_junction_change_and_nobody_touches_anybody() {
    let mut crossing = FullCrossing::new(seed(1));
    crossing.drive(40.0);
    for number in 0..edits() {
        let rules = crossing.other_rules();
        let (id, node) = crossing.middle();
        let what = format!("edit {number}: {rules:?}");
        crossing.edit(Edit::Node(id, Some(Node { rules, ..node })));
        let seconds = crossing.random.next_in(0.5, 8.0);
        crossing.drive_apart(seconds, &what);
    }
    crossing.goes_on();
}

#[test]
fn the_shape_of_a_full_junction_changes_and_nobody_touches_anybody() {
    let mut crossing = FullCrossing::new(seed(3));
    crossing.drive(40.0);
    let mut entered = 0;
    for number in 0..edits() {
        let mut rules = crossing.other_rules();
        crossing.other_shape(&mut rules);
        let (id, node) = crossing.middle();
        let what = format!("edit {number}: {rules:?}");
        crossing.edit(Edit::Node(id, Some(Node { rules, ..node })));
        let seconds = crossing.random.next_in(0.5, 20.0);
        crossing.drive_apart(seconds, &what);
        entered += u64::from(crossing.world.closing_nodes().is_empty());
    }
    // The remaining edits were replaced by the next edit while they were pending.
    assert!(10 * entered > edits(), "{entered} of {} entered", edits());
    crossing.goes_on();
}

#[test]
fn nobody_stands_where_a_junction_is_to_be_when_its_lines_move_outward() {
    for control in [Control::Signals, Control::Uncontrolled, Control::Priority] {
        let mut crossing = FullCrossing::new(1);
        let (id, node) = crossing.middle();
        let rules = JunctionRules {
            control: Some(control),
            ..JunctionRules::default()
        };
        let plain = Node {
            rules: rules.clone(),
            ..node.clone()
        };
        crossing.edit(Edit::Node(id, Some(plain)));
        crossing.drive(60.0);
        // Each arm is shortened by some metres, so that its stop line moves outward beyond the
        // waiting vehicles.
        let roads = (1..=4).map(RoadId);
        let rules = JunctionRules {
            crossings: roads.map(CrossingRule::over).collect(),
            ..rules
        };
        crossing.edit(Edit::Node(id, Some(Node { rules, ..node })));
        assert!(!crossing.world.closing_nodes().is_empty(), "{control:?}");
        // It takes up to a minute and a half until the vehicles between the old and new lines have
        // passed, and up to half a minute more.
        let left = |crossing: &FullCrossing| match crossing.world.save() {
            Err(SaveError::EditWaits { seconds, .. }) => seconds,
            other => panic!("{control:?}: {:?}", other.err()),
        };
        assert_eq!(left(&crossing), 121.0, "{control:?}");
        let (mut waited, mut told) = (0.0, Vec::new());
        while !crossing.world.closing_nodes().is_empty() {
            let most = left(&crossing);
            assert!(most <= 122.0 - waited, "{most} after {waited}");
            told.push((waited, most));
            crossing.drive(0.1);
            waited += 0.1;
            assert!(waited < 110.0, "{control:?}: it does not enter");
        }
        // The edit is never applied later than announced.
        assert!(told.iter().all(|(after, most)| after + most >= waited));
        assert_eq!(inside(&crossing), [], "{control:?}");
        crossing.goes_on();
    }
}

/// Returns the agents in the middle of a crossing, with the connections granted to them.
fn inside(crossing: &FullCrossing) -> Vec<(u64, ConnectionIndex)> {
    let (id, _) = crossing.middle();
    let seen = crossing.world.inspect_junction(id).unwrap();
    let inside = seen.tickets.iter().filter(|ticket| ticket.has_entered);
    inside.map(|ticket| (ticket.agent, ticket.path)).collect()
}

#[test]
fn who_is_inside_keeps_its_way_and_nobody_is_let_in_before_the_edit_has_entered() {
    let mut crossing = FullCrossing::new(4);
    while inside(&crossing).len() < 2 {
        crossing.drive(0.1);
    }
    let (id, node) = crossing.middle();
    let mut known = inside(&crossing);
    let rules = JunctionRules {
        control: Some(Control::AllWayStop),
        ..JunctionRules::default()
    };
    let control = |crossing: &FullCrossing| crossing.world.inspect_junction(id).unwrap().control;
    let was = control(&crossing);
    let edited = Node { rules, ..node };
    crossing.edit(Edit::Node(id, Some(edited.clone())));
    assert_eq!(crossing.world.closing_nodes(), [id]);
    let error = crossing.world.save().unwrap_err();
    let said = "(1 in total); continue the run until it is applied, which takes at most 31 s";
    assert!(error.to_string().contains(said), "{error}");
    let since = crossing.world.time();
    while !crossing.world.closing_nodes().is_empty() {
        assert_eq!(control(&crossing), was);
        // Vehicles that can no longer stop still enter. All others stop.
        let now = inside(&crossing);
        let late = crossing.world.time() - since > 4.0;
        if late {
            assert!(now.iter().all(|who| known.contains(who)), "{now:?}");
        } else {
            known.extend(now);
        }
        crossing.world.step();
        assert!(crossing.world.time() - since < 31.0);
    }
    assert_eq!(control(&crossing), Control::AllWayStop);
    assert!(crossing.world.time() > since + 0.5);
    crossing.world.save().unwrap();
    // Reverting an edit while it is pending changes nothing.
    while inside(&crossing).is_empty() {
        crossing.drive(0.1);
    }
    let plain = Node {
        rules: JunctionRules::default(),
        ..edited.clone()
    };
    crossing.edit(Edit::Node(id, Some(plain)));
    assert_eq!(crossing.world.closing_nodes(), [id]);
    crossing.edit(Edit::Node(id, Some(edited)));
    assert!(crossing.world.closing_nodes().is_empty());
    let seen = crossing.world.inspect_junction(id).unwrap();
    assert!(!seen.closes && seen.control == Control::AllWayStop);
    assert!(crossing.world.collisions().is_empty());
}

#[test]
fn signals_show_amber_and_red_before_an_edit_of_them_enters() {
    use roadwright_scenario::junction::Light;
    let mut crossing = FullCrossing::new(5);
    let (id, node) = crossing.middle();
    let lit = |offset: f64| JunctionRules {
        control: Some(Control::Signals),
        plan: Some(SignalPlan {
            offset: offset.into(),
            ..SignalPlan::default()
        }),
        ..JunctionRules::default()
    };
    let with = |rules: JunctionRules| {
        Edit::Node(
            id,
            Some(Node {
                rules,
                ..node.clone()
            }),
        )
    };
    crossing.edit(with(lit(0.0)));
    crossing.drive(60.0);
    while inside(&crossing).is_empty() {
        crossing.drive(0.1);
    }
    crossing.edit(with(lit(17.0)));
    assert_eq!(crossing.world.closing_nodes(), [id]);
    let mut shown = Vec::new();
    for _ in 0..200 {
        crossing.world.step();
        let lights: Vec<Light> = crossing.world.signals().map(|head| head.light).collect();
        let is_alike = lights.iter().all(|light| *light == lights[0]);
        shown.push(is_alike.then_some(lights[0]));
        if shown.last() == Some(&None) {
            break;
        }
    }
    shown.dedup();
    // All connections show amber, then red, and then the first stage begins.
    let expected = [Some(Light::Amber), Some(Light::Red), None];
    assert_eq!(shown, expected);
    assert!(crossing.world.closing_nodes().is_empty());
}

#[test]
fn roads_of_a_full_junction_change_and_traffic_goes_on() {
    let mut crossing = FullCrossing::new(2);
    crossing.drive(40.0);
    for _ in 0..edits() / 4 {
        let edit = if crossing.random.next_index(2) == 0 {
            let (id, _) = crossing.middle();
            let shift = DVec2::new(
                crossing.random.next_in(-4.0, 4.0),
                crossing.random.next_in(-4.0, 4.0),
            );
            let objects = [ObjectId::Node(id)].into();
            operation::moved(
                &crossing.scenario,
                &objects,
                &operation::Motion::shift(shift),
            )
            .unwrap()
        } else {
            let road = RoadId(1 + crossing.random.next_index(4) as u32);
            operation::deleted(&crossing.scenario, &[ObjectId::Road(road)].into())
        };
        let back = crossing.edit(edit);
        let seconds = crossing.random.next_in(0.5, 8.0);
        crossing.drive(seconds);
        crossing.edit(back);
        let seconds = crossing.random.next_in(0.5, 8.0);
        crossing.drive(seconds);
    }
    println!("{} contacts", crossing.world.collisions().len());
    crossing.goes_on();
}
