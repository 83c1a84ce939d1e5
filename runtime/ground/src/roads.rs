//! The road network in the form used in each step: lanelets, speeds in bends, and conflicts between
//! connections.

use super::crossings::{Crossings, is_crossed};
use super::junction_gists::{ConnectionGist, JunctionGists};
use super::lane_ends::{LaneEnd, LaneEnds};
use super::rings::{Ring, Rings};
use roadwright_geometry::centre_line::{CentreLine, LineSpan};
use roadwright_geometry::shared_list::SharedList;
use roadwright_geometry::threads::map_on_all_threads;
use roadwright_scenario::alleys::Alleys;
use roadwright_scenario::junction::{
    Conflicts, ConnectingPath, Junction, JunctionShape, JunctionShapes, Layout, Programme,
    RightOfWay, RoomToWait, SignalPlans, Signals, Turn, layout, layout_after_edit, signal_plans,
};
use roadwright_scenario::lane_graph::{
    BEND_REACH, Before, LaneGraph, LaneletIndex, LaneletKind, NO_LANELET, bend_speed, copied,
};
use roadwright_scenario::{
    Connection, ConnectionIndex, Control, Custom, GripMap, JunctionIndex, NodeId, RoadAccess,
    RoadEnd, RoadId, RoadNetwork, Scenario, SignalMode,
};
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// Whether a hash includes the modules that control signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deciders {
    Included,
    LeftOut,
}

/// Deceleration on which speed profiles are based, m/s^2.
pub const PROFILE_BRAKING: f64 = 1.8;
/// Minimum number of junction laws for which several threads are used.
const FEW_LAWS: usize = 200;
/// Number of successors stored with a lanelet. Further successors are looked up in the graph.
const NEAR_SUCCESSORS: usize = 3;
/// Value that means "no junction".
const NO_JUNCTION: JunctionIndex = JunctionIndex::new(u32::MAX);

/// Value that means "not a connection".
const NO_CONNECTION: Connection = Connection::new(NO_JUNCTION, ConnectionIndex::new(0));

/// Right of way and conflicts of a junction.
///
/// Nearly everything is computed on first use. A run in which no vehicle approaches the junction
/// needs none of it, and sweeping bodies through all junctions of a city takes longer than reading
/// its file. The values depend only on the junction, so it makes no difference when, or on which
/// thread, they are computed.
#[derive(Debug)]
pub struct JunctionLaw {
    junction: Arc<Junction>,
    /// Shapes of all junctions, including this one.
    shapes: Arc<JunctionShapes>,
    shape: OnceLock<Arc<JunctionShape>>,
    right_of_way: OnceLock<RightOfWay>,
    /// Signals that the junction would have on its own. The signals that it actually has are in the
    /// signal plans of the roads.
    signals: Option<Signals>,
    /// For each connection, whether it leads over a pedestrian crossing.
    is_crossed: Vec<bool>,
}

impl JunctionLaw {
    fn of(junction: &Arc<Junction>, shapes: &Arc<JunctionShapes>) -> Arc<Self> {
        let mut law = Self {
            junction: junction.clone(),
            shapes: shapes.clone(),
            shape: OnceLock::new(),
            right_of_way: OnceLock::new(),
            signals: None,
            is_crossed: ConnectionIndex::up_to(junction.paths.len())
                .map(|path| is_crossed(junction, path))
                .collect(),
        };
        // Signals change from the start of a run, even if no vehicles approach.
        if law.control() == Control::Signals {
            law.signals = Signals::of(junction, law.conflicts());
        }
        Arc::new(law)
    }

    /// Returns the control of the junction.
    #[inline]
    pub(super) fn control(&self) -> Control {
        self.junction.control
    }

    /// Number of connections of the junction.
    #[inline]
    pub fn path_count(&self) -> usize {
        self.junction.paths.len()
    }

    /// Conflicts between cars.
    #[inline]
    pub fn conflicts(&self) -> &Conflicts {
        self.shape().conflicts()
    }

    /// Shape of the junction's connections.
    #[inline]
    fn shape(&self) -> &JunctionShape {
        self.shape
            .get_or_init(|| self.shapes.shape_of(&self.junction))
    }

    /// Right of way between the connections.
    #[inline]
    pub fn right_of_way(&self) -> &RightOfWay {
        self.right_of_way
            .get_or_init(|| RightOfWay::of(&self.junction, self.conflicts()))
    }

    /// Returns the distance from a connection's stop line to the junction if only cars use the
    /// junction, m.
    pub(super) fn setback_of_cars(&self, path: ConnectionIndex) -> f32 {
        self.shape().setbacks_of_cars()[path.index()] as f32
    }

    /// Returns the distance from a connection's stop line to the junction if buses turn at the
    /// junction, m.
    fn setback_of_buses(&self, path: ConnectionIndex) -> f32 {
        self.shape().setbacks()[path.index()] as f32
    }

    /// Adds everything that affects the order of vehicles to a hash.
    fn hash(&self, hasher: &mut impl Hasher) {
        let right = self.right_of_way();
        for conflict in self.conflicts().list() {
            let (a, b) = conflict.paths;
            hasher.write_u8(u8::from(right.gives_way(a, b)));
            hasher.write_u8(u8::from(right.gives_way(b, a)));
        }
        hasher.write_u8(right.control() as u8);
    }

    /// Returns the conflicts that involve a bus or lorry. Computed when a long vehicle first needs
    /// them, because runs without long vehicles never do.
    #[inline]
    pub fn wide(&self) -> &Conflicts {
        self.shape().wide_conflicts()
    }

    /// Whether there is another connection such that a bus on one of the two would sweep over
    /// traffic on the other, although a car would not. This happens in bends between two roads and
    /// beside entries into rings.
    fn is_swept(&self, path: ConnectionIndex, has_wide: bool) -> bool {
        if self.control() == Control::Roundabout {
            return self.wide().is_contested(path);
        }
        has_wide && self.shape().swept_by_buses()[path.index()]
    }

