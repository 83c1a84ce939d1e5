//! Positions at which vehicles wait inside a junction, before conflicts that other vehicles pass first.
//!
//! ```text
//!   ticket 7:  |  |            The car with ticket 8 has been let in and waits before its
//!              |  v            conflict with the car with ticket 7 until the rear of that
//!    ----------+..#..+----     car has left it. Cars wait for lower tickets only, so waiting
//!     [8]  -> |   #  |         never forms a circle; the car with the lowest ticket waits
//!    ----------+..#..+----     for no other, has room beyond, and leaves.
//! ```

use super::grants::{Grant, Grants};
use super::rule::GENTLE;
use super::situation::Situation;
use crate::records::AgentIndex;
use roadwright_scenario::Connection;
use roadwright_scenario::junction::Interval;

/// A place to wait: route index, and position along the lanelet, m.
pub(super) type Wall = (u32, f32);

impl Grants {
    /// Computes, for each holder of a grant, its delay because of other vehicles and the first
    /// place in each junction where it has to wait. Agents that need not wait are left out. O(pairs
    /// of grants in one junction).
    pub(super) fn set_walls(
        &mut self,
        situation: &Situation<'_>,
        out: &mut Vec<(AgentIndex, Wall)>,
    ) {
        out.clear();
        self.for_each_busy(|junction, grants| {
            if let [only] = &mut grants[..] {
                only.delay = 0.0;
                return;
            }
            // In the order of tickets, so that the delays of earlier vehicles are known.
            for i in 0..grants.len() {
                let (before, rest) = grants.split_at_mut(i);
                let grant = &mut rest[0];
                let mut nearest = f64::INFINITY;
                grant.delay = 0.0;
                let front = situation.front_of(grant);
                for other in before.iter().filter(|other| other.agent != grant.agent) {
                    let Some(meeting) = Meeting::of(
                        Connection::new(junction, grant.path),
                        grant.agent,
                        other,
                        situation,
                    ) else {
                        continue;
                    };
                    let delay = meeting.delay(front, grant, other, situation);
                    grant.delay = grant.delay.max(delay);
                    // A vehicle that is already in the conflict continues, because no other vehicle
                    // would benefit if it stopped there.
                    let stop = meeting.own.from.max(f64::from(grant.stands_at));
                    // If the conflict begins where the connection begins, the vehicle waits at its
                    // stop line, clear of a turning bus.
                    let line = -situation.setback(Connection::new(junction, grant.path));
                    let stop = match stop < AT_BEGIN && front <= line + INSIDE {
                        true => stop.min(line),
                        false => stop,
                    };
                    let is_before = front <= stop + INSIDE;
                    let path = Connection::new(junction, grant.path);
                    let follows = situation.alternate(path, other.path)
                        && meeting.is_behind(front, grant, other, situation);
                    if is_before
                        && !follows
                        && !meeting.rolls_on(stop - front, delay, grant, situation)
                    {
                        nearest = nearest.min(stop);
                    }
                }
                if nearest < f64::INFINITY {
                    out.push((grant.agent, (grant.at, nearest as f32)));
                }
            }
        });
    }
}

/// Keeps only the first waiting place along each agent's route.
pub(super) fn keep_first(walls: &mut Vec<(AgentIndex, Wall)>) {
    walls.sort_unstable_by(|(a, (at, s)), (b, (other_at, other_s))| {
        (a, at).cmp(&(b, other_at)).then(s.total_cmp(other_s))
    });
    walls.dedup_by_key(|(agent, _)| *agent);
}

/// A conflict within this distance of the start of a connection counts as beginning with the
/// connection, m.
const AT_BEGIN: f64 = 0.5;
/// A vehicle that is farther than this inside a conflict is no longer stopped before the conflict,
/// m.
const INSIDE: f64 = 0.5;
/// Reaction time of a merging vehicle, in addition to one decision period, s.
const REACTION: f64 = 0.2;

/// Minimum gap for following another vehicle into a merge, in addition to the reaction distance, m.
const LEAST_GAP: f64 = 1.0;

/// A conflict between two agents in a junction that the other agent has not left yet.
pub(super) struct Meeting {
    /// Interval that the conflict covers on the agent's own connection, m.
    pub(super) own: Interval,
    /// Distance that the other vehicle's rear still has to cover before the agent may follow, m.
    to_clear: f64,
    /// Whether both connections lead into the same lane.
    pub(super) is_merge: bool,
}

impl Meeting {
    /// Finds the conflict of an agent with the holder of a grant; `None` if there is no conflict,
    /// or if the holder has left it.
    pub(super) fn of(
        connection: Connection,
        agent: AgentIndex,
        other: &Grant,
        situation: &Situation<'_>,
    ) -> Option<Self> {
        let (junction, path) = (connection.junction, connection.number);
        let is_long = situation.is_long(agent) || situation.is_long(other.agent);
        let conflicts = situation.ground.conflicts(junction, is_long);
        let met = conflicts.between(path, other.path);
        let (own, theirs) = met.or_else(|| conflicts.again(path, other.path))?;
        // If both merge into one lane, one vehicle follows the other from the point where they meet.
        let is_merge = conflicts.is_merge(path, other.path);
        let end = if is_merge { theirs.from } else { theirs.to };
        let to_clear = end - situation.rear_of(other);
        (to_clear >= 0.0).then_some(Self {
            own,
            to_clear,
            is_merge,
        })
    }

    /// Time that the other vehicle takes to leave the conflict, s.
    pub(super) fn time_to_leave(&self, other: &Grant, situation: &Situation<'_>) -> f64 {
        situation.time_as_it_drives(self.to_clear, other.agent, other.at) + f64::from(other.delay)
    }

    /// Whether the holder of a grant need not slow down yet for the vehicle that it merges with.
    /// `distance` is the distance to its waiting place, m. `delay` states how much too early it
    /// would reach the conflict, s. If it slowed down immediately, it would creep towards the place
    /// and merge slowly, and vehicles behind it would have to brake.
    fn rolls_on(
        &self,
        distance: f64,
        delay: f32,
        grant: &Grant,
        situation: &Situation<'_>,
    ) -> bool {
        if !self.is_merge || delay > 0.0 {
            return false;
        }
        let speed = situation.speed(grant.agent);
        let braking = situation.braking(grant.agent, GENTLE);
        distance > speed * (REACTION + situation.period) + speed * speed / (2.0 * braking)
    }

    /// Whether the holder of a grant is far enough behind the vehicle that it merges with to follow
    /// that vehicle into the merge, as if both were already on one lane. `front` is the position of
    /// the holder's front along its connection, m.
    fn is_behind(
        &self,
        front: f64,
        grant: &Grant,
        other: &Grant,
        situation: &Situation<'_>,
    ) -> bool {
        let gap = self.own.from - front - self.to_clear;
        let (speed, ahead) = (situation.speed(grant.agent), situation.speed(other.agent));
        let braking = situation.braking(grant.agent, GENTLE);
        let slowing = (speed * speed - ahead * ahead).max(0.0) / (2.0 * braking);
        gap > LEAST_GAP + speed * (REACTION + situation.period) + slowing
    }

    /// Time that the holder of a grant has to wait for the other vehicle, s. `front` is the
    /// position of the holder's front along its connection, m.
    fn delay(&self, front: f64, grant: &Grant, other: &Grant, situation: &Situation<'_>) -> f32 {
        let distance = self.own.from - front;
        let comes = situation.time_for(distance, grant.agent, grant.at);
        (self.time_to_leave(other, situation) - comes).max(0.0) as f32
    }
}
