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
//! decided stands behind one function, [`admits`]; so far that is first come, first served.
//! Signals and priorities are not obeyed.
//!
//! Invariant: two agents never hold conflicting connections at once, except where one has cut in
//! ahead of the other on the approach and must go first ([`Scene::is_behind`]).

use super::Index;
use crate::agents::{Agents, Motion};
use crate::ground::{Ground, PROFILE_BRAKING};
use crate::route::{Route, Routes};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use roadwright_scenario::lane_graph::LaneletId;
use serde::{Deserialize, Serialize};

/// A vehicle asks when it is this much closer than its braking distance needs, m.
const ASKING_MARGIN: f64 = 12.0;
/// Space left behind the last vehicle beyond the junction, m.
const EXIT_GAP: f64 = 2.0;
/// Junctions in a row that a vehicle may need at once, because it fits nowhere between them.
const MAX_CHAIN: usize = 4;
/// Lanelets ahead on which a vehicle in front counts as on its way into the same junction: an
/// approach, the connection and their seams.
const WAY_IN: u32 = 4;

/// A connection that an agent may be on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Grant {
    agent: u32,
    path: u32,
    /// Index of the connection in the agent's route.
    at: u32,
    /// Lanelet beyond the junction.
    exit: LaneletId,
}

/// An agent that wants to enter.
#[derive(Debug, Clone, Copy)]
struct Request {
    since: u64,
    id: u64,
    agent: u32,
    /// Index of the first contested connection in its route.
    at: u32,
}

/// A contested connection that a request needs.
#[derive(Debug, Clone, Copy)]
struct Need {
    junction: u32,
    path: u32,
    at: u32,
    exit: LaneletId,
}

/// What requests are decided by.
#[derive(Clone, Copy)]
struct Scene<'a> {
    ground: &'a Ground,
    types: &'a VehicleTypes,
    routes: &'a Routes,
    index: &'a Index,
    agents: &'a Agents,
}

impl<'a> Scene<'a> {
    fn route(&self, agent: u32) -> &'a Route {
        self.routes.get(self.agents.progress[agent as usize].route)
    }

    fn vehicle_type(&self, agent: u32) -> &'a VehicleType {
        let number = self.agents.identity[agent as usize].vehicle_type;
        self.types.get(number)
    }

    /// Length that a vehicle takes in a queue, m.
    fn space(&self, agent: u32) -> f64 {
        self.vehicle_type(agent).length + EXIT_GAP
    }

    /// Whether `agent` has cut in ahead of the vehicle that holds `grant`, by a lane change on its
    /// approach; then `agent` must go first.
    fn is_behind(&self, grant: &Grant, agent: u32) -> bool {
        if grant.agent == agent {
            return false;
        }
        let (own, other) = (
            &self.agents.position[agent as usize],
            &self.agents.position[grant.agent as usize],
        );
        let route = self.route(grant.agent);
        let at = self.agents.progress[grant.agent as usize].at;
        let mut between = (at..grant.at).filter_map(|at| route.lanelet(at));
        between.any(|lanelet| lanelet == own.lanelet)
            && (own.lanelet != other.lanelet || own.s > other.s)
    }

    /// The connections that a vehicle needs at once: up to the first lane on which it can stand
    /// without its tail in a junction.
    fn needs(&self, request: &Request, out: &mut Vec<Need>) {
        out.clear();
        let route = self.route(request.agent);
        let mut room = 0.0;
        let mut at = request.at;
        while let Some(lanelet) = route.lanelet(at) {
            if out.len() == MAX_CHAIN {
                return;
            }
            match (self.ground.contested(lanelet), route.lanelet(at + 1)) {
                (Some((junction, path)), Some(exit)) => {
                    out.push(Need {
                        junction,
                        path,
                        at,
                        exit,
                    });
                    room = 0.0;
                }
                (Some(_), None) => return,
                (None, _) => {
                    room += self.ground.length(lanelet);
                    if room >= self.space(request.agent) {
                        return;
                    }
                }
            }
            at += 1;
        }
    }

    /// Whether the vehicle is the foremost on its lane that is not let in yet.
    fn has_turn(&self, request: &Request) -> bool {
        let route = self.route(request.agent);
        let contested = route
            .lanelet(request.at)
            .and_then(|lanelet| self.ground.contested(lanelet));
        let Some((junction, _)) = contested else {
            return false;
        };
        // On the lanelets up to the junction nobody may be ahead who still waits.
        let mut ahead = self.index.ahead_on_lanelet(request.agent);
        let mut at = self.agents.progress[request.agent as usize].at + 1;
        while ahead.is_none() && at < request.at {
            ahead = route
                .lanelet(at)
                .and_then(|lanelet| self.index.hindmost(lanelet));
            at += 1;
        }
        let Some(entry) = ahead else { return true };
        let other = self.route(entry.agent);
        let leads_in = |from: u32, to: u32| {
            let lanelets = (from..to).filter_map(|at| other.lanelet(at));
            lanelets
                .filter_map(|lanelet| self.ground.contested(lanelet))
                .any(|(found, _)| found == junction)
        };
        // Let in already, or not on its way into this junction at all.
        let at = self.agents.progress[entry.agent as usize].at;
        let granted_to = self.agents.claim[entry.agent as usize].granted_to;
        leads_in(at + 1, granted_to) || !leads_in(at + 1, at + WAY_IN)
    }
}

