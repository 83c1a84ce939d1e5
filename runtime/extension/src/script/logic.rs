//! A behaviour driven by a script.

use super::agent::{Agent, Content, Mail, Other, Remembered, Wants};
use super::budget::begin_call;
use super::compile::{Compiled, ScriptError, runtime_error};
use super::folder::ScriptCell;
use super::version::{self, Version};
use crate::failures::{Cause, Failures};
use crate::native_now;
use rhai::{AST, CallFnOptions, FuncArgs, Scope};
use roadwright_agent::{
    Behaviour, Effect, Effects, Failure, Logic, LogicState, Message, Module, ModuleKind,
    ParameterSet, Step, StepBoundary, Surroundings, Swap,
};
use roadwright_plugin_api::{BehaviourInput, BehaviourOutput, NOTHING};
use std::sync::Arc;

/// Time at a standstill after which an agent counts as blocked, s. Further notifications follow at
/// the same interval.
const BLOCKED: f64 = 10.0;
/// Distance within which other agents count as near, m.
const NEAR: f64 = 30.0;
/// Gap to a slower leader below which overtaking starts, m.
const OVERTAKE_GAP: f64 = 40.0;
/// Distance to the end of the lane below which the route takes precedence over the script's choice
/// of lane, m.
const ROUTE_FIRST: f64 = 150.0;
/// Number of consecutive calls with faults after which a script is disabled for an agent.
pub(super) const MOST_FAULTS: u32 = 20;

/// Behaviour driven by a script. The built-in behaviour decides everything that the script leaves open.
pub(super) struct ScriptLogic {
    version: Version,
    base: Module<dyn Behaviour>,
    /// State of the agents as scripts see it, by agent index.
    agents: Vec<Agent>,
    failures: Failures,
}

/// Reason given if the built-in behaviour is used because no version of the script can run.
pub(super) const OFF: &str = "the script is disabled";

impl ScriptLogic {
    pub(super) fn new(cell: Arc<ScriptCell>, base: Module<dyn Behaviour>) -> Self {
        Self {
            version: Version::new(cell, ModuleKind::Behaviour),
            base,
            agents: Vec::new(),
            failures: Failures::default(),
        }
    }

    fn active(&self) -> Option<&Arc<Compiled>> {
        self.version.active()
    }

    /// Counts answers of the built-in behaviour that were left unchanged because the script failed
    /// or is disabled, with the reason.
    fn note_failure(&self, answers: u64, agent: u64, reason: &str) {
        let cause = Cause {
            agent,
            reason,
            depends_on_machine: false,
        };
        self.failures.note(answers, &self.version.name(), cause);
    }
}

/// Calls a function of a script.
pub(super) fn call(
    compiled: &Compiled,
    name: &str,
    arguments: impl FuncArgs,
) -> Result<(), ScriptError> {
    call_for(compiled, name, arguments).map(|_| ())
}

/// Calls a function of a script and returns its result.
pub(super) fn call_for(
    compiled: &Compiled,
    name: &str,
    arguments: impl FuncArgs,
) -> Result<rhai::Dynamic, ScriptError> {
    let result = evaluate(compiled, name, arguments);
    let (text, ast) = (&compiled.text, &compiled.ast);
    result.map_err(|error| runtime_error(&compiled.file, text, ast, &error))
}

/// Calls a function of a script and returns its result, or the error of the engine.
pub(super) fn evaluate(
    compiled: &Compiled,
    name: &str,
    arguments: impl FuncArgs,
) -> Result<rhai::Dynamic, Box<rhai::EvalAltResult>> {
    begin_call();
    // The top level of the script ran at compile time, and since then its constants are in a module.
    let options = CallFnOptions::new().eval_ast(false);
    let (engine, ast): (_, &AST) = (&compiled.engine, &compiled.ast);
    // The scope is empty in each call, because a script keeps its state in `agent.memory`, which is saved
    // with the world.
    let mut scope = Scope::new();
    engine.call_fn_with_options::<rhai::Dynamic>(options, &mut scope, ast, name, arguments)
}

