//! Profiles of maps: a vehicle's body, the growth of obstacles, and the effects of layers on the vehicle.

use super::cell::CellSize;
use roadwright_agent::GroundPlanning;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use std::sync::Arc;

/// Dimensions of a vehicle, including its load and trailers, or of a character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Length, m.
    pub length: f64,
    /// Width, m.
    pub width: f64,
    /// Height of the tallest part above the ground, m.
    pub height: f64,
    /// Height of the highest obstacle that the body can drive over, m.
    pub ground_clearance: f64,
}

impl Body {
    /// Outline of the body when its centre is at `pose`.
    pub fn footprint(&self, pose: Pose) -> OrientedBox {
        OrientedBox::new(pose, self.length, self.width)
    }

    /// Radius of the circumscribed circle, m.
    pub fn circumscribed_radius(&self) -> f64 {
        0.5 * DVec2::new(self.length, self.width).length()
    }
}

/// Distance by which obstacles are grown, so that a planner can treat the body as a point.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Growth {
    /// Half the width, for vehicles that follow their path.
    #[default]
    HalfWidth,
    /// Radius of the circumscribed circle, for bodies that turn in place.
    Circumscribed,
    /// The outline of the body at this heading, rad.
    Footprint(f64),
}

/// Points between which the growth is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// From the outline of the obstacle to the centre of a cell. Cells closer than the growth are blocked.
    #[default]
    Outline,
    /// From the centre of each occupied cell to the centre of another cell, as in [Kuffner 1998]. Cells no
    /// farther away than the growth are blocked.
    Cells,
}

/// Condition under which an obstacle occupies a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Occupied {
    /// Any part of the obstacle is inside the cell, as in [Kuffner 1998]. A verdict that there is no path is
    /// possible only with this rule.
    #[default]
    Anything,
    /// The obstacle covers more than half of the cell, as in [Gerdelan 2011]. A wall that straddles two rows
    /// of cells evenly occupies no cell.
    Most,
}

/// Layer of costs on the map. Each layer can have a different effect on each vehicle type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Fixed obstacles.
    Obstacles,
    /// Loose obstacles at their current positions.
    Loose,
    /// Trees and shrubs.
    Trees,
    /// Stationary vehicles and trailers.
    Standing,
    /// Steep ground.
    Slope,
    /// Slippery ground.
    Grip,
    /// Water.
    Water,
    /// Carriageways and other paved ground.
    Roads,
    /// Forecasts of moving bodies.
    Forecast,
    /// Characters on foot.
    Characters,
    /// Cells painted by users.
    Painted,
    /// Cells filled by scripts and plugins.
    Modules,
}

impl Layer {
    /// All layers.
    pub const ALL: [Self; 12] = [
        Self::Obstacles,
        Self::Loose,
        Self::Trees,
        Self::Standing,
        Self::Slope,
        Self::Grip,
        Self::Water,
        Self::Roads,
        Self::Forecast,
        Self::Characters,
        Self::Painted,
        Self::Modules,
    ];

    /// Name of the layer in files.
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
            Self::Characters => "characters",
            Self::Painted => "painted",
            Self::Modules => "modules",
        }
    }
}

/// Effect of a layer on a vehicle type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Obstacles block, and areas add their full cost.
    AsItIs,
    /// Multiplies costs by this factor, in thousandths. Obstacles of the layer do not block cells.
    /// For example, shrubs only slow a tank.
    Slows(i32),
    /// Like `Slows`, but areas that cost more than a limit cost at least as much as water. For
    /// example, a vehicle cannot climb steep slopes.
    SlowsUpTo {
        /// Factor that is applied to the cost, in thousandths.
        thousandths: i32,
        /// Largest cost of an area that the vehicle type can cross.
        limit: i32,
    },
    /// Every cell of an area is blocked. For example, shrubs stop a car.
    Stops,
    /// The layer is ignored.
    Nothing,
}

