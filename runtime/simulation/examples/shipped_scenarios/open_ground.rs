//! Places without lanes: a maze, an office, a town of blocks without streets, and open country.

use super::builder::{Builder, named, trip};
use roadwright_geometry::math::{Stream, exp};
use roadwright_geometry::{DVec2, HeightField, heading_of};
use roadwright_planning::open_ground::samples::{self, WorldBox};
use roadwright_scenario::{
    DrivingSide, Edit, LandUse, ModuleSetting, Obstacle, Place, Scenario, Settings, Shape, Stack,
    VehicleType,
};
use std::f64::consts::{FRAC_PI_2, PI};

/// Edge of the maze, m: 15 rooms, with corridors of 6 m between their walls.
const MAZE: f64 = 100.0;
/// Distance between the middles of rooms of the maze, m.
const ROOM: f64 = MAZE / 15.0;

/// A jeep in a maze. Its corridors are too narrow to turn round, so dead ends are left in reverse.
pub(crate) fn maze() -> Scenario {
    let mut b = Builder::new(
        "maze",
        "A jeep finds its way through a maze. Its corridors of 6 m are too narrow to turn round in one go.",
        DrivingSide::Right,
    );
    settings(&mut b, 11, 240.0);
    boxes(&mut b, &samples::maze(MAZE, 5).boxes, 2.5);
    b.stack("fuzzy_driver", off_road());
    let room = |column: f64, row: f64| DVec2::new(column + 0.5, row + 0.5) * ROOM;
    let (from, to) = (room(0.0, 0.0), room(14.0, 14.0));
    let start = Place::ground(from.x, from.y, 0.0);
    let goal = Place::ground(to.x, to.y, 0.0);
    b.agent(trip("willys_mb", "fuzzy_driver", start, goal, 0.0));
    b.scenario
}

/// Carts that carry things from room to room.
pub(crate) fn office() -> Scenario {
    let mut b = Builder::new(
        "office",
        "Carts of 0.6 by 0.5 m drive between the rooms of an office, around tables and cabinets, through doors of 1.2 m.",
        DrivingSide::Right,
    );
    settings(&mut b, 12, 120.0);
    let world = samples::office(3);
    boxes(&mut b, &world.boxes, 1.8);
    b.apply(Edit::VehicleType("cart".into(), Some(Box::new(cart()))));
    b.stack("fuzzy_driver", indoors("fuzzy_driver"));
    b.stack("pursuit", indoors("pursuit"));
    let free = |column, row| free_place(&world.boxes, [column, row]);
    for (number, (stack, from, to)) in [
        ("fuzzy_driver", free(0, 0), free(4, 3)),
        ("fuzzy_driver", free(5, 1), free(1, 4)),
        ("pursuit", free(2, 5), free(3, 1)),
    ]
    .into_iter()
    .enumerate()
    {
        let heading = heading_of(to - from);
        let start = Place::ground(from.x, from.y, heading);
        let goal = Place::ground(to.x, to.y, heading);
        let agent = trip("cart", stack, start, goal, 4.0 * number as f64);
        b.agent(named("cart", agent));
    }
    b.scenario
}

/// The place nearest to the middle of an office room where a cart can turn round.
fn free_place(boxes: &[WorldBox], [column, row]: [u32; 2]) -> DVec2 {
    let middle = DVec2::new(f64::from(column) + 0.5, f64::from(row) + 0.5) * 4.5;
    let places = (0..400).map(|number| {
        let angle = 2.4 * f64::from(number);
        middle + 0.1 * f64::from(number).sqrt() * roadwright_geometry::unit(angle)
    });
    let is_free = |place: &DVec2| {
        let mut outlines = boxes.iter().map(|one| one.outline);
        outlines.all(|outline| outline.circle_penetration(*place, 0.7) == 0.0)
    };
    places.into_iter().find(is_free).unwrap_or(middle)
}

/// A fuzzy driver that uses the full steering lock of its vehicle, as in the other shipped scenarios without
/// lanes.
fn off_road() -> Stack {
    Stack {
        controller: ModuleSetting::new("fuzzy_driver")
            .with("avoid_steering_gain", 2.5)
            .with("route_steering_gain", 2.0),
        ..Stack::with_controller("fuzzy_driver")
    }
}

/// A cart for indoor use. It can turn round in less than its own length.
fn cart() -> VehicleType {
    VehicleType {
        name: "Cart".into(),
        length: 0.6.into(),
        width: 0.5.into(),
        height: 1.0.into(),
        wheelbase: 0.4.into(),
        rear_overhang: 0.1.into(),
        mass: 60.0.into(),
        max_speed: 1.5.into(),
        max_acceleration: 0.8.into(),
        max_braking: 2.0.into(),
        max_steering: 1.1.into(),
        steering_rate: 2.5.into(),
        off_road: roadwright_scenario::OffRoad::default(),
        file: None,
    }
}

