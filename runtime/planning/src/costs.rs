//! Costs of driving along lanelets, and lower bounds of the remaining cost to a goal.
//!
//! The bounds come from landmarks [Goldberg 2005]. With the exact distances to and from a few lanelets at the
//! edge of the network, the triangle inequality gives a lower bound of the distance between any two lanelets.
//! The distances are those of empty roads without access restrictions. Traffic and access can only add to
//! them, so the bounds hold for all delays and vehicles.
//!
//! ```text
//!              d(L, goal)
//!     L .---------------------. goal        d(L, goal) <= d(L, here) + d(here, goal)
//!        \                   /               so d(here, goal) >= d(L, goal) - d(L, here)
//!  d(L, here) `-----. here'
//! ```
//!
//! Distances to L give bounds in the same way. The largest of all these bounds is used. A landmark behind the
//! start or beyond the goal gives the tightest bounds, so landmarks are far apart.

use crate::islands::Islands;
use roadwright_scenario::LaneAccess;
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind, NO_LANELET};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum length of lanelets on which lane changes are avoided if possible, m.
const SHORT_LANELET: f64 = 25.0;
/// Additional cost of a lane change on a short lanelet, s. A detour of up to this time is preferred.
const SHORT_PENALTY: f64 = 10.0;
/// Number of landmarks of a network.
const LANDMARKS: usize = 8;
/// Minimum number of lanelets at which a network is searched with landmarks. In smaller networks, finding
/// them would take longer than they save.
const FEWEST: usize = 64;
/// Factor below 1 that is applied to bounds, so that rounding never makes them too large.
const TRUST: f64 = 1.0 - 1e-12;

/// Parameters of the costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights {
    /// Cost of a lane change, s.
    pub(crate) change_time: f64,
    /// Cost of a turn at a junction, s.
    pub(crate) turn_time: f64,
}

/// A move from the end of a lane to the next lane. Searches go from lane to lane, because three of four
/// lanelets are connections, which lead to only one lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossing {
    /// Connection that leads to the next lane; [`NO_LANELET`] if the lanes meet without a gap.
    pub(crate) by: LaneletIndex,
    /// The next lane.
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
    /// For each lanelet and landmark, the time from the lanelet to the landmark and the negative time from
    /// the landmark to the lanelet, s. With these signs, each bound is the value of the lanelet minus that of
    /// the goal.
    landmarks: Vec<[[f64; 2]; LANDMARKS]>,
}

