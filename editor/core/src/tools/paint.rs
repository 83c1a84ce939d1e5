//! Painting ground: layers of cells that planners over open ground avoid, prefer or must not enter.

use super::{Effect, Mark, PaintOptions, Pointer, Tone, Tool, ToolContext, ToolEvent};
use roadwright_geometry::DVec2;
use roadwright_scenario::{Edit, PaintCost, PaintId, PaintLayer, Scenario};

/// A stroke in progress.
struct Stroke {
    id: PaintId,
    last: DVec2,
    /// The layer with the stroke so far.
    layer: PaintLayer,
    /// Whether the stroke makes a new layer.
    is_new: bool,
}

/// The paint tool.
#[derive(Default)]
pub(super) struct PaintTool {
    hover: Option<DVec2>,
    stroke: Option<Stroke>,
}

impl PaintOptions {
    /// The layer that the brush paints in: the chosen one, or else the newest. `None` if there is none.
    pub fn chosen(&self, scenario: &Scenario) -> Option<PaintId> {
        let layers = scenario.paint();
        let chosen = self.layer.filter(|id| layers.contains_key(id));
        chosen.or_else(|| layers.keys().next_back().copied())
    }
}

/// A new layer with the default cost and an unused name.
pub fn new_paint_layer(scenario: &Scenario) -> PaintLayer {
    /// Three times the cost of plain ground.
    const COST: PaintCost = PaintCost::Adds(32);
    let is_taken = |name: &str| scenario.paint().values().any(|layer| layer.name == name);
    let numbered = (1..).map(|number| format!("Paint {number}"));
    let mut free = numbered.filter(|name| !is_taken(name));
    PaintLayer::new(free.next().unwrap_or_default(), COST)
}

impl PaintTool {
    fn start(&mut self, at: DVec2, context: &ToolContext<'_>) {
        let scenario = context.scenario;
        let chosen = context.options.paint.chosen(scenario);
        let known = chosen.and_then(|id| Some((id, scenario.paint().get(&id)?.clone())));
        let is_new = known.is_none();
        let (id, layer) =
            known.unwrap_or_else(|| (scenario.next_paint_id(), new_paint_layer(scenario)));
        self.stroke = Some(Stroke {
            id,
            last: at,
            layer,
            is_new,
        });
    }

    /// Paints one dab from the previous to the current position of the brush.
    fn dab(&mut self, at: DVec2, context: &ToolContext<'_>) -> Vec<Effect> {
        let options = context.options.paint;
        let Some(stroke) = &mut self.stroke else {
            return Vec::new();
        };
        let stretch = [stroke.last, at];
        stroke.last = at;
        // There is nothing to erase in a layer that does not exist yet.
        if options.erase && stroke.is_new {
            return Vec::new();
        }
        let label = if options.erase {
            stroke.layer.erase(stretch, options.radius);
            "Erase paint"
        } else {
            stroke.layer.paint(stretch, options.radius);
            "Paint ground"
        };
        let layer = Some(Box::new(stroke.layer.clone()));
        vec![Effect::Preview(label.into(), Edit::Paint(stroke.id, layer))]
    }
}

impl Tool for PaintTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        match event {
            ToolEvent::Move(Pointer { at, .. }) => {
                self.hover = Some(at);
                Vec::new()
            }
            ToolEvent::Press(Pointer { at, .. }) => {
                self.start(at, context);
                self.dab(at, context)
            }
            ToolEvent::Drag(Pointer { at, .. }) => {
                self.hover = Some(at);
                self.dab(at, context)
            }
            ToolEvent::Release(Pointer { at, .. }) => {
                let mut effects = self.dab(at, context);
                self.stroke = None;
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
        let options = context.options.paint;
        let tone = if options.erase {
            Tone::Danger
        } else {
            Tone::Accent
        };
        let circle = |centre| Mark::Circle {
            centre,
            radius: options.radius,
            tone,
        };
        self.hover.map(circle).into_iter().collect()
    }

    fn status(&self, context: &ToolContext<'_>) -> String {
        let options = context.options.paint;
        let chosen = options.chosen(context.scenario);
        let layer = chosen.and_then(|id| context.scenario.paint().get(&id));
        let name = layer.map_or("a new layer", |layer| &layer.name);
        let radius = options.radius;
        if options.erase {
            return format!("Drag: erase {name} within {radius:.0} m. [ and ]: brush size.");
        }
        format!("Drag: paint {name} within {radius:.0} m. [ and ]: brush size.")
    }

    fn is_busy(&self) -> bool {
        self.stroke.is_some()
    }
}