    /// Whether a vehicle has to request a connection before it enters. It depends on whether there
    /// are long vehicles.
    fn is_contested(&self, path: ConnectionIndex, has_wide: bool) -> bool {
        self.is_surely_contested(path)
            || self.conflicts().is_contested(path)
            || self.is_swept(path, has_wide)
    }

    /// Whether a connection is contested regardless of the areas that vehicles sweep.
    fn is_surely_contested(&self, path: ConnectionIndex) -> bool {
        self.signals.is_some() || self.is_crossed[path.index()]
    }

    /// Whether a connection is contested, as far as this is known without sweeping bodies.
    fn contest(&self, path: ConnectionIndex) -> Contest {
        if self.is_surely_contested(path) {
            Contest::Yes
        } else if self.path_count() == 1 {
            // There are no other paths.
            Contest::No
        } else {
            Contest::Unknown
        }
    }
}

/// Whether a lanelet is a contested connection or has signals. `Unknown` until it is first needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Contest {
    No,
    Yes,
    Unknown,
}

/// A [`Contest`] that is determined on first use.
#[derive(Debug)]
struct ContestCell(AtomicU8);

impl ContestCell {
    fn new(contest: Contest) -> Self {
        Self(AtomicU8::new(contest as u8))
    }

    // Relaxed ordering is enough, because all threads compute the same value, and it does not guard
    // other data.
    #[inline]
    fn get(&self) -> Contest {
        match self.0.load(Ordering::Relaxed) {
            0 => Contest::No,
            1 => Contest::Yes,
            _ => Contest::Unknown,
        }
    }

    fn decide(&self, is_contested: bool) {
        let contest = if is_contested {
            Contest::Yes
        } else {
            Contest::No
        };
        self.0.store(contest as u8, Ordering::Relaxed);
    }
}

/// Data that vehicles look up for every lanelet that they pass, in one cache line. The lane graph
/// has further data about each lanelet, which only planners and renderers need.
#[derive(Debug)]
#[repr(align(64))]
struct Gist {
    line: LineSpan,
    length: f64,
    /// Speed that the road permits at the start, m/s.
    entry_speed: f32,
    /// Junction and index of a connection; [`NO_JUNCTION`] for other lanelets.
    connection: Connection,
    successors: [LaneletIndex; NEAR_SUCCESSORS],
    successor_count: u16,
    contest: ContestCell,
    /// The preceding lanelet if it has several successors; otherwise [`NO_LANELET`].
    fork: LaneletIndex,
    /// Left and right neighbour lanes with the same direction, or [`NO_LANELET`].
    beside: [LaneletIndex; 2],
}

const _: () = assert!(size_of::<Gist>() == 64);

/// The part of a gist that all copies of a lanelet share.
struct OwnGist {
    contest: Contest,
    /// Speed that the road permits at the start, m/s.
    entry_speed: f32,
}

/// Roads from before an edit, whose data may be reused.
#[derive(Clone, Copy)]
struct Known<'a> {
    roads: &'a Roads,
    /// For each new lanelet, the old lanelet of which it is a [copy](copied).
    copies: &'a [LaneletIndex],
}

impl Known<'_> {
    /// Returns the data of the old lanelet; `None` if the new lanelet is not a copy. The junction
    /// of a copy is also unchanged.
    fn gist(&self, id: LaneletIndex) -> Option<OwnGist> {
        let copy = copied(self.copies, id)?;
        let gist = &self.roads.gists[copy.index()];
        Some(OwnGist {
            contest: gist.contest.get(),
            entry_speed: gist.entry_speed,
        })
    }
}

impl Gist {
    fn new(graph: &LaneGraph, id: LaneletIndex, own: OwnGist) -> Self {
        let lanelet = graph.lanelet(id);
        let connection = match lanelet.kind {
            LaneletKind::Connection { junction, path, .. } => Connection::new(junction, path),
            LaneletKind::Lane { .. } => NO_CONNECTION,
        };
        let all = graph.successors(id);
        let mut successors = [NO_LANELET; NEAR_SUCCESSORS];
        for (near, &successor) in successors.iter_mut().zip(all) {
            *near = successor;
        }
        Self {
            line: lanelet.line_span(),
            length: lanelet.length(),
            entry_speed: own.entry_speed,
            connection,
            contest: ContestCell::new(own.contest),
            successors,
            // Junctions have at most 200 lanes.
            successor_count: u16::try_from(all.len()).unwrap_or(u16::MAX),
            // Lanelets that merge do not fork, so several predecessors count as no fork.
            fork: match graph.predecessors(id) {
                [before] if graph.successors(*before).len() > 1 => *before,
                _ => NO_LANELET,
            },
            beside: lanelet.beside,
        }
    }
}

/// Data of a point of a centre line, stored together because bodies that follow their lanes need
/// all of it in every step.
#[derive(Debug, Clone, Copy)]
struct Bend {
    /// Curvature, 1/m, positive to the left.
    curvature: f64,
    /// Speed that the road permits, m/s.
    speed: f32,
}

/// For each possibly contested connection with a single successor, the other possibly contested
/// connections that lead into the same successor.
struct Joins {
    /// Index of the first entry of each lanelet in the list, followed by the length of the list.
    firsts: Vec<u32>,
    others: Vec<LaneletIndex>,
}

impl Joins {
    fn new(graph: &LaneGraph, gists: &[Gist]) -> Self {
        let may_be = |id: LaneletIndex| gists[id.index()].contest.get() != Contest::No;
        let (mut firsts, mut others) = (Vec::with_capacity(gists.len() + 1), Vec::new());
        for id in LaneletIndex::up_to(gists.len()) {
            firsts.push(others.len() as u32);
            if let (true, &[next]) = (may_be(id), graph.successors(id)) {
                let beside = graph.predecessors(next).iter().copied();
                others.extend(beside.filter(|&other| other != id && may_be(other)));
            }
        }
        firsts.push(others.len() as u32);
        Self { firsts, others }
    }

