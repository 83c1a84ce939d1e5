//! Unpacks bundles into folders.

use crate::bundle::{Bundle, BundleError};
use crate::manifest::MANIFEST;
use roadwright_files::NewFolder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

impl Bundle {
    /// Unpacks the bundle into a new or empty folder. Returns the path of the scenario. The folder
    /// is created either with all of its files or not at all.
    ///
    /// # Errors
    /// If the folder is not empty, or a file cannot be written.
    pub fn unpack(&self, folder: &Path) -> Result<PathBuf, BundleError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| BundleError::Io { path, error }
        };
        check_is_free(folder)?;
        let new = NewFolder::new(folder).map_err(io(folder))?;
        for (path, bytes) in self.files() {
            let place = new.beside().join(path);
            if let Some(parent) = place.parent() {
                std::fs::create_dir_all(parent).map_err(io(parent))?;
            }
            std::fs::write(&place, bytes).map_err(io(&place))?;
        }
        let manifest = serde_json::to_vec_pretty(self.manifest())
            .map_err(|error| BundleError::Content(error.to_string()))?;
        let place = new.beside().join(MANIFEST);
        std::fs::write(&place, manifest).map_err(io(&place))?;
        new.finish().map_err(io(folder))?;
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
        // The path is a link or a file.
        Ok(data) if !data.is_dir() => return occupied(),
        Ok(_) => {}
    }
    match std::fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        _ => occupied(),
    }
}
