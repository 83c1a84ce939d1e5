//! Collisions: vehicles and obstacles whose bodies overlap. Collisions are counted but have no
//! effect on the bodies.
//!
//! There are two searches. Bodies that move freely are compared as boxes with bodies near them
//! ([`Search::contacts`], `neighbours.rs`). Bodies that follow their lanes are compared by their
//! order along the lanes ([`Search::contacts_in_order`]). This second search needs neither poses
//! nor a grid. However, it considers only vehicles ahead on the agent's route, and it runs only on
//! the beat, five times a second. With `--verify`, all bodies are compared as boxes in each step.

use super::neighbours::keeps_order;
use super::{Index, LaneEntry, Neighbours};
use crate::agents::ContactColumns;
use crate::dynamics::Bodies;
use crate::records::{AgentIndex, Collision, Party};
use crate::route::Routes;
use crate::vehicle_type::{VehicleType, VehicleTypes};
use glam::DVec2;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_ground::Owner;
use roadwright_scenario::VerticalSpan;
use roadwright_scenario::lane_graph::{LaneletIndex, NO_LANELET};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// An overlap of two bodies in one step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contact {
    pub(crate) agent: AgentIndex,
    pub(crate) other: Option<AgentIndex>,
    with: Party,
    place: DVec2,
    depth: f64,
}

impl Contact {
    /// Sort key that puts the deepest contact of a pair first.
    pub(crate) fn shallowness(&self) -> Reverse<u64> {
        // Depths are positive, so their bits have the same order as their values.
        Reverse(self.depth.to_bits())
    }

    /// Sort key for counting contacts, with ids instead of indices.
    pub(crate) fn order(&self, id_of: impl Fn(AgentIndex) -> u64) -> (u64, u64, Party) {
        let own = id_of(self.agent);
        let other = self.other.map_or(u64::MAX, id_of);
        (own.min(other), own.max(other), self.with)
    }
}

/// Inputs for finding contacts.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) bodies: Bodies<'a>,
    pub(crate) types: &'a VehicleTypes,
    pub(crate) routes: &'a Routes,
    pub(crate) index: &'a Index,
    pub(crate) neighbours: &'a Neighbours,
    /// Whether vehicles that follow their lanes are also compared as boxes, and not only by their
    /// order along the lanes.
    pub(crate) verify: bool,
}

