//! Creates lanelets from roads and junctions.
//!
//! The lanelets of roads come first, in ascending order of id, then the links between the sections
//! of a lane, then the connections of each junction. The order is fixed, so equal scenarios have
//! equal lanelets.

use super::after_edit::{Before, first_paths};
use super::bend::free_speed;
use super::lane_index::LaneIndex;
use super::{LaneGraph, Lanelet, LaneletIndex, LaneletKind, Links, NO_LANELET, PathLanelets, runs};
use crate::access::{LaneAccess, RoadAccess};
use crate::driving_side::DrivingSide;
use crate::ids::RoadId;
use crate::index::{ConnectionIndex, JunctionIndex};
use crate::junction::{Body, ConnectingPath, Junction, LaneEnd, Layout};
use crate::network::RoadNetwork;
use crate::road::{LaneChange, LaneSection, Road, RoadEnd};
use crate::scenario::Scenario;
use crate::via_rules::ViaRules;
use roadwright_geometry::centre_line::CentreLines;
use roadwright_geometry::{DVec2, ReferenceLine};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum total length of lanes, m. Roads beyond this limit get no lanelets, so that one wrong
/// number cannot exhaust the memory.
const MOST_LANE: f64 = 2e7;
/// Maximum number of points of all centre lines. Roads beyond this limit get no lanelets.
const MOST_POINTS: usize = 10_000_000;
/// Minimum length of lanes that permit lane changes, m. On shorter lanes, a car would not have
/// enough space to straighten up.
const MIN_LANE_CHANGE: f64 = 15.0;
/// Total width of two lanes of opposite directions below which they are closed to buses, m. A bus
/// is 2.55 m wide and may overhang its lane by 10 cm on either side.
const NARROW_FOR_BUSES: f64 = Body::LONG.width - 0.2;
/// Maximum distance between the end of a lane's centre line and the start of the centre line that
/// continues it, m.
const SAME_PLACE: f64 = 0.5;
/// Minimum length of a lane between junctions, m. Shorter lanes are left out.
const MIN_LANELET: f64 = 0.05;

impl LaneGraph {
    /// Creates the lanelets of a scenario and copies unchanged ones from `before`. Also returns,
    /// for each lanelet, the earlier lanelet that it was copied from.
    pub(super) fn build(
        scenario: &Scenario,
        layout: &Layout,
        before: Option<Before<'_>>,
    ) -> (Self, Vec<LaneletIndex>) {
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
            // Later roads may be short enough to fit, but only the first road that exceeds the
            // limit is reported.
            if !builder.has_room(road, end - start) {
                builder.left_out = builder.left_out.or(Some(id));
                continue;
            }
            let is_same = |before: &Before<'_>| before.has_same(id, road, start, end);
            match before.filter(is_same) {
                Some(before) => builder.copy_road(id, before.graph),
                None => builder.add_road(id, road, start, end, side),
            }
        }
        builder.index = LaneIndex::new(&builder.lanelets);
        builder.link_sections();
        builder.add_connections(network, layout, before);
        builder.of_internal = builder.connections_out(network, side, layout, before);
        builder.open_junctions(network, layout);
        let nodes = network.nodes().map(|(id, _)| id);
        let stays = |road| !layout.internal.contains(&road);
        builder.via_rules = ViaRules::of(network, nodes, stays);
        builder.finish(MADE.fetch_add(1, Ordering::Relaxed))
    }
}

