//! Painted ground: layers of cells that planners over open ground avoid, prefer or never enter.

use crate::quantity::{Area, PaintCell, Quantity, Validate, check_keys};
use glam::DVec2;
use roadwright_geometry::MAX_COORDINATE;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A layer of painted ground: cells, and their cost for each vehicle type that drives off the
/// lanes.
///
/// It affects only planning: a vehicle that is steered onto painted ground drives there as on any
/// other ground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaintLayer {
    /// Name, such as `Shrubs`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Edge length of the layer's cells, m.
    #[serde(default = "usual_cell")]
    pub cell: Quantity<PaintCell>,
    /// Effect on vehicle types that are not listed in `vehicles`.
    pub cost: PaintCost,
    /// Effect on particular vehicle types, by key. Keys of non-existent types have no effect.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vehicles: BTreeMap<String, PaintCost>,
    /// The painted cells.
    #[serde(default)]
    pub cells: PaintedCells,
    /// Painted areas, each given by its corners in order, m. Cells are painted if their centres lie inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlines: Vec<Area>,
}

fn usual_cell() -> Quantity<PaintCell> {
    PaintLayer::USUAL_CELL.into()
}

impl PaintLayer {
    /// Default edge length of cells, m.
    pub const USUAL_CELL: f64 = 1.0;

    /// Creates an empty layer with cells of the default size.
    pub fn new(name: impl Into<String>, cost: PaintCost) -> Self {
        Self {
            name: name.into(),
            cell: usual_cell(),
            cost,
            vehicles: BTreeMap::new(),
            cells: PaintedCells::default(),
            outlines: Vec::new(),
        }
    }

    /// Whether no cell is painted.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.outlines.is_empty()
    }

    /// Returns the painted cells, including those inside outlines. O(cells' runs + rows of the
    /// outlines).
    pub fn painted(&self) -> Cow<'_, PaintedCells> {
        if self.outlines.is_empty() {
            return Cow::Borrowed(&self.cells);
        }
        let mut cells = self.cells.clone();
        for outline in &self.outlines {
            cells.fill(outline, self.cell.get());
        }
        Cow::Owned(cells)
    }

    /// Returns the effect of the layer on a vehicle type, by key.
    pub fn cost_for(&self, vehicle: &str) -> PaintCost {
        self.vehicles.get(vehicle).copied().unwrap_or(self.cost)
    }

    /// Returns the bounding box of the painted cells, m; `None` if nothing is painted.
    pub fn bounds(&self) -> Option<(DVec2, DVec2)> {
        let (low, high) = self.painted().extent()?;
        let corner = |[x, y]: [i32; 2]| DVec2::new(f64::from(x), f64::from(y)) * self.cell.get();
        Some((corner(low), corner(high.map(|at| at.saturating_add(1)))))
    }

    /// Whether the cell below a point is painted.
    pub fn contains(&self, point: DVec2) -> bool {
        let cell = self.cell.get();
        let at = (point / cell).floor();
        let (column, row) = (at.x as i32, at.y as i32);
        let is_inside = |outline: &Area| {
            let runs = runs_inside(&crossings(outline, cell, row), cell);
            runs.into_iter()
                .any(|run| (run.first..=run.last).contains(&column))
        };
        self.cells.contains(column, row) || self.outlines.iter().any(is_inside)
    }

    /// Paints the area inside an outline.
    pub fn paint_area(&mut self, outline: Vec<DVec2>) {
        self.outlines.push(outline.into());
    }

    /// Erases the cells whose centres lie inside an outline.
    pub fn erase_area(&mut self, outline: &[DVec2]) {
        let mut erased = PaintedCells::default();
        erased.fill(outline, self.cell.get());
        let runs: Vec<_> = erased.runs().collect();
        self.erase_runs(&runs);
    }

    /// Erases runs of cells. An outline that contains one of them is converted to cells.
    fn erase_runs(&mut self, runs: &[(i32, CellRun)]) {
        let cell = self.cell.get();
        let outlines = std::mem::take(&mut self.outlines);
        for outline in outlines {
            let mut inside = PaintedCells::default();
            inside.fill(&outline, cell);
            let is_touched = runs.iter().any(|&(row, run)| {
                let block = CellBlock {
                    low: [run.first, row],
                    high: [run.last, row],
                };
                inside.runs_in(block).next().is_some()
            });
            match is_touched {
                true => inside
                    .runs()
                    .for_each(|(row, run)| self.cells.add(row, run)),
                false => self.outlines.push(outline),
            }
        }
        for &(row, run) in runs {
            self.cells.remove(row, run);
        }
    }

    /// Paints the cells whose centres are within `radius` metres of a straight segment.
    pub fn paint(&mut self, stretch: [DVec2; 2], radius: f64) {
        for (row, run) in self.swept(stretch, radius) {
            self.cells.add(row, run);
        }
    }

    /// Erases the cells whose centres are within `radius` metres of a straight segment.
    pub fn erase(&mut self, stretch: [DVec2; 2], radius: f64) {
        let runs = self.swept(stretch, radius);
        self.erase_runs(&runs);
    }

    /// Returns the cells whose centres are within `radius` metres of a segment. Each row has one
    /// run of cells, because the swept area is convex.
    fn swept(&self, [from, to]: [DVec2; 2], radius: f64) -> Vec<(i32, CellRun)> {
        let cell = self.cell.get();
        let index = |at: f64| (at / cell).floor() as i32;
        let (low, high) = (from.min(to) - radius, from.max(to) + radius);
        let is_in = |x: i32, y: i32| {
            let centre = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5) * cell;
            let nearest = roadwright_geometry::polygon::closest_on_segment(from, to, centre);
            (centre - nearest).length() <= radius
        };
        let row = |y: i32| {
            let mut columns = index(low.x)..=index(high.x);
            let first = columns.find(|&x| is_in(x, y))?;
            let last = columns.rfind(|&x| is_in(x, y)).unwrap_or(first);
            Some((y, CellRun { first, last }))
        };
        (index(low.y)..=index(high.y)).filter_map(row).collect()
    }
}

