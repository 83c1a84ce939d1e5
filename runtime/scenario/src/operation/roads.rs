//! Changing one road: shape, direction, lanes; merging two.

use super::OperationError;
use super::users::with_places;
use crate::agents::{LanePlace, Place};
use crate::edit::Edit;
use crate::ids::RoadId;
use crate::road::{Lane, LaneDirection, Poly3, Road, RoadEnd};
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::alignment::Alignment;
use roadwright_geometry::projection::Projector;
use roadwright_geometry::stroke::{StrokeOptions, fit};
use roadwright_geometry::{Pose, ReferenceLine};
use std::collections::BTreeMap;

/// Share of a line that is bent when its end is moved and it has no points of intersection.
pub(super) const BENT_SHARE: f64 = 1.0 / 3.0;

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
    let moved = |place: &Place| {
        if let Place::Lane(at) = place
            && let Some((before, now)) = stretched.get(&at.road)
            && (before - now).abs() > 1e-9
        {
            let s = (at.s * now / before).clamp(0.0, *now);
            return Some(Place::lane(at.road, at.lane, s));
        }
        Some(*place)
    };
    let edits = with_places(scenario, moved).into_iter();
    edits.map(|(_, edit)| edit).collect()
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
    let places = with_places(scenario, |place| {
        Some(match place {
            Place::Lane(at) if at.road == id => from_the_other_end(at, id, length),
            _ => *place,
        })
    });
    edits.extend(places.into_iter().map(|(_, edit)| edit));
    Ok(Edit::Batch(edits))
}

/// The same place on a road that runs the other way.
pub(super) fn from_the_other_end(at: &LanePlace, road: RoadId, length: f64) -> Place {
    Place::lane(road, -at.lane, (length - at.s).clamp(0.0, length))
}

/// The road as it is when it runs the other way.
pub(super) fn turned_round(road: &Road) -> Road {
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
    let places = with_places(scenario, moved);
    let mut edits: Vec<_> = places.into_iter().map(|(_, edit)| edit).collect();
    edits.push(Edit::Road(id, Some(Box::new(changed))));
    Ok(Edit::Batch(edits))
}
