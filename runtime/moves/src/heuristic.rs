//! A heuristic for the route tree that accounts for turning, gaining speed and going around
//! obstacles: [Adam 2007], section 5.3.
//!
//! The heuristic of the source assumes that a vehicle drives straight to its goal at top speed from
//! now on. Real routes take longer, so the search expands every node that has not yet lost as much
//! time as the best leaf. Here, the leaves keep their f, but the list is sorted by a lower bound of
//! f for all leaves below a node. There are two such bounds, and the larger one is used:
//!
//! - **Turns** (`turns.rs`): the least time that a vehicle loses until the horizon on free ground, by
//!   state and by direction relative to the goal.
//! - **Obstacles**: a grid holds the shortest distance to the goal around the fixed obstacles. Until
//!   the horizon, a vehicle reduces this distance by at most the longest distance that it can drive
//!   from its state. Among the cells at the remaining distance or farther, the one with the smallest
//!   straight distance bounds f. If the goal can be reached, the vehicle needs at least the distance
//!   divided by the top speed.
//!
//! Steps of the grid lead in 32 directions, so a path is at most 1.3 % longer in the grid than on
//! the plane. Distances are reduced by 2.5 %, which also allows for wider detours around corners in
//! the grid, and by [`SLACK`] cells for the position within a cell. Cells are so small that the
//! disc of the outline around the rear axle, which touches no obstacle, always contains the centre
//! of the cell.

use crate::body::Convex;
use crate::library::{Library, Move, StateNumber};
use crate::placement::Placement;
use crate::surroundings::Surroundings;
use crate::sweep::TOLERANCE;
use crate::turns::TurningLoss;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::atan2;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Longest step of the grid along an axis, in cells.
const LONGEST: i32 = 3;
/// Distances in the grid are multiplied by this factor.
const SCALE: f64 = 0.975;
/// Differences between grid distances are reduced by this amount, in cells.
const SLACK: f64 = 2.5;
/// Safety factor on the size of the cells that fit into the disc of the outline.
const FITS: f64 = 0.98;
/// Maximum number of cells.
const MOST_CELLS: f64 = 400_000.0;
/// Bounds are reduced by this amount, so that rounding cannot raise them above f, s.
const ROUNDING: f64 = 1e-6;

/// Bounds for searches of a library with a horizon towards a goal, among fixed obstacles.
#[derive(Debug, Clone)]
pub struct Heuristic {
    goal: HeuristicGoal,
    low: DVec2,
    /// Edge length of a cell, m.
    cell: f64,
    columns: usize,
    rows: usize,
    /// Distance from each cell until the goal is reached, m, row by row; infinite where obstacles enclose the cell.
    distances: Vec<f64>,
    /// Horizon of the searches, in frames.
    horizon: u32,
    /// Longest distance that a vehicle can drive from each state, m, by the number of frames.
    farthest: Vec<Vec<f64>>,
    /// Time that a vehicle loses because it has to turn and gain speed, even without obstacles.
    turning: Option<TurningLoss>,
}

/// A goal, and the distance within which a vehicle has reached it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeuristicGoal {
    /// Position of the goal, m.
    pub place: DVec2,
    /// A vehicle has reached the goal if it is within this distance, m.
    pub reach: f64,
}

/// A step of the grid.
struct Step {
    columns: i32,
    rows: i32,
    /// Length of the step, m.
    length: f64,
}

