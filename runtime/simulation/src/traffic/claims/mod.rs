//! Who may enter a junction, and what has been granted.
//!
//! ```text
//!        approach          |  junction  |   exit
//!   ---------------------->|~~~~~~~~~~~~|------------------>
//!     asks from here ^     ^ stop line  ^ room for its length?
//! ```
//!
//! An agent asks when its braking distance reaches the stop line. A request names all connections
//! that the agent needs at once: if it fits nowhere between two junctions, it needs both. What is
//! decided stands behind one function, [`rule::admits`]; so far that is first come, first served.
//! Signals and priorities are not obeyed.
//!
//! **Invariant:** two agents never hold conflicting connections at once, except where one has cut in
//! ahead of the other on the approach and must go first ([`Scene::is_behind`]).
//!
//! # Example
//!
//! A drives from west to east, B from north to south, C from east to west. The swept areas of A and
//! B meet at X, those of C and B at Y; A and C pass each other and do not conflict.
//!
//! ```text
//!                 |  B  |
//!                 |  :  |
//!   --------------+  :  +--------------
//!     <.............:Y..............  C
//!     A ............:X..............>
//!   --------------+  :  +--------------
//!                 |  v  |
//! ```
//!
//! | step | what happens | held | pending |
//! | --- | --- | --- | --- |
//! | 100 | A is near enough and asks; nobody is inside | A | |
//! | 103 | B asks; it conflicts with A and has to wait | A | B |
//! | 105 | C asks; it does not conflict with A, but B asked before it and conflicts | A | B, C |
//! | 160 | A's rear has left the junction; B enters | B | C |
//! | 210 | B's rear has left; C enters | C | |
//!
//! In step 105 C could drive beside A. It waits all the same: on a busy street one C after another
//! would go before B, and B would wait for as long as the street is busy. Only requests that are held
//! up by others count as pending. One whose exit is full does not: B is not to wait for a queue that
//! is not in its way.
//!
//! # Parts
//!
//! `request.rs` finds who asks, and for what; `rule.rs` decides; this file keeps what is granted.

mod request;
mod rule;

use super::Index;
use crate::agents::Agents;
use crate::ground::Ground;
use crate::route::Routes;
use crate::vehicle_type::VehicleTypes;
use request::{Need, Request, Scene};
use roadwright_scenario::lane_graph::LaneletId;
use rule::Verdict;
use serde::{Deserialize, Serialize};

/// A connection that an agent may be on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Grant {
    agent: u32,
    /// Number of the connection in its junction.
    path: u32,
    /// Index of the connection in the agent's route: a route can lead through one junction twice.
    at: u32,
    /// Lanelet beyond the junction.
    exit: LaneletId,
}

/// What all junctions have granted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// Grants of each junction.
    granted: Vec<Vec<Grant>>,
    /// Junctions with a grant. Few of thousands have one, and only those are visited in a step.
    busy: Vec<u32>,
    #[serde(skip)]
    scratch: Scratch,
}

/// Lists that are filled again in every step; kept, so that a step allocates nothing.
#[derive(Debug, Clone, Default)]
struct Scratch {
    requests: Vec<Request>,
    /// Connections that an earlier request of this step waits for only because of others.
    pending: Vec<(u32, u32)>,
    needs: Vec<Need>,
}

// Scratch is not state: claims with different leftovers are equal.
impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A grant, as other parts of traffic read it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) junction: u32,
    pub(super) agent: u32,
    pub(super) path: u32,
    /// Index of the connection in the agent's route.
    pub(super) at: u32,
}

