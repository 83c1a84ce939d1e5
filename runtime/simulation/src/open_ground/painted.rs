//! Converts the painted layers of a scenario to map items.

use super::fixed_items::{FixedItems, ItemSource};
use roadwright_planning::open_ground::{Cell, CellSize, Item, Paint, PaintedBlock, VehiclePaint};
use roadwright_scenario::{PaintCost, PaintId, PaintLayer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// After an edit, painted cells are replaced in squares of this edge length, in cells. Blocks of a
/// layer have the same size.
const SQUARE: i32 = 64;

/// Adds the painted layers of a scenario.
pub(super) fn add(items: &mut FixedItems, layers: &BTreeMap<PaintId, PaintLayer>) {
    for (&id, layer) in layers {
        let Some(cell) = CellSize::new(layer.cell.get()) else {
            continue;
        };
        let paint = Arc::new(VehiclePaint {
            usual: paint_of(layer.cost),
            by_type: layer
                .vehicles
                .iter()
                .map(|(key, cost)| (key.clone(), paint_of(*cost)))
                .collect(),
        });
        for block in layer.painted().blocks() {
            let corner = |[x, y]: [i32; 2]| Cell::new(x, y);
            let square = block.low.map(|at| at.div_euclid(SQUARE));
            let painted = PaintedBlock {
                cell,
                low: corner(block.low),
                high: corner(block.high),
                paint: paint.clone(),
            };
            items.add(ItemSource::Paint(id, square), Item::painted(painted));
        }
    }
}

fn paint_of(cost: PaintCost) -> Paint {
    match cost {
        PaintCost::Adds(amount) => Paint::Cost(amount),
        PaintCost::Blocks => Paint::Block,
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile_of;
    use super::*;
    use glam::DVec2;
    use roadwright_ground::Ground;
    use roadwright_planning::open_ground::{OpenGround, Profile, ProfileId, Reading};
    use roadwright_scenario::{Edit, Scenario, VehicleType};

    fn layer(cost: PaintCost) -> PaintLayer {
        let mut layer = PaintLayer::new("Shrubs", cost);
        layer.vehicles.insert("bus".into(), PaintCost::Blocks);
        layer.vehicles.insert("tank".into(), PaintCost::Adds(4));
        layer.paint([DVec2::new(-30.0, 0.5), DVec2::new(30.0, 0.5)], 8.0);
        layer
    }

    struct Map {
        map: OpenGround,
        profiles: [ProfileId; 3],
    }

    impl Map {
        fn of(scenario: &Scenario, cell: f64) -> Self {
            let mut map = FixedItems::of(&Ground::new(scenario)).map();
            let cell = CellSize::new(cell).unwrap();
            let profiles = ["car", "tank", "bus"].map(|key| {
                map.add_profile(Profile {
                    vehicle_type: Some(key.into()),
                    ..profile_of(&VehicleType::car(), cell)
                })
            });
            Self { map, profiles }
        }

        fn factors(&mut self, x: i32, y: i32) -> [u32; 3] {
            let cell = Cell::new(x, y);
            self.profiles
                .map(|id| self.map.factor(id, cell, Reading::Everything))
        }
    }

    fn painted(layer: PaintLayer) -> Scenario {
        let mut scenario = Scenario::new("paint");
        let edit = Edit::Paint(PaintId(1), Some(Box::new(layer)));
        scenario.apply(edit).unwrap();
        scenario
    }

    #[test]
    fn shrubs_slow_a_car_more_than_a_tank_and_stop_a_bus() {
        let mut map = Map::of(&painted(layer(PaintCost::Adds(32))), 1.0);
        assert_eq!(map.factors(0, 0), [48, 20, 0]);
        assert_eq!(map.factors(0, 8), [48, 20, 0]);
        // Paint that blocks is an obstacle: cells beside it are blocked for a wide vehicle.
        assert_eq!(map.factors(0, 9)[..2], [16, 16]);
        assert_eq!(map.factors(0, 9)[2], 0);
        assert_eq!(map.factors(0, 30), [16; 3]);
    }

    #[test]
    fn every_cell_of_a_coarser_or_finer_map_counts_the_paint_at_its_centre_once() {
        for (painted_cell, cell) in [(1.0, 2.0), (0.1, 0.2), (0.5, 3.0), (2.0, 0.25), (0.3, 1.0)] {
            let mut wanted = layer(PaintCost::Adds(7));
            wanted.cell = painted_cell.into();
            wanted.cells = Default::default();
            wanted.paint([DVec2::new(-9.0, -2.0), DVec2::new(6.0, 5.0)], 3.0);
            let mut map = Map::of(&painted(wanted.clone()), cell);
            let size = CellSize::new(cell).unwrap();
            for x in -60..60 {
                for y in -40..40 {
                    let is_painted = wanted.contains(size.centre(Cell::new(x, y)));
                    let expected = if is_painted { 23 } else { 16 };
                    assert_eq!(
                        map.factors(x, y)[0],
                        expected,
                        "{painted_cell} {cell} {x} {y}"
                    );
                }
            }
        }
    }
}
