//! One decision of all junctions: finds the vehicles that have left, collects and decides requests,
//! and sets the places inside where vehicles have to wait.

use super::Claims;
use super::alley::AlleyRequest;
use super::grants::{Grant, Terms};
use super::request::{Need, Request, Requests};
use super::room::Room;
use super::rule::{
    EntryRule, Pending, Reserved, Verdict, is_locked, is_passed_over_for_room, is_stopped_by_light,
    keeps_others_out,
};
use super::situation::{Given, Setting, Situation};
use super::walls::keep_first;
use crate::agents::ClaimColumns;
use crate::records::Refusal;
use crate::traffic::people::{Over, People};
use roadwright_scenario::Connection;

impl Claims {
    /// Makes junctions decide, if a decision is due. Otherwise, only revokes the grants of agents
    /// that no longer drive, because their indices will be reused.
    pub(crate) fn update(
        &mut self,
        given: Given<'_>,
        agents: &mut ClaimColumns<'_>,
        people: &mut People,
    ) {
        people.gather(given.fixed.ground);
        let is_due = given.clock.is_on_beat() || self.is_overdue || !people.busy().is_empty();
        self.arrivals.note_decision(is_due);
        if is_due {
            self.is_overdue = false;
            self.decide_now(given, agents, people);
        } else {
            self.gridlock.forget_green();
            for &agent in agents.leaving() {
                self.forget(agent);
            }
        }
    }

    /// Revokes the grants of agents that have left their junctions or may no longer enter them, decides all
    /// requests, and sets the places where vehicles inside have to wait.
    fn decide_now(&mut self, given: Given<'_>, agents: &mut ClaimColumns<'_>, people: &mut People) {
        let Given {
            clock,
            fixed,
            routes,
            ..
        } = given;
        let ground = fixed.ground;
        self.off_lanes.look(ground, &given.index.off_lanes);
        // Departures are processed before entries, so that room can be granted in the step in which
        // it becomes free.
        let situation = given.beside(people).with(agents.lent());
        self.grants.note_places(&situation);
        self.grants.keep(|grant| is_inside(grant, &situation));
        let has_alleys = self.alleys.are_heeded(ground);
        if has_alleys {
            self.alleys.look(&situation);
            self.alleys.revoke_overtaken(&situation);
        }
        let revoked = &mut self.scratch.revoked;
        (self.grants).find_revoked(&self.closing, &situation, revoked);
        self.take_back(agents);
        // Requests are collected after grants have been revoked, so that a vehicle that has lost its turn can
        // make a new request in this step.
        self.requests.collect(clock.step, fixed, routes, agents);
        if !people.busy().is_empty() {
            self.heed_people(given, people, agents);
        }
        let setting = given.beside(people);
        let situation = setting.with(agents.lent());
        if has_alleys {
            self.alleys.collect(&situation);
        }
        // This comes before any vehicle is let in, because decisions take into account the vehicles
        // that are inside without having been let in.
        self.watch(agents.statistics, &situation);
        self.requests.sort();
        self.decide_all(setting, agents);
        // This comes after the decisions, because rings consist of vehicles that have just been refused for
        // lack of room, and walls need the tickets of all vehicles that have been let in.
        self.turn_rings(clock, setting, agents);
        self.set_walls(setting, agents);
        let situation = setting.with(agents.lent());
        (self.arrivals).find(&self.requests, &self.grants, &situation);
        // This comes last, because pedestrians wait for all vehicles that have been let in, including those
        // of this step.
        let busy = people.busy().iter();
        let over: Vec<Vec<Over>> = busy
            .map(|&crossing| self.grants.over(crossing, &situation))
            .collect();
        people.walk(clock, ground, &over);
        self.grants.forget_places();
    }

    /// Stores, for each agent, the first place on its route where it has to wait.
    fn set_walls(&mut self, setting: Setting<'_>, agents: &mut ClaimColumns<'_>) {
        let situation = setting.with(agents.lent());
        let walls = &mut self.scratch.walls;
        self.grants.set_walls(&situation, walls);
        if self.alleys.are_heeded(setting.ground) {
            self.alleys.hold_before(walls);
        }
        if !self.closing.closed().is_empty() {
            self.closing.hold_before_closed(&situation, walls);
        }
        if !self.closing.held_back().is_empty() {
            self.closing.hold_back(&situation, walls);
        }
        keep_first(walls);
        for &(agent, (at, s)) in &*walls {
            let claim = &mut agents.claim[agent.index()];
            (claim.wall_at, claim.wall_s) = (at + 1, s);
        }
    }

