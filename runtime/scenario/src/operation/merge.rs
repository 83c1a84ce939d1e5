//! Merges two roads that meet at a node into one road.

use super::roads::{BENT_SHARE, from_the_other_end, turned_round};
use super::users::{with_lane_rules, with_places};
use super::{OperationError, groups};
use crate::agents::Place;
use crate::driving_side::DrivingSide;
use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::junction_rules::RoadLane;
use crate::network::RoadNetwork;
use crate::road::{Lane, Poly3, Road, RoadEnd};
use crate::scenario::Scenario;
use crate::turn::Turns;
use roadwright_geometry::ReferenceLine;

/// Returns the edit that merges the two roads that meet at a node.
///
/// The road with the smaller id is kept. Both roads must have the same lanes at the node.
///
/// # Errors
/// [`OperationError::NotTwoRoads`] if not exactly two roads end at the node, or if their lanes do not match.
pub fn merged(scenario: &Scenario, node: NodeId) -> Result<Edit, OperationError> {
    let pair = Pair::at(scenario.network(), node).ok_or(OperationError::NotTwoRoads(node))?;
    let (first, second) = (pair.first, pair.second);
    let road = pair.merged_road(scenario.about().driving_side)?;
    let places = with_places(scenario, |place| Some(pair.merged_place(place)));
    // The rules of the node itself are deleted with it.
    let rules = with_lane_rules(scenario, |at, lane| {
        Some(if at == node {
            lane
        } else {
            pair.merged_lane(lane)
        })
    });
    let mut edits: Vec<_> = places.into_iter().map(|(_, edit)| edit).collect();
    // The second road is deleted first, because the node at its far end may have no room for another road
    // end.
    edits.push(Edit::Road(second, None));
    edits.push(Edit::Road(first, Some(Box::new(road))));
    edits.push(Edit::Node(node, None));
    edits.extend(rules);
    // Added after the edit that removes the second road from its group.
    edits.extend(groups::merged(scenario, first, second));
    Ok(Edit::Batch(edits))
}

/// Two roads that meet at a node, with copies that both lead through it in the same direction.
///
/// ```text
///   stored      o---first-->N<--second---o      both end at N: the second one is reversed
///   as a pair   o---head--->N---tail---->o      seam: the distance of N along the result
/// ```
struct Pair {
    first: RoadId,
    second: RoadId,
    /// Whether the first road starts at the node, so that its copy is reversed.
    first_is_turned: bool,
    /// Whether the second road ends at the node.
    second_is_turned: bool,
    /// Lengths of the roads as stored, m. The length of a reversed line may differ in the last bit,
    /// because the segments are summed in another order.
    first_length: f64,
    second_length: f64,
    /// The first road, ending at the node.
    head: Road,
    /// The second road, starting at the node.
    tail: Road,
}

impl Pair {
    /// Returns the two roads at a node; `None` unless there are exactly two roads and they can be
    /// merged.
    fn at(network: &RoadNetwork, node: NodeId) -> Option<Self> {
        let ends = network.ends_at(node);
        let &[(first, first_end), (second, second_end)] = ends.as_slice() else {
            return None;
        };
        if first == second {
            // Both road ends belong to the same road, which is a loop.
            return None;
        }
        let (a, b) = (network.road(first)?, network.road(second)?);
        let first_is_turned = first_end == RoadEnd::Start;
        let second_is_turned = second_end == RoadEnd::End;
        let oriented = |road: &Road, turn: bool| {
            if turn {
                turned_round(road)
            } else {
                road.clone()
            }
        };
        let pair = Self {
            first,
            second,
            first_is_turned,
            second_is_turned,
            first_length: a.length(),
            second_length: b.length(),
            head: oriented(a, first_is_turned),
            tail: oriented(b, second_is_turned),
        };
        pair.fits().then_some(pair)
    }

    /// Whether the roads can be merged: lanes continue through the node, and both roads have the
    /// same layer and access. If widths differ, the result has a lane section on either side of the
    /// seam.
    fn fits(&self) -> bool {
        let lanes = |road: &Road, s: f64| -> Vec<_> {
            let lanes = &road.section_at(s).lanes;
            lanes.iter().map(|l| (l.id, l.kind, l.direction)).collect()
        };
        lanes(&self.head, self.head.length()) == lanes(&self.tail, 0.0)
            && self.head.layer == self.tail.layer
            && self.head.access == self.tail.access
    }

    /// Returns the distance along the resulting road to the start of the tail, m.
    fn seam(&self) -> f64 {
        self.head.length()
    }

    fn merged_road(&self, side: DrivingSide) -> Result<Road, OperationError> {
        // Arrows that refer to the node are removed with it.
        let head = without_arrows(&self.head, |lane| lane.is_forward(side));
        let tail = &without_arrows(&self.tail, |lane| !lane.is_forward(side));
        let mut road = head.clone();
        road.to = tail.to;
        road.reference_line = head.reference_line.joined(&tail_line(&head, tail)?)?;
        append_lane_offset(&mut road, tail, self.seam());
        append_lane_sections(&mut road, tail, self.seam());
        Ok(road)
    }

    /// Returns the id of a lane of either road after merging.
    fn merged_lane(&self, RoadLane { road, lane }: RoadLane) -> RoadLane {
        let is_turned = match road {
            road if road == self.first => self.first_is_turned,
            road if road == self.second => self.second_is_turned,
            _ => return RoadLane { road, lane },
        };
        RoadLane {
            road: self.first,
            lane: if is_turned { -lane } else { lane },
        }
    }

