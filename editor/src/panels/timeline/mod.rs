//! The last five minutes of the run over time: contacts and arrivals, the signals of the selected
//! junction, and a curve of the results. Dragging rewinds the shown time.
//!
//! ```text
//!            | 0:00      0:20      0:40      1:00
//!   Contacts |        o agent 3 and agent 7     |
//!   Arrivals |    o  (4)    o    o              |
//!   Mill St  | ====---====---====---====---=====|=====----
//!   [curve]  |   ___/----\__________/-----------|
//!            |                                 now   to come
//! ```
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | the panel: rows, rewinding, keys |
//! | `axis.rs` | the time axis |
//! | `dots.rs` | contacts and arrivals |
//! | `lights.rs` | signals |
//! | `curve.rs` | the curve |

mod axis;
mod curve;
mod dots;
mod lights;

use super::PanelFrame;
use super::past;
use super::widgets::empty;
use crate::live::{LivePicture, RunEvent};
use crate::model::{Action, Model};
use crate::theme::Theme;
use crate::tools::Tone;
use axis::Axis;
use dots::Dots;
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Color32, EventFilter, FontId, Id, Key, Rect, Response, RichText, Sense, Stroke, Ui, WidgetInfo,
    pos2, vec2,
};
use lights::LightRow;
use roadwright_geometry::DVec2;

/// Width of the names, points.
const NAMES: f32 = 132.0;
/// Height of the axis, points.
const AXIS: f32 = 18.0;
/// Height of a row of dots, points.
const DOTS: f32 = 20.0;
/// Height of the row of a signal, points.
const LIGHTS: f32 = 17.0;
/// Minimum height of the curve, points.
const CURVE: f32 = 42.0;
/// Margin at the right edge, points.
const RIGHT: f32 = 8.0;
/// Step of the arrow keys, s.
const STEP: f64 = 1.0;
/// Half the size of the map section shown around an event, m. The margin of jumps is added to it.
const AROUND: f64 = 15.0;
/// Time between the moment shown by a click on an arrival and the arrival itself, s. The arrival
/// cannot be shown, because the vehicle is removed when it arrives.
const BEFORE_ARRIVAL: f64 = 0.5;

/// Returns the id of the chart. While the chart has the focus, the arrow keys step through the run.
pub(crate) fn chart_id() -> Id {
    Id::unique("chart of the timeline")
}

/// Whether the chart uses a key while it has the focus.
pub(crate) fn takes(key: Key) -> bool {
    let keys = [
        Key::ArrowLeft,
        Key::ArrowRight,
        Key::Home,
        Key::End,
        Key::Escape,
    ];
    keys.contains(&key)
}

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    let live = model.live.as_deref();
    let Some(live) = live.filter(|live| live.timeline.to > 0.0) else {
        empty(ui, "Press play to see the run over time.");
        return;
    };
    header(ui, model, live, actions);
    let rows = lights::rows(model, &live.lights);
    Chart::new(ui, model, live, rows.len()).show(ui, &rows, actions);
}

/// Shows the time of the map, and the buttons for rewinding.
fn header(ui: &mut Ui, model: &Model, live: &LivePicture, actions: &mut Vec<Action>) {
    let timeline = &live.timeline;
    ui.horizontal(|ui| {
        // The same height with and without buttons, so that the chart does not move.
        ui.set_min_height(ui.spacing().interact_size.y);
        match (timeline.at, &timeline.problem) {
            (Some(at), _) => {
                let color = model.theme().tone(Tone::Accent);
                let ago = timeline.to - at;
                let text = format!("Viewing {} ({ago:.1} s ago)", past::clock(at));
                ui.colored_label(color, text);
                past::buttons(ui, actions);
            }
            (None, Some(problem)) => {
                ui.label(problem);
            }
            (None, None) => {
                ui.label(past::clock(timeline.to));
                let hint = "Drag to look back, click a dot to go there, step with the arrow keys.";
                ui.label(RichText::new(hint).weak());
            }
        }
    });
}

/// The chart in one frame.
struct Chart<'a> {
    model: &'a Model,
    live: &'a LivePicture,
    theme: Theme,
    axis: Axis,
    /// The whole chart, with names and axis.
    all: Rect,
}

impl<'a> Chart<'a> {
    /// Allocates the area of the chart, which fills the panel and is high enough for its rows.
    fn new(ui: &mut Ui, model: &'a Model, live: &'a LivePicture, lights: usize) -> Self {
        let room = ui.clip_rect().bottom() - ui.cursor().top() - 2.0;
        let needed = AXIS + 2.0 * DOTS + lights as f32 * LIGHTS + CURVE;
        let size = vec2(ui.available_width().max(NAMES + 120.0), room.max(needed));
        let (all, _) = ui.allocate_exact_size(size, Sense::hover());
        let mut plot = all;
        plot.min += vec2(NAMES, AXIS);
        plot.max.x -= RIGHT;
        Self {
            model,
            live,
            theme: model.theme(),
            axis: Axis::new(&live.timeline, plot),
            all,
        }
    }

