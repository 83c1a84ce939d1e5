//! Collisions: vehicles and obstacles whose bodies overlap. They are counted, not resolved.

use crate::index::Index;
use crate::kind::Kind;
use crate::mover::Mover;
use crate::obstacles::{Obstacles, Owner};
use crate::roads::Roads;
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_scenario::lane_graph::NO_LANELET;
use serde::Serialize;
use std::collections::BTreeSet;

/// What an agent collided with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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

/// The world as the search for contacts reads it.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) movers: &'a [Mover],
    pub(crate) kinds: &'a [Kind],
    pub(crate) index: &'a Index,
    pub(crate) obstacles: &'a Obstacles,
    pub(crate) roads: &'a Roads,
    /// Radius of the largest vehicle around its middle, m.
    pub(crate) largest: f64,
}

impl Scene<'_> {
    fn body(&self, number: usize) -> OrientedBox {
        let mover = &self.movers[self.index.located[number] as usize];
        let kind = &self.kinds[mover.kind as usize];
        let centre = Pose {
            position: self.index.middles[number],
            heading: mover.state.pose.heading,
        };
        OrientedBox::new(centre, kind.length, kind.width)
    }

    fn layer(&self, mover: &Mover) -> Option<i8> {
        (mover.lanelet != NO_LANELET).then(|| self.roads.lanelet(mover.lanelet).layer)
    }

    /// Contacts of one located agent with obstacles and with agents of a larger number.
    pub(crate) fn contacts(&self, number: usize, out: &mut Vec<Contact>) {
        let agent = self.index.located[number];
        let mover = &self.movers[agent as usize];
        let middle = self.index.middles[number];
        let radius = self.kinds[mover.kind as usize].radius;
        let mut body: Option<OrientedBox> = None;
        self.index
            .grid
            .for_each_within(middle, radius + self.largest, |other, place| {
                let other = other as usize;
                if other <= number {
                    return;
                }
                let other_agent = self.index.located[other];
                let other_mover = &self.movers[other_agent as usize];
                let reach = radius + self.kinds[other_mover.kind as usize].radius;
                if (place - middle).length_squared() > reach * reach {
                    return;
                }
                // A bridge and the road below it do not meet.
                if let (Some(a), Some(b)) = (self.layer(mover), self.layer(other_mover))
                    && a != b
                {
                    return;
                }
                let depth = body
                    .get_or_insert_with(|| self.body(number))
                    .penetration(&self.body(other));
                if depth > 0.0 {
                    // The agent with the smaller id has the contact.
                    let (agent, other_agent, with) = if mover.id < other_mover.id {
                        (agent, other_agent, other_mover.id)
                    } else {
                        (other_agent, agent, mover.id)
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
        if !self.obstacles.is_empty() {
            let body = body.unwrap_or_else(|| self.body(number));
            let first = out.len();
            self.obstacles.for_each_contact(&body, |owner, depth| {
                let with = match owner {
                    Owner::Obstacle(id) => Party::Obstacle(id.0),
                    Owner::Tree(forest, tree) => Party::Tree {
                        forest: forest.0,
                        tree,
                    },
                };
                // An obstacle may have several bodies: it counts once, by the deepest.
                if let Some(known) = out[first..].iter_mut().find(|contact| contact.with == with) {
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
#[derive(Default)]
pub(crate) struct Contacts {
    touching: BTreeSet<(u64, Party)>,
    pub(crate) log: Vec<Collision>,
}

impl Contacts {
    /// Takes the contacts of a step: logs the new ones and adds to the crash ratings.
    pub(crate) fn update(&mut self, time: f64, contacts: &[Contact], movers: &mut [Mover]) {
        if contacts.is_empty() && self.touching.is_empty() {
            return;
        }
        let mut touching = BTreeSet::new();
        for contact in contacts {
            let id = movers[contact.agent as usize].id;
            for agent in [Some(contact.agent), contact.other].into_iter().flatten() {
                movers[agent as usize].drive.squared_penetration += contact.depth * contact.depth;
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
