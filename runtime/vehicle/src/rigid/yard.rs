//! The yard, which simulates interacting bodies: rapier moves them and solves their contacts.

use super::body::{BodyState, LooseModel, LooseState, Wrench, heading_rotation};
use super::car::{CarState, Controls};
use super::model::{RigidModel, SKIN};
use super::moment::{Braking, Contact, Moment};
use super::solid::Solid;
use super::sphere::{SphereState, Spheres};
use super::surface::Surface;
use super::towed::{Held, Joint};
use crate::dynamic::GRAVITY;
use glam::{DQuat, DVec2, DVec3};
use rapier3d_f64::prelude::{
    CoefficientCombineRule, ColliderBuilder, ColliderHandle, GenericJointBuilder, Group,
    InteractionGroups, InteractionTestMode, JointAxesMask, JointAxis, MassProperties, PhysicsWorld,
    Pose, RigidBody, RigidBodyBuilder, RigidBodyHandle, Rotation, SphericalJointBuilder, Vector,
};

/// Friction coefficient of obstacles and of vehicles at other levels. If two bodies touch, the
/// smaller coefficient applies.
const STILL_FRICTION: f64 = 0.5;
/// Layer mask of a vehicle on open ground. Vehicles on different layers, such as a bridge and the
/// road below it, do not collide.
pub const ALL_LAYERS: u32 = u32::MAX;
/// Maximum number of solver steps per time step.
const MOST_SUBSTEPS: f64 = 4096.0;

/// A vehicle and its inputs in a step.
#[derive(Debug)]
pub struct CarEntry<'a> {
    /// Rigid-body model of the vehicle.
    pub model: &'a RigidModel,
    /// State of the vehicle, which the step advances.
    pub state: &'a mut CarState,
    /// Inputs of the vehicle's driver.
    pub controls: Controls,
    /// Road layers of the vehicle (bit mask); see [`ALL_LAYERS`].
    pub layers: u32,
    /// States of the trailers, from front to back. If the model has more trailers than there are
    /// states, the remaining trailers are not simulated.
    pub towed: &'a mut [CarState],
}

/// A loose body in a step.
#[derive(Debug)]
pub struct LooseEntry<'a> {
    /// Model of the body.
    pub model: &'a LooseModel,
    /// State of the body, which the step advances.
    pub state: &'a mut LooseState,
}

/// A static obstacle.
#[derive(Debug, Clone)]
pub struct Still {
    /// Shape of the obstacle.
    pub solid: Solid,
    /// Centre, m.
    pub middle: DVec3,
    /// Heading, rad.
    pub heading: f64,
}

/// A kinematic body, which other bodies cannot stop, such as a vehicle at another level.
#[derive(Debug, Clone, Copy)]
pub struct KinematicBody {
    /// Half the length, width and height, m.
    pub half_size: DVec3,
    /// Centre at the end of the step, m.
    pub middle: DVec3,
    /// Heading at the end of the step, rad.
    pub heading: f64,
    /// Velocity, m/s.
    pub velocity: DVec2,
    /// Yaw rate, rad/s.
    pub yaw_rate: f64,
    /// Road layers of the vehicle (bit mask); see [`ALL_LAYERS`].
    pub layers: u32,
}

/// The ground and the bodies on it, for one step.
pub struct Yard<'a, S> {
    surface: &'a S,
    rate_hz: f64,
    stills: Vec<Still>,
    kinematic_bodies: Vec<KinematicBody>,
}

/// A vehicle or trailer in rapier. In lists, trailers directly follow their towing vehicle.
struct Car<'a> {
    model: &'a RigidModel,
    state: &'a mut CarState,
    role: Role<'a>,
    layers: u32,
    /// State at the beginning of the step.
    before: BodyState,
    hull: RigidBodyHandle,
    /// Spherical wheels; empty for rays.
    spheres: Vec<(RigidBodyHandle, ColliderHandle)>,
}

/// Whether a vehicle or trailer in the yard is driven or towed.
enum Role<'a> {
    /// Controlled by its driver. The second value is the towed mass, kg.
    Driven(Controls, f64),
    /// Towed by the vehicle ahead.
    Towed(&'a Joint),
}

impl Car<'_> {
    fn held(&self) -> Held<'_> {
        Held {
            model: self.model,
            body: &self.state.body,
        }
    }

    /// Moves the vehicle back to its previous position and brings it to rest.
    fn put_to_rest(&mut self, surface: &impl Surface) {
        put_to_rest(self.model, self.state, self.before, surface);
    }
}

