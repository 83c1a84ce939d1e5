//! Plans on a lattice of stations that are a few metres apart along the lanes. From each node a vehicle can
//! continue to the next station, or change lanes over the length that a change takes. Lane changes are
//! therefore planned where there is room for them.
//!
//! A* finds the fastest route through the lattice, whose lanelets are the answer.

use roadwright_plugin_sdk::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Node number that stands for "none".
const NONE: u32 = u32::MAX;

/// The planner with its parameters, and the lattice for the roads of its last request.
#[derive(Debug, Clone, PartialEq)]
pub struct LatticePlanner {
    station: f64,
    change_length: f64,
    change_time: f64,
    turn_time: f64,
    delay_weight: f64,
    /// Version of the roads and spacing of stations for which the lattice was built.
    made_for: Option<(u64, f64)>,
    /// First node of each lanelet, with one extra entry at the end.
    first: Vec<u32>,
    top_speed: f64,
    nodes: Vec<Node>,
    stamp: u32,
}

/// Search state of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    stamp: u32,
    cost: f64,
    from: u32,
    lanelet: u32,
}

/// An open node. The node with the lowest estimate comes first; on a tie, the one with the lowest number.
#[derive(Debug, PartialEq)]
struct Open {
    estimate: f64,
    node: u32,
}

impl Eq for Open {}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed, because the heap returns the greatest element first. On a tie the smaller node is first,
        // so that routes do not depend on the order in which nodes were found.
        other
            .estimate
            .total_cmp(&self.estimate)
            .then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for LatticePlanner {
    fn default() -> Self {
        Self {
            station: 10.0,
            change_length: 20.0,
            change_time: 2.0,
            turn_time: 1.5,
            delay_weight: 1.0,
            made_for: None,
            first: Vec::new(),
            top_speed: 1.0,
            nodes: Vec::new(),
            stamp: 0,
        }
    }
}

impl Plugin for LatticePlanner {
    const INFO: PluginInfo =
        PluginInfo::new("com.example.lattice_planner", "Lattice planner", "1.0.0")
            .author("Roadwright")
            .doc("Finds the fastest route over a lattice of lanes and stations along them.");

    fn parameters(&mut self, list: &mut Parameters<'_>) {
        list.number("station", &mut self.station, 2.0..=50.0)
            .unit("m")
            .doc("Distance between stations along a lane.");
        list.number("change_length", &mut self.change_length, 5.0..=100.0)
            .unit("m")
            .doc("Length of a lane change.");
        list.number("change_time", &mut self.change_time, 0.0..=30.0)
            .unit("s")
            .doc("Time penalty of a lane change.");
        list.number("turn_time", &mut self.turn_time, 0.0..=30.0)
            .unit("s")
            .doc("Time penalty of a turn at a junction.");
        list.number("delay_weight", &mut self.delay_weight, 0.0..=10.0)
            .doc("Weight of delays caused by queues.");
    }
}

impl LatticePlanner {
    /// Returns the number of stations of a lanelet. The first one is at its start and the last one at its end.
    fn stations(&self, lanelet: &RwLanelet) -> u32 {
        (lanelet.length / self.station).ceil().clamp(1.0, 1e5) as u32 + 1
    }

    fn make_lattice(&mut self, roads: &Roads<'_>) {
        let wanted = Some((roads.version, self.station));
        // Agents are planned one after another. The lattice depends only on the roads, so it is used for all
        // of them.
        if self.made_for == wanted {
            return;
        }
        self.made_for = wanted;
        self.first.clear();
        let mut next = 0;
        for lanelet in roads.lanelets {
            self.first.push(next);
            next += self.stations(lanelet);
        }
        self.first.push(next);
        let limits = roads.lanelets.iter().map(|lanelet| lanelet.speed_limit);
        self.top_speed = limits.fold(1.0, f64::max);
        let unknown = Node {
            stamp: 0,
            cost: f64::INFINITY,
            from: NONE,
            lanelet: 0,
        };
        self.nodes = vec![unknown; next as usize];
        for (lanelet, range) in self.first.windows(2).enumerate() {
            for node in range[0]..range[1] {
                self.nodes[node as usize].lanelet = lanelet as u32;
            }
        }
        self.stamp = 0;
    }