/// Calls all handlers that are due for an agent.
fn run(compiled: &Compiled, agent: &Agent, letters: Vec<Mail>) -> Result<(), ScriptError> {
    let handlers = compiled.handlers;
    // Set before the calls, so that a handler that fails is not called again.
    let begins = !std::mem::replace(&mut agent.content().has_started, true);
    if begins && handlers.start {
        call(compiled, "on_start", (agent.clone(),))?;
    }
    for letter in letters {
        deliver(compiled, agent, letter)?;
    }
    if handlers.stage {
        for (node, stage) in agent.newly_shown() {
            let (node, stage) = (i64::from(node), i64::from(stage));
            call(compiled, "on_stage", (agent.clone(), node, stage))?;
        }
    }
    if handlers.near {
        for other in newly_near(agent) {
            call(compiled, "on_near", (agent.clone(), other))?;
        }
    }
    if handlers.blocked && is_newly_blocked(agent) {
        call(compiled, "on_blocked", (agent.clone(),))?;
    }
    let has_arrived = agent.content().facts.is_some_and(|f| f.has_arrived);
    let is_done = agent.content().has_new_goal || agent.content().is_held();
    if has_arrived && !is_done {
        // At the end of a path, the agent continues to its remaining destinations.
        if agent
            .content()
            .facts
            .is_some_and(|facts| facts.has_more_goals)
        {
            let is_taken = agent.ask(Effect::Rejoin);
            agent.content().has_new_goal |= is_taken;
        } else if handlers.arrive {
            call(compiled, "on_arrive", (agent.clone(),))?;
        }
        let mut content = agent.content();
        let goes_on = content.has_new_goal
            || content.is_held()
            || content.wants.follows.is_some()
            || content.wants.flees.is_some();
        if !goes_on {
            content.effects.push(Effect::Leave);
            return Ok(());
        }
    }
    call(compiled, "behave", (agent.clone(),))
}

/// Calls the handler for a message. There are separate handlers for messages of the host.
fn deliver(compiled: &Compiled, agent: &Agent, letter: Mail) -> Result<(), ScriptError> {
    let handlers = compiled.handlers;
    match letter.topic.as_str() {
        Message::COLLISION => {
            agent.content().collisions += 1;
            if handlers.collision {
                let other = agent.find(letter.from);
                let other = other.map_or(rhai::Dynamic::UNIT, rhai::Dynamic::from);
                call(compiled, "on_collision", (agent.clone(), other))?;
            }
        }
        Message::NO_ROUTE if handlers.no_route => {
            call(compiled, "on_no_route", (agent.clone(),))?;
        }
        Message::NO_ROUTE => {
            let mut content = agent.content();
            content
                .effects
                .push(Effect::Log("there is no route to its destination".into()));
            // An agent that has arrived and cannot continue must not block the road permanently.
            if content.facts.is_some_and(|facts| facts.has_arrived) {
                content.effects.push(Effect::Leave);
            }
        }
        _ if handlers.message => call(compiled, "on_message", (agent.clone(), letter))?,
        _ => {}
    }
    Ok(())
}

fn newly_near(agent: &Agent) -> Vec<Other> {
    let (now, _) = agent.nearby(NEAR);
    let mut ids: Vec<u64> = now.iter().map(|other| other.facts.id).collect();
    // Sorted by id for the search below, because `nearby` sorts by distance.
    ids.sort_unstable();
    let before = std::mem::replace(&mut agent.content().near, ids);
    let is_new = |other: &Other| before.binary_search(&other.facts.id).is_err();
    now.into_iter().filter(is_new).collect()
}

fn is_newly_blocked(agent: &Agent) -> bool {
    let mut content = agent.content();
    let held = content.is_held() || content.facts.is_some_and(|facts| facts.has_arrived);
    // Counts complete periods of ten seconds, so that 9.9 s give 0 and 10 s give 1. Each new period calls the
    // handler.
    let periods = (content.input.waiting / BLOCKED) as u32;
    let is_new = periods > content.told_blocked && !held;
    content.told_blocked = if held { 0 } else { periods };
    is_new
}

impl Content {
    /// Counts consecutive calls with faults. If there are too many, disables the script and its requests for
    /// this agent, and returns a message.
    fn count_faults(&mut self, has_faulted: bool) -> Option<String> {
        if self.faults >= MOST_FAULTS {
            return None;
        }
        self.faults = if has_faulted { self.faults + 1 } else { 0 };
        (self.faults == MOST_FAULTS).then(|| {
            self.wants = Wants::default();
            format!(
                "{MOST_FAULTS} consecutive faults: the script is disabled for this agent until another \
                 version of it is loaded"
            )
        })
    }

    /// Whether the agent is stationary because the script has requested it.
    fn is_held(&self) -> bool {
        let wants = &self.wants;
        wants.is_stopped || self.time < wants.waits_until || wants.braking > 0.0
    }

