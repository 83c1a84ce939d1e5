//! The alley rule in a small model: all networks of up to four alleys with up to six vehicles.
//!
//! ```text
//!     o====o====(P)====o      alleys between vertices. At a vertex with a place P, a vehicle can stand between two
//!          |                  alleys; at others, alleys touch. At every vertex, vehicles enter and leave by a wide
//!          o                  street.
//! ```
//!
//! The model makes decisions with [`Alleys::are_free`] and [`Alleys::keep_for`], as a run does. It
//! simplifies the roads and the motion of vehicles: driving through an alley takes [`THROUGH`]
//! seconds. Loops and routes that use an alley twice are left out. Only one of several isomorphic
//! networks is tested, and only one of two arrangements that are mirror images of each other. All
//! arrangements of six vehicles are tested if there are at most [`Budget::all`] of them. Otherwise,
//! all arrangements of fewer vehicles and [`Budget::drawn`] random arrangements of six are tested.

use super::*;
use roadwright_geometry::math::Stream;
use roadwright_testing::is_slow;
use std::collections::BTreeSet;

/// Time that a vehicle takes to drive through an alley, s.
const THROUGH: u32 = 7;
/// Number of vehicles.
const VEHICLES: usize = 6;
/// Times between the requests of consecutive vehicles, s.
const HEADWAYS: [u32; 2] = [0, 3];
/// A model counts as deadlocked after this time without any change, s.
const DEADLOCKED: u32 = 2 * TURN_AFTER as u32;

/// A network of alleys between vertices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Network {
    /// The vertices that each alley joins.
    ends: Vec<[usize; 2]>,
    /// For each vertex, whether a vehicle can stand there between two alleys.
    has_place: Vec<bool>,
}

/// Alleys that a vehicle drives through, in order.
type Route = Vec<AlleySide>;

impl Network {
    fn start(&self, side: AlleySide) -> usize {
        self.ends[side.alley as usize][usize::from(side.is_second)]
    }

    fn end(&self, side: AlleySide) -> usize {
        self.start(side.opposite())
    }

    fn sides(&self) -> impl Iterator<Item = AlleySide> + '_ {
        (0..self.ends.len() as u32).flat_map(AlleySide::both)
    }

    /// Creates all connected networks with the given number of alleys, one of each isomorphism
    /// class.
    fn all(alleys: usize) -> Vec<Self> {
        let pairs: Vec<[usize; 2]> = (0..=alleys)
            .flat_map(|a| (a + 1..=alleys).map(move |b| [a, b]))
            .collect();
        let orders = orders(alleys + 1);
        let mut found = BTreeSet::new();
        for choice in 0..pairs.len().pow(alleys as u32) {
            let picked = (0..alleys as u32).map(|i| choice / pairs.len().pow(i) % pairs.len());
            let picked: Vec<usize> = picked.collect();
            if !picked.is_sorted() {
                continue;
            }
            let ends: Vec<[usize; 2]> = picked.into_iter().map(|pair| pairs[pair]).collect();
            let vertices = ends.iter().flatten().max().map_or(0, |last| last + 1);
            if !is_connected(&ends, vertices) {
                continue;
            }
            for places in 0..1u32 << vertices {
                let degree = |vertex| ends.iter().flatten().filter(|&&end| end == vertex).count();
                let has_place: Vec<bool> = (0..vertices)
                    .map(|vertex| degree(vertex) < 2 || places >> vertex & 1 == 1)
                    .collect();
                let network = Self {
                    ends: ends.clone(),
                    has_place,
                };
                let renamed = orders.iter().filter_map(|order| network.renamed(order));
                found.extend(renamed.min());
            }
        }
        found.into_iter().collect()
    }

    /// Returns the network with renumbered vertices; `None` if a number is too large.
    fn renamed(&self, order: &[usize]) -> Option<Self> {
        let vertices = self.has_place.len();
        let mut has_place = vec![false; vertices];
        for (vertex, &place) in self.has_place.iter().enumerate() {
            *has_place.get_mut(order[vertex])? = place;
        }
        let ends = self.ends.iter().map(|ends| {
            let [a, b] = ends.map(|end| order[end]);
            [a.min(b), a.max(b)]
        });
        let mut ends: Vec<[usize; 2]> = ends.collect();
        ends.sort_unstable();
        Some(Self { ends, has_place })
    }

    /// All routes that use no alley twice.
    fn routes(&self) -> Vec<Route> {
        let mut routes: Vec<Route> = self.sides().map(|side| vec![side]).collect();
        let mut next = 0;
        while let Some(route) = routes.get(next).cloned() {
            for side in self.sides() {
                let follows = self.start(side) == self.end(route[route.len() - 1]);
                if follows && route.iter().all(|used| used.alley != side.alley) {
                    routes.push([&route[..], &[side]].concat());
                }
            }
            next += 1;
        }
        routes
    }

    /// Indices of routes that represent all routes up to symmetry of the network.
    fn first_routes(&self, routes: &[Route]) -> Vec<usize> {
        let images = self.images();
        let number = |route: &Route| routes.iter().position(|other| other == route);
        let is_first = |&own: &usize| {
            let others = images.iter().filter_map(|image| {
                let sides = routes[own].iter().map(|&side| {
                    let to = image[side.alley as usize];
                    AlleySide {
                        is_second: to.is_second != side.is_second,
                        ..to
                    }
                });
                number(&sides.collect())
            });
            others.min().is_none_or(|least| own <= least)
        };
        (0..routes.len()).filter(is_first).collect()
    }

    /// Symmetries of the network. Each maps the first side of each alley to a side.
    fn images(&self) -> Vec<Vec<AlleySide>> {
        let count = self.ends.len();
        let turned = 0..1u32 << count;
        let all = orders(count).into_iter().flat_map(|order| {
            turned.clone().map(move |turned| {
                let sides = order.iter().enumerate().map(|(i, &alley)| AlleySide {
                    alley: alley as u32,
                    is_second: turned >> i & 1 == 1,
                });
                sides.collect::<Vec<_>>()
            })
        });
        let keeps = |image: &Vec<AlleySide>| {
            let mut to: Vec<Option<usize>> = vec![None; self.has_place.len()];
            let ends = self.ends.iter().zip(image);
            let mut pairs =
                ends.flat_map(|([a, b], &side)| [(*a, self.start(side)), (*b, self.end(side))]);
            pairs.all(|(vertex, other)| {
                *to[vertex].get_or_insert(other) == other
                    && self.has_place[vertex] == self.has_place[other]
            })
        };
        all.filter(keeps).collect()
    }
}

