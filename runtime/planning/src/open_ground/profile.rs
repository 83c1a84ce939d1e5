//! For whom a map is made: a vehicle's body, how obstacles are grown, and what layers cost it.

use super::cell::CellSize;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};

/// Dimensions of a vehicle with its load and trailers, or of a character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Length, m.
    pub length: f64,
    /// Width, m.
    pub width: f64,
    /// Height of the tallest part above the ground, m.
    pub height: f64,
    /// Height below which it drives over things, m.
    pub ground_clearance: f64,
}

impl Body {
    /// The outline around a pose of its centre.
    pub fn footprint(&self, pose: Pose) -> OrientedBox {
        OrientedBox::new(pose, self.length, self.width)
    }

    /// Radius of the circle around its centre that holds it, m.
    pub fn circumscribed_radius(&self) -> f64 {
        0.5 * DVec2::new(self.length, self.width).length()
    }
}

/// By how much obstacles are grown, so that a body may be planned for as a point.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Growth {
    /// Half of the width: for vehicles that follow the path.
    #[default]
    HalfWidth,
    /// The radius of the circle that holds the body: for bodies that turn on the spot.
    Circumscribed,
    /// The body itself at a heading, rad.
    Footprint(f64),
}

/// Between what the growth is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// From the outline of the obstacle to the centre of the cell: what is closer than the growth is
    /// blocked.
    #[default]
    Outline,
    /// From the centre of each occupied cell to the centre of the cell, as in [Kuffner 1998]: what is as
    /// close as the growth, or closer, is blocked.
    Cells,
}

/// When an obstacle occupies a cell that it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Occupied {
    /// If anything of it lies in the cell, as in [Kuffner 1998]. The only rule for a verdict that there
    /// is no path.
    #[default]
    Anything,
    /// If more than half of the cell lies in it, as in [Gerdelan 2011]. Walls that lie half in each of
    /// two rows of cells vanish.
    Most,
}

/// Subject of a cost layer. Layers slow and stop vehicle types differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Fixed obstacles.
    Obstacles,
    /// Loose ones, where they lie now.
    Loose,
    /// Trees and shrubs.
    Trees,
    /// Standing vehicles and trailers.
    Standing,
    /// Steep ground.
    Slope,
    /// Slippery ground.
    Grip,
    /// Water.
    Water,
    /// Carriageways and other paved ground.
    Roads,
    /// Where moving bodies will be.
    Forecast,
    /// Cells painted by people.
    Painted,
    /// Cells filled by scripts and plugins.
    Modules,
}

impl Layer {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Obstacles,
        Self::Loose,
        Self::Trees,
        Self::Standing,
        Self::Slope,
        Self::Grip,
        Self::Water,
        Self::Roads,
        Self::Forecast,
        Self::Painted,
        Self::Modules,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Obstacles => "obstacles",
            Self::Loose => "loose",
            Self::Trees => "trees",
            Self::Standing => "standing",
            Self::Slope => "slope",
            Self::Grip => "grip",
            Self::Water => "water",
            Self::Roads => "roads",
            Self::Forecast => "forecast",
            Self::Painted => "painted",
            Self::Modules => "modules",
        }
    }
}

/// Effect of a layer on a vehicle type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Obstacles block, and areas add what they say.
    AsItIs,
    /// Costs are multiplied by thousandths, and nothing blocks: shrubs slow a tank.
    Slows(i32),
    /// Every cell of an area is blocked: shrubs stop a car.
    Stops,
    /// The layer is ignored.
    Nothing,
}

/// Costs around obstacles, added to the factors of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObstacleCosts {
    /// How closely vehicles keep to their path, m. Cells that are no farther from a grown obstacle
    /// cost more.
    pub tracking_margin: f64,
    /// Their extra cost.
    pub margin_cost: i32,
    /// Where the cost of being close to a grown obstacle has fallen to nothing, m.
    pub clearance: f64,
    /// That cost at the grown obstacle. It keeps paths in the middle.
    pub clearance_cost: i32,
    /// Cost of cells from which the body would drive over something low.
    pub low_cost: i32,
}

impl Default for ObstacleCosts {
    fn default() -> Self {
        Self {
            tracking_margin: 0.3,
            margin_cost: 16,
            clearance: 2.0,
            clearance_cost: 16,
            low_cost: 16,
        }
    }
}

impl ObstacleCosts {
    /// Obstacles block cells and cost nothing beyond, as in [Kuffner 1998].
    pub const NONE: Self = Self {
        tracking_margin: 0.0,
        margin_cost: 0,
        clearance: 0.0,
        clearance_cost: 0,
        low_cost: 0,
    };
}

/// All that a map depends on beside what lies on the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The body that plans.
    pub body: Body,
    /// Size of cells.
    pub cell: CellSize,
    /// Growth of obstacles.
    pub growth: Growth,
    /// How the growth is measured.
    pub measure: Measure,
    /// When a cell is occupied.
    pub occupied: Occupied,
    /// Costs around obstacles.
    pub costs: ObstacleCosts,
    /// Effects of layers on the vehicle type; layers without an entry are [`Effect::AsItIs`].
    pub effects: Vec<LayerEffect>,
}

/// Effect of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerEffect {
    /// The layer.
    pub layer: Layer,
    /// Its effect.
    pub effect: Effect,
}

impl Profile {
    /// A profile with the defaults for a body.
    pub fn new(body: Body, cell: CellSize) -> Self {
        Self {
            body,
            cell,
            growth: Growth::default(),
            measure: Measure::default(),
            occupied: Occupied::default(),
            costs: ObstacleCosts::default(),
            effects: Vec::new(),
        }
    }

    /// Effect of a layer on the vehicle type.
    pub fn effect(&self, layer: Layer) -> Effect {
        let named = self.effects.iter().find(|named| named.layer == layer);
        named.map_or(Effect::AsItIs, |named| named.effect)
    }

    /// Distance from the outline of an obstacle below which a body collides, m. For the oriented
    /// footprint it is the shortest, half of the width.
    pub fn growth_radius(&self) -> f64 {
        match self.growth {
            Growth::HalfWidth | Growth::Footprint(_) => 0.5 * self.body.width,
            Growth::Circumscribed => self.body.circumscribed_radius(),
        }
    }

    /// Distance from the outline of an obstacle beyond which it has no effect on a cell's centre, m.
    pub(super) fn reach(&self) -> f64 {
        let blocked = match self.growth {
            Growth::Footprint(_) => self.body.circumscribed_radius(),
            Growth::HalfWidth | Growth::Circumscribed => self.growth_radius(),
        };
        let costly = self.costs.tracking_margin.max(self.costs.clearance);
        let diagonal = self.cell.metres() * std::f64::consts::SQRT_2;
        blocked.max(self.growth_radius() + costly) + diagonal
    }

    /// Whether the body would collide with something between two heights.
    pub(super) fn is_in_the_way(&self, heights: Heights) -> bool {
        heights.top > self.body.ground_clearance && heights.base < self.body.height
    }

    /// Whether the body drives over something between two heights.
    pub(super) fn is_driven_over(&self, heights: Heights) -> bool {
        heights.top <= self.body.ground_clearance && heights.top > 0.0
    }
}

/// Lower edge and top of an obstacle above the ground below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heights {
    /// Lower edge, m.
    pub base: f64,
    /// Top, m.
    pub top: f64,
}

impl Heights {
    /// From the ground up to a height, m.
    pub fn up_to(top: f64) -> Self {
        Self { base: 0.0, top }
    }
}
