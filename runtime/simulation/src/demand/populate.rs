//! Random trips of agents: into the map, out of it, through it, and within it.

use super::pools::{Pool, Pools, entry, exit, spot_inside};
use crate::options::{PopulateFrom, Population};
use crate::records::LaneSpot;
use roadwright_geometry::math::Stream;
use roadwright_ground::Ground;
use roadwright_scenario::lane_graph::{
    LaneGraph, LaneletIndex, LaneletKind, NO_LANELET, ROOM_FOR_CHANGE, Reachability,
};
use roadwright_scenario::{Place, Scenario, VehicleClass};
use std::collections::BTreeMap;

/// Minimum distance between two starts on the same lane, m.
const SPACING: f64 = 14.0;
/// Minimum distance between start and destination if the network is large enough, m.
const MIN_TRIP: f64 = 250.0;
/// Minimum distance of a trip in any network, m. Otherwise, an agent could start at its destination
/// and would not drive.
const SHORTEST: f64 = 20.0;
/// Maximum number of attempts to find a free start, and to find a destination that is far enough away.
const TRIES: usize = 200;
/// After this many consecutive starts without a route, a lane is no longer used for starts.
const PATIENCE: usize = 8;
/// With `PopulateFrom::Both`, probability that the start of a trip is at an edge of the map. The
/// same probability applies to its destination.
const EDGE_SHARE: f64 = 0.5;
/// Vehicle class of random trips.
const CLASS: VehicleClass = VehicleClass::Car;

/// A trip between two positions on lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trip {
    pub(crate) from: LaneSpot,
    pub(crate) to: LaneSpot,
}

/// Kind of start or destination of a trip: at an edge of the map, or inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Edge,
    Inside,
}

/// Draws up to `count` drivable trips, with statistics. Equal seeds give equal trips, and a larger count
/// begins with the same trips.
pub(crate) fn trips(
    scenario: &Scenario,
    graph: &LaneGraph,
    count: usize,
    from: PopulateFrom,
    seed: u64,
) -> (Vec<Trip>, Population) {
    let pools = Pools::new(scenario, graph);
    let mut draw = Draw {
        graph,
        entries: pools.entries,
        inside: pools.inside.clone(),
        goals: (pools.exits, pools.inside),
        reachable: Reachability::new(graph, CLASS),
        stream: Stream::new(seed, "populate", 0),
        taken: BTreeMap::new(),
        failures: BTreeMap::new(),
        is_full: false,
    };
    let mut population = Population {
        wanted: count,
        ..Population::default()
    };
    let mut trips = Vec::new();
    while trips.len() < count {
        let Some(drawn) = draw.trip(from) else {
            break;
        };
        population.from_edges += usize::from(drawn.kinds.0 == Kind::Edge);
        population.to_edges += usize::from(drawn.kinds.1 == Kind::Edge);
        population.queued += usize::from(drawn.is_queued);
        trips.push(drawn.trip);
    }
    population.made = trips.len();
    (trips, population)
}

/// A random trip between two places on lanes.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomTrip {
    /// Start of the trip.
    pub start: Place,
    /// Destination of the trip.
    pub destination: Place,
}

/// Returns random trips of cars, up to the requested number, with statistics. A run with
/// [`RunOptions::populate`](crate::RunOptions) and the same seed has the same trips. There are fewer trips
/// than requested only if no remaining start has a route to a destination.
pub fn random_trips(
    scenario: &Scenario,
    ground: &Ground,
    count: usize,
    from: PopulateFrom,
    seed: u64,
) -> (Vec<RandomTrip>, Population) {
    let graph = ground.graph();
    let place = |LaneSpot { lanelet: id, s }: LaneSpot| {
        let lanelet = graph.lanelet(id);
        match lanelet.kind {
            LaneletKind::Lane { road, lane, .. } => {
                Some(Place::lane(road, lane, lanelet.road_s(s)))
            }
            LaneletKind::Connection { .. } => None,
        }
    };
    let (trips, population) = trips(scenario, graph, count, from, seed);
    let trips = trips.into_iter().map(|trip| RandomTrip {
        start: place(trip.from).expect("spots are on lanes"),
        destination: place(trip.to).expect("spots are on lanes"),
    });
    (trips.collect(), population)
}

