//! What a script defines for the host to call, and functions that need no agent.

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
            "Called for every agent at the rate of its stack (4 Hz unless it says otherwise). Every script that is a behaviour has it.",
        ),
        (
            "decide",
            "fn decide(signal)",
            "Makes the script a controller of signals instead of a behaviour. Called once a second when the shortest green of the stage that is shown is over; gives the stage that is to come, or () to keep this one.",
        ),
        (
            "on_start",
            "fn on_start(agent)",
            "Called once, before the first behave.",
        ),
        (
            "on_arrive",
            "fn on_arrive(agent)",
            "Called at the last destination. Without a new destination or a wait the agent then leaves the road.",
        ),
        (
            "on_blocked",
            "fn on_blocked(agent)",
            "Called when the agent has been standing for ten seconds, and every ten seconds after that, unless it stands because the script wants it to.",
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
            "Called for every collision that it has been in since the last call; other is () if it was not with a vehicle.",
        ),
        (
            "on_no_route",
            "fn on_no_route(agent)",
            "Called after a go_to to a place that no route leads to. Without this handler an agent that has arrived then leaves the road.",
        ),
        (
            "on_stage",
            "fn on_stage(agent, node, stage)",
            "Called when signals show another stage than at the last call: those at the end of its lane, and those that it has looked at with signal(node).",
        ),
    ] {
        api.note(Event, name, signature, doc);
    }
}

/// The one function that is not the same for all scripts: each has its own list of parameters.
pub(in crate::script) fn parameter(engine: &mut Engine, described: Parameters) {
    engine.register_fn(
        "parameter",
        move |key: &str, default: Dynamic, min: Dynamic, max: Dynamic, unit: &str, doc: &str| {
            let (default, min, max) = (number(&default)?, number(&min)?, number(&max)?);
            described
                .add(key, (min, max), default, unit, doc)
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
        "At the top of a script: describes a parameter that stacks can set and the editor shows as a slider.",
    );
    api.function("distance", |x1: f64, y1: f64, x2: f64, y2: f64| {
        (DVec2::new(x1, y1) - DVec2::new(x2, y2)).length()
    });
    api.note(
        Function,
        "distance",
        "distance(x1: float, y1: float, x2: float, y2: float) -> float",
        "Distance between two places, m.",
    );
}
