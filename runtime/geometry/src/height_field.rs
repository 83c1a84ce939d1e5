//! Terrain height on a regular grid.

use crate::error::GeometryError;
use glam::{DVec2, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of samples of a height field.
pub const MAX_SAMPLES: usize = 16_000_000;

/// Heights at the corners of square cells, interpolated bilinearly.
///
/// Sample (column, row) is at `origin + spacing * (column, row)`; rows are counted towards the
/// north. Outside the grid, the height is that of the nearest border point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Record", into = "Record")]
pub struct HeightField {
    origin: DVec2,
    spacing: f64,
    columns: usize,
    rows: usize,
    heights: Vec<f64>,
}

/// A height field as stored in files.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "HeightField", deny_unknown_fields)]
struct Record {
    /// x coordinate of the south-west sample, m.
    x: f64,
    /// y coordinate of the south-west sample, m.
    y: f64,
    /// Distance between samples, m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    spacing: f64,
    /// Number of samples from west to east; at least 2.
    #[schemars(range(min = 2))]
    columns: usize,
    /// Heights row by row from the south-west, m. Their number is a multiple of `columns`, with at
    /// least two rows.
    #[schemars(length(min = 4))]
    heights: Vec<f64>,
}

impl JsonSchema for HeightField {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HeightField".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Record::json_schema(generator)
    }
}

impl TryFrom<Record> for HeightField {
    type Error = GeometryError;

    fn try_from(record: Record) -> Result<Self, GeometryError> {
        let origin = DVec2::new(record.x, record.y);
        Self::new(origin, record.spacing, record.columns, record.heights)
    }
}

impl From<HeightField> for Record {
    fn from(field: HeightField) -> Self {
        Self {
            x: field.origin.x,
            y: field.origin.y,
            spacing: field.spacing,
            columns: field.columns,
            heights: field.heights,
        }
    }
}

impl HeightField {
    /// Creates a field from its south-west sample, the distance between samples, the number of samples per
    /// row, and the heights.
    ///
    /// # Errors
    /// If the grid is smaller than 2 x 2, larger than [`MAX_SAMPLES`], not rectangular, or contains a number
    /// that is not finite.
    pub fn new(
        origin: DVec2,
        spacing: f64,
        columns: usize,
        heights: Vec<f64>,
    ) -> Result<Self, GeometryError> {
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        let wrong = |why| GeometryError::Grid { columns, rows, why };
        if columns < 2 || rows < 2 {
            return Err(wrong("expected at least 2 x 2 samples"));
        }
        if columns * rows != heights.len() {
            return Err(wrong(
                "the number of heights is not a multiple of the number of columns",
            ));
        }
        if heights.len() > MAX_SAMPLES {
            return Err(wrong("more than 16 million samples"));
        }
        // The same limit as for all coordinates.
        let fits = |v: f64| v.is_finite() && v.abs() <= crate::MAX_COORDINATE;
        if !(spacing > 0.0 && fits(spacing) && fits(origin.x) && fits(origin.y)) {
            return Err(wrong("origin or spacing is out of range or not finite"));
        }
        if !heights.iter().all(|&h| fits(h)) {
            return Err(wrong("a height is out of range or not finite"));
        }
        Ok(Self {
            origin,
            spacing,
            columns,
            rows,
            heights,
        })
    }

