//! A hand-drawn graph of moves: states, and clips that lead from one state to another.

use super::built::BuiltLibrary;
use super::clip::{TrimmedClips, mirrored};
use super::figure::LibraryFigure;
use roadwright_moves::{
    ClipFile, Frame, Move, MoveEntry, MoveFile, StateNumber, Weights, distance,
};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// Maximum number of states, and of moves, in a hand-drawn graph.
pub const MOST_DRAWN: usize = 300;
/// Maximum number of undo steps.
const MOST_STEPS: usize = 200;
/// Maximum number of listed problems.
const MOST_PROBLEMS: usize = 8;

/// A hand-drawn graph of moves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DrawnGraph {
    /// Names of the states.
    pub states: Vec<String>,
    /// Index of the state in which vehicles start.
    pub start: usize,
    /// The moves between the states.
    pub moves: Vec<DrawnMove>,
    /// Limit on the motion jump between consecutive moves.
    pub seams: SeamLimit,
    /// Whether the graph was read from a file that was made for other clips than those in the clip
    /// file beside it.
    pub is_of_other_clips: bool,
}

/// Limit on the motion jump between consecutive moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum SeamLimit {
    /// The threshold in the rules of the bench.
    #[default]
    OfRules,
    /// The given distance.
    AtMost(f64),
    /// No limit: the speed may jump.
    MayJump,
}

/// Error for a graph that is too large to be drawn by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// Number of states.
    pub states: usize,
    /// Number of moves.
    pub moves: usize,
}

/// Problems of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    /// The first problems, as text.
    pub listed: Vec<String>,
    /// Number of further problems.
    pub more: usize,
}

/// A move of a hand-drawn graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnMove {
    /// Name of the clip. A mirror image has its own name.
    pub clip: String,
    /// Frames of the move, numbered as in the untrimmed clip; `None` for the whole trimmed clip.
    pub stretch: Option<Stretch>,
    /// Index of the state in which the move begins.
    pub from: usize,
    /// Index of the state in which the move ends.
    pub to: usize,
}

/// A part of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// First frame of the part.
    pub first: u32,
    /// Last frame of the part.
    pub last: u32,
}

/// An editing step.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphEdit {
    /// Adds a state with an unused name.
    AddState,
    /// Renames a state.
    RenameState(usize, String),
    /// Removes a state and all moves that begin or end in it.
    RemoveState(usize),
    /// Sets the state in which vehicles start.
    StartAt(usize),
    /// Adds a move from one state to another.
    AddMove(DrawnMove),
    /// Removes a move.
    RemoveMove(usize),
    /// Sets the limit on the motion jump between consecutive moves.
    LimitSeams(SeamLimit),
    /// Replaces the graph by a built or loaded one.
    Replace(DrawnGraph),
}

/// A hand-drawn graph with its undo history.
#[derive(Debug, Clone, Default)]
pub struct DrawnHistory {
    graph: DrawnGraph,
    past: Vec<DrawnGraph>,
    future: Vec<DrawnGraph>,
    /// Index of the state that the last step renamed. All keystrokes of a new name form a single
    /// step.
    renamed: Option<usize>,
}

/// Two moves whose motions differ at the state between them.
struct Seam {
    /// Index of the move that ends at the state.
    before: usize,
    /// Index of the move that begins at the state.
    after: usize,
    /// Distance between the frames.
    distance: f64,
}

impl Display for TooLarge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { states, moves } = self;
        write!(
            f,
            "A graph with {states} states and {moves} moves is too large to draw by hand; at most \
             {MOST_DRAWN} states and {MOST_DRAWN} moves are possible."
        )
    }
}

impl Error for TooLarge {}

impl SeamLimit {
    /// Returns the seam limit of a file, which may have a threshold.
    fn of_file(threshold: Option<f64>) -> Self {
        threshold.map_or(Self::MayJump, Self::AtMost)
    }

    /// Returns the largest allowed distance at a seam, given the threshold of the rules; `None` if
    /// speeds may jump.
    pub fn threshold(self, of_rules: f64) -> Option<f64> {
        match self {
            Self::OfRules => Some(of_rules),
            Self::AtMost(threshold) => Some(threshold),
            Self::MayJump => None,
        }
    }
}

