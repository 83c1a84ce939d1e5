//! What ends a drive.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How often it is looked whether a drive has ended, s of simulated time.
pub(crate) const LOOK: f64 = 0.1;

/// What ends the drives of a course. Arriving at the last goal always does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    /// Time after which a drive is over, s.
    pub time: f64,
    /// Distance after which a drive is complete, m; `None`: it is complete when it arrives.
    pub mileage: Option<f64>,
}

/// How a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It arrived at its last goal.
    Arrived,
    /// It has driven as far as is asked.
    Mileage,
    /// Its time was over.
    Time,
    /// It was taken off the road.
    Removed,
}

impl End {
    /// Whether the drive is complete.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Arrived | Self::Mileage)
    }

    /// Its name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrived => "arrived",
            Self::Mileage => "mileage",
            Self::Time => "time",
            Self::Removed => "removed",
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Ends {
    /// How a drive that is under way ends, if it does: after a distance, m, and a time, s.
    pub(crate) fn end_of(&self, distance: f64, time: f64) -> Option<End> {
        if self.mileage.is_some_and(|mileage| distance >= mileage) {
            return Some(End::Mileage);
        }
        // Times are products of steps: half of the looking interval is far from both neighbours.
        (time >= self.time - 0.5 * LOOK).then_some(End::Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_come_in_their_order() {
        let ends = Ends {
            time: 60.0,
            mileage: Some(300.0),
        };
        // (distance, time) -> end: a table, one line for each case.
        for (distance, time, end) in [
            (0.0, 0.0, None),
            (299.9, 59.9, None),
            (300.0, 10.0, Some(End::Mileage)),
            // Both at once: the drive is complete.
            (300.0, 60.0, Some(End::Mileage)),
            (299.9, 60.0, Some(End::Time)),
            (0.0, 1e9, Some(End::Time)),
        ] {
            assert_eq!(ends.end_of(distance, time), end, "{distance} m, {time} s");
        }
        let no_mileage = Ends {
            mileage: None,
            ..ends
        };
        assert_eq!(no_mileage.end_of(1e9, 59.0), None);
    }
}
