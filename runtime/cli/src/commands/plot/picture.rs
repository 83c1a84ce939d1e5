//! Drawing of a figure as a picture.

use super::{Figure, Line};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use roadwright_vehicle::proving::{Look, Mark, MarkAxis};
use std::ops::Range;

/// The part of a picture that contains the lines.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Size of pictures without the legend below, pixels.
const SIZE: (u32, u32) = (900, 560);
/// Height of a row of the legend, pixels.
const ROW: u32 = 22;
/// Distance of a legend column from the edge, pixels.
const LEGEND_MARGIN: i32 = 70;
/// Distance of the text from the start of its legend column, pixels.
const SAMPLE: i32 = 34;
/// Line colours of Okabe and Ito, except yellow. Colour-blind people can tell them apart.
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(120, 80, 40),
    RGBColor(110, 110, 110),
];
/// Colours of dashed lines across the picture.
const MARK_COLORS: [RGBColor; 4] = [
    RGBColor(160, 20, 60),
    RGBColor(20, 100, 40),
    RGBColor(90, 50, 150),
    RGBColor(120, 80, 40),
];
/// Colour of curves that are computed from formulas. They are dashed, because they overlap the measured
/// lines.
const CLOSED: RGBColor = RGBColor(20, 20, 20);
/// Maximum distance between a mark and the lines, as a multiple of the span of the lines. Marks farther away
/// appear only in the legend. Including them in the picture would flatten the lines.
const FAR: f64 = 1.5;
/// Maximum number of error bars of a line. More could not be told apart.
const BARS: usize = 30;

/// Legend entry of lines or a mark.
struct LegendEntry<'a> {
    label: String,
    look: Look,
    color: RGBColor,
    /// The mark, if the entry belongs to a mark within the picture.
    mark: Option<&'a Mark>,
}

impl Figure {
    pub(super) fn draw(&self, text: &mut String) -> anyhow::Result<()> {
        let (x, y) = self.ranges();
        let entries = self.entries(&x, &y);
        let columns = columns(&entries);
        let rows = entries.len().div_ceil(columns) as u32;
        let size = (SIZE.0, SIZE.1 + ROW * rows + ROW / 2);
        let root = SVGBackend::with_string(text, size).into_drawing_area();
        root.fill(&WHITE)?;
        let (picture, legend) = root.split_vertically(SIZE.1);
        // Long titles have smaller letters, so that they fit the width.
        let letters = (1800 / self.title.chars().count().max(1)).clamp(12, 22);
        let mut chart = ChartBuilder::on(&picture)
            .caption(&self.title, ("sans-serif", letters as u32))
            .margin(14)
            .margin_right(34)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .axis_desc_style(("sans-serif", 17))
            .label_style(("sans-serif", 16))
            .light_line_style(WHITE)
            .x_label_formatter(&|value| tick(*value, &x))
            .y_label_formatter(&|value| tick(*value, &y))
            .draw()?;
        for number in 0..self.lines.len() {
            self.draw_line(&mut chart, number, &entries)?;
        }
        // Marks are drawn above the lines, which often end at their limits.
        for entry in &entries {
            draw_mark(&mut chart, entry, &x, &y)?;
        }
        draw_legend(&legend, &entries, columns)?;
        root.present()?;
        Ok(())
    }

