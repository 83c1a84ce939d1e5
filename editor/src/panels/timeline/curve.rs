//! A curve of the run's results, below the other rows.

use super::Axis;
use crate::model::{Action, Model, ViewAction};
use crate::panels::results;
use crate::panels::widgets::choice;
use crate::settings::{RunCurve, TimelineView};
use egui::{Align2, FontId, Mesh, Pos2, Rect, Shape, Stroke, TextWrapMode, Ui, UiBuilder, pos2};
use roadwright_simulation::TimeRow;

/// Margin above the highest value, points.
const MARGIN: f32 = 4.0;
/// Width that a value needs beside the play head, points.
const VALUE_WIDTH: f32 = 60.0;

/// Shows the choice of the curve below the names, the curve, and its value beside the play head, at a time in
/// seconds.
pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    axis: &Axis,
    [names, area]: [Rect; 2],
    shown: f64,
    actions: &mut Vec<Action>,
) {
    let timeline = model.settings.timeline;
    let all: Vec<_> = RunCurve::ALL
        .into_iter()
        .map(|curve| (curve, curve.title().to_owned()))
        .collect();
    let mut beside = ui.new_child(UiBuilder::new().max_rect(names));
    beside.spacing_mut().interact_size.y = 18.0;
    beside.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
    if let Some(curve) = choice(&mut beside, "Curve", &timeline.curve, &all) {
        let view = TimelineView { curve, ..timeline };
        actions.push(Action::View(ViewAction::Timeline(view)));
    }
    let Some(live) = &model.live else { return };
    let rows = &live.results.rows[..];
    // The row before the axis is included, so that the curve begins at the edge.
    let first = rows.partition_point(|row| row.time < axis.from);
    let rows = &rows[first.saturating_sub(1)..];
    let curve = timeline.curve;
    let color = results::color(model.theme(), curve);
    let highest = rows.iter().map(|row| curve.value(row)).fold(0.0, f64::max);
    let scale = Scale {
        area,
        highest: highest.max(1.0),
    };
    let points: Vec<Pos2> = rows
        .iter()
        .map(|row| pos2(axis.x(row.time), scale.y(curve.value(row))))
        .collect();
    let painter = ui.painter().with_clip_rect(area);
    painter.add(filled(&points, area.bottom(), color.gamma_multiply(0.14)));
    painter.add(Shape::line(points, Stroke::new(1.5, color)));
    let small = FontId::proportional(11.0);
    let quiet = model.theme().quiet();
    let top = area.left_top() + egui::vec2(4.0, 0.0);
    let text = number(scale.highest);
    painter.text(top, Align2::LEFT_TOP, text, small, quiet);
    if let Some(row) = row_at(rows, shown) {
        // Beside the play head, on the side where there is room.
        let x = axis.x(shown);
        let (offset, align) = match x + VALUE_WIDTH < area.right() {
            true => (6.0, Align2::LEFT_TOP),
            false => (-6.0, Align2::RIGHT_TOP),
        };
        let (text, font) = (number(curve.value(row)), FontId::proportional(12.0));
        painter.text(pos2(x + offset, area.top()), align, text, font, color);
    }
}

/// Converts values of the curve to vertical positions on the screen.
struct Scale {
    area: Rect,
    highest: f64,
}

impl Scale {
    fn y(&self, value: f64) -> f32 {
        let height = self.area.height() - MARGIN - 1.0;
        self.area.bottom() - 1.0 - height * (value / self.highest) as f32
    }
}

/// Returns the last row up to a moment.
fn row_at(rows: &[TimeRow], time: f64) -> Option<&TimeRow> {
    let after = rows.partition_point(|row| row.time <= time + 1e-9);
    rows.get(after.checked_sub(1)?)
}

/// Returns the area between a curve and the bottom.
fn filled(points: &[Pos2], bottom: f32, color: egui::Color32) -> Mesh {
    let mut mesh = Mesh::default();
    for point in points {
        mesh.colored_vertex(*point, color);
        mesh.colored_vertex(pos2(point.x, bottom), color);
    }
    for i in 1..points.len() as u32 {
        let a = 2 * (i - 1);
        mesh.add_triangle(a, a + 1, a + 2);
        mesh.add_triangle(a + 1, a + 2, a + 3);
    }
    mesh
}

/// Formats a value with at most one decimal.
fn number(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}