    /// Returns a place after merging.
    ///
    /// For example, two roads of 100 m and 60 m both end at the node. Lane -1 of the second road at s = 20,
    /// which is 40 m from the node, becomes lane 1 of the first road at s = 140.
    fn merged_place(&self, place: &Place) -> Place {
        let (first, seam) = (self.first, self.seam());
        match place {
            Place::Lane(at) if at.road == first && self.first_is_turned => {
                from_the_other_end(at, first, self.first_length)
            }
            Place::Lane(at) if at.road == self.second && self.second_is_turned => {
                let from_node = (self.second_length - at.s).clamp(0.0, self.second_length);
                Place::lane(first, -at.lane, seam + from_node)
            }
            Place::Lane(at) if at.road == self.second => Place::lane(first, at.lane, seam + at.s),
            _ => *place,
        }
    }
}

/// Appends the lateral shift of lane 0 of the tail to that of the road.
fn append_lane_offset(road: &mut Road, tail: &Road, seam: f64) {
    // An empty list means 0 everywhere. If both sides have the same constant, it already covers the
    // whole road. Otherwise, both lists are written out, with an explicit constant 0 for an empty
    // one. Without it, the last polynomial of the head would also apply to the tail, because a
    // polynomial applies until the next one starts.
    if road.lane_offset != tail.lane_offset || !is_constant(&tail.lane_offset) {
        if road.lane_offset.is_empty() {
            road.lane_offset.push(Poly3::constant(0.0));
        }
        let shifted = tail.lane_offset.iter().map(|poly| Poly3 {
            s: (poly.s + seam).into(),
            ..*poly
        });
        road.lane_offset.extend(shifted);
        if tail.lane_offset.is_empty() {
            road.lane_offset.push(Poly3 {
                s: seam.into(),
                ..Poly3::constant(0.0)
            });
        }
    }
}

/// Returns the road without arrows on the lanes that `of` accepts.
fn without_arrows(road: &Road, of: impl Fn(&Lane) -> bool) -> Road {
    let mut road = road.clone();
    for section in &mut road.lane_sections {
        for lane in section.lanes.iter_mut().filter(|lane| of(lane)) {
            lane.turns = Turns::NONE;
        }
    }
    road
}

/// Whether two lists of lanes are equal, ignoring arrows.
fn are_alike(a: &[Lane], b: &[Lane]) -> bool {
    let is_alike = |(a, b): (&Lane, &Lane)| {
        let a = Lane {
            turns: b.turns,
            ..a.clone()
        };
        a == *b
    };
    a.len() == b.len() && a.iter().zip(b).all(is_alike)
}

/// Appends the lane sections of the tail, unless they merely continue the last section of the head.
fn append_lane_sections(road: &mut Road, tail: &Road, seam: f64) {
    // If the parts of a plain road that was split are merged, the result has one section rather
    // than two equal ones. Widths that change along the road are measured from the start of their
    // section, so a section with such widths cannot be left out even if the lists are equal.
    let plain = tail
        .lane_sections
        .iter()
        .flat_map(|section| &section.lanes)
        .all(|lane| is_constant(&lane.width));
    let is_one = plain && tail.lane_sections.len() == 1 && road.speed_limit == tail.speed_limit;
    if is_one
        && let (Some(last), Some(first)) =
            (road.lane_sections.last_mut(), tail.lane_sections.first())
        && are_alike(&last.lanes, &first.lanes)
    {
        // A lane has arrows on at most one side of the seam, because arrows refer to the end to
        // which the lane leads.
        for (lane, of_tail) in last.lanes.iter_mut().zip(&first.lanes) {
            if lane.turns.is_empty() {
                lane.turns = of_tail.turns;
            }
        }
        return;
    }
    // The whole road gets the speed limit of its head, so lanes of the tail keep their own limit.
    let differs = tail.speed_limit != road.speed_limit;
    let sections = tail.lane_sections.iter().cloned().map(|mut section| {
        section.s += seam;
        for lane in section.lanes.iter_mut().filter(|_| differs) {
            lane.speed_limit.get_or_insert(tail.speed_limit.get());
        }
        section
    });
    road.lane_sections.extend(sections);
}

/// Whether a list of polynomials is empty or a single constant.
fn is_constant(list: &[Poly3]) -> bool {
    match list {
        [] => true,
        [only] => only.b == 0.0 && only.c == 0.0 && only.d == 0.0,
        _ => false,
    }
}

/// Returns the line of the tail, starting at the end of the head. If their headings differ, the
/// tail is bent at its start.
fn tail_line(head: &Road, tail: &Road) -> Result<ReferenceLine, OperationError> {
    let (end, line) = (head.reference_line.end(), &tail.reference_line);
    let turn = roadwright_geometry::math::wrap_angle(line.start().heading - end.heading);
    let gap = (line.start().position - end.position).length();
    if turn.abs() < 1e-9 && gap < 1e-6 {
        return Ok(line.clone());
    }
    // Reference lines have a continuous heading, so the first part of the tail absorbs a kink at the node:
    //
    //     ---head--->N                      ---head--->.
    //                 \ tail     becomes                `\ bend
    //                  \                                  \  rest of the tail, unchanged
    //
    // At most 30 m are bent, so that a long tail keeps its place.
    let bent = (BENT_SHARE * line.length()).min(30.0);
    let bend = ReferenceLine::join(end, line.pose(bent))?;
    let chord = (line.pose(bent).position - end.position).length();
    if bend.length() > 2.0 * chord {
        // The roads meet at a sharp corner, so a clothoid between them would loop.
        return Err(roadwright_geometry::GeometryError::NoJoin.into());
    }
    Ok(bend.joined(&line.slice(bent, line.length())?)?)
}
