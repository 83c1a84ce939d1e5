//! Painting ground: layers of cells that planners over open ground avoid, prefer or must not enter.

use super::brush::{self, Brush};
use super::{Effect, Mark, PaintOptions, ToolContext};
use roadwright_geometry::DVec2;
use roadwright_scenario::{Edit, PaintCost, PaintId, PaintLayer, Scenario};

/// A stroke in progress.
pub(super) struct Stroke {
    id: PaintId,
    last: DVec2,
    /// The layer with the stroke so far.
    layer: PaintLayer,
    /// Whether the stroke makes a new layer.
    is_new: bool,
}

/// The paint tool.
pub(super) type PaintTool = Brush<Stroke>;

impl PaintOptions {
    /// Returns the layer that the brush paints in: the chosen one, or else the newest. `None` if the scenario has no
    /// layer.
    pub fn chosen(&self, scenario: &Scenario) -> Option<PaintId> {
        let layers = scenario.paint();
        let chosen = self.layer.filter(|id| layers.contains_key(id));
        chosen.or_else(|| layers.keys().next_back().copied())
    }
}

/// Creates a layer with the default cost and an unused name.
pub fn new_paint_layer(scenario: &Scenario) -> PaintLayer {
    /// Three times the cost of plain ground.
    const COST: PaintCost = PaintCost::Adds(32);
    let is_taken = |name: &str| scenario.paint().values().any(|layer| layer.name == name);
    let numbered = (1..).map(|number| format!("Paint {number}"));
    let mut free = numbered.filter(|name| !is_taken(name));
    PaintLayer::new(free.next().unwrap_or_default(), COST)
}

impl brush::Stroke for Stroke {
    fn begin(at: DVec2, context: &ToolContext<'_>) -> Result<Self, String> {
        let scenario = context.scenario;
        let chosen = context.options.paint.chosen(scenario);
        let known = chosen.and_then(|id| Some((id, scenario.paint().get(&id)?.clone())));
        let is_new = known.is_none();
        let (id, layer) =
            known.unwrap_or_else(|| (scenario.next_paint_id(), new_paint_layer(scenario)));
        Ok(Self {
            id,
            last: at,
            layer,
            is_new,
        })
    }

    fn dab(&mut self, at: DVec2, context: &ToolContext<'_>) -> Vec<Effect> {
        let options = context.options.paint;
        let stretch = [self.last, at];
        self.last = at;
        // A layer that does not exist yet contains nothing to erase.
        if options.erase && self.is_new {
            return Vec::new();
        }
        let label = if options.erase {
            self.layer.erase(stretch, options.radius);
            "Erase paint"
        } else {
            self.layer.paint(stretch, options.radius);
            "Paint ground"
        };
        let layer = Some(Box::new(self.layer.clone()));
        vec![Effect::Preview(label.into(), Edit::Paint(self.id, layer))]
    }

    fn marks(at: DVec2, context: &ToolContext<'_>) -> Vec<Mark> {
        let options = context.options.paint;
        vec![brush::circle(at, options.radius, options.erase)]
    }

    fn status(context: &ToolContext<'_>) -> String {
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
}
