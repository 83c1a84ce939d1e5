//! Libraries: moves between states, prepared for planning.

use crate::body::BodyOutline;
use crate::frame::{Frame, Weights, distance};
use crate::placement::Placement;
use crate::sweep::{Sweep, SweepKind};

/// Index of a state between moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateNumber(pub u16);

/// Index of a move in its library, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveNumber(pub u16);

/// A stretch of a clip from one state to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Name of the move.
    pub name: String,
    /// State in which the move begins.
    pub from: StateNumber,
    /// State in which the move ends.
    pub to: StateNumber,
    /// Frames of the move. The last one is also the first frame of the next move.
    pub frames: Vec<Frame>,
}

impl Move {
    /// Duration of the move, in frames.
    pub fn length(&self) -> u32 {
        self.frames.len() as u32 - 1
    }

    /// Placement of a frame relative to the first frame.
    pub fn placement(&self, frame: usize) -> Placement {
        let first = self.frames[0].placement();
        first.relative(&self.frames[frame].placement())
    }

    /// Returns a frame in world coordinates, if the move begins at `place`.
    ///
    /// # Panics
    /// If the move has no such frame.
    pub fn frame_at(&self, place: &Placement, frame: usize) -> Frame {
        Frame {
            pose: place.then(&self.placement(frame)).pose(),
            ..self.frames[frame]
        }
    }

    /// Returns the motion in world coordinates between a frame and the next one, if the move begins
    /// at `place`. `share` is 0 at the frame and 1 at the next one. At the last frame, the motion
    /// of this frame is returned.
    pub fn motion_at(&self, place: &Placement, frame: usize, share: f64) -> Frame {
        let now = self.frame_at(place, frame);
        if share == 0.0 || frame + 1 >= self.frames.len() {
            return now;
        }
        now.between(&self.frame_at(place, frame + 1), share)
    }

    /// Returns the placement where the move has to begin so that `frame` is at `there`.
    pub fn place_for(&self, frame: usize, there: &Placement) -> Placement {
        there.then(&self.placement(frame).inverse())
    }
}

/// A frame of a move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoveFrame {
    /// Number of the move in its library.
    pub number: MoveNumber,
    /// Index of the frame in the move.
    pub frame: u32,
}

/// A move prepared for planning.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) number: MoveNumber,
    pub(crate) to: StateNumber,
    /// Duration, in frames.
    pub(crate) length: u32,
    /// Placement at the end of the move, relative to its beginning.
    pub(crate) end: Placement,
    pub(crate) sweep: Sweep,
}

/// Moves between states, with the areas that the body sweeps during each move.
#[derive(Debug, Clone)]
pub struct Library {
    states: Vec<String>,
    moves: Vec<Move>,
    /// Moves that begin in each state, in the order of the file.
    leaving: Vec<Vec<Prepared>>,
    /// Sweeps between consecutive frames of each move, for detecting contacts while the move is played.
    between: Vec<Vec<Sweep>>,
    body: BodyOutline,
    rate: f64,
    top_speed: f64,
    /// Duration of the longest move, in frames.
    longest: u32,
}

/// Reason why a library cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LibraryError {
    /// The library has no states or no moves.
    #[error("the library has no moves")]
    Empty,
    /// The library has too many states or moves.
    #[error("the library has more than {} states or moves", u16::MAX)]
    TooLarge,
    /// A move has fewer than two frames.
    #[error("move \"{0}\" has fewer than two frames")]
    Short(String),
    /// No move leaves a state.
    #[error("no move leaves state \"{0}\"")]
    DeadEnd(String),
}

impl Library {
    /// Prepares moves for a body. `rate` is the frame rate, Hz.
    ///
    /// # Errors
    /// If there are no states, no moves, or too many of either, if a move has fewer than two frames, or if no
    /// move leaves a state.
    pub fn new(
        states: Vec<String>,
        moves: Vec<Move>,
        rate: f64,
        body: BodyOutline,
        kind: SweepKind,
    ) -> Result<Self, LibraryError> {
        if states.is_empty() || moves.is_empty() {
            return Err(LibraryError::Empty);
        }
        if states.len().max(moves.len()) > usize::from(u16::MAX) {
            return Err(LibraryError::TooLarge);
        }
        let mut leaving = vec![Vec::new(); states.len()];
        let (mut between, mut top_speed) = (Vec::new(), 0.0f64);
        for (number, one) in moves.iter().enumerate() {
            if one.frames.len() < 2 {
                return Err(LibraryError::Short(one.name.clone()));
            }
            for pair in one.frames.windows(2) {
                let gone = (pair[1].pose.position - pair[0].pose.position).length();
                top_speed = top_speed.max(gone * rate);
            }
            leaving[usize::from(one.from.0)].push(Prepared {
                number: MoveNumber(number as u16),
                to: one.to,
                length: one.length(),
                end: one.placement(one.frames.len() - 1),
                sweep: Sweep::of(&one.frames, &body, kind),
            });
            let steps = 0..one.frames.len() - 1;
            between.push(
                steps
                    .map(|first| Sweep::between(&one.frames, &body, first))
                    .collect(),
            );
        }
        if let Some(state) = leaving.iter().position(Vec::is_empty) {
            return Err(LibraryError::DeadEnd(states[state].clone()));
        }
        Ok(Self {
            longest: moves.iter().map(Move::length).max().unwrap_or(0),
            states,
            moves,
            leaving,
            between,
            body,
            rate,
            top_speed,
        })
    }

    /// Returns the frame whose motion differs least from a given motion, by the distance of section
    /// 3.4. The last frame of a move is left out, because nothing of the move remains after it.
    /// Among equal frames, the first one is returned.
    pub fn most_similar(&self, motion: &Frame, weights: &Weights) -> MoveFrame {
        let mut best = MoveFrame {
            number: MoveNumber(0),
            frame: 0,
        };
        let mut least = f64::INFINITY;
        for (number, one) in self.moves.iter().enumerate() {
            for (frame, other) in one.frames[..one.frames.len() - 1].iter().enumerate() {
                let apart = distance(motion, other, weights);
                if apart < least {
                    least = apart;
                    best = MoveFrame {
                        number: MoveNumber(number as u16),
                        frame: frame as u32,
                    };
                }
            }
        }
        best
    }

    /// Names of the states.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// All moves.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the move with this number.
    pub fn get(&self, number: MoveNumber) -> &Move {
        &self.moves[usize::from(number.0)]
    }

    /// Moves that begin in a state.
    pub fn moves_from(&self, state: StateNumber) -> impl Iterator<Item = MoveNumber> {
        self.leaving(state).iter().map(|one| one.number)
    }

    pub(crate) fn leaving(&self, state: StateNumber) -> &[Prepared] {
        &self.leaving[usize::from(state.0)]
    }

    /// Sweep of a move from a frame to the next one, relative to the placement at which the move begins.
    pub(crate) fn step_of(&self, number: MoveNumber, frame: usize) -> &Sweep {
        &self.between[usize::from(number.0)][frame]
    }

    /// Outline of the body for which sweeps are computed.
    pub fn body(&self) -> &BodyOutline {
        &self.body
    }

    /// Frame rate, Hz.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Duration of the longest move, in frames.
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }

    /// Highest speed of the middle of the rear axle in any move, m/s.
    pub fn top_speed(&self) -> f64 {
        self.top_speed
    }
}
