//! Room beyond junctions. A vehicle is let in only if there is room for it.

use super::alley::Alleys;
use super::closing::Closing;
use super::grants::{Grant, Grants};
use super::request::{Need, Request};
use super::rule::{LONGEST_WAIT_INSIDE, Pending, Reserved};
use super::situation::Situation;
use crate::records::AgentIndex;
use crate::route::{Route, place_to_wait};
use roadwright_ground::{Ground, Ring};
use roadwright_scenario::Connection;
use roadwright_scenario::lane_graph::LaneletIndex;

/// Room on the adjacent lane is reserved for a vehicle after it has sought a gap for this time, s.
const SEEKS_FOR: f32 = 10.0;
/// Room on the adjacent lane is reserved for a vehicle that is no farther than this from the end of
/// its own lane, m.
const AT_END: f64 = 12.0;
/// Speed above which a vehicle inside a junction is expected to leave it soon, m/s.
const DRIVES_OUT: f64 = 3.0;
/// Additional time that a vehicle may need to enter during its green compared with an empty lane,
/// s.
const TIME_TO_ENTER: f64 = 2.0;
/// Maximum fraction of a ring that may be occupied. A few metres ahead of each vehicle that waits
/// to join stay empty and cannot be used. The fuller a ring is, the more slowly it moves, and a
/// completely full ring stops. Throughput is highest at this fraction (0.6 to 1 were tried with
/// cars and buses).
const RING_SHARE: f64 = 0.7;

/// Determines which vehicles are left out when room on a lane is computed, because they are trusted
/// to drive on.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Trust {
    /// No vehicles are left out. Used for a vehicle that passes before others.
    Nobody,
    /// Vehicles that have been let into the next junction, will not have to wait there for long,
    /// and will not lose their turn to a red light or to pedestrians.
    LetIn,
}

/// Behaviour of a vehicle on the lanes after a junction.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stay {
    /// The vehicle may have to stop on these lanes, because it does not request the junction after them.
    Stop,
    /// The vehicle drives on into the next junction, which is part of the same request.
    Pass,
}

/// Lanes are considered up to this distance after a junction, m. Vehicles farther away do not block
/// the junction.
pub(super) const FAR_ENOUGH: f64 = 30.0;
/// Maximum number of lanelets beyond a junction that are considered. A street that is divided into short
/// pieces is considered as a whole.
const MOST_LANES: usize = 4;

/// One of the lanes that a vehicle follows beyond a junction without another request.
#[derive(Clone, Copy)]
struct Part {
    at: u32,
    lane: LaneletIndex,
    begin: f64,
}

/// Lanes that a vehicle follows after a junction without another request.
struct LanesBeyond {
    parts: [Part; MOST_LANES],
    count: usize,
}

impl LanesBeyond {
    fn of(at: u32, lane: LaneletIndex) -> Self {
        let begin = 0.0;
        Self {
            parts: [Part { at, lane, begin }; MOST_LANES],
            count: 1,
        }
    }

    fn push(&mut self, part: Part) {
        self.parts[self.count] = part;
        self.count += 1;
    }

    fn last(&self) -> &Part {
        &self.parts[self.count - 1]
    }
}

/// Returns the next lane of a route; `None` unless the vehicle continues onto it without a request.
/// The current lane ends at `end`, m. If there is an alley on the next lane, the lane counts only
/// up to the place where vehicles wait for the alley.
fn next_lane(route: &Route, at: u32, end: f64, ground: &Ground) -> Option<Part> {
    let connection = route.lanelet(at + 1)?;
    // If roads join without a bend, their lanes are connected directly.
    let (at, lane, length) = match ground.lanelet(connection).is_connection() {
        true => (at + 2, route.lanelet(at + 2)?, ground.length(connection)),
        false => (at + 1, connection, 0.0),
    };
    let has_alleys = [connection, lane]
        .iter()
        .any(|&id| ground.alleys().are_on(id));
    let is_free =
        ground.contested(connection).is_none() && ground.ring(lane).is_none() && !has_alleys;
    let begin = end + length;
    is_free.then_some(Part { at, lane, begin })
}

