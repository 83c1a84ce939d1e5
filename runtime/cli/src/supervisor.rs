//! The parent of a process that contains plugins. It waits for a file that marks the work as done.
//! A process that was ended by a plugin therefore never counts as a success.
//!
//! ```text
//!   parent                                    worker (the same command once more)
//!   finds that plugins would run in it
//!   starts the worker  -------------------->  loads them, works
//!   passes signals on  -------------------->  ends early, as without a parent
//!                      <-- folder -----------  mark: exit code, outputs
//!   gives outputs their final names
//!   ends with the worker's exit code
//! ```
//!
//! Without a mark it reports which plugins were in the process and ends with exit code 2. It does
//! not matter how the worker ended: by `_exit`, by `exec`, from another thread, or by a signal.
//! Commands without plugins in their process have no parent.

use crate::terminal::{self, say};
use crate::worker::{self, Mark, Remains};
use anyhow::Context;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The hidden option that makes a process a worker.
pub(crate) const WORKER: &str = "worker";

/// Exit code of a command whose work was not done.
const NOT_DONE: u8 = 2;

/// Runs this command in a child process, and ends this process with the child's exit code.
///
/// # Errors
/// If no child can be started.
pub(crate) fn work_in_child() -> anyhow::Result<std::convert::Infallible> {
    let place = tempfile::Builder::new().prefix("roadwright-").tempdir();
    let place = place.context("cannot create a folder for the process that runs plugins")?;
    let code = supervise(place.path())?;
    // Removed here, because ending the process runs no destructors.
    drop(place);
    std::process::exit(i32::from(code));
}

fn supervise(place: &Path) -> anyhow::Result<u8> {
    worker::prepare(place);
    let program = std::env::current_exe().context("cannot find this program's executable")?;
    let mut command = Command::new(program);
    command
        .arg(format!("--{WORKER}"))
        .arg(place)
        .args(std::env::args_os().skip(1));
    if let Some(out) = terminal::kept_stdout() {
        command.stdout(Stdio::from(out));
    }
    // Signals are caught before the child exists; otherwise a signal in between would end only this process.
    let signals = signals::Forwarded::catch()?;
    let mut child = command
        .spawn()
        .context("cannot start the process that runs plugins")?;
    let forwarding = signals.pass_on_to(&child);
    let status = wait(&mut child)?;
    let signal = forwarding.last();
    let remains = Remains::read(place);
    match remains.mark {
        Some(mark) => Ok(give_names(&mark)),
        None => {
            for path in &remains.temporary {
                let _ = std::fs::remove_file(path);
            }
            Ok(judge_end(status, signal, &remains.plugins))
        }
    }
}

fn wait(child: &mut Child) -> anyhow::Result<ExitStatus> {
    child
        .wait()
        .context("cannot wait for the process that runs plugins")
}

/// Gives the outputs of a worker their final names. Returns the exit code of the command.
fn give_names(mark: &Mark) -> u8 {
    let mut code = mark.code;
    for rename in &mark.renames {
        if let Err(error) = std::fs::rename(&rename.from, &rename.to) {
            say!("error: cannot write {}: {error}", rename.to.display());
            code = NOT_DONE;
        }
    }
    code
}

/// Reports how a worker without a mark ended. Returns the exit code of the command.
fn judge_end(status: ExitStatus, signal: Option<i32>, plugins: &[String]) -> u8 {
    let ended_by = signals::ended_by(status);
    if let Some(signal) = ended_by.filter(|_| ended_by == signal) {
        // The worker ended because of a signal, as requested.
        return u8::try_from(128 + signal).unwrap_or(NOT_DONE);
    }
    let how = match (ended_by, status.code()) {
        (Some(signal), _) => format!("by {}", signals::name(signal)),
        (None, Some(code)) => format!("with exit code {code}"),
        (None, None) => "with an unknown status".to_owned(),
    };
    say!("error: {}", ended_early(&how, plugins));
    NOT_DONE
}

