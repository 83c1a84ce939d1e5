//! Trips that combine lanes and open ground, changing between them where this minimises the total
//! time.
//!
//! One search runs over cells of open ground and over stations along the lanes. Its costs are times
//! in milliseconds. A step over cells takes its length divided by the speed on plain ground, times
//! the mean factor of its two cells / 16. Lanes are driven at their free speed.
//!
//! ```text
//!   station -> station    along the lane, to the next lane, or to the lane beside it
//!   station -> cell       leaves the lanes
//!   cell    -> station    joins a lane
//! ```
//!
//! A vehicle type that drives off the road only when needed joins lanes only from the part of the
//! ground where its trip begins, and leaves them only for the part where the trip ends. A cell that
//! belongs to both parts is represented by two nodes of the search.

use super::{FixedItems, body_of, effects_of};
use crate::records::LaneSpot;
use crate::route::Goal;
use roadwright_geometry::DVec2;
use roadwright_ground::{Ground, OPEN_GROUND_SPEED};
use roadwright_planning::open_ground::{
    Body, Cell, CellSize, Direction, LayerEffect, OpenGround, PLAIN, Profile, ProfileId, Reading,
};
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, LaneletKind, NO_LANELET};
use roadwright_scenario::{LandUse, OffRoad, TripPart, VehicleClass, VehicleType};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::f64::consts::SQRT_2;
use std::sync::Arc;

/// Distance between stations along a lane, m. Trips join and leave lanes only at stations.
const SPACING: f64 = 10.0;
/// Time that leaving a lane costs, including slowing down, s.
const LEAVING: f64 = 2.0;
/// Time that joining a lane costs, including the wait for a gap, s.
const JOINING: f64 = 3.0;
/// Time for a lane change, as in the route planner, s.
const CHANGE: f64 = 3.0;
/// Time for a turn at a junction, as in the route planner, s.
const TURN: f64 = 1.5;
/// Time for a U-turn at a junction, as in the route planner, s.
const U_TURN: f64 = 6.0;
/// A vehicle leaves its lane this far before the turn-off, to have room to brake and turn, m.
const EXIT_BEFORE: f64 = 30.0;
/// Minimum distance between the point where a vehicle joins a lane and its goal on that lane, m. It
/// is the room to align with the lane.
const ROOM_TO_JOIN: f64 = 30.0;
/// Blocked cells within this distance of the start or goal count as free, m. The planner later
/// decides whether the body fits there.
const OPEN: f64 = 3.0;
/// Cost factor of a blocked cell that counts as free.
const OPENED: u32 = 8 * PLAIN as u32;
/// Edge lengths of cells, each with the maximum straight-line length of the trips that use it, m.
const SIZES: [(f64, f64); 3] = [(1.0, 150.0), (2.0, 600.0), (4.0, f64::INFINITY)];
/// Maximum number of nodes that a search expands. If this is not enough, the trip uses the exit
/// nearest to its goal.
const MOST: u32 = 250_000;

/// An end of a trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    /// On a lane.
    Lane(LaneSpot),
    /// On open ground.
    Ground(DVec2),
}

/// Properties of the vehicle that makes a trip.
#[derive(Debug, Clone)]
pub(crate) struct Traveller {
    pub(crate) body: Body,
    /// Effects of cost layers on the vehicle type.
    pub(crate) effects: Arc<[LayerEffect]>,
    pub(crate) class: VehicleClass,
    /// Top speed, m/s.
    pub(crate) max_speed: f64,
    pub(crate) off_road: OffRoad,
}

impl From<&VehicleType> for Traveller {
    fn from(kind: &VehicleType) -> Self {
        Self {
            body: body_of(kind),
            effects: effects_of(kind).into(),
            class: kind.class(),
            max_speed: kind.max_speed.get(),
            off_road: kind.off_road,
        }
    }
}

impl Traveller {
    /// Speed on plain ground, m/s.
    fn ground_speed(&self) -> f64 {
        self.max_speed.min(OPEN_GROUND_SPEED)
    }
}

