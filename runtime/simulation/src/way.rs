//! An agent's way: its goals and the lanelets that lead there.

use glam::DVec2;
use roadwright_scenario::lane_graph::LaneletId;

/// A place to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// On a lanelet.
    Lanelet { lanelet: LaneletId, s: f64 },
    /// On open ground.
    Ground(DVec2),
}

/// Where an agent goes and by which lanelets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Way {
    /// Goals in order.
    pub(crate) goals: Vec<Goal>,
    /// Lanelets from the start to the last goal.
    pub(crate) path: Vec<LaneletId>,
    /// Index in the path of the lanelet of each goal.
    pub(crate) goal_at: Vec<u32>,
}

impl Way {
    /// The lanelet at an index of the path.
    #[inline]
    pub(crate) fn lanelet(&self, index: u32) -> Option<LaneletId> {
        self.path.get(index as usize).copied()
    }

    /// The next goal of an agent that has reached `reached` of them.
    pub(crate) fn next_goal(&self, reached: u32) -> Option<Goal> {
        self.goals.get(reached as usize).copied()
    }

    /// Replaces the part of the path between an index and the next goal by another one that
    /// starts and ends with the same lanelets.
    pub(crate) fn replace_leg(&mut self, from: u32, reached: u32, leg: &[LaneletId]) {
        let to = self.goal_at[reached as usize];
        let old = (to - from + 1) as usize;
        self.path
            .splice(from as usize..=to as usize, leg.iter().copied());
        for at in &mut self.goal_at[reached as usize..] {
            *at = (*at as usize + leg.len() - old) as u32;
        }
    }
}
