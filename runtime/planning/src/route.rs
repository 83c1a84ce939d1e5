//! The fastest route through the lane graph, lane by lane.

use crate::costs::{Bounds, Costs, Crossing, Weights};
use crate::lane_changes::{Room, give_room, room_for};
use crate::route_queue::RouteQueue;
use roadwright_agent::{
    Logic, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Planner, PlannerView, Step,
};
use roadwright_geometry::threads::map_on_all_threads;
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::lane_graph::{
    LaneGraph, LaneletIndex, NO_LANELET, ROOM_FOR_CHANGE, SearchPlace, ViaPlaces,
};
use roadwright_scenario::{TripPart, VehicleClass};
use std::sync::{Arc, Mutex, PoisonError};

static INFO: ModuleInfo = ModuleInfo {
    id: "route",
    name: "Fastest route",
    doc: "Finds the fastest route and the lanes to use along it.",
};

static PARAMETERS: [ParameterInfo; 4] = [
    ParameterInfo::number(
        "lane_change_time",
        "s",
        (0.0, 60.0),
        3.0,
        "Time penalty of a lane change.",
    ),
    ParameterInfo::number(
        "turn_time",
        "s",
        (0.0, 60.0),
        1.5,
        "Time penalty of a turn at a junction.",
    ),
    ParameterInfo::number(
        "change_distance",
        "m",
        (0.0, 2000.0),
        200.0,
        "Minimum distance at which required lane changes are planned before the point where they \
         must be complete.",
    ),
    ParameterInfo::number(
        "delay_weight",
        "",
        (0.0, 10.0),
        1.0,
        "Weight of delays caused by queues.",
    ),
];

/// Additional cost of a lane change on a road that is too short for it, s. It is so high that nearly any
/// other route is better.
const CRAMPED: f64 = 120.0;

/// Finds routes by A* over the lanes of the road graph, by travel time. The next turns determine the choice
/// of lane, because only some lanes lead into each turn.
///
/// A route is a list of lanelets. A pair of consecutive lanelets that are side by side is a lane change.
/// Landmarks (`costs.rs`), which all instances of the module share, guide the search.
pub struct RoutePlanner {
    costs: Arc<Shared>,
    /// Arrays of earlier searches, kept to reuse their memory. Their contents are never reused, so any thread
    /// can use them. If all of them are in use, a search allocates new ones.
    scratch: Mutex<Vec<Scratch>>,
}

/// Number of routes in a group. One thread searches for all routes of a group, one after another, with the
/// same arrays.
const TOGETHER: usize = 32;
/// Minimum number of groups for which several threads are used.
const FEW_GROUPS: usize = 4;

/// Inputs that all searches of a batch share.
struct Batch<'a> {
    view: &'a PlannerView<'a>,
    costs: &'a Costs,
    delay_weight: f64,
    change_distance: f64,
}

/// Answers to a group of requests, with their own list of lanelets.
struct Answers {
    routes: Vec<LaneletIndex>,
    outputs: Vec<PlannerOutput>,
}

/// Number of graphs whose costs are cached.
const KEPT: usize = 4;

/// Costs of the most recently used graphs, the latest one last.
#[derive(Default)]
struct Shared(Mutex<Vec<Arc<Costs>>>);

impl Shared {
    /// Returns the costs of a graph. They are computed only once, and shared by all worlds with the same
    /// parameters and with modules from the same registry.
    fn of(&self, graph: &LaneGraph, weights: Weights) -> Arc<Costs> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |costs: &Arc<Costs>| costs.is_of(graph, weights);
        let costs = match kept.iter().position(fits) {
            Some(known) => kept.remove(known),
            // Computed while the lock is held, so that worlds that need the same graph at the same time wait
            // for one computation instead of each doing it.
            None => Arc::new(Costs::new(graph, weights)),
        };
        // The least recently used entry is dropped. Each use moves an entry to the end.
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(costs.clone());
        costs
    }
}

/// Memory reused by consecutive searches.
#[derive(Default)]
struct Scratch {
    marks: Vec<Mark>,
    stamp: u32,
    open: RouteQueue,
}

impl RoutePlanner {
    /// Registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Planner> {
        let costs = Arc::new(Shared::default());
        ModuleEntry::<dyn Planner>::new(INFO, &PARAMETERS, move || {
            Box::new(Self {
                costs: costs.clone(),
                scratch: Mutex::default(),
            })
        })
    }
}

impl Logic for RoutePlanner {}

