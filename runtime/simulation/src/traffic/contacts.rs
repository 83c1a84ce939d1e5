//! Collisions: vehicles and obstacles whose bodies overlap. They are counted, not resolved.

use super::Index;
use crate::agents::Agents;
use crate::ground::{Ground, Owner};
use crate::vehicle_type::VehicleTypes;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_scenario::lane_graph::NO_LANELET;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What an agent collided with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    /// Another agent.
    Agent(u64),
    /// An obstacle.
    Obstacle(u32),
    /// A tree of a forest.
    Tree {
        /// The forest.
        forest: u32,
        /// Number of the tree in it.
        tree: u32,
    },
}

/// The moment at which two bodies begin to overlap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Collision {
    /// Simulation time, s.
    pub time: f64,
    /// The agent.
    pub agent: u64,
    /// What it hit.
    pub with: Party,
    /// Place, m.
    pub x: f64,
    /// Place, m.
    pub y: f64,
    /// How deep the bodies overlap, m.
    pub depth: f64,
}

/// One overlap in one step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contact {
    pub(crate) agent: u32,
    pub(crate) other: Option<u32>,
    with: Party,
    place: DVec2,
    depth: f64,
}

impl Contact {
    /// Contacts are counted in this order: by ids, never by indices.
    pub(crate) fn order(&self, id_of: impl Fn(u32) -> u64) -> (u64, u64, Party) {
        let own = id_of(self.agent);
        let other = self.other.map_or(u64::MAX, id_of);
        (own.min(other), own.max(other), self.with)
    }
}

/// What the search for contacts reads.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) agents: &'a Agents,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) index: &'a Index,
    pub(crate) ground: &'a Ground,
}

impl Search<'_> {
    fn body(&self, number: usize) -> OrientedBox {
        let agent = self.index.located[number] as usize;
        let vehicle_type = self.types.get(self.agents.identity[agent].vehicle_type);
        let centre = Pose {
            position: self.index.middles[number],
            heading: self.agents.motion[agent].pose.heading,
        };
        OrientedBox::new(centre, vehicle_type.length, vehicle_type.width)
    }

    fn layer(&self, agent: u32) -> Option<i8> {
        let lanelet = self.agents.position[agent as usize].lanelet;
        (lanelet != NO_LANELET).then(|| self.ground.lanelet(lanelet).layer)
    }

    fn radius(&self, agent: u32) -> f64 {
        let vehicle_type = self.agents.identity[agent as usize].vehicle_type;
        self.types.get(vehicle_type).radius
    }

    /// Contacts of one located agent with obstacles and with agents of a larger number.
    pub(crate) fn contacts(&self, number: usize, out: &mut Vec<Contact>) {
        let agent = self.index.located[number];
        let id = self.agents.identity[agent as usize].id;
        let middle = self.index.middles[number];
        let radius = self.radius(agent);
        let mut body: Option<OrientedBox> = None;
        self.index
            .grid
            .for_each_within(middle, radius + self.index.largest, |other, place| {
                let other = other as usize;
                if other <= number {
                    return;
                }
                let other_agent = self.index.located[other];
                let reach = radius + self.radius(other_agent);
                if (place - middle).length_squared() > reach * reach {
                    return;
                }
                // A bridge and the road below it do not meet.
                if let (Some(a), Some(b)) = (self.layer(agent), self.layer(other_agent))
                    && a != b
                {
                    return;
                }
                let depth = body
                    .get_or_insert_with(|| self.body(number))
                    .penetration(&self.body(other));
                if depth > 0.0 {
                    // The agent with the smaller id has the contact.
                    let other_id = self.agents.identity[other_agent as usize].id;
                    let (agent, other_agent, with) = if id < other_id {
                        (agent, other_agent, other_id)
                    } else {
                        (other_agent, agent, id)
                    };
                    out.push(Contact {
                        agent,
                        other: Some(other_agent),
                        with: Party::Agent(with),
                        place: 0.5 * (middle + place),
                        depth,
                    });
                }
            });
        if !self.ground.obstacles.is_empty() {
            let body = body.unwrap_or_else(|| self.body(number));
            let first = out.len();
            self.ground
                .obstacles
                .for_each_contact(&body, |owner, depth| {
                    let with = match owner {
                        Owner::Obstacle(id) => Party::Obstacle(id.0),
                        Owner::Tree(forest, tree) => Party::Tree {
                            forest: forest.0,
                            tree,
                        },
                    };
                    // An obstacle may have several bodies: it counts once, by the deepest.
                    if let Some(known) =
                        out[first..].iter_mut().find(|contact| contact.with == with)
                    {
                        known.depth = known.depth.max(depth);
                        return;
                    }
                    out.push(Contact {
                        agent,
                        other: None,
                        with,
                        place: middle,
                        depth,
                    });
                });
        }
    }
}

/// Remembers which bodies overlap, so that a collision is counted once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contacts {
    touching: BTreeSet<(u64, Party)>,
    pub(crate) log: Vec<Collision>,
}

impl Contacts {
    /// Takes the contacts of a step: logs the new ones and adds to the crash ratings.
    pub(crate) fn update(&mut self, time: f64, contacts: &[Contact], agents: &mut Agents) {
        if contacts.is_empty() && self.touching.is_empty() {
            return;
        }
        let mut touching = BTreeSet::new();
        for contact in contacts {
            let id = agents.identity[contact.agent as usize].id;
            for agent in [Some(contact.agent), contact.other].into_iter().flatten() {
                let statistics = &mut agents.statistics[agent as usize];
                statistics.squared_penetration += contact.depth * contact.depth;
            }
            touching.insert((id, contact.with));
            if !self.touching.contains(&(id, contact.with)) {
                self.log.push(Collision {
                    time,
                    agent: id,
                    with: contact.with,
                    x: contact.place.x,
                    y: contact.place.y,
                    depth: contact.depth,
                });
            }
        }
        self.touching = touching;
    }
}
