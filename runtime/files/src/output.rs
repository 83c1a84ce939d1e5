//! Results: written beside their place, and moved there only once all of them are complete.

use crate::read::name_of;
use crate::write::{Beside, Sealed};
use std::fs::{File, FileType};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// A result that is being written.
///
/// A result that goes to a file is written beside it and gets its name from [`Complete::commit`]. Pipes,
/// devices and the standard streams take the bytes at once, because nothing there can be replaced.
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
    /// Opens a result that goes to a path. A pipe is opened as soon as another program reads from it.
    ///
    /// # Errors
    /// If there is no such folder or it cannot be written to, or the path is that of a folder or a
    /// socket.
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

    /// The path that was asked for.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the writing. Until [`Complete::commit`] the file that was there before is untouched.
    ///
    /// # Errors
    /// If not all could be written.
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

/// A result that got lost is an error, while a closed standard output is taken for a reader that has
/// seen enough. So the two must not have the same kind.
fn named(error: Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe => Error::other("the program that reads from the pipe has ended"),
        _ => error,
    }
}

/// A result that is wholly written, and waits for its name.
///
/// Nothing is left of it if this is dropped.
#[derive(Debug)]
pub struct Complete {
    /// `None` where the bytes went to a stream.
    sealed: Option<Sealed>,
    path: PathBuf,
}

impl Complete {
    /// Gives the file its name. An older file of that name is replaced.
    ///
    /// # Errors
    /// If it cannot be moved; what was there before is untouched then.
    pub fn commit(self) -> Result<()> {
        self.sealed.map_or(Ok(()), Sealed::commit)
    }

    /// Leaves the file beside its place, so that another process can give it its name later.
    /// `None` if the bytes went to a pipe or a device.
    ///
    /// # Errors
    /// If the file cannot be kept.
    pub fn leave(self) -> Result<Option<Left>> {
        self.sealed.map(Sealed::leave).transpose()
    }

    /// The path that was asked for.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A complete file that a process has left beside its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Where its bytes are.
    pub beside: PathBuf,
    /// Where it belongs. Links have been followed.
    pub place: PathBuf,
}

impl Left {
    /// Gives the file its name. An older file of that name is replaced.
    ///
    /// # Errors
    /// If it cannot be moved; an older file is untouched then.
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

/// Meaning of writing to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A file is made, or replaced.
    File,
    /// Bytes go to something that is already there and cannot be replaced.
    Stream(Stream),
}

/// A target for bytes that is not a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output or standard error of this program, whatever they were redirected to.
    Standard(Standard),
    /// A pipe with a name, or one that the shell has made.
    Pipe,
    /// A device, such as `/dev/null`.
    Device,
}

/// A standard stream that can be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl Standard {
    /// The stream that a path names.
    // By name: a redirected stream is a file like any other to the system, and to replace that file
    // would take it away from whoever redirected it.
    fn of(path: &Path) -> Option<Self> {
        match path.to_str()? {
            "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(Self::Output),
            "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => Some(Self::Error),
            _ => None,
        }
    }

    /// The stream as a file of its own, which can be closed.
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

    /// The stream as a file of its own, which is not known on this system.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(unix))]
    pub fn open(self) -> Result<File> {
        Err(ErrorKind::Unsupported.into())
    }
}

impl Target {
    /// Tells what writing to a path means, without opening anything.
    ///
    /// # Errors
    /// If a folder or a socket has this name, or the system cannot tell what is there.
    pub fn of(path: &Path) -> Result<Self> {
        if let Some(standard) = Standard::of(path) {
            return Ok(Self::Stream(Stream::Standard(standard)));
        }
        let kind = match std::fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::File),
            // A file where a folder should be: there is nothing that could be replaced either.
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
                    "there is {} of this name; nothing was written",
                    name_of(kind)
                ),
            )),
        }
    }
}

/// The stream of a type of file. Disks are left out, because a result would destroy their contents.
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

/// The stream of a type of file: none on this system.
#[cfg(not(unix))]
fn stream_of(_: FileType) -> Option<Stream> {
    None
}
