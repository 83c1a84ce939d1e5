//! The bench of the Moves panel: clips of driving, and the library of moves built from them.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | state and actions for the panel |
//! | `clip.rs` | clips on the bench |
//! | `built.rs` | a library, with its distance matrix |
//! | `drawn.rs` | a hand-drawn graph of moves |
//! | `figure.rs` | states and moves of a library as a diagram |
//! | `using.rs` | the edit that assigns a library to agents |

mod built;
mod clip;
mod drawn;
mod figure;
mod using;

pub use built::{BuildOrder, BuiltLibrary, Linked, PlacedClip, TouchingClip, words_of};
pub use clip::{BenchClip, ClipOrigin, ClipSource, Trim, TrimmedClips, largest_slip, recording};
pub use drawn::{
    DrawnGraph, DrawnHistory, DrawnMove, GraphEdit, MOST_DRAWN, Problems, SeamLimit, Stretch,
    TooLarge,
};
pub use figure::{FigureEdge, FigureState, LibraryFigure};
pub use using::{Execution, UseError, UsedLibrary, use_edit};

use clip::mirrored;
use roadwright_moves::{BuildRules, ClipFile, MoveFileError, Recording, ShippedLibrary};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// Selectable frame rates, Hz. [Adam 2007] plays 25 frames a second.
pub const RATES: [f64; 2] = [25.0, 30.0];
/// Default name of a library.
const NAME: &str = "my-moves";

/// State of the panel's bench.
#[derive(Debug, Clone)]
pub struct MoveBench {
    /// Name of the library and its files, without the extension.
    pub name: String,
    /// Frame rate of new clips, Hz.
    pub rate_hz: f64,
    /// Properties that all clips share; `None` while there are no clips.
    pub source: Option<ClipSource>,
    /// Clips on the bench.
    pub clips: Vec<BenchClip>,
    /// Rules for building a library.
    pub rules: BuildRules,
    /// The last built library.
    pub built: Option<Arc<BuiltLibrary>>,
    /// The hand-drawn graph.
    pub drawn: DrawnHistory,
    /// Whether a library is being built.
    pub is_building: bool,
    /// The library that is shown, and that Use assigns to agents.
    pub shown: ShownLibrary,
    /// Execution mode of agents that use the library.
    pub execution: Execution,
    /// Index of the clip whose ghost is on the map.
    pub hovered: Option<usize>,
    /// Parts of the watched vehicle's move tree that the map shows.
    pub view: MoveView,
    /// Number of changes made to clips and rules.
    pub revision: u64,
}

impl Default for MoveBench {
    fn default() -> Self {
        Self {
            name: NAME.to_owned(),
            rate_hz: RATES[0],
            source: None,
            clips: Vec::new(),
            rules: BuildRules::default(),
            built: None,
            drawn: DrawnHistory::default(),
            is_building: false,
            shown: ShownLibrary::Built,
            execution: Execution::Played,
            hovered: None,
            view: MoveView::default(),
            revision: 0,
        }
    }
}

/// The library that the panel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownLibrary {
    /// The library built from similar frames of the bench's clips.
    Built,
    /// The library with the hand-drawn graph.
    Drawn,
    /// A library that ships with the program, by name.
    Shipped(&'static str),
}

/// Parts of the watched vehicle's move tree that the map shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveView {
    /// Whether the route and the clip are drawn.
    pub route: bool,
    /// Whether the tree of the last plan is drawn.
    pub tree: bool,
    /// Number of drawn branches, in the order in which they were tested; `None` for all.
    pub branches: Option<usize>,
}

impl Default for MoveView {
    fn default() -> Self {
        Self {
            route: true,
            tree: true,
            branches: None,
        }
    }
}

