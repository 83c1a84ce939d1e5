//! An office with people on foot.

use super::builder::{Builder, named, trip};
use roadwright_geometry::DVec2;
use roadwright_scenario::{
    Agent, DrivingSide, Edit, Obstacle, Place, Scenario, Settings, Shape, Stack, VehicleType,
};

/// Thickness of walls, m.
const WALL: f64 = 0.16;
/// Length by which the two walls at the corners reach beyond them, m.
const OUTER: f64 = 0.5 * WALL;
/// The same for walls that end at another wall, short of it by a centimetre.
const INNER: f64 = -0.5 * WALL - 0.01;
/// Height of walls, m.
const WALL_HEIGHT: f64 = 2.6;
/// Width of doors, m.
const DOOR: f64 = 1.2;
/// Length of the office, m.
const LENGTH: f64 = 24.0;
/// Depth of the office, m.
const DEPTH: f64 = 14.0;

/// An office of 24 x 14 m: a corridor with seven rooms, whose doors are 1.2 m wide, and twelve people.
pub(crate) fn office_people() -> Scenario {
    let mut b = Builder::new(
        "office-people",
        "An office: twelve people walk from room to room, through doors where only one fits at a time.",
        DrivingSide::Right,
    );
    b.apply(Edit::Settings(Settings {
        dt: 0.02.into(),
        seed: 1,
        duration: 90.0.into(),
        ..Settings::default()
    }));
    let person = VehicleType::person();
    b.apply(Edit::VehicleType("person".into(), Some(Box::new(person))));
    b.stack("on_foot", Stack::on_foot());
    // Outer walls.
    let (right, top) = (LENGTH, DEPTH);
    wall(&mut b, (0.0, 0.0), (right, 0.0), OUTER, &[]);
    wall(&mut b, (0.0, top), (right, top), OUTER, &[]);
    wall(&mut b, (0.0, 0.0), (0.0, top), INNER, &[]);
    wall(&mut b, (right, 0.0), (right, top), INNER, &[]);
    // The corridor, with the doors of four rooms to the north and three to the south.
    wall(
        &mut b,
        (0.0, 8.0),
        (right, 8.0),
        INNER,
        &[3.0, 9.0, 15.0, 21.0],
    );
    wall(&mut b, (0.0, 6.0), (right, 6.0), INNER, &[4.0, 10.0, 16.5]);
    for x in [6.0, 12.0, 18.0] {
        wall(&mut b, (x, 8.0), (x, top), INNER, &[]);
    }
    for x in [6.0, 12.0] {
        wall(&mut b, (x, 0.0), (x, 6.0), INNER, &[]);
    }
    for (x, y) in [
        (1.6, 12.6),
        (7.6, 12.6),
        (13.6, 12.6),
        (19.6, 12.6),
        (1.6, 1.4),
        (7.6, 1.4),
    ] {
        desk(&mut b, x, y);
    }
    // The table of the meeting room.
    desk(&mut b, 18.0, 2.6);
    desk(&mut b, 19.6, 2.6);
    for (number, ((x, y), (to_x, to_y), depart)) in WALKS.into_iter().enumerate() {
        let walk = trip(
            "person",
            "on_foot",
            Place::ground(x, y, 0.0),
            Place::ground(to_x, to_y, 0.0),
            depart,
        );
        let walk: Agent = named(&format!("Person {}", number + 1), walk);
        b.agent(walk);
    }
    b.scenario
}

/// A walk: start, destination, and time of departure, s.
type Walk = ((f64, f64), (f64, f64), f64);

/// Half of the people go to the meeting room, where others come from, and some exchange rooms.
const WALKS: [Walk; 12] = [
    ((1.2, 10.6), (16.0, 1.2), 0.0),
    ((4.6, 11.0), (20.6, 4.4), 0.0),
    ((7.4, 10.4), (22.4, 1.4), 0.0),
    ((10.6, 11.2), (14.0, 4.2), 0.0),
    ((13.4, 10.6), (3.0, 3.6), 0.0),
    ((16.6, 11.4), (8.6, 4.0), 0.0),
    ((19.6, 10.4), (1.2, 3.2), 0.0),
    ((22.4, 11.0), (10.6, 2.4), 0.0),
    ((16.6, 4.4), (16.4, 10.4), 1.0),
    ((22.4, 4.0), (4.4, 10.2), 0.0),
    ((3.6, 3.4), (21.4, 10.2), 0.0),
    ((9.4, 3.4), (9.6, 10.2), 2.0),
];

/// Adds a wall from one point to another, parallel to an axis, with doors whose middles lie at the given coordinates
/// along it. It reaches `beyond` metres beyond both points.
fn wall(b: &mut Builder, from: (f64, f64), to: (f64, f64), beyond: f64, doors: &[f64]) {
    let (from, to) = (DVec2::from(from), DVec2::from(to));
    let along = (to - from).normalize_or_zero();
    let begin = from.dot(along) - beyond;
    let end = to.dot(along) + beyond;
    let mut at = begin;
    let ends = doors
        .iter()
        .map(|door| (door - 0.5 * DOOR, door + 0.5 * DOOR));
    for (left, right) in ends.chain([(end, end)]) {
        let middle = from + along * (0.5 * (at + left) - from.dot(along));
        slab(b, "wall", middle, along, [left - at, WALL, WALL_HEIGHT]);
        at = right;
    }
}

fn desk(b: &mut Builder, x: f64, y: f64) {
    slab(b, "desk", DVec2::new(x, y), DVec2::X, [1.6, 0.8, 0.75]);
}

/// Adds a box with its length along a direction; sizes are length, width and height, m.
fn slab(b: &mut Builder, name: &str, middle: DVec2, along: DVec2, sizes: [f64; 3]) {
    let [length, width, height] = sizes.map(|size: f64| (size * 100.0).round() / 100.0);
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    b.obstacle(Obstacle {
        name: name.into(),
        shape: Shape::Box {
            x: rounded(middle.x).into(),
            y: rounded(middle.y).into(),
            heading: if along.y == 0.0 { 0.0 } else { 1.5708 }.into(),
            length: length.into(),
            width: width.into(),
        },
        base: 0.0.into(),
        height: height.into(),
        mass: None.into(),
    });
}
