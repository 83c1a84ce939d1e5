//! A time-distance diagram with signals at their positions and, between their greens, the bands of both
//! directions.
//!
//! ```text
//!   node 11, 400 m | ===-----===/==-----===        = green   - red
//!   node 8, 220 m  | --===-----/===-----===        above the line of a signal: forward; below: backward
//!   node 5, 0 m    | ===-----=/==-----===---
//!                  0      20      40      60 s
//! ```

use super::offsets_edit;
use crate::model::{Action, Model};
use crate::theme::{self, GridLine, Theme};
use crate::tools::Tone;
use egui::{
    Align2, Color32, CursorIcon, FontId, Painter, Pos2, Rect, Sense, Shape, Stroke, Ui, WidgetInfo,
    pos2, vec2,
};
use roadwright_scenario::NodeId;
use roadwright_scenario::green_wave::{Along, Corridor, WaveSignal};
use roadwright_scenario::junction::Light;

/// Step to which dragging rounds offsets, s.
const STEP: f64 = 1.0;
/// Margin for the names, in points.
const NAMES: f32 = 150.0;
/// Margin above the first and below the last signal, in points.
const MARGIN: f32 = 12.0;
/// Margin for the axis, in points.
const AXIS: f32 = 18.0;
/// Margin at the right edge, in points.
const RIGHT: f32 = 8.0;
/// Half the thickness of a green bar, in points.
const GREEN: f32 = 6.0;
/// Half the thickness of a red bar, in points.
const RED: f32 = 1.5;
/// Half the size of a signal's drag area, in points.
const GRIP: f32 = 9.0;
/// Preferred distance between two signals, points.
const GAP: f32 = 22.0;
/// Minimum and maximum height of the area with all signals, points.
const HEIGHT: [f32; 2] = [120.0, 1_500.0];
/// Minimum number of cycles shown.
const CYCLES: f64 = 2.0;

/// A drag in progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gesture {
    node: NodeId,
    /// Position of the pointer at the start of the drag, points.
    from: f32,
    /// Offset at the start of the drag, s.
    before: f64,
    /// The current offset, s.
    offset: f64,
}

impl Gesture {
    /// Returns the corridor with the dragged offset applied.
    pub(super) fn put(&self, corridor: &Corridor) -> Corridor {
        let mut shown = corridor.clone();
        let own = shown
            .signals
            .iter_mut()
            .find(|signal| signal.node == self.node);
        if let Some(signal) = own {
            signal.offset = self.offset;
        }
        shown
    }
}

/// Returns the colour of the band of a direction.
pub(super) fn color(theme: Theme, along: Along) -> Color32 {
    theme.tone(match along {
        Along::Forward => Tone::Accent,
        Along::Backward => Tone::Warning,
    })
}

/// Draws an arrow that points in a direction of travel; forward is up.
pub(super) fn arrow(painter: &Painter, at: Pos2, along: Along, color: Color32) {
    let up = match along {
        Along::Forward => -1.0,
        Along::Backward => 1.0,
    };
    let corners = [(-4.5, -3.5 * up), (4.5, -3.5 * up), (0.0, 4.5 * up)];
    let corners = corners.map(|(x, y)| at + vec2(x, y)).to_vec();
    painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
}

/// The diagram of a corridor at a design speed.
pub(super) struct Chart<'a> {
    pub(super) model: &'a Model,
    pub(super) corridor: &'a Corridor,
    /// The design speed, m/s.
    pub(super) speed: f64,
}

