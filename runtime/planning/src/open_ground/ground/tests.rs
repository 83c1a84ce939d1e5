//! Compares updated tiles with tiles computed from scratch.

use super::*;
use crate::open_ground::item::{PaintedBlock, VehiclePaint};
use crate::open_ground::profile::{Body, Effect, Growth, Layer, LayerEffect, Measure, Occupied};
use crate::open_ground::shape::{Circle, Shape, Teardrop};
use proptest::prelude::*;
use roadwright_geometry::Pose;

const JEEP: Body = Body {
    length: 3.34,
    width: 1.57,
    height: 1.59,
    ground_clearance: 0.2,
};

fn wall20() -> Item {
    let wall = OrientedBox::new(Pose::new(0.0, 0.0, 0.0), 1.0, 20.0);
    Item::obstacle(Shape::Box(wall), Heights::up_to(3.0))
}

fn is_blocked(profile: Profile, item: Item, x: f64, y: f64) -> bool {
    let mut ground = OpenGround::new();
    let size = profile.cell;
    let id = ground.add_profile(profile);
    ground.insert(item).unwrap();
    let cell = size.cell_of(DVec2::new(x, y)).unwrap();
    ground.factor(id, cell, Reading::Everything) == 0
}

#[test]
fn obstacles_are_grown_from_their_outline() {
    let profile = Profile::new(JEEP, CellSize::HEADINGS);
    // The wall ends at 0.5 m, and half of the width is 0.785 m.
    for (x, expected) in [(0.25, true), (0.75, true), (1.25, true), (1.75, false)] {
        assert_eq!(
            is_blocked(profile.clone(), wall20(), x, 0.1),
            expected,
            "{x}"
        );
    }
    let turning = Profile {
        growth: Growth::Circumscribed,
        ..profile.clone()
    };
    // The radius is 1.85 m.
    assert!(is_blocked(turning.clone(), wall20(), 2.25, 0.1));
    assert!(!is_blocked(turning, wall20(), 2.75, 0.1));
    let along = Profile {
        growth: Growth::Footprint(0.0),
        ..profile.clone()
    };
    // The front is 1.67 m ahead of the centre.
    assert!(is_blocked(along.clone(), wall20(), 1.75, 0.1));
    assert!(!is_blocked(along, wall20(), 2.25, 0.1));
}

#[test]
fn a_wall_half_in_each_of_two_rows_vanishes_where_most_is_asked_for() {
    let anything = Profile::new(JEEP, CellSize::WAY_POINTS);
    let most = Profile {
        occupied: Occupied::Most,
        measure: Measure::Cells,
        ..anything.clone()
    };
    assert!(is_blocked(anything.clone(), wall20(), 0.5, 0.5));
    assert!(!is_blocked(most, wall20(), 0.5, 0.5));
    let cells = Profile {
        measure: Measure::Cells,
        ..anything
    };
    // 0.785 m is less than a cell, so only the two rows themselves are blocked.
    assert!(is_blocked(cells.clone(), wall20(), 0.5, 0.5));
    assert!(!is_blocked(cells, wall20(), 1.5, 0.5));
}

#[test]
fn low_obstacles_are_driven_over_and_high_ones_passed_underneath() {
    let profile = Profile::new(JEEP, CellSize::WAY_POINTS);
    let with = |base, top| Item {
        role: Role::Obstacle(Heights { base, top }),
        ..wall20()
    };
    assert!(!is_blocked(profile.clone(), with(1.6, 3.0), 0.5, 0.5));
    assert!(is_blocked(profile.clone(), with(1.5, 3.0), 0.5, 0.5));
    assert!(!is_blocked(profile.clone(), with(0.0, 0.15), 0.5, 0.5));
    let mut ground = OpenGround::new();
    let id = ground.add_profile(profile);
    ground.insert(with(0.0, 0.15)).unwrap();
    let factor = ground.factor(id, Cell::new(0, 0), Reading::Everything);
    assert_eq!(factor, 32);
}

