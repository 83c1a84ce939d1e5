//! The rules by which junctions decide requests.

use super::follow_up::Entries;
use super::grants::Grant;
use super::off_lanes::BlockedConnections;
use super::request::{Approach, Need, Request, Requests};
use super::room::{Room, Stay, Trust};
use super::situation::Situation;
use super::walls::Meeting;
use crate::records::{AgentIndex, Refusal};
use roadwright_scenario::junction::{GAP_ON_RED, Sign};
use roadwright_scenario::lane_graph::LaneletIndex;
use roadwright_scenario::{Connection, Control, JunctionIndex};

/// A vehicle is let in only if it has to wait for another one inside the junction for at most this
/// time, s. A larger value lets in more vehicles, which then obstruct each other.
pub(super) const LONGEST_WAIT_INSIDE: f64 = 1.0;
/// Minimum time between the departure of another vehicle and the arrival of a requesting vehicle,
/// s. It applies where vehicles alternate without signs or lights. A vehicle that has to wait
/// inside stops and starts again, and so do all vehicles behind it. With 0 s, a crossing without
/// signs handles 3 % fewer vehicles; with a wait of 1 s inside, 9 % fewer.
const COMES_AFTER: f64 = 0.5;
/// Maximum deceleration that a vehicle may need in order to stop before a conflict, m/s^2.
const BRAKING: f64 = 4.5;
/// Maximum deceleration that may be imposed on an admitted vehicle by another vehicle that passes
/// first, m/s^2.
pub(super) const GENTLE: f64 = 2.0;
/// Minimum time between the departure of the vehicle that passes first and the arrival of the
/// admitted vehicle, s.
const LEAST_TIME_BETWEEN: f64 = 1.0;
/// A request may no longer be passed over after it has waited for this time, s.
const LOCK_AFTER: f64 = 60.0;
/// A vehicle yields for this time if no approach has a sign, s. At signals, a vehicle that turns
/// across oncoming traffic yields for this time. After this time, such a vehicle may not be passed
/// over either, because on a shared lane it would block the vehicles behind it for their whole
/// green.
pub(super) const TURN_AFTER: f64 = 6.0;
/// A vehicle may be passed over for this time if no approach has a sign, s.
const OPEN_FOR: f64 = 30.0;
/// Smallest fraction of the critical gap that drivers accept after a long wait. The longer they
/// wait, the shorter the gaps that they accept.
const LEAST_GAP_SHARE: f64 = 0.6;
/// Maximum deceleration that may be imposed on a vehicle on the main road if another vehicle joins
/// from an acceleration lane, m/s^2.
const JOINED_BRAKING: f64 = 3.0;
/// Critical gap for joining a main road from an acceleration lane at the speed limit, s.
const GAP_TO_JOIN: f64 = 1.5;
/// Additional critical gap for joining, per m/s below the speed limit, s^2/m. For a vehicle that
/// joins a motorway from rest, the critical gap is 6.5 s, as at a yield sign.
const GAP_PER_SLOWNESS: f64 = 0.15;
/// Where lanes alternate, the vehicle whose turn it is goes first unless it is farther from the
/// merge than the vehicle on the other lane by more than this, m. The value is the length of a
/// vehicle and its gap in a slow queue.
const ALTERNATES_WITHIN: f64 = 12.0;
/// Speed below which a vehicle counts as stationary, m/s.
const STANDING: f64 = 0.2;
/// A stationary vehicle counts as having stopped at its stop line within this distance of the line,
/// m.
const AT_LINE: f64 = 4.0;

/// Outcome of a request.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// The request is granted, with a ticket just before the ticket `before`. If `before` is
    /// `None`, its ticket comes after all others.
    Granted {
        before: Option<u64>,
    },
    /// The route ends before the first connection that needs a grant.
    NothingNeeded,
    Refused(Refusal),
}

/// State of a junction that its decisions are based on.
pub(super) struct JunctionState<'a> {
    pub(super) inside: &'a [Grant],
    /// Vehicles that may no longer be passed over, each with the room or connection that is
    /// reserved for it.
    pub(super) pending: &'a [Pending],
    /// Vehicles that approach the junction.
    pub(super) approaches: &'a [Approach],
}

/// Inputs to decisions about requests for junctions.
#[derive(Clone, Copy)]
pub(super) struct EntryRule<'a> {
    pub(super) room: Room<'a>,
    pub(super) off_lanes: &'a BlockedConnections,
    pub(super) entries: &'a Entries,
    pub(super) requests: &'a Requests,
}

