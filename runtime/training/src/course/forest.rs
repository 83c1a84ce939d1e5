//! The course `forest`: 120 m through a lattice of posts.
//!
//! [Gerdelan 2011], chapter 12: 21 columns and 10 rows of posts, which measure 2 x 2 x 10 m and weigh a
//! tonne. They are 10 m apart, but each is moved by up to 4 m along both axes, so that there are clusters and
//! gaps. The field is twice as wide as it is long, so that vehicles do not drive around it. The centre of the
//! vehicle starts at the origin, 10 m before the lattice and heading into it. The goal is 120 m ahead.

use super::draft::{Draft, Trip};
use super::{Course, Ends, Kind, Stuck};
use roadwright_geometry::math::Stream;
use roadwright_scenario::{Place, Shape};

/// Number of posts across the field.
const COLUMNS: usize = 21;
/// Number of posts along the field.
const ROWS: usize = 10;
/// Distance between posts in the lattice, m.
const SPACING: f64 = 10.0;
/// Maximum displacement of a post from its lattice point, m.
const SHIFT: f64 = 4.0;
/// Side length of a post, m.
const SIDE: f64 = 2.0;
/// Height of a post, m.
const HEIGHT: f64 = 10.0;
/// Mass of a post, kg.
const MASS: f64 = 1000.0;
/// Distance from the start to the goal, m.
const GOAL: f64 = 120.0;
/// Time limit, s.
const TIME: f64 = 60.0;

pub(super) fn course() -> Course {
    Course {
        name: "forest".into(),
        doc: "One vehicle drives 120 m through 210 posts; it has one minute and must not tip over \
              or get stuck."
            .into(),
        vehicle: "willys_mb",
        driver: "fuzzy_mechanic",
        fitness: "forest_score",
        ends: Ends {
            goal_radius: Some(6.0),
            roll: Some(1.775),
            stuck: Some(Stuck {
                distance: 0.5,
                time: 12.0,
            }),
            contact: true,
            ..Ends::after(TIME)
        },
        kind: Kind::Forest,
    }
}

pub(super) fn draft(seed: u64) -> Draft {
    let mut draft = Draft::new("forest", seed, TIME);
    let mut stream = Stream::new(seed, "posts", 0);
    let middle = 0.5 * SPACING * (COLUMNS - 1) as f64;
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let x = SPACING * (row + 1) as f64 + stream.next_in(-SHIFT, SHIFT);
            // Columns on both sides of the straight line from the start to the goal.
            let y = SPACING * column as f64 - middle + stream.next_in(-SHIFT, SHIFT);
            draft.loose_obstacle("post", post(x, y), HEIGHT, MASS);
        }
    }
    draft.trip(Trip {
        start: Place::ground(0.0, 0.0, 0.0),
        starts_by_middle: true,
        via: Vec::new(),
        destination: Place::ground(GOAL, 0.0, 0.0),
        speed: 0.0,
    });
    draft
}

fn post(x: f64, y: f64) -> Shape {
    Shape::Box {
        x: x.into(),
        y: y.into(),
        heading: 0.0.into(),
        length: SIDE.into(),
        width: SIDE.into(),
    }
}