/// A part of a trip.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// A part on lanes.
    Lanes { from: LaneSpot, to: LaneSpot },
    /// A part over open ground.
    Ground {
        /// Centres of the cells, m.
        points: Vec<DVec2>,
        /// Driving time without waiting, s.
        time: f64,
    },
}

/// Parts of a trip in driving order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Itinerary {
    pub(crate) parts: Vec<Part>,
}

impl Itinerary {
    /// Places where the trip changes between lanes and open ground, as goals.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Goal> {
        self.parts.windows(2).filter_map(|pair| match pair {
            [Part::Lanes { from, to }, Part::Ground { .. }] => {
                let least = if from.lanelet == to.lanelet {
                    from.s
                } else {
                    0.0
                };
                Some(Goal::Leave {
                    lanelet: to.lanelet,
                    s: (to.s - EXIT_BEFORE).max(least).min(to.s),
                })
            }
            [Part::Ground { .. }, Part::Lanes { from, .. }] => Some(Goal::Join {
                lanelet: from.lanelet,
                s: from.s,
            }),
            _ => None,
        })
    }
}

/// Plans trips on a ground. The map is built for the first trip.
pub(crate) struct MixedTrips<'a> {
    ground: &'a Ground,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    prepared: Option<Prepared>,
    known: BTreeMap<Vec<u64>, Option<Itinerary>>,
}

/// A place on a lane where a trip may join or leave it.
#[derive(Debug, Clone, Copy)]
struct Station {
    lanelet: LaneletIndex,
    s: f64,
    place: DVec2,
}

struct Prepared {
    map: OpenGround,
    /// Stations of all lanelets, in the order of the lanelets. The first and last stations of a lanelet are
    /// at its ends.
    stations: Vec<Station>,
    /// Index of the first station of each lanelet, followed by the total number of stations.
    firsts: Vec<u32>,
    /// Stations in each cell, by the edge length of the cells, m.
    in_cells: BTreeMap<u32, BTreeMap<Cell, Vec<u32>>>,
    has_paved: bool,
    /// Highest free speed of all lanes, m/s.
    fastest: f64,
}

/// Maximum number of trips whose results are kept between requests.
const MOST_KNOWN: usize = 4096;

/// Data derived from the ground of a world for requests of behaviours. It is created for the first
/// request, shared by all later ones, and not saved.
#[derive(Default)]
pub(crate) struct KeptTrips {
    /// The ground to which the data belongs.
    ground: Option<Arc<Ground>>,
    state: State,
    /// Fixed obstacles, without vehicles.
    obstacles: Option<OpenGround>,
}

impl KeptTrips {
    /// Drops the data if it belongs to another ground. Call this before lending anything.
    pub(crate) fn belong_to(&mut self, ground: &Arc<Ground>) {
        let is_same = |own: &Arc<Ground>| Arc::ptr_eq(own, ground);
        if !self.ground.as_ref().is_some_and(is_same) {
            *self = Self {
                ground: Some(ground.clone()),
                ..Self::default()
            };
        }
    }

    /// Lends the map and the known trips. [`Self::take_back`] returns them.
    pub(crate) fn lend<'a>(&mut self, ground: &'a Ground) -> MixedTrips<'a> {
        MixedTrips {
            ground,
            state: RefCell::new(std::mem::take(&mut self.state)),
        }
    }

    pub(crate) fn take_back(&mut self, trips: MixedTrips<'_>) {
        self.state = trips.state.into_inner();
        if self.state.known.len() > MOST_KNOWN {
            self.state.known.clear();
        }
    }

    /// Lends the map of fixed obstacles, which `make` builds for the first request. [`Self::take_back_obstacles`]
    /// returns it.
    pub(crate) fn lend_obstacles(&mut self, make: impl FnOnce() -> OpenGround) -> OpenGround {
        self.obstacles.take().unwrap_or_else(make)
    }

    /// Takes back the map of fixed obstacles, from which all other items have been removed.
    pub(crate) fn take_back_obstacles(&mut self, map: OpenGround) {
        self.obstacles = Some(map);
    }
}

impl<'a> MixedTrips<'a> {
    pub(crate) fn new(ground: &'a Ground) -> Self {
        Self {
            ground,
            state: RefCell::default(),
        }
    }

