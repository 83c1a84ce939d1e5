//! The experiments of [Adam 2007], tables 4.1 to 4.8: trees, courses, horizons and limits, with the results
//! that the source prints.

use crate::course::{Corridor, Course, DrawnCorridor, Rows, Stretch, Traffic};
use crate::presets::Preset;
use std::f64::consts::FRAC_PI_4;

/// A table of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Small tree, long straight track with cars.
    T41,
    /// Small trees, cornered track.
    T42,
    /// Small trees, cornered track with cars.
    T43,
    /// Large tree, long straight track with cars.
    T44,
    /// Large tree, cornered track.
    T45,
    /// Large tree, cornered track with cars.
    T46,
    /// Large tree, track with sharp corners.
    T47,
    /// Large tree, final track.
    T48,
}

/// A track of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Track {
    /// Figure 4.2: a long straight with equally spaced, tilted cars.
    LongStraight,
    /// Figure 4.3: corners of various angles.
    Cornered,
    /// Figure 4.3, with cars on the track.
    CorneredCars,
    /// Figure 4.5: long straights and sharp, hard corners.
    SharpCorners,
    /// Figure 4.6: normal corners, a sharp one, and cars in a large centre.
    Final,
    /// Figure 4.6 with half the gaps between cars, and therefore twice as many cars.
    FinalDense,
}

/// Printed result of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Printed {
    /// Crash after this time, s.
    CrashAfter(f64),
    /// Crash at a time that the source does not print.
    Crash,
    /// Arrival at the finish line after this time, s.
    Finish(f64),
    /// No crash within two minutes.
    Survives,
    /// Arrival after skids in sharp corners, at a time that the source does not print.
    Skids,
    /// Failure in dense traffic, for which the source gives no figures.
    Fails,
    /// No result, because the row is not in the source.
    Nothing,
}

/// A row of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableRow {
    /// Table that contains the row.
    pub table: Table,
    /// Track of the row.
    pub track: Track,
    /// Move tree of the vehicle.
    pub tree: Preset,
    /// Planning horizon, frames.
    pub frames: u32,
    /// Maximum number of nodes; `None` if the source prints none.
    pub limit: Option<u32>,
    /// Result that the source prints.
    pub printed: Printed,
}

/// Maximum number of nodes for rows where the source prints none. The deepest tree of table 4.1 has 3,905
/// nodes.
pub const UNPRINTED_LIMIT: u32 = 15_000;

/// Creates a row on the usual track of its table.
const fn row(
    table: Table,
    tree: Preset,
    frames: u32,
    limit: Option<u32>,
    printed: Printed,
) -> TableRow {
    TableRow {
        table,
        track: table.track(),
        tree,
        frames,
        limit,
        printed,
    }
}

const FEW: Option<u32> = Some(15_000);
const MANY: Option<u32> = Some(45_000);
const MOST: Option<u32> = Some(250_000);
const LEAST: Option<u32> = Some(5_000);

/// The rows of the tables, in the order of the source.
pub const ROWS: [TableRow; 29] = [
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
    row(Table::T44, Preset::Large, 299, MANY, Printed::Survives),
    row(Table::T45, Preset::Large, 49, MANY, Printed::Finish(44.0)),
    row(Table::T46, Preset::Large, 400, FEW, Printed::Finish(45.5)),
    row(Table::T46, Preset::Large, 400, MANY, Printed::Finish(50.0)),
    row(Table::T46, Preset::Large, 400, MOST, Printed::Finish(46.0)),
    row(Table::T46, Preset::Large, 700, MOST, Printed::Finish(45.5)),
    row(Table::T47, Preset::Large, 200, FEW, Printed::Skids),
    row(Table::T47, Preset::Large, 400, FEW, Printed::Skids),
    row(Table::T48, Preset::Large, 200, LEAST, Printed::Finish(48.5)),
    TableRow {
        track: Track::FinalDense,
        ..row(Table::T48, Preset::Large, 400, MOST, Printed::Finish(51.0))
    },
];

/// Additional rows that support statements of the source:
///
/// - the cornered track, with a horizon in which 45,000 nodes can be reached;
/// - the cornered track, with a slower tree;
/// - sharp corners without skids, and with skids of several angles;
/// - many cars with a small limit.
pub const CONTROLS: [TableRow; 7] = [
    row(Table::T45, Preset::Large, 499, MANY, Printed::Nothing),
    row(Table::T45, Preset::LargeSlow, 49, MANY, Printed::Nothing),
    row(
        Table::T47,
        Preset::LargeWithoutSkids,
        200,
        FEW,
        Printed::Nothing,
    ),
    row(
        Table::T47,
        Preset::LargeWithoutSkids,
        400,
        FEW,
        Printed::Nothing,
    ),
    row(Table::T47, Preset::LargeAngles, 200, FEW, Printed::Nothing),
    row(Table::T47, Preset::LargeAngles, 400, FEW, Printed::Nothing),
    TableRow {
        track: Track::FinalDense,
        ..row(Table::T48, Preset::Large, 200, LEAST, Printed::Fails)
    },
];

impl Table {
    /// All tables.
    pub const ALL: [Self; 8] = [
        Self::T41,
        Self::T42,
        Self::T43,
        Self::T44,
        Self::T45,
        Self::T46,
        Self::T47,
        Self::T48,
    ];