impl EntryRule<'_> {
    /// Grants all connections that a request needs, or none of them.
    pub(super) fn decide(
        &self,
        request: &Request,
        needs: &[Need],
        situation: &Situation<'_>,
    ) -> Verdict {
        if needs.is_empty() {
            return Verdict::NothingNeeded;
        }
        let closing = self.room.closing;
        if needs.iter().any(|need| closing.is_closed(need.junction))
            || closing.is_held_back(request.agent, needs, situation)
        {
            return Verdict::Refused(Refusal::Closed);
        }
        if self.off_lanes.has_any(needs) {
            return Verdict::Refused(Refusal::OffLanes);
        }
        if let Err(refusal) = self.find_room(request, needs, Trust::LetIn, situation) {
            return Verdict::Refused(refusal);
        }
        if (self.entries).still_looks(request, &needs[0], self.room.grants, situation) {
            return Verdict::Refused(Refusal::Looks);
        }
        // All or nothing: if a vehicle were let into only the first junction of a chain, it would
        // stand there while it waits for the second, and would block the first.
        let mut before = None;
        for need in needs {
            let junction = JunctionState {
                inside: self.room.grants.of(need.junction),
                pending: self.requests.pending(),
                approaches: of_junction(self.requests.approaches(), need.junction),
            };
            match may_enter(request, need, &junction, situation) {
                Ok(place) => before = place,
                Err(refusal) => return Verdict::Refused(refusal),
            }
        }
        // All junctions of a chain use the same ticket, so it has to come after all others.
        if before.is_some() && needs.len() > 1 {
            return Verdict::Refused(Refusal::Occupied);
        }
        // A vehicle may have to wait for a vehicle that it trusts, and it may only wait for
        // vehicles with lower tickets. Usually all vehicles that were let in earlier have lower
        // tickets. A vehicle that passes before others does not get the highest ticket, so it
        // trusts no vehicle.
        if before.is_some()
            && let Err(refusal) = self.find_room(request, needs, Trust::Nobody, situation)
        {
            return Verdict::Refused(refusal);
        }
        Verdict::Granted { before }
    }

    /// Checks whether there is room on all lanes beyond the junctions that a request needs. If
    /// there is not, returns the reason.
    fn find_room(
        &self,
        request: &Request,
        needs: &[Need],
        trust: Trust,
        situation: &Situation<'_>,
    ) -> Result<(), Refusal> {
        let (room, pending) = (self.room, self.requests.pending());
        let (last, passed) = needs.split_last().expect("the list of needs is not empty");
        // An intermediate lane becomes free only if other vehicles leave it, so a vehicle that has
        // waited long for it keeps them from entering. Whether the exit drains does not depend on
        // these vehicles.
        let mut passed = passed.iter();
        let has_room = |need, stay| room.has_room(request, need, stay, pending, trust, situation);
        if !passed.all(|need| has_room(need, Stay::Pass)) {
            return Err(Refusal::Occupied);
        }
        match has_room(last, Stay::Stop) {
            true => Ok(()),
            false => Err(Refusal::NoRoom),
        }
    }
}

/// Returns the approaches that lead to a junction. `approaches` is sorted by junction.
pub(super) fn of_junction(approaches: &[Approach], junction: JunctionIndex) -> &[Approach] {
    let from = approaches.partition_point(|approach| approach.path.junction < junction);
    let to = approaches.partition_point(|approach| approach.path.junction <= junction);
    &approaches[from..to]
}

/// Whether a requesting vehicle no longer has to yield.
pub(super) fn is_locked(
    request: &Request,
    junction: JunctionIndex,
    situation: &Situation<'_>,
) -> bool {
    let (control, has_signals) = kind_of(junction, situation);
    let lock_after = match situation.ground.joins_by(request.path) {
        // At the end of an acceleration lane, vehicles do not take turns.
        true => keep_out_after(control, has_signals),
        false => lock_after(control, has_signals),
    };
    waited(request, junction, situation) >= lock_after
}

/// Whether a request may no longer be passed over, so that conflicting vehicles have to wait.
pub(super) fn keeps_others_out(
    request: &Request,
    junction: JunctionIndex,
    situation: &Situation<'_>,
) -> bool {
    let (control, has_signals) = kind_of(junction, situation);
    waited(request, junction, situation) >= keep_out_after(control, has_signals)
}

fn kind_of(junction: JunctionIndex, situation: &Situation<'_>) -> (Control, bool) {
    let has_signals = situation.ground.signal_group_of(junction).is_some();
    (situation.ground.control(junction), has_signals)
}

