//! Names of streets and of points of interest.

use crate::canvas::Canvas;
use crate::ground;
use crate::painter::Painter;
use crate::palette::{ASPHALT, GROUND, INK, ROAD_INK, faded, rgb};
use crate::street_name::{self, Cover, FADED};
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_scenario::junction::Layout;
use roadwright_scenario::{BAY, MapPart, Road, Scenario, hides_layer};
use std::collections::{BTreeMap, BTreeSet};

/// Smallest scale at which names are written, pixels per metre.
const MIN_SCALE: f64 = 1.6;

/// Minimum area of land whose name is written, square pixels.
const LEAST_AREA: f64 = 3_000.0;

/// Writes the names of parks and waters that have room for them, largest first.
pub(crate) fn land(canvas: &mut Canvas, scenario: &Scenario) {
    let size = 12.5;
    let named = scenario.painted_land().filter_map(|(_, land)| {
        let ink = ground::ink(land.usage).filter(|_| !land.name.is_empty())?;
        let pixels = land.area() * canvas.scale * canvas.scale;
        (pixels >= LEAST_AREA).then_some((pixels, land, ink))
    });
    let mut named: Vec<_> = named.collect();
    named.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut written: Vec<(&str, f32, f32, f32)> = Vec::new();
    for (_, land, ink) in named {
        let Some((at, room)) = ground::place_of_name(land) else {
            continue;
        };
        let half = 0.5 * crate::text::width(&land.name, size);
        let (x, y) = canvas.pixel(at);
        // A name has more room along a river than across it, where it needs only the height of its letters.
        let is_thin = ((room * canvas.scale) as f32) < 0.5 * size;
        let is_taken = written.iter().any(|&(name, other_x, other_y, other)| {
            let (dx, dy) = ((x - other_x).abs(), (y - other_y).abs());
            (dx < half + other && dy < 20.0) || (name == land.name && dx.max(dy) < 520.0)
        });
        if is_thin || is_taken {
            continue;
        }
        written.push((&land.name, x, y, half));
        let pose = Pose {
            position: at,
            heading: 0.0,
        };
        let halo = canvas.shown(rgb(ground::color(land.usage)));
        canvas.text_along(&land.name, pose, size, rgb(ink), halo);
    }
}

/// Length of the rear part of a parking bay, in which its name is written, m. The arrow is in the
/// front part.
const NAME_IN_BAY: f64 = 3.2;

/// Writes the names of points of interest beside them. Names of parking bays are written into the
/// bays if there is room.
pub(crate) fn places(canvas: &mut Canvas, scenario: &Scenario) {
    if canvas.scale < MIN_SCALE {
        return;
    }
    let mut written: Vec<(f32, f32, f32)> = Vec::new();
    for point in scenario.points_of_interest().values() {
        if let Some(vehicle) = point.parked() {
            // Beside a bay, its name would seem to belong to the next one.
            let size = 11.0;
            let width = f64::from(crate::text::width(&point.name, size));
            if width < NAME_IN_BAY * canvas.scale {
                let behind_arrow = 0.5 * (BAY.0 - NAME_IN_BAY) - 0.1;
                let at = Pose {
                    position: vehicle.point(-behind_arrow, 0.0),
                    ..vehicle
                };
                let paper = canvas.shown(rgb(crate::palette::PAPER));
                canvas.text_along(&point.name, at, size, rgb(INK), paper);
            }
            continue;
        }
        let (x, y) = canvas.pixel(point.position());
        let mark = (crate::reach_of_mark(point) * canvas.scale) as f32;
        let beside = x + (mark + 4.0).max(8.0);
        let (size, ink) = (11.0, crate::palette::INK);
        let width = crate::text::width(&point.name, size);
        // Names must not overlap.
        let is_taken = written.iter().any(|&(from, other_y, length)| {
            beside < from + length && from < beside + width && (y - other_y).abs() < 14.0
        });
        if is_taken {
            continue;
        }
        written.push((beside, y, width));
        canvas.text(
            &point.name,
            beside,
            y + 4.0,
            size,
            crate::text::Align::Left,
            ink,
        );
    }
}

