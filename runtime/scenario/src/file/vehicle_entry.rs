//! Vehicle types of scenarios that are stored in separate files.

use crate::move_library::{MOVES_ENDING, MoveLibrary};
use crate::vehicle_file::{EXTENSION, FileReference, LARGEST, VehicleFile, hash};
use crate::vehicle_type::VehicleType;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path};
use std::sync::Arc;

/// Maximum size of a file in a move library, bytes.
const LARGEST_LIBRARY: u64 = 32 * roadwright_files::MEBIBYTE;

/// A reference to a vehicle file as written in scenarios.
#[derive(Debug, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VehicleReference")]
pub(super) struct WrittenReference {
    /// Path of the file relative to the folder of the scenario, with `/` between folders.
    file: String,
    /// Hash of the text of the file: 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    /// The contents of the file, used if the file is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vehicle: Option<VehicleFile>,
    /// Libraries of recorded moves, for the ground planner `move_tree` with `library` =
    /// `of_vehicle`. The first library whose ground fits is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    move_libraries: Vec<MoveLibrary>,
}

/// A vehicle type in a scenario file: either a complete type or a reference to its file.
#[derive(Debug)]
pub(super) enum VehicleEntry {
    Inline(Box<VehicleType>),
    File(Box<WrittenReference>),
}

impl JsonSchema for VehicleEntry {
    fn schema_name() -> Cow<'static, str> {
        "VehicleEntry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let inline = generator.subschema_for::<VehicleType>();
        let file = generator.subschema_for::<WrittenReference>();
        json_schema!({ "anyOf": [inline, file] })
    }
}

impl<'de> Deserialize<'de> for VehicleEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = VehicleEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a vehicle type, or an object with `file`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VehicleEntry, A::Error> {
        // The first key shows whether the entry is a reference or a complete vehicle type. It is
        // passed on to the type that parses the entry, so that errors have the right position.
        let first: Option<String> = map.next_key()?;
        let names_file = matches!(first.as_deref(), Some("file" | "hash" | "vehicle"));
        let rest = MapAccessDeserializer::new(Again { first, map });
        if names_file {
            WrittenReference::deserialize(rest).map(|file| VehicleEntry::File(Box::new(file)))
        } else {
            VehicleType::deserialize(rest).map(|kind| VehicleEntry::Inline(Box::new(kind)))
        }
    }
}