impl Validate for PaintLayer {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => cell)?;
        let costs = std::iter::once(&self.cost).chain(self.vehicles.values());
        for cost in costs {
            if let PaintCost::Adds(amount) = cost {
                PaintCost::check(i64::from(*amount)).map_err(|error| format!("cost: {error}"))?;
            }
        }
        for (number, outline) in self.outlines.iter().enumerate() {
            outline
                .check()
                .map_err(|error| format!("outlines[{number}]: {error}"))?;
        }
        let corners: usize = self.outlines.iter().map(|outline| outline.len()).sum();
        if corners > MAX_PAINT_CORNERS {
            return Err(format!(
                "outlines: {corners} corners exceed the limit of {MAX_PAINT_CORNERS}; simplify \
                 the outlines or split the layer"
            ));
        }
        // Checked before the areas are filled, because the filling time is proportional to the
        // number of rows.
        let rows: f64 = self
            .outlines
            .iter()
            .map(|outline| rows_crossed(outline, self.cell.get()))
            .sum();
        if rows > 2.0 * MAX_PAINT_RUNS as f64 {
            return Err(format!(
                "outlines: span {rows:.0} rows of cells, more than the limit of {}; paint with \
                 larger cells or split the layer",
                2 * MAX_PAINT_RUNS
            ));
        }
        let painted = self.painted();
        let runs = painted.run_count();
        if runs > MAX_PAINT_RUNS {
            return Err(format!(
                "cells: {runs} runs exceed the limit of {MAX_PAINT_RUNS}; paint with larger cells \
                 or split the layer"
            ));
        }
        let squares: u64 = painted.runs().map(|(_, run)| run.squares(SQUARE)).sum();
        if squares > MAX_PAINT_SQUARES {
            return Err(format!(
                "cells: the runs consist of more than {MAX_PAINT_SQUARES} pieces of {SQUARE} \
                 cells; paint with larger cells"
            ));
        }
        if let Some((low, high)) = self.bounds()
            && low.abs().max(high.abs()).max_element() > MAX_COORDINATE
        {
            return Err(format!(
                "cells: coordinates exceed {MAX_COORDINATE} m at a cell size of {} m",
                self.cell
            ));
        }
        Ok(())
    }
}

