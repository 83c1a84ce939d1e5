//! What junctions decide by.

use super::request::{Approach, Need, Request};
use super::scene::Scene;
use super::walls::Meeting;
use super::{Claims, Grant};
use crate::agents::Refusal;
use crate::ground::Ring;
use crate::route::place_to_wait;
use roadwright_scenario::Control;
use roadwright_scenario::junction::{GAP_ON_RED, RightOfWay, Sign};
use roadwright_scenario::lane_graph::LaneletId;

/// Nobody is let in who would have to wait longer inside for another, s. A larger value lets more
/// in, who then stand in each other's way.
const LONGEST_WAIT_INSIDE: f64 = 1.0;
/// Braking that a place to wait inside may need, m/s^2.
const BRAKING: f64 = 4.5;
/// Who has been let in is passed over only where braking gently is enough for it, m/s^2, and where the
/// other one has left so long before, s.
pub(super) const GENTLE: f64 = 2.0;
const LEAST_TIME_BETWEEN: f64 = 1.0;
/// Who has waited longer than this is not passed over any more, s.
const LOCK_AFTER: f64 = 60.0;
/// The same where nobody has the right of way, s: who came first goes first, but a junction holds more
/// if somebody who does not meet him may go beside him. At signals it is for who turns across the
/// oncoming traffic: on a lane that others use as well it would hold them up for all of their green.
pub(super) const TURN_AFTER: f64 = 6.0;
/// With waiting drivers take shorter gaps, down to this share of the critical gap.
const LEAST_GAP_SHARE: f64 = 0.6;
/// Who has been seeking a gap for so long, s, within so many metres of the end of its lane, gets the room that
/// becomes free on the lane beside.
const SEEKS_FOR: f32 = 10.0;
const AT_END: f64 = 12.0;
/// Slower than this counts as standing, m/s.
const STANDING: f64 = 0.2;
/// Who is faster than this inside a junction leaves it soon, m/s.
const DRIVES_OUT: f64 = 3.0;
/// Who is to enter while its signal is green may need so much longer than if nobody were before it, s.
const TIME_TO_ENTER: f64 = 2.0;
/// Of a ring so much may be taken. Before each who waits to join it some metres stay empty that nobody
/// can use, so a ring that is quite full comes to a standstill; and the fuller it is, the slower it turns.
/// With this share the most pass (0.6 to 1 were tried with cars and buses).
const RING_SHARE: f64 = 0.7;
/// A vehicle that stands this near to its stop line has stopped at it, m.
const AT_LINE: f64 = 4.0;

/// What comes of a request.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// With a ticket before that of another one, or after all of them.
    Granted {
        before: Option<u64>,
    },
    /// The route ends before it needs anything.
    NothingNeeded,
    Refused(Refusal),
}

/// Whom room on a lane is counted without, because they drive on.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Trust {
    /// For who passes before others.
    Nobody,
    /// Who has been let into the next junction, hardly waits there for others, and does not lose its turn any
    /// more, to a red light or to people on foot.
    LetIn,
}

/// What a junction decides by.
pub(super) struct JunctionState<'a> {
    pub(super) inside: &'a [Grant],
    /// What those wait for who are not passed over any more.
    pub(super) pending: &'a [Pending],
    /// Who comes near.
    pub(super) approaches: &'a [Approach],
}

