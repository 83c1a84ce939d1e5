//! Search for the gap that is too narrow for a body. Gaps are measured between outlines.

use super::cell::{Cell, CellSize, Direction};
use super::ground::OpenGround;
use super::shape::Piece;
use super::tile_space::Reader;
use roadwright_geometry::DVec2;
use std::collections::{BTreeMap, BinaryHeap};

/// Maximum number of cells visited to find a gap. A room of 50 m has 40,000 cells of 0.25 m.
const BUDGET: usize = 60_000;
/// Number of levels into which the required clearance is divided.
const LEVELS: f64 = 256.0;

/// Cosine of 60 degrees. The directions to the two sides of a gap may deviate from being opposite
/// by at most this angle. Walls at a right angle form a corner rather than a gap.
const OPPOSITE: f64 = 0.5;

/// A gap between obstacles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// Width between the outlines, m.
    pub width: f64,
    /// Centre of the gap, m.
    pub at: DVec2,
}

/// A cell that the widest path may pass through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    /// Smallest clearance along the path so far, in levels.
    room: u32,
    /// Negated distance to the goal. If cells have equal clearance, the one nearest to the goal
    /// comes first.
    closeness: i64,
    cell: Cell,
}

/// The widest known path to a cell.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    before: Cell,
    is_closed: bool,
    /// Smallest clearance along the path so far, in levels.
    room: u32,
    /// Clearance at the cell itself, in levels.
    own_room: u32,
}

/// Result of the search for the widest path between two points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Passage {
    /// There is no path, not even for a very narrow body.
    Closed,
    /// No path was found within the limit on cells.
    Unknown,
    /// The narrowest gap of the path.
    Narrowest(Gap),
    /// The path has no gap that is narrower than the body.
    Wide,
}

/// Returns the widest path between two points, and its narrowest gap.
///
/// Steps between the centres of cells must not cross an outline, so that thin walls block the path.
pub(super) fn widest(
    ground: &OpenGround,
    reader: &Reader,
    start: DVec2,
    goal: DVec2,
    needed: f64,
) -> Passage {
    let size = ground.profile(reader.profile).cell;
    let (Some(first), Some(last)) = (size.cell_of(start), size.cell_of(goal)) else {
        return Passage::Unknown;
    };
    let half = 0.5 * needed;
    let room_at = |cell: Cell| {
        let room = ground.clearance(reader.profile, reader.owner, size.centre(cell), half);
        (room / half * LEVELS) as u32
    };
    let closeness = |cell: Cell| {
        let distance = cell.distance(last);
        -i64::from(distance.columns.max(distance.rows))
    };
    let mut arrivals: BTreeMap<Cell, Arrival> = BTreeMap::new();
    let mut open = BinaryHeap::new();
    let room = room_at(first);
    arrivals.insert(
        first,
        Arrival {
            before: first,
            is_closed: false,
            room,
            own_room: room,
        },
    );
    open.push(Open {
        room,
        closeness: closeness(first),
        cell: first,
    });
    while let Some(Open { room, cell, .. }) = open.pop() {
        let Some(arrival) = arrivals.get_mut(&cell).filter(|known| !known.is_closed) else {
            continue;
        };
        arrival.is_closed = true;
        if cell == last {
            return narrowest(ground, reader, &arrivals, last, needed);
        }
        if arrivals.len() > BUDGET {
            return Passage::Unknown;
        }
        for direction in Direction::ALL {
            let to = cell.toward(direction);
            if arrivals.get(&to).is_some_and(|known| known.room >= room) {
                continue;
            }
            let there = room_at(to);
            let reached = there.min(room);
            if arrivals.get(&to).is_some_and(|known| known.room >= reached) {
                continue;
            }
            let (a, b) = (size.centre(cell), size.centre(to));
            // Far from all outlines, a step cannot cross one.
            let is_near = f64::from(there) / LEVELS * half < 2.0 * size.metres();
            if is_near && !ground.line_is_free(reader.profile, reader.owner, a, b) {
                continue;
            }
            let arrival = Arrival {
                before: cell,
                is_closed: false,
                room: reached,
                own_room: there,
            };
            arrivals.insert(to, arrival);
            open.push(Open {
                room: reached,
                closeness: closeness(to),
                cell: to,
            });
        }
    }
    Passage::Closed
}

