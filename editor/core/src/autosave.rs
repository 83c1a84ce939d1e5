//! Autosave and recovery: a crash costs at most a few seconds of edits.
//!
//! Each session locks a file beside its last autosave. An unlocked file was left behind by a session that
//! crashed.

use roadwright_files::{MEBIBYTE, open, read_text};
use roadwright_scenario::{Scenario, file};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest time between an edit and its autosave, in seconds.
pub const PERIOD: f64 = 4.0;

/// Metadata of an autosave, stored in `N.json` beside the scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct About {
    /// The edited file, if any.
    path: Option<PathBuf>,
    title: String,
}

// Files of a session named N in the folder:
//
//   N.lock             locked while the session runs
//   N.scenario.json    the last autosaved scenario
//   N.json             the path of its file, and its title

/// Writes the autosave of this session and keeps its lock file open.
pub struct Autosave {
    folder: PathBuf,
    name: String,
    /// Lock file. Keeping it open holds the lock for as long as the session runs.
    _lock: File,
    written: u64,
    due: Option<f64>,
    writing: Option<Receiver<()>>,
}

/// An autosave of a session that did not end properly.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// The edited scenario.
    pub scenario: Arc<Scenario>,
    /// The file in which the scenario was last saved, if any.
    pub path: Option<PathBuf>,
    /// Title of the document.
    pub title: String,
    files: Vec<PathBuf>,
}

impl Recovery {
    /// Returns the time since the edits were last written; `None` if the files are gone.
    pub fn age(&self) -> Option<Duration> {
        let written = std::fs::metadata(self.files.first()?).ok()?.modified();
        written.ok()?.elapsed().ok()
    }

    /// Deletes the recovery files.
    pub fn discard(&self) {
        for file in &self.files {
            // The files may be gone already.
            let _ = std::fs::remove_file(file);
        }
    }
}

impl Autosave {
    /// Starts a session in a folder.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn start(folder: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        for number in 0.. {
            let name = format!("session-{}-{number}", std::process::id());
            let path = folder.join(format!("{name}.lock"));
            if path.exists() {
                // The file belongs to another session or was left behind by one, so this session must not
                // write to it.
                continue;
            }
            let lock = File::create(&path)?;
            if lock.try_lock().is_ok() {
                return Ok(Self {
                    folder: folder.to_owned(),
                    name,
                    _lock: lock,
                    written: 0,
                    due: None,
                    writing: None,
                });
            }
        }
        Err(std::io::Error::other("no free session"))
    }

    fn scenario_file(&self) -> PathBuf {
        self.folder.join(format!("{}.scenario.json", self.name))
    }

    fn about_file(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    /// Starts an autosave in the background if due. `now` is in seconds.
    pub fn tick(&mut self, document: &crate::document::Document, now: f64) {
        if self
            .writing
            .as_ref()
            .is_some_and(|done| done.try_recv().is_ok())
        {
            self.writing = None;
        }
        if !document.is_dirty() {
            // The document equals its saved state, so a crash would lose nothing.
            if self.written != 0 {
                self.clear();
            }
            self.due = None;
            return;
        }
        if document.revision() == self.written {
            return;
        }
        let due = *self.due.get_or_insert(now + PERIOD);
        if now < due || self.writing.is_some() {
            return;
        }
        self.due = None;
        // Set before writing, so that edits made during the write have a higher revision and are
        // due again.
        self.written = document.revision();
        let about = About {
            path: document.path().map(Path::to_owned),
            title: document.title(),
        };
        let scenario = document.scenario().clone();
        let (scenario_file, about_file) = (self.scenario_file(), self.about_file());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            // A failed autosave must not stop the user from working; saving will report the problem. The
            // metadata are written first, because a scenario without them would be recovered without the path
            // of its file.
            if let Ok(text) = serde_json::to_string(&about) {
                let _ = roadwright_files::write(&about_file, text.as_bytes());
            }
            let _ = file::save(&scenario, &scenario_file);
            let _ = sender.send(());
        });
        self.writing = Some(receiver);
    }

    /// Whether the newest edits are in a saved file or in an autosave.
    pub fn has_kept(&self, document: &crate::document::Document) -> bool {
        let written = self.writing.is_none() && self.written == document.revision();
        written || !document.is_dirty()
    }

    /// Waits for the write in progress; used by tests and at the end of a session.
    pub fn finish(&mut self) {
        if let Some(writing) = self.writing.take() {
            let _ = writing.recv();
        }
    }

    /// Writes all pending edits and waits until they are on disk.
    pub fn keep_now(&mut self, document: &crate::document::Document) {
        // The write in progress may be older than the newest edit, and it delays the next write.
        self.finish();
        // At time infinity every edit is due.
        self.tick(document, f64::INFINITY);
        self.finish();
    }

    /// Deletes the autosave, because the document was saved or discarded.
    pub fn clear(&mut self) {
        // A thread that is still writing would recreate the file after its removal.
        self.finish();
        self.written = 0;
        let _ = std::fs::remove_file(self.scenario_file());
        let _ = std::fs::remove_file(self.about_file());
    }

    /// Ends the session and removes its files.
    pub fn end(&mut self) {
        self.clear();
        let _ = std::fs::remove_file(self.folder.join(format!("{}.lock", self.name)));
    }
}

