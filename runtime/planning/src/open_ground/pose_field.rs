//! `flow_field` with `states: poses`: the cost to a goal from every cell, heading and gear.
//!
//! A vehicle can steer left, straight ahead or right, forwards or in reverse. Value iteration
//! solves the resulting decision process (Pollithy). Headings are the sixteen directions from a
//! cell to cells at most two columns or rows away, so that every move ends at the centre of a cell.

use super::cell::Cell;
use super::cost::{Rules, StepCosts};
use super::grid::GridMap;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{DVec2, heading_of};
use thiserror::Error;

/// Number of headings.
const HEADINGS: usize = 16;
/// Maximum number of columns or rows of a map.
pub const MOST_POSE_EDGE: u32 = 128;
/// Cost of a state from which the goal cannot be reached.
const UNREACHED: u64 = u64::MAX;

/// Step of each heading, counter-clockwise from the east.
const STEPS: [(i32, i32); HEADINGS] = [
    (1, 0),
    (2, 1),
    (1, 1),
    (1, 2),
    (0, 1),
    (-1, 2),
    (-1, 1),
    (-2, 1),
    (-1, 0),
    (-2, -1),
    (-1, -1),
    (-1, -2),
    (0, -1),
    (1, -2),
    (1, -1),
    (2, -1),
];

/// The map is too large to compute a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "{columns} x {rows} cells are too many for poses; expected at most {MOST_POSE_EDGE} x \
     {MOST_POSE_EDGE}"
)]
pub struct PoseFieldError {
    /// Number of columns of the map.
    pub columns: u32,
    /// Number of rows of the map.
    pub rows: u32,
}

/// Gear of a vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gear {
    /// The vehicle drives forwards.
    Forward,
    /// The vehicle drives in reverse.
    Reverse,
}

/// Driving capabilities of a vehicle in a [`PoseField`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steering {
    /// Minimum turning radius, in cell widths.
    pub turning_radius: f64,
    /// Cost of a change between forwards and reverse.
    pub gear_change: u64,
    /// Whether the vehicle may drive in reverse.
    pub reverse: Reverse,
}

/// Whether a vehicle may drive in reverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reverse {
    /// The vehicle may drive in reverse.
    Allowed,
    /// The vehicle may not drive in reverse.
    Never,
}

/// State of a vehicle on the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoseState {
    /// Cell of the vehicle.
    pub cell: Cell,
    /// Index of the heading, in sixteenths of a turn counter-clockwise from the east. The angles between
    /// neighbouring headings differ slightly.
    pub heading: u8,
    /// Gear in which the vehicle arrived.
    pub gear: Gear,
}

impl PoseState {
    /// Returns the state with the heading that is closest to the given one, rad.
    pub fn new(cell: Cell, heading: f64, gear: Gear) -> Self {
        let direction = roadwright_geometry::unit(heading);
        let alike = |at: &usize| step_vector(*at).normalize().dot(direction);
        let nearest = (0..HEADINGS).max_by(|a, b| alike(a).total_cmp(&alike(b)));
        Self {
            cell,
            heading: nearest.unwrap_or(0) as u8,
            gear,
        }
    }

    /// Heading of the vehicle, rad.
    pub fn angle(&self) -> f64 {
        heading_of(step_vector(usize::from(self.heading) % HEADINGS))
    }
}

fn step_vector(heading: usize) -> DVec2 {
    let (x, y) = STEPS[heading];
    DVec2::new(f64::from(x), f64::from(y))
}

/// The cost to a goal from every pose.
#[derive(Debug, Clone)]
pub struct PoseField {
    map: GridMap,
    rules: Rules,
    steering: Steering,
    goal: Cell,
    values: Vec<u64>,
    sweeps: u32,
}

/// A move that a vehicle may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// State at the end of the move.
    pub to: PoseState,
    /// Cost of the move, including a change of gear.
    pub cost: u64,
}

impl PoseField {
    /// Computes the field by value iteration. The goal may be reached with any heading.
    ///
    /// # Errors
    /// If the map is larger than 128 x 128 cells.
    pub fn by_sweeps(
        map: &GridMap,
        rules: Rules,
        steering: Steering,
        goal: Cell,
    ) -> Result<Self, PoseFieldError> {
        let (columns, rows) = (map.columns(), map.rows());
        if columns.max(rows) > MOST_POSE_EDGE {
            return Err(PoseFieldError { columns, rows });
        }
        let mut field = Self {
            map: map.clone(),
            rules,
            steering,
            goal,
            values: vec![UNREACHED; map.area() as usize * HEADINGS * 2],
            sweeps: 0,
        };
        if map.factor_at(goal) == 0 {
            return Ok(field);
        }
        for state in field.states_at(goal) {
            if let Some(at) = field.index(&state) {
                field.values[at] = 0;
            }
        }
        let mut cells: Vec<Cell> = map.cells().filter(|c| map.factor_at(*c) > 0).collect();
        // Values spread from the goal, so cells near it are updated first.
        cells.sort_by_key(|cell| (rules.costs.between(*cell, goal), *cell));
        while field.sweep(&cells) {}
        Ok(field)
    }

