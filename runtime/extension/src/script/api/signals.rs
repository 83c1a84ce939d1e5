//! Signals of nodes: their state, waiting traffic, and stages that agents request and hold.

use super::Registrar;
use super::values::{Outcome, fail, number};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use crate::script::signal::{LONGEST_HOLD, Signal};
use rhai::{Array, Dynamic, ImmutableString};
use roadwright_agent::Effect;

/// Cost of looking up any signals, in operations.
const LOOK: u64 = 10;
/// Cost of creating the map of a movement, in operations.
const MOVEMENT: u64 = 20;

/// Registers the signals ahead of an agent, and the look-up of any signals.
pub(super) fn of_agent(api: &mut Registrar) {
    properties! { api, agent: Agent;
        "signal_node" -> "int", "Node of the signals at the end of the agent's lane; -1 if there are none."
            => ahead_of(agent).map_or(-1, |(node, _)| i64::from(node));
        // Stages are bits, of which the lowest one that is set is the first stage.
        "signal_stage" -> "int", "First stage of the signals at the end of the agent's lane in which the agent's movement has green; -1 if there are none."
            => ahead_of(agent).map_or(-1, |(_, stages)| i64::from(stages.trailing_zeros()));
    }
    call!(
        api,
        "signal",
        "agent.signal(node: int) -> Signal",
        "Signals of a node, for reading their state and requesting stages. on_stage is then also called for them. At most 16 nodes.",
        |a: &mut Agent, node: i64| -> Outcome<Signal> {
            charge(LOOK)?;
            let signal = Signal::seen_by(a, node).or_else(fail)?;
            a.watch(&signal).or_else(fail)?;
            Ok(signal)
        }
    );
}

fn movements_of(signal: &Signal) -> Outcome<Array> {
    charge(MOVEMENT * signal.facts.movements.len() as u64)?;
    Ok(signal.movements())
}

fn ahead_of(agent: &Agent) -> Option<(u32, u32)> {
    let facts = agent.content().facts;
    // If no bit is set, there are no signals ahead and the node has no meaning.
    let ahead = facts.map(|facts| facts.signal_ahead);
    ahead.filter(|(_, stages)| *stages != 0)
}

/// Registers the properties of signals.
pub(super) fn properties(api: &mut Registrar) {
    properties! { api, signal: Signal;
        "node" -> "int", "Smallest id of the nodes that these signals control; adjacent signals change together."
            => i64::from(signal.facts.node);
        "time" -> "float", "Simulation time, s."
            => signal.facts.time;
        "stage" -> "int", "Current stage, from 0; the previous one during a change."
            => i64::from(signal.facts.stage);
        "next" -> "int", "Next stage during a change; -1 while a stage is shown."
            => signal.facts.next.map_or(-1, i64::from);
        "stages" -> "int", "Number of stages."
            => signal.facts.stages.len() as i64;
        "elapsed" -> "float", "Time since the stage began or, during a change, since the change began, s."
            => signal.facts.elapsed;
        "remaining" -> "float", "Time until the stage can end, s: the rest of its fixed time, of the minimum green or of a hold; during a change, the time until the next stage begins."
            => signal.facts.remaining;
        "planned" -> "int", "Stage that the fixed-time plan would show now, or to which it would be changing."
            => i64::from(signal.facts.planned);
        "queue" -> "array", "For each stage, the number of vehicles served by it that are stopped \
             or crawling within 150 m of the stop line."
            => signal.of_stages(|stage| i64::from(stage.demand.queue));
        "waits" -> "array", "For each stage, the longest time for which a vehicle in its queue has \
                             been stationary, s."
            => signal.of_stages(|stage| stage.demand.longest_wait);
        "arrivals" -> "array", "For each stage, the number of vehicles served by it that have \
             passed the detectors, 40 m before the stop line, since the current stage began; 0 \
             unless a script controls the signals."
            => signal.of_stages(|stage| i64::from(stage.demand.arrivals));
        "calls" -> "array", "For each stage, whether it has been requested or traffic is waiting \
                             for it."
            => signal.of_stages(|stage| stage.is_called);
        "movements" -> "array", "Movements at these signals: the vehicles of one road that make the same turn. Each is a map with road, turn (left, straight, right, back), stages, queue, arrivals and wait."
            => movements_of(signal);
    }
    call!(
        api,
        "state",
        "signal.state(road: int) -> string",
        "Most permissive aspect for the lanes of a road: \"green\", \"amber\", \"red_amber\" before green, or \"red\"; \"none\" if the road does not lead here.",
        |s: &mut Signal, road: i64| -> ImmutableString {
            s.light(road).map_or("none", |light| light.name()).into()
        }
    );
}

/// Registers the functions that agents use to send requests to signals.
pub(super) fn requests(api: &mut Registrar) {
    call!(
        api,
        "request",
        "signal.request(stage: int)",
        "For behaviours: requests a stage, which follows after the minimum green of the current stage. If that stage is green already, this only withdraws an earlier request of the agent.",
        |s: &mut Signal, stage: i64| -> Outcome<()> {
            let (node, stage) = (s.node, s.stage(stage).or_else(fail)?);
            let effect = Effect::CallStage { node, stage };
            s.ask("request", effect).or_else(fail)
        }
    );
    call!(
        api,
        "hold",
        "signal.hold(stage: int, seconds: float)",
        "For behaviours: holds a stage. For this many seconds from now, the stage does not end \
         once it is shown; a green can be held for at most 120 s in total.",
        |s: &mut Signal, stage: i64, seconds: Dynamic| -> Outcome<()> {
            let (node, stage) = (s.node, s.stage(stage).or_else(fail)?);
            let effect = Effect::HoldStage {
                node,
                stage,
                seconds: number(&seconds)?.clamp(0.0, LONGEST_HOLD),
            };
            s.ask("hold", effect).or_else(fail)
        }
    );
    call!(
        api,
        "release",
        "signal.release()",
        "For behaviours: withdraws the requests and holds of this agent.",
        |s: &mut Signal| -> Outcome<()> {
            let effect = Effect::ReleaseStage { node: s.node };
            s.ask("release", effect).or_else(fail)
        }
    );
}

/// Registers the items for scripts that control signals.
pub(super) fn deciding(api: &mut Registrar) {
    api.getter("memory", |s: &mut Signal| s.memory().or_else(fail));
    api.note(
        super::ApiKind::Property,
        "memory",
        "signal.memory -> Memory",
        "Values that a signal controller stores for these signals, by name. Works like agent.memory.",
    );
    call!(
        api,
        "parameter",
        "signal.parameter(key: string) -> float",
        "Value of a parameter that the script declares.",
        |s: &mut Signal, key: &str| -> Outcome<f64> { super::modules::parameter_of(&s.own, key) }
    );
}