/// What all junctions have granted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Claims {
    granted: Vec<Vec<Grant>>,
    /// Junctions with a grant.
    busy: Vec<u32>,
    #[serde(skip)]
    scratch: Scratch,
}

/// Lists that are filled anew in every step.
#[derive(Debug, Clone, Default)]
struct Scratch {
    requests: Vec<Request>,
    /// Connections that an earlier request of this step waits for only because of others.
    pending: Vec<(u32, u32)>,
    needs: Vec<Need>,
}

impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A grant, for those who look on.
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
        for (junction, grants) in (0u32..).zip(&held.granted) {
            for grant in grants {
                if let Some((path, exit)) = moved(grant.agent, junction, grant.at) {
                    self.hold(grant.agent, path, grant.at, exit);
                }
            }
        }
    }

    /// For each agent index the smallest index of its route for which that agent holds anything;
    /// `u32::MAX` for those who hold nothing.
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

    /// Takes the grants of a vehicle back from an index of its route on.
    pub(crate) fn forget_from(&mut self, agent: u32, at: u32) {
        self.keep(|grant| grant.agent != agent || grant.at < at);
    }

    /// Takes all grants of a vehicle back.
    pub(crate) fn forget(&mut self, agent: u32) {
        self.keep(|grant| grant.agent != agent);
    }

    /// Keeps the grants for which `stays` holds; a junction without any is not busy any more.
    fn keep(&mut self, stays: impl Fn(&Grant) -> bool) {
        let granted = &mut self.granted;
        self.busy.retain(|&junction| {
            let list = &mut granted[junction as usize];
            list.retain(&stays);
            !list.is_empty()
        });
    }

    /// Releases who has left and lets in whose turn it is.
    pub(crate) fn update(
        &mut self,
        step: u64,
        ground: &Ground,
        types: &VehicleTypes,
        routes: &Routes,
        index: &Index,
        agents: &mut Agents,
    ) {
        // Vehicles whose tail is out of the junction have left it.
        self.keep(|grant| is_inside(grant, ground, types, routes, agents));
        let mut scratch = std::mem::take(&mut self.scratch);
        collect(step, ground, types, routes, agents, &mut scratch.requests);
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
            if !scene.has_turn(request) {
                continue;
            }
            scene.needs(request, &mut scratch.needs);
            let needs = &scratch.needs;
            let Some(last) = needs.last() else { continue };
            match self.decide(request, needs, &scratch.pending, &scene) {
                Verdict::Granted => {
                    let granted_to = last.at + 1;
                    for need in needs {
                        let path = (need.junction, need.path);
                        self.hold(request.agent, path, need.at, need.exit);
                    }
                    agents.claim[request.agent as usize].granted_to = granted_to;
                }
                Verdict::NoRoom => {}
                Verdict::MustWait => {
                    let paths = needs.iter().map(|need| (need.junction, need.path));
                    scratch.pending.extend(paths);
                }
            }
        }
        self.scratch = scratch;
    }

    /// All that a request needs is granted, or nothing.
    fn decide(
        &self,
        request: &Request,
        needs: &[Need],
        pending: &[(u32, u32)],
        scene: &Scene<'_>,
    ) -> Verdict {
        let has_room = needs.iter().enumerate().all(|(i, need)| {
            let is_last = i + 1 == needs.len();
            self.has_room(request, need, is_last, scene)
        });
        if !has_room {
            return Verdict::NoRoom;
        }
        let is_admitted = needs.iter().all(|need| {
            let junction = JunctionState {
                inside: &self.granted[need.junction as usize],
                pending,
            };
            admits(request, need, &junction, scene)
        });
        if is_admitted {
            Verdict::Granted
        } else {
            Verdict::MustWait
        }
    }

    /// Whether the vehicle would find room beyond a junction, counted as if the vehicles there
    /// that may not go on stood in a queue. A lane that it only passes must be empty.
    fn has_room(&self, request: &Request, need: &Need, is_last: bool, scene: &Scene<'_>) -> bool {
        let agents = scene.agents;
        let promised = self.granted[need.junction as usize].iter().filter(|grant| {
            grant.exit == need.exit
                && agents.progress[grant.agent as usize].at <= grant.at
                && !scene.is_behind(grant, request.agent)
        });
        let queued = scene.index.on_lanelet(need.exit).iter().filter(|entry| {
            let agent = entry.agent as usize;
            agents.position[agent].lanelet != need.exit
                || agents.claim[agent].granted_to <= agents.progress[agent].at + 1
        });
        let taken: f64 = promised
            .map(|grant| grant.agent)
            .chain(queued.map(|entry| entry.agent))
            .filter(|&agent| agent != request.agent)
            .map(|agent| scene.space(agent))
            .sum();
        let length = scene.ground.length(need.exit);
        taken == 0.0 || (is_last && length - taken >= scene.space(request.agent))
    }
}