/// Bodies of a step in rapier.
struct Bodies<'a> {
    cars: Vec<Car<'a>>,
    loose: Vec<(LooseEntry<'a>, RigidBodyHandle, BodyState)>,
}

impl<'a, S: Surface> Yard<'a, S> {
    /// Creates an empty yard. Its steps are divided into solver steps at no less than the given
    /// rate.
    pub fn new(surface: &'a S, rate_hz: f64) -> Self {
        Self {
            surface,
            rate_hz,
            stills: Vec::new(),
            kinematic_bodies: Vec::new(),
        }
    }

    /// Adds a static obstacle.
    pub fn add_still(&mut self, still: Still) {
        self.stills.push(still);
    }

    /// Adds a kinematic body.
    pub fn add_kinematic_body(&mut self, mover: KinematicBody) {
        self.kinematic_bodies.push(mover);
    }

    /// Advances vehicles and loose bodies by `dt` seconds. Returns the indices in `cars` of
    /// vehicles whose states became invalid. These vehicles have been moved back to their previous
    /// positions and brought to rest.
    ///
    /// The order of bodies affects the last bits of the result, so callers have to pass them in the
    /// order of ids.
    pub fn step(&self, cars: Vec<CarEntry<'_>>, loose: Vec<LooseEntry<'_>>, dt: f64) -> Vec<usize> {
        let models = cars.iter().flat_map(|entry| {
            let towed = entry.model.trailers.iter().take(entry.towed.len());
            std::iter::once(entry.model).chain(towed.map(|trailer| &trailer.model))
        });
        let least = models.map(RigidModel::least_rate);
        let rate = least.fold(self.rate_hz, f64::max);
        let count = (dt * rate * (1.0 - 1e-9)).ceil().clamp(1.0, MOST_SUBSTEPS);
        let time = dt / count;
        let (mut physics, mut bodies) = self.set_up(cars, loose, dt, time);
        let mut contacts = Vec::new();
        for _ in 0..count as u32 {
            self.push(&mut physics, &mut bodies, &mut contacts, time);
            physics.step();
            read_back(&physics, &mut bodies, time);
        }
        for (entry, _, body) in &mut bodies.loose {
            if body.is_sound() {
                entry.state.take(*body, entry.model, self.surface, dt);
            } else {
                entry.state.rests = true;
            }
        }
        let trains = bodies.cars.chunk_by_mut(is_towed).enumerate();
        let lost = trains.filter_map(|(number, train)| {
            if train.iter().all(|car| car.state.is_sound()) {
                return None;
            }
            train
                .iter_mut()
                .for_each(|car| car.put_to_rest(self.surface));
            Some(number)
        });
        lost.collect()
    }

    fn set_up<'b>(
        &self,
        cars: Vec<CarEntry<'b>>,
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
        for mover in &self.kinematic_bodies {
            insert_kinematic_body(&mut physics, mover, dt);
        }
        let cars = cars.into_iter();
        let cars = cars.flat_map(|entry| insert_train(&mut physics, entry));
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

    /// Sets the forces on all bodies for the next solver step.
    fn push(
        &self,
        physics: &mut PhysicsWorld,
        bodies: &mut Bodies<'_>,
        contacts: &mut Vec<Contact>,
        time: f64,
    ) {
        for train in bodies.cars.chunk_by_mut(is_towed) {
            let mut braking = Braking::default();
            for car in &mut *train {
                braking = self.push_car(physics, car, braking, contacts, time);
            }
            for pair in train.windows(2) {
                hold_together(physics, &pair[0], &pair[1], time);
            }
        }
        for (entry, handle, body) in &bodies.loose {
            // The ground supports a resting body until it is pushed.
            if !entry.state.rests {
                let wrench = entry.model.forces(body, self.surface, time);
                apply(&mut physics.bodies[*handle], wrench);
            }
        }
    }

    /// Sets the forces on a vehicle. A trailer follows the braking of the vehicle ahead. Returns the braking
    /// of the vehicle.
    fn push_car(
        &self,
        physics: &mut PhysicsWorld,
        car: &mut Car<'_>,
        ahead: Braking,
        contacts: &mut Vec<Contact>,
        time: f64,
    ) -> Braking {
        let moment = Moment {
            model: car.model,
            surface: self.surface,
            layers: car.layers,
            dt: time,
        };
        let (mut wrench, braking) = match &car.role {
            Role::Driven(controls, towed) => moment.forces(car.state, controls, *towed, contacts),
            Role::Towed(_) => (moment.towed_forces(car.state, ahead, contacts), ahead),
        };
        if let Some(spheres) = &car.model.spheres {
            wrench = wrench.about(car.state.body.rotation * spheres.hull_centre);
        }
        apply(&mut physics.bodies[car.hull], wrench);
        let up = car.state.up();
        for ((sphere, _), contact) in car.spheres.iter().zip(&*contacts) {
            let lift = Wrench {
                force: up * contact.sphere.lift,
                ..Wrench::default()
            };
            apply(&mut physics.bodies[*sphere], lift);
        }
        braking
    }
}

