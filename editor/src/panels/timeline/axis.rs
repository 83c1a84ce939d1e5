//! The time axis of the timeline.

use crate::live::Timeline;
use crate::theme::{GridLine, Theme};
use crate::tools::Tone;
use egui::{Align2, Color32, FontId, Rect, Stroke, Ui, pos2, vec2};

/// Periods that the axis can show, s. The shortest one that contains the whole run is used.
const SPANS: [f64; 3] = [60.0, 120.0, 300.0];
/// Length of the future on the axis, as a share of the past.
const AHEAD: f64 = 0.1;
/// Minimum distance between labels, points.
const LABELS: f32 = 62.0;
/// Possible distances between labels, s.
const STEPS: [f64; 6] = [5.0, 10.0, 20.0, 30.0, 60.0, 120.0];

/// Times and their horizontal positions.
pub(super) struct Axis {
    /// The area below the labels and beside the names.
    pub(super) plot: Rect,
    /// Time at the left edge, s.
    pub(super) from: f64,
    /// Time at the right edge, s.
    pub(super) to: f64,
}

impl Axis {
    /// Creates the axis of a run. A short run fills it from the left. In a longer run, the present
    /// keeps its position and the past moves to the left.
    pub(super) fn new(timeline: &Timeline, plot: Rect) -> Self {
        let past = timeline.to - timeline.from;
        let span = SPANS.into_iter().find(|span| past <= *span);
        let longest = SPANS[SPANS.len() - 1];
        let (from, span) = match span {
            Some(span) => (timeline.from, span),
            None => (timeline.to - longest, longest),
        };
        Self {
            plot,
            from,
            to: from + span * (1.0 + AHEAD),
        }
    }

    /// Returns the time per point of the axis, s.
    pub(super) fn seconds_a_point(&self) -> f64 {
        (self.to - self.from) / f64::from(self.plot.width().max(1.0))
    }

    /// Returns the horizontal position of a time in seconds.
    pub(super) fn x(&self, time: f64) -> f32 {
        let share = (time - self.from) / (self.to - self.from);
        self.plot.left() + self.plot.width() * share as f32
    }

    /// Returns the time at a horizontal position, s.
    pub(super) fn time(&self, x: f32) -> f64 {
        self.from + f64::from(x - self.plot.left()) * self.seconds_a_point()
    }

    /// Draws the area, its labels, and the part of the axis after the present.
    pub(super) fn draw(&self, ui: &Ui, theme: Theme, now: f64) {
        let plot = self.plot;
        let well = ui.visuals().widgets.inactive.bg_fill;
        ui.painter()
            .rect_filled(plot, 3.0, well.gamma_multiply(0.3));
        let past = Rect::from_min_max(plot.min, pos2(self.x(now).min(plot.right()), plot.bottom()));
        ui.painter()
            .rect_filled(past, 3.0, well.gamma_multiply(0.5));
        let least = f64::from(LABELS) * self.seconds_a_point();
        let step = STEPS.into_iter().find(|step| *step >= least);
        let step = step.unwrap_or(300.0);
        let count = ((self.to - self.from) / step).ceil() as usize + 1;
        let first = (self.from / step).ceil() * step;
        for i in 0..count {
            let time = first + step * i as f64;
            let x = self.x(time);
            // A label at the edge would be cut off.
            if x > plot.right() - 12.0 {
                break;
            }
            let line = Stroke::new(1.0, theme.grid(GridLine::Tenth));
            ui.painter().vline(x, plot.y_range(), line);
            let (at, font) = (pos2(x, plot.top() - 3.0), FontId::proportional(11.0));
            let text = minutes(time);
            ui.painter()
                .text(at, Align2::CENTER_BOTTOM, text, font, theme.quiet());
        }
    }

    /// Draws the play head at a time in seconds, with its label.
    pub(super) fn draw_head(&self, ui: &Ui, theme: Theme, time: f64) {
        let x = self.x(time).clamp(self.plot.left(), self.plot.right());
        let accent = theme.tone(Tone::Accent);
        ui.painter()
            .vline(x, self.plot.y_range(), Stroke::new(2.0, accent));
        let font = FontId::proportional(11.0);
        let text = super::past::clock(time);
        let galley = ui
            .painter()
            .layout_no_wrap(text, font, Color32::PLACEHOLDER);
        let size = galley.size() + vec2(10.0, 2.0);
        let mut plate = Rect::from_center_size(pos2(x, self.plot.top() - 0.5 * size.y - 1.0), size);
        // Near an edge, the plate is shifted so that it stays inside the plot.
        let over = (plate.right() - self.plot.right()).max(0.0);
        let under = (self.plot.left() - plate.left()).max(0.0);
        plate = plate.translate(vec2(under - over, 0.0));
        ui.painter().rect_filled(plate, 4.0, accent);
        ui.painter()
            .galley(plate.min + vec2(5.0, 1.0), galley, theme.handle());
    }
}

/// Formats a time as minutes and seconds.
fn minutes(time: f64) -> String {
    let seconds = time.round() as i64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(from: f64, to: f64) -> Axis {
        let timeline = Timeline {
            from,
            to,
            ..Timeline::default()
        };
        let plot = Rect::from_min_size(pos2(100.0, 20.0), vec2(660.0, 100.0));
        Axis::new(&timeline, plot)
    }

    #[test]
    fn the_axis_contains_the_run_and_what_comes_next() {
        for (from, to) in [
            (0.0, 0.01),
            (0.0, 60.0),
            (0.0, 61.0),
            (0.0, 299.0),
            (98.0, 400.0),
        ] {
            let axis = axis(from, to);
            assert!(axis.from <= from.max(to - 300.0), "{from} {to}");
            assert!(axis.to >= to + 0.05 * (to - from), "{from} {to}");
            assert!(axis.to - axis.from <= 330.0 + 1e-9);
            for time in [from.max(axis.from), to] {
                assert!((axis.time(axis.x(time)) - time).abs() < 0.01);
            }
        }
    }

    #[test]
    fn the_present_keeps_its_place_in_a_long_run() {
        let (a, b) = (axis(100.0, 400.5), axis(102.0, 403.5));
        assert!((a.x(400.5) - b.x(403.5)).abs() < 0.01);
        assert_eq!(minutes(605.0), "10:05");
    }
}