/// Writes street names along their roads. Each name is on the longest visible stretch of its street
/// where no vehicle covers the name. Names are light if the asphalt is wide enough for them.
/// Otherwise, they are dark with a halo in the colour of the ground. A name that is covered by
/// vehicles everywhere is pale.
pub(crate) fn streets(
    canvas: &mut Canvas,
    scenario: &Scenario,
    layout: &Layout,
    hidden: &BTreeSet<MapPart>,
    vehicles: &[Cover],
) {
    if canvas.scale < MIN_SCALE {
        return;
    }
    let size = if canvas.scale < 6.0 { 11.5 } else { 14.0 };
    let mut written: Vec<(f32, f32, f32)> = Vec::new();
    for (name, stretches) in stretches(canvas, scenario, layout, hidden) {
        let width = crate::text::width(name, size);
        let half = 0.5 / canvas.scale * DVec2::new(f64::from(width), f64::from(size));
        let Some(place) = clear_place(&stretches, half, vehicles) else {
            continue;
        };
        let (x, y) = canvas.pixel(place.at.position);
        // Names must not overlap in any orientation.
        let reach = 0.5 * width.min(90.0);
        let taken = written.iter().any(|&(other_x, other_y, other)| {
            (x - other_x).abs() < reach + other && (y - other_y).abs() < reach + other
        });
        if !taken {
            written.push((x, y, reach));
            write_street(canvas, name, &place, size);
        }
    }
}

/// Place of a name on a road.
struct NamePlace {
    at: Pose,
    /// Width of the carriageway, m.
    road_width: f64,
    is_covered: bool,
}

/// Returns the first place of a name that is clear of vehicles, or the first place if no place is
/// clear. `half` is half the length and half the height of the name, m. Returns `None` if there is
/// no room.
fn clear_place(stretches: &[Stretch<'_>], half: DVec2, vehicles: &[Cover]) -> Option<NamePlace> {
    let length = 2.0 * half.x;
    let has_room = |(_, (from, to)): &&Stretch<'_>| 1.15 * length < to - from;
    let all = stretches
        .iter()
        .filter(has_room)
        .flat_map(|(road, (from, to))| street_name::places(road, *from..*to, length));
    let mut first = None;
    for (at, road_width) in all {
        let is_on = |vehicle: &Cover| street_name::is_covered(at, half, vehicle);
        let is_covered = vehicles.iter().any(is_on);
        let place = NamePlace {
            at,
            road_width,
            is_covered,
        };
        if !is_covered {
            return Some(place);
        }
        first.get_or_insert(place);
    }
    first
}

fn write_street(canvas: &mut Canvas, name: &str, place: &NamePlace, size: f32) {
    let is_on_road = (place.road_width * canvas.scale) as f32 >= size + 5.0;
    let (ink, halo) = if is_on_road {
        (ROAD_INK, ASPHALT)
    } else {
        (INK, GROUND)
    };
    let opacity = if place.is_covered { FADED } else { 1.0 };
    if is_on_road {
        // The halo also covers the spaces between words, so that no road marking is visible there.
        let half = 0.5 * f64::from(crate::text::width(name, size)) / canvas.scale;
        let ends = [-half, half].map(|ahead| place.at.point(ahead, 0.0));
        canvas.line(&ends, 0.0, 0.34 * size, faded(halo, opacity));
    }
    let halo = canvas.shown(faded(halo, opacity));
    canvas.text_along(name, place.at, size, faded(ink, opacity), halo);
}

/// Maximum number of stretches of a street that are tested for vehicles to place its name.
const MOST_STRETCHES: usize = 8;

/// A part of a road, from one distance along it to another, m.
type Stretch<'a> = (&'a Road, (f64, f64));

/// For each street name, returns the visible stretches between junctions, longest first, in metres
/// along their roads. A street consists of many roads with the same name, because it is split at
/// every junction. The names are sorted, so that the choice between two colliding names does not
/// depend on ids.
fn stretches<'a>(
    canvas: &Canvas,
    scenario: &'a Scenario,
    layout: &Layout,
    hidden: &BTreeSet<MapPart>,
) -> BTreeMap<&'a str, Vec<Stretch<'a>>> {
    let view = canvas.view();
    let mut of_streets: BTreeMap<&str, Vec<Stretch<'_>>> = BTreeMap::new();
    let roads = scenario.network().roads();
    let is_named = |road: &Road| !road.name.is_empty() && !hides_layer(hidden, road.layer);
    for (id, road) in roads.filter(|(_, road)| is_named(road)) {
        let whole = layout.remaining(id, road);
        let clear = whole.and_then(|stretch| match canvas.scale >= street_name::ARROW_SCALE {
            true => street_name::clear_of_ends(road, scenario.about().driving_side, stretch),
            false => Some(stretch),
        });
        let seen = clear.and_then(|stretch| street_name::in_view(road, stretch, view));
        if let Some(seen) = seen {
            of_streets.entry(&road.name).or_default().push((road, seen));
        }
    }
    for stretches in of_streets.values_mut() {
        // A stable sort, so that of two equally long stretches the one with the lower id comes
        // first.
        let length = |(_, (from, to)): &Stretch<'_>| to - from;
        stretches.sort_by(|a, b| length(b).total_cmp(&length(a)));
        stretches.truncate(MOST_STRETCHES);
    }
    of_streets
}
