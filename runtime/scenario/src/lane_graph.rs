//! The drivable lanes as lanelets: what a vehicle follows, and what comes after what.
//!
//! A lanelet is the stretch of one lane between two junctions (or lane section borders), or a
//! connecting path. Lanelets are numbered densely; all look-ups are by index into arrays.

use crate::agents::LanePlace;
use crate::ids::RoadId;
use crate::junction::{LaneEnd, Layout, Turn};
use crate::network::RoadNetwork;
use crate::road::{DrivingSide, LaneType, Road, RoadEnd};
use crate::scenario::Scenario;
use glam::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, ReferenceLine};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

/// Index of a lanelet.
pub type LaneletId = u32;

/// Stands for no lanelet.
pub const NO_LANELET: LaneletId = u32::MAX;

/// What a lanelet is part of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LaneletKind {
    /// A lane of a road.
    Lane {
        /// The road.
        road: RoadId,
        /// Index of the lane section.
        section: u16,
        /// Lane id.
        lane: i8,
    },
    /// A connection of a junction.
    Connection {
        /// Index of the junction in the layout.
        junction: u32,
        /// Index of the path in the junction.
        path: u32,
        /// Which way it turns.
        turn: Turn,
    },
}

/// A centre line as points at equal distances.
#[derive(Debug, Clone, PartialEq)]
pub struct CentreLine {
    /// Distance between points along the line, m.
    spacing: f64,
    points: Vec<DVec2>,
    headings: Vec<f64>,
}

/// Wanted distance between the points of a centre line, m.
const SPACING: f64 = 1.0;

impl CentreLine {
    /// A line through points (at least two, not all equal), resampled to equal distances.
    fn through(points: &[DVec2]) -> Option<Self> {
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            along.push(along[along.len() - 1] + (pair[1] - pair[0]).length());
        }
        let length = along[along.len() - 1];
        if length < 1e-6 {
            return None;
        }
        let count = (length / SPACING).round().max(1.0) as usize;
        let spacing = length / count as f64;
        let mut piece = 0;
        let resampled: Vec<_> = (0..=count)
            .map(|i| {
                let s = i as f64 * spacing;
                while piece + 2 < along.len() && along[piece + 1] < s {
                    piece += 1;
                }
                let span = (along[piece + 1] - along[piece]).max(1e-12);
                let u = ((s - along[piece]) / span).clamp(0.0, 1.0);
                points[piece].lerp(points[piece + 1], u)
            })
            .collect();
        let headings = headings(&resampled);
        Some(Self {
            spacing,
            points: resampled,
            headings,
        })
    }

    /// Length, m.
    pub fn length(&self) -> f64 {
        self.spacing * (self.points.len() - 1) as f64
    }

    /// Pose at `s`, held inside the line. O(1).
    #[inline]
    pub fn pose(&self, s: f64) -> Pose {
        let (index, u) = self.place(s);
        let (a, b) = (self.headings[index], self.headings[index + 1]);
        Pose {
            position: self.points[index].lerp(self.points[index + 1], u),
            heading: wrap_angle(a + u * wrap_angle(b - a)),
        }
    }

    /// Position at `s`, held inside the line. O(1).
    #[inline]
    pub fn position(&self, s: f64) -> DVec2 {
        let (index, u) = self.place(s);
        self.points[index].lerp(self.points[index + 1], u)
    }

    /// Heading at `s`, rad.
    #[inline]
    pub fn heading(&self, s: f64) -> f64 {
        let (index, u) = self.place(s);
        let (a, b) = (self.headings[index], self.headings[index + 1]);
        wrap_angle(a + u * wrap_angle(b - a))
    }

    /// Distance along the line and to its left of the foot of a point near `guess`, m. Walks
    /// from the guess; exact on the polyline within a few metres of it.
    #[inline]
    pub fn project(&self, point: DVec2, guess: f64) -> (f64, f64) {
        let (mut index, _) = self.place(guess);
        let mut last_move = 0i8;
        loop {
            let start = self.points[index];
            let chord = self.points[index + 1] - start;
            let along = (point - start).dot(chord) / (self.spacing * self.spacing);
            // A reversal means the point is beside a bend: the joint is its foot.
            if along > 1.0 && index + 2 < self.points.len() && last_move >= 0 {
                index += 1;
                last_move = 1;
                continue;
            }
            if along < 0.0 && index > 0 && last_move <= 0 {
                index -= 1;
                last_move = -1;
                continue;
            }
            let t = chord.perp_dot(point - start) / self.spacing;
            return ((index as f64 + along) * self.spacing, t);
        }
    }

    /// The points, evenly spaced.
    pub fn points(&self) -> &[DVec2] {
        &self.points
    }

    #[inline]
    fn place(&self, s: f64) -> (usize, f64) {
        let last = self.points.len() - 1;
        let scaled = (s / self.spacing).clamp(0.0, last as f64);
        let index = (scaled as usize).min(last - 1);
        (index, scaled - index as f64)
    }
}

