//! The fastest route through the lane graph, lane by lane.

use crate::costs::{Bounds, Costs, Weights};
use crate::lane_changes::{Room, give_room, room_for};
use crate::via_ways::{Place, ViaWays};
use roadwright_agent::{
    Entry, Logic, ModuleInfo, ParameterInfo, ParameterSet, Planner, PlannerView, Step,
};
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, NO_LANELET, ROOM_FOR_CHANGE};
use roadwright_scenario::{TripPart, VehicleClass};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, PoisonError};

static INFO: ModuleInfo = ModuleInfo {
    id: "route",
    name: "Fastest route",
    doc: "Finds the route of least travel time and the lanes that lead along it.",
};

static PARAMETERS: [ParameterInfo; 4] = [
    ParameterInfo::number(
        "lane_change_time",
        "s",
        (0.0, 60.0),
        3.0,
        "What a lane change is worth.",
    ),
    ParameterInfo::number(
        "turn_time",
        "s",
        (0.0, 60.0),
        1.5,
        "What a turn at a junction costs.",
    ),
    ParameterInfo::number(
        "change_distance",
        "m",
        (0.0, 2000.0),
        200.0,
        "Lane changes that the route needs are planned at least this far before they have to be done.",
    ),
    ParameterInfo::number(
        "delay_weight",
        "",
        (0.0, 10.0),
        1.0,
        "How much standing traffic counts.",
    ),
];

/// What a change on a road without room for it costs on top, s: nearly any other way is better.
const CRAMPED: f64 = 120.0;

/// A* over the lanes of the road graph by travel time: the lane to drive in follows from the next
/// turns, because only some lanes lead into each.
///
/// A route is a list of lanelets; where two neighbours in it lie side by side, the lane is changed.
/// The search is led by landmarks (`costs.rs`), which all instances of the module share.
pub struct RoutePlanner {
    costs: Arc<Shared>,
    /// Arrays of the last search. What stands in them is never read again, so which thread gets
    /// them changes no result; without them a search starts with fresh ones.
    scratch: Mutex<Scratch>,
}

/// Graphs whose costs are kept at once.
const KEPT: usize = 4;

/// The costs of the graphs that were asked about last, the newest last.
#[derive(Default)]
struct Shared(Mutex<Vec<Arc<Costs>>>);

impl Shared {
    /// The costs of a graph: computed once for all worlds on it that have their modules from one
    /// registry, with the same parameters.
    fn of(&self, graph: &LaneGraph, weights: Weights) -> Arc<Costs> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |costs: &Arc<Costs>| costs.is_of(graph, weights);
        let costs = match kept.iter().position(fits) {
            Some(known) => kept.remove(known),
            // Under the lock: worlds that ask for the same graph at the same time wait for one
            // computation and do not each make their own.
            None => Arc::new(Costs::new(graph, weights)),
        };
        // The one that has not been asked about for longest goes: each question moves its own to the end.
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(costs.clone());
        costs
    }
}

/// Memory that searches use one after the other.
#[derive(Default)]
struct Scratch {
    marks: Vec<Mark>,
    stamp: u32,
    open: BinaryHeap<Open>,
}

