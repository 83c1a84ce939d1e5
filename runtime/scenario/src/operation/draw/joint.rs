//! Determines what the ends of a stroke join.
//!
//! ```text
//!            stroke                        A stroke that ends on the carriageway of a road is extended
//!              \                           in its own direction to the reference line. If it has already
//!     ==========\=================         crossed the line, it is cut back to the crossing. If neither
//!                x released here           leads to the line within the width of a carriageway, the
//!     - - - - - - o - - - - - - -          stroke joins the nearest point of the line.
//!                 joined here
//!     ============================
//! ```

use super::slip_road::{self, Slip};
use super::{DrawError, JOIN_DISTANCE, MIN_PIECE, RoadStyle, refine, split};
use crate::edit::Edit;
use crate::ids::{NodeId, RoadId};
use crate::junction::Layout;
use crate::lane_type::LaneType;
use crate::operation::draft::Draft;
use crate::operation::roads::{reshaped, with_end_at};
use crate::road::{Road, RoadEnd};
use crate::road_boxes::RoadBoxes;
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::projection::Projector;
use roadwright_geometry::{Pose, ReferenceLine, heading_of, polygon, polyline};
use std::collections::BTreeSet;

/// Maximum distance between a point and the node of a junction at which the point is tested against
/// the junction's outline, m.
const LARGEST_JUNCTION: f64 = 80.0;
/// Minimum length of stroke from which the direction of its end is determined, m.
const DIRECTION: f64 = 2.0;
/// Spacing of the points at which reference lines are compared with strokes, m.
const SPACING: f64 = 1.0;

/// The object that an end of a road joins.
#[derive(Debug, Clone, PartialEq)]
pub enum Joint {
    /// The end joins nothing, so the road gets a new node.
    Free,
    /// A node.
    Node(NodeId),
    /// A road, which is split at the joint.
    Road {
        /// The road.
        road: RoadId,
        /// Distance along the road, m.
        s: f64,
    },
    /// A fast one-way road, which gets an auxiliary lane beside its lanes.
    SlipRoad(Slip),
}

/// An end of a stroke and its joint.
#[derive(Debug, Clone, PartialEq)]
pub struct StrokeEnd {
    /// The object that the end joins.
    pub joint: Joint,
    /// Position of the joint, m: the node, or the point on the reference line. If the end joins
    /// nothing, this is the end of the stroke.
    pub at: DVec2,
    /// Length by which the stroke is shortened at the joint, m.
    cut: f64,
    /// Distance from the joint within which crossings with the joined road count as part of the
    /// joint, m.
    clear: f64,
}

impl StrokeEnd {
    /// Returns an end that joins nothing.
    pub fn free(at: DVec2) -> Self {
        Self {
            joint: Joint::Free,
            at,
            cut: 0.0,
            clear: 0.0,
        }
    }

    /// Whether the end joins something.
    pub fn is_joined(&self) -> bool {
        self.joint != Joint::Free
    }

    /// Returns the slip road at this end; `None` if there is none.
    pub(super) fn slip(&self) -> Option<&Slip> {
        match &self.joint {
            Joint::SlipRoad(slip) => Some(slip),
            _ => None,
        }
    }

    /// Whether a crossing near this end is part of its joint. `own` is the distance of the crossing from the end, m.
    /// `s` is its distance along the crossed road, m.
    pub(super) fn covers(&self, scenario: &Scenario, own: f64, road: RoadId, s: f64) -> bool {
        if own >= self.clear {
            return false;
        }
        match self.joint {
            Joint::Road {
                road: joined,
                s: at,
            } => joined == road && (s - at).abs() < self.clear,
            Joint::Node(node) => scenario.network().road(road).is_some_and(|road| {
                (road.from == node && s < self.clear)
                    || (road.to == node && road.length() - s < self.clear)
            }),
            Joint::Free | Joint::SlipRoad(_) => false,
        }
    }
}

