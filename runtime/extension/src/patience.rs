//! Waiting for a child process up to a limit, without waiting for what it has left behind.

use crate::lock::locked;
use crate::native_now;
use std::io::Read;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often a child is looked at.
// Polled: the standard library has no wait for a process with a time limit.
const LOOK: Duration = Duration::from_millis(2);
/// How long its pipes are read after it has ended: other processes may hold them open.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// Most bytes of a pipe that wait to be looked at; what came before is forgotten.
// A plugin can print without end; what it printed last says most about how it ended.
const MOST: usize = 1 << 20;

/// Lets a child that is started by a command have a process group of its own, so that its children
/// can be ended with it.
pub(crate) fn in_a_group(command: &mut Command) -> &mut Command {
    // It also keeps Ctrl-C from the child: the terminal sends that to the group in the foreground,
    // and the run wants answers until it has written its summary.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// How a child has ended.
pub(crate) struct Ending {
    pub(crate) status: ExitStatus,
    /// Whether it was ended because it took too long.
    pub(crate) is_late: bool,
    /// The last that it printed to standard error.
    pub(crate) complaint: String,
}

/// Waits for a child, and passes on each line of its standard output as it arrives. A child that
/// takes too long is ended, and so are its own children.
///
/// # Errors
/// If the child is lost.
pub(crate) fn wait_for(
    mut child: Child,
    patience: Duration,
    mut on_line: impl FnMut(&str),
) -> std::io::Result<Ending> {
    // Read while it runs: a full pipe would hold it up.
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
            // The child itself too: it may have no group of its own.
            child.kill()?;
            break (child.wait()?, true);
        }
        std::thread::sleep(LOOK);
    };
    // What it has started holds its pipes open, and would hold up the loop below.
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

/// Ends what a child has left behind in its group.
#[cfg(unix)]
pub(crate) fn end_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // An error means that the group has ended, or that the child never had one of its own.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(_: &Child) {}

/// A pipe that is read by a thread of its own.
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
            // What was read before an error is what there is.
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

    /// Takes out the whole lines that have come.
    fn take_lines(&self, on_line: &mut impl FnMut(&str)) {
        let mut bytes = locked(&self.bytes);
        let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') else {
            return;
        };
        let lines: Vec<u8> = bytes.drain(..=last).collect();
        // The reader goes on while lines are told, which may take long.
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
