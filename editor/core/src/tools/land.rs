//! Drawing land corner by corner or freehand.

use super::corners::{Corners, counter_clockwise};
use super::snap::snap_to_grid;
use super::{Effect, Mark, Pointer, Tone, Tool, ToolContext, ToolEvent};
use roadwright_geometry::crossings::for_each_crossing;
use roadwright_geometry::{DVec2, polygon, polyline};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Edit, Land, MAX_LAND_CORNERS, ObjectId};
use std::ops::ControlFlow;

/// Spacing of the points of a freehand line, and largest distance between them and the simplified line, in
/// screen points.
const FREEHAND: (f64, f64) = (3.0, 1.5);
/// Maximum number of edge pairs compared to check whether an outline crosses itself.
const MOST_COMPARISONS: usize = 20_000_000;

/// The land tool.
#[derive(Default)]
pub(super) struct LandTool {
    corners: Corners,
    hover: Option<DVec2>,
    /// Points of a drag.
    stroke: Vec<DVec2>,
}

impl LandTool {
    fn finish(&mut self, context: &ToolContext<'_>) -> Vec<Effect> {
        add(self.corners.take(), context)
    }

    fn click(&mut self, pointer: Pointer, context: &ToolContext<'_>) -> Vec<Effect> {
        let at = snap_to_grid(pointer, context);
        if self.corners.click(at, context.reach()) {
            return self.finish(context);
        }
        Vec::new()
    }

    /// Ends a drag, whose line becomes the outline.
    fn release(&mut self, context: &ToolContext<'_>) -> Vec<Effect> {
        let line = std::mem::take(&mut self.stroke);
        let outline = smoothed(&line, FREEHAND.1 * context.scale);
        if !self.corners.is_empty() {
            // The line continues from corners that were placed before.
            self.corners.extend(outline);
            return Vec::new();
        }
        if outline.len() < 3 {
            // A short drag counts as a click, because the pointer often slips while clicking.
            self.corners.extend(line.last().copied());
            return Vec::new();
        }
        add(outline, context)
    }
}

/// Creates an area with an outline, or explains why that is impossible.
fn add(outline: Vec<DVec2>, context: &ToolContext<'_>) -> Vec<Effect> {
    let refuse = |why: &str| vec![Effect::Refuse(why.into())];
    if outline.len() < 3 || polygon::signed_area(&outline).abs() < 0.01 {
        return refuse("An area needs at least three corners.");
    }
    if outline.len() > MAX_LAND_CORNERS {
        return refuse("Too many corners. Split it into several areas.");
    }
    let mut crosses = false;
    let mut left = MOST_COMPARISONS;
    for_each_crossing([&outline[..]], &mut left, |_, _| {
        crosses = true;
        ControlFlow::Break(())
    });
    if crosses {
        return refuse("The outline of an area must not cross itself.");
    }
    let id = context.scenario.next_land_id();
    let land = Land {
        name: String::new(),
        usage: context.options.land,
        outline: counter_clockwise(outline).into(),
        holes: Vec::new().into(),
    };
    vec![
        Effect::Apply("Draw land".into(), Edit::Land(id, Some(Box::new(land)))),
        Effect::Select(Objects::from([ObjectId::Land(id)])),
    ]
}

/// Returns a line without superfluous points.
fn smoothed(line: &[DVec2], miss: f64) -> Vec<DVec2> {
    let kept = polyline::cuts(line, miss, f64::INFINITY);
    kept.into_iter().map(|i| line[i]).collect()
}

impl Tool for LandTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
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
                return self.click(pointer, context);
            }
            ToolEvent::DoubleClick(_) | ToolEvent::Enter if !self.corners.is_empty() => {
                return self.finish(context);
            }
            ToolEvent::Backspace => self.corners.take_back(),
            ToolEvent::Escape => {
                self.corners.clear();
                self.stroke.clear();
            }
            ToolEvent::DoubleClick(_) | ToolEvent::Enter | ToolEvent::Type(_) => {}
        }
        Vec::new()
    }

    fn marks(&self, _: &ToolContext<'_>) -> Vec<Mark> {
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

    fn status(&self, _: &ToolContext<'_>) -> String {
        "Click: add corners; the first corner, double-click or Enter: finish. Drag: draw freehand."
            .into()
    }

    fn is_busy(&self) -> bool {
        self.stroke.len() > 1 || !self.corners.is_empty()
    }
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
