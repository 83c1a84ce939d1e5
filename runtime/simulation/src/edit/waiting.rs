//! Edits that change a junction while somebody is inside it.
//!
//! Who is inside keeps its way, and what others keep off: such an edit waits. Nobody is let into the
//! junctions that it changes any more, and signals there show amber, then red, until the last one has
//! left them with its rear. Then all of the edit enters at a step boundary. If somebody does not
//! leave, it enters after [`LONGEST`] all the same, and whose way is gone is put on the nearest lane.
//!
//! Where stop lines move outward, the new junction would begin under those who stand at them. So those who
//! come are held farther back first, until those between them and the junction are through, for
//! [`LONGEST_TO_CLEAR`] at most; only then the junction is closed.
//!
//! An edit that comes meanwhile takes the place of the one that waits.

use super::Editing;
use crate::agents::AgentsRef;
use crate::ground::Ground;
use crate::traffic::{Claims, Setting};
use roadwright_agent::Registry;
use roadwright_scenario::{JunctionIndex, RoadEnd, RoadId, Scenario};
use std::sync::Arc;

/// An edit waits so long at most, s: a vehicle leaves the largest junction in less, unless it stands.
const LONGEST: f64 = 30.0;

/// Those who are near a junction whose stop lines move outward have so long to drive on, s: a cycle of signals.
const LONGEST_TO_CLEAR: f64 = 90.0;

/// A stop line that moves less than this is where it was, m.
const SAME_LINE: f64 = 0.1;

/// An edit that waits until junctions are empty.
pub(crate) struct WaitingEdit {
    /// What the world runs.
    pub(crate) old: Scenario,
    /// What it is to run.
    pub(crate) new: Scenario,
    pub(crate) registry: Registry,
    /// The ground after it.
    pub(crate) ground: Arc<Ground>,
    /// When the first edit came that has waited since, s.
    pub(crate) since: f64,
    /// Whether those who come are held back, since stop lines move outward.
    pub(crate) holds_back: bool,
    /// Whether the junctions are closed; who comes is held back before.
    pub(crate) is_closed: bool,
}

/// What becomes of an edit.
pub(crate) enum EditEntry {
    /// It has entered.
    Entered,
    /// It waits until junctions are empty.
    Waits {
        /// Whether those who come are held back, since stop lines move outward.
        holds_back: bool,
        /// Whether the junctions are closed.
        is_closed: bool,
        /// The ground after it: it is not made again when the edit enters.
        ground: Arc<Ground>,
    },
}

impl WaitingEdit {
    /// Whether the junctions are to be closed now: nobody is near them any more.
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

    /// It waits so long at most from the first edit on, s.
    pub(crate) fn longest(&self) -> f64 {
        match self.holds_back {
            true => LONGEST_TO_CLEAR + LONGEST,
            false => LONGEST,
        }
    }

    /// Whether it enters now.
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
    /// The junctions in which somebody is, or is about to be, and which are others on the ground after an
    /// edit; as well those where somebody stands whom a stop line would move beyond, and those that are
    /// empty because an edit waits. O(agents).
    pub(super) fn junctions_to_empty(&self, after: &Ground) -> Vec<JunctionIndex> {
        let before = &**self.ground;
        let is_changed = |&junction: &JunctionIndex| {
            let node = before.node(junction);
            let now = node.and_then(|node| after.roads.junction_of(node));
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

    /// Whether a junction is cut farther back on the ground after an edit than it is now.
    fn moves_lines(&self, junctions: &[JunctionIndex], after: &Ground) -> bool {
        let before = &**self.ground;
        junctions.iter().any(|&junction| {
            let node = before.node(junction);
            let now = node.and_then(|node| after.roads.junction_of(node));
            let lines = before.roads.stop_lines(junction);
            // An arm that is gone counts as cut back as well: then no arm has its road and end.
            let cut = |now: JunctionIndex, line: (RoadId, RoadEnd, f64)| {
                let mut arms = after.roads.stop_lines(now);
                arms.all(|arm| (arm.0, arm.1) != (line.0, line.1) || arm.2 > line.2 + SAME_LINE)
            };
            now.is_none_or(|now| lines.into_iter().any(|line| cut(now, line)))
        })
    }

    /// Empties junctions for an edit.
    pub(super) fn empty(&mut self, junctions: Vec<JunctionIndex>, after: Arc<Ground>) -> EditEntry {
        let claims = &self.traffic.claims;
        // What an edit before this one has begun is gone on with.
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

    /// Opens all junctions.
    pub(super) fn open(&mut self) {
        self.traffic.claims.closing.hold_back_from(Vec::new());
        self.close(Vec::new());
    }

    /// Lets nobody into some junctions any more, and closes their signals; others are open again.
    pub(crate) fn close(&mut self, junctions: Vec<JunctionIndex>) {
        let time = self.clock.time();
        self.traffic.signals.close(self.ground, &junctions, time);
        self.traffic.claims.closing.close(junctions);
    }
}
