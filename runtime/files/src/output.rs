//! Output files that are written under temporary names and renamed once all of them are complete.

use crate::read::name_of;
use crate::write::{Beside, Sealed};
use std::fs::{File, FileType};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// An output that is being written.
///
/// An output file is written beside its final path and renamed by [`Complete::commit`]. Pipes,
/// devices and the standard streams receive the bytes immediately, because they cannot be replaced.
#[derive(Debug)]
pub struct Output {
    to: To,
    path: PathBuf,
}

#[derive(Debug)]
enum To {
    File(Beside),
    Stream(File),
}

impl Output {
    /// Opens an output at a path. If the path is a pipe, this waits for a reader.
    ///
    /// # Errors
    /// If the folder does not exist or cannot be written to, or the path is a folder or a socket.
    pub fn open(path: &Path) -> Result<Self> {
        let to = match Target::of(path)? {
            Target::File => To::File(Beside::new(path)?),
            Target::Stream(Stream::Standard(standard)) => To::Stream(standard.open()?),
            Target::Stream(Stream::Pipe | Stream::Device) => {
                To::Stream(File::options().write(true).open(path)?)
            }
        };
        let path = path.to_owned();
        Ok(Self { to, path })
    }

    /// The requested path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Finishes writing. The previous file stays unchanged until [`Complete::commit`].
    ///
    /// # Errors
    /// If not everything could be written.
    pub fn complete(mut self) -> Result<Complete> {
        self.flush()?;
        let sealed = match self.to {
            To::File(beside) => Some(beside.seal()?),
            To::Stream(_) => None,
        };
        Ok(Complete {
            sealed,
            path: self.path,
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match &mut self.to {
            To::File(beside) => beside.write(bytes),
            To::Stream(stream) => stream.write(bytes).map_err(named),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.to {
            To::File(beside) => beside.flush(),
            To::Stream(stream) => stream.flush().map_err(named),
        }
    }
}

/// Replaces the kind of a broken pipe error. If a result cannot be written, this is an error,
/// whereas a closed standard output only means that its reader needs no more.
fn named(error: Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe => Error::other("the program reading from the pipe has exited"),
        _ => error,
    }
}

/// A completely written output that can be renamed.
///
/// The file is removed if this value is dropped.
#[derive(Debug)]
pub struct Complete {
    /// The written file; `None` if the bytes went to a stream.
    sealed: Option<Sealed>,
    path: PathBuf,
}

impl Complete {
    /// Gives the file its final name. An existing file is replaced.
    ///
    /// # Errors
    /// If it cannot be renamed. An existing file is then unchanged.
    pub fn commit(self) -> Result<()> {
        self.sealed.map_or(Ok(()), Sealed::commit)
    }

    /// Leaves the file at its temporary path, so that another process can rename it later. Returns `None` if
    /// the bytes went to a pipe or a device.
    ///
    /// # Errors
    /// If the file cannot be kept.
    pub fn leave(self) -> Result<Option<Left>> {
        self.sealed.map(Sealed::leave).transpose()
    }

    /// The requested path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A complete file that a process has left under a temporary name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Temporary path.
    pub beside: PathBuf,
    /// Final path, with links resolved.
    pub place: PathBuf,
}

impl Left {
    /// Gives the file its final name. An existing file is replaced.
    ///
    /// # Errors
    /// If it cannot be renamed. An existing file is then unchanged.
    pub fn commit(&self) -> Result<()> {
        std::fs::rename(&self.beside, &self.place)
    }

    /// Removes the file.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn discard(&self) -> Result<()> {
        std::fs::remove_file(&self.beside)
    }
}

/// The effect of writing to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A file is created or replaced.
    File,
    /// Bytes go to an existing stream, which cannot be replaced.
    Stream(Stream),
}

/// A target other than a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output or standard error of this program, even if they are redirected.
    Standard(Standard),
    /// A named pipe, or a pipe created by the shell.
    Pipe,
    /// A device, such as `/dev/null`.
    Device,
}

/// A standard output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl Standard {
    /// Returns the stream that a path names.
    // Determined by name, because to the system a redirected stream looks like any other file, and
    // replacing that file would break the redirection.
    fn of(path: &Path) -> Option<Self> {
        match path.to_str()? {
            "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(Self::Output),
            "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => Some(Self::Error),
            _ => None,
        }
    }

    /// Opens the stream as a separate file that can be closed.
    ///
    /// # Errors
    /// If the stream is closed.
    #[cfg(unix)]
    pub fn open(self) -> Result<File> {
        use std::os::fd::AsFd;
        let kept = match self {
            Self::Output => std::io::stdout().as_fd().try_clone_to_owned(),
            Self::Error => std::io::stderr().as_fd().try_clone_to_owned(),
        };
        kept.map(File::from)
    }

    /// Always fails, because opening streams as separate files is not supported on this system.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(unix))]
    pub fn open(self) -> Result<File> {
        Err(ErrorKind::Unsupported.into())
    }
}

impl Target {
    /// Determines the effect of writing to a path without opening anything.
    ///
    /// # Errors
    /// If a folder or a socket has this name, or the system cannot inspect the path.
    pub fn of(path: &Path) -> Result<Self> {
        if let Some(standard) = Standard::of(path) {
            return Ok(Self::Stream(Stream::Standard(standard)));
        }
        let kind = match std::fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::File),
            // A part of the path is a file rather than a folder, so there is nothing to replace.
            Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(Self::File),
            Err(error) => return Err(error),
        };
        if kind.is_file() {
            return Ok(Self::File);
        }
        match stream_of(kind) {
            Some(stream) => Ok(Self::Stream(stream)),
            None => Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "{} with this name exists; nothing was written",
                    name_of(kind)
                ),
            )),
        }
    }
}

/// Returns the stream for a file type; `None` for other types. Disks are excluded, because writing a result
/// to a disk would destroy its contents.
#[cfg(unix)]
fn stream_of(kind: FileType) -> Option<Stream> {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        Some(Stream::Pipe)
    } else if kind.is_char_device() {
        Some(Stream::Device)
    } else {
        None
    }
}

/// Returns no stream on this system.
#[cfg(not(unix))]
fn stream_of(_: FileType) -> Option<Stream> {
    None
}
