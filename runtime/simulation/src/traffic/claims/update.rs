//! One decision of all junctions: which vehicles have left, request, are let in, and have to wait inside.

use super::alley::{AlleyNeed, AlleyRequest, Alleys, Kept};
use super::gridlock::AT_LINE;
use super::request::{Need, Request};
use super::rule::{
    Pending, Reserved, Verdict, is_locked, is_passed_over_for_room, is_stopped_by_light,
    keeps_others_out,
};
use super::situation::{Given, Setting, Situation};
use super::walls::{Wall, keep_first};
use super::{Claims, Grant, Noted, Scratch, request};
use crate::agents::ClaimColumns;
use crate::records::{AgentIndex, Refusal};
use crate::traffic::people::{Over, People};
use roadwright_scenario::junction::Light;
use roadwright_scenario::{Connection, JunctionIndex};

impl Claims {
    /// Lets junctions decide if it is time. In between, only vehicles that no longer drive return their
    /// grants, because their indices will be reused.
    pub(crate) fn update(
        &mut self,
        given: Given<'_>,
        agents: &mut ClaimColumns<'_>,
        people: &mut People,
    ) {
        people.gather(given.fixed.ground);
        let is_due = given.clock.is_on_beat() || self.is_overdue || !people.busy().is_empty();
        self.scratch.has_decided = is_due;
        if is_due {
            self.is_overdue = false;
            self.decide_now(given, agents, people);
        } else {
            self.scratch.asks_for_green.clear();
            for &agent in agents.leaving() {
                self.forget(agent);
            }
        }
    }

    /// Revokes the grants of agents that have left their junctions or may no longer enter them, decides all
    /// requests, and sets where vehicles inside have to wait.
    fn decide_now(&mut self, given: Given<'_>, agents: &mut ClaimColumns<'_>, people: &mut People) {
        let Given {
            clock,
            fixed,
            routes,
            ..
        } = given;
        let ground = fixed.ground;
        self.look_off_lanes(ground, &given.index.off_lanes);
        let mut scratch = std::mem::take(&mut self.scratch);
        // First out, then in, so that room that becomes free can be granted in the same step.
        let situation = given.beside(people).with(agents.lent());
        self.note_places(&situation);
        self.keep(|grant| is_inside(grant, &situation));
        let has_alleys = self.heeds_alleys(ground);
        if has_alleys {
            self.alleys.look(&situation, &mut scratch.near_alleys);
        }
        self.find_revoked(&situation, &mut scratch.revoked);
        self.take_back(&scratch.revoked, agents);
        // After grants have been revoked, so that a vehicle that has lost its turn requests again in this
        // step.
        request::collect(clock.step, fixed, routes, agents, &mut scratch);
        if !people.busy().is_empty() {
            self.heed_people(given, people, agents, &mut scratch);
        }
        let setting = given.beside(people);
        let situation = setting.with(agents.lent());
        if has_alleys {
            let (near, out) = (&scratch.near_alleys, &mut scratch.alley_requests);
            self.alleys.collect(near, &situation, out);
        }
        // Before any vehicle is let in, because vehicles that are inside uninvited count for the decisions.
        self.watch(&mut scratch.intruders, agents.statistics, &situation);
        // Of two requests made in the same step the smaller id goes first. Ids are unique, so the order
        // does not depend on where agents are stored.
        scratch
            .requests
            .sort_unstable_by_key(|request| request.place_in_order());
        scratch
            .approaches
            .sort_unstable_by_key(|approach| approach.path.junction);
        self.decide_all(setting, agents, &mut scratch);
        // Rings consist of vehicles that have just been refused for lack of room, and walls need the
        // tickets of all vehicles that have been let in.
        self.turn_rings(clock, setting, agents, &mut scratch);
        let situation = setting.with(agents.lent());
        self.set_walls(&situation, &mut scratch.walls);
        if has_alleys {
            self.hold_before_alleys(&scratch.alley_requests, &mut scratch.walls);
        }
        if !self.closed.is_empty() {
            self.hold_before_closed(&situation, &mut scratch.walls);
        }
        if !self.held_back.is_empty() {
            self.hold_back(&situation, &mut scratch.walls);
        }
        keep_first(&mut scratch.walls);
        for &(agent, (at, s)) in &scratch.walls {
            let claim = &mut agents.claim[agent.index()];
            (claim.wall_at, claim.wall_s) = (at + 1, s);
        }
        let situation = setting.with(agents.lent());
        self.find_arrivals(&situation, &mut scratch);
        self.scratch = scratch;
        // Last, because pedestrians wait for all vehicles that have been let in, including in this step.
        let busy = people.busy().iter();
        let over: Vec<Vec<Over>> = busy
            .map(|&crossing| self.over(crossing, &situation))
            .collect();
        people.walk(clock, ground, &over);
        self.forget_places();
    }

