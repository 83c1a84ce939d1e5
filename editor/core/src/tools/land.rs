//! The land tool, which draws areas of land corner by corner or freehand.

use super::outline::{self, OutlinePen};
use super::{Effect, Mark, Tool, ToolContext, ToolEvent};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Edit, Land, MAX_LAND_CORNERS, ObjectId};

/// Adds an area of land once its outline has been drawn.
#[derive(Default)]
pub(super) struct LandTool(OutlinePen);

/// Creates an area with an outline, or explains why that is impossible.
fn add(outline: Vec<DVec2>, context: &ToolContext<'_>) -> Vec<Effect> {
    let outline = match outline::checked(outline, MAX_LAND_CORNERS) {
        Ok(outline) => outline,
        Err(why) => return vec![Effect::Refuse(why)],
    };
    let id = context.scenario.next_land_id();
    let land = Land {
        name: String::new(),
        usage: context.options.land,
        outline: outline.into(),
        holes: Vec::new().into(),
    };
    vec![
        Effect::Apply("Draw land".into(), Edit::Land(id, Some(Box::new(land)))),
        Effect::Select(Objects::from([ObjectId::Land(id)])),
    ]
}

impl Tool for LandTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        let finished = self.0.event(event, context);
        finished.map_or_else(Vec::new, |outline| add(outline, context))
    }

    fn marks(&self, _: &ToolContext<'_>) -> Vec<Mark> {
        self.0.marks()
    }

    fn status(&self, _: &ToolContext<'_>) -> String {
        outline::STATUS.into()
    }

    fn is_busy(&self) -> bool {
        self.0.is_busy()
    }
}
