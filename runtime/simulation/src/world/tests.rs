//! Tests of a whole world that need access to its internals.

use super::*;
use crate::agents::Status;
use crate::builtin_modules;
use crate::junction_watch::JunctionWatch;
use crate::records::AgentIndex;
use crate::route::{Goal, GroundPath, Leg, Route, Travel, Waypoint};
use crate::session::Observer;
use crate::testing::{draw_street, street};
use roadwright_agent::{
    Controller, Lookahead, ModuleEntry, ModuleInfo, ModuleKind, NearNeeds, Needs, ParameterSet,
    Step, Views,
};
use roadwright_geometry::{Pose, unit};
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NeedsInput};
use roadwright_scenario::operation::draw::RoadStyle;
use roadwright_scenario::{
    Agent, AgentId, CrossSection, DynamicsLevel, Edit, Place, RoadId, Stack,
};

/// Creates an agent on open ground that follows a given path.
fn on_a_path(controller: &str, waypoints: Vec<Waypoint>) -> World {
    let mut scenario = Scenario::new("open ground");
    let stack = Stack::with_controller(controller);
    let first = waypoints[0].pose;
    let last = waypoints[waypoints.len() - 1].pose.position;
    let agent = Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "driver".into(),
        dynamics: None,
        start: Place::ground(first.position.x, first.position.y, first.heading),
        via: Vec::new(),
        destination: Some(Place::ground(last.x, last.y, 0.0)),
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    };
    for edit in [
        Edit::Stack("driver".into(), Some(Box::new(stack))),
        Edit::Agent(AgentId(1), Some(Box::new(agent))),
    ] {
        scenario.apply(edit).unwrap();
    }
    let mut world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
    world.step();
    let index = world.agents.census().find(1).unwrap().index();
    let mut travel = Travel {
        routes: &mut world.routes,
        progress: &mut world.agents.progress[index],
        claim: &mut world.agents.claim[index],
    };
    travel.move_to(Route {
        goals: [Goal::Ground(last)].into(),
        legs: [Leg::Path(Box::new(GroundPath::from(waypoints)))].into(),
        lanelets: [].into(),
    });
    world
}

#[test]
fn every_controller_follows_a_path_over_open_ground() {
    // The path is a half circle with a radius of 30 m. The speed rises and falls along it.
    let radius = 30.0;
    let waypoint = |i: i32| {
        let angle = f64::from(i) * std::f64::consts::PI / 24.0;
        Waypoint {
            pose: Pose {
                position: radius * unit(angle),
                heading: angle + std::f64::consts::FRAC_PI_2,
            },
            speed: if i == 12 { 7.0 } else { 4.0 },
            gear: 1,
        }
    };
    let waypoints: Vec<Waypoint> = (0..=24).map(waypoint).collect();
    // These controllers drive manoeuvres with inputs from their own courses, and do not follow
    // paths.
    let of_courses = ["bay_parking", "pole_balance", "trailer_backing"];
    let controllers = builtin_modules().infos(ModuleKind::Controller);
    let controllers = controllers.iter().map(|(info, _)| info.id);
    let followers: Vec<_> = controllers.filter(|id| !of_courses.contains(id)).collect();
    assert!(followers.len() >= 4, "{followers:?}");
    for controller in followers {
        let mut world = on_a_path(controller, waypoints.clone());
        let (mut worst, mut reach) = (0.0f64, 0.0f64);
        while !world.is_over() && world.time() < 60.0 {
            world.step();
            for vehicle in world.snapshot().vehicles {
                let from_centre = vehicle.pose.position.length();
                worst = worst.max((from_centre - radius).abs());
                reach = reach.max(vehicle.pose.position.y);
            }
        }
        let first = world.finished().next().unwrap();
        assert_eq!(first.status, Status::Arrived, "{controller}");
        // Without the given path, the agent would drive straight along y = 0 and never get this
        // far.
        assert!(reach > 0.8 * radius, "{controller}: {reach}");
        let tolerance = match controller {
            // Its minimum turning radius is 25 m, and it reacts late.
            "fuzzy_driver" => 12.0,
            // As over open ground, it drives from waypoint to waypoint.
            "fuzzy_mechanic" => 12.0,
            _ => 2.0,
        };
        assert!(worst < tolerance, "{controller}: {worst} m off the path");
    }
}

