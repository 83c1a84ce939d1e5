//! Findings about obstacles.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::ids::ObstacleId;
use crate::lane_graph::Lanelet;
use crate::objects::{Obstacle, Shape};
use crate::scenario::Scenario;
use crate::vertical_span::VerticalSpan;
use glam::DVec2;
use roadwright_geometry::centre_line::CentreLine;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::polygon;
use std::cell::OnceCell;

/// Number of lane points that are checked in one batch. A city has about this many lane points, and
/// a batch takes about 50 MB.
const PART: usize = 1_000_000;
/// Margin for rounding errors of distances, m.
const ROUNDING: f64 = 1e-6;
/// Number of points near an obstacle for which the distance to its walls is cached.
const KNOWN: usize = 8;

pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    heights(subjects, findings);
    on_roads(subjects, findings);
    overlaps(subjects, findings);
}

/// Finds obstacles whose height is not positive, and obstacles above the ground that have a mass.
fn heights(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    for (&id, obstacle) in subjects.scenario.obstacles() {
        let VerticalSpan { low, high } = obstacle.vertical_span();
        let finding = |severity, code, message| Finding {
            severity,
            code,
            object: ObjectId::Obstacle(id),
            place: obstacle.shape.centre(),
            message,
        };
        if low >= high {
            let message = format!(
                "has its lower edge at {low} m and its top at {high} m, so vehicles drive through it; set \
                 `base` below `height`"
            );
            let code = Code::ObstacleWithoutHeight;
            findings.push(finding(Severity::Error, code, message));
        }
        if obstacle.hangs() && obstacle.mass.is_some() {
            let message = "has a mass but does not touch the ground, so it cannot be pushed; \
             remove its mass or its `base`";
            let code = Code::HangingMass;
            findings.push(finding(Severity::Warning, code, message.into()));
        }
    }
}

/// Finds obstacles that stand on a lanelet. An obstacle does so if a point of the lanelet's centre line is
/// closer to it than half the lane width.
fn on_roads(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let all = subjects.scenario.obstacles().iter();
    let met = all.filter(|(_, obstacle)| may_be_met(subjects.scenario, obstacle));
    let met = met.map(|(&id, obstacle)| (id, obstacle)).collect();
    for_each_on_lane(subjects, met, |id, lanelet, place| {
        findings.push(on_road(id, lanelet, place));
    });
}

/// Visits the objects whose outline overlaps a lanelet, each with the first such lanelet and a
/// point of its centre line.
pub(super) fn for_each_on_lane<K: Copy>(
    subjects: &Subjects<'_>,
    mut left: Vec<(K, &Obstacle)>,
    mut visit: impl FnMut(K, &Lanelet, DVec2),
) {
    let graph = subjects.graph;
    let lanelets = graph.lanelets();
    let widest = lanelets.iter().map(|one| one.width).fold(0.0, f64::max);
    let mut all = graph
        .numbered()
        .flat_map(|(id, lanelet)| dense(graph.line(id)).map(move |point| (point, lanelet)));
    let mut grid = GridIndex::new();
    // The lanelets are checked in parts, so that thousands of kilometres of roads do not fill the memory.
    // Each obstacle is reported at its first point in the order of lanelets, so the first part that has such
    // a point decides.
    while !left.is_empty() {
        let (points, lanelets): (Vec<DVec2>, Vec<&Lanelet>) = all.by_ref().take(PART).unzip();
        if points.is_empty() {
            break;
        }
        // The lane points are the ones in the grid, because a city has millions of them but few
        // obstacles.
        grid.rebuild(&points, 10.0);
        left.retain(|&(id, obstacle)| {
            let hit = first_on_lane(&grid, &lanelets, widest, obstacle);
            if let Some((lanelet, place)) = hit {
                visit(id, lanelet, place);
            }
            hit.is_none()
        });
    }
}