/// A lane graph under construction.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) lanelets: Vec<Lanelet>,
    pub(super) lines: CentreLines,
    /// Whether the centre lines are the previous ones followed by new ones.
    pub(super) continues_lines: bool,
    /// Pairs of a lanelet and one of its successors. The pairs of each lanelet are in the order of
    /// its successors.
    pub(super) links: Vec<(LaneletIndex, LaneletIndex)>,
    /// Index of lanelets by lane, built after all roads have been added.
    index: LaneIndex,
    of_internal: BTreeMap<(RoadId, i8), LaneletIndex>,
    pub(super) paths: Vec<PathLanelets>,
    /// For each junction, whether all its connections are copies.
    pub(super) copied_junctions: Vec<bool>,
    /// Total length of the lanes added so far, m.
    lane_length: f64,
    /// Number of points of all centre lines added so far, including those of connections.
    point_count: usize,
    left_out: Option<RoadId>,
    via_rules: ViaRules,
    /// For each lanelet, the earlier lanelet that it was copied from.
    pub(super) copies: Vec<LaneletIndex>,
    /// For each earlier lanelet, its copy.
    pub(super) copy_of: Vec<LaneletIndex>,
}

/// A lane of a road, given by its section and its position in this section from left to right.
#[derive(Clone, Copy)]
struct SectionLane<'a> {
    id: RoadId,
    road: &'a Road,
    section: usize,
    place: usize,
}

impl Builder {
    pub(super) fn lanelet(&self, id: LaneletIndex) -> &Lanelet {
        &self.lanelets[id.index()]
    }

    pub(super) fn push(&mut self, lanelet: Lanelet) -> LaneletIndex {
        self.point_count += lanelet.line.count as usize;
        let id = LaneletIndex::from_index(self.lanelets.len());
        self.lanelets.push(lanelet);
        self.copies.push(NO_LANELET);
        id
    }

    /// Returns whether the lanes of a road still fit within the limits, and if so, adds the lanes
    /// to the totals. `length` is the length of the road, m.
    fn has_room(&mut self, road: &Road, length: f64) -> bool {
        let lanes = |section: &LaneSection| {
            let lanes = section.lanes.iter();
            lanes.filter(|lane| lane.kind.is_drivable()).count()
        };
        // As a fast upper bound, the section with the most lanes is assumed over the whole length.
        let most = road.lane_sections.iter().map(lanes).max().unwrap_or(0);
        let wanted = self.lane_length + most as f64 * length;
        let has_room = wanted <= MOST_LANE && self.point_count <= MOST_POINTS;
        if has_room {
            self.lane_length = wanted;
        }
        has_room
    }

    /// Adds the lanelets of a road, one for each drivable lane of each section.
    ///
    /// ```text
    ///        junction |<------- span ------->| junction
    ///     s = 0 ......|.......:..............|...... s = length
    ///                 | sec 0 :  section 1   |
    /// ```
    fn add_road(&mut self, id: RoadId, road: &Road, from: f64, to: f64, side: DrivingSide) {
        for (index, section) in road.lane_sections.iter().enumerate() {
            let part = (from.max(section.s.get()), to.min(road.section_end(index)));
            // A section that is inside a junction, apart from a sliver at most, has no lanelets.
            // Its lanes are joined across it, or end there.
            if part.1 - part.0 < MIN_LANELET {
                continue;
            }
            let places = 0..section.lanes.len();
            let ids: Vec<(bool, LaneChange, LaneletIndex)> = places
                .map(|place| {
                    let lane = SectionLane {
                        id,
                        road,
                        section: index,
                        place,
                    };
                    let lanelet = self.add_lane(lane, part.0, part.1, side);
                    let lane = &section.lanes[place];
                    (lane.is_forward(side), lane.lane_change, lanelet)
                })
                .collect();
            self.link_neighbours(&ids);
            self.close_narrow(&ids);
        }
    }