    /// Applies the requests of the script to the answer of the built-in behaviour.
    fn shape(&mut self, output: &mut BehaviourOutput) {
        let wants = &self.wants;
        output.speed_factor = (output.speed_factor * wants.speed_factor).clamp(0.0, 2.0);
        output.top_speed = if self.is_held() {
            0.0
        } else {
            output.top_speed.min(wants.desired_speed)
        };
        if wants.braking > 0.0 {
            // Added without `ask`, because a lasting wish applies to each call, however many effects the call
            // has requested.
            self.effects.push(Effect::Brake(wants.braking));
        }
        if wants.lane_offset != 0.0 {
            self.effects.push(Effect::LaneOffset(wants.lane_offset));
        }
        self.pull_over();
        let wants = &self.wants;
        if let Some(id) = wants.follows {
            self.effects.push(Effect::Chase(id));
        }
        if let Some(id) = wants.flees {
            self.effects.push(Effect::Flee(id));
        }
        // A script must not make its agent miss a turn, so the route decides near the end of the lane.
        let is_early = self.input.lane_remaining > ROUTE_FIRST;
        let side = match wants.use_lane.filter(|_| is_early) {
            // There is still time for the lane change of the route.
            Some(lane) => {
                output.lane_change = 0.0;
                side_of(self.facts.map_or(0, |facts| facts.lane), lane)
            }
            // The lane change of the route takes precedence.
            None if output.lane_change != 0.0 || self.input.lane_change_needed != 0.0 => return,
            None if self.time < wants.overtakes_until => self.overtaking_side(),
            None => wants.lane,
        };
        let is_there = match side {
            s if s > 0.0 => self.input.lane_left > 0.0,
            s if s < 0.0 => self.input.lane_right > 0.0,
            _ => false,
        };
        if is_there {
            output.lane_change = side;
        }
    }

    /// Requests the pull-over in each call until it has begun. The world refuses the pull-over
    /// while a junction lies within its distance.
    fn pull_over(&mut self) {
        let Some((offset, within)) = self.wants.pulls_over else {
            return;
        };
        // An agent outside the lanes has no remaining lane.
        let is_off_lanes = self.input.lane_remaining >= NOTHING;
        if is_off_lanes && !self.has_new_goal {
            self.wants.pulls_over = None;
            return;
        }
        self.effects.push(Effect::Swerve {
            offset,
            within,
            along: 0.0,
            comes_back: false,
        });
        if is_off_lanes {
            // The request was made outside the lanes, so the world reports that there is no lane.
            self.wants.pulls_over = None;
        }
    }

    /// Returns the side on which there is room to overtake if a slower leader is close: 1 left, -1 right, 0
    /// if there is no slower leader or no room.
    fn overtaking_side(&self) -> f64 {
        let input = &self.input;
        let wished = input.road_speed.min(self.wants.desired_speed);
        // The leader must be at least 1 m/s slower, because overtaking it gains nothing otherwise.
        let is_slow = input.leader_gap < OVERTAKE_GAP && input.leader_speed < wished - 1.0;
        match (is_slow, input.lane_left > 0.0, input.lane_right > 0.0) {
            (true, true, _) => 1.0,
            (true, false, true) => -1.0,
            _ => 0.0,
        }
    }
}

impl Logic for ScriptLogic {
    fn save_state(&self) -> LogicState {
        let agents: Vec<Remembered> = self.agents.iter().map(Agent::remembered).collect();
        LogicState::Bytes(postcard::to_allocvec(&agents).unwrap_or_default())
    }

    fn load_state(&mut self, state: &[u8]) -> Result<(), String> {
        let agents: Vec<Remembered> =
            postcard::from_bytes(state).map_err(|error| error.to_string())?;
        self.agents = agents.into_iter().map(Agent::with_memory).collect();
        Ok(())
    }

    fn version(&self) -> String {
        self.version.name()
    }

    fn failure(&self) -> Option<Failure> {
        self.failures.look(self.active().is_none())
    }

    fn take_failure(&mut self) -> Option<Failure> {
        let is_out = self.active().is_none();
        self.failures.take(is_out)
    }

    fn has_step_boundary(&self) -> bool {
        true
    }

    fn at_step_boundary(
        &mut self,
        parameters: &mut ParameterSet,
        moment: &StepBoundary<'_>,
    ) -> Option<Swap> {
        self.agents
            .resize_with(moment.capacity as usize, Agent::default);
        // The index will be reused for another agent, which must not inherit the state.
        for &index in moment.removed {
            self.agents[index as usize] = Agent::default();
        }
        let swap = self.version.take_newest(parameters, moment)?;
        // A new version starts without faults.
        for agent in &self.agents {
            agent.content().faults = 0;
        }
        Some(swap)
    }
}

