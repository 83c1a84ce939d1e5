//! Output of modules for users: log lines, faults and marks.

use super::World;
use crate::messages::{LogLine, Mark};
use crate::records::ModuleFailure;
use std::collections::BTreeMap;

impl World {
    /// The last lines that modules have logged, oldest first, at most 10,000.
    pub fn log(&self) -> impl ExactSizeIterator<Item = &LogLine> {
        self.messages.log.lines.iter()
    }

    /// Number of lines that modules have logged so far.
    pub fn log_count(&self) -> u64 {
        self.messages.log.count
    }

    /// Faults of modules so far, with their counts.
    pub fn faults(&self) -> &BTreeMap<String, u64> {
        &self.messages.log.faults
    }

    /// Failures of plugins and scripts so far, by module id. The results of a run in which a module
    /// failed do not measure that module.
    pub fn failures(&self) -> BTreeMap<String, ModuleFailure> {
        self.modules.failures(self.clock.time())
    }

    /// Marks that modules show on the map now.
    pub fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.messages.log.marks.values()
    }
}
