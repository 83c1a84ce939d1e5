//! The drivable lanes as lanelets: what a vehicle follows, and what comes after what.
//!
//! A lanelet is the stretch of one lane between two junctions (or lane section borders), or a
//! connecting path. Lanelets are numbered densely; all look-ups are by index into arrays.

use crate::agents::LanePlace;
use crate::ids::RoadId;
use crate::junction::{LaneEnd, Layout, Turn};
use crate::network::RoadNetwork;
use crate::road::{DrivingSide, LaneSection, LaneType, Road, RoadEnd};
use crate::scenario::Scenario;
use roadwright_geometry::centre_line::{CentreLine, CentreLines, LineSpan};
use roadwright_geometry::{DVec2, ReferenceLine};
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

/// A range of ids in a shared list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Links {
    first: u32,
    count: u32,
}

/// A stretch of lane that vehicles follow one behind the other.
///
/// Its centre line, successors and predecessors lie in the [`LaneGraph`], which all lanelets share.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanelet {
    /// What it is part of.
    pub kind: LaneletKind,
    line: LineSpan,
    /// Speed limit, m/s.
    pub speed_limit: f64,
    successors: Links,
    predecessors: Links,
    /// Lane to the left that one can change to, or [`NO_LANELET`].
    pub left: LaneletId,
    /// Lane to the right that one can change to, or [`NO_LANELET`].
    pub right: LaneletId,
    /// Whether only buses may use it.
    pub bus_only: bool,
    /// Level: vehicles on other levels pass above or below.
    pub layer: i8,
    /// Mean width, m.
    pub width: f64,
    /// Distances along the road at the start and at the end, m (0 for connections).
    pub road_span: (f64, f64),
}

impl Lanelet {
    /// Length of the centre line, m.
    #[inline]
    pub fn length(&self) -> f64 {
        self.line.length()
    }

    /// Where its points lie among those of all lanelets.
    #[inline]
    pub fn line_span(&self) -> LineSpan {
        self.line
    }

    /// Whether it is a connection through a junction.
    pub fn is_connection(&self) -> bool {
        matches!(self.kind, LaneletKind::Connection { .. })
    }

    /// The road of a piece of lane.
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
    lines: CentreLines,
    /// Successors and predecessors of all lanelets.
    links: Vec<LaneletId>,
    /// Lane lanelets by (road, lane), in the order of lane sections.
    of_lane: BTreeMap<(RoadId, i8), Vec<LaneletId>>,
    /// Where the lanelets of each road begin.
    of_road: BTreeMap<RoadId, LaneletId>,
    /// The paths of all junctions, those of one after those of another.
    paths: Vec<PathLanelets>,
    top_speed: f64,
    left_out: Option<RoadId>,
    identity: u64,
}

/// What a path of a junction leads from and to.
#[derive(Debug, Clone, Copy)]
struct PathLanelets {
    from: LaneletId,
    to: LaneletId,
    /// Its own lanelet; [`NO_LANELET`] if one goes straight over.
    between: LaneletId,
}

impl PathLanelets {
    /// A path that leads nowhere.
    const NONE: Self = Self {
        from: NO_LANELET,
        to: NO_LANELET,
        between: NO_LANELET,
    };
}

/// A network before an edit, with what was made of it.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// The roads.
    pub network: &'a RoadNetwork,
    /// Their layout.
    pub layout: &'a Layout,
    /// Their lanelets.
    pub graph: &'a LaneGraph,
}

/// Comfortable lateral acceleration that limits the speed on connecting paths, m/s^2.
const LATERAL_ACCELERATION: f64 = 2.5;
/// Lanes of all roads together, m, and points of all centre lines: what goes beyond is left out,
/// so that one wrong number does not fill the memory.
const MOST_LANE: f64 = 2e7;
const MOST_POINTS: usize = 10_000_000;
/// On shorter lanes nobody changes to the next one: a car could not get straight again, m.
const MIN_LANE_CHANGE: f64 = 15.0;
/// Lanes shorter than this between their junctions are dropped, m.
const MIN_LANELET: f64 = 0.05;

