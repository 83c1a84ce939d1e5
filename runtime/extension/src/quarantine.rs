//! Quarantine of builds that caused harm and are therefore not loaded again. These are builds that faulted
//! too often, builds that were on trial when the program died, and builds that ended the program repeatedly.
//!
//! ```text
//! before the first step   write PID-HASH.trial and lock it
//! after 100 good batches  remove it                      -> the build is trusted
//! the process dies        the system drops the lock, the file stays
//! the next start          an unlocked .trial             -> HASH.held, the build is not loaded
//! ```
//!
//! Builds are identified by the hash of their bytes. A new build of the same plugin has done no harm and may
//! run, but the same build with another file name may not.

use crate::lock::locked;
use crate::native::ends::{Ends, SilentEnd};
use roadwright_files::{MEBIBYTE, read, read_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Extension of files that mark builds on trial.
const TRIAL: &str = "trial";

/// Extension of files that state why a build must not be loaded.
const HELD: &str = "held";

fn held_path(folder: &Path, hash: &str) -> PathBuf {
    folder.join(format!("{hash}.{HELD}"))
}

/// Records a build for later starts. If the record cannot be written, the quarantine lasts only
/// until the program ends.
fn hold(folder: &Path, hash: &str, why: &str) {
    let _ = std::fs::write(held_path(folder, hash), why);
}

/// Contents of the mark of a build on trial. It is written before the first step and removed after several
/// successful steps.
#[derive(Serialize, Deserialize)]
struct Trial {
    hash: String,
    module: String,
}

#[derive(Default)]
struct State {
    /// Reason why each quarantined build must not be loaded, by its hash.
    held: BTreeMap<String, String>,
    /// Marks of the builds that are on trial in this process. Each is locked until its trial or the process
    /// ends.
    // The file stays open, because closing it would release the lock, and another Roadwright that
    // starts meanwhile would take it for the mark of a dead process.
    trials: BTreeMap<String, File>,
    /// Builds that ended the program, during a trial or later.
    ends: Ends,
    /// Processes that ended silently while plugins ran in them.
    silent: Vec<SilentEnd>,
}

/// Number of times that a build may end the program after its trial before it is quarantined.
// After its trial a build has run well for some time, so a single crash may have another cause.
const MOST_ENDS: u32 = 2;

/// A build that ended the program after its trial.
pub(crate) struct LateEnd {
    pub(crate) text: String,
    /// Whether the build ended the program too often to be loaded into this process again.
    pub(crate) keeps_out: bool,
}

/// Maximum size of a mark, bytes. A mark contains one sentence.
const LARGEST_MARK: u64 = MEBIBYTE;
/// Command that lifts a quarantine, followed by the plugin id.
pub(crate) const RETRY: &str = "roadwright plugin retry";

/// Returns a sentence for messages that explains how a quarantine is lifted.
pub(crate) fn remedy(module: &str) -> String {
    format!(
        "It stays in quarantine until its file changes; to load it again, use `{RETRY} {module}` \
         with the same --plugins (in the editor: Reload)."
    )
}

/// The builds that must not be loaded.
pub(crate) struct Quarantine {
    folder: PathBuf,
    /// Folder with the records of builds that ended the program.
    ends: PathBuf,
    state: Mutex<State>,
}

impl Quarantine {
    /// Opens the folders of marks. A mark of a process that no longer exists shows that the process
    /// died during a trial, or which build ended the process later.
    pub(crate) fn open(folder: &Path, ends: &Path) -> Self {
        let past = crate::native::ends::read(ends);
        let mut state = State {
            ends: past.known,
            silent: past.silent,
            ..State::default()
        };
        // If the folder cannot be created (on a full or read-only disk), plugins still run, but without this
        // protection.
        let _ = std::fs::create_dir_all(folder);
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let ending = path.extension().and_then(|ending| ending.to_str());
            if ending == Some(HELD)
                && let (Some(hash), Ok(why)) = (
                    path.file_stem().and_then(|stem| stem.to_str()),
                    read_text(&path, LARGEST_MARK),
                )
            {
                state.held.insert(hash.to_owned(), why);
            }
            if ending != Some(TRIAL) {
                continue;
            }
            if !path.is_file() {
                continue;
            }
            let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else {
                continue;
            };
            // If the mark is locked, its process is alive.
            if file.try_lock().is_err() {
                continue;
            }
            // The process died inside a build, or was killed during the trial. The two cases cannot be
            // distinguished, and loading a build that crashes again is worse than an unnecessary retry.
            let trial = read(&path, LARGEST_MARK).ok();
            let trial = trial.and_then(|bytes| serde_json::from_slice::<Trial>(&bytes).ok());
            if let Some(Trial { hash, module }) = trial {
                let why = format!(
                    "Roadwright crashed or was killed during the first steps of {module}. {} Use --isolate \
                     {module} to run it in a separate process.",
                    remedy(&module)
                );
                hold(folder, &hash, &why);
                state.held.insert(hash, why);
            }
            let _ = std::fs::remove_file(&path);
        }
        Self {
            folder: folder.to_owned(),
            ends: ends.to_owned(),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        locked(&self.state)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a build is quarantined.
    pub(crate) fn holds(&self, hash: &str) -> bool {
        let state = self.state();
        let ended = state.ends.get(hash);
        state.held.contains_key(hash) || ended.is_some_and(|end| end.count >= MOST_ENDS)
    }

    /// Returns the reason why a build is quarantined; `None` if it is not, or if it ended the program too
    /// often, which [`Self::late_end`] describes.
    pub(crate) fn reason(&self, hash: &str) -> Option<String> {
        self.state().held.get(hash).cloned()
    }

    /// Describes how a build last ended the program; `None` if it never did.
    pub(crate) fn late_end(&self, hash: &str) -> Option<LateEnd> {
        let state = self.state();
        let end = state.ends.get(hash)?;
        let (module, how, when, count) = (&end.module, &end.how, &end.when, end.count);
        let keeps_out = count >= MOST_ENDS;
        let follows = if keeps_out {
            format!(
                "this happened {count} times. {} Use --isolate {module} to run it in a separate process.",
                remedy(module)
            )
        } else {
            format!(
                "use --isolate {module} to run it in a separate process. After another crash it \
                 stays in quarantine until its file changes."
            )
        };
        Some(LateEnd {
            text: format!("{module} ended the program on {when} ({how}): {follows}"),
            keeps_out,
        })
    }

    /// Returns messages about processes that ended silently while plugins ran in them. Each message is
    /// returned only once.
    pub(crate) fn take_silent_ends(&self) -> Vec<String> {
        let silent = std::mem::take(&mut self.state().silent);
        let lines = silent.into_iter().map(|end| {
            let (modules, isolated) = (end.modules.join(", "), &end.modules[0]);
            format!(
                "Roadwright ended unexpectedly while {modules} ran in it, loaded on {}. Use --isolate {isolated} \
                 so that it can only end a separate process.",
                end.loaded
            )
        });
        lines.collect()
    }

    pub(crate) fn add(&self, hash: &str, why: &str) {
        hold(&self.folder, hash, why);
        self.state().held.insert(hash.to_owned(), why.to_owned());
    }

    /// Lifts the quarantine of a build. Returns whether it was quarantined.
    pub(crate) fn pardon(&self, hash: &str) -> bool {
        let was_held = self.holds(hash);
        let _ = std::fs::remove_file(held_path(&self.folder, hash));
        crate::native::ends::forget(&self.ends, hash);
        let mut state = self.state();
        state.held.remove(hash);
        state.ends.remove(hash);
        was_held
    }

    /// Marks a build as on trial.
    pub(crate) fn begin_trial(&self, hash: &str, module: &str) {
        // Several runs may try the same build; one mark is enough.
        if self.state().trials.contains_key(hash) {
            return;
        }
        // The name contains the process id, because several processes can try the same build at the same
        // time.
        let name = format!(
            "{}-{}.{TRIAL}",
            std::process::id(),
            &hash[..16.min(hash.len())]
        );
        let path = self.folder.join(name);
        let trial = Trial {
            hash: hash.to_owned(),
            module: module.to_owned(),
        };
        let mark = || -> std::io::Result<File> {
            let mut file = File::create(&path)?;
            // Locked before anything is written. If another Roadwright finds it unlocked, it is still empty
            // and does not count against the build.
            file.try_lock().map_err(std::io::Error::from)?;
            file.write_all(&serde_json::to_vec(&trial)?)?;
            file.flush()?;
            Ok(file)
        };
        // If the mark cannot be written, the plugin still runs, but a crash would not be attributed to it.
        if let Ok(file) = mark() {
            self.state().trials.insert(hash.to_owned(), file);
        }
    }

    /// Ends the trial of a build that has passed it or whose run has ended.
    pub(crate) fn end_trial(&self, hash: &str) {
        if self.state().trials.remove(hash).is_some() {
            let name = format!(
                "{}-{}.{TRIAL}",
                std::process::id(),
                &hash[..16.min(hash.len())]
            );
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        let hashes: Vec<String> = self.state().trials.keys().cloned().collect();
        for hash in hashes {
            self.end_trial(&hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn pipes_among_the_marks_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let ends = folder.path().join("ends");
        std::fs::create_dir(&ends).unwrap();
        let pipes = [
            folder.path().join(format!("a.{HELD}")),
            folder.path().join(format!("b.{TRIAL}")),
            ends.join("c.open"),
            ends.join("known"),
        ];
        for pipe in &pipes {
            let made = std::process::Command::new("mkfifo").arg(pipe).status();
            assert!(made.unwrap().success());
        }
        std::fs::write(folder.path().join(format!("d.{HELD}")), "it crashed").unwrap();
        let (told, opened) = std::sync::mpsc::channel();
        let path = folder.path().to_owned();
        // In a separate thread, so that a hanging one is left behind.
        std::thread::spawn(move || {
            let _ = told.send(Quarantine::open(&path, &ends));
        });
        let patience = std::time::Duration::from_secs(60);
        let quarantine = opened.recv_timeout(patience).expect("a pipe is waited for");
        assert_eq!(quarantine.reason("d").as_deref(), Some("it crashed"));
        assert!(!quarantine.holds("a"));
    }

    #[test]
    fn a_mark_that_is_left_behind_holds_the_build() {
        let folder = tempfile::tempdir().unwrap();
        let first = Quarantine::open(folder.path(), &folder.path().join("ends"));
        first.begin_trial(&"ab".repeat(32), "com.example.x");
        // Its process is alive, so the build is on trial and not quarantined.
        assert!(
            !Quarantine::open(folder.path(), &folder.path().join("ends")).holds(&"ab".repeat(32))
        );
        // The process dies: the lock is released, the mark stays.
        let mark = std::fs::read_dir(folder.path())
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let kept = std::fs::read(&mark).unwrap();
        drop(first);
        std::fs::write(&mark, kept).unwrap();
        // It stays so at every further start.
        drop(Quarantine::open(folder.path(), &folder.path().join("ends")));
        let second = Quarantine::open(folder.path(), &folder.path().join("ends"));
        assert!(second.holds(&"ab".repeat(32)));
        assert!(
            second
                .reason(&"ab".repeat(32))
                .unwrap()
                .contains("com.example.x")
        );
        assert!(second.pardon(&"ab".repeat(32)));
        assert!(!second.pardon(&"ab".repeat(32)), "it is free already");
        assert!(!second.holds(&"ab".repeat(32)));
        // A trial that ends well leaves nothing behind.
        second.begin_trial(&"cd".repeat(32), "com.example.y");
        second.end_trial(&"cd".repeat(32));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