/// Whether any vehicle type would hit an obstacle, rather than pass underneath or drive over it.
pub(super) fn may_be_met(scenario: &Scenario, obstacle: &Obstacle) -> bool {
    let span = obstacle.vertical_span();
    let kinds = scenario.vehicle_types();
    // In a scenario without vehicle types, it is not known which vehicles would meet the obstacle.
    kinds.is_empty() || kinds.values().any(|kind| span.is_met_by(kind.whole_span()))
}

/// Finds the lanelet with the lowest index whose lane an obstacle overlaps. Returns the lanelet and
/// a point of its centre line within half a lane width of the obstacle.
fn first_on_lane<'a>(
    grid: &GridIndex,
    lanelets: &[&'a Lanelet],
    widest: f64,
    obstacle: &Obstacle,
) -> Option<(&'a Lanelet, DVec2)> {
    let (centre, radius) = circle_around(obstacle);
    let mut hit: Option<(u32, DVec2)> = None;
    // Most points near a house are farther from it than half a lane width. Comparing them with its bounding
    // box first is faster than comparing them with its walls.
    let bounds = match &obstacle.shape {
        Shape::Polygon { points } => polygon::bounds(points),
        _ => None,
    };
    let is_apart = |point: DVec2, distance: f64| {
        bounds.is_some_and(|(low, high)| {
            (point.clamp(low, high) - point).length() > distance + ROUNDING
        })
    };
    // The last points that were compared with the walls, and their distances from them. Between two
    // points, this distance changes by at most the distance between the points, so most points near
    // a known one need not be compared. Several are kept, because the points of a cell belong to
    // several lanes.
    let mut known = [(DVec2::ZERO, f64::NEG_INFINITY); KNOWN];
    let mut compared = 0;
    // Hits are ranked by lanelet rather than by cell, so that the finding does not depend on the
    // grid.
    grid.for_each_within(centre, radius + 0.5 * widest + ROUNDING, |index, point| {
        let half_lane = 0.5 * lanelets[index as usize].width;
        let first = hit.is_none_or(|(best, _)| index < best);
        let is_free = || {
            known.iter().any(|&(at, distance)| {
                let room = distance - half_lane - ROUNDING;
                room > 0.0 && (point - at).length_squared() < room * room
            })
        };
        if !first || is_apart(point, half_lane) || is_free() {
            return;
        }
        let distance = obstacle.shape.distance(point);
        known[compared % KNOWN] = (point, distance);
        compared += 1;
        if distance < half_lane {
            hit = Some((index, point));
        }
    });
    hit.map(|(index, place)| (lanelets[index as usize], place))
}

fn on_road(id: ObstacleId, lanelet: &Lanelet, place: DVec2) -> Finding {
    let road = lanelet.road();
    let on = road.map_or("a junction".into(), |road| road.to_string());
    Finding {
        severity: Severity::Warning,
        code: Code::ObstacleOnRoad,
        object: ObjectId::Obstacle(id),
        place,
        message: format!("stands on a lane of {on}; move it if that is not intended"),
    }
}

/// Returns the points of a centre line, with additional points where they are far apart.
fn dense(line: CentreLine<'_>) -> impl Iterator<Item = DVec2> {
    let poses = line.poses();
    let spacing = line.length() / (poses.len() - 1) as f64;
    // With this number of pieces, points are at most 1 / 0.7 = 1.4 m apart.
    let pieces = (0.7 * spacing).ceil().max(1.0) as usize;
    let between = poses.windows(2).flat_map(move |pair| {
        let (from, to) = (pair[0].position, pair[1].position);
        (0..pieces).map(move |piece| from.lerp(to, piece as f64 / pieces as f64))
    });
    between.chain(poses.last().map(|pose| pose.position))
}

pub(super) fn circle_around(obstacle: &Obstacle) -> (DVec2, f64) {
    let centre = obstacle.shape.centre();
    let outline = obstacle.shape.outline();
    let radius = outline
        .iter()
        .map(|p| (*p - centre).length())
        .fold(0.0, f64::max);
    (centre, radius)
}

/// Overlap up to which two outlines count as only touching, m.
pub(super) const TOUCHING: f64 = 2e-3;
/// Like `TOUCHING`, but for two fixed obstacles. Outlines of houses are accurate only to 10 or 20 cm, and
/// fixed obstacles do not move.
const WALLS: f64 = 0.2;

