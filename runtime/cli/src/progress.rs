//! Progress bars, and the end of a run by Ctrl-C or a signal.

use crate::terminal::say;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static STOPPED: AtomicBool = AtomicBool::new(false);
static HANDLER: OnceLock<()> = OnceLock::new();

/// Signals this close together count as one: a terminal that is closed sends SIGHUP from the shell
/// and again from the kernel, and the second must not cut the summary off.
const ONE_SIGNAL: Duration = Duration::from_millis(500);
/// Exit code after a second signal: what shells expect of a program that Ctrl-C has ended.
const KILLED: u8 = 130;

/// From now on Ctrl-C, SIGTERM and SIGHUP are noted instead of ending the program, so that a run
/// writes its summary and whole rows of its trace. A second one ends it at once.
pub(crate) fn catch_interrupt() {
    HANDLER.get_or_init(|| {
        let mut first = None;
        let handler = move || {
            // The time of the first signal stays: what comes later is measured from it.
            let at = *first.get_or_insert_with(now);
            if STOPPED.swap(true, Ordering::SeqCst) && at.elapsed() > ONE_SIGNAL {
                crate::worker::exit(KILLED);
            }
        };
        // A run under `nohup` is meant to survive the terminal.
        let noted = roadwright_extension::with_hangup_kept(|| ctrlc::set_handler(handler));
        if let Err(error) = noted {
            say!("warning: Ctrl-C will end the run without a summary: {error}");
        }
    });
}

/// Whether the run was asked to end.
pub(crate) fn interrupted() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program reports how long things take; no result depends on it"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A bar on a terminal, nothing in a pipe.
pub(crate) fn bar(length: u64, quiet: bool) -> ProgressBar {
    // On standard error, so that the bar does not get into what is piped on.
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "{msg:<28} [{bar:32}] {percent:>3} %  {eta} left";
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    ProgressBar::new(length).with_style(style)
}