    pub(crate) fn ground(&self) -> &'a Ground {
        self.ground
    }

    /// Finds the fastest trip between two places on lanes and over open ground; `None` if the
    /// search finds none within the maximum number of nodes.
    pub(crate) fn quickest(&self, traveller: &Traveller, ends: [End; 2]) -> Option<Itinerary> {
        let graph = self.ground.graph();
        let mut state = self.state.borrow_mut();
        let State { prepared, known } = &mut *state;
        let key = key(traveller, &ends);
        if let Some(found) = known.get(&key) {
            return found.clone();
        }
        let prepared = prepared.get_or_insert_with(|| Prepared::of(self.ground));
        let places = ends.map(|end| end.place(graph));
        let length = (places[1] - places[0]).length();
        let coarsest = SIZES.iter().position(|(_, most)| length <= *most);
        let coarsest = coarsest.unwrap_or(SIZES.len() - 1);
        // Coarse cells may close gaps, so finer ones are tried if no trip is found.
        let found = SIZES[..=coarsest].iter().rev().find_map(|(size, _)| {
            let mut search = Search::new(graph, prepared, traveller, *size)?;
            search.find(ends)
        });
        known.insert(key, found.clone());
        found
    }
}

impl End {
    fn place(&self, graph: &LaneGraph) -> DVec2 {
        match *self {
            Self::Lane(LaneSpot { lanelet, s }) => graph.line(lanelet).position(s),
            Self::Ground(place) => place,
        }
    }
}

/// Key for storing the result of a query.
fn key(traveller: &Traveller, ends: &[End; 2]) -> Vec<u64> {
    let body = &traveller.body;
    let mut key: Vec<u64> = [
        body.length,
        body.width,
        body.height,
        body.ground_clearance,
        traveller.max_speed,
    ]
    .map(f64::to_bits)
    .to_vec();
    key.push(u64::from(traveller.class.number()));
    key.push(traveller.off_road as u64);
    for effect in traveller.effects.iter() {
        key.push(crate::hash::of_words([effect].into_iter()));
    }
    for end in ends {
        match *end {
            End::Lane(LaneSpot { lanelet, s }) => {
                key.extend([0, u64::from(lanelet.number()), s.to_bits()]);
            }
            End::Ground(place) => key.extend([1, place.x.to_bits(), place.y.to_bits()]),
        }
    }
    key
}

impl Prepared {
    fn of(ground: &Ground) -> Self {
        let graph = ground.graph();
        let (mut stations, mut firsts) = (Vec::new(), Vec::new());
        let mut fastest = 0.0f64;
        for (id, lanelet) in graph.numbered() {
            firsts.push(stations.len() as u32);
            fastest = fastest.max(lanelet.free_speed);
            let count = (lanelet.length() / SPACING).ceil().max(1.0) as u32;
            for number in 0..=count {
                let s = lanelet.length() * f64::from(number) / f64::from(count);
                stations.push(Station {
                    lanelet: id,
                    s,
                    place: graph.line(id).position(s),
                });
            }
        }
        firsts.push(stations.len() as u32);
        Self {
            map: FixedItems::of(ground).map(),
            stations,
            firsts,
            in_cells: BTreeMap::new(),
            has_paved: ground
                .land()
                .values()
                .any(|land| land.usage == LandUse::Paved),
            fastest,
        }
    }

    /// Range of the stations of a lanelet.
    fn of_lanelet(&self, id: LaneletIndex) -> std::ops::Range<u32> {
        self.firsts[id.index()]..self.firsts[id.index() + 1]
    }

    /// Builds the table that lists, for each cell, the stations where a trip may join a lane.
    fn locate(&mut self, graph: &LaneGraph, size: CellSize) {
        let Self {
            in_cells, stations, ..
        } = self;
        in_cells.entry(size.metres() as u32).or_insert_with(|| {
            let mut cells: BTreeMap<Cell, Vec<u32>> = BTreeMap::new();
            for (number, station) in (0..).zip(&*stations) {
                let cell = size.cell_of(station.place);
                let cell = cell.filter(|_| is_beside_ground(graph, station.lanelet));
                if let Some(cell) = cell {
                    cells.entry(cell).or_default().push(number);
                }
            }
            cells
        });
    }
}

