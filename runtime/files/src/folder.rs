//! Folders that are there with all their files, or not at all.

use crate::write::check_folder;
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Folders that are being filled begin with this, in the folder where they will be.
const PREFIX: &str = ".making-";

/// A new folder that is filled beside its place.
///
/// Nothing is left of it if this is dropped before [`finish`](Self::finish).
#[derive(Debug)]
pub struct NewFolder {
    beside: TempDir,
    path: PathBuf,
}

impl NewFolder {
    /// Begins a folder that will be at a path, where there is none yet, or an empty one. The folders
    /// above it are made.
    ///
    /// # Errors
    /// If the folder above cannot be made or written to.
    pub fn new(path: &Path) -> Result<Self> {
        let above = path.parent().filter(|path| !path.as_os_str().is_empty());
        let above = above.unwrap_or(Path::new("."));
        std::fs::create_dir_all(above)?;
        check_folder(above)?;
        // A new folder holds no links that could be written through.
        let beside = tempfile::Builder::new().prefix(PREFIX).tempdir_in(above)?;
        let path = path.to_owned();
        Ok(Self { beside, path })
    }

    /// Where its files are to be written.
    pub fn beside(&self) -> &Path {
        self.beside.path()
    }

    /// Moves the folder into its place.
    ///
    /// # Errors
    /// If it cannot be moved, for instance because another folder with files in it is there.
    pub fn finish(self) -> Result<()> {
        open_to_all(self.beside.path())?;
        // Some systems do not move a folder over an empty one.
        match std::fs::remove_dir(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::rename(self.beside.path(), &self.path)?;
        // It has another name now, under which it stays.
        let _ = self.beside.keep();
        Ok(())
    }
}

/// Temporary folders are for their owner only; this one becomes like any new folder.
#[cfg(unix)]
fn open_to_all(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

/// Temporary folders are like any other.
#[cfg(not(unix))]
fn open_to_all(_: &Path) -> Result<()> {
    Ok(())
}
