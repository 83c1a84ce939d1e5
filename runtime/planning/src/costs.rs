//! Costs of driving along lanelets, and lower bounds of the remaining cost to a goal.
//!
//! The bounds come from landmarks [Goldberg 2005]. With the exact distances to and from a few
//! lanelets at the edge of the network, the triangle inequality gives a lower bound of the distance
//! between any two lanelets. The distances are computed for empty roads without access
//! restrictions. Traffic and access can only add to them, so the bounds hold for all delays and
//! vehicles.
//!
//! ```text
//!              d(L, goal)
//!     L .---------------------. goal        d(L, goal) <= d(L, here) + d(here, goal)
//!        \                   /               so d(here, goal) >= d(L, goal) - d(L, here)
//!  d(L, here) `-----. here'
//! ```
//!
//! Distances to L give bounds in the same way. The largest of all these bounds is used. A landmark
//! behind the start or beyond the goal gives the tightest bounds, so landmarks are far apart.
//!
//! Times are stored as multiples of a unit, each edge rounded down, so that all times of a lanelet
//! fit into one cache line. The bounds are exact for the rounded edges, so they never exceed the
//! bounds for the true edges, and never decrease by more than an edge costs.

use crate::islands::Islands;
use roadwright_scenario::LaneAccess;
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind, NO_LANELET};

/// On lanelets up to this length, lane changes are avoided if possible, m.
const SHORT_LANELET: f64 = 25.0;
/// Additional cost of a lane change on a short lanelet, s. A detour of up to this time is preferred.
const SHORT_PENALTY: f64 = 10.0;
/// Number of landmarks of a network.
const LANDMARKS: usize = 16;
/// Default unit of the times to and from landmarks, s. It is doubled for networks with longer
/// times. A power of two, so that no product is rounded.
const UNIT: f64 = 1.0 / 16.0;
/// Longest time to or from a landmark, in units.
const LONGEST: u16 = u16::MAX / 2;
/// Time that stands for "no route". It exceeds every other time by more than [`LONGEST`].
const NEVER: u16 = u16::MAX;
/// Minimum number of lanelets of a network for which landmarks are used. In smaller networks, finding
/// landmarks takes more time than they save.
const FEWEST: usize = 64;
/// Time penalties of lane changes and turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights {
    /// Time penalty of a lane change, s.
    pub(crate) change_time: f64,
    /// Time penalty of a turn at a junction, s.
    pub(crate) turn_time: f64,
}

/// A move from the end of a lane to the next lane. Searches go from lane to lane, because three of four
/// lanelets are connections, which lead to only one lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossing {
    /// Connection that leads to the next lane; [`NO_LANELET`] if the lanes meet without a gap.
    pub(crate) by: LaneletIndex,
    /// Lane to which the move leads.
    pub(crate) to: LaneletIndex,
}

/// Costs of a graph without traffic.
pub(crate) struct Costs {
    identity: u64,
    weights: Weights,
    /// Time to drive along each lanelet, s.
    through: Vec<f64>,
    /// Cost of a lane change on each lanelet, s.
    change: Vec<f64>,
    /// Vehicles that may use each lanelet.
    access: Vec<LaneAccess>,
    /// Index of the first crossing of each lanelet, followed by the number of crossings.
    firsts: Vec<u32>,
    crossings: Vec<Crossing>,
    /// Restricted roads, if there are any.
    pub(crate) islands: Option<Islands>,
    landmarks: Landmarks,
}

/// Times between each lanelet and the landmarks; no rows if there are no landmarks.
#[derive(Default)]
struct Landmarks {
    /// Unit of all times, s.
    unit: f64,
    rows: Vec<Row>,
}

/// Times from a lanelet to each landmark, then from each landmark to the lanelet.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([u16; 2 * LANDMARKS]);

/// Lower bounds of the cost to one goal.
pub(crate) struct Bounds<'a> {
    landmarks: &'a Landmarks,
    goal: Row,
}