/// Whether a lane is at ground level and outside junctions, so that trips may join and leave it.
fn is_beside_ground(graph: &LaneGraph, id: LaneletIndex) -> bool {
    let lanelet = graph.lanelet(id);
    lanelet.layer == 0 && !lanelet.is_connection()
}

/// Kind of a node. A cell that the trip visits before it joins the lanes and the same cell after it
/// has left them are different nodes, so that a vehicle can join the lanes only once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Start,
    Before,
    After,
    Leaving,
    Arriving,
    Goal,
}

/// A node of the search: a cell, or a station by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Node {
    kind: Kind,
    x: i32,
    y: i32,
}

impl Node {
    const START: Self = Self {
        kind: Kind::Start,
        x: 0,
        y: 0,
    };
    const GOAL: Self = Self {
        kind: Kind::Goal,
        x: 0,
        y: 0,
    };

    fn cell(kind: Kind, cell: Cell) -> Self {
        Self {
            kind,
            x: cell.x,
            y: cell.y,
        }
    }

    fn station(part: TripPart, number: u32) -> Self {
        let kind = match part {
            TripPart::Leaving => Kind::Leaving,
            TripPart::Arriving => Kind::Arriving,
        };
        Self {
            kind,
            x: number as i32,
            y: 0,
        }
    }

    fn as_cell(self) -> Cell {
        Cell::new(self.x, self.y)
    }
}

#[derive(Debug, Clone, Copy)]
struct Label {
    cost: u64,
    parent: Node,
    is_closed: bool,
}

/// State of one search for a trip.
struct Search<'a> {
    graph: &'a LaneGraph,
    prepared: &'a mut Prepared,
    traveller: &'a Traveller,
    profile: ProfileId,
    size: CellSize,
    /// Speed on plain ground, m/s.
    ground_speed: f64,
    /// Highest speed on lanes and over ground, used for estimates, m/s.
    top_speed: f64,
    ends: [End; 2],
    /// Positions of the start and the goal, m.
    places: [DVec2; 2],
    labels: HashMap<Node, Label>,
    queue: BinaryHeap<Reverse<(u64, Node)>>,
}

fn milliseconds(seconds: f64) -> u64 {
    (1000.0 * seconds).round().max(0.0) as u64
}

impl<'a> Search<'a> {
    fn new(
        graph: &'a LaneGraph,
        prepared: &'a mut Prepared,
        traveller: &'a Traveller,
        size: f64,
    ) -> Option<Self> {
        let size = CellSize::new(size)?;
        prepared.locate(graph, size);
        let profile = prepared.map.add_profile(Profile {
            effects: traveller.effects.clone(),
            ..Profile::new(traveller.body, size)
        });
        let ground_speed = traveller.ground_speed();
        let on_ground = match prepared.has_paved {
            true => 2.0 * ground_speed,
            false => ground_speed,
        };
        Some(Self {
            top_speed: on_ground.max(prepared.fastest.min(traveller.max_speed)),
            graph,
            prepared,
            traveller,
            profile,
            size,
            ground_speed,
            ends: [End::Ground(DVec2::ZERO); 2],
            places: [DVec2::ZERO; 2],
            labels: HashMap::new(),
            queue: BinaryHeap::new(),
        })
    }

    fn find(&mut self, ends: [End; 2]) -> Option<Itinerary> {
        self.ends = ends;
        self.places = ends.map(|end| end.place(self.graph));
        self.push(Node::START, Node::START, 0);
        let mut expanded = 0;
        while let Some(Reverse((_, node))) = self.queue.pop() {
            let label = self.labels.get_mut(&node)?;
            if label.is_closed {
                continue;
            }
            label.is_closed = true;
            let cost = label.cost;
            if node == Node::GOAL {
                return Some(Itinerary {
                    parts: self.parts(),
                });
            }
            expanded += 1;
            if expanded > MOST {
                return None;
            }
            match node.kind {
                Kind::Start => self.expand_start(),
                Kind::Before | Kind::After => self.expand_cell(node, cost),
                Kind::Leaving => self.expand_station(node, TripPart::Leaving, cost),
                Kind::Arriving => self.expand_station(node, TripPart::Arriving, cost),
                Kind::Goal => {}
            }
        }
        None
    }