#[test]
fn where_agents_are_stored_changes_nothing() {
    let path = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folder = path.join("../../scenarios");
    let follows = Some(DynamicsLevel::Lane);
    for (name, populate, dynamics) in [
        ("old-town", 0, None),
        ("crossroads", 0, None),
        ("figure-eight", 20, None),
        ("old-town", 60, follows),
    ] {
        let file = folder.join(format!("{name}.scenario.json"));
        let scenario = roadwright_scenario::file::load(&file).unwrap();
        let run = |order: &[AgentIndex], threads: usize| {
            let options = RunOptions {
                populate,
                threads,
                dynamics,
                ..RunOptions::default()
            };
            let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
            world.agents.scatter(order);
            let mut watch = JunctionWatch::default();
            for _ in 0..2500 {
                world.step();
                watch.after_step(&world);
            }
            (world.state_hash(), world.summary(), watch.figures(&world))
        };
        let plain = run(&[], 1);
        // In reverse order, and with scattered indices that leave gaps.
        let backwards: Vec<AgentIndex> = (0..200).map(AgentIndex::new).collect();
        let scattered: Vec<AgentIndex> =
            (0..400).map(|i| AgentIndex::new((i * 173) % 400)).collect();
        assert_eq!(run(&backwards, 1), plain, "{name}");
        assert_eq!(run(&scattered, 2), plain, "{name}");
    }
}

/// Creates a road of 120 m with one lane.
fn straight_road() -> Scenario {
    let mut scenario = Scenario::new("road");
    let style = RoadStyle {
        section: CrossSection::driving(1, 0, 3.5),
        ..street(1, 0)
    };
    draw_street(&mut scenario, (0.0, 0.0), (120.0, 0.0), &style);
    scenario
}

#[test]
fn whose_level_holds_commands_is_asked_where_strides_begin() {
    let scenario = straight_road();
    let lane = |s| Place::lane(roadwright_scenario::RoadId(1), -1, s);
    let samples = |level: DynamicsLevel, dt: f64| {
        let options = RunOptions {
            dt: Some(dt),
            dynamics: Some(level),
            ..RunOptions::default()
        };
        let mut scenario = scenario.clone();
        for id in 1..=3 {
            let agent = Agent {
                name: String::new(),
                vehicle: "car".into(),
                stack: "idm".into(),
                dynamics: None,
                start: lane(20.0 * f64::from(id)),
                via: Vec::new(),
                destination: Some(lane(115.0)),
                depart: 0.0.into(),
                repeat: None.into(),
                speed: 0.0.into(),
            };
            let edit = Edit::Agent(AgentId(id), Some(Box::new(agent)));
            scenario.apply(edit).unwrap();
        }
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        while world.time() < 2.0 {
            world.step();
            // No agent drives with a command that is older than one stride.
            for agent in world.agents.census().driving().collect::<Vec<_>>() {
                let who = &world.agents.identity[agent.index()];
                let begins = (world.clock.step - 1 + who.id)
                    .is_multiple_of(crate::dynamics::stride(level, dt));
                let mut wants = world.agents.command[agent.index()].acceleration;
                if level == DynamicsLevel::Lane {
                    // Level `lane` stores the command in single precision.
                    wants = f64::from(wants as f32);
                }
                let drives = world.agents.motion[agent.index()].acceleration;
                assert!(!begins || wants < 0.1 || (wants - drives).abs() < 1e-9);
            }
        }
        let asked = world
            .agents
            .census()
            .driving()
            .collect::<Vec<_>>()
            .into_iter();
        let asked = asked.map(|agent| world.agents.statistics[agent.index()].samples);
        asked.collect::<Vec<_>>()
    };
    assert_eq!(samples(DynamicsLevel::Lane, 0.01), [10, 10, 10]);
    assert_eq!(samples(DynamicsLevel::Lane, 0.1), [10, 10, 10]);
    let steering = samples(DynamicsLevel::OneTrack, 0.01);
    assert!(steering.iter().all(|&asked| asked >= 66), "{steering:?}");
}