impl Costs {
    /// Computes the costs of a graph. O(landmarks × lanelets log lanelets).
    pub(crate) fn new(graph: &LaneGraph, weights: Weights) -> Self {
        let ids = LaneletIndex::up_to(graph.lanelets().len());
        let (mut firsts, mut crossings) = (vec![0], Vec::new());
        for id in ids.clone() {
            crossings.extend(crossings_from(graph, id));
            firsts.push(crossings.len() as u32);
        }
        let mut costs = Self {
            identity: graph.identity(),
            weights,
            through: ids.clone().map(|id| through(graph, id, weights)).collect(),
            change: ids.map(|id| change(graph, id, weights)).collect(),
            access: graph.lanelets().iter().map(|one| one.access).collect(),
            firsts,
            crossings,
            islands: Islands::of(graph),
            landmarks: Landmarks::default(),
        };
        // Finding landmarks takes 33 searches of the whole network. This pays off if many searches follow.
        if graph.lanelets().len() >= FEWEST {
            // The unit is doubled until all times fit.
            let mut units = std::iter::successors(Some(UNIT), |unit| Some(2.0 * unit));
            let found = units.find_map(|unit| costs.find_landmarks(graph, unit));
            costs.landmarks = found.unwrap_or_default();
        }
        costs
    }

    /// Whether these costs were computed for the given graph and weights.
    pub(crate) fn is_of(&self, graph: &LaneGraph, weights: Weights) -> bool {
        self.identity == graph.identity() && self.weights == weights
    }

    /// Time to drive along a lanelet, s.
    #[inline]
    pub(crate) fn through(&self, id: LaneletIndex) -> f64 {
        self.through[id.index()]
    }

    /// Cost of a lane change on a lanelet, s.
    #[inline]
    pub(crate) fn change(&self, id: LaneletIndex) -> f64 {
        self.change[id.index()]
    }

    /// Vehicles that may use a lanelet.
    #[inline]
    pub(crate) fn access(&self, id: LaneletIndex) -> LaneAccess {
        self.access[id.index()]
    }

    /// Returns the lanes that follow a lanelet, in the order of its successors.
    #[inline]
    pub(crate) fn crossings(&self, id: LaneletIndex) -> &[Crossing] {
        let range = [id.index(), id.index() + 1].map(|at| self.firsts[at] as usize);
        &self.crossings[range[0]..range[1]]
    }

    /// Returns the lower bounds of the cost to the start of a lanelet.
    pub(crate) fn bounds_to(&self, goal: LaneletIndex) -> Bounds<'_> {
        let row = self.landmarks.rows.get(goal.index());
        Bounds {
            landmarks: &self.landmarks,
            goal: row.copied().unwrap_or(Row([0; 2 * LANDMARKS])),
        }
    }

    /// Finds the landmarks, with times in a unit, s. Each is the lanelet farthest from the previous ones.
    /// `None` if a time is too long for the unit.
    fn find_landmarks(&self, graph: &LaneGraph, unit: f64) -> Option<Landmarks> {
        let count = graph.lanelets().len();
        let main = graph.main_component();
        let mut rows = vec![Row([0; 2 * LANDMARKS]); count];
        let Some(&first) = main.first() else {
            return Some(Landmarks::default());
        };
        let edges = Edges::of(self, unit);
        // The lanelet farthest from any given lanelet is at the edge, and each further landmark is the one
        // farthest from the previous landmarks. Ties go to the smaller id, so that the landmarks are the same
        // in every run.
        let mut nearest = edges.times(self, graph, first, Direction::From)?;
        for landmark in 0..LANDMARKS {
            let far = |a: &&LaneletIndex, b: &&LaneletIndex| {
                let time = |id: LaneletIndex| nearest[id.index()];
                time(**a).cmp(&time(**b)).then(b.cmp(a))
            };
            let at = *main.iter().max_by(far).unwrap_or(&first);
            let (to, from) = (
                edges.times(self, graph, at, Direction::To)?,
                edges.times(self, graph, at, Direction::From)?,
            );
            for (id, Row(row)) in rows.iter_mut().enumerate() {
                (row[landmark], row[LANDMARKS + landmark]) = (to[id], from[id]);
                nearest[id] = match landmark {
                    0 => from[id],
                    _ => nearest[id].min(from[id]),
                };
            }
        }
        Some(Landmarks { unit, rows })
    }
}

