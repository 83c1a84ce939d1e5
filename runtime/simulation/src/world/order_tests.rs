//! Tests that notifications and log lines are in the order of ids, independently of agent indices.

use super::*;
use crate::builtin_modules;
use crate::records::AgentIndex;
use crate::testing::{draw_street, street};
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterSet, StepBoundary,
};
use roadwright_agent::{Step, Swap};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, Flow, FlowId, Place, RoadId, Stack,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Two parallel streets of 200 m each.
fn two_streets() -> Scenario {
    let mut scenario = Scenario::new("streets");
    for y in [0.0, 100.0] {
        draw_street(&mut scenario, (0.0, y), (200.0, y), &street(1, 0));
    }
    scenario
}

/// Creates agents 1 and 2, each on a separate street.
fn with_two_agents(stack: &str) -> Scenario {
    let mut scenario = two_streets();
    for number in 1..=2u32 {
        let lane = |s| Place::lane(RoadId(number), -1, s);
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: stack.into(),
            dynamics: None,
            start: lane(20.0),
            via: Vec::new(),
            destination: Some(lane(190.0)),
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        let edit = Edit::Agent(AgentId(number), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    scenario
}

#[test]
fn who_stands_on_lanes_that_are_too_steep_is_told_by_id() {
    let mut scenario = with_two_agents("idm");
    let (low, high) = (DVec2::new(-100.0, -100.0), DVec2::new(300.0, 200.0));
    let flat = HeightField::level(low, high, 50.0).unwrap();
    let columns = flat.columns();
    let heights = (0..flat.heights().len()).map(|at| 50.0 * (at % columns) as f64);
    let hill = flat.with_heights(heights.collect()).unwrap();
    scenario.apply(Edit::Terrain(Some(Box::new(hill)))).unwrap();
    let options = RunOptions {
        dynamics: Some(DynamicsLevel::Lane),
        ..RunOptions::default()
    };
    for order in [[0, 1], [1, 0]].map(|order| order.map(AgentIndex::new)) {
        let mut world = World::new(&scenario, &builtin_modules(), &options).unwrap();
        world.agents.scatter(&order);
        (0..500).for_each(|_| world.step());
        let told: Vec<u64> = world.log().map(|line| line.agent).collect();
        // Both agents log the same text, but only the line of the first agent is stored.
        assert_eq!(told, [1], "{order:?}");
    }
}

/// Notifications of a module at step boundaries: the step, and the agents added and removed.
type Told = Arc<Mutex<Vec<(u64, Vec<u32>, Vec<u32>)>>>;

/// A module that drives straight on and records its notifications.
struct Listener(Told);

static LISTENER: ModuleInfo = ModuleInfo {
    id: "listener",
    name: "Listener",
    doc: "Drives straight on.",
};

impl Logic for Listener {
    fn has_step_boundary(&self) -> bool {
        true
    }

    fn at_step_boundary(&mut self, _: &mut ParameterSet, at: &StepBoundary<'_>) -> Option<Swap> {
        let told = (at.step, at.added.to_vec(), at.removed.to_vec());
        self.0.lock().unwrap().push(told);
        None
    }
}

impl Controller for Listener {
    fn step(
        &self,
        _: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        for (input, output) in inputs.iter().zip(outputs) {
            output.acceleration = input.road_speed - input.speed;
        }
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        Lookahead {
            time: 0.0,
            distance: 5.0,
        }
    }
}

/// Returns the built-in modules with an additional listener, and the notifications that the
/// listener records.
fn listening(scenario: &mut Scenario) -> (Registry, Told) {
    let told = Told::default();
    let ears = told.clone();
    let mut registry = builtin_modules();
    registry.add(ModuleEntry::<dyn Controller>::new(
        LISTENER,
        &[],
        move || Box::new(Listener(ears.clone())),
    ));
    let stack = Stack::with_controller("listener");
    let edit = Edit::Stack("listener".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    (registry, told)
}

#[test]
fn modules_are_told_of_agents_by_id() {
    let mut scenario = with_two_agents("idm");
    let (registry, told) = listening(&mut scenario);
    for id in 1..=2 {
        let mut agent = scenario.agents()[&AgentId(id)].clone();
        agent.stack = "listener".into();
        let edit = Edit::Agent(AgentId(id), Some(Box::new(agent)));
        scenario.apply(edit).unwrap();
    }
    let mut world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
    // Indices are assigned from the end of the list: agent 1 gets index 1, and agent 2 gets index 0.
    world.agents.scatter(&[0, 1].map(AgentIndex::new));
    while !world.is_over() {
        world.step();
    }
    world.step();
    let told = told.lock().unwrap();
    let added: Vec<_> = told.iter().filter(|told| !told.1.is_empty()).collect();
    let mut removed: Vec<u32> = told.iter().flat_map(|told| told.2.clone()).collect();
    removed.sort_unstable();
    assert_eq!((added.len(), removed), (1, vec![0, 1]));
    assert_eq!(added[0].1, [1, 0]);
}

#[test]
fn a_removal_is_told_a_boundary_before_the_index_is_anothers() {
    let mut scenario = two_streets();
    let (registry, told) = listening(&mut scenario);
    let lane = |s| Place::lane(RoadId(1), -1, s);
    let flow = Flow {
        vehicle: "car".into(),
        stack: "listener".into(),
        dynamics: None,
        origin: lane(8.0),
        destination: lane(190.0),
        rate_per_hour: 1200.0.into(),
        begin: 0.0.into(),
        end: 1e6.into(),
    };
    let edit = Edit::Flow(FlowId(1), Some(Box::new(flow)));
    scenario.apply(edit).unwrap();
    let options = RunOptions {
        dt: Some(0.1),
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &registry, &options).unwrap();
    (0..6000).for_each(|_| world.step());
    let (mut present, mut again) = (BTreeMap::new(), 0);
    for (step, added, removed) in &*told.lock().unwrap() {
        for index in removed {
            let before = present.insert(*index, Err(*step));
            assert!(matches!(before, Some(Ok(_))), "{index} left twice");
            assert!(!added.contains(index), "{index} is in both lists");
        }
        for index in added {
            match present.insert(*index, Ok(*step)) {
                None => {}
                Some(Ok(_)) => panic!("{index} was given to two agents"),
                Some(Err(left)) => {
                    assert!(left < *step, "{index} is another's at once");
                    again += 1;
                }
            }
        }
    }
    assert!(again > 20, "{again} indices were used again");
}