impl RoutePlanner {
    /// The module as it is registered.
    pub fn entry() -> Entry<dyn Planner> {
        let costs = Arc::new(Shared::default());
        Entry::<dyn Planner>::new(INFO, &PARAMETERS, move || {
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
        // Another thread may be searching with the arrays: then this one makes its own, and does not wait.
        let mut kept = self.scratch.try_lock().ok();
        let scratch = kept.as_deref_mut().map(std::mem::take).unwrap_or_default();
        let mut search = Search::new(view, &costs, parameters.value("delay_weight"), scratch);
        let change_distance = parameters.value("change_distance");
        for (input, output) in inputs.iter().zip(outputs) {
            *output = search.run(input, routes);
            let first = view.graph.lanelet(input.strip.into()).length() - input.s;
            let room = Room {
                graph: view.graph,
                class: VehicleClass::from_number(input.bus),
                ahead: change_distance,
                // No room, so that no change is moved back onto the lane that it starts on.
                first: if input.may_change_first == 0 {
                    0.0
                } else {
                    first
                },
                goal: input.goal_s,
                delays: view.delays,
            };
            let from = output.start as usize;
            give_room(&mut routes[from..from + output.count as usize], &room);
        }
        if let Some(kept) = kept.as_deref_mut() {
            *kept = search.scratch;
        }
    }
}

// The lanes beside the start are no ordinary nodes of the search. Example: three lanes side by side,
// the start on B, a change costs 3 s:
//
//   A  ----------------------->      beside = [B 0 s, A 3 s, C 3 s]: the start, then all lanes
//   B  --[goal]----[start]---->      to its left, then all to its right
//   C  ----------------------->
//
// The goal lies behind the start on its own lanelet. If B were one node, it would be reached at no
// cost before the search begins. As it is, B beside the start is a parent of what follows it, and B
// as a node is reached by driving round the block.

// Where roads are not for all, what may come next depends on how a lanelet was come to: who has
// entered private ground may not leave it again. So each lanelet is two nodes of the search: number
// `id` on the way out, over ever more open roads, and `id + places` on the way in to the goal. Only
// the island of the goal is ever entered.
//
//   start --[private]--> [all] --> [all] --> [private]--> goal
//             id           id        id      id + places

/// A place (`via_ways.rs`) and the part of the trip: what the search goes from and to.
type Node = u32;

/// Marks a parent that is a lane beside the start, by its place in the list of those.
const FROM_BESIDE: u32 = 1 << 31;

/// An open node, ordered by the least cost, then by the least number. Costs are never negative, so
/// their bits are ordered as they are.
type Open = Reverse<(u64, Node)>;

/// What a search looks for.
struct Target<'a> {
    lanelet: LaneletIndex,
    /// Whether it lies so near the start of its lanelet that nobody changes to that one in time.
    is_at_start: bool,
    bounds: Bounds<'a>,
    class: VehicleClass,
}

/// What the search knows of a node; valid if its stamp is the current one.
#[derive(Clone, Copy, Default)]
struct Mark {
    stamp: u32,
    is_closed: bool,
    parent: Node,
    cost: f64,
    /// Lower bound of the cost from here to the goal.
    left: f64,
}

/// One search after the other over the same graph.
struct Search<'a> {
    graph: &'a LaneGraph,
    costs: &'a Costs,
    /// Places of the graph: as many as lanelets where no restriction is by way of roads.
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
        let places = costs.via_ways.as_ref().map_or(lanelets, ViaWays::count);
        let nodes = parts * places;
        // The marks fit graphs of this size only, and a stamp must be new.
        if scratch.marks.len() != nodes || scratch.stamp == u32::MAX {
            scratch.marks = vec![Mark::default(); nodes];
            scratch.stamp = 0;
        }
        Self {
            graph: view.graph,
            costs,
            places: places as u32,
            delays: view.delays,
            delay_weight,
            scratch,
        }
    }

    /// The fastest route. A trip that begins on a way of restrictions may have come along it, as one that is
    /// planned anew has: only where that leaves no route it is looked for as if it had not.
    fn run(&mut self, input: &PlannerInput, routes: &mut Vec<LaneletIndex>) -> PlannerOutput {
        let found = self.search(input, true, routes);
        if found.count > 0 || self.costs.via_ways.is_none() {
            return found;
        }
        self.search(input, false, routes)
    }

    /// One search. The cost of a lanelet is that of reaching its start.
    ///
    /// The lanes beside the start, which need no driving to reach, are kept apart from the others:
    /// a goal behind on one of them is reached by going round, not by a lane change.
    fn search(
        &mut self,
        input: &PlannerInput,
        is_careful: bool,
        routes: &mut Vec<LaneletIndex>,
    ) -> PlannerOutput {
        self.scratch.stamp += 1;
        self.scratch.open.clear();
        let graph = self.graph;
        let goal = LaneletIndex::new(input.goal_strip);
        if !graph.lanelet(goal).road_access.admits_goals() {
            return PlannerOutput::default();
        }
        let target = Target {
            lanelet: goal,
            is_at_start: input.goal_s < ROOM_FOR_CHANGE,
            bounds: self.costs.bounds_to(goal),
            class: VehicleClass::from_number(input.bus),
        };
        // Lanes side by side differ in length in a bend: what they have in common is the share of the
        // way.
        let share = input.s / self.graph.lanelet(input.strip.into()).length();
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
            // From the middle of a lanelet only the rest of it is to be driven; turning and delay count
            // in full.
            let through = changing - lanelet.free_time(here) + self.traverse_time(lane);
            // A lane beside the start stands for its node on the way out, whatever ground it lies on: a
            // trip that begins on private ground leaves it.
            let ways = self.costs.via_ways.as_ref().filter(|_| is_careful);
            let start = ways.map_or(lane.number(), |ways| ways.careful(lane));
            for &next in graph.successors(lane) {
                let parent = FROM_BESIDE | place as u32;
                self.reach((start, next), parent, through, &target);
            }
        }
        while let Some(Reverse((_, node))) = self.scratch.open.pop() {
            let mark = &mut self.scratch.marks[node as usize];
            if mark.is_closed {
                continue;
            }
            // A node may be open several times, with costs that have become less: the first time that
            // it is taken is the least, later ones are stale.
            mark.is_closed = true;
            let cost = mark.cost;
            if self.lanelet_of(node) == target.lanelet {
                return self.answer(input, (node, cost), &beside, routes);
            }
            self.expand(node, cost, &target);
        }
        PlannerOutput::default()
    }

    /// The start and the lanes that can be changed to from it, with the time that changing costs;
    /// from the nearest outwards.
    fn lanes_beside(&self, input: &PlannerInput) -> Vec<(LaneletIndex, f64)> {
        let class = VehicleClass::from_number(input.bus);
        let own = LaneletIndex::new(input.strip);
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

    /// The lanes from the start to one beside it.
    fn route_beside(
        beside: &[(LaneletIndex, f64)],
        place: usize,
    ) -> impl Iterator<Item = LaneletIndex> + '_ {
        // The list holds the start, all lanes to the left, then all lanes to the right.
        let first_right = (2..beside.len())
            .find(|&i| beside[i].1 <= beside[i - 1].1)
            .unwrap_or(beside.len());
        let from = if place >= first_right { first_right } else { 1 };
        std::iter::once(beside[0].0).chain((from..=place).map(|i| beside[i].0))
    }

    fn lanelet_of(&self, node: Node) -> LaneletIndex {
        let place = self.place_of(node);
        let ways = self.costs.via_ways.as_ref();
        ways.map_or_else(|| LaneletIndex::new(place), |ways| ways.lanelet(place))
    }

    fn place_of(&self, node: Node) -> Place {
        if node >= self.places {
            node - self.places
        } else {
            node
        }
    }

    /// The node that driving from another onto a lanelet leads to; `None` if access or a restriction
    /// forbids it.
    #[inline]
    fn onto(&self, from: Node, id: LaneletIndex, goal: LaneletIndex) -> Option<Node> {
        let place = match &self.costs.via_ways {
            Some(ways) => ways.onto(self.place_of(from), id)?,
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
        for &next in self.graph.successors(id) {
            self.reach((node, next), node, through, target);
        }
        let lanelet = self.graph.lanelet(id);
        let mut changed = cost + self.costs.change(id);
        // Only the parent of the cheapest way is known. That one may have come by a change where a
        // dearer one came straight on and would be spared this; such ways are not looked for.
        if lanelet.length() < room_for(2) && self.was_changed_to(node) {
            changed += CRAMPED;
        }
        for side in [lanelet.left, lanelet.right] {
            if side != NO_LANELET {
                let is_cramped = side == target.lanelet && target.is_at_start;
                let cost = changed + if is_cramped { CRAMPED } else { 0.0 };
                self.reach((node, side), node, cost, target);
            }
        }
    }

    /// Whether a lanelet was come to by a change of lane.
    fn was_changed_to(&self, node: Node) -> bool {
        let parent = self.scratch.marks[node as usize].parent;
        if parent & FROM_BESIDE != 0 {
            return false;
        }
        let lanelet = self.graph.lanelet(self.lanelet_of(node));
        lanelet.beside.contains(&self.lanelet_of(parent))
    }

    fn traverse_time(&self, id: LaneletIndex) -> f64 {
        let delay = self.delays.get(id.index()).copied().unwrap_or(0.0);
        self.costs.through(id) + self.delay_weight * f64::from(delay)
    }

    /// Opens the lanelet that is come to from a node at a cost, if it may be driven, and is not
    /// closed or open at less already.
    #[inline]
    fn reach(
        &mut self,
        (from, id): (Node, LaneletIndex),
        parent: u32,
        cost: f64,
        target: &Target<'_>,
    ) {
        let Some(node) = self.onto(from, id, target.lanelet) else {
            return;
        };
        let mark = &mut self.scratch.marks[node as usize];
        // The stamp says whether the mark is of this search: nothing is cleared between searches, which
        // visit a small part of the lanelets.
        let left = if mark.stamp == self.scratch.stamp {
            if mark.is_closed || mark.cost <= cost {
                return;
            }
            mark.left
        } else {
            if !self.graph.lanelet(id).access.admits(target.class) {
                return;
            }
            target.bounds.left_from(id)
        };
        *mark = Mark {
            stamp: self.scratch.stamp,
            is_closed: false,
            parent,
            cost,
            left,
        };
        // Infinite: no route leads from here to the goal. The mark stays, so that it is not looked at again.
        if left.is_finite() {
            // Held at 0, since rounding may leave a little less: the bits of a negative number would
            // sort behind all others.
            let estimate = (cost + left).max(0.0).to_bits();
            self.scratch.open.push(Reverse((estimate, node)));
        }
    }

    /// Follows the parents back from the goal.
    fn answer(
        &self,
        input: &PlannerInput,
        (goal, cost): (Node, f64),
        beside: &[(LaneletIndex, f64)],
        routes: &mut Vec<LaneletIndex>,
    ) -> PlannerOutput {
        let start = routes.len();
        let mut node = goal;
        while node & FROM_BESIDE == 0 {
            routes.push(self.lanelet_of(node));
            node = self.scratch.marks[node as usize].parent;
        }
        // The route has been walked backwards; the lanes beside the start come last and forwards.
        let place = (node & !FROM_BESIDE) as usize;
        let first = routes.len();
        routes.extend(Self::route_beside(beside, place));
        routes[first..].reverse();
        routes[start..].reverse();
        let arrival = self.graph.lanelet(input.goal_strip.into());
        PlannerOutput {
            start: start as u32,
            count: (routes.len() - start) as u32,
            travel_time: cost + arrival.free_time(input.goal_s),
        }
    }
}