/// Lower bounds of the cost to one goal.
pub(crate) struct Bounds<'a> {
    landmarks: &'a [[[f64; 2]; LANDMARKS]],
    goal: [[f64; 2]; LANDMARKS],
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
            landmarks: Vec::new(),
        };
        // Finding landmarks takes 17 searches of the whole network. This pays off if many searches follow.
        if graph.lanelets().len() >= FEWEST {
            costs.find_landmarks(graph);
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

    /// The lanes that follow a lanelet, in the order of its successors.
    #[inline]
    pub(crate) fn crossings(&self, id: LaneletIndex) -> &[Crossing] {
        let range = [id.index(), id.index() + 1].map(|at| self.firsts[at] as usize);
        &self.crossings[range[0]..range[1]]
    }

    /// Returns the bounds of the cost to the start of a lanelet.
    pub(crate) fn bounds_to(&self, goal: LaneletIndex) -> Bounds<'_> {
        Bounds {
            landmarks: &self.landmarks,
            goal: self
                .landmarks
                .get(goal.index())
                .copied()
                .unwrap_or([[0.0; 2]; LANDMARKS]),
        }
    }

    /// Finds the landmarks. Each is the lanelet farthest from the previous ones.
    fn find_landmarks(&mut self, graph: &LaneGraph) {
        let count = graph.lanelets().len();
        let main = graph.main_component();
        let Some(&first) = main.first() else { return };
        let mut table = vec![[[0.0; 2]; LANDMARKS]; count];
        // The lanelet farthest from any given lanelet is at the edge, and each further landmark is the one
        // farthest from the previous landmarks. Ties go to the smaller id, so that the landmarks are the same
        // in every run.
        let mut nearest = self.times(graph, first, Direction::From);
        for landmark in 0..LANDMARKS {
            let far = |a: &&LaneletIndex, b: &&LaneletIndex| {
                let time = |id: LaneletIndex| nearest[id.index()];
                time(**a).total_cmp(&time(**b)).then(b.cmp(a))
            };
            let at = *main.iter().max_by(far).unwrap_or(&first);
            let (to, from) = (
                self.times(graph, at, Direction::To),
                self.times(graph, at, Direction::From),
            );
            for (id, row) in table.iter_mut().enumerate() {
                row[landmark] = [to[id], -from[id]];
                nearest[id] = if landmark == 0 {
                    from[id]
                } else {
                    nearest[id].min(from[id])
                };
            }
        }
        self.landmarks = table;
    }

    /// Returns the shortest times between the start of one lanelet and the starts of all others, by
    /// Dijkstra's algorithm from lane to lane. Lanes and roads that are only for buses are included, so the
    /// bounds also hold for buses.
    fn times(&self, graph: &LaneGraph, origin: LaneletIndex, direction: Direction) -> Vec<f64> {
        let mut times = vec![f64::INFINITY; graph.lanelets().len()];
        let mut open = BinaryHeap::new();
        times[origin.index()] = 0.0;
        // Times are never negative, so their bits have the same order as their values.
        open.push(Reverse((0u64, origin)));
        while let Some(Reverse((bits, id))) = open.pop() {
            let time = f64::from_bits(bits);
            if time > times[id.index()] {
                continue;
            }
            let mut reach = |next: LaneletIndex, time: f64| {
                if next != NO_LANELET && time < times[next.index()] {
                    times[next.index()] = time;
                    open.push(Reverse((time.to_bits(), next)));
                }
            };
            match direction {
                Direction::From => {
                    let lanelet = graph.lanelet(id);
                    let end = time + self.through(id);
                    for &Crossing { by, to } in self.crossings(id) {
                        let between = if by == NO_LANELET {
                            0.0
                        } else {
                            self.through(by)
                        };
                        reach(to, end + between);
                    }
                    for side in [lanelet.left, lanelet.right] {
                        reach(side, time + self.change(id));
                    }
                }
                Direction::To => {
                    for &before in graph.predecessors(id) {
                        let start = time + self.through(before);
                        if !graph.lanelet(before).is_connection() {
                            reach(before, start);
                            continue;
                        }
                        for &lane in graph.predecessors(before) {
                            reach(lane, start + self.through(lane));
                        }
                    }
                    for side in graph.changing_onto(id) {
                        reach(side, time + self.change(side));
                    }
                }
            }
        }
        self.add_connections(graph, direction, &mut times);
        times
    }

    /// Adds the times of connections, given those of lanes.
    fn add_connections(&self, graph: &LaneGraph, direction: Direction, times: &mut [f64]) {
        let connections = graph.numbered().filter(|(_, one)| one.is_connection());
        for (id, _) in connections {
            let time = |at: LaneletIndex| times[at.index()];
            let by_lanes = match direction {
                Direction::From => {
                    let before = graph.predecessors(id).iter();
                    let times = before.map(|&lane| time(lane) + self.through(lane));
                    times.fold(f64::INFINITY, f64::min)
                }
                Direction::To => {
                    let next = graph.successors(id).iter();
                    let times = next.map(|&lane| time(lane) + self.through(id));
                    times.fold(f64::INFINITY, f64::min)
                }
            };
            times[id.index()] = times[id.index()].min(by_lanes);
        }
    }
}

/// The moves from a lanelet to the lanes that follow it.
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
        let Some(own) = self.landmarks.get(id.index()) else {
            return 0.0;
        };
        let mut best = [0.0f64; 2];
        for (own, goal) in own.iter().zip(&self.goal) {
            for ((best, own), goal) in best.iter_mut().zip(own).zip(goal) {
                let bound = own - goal;
                // If an infinity is involved, the difference is negative or NaN, and the comparison rejects
                // both.
                if bound > *best {
                    *best = bound;
                }
            }
        }
        let best = if best[1] > best[0] { best[1] } else { best[0] };
        best * TRUST
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
