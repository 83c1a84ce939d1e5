//! States and moves of a library as a diagram, like figure 4.4 of [Adam 2007].
//!
//! States are arranged by speed from left to right. In small libraries they are on one line, and
//! moves that gain speed are drawn above it. In large libraries the vertical position is the yaw
//! rate.

use super::clip::largest_slip;
use roadwright_moves::{Library, Move};
use std::collections::BTreeMap;

/// Slip angle above which a move counts as a skid, rad: 20 degrees.
const SKIDS: f64 = 0.35;
/// Maximum number of states on one line.
const MOST_ON_LINE: usize = 12;
/// Minimum distance between neighbouring states on one line, as a fraction of even spacing.
const LEAST_GAP: f64 = 0.55;

/// A library as a diagram.
#[derive(Debug, Clone, PartialEq)]
pub struct LibraryFigure {
    /// The states, in the order of the library.
    pub states: Vec<FigureState>,
    /// Moves between states, one entry for each pair of states.
    pub edges: Vec<FigureEdge>,
    /// Whether all states are on one line.
    pub is_line: bool,
}

/// A state in a diagram.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureState {
    /// Name of the state.
    pub name: String,
    /// Speed in the state, m/s.
    pub speed: f64,
    /// Horizontal position, from 0 (left) to 1 (right).
    pub x: f64,
    /// Vertical position, from 0 (bottom) to 1 (top).
    pub y: f64,
}

/// The moves from one state to another.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureEdge {
    /// Index of the state in which the moves begin.
    pub from: usize,
    /// Index of the state in which the moves end.
    pub to: usize,
    /// Names of the moves.
    pub moves: Vec<String>,
    /// Whether one of the moves skids by more than 20 degrees.
    pub skids: bool,
}

impl LibraryFigure {
    /// Arranges the states and moves of a library.
    pub fn of(library: &Library) -> Self {
        Self::of_moves(library.states(), library.moves())
    }

    /// Arranges states and the moves between them.
    pub fn of_moves(states: &[String], moves: &[Move]) -> Self {
        let motions: Vec<[f64; 2]> = (0..states.len())
            .map(|state| motion(moves, state))
            .collect();
        let is_line = motions.len() <= MOST_ON_LINE;
        let across = places(&motions, is_line);
        let fastest = motions
            .iter()
            .map(|[_, yaw]| yaw.abs())
            .fold(1e-9, f64::max);
        let named = states.iter().zip(&motions).zip(across);
        Self {
            states: named
                .map(|((name, [speed, yaw_rate]), x)| FigureState {
                    name: name.clone(),
                    speed: *speed,
                    x,
                    y: match is_line {
                        true => 0.5,
                        false => 0.5 + 0.5 * yaw_rate / fastest,
                    },
                })
                .collect(),
            edges: edges(moves),
            is_line,
        }
    }
}

/// Returns the speed and yaw rate in a state: those at the start of the first move that leaves it,
/// otherwise those at the end of the first move that enters it; 0 if there is none.
fn motion(moves: &[Move], state: usize) -> [f64; 2] {
    let leaving = moves.iter().filter(|one| usize::from(one.from.0) == state);
    let mut begins = leaving.filter_map(|one| one.frames.first());
    let entering = moves.iter().filter(|one| usize::from(one.to.0) == state);
    let mut ends = entering.filter_map(|one| one.frames.last());
    let frame = begins.next().or_else(|| ends.next());
    frame.map_or([0.0, 0.0], |frame| [frame.forward, frame.yaw_rate])
}

/// Returns the horizontal positions of the states, 0 to 1. States on one line keep a minimum
/// distance.
fn places(motions: &[[f64; 2]], is_line: bool) -> Vec<f64> {
    let speeds: Vec<f64> = motions.iter().map(|[speed, _]| *speed).collect();
    let low = speeds.iter().copied().fold(f64::INFINITY, f64::min);
    let high = speeds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = (high - low).max(1e-9);
    let mut order: Vec<usize> = (0..speeds.len()).collect();
    order.sort_by(|&a, &b| speeds[a].total_cmp(&speeds[b]));
    let mut places = vec![0.0; speeds.len()];
    let gap = match is_line {
        true => LEAST_GAP / (speeds.len().max(2) - 1) as f64,
        false => 0.0,
    };
    let mut before = -gap;
    for &state in &order {
        let wanted: f64 = (speeds[state] - low) / range;
        before = wanted.max(before + gap);
        places[state] = before;
    }
    // The minimum distances may have pushed the last states beyond the end.
    let end = before.max(1.0);
    if speeds.len() == 1 {
        return vec![0.5];
    }
    places.iter().map(|place| place / end).collect()
}

fn edges(all: &[Move]) -> Vec<FigureEdge> {
    let mut by_ends: BTreeMap<[usize; 2], Vec<&Move>> = BTreeMap::new();
    for one in all {
        let ends = [one.from, one.to].map(|state| usize::from(state.0));
        by_ends.entry(ends).or_default().push(one);
    }
    let edges = by_ends.into_iter().map(|([from, to], moves)| FigureEdge {
        from,
        to,
        skids: moves.iter().any(|one| largest_slip(&one.frames) > SKIDS),
        moves: moves.iter().map(|one| one.name.clone()).collect(),
    });
    edges.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use roadwright_moves::ShippedLibrary;

    fn figure(name: &str) -> LibraryFigure {
        let loaded = ShippedLibrary::named(name).unwrap().load().unwrap();
        LibraryFigure::of(&loaded.library)
    }

    #[test]
    fn the_large_tree_is_drawn_from_stop_to_fast() {
        let figure = figure("large");
        assert!(figure.is_line);
        let mut states = figure.states.clone();
        states.sort_by(|a, b| a.x.total_cmp(&b.x));
        let names: Vec<&str> = states.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            names,
            ["Stop", "sm1", "sm2", "Medium", "mf1", "mf2", "Fast"]
        );
        assert_eq!((states[0].x, states[6].x), (0.0, 1.0));
        assert!(states.windows(2).all(|pair| pair[1].x - pair[0].x > 0.08));
        let moves: usize = figure.edges.iter().map(|edge| edge.moves.len()).sum();
        assert_eq!(moves, 37);
        // Only the skids lead from Fast to Medium.
        let skid = |figure: &LibraryFigure| {
            let ends = |edge: &&FigureEdge| (edge.from, edge.to) == (6, 3);
            figure.edges.iter().find(ends).map(|edge| edge.skids)
        };
        assert_eq!(skid(&figure), Some(true));
        assert_eq!(skid(&self::figure("large-without-skids")), None);
    }

    #[test]
    fn a_tree_with_one_state_has_one_edge() {
        let figure = figure("five");
        assert_eq!((figure.states.len(), figure.edges.len()), (1, 1));
        assert_eq!(figure.states[0].x, 0.5);
        assert_eq!(figure.edges[0].moves.len(), 5);
    }
}
