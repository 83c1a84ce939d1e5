//! Map items of open ground that depend only on the scenario.

use super::{cost_layers, painted};
use roadwright_geometry::DVec2;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_ground::{Ground, Owner};
use roadwright_planning::open_ground::{CARRIAGEWAY, Item, Layer, OpenGround, PLAIN, Shape};
use roadwright_scenario::{ForestId, LandId, LaneletIndex, ObstacleId, PaintId};
use std::collections::BTreeMap;

/// Maximum length of a piece of lane that forms one item, m. The bounding box of a longer piece
/// would cover many tiles that the piece itself does not touch.
const PIECE: f64 = 24.0;

/// Object of a scenario that is represented by items on the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemSource {
    /// An obstacle.
    Obstacle(ObstacleId),
    /// A tree, by its forest and its number in the forest.
    Tree(ForestId, u32),
    /// A lane or a connection at ground level.
    Lane(LaneletIndex),
    /// Steep ground in one row of the terrain, counted from the south.
    Slope(u32),
    /// An area of water or of paved ground.
    Land(LandId),
    /// A slippery piece of road, by its number.
    Slippery(u32),
    /// A square of a painted layer, by its column and row.
    Paint(PaintId, [i32; 2]),
}

/// The map items of a scenario, by the objects that they represent.
///
/// Loose obstacles are at their initial positions. A running world moves their items
/// ([`Layer::Loose`]). Lanes on bridges and in tunnels are left out.
///
/// ```
/// use roadwright_planning::open_ground::{Cell, CellSize, Reading};
/// use roadwright_scenario::{Scenario, VehicleType};
/// use roadwright_simulation::{FixedItems, Ground, profile_of};
///
/// let ground = Ground::new(&Scenario::new("empty"));
/// let mut map = FixedItems::of(&ground).map();
/// let jeep = map.add_profile(profile_of(&VehicleType::willys_mb(), CellSize::WAY_POINTS));
/// assert_eq!(map.factor(jeep, Cell::new(0, 0), Reading::Everything), 16);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FixedItems(pub BTreeMap<ItemSource, Vec<Item>>);

impl FixedItems {
    /// Creates the items of a ground. O(obstacles + trees + total lane length).
    pub fn of(ground: &Ground) -> Self {
        let mut items = Self::default();
        ground.obstacles().for_each_upright(|upright| {
            let source = match upright.owner {
                Owner::Obstacle(id) => ItemSource::Obstacle(id),
                Owner::Tree(forest, number) => ItemSource::Tree(forest, number),
            };
            let layer = match (source, upright.is_loose) {
                (ItemSource::Tree(..), _) => Layer::Trees,
                (_, true) => Layer::Loose,
                (_, false) => Layer::Obstacles,
            };
            items.add(
                source,
                Item {
                    layer,
                    ..Item::obstacle(upright.shape, upright.heights)
                },
            );
        });
        for (id, lanelet) in ground.graph().numbered() {
            // Lanes on bridges and in tunnels do not affect vehicles on the ground.
            if lanelet.layer == 0 {
                add_lane(&mut items, id, ground.graph().line(id), lanelet.width);
            }
        }
        cost_layers::add(&mut items, ground);
        painted::add(&mut items, ground.paint());
        items
    }

    pub(super) fn add(&mut self, source: ItemSource, item: Item) {
        self.0.entry(source).or_default().push(item);
    }

    /// Creates a map with only these items. Shapes that a map cannot hold are left out.
    pub fn map(&self) -> OpenGround {
        let mut map = OpenGround::new();
        for item in self.0.values().flatten() {
            // A shape is rejected if it is not finite, or lies where no vehicle can drive.
            let _ = map.insert(item.clone());
        }
        map
    }
}

/// Adds the surface of a lane as pieces that share their edges, so that each cell of the lane lies
/// in exactly one piece.
fn add_lane(items: &mut FixedItems, id: LaneletIndex, line: CentreLine<'_>, width: f64) {
    let poses = line.poses();
    let stride = (PIECE / line.spacing()).floor().max(1.0) as usize;
    let last = poses.len() - 1;
    let mut at = 0;
    while at < last {
        let end = (at + stride).min(last);
        let piece = &poses[at..=end];
        let left = piece.iter().map(|pose| pose.point(0.0, 0.5 * width));
        let right = piece.iter().rev().map(|pose| pose.point(0.0, -0.5 * width));
        let corners: Vec<DVec2> = right.chain(left).collect();
        let area = Item::area(Shape::polygon(&corners), Layer::Roads, CARRIAGEWAY - PLAIN);
        items.add(ItemSource::Lane(id), area);
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{draw_street, put_post, street};
    use roadwright_planning::open_ground::{Cell, CellSize, Reading};
    use roadwright_scenario::{Scenario, Shape as Drawn, VehicleType};

    #[test]
    fn obstacles_block_and_carriageways_cost_four_times_as_much() {
        let mut scenario = Scenario::new("map");
        put_post(
            &mut scenario,
            Drawn::Box {
                x: 20.0.into(),
                y: 40.0.into(),
                heading: 0.0.into(),
                length: 10.0.into(),
                width: 2.0.into(),
            },
        );
        draw_street(&mut scenario, (0.0, 0.0), (100.0, 0.0), &street(1, 1));
        let ground = Ground::new(&scenario);
        let mut map = FixedItems::of(&ground).map();
        let jeep = VehicleType::willys_mb();
        let jeep = map.add_profile(super::super::profile_of(&jeep, CellSize::WAY_POINTS));
        let mut factor = |x, y| map.factor(jeep, Cell::new(x, y), Reading::Everything);
        assert_eq!(factor(20, 40), 0);
        assert_eq!(factor(20, 60), 16);
        for x in 5..95 {
            assert_eq!(
                (factor(x, 1), factor(x, -2), factor(x, 9)),
                (64, 64, 16),
                "{x}"
            );
        }
    }
}