impl Search<'_> {
    fn vehicle_type(&self, agent: AgentIndex) -> &VehicleType {
        let number = self.bodies.agents.identity[agent.index()].vehicle_type;
        self.types.get(number)
    }

    /// Range of heights that an agent's vehicle or trailer covers.
    fn span(&self, agent: AgentIndex, part: u8) -> VerticalSpan {
        let number = self.bodies.agents.identity[agent.index()].vehicle_type;
        self.types.span(number, part)
    }

    fn id(&self, agent: AgentIndex) -> u64 {
        self.bodies.agents.identity[agent.index()].id
    }

    /// Whether the order along the lanes is used to find contacts between this agent and other
    /// lane-following agents.
    fn keeps_order(&self, agent: AgentIndex) -> bool {
        keeps_order(&self.bodies.agents.identity[agent.index()], self.verify)
    }

    fn layer(&self, agent: AgentIndex) -> Option<i8> {
        let lanelet = self.bodies.agents.position[agent.index()].lanelet;
        (lanelet != NO_LANELET).then(|| self.bodies.ground.lanelet(lanelet).layer)
    }

    /// Creates a contact of two agents, attributed to the agent with the smaller id.
    fn contact(&self, a: AgentIndex, b: AgentIndex, place: DVec2, depth: f64) -> Contact {
        let (agent, other) = if self.id(a) < self.id(b) {
            (a, b)
        } else {
            (b, a)
        };
        Contact {
            agent,
            other: Some(other),
            with: Party::Agent(self.id(other)),
            place,
            depth,
        }
    }

    /// Collects the contacts of an agent that follows its lane: with obstacles, and with vehicles ahead on
    /// this lane and on the next lanelets of its route. `at` is the position of the agent's entry in the
    /// index.
    pub(crate) fn contacts_in_order(&self, at: usize, out: &mut Vec<Contact>) {
        let entries = self.index.entries();
        let own = entries[at];
        if !self.keeps_order(own.agent) {
            return;
        }
        let ground = self.bodies.ground;
        // An agent in a lane change has two entries. Both are compared with vehicles ahead on their lanelet.
        // Only the entry on the lane that the agent follows is compared with obstacles and with the lanelets
        // after it.
        let is_on = self.bodies.agents.position[own.agent.index()].lanelet == own.lanelet;
        let has_standing = !self.bodies.dynamics.standing.is_empty();
        // Beyond this distance, no rear can overlap the agent's front, whatever the other vehicle's
        // type.
        let reach = self.vehicle_type(own.agent).front + self.types.largest_overhang;
        let mut distance = ground.length(own.lanelet) - own.s;
        if is_on && (has_standing || self.is_near_obstacles(&own, distance <= reach)) {
            let (pose, own_type) = (self.bodies.pose(own.agent), self.vehicle_type(own.agent));
            let middle = pose.point(own_type.body_centre, 0.0);
            let body = || own_type.footprint(middle, pose.heading);
            let span = self.span(own.agent, 0);
            self.contacts_with_obstacles(own.agent, span, middle, own_type.radius, body, out);
            self.contacts_with_standing(own.agent, middle, own_type.radius, body, out);
        }
        for other in &entries[at + 1..] {
            if other.lanelet != own.lanelet || other.s - own.s > reach {
                break;
            }
            self.contact_with(&own, other, other.s - own.s, out);
        }
        if !is_on {
            // Only the agent's own lane leads to the next lanelet.
            return;
        }
        // Usually the lane is longer than this distance, and the route need not be read.
        if distance > reach {
            return;
        }
        let mut lanelet = own.lanelet;
        for next in self.lanelets_ahead(own.agent) {
            if !ground.leads_to(lanelet, next) {
                return;
            }
            for other in self.index.on_lanelet(next) {
                if distance + other.s > reach {
                    return;
                }
                self.contact_with(&own, other, distance + other.s, out);
            }
            distance += ground.length(next);
            if distance > reach {
                return;
            }
            lanelet = next;
        }
    }

    /// The lanelets of an agent's route after its current one.
    fn lanelets_ahead(&self, agent: AgentIndex) -> impl Iterator<Item = LaneletIndex> {
        let progress = &self.bodies.agents.progress[agent.index()];
        let route = self.routes.get(progress.route);
        (progress.at + 1..).map_while(|at| route.lanelet(at))
    }

    /// Whether an agent may touch obstacles at its position. Its front may already be on the next lanelet.
    fn is_near_obstacles(&self, own: &LaneEntry, is_at_end: bool) -> bool {
        if self.bodies.ground.obstacles().is_empty() {
            return false;
        }
        if !self.bodies.dynamics.rigid.displaced().is_empty() {
            return true;
        }
        let position = &self.bodies.agents.position[own.agent.index()];
        let keeps_to_middle = position.t == 0.0 && position.leaving == NO_LANELET;
        let is_long = self.vehicle_type(own.agent).is_long();
        let lanes = self.bodies.ground.lane_obstacles();
        let is_near = |lanelet: LaneletIndex| match keeps_to_middle {
            true => lanes.may_be_touched(lanelet, is_long),
            false => lanes.is_watched(lanelet),
        };
        let next = || self.lanelets_ahead(own.agent).next();
        is_near(own.lanelet) || is_at_end && next().is_some_and(is_near)
    }

    /// Finds the contact between two agents that follow their lanes. The other agent's rear axle is
    /// `distance` metres ahead.
    fn contact_with(
        &self,
        own: &LaneEntry,
        other: &LaneEntry,
        distance: f64,
        out: &mut Vec<Contact>,
    ) {
        if other.agent == own.agent || !self.keeps_order(other.agent) {
            return;
        }
        let (own_type, other_type) = (self.vehicle_type(own.agent), self.vehicle_type(other.agent));
        let along = own_type.front + other_type.rear_overhang - distance;
        if along <= 0.0 {
            return;
        }
        let beside = self.bodies.offset_on(own.agent, own.lanelet)
            - self.bodies.offset_on(other.agent, other.lanelet);
        // Both overlaps are lengths, along and across the lane. The depth is the smaller one, which
        // is the distance by which the bodies would have to move apart. Boxes are treated in the
        // same way.
        let across = 0.5 * (own_type.width + other_type.width) - beside.abs();
        if across > 0.0 {
            let place = self.bodies.pose(own.agent).point(own_type.front, 0.0);
            let depth = along.min(across);
            out.push(self.contact(own.agent, other.agent, place, depth));
        }
    }

    /// Contacts of a body's box with obstacles, and with bodies that have larger numbers.
    pub(crate) fn contacts(&self, number: usize, out: &mut Vec<Contact>) {
        let Some((agent, part)) = self.neighbours.body(number) else {
            return;
        };
        // Computed at most once, and usually not at all.
        let mut own: Option<OrientedBox> = None;
        let mut body = || *own.get_or_insert_with(|| self.bodies.body(agent, part, self.types));
        for other in self.neighbours.may_touch(number) {
            let Some((other_agent, other_part)) = self.neighbours.body(other) else {
                continue;
            };
            // A bridge and the road below it are on different layers.
            if let (Some(a), Some(b)) = (self.layer(agent), self.layer(other_agent))
                && a != b
            {
                continue;
            }
            let (body, theirs) = (
                body(),
                self.bodies.body(other_agent, other_part, self.types),
            );
            let reach = body.radius() + theirs.radius();
            if (theirs.centre - body.centre).length_squared() > reach * reach {
                continue;
            }
            let depth = body.penetration(&theirs);
            if depth > 0.0 {
                let place = 0.5 * (body.centre + theirs.centre);
                out.push(self.contact(agent, other_agent, place, depth));
            }
        }
        if self.keeps_order(agent) {
            return;
        }
        let ground = self.bodies.ground;
        if !ground.obstacles().is_empty() && self.neighbours.may_touch_obstacles(number) {
            let body = body();
            let (span, radius) = (self.span(agent, part), body.radius());
            self.contacts_with_obstacles(agent, span, body.centre, radius, || body, out);
        }
        if !self.bodies.dynamics.standing.is_empty() {
            let body = body();
            self.contacts_with_standing(agent, body.centre, body.radius(), || body, out);
        }
    }

    /// Contacts of a body with uncoupled trailers. `middle` and `radius` describe a circle around
    /// the body. Only the deepest contact with each train is kept.
    fn contacts_with_standing(
        &self,
        agent: AgentIndex,
        middle: DVec2,
        radius: f64,
        body: impl Fn() -> OrientedBox,
        out: &mut Vec<Contact>,
    ) {
        let position = &self.bodies.agents.position[agent.index()];
        let layers = self.bodies.ground.layers(position.lanelet);
        for train in self.bodies.dynamics.standing.iter() {
            let depth = |(at, standing): (usize, OrientedBox)| {
                let reach = radius + standing.radius();
                if (standing.centre - middle).length_squared() > reach * reach {
                    return 0.0;
                }
                // A vehicle may reach below a trailer that it couples to or reverses towards.
                if at == 0 && self.bodies.lines_up_with(agent, train, self.types) {
                    return 0.0;
                }
                body().penetration(&standing)
            };
            let bodies = train.bodies(self.types).map(|(_, body)| body).enumerate();
            let depth = bodies.map(depth).fold(0.0, f64::max);
            if depth > 0.0 && train.layers & layers != 0 {
                out.push(Contact {
                    agent,
                    other: None,
                    with: Party::Trailer(train.number),
                    place: middle,
                    depth,
                });
            }
        }
    }

    /// Contacts of a body with obstacles, found with a circle around the body and its range of
    /// heights.
    fn contacts_with_obstacles(
        &self,
        agent: AgentIndex,
        span: VerticalSpan,
        middle: DVec2,
        radius: f64,
        body: impl Fn() -> OrientedBox,
        out: &mut Vec<Contact>,
    ) {
        let first = out.len();
        let displaced = self.bodies.dynamics.rigid.displaced();
        self.bodies.ground.obstacles().for_each_contact(
            middle,
            radius,
            displaced,
            span,
            body,
            |owner, depth| {
                let with = match owner {
                    Owner::Obstacle(id) => Party::Obstacle(id.0),
                    Owner::Tree(forest, tree) => Party::Tree {
                        forest: forest.0,
                        tree,
                    },
                };
                // An obstacle may have several bodies. Only the deepest contact is counted.
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
            },
        );
    }
}