/// Time that a vehicle has waited while it might have been let in, s.
fn waited(request: &Request, junction: JunctionIndex, situation: &Situation<'_>) -> f64 {
    let age = request.age(situation);
    if situation.ground.signal_group_of(junction).is_none() {
        return age;
    }
    // Waiting at a red light gives no priority when the light turns green.
    age.min(
        situation
            .signals
            .time_in_stage(situation.ground, junction, situation.time()),
    )
}

/// Time after which a vehicle no longer yields, s. At signals, only green time counts.
pub(super) fn lock_after(control: Control, has_signals: bool) -> f64 {
    match control {
        Control::AllWayStop | Control::Zipper => 0.0,
        // All vehicles may wait for each other in a circle.
        Control::Uncontrolled | Control::MiniRoundabout => TURN_AFTER,
        _ if has_signals => TURN_AFTER,
        _ => LOCK_AFTER,
    }
}

/// Waiting time after which a vehicle may no longer be passed over, s. At signals, only green time
/// counts. If no approach has a sign, vehicles that do not conflict with the vehicles inside may go
/// in the meantime. If all of them waited for the first vehicle after [`TURN_AFTER`], throughput
/// would fall to five sixths at a junction with four arms, and to half at a mini-roundabout with
/// six.
pub(super) fn keep_out_after(control: Control, has_signals: bool) -> f64 {
    match control {
        Control::Uncontrolled => OPEN_FOR,
        Control::MiniRoundabout => LOCK_AFTER,
        _ => lock_after(control, has_signals),
    }
}

/// Reservation for a waiting vehicle that may no longer be passed over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    /// Junction and connection that the vehicle waits for.
    pub(super) path: Connection,
    /// Whether the waiting vehicle is a bus or lorry.
    pub(super) is_long: bool,
    /// Room or connection that is reserved for the waiting vehicle.
    pub(super) reserved: Reserved,
}

/// Room or connection that is reserved for a vehicle that may no longer be passed over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reserved {
    /// The vehicle's connection through the junction.
    Way,
    /// All room in a ring, identified by the ring's first lanelet.
    Ring(LaneletIndex),
    /// Length of room in a ring, m. The ring is identified by its first lanelet.
    RoomInRing(LaneletIndex, f64),
    /// Length of room on the lane beyond the junction, m.
    Room(LaneletIndex, f64),
}

/// Whether a vehicle at signals has waited so long for room beyond the junction that the next room
/// is reserved for it, even while its signal is red. Otherwise, vehicles with green in other stages
/// would take the room each time.
pub(super) fn is_passed_over_for_room(
    request: &Request,
    junction: JunctionIndex,
    situation: &Situation<'_>,
) -> bool {
    request.age(situation) >= situation.ground.longest_cycle(junction)
}

/// Decides whether a vehicle may enter a junction now. Returns the ticket that the vehicle passes
/// before, or `None` if it passes after all others. If the vehicle may not enter, returns the
/// reason.
fn may_enter(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    situation: &Situation<'_>,
) -> Result<Option<u64>, Refusal> {
    is_stopped(request, need, situation)?;
    let path = Connection::new(need.junction, need.path);
    if need.at == request.at && situation.light(path).is_red() {
        return turns_on_red(request, need, junction, situation);
    }
    // The signal of the first junction has already been checked.
    let is_behind_bend = need.has_law && need.at != request.at;
    if is_behind_bend
        && situation.is_stopped_by_light(path, request.agent, to_line(request, situation))
    {
        return Err(Refusal::Red);
    }
    let is_locked = is_locked(request, need.junction, situation);
    if need.has_law && !is_locked && gives_way(request, need, junction, situation) {
        return Err(Refusal::GivesWay);
    }
    if is_turn_of_other_lane(request, need, junction, situation) {
        return Err(Refusal::GivesWay);
    }
    find_place(request, need, junction, situation)
}

/// Whether a vehicle has to let a vehicle on the other lane go first where two lanes merge in turn.
/// It does if the last admitted vehicle came from its own lane, and the other vehicle is about as
/// near to the merge.
fn is_turn_of_other_lane(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    situation: &Situation<'_>,
) -> bool {
    if !situation.ground.alternate_at(need.junction) || request.age(situation) > OPEN_FOR {
        return false;
    }
    let path = Connection::new(need.junction, need.path);
    let into_lane = |grant: &&Grant| grant.exit == need.exit && grant.agent != request.agent;
    let last = junction.inside.iter().rfind(into_lane);
    if last.is_none_or(|last| last.path != need.path) {
        return false;
    }
    let farthest = ALTERNATES_WITHIN - situation.front(request.agent, need.at);
    let mut others = junction.approaches.iter();
    others.any(|other| {
        other.distance < farthest
            && situation.alternate(path, other.path.number)
            && !is_held_up(other, situation)
    })
}