/// What comes of a request.
enum Verdict {
    Granted,
    /// There is no room beyond.
    NoRoom,
    /// Others go first.
    MustWait,
}

/// What a junction decides by.
struct JunctionState<'a> {
    inside: &'a [Grant],
    /// Connections that earlier requests wait for.
    pending: &'a [(u32, u32)],
}

/// The rule of a junction: whether a vehicle may enter now. First come, first served: nobody on a
/// conflicting connection is inside or has asked before.
fn admits(request: &Request, need: &Need, junction: &JunctionState<'_>, scene: &Scene<'_>) -> bool {
    let conflicts = |path: u32| scene.ground.in_conflict(need.junction, need.path, path);
    let mut inside = junction
        .inside
        .iter()
        .filter(|grant| grant.agent != request.agent && !scene.is_behind(grant, request.agent));
    let mut earlier = junction
        .pending
        .iter()
        .filter(|(number, _)| *number == need.junction);
    !inside.any(|grant| conflicts(grant.path)) && !earlier.any(|&(_, path)| conflicts(path))
}

/// Whether a vehicle has not left the junction with its tail.
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
    // Distance of the rear axle beyond the connection. Lanes that were left sideways do not count
    // twice.
    let route = routes.get(progress.route);
    let beyond: f64 = (grant.at + 1..progress.at)
        .filter_map(|at| Some((route.lanelet(at)?, route.lanelet(at + 1)?)))
        .filter(|(lanelet, next)| ground.leads_to(*lanelet, *next))
        .map(|(lanelet, _)| ground.length(lanelet))
        .sum();
    let overhang = types.get(agents.identity[agent].vehicle_type).rear_overhang;
    beyond + agents.position[agent].s < overhang
}

/// The next contested connection of everyone who is close enough to ask.
fn collect(
    step: u64,
    ground: &Ground,
    types: &VehicleTypes,
    routes: &Routes,
    agents: &mut Agents,
    requests: &mut Vec<Request>,
) {
    requests.clear();
    for index in 0..agents.capacity() {
        let (who, position) = (&agents.identity[index], &agents.position[index]);
        if !who.drives() || !position.is_on_lane() {
            continue;
        }
        let progress = &agents.progress[index];
        let mut distance = ground.length(position.lanelet) - position.s;
        let reach = reach(&agents.motion[index], types.get(who.vehicle_type));
        if distance >= reach {
            continue;
        }
        let route = routes.get(progress.route);
        let mut before = position.lanelet;
        let mut at = progress.at + 1;
        while distance < reach {
            let Some(lanelet) = route.lanelet(at) else {
                break;
            };
            if !ground.leads_to(before, lanelet) {
                break;
            }
            let claim = &mut agents.claim[index];
            if at >= claim.granted_to && ground.contested(lanelet).is_some() {
                if claim.asked_for != at {
                    (claim.asked_for, claim.asked_at) = (at, step);
                }
                requests.push(Request {
                    since: claim.asked_at,
                    id: who.id,
                    agent: index as u32,
                    at,
                });
                break;
            }
            distance += ground.length(lanelet);
            before = lanelet;
            at += 1;
        }
    }
}