/// Costs around obstacles, added to the factors of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObstacleCosts {
    /// Width of the strip around grown obstacles in which cells cost more, m. It equals the expected
    /// deviation of vehicles from their paths.
    pub tracking_margin: f64,
    /// Extra cost of cells within the margin.
    pub margin_cost: i32,
    /// Distance from a grown obstacle at which the cost of proximity falls to 0, m.
    pub clearance: f64,
    /// Cost of proximity at the edge of the grown obstacle. It keeps paths in the middle of gaps.
    pub clearance_cost: i32,
    /// Extra cost of cells where the body drives over a low obstacle.
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

impl From<&GroundPlanning> for ObstacleCosts {
    fn from(planning: &GroundPlanning) -> Self {
        Self {
            tracking_margin: planning.tracking_margin,
            clearance: planning.clearance,
            ..Self::default()
        }
    }
}

impl ObstacleCosts {
    /// Costs for obstacles that only block cells, as in [Kuffner 1998].
    pub const NONE: Self = Self {
        tracking_margin: 0.0,
        margin_cost: 0,
        clearance: 0.0,
        clearance_cost: 0,
        low_cost: 0,
    };
}

/// Properties that determine a map, apart from the items on the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The body to plan for.
    pub body: Body,
    /// Key of the vehicle type, by which painted layers distinguish vehicle types. `None` for no particular
    /// type.
    pub vehicle_type: Option<Arc<str>>,
    /// Size of cells.
    pub cell: CellSize,
    /// Growth of obstacles.
    pub growth: Growth,
    /// Clearance of paths: obstacles are grown by this additional distance, m.
    pub room: f64,
    /// Points between which the growth is measured.
    pub measure: Measure,
    /// Condition under which an obstacle occupies a cell.
    pub occupied: Occupied,
    /// Costs around obstacles.
    pub costs: ObstacleCosts,
    /// Effects of layers on the vehicle type. Layers without an entry are [`Effect::AsItIs`]. Shared by all
    /// profiles of the vehicle type.
    pub effects: Arc<[LayerEffect]>,
}

/// Effect of one layer on a vehicle type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerEffect {
    /// Layer to which the effect applies.
    pub layer: Layer,
    /// Effect of the layer.
    pub effect: Effect,
}

impl Profile {
    /// Creates a profile with the default settings for a body.
    pub fn new(body: Body, cell: CellSize) -> Self {
        Self {
            body,
            vehicle_type: None,
            cell,
            growth: Growth::default(),
            room: 0.0,
            measure: Measure::default(),
            occupied: Occupied::default(),
            costs: ObstacleCosts::default(),
            effects: Arc::default(),
        }
    }

    /// Effect of a layer on the vehicle type.
    pub fn effect(&self, layer: Layer) -> Effect {
        let named = self.effects.iter().find(|named| named.layer == layer);
        named.map_or(Effect::AsItIs, |named| named.effect)
    }

    /// Radius by which obstacles are inflated for this body, m. For the oriented footprint, this is
    /// half the width, which is the minimum over all headings.
    pub fn growth_radius(&self) -> f64 {
        let body = match self.growth {
            Growth::HalfWidth | Growth::Footprint(_) => 0.5 * self.body.width,
            Growth::Circumscribed => self.body.circumscribed_radius(),
        };
        body + self.room
    }

    /// Maximum distance between the outline of an obstacle and the centres of the cells that it
    /// affects, m.
    pub(super) fn reach(&self) -> f64 {
        let blocked = match self.growth {
            Growth::Footprint(_) => self.body.circumscribed_radius(),
            Growth::HalfWidth | Growth::Circumscribed => self.growth_radius(),
        };
        let costly = self.costs.tracking_margin.max(self.costs.clearance);
        let diagonal = self.cell.metres() * std::f64::consts::SQRT_2;
        blocked.max(self.growth_radius() + costly) + diagonal
    }

    /// Whether the body would collide with an obstacle of these heights.
    pub(super) fn is_in_the_way(&self, heights: Heights) -> bool {
        heights.top > self.body.ground_clearance && heights.base < self.body.height
    }

    /// Whether the body drives over an obstacle of these heights.
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
    /// Heights from the ground up to `top`, m.
    pub fn up_to(top: f64) -> Self {
        Self { base: 0.0, top }
    }
}