    /// Adds the lanelet of a lane in a part of a section. The lane is given by its position from left to
    /// right. Returns [`NO_LANELET`] if the lane is not drivable.
    fn add_lane(
        &mut self,
        lane: SectionLane<'_>,
        from: f64,
        to: f64,
        side: DrivingSide,
    ) -> LaneletIndex {
        let SectionLane {
            id,
            road,
            section,
            place,
        } = lane;
        let lane = &road.lane_sections[section].lanes[place];
        if !lane.kind.is_drivable() {
            return NO_LANELET;
        }
        let forward = lane.is_forward(side);
        let (points, width) = lane_points(road, section, place, from, to, forward);
        let Some(line) = self.lines.push(&points) else {
            return NO_LANELET;
        };
        let speed_limit = lane.speed_limit.unwrap_or(road.speed_limit.get());
        self.push(Lanelet {
            kind: LaneletKind::Lane {
                road: id,
                section: section as u16,
                lane: lane.id,
            },
            line,
            width,
            speed_limit,
            free_speed: speed_limit,
            access: LaneAccess::of(lane.kind),
            road_access: road.access,
            layer: road.layer,
            successors: Links::default(),
            predecessors: Links::default(),
            left: NO_LANELET,
            right: NO_LANELET,
            beside: [NO_LANELET; 2],
            // Descending for lanes that run against the reference line, so that positions grow
            // along the lanelet in both cases.
            road_span: if forward { (from, to) } else { (to, from) },
        })
    }

    /// Links neighbouring lanes of one direction and determines the permitted lane changes. `ids`
    /// are sorted from left to right as seen along the road.
    ///
    /// ```text
    ///   lane  2   <----  a      `b` is to the left of `a` in driving direction, because lanes
    ///   lane  1   <----  b      against the road have their sides swapped
    ///   ------ line ------      b and c have opposite directions, so they are not neighbours
    ///   lane -1   ---->  c
    /// ```
    fn link_neighbours(&mut self, ids: &[(bool, LaneChange, LaneletIndex)]) {
        for pair in ids.windows(2) {
            let [(a_forward, of_a, a), (b_forward, of_b, b)] = [pair[0], pair[1]];
            if a == NO_LANELET || b == NO_LANELET || a_forward != b_forward {
                continue;
            }
            // Adjacent lanes share an edge, so they are about equally long. On the inside of a
            // bend, the shorter lane decides.
            if self.lanelet(a).length().min(self.lanelet(b).length()) < MIN_LANE_CHANGE {
                continue;
            }
            let (left, of_left, right, of_right) = match a_forward {
                true => (a, of_a, b, of_b),
                false => (b, of_b, a, of_a),
            };
            self.lanelets[left.index()].beside[1] = right;
            self.lanelets[right.index()].beside[0] = left;
            if of_left.to_right() {
                self.lanelets[left.index()].right = right;
            }
            if of_right.to_left() {
                self.lanelets[right.index()].left = left;
            }
        }
    }

    /// Closes two lanes of opposite directions to buses if they are too narrow. A bus would
    /// overhang the kerb or the oncoming lane along their whole length.
    fn close_narrow(&mut self, ids: &[(bool, LaneChange, LaneletIndex)]) {
        for pair in ids.windows(2) {
            let [(a_forward, _, a), (b_forward, _, b)] = [pair[0], pair[1]];
            if a == NO_LANELET || b == NO_LANELET || a_forward == b_forward {
                continue;
            }
            let is_narrow = |id: LaneletIndex| self.lanelet(id).width < NARROW_FOR_BUSES;
            if is_narrow(a) && is_narrow(b) {
                for id in [a, b] {
                    let access = &mut self.lanelets[id.index()].access;
                    if *access == LaneAccess::All {
                        *access = LaneAccess::Cars;
                    }
                }
            }
        }
    }

    /// Links lanes that continue in the next lane section. Each lane is linked to the lane that
    /// begins where it ends or, if there is none, to the lane with the same id.
    ///
    /// ```text
    ///      1 ------------ 2 ---------     Where a median opens, lanes keep their position but get
    ///                     1 <median>      different ids. A lane that opens beside another one begins
    ///     -1 ------------ -2 --------     elsewhere, with zero width.
    /// ```
    ///
    /// If the direction of a lane changes between sections, there is no successor. O(lanelets *
    /// lanes of a section).
    fn link_sections(&mut self) {
        let mut links = std::mem::take(&mut self.links);
        // At this stage, the lanelets of roads are ordered by road and section, and connections do
        // not exist yet.
        let mut before: Option<Range<LaneletIndex>> = None;
        for here in runs(&self.lanelets, Lanelet::section) {
            if let Some(before) = before.replace(here.clone()) {
                self.link(&before, &here, &mut links);
                self.link(&here, &before, &mut links);
            }
        }
        self.links = links;
    }