impl Planner for RoutePlanner {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        view: &PlannerView<'_>,
        inputs: &[PlannerInput],
        routes: &mut Vec<LaneletIndex>,
        outputs: &mut [PlannerOutput],
    ) {
        let weights = Weights {
            change_time: parameters.value("lane_change_time"),
            turn_time: parameters.value("turn_time"),
        };
        let costs = self.costs.of(view.graph, weights);
        let batch = Batch {
            view,
            costs: &costs,
            delay_weight: parameters.value("delay_weight"),
            change_distance: parameters.value("change_distance"),
        };
        // Searches do not depend on each other, so the routes are the same for any number of threads.
        let groups: Vec<&[PlannerInput]> = inputs.chunks(TOGETHER).collect();
        let found = map_on_all_threads(&groups, FEW_GROUPS, |group| self.answer(&batch, group));
        let mut outputs = outputs.iter_mut();
        for answers in found {
            let first = routes.len() as u32;
            routes.extend(answers.routes);
            // The order matters: `zip` must not take an item from the longer list when the shorter one ends.
            for (answer, output) in answers.outputs.into_iter().zip(outputs.by_ref()) {
                // An answer without a route has no entry in the list.
                let first = if answer.count > 0 { first } else { 0 };
                *output = PlannerOutput {
                    start: first + answer.start,
                    ..answer
                };
            }
        }
    }
}

impl RoutePlanner {
    /// Finds the routes for a slice of the inputs, one after another.
    fn answer(&self, batch: &Batch<'_>, inputs: &[PlannerInput]) -> Answers {
        let kept = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = kept().pop().unwrap_or_default();
        let mut search = Search::new(batch.view, batch.costs, batch.delay_weight, scratch);
        let mut routes = Vec::new();
        let outputs = inputs.iter().map(|input| {
            let output = search.run(input, &mut routes);
            let run = output.start as usize..(output.start + output.count) as usize;
            give_room(&mut routes[run], &batch.room(input));
            output
        });
        let outputs = outputs.collect();
        kept().push(search.scratch);
        Answers { routes, outputs }
    }
}

impl<'a> Batch<'a> {
    /// Returns the inputs for moving the lane changes of a trip.
    fn room(&self, input: &PlannerInput) -> Room<'a> {
        let first = self.view.graph.lanelet(input.lanelet.into()).length() - input.s;
        Room {
            graph: self.view.graph,
            class: VehicleClass::from_number(input.bus),
            ahead: self.change_distance,
            // No room, so that no lane change is moved back onto the starting lane.
            first: if input.may_change_first == 0 {
                0.0
            } else {
                first
            },
            goal: input.goal_s,
            delays: self.view.delays,
        }
    }
}

// The lanes beside the start are not ordinary nodes of the search. Example: three lanes side by side, the
// start on B, and a change costs 3 s:
//
//   A  ----------------------->      beside = [B 0 s, A 3 s, C 3 s]: the start, then all lanes
//   B  --[goal]----[start]---->      to its left, then all to its right
//   C  ----------------------->
//
// The goal lies behind the start on the same lanelet. If B were a single node, it would be reached at no cost
// before the search begins. Instead, B beside the start is a parent of its successors, and B as a node is
// reached by driving round the block.

// With restricted roads, the permitted continuation depends on the history: a vehicle that has entered
// private ground may not leave it again. Each lanelet is therefore two nodes of the search: number `id` on
// the outward part, over ever less restricted roads, and `id + places` on the inward part to the goal. Only
// the island of the goal is ever entered.
//
//   start --[private]--> [all] --> [all] --> [private]--> goal
//             id           id        id      id + places

// Connections are not nodes. A move from a lane to the next lane stands for the connection between them and has
// the cost of both.

/// Node of the search: a place ([`ViaPlaces`]) on the outward or the inward part of the trip.
type Node = u32;

/// Flag of a parent that is a lane beside the start. The other bits are its index in the list of these lanes.
const FROM_BESIDE: u32 = 1 << 31;

/// Goal of a search.
struct Target<'a> {
    lanelet: LaneletIndex,
    /// Whether the goal is so close to the start of its lanelet that it could not be reached after a change
    /// to this lanelet.
    is_at_start: bool,
    bounds: Bounds<'a>,
    class: VehicleClass,
}

/// Search state of a node; valid if its stamp is the current one.
#[derive(Clone, Copy)]
struct Mark {
    stamp: u32,
    is_closed: bool,
    parent: Node,
    /// Connection that leads from the parent to the node; [`NO_LANELET`] if there is none.
    by: LaneletIndex,
    cost: f64,
    /// Lower bound of the cost from this node to the goal.
    left: f64,
}

