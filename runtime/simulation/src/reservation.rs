//! Who may enter a junction: first come, first served.
//!
//! This is a stand-in for right of way, and honest about it: signals and priorities are not
//! obeyed. Whoever asks first for a path is let in as soon as no vehicle on a conflicting path is
//! inside and there is room beyond. Nobody is overtaken by a later conflicting request that could
//! be served, so nobody starves while the exits drain.

use crate::index::Index;
use crate::kind::Kind;
use crate::mover::Mover;
use crate::roads::{PROFILE_BRAKING, Roads};
use crate::way::Way;
use roadwright_scenario::lane_graph::LaneletId;

/// A vehicle asks when it is this much closer than its braking distance needs, m.
const ASKING_MARGIN: f64 = 12.0;
/// Space left behind the last vehicle beyond the junction, m.
const EXIT_GAP: f64 = 2.0;
/// Junctions in a row that a vehicle may need at once, because it fits nowhere between them.
const MAX_CHAIN: usize = 4;

/// A vehicle that may be inside.
#[derive(Debug, Clone, Copy)]
struct Grant {
    agent: u32,
    path: u32,
    /// Index of the connection in the agent's path.
    at: u32,
    /// Lanelet beyond the junction.
    exit: LaneletId,
}

/// A vehicle that wants to enter.
#[derive(Debug, Clone, Copy)]
struct Request {
    since: u64,
    id: u64,
    agent: u32,
    /// Index of the first contested connection in its path.
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
    roads: &'a Roads,
    kinds: &'a [Kind],
    ways: &'a [Way],
    index: &'a Index,
}

impl Scene<'_> {
    /// Length that a vehicle takes in a queue, m.
    fn space(&self, mover: &Mover) -> f64 {
        self.kinds[mover.kind as usize].length + EXIT_GAP
    }

    /// Whether a vehicle that was let in has another one before it on its way to the junction,
    /// which changed lanes in front of it: that one has to go first.
    fn is_behind(&self, grant: &Grant, agent: u32, movers: &[Mover]) -> bool {
        let (own, other) = (&movers[agent as usize], &movers[grant.agent as usize]);
        let way = &self.ways[grant.agent as usize];
        let mut between = (other.cursor..grant.at).filter_map(|at| way.lanelet(at));
        grant.agent != agent
            && between.any(|lanelet| lanelet == own.lanelet)
            && (own.lanelet != other.lanelet || own.s > other.s)
    }

    /// The connections that a vehicle needs at once: up to the first lane on which it can stand
    /// without its tail in a junction.
    fn needs(&self, mover: &Mover, way: &Way, from: u32, out: &mut Vec<Need>) {
        out.clear();
        let mut room = 0.0;
        let mut at = from;
        while let (Some(lanelet), true) = (way.lanelet(at), out.len() < MAX_CHAIN) {
            match (self.roads.contested(lanelet), way.lanelet(at + 1)) {
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
                    room += self.roads.lanelet(lanelet).length();
                    if room >= self.space(mover) {
                        return;
                    }
                }
            }
            at += 1;
        }
    }
}

/// The state of all junctions.
pub(crate) struct Reservations {
    granted: Vec<Vec<Grant>>,
    /// Junctions with a grant.
    busy: Vec<u32>,
    requests: Vec<Request>,
    /// Requests of this step that were refused only because of others.
    pending: Vec<(u32, u32)>,
}

