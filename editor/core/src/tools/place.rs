//! The place tool, which adds points of interest and parking bays.

use super::bays::{Kerb, Row, kerb_at};
use super::{BayKind, Effect, Fill, Mark, Pointer, Tone, Tool, ToolContext, ToolEvent};
use roadwright_geometry::{DVec2, heading_of};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Edit, ObjectId, PointOfInterest};

/// Length below which a drag counts as a click, m.
const LEAST_DRAG: f64 = 0.5;

/// The tool for points of interest. A click places a point, and a drag places a bay or a row of bays.
#[derive(Default)]
pub(super) struct PlaceTool {
    press: Option<DVec2>,
    now: Option<DVec2>,
    /// The kerb at the press.
    kerb: Option<Kerb>,
    /// Whether a row over open ground lies on the right of the drag.
    is_right: bool,
}

impl PlaceTool {
    /// Creates the point of interest at the position of the press. A bay has the heading of the
    /// drag.
    fn point(&self, name: String) -> Option<PointOfInterest> {
        let at = self.press?;
        let drag = self.now.unwrap_or(at) - at;
        Some(PointOfInterest {
            name,
            x: at.x.into(),
            y: at.y.into(),
            heading: ((drag.length() >= LEAST_DRAG).then(|| heading_of(drag))).into(),
        })
    }

    /// Returns the row of bays being drawn; `None` if the drag draws a single bay.
    fn row(&self, context: &ToolContext<'_>) -> Option<Row> {
        let ends = [self.press?, self.now?];
        let is_drag = (ends[1] - ends[0]).length() >= LEAST_DRAG;
        let kerb = self.kerb;
        is_drag.then(|| Row::drawn(kerb, ends, self.is_right, context))?
    }

    fn drag(&mut self, pointer: Pointer) {
        self.now = Some(pointer.at);
        self.is_right = pointer.modifiers.shift;
        if pointer.modifiers.ctrl {
            self.kerb = None;
        }
    }

    /// Adds the drawn row of bays, the drawn bay, or a point.
    fn finish(&mut self, context: &ToolContext<'_>) -> Vec<Effect> {
        let Some(row) = self.row(context) else {
            return self.place(context);
        };
        *self = Self::default();
        let (edit, ids) = row.edit(context.scenario);
        let label = match ids.len() {
            1 => "Draw a bay".into(),
            count => format!("Draw {count} bays"),
        };
        let ids = ids.into_iter().map(ObjectId::PointOfInterest);
        vec![
            Effect::Apply(label, edit),
            Effect::Select(ids.collect::<Objects>()),
        ]
    }

    fn place(&mut self, context: &ToolContext<'_>) -> Vec<Effect> {
        let id = context.scenario.next_point_of_interest_id();
        let Some(point) = self.point(new_name(context)) else {
            return Vec::new();
        };
        (self.press, self.now) = (None, None);
        let edit = Edit::PointOfInterest(id, Some(Box::new(point)));
        vec![
            Effect::Apply("Place point of interest".into(), edit),
            Effect::Select(Objects::from([ObjectId::PointOfInterest(id)])),
        ]
    }
}

/// Returns a name that is not in use.
fn new_name(context: &ToolContext<'_>) -> String {
    let points = context.scenario.points_of_interest();
    let name = |number: usize| format!("Place {number}");
    let is_free = |name: &String| points.values().all(|point| point.name != *name);
    // There is one more candidate than places, so at least one name is free.
    (1..=points.len() + 1)
        .map(name)
        .find(is_free)
        .unwrap_or_default()
}

impl Tool for PlaceTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        match event {
            ToolEvent::Press(p) => {
                self.press = Some(p.at);
                self.kerb = match p.modifiers.ctrl {
                    true => None,
                    false => kerb_at(p.at, context),
                };
            }
            ToolEvent::Drag(p) => self.drag(p),
            ToolEvent::Release(p) => {
                self.drag(p);
                return self.finish(context);
            }
            ToolEvent::Click(Pointer { at, .. }) => {
                // An unsteady click places a point, not a bay.
                (self.press, self.now) = (Some(at), None);
                return self.place(context);
            }
            ToolEvent::Escape => (self.press, self.now) = (None, None),
            ToolEvent::Move(_)
            | ToolEvent::DoubleClick(_)
            | ToolEvent::Enter
            | ToolEvent::Backspace
            | ToolEvent::Type(_)
            | ToolEvent::Layer => {}
        }
        Vec::new()
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        if let (Some(row), Some(now)) = (self.row(context), self.now) {
            return row.marks(now);
        }
        let bay = self.now.and_then(|_| self.point(String::new()));
        let corners = bay.as_ref().and_then(roadwright_render::bay);
        let area = |corners: [DVec2; 4]| Mark::Area {
            points: corners.to_vec(),
            fill: Fill::Tint(Tone::Accent),
        };
        corners.map(area).into_iter().collect()
    }

    fn status(&self, context: &ToolContext<'_>) -> String {
        match context.options.bays.kind {
            BayKind::Single => {
                "Click: add a place. Drag: add a bay; parked vehicles point along the drag."
            }
            _ if self.now.is_some() && self.kerb.is_some() => {
                "Release: add the bays. Ctrl: ignore the kerb. Esc: cancel."
            }
            _ if self.now.is_some() => {
                "Release: add the bays. Shift: put them on the other side. Esc: cancel."
            }
            _ => "Click: add a place. Drag along a kerb or over open ground: add a row of bays.",
        }
        .into()
    }

    fn is_busy(&self) -> bool {
        self.now.is_some()
    }
}
