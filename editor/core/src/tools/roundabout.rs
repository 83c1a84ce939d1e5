//! The roundabout tool. A drag from the centre to the ring draws a roundabout.

use super::ribbon::ribbon;
use super::stroke_layers::layer_at;
use super::{Effect, Mark, Pointer, Tone, Tool, ToolContext, ToolEvent, join, snap};
use roadwright_geometry::{DVec2, unit};
use roadwright_scenario::operation::draw::{self, DEFAULT_RADIUS, RING_RADIUS};
use std::f64::consts::TAU;

/// Step of the radius of a ring, m.
const STEP: f64 = 0.5;

/// Draws a roundabout around the point of the press.
#[derive(Default)]
pub(super) struct RoundaboutTool {
    /// Snapped position of the press.
    centre: Option<DVec2>,
    now: Option<DVec2>,
    hover: Option<DVec2>,
    /// Layer of the topmost road at the centre.
    layer: i8,
}

impl RoundaboutTool {
    /// Returns the centre and radius of the ring in progress.
    fn ring(&self) -> Option<(DVec2, f64)> {
        let (centre, now) = (self.centre?, self.now?);
        let radius = ((now - centre).length() / STEP).round() * STEP;
        Some((centre, radius))
    }

    /// Updates the layer from the roads that a ring around the point would join.
    fn note_layer(&mut self, pointer: Pointer, context: &ToolContext<'_>) {
        self.layer = layer_at(pointer.at, join::catch(pointer.modifiers, context), context);
    }

    fn layer_now(&self, context: &ToolContext<'_>) -> i8 {
        context.options.layer.unwrap_or(self.layer)
    }

    fn draw(centre: DVec2, radius: f64, layer: i8, context: &ToolContext<'_>) -> Vec<Effect> {
        match draw::roundabout(context.scenario, centre, radius, layer) {
            Ok(edit) => vec![Effect::Apply("Draw roundabout".into(), edit)],
            Err(error) => vec![Effect::Refuse(format!("{error}."))],
        }
    }
}

impl Tool for RoundaboutTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        let caught = |p: Pointer| snap(p.at, p.modifiers, context).at;
        match event {
            ToolEvent::Move(p) => {
                self.hover = Some(caught(p));
                self.note_layer(p, context);
            }
            ToolEvent::Press(p) => {
                self.centre = Some(caught(p));
                self.note_layer(p, context);
            }
            ToolEvent::Drag(p) => self.now = Some(p.at),
            ToolEvent::Release(p) => {
                self.now = Some(p.at);
                let (ring, layer) = (self.ring(), self.layer_now(context));
                *self = Self::default();
                return ring.map_or_else(Vec::new, |(centre, radius)| {
                    Self::draw(centre, radius, layer, context)
                });
            }
            ToolEvent::Click(p) => {
                let layer = self.layer_now(context);
                return Self::draw(caught(p), DEFAULT_RADIUS, layer, context);
            }
            ToolEvent::Escape | ToolEvent::Backspace => *self = Self::default(),
            ToolEvent::DoubleClick(_)
            | ToolEvent::Enter
            | ToolEvent::Type(_)
            | ToolEvent::Layer => {}
        }
        Vec::new()
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        let Some((centre, radius)) = self.ring() else {
            let hover = self.hover.map(|centre| Mark::Circle {
                centre,
                radius: DEFAULT_RADIUS,
                tone: Tone::Hover,
            });
            return hover.into_iter().collect();
        };
        let is_possible = RING_RADIUS.contains(&radius);
        let tone = if is_possible {
            Tone::Accent
        } else {
            Tone::Danger
        };
        let mut marks = Vec::new();
        if is_possible {
            let points = (0..=64).map(|i| centre + radius * unit(TAU * f64::from(i) / 64.0));
            let side = context.scenario.about().driving_side;
            let points: Vec<DVec2> = points.collect();
            marks = ribbon(&points, &draw::ring_section(radius), side);
        }
        marks.push(Mark::Circle {
            centre,
            radius,
            tone,
        });
        let text = format!("radius {radius:.1} m");
        marks.push(Mark::label(self.now.unwrap_or(centre), text, tone));
        marks
    }

    fn status(&self, _: &ToolContext<'_>) -> String {
        format!(
            "Drag from the centre of a roundabout to its ring, {} to {} m. Click: radius {DEFAULT_RADIUS} m.",
            RING_RADIUS.start(),
            RING_RADIUS.end()
        )
    }

    fn is_busy(&self) -> bool {
        self.now.is_some()
    }

    fn layer(&self, context: &ToolContext<'_>) -> Option<i8> {
        Some(self.layer_now(context))
    }
}
