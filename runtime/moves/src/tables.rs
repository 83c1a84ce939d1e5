//! The experiments of [Adam 2007], tables 4.1 to 4.3: trees, courses, horizons and limits, with the results
//! that the source prints.

use crate::course::{Corridor, Course, Traffic};
use crate::presets::Preset;

/// A table of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Small tree, long straight track with cars.
    T41,
    /// Small trees, cornered track.
    T42,
    /// Small trees, cornered track with cars.
    T43,
}

/// A track of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Track {
    /// Figure 4.2: a long straight with equally spaced, tilted cars.
    LongStraight,
    /// Figure 4.3: corners of various angles.
    Cornered,
    /// The same with cars.
    CorneredCars,
}

/// Printed result of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Printed {
    /// A crash after the given time, s.
    CrashAfter(f64),
    /// A crash at a time that the source does not print.
    Crash,
    /// Arrival at the finish line after the given time, s.
    Finish(f64),
    /// No crash within two minutes.
    Survives,
}

/// A row of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableRow {
    /// Its table.
    pub table: Table,
    /// Move tree.
    pub tree: Preset,
    /// Horizon, frames.
    pub frames: u32,
    /// Limit of nodes; `None` where the source prints none.
    pub limit: Option<u32>,
    /// Result of the source.
    pub printed: Printed,
}

/// Limit where the source prints none. The deepest tree of table 4.1 has 3,905 nodes.
pub const UNPRINTED_LIMIT: u32 = 15_000;

const fn row(
    table: Table,
    tree: Preset,
    frames: u32,
    limit: Option<u32>,
    printed: Printed,
) -> TableRow {
    TableRow {
        table,
        tree,
        frames,
        limit,
        printed,
    }
}

const FEW: Option<u32> = Some(15_000);
const MANY: Option<u32> = Some(45_000);

/// The rows of tables 4.1 to 4.3, in the order of the source.
pub const ROWS: [TableRow; 19] = [
    row(
        Table::T41,
        Preset::Five,
        24,
        None,
        Printed::CrashAfter(10.0),
    ),
    row(
        Table::T41,
        Preset::Five,
        49,
        None,
        Printed::CrashAfter(17.0),
    ),
    row(
        Table::T41,
        Preset::Five,
        74,
        None,
        Printed::CrashAfter(57.0),
    ),
    row(
        Table::T41,
        Preset::Five,
        99,
        None,
        Printed::CrashAfter(110.0),
    ),
    row(Table::T41, Preset::Five, 124, None, Printed::Survives),
    row(Table::T42, Preset::Five, 149, FEW, Printed::Finish(33.0)),
    row(Table::T42, Preset::Five, 299, MANY, Printed::Finish(39.0)),
    row(Table::T42, Preset::Seven, 49, FEW, Printed::Finish(35.5)),
    row(Table::T42, Preset::Seven, 99, FEW, Printed::Finish(31.5)),
    row(Table::T42, Preset::Seven, 149, FEW, Printed::Finish(35.0)),
    row(Table::T43, Preset::Five, 149, MANY, Printed::Crash),
    row(Table::T43, Preset::Five, 199, MANY, Printed::Crash),
    row(Table::T43, Preset::Five, 299, FEW, Printed::Crash),
    row(Table::T43, Preset::Five, 299, MANY, Printed::Crash),
    row(Table::T43, Preset::Seven, 49, FEW, Printed::Crash),
    row(Table::T43, Preset::Seven, 99, FEW, Printed::Finish(41.0)),
    row(Table::T43, Preset::Seven, 149, FEW, Printed::Finish(38.0)),
    row(Table::T43, Preset::Seven, 299, FEW, Printed::Finish(33.5)),
    row(Table::T43, Preset::Seven, 299, MANY, Printed::Finish(35.0)),
];

impl Table {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::T41, Self::T42, Self::T43];

    /// Its number in the source.
    pub fn number(self) -> &'static str {
        match self {
            Self::T41 => "4.1",
            Self::T42 => "4.2",
            Self::T43 => "4.3",
        }
    }

    /// Its track.
    pub fn track(self) -> Track {
        match self {
            Self::T41 => Track::LongStraight,
            Self::T42 => Track::Cornered,
            Self::T43 => Track::CorneredCars,
        }
    }

    /// Its rows.
    pub fn rows(self) -> impl Iterator<Item = &'static TableRow> {
        ROWS.iter().filter(move |row| row.table == self)
    }
}

/// Longest drive where the source stops after two minutes, s.
const TWO_MINUTES: f64 = 120.0;
/// Longest drive on tracks with a finish, s.
const LONGEST: f64 = 180.0;

/// The straight track: four kilometres, so that nothing arrives within two minutes.
pub const STRAIGHT: Corridor = Corridor {
    length: 4000.0,
    corners: 0,
    sharpness: 0.0,
    width: 25.0,
    seed: 1,
};
/// Cars on the straight track. No line between them is free, so a vehicle has to change its lateral position
/// again and again.
pub const STRAIGHT_CARS: Traffic = Traffic {
    count: 360,
    lines: 9,
    margin: 2.0,
    speed: 9.0,
    tilt: 0.2,
};
/// The cornered track. Its length is calibrated: the median time of the 5-branch tree with 149 frames and
/// 15,000 nodes is within a second of 33 s.
pub const CORNERED: Corridor = Corridor {
    length: 745.0,
    corners: 10,
    sharpness: 0.9,
    width: 16.0,
    seed: 6,
};
/// Cars on the cornered track. Their number is chosen so that the 7-branch tree with 99 frames and 15,000
/// nodes arrives from at least 16 of 20 starts, while 5-branch trees do not.
pub const CORNERED_CARS: Traffic = Traffic {
    count: 38,
    lines: 2,
    margin: 2.5,
    speed: 3.0,
    tilt: 0.0,
};

impl Track {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::LongStraight => "long-straight",
            Self::Cornered => "cornered",
            Self::CorneredCars => "cornered-cars",
        }
    }

    /// The track as a course.
    pub fn course(self) -> Course {
        match self {
            Self::LongStraight => STRAIGHT.course(self.name(), Some(&STRAIGHT_CARS), TWO_MINUTES),
            Self::Cornered => CORNERED.course(self.name(), None, LONGEST),
            Self::CorneredCars => CORNERED.course(self.name(), Some(&CORNERED_CARS), LONGEST),
        }
    }
}