impl Heuristic {
    /// Prepares the bounds for a library and a horizon in frames. Outside the bounding box of the
    /// fixed obstacles, the straight distance is used. `None` if there are no fixed obstacles, or
    /// if the box has more than 400,000 cells; for a car, a cell is about a metre long.
    pub fn of(
        around: &Surroundings,
        library: &Library,
        horizon: u32,
        goal: HeuristicGoal,
    ) -> Option<Self> {
        let body = library.body();
        let fixed = around.fixed();
        let boxes = fixed.iter().map(Convex::bounds);
        let all = boxes.reduce(|one, other| one.with(&other))?;
        let disc = body.half_width.min(body.front).min(body.rear) - TOLERANCE;
        let cell = FITS * SQRT_2 * disc;
        let area = all.grown(2.0 * cell);
        let counts = ((area.high - area.low) / cell).ceil();
        if disc <= 0.0 || counts.x * counts.y > MOST_CELLS {
            return None;
        }
        let mut field = Self {
            goal,
            low: area.low,
            cell,
            columns: counts.x as usize,
            rows: counts.y as usize,
            distances: vec![f64::INFINITY; counts.x as usize * counts.y as usize],
            horizon,
            farthest: farthest(library, horizon),
            turning: TurningLoss::of(library, horizon),
        };
        field.fill(around);
        Some(field)
    }

    /// Returns the goal of the searches.
    pub(crate) fn goal(&self) -> HeuristicGoal {
        self.goal
    }

    /// Horizon of the searches, in frames.
    pub(crate) fn horizon(&self) -> u32 {
        self.horizon
    }

    fn fill(&mut self, around: &Surroundings) {
        let mut list = BinaryHeap::new();
        for number in 0..self.distances.len() {
            let apart = (self.centre(number) - self.goal.place).length() - self.goal.reach;
            let is_edge = self.is_edge(number);
            if is_edge || apart <= FRAC_1_SQRT_2 * self.cell {
                self.distances[number] = SCALE * apart.max(0.0);
                list.push(Reverse((self.distances[number].to_bits(), number)));
            }
        }
        let steps = self.steps();
        let is_near = self.near(around.fixed());
        while let Some(Reverse((bits, number))) = list.pop() {
            let distance = f64::from_bits(bits);
            if distance > self.distances[number] {
                continue;
            }
            let (column, row) = (number % self.columns, number / self.columns);
            for step in &steps {
                let to = [column as i32 + step.columns, row as i32 + step.rows];
                let is_inside = (0..self.columns as i32).contains(&to[0])
                    && (0..self.rows as i32).contains(&to[1]);
                if !is_inside {
                    continue;
                }
                let other = to[1] as usize * self.columns + to[0] as usize;
                let longer = distance + step.length;
                if longer >= self.distances[other] {
                    continue;
                }
                if is_near[number] && around.crosses(self.centre(number), self.centre(other)) {
                    continue;
                }
                self.distances[other] = longer;
                list.push(Reverse((longer.to_bits(), other)));
            }
        }
    }

    /// Steps from a cell in all directions. Multiples of shorter steps are left out.
    fn steps(&self) -> Vec<Step> {
        let is_shortest = |a: i32, b: i32| (2..=LONGEST).all(|by| a % by != 0 || b % by != 0);
        let range = || -LONGEST..=LONGEST;
        let pairs = range().flat_map(|rows| range().map(move |columns| (columns, rows)));
        pairs
            .filter(|&(columns, rows)| (columns, rows) != (0, 0) && is_shortest(columns, rows))
            .map(|(columns, rows)| Step {
                columns,
                rows,
                length: SCALE
                    * self.cell
                    * DVec2::new(f64::from(columns), f64::from(rows)).length(),
            })
            .collect()
    }

    /// Returns for each cell whether one of its steps may cross an obstacle.
    fn near(&self, fixed: &[Convex]) -> Vec<bool> {
        let mut near = vec![false; self.distances.len()];
        let reach = LONGEST as usize + 2;
        for outline in fixed {
            let corners = outline.corners();
            for (i, &from) in corners.iter().enumerate() {
                let to = corners[(i + 1) % corners.len()];
                let count = ((to - from).length() / self.cell).ceil().max(1.0) as u32;
                for number in 0..=count {
                    let place = from.lerp(to, f64::from(number) / f64::from(count));
                    let at = ((place - self.low) / self.cell).floor();
                    let (column, row) = (at.x as usize, at.y as usize);
                    for row in row.saturating_sub(reach)..=(row + reach).min(self.rows - 1) {
                        let first = row * self.columns + column.saturating_sub(reach);
                        let last = row * self.columns + (column + reach).min(self.columns - 1);
                        near[first..=last].fill(true);
                    }
                }
            }
        }
        near
    }