    /// Links lanelets that end at the border of a section to the lanelets that begin there.
    fn link(
        &self,
        ending: &Range<LaneletIndex>,
        beginning: &Range<LaneletIndex>,
        links: &mut Vec<(LaneletIndex, LaneletIndex)>,
    ) {
        let lies_on = |from, to| self.sections_touch(from, to) && self.lies_on(from, to);
        for from in LaneletIndex::within(ending.clone()) {
            let here = LaneletIndex::within(beginning.clone()).find(|&to| lies_on(from, to));
            let named = || {
                LaneletIndex::within(beginning.clone()).find(|&to| {
                    let is_named = self.lane_id(from) == self.lane_id(to);
                    let is_taken =
                        || LaneletIndex::within(ending.clone()).any(|other| lies_on(other, to));
                    is_named && self.sections_touch(from, to) && !is_taken()
                })
            };
            links.extend(here.or_else(named).map(|to| (from, to)));
        }
    }

    fn lane_id(&self, id: LaneletIndex) -> Option<i8> {
        match self.lanelet(id).kind {
            LaneletKind::Lane { lane, .. } => Some(lane),
            LaneletKind::Connection { .. } => None,
        }
    }

    /// Whether one lanelet begins where another ends, along the same road and in the same direction. There
    /// may be a gap between them, because a section in between may lack the lane or be inside a junction.
    fn sections_touch(&self, from: LaneletIndex, to: LaneletIndex) -> bool {
        let (from, to) = (self.lanelet(from), self.lanelet(to));
        let goes_up = |lanelet: &Lanelet| lanelet.road_span.1 > lanelet.road_span.0;
        let is_one_road = from.road() == to.road();
        is_one_road
            && (from.road_span.1 - to.road_span.0).abs() < 1e-6
            && goes_up(from) == goes_up(to)
    }

    /// Whether a lanelet begins at the position where another lanelet ends.
    fn lies_on(&self, from: LaneletIndex, to: LaneletIndex) -> bool {
        let line = |id: LaneletIndex| self.lines.line(self.lanelet(id).line);
        let end = line(from).pose(self.lanelet(from).length()).position;
        (line(to).pose(0.0).position - end).length() < SAME_PLACE
    }

    /// Adds the connections of all junctions and the links across them.
    fn add_connections(
        &mut self,
        network: &RoadNetwork,
        layout: &Layout,
        before: Option<Before<'_>>,
    ) {
        let known = before.map(|before| {
            let firsts = first_paths(before.layout);
            (before, firsts, before.layout.shared_by(layout))
        });
        for (j, junction) in layout.junctions.iter().enumerate() {
            let is_copied = known.as_ref().is_some_and(|(before, firsts, shared)| {
                shared[j].is_some_and(|old| {
                    let paths = firsts[old]..firsts[old + 1];
                    self.copy_connections(JunctionIndex::from_index(j), paths, before.graph)
                })
            });
            self.copied_junctions.push(is_copied);
            if is_copied {
                continue;
            }
            for (p, path) in junction.paths.iter().enumerate() {
                let ends = (
                    self.lanelet_at(network, layout, path.from),
                    self.lanelet_at(network, layout, path.to),
                );
                if let (Some(from), Some(to)) = ends {
                    let between = self.add_connection(j, p, path, from, to);
                    self.connect(from, to, between);
                } else {
                    // Paths without lanelets are also recorded, because paths are looked up by their index
                    // (`copy_connections`).
                    self.paths.push(PathLanelets::NONE);
                }
            }
        }
    }

