//! Painted ground: layers of cells that planners over open ground avoid, prefer or do not enter.

use crate::quantity::{PaintCell, Quantity, Validate, check_keys};
use glam::DVec2;
use roadwright_geometry::MAX_COORDINATE;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A layer of painted ground: cells, and what they cost each vehicle type that drives off the lanes.
///
/// It affects only planning: a vehicle that is steered onto painted ground drives there as on any other
/// ground.
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
    /// Effect on particular vehicle types, by key. Keys of types that do not exist have no effect.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vehicles: BTreeMap<String, PaintCost>,
    /// The painted cells.
    pub cells: PaintedCells,
}

fn usual_cell() -> Quantity<PaintCell> {
    PaintLayer::USUAL_CELL.into()
}

impl PaintLayer {
    /// Default edge length of cells, m.
    pub const USUAL_CELL: f64 = 1.0;

    /// An empty layer with cells of the default size.
    pub fn new(name: impl Into<String>, cost: PaintCost) -> Self {
        Self {
            name: name.into(),
            cell: usual_cell(),
            cost,
            vehicles: BTreeMap::new(),
            cells: PaintedCells::default(),
        }
    }

    /// Effect of the layer on a vehicle type, by key.
    pub fn cost_for(&self, vehicle: &str) -> PaintCost {
        self.vehicles.get(vehicle).copied().unwrap_or(self.cost)
    }

    /// Bounding box of the painted cells, m; `None` if nothing is painted.
    pub fn bounds(&self) -> Option<(DVec2, DVec2)> {
        let (low, high) = self.cells.extent()?;
        let corner = |[x, y]: [i32; 2]| DVec2::new(f64::from(x), f64::from(y)) * self.cell.get();
        Some((corner(low), corner(high.map(|at| at.saturating_add(1)))))
    }

    /// Whether the cell below a point is painted.
    pub fn contains(&self, point: DVec2) -> bool {
        let at = (point / self.cell.get()).floor();
        self.cells.contains(at.x as i32, at.y as i32)
    }

    /// Paints the cells whose centres are within `radius` metres of a straight stretch.
    pub fn paint(&mut self, stretch: [DVec2; 2], radius: f64) {
        for (row, run) in self.swept(stretch, radius) {
            self.cells.add(row, run);
        }
    }

    /// Erases the cells whose centres are within `radius` metres of a straight stretch.
    pub fn erase(&mut self, stretch: [DVec2; 2], radius: f64) {
        for (row, run) in self.swept(stretch, radius) {
            self.cells.remove(row, run);
        }
    }

    /// Returns the cells whose centres are within `radius` metres of a stretch. Each row has one run of
    /// cells, because the swept area is convex.
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
        let runs = self.cells.run_count();
        if runs > MAX_PAINT_RUNS {
            return Err(format!(
                "cells: {runs} runs: expected at most {MAX_PAINT_RUNS}; paint with larger cells or split the layer"
            ));
        }
        let squares: u64 = self.cells.runs().map(|(_, run)| run.squares(SQUARE)).sum();
        if squares > MAX_PAINT_SQUARES {
            return Err(format!(
                "cells: the runs are too long: expected at most {MAX_PAINT_SQUARES} pieces of {SQUARE} cells; \
                 paint with larger cells"
            ));
        }
        if let Some((low, high)) = self.bounds()
            && low.abs().max(high.abs()).max_element() > MAX_COORDINATE
        {
            return Err(format!(
                "cells: expected coordinates up to {MAX_COORDINATE} m in cells of {} m",
                self.cell
            ));
        }
        Ok(())
    }
}

/// Maximum number of runs of cells in one layer.
pub const MAX_PAINT_RUNS: usize = 200_000;
/// Edge length of the squares into which planners divide painted ground, in cells.
const SQUARE: i32 = 64;
/// Maximum number of squares that the runs of one layer cross, summed over the runs.
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
            "description": "Amount added to the factor of a cell, which is 16 on plain ground, or `blocks`.",
            "oneOf": [
                { "type": "integer", "minimum": -Self::MOST, "maximum": Self::MOST },
                { "const": Self::BLOCKS },
            ],
        })
    }
}

/// Adjacent cells of one row, including both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRun {
    /// Column of the western end.
    pub first: i32,
    /// Column of the eastern end. It is not smaller than `first`.
    pub last: i32,
}

impl CellRun {
    /// Number of the run's cells.
    pub fn count(self) -> u64 {
        (i64::from(self.last) - i64::from(self.first)).unsigned_abs() + 1
    }

    /// Number of squares with this edge length that the run crosses.
    fn squares(self, edge: i32) -> u64 {
        let square = |at: i32| i64::from(at.div_euclid(edge));
        (square(self.last) - square(self.first)).unsigned_abs() + 1
    }
}

/// A rectangle of cells, including both corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellBlock {
    /// The south-western cell: column and row.
    pub low: [i32; 2],
    /// The north-eastern cell.
    pub high: [i32; 2],
}

/// A set of cells, kept as runs by row. Cell (0, 0) has its south-western corner at the origin.
///
/// In files it is a list of runs `[row, first column, last column]`.
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

    /// The runs with their rows, from the south-west.
    pub fn runs(&self) -> impl Iterator<Item = (i32, CellRun)> {
        let rows = self.rows.iter();
        rows.flat_map(|(&row, runs)| runs.iter().map(move |&run| (row, run)))
    }

    /// The runs that cross a rectangle of cells, with their rows.
    pub fn runs_in(&self, block: CellBlock) -> impl Iterator<Item = (i32, CellRun)> {
        let [low, high] = [block.low, block.high];
        // A range whose end precedes its start would panic.
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

    /// The southwesternmost and northeasternmost corners of the painted cells, each as column and row.
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

    /// The cells as rectangles that do not overlap, each within one square of 64 by 64 cells. Equal runs in
    /// adjacent rows form one rectangle. O(runs + squares).
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

/// The parts of a run in squares of this edge length.
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
                    "the run [{row}, {first}, {last}] ends before it starts: expected [row, first column, last \
                     column]"
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

    /// Painted cells as a set of single cells, for comparison.
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
        // Blocks cover each cell once, and each block is inside one square.
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
                .contains("too long")
        );
        let edge = format!(
            r#"{{"cost": 1, "cells": [[0, {}, {}]]}}"#,
            i32::MIN,
            i32::MAX
        );
        assert!(read(&edge).unwrap().validate().is_err());
    }
}
