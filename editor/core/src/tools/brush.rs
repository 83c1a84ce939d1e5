//! The state machine that all tools with a round brush share.

use super::{Effect, Mark, Pointer, Tone, Tool, ToolContext, ToolEvent};
use roadwright_geometry::DVec2;

/// A stroke of a brush, from the press of the button to its release.
pub(super) trait Stroke: Sized {
    /// Begins a stroke. The error says why it cannot begin.
    fn begin(at: DVec2, context: &ToolContext<'_>) -> Result<Self, String>;

    /// Applies the brush along the line from its previous to its current position.
    fn dab(&mut self, at: DVec2, context: &ToolContext<'_>) -> Vec<Effect>;

    /// Applies the brush where the button is released.
    fn end(&mut self, at: DVec2, context: &ToolContext<'_>) -> Vec<Effect> {
        self.dab(at, context)
    }

    /// Returns the overlays for a brush at a position.
    fn marks(at: DVec2, context: &ToolContext<'_>) -> Vec<Mark>;

    /// Returns the status line text, which describes the current functions of the mouse buttons.
    fn status(context: &ToolContext<'_>) -> String;
}

/// A brush with the stroke in progress.
pub(super) struct Brush<S> {
    hover: Option<DVec2>,
    stroke: Option<S>,
}

impl<S> Default for Brush<S> {
    fn default() -> Self {
        Self {
            hover: None,
            stroke: None,
        }
    }
}

impl<S: Stroke> Tool for Brush<S> {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        match event {
            ToolEvent::Move(Pointer { at, .. }) => {
                self.hover = Some(at);
                Vec::new()
            }
            ToolEvent::Press(Pointer { at, .. }) => match S::begin(at, context) {
                Ok(stroke) => self.stroke.insert(stroke).dab(at, context),
                Err(why) => vec![Effect::Refuse(why)],
            },
            ToolEvent::Drag(Pointer { at, .. }) => {
                self.hover = Some(at);
                let stroke = self.stroke.as_mut();
                stroke.map_or_else(Vec::new, |stroke| stroke.dab(at, context))
            }
            ToolEvent::Release(Pointer { at, .. }) => {
                let stroke = self.stroke.take();
                let mut effects =
                    stroke.map_or_else(Vec::new, |mut stroke| stroke.end(at, context));
                effects.push(Effect::Commit);
                effects
            }
            ToolEvent::Click(_) => {
                self.stroke = None;
                vec![Effect::Commit]
            }
            ToolEvent::Escape | ToolEvent::Backspace if self.stroke.take().is_some() => {
                vec![Effect::Abort]
            }
            _ => Vec::new(),
        }
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        self.hover.map_or_else(Vec::new, |at| S::marks(at, context))
    }

    fn status(&self, context: &ToolContext<'_>) -> String {
        S::status(context)
    }

    fn is_busy(&self) -> bool {
        self.stroke.is_some()
    }
}

/// Returns the circle that shows a brush, in the colour for painting or erasing.
pub(super) fn circle(centre: DVec2, radius: f64, erases: bool) -> Mark {
    let tone = if erases { Tone::Danger } else { Tone::Accent };
    Mark::Circle {
        centre,
        radius,
        tone,
    }
}
