//! Plots of quantities, most over time: axes that stay, and names of lines that cover nothing.

use super::widgets::heading;
use egui::{Color32, Ui};
use egui_plot::{AxisHints, GridInput, GridMark, Line, Plot, PlotPoints, PlotUi, VLine};

/// Numbers along an axis of time, and of quantities, at most.
const TIMES: f64 = 6.0;
const VALUES: f64 = 4.0;
/// Room for the numbers of quantities, points.
const VALUES_WIDTH: f32 = 34.0;
/// Distance of numbers from which they are shown, and shown in full, points.
const SPACING: std::ops::RangeInclusive<f32> = 8.0..=14.0;

/// Distance of grid lines from which they are seen, and at which they would be as dark as text.
const GRID: std::ops::RangeInclusive<f32> = 8.0..=800.0;

/// A line of a plot.
pub(super) struct Curve {
    /// What it is, beside the title; empty: it is not named there.
    pub(super) name: &'static str,
    pub(super) color: Color32,
    pub(super) width: f32,
    /// Time, s, or what else the title names, and value.
    pub(super) points: Vec<[f64; 2]>,
}

/// Shows curves below a title in which their names stand in their colours: a legend inside would
/// cover the newest values.
pub(super) fn plot(ui: &mut Ui, title: &'static str, height: f32, curves: Vec<Curve>) {
    plot_at(ui, title, height, curves, None);
}

/// The same with a line at a time, s. Returns the time that was clicked.
pub(super) fn plot_at(
    ui: &mut Ui,
    title: &'static str,
    height: f32,
    curves: Vec<Curve>,
    at: Option<(f64, Color32)>,
) -> Option<f64> {
    plot_with(ui, title, height, 0.0, curves, |plot| {
        if let Some((time, color)) = at {
            plot.vline(VLine::new("", time).color(color).width(1.5));
        }
    })
}

/// The same over any quantity, whose numbers are at least a step apart, with whatever else is drawn behind the
/// curves. Returns the place along the axis that was clicked.
pub(super) fn plot_with(
    ui: &mut Ui,
    title: &'static str,
    height: f32,
    least_step: f64,
    curves: Vec<Curve>,
    draw: impl FnOnce(&mut PlotUi<'_>),
) -> Option<f64> {
    ui.horizontal(|ui| {
        heading(ui, title);
        if curves.len() > 1 {
            for curve in curves.iter().filter(|curve| !curve.name.is_empty()) {
                ui.colored_label(curve.color, curve.name);
            }
        }
    });
    let shown = Plot::new(title)
        .height(height)
        .include_y(0.0)
        // A quantity that stays at nothing has an axis all the same.
        .include_y(1.0)
        .grid_spacing(GRID)
        // Nobody moves in a plot: a drag or a turn of the wheel is for the panel that it lies in.
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .x_grid_spacer(move |input| marks(input, TIMES, least_step))
        .y_grid_spacer(|input| marks(input, VALUES, 0.0))
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label_spacing(SPACING)
                .formatter(|mark, _| number(mark)),
        ])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .label_spacing(SPACING)
                .formatter(|mark, _| number(mark))
                .min_thickness(VALUES_WIDTH),
        ])
        .show(ui, |plot| {
            draw(plot);
            for curve in curves {
                let points: PlotPoints<'_> = curve.points.into();
                let line = Line::new(curve.name, points).color(curve.color);
                plot.line(line.width(curve.width));
            }
            // Asked inside, where pixels are turned into quantities.
            plot.pointer_coordinate()
        });
    let clicked = shown.response.clicked();
    shown.inner.filter(|_| clicked).map(|point| point.x)
}

/// Round numbers over what an axis shows: whatever that is, there are some of them.
fn marks(input: GridInput, most: f64, least_step: f64) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let Some(step) = step(high - low, most) else {
        return Vec::new();
    };
    // Generations are whole numbers: half of one is no mark.
    let step = step.max(least_step);
    // The first multiple of the step that is in sight, so that marks stay at the same numbers while
    // the axis moves.
    let first = (low / step).ceil();
    (0..=most as u32 + 1)
        // A product each, not a sum: 0.1 added ten times is not 1.
        .map(|i| step * (first + f64::from(i)))
        .take_while(|value| *value <= high)
        .map(|value| GridMark {
            value,
            step_size: step,
        })
        .collect()
}

/// The number at a mark, with as many decimals as its step has: a half is not written as nothing.
fn number(mark: GridMark) -> String {
    let mut decimals = 0;
    let mut step = mark.step_size;
    // Decades are products: 0.1 may be short by a last digit, and ten times of it short of 1.
    while step < 0.999 && decimals < 6 {
        step *= 10.0;
        decimals += 1;
    }
    // Rounding leaves a minus before nothing.
    let is_zero = mark.value.abs() < 0.5 * mark.step_size;
    let value = if is_zero { 0.0 } else { mark.value };
    format!("{value:.decimals$}")
}

/// The smallest of 1, 2 and 5 times a power of ten of which at most so many fit into a span; `None`
/// if there is no span.
fn step(span: f64, most: f64) -> Option<f64> {
    let mut decade = 1e-6;
    while decade < 1e12 {
        for times in [1.0, 2.0, 5.0] {
            // NaN and infinity fail here, and end at `None`.
            if span > 0.0 && span <= most * times * decade {
                return Some(times * decade);
            }
        }
        decade *= 10.0;
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn there_are_always_some_numbers_and_never_too_many() {
        for span in [0.01, 0.3, 7.0, 60.0, 61.0, 599.0, 3600.0, 1e6] {
            let step = step(span, TIMES).unwrap();
            let count = span / step;
            assert!((2.0..=TIMES).contains(&count), "{span}: {count}");
        }
        assert_eq!(step(0.0, TIMES), None);
        assert_eq!(step(f64::NAN, TIMES), None);
        assert_eq!(step(f64::INFINITY, TIMES), None);
    }

    #[test]
    fn numbers_have_the_decimals_of_their_step() {
        let text = |value, step_size| number(GridMark { value, step_size });
        assert_eq!(text(0.5, 0.5), "0.5");
        assert_eq!(text(-1e-17, 0.5), "0.0");
        assert_eq!(text(0.06, 0.02), "0.06");
        assert_eq!(text(120.0, 20.0), "120");
    }

    #[test]
    fn marks_lie_on_what_is_shown() {
        let input = GridInput {
            bounds: (58.3, 118.3),
            base_step_size: 1.0,
        };
        let marks = marks(input, TIMES, 0.0);
        let values: Vec<f64> = marks.iter().map(|mark| mark.value).collect();
        assert_eq!(values, [60.0, 70.0, 80.0, 90.0, 100.0, 110.0]);
    }
}
