//! Expected delays caused by stationary vehicles, for planners.

use crate::agents::AgentsRef;
use crate::clock::Clock;
use roadwright_agent::Rate;
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex, NO_LANELET};
use serde::{Deserialize, Serialize};

/// Expected extra time on a lanelet per stationary vehicle, s.
const DELAY_PER_VEHICLE: f32 = 4.0;
/// Update rate of expected delays, Hz.
const RATE: f64 = 1.0;
/// A vehicle is counted after it has been stationary for this time, s.
const PATIENCE: f64 = 2.0;

/// Expected extra time on each lanelet, s.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Delays(pub(crate) Vec<f32>);

impl Delays {
    pub(crate) fn new(lanelets: usize) -> Self {
        Self(vec![0.0; lanelets])
    }

    /// Carries the delays over an edit of the roads. `moved` contains the new lanelet of each old lanelet.
    pub(crate) fn move_to(&mut self, moved: &[LaneletIndex], graph: &LaneGraph) {
        let mut delays = Self::new(graph.lanelets().len());
        for (&delay, &lanelet) in self.0.iter().zip(moved) {
            if lanelet != NO_LANELET {
                delays.0[lanelet.index()] = delay;
            }
        }
        *self = delays;
    }

    /// Counts stationary vehicles by lanelet once a second.
    pub(crate) fn update(&mut self, clock: &Clock, agents: AgentsRef<'_>) {
        if !Rate::new(RATE, clock.dt).is_due(clock.step, 0) {
            return;
        }
        // The delays are recomputed from zero, so that a jam that has dissolved leaves no trace.
        // Once a second is often enough for planners, which plan for minutes, and limits the cost
        // of the loop over all agents.
        self.0.fill(0.0);
        for agent in agents.driving() {
            let position = &agents.position[agent.index()];
            // Every vehicle stands briefly at a stop line, which is not a jam.
            if position.is_on_lane() && agents.progress[agent.index()].standing > PATIENCE {
                self.0[position.lanelet.index()] += DELAY_PER_VEHICLE;
            }
        }
    }
}