    /// Returns the last node at or before position `s` on a lanelet.
    fn node_at(&self, roads: &Roads<'_>, lanelet: u32, s: f64) -> u32 {
        let length = roads.lanelets[lanelet as usize].length;
        let first = self.first[lanelet as usize];
        let last = self.first[lanelet as usize + 1] - 1;
        let spacing = length / f64::from(last - first);
        first + ((s / spacing).max(0.0) as u32).min(last - first)
    }

    fn cost_of(&self, node: u32) -> f64 {
        let node = &self.nodes[node as usize];
        // Nodes that an earlier search has written count as not reached, so that nothing has to be cleared
        // between searches.
        if node.stamp == self.stamp {
            node.cost
        } else {
            f64::INFINITY
        }
    }

    /// Returns a lower bound of the travel time from a lanelet to the goal, in seconds.
    fn bound(&self, roads: &Roads<'_>, lanelet: u32, goal: RwPoint) -> f64 {
        let line = roads.line(lanelet);
        let (from, to) = (line[0], line[line.len() - 1]);
        let distance = |p: RwPoint| {
            let (x, y) = (p.x - goal.x, p.y - goal.y);
            (x * x + y * y).sqrt()
        };
        // Lanes are curved, but no point of a lane is farther from both ends than the lane is long.
        let length = roads.lanelets[lanelet as usize].length;
        (distance(from).min(distance(to)) - length).max(0.0) / self.top_speed
    }
}

impl Planner for LatticePlanner {
    fn plan(
        &mut self,
        roads: &Roads<'_>,
        input: &PlannerInput,
        route: &mut Route<'_>,
    ) -> Option<f64> {
        self.make_lattice(roads);
        self.stamp += 1;
        let (start, goal) = (
            self.node_at(roads, input.lanelet, input.s),
            self.node_at(roads, input.goal_lanelet, input.goal_s),
        );
        if input.lanelet == input.goal_lanelet && input.goal_s >= input.s {
            route.push(input.lanelet);
            let limit = roads.lanelets[input.lanelet as usize].speed_limit;
            return Some((input.goal_s - input.s) / limit.max(0.1));
        }
        let target = {
            let line = roads.line(input.goal_lanelet);
            line[line.len() / 2]
        };
        let reach = roads.lanelets[input.goal_lanelet as usize].length;
        let mut open = BinaryHeap::new();
        if input.lanelet == input.goal_lanelet {
            // The goal is behind the start, so the route begins at the end of the lanelet and may come back to
            // it.
            self.leave_lanelet(roads, input, start, &mut open);
        } else {
            self.open(&mut open, start, 0.0, NONE, 0.0);
        }
        // A node that was reached again at a lower cost is in the heap twice. The second visit finds nothing
        // new.
        while let Some(Open { node, .. }) = open.pop() {
            if node == goal {
                break;
            }
            let cost = self.cost_of(node);
            for (next, time) in self.reached_from(roads, input, node) {
                let total = cost + time;
                if total < self.cost_of(next) {
                    let lanelet = self.nodes[next as usize].lanelet;
                    // The bound is the distance to the middle of the goal's lanelet. The goal may be anywhere
                    // on it, so the lanelet's length is subtracted. A bound that is too low costs time, but one
                    // that is too high would miss the best route.
                    let bound = self.bound(roads, lanelet, target) - reach / self.top_speed;
                    self.open(&mut open, next, total, node, bound.max(0.0));
                }
            }
        }
        if self.cost_of(goal) == f64::INFINITY || self.nodes[goal as usize].from == NONE {
            return None;
        }
        self.write_route(goal, start, route);
        Some(self.cost_of(goal))
    }
}

