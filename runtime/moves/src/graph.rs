//! Move graph files: `NAME.moves.json`.

use crate::clips::ClipFile;
use crate::frame::{Weights, distance};
use crate::library::{Library, Move, StateNumber};
use crate::sweep::SweepKind;
use crate::text::{MoveFileError, check_format, check_name, read};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Value of the key `format`.
const FORMAT: &str = "roadwright-moves";
/// Maximum number of states, and maximum number of moves.
const MOST: usize = 60_000;

/// A move graph: states, and the moves between them.
#[derive(Debug, Clone, PartialEq)]
pub struct MoveFile {
    /// Name of the clip file, which is in the same folder.
    pub clips: String,
    /// Hash of the clip file from which the moves were cut.
    pub clips_hash: String,
    /// Maximum distance between the frames at a seam between moves; `None` if speeds may jump.
    pub threshold: Option<f64>,
    /// Initial state of vehicles.
    pub start: String,
    /// Names of the states.
    pub states: Vec<String>,
    /// Moves between the states.
    pub moves: Vec<MoveEntry>,
}

/// A stretch of a clip from one state to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveEntry {
    /// Name of the clip.
    pub clip: String,
    /// First frame of the move in the clip.
    pub first: u32,
    /// Last frame of the move in the clip. It is also the first frame of the next move.
    pub last: u32,
    /// State in which the move begins.
    pub from: String,
    /// State in which the move ends.
    pub to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    clips: String,
    clips_hash: String,
    #[serde(default)]
    threshold: Option<f64>,
    start: String,
    states: Vec<String>,
    moves: Vec<MoveEntry>,
}

/// Two consecutive moves whose motions do not match at the state between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Seam {
    /// The move that ends at the state.
    pub before: String,
    /// The move that begins at the state.
    pub after: String,
    /// Distance between the frames of both moves at the state.
    pub distance: f64,
}

impl MoveFile {
    /// Reads a move graph.
    ///
    /// # Errors
    /// If the text is not a valid move graph. The error names the key and the reason.
    pub fn from_text(text: &str) -> Result<Self, MoveFileError> {
        let document: Document = read(text)?;
        check_format(&document.format, document.version, FORMAT)?;
        let file = Self {
            clips: document.clips,
            clips_hash: document.clips_hash,
            threshold: document.threshold,
            start: document.start,
            states: document.states,
            moves: document.moves,
        };
        file.check()?;
        Ok(file)
    }

    /// Checks everything that can be checked without the clips.
    ///
    /// # Errors
    /// If there is a problem. The error names the key of the first one.
    pub fn check(&self) -> Result<(), MoveFileError> {
        check_name("clips", &self.clips)?;
        if self.clips.contains(['/', '\\']) {
            let reason = "expected a file name without a folder; the clip file must be in the same folder as this file";
            return Err(MoveFileError::at("clips", reason));
        }
        if let Some(threshold) = self.threshold
            && !(threshold >= 0.0 && threshold.is_finite())
        {
            let reason = format!("{threshold} is not a finite, non-negative number");
            return Err(MoveFileError::at("threshold", reason));
        }
        if self.states.len().max(self.moves.len()) > MOST {
            let reason = format!("there are more than {MOST} states or moves");
            return Err(MoveFileError::at("moves", reason));
        }
        let mut known = BTreeSet::new();
        for (number, state) in self.states.iter().enumerate() {
            let key = format!("states[{number}]");
            check_name(&key, state)?;
            if !known.insert(state) {
                return Err(MoveFileError::at(
                    key,
                    format!("duplicate state \"{state}\""),
                ));
            }
        }
        if !known.contains(&self.start) {
            let reason = format!("unknown state \"{}\"", self.start);
            return Err(MoveFileError::at("start", reason));
        }
        for (number, one) in self.moves.iter().enumerate() {
            for (key, state) in [("from", &one.from), ("to", &one.to)] {
                if !known.contains(state) {
                    let reason = format!("unknown state \"{state}\"");
                    return Err(MoveFileError::at(format!("moves[{number}].{key}"), reason));
                }
            }
            if one.first >= one.last {
                let reason = format!(
                    "the last frame, {}, is not after the first, {}",
                    one.last, one.first
                );
                return Err(MoveFileError::at(format!("moves[{number}].last"), reason));
            }
        }
        Ok(())
    }

