//! Moves all bodies and updates their positions on their routes.

use super::retire::Exit;
use crate::agents::{AdvanceColumns, Rare, Status, pedals_of};
use crate::clock::Clock;
use crate::dynamics::{Around, Body, Level, LevelStep, Rigid, STANDING, States, of_level};
use crate::fixed::Fixed;
use crate::hands::Hands;
use crate::messages::LogLine;
use crate::modules::SLICE;
use crate::move_trees::PlayedFrames;
use crate::records::{
    AgentIndex, Aside, Command, Identity, LanePosition, Motion, Order, Phase, PlayedFrame,
    Progress, Statistics,
};
use crate::route::{Arrival, Reached, Route, Routes};
use crate::vehicle_type::VehicleTypes;
use rayon::prelude::*;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::wrap_angle;
use roadwright_ground::{Ground, WARMED};
use roadwright_scenario::lane_graph::NO_LANELET;
use roadwright_scenario::{DynamicsLevel, junction};
use roadwright_vehicle::PedalCommand;
use std::hint::black_box;

/// If a vehicle between two lanes is stationary for this time, its unfinished lane change is ended,
/// s.
const HALFWAY_PATIENCE: f64 = 3.0;
/// Clearance between a vehicle that is changing lanes and a stationary vehicle on the old lane, m.
/// It covers the tail of the changing vehicle, which still points towards the old lane.
const HALFWAY: f64 = 0.45;
/// Clearance between a vehicle that is changing lanes and a moving vehicle that passes it on the
/// old lane, m.
const ACROSS: f64 = 0.85;
/// A vehicle of any width has left its old lane if it is closer than this to the centre line of the
/// new lane, m.
const IN_LANE: f64 = 0.1;
/// A warning is logged after a vehicle has failed to climb a slope for this time, s.
const TOO_STEEP: f64 = 2.0;

/// Inputs for moving agents.
#[derive(Clone, Copy)]
struct AdvanceInputs<'a> {
    ground: &'a Ground,
    types: &'a VehicleTypes,
    hands: &'a Hands,
    routes: &'a Routes,
    /// Pedals by agent index; `None` for agents without pedals. The slice may be shorter than the number of
    /// agents.
    pedals: &'a [Option<PedalCommand>],
    /// Guided lateral offsets of agents.
    aside: &'a Rare<Aside>,
    /// Frames for the agents that are playing clips.
    played: &'a PlayedFrames,
    clock: Clock,
    /// Stride of the level, in steps of the world.
    stride: u64,
}

/// The rows of one agent that change when the agent moves.
struct Mover<'a, S> {
    state: &'a mut S,
    motion: &'a mut Motion,
    position: &'a mut LanePosition,
    progress: &'a mut Progress,
    statistics: &'a mut Statistics,
}

/// Sources of motion that replace an agent's controller.
#[derive(Clone, Copy)]
pub(crate) struct Guided<'a> {
    /// Agents under manual control.
    pub(crate) hands: &'a Hands,
    /// Frames for the agents that are playing clips.
    pub(crate) played: &'a PlayedFrames,
}

