//! Watches files outside the program in the background.
//!
//! An idle window draws nothing and costs no CPU. Since files can change all the same, a thread checks them
//! once a second and wakes the window when something changed. The thread changes nothing itself; the frame
//! that it requests finds out what the change means.

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

/// The watching thread.
pub struct Lookout {
    sights: Option<Sender<Sight>>,
    thread: Option<JoinHandle<()>>,
    /// Last value sent.
    sight: Option<Sight>,
}

impl Lookout {
    /// Starts the thread, which watches nothing yet. `wake` requests a frame.
    pub fn new(wake: impl Fn() + Send + 'static) -> Self {
        let (sights, inbox) = channel();
        Self {
            sights: Some(sights),
            thread: Some(std::thread::spawn(move || look(&inbox, wake))),
            sight: None,
        }
    }

    /// Watches a file and a host from now on.
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
            // The thread ends only when this sender does.
            let _ = sights.send(sight);
        }
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        // First, because without a sender the thread stops waiting at once.
        self.sights = None;
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic there.
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
        // Unread messages are no change but still pending: a frame that came too early left them there.
        if seen != Some(now) || sight.modules.has_unread() {
            seen = Some(now);
            wake();
        }
    }
}

/// Modification time of the file, and the state of the modules.
fn state(sight: &Sight) -> (Option<SystemTime>, u64) {
    let file = sight.file.as_deref();
    let data = file.and_then(|file| std::fs::metadata(file).ok());
    (
        data.and_then(|data| data.modified().ok()),
        sight.modules.revision(),
    )
}
