//! The ground as a picture: height tints, hill shading, contour lines.

use egui::{Color32, ColorImage};
use roadwright_geometry::{DVec2, HeightField};

/// Longest side of the picture, pixels.
const LONGEST: f64 = 1024.0;

/// A picture of the ground and where it lies.
#[derive(Debug, Clone)]
pub struct TerrainImage {
    /// The picture, first row in the north.
    pub image: ColorImage,
    /// South-west corner, m.
    pub low: DVec2,
    /// North-east corner, m.
    pub high: DVec2,
    /// Height difference between two contour lines, m.
    pub interval: f64,
}

impl TerrainImage {
    /// Draws a height field.
    pub fn new(field: &HeightField, dark: bool) -> Self {
        let (low, high) = (field.origin(), field.far_corner());
        let size = high - low;
        // No finer than a quarter of a sample: between samples heights are interpolated, and there
        // is nothing more to see.
        let pixel = (size.max_element() / LONGEST).max(0.25 * field.spacing());
        let (width, height) = (
            ((size.x / pixel).ceil() as usize).max(2),
            ((size.y / pixel).ceil() as usize).max(2),
        );
        let heights = field.heights();
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let interval = contour_interval(highest - lowest);
        // One row and column more than the picture, for slopes and contours.
        let at = |x: usize, y: usize| {
            let u = DVec2::new(x as f64 / width as f64, 1.0 - y as f64 / height as f64);
            field.height(low + u * size)
        };
        let grid: Vec<f64> = (0..=height)
            .flat_map(|y| (0..=width).map(move |x| (x, y)))
            .map(|(x, y)| at(x, y))
            .collect();
        let grid_at = |x: usize, y: usize| grid[y * (width + 1) + x];
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (here, east, south) = (grid_at(x, y), grid_at(x + 1, y), grid_at(x, y + 1));
                let slope = DVec2::new(east - here, here - south) / pixel;
                // Light from the north-west, 45 degrees high.
                let shade = 1.0 + 0.9 * (0.5 * slope.x - 0.5 * slope.y);
                let band = |h: f64| (h / interval).floor();
                // A line where the next pixel is in another band: one pixel wide on any slope.
                let contour = band(here) != band(east) || band(here) != band(south);
                // Ground that is nearly level keeps one tint.
                let share = (here - lowest) / (highest - lowest).max(1.0);
                pixels.push(tint(share, shade.clamp(0.55, 1.15), contour, dark));
            }
        }
        Self {
            image: ColorImage::new([width, height], pixels),
            low,
            high,
            interval,
        }
    }
}

/// A round height difference that gives about a dozen contour lines.
fn contour_interval(range: f64) -> f64 {
    let steps = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0];
    let fits = steps.into_iter().find(|step| range / step <= 14.0);
    fits.unwrap_or(1000.0)
}

fn tint(share: f64, shade: f64, contour: bool, dark: bool) -> Color32 {
    let (low, high) = ([0.83, 0.87, 0.76], [0.93, 0.90, 0.83]);
    let line = if contour { 0.86 } else { 1.0 };
    let room = if dark { 0.3 } else { 1.0 };
    let channel = |i: usize| {
        let value: f64 = (low[i] + share * (high[i] - low[i])) * shade * line * room;
        (value.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    Color32::from_rgb(channel(0), channel(1), channel(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_facing_the_light_is_brighter() {
        let field = HeightField::level(DVec2::ZERO, DVec2::splat(100.0), 5.0).ok();
        let field = field.as_ref();
        let tilted = |sign: f64| {
            let field = field?;
            let heights = (0..field.heights().len()).map(|i| {
                let column = i % field.columns();
                sign * column as f64
            });
            let field = field.with_heights(heights.collect()).ok()?;
            Some(TerrainImage::new(&field, false))
        };
        let green = |image: Option<TerrainImage>| {
            image.map(|i| {
                let middle = i.image.pixels.len() / 2 + i.image.size[0] / 2;
                i.image.pixels[middle].g()
            })
        };
        // Rising to the east, the slope looks to the light in the west.
        assert!(green(tilted(1.0)).is_some() && green(tilted(1.0)) > green(tilted(-1.0)));
    }

    #[test]
    fn contours_are_round_numbers() {
        assert_eq!(contour_interval(3.0), 0.5);
        assert_eq!(contour_interval(60.0), 5.0);
    }
}