/// Moves all bodies by one step, level by level. Returns the number of agents moved.
pub(crate) fn advance(
    Fixed { ground, types }: Fixed<'_>,
    guided: Guided<'_>,
    helpers: Option<&rayon::ThreadPool>,
    exit: &mut Exit<'_>,
) -> u64 {
    let Guided { hands, played } = guided;
    let census = exit.agents.census();
    for level in DynamicsLevel::ALL {
        if census.count_of(level) > 0 {
            exit.dynamics.grow(level, census.capacity());
        }
    }
    // Counted before any agent is removed, because agents that arrive in this step have moved too.
    let moved = census.count() as u64;
    let dynamics = &mut *exit.dynamics;
    let mut agents = AdvanceColumns::of(exit.agents);
    let scene = AdvanceInputs {
        ground,
        types,
        hands,
        routes: exit.routes,
        pedals: agents.pedals,
        aside: agents.aside,
        played,
        clock: *exit.clock,
        stride: 1,
    };
    // The order of these levels does not matter, because their bodies do not read the new positions
    // of others.
    let mut arrivals = Vec::new();
    for level in DynamicsLevel::ALL {
        of_level!(level, L => if let Some(states) = L::states_mut(dynamics).one_by_one() {
            arrivals.extend(advance_level::<L>(scene, states, helpers, &mut agents));
        });
    }
    // Rigid bodies come last, because they collide with all other bodies at their new positions.
    let lost = dynamics.advance_rigid(&Around {
        ground,
        types,
        hands,
        routes: exit.routes,
        agents: agents.lent(),
        command: agents.command,
        pedals: agents.pedals,
        dt: exit.clock.dt,
    });
    let mut moved_rigidly = std::mem::take(&mut dynamics.rigid.moved);
    arrivals.extend(advance_level::<Rigid>(
        scene,
        &mut moved_rigidly,
        helpers,
        &mut agents,
    ));
    dynamics.rigid.moved = moved_rigidly;
    dynamics.tow(ground, agents.lent(), types);
    // When an agent retires, it is scored, leaves a result row and releases its grants. Agents
    // retire in the order of ids, although the list of arrivals is in the order of level and index.
    arrivals.sort_unstable_by_key(|(agent, _)| agents.identity[agent.index()].id);
    tell_of_lost(exit, &lost);
    tell_of_too_steep(ground, exit);
    let time = exit.clock.time() + exit.clock.dt;
    for (agent, arrival) in arrivals {
        match arrival {
            Arrival::UnderWay => {}
            Arrival::AtGoal => exit.agents.identity[agent.index()].phase = Phase::AtGoal,
            Arrival::Finished => exit.retire(agent, Status::Arrived, time),
        }
    }
    moved
}

/// Logs the bodies that were stopped because their state had become invalid.
fn tell_of_lost(exit: &mut Exit<'_>, lost: &[AgentIndex]) {
    for &agent in lost {
        exit.messages.log.write_fault(LogLine {
            time: exit.clock.time(),
            agent: exit.agents.identity[agent.index()].id,
            module: DynamicsLevel::Rigid.to_string(),
            text: "the vehicle's motion became invalid; the vehicle was stopped in place".into(),
            is_fault: true,
        });
    }
}

/// Logs the agents that cannot move because their lane is too steep for their engine or tyres. On
/// other levels of dynamics, they would roll back.
fn tell_of_too_steep(ground: &Ground, exit: &mut Exit<'_>) {
    if ground.slopes().is_none() || exit.agents.census().count_of(DynamicsLevel::Lane) == 0 {
        return;
    }
    let dt = exit.clock.dt;
    let agents = &*exit.agents;
    let stands = |index: &usize| {
        let (who, progress) = (&agents.identity[*index], &agents.progress[*index]);
        // Logged once, in the step in which the standing time reaches the limit.
        let is_time = progress.standing >= TOO_STEEP && progress.standing - dt < TOO_STEEP;
        who.level == DynamicsLevel::Lane && who.drives() && is_time
    };
    let mut told: Vec<u64> = (0..agents.identity.len())
        .filter(stands)
        .filter(|&index| exit.dynamics.is_held_by_slope(index))
        .map(|index| agents.identity[index].id)
        .collect();
    // The log is part of the state, so its lines must not depend on agent indices.
    told.sort_unstable();
    for agent in told {
        exit.messages.log.write_fault(LogLine {
            time: exit.clock.time(),
            agent,
            module: DynamicsLevel::Lane.to_string(),
            text:
                "the lane is too steep for the vehicle's engine or tyres; the vehicle has stopped, \
                   because vehicles at this level do not roll back"
                    .into(),
            is_fault: true,
        });
    }
}

