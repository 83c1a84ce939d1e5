//! Changing one road: shape, direction, lanes; merging two.

use super::OperationError;
use crate::agents::{Flow, Place};
use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::road::{Lane, LaneDirection, Poly3, Road, RoadEnd};
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::alignment::Alignment;
use roadwright_geometry::projection::Projector;
use roadwright_geometry::stroke::{StrokeOptions, fit};
use roadwright_geometry::{Pose, ReferenceLine};
use std::collections::BTreeMap;

/// Share of a line that is bent when its end is moved and it has no points of intersection.
const BENT_SHARE: f64 = 1.0 / 3.0;

/// The line with its start (or end) where `to` takes it; the other end stays.
pub(super) fn with_end_at(
    line: &ReferenceLine,
    start: bool,
    to: impl Fn(DVec2) -> DVec2,
) -> Result<ReferenceLine, OperationError> {
    if let Some(mut points) = Alignment::of(line) {
        let index = if start { 0 } else { points.points().len() - 1 };
        let target = to(points.points()[index].position);
        points.move_point(index, target);
        if let Ok(line) = points.line() {
            return Ok(line);
        }
    }
    if !start {
        return Ok(with_end_at(&line.reversed(), true, to)?.reversed());
    }
    let bent = BENT_SHARE * line.length();
    let from = Pose {
        position: to(line.start().position),
        heading: line.start().heading,
    };
    let head = ReferenceLine::join(from, line.pose(bent));
    let head = match head {
        Ok(head) if head.length() < 4.0 * line.length() + 100.0 => head,
        _ => return Ok(ReferenceLine::straight(from.position, line.end().position)?),
    };
    Ok(head.joined(&line.slice(bent, line.length())?)?)
}

/// The road along another line, its lane sections stretched to the new length.
pub(super) fn fitted(road: &Road, line: ReferenceLine) -> Road {
    let scale = line.length() / road.length();
    let mut road = road.clone();
    if (scale - 1.0).abs() > 1e-12 {
        for poly in &mut road.lane_offset {
            *poly = stretched(poly, scale);
        }
        for section in &mut road.lane_sections {
            section.s *= scale;
            for width in section.lanes.iter_mut().flat_map(|lane| &mut lane.width) {
                *width = stretched(width, scale);
            }
        }
    }
    road.reference_line = line;
    road
}

/// A polynomial over a distance that has become `scale` times as long.
fn stretched(poly: &Poly3, scale: f64) -> Poly3 {
    Poly3 {
        s: poly.s * scale,
        a: poly.a,
        b: poly.b / scale,
        c: poly.c / (scale * scale),
        d: poly.d / (scale * scale * scale),
    }
}

/// Edits of the agents and flows on roads that have been stretched: they keep their share of it.
pub(super) fn stretched_places(
    scenario: &Scenario,
    stretched: &BTreeMap<RoadId, (f64, f64)>,
) -> Vec<Edit> {
    with_places(scenario, |place| {
        if let Place::Lane(at) = place
            && let Some((before, now)) = stretched.get(&at.road)
            && (before - now).abs() > 1e-9
        {
            at.s = (at.s * now / before).clamp(0.0, *now);
        }
    })
}

/// The edit that gives a road another line; its nodes go where the line ends.
///
/// Other roads at these nodes follow with their ends.
///
/// # Errors
/// If the road does not exist or a neighbour cannot follow.
pub fn reshaped(
    scenario: &Scenario,
    id: RoadId,
    line: ReferenceLine,
) -> Result<Edit, OperationError> {
    let network = scenario.network();
    let road = network.road(id).ok_or(OperationError::NoSuchRoad(id))?;
    let mut nodes = Vec::new();
    let mut roads = BTreeMap::from([(id, fitted(road, line.clone()))]);
    for (end, node_id, position) in [
        (RoadEnd::Start, road.from, line.start().position),
        (RoadEnd::End, road.to, line.end().position),
    ] {
        let Some(node) = network.node(node_id) else {
            continue;
        };
        if (node.position() - position).length() < 1e-6 {
            continue;
        }
        let mut node = node.clone();
        (node.x, node.y) = (position.x, position.y);
        nodes.push(Edit::Node(node_id, Some(node)));
        for (other, other_end) in network.ends_at(node_id) {
            if (other, other_end) == (id, end) {
                continue;
            }
            // A road with both ends here, or between both moved nodes, follows twice.
            if let Some(neighbour) = roads.get(&other).or(network.road(other)) {
                let start = other_end == RoadEnd::Start;
                let line = with_end_at(&neighbour.reference_line, start, |_| position)?;
                let followed = fitted(neighbour, line);
                roads.insert(other, followed);
            }
        }
    }
    let mut edits = nodes;
    let length = |id: &RoadId| network.road(*id).map_or(0.0, Road::length);
    let lengths = roads
        .iter()
        .map(|(id, road)| (*id, (length(id), road.length())));
    let places = stretched_places(scenario, &lengths.collect());
    let roads = roads.into_iter();
    edits.extend(roads.map(|(id, road)| Edit::Road(id, Some(Box::new(road)))));
    edits.extend(places);
    Ok(Edit::Batch(edits))
}