/// Whether `next` is a trailer, which is then towed by the vehicle before it in the list.
fn is_towed(_: &Car<'_>, next: &Car<'_>) -> bool {
    matches!(next.role, Role::Towed(_))
}

/// Applies the additional torques of a joint to both of its bodies.
fn hold_together(physics: &mut PhysicsWorld, ahead: &Car<'_>, behind: &Car<'_>, time: f64) {
    let Role::Towed(joint) = behind.role else {
        return;
    };
    let torque = vector(joint.torque(ahead.held(), behind.held(), time));
    physics.bodies[ahead.hull].add_torque(-torque, false);
    physics.bodies[behind.hull].add_torque(torque, false);
}

fn apply(body: &mut RigidBody, wrench: Wrench) {
    body.reset_forces(false);
    body.reset_torques(false);
    body.add_force(vector(wrench.force), false);
    body.add_torque(vector(wrench.torque), false);
}

fn read_back(physics: &PhysicsWorld, bodies: &mut Bodies<'_>, time: f64) {
    for car in &mut bodies.cars {
        let state = &mut car.state;
        state.body = state_of(&physics.bodies[car.hull]);
        if let Some(spheres) = &car.model.spheres {
            let arm = state.body.rotation * spheres.hull_centre;
            state.body.velocity = state.body.velocity_at(-arm);
        }
        for ((body, collider), sphere) in car.spheres.iter().zip(&mut state.spheres) {
            let BodyState {
                position, velocity, ..
            } = state_of(&physics.bodies[*body]);
            *sphere = SphereState {
                position,
                velocity,
                bearing: bearing(physics, *collider) / time,
            };
        }
    }
    for (_, handle, body) in &mut bodies.loose {
        *body = state_of(&physics.bodies[*handle]);
    }
}

/// Returns the impulse of static obstacles on a sphere in the last step, N s. Tyres have grip on
/// such obstacles. Loose bodies are excluded, because they give way below a tyre.
fn bearing(physics: &PhysicsWorld, sphere: ColliderHandle) -> DVec3 {
    let pairs = physics.narrow_phase.contact_pairs_with(sphere);
    let pressed = pairs.map(|pair| {
        let (other, side) = if pair.collider1 == sphere {
            (pair.collider2, -1.0)
        } else {
            (pair.collider1, 1.0)
        };
        let parent = physics.colliders[other].parent();
        if !parent.is_some_and(|body| physics.bodies[body].is_fixed()) {
            return DVec3::ZERO;
        }
        let manifolds = pair.manifolds().iter().map(|manifold| {
            let impulses = manifold.points.iter().map(|point| point.data.impulse);
            from_rapier(manifold.data.normal) * (side * impulses.sum::<f64>())
        });
        manifolds.sum()
    });
    pressed.sum()
}

/// Moves a vehicle back to its previous position and brings it to rest.
fn put_to_rest(
    model: &RigidModel,
    state: &mut CarState,
    before: BodyState,
    surface: &impl Surface,
) {
    let wheels = model.wheels.len();
    let body = BodyState {
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        ..before
    };
    *state = CarState {
        body,
        spheres: model.spheres_at(&body, surface),
        steering: 0.0,
        brushes: vec![Default::default(); wheels],
        loads: model.wheels.iter().map(|wheel| wheel.load).collect(),
        wheels: vec![Default::default(); wheels],
        ..CarState::default()
    };
}

/// Inserts a vehicle and its trailers into rapier's world.
fn insert_train<'a>(physics: &mut PhysicsWorld, entry: CarEntry<'a>) -> Vec<Car<'a>> {
    let CarEntry {
        model,
        state,
        controls,
        layers,
        towed,
    } = entry;
    let masses = model.trailers.iter().map(|trailer| trailer.model.mass);
    let behind = masses.take(towed.len());
    let role = Role::Driven(controls, behind.sum());
    let mut train = vec![insert_car(physics, model, state, role, layers)];
    for (trailer, state) in model.trailers.iter().zip(towed) {
        let joint = &trailer.joint;
        let ahead = train.last().map(|car| car.hull);
        let car = insert_car(physics, &trailer.model, state, Role::Towed(joint), layers);
        if let Some(ahead) = ahead {
            let held = SphericalJointBuilder::new()
                .local_anchor1(vector(joint.ahead))
                .local_anchor2(vector(joint.behind))
                .contacts_enabled(false);
            physics.insert_impulse_joint(ahead, car.hull, held);
        }
        train.push(car);
    }
    train
}

