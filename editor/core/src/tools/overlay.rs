//! The tool that places the background picture.

use super::{Effect, Mark, Tool, ToolContext, ToolEvent};
use roadwright_geometry::DVec2;

/// The tool for the background picture: dragging moves it, and Shift+drag scales it.
#[derive(Default)]
pub(super) struct OverlayTool {
    last: Option<DVec2>,
    dragging: bool,
}

impl Tool for OverlayTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        match event {
            ToolEvent::Press(p) => {
                self.last = Some(p.at);
                Vec::new()
            }
            ToolEvent::Drag(p) => {
                self.dragging = true;
                // Measured from event to event, because the movements and scalings of one drag add up.
                let before = self.last.replace(p.at).unwrap_or(p.at);
                let step = p.at - before;
                if p.modifiers.shift {
                    // Dragging 100 points to the right doubles the size.
                    let points = step.x / context.scale.max(1e-9);
                    vec![Effect::ScaleOverlay(
                        (points / 100.0).clamp(-1.0, 1.0).exp2(),
                    )]
                } else {
                    vec![Effect::MoveOverlay(step)]
                }
            }
            ToolEvent::Release(_) | ToolEvent::Click(_) | ToolEvent::Escape => {
                self.dragging = false;
                self.last = None;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn marks(&self, _: &ToolContext<'_>) -> Vec<Mark> {
        Vec::new()
    }

    fn status(&self, _: &ToolContext<'_>) -> String {
        "Drag: move the picture. Shift+drag: scale it. Choose the file and its opacity in the tool bar."
            .into()
    }

    fn is_busy(&self) -> bool {
        self.dragging
    }
}