/// Inputs for computing the room beyond junctions.
#[derive(Clone, Copy)]
pub(super) struct Room<'a> {
    pub(super) grants: &'a Grants,
    pub(super) closing: &'a Closing,
    pub(super) alleys: &'a Alleys,
}

impl Room<'_> {
    /// Whether there is room for a vehicle beyond a junction, so that it does not come to a stop in
    /// the junction.
    ///
    /// Room is computed as if all vehicles there stood in a queue with the usual gaps. Their
    /// current positions and speeds are ignored, because they may all have to stop. Only vehicles
    /// that are trusted to drive on are left out. A lane between two junctions of a chain, where
    /// the vehicle cannot stop, must be free of all other vehicles. If a vehicle continues from a
    /// short lane without a request, the next lane is included.
    ///
    /// Example: on an exit of 20 m, one car of 4.5 m is waiting, and another one has been let in
    /// but has not arrived yet. They take up 2 * (4.5 + 2) = 13 m. Another car fits, but a bus of
    /// 10 m does not.
    pub(super) fn has_room(
        &self,
        request: &Request,
        need: &Need,
        stay: Stay,
        pending: &[Pending],
        trust: Trust,
        situation: &Situation<'_>,
    ) -> bool {
        if let Some(ring) = situation.ground.ring(need.exit) {
            let connection = situation.route(request.agent).lanelet(need.at);
            let goes_round = connection.is_some_and(|id| situation.ground.ring(id).is_some());
            // The vehicle that has waited for a long time enters next, whichever entry of the ring
            // it uses.
            let first = ring.lanelets.first();
            let is_kept = pending
                .iter()
                .any(|p| matches!(&p.reserved, Reserved::Ring(ring) if Some(ring) == first));
            let has_room = || {
                let kept = kept_in_ring(ring, pending);
                self.ring_has_room(ring, request, kept, situation)
            };
            return goes_round || !is_kept && has_room();
        }
        let beyond = self.lanes_beyond(request, need, situation);
        let room =
            self.room_on(&beyond, request, need, trust, situation) - kept_room(need, pending);
        // The lanes beyond may be shorter than the vehicle if junctions after them are requested as
        // well (`Situation::needs`). In that case, the lanes have to be empty, and nothing else is
        // required.
        let fits = stay == Stay::Stop && room >= situation.space(request.agent);
        fits || room >= self.reach_of(&beyond, situation)
    }

    /// Returns the free length on the lanes beyond a junction, m. It is computed as if all vehicles
    /// there, and all vehicles that have been promised room there, stood in a queue. Negative if
    /// they do not fit. Vehicles that are trusted to drive on into the next junction are left out.
    pub(super) fn room_beyond(
        &self,
        request: &Request,
        need: &Need,
        trust: Trust,
        situation: &Situation<'_>,
    ) -> f64 {
        let beyond = self.lanes_beyond(request, need, situation);
        self.room_on(&beyond, request, need, trust, situation)
    }

    /// Returns the vehicles that take the room beyond a junction, for display. In a ring, these are
    /// all vehicles in the ring. Otherwise, it is the last vehicle on the lanes beyond or, if there
    /// is none, the vehicles that have been promised room there.
    pub(super) fn taken_by(
        &self,
        request: &Request,
        need: &Need,
        situation: &Situation<'_>,
    ) -> Vec<AgentIndex> {
        let on = |lane: LaneletIndex| situation.index.on_lanelet(lane).iter();
        if let Some(ring) = situation.ground.ring(need.exit) {
            let lanes = ring.lanelets.iter();
            return lanes
                .flat_map(|&lane| on(lane))
                .map(|entry| entry.agent)
                .collect();
        }
        let beyond = self.lanes_beyond(request, need, situation);
        let parts = &beyond.parts[..beyond.count];
        let mut there = parts.iter().flat_map(|part| on(part.lane));
        if let Some(last) = there.find(|entry| entry.agent != request.agent) {
            return vec![last.agent];
        }
        let promised = (self.grants).promised(situation.agents, need.junction, need.exit);
        promised.map(|grant| grant.agent).collect()
    }

    /// Returns the lanes beyond a junction. The list ends with the first lane where a vehicle may
    /// have to wait at the end, or with a lane that is far enough away.
    fn lanes_beyond(
        &self,
        request: &Request,
        need: &Need,
        situation: &Situation<'_>,
    ) -> LanesBeyond {
        let (ground, route) = (situation.ground, situation.route(request.agent));
        let mut beyond = LanesBeyond::of(need.at + 1, need.exit);
        while beyond.count < MOST_LANES {
            let Part { at, lane, begin } = *beyond.last();
            let end = begin + ground.length(lane);
            let may_wait = end >= FAR_ENOUGH
                || route.changes_lane_at(at, ground)
                || self.closing.kept_free_before_end(lane, situation) > 0.0
                || !situation.lanes().tail(lane).is_whole;
            if may_wait {
                break;
            }
            let Some(next) = next_lane(route, at, end, ground) else {
                break;
            };
            beyond.push(next);
        }
        beyond
    }

    /// Distance that a vehicle can drive along the lanes beyond a junction if they are empty, m.
    fn reach_of(&self, beyond: &LanesBeyond, situation: &Situation<'_>) -> f64 {
        let last = beyond.last();
        let reach = self.held_up_to(last.lane, situation);
        last.begin + reach.min(situation.lanes().queue_end(last.lane))
    }

    fn room_on(
        &self,
        beyond: &LanesBeyond,
        request: &Request,
        need: &Need,
        trust: Trust,
        situation: &Situation<'_>,
    ) -> f64 {
        let last = beyond.last();
        let tail = situation.lanes().tail(last.lane);
        // Vehicles are visited from front to back, because a vehicle stays if the one ahead of it
        // stays.
        let mut drive_on = trust == Trust::LetIn && tail.is_whole;
        let mut stays = |agent: AgentIndex, at: u32| {
            drive_on = drive_on && self.drives_on(agent, at, situation);
            !drive_on
        };
        let reach = tail.reach.min(self.held_up_to(last.lane, situation));
        let (mut taken, mut reach) = (0.0, last.begin + reach);
        // End of the queue before an alley. Vehicles beyond the alley do not belong to it.
        let mut before_alley = f64::INFINITY;
        let waits_before_alley = |agent: AgentIndex, at: u32, begin: f64| {
            begin + self.alleys.waits_up_to(agent, at, situation)
        };
        let at_of = |agent: AgentIndex| situation.agents.progress[agent.index()].at;
        let parts = &beyond.parts[..beyond.count];
        for (number, part) in parts.iter().enumerate().rev() {
            let there = match number + 1 == parts.len() {
                true => tail.there,
                false => situation.index.on_lanelet(part.lane),
            };
            // This includes vehicles on the connection to the next lane, which has no conflicts.
            let on_connection = match parts.get(number + 1) {
                Some(next) if next.at == part.at + 2 => {
                    let connection = situation.route(request.agent).lanelet(part.at + 1);
                    connection.map_or(&[][..], |connection| situation.index.on_lanelet(connection))
                }
                _ => &[],
            };
            for entry in there.iter().chain(on_connection).rev() {
                let (agent, at) = (entry.agent, at_of(entry.agent));
                if agent != request.agent && stays(agent, at) {
                    taken += situation.space(agent);
                    reach = reach.min(part.begin + situation.waits_up_to(agent, at, part.lane));
                    before_alley = before_alley.min(waits_before_alley(agent, at, part.begin))
                        - situation.space(agent);
                }
            }
        }
        // The order of tickets is also the order of arrival.
        for grant in self
            .grants
            .promised(situation.agents, need.junction, need.exit)
        {
            let (agent, at) = (grant.agent, grant.at + 1);
            if agent != request.agent && stays(agent, at) {
                taken += situation.space(agent);
                reach = reach.min(situation.waits_up_to(agent, at, need.exit));
                before_alley =
                    before_alley.min(waits_before_alley(agent, at, 0.0)) - situation.space(agent);
            }
        }
        if taken > 0.0 {
            let own = situation.waits_up_to(request.agent, last.at, last.lane);
            reach = reach.min(last.begin + own);
        }
        let seekers = parts
            .iter()
            .map(|part| space_for_seekers(part.lane, situation));
        let own = parts
            .iter()
            .map(|part| waits_before_alley(request.agent, part.at, part.begin));
        let before_alley = own.fold(before_alley, f64::min);
        (reach - taken - seekers.sum::<f64>()).min(before_alley)
    }

    /// Distance that vehicles can drive along a lane, m. It is shorter than the lane only if
    /// vehicles are held back before a junction that an edit will change.
    fn held_up_to(&self, lane: LaneletIndex, situation: &Situation<'_>) -> f64 {
        situation.ground.length(lane) - self.closing.kept_free_before_end(lane, situation)
    }

    /// Whether a vehicle is certain to drive on from the lane at index `at` of its route. It must
    /// have been let into the next junction. In addition, it must either already be driving in that
    /// junction, or be certain to keep its turn without having to wait there for long.
    fn drives_on(&self, agent: AgentIndex, at: u32, situation: &Situation<'_>) -> bool {
        let granted_to = situation.agents.claim[agent.index()].granted_to;
        let beyond = at + 1;
        if granted_to <= beyond {
            return false;
        }
        let drives_out =
            situation.speed(agent) >= DRIVES_OUT && situation.front(agent, beyond) > 0.0;
        // Connections without conflicts have no grants.
        let mut indices = beyond..granted_to;
        let mut next = || {
            indices.find_map(|at| {
                let connection = situation.route(agent).lanelet(at)?;
                Some((at, situation.ground.contested(connection)?))
            })
        };
        drives_out
            || next().is_some_and(|(at, path)| self.keeps_its_turn(agent, at, path, situation))
    }

    fn keeps_its_turn(
        &self,
        agent: AgentIndex,
        at: u32,
        connection: Connection,
        situation: &Situation<'_>,
    ) -> bool {
        let (junction, path) = (connection.junction, connection.number);
        let mut held = self.grants.of(junction).iter();
        let held = held.find(|grant| (grant.agent, grant.at) == (agent, at));
        held.is_some_and(|grant| {
            let enters = || {
                grant.has_entered
                    || !grant.is_first
                    || situation.is_bound_to_enter(grant, Connection::new(junction, path))
            };
            let is_open =
                !self.closing.is_closed(junction) && !self.closing.held_back().contains(&junction);
            grant.is_invited && f64::from(grant.delay) <= LONGEST_WAIT_INSIDE && is_open && enters()
        })
    }

    /// Whether a vehicle and one more vehicle fit into a ring without filling more than
    /// [`RING_SHARE`] of its length, so that every vehicle in the ring can get to its exit. `kept`
    /// metres are reserved for other vehicles. An empty ring has room for any vehicle.
    fn ring_has_room(
        &self,
        ring: &Ring,
        request: &Request,
        kept: f64,
        situation: &Situation<'_>,
    ) -> bool {
        let agents = situation.agents;
        let is_there = |agent: AgentIndex, lanelet: LaneletIndex| {
            agents.position[agent.index()].lanelet == lanelet && agent != request.agent
        };
        let driving = ring.lanelets.iter().flat_map(|&lanelet| {
            let entries = situation.index.on_lanelet(lanelet).iter();
            entries
                .map(|entry| entry.agent)
                .filter(move |&agent| is_there(agent, lanelet))
        });
        // Vehicles that have been let in but have not reached the ring yet.
        let junctions = ring.junctions.iter();
        let coming = junctions.flat_map(|&junction| self.grants.of(junction));
        let coming = coming.filter(|grant| {
            let position = &agents.position[grant.agent.index()];
            ring.lanelets.binary_search(&grant.exit).is_ok()
                && ring.lanelets.binary_search(&position.lanelet).is_err()
                && agents.progress[grant.agent.index()].at <= grant.at
        });
        let there: f64 = driving
            .chain(coming.map(|grant| grant.agent))
            .map(|agent| situation.space(agent))
            .sum();
        let taken = there + kept;
        taken == 0.0 || taken + 2.0 * situation.space(request.agent) <= RING_SHARE * ring.length
    }
}