    /// Number of the table in the source.
    pub fn number(self) -> &'static str {
        match self {
            Self::T41 => "4.1",
            Self::T42 => "4.2",
            Self::T43 => "4.3",
            Self::T44 => "4.4",
            Self::T45 => "4.5",
            Self::T46 => "4.6",
            Self::T47 => "4.7",
            Self::T48 => "4.8",
        }
    }

    /// Usual track of the table.
    pub const fn track(self) -> Track {
        match self {
            Self::T41 | Self::T44 => Track::LongStraight,
            Self::T42 | Self::T45 => Track::Cornered,
            Self::T43 | Self::T46 => Track::CorneredCars,
            Self::T47 => Track::SharpCorners,
            Self::T48 => Track::Final,
        }
    }

    /// Rows of the table.
    pub fn rows(self) -> impl Iterator<Item = &'static TableRow> {
        ROWS.iter().filter(move |row| row.table == self)
    }

    /// Additional rows for this table that are not in the source.
    pub fn controls(self) -> impl Iterator<Item = &'static TableRow> {
        CONTROLS.iter().filter(move |row| row.table == self)
    }
}

/// Maximum duration of drives that the source stops after two minutes, s.
const TWO_MINUTES: f64 = 120.0;
/// Maximum duration of a drive on tracks with a finish, s.
const LONGEST: f64 = 180.0;

/// The straight track. It is four kilometres long, so that no vehicle arrives within two minutes.
pub const STRAIGHT: Corridor = Corridor {
    length: 4000.0,
    corners: 0,
    sharpness: 0.0,
    width: 25.0,
    seed: 1,
};
/// Cars on the straight track. They leave no free line, so that a vehicle has to change its lateral position again
/// and again.
pub const STRAIGHT_CARS: Traffic = Traffic {
    count: 360,
    lines: 9,
    margin: 2.0,
    speed: 9.0,
    tilt: 0.2,
};
/// The cornered track. Its length is calibrated so that the 5-branch tree with 149 frames and 15,000 nodes
/// has a median time within a second of 33 s.
pub const CORNERED: Corridor = Corridor {
    length: 745.0,
    corners: 10,
    sharpness: 0.9,
    width: 16.0,
    seed: 6,
};
/// Cars on the cornered track. Their number is chosen so that the 7-branch tree with 99 frames and 15,000
/// nodes arrives from at least 16 of 20 starts, whereas no 5-branch tree does.
pub const CORNERED_CARS: Traffic = Traffic {
    count: 34,
    lines: 2,
    margin: 2.5,
    speed: 3.0,
    tilt: 0.0,
};

/// The track with sharp corners: straights of some seconds at top speed, and corners of 90 degrees.
pub const SHARP_CORNERS: DrawnCorridor = DrawnCorridor {
    width: 16.0,
    stretches: &[
        stretch(120.0, FRAC_PI_4),
        stretch(150.0, -FRAC_PI_4),
        stretch(150.0, FRAC_PI_4),
        stretch(150.0, -FRAC_PI_4),
        stretch(120.0, 0.0),
    ],
};
/// The final track: normal corners, a large centre, and a sharp corner.
pub const FINAL: DrawnCorridor = DrawnCorridor {
    width: 16.0,
    stretches: &[
        stretch(80.0, 0.0),
        stretch(80.0, 0.4),
        stretch(80.0, -0.4),
        wide(40.0, 0.0),
        wide(220.0, 0.0),
        stretch(40.0, 0.0),
        stretch(120.0, FRAC_PI_4),
        stretch(120.0, -FRAC_PI_4),
    ],
};
/// Cars in the centre of the final track.
pub const FINAL_CARS: Rows = Rows {
    stretch: 4,
    count: 12,
    margin: 3.0,
    gap: 44.0,
    speed: 3.0,
};

const fn stretch(length: f64, angle: f64) -> Stretch {
    Stretch {
        length,
        angle,
        width: 16.0,
    }
}

const fn wide(length: f64, angle: f64) -> Stretch {
    Stretch {
        length,
        angle,
        width: 40.0,
    }
}

impl Track {
    /// All tracks.
    pub const ALL: [Self; 6] = [
        Self::LongStraight,
        Self::Cornered,
        Self::CorneredCars,
        Self::SharpCorners,
        Self::Final,
        Self::FinalDense,
    ];

    /// Name of the track.
    pub fn name(self) -> &'static str {
        match self {
            Self::LongStraight => "long-straight",
            Self::Cornered => "cornered",
            Self::CorneredCars => "cornered-cars",
            Self::SharpCorners => "sharp-corners",
            Self::Final => "final",
            Self::FinalDense => "final-dense",
        }
    }

    /// Converts the track to a course.
    pub fn course(self) -> Course {
        let dense = Rows {
            gap: 0.5 * FINAL_CARS.gap,
            ..FINAL_CARS
        };
        match self {
            Self::LongStraight => STRAIGHT.course(self.name(), Some(&STRAIGHT_CARS), TWO_MINUTES),
            Self::Cornered => CORNERED.course(self.name(), None, LONGEST),
            Self::CorneredCars => CORNERED.course(self.name(), Some(&CORNERED_CARS), LONGEST),
            Self::SharpCorners => SHARP_CORNERS.course(self.name(), None, LONGEST),
            Self::Final => FINAL.course(self.name(), Some(&FINAL_CARS), LONGEST),
            Self::FinalDense => FINAL.course(self.name(), Some(&dense), LONGEST),
        }
    }
}