/// An action of the panel.
#[derive(Debug, Clone, PartialEq)]
pub enum MovesAction {
    /// Sets the frame rate of new clips, Hz.
    Rate(f64),
    /// Sets the name of the library.
    Name(String),
    /// Renames the clip with this index.
    Rename(usize, String),
    /// Sets the frames that the clip with this index keeps.
    Trim(usize, Trim),
    /// Chooses whether the mirror image of the clip with this index is used too.
    Mirror(usize, bool),
    /// Removes the clip with this index.
    Remove(usize),
    /// Removes all clips.
    Clear,
    /// Shows the ghost of the clip with this index on the map; `None` hides the ghost.
    Hover(Option<usize>),
    /// Sets the rules for building a library.
    Rules(BuildRules),
    /// Builds a library from the clips.
    Build,
    /// Edits the hand-drawn graph.
    Draw(GraphEdit),
    /// Undoes the last edit of the graph.
    UndoDrawing,
    /// Redoes the edit that was last undone.
    RedoDrawing,
    /// Shows a library.
    Show(ShownLibrary),
    /// Sets the execution mode.
    Execution(Execution),
    /// Assigns the shown library to the selected agents.
    Use,
    /// Sets the parts of the move tree that the map shows.
    View(MoveView),
}

/// Reason why a clip cannot be added to the bench.
#[derive(Debug, Clone, PartialEq)]
pub enum NotAdded {
    /// The clip has fewer than two frames.
    Short,
    /// The clip differs from the clips on the bench in vehicle, ground or frame rate.
    Other {
        /// Description of the properties of the clips on the bench.
        bench: String,
        /// Description of the properties of the new clip.
        clip: String,
    },
}

/// Reason why a name is not valid for a clip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotNamed {
    /// The name is blank.
    Blank,
    /// The name or its mirror image's name is already used by another clip or by the mirror image
    /// of another clip.
    Used(String),
}

impl Display for NotNamed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => write!(f, "A clip needs a name."),
            Self::Used(name) => write!(
                f,
                "Another clip or its mirror image is called \"{name}\". Choose another name."
            ),
        }
    }
}

impl Error for NotNamed {}

impl MoveBench {
    /// Records that clips or rules have changed.
    pub fn touch(&mut self) {
        self.revision += 1;
    }

    /// Adds a recorded clip. Returns its name.
    ///
    /// # Errors
    /// If the clip is too short, or does not fit the clips on the bench.
    pub fn add(
        &mut self,
        source: ClipSource,
        recording: &Recording,
        origin: Option<ClipOrigin>,
    ) -> Result<String, NotAdded> {
        if recording.frames.len() < 2 {
            return Err(NotAdded::Short);
        }
        if let Some(own) = self.source.as_ref().filter(|own| !own.fits(&source)) {
            return Err(NotAdded::Other {
                bench: own.words(),
                clip: source.words(),
            });
        }
        let name = self.free_name();
        self.clips.push(BenchClip {
            origin,
            ..BenchClip::new(&name, &recording.frames)
        });
        self.source.get_or_insert(source);
        self.touch();
        Ok(name)
    }

    /// Returns the first unused name of the form "clip N".
    fn free_name(&self) -> String {
        let is_free = |name: &String| self.clips.iter().all(|clip| clip.name != *name);
        let mut names = (self.clips.len() + 1..).map(|number| format!("clip {number}"));
        names.find(is_free).unwrap_or_default()
    }

    /// Replaces the clips on the bench by those of a file.
    pub fn open(&mut self, name: &str, file: &ClipFile) {
        *self = Self {
            name: name.to_owned(),
            rate_hz: self.rate_hz,
            source: Some(ClipSource::of_file(file)),
            clips: (file.clips.iter())
                .map(|clip| BenchClip::new(&clip.name, &clip.frames))
                .collect(),
            rules: self.rules,
            view: self.view,
            revision: self.revision + 1,
            ..Self::default()
        };
    }

