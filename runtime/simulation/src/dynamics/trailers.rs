//! Trailers, which follow their vehicles at every dynamics level.

use super::Bodies;
use crate::agents::AgentsRef;
use crate::records::AgentIndex;
use crate::snapshot::TrailerRecord;
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::Pose;
use roadwright_geometry::math::{atan2, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::Ground;
use roadwright_vehicle::rigid::CarState;
use roadwright_vehicle::trailer::{TrailerState, Train};
use serde::{Deserialize, Serialize};

/// States of trailers by the index of their agent. A row is empty if the agent tows nothing or has
/// not moved yet, and the whole list is empty while no agent tows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trailers {
    states: Vec<Vec<TrailerState>>,
}

impl Trailers {
    /// Trailers of an agent; `None` if it has none or they have not moved yet.
    pub(crate) fn of(&self, agent: AgentIndex) -> Option<&[TrailerState]> {
        let states = self.states.get(agent.index())?;
        (!states.is_empty()).then_some(&states[..])
    }

    /// Removes the trailers of an agent.
    pub(crate) fn forget(&mut self, agent: AgentIndex) {
        self.take(agent);
    }

    /// Takes out and returns the trailers of an agent.
    pub(crate) fn take(&mut self, agent: AgentIndex) -> Vec<TrailerState> {
        let states = self.states.get_mut(agent.index());
        states.map(std::mem::take).unwrap_or_default()
    }

    /// Stores the trailers of an agent.
    pub(crate) fn put(&mut self, agent: AgentIndex, states: Vec<TrailerState>) {
        if states.is_empty() {
            return;
        }
        let index = agent.index();
        if self.states.len() <= index {
            self.states.resize(index + 1, Vec::new());
        }
        self.states[index] = states;
    }

    /// Whether the trailer states of an agent, possibly from a save, match the trailers of its
    /// vehicle.
    pub(crate) fn fit(&self, agent: AgentIndex, train: &Train) -> bool {
        self.of(agent).is_none_or(|states| {
            states.len() == train.trailers().len() && states.iter().all(TrailerState::is_sound)
        })
    }

    /// Memory used by all states, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let states = self.states.iter().map(|states| size_of_val(&states[..]));
        size_of_val(&self.states[..]) + states.sum::<usize>()
    }
}

impl super::Dynamics {
    /// Moves all trailers after their vehicles have moved.
    pub(crate) fn tow(&mut self, ground: &Ground, agents: AgentsRef<'_>, types: &VehicleTypes) {
        if !types.has_trailers {
            return;
        }
        let mut trailers = std::mem::take(&mut self.trailers);
        let bodies = Bodies {
            ground,
            agents,
            dynamics: self,
        };
        for agent in agents.driving() {
            let train = types.train(agents.identity[agent.index()].vehicle_type);
            if train.is_empty() {
                continue;
            }
            let pose = bodies.pose(agent);
            let mut states = trailers.take(agent);
            // An edit may have given the vehicle other trailers.
            if states.len() != train.trailers().len() {
                states = train.straight(pose);
            }
            match self.rigid.towed(agent) {
                [] => train.tow(&mut states, pose),
                towed => train.stand(&mut states, pose, towed.iter().map(heading)),
            }
            trailers.put(agent, states);
        }
        self.trailers = trailers;
    }

    /// Returns the states of an agent's trailers, with the rear axle of its vehicle at `pose`. Trailers that
    /// have not moved yet are in line behind the vehicle.
    pub(super) fn towed_from(
        &self,
        agent: AgentIndex,
        pose: Pose,
        train: &Train,
    ) -> Vec<TrailerState> {
        match self.trailers.of(agent) {
            Some(states) if states.len() == train.trailers().len() => states.to_vec(),
            _ => train.straight(pose),
        }
    }
}

/// Heading of a body in plan view, rad.
fn heading(car: &CarState) -> f64 {
    let forward = car.forward();
    atan2(forward.y, forward.x)
}

impl Bodies<'_> {
    /// States of an agent's trailers. They are in line behind `pose` if the agent has not moved
    /// yet.
    pub(crate) fn towed(&self, agent: AgentIndex, pose: Pose, train: &Train) -> Vec<TrailerState> {
        self.dynamics.towed_from(agent, pose, train)
    }

    /// Footprints of an agent's trailers, from front to back.
    pub(crate) fn trailer_boxes(
        &self,
        agent: AgentIndex,
        types: &VehicleTypes,
    ) -> Vec<OrientedBox> {
        let train = types.train(self.agents.identity[agent.index()].vehicle_type);
        if train.is_empty() {
            return Vec::new();
        }
        let pose = self.pose(agent);
        let bodies = train.bodies(&self.towed(agent, pose, train), pose);
        let boxes = bodies.into_iter().zip(train.trailers());
        boxes
            .map(|(body, trailer)| OrientedBox::new(body, trailer.length, trailer.width))
            .collect()
    }

    /// Footprint of one of an agent's bodies: 0 for the vehicle, 1 for its first trailer.
    pub(crate) fn body(&self, agent: AgentIndex, part: u8, types: &VehicleTypes) -> OrientedBox {
        match part.checked_sub(1) {
            Some(trailer) => self.trailer_boxes(agent, types)[usize::from(trailer)],
            None => {
                let kind = self.agents.identity[agent.index()].vehicle_type;
                types.get(kind).covered(self.pose(agent))
            }
        }
    }

    /// Returns the trailers of an agent for snapshots, with the rear axle of its vehicle at `pose`.
    pub(crate) fn trailers(
        &self,
        agent: AgentIndex,
        pose: Pose,
        types: &VehicleTypes,
    ) -> Vec<TrailerRecord> {
        let who = &self.agents.identity[agent.index()];
        let train = types.train(who.vehicle_type);
        if train.is_empty() {
            return Vec::new();
        }
        let states = self.towed(agent, pose, train);
        let mut ahead = pose.heading;
        let couplings = train.couplings(&states, pose).into_iter();
        let bodies = couplings.zip(train.bodies(&states, pose));
        let records = (1u8..).zip(bodies).zip(train.trailers()).enumerate();
        let records = records.map(|(place, ((number, (coupling, body)), trailer))| {
            let angle = wrap_angle(body.heading - ahead);
            ahead = body.heading;
            TrailerRecord {
                agent: who.id,
                number,
                body,
                length: trailer.length,
                width: trailer.width,
                coupling: coupling.position,
                angle,
                attitude: self.dynamics.rigid.towed_attitude(agent, place),
            }
        });
        records.collect()
    }
}