    #[inline]
    fn of(&self, id: LaneletIndex) -> &[LaneletIndex] {
        let range = [id.index(), id.index() + 1].map(|at| self.firsts[at] as usize);
        &self.others[range[0]..range[1]]
    }
}

/// Incoming lanes and connections of a junction.
pub struct JunctionConnections<L> {
    /// Number of incoming lanes.
    pub lanes: usize,
    /// Length of each connection, m.
    pub lengths: L,
}

/// Everything about roads that does not change during a run.
pub(crate) struct Roads {
    layout: Layout,
    pub(crate) graph: LaneGraph,
    /// Data of each point of the centre lines.
    bends: SharedList<Bend>,
    joins: Joins,
    /// Shapes of all junctions, each computed when a vehicle first needs it.
    shapes: Arc<JunctionShapes>,
    /// Right of way and conflicts of each junction.
    laws: Vec<Arc<JunctionLaw>>,
    plans: SignalPlans,
    junction_gists: JunctionGists,
    /// For each signal group, whether its stages have fixed durations.
    have_fixed_times: Vec<bool>,
    gists: Vec<Gist>,
    /// Length of road before the signals of an arm. Contains only arms where a vehicle may have no
    /// room to wait.
    rooms: BTreeMap<(RoadId, RoadEnd), RoomToWait>,
    rings: Rings,
    lane_ends: LaneEnds,
    crossings: Crossings,
    /// Stretches on which two cars do not fit side by side. Computed on first use.
    narrow: OnceLock<Narrow>,
    /// Whether there are long vehicles. If so, alleys are longer and more connections are
    /// contested.
    has_wide: bool,
}

/// Stretches on which two cars do not fit side by side.
struct Narrow {
    alleys: Alleys,
    /// Lower bound of the distance from the start of each lanelet to the next lanelet with alleys, m; empty
    /// if there are no alleys.
    distances: Vec<f32>,
}

impl Narrow {
    fn new(graph: &LaneGraph, alleys: Alleys) -> Self {
        Self {
            distances: distances_to_alleys(graph, &alleys),
            alleys,
        }
    }
}

/// Parts of the roads from which the other parts are derived.
struct Parts {
    layout: Layout,
    graph: LaneGraph,
    bends: SharedList<Bend>,
    shapes: Arc<JunctionShapes>,
    laws: Vec<Arc<JunctionLaw>>,
}

/// Returns the length of road before the signals, for each arm where a vehicle may have no room to
/// wait.
fn rooms_before_signals(
    network: &RoadNetwork,
    layout: &Layout,
    plans: &SignalPlans,
) -> BTreeMap<(RoadId, RoadEnd), RoomToWait> {
    let junctions = layout.junctions.iter().zip(&plans.signals);
    let signalled = junctions.filter(|(_, signals)| signals.is_some());
    let arms = signalled.flat_map(|(junction, _)| &junction.arms);
    let rooms = arms.map(|arm| {
        (
            (arm.road, arm.end),
            layout.room_before(network, arm.road, arm.end),
        )
    });
    rooms.filter(|(_, room)| !room.is_ample()).collect()
}

/// Programmes of all signal groups.
fn programmes(plans: &SignalPlans) -> impl Iterator<Item = &Programme> {
    let firsts = plans.groups.iter().map(|group| group[0]);
    firsts.filter_map(|first| Some(&plans.signals[first].as_ref()?.programme))
}

