//! The background picture for tracing.

use crate::map_view::MapView;
use egui::{Color32, ColorImage, Rect, TextureHandle, TextureOptions, pos2};
use roadwright_bundle::{PLACEMENT, Placement};
use roadwright_geometry::DVec2;
use std::path::Path;
use std::sync::Arc;

use crate::camera::Camera;

/// Largest side of a stored picture, in pixels.
const LARGEST: u32 = 4096;

/// A picture with a position in the world.
#[derive(Clone)]
pub struct Background {
    texture: TextureHandle,
    /// The original contents of the picture's file.
    source: Arc<[u8]>,
    is_png: bool,
    /// South-west corner of the picture, m.
    pub low: DVec2,
    /// Size of a pixel of the picture in the world, m.
    pub metres_per_pixel: f64,
    /// Opacity, from 0 (invisible) to 1 (opaque).
    pub opacity: f32,
}

/// A picture that was read from a file.
pub struct Picked {
    image: ColorImage,
    /// The contents of the picture file.
    source: Arc<[u8]>,
    is_png: bool,
}

/// Maximum size of a picture file, bytes.
const LARGEST_FILE: u64 = 64 * roadwright_files::MEBIBYTE;

/// Reads a PNG or JPEG picture of at most 64 MiB.
///
/// # Errors
/// If the file is larger, or is not a PNG or JPEG picture. The error is a message for the user.
pub fn read(path: &Path) -> Result<Picked, String> {
    let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = roadwright_files::read(path, LARGEST_FILE).map_err(|error| fail(&error))?;
    let reader = image::ImageReader::new(std::io::Cursor::new(&bytes))
        // By content rather than extension, because picture files often have the wrong extension.
        .with_guessed_format()
        .map_err(|error| fail(&error))?;
    let is_png = reader.format() == Some(image::ImageFormat::Png);
    let mut picture = reader.decode().map_err(|error| fail(&error))?;
    if picture.width().max(picture.height()) > LARGEST {
        // Some graphics cards reject larger textures.
        picture = picture.thumbnail(LARGEST, LARGEST);
    }
    let rgba = picture.to_rgba8();
    let size = [rgba.width() as usize, rgba.height() as usize];
    Ok(Picked {
        image: ColorImage::from_rgba_unmultiplied(size, rgba.as_raw()),
        // Bundles contain the original file, because encoding the pixels again would reduce the quality.
        source: bytes.into(),
        is_png,
    })
}

/// Reads the picture beside a scenario and its placement, as unpacked from a bundle; `None` if there is none.
pub(crate) fn beside(folder: &Path) -> Option<Result<(Picked, Placement), String>> {
    let path = folder.join(PLACEMENT);
    if !path.exists() {
        return None;
    }
    let bytes = roadwright_files::read(&path, roadwright_files::MEBIBYTE);
    let placement = bytes.map_err(|error| format!("{}: {error}", path.display()));
    let placement = placement.and_then(|bytes| Placement::from_bytes(&bytes));
    Some(placement.and_then(|placement| {
        let picked = read(&folder.join(&placement.picture))?;
        Ok((picked, placement))
    }))
}

impl Background {
    /// Places a picture according to a placement, or in the centre of the view.
    pub fn new(
        context: &egui::Context,
        picked: Picked,
        camera: &Camera,
        placement: Option<&Placement>,
    ) -> Self {
        let width = picked.image.size[0] as f64;
        let height = picked.image.size[1] as f64;
        // About 600 points wide on the screen at any scale.
        let on_screen = 600.0 * camera.scale / width.max(1.0);
        let metres_per_pixel = placement.map_or(on_screen, |at| at.metres_per_pixel);
        let size = metres_per_pixel * DVec2::new(width, height);
        let middle = camera.centre - 0.5 * size;
        Self {
            texture: context.load_texture("background", picked.image, TextureOptions::LINEAR),
            source: picked.source,
            is_png: picked.is_png,
            low: placement.map_or(middle, |at| DVec2::from(at.low)),
            metres_per_pixel,
            opacity: placement.map_or(0.6, |at| at.opacity),
        }
    }

    /// Returns the picture's file and placement for bundles.
    pub(crate) fn packed(&self) -> (Placement, Arc<[u8]>) {
        let ending = if self.is_png { "png" } else { "jpg" };
        let placement = Placement {
            picture: format!("background.{ending}"),
            low: self.low.into(),
            metres_per_pixel: self.metres_per_pixel,
            opacity: self.opacity,
        };
        (placement, self.source.clone())
    }

    /// Returns the size of the picture in the world, m.
    pub fn size(&self) -> DVec2 {
        let [width, height] = self.texture.size();
        self.metres_per_pixel * DVec2::new(width as f64, height as f64)
    }

    /// Draws the picture.
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
