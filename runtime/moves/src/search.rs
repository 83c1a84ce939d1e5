//! The route tree: a search over sequences of moves with a horizon and a limit, [Adam 2007], section 3.5.
//!
//! Rules:
//!
//! - A node is a move put into the list. It is expanded while its time is shorter than the horizon; the move
//!   that crosses the horizon is a leaf. With moves of 25 frames, a horizon of 24 frames gives one move, 49
//!   frames give two, and 149 frames six.
//! - The limit counts nodes put into the list. It is checked before a node is taken.
//! - A node is tested for collisions when it is taken from the list.
//! - f is the time so far plus the straight distance to the goal over the top speed of the library. A node's
//!   f is never below its parent's. The node with the smallest f is taken first; among equal nodes, the older
//!   one.
//! - Only free leaves that were taken can win: the one with the smallest f and, among equal ones, the older
//!   one.
//! - A move that passes the last goal within its reach, if there is one, is also a leaf, and its f is the time
//!   until then. Goals of the source are far ahead and have no reach.
//! - There may be several goals. Once a move has passed a goal within its reach, the next one counts, and the
//!   distance is that along the goals, less what can be cut off within their reach.
//! - If no free leaf was taken, because the limit came first or every route is blocked, the free node that is
//!   latest in time wins, and among equally late nodes the one with the smallest f. If every node is
//!   blocked, there is no plan.
//!
//! With a [`Heuristic`], nodes are taken in the order of a bound that is at most f of any leaf below them. Leaves are
//! still compared by f.
//!
//! Because f never falls along a route, the first free leaf taken is the best one, and the search may stop
//! there. [`Stop::AtLimit`] searches until the list is empty or full, as the source does, with the same plan.

use crate::body::Bounds;
use crate::heuristic::{Heuristic, HeuristicGoal, NodeEnd, Outlook};
use crate::library::{Library, MoveNumber, StateNumber};
use crate::placement::Placement;
use crate::surroundings::{ObstacleNumber, Phase, Schedule, Surroundings, Trial};
use roadwright_geometry::DVec2;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Condition that ends a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// The first free leaf, which is the best one.
    #[default]
    AtLeaf,
    /// An empty list or the limit, as in the source.
    AtLimit,
}

/// Limits of a search, and how it tests for collisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounded {
    /// Nodes are expanded while their time is below this value, in frames.
    pub horizon: u32,
    /// Maximum number of moves in the list. Once it is reached, no more moves are taken from the list.
    pub limit: u32,
    /// Condition that ends the search.
    pub stop: Stop,
    /// Method of testing for collisions.
    pub phase: Phase,
}

/// Input of a search: the state of a vehicle, its goal, and the obstacles.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Placement of the vehicle.
    pub place: Placement,
    /// State in which the first move begins.
    pub state: StateNumber,
    /// Positions to reach in this order, at least one. The last one is the destination.
    pub goals: &'a [DVec2],
    /// A vehicle has reached a goal if it is within this distance, m; 0 if it never arrives.
    pub reach: f64,
    /// Obstacles. Movers are at their current positions.
    pub around: &'a Surroundings,
    /// Limits of the search.
    pub bounded: Bounded,
    /// Bounds that determine the order of the list; `None` for the heuristic of the source. The
    /// plan is the same unless leaves have equal f, or the limit comes first. Ignored if the
    /// heuristic's goal is not the last goal of the search, or its horizon differs from that of the
    /// search.
    pub heuristic: Option<&'a Heuristic>,
}

/// Outcome of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Moves to drive, in order; empty if every move is blocked.
    pub moves: Vec<MoveNumber>,
    /// Reason why the search ended.
    pub end: PlanEnd,
    /// f at the end of the plan, s; 0 if there are no moves.
    pub f: f64,
    /// Number of moves put into the list.
    pub nodes: u32,
    /// Number of moves in the list when the first free leaf was taken; `None` if no free leaf was taken.
    pub nodes_to_leaf: Option<u32>,
    /// Number of moves that were taken from the list and tested.
    pub tested: u32,
}

