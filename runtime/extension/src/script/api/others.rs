//! Other agents: finding, following and observing them.

use super::Registrar;
use super::values::{Outcome, number};
use crate::script::agent::{Agent, OTHER, Other};
use crate::script::budget::charge;
use rhai::{Array, Dynamic, ImmutableString};
use roadwright_agent::AgentFacts;

/// Registers the functions that find other agents, within a distance or by id.
pub(super) fn finding(api: &mut Registrar) {
    call!(
        api,
        "nearby",
        "agent.nearby(radius: float) -> array",
        "Other agents within `radius` metres, nearest first, at most 64.",
        |a: &mut Agent, radius: Dynamic| -> Outcome<Array> {
            // The cost covers all agents nearby and the searched area, not only the 64 agents that are
            // returned.
            let (others, work) = a.nearby(number(&radius)?);
            charge(work)?;
            Ok(others.into_iter().map(Dynamic::from).collect())
        }
    );
    call!(
        api,
        "find",
        "agent.find(id: int) -> Other",
        "Another driving agent by its id; () if there is none.",
        |a: &mut Agent, id: i64| -> Outcome<Dynamic> {
            charge(OTHER)?;
            Ok(a.find(id).map_or(Dynamic::UNIT, Dynamic::from))
        }
    );
}

/// Registers the properties of another agent.
pub(super) fn properties(api: &mut Registrar) {
    properties! { api, other: Other;
        "id" -> "int", "Id of the other agent."
            => other.facts.id as i64;
        "x" -> "float", "East coordinate of the other vehicle's rear axle, m."
            => other.facts.position.x;
        "y" -> "float", "North coordinate of the other vehicle's rear axle, m."
            => other.facts.position.y;
        "heading" -> "float", "Heading of the other agent, rad."
            => other.facts.heading;
        "speed" -> "float", "Speed of the other agent, m/s."
            => other.facts.speed;
        "length" -> "float", "Length of the other agent's vehicle, m."
            => other.facts.length;
        "trailers" -> "int", "Number of trailers in tow."
            => i64::from(other.facts.trailers);
        "distance" -> "float", "Distance to the other agent, m."
            => other.distance;
        "angle" -> "float", "Direction to the other agent relative to this agent's heading, rad, positive to the left."
            => other.angle;
        "vehicle" -> "string", "Name of the other agent's vehicle type."
            => other.vehicle.clone();
        "stack" -> "string", "Name of the other agent's stack."
            => other.stack.clone();
        "road" -> "int", "Id of the road that the agent is on; -1 in junctions and on open ground."
            => road_of(Some(&other.facts));
        "offset" -> "float", "Offset of the other agent to the left of its lane's centre line, m."
            => other.facts.t;
        "indicator" -> "string", "State of the other vehicle's indicators: left, right, hazard or off."
            => ImmutableString::from(other.facts.indicator.name());
        "lane" -> "int", "Id of the other agent's lane; 0 if there is none."
            => i64::from(other.facts.lane);
    }
}

pub(super) fn other_of(agent: &Agent, id: fn(&AgentFacts) -> Option<u64>) -> Dynamic {
    let id = agent.content().facts.as_ref().and_then(id);
    let other = id.and_then(|id| agent.find(id as i64));
    other.map_or(Dynamic::UNIT, Dynamic::from)
}

pub(super) fn road_of(facts: Option<&AgentFacts>) -> i64 {
    let road = facts.and_then(|facts| facts.road);
    road.map_or(-1, |road| i64::from(road.0))
}