/// Rule that determines which nodes and roads an end of a stroke can join.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Catch {
    /// Distance from a node, or from the middle of a carriageway, within which an end always joins, m. In
    /// addition, an end joins a road if it is anywhere on the road's carriageway, and a node if it is
    /// anywhere inside the outline of the node's junction.
    pub reach: f64,
    /// Whether the end can join nodes.
    pub nodes: bool,
    /// Whether the end can join roads between their nodes.
    pub roads: bool,
}

impl Catch {
    /// A rule that lets an end join nothing.
    pub const NOTHING: Self = Self {
        reach: 0.0,
        nodes: false,
        roads: false,
    };

    /// Creates a rule that lets an end join nodes and roads within the given reach, m.
    pub fn within(reach: f64) -> Self {
        Self {
            reach,
            nodes: true,
            roads: true,
        }
    }
}

/// Objects that a stroke can join.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Junctions of the scenario. They may belong to another revision of it.
    pub layout: &'a Layout,
    /// Index of roads by position. Roads that no longer exist are ignored.
    pub boxes: &'a RoadBoxes,
    /// Whether a road is hidden and therefore never joined.
    pub is_hidden: &'a dyn Fn(RoadId) -> bool,
}

/// Returns the joints of both ends of a stroke, the start first. `trace` contains the positions of
/// the pointer in drawing order, m. If it has only one position, both ends are at this position and
/// have no direction. `catch` contains the rules for the start and for the end.
///
/// A one-way stroke that begins or ends beside a fast one-way road at a small angle is a slip road.
/// Otherwise, an end joins a node if it is near the node or inside the outline of the node's
/// junction. Failing that, it joins the road whose carriageway contains it. Nodes and roads must be
/// on the layer of the end: `layers` contains the layers of the start and of the end. A node is on
/// the layers of its roads, and a node without roads is on all layers.
pub fn stroke_ends(
    around: &Surroundings<'_>,
    trace: &[DVec2],
    style: &RoadStyle,
    layers: [i8; 2],
    catch: [Catch; 2],
) -> [StrokeEnd; 2] {
    let free = StrokeEnd::free(trace.first().copied().unwrap_or_default());
    if trace.is_empty() {
        return [free.clone(), free];
    }
    let [start, end] = slip_ends(around, trace, style, layers, catch);
    let backwards = || trace.iter().rev().copied().collect::<Vec<_>>();
    [
        start.unwrap_or_else(|| end_joint(around, &backwards(), layers[0], catch[0])),
        end.unwrap_or_else(|| end_joint(around, trace, layers[1], catch[1])),
    ]
}

/// Returns the ends of a stroke that become slip roads; `None` for each other end.
fn slip_ends(
    around: &Surroundings<'_>,
    trace: &[DVec2],
    style: &RoadStyle,
    layers: [i8; 2],
    catch: [Catch; 2],
) -> [Option<StrokeEnd>; 2] {
    let [Some(&first), Some(&last)] = [trace.first(), trace.last()] else {
        return [None, None];
    };
    if trace.len() < 2 || !(catch[0].roads || catch[1].roads) {
        return [None, None];
    }
    let along = Along::of(trace);
    let course = slip_road::Course {
        length: along.length(),
        pose: &|s| along.pose(s),
        roads_near: &|point| around.boxes.near(point, slip_road::REACH),
    };
    let [mut start, mut end] = slip_road::slips(around.scenario, &course, style, layers);
    let is_caught = |slip: &Slip, catch: Catch| catch.roads && !(around.is_hidden)(slip.host());
    start = start.filter(|slip| is_caught(slip, catch[0]));
    end = end.filter(|slip| is_caught(slip, catch[1]));
    let joined = |slip: Slip, at: DVec2| StrokeEnd {
        joint: Joint::SlipRoad(slip),
        ..StrokeEnd::free(at)
    };
    [
        start.map(|slip| joined(slip, first)),
        end.map(|slip| joined(slip, last)),
    ]
}