    /// Lowers each value to the value of the best move. Returns whether any value was lowered.
    fn sweep(&mut self, cells: &[Cell]) -> bool {
        self.sweeps += 1;
        let mut changed = false;
        for &cell in cells {
            for state in self.states_at(cell) {
                let Some(at) = self.index(&state) else {
                    continue;
                };
                let best = self.best(&state).map_or(UNREACHED, |(cost, _)| cost);
                if best < self.values[at] {
                    self.values[at] = best;
                    changed = true;
                }
            }
        }
        changed
    }

    fn states_at(&self, cell: Cell) -> impl Iterator<Item = PoseState> + use<> {
        let gears = [Gear::Forward, Gear::Reverse];
        (0..HEADINGS as u8).flat_map(move |heading| {
            gears.map(|gear| PoseState {
                cell,
                heading,
                gear,
            })
        })
    }

    fn index(&self, state: &PoseState) -> Option<usize> {
        self.map.index_of(state.cell)?;
        let x = (state.cell.x - self.map.origin().x) as usize;
        let y = (state.cell.y - self.map.origin().y) as usize;
        let cell = y * self.map.columns() as usize + x;
        let gear = usize::from(state.gear == Gear::Reverse);
        Some((cell * HEADINGS + usize::from(state.heading) % HEADINGS) * 2 + gear)
    }

    /// Returns the cost to the goal; `None` if the goal cannot be reached.
    pub fn cost(&self, state: &PoseState) -> Option<u64> {
        let cost = self.values[self.index(state)?];
        (cost != UNREACHED).then_some(cost)
    }

    /// Number of sweeps until no value changed.
    pub fn sweeps(&self) -> u32 {
        self.sweeps
    }

    /// Returns the best move from a state; `None` at the goal, or if the goal cannot be reached.
    pub fn next(&self, state: &PoseState) -> Option<Move> {
        if state.cell == self.goal {
            return None;
        }
        self.best(state).map(|(_, best)| best)
    }

    /// Returns the moves from a state to the goal; `None` if the goal cannot be reached.
    pub fn moves_from(&self, state: PoseState) -> Option<Vec<Move>> {
        self.cost(&state)?;
        let mut moves: Vec<Move> = Vec::new();
        let mut at = state;
        while let Some(next) = self.next(&at) {
            at = next.to;
            moves.push(next);
        }
        Some(moves)
    }

    fn best(&self, state: &PoseState) -> Option<(u64, Move)> {
        let mut best: Option<(u64, Move)> = None;
        self.for_each_move(state, |made| {
            if let Some(beyond) = self.cost(&made.to) {
                let cost = beyond + made.cost;
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, made));
                }
            }
        });
        best
    }

    /// Calls `visit` for each move over free cells.
    pub fn for_each_move(&self, state: &PoseState, mut visit: impl FnMut(Move)) {
        let gears: &[Gear] = match self.steering.reverse {
            Reverse::Allowed => &[Gear::Forward, Gear::Reverse],
            Reverse::Never => &[Gear::Forward],
        };
        let heading = usize::from(state.heading) % HEADINGS;
        let turned = [
            heading,
            (heading + 1) % HEADINGS,
            (heading + HEADINGS - 1) % HEADINGS,
        ];
        for &gear in gears {
            for to in turned {
                let Some((cell, cost)) = self.trace(state.cell, heading, to, gear) else {
                    continue;
                };
                let change = if gear == state.gear {
                    0
                } else {
                    self.steering.gear_change
                };
                visit(Move {
                    to: PoseState {
                        cell,
                        heading: to as u8,
                        gear,
                    },
                    cost: cost + change,
                });
            }
        }
    }

    /// Returns the end and the cost of a move; `None` if it passes a blocked cell.
    ///
    /// A turn consists of steps at the old heading, followed by the same number of steps at the new
    /// one. The turning radius determines this number.
    fn trace(&self, from: Cell, before: usize, after: usize, gear: Gear) -> Option<(Cell, u64)> {
        if before == after {
            return self.advance(from, before, gear);
        }
        let (first, second) = (step_vector(before), step_vector(after));
        let angle = wrap_angle(heading_of(second) - heading_of(first)).abs();
        let length = first.length() + second.length();
        let steps = (self.steering.turning_radius.clamp(0.0, 64.0) * angle / length).ceil();
        let (mut cell, mut cost) = (from, 0);
        for heading in [before, after] {
            for _ in 0..(steps as u32).max(1) {
                let (to, more) = self.advance(cell, heading, gear)?;
                (cell, cost) = (to, cost + more);
            }
        }
        Some((cell, cost))
    }

    /// Makes one step along the given heading. Returns the next cell and the cost; `None` if the
    /// step is blocked.
    fn advance(&self, from: Cell, heading: usize, gear: Gear) -> Option<(Cell, u64)> {
        let (mut x, mut y) = STEPS[heading];
        if gear == Gear::Reverse {
            (x, y) = (-x, -y);
        }
        let to = Cell::new(from.x + x, from.y + y);
        let free = |cell: Cell| Some(self.map.factor_at(cell)).filter(|factor| *factor > 0);
        let factors = free(from)? + free(to)?;
        let length = self.rules.costs;
        let length = match (x.abs(), y.abs()) {
            (0, _) | (_, 0) => length.straight(),
            (1, 1) => {
                if self.rules.corners == super::cost::Corners::Keep {
                    free(Cell::new(from.x + x, from.y))?;
                    free(Cell::new(from.x, from.y + y))?;
                }
                length.diagonal()
            }
            _ => {
                // A step of two columns and one row passes between two cells.
                let half = Cell::new(from.x + x / 2, from.y + y / 2);
                let other = Cell::new(to.x - x / 2, to.y - y / 2);
                free(half)?;
                free(other)?;
                knight(length)
            }
        };
        Some((to, length * u64::from(factors)))
    }
}

