//! Progress bars and the end by Ctrl-C.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static STOPPED: AtomicBool = AtomicBool::new(false);
static HANDLER: OnceLock<()> = OnceLock::new();

/// From now on Ctrl-C is noted instead of ending the program; a second one ends it.
pub(crate) fn catch_interrupt() {
    HANDLER.get_or_init(|| {
        let noted = ctrlc::set_handler(|| {
            if STOPPED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        if let Err(error) = noted {
            eprintln!("warning: Ctrl-C will end the run without a summary: {error}");
        }
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// A bar on a terminal, nothing in a pipe.
pub(crate) fn bar(length: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "{msg:<28} [{bar:32}] {percent:>3} %  {eta} left";
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    ProgressBar::new(length).with_style(style)
}
