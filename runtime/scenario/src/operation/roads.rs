//! Changes to one road: its shape, direction and lanes.

use super::OperationError;
use super::users::{with_lane_rules, with_places};
use crate::agents::{LanePlace, Place};
use crate::driving_side::DrivingSide;
use crate::edit::Edit;
use crate::ids::RoadId;
use crate::junction_rules::RoadLane;
use crate::network::RoadNetwork;
use crate::road::{Lane, LaneChange, LaneDirection, Poly3, Road, RoadEnd};
use crate::scenario::Scenario;
use crate::turn::Turns;
use glam::DVec2;
use roadwright_geometry::alignment::Alignment;
use roadwright_geometry::projection::Projector;
use roadwright_geometry::stroke::{StrokeOptions, fit};
use roadwright_geometry::{Pose, ReferenceLine};
use std::collections::BTreeMap;

/// Fraction of a line that is bent when its end is moved, if the line has no points of
/// intersection.
pub(super) const BENT_SHARE: f64 = 1.0 / 3.0;

/// Returns the line with one end moved to the position `to`. The other end stays in place.
pub(super) fn with_end_at(
    line: &ReferenceLine,
    end: RoadEnd,
    to: impl Fn(DVec2) -> DVec2,
) -> Result<ReferenceLine, OperationError> {
    // If the line consists of straights and curves, the first point of intersection is moved: only
    // the straight and the curve next to the end change, and radii are kept if the legs are long
    // enough. Other lines, and lines whose curves would not fit, are bent over a third of their
    // length:
    //
    //   o--.                            o'-.
    //       `--.____________     to         `-.___________
    //    |  third |  rest stays
    if let Some(mut points) = Alignment::of(line) {
        let index = match end {
            RoadEnd::Start => 0,
            RoadEnd::End => points.points().len() - 1,
        };
        let target = to(points.points()[index].position);
        points.move_point(index, target);
        if let Ok(line) = points.line() {
            return Ok(line);
        }
    }
    // The end of a line is the start of the reversed line.
    if end == RoadEnd::End {
        return Ok(with_end_at(&line.reversed(), RoadEnd::Start, to)?.reversed());
    }
    let bent = BENT_SHARE * line.length();
    let from = Pose {
        position: to(line.start().position),
        heading: line.start().heading,
    };
    // A clothoid between two poses that face away from each other makes a detour. A line that
    // becomes four times as long as the road (plus 100 m, because short roads may be pulled far) is
    // such a detour, and the user expects a straight line instead.
    let head = ReferenceLine::join(from, line.pose(bent));
    let head = match head {
        Ok(head) if head.length() < 4.0 * line.length() + 100.0 => head,
        _ => return Ok(ReferenceLine::straight(from.position, line.end().position)?),
    };
    Ok(head.joined(&line.slice(bent, line.length())?)?)
}

