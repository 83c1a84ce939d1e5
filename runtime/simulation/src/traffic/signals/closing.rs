//! Closing of signals that an edit changes: the signals show amber, then red, before they start
//! again. If their junction is still occupied, they close before the edit is applied and stay red
//! until then.

use super::{Desk, Phase, SignalStates, State};
use roadwright_ground::Ground;
use roadwright_scenario::JunctionIndex;

impl Phase {
    /// Whether signals are closing because of an edit that is pending or has been applied.
    pub(super) fn is_closing(self) -> bool {
        matches!(
            self,
            Self::ClosingAmber | Self::ClosingRed | Self::LastAmber | Self::Closed | Self::Opening
        )
    }
}

impl State {
    /// Creates the state at the start of closing, after an edit has changed the signals.
    fn closing(time: f64) -> Self {
        Self {
            stage: 0,
            next: 0,
            phase: Phase::ClosingAmber,
            since: time,
            opposed: f64::INFINITY,
        }
    }
}

impl SignalStates {
    /// Carries the signal state over an edit. Edited signals close before they start their new programme.
    /// Signals that are already closing continue to close.
    pub(crate) fn take_over(&mut self, before: &Ground, after: &Ground, time: f64) {
        let both = (0..after.programmes().count()).map(|group| {
            let same = before.group_like(after, group);
            let closing = || {
                let begun = self.closing_before(before, after, group);
                (begun.unwrap_or(State::closing(time)), Desk::default())
            };
            same.map_or_else(closing, |old| (self.states[old], self.desks[old].clone()))
        });
        (self.states, self.desks) = both.collect();
    }

    /// Creates the state of a new signal group that continues the closing of the previous signals;
    /// `None` unless those signals are already closing.
    fn closing_before(&self, before: &Ground, after: &Ground, group: usize) -> Option<State> {
        let mut nodes = after
            .signal_group(group)
            .flat_map(|junction| after.junction_nodes(junction));
        let old = nodes.find_map(|node| before.signal_group_at(node.0))?;
        let State { phase, since, .. } = self.states[old];
        // Other connections may get green first in the new programme, so the state returns to red
        // and continues from there.
        let phase = match phase {
            Phase::Opening => Phase::ClosingRed,
            other => other,
        };
        phase.is_closing().then_some(State {
            phase,
            ..State::closing(since)
        })
    }

    /// Closes the signals of the given junctions until an edit has been applied. All other closed
    /// signals reopen in the same way as after an edit.
    pub(crate) fn close(&mut self, ground: &Ground, junctions: &[JunctionIndex], time: f64) {
        let groups = junctions.iter().filter_map(|&j| ground.signals(j));
        let groups: Vec<usize> = groups.map(|(group, _)| group).collect();
        for (group, state) in self.states.iter_mut().enumerate() {
            let is_to_close = groups.contains(&group);
            // The two pairs of amber and red phases look the same, but different phases follow
            // them. One pair is followed by the new programme, and the other stays red until the
            // edit has been applied. Therefore a phase is replaced by its counterpart without
            // restarting its time.
            state.phase = match (state.phase, is_to_close) {
                (phase @ (Phase::LastAmber | Phase::Closed), true) => phase,
                (Phase::LastAmber, false) => Phase::ClosingAmber,
                (Phase::Closed, false) => Phase::ClosingRed,
                (Phase::ClosingAmber, true) => Phase::LastAmber,
                (Phase::ClosingRed | Phase::Opening, true) => Phase::Closed,
                (phase, false) => phase,
                (_, true) => {
                    *state = State::closing(time);
                    Phase::LastAmber
                }
            };
        }
    }
}
