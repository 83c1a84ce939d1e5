//! Draws the timeline of a run as a picture, with a curve for each measure.

use crate::RenderError;
use crate::canvas::Canvas;
use crate::palette::{INK, PAPER, QUIET_INK, faded, rgb};
use crate::text::Align;
use glam::DVec2;
use roadwright_simulation::TimeRow;

/// Width of the picture, pixels.
const WIDTH: u32 = 900;
/// Height of the band for a curve and its title, pixels.
const HEIGHT: u32 = 170;
/// Height of the title of the picture, pixels.
const TITLE: u32 = 56;
/// Left end of curves, pixels from the left edge.
const LEFT: f32 = 84.0;
/// Right end of curves, pixels from the left edge.
const RIGHT: f32 = 870.0;
/// Upper end of a curve, pixels from the top of its band.
const TOP: f32 = 28.0;
/// Lower end of a curve, pixels from the top of its band.
const BOTTOM: f32 = 138.0;
/// Maximum number of points drawn: one per column of pixels.
const COLUMNS: f64 = RIGHT as f64 - LEFT as f64;

/// A measure that is drawn as a curve.
struct Measure {
    name: &'static str,
    value: fn(&TimeRow) -> f64,
    color: u32,
}

/// The measures, with the colours that the editor's panels have in the light theme.
const MEASURES: [Measure; 5] = [
    Measure {
        name: "arrived",
        value: |row| row.arrived as f64,
        color: 0x1E7B3C,
    },
    Measure {
        name: "mean speed, m/s",
        value: |row| row.mean_speed,
        color: 0x1769E0,
    },
    Measure {
        name: "standing",
        value: |row| row.queue as f64,
        color: 0x9A5B00,
    },
    Measure {
        name: "contacts",
        value: |row| row.contacts as f64,
        color: 0xC8321F,
    },
    Measure {
        name: "module faults",
        value: |row| row.faults as f64,
        color: 0x59616C,
    },
];

/// Draws arrivals, mean speed, standing vehicles, contacts and faults over time as a PNG.
///
/// # Errors
/// If the picture cannot be created.
pub fn timeline(title: &str, rows: &[TimeRow]) -> Result<Vec<u8>, RenderError> {
    let size = (WIDTH, TITLE + HEIGHT * MEASURES.len() as u32 + 26);
    let high = DVec2::new(f64::from(size.0), f64::from(size.1));
    let mut canvas = Canvas::new(size, DVec2::ZERO, high)?;
    canvas.clear(PAPER);
    canvas.text(title, LEFT, 34.0, 20.0, Align::Left, INK);
    let last = rows.last().map_or(0.0, |row| row.time);
    let end = round_up(last.max(1.0));
    for (number, measure) in MEASURES.iter().enumerate() {
        let top = (TITLE + HEIGHT * number as u32) as f32;
        curve(&mut canvas, rows, measure, top, end);
    }
    let bottom = size.1 as f32 - 10.0;
    let middle = 0.5 * (LEFT + RIGHT);
    canvas.text("time, s", middle, bottom, 13.0, Align::Centre, QUIET_INK);
    canvas.png()
}

/// Draws a curve on an axis from 0 to a round number, with three grid lines and time labels.
fn curve(canvas: &mut Canvas, rows: &[TimeRow], measure: &Measure, top: f32, end: f64) {
    let Measure { name, value, color } = *measure;
    let most = rows.iter().map(value).fold(0.0, f64::max);
    let most = round_up(most.max(1.0));
    let x = |time: f64| LEFT + (time / end) as f32 * (RIGHT - LEFT);
    let y = |v: f64| top + BOTTOM - (v / most) as f32 * (BOTTOM - TOP);
    canvas.text(name, LEFT, top + TOP - 9.0, 14.0, Align::Left, INK);
    for share in [0.0, 0.5, 1.0] {
        let at = y(share * most);
        canvas.pixel_line(&[(LEFT, at), (RIGHT, at)], 1.0, faded(QUIET_INK, 0.35));
        let text = number(share * most);
        canvas.text(&text, LEFT - 8.0, at + 4.5, 12.0, Align::Right, QUIET_INK);
    }
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (at, low) = (x(share * end), top + BOTTOM);
        canvas.pixel_line(&[(at, low), (at, low + 4.0)], 1.0, rgb(QUIET_INK));
        let text = number(share * end);
        canvas.text(&text, at, low + 18.0, 12.0, Align::Centre, QUIET_INK);
    }
    // Long runs have one row per column of pixels, plus the last row.
    let every = (rows.len() as f64 / COLUMNS).ceil().max(1.0) as usize;
    let thinned = rows.iter().step_by(every).chain(rows.last());
    let points: Vec<(f32, f32)> = thinned.map(|row| (x(row.time), y(value(row)))).collect();
    if points.len() > 1 {
        canvas.pixel_line(&points, 2.0, rgb(color));
    }
}

/// Rounds a number up to 1, 2 or 5 times a power of ten.
fn round_up(value: f64) -> f64 {
    let mut step = 1.0;
    while 10.0 * step < value {
        step *= 10.0;
    }
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * step);
    let fits = steps.into_iter().find(|round| *round >= value);
    fits.unwrap_or(value)
}

/// Formats a number without trailing zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn row(time: f64, arrived: usize) -> TimeRow {
        TimeRow {
            time,
            arrived,
            driving: 0,
            waiting: 0,
            refused: 0,
            mean_speed: 8.0,
            queue: 3,
            contacts: 0,
            faults: 0,
        }
    }

    #[test]
    fn axes_end_at_round_numbers() {
        let rounds = [0.3, 1.0, 1.5, 3.0, 7.0, 12.0, 150.0, 900.0].map(round_up);
        assert_eq!(rounds, [1.0, 1.0, 2.0, 5.0, 10.0, 20.0, 200.0, 1000.0]);
        assert_eq!([0.0, 2.5, 20.0].map(number), ["0", "2.5", "20"]);
    }

    #[test]
    fn any_run_has_a_picture_and_equal_runs_have_equal_ones() {
        let long: Vec<TimeRow> = (0..4000)
            .map(|i| row(f64::from(i), i as usize / 7))
            .collect();
        let pictures: Vec<Vec<u8>> = [&[][..], &long[..1], &long[..2], &long]
            .map(|rows| timeline("run", rows).unwrap())
            .to_vec();
        assert!(pictures.iter().all(|png| png.starts_with(b"\x89PNG")));
        assert_ne!(pictures[0], pictures[3]);
        assert_eq!(pictures[3], timeline("run", &long).unwrap());
    }
}
