//! How long anybody waits for a junction at most.
//!
//! Who has waited long enough is locked: nobody whose way meets its own is let in before it any more.
//! Then each lane can have one vehicle that was let in before, and each of those leaves in the time
//! that the slowest and longest of them takes for the longest way. At signals all that happens in the
//! greens of two cycles, as long as no agent holds a stage. A vehicle begins to ask when it is third in
//! the queue at most, so this comes up to three times.

use super::Claims;
use super::rule::keep_out_after;
use crate::ground::Ground;
use crate::traffic::people::{PATIENCE, PATIENCE_OF_DRIVERS};
use roadwright_scenario::junction::WALKING_SPEED;
use roadwright_scenario::{JunctionIndex, NodeId};

/// Who leaves a junction drives so fast at least on average, m/s, and is so long at most, m.
const LEAST_SPEED: f64 = 3.0;
const LONGEST: f64 = 12.0;
/// Vehicles that ask on one lane at once at most: they do from 12 m before the line.
const ASKING: f64 = 3.0;
/// A vehicle leaves so much time before people, and people walk on beyond the kerb for a while, s.
const BEFORE_PEOPLE: f64 = 3.0;

/// Longest time that an agent waits for the junction of a node while the lanes beyond it drain and the junction
/// itself is not obstructed, s; `None` if there is no such node.
#[must_use]
pub fn longest_wait_at(ground: &Ground, node: NodeId) -> Option<f64> {
    let junction = ground.roads.junction_of(node)?;
    Some(Claims::bound(junction, ground))
}

impl Claims {
    /// How long anybody who asks for a junction waits at most, while the lanes beyond it drain and
    /// nobody stands in it, s.
    pub(crate) fn bound(junction: JunctionIndex, ground: &Ground) -> f64 {
        let connections = ground.connections_through(junction);
        let longest = connections.lengths.fold(0.0, f64::max);
        // One after the other, from each lane a vehicle that clears the way with its whole length.
        let passing = connections.lanes as f64 * (longest + LONGEST) / LEAST_SPEED;
        let control = ground.control(junction);
        let signals = ground.signals(junction);
        let cycles = signals.map_or(0.0, |(_, signals)| 2.0 * signals.programme.longest_cycle());
        let alone = ASKING * (keep_out_after(control, signals.is_some()) + passing + cycles);
        alone + kept_at_most(junction, alone, ground)
    }
}

/// What people on foot may add to a wait, s. Each time that somebody has waited for [`PATIENCE`], all
/// who wait with him walk over the longest stretch; in between vehicles that have waited for
/// [`PATIENCE_OF_DRIVERS`] go first. At signals people walk in stages, which are counted already, but
/// who turns over a crossing waits for those who step on it, and for the last of them.
fn kept_at_most(junction: JunctionIndex, alone: f64, ground: &Ground) -> f64 {
    let sites = ground.crossings().sites();
    let own = ground.crossings().of_junction(junction);
    let walks = own.map(|number| {
        sites[number as usize].crossing.longest_stretch() / WALKING_SPEED + BEFORE_PEOPLE
    });
    // A way leads over two arms at most.
    let mut walks: Vec<f64> = walks.collect();
    walks.sort_unstable_by(|a, b| b.total_cmp(a));
    let walking: f64 = walks.iter().take(2).sum();
    if walking == 0.0 {
        return 0.0;
    }
    ASKING * (PATIENCE_OF_DRIVERS + walking) + alone * walking / PATIENCE
}