fn insert_car<'a>(
    physics: &mut PhysicsWorld,
    model: &'a RigidModel,
    state: &'a mut CarState,
    role: Role<'a>,
    layers: u32,
) -> Car<'a> {
    let body = match &model.spheres {
        None => dynamic(&state.body, model.mass, model.inertia),
        Some(spheres) => hull_above(&state.body, spheres),
    };
    let collider = collider_of(&model.shell)
        .position(pose_of(model.hull, DQuat::IDENTITY))
        .friction(model.hull_friction)
        .collision_groups(groups(layers));
    let (hull, _) = physics.insert(body, collider);
    let spheres = match &model.spheres {
        None => Vec::new(),
        Some(spheres) => insert_spheres(physics, model, state, spheres, layers, hull),
    };
    Car {
        before: state.body,
        model,
        state,
        role,
        layers,
        hull,
        spheres,
    }
}

/// Creates a hull without its wheels. Its centre of gravity is higher than that of the whole
/// vehicle.
fn hull_above(state: &BodyState, spheres: &Spheres) -> RigidBodyBuilder {
    let centre = spheres.hull_centre;
    let velocity = state.velocity_at(state.rotation * centre);
    let mass = MassProperties::new(
        vector(centre),
        spheres.hull_mass,
        vector(spheres.hull_inertia),
    );
    RigidBodyBuilder::dynamic()
        .pose(pose_of(state.position, state.rotation))
        .linvel(vector(velocity))
        .angvel(vector(state.spin))
        .additional_mass_properties(mass)
        .can_sleep(false)
}

/// Inserts the spheres of a vehicle. They do not rotate in the solver, because
/// [`WheelState`](super::WheelState) contains their rolling speed. A joint holds each sphere on the
/// axis of its spring.
fn insert_spheres(
    physics: &mut PhysicsWorld,
    model: &RigidModel,
    state: &CarState,
    spheres: &Spheres,
    layers: u32,
    hull: RigidBodyHandle,
) -> Vec<(RigidBodyHandle, ColliderHandle)> {
    let wheels = model.wheels.iter().zip(&state.spheres);
    let inserted = wheels.map(|(wheel, sphere)| {
        let mass = MassProperties::new(Vector::ZERO, spheres.mass, Vector::ZERO);
        let body = RigidBodyBuilder::dynamic()
            .translation(vector(sphere.position))
            .linvel(vector(sphere.velocity))
            .additional_mass_properties(mass)
            .lock_rotations()
            .can_sleep(false);
        let collider = ColliderBuilder::ball(model.radius)
            .density(0.0)
            .friction(0.0)
            .friction_combine_rule(CoefficientCombineRule::Min)
            .collision_groups(groups(layers));
        let (body, collider) = physics.insert(body, collider);
        let joint = GenericJointBuilder::new(JointAxesMask::LIN_X | JointAxesMask::LIN_Y)
            .local_anchor1(vector(wheel.hub(model.radius)))
            .limits(JointAxis::LinZ, model.sphere_range(wheel))
            .contacts_enabled(false);
        physics.insert_impulse_joint(hull, body, joint);
        (body, collider)
    });
    inserted.collect()
}

fn insert_kinematic_body(physics: &mut PhysicsWorld, mover: &KinematicBody, dt: f64) {
    // The body reaches its final pose at the end of the step, moving there from its previous pose.
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

/// Converts a vector to rapier's type.
pub(super) fn vector(v: DVec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn pose_of(position: DVec3, rotation: DQuat) -> Pose {
    let DQuat { x, y, z, w } = rotation;
    Pose::from_parts(vector(position), Rotation::from_xyzw(x, y, z, w))
}

/// Returns the state of a body. Rapier disables bodies with invalid values, so their state is invalid too.
fn state_of(body: &RigidBody) -> BodyState {
    if !body.is_enabled() {
        return BodyState {
            velocity: DVec3::NAN,
            ..BodyState::default()
        };
    }
    let turned = body.rotation();
    let position = from_rapier(body.translation());
    BodyState {
        position,
        rotation: DQuat::from_xyzw(turned.x, turned.y, turned.z, turned.w),
        velocity: from_rapier(body.linvel()),
        spin: from_rapier(body.angvel()),
    }
}

fn from_rapier(v: Vector) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod sphere_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod trailer_tests;
