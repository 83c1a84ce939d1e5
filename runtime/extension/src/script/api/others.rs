//! Other agents: finding them, going where they are, and what can be seen of one.

use super::Registrar;
use super::values::{Outcome, number};
use crate::script::agent::{Agent, OTHER, Other};
use crate::script::budget::charge;
use rhai::{Array, Dynamic, ImmutableString};
use roadwright_agent::AgentFacts;

/// Others within a distance, or by id.
pub(super) fn finding(api: &mut Registrar) {
    call!(
        api,
        "nearby",
        "agent.nearby(radius: float) -> array",
        "Others within a distance, m, the nearest first, 64 at most.",
        |a: &mut Agent, radius: Dynamic| -> Outcome<Array> {
            // The work counts all agents that are near and the area that was searched, not only the 64
            // that are given.
            let (others, work) = a.nearby(number(&radius)?);
            charge(work)?;
            Ok(others.into_iter().map(Dynamic::from).collect())
        }
    );
    call!(
        api,
        "find",
        "agent.find(id: int) -> Other",
        "Another agent that drives, by its id; () if there is none.",
        |a: &mut Agent, id: i64| -> Outcome<Dynamic> {
            charge(OTHER)?;
            Ok(a.find(id).map_or(Dynamic::UNIT, Dynamic::from))
        }
    );
}

/// What one agent sees of another.
pub(super) fn properties(api: &mut Registrar) {
    properties! { api, other: Other;
        "id" -> "int", "Its id."
            => other.facts.id as i64;
        "x" -> "float", "Place of its rear axle to the east, m."
            => other.facts.position.x;
        "y" -> "float", "Place of its rear axle to the north, m."
            => other.facts.position.y;
        "heading" -> "float", "Its heading, rad."
            => other.facts.heading;
        "speed" -> "float", "Its speed, m/s."
            => other.facts.speed;
        "length" -> "float", "Its length, m."
            => other.facts.length;
        "trailers" -> "int", "How many trailers it tows now."
            => i64::from(other.facts.trailers);
        "distance" -> "float", "How far away it is, m."
            => other.distance;
        "angle" -> "float", "Direction to it relative to the own heading, rad, positive to the left."
            => other.angle;
        "vehicle" -> "string", "Name of its vehicle type."
            => other.vehicle.clone();
        "stack" -> "string", "Name of its stack."
            => other.stack.clone();
        "road" -> "int", "Id of the road that it is on; -1 in junctions and on open ground."
            => road_of(Some(&other.facts));
        "offset" -> "float", "Its distance to the left of its lane's middle, m."
            => other.facts.t;
        "indicator" -> "string", "How it signals: left, right, hazard or off."
            => ImmutableString::from(other.facts.indicator.name());
        "lane" -> "int", "Its lane id; 0 where there is none."
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