/// Headings at the points of a polyline: of the chords, averaged at inner points.
fn headings(points: &[DVec2]) -> Vec<f64> {
    let n = points.len();
    (0..n)
        .map(|i| {
            let (before, after) = (i.saturating_sub(1), (i + 1).min(n - 1));
            roadwright_geometry::heading_of(points[after] - points[before])
        })
        .collect()
}

/// A stretch of lane that vehicles follow one behind the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanelet {
    /// What it is part of.
    pub kind: LaneletKind,
    /// Centre line in the direction of driving.
    pub line: CentreLine,
    /// Mean width, m.
    pub width: f64,
    /// Speed limit, m/s.
    pub speed_limit: f64,
    /// Whether only buses may use it.
    pub bus_only: bool,
    /// Level: vehicles on other levels pass above or below.
    pub layer: i8,
    /// Lanelets that follow, in a fixed order.
    pub successors: Vec<LaneletId>,
    /// Lanelets that lead here, in a fixed order.
    pub predecessors: Vec<LaneletId>,
    /// Lane to the left that one can change to, or [`NO_LANELET`].
    pub left: LaneletId,
    /// Lane to the right that one can change to, or [`NO_LANELET`].
    pub right: LaneletId,
    /// Distances along the road at the start and at the end, m (0 for connections).
    pub road_span: (f64, f64),
}

impl Lanelet {
    /// Length of the centre line, m.
    pub fn length(&self) -> f64 {
        self.line.length()
    }

    /// Whether it is a connecting path.
    pub fn is_connection(&self) -> bool {
        matches!(self.kind, LaneletKind::Connection { .. })
    }

    /// The road of a lane lanelet.
    pub fn road(&self) -> Option<RoadId> {
        match self.kind {
            LaneletKind::Lane { road, .. } => Some(road),
            LaneletKind::Connection { .. } => None,
        }
    }

    /// Distance along the lanelet that corresponds to a distance along the road.
    pub fn from_road(&self, road_s: f64) -> f64 {
        let (start, end) = self.road_span;
        let share = (road_s - start) / (end - start);
        (share * self.length()).clamp(0.0, self.length())
    }
}

/// All lanelets of a network.
#[derive(Debug, Clone, Default)]
pub struct LaneGraph {
    lanelets: Vec<Lanelet>,
    /// Lane lanelets by (road, lane), in the order of lane sections.
    of_lane: BTreeMap<(RoadId, i8), Vec<LaneletId>>,
    top_speed: f64,
    identity: u64,
}

/// Comfortable lateral acceleration that limits the speed on connecting paths, m/s^2.
const LATERAL_ACCELERATION: f64 = 2.5;
/// On shorter lanes nobody changes to the next one: a car could not get straight again, m.
const MIN_LANE_CHANGE: f64 = 15.0;
/// Lanes shorter than this between their junctions are dropped, m.
const MIN_LANELET: f64 = 0.05;

