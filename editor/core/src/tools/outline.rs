//! Drawing the outline of an area corner by corner or freehand.

use super::corners::{Corners, counter_clockwise};
use super::snap::snap_to_grid;
use super::{Mark, Pointer, Tone, ToolContext, ToolEvent};
use roadwright_geometry::crossings::for_each_crossing;
use roadwright_geometry::{DVec2, polygon, polyline};
use std::ops::ControlFlow;

/// Spacing of the points of a freehand line, and maximum deviation of the simplified line from
/// them, in screen points.
const FREEHAND: (f64, f64) = (3.0, 1.5);
/// Maximum number of edge pairs compared to check whether an outline crosses itself.
const MOST_COMPARISONS: usize = 20_000_000;

/// Status line text about the mouse buttons while an outline is drawn.
pub(super) const STATUS: &str =
    "Click: add corners; the first corner, double-click or Enter: finish. Drag: draw freehand.";

/// An outline in progress.
#[derive(Default)]
pub(super) struct OutlinePen {
    corners: Corners,
    hover: Option<DVec2>,
    /// Points of the freehand line in progress.
    stroke: Vec<DVec2>,
}

impl OutlinePen {
    /// Handles an event. Returns the corners of the outline once it is finished.
    pub(super) fn event(
        &mut self,
        event: ToolEvent,
        context: &ToolContext<'_>,
    ) -> Option<Vec<DVec2>> {
        match event {
            ToolEvent::Move(pointer) => self.hover = Some(snap_to_grid(pointer, context)),
            ToolEvent::Press(pointer) => self.stroke = vec![snap_to_grid(pointer, context)],
            ToolEvent::Drag(Pointer { at, .. }) => {
                self.hover = Some(at);
                let far = |last: &DVec2| (*last - at).length() > FREEHAND.0 * context.scale;
                if self.stroke.last().is_none_or(far) {
                    self.stroke.push(at);
                }
            }
            ToolEvent::Release(_) => return self.release(context),
            ToolEvent::Click(pointer) => {
                self.stroke.clear();
                let at = snap_to_grid(pointer, context);
                return self
                    .corners
                    .click(at, context.reach())
                    .then(|| self.corners.take());
            }
            ToolEvent::DoubleClick(_) | ToolEvent::Enter if !self.corners.is_empty() => {
                return Some(self.corners.take());
            }
            ToolEvent::Backspace => self.corners.take_back(),
            ToolEvent::Escape => {
                self.corners.clear();
                self.stroke.clear();
            }
            ToolEvent::DoubleClick(_)
            | ToolEvent::Enter
            | ToolEvent::Type(_)
            | ToolEvent::Layer => {}
        }
        None
    }

    /// Ends a drag and adds its line to the outline.
    fn release(&mut self, context: &ToolContext<'_>) -> Option<Vec<DVec2>> {
        let line = std::mem::take(&mut self.stroke);
        let outline = smoothed(&line, FREEHAND.1 * context.scale);
        if !self.corners.is_empty() {
            // The line continues the corners placed earlier.
            self.corners.extend(outline);
            return None;
        }
        if outline.len() < 3 {
            // A short drag counts as a click, because the pointer often slips while clicking.
            self.corners.extend(line.last().copied());
            return None;
        }
        Some(outline)
    }

    /// Returns the overlays of the outline in progress.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let mut line = self.corners.line();
        match self.stroke.len() {
            0 | 1 if line.is_empty() => {}
            0 | 1 => line.extend(self.hover),
            _ => line.extend(&self.stroke),
        }
        let mut marks = Vec::new();
        if line.len() > 2 {
            marks.push(Mark::dashes(
                vec![line[line.len() - 1], line[0]],
                Tone::Guide,
            ));
        }
        if line.len() > 1 {
            marks.push(Mark::line(line, Tone::Accent));
        }
        marks.extend(self.corners.marks());
        marks
    }

    /// Whether an outline has been begun.
    pub(super) fn is_busy(&self) -> bool {
        self.stroke.len() > 1 || !self.corners.is_empty()
    }
}

/// Returns an outline in counter-clockwise order.
///
/// # Errors
/// If it encloses no area, has more than `most` corners, or crosses itself.
pub(super) fn checked(outline: Vec<DVec2>, most: usize) -> Result<Vec<DVec2>, String> {
    if outline.len() < 3 || polygon::signed_area(&outline).abs() < 0.01 {
        return Err("An area needs at least three corners.".into());
    }
    if outline.len() > most {
        return Err("Too many corners. Split it into several areas.".into());
    }
    let mut crosses = false;
    let mut left = MOST_COMPARISONS;
    for_each_crossing([&outline[..]], &mut left, |_, _| {
        crosses = true;
        ControlFlow::Break(())
    });
    if crosses {
        return Err("The outline of an area must not cross itself.".into());
    }
    Ok(counter_clockwise(outline))
}

/// Simplifies a line by removing superfluous points.
fn smoothed(line: &[DVec2], miss: f64) -> Vec<DVec2> {
    let kept = polyline::cuts(line, miss, f64::INFINITY);
    kept.into_iter().map(|i| line[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_needs_its_ends_only() {
        let line: Vec<DVec2> = (0..50).map(|i| DVec2::new(f64::from(i), 0.0)).collect();
        assert_eq!(smoothed(&line, 0.1), [line[0], line[49]]);
        let mut bent = line.clone();
        bent.extend((1..50).map(|i| DVec2::new(49.0, f64::from(i))));
        assert_eq!(smoothed(&bent, 0.1).len(), 3);
        assert_eq!(smoothed(&[], 0.1), []);
    }
}