impl Roads {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let layout = layout(scenario.network(), scenario.about());
        let graph = LaneGraph::new(scenario, &layout);
        let mut bends = SharedList::default();
        for (id, lanelet) in graph.numbered() {
            bends.extend(bends_of(graph.line(id), lanelet.speed_limit));
        }
        bends.share();
        let shapes = Arc::<JunctionShapes>::default();
        let law = |junction: &Arc<Junction>| JunctionLaw::of(junction, &shapes);
        let laws = map_on_all_threads(&layout.junctions, FEW_LAWS, law);
        let parts = Parts {
            layout,
            graph,
            bends,
            shapes,
            laws,
        };
        Self::of_parts(scenario, parts, None)
    }

    /// Returns the roads for the edited scenario `new`. `old` is the scenario that `self` was built
    /// from. Junctions, lanes and conflicts that the edit does not affect are reused. Also returns,
    /// for each lanelet, the old lanelet of which it is a copy, like [`LaneGraph::after_edit`].
    pub(super) fn after_edit(&self, old: &Scenario, new: &Scenario) -> (Self, Vec<LaneletIndex>) {
        let custom = Custom::from(new.about());
        if custom != Custom::from(old.about()) {
            let roads = Self::new(new);
            let copies = vec![NO_LANELET; roads.graph.lanelets().len()];
            return (roads, copies);
        }
        let layout = layout_after_edit(old.network(), &self.layout, new.network(), custom);
        let before = Before {
            network: old.network(),
            layout: &self.layout,
            graph: &self.graph,
        };
        let (graph, copies) = LaneGraph::after_edit(new, &layout, before);
        let bends = self.bends_after_edit(&graph, &copies);
        self.shapes.forget_unused();
        let junctions = layout.junctions.iter().zip(self.layout.shared_by(&layout));
        let law = |(junction, shared): (&Arc<Junction>, Option<usize>)| match shared {
            Some(before) => self.laws[before].clone(),
            None => JunctionLaw::of(junction, &self.shapes),
        };
        let laws = junctions.map(law).collect();
        let known = Known {
            roads: self,
            copies: &copies,
        };
        let parts = Parts {
            layout,
            graph,
            bends,
            shapes: self.shapes.clone(),
            laws,
        };
        (Self::of_parts(new, parts, Some(known)), copies)
    }

    /// Returns the data of the centre lines of an edited lane graph.
    fn bends_after_edit(&self, graph: &LaneGraph, copies: &[LaneletIndex]) -> SharedList<Bend> {
        // The data are stored in the order of the points of the lines.
        let shares_lines = graph.shares_lines_with(&self.graph);
        let mut bends = if shares_lines {
            self.bends.clone()
        } else {
            SharedList::default()
        };
        for ((id, lanelet), &copy) in graph.numbered().zip(copies) {
            if copy == NO_LANELET {
                bends.extend(bends_of(graph.line(id), lanelet.speed_limit));
            } else if !shares_lines {
                let LineSpan { first, count, .. } = self.graph.lanelet(copy).line_span();
                let copied = self.bends.slice(first as usize..(first + count) as usize);
                bends.extend(copied.iter().copied());
            }
        }
        if !shares_lines {
            bends.share();
        }
        bends
    }

    fn of_parts(scenario: &Scenario, parts: Parts, known: Option<Known<'_>>) -> Self {
        let Parts {
            layout,
            graph,
            bends,
            shapes,
            laws,
        } = parts;
        let own = |i: usize| laws[i].signals.clone();
        let plans = signal_plans(scenario.network(), &layout, own, |i| laws[i].conflicts());
        let has_wide = scenario.has_wide_vehicles();
        // Whether a connection has to be requested depends on whether there are long vehicles.
        let known = known.filter(|known| known.roads.has_wide == has_wide);
        let gist = |id: LaneletIndex| {
            let lanelet = graph.lanelet(id);
            let own = || OwnGist {
                contest: match lanelet.kind {
                    LaneletKind::Connection { junction, path, .. } => {
                        laws[junction.index()].contest(path)
                    }
                    LaneletKind::Lane { .. } => Contest::No,
                },
                entry_speed: bends.get(lanelet.line_span().first as usize).speed,
            };
            let copied = known.as_ref().and_then(|known| known.gist(id));
            Gist::new(&graph, id, copied.unwrap_or_else(own))
        };
        let gists: Vec<Gist> = (graph.indices()).map(gist).collect();
        let before = known.as_ref().and_then(|known| {
            let alleys = &known.roads.narrow.get()?.alleys;
            Some(alleys.after_edit(&graph, has_wide, known.copies))
        });
        let narrow = before.map(|alleys| Narrow::new(&graph, alleys));
        let junction_gists = JunctionGists::new(&layout, &laws, &plans);
        let fixed_times = |programme: &Programme| programme.mode == SignalMode::Fixed;
        Self {
            joins: Joins::new(&graph, &gists),
            rooms: rooms_before_signals(scenario.network(), &layout, &plans),
            rings: Rings::new(scenario.network(), &layout, &graph),
            lane_ends: LaneEnds::new(&layout, &graph),
            narrow: narrow.map_or_else(OnceLock::new, OnceLock::from),
            has_wide,
            crossings: Crossings::new(scenario.network(), &layout, &plans),
            layout,
            graph,
            bends,
            shapes,
            laws,
            junction_gists,
            have_fixed_times: programmes(&plans).map(fixed_times).collect(),
            plans,
            gists,
        }
    }

    /// Returns the grip of the ground of a scenario with these roads; `None` if it is 1 everywhere.
    pub(super) fn grip(&self, scenario: &Scenario) -> Option<Arc<GripMap>> {
        GripMap::new(scenario, &self.layout).map(Arc::new)
    }

    /// Returns the length of a lanelet, m.
    #[inline]
    pub(crate) fn length(&self, id: LaneletIndex) -> f64 {
        self.gists[id.index()].length
    }

    /// Returns the speed that the road permits at the start of a lanelet, m/s.
    #[inline]
    pub(crate) fn entry_speed(&self, id: LaneletIndex) -> f64 {
        f64::from(self.gists[id.index()].entry_speed)
    }

    /// Whether a vehicle can drive from a lanelet to `next` without a lane change.
    #[inline]
    pub(crate) fn leads_to(&self, id: LaneletIndex, next: LaneletIndex) -> bool {
        // Most lanelets have one successor. Unused entries contain `NO_LANELET`, which a caller may
        // also pass.
        if self.gists[id.index()].successors[0] == next {
            return next != NO_LANELET;
        }
        self.forks_to(id, next)
    }

    /// Whether `next` is a successor of a lanelet other than the first one.
    fn forks_to(&self, id: LaneletIndex, next: LaneletIndex) -> bool {
        let gist = &self.gists[id.index()];
        if gist.successor_count as usize <= NEAR_SUCCESSORS {
            return gist.successors.contains(&next) && next != NO_LANELET;
        }
        self.graph.successors(id).contains(&next)
    }

    /// Returns the following lanelets, in the order of the graph.
    #[inline]
    pub(crate) fn successors(&self, id: LaneletIndex) -> &[LaneletIndex] {
        let gist = &self.gists[id.index()];
        match gist.successors.get(..gist.successor_count as usize) {
            Some(near) => near,
            None => self.graph.successors(id),
        }
    }

    /// Returns lanelets that, like `connection`, merge into `next`. They include all contested
    /// connections into `next`. A few other lanelets and `connection` itself may also be among
    /// them.
    #[inline]
    pub(crate) fn joining(&self, connection: LaneletIndex, next: LaneletIndex) -> &[LaneletIndex] {
        match *self.successors(connection) {
            [only] if only == next => self.joins.of(connection),
            _ => self.graph.predecessors(next),
        }
    }

    /// Returns the left and right neighbour lanes with the same direction, or [`NO_LANELET`].
    #[inline]
    pub(crate) fn beside(&self, id: LaneletIndex) -> [LaneletIndex; 2] {
        self.gists[id.index()].beside
    }

    /// Returns a lower bound of the distance from the start of a lanelet to the next lanelet with
    /// alleys, m. The value is capped.
    #[inline]
    pub(crate) fn distance_to_alleys(&self, id: LaneletIndex) -> f64 {
        let distance = self.narrow().distances.get(id.index());
        distance.map_or(f64::INFINITY, |&distance| f64::from(distance))
    }

    /// Returns the stretches on which two cars do not fit side by side. O(lanelets) on first use.
    #[inline]
    pub(crate) fn alleys(&self) -> &Alleys {
        &self.narrow().alleys
    }

    #[inline]
    fn narrow(&self) -> &Narrow {
        self.narrow
            .get_or_init(|| Narrow::new(&self.graph, Alleys::of(&self.graph, self.has_wide)))
    }

    /// Returns the number of following lanelets.
    #[inline]
    pub(crate) fn successor_count(&self, id: LaneletIndex) -> usize {
        self.gists[id.index()].successor_count as usize
    }

    /// Returns the preceding lanelet, if there is exactly one and it has several successors;
    /// otherwise `None`.
    #[inline]
    pub(crate) fn fork_before(&self, id: LaneletIndex) -> Option<LaneletIndex> {
        let fork = self.gists[id.index()].fork;
        (fork != NO_LANELET).then_some(fork)
    }

    /// Returns the centre line of a lanelet.
    #[inline]
    pub(crate) fn line(&self, id: LaneletIndex) -> CentreLine<'_> {
        self.graph.line_at(self.gists[id.index()].line)
    }

    /// Adds everything about roads that affects vehicles to a hash.
    pub(super) fn hash(&self, hasher: &mut impl Hasher, deciders: Deciders) {
        for (id, lanelet) in self.graph.numbered() {
            let counts = (lanelet.line_span().count, self.graph.successors(id).len());
            hasher.write_u32(counts.0);
            hasher.write_usize(counts.1);
            hasher.write_i8(lanelet.layer);
            let contested = self.contested(id).unwrap_or(NO_CONNECTION);
            hasher.write_u32(contested.junction.number());
            hasher.write_u32(contested.number.number());
            for point in self.graph.line(id).points() {
                hasher.write_u64(point.x.to_bits());
                hasher.write_u64(point.y.to_bits());
            }
            for &next in self.graph.successors(id) {
                hasher.write_u32(next.number());
            }
            hasher.write_u32(lanelet.left.number());
            hasher.write_u32(lanelet.right.number());
            hasher.write_u64(lanelet.speed_limit.to_bits());
            hasher.write_u8(lanelet.access as u8);
            // Not hashed if access is unrestricted, so that the hash of roads without restrictions
            // does not change.
            if lanelet.road_access != RoadAccess::All {
                hasher.write_u8(lanelet.road_access as u8);
            }
        }
        self.laws.iter().for_each(|law| law.hash(hasher));
        let signals = self.plans.signals.iter().flatten();
        signals.for_each(|signals| hash_signals(signals, hasher, deciders));
        self.crossings.hash(hasher);
    }

    /// Pedestrian crossings.
    #[inline]
    pub(crate) fn crossings(&self) -> &Crossings {
        &self.crossings
    }

    /// Signals of a junction and the index of their group; `None` without signals.
    #[inline]
    pub(crate) fn signals(&self, junction: JunctionIndex) -> Option<(usize, &Signals)> {
        let group = self.signal_group_of(junction)?;
        Some((group, self.plans.signals[junction.index()].as_ref()?))
    }

    /// Returns the group to which the signals of a junction belong; `None` without signals.
    #[inline]
    pub(crate) fn signal_group_of(&self, junction: JunctionIndex) -> Option<usize> {
        self.junction_gists.junction(junction).group()
    }

    /// Signal programmes of all signal groups.
    pub(crate) fn programmes(&self) -> impl Iterator<Item = &Programme> {
        programmes(&self.plans)
    }

    /// Whether the stages of a signal group have fixed durations.
    #[inline]
    pub(crate) fn has_fixed_times(&self, group: usize) -> bool {
        self.have_fixed_times[group]
    }

    /// Whether the control of a junction depends on approaching vehicles.
    #[inline]
    pub(crate) fn looks_out(&self, junction: JunctionIndex) -> bool {
        let gist = self.junction_gists.junction(junction);
        gist.looks_out(|| {
            let has_order = self.law(junction).right_of_way().has_order();
            has_order || self.lane_ends.joins_at(junction) || self.lane_ends.alternate_at(junction)
        })
    }

    /// Returns the signal programme of a group.
    #[inline]
    pub(crate) fn programme(&self, group: usize) -> &Programme {
        let first = self.plans.groups[group][0];
        let signals = self.plans.signals[first].as_ref();
        &signals.expect("members of groups have signals").programme
    }

    /// Junctions that follow the programme of a group.
    pub(crate) fn signal_group(&self, group: usize) -> impl Iterator<Item = JunctionIndex> + '_ {
        self.plans.groups[group]
            .iter()
            .map(|&junction| JunctionIndex::from_index(junction))
    }

    /// Returns the signal group at a node; `None` without signals.
    pub(crate) fn signal_group_at(&self, node: u32) -> Option<usize> {
        let junction = *self.layout.junction_of.get(&NodeId(node))?;
        self.signal_group_of(JunctionIndex::from_index(junction))
    }

    /// Whether right of way matters at a junction.
    #[inline]
    pub(super) fn is_ruled(&self, junction: JunctionIndex) -> bool {
        self.junction_gists.junction(junction).is_ruled
    }

    /// Whether a vehicle can wait before the signals of a connection. Otherwise, the signals of the following
    /// junction apply to both junctions.
    pub(super) fn has_room_to_wait(
        &self,
        junction: JunctionIndex,
        path: ConnectionIndex,
        has_buses: bool,
    ) -> bool {
        let from = self.layout.junctions[junction.index()].paths[path.index()].from;
        let room = self.rooms.get(&(from.road, from.end));
        room.is_none_or(|room| room.fits_car(self.setback(junction, path, has_buses)))
    }

    /// Nodes that a junction covers.
    #[inline]
    pub(crate) fn junction_nodes(&self, junction: JunctionIndex) -> &[NodeId] {
        &self.layout.junctions[junction.index()].nodes
    }

    /// Returns the connections of a junction, each with its road of origin and its turn.
    pub(crate) fn movements(
        &self,
        junction: JunctionIndex,
    ) -> impl Iterator<Item = (ConnectionIndex, RoadId, Turn)> + '_ {
        let paths = self.layout.junctions[junction.index()].paths.iter();
        ConnectionIndex::up_to(paths.len())
            .zip(paths)
            .map(|(number, path)| (number, path.from.road, path.turn))
    }

    /// Returns the compact data of a connection, for use in each step.
    #[inline]
    pub(crate) fn connection_gist(&self, path: Connection) -> &ConnectionGist {
        self.junction_gists.path(path, || {
            let signals = self.plans.signals[path.junction.index()].as_ref();
            ConnectionGist::of(self.law(path.junction), signals, path.number)
        })
    }

    /// Returns the rule that determines priority at a junction.
    #[inline]
    pub(crate) fn control(&self, junction: JunctionIndex) -> Control {
        self.junction_gists.junction(junction).control
    }

    /// Returns the longest time between two greens of a stage of a junction's signals, in seconds;
    /// infinite without signals.
    #[inline]
    pub(crate) fn longest_cycle(&self, junction: JunctionIndex) -> f64 {
        self.junction_gists.junction(junction).longest_cycle
    }

    /// Returns the signal group of these roads that equals group `theirs` of other roads, with the same
    /// nodes, stages and times; `None` if there is none.
    pub(crate) fn group_like(&self, other: &Self, theirs: usize) -> Option<usize> {
        let theirs = &other.plans.groups[theirs];
        let node = other.layout.junctions[theirs[0]].nodes.first()?;
        let own = self.signal_group_of(self.junction_of(*node)?)?;
        let members = &self.plans.groups[own];
        let is_same = |(&a, &b): (&usize, &usize)| {
            self.layout.junctions[a].nodes == other.layout.junctions[b].nodes
                && self.plans.signals[a] == other.plans.signals[b]
        };
        let mut pairs = members.iter().zip(theirs);
        (members.len() == theirs.len() && pairs.all(is_same)).then_some(own)
    }

    /// Returns the speed that the speed limit and bends permit at `s` on a lanelet, m/s.
    #[inline]
    pub(crate) fn road_speed(&self, id: LaneletIndex, s: f64) -> f64 {
        let Gist {
            line: span, length, ..
        } = self.gists[id.index()];
        let last = span.count - 1;
        // Points are evenly spaced, so the point before `s` is found without a search.
        let share = s / length * f64::from(last);
        let nearest = span.first + (share.max(0.0) as u32).min(last);
        f64::from(self.bends.get(nearest as usize).speed)
    }

    /// Returns the curvature at `s` on a lanelet, 1/m, positive to the left.
    #[inline]
    pub(crate) fn curvature(&self, id: LaneletIndex, s: f64) -> f64 {
        let LineSpan {
            spacing,
            first,
            count,
        } = self.gists[id.index()].line;
        // Uses the curvature at the nearest point.
        let nearest = (s / spacing + 0.5).max(0.0) as u32;
        self.bends
            .get((first + nearest.min(count - 1)) as usize)
            .curvature
    }

    /// Returns the junction and index of a contested connection; `None` for other lanelets.
    #[inline]
    pub(crate) fn contested(&self, id: LaneletIndex) -> Option<Connection> {
        let gist = &self.gists[id.index()];
        match gist.contest.get() {
            Contest::No => None,
            Contest::Yes => Some(gist.connection),
            Contest::Unknown => self.decide_contested(gist),
        }
    }

    /// Determines whether a connection is contested. Called when a vehicle first approaches it.
    /// Returns the connection; `None` if it is not contested.
    #[cold]
    fn decide_contested(&self, gist: &Gist) -> Option<Connection> {
        let Connection { junction, number } = gist.connection;
        let is_contested = self.law(junction).is_contested(number, self.has_wide);
        gist.contest.decide(is_contested);
        is_contested.then_some(gist.connection)
    }

    /// Returns the roundabout ring to which a lanelet belongs; `None` if it belongs to none.
    #[inline]
    pub(crate) fn ring(&self, id: LaneletIndex) -> Option<&Ring> {
        self.rings.of(id)
    }

    /// Returns the end of a lanelet's lane; `None` if the lane does not end nearby.
    #[inline]
    pub(crate) fn lane_end(&self, id: LaneletIndex) -> Option<&LaneEnd> {
        self.lane_ends.of(id)
    }

    /// Whether a connection is at the end of an acceleration lane.
    #[inline]
    pub(crate) fn joins_by(&self, connection: Connection) -> bool {
        self.lane_ends.joins_by(connection)
    }

    /// Whether vehicles alternate at the end of any lane.
    #[inline]
    pub(crate) fn has_alternating_ends(&self) -> bool {
        self.lane_ends.has_alternating()
    }

    /// Whether a lane ends at a junction and its vehicles alternate there with those of the lane
    /// beside it.
    #[inline]
    pub(crate) fn alternate_at(&self, junction: JunctionIndex) -> bool {
        self.lane_ends.alternate_at(junction)
    }

    /// Returns the number of incoming lanes of a junction, and the length of each of its
    /// connections.
    pub(super) fn connections_through(
        &self,
        junction: JunctionIndex,
    ) -> JunctionConnections<impl Iterator<Item = f64> + '_> {
        let paths = &self.layout.junctions[junction.index()].paths;
        let mut lanes: Vec<_> = paths.iter().map(|path| path.from).collect();
        lanes.sort_unstable();
        lanes.dedup();
        let curves = paths.iter().filter_map(|path| path.curve.as_ref());
        JunctionConnections {
            lanes: lanes.len(),
            lengths: curves.map(|curve| curve.length()),
        }
    }

    /// Returns the junction to which a node belongs; `None` if it belongs to none.
    #[inline]
    pub(crate) fn junction_of(&self, node: NodeId) -> Option<JunctionIndex> {
        let junction = self.layout.junction_of.get(&node)?;
        Some(JunctionIndex::from_index(*junction))
    }

    /// Returns the stop lines of a junction's arms. Each consists of the road, the road end, and
    /// the length trimmed from the reference line of the road, m.
    pub(crate) fn stop_lines(
        &self,
        junction: JunctionIndex,
    ) -> impl Iterator<Item = (RoadId, RoadEnd, f64)> + '_ {
        let arms = self.layout.junctions[junction.index()].arms.iter();
        arms.map(|arm| (arm.road, arm.end, arm.trim))
    }

    /// Connections of a junction.
    pub(crate) fn paths(&self, junction: JunctionIndex) -> &[ConnectingPath] {
        &self.layout.junctions[junction.index()].paths
    }

    /// Returns the smallest node id of a junction; `None` if the junction has no nodes.
    #[inline]
    pub(crate) fn node(&self, junction: JunctionIndex) -> Option<NodeId> {
        self.layout.junctions[junction.index()]
            .nodes
            .first()
            .copied()
    }

    /// Returns the right of way and conflicts of a junction.
    #[inline]
    pub(crate) fn law(&self, junction: JunctionIndex) -> &JunctionLaw {
        &self.laws[junction.index()]
    }

    /// Returns the distance between a connection's stop line and the junction, m. It depends on
    /// whether there are buses.
    #[inline]
    pub(crate) fn setback(
        &self,
        junction: JunctionIndex,
        path: ConnectionIndex,
        has_buses: bool,
    ) -> f64 {
        if !has_buses {
            return f64::from(
                self.connection_gist(Connection::new(junction, path))
                    .setback,
            );
        }
        f64::from(self.law(junction).setback_of_buses(path))
    }

    /// Whether a junction has the same right of way and conflicts as a junction in another road network.
    pub(crate) fn has_law_of(
        &self,
        junction: JunctionIndex,
        other: &Self,
        theirs: JunctionIndex,
    ) -> bool {
        let (own, theirs) = (junction.index(), theirs.index());
        // Laws that an edit does not affect are shared with the old roads, so equal laws are at the same
        // address.
        Arc::ptr_eq(&self.laws[own], &other.laws[theirs])
    }

    #[inline]
    pub(crate) fn junction_count(&self) -> usize {
        self.laws.len()
    }
}

