//! The course `obstacle-stream`: an endless series of waypoints among obstacles and other vehicles.
//!
//! [Gerdelan 2011], section 10.6: vehicles start at random places among obstacles of many shapes and sizes,
//! including long walls and rows, and drive to one random waypoint after another. A drive ends after 300 m or
//! 60 s. Vehicles whose drive has ended continue to move, so that the density of traffic stays the same.

use super::draft::{Draft, Trip};
use super::{Course, Ends, Kind};
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, unit};
use roadwright_scenario::{Place, Shape};
use std::f64::consts::TAU;

/// Number of agents. The source trains the same number simultaneously.
const AGENTS: usize = 40;
/// Half the side length of the square that contains the waypoints, m.
const HALF: f64 = 160.0;
/// Distance after which a drive ends, m.
const MILEAGE: f64 = 300.0;
/// Time after which a drive ends, s.
const TIME: f64 = 60.0;
/// Upper bound of the vehicles' speed, m/s. It is used to make trips so long that no vehicle
/// reaches its last waypoint in time.
const FASTEST: f64 = 50.0;
/// Minimum distance between consecutive waypoints, m.
const LEG: f64 = 60.0;
/// Minimum distance between starts, m.
const APART: f64 = 14.0;
/// Minimum distance between obstacles and starts or waypoints, m.
const CLEAR: f64 = 8.0;
/// Maximum number of attempts to draw a random position. If all fail, the last position is used.
const DRAWS: usize = 200;

/// Number of boxes.
const BOXES: usize = 45;
/// Number of discs.
const DISCS: usize = 30;
/// Number of walls.
const WALLS: usize = 8;
/// Number of rows of posts.
const ROWS: usize = 6;
/// Number of posts in a row.
const POSTS_IN_ROW: usize = 7;
/// Distance between the posts of a row, m.
const POST_SPACING: f64 = 9.0;

pub(super) fn course() -> Course {
    Course {
        name: "obstacle-stream".into(),
        doc: "40 vehicles drive from waypoint to waypoint among boxes, walls, rows of posts and each \
              other; a drive ends after 300 m or 60 s."
            .into(),
        vehicle: "willys_mb",
        driver: "fuzzy_driver",
        fitness: "crash_and_speed",
        ends: Ends {
            mileage: Some(MILEAGE),
            ..Ends::after(TIME)
        },
        kind: Kind::ObstacleStream,
    }
}

pub(super) fn draft(seed: u64) -> Draft {
    let mut draft = Draft::new("obstacle-stream", seed, TIME);
    let shapes = shapes(seed);
    let mut starts: Vec<DVec2> = Vec::new();
    let mut stream = Stream::new(seed, "starts", 0);
    for agent in 0..AGENTS {
        let far_from_others = |place: DVec2| {
            starts
                .iter()
                .all(|other| (*other - place).length() >= APART)
        };
        let start = clear_place(&mut stream, &shapes, far_from_others);
        starts.push(start);
        draft.trip(trip(seed, agent as u64, start, &shapes));
    }
    for shape in shapes {
        draft.obstacle("", shape, 3.0);
    }
    draft
}

/// Returns the trip of an agent. It is so long that no vehicle can complete it within the time limit.
fn trip(seed: u64, agent: u64, start: DVec2, shapes: &[Shape]) -> Trip {
    let mut stream = Stream::new(seed, "way-points", agent);
    let heading = stream.next_in(-0.5 * TAU, 0.5 * TAU);
    let (mut length, mut here, mut goals) = (0.0, start, Vec::new());
    // There are so many waypoints that even the fastest vehicle cannot reach the last one, because a drive
    // has to end by distance or time.
    while length < FASTEST * TIME {
        let next = clear_place(&mut stream, shapes, |place| (place - here).length() >= LEG);
        length += (next - here).length();
        goals.push(Place::ground(next.x, next.y, 0.0));
        here = next;
    }
    Trip {
        start: Place::ground(start.x, start.y, heading),
        starts_by_middle: false,
        via: goals,
        destination: Place::ground(here.x, here.y, 0.0),
        speed: 0.0,
    }
}

/// Returns a random position that is clear of all obstacles and satisfies `accept`.
fn clear_place(stream: &mut Stream, shapes: &[Shape], accept: impl Fn(DVec2) -> bool) -> DVec2 {
    let mut draw = || DVec2::new(stream.next_in(-HALF, HALF), stream.next_in(-HALF, HALF));
    let is_clear = |place: DVec2| shapes.iter().all(|shape| shape.distance(place) >= CLEAR);
    // After too many attempts, the last position is used, because training must not hang in a crowded field.
    let mut place = draw();
    for _ in 0..DRAWS {
        if accept(place) && is_clear(place) {
            break;
        }
        place = draw();
    }
    place
}

/// Returns the obstacles.
fn shapes(seed: u64) -> Vec<Shape> {
    let mut stream = Stream::new(seed, "obstacles", 0);
    let mut shapes = Vec::new();
    for _ in 0..BOXES {
        let (length, width) = (stream.next_in(1.0, 10.0), stream.next_in(1.0, 10.0));
        shapes.push(a_box(&mut stream, length, width));
    }
    for _ in 0..WALLS {
        let length = stream.next_in(20.0, 55.0);
        shapes.push(a_box(&mut stream, length, 1.0));
    }
    for _ in 0..DISCS {
        let radius = stream.next_in(0.3, 4.0);
        let place = anywhere(&mut stream);
        shapes.push(Shape::Circle {
            x: place.x.into(),
            y: place.y.into(),
            radius: radius.into(),
        });
    }
    for _ in 0..ROWS {
        row(&mut stream, &mut shapes);
    }
    shapes
}

fn anywhere(stream: &mut Stream) -> DVec2 {
    DVec2::new(stream.next_in(-HALF, HALF), stream.next_in(-HALF, HALF))
}

fn a_box(stream: &mut Stream, length: f64, width: f64) -> Shape {
    let place = anywhere(stream);
    Shape::Box {
        x: place.x.into(),
        y: place.y.into(),
        heading: stream.next_in(-0.5 * TAU, 0.5 * TAU).into(),
        length: length.into(),
        width: width.into(),
    }
}

/// Adds a row of posts with gaps wide enough for a vehicle.
fn row(stream: &mut Stream, shapes: &mut Vec<Shape>) {
    let (first, heading) = (anywhere(stream), stream.next_in(-0.5 * TAU, 0.5 * TAU));
    for post in 0..POSTS_IN_ROW {
        let place = first + unit(heading) * POST_SPACING * post as f64;
        shapes.push(Shape::Box {
            x: place.x.into(),
            y: place.y.into(),
            heading: heading.into(),
            length: 2.0.into(),
            width: 2.0.into(),
        });
    }
}
