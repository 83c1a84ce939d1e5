//! Tracks files in watched folders from their first change until they have settled. Used for
//! plugins and scripts.

use super::settling::{Settling, Stamp};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Selection of the new and changed files that a scan reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    AtOnce,
    /// Files that have settled.
    WhenSettled,
}

/// Files in the watched folders.
pub(crate) struct Files {
    folders: Vec<PathBuf>,
    /// Maximum depth of a file below its folder; 0 means directly in the folder.
    depth: usize,
    /// State of the files when they were last read.
    looked: BTreeMap<PathBuf, Option<Stamp>>,
    settling: BTreeMap<PathBuf, Settling>,
}

impl Files {
    pub(crate) fn new(folders: &[PathBuf], depth: usize) -> Self {
        Self {
            folders: folders.to_vec(),
            depth,
            looked: BTreeMap::new(),
            settling: BTreeMap::new(),
        }
    }

    /// Returns the watched folder that contains a file, with its rank; `None` if there is none. Folders with
    /// lower ranks take precedence.
    pub(crate) fn folder_of(&self, path: &Path) -> Option<(usize, &Path)> {
        let lies_in = |folder: &Path| match self.depth {
            0 => path.parent() == Some(folder),
            _ => path.starts_with(folder),
        };
        let mut folders = self.folders.iter().map(PathBuf::as_path).enumerate();
        folders.find(|(_, folder)| lies_in(folder))
    }

    /// Returns the rank of a file's folder, or the largest rank if the file is in none of them.
    pub(crate) fn rank(&self, path: &Path) -> usize {
        self.folder_of(path).map_or(usize::MAX, |(rank, _)| rank)
    }

    /// Lists the existing files that satisfy `is_meant`, by folder and name.
    pub(crate) fn list(&self, is_meant: fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in &self.folders {
            list(folder, self.depth, is_meant, &mut found);
        }
        found
    }

    /// Whether a file has changed since it was last read.
    pub(crate) fn has_changed(&self, path: &Path) -> bool {
        self.looked.get(path) != Some(&Stamp::of(path))
    }

    /// Records that a file has changed. The file has to settle again.
    pub(crate) fn note_change(&mut self, path: &Path, now: Instant) {
        self.settling(path, now);
    }

    /// Records that a file has changed and was closed, so that it settles sooner.
    pub(crate) fn note_closed(&mut self, path: &Path, now: Instant) {
        self.settling(path, now).note_closed();
    }

    fn settling(&mut self, path: &Path, now: Instant) -> &mut Settling {
        let settling = self.settling.entry(path.to_owned());
        settling.or_insert_with(|| Settling::new(path, now))
    }

    /// Records the state in which a file was read.
    pub(crate) fn note_looked(&mut self, path: &Path, stamp: Option<Stamp>) {
        self.settling.remove(path);
        self.looked.insert(path.to_owned(), stamp);
    }

    /// Records that a file is incomplete. Returns whether to keep waiting for it.
    pub(crate) fn note_incomplete(&mut self, path: &Path, now: Instant) -> bool {
        let settling = self.settling.get_mut(path);
        settling.is_some_and(|settling| !settling.note_incomplete(now))
    }

    /// Records that a file no longer exists.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.settling.remove(path);
        self.looked.remove(path);
    }

    /// Returns the files that have settled, and the files that have disappeared.
    pub(crate) fn take_settled(&mut self, now: Instant) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut settled, mut gone) = (Vec::new(), Vec::new());
        for (path, settling) in &mut self.settling {
            if settling.is_at_rest(path, now) {
                settled.push(path.clone());
            } else if !path.exists() {
                gone.push(path.clone());
            }
        }
        for path in &gone {
            self.settling.remove(path);
        }
        (settled, gone)
    }
}

/// Lists the files of a folder and its subfolders. Links to folders are not followed, because they may lead
/// anywhere, including back to this folder.
fn list(folder: &Path, depth: usize, is_meant: fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths: BTreeSet<PathBuf> = entries.map(|entry| entry.path()).collect();
    for path in paths {
        if depth > 0 && path.is_dir() {
            if !path.is_symlink() {
                list(&path, depth - 1, is_meant, found);
            }
        } else if is_meant(&path) {
            found.push(path);
        }
    }
}
