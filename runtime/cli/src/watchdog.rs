//! Ends a run whose plugin does not return: a native call cannot be stopped.

use crate::progress;
use crate::terminal::say;
use roadwright_extension::Host;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A call that takes longer is given up and ends the run. It has been complained about before.
// Long, since giving up makes the result depend on the machine: a debugger or a busy disk may hold a
// call up for some seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same once Ctrl-C was pressed.
const LAST_PATIENCE: Duration = Duration::from_secs(2);
/// How long a plugin that is given up may take to notice that and to return: the run then ends in
/// good order.
const GRACE: Duration = Duration::from_secs(2);

/// Looks at the host as long as it lives.
pub(crate) struct Watchdog {
    ending: Arc<AtomicBool>,
}

impl Watchdog {
    /// Watches the calls of a host's plugins.
    pub(crate) fn new(host: &Host) -> Self {
        let ending = Arc::new(AtomicBool::new(false));
        let (watch, is_ending) = (host.watch_calls(), ending.clone());
        std::thread::spawn(move || {
            while !is_ending.load(Ordering::Relaxed) {
                // Short against all limits above, and no cost that a run would notice.
                std::thread::sleep(Duration::from_millis(250));
                let patience = if progress::interrupted() {
                    LAST_PATIENCE
                } else {
                    PATIENCE
                };
                watch.give_up(patience);
                for hang in watch.hangs() {
                    if watch.is_news(&hang) {
                        say!(
                            "error: {} has not answered for 2 s; waiting up to 20 s. \
                             With --isolate {} it could be stopped.",
                            hang.module,
                            hang.module
                        );
                    }
                    if Duration::from_millis(hang.milliseconds) > PATIENCE + GRACE {
                        say!("error: {} hangs: the run is ended", hang.module);
                        // The thread that runs the world is inside the plugin and does not come back.
                        crate::worker::exit(2);
                    }
                }
            }
        });
        Self { ending }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
    }
}
