//! Findings about land.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::ids::LandId;
use crate::land::{Land, MAX_PAINTED_CORNERS};
use glam::DVec2;
use roadwright_geometry::crossings::for_each_crossing;
use roadwright_geometry::polygon;
use std::ops::ControlFlow;

/// Maximum number of edge pairs that a check compares. It limits the running time if many outlines
/// are at the same place.
const MOST_COMPARISONS: usize = 50_000_000;
/// Area below which an outline counts as enclosing no area, m^2.
const LEAST_AREA: f64 = 0.01;

/// Finds outlines that cross themselves or enclose no area, and areas that exceed the limit on corners.
pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    let mut left = MOST_COMPARISONS;
    for (&id, land) in scenario.land() {
        if let Some(finding) = outline(id, land, &mut left) {
            findings.push(finding);
        }
    }
    let painted = scenario.painted_land().count();
    if let Some((&id, land)) = scenario.land().iter().nth(painted) {
        findings.push(Finding {
            severity: Severity::Warning,
            code: Code::TooMuch,
            object: ObjectId::Land(id),
            place: land.outline[0],
            message: format!(
                "exceeds the limit of {MAX_PAINTED_CORNERS} corners across all areas, so this area \
                 and those after it are not painted; simplify outlines"
            ),
        });
    }
}

fn outline(id: LandId, land: &Land, left: &mut usize) -> Option<Finding> {
    let finding = |place, message: &str| {
        Some(Finding {
            severity: Severity::Warning,
            code: Code::LandOutline,
            object: ObjectId::Land(id),
            place,
            message: message.into(),
        })
    };
    if let Some(place) = crossing(land, left) {
        return finding(
            place,
            "the outline crosses itself or a hole, so the area is painted with gaps; move the corner",
        );
    }
    let is_flat = |ring: &Vec<DVec2>| polygon::signed_area(ring).abs() < LEAST_AREA;
    if land.rings().any(is_flat) {
        let message = "the outline or a hole encloses no area; move the corners apart, or delete the outline or hole";
        return finding(land.outline[0], message);
    }
    let outside = |hole: &&Vec<DVec2>| !polygon::contains(&land.outline, hole[0]);
    let lost = land.holes.iter().find(outside)?;
    finding(
        lost[0],
        "one of its holes lies outside its outline; move it inside, or delete it",
    )
}

/// Finds a point where two edges of an area cross; `None` if there is none, or if `left` reaches 0.
/// Each comparison of edges decrements `left`.
fn crossing(land: &Land, left: &mut usize) -> Option<DVec2> {
    let mut place = None;
    let rings = land.rings().map(Vec::as_slice);
    for_each_crossing(rings, left, |_, (a, b)| {
        place = Some(0.5 * (a + b));
        ControlFlow::Break(())
    });
    place
}
