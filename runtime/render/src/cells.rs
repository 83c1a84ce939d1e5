//! Draws maps of cells.

use crate::RenderError;
use crate::canvas::Canvas;
use crate::palette::rgb;
use glam::DVec2;

/// Maximum width of a cell, pixels.
const LARGEST_CELL: u32 = 16;
/// Approximate width or height to which small maps are enlarged, pixels.
const USUAL_SIZE: u32 = 1024;

/// Draws a grid of cells as a PNG. `color` returns the colour (0xRRGGBB) of the cell at a column and row,
/// which are counted from the upper left corner.
///
/// # Errors
/// If there are no cells, or the picture cannot be created.
pub fn cells(
    columns: u32,
    rows: u32,
    color: impl Fn(u32, u32) -> u32,
) -> Result<Vec<u8>, RenderError> {
    let longest = columns.max(rows).max(1);
    let edge = (USUAL_SIZE / longest).clamp(1, LARGEST_CELL);
    let size = (columns.saturating_mul(edge), rows.saturating_mul(edge));
    let world = DVec2::new(f64::from(size.0), f64::from(size.1));
    let mut canvas = Canvas::new(size, DVec2::ZERO, world)?;
    for row in 0..rows {
        for column in 0..columns {
            let color = rgb(color(column, row));
            for y in 0..edge {
                for x in 0..edge {
                    canvas.put(column * edge + x, row * edge + y, color);
                }
            }
        }
    }
    canvas.png()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn maps_without_cells_are_refused_and_others_drawn() {
        assert!(cells(0, 5, |_, _| 0).is_err());
        let png = cells(3, 2, |column, row| column * 0x40 + row).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
    }
}
