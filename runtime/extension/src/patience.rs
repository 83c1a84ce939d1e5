//! Waits for a child process up to a time limit, but not for processes that the child has left behind.

use crate::lock::locked;
use crate::native_now;
use std::io::Read;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Interval at which a child is polled.
// Polled, because the standard library cannot wait for a process with a time limit.
const LOOK: Duration = Duration::from_millis(2);
/// Time for which the pipes of a child are read after its end, because other processes may keep
/// them open.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// Maximum number of unread bytes kept for a pipe. Older bytes are dropped.
// A plugin can print endlessly, and its last output is most informative about how it ended.
const MOST: usize = 1 << 20;

/// Makes a command start its child in a separate process group, so that the child can be killed
/// together with all processes that it starts.
pub(crate) fn in_a_group(command: &mut Command) -> &mut Command {
    // This also keeps Ctrl-C from the child. The terminal sends it to the foreground group, but the run needs
    // answers until it has written its summary.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Result of waiting for a child process.
pub(crate) struct Ending {
    pub(crate) status: ExitStatus,
    /// Whether the child was killed because it took too long.
    pub(crate) is_late: bool,
    /// The last part of the child's output to standard error.
    pub(crate) complaint: String,
}

/// Waits for a child and passes on each line of its standard output as it arrives. A child that takes too
/// long is killed together with its child processes.
///
/// # Errors
/// If the state of the child is unknown.
pub(crate) fn wait_for(
    mut child: Child,
    patience: Duration,
    mut on_line: impl FnMut(&str),
) -> std::io::Result<Ending> {
    // Read while it runs, because a full pipe would block it.
    let stdout = Pipe::collect(child.stdout.take());
    let stderr = Pipe::collect(child.stderr.take());
    let began = native_now();
    let (status, is_late) = loop {
        stdout.take_lines(&mut on_line);
        if let Some(status) = child.try_wait()? {
            break (status, false);
        }
        if began.elapsed() > patience {
            end_group(&child);
            // The child is also killed directly, because it may not be in its own group.
            child.kill()?;
            break (child.wait()?, true);
        }
        std::thread::sleep(LOOK);
    };
    // Its child processes keep its pipes open and would delay the loop below.
    end_group(&child);
    let ended = native_now();
    while !(stdout.is_closed() && stderr.is_closed()) && ended.elapsed() < LAST_WORDS {
        std::thread::sleep(LOOK);
    }
    stdout.take_lines(&mut on_line);
    Ok(Ending {
        status,
        is_late,
        complaint: String::from_utf8_lossy(&locked(&stderr.bytes)).into_owned(),
    })
}

/// Kills the processes that a child has left in its group.
#[cfg(unix)]
pub(crate) fn end_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // An error means that the group has ended, or that the child was never in its own group.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(_: &Child) {}

/// A pipe that is read by a separate thread.
#[derive(Clone, Default)]
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    is_closed: Arc<AtomicBool>,
}

impl Pipe {
    fn collect(pipe: Option<impl Read + Send + 'static>) -> Self {
        let this = Self::default();
        let Some(mut pipe) = pipe else {
            this.is_closed.store(true, Ordering::Release);
            return this;
        };
        let kept = this.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            // Whatever was read before an error is kept.
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut bytes = locked(&kept.bytes);
                bytes.extend_from_slice(&buffer[..count]);
                let too_many = bytes.len().saturating_sub(MOST);
                bytes.drain(..too_many);
            }
            kept.is_closed.store(true, Ordering::Release);
        });
        this
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Takes the complete lines that have arrived.
    fn take_lines(&self, on_line: &mut impl FnMut(&str)) {
        let mut bytes = locked(&self.bytes);
        let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') else {
            return;
        };
        let lines: Vec<u8> = bytes.drain(..=last).collect();
        // The reader continues while the lines are processed, which may take long.
        drop(bytes);
        String::from_utf8_lossy(&lines).lines().for_each(on_line);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    fn run(script: &str, patience: Duration) -> (Ending, Vec<String>, Duration) {
        let mut command = Command::new("sh");
        let child = in_a_group(command.args(["-c", script]))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let began = native_now();
        let mut lines = Vec::new();
        let output = wait_for(child, patience, |line| lines.push(line.to_owned())).unwrap();
        (output, lines, began.elapsed())
    }

    #[test]
    fn children_that_are_left_behind_are_not_waited_for() {
        let patience = Duration::from_secs(20);
        let (output, lines, time) = run("sleep 60 & echo here", patience);
        assert!(output.status.success());
        assert_eq!(lines, ["here"]);
        assert!(time < Duration::from_secs(5), "{time:?}");
    }

    #[test]
    fn floods_are_read_and_long_waits_ended() {
        let patience = Duration::from_secs(20);
        let (output, lines, _) = run("yes | head -c 5000000; echo; echo end", patience);
        assert!(output.status.success() && !output.is_late);
        assert_eq!(lines.last().map(String::as_str), Some("end"));
        let (output, _, _) = run("yes | head -c 5000000 >&2", patience);
        assert_eq!(output.complaint.len(), MOST);
        let (output, lines, time) = run("echo one; sleep 60", Duration::from_millis(300));
        assert!(output.is_late);
        assert_eq!(lines, ["one"]);
        assert!(time < Duration::from_secs(10), "{time:?}");
    }
}