/// Maximum number of runs of cells in one layer.
pub const MAX_PAINT_RUNS: usize = 200_000;
/// Maximum number of corners of all outlines of one layer.
pub const MAX_PAINT_CORNERS: usize = 20_000;
/// Edge length of the squares into which planners divide painted ground, as a number of cells.
const SQUARE: i32 = 64;
/// Maximum number of squares that the runs of one layer cross. A square that several runs cross is
/// counted for each of them.
const MAX_PAINT_SQUARES: u64 = 1_000_000;

/// Effect of painted ground on a vehicle type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaintCost {
    /// Amount added to the cost factor of the cell, which is 16 on plain ground. Negative amounts attract
    /// vehicles.
    Adds(i32),
    /// Vehicles do not enter the cell.
    Blocks,
}

impl PaintCost {
    /// Largest amount that can be added or subtracted.
    pub const MOST: i32 = 65_535;
    /// The value that represents [`PaintCost::Blocks`] in files.
    const BLOCKS: &'static str = "blocks";
    /// The accepted values, as shown in error messages.
    const EXPECTED: &'static str = "a whole number from -65535 to 65535, or \"blocks\"";

    fn check(amount: i64) -> Result<i32, String> {
        let most = i64::from(Self::MOST);
        if (-most..=most).contains(&amount) {
            return Ok(amount as i32);
        }
        Err(format!(
            "{amount} is out of range: expected {}",
            Self::EXPECTED
        ))
    }
}

impl Serialize for PaintCost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Adds(amount) => serializer.serialize_i32(*amount),
            Self::Blocks => serializer.serialize_str(Self::BLOCKS),
        }
    }
}

impl<'de> Deserialize<'de> for PaintCost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = PaintCost;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(PaintCost::EXPECTED)
            }

            fn visit_i64<E: Error>(self, amount: i64) -> Result<PaintCost, E> {
                PaintCost::check(amount)
                    .map(PaintCost::Adds)
                    .map_err(E::custom)
            }

            fn visit_u64<E: Error>(self, amount: u64) -> Result<PaintCost, E> {
                self.visit_i64(i64::try_from(amount).unwrap_or(i64::MAX))
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<PaintCost, E> {
                match word {
                    PaintCost::BLOCKS => Ok(PaintCost::Blocks),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for PaintCost {
    fn schema_name() -> Cow<'static, str> {
        "PaintCost".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Amount added to the factor of a cell (16 on plain ground), or `blocks`.",
            "oneOf": [
                { "type": "integer", "minimum": -Self::MOST, "maximum": Self::MOST },
                { "const": Self::BLOCKS },
            ],
        })
    }
}

/// A run of adjacent cells in one row, including both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRun {
    /// Column of the western end.
    pub first: i32,
    /// Column of the eastern end. It is not smaller than `first`.
    pub last: i32,
}

impl CellRun {
    /// Number of cells in the run.
    pub fn count(self) -> u64 {
        (i64::from(self.last) - i64::from(self.first)).unsigned_abs() + 1
    }

    /// Returns the number of squares with this edge length that the run crosses.
    fn squares(self, edge: i32) -> u64 {
        let square = |at: i32| i64::from(at.div_euclid(edge));
        (square(self.last) - square(self.first)).unsigned_abs() + 1
    }
}

/// A rectangle of cells, including both corner cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellBlock {
    /// The south-western cell: column and row.
    pub low: [i32; 2],
    /// The north-eastern cell.
    pub high: [i32; 2],
}

/// A set of cells, stored as runs by row. The south-western corner of cell (0, 0) is at the origin.
///
/// In files, it is a list of runs `[row, first column, last column]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaintedCells {
    /// Runs of each row from west to east. They neither overlap nor touch.
    rows: BTreeMap<i32, Vec<CellRun>>,
}

impl PaintedCells {
    /// Whether no cell is painted.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of runs.
    pub fn run_count(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }

    /// Returns the runs with their rows, from the south-west.
    pub fn runs(&self) -> impl Iterator<Item = (i32, CellRun)> {
        let rows = self.rows.iter();
        rows.flat_map(|(&row, runs)| runs.iter().map(move |&run| (row, run)))
    }

    /// Returns the runs that cross a rectangle of cells, with their rows.
    pub fn runs_in(&self, block: CellBlock) -> impl Iterator<Item = (i32, CellRun)> {
        let [low, high] = [block.low, block.high];
        // A range whose end is before its start would panic.
        let rows = self.rows.range(low[1]..=high[1].max(low[1]));
        rows.flat_map(move |(&row, runs)| {
            let first = runs.partition_point(|run| run.last < low[0]);
            let crossing = runs[first..].iter();
            let crossing = crossing.take_while(move |run| run.first <= high[0]);
            crossing.map(move |&run| (row, run))
        })
    }