/// A stack for indoor use. Its planner uses small cells, and its margin around the path is small.
fn indoors(controller: &str) -> Stack {
    Stack {
        ground_planner: Some(
            ModuleSetting::new("hybrid_fuzzy_path")
                .with("cell", 0.2)
                .with("tracking_margin", 0.05)
                .with("clearance", 0.4)
                .with("near", 0.5),
        ),
        ..Stack::with_controller(controller)
    }
}

/// Blocks of houses in a grid without streets, some joined by walls, and crates between them.
pub(crate) fn obstacle_town() -> Scenario {
    let mut b = Builder::new(
        "obstacle-town",
        "Cars drive between the houses of a town that has no lanes; walls close some of the gaps, and crates stand in others.",
        DrivingSide::Right,
    );
    settings(&mut b, 13, 180.0);
    let mut stream = Stream::new(13, "blocks", 0);
    for row in 0..BLOCKS {
        for column in 0..BLOCKS {
            block(&mut b, [column, row], &mut stream);
        }
    }
    b.stack("fuzzy_driver", off_road());
    b.stack("idm", Stack::with_controller("idm"));
    let edge = 0.5 * f64::from(BLOCKS) * PITCH + 8.0;
    for (stack, from, to) in [
        ("fuzzy_driver", (-edge, -edge), (edge, edge)),
        ("fuzzy_driver", (edge, -edge), (-edge, edge)),
        ("idm", (-edge, 0.0), (edge, 12.0)),
        ("fuzzy_driver", (12.0, edge), (0.0, -edge)),
    ] {
        let (from, to) = (DVec2::from(from), DVec2::from(to));
        let heading = heading_of(to - from);
        let start = Place::ground(from.x, from.y, heading);
        let goal = Place::ground(to.x, to.y, heading);
        b.agent(trip("car", stack, start, goal, 0.0));
    }
    b.scenario
}

/// Number of blocks along each edge of the town, and the distance between their middles, m.
const BLOCKS: u32 = 6;
const PITCH: f64 = 30.0;
/// Height of houses and of walls, m.
const HOUSE: f64 = 7.0;
const WALL: f64 = 2.0;

/// A block: a house, perhaps a wall to the next house in the north or east, and a crate beside it.
fn block(b: &mut Builder, [column, row]: [u32; 2], stream: &mut Stream) {
    let along = |number: u32| (f64::from(number) - 0.5 * f64::from(BLOCKS - 1)) * PITCH;
    let middle = DVec2::new(along(column), along(row));
    let (length, width) = (stream.next_in(13.0, 19.0), stream.next_in(13.0, 19.0));
    let turned = stream.next_in(-0.1, 0.1);
    b.obstacle(solid(
        "house",
        middle,
        turned,
        DVec2::new(length, width),
        HOUSE,
    ));
    let closes = stream.next_index(4);
    let thin = DVec2::new(PITCH - 14.0, 0.4);
    if closes == 0 && column + 1 < BLOCKS {
        let at = middle + DVec2::new(0.5 * PITCH, 0.0);
        b.obstacle(solid("wall", at, 0.0, thin, WALL));
    }
    if closes == 1 && row + 1 < BLOCKS {
        let at = middle + DVec2::new(0.0, 0.5 * PITCH);
        b.obstacle(solid("wall", at, FRAC_PI_2, thin, WALL));
    }
    let beside = DVec2::new(
        0.5 * PITCH + stream.next_in(-2.0, 2.0),
        0.5 * PITCH + stream.next_in(-2.0, 2.0),
    );
    let crate_size = DVec2::splat(stream.next_in(1.0, 2.0));
    let turned = stream.next_in(0.0, FRAC_PI_2);
    b.obstacle(solid("crate", middle + beside, turned, crate_size, 1.2));
}

/// Hills, woods, ponds and rocks, which jeeps cross in all directions.
pub(crate) fn hill_country_drive() -> Scenario {
    let mut b = Builder::new(
        "hill-country-drive",
        "Jeeps cross a country of hills, woods, ponds and rocks, each to another corner.",
        DrivingSide::Right,
    );
    settings(&mut b, 14, 180.0);
    b.apply(Edit::Terrain(Some(Box::new(hills()))));
    for (name, middle, radius) in [
        ("Mill Pond", DVec2::new(-60.0, 30.0), 28.0),
        ("Long Pond", DVec2::new(70.0, -55.0), 34.0),
    ] {
        b.land(LandUse::Water, name, &ring(middle, radius));
        // The bank that keeps vehicles out of the water.
        for corner in ring(middle, radius) {
            b.obstacle(stone("bank", DVec2::from(corner), 2.2));
        }
    }
    for (number, area) in [
        [
            (-130.0, -110.0),
            (-60.0, -120.0),
            (-50.0, -60.0),
            (-120.0, -50.0),
        ],
        [(30.0, 40.0), (100.0, 30.0), (110.0, 100.0), (40.0, 110.0)],
    ]
    .iter()
    .enumerate()
    {
        b.land(LandUse::Wood, "", area);
        b.forest(area, 60.0, 9.0, 20 + number as u64);
    }
    for (middle, heading) in [
        (DVec2::new(20.0, -110.0), 0.3),
        (DVec2::new(-10.0, 100.0), 2.0),
        (DVec2::new(-125.0, -5.0), -1.2),
    ] {
        field(&mut b, middle, heading);
    }
    let mut stream = Stream::new(14, "stones", 0);
    for _ in 0..40 {
        let at = DVec2::new(stream.next_in(-130.0, 130.0), stream.next_in(-130.0, 130.0));
        b.obstacle(stone("stone", at, stream.next_in(0.6, 2.0)));
    }
    b.stack("fuzzy_driver", off_road());
    for (from, to) in [
        ((-155.0, -155.0), (155.0, 155.0)),
        ((155.0, -155.0), (-155.0, 155.0)),
        ((-155.0, 0.0), (155.0, -20.0)),
        ((0.0, 155.0), (-20.0, -155.0)),
    ] {
        let (from, to) = (DVec2::from(from), DVec2::from(to));
        let heading = heading_of(to - from);
        let start = Place::ground(from.x, from.y, heading);
        let goal = Place::ground(to.x, to.y, heading);
        b.agent(named(
            "jeep",
            trip("willys_mb", "fuzzy_driver", start, goal, 0.0),
        ));
    }
    b.scenario
}

