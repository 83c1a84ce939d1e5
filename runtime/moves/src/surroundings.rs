//! Obstacles around a vehicle: fixed walls and posts, and cars that move at constant velocity.

use crate::body::{Bounds, Convex};
use crate::placement::Placement;
use crate::sweep::{Piece, Sweep};
use roadwright_geometry::DVec2;

/// Edge length of a cell of the index of fixed obstacles, m.
const CELL: f64 = 16.0;
/// Maximum number of cells along each axis.
const MOST_CELLS: f64 = 512.0;
/// Margin of the preliminary comparisons, m. It ensures that rounding does not hide an obstacle that the
/// exact test would find.
const MARGIN: f64 = 1e-6;

/// Index of an obstacle. Fixed obstacles come first, in the order in which they were given, then movers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObstacleNumber(pub u32);

/// An obstacle that moves at constant velocity without turning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mover {
    /// Outline at the start of the plan.
    pub outline: Convex,
    /// Velocity, m/s.
    pub velocity: DVec2,
}

/// Selection of the obstacles to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Obstacles that cannot overlap the move are skipped.
    #[default]
    Broad,
    /// Every piece is tested against every obstacle.
    Exact,
}

/// Inputs for testing a move.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// The area that the move sweeps.
    pub sweep: &'a Sweep,
    /// Placement at which the move begins.
    pub place: Placement,
    /// Start of the move, in frames from the start of the plan.
    pub begin: u32,
    /// Duration of a frame, s.
    pub period: f64,
}

/// Obstacles of a plan.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    fixed: Vec<Convex>,
    index: Index,
    movers: Vec<Mover>,
    /// Circle around each mover.
    circles: Vec<Circle>,
}

#[derive(Debug, Clone, Copy)]
struct Circle {
    centre: DVec2,
    radius: f64,
}

impl Circle {
    fn around(outline: &Convex) -> Self {
        let bounds = outline.bounds();
        let centre = 0.5 * (bounds.low + bounds.high);
        let corners = outline.corners().iter();
        let radius = corners.fold(0.0, |most: f64, corner| {
            most.max((*corner - centre).length())
        });
        Self { centre, radius }
    }
}

impl Surroundings {
    /// Creates surroundings with fixed obstacles only.
    pub fn of(fixed: Vec<Convex>) -> Self {
        Self {
            index: Index::of(&fixed),
            fixed,
            movers: Vec::new(),
            circles: Vec::new(),
        }
    }

    /// Replaces the moving obstacles.
    pub fn set_movers(&mut self, movers: Vec<Mover>) {
        self.circles = movers
            .iter()
            .map(|mover| Circle::around(&mover.outline))
            .collect();
        self.movers = movers;
    }

    /// Number of obstacles.
    pub fn len(&self) -> usize {
        self.fixed.len() + self.movers.len()
    }

    /// Whether there are no obstacles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The fixed obstacles.
    pub(crate) fn fixed(&self) -> &[Convex] {
        &self.fixed
    }

    /// Whether the straight line between two places touches a fixed obstacle.
    pub(crate) fn crosses(&self, from: DVec2, to: DVec2) -> bool {
        let line = Convex::line(from, to);
        let bounds = line.bounds().grown(MARGIN);
        self.index.any_near(&bounds, |number| {
            let outline = &self.fixed[number];
            outline.bounds().meets(&bounds) && outline.meets(&line)
        })
    }

    /// Whether a move touches nothing.
    pub fn is_free(&self, trial: &Trial<'_>, phase: Phase) -> bool {
        match phase {
            Phase::Broad => !self.hits_fixed(trial) && !self.hits_mover(trial),
            Phase::Exact => self.first_hit(trial).is_none(),
        }
    }

    /// The obstacle with the lowest number that a move touches; `None` if it touches none. Every piece is
    /// tested against every obstacle.
    pub fn first_hit(&self, trial: &Trial<'_>) -> Option<ObstacleNumber> {
        let Trial { sweep, place, .. } = trial;
        let fixed = self.fixed.iter().position(|outline| {
            let seen = outline.to_local(place);
            sweep.pieces.iter().any(|piece| piece.hull.meets(&seen))
        });
        let moving = || {
            let number = self.movers.iter().position(|mover| {
                let seen = Seen::of(mover, trial);
                sweep.pieces.iter().any(|piece| seen.meets(piece))
            });
            number.map(|number| self.fixed.len() + number)
        };
        let number = fixed.or_else(moving)?;
        Some(ObstacleNumber(number as u32))
    }

    fn hits_fixed(&self, trial: &Trial<'_>) -> bool {
        let Trial { sweep, place, .. } = trial;
        let area = sweep.bounds.placed(place).grown(MARGIN);
        let local = sweep.bounds.grown(MARGIN);
        self.index.any_near(&area, |number| {
            let outline = &self.fixed[number];
            let seen = outline.to_local(place);
            let bounds = seen.bounds();
            if !bounds.meets(&local) {
                return false;
            }
            let bounds = bounds.grown(MARGIN);
            let mut pieces = sweep.pieces.iter();
            pieces.any(|piece| piece.bounds.meets(&bounds) && piece.hull.meets(&seen))
        })
    }