    /// Whether a cell is painted.
    pub fn contains(&self, column: i32, row: i32) -> bool {
        let Some(runs) = self.rows.get(&row) else {
            return false;
        };
        let next = runs.partition_point(|run| run.last < column);
        runs.get(next).is_some_and(|run| run.first <= column)
    }

    /// Returns the south-western and north-eastern cells of the bounding box of the painted cells,
    /// each as column and row; `None` if no cell is painted.
    fn extent(&self) -> Option<([i32; 2], [i32; 2])> {
        let (&south, _) = self.rows.first_key_value()?;
        let (&north, _) = self.rows.last_key_value()?;
        let west = self
            .rows
            .values()
            .filter_map(|runs| runs.first())
            .map(|run| run.first)
            .min()?;
        let east = self
            .rows
            .values()
            .filter_map(|runs| runs.last())
            .map(|run| run.last)
            .max()?;
        Some(([west, south], [east, north]))
    }

    /// Paints the cells whose centres lie inside an outline, given by its corners, m. `cell` is the
    /// edge length of the cells, m. If the outline crosses itself, areas that it encloses twice
    /// stay unpainted.
    pub fn fill(&mut self, outline: &[DVec2], cell: f64) {
        let mut rows: BTreeMap<i32, Vec<f64>> = BTreeMap::new();
        for (from, to) in edges(outline) {
            let (low, high) = (from.y.min(to.y), from.y.max(to.y));
            for row in first_centre(low, cell)..first_centre(high, cell) {
                rows.entry(row)
                    .or_default()
                    .push(crossing(from, to, centre(row, cell)));
            }
        }
        for (row, mut crossings) in rows {
            crossings.sort_by(f64::total_cmp);
            for run in runs_inside(&crossings, cell) {
                self.add(row, run);
            }
        }
    }

    /// Paints a run.
    pub fn add(&mut self, row: i32, run: CellRun) {
        let runs = self.rows.entry(row).or_default();
        // All runs that overlap or touch the new run are merged with it.
        let from = runs.partition_point(|old| old.last < run.first.saturating_sub(1));
        let to = runs.partition_point(|old| old.first <= run.last.saturating_add(1));
        let merged = runs[from..to].iter().fold(run, |all, old| CellRun {
            first: all.first.min(old.first),
            last: all.last.max(old.last),
        });
        runs.splice(from..to, [merged]);
    }

    /// Erases a run.
    pub fn remove(&mut self, row: i32, run: CellRun) {
        let Some(runs) = self.rows.get_mut(&row) else {
            return;
        };
        let from = runs.partition_point(|old| old.last < run.first);
        let to = runs.partition_point(|old| old.first <= run.last);
        let ends = runs[from..to].iter().flat_map(|old| {
            let west = (old.first < run.first).then(|| CellRun {
                first: old.first,
                last: run.first - 1,
            });
            let east = (old.last > run.last).then(|| CellRun {
                first: run.last + 1,
                last: old.last,
            });
            west.into_iter().chain(east)
        });
        let rest: Vec<CellRun> = ends.collect();
        runs.splice(from..to, rest);
        if runs.is_empty() {
            self.rows.remove(&row);
        }
    }

    /// Returns the cells as non-overlapping rectangles, each within one square of 64 by 64 cells.
    /// Equal runs in adjacent rows form one rectangle. O(runs + squares).
    pub fn blocks(&self) -> Vec<CellBlock> {
        self.blocks_in(SQUARE)
    }