impl Problems {
    fn add(&mut self, words: impl FnOnce() -> String) {
        match self.listed.len() < MOST_PROBLEMS {
            true => self.listed.push(words()),
            false => self.more += 1,
        }
    }
}

impl DrawnHistory {
    /// Returns the graph in its current state.
    pub fn graph(&self) -> &DrawnGraph {
        &self.graph
    }

    /// Whether there is a step to undo.
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether there is a step to redo.
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// Applies a step. Returns whether it changes the graph.
    pub fn apply(&mut self, edit: GraphEdit) -> bool {
        let renamed = match &edit {
            GraphEdit::RenameState(state, _) => Some(*state),
            _ => None,
        };
        let mut graph = self.graph.clone();
        graph.apply(edit);
        if graph == self.graph {
            return false;
        }
        let goes_on = renamed.is_some() && renamed == self.renamed;
        let before = std::mem::replace(&mut self.graph, graph);
        if !goes_on {
            self.past.push(before);
            if self.past.len() > MOST_STEPS {
                self.past.remove(0);
            }
        }
        self.future.clear();
        self.renamed = renamed;
        true
    }

    /// Undoes the last step. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.past.pop() else {
            return false;
        };
        self.future.push(std::mem::replace(&mut self.graph, before));
        self.renamed = None;
        true
    }

    /// Redoes the step that was last undone. Returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let Some(after) = self.future.pop() else {
            return false;
        };
        self.past.push(std::mem::replace(&mut self.graph, after));
        self.renamed = None;
        true
    }

    /// Renames a clip and its mirror image in all steps.
    pub(super) fn rename_clip(&mut self, before: &str, after: &str) {
        let (image, new_image) = (mirrored(before), mirrored(after));
        let graphs = self.past.iter_mut().chain(&mut self.future);
        for graph in graphs.chain([&mut self.graph]) {
            for one in &mut graph.moves {
                if one.clip == before {
                    one.clip = after.to_owned();
                } else if one.clip == image {
                    one.clip.clone_from(&new_image);
                }
            }
        }
    }
}

impl DrawnGraph {
    /// Converts a loaded file and the clips beside it to a hand-drawn graph.
    ///
    /// # Errors
    /// If it has too many states or moves.
    pub fn of_file(file: &MoveFile, clips: &ClipFile) -> Result<Self, TooLarge> {
        let graph = Self::of(file, |_| 0)?;
        Ok(Self {
            is_of_other_clips: file.clips_hash != clips.hash(),
            ..graph
        })
    }

    /// Converts the graph of a built library to a hand-drawn graph.
    ///
    /// # Errors
    /// If it has too many states or moves.
    pub fn of_built(built: &BuiltLibrary) -> Result<Self, TooLarge> {
        let before = |clip: &str| built.clips.kept(clip).map_or(0, |kept| kept.before);
        let graph = Self::of(&built.built.graph, before)?;
        let seams = match graph.seams {
            // The rules of the bench by which it was built still apply.
            SeamLimit::AtMost(_) => SeamLimit::OfRules,
            other => other,
        };
        Ok(Self { seams, ..graph })
    }

    /// Converts the graph of a file to a hand-drawn graph. `before` returns the number of frames
    /// trimmed from the start of a clip.
    fn of(file: &MoveFile, before: impl Fn(&str) -> u32) -> Result<Self, TooLarge> {
        let (states, moves) = (file.states.len(), file.moves.len());
        if states.max(moves) > MOST_DRAWN {
            return Err(TooLarge { states, moves });
        }
        let numbers: BTreeMap<&str, usize> =
            (file.states.iter().map(String::as_str)).zip(0..).collect();
        let index = |name: &str| numbers.get(name).copied().unwrap_or_default();
        let drawn = |one: &MoveEntry| {
            let before = before(&one.clip);
            DrawnMove {
                clip: one.clip.clone(),
                stretch: Some(Stretch {
                    first: one.first.saturating_add(before),
                    last: one.last.saturating_add(before),
                }),
                from: index(&one.from),
                to: index(&one.to),
            }
        };
        Ok(Self {
            states: file.states.clone(),
            start: index(&file.start),
            moves: file.moves.iter().map(drawn).collect(),
            seams: SeamLimit::of_file(file.threshold),
            is_of_other_clips: false,
        })
    }