impl LatticePlanner {
    /// Returns the nodes that can be reached from a node, with the travel time to each in seconds. These are
    /// the next station of the lanelet (or the successors of the lanelet at its last station), and nodes of the
    /// neighbouring lanes after a lane change.
    fn reached_from(&self, roads: &Roads<'_>, input: &PlannerInput, node: u32) -> Vec<(u32, f64)> {
        let lanelet_id = self.nodes[node as usize].lanelet;
        let last = self.first[lanelet_id as usize + 1] - 1;
        let lanelet = &roads.lanelets[lanelet_id as usize];
        let stations = f64::from(last - self.first[lanelet_id as usize]);
        // Stations divide a lanelet evenly, so the last station is at its end, whatever the length of the
        // lanelet.
        let spacing = lanelet.length / stations;
        let delay = self.delay_weight * f64::from(roads.delays[lanelet_id as usize]);
        let station_time = spacing / lanelet.speed_limit.max(0.1) + delay / stations;
        let mut reached: Vec<(u32, f64)> = Vec::new();
        if node < last {
            reached.push((node + 1, station_time));
        } else {
            let next = roads.successors(lanelet_id).iter();
            let open_to_us = |next: &&u32| {
                let bus_only = roads.lanelets[**next as usize].flags & 1 != 0;
                !bus_only || input.bus == 1
            };
            for &next in next.filter(open_to_us) {
                let turns = roads.lanelets[next as usize].turn != 0;
                let turn = if turns { self.turn_time } else { 0.0 };
                reached.push((self.first[next as usize], turn));
            }
        }
        let steps = (self.change_length / spacing).ceil().max(1.0) as u32;
        let may_change = lanelet_id != input.lanelet || input.may_change_first == 1;
        let beside = [lanelet.left, lanelet.right].into_iter();
        // Only if the rest of the lanelet is long enough for a lane change.
        for lane in beside.filter(|&lane| lane != NONE && may_change && node + steps <= last) {
            // The bit of `RW_LANELET_BUS_ONLY`.
            let bus_only = roads.lanelets[lane as usize].flags & 1 != 0;
            if bus_only && input.bus == 0 {
                continue;
            }
            // Converted by the fraction of the length, because in a bend the neighbouring lane is longer or
            // shorter.
            let along = f64::from(node + steps - self.first[lanelet_id as usize]) / stations;
            let s = along * roads.lanelets[lane as usize].length;
            let time = f64::from(steps) * station_time + self.change_time;
            reached.push((self.node_at(roads, lane, s), time));
        }
        reached
    }

    /// Opens the successors of the starting lanelet, but does not mark the start itself as reached.
    fn leave_lanelet(
        &mut self,
        roads: &Roads<'_>,
        input: &PlannerInput,
        start: u32,
        open: &mut BinaryHeap<Open>,
    ) {
        let lanelet = &roads.lanelets[input.lanelet as usize];
        let time = (lanelet.length - input.s).max(0.0) / lanelet.speed_limit.max(0.1);
        for &next in roads.successors(input.lanelet) {
            let bus_only = roads.lanelets[next as usize].flags & 1 != 0;
            if !bus_only || input.bus == 1 {
                let turns = roads.lanelets[next as usize].turn != 0;
                let turn = if turns { self.turn_time } else { 0.0 };
                let first = self.first[next as usize];
                self.open(open, first, time + turn, start, 0.0);
            }
        }
    }

    fn open(&mut self, open: &mut BinaryHeap<Open>, node: u32, cost: f64, from: u32, bound: f64) {
        let entry = &mut self.nodes[node as usize];
        (entry.stamp, entry.cost, entry.from) = (self.stamp, cost, from);
        open.push(Open {
            estimate: cost + bound,
            node,
        });
    }

    fn write_route(&self, goal: u32, start: u32, route: &mut Route<'_>) {
        let mut lanelets = vec![self.nodes[goal as usize].lanelet];
        let mut node = goal;
        // At least one step back, because the goal may be the starting node again after a loop.
        loop {
            node = self.nodes[node as usize].from;
            let lanelet = self.nodes[node as usize].lanelet;
            if lanelets.last() != Some(&lanelet) {
                lanelets.push(lanelet);
            }
            if node == start {
                break;
            }
        }
        lanelets
            .iter()
            .rev()
            .for_each(|&lanelet| route.push(lanelet));
    }
}

export_plugin!(LatticePlanner: Planner);