    pub(super) fn room(&self) -> Room<'_> {
        Room {
            grants: &self.grants,
            closing: &self.closing,
            alleys: &self.alleys,
        }
    }

    fn rule(&self) -> EntryRule<'_> {
        EntryRule {
            room: self.room(),
            off_lanes: &self.off_lanes,
            entries: &self.entries,
            requests: &self.requests,
        }
    }

    /// Revokes the grants of the listed vehicles, each from the listed route index onwards.
    pub(super) fn take_back(&mut self, agents: &mut ClaimColumns<'_>) {
        for &(agent, at) in &self.scratch.revoked {
            self.alleys.forget_from(agent, at);
            self.grants.forget_from(agent, at);
            let claim = &mut agents.claim[agent.index()];
            claim.granted_to = claim.granted_to.min(at);
        }
    }

    /// Decides the requests in order.
    fn decide_all(&mut self, setting: Setting<'_>, agents: &mut ClaimColumns<'_>) {
        self.requests.pending_mut().clear();
        self.alleys.begin();
        let requests = self.requests.take();
        let from_the_road = self.alleys.take_requests();
        let mut alleys = from_the_road.iter().peekable();
        for request in &requests {
            // The requests for junctions and those for alleys from the open road are merged into
            // one order.
            let is_earlier =
                |other: &&AlleyRequest| (other.since, other.id) < (request.since, request.id);
            while let Some(earlier) = alleys.next_if(is_earlier) {
                self.decide_alley(earlier, setting, agents);
            }
            let situation = setting.with(agents.lent());
            let age = request.age(&situation);
            self.counts.longest_wait = self.counts.longest_wait.max(age);
            self.requests.note_wait(request.path.junction, age);
            // A vehicle behind a waiting vehicle cannot enter. It is not pending either, because it
            // would block others although it could not drive.
            let refused = if !situation.has_turn(request.agent, request.at) {
                Refusal::NotFirst
            } else if self.alleys.is_held_up_before(request.agent, request.at) {
                // If it held a ticket, it would wait for a vehicle that may in turn wait for that
                // ticket.
                Refusal::Alley
            } else {
                self.decide_one(request, setting, agents)
            };
            agents.claim[request.agent.index()].refused = refused;
        }
        for later in alleys {
            self.decide_alley(later, setting, agents);
        }
        self.requests.put_back(requests);
        self.alleys.put_back(from_the_road);
    }

    /// Decides a request for a junction and the alleys after it. If it is refused, returns the
    /// reason.
    fn decide_one(
        &mut self,
        request: &Request,
        setting: Setting<'_>,
        agents: &mut ClaimColumns<'_>,
    ) -> Refusal {
        let situation = setting.with(agents.lent());
        // Signals are checked first, because most waiting vehicles stand at a red light. However, a
        // vehicle that waits for an alley, or has waited long for room, keeps its reservation
        // meanwhile.
        let is_red = is_stopped_by_light(request, &situation);
        let keeps_room = || is_passed_over_for_room(request, request.path.junction, &situation);
        if is_red && !self.alleys.are_heeded(setting.ground) && !keeps_room() {
            return Refusal::Red;
        }
        let mut needs = std::mem::take(&mut self.scratch.needs);
        situation.needs(request, &mut needs);
        let verdict = match self.alleys.decide_beyond(request, &needs, &situation) {
            Refusal::None if is_red => Verdict::Refused(Refusal::Red),
            Refusal::None => self.rule().decide(request, &needs, &situation),
            refusal => Verdict::Refused(refusal),
        };
        let refusal = match verdict {
            Verdict::Granted { before } => {
                let junction = request.path.junction;
                let is_on_red = situation.may_turn_on_red(request.path);
                let is_locked = !is_on_red && is_locked(request, junction, &situation);
                self.counts.let_in_by_lock += u64::from(is_locked);
                self.alleys.grant(request.agent, &situation);
                agents.claim[request.agent.index()].granted_to =
                    self.grants
                        .grant(request, &needs, Terms { before, is_on_red });
                Refusal::None
            }
            Verdict::NothingNeeded => Refusal::None,
            Verdict::Refused(refusal) => {
                self.requests
                    .reserve_for(request, refusal, &needs, &situation);
                let may_last = matches!(
                    refusal,
                    Refusal::NoRoom | Refusal::Red | Refusal::Closed | Refusal::OffLanes
                );
                if !may_last {
                    let age = request.age(&situation);
                    self.alleys.keep_for(request.agent, age);
                }
                refusal
            }
        };
        self.scratch.needs = needs;
        refusal
    }

    /// Decides whether an agent on the open road may enter an alley.
    fn decide_alley(
        &mut self,
        request: &AlleyRequest,
        setting: Setting<'_>,
        agents: &mut ClaimColumns<'_>,
    ) {
        let situation = setting.with(agents.lent());
        let age = situation.step.saturating_sub(request.since) as f64 * situation.dt;
        self.counts.longest_wait = self.counts.longest_wait.max(age);
        if !self.alleys.has_turn(request, &situation) {
            return;
        }
        let refused = self.alleys.decide_on_road(request, age, &situation);
        agents.claim[request.agent.index()].refused = refused;
    }
}

