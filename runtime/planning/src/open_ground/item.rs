//! Items on the ground: obstacles, areas and forecasts.

use super::cell::{Cell, CellSize};
use super::ground::WALL;
use super::paint::Paint;
use super::profile::{Heights, Layer, Profile};
use super::shape::{Shape, ShapeError};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, Pose};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The agent to which an item belongs. It ignores the item when it plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(pub u64);

/// Identifier of an item. The number of a removed item is reused with another generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// Effect of an item on cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// Blocks the cells where a body would overlap the obstacle. Applies only if the obstacle is
    /// between the body's ground clearance and its height.
    Obstacle(Heights),
    /// Adds to the factor of cells whose centre is inside the area.
    Area(i32),
    /// Adds to the factor of cells that a moving body will reach. The amount decreases from this value at the
    /// body to 0 at the tip of the teardrop.
    Forecast(i32),
    /// Adds to the factor of cells whose centre is inside the block, or blocks these cells like an obstacle,
    /// depending on the vehicle type.
    Painted(PaintedBlock),
}

/// A rectangle of painted cells, including the cells at both corners.
#[derive(Debug, Clone, PartialEq)]
pub struct PaintedBlock {
    /// Size of the painted cells, which may differ from the size of the map's cells.
    pub cell: CellSize,
    /// The south-western cell.
    pub low: Cell,
    /// The north-eastern cell.
    pub high: Cell,
    /// Paint of the cells.
    pub paint: Arc<VehiclePaint>,
}

impl PaintedBlock {
    /// Whether a point is inside one of the cells. Each point belongs to exactly one cell, even if it is on
    /// an edge.
    pub(super) fn contains(&self, point: DVec2) -> bool {
        let at = self.cell.nearest_cell(point);
        (self.low.x..=self.high.x).contains(&at.x) && (self.low.y..=self.high.y).contains(&at.y)
    }

    fn shape(&self) -> Shape {
        let half = DVec2::splat(0.5 * self.cell.metres());
        let low = self.cell.centre(self.low) - half;
        let high = self.cell.centre(self.high) + half;
        let (middle, size) = (0.5 * (low + high), high - low);
        Shape::Box(OrientedBox::new(
            Pose::new(middle.x, middle.y, 0.0),
            size.x,
            size.y,
        ))
    }
}

/// Paint that differs between vehicle types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VehiclePaint {
    /// Paint for vehicle types that are not listed.
    pub usual: Paint,
    /// Paint for particular vehicle types, by key.
    pub by_type: BTreeMap<String, Paint>,
}

impl VehiclePaint {
    /// Returns the paint for a vehicle type.
    fn of(&self, vehicle_type: Option<&str>) -> Paint {
        let listed = vehicle_type.and_then(|key| self.by_type.get(key));
        listed.copied().unwrap_or(self.usual)
    }
}

/// Whether an item may move from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mobility {
    /// The item does not move. Planners learn only from such items, and verdicts are based on them.
    Stands,
    /// The item moves.
    Moves,
}

/// An obstacle, area or forecast on the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Area of the item on the ground.
    pub shape: Shape,
    /// Effect of the item.
    pub role: Role,
    /// Layer to which the item belongs.
    pub layer: Layer,
    /// Whether the item may move.
    pub mobility: Mobility,
    /// Agent to which the item belongs; `None` if it belongs to no agent.
    pub owner: Option<Owner>,
}

impl Item {
    /// Creates a fixed obstacle.
    pub fn obstacle(shape: Shape, heights: Heights) -> Self {
        Self {
            shape,
            role: Role::Obstacle(heights),
            layer: Layer::Obstacles,
            mobility: Mobility::Stands,
            owner: None,
        }
    }

    /// Creates an area of a layer that costs more or less than plain ground.
    pub fn area(shape: Shape, layer: Layer, cost: i32) -> Self {
        Self {
            shape,
            role: Role::Area(cost),
            layer,
            mobility: Mobility::Stands,
            owner: None,
        }
    }

    /// Creates a block of painted cells.
    pub fn painted(block: PaintedBlock) -> Self {
        Self {
            shape: block.shape(),
            role: Role::Painted(block),
            layer: Layer::Painted,
            mobility: Mobility::Stands,
            owner: None,
        }
    }

    /// Returns the role of the item for a profile. Painted cells are an area or an obstacle, depending on the
    /// vehicle type.
    pub(super) fn role_for(&self, profile: &Profile) -> Role {
        match &self.role {
            Role::Painted(block) => match block.paint.of(profile.vehicle_type.as_deref()) {
                Paint::Cost(cost) => Role::Area(cost),
                Paint::Block => Role::Obstacle(WALL),
            },
            role => role.clone(),
        }
    }

    /// Whether a point is inside the item's area.
    pub(super) fn covers(&self, point: DVec2) -> bool {
        match &self.role {
            Role::Painted(block) => block.contains(point),
            _ => self.shape.distance(point) == 0.0,
        }
    }

    /// Whether a map can contain the item.
    pub(super) fn check(&self) -> Result<(), ShapeError> {
        self.shape.check()?;
        match self.role {
            Role::Obstacle(Heights { base, top })
                if base > top || base.is_nan() || top.is_nan() =>
            {
                Err(ShapeError::Heights)
            }
            _ => Ok(()),
        }
    }
}
