//! Test modules that drive badly.
#![allow(dead_code, reason = "each test binary uses some of these")]

use roadwright_agent::{
    Behaviour, Controller, Effect, Effects, Logic, Lookahead, ModuleEntry, ModuleInfo,
    ParameterInfo, ParameterSet, Registry, Step, Surroundings,
};
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput};
use roadwright_simulation::builtin_modules;
use std::sync::Arc;

/// Returns the built-in modules and the modules of this file.
pub(crate) fn with_test_modules() -> Registry {
    let mut registry = builtin_modules();
    add_to(&mut registry);
    registry
}

/// Adds the modules of this file.
pub(crate) fn add_to(registry: &mut Registry) {
    registry.add(ModuleEntry::<dyn Controller>::new(BLIND, &[], || {
        Box::new(Law(blind))
    }));
    registry.add(ModuleEntry::<dyn Controller>::new(WAYWARD, &[], || {
        Box::new(Law(wayward))
    }));
    registry.add(ModuleEntry::<dyn Controller>::new(JERKY, &[], || {
        Box::new(Law(jerky))
    }));
    registry.add(ModuleEntry::<dyn Controller>::new(UNLAWFUL, &[], || {
        Box::new(Law(unlawful))
    }));
    registry.add(ModuleEntry::<dyn Behaviour>::new(RECKLESS, &[], || {
        Box::new(Reckless)
    }));
    registry.add(ModuleEntry::<dyn Behaviour>::new(TRUANT, &[], || {
        Box::new(Truant)
    }));
    registry.add(ModuleEntry::<dyn Behaviour>::new(
        PACE,
        &PACE_PARAMETERS,
        || Box::new(Pace),
    ));
}

/// Lookahead of the controllers in this file.
const NEAR: Lookahead = Lookahead {
    distance: 5.0,
    time: 0.0,
};

/// A controller whose output is computed by a function.
struct Law(fn(&ControllerInput) -> ControllerOutput);

impl Logic for Law {}

impl Controller for Law {
    fn step(
        &self,
        _: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        for (input, output) in inputs.iter().zip(outputs) {
            *output = (self.0)(input);
        }
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        NEAR
    }
}

static BLIND: ModuleInfo = ModuleInfo {
    id: "blind",
    name: "Blind",
    doc: "Accelerates, whatever is before it.",
};

fn blind(input: &ControllerInput) -> ControllerOutput {
    ControllerOutput {
        acceleration: if input.speed < input.road_speed {
            1.0
        } else {
            0.0
        },
        steering: input.waypoint_angle,
    }
}

static WAYWARD: ModuleInfo = ModuleInfo {
    id: "wayward",
    name: "Wayward",
    doc: "Keeps its speed and steers to the left, wherever its waypoint is.",
};

fn wayward(input: &ControllerInput) -> ControllerOutput {
    ControllerOutput {
        acceleration: if input.speed < 3.0 { 1.0 } else { 0.0 },
        steering: 0.2,
    }
}

static JERKY: ModuleInfo = ModuleInfo {
    id: "jerky",
    name: "Jerky",
    doc: "Keeps distance and speed, alternating between full brake and full throttle.",
};

fn jerky(input: &ControllerInput) -> ControllerOutput {
    let gap = input.leader_gap.min(input.stop_distance + 2.0) - 4.0;
    let safe = (gap.max(0.0) / 2.0).min(input.road_speed);
    ControllerOutput {
        acceleration: if input.speed < safe { 2.0 } else { -4.0 },
        steering: input.waypoint_angle,
    }
}

static UNLAWFUL: ModuleInfo = ModuleInfo {
    id: "unlawful",
    name: "Unlawful",
    doc: "Keeps its distance, and sees no stop line.",
};

fn unlawful(input: &ControllerInput) -> ControllerOutput {
    // Maximum speed at which 3 m/s^2 are sufficient to stop behind a leader that brakes equally
    // hard.
    let distance = (input.leader_gap - 3.0).max(0.0) + input.leader_speed.powi(2) / 6.0;
    let safe = (6.0 * distance).sqrt().min(input.road_speed);
    ControllerOutput {
        acceleration: (2.0 * (safe - input.speed)).clamp(-6.0, 2.0),
        steering: input.waypoint_angle,
    }
}

/// Sets the allowed speed of the road in behaviour outputs.
fn drive_as_allowed(outputs: &mut [BehaviourOutput]) {
    for output in outputs {
        output.speed_factor = 1.0;
    }
}

/// A behaviour that ignores right of way.
struct Reckless;

static RECKLESS: ModuleInfo = ModuleInfo {
    id: "reckless",
    name: "Reckless",
    doc: "Ignores the law.",
};

impl Logic for Reckless {}

impl Behaviour for Reckless {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        _: Option<&Arc<Surroundings>>,
        _: &[BehaviourInput],
        outputs: &mut [BehaviourOutput],
        effects: &mut Effects,
    ) {
        drive_as_allowed(outputs);
        for &index in step.indices {
            effects.push(index, Effect::IgnoreLaw(true));
        }
    }
}

/// A behaviour that leaves its lane after three seconds and stops at a place to the left of the
/// road, which lies along x.
struct Truant;

static TRUANT: ModuleInfo = ModuleInfo {
    id: "truant",
    name: "Truant",
    doc: "Leaves its lane after three seconds.",
};

impl Logic for Truant {}

impl Behaviour for Truant {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        _: Option<&Arc<Surroundings>>,
        _: &[BehaviourInput],
        outputs: &mut [BehaviourOutput],
        effects: &mut Effects,
    ) {
        drive_as_allowed(outputs);
        let is_time = (step.time - 3.0).abs() < 0.5 * step.period;
        for &index in step.indices.iter().filter(|_| is_time) {
            let path = vec![((80.0, 6.0).into(), 5.0), ((120.0, 20.0).into(), 0.0)];
            effects.push(index, Effect::DrivePath(path));
        }
    }
}

/// A behaviour that limits its speed to a fraction of the speed allowed by the road.
struct Pace;

static PACE: ModuleInfo = ModuleInfo {
    id: "pace",
    name: "Pace",
    doc: "Allows itself a share of the speed that the road allows.",
};

static PACE_PARAMETERS: [ParameterInfo; 1] = [ParameterInfo::number(
    "share",
    "",
    (0.0, 2.0),
    1.0,
    "Share of the speed that the road allows.",
)];

impl Logic for Pace {}

impl Behaviour for Pace {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        _: Option<&Arc<Surroundings>>,
        _: &[BehaviourInput],
        outputs: &mut [BehaviourOutput],
        _: &mut Effects,
    ) {
        for output in outputs {
            output.speed_factor = parameters.value("share");
        }
    }
}