/// Record of overlapping bodies, so that each collision is counted once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contacts {
    touching: Touching,
    touching_in_order: Touching,
    pub(crate) log: Vec<Collision>,
}

/// Pairs that overlapped in the last search.
type Touching = BTreeSet<(u64, Party)>;

impl Contacts {
    /// Whether the body of an agent touched something in the last search.
    pub(crate) fn touch(&self, id: u64) -> bool {
        let mut pairs = self.touching.iter().chain(&self.touching_in_order);
        let is_own = |(own, with): &(u64, Party)| *own == id || *with == Party::Agent(id);
        pairs.any(is_own)
    }

    /// Records the contacts of bodies that are compared as boxes. Called in each step.
    pub(crate) fn take(
        &mut self,
        time: f64,
        contacts: &[Contact],
        agents: &mut ContactColumns<'_>,
    ) {
        take(&mut self.touching, &mut self.log, time, contacts, 1, agents);
    }

    /// Records the contacts that were found from the order along lanes. Called every `steps` steps.
    pub(crate) fn take_in_order(
        &mut self,
        time: f64,
        contacts: &[Contact],
        steps: u64,
        agents: &mut ContactColumns<'_>,
    ) {
        take(
            &mut self.touching_in_order,
            &mut self.log,
            time,
            contacts,
            steps,
            agents,
        );
    }
}

