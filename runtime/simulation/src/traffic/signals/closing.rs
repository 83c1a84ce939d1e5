//! Signals that an edit changes show amber, then red, before they begin anew. Where somebody is still in
//! their junction, they do so before the edit enters, and stay red until it has.

use super::{Desk, Phase, SignalStates, State};
use crate::ground::Ground;
use roadwright_scenario::JunctionIndex;

impl Phase {
    /// Whether signals close, before what an edit has changed, or is to change.
    pub(super) fn is_closing(self) -> bool {
        matches!(
            self,
            Self::ClosingAmber | Self::ClosingRed | Self::LastAmber | Self::Closed | Self::Opening
        )
    }
}

impl State {
    /// What signals show that an edit has changed.
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
    /// Takes over what was shown on other ground; what has changed closes first, and goes on closing where
    /// it has begun to already.
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

    /// What a group of new signals shows if those that were there before close already.
    fn closing_before(&self, before: &Ground, after: &Ground, group: usize) -> Option<State> {
        let mut nodes = after
            .signal_group(group)
            .flat_map(|junction| after.junction_nodes(junction));
        let old = nodes.find_map(|node| before.signal_group_at(node.0))?;
        let State { phase, since, .. } = self.states[old];
        // Who would get green first may be another one now: red again, and then from there.
        let phase = match phase {
            Phase::Opening => Phase::ClosingRed,
            other => other,
        };
        phase.is_closing().then_some(State {
            phase,
            ..State::closing(since)
        })
    }

    /// Closes the signals of some junctions until an edit has entered; others that were closed so go on,
    /// as after an edit.
    pub(crate) fn close(&mut self, ground: &Ground, junctions: &[JunctionIndex], time: f64) {
        let groups = junctions.iter().filter_map(|&j| ground.signals(j));
        let groups: Vec<usize> = groups.map(|(group, _)| group).collect();
        for (group, state) in self.states.iter_mut().enumerate() {
            let is_to_close = groups.contains(&group);
            // Both pairs of amber and red look alike; they differ in what comes after. One begins the
            // new programme by itself, the other stays red until the edit has entered. So a phase is
            // exchanged for its twin, and what is shown does not begin again.
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
