//! The libraries that ship with the program: the trees of [`Preset`](crate::Preset), as files.

use crate::clips::ClipFile;
use crate::graph::MoveFile;
use crate::library::Library;
use crate::sweep::SweepKind;
use crate::text::MoveFileError;

/// A library that ships with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedLibrary {
    /// Name of the library: the file name without the extension.
    pub name: &'static str,
    /// Text of the move graph file.
    pub moves: &'static str,
    /// Text of the clip file.
    pub clips: &'static str,
}

macro_rules! shipped {
    ($($name:literal)*) => {
        /// The libraries that ship with the program, by name. They are in the folder `scenarios/moves`.
        pub const SHIPPED: &[ShippedLibrary] = &[$(ShippedLibrary {
            name: $name,
            moves: include_str!(concat!("../../../scenarios/moves/", $name, ".moves.json")),
            clips: include_str!(concat!("../../../scenarios/moves/", $name, ".clips.json")),
        },)*];
    };
}

shipped! {
    "five" "large" "large-angles" "large-without-skids" "seven" "shunting"
}

/// A library, together with the files from which it was made.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The move graph.
    pub graph: MoveFile,
    /// The clips, with the recorded vehicle and ground.
    pub clips: ClipFile,
    /// The moves, prepared for planning.
    pub library: Library,
}

impl ShippedLibrary {
    /// Returns the library with this name; `None` if there is none.
    pub fn named(name: &str) -> Option<&'static Self> {
        SHIPPED.iter().find(|one| one.name == name)
    }

    /// Loads the library.
    ///
    /// # Errors
    /// If a file is damaged. A test ensures that the shipped files are not.
    pub fn load(&self) -> Result<Loaded, MoveFileError> {
        Loaded::from_texts(self.moves, self.clips)
    }
}

impl Loaded {
    /// Loads a library from the texts of its move graph and its clips.
    ///
    /// # Errors
    /// If a text is damaged, or the moves were cut from other clips.
    pub fn from_texts(moves: &str, clips: &str) -> Result<Self, MoveFileError> {
        let graph = MoveFile::from_text(moves)?;
        let clips = ClipFile::from_text(clips)?;
        let library = graph.library(&clips, SweepKind::Exact)?;
        Ok(Self {
            graph,
            clips,
            library,
        })
    }
}