    fn push(&mut self, node: Node, parent: Node, cost: u64) {
        let known = self.labels.get(&node);
        if known.is_some_and(|label| label.is_closed || label.cost <= cost) {
            return;
        }
        let label = Label {
            cost,
            parent,
            is_closed: false,
        };
        self.labels.insert(node, label);
        let left = (self.place(node) - self.places[1]).length() - 2.0 * self.size.metres();
        let estimate = (1000.0 * left.max(0.0) / self.top_speed).floor() as u64;
        self.queue.push(Reverse((cost + estimate, node)));
    }

    fn place(&self, node: Node) -> DVec2 {
        match node.kind {
            Kind::Start => self.places[0],
            Kind::Goal => self.places[1],
            Kind::Before | Kind::After => self.size.centre(node.as_cell()),
            Kind::Leaving | Kind::Arriving => self.prepared.stations[node.x as usize].place,
        }
    }

    fn is_free(&self) -> bool {
        self.traveller.off_road == OffRoad::Free
    }

    /// Kind of the cells that the trip enters when it leaves the lanes; `None` if it may not leave them.
    fn kind_beside_lanes(&self) -> Option<Kind> {
        match (self.is_free(), self.ends[1]) {
            (true, _) => Some(Kind::Before),
            (false, End::Ground(_)) => Some(Kind::After),
            (false, End::Lane(_)) => None,
        }
    }

    fn expand_start(&mut self) {
        let spot = match self.ends[0] {
            End::Ground(place) => {
                if let Some(cell) = self.size.cell_of(place) {
                    self.push(Node::cell(Kind::Before, cell), Node::START, 0);
                }
                return;
            }
            End::Lane(spot) => spot,
        };
        if let End::Lane(goal) = self.ends[1]
            && goal.lanelet == spot.lanelet
            && goal.s >= spot.s
        {
            let time = self.time_along(spot.lanelet, goal.s - spot.s);
            self.push(Node::GOAL, Node::START, milliseconds(time));
        }
        let mut ahead = self.prepared.of_lanelet(spot.lanelet);
        let next = ahead.find(|&number| self.prepared.stations[number as usize].s >= spot.s);
        if let Some(next) = next {
            let way = self.prepared.stations[next as usize].s - spot.s;
            let time = self.time_along(spot.lanelet, way);
            self.push(
                Node::station(TripPart::Leaving, next),
                Node::START,
                milliseconds(time),
            );
        }
        self.leave(Node::START, spot.lanelet, 0);
    }

    /// Driving time for the distance `way` (m) along a lanelet, s.
    fn time_along(&self, id: LaneletIndex, way: f64) -> f64 {
        let speed = self.graph.lanelet(id).free_speed;
        way / speed.min(self.traveller.max_speed)
    }

    /// Expands a node on a lane to the open-ground cell at its position, if the vehicle may leave
    /// the lane there.
    fn leave(&mut self, node: Node, lanelet: LaneletIndex, cost: u64) {
        let Some(kind) = self.kind_beside_lanes() else {
            return;
        };
        let cell = self.size.cell_of(self.place(node));
        if let Some(cell) = cell.filter(|_| is_beside_ground(self.graph, lanelet)) {
            self.push(Node::cell(kind, cell), node, cost + milliseconds(LEAVING));
        }
    }

