//! Reading.

use std::fs::{File, FileType, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes of a mebibyte.
pub const MEBIBYTE: u64 = 1 << 20;

/// The bytes of a file of at most `limit` bytes.
///
/// # Errors
/// What the system says; that it is no file but a folder, a pipe or a device, which might never
/// end; or that it is larger than the limit.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    check(&std::fs::metadata(path)?, limit)?;
    let file = open(path)?;
    // Another file may have taken its place since.
    check(&file.metadata()?, limit)?;
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64, limit));
    }
    Ok(bytes)
}

/// A file that is open for reading, as for its lock.
///
/// # Errors
/// If the system cannot open it, or if it is a folder, a pipe or a device.
pub fn open(path: &Path) -> Result<File> {
    // Opening a pipe without a writer blocks, so what it is comes first.
    check(&std::fs::metadata(path)?, u64::MAX)?;
    File::open(path)
}

/// The text of a file of at most `limit` bytes, without the mark of byte order that some programs
/// put before it.
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String> {
    let bytes = read(path, limit)?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| {
        let what = format!("it is not UTF-8 text: {}", error.utf8_error());
        Error::new(ErrorKind::InvalidData, what)
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn check(metadata: &Metadata, limit: u64) -> Result<()> {
    if !metadata.is_file() {
        let what = format!("it is {}, not a file", name_of(metadata.file_type()));
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    if metadata.len() > limit {
        return Err(too_large(metadata.len(), limit));
    }
    Ok(())
}

fn too_large(size: u64, limit: u64) -> Error {
    let mebibytes = |bytes: u64| bytes as f64 / MEBIBYTE as f64;
    let what = format!(
        "it is larger than {:.3} MiB, which is the most that is read ({:.3} MiB)",
        mebibytes(limit),
        mebibytes(size)
    );
    Error::new(ErrorKind::FileTooLarge, what)
}

/// What something is that is not a file, for people.
#[cfg(unix)]
pub(crate) fn name_of(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// What something is that is not a file, for people.
#[cfg(not(unix))]
pub(crate) fn name_of(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else {
        "a device"
    }
}
