//! The findings of the source, as statements about the measured rows.

use super::MeasuredRow;
use roadwright_moves::{Preset, Table, Track};
use serde::Serialize;

/// Minimum share of starts for the statement that most drives crash.
const MOST_CRASH: f64 = 0.75;
/// Minimum share of starts for the statement that most drives arrive.
const MOST_ARRIVE: f64 = 0.8;
/// Minimum share of starts for the statement that most drives skid.
const MOST_SKID: f64 = 0.9;
/// Maximum difference between the motions at a seam of the large tree, for the statement about its
/// seams to hold.
const THRESHOLD: f64 = 0.5;

/// A statement about the rows.
#[derive(Debug, Serialize)]
pub(super) struct Statement {
    pub(super) table: &'static str,
    pub(super) statement: &'static str,
    pub(super) holds: bool,
}

/// Returns the statements about tables whose rows have all been measured.
pub(super) fn of(rows: &[MeasuredRow]) -> Vec<Statement> {
    let judged = Judged { rows };
    let mut all = Vec::new();
    for table in Table::ALL {
        if judged.of(table).next().is_none() {
            continue;
        }
        let statements = judged.statements(table).into_iter();
        all.extend(statements.map(|(statement, holds)| Statement {
            table: table.number(),
            statement,
            holds,
        }));
    }
    all
}

struct Judged<'a> {
    rows: &'a [MeasuredRow],
}

fn share(part: u32, row: &MeasuredRow) -> f64 {
    f64::from(part) / f64::from(row.starts)
}

fn crashes(row: &MeasuredRow) -> bool {
    share(row.crashed, row) >= MOST_CRASH
}

fn arrives(row: &MeasuredRow) -> bool {
    share(row.arrived, row) >= MOST_ARRIVE
}

fn survives(row: &MeasuredRow) -> bool {
    share(row.survived, row) >= MOST_ARRIVE
}

impl<'a> Judged<'a> {
    fn of(&self, table: Table) -> impl Iterator<Item = &'a MeasuredRow> {
        let rows = self.rows.iter();
        rows.filter(move |row| row.table == table.number())
    }

    /// Returns the rows of a table that are also in the source.
    fn printed(&self, table: Table) -> impl Iterator<Item = &'a MeasuredRow> {
        self.of(table).filter(|row| !row.is_control)
    }

    fn statements(&self, table: Table) -> Vec<(&'static str, bool)> {
        match table {
            Table::T41 => self.longer_horizons_last(),
            Table::T42 => self.corners(),
            Table::T43 => self.corners_with_cars(),
            Table::T44 => vec![(
                "in every row, at least four of five drives survive two minutes",
                self.printed(table).all(survives),
            )],
            Table::T45 => self.smooth_corners(),
            Table::T46 => vec![(
                "in every row, at least four of five drives arrive",
                self.printed(table).all(arrives),
            )],
            Table::T47 => self.skids(),
            Table::T48 => self.many_cars(),
        }
    }

    fn longer_horizons_last(&self) -> Vec<(&'static str, bool)> {
        let rows: Vec<&MeasuredRow> = self.printed(Table::T41).collect();
        let Some((last, shorter)) = rows.split_last() else {
            return Vec::new();
        };
        let grows = |pair: &[&MeasuredRow]| pair[0].median_s < pair[1].median_s;
        vec![
            (
                "from 24 to 99 frames, the median time to a crash increases",
                shorter.windows(2).all(grows),
            ),
            (
                "with 124 frames, at least four of five drives survive two minutes",
                survives(last),
            ),
        ]
    }

    fn corners(&self) -> Vec<(&'static str, bool)> {
        let finish = |frames: u32| {
            let mut rows = self.printed(Table::T42);
            let row = rows.find(|row| row.tree == Preset::Seven.name() && row.frames == frames);
            row.and_then(|row| row.finish_s).unwrap_or(f64::NAN)
        };
        vec![
            (
                "every drive arrives",
                self.printed(Table::T42)
                    .all(|row| row.arrived == row.starts),
            ),
            (
                "with seven branches, drives are faster with 99 frames than with 49",
                finish(99) < finish(49),
            ),
        ]
    }

    fn corners_with_cars(&self) -> Vec<(&'static str, bool)> {
        let is_blind = |row: &&MeasuredRow| row.tree == Preset::Five.name() || row.frames < 99;
        let rows = || self.printed(Table::T43);
        vec![
            (
                "with five branches, or seven and 49 frames, at least three of four drives crash",
                rows().filter(is_blind).all(crashes),
            ),
            (
                "with seven branches and 99 frames or more, at least four of five drives arrive",
                rows().filter(|row| !is_blind(row)).all(arrives),
            ),
        ]
    }

    fn smooth_corners(&self) -> Vec<(&'static str, bool)> {
        let rows = || self.printed(Table::T45);
        let mut all = vec![(
            "at every seam, speeds and yaw rate differ by at most the threshold",
            rows().all(|row| row.worst_seam <= THRESHOLD),
        )];
        let fastest = rows().filter_map(|row| row.finish_s).reduce(f64::min);
        let small: Vec<f64> = self
            .printed(Table::T42)
            .filter_map(|row| row.finish_s)
            .collect();
        if !small.is_empty() {
            let is_slower = fastest.is_some_and(|time| small.iter().all(|&other| time > other));
            all.push((
                "the large tree is slower than every row of table 4.2",
                is_slower,
            ));
        }
        all
    }

    /// Returns the control row with the given tree and the same horizon as a row.
    fn control(&self, row: &MeasuredRow, tree: Preset) -> Option<&'a MeasuredRow> {
        let mut rows = self.of(Table::T47);
        rows.find(|other| other.tree == tree.name() && other.frames == row.frames)
    }

    fn skids(&self) -> Vec<(&'static str, bool)> {
        let rows = || self.printed(Table::T47);
        let is_worse = |row: &MeasuredRow| {
            self.control(row, Preset::LargeWithoutSkids)
                .is_some_and(|other| {
                    other.arrived < row.arrived
                        || other.finish_s.zip(row.finish_s).is_some_and(|(a, b)| a > b)
                })
        };
        let is_sooner = |row: &MeasuredRow| {
            let other = self.control(row, Preset::LargeAngles);
            let times = other.and_then(|other| other.at_corner_s.zip(row.at_corner_s));
            times.is_some_and(|(other, own)| other < own)
        };
        vec![
            (
                "at least nine of ten drives skid at a sharp corner, by more than 20 degrees for 0.3 s",
                rows().all(|row| share(row.skids_at_corner, row) >= MOST_SKID),
            ),
            (
                "without skids, drives are slower or fail",
                rows().all(is_worse),
            ),
            (
                "drives take corners faster if skids at several angles are available",
                rows().all(is_sooner),
            ),
        ]
    }

    fn many_cars(&self) -> Vec<(&'static str, bool)> {
        let on = |track: Track, limit: u32| {
            let mut rows = self.of(Table::T48);
            rows.find(|row| row.track == track.name() && row.limit == Some(limit))
        };
        let fails = |row: &MeasuredRow| share(row.starts - row.arrived, row) >= MOST_ARRIVE;
        vec![
            (
                "with 5,000 nodes and few cars, at least four of five drives arrive",
                on(Track::Final, 5000).is_some_and(arrives),
            ),
            (
                "with 5,000 nodes and many cars, at least four of five drives fail",
                on(Track::FinalDense, 5000).is_some_and(fails),
            ),
            (
                "with 250,000 nodes and many cars, at least four of five drives arrive",
                on(Track::FinalDense, 250_000).is_some_and(arrives),
            ),
        ]
    }
}
