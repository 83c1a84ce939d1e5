//! Where those wait who have been let into a junction: before the places that others pass first.
//!
//! ```text
//!   ticket 7:  |  |            The car with ticket 8 has been let in, and waits before the place
//!              |  v            where it meets the car with ticket 7, until that one's rear has
//!    ----------+..#..+----     left it. Waiting goes from higher to lower tickets only, so it
//!     [8]  -> |   #  |         never goes round in a circle; and who has the lowest ticket waits
//!    ----------+..#..+----     for nobody, has room beyond, and leaves.
//! ```

use super::grants::{Grant, Grants};
use super::rule::GENTLE;
use super::situation::Situation;
use crate::records::AgentIndex;
use roadwright_scenario::Connection;
use roadwright_scenario::junction::Interval;

/// A place to wait: index in the route, and m along the lanelet there.
pub(super) type Wall = (u32, f32);

impl Grants {
    /// Finds how long each holder of a grant is held up by others, and the nearest place at which it
    /// has to wait in each, as (agent, place); those that need not wait are left out. O(pairs of grants in one
    /// junction).
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
            // In the order of their tickets, so that the delays of those before are known.
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
                    // Who is in the place already leaves it: standing there would help nobody.
                    let stop = meeting.own.from.max(f64::from(grant.stands_at));
                    // Whose way is met where it begins waits at its line, out of the way of a bus.
                    let line = -situation.setback(Connection::new(junction, grant.path));
                    let stop = match stop < AT_BEGIN && front <= line + INSIDE {
                        true => stop.min(line),
                        false => stop,
                    };
                    let is_before = front <= stop + INSIDE;
                    if is_before && !meeting.rolls_on(stop - front, delay, grant, situation) {
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

/// Of several places to wait of an agent the first on its way counts.
pub(super) fn keep_first(walls: &mut Vec<(AgentIndex, Wall)>) {
    walls.sort_unstable_by(|(a, (at, s)), (b, (other_at, other_s))| {
        (a, at).cmp(&(b, other_at)).then(s.total_cmp(other_s))
    });
    walls.dedup_by_key(|(agent, _)| *agent);
}

/// A place where ways meet that begins no farther on begins with the way, m.
const AT_BEGIN: f64 = 0.5;
/// Who is so far in a place where ways meet is not held back before it, m.
const INSIDE: f64 = 0.5;
/// Who joins another one brakes for it this long before it would have to, s, and a decision.
const REACTION: f64 = 0.2;

/// The place where the ways of two agents in a junction meet, and which the other has not left.
pub(super) struct Meeting {
    /// On the agent's own connection, m.
    pub(super) own: Interval,
    /// How far the other's rear is from where one may go on behind it, m.
    way_out: f64,
    /// Whether both go on in one lane.
    pub(super) is_merge: bool,
}

impl Meeting {
    /// Where an agent meets the holder of a grant; `None` where it does not, or does not any more.
    pub(super) fn of(
        Connection {
            junction,
            number: path,
        }: Connection,
        agent: AgentIndex,
        other: &Grant,
        situation: &Situation<'_>,
    ) -> Option<Self> {
        let is_long = situation.is_long(agent) || situation.is_long(other.agent);
        let conflicts = situation.ground.conflicts(junction, is_long);
        let met = conflicts.between(path, other.path);
        let (own, theirs) = met.or_else(|| conflicts.again(path, other.path))?;
        // Into one lane one follows the other from where they meet.
        let is_merge = conflicts.is_merge(path, other.path);
        let end = if is_merge { theirs.from } else { theirs.to };
        let way_out = end - situation.rear_of(other);
        (way_out >= 0.0).then_some(Self {
            own,
            way_out,
            is_merge,
        })
    }

    /// How long the other takes to leave the place, s.
    pub(super) fn time_to_leave(&self, other: &Grant, situation: &Situation<'_>) -> f64 {
        situation.time_as_it_drives(self.way_out, other.agent, other.at) + f64::from(other.delay)
    }

    /// Whether the holder of a grant, which comes to its place to wait in so many metres and to where it
    /// joins the other so long, s, before that one has left it, need not slow down yet. A wall before it
    /// would make it creep there and join slowly; those who come behind would have to brake for it.
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

    /// How long the holder of a grant, whose front is at a place on its connection, m, has to wait for the
    /// other one, s.
    fn delay(&self, front: f64, grant: &Grant, other: &Grant, situation: &Situation<'_>) -> f32 {
        let distance = self.own.from - front;
        let comes = situation.time_for(distance, grant.agent, grant.at);
        (self.time_to_leave(other, situation) - comes).max(0.0) as f32
    }
}