/// Returns the narrowest gap of a path. The path is measured wherever the body might not fit,
/// because the centre of a cell is not always in the middle of a gap.
fn narrowest(
    ground: &OpenGround,
    reader: &Reader,
    arrivals: &BTreeMap<Cell, Arrival>,
    last: Cell,
    needed: f64,
) -> Passage {
    let size = ground.profile(reader.profile).cell;
    let mut least: Option<Gap> = None;
    let mut at = last;
    while let Some(arrival) = arrivals.get(&at) {
        if f64::from(arrival.own_room) < LEVELS
            && let Some(gap) = measure(ground, reader, size, at, needed)
            && least.is_none_or(|least| gap.width < least.width)
        {
            least = Some(gap);
        }
        if arrival.before == at {
            break;
        }
        at = arrival.before;
    }
    match least {
        Some(gap) if gap.width < needed => Passage::Narrowest(gap),
        _ => Passage::Wide,
    }
}

/// Measures the gap that contains a cell; `None` if the cell is not in a gap.
fn measure(
    ground: &OpenGround,
    reader: &Reader,
    size: CellSize,
    cell: Cell,
    needed: f64,
) -> Option<Gap> {
    let mut at = size.centre(cell);
    let mut gap = None;
    // The gap is measured again from its middle, which is more accurate than measuring it from the centre of
    // the cell.
    for _ in 0..4 {
        let pieces = ground.pieces_near(reader.profile, reader.owner, at, needed);
        let Some(found) = across(&pieces, at) else {
            break;
        };
        at = found.at;
        if gap.is_none_or(|gap: Gap| found.width < gap.width) {
            gap = Some(found);
        }
    }
    gap
}

/// Returns the gap at a point, between the nearest piece of an outline and the nearest piece on the
/// opposite side of the point; `None` if there is no such piece.
fn across(pieces: &[Piece], at: DVec2) -> Option<Gap> {
    let nearest = |pieces: &mut dyn Iterator<Item = &Piece>| {
        let distance = |piece: &Piece| (piece.closest(at) - at).length();
        pieces
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .copied()
    };
    let first = nearest(&mut pieces.iter())?;
    let toward = first.closest(at) - at;
    let second = nearest(&mut pieces.iter().filter(|piece| {
        let other = piece.closest(at) - at;
        other.dot(toward) < -OPPOSITE * other.length() * toward.length()
    }))?;
    let line = shortest(&first, &second);
    // Pieces that touch form a corner and not a gap.
    (line.length() > 1e-6).then(|| Gap {
        width: line.length(),
        at: 0.5 * (line.first + line.second),
    })
}

/// A line between two pieces, given by its end points.
#[derive(Debug, Clone, Copy)]
struct Line {
    first: DVec2,
    second: DVec2,
}

impl Line {
    fn length(&self) -> f64 {
        (self.first - self.second).length()
    }
}

/// Returns the shortest line between two pieces. If there are several, as between parallel edges,
/// the middle one is used.
fn shortest(first: &Piece, second: &Piece) -> Line {
    const EQUAL: f64 = 1e-9;
    let mut lines = Vec::new();
    // One end of the shortest line is the end of an edge, or is on a line to the centre of a circle.
    for special in special_points(first) {
        let start = end_toward(first, second, special);
        lines.push(Line {
            first: start,
            second: second.closest(start),
        });
    }
    for special in special_points(second) {
        let start = end_toward(second, first, special);
        lines.push(Line {
            first: first.closest(start),
            second: start,
        });
    }
    let length = lines.iter().map(Line::length).fold(f64::INFINITY, f64::min);
    lines.retain(|line| line.length() <= length + EQUAL);
    let count = lines.len().max(1) as f64;
    let middle = |end: fn(&Line) -> DVec2| lines.iter().map(end).sum::<DVec2>() / count;
    Line {
        first: middle(|line| line.first),
        second: middle(|line| line.second),
    }
}

/// Returns the end on `piece` of a candidate for the shortest line to `other`, given a special
/// point of `piece`. On an edge, it is the special point itself; on a circle, it is the point
/// nearest to `other`.
fn end_toward(piece: &Piece, other: &Piece, special: DVec2) -> DVec2 {
    match piece {
        Piece::Edge(..) => special,
        Piece::Circle(_) => piece.closest(other.closest(special)),
    }
}

/// Returns the special points of a piece: the ends of an edge, or the centre of a circle.
fn special_points(piece: &Piece) -> Vec<DVec2> {
    match piece {
        Piece::Edge(a, b) => vec![*a, *b],
        Piece::Circle(circle) => vec![circle.centre],
    }
}