/// Returns the layers on which an end at a point would join something, in ascending order.
pub fn caught_layers(around: &Surroundings<'_>, point: DVec2, catch: Catch) -> Vec<i8> {
    let network = around.scenario.network();
    let near = around.boxes.near(point, catch.reach).into_iter();
    let layers = near
        .filter(|id| !(around.is_hidden)(*id))
        .filter_map(|id| Some(network.road(id)?.layer));
    let layers: BTreeSet<i8> = layers.collect();
    let is_caught = |layer: &i8| end_joint(around, &[point], *layer, catch).is_joined();
    layers.into_iter().filter(is_caught).collect()
}

/// A polyline parametrised by distance.
struct Along<'a> {
    points: &'a [DVec2],
    distances: Vec<f64>,
}

impl<'a> Along<'a> {
    fn of(points: &'a [DVec2]) -> Self {
        let mut distances = vec![0.0];
        let mut s = 0.0;
        for pair in points.windows(2) {
            s += (pair[1] - pair[0]).length();
            distances.push(s);
        }
        Self { points, distances }
    }

    fn length(&self) -> f64 {
        self.distances.last().copied().unwrap_or_default()
    }

    fn pose(&self, s: f64) -> Pose {
        let after = self.distances.partition_point(|at| *at <= s);
        let i = after.clamp(1, (self.points.len() - 1).max(1)) - 1;
        let (from, to) = (
            self.points[i],
            self.points[(i + 1).min(self.points.len() - 1)],
        );
        let span = (to - from).length();
        let share = if span > 0.0 {
            ((s - self.distances[i]) / span).clamp(0.0, 1.0)
        } else {
            0.0
        };
        Pose {
            position: from.lerp(to, share),
            heading: heading_of(to - from),
        }
    }
}

/// Returns the points of a stroke, cut off at its joints and extended to them.
pub fn guided(trace: &[DVec2], ends: &[StrokeEnd; 2]) -> Vec<DVec2> {
    let [start, end] = ends;
    let whole = polyline::length(trace);
    let mut points = Vec::with_capacity(trace.len() + 2);
    if is_moved(start) {
        points.push(start.at);
    }
    let mut s = 0.0;
    for (i, point) in trace.iter().enumerate() {
        if i > 0 {
            s += (*point - trace[i - 1]).length();
        }
        if s >= start.cut && s <= whole - end.cut && points.last() != Some(point) {
            points.push(*point);
        }
    }
    if is_moved(end) && points.last() != Some(&end.at) {
        points.push(end.at);
    }
    points
}

/// Returns the corners of a road that is drawn point by point, with its ends moved to their joints.
pub fn guided_corners(corners: &[DVec2], ends: &[StrokeEnd; 2]) -> Vec<DVec2> {
    let mut corners = corners.to_vec();
    if let Some(first) = corners.first_mut().filter(|_| is_moved(&ends[0])) {
        *first = ends[0].at;
    }
    if let Some(last) = corners.last_mut().filter(|_| is_moved(&ends[1])) {
        *last = ends[1].at;
    }
    corners
}

/// Whether the end is moved to its joint before the road is drawn. Slip roads are bent only while
/// they are drawn.
fn is_moved(end: &StrokeEnd) -> bool {
    matches!(end.joint, Joint::Node(_) | Joint::Road { .. })
}

/// Returns the joints of a road that is drawn exactly along this line: nodes and reference lines within
/// [`JOIN_DISTANCE`].
pub fn exact_ends(scenario: &Scenario, line: &ReferenceLine, style: &RoadStyle) -> [StrokeEnd; 2] {
    let course = slip_road::Course {
        length: line.length(),
        pose: &|s| line.pose(s),
        roads_near: &|_| scenario.network().roads().map(|(id, _)| id).collect(),
    };
    let slips = slip_road::slips(scenario, &course, style, [style.layer; 2]);
    let mut poses = [line.start(), line.end()].into_iter();
    slips.map(|slip| {
        let at = poses.next().map_or(DVec2::ZERO, |pose| pose.position);
        let joint = slip.map_or_else(|| exact_joint(scenario, at, style.layer), Joint::SlipRoad);
        StrokeEnd {
            joint,
            ..StrokeEnd::free(at)
        }
    })
}

