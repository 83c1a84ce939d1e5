//! Zip archives as used for bundles. They contain only files, each with a path.
//!
//! Sizes stated in an archive are not trusted. Instead, bytes are counted while they are unpacked.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use thiserror::Error;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// Maximum size of a bundle, packed or unpacked, in bytes.
pub const MOST_BYTES: u64 = 256 * roadwright_files::MEBIBYTE;
/// Maximum number of files in a bundle.
pub const MOST_FILES: usize = 10_000;
/// Maximum compression ratio of a bundle.
pub const MOST_RATIO: u64 = 100;
/// Maximum length of a path in a bundle, in bytes. Operating systems accept paths of this length
/// inside folders of typical depth.
const LONGEST_PATH: usize = 200;
/// Compression ratio above which bundles are written uncompressed, so that they can be read again.
const WRITTEN_RATIO: u64 = MOST_RATIO / 2;
/// Signature of an entry in an archive's central directory.
const ENTRY: &[u8; 4] = b"PK\x01\x02";

/// Contents of files by path, with `/` between folders.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Reason why an archive is rejected.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// The file is not a zip archive.
    #[error("not a bundle; create one from a scenario with `roadwright pack`")]
    NoArchive,
    /// The zip archive is truncated or damaged. Contains the path of the entry that cannot be read,
    /// if known.
    #[error("the bundle is truncated or damaged{}", .0.as_ref().map_or(String::new(), |path| format!(": {path} cannot be read")))]
    Damaged(Option<String>),
    /// The archive cannot be written.
    #[error("the bundle cannot be written: {0}")]
    Write(String),
    /// A path leads out of the target folder, or is not portable.
    #[error("the bundle is rejected because of the path \"{path}\": {why}")]
    Path {
        /// The path, truncated.
        path: String,
        /// The problem with the path.
        why: &'static str,
    },
    /// The archive exceeds a limit.
    #[error(
        "the bundle is rejected because it unpacks to more than {0}; it is damaged or malicious"
    )]
    TooMuch(String),
}

/// Converts an error of the decoder. Its message is dropped, because it describes internal details.
fn damaged<E>(_: E) -> ArchiveError {
    ArchiveError::Damaged(None)
}

fn unwritable(error: impl std::fmt::Display) -> ArchiveError {
    ArchiveError::Write(error.to_string())
}

/// Packs files. Equal files give equal bytes.
///
/// # Errors
/// If the files exceed the limits of [`read`].
pub(crate) fn write(files: &Files) -> Result<Vec<u8>, ArchiveError> {
    let size: u64 = files.values().map(|bytes| bytes.len() as u64).sum();
    if size > MOST_BYTES {
        return Err(too_many_bytes());
    }
    if files.len() > MOST_FILES {
        return Err(too_many_files());
    }
    let packed = write_with(files, CompressionMethod::Deflated).map_err(unwritable)?;
    if size <= WRITTEN_RATIO * packed.len() as u64 {
        return Ok(packed);
    }
    write_with(files, CompressionMethod::Stored).map_err(unwritable)
}

fn write_with(files: &Files, method: CompressionMethod) -> Result<Vec<u8>, ZipError> {
    // Timestamps and permissions are left out, because they would make the bytes differ for equal
    // input.
    let options = SimpleFileOptions::default()
        .compression_method(method)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    // Sorted by path, so that the order does not depend on how the files were collected.
    for (path, bytes) in files {
        writer.start_file(path.as_str(), options)?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}

/// Unpacks an archive into memory.
///
/// # Errors
/// If the archive is damaged, contains anything but plain files or a path that leads out of the folder, or
/// exceeds [`MOST_BYTES`], [`MOST_FILES`] or [`MOST_RATIO`].
pub(crate) fn read(archive: &[u8]) -> Result<Files, ArchiveError> {
    if archive.len() as u64 > MOST_BYTES {
        return Err(too_many_bytes());
    }
    // This is checked before the central directory is read, which could be made large enough to
    // fill the memory.
    let entries = archive.windows(ENTRY.len()).filter(|w| *w == ENTRY);
    if entries.count() > MOST_FILES {
        return Err(too_many_files());
    }
    let most = MOST_BYTES.min(MOST_RATIO.saturating_mul(archive.len() as u64));
    // A zip archive begins with an entry or is empty. Other files are not zip archives.
    if !archive.starts_with(b"PK") {
        return Err(ArchiveError::NoArchive);
    }
    let mut zip = ZipArchive::new(Cursor::new(archive)).map_err(damaged)?;
    let mut files = Files::new();
    let mut folded = std::collections::BTreeSet::new();
    let mut size = 0;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(damaged)?;
        let path = entry.name().map_err(damaged)?.into_owned();
        if entry.is_dir() {
            continue;
        }
        check_path(&path)?;
        check_kind(&path, entry.unix_mode())?;
        // Some systems treat `A` and `a` as the same file.
        if !folded.insert(path.to_lowercase()) {
            return Err(refused(&path, "it is a duplicate"));
        }
        let mut bytes = Vec::new();
        let room = most - size;
        // Reading one byte beyond the limit detects excess data, whatever size the entry states.
        let unpacked = entry.by_ref().take(room + 1).read_to_end(&mut bytes);
        let unpacked = unpacked.map_err(|_| ArchiveError::Damaged(Some(short(&path))))?;
        if unpacked as u64 > room {
            return Err(if most == MOST_BYTES {
                too_many_bytes()
            } else {
                too_dense()
            });
        }
        size += unpacked as u64;
        files.insert(path, bytes);
    }
    Ok(files)
}

