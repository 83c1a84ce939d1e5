//! Rigid bodies: vehicles on springs in three dimensions that can push each other.
//!
//! In each step, all rigid bodies move together, after the bodies of the other levels. Nearby
//! obstacles and vehicles are set up around them ([`surroundings`]), and [`Yard`] simulates them.
//! The stored state is plain data, so that a restored world continues bit-identically. Bodies are
//! processed in the order of ids, whatever their indices are.

mod loose;
mod surroundings;

pub use loose::LooseCounts;
pub(crate) use loose::record_of as loose_record;
pub(crate) use surroundings::Around;

use super::{Bodies, Body, Dynamics, Level, LevelStep, RecordedSlip, States};
use crate::agents::pedals_of;
use crate::hash::StateHasher;
use crate::records::{AgentIndex, Motion};
use crate::snapshot::{Attitude, MechanicsRecord, WheelRecord};
use crate::vehicle_type::{VehicleType, VehicleTypes};
use glam::DVec2;
use roadwright_geometry::math::{asin, wrap_angle};
use roadwright_ground::{Displaced, Ground};
use roadwright_scenario::{DynamicsLevel, ObstacleId};
use roadwright_vehicle::DriveState;
use roadwright_vehicle::rigid::{
    CarEntry, CarState, Controls, LooseEntry, LooseState, RigidModel, Surface, Yard,
};
use roadwright_vehicle::trailer::Train;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Speed below which a vehicle counts as stationary, m/s. It is above 0 because the springs rock
/// the body slightly.
const ROCKING: f64 = 0.05;
/// Speed below which other agents see the vehicle as stationary, m/s.
const STANDSTILL: f64 = 2e-3;

/// Level of rigid bodies.
pub(crate) struct Rigid;

/// The bodies have already moved together when the level advances them, so their motion is known.
impl Level for Rigid {
    type State = Motion;
    type States = RigidBodies;

    const LEVEL: DynamicsLevel = DynamicsLevel::Rigid;

    fn states(dynamics: &Dynamics) -> &Self::States {
        &dynamics.rigid
    }

    fn states_mut(dynamics: &mut Dynamics) -> &mut Self::States {
        &mut dynamics.rigid
    }

    fn stride(_: f64) -> u32 {
        1
    }

    fn advance(moved: &mut Motion, body: Body<'_>, _: LevelStep<'_>) -> Option<f64> {
        *body.motion = *moved;
        None
    }

    #[inline]
    fn steering(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> f64 {
        let car = bodies.dynamics.rigid.car(agent);
        car.map_or(0.0, |car| car.steering)
    }

    fn recorded_slip(bodies: &Bodies<'_>, agent: AgentIndex, _: &VehicleType) -> RecordedSlip {
        let left = bodies.agents.motion[agent.index()].pose.left();
        let body = bodies.dynamics.rigid.car(agent).map(|car| &car.body);
        RecordedSlip {
            sideways: body.map(|body| body.velocity.truncate().dot(left)),
            yaw_rate: body.map(|body| body.spin.z),
        }
    }

    fn drive_state(dynamics: &Dynamics, agent: AgentIndex) -> Option<DriveState> {
        let car = dynamics.rigid.car(agent);
        Some(car.map(|car| car.drive).unwrap_or_default())
    }

    fn mechanics(
        bodies: &Bodies<'_>,
        agent: AgentIndex,
        types: &VehicleTypes,
    ) -> Option<MechanicsRecord> {
        let who = &bodies.agents.identity[agent.index()];
        let car = bodies.dynamics.rigid.car(agent)?;
        let model = types.rigid(who.vehicle_type);
        let train = model.train.as_ref();
        let wheels = car.wheels.iter().zip(&car.loads).zip(&model.wheels);
        let wheels = wheels.map(|((wheel, &load), built)| WheelRecord {
            place: DVec2::new(built.contact.x + model.rear, built.contact.y),
            radius: model.radius,
            steering: wheel.steering,
            travel: wheel.travel,
            load,
            slip_ratio: wheel.slip_ratio,
            slip_angle: wheel.slip_angle,
            spin: wheel.spin,
        });
        Some(MechanicsRecord {
            agent: who.id,
            drive: train.map(|train| train.reading(&car.drive, car.driven_speed(model))),
            wheels: wheels.collect(),
            shape: Some(types.rigid_shape(who.vehicle_type).clone()),
        })
    }
}

/// States of all rigid bodies: vehicles, their trailers, and pushed obstacles.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RigidBodies {
    /// Cars by agent index; `None` before the first step.
    cars: Vec<Option<CarState>>,
    /// States of the trailers of each agent, from front to back.
    towed: Vec<Vec<CarState>>,
    /// Loose obstacles that have been pushed.
    loose: BTreeMap<ObstacleId, LooseState>,
    /// Footprints of the pushed obstacles. They are derived data.
    #[serde(skip)]
    displaced: Displaced,
    /// Motions after the last step, by agent index. The buffer is reused.
    #[serde(skip)]
    pub(crate) moved: Vec<Motion>,
}

