//! What happens to modules, for people.

use crate::lock::locked;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Mutex;

/// Events that wait to be read.
const MOST: usize = 1000;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is odd.
    Warning,
    /// Something went wrong.
    Error,
}

/// Something that happened to a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// How bad it is.
    pub level: Level,
    /// Id of the module, or name of its file.
    pub module: String,
    /// What happened.
    pub text: String,
}

/// Events that have not been read yet.
#[derive(Default)]
pub(crate) struct Events {
    unread: Mutex<VecDeque<Event>>,
    /// The first module that the clock has stopped, and how.
    timed_out: Mutex<Option<String>>,
}

impl Events {
    /// Adds an event; one that waits to be read already is not added again.
    pub(crate) fn push(&self, event: Event) {
        let mut events = locked(&self.unread);
        // What is odd is found again and again, as at each look at the folders; faults and news are
        // told as often as they happen.
        if event.level == Level::Warning && events.contains(&event) {
            return;
        }
        // Nobody may be reading: the oldest go, so that memory does not grow.
        if events.len() == MOST {
            events.pop_front();
        }
        events.push_back(event);
    }

    /// Notes that the clock has stopped a module: what follows cannot be reproduced.
    pub(crate) fn note_timeout(&self, module: &str, what: &str) {
        let mut timed_out = locked(&self.timed_out);
        // The first one only: from it on the run depends on the clock, and later ones may follow
        // from that.
        timed_out.get_or_insert_with(|| format!("{module} {what}"));
    }

    /// The first module that the clock has stopped, and how.
    pub(crate) fn timed_out(&self) -> Option<String> {
        locked(&self.timed_out).clone()
    }

    /// Whether any event waits to be read.
    pub(crate) fn has_unread(&self) -> bool {
        !locked(&self.unread).is_empty()
    }

    pub(crate) fn drain(&self) -> Vec<Event> {
        let mut events = locked(&self.unread);
        events.drain(..).collect()
    }
}