impl Claims {
    /// All that a request needs is granted, or nothing.
    pub(super) fn decide(
        &self,
        request: &Request,
        needs: &[Need],
        (pending, approaches): (&[Pending], &[Approach]),
        scene: &Scene<'_>,
    ) -> Verdict {
        if needs.is_empty() {
            return Verdict::NothingNeeded;
        }
        if needs
            .iter()
            .any(|need| self.closed.contains(&need.junction))
            || self.is_held_back((request.agent, needs), scene)
        {
            return Verdict::Refused(Refusal::Closed);
        }
        if self.is_taken(needs) {
            return Verdict::Refused(Refusal::OffLanes);
        }
        if let Err(refusal) = self.find_room((request, needs), pending, Trust::LetIn, scene) {
            return Verdict::Refused(refusal);
        }
        if self.still_looks(request, &needs[0], scene) {
            return Verdict::Refused(Refusal::Looks);
        }
        // All or nothing. A vehicle that had the first junction of a chain and waited for the second would
        // stand in the first one and keep everybody out of it.
        let mut before = None;
        for need in needs {
            let junction = JunctionState {
                inside: &self.granted[need.junction as usize],
                pending,
                approaches: of_junction(approaches, need.junction),
            };
            match may_enter(request, need, &junction, scene) {
                Ok(place) => before = place,
                Err(refusal) => return Verdict::Refused(refusal),
            }
        }
        // One ticket counts in all junctions of a chain: it is after all others.
        if before.is_some() && needs.len() > 1 {
            return Verdict::Refused(Refusal::Occupied);
        }
        // Who trusts somebody waits for it if need be, and it has the lower ticket, as all have who were let in
        // before. Who passes before others has not the highest one, so it trusts nobody.
        if before.is_some()
            && let Err(refusal) = self.find_room((request, needs), pending, Trust::Nobody, scene)
        {
            return Verdict::Refused(refusal);
        }
        Verdict::Granted { before }
    }

    /// Whether there is room on all lanes beyond the junctions that a request needs, or why not.
    fn find_room(
        &self,
        (request, needs): (&Request, &[Need]),
        pending: &[Pending],
        trust: Trust,
        scene: &Scene<'_>,
    ) -> Result<(), Refusal> {
        let (last, passed) = needs.split_last().expect("there are needs");
        // A lane that is only passed becomes free when others let it: who waits for it long keeps them
        // from entering it. Whether the exit drains is not theirs to say.
        let mut passed = passed.iter();
        if !passed.all(|need| self.has_room(request, need, (false, pending), trust, scene)) {
            return Err(Refusal::Occupied);
        }
        match self.has_room(request, last, (true, pending), trust, scene) {
            true => Ok(()),
            false => Err(Refusal::NoRoom),
        }
    }

    /// Whether the vehicle would find room beyond a junction, so that it does not come to stand in it.
    ///
    /// Room is counted as if all that is there stood in a queue, bumper to bumper with a gap: their
    /// places and speeds now do not count, since they may all have to stop; but for who is trusted to drive
    /// on. A lane that is only passed, on the way to the next junction of a chain, must be empty of all others.
    ///
    /// Example: an exit of 20 m, one car of 4.5 m that waits there, another that has been let in and
    /// has not passed yet. They take 2 * (4.5 + 2) = 13 m. A car fits, a bus of 10 m does not.
    pub(super) fn has_room(
        &self,
        request: &Request,
        need: &Need,
        (is_last, pending): (bool, &[Pending]),
        trust: Trust,
        scene: &Scene<'_>,
    ) -> bool {
        if let Some(ring) = scene.ground.ring(need.exit) {
            let connection = scene.route(request.agent).lanelet(need.at);
            let goes_round = connection.is_some_and(|id| scene.ground.ring(id).is_some());
            // Who has waited for long is the next one to get in, wherever it enters the ring.
            let first = ring.lanelets.first().copied();
            let is_kept = pending.iter().any(|p| p.ring.is_some() && p.ring == first);
            return goes_round || !is_kept && self.ring_has_room(ring, request, scene);
        }
        let room = self.room_beyond(request, need, trust, scene);
        // The exit may be shorter than the vehicle, where lanes beyond it count as well
        // (`Scene::needs`): then it has to be empty, and that is enough.
        let fits = is_last && room >= scene.space(request.agent);
        fits || room
            >= self
                .held_up_to(need.exit, scene)
                .min(scene.lanes().queue_end(need.exit))
    }