    /// Checks that a step does not make the graph too large.
    ///
    /// # Errors
    /// If it would.
    pub(super) fn has_room_for(&self, edit: &GraphEdit) -> Result<(), TooLarge> {
        let (mut states, mut moves) = (self.states.len(), self.moves.len());
        match edit {
            GraphEdit::AddState => states += 1,
            GraphEdit::AddMove(_) => moves += 1,
            GraphEdit::Replace(graph) => (states, moves) = (graph.states.len(), graph.moves.len()),
            _ => return Ok(()),
        }
        match states.max(moves) > MOST_DRAWN {
            true => Err(TooLarge { states, moves }),
            false => Ok(()),
        }
    }

    fn apply(&mut self, edit: GraphEdit) {
        let count = self.states.len();
        match edit {
            GraphEdit::AddState => self.states.push(self.free_name()),
            GraphEdit::RenameState(state, name) => {
                if let Some(known) = self.states.get_mut(state) {
                    *known = name;
                }
            }
            GraphEdit::RemoveState(state) if state < count => {
                self.states.remove(state);
                (self.moves).retain(|one| one.from != state && one.to != state);
                let lower = |index: &mut usize| {
                    if *index > state {
                        *index -= 1;
                    }
                };
                for one in &mut self.moves {
                    lower(&mut one.from);
                    lower(&mut one.to);
                }
                lower(&mut self.start);
                self.start = self.start.min(count.saturating_sub(2));
            }
            GraphEdit::StartAt(state) if state < count => self.start = state,
            GraphEdit::AddMove(one) if one.from < count && one.to < count => {
                if !self.moves.contains(&one) {
                    self.moves.push(one);
                }
            }
            GraphEdit::RemoveMove(number) if number < self.moves.len() => {
                self.moves.remove(number);
            }
            GraphEdit::LimitSeams(limit) => self.seams = limit,
            GraphEdit::Replace(graph) => *self = graph,
            // The object no longer exists.
            GraphEdit::RemoveState(_)
            | GraphEdit::StartAt(_)
            | GraphEdit::AddMove(_)
            | GraphEdit::RemoveMove(_) => {}
        }
    }

    /// Returns the first unused name of the form "state N".
    fn free_name(&self) -> String {
        let mut names = (self.states.len() + 1..).map(|number| format!("state {number}"));
        let found = names.find(|name| !self.states.contains(name));
        found.unwrap_or_default()
    }

    /// Returns the graph as a file. `file` is the name of the clip file in the same folder, and
    /// `threshold` is that of the rules. The caller must first ensure that no move uses trimmed
    /// frames.
    pub fn file(&self, clips: &TrimmedClips, file: &str, threshold: f64) -> MoveFile {
        MoveFile {
            clips: file.to_owned(),
            clips_hash: clips.file.hash(),
            threshold: self.seams.threshold(threshold),
            ..self.without_clips(clips)
        }
    }

    /// Converts states and moves to a file without the name and hash of its clips.
    fn without_clips(&self, clips: &TrimmedClips) -> MoveFile {
        let name = |state: usize| self.states.get(state).cloned().unwrap_or_default();
        let moves = self.moves.iter().map(|one| {
            let Stretch { first, last } = one.stretch_in(clips);
            MoveEntry {
                clip: one.clip.clone(),
                first,
                last,
                from: name(one.from),
                to: name(one.to),
            }
        });
        MoveFile {
            clips: String::new(),
            clips_hash: String::new(),
            threshold: None,
            start: name(self.start),
            states: self.states.clone(),
            moves: moves.collect(),
        }
    }