    fn hits_mover(&self, trial: &Trial<'_>) -> bool {
        let Trial {
            sweep,
            place,
            begin,
            period,
        } = trial;
        if self.movers.is_empty() {
            return false;
        }
        let bounds = sweep.bounds;
        let half = 0.5 * (bounds.high - bounds.low);
        let centre = place.point(bounds.low + half);
        let reach = half.length();
        let length = sweep.pieces.last().map_or(0.0, |piece| piece.end) * period;
        let start = f64::from(*begin) * period;
        for (mover, circle) in self.movers.iter().zip(&self.circles) {
            // Maximum distance of the mover from its position halfway through the move.
            let roams = 0.5 * length * (mover.velocity.x.abs() + mover.velocity.y.abs());
            let middle = circle.centre + mover.velocity * (start + 0.5 * length);
            let near = reach + circle.radius + roams + MARGIN;
            if (middle - centre).length_squared() > near * near {
                continue;
            }
            let seen = Seen::of(mover, trial);
            let box_at_start = seen.outline.bounds();
            let meets = |piece: &Piece| {
                // Bounding box of the mover during the piece.
                let [first, last] =
                    [piece.begin, piece.end].map(|frame| seen.velocity * (frame * period));
                let low = box_at_start.low + first.min(last);
                let high = box_at_start.high + first.max(last);
                let area = Bounds { low, high }.grown(MARGIN);
                area.meets(&piece.bounds) && seen.meets(piece)
            };
            if sweep.pieces.iter().any(meets) {
                return true;
            }
        }
        false
    }
}

/// A mover, relative to the placement at which a move begins.
struct Seen {
    /// Outline when the move begins.
    outline: Convex,
    /// Velocity, m/s.
    velocity: DVec2,
    /// Duration of a frame, s.
    period: f64,
}

impl Seen {
    fn of(mover: &Mover, trial: &Trial<'_>) -> Self {
        let since = f64::from(trial.begin) * trial.period;
        let outline = mover.outline.shifted(mover.velocity * since);
        Self {
            outline: outline.to_local(&trial.place),
            velocity: trial.place.direction_to_local(mover.velocity),
            period: trial.period,
        }
    }

    /// Whether the mover is touched during a piece. Tests the sweep relative to the mover against the mover's
    /// position at the beginning of the piece.
    fn meets(&self, piece: &Piece) -> bool {
        let begun = self.velocity * (piece.begin * self.period);
        let shift = self.velocity * ((piece.end - piece.begin) * self.period);
        piece.relative_to(shift).meets(&self.outline.shifted(begun))
    }
}

/// Fixed obstacles, indexed by cell.
#[derive(Debug, Clone, Default)]
struct Index {
    origin: DVec2,
    /// Length of a cell along each axis, m.
    cell: DVec2,
    columns: usize,
    rows: usize,
    /// Start of the obstacle numbers of each cell, row by row.
    begins: Vec<u32>,
    numbers: Vec<u32>,
}

impl Index {
    fn of(fixed: &[Convex]) -> Self {
        let boxes: Vec<Bounds> = fixed.iter().map(|one| one.bounds().grown(MARGIN)).collect();
        let Some(all) = boxes.iter().copied().reduce(|a, b| a.with(&b)) else {
            return Self::default();
        };
        let size = (all.high - all.low).max(DVec2::ONE);
        let counts = (size / CELL)
            .ceil()
            .clamp(DVec2::ONE, DVec2::splat(MOST_CELLS));
        let mut index = Self {
            origin: all.low,
            cell: size / counts,
            columns: counts.x as usize,
            rows: counts.y as usize,
            ..Self::default()
        };
        let mut cells = vec![Vec::new(); index.columns * index.rows];
        for (number, bounds) in boxes.iter().enumerate() {
            if let Some(range) = index.range(bounds) {
                range.for_each(index.columns, |cell| cells[cell].push(number as u32));
            }
        }
        index.begins.push(0);
        for cell in cells {
            index.numbers.extend(cell);
            index.begins.push(index.numbers.len() as u32);
        }
        index
    }

    /// Cells that a box touches. Parts of the box outside the index count as cells at the edge. `None` if there are
    /// no cells.
    fn range(&self, bounds: &Bounds) -> Option<CellRange> {
        if self.columns == 0 {
            return None;
        }
        let last = DVec2::new(self.columns as f64, self.rows as f64) - 1.0;
        // This function is monotonic even after rounding, so boxes that overlap share a cell.
        let cell = |place: DVec2| {
            let cell = ((place - self.origin) / self.cell).floor();
            cell.clamp(DVec2::ZERO, last)
        };
        let (low, high) = (cell(bounds.low), cell(bounds.high));
        Some(CellRange {
            first: [low.x as usize, low.y as usize],
            last: [high.x as usize, high.y as usize],
        })
    }

    /// Whether a test succeeds for any obstacle in the cells that a box touches. Obstacles in several cells
    /// may be tested more than once.
    fn any_near(&self, bounds: &Bounds, mut test: impl FnMut(usize) -> bool) -> bool {
        let Some(range) = self.range(bounds) else {
            return false;
        };
        for row in range.first[1]..=range.last[1] {
            let cells = row * self.columns + range.first[0]..=row * self.columns + range.last[0];
            let numbers =
                self.begins[*cells.start()] as usize..self.begins[*cells.end() + 1] as usize;
            if self.numbers[numbers]
                .iter()
                .any(|&number| test(number as usize))
            {
                return true;
            }
        }
        false
    }
}

/// A rectangle of cells, including both ends.
struct CellRange {
    first: [usize; 2],
    last: [usize; 2],
}

impl CellRange {
    fn for_each(&self, columns: usize, mut visit: impl FnMut(usize)) {
        for row in self.first[1]..=self.last[1] {
            for column in self.first[0]..=self.last[0] {
                visit(row * columns + column);
            }
        }
    }
}
