//! A library built from clips, with everything that the panel shows of it.

use roadwright_moves::{
    BuildRules, Built, ClipFile, DistanceMatrix, Loaded, MatrixCell, MoveFileError, RemovedBecause,
    SweepKind, Transition,
};
use roadwright_scenario::MoveLibrary;
use std::collections::BTreeSet;

/// Maximum number of cells of a distance matrix along each axis.
const MOST_CELLS: usize = 160;

/// A library that was built from clips.
#[derive(Debug, Clone)]
pub struct BuiltLibrary {
    /// Revision of the bench from which the library was built.
    pub revision: u64,
    /// Name of the files, without the extension.
    pub name: String,
    /// The clips from which the library was built.
    pub clips: ClipFile,
    /// Rules by which the library was built.
    pub rules: BuildRules,
    /// The graph, its transitions, and what was left out.
    pub built: Built,
    /// Distances between all frames.
    pub matrix: DistanceMatrix,
    /// The library, ready for planning, or the reason why it cannot be used.
    pub loaded: Result<Box<Loaded>, MoveFileError>,
}

/// A transition in a distance matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linked {
    /// Cell of the transition in the matrix.
    pub cell: MatrixCell,
    /// Whether a move of the library begins at the transition.
    pub is_used: bool,
}

impl BuiltLibrary {
    /// Builds a library. This takes a long time for many frames.
    pub fn build(revision: u64, name: &str, clips: ClipFile, rules: BuildRules) -> Self {
        let file = format!("{name}.clips.json");
        let built = roadwright_moves::build(&clips, &file, &rules);
        let library = built.graph.library(&clips, SweepKind::Exact);
        let loaded = library.map(|library| {
            Box::new(Loaded {
                graph: built.graph.clone(),
                clips: clips.clone(),
                library,
            })
        });
        Self {
            revision,
            name: name.to_owned(),
            matrix: DistanceMatrix::of(&clips, &rules.weights, MOST_CELLS),
            clips,
            rules,
            built,
            loaded,
        }
    }

    /// Transitions as cells of the matrix. Those that the library uses are last.
    pub fn linked(&self) -> Vec<Linked> {
        let moves = self.built.graph.moves.iter();
        let begins: BTreeSet<(&str, u32, &str)> = moves
            .map(|one| (one.clip.as_str(), one.first, one.from.as_str()))
            .collect();
        let clips = &self.clips.clips;
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

    /// Summary of what was linked and left out, in one sentence.
    pub fn summary(&self) -> String {
        let Built {
            graph,
            transitions,
            removed,
        } = &self.built;
        format!(
            "{} transitions, {} states, {} moves; {} moves left out.",
            transitions.len(),
            graph.states.len(),
            graph.moves.len(),
            removed.len()
        )
    }

    /// The library as a scenario names it. `file` is its path relative to the scenario.
    pub fn as_move_library(&self, file: &str) -> MoveLibrary {
        MoveLibrary::new(file, &self.built.graph.to_text(), &self.clips.to_text())
    }
}

/// Reason for leaving out a move, in words.
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
