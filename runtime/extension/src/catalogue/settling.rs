//! Detection of when a file that is being written has settled.
//!
//! Compilers write libraries in several steps, and editors write scripts through temporary files. A file that
//! is read during this time is incomplete and would be rejected.

use std::path::Path;
use std::time::{Duration, Instant};

/// Time for which a file must stay unchanged before it counts as settled.
// With a shorter time, a linker that pauses between two writes would leave an incomplete file. With a longer
// time, authors would have to wait for their own changes.
const REST: Duration = Duration::from_millis(150);
/// Time for which a file must stay unchanged after its writer has closed it or it was moved into
/// place.
// Not zero, because a tool may close a file and reopen it to continue.
const CLOSED_REST: Duration = Duration::from_millis(30);
/// Time after which a file that is still incomplete counts as faulty.
pub(crate) const INCOMPLETE: Duration = Duration::from_secs(10);

/// Properties that distinguish two states of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    size: u64,
    modified: Option<std::time::SystemTime>,
    // A file that was moved into place can have the size and time of the previous one.
    inode: u64,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&meta);
        #[cfg(not(unix))]
        let inode = 0;
        Some(Self {
            size: meta.len(),
            modified: meta.modified().ok(),
            inode,
        })
    }
}

/// A file that is observed until it settles.
#[derive(Debug)]
pub(crate) struct Settling {
    stamp: Option<Stamp>,
    since: Instant,
    /// Time at which the file was first found to be incomplete.
    incomplete_since: Option<Instant>,
    next_try: Instant,
    wait: Duration,
    is_closed: bool,
}

impl Settling {
    pub(crate) fn new(path: &Path, now: Instant) -> Self {
        Self {
            stamp: Stamp::of(path),
            since: now,
            incomplete_since: None,
            next_try: now,
            wait: REST,
            is_closed: false,
        }
    }

    /// Records that the writer has closed the file, or that it was moved into place.
    pub(crate) fn note_closed(&mut self) {
        self.is_closed = true;
    }

    /// Returns whether the file has settled. Called repeatedly.
    pub(crate) fn is_at_rest(&mut self, path: &Path, now: Instant) -> bool {
        let stamp = Stamp::of(path);
        if stamp != self.stamp {
            // Notes about the previous state do not apply to this one.
            self.stamp = stamp;
            self.since = now;
            self.next_try = now;
            self.wait = REST;
            self.incomplete_since = None;
            return false;
        }
        let rest = if self.is_closed { CLOSED_REST } else { REST };
        stamp.is_some() && now.duration_since(self.since) >= rest && now >= self.next_try
    }

    /// Records that the settled file is incomplete, and increases the interval between attempts. Returns
    /// whether the file now counts as faulty.
    pub(crate) fn note_incomplete(&mut self, now: Instant) -> bool {
        let since = *self.incomplete_since.get_or_insert(now);
        // A copy over a slow network takes seconds, and each attempt reads the whole file.
        self.next_try = now + self.wait;
        self.wait = (self.wait * 2).min(Duration::from_secs(2));
        now.duration_since(since) >= INCOMPLETE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_writer_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.so");
        std::fs::write(&path, b"one").unwrap();
        let begin = super::super::native_now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut file = Settling::new(&path, begin);
        assert!(!file.is_at_rest(&path, at(100)));
        std::fs::write(&path, b"one and two").unwrap();
        // After a change the time starts again, with the same settling time.
        assert!(!file.is_at_rest(&path, at(160)));
        assert!(!file.is_at_rest(&path, at(300)));
        assert!(file.is_at_rest(&path, at(320)));
        // Incomplete: attempts become rarer, and ten seconds later it is an error.
        assert!(!file.note_incomplete(at(320)));
        assert!(!file.is_at_rest(&path, at(400)));
        assert!(file.is_at_rest(&path, at(500)));
        assert!(file.note_incomplete(at(10_400)));
    }

    #[test]
    fn a_closed_file_is_taken_sooner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.so");
        std::fs::write(&path, b"one").unwrap();
        let begin = super::super::native_now();
        let mut file = Settling::new(&path, begin);
        file.note_closed();
        assert!(!file.is_at_rest(&path, begin + Duration::from_millis(10)));
        assert!(file.is_at_rest(&path, begin + Duration::from_millis(40)));
        // A file that is gone never settles.
        std::fs::remove_file(&path).unwrap();
        assert!(!file.is_at_rest(&path, begin + Duration::from_secs(1)));
        assert!(!file.is_at_rest(&path, begin + Duration::from_secs(9)));
    }
}