    /// Arranges the graph as a diagram. Moves of missing clips or frames are drawn without speeds.
    pub fn figure(&self, clips: &TrimmedClips) -> LibraryFigure {
        let moves = self.moves.iter().map(|one| Move {
            name: one.words(),
            from: StateNumber(one.from as u16),
            to: StateNumber(one.to as u16),
            frames: one.frames(clips).to_vec(),
        });
        LibraryFigure::of_moves(&self.states, &moves.collect::<Vec<_>>())
    }

    /// Calls `see` with each pair of consecutive moves whose motions differ by more than
    /// `threshold`.
    fn seams(&self, clips: &TrimmedClips, threshold: f64, mut see: impl FnMut(Seam)) {
        let frames: Vec<_> = self.moves.iter().map(|one| one.frames(clips)).collect();
        let mut leaving = vec![Vec::new(); self.states.len()];
        for (number, one) in self.moves.iter().enumerate() {
            if let Some(leaving) = leaving.get_mut(one.from) {
                leaving.push(number);
            }
        }
        for (before, one) in self.moves.iter().enumerate() {
            let Some(end) = frames[before].last() else {
                continue;
            };
            for &after in leaving.get(one.to).into_iter().flatten() {
                let Some(begin) = frames[after].first() else {
                    continue;
                };
                let distance = distance(end, begin, &Weights::default());
                if distance > threshold {
                    see(Seam {
                        before,
                        after,
                        distance,
                    });
                }
            }
        }
    }

    /// Describes the first move that uses trimmed frames; `None` if there is none.
    pub fn cut_off(&self, clips: &TrimmedClips) -> Option<String> {
        self.moves.iter().find_map(|one| one.cut_off(clips))
    }

    /// Finds the problems of the graph with the given clips. `threshold` is that of the rules.
    pub fn problems(&self, clips: &TrimmedClips, threshold: f64) -> Problems {
        let mut problems = Problems::default();
        if self.is_of_other_clips {
            problems.add(|| {
                "The clips have changed since the moves in the file were cut from them. Check the \
                 moves before you build and save the library."
                    .into()
            });
        }
        let mut known = BTreeSet::new();
        for state in &self.states {
            if !known.insert(state) {
                problems.add(|| format!("Two states are called \"{state}\"."));
            }
        }
        for one in &self.moves {
            if clips.kept(&one.clip).is_none() {
                problems.add(|| format!("There is no clip \"{}\".", one.clip));
            }
            if let Some(words) = one.cut_off(clips) {
                problems.add(|| words);
            }
        }
        let file = self.without_clips(clips);
        for state in file.dead_ends() {
            problems.add(|| format!("No move leaves \"{state}\"."));
        }
        for state in file.states_without_return() {
            problems.add(|| format!("No moves lead from \"{state}\" back to \"{}\".", file.start));
        }
        if let Some(threshold) = self.seams.threshold(threshold) {
            self.seams(clips, threshold, |seam| {
                problems.add(|| self.words_of(&seam));
            });
        }
        problems
    }

    /// Describes a seam.
    fn words_of(&self, seam: &Seam) -> String {
        let (before, after) = (&self.moves[seam.before], &self.moves[seam.after]);
        format!(
            "At \"{}\" the motion jumps by {:.2} from {} to {}.",
            self.states[before.to],
            seam.distance,
            before.words(),
            after.words()
        )
    }
}

impl DrawnMove {
    /// Describes the move: its clip, and its frames unless it is the whole clip.
    pub fn words(&self) -> String {
        match self.stretch {
            None => self.clip.clone(),
            Some(Stretch { first, last }) => format!("{} {first}-{last}", self.clip),
        }
    }

    /// Returns the frames of the move, numbered as in the trimmed clip.
    fn stretch_in(&self, clips: &TrimmedClips) -> Stretch {
        let kept = clips.kept(&self.clip);
        match self.stretch {
            None => Stretch {
                first: 0,
                last: kept.map_or(1, |kept| kept.frames.len().saturating_sub(1) as u32),
            },
            Some(Stretch { first, last }) => {
                let before = kept.map_or(0, |kept| kept.before);
                Stretch {
                    first: first.saturating_sub(before),
                    last: last.saturating_sub(before),
                }
            }
        }
    }

