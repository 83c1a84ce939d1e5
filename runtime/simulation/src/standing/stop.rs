//! The place where a vehicle has to stop, and the reason.

use super::Standing;
use crate::open_ground::PathStatus;
use crate::perception::{Look, StopCause};
use crate::records::AgentIndex;
use crate::traffic::{Waits, Why};
use glam::DVec2;
use roadwright_geometry::unit;
use roadwright_plugin_api::NOTHING;
use roadwright_scenario::NodeId;
use roadwright_scenario::lane_graph::LaneletKind;
use std::fmt;

/// Maximum distance between a perceived obstacle and a vehicle for the obstacle to be identified
/// with that vehicle, m.
const IS_IT: f64 = 0.5;
/// Speed below which a vehicle counts as stationary, m/s. A lower speed limit set by a behaviour
/// counts as a stop.
const STOPPED: f64 = 0.1;
/// If a mandatory stop is closer than this, braking is attributed to the stop and not to the
/// behaviour, m.
const NEAR: f64 = 10.0;

/// A place where a vehicle has to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct StopTarget {
    /// Distance from the vehicle's front, m.
    pub distance: f64,
    /// Position of the place, m.
    pub at: DVec2,
    /// Reason why the vehicle has to stop.
    pub reason: StopReason,
}

/// Reasons why a vehicle has to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The agent with this id is ahead, and the vehicle has to stop if that agent stops.
    Leader(u64),
    /// A junction does not admit the vehicle, or makes it wait inside.
    Junction(Waits),
    /// A junction has not admitted the vehicle, because the vehicle is not close enough to request
    /// it.
    NotAsked(NodeId),
    /// An obstacle.
    Obstacle,
    /// The vehicle's destination.
    Destination,
    /// The vehicle has to change lanes, because its lane does not lead along its route.
    LaneChange,
    /// The vehicle waits on open ground for a gap in the traffic of a road.
    Gap,
    /// There is no path to the vehicle's goal, for this reason.
    NoPath(String),
    /// The vehicle's behaviour stops it.
    Behaviour,
    /// The vehicle is under manual control by a person.
    Hand,
}

impl StopReason {
    /// The reason in one word, for tables and `--json`. At a junction, the word states why the
    /// vehicle has to wait there.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Leader(_) => "vehicle_ahead",
            Self::Junction(waits) => waits.why.name(),
            Self::NotAsked(_) => "not_requested",
            Self::Obstacle => "obstacle",
            Self::Destination => "destination",
            Self::LaneChange => "lane_change",
            Self::Gap => "gap",
            Self::NoPath(_) => "no_path",
            Self::Behaviour => "behaviour",
            Self::Hand => "hand",
        }
    }

    /// Ids of the agents that the vehicle waits for, in ascending order.
    pub fn agents(&self) -> &[u64] {
        match self {
            Self::Leader(agent) => std::slice::from_ref(agent),
            Self::Junction(waits) => &waits.whom,
            _ => &[],
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leader(agent) => write!(f, "the vehicle ahead (agent {agent})"),
            Self::Junction(waits) => waits.fmt(f),
            Self::NotAsked(node) => write!(f, "a grant to enter ({node})"),
            Self::Obstacle => f.write_str("an obstacle"),
            Self::Destination => f.write_str("its destination"),
            Self::LaneChange => f.write_str("a lane change"),
            Self::Gap => f.write_str("a gap in the traffic of a road"),
            Self::NoPath(why) => write!(f, "a path to its goal ({why})"),
            Self::Behaviour => f.write_str("its behaviour"),
            Self::Hand => f.write_str("the person who drives it"),
        }
    }
}