/// All permutations of the numbers below `count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let shorter = orders(last).into_iter();
    let longer = shorter
        .flat_map(|order| (0..count).map(move |at| [&order[..at], &[last], &order[at..]].concat()));
    longer.collect()
}

fn is_connected(ends: &[[usize; 2]], vertices: usize) -> bool {
    let mut reached: BTreeSet<usize> = [0].into();
    for _ in 0..vertices {
        for [a, b] in ends {
            if reached.contains(a) || reached.contains(b) {
                reached.extend([*a, *b]);
            }
        }
    }
    reached.len() == vertices
}

/// Alleys and space that a vehicle reserves before it enters an alley.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reserved {
    /// All alleys up to a place to stand, and space at that place. This is the actual rule.
    UpToRoom,
    /// The first alley only.
    FirstAlley,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Comes { at: u32 },
    Waits { since: u32 },
    Inside { until: u32 },
    Gone,
}

#[derive(Debug, Clone, Copy)]
struct Vehicle {
    /// Index of the route.
    route: usize,
    /// Route index of the next alley, or of the alley that the vehicle is in.
    at: usize,
    /// Number of alleys of the route that the vehicle has been granted.
    granted: usize,
    state: State,
    /// Number of vehicles with earlier requests that had not been let in at the time of the
    /// request.
    earlier: u32,
}

/// A run of the model.
struct Model<'a> {
    network: &'a Network,
    routes: &'a [Route],
    reserved: Reserved,
    /// Whether alleys are reserved for vehicles that have waited for a long time.
    takes_turns: bool,
    /// Number of vehicles that can stand at a place.
    room: usize,
    time: u32,
    vehicles: Vec<Vehicle>,
    alleys: Alleys,
}

/// Outcome of a run that went wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    AllGone,
    /// No vehicle moves, although at least one of them has space ahead.
    Deadlock,
    /// Every vehicle at the front of a queue waits for space that another vehicle occupies.
    FullRing,
    /// A vehicle has waited longer than the theorem allows.
    TooLong,
}

impl<'a> Model<'a> {
    fn new(network: &'a Network, routes: &'a [Route], reserved: Reserved) -> Self {
        Self {
            network,
            routes,
            reserved,
            takes_turns: true,
            room: VEHICLES,
            time: 0,
            vehicles: Vec::new(),
            alleys: Alleys::default(),
        }
    }