    fn draw_line(
        &self,
        chart: &mut Chart<'_, '_>,
        number: usize,
        entries: &[LegendEntry<'_>],
    ) -> anyhow::Result<()> {
        let line = &self.lines[number];
        // Drawn twice, as a line and as bars, with an iterator for each.
        let points = || line.points.iter().filter(|point| point.is_finite());
        let polyline: Vec<_> = points().map(|point| (point.x, point.mean)).collect();
        let color = color_of(entries, &line.label);
        match line.look {
            Look::Line => chart.draw_series(LineSeries::new(
                polyline,
                color.stroke_width(self.width(number)),
            ))?,
            Look::Thin => {
                let style = color.mix(0.5).stroke_width(1);
                chart.draw_series(LineSeries::new(polyline, style))?
            }
            Look::Dashed => {
                let style = color.stroke_width(1);
                chart.draw_series(DashedLineSeries::new(polyline, 6, 6, style))?
            }
            Look::Dots => {
                let dot = |place| Circle::new(place, 4, color.filled());
                chart.draw_series(polyline.into_iter().map(dot))?
            }
        };
        // The step is at least 1, even for a line without points.
        let every = line.points.len().div_ceil(BARS).max(1);
        let bars = points()
            .step_by(every)
            .filter(|point| point.standard_error.is_some());
        chart.draw_series(bars.map(|point| {
            let (low, high) = point.bar();
            ErrorBar::new_vertical(point.x, low, point.mean, high, color.filled(), 6)
        }))?;
        Ok(())
    }

    /// Returns the width of a line, pixels. A line is wider than those drawn over it, so that it
    /// remains visible where they coincide. If there are too many lines, all have the same width.
    fn width(&self, number: usize) -> u32 {
        let is_plain = |line: &&Line| line.look == Look::Line && !line.has_errors();
        if self.lines.iter().filter(is_plain).count() > 3 {
            return 3;
        }
        let ends = |line: &Line| Some((line.points.first()?.x, line.points.last()?.x));
        let Some((first, last)) = ends(&self.lines[number]) else {
            return 3;
        };
        let later = self.lines[number + 1..].iter().filter(is_plain);
        let over = later
            .filter_map(ends)
            .filter(|(a, b)| *a < last && first < *b);
        3 + 2 * over.count() as u32
    }

    /// Returns the legend entries. The lines come first, in order and with each label once, followed by the
    /// marks.
    fn entries(&self, x: &Range<f64>, y: &Range<f64>) -> Vec<LegendEntry<'_>> {
        let mut entries: Vec<LegendEntry<'_>> = Vec::new();
        for line in &self.lines {
            if entries.iter().all(|entry| entry.label != line.label) {
                entries.push(LegendEntry {
                    label: line.label.clone(),
                    look: line.look,
                    color: match line.look {
                        Look::Dashed => CLOSED,
                        _ => COLORS[entries.len() % COLORS.len()],
                    },
                    mark: None,
                });
            }
        }
        let mut labels: Vec<&str> = Vec::new();
        for mark in &self.marks {
            if !labels.contains(&mark.label.as_str()) {
                labels.push(&mark.label);
            }
            let range = match mark.axis {
                MarkAxis::X => x,
                MarkAxis::Y => y,
            };
            let (label, at) = (&mark.label, mark.at);
            let is_seen = range.contains(&at);
            let outside = if is_seen { "" } else { ", outside the plot" };
            // If two marks have the same label, such as the two edges of a range, each is listed with its
            // value.
            entries.push(LegendEntry {
                label: format!("{label}: {}{outside}", rounded(at)),
                look: Look::Dashed,
                color: MARK_COLORS[(labels.len() - 1) % MARK_COLORS.len()],
                mark: is_seen.then_some(mark),
            });
        }
        entries
    }

    /// Returns the ranges of the axes, which include all points with their bars, nearby marks, and a margin.
    fn ranges(&self) -> (Range<f64>, Range<f64>) {
        let points = || {
            let all = self.lines.iter().flat_map(|line| &line.points);
            all.filter(|point| point.is_finite())
        };
        let x = span(points().flat_map(|point| [point.x, point.x]));
        let y = span(points().flat_map(|point| [point.bar().0, point.bar().1]));
        let [x, y] = [(x, MarkAxis::X), (y, MarkAxis::Y)].map(|(range, axis)| {
            let marks = self.marks.iter().filter(|mark| mark.axis == axis);
            with_marks(range, marks.map(|mark| mark.at))
        });
        // The margin is a twentieth, so that the outermost bars do not end at the frame.
        let room = 0.05 * (y.end - y.start);
        (x, y.start - room..y.end + room)
    }
}

/// Draws a mark across the picture with the given ranges.
fn draw_mark(
    chart: &mut Chart<'_, '_>,
    entry: &LegendEntry<'_>,
    x: &Range<f64>,
    y: &Range<f64>,
) -> anyhow::Result<()> {
    let Some(mark) = entry.mark else {
        return Ok(());
    };
    let ends = match mark.axis {
        MarkAxis::X => [(mark.at, y.start), (mark.at, y.end)],
        MarkAxis::Y => [(x.start, mark.at), (x.end, mark.at)],
    };
    let style = entry.color.stroke_width(2);
    chart.draw_series(DashedLineSeries::new(ends, 12, 7, style))?;
    Ok(())
}

/// Extends a range to include marks that lie outside it by at most [`FAR`] times its width.
fn with_marks(range: Range<f64>, marks: impl Iterator<Item = f64>) -> Range<f64> {
    let width = range.end - range.start;
    let near = range.start - FAR * width..range.end + FAR * width;
    marks.filter(|at| near.contains(at)).fold(range, |all, at| {
        // Moved away from the frame, where the mark would be invisible.
        let (low, high) = (at - 0.02 * width, at + 0.02 * width);
        all.start.min(low)..all.end.max(high)
    })
}