/// A field with a dry-stone wall on three sides.
fn field(b: &mut Builder, middle: DVec2, heading: f64) {
    let (length, width, thick) = (50.0, 40.0, 0.8);
    let along = roadwright_geometry::unit(heading);
    let across = along.perp();
    let sides = [
        (-0.5 * length * along, FRAC_PI_2, width),
        (0.5 * width * across, 0.0, length),
        (-0.5 * width * across, 0.0, length),
    ];
    for (offset, turned, long) in sides {
        let size = DVec2::new(long + thick, thick);
        let at = middle + offset;
        b.obstacle(solid("wall", at, heading + turned, size, 1.4));
    }
}

/// Corners of a round outline.
fn ring(middle: DVec2, radius: f64) -> Vec<(f64, f64)> {
    let corner = |number: u32| {
        let along = roadwright_geometry::unit(f64::from(number) * PI / 12.0) * radius;
        let at = (middle + along) * 10.0;
        (at.x.round() / 10.0, at.y.round() / 10.0)
    };
    (0..24).map(corner).collect()
}

fn stone(name: &str, at: DVec2, radius: f64) -> Obstacle {
    Obstacle {
        name: name.into(),
        shape: Shape::Circle {
            x: at.x.into(),
            y: at.y.into(),
            radius: radius.into(),
        },
        base: 0.0.into(),
        height: radius.into(),
        mass: None.into(),
    }
}

/// Terrain heights, sampled every 5 m: three hills.
fn hills() -> HeightField {
    let (low, high) = (DVec2::splat(-170.0), DVec2::splat(170.0));
    let level = HeightField::level(low, high, 5.0).expect("a small field");
    let heights = (0..level.rows() * level.columns())
        .map(|sample| {
            let place = level.position(sample % level.columns(), sample / level.columns());
            let hills = [
                (DVec2::new(-20.0, -30.0), 12.0, 40.0),
                (DVec2::new(-110.0, 110.0), 16.0, 45.0),
                (DVec2::new(120.0, 10.0), 9.0, 38.0),
            ]
            .map(|(middle, height, reach)| {
                height * exp(-(place - middle).length_squared() / (reach * reach))
            });
            (hills.iter().sum::<f64>() * 100.0).round() / 100.0
        })
        .collect();
    level.with_heights(heights).expect("finite heights")
}

fn settings(b: &mut Builder, seed: u64, duration: f64) {
    b.settings(seed, duration);
    let settings = Settings {
        dt: 0.02.into(),
        ..b.scenario.settings()
    };
    b.apply(Edit::Settings(settings));
}

/// A box that cannot be pushed.
fn solid(name: &str, middle: DVec2, heading: f64, size: DVec2, height: f64) -> Obstacle {
    Obstacle {
        name: name.into(),
        shape: Shape::Box {
            x: middle.x.into(),
            y: middle.y.into(),
            heading: heading.into(),
            length: size.x.into(),
            width: size.y.into(),
        },
        base: 0.0.into(),
        height: height.into(),
        mass: None.into(),
    }
}

/// Adds the boxes of a generated world. Walls do not have a height in it, so they get the height `wall`, m.
fn boxes(b: &mut Builder, boxes: &[WorldBox], wall: f64) {
    for one in boxes {
        let outline = one.outline;
        let size = 2.0 * DVec2::new(outline.half_length, outline.half_width);
        let top = one.heights.top.min(wall);
        let name = match (one.heights.base > 0.0, size.min_element() < 0.1, top < wall) {
            (true, ..) => "table",
            (_, true, true) => "leg",
            _ if size.max_element() > 0.5 => "wall",
            _ => "cabinet",
        };
        b.obstacle(Obstacle {
            base: one.heights.base.into(),
            height: top.into(),
            ..solid(name, outline.centre, heading_of(outline.forward), size, top)
        });
    }
}