impl Reservations {
    pub(crate) fn new(junctions: usize) -> Self {
        Self {
            granted: vec![Vec::new(); junctions],
            busy: Vec::new(),
            requests: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Notes that a vehicle is inside a junction already, on the connection at an index of its way.
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

    /// Takes all grants of a vehicle back.
    pub(crate) fn forget(&mut self, agent: u32) {
        let granted = &mut self.granted;
        self.busy.retain(|&junction| {
            let list = &mut granted[junction as usize];
            list.retain(|grant| grant.agent != agent);
            !list.is_empty()
        });
    }

    /// Releases who has left and lets in whose turn it is.
    pub(crate) fn update(
        &mut self,
        step: u64,
        roads: &Roads,
        kinds: &[Kind],
        movers: &mut [Mover],
        ways: &[Way],
        index: &Index,
    ) {
        self.release(kinds, movers, roads, ways);
        self.collect(step, roads, kinds, movers, ways);
        self.requests
            .sort_unstable_by_key(|request| (request.since, request.id));
        self.pending.clear();
        let scene = Scene {
            roads,
            kinds,
            ways,
            index,
        };
        let mut needs = Vec::with_capacity(MAX_CHAIN);
        for i in 0..self.requests.len() {
            let request = self.requests[i];
            if has_turn(&request, &scene, movers) {
                let mover = &movers[request.agent as usize];
                scene.needs(mover, &ways[request.agent as usize], request.at, &mut needs);
                if self.decide(&request, &needs, &scene, movers)
                    && let Some(last) = needs.last()
                {
                    movers[request.agent as usize].granted_to = last.at + 1;
                }
            }
        }
    }

    /// Grants all that a request needs, or nothing.
    fn decide(
        &mut self,
        request: &Request,
        needs: &[Need],
        scene: &Scene<'_>,
        movers: &[Mover],
    ) -> bool {
        let room = needs.iter().enumerate().all(|(i, need)| {
            let last = i + 1 == needs.len();
            self.has_room(request, need, last, scene, movers)
        });
        if needs.is_empty() || !room {
            return false;
        }
        if needs
            .iter()
            .any(|need| self.is_blocked(request, need, scene, movers))
        {
            self.pending
                .extend(needs.iter().map(|need| (need.junction, need.path)));
            return false;
        }
        for need in needs {
            let path = (need.junction, need.path);
            self.hold(request.agent, path, need.at, need.exit);
        }
        true
    }

    /// Forgets vehicles whose tail is out of the junction.
    fn release(&mut self, kinds: &[Kind], movers: &[Mover], roads: &Roads, ways: &[Way]) {
        let granted = &mut self.granted;
        self.busy.retain(|&junction| {
            let list = &mut granted[junction as usize];
            list.retain(|grant| {
                let mover = &movers[grant.agent as usize];
                if !mover.is_active() {
                    return false;
                }
                // Distance of the rear axle beyond the connection.
                // Lanes that were left sideways do not count twice.
                let way = &ways[grant.agent as usize];
                let beyond: f64 = (grant.at + 1..mover.cursor)
                    .filter_map(|at| Some((way.lanelet(at)?, way.lanelet(at + 1)?)))
                    .filter(|(lanelet, next)| roads.graph.successors(*lanelet).contains(next))
                    .map(|(lanelet, _)| roads.lanelet(lanelet).length())
                    .sum();
                let inside = mover.cursor <= grant.at;
                inside || beyond + mover.s < kinds[mover.kind as usize].rear_overhang
            });
            !list.is_empty()
        });
    }

    /// The next contested connection of everyone who is close enough to ask.
    fn collect(
        &mut self,
        step: u64,
        roads: &Roads,
        kinds: &[Kind],
        movers: &mut [Mover],
        ways: &[Way],
    ) {
        self.requests.clear();
        for (agent, mover) in movers.iter_mut().enumerate() {
            if !mover.is_active() || !mover.on_lane() {
                continue;
            }
            let way = &ways[agent];
            let speed = mover.state.speed;
            let reach = speed * speed / (2.0 * PROFILE_BRAKING)
                + ASKING_MARGIN
                + kinds[mover.kind as usize].front;
            let mut distance = roads.lanelet(mover.lanelet).length() - mover.s;
            let mut at = mover.cursor + 1;
            while distance < reach {
                let (Some(before), Some(lanelet)) = (way.lanelet(at - 1), way.lanelet(at)) else {
                    break;
                };
                if !roads.graph.successors(before).contains(&lanelet) {
                    break;
                }
                let contested = roads.contested(lanelet).filter(|_| at >= mover.granted_to);
                if contested.is_some() {
                    if mover.asked_for != at {
                        mover.asked_for = at;
                        mover.asked_at = step;
                    }
                    self.requests.push(Request {
                        since: mover.asked_at,
                        id: mover.id,
                        agent: agent as u32,
                        at,
                    });
                    break;
                }
                distance += roads.lanelet(lanelet).length();
                at += 1;
            }
        }
    }

    /// Whether a vehicle inside, or an earlier request that waits for one, is on a conflicting path.
    fn is_blocked(
        &self,
        request: &Request,
        need: &Need,
        scene: &Scene<'_>,
        movers: &[Mover],
    ) -> bool {
        let conflicts = |path: u32| scene.roads.in_conflict(need.junction, need.path, path);
        let inside = &self.granted[need.junction as usize];
        let mut earlier = self
            .pending
            .iter()
            .filter(|(junction, _)| *junction == need.junction);
        inside
            .iter()
            .filter(|grant| !scene.is_behind(grant, request.agent, movers))
            .any(|grant| grant.agent != request.agent && conflicts(grant.path))
            || earlier.any(|&(_, path)| conflicts(path))
    }

    /// Whether the vehicle would find room beyond a junction, counted as if the vehicles there
    /// that may not go on stood in a queue. A lane that it only passes must be empty.
    fn has_room(
        &self,
        request: &Request,
        need: &Need,
        last: bool,
        scene: &Scene<'_>,
        movers: &[Mover],
    ) -> bool {
        let own = scene.space(&movers[request.agent as usize]);
        let promised = self.granted[need.junction as usize].iter().filter(|grant| {
            grant.exit == need.exit
                && movers[grant.agent as usize].cursor <= grant.at
                && !scene.is_behind(grant, request.agent, movers)
        });
        let queued = scene.index.on_lanelet(need.exit).iter().filter(|entry| {
            let mover = &movers[entry.agent as usize];
            mover.lanelet != need.exit || mover.granted_to <= mover.cursor + 1
        });
        let taken: f64 = promised
            .map(|grant| grant.agent)
            .chain(queued.map(|entry| entry.agent))
            .filter(|&agent| agent != request.agent)
            .map(|agent| scene.space(&movers[agent as usize]))
            .sum();
        let length = scene.roads.lanelet(need.exit).length();
        taken == 0.0 || (last && length - taken >= own)
    }
}

/// Whether the vehicle is the foremost on its lane that is not let in yet.
fn has_turn(request: &Request, scene: &Scene<'_>, movers: &[Mover]) -> bool {
    let mover = &movers[request.agent as usize];
    let way = &scene.ways[request.agent as usize];
    let Some((junction, _)) = way
        .lanelet(request.at)
        .and_then(|lanelet| scene.roads.contested(lanelet))
    else {
        return false;
    };
    // On the lanelets up to the junction nobody may be ahead who still waits.
    let mut ahead = scene.index.ahead_on_lanelet(request.agent);
    let mut at = mover.cursor + 1;
    while ahead.is_none() && at < request.at {
        ahead = way
            .lanelet(at)
            .and_then(|lanelet| scene.index.hindmost(lanelet));
        at += 1;
    }
    let Some(entry) = ahead else { return true };
    let other = &movers[entry.agent as usize];
    let other_way = &scene.ways[entry.agent as usize];
    let leads_in = |from: u32, to: u32| {
        let lanelets = (from..to).filter_map(|at| other_way.lanelet(at));
        lanelets
            .filter_map(|lanelet| scene.roads.contested(lanelet))
            .any(|(found, _)| found == junction)
    };
    // Let in already, or not on its way into this junction at all.
    leads_in(other.cursor + 1, other.granted_to) || !leads_in(other.cursor + 1, other.cursor + 4)
}
