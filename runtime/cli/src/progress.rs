//! Progress bars, and the end of a run by Ctrl-C or a signal.

use crate::terminal::say;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// Number of the first signal that asked the program to end, or 0.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Whether work was stopped early because of a signal.
static CUT_SHORT: AtomicBool = AtomicBool::new(false);
static HANDLER: OnceLock<()> = OnceLock::new();

/// Interval within which two signals count as one. When a terminal is closed, SIGHUP comes from the
/// shell and again from the kernel, and the second one must not prevent the summary.
const ONE_SIGNAL: Duration = Duration::from_millis(500);
/// Number that shells add to the number of a signal. The sum is the exit code of a program that was
/// ended by the signal.
const AFTER_SIGNALS: i32 = 128;

/// Turns Ctrl-C, SIGTERM and SIGHUP into requests to end, so that a run still writes its summary
/// and complete rows of its trace. A second signal ends the program immediately.
pub(crate) fn catch_interrupt() {
    HANDLER.get_or_init(|| {
        // A run under `nohup` must not end with its terminal.
        let noted = roadwright_extension::with_hangup_kept(install);
        if let Err(error) = noted {
            say!("warning: Ctrl-C will end the run without a summary: {error}");
        }
    });
}

/// Records signals in a separate thread.
#[cfg(unix)]
fn install() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let thread = std::thread::Builder::new().name("signals".into());
    thread.spawn(move || {
        let mut first = None;
        for signal in signals.forever() {
            note(signal, &mut first);
        }
    })?;
    Ok(())
}

/// Records Ctrl-C, which is the only signal on this system.
#[cfg(not(unix))]
fn install() -> Result<(), ctrlc::Error> {
    /// Number of the signal that Ctrl-C sends on Unix.
    const INTERRUPT: i32 = 2;
    let mut first = None;
    ctrlc::set_handler(move || note(INTERRUPT, &mut first))
}

/// Records a signal, or ends the program if it is the second one.
fn note(signal: i32, first: &mut Option<Instant>) {
    // The time of the first signal is kept, and later signals are compared with it.
    let at = *first.get_or_insert_with(now);
    let is_first = SIGNAL
        .compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst)
        .is_ok();
    if !is_first && at.elapsed() > ONE_SIGNAL {
        crate::worker::exit(u8::try_from(AFTER_SIGNALS + signal).unwrap_or(u8::MAX));
    }
}

/// Whether a signal has asked the command to end. In contrast to [`interrupted`], this call does not mark the
/// work as cut short.
pub(crate) fn signalled() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// Whether a signal has asked the command to end. If so, the caller must end its work, which then counts as
/// cut short.
pub(crate) fn interrupted() -> bool {
    let asked = signalled();
    if asked {
        CUT_SHORT.store(true, Ordering::SeqCst);
    }
    asked
}

/// Returns the exit code of a program whose work was cut short by a signal: 128 plus the number of
/// the signal, as in shells. `None` if no work was cut short.
pub(crate) fn exit_code() -> Option<u8> {
    let signal = SIGNAL.load(Ordering::SeqCst);
    let code = u8::try_from(AFTER_SIGNALS + signal).ok();
    code.filter(|_| CUT_SHORT.load(Ordering::SeqCst))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program reports elapsed times; no result depends on them"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns a progress bar that is visible on a terminal and hidden in a pipe.
pub(crate) fn bar(length: u64, quiet: bool) -> ProgressBar {
    // The bar is on standard error, so that it does not get into piped output.
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "{msg:<28} [{bar:32}] {percent:>3} %  {eta} left";
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    ProgressBar::new(length).with_style(style)
}