/// Returns the legend colour of the lines with a label.
fn color_of(entries: &[LegendEntry<'_>], label: &str) -> RGBColor {
    let mut named = entries.iter();
    let entry = named.find(|entry| entry.label == label);
    entry.map_or(COLORS[0], |entry| entry.color)
}

/// Returns the number of legend columns, which depends on the longest label.
fn columns(entries: &[LegendEntry<'_>]) -> usize {
    let lengths = entries.iter().map(|entry| entry.label.chars().count());
    match lengths.max().unwrap_or(0) {
        0..=28 => 3,
        29..=46 => 2,
        _ => 1,
    }
}

/// Draws labels in columns, each beside a sample of its line.
fn draw_legend(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    entries: &[LegendEntry<'_>],
    columns: usize,
) -> anyhow::Result<()> {
    let width = (SIZE.0 as i32 - LEGEND_MARGIN) / columns as i32;
    for (number, entry) in entries.iter().enumerate() {
        let left = LEGEND_MARGIN + (number % columns) as i32 * width;
        let middle = (number / columns) as i32 * ROW as i32 + ROW as i32 / 2;
        let style = entry.color.stroke_width(2);
        let piece = |from: i32, to: i32| {
            PathElement::new([(left + from, middle), (left + to, middle)], style)
        };
        match (entry.look, entry.mark.is_some()) {
            (Look::Dots, _) => {
                area.draw(&Circle::new((left + 13, middle), 4, entry.color.filled()))?
            }
            (Look::Dashed, true) => {
                area.draw(&piece(0, 11))?;
                area.draw(&piece(17, 28))?;
            }
            (Look::Dashed, false) => {
                for from in [0, 9, 18] {
                    area.draw(&piece(from, from + 5))?;
                }
            }
            (Look::Line | Look::Thin, _) => area.draw(&piece(0, 27))?,
        }
        let place = (left + SAMPLE, middle - 7);
        area.draw(&Text::new(entry.label.as_str(), place, ("sans-serif", 17)))?;
    }
    Ok(())
}

/// Returns the label of a tick on an axis with the given range.
fn tick(value: f64, range: &Range<f64>) -> String {
    let width = range.end - range.start;
    let size = value.abs().max(width);
    let is_zero = value.abs() < 1e-9 * width;
    if is_zero {
        return "0".to_owned();
    }
    if !(0.01..1e6).contains(&size) {
        return format!("{value:.1e}");
    }
    // Ticks are about a tenth of the range apart, so this number of decimals distinguishes them.
    let mut digits = 0;
    let mut unit = width;
    while unit < 10.0 && digits < 6 {
        unit *= 10.0;
        digits += 1;
    }
    format!("{value:.digits$}")
}

/// Formats a number with about four significant figures.
fn rounded(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size == 0.0 => "0".to_owned(),
        _ if !(1e-3..1e5).contains(&size) => format!("{value:.2e}"),
        _ if size < 1.0 => format!("{value:.4}"),
        _ if size < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// Returns the range from the smallest to the largest value. It is never empty.
fn span(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    match high - low {
        width if width > 0.0 && width.is_finite() => low..high,
        // A single value, or a span too wide for a number, gets a fixed width, because an axis needs one.
        _ if low.is_finite() => low - 0.5..low + 0.5,
        _ => 0.0..1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::figure;
    use super::*;

    #[test]
    fn marks_that_are_near_are_seen_and_others_only_named() {
        let mut figure = figure(&[(0.0, 1.0, 0.0), (10.0, 2.0, 0.0)]);
        let mark = |axis, at, label: &str| Mark {
            label: label.into(),
            axis,
            at,
        };
        figure.marks = vec![
            mark(MarkAxis::Y, 2.5, "near"),
            mark(MarkAxis::Y, 1e6, "far"),
            mark(MarkAxis::X, 12.0, "end"),
            mark(MarkAxis::X, -22.0, "end"),
        ];
        let (x, y) = figure.ranges();
        assert!(
            y.end > 2.5 && y.end < 3.0 && x.end > 12.0 && x.start == 0.0,
            "{x:?} {y:?}"
        );
        let entries = figure.entries(&x, &y);
        let labels: Vec<_> = entries.iter().map(|entry| entry.label.as_str()).collect();
        let expected = [
            "a, b",
            "near: 2.50",
            "far: 1.00e6, outside the plot",
            "end: 12.00",
            "end: -22.00, outside the plot",
        ];
        assert_eq!(labels, expected);
        assert!(entries[3].color == entries[4].color && entries[1].color != entries[3].color);
        assert!(figure.svg().unwrap().contains("outside the plot"));
    }

    #[test]
    fn ticks_tell_themselves_from_each_other_and_zero_has_no_sign() {
        let cases = [
            (-1e-17, 0.0..25.0, "0"),
            (15.0, 0.0..25.0, "15"),
            (0.5, -1.0..1.0, "0.5"),
            (0.15, 0.0..0.4, "0.15"),
            (0.0002, 0.0..0.0007, "2.0e-4"),
            (2e6, 0.0..5e6, "2.0e6"),
        ];
        for (value, range, text) in cases {
            assert_eq!(tick(value, &range), text);
        }
    }

    #[test]
    fn lines_that_others_may_hide_are_wider() {
        let mut figure = figure(&[(0.0, 1.0, 0.0), (10.0, 2.0, 0.0)]);
        for point in &mut figure.lines[0].points {
            point.standard_error = None;
        }
        let line = figure.lines[0].clone();
        let mut beside = line.clone();
        for point in &mut beside.points {
            point.x += 10.0;
        }
        figure.lines = vec![line.clone(), line.clone(), beside];
        let widths = |figure: &Figure| [0, 1, 2].map(|number| figure.width(number));
        assert_eq!(widths(&figure), [5, 3, 3]);
        figure.lines.push(line);
        assert_eq!(widths(&figure), [3, 3, 3]);
    }
}