#[test]
fn layers_slow_and_stop_vehicle_types_differently() {
    let shrubs = |layer| {
        let circle = Circle {
            centre: DVec2::new(0.5, 0.5),
            radius: 3.0,
        };
        Item::area(Shape::Circle(circle), layer, 40)
    };
    let factor = |effect| {
        let mut ground = OpenGround::new();
        let mut profile = Profile::new(JEEP, CellSize::WAY_POINTS);
        profile.effects = [LayerEffect {
            layer: Layer::Trees,
            effect,
        }]
        .into();
        let id = ground.add_profile(profile);
        ground.insert(shrubs(Layer::Trees)).unwrap();
        ground.factor(id, Cell::new(0, 0), Reading::Everything)
    };
    assert_eq!(factor(Effect::AsItIs), 56);
    assert_eq!(factor(Effect::Slows(500)), 36);
    assert_eq!(factor(Effect::Stops), 0);
    assert_eq!(factor(Effect::Nothing), 16);
}

#[test]
fn an_owner_does_not_see_its_own_items() {
    let mut ground = OpenGround::new();
    let id = ground.add_profile(Profile::new(JEEP, CellSize::WAY_POINTS));
    let drop = Teardrop {
        pose: Pose::new(0.0, 0.0, 0.3),
        length: 20.0,
        half_width: 0.8,
    };
    let body = OrientedBox::new(drop.pose, 3.34, 1.57);
    let own = |shape, role, layer| Item {
        shape,
        role,
        layer,
        mobility: Mobility::Moves,
        owner: Some(Owner(7)),
    };
    let plain = wall20();
    ground.insert(plain).unwrap();
    let window = Window {
        origin: Cell::new(-40, -40),
        columns: 80,
        rows: 80,
    };
    let before = ground
        .window(id, None, Reading::Everything, window)
        .unwrap();
    let role = Role::Forecast(64);
    ground
        .insert(own(Shape::Teardrop(drop), role, Layer::Forecast))
        .unwrap();
    let role = Role::Obstacle(Heights::up_to(1.5));
    ground
        .insert(own(Shape::Box(body), role, Layer::Standing))
        .unwrap();
    let factors = |map: &GridMap| map.cells().map(|c| map.factor_at(c)).collect::<Vec<_>>();
    let seen = |ground: &mut OpenGround, owner, reading| {
        factors(&ground.window(id, owner, reading, window).unwrap())
    };
    let before = factors(&before);
    assert_eq!(
        seen(&mut ground, Some(Owner(7)), Reading::Everything),
        before
    );
    assert_eq!(seen(&mut ground, None, Reading::Standing), before);
    assert_ne!(
        seen(&mut ground, Some(Owner(8)), Reading::Everything),
        before
    );
}

#[test]
fn tiles_are_dropped_and_come_back_the_same() {
    let mut ground = OpenGround::with_memory(4 * TILE_BYTES);
    let id = ground.add_profile(Profile::new(JEEP, CellSize::WAY_POINTS));
    ground.insert(wall20()).unwrap();
    let first = ground.tile(id, TileKey { y: 0, x: 0 }).standing.clone();
    for x in 0..40 {
        ground.tile(id, TileKey { y: 3, x });
        assert!(ground.kept_tiles() <= 4);
    }
    assert_eq!(ground.tile(id, TileKey { y: 0, x: 0 }).standing, first);
}

#[test]
fn the_smallest_factor_is_that_of_paved_ground_while_there_is_some() {
    let mut ground = OpenGround::new();
    let id = ground.add_profile(Profile::new(JEEP, CellSize::WAY_POINTS));
    assert_eq!(ground.smallest_factor(id), 16);
    let yard = OrientedBox::new(Pose::new(200.0, 0.0, 0.4), 30.0, 20.0);
    let yard = ground
        .insert(Item::area(Shape::Box(yard), Layer::Roads, -4))
        .unwrap();
    assert_eq!(ground.smallest_factor(id), 12);
    ground.remove(yard);
    assert_eq!(ground.smallest_factor(id), 16);
    ground.paint(
        1,
        CellSize::WAY_POINTS,
        Cell::new(500, 3),
        Paint::Cost(-100),
    );
    assert_eq!(ground.smallest_factor(id), 8);
    ground.paint(1, CellSize::WAY_POINTS, Cell::new(500, 3), Paint::Cost(0));
    assert_eq!(ground.smallest_factor(id), 16);
}

