//! A library built from clips, with the data that the panel shows.

use super::clip::TrimmedClips;
use super::drawn::DrawnGraph;
use roadwright_moves::{
    BuildRules, Built, DistanceMatrix, Frame, Loaded, MatrixCell, MoveFileError, RemovedBecause,
    SweepKind, Transition,
};
use roadwright_scenario::{MoveLibrary, ObjectId, Scenario};
use roadwright_simulation::{FixedOutlines, Ground};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of rows and columns that the panel shows of a distance matrix.
const MOST_CELLS: usize = 160;

/// A request to build a library from clips.
#[derive(Debug, Clone)]
pub struct BuildOrder {
    /// Revision of the bench.
    pub revision: u64,
    /// Name of the files, without the extension.
    pub name: String,
    /// The clips from which the library is built.
    pub clips: TrimmedClips,
    /// Rules for building the library.
    pub rules: BuildRules,
    /// The hand-drawn graph; `None` to find transitions between similar frames.
    pub drawn: Option<DrawnGraph>,
    /// Clips recorded in the scenario of the window.
    pub placed: Vec<PlacedClip>,
    /// The scenario of the window.
    pub scenario: Arc<Scenario>,
}

/// A clip at the place where it was driven.
#[derive(Debug, Clone)]
pub struct PlacedClip {
    /// Name of the clip.
    pub name: String,
    /// Key of the vehicle type.
    pub vehicle_type: String,
    /// The kept frames.
    pub frames: Vec<Frame>,
}

/// A clip whose vehicle touches something on the map.
#[derive(Debug, Clone, PartialEq)]
pub struct TouchingClip {
    /// Name of the clip.
    pub clip: String,
    /// Time from the beginning of the clip to the contact, s.
    pub seconds: f64,
    /// The touched obstacle, or the forest of the touched tree.
    pub object: ObjectId,
}

/// A library built from clips.
#[derive(Debug, Clone)]
pub struct BuiltLibrary {
    /// Revision of the bench from which the library was built.
    pub revision: u64,
    /// Name of the files, without the extension.
    pub name: String,
    /// The clips from which the library was built.
    pub clips: TrimmedClips,
    /// Rules by which it was built.
    pub rules: BuildRules,
    /// Whether its graph is hand-drawn.
    pub is_drawn: bool,
    /// Clips whose vehicle touches something on the map.
    pub touching: Vec<TouchingClip>,
    /// The graph with its transitions and omissions.
    pub built: Built,
    /// Distances between all frames.
    pub matrix: DistanceMatrix,
    /// The library, ready for planning, or the reason why it cannot be used.
    pub loaded: Result<Box<Loaded>, MoveFileError>,
}

/// A transition shown in a distance matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linked {
    /// Cell of the transition in the matrix.
    pub cell: MatrixCell,
    /// Whether a move of the library starts at the transition.
    pub is_used: bool,
}

impl BuiltLibrary {
    /// Builds a library. Slow if there are many frames.
    pub fn build(order: BuildOrder) -> Self {
        let touching = touching(&order);
        let BuildOrder {
            revision,
            name,
            clips,
            rules,
            drawn,
            ..
        } = order;
        let file = format!("{name}.clips.json");
        let is_drawn = drawn.is_some();
        let built = match drawn {
            Some(drawn) => Built {
                graph: drawn.file(&clips, &file, rules.threshold),
                transitions: Vec::new(),
                removed: Vec::new(),
            },
            None => roadwright_moves::build(&clips.file, &file, &rules),
        };
        let library = built.graph.library(&clips.file, SweepKind::Exact);
        let loaded = library.map(|library| {
            Box::new(Loaded {
                graph: built.graph.clone(),
                clips: clips.file.clone(),
                library,
            })
        });
        Self {
            revision,
            name,
            is_drawn,
            touching,
            matrix: DistanceMatrix::of(&clips.file, &rules.weights, MOST_CELLS),
            clips,
            rules,
            built,
            loaded,
        }
    }

    /// Returns the transitions as cells of the matrix. Transitions that the library uses come last.
    pub fn linked(&self) -> Vec<Linked> {
        let moves = self.built.graph.moves.iter();
        let begins: BTreeSet<(&str, u32, &str)> = moves
            .map(|one| (one.clip.as_str(), one.first, one.from.as_str()))
            .collect();
        let clips = &self.clips.file.clips;
        let is_used = |one: &Transition| {
            let from = format!("{} @{}", clips[one.from.clip].name, one.from.frame);
            let entered = clips[one.to.clip].name.as_str();
            begins.contains(&(entered, one.to.frame as u32, from.as_str()))
        };
        let mut linked: Vec<Linked> = (self.built.transitions.iter())
            .map(|one| Linked {
                cell: self.matrix.cell(one.from, one.to),
                is_used: is_used(one),
            })
            .collect();
        linked.sort_by_key(|one| (one.is_used, one.cell));
        linked.dedup();
        linked
    }

    /// Returns a summary of the links and omissions, in one sentence.
    pub fn summary(&self) -> String {
        let Built {
            graph,
            transitions,
            removed,
        } = &self.built;
        if self.is_drawn {
            let (states, moves) = (graph.states.len(), graph.moves.len());
            return format!("{states} states, {moves} moves, drawn by hand.");
        }
        format!(
            "{} transitions, {} states, {} moves; {} moves left out.",
            transitions.len(),
            graph.states.len(),
            graph.moves.len(),
            removed.len()
        )
    }

    /// Returns the library's entry in a scenario. `file` is its path relative to the scenario.
    pub fn as_move_library(&self, file: &str) -> MoveLibrary {
        MoveLibrary::new(
            file,
            &self.built.graph.to_text(),
            &self.clips.file.to_text(),
        )
    }
}

/// Returns the clips whose vehicle touches something on the map.
fn touching(order: &BuildOrder) -> Vec<TouchingClip> {
    let BuildOrder {
        clips,
        placed,
        scenario,
        ..
    } = order;
    if placed.is_empty() {
        return Vec::new();
    }
    let ground = Ground::new(scenario);
    // Clips of the same vehicle type can touch the same obstacles.
    let mut of_type: BTreeMap<&str, FixedOutlines> = BTreeMap::new();
    let touched = placed.iter().filter_map(|clip| {
        let kind = scenario.vehicle_types().get(&clip.vehicle_type)?;
        let outlines = of_type.entry(&clip.vehicle_type);
        let outlines = outlines.or_insert_with(|| FixedOutlines::of(&ground, kind));
        let touch = outlines.first_touch(&clip.frames, &clips.file.body)?;
        Some(TouchingClip {
            clip: clip.name.clone(),
            seconds: touch.frame as f64 / clips.file.rate,
            object: touch.object,
        })
    });
    touched.collect()
}

/// Describes the reason for omitting a move.
pub fn words_of(reason: &RemovedBecause) -> String {
    match reason {
        RemovedBecause::Like { clip, first } => {
            format!("nearly the same as {clip} from frame {first}")
        }
        RemovedBecause::NotConnected => {
            "its start or end state is not strongly connected to the others".to_owned()
        }
    }
}