/// Returns a copy of the road on another line, with the lane sections stretched to the new length.
pub(super) fn fitted(road: &Road, line: ReferenceLine) -> Road {
    // Lane sections and widths keep their relative positions: if a road is stretched from 100 m to
    // 150 m, a taper from 40 to 60 m extends from 60 to 90 m.
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

/// Stretches a polynomial to `scale` times its length.
fn stretched(poly: &Poly3, scale: f64) -> Poly3 {
    // The value at scale * s has to be the old value at s, so each coefficient is divided by the
    // scale once for each power of s.
    Poly3 {
        s: (poly.s * scale).into(),
        a: poly.a,
        b: (poly.b / scale).into(),
        c: (poly.c / (scale * scale)).into(),
        d: (poly.d / (scale * scale * scale)).into(),
    }
}

/// Returns the edit that puts a road on another line between its nodes. Lane sections, and places of agents and
/// flows, keep their relative position along the road.
pub(crate) fn on_line(scenario: &Scenario, id: RoadId, road: &Road, line: ReferenceLine) -> Edit {
    let lengths = BTreeMap::from([(id, (road.length(), line.length()))]);
    let mut edits = vec![Edit::Road(id, Some(Box::new(fitted(road, line))))];
    edits.extend(stretched_places(scenario, &lengths));
    Edit::Batch(edits)
}

/// Returns the edits of agents and flows on stretched roads. Their places keep their relative
/// position along the road.
pub(super) fn stretched_places(
    scenario: &Scenario,
    stretched: &BTreeMap<RoadId, (f64, f64)>,
) -> Vec<Edit> {
    let moved = |place: &Place| {
        if let Place::Lane(at) = place
            && let Some((before, now)) = stretched.get(&at.road)
            && (before - now).abs() > 1e-9
        {
            // A place halfway along the road stays halfway along it. The clamp handles rounding errors at the
            // end.
            let s = (at.s * *now / before).clamp(0.0, *now);
            return Some(Place::lane(at.road, at.lane, s));
        }
        Some(*place)
    };
    let edits = with_places(scenario, moved).into_iter();
    edits.map(|(_, edit)| edit).collect()
}

/// Returns the edit that gives a road another line and moves its nodes to the ends of the line.
///
/// Other roads that end at these nodes follow.
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
    let mut edits = Vec::new();
    let mut roads = BTreeMap::from([(id, fitted(road, line.clone()))]);
    for (end, node_id, position) in [
        (RoadEnd::Start, road.from, line.start().position),
        (RoadEnd::End, road.to, line.end().position),
    ] {
        let Some(node) = network.node(node_id) else {
            continue;
        };
        // A rounding error at the end of the line does not count as a move, so neighbours keep their exact
        // shape.
        if (node.position() - position).length() < 1e-6 {
            continue;
        }
        let mut node = node.clone();
        (*node.x, *node.y) = (position.x, position.y);
        edits.push(Edit::Node(node_id, Some(node)));
        let others = network.ends_at(node_id).into_iter();
        let others = others.filter(|other| *other != (id, end));
        follow(network, &mut roads, others, position)?;
    }
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

/// Moves the ends of roads to the given position and collects the changed roads in `roads`.
fn follow(
    network: &RoadNetwork,
    roads: &mut BTreeMap<RoadId, Road>,
    ends: impl Iterator<Item = (RoadId, RoadEnd)>,
    position: DVec2,
) -> Result<(), OperationError> {
    for (id, end) in ends {
        // A road with both ends at this node, or with one end at each moved node, is adapted twice.
        if let Some(road) = roads.get(&id).or(network.road(id)) {
            let line = with_end_at(&road.reference_line, end, |_| position)?;
            let followed = fitted(road, line);
            roads.insert(id, followed);
        }
    }
    Ok(())
}

/// Returns the edit that reverses the direction of a road. Distances s are measured from the other
/// end, and lane ids change sides. No object moves, and all agents drive as they did before.
///
/// # Errors
/// If the road does not exist.
pub fn reversed(scenario: &Scenario, id: RoadId) -> Result<Edit, OperationError> {
    let road = scenario
        .network()
        .road(id)
        .ok_or(OperationError::NoSuchRoad(id))?;
    let lane_after = |lane: i8| Some(-lane);
    Ok(in_other_direction(
        scenario,
        id,
        turned_round(road),
        lane_after,
    ))
}

/// Returns the edit that replaces a road by one whose line runs in the other direction. `lane_after` gives the new id of
/// a lane for the turning rules at the nodes, and `None` where they are removed.
fn in_other_direction(
    scenario: &Scenario,
    id: RoadId,
    road: Road,
    lane_after: impl Fn(i8) -> Option<i8>,
) -> Edit {
    // Restrictions name roads and nodes, not ends of roads, so they remain valid.
    let length = road.length();
    let mut edits = vec![Edit::Road(id, Some(Box::new(road)))];
    let places = with_places(scenario, |place| {
        Some(match place {
            Place::Lane(at) if at.road == id => from_the_other_end(at, id, length),
            _ => *place,
        })
    });
    edits.extend(places.into_iter().map(|(_, edit)| edit));
    edits.extend(with_lane_rules(scenario, |_, at| {
        if at.road != id {
            return Some(at);
        }
        let lane = lane_after(at.lane)?;
        Some(RoadLane { lane, ..at })
    }));
    Edit::Batch(edits)
}

/// Returns the edit that reverses the traffic of a one-way road, together with its reference line. The carriageway and
/// all objects keep their places. Arrows and turning rules of its lanes are removed, because they described the
/// junction at the other end. `None` if the road is not a one-way road.
///
/// # Errors
/// If the road does not exist.
pub fn reversed_traffic(scenario: &Scenario, id: RoadId) -> Result<Option<Edit>, OperationError> {
    let side = scenario.about().driving_side;
    let road = scenario
        .network()
        .road(id)
        .ok_or(OperationError::NoSuchRoad(id))?;
    let sections = road.lane_sections.iter();
    let lanes = sections.flat_map(|section| &section.lanes);
    let mut directions = lanes
        .filter(|lane| lane.kind.is_drivable())
        .map(|lane| lane.is_forward(side));
    let Some(first) = directions.next() else {
        return Ok(None);
    };
    if directions.any(|other| other != first) {
        return Ok(None);
    }
    let mut turned = turned_round(road);
    let sections = turned.lane_sections.iter_mut();
    for lane in sections.flat_map(|section| &mut section.lanes) {
        if lane.kind.is_drivable() {
            turn_traffic(lane);
        }
    }
    // Rules about the whole road, lane 0, remain.
    let lane_after = |lane: i8| (lane == 0).then_some(lane);
    Ok(Some(in_other_direction(scenario, id, turned, lane_after)))
}

/// Reverses the direction of a lane whose place stays the same. The driver's left becomes the right.
fn turn_traffic(lane: &mut Lane) {
    lane.direction = opposite(lane.direction);
    lane.turns = Turns::NONE;
    lane.lane_change = match lane.lane_change {
        LaneChange::Left => LaneChange::Right,
        LaneChange::Right => LaneChange::Left,
        either => either,
    };
}

fn opposite(direction: LaneDirection) -> LaneDirection {
    match direction {
        LaneDirection::Standard => LaneDirection::Reversed,
        LaneDirection::Reversed => LaneDirection::Standard,
    }
}

/// Returns the same place on the reversed road.
pub(super) fn from_the_other_end(at: &LanePlace, road: RoadId, length: f64) -> Place {
    Place::lane(road, -at.lane, (length - at.s).clamp(0.0, length))
}

/// Returns the reversed road.
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
            // On a road of 80 m, a section from 30 to 50 m stays where it is, because 80 - 50 = 30,
            // and a section from 0 to 30 m becomes a section from 50 to 80 m.
            section.s = (length - end).into();
            for lane in &mut section.lanes {
                // The left of the line becomes its right. Standard lanes remain standard, because
                // both their side and their direction along s are reversed.
                lane.id = -lane.id;
                lane.width = mirrored(&lane.width, span, 1.0);
            }
            section.lanes.reverse();
            section
        })
        .collect();
    // Set to exactly 0, because rounding may give 1e-15, and lanes are valid only if the first
    // section starts at 0.
    if let Some(first) = turned.lane_sections.first_mut() {
        first.s = 0.0.into();
    }
    turned
}

