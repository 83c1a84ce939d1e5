//! Drawing in world coordinates.

use crate::RenderError;
use crate::figure::{Corner, Part};
use crate::painter::Painter;
use crate::palette::{PAPER, by_night, faded, rgb};
use crate::text::{self, Align};
use glam::DVec2;
use roadwright_geometry::{Pose, polygon};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};

/// A picture and the part of the world that it shows. The y axis of the world points upwards.
pub(crate) struct Canvas {
    pixmap: Pixmap,
    /// World point at the upper left corner, m.
    corner: DVec2,
    /// Pixels per metre.
    pub(crate) scale: f64,
    /// Whether the colours of the dark theme are used.
    dark: bool,
}

/// Distance from the picture beyond which shapes are not drawn, pixels.
const MARGIN: f32 = 64.0;

impl Canvas {
    /// Creates a canvas that shows a box of the world, centred and without distortion.
    pub(crate) fn new(size: (u32, u32), low: DVec2, high: DVec2) -> Result<Self, RenderError> {
        let pixmap = Pixmap::new(size.0, size.1).ok_or(RenderError::Size(size.0, size.1))?;
        let pixels = DVec2::new(f64::from(size.0), f64::from(size.1));
        let world = (high - low).max(DVec2::splat(1.0));
        // The direction with less room determines the scale, so more of the world is visible in the
        // other direction.
        let scale = (pixels / world).min_element();
        let middle = 0.5 * (low + high);
        Ok(Self {
            pixmap,
            corner: middle + DVec2::new(-0.5 * pixels.x, 0.5 * pixels.y) / scale,
            scale,
            dark: false,
        })
    }

    /// Switches the colours of the dark theme on or off.
    pub(crate) fn set_dark(&mut self, dark: bool) {
        self.dark = dark;
    }

    /// Whether the colours of the dark theme are used.
    pub(crate) fn is_dark(&self) -> bool {
        self.dark
    }

    /// Returns red, green, blue and alpha of each pixel, 0 to 1, row by row from the top. The colours are
    /// multiplied by alpha.
    pub(crate) fn premultiplied(&self) -> Vec<[f32; 4]> {
        let pixels = self.pixmap.pixels().iter();
        pixels
            .map(|pixel| {
                let bytes = [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()];
                bytes.map(|byte| f32::from(byte) / 255.0)
            })
            .collect()
    }

    /// Fills a polygon with a colour that has already been converted to the picture's theme.
    pub(crate) fn plain_polygon(&mut self, points: &[DVec2], color: Color) {
        self.fill_ring(points, color);
    }

    /// Returns the visible part of the world, given by its low and high corner, m.
    pub(crate) fn view(&self) -> (DVec2, DVec2) {
        let size = DVec2::new(f64::from(self.width()), f64::from(self.height())) / self.scale;
        let low = self.corner - DVec2::new(0.0, size.y);
        (low, low + size)
    }

    /// Draws a line over the map with a width in pixels, in a colour that does not depend on the theme.
    pub(crate) fn overlay(&mut self, points: &[DVec2], width: f32, color: Color) {
        if let Some(path) = self.path(points) {
            self.stroke(&path, width, color);
        }
    }

    /// Converts a colour of the map to the theme of this picture.
    pub(crate) fn shown(&self, color: Color) -> Color {
        if self.dark { by_night(color) } else { color }
    }

    pub(crate) fn clear(&mut self, hex: u32) {
        let color = self.shown(rgb(hex));
        self.pixmap.fill(color);
    }

    pub(crate) fn width(&self) -> f32 {
        self.pixmap.width() as f32
    }

    pub(crate) fn height(&self) -> f32 {
        self.pixmap.height() as f32
    }

    /// Converts a world point to a pixel.
    pub(crate) fn pixel(&self, point: DVec2) -> (f32, f32) {
        let offset = (point - self.corner) * self.scale;
        // Computed in double precision up to this point, because an f32 resolves only a centimetre
        // at 100 km from the origin.
        (offset.x as f32, -offset.y as f32)
    }

    /// Converts a pixel to a world point.
    pub(crate) fn world(&self, x: f64, y: f64) -> DVec2 {
        self.corner + DVec2::new(x, -y) / self.scale
    }

