//! How two ways through a junction meet.
//!
//! ```text
//!     diverge        merge          cross          graze
//!       /            \                 |           )   (     The bodies on them touch,
//!    --+--            --+--          --+--          ) (      their lines do not: two who
//!                                      |           )   (     turn left before each other.
//! ```

use super::ConnectingPath;
use crate::named::named;
use glam::DVec2;
use roadwright_geometry::polygon::segments_cross;

/// Lines are compared as chords that lie so near to them, m.
const TOLERANCE: f64 = 0.02;

named! {
    /// How two ways through a junction meet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Meeting {
        /// They come from one lane: vehicles on it follow each other.
        Diverge = "diverge",
        /// They end in one lane.
        Merge = "merge",
        /// Their lines cross.
        Cross = "cross",
        /// Bodies on them touch, and their lines do not cross.
        Graze = "graze",
    }
}

impl Meeting {
    /// How two ways meet, of which it is known that they do. O(points^2).
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