fn exact_joint(scenario: &Scenario, point: DVec2, layer: i8) -> Joint {
    let network = scenario.network();
    // The free end of a single road is continued even on another layer.
    let is_candidate = |node: NodeId| {
        network.ends_at(node).len() == 1 || is_joinable(scenario, node, layer, &|_| false)
    };
    // Nodes take precedence over roads, because a road is always near the nodes at its ends.
    if let Some(node) = nearest_node(scenario, point, JOIN_DISTANCE, is_candidate) {
        return Joint::Node(node);
    }
    let on_road = network
        .roads()
        .filter(|(_, road)| road.layer == layer && is_near(road, point))
        .map(|(id, road)| {
            // The bounds are compared first, because projecting onto every road would take much longer.
            let foot = Projector::new(road.reference_line.clone()).closest(point);
            let miss = (road.reference_line.pose(foot.s).position - point).length();
            (miss, id, foot.s)
        })
        .filter(|(miss, ..)| *miss <= JOIN_DISTANCE)
        .min_by(|a, b| a.0.total_cmp(&b.0));
    on_road.map_or(Joint::Free, |(_, road, s)| Joint::Road { road, s })
}

fn is_near(road: &Road, point: DVec2) -> bool {
    let (low, high) = road.reference_line.bounds(JOIN_DISTANCE);
    point.cmpge(low).all() && point.cmple(high).all()
}

/// Returns the nearest node within `reach` of a point among the candidates; `None` if there is
/// none.
fn nearest_node(
    scenario: &Scenario,
    point: DVec2,
    reach: f64,
    is_candidate: impl Fn(NodeId) -> bool,
) -> Option<NodeId> {
    let nodes = scenario.network().nodes();
    nodes
        .map(|(id, node)| ((node.position() - point).length(), id))
        .filter(|(distance, _)| *distance <= reach)
        .filter(|(_, id)| is_candidate(*id))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, id)| id)
}

/// Whether a road on this layer can join a node: one of the node's roads is on the layer, or the
/// node has no roads.
fn is_joinable(
    scenario: &Scenario,
    node: NodeId,
    layer: i8,
    is_hidden: &dyn Fn(RoadId) -> bool,
) -> bool {
    let network = scenario.network();
    let mut ends = network.ends_at(node);
    let is_bare = ends.is_empty();
    // When an end is being moved, its road is hidden, so its own node has no visible road and is
    // not joined.
    ends.retain(|(road, _)| !is_hidden(*road));
    let on_layer = |road: RoadId| network.road(road).is_some_and(|road| road.layer == layer);
    is_bare || ends.iter().any(|(road, _)| on_layer(*road))
}

/// Returns the joint at the end of a trace. The last position of the trace is the end.
fn end_joint(around: &Surroundings<'_>, trace: &[DVec2], layer: i8, catch: Catch) -> StrokeEnd {
    let Some(&tip) = trace.last() else {
        return StrokeEnd::free(DVec2::ZERO);
    };
    if catch.nodes
        && let Some(node) = caught_node(around, tip, layer, catch.reach)
    {
        return node_joint(around, node, trace);
    }
    if catch.roads
        && let Some(caught) = caught_road(around, tip, layer, catch.reach)
    {
        return road_joint(around, &caught, trace, catch);
    }
    StrokeEnd::free(tip)
}