    fn show(&self, ui: &mut Ui, rows: &[LightRow<'_>], actions: &mut Vec<Action>) {
        let plot = self.axis.plot;
        self.axis.draw(ui, self.theme, self.live.timeline.to);
        let response = self.scrub(ui, actions);
        let mut top = plot.top();
        let mut next = |height: f32| {
            let row = Rect::from_x_y_ranges(plot.x_range(), top..=top + height);
            top += height;
            row
        };
        let events = &self.live.events;
        let lists = [
            ("Contacts", "contact", Tone::Danger, &events.contacts),
            ("Arrivals", "arrival", Tone::Guide, &events.arrivals),
        ];
        for (title, thing, tone, events) in lists {
            let row = next(DOTS);
            self.name(ui, row, title);
            let dots = Dots {
                axis: &self.axis,
                row,
                thing,
                color: self.theme.tone(tone),
                events,
            };
            if let Some(event) = dots.show(ui) {
                self.go_to(event, actions);
            }
        }
        for row in rows {
            let rect = next(LIGHTS);
            self.name(ui, rect, &row.name);
            let ahead = lights::ahead(ui, self.model, self.live, row, self.axis.to);
            row.draw(ui, &self.axis, rect, self.live.timeline.to, &ahead);
        }
        let rect = Rect::from_min_max(pos2(plot.left(), top + 2.0), plot.max);
        let names = Rect::from_x_y_ranges(self.all.left()..=plot.left() - 6.0, rect.y_range());
        let shown = self.shown(&response);
        curve::ui(ui, self.model, &self.axis, [names, rect], shown, actions);
        self.axis.draw_head(ui, self.theme, shown);
    }

    /// Writes the name of a row.
    fn name(&self, ui: &Ui, row: Rect, name: &str) {
        let left = Rect::from_x_y_ranges(self.all.left()..=row.left() - 4.0, row.y_range());
        let font = FontId::proportional(12.0);
        let mut job =
            LayoutJob::simple_singleline(name.to_owned(), font, ui.visuals().text_color());
        // A long name ends in an ellipsis.
        job.wrap = TextWrapping::truncate_at_width(left.width());
        let galley = ui.painter().layout_job(job);
        let at = left.left_center() - vec2(0.0, 0.5 * galley.size().y);
        ui.painter().galley(at, galley, Color32::PLACEHOLDER);
    }

    /// Returns the time of the play head, s. During a drag, this is the time under the pointer; the
    /// map shows it as soon as it has been reconstructed.
    fn shown(&self, response: &Response) -> f64 {
        let timeline = &self.live.timeline;
        let pointer = response.interact_pointer_pos();
        let held = pointer.filter(|_| response.is_pointer_button_down_on());
        match held {
            Some(pointer) if timeline.problem.is_none() => self.time_at(pointer.x),
            _ => timeline.at.unwrap_or(timeline.to),
        }
    }

    /// Returns the moment at a horizontal position of the screen, within the period that can be rewound, s.
    fn time_at(&self, x: f32) -> f64 {
        let timeline = &self.live.timeline;
        self.axis.time(x).clamp(timeline.from, timeline.to)
    }

    /// Rewinds while the pointer is held on the chart, or by keys while the chart has the focus.
    fn scrub(&self, ui: &Ui, actions: &mut Vec<Action>) -> Response {
        let mut area = self.axis.plot;
        area.min.y -= AXIS;
        let response = ui.interact(area, chart_id(), Sense::click_and_drag());
        let timeline = &self.live.timeline;
        let time = timeline.at.unwrap_or(timeline.to);
        response.widget_info(|| WidgetInfo::slider(true, time, "Timeline of the run"));
        if response.has_focus() {
            let rim = Stroke::new(1.0, self.theme.tone(Tone::Hover));
            ui.painter()
                .rect_stroke(self.axis.plot, 3.0, rim, egui::StrokeKind::Outside);
            self.keys(ui, actions);
        }
        let is_down = response.is_pointer_button_down_on();
        let has_moved = ui
            .input(|input| input.pointer.any_pressed() || input.pointer.delta() != vec2(0.0, 0.0));
        let is_new = is_down && has_moved || response.clicked() || response.drag_stopped();
        if let Some(pointer) = response.interact_pointer_pos().filter(|_| is_new) {
            response.request_focus();
            self.look_at(self.time_at(pointer.x), actions);
        }
        response
    }

    /// Shows a past moment, or the present if the moment is at the end of the timeline.
    fn look_at(&self, time: f64, actions: &mut Vec<Action>) {
        let timeline = &self.live.timeline;
        if timeline.problem.is_some() {
            return;
        }
        let time = time.max(timeline.from);
        if time < timeline.to {
            actions.push(Action::LookBack(time));
        } else if timeline.at.is_some() {
            actions.push(Action::BackToPresent);
        }
    }

    fn keys(&self, ui: &Ui, actions: &mut Vec<Action>) {
        let filter = EventFilter {
            horizontal_arrows: true,
            escape: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(chart_id(), filter));
        let timeline = &self.live.timeline;
        let dt = self.model.document.scenario().settings().dt.get();
        let at = timeline.at.unwrap_or(timeline.to);
        let (steps, is_fine, pressed) = ui.input(|input| {
            let presses = |key| input.num_presses(key) as f64;
            let pressed = [Key::Home, Key::End, Key::Escape].map(|key| input.key_pressed(key));
            let steps = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
            (steps, input.modifiers.shift, pressed)
        });
        let [home, end, escape] = pressed;
        if steps != 0.0 {
            let step = if is_fine { dt } else { STEP };
            self.look_at(at + steps * step, actions);
        }
        if home {
            self.look_at(timeline.from, actions);
        }
        if end || escape {
            self.look_at(timeline.to, actions);
        }
        if escape {
            ui.memory_mut(|memory| memory.surrender_focus(chart_id()));
        }
    }

    /// Shows the moment and the place of an event.
    fn go_to(&self, event: &RunEvent, actions: &mut Vec<Action>) {
        let before = match event.with {
            Some(_) => 0.0,
            None => BEFORE_ARRIVAL,
        };
        self.look_at(event.time - before, actions);
        if let Some(place) = event.place {
            let around = DVec2::splat(AROUND);
            actions.push(Action::Jump(place - around, place + around));
        }
    }
}
