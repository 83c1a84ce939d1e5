//! Tests of controllers that follow paths with a model of their vehicle: after a restore, with
//! several threads, on lanes, and in reverse.

use crate::common::{shipped, straight};
use glam::DVec2;
use roadwright_agent::{
    Behaviour, Effect, Effects, Logic, ModuleEntry, ModuleInfo, ParameterSet, Registry, Slot, Step,
    Surroundings,
};
use roadwright_geometry::math::sin_cos;
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput};
use roadwright_scenario::{
    Agent, AgentId, DynamicsLevel, Edit, ModuleSetting, Place, Scenario, Stack, VehicleType,
};
use roadwright_simulation::{
    Ground, ModuleOverrides, RunOptions, SavedWorld, World, builtin_modules,
};
use roadwright_testing::is_slow;
use std::f64::consts::PI;
use std::sync::Arc;

const LEVELS: [DynamicsLevel; 3] = [
    DynamicsLevel::OneTrack,
    DynamicsLevel::DynamicOneTrack,
    DynamicsLevel::Sliding,
];

/// Behaviour that drives backwards from the origin along an S of two arcs with a radius of 25 m,
/// towards -x.
struct Backer;

static BACKER: ModuleInfo = ModuleInfo {
    id: "backer",
    name: "Backer",
    doc: "Drives backwards along an S.",
};

/// Speed along the path, m/s.
const SPEED: f64 = 1.5;
/// Distance between points of the path, m.
const SPACING: f64 = 0.25;

/// Returns the points of the S: 6 m straight, an arc of 15 m to each side, and 6 m straight.
fn points() -> Vec<DVec2> {
    let (mut at, mut heading) = (DVec2::ZERO, PI);
    let steps = (42.0 / SPACING) as usize;
    let step = |k: usize| {
        let curvature = match (k as f64 + 0.5) * SPACING {
            6.0..21.0 => 0.04,
            21.0..36.0 => -0.04,
            _ => 0.0,
        };
        let turn = SPACING * curvature;
        let (sin, cos) = sin_cos(heading + 0.5 * turn);
        at += SPACING * DVec2::new(cos, sin);
        heading += turn;
        at
    };
    (0..steps).map(step).collect()
}

impl Logic for Backer {}

impl Behaviour for Backer {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        _: Option<&Arc<Surroundings>>,
        _: &[BehaviourInput],
        outputs: &mut [BehaviourOutput],
        effects: &mut Effects,
    ) {
        for output in outputs.iter_mut() {
            output.speed_factor = 1.0;
        }
        let begins = step.time < 0.5 * step.period;
        for &index in step.indices.iter().filter(|_| begins) {
            let path = points().into_iter().map(|point| (point, -SPEED));
            effects.push(index, Effect::DrivePath(path.collect()));
        }
    }
}

fn modules() -> Registry {
    let mut registry = builtin_modules();
    registry.add(ModuleEntry::<dyn Behaviour>::new(BACKER, &[], || {
        Box::new(Backer)
    }));
    registry
}

/// Creates an agent on empty ground that reverses along the S.
fn backing(controller: &str, kind: &VehicleType) -> Scenario {
    let mut scenario = Scenario::new("yard");
    let edit = Edit::VehicleType("own".into(), Some(Box::new(kind.clone())));
    scenario.apply(edit).unwrap();
    let stack = Stack {
        behaviour: ModuleSetting::new("backer"),
        ..Stack::with_controller(controller)
    };
    let edit = Edit::Stack("own".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    let agent = Agent {
        name: "own".into(),
        vehicle: "own".into(),
        stack: "own".into(),
        start: Place::ground(0.0, 0.0, 0.0),
        via: Vec::new(),
        destination: Some(Place::ground(200.0, 0.0, 0.0)),
        depart: 0.0.into(),
        speed: 0.0.into(),
        dynamics: None,
        repeat: None.into(),
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    scenario.apply(edit).unwrap();
    scenario
}

fn at(level: DynamicsLevel) -> RunOptions {
    RunOptions {
        dynamics: Some(level),
        dt: Some(0.02),
        ..straight()
    }
}

fn run(world: &mut World, steps: u64) {
    (0..steps).for_each(|_| world.step());
}

/// Saves and restores a run between two plans, and compares the final state with that of an uninterrupted
/// run.
fn assert_resumes(scenario: &Scenario, options: &RunOptions, moment: u64) {
    let registry = modules();
    let mut whole = World::new(scenario, &registry, options).unwrap();
    run(&mut whole, moment);
    let bytes = whole.save().unwrap().to_bytes();
    let before = whole.state_hash();
    run(&mut whole, 400);
    assert!(whole.failures().is_empty(), "{:?}", whole.failures());
    let saved = SavedWorld::from_bytes(&bytes).unwrap();
    for threads in [1, 2] {
        let options = RunOptions {
            threads,
            ..options.clone()
        };
        let ground = Ground::new(scenario);
        let (mut world, notes) =
            World::restore(ground, scenario, &registry, &options, &saved).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(world.state_hash(), before);
        run(&mut world, 400);
        assert_eq!(world.state_hash(), whole.state_hash(), "{threads} threads");
        let mut again = World::new(scenario, &registry, &options).unwrap();
        run(&mut again, moment + 400);
        assert_eq!(again.state_hash(), whole.state_hash(), "{threads} threads");
    }
}

#[test]
fn plans_resume_after_a_save_and_threads_do_not_matter() {
    for level in LEVELS {
        let mut modules = ModuleOverrides::default();
        let own = modules.set(Slot::Controller, vec!["linear_mpc".into()]);
        assert_eq!(own, Ok(None));
        let options = RunOptions {
            modules,
            dynamics: Some(level),
            dt: Some(0.01),
            populate: 8,
            populate_stack: Some("idm".into()),
            ..RunOptions::default()
        };
        let scenario = shipped("old-town");
        // Plans are made every 5 steps.
        assert_resumes(&scenario, &options, if is_slow() { 803 } else { 203 });
        let scenario = backing("linear_mpc", &VehicleType::car());
        assert_resumes(&scenario, &at(level), 333);
    }
}