impl RigidBodies {
    /// Body of an agent; `None` before its first step.
    pub(crate) fn car(&self, agent: AgentIndex) -> Option<&CarState> {
        self.cars.get(agent.index())?.as_ref()
    }

    /// Bodies of an agent's trailers, from front to back; empty before the first step.
    pub(crate) fn towed(&self, agent: AgentIndex) -> &[CarState] {
        self.towed.get(agent.index()).map_or(&[], Vec::as_slice)
    }

    /// Orientation of an agent's body in space.
    pub(crate) fn attitude(&self, agent: AgentIndex) -> Option<Attitude> {
        self.car(agent).map(attitude)
    }

    /// Orientation in space of one of an agent's trailers, counted from 0 at the front.
    pub(crate) fn towed_attitude(&self, agent: AgentIndex, trailer: usize) -> Option<Attitude> {
        self.towed(agent).get(trailer).map(attitude)
    }

    /// Whether a saved body fits its vehicle.
    pub(crate) fn fits(&self, agent: usize, model: &RigidModel) -> bool {
        let car = self.cars.get(agent).and_then(Option::as_ref);
        let towed = self
            .towed(AgentIndex::from_index(agent))
            .iter()
            .zip(&model.trailers);
        car.is_none_or(|car| car.fits(model))
            && towed
                .into_iter()
                .all(|(car, trailer)| car.fits(&trailer.model))
    }
}

impl States for RigidBodies {
    type State = Motion;

    fn holds(&self, agent: usize) -> bool {
        // All columns are checked for the index, because a save may be damaged.
        agent < self.cars.len().min(self.towed.len())
    }

    fn grow(&mut self, agents: usize) {
        let count = agents.max(self.cars.len());
        self.cars.resize(count, None);
        self.towed.resize(count, Vec::new());
        self.moved.resize(count, Motion::default());
    }

    fn forget(&mut self, agent: AgentIndex) {
        if let Some(car) = self.cars.get_mut(agent.index()) {
            *car = None;
        }
        if let Some(towed) = self.towed.get_mut(agent.index()) {
            towed.clear();
        }
    }

    fn add_to_hash(&self, agent: AgentIndex, hasher: &mut StateHasher) {
        hasher.add(&self.car(agent));
        let towed = self.towed(agent);
        if !towed.is_empty() {
            hasher.add(&towed);
        }
    }

    fn bytes(&self) -> usize {
        let bodies = self.cars.iter().flatten();
        let wheels = bodies.chain(self.towed.iter().flatten()).map(|car| {
            size_of_val(&car.brushes[..])
                + size_of_val(&car.loads[..])
                + size_of_val(&car.wheels[..])
                + size_of_val(&car.spheres[..])
        });
        let trailers = self.towed.iter().map(|towed| size_of_val(&towed[..]));
        size_of_val(&self.cars[..])
            + size_of_val(&self.moved[..])
            + size_of_val(&self.towed[..])
            + trailers.sum::<usize>()
            + wheels.sum::<usize>()
    }

    fn one_by_one(&mut self) -> Option<&mut [Motion]> {
        // Rigid bodies all move together, not one by one.
        None
    }
}

fn attitude(car: &CarState) -> Attitude {
    Attitude {
        height: car.body.position.z,
        pitch: asin(car.forward().z.clamp(-1.0, 1.0)),
        roll: car.roll_angle(),
    }
}

/// The ground under the wheels, including its grip. Without terrain, it is level.
pub(crate) struct Land<'a>(pub(crate) &'a Ground);

impl Surface for Land<'_> {
    fn at(&self, place: DVec2) -> (f64, glam::DVec3) {
        match self.0.terrain() {
            Some(terrain) => terrain.at(place),
            None => (0.0, glam::DVec3::Z),
        }
    }

    fn friction(&self, place: DVec2) -> f64 {
        self.0.grip(place)
    }

    fn friction_on(&self, place: DVec2, layers: u32) -> f64 {
        self.0.grip_on(place, layers)
    }
}