    /// Returns the graph as text, with one line per move.
    pub fn to_text(&self) -> String {
        let text_of = |value: &str| serde_json::to_string(value).unwrap_or_default();
        let mut text = format!(
            "{{\n  \"format\": \"{FORMAT}\",\n  \"version\": 1,\n  \"clips\": {},\n  \"clips_hash\": {},\n",
            text_of(&self.clips),
            text_of(&self.clips_hash),
        );
        if let Some(threshold) = self.threshold {
            let _ = writeln!(text, "  \"threshold\": {threshold},");
        }
        let states: Vec<String> = self.states.iter().map(|state| text_of(state)).collect();
        let _ = write!(
            text,
            "  \"start\": {},\n  \"states\": [{}],\n  \"moves\": [",
            text_of(&self.start),
            states.join(", ")
        );
        for (number, one) in self.moves.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(
                text,
                "{comma}\n    {}",
                serde_json::to_string(one).unwrap_or_default()
            );
        }
        text.push_str("\n  ]\n}\n");
        text
    }

    /// Hash of the graph's text, which includes the hash of its clips.
    pub fn hash(&self) -> String {
        roadwright_scenario::vehicle_file::hash(&self.to_text())
    }

    /// Index of the initial state.
    pub fn start_state(&self) -> StateNumber {
        let number = self.states.iter().position(|state| *state == self.start);
        StateNumber(number.unwrap_or(0) as u16)
    }

    /// Creates a library from the moves and their clips.
    ///
    /// # Errors
    /// If the moves were cut from other clips, a move names a clip or frame that does not exist, or no move
    /// leaves a state.
    pub fn library(&self, clips: &ClipFile, kind: SweepKind) -> Result<Library, MoveFileError> {
        self.check()?;
        let hash = clips.hash();
        if hash != self.clips_hash {
            let reason = format!(
                "the hash of the clips is {hash}, but the moves were cut from clips with the hash {}",
                self.clips_hash
            );
            return Err(MoveFileError::at("clips_hash", reason));
        }
        let states: BTreeMap<&str, StateNumber> = (0u16..)
            .zip(&self.states)
            .map(|(number, state)| (state.as_str(), StateNumber(number)))
            .collect();
        let mut moves = Vec::new();
        for (number, one) in self.moves.iter().enumerate() {
            let Some(clip) = clips.clip(&one.clip) else {
                let reason = format!("{} has no clip \"{}\"", self.clips, one.clip);
                return Err(MoveFileError::at(format!("moves[{number}].clip"), reason));
            };
            let Some(frames) = clip.frames.get(one.first as usize..=one.last as usize) else {
                let reason = format!("clip \"{}\" has {} frames", clip.name, clip.frames.len());
                return Err(MoveFileError::at(format!("moves[{number}].last"), reason));
            };
            moves.push(Move {
                name: self.name_of(one),
                from: states[one.from.as_str()],
                to: states[one.to.as_str()],
                frames: frames.to_vec(),
            });
        }
        Library::new(self.states.clone(), moves, clips.rate, clips.body, kind)
            .map_err(|error| MoveFileError::at("moves", error.to_string()))
    }

    /// Name of a move for users: the name of its clip. The frames are added if several moves are cut from the clip.
    fn name_of(&self, one: &MoveEntry) -> String {
        let same = self.moves.iter().filter(|other| other.clip == one.clip);
        if same.count() == 1 {
            return one.clip.clone();
        }
        format!("{} {}-{}", one.clip, one.first, one.last)
    }

    /// States that no move leaves, in the order of the file.
    pub fn dead_ends(&self) -> Vec<&str> {
        let left: BTreeSet<&str> = self.moves.iter().map(|one| one.from.as_str()).collect();
        let states = self.states.iter().map(String::as_str);
        states.filter(|state| !left.contains(state)).collect()
    }

    /// Returns the states from which no sequence of moves leads back to the initial state, although
    /// moves leave them.
    pub fn states_without_return(&self) -> Vec<&str> {
        let mut entered: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for one in &self.moves {
            entered.entry(&one.to).or_default().push(&one.from);
        }
        let mut returns = BTreeSet::from([self.start.as_str()]);
        let mut open = vec![self.start.as_str()];
        while let Some(state) = open.pop() {
            for &before in entered.get(state).into_iter().flatten() {
                if returns.insert(before) {
                    open.push(before);
                }
            }
        }
        let ends = self.dead_ends();
        let states = self.states.iter().map(String::as_str);
        states
            .filter(|state| !returns.contains(state) && !ends.contains(state))
            .collect()
    }

    /// Seams where the distance between frames exceeds the threshold.
    pub fn bad_seams(&self, library: &Library) -> Vec<Seam> {
        let Some(threshold) = self.threshold else {
            return Vec::new();
        };
        let mut bad = Vec::new();
        for before in library.moves() {
            for number in library.moves_from(before.to) {
                let after = library.get(number);
                let end = before.frames[before.frames.len() - 1];
                let distance = distance(&end, &after.frames[0], &Weights::default());
                if distance > threshold {
                    bad.push(Seam {
                        before: before.name.clone(),
                        after: after.name.clone(),
                        distance,
                    });
                }
            }
        }
        bad
    }
}
