//! Writing: beside the file first, then in its place.

use crate::output::Left;
use crate::read::name_of;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// Files that are being written begin with this, in the folder where they will be.
const PREFIX: &str = ".saving-";

/// Writes a file at once: after it, the path has the old bytes or the new ones, whatever happens.
/// As [`Beside`], which see.
///
/// # Errors
/// If it cannot be written; what was there before is untouched then.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Beside::new(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// A file that is written beside the one that it will replace.
///
/// A link is followed to the file that it stands for. The new file gets the permissions of the old
/// one, and its owner and group where the system allows that; without an old one it gets those of
/// any new file. Another name of the old file (a hard link) keeps the old bytes. What a program
/// that was killed has left in the folder is swept. Nothing is left if this is dropped before
/// [`finish`](Self::finish).
#[derive(Debug)]
pub struct Beside {
    file: NamedTempFile,
    path: PathBuf,
}

impl Beside {
    /// Begins a file that will be at a path.
    ///
    /// # Errors
    /// If there is no such folder or it cannot be written to, or something is there that is no file.
    pub fn new(path: &Path) -> Result<Self> {
        let path = target(path)?;
        check_folder(folder_of(&path))?;
        let before = match std::fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => {
                let kind = name_of(metadata.file_type());
                let what = format!("there is {kind} of this name; nothing was written");
                return Err(Error::new(ErrorKind::InvalidInput, what));
            }
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // The same folder, and so the same disk: only there a move replaces the old file at once.
        let folder = folder_of(&path);
        if !folder.is_dir() {
            let what = format!("there is no folder {}", folder.display());
            return Err(Error::new(ErrorKind::NotFound, what));
        }
        sweep(folder);
        let file = create(folder).map_err(|error| unwritable(folder, &error))?;
        // Whoever sweeps this folder meanwhile sees that it is being written.
        let _ = file.as_file().try_lock();
        if let Some(before) = before {
            keep_rights(file.as_file(), &before)?;
        }
        Ok(Self { file, path })
    }

    /// Moves what was written into its place.
    ///
    /// # Errors
    /// If not all could be written, or it cannot be moved; what was there before is untouched then.
    pub fn finish(self) -> Result<()> {
        self.seal()?.commit()
    }

    /// Ends the writing, and leaves the file that was there before.
    ///
    /// # Errors
    /// If not all could be written.
    pub(crate) fn seal(mut self) -> Result<Sealed> {
        self.file.flush()?;
        // Before the move: after a failure of power the name must not stand for bytes that were
        // never written.
        self.file.as_file().sync_all()?;
        let (held, beside) = self.file.into_parts();
        Ok(Sealed {
            held,
            beside,
            path: self.path,
        })
    }
}

/// A complete file beside its target. Nothing is left of it if this is dropped.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// Keeps the lock by which others see that the file is in use and do not sweep it.
    held: File,
    beside: TempPath,
    path: PathBuf,
}

impl Sealed {
    /// Moves it into its place.
    pub(crate) fn commit(self) -> Result<()> {
        let moved = self.beside.persist(&self.path);
        moved.map_err(|error| error.error)?;
        drop(self.held);
        sync_folder(folder_of(&self.path));
        Ok(())
    }

    /// Leaves it where it is.
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

/// The file that a path stands for: links are followed, to one that does not exist yet as well.
fn target(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    // As deep as systems go.
    for _ in 0..40 {
        let Ok(next) = std::fs::read_link(&path) else {
            return Ok(path);
        };
        path = folder_of(&path).join(next);
    }
    Err(Error::new(
        ErrorKind::InvalidInput,
        "it is a link that leads back to itself",
    ))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Says that a folder is missing before anything else goes wrong in it.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let (kind, what) = match std::fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => (
            ErrorKind::NotADirectory,
            format!("{shown} is not a folder; name another place"),
        ),
        Err(error) if error.kind() == ErrorKind::NotADirectory => (
            ErrorKind::NotADirectory,
            format!("a part of {shown} is not a folder; name another place"),
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => (
            ErrorKind::NotFound,
            format!("there is no folder {shown}; make it first, or name another place"),
        ),
        Err(error) => return Err(unwritable(folder, &error)),
    };
    Err(Error::new(kind, what))
}

/// Why nothing can be made in a folder, without the name of the file that was tried.
fn unwritable(folder: &Path, error: &Error) -> Error {
    let (kind, shown) = (error.kind(), folder.display());
    Error::new(
        kind,
        format!("the folder {shown} cannot be written to: {kind}"),
    )
}

/// A new file with the rights that any new file gets.
fn create(folder: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system takes away from these what the user has said (umask).
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // Its error names the file beside, which the user has not asked for.
    builder.tempfile_in(folder).map_err(without_path)
}

/// An error of the system without the path that the library puts before it.
fn without_path(error: Error) -> Error {
    let source = error.get_ref().and_then(std::error::Error::source);
    match source {
        Some(source) => Error::new(error.kind(), source.to_string()),
        None => error,
    }
}

/// Gives a file the owner and the permissions of another one.
#[cfg(unix)]
fn keep_rights(file: &File, before: &Metadata) -> Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Only the owner of the system may give files away; a group of one's own is kept by anybody.
    if fchown(file, Some(before.uid()), Some(before.gid())).is_err() {
        let _ = fchown(file, None, Some(before.gid()));
    }
    file.set_permissions(before.permissions())
}

/// Gives a file the permissions of another one.
#[cfg(not(unix))]
fn keep_rights(file: &File, before: &Metadata) -> Result<()> {
    file.set_permissions(before.permissions())
}

/// Lets the name of a new file outlast a failure of power as its bytes do.
fn sync_folder(folder: &Path) {
    // Where folders cannot be opened the system sees to that by itself.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Removes what killed programs have left in a folder: files of ours that nobody holds.
fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_ours || !is_file {
            continue;
        }
        let held = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_err());
        // One that has just been made may not be locked yet.
        let age = entry.metadata().and_then(|data| data.modified());
        let is_old = age.is_ok_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() >= OLD));
        if !held && is_old {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Younger files are not swept, s.
const OLD: u64 = 60;
