//! Making one road of two that meet.

use super::OperationError;
use super::roads::{BENT_SHARE, from_the_other_end, turned_round};
use super::users::{renamed, with_places, with_restrictions};
use crate::agents::Place;
use crate::edit::Edit;
use crate::ids::NodeId;
use crate::road::{Poly3, Road, RoadEnd};
use crate::scenario::Scenario;
use roadwright_geometry::ReferenceLine;

/// The edit that makes one road of the two that meet at a node.
///
/// The road with the smaller id stays; the lanes of both must be the same at the node.
///
/// # Errors
/// [`OperationError::NotTwoRoads`] if other than two roads end there, or their lanes differ.
pub fn merged(scenario: &Scenario, node: NodeId) -> Result<Edit, OperationError> {
    let network = scenario.network();
    let not_two = OperationError::NotTwoRoads(node);
    let ends = network.ends_at(node);
    let [(first, first_end), (second, second_end)] = ends.as_slice() else {
        return Err(not_two);
    };
    let (Some(a), Some(b)) = (network.road(*first), network.road(*second)) else {
        return Err(not_two);
    };
    if first == second {
        return Err(not_two);
    }
    // Seen so that the first road ends at the node and the second one starts there.
    let turned_a = *first_end == RoadEnd::Start;
    let turned_b = *second_end == RoadEnd::End;
    let head = if turned_a { turned_round(a) } else { a.clone() };
    let tail = if turned_b { turned_round(b) } else { b.clone() };
    let lanes = |road: &Road, s: f64| -> Vec<_> {
        let lanes = &road.section_at(s).lanes;
        lanes.iter().map(|l| (l.id, l.kind, l.direction)).collect()
    };
    if lanes(&head, head.length()) != lanes(&tail, 0.0) || head.layer != tail.layer {
        return Err(not_two);
    }
    let seam = head.length();
    let mut road = head.clone();
    road.to = tail.to;
    road.reference_line = head.reference_line.joined(&tail_line(&head, &tail)?)?;
    append_lane_offset(&mut road, &tail, seam);
    append_lane_sections(&mut road, &tail, seam);
    let (len_a, len_b) = (a.length(), b.length());
    let (first, second) = (*first, *second);
    let places = with_places(scenario, |place| {
        Some(match place {
            Place::Lane(at) if at.road == first && turned_a => from_the_other_end(at, first, len_a),
            Place::Lane(at) if at.road == second && turned_b => {
                Place::lane(first, -at.lane, seam + (len_b - at.s).clamp(0.0, len_b))
            }
            Place::Lane(at) if at.road == second => Place::lane(first, at.lane, seam + at.s),
            _ => *place,
        })
    });
    let restrictions = with_restrictions(scenario, |at, restriction| {
        // Those at the seam go with it.
        let name = |road| if road == second { first } else { road };
        Some(if at == node {
            *restriction
        } else {
            renamed(restriction, name)
        })
    });
    let mut edits = vec![Edit::Road(first, Some(Box::new(road)))];
    edits.extend(places.into_iter().map(|(_, edit)| edit));
    edits.push(Edit::Road(second, None));
    edits.push(Edit::Node(node, None));
    edits.extend(restrictions);
    Ok(Edit::Batch(edits))
}

/// Continues the lateral shift of lane 0 beyond the seam with that of the tail.
fn append_lane_offset(road: &mut Road, tail: &Road, seam: f64) {
    if road.lane_offset != tail.lane_offset || !is_constant(&tail.lane_offset) {
        if road.lane_offset.is_empty() {
            road.lane_offset.push(Poly3::constant(0.0));
        }
        let shifted = tail.lane_offset.iter().map(|poly| Poly3 {
            s: poly.s + seam,
            ..*poly
        });
        road.lane_offset.extend(shifted);
        if tail.lane_offset.is_empty() {
            road.lane_offset.push(Poly3 {
                s: seam,
                ..Poly3::constant(0.0)
            });
        }
    }
}

/// Adds the lane sections of the tail, unless they only go on with the last one.
fn append_lane_sections(road: &mut Road, tail: &Road, seam: f64) {
    let plain = tail
        .lane_sections
        .iter()
        .flat_map(|section| &section.lanes)
        .all(|lane| is_constant(&lane.width));
    let same = plain
        && tail.lane_sections.len() == 1
        && road.speed_limit == tail.speed_limit
        && road.lane_sections.last().map(|s| &s.lanes)
            == tail.lane_sections.first().map(|s| &s.lanes);
    if same {
        return;
    }
    // The whole road has the limit of its head: lanes of the tail keep their own.
    let differs = tail.speed_limit != road.speed_limit;
    let sections = tail.lane_sections.iter().cloned().map(|mut section| {
        section.s += seam;
        for lane in section.lanes.iter_mut().filter(|_| differs) {
            lane.speed_limit.get_or_insert(tail.speed_limit);
        }
        section
    });
    road.lane_sections.extend(sections);
}

/// Whether a list of polynomials is one constant, or none.
fn is_constant(list: &[Poly3]) -> bool {
    match list {
        [] => true,
        [only] => only.b == 0.0 && only.c == 0.0 && only.d == 0.0,
        _ => false,
    }
}

/// The second line from where the first one ends: a heading that differs is bent in.
fn tail_line(head: &Road, tail: &Road) -> Result<ReferenceLine, OperationError> {
    let (end, line) = (head.reference_line.end(), &tail.reference_line);
    let turn = roadwright_geometry::math::wrap_angle(line.start().heading - end.heading);
    let gap = (line.start().position - end.position).length();
    if turn.abs() < 1e-9 && gap < 1e-6 {
        return Ok(line.clone());
    }
    let bent = (BENT_SHARE * line.length()).min(30.0);
    let bend = ReferenceLine::join(end, line.pose(bent))?;
    let chord = (line.pose(bent).position - end.position).length();
    if bend.length() > 2.0 * chord {
        // The roads meet at a corner, not in a line.
        return Err(roadwright_geometry::GeometryError::NoJoin.into());
    }
    Ok(bend.joined(&line.slice(bent, line.length())?)?)
}
