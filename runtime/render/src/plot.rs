//! Control surfaces of fuzzy controllers, drawn as labelled pictures.

use crate::RenderError;
use crate::canvas::Canvas;
use crate::palette::{INK, PAPER, QUIET_INK, faded, heat, rgb};
use crate::text::Align;
use glam::DVec2;

/// Labels of a control surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePlot<'a> {
    /// Title of the plot.
    pub title: &'a str,
    /// Label of the horizontal axis.
    pub x_label: &'a str,
    /// Label of the vertical axis.
    pub y_label: &'a str,
    /// Label of the colour bar.
    pub z_label: &'a str,
    /// Knots of the horizontal variable. The axis extends from 0 to slightly beyond the last knot.
    pub x_knots: [f64; 3],
    /// Knots of the vertical variable.
    pub y_knots: [f64; 3],
    /// Names of the horizontal terms.
    pub x_terms: [&'a str; 3],
    /// Names of the vertical terms.
    pub y_terms: [&'a str; 3],
}

const SIZE: (u32, u32) = (960, 720);
/// The left, top, right and bottom edges of the plot's frame, pixels.
const FRAME: (f32, f32, f32, f32) = (110.0, 80.0, 790.0, 620.0);
/// Number of contour lines over the range of the output.
const CONTOURS: f64 = 10.0;

/// Draws z(x, y) in colours with contour lines, axes, terms and a colour bar, as a PNG.
///
/// # Errors
/// If the picture cannot be created.
pub fn surface(
    plot: &SurfacePlot<'_>,
    z: impl Fn(f64, f64) -> f64,
) -> Result<Vec<u8>, RenderError> {
    let high = DVec2::new(f64::from(SIZE.0), f64::from(SIZE.1));
    let mut canvas = Canvas::new(SIZE, DVec2::ZERO, high)?;
    canvas.clear(PAPER);
    let (left, top, right, bottom) = FRAME;
    let ends = (1.08 * plot.x_knots[2], 1.08 * plot.y_knots[2]);
    let value = |px: f32, py: f32| {
        let x = f64::from((px - left) / (right - left)) * ends.0;
        let y = f64::from((bottom - py) / (bottom - top)) * ends.1;
        z(x, y)
    };
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    for py in (top as u32..=bottom as u32).step_by(4) {
        for px in (left as u32..=right as u32).step_by(4) {
            let v = value(px as f32, py as f32);
            (lowest, highest) = (lowest.min(v), highest.max(v));
        }
    }
    // The range is sampled at every fourth pixel, which is sufficient for surfaces without spikes.
    let span = (highest - lowest).max(1e-12);
    let share = |v: f64| (v - lowest) / span;
    for py in top as u32..bottom as u32 {
        for px in left as u32..right as u32 {
            let (x, y) = (px as f32 + 0.5, py as f32 + 0.5);
            let v = share(value(x, y));
            // A contour is drawn at pixels whose right or lower neighbour is in another band. A tiny amount
            // is subtracted, so that a plateau exactly on a boundary belongs to one band.
            let band = |v: f64| (v * CONTOURS - 1e-9).floor();
            let edge = band(v) != band(share(value(x + 1.0, y)))
                || band(v) != band(share(value(x, y + 1.0)));
            let color = if edge { faded(INK, 1.0) } else { heat(v) };
            canvas.put(px, py, color);
        }
    }
    axes(&mut canvas, plot, ends.0, ends.1);
    color_bar(&mut canvas, plot, lowest, highest);
    canvas.text(plot.title, left, 46.0, 22.0, Align::Left, INK);
    canvas.png()
}

fn axes(canvas: &mut Canvas, plot: &SurfacePlot<'_>, x_end: f64, y_end: f64) {
    let (left, top, right, bottom) = FRAME;
    let frame = [
        (left, top),
        (right, top),
        (right, bottom),
        (left, bottom),
        (left, top),
    ];
    canvas.pixel_line(&frame, 1.4, rgb(INK));
    let x_at = |v: f64| left + (v / x_end) as f32 * (right - left);
    let y_at = |v: f64| bottom - (v / y_end) as f32 * (bottom - top);
    for (knot, term) in plot.x_knots.iter().zip(plot.x_terms) {
        let x = x_at(*knot);
        canvas.pixel_line(&[(x, bottom), (x, bottom + 7.0)], 1.4, rgb(INK));
        canvas.text(&number(*knot), x, bottom + 22.0, 13.0, Align::Centre, INK);
        canvas.text(term, x, bottom + 40.0, 11.0, Align::Centre, QUIET_INK);
    }
    for (knot, term) in plot.y_knots.iter().zip(plot.y_terms) {
        let y = y_at(*knot);
        canvas.pixel_line(&[(left - 7.0, y), (left, y)], 1.4, rgb(INK));
        canvas.text(
            &number(*knot),
            left - 12.0,
            y + 4.0,
            13.0,
            Align::Right,
            INK,
        );
        canvas.text(term, left - 12.0, y + 19.0, 11.0, Align::Right, QUIET_INK);
    }
    canvas.text(
        plot.x_label,
        0.5 * (left + right),
        bottom + 66.0,
        15.0,
        Align::Centre,
        INK,
    );
    canvas.text(plot.y_label, left, top - 10.0, 15.0, Align::Centre, INK);
}

fn color_bar(canvas: &mut Canvas, plot: &SurfacePlot<'_>, lowest: f64, highest: f64) {
    let (_, top, right, bottom) = FRAME;
    let (x, width) = (right + 34.0, 26.0);
    for py in top as u32..bottom as u32 {
        let share = f64::from((bottom - py as f32) / (bottom - top));
        for px in 0..width as u32 {
            canvas.put(x as u32 + px, py, heat(share));
        }
    }
    for i in 0..=5 {
        let share = f64::from(i) / 5.0;
        let y = bottom - share as f32 * (bottom - top);
        canvas.pixel_line(&[(x + width, y), (x + width + 6.0, y)], 1.2, rgb(INK));
        let value = lowest + share * (highest - lowest);
        canvas.text(
            &number(value),
            x + width + 11.0,
            y + 4.0,
            13.0,
            Align::Left,
            INK,
        );
    }
    canvas.text(
        plot.z_label,
        x + width + 60.0,
        top - 10.0,
        13.0,
        Align::Right,
        INK,
    );
}

/// Formats a number with as few digits as possible.
fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