/// Returns the node that a point joins: the nearest node within `reach`, or a node of the junction
/// whose outline contains the point. `None` if there is none.
fn caught_node(around: &Surroundings<'_>, point: DVec2, layer: i8, reach: f64) -> Option<NodeId> {
    let scenario = around.scenario;
    let can_join = |node: NodeId| is_joinable(scenario, node, layer, around.is_hidden);
    if let Some(node) = nearest_node(scenario, point, reach, can_join) {
        return Some(node);
    }
    let is_joinable = |node: &&NodeId| {
        let exists = scenario.network().node(**node).is_some();
        exists && can_join(**node)
    };
    let distance = |node: &NodeId| {
        let node = scenario.network().node(*node);
        node.map_or(f64::INFINITY, |node| (node.position() - point).length())
    };
    let junctions = around.layout.junctions.iter();
    let near = junctions.filter(|junction| {
        let is_near = (junction.centre - point).length() < LARGEST_JUNCTION;
        is_near && !junction.outline().is_empty()
    });
    let nodes = near.filter_map(|junction| {
        let node = junction.nodes.iter().filter(is_joinable);
        let node = node.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        // A junction is on only one layer, so a junction on another layer may be above or below
        // this point.
        let has_layer = scenario.network().ends_at(*node).iter().any(|(road, _)| {
            let road = scenario.network().road(*road);
            road.is_some_and(|road| road.layer == layer)
        });
        let is_inside = || polygon::contains(&junction.polygon(), point);
        (has_layer && is_inside()).then_some(*node)
    });
    nodes.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

fn node_joint(around: &Surroundings<'_>, node: NodeId, trace: &[DVec2]) -> StrokeEnd {
    let position = around.scenario.network().node(node);
    let at = position.map_or(DVec2::ZERO, crate::network::Node::position);
    // A stroke that passes the node is cut at its closest point to the node.
    let mut cut = 0.0;
    let mut i = trace.len() - 1;
    while i > 0 && (trace[i - 1] - at).length() < (trace[i] - at).length() {
        cut += (trace[i] - trace[i - 1]).length();
        i -= 1;
    }
    let cut = led_to(&trace[..=i], at, cut);
    let network = around.scenario.network();
    let ends = network.ends_at(node);
    let trims = ends.iter().filter_map(|(road, end)| {
        let trim = around.layout.trims.get(road)?;
        Some(trim.at(*end))
    });
    let clear = trims.fold((trace[i] - at).length(), f64::max) + MIN_PIECE;
    StrokeEnd {
        joint: Joint::Node(node),
        at,
        cut,
        clear,
    }
}

/// Returns the length to cut off a trace so that it leads to a joint at its side without a sharp
/// corner, m. `cut` is the length that has already been cut off. At most half of the trace is cut
/// off.
fn led_to(trace: &[DVec2], at: DVec2, mut cut: f64) -> f64 {
    let Some(&tip) = trace.last() else {
        return cut;
    };
    //   o joint
    //    \
    //     \          The last points of the trace are left out, up to twice the distance of its end from
    //  ----x . . .   the joint.
    //
    let wanted = 2.0 * (tip - at).length();
    let most = cut + 0.5 * polyline::length(trace);
    for pair in trace.windows(2).rev() {
        let step = (pair[1] - pair[0]).length();
        if (pair[1] - at).length() >= wanted || cut + step > most {
            break;
        }
        cut += step;
    }
    cut
}

/// A carriageway that contains a point.
struct Caught {
    id: RoadId,
    /// Distance of the projected point along the reference line, m.
    s: f64,
    /// Lateral positions of the right and left edge of the carriageway at the projected point, m to the left
    /// of the reference line.
    edges: (f64, f64),
}

/// Returns the lateral extent of a road's lanes for vehicles and bicycles at distance `s`, m to the
/// left of the reference line; `None` if the road has no such lanes there.
pub(crate) fn asphalt(road: &Road, s: f64) -> Option<(f64, f64)> {
    let section = road.section_at(s);
    let bands = road.lane_bands(section, s);
    let is_asphalt = |kind: LaneType| {
        use LaneType::{Biking, Bus, Driving, Parking};
        matches!(kind, Driving | Bus | Biking | Parking)
    };
    let lanes = section.lanes.iter().zip(&bands);
    let edges = lanes
        .filter(|(lane, _)| is_asphalt(lane.kind))
        .map(|(_, band)| {
            let half = 0.5 * band.width;
            (band.centre - half, band.centre + half)
        });
    edges.reduce(|all, lane| (all.0.min(lane.0), all.1.max(lane.1)))
}

/// Returns the distance along a line to the point that is nearest to `point`, m. This is computed
/// for only a few roads per frame, so preparing projectors would take longer.
fn foot(line: &ReferenceLine, point: DVec2) -> f64 {
    let samples = super::sampled(line);
    let mut best = (f64::INFINITY, 0.0);
    for pair in samples.windows(2) {
        let [(from_s, from), (to_s, to)] = [pair[0], pair[1]];
        let on = polygon::closest_on_segment(from, to, point);
        let distance = (on - point).length();
        if distance < best.0 {
            let share = (on - from).length() / (to - from).length().max(1e-9);
            best = (distance, from_s + share.min(1.0) * (to_s - from_s));
        }
    }
    let mut s = best.1;
    for _ in 0..20 {
        let pose = line.pose(s);
        let offset = point - pose.position;
        // Towards the centre of a bend, the projected point moves faster along the line.
        let slope = (1.0 - line.curvature(s) * offset.dot(pose.left())).max(0.2);
        let next = (s + offset.dot(pose.forward()) / slope).clamp(0.0, line.length());
        let is_done = (next - s).abs() < 1e-10;
        s = next;
        if is_done {
            break;
        }
    }
    s
}

/// Returns the road on this layer that a point joins: the point is on the carriageway of the road,
/// or within `reach` of the carriageway's middle. If there are several such roads, the one with the
/// nearest carriageway is used. `None` if there is none.
fn caught_road(around: &Surroundings<'_>, point: DVec2, layer: i8, reach: f64) -> Option<Caught> {
    let network = around.scenario.network();
    let mut best: Option<((f64, f64), Caught)> = None;
    for id in around.boxes.near(point, reach) {
        let Some(road) = network.road(id).filter(|road| road.layer == layer) else {
            continue;
        };
        if (around.is_hidden)(id) {
            continue;
        }
        let s = foot(&road.reference_line, point);
        let on = road.reference_line.pose(s);
        // Beyond the end of a road, only its node can be joined.
        if (point - on.position).dot(on.forward()).abs() > 1e-3 {
            continue;
        }
        let t = (point - on.position).dot(on.left());
        let edges = asphalt(road, s);
        let (right, left) = edges.unwrap_or_else(|| {
            let (right, left) = road.edges(s);
            let middle = 0.5 * (right + left);
            (middle, middle)
        });
        let from_middle = (t - 0.5 * (right + left)).abs();
        let half = 0.5 * (left - right);
        if from_middle > half.max(reach) {
            continue;
        }
        let rank = ((from_middle - half).max(0.0), from_middle);
        let is_better = best.as_ref().is_none_or(|(least, _)| rank < *least);
        if is_better {
            let caught = Caught {
                id,
                s,
                edges: (right, left),
            };
            best = Some((rank, caught));
        }
    }
    best.map(|(_, caught)| caught)
}

/// A candidate for the point where a stroke meets a reference line.
#[derive(Clone, Copy)]
struct Landing {
    s: f64,
    cut: f64,
}

fn road_joint(
    around: &Surroundings<'_>,
    caught: &Caught,
    trace: &[DVec2],
    catch: Catch,
) -> StrokeEnd {
    let network = around.scenario.network();
    let Some((road, &tip)) = network.road(caught.id).zip(trace.last()) else {
        return StrokeEnd::free(DVec2::ZERO);
    };
    let (right, left) = caught.edges;
    let width = left - right;
    let local = near_part(road, caught.s, 2.0 * width + SPACING);
    let straight_on =
        || direction(trace).and_then(|ahead| ray_landing(road, &local, tip, ahead, width));
    let foot = road.reference_line.pose(caught.s).position;
    let nearest = Landing {
        s: caught.s,
        cut: led_to(trace, foot, 0.0),
    };
    let landings = [
        crossed(road, &local, trace, width),
        straight_on(),
        Some(nearest),
    ];
    // Inside a junction, only the node can be joined, so points inside a junction are used only if
    // there is no other candidate.
    let (low, high) = around
        .layout
        .remaining(caught.id, road)
        .unwrap_or((0.0, road.length()));
    let (low, high) = (low.max(MIN_PIECE), high.min(road.length() - MIN_PIECE));
    let is_between = |landing: &Landing| landing.s > low && landing.s < high;
    let landing = landings.into_iter().flatten().find(is_between);
    let clear = |at: DVec2| 2.0 * width + (at - tip).length() + 2.0 * MIN_PIECE;
    let Some(landing) = landing else {
        let node = match caught.s < 0.5 * road.length() {
            true => road.from,
            false => road.to,
        };
        // If the end cannot join nodes, it joins the road.
        return match catch.nodes || low >= high {
            true => node_joint(around, node, trace),
            false => {
                let s = caught
                    .s
                    .clamp(MIN_PIECE, (road.length() - MIN_PIECE).max(MIN_PIECE));
                joined_at(road, caught.id, Landing { s, cut: 0.0 }, clear)
            }
        };
    };
    joined_at(road, caught.id, landing, clear)
}

fn joined_at(road: &Road, id: RoadId, landing: Landing, clear: impl Fn(DVec2) -> f64) -> StrokeEnd {
    let at = road.reference_line.pose(landing.s).position;
    StrokeEnd {
        joint: Joint::Road {
            road: id,
            s: landing.s,
        },
        at,
        cut: landing.cut,
        clear: clear(at) + landing.cut,
    }
}

/// Returns points of a reference line near a given distance, each with its distance along the line.
fn near_part(road: &Road, s: f64, reach: f64) -> Vec<(f64, DVec2)> {
    let (low, high) = ((s - reach).max(0.0), (s + reach).min(road.length()));
    let count = ((high - low) / SPACING).ceil().clamp(1.0, 1000.0) as u32;
    let at = |i: u32| low + (high - low) * f64::from(i) / f64::from(count);
    (0..=count)
        .map(|i| (at(i), road.reference_line.pose(at(i)).position))
        .collect()
}

/// Returns the direction of a trace at its last point; `None` if all points are at the same
/// position.
fn direction(trace: &[DVec2]) -> Option<DVec2> {
    let (&tip, before) = trace.split_last()?;
    let far = before
        .iter()
        .rev()
        .find(|point| (tip - **point).length() >= DIRECTION)
        .or(before.first())?;
    (tip - *far).try_normalize()
}

/// Returns the point where a ray meets a part of a reference line, if it is within `reach`.
fn ray_landing(
    road: &Road,
    local: &[(f64, DVec2)],
    from: DVec2,
    ahead: DVec2,
    reach: f64,
) -> Option<Landing> {
    let ray = [(0.0, from), (reach, from + reach * ahead)];
    let line = ReferenceLine::straight(from, from + (reach + MIN_PIECE) * ahead).ok()?;
    let met = super::crossing_distances(&ray, local).into_iter();
    let (own, s) = met.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (_, s) = refine(&line, &road.reference_line, own, s);
    Some(Landing { s, cut: 0.0 })
}

/// Returns the last crossing of the last `reach` metres of a trace with a part of a reference line;
/// `None` if they do not cross.
fn crossed(road: &Road, local: &[(f64, DVec2)], trace: &[DVec2], reach: f64) -> Option<Landing> {
    let mut cut = 0.0;
    for pair in trace.windows(2).rev() {
        let step = (pair[1] - pair[0]).length();
        let piece = [(0.0, pair[0]), (step, pair[1])];
        let met = super::crossing_distances(&piece, local).into_iter();
        if let Some((own, s)) = met.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let back = cut + step - own;
            let line = ReferenceLine::straight(pair[0], pair[1]).ok();
            let s = line.map_or(s, |line| refine(&line, &road.reference_line, own, s).1);
            return (back <= reach).then_some(Landing { s, cut: back });
        }
        cut += step;
        if cut > reach {
            return None;
        }
    }
    None
}