#[test]
fn a_flow_leaves_nothing_but_one_row_for_each_agent() {
    let mut scenario = straight_road();
    let lane = |s| Place::lane(roadwright_scenario::RoadId(1), -1, s);
    let flow = roadwright_scenario::Flow {
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        origin: lane(8.0),
        destination: lane(110.0),
        rate_per_hour: 1200.0.into(),
        begin: 0.0.into(),
        end: 1e6.into(),
    };
    let flow = Edit::Flow(roadwright_scenario::FlowId(1), Some(Box::new(flow)));
    scenario.apply(flow).unwrap();
    let options = RunOptions {
        dt: Some(0.05),
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
    let mut most = [0; 2];
    for (half, steps) in [(0, 20_000), (1, 40_000)] {
        for _ in 0..steps {
            world.step();
            most[half] = most[half].max(world.agents.census().capacity());
        }
    }
    let arrived = world.counts().arrived;
    assert!(arrived > 900, "{arrived}");
    // Indices are reused, so a run that is three times as long needs hardly any additional ones.
    assert!(most[0] < 20 && most[1] <= most[0] + 4, "{most:?}");
    assert!(world.routes.count() <= 1);
    assert_eq!(world.finished.rows.len(), arrived);
    assert!(world.finished.iter().all(|agent| !agent.scores.is_empty()));
}

/// Records of a controller that requests the objects around it: steps, and numbers of objects in
/// the world.
type Asked = std::sync::Arc<std::sync::Mutex<Vec<(u64, usize)>>>;

struct Asking(Asked);

impl roadwright_agent::Logic for Asking {}

impl Controller for Asking {
    fn step(
        &self,
        _: &ParameterSet,
        _: &Step<'_>,
        _: &[ControllerInput],
        _: &mut [ControllerOutput],
    ) {
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        Lookahead {
            time: 0.0,
            distance: 5.0,
        }
    }

    fn needs(&self, _: &ParameterSet) -> Option<Needs> {
        Some(Needs {
            near: Some(NearNeeds {
                radius: 20.0,
                most: 4,
                trees: false,
            }),
            ..Needs::default()
        })
    }

    fn step_with_views(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        views: &Views<'_>,
        _: &[NeedsInput],
        _: &mut [ControllerOutput],
    ) {
        let mut asked = self.0.lock().unwrap();
        asked.push((step.index, views.objects.all.len()));
    }
}

#[test]
fn objects_are_listed_in_steps_in_which_a_controller_that_asks_is_due() {
    for level in [DynamicsLevel::OneTrack, DynamicsLevel::Lane] {
        let asked = Asked::default();
        let notes = asked.clone();
        let info = ModuleInfo {
            id: "asking",
            name: "Asking",
            doc: "Asks for the objects around and does nothing.",
        };
        let mut registry = builtin_modules();
        registry.add(ModuleEntry::<dyn Controller>::new(info, &[], move || {
            Box::new(Asking(notes.clone()))
        }));
        let mut scenario = Scenario::new("street");
        draw_street(&mut scenario, (0.0, 0.0), (200.0, 0.0), &street(1, 0));
        let lane = |s| Place::lane(RoadId(1), -1, s);
        // The second agent is only an object in the list.
        for (number, controller) in [(1, "asking"), (2, "idm")] {
            let stack = Stack::with_controller(controller);
            let agent = Agent {
                name: String::new(),
                vehicle: "car".into(),
                stack: controller.into(),
                dynamics: Some(level),
                start: lane(20.0 * f64::from(number)),
                via: Vec::new(),
                destination: Some(lane(190.0)),
                depart: 0.0.into(),
                repeat: None.into(),
                speed: 0.0.into(),
            };
            let edits = [
                Edit::Stack(controller.into(), Some(Box::new(stack))),
                Edit::Agent(AgentId(number), Some(Box::new(agent))),
            ];
            scenario.apply(Edit::Batch(edits.into())).unwrap();
        }
        let mut world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
        (0..20).for_each(|_| world.step());
        asked.lock().unwrap().clear();
        let mut due = Vec::new();
        for _ in 0..120 {
            let (controlling, census) = (&mut world.scratch.controlling, world.agents.census());
            if controlling.prepare(&world.clock, &world.modules, census) {
                due.push((world.clock.step, 2));
            }
            world.step();
        }
        assert_eq!(*asked.lock().unwrap(), due, "{level}");
        assert!((5..=60).contains(&due.len()), "{level}: {due:?}");
    }
}
