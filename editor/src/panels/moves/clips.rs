//! The list of clips. Handles on the speed curve trim a clip, and hovering shows its ghost on the
//! map.

use super::send;
use crate::model::{Action, Model};
use crate::moves::{BenchClip, MovesAction, Trim};
use crate::panels::widgets::counted;
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{
    CursorIcon, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

/// Height of the curve of a clip, points.
const HEIGHT: f32 = 38.0;
/// Half the width of a handle's drag area, points.
const GRIP: f32 = 6.0;
/// Maximum number of points of a curve.
const MOST_POINTS: usize = 300;

/// State of the list.
#[derive(Default)]
pub(super) struct ClipList {
    /// The clip under the pointer in the last frame.
    hovered: Option<usize>,
}

impl ClipList {
    pub(super) fn ui(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        let bench = &model.moves;
        if bench.clips.is_empty() {
            let text = "Drive a vehicle (Shift+D) and press E to start and end a clip.";
            ui.weak(text);
        }
        if let Some(source) = &bench.source {
            ui.horizontal_wrapped(|ui| {
                ui.weak(source.words());
                if ui.small_button("Clear clips").clicked() {
                    send(actions, MovesAction::Clear);
                }
            });
        }
        let mut hovered = None;
        for (number, clip) in bench.clips.iter().enumerate() {
            let row = ui.push_id(("clip", number), |ui| {
                words(ui, model, number, clip, actions);
                curve(ui, model.theme(), number, clip, actions);
            });
            if ui.rect_contains_pointer(row.response.rect) {
                hovered = Some(number);
            }
            ui.add_space(4.0);
        }
        self.hovered = hovered;
        if self.hovered != bench.hovered {
            send(actions, MovesAction::Hover(hovered));
        }
    }
}

/// Shows the name of a clip, its length and ends, and its buttons.
fn words(ui: &mut Ui, model: &Model, number: usize, clip: &BenchClip, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        name_of(ui, number, clip, actions);
        let frames = clip.trim.last - clip.trim.first;
        let rate = model
            .moves
            .source
            .as_ref()
            .map_or(1.0, |source| source.rate);
        let [begin, end] = clip.ends();
        ui.label(format!(
            "{}, {:.1} s, {:.1} to {:.1} m/s",
            counted(frames, "frame"),
            frames as f64 / rate,
            begin.forward,
            end.forward
        ));
        let mut is_mirrored = clip.is_mirrored;
        let response = ui.checkbox(&mut is_mirrored, "mirrored too");
        let label = format!("Mirror {}", clip.name);
        response
            .widget_info(move || WidgetInfo::selected(Role::CheckBox, true, is_mirrored, &label));
        if response.changed() {
            send(actions, MovesAction::Mirror(number, is_mirrored));
        }
        if ui.small_button(format!("Remove {}", clip.name)).clicked() {
            send(actions, MovesAction::Remove(number));
        }
    });
}

/// Shows the editable name of a clip. Typed text is kept until the field loses the focus, because
/// another clip may have the half-typed name.
fn name_of(ui: &mut Ui, number: usize, clip: &BenchClip, actions: &mut Vec<Action>) {
    let id = ui.make_persistent_id("typed name");
    let typed: Option<String> = ui.data(|data| data.get_temp(id));
    let mut name = typed.unwrap_or_else(|| clip.name.clone());
    let field = ui.add(egui::TextEdit::singleline(&mut name).desired_width(90.0));
    let label = format!("Name of clip {}", number + 1);
    field.widget_info(move || WidgetInfo::labeled(Role::TextInput, true, &label));
    if field.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, name.clone()));
    }
    if field.lost_focus() {
        ui.data_mut(|data| data.remove_temp::<String>(id));
        if name.trim() != clip.name {
            send(actions, MovesAction::Rename(number, name));
        }
    }
}

/// The area in which the curve of a clip is drawn, with its scales.
struct Curve {
    rect: Rect,
    /// Index of the last frame.
    last: usize,
    fastest: f64,
}

impl Curve {
    fn x(&self, frame: usize) -> f32 {
        let share = frame as f32 / self.last as f32;
        self.rect.left() + share * self.rect.width()
    }

    fn at(&self, frame: usize, speed: f64) -> Pos2 {
        let share = (speed.abs() / self.fastest) as f32;
        let height = self.rect.height() - 4.0;
        pos2(self.x(frame), self.rect.bottom() - 2.0 - share * height)
    }

    fn frame(&self, x: f32) -> usize {
        let share = (x - self.rect.left()) / self.rect.width();
        (share.clamp(0.0, 1.0) * self.last as f32).round() as usize
    }
}

/// Draws the speed of a clip over time, with the handles that trim it.
fn curve(ui: &mut Ui, theme: Theme, number: usize, clip: &BenchClip, actions: &mut Vec<Action>) {
    let width = ui.available_width().max(80.0);
    let (rect, _) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::hover());
    let fastest = clip.frames.iter().map(|frame| frame.forward.abs());
    let curve = Curve {
        rect: rect.shrink2(vec2(GRIP, 0.0)),
        last: clip.frames.len() - 1,
        fastest: fastest.fold(1.0, f64::max),
    };
    let painter = ui.painter_at(rect);
    painter.rect_filled(curve.rect, 2.0, ui.visuals().faint_bg_color);
    let kept = Rect::from_x_y_ranges(
        curve.x(clip.trim.first)..=curve.x(clip.trim.last),
        curve.rect.y_range(),
    );
    let accent = theme.tone(Tone::Accent);
    painter.rect_filled(kept, 0.0, accent.gamma_multiply(0.15));
    let step = clip.frames.len().div_ceil(MOST_POINTS);
    let points = clip.frames.iter().enumerate().step_by(step);
    let points: Vec<Pos2> = points
        .map(|(frame, one)| curve.at(frame, one.forward))
        .collect();
    painter.add(Shape::line(points, Stroke::new(1.5, theme.quiet())));
    let Trim { first, last } = clip.trim;
    let begin = handle(ui, &curve, first, &format!("Start of {}", clip.name));
    let end = handle(ui, &curve, last, &format!("End of {}", clip.name));
    for (response, frame) in [(&begin, first), (&end, last)] {
        let width = if response.hovered() || response.dragged() {
            3.0
        } else {
            2.0
        };
        let x = curve.x(frame);
        painter.vline(x, curve.rect.y_range(), Stroke::new(width, accent));
    }
    let dragged = |response: &Response| {
        let pointer = response.interact_pointer_pos();
        pointer
            .filter(|_| response.dragged())
            .map(|pointer| curve.frame(pointer.x))
    };
    let trim = match (dragged(&begin), dragged(&end)) {
        (Some(first), _) => Trim {
            first: first.min(last - 1),
            last,
        },
        (_, Some(last)) => Trim {
            first,
            last: last.max(first + 1),
        },
        _ => return,
    };
    if trim != clip.trim {
        send(actions, MovesAction::Trim(number, trim));
    }
}

/// Shows the handle at a frame of the curve.
fn handle(ui: &Ui, curve: &Curve, frame: usize, name: &str) -> Response {
    let x = curve.x(frame);
    let grip = Rect::from_x_y_ranges(x - GRIP..=x + GRIP, curve.rect.y_range());
    let response = ui.interact(grip, ui.scope_id().with(name), Sense::drag());
    let label = name.to_owned();
    response.widget_info(move || WidgetInfo::slider(true, frame as f64, &label));
    if response.hovered() || response.dragged() {
        ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
    }
    response
}
