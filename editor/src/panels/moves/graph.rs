//! States and moves of a library, as in figure 4.4 of [Adam 2007].

use crate::moves::{FigureEdge, LibraryFigure};
use crate::panels::widgets::counted;
use crate::theme::Theme;
use crate::tools::Tone;
use egui::epaint::{CubicBezierShape, QuadraticBezierShape};
use egui::{
    Align2, Color32, FontId, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};

/// Height of a diagram on one line, points.
const LINE_HEIGHT: f32 = 190.0;
/// Height of a diagram of speed and yaw rate, points.
const PLANE_HEIGHT: f32 = 260.0;
/// Margin at the left and right, points.
const MARGIN: f32 = 34.0;
/// Margin above and below, points.
const MARGIN_ABOVE: f32 = 36.0;
/// Radius of a state on one line, points.
const STATE: f32 = 9.0;
/// Radius of a state in a large diagram, points.
const SMALL_STATE: f32 = 3.5;
/// Height of an arc, as a share of its length.
const ARC: f32 = 0.28;
/// Largest height of an arc, points.
const HIGHEST: f32 = 64.0;
/// Height of the loop of a state, points.
const LOOP: f32 = 34.0;
/// Length of an arrow's head, points.
const HEAD: f32 = 6.0;
/// Maximum number of moves named in the hint of an edge.
const MOST_NAMED: usize = 12;
/// Minimum distance between neighbouring states for showing their speeds below their names, points.
const ROOM_FOR_SPEED: f32 = 56.0;
/// Height of a line of names, points.
const LINE: f32 = 17.0;
/// Distance from a state within which the pointer counts as being on it, points.
const TOUCH: f32 = 16.0;
/// Distance from an edge within which the pointer shows its hint, points.
const NEAR: f32 = 6.0;

/// An edge and its points on the screen.
struct DrawnEdge<'a> {
    edge: &'a FigureEdge,
    shape: Shape,
    /// Points along the edge.
    points: Vec<Pos2>,
}

/// A diagram on the screen.
pub(super) struct DrawnFigure {
    pub(super) response: Response,
    /// Positions of the states.
    pub(super) places: Vec<Pos2>,
    pub(super) painter: Painter,
}

impl DrawnFigure {
    /// Returns the index of the state at a point; `None` if there is none.
    pub(super) fn state_at(&self, at: Pos2) -> Option<usize> {
        let apart = self.places.iter().map(|place| (*place - at).length());
        let near = apart.enumerate().filter(|(_, apart)| *apart < TOUCH);
        let nearest = near.min_by(|a, b| a.1.total_cmp(&b.1));
        nearest.map(|(state, _)| state)
    }
}

/// Draws a library.
pub(super) fn ui(ui: &mut Ui, theme: Theme, figure: &LibraryFigure, sense: Sense) -> DrawnFigure {
    let height = if figure.is_line {
        LINE_HEIGHT
    } else {
        PLANE_HEIGHT
    };
    let width = ui.available_width().max(200.0);
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), sense);
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 3.0, ui.visuals().faint_bg_color);
    let room = rect.shrink2(vec2(MARGIN, MARGIN_ABOVE));
    let places: Vec<Pos2> = (figure.states.iter())
        .map(|state| {
            let (x, y) = (state.x as f32, state.y as f32);
            pos2(
                room.left() + x * room.width(),
                room.bottom() - y * room.height(),
            )
        })
        .collect();
    let pointer = response.hover_pos();
    let mut hint = None;
    for edge in &figure.edges {
        let drawn = draw_edge(theme, figure, edge, &places);
        let is_near = pointer.is_some_and(|pointer| distance(pointer, &drawn.points) < NEAR);
        if is_near {
            hint = Some(words(figure, edge));
            let stroke = Stroke::new(4.0, color(theme, edge).gamma_multiply(0.35));
            painter.add(Shape::line(drawn.points.clone(), stroke));
        }
        painter.add(drawn.shape.clone());
        head(&painter, &drawn.points, color(theme, edge));
        if figure.is_line && drawn.edge.moves.len() > 1 {
            count(&painter, theme, &drawn);
        }
    }
    states(&painter, theme, figure, &places);
    axis(&painter, theme, figure, rect);
    let moves: usize = figure.edges.iter().map(|edge| edge.moves.len()).sum();
    let label = format!(
        "Graph of {} and {}",
        counted(figure.states.len(), "state"),
        counted(moves, "move")
    );
    response.widget_info(move || WidgetInfo::labeled(Role::Image, true, &label));
    let response = match hint {
        Some(hint) => response.on_hover_text(hint),
        None => response,
    };
    DrawnFigure {
        response,
        places,
        painter,
    }
}

fn color(theme: Theme, edge: &FigureEdge) -> Color32 {
    match edge.skids {
        true => theme.tone(Tone::Danger),
        false => theme.tone(Tone::Accent),
    }
}

