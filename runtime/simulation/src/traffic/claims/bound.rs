//! The maximum waiting time at a junction.
//!
//! The request of a vehicle that has waited long enough is locked: no more vehicles on conflicting
//! connections are let in before that vehicle. At this time, one vehicle per lane that was let in
//! earlier may still be inside. Each of these vehicles leaves within the time that the slowest and
//! longest vehicle takes for the longest connection. At signals, all of this happens during the
//! green of two cycles, unless an agent holds a stage. A vehicle makes its request when it is at
//! most third in the queue, so the total is at most three times this wait. If an alley begins after
//! the junction, the vehicle also waits for the alley (`alley/bound.rs`).

use super::Claims;
use super::alley::wait_beyond;
use super::rule::keep_out_after;
use crate::traffic::people::{PATIENCE, PATIENCE_OF_DRIVERS};
use roadwright_ground::Ground;
use roadwright_scenario::junction::WALKING_SPEED;
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind};
use roadwright_scenario::{JunctionIndex, NodeId, RoadId};
use std::collections::BTreeSet;

/// Minimum average speed assumed for vehicles that leave a junction, m/s.
pub(super) const LEAST_SPEED: f64 = 3.0;
/// Maximum length assumed for vehicles that leave a junction, m.
pub(super) const LONGEST: f64 = 12.0;
/// Maximum simultaneous requests per lane. Vehicles make requests from 12 m before the stop line.
pub(super) const ASKING: f64 = 3.0;
/// Time that a vehicle takes to clear a crossing before pedestrians arrive, s. Pedestrians take the
/// same time to leave the kerb.
const BEFORE_PEOPLE: f64 = 3.0;

/// Maximum time that an agent waits for the junction at a node, s. `None` if there is no such node.
/// Assumes that the lanes beyond the junction drain and that the junction itself is not obstructed.
#[must_use]
pub fn longest_wait_at(ground: &Ground, node: NodeId) -> Option<f64> {
    let junction = ground.junction_of(node)?;
    Some(Claims::bound(junction, ground))
}

impl Claims {
    /// Maximum waiting time of a vehicle that requests a junction, s. Assumes that the lanes beyond
    /// the junction drain and that no vehicle stands in the junction.
    pub(crate) fn bound(junction: JunctionIndex, ground: &Ground) -> f64 {
        let connections = ground.connections_through(junction);
        let longest = connections.lengths.fold(0.0, f64::max);
        // One vehicle from each lane clears its connection with its whole length, one after
        // another.
        let passing = connections.lanes as f64 * (longest + LONGEST) / LEAST_SPEED;
        let control = ground.control(junction);
        let signals = ground.signals(junction);
        let cycles = signals.map_or(0.0, |(_, signals)| 2.0 * signals.programme.longest_cycle());
        let alone = ASKING * (keep_out_after(control, signals.is_some()) + passing + cycles);
        alone + kept_at_most(junction, alone, ground) + wait_beyond(ground, exits(junction, ground))
    }
}

/// Exit lanes of a junction.
fn exits(junction: JunctionIndex, ground: &Ground) -> impl Iterator<Item = LaneletIndex> + '_ {
    let graph = ground.graph();
    let comes_from = move |lane: LaneletIndex| {
        let mut before = graph.predecessors(lane).iter();
        before.any(|&id| {
            matches!(graph.lanelet(id).kind, LaneletKind::Connection { junction: own, .. } if own == junction)
        })
    };
    let roads: BTreeSet<RoadId> = ground.stop_lines(junction).map(|(road, ..)| road).collect();
    let pieces = roads.into_iter().flat_map(|road| graph.lanes_of(road));
    let pieces = pieces.flat_map(|(_, pieces)| pieces.iter().copied());
    pieces.filter(move |&lane| comes_from(lane))
}

/// Maximum time that pedestrians add to a wait, s. Whenever a pedestrian has waited for
/// [`PATIENCE`], all pedestrians at the crossing walk over its longest section. In between,
/// vehicles that have waited for [`PATIENCE_OF_DRIVERS`] go first. At signals, pedestrians walk in
/// stages, which are already included, but a vehicle that turns across a crossing waits until the
/// last pedestrian has cleared it.
fn kept_at_most(junction: JunctionIndex, alone: f64, ground: &Ground) -> f64 {
    let sites = ground.crossings().sites();
    let own = ground.crossings().of_junction(junction);
    let walks = own.map(|number| {
        sites[number as usize].crossing.longest_stretch() / WALKING_SPEED + BEFORE_PEOPLE
    });
    // A connection crosses at most two arms of the junction.
    let mut walks: Vec<f64> = walks.collect();
    walks.sort_unstable_by(|a, b| b.total_cmp(a));
    let walking: f64 = walks.iter().take(2).sum();
    if walking == 0.0 {
        return 0.0;
    }
    ASKING * (PATIENCE_OF_DRIVERS + walking) + alone * walking / PATIENCE
}
