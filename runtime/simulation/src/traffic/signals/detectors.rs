//! Vehicles that approach signals, and the facts about signals that modules and behaviours receive.

use super::policy::planned;
use super::{Phase, SignalStates};
use crate::agents::AgentsRef;
use crate::clock::Clock;
use crate::records::AgentIndex;
use crate::route::Routes;
use crate::vehicle_type::VehicleTypes;
use roadwright_agent::{Demand, MovementFacts, SignalFacts, StageFacts};
use roadwright_ground::Ground;
use roadwright_scenario::junction::Turn;
use roadwright_scenario::{Connection, RoadId};
use std::collections::BTreeMap;

/// Vehicles are detected within this distance before the stop line, m. It is about the length of a
/// queue of twenty cars.
const SIGHT: f64 = 150.0;
/// Speed below which a vehicle counts as being in a queue, m/s.
const CREEPING: f64 = 1.5;
/// Maximum number of lanelets ahead that are searched for signals.
const MOST_AHEAD: u32 = 8;

/// A vehicle that approaches signals, as seen by detectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comer {
    /// Index of the programme.
    pub(super) group: usize,
    /// Junction and connection that the vehicle approaches.
    pub(super) path: Connection,
    pub(super) id: u64,
    /// Distance from the vehicle's front to the stop line, m.
    pub(super) distance: f64,
    /// Speed, m/s.
    speed: f64,
    /// Time since the vehicle stopped, s.
    standing: f64,
}

/// Finds all vehicles that approach signals. O(agents).
pub(crate) fn look(
    ground: &Ground,
    types: &VehicleTypes,
    routes: &Routes,
    agents: AgentsRef<'_>,
) -> Vec<Comer> {
    let comer = |agent| comer(ground, types, routes, agents, agent);
    agents.driving().filter_map(comer).collect()
}

fn comer(
    ground: &Ground,
    types: &VehicleTypes,
    routes: &Routes,
    agents: AgentsRef<'_>,
    agent: AgentIndex,
) -> Option<Comer> {
    let index = agent.index();
    let (who, position) = (&agents.identity[index], &agents.position[index]);
    let progress = &agents.progress[index];
    if !position.is_on_lane() {
        return None;
    }
    let route = routes.get(progress.route);
    let front = types.get(who.vehicle_type).front;
    let mut distance = ground.length(position.lanelet) - position.s - front;
    let mut before = position.lanelet;
    for at in progress.at + 1..progress.at + MOST_AHEAD {
        if distance > SIGHT {
            return None;
        }
        let lanelet = route.lanelet(at)?;
        // A lane change to an adjacent lanelet does not add distance.
        if ground.leads_to(before, lanelet) {
            if let Some(path) = ground.contested(lanelet)
                && let Some((group, _)) = ground.signals(path.junction)
            {
                let line = ground.setback(path.junction, path.number, types.sets_lines_back);
                return Some(Comer {
                    group,
                    path,
                    id: who.id,
                    distance: distance - line,
                    speed: agents.motion[index].speed,
                    standing: progress.standing,
                });
            }
            distance += ground.length(lanelet);
        }
        before = lanelet;
    }
    None
}

/// Computes the vehicle demand on each connection.
fn demand_by_path(comers: &[Comer], group: usize) -> BTreeMap<Connection, Demand> {
    let mut demand: BTreeMap<_, Demand> = BTreeMap::new();
    for comer in comers.iter().filter(|comer| comer.group == group) {
        let own = demand.entry(comer.path).or_default();
        if comer.speed < CREEPING {
            own.queue += 1;
            own.longest_wait = own.longest_wait.max(comer.standing);
        }
    }
    demand
}

impl SignalStates {
    /// Facts about the signals of a programme. O(vehicles that approach signals).
    pub(crate) fn facts(
        &self,
        clock: &Clock,
        ground: &Ground,
        comers: &[Comer],
        group: usize,
    ) -> SignalFacts {
        let (state, desk) = (&self.states[group], &self.desks[group]);
        let programme = ground.programme(group);
        let by_path = demand_by_path(comers, group);
        // Signal times refer to the end of the step, but the module is given the time of its call.
        let time = clock.end_of_step();
        let called = self.calls(group) | desk.called();
        let stage_facts = |(number, &times)| StageFacts {
            times,
            demand: Demand::default(),
            is_called: called & (1u32 << number) != 0,
        };
        let mut facts = SignalFacts {
            time: clock.time(),
            step: clock.step,
            seed: clock.seed,
            stage: state.stage,
            next: (state.phase != Phase::Green).then_some(state.next),
            elapsed: (time - state.since).max(0.0),
            remaining: state.remaining(programme, desk, time),
            planned: planned(programme, time),
            stages: programme
                .stages
                .iter()
                .enumerate()
                .map(stage_facts)
                .collect(),
            node: u32::MAX,
            ..SignalFacts::default()
        };
        let mut movements: BTreeMap<(RoadId, Turn), (u32, Demand)> = BTreeMap::new();
        for junction in ground.signal_group(group) {
            let nodes = ground.junction_nodes(junction).iter();
            facts.node = nodes.fold(facts.node, |least, node| least.min(node.0));
            for (path, road, turn) in ground.movements(junction) {
                let path = Connection::new(junction, path);
                let mut demand = by_path.get(&path).copied().unwrap_or_default();
                demand.arrivals = desk.arrivals(path);
                let bits = ground.connection_gist(path).stages;
                // Connections with green in several stages are included in each of them.
                for (number, stage) in facts.stages.iter_mut().enumerate() {
                    if bits & (1u32 << number) != 0 {
                        stage.demand = stage.demand.with(demand);
                    }
                }
                let movement = movements.entry((road, turn)).or_default();
                *movement = (movement.0 | bits, movement.1.with(demand));
                let light = self.light(ground, path);
                let shown = facts.lights.entry(road).or_insert(light);
                *shown = light.max(*shown);
            }
        }
        let list = movements.into_iter();
        facts.movements = list
            .map(|((road, turn), (stages, demand))| MovementFacts {
                road,
                turn,
                stages,
                demand,
            })
            .collect();
        facts
    }
}