/// How far ahead a vehicle asks, m.
fn reach(motion: &Motion, vehicle_type: &VehicleType) -> f64 {
    motion.speed * motion.speed / (2.0 * PROFILE_BRAKING) + ASKING_MARGIN + vehicle_type.front
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stand;
    use roadwright_geometry::DVec2;

    impl Stand {
        /// A car so far before the junction, m, that drives straight on.
        fn comes(&mut self, id: u64, direction: DVec2, before: f64, speed: f64) -> u32 {
            let lanelets = self.straight(direction);
            let s = self.ground.length(lanelets[0]) - before;
            self.car(id, &lanelets, s, speed)
        }

        fn step(&mut self, step: u64) {
            self.look();
            self.claims.update(
                step,
                &self.ground,
                &self.types,
                &self.routes,
                &self.index,
                &mut self.agents,
            );
        }

        fn is_let_in(&self, agent: u32) -> bool {
            self.agents.claim[agent as usize].granted_to == 2
        }

        /// Moves a car so far beyond the start of its last lanelet.
        fn drive_out(&mut self, agent: u32, beyond: f64) {
            let index = agent as usize;
            let route = self.routes.get(self.agents.progress[index].route);
            self.agents.position[index].lanelet = route.lanelets[2];
            self.agents.position[index].s = beyond;
            self.agents.progress[index].at = 2;
        }
    }

    #[test]
    fn who_asks_first_goes_first_and_the_other_when_the_way_is_free() {
        let mut crossing = Stand::crossing();
        let first = crossing.comes(7, DVec2::X, 5.0, 4.0);
        crossing.step(1);
        let second = crossing.comes(3, DVec2::Y, 5.0, 4.0);
        crossing.step(2);
        // The smaller id does not help who asks later.
        assert!(crossing.is_let_in(first) && !crossing.is_let_in(second));
        // With its tail still inside, the first one keeps the other out.
        crossing.drive_out(first, 0.1);
        crossing.step(3);
        assert!(!crossing.is_let_in(second));
        crossing.drive_out(first, 6.0);
        crossing.step(4);
        assert!(crossing.is_let_in(second));
    }

    #[test]
    fn of_two_in_one_step_the_smaller_id_goes_first() {
        for (a, b) in [(1, 2), (2, 1)] {
            let mut crossing = Stand::crossing();
            let east = crossing.comes(a, DVec2::X, 5.0, 4.0);
            let north = crossing.comes(b, DVec2::Y, 5.0, 4.0);
            crossing.step(1);
            assert_eq!(crossing.is_let_in(east), a < b);
            assert_eq!(crossing.is_let_in(north), b < a);
        }
    }

    #[test]
    fn opposite_ways_do_not_wait_for_each_other() {
        let mut crossing = Stand::crossing();
        let east = crossing.comes(1, DVec2::X, 5.0, 4.0);
        let west = crossing.comes(2, DVec2::NEG_X, 5.0, 4.0);
        crossing.step(1);
        assert!(crossing.is_let_in(east) && crossing.is_let_in(west));
    }

    #[test]
    fn nobody_asks_from_far_away_or_is_let_in_past_a_waiting_leader() {
        let mut crossing = Stand::crossing();
        let far = crossing.comes(1, DVec2::X, 60.0, 4.0);
        crossing.step(1);
        assert!(!crossing.is_let_in(far), "it is 60 m away at 4 m/s");
        // A crossing car holds the junction; of two in a row on the approach neither gets in.
        let crosser = crossing.comes(2, DVec2::Y, 2.0, 4.0);
        crossing.step(2);
        let leader = crossing.comes(3, DVec2::X, 4.0, 0.0);
        let follower = crossing.comes(4, DVec2::X, 12.0, 8.0);
        crossing.step(3);
        assert!(crossing.is_let_in(crosser));
        assert!(!crossing.is_let_in(leader) && !crossing.is_let_in(follower));
        // Then both at once: a car that is let in does not hold up those behind it.
        crossing.drive_out(crosser, 8.0);
        crossing.step(4);
        crossing.step(5);
        assert!(crossing.is_let_in(leader) && crossing.is_let_in(follower));
    }

    #[test]
    fn a_full_exit_keeps_everybody_out() {
        let mut crossing = Stand::crossing();
        // Cars stand on the exit, one behind the other, up to the junction.
        let exit = crossing.straight(DVec2::X)[2];
        let length = crossing.ground.length(exit);
        let space = crossing.types.get(0).length + EXIT_GAP;
        let count = (length / space) as u64;
        for number in 0..count {
            let standing = crossing.comes(100 + number, DVec2::X, 1.0, 0.0);
            crossing.drive_out(standing, length - space * (number as f64 + 0.5));
        }
        let agent = crossing.comes(1, DVec2::X, 5.0, 4.0);
        crossing.step(1);
        assert!(!crossing.is_let_in(agent));
        // As soon as the foremost one has gone on, there is room.
        let first = crossing.agents.find(100).unwrap();
        crossing.agents.remove(first);
        crossing.step(2);
        assert!(crossing.is_let_in(agent));
    }
}
