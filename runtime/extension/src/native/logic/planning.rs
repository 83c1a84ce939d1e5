//! Asks a library for routes and checks every route. The built-in planner answers if there is no route, if
//! the route cannot be driven, or if it violates a turn restriction via a road.

use super::{Active, Native};
use crate::lock::locked;
use crate::native::backend::{Batch, Fault, MOST_ROUTE, MOST_ROWS, bytes_of, bytes_of_mut};
use crate::native::cell::now;
use crate::native::kind::AsPlanner;
use crate::native::roads::{FlatRoads, checked_route};
use roadwright_agent::{ParameterSet, Planner, PlannerView, Step};
use roadwright_plugin_api::abi::{ROW_NOT_WRITTEN, ROW_OK};
use roadwright_plugin_api::{PlannerInput, PlannerOutput};
use roadwright_scenario::lane_graph::{LaneGraph, LaneletIndex};
use roadwright_scenario::{LaneAccess, VehicleClass};
use std::sync::Arc;

impl Planner for Native<AsPlanner> {
    fn step(
        &self,
        _: &ParameterSet,
        step: &Step<'_>,
        view: &PlannerView<'_>,
        inputs: &[PlannerInput],
        routes: &mut Vec<LaneletIndex>,
        outputs: &mut [PlannerOutput],
    ) {
        let Some(active) = &self.active else {
            self.note_out(step.ids);
            self.fallback.step(step, view, inputs, routes, outputs);
            return;
        };
        let roads = self.flat(view.graph);
        let _one = locked(&self.one_at_a_time);
        // Each answer may contain all lanelets, so that no answer depends on its neighbours.
        let size = (MOST_ROUTE / roads.lanelets.len().max(1)).clamp(1, MOST_ROWS);
        let agents = step.indices.chunks(size).zip(step.ids.chunks(size));
        let rows = inputs.chunks(size).zip(outputs.chunks_mut(size));
        for ((indices, ids), (inputs, outputs)) in agents.zip(rows) {
            let step = Step {
                indices,
                ids,
                ..*step
            };
            self.plan_chunk(active, &step, (view, &roads), inputs, routes, outputs);
        }
    }
}

/// Whether a drivable route obeys turn restrictions via roads, and does not lead a bus through lanes that are
/// too narrow for it.
fn is_allowed(graph: &LaneGraph, input: &PlannerInput, numbers: &[u32]) -> bool {
    let lanelets: Vec<LaneletIndex> = numbers.iter().copied().map(LaneletIndex::new).collect();
    let class = VehicleClass::from_number(input.bus);
    // The first lanelet is exempt, because the vehicle is already on it.
    let fits = |&lanelet: &LaneletIndex| {
        let access = graph.lanelet(lanelet).access;
        access != LaneAccess::Cars || access.admits(class)
    };
    lanelets.iter().skip(1).all(fits) && graph.keeps_via_rules(&lanelets)
}

impl Native<AsPlanner> {
    fn flat(&self, graph: &LaneGraph) -> Arc<FlatRoads> {
        let mut kept = locked(&self.roads);
        match &*kept {
            // Computed once per graph, because every edit of the roads creates a graph with another number.
            Some(roads) if roads.version == graph.identity() => roads.clone(),
            _ => {
                let roads = Arc::new(FlatRoads::new(graph));
                *kept = Some(roads.clone());
                roads
            }
        }
    }

    /// Asks the library for routes. If the library has failed since the last boundary, no row is answered.
    fn ask_for_routes(&self, active: &Active, batch: &mut Batch<'_>) -> Result<bool, Fault> {
        if let Some(fault) = &locked(&self.health).fault {
            return Err(fault.clone());
        }
        let _call = self.cell.enter(&active.generation, active.is_isolated);
        active.backend.step(batch)
    }

    fn plan_chunk(
        &self,
        active: &Active,
        step: &Step<'_>,
        (view, roads): (&PlannerView<'_>, &FlatRoads),
        inputs: &[PlannerInput],
        routes: &mut Vec<LaneletIndex>,
        outputs: &mut [PlannerOutput],
    ) {
        let count = inputs.len();
        let seeds: Vec<u64> = step.ids.iter().map(|&id| step.seed_of(id)).collect();
        let mut status = vec![0u8; count];
        let mut route = vec![0u32; (count * roads.lanelets.len()).min(MOST_ROUTE)];
        let began = now();
        let mut batch = Batch {
            step: *step,
            seeds: &seeds,
            inputs: bytes_of(inputs),
            outputs: bytes_of_mut(outputs),
            by_pedals: false,
            views: None,
            status: &mut status,
            roads: Some(roads),
            delays: view.delays,
            route: &mut route,
            route_length: 0,
            poses: &mut [],
            pose_length: 0,
        };
        let answered = self.ask_for_routes(active, &mut batch);
        let seconds = began.elapsed().as_secs_f64();
        let (mut replaced, mut bad) = (0, 0);
        for (row, (input, output)) in inputs.iter().zip(outputs.iter_mut()).enumerate() {
            // A failed call may leave any status, so none of its routes is used.
            let found = (status[row] == ROW_OK && answered.is_ok())
                .then(|| checked_route(roads, input, output, &route));
            // This is not the plugin's fault, because the binary interface does not describe turn
            // restrictions via roads, and the build may be older than the flag for narrow lanes.
            let is_unknown =
                matches!(found, Some(Ok(lanelets)) if !is_allowed(view.graph, input, lanelets));
            match found {
                Some(Ok(lanelets)) if !is_unknown => {
                    output.start = routes.len() as u32;
                    output.count = lanelets.len() as u32;
                    routes.extend(lanelets.iter().copied().map(LaneletIndex::new));
                }
                wrong => {
                    replaced += 1;
                    bad += u64::from(status[row] != ROW_NOT_WRITTEN && !is_unknown);
                    if let Some(Err(flaw)) = wrong {
                        locked(&self.health).flaw.clone_from(&flaw);
                        self.cell.note_fault(&flaw);
                    }
                    let one = std::slice::from_mut(output);
                    let step = Step {
                        indices: &step.indices[row..=row],
                        ids: &step.ids[row..=row],
                        ..*step
                    };
                    // In the order of rows, like the routes above, because all of them are appended to one
                    // buffer.
                    self.fallback.step(&step, view, &[*input], routes, one);
                }
            }
        }
        self.cell.note_time(count, seconds, replaced);
        match &answered {
            Err(fault) => {
                self.note_missing(replaced, step.ids.first(), &fault.message, Some(fault));
            }
            Ok(_) => {
                let flaw = locked(&self.health).flaw.clone();
                self.note_missing(bad, step.ids.first(), &flaw, None);
            }
        }
        let mut health = locked(&self.health);
        health.rows += count as u64;
        health.bad_rows += bad;
        match answered {
            Ok(changed) => {
                health.answered += 1;
                health.mode_changed |= changed;
            }
            Err(fault) if fault.is_fatal => health.fault = Some(fault),
            Err(fault) => health.flaw = fault.message,
        }
    }
}