/// A trip that has been drawn, and the state of its start.
struct Drawn {
    trip: Trip,
    kinds: (Kind, Kind),
    /// Whether the start is occupied, so that the agent has to queue.
    is_queued: bool,
}

/// Generator of random trips with its state.
struct Draw<'a> {
    graph: &'a LaneGraph,
    /// Lanes for starts at edges and inside the map. Lanes from which no route leads are removed.
    entries: Pool,
    inside: Pool,
    /// Lanes for destinations, at edges and inside the map.
    goals: (Pool, Pool),
    reachable: Reachability<'a>,
    stream: Stream,
    /// Positions of all starts drawn before, by lane.
    taken: BTreeMap<LaneletIndex, Vec<f64>>,
    /// Number of consecutive failed starts on each lane.
    failures: BTreeMap<LaneletIndex, usize>,
    /// Whether an attempt to find a free start inside the map has failed. Later attempts are
    /// skipped, because they would fail as well.
    is_full: bool,
}

impl Draw<'_> {
    /// Draws the next trip; `None` if no remaining start has a route.
    fn trip(&mut self, from: PopulateFrom) -> Option<Drawn> {
        loop {
            let starts = self.kinds(from);
            let (start, kind, is_queued) = starts.iter().find_map(|&kind| self.start(kind))?;
            let goals = self.kinds(from);
            let goal = goals
                .iter()
                .find_map(|&kind| Some((self.goal(start, kind)?, kind)));
            if let Some((to, goal_kind)) = goal {
                self.failures.remove(&start.lanelet);
                self.taken.entry(start.lanelet).or_default().push(start.s);
                return Some(Drawn {
                    trip: Trip { from: start, to },
                    kinds: (kind, goal_kind),
                    is_queued,
                });
            }
            self.give_up(start);
        }
    }

    /// Kinds of starts or destinations, in the order in which they are tried.
    fn kinds(&mut self, from: PopulateFrom) -> Vec<Kind> {
        match from {
            PopulateFrom::Inside => vec![Kind::Inside],
            PopulateFrom::Edges => vec![Kind::Edge],
            PopulateFrom::Both if self.stream.next_unit() < EDGE_SHARE => {
                vec![Kind::Edge, Kind::Inside]
            }
            PopulateFrom::Both => vec![Kind::Inside, Kind::Edge],
        }
    }

    /// Records that no route leads from a start. The start then counts as taken, because places
    /// farther back on its lane may still have a route. After several such starts, the lane is no
    /// longer used.
    fn give_up(&mut self, start: LaneSpot) {
        let LaneSpot { lanelet: lane, s } = start;
        self.taken.entry(lane).or_default().push(s);
        let failures = self.failures.entry(lane).or_default();
        *failures += 1;
        if *failures >= PATIENCE {
            self.entries = self.entries.filtered(|other| other != lane);
            self.inside = self.inside.filtered(|other| other != lane);
        }
    }

    /// Draws a position on any lane inside the map.
    fn spot_inside(&mut self) -> Option<LaneSpot> {
        let (lane, share) = self.inside.draw(&mut self.stream)?;
        Some(spot_inside(self.graph, lane, share))
    }

    /// Draws a start. Returns it with its kind, and whether it is already taken.
    fn start(&mut self, kind: Kind) -> Option<(LaneSpot, Kind, bool)> {
        let is_taken = |taken: &BTreeMap<LaneletIndex, Vec<f64>>,
                        LaneSpot { lanelet: lane, s }: LaneSpot| {
            let mut near = taken.get(&lane).into_iter().flatten();
            near.any(|at: &f64| (at - s).abs() < SPACING)
        };
        if kind == Kind::Edge {
            let mut spot = entry(self.entries.draw(&mut self.stream)?.0);
            // If a road is cut off directly before a junction, there is no room to change lanes on it.
            for _ in 1..TRIES {
                if has_room(self.graph, spot) {
                    break;
                }
                spot = entry(self.entries.draw(&mut self.stream)?.0);
            }
            return Some((spot, kind, is_taken(&self.taken, spot)));
        }
        let mut spot = self.spot_inside()?;
        for _ in 1..TRIES {
            let is_good = || !is_taken(&self.taken, spot) && has_room(self.graph, spot);
            if self.is_full || is_good() {
                return Some((spot, kind, self.is_full));
            }
            spot = self.spot_inside()?;
        }
        // There is no room left inside. From now on, starts are used as drawn, and agents without
        // room have to wait.
        self.is_full = true;
        Some((spot, kind, true))
    }

    /// Draws a destination that can be reached from a start. It is far enough away or, if the
    /// network is too small for that, the farthest of several attempts.
    fn goal(&mut self, start: LaneSpot, kind: Kind) -> Option<LaneSpot> {
        let pool = match kind {
            Kind::Edge => &self.goals.0,
            Kind::Inside => &self.goals.1,
        };
        let found = far_spot(
            self.graph,
            &mut self.reachable,
            &mut self.stream,
            pool,
            kind,
            start,
        );
        if found.is_some() || pool.is_empty() {
            return found;
        }
        // So few lanes can be reached that destinations are drawn only from the reachable ones.
        let reachable = &mut self.reachable;
        let few = pool.filtered(|lane| reachable.leads(start.lanelet, lane));
        far_spot(
            self.graph,
            &mut self.reachable,
            &mut self.stream,
            &few,
            kind,
            start,
        )
    }
}