    fn centre(&self, number: usize) -> DVec2 {
        let (column, row) = (number % self.columns, number / self.columns);
        self.low + self.cell * (DVec2::new(column as f64, row as f64) + 0.5)
    }

    fn is_edge(&self, number: usize) -> bool {
        let (column, row) = (number % self.columns, number / self.columns);
        column == 0 || row == 0 || column + 1 == self.columns || row + 1 == self.rows
    }

    /// Reachable cells whose centres are within a radius of a position, row by row.
    fn cells_within(&self, place: DVec2, radius: f64) -> Vec<usize> {
        let index = |at: f64, count: usize| (at / self.cell).clamp(0.0, count as f64) as usize;
        let (low, high) = (place - radius - self.low, place + radius - self.low);
        let rows = index(low.y, self.rows)..(index(high.y, self.rows) + 1).min(self.rows);
        let first = index(low.x, self.columns);
        let last = (index(high.x, self.columns) + 1).min(self.columns);
        rows.flat_map(|row| row * self.columns + first..row * self.columns + last.max(first))
            .filter(|&cell| {
                self.distances[cell].is_finite()
                    && (self.centre(cell) - place).length_squared() <= radius * radius
            })
            .collect()
    }

    /// Distance from a position to the goal, m; `None` outside the grid, and where obstacles
    /// enclose the position.
    fn at(&self, place: DVec2) -> Option<f64> {
        let cell = ((place - self.low) / self.cell).floor();
        let is_inside = cell.x >= 0.0
            && cell.y >= 0.0
            && cell.x < self.columns as f64
            && cell.y < self.rows as f64;
        let distance = is_inside.then(|| {
            let number = cell.y as usize * self.columns + cell.x as usize;
            self.distances[number]
        });
        distance.filter(|distance| distance.is_finite())
    }
}

/// State of the search at the end of a node, for which a bound is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeEnd {
    pub(crate) place: Placement,
    pub(crate) f: f64,
    /// Time at the end of the node, in frames.
    pub(crate) time: u32,
    pub(crate) state: StateNumber,
}

/// Lower bounds of f for one search, derived from the distances of the grid.
#[derive(Debug)]
pub(crate) struct Outlook<'a> {
    field: &'a Heuristic,
    library: &'a Library,
    /// Duration of a frame, s.
    period: f64,
    /// Duration of the longest move, in frames.
    longest: u32,
    /// Lowest distance of a cell within reach, m.
    least: f64,
    /// Minimum time by which f of a leaf exceeds the horizon: the straight distance divided by the
    /// top speed, plus the time beyond the horizon, s. Indexed by the remaining distance in the
    /// grid, in steps of [`WIDTH`].
    missing: Vec<f64>,
    /// The bound is reduced by this amount for leaves outside the grid, because they may end after
    /// the horizon, s.
    beyond: f64,
}

/// Width of an entry of the table of missing times, m.
const WIDTH: f64 = 1.0;