impl Dynamics {
    /// Moves all rigid bodies by a step, after all other bodies have moved. Returns the bodies that
    /// were stopped because their state became invalid, in the order of ids.
    pub(crate) fn advance_rigid(&mut self, around: &Around<'_>) -> Vec<AgentIndex> {
        if around.agents.count_of(DynamicsLevel::Rigid) == 0 {
            return Vec::new();
        }
        let mut bodies = std::mem::take(&mut self.rigid);
        let land = Land(around.ground);
        let drivers = around.drivers();
        let mut trains = Vec::with_capacity(drivers.len());
        for &agent in &drivers {
            let model = around.model(agent);
            // A car that an edit has given other wheels no longer fits, and begins anew.
            let kept = bodies.cars[agent.index()].take();
            let kept = kept.filter(|car| car.fits(model));
            let mut towed = std::mem::take(&mut bodies.towed[agent.index()]);
            if kept.is_none() {
                towed.clear();
            }
            let car = kept.unwrap_or_else(|| around.appearing(agent, &land));
            // Trailers are coupled and uncoupled between steps.
            let states = self.towed_from(agent, car.pose(model), around.train(agent));
            car.join_on(model, &mut towed, &states, &land);
            trains.push((car, towed));
        }
        let mut yard = Yard::new(&land, around.types.physics_rate_hz);
        let near = around.set_up(self, &drivers, &trains, &mut yard);
        let mut pushed = bodies.awake_among(around.ground, &near, &land);
        let entries = drivers.iter().zip(&mut trains);
        let entries = entries.map(|(&agent, (car, towed))| around.entry(agent, car, towed));
        let loose = pushed.iter_mut().map(|(kind, state)| LooseEntry {
            model: &kind.model,
            state,
        });
        let lost = yard.step(entries.collect(), loose.collect(), around.dt);
        bodies.keep(around.ground, pushed, &land);
        for (&agent, (car, towed)) in drivers.iter().zip(trains) {
            bodies.moved[agent.index()] = around.motion(agent, &car);
            bodies.cars[agent.index()] = Some(car);
            bodies.towed[agent.index()] = towed;
        }
        self.rigid = bodies;
        lost.into_iter().map(|number| drivers[number]).collect()
    }
}

impl Around<'_> {
    /// Returns the initial state of a body at its agent's place.
    fn appearing(&self, agent: AgentIndex, land: &Land<'_>) -> CarState {
        let motion = &self.agents.motion[agent.index()];
        let mut car = CarState::at_rest(self.model(agent), motion.pose, land);
        car.roll(motion.speed);
        car
    }

    fn model(&self, agent: AgentIndex) -> &RigidModel {
        let who = &self.agents.identity[agent.index()];
        self.types.rigid(who.vehicle_type)
    }

    fn train(&self, agent: AgentIndex) -> &Train {
        let who = &self.agents.identity[agent.index()];
        self.types.train(who.vehicle_type)
    }

    fn entry<'b>(
        &'b self,
        agent: AgentIndex,
        state: &'b mut CarState,
        towed: &'b mut [CarState],
    ) -> CarEntry<'b> {
        let model = self.model(agent);
        let controls = self.controls(agent, model, state);
        CarEntry {
            model,
            state,
            controls,
            layers: self.layers(agent),
            towed,
        }
    }

    /// Returns the controls that the driver wants. A controller sees a reversing vehicle as if it
    /// were turned around. While the vehicle still rolls against the selected direction, it brakes
    /// and the wheels keep their angle.
    fn controls(&self, agent: AgentIndex, model: &RigidModel, state: &CarState) -> Controls {
        let index = agent.index();
        let command = &self.command[index];
        let pedals = pedals_of(self.pedals, index);
        let (progress, position) = (&self.agents.progress[index], &self.agents.position[index]);
        let route = self.routes.get(progress.route);
        let by_hand = self.hands.reverses(self.agents.identity[index].id);
        let is_reversing = by_hand
            .unwrap_or_else(|| !position.is_on_lane() && route.is_reversing(progress.reached));
        let speed = state.speed(model);
        let rolls_back = if speed.abs() < ROCKING {
            is_reversing
        } else {
            speed < 0.0
        };
        let steering = match (rolls_back == is_reversing, is_reversing) {
            (false, _) => state.steering,
            (true, false) => command.steering,
            (true, true) => -command.steering,
        };
        Controls {
            acceleration: command.acceleration,
            steering,
            is_reversing,
            hand_brake: pedals.is_some_and(|held| held.hand_brake),
            pedals,
        }
    }

    /// Returns the motion that other agents see.
    fn motion(&self, agent: AgentIndex, car: &CarState) -> Motion {
        let model = self.model(agent);
        let before = &self.agents.motion[agent.index()];
        let pose = car.pose(model);
        let speed = car.speed(model);
        let speed = if speed.abs() < STANDSTILL { 0.0 } else { speed };
        let axle = car.body.position - car.forward() * model.rear - car.up() * model.height;
        Motion {
            pose,
            z: axle.z,
            speed,
            // Computed from the poses, so that it is consistent with the visible motion.
            yaw_rate: wrap_angle(pose.heading - before.pose.heading) / self.dt,
            acceleration: (speed - before.speed) / self.dt,
        }
    }
}
