//! The worlds of the courses on open ground: a maze, an office, a town of blocks without streets, and open
//! country.

use super::super::draft::Draft;
use roadwright_geometry::math::{Stream, exp};
use roadwright_geometry::{DVec2, HeightField, heading_of};
use roadwright_planning::open_ground::samples::{self, WorldBox};
use roadwright_scenario::{
    Edit, Forest, ForestId, Land, LandId, LandUse, Obstacle, Settings, Shape, VehicleType,
};
use std::f64::consts::{FRAC_PI_2, PI};

/// Time step, s.
const DT: f64 = 0.02;

/// Edge length of the maze, m. Each edge has 15 rooms, with corridors of 6 m between their walls.
const MAZE: f64 = 100.0;

/// Returns a maze. Its corridors are too narrow to turn around in, so vehicles leave dead ends in reverse.
pub(super) fn maze(seed: u64, duration: f64) -> Draft {
    let mut b = begin("maze", seed, duration);
    boxes(&mut b, &samples::maze(MAZE, 5).boxes, 2.5);
    b
}

/// Width of the aisles between the doors of the office, m. No furniture stands in them.
const AISLES: f64 = 1.0;

/// Returns an office with tables and cabinets, and a vehicle type `cart`. No furniture stands in the
/// aisles between the doors.
pub(super) fn office(seed: u64, duration: f64) -> Draft {
    let mut b = begin("office", seed, duration);
    boxes(&mut b, &samples::office_with_aisles(3, AISLES).boxes, 1.8);
    b.apply(Edit::VehicleType("cart".into(), Some(Box::new(cart()))));
    b
}

/// Returns a cart for indoor use. Its turning radius is smaller than its own length.
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
        body: roadwright_scenario::BodyKind::default(),
        gaits: None,
        move_libraries: Vec::new(),
        file: None,
    }
}

/// Returns a grid of blocks of houses without streets. Some blocks are joined by walls, and there are crates
/// between them.
pub(super) fn obstacle_town(seed: u64, duration: f64) -> Draft {
    let mut b = begin("obstacle-town", seed, duration);
    let mut stream = Stream::new(13, "blocks", 0);
    for row in 0..BLOCKS {
        for column in 0..BLOCKS {
            block(&mut b, [column, row], &mut stream);
        }
    }
    b
}

/// Number of blocks along each edge of the town.
const BLOCKS: u32 = 6;
/// Distance between the centres of adjacent blocks, m.
const PITCH: f64 = 30.0;
/// Height of houses, m.
const HOUSE: f64 = 7.0;
/// Height of walls, m.
const WALL: f64 = 2.0;

/// Adds a block: a house, possibly a wall to the next house in the north or east, and a crate beside the
/// house.
fn block(b: &mut Draft, [column, row]: [u32; 2], stream: &mut Stream) {
    let along = |number: u32| (f64::from(number) - 0.5 * f64::from(BLOCKS - 1)) * PITCH;
    let middle = DVec2::new(along(column), along(row));
    let (length, width) = (stream.next_in(13.0, 19.0), stream.next_in(13.0, 19.0));
    let turned = stream.next_in(-0.1, 0.1);
    obstacle(
        b,
        solid("house", middle, turned, DVec2::new(length, width), HOUSE),
    );
    let closes = stream.next_index(4);
    let thin = DVec2::new(PITCH - 14.0, 0.4);
    if closes == 0 && column + 1 < BLOCKS {
        let at = middle + DVec2::new(0.5 * PITCH, 0.0);
        obstacle(b, solid("wall", at, 0.0, thin, WALL));
    }
    if closes == 1 && row + 1 < BLOCKS {
        let at = middle + DVec2::new(0.0, 0.5 * PITCH);
        obstacle(b, solid("wall", at, FRAC_PI_2, thin, WALL));
    }
    let beside = DVec2::new(
        0.5 * PITCH + stream.next_in(-2.0, 2.0),
        0.5 * PITCH + stream.next_in(-2.0, 2.0),
    );
    let crate_size = DVec2::splat(stream.next_in(1.0, 2.0));
    let turned = stream.next_in(0.0, FRAC_PI_2);
    obstacle(b, solid("crate", middle + beside, turned, crate_size, 1.2));
}

