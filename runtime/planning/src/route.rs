//! The fastest way through the road graph, lane by lane.

use roadwright_agent::{
    Entry, Logic, ModuleInfo, ParameterInfo, ParameterSet, Planner, PlannerView,
};
use roadwright_geometry::DVec2;
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::junction::Turn;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletId, LaneletKind, NO_LANELET};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Mutex;

static INFO: ModuleInfo = ModuleInfo {
    id: "route",
    name: "Fastest route",
    doc: "Finds the way of least travel time and the lanes that lead along it.",
};

static PARAMETERS: [ParameterInfo; 3] = [
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
        "delay_weight",
        "",
        (0.0, 10.0),
        1.0,
        "How much standing traffic counts.",
    ),
];

/// Lane changes on lanelets shorter than this are avoided, m.
const SHORT_LANELET: f64 = 25.0;
/// What a lane change on a short lanelet costs on top, s.
const SHORT_PENALTY: f64 = 10.0;

/// A* over the lanes of the road graph by travel time: the lane to drive in follows from the next
/// turns, because only some lanes lead into each.
///
/// A route is a list of lanelets; where two neighbours in it lie side by side, the lane is changed.
#[derive(Default)]
pub struct RoutePlanner {
    /// Arrays of the last search. What stands in them is never read again, so which thread gets
    /// them changes no result; without them a search starts with fresh ones.
    scratch: Mutex<Scratch>,
}

/// Memory that searches use one after the other.
#[derive(Default)]
struct Scratch {
    marks: Vec<Mark>,
    stamp: u32,
}

impl RoutePlanner {
    /// The module as it is registered.
    pub fn entry() -> Entry<dyn Planner> {
        Entry::<dyn Planner>::new(INFO, &PARAMETERS, || Box::new(Self::default()))
    }
}

impl Logic for RoutePlanner {}

impl Planner for RoutePlanner {
    fn step(
        &self,
        parameters: &ParameterSet,
        view: &PlannerView<'_>,
        inputs: &[PlannerInput],
        routes: &mut Vec<LaneletId>,
        outputs: &mut [PlannerOutput],
    ) {
        let mut kept = self.scratch.try_lock().ok();
        let scratch = kept.as_deref_mut().map(std::mem::take).unwrap_or_default();
        let mut search = Search::new(view, parameters, scratch);
        for (input, output) in inputs.iter().zip(outputs) {
            *output = search.run(input, routes);
        }
        if let Some(kept) = kept.as_deref_mut() {
            *kept = Scratch {
                marks: search.marks,
                stamp: search.stamp,
            };
        }
    }
}

/// Marks a parent that is a lane beside the start, by its place in the list of those.
const FROM_BESIDE: u32 = 1 << 31;

/// An open lanelet; ordered so that the heap gives the least cost, then the least id.
#[derive(PartialEq)]
struct Open {
    estimate: f64,
    lanelet: LaneletId,
}

impl Eq for Open {}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .estimate
            .total_cmp(&self.estimate)
            .then_with(|| other.lanelet.cmp(&self.lanelet))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What the search knows of a lanelet; valid if its stamp is the current one.
#[derive(Clone, Copy)]
struct Mark {
    stamp: u32,
    closed: bool,
    cost: f64,
    parent: LaneletId,
}

/// Arrays that several searches of one batch share.
struct Search<'a> {
    graph: &'a LaneGraph,
    delays: &'a [f32],
    change_time: f64,
    turn_time: f64,
    delay_weight: f64,
    top_speed: f64,
    marks: Vec<Mark>,
    stamp: u32,
    open: BinaryHeap<Open>,
}

impl<'a> Search<'a> {
    fn new(view: &PlannerView<'a>, parameters: &ParameterSet, mut scratch: Scratch) -> Self {
        let fresh = Mark {
            stamp: 0,
            closed: false,
            cost: 0.0,
            parent: NO_LANELET,
        };
        let lanelets = view.graph.lanelets().len();
        // Stamps of another graph, or used up ones, would be taken for marks of this one.
        if scratch.marks.len() != lanelets || scratch.stamp == u32::MAX {
            scratch = Scratch {
                marks: vec![fresh; lanelets],
                stamp: 0,
            };
        }
        Self {
            graph: view.graph,
            delays: view.delays,
            change_time: parameters.at(0),
            turn_time: parameters.at(1),
            delay_weight: parameters.at(2),
            top_speed: view.graph.top_speed(),
            marks: scratch.marks,
            stamp: scratch.stamp,
            open: BinaryHeap::new(),
        }
    }