/// Like [`may_enter`], for a vehicle that may turn at a red light. Other vehicles never wait for it, however
/// long it has waited, and it passes after all vehicles that have been let in.
fn turns_on_red(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    situation: &Situation<'_>,
) -> Result<Option<u64>, Refusal> {
    let conflicts = situation.ground.car_conflicts(need.junction);
    let others = junction.approaches.iter();
    let mut others = others.filter(|other| {
        other.agent != request.agent && conflicts.are_in_conflict(need.path, other.path.number)
    });
    if others.any(|other| comes_within(GAP_ON_RED, other, request, need, situation)) {
        return Err(Refusal::Red);
    }
    match find_place(request, need, junction, situation)? {
        None => Ok(None),
        Some(_) => Err(Refusal::Red),
    }
}

/// Whether the vehicle has to stop for the signal at the first junction of its request.
pub(super) fn is_stopped_by_light(request: &Request, situation: &Situation<'_>) -> bool {
    let distance = to_line(request, situation);
    let turns_on_red =
        situation.may_turn_on_red(request.path) && has_stopped(request.agent, distance, situation);
    !turns_on_red && situation.is_stopped_by_light(request.path, request.agent, distance)
}

/// Distance from the front of a requesting vehicle to the first stop line, m.
pub(super) fn to_line(request: &Request, situation: &Situation<'_>) -> f64 {
    -situation.front(request.agent, request.at) - situation.setback(request.path)
}

/// Checks whether a vehicle is stopped by a sign or by pedestrians. The refusal states which of
/// them it is.
pub(super) fn is_stopped(
    request: &Request,
    need: &Need,
    situation: &Situation<'_>,
) -> Result<(), Refusal> {
    // Signs apply at the first junction of a chain that has any. Vehicles cannot stand between the junctions
    // of a chain, so there is no line to stop at.
    let is_stop = situation.sign(Connection::new(need.junction, need.path)) == Sign::Stop;
    if need.has_law
        && is_stop
        && !has_stopped(request.agent, to_line(request, situation), situation)
    {
        return Err(Refusal::Stop);
    }
    if situation.waits_for_people(request, need) {
        return Err(Refusal::People);
    }
    Ok(())
}

/// Finds the place of a request in the junction's order. Returns the ticket that the vehicle passes
/// before, or `None` if it passes after all others. Refuses the request if admitted vehicles leave
/// no place for it, or if the vehicle would overtake an earlier request that has reserved a
/// conflicting connection.
pub(super) fn find_place(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    situation: &Situation<'_>,
) -> Result<Option<u64>, Refusal> {
    let before = place_among(request, need, junction.inside, situation).ok_or(Refusal::Occupied)?;
    // A vehicle that waits for room in a ring keeps others out of the ring (`has_room`) and not out
    // of the junction.
    let mut earlier = junction
        .pending
        .iter()
        .filter(|p| p.path.junction == need.junction && p.reserved == Reserved::Way);
    let would_pass_over = |other: &Pending| {
        let is_long = other.is_long || situation.is_long(request.agent);
        let conflicts = situation.ground.conflicts(need.junction, is_long);
        conflicts.are_in_conflict(need.path, other.path.number)
    };
    match earlier.any(would_pass_over) {
        true => Err(Refusal::Occupied),
        false => Ok(before),
    }
}

/// Finds the place of a vehicle among the admitted vehicles. Returns the ticket that the vehicle
/// can pass before, `Some(None)` if it passes after all others, and `None` if there is no place for
/// it.
///
/// Usually a vehicle passes after all others. However, an admitted vehicle may still be so far away
/// that it is not disturbed if another vehicle passes first. Otherwise, vehicles could never use
/// the gaps between the vehicles on a busy major road.
fn place_among(
    request: &Request,
    need: &Need,
    inside: &[Grant],
    situation: &Situation<'_>,
) -> Option<Option<u64>> {
    let others = || inside.iter().filter(|grant| grant.agent != request.agent);
    let in_the_way = |grant: &&Grant| is_in_the_way(request, need, grant, situation);
    let Some(first) = others().find(in_the_way) else {
        return Some(None);
    };
    // A vehicle that passes before the first vehicle in conflict also passes before all vehicles
    // with later tickets.
    let mut later = others().skip_while(|grant| grant.ticket < first.ticket);
    let is_undisturbed = later.all(|grant| passes_before(request, need, grant, situation));
    is_undisturbed.then_some(Some(first.ticket))
}

