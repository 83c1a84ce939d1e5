//! Calls a script's handlers without applying their effects. This tests a script before agents
//! depend on it, and shows authors what a handler does.

use super::agent::{Agent, Mail, Other, Remembered};
use super::api::{ApiKind, api};
use super::compile::{Compiled, ScriptError, runtime_error};
use super::logic::{evaluate, letters, prepare};
use super::signal::{Signal, made_up as made_up_signals};
use super::signal_logic::DECIDE;
use rhai::{Dynamic, EvalAltResult, Position};
use roadwright_agent::{AgentFacts, BehaviourView, Effect, Indicator, Step, Surroundings};
use roadwright_geometry::DVec2;
use roadwright_plugin_api::{BehaviourInput, NOTHING};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An agent of the run is passed to handlers as the other agent only if it is within this distance,
/// m.
const NEAREST: f64 = 500.0;

/// Result of calling a handler.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// Requested effects in order, apart from the lasting requests for the agent.
    pub effects: Vec<Effect>,
    /// Memory of the agent after the call, by name.
    pub memory: Vec<(String, String)>,
    /// Lasting requests for the agent after the call, as text.
    pub wishes: String,
}

/// The agent that a handler is called for.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A mock agent with the given id, which drives at 8 m/s on a free road with another agent 10 m ahead.
    MadeUp(u64),
    /// An agent of a run in its current state. The agent keeps its memory if its behaviour is the called
    /// script.
    Driving {
        /// Input that its behaviour would receive.
        view: Box<BehaviourView>,
        /// Id of the called script.
        script: String,
    },
}

/// Other vehicles around a mock agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// A vehicle 10 m ahead, measured from rear axle to rear axle, and another one 10 m behind.
    Others,
    /// An empty road.
    Nobody,
}

/// The objects that handlers receive: an agent, another agent, and a message.
pub(super) struct Stage {
    agent: Agent,
    other: Option<Other>,
    letter: Mail,
}

impl Stage {
    fn new(compiled: &Compiled, subject: &Subject) -> Self {
        let parameters = compiled.parameters.iter();
        let parameters: Vec<_> = parameters.map(|info| (info.key, info.default)).collect();
        let (agent, scene) = match subject {
            Subject::MadeUp(id) => made_up(*id, &parameters),
            Subject::Driving { view, script } => driving(view, script, &parameters),
        };
        Self::with(agent, &scene)
    }

    /// Creates a mock agent whose perceptions are all consistent with each other.
    pub(super) fn in_company(compiled: &Compiled, company: Company) -> Self {
        let parameters = compiled.parameters.iter();
        let parameters: Vec<_> = parameters.map(|info| (info.key, info.default)).collect();
        let (agent, scene) = in_company(company, &parameters);
        Self::with(agent, &scene)
    }

    fn with(agent: Agent, scene: &Surroundings) -> Self {
        let own = agent.content().facts;
        let other = own.and_then(|own| somebody_else(scene, &own));
        let waiting = own.and_then(|own| letters(scene, own.index).into_iter().next());
        let letter = waiting.unwrap_or_else(|| Mail {
            from: other.as_ref().map_or(0, |other| other.facts.id as i64),
            topic: "hello".into(),
            value: 0.0,
            data: BTreeMap::new(),
        });
        Self {
            agent,
            other,
            letter,
        }
    }

    /// Calls a handler with its arguments.
    fn call(&self, compiled: &Compiled, event: &str) -> Result<(), ScriptError> {
        let ast = &compiled.ast;
        let done = self.call_for(compiled, event);
        done.map(|_| ())
            .map_err(|error| runtime_error(&compiled.file, &compiled.text, ast, &error))
    }

    /// Calls a handler and returns its result.
    pub(super) fn call_for(
        &self,
        compiled: &Compiled,
        event: &str,
    ) -> Result<Dynamic, Box<EvalAltResult>> {
        let agent = self.agent.clone();
        let other = || self.other.clone().map_or(Dynamic::UNIT, Dynamic::from);
        match event {
            "on_message" => evaluate(compiled, event, (agent, self.letter.clone())),
            "on_near" | "on_collision" => evaluate(compiled, event, (agent, other())),
            "on_stage" => evaluate(compiled, event, (agent, 1_i64, 0_i64)),
            // The signals are always mock signals, because the subject from a run is an agent and not the
            // signals of a node.
            DECIDE => {
                let signal = Signal::decided(made_up_signals(), agent);
                evaluate(compiled, event, (signal,))
            }
            _ => evaluate(compiled, event, (agent,)),
        }
    }