    /// What is left of the lane beyond a junction when all that is there, or has been promised a place,
    /// stands in a queue, m; negative if they do not fit. Who is trusted to drive on into the next junction
    /// leaves no queue behind.
    pub(super) fn room_beyond(
        &self,
        request: &Request,
        need: &Need,
        trust: Trust,
        scene: &Scene<'_>,
    ) -> f64 {
        let tail = scene.lanes().tail(need.exit);
        // From the end of the lane backwards: who is behind somebody that stays there stays as well.
        let mut drive_on = trust == Trust::LetIn && tail.is_whole;
        let mut stays = |agent: u32, at: u32| {
            drive_on = drive_on && self.drives_on(agent, at, scene);
            !drive_on
        };
        let there = tail.there.iter().rev().map(|entry| {
            let at = scene.agents.progress[entry.agent as usize].at;
            (entry.agent, at)
        });
        // In the order of their tickets, which is that in which they come.
        let promised = self.promised(scene.agents, need.junction, need.exit);
        let promised = promised.map(|grant| (grant.agent, grant.at + 1));
        let others = there
            .chain(promised)
            .filter(|&(agent, at)| agent != request.agent && stays(agent, at));
        let (mut taken, mut reach) = (0.0, tail.reach.min(self.held_up_to(need.exit, scene)));
        for (agent, at) in others {
            taken += scene.space(agent);
            reach = reach.min(scene.waits_up_to(agent, (at, need.exit)));
        }
        if taken > 0.0 {
            reach = reach.min(scene.waits_up_to(request.agent, (need.at + 1, need.exit)));
        }
        reach - taken - space_for_seekers(need.exit, scene)
    }

    /// Up to where those drive up on a lane who are held back before a junction that changes, m; its end for
    /// most.
    fn held_up_to(&self, lane: LaneletId, scene: &Scene<'_>) -> f64 {
        scene.ground.length(lane) - self.kept_free_before_end(lane, scene)
    }

    /// Whether a vehicle is sure to drive on from the lane at an index of its route: it has been let into the
    /// next junction, and is in it and drives, or hardly waits for others there and cannot lose its turn.
    fn drives_on(&self, agent: u32, at: u32, scene: &Scene<'_>) -> bool {
        let granted_to = scene.agents.claim[agent as usize].granted_to;
        let beyond = at + 1;
        if granted_to <= beyond {
            return false;
        }
        let drives_out = scene.speed(agent) >= DRIVES_OUT && scene.front(agent, beyond) > 0.0;
        // Ways that nobody else meets are granted to nobody.
        let mut ways = beyond..granted_to;
        let mut next = || {
            ways.find_map(|at| {
                let way = scene.route(agent).lanelet(at)?;
                Some((at, scene.ground.contested(way)?))
            })
        };
        drives_out || next().is_some_and(|next| self.keeps_its_turn(agent, next, scene))
    }

    fn keeps_its_turn(
        &self,
        agent: u32,
        (at, (junction, path)): (u32, (u32, u32)),
        scene: &Scene<'_>,
    ) -> bool {
        let mut held = self.granted[junction as usize].iter();
        let held = held.find(|grant| (grant.agent, grant.at) == (agent, at));
        held.is_some_and(|grant| {
            let enters = || {
                grant.has_entered
                    || !grant.is_first
                    || scene.is_bound_to_enter(grant, (junction, path))
            };
            let is_open = !self.closed.contains(&junction) && !self.held_back().contains(&junction);
            grant.is_invited && f64::from(grant.delay) <= LONGEST_WAIT_INSIDE && is_open && enters()
        })
    }

    /// Whether one more vehicle fits into a ring, and another one beside it, within [`RING_SHARE`] of
    /// its length: so everybody in the ring can move on to where it leaves it. An empty ring takes
    /// everybody.
    fn ring_has_room(&self, ring: &Ring, request: &Request, scene: &Scene<'_>) -> bool {
        let agents = scene.agents;
        let is_there = |agent: u32, lanelet: LaneletId| {
            agents.position[agent as usize].lanelet == lanelet && agent != request.agent
        };
        let driving = ring.lanelets.iter().flat_map(|&lanelet| {
            let entries = scene.index.on_lanelet(lanelet).iter();
            entries
                .map(|entry| entry.agent)
                .filter(move |&agent| is_there(agent, lanelet))
        });
        // Who has been let in, and is not in the ring yet.
        let junctions = ring.junctions.iter();
        let coming = junctions.flat_map(|&junction| &self.granted[junction as usize]);
        let coming = coming.filter(|grant| {
            let position = &agents.position[grant.agent as usize];
            ring.lanelets.binary_search(&grant.exit).is_ok()
                && ring.lanelets.binary_search(&position.lanelet).is_err()
                && agents.progress[grant.agent as usize].at <= grant.at
        });
        let taken: f64 = driving
            .chain(coming.map(|grant| grant.agent))
            .map(|agent| scene.space(agent))
            .sum();
        taken == 0.0 || taken + 2.0 * scene.space(request.agent) <= RING_SHARE * ring.length
    }
}