impl<'a> Outlook<'a> {
    /// Computes the bounds of a search that begins at a position; `None` if no cell is within
    /// reach.
    pub(crate) fn new(field: &'a Heuristic, library: &'a Library, place: DVec2) -> Option<Self> {
        let period = 1.0 / library.rate();
        let longest = library.moves().iter().map(|one| one.length()).max()?;
        let seconds = f64::from(field.horizon + longest) * period;
        let reach = library.top_speed() * seconds + field.cell;
        let cells = field.cells_within(place, reach);
        let distances = || cells.iter().map(|&cell| field.distances[cell]);
        let least = distances().reduce(f64::min)?;
        let most = distances().reduce(f64::max)?;
        let mut missing = vec![f64::INFINITY; ((most - least) / WIDTH) as usize + 1];
        for &cell in &cells {
            let straight =
                (field.centre(cell) - field.goal.place).length() - FRAC_1_SQRT_2 * field.cell;
            let entry = &mut missing[((field.distances[cell] - least) / WIDTH) as usize];
            *entry = entry.min(straight.max(0.0) / library.top_speed());
        }
        // Takes the minimum over all cells at this distance or farther.
        for number in (0..missing.len() - 1).rev() {
            missing[number] = missing[number].min(missing[number + 1]);
        }
        // A leaf may end after the horizon. The vehicle has then come nearer to its goal in the
        // meantime.
        let mut later = f64::INFINITY;
        for entry in &mut missing {
            let own = *entry;
            *entry = own.min(later);
            later = own.min(later + WIDTH / library.top_speed());
        }
        Some(Self {
            field,
            library,
            period,
            longest,
            least,
            missing,
            beyond: f64::from(longest) * period * (1.0 / SCALE - 1.0),
        })
    }

    /// Lower bound of f for the leaves below a node that ends before the horizon; 0 if the field
    /// does not contain the end of the node.
    pub(crate) fn bound(&self, end: &NodeEnd) -> f64 {
        let Some(distance) = self.field.at(end.place.position) else {
            return 0.0;
        };
        let Self { library, field, .. } = self;
        let horizon = field.horizon;
        let distance = distance - SLACK * field.cell;
        let left = horizon.saturating_sub(end.time);
        let driven = field.farthest[usize::from(end.state.0)][left as usize];
        let remaining = distance - driven;
        let entry = (remaining - self.least) / WIDTH;
        let entry = entry.clamp(0.0, (self.missing.len() - 1) as f64);
        // Beyond the grid, the distance of the field is the straight one.
        let outside = remaining / (SCALE * library.top_speed()) - self.beyond;
        let missing = self.missing[entry as usize].min(outside.max(0.0));
        let mut bound = f64::from(horizon) * self.period + missing;
        if field.goal.reach > 0.0 && remaining <= self.crossing() {
            let arrival = f64::from(end.time) * self.period + distance / library.top_speed();
            bound = bound.min(arrival);
        }
        bound = bound.max(end.f + self.loss(end));
        bound - ROUNDING
    }
}

impl Outlook<'_> {
    /// Longest distance that a move drives after the horizon, m.
    fn crossing(&self) -> f64 {
        f64::from(self.longest) * self.period * self.library.top_speed()
    }

    /// Minimum time that a vehicle loses until the horizon or the goal because it has to turn and
    /// gain speed, s.
    fn loss(&self, end: &NodeEnd) -> f64 {
        let Some(turning) = &self.field.turning else {
            return 0.0;
        };
        let HeuristicGoal { place, reach } = self.field.goal;
        let to_goal = place - end.place.position;
        let mut left = self.field.horizon.saturating_sub(end.time);
        let mut cut = 0.0;
        let driven = self.field.farthest[usize::from(end.state.0)][left as usize];
        if reach > 0.0 && to_goal.length() - reach - driven <= self.crossing() {
            // A move that passes the goal is not driven to its end.
            let top_speed = self.library.top_speed();
            let frames = (to_goal.length() - reach) / top_speed / self.period;
            left = left.min((frames as u32).saturating_sub(self.longest));
            cut = reach / top_speed;
        }
        let aside = end.place.direction_to_local(to_goal);
        let heading = -atan2(aside.y, aside.x);
        (turning.least(end.state, heading, left) - cut).max(0.0)
    }
}