    /// Runs the model with vehicles on the given routes, which arrive in this order.
    fn run(&mut self, arrangement: &[usize], headway: u32) -> End {
        self.time = 0;
        self.alleys.held.clear();
        self.vehicles.clear();
        let vehicles = arrangement.iter().zip(0..).map(|(&route, number)| Vehicle {
            route,
            at: 0,
            granted: 0,
            state: State::Comes {
                at: number * headway,
            },
            earlier: 0,
        });
        self.vehicles.extend(vehicles);
        let (mut changed, mut end) = (0, None);
        while end.is_none() {
            if self.step(&mut end) {
                changed = self.time;
            }
            let mut states = self.vehicles.iter().map(|vehicle| vehicle.state);
            if states.all(|state| state == State::Gone) {
                return End::AllGone;
            }
            if self.time > changed + DEADLOCKED {
                return match self.is_ring() {
                    true => End::FullRing,
                    false => End::Deadlock,
                };
            }
            self.time += 1;
        }
        end.unwrap_or(End::AllGone)
    }

    fn route(&self, vehicle: usize) -> &'a [AlleySide] {
        &self.routes[self.vehicles[vehicle].route]
    }

    /// Takes a step of one second. Returns whether any vehicle has moved.
    fn step(&mut self, end: &mut Option<End>) -> bool {
        let mut changed = false;
        for number in 0..self.vehicles.len() {
            match self.vehicles[number].state {
                State::Comes { at } if at <= self.time => {
                    self.request(number);
                    changed = true;
                }
                State::Comes { .. } => changed = true,
                _ => {}
            }
        }
        self.alleys.begin();
        for number in self.in_order() {
            let State::Waits { since } = self.vehicles[number].state else {
                continue;
            };
            if self.decide(number) == Refusal::None {
                changed = true;
                // The bound of the theorem, for the longest possible section.
                let earlier = self.vehicles[number].earlier;
                // A following vehicle starts one second later.
                let through = (THROUGH + 1) * self.network.ends.len() as u32;
                let bound = TURN_AFTER as u32 + (earlier + 1) * through + 1;
                let is_covered = self.reserved == Reserved::UpToRoom && self.room == VEHICLES;
                if is_covered && self.time - since > bound {
                    *end = Some(End::TooLong);
                }
            }
        }
        for number in 0..self.vehicles.len() {
            if matches!(self.vehicles[number].state, State::Inside { until } if until <= self.time)
            {
                self.leave(number);
                changed = true;
            }
        }
        changed
            || self
                .vehicles
                .iter()
                .any(|one| matches!(one.state, State::Inside { .. }))
    }

    fn request(&mut self, number: usize) {
        let waits = |one: &&Vehicle| matches!(one.state, State::Waits { .. });
        let earlier = self.vehicles.iter().filter(waits).count();
        self.vehicles[number].earlier = earlier as u32;
        self.vehicles[number].state = State::Waits { since: self.time };
    }

    /// The vehicles at the front of their queues, in the order of their requests.
    fn in_order(&self) -> Vec<usize> {
        let mut waiting: Vec<(u32, usize)> = Vec::with_capacity(VEHICLES);
        for (number, vehicle) in self.vehicles.iter().enumerate() {
            if let State::Waits { since } = vehicle.state {
                waiting.push((since, number));
            }
        }
        waiting.sort_unstable();
        let mut first: Vec<usize> = Vec::with_capacity(VEHICLES);
        for (_, number) in waiting {
            if first
                .iter()
                .all(|&other| self.lane(other) != self.lane(number))
            {
                first.push(number);
            }
        }
        first
    }

    /// Place where a vehicle waits: the alley that it came from (`Ok`), or the start vertex of its
    /// route (`Err`).
    fn lane(&self, number: usize) -> Result<AlleySide, usize> {
        let (route, at) = (self.route(number), self.vehicles[number].at);
        match at.checked_sub(1) {
            Some(before) => Ok(route[before]),
            None => Err(self.network.start(route[0])),
        }
    }

    /// Decides a request. If it is refused, returns the reason.
    fn decide(&mut self, number: usize) -> Refusal {
        let agent = AgentIndex::new(number as u32);
        let Vehicle { at, state, .. } = self.vehicles[number];
        let State::Waits { since } = state else {
            return Refusal::None;
        };
        let route = self.route(number);
        let last = self.last_needed(route, at);
        let needs = (at..=last).map(|at| AlleyNeed {
            side: route[at],
            at: at as u32,
        });
        let mut lists = std::mem::take(&mut self.alleys.lists.needs);
        lists.clear();
        lists.extend(needs);
        let is_free = self.alleys.are_free(agent, &lists, |_, _| true, |_| false);
        self.alleys.lists.needs = lists;
        if !is_free {
            if self.takes_turns {
                let age = f64::from(self.time - since);
                self.alleys.keep_for(agent, age);
            }
            return Refusal::Alley;
        }
        if last + 1 < route.len() && self.taken(route[last]) >= self.room {
            return Refusal::NoRoom;
        }
        // A vehicle that has stopped inside an alley now leaves it.
        self.alleys.held.retain(|hold| hold.agent != agent);
        let held = route[at..=last].iter().zip(at as u32..);
        self.alleys.held.extend(held.map(|(&side, at)| Hold {
            agent,
            side,
            at,
            lanelet: LaneletIndex::new(0),
            has_entered: true,
        }));
        self.vehicles[number].granted = last + 1;
        self.vehicles[number].state = State::Inside {
            until: self.time + THROUGH,
        };
        Refusal::None
    }

    /// Index of the last alley that must be granted together with the one at index `at` of `route`.
    fn last_needed(&self, route: &[AlleySide], at: usize) -> usize {
        let can_stand = |&last: &usize| self.network.has_place[self.network.end(route[last])];
        let last = (at..route.len()).find(can_stand).unwrap_or(route.len() - 1);
        match self.reserved {
            Reserved::UpToRoom => last,
            Reserved::FirstAlley => at,
        }
    }

    /// Number of vehicles that stand, or will stand, after an alley.
    fn taken(&self, side: AlleySide) -> usize {
        let stands = |&number: &usize| {
            let Vehicle {
                at, granted, state, ..
            } = self.vehicles[number];
            let route = self.route(number);
            match state {
                State::Waits { .. } => at > 0 && route[at - 1] == side,
                State::Inside { .. } => granted < route.len() && route[granted - 1] == side,
                State::Comes { .. } | State::Gone => false,
            }
        };
        (0..self.vehicles.len()).filter(stands).count()
    }

    /// Moves a vehicle out of its alley.
    fn leave(&mut self, number: usize) {
        let agent = AgentIndex::new(number as u32);
        let route = self.route(number);
        let at = self.vehicles[number].at;
        let release = |alleys: &mut Alleys| {
            (alleys.held).retain(|hold| (hold.agent, hold.at) != (agent, at as u32));
        };
        self.vehicles[number].at = at + 1;
        if at + 1 == route.len() {
            release(&mut self.alleys);
            self.vehicles[number].state = State::Gone;
        } else if at + 1 < self.vehicles[number].granted {
            release(&mut self.alleys);
            self.vehicles[number].state = State::Inside {
                until: self.time + THROUGH,
            };
        } else {
            // Where alleys touch, the vehicle stays inside the alley.
            if self.network.has_place[self.network.end(route[at])] {
                release(&mut self.alleys);
            }
            self.request(number);
        }
    }

    /// Whether all vehicles at the front of their queues are refused because there is no room.
    fn is_ring(&mut self) -> bool {
        self.alleys.begin();
        let first = self.in_order();
        first
            .into_iter()
            .all(|number| self.decide(number) == Refusal::NoRoom)
    }
}

