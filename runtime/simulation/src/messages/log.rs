//! Output of modules during a run: lines of text and marks on the map.

use crate::records::are_countable;
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of lines kept, because a script can write a line for each agent in every step.
const LINES: usize = 10_000;
/// Maximum number of different faults that are counted.
const FAULTS: usize = 1000;
/// Display time of a mark, s.
const MARK_TIME: f64 = 1.0;

/// A line logged by a module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Simulation time, s.
    pub time: f64,
    /// Id of the agent that the module was called for.
    pub agent: u64,
    /// Id of the module.
    pub module: String,
    /// Text of the line.
    pub text: String,
    /// Whether the line reports a fault.
    pub is_fault: bool,
}

/// A mark that a module shows on the map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Id of the agent that set the mark.
    pub agent: u64,
    /// Position of the mark, m.
    pub at: DVec2,
    /// Label that is shown beside the mark.
    pub text: String,
    /// Time at which the mark disappears, s.
    pub until: f64,
}

/// Lines, marks and faults that modules have logged so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Log {
    pub(crate) lines: VecDeque<LogLine>,
    /// Number of lines logged so far, including lines that have been dropped.
    pub(crate) count: u64,
    /// Marks by agent and text. An agent has at most one mark with the same text.
    pub(crate) marks: BTreeMap<(u64, String), Mark>,
    /// Number of occurrences of each fault.
    pub(crate) faults: BTreeMap<String, u64>,
}

impl Log {
    /// Whether the counts are valid after being read from a save.
    pub(crate) fn is_sound(&self) -> bool {
        are_countable(self.faults.values().copied().chain([self.count]))
    }

    pub(crate) fn write(&mut self, line: LogLine) {
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.count += 1;
        self.lines.push_back(line);
    }

    /// Counts a fault, and logs its line the first time.
    pub(crate) fn write_fault(&mut self, line: LogLine) {
        // A faulty script fails for every agent in every turn, so each text is logged once and then
        // only counted.
        if !self.is_old_fault(&line.text) {
            self.write(line);
        }
    }

    /// Counts a fault. Returns whether it has occurred before, so that it need not be logged again.
    pub(crate) fn is_old_fault(&mut self, text: &str) -> bool {
        if let Some(count) = self.faults.get_mut(text) {
            *count += 1;
            return true;
        }
        // Texts that contain numbers differ each time, so above this limit new texts are no longer
        // counted.
        if self.faults.len() < FAULTS {
            self.faults.insert(text.to_owned(), 1);
        }
        false
    }

    /// Shows a mark, or extends its display time.
    pub(crate) fn mark(&mut self, time: f64, agent: u64, at: DVec2, text: String) {
        let until = time + MARK_TIME;
        let mark = Mark {
            agent,
            at,
            text: text.clone(),
            until,
        };
        self.marks.insert((agent, text), mark);
    }

    pub(crate) fn expire(&mut self, time: f64) {
        self.marks.retain(|_, mark| mark.until > time);
    }
}