/// Whether a requesting vehicle can pass before an admitted one without disturbing it. The requesting vehicle
/// has to leave the conflict some time before the admitted vehicle arrives. If it has to yield, it also has
/// to enter at least one critical gap before the admitted vehicle arrives.
fn passes_before(request: &Request, need: &Need, grant: &Grant, situation: &Situation<'_>) -> bool {
    // Vehicles in the same lane pass in their order.
    if situation.lane_before(request.agent, need.at) == situation.lane_before(grant.agent, grant.at)
    {
        return false;
    }
    let is_long = situation.is_long(request.agent) || situation.is_long(grant.agent);
    let conflicts = situation.ground.conflicts(need.junction, is_long);
    let Some((own, theirs)) = conflicts.between(need.path, grant.path) else {
        return true;
    };
    let speed = situation.speed(grant.agent);
    let distance = theirs.from - situation.front_of(grant);
    let is_merge = conflicts.is_merge(need.path, grant.path);
    let path = Connection::new(need.junction, need.path);
    // The admitted vehicle would have to wait, which is only acceptable if it can still stop gently
    // before the conflict. If the requesting vehicle joins without stopping, the admitted vehicle
    // only has to slow down to its speed.
    let (joins_at, braking) = match is_merge && situation.ground.joins_by(path) {
        true => (situation.speed(request.agent), JOINED_BRAKING),
        false => (0.0, GENTLE),
    };
    let slowing = (speed * speed - joins_at * joins_at).max(0.0) / (2.0 * braking);
    if !grant.is_invited || distance < slowing + speed * situation.period {
        return false;
    }
    let comes = situation.time_for(distance, grant.agent, grant.at);
    // If both merge into one lane, the admitted vehicle follows from the point where they meet, so
    // the rear of the other vehicle need not have left the whole conflict.
    let end = if is_merge { own.from } else { own.to };
    let to_place = end - situation.rear(request.agent, need.at);
    let leaves = situation.time_for(to_place, request.agent, need.at);
    let to_line = -situation.front(request.agent, need.at);
    let enters = situation.time_for(to_line, request.agent, need.at);
    let gives_way = situation.gives_way(need.junction, need.path, grant.path);
    comes > leaves + LEAST_TIME_BETWEEN
        && (!gives_way || comes > enters + critical_gap(request, need, situation))
}

/// Whether a vehicle is stationary at its stop line.
fn has_stopped(agent: AgentIndex, distance: f64, situation: &Situation<'_>) -> bool {
    situation.speed(agent) < STANDING && distance < AT_LINE
}

/// Whether an admitted vehicle blocks the requesting vehicle. This is the case if the requesting
/// vehicle could not stop before their conflict, or would have to wait there for a long time.
///
/// ```text
///              |  u |
///   v ---------+....#....      v may enter before u has left the hatched area if it can stop
///              |  | |          before it and u will have left when v arrives. The order is
///                 v            settled: v has the higher ticket.
/// ```
fn is_in_the_way(request: &Request, need: &Need, grant: &Grant, situation: &Situation<'_>) -> bool {
    let agent = request.agent;
    let Some(meeting) = Meeting::of(
        Connection::new(need.junction, need.path),
        agent,
        grant,
        situation,
    ) else {
        return false;
    };
    let speed = situation.speed(agent);
    let distance = meeting.own.from - situation.front(agent, need.at);
    // The requesting vehicle can no longer stop before the conflict, so it must not rely on the
    // other vehicle to leave in time.
    let braking = situation.braking(agent, BRAKING);
    if distance < speed * speed / (2.0 * braking) + speed * situation.period {
        return true;
    }
    // Where two lanes merge in turn, the requesting vehicle follows the other one from now on and
    // arrives with a gap.
    if situation.alternate(Connection::new(need.junction, need.path), grant.path) {
        return false;
    }
    // At a sign, a vehicle waits until the other vehicle has nearly left, because the gap in the
    // traffic begins behind that vehicle.
    let gist = situation
        .ground
        .connection_gist(Connection::new(need.junction, need.path));
    let waits_for_gap = gist.has_follow_up
        && !meeting.is_merge
        && situation.gives_way(need.junction, need.path, grant.path)
        && !is_locked(request, need.junction, situation);
    let comes = match waits_for_gap {
        // Computed as if the vehicle had already arrived, so that the whole time that the other
        // vehicle takes to leave counts as waiting.
        true => 0.0,
        false => situation.time_for(distance, agent, need.at),
    };
    // A vehicle that joins a ring starts so late that it arrives when the other vehicle has left.
    // If it started earlier, it would creep to the merge and join slowly, and the vehicles behind,
    // which have little space in the ring, would have to stop for it.
    let joins = meeting.is_merge && situation.gives_way(need.junction, need.path, grant.path);
    let longest_wait = match situation.ground.control(need.junction) {
        Control::Uncontrolled | Control::AllWayStop | Control::MiniRoundabout => -COMES_AFTER,
        Control::Roundabout if joins => 0.0,
        _ => LONGEST_WAIT_INSIDE,
    };
    meeting.time_to_leave(grant, situation) - comes > longest_wait
}