impl LaneGraph {
    /// The lanelets of a scenario's network, laid out by `layout`.
    pub fn new(scenario: &Scenario, layout: &Layout) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(1);
        let mut graph = Self {
            identity: MADE.fetch_add(1, Ordering::Relaxed),
            ..Self::default()
        };
        let (network, side) = (scenario.network(), scenario.about().driving_side);
        for (id, road) in network.roads() {
            if let Some((start, end)) = layout.remaining(id, road) {
                graph.add_road(id, road, (start, end), side);
            }
        }
        graph.link_sections();
        graph.add_connections(network, layout);
        graph.link_backwards();
        let limits = graph.lanelets.iter().map(|lanelet| lanelet.speed_limit);
        graph.top_speed = limits.fold(1.0, f64::max);
        graph
    }

    /// A number that no other graph of this process has; copies share it. For caches: nothing that
    /// is computed may depend on it.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The lanelets by index.
    pub fn lanelets(&self) -> &[Lanelet] {
        &self.lanelets
    }

    /// One lanelet.
    #[inline]
    pub fn lanelet(&self, id: LaneletId) -> &Lanelet {
        &self.lanelets[id as usize]
    }

    /// Highest speed limit of all lanelets, m/s.
    pub fn top_speed(&self) -> f64 {
        self.top_speed
    }

    /// The lanelet at a place, and the distance along it; `None` if no drivable lane is there.
    pub fn locate(&self, place: &LanePlace) -> Option<(LaneletId, f64)> {
        let lanelets = self.of_lane.get(&(place.road, place.lane))?;
        // The place may lie inside a junction: then it is moved to the nearest part of the lane.
        let miss = |id: &&LaneletId| {
            let (a, b) = self.lanelet(**id).road_span;
            (a.min(b) - place.s).max(place.s - a.max(b)).max(0.0)
        };
        let id = lanelets.iter().min_by(|a, b| miss(a).total_cmp(&miss(b)))?;
        Some((*id, self.lanelet(*id).from_road(place.s)))
    }

    /// Lanelets that can be driven to from one, lane changes included. O(lanelets).
    pub fn reachable_from(&self, start: LaneletId, bus: bool) -> Vec<bool> {
        let mut seen = vec![false; self.lanelets.len()];
        seen[start as usize] = true;
        let mut open = VecDeque::from([start]);
        while let Some(id) = open.pop_front() {
            let lanelet = self.lanelet(id);
            let sides = [lanelet.left, lanelet.right];
            for &next in lanelet.successors.iter().chain(&sides) {
                let usable = next != NO_LANELET && (bus || !self.lanelet(next).bus_only);
                if usable && !seen[next as usize] {
                    seen[next as usize] = true;
                    open.push_back(next);
                }
            }
        }
        seen
    }

    /// The largest set of lanelets from each of which every other one can be reached, without
    /// bus lanes; ascending. O(lanelets).
    pub fn main_component(&self) -> Vec<LaneletId> {
        let mut graph = petgraph::graph::DiGraph::<(), ()>::with_capacity(self.lanelets.len(), 0);
        for _ in &self.lanelets {
            graph.add_node(());
        }
        for (id, lanelet) in self
            .lanelets
            .iter()
            .enumerate()
            .filter(|(_, lanelet)| !lanelet.bus_only)
        {
            for &next in lanelet
                .successors
                .iter()
                .chain([&lanelet.left, &lanelet.right])
            {
                if next != NO_LANELET && !self.lanelet(next).bus_only {
                    graph.add_edge((id as u32).into(), next.into(), ());
                }
            }
        }
        let components = petgraph::algo::tarjan_scc(&graph);
        let largest = components
            .into_iter()
            .max_by_key(Vec::len)
            .unwrap_or_default();
        let mut lanelets: Vec<LaneletId> = largest
            .into_iter()
            .map(|n| n.index() as LaneletId)
            .collect();
        lanelets.sort_unstable();
        lanelets
    }

    fn add_road(&mut self, id: RoadId, road: &Road, span: (f64, f64), side: DrivingSide) {
        for (index, section) in road.lane_sections.iter().enumerate() {
            let from = span.0.max(section.s);
            let to = span.1.min(road.section_end(index));
            if to - from < MIN_LANELET {
                continue;
            }
            let mut ids: Vec<(bool, LaneletId)> = Vec::new();
            for (place, lane) in section.lanes.iter().enumerate() {
                if !lane.kind.is_drivable() {
                    ids.push((false, NO_LANELET));
                    continue;
                }
                let forward = lane.is_forward(side);
                let Some((line, width)) = lane_line(road, index, place, (from, to), forward) else {
                    ids.push((false, NO_LANELET));
                    continue;
                };
                let lanelet = self.lanelets.len() as LaneletId;
                ids.push((forward, lanelet));
                self.of_lane.entry((id, lane.id)).or_default().push(lanelet);
                self.lanelets.push(Lanelet {
                    kind: LaneletKind::Lane {
                        road: id,
                        section: index as u16,
                        lane: lane.id,
                    },
                    line,
                    width,
                    speed_limit: lane.speed_limit.unwrap_or(road.speed_limit),
                    bus_only: lane.kind == LaneType::Bus,
                    layer: road.layer,
                    successors: Vec::new(),
                    predecessors: Vec::new(),
                    left: NO_LANELET,
                    right: NO_LANELET,
                    road_span: if forward { (from, to) } else { (to, from) },
                });
            }
            self.link_neighbours(&ids);
        }
    }

    /// Neighbouring lanes of one direction; `ids` run from left to right seen along the road.
    fn link_neighbours(&mut self, ids: &[(bool, LaneletId)]) {
        for pair in ids.windows(2) {
            let [(a_forward, a), (b_forward, b)] = [pair[0], pair[1]];
            if a == NO_LANELET || b == NO_LANELET || a_forward != b_forward {
                continue;
            }
            if self.lanelet(a).length().min(self.lanelet(b).length()) < MIN_LANE_CHANGE {
                continue;
            }
            let (left, right) = if a_forward { (a, b) } else { (b, a) };
            self.lanelets[left as usize].right = right;
            self.lanelets[right as usize].left = left;
        }
    }

    /// Lanes that go on in the next lane section.
    fn link_sections(&mut self) {
        let lists: Vec<_> = self.of_lane.values().cloned().collect();
        for pair in lists.iter().flat_map(|list| list.windows(2)) {
            let forward =
                |id: LaneletId| self.lanelet(id).road_span.1 > self.lanelet(id).road_span.0;
            let (from, to) = match (forward(pair[0]), forward(pair[1])) {
                (true, true) => (pair[0], pair[1]),
                (false, false) => (pair[1], pair[0]),
                _ => continue,
            };
            if self.sections_touch(from, to) {
                self.lanelets[from as usize].successors.push(to);
            }
        }
    }

    fn sections_touch(&self, from: LaneletId, to: LaneletId) -> bool {
        (self.lanelet(from).road_span.1 - self.lanelet(to).road_span.0).abs() < 1e-6
    }

    fn add_connections(&mut self, network: &RoadNetwork, layout: &Layout) {
        for (j, junction) in layout.junctions.iter().enumerate() {
            for (p, path) in junction.paths.iter().enumerate() {
                let ends = (
                    self.lanelet_at(network, layout, path.from),
                    self.lanelet_at(network, layout, path.to),
                );
                let (Some(from), Some(to)) = ends else {
                    continue;
                };
                let line = path.curve.as_ref().and_then(curve_line);
                let Some(line) = line else {
                    self.lanelets[from as usize].successors.push(to);
                    continue;
                };
                let (a, b) = (self.lanelet(from), self.lanelet(to));
                let limit = a.speed_limit.max(b.speed_limit);
                let corner = (LATERAL_ACCELERATION * path.min_radius()).sqrt();
                let lanelet = Lanelet {
                    kind: LaneletKind::Connection {
                        junction: j as u32,
                        path: p as u32,
                        turn: path.turn,
                    },
                    line,
                    width: 0.5 * (path.width.0 + path.width.1),
                    speed_limit: limit.min(corner),
                    bus_only: path.bus_only,
                    layer: a.layer.max(b.layer),
                    successors: vec![to],
                    predecessors: Vec::new(),
                    left: NO_LANELET,
                    right: NO_LANELET,
                    road_span: (0.0, 0.0),
                };
                let id = self.lanelets.len() as LaneletId;
                self.lanelets.push(lanelet);
                self.lanelets[from as usize].successors.push(id);
            }
        }
    }

    /// The lanelet of a lane next to a junction.
    fn lanelet_at(&self, network: &RoadNetwork, layout: &Layout, at: LaneEnd) -> Option<LaneletId> {
        let list = self.of_lane.get(&(at.road, at.lane))?;
        let id = match at.end {
            RoadEnd::Start => *list.first()?,
            RoadEnd::End => *list.last()?,
        };
        // The lane must be in the section next to the junction, not in a farther one.
        let road = network.road(at.road)?;
        let LaneletKind::Lane { section, .. } = self.lanelet(id).kind else {
            return None;
        };
        let (start, end) = layout.remaining(at.road, road)?;
        let wanted = match at.end {
            RoadEnd::Start => road.section_index(start + 1e-6),
            RoadEnd::End => road.section_index(end - 1e-6),
        };
        (section as usize == wanted).then_some(id)
    }

    fn link_backwards(&mut self) {
        for id in 0..self.lanelets.len() {
            for next in self.lanelets[id].successors.clone() {
                self.lanelets[next as usize]
                    .predecessors
                    .push(id as LaneletId);
            }
        }
    }
}