/// Costs as multiples of a unit, rounded down.
struct Edges {
    through: Vec<u32>,
    change: Vec<u32>,
    /// Upper bound of the cost of a move from lane to lane.
    most: usize,
}

/// Lanes to be visited, sorted into one list per time. Times are at most [`Edges::most`] later than
/// the current one, so the lists form a ring.
struct Agenda {
    lists: Vec<Vec<LaneletIndex>>,
    count: usize,
}

impl Agenda {
    fn add(&mut self, time: u32, lane: LaneletIndex) {
        let number = time as usize % self.lists.len();
        self.lists[number].push(lane);
        self.count += 1;
    }
}

impl Edges {
    fn of(costs: &Costs, unit: f64) -> Self {
        let rounded = |costs: &[f64]| -> Vec<u32> {
            let longest = f64::from(NEVER);
            costs
                .iter()
                .map(|cost| (cost / unit).min(longest) as u32)
                .collect()
        };
        let (through, change) = (rounded(&costs.through), rounded(&costs.change));
        let most = |costs: &[u32]| costs.iter().copied().max().unwrap_or(0) as usize;
        Self {
            most: 2 * most(&through).max(most(&change)),
            through,
            change,
        }
    }

    /// Returns the shortest times between the start of one lanelet and the starts of all others, by
    /// Dijkstra's algorithm from lane to lane. `None` if a time is too long. Lanes and roads that are only for
    /// buses are included, so the bounds also hold for buses.
    fn times(
        &self,
        costs: &Costs,
        graph: &LaneGraph,
        origin: LaneletIndex,
        direction: Direction,
    ) -> Option<Vec<u16>> {
        let mut times = vec![u32::MAX; graph.lanelets().len()];
        let mut agenda = Agenda {
            lists: vec![Vec::new(); self.most + 1],
            count: 0,
        };
        times[origin.index()] = 0;
        agenda.add(0, origin);
        let mut now = 0;
        while agenda.count > 0 {
            let number = now as usize % agenda.lists.len();
            // Zero-cost moves append to the list that is being emptied.
            let Some(id) = agenda.lists[number].pop() else {
                now += 1;
                continue;
            };
            agenda.count -= 1;
            // A lane may be listed several times. Only its earliest time is used.
            if times[id.index()] != now {
                continue;
            }
            let mut reach = |next: LaneletIndex, cost: u32| {
                let time = now + cost;
                if next != NO_LANELET && time < times[next.index()] {
                    times[next.index()] = time;
                    agenda.add(time, next);
                }
            };
            let through = |id: LaneletIndex| self.through[id.index()];
            let change = |id: LaneletIndex| self.change[id.index()];
            match direction {
                Direction::From => {
                    let lanelet = graph.lanelet(id);
                    for &Crossing { by, to } in costs.crossings(id) {
                        let between = if by == NO_LANELET { 0 } else { through(by) };
                        reach(to, through(id) + between);
                    }
                    for side in [lanelet.left, lanelet.right] {
                        reach(side, change(id));
                    }
                }
                Direction::To => {
                    for &before in graph.predecessors(id) {
                        if !graph.lanelet(before).is_connection() {
                            reach(before, through(before));
                            continue;
                        }
                        for &lane in graph.predecessors(before) {
                            reach(lane, through(before) + through(lane));
                        }
                    }
                    for side in graph.changing_onto(id) {
                        reach(side, change(side));
                    }
                }
            }
        }
        self.add_connections(graph, direction, &mut times);
        let stored = |time: u32| match u16::try_from(time) {
            Ok(time) if time <= LONGEST => Some(time),
            _ => (time == u32::MAX).then_some(NEVER),
        };
        times.into_iter().map(stored).collect()
    }

