//! Icons of tools and of the playback buttons.

use crate::tools::ToolKind;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

/// Target rectangle and colour of an icon. Icons are drawn in a unit square (x to the right, y down), so that
/// they fit any size.
struct Sign<'a> {
    painter: &'a Painter,
    rect: Rect,
    color: Color32,
    thin: Stroke,
}

impl Sign<'_> {
    fn at(&self, x: f32, y: f32) -> Pos2 {
        pos2(
            self.rect.left() + x * self.rect.width(),
            self.rect.top() + y * self.rect.height(),
        )
    }

    fn points(&self, points: &[(f32, f32)]) -> Vec<Pos2> {
        points.iter().map(|(x, y)| self.at(*x, *y)).collect()
    }

    fn line(&self, points: &[(f32, f32)]) {
        self.painter.line(self.points(points), self.thin);
    }

    fn outline(&self, points: &[(f32, f32)]) {
        let shape = Shape::closed_line(self.points(points), self.thin);
        self.painter.add(shape);
    }

    /// Draws a box between two corners, with corners rounded by `rounding` points.
    fn frame(&self, corners: [[f32; 2]; 2], rounding: f32) {
        let [from, to] = corners.map(|[x, y]| self.at(x, y));
        let rect = Rect::from_min_max(from, to);
        self.painter
            .rect_stroke(rect, rounding, self.thin, StrokeKind::Middle);
    }

    fn segment(&self, ends: [[f32; 2]; 2]) {
        let ends = ends.map(|[x, y]| self.at(x, y));
        self.painter.line_segment(ends, self.thin);
    }
}

/// Draws the icon of a tool into a rectangle.
pub(crate) fn tool(painter: &Painter, rect: Rect, kind: ToolKind, color: Color32) {
    let sign = Sign {
        painter,
        rect,
        color,
        thin: Stroke::new(1.5, color),
    };
    match kind {
        ToolKind::Select => arrow(&sign),
        ToolKind::Road => road(&sign),
        ToolKind::Roundabout => ring(&sign),
        ToolKind::Obstacle => cube(&sign),
        ToolKind::Forest => trees(&sign),
        ToolKind::Land => shore(&sign),
        ToolKind::Paint => brush(&sign),
        ToolKind::Place => pin(&sign),
        ToolKind::Terrain => ridge(&sign),
        ToolKind::Vehicle => car(&sign),
        ToolKind::Flow => arrows(&sign),
        ToolKind::Measure => ruler(&sign),
        ToolKind::Overlay => picture(&sign),
    }
}

fn arrow(sign: &Sign<'_>) {
    sign.outline(&[
        (0.25, 0.1),
        (0.25, 0.85),
        (0.43, 0.66),
        (0.55, 0.92),
        (0.68, 0.86),
        (0.56, 0.61),
        (0.82, 0.6),
    ]);
}

fn road(sign: &Sign<'_>) {
    sign.line(&[(0.3, 0.95), (0.42, 0.05)]);
    sign.line(&[(0.9, 0.95), (0.6, 0.05)]);
    for (from, to) in [(0.92, 0.7), (0.55, 0.38), (0.26, 0.14)] {
        sign.segment([[0.59, from], [0.545, to]]);
    }
}

/// Draws a ring and the arms of a crossing outside it.
fn ring(sign: &Sign<'_>) {
    for share in [0.32, 0.12] {
        let radius = share * sign.rect.width();
        sign.painter
            .circle_stroke(sign.at(0.5, 0.5), radius, sign.thin);
    }
    for hair in [
        [[0.5, 0.05], [0.5, 0.18]],
        [[0.5, 0.82], [0.5, 0.95]],
        [[0.05, 0.5], [0.18, 0.5]],
        [[0.82, 0.5], [0.95, 0.5]],
    ] {
        sign.segment(hair);
    }
}

fn cube(sign: &Sign<'_>) {
    sign.frame([[0.15, 0.4], [0.65, 0.9]], 1.0);
    sign.outline(&[(0.15, 0.4), (0.37, 0.15), (0.87, 0.15), (0.65, 0.4)]);
    sign.line(&[(0.87, 0.15), (0.87, 0.65), (0.65, 0.9)]);
}

fn trees(sign: &Sign<'_>) {
    for (x, top, size) in [(0.35, 0.12, 0.26), (0.7, 0.35, 0.2)] {
        let foot = top + 2.2 * size;
        sign.outline(&[(x, top), (x + size, foot), (x - size, foot)]);
        sign.segment([[x, foot], [x, 0.93]]);
    }
}

