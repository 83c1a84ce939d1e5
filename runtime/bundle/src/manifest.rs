//! The manifest of a bundle.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Path of the manifest in a bundle.
pub(crate) const MANIFEST: &str = "manifest.json";
/// Value of the key `format` in every manifest.
pub const FORMAT: &str = "roadwright-bundle";
/// Version of the format that is written, which is also the newest version that can be read.
pub const VERSION: u32 = 1;

/// Description of a bundle and its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always [`FORMAT`].
    pub format: String,
    /// Version of the format, from 1.
    pub version: u32,
    /// Display name of the scenario.
    pub name: String,
    /// Path of the scenario in the bundle.
    pub scenario: String,
    /// Hashes of all other files by path.
    pub files: BTreeMap<String, FileHash>,
    /// External modules that the scenario uses.
    pub needs: Vec<Need>,
    /// Origin and licence of the data in a file, by the path of the file.
    pub licences: BTreeMap<String, String>,
}

/// Size and hash of a file in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileHash {
    /// Size, in bytes.
    pub bytes: u64,
    /// BLAKE3 hash, 64 hexadecimal digits.
    pub blake3: String,
}

impl FileHash {
    /// Computes the hash of a file.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len() as u64,
            blake3: blake3::hash(bytes).to_hex().to_string(),
        }
    }
}

/// Kind of an external module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    /// A script. The bundle contains it if it was available when the bundle was created.
    Script,
    /// A compiled plugin, or a module that was unknown when the bundle was created. Neither is
    /// contained in bundles.
    Plugin,
}

impl NeedKind {
    /// Name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Plugin => "plugin",
        }
    }
}

/// An external module that a scenario uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Kind of the module.
    pub kind: NeedKind,
    /// Id of the module.
    pub id: String,
    /// Version that the module declares; empty if it declares none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// BLAKE3 hash of the module's file, 64 hexadecimal digits. Empty if the module was not
    /// available when the bundle was created.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}
