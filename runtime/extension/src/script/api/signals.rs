//! Signals of nodes: what they show, who waits there, and stages that agents call and hold.

use super::Registrar;
use super::values::{Outcome, fail, number};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use crate::script::signal::{LONGEST_HOLD, Signal};
use rhai::{Array, Dynamic, ImmutableString};
use roadwright_agent::Effect;

/// Looking at signals that may be anywhere, in operations.
const LOOK: u64 = 10;
/// Making the map of a movement, in operations.
const MOVEMENT: u64 = 20;

/// Which signals are ahead of an agent, and a look at any.
pub(super) fn of_agent(api: &mut Registrar) {
    properties! { api, agent: Agent;
        "signal_node" -> "int", "Node of the signals at the end of its lane; -1 where there are none."
            => ahead_of(agent).map_or(-1, |(node, _)| i64::from(node));
        // Stages are bits: the lowest one set is the first stage.
        "signal_stage" -> "int", "First stage of those signals in which its way has green; -1 where there are none."
            => ahead_of(agent).map_or(-1, |(_, stages)| i64::from(stages.trailing_zeros()));
    }
    call!(
        api,
        "signal",
        "agent.signal(node: int) -> Signal",
        "The signals of a node, to look at them and to ask for their stages. From then on on_stage is called for them as well; 16 nodes at most.",
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
    // No bit set means no signals ahead; the node beside it says nothing then.
    let ahead = facts.map(|facts| facts.signal_ahead);
    ahead.filter(|(_, stages)| *stages != 0)
}

/// What can be seen of signals.
pub(super) fn properties(api: &mut Registrar) {
    properties! { api, signal: Signal;
        "node" -> "int", "The smallest of their nodes: signals side by side change together."
            => i64::from(signal.facts.node);
        "time" -> "float", "Simulation time, s."
            => signal.facts.time;
        "stage" -> "int", "The stage that is shown, from 0; while they change, the one before."
            => i64::from(signal.facts.stage);
        "next" -> "int", "The stage that comes next while they change; -1 while a stage is shown."
            => signal.facts.next.map_or(-1, i64::from);
        "stages" -> "int", "How many stages there are."
            => signal.facts.stages.len() as i64;
        "elapsed" -> "float", "How long they have shown the stage, or have been changing, s."
            => signal.facts.elapsed;
        "remaining" -> "float", "Until the stage can end, s: what is left of its fixed time, of the shortest green or of a hold; while they change, until the next one begins."
            => signal.facts.remaining;
        "planned" -> "int", "The stage that fixed times would show now, or be changing to."
            => i64::from(signal.facts.planned);
        "queue" -> "array", "For each stage how many of those who have green in it stand before the line or creep, within 150 m."
            => signal.of_stages(|stage| i64::from(stage.demand.queue));
        "waits" -> "array", "For each stage how long the first of them has been standing, s."
            => signal.of_stages(|stage| stage.demand.longest_wait);
        "arrivals" -> "array", "For each stage how many have passed the detectors 40 m before the line since the one that is shown began; 0 where no script decides."
            => signal.of_stages(|stage| i64::from(stage.demand.arrivals));
        "calls" -> "array", "For each stage whether somebody waits for it or has called it."
            => signal.of_stages(|stage| stage.is_called);
        "movements" -> "array", "Maps of road, turn (left, straight, right, back), stages, queue, arrivals and wait: the vehicles of a road that turn in one way."
            => movements_of(signal);
    }
    call!(
        api,
        "state",
        "signal.state(road: int) -> string",
        "The most that the lanes of a road are shown: \"green\", \"amber\", \"red_amber\" before green, or \"red\"; \"none\" if it does not come here.",
        |s: &mut Signal, road: i64| -> ImmutableString {
            s.light(road).map_or("none", |light| light.name()).into()
        }
    );
}

/// What agents ask of them.
pub(super) fn requests(api: &mut Registrar) {
    call!(
        api,
        "request",
        "signal.request(stage: int)",
        "For behaviours: asks for a stage; it comes next, once the shortest green of the one that is shown is over. One that is shown has it already.",
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
        "For behaviours: keeps a stage for so long from now on while it is shown; a green is held for 120 s at most, whoever asks.",
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
        "For behaviours: takes back what this agent has called or held here.",
        |s: &mut Signal| -> Outcome<()> {
            let effect = Effect::ReleaseStage { node: s.node };
            s.ask("release", effect).or_else(fail)
        }
    );
}

/// What scripts that decide about signals have of their own.
pub(super) fn deciding(api: &mut Registrar) {
    api.getter("memory", |s: &mut Signal| s.memory().or_else(fail));
    api.note(
        super::ApiKind::Property,
        "memory",
        "signal.memory -> Memory",
        "For scripts that decide: what they remember of these signals by name, as agent.memory.",
    );
    call!(
        api,
        "parameter",
        "signal.parameter(key: string) -> float",
        "The value of a parameter that the script describes.",
        |s: &mut Signal, key: &str| -> Outcome<f64> { super::modules::parameter_of(&s.own, key) }
    );
}
