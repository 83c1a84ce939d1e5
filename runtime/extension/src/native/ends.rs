//! Records of plugins that ended the whole program. A signal handler writes them to a file that was opened in
//! advance, and they are read at the next start.

use super::cell::wall_clock;
use roadwright_files::{MEBIBYTE, read_text};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

/// Last word of a line that only records a loaded build.
pub(super) const LOADED: &str = "loaded";

/// Extension of the file where a running process can record which plugin ended it.
const OPEN: &str = "open";
/// File that lists the builds that ended the program, one per line.
const KNOWN: &str = "known";

/// A build that ended the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) module: String,
    /// How the build last ended the program: a signal, or `exit`.
    pub(crate) how: String,
    /// Date and time at which the build last ended the program, UTC.
    pub(crate) when: String,
    /// Number of times that the build ended the program.
    pub(crate) count: u32,
}

/// Builds that ended the program in earlier sessions, by hash.
pub(crate) type Ends = BTreeMap<String, End>;

/// A process that ended without leaving a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SilentEnd {
    /// Ids of the plugins that were loaded.
    pub(crate) modules: Vec<String>,
    /// Date and time at which the last of these plugins was loaded, UTC.
    pub(crate) loaded: String,
}

/// Records of how earlier processes with plugins ended.
#[derive(Debug, Default)]
pub(crate) struct PastEnds {
    /// Builds that are known to have ended a process.
    pub(crate) known: Ends,
    /// Processes that ended for an unknown reason since the last start.
    pub(crate) silent: Vec<SilentEnd>,
}

/// The file for the last words of this process. It is removed at a normal exit, unless it states how a plugin
/// ended the process.
pub(crate) struct LastWords {
    pub(crate) file: File,
    path: PathBuf,
}

impl LastWords {
    /// Creates the file of a process in a folder. Returns `None` if that fails, in which case nothing is
    /// recorded.
    pub(crate) fn open(folder: &Path, name: &str) -> Option<Self> {
        // Opened in advance, because a signal handler must not allocate, which opening a file does.
        std::fs::create_dir_all(folder).ok()?;
        let path = folder.join(format!("{name}.{OPEN}"));
        let file = File::create(&path).ok()?;
        file.try_lock().ok()?;
        Some(Self { file, path })
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        // Unlocked explicitly, because a child process that is starting has a copy of the file, and with it
        // the lock, until it executes its own program.
        let _ = self.file.unlock();
        let said = read_note(&self.path);
        if said.lines().all(is_loading) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Maximum size of a note, bytes. A note of how a program ended fits into one line.
const LARGEST: u64 = 16 * MEBIBYTE;

/// Returns the text of a note, or an empty text if it cannot be read.
fn read_note(path: &Path) -> String {
    read_text(path, LARGEST).unwrap_or_default()
}

/// Whether a line only records a loaded build.
fn is_loading(line: &str) -> bool {
    line.rsplit(' ').next() == Some(LOADED)
}

/// Returns a silent end if the file of a process lists only loaded builds and does not say how the
/// process ended; otherwise `None`.
fn silent_end(said: &str, when: String) -> Option<SilentEnd> {
    let modules = said.lines().filter_map(|line| line.split(' ').nth(1));
    let mut modules: Vec<String> = modules.map(str::to_owned).collect();
    modules.dedup();
    let is_silent = !modules.is_empty() && said.lines().all(is_loading);
    is_silent.then_some(SilentEnd {
        modules,
        loaded: when,
    })
}

/// Collects the notes left by processes that have exited, merges them into the list of known ones, and
/// deletes them.
pub(crate) fn read(folder: &Path) -> PastEnds {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let mut lines = read_note(&folder.join(KNOWN));
    let mut silent = Vec::new();
    for path in paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == OPEN))
    {
        if !path.is_file() {
            continue;
        }
        let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else {
            continue;
        };
        // If the file is locked, the process is alive.
        if file.try_lock().is_err() {
            continue;
        }
        // The handler could not query the time, so the modification time of the file is used.
        let said = read_note(path);
        let when = file.metadata().and_then(|meta| meta.modified());
        let when = when.map_or(String::new(), wall_clock);
        for line in said.lines().filter(|line| !is_loading(line)) {
            lines += &format!("{line} {when}\n");
        }
        silent.extend(silent_end(&said, when));
        let _ = std::fs::remove_file(path);
    }
    write(folder, &lines);
    PastEnds {
        known: ends_of(&lines),
        silent,
    }
}

