//! Signals as a script sees them: what shows, who waits, and what an agent asks of them.

use super::agent::{Agent, Memory};
use roadwright_agent::{Demand, Effect, SignalFacts, StageFacts};
use roadwright_scenario::RoadId;
use roadwright_scenario::junction::{Light, StageTimes, Turn};
use std::sync::Arc;

/// Stages are held for so long at most, s: longer ones are cut by the host as well.
pub(super) const LONGEST_HOLD: f64 = 120.0;

/// Signals as a script sees them.
#[derive(Debug, Clone)]
pub(super) struct Signal {
    pub(super) facts: Arc<SignalFacts>,
    /// The node by which the agent has asked for them.
    pub(super) node: u32,
    /// The agent that looks at them; of a script that decides about them, what keeps its memory.
    pub(super) own: Agent,
    /// Whether the script decides about them.
    pub(super) decides: bool,
}

impl Signal {
    /// For a script that decides about signals.
    pub(super) fn decided(facts: Arc<SignalFacts>, own: Agent) -> Self {
        Self {
            node: facts.node,
            facts,
            own,
            decides: true,
        }
    }

    /// What an agent sees of the signals of a node.
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

    /// A list with something of each stage.
    pub(super) fn of_stages<T: Into<rhai::Dynamic>>(
        &self,
        part: impl Fn(&StageFacts) -> T,
    ) -> rhai::Array {
        let stages = self.facts.stages.iter();
        stages.map(|stage| part(stage).into()).collect()
    }

    /// The movements as maps.
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

    /// What a road is shown; `None` if it does not come here.
    pub(super) fn light(&self, road: i64) -> Option<Light> {
        let road = RoadId(u32::try_from(road).ok()?);
        self.facts.lights.get(&road).copied()
    }

    /// What the script that decides about them remembers.
    pub(super) fn memory(&self) -> Result<Memory, String> {
        if self.decides {
            Ok(self.own.memory())
        } else {
            Err("memory: what an agent remembers is in agent.memory".into())
        }
    }

    /// A stage by the number that a script has for it.
    pub(super) fn stage(&self, stage: i64) -> Result<u32, String> {
        let stages = self.facts.stages.len();
        let found = u32::try_from(stage).ok();
        found
            .filter(|&stage| (stage as usize) < stages)
            .ok_or_else(|| {
                let last = stages.saturating_sub(1);
                format!("there is no stage {stage}; they are 0 to {last}")
            })
    }

    /// Lets the agent ask for an effect.
    pub(super) fn ask(&self, what: &str, effect: Effect) -> Result<(), String> {
        if self.decides {
            return Err(format!(
                "{what}: who decides about signals gives the stage from decide"
            ));
        }
        self.own.ask(effect);
        Ok(())
    }
}

/// How a vehicle turns, in the words of `agent.junction_turn`.
fn turn_name(turn: Turn) -> &'static str {
    match turn {
        Turn::Left => "left",
        Turn::Straight => "straight",
        Turn::Right => "right",
        Turn::UTurn => "back",
    }
}

/// Signals of two stages, three vehicles waiting for the second one.
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
        // Bit 0 stands for stage 0, bit 1 for stage 1: each road has one of its own.
        movements: [(1, 1), (2, 2)].map(movement).to_vec(),
        lights: [(RoadId(1), Light::Green), (RoadId(2), Light::Red)].into(),
        stages,
        ..SignalFacts::default()
    })
}
