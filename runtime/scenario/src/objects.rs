//! Objects beside the roads: obstacles, forests and points of interest.

mod shape_keys;

use crate::defaults::is_zero;
use crate::quantity::{
    Angle, Area, Coordinate, HeightAboveGround, Mass, OptionalQuantity, PerHectare, Quantity, Size,
    Validate, at, check_keys,
};
use glam::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{Pose, polygon};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outline of an obstacle.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A disc.
    Circle {
        /// x coordinate of the centre, m.
        x: Quantity<Coordinate>,
        /// y coordinate of the centre, m.
        y: Quantity<Coordinate>,
        /// Radius, m.
        radius: Quantity<Size>,
    },
    /// A rotated rectangle.
    Box {
        /// x coordinate of the centre, m.
        x: Quantity<Coordinate>,
        /// y coordinate of the centre, m.
        y: Quantity<Coordinate>,
        /// Heading of the box's length, rad.
        #[serde(default)]
        heading: Quantity<Angle>,
        /// Length, m.
        length: Quantity<Size>,
        /// Width, m.
        width: Quantity<Size>,
    },
    /// A simple polygon.
    Polygon {
        /// Corners in order, m; at least 3.
        points: Area,
    },
}

impl Shape {
    /// Returns the outline as a polygon. A circle becomes a polygon with 24 corners.
    pub fn outline(&self) -> Vec<DVec2> {
        match self {
            &Self::Circle { x, y, radius } => (0..24)
                .map(|i| {
                    let angle = f64::from(i) * std::f64::consts::TAU / 24.0;
                    DVec2::new(x.get(), y.get()) + radius * roadwright_geometry::unit(angle)
                })
                .collect(),
            &Self::Box {
                x,
                y,
                heading,
                length,
                width,
            } => OrientedBox::new(
                Pose::new(x.get(), y.get(), heading.get()),
                length.get(),
                width.get(),
            )
            .corners()
            .to_vec(),
            Self::Polygon { points } => points.clone().into_inner(),
        }
    }

    /// Returns a point inside or near the middle, m.
    pub fn centre(&self) -> DVec2 {
        match self {
            Self::Circle { x, y, .. } | Self::Box { x, y, .. } => DVec2::new(x.get(), y.get()),
            Self::Polygon { points } => polygon::centroid(points),
        }
    }

    /// Returns the distance from a point to the shape, m; 0 inside.
    pub fn distance(&self, point: DVec2) -> f64 {
        match self {
            Self::Circle { x, y, radius } => {
                ((point - DVec2::new(x.get(), y.get())).length() - *radius).max(0.0)
            }
            &Self::Box {
                x,
                y,
                heading,
                length,
                width,
            } => {
                let shape = OrientedBox::new(
                    Pose::new(x.get(), y.get(), heading.get()),
                    length.get(),
                    width.get(),
                );
                (shape.closest_point(point) - point).length()
            }
            Self::Polygon { points } => polygon::distance(points, point),
        }
    }
}

/// An object that blocks vehicles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// Name of the obstacle.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Outline on the ground.
    pub shape: Shape,
    /// Height of the lower edge above the ground, m; 0 if the obstacle stands on the ground. Vehicles that
    /// are low enough pass underneath.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub base: Quantity<HeightAboveGround>,
    /// Height of the top above the ground, m.
    pub height: Quantity<Size>,
    /// Mass, kg; absent if the obstacle is fixed to the ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: OptionalQuantity<Mass>,
}

/// Length and width of the bay of a [`PointOfInterest`] with a heading, m.
pub const BAY: (f64, f64) = (5.0, 2.3);

/// A named place that scripts and users refer to, such as a shop, a stop or a parking bay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointOfInterest {
    /// Name of the place.
    pub name: String,
    /// x coordinate, m.
    pub x: Quantity<Coordinate>,
    /// y coordinate, m.
    pub y: Quantity<Coordinate>,
    /// Heading of a vehicle whose centre is parked on the point, as in a parking bay, rad; absent
    /// if any heading is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: OptionalQuantity<Angle>,
}

impl PointOfInterest {
    /// Position, m.
    pub fn position(&self) -> DVec2 {
        DVec2::new(self.x.get(), self.y.get())
    }

