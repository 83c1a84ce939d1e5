//! Where an agent is, and what its route leads it to.

use super::Registrar;
use super::others::{other_of, road_of};
use super::values::{Outcome, number, turn_name};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use rhai::{Dynamic, ImmutableString};
use roadwright_geometry::DVec2;
use roadwright_scenario::junction::Light;

/// Looking along the way ahead, in operations.
const LOOK_AHEAD: u64 = 20;

fn light_name(light: Option<Light>) -> &'static str {
    light.map_or("none", Light::name)
}

/// Its lane: which one, how fast, how far to its end.
pub(super) fn lane(api: &mut Registrar) {
    properties! { api, agent: Agent;
        "road" -> "int", "Id of the road that it is on; -1 in junctions and on open ground."
            => road_of(agent.content().facts.as_ref());
        "lane" -> "int", "Lane id on that road; 0 where there is none."
            => agent.content().facts.map_or(0, |facts| i64::from(facts.lane));
        "s" -> "float", "Distance along its lane, m."
            => agent.content().facts.map_or(0.0, |facts| facts.s);
        "road_speed" -> "float", "Speed that limit and bends allow here, m/s."
            => agent.content().input.road_speed;
        "speed_limit" -> "float", "Speed limit of its lane, m/s."
            => agent.content().facts.map_or(0.0, |facts| facts.speed_limit);
        "signal" -> "string", "What the traffic signals at the end of its lane show for its way: \"red\", \"red_amber\" before green, \"amber\" or \"green\"; \"none\" where there are none."
            => ImmutableString::from(light_name(agent.content().facts.and_then(|facts| facts.signal)));
    }
    call!(
        api,
        "road_speed_within",
        "agent.road_speed_within(distance: float) -> float",
        "Lowest speed that limits and bends allow on its route within a distance, m/s; it looks 200 m ahead at most. A million if the route ends before.",
        |a: &mut Agent, distance: Dynamic| -> Outcome<f64> {
            charge(LOOK_AHEAD)?;
            Ok(a.road_speed_within(number(&distance)?))
        }
    );
    properties! { api, agent: Agent;
        "offset" -> "float", "Distance to the left of its lane's middle, m; off the lanes, of the middle of the nearest lane that leads where it heads."
            => agent.content().facts.map_or(0.0, |facts| facts.t);
        "lane_remaining" -> "float", "Distance to the end of the lane, or to the place beside the goal where that lies on a lane to change to, m."
            => agent.content().input.lane_remaining;
        "has_lane_left" -> "bool", "Whether there is a lane to the left to change to."
            => agent.content().input.lane_left > 0.0;
        "has_lane_right" -> "bool", "Whether there is a lane to the right to change to."
            => agent.content().input.lane_right > 0.0;
    }
}

/// Vehicles before and behind it, the next junction, its destination.
pub(super) fn ahead(api: &mut Registrar) {
    properties! { api, agent: Agent;
        "leader" -> "Other", "The vehicle ahead on its route, within 200 m; () if there is none."
            => other_of(agent, |facts| facts.leader);
        "follower" -> "Other", "The nearest vehicle that has this one ahead on its route; () if there is none."
            => other_of(agent, |facts| facts.follower);
        "leader_gap" -> "float", "Free space to the vehicle ahead in the lane, m; a million if there is none."
            => agent.content().input.leader_gap;
        "leader_speed" -> "float", "Speed of the vehicle ahead in the lane, m/s."
            => agent.content().input.leader_speed;
        "junction_distance" -> "float", "Distance to the next junction on the route, m; a million if there is none."
            => agent.content().input.junction_distance;
        "junction_turn" -> "string", "How the route leads through it: left, right, straight or back."
            => turn_name(agent.content().input.junction_turn);
        "goal_distance" -> "float", "Straight distance to the next destination, m."
            => agent.content().input.goal_distance;
        "goal_x" -> "float", "Place of the next destination to the east, m."
            => goal_of(agent).x;
        "goal_y" -> "float", "Place of the next destination to the north, m."
            => goal_of(agent).y;
    }
}

fn goal_of(agent: &Agent) -> DVec2 {
    let content = agent.content();
    let facts = content.facts;
    // Without a destination it is where it stands: distances to it are then 0.
    let goal = facts.and_then(|facts| facts.goal);
    goal.unwrap_or_else(|| facts.map_or(DVec2::ZERO, |facts| facts.position))
}