/// A road end on the carriageway of another road that it does not join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LooseEnd {
    /// The road.
    pub road: RoadId,
    /// The end of the road. No other road shares it.
    pub end: RoadEnd,
    /// The road whose carriageway contains the end.
    pub on: RoadId,
}

/// Returns the road whose carriageway contains a road end that does not join it; `None` if another
/// road shares the end, or if no other road on its layer contains it.
pub fn loose_end(around: &Surroundings<'_>, id: RoadId, end: RoadEnd) -> Option<LooseEnd> {
    let network = around.scenario.network();
    let road = network.road(id)?;
    if network.ends_at(road.node_at(end)).len() > 1 {
        return None;
    }
    let at = end_pose(road, end).position;
    let is_hidden = |other: RoadId| other == id || (around.is_hidden)(other);
    let others = Surroundings {
        is_hidden: &is_hidden,
        ..*around
    };
    let caught = caught_road(&others, at, road.layer, 0.0)?;
    Some(LooseEnd {
        road: id,
        end,
        on: caught.id,
    })
}

fn end_pose(road: &Road, end: RoadEnd) -> Pose {
    match end {
        RoadEnd::Start => road.reference_line.start(),
        RoadEnd::End => road.reference_line.end(),
    }
}

/// Returns the joint of an end of an existing road, by the rules of [`stroke_ends`]; `None` if another road
/// shares the end, or if there is nothing to join.
pub fn end_target(
    around: &Surroundings<'_>,
    id: RoadId,
    end: RoadEnd,
    catch: Catch,
) -> Option<StrokeEnd> {
    let network = around.scenario.network();
    let road = network.road(id)?;
    if network.ends_at(road.node_at(end)).len() > 1 {
        return None;
    }
    let is_hidden = |other: RoadId| other == id || (around.is_hidden)(other);
    let others = Surroundings {
        is_hidden: &is_hidden,
        ..*around
    };
    let mut trace = road.reference_line.sample(0.05, 0.0);
    if end == RoadEnd::Start {
        trace.reverse();
    }
    let found = end_joint(&others, &trace, road.layer, catch);
    found.is_joined().then_some(found)
}