fn too_many_bytes() -> ArchiveError {
    ArchiveError::TooMuch(format!("{} MiB", MOST_BYTES / roadwright_files::MEBIBYTE))
}

fn too_many_files() -> ArchiveError {
    ArchiveError::TooMuch(format!("{MOST_FILES} files"))
}

fn too_dense() -> ArchiveError {
    ArchiveError::TooMuch(format!("{MOST_RATIO} times its size"))
}

fn refused(path: &str, why: &'static str) -> ArchiveError {
    ArchiveError::Path {
        path: short(path),
        why,
    }
}

/// Returns a path as a short, single line for messages, whatever it contains.
fn short(path: &str) -> String {
    let visible = path.chars().map(|c| if c.is_control() { '?' } else { c });
    visible.take(80).collect()
}

/// Rejects paths that are empty, too long or not portable, or that lead out of the target folder on
/// any system.
pub(crate) fn check_path(path: &str) -> Result<(), ArchiveError> {
    if path.is_empty() || path.len() > LONGEST_PATH {
        return Err(refused(path, "it is empty or too long"));
    }
    // Windows uses `\` as a separator, and `:` for drives and alternate data streams.
    if path.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) || path.contains(char::is_control) {
        return Err(refused(path, "it contains a character that is not allowed"));
    }
    for part in path.split('/') {
        let leads = part.is_empty() || part == "." || part == "..";
        if leads || part.ends_with(['.', ' ']) || is_device(part) {
            return Err(refused(path, "it points outside the folder"));
        }
    }
    Ok(())
}

/// Whether a name refers to a device on Windows, with any extension.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).to_ascii_lowercase();
    let numbered = ["com", "lpt"].iter().any(|name| {
        let number = stem.strip_prefix(name);
        number.is_some_and(|n| n.len() == 1 && n.chars().all(|c| c.is_ascii_digit()))
    });
    numbered || ["con", "prn", "aux", "nul"].contains(&stem.as_str())
}