    /// Adds the times of connections, given the times of lanes.
    fn add_connections(&self, graph: &LaneGraph, direction: Direction, times: &mut [u32]) {
        let connections = graph.numbered().filter(|(_, one)| one.is_connection());
        for (id, _) in connections {
            let time = |at: LaneletIndex| times[at.index()];
            let through = |at: LaneletIndex| self.through[at.index()];
            let by_lanes = match direction {
                Direction::From => {
                    let before = graph.predecessors(id).iter();
                    before
                        .map(|&lane| time(lane).saturating_add(through(lane)))
                        .min()
                }
                Direction::To => {
                    let next = graph.successors(id).iter();
                    next.map(|&lane| time(lane).saturating_add(through(id)))
                        .min()
                }
            };
            let by_lanes = by_lanes.unwrap_or(u32::MAX);
            times[id.index()] = times[id.index()].min(by_lanes);
        }
    }
}

/// Returns the moves from a lanelet to the lanes that follow it.
fn crossings_from(graph: &LaneGraph, id: LaneletIndex) -> impl Iterator<Item = Crossing> + '_ {
    let next = graph.successors(id).iter();
    next.flat_map(move |&next| {
        let is_connection = graph.lanelet(next).is_connection();
        let beyond = if is_connection {
            graph.successors(next)
        } else {
            &[]
        };
        let direct = (!is_connection).then_some(Crossing {
            by: NO_LANELET,
            to: next,
        });
        let by_connection = beyond.iter().map(move |&to| Crossing { by: next, to });
        direct.into_iter().chain(by_connection)
    })
}

#[derive(Clone, Copy)]
enum Direction {
    From,
    To,
}

impl Bounds<'_> {
    /// Returns a lower bound of the time from the start of a lanelet to the start of the goal's lanelet, s;
    /// infinite if there is no route.
    #[inline]
    pub(crate) fn left_from(&self, id: LaneletIndex) -> f64 {
        let Some(Row(own)) = self.landmarks.rows.get(id.index()) else {
            return 0.0;
        };
        let Row(goal) = &self.goal;
        let ((own_to, own_from), (goal_to, goal_from)) =
            (own.split_at(LANDMARKS), goal.split_at(LANDMARKS));
        let mut most = 0;
        // If a landmark can be reached from the goal, it can be reached from every lanelet that leads to the goal. If
        // only the goal leads to the landmark, the difference exceeds the longest time.
        for (&own, &goal) in own_to.iter().zip(goal_to) {
            most = most.max(own.saturating_sub(goal));
        }
        // Likewise, if a landmark leads to the lanelet but not to the goal, the goal cannot be reached from
        // the lanelet.
        for (&own, &goal) in own_from.iter().zip(goal_from) {
            most = most.max(goal.saturating_sub(own));
        }
        match most > LONGEST {
            true => f64::INFINITY,
            false => f64::from(most) * self.landmarks.unit,
        }
    }
}

fn through(graph: &LaneGraph, id: LaneletIndex, weights: Weights) -> f64 {
    let lanelet = graph.lanelet(id);
    let turning = match lanelet.kind {
        LaneletKind::Connection { turn, .. } => match turn {
            Turn::Straight => 0.0,
            Turn::Left | Turn::Right => weights.turn_time,
            Turn::UTurn => 4.0 * weights.turn_time,
        },
        LaneletKind::Lane { .. } => 0.0,
    };
    lanelet.free_time(lanelet.length()) + turning
}

fn change(graph: &LaneGraph, id: LaneletIndex, weights: Weights) -> f64 {
    let is_short = graph.lanelet(id).length() < SHORT_LANELET;
    weights.change_time + if is_short { SHORT_PENALTY } else { 0.0 }
}