    /// Returns the pose of the centre of a vehicle that is parked here; `None` if the point has no
    /// heading.
    pub fn parked(&self) -> Option<Pose> {
        Some(Pose {
            position: self.position(),
            heading: (*self.heading)?,
        })
    }

    /// Outline of the parking bay; `None` if the point has no heading.
    pub fn bay(&self) -> Option<OrientedBox> {
        Some(OrientedBox::new(self.parked()?, BAY.0, BAY.1))
    }
}

/// A region in which trees are scattered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Forest {
    /// Corners of the region in order, m; at least 3.
    pub area: Area,
    /// Trees per hectare before the minimum spacing is enforced.
    pub density: Quantity<PerHectare>,
    /// Minimum distance between trunks, m.
    pub spacing: Quantity<Size>,
    /// Radius of a trunk, m.
    pub trunk_radius: Quantity<Size>,
    /// Random seed. Different seeds give different forests.
    #[serde(default)]
    pub seed: u64,
}

/// Maximum number of trees in one forest.
pub(crate) const MAX_TREES: usize = 1_000_000;
/// Maximum number of candidate positions for trees in all forests together.
pub(crate) const MAX_PLACES: usize = 4_000_000;

/// A block of square cells of the world.
struct Block {
    /// Edge length of a cell, m.
    cell: f64,
    /// Position of the first cell, in cells from the origin.
    first: DVec2,
    columns: usize,
    rows: usize,
}

impl Forest {
    /// Returns the block of cells that covers the forest: the edge length of a cell (m), the
    /// position of the first cell (in cells from the origin), and the numbers of columns and rows.
    /// Each cell has at most one tree. `None` if the forest has no corners.
    fn cells(&self) -> Option<(f64, DVec2, (usize, usize))> {
        let (low, high) = polygon::bounds(&self.area)?;
        let size = high - low;
        // One tree per cell with edge length `spacing`, but at most about a million cells. Without
        // this limit, a huge forest with a tiny spacing would exhaust the memory. The second bound
        // applies to long and thin areas.
        let cell = self
            .spacing
            .max((size.element_product() / MAX_TREES as f64).sqrt())
            .max(size.max_element() / MAX_TREES as f64);
        let first = (low / cell).floor();
        let count = ((high / cell).floor() - first).max(DVec2::ZERO);
        Some((cell, first, (count.x as usize + 1, count.y as usize + 1)))
    }

    /// Number of candidate positions for trees.
    pub(crate) fn places(&self) -> usize {
        self.cells()
            .map_or(0, |(.., (columns, rows))| columns * rows)
    }

    /// Returns the positions of the trunks. They depend only on area, density, spacing and seed.
    ///
    /// Each square cell with edge length `spacing` contains at most one candidate. Some candidates
    /// are left out to match the density. A candidate that is closer to an earlier one than the
    /// spacing is dropped. O(area).
    pub fn trees(&self) -> Vec<DVec2> {
        let Some((cell, first, (columns, rows))) = self.cells() else {
            return Vec::new();
        };
        let block = Block {
            cell,
            first,
            columns,
            rows,
        };
        // The polygon test comes last, because it takes the longest.
        self.grow(&block, |tree| polygon::contains(&self.area, tree))
    }

    /// Returns the edge length of the square cells, m. Each contains at most one tree.
    pub fn cell(&self) -> f64 {
        self.cells().map_or(self.spacing.get(), |(cell, ..)| cell)
    }

    /// Returns a square sample of an endless forest with the same parameters, starting at the
    /// origin: the edge length of the square (m), and the trunks in it. O(cells²).
    pub fn sample(&self, cells: usize) -> (f64, Vec<DVec2>) {
        let cell = self.cell();
        let block = Block {
            cell,
            first: DVec2::ZERO,
            columns: cells,
            rows: cells,
        };
        (cell * cells as f64, self.grow(&block, |_| true))
    }