/// Returns a message about a worker that ended before its work was done.
fn ended_early(how: &str, plugins: &[String]) -> String {
    let (who, isolated) = match plugins {
        [] => ("a plugin may have".to_owned(), "ID"),
        [one] => (format!("{one} has"), one.as_str()),
        [first, ..] => (format!("one of {} has", plugins.join(", ")), first.as_str()),
    };
    format!(
        "{who} ended the program ({how}) before its work was done; no result was written, except \
         for the rows that `bench` and `train` keep for resuming. Use --isolate {isolated} so that \
         a plugin can only end its own process"
    )
}

#[cfg(unix)]
mod signals {
    use anyhow::Context;
    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::{Handle, Signals};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, ExitStatus};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// Signals that ask a program to end.
    const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

    /// Signals that have been caught but not passed on yet.
    pub(super) struct Forwarded(Signals);

    impl Forwarded {
        pub(super) fn catch() -> anyhow::Result<Self> {
            // A run under `nohup` must not end with its terminal.
            let signals = roadwright_extension::with_hangup_kept(|| Signals::new(ENDING));
            Ok(Self(signals.context("cannot catch signals")?))
        }

        /// Starts passing signals on to a child. A terminal sends signals to both processes, but the
        /// child counts two signals within half a second as one.
        pub(super) fn pass_on_to(self, child: &Child) -> Forwarding {
            let mut signals = self.0;
            let handle = signals.handle();
            let last = Arc::new(AtomicI32::new(0));
            let noted = last.clone();
            let pid = Pid::from_child(child);
            std::thread::spawn(move || {
                for signal in signals.forever() {
                    noted.store(signal, Ordering::SeqCst);
                    if let Some(signal) = Signal::from_named_raw(signal) {
                        // Fails if the child has already ended.
                        let _ = kill_process(pid, signal);
                    }
                }
            });
            Forwarding { handle, last }
        }
    }

    /// Passes signals on as long as this value exists.
    pub(super) struct Forwarding {
        handle: Handle,
        last: Arc<AtomicI32>,
    }

    impl Forwarding {
        /// Stops passing signals on. Returns the last signal received, if any.
        pub(super) fn last(self) -> Option<i32> {
            self.handle.close();
            Some(self.last.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
        }
    }

    /// Returns the signal that ended a process, if any.
    pub(super) fn ended_by(status: ExitStatus) -> Option<i32> {
        status.signal()
    }

    /// Returns the name of a signal for messages.
    pub(super) fn name(signal: i32) -> String {
        let name = signal_hook::low_level::signal_name(signal);
        name.map_or_else(|| format!("signal {signal}"), str::to_owned)
    }
}

#[cfg(not(unix))]
mod signals {
    use std::process::{Child, ExitStatus};

    /// A stand-in for signals on systems that do not have them.
    pub(super) struct Forwarded;

    impl Forwarded {
        pub(super) fn catch() -> anyhow::Result<Self> {
            Ok(Self)
        }

        pub(super) fn pass_on_to(self, _: &Child) -> Self {
            self
        }

        pub(super) fn last(self) -> Option<i32> {
            None
        }
    }

    pub(super) fn ended_by(_: ExitStatus) -> Option<i32> {
        None
    }

    pub(super) fn name(signal: i32) -> String {
        format!("signal {signal}")
    }
}

#[cfg(test)]
mod tests {
    use super::ended_early;

    #[test]
    fn every_plugin_that_may_have_ended_the_program_is_named() {
        let one = ended_early("with exit code 0", &["com.example.a".into()]);
        assert!(one.starts_with("com.example.a has ended the program (with exit code 0)"));
        let two = ended_early("by SIGKILL", &["com.a".into(), "com.b".into()]);
        assert!(two.starts_with("one of com.a, com.b has ended the program (by SIGKILL)"));
        assert!(two.contains("--isolate com.a"));
    }
}