/// Returns a list of polynomials as seen from the other end, multiplied by `sign`.
fn mirrored(list: &[Poly3], length: f64, sign: f64) -> Vec<Poly3> {
    (0..list.len())
        .rev()
        .map(|i| {
            let end = list.get(i + 1).map_or(length, |next| next.s.get());
            // p(u) is measured from the end of the polynomial. Traversed backwards, it becomes p(-u), so odd
            // powers change sign. Widths keep their sign, but the lane offset changes it, because left
            // becomes right.
            let at_end = list[i].rebased(end);
            Poly3 {
                s: ((length - end).max(0.0)).into(),
                a: (sign * at_end.a).into(),
                b: (-sign * at_end.b).into(),
                c: (sign * at_end.c).into(),
                d: (-sign * at_end.d).into(),
            }
        })
        .collect()
}

/// Returns the edit that redraws a road with as few lines and arcs as possible. The new line stays roughly
/// within `tolerance` metres of the old one, and never deviates by more than 1.5 times this value. The edit
/// is empty if the road cannot be simplified.
///
/// # Errors
/// If the road does not exist or cannot be fitted.
pub fn simplified(scenario: &Scenario, id: RoadId, tolerance: f64) -> Result<Edit, OperationError> {
    let road = scenario
        .network()
        .road(id)
        .ok_or(OperationError::NoSuchRoad(id))?;
    // The fit uses only points, so it does not depend on the segments of the line.
    let samples = road.reference_line.sample(0.05, 0.0);
    let options = StrokeOptions {
        tolerance,
        spacing: 1.0,
        // No bend may be much tighter than the tightest existing bend. For a straight road, the
        // minimum radius is 900 m.
        min_radius: 0.9 / road.reference_line.max_curvature().max(1e-3),
    };
    let line = fit(&samples, &options)?.line;
    let projector = Projector::new(line.clone());
    let miss = |point: &DVec2| {
        let foot = projector.closest(*point);
        (line.pose(foot.s).position - *point).length()
    };
    // The fit respects the tolerance only approximately. A road whose fit deviates by more than 1.5 times the
    // tolerance is left unchanged.
    if samples.iter().map(miss).fold(0.0, f64::max) > 1.5 * tolerance {
        return Ok(Edit::Batch(Vec::new()));
    }
    // A line with at least as many segments is not simpler, however close the fit is.
    if line.segments().len() >= road.reference_line.segments().len() {
        return Ok(Edit::Batch(Vec::new()));
    }
    Ok(Edit::Road(id, Some(Box::new(fitted(road, line)))))
}