impl Claims {
    /// All that is granted.
    pub(super) fn held(&self) -> impl Iterator<Item = Held> + '_ {
        let busy = self.busy.iter();
        busy.flat_map(|&junction| {
            let grants = self.granted[junction as usize].iter();
            grants.map(move |grant| Held {
                junction,
                agent: grant.agent,
                path: grant.path,
                at: grant.at,
            })
        })
    }

    pub(crate) fn new(junctions: usize) -> Self {
        Self {
            granted: vec![Vec::new(); junctions],
            ..Self::default()
        }
    }

    /// Bytes of what is held and asked for; the empty lists of junctions are those of the ground.
    pub(crate) fn bytes(&self) -> usize {
        let held: usize = self
            .busy
            .iter()
            .map(|&at| self.granted[at as usize].len())
            .sum();
        held * size_of::<Grant>() + self.scratch.requests.capacity() * size_of::<Request>()
    }

    /// What is granted, by id, connection and index in the route: the same wherever agents are
    /// stored.
    pub(crate) fn by_id(&self, id_of: impl Fn(u32) -> u64) -> Vec<(u64, u32, u32)> {
        let grants = self.granted.iter().flatten();
        let mut all: Vec<_> = grants
            .map(|grant| (id_of(grant.agent), grant.path, grant.at))
            .collect();
        all.sort_unstable();
        all
    }

    /// Whether all that is held belongs to that many junctions and agents.
    pub(crate) fn fits(&self, junctions: usize, agents: usize) -> bool {
        self.granted.len() == junctions
            && self
                .busy
                .iter()
                .all(|&junction| (junction as usize) < junctions)
            && self
                .granted
                .iter()
                .flatten()
                .all(|grant| (grant.agent as usize) < agents)
    }

    /// Notes that a vehicle is inside a junction already, on the connection at an index of its
    /// route.
    pub(crate) fn hold(
        &mut self,
        agent: u32,
        (junction, path): (u32, u32),
        at: u32,
        exit: LaneletId,
    ) {
        let list = &mut self.granted[junction as usize];
        if list.is_empty() {
            self.busy.push(junction);
        }
        list.push(Grant {
            agent,
            path,
            at,
            exit,
        });
    }

    /// Whether a vehicle holds the connection at an index of its route.
    pub(crate) fn has(&self, agent: u32, junction: u32, at: u32) -> bool {
        let list = &self.granted[junction as usize];
        list.iter()
            .any(|grant| grant.agent == agent && grant.at == at)
    }

    /// Takes over what was held on other roads; `moved` gives the connection and the exit that a
    /// vehicle's grant in a junction, for an index of its route, is for now, or `None` to drop it.
    pub(crate) fn take_over(
        &mut self,
        held: &Self,
        moved: impl Fn(u32, u32, u32) -> Option<((u32, u32), LaneletId)>,
    ) {
        // Grants are moved one by one: an edit can split a junction or give its connections other numbers.
        for (junction, grants) in (0u32..).zip(&held.granted) {
            for grant in grants {
                if let Some((path, exit)) = moved(grant.agent, junction, grant.at) {
                    self.hold(grant.agent, path, grant.at, exit);
                }
            }
        }
    }

    /// For each agent index the smallest index of its route for which that agent holds anything;
    /// `u32::MAX` for agents that hold nothing.
    pub(crate) fn firsts(&self, agents: usize) -> Vec<u32> {
        let mut firsts = vec![u32::MAX; agents];
        for grant in self.granted.iter().flatten() {
            let first = &mut firsts[grant.agent as usize];
            *first = grant.at.min(*first);
        }
        firsts
    }

    /// Whether another vehicle holds a connection that conflicts with a path of a junction.
    pub(crate) fn are_in_conflict(
        &self,
        agent: u32,
        (junction, path): (u32, u32),
        ground: &Ground,
    ) -> bool {
        let mut others = self.granted[junction as usize].iter();
        others.any(|grant| grant.agent != agent && ground.in_conflict(junction, path, grant.path))
    }

    /// Takes back the grants of a vehicle from an index of its route on.
    pub(crate) fn forget_from(&mut self, agent: u32, at: u32) {
        self.keep(|grant| grant.agent != agent || grant.at < at);
    }

    /// Takes back all grants of a vehicle.
    pub(crate) fn forget(&mut self, agent: u32) {
        self.keep(|grant| grant.agent != agent);
    }

    /// Keeps the grants for which `stays` holds; a junction without any is not busy any more.
    fn keep(&mut self, stays: impl Fn(&Grant) -> bool) {
        // A junction leaves the list of busy ones with its last grant; `hold` puts it back.
        let granted = &mut self.granted;
        self.busy.retain(|&junction| {
            let list = &mut granted[junction as usize];
            list.retain(&stays);
            !list.is_empty()
        });
    }

    /// Takes back the grants of agents that have left their junctions, and decides all requests of
    /// the step.
    pub(crate) fn update(
        &mut self,
        step: u64,
        ground: &Ground,
        types: &VehicleTypes,
        routes: &Routes,
        index: &Index,
        agents: &mut Agents,
    ) {
        // First out, then in: a place that becomes free is given away in the same step.
        self.keep(|grant| is_inside(grant, ground, types, routes, agents));
        let mut scratch = std::mem::take(&mut self.scratch);
        request::collect(step, ground, types, routes, agents, &mut scratch.requests);
        // Of two that asked in the same step the smaller id goes first. Ids are unique, so the order
        // does not depend on where agents are stored.
        scratch
            .requests
            .sort_unstable_by_key(|request| (request.since, request.id));
        scratch.pending.clear();
        for request in &scratch.requests {
            let scene = Scene {
                ground,
                types,
                routes,
                index,
                agents,
            };
            // Who stands behind another vehicle that waits cannot enter, and is not pending either:
            // it would hold up others although it could not drive.
            if !scene.has_turn(request) {
                continue;
            }
            scene.needs(request, &mut scratch.needs);
            let needs = &scratch.needs;
            match self.decide(request, needs, &scratch.pending, &scene) {
                Verdict::Granted => {
                    agents.claim[request.agent as usize].granted_to = self.grant(request, needs);
                }
                Verdict::NoRoom | Verdict::NothingNeeded => {}
                Verdict::MustWait => {
                    let paths = needs.iter().map(|need| (need.junction, need.path));
                    scratch.pending.extend(paths);
                }
            }
        }
        self.scratch = scratch;
    }

    /// Grants all that a request needs. Returns the index in the agent's route before which it may
    /// enter connections now.
    fn grant(&mut self, request: &Request, needs: &[Need]) -> u32 {
        for need in needs {
            let path = (need.junction, need.path);
            self.hold(request.agent, path, need.at, need.exit);
        }
        needs.last().map_or(0, |last| last.at + 1)
    }
}

/// Whether a vehicle that holds a grant has not left the junction with its rear.
fn is_inside(
    grant: &Grant,
    ground: &Ground,
    types: &VehicleTypes,
    routes: &Routes,
    agents: &Agents,
) -> bool {
    let agent = grant.agent as usize;
    if !agents.drives(grant.agent) {
        return false;
    }
    let progress = &agents.progress[agent];
    if progress.at <= grant.at {
        return true;
    }
    // Distance of the rear axle beyond the connection: the lanelets in between, and s on its own.
    // A lanelet that was left sideways is beside the one after it in the route, which is driven in
    // its place: it does not count twice.
    let route = routes.get(progress.route);
    let beyond: f64 = (grant.at + 1..progress.at)
        .filter_map(|at| Some((route.lanelet(at)?, route.lanelet(at + 1)?)))
        .filter(|(lanelet, next)| ground.leads_to(*lanelet, *next))
        .map(|(lanelet, _)| ground.length(lanelet))
        .sum();
    let overhang = types.get(agents.identity[agent].vehicle_type).rear_overhang;
    beyond + agents.position[agent].s < overhang
}

#[cfg(test)]
mod tests;
