//! What junctions do for those who come to them: how many pass, how long they are held up, how they
//! queue.

use crate::session::Observer;
use crate::traffic::Claims;
use crate::world::World;
use roadwright_scenario::lane_graph::{LaneletIndex, LaneletKind};
use roadwright_scenario::{Control, JunctionIndex, NodeId, RoadEnd, RoadId};
use serde::Serialize;
use std::collections::BTreeMap;

/// Distance between samples, s of simulated time.
const SAMPLE_TIME: f64 = 1.0;
/// Below this a vehicle stands, m/s.
const STANDING: f64 = 0.5;

/// What one junction has done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JunctionFigures {
    /// Its smallest node.
    pub node: NodeId,
    /// What says who goes first.
    pub control: Control,
    /// The roads from which somebody has passed or stood in a queue.
    pub approaches: Vec<ApproachFigures>,
    /// The longest time for which anybody has waited for it, s.
    pub longest_wait: f64,
    /// How long anybody who asks for it waits at most, while the lanes beyond drain, s.
    pub bound: f64,
}

/// What has come along one road to a junction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ApproachFigures {
    /// The road.
    pub road: RoadId,
    /// Which end of it.
    pub end: RoadEnd,
    /// Vehicles that have entered the junction.
    pub passed: u64,
    /// Time that they lost on their last lane before it, against driving as fast as the road allows,
    /// on average, s.
    pub delay_mean: f64,
    /// The same of the one that lost most, s.
    pub delay_max: f64,
    /// Most vehicles that stood there at once.
    pub queue_max: u32,
}

/// What is counted of an approach.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    passed: u64,
    delays: f64,
    longest: f64,
    standing: u32,
    queue: u32,
}

/// Watches all junctions, once a second. An observer of a [`Session`](crate::Session).
#[derive(Debug, Clone, Default)]
pub struct JunctionWatch {
    /// By junction and road end.
    tallies: BTreeMap<(JunctionIndex, RoadId, RoadEnd), Tally>,
    /// Where each agent was seen last, and what it has lost there, s.
    seen: BTreeMap<u64, (Approach, f64)>,
    /// When the next sample is due, s.
    due: f64,
}

/// A lane that leads into a junction.
type Approach = (JunctionIndex, RoadId, RoadEnd);

impl JunctionWatch {
    /// The junctions that somebody has come to, in the order of their nodes.
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
                node: ground.roads.node(junction)?,
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
        // In the order of ids: sums of delays depend on the order in which they are added up.
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
                // It has left that lane: into the junction, unless it has left the roads.
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
            // What is lost along a lane adds up there, and counts when the vehicle has left it.
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

/// The junction that a lane leads into; `None` for connections, and for lanes that end.
fn approach(world: &World, lanelet: LaneletIndex) -> Option<Approach> {
    let graph = world.ground().graph();
    let LaneletKind::Lane { road, .. } = graph.lanelet(lanelet).kind else {
        return None;
    };
    let &next = graph.successors(lanelet).first()?;
    let LaneletKind::Connection { junction, path, .. } = graph.lanelet(next).kind else {
        return None;
    };
    let end = world.ground().roads.path(junction, path).from.end;
    Some((junction, road, end))
}

impl Observer for JunctionWatch {
    fn begin(&mut self, world: &World) {
        self.due = world.time();
    }

    fn after_step(&mut self, world: &World) {
        // Times are products of dt: a sample must not slip to the next step by rounding.
        if world.time() < self.due - 1e-9 {
            return;
        }
        self.due = due_after(self.due, world.time());
        self.look(world, SAMPLE_TIME.max(world.dt()));
    }
}

/// When the next sample is due after one that was due, and came at a time, s.
fn due_after(due: f64, time: f64) -> f64 {
    // From when it was due and not from when it came: else samples would lie farther apart where a second
    // is no whole number of steps. With steps of more than a second each of them is one.
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
