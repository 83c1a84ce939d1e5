//! The course `arena`: from a circle of 300 m to its centre.
//!
//! [Gerdelan 2011], section 9.4: a vehicle starts on a circle with a radius of 300 m around its goal, at a
//! random point and with a random heading. It drives over hills and between trees and buildings of many sizes
//! to the goal among the three largest buildings. A drive ends within 6 m of the goal or after 3 minutes. As
//! in the source, the arena itself is the same for all seeds. A seed only determines the position and heading
//! of the start. The hills are only visual and do not slow down vehicles.

use super::draft::{Draft, Trip};
use super::{Course, Ends, Kind};
use roadwright_geometry::math::{Stream, exp};
use roadwright_geometry::{DVec2, HeightField, unit};
use roadwright_scenario::{Edit, Place, Settings, Shape};
use std::f64::consts::{PI, TAU};

/// Distance of the start from the goal, m.
const RADIUS: f64 = 300.0;
/// Time limit, s.
const TIME: f64 = 180.0;
/// Seed from which the arena is generated.
const ARENA: u64 = 94;
/// Minimum distance between buildings and the goal, m.
const INNERMOST: f64 = 45.0;
/// Maximum distance between buildings and the goal, m.
const OUTERMOST: f64 = 270.0;
/// Number of buildings.
const BUILDINGS: usize = 60;
/// Number of trees.
const TREES: usize = 90;
/// Number of hills.
const HILLS: usize = 9;

pub(super) fn course() -> Course {
    Course {
        name: "arena".into(),
        doc: "One vehicle drives from a random point on a circle of 300 m radius to its centre, \
              between buildings and trees; it has three minutes."
            .into(),
        vehicle: "willys_mb",
        driver: "fuzzy_driver",
        fitness: "arena_score",
        ends: Ends::after(TIME),
        kind: Kind::Arena,
    }
}

pub(super) fn draft(seed: u64) -> Draft {
    let mut draft = Draft::new("arena", seed, TIME);
    draft.apply(Edit::Terrain(Some(Box::new(hills()))));
    // The hills of the source are visible but do not slow down vehicles.
    let settings = draft.scenario.settings();
    draft.apply(Edit::Settings(Settings {
        slopes: false,
        ..settings
    }));
    landmarks(&mut draft);
    buildings(&mut draft);
    trees(&mut draft);
    let mut stream = Stream::new(seed, "start", 0);
    let start = RADIUS * unit(stream.next_in(-PI, PI));
    draft.trip(Trip {
        start: Place::ground(start.x, start.y, stream.next_in(-PI, PI)),
        starts_by_middle: false,
        via: Vec::new(),
        destination: Place::ground(0.0, 0.0, 0.0),
        speed: 0.0,
    });
    draft
}

/// Adds the three large buildings around the goal.
fn landmarks(draft: &mut Draft) {
    for (number, angle) in [0.5, 0.5 + TAU / 3.0, 0.5 + 2.0 * TAU / 3.0]
        .into_iter()
        .enumerate()
    {
        let place = 30.0 * unit(angle);
        let shape = Shape::Box {
            x: place.x.into(),
            y: place.y.into(),
            heading: angle.into(),
            length: (16.0 + 2.0 * number as f64).into(),
            width: 22.0.into(),
        };
        draft.obstacle("landmark", shape, 20.0);
    }
}

fn buildings(draft: &mut Draft) {
    let mut stream = Stream::new(ARENA, "buildings", 0);
    for _ in 0..BUILDINGS {
        let place = in_ring(&mut stream);
        let shape = Shape::Box {
            x: place.x.into(),
            y: place.y.into(),
            heading: stream.next_in(0.0, PI).into(),
            length: stream.next_in(6.0, 24.0).into(),
            width: stream.next_in(5.0, 12.0).into(),
        };
        draft.obstacle("building", shape, 8.0);
    }
}

fn trees(draft: &mut Draft) {
    let mut stream = Stream::new(ARENA, "trees", 0);
    for _ in 0..TREES {
        let place = in_ring(&mut stream);
        let shape = Shape::Circle {
            x: place.x.into(),
            y: place.y.into(),
            radius: stream.next_in(0.2, 0.6).into(),
        };
        draft.obstacle("tree", shape, 10.0);
    }
}

/// Returns a random position in the built-up ring, uniformly distributed by area.
fn in_ring(stream: &mut Stream) -> DVec2 {
    let (inner, outer) = (INNERMOST * INNERMOST, OUTERMOST * OUTERMOST);
    // The square of the distance is drawn, because otherwise positions would be denser near the centre.
    let distance = stream.next_in(inner, outer).sqrt();
    distance * unit(stream.next_in(-PI, PI))
}

/// Returns round hills and hollows on level ground, sampled every 20 m.
fn hills() -> HeightField {
    let mut stream = Stream::new(ARENA, "hills", 0);
    let hills: Vec<(DVec2, f64, f64)> = (0..HILLS)
        .map(|_| {
            let place = in_ring(&mut stream);
            (place, stream.next_in(-5.0, 9.0), stream.next_in(30.0, 70.0))
        })
        .collect();
    let corner = DVec2::splat(RADIUS + 40.0);
    let level = HeightField::level(-corner, corner, 20.0).expect("a small field");
    let height = |index: usize| {
        let place = level.position(index % level.columns(), index / level.columns());
        let of = |&(top, height, width): &(DVec2, f64, f64)| {
            height * exp(-(place - top).length_squared() / (width * width))
        };
        hills.iter().map(of).sum::<f64>()
    };
    let heights = (0..level.rows() * level.columns()).map(height).collect();
    level.with_heights(heights).expect("finite heights")
}