    fn expand_station(&mut self, node: Node, part: TripPart, cost: u64) {
        let number = node.x as u32;
        let station = self.prepared.stations[number as usize];
        let id = station.lanelet;
        let stations = self.prepared.of_lanelet(id);
        let is_last = number + 1 == stations.end;
        let next_s = match is_last {
            true => f64::INFINITY,
            false => self.prepared.stations[number as usize + 1].s,
        };
        if let End::Lane(goal) = self.ends[1]
            && goal.lanelet == id
            && (station.s..next_s).contains(&goal.s)
        {
            let time = self.time_along(id, goal.s - station.s);
            self.push(Node::GOAL, node, cost + milliseconds(time));
        }
        self.leave(node, id, cost);
        if is_last {
            self.expand_end(node, id, part, cost);
            return;
        }
        let time = self.time_along(id, next_s - station.s);
        self.push(
            Node::station(part, number + 1),
            node,
            cost + milliseconds(time),
        );
        let lanelet = self.graph.lanelet(id);
        for side in [lanelet.left, lanelet.right] {
            if side == NO_LANELET {
                continue;
            }
            let Some(part) = self.enters(id, side, part) else {
                continue;
            };
            let own =
                f64::from(number - stations.start) / f64::from(stations.end - stations.start - 1);
            let theirs = self.prepared.of_lanelet(side);
            let last = theirs.end - theirs.start - 1;
            // Rounded up, so that lane changes never lead backwards.
            let at = theirs.start + ((own * f64::from(last)).ceil() as u32).min(last);
            self.push(Node::station(part, at), node, cost + milliseconds(CHANGE));
        }
    }

    /// Adds the lanelets that follow `id` to the queue.
    fn expand_end(&mut self, node: Node, id: LaneletIndex, part: TripPart, cost: u64) {
        for &next in self.graph.successors(id) {
            let Some(part) = self.enters(id, next, part) else {
                continue;
            };
            let turn = match self.graph.lanelet(next).kind {
                LaneletKind::Connection { turn, .. } => match turn {
                    Turn::Straight => 0.0,
                    Turn::Left | Turn::Right => TURN,
                    Turn::UTurn => U_TURN,
                },
                LaneletKind::Lane { .. } => 0.0,
            };
            let first = self.prepared.of_lanelet(next).start;
            self.push(Node::station(part, first), node, cost + milliseconds(turn));
        }
    }

    /// Returns the part of the trip that the vehicle is in after it has driven from one lanelet
    /// onto another; `None` if this is not allowed.
    fn enters(&self, from: LaneletIndex, to: LaneletIndex, part: TripPart) -> Option<TripPart> {
        let (before, after) = (self.graph.lanelet(from), self.graph.lanelet(to));
        let onto = part.onto(before.road_access, after.road_access);
        onto.filter(|_| after.access.admits(self.traveller.class))
    }

    fn factor(&mut self, cell: Cell) -> u32 {
        let factor = self
            .prepared
            .map
            .factor(self.profile, cell, Reading::Everything);
        if factor > 0 {
            return factor;
        }
        let centre = self.size.centre(cell);
        let reach = OPEN.max(self.size.metres());
        let is_opened = self
            .places
            .iter()
            .any(|place| (*place - centre).length() < reach);
        if is_opened { OPENED } else { 0 }
    }

    fn expand_cell(&mut self, node: Node, cost: u64) {
        let cell = node.as_cell();
        let own = self.factor(cell).max(1);
        if let End::Ground(goal) = self.ends[1]
            && self.size.cell_of(goal) == Some(cell)
        {
            self.push(Node::GOAL, node, cost);
        }
        let factors = Direction::ALL.map(|direction| self.factor(cell.toward(direction)));
        let straight = 1000.0 * self.size.metres() / (2.0 * f64::from(PLAIN) * self.ground_speed);
        for direction in Direction::ALL {
            let at = direction.index();
            let cuts = || factors[(at + 7) & 7] == 0 || factors[(at + 1) & 7] == 0;
            if factors[at] == 0 || direction.is_diagonal() && cuts() {
                continue;
            }
            let length = if direction.is_diagonal() { SQRT_2 } else { 1.0 };
            let time = length * straight * f64::from(own + factors[at]);
            let next = Node::cell(node.kind, cell.toward(direction));
            self.push(next, node, cost + time.round() as u64);
        }
        if node.kind == Kind::Before {
            self.join(node, cell, cost);
        }
    }