    /// Renames a clip, including in the hand-drawn graph. Surrounding blanks are trimmed from the
    /// name.
    ///
    /// # Errors
    /// If the name is blank or in use, in which case nothing changes.
    pub fn rename(&mut self, number: usize, name: &str) -> Result<(), NotNamed> {
        let name = name.trim();
        if name.is_empty() {
            return Err(NotNamed::Blank);
        }
        let others = self.clips.iter().enumerate();
        for (_, other) in others.filter(|(other, _)| *other != number) {
            let used = [other.name.clone(), mirrored(&other.name)];
            if used.iter().any(|used| *used == name) || other.name == mirrored(name) {
                return Err(NotNamed::Used(name.to_owned()));
            }
        }
        if let Some(clip) = self.clips.get_mut(number) {
            self.drawn.rename_clip(&clip.name, name);
            clip.name = name.to_owned();
            self.touch();
        }
        Ok(())
    }

    /// Edits the hand-drawn graph.
    ///
    /// # Errors
    /// If the graph already has the maximum number of states or moves. It then stays unchanged.
    pub fn draw(&mut self, edit: GraphEdit) -> Result<(), TooLarge> {
        self.drawn.graph().has_room_for(&edit)?;
        if self.drawn.apply(edit) {
            self.touch();
        }
        Ok(())
    }

    /// Returns the clips recorded in the document with this number, at the places where they were
    /// driven.
    pub fn placed(&self, epoch: u64) -> Vec<PlacedClip> {
        let placed = self.clips.iter().filter_map(|clip| {
            let origin = clip.origin.as_ref()?;
            (origin.epoch == epoch).then(|| PlacedClip {
                name: clip.name.clone(),
                vehicle_type: origin.vehicle_type.clone(),
                frames: clip.kept().to_vec(),
            })
        });
        placed.collect()
    }

    /// Returns the clips as a file, trimmed and including mirror images.
    ///
    /// # Errors
    /// If there are no clips, or a name is used twice.
    pub fn file(&self) -> Result<ClipFile, MoveFileError> {
        let Some(source) = &self.source else {
            return Err(MoveFileError::at("clips", "there are no clips"));
        };
        let mut clips = Vec::new();
        for clip in &self.clips {
            let plain = clip.cut(source.rate);
            let mirrored = clip.is_mirrored.then(|| plain.mirrored());
            clips.push(plain);
            clips.extend(mirrored);
        }
        let file = ClipFile {
            rate: source.rate,
            vehicle: source.vehicle.clone(),
            body: source.body,
            ground: source.ground,
            clips,
        };
        file.check()?;
        Ok(file)
    }

    /// Returns the clips as a file, with the number of frames trimmed from the start of each.
    ///
    /// # Errors
    /// If there are no clips, or a name is used twice.
    pub fn trimmed(&self) -> Result<TrimmedClips, MoveFileError> {
        let mut before = BTreeMap::new();
        for clip in &self.clips {
            let count = clip.trim.first as u32;
            before.insert(mirrored(&clip.name), count);
            before.insert(clip.name.clone(), count);
        }
        Ok(TrimmedClips::of(self.file()?, &before))
    }

    /// Whether clips or rules have changed since the library was built.
    pub fn is_stale(&self) -> bool {
        let built = self.built.as_ref();
        built.is_some_and(|built| built.revision != self.revision)
    }

    /// Returns the built library, if it is the shown one.
    pub fn shown_built(&self) -> Option<&Arc<BuiltLibrary>> {
        let built = self.built.as_ref()?;
        let shown = match built.is_drawn {
            true => ShownLibrary::Drawn,
            false => ShownLibrary::Built,
        };
        (shown == self.shown).then_some(built)
    }

    /// Returns the shown library; `None` if none was built.
    pub fn library(&self) -> Option<UsedLibrary> {
        match self.shown {
            ShownLibrary::Built | ShownLibrary::Drawn => {
                let built = self.shown_built()?;
                Some(UsedLibrary::Own(built.clone()))
            }
            ShownLibrary::Shipped(name) => {
                let shipped = ShippedLibrary::named(name)?;
                Some(UsedLibrary::Shipped(shipped))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests;
