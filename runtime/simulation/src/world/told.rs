//! What modules have told people: lines, faults, marks.

use super::World;
use crate::messages::{LogLine, Mark};
use crate::records::ModuleFailure;
use std::collections::BTreeMap;

impl World {
    /// The last lines that modules have written, oldest first, at most 10,000.
    pub fn log(&self) -> impl ExactSizeIterator<Item = &LogLine> {
        self.messages.log.lines.iter()
    }

    /// Lines that modules have written so far.
    pub fn log_count(&self) -> u64 {
        self.messages.log.count
    }

    /// The faults of modules so far, with how often each has come.
    pub fn faults(&self) -> &BTreeMap<String, u64> {
        &self.messages.log.faults
    }

    /// Failures of plugins and scripts so far, by module id. A run with any is no measure of that module.
    pub fn failures(&self) -> BTreeMap<String, ModuleFailure> {
        self.modules.failures(self.clock.time())
    }

    /// The marks that modules show on the map now.
    pub fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.messages.log.marks.values()
    }
}