/// Moves all agents on a level. Returns the agents that have arrived.
fn advance_level<L: Level>(
    scene: AdvanceInputs<'_>,
    states: &mut [L::State],
    helpers: Option<&rayon::ThreadPool>,
    agents: &mut AdvanceColumns<'_>,
) -> Vec<(AgentIndex, Arrival)> {
    if agents.count_of(L::LEVEL) == 0 {
        return Vec::new();
    }
    let scene = AdvanceInputs {
        stride: u64::from(L::stride(scene.clock.dt)),
        ..scene
    };
    let count = agents.capacity();
    let columns = (
        agents.identity,
        agents.command,
        &mut states[..count],
        &mut *agents.motion,
        &mut *agents.position,
        &mut *agents.progress,
        &mut *agents.statistics,
    );
    let Some(helpers) = helpers else {
        return advance_slice::<L>(&scene, 0, columns);
    };
    // Each slice writes only the rows of its own agents and reads no others, so the result is bit-identical
    // for any number of threads. `collect` preserves the order of the slices.
    helpers.install(|| {
        let (identity, command, states, motion, position, progress, statistics) = columns;
        identity
            .par_chunks(SLICE)
            .zip(command.par_chunks(SLICE))
            .zip(states.par_chunks_mut(SLICE))
            .zip(motion.par_chunks_mut(SLICE))
            .zip(position.par_chunks_mut(SLICE))
            .zip(progress.par_chunks_mut(SLICE))
            .zip(statistics.par_chunks_mut(SLICE))
            .enumerate()
            .map(|(slice, ((((((a, b), c), d), e), f), g))| {
                advance_slice::<L>(&scene, (slice * SLICE) as u32, (a, b, c, d, e, f, g))
            })
            .collect::<Vec<_>>()
            .concat()
    })
}

/// Columns of a slice of agents.
type Columns<'a, S> = (
    &'a [Identity],
    &'a [Command],
    &'a mut [S],
    &'a mut [Motion],
    &'a mut [LanePosition],
    &'a mut [Progress],
    &'a mut [Statistics],
);

/// Moves the agents on a level within a slice. `first` is the index of its first agent. Returns the
/// agents that have arrived.
fn advance_slice<L: Level>(
    scene: &AdvanceInputs<'_>,
    first: u32,
    columns: Columns<'_, L::State>,
) -> Vec<(AgentIndex, Arrival)> {
    let (identity, command, states, motion, position, progress, statistics) = columns;
    let mut arrivals = Vec::new();
    for (number, who) in identity.iter().enumerate() {
        if L::READS_LINES && number % WARMED == 0 {
            let batch = number..(number + WARMED).min(identity.len());
            let rows = identity[batch.clone()].iter();
            let rows = rows.zip(position[batch.clone()].iter().zip(&progress[batch]));
            warm(scene, rows.filter(|(who, _)| who.level == L::LEVEL));
        }
        if who.level != L::LEVEL || !who.drives() {
            continue;
        }
        let mover = Mover {
            state: &mut states[number],
            motion: &mut motion[number],
            position: &mut position[number],
            progress: &mut progress[number],
            statistics: &mut statistics[number],
        };
        let order = Order {
            command: command[number],
            pedals: pedals_of(scene.pedals, first as usize + number),
        };
        let aside = scene.aside[first as usize + number];
        let arrival = mover.advance::<L>(who, &order, aside, scene);
        if arrival != Arrival::UnderWay {
            arrivals.push((AgentIndex::new(first + number as u32), arrival));
        }
    }
    arrivals
}

/// Prefetches the ground and route data of a batch of agents before any of them moves. Otherwise,
/// the agents would wait for memory one after another (`perception/warm.rs`).
fn warm<'a>(
    scene: &AdvanceInputs<'_>,
    rows: impl Iterator<Item = (&'a Identity, (&'a LanePosition, &'a Progress))>,
) {
    let on_lanes = rows.filter(|(who, (position, _))| who.drives() && position.is_on_lane());
    let touched = on_lanes.map(|(_, (position, progress))| {
        let next = scene.routes.get(progress.route).lanelet(progress.at + 1);
        let line = scene.ground.line(position.lanelet);
        line.position(position.s).x + next.map_or(0.0, |id| f64::from(id.number()))
    });
    black_box(touched.sum::<f64>());
}

