//! Handling of SIGHUP, the signal sent when a terminal is closed.

/// Lets `install` set signal handlers, but keeps SIGHUP ignored if it is ignored now.
///
/// `nohup` starts a program with SIGHUP ignored, so that the program continues after the terminal is closed.
/// A handler would undo that, and child processes would inherit the default action, which terminates them.
#[cfg(unix)]
#[expect(unsafe_code, reason = "reads and restores the action of a signal")]
pub fn with_hangup_kept<T>(install: impl FnOnce() -> T) -> T {
    // SAFETY: without a new action the call only writes the old one, into a structure that is zeroed as the C
    // library expects and lives as long as the call.
    let is_ignored = unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut old) == 0
            && old.sa_sigaction == libc::SIG_IGN
    };
    let done = install();
    if is_ignored {
        // SAFETY: ignoring a signal runs none of our code.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    }
    done
}

/// Calls `install`, which sets signal handlers. Nothing else is needed, because this system has no SIGHUP.
#[cfg(not(unix))]
pub fn with_hangup_kept<T>(install: impl FnOnce() -> T) -> T {
    install()
}