/// Returns the edit that joins an end of a road to its [`end_target`]; `None` if there is no
/// target.
///
/// The end keeps its direction if lengthening or shortening the road makes it meet the target.
///
/// # Errors
/// If the road cannot be led to the joint, or the road that it joins cannot be cut there.
pub fn joined_end(
    around: &Surroundings<'_>,
    id: RoadId,
    end: RoadEnd,
    catch: Catch,
) -> Result<Option<Edit>, DrawError> {
    let network = around.scenario.network();
    let road = network.road(id).ok_or(DrawError::NoSuchRoad(id))?;
    let loose = road.node_at(end);
    let Some(found) = end_target(around, id, end, catch) else {
        return Ok(None);
    };
    let line = with_end_at(&road.reference_line, end, |_| found.at)
        .map_err(|_| DrawError::TooShort(0.0))?;
    if line.length() < MIN_PIECE {
        return Err(DrawError::TooShort(line.length()));
    }
    let mut draft = Draft::of(around.scenario);
    let moved = reshaped(draft.now(), id, line).map_err(|_| DrawError::TooShort(0.0))?;
    draft.apply(moved)?;
    let node = match found.joint {
        Joint::Road { road, s } => {
            let node = draft.now().network().next_node_id();
            draft.apply(split(draft.now(), road, s)?)?;
            node
        }
        Joint::Node(node) => node,
        Joint::Free | Joint::SlipRoad(_) => return Ok(None),
    };
    let moved = draft.now().network().road(id).cloned();
    let mut moved = moved.ok_or(DrawError::NoSuchRoad(id))?;
    match end {
        RoadEnd::Start => moved.from = node,
        RoadEnd::End => moved.to = node,
    }
    draft.apply(Edit::Road(id, Some(Box::new(moved))))?;
    draft.apply(Edit::Node(loose, None))?;
    Ok(Some(draft.edit()))
}