/// Logs new contacts, and adds all contacts to the crash ratings. Each contact counts for `steps`
/// steps.
fn take(
    known: &mut Touching,
    log: &mut Vec<Collision>,
    time: f64,
    contacts: &[Contact],
    steps: u64,
    agents: &mut ContactColumns<'_>,
) {
    if contacts.is_empty() && known.is_empty() {
        return;
    }
    let mut touching = Touching::new();
    for contact in contacts {
        let id = agents.identity[contact.agent.index()].id;
        // Both agents are rated. The depth is added in every step of an overlap, so that a long and deep
        // overlap is rated worse than a scrape.
        for agent in [Some(contact.agent), contact.other].into_iter().flatten() {
            let statistics = &mut agents.statistics[agent.index()];
            let (depth, steps) = (contact.depth as f32, steps as f32);
            statistics.penetration += depth * steps;
            statistics.squared_penetration += depth * depth * steps;
        }
        touching.insert((id, contact.with));
        // The log gets one entry when bodies begin to overlap, and another one if they overlap
        // again after they have separated.
        if known.contains(&(id, contact.with)) {
            // The entry contains the largest depth so far. It is usually near the end of the log.
            let of_pair = |line: &&mut Collision| line.agent == id && line.with == contact.with;
            if let Some(line) = log.iter_mut().rev().find(of_pair) {
                line.depth = line.depth.max(contact.depth);
            }
        } else {
            log.push(Collision {
                time,
                agent: id,
                with: contact.with,
                x: contact.place.x,
                y: contact.place.y,
                depth: contact.depth,
            });
        }
    }
    *known = touching;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stand;

    #[test]
    fn a_contact_has_its_largest_depth() {
        let mut stand = Stand::on(&[((0.0, 0.0), (200.0, 0.0), 1, 0)]);
        let lane = stand.lanes_from_the_right();
        let [a, b] = [(1, 20.0), (2, 23.0)].map(|(id, s)| stand.car(id, &lane, s, 0.0));
        let mut contacts = Contacts::default();
        let mut take = |time: f64, depths: &[f64]| {
            let found = depths.iter().map(|&depth| Contact {
                agent: a,
                other: Some(b),
                with: Party::Agent(2),
                place: DVec2::ZERO,
                depth,
            });
            let found: Vec<Contact> = found.collect();
            contacts.take(time, &found, &mut ContactColumns::of(&mut stand.agents));
        };
        // There are two contacts with a separation in between. They reach depths of 0.5 m and 0.2
        // m.
        for (time, depths) in [
            (0.0, &[0.1][..]),
            (1.0, &[0.5]),
            (2.0, &[0.3]),
            (3.0, &[]),
            (4.0, &[0.2]),
            (5.0, &[0.1]),
        ] {
            take(time, depths);
        }
        let log: Vec<[f64; 2]> = contacts
            .log
            .iter()
            .map(|one| [one.time, one.depth])
            .collect();
        assert_eq!(log, [[0.0, 0.5], [4.0, 0.2]]);
    }

    #[test]
    fn a_contact_counts_for_as_many_steps_as_it_was_looked_for_in() {
        let mut stand = Stand::on(&[((0.0, 0.0), (200.0, 0.0), 1, 0)]);
        let lane = stand.lanes_from_the_right();
        let [a, b] = [(1, 20.0), (2, 23.0)].map(|(id, s)| stand.car(id, &lane, s, 0.0));
        let contact = Contact {
            agent: a,
            other: Some(b),
            with: Party::Agent(2),
            place: DVec2::ZERO,
            depth: 0.5,
        };
        let mut contacts = Contacts::default();
        let found = [contact];
        for beat in 0..3 {
            contacts.take(
                f64::from(beat),
                &[],
                &mut ContactColumns::of(&mut stand.agents),
            );
            contacts.take_in_order(
                f64::from(beat),
                &found,
                10,
                &mut ContactColumns::of(&mut stand.agents),
            );
        }
        // A lasting collision is counted once, and the search with boxes does not end it.
        assert_eq!(contacts.log.len(), 1);
        for agent in [a, b] {
            let counted = &stand.agents.statistics[agent.index()];
            assert_eq!(
                (counted.squared_penetration, counted.penetration),
                (7.5, 15.0)
            );
        }
        contacts.take_in_order(3.0, &[], 10, &mut ContactColumns::of(&mut stand.agents));
        contacts.take_in_order(4.0, &found, 10, &mut ContactColumns::of(&mut stand.agents));
        assert_eq!(contacts.log.len(), 2);
    }
}