/// Finds obstacles that overlap each other, by a sweep along x. Each obstacle is reported once.
fn overlaps(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    struct Swept {
        id: ObstacleId,
        outline: Vec<DVec2>,
        low: DVec2,
        high: DVec2,
        is_fixed: bool,
        span: VerticalSpan,
        /// The outline for comparisons with other fixed obstacles, computed on first use.
        wall: OnceCell<Vec<DVec2>>,
    }
    impl Swept {
        fn overlaps(&self, other: &Self) -> bool {
            if !self.is_fixed || !other.is_fixed {
                return outlines_overlap(&self.outline, &other.outline, TOUCHING);
            }
            let wall = |one: &Self| shrunk(&one.outline, WALLS);
            let own = self.wall.get_or_init(|| wall(self));
            shrunk_overlap(own, other.wall.get_or_init(|| wall(other)))
        }
    }
    let mut swept: Vec<_> = subjects
        .scenario
        .obstacles()
        .iter()
        .filter_map(|(&id, obstacle)| {
            let outline = obstacle.shape.outline();
            let (low, high) = polygon::bounds(&outline)?;
            Some(Swept {
                id,
                outline,
                low,
                high,
                is_fixed: obstacle.mass.is_none(),
                span: obstacle.vertical_span(),
                wall: OnceCell::new(),
            })
        })
        .collect();
    // Sorted by left side, so that an obstacle can overlap only obstacles whose left side comes
    // before its right side.
    swept.sort_by(|a, b| a.low.x.total_cmp(&b.low.x).then(a.id.cmp(&b.id)));
    let mut told = vec![false; swept.len()];
    for (i, a) in swept.iter().enumerate() {
        let others = swept[i + 1..].iter().zip(i + 1..);
        for (b, j) in others.take_while(|(b, _)| b.low.x < a.high.x) {
            let apart = b.low.y >= a.high.y || a.low.y >= b.high.y || !a.span.overlaps(b.span);
            if !told[j] && !apart && a.overlaps(b) {
                told[j] = true;
                let (first, second) = (a.id.min(b.id), a.id.max(b.id));
                findings.push(Finding {
                    severity: Severity::Warning,
                    code: Code::ObstaclesOverlap,
                    object: ObjectId::Obstacle(second),
                    place: 0.5 * (a.low.max(b.low) + a.high.min(b.high)),
                    message: format!("overlaps {first}; move one of them"),
                });
            }
        }
    }
}

/// Whether two outlines overlap by more than `little` metres. They may touch.
pub(super) fn outlines_overlap(a: &[DVec2], b: &[DVec2], little: f64) -> bool {
    shrunk_overlap(&shrunk(a, little), &shrunk(b, little))
}

/// Returns an outline whose edges are moved inwards by half of `little` metres. Moving the corners
/// towards the centre instead would move the walls of a notch outwards.
fn shrunk(points: &[DVec2], little: f64) -> Vec<DVec2> {
    let ring = polygon::tidy_ring(points);
    let mitres = polygon::outward_mitres(&ring, 2.0);
    let inward = ring.iter().zip(mitres);
    inward.map(|(p, n)| *p - 0.5 * little * n).collect()
}

/// Whether two shrunk outlines overlap.
fn shrunk_overlap(a: &[DVec2], b: &[DVec2]) -> bool {
    if a.is_empty() || b.is_empty() {
        return false;
    }
    if polygon::contains(b, a[0]) || polygon::contains(a, b[0]) {
        return true;
    }
    let Some((low, high)) = polygon::bounds(b) else {
        return false;
    };
    // Most edges of a house are too far from its neighbour to cross it. An edge outside the
    // neighbour's bounding box crosses nothing in it.
    let mut near =
        polygon::edges(a).filter(|&(p, q)| p.min(q).cmple(high).all() && p.max(q).cmpge(low).all());
    near.any(|(p, q)| polygon::edges(b).any(|(r, s)| polygon::segments_cross(p, q, r, s)))
}
