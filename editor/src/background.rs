//! A picture behind the map, to trace over.

use egui::{Color32, ColorImage, Rect, TextureHandle, TextureOptions, pos2};
use roadwright_geometry::DVec2;
use std::path::Path;

use crate::camera::Camera;

/// Largest side that is kept, pixels.
const LARGEST: u32 = 4096;

/// A picture with a place in the world.
#[derive(Clone)]
pub struct Background {
    texture: TextureHandle,
    /// South-west corner, m.
    pub low: DVec2,
    /// Metres per pixel.
    pub metres_per_pixel: f64,
    /// 0 invisible, 1 solid.
    pub opacity: f32,
}

/// Reads a PNG or JPEG picture.
///
/// # Errors
/// What is wrong, for people.
pub fn read(path: &Path) -> Result<ColorImage, String> {
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let reader = image::ImageReader::open(path)
        .and_then(image::ImageReader::with_guessed_format)
        .map_err(|error| fail(&error))?;
    let mut picture = reader.decode().map_err(|error| fail(&error))?;
    if picture.width().max(picture.height()) > LARGEST {
        picture = picture.thumbnail(LARGEST, LARGEST);
    }
    let rgba = picture.to_rgba8();
    let size = [rgba.width() as usize, rgba.height() as usize];
    Ok(ColorImage::from_rgba_unmultiplied(size, rgba.as_raw()))
}

impl Background {
    /// Puts a picture into the middle of what the map shows.
    pub fn new(context: &egui::Context, picture: ColorImage, camera: &Camera) -> Self {
        let width = picture.size[0] as f64;
        let height = picture.size[1] as f64;
        // About 600 points wide on the screen, wherever the map looks.
        let metres_per_pixel = 600.0 * camera.scale / width.max(1.0);
        let size = metres_per_pixel * DVec2::new(width, height);
        Self {
            texture: context.load_texture("background", picture, TextureOptions::LINEAR),
            low: camera.centre - 0.5 * size,
            metres_per_pixel,
            opacity: 0.6,
        }
    }

    /// Size in the world, m.
    pub fn size(&self) -> DVec2 {
        let [width, height] = self.texture.size();
        self.metres_per_pixel * DVec2::new(width as f64, height as f64)
    }

    /// Draws it.
    pub fn paint(&self, painter: &egui::Painter, rect: Rect, camera: &Camera) {
        let corners = (
            camera.screen(rect, self.low),
            camera.screen(rect, self.low + self.size()),
        );
        let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        let tint = Color32::WHITE.gamma_multiply(self.opacity);
        painter.image(
            self.texture.id(),
            Rect::from_two_pos(corners.0, corners.1),
            uv,
            tint,
        );
    }
}
