//! Bodies among bodies: rapier moves them and solves their contacts.

use super::body::{BodyState, LooseModel, LooseState, Wrench, heading_rotation};
use super::car::{CarState, Contact, Controls, Moment};
use super::model::{RigidModel, SKIN};
use super::solid::Solid;
use super::surface::Surface;
use crate::dynamic::GRAVITY;
use glam::{DQuat, DVec2, DVec3};
use rapier3d_f64::prelude::{
    CoefficientCombineRule, ColliderBuilder, Group, InteractionGroups, InteractionTestMode,
    MassProperties, PhysicsWorld, Pose, RigidBody, RigidBodyBuilder, RigidBodyHandle, Rotation,
    Vector,
};

/// Friction of what stands and of vehicles of other levels; of two that touch the smaller one counts.
const STILL_FRICTION: f64 = 0.5;
/// Layers of a vehicle that is on open ground. Vehicles on different layers, on a bridge and on the road
/// below it, do not meet.
pub const ALL_LAYERS: u32 = u32::MAX;
/// Most steps of the solver that a step is made of.
const MOST_SUBSTEPS: f64 = 4096.0;

/// A vehicle in a step.
#[derive(Debug)]
pub struct Entry<'a> {
    /// What it is.
    pub model: &'a RigidModel,
    /// Where it is.
    pub state: &'a mut CarState,
    /// What its driver wants.
    pub controls: Controls,
    /// On which layers of roads it is, one bit each; see [`ALL_LAYERS`].
    pub layers: u32,
}

/// A loose body in a step.
#[derive(Debug)]
pub struct LooseEntry<'a> {
    /// What it is.
    pub model: &'a LooseModel,
    /// Where it is.
    pub state: &'a mut LooseState,
}

/// Something that stands still.
#[derive(Debug, Clone)]
pub struct Still {
    /// Its shape.
    pub solid: Solid,
    /// Its middle, m.
    pub middle: DVec3,
    /// rad.
    pub heading: f64,
}

/// A body that nothing stops: a vehicle of another level.
#[derive(Debug, Clone, Copy)]
pub struct Mover {
    /// Half of length, width and height, m.
    pub half_size: DVec3,
    /// Its middle at the end of the step, m.
    pub middle: DVec3,
    /// At the end of the step, rad.
    pub heading: f64,
    /// m/s.
    pub velocity: DVec2,
    /// rad/s.
    pub yaw_rate: f64,
    /// On which layers of roads it is, one bit each; see [`ALL_LAYERS`].
    pub layers: u32,
}

/// A place with a ground and bodies, for one step.
pub struct Yard<'a, S> {
    surface: &'a S,
    rate_hz: f64,
    stills: Vec<Still>,
    movers: Vec<Mover>,
}

/// Bodies of a step in rapier.
struct Bodies<'a> {
    cars: Vec<(Entry<'a>, RigidBodyHandle)>,
    loose: Vec<(LooseEntry<'a>, RigidBodyHandle, BodyState)>,
}

impl<'a, S: Surface> Yard<'a, S> {
    /// An empty yard, whose steps are made of shorter ones, at least so many in a second.
    pub fn new(surface: &'a S, rate_hz: f64) -> Self {
        Self {
            surface,
            rate_hz,
            stills: Vec::new(),
            movers: Vec::new(),
        }
    }

    /// Adds what stands still.
    pub fn add_still(&mut self, still: Still) {
        self.stills.push(still);
    }

    /// Adds what nothing stops.
    pub fn add_mover(&mut self, mover: Mover) {
        self.movers.push(mover);
    }

    /// Takes vehicles and loose bodies on by `dt` seconds. Returns the vehicles, by their number in
    /// `cars`, whose numbers have lost all sense: they have been put back to where they were, at rest.
    ///
    /// The order of bodies matters to the bit: callers give them in the order of their ids.
    pub fn step(&self, cars: Vec<Entry<'_>>, loose: Vec<LooseEntry<'_>>, dt: f64) -> Vec<usize> {
        let least = cars.iter().map(|entry| entry.model.least_rate());
        let rate = least.fold(self.rate_hz, f64::max);
        let count = (dt * rate * (1.0 - 1e-9)).ceil().clamp(1.0, MOST_SUBSTEPS);
        let time = dt / count;
        let before: Vec<BodyState> = cars.iter().map(|entry| entry.state.body).collect();
        let (mut physics, mut bodies) = self.set_up(cars, loose, dt, time);
        let mut contacts = Vec::new();
        for _ in 0..count as u32 {
            self.push(&mut physics, &mut bodies, &mut contacts, time);
            physics.step();
            read_back(&physics, &mut bodies);
        }
        for (entry, _, body) in &mut bodies.loose {
            if body.is_sound() {
                entry.state.take(*body, entry.model, self.surface, dt);
            } else {
                entry.state.rests = true;
            }
        }
        let cars = bodies.cars.into_iter().zip(before).enumerate();
        let lost = cars.filter_map(|(number, ((entry, _), before))| {
            if entry.state.body.is_sound() {
                return None;
            }
            put_to_rest(entry.model, entry.state, before);
            Some(number)
        });
        lost.collect()
    }

    fn set_up<'b>(
        &self,
        cars: Vec<Entry<'b>>,
        loose: Vec<LooseEntry<'b>>,
        dt: f64,
        time: f64,
    ) -> (PhysicsWorld, Bodies<'b>) {
        let mut physics = PhysicsWorld {
            gravity: Vector::new(0.0, 0.0, -GRAVITY),
            ..PhysicsWorld::default()
        };
        physics.integration_parameters.dt = time;
        for still in &self.stills {
            let pose = pose_of(still.middle, heading_rotation(still.heading));
            let collider = collider_of(&still.solid).friction(STILL_FRICTION);
            physics.insert(RigidBodyBuilder::fixed().pose(pose), collider);
        }
        for mover in &self.movers {
            insert_mover(&mut physics, mover, dt);
        }
        let cars = cars.into_iter().map(|entry| {
            let handle = insert_car(&mut physics, &entry);
            (entry, handle)
        });
        let cars = cars.collect();
        let loose = loose.into_iter().map(|entry| {
            let model = entry.model;
            let weight = if entry.state.rests { 0.0 } else { 1.0 };
            let body = dynamic(&entry.state.body, model.mass, model.inertia).gravity_scale(weight);
            let collider = collider_of(&model.solid).friction(model.friction);
            let (handle, _) = physics.insert(body, collider);
            let body = entry.state.body;
            (entry, handle, body)
        });
        let loose = loose.collect();
        (physics, Bodies { cars, loose })
    }

    /// Sets the forces of the next step of the solver.
    fn push(
        &self,
        physics: &mut PhysicsWorld,
        bodies: &mut Bodies<'_>,
        contacts: &mut Vec<Contact>,
        time: f64,
    ) {
        for (entry, handle) in &mut bodies.cars {
            let moment = Moment {
                model: entry.model,
                surface: self.surface,
                layers: entry.layers,
                dt: time,
            };
            let wrench = moment.forces(entry.state, &entry.controls, contacts);
            apply(&mut physics.bodies[*handle], wrench);
        }
        for (entry, handle, body) in &bodies.loose {
            // The ground carries what rests, until somebody pushes it.
            if !entry.state.rests {
                let wrench = entry.model.forces(body, self.surface, time);
                apply(&mut physics.bodies[*handle], wrench);
            }
        }
    }
}

