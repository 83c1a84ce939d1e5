//! The paint tool. It paints layers of cells that planners over open ground avoid, prefer or must
//! not enter.

use super::brush::{self, Brush};
use super::outline::{self, OutlinePen};
use super::{Effect, Mark, PaintOptions, PaintShape, Tool, ToolContext, ToolEvent};
use roadwright_geometry::DVec2;
use roadwright_scenario::{Edit, MAX_PAINT_CORNERS, PaintCost, PaintId, PaintLayer, Scenario};

/// A stroke in progress.
pub(super) struct Stroke {
    id: PaintId,
    last: DVec2,
    /// The layer including the current stroke.
    layer: PaintLayer,
    /// Whether the stroke makes a new layer.
    is_new: bool,
}

/// The paint tool: a brush, and a pen for outlines.
#[derive(Default)]
pub(super) struct PaintTool {
    brush: Brush<Stroke>,
    pen: OutlinePen,
}

impl PaintTool {
    /// Paints or erases the area inside an outline, or explains why that is impossible.
    fn fill(outline: Vec<DVec2>, context: &ToolContext<'_>) -> Vec<Effect> {
        let Picked {
            id,
            mut layer,
            is_new,
        } = Picked::of(context);
        let erases = context.options.paint.erase;
        // A layer that does not exist yet contains nothing to erase.
        if erases && is_new {
            return Vec::new();
        }
        let corners: usize = layer.outlines.iter().map(|area| area.len()).sum();
        let most = MAX_PAINT_CORNERS.saturating_sub(corners);
        let outline = match outline::checked(outline, most) {
            Ok(outline) => outline,
            Err(why) => return vec![Effect::Refuse(why)],
        };
        let label = if erases {
            layer.erase_area(&outline);
            "Erase painted area"
        } else {
            layer.paint_area(outline);
            "Paint area"
        };
        let edit = Edit::Paint(id, Some(Box::new(layer)));
        vec![Effect::Apply(label.into(), edit)]
    }

    fn draws_outline(context: &ToolContext<'_>) -> bool {
        context.options.paint.shape == PaintShape::Outline
    }
}

impl Tool for PaintTool {
    fn event(&mut self, event: ToolEvent, context: &ToolContext<'_>) -> Vec<Effect> {
        // A stroke in progress keeps its mode until it ends.
        if self.brush.is_busy() || !Self::draws_outline(context) {
            return self.brush.event(event, context);
        }
        let finished = self.pen.event(event, context);
        finished.map_or_else(Vec::new, |outline| Self::fill(outline, context))
    }

    fn marks(&self, context: &ToolContext<'_>) -> Vec<Mark> {
        match Self::draws_outline(context) {
            true => self.pen.marks(),
            false => self.brush.marks(context),
        }
    }

    fn status(&self, context: &ToolContext<'_>) -> String {
        if !Self::draws_outline(context) {
            return self.brush.status(context);
        }
        let verb = match context.options.paint.erase {
            true => "erase",
            false => "paint",
        };
        let name = layer_name(context);
        format!("Draw an outline to {verb} {name}. {}", outline::STATUS)
    }

    fn is_busy(&self) -> bool {
        self.brush.is_busy() || self.pen.is_busy()
    }
}

/// The layer to paint on.
struct Picked {
    id: PaintId,
    layer: PaintLayer,
    /// Whether the scenario does not have the layer yet.
    is_new: bool,
}

impl Picked {
    fn of(context: &ToolContext<'_>) -> Self {
        let scenario = context.scenario;
        let chosen = context.options.paint.chosen(scenario);
        let known = chosen.and_then(|id| Some((id, scenario.paint().get(&id)?.clone())));
        let is_new = known.is_none();
        let (id, layer) =
            known.unwrap_or_else(|| (scenario.next_paint_id(), new_paint_layer(scenario)));
        Self { id, layer, is_new }
    }
}

/// Returns the name of the layer to paint on, for the status line.
fn layer_name<'a>(context: &ToolContext<'a>) -> &'a str {
    let chosen = context.options.paint.chosen(context.scenario);
    let layer = chosen.and_then(|id| context.scenario.paint().get(&id));
    layer.map_or("a new layer", |layer| &layer.name)
}

impl PaintOptions {
    /// Returns the layer to paint on: the chosen layer, or else the newest one. `None` if the
    /// scenario has no layers.
    pub fn chosen(&self, scenario: &Scenario) -> Option<PaintId> {
        let layers = scenario.paint();
        let chosen = self.layer.filter(|id| layers.contains_key(id));
        chosen.or_else(|| layers.keys().next_back().copied())
    }
}

/// Creates a layer with the default cost and an unused name.
pub fn new_paint_layer(scenario: &Scenario) -> PaintLayer {
    /// Cost of a new layer. Ground with this cost is three times as expensive as plain ground.
    const COST: PaintCost = PaintCost::Adds(32);
    let is_taken = |name: &str| scenario.paint().values().any(|layer| layer.name == name);
    let numbered = (1..).map(|number| format!("Paint {number}"));
    let mut free = numbered.filter(|name| !is_taken(name));
    PaintLayer::new(free.next().unwrap_or_default(), COST)
}

impl brush::Stroke for Stroke {
    fn begin(at: DVec2, context: &ToolContext<'_>) -> Result<Self, String> {
        let Picked { id, layer, is_new } = Picked::of(context);
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
        let name = layer_name(context);
        let radius = options.radius;
        if options.erase {
            return format!("Drag: erase {name} within {radius:.0} m. [ and ]: brush size.");
        }
        format!("Drag: paint {name} within {radius:.0} m. [ and ]: brush size.")
    }
}
