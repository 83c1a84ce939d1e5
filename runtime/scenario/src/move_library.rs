//! Libraries of recorded moves to which vehicle types refer.

use crate::vehicle_file::hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// File name suffix of move graphs.
pub const MOVES_ENDING: &str = ".moves.json";
/// File name suffix of clip files.
pub const CLIPS_ENDING: &str = ".clips.json";
/// Maximum number of libraries of a vehicle type.
const MOST: usize = 100;

/// A library of recorded moves: a move graph and its clips. Its contents are checked when agents use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveLibrary {
    /// Path of the move graph, `NAME.moves.json`, relative to the folder of the scenario, with `/` between
    /// folders. Its clips are in the same folder.
    pub file: String,
    /// Hash of the text of the move graph: 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// Text of the move graph, used if the file is missing.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub moves: Arc<str>,
    /// Text of the clips, used if the file is missing.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub clips: Arc<str>,
}

fn is_empty(text: &Arc<str>) -> bool {
    text.is_empty()
}

impl MoveLibrary {
    /// Creates a library from the path of its move graph and the texts of its files.
    pub fn new(file: &str, moves: &str, clips: &str) -> Self {
        Self {
            file: file.to_owned(),
            hash: hash(moves),
            moves: moves.into(),
            clips: clips.into(),
        }
    }

    /// Returns a copy of the library without the texts of its files.
    pub(crate) fn reference(&self) -> Self {
        Self {
            file: self.file.clone(),
            hash: self.hash.clone(),
            moves: Arc::default(),
            clips: Arc::default(),
        }
    }

    /// Returns the path of the clips of a move graph, relative to the folder of the scenario.
    ///
    /// # Errors
    /// If the text is not JSON with a file name at the key `clips`.
    pub fn clips_path(file: &str, moves: &str) -> Result<String, String> {
        /// The part of a move graph that contains the name of its clips.
        #[derive(Deserialize)]
        struct Names {
            clips: String,
        }
        let names: Names =
            serde_json::from_str(moves).map_err(|error| format!("{file}: {error}"))?;
        let clips = names.clips;
        if clips.contains(['/', '\\', ':']) || !clips.ends_with(CLIPS_ENDING) {
            return Err(format!(
                "{file}: clips: \"{clips}\" is not the name of a file in the same folder that ends with \
                 {CLIPS_ENDING}"
            ));
        }
        Ok(match file.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{clips}"),
            None => clips,
        })
    }
}

/// Checks that a vehicle type does not have too many libraries, and that none is listed twice.
pub(crate) fn check(libraries: &[MoveLibrary]) -> Result<(), String> {
    if libraries.len() > MOST {
        return Err(format!(
            "move_libraries: at most {MOST} libraries are allowed"
        ));
    }
    for (number, one) in libraries.iter().enumerate() {
        if libraries[..number]
            .iter()
            .any(|other| other.file == one.file)
        {
            return Err(format!("move_libraries: \"{}\" is listed twice", one.file));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_are_in_the_folder_of_their_moves() {
        let of = |file: &str, clips: &str| {
            MoveLibrary::clips_path(file, &format!("{{\"clips\": \"{clips}\"}}"))
        };
        assert_eq!(
            of("a.moves.json", "b.clips.json").as_deref(),
            Ok("b.clips.json")
        );
        let below = of("x/y/a.moves.json", "b.clips.json");
        assert_eq!(below.as_deref(), Ok("x/y/b.clips.json"));
        for clips in ["../b.clips.json", "b.json", "c:b.clips.json"] {
            assert!(of("a.moves.json", clips).is_err(), "{clips}");
        }
        assert!(MoveLibrary::clips_path("a.moves.json", "{").is_err());
    }
}