impl Behaviour for ScriptLogic {
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        scene: Option<&Arc<Surroundings>>,
        inputs: &[BehaviourInput],
        outputs: &mut [BehaviourOutput],
        effects: &mut Effects,
    ) {
        let (base, values) = (&self.base.logic, &self.base.parameters);
        // The built-in behaviour decides first for all rows. What a script does not request stays as it is,
        // and a script that fails leaves a valid answer.
        base.step(values, step, scene, inputs, outputs, effects);
        let Some(compiled) = self.active() else {
            let answers = step.ids.len() as u64;
            let first = step.ids.iter().min().copied().unwrap_or(u64::MAX);
            self.note_failure(answers, first, OFF);
            leave_all(scene, step, effects);
            return;
        };
        let began = native_now();
        let values = version::values(parameters);
        for (row, (input, output)) in inputs.iter().zip(outputs).enumerate() {
            let (index, id) = (step.indices[row], step.ids[row]);
            let Some(agent) = self.agents.get(index as usize) else {
                continue;
            };
            prepare(agent, step, index, id, input, scene, &values);
            let letters = scene.map_or(Vec::new(), |scene| letters(scene, index));
            let is_off = agent.content().faults >= MOST_FAULTS;
            let done = if is_off {
                Ok(())
            } else {
                run(compiled, agent, letters)
            };
            if is_off {
                self.note_failure(1, id, "the script is disabled after consecutive faults");
            }
            let mut content = agent.content();
            if let Err(error) = &done {
                self.note_failure(1, id, &error.to_string());
                self.version.cell.note_fault(error);
                effects.push(index, Effect::Fault(error.to_string()));
            }
            if let Some(text) = content.count_faults(done.is_err()) {
                effects.push(index, Effect::Fault(text));
            }
            // A mistake in a script must not keep an agent on the road permanently.
            let is_there = content.facts.is_some_and(|facts| facts.has_arrived);
            if (is_off || done.is_err()) && is_there && !content.is_held() {
                effects.push(index, Effect::Leave);
            }
            content.shape(output);
            content.scene = None;
            for effect in content.effects.drain(..) {
                effects.push(index, effect);
            }
        }
        self.version
            .cell
            .note_time(inputs.len(), began.elapsed().as_secs_f64());
    }

    fn wants_scene(&self) -> bool {
        true
    }

    fn wants_signals(&self) -> bool {
        let active = self.active();
        active.is_some_and(|compiled| compiled.looks_at_signals)
    }

    fn handles_arrival(&self) -> bool {
        let active = self.active();
        active.is_some_and(|compiled| compiled.handlers.arrive)
    }
}

/// Returns the side of the lane `own` on which the lane `wanted` is, seen in the driving direction. Lanes
/// with negative ids run along the road and are counted to the right. Lanes with positive ids run in the
/// opposite direction.
fn side_of(own: i8, wanted: i8) -> f64 {
    // Beyond the reference line, traffic is oncoming.
    if own == 0 || own.signum() != wanted.signum() {
        return 0.0;
    }
    // From lane -1 to -2 is one step down, to the right. From lane 2 to 1 is also one step down, but the lane
    // runs in the opposite direction, and the reference line is to its left.
    let steps = i16::from(wanted) - i16::from(own);
    f64::from(if own < 0 {
        steps.signum()
    } else {
        -steps.signum()
    })
}

/// Removes agents that have arrived if there is no script that can run.
fn leave_all(scene: Option<&Arc<Surroundings>>, step: &Step<'_>, effects: &mut Effects) {
    for &index in step.indices {
        let facts = scene.and_then(|scene| scene.with_index(index));
        if facts.is_some_and(|facts| facts.has_arrived) {
            effects.push(index, Effect::Leave);
        }
    }
}

pub(super) fn prepare(
    agent: &Agent,
    step: &Step<'_>,
    index: u32,
    id: u64,
    input: &BehaviourInput,
    scene: Option<&Arc<Surroundings>>,
    parameters: &[(&'static str, f64)],
) {
    let mut content = agent.content();
    content.id = id;
    content.time = step.time;
    content.seed = step.seed_of(id);
    content.drawn = 0;
    content.input = *input;
    content.facts = scene.and_then(|scene| scene.with_index(index)).copied();
    content.scene = scene.cloned();
    // An agent that has been removed is no longer followed.
    let drives = |id: &u64| scene.is_some_and(|scene| scene.with_id(*id).is_some());
    content.wants.follows = content.wants.follows.filter(drives);
    content.wants.flees = content.wants.flees.filter(drives);
    content.has_new_goal = false;
    if content.parameters != parameters {
        content.parameters = parameters.to_vec();
    }
}

/// Returns the pending messages of an agent.
pub(super) fn letters(scene: &Surroundings, index: u32) -> Vec<Mail> {
    let mail = scene.mail_of(index).iter();
    mail.map(|message| Mail {
        from: message.from as i64,
        topic: message.letter.topic.as_str().into(),
        value: message.letter.value,
        data: message.letter.data.clone(),
    })
    .collect()
}