/// Whether the requesting vehicle has to yield to an approaching vehicle. This is the case if that
/// vehicle has right of way, has not been let in yet, and would arrive within the critical gap.
fn gives_way(
    request: &Request,
    need: &Need,
    junction: &JunctionState<'_>,
    situation: &Situation<'_>,
) -> bool {
    let path = Connection::new(need.junction, need.path);
    let is_permitted = situation.signals.is_permitted(situation.ground, path);
    let may_yield = situation.ground.connection_gist(path).gives_way_to_any
        || is_permitted
        || situation.ground.joins_by(path);
    if !may_yield {
        return false;
    }
    let gap = critical_gap(request, need, situation);
    let mut others = junction.approaches.iter().filter(|other| {
        other.agent != request.agent
            && situation.gives_way(need.junction, need.path, other.path.number)
    });
    others.any(|other| comes_within(gap, other, request, need, situation))
}

/// Whether another vehicle that may proceed would reach the conflict less than `gap` seconds after the
/// requesting vehicle could enter.
fn comes_within(
    gap: f64,
    other: &Approach,
    request: &Request,
    need: &Need,
    situation: &Situation<'_>,
) -> bool {
    if situation.light(other.path).is_red() || is_held_up(other, situation) {
        return false;
    }
    let to_line = -situation.front(request.agent, need.at);
    let waits = situation.time_for(to_line, request.agent, need.at);
    let conflicts = situation.ground.car_conflicts(need.junction);
    let met = conflicts.between(other.path.number, need.path);
    // The distance to the conflict is used, because the other vehicle's stop line may be much
    // nearer to it.
    let to_place = other.distance + met.map_or(0.0, |(place, _)| place.from);
    situation.time_for(to_place, other.agent, other.at) < waits + gap
}

/// Smallest gap that a vehicle accepts before the next vehicle with right of way (critical gap), s.
/// It decreases with the waiting time.
fn critical_gap(request: &Request, need: &Need, situation: &Situation<'_>) -> f64 {
    let patience = (request.age(situation) / LOCK_AFTER).min(1.0);
    let path = Connection::new(need.junction, need.path);
    let gap = match situation.ground.joins_by(path) {
        true => gap_to_join(request, need, situation),
        false => {
            let right = situation.ground.law(need.junction).right_of_way();
            right.critical_gap(need.path)
        }
    };
    gap * (1.0 - (1.0 - LEAST_GAP_SHARE) * patience)
}

/// Critical gap at the end of an acceleration lane, s. It increases with the difference between the speed
/// limit and the speed of the joining vehicle, because the next vehicle on the main road has to slow down by
/// this difference.
fn gap_to_join(request: &Request, need: &Need, situation: &Situation<'_>) -> f64 {
    let lane = situation.lane_before(request.agent, need.at);
    let limit = lane.map_or(0.0, |lane| situation.ground.lanelet(lane).speed_limit);
    GAP_TO_JOIN + GAP_PER_SLOWNESS * (limit - situation.speed(request.agent)).max(0.0)
}

/// Whether a vehicle cannot use its right of way, because it stands behind another vehicle, waits for
/// pedestrians, or has no room beyond.
pub(super) fn is_held_up(other: &Approach, situation: &Situation<'_>) -> bool {
    let refused = situation.agents.claim[other.agent.index()].refused;
    situation.speed(other.agent) < STANDING
        && matches!(
            refused,
            Refusal::NoRoom | Refusal::NotFirst | Refusal::People | Refusal::Alley
        )
}
