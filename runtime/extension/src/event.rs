//! Events of modules, for users.

use crate::lock::locked;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Mutex;

/// Maximum number of unread events.
const MOST: usize = 1000;

/// Severity of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Information.
    Info,
    /// Warning.
    Warning,
    /// Error.
    Error,
}

/// An event of a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Severity.
    pub level: Level,
    /// Module id, or file name.
    pub module: String,
    /// Description of the event.
    pub text: String,
}

/// Unread events.
#[derive(Default)]
pub(crate) struct Events {
    unread: Mutex<VecDeque<Event>>,
    /// The first module that was stopped by the clock, and how.
    timed_out: Mutex<Option<String>>,
}

impl Events {
    /// Adds an event; a warning that is already unread is not added again.
    pub(crate) fn push(&self, event: Event) {
        let mut events = locked(&self.unread);
        // Warnings are found repeatedly, for example at each scan of the folders. Faults and news are
        // reported every time.
        if event.level == Level::Warning && events.contains(&event) {
            return;
        }
        // There may be no reader, so the oldest events are dropped to bound the memory.
        if events.len() == MOST {
            events.pop_front();
        }
        events.push_back(event);
    }

    /// Notes that the clock has stopped a module, so that the run is not reproducible from here on.
    pub(crate) fn note_timeout(&self, module: &str, what: &str) {
        let mut timed_out = locked(&self.timed_out);
        // Only the first one: from then on the run depends on the clock, and later timeouts may be
        // consequences.
        timed_out.get_or_insert_with(|| format!("{module} {what}"));
    }

    /// Returns the first module that was stopped by the clock, and how.
    pub(crate) fn timed_out(&self) -> Option<String> {
        locked(&self.timed_out).clone()
    }

    /// Whether there are unread events.
    pub(crate) fn has_unread(&self) -> bool {
        !locked(&self.unread).is_empty()
    }

    pub(crate) fn drain(&self) -> Vec<Event> {
        let mut events = locked(&self.unread);
        events.drain(..).collect()
    }
}