/// Creates the shape of an edge: a loop at its state, or an arc, which is above the line if the
/// moves gain speed.
fn draw_edge<'a>(
    theme: Theme,
    figure: &LibraryFigure,
    edge: &'a FigureEdge,
    places: &[Pos2],
) -> DrawnEdge<'a> {
    let stroke = Stroke::new(1.4, color(theme, edge));
    let radius = if figure.is_line { STATE } else { SMALL_STATE };
    let (from, to) = (places[edge.from], places[edge.to]);
    if edge.from == edge.to {
        let up = if figure.is_line { LOOP } else { 0.4 * LOOP };
        let side = 0.7 * up;
        let corners = [
            from + vec2(-0.5 * radius, -radius),
            from + vec2(-side, -radius - up),
            from + vec2(side, -radius - up),
            from + vec2(0.5 * radius, -radius),
        ];
        let shape =
            CubicBezierShape::from_points_stroke(corners, false, Color32::TRANSPARENT, stroke);
        return DrawnEdge {
            edge,
            points: shape.flatten(Some(0.5)),
            shape: shape.into(),
        };
    }
    let along = to - from;
    let length = along.length().max(1.0);
    let height = (ARC * length).min(HIGHEST);
    // To the left of the direction on the screen, so that the arcs of opposite moves do not
    // overlap.
    let aside = vec2(along.y, -along.x) / length;
    let middle = from + 0.5 * along + 2.0 * height * aside;
    let trimmed = |from: Pos2, towards: Pos2| {
        let along: Vec2 = towards - from;
        from + along * (radius / along.length().max(1.0))
    };
    let corners = [trimmed(from, middle), middle, trimmed(to, middle)];
    let shape =
        QuadraticBezierShape::from_points_stroke(corners, false, Color32::TRANSPARENT, stroke);
    DrawnEdge {
        edge,
        points: shape.flatten(Some(0.5)),
        shape: shape.into(),
    }
}

/// Draws the head of an arrow at the end of a line.
fn head(painter: &Painter, points: &[Pos2], color: Color32) {
    let [.., before, end] = points else { return };
    let along = (*end - *before).normalized();
    let aside = vec2(along.y, -along.x);
    let back = *end - HEAD * along;
    let corners = vec![*end, back + 0.45 * HEAD * aside, back - 0.45 * HEAD * aside];
    painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
}

/// Draws the number of moves of an edge at its middle.
fn count(painter: &Painter, theme: Theme, drawn: &DrawnEdge<'_>) {
    let Some(middle) = drawn.points.get(drawn.points.len() / 2) else {
        return;
    };
    let text = drawn.edge.moves.len().to_string();
    let font = FontId::proportional(11.0);
    let galley = painter.layout_no_wrap(text, font, color(theme, drawn.edge));
    let rect = Align2::CENTER_CENTER.anchor_size(*middle, galley.size());
    painter.rect_filled(rect.expand(2.0), 3.0, theme.handle());
    painter.galley(rect.min, galley, Color32::PLACEHOLDER);
}

fn states(painter: &Painter, theme: Theme, figure: &LibraryFigure, places: &[Pos2]) {
    let radius = if figure.is_line { STATE } else { SMALL_STATE };
    let ink = theme.ink();
    let mut across: Vec<f32> = places.iter().map(|at| at.x).collect();
    across.sort_by(f32::total_cmp);
    let has_room = across
        .windows(2)
        .all(|pair| pair[1] - pair[0] > ROOM_FOR_SPEED);
    for (number, (state, &at)) in figure.states.iter().zip(places).enumerate() {
        painter.circle(at, radius, theme.handle(), Stroke::new(1.5, ink));
        if figure.is_line {
            let font = FontId::proportional(12.0);
            // Names that would touch alternate between two lines.
            let line = if has_room || number % 2 == 0 {
                0.0
            } else {
                LINE
            };
            let below = at + vec2(0.0, radius + 3.0 + line);
            let text = match has_room {
                true => format!("{}\n{:.1} m/s", state.name, state.speed),
                false => state.name.clone(),
            };
            let galley = painter.layout(text, font, ink, 80.0);
            let rect = Align2::CENTER_TOP.anchor_size(below, galley.size());
            painter.rect_filled(rect.expand(1.0), 2.0, theme.handle().gamma_multiply(0.8));
            painter.galley(rect.min, galley, ink);
        }
    }
}

/// Labels the axes of a large diagram.
fn axis(painter: &Painter, theme: Theme, figure: &LibraryFigure, rect: Rect) {
    if figure.is_line {
        return;
    }
    let font = FontId::proportional(11.0);
    let speeds = figure.states.iter().map(|state| state.speed);
    let (low, high) = speeds.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), speed| {
        (low.min(speed), high.max(speed))
    });
    let quiet = theme.quiet();
    let bottom = rect.bottom() - 4.0;
    let texts = [
        (
            rect.left() + 6.0,
            Align2::LEFT_BOTTOM,
            format!("{low:.1} m/s"),
        ),
        (
            rect.right() - 6.0,
            Align2::RIGHT_BOTTOM,
            format!("{high:.1} m/s"),
        ),
    ];
    for (x, anchor, text) in texts {
        painter.text(pos2(x, bottom), anchor, text, font.clone(), quiet);
    }
    let top = pos2(rect.left() + 6.0, rect.top() + 4.0);
    painter.text(top, Align2::LEFT_TOP, "yaw rate to the left", font, quiet);
}

/// Describes the moves of an edge.
fn words(figure: &LibraryFigure, edge: &FigureEdge) -> String {
    let named = edge.moves.iter().take(MOST_NAMED).cloned();
    let mut names = named.collect::<Vec<_>>().join(", ");
    if edge.moves.len() > MOST_NAMED {
        names += ", …";
    }
    let (from, to) = (&figure.states[edge.from].name, &figure.states[edge.to].name);
    format!("{from} to {to}: {names}")
}

/// Returns the distance of a point from a polyline.
fn distance(at: Pos2, points: &[Pos2]) -> f32 {
    let pieces = points.windows(2).map(|pair| {
        let along = pair[1] - pair[0];
        let share = ((at - pair[0]).dot(along) / along.length_sq().max(1e-6)).clamp(0.0, 1.0);
        (at - (pair[0] + share * along)).length()
    });
    pieces.fold(f32::INFINITY, f32::min)
}
