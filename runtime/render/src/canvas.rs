//! Drawing in world coordinates.

use crate::RenderError;
use crate::painter::Painter;
use crate::palette::{PAPER, faded, rgb};
use crate::text::{self, Align};
use glam::DVec2;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};

/// A picture and the part of the world that it shows, y upwards.
pub(crate) struct Canvas {
    pixmap: Pixmap,
    /// World point at the upper left corner.
    corner: DVec2,
    /// Pixels per metre.
    pub(crate) scale: f64,
}

/// Shapes wholly outside by this much are not drawn, pixels.
const MARGIN: f32 = 64.0;

impl Canvas {
    /// A canvas that shows a box of the world, centred, with its proportions kept.
    pub(crate) fn new(size: (u32, u32), low: DVec2, high: DVec2) -> Result<Self, RenderError> {
        let pixmap = Pixmap::new(size.0, size.1).ok_or(RenderError::Size(size.0, size.1))?;
        let pixels = DVec2::new(f64::from(size.0), f64::from(size.1));
        let world = (high - low).max(DVec2::splat(1.0));
        // The tighter direction decides; in the other one more of the world is seen.
        let scale = (pixels / world).min_element();
        let middle = 0.5 * (low + high);
        Ok(Self {
            pixmap,
            corner: middle + DVec2::new(-0.5 * pixels.x, 0.5 * pixels.y) / scale,
            scale,
        })
    }

    pub(crate) fn clear(&mut self, hex: u32) {
        self.pixmap.fill(rgb(hex));
    }

    pub(crate) fn width(&self) -> f32 {
        self.pixmap.width() as f32
    }

    pub(crate) fn height(&self) -> f32 {
        self.pixmap.height() as f32
    }

    /// Pixel of a world point.
    pub(crate) fn pixel(&self, point: DVec2) -> (f32, f32) {
        let offset = (point - self.corner) * self.scale;
        // In double precision up to here: 100 km from the origin an f32 resolves a centimetre.
        (offset.x as f32, -offset.y as f32)
    }

    /// World point of a pixel.
    pub(crate) fn world(&self, x: f64, y: f64) -> DVec2 {
        self.corner + DVec2::new(x, -y) / self.scale
    }

    /// Sets one pixel; outside nothing happens.
    pub(crate) fn put(&mut self, x: u32, y: u32, color: Color) {
        let (width, height) = (self.pixmap.width(), self.pixmap.height());
        if x < width && y < height {
            let index = (y * width + x) as usize;
            self.pixmap.pixels_mut()[index] = color.premultiply().to_color_u8();
        }
    }

    /// Fills a rectangle given in pixels.
    pub(crate) fn rect(&mut self, x: f32, y: f32, width: f32, height: f32, color: Color) {
        if let Some(rect) = Rect::from_xywh(x, y, width, height) {
            self.fill(&PathBuilder::from_rect(rect), color);
        }
    }

    /// Draws a line given in pixels.
    pub(crate) fn pixel_line(&mut self, points: &[(f32, f32)], width: f32, color: Color) {
        let mut builder = PathBuilder::new();
        for (i, &(x, y)) in points.iter().enumerate() {
            if i == 0 {
                builder.move_to(x, y)
            } else {
                builder.line_to(x, y)
            }
        }
        if let Some(path) = builder.finish() {
            self.stroke(&path, width, None, color);
        }
    }

    /// Writes a text with its baseline at a pixel, with a halo that keeps it legible on anything.
    pub(crate) fn text(&mut self, text: &str, x: f32, y: f32, size: f32, align: Align, hex: u32) {
        let Some(path) = text::outline(text, size, align) else {
            return;
        };
        let Some(path) = path.transform(text::at(x, y)) else {
            return;
        };
        // The halo first, so that letters lie on it.
        self.stroke(&path, 0.22 * size, None, faded(PAPER, 0.85));
        self.fill(&path, rgb(hex));
    }

    /// The picture as PNG.
    pub(crate) fn png(&self) -> Result<Vec<u8>, RenderError> {
        self.pixmap
            .encode_png()
            .map_err(|error| RenderError::Png(error.to_string()))
    }

    /// A path in pixels; `None` if it is outside of the picture or has no extent.
    fn path(&self, points: &[DVec2], close: bool) -> Option<Path> {
        if points.len() < 2 {
            return None;
        }
        let mut builder = PathBuilder::with_capacity(points.len() + 1, points.len());
        for (i, &point) in points.iter().enumerate() {
            let (x, y) = self.pixel(point);
            if i == 0 {
                builder.move_to(x, y)
            } else {
                builder.line_to(x, y)
            }
        }
        if close {
            builder.close();
        }
        let path = builder.finish()?;
        let bounds = path.bounds();
        // Most of a city lies outside of a close view; paths there cost more to clip than to look at.
        let visible = bounds.right() > -MARGIN
            && bounds.bottom() > -MARGIN
            && bounds.left() < self.width() + MARGIN
            && bounds.top() < self.height() + MARGIN;
        visible.then_some(path)
    }

    fn fill(&mut self, path: &Path, color: Color) {
        self.pixmap.fill_path(
            path,
            &paint(color),
            FillRule::Winding,
            Transform::identity(),
            None,
        );
    }

    fn stroke(&mut self, path: &Path, width: f32, dash: Option<[f32; 2]>, color: Color) {
        let stroke = Stroke {
            width,
            line_join: LineJoin::Round,
            // Round caps would close the gaps of dashes.
            line_cap: LineCap::Butt,
            dash: dash.and_then(|dash| StrokeDash::new(dash.to_vec(), 0.0)),
            ..Stroke::default()
        };
        self.pixmap
            .stroke_path(path, &paint(color), &stroke, Transform::identity(), None);
    }
}

impl Painter for Canvas {
    fn scale(&self) -> f64 {
        self.scale
    }

    fn polygon(&mut self, points: &[DVec2], color: Color) {
        if let Some(path) = self.path(points, true) {
            self.fill(&path, color);
        }
    }

    fn edge(&mut self, points: &[DVec2], width: f64, least: f32, color: Color) {
        if let Some(path) = self.path(points, true) {
            self.stroke(&path, ((width * self.scale) as f32).max(least), None, color);
        }
    }

    fn line(
        &mut self,
        points: &[DVec2],
        width: f64,
        least: f32,
        dash: Option<(f64, f64)>,
        color: Color,
    ) {
        let dash = dash.map(|(on, off)| [(on * self.scale) as f32, (off * self.scale) as f32]);
        if let Some(path) = self.path(points, false) {
            self.stroke(&path, ((width * self.scale) as f32).max(least), dash, color);
        }
    }

    fn circle(&mut self, centre: DVec2, radius: f64, least: f32, color: Color) {
        let (x, y) = self.pixel(centre);
        let radius = ((radius * self.scale) as f32).max(least);
        let outside =
            x < -radius || y < -radius || x > self.width() + radius || y > self.height() + radius;
        if outside {
            return;
        }
        if let Some(path) = PathBuilder::from_circle(x, y, radius) {
            self.fill(&path, color);
        }
    }
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(color);
    paint.anti_alias = true;
    paint
}