/// Numbers of arrangements that are tested per network.
struct Budget {
    /// All arrangements are tested if their number is at most this.
    all: usize,
    /// Number of random arrangements of six vehicles.
    drawn: u64,
}

impl Budget {
    fn of_this_run() -> Self {
        match is_slow() {
            true => Self {
                all: 1_000_000,
                drawn: 100_000,
            },
            false => Self {
                all: 20_000,
                drawn: 1_000,
            },
        }
    }

    /// Calls a function for each tested arrangement of a network. Returns the largest number of
    /// vehicles for which all arrangements were tested.
    fn for_each(
        &self,
        network: &Network,
        routes: &[Route],
        mut visit: impl FnMut(&[usize]),
    ) -> usize {
        let first = network.first_routes(routes);
        let mut complete = 0;
        for count in 1..=VEHICLES {
            let rest = routes.len().pow(count as u32 - 1);
            if first.len() * rest > self.all {
                break;
            }
            let mut arrangement = vec![0; count];
            for &route in &first {
                arrangement[0] = route;
                for mut code in 0..rest {
                    for place in &mut arrangement[1..] {
                        *place = code % routes.len();
                        code /= routes.len();
                    }
                    visit(&arrangement);
                }
            }
            complete = count;
        }
        if complete < VEHICLES {
            for number in 0..self.drawn {
                let mut random = Stream::new(1, "alleys", number);
                let drawn = [0; VEHICLES].map(|_| random.next_index(routes.len()));
                visit(&drawn);
            }
        }
        complete
    }
}

