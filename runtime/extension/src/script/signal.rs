//! Signals as a script sees them, with aspects, waiting traffic, and requests of agents.

use super::agent::{Agent, Memory};
use roadwright_agent::{Demand, Effect, SignalFacts, StageFacts};
use roadwright_scenario::RoadId;
use roadwright_scenario::junction::{Light, StageTimes, Turn};
use std::sync::Arc;

/// Maximum time for which a stage can be held, s. The host also enforces this limit.
pub(super) const LONGEST_HOLD: f64 = 120.0;

/// Signals as a script sees them.
#[derive(Debug, Clone)]
pub(super) struct Signal {
    pub(super) facts: Arc<SignalFacts>,
    /// Node that the agent used to look up the signals.
    pub(super) node: u32,
    /// The agent that looks at the signals or, for a signal controller, the object that holds its memory.
    pub(super) own: Agent,
    /// Whether the script controls the signals.
    pub(super) decides: bool,
}

impl Signal {
    /// Creates the object for a script that controls the signals.
    pub(super) fn decided(facts: Arc<SignalFacts>, own: Agent) -> Self {
        Self {
            node: facts.node,
            facts,
            own,
            decides: true,
        }
    }

    /// Returns the signals of a node as an agent sees them.
    pub(super) fn seen_by(agent: &Agent, node: i64) -> Result<Self, String> {
        let content = agent.content();
        let number = u32::try_from(node).ok();
        let known = content
            .scene
            .as_ref()
            .and_then(|scene| scene.signals.get(&number?).cloned());
        let made_up = || content.is_made_up.then(made_up);
        let Some(facts) = known.or_else(made_up) else {
            return Err(format!("there are no signals at node {node}"));
        };
        drop(content);
        Ok(Self {
            node: number.unwrap_or(facts.node),
            facts,
            own: agent.clone(),
            decides: false,
        })
    }

    /// Returns a list with a value for each stage.
    pub(super) fn of_stages<T: Into<rhai::Dynamic>>(
        &self,
        part: impl Fn(&StageFacts) -> T,
    ) -> rhai::Array {
        let stages = self.facts.stages.iter();
        stages.map(|stage| part(stage).into()).collect()
    }

    /// Returns the movements as maps.
    pub(super) fn movements(&self) -> rhai::Array {
        let movement = |facts: &roadwright_agent::MovementFacts| {
            let stages = (0..self.facts.stages.len() as u32)
                .filter(|stage| facts.stages & (1 << stage) != 0)
                .map(|stage| rhai::Dynamic::from(i64::from(stage)));
            let mut map = rhai::Map::new();
            map.insert("road".into(), i64::from(facts.road.0).into());
            map.insert("turn".into(), turn_name(facts.turn).into());
            map.insert("stages".into(), stages.collect::<rhai::Array>().into());
            map.insert("queue".into(), i64::from(facts.demand.queue).into());
            map.insert("arrivals".into(), i64::from(facts.demand.arrivals).into());
            map.insert("wait".into(), facts.demand.longest_wait.into());
            rhai::Dynamic::from(map)
        };
        self.facts.movements.iter().map(movement).collect()
    }

    /// Returns the aspect for a road; `None` if the road does not lead here.
    pub(super) fn light(&self, road: i64) -> Option<Light> {
        let road = RoadId(u32::try_from(road).ok()?);
        self.facts.lights.get(&road).copied()
    }

    /// Returns the memory of the script that controls the signals.
    pub(super) fn memory(&self) -> Result<Memory, String> {
        if self.decides {
            Ok(self.own.memory())
        } else {
            Err("memory: use agent.memory for the memory of an agent".into())
        }
    }

    /// Converts a stage number from a script to a stage index.
    pub(super) fn stage(&self, stage: i64) -> Result<u32, String> {
        let stages = self.facts.stages.len();
        let found = u32::try_from(stage).ok();
        found
            .filter(|&stage| (stage as usize) < stages)
            .ok_or_else(|| {
                let last = stages.saturating_sub(1);
                format!("there is no stage {stage}; expected 0 to {last}")
            })
    }

    /// Lets the agent request an effect.
    pub(super) fn ask(&self, what: &str, effect: Effect) -> Result<(), String> {
        if self.decides {
            return Err(format!(
                "{what}: a signal controller must return the stage from decide instead"
            ));
        }
        self.own.ask(effect);
        Ok(())
    }
}

/// Returns the name of a turn, as in `agent.junction_turn`.
fn turn_name(turn: Turn) -> &'static str {
    match turn {
        Turn::Left => "left",
        Turn::Straight => "straight",
        Turn::Right => "right",
        Turn::UTurn => "back",
    }
}

/// Creates mock signals with two stages, with three vehicles waiting for the second one.
pub(super) fn made_up() -> Arc<SignalFacts> {
    let stage = |queue, longest_wait| StageFacts {
        times: StageTimes {
            green: 25.0,
            min: 6.0,
            max: 50.0,
        },
        demand: Demand {
            queue,
            arrivals: queue,
            longest_wait,
        },
        is_called: queue > 0,
    };
    let stages = vec![stage(0, 0.0), stage(3, 12.0)];
    let movement = |(road, bits): (u32, u32)| roadwright_agent::MovementFacts {
        road: RoadId(road),
        turn: Turn::Straight,
        stages: bits,
        demand: stages[bits as usize - 1].demand,
    };
    Arc::new(SignalFacts {
        node: 1,
        elapsed: 8.0,
        // Bit 0 is stage 0, bit 1 is stage 1; each road has its own stage.
        movements: [(1, 1), (2, 2)].map(movement).to_vec(),
        lights: [(RoadId(1), Light::Green), (RoadId(2), Light::Red)].into(),
        stages,
        ..SignalFacts::default()
    })
}