impl Scene<'_> {
    /// How far a vehicle is sure to drive up on a lane at an index of its route, m: without end, but where it
    /// has to change lanes and may wait for a gap.
    fn waits_up_to(&self, agent: u32, (at, lane): (u32, LaneletId)) -> f64 {
        let changes = self.route(agent).lane_changes_on(at, self.ground);
        let kind = self.vehicle_type(agent);
        let place = place_to_wait(self.ground.length(lane), changes);
        // On a short lane it does not wait: it would do so in the junction.
        if changes == 0 || place < kind.rear_overhang {
            return f64::INFINITY;
        }
        place + kind.front
    }

    /// Whether nothing keeps the holder of a grant, which has not entered, from entering: nobody may walk over
    /// its way, and there is no signal that may show something else than green before; or it cannot stop any
    /// more.
    fn is_bound_to_enter(&self, grant: &Grant, (junction, path): (u32, u32)) -> bool {
        let distance = self.before_line(junction, grant).max(0.0);
        if !self.can_stop(grant.agent, distance) && !self.light((junction, path)).is_red() {
            return true;
        }
        let green = self
            .signals
            .keeps_green(self.ground, (junction, path), self.time());
        let enters = self.time_for(distance, grant.agent, grant.at) + TIME_TO_ENTER;
        green > enters && !self.may_be_walked_over(grant.agent, (junction, path))
    }

    /// Whether people may walk over a path of a junction as long as signals show what they show.
    fn may_be_walked_over(&self, agent: u32, (junction, path): (u32, u32)) -> bool {
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

/// Length in a queue of those, m, who stand at the end of a lane beside an exit, and get nowhere but by changing
/// to it: the room that the next vehicle leaves there is theirs. Others would be let in for ever, count on
/// that room, and keep them where they are, and with them all who stand behind.
fn space_for_seekers(exit: LaneletId, scene: &Scene<'_>) -> f64 {
    let lanes = scene.ground.graph().changing_onto(exit);
    let seeking = lanes.filter_map(|lane| {
        let first = scene.index.on_lanelet(lane).last()?;
        let progress = &scene.agents.progress[first.agent as usize];
        let is_at_end = scene.ground.length(lane) - first.s < AT_END;
        let has_waited = progress.standing >= 1.0 && progress.seeking.abs() >= SEEKS_FOR;
        let wants_over = scene.route(first.agent).lanelet(progress.at + 1) == Some(exit);
        (is_at_end && has_waited && wants_over).then(|| scene.space(first.agent))
    });
    seeking.sum()
}

/// Those of the approaches, in the order of their junctions, that lead to one.
pub(super) fn of_junction(approaches: &[Approach], junction: u32) -> &[Approach] {
    let from = approaches.partition_point(|approach| approach.path.0 < junction);
    let to = approaches.partition_point(|approach| approach.path.0 <= junction);
    &approaches[from..to]
}

/// Whether a request is not passed over any more: it need not give way, and who conflicts with it has
/// to wait.
pub(super) fn is_locked(request: &Request, junction: u32, scene: &Scene<'_>) -> bool {
    let mut age = request.age(scene);
    let control = scene.ground.law(junction).right_of_way.control();
    let has_signals = scene.ground.signals(junction).is_some();
    if has_signals {
        // Time at a red light gives no right to go before others when it turns green.
        let signals = scene.signals;
        age = age.min(signals.time_in_stage(scene.ground, junction, scene.time()));
    }
    age >= lock_after(control, has_signals)
}

/// How long one waits before one is not passed over any more, s; at signals, with green.
pub(super) fn lock_after(control: Control, has_signals: bool) -> f64 {
    match control {
        Control::AllWayStop | Control::Zipper => 0.0,
        // Each may wait for the next one round, in a circle.
        Control::Uncontrolled | Control::MiniRoundabout => TURN_AFTER,
        _ if has_signals => TURN_AFTER,
        _ => LOCK_AFTER,
    }
}

/// A connection that somebody waits for who is not passed over any more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    /// Junction and connection.
    pub(super) path: (u32, u32),
    /// Whether it is a bus or lorry that waits.
    pub(super) is_long: bool,
    /// The first lanelet of the ring in which it waits for room.
    pub(super) ring: Option<LaneletId>,
}