    /// Whether the host would call a handler in this situation. On an empty road, for example, no other agent
    /// comes near.
    pub(super) fn may_be_called(&self, event: &str) -> bool {
        event != "on_near" || self.other.is_some()
    }
}

/// Returns the leader, or else the nearest other agent; `None` if none is near.
fn somebody_else(scene: &Surroundings, own: &AgentFacts) -> Option<Other> {
    let leader = own.leader.and_then(|id| scene.with_id(id));
    let nearest = || {
        let near = scene.near(own.position, NEAREST);
        near.into_iter().find(|other| other.id != own.id)
    };
    leader
        .or_else(nearest)
        .map(|other| Other::new(scene, own, other))
}

/// Prepares an agent of a run, with its memory and its current perception.
fn driving(
    view: &BehaviourView,
    script: &str,
    parameters: &[(&'static str, f64)],
) -> (Agent, Arc<Surroundings>) {
    let (behaviour, state) = &view.behaviour;
    // The memory of another script would be misread if names happen to be the same.
    let state = state.as_deref().filter(|_| behaviour == script);
    let kept: Vec<Remembered> = state
        // An unreadable state is ignored, and the rehearsal starts with a new agent.
        .and_then(|state| postcard::from_bytes(state).ok())
        .unwrap_or_default();
    // The behaviour of the run saves its states by agent index.
    let kept = kept.into_iter().nth(view.index as usize);
    // The saved state also records whether the agent has started, in which case `on_start` is not called
    // again.
    let agent = kept.map_or_else(Agent::default, Agent::with_memory);
    let step = Step {
        time: view.time,
        index: view.step,
        seed: view.seed,
        ..Step::default()
    };
    let id = view
        .scene
        .with_index(view.index)
        .map_or(0, |facts| facts.id);
    let scene = view.scene.clone();
    prepare(
        &agent,
        &step,
        view.index,
        id,
        &view.input,
        Some(&scene),
        parameters,
    );
    (agent, scene)
}

/// Creates a mock agent whose perception of its leader agrees with the vehicles in the scene.
fn in_company(company: Company, parameters: &[(&'static str, f64)]) -> (Agent, Arc<Surroundings>) {
    let (agent, scene) = made_up(1, parameters);
    let own = scene.with_id(1).copied();
    let leader = scene.with_id(2).copied();
    let (Some(own), Some(leader)) = (own, leader) else {
        return (agent, scene);
    };
    let behind = AgentFacts {
        id: 3,
        index: 2,
        position: own.position - DVec2::new(10.0, 0.0),
        leader: Some(own.id),
        ..leader
    };
    let (agents, gap) = match company {
        Company::Others => {
            let own = AgentFacts {
                follower: Some(behind.id),
                ..own
            };
            let gap = leader.position.x - own.position.x - leader.length;
            (vec![own, leader, behind], gap)
        }
        Company::Nobody => {
            let own = AgentFacts {
                leader: None,
                ..own
            };
            (vec![own], NOTHING)
        }
    };
    let scene = Arc::new(Surroundings::new(
        agents,
        Vec::new(),
        vec!["car".into()].into(),
        vec!["script".into()].into(),
    ));
    let input = BehaviourInput {
        leader_gap: gap,
        leader_speed: leader.speed,
        ..agent.content().input
    };
    let fresh = Agent::default();
    fresh.content().is_made_up = true;
    let step = Step::default();
    prepare(&fresh, &step, 0, own.id, &input, Some(&scene), parameters);
    (fresh, scene)
}

/// Creates a mock agent on a free road, and another one 10 m ahead of it.
pub(super) fn made_up(id: u64, parameters: &[(&'static str, f64)]) -> (Agent, Arc<Surroundings>) {
    let leader = id.wrapping_add(1);
    let facts = |id: u64, index: u32, x: f64| AgentFacts {
        id,
        index,
        position: DVec2::new(x, 0.0),
        heading: 0.0,
        speed: 8.0,
        length: 4.5,
        vehicle: 0,
        trailers: 2,
        stack: 0,
        road: None,
        lane: -1,
        s: 10.0,
        t: 0.0,
        speed_limit: 13.0,
        signal: None,
        // Node 1, and the bit of its second stage.
        signal_ahead: (1, 2),
        indicator: Indicator::Off,
        goal: Some(DVec2::new(200.0, 0.0)),
        has_arrived: false,
        has_more_goals: false,
        // The second agent is the leader of the first one and has no leader itself.
        leader: (id != leader).then_some(leader),
        follower: None,
    };
    let scene = Arc::new(Surroundings::new(
        vec![facts(id, 0, 0.0), facts(leader, 1, 10.0)],
        Vec::new(),
        vec!["car".into()].into(),
        vec!["script".into()].into(),
    ));
    let input = BehaviourInput {
        speed: 8.0,
        road_speed: 13.0,
        lane_remaining: 100.0,
        target_gap_ahead: NOTHING,
        target_gap_behind: NOTHING,
        leader_gap: NOTHING,
        junction_distance: 100.0,
        goal_distance: 200.0,
        ..BehaviourInput::default()
    };
    let agent = Agent::default();
    agent.content().is_made_up = true;
    prepare(
        &agent,
        &Step::default(),
        0,
        id,
        &input,
        Some(&scene),
        parameters,
    );
    (agent, scene)
}

/// Returns the names of all handlers, in the order of the documentation.
fn events() -> Vec<&'static str> {
    let events = api().iter().filter(|item| item.kind == ApiKind::Event);
    events.map(|item| item.name).collect()
}

/// Whether a script has a handler.
fn has(compiled: &Compiled, event: &str) -> bool {
    let parameters = match event {
        "on_message" | "on_near" | "on_collision" => 2,
        "on_stage" => 3,
        _ => 1,
    };
    compiled.has(event, parameters)
}

impl Compiled {
    /// Returns the handlers of the script, in the order of the documentation.
    fn handlers(&self) -> Vec<&'static str> {
        events()
            .into_iter()
            .filter(|event| has(self, event))
            .collect()
    }
}

/// Returns the handlers of a script in the order of the trial, which starts with `on_start`.
pub(super) fn handlers(compiled: &Compiled) -> Vec<&'static str> {
    let (first, rest): (Vec<_>, Vec<_>) = compiled
        .handlers()
        .into_iter()
        .partition(|event| *event == "on_start");
    first.into_iter().chain(rest).collect()
}

/// Calls each handler of a script once.
pub(super) fn try_out(compiled: &Compiled) -> Result<(), ScriptError> {
    let stage = Stage::new(compiled, &Subject::MadeUp(1));
    let mut order = handlers(compiled).into_iter();
    order.try_for_each(|event| stage.call(compiled, event))
}

/// Calls a handler of a script for an agent. For a new agent, `on_start` is called first. Requested effects are
/// not applied.
///
/// # Errors
/// If the script has a mistake, or no such handler.
pub fn rehearse(
    compiled: &Compiled,
    event: &str,
    subject: &Subject,
) -> Result<Rehearsal, ScriptError> {
    if !has(compiled, event) {
        let own = compiled.handlers().join(", ");
        let message = format!("there is no handler {event}; expected one of: {own}");
        let (file, text) = (&compiled.file, &compiled.text);
        return Err(ScriptError::at(file, text, Position::NONE, message));
    }
    let stage = Stage::new(compiled, subject);
    let has_started = stage.agent.content().has_started;
    if !has_started && event != "on_start" && has(compiled, "on_start") {
        stage.call(compiled, "on_start")?;
    }
    stage.call(compiled, event)?;
    let content = stage.agent.content();
    let memory = content.memory.iter();
    Ok(Rehearsal {
        effects: content.effects.clone(),
        memory: memory
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect(),
        wishes: content.wants.to_string(),
    })
}
