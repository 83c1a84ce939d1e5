//! Obstacles around a vehicle: fixed walls and posts, and cars that move at constant velocity.

use crate::body::{Bounds, Convex};
use crate::mask::MaskMap;
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
    /// Pieces and fixed obstacles far from each other are skipped by masks, and movers by time and place (section 5.6).
    #[default]
    Masks,
    /// Obstacles whose bounding boxes cannot overlap the move are skipped.
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
    map: MaskMap,
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
            map: MaskMap::of(&fixed),
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

    /// Returns the fixed obstacles.
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
            Phase::Masks => !self.hits_masked(trial) && !self.hits_mover(trial),
            Phase::Broad => !self.hits_fixed(trial) && !self.hits_mover(trial),
            Phase::Exact => self.first_hit(trial).is_none(),
        }
    }

    /// Whether a move touches nothing, by masks. `schedule` is the schedule of the current movers.
    pub(crate) fn is_free_by(&self, trial: &Trial<'_>, schedule: &Schedule) -> bool {
        let mut near = schedule.near(trial).iter();
        !self.hits_masked(trial)
            && !near.any(|&number| self.hits_this_mover(trial, number as usize))
    }

    /// Returns the obstacle with the lowest number that a move touches; `None` if it touches none.
    /// Every piece is tested against every obstacle.
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
        self.hits_near(trial, &area, &sweep.pieces)
    }

    /// Whether a move touches a fixed obstacle. Uses the mask of the move, if it has one.
    fn hits_masked(&self, trial: &Trial<'_>) -> bool {
        let Some(mask) = &trial.sweep.mask else {
            return self.hits_fixed(trial);
        };
        let doubt = self.map.doubt(mask, &trial.place);
        doubt.is_some_and(|doubt| {
            let [first, last] = doubt.pieces;
            self.hits_near(trial, &doubt.area, &trial.sweep.pieces[first..=last])
        })
    }

    /// Whether some pieces of a move touch a fixed obstacle. Obstacles outside an area, in world coordinates, are
    /// skipped.
    fn hits_near(&self, trial: &Trial<'_>, area: &Bounds, pieces: &[Piece]) -> bool {
        let Trial { sweep, place, .. } = trial;
        let local = sweep.bounds.grown(MARGIN);
        self.index.any_near(area, |number| {
            let outline = &self.fixed[number];
            let seen = outline.to_local(place);
            let bounds = seen.bounds();
            if !bounds.meets(&local) {
                return false;
            }
            let bounds = bounds.grown(MARGIN);
            let mut pieces = pieces.iter();
            pieces.any(|piece| piece.bounds.meets(&bounds) && piece.hull.meets(&seen))
        })
    }

    fn hits_mover(&self, trial: &Trial<'_>) -> bool {
        (0..self.movers.len()).any(|number| self.hits_this_mover(trial, number))
    }

    fn hits_this_mover(&self, trial: &Trial<'_>, number: usize) -> bool {
        let Trial {
            sweep,
            place,
            begin,
            period,
        } = trial;
        let (mover, circle) = (&self.movers[number], &self.circles[number]);
        let bounds = sweep.bounds;
        let half = 0.5 * (bounds.high - bounds.low);
        let centre = place.point(bounds.low + half);
        let length = sweep.frames() * period;
        let start = f64::from(*begin) * period;
        // Maximum distance of the mover from its position halfway through the move.
        let roams = 0.5 * length * (mover.velocity.x.abs() + mover.velocity.y.abs());
        let middle = circle.centre + mover.velocity * (start + 0.5 * length);
        let near = half.length() + circle.radius + roams + MARGIN;
        if (middle - centre).length_squared() > near * near {
            return false;
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
        sweep.pieces.iter().any(meets)
    }

    /// Creates the schedule of the movers for searches whose moves begin before a horizon and last
    /// `longest` frames at most. A frame lasts `period` seconds. `None` if there are no movers, or
    /// if one of them is infinitely far away.
    pub(crate) fn schedule(&self, horizon: u32, longest: u32, period: f64) -> Option<Schedule> {
        let spans = horizon / SPAN + 1;
        let boxes: Vec<Bounds> = (0..spans)
            .flat_map(|span| {
                let [from, to] = [span * SPAN, (span + 1) * SPAN + longest]
                    .map(|frame| f64::from(frame) * period);
                let circles = self.circles.iter().zip(&self.movers);
                circles.map(move |(circle, mover)| {
                    let ends = [from, to].map(|time| circle.centre + mover.velocity * time);
                    Bounds::of(&ends).grown(circle.radius + MARGIN)
                })
            })
            .collect();
        Schedule::of(&boxes, self.movers.len())
    }
}