    /// Like `blocks`, with squares of the given edge length.
    fn blocks_in(&self, edge: i32) -> Vec<CellBlock> {
        let mut done = Vec::new();
        // Blocks whose last row is the previous row, from west to east.
        let mut open: Vec<CellBlock> = Vec::new();
        for (&row, runs) in &self.rows {
            let starts_square = row.rem_euclid(edge) == 0;
            let mut grown = Vec::new();
            for part in runs.iter().flat_map(|run| split(*run, edge)) {
                let is_below = |block: &CellBlock| {
                    !starts_square
                        && block.high[1] + 1 == row
                        && (block.low[0], block.high[0]) == (part.first, part.last)
                };
                let at = open.partition_point(|block| block.low[0] < part.first);
                match open.get(at).filter(|block| is_below(block)).copied() {
                    Some(below) => {
                        open.remove(at);
                        grown.push(CellBlock {
                            high: [part.last, row],
                            ..below
                        });
                    }
                    None => grown.push(CellBlock {
                        low: [part.first, row],
                        high: [part.last, row],
                    }),
                }
            }
            done.append(&mut open);
            open = grown;
        }
        done.append(&mut open);
        done
    }
}

/// Returns the edges of an outline.
fn edges(outline: &[DVec2]) -> impl Iterator<Item = (DVec2, DVec2)> {
    let ends = outline.iter().cycle().skip(1);
    outline.iter().zip(ends).map(|(&from, &to)| (from, to))
}

/// Returns the centre of a row or column of cells, m.
fn centre(index: i32, cell: f64) -> f64 {
    (f64::from(index) + 0.5) * cell
}

/// Returns the first row or column whose centre is not before `at` metres.
fn first_centre(at: f64, cell: f64) -> i32 {
    (at / cell - 0.5).ceil() as i32
}

/// Returns the position where an edge crosses a horizontal line at `y`, m.
fn crossing(from: DVec2, to: DVec2, y: f64) -> f64 {
    from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y)
}

/// Returns the positions where an outline crosses the centre line of a row of cells, in ascending
/// order, m.
fn crossings(outline: &[DVec2], cell: f64, row: i32) -> Vec<f64> {
    let crossed = edges(outline).filter(|(from, to)| {
        let (low, high) = (from.y.min(to.y), from.y.max(to.y));
        (first_centre(low, cell)..first_centre(high, cell)).contains(&row)
    });
    let mut all: Vec<f64> = crossed
        .map(|(from, to)| crossing(from, to, centre(row, cell)))
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Returns the runs of cells whose centres lie between the first and the second crossing, the third
/// and the fourth, and so on.
fn runs_inside(crossings: &[f64], cell: f64) -> Vec<CellRun> {
    let pairs = crossings.chunks_exact(2);
    let runs = pairs.map(|pair| CellRun {
        first: first_centre(pair[0], cell),
        last: first_centre(pair[1], cell).saturating_sub(1),
    });
    runs.filter(|run| run.first <= run.last).collect()
}

/// Returns the number of rows of cells that the edges of an outline cross. A row that several edges
/// cross is counted for each of them.
fn rows_crossed(outline: &[DVec2], cell: f64) -> f64 {
    edges(outline)
        .map(|(from, to)| (from.y - to.y).abs() / cell)
        .sum()
}

/// Splits a run at the borders of squares with this edge length.
fn split(run: CellRun, edge: i32) -> impl Iterator<Item = CellRun> {
    let mut next = Some(run.first);
    std::iter::from_fn(move || {
        let first = next?;
        let end = first.saturating_add(edge - 1 - first.rem_euclid(edge));
        let last = end.min(run.last);
        next = (last < run.last).then(|| last + 1);
        Some(CellRun { first, last })
    })
}

impl Serialize for PaintedCells {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.runs().map(|(row, run)| [row, run.first, run.last]))
    }
}

impl<'de> Deserialize<'de> for PaintedCells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut cells = Self::default();
        for [row, first, last] in Vec::<[i32; 3]>::deserialize(deserializer)? {
            if last < first {
                return Err(D::Error::custom(format!(
                    "the run [{row}, {first}, {last}] ends before it starts; write it as [row, \
                     first column, last column]"
                )));
            }
            cells.add(row, CellRun { first, last });
        }
        Ok(cells)
    }
}

