//! Edits that change a junction while vehicles are inside it.
//!
//! Vehicles inside keep their connections and others keep clear of them, so such an edit has to
//! wait. The junctions that it changes admit no more vehicles, and their signals show amber, then
//! red, until the rear of the last vehicle has left. Then the whole edit is applied at a step
//! boundary. If a vehicle does not leave, the edit is applied after [`LONGEST`] anyway, and
//! vehicles whose lane is gone are put on the nearest lane.
//!
//! If stop lines move outward, the new junction would begin under the vehicles that stand at them.
//! So approaching vehicles are first stopped farther back until the vehicles ahead of them have
//! passed the junction, for at most [`LONGEST_TO_CLEAR`]. Only then is the junction closed.
//!
//! Another edit that arrives in the meantime replaces the waiting one.

use super::Editing;
use crate::agents::AgentsRef;
use crate::traffic::{Claims, Setting};
use roadwright_agent::Registry;
use roadwright_ground::Ground;
use roadwright_scenario::{JunctionIndex, RoadEnd, RoadId, Scenario};
use std::sync::Arc;

/// Maximum waiting time of an edit, s. Vehicles that do not have to stop leave even the largest
/// junction in less time.
const LONGEST: f64 = 30.0;

/// Maximum time for vehicles near a junction to pass it before its stop lines move outward, s: one
/// signal cycle.
const LONGEST_TO_CLEAR: f64 = 90.0;

/// A stop line that has moved by no more than this counts as unchanged, m.
const SAME_LINE: f64 = 0.1;

/// An edit that waits until junctions are empty.
pub(crate) struct WaitingEdit {
    /// Scenario before the edit.
    pub(crate) old: Scenario,
    /// Scenario after the edit.
    pub(crate) new: Scenario,
    pub(crate) registry: Registry,
    /// Ground after the edit.
    pub(crate) ground: Arc<Ground>,
    /// Time at which the first edit began to wait, s.
    pub(crate) since: f64,
    /// Whether approaching vehicles are held back because stop lines move outward.
    pub(crate) holds_back: bool,
    /// Whether the junctions are closed. Before that, approaching vehicles are held back.
    pub(crate) is_closed: bool,
}

/// Outcome of an edit.
pub(crate) enum EditEntry {
    /// The edit has been applied.
    Entered,
    /// The edit waits until junctions are empty.
    Waits {
        /// Whether approaching vehicles are held back because stop lines move outward.
        holds_back: bool,
        /// Whether the junctions are closed.
        is_closed: bool,
        /// Ground after the edit, kept so that it does not have to be built again.
        ground: Arc<Ground>,
    },
}

impl WaitingEdit {
    /// Whether the junctions can be closed now, because no vehicles are near them any more.
    pub(crate) fn closes(
        &self,
        claims: &Claims,
        setting: Setting<'_>,
        agents: AgentsRef<'_>,
    ) -> bool {
        !self.is_closed
            && (setting.time() - self.since >= LONGEST_TO_CLEAR
                || claims.closing.held_back_are_clear(setting, agents))
    }

    /// Maximum waiting time, counted from the first edit, s.
    pub(crate) fn longest(&self) -> f64 {
        match self.holds_back {
            true => LONGEST_TO_CLEAR + LONGEST,
            false => LONGEST,
        }
    }

    /// Whether the edit is to be applied now.
    pub(crate) fn is_due(
        &self,
        claims: &Claims,
        setting: Setting<'_>,
        agents: AgentsRef<'_>,
    ) -> bool {
        let is_clear = || {
            claims.closed_are_empty(setting, agents)
                && (!self.holds_back || claims.queues_stand(setting, agents))
        };
        self.is_closed && (setting.time() - self.since >= self.longest() || is_clear())
    }
}

impl Editing<'_> {
    /// Returns the junctions that an edit changes while vehicles are inside or about to enter. They
    /// include junctions where a stop line would move beyond a stationary vehicle, and junctions
    /// that are already being emptied for a waiting edit. O(agents).
    pub(super) fn junctions_to_empty(&self, after: &Ground) -> Vec<JunctionIndex> {
        let before = &**self.ground;
        let is_changed = |&junction: &JunctionIndex| {
            let node = before.node(junction);
            let now = node.and_then(|node| after.junction_of(node));
            !now.is_some_and(|now| after.has_law_of(now, before, junction))
        };
        let (claims, setting) = (&self.traffic.claims, self.setting());
        let mut all = claims.grants.occupied(setting, self.agents.lent());
        all.extend(claims.closing.changing());
        all.retain(is_changed);
        let mut near = claims.closing.approached(setting, self.agents.lent());
        near.retain(|junction| is_changed(junction) && self.moves_lines(&[*junction], after));
        all.extend(near);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether an edit moves stop lines of a junction outward.
    fn moves_lines(&self, junctions: &[JunctionIndex], after: &Ground) -> bool {
        let before = &**self.ground;
        junctions.iter().any(|&junction| {
            let node = before.node(junction);
            let now = node.and_then(|node| after.junction_of(node));
            let lines = before.stop_lines(junction);
            // If no arm has this road and end after the edit, the arm was deleted. This also counts
            // as an outward move.
            let cut = |now: JunctionIndex, line: (RoadId, RoadEnd, f64)| {
                let mut arms = after.stop_lines(now);
                arms.all(|arm| (arm.0, arm.1) != (line.0, line.1) || arm.2 > line.2 + SAME_LINE)
            };
            now.is_none_or(|now| lines.into_iter().any(|line| cut(now, line)))
        })
    }

    /// Starts emptying junctions for an edit.
    pub(super) fn empty(&mut self, junctions: Vec<JunctionIndex>, after: Arc<Ground>) -> EditEntry {
        let claims = &self.traffic.claims;
        // If junctions are already being emptied for an earlier edit, they stay closed or held back
        // for this one.
        let held_back = claims.closing.held_back();
        let has_closed = !claims.closing.closed().is_empty();
        let holds_back = !held_back.is_empty() || self.moves_lines(&junctions, &after);
        let was_held_back = junctions
            .iter()
            .all(|junction| held_back.contains(junction));
        let is_closed = !holds_back || has_closed && was_held_back;
        let none = Vec::new;
        let held_back = if holds_back {
            junctions.clone()
        } else {
            none()
        };
        self.traffic.claims.closing.hold_back_from(held_back);
        self.close(if is_closed { junctions } else { none() });
        EditEntry::Waits {
            holds_back,
            is_closed,
            ground: after,
        }
    }

    /// Opens all junctions that were closed for an edit.
    pub(super) fn open(&mut self) {
        self.traffic.claims.closing.hold_back_from(Vec::new());
        self.close(Vec::new());
    }

    /// Closes junctions for entry, including their signals, and opens all others.
    pub(crate) fn close(&mut self, junctions: Vec<JunctionIndex>) {
        let time = self.clock.time();
        self.traffic.signals.close(self.ground, &junctions, time);
        self.traffic.claims.closing.close(junctions);
    }
}