fn networks() -> Vec<Network> {
    (1..=4).flat_map(Network::all).collect()
}

#[test]
fn networks_and_routes_are_counted_once() {
    // Numbers of connected graphs without loops but with parallel edges, for 1 to 4 edges: 1, 2, 5,
    // 12 (OEIS A076864). Each is tested with and without places at its inner vertices.
    let with_places: Vec<usize> = (1..=4)
        .map(|alleys| {
            let all = Network::all(alleys).into_iter();
            all.filter(|network| network.has_place.iter().all(|&place| place))
                .count()
        })
        .collect();
    assert_eq!(with_places, [1, 2, 5, 12]);
    let one = &Network::all(1)[0];
    let routes = one.routes();
    assert_eq!((routes.len(), one.first_routes(&routes)), (2, vec![0]));
    assert!(Network::all(2).len() > 3 && Network::all(4).len() > 30);
}

#[test]
fn every_vehicle_enters_within_the_bound() {
    let (budget, mut runs) = (Budget::of_this_run(), 0);
    for network in networks() {
        let routes = network.routes();
        let mut model = Model::new(&network, &routes, Reserved::UpToRoom);
        let complete = budget.for_each(&network, &routes, |arrangement| {
            for headway in HEADWAYS {
                let end = model.run(arrangement, headway);
                assert_eq!(end, End::AllGone, "{network:?} {arrangement:?} {headway}");
                runs += 1;
            }
        });
        let least = match (network.ends.len(), is_slow()) {
            (1, _) | (2, true) => VEHICLES,
            (_, true) => 3,
            (_, false) => 2,
        };
        assert!(complete >= least, "{network:?}: {complete}");
    }
    println!("{runs} runs");
}

/// If the lanes beyond do not drain, vehicles wait for each other only in rings of full lanes.
#[test]
fn where_lanes_do_not_drain_only_full_rings_stand() {
    let (budget, mut rings) = (Budget::of_this_run(), 0);
    for network in networks() {
        let routes = network.routes();
        let mut model = Model::new(&network, &routes, Reserved::UpToRoom);
        model.room = 1;
        budget.for_each(&network, &routes, |arrangement| {
            let end = model.run(arrangement, 0);
            assert!(
                matches!(end, End::AllGone | End::FullRing),
                "{end:?} {network:?} {arrangement:?}"
            );
            rings += u32::from(end == End::FullRing);
        });
    }
    assert!(rings > 0);
}

/// Control test: without the reservation beyond the first alley, vehicles face each other.
#[test]
fn without_the_reservation_beyond_an_alley_vehicles_face_each_other() {
    let touching = Network {
        ends: vec![[0, 1], [1, 2]],
        has_place: vec![true, false, true],
    };
    let routes = touching.routes();
    let through = |from: usize| {
        let leads = |route: &Route| route.len() == 2 && touching.start(route[0]) == from;
        routes.iter().position(leads).unwrap()
    };
    let arrangement = [through(0), through(2)];
    let mut model = Model::new(&touching, &routes, Reserved::FirstAlley);
    assert_eq!(model.run(&arrangement, 0), End::Deadlock);
    let mut model = Model::new(&touching, &routes, Reserved::UpToRoom);
    assert_eq!(model.run(&arrangement, 0), End::AllGone);
}

/// Control test: without reservations for vehicles that have waited for a long time, a vehicle
/// waits too long.
#[test]
fn without_turns_a_vehicle_waits_too_long() {
    let one = &Network::all(1)[0];
    let routes = one.routes();
    let arrangement = [0, 1, 0, 0, 0, 0];
    let mut model = Model::new(one, &routes, Reserved::UpToRoom);
    assert_eq!(model.run(&arrangement, 3), End::AllGone);
    model.takes_turns = false;
    assert_eq!(model.run(&arrangement, 3), End::TooLong);
}
