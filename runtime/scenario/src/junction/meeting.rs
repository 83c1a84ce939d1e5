//! Determines how two connections of a junction meet.
//!
//! ```text
//!     diverge        merge          cross          graze
//!       /            \                 |           )   (     The vehicles on them touch, but the
//!    --+--            --+--          --+--          ) (      lines do not: two vehicles that turn
//!                                      |           )   (     left pass each other, for example.
//! ```

use super::ConnectingPath;
use crate::named::named;
use glam::DVec2;
use roadwright_geometry::polygon::segments_cross;

/// Maximum deviation of the chords that represent the lines in the comparison, m.
const TOLERANCE: f64 = 0.02;

named! {
    /// Relation between two connections of a junction that meet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Meeting {
        /// Both connections start in the same lane, so vehicles follow each other.
        Diverge = "diverge",
        /// Both connections end in the same lane.
        Merge = "merge",
        /// The lines of the connections cross.
        Cross = "cross",
        /// The bodies of vehicles on the connections touch, although the lines do not cross.
        Graze = "graze",
    }
}

impl Meeting {
    /// Determines how two conflicting connections meet. O(points^2).
    pub fn of(one: &ConnectingPath, other: &ConnectingPath) -> Self {
        if one.from == other.from {
            return Self::Diverge;
        }
        if one.to == other.to {
            return Self::Merge;
        }
        match (&one.curve, &other.curve) {
            (Some(a), Some(b)) if cross(&a.sample(TOLERANCE, 0.0), &b.sample(TOLERANCE, 0.0)) => {
                Self::Cross
            }
            _ => Self::Graze,
        }
    }
}

fn cross(one: &[DVec2], other: &[DVec2]) -> bool {
    one.windows(2).any(|a| {
        let mut pieces = other.windows(2);
        pieces.any(|b| segments_cross(a[0], a[1], b[0], b[1]))
    })
}