/// Reason why a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlanEnd {
    /// A route reaches the horizon.
    Horizon,
    /// The limit was reached first.
    Limit,
    /// Every route is blocked before the horizon. The plan is the longest free part.
    Blocked,
    /// Every move is blocked.
    NoPath {
        /// The obstacle that blocks the longest of the first moves.
        obstacle: Option<ObstacleNumber>,
    },
}

/// A route tree as it was searched.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteTree {
    /// Moves that were tested, in the order of their tests, and then moves that were not tested.
    pub branches: Vec<Branch>,
}

/// A move of a route tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Branch {
    /// Number of the move in its library.
    pub number: MoveNumber,
    /// Placement at which the move begins.
    pub place: Placement,
    /// Result of the collision test.
    pub outcome: BranchOutcome,
}

/// Result of the collision test of a move in a route tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchOutcome {
    /// The move touches nothing.
    Free,
    /// The move touches something.
    Blocked,
    /// The search ended before the move was tested.
    Untested,
}

/// A node of the tree: a move that begins where the parent node ends.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Placement at the end of the move.
    end: Placement,
    /// Time at the end of the move, in frames.
    time: u32,
    f: f64,
    /// Lower bound of f for the leaves below the node. The list is sorted by this bound.
    bound: f64,
    /// Number of goals that have been passed at the end of the move.
    passed: u16,
    /// Whether the move passes the last goal.
    arrives: bool,
    parent: Parent,
    /// Index of the move among the moves that leave the parent's state.
    choice: u16,
    /// State in which the move begins.
    from: StateNumber,
}

/// Parent of a node: another node, or the start of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parent {
    Start,
    Node(NodeNumber),
}

/// Index of a node, in the order of insertion into the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NodeNumber(u32);

/// A search tree under construction.
struct Tree<'a> {
    library: &'a Library,
    question: &'a Question<'a>,
    nodes: Vec<Node>,
    period: f64,
    /// Distance from each goal to the last one, less what can be cut off, m.
    beyond: Vec<f64>,
    /// Bounds from the heuristic, if there is one.
    outlook: Option<Outlook<'a>>,
    /// Schedule of the movers; `None` unless the search uses masks.
    schedule: Option<Schedule>,
    /// Best free leaf so far.
    leaf: Option<NodeNumber>,
    nodes_to_leaf: Option<u32>,
    /// Best free node so far that is not a leaf, which is the one latest in time.
    latest: Option<NodeNumber>,
    tested: u32,
    /// Outcome of each test, in the order of the tests; `None` if the tree is not recorded.
    record: Option<Vec<(NodeNumber, BranchOutcome)>>,
}

/// Distance from each goal to the last one, less what can be cut off within reach of the goals, m.
fn beyond(question: &Question<'_>) -> Vec<f64> {
    let Question { goals, reach, .. } = question;
    let mut beyond = vec![0.0; goals.len()];
    for next in (1..goals.len()).rev() {
        let leg = (goals[next] - goals[next - 1]).length();
        let is_last = next + 1 == goals.len();
        // The end of the last leg is not shortened, as for a single goal.
        let cut = if is_last { *reach } else { 2.0 * reach };
        beyond[next - 1] = beyond[next] + (leg - cut).max(0.0);
    }
    beyond
}

/// Returns the bounds from the heuristic of a question; `None` if the question has no suitable
/// heuristic.
fn outlook<'a>(library: &'a Library, question: &Question<'a>) -> Option<Outlook<'a>> {
    let goal = HeuristicGoal {
        place: *question.goals.last()?,
        reach: question.reach,
    };
    let fits = |heuristic: &&Heuristic| {
        heuristic.goal() == goal && heuristic.horizon() == question.bounded.horizon
    };
    let heuristic = question.heuristic.filter(fits)?;
    Outlook::new(heuristic, library, question.place.position)
}