/// Returns the edit that replaces the lanes of a lane section, listed from left to right.
///
/// Ids are reassigned: the first `left` lanes are to the left of the reference line and the others
/// to its right. Existing lanes, identified by their old ids, keep their direction and the places
/// on them. New lanes are passed with id 0. Agents that start on a deleted lane and flows from or
/// to it are also deleted, and goals on it are dropped.
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
    // Maps old ids to new ones. A lane that is missing from the new list keeps `None`, because it is deleted.
    let mut new_ids: BTreeMap<i8, Option<i8>> =
        own.lanes.iter().map(|lane| (lane.id, None)).collect();
    own.lanes = lanes
        .into_iter()
        .enumerate()
        .map(|(i, lane)| {
            let old = lane.id;
            let lane = renumbered(lane, i, left, side);
            new_ids.entry(old).and_modify(|new| *new = Some(lane.id));
            lane
        })
        .collect();
    let moved = |place: &Place| match place {
        Place::Lane(at) if at.road == id && road.section_index(at.s.get()) == section => new_ids
            .get(&at.lane)
            .copied()
            .flatten()
            .map(|lane| Place::lane(id, lane, at.s.get())),
        _ => Some(*place),
    };
    let places = with_places(scenario, moved);
    let mut edits: Vec<_> = places.into_iter().map(|(_, edit)| edit).collect();
    // The lane turns at the ends of the road get the new ids. Turns of a deleted lane are deleted
    // with it.
    let last = road.lane_sections.len() - 1;
    edits.extend(with_lane_rules(scenario, |node, at| {
        let is_at_section =
            (section == 0 && road.from == node) || (section == last && road.to == node);
        if at.road != id || at.lane == 0 || !is_at_section {
            return Some(at);
        }
        let lane = new_ids.get(&at.lane).copied().flatten()?;
        Some(RoadLane { lane, ..at })
    }));
    edits.push(Edit::Road(id, Some(Box::new(changed))));
    Ok(Edit::Batch(edits))
}

/// Returns a lane with the id for its position from the left.
///
/// With `left` = 2 of 5 lanes, the ids are 2, 1, -1, -2, -3.
fn renumbered(mut lane: Lane, index: usize, left: usize, side: DrivingSide) -> Lane {
    let (old, forward) = (lane.id, lane.is_forward(side));
    lane.id = if index < left {
        (left - index) as i8
    } else {
        -((index - left) as i8) - 1
    };
    // The side of the reference line determines the direction of a lane. A lane that has changed sides
    // because the line moved across it becomes a contraflow lane, so that its traffic keeps its direction. A
    // new lane (id 0) gets the direction of its side.
    if old != 0 && lane.kind.is_drivable() && lane.is_forward(side) != forward {
        lane.direction = opposite(lane.direction);
    }
    lane
}
