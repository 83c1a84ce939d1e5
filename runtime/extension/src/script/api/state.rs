//! State of an agent: identity, clock, body, memory.

use super::Registrar;
use super::values::fail;
use crate::script::agent::{Agent, Memory};
use rhai::{Dynamic, ImmutableString};
use roadwright_agent::{AgentFacts, Surroundings};

/// Registers the state of an agent. Before the agent has first seen the scene, numbers are 0 and names are
/// empty, so that scripts that only compare them do not fail.
pub(super) fn properties(api: &mut Registrar) {
    properties! { api, agent: Agent;
        "id" -> "int", "Id of the agent."
            => agent.content().id as i64;
        "time" -> "float", "Simulation time, s."
            => agent.content().time;
        "time_of_day" -> "float", "Time of day in the scenario, h, from 0 to below 24."
            => agent.content().scene.as_ref().map_or(12.0, |scene| scene.time_of_day);
        "speed" -> "float", "Speed of the agent, m/s."
            => agent.content().input.speed;
        "x" -> "float", "East coordinate of the rear axle, m."
            => agent.place().x;
        "y" -> "float", "North coordinate of the rear axle, m."
            => agent.place().y;
        "heading" -> "float", "Heading counter-clockwise from east, rad."
            => agent.content().facts.map_or(0.0, |facts| facts.heading);
        "length" -> "float", "Length of the vehicle, m."
            => agent.content().facts.map_or(0.0, |facts| facts.length);
        "trailers" -> "int", "Number of trailers in tow."
            => agent.content().facts.map_or(0, |facts| i64::from(facts.trailers));
        "vehicle" -> "string", "Name of the agent's vehicle type."
            => own_name(agent, |scene| &scene.vehicles, |facts| facts.vehicle);
        "stack" -> "string", "Name of the agent's stack."
            => own_name(agent, |scene| &scene.stacks, |facts| facts.stack);
        "waiting" -> "float", "Time for which the agent has been stationary, s."
            => agent.content().input.waiting;
        "collisions" -> "int", "Number of collisions so far."
            => i64::from(agent.content().collisions);
        "memory" -> "Memory", "Memory by name: up to 64 numbers, booleans and strings, kept when the script is reloaded. A name without a value gives ()."
            => agent.memory();
    }
    api.indexer(
        |m: &mut Memory, name: &str| m.get(name),
        |m: &mut Memory, name: &str, value: Dynamic| m.set(name, value).or_else(fail),
    );
}

fn own_name(
    agent: &Agent,
    names: fn(&Surroundings) -> &Vec<String>,
    index: fn(&AgentFacts) -> u16,
) -> ImmutableString {
    let content = agent.content();
    let name = content.scene.as_ref().zip(content.facts);
    let name = name.and_then(|(scene, facts)| names(scene).get(index(&facts) as usize));
    name.map_or_else(ImmutableString::new, |name| name.as_str().into())
}