/// The edit that lets a road run the other way: s from the other end, lanes mirrored, so that
/// nothing moves and everyone drives as before.
///
/// # Errors
/// If the road does not exist.
pub fn reversed(scenario: &Scenario, id: RoadId) -> Result<Edit, OperationError> {
    let road = scenario
        .network()
        .road(id)
        .ok_or(OperationError::NoSuchRoad(id))?;
    let length = road.length();
    let mut edits = vec![Edit::Road(id, Some(Box::new(turned_round(road))))];
    let turn = |place: &mut Place| {
        if let Place::Lane(at) = place
            && at.road == id
        {
            *place = Place::lane(id, -at.lane, (length - at.s).clamp(0.0, length));
        }
    };
    edits.extend(with_places(scenario, turn));
    Ok(Edit::Batch(edits))
}

/// Edits of the agents and flows whose places a change moves.
fn with_places(scenario: &Scenario, change: impl Fn(&mut Place)) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (&id, agent) in scenario.agents() {
        let mut changed = agent.clone();
        change(&mut changed.start);
        changed.via.iter_mut().for_each(&change);
        changed.destination.iter_mut().for_each(&change);
        if changed != *agent {
            edits.push(Edit::Agent(id, Some(Box::new(changed))));
        }
    }
    for (&id, flow) in scenario.flows() {
        let mut changed = flow.clone();
        change(&mut changed.origin);
        change(&mut changed.destination);
        if changed != *flow {
            edits.push(Edit::Flow(id, Some(Box::new(changed))));
        }
    }
    edits
}

fn turned_round(road: &Road) -> Road {
    let length = road.length();
    let mut turned = road.clone();
    (turned.from, turned.to) = (road.to, road.from);
    turned.reference_line = road.reference_line.reversed();
    turned.lane_offset = mirrored(&road.lane_offset, length, -1.0);
    turned.lane_sections = (0..road.lane_sections.len())
        .rev()
        .map(|index| {
            let mut section = road.lane_sections[index].clone();
            let end = road.section_end(index);
            let span = end - section.s;
            section.s = length - end;
            for lane in &mut section.lanes {
                lane.id = -lane.id;
                lane.width = mirrored(&lane.width, span, 1.0);
            }
            section.lanes.reverse();
            section
        })
        .collect();
    if let Some(first) = turned.lane_sections.first_mut() {
        first.s = 0.0;
    }
    turned
}

/// A list of polynomials seen from the other end, times `sign`.
fn mirrored(list: &[Poly3], length: f64, sign: f64) -> Vec<Poly3> {
    (0..list.len())
        .rev()
        .map(|i| {
            let end = list.get(i + 1).map_or(length, |next| next.s);
            let at_end = list[i].rebased(end);
            Poly3 {
                s: (length - end).max(0.0),
                a: sign * at_end.a,
                b: -sign * at_end.b,
                c: sign * at_end.c,
                d: -sign * at_end.d,
            }
        })
        .collect()
}

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
    let plain = tail
        .lane_sections
        .iter()
        .flat_map(|section| &section.lanes)
        .all(|lane| is_constant(&lane.width));
    let same = plain
        && tail.lane_sections.len() == 1
        && head.speed_limit == tail.speed_limit
        && road.lane_sections.last().map(|s| &s.lanes)
            == tail.lane_sections.first().map(|s| &s.lanes);
    if !same {
        road.lane_sections
            .extend(tail.lane_sections.iter().cloned().map(|mut section| {
                section.s += seam;
                for lane in &mut section.lanes {
                    if tail.speed_limit != head.speed_limit {
                        lane.speed_limit.get_or_insert(tail.speed_limit);
                    }
                }
                section
            }));
    }
    let (len_a, len_b) = (a.length(), b.length());
    let (first, second) = (*first, *second);
    let follow = |place: &mut Place| {
        if let Place::Lane(at) = place {
            if at.road == first && turned_a {
                *place = Place::lane(first, -at.lane, (len_a - at.s).clamp(0.0, len_a));
            } else if at.road == second {
                let (lane, s) = if turned_b {
                    (-at.lane, (len_b - at.s).clamp(0.0, len_b))
                } else {
                    (at.lane, at.s)
                };
                *place = Place::lane(first, lane, seam + s);
            }
        }
    };
    let mut edits = vec![Edit::Road(first, Some(Box::new(road)))];
    edits.extend(with_places(scenario, follow));
    edits.push(Edit::Road(second, None));
    edits.push(Edit::Node(node, None));
    edits.extend(renamed_restrictions(scenario, node, second, first));
    Ok(Edit::Batch(edits))
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