/// Draws a brush and its stroke.
fn brush(sign: &Sign<'_>) {
    sign.outline(&[(0.78, 0.08), (0.92, 0.22), (0.6, 0.56), (0.45, 0.41)]);
    sign.outline(&[
        (0.45, 0.41),
        (0.6, 0.56),
        (0.42, 0.74),
        (0.27, 0.68),
        (0.3, 0.52),
    ]);
    sign.line(&[(0.08, 0.92), (0.35, 0.85), (0.6, 0.93), (0.92, 0.85)]);
}

fn shore(sign: &Sign<'_>) {
    sign.outline(&[
        (0.12, 0.35),
        (0.45, 0.1),
        (0.9, 0.28),
        (0.8, 0.72),
        (0.4, 0.9),
        (0.1, 0.7),
    ]);
    for y in [0.42, 0.6] {
        sign.line(&[
            (0.3, y),
            (0.42, y - 0.07),
            (0.56, y + 0.03),
            (0.7, y - 0.05),
        ]);
    }
}

fn pin(sign: &Sign<'_>) {
    sign.outline(&[
        (0.5, 0.95),
        (0.24, 0.5),
        (0.22, 0.3),
        (0.34, 0.12),
        (0.5, 0.06),
        (0.66, 0.12),
        (0.78, 0.3),
        (0.76, 0.5),
    ]);
    let radius = 0.11 * sign.rect.width();
    sign.painter
        .circle_stroke(sign.at(0.5, 0.35), radius, sign.thin);
}

fn ridge(sign: &Sign<'_>) {
    sign.outline(&[
        (0.04, 0.85),
        (0.36, 0.22),
        (0.55, 0.6),
        (0.68, 0.42),
        (0.96, 0.85),
    ]);
}

fn car(sign: &Sign<'_>) {
    sign.frame([[0.06, 0.42], [0.94, 0.72]], 3.0);
    sign.line(&[(0.24, 0.42), (0.36, 0.2), (0.66, 0.2), (0.78, 0.42)]);
    for x in [0.28, 0.74] {
        let radius = 0.1 * sign.rect.width();
        sign.painter
            .circle(sign.at(x, 0.74), radius, sign.color, sign.thin);
    }
}

fn arrows(sign: &Sign<'_>) {
    for y in [0.3, 0.68] {
        sign.segment([[0.08, y], [0.85, y]]);
        sign.line(&[(0.66, y - 0.15), (0.88, y), (0.66, y + 0.15)]);
    }
}

fn ruler(sign: &Sign<'_>) {
    let thick = Stroke::new(3.0, sign.color);
    let ends = [sign.at(0.1, 0.75), sign.at(0.9, 0.25)];
    sign.painter.line_segment(ends, thick);
    for share in [0.0, 0.5, 1.0] {
        let (x, y) = (0.1 + 0.8 * share, 0.75 - 0.5 * share);
        sign.segment([[x, y], [x - 0.09, y - 0.17]]);
    }
}

fn picture(sign: &Sign<'_>) {
    sign.frame([[0.08, 0.15], [0.92, 0.85]], 1.5);
    sign.line(&[
        (0.14, 0.78),
        (0.38, 0.45),
        (0.55, 0.66),
        (0.7, 0.5),
        (0.88, 0.78),
    ]);
    let radius = 0.06 * sign.rect.width();
    sign.painter
        .circle_filled(sign.at(0.7, 0.32), radius, sign.color);
}

/// Icon of a playback button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaySign {
    /// A triangle.
    Play,
    /// Two bars.
    Pause,
    /// A bar and a triangle.
    Step,
    /// A triangle that points back to a bar.
    Reset,
}

/// Draws a playback icon into a rectangle.
pub(crate) fn play(painter: &Painter, rect: Rect, sign: PlaySign, color: Color32) {
    let at = |x: f32, y: f32| {
        pos2(
            rect.left() + x * rect.width(),
            rect.top() + y * rect.height(),
        )
    };
    let bar =
        |x: f32| Rect::from_min_size(at(x, 0.15), vec2(0.2 * rect.width(), 0.7 * rect.height()));
    let triangle = |points: [Pos2; 3]| Shape::convex_polygon(points.to_vec(), color, Stroke::NONE);
    match sign {
        PlaySign::Play => {
            painter.add(triangle([at(0.22, 0.1), at(0.9, 0.5), at(0.22, 0.9)]));
        }
        PlaySign::Pause => {
            painter.rect_filled(bar(0.2), 1.0, color);
            painter.rect_filled(bar(0.6), 1.0, color);
        }
        PlaySign::Step => {
            painter.rect_filled(bar(0.08), 1.0, color);
            painter.add(triangle([at(0.4, 0.15), at(0.95, 0.5), at(0.4, 0.85)]));
        }
        PlaySign::Reset => {
            painter.rect_filled(bar(0.08), 1.0, color);
            painter.add(triangle([at(0.95, 0.15), at(0.4, 0.5), at(0.95, 0.85)]));
        }
    }
}
