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
pub(crate) struct Events(Mutex<VecDeque<Event>>);

impl Events {
    pub(crate) fn push(&self, event: Event) {
        let mut events = locked(&self.0);
        if events.len() == MOST {
            events.pop_front();
        }
        events.push_back(event);
    }

    pub(crate) fn drain(&self) -> Vec<Event> {
        let mut events = locked(&self.0);
        events.drain(..).collect()
    }
}
