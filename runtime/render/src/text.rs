//! Text as filled outlines.

use tiny_skia::{PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Alignment of a label relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Centre,
    Right,
}

/// Returns the typeface of all pictures.
fn face() -> Option<Face<'static>> {
    Face::parse(dejavu::sans::regular(), 0).ok()
}

/// Returns the width of a label, pixels.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    let Some(face) = face() else { return 0.0 };
    let scale = size / f32::from(face.units_per_em());
    text.chars()
        .map(|c| advance(&face, glyph(&face, c)) * scale)
        .sum()
}

/// Returns the outline of a label whose baseline starts at the origin; `None` if the label is blank.
pub(crate) fn outline(text: &str, size: f32, align: Align) -> Option<tiny_skia::Path> {
    let face = face()?;
    let scale = size / f32::from(face.units_per_em());
    let shift = match align {
        Align::Left => 0.0,
        Align::Centre => -0.5 * width(text, size),
        Align::Right => -width(text, size),
    };
    let mut outline = Outline {
        builder: PathBuilder::new(),
        x: shift,
        scale,
    };
    for c in text.chars() {
        let id = glyph(&face, c);
        face.outline_glyph(id, &mut outline);
        outline.x += advance(&face, id) * scale;
    }
    outline.builder.finish()
}

/// Returns the transform that moves an outline to a position.
pub(crate) fn at(x: f32, y: f32) -> Transform {
    Transform::from_translate(x, y)
}

/// Returns the glyph of a character. If the typeface lacks the character, returns the box for unknown
/// characters.
fn glyph(face: &Face<'_>, c: char) -> GlyphId {
    face.glyph_index(c).unwrap_or(GlyphId(0))
}

fn advance(face: &Face<'_>, id: GlyphId) -> f32 {
    f32::from(face.glyph_hor_advance(id).unwrap_or(0))
}

struct Outline {
    builder: PathBuilder,
    x: f32,
    scale: f32,
}

impl Outline {
    /// Converts font units with y upwards to pixels with y downwards.
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}