    /// Describes the trimmed frames that the move uses; `None` if there are none, or if there is no
    /// such clip.
    fn cut_off(&self, clips: &TrimmedClips) -> Option<String> {
        let kept = clips.kept(&self.clip)?;
        let Stretch { first, last } = self.stretch?;
        let begin = kept.before;
        let end = begin.saturating_add(kept.frames.len() as u32);
        let mut missing = Vec::new();
        if first < begin {
            missing.push(format!("{first}-{}", last.min(begin - 1)));
        }
        if last >= end {
            missing.push(format!("{}-{last}", first.max(end)));
        }
        if missing.is_empty() {
            return None;
        }
        Some(format!(
            "Frames {} of \"{}\" are cut off, but a move uses frames {first}-{last}. Trim the clip less, or remove the \
             move.",
            missing.join(" and "),
            self.clip
        ))
    }

    /// Returns the frames of the move; empty if the clip or some of the frames do not exist.
    fn frames<'a>(&self, clips: &'a TrimmedClips) -> &'a [Frame] {
        let Stretch { first, last } = self.stretch_in(clips);
        let kept = clips
            .kept(&self.clip)
            .filter(|_| self.cut_off(clips).is_none());
        let frames = kept.and_then(|kept| kept.frames.get(first as usize..=last as usize));
        frames.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(clip: &str, from: usize, to: usize) -> GraphEdit {
        GraphEdit::AddMove(DrawnMove {
            clip: clip.into(),
            stretch: None,
            from,
            to,
        })
    }

    #[test]
    fn steps_are_undone_and_redone_and_a_name_is_one_step() {
        let mut drawn = DrawnHistory::default();
        assert!(!drawn.undo() && !drawn.redo());
        for _ in 0..3 {
            assert!(drawn.apply(GraphEdit::AddState));
        }
        assert_eq!(drawn.graph().states, ["state 1", "state 2", "state 3"]);
        for name in ["F", "Fa", "Fast"] {
            assert!(drawn.apply(GraphEdit::RenameState(2, name.into())));
        }
        assert!(drawn.apply(link("up", 0, 2)) && drawn.apply(link("down", 2, 0)));
        // Repeating the edit, or naming objects that do not exist, is not a step.
        assert!(!drawn.apply(link("up", 0, 2)) && !drawn.apply(link("up", 0, 7)));
        assert!(!drawn.apply(GraphEdit::RemoveMove(9)) && !drawn.apply(GraphEdit::StartAt(9)));
        assert!(drawn.apply(GraphEdit::StartAt(2)));
        let whole = drawn.graph().clone();
        // Removing the second state makes the third one the second.
        assert!(drawn.apply(GraphEdit::RemoveState(1)));
        assert_eq!(drawn.graph().states, ["state 1", "Fast"]);
        assert_eq!(drawn.graph().start, 1);
        let ends: Vec<_> = drawn
            .graph()
            .moves
            .iter()
            .map(|one| (one.from, one.to))
            .collect();
        assert_eq!(ends, [(0, 1), (1, 0)]);
        // Removing the first state leaves no move.
        assert!(drawn.apply(GraphEdit::RemoveState(0)));
        assert_eq!((drawn.graph().start, drawn.graph().moves.len()), (0, 0));
        assert!(drawn.undo() && drawn.undo());
        assert_eq!(drawn.graph(), &whole);
        assert!(drawn.undo() && drawn.undo() && drawn.undo() && drawn.undo());
        assert_eq!(drawn.graph().states, ["state 1", "state 2", "state 3"]);
        while drawn.redo() {}
        assert_eq!(drawn.graph().states, ["Fast"]);
        // A step after an undo discards the undone steps.
        drawn.undo();
        assert!(drawn.apply(GraphEdit::AddState) && !drawn.can_redo());
        drawn.rename_clip("up", "faster");
        while drawn.undo() {}
        while drawn.redo() {}
        assert!(drawn.graph().moves.iter().any(|one| one.clip == "faster"));
    }
}