    /// Returns the trunks in a block of cells that `is_inside` accepts.
    fn grow(&self, block: &Block, is_inside: impl Fn(DVec2) -> bool) -> Vec<DVec2> {
        let Block {
            cell,
            first,
            columns,
            rows,
        } = *block;
        // Converts trees per hectare (1e4 m^2) to trees per cell: 400 per hectare and cells of 3 m give 0.36.
        let per_cell = (self.density * cell * cell / 1e4).min(1.0);
        let mut row_above: Vec<Option<DVec2>> = vec![None; columns];
        let mut trees = Vec::new();
        for row in 0..rows {
            let mut current: Vec<Option<DVec2>> = vec![None; columns];
            for column in 0..columns {
                let corner = first + DVec2::new(column as f64, row as f64);
                // The random stream is selected by the position of the cell, so that existing trees
                // are kept when the area grows.
                let key = ((corner.x as i64 as u64) << 32) ^ (corner.y as i64 as u64 & 0xFFFF_FFFF);
                let mut stream = Stream::new(self.seed, "forest", key);
                // All three numbers are drawn unconditionally, so that a cell's candidate does not
                // depend on its neighbours. Only the decision to keep it does.
                let keep = stream.next_unit() < per_cell;
                let tree = (corner + DVec2::new(stream.next_unit(), stream.next_unit())) * cell;
                // Cells are as wide as the spacing, so only trees in the eight neighbouring cells can be too
                // close. Four of these have already been visited. The later tree is dropped.
                //
                //   a a a     a: row above, c: this row
                //   c x .
                let neighbours = [
                    column.checked_sub(1).and_then(|c| current[c]),
                    column.checked_sub(1).and_then(|c| row_above[c]),
                    row_above[column],
                    row_above.get(column + 1).copied().flatten(),
                ];
                let clear = neighbours
                    .iter()
                    .flatten()
                    .all(|other| (*other - tree).length() >= self.spacing);
                if keep && clear && is_inside(tree) {
                    current[column] = Some(tree);
                    trees.push(tree);
                }
            }
            row_above = current;
        }
        trees
    }
}

impl Validate for Shape {
    fn validate(&self) -> Result<(), String> {
        match self {
            Self::Circle { x, y, radius } => {
                at("x", x.check())?;
                at("y", y.check())?;
                at("radius", radius.check())
            }
            Self::Box {
                x,
                y,
                heading,
                length,
                width,
            } => {
                at("x", x.check())?;
                at("y", y.check())?;
                at("heading", heading.check())?;
                at("length", length.check())?;
                at("width", width.check())
            }
            Self::Polygon { points } => at("points", points.check()),
        }
    }
}

impl Validate for Obstacle {
    fn validate(&self) -> Result<(), String> {
        self.shape.validate()?;
        check_keys!(self => base, height, mass)
    }
}

impl Validate for PointOfInterest {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => x, y, heading)
    }
}

impl Validate for Forest {
    fn validate(&self) -> Result<(), String> {
        check_keys!(self => area, density, spacing, trunk_radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forest(density: f64) -> Forest {
        Forest {
            area: ([(0.0, 0.0), (100.0, 0.0), (100.0, 100.0), (0.0, 100.0)]
                .map(DVec2::from)
                .to_vec())
            .into(),
            density: density.into(),
            spacing: 3.0.into(),
            trunk_radius: 0.2.into(),
            seed: 4,
        }
    }

    #[test]
    fn trees_keep_their_distance_and_their_region() {
        let trees = forest(400.0).trees();
        assert!(trees.len() > 150 && trees.len() < 400, "{}", trees.len());
        for (i, a) in trees.iter().enumerate() {
            assert!(polygon::contains(&forest(1.0).area, *a));
            assert!(trees[..i].iter().all(|b| (*a - *b).length() >= 3.0));
        }
        assert_eq!(trees, forest(400.0).trees());
    }

    #[test]
    fn distances_to_shapes_are_zero_inside() {
        let circle = Shape::Circle {
            x: 1.0.into(),
            y: 0.0.into(),
            radius: 2.0.into(),
        };
        assert_eq!(circle.distance(DVec2::new(4.0, 0.0)), 1.0);
        assert_eq!(circle.distance(DVec2::ZERO), 0.0);
        let square = Shape::Box {
            x: 0.0.into(),
            y: 0.0.into(),
            heading: 0.0.into(),
            length: 2.0.into(),
            width: 2.0.into(),
        };
        assert_eq!(square.distance(DVec2::new(3.0, 0.0)), 2.0);
        assert_eq!(square.outline().len(), 4);
    }
}