    /// Caches the positions of the holders of grants until they move.
    fn note_places(&mut self, situation: &Situation<'_>) {
        for &junction in &self.busy {
            for grant in &mut self.granted[junction.index()] {
                if situation.agents.drives(grant.agent) {
                    grant.noted = Noted(situation.along(grant.agent, grant.at));
                }
            }
        }
    }

    fn forget_places(&mut self) {
        for &junction in &self.busy {
            for grant in &mut self.granted[junction.index()] {
                grant.noted = Noted::NOTHING;
            }
        }
    }

    /// Revokes grants, starting at an index of a route.
    pub(super) fn take_back(
        &mut self,
        revoked: &[(AgentIndex, u32)],
        agents: &mut ClaimColumns<'_>,
    ) {
        for &(agent, at) in revoked {
            self.forget_from(agent, at);
            let claim = &mut agents.claim[agent.index()];
            claim.granted_to = claim.granted_to.min(at);
        }
    }

    /// Finds vehicles that have not entered yet and must return their grants, because their signal has
    /// turned red or another vehicle has cut in before them.
    fn find_revoked(&self, situation: &Situation<'_>, out: &mut Vec<(AgentIndex, u32)>) {
        out.clear();
        for &junction in &self.busy {
            for grant in &self.granted[junction.index()] {
                // A vehicle in the junction is beyond its line, however far before the junction the line
                // lies.
                if situation.front_of(grant) > 0.0 {
                    continue;
                }
                let distance = situation.before_line(junction, grant);
                if distance < 0.0 {
                    continue;
                }
                let path = Connection::new(junction, grant.path);
                let light = situation.light(path);
                // At amber it continues if others count on that and it crosses the line before red.
                let is_near = distance <= AT_LINE;
                let is_kept =
                    || grant.is_in_ring || is_near && self.is_counted_on(grant, situation);
                let goes_on = grant.is_on_red || light == Light::Amber && is_kept();
                let stopped_at = match goes_on || light == Light::Green {
                    true => None,
                    false => stopped_by_light(junction, grant, distance, situation),
                };
                let is_closed = grant.is_first
                    && self.closed.contains(&junction)
                    && situation.can_stop(grant.agent, distance)
                    && !self.is_counted_on(grant, situation);
                let is_held = grant.is_first
                    && self.is_called_back(grant, situation)
                    && !self.is_counted_on(grant, situation);
                if let Some(at) = stopped_at {
                    out.push((grant.agent, at));
                } else if is_closed || is_held || !situation.has_turn(grant.agent, grant.at) {
                    out.push((grant.agent, grant.at));
                }
            }
        }
    }

    /// Whether others have been let onto a lane on which the holder of a grant is, or which it uses before
    /// it enters. They may count on it to drive on.
    fn is_counted_on(&self, grant: &Grant, situation: &Situation<'_>) -> bool {
        let from = situation.agents.progress[grant.agent.index()].at;
        let mut lanes = (from..grant.at).filter_map(|at| situation.route(grant.agent).lanelet(at));
        lanes.any(|lane| {
            let mut ways = situation.ground.graph().predecessors(lane).iter();
            let before = ways.find_map(|&way| situation.ground.contested(way));
            before.is_some_and(|Connection { junction, .. }| {
                let mut others = self.granted[junction.index()].iter();
                others.any(|other| other.exit == lane && other.agent != grant.agent)
            })
        })
    }