impl LaneGraph {
    /// The lanelets of a scenario's network, laid out by `layout`.
    pub fn new(scenario: &Scenario, layout: &Layout) -> Self {
        Self::build(scenario, layout, None).0
    }

    /// The lanelets of an edited scenario: equal to those of [`new`](Self::new), with those of roads
    /// and junctions that the edit did not change copied. Says for each lanelet which one of before
    /// it is a copy of; [`NO_LANELET`] for none. The driving side is the same.
    pub fn after_edit(
        scenario: &Scenario,
        layout: &Layout,
        before: Before<'_>,
    ) -> (Self, Vec<LaneletId>) {
        Self::build(scenario, layout, Some(before))
    }

    fn build(
        scenario: &Scenario,
        layout: &Layout,
        before: Option<Before<'_>>,
    ) -> (Self, Vec<LaneletId>) {
        static MADE: AtomicU64 = AtomicU64::new(1);
        let mut builder = Builder::default();
        if let Some(before) = before {
            builder.expect(before.graph);
        }
        let (network, side) = (scenario.network(), scenario.about().driving_side);
        for (id, road) in network.roads() {
            let Some((start, end)) = layout.remaining(id, road) else {
                continue;
            };
            builder.of_road.insert(id, builder.lanelets.len() as u32);
            let is_same = |before: &Before<'_>| {
                let same = before
                    .network
                    .road(id)
                    .filter(|old| std::ptr::eq(*old, road));
                same.is_some_and(|old| before.layout.remaining(id, old) == Some((start, end)))
            };
            if !builder.has_room(road, end - start) {
                builder.left_out = builder.left_out.or(Some(id));
                continue;
            }
            match before.filter(is_same) {
                Some(before) => builder.copy_road(id, before.graph),
                None => builder.add_road(id, road, (start, end), side),
            }
        }
        builder.link_sections();
        builder.add_connections(network, layout, before);
        builder.finish(MADE.fetch_add(1, Ordering::Relaxed))
    }

    /// The lanelets of a road.
    fn of_road(&self, id: RoadId) -> std::ops::Range<LaneletId> {
        let first = self.of_road.get(&id).copied().unwrap_or_default();
        let own = self.lanelets[first as usize..].iter();
        let count = own.take_while(|lanelet| lanelet.road() == Some(id)).count();
        first..first + count as LaneletId
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

    /// The centre line of a lanelet, in the direction of driving.
    #[inline]
    pub fn line(&self, id: LaneletId) -> CentreLine<'_> {
        self.lines.line(self.lanelets[id as usize].line)
    }

    /// A centre line by where its points lie ([`Lanelet::line_span`]).
    #[inline]
    pub fn line_at(&self, span: LineSpan) -> CentreLine<'_> {
        self.lines.line(span)
    }

    /// Points of all centre lines together.
    pub fn point_count(&self) -> usize {
        self.lines.point_count()
    }

    /// Lanelets that follow, in a fixed order.
    #[inline]
    pub fn successors(&self, id: LaneletId) -> &[LaneletId] {
        self.linked(self.lanelets[id as usize].successors)
    }

    /// Lanelets that lead here, in a fixed order.
    #[inline]
    pub fn predecessors(&self, id: LaneletId) -> &[LaneletId] {
        self.linked(self.lanelets[id as usize].predecessors)
    }

    #[inline]
    fn linked(&self, links: Links) -> &[LaneletId] {
        &self.links[links.first as usize..(links.first + links.count) as usize]
    }

    /// The first road whose lanes were left out because there were too many metres of lanes: 20,000
    /// km, or ten million points of centre lines, are the most.
    pub fn left_out(&self) -> Option<RoadId> {
        self.left_out
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
            for &next in self.successors(id).iter().chain(&sides) {
                let usable = next != NO_LANELET && (bus || !self.lanelet(next).bus_only);
                if usable && !seen[next as usize] {
                    seen[next as usize] = true;
                    open.push_back(next);
                }
            }
        }
        seen
    }

    /// For each lanelet the one of an edited network that is the same piece of lane, or the
    /// connection between the same lanes; [`NO_LANELET`] if it is gone. Shapes may differ.
    /// O(lanelets log lanes).
    pub fn counterparts(&self, edited: &Self) -> Vec<LaneletId> {
        let mut found = vec![NO_LANELET; self.lanelets.len()];
        for (key, lanelets) in &self.of_lane {
            let others = edited.of_lane.get(key).map_or(&[][..], Vec::as_slice);
            let section = |graph: &Self, id: LaneletId| match graph.lanelet(id).kind {
                LaneletKind::Lane { section, .. } => section,
                LaneletKind::Connection { .. } => u16::MAX,
            };
            for &id in lanelets {
                let own = section(self, id);
                let same = others.iter().find(|&&other| section(edited, other) == own);
                found[id as usize] = same.copied().unwrap_or(NO_LANELET);
            }
        }
        for (id, lanelet) in (0..).zip(&self.lanelets) {
            if !lanelet.is_connection() {
                continue;
            }
            let end = |ids: &[LaneletId]| ids.first().map(|&end| found[end as usize]);
            let (Some(from), Some(to)) = (end(self.predecessors(id)), end(self.successors(id)))
            else {
                continue;
            };
            if from != NO_LANELET && to != NO_LANELET {
                let mut next = edited.successors(from).iter().copied();
                let leads_to = |&between: &LaneletId| {
                    let is_connection = edited.lanelet(between).is_connection();
                    is_connection && edited.successors(between).first() == Some(&to)
                };
                found[id as usize] = next.find(leads_to).unwrap_or(NO_LANELET);
            }
        }
        found
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
            let sides = [lanelet.left, lanelet.right];
            for &next in self.successors(id as LaneletId).iter().chain(&sides) {
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
}

/// A lane graph that is being put together.
#[derive(Default)]
struct Builder {
    lanelets: Vec<Lanelet>,
    lines: CentreLines,
    /// From which lanelet to which one goes on, in the order of each one's successors.
    links: Vec<(LaneletId, LaneletId)>,
    of_lane: BTreeMap<(RoadId, i8), Vec<LaneletId>>,
    of_road: BTreeMap<RoadId, LaneletId>,
    paths: Vec<PathLanelets>,
    /// Lanes so far, m.
    lane_length: f64,
    left_out: Option<RoadId>,
    /// The lanelet of before that each is a copy of.
    copies: Vec<LaneletId>,
    /// The copy of each lanelet of before.
    copy_of: Vec<LaneletId>,
}

impl Builder {
    fn lanelet(&self, id: LaneletId) -> &Lanelet {
        &self.lanelets[id as usize]
    }

    fn push(&mut self, lanelet: Lanelet) -> LaneletId {
        self.lanelets.push(lanelet);
        self.copies.push(NO_LANELET);
        self.lanelets.len() as LaneletId - 1
    }

    /// Makes room for about as much as there was before.
    fn expect(&mut self, before: &LaneGraph) {
        self.lanelets.reserve(before.lanelets.len() + 64);
        self.copies.reserve(before.lanelets.len() + 64);
        self.links.reserve(before.links.len() / 2 + 64);
        self.lines.reserve_like(&before.lines);
        self.copy_of = vec![NO_LANELET; before.lanelets.len()];
    }

    /// Whether there is room for the lanes of a road of a length, m; counts them if so.
    fn has_room(&mut self, road: &Road, length: f64) -> bool {
        let lanes = |section: &LaneSection| {
            let lanes = section.lanes.iter();
            lanes.filter(|lane| lane.kind.is_drivable()).count()
        };
        let most = road.lane_sections.iter().map(lanes).max().unwrap_or(0);
        let wanted = self.lane_length + most as f64 * length;
        let has_room = wanted <= MOST_LANE && self.lines.point_count() <= MOST_POINTS;
        if has_room {
            self.lane_length = wanted;
        }
        has_room
    }

    /// Adds a copy of a lanelet of before.
    fn push_copy(&mut self, id: LaneletId, before: &LaneGraph, lanelet: Lanelet) -> LaneletId {
        let line = self.lines.push_copy(&before.lines, lanelet.line);
        let copy = self.push(Lanelet { line, ..lanelet });
        self.copies[copy as usize] = id;
        self.copy_of[id as usize] = copy;
        copy
    }

    /// Adds the lanelets of a road as they were before.
    fn copy_road(&mut self, road: RoadId, before: &LaneGraph) {
        let ids = before.of_road(road);
        let first = self.lanelets.len() as LaneletId;
        let moved = |beside: LaneletId| match beside {
            NO_LANELET => NO_LANELET,
            beside => beside - ids.start + first,
        };
        for id in ids.clone() {
            let lanelet = before.lanelet(id).clone();
            let (left, right) = (moved(lanelet.left), moved(lanelet.right));
            let kind = lanelet.kind;
            let copy = self.push_copy(
                id,
                before,
                Lanelet {
                    left,
                    right,
                    ..lanelet
                },
            );
            if let LaneletKind::Lane { lane, .. } = kind {
                self.of_lane.entry((road, lane)).or_default().push(copy);
            }
        }
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
                let (points, width) = lane_points(road, index, place, (from, to), forward);
                let Some(line) = self.lines.push(&points) else {
                    ids.push((false, NO_LANELET));
                    continue;
                };
                let lanelet = Lanelet {
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
                    successors: Links::default(),
                    predecessors: Links::default(),
                    left: NO_LANELET,
                    right: NO_LANELET,
                    road_span: if forward { (from, to) } else { (to, from) },
                };
                let lanelet = self.push(lanelet);
                ids.push((forward, lanelet));
                self.of_lane.entry((id, lane.id)).or_default().push(lanelet);
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
        let mut links = std::mem::take(&mut self.links);
        for pair in self.of_lane.values().flat_map(|list| list.windows(2)) {
            let forward =
                |id: LaneletId| self.lanelet(id).road_span.1 > self.lanelet(id).road_span.0;
            let (from, to) = match (forward(pair[0]), forward(pair[1])) {
                (true, true) => (pair[0], pair[1]),
                (false, false) => (pair[1], pair[0]),
                _ => continue,
            };
            if self.sections_touch(from, to) {
                links.push((from, to));
            }
        }
        self.links = links;
    }

    fn sections_touch(&self, from: LaneletId, to: LaneletId) -> bool {
        (self.lanelet(from).road_span.1 - self.lanelet(to).road_span.0).abs() < 1e-6
    }

    fn add_connections(
        &mut self,
        network: &RoadNetwork,
        layout: &Layout,
        before: Option<Before<'_>>,
    ) {
        let first_paths = before.map(|before| first_paths(before.layout));
        for (j, junction) in layout.junctions.iter().enumerate() {
            if let Some((before, firsts)) = before.zip(first_paths.as_ref())
                && let Some(old) = before.layout.shared(junction)
                && self.copy_connections(j as u32, firsts[old]..firsts[old + 1], before.graph)
            {
                continue;
            }
            for (p, path) in junction.paths.iter().enumerate() {
                let ends = (
                    self.lanelet_at(network, layout, path.from),
                    self.lanelet_at(network, layout, path.to),
                );
                let (Some(from), Some(to)) = ends else {
                    self.paths.push(PathLanelets::NONE);
                    continue;
                };
                let points = path.curve.as_ref().map(curve_points);
                let line = points.and_then(|points| self.lines.push(&points));
                let Some(line) = line else {
                    self.connect(from, to, NO_LANELET);
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
                    successors: Links::default(),
                    predecessors: Links::default(),
                    left: NO_LANELET,
                    right: NO_LANELET,
                    road_span: (0.0, 0.0),
                };
                let id = self.push(lanelet);
                self.connect(from, to, id);
            }
        }
    }

    /// Notes what a path leads from and to, over a lanelet of its own or straight on.
    fn connect(&mut self, from: LaneletId, to: LaneletId, between: LaneletId) {
        if between == NO_LANELET {
            self.links.push((from, to));
        } else {
            self.links.extend([(from, between), (between, to)]);
        }
        self.paths.push(PathLanelets { from, to, between });
    }

    /// Adds the connections of junction `number` as they were before, where their paths were a
    /// range of all; says no, and adds none, if a road there is not a copy.
    fn copy_connections(
        &mut self,
        number: u32,
        paths: std::ops::Range<usize>,
        before: &LaneGraph,
    ) -> bool {
        let paths = &before.paths[paths];
        let copied = |id: LaneletId| id == NO_LANELET || self.copy_of[id as usize] != NO_LANELET;
        // A path that led nowhere may lead somewhere now.
        let is_copied = |path: &PathLanelets| path.from != NO_LANELET && copied(path.from);
        if !paths.iter().all(|path| is_copied(path) && copied(path.to)) {
            return false;
        }
        for path in paths {
            let (from, to) = (
                self.copy_of[path.from as usize],
                self.copy_of[path.to as usize],
            );
            if path.between == NO_LANELET {
                self.connect(from, to, NO_LANELET);
                continue;
            }
            let mut lanelet = before.lanelet(path.between).clone();
            if let LaneletKind::Connection { junction, .. } = &mut lanelet.kind {
                *junction = number;
            }
            let between = self.push_copy(path.between, before, lanelet);
            self.connect(from, to, between);
        }
        true
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

    /// Lists in one array, and the way back of each link.
    fn finish(self, identity: u64) -> (LaneGraph, Vec<LaneletId>) {
        let count = self.lanelets.len();
        let mut graph = LaneGraph {
            lanelets: self.lanelets,
            lines: self.lines,
            links: Vec::with_capacity(2 * self.links.len()),
            of_lane: self.of_lane,
            of_road: self.of_road,
            paths: self.paths,
            top_speed: 1.0,
            left_out: self.left_out,
            identity,
        };
        let successors = listed(&mut graph.links, count, &self.links);
        // Predecessors by growing id.
        let mut back: Vec<_> = self.links.iter().map(|&(from, to)| (to, from)).collect();
        back.sort_unstable();
        let predecessors = listed(&mut graph.links, count, &back);
        let lists = successors.into_iter().zip(predecessors);
        for (lanelet, (successors, predecessors)) in graph.lanelets.iter_mut().zip(lists) {
            (lanelet.successors, lanelet.predecessors) = (successors, predecessors);
            graph.top_speed = graph.top_speed.max(lanelet.speed_limit);
        }
        (graph, self.copies)
    }
}

/// Appends the second members of links to `all`, those with one first member together and in their
/// order; tells where those of each of `count` lanelets lie.
fn listed(all: &mut Vec<LaneletId>, count: usize, links: &[(LaneletId, LaneletId)]) -> Vec<Links> {
    let mut lists = vec![Links::default(); count];
    for &(id, _) in links {
        lists[id as usize].count += 1;
    }
    let mut first = all.len() as u32;
    for list in &mut lists {
        list.first = first;
        first += list.count;
        // Counted again while they are filled.
        list.count = 0;
    }
    all.resize(first as usize, NO_LANELET);
    for &(id, other) in links {
        let list = &mut lists[id as usize];
        all[(list.first + list.count) as usize] = other;
        list.count += 1;
    }
    lists
}

/// Where the paths of each junction begin among all, and where they end.
fn first_paths(layout: &Layout) -> Vec<usize> {
    let mut firsts = vec![0];
    for junction in &layout.junctions {
        firsts.push(firsts[firsts.len() - 1] + junction.paths.len());
    }
    firsts
}

/// Points on the centre of a lane between two distances, in the direction of driving, and its mean
/// width.
fn lane_points(
    road: &Road,
    section: usize,
    place: usize,
    (from, to): (f64, f64),
    forward: bool,
) -> (Vec<DVec2>, f64) {
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
    (points, width)
}

/// Points on a connecting curve.
fn curve_points(curve: &ReferenceLine) -> Vec<DVec2> {
    curve.sample(0.01, 0.0)
}
