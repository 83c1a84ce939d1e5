//! Reports which plugin has ended the whole program by `exit` or by a crash, and makes the program return a
//! non-zero exit code.

use super::ends::LastWords;
use std::cell::Cell;
#[cfg(unix)]
use std::sync::Once;
#[cfg(unix)]
use std::sync::atomic::Ordering;

/// Identity of a build for messages and records.
pub(crate) struct Who {
    pub(crate) module: &'static str,
    pub(crate) hash: &'static str,
}

thread_local! {
    /// The build that this thread is running. It has no destructor and can therefore be read in a signal
    /// handler and while the program ends.
    static RUNNING: Cell<Option<&'static Who>> = const { Cell::new(None) };
}

/// Records that a build was loaded into this process, in case the process ends silently.
pub(super) fn note_loaded(who: &Who) {
    #[cfg(unix)]
    unix::note(who, super::ends::LOADED);
    #[cfg(not(unix))]
    let _ = who;
}

/// Records that the thread enters the code of a build, or that it leaves plugin code (`None`).
/// Returns the build whose code it was running before.
pub(super) fn enter(who: Option<&'static Who>) -> Option<&'static Who> {
    RUNNING.replace(who)
}

/// The file for last words, which stays in use as long as this object exists. It is opened in advance,
/// because a signal handler must not open files.
pub(crate) struct Noted {
    #[cfg(unix)]
    words: LastWords,
}

impl Noted {
    /// Directs last words to this file until a newer file replaces it.
    #[cfg(unix)]
    pub(crate) fn new(words: LastWords) -> Self {
        use std::os::fd::AsRawFd;
        unix::FILE.store(words.file.as_raw_fd(), Ordering::Release);
        Self { words }
    }

    #[cfg(not(unix))]
    pub(crate) fn new(_: LastWords) -> Self {
        Self {}
    }
}

#[cfg(unix)]
impl Drop for Noted {
    fn drop(&mut self) {
        use std::os::fd::AsRawFd;
        // Done before `words` closes the file, because the file descriptor may be reused for another file.
        let own = self.words.file.as_raw_fd();
        // The file may have been replaced by a newer one.
        let _ =
            unix::FILE.compare_exchange(own, unix::NOWHERE, Ordering::AcqRel, Ordering::Relaxed);
    }
}

#[cfg(not(unix))]
pub(crate) fn install() {}

/// Makes the program report which plugin has ended it. Has an effect only once per process.
#[cfg(unix)]
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(unix::install);
}

#[cfg(unix)]
mod unix {
    use super::{RUNNING, Who};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// Value of [`FILE`] if there is no file.
    pub(super) const NOWHERE: i32 = -1;
    /// File descriptor for records that are read at the next start.
    pub(super) static FILE: AtomicI32 = AtomicI32::new(NOWHERE);

    /// Signals of crashes, with their names.
    const CRASHES: [(i32, &str); 5] = [
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGABRT, "SIGABRT"),
    ];
    /// Exit code of a program that was ended by a plugin.
    const ENDED: i32 = 2;

    /// For each signal, the handler that was installed before.
    static BEFORE: [OnceLock<libc::sigaction>; CRASHES.len()] =
        [const { OnceLock::new() }; CRASHES.len()];

    #[expect(unsafe_code, reason = "hooks into process exit")]
    pub(super) fn install() {
        // SAFETY: the handlers only write to a descriptor, restore the previous handler or end the process.
        // Structures are zeroed as the C library expects, and live as long as the call.
        unsafe {
            libc::atexit(at_exit);
            for ((signal, _), before) in CRASHES.iter().zip(&BEFORE) {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(i32) = at_crash;
                action.sa_sigaction = handler as *const () as usize;
                // After a stack overflow the stack has no room; Rust gives each thread a separate stack for
                // signals.
                action.sa_flags = libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                if libc::sigaction(*signal, &raw const action, &raw mut old) == 0 {
                    let _ = before.set(old);
                }
            }
        }
    }

    fn running() -> Option<&'static Who> {
        RUNNING.try_with(std::cell::Cell::get).ok().flatten()
    }

    /// Writes strings to a file descriptor, using only functions that are safe in signal handlers.
    #[expect(unsafe_code, reason = "writes directly to the file descriptor")]
    fn write(to: i32, parts: &[&str]) {
        for part in parts {
            // SAFETY: the bytes live as long as the call; errors cannot be reported here.
            unsafe {
                let _ = libc::write(to, part.as_ptr().cast(), part.len());
            }
        }
    }

    /// Records for the next start that a build was loaded, or how it ended the program.
    pub(super) fn note(who: &Who, how: &str) {
        let file = FILE.load(Ordering::Acquire);
        if file != NOWHERE {
            write(file, &[who.hash, " ", who.module, " ", how, "\n"]);
        }
    }

    #[expect(
        unsafe_code,
        reason = "exits the process without running further handlers"
    )]
    extern "C" fn at_exit() {
        if let Some(who) = running() {
            let module = who.module;
            note(who, "exit");
            write(
                2,
                &[
                    "error: the plugin ",
                    module,
                    " has ended the program: it called exit. ",
                ],
            );
            write(
                2,
                &[
                    "Use --isolate ",
                    module,
                    " to run it in a separate process.\n",
                ],
            );
            // The plugin's own exit code is not used, because a run that it ended with `exit(0)` is not a
            // success. SAFETY: ends the process at once.
            unsafe { libc::_exit(ENDED) }
        }
    }

    #[expect(unsafe_code, reason = "restores the handler of a signal")]
    extern "C" fn at_crash(signal: i32) {
        let place = CRASHES.iter().position(|(known, _)| *known == signal);
        let Some(place) = place else { return };
        if let Some(who) = running() {
            let module = who.module;
            note(who, CRASHES[place].1);
            write(
                2,
                &[
                    "\nerror: the plugin ",
                    module,
                    " has crashed (",
                    CRASHES[place].1,
                    "). ",
                ],
            );
            write(
                2,
                &[
                    "Use --isolate ",
                    module,
                    " to run it in a separate process.\n",
                ],
            );
        }
        // The previous handler is restored, and the instruction is retried.
        if let Some(before) = BEFORE[place].get() {
            // SAFETY: the structure that `sigaction` returned when this handler was installed.
            unsafe {
                libc::sigaction(signal, before, std::ptr::null_mut());
            }
        }
    }
}