#[test]
fn changes_tell_what_has_risen_and_fallen() {
    let mut ground = OpenGround::new();
    ground.add_profile(Profile::new(JEEP, CellSize::WAY_POINTS));
    let here = Bounds {
        low: DVec2::splat(-5.0),
        high: DVec2::splat(5.0),
    };
    let there = Bounds {
        low: DVec2::splat(100.0),
        high: DVec2::splat(110.0),
    };
    let start = ground.stamp();
    let wall = ground.insert(wall20()).unwrap();
    assert_eq!(
        ground.change_since(start, &here, Reading::Standing),
        Change::Rose
    );
    assert_eq!(
        ground.change_since(start, &there, Reading::Standing),
        Change::Unchanged
    );
    let stamp = ground.stamp();
    ground.remove(wall);
    assert_eq!(
        ground.change_since(stamp, &here, Reading::Standing),
        Change::Fell
    );
}

#[test]
fn large_extents_double_the_cells() {
    let extent = Bounds {
        low: DVec2::ZERO,
        high: DVec2::splat(20_000.0),
    };
    let fitting = fitting_cell_size(extent, CellSize::WAY_POINTS, TILE_MEMORY);
    assert!(fitting.doublings > 0);
    let small = Bounds {
        high: DVec2::splat(500.0),
        ..extent
    };
    assert_eq!(
        fitting_cell_size(small, CellSize::WAY_POINTS, TILE_MEMORY).doublings,
        0
    );
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let place = || (-60.0..60.0f64, -60.0..60.0f64);
    prop_oneof![
        (place(), -3.0..3.0f64, 0.1..25.0f64, 0.1..6.0f64).prop_map(|((x, y), h, l, w)| {
            Shape::Box(OrientedBox::new(Pose::new(x, y, h), l, w))
        }),
        (place(), 0.0..5.0f64).prop_map(|((x, y), radius)| Shape::Circle(Circle {
            centre: DVec2::new(x, y),
            radius,
        })),
        (place(), 1.0..9.0f64, 0.2..4.0f64).prop_map(|((x, y), a, b)| {
            let corners = [(0.0, 0.0), (a, 0.0), (a, a), (b * 0.2, b), (0.0, a)];
            Shape::polygon(&corners.map(|(u, v)| DVec2::new(x + u, y + v)))
        }),
        (place(), -3.0..3.0f64, 0.0..40.0f64).prop_map(|((x, y), heading, length)| {
            Shape::Teardrop(Teardrop {
                pose: Pose::new(x, y, heading),
                length,
                half_width: 0.9,
            })
        }),
    ]
}

fn any_item() -> impl Strategy<Value = Item> {
    let heights = (0.0..2.0f64, 0.0..2.0f64).prop_map(|(a, b)| Heights {
        base: a.min(b),
        top: a.max(b),
    });
    let layer = prop::sample::select(Layer::ALL.to_vec());
    let owner = prop::option::of((0..3u64).prop_map(Owner));
    (
        any_shape(),
        heights,
        -20..60i32,
        layer,
        owner,
        any::<bool>(),
    )
        .prop_map(|(shape, heights, cost, layer, owner, moves)| {
            let role = match &shape {
                Shape::Teardrop(_) => Role::Forecast(cost.abs()),
                _ if cost % 3 == 0 => Role::Area(cost),
                _ => Role::Obstacle(heights),
            };
            let mobility = if moves || matches!(role, Role::Forecast(_)) {
                Mobility::Moves
            } else {
                Mobility::Stands
            };
            Item {
                shape,
                role,
                layer,
                mobility,
                owner,
            }
        })
}

#[derive(Debug, Clone)]
enum Deed {
    Insert(Item),
    Remove(usize),
    Replace(usize, Shape),
    Paint(i32, i32, i32),
    /// A block of cells of a painted layer.
    Block([i32; 4], i32),
    Read(i32, i32),
}

