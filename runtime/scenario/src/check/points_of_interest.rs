//! Findings about points of interest. Their names have to be unique, because scripts look points up
//! by name. Parking bays have to be free.

use super::obstacles::{circle_around, for_each_on_lane, may_be_met, outlines_overlap};
use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::ids::PointOfInterestId;
use crate::objects::{Obstacle, Shape};
use glam::DVec2;
use roadwright_geometry::grid_index::GridIndex;
use roadwright_geometry::oriented_box::OrientedBox;
use std::collections::BTreeMap;

/// Overlap up to which a bay and another object count as only touching, m.
const TOUCHING: f64 = 0.1;
/// Edge length of the cells in which bays are looked up, m.
const CELL: f64 = 10.0;

pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    names(subjects, findings);
    bays(subjects, findings);
}

/// Finds points of interest without a unique name.
fn names(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let mut first = BTreeMap::new();
    for (&id, point) in subjects.scenario.points_of_interest() {
        // Scripts find the first of two points with the same name, so the second is the one that has to be
        // renamed.
        let name = point.name.as_str();
        let message = if name.trim().is_empty() {
            "has no name, so scripts cannot find it".to_owned()
        } else if let Some(other) = first.get(name) {
            format!(
                "has the same name \"{name}\" as {other}, so scripts find only that one; rename one of them"
            )
        } else {
            first.insert(name, id);
            continue;
        };
        findings.push(Finding {
            severity: Severity::Warning,
            code: Code::NameUnclear,
            object: ObjectId::PointOfInterest(id),
            place: point.position(),
            message,
        });
    }
}

/// A parking bay.
struct Bay {
    id: PointOfInterestId,
    outline: OrientedBox,
}

impl Bay {
    fn finding(&self, code: Code, message: String) -> Finding {
        Finding {
            severity: Severity::Warning,
            code,
            object: ObjectId::PointOfInterest(self.id),
            place: self.outline.centre,
            message,
        }
    }
}

/// Finds parking bays on lanes, bays with an obstacle in them, and bays that overlap.
fn bays(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let points = subjects.scenario.points_of_interest().iter();
    let bays: Vec<Bay> = points
        .filter_map(|(&id, point)| {
            let outline = point.bay()?;
            Some(Bay { id, outline })
        })
        .collect();
    if bays.is_empty() {
        return;
    }
    bays_on_lanes(subjects, &bays, findings);
    let centres: Vec<DVec2> = bays.iter().map(|bay| bay.outline.centre).collect();
    let mut grid = GridIndex::new();
    grid.rebuild(&centres, CELL);
    blocked_bays(subjects, &bays, &grid, findings);
    overlapping_bays(&bays, &grid, findings);
}

fn bays_on_lanes(subjects: &Subjects<'_>, bays: &[Bay], findings: &mut Vec<Finding>) {
    let ground = |bay: &Bay| Obstacle {
        name: String::new(),
        shape: Shape::Box {
            x: bay.outline.centre.x.into(),
            y: bay.outline.centre.y.into(),
            heading: roadwright_geometry::heading_of(bay.outline.forward).into(),
            length: (2.0 * (bay.outline.half_length - TOUCHING)).into(),
            width: (2.0 * (bay.outline.half_width - TOUCHING)).into(),
        },
        base: 0.0.into(),
        height: 1.0.into(),
        mass: None.into(),
    };
    let grounds: Vec<Obstacle> = bays.iter().map(ground).collect();
    for_each_on_lane(
        subjects,
        bays.iter().zip(&grounds).collect(),
        |bay, lanelet, _| {
            let on = lanelet
                .road()
                .map_or("a junction".into(), |road| road.to_string());
            let message = format!(
                "lies on a lane of {on}, so a vehicle parked in it blocks traffic; move it"
            );
            findings.push(bay.finding(Code::BayOnRoad, message));
        },
    );
}

fn blocked_bays(
    subjects: &Subjects<'_>,
    bays: &[Bay],
    grid: &GridIndex,
    findings: &mut Vec<Finding>,
) {
    let mut is_blocked = vec![false; bays.len()];
    let obstacles = subjects.scenario.obstacles().iter();
    for (id, obstacle) in obstacles.filter(|(_, one)| may_be_met(subjects.scenario, one)) {
        let (centre, radius) = circle_around(obstacle);
        let outline = obstacle.shape.outline();
        let mut hits = Vec::new();
        grid.for_each_within(centre, radius + bays[0].outline.radius(), |index, _| {
            let bay = &bays[index as usize].outline;
            if outlines_overlap(&bay.corners(), &outline, TOUCHING) {
                hits.push(index as usize);
            }
        });
        hits.sort_unstable();
        for index in hits {
            if !std::mem::replace(&mut is_blocked[index], true) {
                let message =
                    format!("contains {id}, so no vehicle can park there; move one of them");
                findings.push(bays[index].finding(Code::BayBlocked, message));
            }
        }
    }
}

fn overlapping_bays(bays: &[Bay], grid: &GridIndex, findings: &mut Vec<Finding>) {
    for (number, bay) in bays.iter().enumerate() {
        let mut first: Option<usize> = None;
        grid.for_each_within(
            bay.outline.centre,
            2.0 * bay.outline.radius(),
            |index, _| {
                let index = index as usize;
                let is_earlier = index < first.unwrap_or(number);
                if is_earlier && bay.outline.penetration(&bays[index].outline) > TOUCHING {
                    first = Some(index);
                }
            },
        );
        if let Some(first) = first {
            let message = format!("overlaps {}; move one of them", bays[first].id);
            findings.push(bay.finding(Code::BaysOverlap, message));
        }
    }
}
