//! Cost layers of open ground: slopes, water, paved and slippery ground.
//!
//! The layers make cells more expensive but never block them, so that a vehicle on such cells can
//! still leave.

use super::fixed_items::{FixedItems, ItemSource};
use super::pieces::cut;
use crate::slope_cost::{WATER_COST, slope_cost};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_geometry::{DVec2, HeightField, Pose};
use roadwright_ground::Ground;
use roadwright_planning::open_ground::{Item, Layer, PLAIN, SMALLEST_FACTOR, Shape};
use roadwright_scenario::LandUse;

/// Slopes are computed for at most this many terrain squares. Finer terrain is read in blocks, each
/// as steep as its steepest sample.
const MOST_SQUARES: usize = 40_000;

/// Adds the cost layers of a ground.
pub(super) fn add(items: &mut FixedItems, ground: &Ground) {
    if let Some(field) = ground.slopes() {
        add_slopes(items, field);
    }
    for (&id, land) in ground.land() {
        let (layer, cost) = match land.usage {
            LandUse::Water => (Layer::Water, WATER_COST),
            LandUse::Paved => (Layer::Roads, SMALLEST_FACTOR as i32 - PLAIN),
            _ => continue,
        };
        let rings: Vec<&[DVec2]> = land.rings().map(Vec::as_slice).collect();
        for piece in cut(&rings) {
            let area = Item::area(Shape::polygon(&piece), layer, cost);
            items.add(ItemSource::Land(id), area);
        }
    }
    if let Some(map) = ground.known_grip() {
        let open = map.grip().open_ground.get();
        for ((outline, grip), number) in map.ground_pieces().zip(0..) {
            // Grip above that of open ground does not make vehicles faster there, so only lower
            // grip counts.
            let cost = (f64::from(PLAIN) * (open / grip - 1.0)).round() as i32;
            if cost > 0 {
                let area = Item::area(Shape::polygon(outline), Layer::Grip, cost);
                items.add(ItemSource::Slippery(number), area);
            }
        }
    }
}

/// Adds steep ground. Each row of the terrain is divided into runs of equal cost.
fn add_slopes(items: &mut FixedItems, field: &HeightField) {
    let squares = [field.columns(), field.rows()].map(|samples| samples.saturating_sub(1));
    let [columns, rows] = squares;
    let mut stride = 1;
    while columns.div_ceil(stride) * rows.div_ceil(stride) > MOST_SQUARES {
        stride *= 2;
    }
    for (row, number) in (0..rows).step_by(stride).zip(0..) {
        let mut run = Run::default();
        for column in (0..columns).step_by(stride) {
            let block = Block {
                column,
                row,
                stride,
            };
            let cost = slope_cost(block.steepness(field));
            if cost != run.cost {
                run.finish(items, field, block, number);
                run = Run { column, cost };
            }
        }
        let end = Block {
            column: columns,
            row,
            stride,
        };
        run.finish(items, field, end, number);
    }
}

/// Slopes are measured over this distance, m. It is about the length of a vehicle.
const BASE: f64 = 4.0;

/// Block of terrain squares that are read as one square. It is identified by its south-western
/// square.
#[derive(Debug, Clone, Copy)]
struct Block {
    column: usize,
    row: usize,
    stride: usize,
}

impl Block {
    /// Steepness of the steepest square, as rise over run. It is measured over [`BASE`]. Bumps that
    /// a vehicle can roll over therefore do not count as slopes.
    fn steepness(self, field: &HeightField) -> f64 {
        let columns = self.column..(self.column + self.stride).min(field.columns() - 1);
        let rows = self.row..(self.row + self.stride).min(field.rows() - 1);
        let squares = rows.flat_map(|row| columns.clone().map(move |column| (column, row)));
        let height = |column: usize, row: usize| field.heights()[row * field.columns() + column];
        let reach = (BASE / field.spacing()).round().max(1.0) as usize;
        let around = |at: usize, count: usize| {
            let low = at.saturating_sub((reach - 1) / 2);
            low..(at + 1 + reach / 2).min(count - 1)
        };
        let slope = |low: f64, high: f64, steps: usize| {
            (high - low).abs() / (steps as f64 * field.spacing())
        };
        let steepness = squares.map(|(column, row)| {
            let (along, across) = (around(column, field.columns()), around(row, field.rows()));
            let x = [row, row + 1].map(|row| {
                slope(
                    height(along.start, row),
                    height(along.end, row),
                    along.len(),
                )
            });
            let y = [column, column + 1].map(|column| {
                slope(
                    height(column, across.start),
                    height(column, across.end),
                    across.len(),
                )
            });
            DVec2::new(x[0].max(x[1]), y[0].max(y[1])).length()
        });
        steepness.fold(0.0, f64::max)
    }
}

/// Consecutive squares of a row that have the same cost.
#[derive(Debug, Default)]
struct Run {
    column: usize,
    cost: i32,
}