/// Returns open country with hills, woods, ponds and rocks, which jeeps cross in all directions.
pub(super) fn hill_country(seed: u64, duration: f64) -> Draft {
    let mut b = begin("hill-country-drive", seed, duration);
    b.apply(Edit::Terrain(Some(Box::new(hills()))));
    for (name, middle, radius) in [
        ("Mill Pond", DVec2::new(-60.0, 30.0), 28.0),
        ("Long Pond", DVec2::new(70.0, -55.0), 34.0),
    ] {
        land(&mut b, LandUse::Water, name, &ring(middle, radius));
        // The bank that keeps vehicles out of the water.
        for corner in ring(middle, radius) {
            obstacle(&mut b, stone("bank", corner, 2.2));
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
        let area = area.map(DVec2::from);
        land(&mut b, LandUse::Wood, "", &area);
        forest(&mut b, &area, 20 + number as u64);
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
        obstacle(&mut b, stone("stone", at, stream.next_in(0.6, 2.0)));
    }
    b
}

/// Adds a field with a dry-stone wall on three sides.
fn field(b: &mut Draft, middle: DVec2, heading: f64) {
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
        obstacle(b, solid("wall", at, heading + turned, size, 1.4));
    }
}

/// Returns the corners of a round outline.
fn ring(middle: DVec2, radius: f64) -> Vec<DVec2> {
    let corner = |number: u32| {
        let along = roadwright_geometry::unit(f64::from(number) * PI / 12.0) * radius;
        ((middle + along) * 10.0).round() / 10.0
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

/// Returns terrain with three hills, sampled every 5 m.
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

/// Returns an empty world.
fn begin(name: &str, seed: u64, duration: f64) -> Draft {
    let mut draft = Draft::new(name, seed, duration);
    let settings = draft.scenario.settings();
    draft.apply(Edit::Settings(Settings {
        dt: DT.into(),
        ..settings
    }));
    draft
}

fn obstacle(b: &mut Draft, obstacle: Obstacle) {
    let id = b.scenario.next_obstacle_id();
    b.apply(Edit::Obstacle(id, Some(Box::new(obstacle))));
}

fn land(b: &mut Draft, usage: LandUse, name: &str, corners: &[DVec2]) {
    let id = b.scenario.land().len() as u32 + 1;
    let land = Land {
        name: name.into(),
        usage,
        outline: corners.iter().copied().collect(),
        holes: Vec::new().into(),
    };
    b.apply(Edit::Land(LandId(id), Some(Box::new(land))));
}

/// Adds a wood with 60 trees per hectare.
fn forest(b: &mut Draft, area: &[DVec2], seed: u64) {
    let id = b.scenario.forests().len() as u32 + 1;
    let forest = Forest {
        area: area.iter().copied().collect(),
        density: 60.0.into(),
        spacing: 9.0.into(),
        trunk_radius: 0.25.into(),
        seed,
    };
    b.apply(Edit::Forest(ForestId(id), Some(Box::new(forest))));
}

/// Creates a box that cannot be pushed.
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

/// Adds the boxes of a generated world. Generated worlds give no height for walls, so walls get the height
/// `wall`, m.
fn boxes(b: &mut Draft, boxes: &[WorldBox], wall: f64) {
    for one in boxes {
        let outline = one.outline;
        let size = in_millimetres(2.0 * DVec2::new(outline.half_length, outline.half_width));
        let top = one.heights.top.min(wall);
        let name = match (one.heights.base > 0.0, size.min_element() < 0.1, top < wall) {
            (true, ..) => "table",
            (_, true, true) => "leg",
            _ if size.max_element() > 0.5 => "wall",
            _ => "cabinet",
        };
        obstacle(
            b,
            Obstacle {
                base: one.heights.base.into(),
                height: top.into(),
                ..solid(
                    name,
                    in_millimetres(outline.centre),
                    heading_of(outline.forward),
                    size,
                    top,
                )
            },
        );
    }
}

/// Rounds a position to whole millimetres, so that numbers in files are short and adjacent walls remain
/// adjacent after mirroring.
fn in_millimetres(metres: DVec2) -> DVec2 {
    (metres * 1000.0).round() / 1000.0
}
