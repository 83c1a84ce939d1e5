//! Statistics of junctions: number of vehicles, delays, and queues.

use crate::session::Observer;
use crate::traffic::Claims;
use crate::world::World;
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind};
use roadwright_scenario::{Control, JunctionIndex, NodeId, RoadEnd, RoadId};
use serde::Serialize;
use std::collections::BTreeMap;

/// Time between samples, in seconds of simulated time.
const SAMPLE_TIME: f64 = 1.0;
/// Speed below which a vehicle counts as stationary, m/s.
const STANDING: f64 = 0.5;

/// Statistics of one junction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JunctionFigures {
    /// Smallest node id of the junction.
    pub node: NodeId,
    /// Type of control, which determines the order in which vehicles enter.
    pub control: Control,
    /// Roads from which vehicles have entered the junction, or on which they have queued.
    pub approaches: Vec<ApproachFigures>,
    /// Longest time that a vehicle has waited at the junction, s.
    pub longest_wait: f64,
    /// Upper bound on the waiting time of a vehicle after its request, provided that the lanes
    /// beyond the junction keep draining, s.
    pub bound: f64,
}

/// Statistics of the traffic from one road into a junction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ApproachFigures {
    /// Id of the road from which the traffic comes.
    pub road: RoadId,
    /// The end of the road at the junction.
    pub end: RoadEnd,
    /// Number of vehicles that have entered the junction.
    pub passed: u64,
    /// Mean time lost by a vehicle on its last lane before the junction, compared with driving at
    /// the allowed speed, s.
    pub delay_mean: f64,
    /// Largest time lost by a vehicle on its last lane before the junction, s.
    pub delay_max: f64,
    /// Largest number of vehicles that were stationary on the approach at the same time.
    pub queue_max: u32,
}

/// Counts and delays of the traffic from one approach.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    passed: u64,
    delays: f64,
    longest: f64,
    standing: u32,
    queue: u32,
}

/// Observer of a [`Session`](crate::Session) that samples all junctions once a second.
#[derive(Debug, Clone, Default)]
pub struct JunctionWatch {
    /// Counters by junction and road end.
    tallies: BTreeMap<(JunctionIndex, RoadId, RoadEnd), Tally>,
    /// Approach on which each agent was last seen, and the time that the agent has lost there, s.
    seen: BTreeMap<u64, (Approach, f64)>,
    /// Time of the next sample, s.
    due: f64,
}

/// An approach, given by the junction and the end of a road that leads into it.
type Approach = (JunctionIndex, RoadId, RoadEnd);

impl JunctionWatch {
    /// Statistics of the junctions with traffic, in the order of their nodes.
    pub fn figures(&self, world: &World) -> Vec<JunctionFigures> {
        let mut junctions: BTreeMap<JunctionIndex, Vec<ApproachFigures>> = BTreeMap::new();
        for (&(junction, road, end), tally) in &self.tallies {
            let figures = ApproachFigures {
                road,
                end,
                passed: tally.passed,
                delay_mean: tally.delays / tally.passed.max(1) as f64,
                delay_max: tally.longest,
                queue_max: tally.queue,
            };
            junctions.entry(junction).or_default().push(figures);
        }
        let ground = world.ground();
        let figures = junctions.into_iter().filter_map(|(junction, approaches)| {
            Some(JunctionFigures {
                node: ground.node(junction)?,
                control: ground.control(junction),
                approaches,
                longest_wait: world.traffic.claims.requests.longest_wait(junction),
                bound: Claims::bound(junction, ground),
            })
        });
        let mut figures: Vec<JunctionFigures> = figures.collect();
        figures.sort_by_key(|figures| figures.node);
        figures
    }

    fn look(&mut self, world: &World, period: f64) {
        self.tallies
            .values_mut()
            .for_each(|tally| tally.standing = 0);
        let mut seen = BTreeMap::new();
        // In the order of ids, because sums of delays depend on the order of addition.
        for agent in world.agents.census().by_growing_id() {
            let index = agent.index();
            let id = world.agents.identity[index].id;
            let position = &world.agents.position[index];
            let before = self.seen.get(&id).copied();
            let here = position
                .is_on_lane()
                .then(|| approach(world, position.lanelet))
                .flatten();
            if let Some((approach, lost)) = before.filter(|(before, _)| Some(*before) != here) {
                // The agent has left the lane and entered the junction, unless it has left the
                // roads.
                if position.is_on_lane() {
                    let tally = self.tallies.entry(approach).or_default();
                    tally.passed += 1;
                    tally.delays += lost;
                    tally.longest = tally.longest.max(lost);
                }
            }
            let Some(here) = here else { continue };
            let speed = world.agents.motion[index].speed.max(0.0);
            let allowed = world.ground().road_speed(position.lanelet, position.s);
            let lost = before.filter(|(approach, _)| *approach == here);
            let lost = lost.map_or(0.0, |(_, lost)| lost);
            let more = period * (1.0 - speed / allowed).clamp(0.0, 1.0);
            // Time lost along a lane accumulates here and is added to the tally when the vehicle
            // has left the lane.
            seen.insert(id, (here, lost + more));
            if speed < STANDING {
                let tally = self.tallies.entry(here).or_default();
                tally.standing += 1;
                tally.queue = tally.queue.max(tally.standing);
            }
        }
        self.seen = seen;
    }
}

/// Approach of a lanelet; `None` for connections, and for lanes that do not lead into a junction.
fn approach(world: &World, lanelet: LaneletIndex) -> Option<Approach> {
    let graph = world.ground().graph();
    let LaneletKind::Lane { road, .. } = graph.lanelet(lanelet).kind else {
        return None;
    };
    let &next = graph.successors(lanelet).first()?;
    let LaneletKind::Connection { junction, path, .. } = graph.lanelet(next).kind else {
        return None;
    };
    let end = world.ground().paths(junction)[path.index()].from.end;
    Some((junction, road, end))
}

impl Observer for JunctionWatch {
    fn begin(&mut self, world: &World) {
        self.due = world.time();
    }

    fn after_step(&mut self, world: &World) {
        // The small tolerance keeps rounding from delaying a sample to the next step.
        if world.time() < self.due - 1e-9 {
            return;
        }
        self.due = due_after(self.due, world.time());
        self.look(world, SAMPLE_TIME.max(world.dt()));
    }
}

/// Returns the time of the next sample, s. The previous sample was due at `due` and was taken at
/// `time`.
fn due_after(due: f64, time: f64) -> f64 {
    // Counted from the time at which the sample was due, not from when it was taken. Otherwise,
    // samples would be farther apart if a second is not a whole number of steps. If steps are
    // longer than a second, every step is sampled.
    (due + SAMPLE_TIME).max(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_keep_their_rate_at_any_step() {
        for (dt, expected) in [(0.1, 300), (0.3, 300), (0.7, 300), (2.0, 150)] {
            let (mut due, mut samples, mut step) = (0.0, 0, 0u32);
            while f64::from(step) * dt < 300.0 {
                step += 1;
                let time = f64::from(step) * dt;
                if time >= due - 1e-9 {
                    due = due_after(due, time);
                    samples += 1;
                }
            }
            let difference: i32 = samples - expected;
            assert!(difference.abs() <= 1, "{dt}: {samples}");
        }
    }
}