/// Adds the data that determine the signals to a hash. The rule that selects the next stage may be
/// a module, and modules are not part of the ground. The rule is therefore added only if `deciders`
/// requires it.
fn hash_signals(signals: &Signals, hasher: &mut impl Hasher, deciders: Deciders) {
    let programme = &signals.programme;
    hasher.write_u8(match deciders {
        Deciders::Included => programme.mode as u8,
        Deciders::LeftOut => u8::from(programme.mode.rules()),
    });
    hasher.write_u64(programme.offset.to_bits());
    let write = |hasher: &mut _, times: &[f64]| {
        for time in times {
            Hasher::write_u64(hasher, time.to_bits());
        }
    };
    let count = programme.stages.len();
    for (from, times) in programme.stages.iter().enumerate() {
        write(hasher, &[times.green, times.min, times.max]);
        for to in 0..count {
            let intergreen = programme.intergreen(from, to);
            write(hasher, &[intergreen.amber, intergreen.all_red]);
            if intergreen.red_amber > 0.0 {
                write(hasher, &[intergreen.red_amber]);
            }
        }
    }
    for (stage, greens) in signals.greens.iter().enumerate() {
        for (path, &green) in greens.iter().enumerate() {
            let permitted = u8::from(signals.is_permitted(path, stage));
            // 0 for red, 1 for green, 2 for permissive green.
            hasher.write_u8(u8::from(green) + permitted);
        }
    }
    if let Some(controller) = programme
        .controller
        .as_ref()
        .filter(|_| deciders == Deciders::Included)
    {
        hasher.write(controller.module.as_bytes());
        for (key, value) in &controller.parameters {
            hasher.write(key.as_bytes());
            write(hasher, &[*value]);
        }
    }
}