    /// Decides the requests in order.
    fn decide_all(
        &mut self,
        setting: Setting<'_>,
        agents: &mut ClaimColumns<'_>,
        scratch: &mut Scratch,
    ) {
        scratch.pending.clear();
        scratch.kept_alleys.clear();
        // Taken out for the loop and put back afterwards, because the rest of the scratch is written
        // meanwhile.
        let requests = std::mem::take(&mut scratch.requests);
        let from_the_road = std::mem::take(&mut scratch.alley_requests);
        let mut alleys = from_the_road.iter().peekable();
        for request in &requests {
            // Merged with the requests for alleys from the open road into one order.
            let is_earlier =
                |other: &&AlleyRequest| (other.since, other.id) < (request.since, request.id);
            while let Some(earlier) = alleys.next_if(is_earlier) {
                self.decide_alley(earlier, setting, agents, scratch);
            }
            let situation = setting.with(agents.lent());
            self.note_wait(request, &situation);
            // A vehicle behind another one that waits cannot enter. It is not pending either, because it
            // would hold up others although it could not drive.
            let refused = if !situation.has_turn(request.agent, request.at) {
                Refusal::NotFirst
            } else if self.alleys.is_held_up_before(request.agent, request.at) {
                // With a ticket it would wait for a vehicle that may wait for that ticket.
                Refusal::Alley
            } else {
                self.decide_one(request, setting, agents, scratch)
            };
            agents.claim[request.agent.index()].refused = refused;
        }
        for later in alleys {
            self.decide_alley(later, setting, agents, scratch);
        }
        (scratch.requests, scratch.alley_requests) = (requests, from_the_road);
    }

    /// Decides a request to a junction and the alleys beyond it. Returns why it is refused.
    fn decide_one(
        &mut self,
        request: &Request,
        setting: Setting<'_>,
        agents: &mut ClaimColumns<'_>,
        scratch: &mut Scratch,
    ) -> Refusal {
        let situation = setting.with(agents.lent());
        // First of all, because most waiting vehicles stand at a red light. But a vehicle that waits for an
        // alley, or has waited long for room, keeps its claim to it meanwhile.
        let is_red = is_stopped_by_light(request, &situation);
        let keeps_room = || is_passed_over_for_room(request, request.path.junction, &situation);
        if is_red && !self.heeds_alleys(setting.ground) && !keeps_room() {
            return Refusal::Red;
        }
        situation.needs(request, &mut scratch.needs);
        let (needs, alleys) = (&scratch.needs, &mut scratch.alley_needs);
        let verdict = match self.decide_beyond(
            request,
            needs,
            &mut *alleys,
            &scratch.kept_alleys,
            &situation,
        ) {
            Refusal::None if is_red => Verdict::Refused(Refusal::Red),
            Refusal::None => {
                let (pending, approaches) = (&scratch.pending, &scratch.approaches);
                self.decide(request, needs, pending, approaches, &situation)
            }
            refusal => Verdict::Refused(refusal),
        };
        match verdict {
            Verdict::Granted { before } => {
                let junction = request.path.junction;
                let is_on_red = situation.may_turn_on_red(request.path);
                let is_locked = !is_on_red && is_locked(request, junction, &situation);
                self.counts.let_in_by_lock += u64::from(is_locked);
                self.alleys.grant(request.agent, alleys, &situation);
                agents.claim[request.agent.index()].granted_to =
                    self.grant(request, needs, before, is_on_red);
                Refusal::None
            }
            Verdict::NothingNeeded => Refusal::None,
            Verdict::Refused(refusal) => {
                Self::reserve_for(request, refusal, needs, &mut scratch.pending, &situation);
                let may_last = matches!(
                    refusal,
                    Refusal::NoRoom | Refusal::Red | Refusal::Closed | Refusal::OffLanes
                );
                if !may_last {
                    let age = request.age(&situation);
                    Alleys::keep_for(request.agent, age, alleys, &mut scratch.kept_alleys);
                }
                refusal
            }
        }
    }

