//! What is said when a plugin ends the whole program, by `exit` or by a crash: whose fault it was.
//! The program then ends with an exit code that is not 0.

use super::ends::LastWords;
use std::cell::Cell;
#[cfg(unix)]
use std::sync::Once;
#[cfg(unix)]
use std::sync::atomic::Ordering;

/// A build, for what is said and noted of it.
pub(crate) struct Who {
    pub(crate) module: &'static str,
    pub(crate) hash: &'static str,
}

thread_local! {
    /// The build that this thread is inside of. Without a destructor, so that it can be read while
    /// the program ends and in a signal handler.
    static RUNNING: Cell<Option<&'static Who>> = const { Cell::new(None) };
}

/// Notes that a build was loaded into this process, in case that the process vanishes without a word.
pub(super) fn note_loaded(who: &Who) {
    #[cfg(unix)]
    unix::note(who, super::ends::LOADED);
    #[cfg(not(unix))]
    let _ = who;
}

/// Notes that the thread enters a build. Returns the one that it was in before.
pub(super) fn enter(who: Option<&'static Who>) -> Option<&'static Who> {
    RUNNING.replace(who)
}

/// The file for last words as long as this lives: opened ahead, since a signal handler must not.
pub(crate) struct Noted {
    #[cfg(unix)]
    words: LastWords,
}

impl Noted {
    /// Lets last words go to a file from now on; of several the newest counts.
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
        // Before `words` closes the file: the number of its descriptor may then be another file's.
        let own = self.words.file.as_raw_fd();
        // Unless a newer one has taken its place.
        let _ =
            unix::FILE.compare_exchange(own, unix::NOWHERE, Ordering::AcqRel, Ordering::Relaxed);
    }
}

#[cfg(not(unix))]
pub(crate) fn install() {}

/// Lets the program say which plugin has ended it. Once for the process; does nothing the second
/// time.
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

    /// Stands for no file.
    pub(super) const NOWHERE: i32 = -1;
    /// Where last words are noted for the next start.
    pub(super) static FILE: AtomicI32 = AtomicI32::new(NOWHERE);

    /// Signals of crashes, with what is said about them.
    const CRASHES: [(i32, &str); 5] = [
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGABRT, "SIGABRT"),
    ];
    /// Exit code of a program that a plugin has ended.
    const ENDED: i32 = 2;

    /// What handled each signal before.
    static BEFORE: [OnceLock<libc::sigaction>; CRASHES.len()] =
        [const { OnceLock::new() }; CRASHES.len()];

    #[expect(unsafe_code, reason = "hooks into the end of the process")]
    pub(super) fn install() {
        // SAFETY: the handlers only write to a descriptor, restore what was there before or end the
        // process; structures are zeroed as the C library expects, and live as long as the call.
        unsafe {
            libc::atexit(at_exit);
            for ((signal, _), before) in CRASHES.iter().zip(&BEFORE) {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(i32) = at_crash;
                action.sa_sigaction = handler as *const () as usize;
                // After an overflow of the stack there is no room on it: Rust gives each thread one
                // for signals.
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

    /// Writes without anything that a signal handler must not do.
    #[expect(unsafe_code, reason = "writes to the descriptor itself")]
    fn write(to: i32, parts: &[&str]) {
        for part in parts {
            // SAFETY: the bytes live as long as the call; nobody can be told of an error.
            unsafe {
                let _ = libc::write(to, part.as_ptr().cast(), part.len());
            }
        }
    }

    /// Notes for the next start what a build has done: how it has ended the program, or that it was loaded.
    pub(super) fn note(who: &Who, how: &str) {
        let file = FILE.load(Ordering::Acquire);
        if file != NOWHERE {
            write(file, &[who.hash, " ", who.module, " ", how, "\n"]);
        }
    }

    #[expect(unsafe_code, reason = "ends the process without further handlers")]
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
                    "With --isolate ",
                    module,
                    " it only ends a process of its own.\n",
                ],
            );
            // Not the plugin's own code: a run that it ended with `exit(0)` is no success.
            // SAFETY: ends the process at once.
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
                    "With --isolate ",
                    module,
                    " only a process of its own would.\n",
                ],
            );
        }
        // What was there before has its turn: the instruction is tried again.
        if let Some(before) = BEFORE[place].get() {
            // SAFETY: what `sigaction` itself gave when this handler was put in its place.
            unsafe {
                libc::sigaction(signal, before, std::ptr::null_mut());
            }
        }
    }
}
