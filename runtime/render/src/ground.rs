//! Land (the surface of the ground below everything else), and the positions of the names of areas.

use crate::palette::{
    BLOCK, COMMERCIAL, FOREST, LAWN, PARK, PARK_INK, PITCH, PLAZA, SAND, WATER, WATER_EDGE,
    WATER_INK, faded, rgb,
};
use crate::{Painter, Pass};
use glam::DVec2;
use roadwright_geometry::polygon;
use roadwright_scenario::{Land, LandUse, Scenario};

/// Width of the line along a shore, and width of the strip of shallow water beside it, m.
const SHORE: (f64, f64) = (0.8, 5.0);
/// Minimum scale at which shores and the lines of pitches are drawn, pixels per metre.
const LEAST_EDGE_SCALE: f64 = 0.3;
/// Number of candidate positions in each direction for the name of an area.
const PLACES: u32 = 12;

/// Returns the colour of a land use, 0xRRGGBB.
pub fn color(usage: LandUse) -> u32 {
    match usage {
        LandUse::Residential => BLOCK,
        LandUse::Commercial => COMMERCIAL,
        LandUse::Paved => PLAZA,
        LandUse::Sand => SAND,
        LandUse::Grass => LAWN,
        LandUse::Park => PARK,
        LandUse::Wood => FOREST,
        LandUse::Pitch => PITCH,
        LandUse::Water => WATER,
    }
}

/// Returns the colour of the names of areas with a land use; `None` if their names are not written
/// on the map.
pub fn ink(usage: LandUse) -> Option<u32> {
    match usage {
        LandUse::Park | LandUse::Wood | LandUse::Grass => Some(PARK_INK),
        LandUse::Water => Some(WATER_INK),
        _ => None,
    }
}

/// Paints all land of a scenario, bottom layer first.
pub fn all(painter: &mut impl Painter, scenario: &Scenario) {
    let mut areas: Vec<_> = scenario.painted_land().collect();
    // A stable sort keeps the order of ids within a land use.
    areas.sort_by_key(|(_, land)| land.usage.rank());
    for (_, land) in areas {
        area(painter, land);
    }
}

/// Paints an area of land.
pub fn area(painter: &mut impl Painter, land: &Land) {
    painter.begin(Pass::Ground);
    let rings: Vec<&[DVec2]> = land.rings().map(Vec::as_slice).collect();
    painter.area(&rings, rgb(color(land.usage)));
    if painter.scale() < LEAST_EDGE_SCALE {
        return;
    }
    painter.begin(Pass::Paving);
    for ring in rings {
        match land.usage {
            LandUse::Water => {
                painter.edge(ring, SHORE.1, 0.0, faded(WATER_EDGE, 0.25));
                painter.edge(ring, SHORE.0, 1.0, faded(WATER_EDGE, 0.9));
            }
            LandUse::Pitch => painter.edge(ring, 0.25, 0.8, faded(crate::palette::MARKING, 0.45)),
            _ => {}
        }
    }
}

/// Returns the position for the name of an area: a point far from its edges, and its distance from
/// the nearest edge, m.
pub fn place_of_name(land: &Land) -> Option<(DVec2, f64)> {
    let (low, high) = polygon::bounds(&land.outline)?;
    let step = (high - low) / f64::from(PLACES);
    let middle = polygon::centroid(&land.outline);
    let grid = (0..PLACES * PLACES).map(|i| {
        let cell = DVec2::new(f64::from(i % PLACES), f64::from(i / PLACES));
        low + (cell + 0.5) * step
    });
    let inside = std::iter::once(middle)
        .chain(grid)
        .filter(|at| land.contains(*at));
    let room = |at: DVec2| {
        let rings = land.rings();
        rings
            .map(|ring| polygon::boundary_distance(ring, at))
            .fold(f64::INFINITY, f64::min)
    };
    let places = inside.map(|at| (at, room(at)));
    places.max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_inside_far_from_the_edges() {
        // A horseshoe, whose centre of mass is outside of it.
        let corners = [
            (0.0, 0.0),
            (100.0, 0.0),
            (100.0, 100.0),
            (70.0, 100.0),
            (70.0, 30.0),
            (30.0, 30.0),
            (30.0, 100.0),
            (0.0, 100.0),
        ];
        let park = Land {
            name: "Park".into(),
            usage: LandUse::Park,
            outline: corners.map(DVec2::from).to_vec().into(),
            holes: Vec::new().into(),
        };
        let (at, room) = place_of_name(&park).unwrap_or_default();
        assert!(park.contains(at) && room > 10.0, "{at} {room}");
        let flat = Land {
            outline: vec![DVec2::ZERO; 3].into(),
            ..park
        };
        assert_eq!(place_of_name(&flat), None);
    }
}
