//! Drawing of roads, and the effect of a new road on the roads that it meets.
//!
//! These functions inspect a scenario and return the [`Edit`] for the change, so that a tool can
//! show the change before it is applied.

mod flare;
pub(crate) mod joint;
mod roundabout;
mod slip_road;

pub use joint::{
    Catch, Joint, LooseEnd, StrokeEnd, Surroundings, caught_layers, end_target, exact_ends, guided,
    guided_corners, joined_end, loose_end, stroke_ends,
};
pub use roundabout::{DEFAULT_RADIUS, RING_RADIUS, ring_section, roundabout, roundabout_at};
pub use slip_road::Slip;

use super::groups;
use super::lane_sections::{cut_polynomials, section_part};
use super::users::{with_places, with_rules};
use crate::access::RoadAccess;
use crate::agents::Place;
use crate::edit::{Edit, EditError};
use crate::ids::{NodeId, RoadId};
use crate::network::Node;
use crate::road::{CrossSection, Lane, Road, RoadClass};
use crate::scenario::Scenario;
use crate::turn::Turns;
use glam::DVec2;
use roadwright_geometry::{GeometryError, ReferenceLine, polygon};
use std::collections::BTreeMap;
use thiserror::Error;

/// Maximum distance at which an end joins a node or a road, m.
pub const JOIN_DISTANCE: f64 = 0.5;
/// Minimum distance of a cut from each end of a road, m. Closer cuts are moved to the end, to avoid
/// very short pieces.
const MIN_PIECE: f64 = 1.0;

/// Properties of a new road.
#[derive(Debug, Clone, PartialEq)]
pub struct RoadStyle {
    /// Street name.
    pub name: String,
    /// Class of the road, which expresses its importance.
    pub class: RoadClass,
    /// Layer. The road passes over or under roads on other layers.
    pub layer: i8,
    /// Speed limit, m/s.
    pub speed_limit: f64,
    /// Lanes of the road.
    pub section: CrossSection,
}

/// A position where a new road changes to another layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerChange {
    /// Distance along the line of the road, m.
    pub s: f64,
    /// Layer beyond this position.
    pub layer: i8,
}

/// Properties of a new road that may change its layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayeredStyle<'a> {
    /// Properties of the road. The layer is the one at the start.
    pub style: &'a RoadStyle,
    /// Changes of layer, in ascending order of distance.
    pub changes: &'a [LayerChange],
}

impl<'a> LayeredStyle<'a> {
    /// Creates a road on one layer.
    pub fn plain(style: &'a RoadStyle) -> Self {
        let changes = &[];
        Self { style, changes }
    }

    /// Returns the layer at a distance along the line, m.
    pub fn layer_at(&self, s: f64) -> i8 {
        let before = self.changes.iter().rev().find(|change| change.s <= s);
        before.map_or(self.style.layer, |change| change.layer)
    }

    fn has_layer(&self, layer: i8) -> bool {
        self.style.layer == layer || self.changes.iter().any(|change| change.layer == layer)
    }
}

/// Reason why a road cannot be drawn or cut.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DrawError {
    /// The road does not exist.
    #[error("{0} does not exist")]
    NoSuchRoad(RoadId),
    /// A piece would have no valid geometry.
    #[error("the road cannot be split there: {0}")]
    Geometry(#[from] GeometryError),
    /// The road is too short to draw.
    #[error("the road is {0:.2} m long; expected at least {MIN_PIECE} m")]
    TooShort(f64),
    /// The ring of a roundabout is too small or too large.
    #[error(
        "the ring has a radius of {0:.1} m; expected {least} to {most} m",
        least = RING_RADIUS.start(),
        most = RING_RADIUS.end()
    )]
    RingRadius(f64),
    /// A road ends within a metre of the ring of a roundabout.
    #[error("{0} ends on the ring: make the ring slightly larger or smaller")]
    RingMeetsEnd(RoadId),
    /// The junction that should become a roundabout is already part of one.
    #[error("a road of this junction is already part of a roundabout")]
    AlreadyRing,
    /// The scenario rejects the change.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Returns the edit that draws a road along a line.