/// Before whose ticket a vehicle may enter a junction now, or after all of them; or why it may not.
fn may_enter(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    scene: &Scene<'_>,
) -> Result<Option<u64>, Refusal> {
    is_stopped(request, need, scene)?;
    let right = &scene.ground.law(need.junction).right_of_way;
    let path = (need.junction, need.path);
    if need.at == request.at && scene.light(path).is_red() {
        return turns_on_red(request, need, junction, scene);
    }
    // The light of the first junction has been looked at already.
    let is_behind_bend = need.has_law && need.at != request.at;
    if is_behind_bend && scene.is_stopped_by_light(path, request.agent, to_line(request, scene)) {
        return Err(Refusal::Red);
    }
    let is_locked = is_locked(request, need.junction, scene);
    if need.has_law && !is_locked && gives_way(request, need, junction, right, scene) {
        return Err(Refusal::GivesWay);
    }
    find_place(request, need, junction, scene)
}

/// The same for who turns at a red light where that is allowed: others never wait for it, however long it
/// has waited, and it passes after all who have been let in.
fn turns_on_red(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    scene: &Scene<'_>,
) -> Result<Option<u64>, Refusal> {
    let conflicts = scene.ground.conflicts(need.junction, false);
    let others = junction.approaches.iter();
    let mut others = others.filter(|other| {
        other.agent != request.agent && conflicts.are_in_conflict(need.path, other.path.1)
    });
    if others.any(|other| comes_within(GAP_ON_RED, other, (request, need), scene)) {
        return Err(Refusal::Red);
    }
    match find_place(request, need, junction, scene)? {
        None => Ok(None),
        Some(_) => Err(Refusal::Red),
    }
}

/// Whether a vehicle that asks is stopped by the signal of the first junction that it needs.
pub(super) fn is_stopped_by_light(request: &Request, scene: &Scene<'_>) -> bool {
    let distance = to_line(request, scene);
    let turns_on_red =
        scene.may_turn_on_red(request.path) && has_stopped(request.agent, distance, scene);
    !turns_on_red && scene.is_stopped_by_light(request.path, request.agent, distance)
}

/// How far the front of a vehicle that asks is before the first stop line, m.
fn to_line(request: &Request, scene: &Scene<'_>) -> f64 {
    -scene.front(request.agent, request.at) - scene.setback(request.path)
}

/// Whether a sign or people on foot stop a vehicle, and which of them.
pub(super) fn is_stopped(request: &Request, need: &Need, scene: &Scene<'_>) -> Result<(), Refusal> {
    // Signs are for who comes to the first junction of a chain that has any: between it and the next one
    // nobody can stand, so there is no line to stop at.
    let is_stop = scene.sign((need.junction, need.path)) == Sign::Stop;
    if need.has_law && is_stop && !has_stopped(request.agent, to_line(request, scene), scene) {
        return Err(Refusal::Stop);
    }
    if scene.waits_for_people(request, need) {
        return Err(Refusal::People);
    }
    Ok(())
}

