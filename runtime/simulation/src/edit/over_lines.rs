//! Vehicles beyond stop lines that an edit has moved, or on connections with a changed shape. Such
//! vehicles are in the new junction, but their tickets are for the old one.
//!
//! ```text
//!      old line  new line             B turns, and its side would sweep over the nose of A, so
//!   ------:--------|---------         A goes first, although B is farther inside. Otherwise,
//!      :  [  A  ]  |   ..             the vehicle that is farthest inside goes first.
//!   ------:--------|--'[B]'--
//! ```

use super::Editing;
use crate::records::AgentIndex;
use crate::traffic::RouteConnection;
use crate::vehicle_type::VehicleType;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_scenario::Connection;
use roadwright_scenario::lane_graph::LaneletIndex;

/// A vehicle counts as inside the junction if it is farther than this beyond the stop line, m. A
/// vehicle that stops at the line may be slightly beyond it.
const OVER_LINE: f64 = 0.5;
/// The footprints of a vehicle along its path are enlarged by this on each side, m.
const CLEAR: f64 = 0.1;
/// Distance between the sampled footprints of a vehicle along its path, m.
const SPACING: f64 = 0.5;
/// Deceleration for computing the stopping point of a moving vehicle, m/s^2.
const FIRM: f64 = 5.0;
/// Two vehicles farther apart than this are assumed not to meet, because one of them leaves the
/// junction first, m.
const NEAR: f64 = 40.0;

/// A vehicle beyond a stop line.
struct Over {
    agent: AgentIndex,
    /// Distance of the vehicle's front beyond the line, m.
    front: f64,
    /// Connections that the vehicle covers without holding a ticket for them.
    under: Vec<Under>,
}

/// A connection that a vehicle covers.
struct Under {
    path: Connection,
    /// Index of the connection in the route. `exit` is the lanelet after the connection.
    at: u32,
    exit: LaneletIndex,
    /// Distance of the vehicle's front beyond the start of the connection, m.
    front: f64,
}