    /// Sets a pixel to a colour without blending. Does nothing outside the picture.
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
            self.fill(&PathBuilder::from_rect(rect), self.shown(color));
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
            self.stroke(&path, width, self.shown(color));
        }
    }

    /// Draws a figure, given by its middle, the vector from its middle to its front, half its width (m), and
    /// its colour.
    pub(crate) fn figure(
        &mut self,
        parts: &[Part],
        at: DVec2,
        front: DVec2,
        half_width: f64,
        own: Color,
    ) {
        let left = half_width * front.normalize_or_zero().perp();
        for part in parts {
            let shift = half_width * DVec2::new(f64::from(part.shift.0), f64::from(part.shift.1));
            let place = |&(x, y): &Corner| at + shift + f64::from(x) * front + f64::from(y) * left;
            let ring: Vec<DVec2> = part.ring.iter().map(place).collect();
            let color = part.color.map_or(own, |color| self.shown(color));
            match &part.fade {
                None => self.fill_ring(&ring, color),
                Some(fade) => {
                    let outer: Vec<DVec2> = fade.iter().map(place).collect();
                    self.fading(&ring, &outer, color);
                }
            }
        }
    }

    /// Fills a ring that fades out towards an outer ring with the same number of corners.
    fn fading(&mut self, ring: &[DVec2], outer: &[DVec2], color: Color) {
        // Few coats are used, so that rounding to bytes does not tint the ground.
        const COATS: (f64, f64) = (6.0, 10.0);
        const STEP: f64 = 1.5;
        let widest = ring.iter().zip(outer).map(|(a, b)| (*b - *a).length());
        let pixels = widest.fold(0.0, f64::max) * self.scale;
        let coats = (pixels / STEP).ceil().clamp(COATS.0, COATS.1) as u8;
        let share = |i: u8| f32::from(i) / f32::from(coats);
        for i in 0..coats {
            // Drawn from the outside inwards. Each coat covers enough of the coats below for the total cover
            // to grow evenly.
            let below = color.alpha() * share(i);
            let cover = color.alpha() * share(i + 1);
            let mut coat = color;
            coat.set_alpha(((cover - below) / (1.0 - below).max(1e-6)).clamp(0.0, 1.0));
            let between =
                |(a, b): (&DVec2, &DVec2)| b.lerp(*a, f64::from(share(i) + 0.5 * share(1)));
            let ring: Vec<DVec2> = ring.iter().zip(outer).map(between).collect();
            self.fill_ring(&ring, coat);
        }
    }

    fn fill_ring(&mut self, ring: &[DVec2], color: Color) {
        if let Some(path) = self.ring(ring) {
            self.fill(&path, color);
        }
    }

    /// Draws a label with its middle at a world point. It follows a heading but is never upside down. A halo
    /// in the given colour, which does not depend on the theme, hides the ground around it.
    pub(crate) fn text_along(&mut self, text: &str, at: Pose, size: f32, ink: Color, halo: Color) {
        let (x, y) = self.pixel(at.position);
        let forward = at.forward();
        let along = if forward.x < 0.0 { -forward } else { forward };
        let (c, s) = (along.x as f32, along.y as f32);
        // Capital letters extend a third of the size above and below the middle of the line.
        let lower = Transform::from_translate(0.0, 0.36 * size);
        let turn = lower.post_concat(Transform::from_row(c, -s, s, c, x, y));
        let path = text::outline(text, size, Align::Centre).and_then(|path| path.transform(turn));
        if let Some(path) = path {
            self.stroke(&path, 0.34 * size, halo);
            self.fill(&path, self.shown(ink));
        }
    }

    /// Draws a label with its baseline at a pixel. A halo keeps it legible on any ground.
    pub(crate) fn text(&mut self, text: &str, x: f32, y: f32, size: f32, align: Align, hex: u32) {
        let Some(path) = text::outline(text, size, align) else {
            return;
        };
        let Some(path) = path.transform(text::at(x, y)) else {
            return;
        };
        // The halo is drawn first, so that the letters are on top of it.
        self.stroke(&path, 0.22 * size, self.shown(faded(PAPER, 0.85)));
        self.fill(&path, self.shown(rgb(hex)));
    }

    /// Returns red, green, blue and alpha of each pixel, row by row from the top. Alpha is always 255.
    pub(crate) fn opaque(&self) -> Vec<u8> {
        let pixels = self.pixmap.pixels().iter();
        pixels
            .flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue(), 255])
            .collect()
    }

    /// Encodes the picture as a PNG.
    pub(crate) fn png(&self) -> Result<Vec<u8>, RenderError> {
        self.pixmap
            .encode_png()
            .map_err(|error| RenderError::Png(error.to_string()))
    }

    /// Returns a path in pixels; `None` if it is outside the picture or has no extent.
    fn path(&self, points: &[DVec2]) -> Option<Path> {
        self.visible(self.traced(points)?.finish()?)
    }

    /// As [`Self::path`], with the last point joined to the first.
    fn ring(&self, points: &[DVec2]) -> Option<Path> {
        let mut builder = self.traced(points)?;
        builder.close();
        self.visible(builder.finish()?)
    }

    fn traced(&self, points: &[DVec2]) -> Option<PathBuilder> {
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
        Some(builder)
    }

    /// Returns closed rings as one path in pixels; `None` if it is outside the picture or has no extent.
    fn path_of_rings(&self, rings: &[&[DVec2]]) -> Option<Path> {
        let mut builder = PathBuilder::new();
        for ring in rings {
            for (i, &point) in ring.iter().enumerate() {
                let (x, y) = self.pixel(point);
                if i == 0 {
                    builder.move_to(x, y)
                } else {
                    builder.line_to(x, y)
                }
            }
            builder.close();
        }
        self.visible(builder.finish()?)
    }

    /// Returns a path; `None` if it is certainly outside the picture.
    fn visible(&self, path: Path) -> Option<Path> {
        let bounds = path.bounds();
        // Most of a city is outside a close view, and clipping a path there takes longer than checking its
        // bounds.
        let visible = bounds.right() > -MARGIN
            && bounds.bottom() > -MARGIN
            && bounds.left() < self.width() + MARGIN
            && bounds.top() < self.height() + MARGIN;
        visible.then_some(path)
    }

    fn fill(&mut self, path: &Path, color: Color) {
        self.fill_by(FillRule::Winding, path, color);
    }

    fn fill_by(&mut self, rule: FillRule, path: &Path, color: Color) {
        self.pixmap
            .fill_path(path, &paint(color), rule, Transform::identity(), None);
    }

    fn stroke(&mut self, path: &Path, width: f32, color: Color) {
        self.dash(path, width, None, color);
    }

    fn dash(&mut self, path: &Path, width: f32, dash: Option<[f32; 2]>, color: Color) {
        let stroke = Stroke {
            width,
            line_join: LineJoin::Round,
            // Round caps would close the gaps between dashes.
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
        self.fill_ring(points, self.shown(color));
    }

    fn area(&mut self, rings: &[&[DVec2]], color: Color) {
        if let Some(path) = self.path_of_rings(rings) {
            self.fill_by(FillRule::EvenOdd, &path, self.shown(color));
        }
    }

    fn soft_polygon(&mut self, points: &[DVec2], fade: f64, color: Color) {
        let ring = polygon::tidy_ring(points);
        let normals = polygon::outward_mitres(&ring, 2.0);
        let outer: Vec<DVec2> = ring
            .iter()
            .zip(&normals)
            .map(|(p, n)| *p + fade * *n)
            .collect();
        self.fading(&ring, &outer, self.shown(color));
    }

    fn edge(&mut self, points: &[DVec2], width: f64, least: f32, color: Color) {
        if let Some(path) = self.ring(points) {
            self.stroke(
                &path,
                ((width * self.scale) as f32).max(least),
                self.shown(color),
            );
        }
    }

    fn dashed_line(
        &mut self,
        points: &[DVec2],
        width: f64,
        least: f32,
        dash: Option<(f64, f64)>,
        color: Color,
    ) {
        let dash = dash.map(|(on, off)| [(on * self.scale) as f32, (off * self.scale) as f32]);
        if let Some(path) = self.path(points) {
            self.dash(
                &path,
                ((width * self.scale) as f32).max(least),
                dash,
                self.shown(color),
            );
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
            self.fill(&path, self.shown(color));
        }
    }
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(color);
    paint.anti_alias = true;
    paint
}