fn any_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => any_item().prop_map(Deed::Insert),
        1 => any::<usize>().prop_map(Deed::Remove),
        2 => (any::<usize>(), any_shape()).prop_map(|(at, shape)| Deed::Replace(at, shape)),
        2 => (prop::array::uniform4(0..90i32), -9..30i32)
            .prop_map(|(corners, cost)| Deed::Block(corners, cost)),
        1 => (-70..70i32, -70..70i32, -9..9i32).prop_map(|(x, y, cost)| Deed::Paint(x, y, cost)),
        3 => (-2..2i32, -2..2i32).prop_map(|(x, y)| Deed::Read(x, y)),
    ]
}

fn profiles() -> Vec<Profile> {
    let plain = Profile::new(JEEP, CellSize::WAY_POINTS);
    vec![
        Profile {
            growth: Growth::Footprint(0.7),
            ..plain.clone()
        },
        Profile {
            vehicle_type: Some("tank".into()),
            ..plain.clone()
        },
        Profile {
            growth: Growth::Circumscribed,
            occupied: Occupied::Most,
            measure: Measure::Cells,
            effects: [LayerEffect {
                layer: Layer::Trees,
                effect: Effect::Slows(700),
            }]
            .into(),
            ..plain.clone()
        },
        plain,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn updated_tiles_equal_tiles_from_nothing(deeds in prop::collection::vec(any_deed(), 1..30)) {
        let mut ground = OpenGround::with_memory(20 * TILE_BYTES);
        let ids: Vec<ProfileId> = profiles().into_iter().map(|p| ground.add_profile(p)).collect();
        let mut items = Vec::new();
        for deed in deeds {
            match deed {
                Deed::Insert(item) => items.push(ground.insert(item).unwrap()),
                Deed::Remove(at) if !items.is_empty() => {
                    let id = items.swap_remove(at % items.len());
                    prop_assert!(ground.remove(id).is_some());
                    prop_assert!(ground.remove(id).is_none());
                }
                Deed::Replace(at, shape) if !items.is_empty() => {
                    let id = items[at % items.len()];
                    let before = ground.item(id).unwrap().clone();
                    if matches!(before.role, Role::Painted(_)) {
                        continue;
                    }
                    ground.replace(id, Item { shape, ..before }).unwrap();
                }
                Deed::Block([x, y, columns, rows], cost) => {
                    let low = Cell::new(x - 45, y - 45);
                    let block = PaintedBlock {
                        cell: CellSize::HEADINGS,
                        low,
                        high: Cell::new(low.x + columns, low.y + rows),
                        paint: VehiclePaint {
                            usual: Paint::Cost(cost),
                            by_type: [("tank".into(), Paint::Block)].into(),
                        }
                        .into(),
                    };
                    items.push(ground.insert(Item::painted(block)).unwrap());
                }
                Deed::Paint(x, y, cost) => {
                    let paint = if cost == 5 { Paint::Block } else { Paint::Cost(cost) };
                    ground.paint(0, CellSize::HEADINGS, Cell::new(x, y), paint);
                }
                Deed::Read(x, y) => {
                    for &id in &ids {
                        ground.tile(id, TileKey { y, x });
                    }
                }
                Deed::Remove(_) | Deed::Replace(..) => {}
            }
        }
        for &id in &ids {
            let smallest = ground.smallest_factor(id);
            for (y, x) in (-2..2).flat_map(|y| (-2..2).map(move |x| (y, x))) {
                let key = TileKey { y, x };
                let new = ground.make(id, key);
                let kept = ground.tile(id, key);
                prop_assert_eq!(&kept.standing, &new.standing);
                let none = Sums::new();
                let sums = |tile: &Tile| tile.moving.as_deref().unwrap_or(&none).clone();
                prop_assert_eq!(sums(kept), sums(&new));
                for owner in [None, Some(Owner(1))] {
                    let mut least = u32::MAX;
                    ground.read_tile(id, key, owner, Reading::Everything, |factor| {
                        if factor > 0 {
                            least = least.min(factor);
                        }
                    });
                    prop_assert!(least >= smallest, "{} {}", least, smallest);
                }
            }
        }
    }
}
