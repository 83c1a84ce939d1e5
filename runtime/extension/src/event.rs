//! Events of modules that are reported to users.

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
    /// Informational event.
    Info,
    /// Event that warns of a problem.
    Warning,
    /// Event that reports a failure.
    Error,
}

/// An event of a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Severity of the event.
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
    /// The first module that timed out, with the reason.
    timed_out: Mutex<Option<String>>,
}

impl Events {
    /// Adds an event. A warning that has not been read yet is not added again.
    pub(crate) fn push(&self, event: Event) {
        let mut events = locked(&self.unread);
        // Warnings are found repeatedly, for example at each scan of the folders. Faults and other events are
        // reported every time.
        if event.level == Level::Warning && events.contains(&event) {
            return;
        }
        // The oldest events are dropped to limit the memory, because there may be no reader.
        if events.len() == MOST {
            events.pop_front();
        }
        events.push_back(event);
    }

    /// Records that a module has timed out. From this point on, the run is not reproducible.
    pub(crate) fn note_timeout(&self, module: &str, what: &str) {
        let mut timed_out = locked(&self.timed_out);
        // Only the first one is kept, because later timeouts may be its consequences.
        timed_out.get_or_insert_with(|| format!("{module} {what}"));
    }

    /// Returns the first module that timed out, with the reason; `None` if none has.
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
