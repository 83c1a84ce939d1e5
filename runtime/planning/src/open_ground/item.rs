//! Items on the ground: obstacles, areas and forecasts.

use super::profile::{Heights, Layer};
use super::shape::{Shape, ShapeError};

/// The agent to which an item belongs. It ignores the item when it plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(pub u64);

/// Identifier of an item. Numbers of removed items are reused with another generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// Effect of an item on cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// Blocks cells in which a body would overlap it, if it is between the body's ground clearance and
    /// height.
    Obstacle(Heights),
    /// Adds to the factor of cells whose centre lies in it.
    Area(i32),
    /// Adds to the factor of cells that a moving body will reach. The amount decreases from this value at the
    /// body to 0 at the tip of the teardrop.
    Forecast(i32),
}

/// Whether an item may move from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mobility {
    /// It stands still. Planners learn from standing items, and verdicts are based on them.
    Stands,
    /// It moves.
    Moves,
}

/// An obstacle, area or forecast on the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its area on the ground.
    pub shape: Shape,
    /// Its effect.
    pub role: Role,
    /// The layer to which it belongs.
    pub layer: Layer,
    /// Whether it moves.
    pub mobility: Mobility,
    /// The agent to which it belongs.
    pub owner: Option<Owner>,
}

impl Item {
    /// A fixed obstacle.
    pub fn obstacle(shape: Shape, heights: Heights) -> Self {
        Self {
            shape,
            role: Role::Obstacle(heights),
            layer: Layer::Obstacles,
            mobility: Mobility::Stands,
            owner: None,
        }
    }

    /// An area of a layer that costs more or less than plain ground.
    pub fn area(shape: Shape, layer: Layer, cost: i32) -> Self {
        Self {
            shape,
            role: Role::Area(cost),
            layer,
            mobility: Mobility::Stands,
            owner: None,
        }
    }

    /// Whether maps can hold the item.
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
