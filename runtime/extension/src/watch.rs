//! Watched folders. A change in them is only a hint to check a file.

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Config, EventKind, PollWatcher, RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Interval at which folders without events are polled.
const POLL: Duration = Duration::from_secs(1);

/// A file that may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hint {
    pub(crate) path: PathBuf,
    /// Whether the file was closed by its writer or moved into place.
    pub(crate) is_closed: bool,
}

/// Watches folders. Events are only hints, because they can be lost and their kinds differ between systems.
/// The contents of the folder are therefore always checked.
pub(crate) struct Watch {
    hints: Receiver<Hint>,
    _watchers: Vec<Box<dyn Watcher + Send>>,
}

impl Watch {
    /// Starts to watch the existing folders recursively.
    pub(crate) fn new(folders: &[PathBuf]) -> Self {
        let (send, hints) = channel();
        let handler = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            let is_closed = matches!(
                event.kind,
                EventKind::Access(AccessKind::Close(AccessMode::Write))
                    | EventKind::Modify(ModifyKind::Name(_))
            );
            // Our own reading causes such events and would lead to reading again.
            if matches!(event.kind, EventKind::Access(_)) && !is_closed {
                return;
            }
            for path in event.paths {
                // The receiver no longer exists, because the host is being dropped.
                let _ = send.send(Hint { path, is_closed });
            }
        };
        let mut watchers: Vec<Box<dyn Watcher + Send>> = Vec::new();
        for folder in folders.iter().filter(|folder| folder.is_dir()) {
            if let Some(watcher) = watch(folder, handler.clone()) {
                watchers.push(watcher);
            }
        }
        Self {
            hints,
            _watchers: watchers,
        }
    }

    /// Returns the hints that arrive within the given time.
    pub(crate) fn hints(&self, patience: Duration) -> Vec<Hint> {
        let first = self.hints.recv_timeout(patience);
        if let Err(std::sync::mpsc::RecvTimeoutError::Disconnected) = first {
            // If nothing can be watched, only the regular scan remains.
            std::thread::sleep(patience);
        }
        first.into_iter().chain(self.hints.try_iter()).collect()
    }
}

fn watch<H>(folder: &Path, handler: H) -> Option<Box<dyn Watcher + Send>>
where
    H: notify::EventHandler + Clone,
{
    let native = notify::recommended_watcher(handler.clone());
    if let Ok(mut watcher) = native
        && watcher.watch(folder, RecursiveMode::Recursive).is_ok()
    {
        return Some(Box::new(watcher));
    }
    // Network drives send no events, and systems limit the number of watches.
    let config = Config::default().with_poll_interval(POLL);
    let mut watcher = PollWatcher::new(handler, config).ok()?;
    watcher.watch(folder, RecursiveMode::Recursive).ok()?;
    Some(Box::new(watcher))
}