/// Before whose ticket a vehicle finds a place among those inside, or after all of them; or that others
/// are in its way, or are not passed over any more.
pub(super) fn find_place(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    scene: &Scene<'_>,
) -> Result<Option<u64>, Refusal> {
    let before = place_among(request, need, junction.inside, scene).ok_or(Refusal::Occupied)?;
    // Who waits for room in a ring keeps others out of that ring (`has_room`), not out of the junction.
    let mut earlier = junction
        .pending
        .iter()
        .filter(|p| p.path.0 == need.junction && p.ring.is_none());
    let would_pass_over = |other: &Pending| {
        let is_long = other.is_long || scene.is_long(request.agent);
        let conflicts = scene.ground.conflicts(need.junction, is_long);
        conflicts.are_in_conflict(need.path, other.path.1)
    };
    match earlier.any(would_pass_over) {
        true => Err(Refusal::Occupied),
        false => Ok(before),
    }
}

/// Before whose ticket there is a place for a vehicle among those who have been let in: `Some(None)`
/// after all of them, `None` nowhere.
///
/// Mostly it comes after all. But who has been let in from far away may still be so far that it is not
/// disturbed if another one passes first; on a major road, where vehicles follow each other, nobody
/// would get in between them otherwise.
fn place_among(
    request: &Request,
    need: &Need,
    inside: &[Grant],
    scene: &Scene<'_>,
) -> Option<Option<u64>> {
    let others = || inside.iter().filter(|grant| grant.agent != request.agent);
    let in_the_way = |grant: &&Grant| is_in_the_way(request, need, grant, scene);
    let Some(first) = others().find(in_the_way) else {
        return Some(None);
    };
    // Before the first one that is in the way is before all with later tickets, too.
    let mut later = others().skip_while(|grant| grant.ticket < first.ticket);
    let is_undisturbed = later.all(|grant| passes_before(request, need, grant, scene));
    is_undisturbed.then_some(Some(first.ticket))
}

/// Whether a vehicle that asks can pass before one that has been let in, without disturbing it: it has
/// left the place where they meet a while before the other one comes, and a critical gap before if it
/// has to give way to it.
fn passes_before(request: &Request, need: &Need, grant: &Grant, scene: &Scene<'_>) -> bool {
    // Vehicles on one lane go in their order.
    let lane = |agent: u32, at: u32| scene.route(agent).lanelet(at.checked_sub(1)?);
    if lane(request.agent, need.at) == lane(grant.agent, grant.at) {
        return false;
    }
    let is_long = scene.is_long(request.agent) || scene.is_long(grant.agent);
    let conflicts = scene.ground.conflicts(need.junction, is_long);
    let Some((own, theirs)) = conflicts.between(need.path, grant.path) else {
        return true;
    };
    let speed = scene.speed(grant.agent);
    let distance = theirs.from - scene.front_of(grant);
    // The other one would have to wait: only who can still do so before the place, and gently, is made
    // to.
    if !grant.is_invited || distance < speed * speed / (2.0 * GENTLE) + speed * scene.period {
        return false;
    }
    let comes = scene.time_for(distance, grant.agent, grant.at);
    let is_merge = conflicts.is_merge(need.path, grant.path);
    // Into one lane the other follows from where they meet, so the rear need not have left the whole
    // place.
    let end = if is_merge { own.from } else { own.to };
    let way = end - scene.rear(request.agent, need.at);
    let leaves = scene.time_for(way, request.agent, need.at);
    let right = &scene.ground.law(need.junction).right_of_way;
    let to_line = -scene.front(request.agent, need.at);
    let enters = scene.time_for(to_line, request.agent, need.at);
    let gives_way = scene.gives_way(need.junction, need.path, grant.path);
    comes > leaves + LEAST_TIME_BETWEEN
        && (!gives_way || comes > enters + critical_gap(request, need, right, scene))
}

/// Whether a vehicle stands at its stop line.
fn has_stopped(agent: u32, distance: f64, scene: &Scene<'_>) -> bool {
    scene.speed(agent) < STANDING && distance < AT_LINE
}