fn apply(body: &mut RigidBody, wrench: Wrench) {
    body.reset_forces(false);
    body.reset_torques(false);
    body.add_force(vector(wrench.force), false);
    body.add_torque(vector(wrench.torque), false);
}

fn read_back(physics: &PhysicsWorld, bodies: &mut Bodies<'_>) {
    for (entry, handle) in &mut bodies.cars {
        entry.state.body = state_of(&physics.bodies[*handle]);
    }
    for (_, handle, body) in &mut bodies.loose {
        *body = state_of(&physics.bodies[*handle]);
    }
}

/// Puts a vehicle back to where it was, at rest.
fn put_to_rest(model: &RigidModel, state: &mut CarState, before: BodyState) {
    let wheels = model.wheels.len();
    *state = CarState {
        body: BodyState {
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            ..before
        },
        steering: 0.0,
        brushes: vec![Default::default(); wheels],
        loads: model.wheels.iter().map(|wheel| wheel.load).collect(),
        wheels: vec![Default::default(); wheels],
        ..CarState::default()
    };
}

fn insert_car(physics: &mut PhysicsWorld, entry: &Entry<'_>) -> RigidBodyHandle {
    let model = entry.model;
    let body = dynamic(&entry.state.body, model.mass, model.inertia);
    let collider = collider_of(&model.shell)
        .position(pose_of(model.hull, DQuat::IDENTITY))
        .friction(model.hull_friction)
        .collision_groups(groups(entry.layers));
    physics.insert(body, collider).0
}

fn insert_mover(physics: &mut PhysicsWorld, mover: &Mover, dt: f64) {
    // It is where it will be: in the step it comes from where it was.
    let velocity = mover.velocity.extend(0.0);
    let turned = heading_rotation(mover.heading - mover.yaw_rate * dt);
    let body = RigidBodyBuilder::kinematic_velocity_based()
        .pose(pose_of(mover.middle - velocity * dt, turned))
        .linvel(vector(velocity))
        .angvel(Vector::new(0.0, 0.0, mover.yaw_rate));
    let half = (mover.half_size - SKIN).max(0.5 * mover.half_size);
    let collider = ColliderBuilder::cuboid(half.x, half.y, half.z)
        .friction(STILL_FRICTION)
        .collision_groups(groups(mover.layers));
    physics.insert(body, collider);
}

fn dynamic(state: &BodyState, mass: f64, inertia: DVec3) -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic()
        .pose(pose_of(state.position, state.rotation))
        .linvel(vector(state.velocity))
        .angvel(vector(state.spin))
        .additional_mass_properties(MassProperties::new(Vector::ZERO, mass, vector(inertia)))
        .can_sleep(false)
}

fn groups(layers: u32) -> InteractionGroups {
    let groups = Group::from_bits_retain(layers);
    InteractionGroups::new(groups, groups, InteractionTestMode::And)
}

fn collider_of(solid: &Solid) -> ColliderBuilder {
    ColliderBuilder::new(solid.shape.clone())
        .position(solid.pose)
        .density(0.0)
        .friction_combine_rule(CoefficientCombineRule::Min)
}

/// A vector as rapier has it.
pub(super) fn vector(v: DVec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose_of(position: DVec3, rotation: DQuat) -> Pose {
    let DQuat { x, y, z, w } = rotation;
    Pose::from_parts(vector(position), Rotation::from_xyzw(x, y, z, w))
}

/// The state of a body. Rapier switches off those whose numbers make no sense: their state is none.
fn state_of(body: &RigidBody) -> BodyState {
    if !body.is_enabled() {
        return BodyState {
            velocity: DVec3::NAN,
            ..BodyState::default()
        };
    }
    let from = |v: Vector| DVec3::new(v.x, v.y, v.z);
    let turned = body.rotation();
    BodyState {
        position: from(body.translation()),
        rotation: DQuat::from_xyzw(turned.x, turned.y, turned.z, turned.w),
        velocity: from(body.linvel()),
        spin: from(body.angvel()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests;
