//! Watches external files in the background.

use roadwright_extension::CallWatch;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

/// Interval between checks of files.
pub const PERIOD: Duration = Duration::from_secs(1);

/// The watched files.
#[derive(Clone)]
struct Sight {
    /// The file of the document, if it has one.
    file: Option<PathBuf>,
    /// The host of plugins and scripts.
    modules: CallWatch,
}

/// The thread that watches the files.
pub struct Lookout {
    sights: Option<Sender<Sight>>,
    thread: Option<JoinHandle<()>>,
    /// Files last sent to the thread.
    sight: Option<Sight>,
}

impl Lookout {
    /// Starts the thread without any files to watch. `wake` requests a frame.
    pub fn new(wake: impl Fn() + Send + 'static) -> Self {
        let (sights, inbox) = channel();
        Self {
            sights: Some(sights),
            thread: Some(std::thread::spawn(move || look(&inbox, wake))),
            sight: None,
        }
    }

    /// Sets the file and the host to watch.
    pub fn watch(&mut self, file: Option<&Path>, modules: &CallWatch) {
        let is_known = self.sight.as_ref().is_some_and(|sight| {
            sight.file.as_deref() == file && sight.modules.is_of_same_host(modules)
        });
        if is_known {
            return;
        }
        let sight = Sight {
            file: file.map(Path::to_owned),
            modules: modules.clone(),
        };
        self.sight = Some(sight.clone());
        if let Some(sights) = &self.sights {
            // Ignored, because the thread ends only when this sender is dropped.
            let _ = sights.send(sight);
        }
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        // Dropped first, because the thread stops waiting as soon as there is no sender.
        self.sights = None;
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of that thread.
            let _ = thread.join();
        }
    }
}

/// Watches until the sender is dropped.
fn look(inbox: &Receiver<Sight>, wake: impl Fn()) {
    let mut sight: Option<Sight> = None;
    let mut seen = None;
    loop {
        match inbox.recv_timeout(PERIOD) {
            Ok(next) => {
                seen = Some(state(&next));
                sight = Some(next);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let Some(sight) = &sight else { continue };
        let now = state(sight);
        // Unread messages are not a change, but still need a frame that reads them if an earlier
        // one missed them.
        if seen != Some(now) || sight.modules.has_unread() {
            seen = Some(now);
            wake();
        }
    }
}

/// Returns the modification time of the file, and the state of the modules.
fn state(sight: &Sight) -> (Option<SystemTime>, u64) {
    let file = sight.file.as_deref();
    let data = file.and_then(|file| std::fs::metadata(file).ok());
    (
        data.and_then(|data| data.modified().ok()),
        sight.modules.revision(),
    )
}
