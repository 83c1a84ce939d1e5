//! Copies of libraries, which nothing else writes to: the copies are what is loaded.
//!
//! The author's file is overwritten by the next build. A library that is mapped into this process
//! would change under its feet, and the loader gives the old one for a path that it knows.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// A folder of copies that is removed when this is dropped.
pub(super) struct Copies {
    folder: PathBuf,
}

impl Copies {
    /// A new folder among those of other hosts; those of processes that are gone are removed.
    pub(super) fn new(all: &Path, name: &str) -> Self {
        sweep(all);
        Self {
            folder: all.join(name),
        }
    }

    /// Writes a library as a file of its own. Returns its path.
    pub(super) fn add(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        let copy = self
            .folder
            .join(name)
            .with_added_extension(std::env::consts::DLL_EXTENSION);
        write(bytes, &copy)
            .map_err(|error| format!("cannot copy the library to {}: {error}", copy.display()))?;
        Ok(copy)
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Removes the copies of processes that are gone.
fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Names begin with the id of their process. The id may have been given to another one since:
        // then the copies stay until that ends as well.
        let process = name.split('-').next().unwrap_or_default();
        let alive = Path::new("/proc").join(process).exists();
        // Where there is no /proc, nothing is known: copies of the day before are old enough.
        let old = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .ok()
            .and_then(|time| time.elapsed().ok())
            .is_some_and(|age| age > Duration::from_secs(24 * 3600));
        let gone = if Path::new("/proc/self").exists() {
            !alive
        } else {
            old
        };
        if gone {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes a copy that nobody else writes to. Not by copying the file: on some systems that would
/// be a change of the file that is watched.
fn write(bytes: &[u8], copy: &Path) -> std::io::Result<()> {
    if let Some(folder) = copy.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(copy, bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Readable and executable for the user alone: nobody may change what is loaded.
        std::fs::set_permissions(copy, std::fs::Permissions::from_mode(0o500))?;
    }
    Ok(())
}
