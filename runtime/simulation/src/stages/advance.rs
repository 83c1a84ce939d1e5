//! Bodies move, and find their new place on their routes.

use super::retire::Exit;
use crate::agents::{Command, Identity, LanePosition, Motion, Phase, Progress, Statistics, Status};
use crate::dynamics::{self, Dynamics};
use crate::ground::Ground;
use crate::modules::SLICE;
use crate::route::{Arrival, Foothold, Routes};
use crate::vehicle_type::VehicleTypes;
use rayon::prelude::*;
use roadwright_scenario::lane_graph::NO_LANELET;

/// Standing between two lanes for longer ends a lane change, s.
const HALF_WAY_PATIENCE: f64 = 3.0;
/// This close to the middle of its new lane a vehicle has left the old one, m.
const ACROSS: f64 = 0.5;
/// Below this speed an agent counts as standing, m/s.
const STANDING: f64 = 0.1;

/// What moving reads of the world.
#[derive(Clone, Copy)]
struct Scene<'a> {
    ground: &'a Ground,
    types: &'a VehicleTypes,
    routes: &'a Routes,
    dt: f64,
}

/// What moving writes of one agent.
struct Body<'a> {
    motion: &'a mut Motion,
    steering: &'a mut f64,
    position: &'a mut LanePosition,
    progress: &'a mut Progress,
    statistics: &'a mut Statistics,
    foothold: &'a mut Foothold,
}

/// Moves all bodies by a step. Returns how many moved. `footholds` is scratch.
pub(crate) fn advance(
    ground: &Ground,
    types: &VehicleTypes,
    dynamics: &mut Dynamics,
    footholds: &mut Vec<Foothold>,
    helpers: Option<&rayon::ThreadPool>,
    exit: &mut Exit<'_>,
) -> u64 {
    let scene = Scene {
        ground,
        types,
        routes: exit.routes,
        dt: exit.clock.dt,
    };
    let agents = &mut *exit.agents;
    footholds.resize(agents.capacity(), Foothold::default());
    let columns = (
        &agents.identity[..],
        &agents.command[..],
        &mut agents.motion[..],
        dynamics.wheels(),
        &mut agents.position[..],
        &mut agents.progress[..],
        &mut agents.statistics[..],
        &mut footholds[..],
    );
    let arrivals = match helpers {
        None => advance_slice(&scene, 0, columns),
        Some(helpers) => helpers.install(|| {
            let (identity, command, motion, wheels, position, progress, statistics, footholds) =
                columns;
            identity
                .par_chunks(SLICE)
                .zip(command.par_chunks(SLICE))
                .zip(motion.par_chunks_mut(SLICE))
                .zip(wheels.par_chunks_mut(SLICE))
                .zip(position.par_chunks_mut(SLICE))
                .zip(progress.par_chunks_mut(SLICE))
                .zip(statistics.par_chunks_mut(SLICE))
                .zip(footholds.par_chunks_mut(SLICE))
                .enumerate()
                .map(|(slice, (((((((a, b), c), d), e), f), g), h))| {
                    advance_slice(&scene, (slice * SLICE) as u32, (a, b, c, d, e, f, g, h))
                })
                .collect::<Vec<_>>()
                .concat()
        }),
    };
    let moved = agents.count() as u64;
    let mut arrivals = arrivals;
    arrivals.sort_unstable_by_key(|(agent, _)| agents.identity[*agent as usize].id);
    let time = exit.clock.time() + exit.clock.dt;
    for (agent, arrival) in arrivals {
        match arrival {
            Arrival::UnderWay => {}
            Arrival::AtGoal => exit.agents.identity[agent as usize].phase = Phase::AtGoal,
            Arrival::Finished => exit.retire(agent, Status::Arrived, time),
        }
    }
    moved
}

/// The columns of a slice of agents.
type Columns<'a> = (
    &'a [Identity],
    &'a [Command],
    &'a mut [Motion],
    &'a mut [f64],
    &'a mut [LanePosition],
    &'a mut [Progress],
    &'a mut [Statistics],
    &'a mut [Foothold],
);

/// Moves the agents of a slice, the first of which has the index `first`. Returns who has arrived.
fn advance_slice(scene: &Scene<'_>, first: u32, columns: Columns<'_>) -> Vec<(u32, Arrival)> {
    let (identity, command, motion, wheels, position, progress, statistics, footholds) = columns;
    let mut arrivals = Vec::new();
    for (number, who) in identity.iter().enumerate() {
        if !who.drives() {
            continue;
        }
        let body = Body {
            motion: &mut motion[number],
            steering: &mut wheels[number],
            position: &mut position[number],
            progress: &mut progress[number],
            statistics: &mut statistics[number],
            foothold: &mut footholds[number],
        };
        let arrival = body.advance(who, &command[number], scene);
        if arrival != Arrival::UnderWay {
            arrivals.push((first + number as u32, arrival));
        }
    }
    arrivals
}

impl Body<'_> {
    #[inline]
    fn advance(self, who: &Identity, command: &Command, scene: &Scene<'_>) -> Arrival {
        let vehicle_type = scene.types.get(who.vehicle_type);
        let before = *self.motion;
        dynamics::advance(self.motion, self.steering, command, vehicle_type, scene.dt);
        self.statistics.count(&before, self.motion, scene.dt);
        if self.motion.speed < STANDING {
            self.progress.standing += scene.dt;
        } else {
            (self.progress.standing, self.progress.attempts) = (0.0, 0);
        }
        let route = scene.routes.get(self.progress.route);
        let place = self.motion.pose.position;
        if self.position.is_on_lane() {
            self.progress
                .advance(self.position, route, scene.ground, self.foothold, place);
            end_lane_change(self.position, self.progress);
        } else if let Some(path) = route.path_to(self.progress.reached) {
            (self.position.s, self.position.t) = path.line().project(place, self.position.s);
        }
        let reached = self.progress.reached;
        let arrival = self.progress.reach_goals(route, self.position, place);
        if self.progress.reached != reached && !self.position.is_on_lane() {
            // The next path begins here.
            (self.position.s, self.position.t) = (0.0, 0.0);
        }
        arrival
    }
}

/// The old lane is free once the body is out of it, or when the agent has come to stand half-way
/// and has to get on from there.
fn end_lane_change(position: &mut LanePosition, progress: &Progress) {
    let is_over = position.t.abs() < ACROSS || progress.standing > HALF_WAY_PATIENCE;
    if position.leaving != NO_LANELET && is_over {
        position.leaving = NO_LANELET;
    }
}

impl Statistics {
    /// Counts how far and how smoothly an agent went in a step.
    #[inline]
    fn count(&mut self, before: &Motion, now: &Motion, dt: f64) {
        self.distance += (now.pose.position - before.pose.position).length();
        let jerk = if self.steps > 0 {
            (now.acceleration - before.acceleration) / dt
        } else {
            0.0
        };
        let lateral = now.speed * now.yaw_rate;
        self.squared_acceleration += now.acceleration * now.acceleration;
        self.squared_jerk += jerk * jerk;
        self.squared_lateral_acceleration += lateral * lateral;
        self.steps += 1;
    }
}