impl Editing<'_> {
    /// Issues tickets to vehicles that are inside a junction without one, so that others keep
    /// clear. The vehicle farthest inside goes first, so that no vehicle waits for another one that
    /// is stuck behind it. However, a vehicle never goes ahead of a vehicle that it would sweep
    /// over.
    pub(super) fn hold_over_lines(&mut self) {
        let agents = self.agents.census().by_growing_id().into_iter();
        let mut over: Vec<Over> = agents
            .filter_map(|agent| self.over_line(agent))
            .filter(|over| !over.under.is_empty())
            .collect();
        // The sort is stable and agents are listed by id, so ties are resolved by the smaller id.
        over.sort_by(|a, b| b.front.total_cmp(&a.front));
        for number in self.in_turn(&over) {
            let Over { agent, under, .. } = &over[number];
            for one in under {
                let stands_at = one.front + self.distance_to_stop(*agent);
                let route = RouteConnection {
                    agent: *agent,
                    path: one.path,
                    at: one.at,
                    exit: one.exit,
                };
                (self.traffic.claims.grants).hold_standing(route, stands_at);
                let claim = &mut self.agents.claim[agent.index()];
                claim.granted_to = claim.granted_to.max(one.at + 1);
            }
        }
    }

    /// Returns the state of an agent's vehicle beyond a stop line; `None` if the vehicle's front is
    /// not beyond one.
    fn over_line(&self, agent: AgentIndex) -> Option<Over> {
        let position = &self.agents.position[agent.index()];
        if !self.agents.census().drives(agent) || !position.is_on_lane() {
            return None;
        }
        let front = position.s + self.kind(agent).front;
        let is_inside = self.ground.contested(position.lanelet).is_some();
        let beyond = match is_inside {
            true => front,
            false => front - self.ground.length(position.lanelet),
        };
        (is_inside || beyond > OVER_LINE).then(|| Over {
            agent,
            front: beyond,
            under: self.under(agent, is_inside, beyond),
        })
    }

    /// Connections that an agent covers without holding a ticket for them.
    fn under(&self, agent: AgentIndex, is_inside: bool, mut front: f64) -> Vec<Under> {
        let progress = &self.agents.progress[agent.index()];
        let route = self.routes.get(progress.route);
        let mut found = Vec::new();
        let mut at = progress.at;
        let mut lanelet = self.agents.position[agent.index()].lanelet;
        loop {
            if is_inside || at > progress.at {
                let exit = route.lanelet(at + 1);
                if let Some((path, exit)) = self.ground.contested(lanelet).zip(exit)
                    && !self.traffic.claims.grants.has(agent, path.junction, at)
                {
                    found.push(Under {
                        path,
                        at,
                        exit,
                        front,
                    });
                }
                front -= self.ground.length(lanelet);
            }
            let next = route.lanelet(at + 1).filter(|_| front > OVER_LINE);
            match next.filter(|&next| self.ground.leads_to(lanelet, next)) {
                Some(next) => (at, lanelet) = (at + 1, next),
                None => return found,
            }
        }
    }

    /// Returns the order in which vehicles proceed, as indices into the list. This is the order of
    /// the list, except that a vehicle never goes ahead of another vehicle that it would sweep
    /// over. O(n^2 * steps of the path through a junction).
    fn in_turn(&self, over: &[Over]) -> Vec<usize> {
        let sweeps: Vec<Vec<OrientedBox>> = over.iter().map(|one| self.swept_boxes(one)).collect();
        let standing: Vec<OrientedBox> = over
            .iter()
            .zip(&sweeps)
            .map(|(one, sweep)| self.stands(one.agent, sweep))
            .collect();
        // For each vehicle: the other vehicles that it would sweep over, with the depth of each
        // overlap, m.
        let swept = |number: usize| -> Vec<(usize, f64)> {
            let sweep = &sweeps[number];
            let is_near = |other: &usize| {
                let offset = standing[*other].centre - standing[number].centre;
                *other != number && offset.length() < NEAR
            };
            let depth = |other: usize| {
                let depths = sweep.iter().map(|at| at.penetration(&standing[other]));
                (other, depths.fold(0.0, f64::max))
            };
            let others = (0..over.len()).filter(is_near).map(depth);
            others.filter(|&(_, depth)| depth > 0.0).collect()
        };
        let swept: Vec<Vec<(usize, f64)>> = (0..over.len()).map(swept).collect();
        let mut waiting: Vec<usize> = (0..over.len()).collect();
        let mut order = Vec::with_capacity(over.len());
        while !waiting.is_empty() {
            let deepest = |&number: &usize| {
                let still = swept[number].iter();
                let still = still.filter(|(other, _)| waiting.contains(other));
                still.map(|&(_, depth)| depth).fold(0.0, f64::max)
            };
            // Takes a vehicle that sweeps over no other. If there is none, takes the one with the
            // least depth.
            let depths = waiting.iter().map(deepest).enumerate();
            let next = depths.min_by(|a, b| a.1.total_cmp(&b.1));
            order.push(waiting.remove(next.map_or(0, |(place, _)| place)));
        }
        order
    }

    fn kind(&self, agent: AgentIndex) -> &VehicleType {
        let number = self.agents.identity[agent.index()].vehicle_type;
        self.types.get(number)
    }

    /// Stopping distance of a vehicle, m.
    fn distance_to_stop(&self, agent: AgentIndex) -> f64 {
        let speed = self.agents.motion[agent.index()].speed.max(0.0);
        speed * self.clock.dt + speed * speed / (2.0 * FIRM)
    }

    /// Returns the footprint of a vehicle at its current place or, if it moves, at the place on its
    /// path where it can stop.
    fn stands(&self, agent: AgentIndex, sweep: &[OrientedBox]) -> OrientedBox {
        let steps = (self.distance_to_stop(agent) / SPACING) as usize;
        let ahead = sweep.get(steps).filter(|_| steps > 0);
        ahead.copied().unwrap_or_else(|| {
            let pose = self.bodies(self.ground).pose(agent);
            self.kind(agent).covered(pose)
        })
    }

    /// Footprints of a vehicle along its path, enlarged by [`CLEAR`]. They end where the vehicle's
    /// rear leaves the last connection that is now under the vehicle.
    fn swept_boxes(&self, over: &Over) -> Vec<OrientedBox> {
        let agent = over.agent.index();
        let kind = self.kind(over.agent);
        let (progress, position) = (&self.agents.progress[agent], &self.agents.position[agent]);
        let route = self.routes.get(progress.route);
        let last = over.under.last().map_or(progress.at, |one| one.at);
        let mut boxes = Vec::new();
        let (mut at, mut s) = (progress.at, position.s);
        while let Some(lanelet) = route.lanelet(at) {
            let line = self.ground.line(lanelet);
            let end = match at > last {
                true => kind.rear_overhang.min(line.length()),
                false => line.length(),
            };
            while s < end {
                let mut covered = kind.covered(line.pose(s));
                covered.half_width += CLEAR;
                boxes.push(covered);
                s += SPACING;
            }
            if at > last {
                break;
            }
            (at, s) = (at + 1, s - end);
        }
        boxes
    }
}