    /// Creates a level field that covers a box.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn level(low: DVec2, high: DVec2, spacing: f64) -> Result<Self, GeometryError> {
        // One more sample than there are cells. The number is clamped before the conversion to an
        // integer, because the box may be of any size.
        let count = |length: f64| (length / spacing).ceil().clamp(1.0, 1e9) as usize + 1;
        let (columns, rows) = (count(high.x - low.x), count(high.y - low.y));
        if columns.saturating_mul(rows) > MAX_SAMPLES {
            let why = "more than 16 million samples";
            return Err(GeometryError::Grid { columns, rows, why });
        }
        Self::new(low, spacing, columns, vec![0.0; columns * rows])
    }

    /// Position of the south-west sample, m.
    pub fn origin(&self) -> DVec2 {
        self.origin
    }

    /// Distance between samples, m.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Returns the number of samples from west to east.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of samples from south to north.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Heights row by row from the south-west, m.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// Position of the north-east sample, m.
    pub fn far_corner(&self) -> DVec2 {
        self.position(self.columns - 1, self.rows - 1)
    }

    /// Returns the position of a sample, m.
    pub fn position(&self, column: usize, row: usize) -> DVec2 {
        self.origin + self.spacing * DVec2::new(column as f64, row as f64)
    }

    /// Returns the same field with other heights.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_heights(&self, heights: Vec<f64>) -> Result<Self, GeometryError> {
        Self::new(self.origin, self.spacing, self.columns, heights)
    }

    /// Returns the height at a point, m.
    ///
    /// ```text
    ///    c-------d      bilinear: along the lower and the upper side by u,
    ///    |   .   |  v   then between them by v; continuous from cell to cell
    ///    a-------b
    ///        u
    /// ```
    pub fn height(&self, point: DVec2) -> f64 {
        let (index, u, v) = self.cell(point);
        let [a, b, c, d] = self.corners(index);
        (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v
    }

    /// Returns the unit normal of the surface at a point. It is discontinuous at the borders of
    /// cells.
    pub fn normal(&self, point: DVec2) -> DVec3 {
        let (index, u, v) = self.cell(point);
        let [a, b, c, d] = self.corners(index);
        let slope_x = ((b - a) * (1.0 - v) + (d - c) * v) / self.spacing;
        let slope_y = ((c - a) * (1.0 - u) + (d - b) * u) / self.spacing;
        DVec3::new(-slope_x, -slope_y, 1.0).normalize()
    }

    /// Returns the height (m) and unit normal at a point. Computing both costs little more than
    /// computing one of them. Beyond the border, the height stays that of the nearest border point,
    /// and the normal is that of this extended surface.
    pub fn surface(&self, point: DVec2) -> (f64, DVec3) {
        let (index, u, v) = self.cell(point);
        let [a, b, c, d] = self.corners(index);
        let height = (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v;
        let slope_x = ((b - a) * (1.0 - v) + (d - c) * v) / self.spacing;
        let slope_y = ((c - a) * (1.0 - u) + (d - b) * u) / self.spacing;
        // Beyond the border, the height is that of the nearest border point, so it changes only
        // along the border.
        let inside = |at: f64, low: f64, high: f64| at >= low && at <= high;
        let (low, high) = (self.origin, self.far_corner());
        let slope_x = if inside(point.x, low.x, high.x) {
            slope_x
        } else {
            0.0
        };
        let slope_y = if inside(point.y, low.y, high.y) {
            slope_y
        } else {
            0.0
        };
        (height, DVec3::new(-slope_x, -slope_y, 1.0).normalize())
    }

    /// Returns the heights at the corners of the cell whose south-west sample has the given index.
    fn corners(&self, index: usize) -> [f64; 4] {
        let above = index + self.columns;
        let h = &self.heights;
        [h[index], h[index + 1], h[above], h[above + 1]]
    }

    /// Finds the cell that contains a point. Returns the index of its south-west sample, and the
    /// two coordinates of the point within the cell, each from 0 to 1.
    fn cell(&self, point: DVec2) -> (usize, f64, f64) {
        let local = (point - self.origin) / self.spacing;
        let x = local.x.clamp(0.0, (self.columns - 1) as f64);
        let y = local.y.clamp(0.0, (self.rows - 1) as f64);
        // Points on the far border belong to the last cell, at u or v = 1.
        let column = (x as usize).min(self.columns - 2);
        let row = (y as usize).min(self.rows - 2);
        (
            row * self.columns + column,
            x - column as f64,
            y - row as f64,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane() -> HeightField {
        // z = 2 + 0.5 x - 0.25 y on a 4 x 3 grid of 10 m
        let heights = (0..12)
            .map(|i| 2.0 + 5.0 * f64::from(i % 4) - 2.5 * f64::from(i / 4))
            .collect();
        HeightField::new(DVec2::new(-10.0, 5.0), 10.0, 4, heights).unwrap()
    }

    #[test]
    fn a_plane_is_reproduced_between_samples() {
        let field = plane();
        let point = DVec2::new(7.0, 12.0);
        assert!((field.height(point) - (2.0 + 0.5 * 17.0 - 0.25 * 7.0)).abs() < 1e-12);
        let expected = DVec3::new(-0.5, 0.25, 1.0).normalize();
        assert!((field.normal(point) - expected).length() < 1e-12);
        let both = (field.height(point), field.normal(point));
        assert_eq!(field.surface(point), both);
    }

    #[test]
    fn the_border_holds_outside() {
        let far = DVec2::new(-1e6, -1e6);
        assert_eq!(plane().height(far), 2.0);
        assert_eq!(plane().surface(far), (2.0, DVec3::Z));
        // Beyond the edge of the field, the slope along the border continues.
        let (_, normal) = plane().surface(DVec2::new(7.0, 1e6));
        assert!(normal.x < -0.1 && normal.y == 0.0, "{normal}");
    }

    #[test]
    fn wrong_grids_are_refused() {
        let new =
            |columns, count: usize| HeightField::new(DVec2::ZERO, 1.0, columns, vec![0.0; count]);
        assert!(new(0, 4).is_err() && new(2, 3).is_err() && new(2, 2).is_err());
        assert!(HeightField::new(DVec2::ZERO, 1.0, 2, vec![0.0, f64::NAN, 0.0, 0.0]).is_err());
        assert!(HeightField::level(DVec2::ZERO, DVec2::splat(1e7), 0.001).is_err());
    }
}