/// Maximum distance to alleys that is stored, m. Vehicles never need a larger value.
const FAR: f64 = 300.0;
/// Amount by which stored distances to alleys are reduced, m. It covers rounding errors, which
/// depend on the order of additions.
const LESS: f64 = 0.01;

/// Returns the distance from the start of each lanelet to the next lanelet with alleys, m.
/// Distances are slightly reduced, and capped at [`FAR`]. Empty without alleys.
fn distances_to_alleys(graph: &LaneGraph, alleys: &Alleys) -> Vec<f32> {
    if alleys.is_empty() {
        return Vec::new();
    }
    let count = graph.lanelets().len();
    let mut distances = vec![FAR; count];
    let mut open: Vec<LaneletIndex> = (LaneletIndex::up_to(count))
        .filter(|&id| alleys.are_on(id))
        .collect();
    open.iter().for_each(|&id| distances[id.index()] = 0.0);
    // The search runs backwards from the lanelets with alleys, in any order. A lanelet that gets a
    // shorter distance is visited again.
    while let Some(id) = open.pop() {
        for &before in graph.predecessors(id) {
            let distance = distances[id.index()] + graph.lanelet(before).length();
            if distance < distances[before.index()] {
                distances[before.index()] = distance;
                open.push(before);
            }
        }
    }
    distances
        .into_iter()
        .map(|distance| (distance - LESS) as f32)
        .collect()
}