/// Returns the longest distance that a vehicle can drive from each state, m, by the number of
/// frames up to a horizon.
fn farthest(library: &Library, horizon: u32) -> Vec<Vec<f64>> {
    let count = library.states().len();
    let mut farthest = vec![vec![0.0f64; horizon as usize + 1]; count];
    let driven: Vec<Vec<f64>> = library.moves().iter().map(driven).collect();
    for frames in 1..=horizon as usize {
        for (one, driven) in library.moves().iter().zip(&driven) {
            let length = one.length() as usize;
            let distance = match frames.checked_sub(length) {
                Some(left) => driven[length] + farthest[usize::from(one.to.0)][left],
                None => driven[frames],
            };
            let most = &mut farthest[usize::from(one.from.0)][frames];
            *most = most.max(distance);
        }
    }
    farthest
}

/// Distance driven until each frame of a move, m.
fn driven(one: &Move) -> Vec<f64> {
    let mut driven = vec![0.0];
    let mut sum = 0.0;
    for pair in one.frames.windows(2) {
        sum += (pair[1].pose.position - pair[0].pose.position).length();
        driven.push(sum);
    }
    driven
}

#[cfg(test)]
mod tests {
    use super::*;

    static FIVE: std::sync::LazyLock<Library> = std::sync::LazyLock::new(|| {
        let recorded = crate::Preset::Five.record();
        let exact = crate::SweepKind::Exact;
        recorded.graph.library(&recorded.clips, exact).unwrap()
    });
    const FRAMES: u32 = 100;

    fn field(walls: &[[f64; 4]], goal: HeuristicGoal) -> Heuristic {
        let wall = |&[a, b, c, d]: &[f64; 4]| Convex::line(DVec2::new(a, b), DVec2::new(c, d));
        let around = Surroundings::of(walls.iter().map(wall).collect());
        Heuristic::of(&around, &FIVE, FRAMES, goal).unwrap()
    }

    #[test]
    fn distances_lead_around_walls_and_are_slightly_too_short() {
        // A wall between the position and the goal, in a box that is wide enough.
        let walls = [
            [-20.0, 0.0, 20.0, 0.0],
            [-60.0, -60.0, -60.0, 60.0],
            [60.0, -60.0, 60.0, 60.0],
        ];
        let goal = HeuristicGoal {
            place: DVec2::new(0.0, 30.0),
            reach: 0.0,
        };
        let field = field(&walls, goal);
        let around = 2.0 * DVec2::new(20.0, 30.0).length();
        let found = field.at(DVec2::new(0.0, -30.0)).unwrap();
        assert!(found <= around && found > 0.95 * around, "{found} {around}");
        // Beside the wall, the distance is the straight one.
        let found = field.at(DVec2::new(0.0, 1.0)).unwrap();
        assert!(found <= 29.0 && found > 27.0, "{found}");
    }

    #[test]
    fn the_straight_distance_counts_beyond_the_walls_and_enclosed_places_have_none() {
        let pen = [
            [0.0, 0.0, 20.0, 0.0],
            [20.0, 0.0, 20.0, 20.0],
            [20.0, 20.0, 0.0, 20.0],
            [0.0, 20.0, 0.0, 0.0],
        ];
        let goal = HeuristicGoal {
            place: DVec2::new(1000.0, 10.0),
            reach: 5.0,
        };
        let field = field(&pen, goal);
        assert_eq!(field.at(DVec2::new(10.0, 10.0)), None);
        assert_eq!(field.at(DVec2::new(300.0, 10.0)), None);
        let beside = field.at(DVec2::new(-1.0, 10.0)).unwrap();
        assert!(beside > 0.97 * 990.0 && beside < 1030.0, "{beside}");
        let none = Surroundings::of(Vec::new());
        assert!(Heuristic::of(&none, &FIVE, FRAMES, goal).is_none());
        let far = [DVec2::ZERO, DVec2::splat(5000.0)];
        let large = Surroundings::of(vec![Convex::line(far[0], far[1])]);
        assert!(Heuristic::of(&large, &FIVE, FRAMES, goal).is_none());
    }
}
