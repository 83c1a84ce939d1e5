//! A heuristic that accounts for the time that vehicles need to turn and gain speed: [Adam 2007],
//! section 5.3.
//!
//! The heuristic of the source assumes that a vehicle drives straight to its goal at the top speed
//! of the library from now on. A vehicle that is slower or heads in another direction loses time
//! compared with this, whatever it does. The table contains the least loss until the horizon, over
//! all sequences of moves on free ground, for each state, each direction relative to that of the
//! goal, and each remaining time. Values are rounded down, so the heuristic never exceeds the true
//! loss, and the best leaf stays the same.

use crate::library::{Library, StateNumber};
use roadwright_geometry::math::{atan2, cos, wrap_angle};
use std::f64::consts::{PI, TAU};

/// Number of directions.
const DIRECTIONS: usize = 180;
/// Step of the remaining time in the table, in frames.
const STEP: u32 = 5;
/// Losses are multiplied by this factor, so that rounding cannot raise them above the true loss.
const ROUNDED: f64 = 1.0 - 1e-6;
/// Maximum number of values, 64 MB.
const MOST: usize = 16_000_000;

/// The least loss of time until the horizon.
#[derive(Debug, Clone)]
pub(crate) struct TurningLoss {
    /// Loss in seconds, by remaining steps, state and direction.
    values: Vec<f32>,
    states: usize,
    steps: usize,
}

/// Properties of a move that determine its loss.
struct Turn {
    from: usize,
    to: usize,
    length: u32,
    /// Time that the move takes, s.
    seconds: f64,
    /// Time to drive the move's chord at top speed, s.
    chord: f64,
    /// Direction of the chord relative to the vehicle, rad.
    aside: f64,
    /// Change of the heading, rad.
    turned: f64,
}

impl TurningLoss {
    /// Prepares the table of a library for a horizon in frames; `None` if it would be too large.
    pub(crate) fn of(library: &Library, horizon: u32) -> Option<Self> {
        let states = library.states().len();
        let steps = (horizon / STEP) as usize + 1;
        if states * steps * DIRECTIONS > MOST {
            return None;
        }
        let turns = turns(library);
        let mut table = Self {
            values: vec![0.0; states * steps * DIRECTIONS],
            states,
            steps,
        };
        for step in 1..steps {
            let begin = step * states * DIRECTIONS;
            let (known, rest) = table.values.split_at_mut(begin);
            let values = &mut rest[..states * DIRECTIONS];
            values.fill(f32::INFINITY);
            for turn in &turns {
                let left = (step as u32 * STEP).saturating_sub(turn.length) / STEP;
                let after = (left as usize * states + turn.to) * DIRECTIONS;
                for direction in 0..DIRECTIONS {
                    let next = turn.next(direction).map(|next| known[after + next]);
                    let loss = (turn.loss(direction) + f64::from(next[0].min(next[1]))) as f32;
                    let value = &mut values[turn.from * DIRECTIONS + direction];
                    *value = value.min(loss);
                }
            }
        }
        Some(table)
    }

    /// Returns the least loss of a vehicle, s. `heading` is its heading relative to the direction
    /// of the goal, rad, and `left` the time until the horizon, in frames.
    pub(crate) fn least(&self, state: StateNumber, heading: f64, left: u32) -> f64 {
        let step = ((left / STEP) as usize).min(self.steps - 1);
        let row = step * self.states + usize::from(state.0);
        ROUNDED * f64::from(self.values[row * DIRECTIONS + direction(heading)])
    }
}

/// Returns the index of the direction interval that contains a heading (rad).
fn direction(heading: f64) -> usize {
    let share = (wrap_angle(heading) + PI) / TAU;
    ((share * DIRECTIONS as f64) as usize).min(DIRECTIONS - 1)
}

/// Returns the bounds of a direction interval, rad.
fn bounds(direction: usize) -> [f64; 2] {
    let width = TAU / DIRECTIONS as f64;
    let low = direction as f64 * width - PI;
    [low, low + width]
}

fn turns(library: &Library) -> Vec<Turn> {
    let moves = library.moves().iter();
    let turns = moves.map(|one| {
        let end = one.placement(one.frames.len() - 1);
        let seconds = f64::from(one.length()) / library.rate();
        Turn {
            from: usize::from(one.from.0),
            to: usize::from(one.to.0),
            length: one.length(),
            seconds,
            chord: end.position.length() / library.top_speed(),
            aside: atan2(end.position.y, end.position.x),
            turned: atan2(end.forward.y, end.forward.x),
        }
    });
    turns.collect()
}

impl Turn {
    /// Returns the least loss of the move for headings within a direction interval, s.
    fn loss(&self, direction: usize) -> f64 {
        let [low, high] = bounds(direction).map(|bound| bound + self.aside);
        // The largest cosine between both bounds.
        let is_straight = (low / TAU).ceil() * TAU <= high;
        let gained = match is_straight {
            true => self.chord,
            false => self.chord * cos(low).max(cos(high)),
        };
        (self.seconds - gained).max(0.0)
    }

    /// Returns the first and last direction interval in which the move may end.
    fn next(&self, direction: usize) -> [usize; 2] {
        bounds(direction).map(|bound| self::direction(bound + self.turned))
    }
}