/// Rejects links, pipes and devices.
fn check_kind(path: &str, mode: Option<u32>) -> Result<(), ArchiveError> {
    /// Mask of the mode bits that contain the file type.
    const KIND: u32 = 0o170_000;
    /// Value of the file-type bits for a regular file.
    const PLAIN: u32 = 0o100_000;
    match mode.map(|mode| mode & KIND) {
        None | Some(0 | PLAIN) => Ok(()),
        Some(_) => Err(refused(path, "it is a link or a device")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn zip_of(entries: &[(&str, &[u8], u32)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, bytes, mode) in entries {
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Deflated)
                .unix_permissions(*mode);
            writer.start_file(*path, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn error_of(archive: &[u8]) -> String {
        read(archive).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_and_equal_files_give_equal_bytes() {
        let files = Files::from([
            ("a.txt".to_owned(), b"abc".to_vec()),
            ("b/c.txt".to_owned(), vec![7; 1000]),
            ("empty".to_owned(), Vec::new()),
        ]);
        let bytes = write(&files).unwrap();
        assert_eq!(read(&bytes).unwrap(), files);
        assert_eq!(write(&files).unwrap(), bytes);
    }

    #[test]
    fn a_cut_bundle_and_another_file_are_told_apart_in_words() {
        let files = Files::from([("a.txt".to_owned(), b"abc".to_vec())]);
        let bytes = write(&files).unwrap();
        let cut = error_of(&bytes[..bytes.len() / 2]);
        assert_eq!(cut, "the bundle is truncated or damaged");
        assert!(error_of(b"{}").contains("not a bundle"));
        assert!(read(&bytes).is_ok(), "control");
    }

    #[test]
    fn what_compresses_too_well_is_written_so_that_it_can_be_read() {
        let files = Files::from([("flat".to_owned(), vec![0; 4 << 20])]);
        let bytes = write(&files).unwrap();
        assert!(bytes.len() > 4 << 20);
        assert_eq!(read(&bytes).unwrap(), files);
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        let out = [
            "../a",
            "/a",
            "a/../../b",
            "a//b",
            "./a",
            "c:\\a",
            "..\\a",
            "a\0b",
            "con.txt",
            "LPT1",
            "a.",
            "a/ /b",
            "x:y",
        ];
        for path in out {
            assert!(check_path(path).is_err(), "{path:?}");
            let error = error_of(&zip_of(&[(path, b"x", 0o644)]));
            assert!(
                error.contains("the bundle is rejected"),
                "{path:?}: {error}"
            );
        }
        for path in [
            "a",
            "scripts/deep/a.rhai",
            "..a",
            "a..b",
            "console",
            "com10",
        ] {
            check_path(path).unwrap();
            assert!(read(&zip_of(&[(path, b"x", 0o644)])).is_ok(), "{path}");
        }
        assert!(check_path(&"a".repeat(201)).is_err());
        assert!(check_path(&"a".repeat(200)).is_ok());
    }

    #[test]
    fn links_and_devices_are_refused() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        writer.add_symlink("link", "/etc/passwd", options).unwrap();
        let error = error_of(&writer.finish().unwrap().into_inner());
        assert!(error.contains("link or a device"), "{error}");
    }

    #[test]
    fn bombs_are_refused_by_what_comes_out_and_not_by_what_they_say() {
        let bomb = zip_of(&[("a", &vec![0; 8 << 20], 0o644)]);
        assert!(error_of(&bomb).contains("100 times its size"));
        // The same archive, with a header that states a small size.
        let mut liar = bomb.clone();
        let size = (8_u32 << 20).to_le_bytes();
        let places: Vec<usize> = (0..liar.len() - 4)
            .filter(|i| liar[*i..i + 4] == size)
            .collect();
        assert!(!places.is_empty());
        for place in places {
            liar[place..place + 4].copy_from_slice(&100_u32.to_le_bytes());
        }
        // The excess is detected before everything is unpacked.
        assert!(read(&liar).is_err());
    }

    #[test]
    fn too_many_files_are_refused_before_they_are_listed() {
        let many: Vec<String> = (0..=MOST_FILES).map(|i| format!("f{i}")).collect();
        let entries: Vec<(&str, &[u8], u32)> = many
            .iter()
            .map(|path| (path.as_str(), &b""[..], 0o644))
            .collect();
        assert!(error_of(&zip_of(&entries)).contains("10000 files"));
        assert_eq!(
            read(&zip_of(&entries[..MOST_FILES])).unwrap().len(),
            MOST_FILES
        );
    }

    #[test]
    fn a_file_that_is_there_twice_in_other_letters_is_refused() {
        let twice = zip_of(&[("a.txt", b"1", 0o644), ("A.TXT", b"2", 0o644)]);
        assert!(error_of(&twice).contains("duplicate"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_bytes_are_refused_or_read_within_the_limits(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let _ = read(&bytes);
        }

        #[test]
        fn a_damaged_archive_is_refused_or_holds_what_the_limits_allow(
            at in prop::collection::vec((0_usize..4000, any::<u8>()), 1..20),
            cut in 0_usize..4000,
        ) {
            let mut bytes = zip_of(&[("a.txt", b"hello", 0o644), ("b/c", &[3; 3000], 0o644)]);
            for (place, byte) in at {
                let place = place % bytes.len();
                bytes[place] = byte;
            }
            bytes.truncate(bytes.len() - cut % bytes.len() / 4);
            if let Ok(files) = read(&bytes) {
                let size: usize = files.values().map(Vec::len).sum();
                prop_assert!(size as u64 <= MOST_RATIO * bytes.len() as u64);
                for path in files.keys() {
                    prop_assert!(check_path(path).is_ok());
                }
            }
        }
    }
}
