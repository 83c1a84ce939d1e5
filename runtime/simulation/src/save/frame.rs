//! Container for the parts of a save, and its conversion to and from bytes.

use super::parts::Part;
use crate::records::SaveError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Format name at the start of every save.
const FORMAT: &str = "roadwright.world";
/// Version of the container format.
const VERSION: u16 = 1;

/// A stored part: its version and its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stored {
    version: u16,
    bytes: Vec<u8>,
}

/// A world at a step boundary, in saved form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedWorld {
    format: String,
    version: u16,
    /// Version of the program that wrote the save.
    pub(super) program: String,
    /// Hash of the ground to which the save belongs.
    pub(super) ground: u64,
    /// Modules whose state is not in the save.
    inexact: Vec<String>,
    parts: BTreeMap<String, Stored>,
}

/// Checksum of the bytes of a save.
fn checksum(bytes: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(bytes)
}

impl SavedWorld {
    /// Creates a save without parts.
    pub(super) fn new(ground: u64, inexact: Vec<String>) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").into(),
            ground,
            inexact,
            parts: BTreeMap::new(),
        }
    }

    /// Returns the contents of a file: the save, followed by its checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = postcard::to_allocvec(self).expect("plain state can be written");
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Reads a save from the bytes of a file. The parts are only decoded when the world is restored.
    ///
    /// # Errors
    /// If the bytes are not a save, or if the container has a newer version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SaveError> {
        let damaged = |what: &str| SaveError::NoSave(what.into());
        let (bytes, sum) = bytes.split_last_chunk().ok_or(damaged("it is too short"))?;
        // The checksum comes first. Bytes that pass it were written by some version of the program.
        if checksum(bytes) != u64::from_le_bytes(*sum) {
            return Err(damaged("its checksum differs"));
        }
        let saved: Self =
            postcard::from_bytes(bytes).map_err(|_| damaged("its container cannot be read"))?;
        if saved.format != FORMAT {
            return Err(damaged("its format differs"));
        }
        if saved.version > VERSION {
            return Err(SaveError::Newer {
                part: "frame".into(),
                version: saved.version,
            });
        }
        Ok(saved)
    }

    /// Memory used, in bytes.
    pub fn bytes(&self) -> usize {
        self.parts.values().map(|part| part.bytes.len()).sum()
    }

    /// Modules that start fresh when the world is restored, because they cannot save their state.
    pub fn inexact(&self) -> &[String] {
        &self.inexact
    }

    /// Checks that this program can read the versions of all parts.
    pub(super) fn check_versions(&self) -> Result<(), SaveError> {
        for (name, stored) in &self.parts {
            let (part, version) = (name.clone(), stored.version);
            let known = Part::named(name).map(|known| version.cmp(&known.version()));
            match known {
                Some(Ordering::Equal) => {}
                // A part of an older version is not read, because its numbers may have another
                // meaning.
                Some(Ordering::Less) => return Err(SaveError::Older { part, version }),
                // An unknown part also belongs to the state of the world. Without it, the world
                // would continue differently.
                Some(Ordering::Greater) | None => return Err(SaveError::Newer { part, version }),
            }
        }
        Ok(())
    }

    pub(super) fn put(&mut self, part: Part, contents: &impl Serialize) {
        let bytes = postcard::to_allocvec(contents).expect("plain state can be written");
        let stored = Stored {
            version: part.version(),
            bytes,
        };
        self.parts.insert(part.name().into(), stored);
    }

    /// Whether the save contains a part.
    pub(super) fn has(&self, part: Part) -> bool {
        self.parts.contains_key(part.name())
    }

    /// Reads a part. Its version must have been checked.
    pub(super) fn get<T: DeserializeOwned>(&self, part: Part) -> Result<T, SaveError> {
        let missing = || SaveError::Damaged(format!("{} is missing", part.name()));
        self.get_if_any(part)?.ok_or_else(missing)
    }

    /// Reads a part that older saves may lack.
    pub(super) fn get_if_any<T: DeserializeOwned>(
        &self,
        part: Part,
    ) -> Result<Option<T>, SaveError> {
        let Some(stored) = self.parts.get(part.name()) else {
            return Ok(None);
        };
        let read = postcard::from_bytes(&stored.bytes);
        // The decoder's message is about bytes. Users are helped more by the name of the part.
        read.map(Some)
            .map_err(|_| SaveError::Damaged(part.name().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::save::parts;
    use crate::{RunOptions, World, builtin_modules, testing};
    use roadwright_scenario::{Scenario, file};
    use std::path::PathBuf;

    #[test]
    fn a_world_is_saved_in_the_parts_of_the_table() {
        let mut scenario = Scenario::new("a street");
        testing::draw_street(
            &mut scenario,
            (0.0, 0.0),
            (100.0, 0.0),
            &testing::street(1, 1),
        );
        let world = World::new(&scenario, &builtin_modules(), &RunOptions::default()).unwrap();
        let saved = world.save().unwrap();
        let written = saved
            .parts
            .iter()
            .map(|(name, part)| (name.as_str(), part.version));
        let table = parts::ALL.iter().map(|part| (part.name(), part.version()));
        assert_eq!(written.collect::<BTreeMap<_, _>>(), table.collect());
    }

    #[test]
    fn a_save_of_before_there_were_branches_is_read() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let scenario = file::load(&folder.join("signal-corridor.scenario.json")).unwrap();
        let (registry, options) = (builtin_modules(), RunOptions::default());
        let world = World::new(&scenario, &registry, &options).unwrap();
        let mut saved = world.save().unwrap();
        for part in [
            parts::STACKS,
            parts::OVERRIDES,
            parts::DECIDERS,
            parts::FRESH,
        ] {
            assert!(saved.parts.remove(part.name()).is_some());
        }
        let ground = world.ground().clone();
        let restore = |saved: &SavedWorld| {
            World::restore(ground.clone(), &scenario, &registry, &options, saved)
        };
        // At that time, the ground included the modules that control signals.
        assert_ne!(ground.hash(), ground.hash_with_deciders());
        assert_eq!(restore(&saved).err(), Some(SaveError::OtherGround));
        saved.ground = ground.hash_with_deciders();
        let (again, notes) = restore(&saved).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(again.state_hash(), world.state_hash());
    }

    /// Creates a save with the named part in the given version, and another part that is empty.
    fn with_version(name: &str, version: u16) -> SavedWorld {
        let mut saved = SavedWorld::new(0, Vec::new());
        saved.put(parts::CLAIMS, &1u8);
        let stored = Stored {
            version,
            bytes: Vec::new(),
        };
        saved.parts.insert(name.into(), stored);
        saved
    }

    #[test]
    fn a_part_that_nobody_knows_was_written_by_a_newer_version() {
        let error = with_version("late_answers", 1)
            .check_versions()
            .err()
            .unwrap();
        let (part, version) = ("late_answers".into(), 1);
        assert_eq!(error, SaveError::Newer { part, version });
    }

    #[test]
    fn a_part_can_be_missing_only_where_that_is_said() {
        let saved = with_version("hands", parts::HANDS.version());
        assert_eq!(saved.check_versions(), Ok(()));
        assert_eq!(saved.get_if_any::<u8>(parts::PEOPLE), Ok(None));
        let error = saved.get::<u8>(parts::PEOPLE).err().unwrap();
        assert!(error.to_string().contains("people is missing"));
        // A part that exists but is empty is damaged.
        assert!(saved.get_if_any::<u8>(parts::HANDS).is_err());
    }
}
