//! Functions that a script defines for the host to call, and functions that do not need an agent.

use super::values::{fail, number};
use super::{ApiKind, Registrar};
use crate::script::compile::Parameters;
use rhai::{Dynamic, Engine};
use roadwright_geometry::DVec2;

pub(super) fn events(api: &mut Registrar) {
    use ApiKind::Event;
    for (name, signature, doc) in [
        (
            "behave",
            "fn behave(agent)",
            "Called for every agent at the rate of its stack (4 Hz by default). Every behaviour script must define it.",
        ),
        (
            "decide",
            "fn decide(signal)",
            "Makes the script a signal controller instead of a behaviour. Called once a second after the minimum green of the current stage; returns the next stage, or () to keep the current one.",
        ),
        (
            "on_start",
            "fn on_start(agent)",
            "Called once, before the first behave.",
        ),
        (
            "on_arrive",
            "fn on_arrive(agent)",
            "Called at the last destination. Afterwards, the agent is removed, unless the script gives it a new destination or makes it wait.",
        ),
        (
            "on_blocked",
            "fn on_blocked(agent)",
            "Called when the agent has been stationary for ten seconds, and every ten seconds \
             after that, unless the script itself has stopped the agent.",
        ),
        (
            "on_message",
            "fn on_message(agent, message)",
            "Called for every message that has arrived since the last call.",
        ),
        (
            "on_near",
            "fn on_near(agent, other)",
            "Called for every agent that has come within 30 m since the last call.",
        ),
        (
            "on_collision",
            "fn on_collision(agent, other)",
            "Called for every collision of the agent since the last call; other is () if it was not with a vehicle.",
        ),
        (
            "on_no_route",
            "fn on_no_route(agent)",
            "Called if go_to finds no route. If the script does not define this handler, an agent that has already arrived is removed.",
        ),
        (
            "on_stage",
            "fn on_stage(agent, node, stage)",
            "Called when signals have changed stage since the last call. This includes the signals at the end of the agent's lane, and those that the script has looked up with signal(node).",
        ),
    ] {
        api.note(Event, name, signature, doc);
    }
}

/// Registers `parameter`, the only function that differs between scripts, because every script has
/// a different list of parameters.
pub(in crate::script) fn parameter(engine: &mut Engine, described: Parameters) {
    engine.register_fn(
        "parameter",
        move |key: &str, default: Dynamic, min: Dynamic, max: Dynamic, unit: &str, doc: &str| {
            let (default, min, max) = (number(&default)?, number(&min)?, number(&max)?);
            described
                .add(key, min, max, default, unit, doc)
                .or_else(fail)
        },
    );
}

pub(super) fn functions(api: &mut Registrar) {
    use ApiKind::Function;
    api.note(
        Function,
        "parameter",
        "parameter(key: string, default: float, min: float, max: float, unit: string, doc: string)",
        "Declares a parameter that stacks can set and that the editor shows as a slider; belongs \
         at the top of a script.",
    );
    api.function("distance", |x1: f64, y1: f64, x2: f64, y2: f64| {
        (DVec2::new(x1, y1) - DVec2::new(x2, y2)).length()
    });
    api.note(
        Function,
        "distance",
        "distance(x1: float, y1: float, x2: float, y2: float) -> float",
        "Distance between two positions, m.",
    );
}
