//! Ends a command whose plugin does not return from a call, because native calls cannot be stopped.

use crate::progress;
use crate::terminal::say;
use roadwright_extension::Host;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum duration of a call before the command ends. The user is warned earlier.
// This is long, because ending a run makes the result depend on the machine, and a debugger or a busy disk
// may delay a call by some seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum duration of a call after the user has pressed Ctrl-C.
const LAST_PATIENCE: Duration = Duration::from_secs(2);
/// Time that the command waits for an abandoned plugin to return. If the plugin returns, the command ends
/// normally.
const GRACE: Duration = Duration::from_secs(2);

/// Interval between two checks of the host. It is short compared with the limits above, but causes
/// no noticeable cost.
const INTERVAL: Duration = Duration::from_millis(250);

/// Watches the calls of a host's plugins until it is dropped.
pub(crate) struct Watchdog {
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts watching the calls of a host's plugins.
    pub(crate) fn new(host: &Host) -> Self {
        let ending = Arc::new(AtomicBool::new(false));
        let (watch, is_ending) = (host.watch_calls(), ending.clone());
        let thread = std::thread::spawn(move || {
            while !is_ending.load(Ordering::Relaxed) {
                std::thread::park_timeout(INTERVAL);
                let patience = if progress::signalled() {
                    LAST_PATIENCE
                } else {
                    PATIENCE
                };
                watch.give_up(patience);
                for hang in watch.hangs() {
                    if watch.is_news(&hang) {
                        say!(
                            "error: {} has not answered for 2 s; waiting up to 20 s. \
                             Use --isolate {} so that it can be stopped.",
                            hang.module,
                            hang.module
                        );
                    }
                    if Duration::from_millis(hang.milliseconds) > patience + GRACE {
                        say!("error: {} is not responding; exiting", hang.module);
                        // The thread that runs the world is inside the plugin and does not return.
                        crate::worker::exit(2);
                    }
                }
            }
        });
        Self {
            ending,
            thread: Some(thread),
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        // The thread shares the host's catalogue, which records an orderly end only when it is dropped.
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