impl Mark {
    /// A mark that belongs to no search.
    const NONE: Self = Self {
        stamp: 0,
        is_closed: false,
        parent: 0,
        by: NO_LANELET,
        cost: 0.0,
        left: 0.0,
    };
}

/// The arrival of a search at a node: its parent, connection and cost.
#[derive(Clone, Copy)]
struct Arrival {
    parent: u32,
    /// Connection that leads from the parent to the node; [`NO_LANELET`] if there is none.
    by: LaneletIndex,
    cost: f64,
}

/// Whether a search applies via-way restrictions to a trip that starts on a via way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ViaRules {
    Kept,
    Ignored,
}

/// State of consecutive searches over the same graph.
struct Search<'a> {
    graph: &'a LaneGraph,
    costs: &'a Costs,
    /// Restrictions with via ways, if there are any.
    via: Option<&'a ViaPlaces>,
    /// Whether there are neither restricted roads nor restrictions with via ways, so that every lanelet is one
    /// node.
    is_open: bool,
    /// Number of places of the graph; equal to the number of lanelets if no restriction has via ways.
    places: u32,
    delays: &'a [f32],
    delay_weight: f64,
    scratch: Scratch,
}

impl<'a> Search<'a> {
    fn new(
        view: &PlannerView<'a>,
        costs: &'a Costs,
        delay_weight: f64,
        mut scratch: Scratch,
    ) -> Self {
        let parts = if costs.islands.is_some() { 2 } else { 1 };
        let lanelets = view.graph.lanelets().len();
        let via = view.graph.via_places();
        let places = via.map_or(lanelets, ViaPlaces::count);
        let nodes = parts * places;
        // The marks fit only graphs of this size, and a stamp must not have been used before.
        if scratch.marks.len() != nodes || scratch.stamp == u32::MAX {
            scratch.marks = vec![Mark::NONE; nodes];
            scratch.stamp = 0;
        }
        Self {
            graph: view.graph,
            costs,
            via,
            is_open: via.is_none() && costs.islands.is_none(),
            places: places as u32,
            delays: view.delays,
            delay_weight,
            scratch,
        }
    }

    /// Finds the fastest route. If a trip begins on a via way, for example after replanning, the vehicle may
    /// have come from the road where the restriction begins, so the restriction is applied. It is ignored
    /// only if there is no other route.
    fn run(&mut self, input: &PlannerInput, routes: &mut Vec<LaneletIndex>) -> PlannerOutput {
        let found = self.search(input, ViaRules::Kept, routes);
        if found.count > 0 || self.via.is_none() {
            return found;
        }
        self.search(input, ViaRules::Ignored, routes)
    }

    /// Runs a single search. The cost of a lanelet is the cost of reaching its start.
    ///
    /// The lanes beside the start are reached without driving and are not nodes of the search. A goal behind
    /// the start on one of these lanes is reached by driving around the block, and not by a lane change.
    fn search(
        &mut self,
        input: &PlannerInput,
        rules: ViaRules,
        routes: &mut Vec<LaneletIndex>,
    ) -> PlannerOutput {
        self.scratch.stamp += 1;
        self.scratch.open.clear();
        let graph = self.graph;
        let goal = LaneletIndex::new(input.goal_lanelet);
        if !graph.lanelet(goal).road_access.admits_goals() {
            return PlannerOutput::default();
        }
        let target = Target {
            lanelet: goal,
            is_at_start: input.goal_s < ROOM_FOR_CHANGE,
            bounds: self.costs.bounds_to(goal),
            class: VehicleClass::from_number(input.bus),
        };
        // In a bend, parallel lanes differ in length, so the position is expressed as a fraction of the
        // length, which is the same for all of them.
        let share = input.s / self.graph.lanelet(input.lanelet.into()).length();
        let beside = self.lanes_beside(input);
        for (place, &(lane, changing)) in beside.iter().enumerate() {
            let lanelet = self.graph.lanelet(lane);
            let here = share * lanelet.length();
            if lane == goal && input.goal_s >= here {
                let first = routes.len() as u32;
                routes.extend(Self::route_beside(&beside, place));
                return PlannerOutput {
                    start: first,
                    count: routes.len() as u32 - first,
                    travel_time: changing + lanelet.free_time(input.goal_s - here),
                };
            }
            // From the middle of a lanelet, only the rest of it is driven, but its whole turn cost
            // and delay are included.
            let through = changing - lanelet.free_time(here) + self.traverse_time(lane);
            // A lane beside the start represents its outward node, whatever its access, because a trip that
            // begins on private ground may leave it.
            let via = self.via.filter(|_| rules == ViaRules::Kept);
            let start = via.map_or(lane.number(), |via| via.careful(lane));
            let parent = FROM_BESIDE | place as u32;
            self.drive_on(start, lane, parent, through, &target);
        }
        while let Some(node) = self.scratch.open.pop() {
            let mark = &mut self.scratch.marks[node as usize];
            if mark.is_closed {
                continue;
            }
            // A node may be in the queue several times with decreasing costs. It is first taken at its lowest
            // cost, and later entries are outdated.
            mark.is_closed = true;
            let cost = mark.cost;
            if self.lanelet_of(node) == target.lanelet {
                return self.answer(input, node, cost, &beside, routes);
            }
            self.expand(node, cost, &target);
        }
        PlannerOutput::default()
    }