/// Creates the schedule of the movers of a question; `None` if there are no movers or the search
/// uses no masks.
fn schedule(library: &Library, question: &Question<'_>) -> Option<Schedule> {
    let Bounded { horizon, phase, .. } = question.bounded;
    if phase != Phase::Masks {
        return None;
    }
    let around = question.around;
    around.schedule(horizon, library.longest(), 1.0 / library.rate())
}

/// Sort key of nodes in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Bits of f, or of its bound. They have the same order as the values, which are never negative.
    f: u64,
    node: NodeNumber,
}

impl<'a> Tree<'a> {
    fn new(library: &'a Library, question: &'a Question<'a>) -> Self {
        Self {
            library,
            question,
            nodes: Vec::new(),
            period: 1.0 / library.rate(),
            beyond: beyond(question),
            outlook: outlook(library, question),
            schedule: schedule(library, question),
            leaf: None,
            nodes_to_leaf: None,
            latest: None,
            tested: 0,
            record: None,
        }
    }

    /// Returns the tree for display, from the recorded tests.
    fn route_tree(&self) -> RouteTree {
        let record = self.record.as_deref().unwrap_or_default();
        let mut is_tested = vec![false; self.nodes.len()];
        let mut branches = Vec::with_capacity(self.nodes.len());
        for &(number, outcome) in record {
            is_tested[number.0 as usize] = true;
            branches.push(self.branch(&self.nodes[number.0 as usize], outcome));
        }
        for (node, is_tested) in self.nodes.iter().zip(is_tested) {
            if !is_tested {
                branches.push(self.branch(node, BranchOutcome::Untested));
            }
        }
        RouteTree { branches }
    }

    fn branch(&self, node: &Node, outcome: BranchOutcome) -> Branch {
        Branch {
            number: self.move_of(node).number,
            place: self.begin_of(node),
            outcome,
        }
    }

    /// Placement at which the move of a node begins.
    fn begin_of(&self, node: &Node) -> Placement {
        match node.parent {
            Parent::Start => self.question.place,
            Parent::Node(parent) => self.nodes[parent.0 as usize].end,
        }
    }

    fn is_full(&self) -> bool {
        self.nodes.len() as u32 >= self.question.bounded.limit
    }

    /// Adds the successors of a node to the tree, and passes their ranks to `put`.
    fn expand(&mut self, parent: Parent, mut put: impl FnMut(Rank)) {
        let (place, time, state, [least, bound], passed) = match parent {
            Parent::Start => (self.question.place, 0, self.question.state, [0.0; 2], 0),
            Parent::Node(number) => {
                let node = &self.nodes[number.0 as usize];
                let state = self.move_of(node).to;
                (
                    node.end,
                    node.time,
                    state,
                    [node.f, node.bound],
                    node.passed,
                )
            }
        };
        let library = self.library;
        for (choice, one) in library.leaving(state).iter().enumerate() {
            let end = place.then(&one.end);
            let time = time + one.length;
            let (passed, arrival) = self.pass(&place, one, passed);
            let until = match arrival {
                Some(frame) => f64::from(time - one.length + frame) * self.period,
                None => {
                    let left = self.distance_left(end.position, passed) / library.top_speed();
                    f64::from(time) * self.period + left
                }
            };
            let f = least.max(until);
            let is_leaf = arrival.is_some() || time >= self.question.bounded.horizon;
            let bound = match is_leaf {
                true => f,
                false => {
                    let end = NodeEnd {
                        place: end,
                        f,
                        time,
                        state: one.to,
                    };
                    f.max(bound).max(self.bound(&end, passed))
                }
            };
            let node = NodeNumber(self.nodes.len() as u32);
            self.nodes.push(Node {
                end,
                time,
                f,
                bound,
                passed,
                arrives: arrival.is_some(),
                parent,
                choice: choice as u16,
                from: state,
            });
            put(Rank {
                f: bound.to_bits(),
                node,
            });
        }
    }