    /// Adds the lanelet of a path, given the indices of junction and path. Returns [`NO_LANELET`] if the
    /// lanes meet without a gap.
    fn add_connection(
        &mut self,
        junction: usize,
        number: usize,
        path: &ConnectingPath,
        from: LaneletIndex,
        to: LaneletIndex,
    ) -> LaneletIndex {
        let push = |curve: &ReferenceLine| {
            let headings = [curve.start().heading, curve.end().heading];
            self.lines.push_between(&curve_points(curve), headings)
        };
        let Some(line) = path.curve.as_ref().and_then(push) else {
            return NO_LANELET;
        };
        // A connection has the higher of the speed limits of its two roads, because the lower limit
        // begins only on the lanelet of the slower road. It has the upper of the two layers.
        let (a, b) = (self.lanelet(from), self.lanelet(to));
        let limit = a.speed_limit.max(b.speed_limit);
        let free_speed = free_speed(self.lines.line(line), limit);
        self.push(Lanelet {
            kind: LaneletKind::Connection {
                junction: JunctionIndex::from_index(junction),
                path: ConnectionIndex::from_index(number),
                turn: path.turn,
            },
            line,
            width: 0.5 * (path.width.0 + path.width.1),
            speed_limit: limit,
            free_speed,
            access: path.access,
            // Set later, when all roads of the junction are known (`open_junctions`).
            road_access: RoadAccess::All,
            layer: a.layer.max(b.layer),
            successors: Links::default(),
            predecessors: Links::default(),
            left: NO_LANELET,
            right: NO_LANELET,
            beside: [NO_LANELET; 2],
            road_span: (0.0, 0.0),
        })
    }

    /// Gives each connection the most open access of the drivable roads at its junction.
    ///
    /// Copies already have the right access, because an edit that changes the access of a road rebuilds the
    /// junctions at its ends.
    fn open_junctions(&mut self, network: &RoadNetwork, layout: &Layout) {
        let most_open = |junction: &Arc<Junction>| {
            let roads = junction
                .arms
                .iter()
                .filter_map(|arm| network.road(arm.road));
            let drivable = roads.filter(|road| road.is_drivable());
            drivable.map(|road| road.access).min().unwrap_or_default()
        };
        let junctions = layout.junctions.iter().zip(&self.copied_junctions);
        let accesses =
            junctions.map(|(junction, is_copied)| (!is_copied).then(|| most_open(junction)));
        let accesses: Vec<Option<RoadAccess>> = accesses.collect();
        for lanelet in &mut self.lanelets {
            if let LaneletKind::Connection { junction, .. } = lanelet.kind
                && let Some(access) = accesses[junction.index()]
            {
                lanelet.road_access = access;
            }
        }
    }

    /// Records the link that a path creates, either through its own lanelet or directly.
    pub(super) fn connect(&mut self, from: LaneletIndex, to: LaneletIndex, between: LaneletIndex) {
        if between == NO_LANELET {
            self.links.push((from, to));
        } else {
            self.links.extend([(from, between), (between, to)]);
        }
        self.paths.push(PathLanelets { from, to, between });
    }