/// A map access that returns the first key, which has already been read, and then the remaining
/// entries.
struct Again<A> {
    first: Option<String>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Again<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(first) => seed
                .deserialize(StringDeserializer::<A::Error>::new(first))
                .map(Some),
            None => self.map.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Sources of vehicle files.
#[derive(Debug, Clone, Copy)]
pub(super) enum VehicleFiles<'a> {
    /// Files in the folder of a scenario.
    Folder(&'a Path),
    /// A list of paths and texts.
    Given(&'a [(&'a str, &'a str)]),
    /// No files: a scenario that consists only of text has to contain its vehicles.
    None,
}

/// Returns the vehicle type of an entry.
///
/// # Errors
/// If its file cannot be read, is outside the folder or is not a vehicle.
pub(super) fn resolve(entry: VehicleEntry, files: VehicleFiles<'_>) -> Result<VehicleType, String> {
    let mut kind = match entry {
        VehicleEntry::Inline(inline) => *inline,
        VehicleEntry::File(reference) => of_file(*reference, files)?,
    };
    for library in &mut kind.move_libraries {
        *library = with_texts(library, files).map_err(|why| format!("move_libraries: {why}"))?;
    }
    Ok(kind)
}

/// Returns a copy of `library` with the contents of its files loaded. If the move graph does not
/// exist as a file, the contents embedded in `library` are kept.
///
/// # Errors
/// If a file is missing and has no embedded contents, or if a file cannot be read.
fn with_texts(library: &MoveLibrary, files: VehicleFiles<'_>) -> Result<MoveLibrary, String> {
    let file = &library.file;
    check_path(file, MOVES_ENDING, "a move graph")?;
    let missing = |path: &str| format!("file: there is no file \"{path}\"");
    let Some(moves) = files.read(file, LARGEST_LIBRARY)? else {
        return match library.moves.is_empty() {
            true => Err(missing(file)),
            false => Ok(MoveLibrary::new(file, &library.moves, &library.clips)),
        };
    };
    let path = MoveLibrary::clips_path(file, &moves)?;
    let clips = files.read(&path, LARGEST_LIBRARY)?;
    let clips = clips.ok_or_else(|| missing(&path))?;
    Ok(MoveLibrary::new(file, &moves, &clips))
}

/// Resolves a reference to a vehicle file. The file is used if it exists; otherwise, the vehicle
/// embedded in the reference is used.
fn of_file(reference: WrittenReference, files: VehicleFiles<'_>) -> Result<VehicleType, String> {
    check_path(&reference.file, EXTENSION, "a vehicle file")?;
    let found = files.read(&reference.file, LARGEST)?;
    let (vehicle, hash) = match (found, reference.vehicle) {
        (Some(text), _) => {
            let vehicle = VehicleFile::from_text(&text)
                .map_err(|error| at_line(&reference.file, error.line, &error.to_string()))?;
            (vehicle, hash(&text))
        }
        // An embedded vehicle has been parsed like a file. Only the relations between its numbers
        // still have to be checked.
        (None, Some(vehicle)) => {
            vehicle
                .check()
                .map_err(|(key, why)| format!("vehicle.{key}: {why}"))?;
            (vehicle, reference.hash.clone().unwrap_or_default())
        }
        (None, None) => return Err(format!("file: there is no file \"{}\"", reference.file)),
    };
    let mut kind = vehicle.vehicle_type();
    kind.move_libraries = reference.move_libraries;
    kind.file = Some(Arc::new(FileReference {
        path: reference.file,
        was: reference.hash.filter(|kept| *kept != hash),
        hash,
        vehicle,
    }));
    Ok(kind)
}

fn at_line(file: &str, line: usize, error: &str) -> String {
    match line {
        0 => format!("file: {file}: {error}"),
        line => format!("file: {file}:{line}: {error}"),
    }
}

/// Rejects paths outside the folder, and names that do not end with `ending`. `what` describes such
/// files in the error message.
fn check_path(file: &str, ending: &str, what: &str) -> Result<(), String> {
    let stays = Path::new(file)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !stays || file.contains(['\\', ':']) {
        return Err(format!(
            "file: \"{file}\" is outside the folder of the scenario; use a path below that folder"
        ));
    }
    if !file.ends_with(ending) {
        return Err(format!(
            "file: \"{file}\" is not {what}; use a file whose name ends with {ending}"
        ));
    }
    Ok(())
}

impl VehicleFiles<'_> {
    /// Returns the text of a file with at most `largest` bytes; `None` if it does not exist.
    fn read(self, file: &str, largest: u64) -> Result<Option<String>, String> {
        Ok(match self {
            Self::Folder(folder) => read(folder, file, largest)?,
            Self::Given(files) => {
                let mut files = files.iter();
                let given = files.find(|(path, _)| *path == file);
                given.map(|(_, text)| (*text).to_owned())
            }
            Self::None => None,
        })
    }

    /// Whether the folder has a file with this hash.
    fn has(self, file: &str, hash_of_file: &str, largest: u64) -> bool {
        let Self::Folder(folder) = self else {
            return false;
        };
        let text = read(folder, file, largest).ok().flatten();
        text.is_some_and(|text| hash(&text) == hash_of_file)
    }

    /// Whether the folder has the files of a library.
    fn has_library(self, library: &MoveLibrary) -> bool {
        let Ok(clips) = MoveLibrary::clips_path(&library.file, &library.moves) else {
            return false;
        };
        self.has(&library.file, &library.hash, LARGEST_LIBRARY)
            && self.has(&clips, &hash(&library.clips), LARGEST_LIBRARY)
    }
}

/// Returns the text of a file in or below a folder; `None` if it does not exist.
fn read(folder: &Path, file: &str, largest: u64) -> Result<Option<String>, String> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let path = folder.join(file);
    if !path.exists() {
        return Ok(None);
    }
    let failed = |error: std::io::Error| format!("file: {file}: {error}");
    // A link may point outside the folder.
    let inside = path.canonicalize().map_err(failed)?;
    if !inside.starts_with(folder.canonicalize().map_err(failed)?) {
        return Err(format!(
            "file: \"{file}\" leads through a link to a file outside the folder of the scenario"
        ));
    }
    let text = roadwright_files::read_text(&path, largest).map_err(failed)?;
    Ok(Some(text))
}

/// A vehicle type as written to scenarios: a reference to its file, or the complete vehicle if the
/// file is missing.
pub(super) struct WrittenType<'a>(pub(super) &'a VehicleType, pub(super) VehicleFiles<'a>);

impl Serialize for WrittenType<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(kind, files) = self;
        let libraries = kind.move_libraries.iter();
        let libraries = libraries.map(|library| match files.has_library(library) {
            true => library.reference(),
            false => library.clone(),
        });
        let move_libraries: Vec<MoveLibrary> = libraries.collect();
        let Some(file) = &kind.file else {
            if move_libraries.is_empty() {
                return kind.serialize(serializer);
            }
            let written = VehicleType {
                move_libraries,
                ..(*kind).clone()
            };
            return written.serialize(serializer);
        };
        let is_there = files.has(&file.path, &file.hash, LARGEST);
        WrittenReference {
            file: file.path.clone(),
            hash: (!file.hash.is_empty()).then(|| file.hash.clone()),
            vehicle: (!is_there).then(|| file.vehicle.clone()),
            move_libraries,
        }
        .serialize(serializer)
    }
}