impl Chart<'_> {
    pub(super) fn ui(&self, ui: &mut Ui, gesture: &mut Option<Gesture>, actions: &mut Vec<Action>) {
        let room = ui.clip_rect().bottom() - ui.cursor().top();
        let size = vec2(ui.available_width(), self.height(room));
        let (all, _) = ui.allocate_exact_size(size, Sense::hover());
        let mut plot = all;
        plot.min.x += NAMES;
        plot.max.x -= RIGHT;
        plot.max.y -= AXIS;
        let theme = self.model.theme();
        let well = ui.visuals().widgets.inactive.bg_fill.gamma_multiply(0.5);
        ui.painter().rect_filled(plot, 3.0, well);
        self.axis(ui, plot, theme);
        // Signals are drawn over the bands, so that a band that touches a red remains visible.
        for along in [Along::Backward, Along::Forward] {
            self.band(ui, plot, along, color(theme, along));
        }
        for signal in &self.corridor.signals {
            self.signal(ui, plot, signal, gesture, actions);
        }
        self.now(ui, plot, theme);
    }

    /// Returns the height of the diagram, large enough to tell neighbouring signals apart.
    fn height(&self, available: f32) -> f32 {
        let places = self.corridor.signals.windows(2);
        let gaps = places
            .map(|pair| pair[1].at - pair[0].at)
            .filter(|gap| *gap > 0.0);
        let share = gaps.fold(1.0, |least: f64, gap| {
            least.min(gap / self.corridor.length())
        });
        let wanted = GAP / share as f32 + 2.0 * MARGIN + AXIS;
        let [least, most] = HEIGHT;
        wanted.max(available - 4.0).clamp(least, most.max(least))
    }

    /// Returns the duration of the time axis, s. It is a whole number of cycles, and long enough
    /// for a band to run from end to end.
    fn span(&self) -> f64 {
        let travel = self.corridor.length() / self.speed;
        let cycle = self.corridor.cycle;
        cycle * (1.0 + travel / cycle).ceil().max(CYCLES)
    }

    fn x(&self, plot: Rect, time: f64) -> f32 {
        plot.left() + plot.width() * (time / self.span()) as f32
    }

    fn y(&self, plot: Rect, at: f64) -> f32 {
        let share = (at / self.corridor.length().max(1e-9)) as f32;
        let inner = plot.shrink2(vec2(0.0, MARGIN));
        inner.bottom() - inner.height() * share
    }

    /// Returns the start times of a periodic event on the time axis. They include events before the
    /// axis whose bands extend into it.
    fn starts(&self, first: f64) -> impl Iterator<Item = f64> + use<> {
        let cycle = self.corridor.cycle;
        let before = (self.corridor.length() / self.speed / cycle).ceil() + 1.0;
        let count = (self.span() / cycle + before).ceil() as usize + 1;
        let first = first.rem_euclid(cycle) - before * cycle;
        (0..count).map(move |i| first + cycle * i as f64)
    }

    /// Draws the time axis below the signals.
    fn axis(&self, ui: &Ui, plot: Rect, theme: Theme) {
        let span = self.span();
        let steps = [5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
        let most = f64::from(plot.width() / 50.0).max(2.0);
        let step = steps.into_iter().find(|step| span / step <= most);
        let step = step.unwrap_or(500.0);
        for i in 0..=(span / step).floor() as usize {
            let time = step * i as f64;
            let x = self.x(plot, time);
            let line = Stroke::new(1.0, theme.grid(GridLine::Tenth));
            ui.painter().vline(x, plot.y_range(), line);
            let unit = if i == 0 { " s" } else { "" };
            let (at, font) = (pos2(x, plot.bottom() + 4.0), FontId::proportional(11.0));
            let text = format!("{time:.0}{unit}");
            ui.painter()
                .text(at, Align2::CENTER_TOP, text, font, theme.quiet());
        }
    }

    /// Draws the band of a direction, once per cycle.
    fn band(&self, ui: &Ui, plot: Rect, along: Along, color: Color32) {
        let Some(band) = self.corridor.band(along, self.speed) else {
            return;
        };
        let painter = ui.painter().with_clip_rect(plot);
        let travel = self.corridor.length() / self.speed;
        let (from, to) = match along {
            Along::Forward => (0.0, self.corridor.length()),
            Along::Backward => (self.corridor.length(), 0.0),
        };
        let [from, to] = [from, to].map(|at| self.y(plot, at));
        for start in self.starts(band.start) {
            let end = start + band.width;
            let corner = |time, y| pos2(self.x(plot, time), y);
            let edges = [
                [corner(start, from), corner(start + travel, to)],
                [corner(end, from), corner(end + travel, to)],
            ];
            let [[a, b], [d, c]] = edges;
            let fill = color.gamma_multiply(0.22);
            painter.add(Shape::convex_polygon(vec![a, b, c, d], fill, Stroke::NONE));
            for edge in edges {
                painter.line_segment(edge, Stroke::new(1.5, color));
            }
            let middle = pos2(0.25 * (a.x + b.x + c.x + d.x), 0.5 * (from + to));
            arrow(&painter, middle, along, color);
        }
    }

    /// Draws a signal: its name, its greens in both directions on top of its red, and its drag area.
    fn signal(
        &self,
        ui: &Ui,
        plot: Rect,
        signal: &WaveSignal,
        gesture: &mut Option<Gesture>,
        actions: &mut Vec<Action>,
    ) {
        let y = self.y(plot, signal.at);
        let name = format!(
            "{}, {:.0} m, {:.1} s",
            signal.node, signal.at, signal.offset
        );
        let label = format!("Offset of {}", signal.node);
        let grip = Rect::from_x_y_ranges(plot.x_range(), y - GRIP..=y + GRIP);
        let response = ui.interact(
            grip,
            ui.scope_id().with(("offset", signal.node)),
            Sense::drag(),
        );
        let (told, offset) = (label.clone(), signal.offset);
        response.widget_info(move || WidgetInfo::slider(true, offset, &told));
        let is_hot = response.hovered() || response.dragged();
        if is_hot {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        let painter = ui.painter().with_clip_rect(plot);
        let red = Rect::from_x_y_ranges(plot.x_range(), y - RED..=y + RED);
        painter.rect_filled(red, 0.0, theme::light(Light::Red));
        for along in [Along::Forward, Along::Backward] {
            let side = match along {
                Along::Forward => y - GREEN..=y,
                Along::Backward => y..=y + GREEN,
            };
            for green in signal.green(along) {
                for start in self.starts(signal.offset + green.start) {
                    let x = self.x(plot, start)..=self.x(plot, start + green.length);
                    let bar = Rect::from_x_y_ranges(x, side.clone()).intersect(plot);
                    if bar.is_positive() {
                        painter.rect_filled(bar, 0.0, theme::light(Light::Green));
                    }
                }
            }
        }
        if is_hot {
            let rim = Stroke::new(1.5, self.model.theme().tone(Tone::Accent));
            painter.rect_stroke(grip.shrink(1.0), 2.0, rim, egui::StrokeKind::Inside);
        }
        let (at, font) = (pos2(plot.left() - 6.0, y), FontId::proportional(12.0));
        let ink = ui.visuals().text_color();
        ui.painter().text(at, Align2::RIGHT_CENTER, name, font, ink);
        self.drag(plot, signal, &response, label, gesture, actions);
    }

    fn drag(
        &self,
        plot: Rect,
        signal: &WaveSignal,
        response: &egui::Response,
        label: String,
        gesture: &mut Option<Gesture>,
        actions: &mut Vec<Action>,
    ) {
        let pointer = response.interact_pointer_pos();
        if response.drag_started()
            && let Some(from) = response
                .ctx
                .input(|input| input.pointer.press_origin())
                .or(pointer)
        {
            *gesture = Some(Gesture {
                node: signal.node,
                from: from.x,
                before: signal.offset,
                offset: signal.offset,
            });
        }
        let own = gesture
            .as_mut()
            .filter(|gesture| gesture.node == signal.node);
        let Some(own) = own else { return };
        if let Some(pointer) = pointer.filter(|_| response.dragged()) {
            let by = f64::from(pointer.x - own.from) * self.span() / f64::from(plot.width());
            let offset = ((own.before + by) / STEP).round() * STEP;
            let offset = offset.rem_euclid(self.corridor.cycle);
            // Each state is an edit, and each edit restarts the signals of a run. Therefore, only differences
            // are sent, and nothing is sent before the pointer has moved by half a step.
            let has_moved = own.offset != own.before || by.abs() >= 0.5 * STEP;
            if has_moved && offset != own.offset {
                own.offset = offset;
                let edit = offsets_edit(self.model, [(signal.junction, offset)]);
                actions.push(Action::Preview(label.clone(), edit));
            }
        }
        if response.drag_stopped() {
            *gesture = None;
            actions.push(Action::Commit(Some(label)));
        }
    }

    /// Draws the current time of the running simulation.
    fn now(&self, ui: &Ui, plot: Rect, theme: Theme) {
        let live = self
            .model
            .live
            .as_deref()
            .filter(|live| live.snapshot.step > 0);
        let Some(live) = live else { return };
        let x = self.x(plot, live.snapshot.time.rem_euclid(self.span()));
        let accent = theme.tone(Tone::Accent);
        ui.painter()
            .vline(x, plot.y_range(), Stroke::new(2.0, accent));
    }
}