    /// Returns the lanelet of a lane next to a junction; `None` if the section next to the junction
    /// has no such lane.
    fn lanelet_at(
        &self,
        network: &RoadNetwork,
        layout: &Layout,
        at: LaneEnd,
    ) -> Option<LaneletIndex> {
        let list = self.index.of_lane(at.road, at.lane);
        let id = match at.end {
            RoadEnd::Start => *list.first()?,
            RoadEnd::End => *list.last()?,
        };
        // The lane must be in the section next to the junction. It is not enough if it exists in a
        // section farther away.
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

    /// Stores the links of all lanelets in one array, successors first, then predecessors.
    ///
    /// Planners walk these lists millions of times. One array and a range for each lanelet keep the
    /// lists together in memory.
    fn finish(mut self, identity: u64) -> (LaneGraph, Vec<LaneletIndex>) {
        let count = self.lanelets.len();
        if !self.continues_lines {
            self.lines.share();
        }
        let mut graph = LaneGraph {
            lanelets: self.lanelets,
            lines: self.lines,
            links: Vec::with_capacity(2 * self.links.len()),
            index: self.index,
            of_internal: self.of_internal,
            paths: self.paths,
            left_out: self.left_out,
            via_rules: self.via_rules,
            identity,
            on_first_use: Arc::default(),
        };
        let successors = listed(&mut graph.links, count, &self.links);
        // Predecessors are in ascending order of id. Links are recorded in the order of their
        // starts, and the order of predecessors must not depend on which links were copied from an
        // earlier graph.
        let mut back: Vec<_> = self.links.iter().map(|&(from, to)| (to, from)).collect();
        back.sort_unstable();
        let predecessors = listed(&mut graph.links, count, &back);
        let lists = successors.into_iter().zip(predecessors);
        for (lanelet, (successors, predecessors)) in graph.lanelets.iter_mut().zip(lists) {
            (lanelet.successors, lanelet.predecessors) = (successors, predecessors);
        }
        (graph, self.copies)
    }
}

/// Groups links by their first lanelet, and appends the second lanelets to `all`, group by group.
/// Returns, for each of `count` lanelets, the range of its group in `all`.
fn listed(
    all: &mut Vec<LaneletIndex>,
    count: usize,
    links: &[(LaneletIndex, LaneletIndex)],
) -> Vec<Links> {
    let mut lists = vec![Links::default(); count];
    // A counting sort: first the counts, then the start of each list, and finally the members.
    for &(id, _) in links {
        lists[id.index()].count += 1;
    }
    let mut first = all.len() as u32;
    for list in &mut lists {
        list.first = first;
        first += list.count;
        // Counted again as the lists are filled.
        list.count = 0;
    }
    all.resize(first as usize, NO_LANELET);
    for &(id, other) in links {
        let list = &mut lists[id.index()];
        all[(list.first + list.count) as usize] = other;
        list.count += 1;
    }
    lists
}

/// Returns the points on the centre line of a lane between two distances, in the driving direction,
/// and the lane's mean width.
fn lane_points(
    road: &Road,
    section: usize,
    place: usize,
    from: f64,
    to: f64,
    forward: bool,
) -> (Vec<DVec2>, f64) {
    let section = &road.lane_sections[section];
    let distances = lane_distances(road, section, from, to);
    let mut width = 0.0;
    let mut points: Vec<_> = distances
        .iter()
        .map(|&s| {
            let band = road.lane_bands(section, s)[place];
            // Averaged over the points rather than the length, so bends, where points are closer
            // together, weigh more.
            width += band.width / distances.len() as f64;
            road.reference_line.point(s, band.centre)
        })
        .collect();
    if !forward {
        points.reverse();
    }
    (points, width)
}

/// Returns the distances along a road for sampling a lane of a section, in ascending order,
/// including both ends.
fn lane_distances(road: &Road, section: &LaneSection, from: f64, to: f64) -> Vec<f64> {
    let widths_vary = |lane: &crate::road::Lane| {
        lane.width.len() > 1
            || lane.width[0].b != 0.0
            || lane.width[0].c != 0.0
            || lane.width[0].d != 0.0
    };
    // For a lane that moves sideways relative to the reference line, the points of the line are not
    // enough, because a straight has only two points. One point per metre matches the spacing of
    // centre lines.
    let shifts = road.lane_offset.len() > 1 || section.lanes.iter().any(widths_vary);
    // Both ends are exact, so that the lanelets of a lane touch at the border between sections.
    let mut distances = vec![from];
    distances.extend(
        road.reference_line
            // Points deviate by at most 2 cm and are at most 10 m apart. The centre line is later
            // resampled to about 1 m.
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
    distances
}

/// Returns the points on a connecting curve.
///
/// They are accurate to 1 cm, so a bend with a radius of 6 m has a point about every 70 cm.
fn curve_points(curve: &ReferenceLine) -> Vec<DVec2> {
    curve.sample(0.01, 0.0)
}
