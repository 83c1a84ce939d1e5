//! Writes files atomically: a temporary file is written first and then moved into place.

use crate::output::Left;
use crate::read::name_of;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// Prefix of the temporary names of files that are being written.
const PREFIX: &str = ".saving-";

/// Writes a file atomically. Afterwards, the path has either the old or the new bytes. See [`Beside`].
///
/// # Errors
/// If the file cannot be written. An existing file is then unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Beside::new(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// A file that is written in the same folder as the file that it will replace.
///
/// A link is followed to its target. The new file gets the permissions of the old one, and its
/// owner and group if the system allows that. Without an old file, it gets the usual
/// permissions. If the old file has another name (a hard link), that name keeps the old bytes.
/// Temporary files that killed programs have left in the folder are removed. The temporary file is
/// removed if this value is dropped before [`finish`](Self::finish).
#[derive(Debug)]
pub struct Beside {
    file: NamedTempFile,
    path: PathBuf,
}

impl Beside {
    /// Starts writing a file.
    ///
    /// # Errors
    /// If the folder does not exist or cannot be written to, or the path does not name a file.
    pub fn new(path: &Path) -> Result<Self> {
        let path = target(path)?;
        check_folder(folder_of(&path))?;
        let before = match std::fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => {
                let kind = name_of(metadata.file_type());
                let what = format!("{kind} with this name exists; nothing was written");
                return Err(Error::new(ErrorKind::InvalidInput, what));
            }
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // The temporary file is in the same folder and therefore on the same disk, because only
        // then can a move replace the old file atomically.
        let folder = folder_of(&path);
        if !folder.is_dir() {
            let what = format!("the folder {} does not exist", folder.display());
            return Err(Error::new(ErrorKind::NotFound, what));
        }
        sweep(folder);
        let file = create(folder).map_err(|error| unwritable(folder, &error))?;
        // The lock tells other programs that sweep this folder that the file is being written.
        let _ = file.as_file().try_lock();
        if let Some(before) = before {
            keep_rights(file.as_file(), &before)?;
        }
        Ok(Self { file, path })
    }

    /// Moves the file into place.
    ///
    /// # Errors
    /// If not everything could be written, or the file cannot be moved. An existing file is then unchanged.
    pub fn finish(self) -> Result<()> {
        self.seal()?.commit()
    }

    /// Finishes writing without changing an existing file.
    ///
    /// # Errors
    /// If not everything could be written.
    pub(crate) fn seal(mut self) -> Result<Sealed> {
        self.file.flush()?;
        // Synced before the move. Otherwise, after a power failure, the name could refer to bytes
        // that have never been written.
        self.file.as_file().sync_all()?;
        let (held, beside) = self.file.into_parts();
        Ok(Sealed {
            held,
            beside,
            path: self.path,
        })
    }
}

/// A complete file beside its target. It is removed if this value is dropped.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// The temporary file. Its lock tells other programs that it is in use.
    held: File,
    beside: TempPath,
    path: PathBuf,
}

impl Sealed {
    /// Moves the file into place.
    pub(crate) fn commit(self) -> Result<()> {
        let moved = self.beside.persist(&self.path);
        moved.map_err(|error| error.error)?;
        drop(self.held);
        sync_folder(folder_of(&self.path));
        Ok(())
    }

    /// Leaves the file at its temporary path, and returns that path and the final one.
    pub(crate) fn leave(self) -> Result<Left> {
        let beside = self.beside.keep().map_err(|error| error.error)?;
        Ok(Left {
            beside,
            place: self.path,
        })
    }
}

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

/// Returns the file to which a path refers. Links are followed, even to files that do not exist yet.
fn target(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    // The limit is the usual maximum length of a chain of links.
    for _ in 0..40 {
        let Ok(next) = std::fs::read_link(&path) else {
            return Ok(path);
        };
        path = folder_of(&path).join(next);
    }
    Err(Error::new(
        ErrorKind::InvalidInput,
        "the link points back to itself",
    ))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Checks that a folder exists and can be used, so that a missing folder is reported before
/// anything else fails.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let (kind, what) = match std::fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => (
            ErrorKind::NotADirectory,
            format!("{shown} is not a folder; choose another path"),
        ),
        Err(error) if error.kind() == ErrorKind::NotADirectory => (
            ErrorKind::NotADirectory,
            format!("a parent of {shown} is not a folder; choose another path"),
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => (
            ErrorKind::NotFound,
            format!("the folder {shown} does not exist; create it or choose another path"),
        ),
        Err(error) => return Err(unwritable(folder, &error)),
    };
    Err(Error::new(kind, what))
}

/// Reports that a folder is not writable, without mentioning the temporary file.
fn unwritable(folder: &Path, error: &Error) -> Error {
    let (kind, shown) = (error.kind(), folder.display());
    Error::new(kind, format!("the folder {shown} is not writable: {kind}"))
}

/// Creates a file with the usual permissions of a new file.
fn create(folder: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system removes permissions according to the process's umask.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // The error would contain the name of the temporary file, which is meaningless to the user.
    builder.tempfile_in(folder).map_err(without_path)
}

/// Removes the path that the library has added to a system error.
fn without_path(error: Error) -> Error {
    let source = error.get_ref().and_then(std::error::Error::source);
    match source {
        Some(source) => Error::new(error.kind(), source.to_string()),
        None => error,
    }
}

/// Gives a file the owner and the permissions of another file.
#[cfg(unix)]
fn keep_rights(file: &File, before: &Metadata) -> Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only root may change the owner. A user may change the group to another group of the same
    // user.
    if fchown(file, Some(before.uid()), Some(before.gid())).is_err() {
        let _ = fchown(file, None, Some(before.gid()));
    }
    file.set_permissions(before.permissions())
}

/// Gives a file the permissions of another file.
#[cfg(not(unix))]
fn keep_rights(file: &File, before: &Metadata) -> Result<()> {
    file.set_permissions(before.permissions())
}

/// Ensures that the name of a new file survives a power failure, in addition to its contents.
fn sync_folder(folder: &Path) {
    // Systems that cannot open folders do this automatically.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Removes files that killed programs have left in a folder: our temporary files that are not
/// locked.
fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_ours || !is_file {
            continue;
        }
        let held = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_err());
        // A file that was just created may not be locked yet.
        let age = entry.metadata().and_then(|data| data.modified());
        let is_old = age.is_ok_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() >= OLD));
        if !held && is_old {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Minimum age of files that are swept, s.
const OLD: u64 = 60;