/// Removes a build from the records.
pub(crate) fn forget(folder: &Path, hash: &str) {
    let lines = read_note(&folder.join(KNOWN));
    let others = lines.lines().filter(|line| !line.starts_with(hash));
    write(
        folder,
        &others.map(|line| format!("{line}\n")).collect::<String>(),
    );
}

/// Writes the records of builds that ended the program. If writing fails, they are unknown at the next start.
fn write(folder: &Path, lines: &str) {
    let path = folder.join(KNOWN);
    if lines.is_empty() {
        let _ = std::fs::remove_file(path);
        return;
    }
    let _ = roadwright_files::write(&path, lines.as_bytes());
}

fn ends_of(lines: &str) -> Ends {
    let mut ends = Ends::new();
    for line in lines.lines() {
        // The time comes last, because it contains spaces.
        let mut words = line.splitn(4, ' ');
        let (Some(hash), Some(module), Some(how)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let count = ends.get(hash).map_or(0, |end| end.count);
        let end = End {
            module: module.to_owned(),
            how: how.to_owned(),
            when: words.next().unwrap_or_default().to_owned(),
            count: count + 1,
        };
        ends.insert(hash.to_owned(), end);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_a_dead_process_has_written_is_counted_and_what_a_living_one_has_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut words = LastWords::open(folder, "1-0").unwrap();
        words
            .file
            .write_all(b"abcd com.example.x SIGSEGV\n")
            .unwrap();
        assert!(read(folder).known.is_empty(), "it lives");
        drop(words);
        let ends = read(folder).known;
        let end = &ends["abcd"];
        assert_eq!(
            (end.module.as_str(), end.how.as_str(), end.count),
            ("com.example.x", "SIGSEGV", 1)
        );
        assert!(end.when.ends_with(" UTC"), "{end:?}");
        assert_eq!(read(folder).known, ends, "no start counts it again");
        // A process without last words leaves no file behind.
        drop(LastWords::open(folder, "2-0").unwrap());
        let mut words = LastWords::open(folder, "3-0").unwrap();
        words.file.write_all(b"abcd com.example.x exit\n").unwrap();
        drop(words);
        assert_eq!(read(folder).known["abcd"].count, 2);
        forget(folder, "abcd");
        assert!(read(folder).known.is_empty());
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
    }

    #[test]
    fn a_process_that_vanished_is_told_with_the_plugins_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let load = |name: &str, lines: &str| {
            let mut words = LastWords::open(folder, name).unwrap();
            words.file.write_all(lines.as_bytes()).unwrap();
            words
        };
        // A process that exits normally removes its file.
        drop(load("1-0", "abcd com.example.x loaded\n"));
        assert!(read(folder).silent.is_empty());
        // A process that vanishes leaves its file.
        let gone = load(
            "2-0",
            "abcd com.example.x loaded\nef com.example.y loaded\n",
        );
        std::fs::rename(&gone.path, folder.join("kept.tmp")).unwrap();
        drop(gone);
        std::fs::rename(folder.join("kept.tmp"), folder.join("2-0.open")).unwrap();
        let ends = read(folder);
        assert_eq!(ends.silent[0].modules, ["com.example.x", "com.example.y"]);
        assert!(ends.known.is_empty(), "either of them may have ended it");
        assert!(read(folder).silent.is_empty(), "told once");
        // A process with last words is not silent.
        drop(load(
            "3-0",
            "abcd com.example.x loaded\nabcd com.example.x exit\n",
        ));
        let ends = read(folder);
        assert!(ends.silent.is_empty());
        assert_eq!(ends.known["abcd"].count, 1);
    }
}
