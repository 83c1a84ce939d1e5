//! Calling the handlers of a script with a made-up agent: before agents depend on it, and for authors
//! who want to see what one of them does.

use super::agent::{Agent, Mail, Other};
use super::api::{ApiKind, api};
use super::compile::{Compiled, ScriptError};
use super::logic::{call, prepare};
use rhai::{Dynamic, Position};
use roadwright_agent::{AgentFacts, Effect, Scene, Step};
use roadwright_geometry::DVec2;
use roadwright_plugin_api::{BehaviourInput, NOTHING};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What one call of a handler has come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// What it asked for beyond its wishes, in order.
    pub effects: Vec<Effect>,
    /// What the agent remembers afterwards, by name.
    pub memory: Vec<(String, String)>,
    /// What it wishes afterwards, for people.
    pub wishes: String,
}

/// A made-up agent on a free road, another one 10 m ahead of it, and a letter from that.
struct Stage {
    agent: Agent,
    other: Other,
    letter: Mail,
}

impl Stage {
    fn new(compiled: &Compiled, id: u64) -> Self {
        let leader = id + 1;
        let facts = |id: u64, index: u32, x: f64| AgentFacts {
            id,
            index,
            position: DVec2::new(x, 0.0),
            heading: 0.0,
            speed: 8.0,
            length: 4.5,
            vehicle: 0,
            stack: 0,
            road: None,
            lane: -1,
            s: 10.0,
            goal: Some(DVec2::new(200.0, 0.0)),
            has_arrived: false,
            has_more_goals: false,
            leader: (id != leader).then_some(leader),
            follower: None,
        };
        let scene = Arc::new(Scene::new(
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
        let parameters = compiled.parameters.iter();
        let parameters: Vec<_> = parameters.map(|info| (info.key, info.default)).collect();
        let agent = Agent::default();
        let (step, scene_of) = (Step::default(), Some(&scene));
        prepare(&agent, &step, (0, id), &input, scene_of, &parameters);
        Self {
            agent,
            other: Other::new(&scene, &scene.agents[0], &scene.agents[1]),
            letter: Mail {
                from: leader as i64,
                topic: "hello".into(),
                value: 0.0,
                data: BTreeMap::new(),
            },
        }
    }

    /// Calls a handler with what it takes.
    fn call(&self, compiled: &Compiled, event: &str) -> Result<(), ScriptError> {
        let agent = self.agent.clone();
        match event {
            "on_message" => call(compiled, event, (agent, self.letter.clone())),
            "on_near" => call(compiled, event, (agent, self.other.clone())),
            "on_collision" => {
                let other = Dynamic::from(self.other.clone());
                call(compiled, event, (agent, other))
            }
            _ => call(compiled, event, (agent,)),
        }
    }
}

/// Names of all handlers, in the order of the documentation.
fn events() -> Vec<&'static str> {
    let events = api().iter().filter(|item| item.kind == ApiKind::Event);
    events.map(|item| item.name).collect()
}

/// Whether a script has a handler.
fn has(compiled: &Compiled, event: &str) -> bool {
    let two = matches!(event, "on_message" | "on_near" | "on_collision");
    compiled.has(event, if two { 2 } else { 1 })
}

/// Calls every handler of a script once.
pub(super) fn try_out(compiled: &Compiled) -> Result<(), ScriptError> {
    let stage = Stage::new(compiled, 1);
    let all = events().into_iter().filter(|event| has(compiled, event));
    // An agent starts before it does anything else.
    let (first, rest): (Vec<_>, Vec<_>) = all.partition(|event| *event == "on_start");
    let mut order = first.into_iter().chain(rest);
    order.try_for_each(|event| stage.call(compiled, event))
}

/// Calls one handler of a script, after `on_start`, for a made-up agent with an id: it drives 8 m/s on
/// a free road, another one 10 m ahead.
///
/// # Errors
/// What went wrong in the script, or that it has no such handler.
pub fn rehearse(compiled: &Compiled, event: &str, id: u64) -> Result<Rehearsal, ScriptError> {
    if !has(compiled, event) {
        let own: Vec<&str> = events().into_iter().filter(|e| has(compiled, e)).collect();
        let message = format!("there is no handler {event}; there are: {}", own.join(", "));
        let (file, text) = (&compiled.file, &compiled.text);
        return Err(ScriptError::at(file, text, Position::NONE, message));
    }
    let stage = Stage::new(compiled, id);
    if event != "on_start" && has(compiled, "on_start") {
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
