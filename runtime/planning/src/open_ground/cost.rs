//! Costs of steps, and the lower bound that guides a search.

use super::cell::{Cell, Direction};
use roadwright_agent::GroundPlanning;

/// Factor of plain ground.
pub const PLAIN: i32 = 16;
/// Lower limit of the factor of a cell, as on paved ground without lanes.
pub const SMALLEST_FACTOR: u32 = 8;
/// Upper limit of the factor of a cell.
pub const LARGEST_FACTOR: u32 = 65_535;
/// Factor of carriageways: a path over open ground may cross a carriageway, but not run along it.
pub const CARRIAGEWAY: i32 = 64;

/// Costs of straight and diagonal steps relative to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepCosts {
    /// 10 for straight and 14 for diagonal steps, as in [Kuffner 1998]. Five diagonal steps cost as much as seven
    /// straight ones, so the cheapest path may be 1 % longer than the shortest.
    #[default]
    TenFourteen,
    /// A straight step costs 5741, a diagonal step 8119. Their ratio is so close to the square root
    /// of two that the cheapest path is the shortest one on any map that fits into memory.
    Octile,
}

impl StepCosts {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::TenFourteen, Self::Octile];

    /// Name of the variant in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::TenFourteen => "10_14",
            Self::Octile => "octile",
        }
    }

    /// Cost of a straight step between two cells whose factors add up to 1.
    #[inline]
    pub fn straight(self) -> u64 {
        match self {
            Self::TenFourteen => 10,
            Self::Octile => 5741,
        }
    }

    /// Cost of a diagonal step between two cells whose factors add up to 1.
    #[inline]
    pub fn diagonal(self) -> u64 {
        match self {
            Self::TenFourteen => 14,
            Self::Octile => 8119,
        }
    }

    /// Cost of a step in a direction between two cells whose factors add up to 1.
    #[inline]
    pub fn of(self, direction: Direction) -> u64 {
        if direction.is_diagonal() {
            self.diagonal()
        } else {
            self.straight()
        }
    }

    /// Cost of the shortest path between two cells without obstacles, if the factors of the cells
    /// of each step add up to 1.
    #[inline]
    pub fn between(self, a: Cell, b: Cell) -> u64 {
        let distance = a.distance(b);
        let (columns, rows) = (u64::from(distance.columns), u64::from(distance.rows));
        let (long, short) = (columns.max(rows), columns.min(rows));
        self.straight() * (long - short) + self.diagonal() * short
    }

    /// Greatest common divisor of the costs of straight and diagonal steps.
    pub(super) fn unit(self) -> u64 {
        match self {
            Self::TenFourteen => 2,
            Self::Octile => 1,
        }
    }
}

/// Whether a diagonal step may cut the corner of a blocked cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Corners {
    /// No: both cells beside a diagonal step have to be free.
    #[default]
    Keep,
    /// Yes: only the cells at both ends of the step have to be free.
    Cut,
}

/// Rules for steps between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// Costs of straight and diagonal steps.
    pub costs: StepCosts,
    /// Whether diagonal steps may cut the corners of blocked cells.
    pub corners: Corners,
}

impl From<&GroundPlanning> for Rules {
    fn from(planning: &GroundPlanning) -> Self {
        Self {
            costs: match planning.is_octile {
                true => StepCosts::Octile,
                false => StepCosts::TenFourteen,
            },
            corners: match planning.cuts_corners {
                true => Corners::Cut,
                false => Corners::Keep,
            },
        }
    }
}

impl Rules {
    /// Octile costs without corner cutting: the rules of the Moving AI benchmarks.
    pub const MOVING_AI: Self = Self {
        costs: StepCosts::Octile,
        corners: Corners::Keep,
    };

    /// Lower bound of the cost between two cells, given that no factor is smaller than `smallest_factor`.
    #[inline]
    pub fn bound(self, a: Cell, b: Cell, smallest_factor: u32) -> u64 {
        // The cost of a step includes the factors of two cells.
        self.costs.between(a, b) * 2 * u64::from(smallest_factor)
    }
}

/// Returns the factor of a cell: the sum of its layers, clamped.
#[inline]
pub fn clamp_factor(sum: i32) -> u32 {
    sum.clamp(SMALLEST_FACTOR as i32, LARGEST_FACTOR as i32) as u32
}
