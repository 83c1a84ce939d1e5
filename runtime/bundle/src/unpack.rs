//! Writing what a bundle holds into a folder.

use crate::bundle::{Bundle, BundleError};
use crate::manifest::MANIFEST;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

impl Bundle {
    /// Unpacks into a folder that is not there yet or is empty; the path of the scenario in it. The
    /// folder is there with all its files, or not at all.
    ///
    /// # Errors
    /// If something is in the folder, or a file cannot be written.
    pub fn unpack(&self, folder: &Path) -> Result<PathBuf, BundleError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| BundleError::Io { path, error }
        };
        check_is_free(folder)?;
        let above = folder.parent().filter(|path| !path.as_os_str().is_empty());
        let above = above.unwrap_or(Path::new("."));
        std::fs::create_dir_all(above).map_err(io(above))?;
        // A new folder, so that there are no links in it to be written through.
        let beside = tempfile::Builder::new()
            .prefix(".unpacking-")
            .tempdir_in(above)
            .map_err(io(above))?;
        for (path, bytes) in self.files() {
            let place = beside.path().join(path);
            if let Some(parent) = place.parent() {
                std::fs::create_dir_all(parent).map_err(io(parent))?;
            }
            std::fs::write(&place, bytes).map_err(io(&place))?;
        }
        let manifest = serde_json::to_vec_pretty(self.manifest())
            .map_err(|error| BundleError::Content(error.to_string()))?;
        let place = beside.path().join(MANIFEST);
        std::fs::write(&place, manifest).map_err(io(&place))?;
        open_to_all(beside.path()).map_err(io(folder))?;
        // An empty folder is in the way of a move on some systems.
        match std::fs::remove_dir(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(folder)(error)),
            _ => {}
        }
        std::fs::rename(beside.path(), folder).map_err(io(folder))?;
        // It has another name now, under which it stays.
        let _ = beside.keep();
        Ok(folder.join(&self.manifest().scenario))
    }
}

fn check_is_free(folder: &Path) -> Result<(), BundleError> {
    let occupied = || Err(BundleError::Occupied(folder.to_owned()));
    match folder.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(BundleError::Io {
                path: folder.to_owned(),
                error,
            });
        }
        // A link or a file is something.
        Ok(data) if !data.is_dir() => return occupied(),
        Ok(_) => {}
    }
    match std::fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        _ => occupied(),
    }
}

/// Temporary folders are for their owner only; what was unpacked is like any new folder.
#[cfg(unix)]
fn open_to_all(folder: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

/// Temporary folders are like any other.
#[cfg(not(unix))]
fn open_to_all(_: &Path) -> Result<(), Error> {
    Ok(())
}
