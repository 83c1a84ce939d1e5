//! The manifest: what a bundle says about itself.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the manifest stands in a bundle.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The value of the key `format` in every manifest.
pub const FORMAT: &str = "roadwright-bundle";
/// The version of the format that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// What a bundle says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always [`FORMAT`].
    pub format: String,
    /// Version of the format, from 1.
    pub version: u32,
    /// Name of the scenario, for people.
    pub name: String,
    /// Path of the scenario in the bundle.
    pub scenario: String,
    /// Each other file by its path: its hash. Not the manifest itself.
    pub files: BTreeMap<String, FileHash>,
    /// What the scenario uses that comes from outside of the program.
    pub needs: Vec<Need>,
    /// Whom data came from and under which terms, by the path of the file that holds it.
    pub licences: BTreeMap<String, String>,
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileHash {
    /// Its size, bytes.
    pub bytes: u64,
    /// Its BLAKE3 hash, 64 hexadecimal digits.
    pub blake3: String,
}

impl FileHash {
    /// The hash of a file.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len() as u64,
            blake3: blake3::hash(bytes).to_hex().to_string(),
        }
    }
}

/// What a module from outside is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    /// A script. It travels in the bundle if it was there when the bundle was made.
    Script,
    /// A compiled plugin, or a module that nobody knew when the bundle was made. It never travels.
    Plugin,
}

impl NeedKind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Plugin => "plugin",
        }
    }
}

/// A module from outside that a scenario uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// What it is.
    pub kind: NeedKind,
    /// Its id.
    pub id: String,
    /// Its version as it says itself; empty if it says none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// BLAKE3 hash of its file, 64 hexadecimal digits; empty if it was not there when the bundle was
    /// made.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}
