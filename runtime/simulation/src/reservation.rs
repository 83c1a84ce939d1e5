//! Who may enter a junction: first come, first served.
//!
//! This is a stand-in for right of way, and honest about it: signals and priorities are not
//! obeyed. Whoever asks first for a path is let in as soon as no vehicle on a conflicting path is
//! inside and there is room beyond. Nobody is overtaken by a later conflicting request that could
//! be served, so nobody starves while the exits drain.

use crate::index::Index;
use crate::mover::Mover;
use crate::roads::{PROFILE_BRAKING, Roads};
use crate::way::Way;
use crate::world::Kind;
use roadwright_scenario::lane_graph::StripId;

/// A vehicle asks when it is this much closer than its braking distance needs, m.
const ASKING_MARGIN: f64 = 12.0;
/// Space left behind the last vehicle beyond the junction, m.
const EXIT_GAP: f64 = 2.0;
/// A vehicle beyond the junction that drives faster than this makes room by itself, m/s.
const DRAINING_SPEED: f64 = 2.0;

/// A vehicle that may be inside.
#[derive(Debug, Clone, Copy)]
struct Grant {
    agent: u32,
    path: u32,
    /// Index of the connection in the agent's path.
    at: u32,
    /// Strip beyond the junction.
    exit: StripId,
}

/// A vehicle that wants to enter.
#[derive(Debug, Clone, Copy)]
struct Request {
    since: u64,
    id: u64,
    agent: u32,
    junction: u32,
    path: u32,
    at: u32,
    exit: Option<StripId>,
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
        self.requests.sort_unstable_by_key(|request| (request.since, request.id));
        self.pending.clear();
        for i in 0..self.requests.len() {
            let request = self.requests[i];
            if !has_turn(&request, roads, movers, ways, index) {
                continue;
            }
            let Some(exit) = request.exit else { continue };
            if !self.has_room(&request, exit, roads, kinds, movers, index) {
                continue;
            }
            if self.is_blocked(&request, roads) {
                self.pending.push((request.junction, request.path));
                continue;
            }
            movers[request.agent as usize].granted_to = request.at + 1;
            if self.granted[request.junction as usize].is_empty() {
                self.busy.push(request.junction);
            }
            self.granted[request.junction as usize].push(Grant {
                agent: request.agent,
                path: request.path,
                at: request.at,
                exit,
            });
        }
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
                let beyond: f64 = (grant.at + 1..mover.cursor)
                    .filter_map(|at| ways[grant.agent as usize].strip(at))
                    .map(|strip| roads.strip(strip).length())
                    .sum();
                let inside = mover.cursor <= grant.at;
                inside || beyond + mover.s < kinds[mover.kind as usize].rear_overhang
            });
            !list.is_empty()
        });
    }

    /// The next contested connection of everyone who is close enough to ask.
    fn collect(&mut self, step: u64, roads: &Roads, kinds: &[Kind], movers: &mut [Mover], ways: &[Way]) {
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
            let mut distance = roads.strip(mover.strip).length() - mover.s;
            let mut at = mover.cursor + 1;
            while distance < reach {
                let (Some(before), Some(strip)) = (way.strip(at - 1), way.strip(at)) else { break };
                if !roads.strip(before).successors.contains(&strip) {
                    break;
                }
                let contested = roads.contested(strip).filter(|_| at >= mover.granted_to);
                if let Some((junction, path)) = contested {
                    if mover.asked_for != at {
                        mover.asked_for = at;
                        mover.asked_at = step;
                    }
                    self.requests.push(Request {
                        since: mover.asked_at,
                        id: mover.id,
                        agent: agent as u32,
                        junction,
                        path,
                        at,
                        exit: way.strip(at + 1),
                    });
                    break;
                }
                distance += roads.strip(strip).length();
                at += 1;
            }
        }
    }

    /// Whether a vehicle inside, or an earlier request that waits for one, is on a conflicting path.
    fn is_blocked(&self, request: &Request, roads: &Roads) -> bool {
        let conflicts = |path: u32| roads.in_conflict(request.junction, request.path, path);
        let inside = &self.granted[request.junction as usize];
        let earlier = self.pending.iter().filter(|(junction, _)| *junction == request.junction);
        inside.iter().any(|grant| grant.agent != request.agent && conflicts(grant.path))
            || earlier.into_iter().any(|&(_, path)| conflicts(path))
    }

    /// Whether the vehicle would find room beyond the junction.
    fn has_room(
        &self,
        request: &Request,
        exit: StripId,
        roads: &Roads,
        kinds: &[Kind],
        movers: &[Mover],
        index: &Index,
    ) -> bool {
        let need = |agent: u32| kinds[movers[agent as usize].kind as usize].length + EXIT_GAP;
        let promised: f64 = self.granted[request.junction as usize]
            .iter()
            .filter(|grant| grant.exit == exit && movers[grant.agent as usize].cursor <= grant.at)
            .map(|grant| need(grant.agent))
            .sum();
        let free = match index.hindmost(exit) {
            Some(entry) => {
                let other = &movers[entry.agent as usize];
                if other.state.speed > DRAINING_SPEED {
                    return true;
                }
                entry.s - kinds[other.kind as usize].rear_overhang
            }
            None => roads.strip(exit).length().max(need(request.agent)),
        };
        free - promised >= need(request.agent)
    }
}

/// Whether the vehicle is the foremost on its lane that is not let in yet.
fn has_turn(request: &Request, roads: &Roads, movers: &[Mover], ways: &[Way], index: &Index) -> bool {
    let mover = &movers[request.agent as usize];
    // On the strips up to the junction nobody may be ahead who still waits.
    let mut ahead = index.ahead_on_strip(request.agent);
    let mut at = mover.cursor + 1;
    while ahead.is_none() && at < request.at {
        ahead = ways[request.agent as usize].strip(at).and_then(|strip| index.hindmost(strip));
        at += 1;
    }
    let Some(entry) = ahead else { return true };
    let other = &movers[entry.agent as usize];
    let way = &ways[entry.agent as usize];
    let entered = (other.cursor + 1..other.granted_to)
        .filter_map(|at| way.strip(at))
        .any(|strip| roads.contested(strip).is_some_and(|(junction, _)| junction == request.junction));
    // A leader whose way does not lead into this junction does not wait for it.
    let leaves = !(other.cursor + 1..other.cursor + 4)
        .filter_map(|at| way.strip(at))
        .any(|strip| roads.contested(strip).is_some_and(|(junction, _)| junction == request.junction));
    entered || leaves
}