/// Draws a place from `pool` that is reachable from `start` and far away from it. If no drawn place
/// exceeds the minimum distance of trips, returns the farthest one that was drawn. `None` if none
/// of them is suitable.
fn far_spot(
    graph: &LaneGraph,
    reachable: &mut Reachability<'_>,
    stream: &mut Stream,
    pool: &Pool,
    kind: Kind,
    start: LaneSpot,
) -> Option<LaneSpot> {
    let position = |LaneSpot { lanelet: lane, s }: LaneSpot| graph.line(lane).position(s);
    let origin = position(start);
    let beside = beside(graph, start.lanelet);
    let mut best: Option<(f64, LaneSpot)> = None;
    for _ in 0..TRIES {
        let (lane, share) = pool.draw(stream)?;
        let spot = match kind {
            Kind::Edge => exit(graph, lane),
            Kind::Inside => spot_inside(graph, lane, share),
        };
        let distance = (position(spot) - origin).length();
        let is_farther = best.is_none_or(|(best, _)| distance > best);
        // A destination on the same lane or an adjacent one has to be ahead of the start. Otherwise, the
        // vehicle would drive around the block.
        let share = |LaneSpot { lanelet: lane, s }: LaneSpot| s / graph.lanelet(lane).length();
        let is_ahead = !beside.contains(&spot.lanelet) || share(spot) > share(start);
        if distance < SHORTEST
            || !is_farther
            || !is_ahead
            || !reachable.leads(start.lanelet, spot.lanelet)
        {
            continue;
        }
        best = Some((distance, spot));
        // The first place that is far enough away is used or, if there is none, the farthest of all attempts.
        if distance >= MIN_TRIP {
            break;
        }
    }
    best.map(|(_, spot)| spot)
}

/// Whether a vehicle that starts at this spot can change to any adjacent lane before its lane ends.
fn has_room(graph: &LaneGraph, spot: LaneSpot) -> bool {
    let LaneSpot { lanelet: lane, s } = spot;
    // The farthest lane on either side counts, because the route is not known yet and may need any
    // lane.
    let changes = [true, false].map(|to_left| lanes_to(graph, lane, to_left).count());
    let most = changes.into_iter().max().unwrap_or(0);
    graph.lanelet(lane).length() - s >= most as f64 * ROOM_FOR_CHANGE
}

/// Lanelets on one side of a lanelet, from the nearest to the farthest.
fn lanes_to(
    graph: &LaneGraph,
    lane: LaneletIndex,
    to_left: bool,
) -> impl Iterator<Item = LaneletIndex> + '_ {
    let next = move |id: &LaneletIndex| {
        let lanelet = graph.lanelet(*id);
        let side = if to_left { lanelet.left } else { lanelet.right };
        (side != NO_LANELET).then_some(side)
    };
    std::iter::successors(next(&lane), next)
}

/// A lanelet and all others that can be reached from it by lane changes alone.
fn beside(graph: &LaneGraph, lane: LaneletIndex) -> Vec<LaneletIndex> {
    let mut lanes = vec![lane];
    for to_left in [true, false] {
        lanes.extend(lanes_to(graph, lane, to_left));
    }
    lanes
}
