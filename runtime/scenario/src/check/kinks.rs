//! Bends with a radius smaller than half the width of the road: findings and their repair.

use super::{Code, Finding, ObjectId, Severity};
use crate::edit::Edit;
use crate::ids::RoadId;
use crate::operation::on_line;
use crate::road::Road;
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::ReferenceLine;
use roadwright_geometry::alignment::Alignment;
use roadwright_geometry::projection::Projector;

/// Minimum turn of an arc that counts as a bend, rad (20 degrees). Smaller turns are vertices of a
/// traced line.
const MIN_TURN: f64 = 0.35;
/// Longest stretch of an inner edge that may run backwards, m.
const MAX_BACKWARDS: f64 = 0.5;
/// Difference between the radius of a repaired bend and the half-width of the road on its inner
/// side, m.
const MARGIN: f64 = 1.0;
/// Maximum distance by which a repair moves a line, m.
const MAX_SHIFT: f64 = 1.5;
/// Spacing of the points at which two lines are compared, m.
const SPACING: f64 = 0.5;

/// A bend whose inner edge runs backwards.
struct Kink {
    /// Position of the middle of the bend, m.
    place: DVec2,
    /// Absolute change of direction in the bend, rad.
    turn: f64,
    /// Radius of the bend, m.
    radius: f64,
    /// Distance from the reference line to the edge of the road on the inner side, m.
    inner: f64,
}

/// Returns the kinks of a road, in order along the reference line.
fn kinks(road: &Road) -> impl Iterator<Item = Kink> {
    let line = &road.reference_line;
    let starts: Vec<f64> = line.segment_starts().chain([road.length()]).collect();
    let segments = 0..starts.len() - 1;
    segments.filter_map(move |index| {
        let (from, to) = (starts[index], starts[index + 1]);
        let middle = 0.5 * (from + to);
        let curvature = line.curvature(middle);
        let turn = (curvature * (to - from)).abs();
        let (right, left) = road.edges(middle);
        let inner = if curvature > 0.0 { left } else { -right };
        let radius = 1.0 / curvature.abs();
        // Where the radius is smaller than the half-width, the inner edge runs backwards.
        let is_kink = turn > MIN_TURN && (inner - radius) * turn > MAX_BACKWARDS;
        is_kink.then(|| Kink {
            place: line.pose(middle).position,
            turn,
            radius,
            inner,
        })
    })
}

pub(super) fn check(id: RoadId, road: &Road, findings: &mut Vec<Finding>) {
    let found = kinks(road).map(|kink| Finding {
        severity: Severity::Warning,
        code: Code::Kink,
        object: ObjectId::Road(id),
        place: kink.place,
        message: format!(
            "turns {:.0} degrees with a radius of {:.2} m, tighter than its half-width of {:.2} m; \
             increase the radius of the bend or place a junction there",
            kink.turn.to_degrees(),
            kink.radius,
            kink.inner
        ),
    });
    findings.extend(found);
}

/// Returns the edit that repairs the kink nearest to `place` by giving it a radius 1 m larger than
/// its inner half-width. `None` if the road has no kink, or if no such bend fits within 1.5 m of
/// the road.
pub(super) fn rounded(scenario: &Scenario, id: RoadId, place: DVec2) -> Option<Edit> {
    let road = scenario.network().road(id)?;
    let distance = |kink: &Kink| (kink.place - place).length();
    let kink = kinks(road).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Some(on_line(scenario, id, road, rounded_line(road, &kink)?))
}

/// Returns the line of a road with a larger radius at a kink, or `None` if it does not fit.
fn rounded_line(road: &Road, kink: &Kink) -> Option<ReferenceLine> {
    let points = Alignment::of(&road.reference_line)?;
    let last = points.points().len() - 1;
    let distance = |index: &usize| (points.points()[*index].position - kink.place).length();
    let bend = (1..last).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    // A traced bend may consist of several vertices that are too close together for an arc of this radius. In
    // this case, the vertices beside the kink are left out.
    //
    //     --------o           -----------.
    //              o     ->               \
    //               \                      \
    let neighbours = [
        vec![],
        vec![bend + 1],
        vec![bend - 1],
        vec![bend + 1, bend - 1],
    ];
    let before = kinks(road).count();
    let candidates = neighbours.into_iter().filter_map(|left_out| {
        if left_out.iter().any(|index| *index == 0 || *index == last) {
            return None;
        }
        let mut changed = points.clone();
        // Removed from the last one to the first, so that the remaining indices stay valid.
        for &index in &left_out {
            changed.remove(index);
        }
        let moved = left_out.iter().filter(|index| **index < bend).count();
        changed.set_radius(bend - moved, kink.inner + MARGIN);
        changed.line().ok()
    });
    candidates.into_iter().find(|line| {
        let mut changed = road.clone();
        changed.reference_line = line.clone();
        kinks(&changed).count() < before && shift(&road.reference_line, line) <= MAX_SHIFT
    })
}

/// Returns the largest distance between two lines with the same ends, m.
fn shift(one: &ReferenceLine, other: &ReferenceLine) -> f64 {
    let farthest = |from: &ReferenceLine, to: &ReferenceLine| {
        let projector = Projector::new(to.clone());
        let count = (from.length() / SPACING).ceil().max(1.0) as usize;
        let places = (0..=count).map(|i| from.length() * i as f64 / count as f64);
        let misses = places.map(|s| {
            let point = from.pose(s).position;
            (to.pose(projector.closest(point).s).position - point).length()
        });
        misses.fold(0.0, f64::max)
    };
    farthest(one, other).max(farthest(other, one))
}
