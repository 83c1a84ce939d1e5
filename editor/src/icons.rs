//! Small drawings for tools and for playing.

use crate::tools::ToolKind;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, pos2, vec2};

/// Draws the sign of a tool into a rectangle.
pub(crate) fn tool(painter: &Painter, rect: Rect, kind: ToolKind, color: Color32) {
    let at = |x: f32, y: f32| {
        pos2(
            rect.left() + x * rect.width(),
            rect.top() + y * rect.height(),
        )
    };
    let thin = Stroke::new(1.5, color);
    let thick = Stroke::new(3.0, color);
    match kind {
        ToolKind::Select => {
            let arrow = vec![
                at(0.25, 0.1),
                at(0.25, 0.85),
                at(0.43, 0.66),
                at(0.55, 0.92),
                at(0.68, 0.86),
                at(0.56, 0.61),
                at(0.82, 0.6),
            ];
            painter.add(Shape::closed_line(arrow, thin));
        }
        ToolKind::Road => {
            painter.line(vec![at(0.3, 0.95), at(0.42, 0.05)], thin);
            painter.line(vec![at(0.9, 0.95), at(0.6, 0.05)], thin);
            for (from, to) in [(0.92, 0.7), (0.55, 0.38), (0.26, 0.14)] {
                painter.line_segment([at(0.59, from), at(0.545, to)], thin);
            }
        }
        ToolKind::Obstacle => {
            let front = Rect::from_min_max(at(0.15, 0.4), at(0.65, 0.9));
            painter.rect_stroke(front, 1.0, thin, egui::StrokeKind::Middle);
            let top = vec![at(0.15, 0.4), at(0.37, 0.15), at(0.87, 0.15), at(0.65, 0.4)];
            painter.add(Shape::closed_line(top, thin));
            painter.line(vec![at(0.87, 0.15), at(0.87, 0.65), at(0.65, 0.9)], thin);
        }
        ToolKind::Forest => {
            for (x, top, size) in [(0.35, 0.12, 0.26), (0.7, 0.35, 0.2)] {
                let crown = vec![
                    at(x, top),
                    at(x + size, top + 2.2 * size),
                    at(x - size, top + 2.2 * size),
                ];
                painter.add(Shape::closed_line(crown, thin));
                painter.line_segment([at(x, top + 2.2 * size), at(x, 0.93)], thin);
            }
        }
        ToolKind::Place => {
            let pin = vec![
                at(0.5, 0.95),
                at(0.24, 0.5),
                at(0.22, 0.3),
                at(0.34, 0.12),
                at(0.5, 0.06),
                at(0.66, 0.12),
                at(0.78, 0.3),
                at(0.76, 0.5),
            ];
            painter.add(Shape::closed_line(pin, thin));
            painter.circle_stroke(at(0.5, 0.35), 0.11 * rect.width(), thin);
        }
        ToolKind::Terrain => {
            let ridge = vec![
                at(0.04, 0.85),
                at(0.36, 0.22),
                at(0.55, 0.6),
                at(0.68, 0.42),
                at(0.96, 0.85),
            ];
            painter.add(Shape::closed_line(ridge, thin));
        }
        ToolKind::Vehicle => {
            let body = Rect::from_min_max(at(0.06, 0.42), at(0.94, 0.72));
            painter.rect_stroke(body, 3.0, thin, egui::StrokeKind::Middle);
            painter.line(
                vec![at(0.24, 0.42), at(0.36, 0.2), at(0.66, 0.2), at(0.78, 0.42)],
                thin,
            );
            for x in [0.28, 0.74] {
                painter.circle(at(x, 0.74), 0.1 * rect.width(), color, thin);
            }
        }
        ToolKind::Flow => {
            for y in [0.3, 0.68] {
                painter.line_segment([at(0.08, y), at(0.85, y)], thin);
                painter.line(
                    vec![at(0.66, y - 0.15), at(0.88, y), at(0.66, y + 0.15)],
                    thin,
                );
            }
        }
        ToolKind::Measure => {
            painter.line_segment([at(0.1, 0.75), at(0.9, 0.25)], thick);
            for share in [0.0, 0.5, 1.0] {
                let (x, y) = (0.1 + 0.8 * share, 0.75 - 0.5 * share);
                painter.line_segment([at(x, y), at(x - 0.09, y - 0.17)], thin);
            }
        }
        ToolKind::Overlay => {
            let frame = Rect::from_min_max(at(0.08, 0.15), at(0.92, 0.85));
            painter.rect_stroke(frame, 1.5, thin, egui::StrokeKind::Middle);
            painter.line(
                vec![
                    at(0.14, 0.78),
                    at(0.38, 0.45),
                    at(0.55, 0.66),
                    at(0.7, 0.5),
                    at(0.88, 0.78),
                ],
                thin,
            );
            painter.circle_filled(at(0.7, 0.32), 0.06 * rect.width(), color);
        }
    }
}

/// What is drawn on a button for playing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaySign {
    /// A triangle.
    Play,
    /// Two bars.
    Pause,
    /// A bar and a triangle.
    Step,
    /// A triangle back to a bar.
    Reset,
}

/// Draws a sign for playing into a rectangle.
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