///
/// An end within [`JOIN_DISTANCE`] of a node or of a reference line on its layer joins it.
/// [`joined_road`] has other rules. Where the line crosses a road on the same layer, that road is
/// cut and a node is inserted. A one-way road that begins or ends on a fast one-way road at a small
/// angle becomes a slip road, and the fast road gets an auxiliary lane. If an end misses its node
/// by more than a millimetre, the outer third of the road is bent to meet the node.
///
/// # Errors
/// If the line is too short or a piece of a cut road would have no valid geometry.
pub fn road(
    scenario: &Scenario,
    line: &ReferenceLine,
    style: &RoadStyle,
) -> Result<Edit, DrawError> {
    let ends = exact_ends(scenario, line, style);
    joined_road(scenario, line, style, &ends)
}

/// Returns the edit that draws a road along a line. The ends of the line have the joints that [`stroke_ends`]
/// has found.
///
/// The line has to be fitted to the points of [`guided`] or [`guided_corners`]. A free end can join only the
/// other end of the same line.
///
/// # Errors
/// As [`road`].
pub fn joined_road(
    scenario: &Scenario,
    line: &ReferenceLine,
    style: &RoadStyle,
    ends: &[StrokeEnd; 2],
) -> Result<Edit, DrawError> {
    drawn(scenario, line, &LayeredStyle::plain(style), ends)
}

/// Returns the edit that draws a road that changes its layer along the line, such as a ramp to a
/// bridge.
///
/// A road has only one layer, so a node is made at each change of layer. Each piece crosses only
/// the roads on its own layer. A street that ends on the ring of a roundabout widens towards it,
/// and the ring gets the pavements of the street, as with [`roundabout`]. Otherwise as
/// [`joined_road`].
///
/// # Errors
/// As [`road`].
pub fn layered_road(
    scenario: &Scenario,
    line: &ReferenceLine,
    style: &LayeredStyle<'_>,
    ends: &[StrokeEnd; 2],
) -> Result<Edit, DrawError> {
    let edit = drawn(scenario, line, style, ends)?;
    roundabout::with_arms(scenario, edit, ends)
}

fn drawn(
    scenario: &Scenario,
    line: &ReferenceLine,
    style: &LayeredStyle<'_>,
    ends: &[StrokeEnd; 2],
) -> Result<Edit, DrawError> {
    if line.length() < MIN_PIECE {
        return Err(DrawError::TooShort(line.length()));
    }
    // A line drawn across two streets that ends on a third street:
    //
    //         |       |     /                       |       |      /
    //     ----+-------+----o        becomes     o---o-------o-----o
    //         |       |     \                       |       |      \
    //
    // Crossings are found before any node is made, so that cuts near an end of the new line can be
    // left to the node at that end.
    let [start, end] = ends;
    if [start, end].iter().any(|end| end.slip().is_some()) {
        return slip_road::draw(scenario, line, style, ends);
    }
    let mut drawing = Drawing::new(scenario);
    let mut cuts = drawing.crossings(line, style);
    let length = line.length();
    cuts.retain(|cut| {
        let is_inner = cut.own_s > MIN_PIECE && cut.own_s < length - MIN_PIECE;
        let is_joint = start.covers(scenario, cut.own_s, cut.road, cut.s)
            || end.covers(scenario, length - cut.own_s, cut.road, cut.s);
        is_inner && !is_joint
    });
    // The end nodes are created after the search for crossings, which uses the existing network,
    // but before the stops, because cuts near an end node use that node.
    let from = drawing.end_node(&start.joint, line.start().position);
    let to = drawing.end_node(&end.joint, line.end().position);
    let stops = drawing.stops(length, from, to, &cuts);
    let stops = drawing.layer_stops(line, style, stops);
    drawing.add_pieces(line, style, &stops)?;
    drawing.finish()
}

/// Returns the edit that cuts a road at distance `s`, with a new node there.
///
/// The first part keeps the id. Agents, flows and junction rules are moved to the part to which
/// they belong.
///
/// # Errors
/// If the road does not exist or a part would be shorter than a metre.
pub fn split(scenario: &Scenario, id: RoadId, s: f64) -> Result<Edit, DrawError> {
    let road = scenario
        .network()
        .road(id)
        .ok_or(DrawError::NoSuchRoad(id))?;
    let shorter = s.min(road.length() - s);
    if shorter < MIN_PIECE {
        return Err(DrawError::TooShort(shorter));
    }
    let mut drawing = Drawing::new(scenario);
    // For example, a road of 100 m with an agent at 50 m is cut at 30 m:
    //
    //     o------- id ---a---o     becomes     o-- id --o-- new --a--o
    //
    // The agent is then on the new road at 20 m. Restrictions at the far node name the new road.
    drawing.node_on(id, s);
    drawing.finish()
}

