//! Private copies of libraries, which are loaded instead of the originals.
//!
//! The next build overwrites the author's file. If the original were mapped into this process, the library
//! would change while it is in use. In addition, the loader returns the old library for a path that it has
//! loaded before.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// A folder of copies, which is removed when this value is dropped.
pub(super) struct Copies {
    folder: PathBuf,
}

impl Copies {
    /// Creates a folder beside those of other hosts, and removes the folders of processes that have ended.
    pub(super) fn new(all: &Path, name: &str) -> Self {
        sweep(all);
        Self {
            folder: all.join(name),
        }
    }

    /// Writes a library to a separate file and returns its path.
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

/// Removes the library copies left by processes that have ended.
fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Names begin with the process id. If a new process has the same id, the copies stay until it ends as
        // well.
        let process = name.split('-').next().unwrap_or_default();
        let alive = Path::new("/proc").join(process).exists();
        // Without /proc, living processes are unknown, so copies older than a day are removed.
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

/// Writes a private copy from memory. Copying the file would count as a change of the watched file on some
/// systems.
fn write(bytes: &[u8], copy: &Path) -> std::io::Result<()> {
    if let Some(folder) = copy.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(copy, bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Readable and executable for the user only, so that no other user can change it.
        std::fs::set_permissions(copy, std::fs::Permissions::from_mode(0o500))?;
    }
    Ok(())
}