/// Room on the lane beyond a junction that is reserved for vehicles that have waited for a long
/// time, m.
fn kept_room(need: &Need, pending: &[Pending]) -> f64 {
    let kept = pending.iter().map(|pending| match pending.reserved {
        Reserved::Room(exit, length) if exit == need.exit => length,
        _ => 0.0,
    });
    kept.sum()
}

/// Room in a ring that is reserved for vehicles that have waited for a long time, m.
fn kept_in_ring(ring: &Ring, pending: &[Pending]) -> f64 {
    let first = ring.lanelets.first();
    let kept = pending.iter().map(|pending| match &pending.reserved {
        Reserved::RoomInRing(ring, length) if Some(ring) == first => *length,
        _ => 0.0,
    });
    kept.sum()
}

impl Situation<'_> {
    /// Returns the position that the vehicle's front is certain to reach on the lane at index `at`
    /// of the route, m. A vehicle that has to change lanes may wait there for a gap. For all other
    /// vehicles, the value is infinite.
    fn waits_up_to(&self, agent: AgentIndex, at: u32, lane: LaneletIndex) -> f64 {
        let changes = self.route(agent).lane_changes_on(at, self.ground);
        let kind = self.vehicle_type(agent);
        let place = place_to_wait(self.ground.length(lane), changes);
        // The vehicle does not wait on a short lane, because its rear would stand in the junction.
        if changes == 0 || place < kind.rear_overhang {
            return f64::INFINITY;
        }
        place + kind.front
    }

    /// Whether the holder of a grant that has not entered yet is certain to enter. This is the case
    /// if the holder can no longer stop, or if no pedestrian can cross its connection and no signal
    /// can end its green before it enters.
    fn is_bound_to_enter(&self, grant: &Grant, connection: Connection) -> bool {
        let (junction, path) = (connection.junction, connection.number);
        let distance = self.before_line(junction, grant).max(0.0);
        if !self.can_stop(grant.agent, distance)
            && !self.light(Connection::new(junction, path)).is_red()
        {
            return true;
        }
        let green =
            self.signals
                .keeps_green(self.ground, Connection::new(junction, path), self.time());
        let enters = self.time_for(distance, grant.agent, grant.at) + TIME_TO_ENTER;
        green > enters && !self.may_be_walked_over(grant.agent, Connection::new(junction, path))
    }

    /// Whether pedestrians may cross a connection of a junction while the signals show their current stage.
    fn may_be_walked_over(&self, agent: AgentIndex, connection: Connection) -> bool {
        let (junction, path) = (connection.junction, connection.number);
        let crossings = self.ground.crossings();
        let mut sites = crossings.of_junction(junction);
        let is_long = self.is_long(agent);
        let shown = self.signals.shown_stage(self.ground, junction);
        sites.any(|number| {
            let site = &crossings.sites()[number as usize];
            let walk = |stages: u32| shown.is_none_or(|stage| stages & (1 << stage) != 0);
            site.walk_stages.is_none_or(walk) && site.taken(path, is_long).is_some()
        })
    }
}

/// Queue length of the vehicles that wait at the end of an adjacent lane and can only continue by
/// changing to the exit, m. Room that becomes free on the exit is reserved for them. Otherwise,
/// vehicles that are let in later would take it every time, and the waiting vehicles and all
/// vehicles behind them would never move.
fn space_for_seekers(exit: LaneletIndex, situation: &Situation<'_>) -> f64 {
    let lanes = situation.ground.graph().changing_onto(exit);
    let seeking = lanes.filter_map(|lane| {
        let first = situation.index.on_lanelet(lane).last()?;
        let progress = &situation.agents.progress[first.agent.index()];
        let is_at_end = situation.ground.length(lane) - first.s < AT_END;
        let has_waited = progress.standing >= 1.0 && progress.seeking.abs() >= SEEKS_FOR;
        let wants_over = situation.route(first.agent).lanelet(progress.at + 1) == Some(exit);
        (is_at_end && has_waited && wants_over).then(|| situation.space(first.agent))
    });
    seeking.sum()
}