/// A crossing of the new line and an existing road.
struct Crossing {
    own_s: f64,
    road: RoadId,
    s: f64,
}

/// A change that is being assembled.
struct Drawing<'a> {
    scenario: &'a Scenario,
    edits: Vec<Edit>,
    next_node: u32,
    next_road: u32,
    /// New nodes with their positions.
    new_nodes: BTreeMap<NodeId, DVec2>,
    /// Cuts of existing roads, each with its distance along the road and its node.
    cuts: BTreeMap<RoadId, Vec<(f64, NodeId)>>,
    /// The pieces of each cut road: the start of each piece along the old road, and its id.
    pieces: BTreeMap<RoadId, Vec<(f64, RoadId)>>,
}

impl<'a> Drawing<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            edits: Vec::new(),
            next_node: scenario.network().next_node_id().0,
            next_road: scenario.network().next_road_id().0,
            new_nodes: BTreeMap::new(),
            cuts: BTreeMap::new(),
            pieces: BTreeMap::new(),
        }
    }

    fn position(&self, node: NodeId) -> DVec2 {
        let existing = || self.scenario.network().node(node).map(Node::position);
        self.new_nodes
            .get(&node)
            .copied()
            .or_else(existing)
            .unwrap_or_default()
    }

    fn new_node(&mut self, position: DVec2) -> NodeId {
        let id = NodeId(self.next_node);
        self.next_node += 1;
        self.new_nodes.insert(id, position);
        self.edits.push(Edit::Node(id, Some(Node::at(position))));
        id
    }

    fn new_road_id(&mut self) -> RoadId {
        let id = RoadId(self.next_road);
        self.next_road += 1;
        id
    }

    /// Returns the node for an end of the new road: an existing node, a node on a road, or a new one. `point`
    /// is the end of the line.
    fn end_node(&mut self, joint: &Joint, point: DVec2) -> NodeId {
        match joint {
            Joint::Node(node) => *node,
            Joint::Road { road, s } => self.node_on(*road, *s),
            Joint::SlipRoad(slip) => self.node_on(slip.host(), slip.s()),
            Joint::Free => {
                // The line may end at its own start.
                let own = self.new_nodes.iter();
                let own = own.map(|(&id, &position)| ((position - point).length(), id));
                let near = own
                    .filter(|(distance, _)| *distance <= JOIN_DISTANCE)
                    .min_by(|a, b| a.0.total_cmp(&b.0));
                near.map_or_else(|| self.new_node(point), |(_, id)| id)
            }
        }
    }

    /// Returns the node at the given distance along an existing road: the end of the road if that is close,
    /// or a cut.
    fn node_on(&mut self, id: RoadId, s: f64) -> NodeId {
        let Some(road) = self.scenario.network().road(id) else {
            return self.new_node(DVec2::ZERO);
        };
        if s < MIN_PIECE {
            return road.from;
        }
        if s > road.length() - MIN_PIECE {
            return road.to;
        }
        // Both ends of the new line, or an end and a crossing, may require a cut at the same point.
        let made = self.cuts.get(&id).into_iter().flatten();
        if let Some((_, node)) = made.copied().find(|(at, _)| (at - s).abs() < MIN_PIECE) {
            return node;
        }
        let node = self.new_node(road.reference_line.pose(s).position);
        self.cuts.entry(id).or_default().push((s, node));
        node
    }

    /// Returns the position of the node that [`node_on`](Self::node_on) would return.
    fn place_on(&self, id: RoadId, s: f64) -> DVec2 {
        let Some(road) = self.scenario.network().road(id) else {
            return DVec2::ZERO;
        };
        if s < MIN_PIECE {
            return self.position(road.from);
        }
        if s > road.length() - MIN_PIECE {
            return self.position(road.to);
        }
        road.reference_line.pose(s).position
    }

    /// Returns the crossings of the line with roads that are on the same layer there, in ascending
    /// order of distance along the line.
    fn crossings(&self, line: &ReferenceLine, style: &LayeredStyle<'_>) -> Vec<Crossing> {
        let own = sampled(line);
        let own_box = polygon::bounds(&own.iter().map(|(_, p)| *p).collect::<Vec<_>>());
        let Some((low, high)) = own_box else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (id, road) in self.scenario.network().roads() {
            let (road_low, road_high) = road.reference_line.bounds(0.0);
            let apart = road_low.cmpgt(high).any() || road_high.cmplt(low).any();
            if !style.has_layer(road.layer) || apart {
                continue;
            }
            for (own_s, s) in crossing_distances(&own, &sampled(&road.reference_line)) {
                // Polylines deviate from the lines by up to 5 cm, but the node has to be exactly on both
                // lines.
                let (own_s, s) = refine(line, &road.reference_line, own_s, s);
                if style.layer_at(own_s) == road.layer {
                    found.push(Crossing { own_s, road: id, s });
                }
            }
        }
        found.sort_by(|a, b| a.own_s.total_cmp(&b.own_s).then(a.road.cmp(&b.road)));
        found
    }

    /// Returns the nodes along the new road, including both ends, each with its distance along the
    /// road. Crossings that are too close to another node are left out.
    fn stops(
        &mut self,
        length: f64,
        start: NodeId,
        end: NodeId,
        cuts: &[Crossing],
    ) -> Vec<(f64, NodeId)> {
        let mut stops = vec![(0.0, start)];
        for cut in cuts {
            // The crossing is so close to the last stop that the existing road need not be cut.
            if stops
                .last()
                .is_some_and(|last| cut.own_s - last.0 <= MIN_PIECE)
            {
                continue;
            }
            // A node at the end of the crossed road may be closer to an end of the piece than the crossing
            // itself.
            let place = self.place_on(cut.road, cut.s);
            let is_short = |node: NodeId| (self.position(node) - place).length() < MIN_PIECE;
            if stops.last().is_some_and(|last| is_short(last.1)) || is_short(end) {
                continue;
            }
            // Near the end of the crossed road, this is the node at that end. It may already be a
            // stop if the line crosses two roads at a node where both of them end.
            let node = self.node_on(cut.road, cut.s);
            if node != end && stops.iter().all(|stop| stop.1 != node) {
                stops.push((cut.own_s, node));
            }
        }
        stops.push((length, end));
        stops
    }

    /// Adds a node at each change of layer, unless it is close to another stop. A piece that begins
    /// close to a change has the new layer.
    fn layer_stops(
        &mut self,
        line: &ReferenceLine,
        style: &LayeredStyle<'_>,
        mut stops: Vec<(f64, NodeId)>,
    ) -> Vec<(f64, NodeId)> {
        for change in style.changes {
            let is_apart = |stop: &(f64, NodeId)| (stop.0 - change.s).abs() > MIN_PIECE;
            let is_inner = (0.0..line.length()).contains(&change.s);
            if is_inner && stops.iter().all(is_apart) {
                let node = self.new_node(line.pose(change.s).position);
                let index = stops.partition_point(|stop| stop.0 < change.s);
                stops.insert(index, (change.s, node));
            }
        }
        stops
    }

    /// Adds the new road in pieces between its stops.
    fn add_pieces(
        &mut self,
        line: &ReferenceLine,
        layered: &LayeredStyle<'_>,
        stops: &[(f64, NodeId)],
    ) -> Result<(), DrawError> {
        let style = layered.style;
        let (lane_offset, lanes) = style.section.lanes(self.scenario.about().driving_side);
        for pair in stops.windows(2) {
            let [(from_s, from), (to_s, to)] = [pair[0], pair[1]];
            let piece = line.slice(from_s, to_s)?;
            let reference_line = self.attach(&piece, from, to)?;
            let id = self.new_road_id();
            let road = Road {
                from,
                to,
                name: style.name.clone(),
                class: style.class,
                layer: layered.layer_at(0.5 * (from_s + to_s)),
                access: RoadAccess::All,
                speed_limit: style.speed_limit.into(),
                reference_line,
                lane_offset: lane_offset.clone(),
                lane_sections: vec![lanes.clone()],
            };
            self.edits.push(Edit::Road(id, Some(Box::new(road))));
        }
        Ok(())
    }

    /// Returns the piece with its ends moved to its nodes. Ends that already meet their nodes stay in place.
    /// Other ends are joined to the nodes by clothoids.
    fn attach(
        &self,
        piece: &ReferenceLine,
        from: NodeId,
        to: NodeId,
    ) -> Result<ReferenceLine, GeometryError> {
        let (start, end) = (piece.start(), piece.end());
        let (first, last) = (self.position(from), self.position(to));
        // The end with the larger deviation decides whether the piece is bent.
        let misses = (start.position - first)
            .length()
            .max((end.position - last).length());
        // A gap below a millimetre is invisible, so the piece keeps its lines and arcs.
        if misses < 1e-3 {
            return Ok(piece.clone());
        }
        let moved = |pose: roadwright_geometry::Pose, position| roadwright_geometry::Pose {
            position,
            ..pose
        };
        // The middle of the piece stays in place, and its outer parts are bent to meet the nodes.
        let (a, b) = (piece.length() / 3.0, piece.length() * 2.0 / 3.0);
        let head = ReferenceLine::join(moved(start, first), piece.pose(a))?;
        let tail = ReferenceLine::join(piece.pose(b), moved(end, last))?;
        head.joined(&piece.slice(a, b)?)?.joined(&tail)
    }

    /// Cuts the existing roads, moves the objects on them to the new pieces, and returns the
    /// complete edit.
    fn finish(mut self) -> Result<Edit, DrawError> {
        let cuts = std::mem::take(&mut self.cuts);
        for (id, mut at) in cuts {
            // Cuts are first collected and then made together, because a road that is crossed twice
            // is cut into three pieces, and all distances refer to the uncut road.
            at.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.cut_road(id, &at)?;
        }
        let rules = with_rules(self.scenario, |node, road| Some(self.piece_at(road, node)));
        let places = with_places(self.scenario, |place| Some(self.on_piece(place)));
        self.edits.extend(rules);
        self.edits.extend(places.into_iter().map(|(_, edit)| edit));
        // All pieces of a road join the group to which the road belongs.
        let pieces = self.pieces.iter().flat_map(|(old, pieces)| {
            let new = pieces.iter().map(|piece| piece.1);
            new.filter(move |new| new != old).map(|new| (new, *old))
        });
        let pieces = pieces.collect();
        self.edits.extend(groups::joining(self.scenario, &pieces));
        Ok(Edit::Batch(self.edits))
    }

    /// Returns the piece of a cut road that ends at a node; the road itself if it is not cut.
    fn piece_at(&self, road: RoadId, node: NodeId) -> RoadId {
        let old = self.scenario.network().road(road);
        // The first piece keeps the id and the start of the road, so only the end of the road may
        // have another id. A loop starts and ends at the same node, and its rules then belong to
        // the last piece. Rules of a merged junction may be stored at another of its nodes, so the
        // nearer end of the road is used.
        let ends_here = |old: &Road| {
            let to = |end: NodeId| (self.position(end) - self.position(node)).length();
            old.to == node || (old.from != node && to(old.to) < to(old.from))
        };
        match self.pieces.get(&road).and_then(|pieces| pieces.last()) {
            Some(&(_, last)) if old.is_some_and(ends_here) => last,
            _ => road,
        }
    }

    /// Returns a place after its road has been cut, on the piece that contains it.
    fn on_piece(&self, place: &Place) -> Place {
        let Place::Lane(at) = place else {
            return *place;
        };
        let Some(pieces) = self.pieces.get(&at.road) else {
            return *place;
        };
        // If the pieces begin at 0, 30 and 70 m, s = 50 m is on the second piece, 20 m from its
        // start.
        let index = pieces.partition_point(|piece| piece.0 <= at.s);
        let (start, road) = pieces[index.saturating_sub(1)];
        Place::lane(road, at.lane, at.s - start)
    }

    fn cut_road(&mut self, id: RoadId, cuts: &[(f64, NodeId)]) -> Result<(), DrawError> {
        let road = self
            .scenario
            .network()
            .road(id)
            .ok_or(DrawError::NoSuchRoad(id))?;
        let mut stops = vec![(0.0, road.from)];
        stops.extend_from_slice(cuts);
        stops.push((road.length(), road.to));
        let side = self.scenario.about().driving_side;
        let mut pieces = Vec::new();
        for (i, pair) in stops.windows(2).enumerate() {
            // The first piece keeps the id, so references to places before the first cut need no change.
            let piece_id = if i == 0 { id } else { self.new_road_id() };
            let mut piece = piece_of(road, pair[0].0, pair[1].0)?;
            (piece.from, piece.to) = (pair[0].1, pair[1].1);
            // Arrows belong to the existing junctions, so they are kept only at the ends of the old road.
            let (is_first, is_last) = (i == 0, i + 2 == stops.len());
            let leads_there = |lane: &Lane| {
                if lane.is_forward(side) {
                    is_last
                } else {
                    is_first
                }
            };
            for section in &mut piece.lane_sections {
                for lane in section.lanes.iter_mut().filter(|lane| !leads_there(lane)) {
                    lane.turns = Turns::NONE;
                }
            }
            self.edits.push(Edit::Road(piece_id, Some(Box::new(piece))));
            // The list is in ascending order of distance, because `on_piece` uses binary search.
            pieces.push((pair[0].0, piece_id));
        }
        self.pieces.insert(id, pieces);
        Ok(())
    }
}