impl Requests {
    /// Reserves room or a connection for a refused vehicle that has waited long enough. Other
    /// vehicles have to leave it free.
    fn reserve_for(
        &mut self,
        request: &Request,
        refusal: Refusal,
        needs: &[Need],
        situation: &Situation<'_>,
    ) {
        // A vehicle is pending only if other vehicles keep it from entering. A vehicle whose exit
        // is full is not pending, because others should not wait for a queue that does not concern
        // them. A vehicle that waits for an alley keeps others out of the alley but not out of the
        // junction, because vehicles leave the alley through the junction. A vehicle is also
        // pending if others fill a ring before it can enter, or take its room whenever its light is
        // red.
        let ring = |need: &Need| {
            let ring = situation.ground.ring(need.exit)?;
            ring.lanelets.first().copied()
        };
        let last = needs.last();
        let into_ring = last.and_then(ring);
        let reserved = match (refusal, into_ring) {
            (Refusal::GivesWay | Refusal::Occupied, _) => Reserved::Way,
            (Refusal::NoRoom, Some(ring)) => Reserved::Ring(ring),
            (Refusal::NoRoom | Refusal::Red, None) => match last {
                Some(need)
                    if is_passed_over_for_room(request, request.path.junction, situation) =>
                {
                    Reserved::Room(need.exit, situation.space(request.agent))
                }
                _ => return,
            },
            _ => return,
        };
        let is_long = situation.is_long(request.agent);
        let with = |need: &Need, reserved: Reserved| Pending {
            path: Connection::new(need.junction, need.path),
            is_long,
            reserved,
        };
        let on_connection = |need: &Need| with(need, reserved);
        if let Reserved::Room(..) = reserved {
            self.pending_mut().extend(last.map(on_connection));
            return;
        }
        // Either all junctions are reserved or none. Otherwise, because waiting times differ
        // between junctions, the vehicle would keep others out of one junction while it waits for
        // the next.
        let keeps_out = |need: &Need| keeps_others_out(request, need.junction, situation);
        let mut with_law = needs.iter().filter(|need| need.has_law);
        if needs.first().is_some_and(keeps_out) && with_law.all(keeps_out) {
            self.pending_mut().extend(needs.iter().map(on_connection));
            // While the last vehicle that leaves the ring is in the way, vehicles at other entries
            // would take the room in a small ring.
            if let (Reserved::Way, Some(ring), Some(need)) = (reserved, into_ring, last) {
                let room = Reserved::RoomInRing(ring, situation.space(request.agent));
                self.pending_mut().push(with(need, room));
            }
        }
    }
}

/// Whether a vehicle that holds a grant has not left the junction completely.
fn is_inside(grant: &Grant, situation: &Situation<'_>) -> bool {
    if !situation.agents.drives(grant.agent) {
        return false;
    }
    if situation.agents.progress[grant.agent.index()].at <= grant.at {
        return true;
    }
    let connection = situation.route(grant.agent).lanelet(grant.at);
    let length = connection.map_or(0.0, |connection| situation.ground.length(connection));
    situation.rear_of(grant) < length
}