/// Cost of a step of two columns and one row, whose length is the square root of five.
fn knight(costs: StepCosts) -> u64 {
    match costs {
        StepCosts::TenFourteen => 22,
        StepCosts::Octile => 12_837,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_ground::samples;

    fn steering(reverse: Reverse) -> Steering {
        Steering {
            turning_radius: 4.0,
            gear_change: 2000,
            reverse,
        }
    }

    fn field(map: &GridMap, reverse: Reverse, goal: Cell) -> PoseField {
        PoseField::by_sweeps(map, Rules::default(), steering(reverse), goal).unwrap()
    }

    #[test]
    fn values_are_those_of_the_best_move_everywhere() {
        for seed in 0..3 {
            let map = samples::rectangles(24, 20, 0.2, 4, seed).unwrap();
            let goal = map.cells().find(|cell| map.factor_at(*cell) > 0).unwrap();
            let field = field(&map, Reverse::Allowed, goal);
            for cell in map.cells().filter(|cell| map.factor_at(*cell) > 0) {
                for state in field.states_at(cell) {
                    let expected = match cell == goal {
                        true => Some(0),
                        false => field.best(&state).map(|(cost, _)| cost),
                    };
                    assert_eq!(field.cost(&state), expected);
                }
            }
        }
    }

    #[test]
    fn a_goal_behind_is_reached_in_reverse_or_by_turning() {
        let map = GridMap::new(Cell::new(0, 0), 60, 60).unwrap();
        let start = PoseState::new(Cell::new(30, 30), 0.0, Gear::Forward);
        let near = field(&map, Reverse::Allowed, Cell::new(24, 30));
        let moves = near.moves_from(start).unwrap();
        assert!(moves.iter().all(|made| made.to.gear == Gear::Reverse));
        assert_eq!(near.cost(&start), Some(2000 + 6 * 320));
        let turning = field(&map, Reverse::Never, Cell::new(24, 30));
        let moves = turning.moves_from(start).unwrap();
        assert!(moves.iter().all(|made| made.to.gear == Gear::Forward));
        assert!(turning.cost(&start) > near.cost(&start));
        let cost: u64 = moves.iter().map(|made| made.cost).sum();
        assert_eq!(turning.cost(&start), Some(cost));
    }

    #[test]
    fn dead_ends_are_left_in_reverse_or_not_at_all() {
        // An aisle of three cells that is closed in the east.
        let mut map = GridMap::new(Cell::new(0, 0), 60, 40).unwrap();
        for x in 30..50 {
            for y in [18, 22] {
                map.set(Cell::new(x, y), 0);
            }
        }
        for y in 18..=22 {
            map.set(Cell::new(50, y), 0);
        }
        let start = PoseState::new(Cell::new(47, 20), 0.0, Gear::Forward);
        let goal = Cell::new(5, 20);
        assert_eq!(field(&map, Reverse::Never, goal).cost(&start), None);
        assert!(field(&map, Reverse::Allowed, goal).cost(&start).is_some());
    }

    #[test]
    fn large_maps_are_refused() {
        let map = GridMap::new(Cell::new(0, 0), 129, 10).unwrap();
        let steering = steering(Reverse::Allowed);
        assert!(PoseField::by_sweeps(&map, Rules::default(), steering, Cell::default()).is_err());
    }

    #[test]
    fn headings_are_the_nearest_ones() {
        for (angle, expected) in [(0.0, 0), (0.47, 1), (0.8, 2), (-1.57, 12), (3.1, 8)] {
            let state = PoseState::new(Cell::default(), angle, Gear::Forward);
            assert_eq!(state.heading, expected);
            assert!((state.angle() - angle).abs() < 0.25);
        }
    }
}