impl AdvanceInputs<'_> {
    /// Lateral clearance between a vehicle of the given width and a vehicle that passes it on the
    /// old lane, m: the distance between the two centre lines, minus half the widths of both
    /// vehicles. If the scenario has long vehicles, the passing vehicle is assumed to be one.
    fn room_beside(&self, width: f64, position: &LanePosition) -> f64 {
        let of_lane = |id| self.ground.lanelet(id).width;
        let between = 0.5 * (of_lane(position.lanelet) + of_lane(position.leaving));
        let other = match self.types.sets_lines_back {
            true => junction::Body::LONG.width,
            false => junction::Body::CAR.width,
        };
        between - 0.5 * (width.max(junction::Body::CAR.width) + other)
    }

    /// Whether a stride of an agent begins in this step. Strides are staggered so that not all agents take
    /// their commands in the same step.
    #[inline]
    fn begins(&self, who: &Identity) -> bool {
        (self.clock.step + who.id).is_multiple_of(self.stride)
    }
}

impl<S> Mover<'_, S> {
    /// Moves the body by one step of its level and finds its place on the route. Returns whether
    /// the agent has arrived.
    #[inline]
    fn advance<L: Level<State = S>>(
        mut self,
        who: &Identity,
        order: &Order,
        aside: Aside,
        scene: &AdvanceInputs<'_>,
    ) -> Arrival {
        let dt = scene.clock.dt;
        let begins = scene.begins(who);
        if !begins && let Some(distance) = L::roll(self.state, self.motion, self.position, dt) {
            self.statistics.count(self.motion, distance);
            if self.motion.speed < STANDING {
                self.progress.standing += dt;
            }
            return Arrival::UnderWay;
        }
        let before = *self.motion;
        let route = scene.routes.get(self.progress.route);
        let by_hand = scene.hands.reverses(who.id);
        let by_clip = || scene.played.reverses(who.id);
        let is_reversing = by_hand.or_else(by_clip).unwrap_or_else(|| {
            !self.position.is_on_lane() && route.is_reversing(self.progress.reached)
        });
        let body = Body {
            motion: self.motion,
            position: self.position,
            command: &order.command,
            pedals: order.pedals,
            vehicle_type: scene.types.get(who.vehicle_type),
            drive_train: scene.types.drive_train(who.vehicle_type),
            gaits: scene.types.gaits(who.vehicle_type),
            is_reversing,
            aside,
        };
        let step = LevelStep {
            ground: scene.ground,
            dt,
            physics_rate_hz: scene.types.physics_rate_hz,
            begins,
        };
        let distance = match scene.played.of(who.id) {
            Some(frame) => {
                body.motion.play(frame, dt);
                L::put(self.state, frame);
                None
            }
            None => L::advance(self.state, body, step),
        };
        let distance = match distance {
            Some(distance) => self.go_along(distance, before.speed, route, scene),
            None => self.find_place(before.pose.position, route, scene),
        };
        self.statistics.count(self.motion, distance);
        // After the agent has moved again, the situation is different, so its next stop may trigger
        // replanning sooner.
        if self.motion.speed.abs() < STANDING {
            self.progress.standing += dt;
        } else {
            (self.progress.standing, self.progress.attempts) = (0.0, 0);
        }
        if self.position.leaving != NO_LANELET {
            let width = scene.types.get(who.vehicle_type).width;
            let room = scene.room_beside(width, self.position);
            end_lane_change(self.position, self.progress, room);
        }
        self.progress.seek(self.position, route, scene.ground, dt);
        if by_hand.is_some() {
            // A vehicle under manual control does not arrive until the user ends manual control.
            return Arrival::UnderWay;
        }
        if scene.stride > 1 {
            let until = self.quiet_until(scene.ground);
            let vehicle_type = scene.types.get(who.vehicle_type);
            L::let_roll(self.state, self.motion, self.position, vehicle_type, until);
        }
        let reached = self.progress.reached;
        let arrival = self.progress.reach_goals(
            route,
            self.position,
            Reached {
                pose: self.motion.pose,
                speed: self.motion.speed,
                radius: L::goal_radius(scene.types.get(who.vehicle_type)),
                exact: L::EXACT_GOAL,
            },
        );
        if self.progress.reached != reached && !self.position.is_on_lane() {
            // The next path begins here, but s and t still refer to the previous path.
            (self.position.s, self.position.t) = (0.0, 0.0);
        }
        arrival
    }
}