    /// One search. The cost of a lanelet is that of reaching its start.
    ///
    /// The lanes beside the start, which need no driving to reach, are kept apart from the others:
    /// a goal behind on one of them is reached by going round, not by a lane change.
    fn run(&mut self, input: &PlannerInput, routes: &mut Vec<LaneletId>) -> PlannerOutput {
        self.stamp = self.stamp.saturating_add(1);
        self.open.clear();
        let start = self.graph.lanelet(input.strip);
        let goal = self.graph.line(input.goal_strip).position(input.goal_s);
        let share = input.s / start.length();
        let beside = self.lanes_beside(input);
        for (place, &(lane, changing)) in beside.iter().enumerate() {
            let lanelet = self.graph.lanelet(lane);
            let here = share * lanelet.length();
            if lane == input.goal_strip && input.goal_s >= here {
                let first = routes.len() as u32;
                routes.extend(Self::way_beside(&beside, place));
                return PlannerOutput {
                    start: first,
                    count: routes.len() as u32 - first,
                    travel_time: changing + (input.goal_s - here) / lanelet.speed_limit,
                };
            }
            let through = changing - here / lanelet.speed_limit + self.traverse_time(lane);
            for &next in self.graph.successors(lane) {
                self.reach(
                    next,
                    FROM_BESIDE | place as u32,
                    through,
                    goal,
                    input.bus != 0,
                );
            }
        }
        while let Some(Open { lanelet, .. }) = self.open.pop() {
            let mark = &mut self.marks[lanelet as usize];
            if mark.closed {
                continue;
            }
            mark.closed = true;
            let cost = mark.cost;
            if lanelet == input.goal_strip {
                return self.answer(input, cost, &beside, routes);
            }
            self.expand(lanelet, cost, goal, input.bus != 0);
        }
        PlannerOutput::default()
    }

    /// The start and the lanes that can be changed to from it, with the time that changing costs;
    /// from the nearest outwards.
    fn lanes_beside(&self, input: &PlannerInput) -> Vec<(LaneletId, f64)> {
        let mut lanes = vec![(input.strip, 0.0)];
        if input.may_change_first == 0 {
            return lanes;
        }
        for to_left in [true, false] {
            let (mut lane, mut cost) = (input.strip, 0.0);
            loop {
                let lanelet = self.graph.lanelet(lane);
                let side = if to_left { lanelet.left } else { lanelet.right };
                let usable =
                    side != NO_LANELET && (input.bus != 0 || !self.graph.lanelet(side).bus_only);
                if !usable {
                    break;
                }
                cost += self.change_cost(lane);
                lane = side;
                lanes.push((lane, cost));
            }
        }
        lanes
    }

    /// The lanes from the start to one beside it.
    fn way_beside(
        beside: &[(LaneletId, f64)],
        place: usize,
    ) -> impl Iterator<Item = LaneletId> + '_ {
        // The list holds the start, all lanes to the left, then all lanes to the right.
        let first_right = (2..beside.len())
            .find(|&i| beside[i].1 <= beside[i - 1].1)
            .unwrap_or(beside.len());
        let from = if place >= first_right { first_right } else { 1 };
        std::iter::once(beside[0].0).chain((from..=place).map(|i| beside[i].0))
    }

    /// What a lane change on a lanelet is worth, s.
    fn change_cost(&self, id: LaneletId) -> f64 {
        let short = self.graph.lanelet(id).length() < SHORT_LANELET;
        self.change_time + if short { SHORT_PENALTY } else { 0.0 }
    }

    fn expand(&mut self, id: LaneletId, cost: f64, goal: DVec2, bus: bool) {
        let lanelet = self.graph.lanelet(id);
        let through = cost + self.traverse_time(id);
        for &next in self.graph.successors(id) {
            self.reach(next, id, through, goal, bus);
        }
        let changed = cost + self.change_cost(id);
        for side in [lanelet.left, lanelet.right] {
            if side != NO_LANELET {
                self.reach(side, id, changed, goal, bus);
            }
        }
    }

    fn traverse_time(&self, id: LaneletId) -> f64 {
        let lanelet = self.graph.lanelet(id);
        let turning = match lanelet.kind {
            LaneletKind::Connection { turn, .. } => match turn {
                Turn::Straight => 0.0,
                Turn::Left | Turn::Right => self.turn_time,
                Turn::UTurn => 4.0 * self.turn_time,
            },
            LaneletKind::Lane { .. } => 0.0,
        };
        let delay = self.delays.get(id as usize).copied().unwrap_or(0.0);
        lanelet.length() / lanelet.speed_limit + turning + self.delay_weight * f64::from(delay)
    }

    fn reach(&mut self, id: LaneletId, parent: LaneletId, cost: f64, goal: DVec2, bus: bool) {
        let lanelet = self.graph.lanelet(id);
        if lanelet.bus_only && !bus {
            return;
        }
        let mark = &mut self.marks[id as usize];
        let known = mark.stamp == self.stamp;
        if known && (mark.closed || mark.cost <= cost) {
            return;
        }
        *mark = Mark {
            stamp: self.stamp,
            closed: false,
            cost,
            parent,
        };
        // The straight line at top speed: consistent, because a cost is that of a lanelet's start.
        let left = (self.graph.line(id).position(0.0) - goal).length();
        let estimate = cost + left / self.top_speed;
        self.open.push(Open {
            estimate,
            lanelet: id,
        });
    }

    /// Follows the parents back from the goal.
    fn answer(
        &self,
        input: &PlannerInput,
        cost: f64,
        beside: &[(LaneletId, f64)],
        routes: &mut Vec<LaneletId>,
    ) -> PlannerOutput {
        let start = routes.len();
        let mut lanelet = input.goal_strip;
        while lanelet & FROM_BESIDE == 0 {
            routes.push(lanelet);
            lanelet = self.marks[lanelet as usize].parent;
        }
        let mut first: Vec<_> =
            Self::way_beside(beside, (lanelet & !FROM_BESIDE) as usize).collect();
        first.reverse();
        routes.extend(first);
        routes[start..].reverse();
        PlannerOutput {
            start: start as u32,
            count: (routes.len() - start) as u32,
            travel_time: cost + input.goal_s / self.graph.lanelet(input.goal_strip).speed_limit,
        }
    }
}