    fn join(&mut self, node: Node, cell: Cell, cost: u64) {
        let cells = self.prepared.in_cells.get(&(self.size.metres() as u32));
        let Some(here) = cells.and_then(|cells| cells.get(&cell)).cloned() else {
            return;
        };
        for number in here {
            let station = self.prepared.stations[number as usize];
            let lanelet = self.graph.lanelet(station.lanelet);
            let admits = lanelet.access.admits(self.traveller.class);
            if admits && lanelet.road_access.admits_goals() && self.has_room_to_join(&station) {
                self.push(
                    Node::station(TripPart::Leaving, number),
                    node,
                    cost + milliseconds(JOINING),
                );
            }
        }
    }

    /// Whether a vehicle that joins a lane at a station has enough room to turn into the lane
    /// before it reaches its goal. If the goal is too close to the start of the lane, the vehicle
    /// may join at the start.
    fn has_room_to_join(&self, station: &Station) -> bool {
        let End::Lane(goal) = self.ends[1] else {
            return true;
        };
        let room = goal.s - station.s;
        goal.lanelet != station.lanelet || room < 0.0 || room >= ROOM_TO_JOIN.min(goal.s)
    }

    /// The parts of the trip that was found.
    fn parts(&self) -> Vec<Part> {
        let mut chain = vec![Node::GOAL];
        while let Some(last) = chain.last()
            && *last != Node::START
            && let Some(label) = self.labels.get(last)
        {
            chain.push(label.parent);
        }
        chain.reverse();
        let mut parts: Vec<Part> = Vec::new();
        // Cost at which the previous part began.
        let mut began = 0;
        for node in chain {
            let cost = self.labels.get(&node).map_or(0, |label| label.cost);
            match self.spot(node) {
                Some(spot) => match parts.last_mut() {
                    Some(Part::Lanes { to, .. }) => *to = spot,
                    _ => parts.push(Part::Lanes {
                        from: spot,
                        to: spot,
                    }),
                },
                None => {
                    let place = self.place(node);
                    if let Some(Part::Ground { points, time }) = parts.last_mut() {
                        points.push(place);
                        *time = (cost - began) as f64 / 1000.0;
                    } else {
                        began = cost;
                        parts.push(Part::Ground {
                            points: vec![place],
                            time: 0.0,
                        });
                    }
                }
            }
        }
        parts
    }

