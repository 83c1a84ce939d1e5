//! Reads files with limits on their size.

use std::fs::{File, FileType, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Number of bytes in a mebibyte.
pub const MEBIBYTE: u64 = 1 << 20;

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// If the system reports an error, if the path is a folder, pipe or device (which might never end), or if the
/// file is larger than the limit.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    check(&std::fs::metadata(path)?, limit)?;
    let file = open(path)?;
    // The file is checked again, because another file may have replaced it since the first check.
    check(&file.metadata()?, limit)?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64, limit));
    }
    Ok(bytes)
}

/// Opens a file for reading, for example to lock it.
///
/// # Errors
/// If the system cannot open it, or if it is a folder, a pipe or a device.
pub fn open(path: &Path) -> Result<File> {
    // The type is checked before opening, because opening a pipe without a writer blocks.
    check(&std::fs::metadata(path)?, u64::MAX)?;
    File::open(path)
}

/// Reads the text of a file of at most `limit` bytes, without the byte order mark that some programs write.
///
/// # Errors
/// Same as for [`read`], and if the file is not UTF-8.
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
        "the file is too large: {:.3} MiB; the limit is {:.3} MiB",
        mebibytes(size),
        mebibytes(limit)
    );
    Error::new(ErrorKind::FileTooLarge, what)
}

/// Returns the name of a file type, for messages.
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

/// Returns the name of a file type, for messages.
#[cfg(not(unix))]
pub(crate) fn name_of(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else {
        "a device"
    }
}
