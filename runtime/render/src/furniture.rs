//! Additions to a map: title, scale bar, attribution.

use crate::canvas::Canvas;
use crate::map::Trail;
use crate::palette::{INK, PAPER, QUIET_INK, faded, rgb};
use crate::text::{self, Align};

/// Distance from the border, pixels.
const MARGIN: f32 = 18.0;

/// Returns the largest length of 1, 2 or 5 times a power of ten that fits into `room` metres.
pub(crate) fn round_length(room: f64) -> f64 {
    let mut best = 0.0;
    for exponent in -3..7 {
        for digit in [1.0, 2.0, 5.0] {
            let length = digit * 10f64.powi(exponent);
            if length <= room {
                best = f64::max(best, length);
            }
        }
    }
    best
}

fn length_text(metres: f64) -> String {
    if metres >= 1000.0 {
        format!("{} km", metres / 1000.0)
    } else {
        format!("{metres} m")
    }
}

/// Draws the scale bar, labelled with its length, at the lower left.
pub(crate) fn scale_bar(canvas: &mut Canvas) {
    let length = round_length(200.0 / canvas.scale);
    let width = (length * canvas.scale) as f32;
    let (x, y) = (MARGIN, canvas.height() - MARGIN);
    let label = length_text(length);
    canvas.rect(x - 8.0, y - 28.0, width + 16.0, 36.0, faded(PAPER, 0.75));
    canvas.rect(x, y - 5.0, width, 5.0, rgb(INK));
    canvas.rect(x + 0.5 * width, y - 4.0, 0.5 * width - 1.0, 3.0, rgb(PAPER));
    canvas.text(&label, x + 0.5 * width, y - 11.0, 13.0, Align::Centre, INK);
}

/// Writes the name of the scenario and a line of details at the upper left.
pub(crate) fn title(canvas: &mut Canvas, name: &str, detail: &str) {
    let width = text::width(name, 19.0).max(text::width(detail, 13.0));
    let height = if detail.is_empty() { 34.0 } else { 54.0 };
    canvas.rect(
        MARGIN - 8.0,
        MARGIN - 8.0,
        width + 18.0,
        height,
        faded(PAPER, 0.75),
    );
    canvas.text(name, MARGIN, MARGIN + 17.0, 19.0, Align::Left, INK);
    canvas.text(detail, MARGIN, MARGIN + 38.0, 13.0, Align::Left, QUIET_INK);
}

/// Draws the legend of the colours of trails at the upper right.
pub(crate) fn legend(canvas: &mut Canvas, trails: &[Trail]) {
    const ROW: f32 = 20.0;
    const SWATCH: f32 = 28.0;
    let widths = trails.iter().map(|trail| text::width(&trail.label, 13.0));
    let Some(width) = widths.reduce(f32::max) else {
        return;
    };
    let left = canvas.width() - MARGIN - width - SWATCH - 8.0;
    let height = ROW * trails.len() as f32 + 10.0;
    canvas.rect(
        left - 8.0,
        MARGIN - 8.0,
        width + SWATCH + 24.0,
        height,
        faded(PAPER, 0.75),
    );
    for (row, trail) in trails.iter().enumerate() {
        let y = MARGIN + ROW * row as f32;
        canvas.rect(left, y + 4.0, SWATCH, 5.0, rgb(trail.color));
        let x = left + SWATCH + 8.0;
        canvas.text(&trail.label, x, y + 11.0, 13.0, Align::Left, INK);
    }
}

/// Credits the data sources at the lower right.
pub(crate) fn attribution(canvas: &mut Canvas, text: &str) {
    if text.is_empty() {
        return;
    }
    let width = text::width(text, 12.0);
    let (x, y) = (canvas.width() - MARGIN, canvas.height() - MARGIN);
    canvas.rect(
        x - width - 8.0,
        y - 18.0,
        width + 16.0,
        26.0,
        faded(PAPER, 0.8),
    );
    canvas.text(text, x, y - 1.0, 12.0, Align::Right, INK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_round_lengths() {
        assert_eq!(
            [0.7, 3.0, 49.0, 120.0, 2600.0].map(round_length),
            [0.5, 2.0, 20.0, 100.0, 2000.0]
        );
        assert_eq!(
            (length_text(2000.0), length_text(50.0)),
            ("2 km".into(), "50 m".into())
        );
    }
}
