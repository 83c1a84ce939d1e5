//! Folders that are created either with all of their files or not at all.

use crate::write::check_folder;
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Prefix of the temporary names of folders that are being filled.
const PREFIX: &str = ".making-";

/// A new folder that is filled under a temporary name beside its final path.
///
/// The folder is removed if this value is dropped before [`finish`](Self::finish).
#[derive(Debug)]
pub struct NewFolder {
    beside: TempDir,
    path: PathBuf,
}

impl NewFolder {
    /// Starts a folder at a path that does not exist yet or is an empty folder. Parent folders are
    /// created.
    ///
    /// # Errors
    /// If the parent folder cannot be created or written to.
    pub fn new(path: &Path) -> Result<Self> {
        let above = path.parent().filter(|path| !path.as_os_str().is_empty());
        let above = above.unwrap_or(Path::new("."));
        std::fs::create_dir_all(above)?;
        check_folder(above)?;
        // Because the folder is new, it contains no links through which files could be written
        // elsewhere.
        let beside = tempfile::Builder::new().prefix(PREFIX).tempdir_in(above)?;
        let path = path.to_owned();
        Ok(Self { beside, path })
    }

    /// Temporary path to which files are written.
    pub fn beside(&self) -> &Path {
        self.beside.path()
    }

    /// Moves the folder to its final path.
    ///
    /// # Errors
    /// If it cannot be moved, for example because the path is a folder that contains files.
    pub fn finish(self) -> Result<()> {
        open_to_all(self.beside.path())?;
        // Some systems cannot replace an empty folder by moving another folder to its path.
        match std::fs::remove_dir(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::rename(self.beside.path(), &self.path)?;
        // The folder has its final name now and must not be deleted.
        let _ = self.beside.keep();
        Ok(())
    }
}

/// Gives a temporary folder, which is accessible only to its owner, the usual permissions of a new
/// folder.
#[cfg(unix)]
fn open_to_all(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

/// Does nothing, because temporary folders have the usual permissions on this system.
#[cfg(not(unix))]
fn open_to_all(_: &Path) -> Result<()> {
    Ok(())
}