    /// Records what others leave to a vehicle that is not let in, if it has waited long enough.
    fn reserve_for(
        request: &Request,
        refusal: Refusal,
        needs: &[Need],
        pending: &mut Vec<Pending>,
        situation: &Situation<'_>,
    ) {
        // Only a vehicle that is held up by others is pending. A vehicle whose exit is full is not, because
        // others should not wait for a queue that does not concern them. A vehicle that waits for an alley
        // keeps others out of the alley but not out of the junction, by which vehicles inside the alley
        // leave. A vehicle is also pending if others fill a ring before it, or take its room whenever it
        // has a red light.
        let ring = |need: &Need| {
            let ring = situation.ground.ring(need.exit)?;
            ring.lanelets.first().copied()
        };
        let last = needs.last();
        let reserved = match (refusal, last.and_then(ring)) {
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
        let on_way = |need: &Need| Pending {
            path: Connection::new(need.junction, need.path),
            is_long,
            reserved,
        };
        if let Reserved::Room(..) = reserved {
            pending.extend(last.map(on_way));
            return;
        }
        // All junctions or none. Otherwise it would keep others out of one junction while it waits for the
        // next, because each junction has its own waiting time.
        let keeps_out = |need: &Need| keeps_others_out(request, need.junction, situation);
        let mut with_law = needs.iter().filter(|need| need.has_law);
        if needs.first().is_some_and(keeps_out) && with_law.all(keeps_out) {
            pending.extend(needs.iter().map(on_way));
        }
    }

    /// Decides whether the alleys beyond a junction keep a vehicle out of it. Fills `needs` with these
    /// alleys.
    fn decide_beyond(
        &self,
        request: &Request,
        junctions: &[Need],
        needs: &mut Vec<AlleyNeed>,
        kept: &[Kept],
        situation: &Situation<'_>,
    ) -> Refusal {
        needs.clear();
        if !self.heeds_alleys(situation.ground) {
            return Refusal::None;
        }
        self.alleys
            .needs_beyond(request, junctions, situation, needs);
        self.alleys.decide(request.agent, needs, kept, situation)
    }

    /// Decides a request for an alley from the open road.
    fn decide_alley(
        &mut self,
        request: &AlleyRequest,
        setting: Setting<'_>,
        agents: &mut ClaimColumns<'_>,
        scratch: &mut Scratch,
    ) {
        let situation = setting.with(agents.lent());
        let age = situation.step.saturating_sub(request.since) as f64 * situation.dt;
        self.counts.longest_wait = self.counts.longest_wait.max(age);
        if !self.alleys.has_turn(request, &situation) {
            return;
        }
        let needs = &mut scratch.alley_needs;
        self.alleys.needs_of(request, &situation, needs);
        let kept = &mut scratch.kept_alleys;
        let refused = self.alleys.decide(request.agent, needs, kept, &situation);
        match refused {
            Refusal::None => self.alleys.grant(request.agent, needs, &situation),
            Refusal::Alley => Alleys::keep_for(request.agent, age, needs, kept),
            _ => {}
        }
        agents.claim[request.agent.index()].refused = refused;
    }

    /// Holds vehicles that have not been let in before their alleys.
    fn hold_before_alleys(&self, requests: &[AlleyRequest], out: &mut Vec<(AgentIndex, Wall)>) {
        let waiting = requests.iter().filter(|one| !self.alleys.has_first(one));
        out.extend(waiting.map(|one| (one.agent, one.hold)));
    }

    fn note_wait(&mut self, request: &Request, situation: &Situation<'_>) {
        let age = request.age(situation);
        self.counts.longest_wait = self.counts.longest_wait.max(age);
        let junction = request.path.junction;
        let longest = &mut self.longest_waits[junction.index()];
        *longest = longest.max(age as f32);
    }

    /// Grants all that a request needs, before a ticket or after all. Returns the index in the agent's
    /// route before which it may now enter connections.
    pub(super) fn grant(
        &mut self,
        request: &Request,
        needs: &[Need],
        before: Option<u64>,
        is_on_red: bool,
    ) -> u32 {
        // Only a vehicle that needs a single junction passes before another one. A chain gets one ticket
        // after all others.
        let between = before.zip(needs.first());
        let ticket = match between {
            Some((before, need)) => self.ticket_before(need.junction, before),
            None => self.draw_ticket(),
        };
        for need in needs {
            let is_first = need.at == request.at;
            let grant = Grant {
                is_first,
                is_on_red: is_first && is_on_red,
                ..Grant::new(request.agent, need.path, need.at, need.exit, ticket)
            };
            self.add(need.junction, grant);
        }
        needs.last().map_or(0, |last| last.at + 1)
    }
}

/// The first index of its route that a grant's holder must return, because the signal of that junction
/// stops it. `distance` is how far its front is before the line, m. If there are narrow bends before the
/// junction, it stops before these. A vehicle in a bend continues, because it would block the bend, and
/// vehicles that wait for the bend may block the vehicle.
fn stopped_by_light(
    junction: JunctionIndex,
    grant: &Grant,
    distance: f64,
    situation: &Situation<'_>,
) -> Option<u32> {
    let first = situation.law_from(grant)?;
    let distance = match first == grant.at {
        true => distance,
        false => {
            let path = situation
                .ground
                .contested(situation.route(grant.agent).lanelet(first)?)?;
            -situation.front(grant.agent, first) - situation.setback(path)
        }
    };
    let path = Connection::new(junction, grant.path);
    let is_stopped = || situation.is_called_back_by_light(path, grant.agent, distance);
    (distance >= 0.0 && is_stopped()).then_some(first)
}

/// Whether a vehicle that holds a grant has not completely left the junction.
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