/// Returns the autosaves in a folder that were left by sessions that did not end properly, oldest
/// first.
pub fn recoveries(folder: &Path) -> Vec<Recovery> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut locks: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "lock"))
        .collect();
    locks.sort();
    let mut found = Vec::new();
    for lock in locks {
        // The system releases the locks of a program however it ends, so a held lock belongs to an open
        // window.
        let free = open(&lock).is_ok_and(|file| file.try_lock().is_ok());
        if !free {
            continue;
        }
        let about_file = lock.with_extension("json");
        let scenario_file = lock.with_extension("scenario.json");
        let files = vec![scenario_file.clone(), about_file.clone(), lock.clone()];
        let about = read_text(&about_file, MEBIBYTE).ok();
        let about: Option<About> = about.and_then(|text| serde_json::from_str(&text).ok());
        match file::load(&scenario_file) {
            Ok(scenario) => {
                let title = scenario.about().name.clone();
                let about = about.unwrap_or(About { path: None, title });
                found.push(Recovery {
                    scenario: Arc::new(scenario),
                    path: about.path,
                    title: about.title,
                    files,
                });
            }
            // The session ended before its first autosave.
            Err(_) if !scenario_file.exists() => files.iter().for_each(|file| {
                let _ = std::fs::remove_file(file);
            }),
            // Another version may have written it, or a later attempt may be able to read it.
            Err(_) => {}
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::document::Document;
    use roadwright_scenario::{Edit, Node, NodeId};

    fn edited() -> Document {
        let mut document = Document::new(Scenario::new("mine"));
        let node = Node::at(roadwright_geometry::DVec2::ZERO);
        document
            .apply("Add node", Edit::Node(NodeId(1), Some(node)))
            .unwrap();
        document
    }

    /// Reads the recoveries repeatedly until there are `count` of them, for a few seconds at most.
    /// A process that another test has just started still holds the locks of all sessions until its
    /// own program runs.
    fn recovered(folder: &Path, count: usize) -> Vec<Recovery> {
        for _ in 0..500 {
            let found = recoveries(folder);
            if found.len() == count {
                return found;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        recoveries(folder)
    }

    #[test]
    fn a_crash_leaves_the_last_edits_and_an_orderly_end_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let document = edited();
        let mut session = Autosave::start(folder.path()).unwrap();
        session.tick(&document, 0.0);
        session.tick(&document, PERIOD + 0.1);
        session.finish();
        // While the session lives, its autosave is not offered for recovery.
        assert!(recoveries(folder.path()).is_empty());
        drop(session);
        let found = recovered(folder.path(), 1);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (&found[0].scenario, found[0].title.as_str()),
            (document.scenario(), "mine")
        );
        found[0].discard();
        assert!(recoveries(folder.path()).is_empty());

        let mut session = Autosave::start(folder.path()).unwrap();
        session.tick(&document, 0.0);
        session.tick(&document, PERIOD + 0.1);
        session.end();
        drop(session);
        assert!(recoveries(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn pipes_among_recovery_copies_do_not_hang_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Autosave::start(folder.path()).unwrap();
        let document = edited();
        session.tick(&document, 0.0);
        session.tick(&document, PERIOD + 0.1);
        session.finish();
        let about = session.about_file();
        drop(session);
        assert!(about.exists(), "{}", about.display());
        std::fs::remove_file(&about).unwrap();
        let parent = about.parent().unwrap();
        // Named pipes in place of an autosave's metadata and of a lock file that sorts first.
        for pipe in [about.clone(), parent.join("0.lock")] {
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.unwrap().success());
        }
        let (told, found) = std::sync::mpsc::channel();
        let path = folder.path().to_owned();
        // In its own thread, so that a hang does not block the test.
        std::thread::spawn(move || told.send(recovered(&path, 1)));
        let patience = std::time::Duration::from_secs(60);
        let found = found.recv_timeout(patience).expect("a pipe is waited for");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].title, "mine");
    }

    #[test]
    fn what_cannot_be_read_is_not_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Autosave::start(folder.path()).unwrap();
        let (scenario_file, lock) = (session.scenario_file(), session.scenario_file());
        let document = edited();
        session.tick(&document, 0.0);
        session.tick(&document, PERIOD + 0.1);
        session.finish();
        drop(session);
        let newer = std::fs::read_to_string(&scenario_file).unwrap();
        let newer = newer.replacen("\"version\": 2", "\"version\": 999", 1);
        std::fs::write(&scenario_file, &newer).unwrap();
        assert!(recoveries(folder.path()).is_empty());
        assert_eq!(std::fs::read_to_string(&scenario_file).unwrap(), newer);
        // Without a scenario there is nothing to recover.
        std::fs::remove_file(&scenario_file).unwrap();
        let left = || {
            assert!(recoveries(folder.path()).is_empty());
            std::fs::read_dir(lock.parent().unwrap()).unwrap().count()
        };
        let is_removed = (0..500).any(|_| {
            let is_removed = left() == 0;
            if !is_removed {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            is_removed
        });
        assert!(is_removed, "{} files are left", left());
    }

    #[test]
    fn what_is_kept_at_once_is_the_newest_edit() {
        let folder = tempfile::tempdir().unwrap();
        let mut document = edited();
        let mut session = Autosave::start(folder.path()).unwrap();
        session.tick(&document, 0.0);
        session.tick(&document, PERIOD + 0.1);
        // An edit made during the write.
        let node = |x: f64| Node::at(roadwright_geometry::DVec2::new(x, 0.0));
        let add = |id: u32, document: &mut Document| {
            let edit = Edit::Node(NodeId(id), Some(node(f64::from(id))));
            document.apply("Add node", edit).unwrap();
        };
        add(2, &mut document);
        session.keep_now(&document);
        let kept = |session: &Autosave| file::load(&session.scenario_file()).unwrap();
        assert_eq!(&kept(&session), &**document.scenario());
        // Autosaving continues.
        add(3, &mut document);
        session.tick(&document, 100.0);
        session.tick(&document, 100.1 + PERIOD);
        session.finish();
        assert_eq!(&kept(&session), &**document.scenario());
    }

    #[test]
    fn nothing_is_written_without_edits() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Autosave::start(folder.path()).unwrap();
        let document = Document::new(Scenario::new("mine"));
        session.tick(&document, 0.0);
        session.tick(&document, 100.0);
        session.finish();
        drop(session);
        assert!(recoveries(folder.path()).is_empty());
    }
}
