//! A graph of moves that is drawn by hand: states, and clips that lead from one state to another.

use super::figure::LibraryFigure;
use roadwright_moves::{ClipFile, Move, MoveEntry, MoveFile, StateNumber, Weights, distance};
use std::collections::BTreeSet;

/// Maximum number of steps that can be undone.
const MOST_STEPS: usize = 200;

/// A graph that is drawn by hand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DrawnGraph {
    /// Names of the states.
    pub states: Vec<String>,
    /// Index of the state in which vehicles begin.
    pub start: usize,
    /// The moves.
    pub moves: Vec<DrawnMove>,
}

/// A move of a graph that is drawn by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnMove {
    /// Name of the clip. Mirror images have names of their own.
    pub clip: String,
    /// Frames of the clip; `None` for the whole clip, also after it has been trimmed.
    pub stretch: Option<Stretch>,
    /// Index of the state in which the move begins.
    pub from: usize,
    /// Index of the state in which the move ends.
    pub to: usize,
}

/// A part of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// First frame.
    pub first: u32,
    /// Last frame.
    pub last: u32,
}

/// A step of drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphEdit {
    /// Adds a state with a free name.
    AddState,
    /// Names a state.
    RenameState(usize, String),
    /// Removes a state, with the moves that begin or end in it.
    RemoveState(usize),
    /// Chooses the state in which vehicles begin.
    StartAt(usize),
    /// Lets a whole clip lead from one state to another.
    AddMove(DrawnMove),
    /// Removes a move.
    RemoveMove(usize),
    /// Replaces the graph by one that was built or read.
    Replace(DrawnGraph),
}

/// A graph that is drawn by hand, with its history.
#[derive(Debug, Clone, Default)]
pub struct DrawnHistory {
    graph: DrawnGraph,
    past: Vec<DrawnGraph>,
    future: Vec<DrawnGraph>,
    /// The state whose name was changed by the last step. Typing a name is one step.
    renamed: Option<usize>,
}

/// A clip that ends with another motion than the one after it begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnSeam {
    /// Index of the move that ends at the state.
    pub before: usize,
    /// Index of the move that begins there.
    pub after: usize,
    /// Distance between the frames.
    pub distance: f64,
}

impl DrawnHistory {
    /// The graph.
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

    /// Carries out a step. Returns whether it changes the graph.
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

    /// Repeats the step that was undone last. Returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let Some(after) = self.future.pop() else {
            return false;
        };
        self.past.push(std::mem::replace(&mut self.graph, after));
        self.renamed = None;
        true
    }

    /// Follows a clip that gets another name, in all steps.
    pub(super) fn rename_clip(&mut self, before: &str, after: &str) {
        let graphs = self.past.iter_mut().chain(&mut self.future);
        for graph in graphs.chain([&mut self.graph]) {
            for one in graph.moves.iter_mut().filter(|one| one.clip == before) {
                one.clip = after.to_owned();
            }
        }
    }
}

impl DrawnGraph {
    /// The graph of a file.
    pub fn of_file(file: &MoveFile) -> Self {
        let index = |name: &String| {
            let place = file.states.iter().position(|state| state == name);
            place.unwrap_or_default()
        };
        Self {
            states: file.states.clone(),
            start: index(&file.start),
            moves: (file.moves.iter())
                .map(|one| DrawnMove {
                    clip: one.clip.clone(),
                    stretch: Some(Stretch {
                        first: one.first,
                        last: one.last,
                    }),
                    from: index(&one.from),
                    to: index(&one.to),
                })
                .collect(),
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
            GraphEdit::Replace(graph) => *self = graph,
            // The object no longer exists.
            GraphEdit::RemoveState(_)
            | GraphEdit::StartAt(_)
            | GraphEdit::AddMove(_)
            | GraphEdit::RemoveMove(_) => {}
        }
    }

    /// The first name "state N" that is free.
    fn free_name(&self) -> String {
        let mut names = (self.states.len() + 1..).map(|number| format!("state {number}"));
        let found = names.find(|name| !self.states.contains(name));
        found.unwrap_or_default()
    }

