//! The ground as a picture with tints and shading, and contour lines.

use super::mesh::{Ink, Level, Mesh, MeshBuilder};
use egui::{Color32, ColorImage};
use roadwright_geometry::{DVec2, HeightField};
use roadwright_render::relief::Relief;
use roadwright_render::terrain::{contour_interval, draw_contours, ground_color, height_share};
use std::sync::Arc;

/// Longest side of the picture, pixels.
const LONGEST: f64 = 1024.0;

/// A picture of the ground and its position.
#[derive(Debug, Clone)]
pub struct TerrainImage {
    /// The picture, with the northernmost row first.
    pub image: ColorImage,
    /// Mesh of the contour lines.
    pub contours: Arc<Mesh>,
    /// Heights that are written on the map.
    pub relief: Arc<Relief>,
    /// South-west corner of the picture, m.
    pub low: DVec2,
    /// North-east corner of the picture, m.
    pub high: DVec2,
    /// Height difference between two contour lines, m.
    pub interval: f64,
}

impl TerrainImage {
    /// Draws a height field.
    pub fn new(field: &HeightField, ink: Ink) -> Self {
        let (low, high) = (field.origin(), field.far_corner());
        let size = high - low;
        // A pixel is at least a quarter of a sample wide, because heights are interpolated between samples
        // and there are no finer details.
        let pixel = (size.max_element() / LONGEST).max(0.25 * field.spacing());
        let (width, height) = (
            ((size.x / pixel).ceil() as usize).max(2),
            ((size.y / pixel).ceil() as usize).max(2),
        );
        // One row and one column more than the picture, to compute slopes.
        let at = |x: usize, y: usize| {
            let u = DVec2::new(x as f64 / width as f64, 1.0 - y as f64 / height as f64);
            field.height(low + u * size)
        };
        let grid: Vec<f64> = (0..=height)
            .flat_map(|y| (0..=width).map(move |x| (x, y)))
            .map(|(x, y)| at(x, y))
            .collect();
        let grid_at = |x: usize, y: usize| grid[y * (width + 1) + x];
        let share = height_share(field);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (here, east, south) = (grid_at(x, y), grid_at(x + 1, y), grid_at(x, y + 1));
                let slope = DVec2::new(east - here, here - south) / pixel;
                let color = ground_color(share(here), slope, ink == Ink::Dark).to_color_u8();
                pixels.push(Color32::from_rgb(color.red(), color.green(), color.blue()));
            }
        }
        let mut builder = MeshBuilder::new(0.5 * (low + high), Level::Near, ink);
        let relief = Relief::new(field);
        draw_contours(&mut builder, &relief.contours);
        Self {
            image: ColorImage::new([width, height], pixels),
            contours: Arc::new(builder.finish()),
            relief: Arc::new(relief),
            low,
            high,
            interval: contour_interval(field),
        }
    }
}