impl<S> Mover<'_, S> {
    /// Position on the agent's lanelet before which the agent only has to drive straight on, m. 0
    /// if the agent is seeking a gap, is leaving a lane, or has its next goal on the lanelet.
    #[inline]
    fn quiet_until(&self, ground: &Ground) -> f64 {
        let is_quiet = self.position.may_change_lane()
            && self.progress.seeking == 0.0
            && self.progress.at < self.progress.goal_at;
        if is_quiet {
            ground.length(self.position.lanelet)
        } else {
            0.0
        }
    }
}

impl<S> Mover<'_, S> {
    /// Moves a body along its lanelets by the distance that its level has computed. Returns the distance
    /// actually moved, m.
    #[inline]
    fn go_along(
        &mut self,
        distance: f64,
        speed: f64,
        route: &Route,
        scene: &AdvanceInputs<'_>,
    ) -> f64 {
        let driven = (self.progress).go_along(self.position, route, scene.ground, distance);
        if driven < distance {
            // The lane ends here and the body cannot leave it, so it stops at once.
            self.motion.speed = 0.0;
            self.motion.acceleration = -speed / scene.clock.dt;
        }
        driven
    }

    /// Finds the position of a body that is not bound to a lane by projecting it onto its lanelet
    /// or path. Returns the distance moved, m.
    #[inline]
    fn find_place(&mut self, before: DVec2, route: &Route, scene: &AdvanceInputs<'_>) -> f64 {
        let place = self.motion.pose.position;
        if self.position.is_on_lane() {
            self.progress
                .locate(self.position, route, scene.ground, place);
        } else if let Some(path) = route.path_to(self.progress.reached) {
            (self.position.s, self.position.t) = path.line().project(place, self.position.s);
        }
        (place - before).length()
    }
}

/// Ends a lane change. `t` is measured from the centre line of the new lane, so its magnitude
/// decreases. The table is for a car between two lanes of 3.25 m on roads with cars only, where
/// `room` is 1.35 m:
///
/// ```text
///   t = 3.25 |  the change begins; visible on both lanes
///       0.9  |  half-way: a car on the old lane can pass
///       0.5  |  the body is out of the old lane; visible on the new one only
///       0    |  centre line of the new lane
/// ```
///
/// The old lane becomes free at 0.5 m. A vehicle that stops between the lanes would block both for
/// as long as it stands. Therefore, if it is more than half-way, it releases the old lane after a
/// while. Until then, followers on the old lane have to see it.
fn end_lane_change(position: &mut LanePosition, progress: &Progress, room: f64) {
    let is_within = |limit: f64| position.t.abs() < limit.max(IN_LANE);
    let is_halfway = is_within(room - HALFWAY);
    if is_within(room - ACROSS) || is_halfway && progress.standing > HALFWAY_PATIENCE {
        position.leaving = NO_LANELET;
    }
}

impl Motion {
    /// Sets the motion at the end of a step of `dt` seconds to the motion of a clip.
    fn play(&mut self, frame: &PlayedFrame, dt: f64) {
        *self = Self {
            pose: frame.pose,
            z: self.z,
            speed: frame.speed,
            // Computed from the poses, as at all levels.
            yaw_rate: wrap_angle(frame.pose.heading - self.pose.heading) / dt,
            acceleration: (frame.speed - self.speed) / dt,
        };
    }
}

impl Statistics {
    /// Adds a step to an agent's statistics: the distance driven in the step (m) and the squared
    /// accelerations.
    #[inline]
    fn count(&mut self, now: &Motion, travelled: f64) {
        self.distance += travelled;
        let lateral = now.speed * now.yaw_rate;
        self.squared_acceleration += now.acceleration * now.acceleration;
        self.squared_lateral_acceleration += lateral * lateral;
        self.steps += 1;
    }
}
