//! The next goals of an agent.

use roadwright_geometry::DVec2;

/// Maximum number of upcoming goals that a plan takes into account.
const MOST: usize = 4;

/// The next goals of an agent in their order, at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextGoals {
    places: [DVec2; MOST],
    count: usize,
}

impl NextGoals {
    pub(crate) fn new(first: DVec2) -> Self {
        Self {
            places: [first; MOST],
            count: 1,
        }
    }

    /// Adds a goal. Returns whether there was room for it.
    pub(crate) fn add(&mut self, goal: DVec2) -> bool {
        let has_room = self.count < MOST;
        if has_room {
            self.places[self.count] = goal;
            self.count += 1;
        }
        has_room
    }

    pub(crate) fn places(&self) -> &[DVec2] {
        &self.places[..self.count]
    }
}