impl Standing<'_> {
    /// The next place within `reach` metres where an agent has to stop; `None` if nothing stops it.
    pub(crate) fn stop(&self, agent: AgentIndex, reach: f64) -> Option<StopTarget> {
        if self.hands.controls(self.id(agent)).is_some() {
            return Some(self.stop_here(agent, StopReason::Hand));
        }
        let nearest = match self.view.agents.position[agent.index()].is_on_lane() {
            true => self.stop_on_lane(agent, reach),
            false => self.stop_off_lanes(agent),
        };
        // Behaviours also brake for junctions and other vehicles. In that case, these are the
        // reason.
        let is_near = |stop: &StopTarget| stop.distance < NEAR;
        if self.is_stopped_by_behaviour(agent) && !nearest.as_ref().is_some_and(is_near) {
            return Some(self.stop_here(agent, StopReason::Behaviour));
        }
        nearest
    }

    fn stop_here(&self, agent: AgentIndex, reason: StopReason) -> StopTarget {
        StopTarget {
            distance: 0.0,
            at: self.front(agent),
            reason,
        }
    }

    fn stop_on_lane(&self, agent: AgentIndex, reach: f64) -> Option<StopTarget> {
        let nearest = self.view.nearest_stop(agent, reach);
        let on_route = nearest.and_then(|(distance, at, cause)| {
            Some(StopTarget {
                distance,
                at,
                reason: self.reason(agent, cause)?,
            })
        });
        let both = on_route.into_iter().chain(self.obstacle_ahead(agent));
        both.min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    fn stop_off_lanes(&self, agent: AgentIndex) -> Option<StopTarget> {
        if let Some(PathStatus::NoPath(why)) = self.ground_plans.status(self.id(agent)) {
            return Some(self.stop_here(agent, StopReason::NoPath(why.text.clone())));
        }
        match self.view.waits_for_gap(agent) {
            true => Some(self.stop_here(agent, StopReason::Gap)),
            false => self.obstacle_ahead(agent),
        }
    }

    fn is_stopped_by_behaviour(&self, agent: AgentIndex) -> bool {
        let wish = &self.view.agents.wish[agent.index()];
        let is_stopped = wish.braking > 0.0 || wish.top_speed < STOPPED;
        is_stopped && self.view.agents.motion[agent.index()].speed < STOPPED
    }

    fn reason(&self, agent: AgentIndex, cause: StopCause) -> Option<StopReason> {
        let waits = || (self.claims).waits(agent, self.setting, self.view.agents);
        Some(match cause {
            StopCause::Leader(other) => StopReason::Leader(self.id(other)),
            StopCause::Goal => StopReason::Destination,
            StopCause::LaneEnd => StopReason::LaneChange,
            StopCause::Wall => StopReason::Junction(waits()?),
            StopCause::Closed(connection) => {
                let graph = self.view.ground.graph();
                let LaneletKind::Connection { junction, .. } = graph.lanelet(connection).kind
                else {
                    return None;
                };
                let node = self.view.ground.node(junction)?;
                // An alley that begins behind the junction is named by a node of its road, which may be another one.
                let asked_for = self.view.agents.claim[agent.index()].asked_for;
                let is_asked = self.view.route(agent).lanelet(asked_for) == Some(connection);
                let is_of_alley = |why| matches!(why, Why::Alley(_) | Why::NoRoom);
                let concerns =
                    |waits: &Waits| waits.node == node || is_asked && is_of_alley(waits.why);
                match waits().filter(concerns) {
                    Some(waits) => StopReason::Junction(waits),
                    None => StopReason::NotAsked(node),
                }
            }
        })
    }

    /// Finds the nearest obstacle or vehicle off the lanes that obstructs an agent.
    fn obstacle_ahead(&self, agent: AgentIndex) -> Option<StopTarget> {
        let who = &self.view.agents.identity[agent.index()];
        let look = Look::of(self.modules.controller(who.modules));
        let input = self.view.controller_input(agent, look);
        if input.obstacle_distance >= NOTHING {
            return None;
        }
        let heading = self.view.bodies().pose(agent).heading;
        let direction = unit(heading + input.obstacle_angle);
        let at = self.front(agent) + input.obstacle_distance * direction;
        let vehicle = self.vehicle_at(at, agent);
        Some(StopTarget {
            distance: input.obstacle_distance,
            at,
            reason: vehicle.map_or(StopReason::Obstacle, StopReason::Leader),
        })
    }

    /// Id of another vehicle whose body covers the position `at`. O(driving agents).
    fn vehicle_at(&self, at: DVec2, agent: AgentIndex) -> Option<u64> {
        let mut others = self.view.agents.driving().filter(|&other| other != agent);
        let is_there = |other: &AgentIndex| {
            let kind = (self.view.types).get(self.view.agents.identity[other.index()].vehicle_type);
            let body = kind.covered(self.view.bodies().pose(*other));
            body.closest_point(at).distance(at) <= IS_IT
        };
        others.find(is_there).map(|other| self.id(other))
    }
}
