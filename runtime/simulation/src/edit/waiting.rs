//! Edits that change a junction while somebody is inside it.
//!
//! Who is inside keeps its way, and what others keep off: such an edit waits. Nobody is let into the
//! junctions that it changes any more, and signals there show amber, then red, until the last one has
//! left them with its rear. Where stop lines move outward, those stand who have come to them: the new
//! junction begins under them. Then all of the edit enters at a step boundary. If somebody does not
//! leave, it enters after [`LONGEST`] all the same, and whose way is gone is put on the nearest lane.
//!
//! An edit that comes meanwhile takes the place of the one that waits.

use super::Editing;
use crate::agents::Agents;
use crate::ground::Ground;
use crate::traffic::{Claims, Setting};
use roadwright_agent::Registry;
use roadwright_scenario::{RoadEnd, RoadId, Scenario};

/// An edit waits so long at most, s: a vehicle leaves the largest junction in less, unless it stands.
const LONGEST: f64 = 30.0;

/// A stop line that moves less than this is where it was, m.
const SAME_LINE: f64 = 0.1;

/// An edit that waits until junctions are empty.
pub(crate) struct WaitingEdit {
    /// What the world runs.
    pub(crate) old: Scenario,
    /// What it is to run.
    pub(crate) new: Scenario,
    pub(crate) registry: Registry,
    /// When the first edit came that has waited since, s.
    pub(crate) since: f64,
    /// Whether stop lines move outward.
    pub(crate) moves_lines: bool,
}

/// What becomes of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It has entered.
    Entered,
    /// It waits until junctions are empty.
    Waits {
        /// Whether stop lines move outward.
        moves_lines: bool,
    },
}

impl WaitingEdit {
    /// Whether it enters now.
    pub(crate) fn is_due(&self, claims: &Claims, setting: Setting<'_>, agents: &Agents) -> bool {
        let is_clear = claims.closed_are_empty(setting, agents)
            && (!self.moves_lines || claims.queues_stand(setting, agents));
        is_clear || setting.step as f64 * setting.dt - self.since >= LONGEST
    }
}

impl Editing<'_> {
    /// The junctions in which somebody is, or is about to be, and which are others on the ground after an
    /// edit. O(agents).
    pub(super) fn junctions_to_empty(&self, after: &Ground) -> Vec<u32> {
        let before = &**self.ground;
        let is_changed = |&junction: &u32| {
            let node = before.node(junction);
            let now = node.and_then(|node| after.roads.junction_of(node));
            !now.is_some_and(|now| after.has_law_of(now, before, junction))
        };
        let occupied = self.traffic.claims.occupied(self.setting(), self.agents);
        occupied.into_iter().filter(is_changed).collect()
    }

    /// Whether a junction is cut farther back on the ground after an edit than it is now.
    pub(super) fn moves_lines(&self, junctions: &[u32], after: &Ground) -> bool {
        let before = &**self.ground;
        junctions.iter().any(|&junction| {
            let node = before.node(junction);
            let now = node.and_then(|node| after.roads.junction_of(node));
            let lines = before.roads.stop_lines(junction);
            // An arm that is gone counts as cut back as well: then no arm has its road and end.
            let cut = |now: u32, line: (RoadId, RoadEnd, f64)| {
                let mut arms = after.roads.stop_lines(now);
                arms.all(|arm| (arm.0, arm.1) != (line.0, line.1) || arm.2 > line.2 + SAME_LINE)
            };
            now.is_none_or(|now| lines.into_iter().any(|line| cut(now, line)))
        })
    }

    /// Lets nobody into some junctions any more, and closes their signals; others are open again.
    pub(super) fn close(&mut self, junctions: Vec<u32>) {
        let time = self.clock.time();
        self.traffic.signals.close(self.ground, &junctions, time);
        self.traffic.claims.close(junctions);
    }
}