/// Centre line and mean width of a lane between two distances, in the direction of driving.
fn lane_line(
    road: &Road,
    section: usize,
    place: usize,
    (from, to): (f64, f64),
    forward: bool,
) -> Option<(CentreLine, f64)> {
    let section = &road.lane_sections[section];
    let widths_vary = |lane: &crate::road::Lane| {
        lane.width.len() > 1
            || lane.width[0].b != 0.0
            || lane.width[0].c != 0.0
            || lane.width[0].d != 0.0
    };
    let shifts = road.lane_offset.len() > 1 || section.lanes.iter().any(widths_vary);
    let mut distances = vec![from];
    distances.extend(
        road.reference_line
            .sample_distances(0.02, 10.0)
            .into_iter()
            .filter(|s| *s > from + 1e-6 && *s < to - 1e-6),
    );
    distances.push(to);
    if shifts {
        let count = ((to - from) / 1.0).ceil().clamp(1.0, 1e6);
        distances.extend((1..count as usize).map(|i| from + (to - from) * i as f64 / count));
        distances.sort_by(f64::total_cmp);
    }
    let mut width = 0.0;
    let mut points: Vec<_> = distances
        .iter()
        .map(|&s| {
            let band = road.lane_bands(section, s)[place];
            width += band.width / distances.len() as f64;
            road.reference_line.point(s, band.centre)
        })
        .collect();
    if !forward {
        points.reverse();
    }
    Some((CentreLine::through(&points)?, width))
}

/// Centre line of a connecting curve.
fn curve_line(curve: &ReferenceLine) -> Option<CentreLine> {
    CentreLine::through(&curve.sample(0.01, 0.0))
}
