//! Contents of the folder in the path dialog, read in the background.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of rows.
const MOST: usize = 2_000;
/// A folder and its contents, without hidden files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FolderList {
    /// Path of the folder.
    pub folder: PathBuf,
    /// Folders first, then files, each sorted by name.
    pub rows: Vec<FolderRow>,
    /// Number of entries that are not listed.
    pub left_out: usize,
    /// Reason why the folder cannot be read.
    pub problem: Option<String>,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderRow {
    /// Whether the entry is a file rather than a folder.
    pub is_file: bool,
    /// Name of the entry.
    pub name: String,
}

/// The folder in the path dialog, with the part of its contents that is already known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListedFolder {
    /// Path of the folder that the dialog shows.
    pub wanted: PathBuf,
    /// The last contents that were read, which may still belong to another folder.
    pub list: Arc<FolderList>,
    /// Time of the last request, s.
    pub(crate) asked_at: f64,
}

/// Reads a folder.
pub fn read(folder: &Path) -> FolderList {
    let mut list = FolderList {
        folder: folder.to_owned(),
        ..FolderList::default()
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            list.problem = Some(format!("This folder cannot be read: {error}."));
            return list;
        }
    };
    for entry in entries.flatten() {
        // A name that is not valid text can be neither shown nor typed.
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        // Follows links, because opening the entry follows them as well.
        let is_file = !entry.path().is_dir();
        list.rows.push(FolderRow { is_file, name });
    }
    list.rows.sort();
    list.left_out = list.rows.len().saturating_sub(MOST);
    list.rows.truncate(MOST);
    list
}

/// Splits a typed path into a folder and the beginning of the name of an entry.
pub fn split(typed: &str) -> (PathBuf, &str) {
    let end = typed.rfind(std::path::is_separator).map_or(0, |at| at + 1);
    let (folder, name) = typed.split_at(end);
    let folder = if folder.is_empty() { "." } else { folder };
    // Paths are relative to the folder in which the program was started.
    let whole = std::path::absolute(folder).unwrap_or_else(|_| PathBuf::from(folder));
    (whole, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_lists_folders_before_files_and_nothing_hidden() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.json", "a.json", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("towns")).unwrap();
        let list = read(folder.path());
        let names: Vec<&str> = list.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["towns", "a.json", "b.json"]);
        assert_eq!((list.left_out, list.problem), (0, None));
    }

    #[test]
    fn a_folder_that_cannot_be_read_says_so() {
        let list = read(Path::new("/no/such/folder"));
        assert!(list.problem.unwrap().contains("cannot be read"));
        assert_eq!(list.rows, []);
    }

    #[test]
    fn what_is_typed_is_split_at_the_last_separator() {
        assert_eq!(split("/a/b/to"), (PathBuf::from("/a/b"), "to"));
        assert_eq!(split("/a/b/"), (PathBuf::from("/a/b"), ""));
        assert_eq!(split("/"), (PathBuf::from("/"), ""));
        let here = std::env::current_dir().unwrap();
        assert_eq!(split("town"), (here.clone(), "town"));
        assert_eq!(split(""), (here, ""));
    }
}