    /// Lower bound of f for the leaves below a node, from the heuristic. 0 if there is no
    /// heuristic, or while goals before the last one remain.
    fn bound(&self, end: &NodeEnd, passed: u16) -> f64 {
        let is_last = usize::from(passed) + 1 == self.question.goals.len();
        let outlook = self.outlook.as_ref().filter(|_| is_last);
        outlook.map_or(0.0, |outlook| outlook.bound(end))
    }

    /// Lower bound on the distance to the last goal along the remaining goals, m. `passed` is the
    /// number of goals already passed. Corners that the vehicle may cut within `reach` of a goal
    /// are deducted.
    fn distance_left(&self, position: DVec2, passed: u16) -> f64 {
        let Question { goals, reach, .. } = self.question;
        let next = usize::from(passed);
        let distance = (goals[next] - position).length();
        if next + 1 == goals.len() {
            return distance;
        }
        (distance - reach).max(0.0) + self.beyond[next]
    }

    /// Returns the number of goals that have been passed at the end of a move, and the frame in
    /// which the last goal is reached; `None` if it is not. A vehicle that has passed all goals
    /// passes no further ones.
    fn pass(
        &self,
        place: &Placement,
        one: &crate::library::Prepared,
        passed: u16,
    ) -> (u16, Option<u32>) {
        let goals = self.question.goals;
        let (mut passed, mut from) = (passed, 0);
        while let Some(frame) = self.reaches(place, one, goals[usize::from(passed)], from) {
            if usize::from(passed) + 1 == goals.len() {
                return (passed, Some(frame));
            }
            (passed, from) = (passed + 1, frame);
        }
        (passed, None)
    }

    /// Returns the first frame of a move, from a given one, that is within reach of a goal; `None`
    /// if no frame is. The move begins at `place`.
    fn reaches(
        &self,
        place: &Placement,
        one: &crate::library::Prepared,
        goal: DVec2,
        from: u32,
    ) -> Option<u32> {
        let reach = self.question.reach;
        if reach <= 0.0 {
            return None;
        }
        let seen = place.to_local(goal);
        let Bounds { low, high } = one.sweep.bounds.grown(reach);
        if seen.cmplt(low).any() || seen.cmpgt(high).any() {
            return None;
        }
        let driven = self.library.get(one.number);
        let mut frames = from..=one.length;
        frames.find(|&frame| {
            let there = driven.placement(frame as usize).position;
            (there - seen).length() < reach
        })
    }

