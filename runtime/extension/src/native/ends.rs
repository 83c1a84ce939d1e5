//! Marks of plugins that ended the whole program: written in a signal handler to a file that was
//! opened ahead, read at the next start.

use super::cell::wall_clock;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

/// Ending of files that a living process keeps open for its last words.
const OPEN: &str = "open";
/// File with the ends of before: a line for each.
const KNOWN: &str = "known";

/// A build that has ended the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) module: String,
    /// How it did that last: a signal, or `exit`.
    pub(crate) how: String,
    /// When, as a date and a time of day, UTC.
    pub(crate) when: String,
    /// How often.
    pub(crate) count: u32,
}

/// The ends of before, by hash of the build.
pub(crate) type Ends = BTreeMap<String, End>;

/// A file for the last words of this process; removed when nothing was written to it.
pub(crate) struct LastWords {
    pub(crate) file: File,
    path: PathBuf,
}

impl LastWords {
    /// Opens the file of a process in a folder. Without one nothing is remembered.
    pub(crate) fn open(folder: &Path, name: &str) -> Option<Self> {
        // Opened now: a signal handler must not allocate, and opening a file does.
        std::fs::create_dir_all(folder).ok()?;
        let path = folder.join(format!("{name}.{OPEN}"));
        let file = File::create(&path).ok()?;
        file.try_lock().ok()?;
        Some(Self { file, path })
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        // Said, not left to closing: a child that is being started holds a copy of the file until
        // it runs its own program, and the lock with it.
        let _ = self.file.unlock();
        if self.file.metadata().is_ok_and(|meta| meta.len() == 0) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Reads what processes that live no more have left in a folder, and notes it for later starts.
pub(crate) fn read(folder: &Path) -> Ends {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let mut lines = std::fs::read_to_string(folder.join(KNOWN)).unwrap_or_default();
    for path in paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == OPEN))
    {
        let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else {
            continue;
        };
        // Locked: its process lives.
        if file.try_lock().is_err() {
            continue;
        }
        // The handler could not ask for the time: the system has noted when it wrote.
        let said = std::fs::read_to_string(path).unwrap_or_default();
        let when = file.metadata().and_then(|meta| meta.modified());
        let when = when.map_or(String::new(), wall_clock);
        for line in said.lines() {
            lines += &format!("{line} {when}\n");
        }
        let _ = std::fs::remove_file(path);
    }
    write(folder, &lines);
    ends_of(&lines)
}

/// Forgets a build.
pub(crate) fn forget(folder: &Path, hash: &str) {
    let lines = std::fs::read_to_string(folder.join(KNOWN)).unwrap_or_default();
    let others = lines.lines().filter(|line| !line.starts_with(hash));
    write(
        folder,
        &others.map(|line| format!("{line}\n")).collect::<String>(),
    );
}

/// Writes the ends of before. Where that fails they hold for this start.
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
        // The moment comes last, because it holds spaces itself.
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
        assert!(read(folder).is_empty(), "it lives");
        drop(words);
        let ends = read(folder);
        let end = &ends["abcd"];
        assert_eq!(
            (end.module.as_str(), end.how.as_str(), end.count),
            ("com.example.x", "SIGSEGV", 1)
        );
        assert!(end.when.ends_with(" UTC"), "{end:?}");
        assert_eq!(read(folder), ends, "no start counts it again");
        // Who says nothing leaves nothing behind.
        drop(LastWords::open(folder, "2-0").unwrap());
        let mut words = LastWords::open(folder, "3-0").unwrap();
        words.file.write_all(b"abcd com.example.x exit\n").unwrap();
        drop(words);
        assert_eq!(read(folder)["abcd"].count, 2);
        forget(folder, "abcd");
        assert!(read(folder).is_empty());
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
    }
}
