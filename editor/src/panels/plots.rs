//! Plots of quantities, mostly over time. The axes do not jump while data arrives, and curve labels never
//! cover the curves.

use super::widgets::heading;
use egui::{Color32, Ui};
use egui_plot::{AxisHints, GridInput, GridMark, Line, Plot, PlotPoints, PlotUi, VLine};

/// Maximum number of labels on a time axis.
const TIMES: f64 = 6.0;
/// Maximum number of labels on a value axis.
const VALUES: f64 = 4.0;
/// Width of the labels of quantities, points.
const VALUES_WIDTH: f32 = 34.0;
/// Distances between labels, points. At the first distance, labels start to appear. At the second,
/// they are fully visible.
const SPACING: std::ops::RangeInclusive<f32> = 8.0..=14.0;

/// Distances between grid lines, points. At the first distance, the lines start to appear. At the
/// second, they would be as dark as text.
const GRID: std::ops::RangeInclusive<f32> = 8.0..=800.0;

/// A curve of a plot.
pub(super) struct Curve {
    /// Name shown beside the title; empty for none.
    pub(super) name: &'static str,
    pub(super) color: Color32,
    pub(super) width: f32,
    /// Points of the curve. The first number is a time (s) or another quantity named in the title.
    /// The second is the value.
    pub(super) points: Vec<[f64; 2]>,
}

/// Shows curves below a title. The title contains their names in their colours, because a legend inside the
/// plot would cover the newest values.
pub(super) fn plot(ui: &mut Ui, title: &'static str, height: f32, curves: Vec<Curve>) {
    plot_at(ui, title, height, curves, None);
}

/// Shows a plot with a vertical line at a time, s. Returns the clicked time.
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

/// Shows a plot over any quantity, with labels at least `least_step` apart and other shapes behind the
/// curves. Returns the clicked position on the axis.
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
        // The axis includes 1, so that a quantity that is always zero also gets an axis.
        .include_y(1.0)
        .grid_spacing(GRID)
        // Plots do not scroll or zoom, so that drags and the wheel act on the surrounding panel.
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
            // Read inside, where pixels are converted to quantities.
            plot.pointer_coordinate()
        });
    let clicked = shown.response.clicked();
    shown.inner.filter(|_| clicked).map(|point| point.x)
}

/// Returns round numbers within the range of an axis, in steps of at least `least_step`.
fn marks(input: GridInput, most: f64, least_step: f64) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let Some(step) = step(high - low, most) else {
        return Vec::new();
    };
    // Generations are integers, so labels must not be fractions.
    let step = step.max(least_step);
    // Starts at the first visible multiple of the step, so that labels keep their values while the
    // axis moves.
    let first = (low / step).ceil();
    (0..=most as u32 + 1)
        // Multiplied instead of added up, because ten times 0.1 added up is not 1.
        .map(|i| step * (first + f64::from(i)))
        .take_while(|value| *value <= high)
        .map(|value| GridMark {
            value,
            step_size: step,
        })
        .collect()
}

/// Returns the label of a mark, with as many decimals as its step needs.
fn number(mark: GridMark) -> String {
    let mut decimals = 0;
    let mut step = mark.step_size;
    // Powers of ten are computed by multiplication. 0.1 may be off in its last digit, so that ten times 0.1
    // is less than 1.
    while step < 0.999 && decimals < 6 {
        step *= 10.0;
        decimals += 1;
    }
    // Rounding may leave a minus sign before zero.
    let is_zero = mark.value.abs() < 0.5 * mark.step_size;
    let value = if is_zero { 0.0 } else { mark.value };
    format!("{value:.decimals$}")
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that divides a span into at most `most` parts;
/// `None` if the span is zero.
fn step(span: f64, most: f64) -> Option<f64> {
    let mut decade = 1e-6;
    while decade < 1e12 {
        for times in [1.0, 2.0, 5.0] {
            // NaN and infinity fail this test and lead to `None`.
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
