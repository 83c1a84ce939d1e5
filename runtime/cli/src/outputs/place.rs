//! The file to which a path refers after links, `..` and relative names are resolved.

use roadwright_files::{Standard, Stream, Target};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Identity of a file: its resolved path, and its device and inode number.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    /// The path without links and `..`. Missing parts at its end are kept as they are.
    path: PathBuf,
    /// Device and inode number, which are the same under all names of the file; `None` for a new
    /// file, and on systems without such numbers.
    number: Option<Number>,
    standard: Option<Standard>,
}

/// Device and inode number.
type Number = (u64, u64);

impl Identity {
    pub(super) fn of(path: &Path) -> Self {
        if let Ok(Target::Stream(Stream::Standard(standard))) = Target::of(path) {
            return Self::standard(standard);
        }
        Self {
            path: whole(path, DEEPEST),
            number: std::fs::metadata(path).ok().and_then(|m| number_of(&m)),
            standard: None,
        }
    }

    /// Returns the identity of a standard stream, regardless of where it leads.
    pub(super) fn standard(standard: Standard) -> Self {
        Self {
            path: PathBuf::new(),
            number: None,
            standard: Some(standard),
        }
    }

    /// Returns the identity of standard output, which may be redirected to a file.
    pub(super) fn of_standard_output(metadata: &Metadata) -> Self {
        Self {
            // Terminals and devices can be shared between results.
            number: metadata.is_file().then(|| number_of(metadata)).flatten(),
            ..Self::standard(Standard::Output)
        }
    }

    /// Whether both are the same file.
    pub(super) fn is(&self, other: &Self) -> bool {
        let same_stream = self.standard.is_some() && self.standard == other.standard;
        let same_number = self.number.is_some() && self.number == other.number;
        let both_named = self.standard.is_none() && other.standard.is_none();
        same_stream || same_number || (both_named && self.path == other.path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(unix)]
fn number_of(metadata: &Metadata) -> Option<Number> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn number_of(_: &Metadata) -> Option<Number> {
    None
}

/// Maximum length of a chain of links, as usual in operating systems.
const DEEPEST: u8 = 40;

/// Resolves links and `..` in a path. Missing parts at its end are kept as they are.
fn whole(path: &Path, depth: u8) -> PathBuf {
    if let Ok(known) = path.canonicalize() {
        return known;
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return path;
    };
    let Some(depth) = depth.checked_sub(1) else {
        return path;
    };
    match std::fs::read_link(&path) {
        // A link to a file that does not exist yet.
        Ok(next) => whole(&above.join(next), depth),
        Err(_) => whole(above, depth).join(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours_lead_to_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Identity::of(&folder.path().join(name));
        std::fs::create_dir(folder.path().join("in")).unwrap();
        assert!(at("a").is(&at("./a")));
        assert!(at("a").is(&at("in/../a")));
        assert!(at("new/deep/a").is(&at("./new/deep/a")));
        assert!(!at("a").is(&at("b")));
        assert!(!at("in/a").is(&at("a")));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_the_same_file() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let at = |name: &str| Identity::of(&path(name));
        std::fs::write(path("a"), b"x").unwrap();
        std::fs::write(path("b"), b"x").unwrap();
        std::fs::hard_link(path("a"), path("hard")).unwrap();
        symlink("a", path("soft")).unwrap();
        symlink("missing", path("dangling")).unwrap();
        symlink("circle", path("circle")).unwrap();
        assert!(at("a").is(&at("hard")) && at("a").is(&at("soft")));
        assert!(at("dangling").is(&at("missing")));
        assert!(!at("a").is(&at("b")) && !at("circle").is(&at("a")));
    }
}
