//! The table of states that a search has reached.

use roadwright_geometry::math::mix64;

/// Marks an empty entry.
const EMPTY: u32 = u32::MAX;

/// Hash table from states to nodes. It is never iterated, so the order of its entries affects no result.
#[derive(Debug, Clone)]
pub(super) struct States {
    entries: Vec<StateEntry>,
    used: usize,
}

#[derive(Debug, Clone, Copy)]
struct StateEntry {
    state: u64,
    node: u32,
}

impl States {
    pub(super) fn new() -> Self {
        let empty = StateEntry {
            state: 0,
            node: EMPTY,
        };
        Self {
            entries: vec![empty; 1 << 12],
            used: 0,
        }
    }

    #[inline]
    fn place(&self, state: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut at = mix64(state) as usize & mask;
        while self.entries[at].node != EMPTY && self.entries[at].state != state {
            at = (at + 1) & mask;
        }
        at
    }

    /// Returns the node of a state; `None` if the state has not been reached.
    #[inline]
    pub(super) fn get(&self, state: u64) -> Option<u32> {
        let node = self.entries[self.place(state)].node;
        (node != EMPTY).then_some(node)
    }

    /// Sets the node of a state.
    pub(super) fn set(&mut self, state: u64, node: u32) {
        if 2 * self.used >= self.entries.len() {
            self.grow();
        }
        let at = self.place(state);
        self.used += usize::from(self.entries[at].node == EMPTY);
        self.entries[at] = StateEntry { state, node };
    }

    fn grow(&mut self) {
        let empty = StateEntry {
            state: 0,
            node: EMPTY,
        };
        let larger = vec![empty; 2 * self.entries.len()];
        let old = std::mem::replace(&mut self.entries, larger);
        for entry in old.into_iter().filter(|entry| entry.node != EMPTY) {
            let at = self.place(entry.state);
            self.entries[at] = entry;
        }
    }
}