impl Run {
    /// Adds the run as an item. It ends before block `end`.
    fn finish(&self, items: &mut FixedItems, field: &HeightField, end: Block, number: u32) {
        if self.cost == 0 {
            return;
        }
        let top = (end.row + end.stride).min(field.rows() - 1);
        let low = field.position(self.column, end.row);
        let high = field.position(end.column, top);
        let (middle, size) = (0.5 * (low + high), high - low);
        let shape = OrientedBox::new(Pose::new(middle.x, middle.y, 0.0), size.x, size.y);
        let area = Item::area(Shape::Box(shape), Layer::Slope, self.cost);
        items.add(ItemSource::Slope(number), area);
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile_of;
    use super::*;
    use crate::testing::{draw_street, street};
    use roadwright_planning::open_ground::{Cell, CellSize, OpenGround, ProfileId, Reading};
    use roadwright_scenario::{Edit, GroundGrip, Land, LandId, Scenario, VehicleType};

    struct Map {
        map: OpenGround,
        car: ProfileId,
    }

    impl Map {
        fn of(scenario: &Scenario, kind: &VehicleType) -> Self {
            let mut map = FixedItems::of(&Ground::new(scenario)).map();
            let car = map.add_profile(profile_of(kind, CellSize::WAY_POINTS));
            Self { map, car }
        }

        fn factor(&mut self, x: i32, y: i32) -> u32 {
            self.map
                .factor(self.car, Cell::new(x, y), Reading::Everything)
        }
    }

    fn area(usage: LandUse, low: f64, high: f64) -> Land {
        let corners = [(low, low), (high, low), (high, high), (low, high)];
        Land {
            name: String::new(),
            usage,
            outline: corners.map(DVec2::from).to_vec().into(),
            holes: Vec::new().into(),
        }
    }

    #[test]
    fn water_is_a_last_resort_and_paved_ground_is_cheap() {
        let mut scenario = Scenario::new("shore");
        for (id, land) in [
            (1, area(LandUse::Water, 0.0, 100.0)),
            (2, area(LandUse::Paved, -50.0, -10.0)),
            (3, area(LandUse::Grass, 120.0, 150.0)),
        ] {
            let edit = Edit::Land(LandId(id), Some(Box::new(land)));
            scenario.apply(edit).unwrap();
        }
        let mut map = Map::of(&scenario, &VehicleType::car());
        assert_eq!(map.factor(50, 50), 1024);
        // Cells on both sides of a seam between pieces.
        assert_eq!((map.factor(63, 63), map.factor(64, 64)), (1024, 1024));
        assert_eq!((map.factor(-20, -20), map.factor(130, 130)), (8, 16));
    }

    #[test]
    fn slopes_cost_more_for_what_accelerates_less() {
        let mut scenario = Scenario::new("slope");
        let flat = HeightField::level(DVec2::ZERO, DVec2::splat(100.0), 10.0).unwrap();
        let columns = flat.columns();
        // Level in the west, a ramp of 25 % in the east, and a cliff in the north.
        let heights = (0..flat.heights().len()).map(|sample| {
            let (x, y) = (sample % columns, sample / columns);
            let ramp = 2.5 * x.saturating_sub(5) as f64;
            ramp + if y == columns - 1 { 20.0 } else { 0.0 }
        });
        let field = flat.with_heights(heights.collect()).unwrap();
        let edit = Edit::Terrain(Some(Box::new(field)));
        scenario.apply(edit).unwrap();
        let settings = roadwright_scenario::Settings {
            slopes: true,
            ..scenario.settings()
        };
        scenario.apply(Edit::Settings(settings)).unwrap();
        let mut car = Map::of(&scenario, &VehicleType::car());
        assert_eq!((car.factor(20, 20), car.factor(70, 20)), (16, 32));
        assert_eq!(car.factor(20, 95), 1024);
        let slow = VehicleType {
            max_acceleration: 1.3.into(),
            ..VehicleType::car()
        };
        let mut slow = Map::of(&scenario, &slow);
        // A vehicle that accelerates slowly cannot climb the ramp.
        assert_eq!((slow.factor(20, 20), slow.factor(70, 20)), (16, 1024));
    }

    #[test]
    fn slippery_roads_cost_more_where_drivers_see_it() {
        let mut scenario = Scenario::new("ice");
        draw_street(&mut scenario, (0.0, 0.0), (100.0, 0.0), &street(1, 1));
        let mut with = |hidden: bool| {
            let class = |share: f64| share.into();
            let grip = GroundGrip {
                open_ground: class(0.6),
                residential: class(0.2),
                collector: class(0.2),
                arterial: class(0.2),
                hidden,
                ..GroundGrip::default()
            };
            let settings = roadwright_scenario::Settings {
                grip,
                ..scenario.settings()
            };
            scenario.apply(Edit::Settings(settings)).unwrap();
            Map::of(&scenario, &VehicleType::car()).factor(50, 1)
        };
        assert_eq!((with(false), with(true)), (64 + 32, 64));
    }
}