/// Distance before a bend from which the permitted speed of the bend applies, m. Drivers react to a
/// falling speed with some delay and would otherwise enter the bend too fast.
const BEFORE_BENDS: f64 = 6.0;

/// Returns the curvature and permitted speed at each point. The permitted speed is the speed limit,
/// reduced in bends, and before bends as far as gentle braking requires.
fn bends_of(line: CentreLine<'_>, speed_limit: f64) -> impl Iterator<Item = Bend> {
    let points = line.count();
    let spacing = line.length() / (points - 1) as f64;
    let curvatures: Vec<f64> = line.curvatures(BEND_REACH).collect();
    let by_bend = |&curvature: &f64| speed_limit.min(bend_speed(curvature));
    let by_bends: Vec<f64> = curvatures.iter().map(by_bend).collect();
    let lead = (BEFORE_BENDS / spacing) as usize;
    let slowest_from = |point: usize| {
        let ahead = &by_bends[point..points.min(point + lead + 1)];
        ahead.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let mut speeds: Vec<f64> = (0..points).map(slowest_from).collect();
    // From the end backwards: v_before^2 <= v_after^2 + 2 b d. A vehicle that follows these speeds
    // brakes before the bend rather than in it.
    for i in (0..points - 1).rev() {
        let reachable = (speeds[i + 1] * speeds[i + 1] + 2.0 * PROFILE_BRAKING * spacing).sqrt();
        speeds[i] = speeds[i].min(reachable);
    }
    let bends = curvatures.into_iter().zip(speeds);
    bends.map(|(curvature, speed)| Bend {
        curvature,
        speed: speed as f32,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Ground;
    use crate::testing::{draw_street, street};
    use roadwright_geometry::DVec2;
    use roadwright_geometry::centre_line::CentreLines;

    #[test]
    fn speeds_fall_before_a_bend_and_not_in_it() {
        let mut lines = CentreLines::default();
        let corner = [(0.0, 0.0), (40.0, 0.0), (40.0, 20.0)].map(DVec2::from);
        let span = lines.push(&corner).unwrap();
        let bends: Vec<Bend> = bends_of(lines.line(span), 14.0).collect();
        let speed = |s: usize| f64::from(bends[s].speed);
        let slowest = speed(40);
        assert!((2.5..4.0).contains(&slowest), "{slowest}");
        // The whole corner is within 3 m of these points, and its speed applies from 6 m before it.
        for s in 32..=42 {
            assert!((speed(s) - slowest).abs() < 0.01, "{s} m: {}", speed(s));
        }
        // Farther away, the speed follows from gentle braking, up to the speed limit.
        for s in 0..32 {
            let most = slowest * slowest + 2.0 * PROFILE_BRAKING * (32.0 - s as f64);
            let most = most.sqrt().min(14.0);
            assert!((speed(s) - most).abs() < 0.01, "{s} m: {}", speed(s));
        }
        assert_eq!(speed(50), 14.0);
    }

    /// Describes all data of a lanelet, independent of where the points of its line are stored.
    fn facts(roads: &Roads, id: LaneletIndex) -> String {
        let LineSpan {
            first,
            count,
            spacing,
        } = roads.graph.lanelet(id).line_span();
        let bends = roads.bends.slice(first as usize..(first + count) as usize);
        let gist = &roads.gists[id.index()];
        let gist = (
            (
                gist.line.count,
                gist.length,
                gist.entry_speed,
                roads.contested(id),
            ),
            (
                gist.successors,
                gist.successor_count,
                gist.fork,
                gist.beside,
            ),
        );
        let alleys = (roads.alleys().on(id), roads.distance_to_alleys(id));
        let around = (roads.rings.of(id), roads.joins.of(id), alleys);
        format!("{spacing} {bends:?} {gist:?} {around:?}")
    }

    /// Checks that two road networks have equal data.
    pub(crate) fn assert_same(roads: &Roads, fresh: &Roads) {
        assert_eq!(roads.graph.lanelets().len(), fresh.graph.lanelets().len());
        for id in fresh.graph.indices() {
            assert_eq!(facts(roads, id), facts(fresh, id), "lanelet {id}");
        }
        for (law, fresh) in roads.laws.iter().zip(&fresh.laws) {
            assert_eq!(law.conflicts(), fresh.conflicts());
            assert_eq!(law.right_of_way(), fresh.right_of_way());
            for path in ConnectionIndex::up_to(law.path_count()) {
                assert_eq!(law.setback_of_cars(path), fresh.setback_of_cars(path));
            }
        }
        assert_eq!(roads.alleys(), fresh.alleys());
        assert_eq!(roads.lane_ends, fresh.lane_ends);
        assert_eq!(roads.plans, fresh.plans);
        assert_eq!(roads.layout, fresh.layout);
    }

    #[test]
    fn one_goes_on_to_what_follows_in_the_graph_and_nowhere_else() {
        let mut scenario = Scenario::new("crossing");
        for (from, to) in [((-100.0, 0.0), (100.0, 0.0)), ((0.0, -100.0), (0.0, 100.0))] {
            draw_street(&mut scenario, from, to, &street(1, 1));
        }
        let ground = Ground::new(&scenario);
        let graph = ground.graph();
        let mut beside_the_first = 0;
        for id in graph.indices() {
            let following = graph.successors(id);
            beside_the_first += following.len().saturating_sub(1);
            for next in graph.indices().chain([NO_LANELET]) {
                let leads = ground.leads_to(id, next);
                assert_eq!(leads, following.contains(&next), "from {id} to {next}");
            }
        }
        // Each of the four approaches leads to at least two connections.
        assert!(beside_the_first >= 4, "{beside_the_first}");
    }
}