/// Whether a vehicle that was let in before keeps this one out: the place where they meet is so near
/// that it could not stop before it, or it would have to wait there for long.
///
/// ```text
///              |  u |
///   v ---------+....#....      v may enter before u has left the hatched place, if it can stop
///              |  | |          before it, and if u will have left when v comes there. Who goes
///                 v            first is settled: v has the higher ticket.
/// ```
fn is_in_the_way(request: &Request, need: &Need, grant: &Grant, scene: &Scene<'_>) -> bool {
    let agent = request.agent;
    let Some(meeting) = Meeting::of(need.junction, (need.path, agent), grant, scene) else {
        return false;
    };
    let speed = scene.speed(agent);
    let distance = meeting.own.from - scene.front(agent, need.at);
    // It could not stop before the place any more, so it may not count on anybody's leaving in time.
    let braking = scene.braking(agent, BRAKING);
    if distance < speed * speed / (2.0 * braking) + speed * scene.period {
        return true;
    }
    // Who has a sign waits until the other one is nearly gone: a gap begins behind it.
    let right = &scene.ground.law(need.junction).right_of_way;
    let waits_for_gap = right.follow_up(need.path) > 0.0
        && !meeting.is_merge
        && scene.gives_way(need.junction, need.path, grant.path)
        && !is_locked(request, need.junction, scene);
    let comes = match waits_for_gap {
        // As if it were there: all the time that the other takes to leave counts as waiting.
        true => 0.0,
        false => scene.time_for(distance, agent, need.at),
    };
    // Who joins a ring sets out so that it comes when the other has left: sooner it would creep to the
    // place and join slowly, and those behind in the ring, who have little room, would stop for it.
    let joins = right.control() == Control::Roundabout
        && meeting.is_merge
        && scene.gives_way(need.junction, need.path, grant.path);
    let longest_wait = if joins { 0.0 } else { LONGEST_WAIT_INSIDE };
    meeting.time_to_leave(grant, scene) - comes > longest_wait
}

/// Whether somebody comes whom a vehicle has to let pass: who has the right of way, has not been let
/// in yet, and would be there within the critical gap.
fn gives_way(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    right: &RightOfWay,
    scene: &Scene<'_>,
) -> bool {
    let is_permitted = scene
        .signals
        .is_permitted(scene.ground, (need.junction, need.path));
    if !right.gives_way_to_any(need.path) && !is_permitted {
        return false;
    }
    let gap = critical_gap(request, need, right, scene);
    let mut others = junction.approaches.iter().filter(|other| {
        other.agent != request.agent && scene.gives_way(need.junction, need.path, other.path.1)
    });
    others.any(|other| comes_within(gap, other, (request, need), scene))
}

/// Whether another one that may drive comes to where it meets a vehicle less than a gap, s, after that
/// could enter.
fn comes_within(
    gap: f64,
    other: &Approach,
    (request, need): (&Request, &Need),
    scene: &Scene<'_>,
) -> bool {
    if scene.light(other.path).is_red() || is_held_up(other, scene) {
        return false;
    }
    let to_line = -scene.front(request.agent, need.at);
    let waits = scene.time_for(to_line, request.agent, need.at);
    let conflicts = scene.ground.conflicts(need.junction, false);
    let met = conflicts.between(other.path.1, need.path);
    // Until it is where both ways meet, and not only at its own line.
    let way = other.distance + met.map_or(0.0, |(place, _)| place.from);
    scene.time_for(way, other.agent, other.at) < waits + gap
}

/// The time to the next vehicle with the right of way before which one enters, s; with waiting it
/// becomes less.
fn critical_gap(request: &Request, need: &Need, right: &RightOfWay, scene: &Scene<'_>) -> f64 {
    let patience = (request.age(scene) / LOCK_AFTER).min(1.0);
    right.critical_gap(need.path) * (1.0 - (1.0 - LEAST_GAP_SHARE) * patience)
}

/// Whether a vehicle with the right of way cannot make use of it: it stands behind another, waits for
/// people on foot, or has no room beyond.
pub(super) fn is_held_up(other: &Approach, scene: &Scene<'_>) -> bool {
    let refused = scene.agents.claim[other.agent as usize].refused;
    scene.speed(other.agent) < STANDING
        && matches!(
            refused,
            Refusal::NoRoom | Refusal::NotFirst | Refusal::People | Refusal::Alley
        )
}
