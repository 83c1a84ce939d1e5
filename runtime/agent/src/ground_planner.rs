//! Planners of paths off the lanes.

use crate::module::Logic;
use crate::parameter::ParameterSet;

/// How a map of open ground is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroundSearch {
    /// No search: the path is the straight line to the goal.
    Straight,
    /// The cheapest path to the goal, from the agent ([Kuffner 1998]).
    Whole {
        /// Whether the distance to the goal leads the search (A*); otherwise it is Dijkstra's.
        is_guided: bool,
    },
    /// The cheapest paths to the goal from everywhere, for all agents that go there ([Pollithy]).
    FlowField,
    /// A* with a bounded number of expansions, which learns from what it has expanded ([Gerdelan 2011],
    /// [Koenig 2006]).
    Bounded {
        /// Cells that one search expands.
        budget: u64,
    },
    /// The cheapest path, repaired where the map has changed ([Koenig 2002]).
    Incremental,
}

/// Obstacles that controllers perceive while they follow a planned path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Avoid {
    /// Moving bodies, and standing obstacles on the path.
    #[default]
    Path,
    /// Whatever is nearest ahead.
    All,
}

/// How paths off the lanes are planned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroundPlanning {
    /// The search.
    pub search: GroundSearch,
    /// Edge of the cells of the map, m.
    pub cell: f64,
    /// Whether steps cost 5741 and 8119 instead of 10 and 14.
    pub is_octile: bool,
    /// Whether diagonal steps may pass corners of blocked cells.
    pub cuts_corners: bool,
    /// How closely vehicles keep to their path, m.
    pub tracking_margin: f64,
    /// Distance from obstacles up to which cells cost more, m.
    pub clearance: f64,
    /// Distance of the way-point from a standing agent, m.
    pub near: f64,
    /// Time that the agent takes to the way-point beyond that, s.
    pub ahead: f64,
    /// Least time between two plans because driver and plan disagree, s.
    pub pause: f64,
    /// Time that a change between forwards and reverse costs, s.
    pub gear_change: f64,
    /// Time for which moving bodies are foreseen, s.
    pub forecast: f64,
    /// Cells that the searches for a verdict expand in a step.
    pub verdict_budget: u64,
    /// Obstacles that controllers perceive.
    pub avoid: Avoid,
}

/// Finds paths for agents off the lanes.
///
/// A planner describes how paths are found, and the host searches: the map and what has been learned of it
/// belong to the world, where all agents share them, edits change them, and saves hold them. So a planner
/// that replaces another one goes on with the same map.
pub trait GroundPlanner: Logic {
    /// How paths are planned with some parameters.
    fn planning(&self, parameters: &ParameterSet) -> GroundPlanning;
}
