//! People on foot in a world.

use super::World;
use crate::agents::Agents;
use crate::clock::Clock;
use crate::dynamics::Bodies;
use crate::ground::Ground;
use crate::route::Routes;
use crate::traffic::{NoCrossing, People, Roadside, SignalStates};
use crate::vehicle_type::VehicleTypes;
use roadwright_scenario::{NodeId, RoadId};

/// What follows from where people are once junctions have decided: drivers stop for those whose crossing
/// is gone, and signals hear who waits.
pub(super) fn look_after(
    people: &People,
    signals: &mut SignalStates,
    (ground, types, routes): (&Ground, &VehicleTypes, &Routes),
    agents: &mut Agents,
    clock: &Clock,
) {
    if people.has_strays() {
        let roadside = Roadside {
            ground,
            types,
            routes,
        };
        people.hold_for_strays(&roadside, agents);
    }
    for walk in people.calls(ground) {
        signals.call_walk(ground, walk, clock.time());
    }
}

impl World {
    /// Lets a person come on foot to a crossing of the junction of a node: over a road, or over the first
    /// arm that has one. Returns the number of the person, from 1 on.
    ///
    /// # Errors
    /// If there is no such crossing, or two hundred people are at it.
    pub fn add_pedestrian(
        &mut self,
        node: NodeId,
        road: Option<RoadId>,
    ) -> Result<u64, NoCrossing> {
        self.traffic.people.call(&self.ground, node, road)
    }

    /// Those whose crossing is gone go on.
    pub(super) fn walk_strays(&mut self) {
        if !self.traffic.people.has_strays() {
            return;
        }
        let bodies = Bodies {
            ground: &self.ground,
            agents: &self.agents,
            dynamics: &self.dynamics,
        };
        let people = &mut self.traffic.people;
        people.walk_strays(&self.clock, &bodies, &self.types);
    }
}