impl JsonSchema for PaintedCells {
    fn schema_name() -> Cow<'static, str> {
        "PaintedCells".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Runs of cells: row, first column and last column, counted in cells from the origin.",
            "type": "array",
            "maxItems": MAX_PAINT_RUNS,
            "items": {
                "type": "array",
                "items": { "type": "integer" },
                "minItems": 3,
                "maxItems": 3,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Painted cells as a set of single cells, used for comparison.
    #[derive(Default)]
    struct Plain(BTreeSet<[i32; 2]>);

    impl Plain {
        fn of(cells: &PaintedCells) -> BTreeSet<[i32; 2]> {
            let runs = cells.runs();
            let all = runs.flat_map(|(row, run)| (run.first..=run.last).map(move |x| [x, row]));
            all.collect()
        }
    }

    #[test]
    fn runs_are_the_same_set_as_single_cells_after_random_strokes() {
        let mut state = 7_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) % below) as i32
        };
        let (mut cells, mut plain) = (PaintedCells::default(), Plain::default());
        for _ in 0..4_000 {
            let (row, first) = (draw(6) - 3, draw(40) - 20);
            let run = CellRun {
                first,
                last: first + draw(9),
            };
            let all = (run.first..=run.last).map(|x| [x, row]);
            if draw(2) == 0 {
                cells.add(row, run);
                plain.0.extend(all);
            } else {
                cells.remove(row, run);
                all.for_each(|cell| {
                    plain.0.remove(&cell);
                });
            }
            assert_eq!(Plain::of(&cells), plain.0);
        }
        assert!(!cells.is_empty());
        for row in cells.rows.values() {
            assert!(row.windows(2).all(|two| two[0].last + 1 < two[1].first));
        }
        // Blocks cover each cell exactly once, and each block is inside one square.
        for edge in [1, 4, 64] {
            let mut covered = BTreeSet::new();
            for block in cells.blocks_in(edge) {
                assert_eq!(
                    block.low.map(|at| at.div_euclid(edge)),
                    block.high.map(|at| at.div_euclid(edge))
                );
                for y in block.low[1]..=block.high[1] {
                    assert!((block.low[0]..=block.high[0]).all(|x| covered.insert([x, y])));
                }
            }
            assert_eq!(covered, plain.0, "{edge}");
        }
    }

    #[test]
    fn a_stroke_paints_the_cells_within_the_brush_and_erasing_it_leaves_nothing() {
        let mut layer = PaintLayer::new("Shrubs", PaintCost::Adds(32));
        let stretch = [DVec2::new(-7.3, 2.0), DVec2::new(12.0, -9.5)];
        layer.paint(stretch, 4.0);
        for x in -20..20 {
            for y in -20..20 {
                let centre = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
                let on = roadwright_geometry::polygon::closest_on_segment(
                    stretch[0], stretch[1], centre,
                );
                assert_eq!(
                    layer.contains(centre),
                    (on - centre).length() <= 4.0,
                    "{centre}"
                );
            }
        }
        layer.erase(stretch, 4.0);
        assert!(layer.cells.is_empty());
        assert_eq!(layer.bounds(), None);
    }

    /// Returns the corners of an area with a notch.
    fn notched() -> Vec<DVec2> {
        [
            (-8.2, -6.1),
            (9.4, -7.3),
            (11.0, 6.0),
            (2.0, -2.5),
            (-6.0, 8.7),
        ]
        .map(DVec2::from)
        .to_vec()
    }

    #[test]
    fn an_outline_paints_the_cells_whose_centres_lie_inside() {
        for cell in [0.3, 1.0, 2.5] {
            let mut layer = PaintLayer::new("Marsh", PaintCost::Blocks);
            layer.cell = cell.into();
            layer.paint_area(notched());
            let painted = layer.painted().into_owned();
            for row in -40..40 {
                for column in -45..45 {
                    let middle = DVec2::new(centre(column, cell), centre(row, cell));
                    let inside = roadwright_geometry::polygon::contains(&notched(), middle);
                    assert_eq!(painted.contains(column, row), inside, "{cell}: {middle}");
                    assert_eq!(layer.contains(middle), inside, "{cell}: {middle}");
                }
            }
            let (low, high) = layer.bounds().unwrap();
            assert!(low.x >= -8.2 - cell && high.x <= 11.0 + cell);
            assert_eq!(layer.validate(), Ok(()));
        }
    }

    #[test]
    fn erasing_turns_the_outlines_that_it_touches_into_cells() {
        let mut layer = PaintLayer::new("Marsh", PaintCost::Adds(16));
        let far: Vec<DVec2> = notched()
            .iter()
            .map(|&corner| corner + DVec2::new(100.0, 0.0))
            .collect();
        layer.paint_area(notched());
        layer.paint_area(far.clone());
        let before = layer.painted().into_owned();
        layer.erase([DVec2::new(0.0, -10.0), DVec2::new(0.0, 10.0)], 1.0);
        assert_eq!(layer.outlines.len(), 1);
        assert!(!layer.contains(DVec2::new(0.5, -4.5)));
        assert!(layer.contains(DVec2::new(5.5, -4.5)));
        assert!(layer.contains(DVec2::new(105.5, -4.5)));
        layer.erase_area(&far);
        assert!(layer.outlines.is_empty() && !layer.contains(DVec2::new(105.5, -4.5)));
        // Painting the first area again restores its original state.
        layer.paint_area(notched());
        layer.paint_area(far);
        assert_eq!(*layer.painted(), before);
    }

    #[test]
    fn outlines_are_read_and_written_and_unsuitable_ones_are_refused() {
        let read = |text: &str| serde_json::from_str::<PaintLayer>(text);
        let text = r#"{"name":"Marsh","cell":1.0,"cost":"blocks","cells":[],"outlines":[[[0.0,0.0],[9.0,0.0],[0.0,9.0]]]}"#;
        let layer = read(text).unwrap();
        assert_eq!(layer.validate(), Ok(()));
        assert_eq!(serde_json::to_string(&layer).unwrap(), text);
        assert!(layer.contains(DVec2::new(1.0, 1.0)) && !layer.contains(DVec2::new(8.0, 8.0)));
        // An empty list of cells or outlines is not written.
        let plain = read(r#"{"cost": 4, "outlines": []}"#).unwrap();
        assert!(!serde_json::to_string(&plain).unwrap().contains("outlines"));
        for (outlines, expected) in [
            ("[[[0, 0], [9, 0]]]", "at least 3"),
            ("[[[0, 0], [9, 0], [0, 1e9]]]", "out of range"),
            ("[[[0, 0], [9e6, 0], [0, 9e6]]]", "rows of cells"),
        ] {
            let text = format!(r#"{{"cost": 1, "cell": 0.1, "outlines": {outlines}}}"#);
            let error = match read(&text) {
                Ok(layer) => layer.validate().unwrap_err(),
                Err(error) => error.to_string(),
            };
            assert!(error.contains(expected), "{outlines}: {error}");
        }
    }

    #[test]
    fn values_that_planners_cannot_use_are_refused() {
        let read = |text: &str| serde_json::from_str::<PaintLayer>(text);
        let fine = r#"{"cost": 32, "vehicles": {"car": "blocks", "tank": -4}, "cells": [[0, 1, 3], [0, 2, 7]]}"#;
        let layer = read(fine).unwrap();
        assert_eq!(layer.cost_for("car"), PaintCost::Blocks);
        assert_eq!(layer.cost_for("tank"), PaintCost::Adds(-4));
        assert_eq!(layer.cost_for("bus"), PaintCost::Adds(32));
        // Overlapping runs in a file become one run.
        assert_eq!(layer.cells.run_count(), 1);
        assert_eq!(layer.validate(), Ok(()));
        for (text, expected) in [
            (r#"{"cost": 70000, "cells": []}"#, "out of range"),
            (r#"{"cost": "stops", "cells": []}"#, "blocks"),
            (r#"{"cost": 1.5, "cells": []}"#, "whole number"),
            (r#"{"cost": 1, "cell": 0, "cells": []}"#, "out of range"),
            (
                r#"{"cost": 1, "cells": [[0, 5, 4]]}"#,
                "ends before it starts",
            ),
            (r#"{"cost": 1, "cells": [[0, 5]]}"#, "length"),
            (r#"{"cost": 1, "cells": [], "colour": 3}"#, "colour"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let far = read(r#"{"cost": 1, "cells": [[2000000000, 0, 0]]}"#).unwrap();
        assert!(far.validate().unwrap_err().contains("coordinates"));
        let wide = r#"{"cost": 1, "cell": 0.1, "cells": [[0, -90000000, 90000000]]}"#;
        assert!(
            read(wide)
                .unwrap()
                .validate()
                .unwrap_err()
                .contains("larger cells")
        );
        let edge = format!(
            r#"{{"cost": 1, "cells": [[0, {}, {}]]}}"#,
            i32::MIN,
            i32::MAX
        );
        assert!(read(&edge).unwrap().validate().is_err());
    }
}