/// Returns the part of a road between two distances, without nodes.
fn piece_of(road: &Road, from: f64, to: f64) -> Result<Road, GeometryError> {
    let mut piece = road.clone();
    piece.reference_line = road.reference_line.slice(from, to)?;
    piece.lane_offset = cut_polynomials(&road.lane_offset, from, to);
    let sections = road.lane_sections.iter().enumerate();
    // If sections begin at 0, 40 and 90 m, the piece from 30 to 70 m keeps the first two, which
    // then begin at 0 and 10 m. A section of less than a micrometre is ignored, because a cut at
    // the start of a section may be rounded to either side.
    let sections = sections.filter_map(|(i, section)| {
        let (start, end) = (section.s.max(from), road.section_end(i).min(to));
        (end - start > 1e-6).then(|| section_part(section, start, end, from))
    });
    piece.lane_sections = sections.collect();
    Ok(piece)
}

fn sampled(line: &ReferenceLine) -> Vec<(f64, DVec2)> {
    line.sample_distances(0.05, 0.0)
        .into_iter()
        .map(|s| (s, line.pose(s).position))
        .collect()
}

/// Finds the crossings of two polylines. Returns the approximate distances of each crossing along
/// both of them.
fn crossing_distances(a: &[(f64, DVec2)], b: &[(f64, DVec2)]) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    for p in a.windows(2) {
        let (low, high) = (p[0].1.min(p[1].1), p[0].1.max(p[1].1));
        for q in b.windows(2) {
            let (q_low, q_high) = (q[0].1.min(q[1].1), q[0].1.max(q[1].1));
            if q_low.cmpgt(high).any() || q_high.cmplt(low).any() {
                continue;
            }
            let (u, v) = (p[1].1 - p[0].1, q[1].1 - q[0].1);
            let cross = u.perp_dot(v);
            let gap = q[0].1 - p[0].1;
            // p0 + i u = q0 + j v, solved with the cross product. For parallel chords, this divides by 0, and
            // the result is infinite or NaN and therefore outside both ranges.
            let (i, j) = (gap.perp_dot(v) / cross, gap.perp_dot(u) / cross);
            if (0.0..=1.0).contains(&i) && (0.0..=1.0).contains(&j) {
                let along = |w: &[(f64, DVec2)], t: f64| w[0].0 + t * (w[1].0 - w[0].0);
                found.push((along(p, i), along(q, j)));
            }
        }
    }
    found
}

/// Finds the exact crossing of two lines near an estimate by Newton's method, in which the lines
/// are approximated by their tangents. Returns the distances along both lines.
fn refine(a: &ReferenceLine, b: &ReferenceLine, mut s: f64, mut t: f64) -> (f64, f64) {
    for _ in 0..6 {
        let (p, q) = (a.pose(s), b.pose(t));
        let (u, v) = (p.forward(), q.forward());
        let cross = u.perp_dot(v);
        // Parallel tangents have no crossing, so the estimate is kept.
        if cross.abs() < 1e-6 {
            break;
        }
        // Each step roughly doubles the number of correct digits. The initial guess is accurate to about 5
        // cm.
        let gap = q.position - p.position;
        s = (s + gap.perp_dot(v) / cross).clamp(0.0, a.length());
        t = (t + gap.perp_dot(u) / cross).clamp(0.0, b.length());
    }
    (s, t)
}
