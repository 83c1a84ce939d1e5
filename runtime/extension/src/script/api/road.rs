//! Position of an agent on the road, and its route ahead.

use super::Registrar;
use super::others::{other_of, road_of};
use super::values::{Outcome, number, turn_name};
use crate::script::agent::Agent;
use crate::script::budget::charge;
use rhai::{Dynamic, ImmutableString};
use roadwright_geometry::DVec2;
use roadwright_scenario::junction::Light;

/// Cost of looking along the route ahead, in operations.
const LOOK_AHEAD: u64 = 20;

fn light_name(light: Option<Light>) -> &'static str {
    light.map_or("none", Light::name)
}

/// Registers the identity, speed limit and remaining length of the agent's lane.
pub(super) fn lane(api: &mut Registrar) {
    properties! { api, agent: Agent;
        "road" -> "int", "Id of the road that the agent is on; -1 in junctions and on open ground."
            => road_of(agent.content().facts.as_ref());
        "lane" -> "int", "Lane id on that road; 0 if there is none."
            => agent.content().facts.map_or(0, |facts| i64::from(facts.lane));
        "s" -> "float", "Distance of the agent along its lane, m."
            => agent.content().facts.map_or(0.0, |facts| facts.s);
        "road_speed" -> "float", "Speed allowed here by the speed limit and the bends, m/s."
            => agent.content().input.road_speed;
        "speed_limit" -> "float", "Speed limit of the agent's lane, m/s."
            => agent.content().facts.map_or(0.0, |facts| facts.speed_limit);
        "signal" -> "string", "Aspect that the traffic signals at the end of the agent's lane show for its route: \"red\", \"red_amber\" before green, \"amber\" or \"green\"; \"none\" without signals."
            => ImmutableString::from(light_name(agent.content().facts.and_then(|facts| facts.signal)));
    }
    call!(
        api,
        "road_speed_within",
        "agent.road_speed_within(distance: float) -> float",
        "Lowest speed that speed limits and bends allow on the agent's route within the given distance \
         (at most 200 m), or up to the end of the route if that is nearer, m/s; 1,000,000 while \
         its road is not known yet.",
        |a: &mut Agent, distance: Dynamic| -> Outcome<f64> {
            charge(LOOK_AHEAD)?;
            Ok(a.road_speed_within(number(&distance)?))
        }
    );
    properties! { api, agent: Agent;
        "offset" -> "float", "Offset of the agent to the left of its lane's centre line, m; off the lanes, relative to the nearest lane in its direction."
            => agent.content().facts.map_or(0.0, |facts| facts.t);
        "lane_remaining" -> "float", "Distance to the end of the lane, m; if the agent must change lanes to reach its goal, distance to the point beside the goal."
            => agent.content().input.lane_remaining;
        "has_lane_left" -> "bool", "Whether the agent can change to a lane on the left."
            => agent.content().input.lane_left > 0.0;
        "has_lane_right" -> "bool", "Whether the agent can change to a lane on the right."
            => agent.content().input.lane_right > 0.0;
    }
}

/// Registers the properties for vehicles ahead and behind, the next junction, and the destination.
pub(super) fn ahead(api: &mut Registrar) {
    properties! { api, agent: Agent;
        "leader" -> "Other", "The vehicle ahead on the agent's route, within 200 m; () if there is none."
            => other_of(agent, |facts| facts.leader);
        "follower" -> "Other", "The nearest vehicle behind that has this agent as its leader; () if there is none."
            => other_of(agent, |facts| facts.follower);
        "leader_gap" -> "float", "Gap to the vehicle ahead in the lane, m; a million if there is none."
            => agent.content().input.leader_gap;
        "leader_speed" -> "float", "Speed of the vehicle ahead in the lane, m/s."
            => agent.content().input.leader_speed;
        "junction_distance" -> "float", "Distance to the next junction on the route, m; a million if there is none."
            => agent.content().input.junction_distance;
        "junction_turn" -> "string", "Turn of the route at the next junction: left, right, straight or back."
            => turn_name(agent.content().input.junction_turn);
        "goal_distance" -> "float", "Straight-line distance to the next destination, m."
            => agent.content().input.goal_distance;
        "goal_x" -> "float", "East coordinate of the next destination, m."
            => goal_of(agent).x;
        "goal_y" -> "float", "North coordinate of the next destination, m."
            => goal_of(agent).y;
    }
}

fn goal_of(agent: &Agent) -> DVec2 {
    let content = agent.content();
    let facts = content.facts;
    // Without a destination, the agent's own position is used, so that the distance is 0.
    let goal = facts.and_then(|facts| facts.goal);
    goal.unwrap_or_else(|| facts.map_or(DVec2::ZERO, |facts| facts.position))
}