fn renamed_restrictions(scenario: &Scenario, gone: NodeId, old: RoadId, new: RoadId) -> Vec<Edit> {
    let nodes = scenario.network().nodes();
    nodes
        .filter(|(id, node)| {
            *id != gone
                && node
                    .restrictions
                    .iter()
                    .any(|r| r.from == old || r.to == old)
        })
        .map(|(id, node)| {
            let mut node = node.clone();
            for restriction in &mut node.restrictions {
                for road in [&mut restriction.from, &mut restriction.to] {
                    if *road == old {
                        *road = new;
                    }
                }
            }
            Edit::Node(id, Some(node))
        })
        .collect()
}

/// The edit that redraws a road with as few lines and arcs as stay about within `tolerance`
/// metres (half as much again at most); an empty one if it is as simple as that already.
///
/// # Errors
/// If the road does not exist or cannot be fitted.
pub fn simplified(scenario: &Scenario, id: RoadId, tolerance: f64) -> Result<Edit, OperationError> {
    let road = scenario
        .network()
        .road(id)
        .ok_or(OperationError::NoSuchRoad(id))?;
    let samples = road.reference_line.sample(0.05, 0.0);
    let options = StrokeOptions {
        tolerance,
        spacing: 1.0,
        min_radius: 0.9 / road.reference_line.max_curvature().max(1e-3),
    };
    let line = fit(&samples, &options)?.line;
    let projector = Projector::new(line.clone());
    let miss = |point: &DVec2| {
        let foot = projector.closest(*point);
        (line.pose(foot.s).position - *point).length()
    };
    if samples.iter().map(miss).fold(0.0, f64::max) > 1.5 * tolerance {
        return Ok(Edit::Batch(Vec::new()));
    }
    if line.segments().len() >= road.reference_line.segments().len() {
        return Ok(Edit::Batch(Vec::new()));
    }
    Ok(Edit::Road(id, Some(Box::new(fitted(road, line)))))
}

/// The edit that gives a lane section other lanes, listed from left to right.
///
/// Ids are counted anew: `left` lanes lie to the left of the reference line, the rest to its
/// right. Lanes that were there, told by their ids, keep the way they are driven and who is on
/// them; a new lane has the id 0. Who starts on a lane that is gone goes with it, as do flows;
/// goals there are forgotten.
///
/// # Errors
/// If the road does not exist.
pub fn with_lanes(
    scenario: &Scenario,
    id: RoadId,
    section: usize,
    lanes: Vec<Lane>,
    left: usize,
) -> Result<Edit, OperationError> {
    let missing = OperationError::NoSuchRoad(id);
    let road = scenario.network().road(id).ok_or(missing.clone())?;
    let side = scenario.about().driving_side;
    let mut changed = road.clone();
    let Some(own) = changed.lane_sections.get_mut(section) else {
        return Err(missing);
    };
    let mut new_ids: BTreeMap<i8, Option<i8>> =
        own.lanes.iter().map(|lane| (lane.id, None)).collect();
    own.lanes = lanes
        .into_iter()
        .enumerate()
        .map(|(i, mut lane)| {
            let (old, forward) = (lane.id, lane.is_forward(side));
            lane.id = if i < left {
                (left - i) as i8
            } else {
                -((i - left) as i8) - 1
            };
            new_ids.entry(old).and_modify(|new| *new = Some(lane.id));
            if old != 0 && lane.kind.is_drivable() && lane.is_forward(side) != forward {
                lane.direction = match lane.direction {
                    LaneDirection::Standard => LaneDirection::Reversed,
                    LaneDirection::Reversed => LaneDirection::Standard,
                };
            }
            lane
        })
        .collect();
    let moved = |place: &Place| match place {
        Place::Lane(at) if at.road == id && road.section_index(at.s) == section => new_ids
            .get(&at.lane)
            .copied()
            .flatten()
            .map(|lane| Place::lane(id, lane, at.s)),
        _ => Some(*place),
    };
    let mut edits = users_moved(scenario, moved);
    edits.push(Edit::Road(id, Some(Box::new(changed))));
    Ok(Edit::Batch(edits))
}

/// Edits of agents and flows whose places have moved or are gone.
fn users_moved(scenario: &Scenario, moved: impl Fn(&Place) -> Option<Place>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (&id, agent) in scenario.agents() {
        let mut changed = agent.clone();
        let Some(start) = moved(&agent.start) else {
            edits.push(Edit::Agent(id, None));
            continue;
        };
        changed.start = start;
        changed.via = agent.via.iter().filter_map(&moved).collect();
        changed.destination = agent.destination.as_ref().and_then(&moved);
        if changed != *agent {
            edits.push(Edit::Agent(id, Some(Box::new(changed))));
        }
    }
    for (&id, flow) in scenario.flows() {
        match (moved(&flow.origin), moved(&flow.destination)) {
            (Some(origin), Some(destination)) => {
                let changed = Flow {
                    origin,
                    destination,
                    ..flow.clone()
                };
                if changed != *flow {
                    edits.push(Edit::Flow(id, Some(Box::new(changed))));
                }
            }
            _ => edits.push(Edit::Flow(id, None)),
        }
    }
    edits
}
