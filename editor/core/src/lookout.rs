//! A look at what is outside of the program, beside the frame.
//!
//! A window with nothing to do draws nothing and costs no CPU. Files change all the same: a thread looks at
//! them once a second, and wakes the window when there is something to see. It touches nothing itself; what
//! the change means is found out by the frame that it asks for.

use roadwright_extension::CallWatch;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

/// Files are looked at this often.
pub const PERIOD: Duration = Duration::from_secs(1);

/// What is looked at.
#[derive(Clone)]
struct Sight {
    /// The file of the document, if it has one.
    file: Option<PathBuf>,
    /// The host of plugins and scripts.
    modules: CallWatch,
}

/// The thread that looks.
pub struct Lookout {
    sights: Option<Sender<Sight>>,
    thread: Option<JoinHandle<()>>,
    /// What was sent last.
    sight: Option<Sight>,
}

impl Lookout {
    /// Starts the thread; it looks at nothing yet. `wake` asks for a frame.
    pub fn new(wake: impl Fn() + Send + 'static) -> Self {
        let (sights, inbox) = channel();
        Self {
            sights: Some(sights),
            thread: Some(std::thread::spawn(move || look(&inbox, wake))),
            sight: None,
        }
    }

    /// Looks at a file and at a host from now on.
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
        // First: without a sender the thread's wait ends at once.
        self.sights = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

/// Looks until nobody sends sights any more.
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
        // What has been said and not read is no change, but waits: a frame that came too early for it has
        // left it there.
        if seen != Some(now) || sight.modules.has_unread() {
            seen = Some(now);
            wake();
        }
    }
}

/// When the file was written, and which modules there are.
fn state(sight: &Sight) -> (Option<SystemTime>, u64) {
    let file = sight.file.as_deref();
    let data = file.and_then(|file| std::fs::metadata(file).ok());
    (
        data.and_then(|data| data.modified().ok()),
        sight.modules.revision(),
    )
}