    /// Place of a node on its lane; `None` on open ground.
    fn spot(&self, node: Node) -> Option<LaneSpot> {
        let of_end = |end: End| match end {
            End::Lane(spot) => Some(spot),
            End::Ground(_) => None,
        };
        match node.kind {
            Kind::Start => of_end(self.ends[0]),
            Kind::Goal => of_end(self.ends[1]),
            Kind::Before | Kind::After => None,
            Kind::Leaving | Kind::Arriving => {
                let station = self.prepared.stations[node.x as usize];
                Some(LaneSpot {
                    lanelet: station.lanelet,
                    s: station.s,
                })
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::testing::{draw_street, put_post, street};
    use roadwright_scenario::{Scenario, Shape};

    fn traveller(off_road: OffRoad) -> Traveller {
        Traveller {
            off_road,
            ..Traveller::from(&VehicleType::willys_mb())
        }
    }

    /// Creates two streets that are 400 m apart in the west and 60 m apart at their eastern ends.
    fn streets() -> Scenario {
        let mut scenario = Scenario::new("streets");
        let style = street(1, 1);
        draw_street(&mut scenario, (-400.0, 0.0), (0.0, 0.0), &style);
        draw_street(&mut scenario, (60.0, 0.0), (460.0, 0.0), &style);
        scenario
    }

    fn kinds(trip: &Itinerary) -> String {
        let kind = |part: &Part| match part {
            Part::Lanes { .. } => 'l',
            Part::Ground { .. } => 'g',
        };
        trip.parts.iter().map(kind).collect()
    }

    /// The lane nearest to a place that leads in the direction of the x axis.
    fn lane(ground: &Ground, x: f64) -> End {
        let pose = roadwright_geometry::Pose::new(x, -1.75, 0.0);
        let spot = ground.finder().under(ground.graph(), pose)[0];
        End::Lane(LaneSpot {
            lanelet: spot.0,
            s: spot.1,
        })
    }

    #[test]
    fn a_trip_changes_between_lanes_and_ground_where_it_takes_the_least_time() {
        let ground = Ground::new(&streets());
        let trips = MixedTrips::new(&ground);
        let needed = traveller(OffRoad::WhenNeeded);
        let trip = |from: End, to: End| trips.quickest(&needed, [from, to]).unwrap();
        let beside = |x: f64, y: f64| End::Ground(DVec2::new(x, y));
        // For a trip of 300 m along the street, the lanes are quicker. For a trip of 20 m, the
        // ground is quicker.
        assert_eq!(
            kinds(&trip(beside(-350.0, -30.0), beside(-50.0, -30.0))),
            "glg"
        );
        assert_eq!(
            kinds(&trip(beside(-350.0, -30.0), beside(-330.0, -30.0))),
            "g"
        );
        assert_eq!(
            kinds(&trip(lane(&ground, -350.0), beside(-50.0, -30.0))),
            "lg"
        );
        assert_eq!(
            kinds(&trip(beside(-350.0, -30.0), lane(&ground, -50.0))),
            "gl"
        );
        // The vehicle leaves the lane before it is level with its goal, because the diagonal over
        // the ground is shorter.
        let to_field = trip(lane(&ground, -350.0), beside(-50.0, -150.0));
        let Part::Lanes { to, .. } = to_field.parts[0] else {
            panic!("{to_field:?}");
        };
        let exit = ground.graph().line(to.lanelet).position(to.s);
        assert!((-250.0..-60.0).contains(&exit.x), "{exit}");
    }

    #[test]
    fn unconnected_lanes_are_joined_over_open_ground_by_free_vehicles_only() {
        let ground = Ground::new(&streets());
        let trips = MixedTrips::new(&ground);
        let ends = [lane(&ground, -300.0), lane(&ground, 360.0)];
        let free = trips.quickest(&traveller(OffRoad::Free), ends).unwrap();
        assert_eq!(kinds(&free), "lgl");
        let changes: Vec<Goal> = free.changes().collect();
        assert!(matches!(
            changes[..],
            [Goal::Leave { .. }, Goal::Join { .. }]
        ));
        assert_eq!(trips.quickest(&traveller(OffRoad::WhenNeeded), ends), None);
    }

    #[test]
    fn lanes_are_joined_well_before_a_goal_on_them() {
        let ground = Ground::new(&streets());
        let trips = MixedTrips::new(&ground);
        let free = traveller(OffRoad::Free);
        for (goal, most) in [(360.0, 330.0), (75.0, 62.0)] {
            let beside = End::Ground(DVec2::new(goal, -60.0));
            let trip = trips
                .quickest(&free, [beside, lane(&ground, goal)])
                .unwrap();
            let Some(Part::Lanes { from, .. }) = trip.parts.last() else {
                panic!("{trip:?}");
            };
            let joined = ground.graph().line(from.lanelet).position(from.s).x;
            assert!(joined <= most, "{goal}: joins at {joined}");
        }
    }

    #[test]
    fn the_trip_goes_round_what_stands_on_the_ground() {
        let mut scenario = streets();
        let wall = Shape::Box {
            x: 30.0.into(),
            y: 0.0.into(),
            heading: 0.0.into(),
            length: 2.0.into(),
            width: 80.0.into(),
        };
        put_post(&mut scenario, wall);
        let ground = Ground::new(&scenario);
        let trips = MixedTrips::new(&ground);
        let ends = [lane(&ground, -300.0), lane(&ground, 360.0)];
        let free = trips.quickest(&traveller(OffRoad::Free), ends).unwrap();
        let points = free.parts.iter().find_map(|part| match part {
            Part::Ground { points, .. } => Some(points.clone()),
            Part::Lanes { .. } => None,
        });
        let farthest = points
            .unwrap()
            .iter()
            .map(|point| point.y.abs())
            .fold(0.0, f64::max);
        assert!(farthest > 40.0, "{farthest}");
    }
}
