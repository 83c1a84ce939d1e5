//! Output of modules for users: log lines, faults and marks.

use super::World;
use crate::messages::{LogLine, Mark};
use crate::records::ModuleFailure;
use std::collections::BTreeMap;

impl World {
    /// The last lines that modules have logged, up to 10,000, oldest first.
    pub fn log(&self) -> impl ExactSizeIterator<Item = &LogLine> {
        self.messages.log.lines.iter()
    }

    /// Number of lines that modules have logged so far.
    pub fn log_count(&self) -> u64 {
        self.messages.log.count
    }

    /// Faults of modules so far, each with the number of its occurrences.
    pub fn faults(&self) -> &BTreeMap<String, u64> {
        &self.messages.log.faults
    }

    /// Failures of plugins and scripts so far, by module id. If a module has failed, the results of
    /// the run do not reflect its performance.
    pub fn failures(&self) -> BTreeMap<String, ModuleFailure> {
        self.modules.failures(self.clock.time())
    }

    /// Marks that modules currently show on the map.
    pub fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.messages.log.marks.values()
    }
}
