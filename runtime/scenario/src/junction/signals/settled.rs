//! Finds pairs of paths that have green in the same stage although neither has right of way over the other.

use super::Signals;
use crate::index::ConnectionIndex;
use crate::junction::right_of_way::Arms;
use crate::junction::{Conflicts, Junction};
use crate::turn::Turn;

impl Signals {
    /// Returns pairs of conflicting paths that have green in the same stage although neither yields. Turns
    /// across oncoming traffic are excluded, because they wait for a gap. U-turns are also excluded, and so
    /// are permissive paths, which yield to protected ones. O(conflicts).
    pub fn unsettled(
        &self,
        junction: &Junction,
        conflicts: &Conflicts,
        stage: usize,
    ) -> Vec<(ConnectionIndex, ConnectionIndex)> {
        let across = Turn::far(junction.side);
        let arms = Arms::new(junction);
        let is_unsettled = |&(a, b): &(ConnectionIndex, ConnectionIndex)| {
            let has_green = [a, b].map(|path| self.greens[stage][path.index()]);
            let is_permitted = [a, b].map(|path| self.is_permitted(path.index(), stage));
            let paths = [a, b].map(|path| &junction.paths[path.index()]);
            // Of two vehicles that both turn across oncoming traffic, the first to arrive goes
            // first.
            let is_across = paths.iter().any(|path| path.turn == across)
                && arms.are_oncoming(paths[0], paths[1]);
            let turns_back = paths.iter().any(|path| path.turn == Turn::UTurn);
            let is_settled = is_across || turns_back || is_permitted[0] != is_permitted[1];
            has_green[0] && has_green[1] && !is_settled
        };
        let all = conflicts.list().iter().map(|conflict| conflict.paths);
        all.filter(is_unsettled).collect()
    }
}
