//! Reactions of a world to the positions of its pedestrians.

use crate::agents::ClaimColumns;
use crate::clock::Clock;
use crate::traffic::{People, Roadside, SignalStates};

/// Reacts to the new positions of pedestrians after junctions have decided. Drivers stop for
/// pedestrians whose crossing has been deleted, and signals record which pedestrians wait.
pub(super) fn look_after(
    people: &People,
    signals: &mut SignalStates,
    roadside: Roadside<'_>,
    agents: &mut ClaimColumns<'_>,
    clock: &Clock,
) {
    if people.has_strays() {
        people.hold_for_strays(&roadside, agents);
    }
    for (junction, stages) in people.calls(roadside.ground) {
        signals.call_walk(roadside.ground, junction, stages, clock.time());
    }
}
