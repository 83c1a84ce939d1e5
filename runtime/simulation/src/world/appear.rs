//! The stage in which agents and flows appear.

use super::World;
use crate::mover::Status;
use crate::spawn::{self, Start};
use crate::way::Way;

impl World {
    /// Lets agents appear whose time has come; says whether any did.
    pub(super) fn appear(&mut self) -> bool {
        let time = self.time();
        self.start_flow_agents(time);
        let due = self
            .departures
            .iter()
            .take_while(|departure| departure.time <= time)
            .count();
        if due == 0 {
            return false;
        }
        let mut appeared: Vec<u32> = Vec::new();
        let mut kept = Vec::new();
        for departure in self.departures.drain(..due).collect::<Vec<_>>() {
            let agent = departure.agent as usize;
            let kind = self.kinds[self.movers[agent].kind as usize];
            if !spawn::has_room(departure.start, &kind, &self.view(), &appeared) {
                kept.push(departure);
                continue;
            }
            let planned = match departure.start {
                Start::Ground(_) => true,
                Start::Lane { lanelet, s } => {
                    let planner = self.banks.planner_of(&self.movers[agent]);
                    let mut way = std::mem::take(&mut self.ways[agent]);
                    let view = self.planner_view();
                    let leads = spawn::plan_way(planner, &view, (lanelet, s), kind.bus, &mut way);
                    self.ways[agent] = way;
                    leads
                }
            };
            if planned {
                spawn::appear(&mut self.movers[agent], &departure, &self.roads.graph, time);
                self.movers[agent].planned_at = self.step;
                appeared.push(departure.agent);
            } else {
                self.movers[agent].status = Status::Refused;
            }
        }
        self.departures.splice(0..0, kept);
        !appeared.is_empty()
    }

    fn start_flow_agents(&mut self, time: f64) {
        for i in 0..self.flows.len() {
            while let Some(id) = self.flows[i].due(time) {
                let running = &self.flows[i];
                let (flow, start) = (running.flow.clone(), running.start);
                let way = Way {
                    goals: running.goals.clone(),
                    ..Way::default()
                };
                self.add(id, (&flow.vehicle, &flow.stack), way, start, time, 0.0);
                // It is due now: among those who wait, behind the ones that came before.
                let last = self.departures.pop();
                let place = self.departures.partition_point(|d| d.time <= time);
                self.departures.splice(place..place, last);
            }
        }
    }
}
