//! Ends the process of the host deliberately, by several different calls.

use crate::{hang_gently, null};
use std::process::{Command, abort, exit};
use std::thread;
use std::time::Duration;

/// Delay before a thread of the plugin ends the process. The host continues meanwhile.
const DELAY: Duration = Duration::from_millis(20);

#[expect(unsafe_code, reason = "functions of the C library")]
// SAFETY: declared as in the C library.
unsafe extern "C" {
    fn _exit(code: i32) -> !;
    #[cfg(target_os = "linux")]
    fn quick_exit(code: i32) -> !;
    fn kill(process: i32, signal: i32) -> i32;
}

/// Number of the signal that cannot be caught (SIGKILL).
const KILL: i32 = 9;
/// Number of the signal that requests a process to terminate (SIGTERM).
const TERMINATE: i32 = 15;

/// Ends the process as `word` requests. Does nothing for unknown words.
pub(crate) fn end(word: &str) {
    match word {
        "soon exit 0" => exit(0),
        "soon exit 3" => exit(3),
        "soon _exit 0" => at_once(0),
        "soon _exit 1" => at_once(1),
        "soon quick exit" => quickly(),
        "soon abort" => abort(),
        "soon null" => null(),
        "soon kill" => signal_to_all(KILL),
        "soon terminate" => signal_to_all(TERMINATE),
        "soon exec" => become_another(),
        "soon thread exit 0" => later(|| exit(0)),
        "soon thread _exit 0" => later(|| at_once(0)),
        "soon thread _exit 1" => later(|| at_once(1)),
        "soon thread null" => later(null),
        "soon thread abort" => later(|| abort()),
        "soon thread exec" => later(become_another),
        "soon thread panic" => later(|| panic!("a thread of a plugin panics")),
        "soon thread sleep" => later(hang_gently),
        _ => {}
    }
}

/// Runs `end` in a separate thread, for which no call of the host waits. The host's own thread is delayed
/// meanwhile, so that the run does not finish first.
fn later(end: fn()) {
    thread::spawn(move || {
        thread::sleep(DELAY);
        end();
    });
    thread::sleep(10 * DELAY);
}

#[expect(unsafe_code, reason = "it ends the process on purpose")]
fn at_once(code: i32) {
    // SAFETY: ends the process without running any of its code.
    unsafe { _exit(code) }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "it ends the process on purpose")]
fn quickly() {
    // SAFETY: ends the process without the `exit` handlers.
    unsafe { quick_exit(0) }
}

#[cfg(not(target_os = "linux"))]
fn quickly() {
    at_once(0);
}

#[expect(unsafe_code, reason = "it ends the process on purpose")]
fn signal_to_all(signal: i32) {
    // SAFETY: sends a signal to this process.
    unsafe {
        kill(std::process::id().cast_signed(), signal);
    }
    // Another thread may receive the signal.
    thread::sleep(10 * DELAY);
}

/// Replaces this process by another program, which reports success.
#[cfg(unix)]
fn become_another() {
    use std::os::unix::process::CommandExt;
    let error = Command::new("true").exec();
    panic!("cannot become `true`: {error}");
}

#[cfg(not(unix))]
fn become_another() {
    let _ = Command::new("true").status();
    exit(0);
}