    fn move_of(&self, node: &Node) -> &'a crate::library::Prepared {
        &self.library.leaving(node.from)[usize::from(node.choice)]
    }

    /// Inputs for the collision test of a node.
    fn trial(&self, node: &Node) -> Trial<'a> {
        let one = self.move_of(node);
        Trial {
            sweep: &one.sweep,
            place: self.begin_of(node),
            begin: node.time - one.length,
            period: self.period,
        }
    }

    /// Tests a node that was taken from the list. Returns whether it is to be expanded.
    fn take(&mut self, number: NodeNumber) -> bool {
        self.tested += 1;
        let node = self.nodes[number.0 as usize];
        let Bounded { horizon, phase, .. } = self.question.bounded;
        let (around, trial) = (self.question.around, self.trial(&node));
        let is_free = match &self.schedule {
            Some(schedule) => around.is_free_by(&trial, schedule),
            None => around.is_free(&trial, phase),
        };
        if let Some(record) = &mut self.record {
            let outcome = match is_free {
                true => BranchOutcome::Free,
                false => BranchOutcome::Blocked,
            };
            record.push((number, outcome));
        }
        if !is_free {
            return false;
        }
        if node.time < horizon && !node.arrives {
            self.latest = self.better(self.latest, number);
            return true;
        }
        if self.leaf.is_none() {
            self.nodes_to_leaf = Some(self.nodes.len() as u32);
        }
        let is_better = |best: NodeNumber| {
            let best = Rank {
                f: self.nodes[best.0 as usize].f.to_bits(),
                node: best,
            };
            let own = Rank {
                f: node.f.to_bits(),
                node: number,
            };
            own < best
        };
        if self.leaf.is_none_or(is_better) {
            self.leaf = Some(number);
        }
        false
    }

    /// Returns the later of two nodes. If both are equally late, the one with the smaller f wins, and then the older
    /// one.
    fn better(&self, best: Option<NodeNumber>, other: NodeNumber) -> Option<NodeNumber> {
        let key = |number: NodeNumber| {
            let node = &self.nodes[number.0 as usize];
            (Reverse(node.time), node.f.to_bits(), number)
        };
        match best {
            Some(best) if key(best) <= key(other) => Some(best),
            _ => Some(other),
        }
    }

    fn plan(&self) -> Plan {
        let end = match (self.leaf, self.latest, self.is_full()) {
            (Some(_), _, _) => PlanEnd::Horizon,
            (None, Some(_), true) => PlanEnd::Limit,
            (None, Some(_), false) => PlanEnd::Blocked,
            (None, None, _) => PlanEnd::NoPath {
                obstacle: self.first_obstacle(),
            },
        };
        let mut moves = Vec::new();
        let mut next = self.leaf.or(self.latest);
        let f = next.map_or(0.0, |number| self.nodes[number.0 as usize].f);
        while let Some(number) = next {
            let node = &self.nodes[number.0 as usize];
            moves.push(self.move_of(node).number);
            next = match node.parent {
                Parent::Start => None,
                Parent::Node(parent) => Some(parent),
            };
        }
        moves.reverse();
        Plan {
            moves,
            end,
            f,
            nodes: self.nodes.len() as u32,
            nodes_to_leaf: self.nodes_to_leaf,
            tested: self.tested,
        }
    }

    /// Returns the obstacle that blocks the longest of the first moves. Among moves of equal
    /// duration, the oldest one is used.
    fn first_obstacle(&self) -> Option<ObstacleNumber> {
        let first = self.nodes.iter().enumerate();
        let longest = first.max_by_key(|(number, node)| (node.time, Reverse(*number)))?;
        self.question.around.first_hit(&self.trial(longest.1))
    }
}

/// Creates a plan, using a heap.
pub fn plan(library: &Library, question: &Question<'_>) -> Plan {
    let mut tree = Tree::new(library, question);
    search(&mut tree);
    tree.plan()
}

/// Creates a plan, and returns the tree that was searched as well.
pub fn plan_with_tree(library: &Library, question: &Question<'_>) -> (Plan, RouteTree) {
    let mut tree = Tree::new(library, question);
    tree.record = Some(Vec::new());
    search(&mut tree);
    (tree.plan(), tree.route_tree())
}

/// Searches until the stop condition of the question is met, using a heap.
fn search(tree: &mut Tree<'_>) {
    let mut list = BinaryHeap::new();
    tree.expand(Parent::Start, |rank| list.push(Reverse(rank)));
    while !tree.is_full() {
        let Some(Reverse(rank)) = list.pop() else {
            break;
        };
        if tree.take(rank.node) {
            tree.expand(Parent::Node(rank.node), |rank| list.push(Reverse(rank)));
        }
        if tree.leaf.is_some() && tree.question.bounded.stop == Stop::AtLeaf {
            break;
        }
    }
}

/// Creates a plan by the same rules, but without a heap and without skipping tests. Used for comparison.
pub fn plan_plainly(library: &Library, question: &Question<'_>) -> Plan {
    let question = &Question {
        bounded: Bounded {
            phase: Phase::Exact,
            ..question.bounded
        },
        ..*question
    };
    let mut tree = Tree::new(library, question);
    let mut list: Vec<Rank> = Vec::new();
    tree.expand(Parent::Start, |rank| list.push(rank));
    while !tree.is_full() && !list.is_empty() {
        let mut best = 0;
        for other in 1..list.len() {
            if list[other] < list[best] {
                best = other;
            }
        }
        let rank = list.remove(best);
        if tree.take(rank.node) {
            tree.expand(Parent::Node(rank.node), |rank| list.push(rank));
        }
        if tree.leaf.is_some() && question.bounded.stop == Stop::AtLeaf {
            break;
        }
    }
    tree.plan()
}