    /// The graph as a file. `file` is the name of the clip file in the same folder, and `threshold` the largest
    /// distance at a seam.
    pub fn file(&self, clips: &ClipFile, file: &str, threshold: f64) -> MoveFile {
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
            clips: file.to_owned(),
            clips_hash: clips.hash(),
            threshold: Some(threshold),
            start: name(self.start),
            states: self.states.clone(),
            moves: moves.collect(),
        }
    }

    /// The graph as a drawing. Moves of missing clips are drawn without speeds.
    pub fn figure(&self, clips: &ClipFile) -> LibraryFigure {
        let moves = self.moves.iter().map(|one| Move {
            name: one.words(),
            from: StateNumber(one.from as u16),
            to: StateNumber(one.to as u16),
            frames: one.frames(clips).to_vec(),
        });
        LibraryFigure::of_moves(&self.states, &moves.collect::<Vec<_>>())
    }

    /// Pairs of moves whose motions differ by more than a threshold at the state between them.
    pub fn seams(&self, clips: &ClipFile, threshold: f64) -> Vec<DrawnSeam> {
        let frames: Vec<_> = self.moves.iter().map(|one| one.frames(clips)).collect();
        let mut seams = Vec::new();
        for (before, one) in self.moves.iter().enumerate() {
            for (after, other) in self.moves.iter().enumerate() {
                let (Some(end), Some(begin)) = (frames[before].last(), frames[after].first())
                else {
                    continue;
                };
                let distance = distance(end, begin, &Weights::default());
                if one.to == other.from && distance > threshold {
                    seams.push(DrawnSeam {
                        before,
                        after,
                        distance,
                    });
                }
            }
        }
        seams
    }

    /// Problems of the graph with these clips, in words.
    pub fn problems(&self, clips: &ClipFile, threshold: f64) -> Vec<String> {
        let mut problems = Vec::new();
        let mut known = BTreeSet::new();
        for state in &self.states {
            if !known.insert(state) {
                problems.push(format!("Two states are called \"{state}\"."));
            }
        }
        for one in &self.moves {
            if clips.clip(&one.clip).is_none() {
                problems.push(format!("There is no clip \"{}\".", one.clip));
            }
        }
        let file = self.file(clips, "", threshold);
        for state in file.dead_ends() {
            problems.push(format!("No move leaves \"{state}\"."));
        }
        for state in file.states_without_return() {
            problems.push(format!(
                "No moves lead from \"{state}\" back to \"{}\".",
                file.start
            ));
        }
        for seam in self.seams(clips, threshold) {
            problems.push(format!(
                "At \"{}\" the motion jumps by {:.2} from {} to {}.",
                self.states[self.moves[seam.before].to],
                seam.distance,
                self.moves[seam.before].words(),
                self.moves[seam.after].words()
            ));
        }
        problems
    }
}

impl DrawnMove {
    /// The move in words: its clip, and its frames unless it is the whole clip.
    pub fn words(&self) -> String {
        match self.stretch {
            None => self.clip.clone(),
            Some(Stretch { first, last }) => format!("{} {first}-{last}", self.clip),
        }
    }

    fn stretch_in(&self, clips: &ClipFile) -> Stretch {
        let clip = clips.clip(&self.clip);
        let last = clip.map_or(1, |clip| clip.frames.len().saturating_sub(1) as u32);
        self.stretch.unwrap_or(Stretch { first: 0, last })
    }

    /// Frames of the move; none if the clip or the frames do not exist.
    fn frames<'a>(&self, clips: &'a ClipFile) -> &'a [roadwright_moves::Frame] {
        let Stretch { first, last } = self.stretch_in(clips);
        let clip = clips.clip(&self.clip);
        let frames = clip.and_then(|clip| clip.frames.get(first as usize..=last as usize));
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
        // The same again, and objects that do not exist, are no steps.
        assert!(!drawn.apply(link("up", 0, 2)) && !drawn.apply(link("up", 0, 7)));
        assert!(!drawn.apply(GraphEdit::RemoveMove(9)) && !drawn.apply(GraphEdit::StartAt(9)));
        assert!(drawn.apply(GraphEdit::StartAt(2)));
        let whole = drawn.graph().clone();
        // Without the second state, the third one is the second.
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
        // Without the first one, no move is left.
        assert!(drawn.apply(GraphEdit::RemoveState(0)));
        assert_eq!((drawn.graph().start, drawn.graph().moves.len()), (0, 0));
        assert!(drawn.undo() && drawn.undo());
        assert_eq!(drawn.graph(), &whole);
        assert!(drawn.undo() && drawn.undo() && drawn.undo() && drawn.undo());
        assert_eq!(drawn.graph().states, ["state 1", "state 2", "state 3"]);
        while drawn.redo() {}
        assert_eq!(drawn.graph().states, ["Fast"]);
        // A step after an undo ends the future.
        drawn.undo();
        assert!(drawn.apply(GraphEdit::AddState) && !drawn.can_redo());
        drawn.rename_clip("up", "faster");
        while drawn.undo() {}
        while drawn.redo() {}
        assert!(drawn.graph().moves.iter().any(|one| one.clip == "faster"));
    }
}