    /// Returns the start and the lanes that can be reached from it by lane changes, with the time for the
    /// changes. The start is followed by all lanes to its left and then by all lanes to its right, each from
    /// the start outwards.
    fn lanes_beside(&self, input: &PlannerInput) -> Vec<(LaneletIndex, f64)> {
        let class = VehicleClass::from_number(input.bus);
        let own = LaneletIndex::new(input.lanelet);
        let mut lanes = vec![(own, 0.0)];
        if input.may_change_first == 0 {
            return lanes;
        }
        for to_left in [true, false] {
            let (mut lane, mut cost) = (own, 0.0);
            loop {
                let lanelet = self.graph.lanelet(lane);
                let side = if to_left { lanelet.left } else { lanelet.right };
                let usable = side != NO_LANELET && self.graph.lanelet(side).access.admits(class);
                if !usable {
                    break;
                }
                cost += self.costs.change(lane);
                lane = side;
                lanes.push((lane, cost));
            }
        }
        lanes
    }

    /// Returns the lanes from the start to one of the lanes beside it, including both.
    fn route_beside(
        beside: &[(LaneletIndex, f64)],
        place: usize,
    ) -> impl Iterator<Item = LaneletIndex> + '_ {
        // The list contains the start, then all lanes to the left, then all lanes to the right.
        let first_right = (2..beside.len())
            .find(|&i| beside[i].1 <= beside[i - 1].1)
            .unwrap_or(beside.len());
        let from = if place >= first_right { first_right } else { 1 };
        std::iter::once(beside[0].0).chain((from..=place).map(|i| beside[i].0))
    }

    fn lanelet_of(&self, node: Node) -> LaneletIndex {
        let place = self.place_of(node);
        let via = self.via;
        via.map_or_else(|| LaneletIndex::new(place), |via| via.lanelet(place))
    }

    fn place_of(&self, node: Node) -> SearchPlace {
        if node >= self.places {
            node - self.places
        } else {
            node
        }
    }

    /// Returns the node that is reached by driving from another node onto a lanelet; `None` if access or a
    /// restriction forbids it.
    #[inline(always)]
    fn onto(&self, from: Node, id: LaneletIndex, goal: LaneletIndex) -> Option<Node> {
        if self.is_open {
            return Some(id.number());
        }
        self.onto_restricted(from, id, goal)
    }

    /// Like `onto`, on a graph with restricted roads or restrictions with via ways.
    fn onto_restricted(&self, from: Node, id: LaneletIndex, goal: LaneletIndex) -> Option<Node> {
        let place = match self.via {
            Some(via) => via.onto(self.place_of(from), id)?,
            None => id.number(),
        };
        let Some(islands) = &self.costs.islands else {
            return Some(place);
        };
        let part = if from >= self.places {
            TripPart::Arriving
        } else {
            TripPart::Leaving
        };
        let access = |id: LaneletIndex| self.graph.lanelet(id).road_access;
        match part.onto(access(self.lanelet_of(from)), access(id))? {
            TripPart::Leaving => Some(place),
            TripPart::Arriving => islands.are_one(id, goal).then_some(place + self.places),
        }
    }

    fn expand(&mut self, node: Node, cost: f64, target: &Target<'_>) {
        let id = self.lanelet_of(node);
        let through = cost + self.traverse_time(id);
        self.drive_on(node, id, node, through, target);
        let lanelet = self.graph.lanelet(id);
        let mut changed = cost + self.costs.change(id);
        // Only the parent of the cheapest route is known. It may have been reached by a lane change, while a
        // slightly more expensive route that went straight would avoid this cost. Such routes are not found.
        if lanelet.length() < room_for(2) && self.was_changed_to(node) {
            changed += CRAMPED;
        }
        for side in [lanelet.left, lanelet.right] {
            if side != NO_LANELET {
                let is_cramped = side == target.lanelet && target.is_at_start;
                let cost = changed + if is_cramped { CRAMPED } else { 0.0 };
                let arrival = Arrival {
                    parent: node,
                    by: NO_LANELET,
                    cost,
                };
                self.reach(node, side, arrival, target);
            }
        }
    }

    /// Adds the lanes that follow a lanelet to the queue, given the parent of these lanes and the cost at the
    /// lanelet's end.
    #[inline]
    fn drive_on(
        &mut self,
        from: Node,
        id: LaneletIndex,
        parent: u32,
        cost: f64,
        target: &Target<'_>,
    ) {
        let costs = self.costs;
        for &Crossing { by, to } in costs.crossings(id) {
            if by == NO_LANELET {
                self.reach(from, to, Arrival { parent, by, cost }, target);
                continue;
            }
            // A vehicle only passes a connection, so it is not a node of the search unless it is the goal.
            if by == target.lanelet {
                let arrival = Arrival {
                    parent,
                    by: NO_LANELET,
                    cost,
                };
                self.reach(from, by, arrival, target);
            }
            let is_open = costs.access(by).admits(target.class);
            let between = is_open.then(|| self.onto(from, by, target.lanelet));
            if let Some(between) = between.flatten() {
                let cost = cost + self.traverse_time(by);
                self.reach(between, to, Arrival { parent, by, cost }, target);
            }
        }
    }

    /// Whether a lanelet was reached by a lane change.
    fn was_changed_to(&self, node: Node) -> bool {
        let Mark { parent, by, .. } = self.scratch.marks[node as usize];
        if parent & FROM_BESIDE != 0 || by != NO_LANELET {
            return false;
        }
        let lanelet = self.graph.lanelet(self.lanelet_of(node));
        lanelet.beside.contains(&self.lanelet_of(parent))
    }

    fn traverse_time(&self, id: LaneletIndex) -> f64 {
        let delay = self.delays.get(id.index()).copied().unwrap_or(0.0);
        self.costs.through(id) + self.delay_weight * f64::from(delay)
    }

    /// Adds the lanelet reached from a node to the queue, if the vehicle may use the lanelet and no cheaper
    /// path to it is known.
    #[inline]
    fn reach(&mut self, from: Node, id: LaneletIndex, arrival: Arrival, target: &Target<'_>) {
        let Arrival { parent, by, cost } = arrival;
        let Some(node) = self.onto(from, id, target.lanelet) else {
            return;
        };
        let mark = &mut self.scratch.marks[node as usize];
        // The stamp states whether the mark belongs to this search. Marks are not cleared between searches,
        // because a search visits only a small part of the lanelets.
        let left = if mark.stamp == self.scratch.stamp {
            if mark.is_closed || mark.cost <= cost {
                return;
            }
            mark.left
        } else {
            if !self.costs.access(id).admits(target.class) {
                return;
            }
            target.bounds.left_from(id)
        };
        *mark = Mark {
            stamp: self.scratch.stamp,
            is_closed: false,
            parent,
            by,
            cost,
            left,
        };
        // If the bound is infinite, no route leads from here to the goal. The mark is kept, so that the node
        // is not examined again.
        if left.is_finite() {
            // Clamped at 0, because rounding may result in a slightly negative number.
            self.scratch.open.push((cost + left).max(0.0), node);
        }
    }

    /// Follows the parents back from the goal, appends the route to `routes`, and returns the
    /// answer.
    fn answer(
        &self,
        input: &PlannerInput,
        goal: Node,
        cost: f64,
        beside: &[(LaneletIndex, f64)],
        routes: &mut Vec<LaneletIndex>,
    ) -> PlannerOutput {
        let start = routes.len();
        let mut node = goal;
        while node & FROM_BESIDE == 0 {
            routes.push(self.lanelet_of(node));
            let Mark { parent, by, .. } = self.scratch.marks[node as usize];
            if by != NO_LANELET {
                routes.push(by);
            }
            node = parent;
        }
        // The route is traced backwards, whereas the lanes beside the start are appended in forward order.
        let place = (node & !FROM_BESIDE) as usize;
        let first = routes.len();
        routes.extend(Self::route_beside(beside, place));
        routes[first..].reverse();
        routes[start..].reverse();
        let arrival = self.graph.lanelet(input.goal_lanelet.into());
        PlannerOutput {
            start: start as u32,
            count: (routes.len() - start) as u32,
            travel_time: cost + arrival.free_time(input.goal_s),
        }
    }
}