/// Duration of a span of a schedule, in frames.
const SPAN: u32 = 25;
/// Maximum number of strips of a schedule.
const MOST_STRIPS: f64 = 256.0;
/// Width of a strip, m, unless there would be too many.
const STRIP: f64 = 8.0;

/// Index for finding movers. Movers are listed by the time at which a move begins, and by the strip
/// of ground that they cross until it ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schedule {
    /// Direction across the strips, a unit vector along an axis.
    across: DVec2,
    /// Start of the first strip along this direction, m.
    low: f64,
    /// Number of strips per metre.
    scale: f64,
    strips: usize,
    /// Start of the mover numbers of each strip, span by span.
    begins: Vec<u32>,
    numbers: Vec<u32>,
}

impl Schedule {
    /// Creates the schedule of boxes around movers, span by span. Each span has a box for every
    /// mover.
    fn of(boxes: &[Bounds], movers: usize) -> Option<Self> {
        let all = boxes.iter().copied().reduce(|a, b| a.with(&b))?;
        if !(all.low.is_finite() && all.high.is_finite()) {
            return None;
        }
        let size = all.high - all.low;
        let across = if size.x > size.y { DVec2::X } else { DVec2::Y };
        let whole = size.dot(across);
        let strips = (whole / STRIP).ceil().clamp(1.0, MOST_STRIPS);
        let mut schedule = Self {
            across,
            low: all.low.dot(across),
            scale: strips / whole.max(STRIP),
            strips: strips as usize,
            ..Self::default()
        };
        // Counts the entries of each strip, and then stores the numbers.
        let spans = boxes.len() / movers;
        let mut counts = vec![0u32; spans * schedule.strips + 1];
        let cells = |number: usize| {
            let [first, last] = schedule.strips_of(&boxes[number]);
            let span = number / movers * schedule.strips;
            span + first..=span + last
        };
        (0..boxes.len()).for_each(|number| cells(number).for_each(|cell| counts[cell + 1] += 1));
        for cell in 1..counts.len() {
            counts[cell] += counts[cell - 1];
        }
        let mut numbers = vec![0; counts[counts.len() - 1] as usize];
        let mut next = counts.clone();
        for number in 0..boxes.len() {
            for cell in cells(number) {
                numbers[next[cell] as usize] = (number % movers) as u32;
                next[cell] += 1;
            }
        }
        schedule.begins = counts;
        schedule.numbers = numbers;
        Some(schedule)
    }

    /// First and last strip that a box touches. Parts of the box outside the strips are assigned to
    /// the first or last strip.
    fn strips_of(&self, bounds: &Bounds) -> [usize; 2] {
        [bounds.low, bounds.high].map(|corner| {
            let strip = ((corner.dot(self.across) - self.low) * self.scale).max(0.0);
            (strip as usize).min(self.strips - 1)
        })
    }

    /// Movers that a move may touch. Some may occur more than once.
    fn near(&self, trial: &Trial<'_>) -> &[u32] {
        let area = trial.sweep.bounds.placed(&trial.place).grown(MARGIN);
        let [first, last] = self.strips_of(&area);
        let span = (trial.begin / SPAN) as usize * self.strips;
        let [begin, end] = [span + first, span + last + 1].map(|cell| self.begins[cell] as usize);
        &self.numbers[begin..end]
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
