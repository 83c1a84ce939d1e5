//! Wheels as spheres: separate bodies, each on a spring of the hull.
//!
//! ```text
//!        hull  ───┬───────────┬───
//!                 ⌇ spring    ⌇      the joint lets a sphere move only along its spring
//!                (●)         (●)     a sphere
//!                 ⌇ tyre      ⌇      pressed against the ground, stiffer than the spring
//!        ─────────┴───────────┴───
//! ```
//!
//! [Gerdelan 2011], chapter 11, uses this kind of wheel. The springs do not carry the weight of the
//! wheels, and the wheels roll over obstacles, because rapier solves their contacts with bodies. A
//! wheel is light compared with its hull, so its spring and tyre are far too stiff for explicit
//! steps. Its motion along the spring is therefore integrated implicitly, so that light wheels do
//! not require shorter steps.
//!
//! The longitudinal and lateral tyre forces are applied directly to the hull, as an ideal joint
//! would transmit them. The joint itself only has to transmit the inertia of the sphere and its
//! collisions.

use super::body::{BodyState, Wrench};
use super::car::CarState;
use super::model::{RigidModel, Wheel};
use super::moment::{Contact, Moment, SphereForces};
use super::surface::Surface;
use crate::dynamic::GRAVITY;
use glam::DVec3;
use roadwright_geometry::math::ln;
use roadwright_scenario::vehicle_file::{VehicleFile, WheelShape};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Default deflection of a tyre under its static load, m. Tyres of passenger cars have a stiffness of about
/// 200 N/mm ([Gillespie 1992], chapter 5).
const COMMON_DEFLECTION: f64 = 0.02;
/// Default fraction of the impact speed that a wheel keeps when it bounces. It is high because
/// tyres have little damping.
const COMMON_BOUNCE: f64 = 0.5;
/// Maximum travel of a sphere into the hull, as a multiple of its radius.
const MOST_TRAVEL: f64 = 2.0;
/// Minimum fraction of a wheel's load that its spring carries, for files whose wheels are heavier
/// than their loads.
const LEAST_SPRUNG: f64 = 0.02;
/// Minimum cosine of the angle between the contact direction and the spring axis at which a body
/// that touches a sphere supports it. It corresponds to 45 degrees.
const BEARS: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Minimum fraction of the vehicle's inertia that remains with the hull, however heavy its wheels
/// are.
const LEAST_INERTIA: f64 = 0.1;

/// Data of the spherical wheels, and of the hull without them.
#[derive(Debug, Clone, PartialEq)]
pub struct Spheres {
    /// Mass of a wheel, kg.
    pub mass: f64,
    /// Mass of the hull without wheels, kg.
    pub hull_mass: f64,
    /// Centre of gravity of the hull relative to the vehicle's centre of gravity at rest, m.
    pub(super) hull_centre: DVec3,
    /// Moments of inertia of the hull about its centre of gravity, kg m^2.
    pub(super) hull_inertia: DVec3,
    /// Radial springs of the tyres, by wheel.
    tyres: Vec<Radial>,
}

/// A tyre as a radial spring between wheel and ground.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Radial {
    /// Stiffness, N/m.
    stiffness: f64,
    /// Damping, N s/m.
    damping: f64,
}

/// Position and motion of a sphere.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SphereState {
    /// Position of the sphere's centre, m.
    pub position: DVec3,
    /// Velocity, m/s.
    pub velocity: DVec3,
    /// Force exerted by a static body below the sphere in the last step, N.
    pub bearing: DVec3,
}

impl SphereState {
    pub(super) fn is_sound(&self) -> bool {
        let body = BodyState {
            position: self.position,
            velocity: self.velocity,
            ..BodyState::default()
        };
        body.is_sound() && self.bearing.is_finite()
    }
}

impl Spheres {
    /// Creates the spheres of a vehicle file, and subtracts their weight from the spring loads.
    /// Returns `None` if the wheels are not spheres.
    pub(super) fn of_file(
        file: &VehicleFile,
        wheels: &mut [Wheel],
        inertia: DVec3,
    ) -> Option<Self> {
        if file.wheels.shape != WheelShape::Sphere {
            return None;
        }
        let (mass, radius) = (file.wheels.mass, file.wheels.radius);
        let tyres = wheels.iter().map(|wheel| {
            let common = wheel.load / COMMON_DEFLECTION;
            let stiffness = file.wheels.radial_stiffness.unwrap_or(common);
            let bounce = file.wheels.bounce.unwrap_or(COMMON_BOUNCE);
            let ratio = damping_ratio(bounce);
            Radial {
                stiffness,
                damping: 2.0 * ratio * (stiffness * mass).sqrt(),
            }
        });
        let tyres = tyres.collect();
        let hubs: Vec<DVec3> = wheels.iter().map(|wheel| wheel.hub(radius.get())).collect();
        let hull_mass = file.body.mass;
        let hull_centre = -mass / hull_mass * hubs.iter().sum::<DVec3>();
        let squares = |place: DVec3| {
            let square = place * place;
            DVec3::new(
                square.y + square.z,
                square.x + square.z,
                square.x + square.y,
            )
        };
        let taken: DVec3 = hubs.iter().map(|hub| mass.get() * squares(*hub)).sum();
        let left = inertia - taken - hull_mass.get() * squares(hull_centre);
        for wheel in wheels {
            wheel.sprung = (wheel.load - mass * GRAVITY).max(LEAST_SPRUNG * wheel.load);
        }
        Some(Self {
            mass: mass.get(),
            hull_mass: hull_mass.get(),
            hull_centre,
            hull_inertia: left.max(LEAST_INERTIA * inertia),
            tyres,
        })
    }

    /// Compliance of a tyre, m/N.
    pub(super) fn tyre_give(&self, wheel: usize) -> f64 {
        1.0 / self.tyres[wheel].stiffness
    }
}

/// Returns the damping ratio of a spring on which a body bounces with a given fraction of its impact speed.
fn damping_ratio(bounce: f64) -> f64 {
    let decay = -ln(bounce.clamp(1e-6, 1.0));
    decay / (PI * PI + decay * decay).sqrt()
}

impl RigidModel {
    /// Range of motion of the spheres along their springs from the rest position, m.
    pub(super) fn sphere_range(&self, wheel: &Wheel) -> [f64; 2] {
        [wheel.longest(), MOST_TRAVEL * self.radius]
    }

    /// Creates the spheres below a hull, at the height at which the ground just supports them.
    /// Returns an empty list if the wheels are rays.
    pub(super) fn spheres_at(&self, body: &BodyState, surface: &impl Surface) -> Vec<SphereState> {
        if self.spheres.is_none() {
            return Vec::new();
        }
        let up = body.rotation * DVec3::Z;
        let spheres = self.wheels.iter().map(|wheel| {
            let hub = body.position + body.rotation * wheel.hub(self.radius);
            let (height, normal) = surface.at(hub.truncate());
            let facing = up.dot(normal).max(0.5);
            let [low, high] = self.sphere_range(wheel);
            let gap = (hub.z - height) * normal.z - self.radius;
            SphereState {
                position: hub - up * (gap / facing).clamp(-high, -low),
                ..SphereState::default()
            }
        });
        spheres.collect()
    }
}

impl<S: Surface> Moment<'_, S> {
    /// Finds the ground contacts of the spheres, and the forces of their springs and tyres in this step.
    pub(super) fn touch_spheres(
        &self,
        spheres: &Spheres,
        state: &CarState,
        contacts: &mut Vec<Contact>,
    ) {
        let model = self.model;
        let turn = self.turn_of_wheels(state);
        contacts.clear();
        let places = model.wheels.iter().zip(&state.spheres);
        contacts.extend(places.map(|(wheel, sphere)| {
            let (normal, forces) = self.ground_below(sphere, state.up());
            let arm = sphere.position - normal * model.radius - state.body.position;
            let hub = state.body.position + state.body.rotation * wheel.hub(model.radius);
            let place = (sphere.position - hub).dot(state.up());
            let mut contact = self.contact(wheel, turn, state, arm, normal);
            contact.compression = place;
            contact.sphere = forces;
            contact
        }));
        for number in 0..contacts.len() {
            self.settle(spheres, state, contacts, number);
        }
    }

    /// Returns the normal of the surface that supports a sphere, and the support forces.
    fn ground_below(&self, sphere: &SphereState, up: DVec3) -> (DVec3, SphereForces) {
        // A sphere that stands on a body is supported by the body rather than the ground below. A
        // body that the sphere merely runs into does not support it.
        let upon = sphere.bearing.try_normalize();
        if let Some(upon) = upon.filter(|upon| upon.dot(up) > BEARS) {
            let forces = SphereForces {
                borne: sphere.bearing.dot(upon),
                ..SphereForces::default()
            };
            return (upon, forces);
        }
        let (height, normal) = self.surface.at(sphere.position.truncate());
        let forces = SphereForces {
            gap: (sphere.position.z - height) * normal.z - self.model.radius,
            ..SphereForces::default()
        };
        (normal, forces)
    }

    /// Solves for the tyre load and spring force at the end of the step (implicit integration).
    fn settle(&self, spheres: &Spheres, state: &CarState, contacts: &mut [Contact], number: usize) {
        let model = self.model;
        let (wheel, sphere) = (&model.wheels[number], &state.spheres[number]);
        let (up, dt) = (state.up(), self.dt);
        let bar = wheel.partner.map_or(0.0, |partner| {
            let pressed = [number, partner].map(|wheel| contacts[wheel].compression);
            model.bar_force(number, partner, pressed)
        });
        let contact = &mut contacts[number];
        let hub = state.body.rotation * wheel.hub(model.radius);
        let rate = (sphere.velocity - state.body.velocity_at(hub)).dot(up);
        let spring = Line {
            now: wheel.sprung
                + wheel.spring * contact.compression
                + bar
                + (wheel.spring * dt + wheel.damping) * rate,
            slope: wheel.spring * dt + wheel.damping,
        };
        let tyre = &spheres.tyres[number];
        let (facing, per_speed) = (contact.normal.dot(up), tyre.stiffness * dt + tyre.damping);
        let tyre = Line {
            now: wheel.load
                - tyre.stiffness * contact.sphere.gap
                - per_speed * sphere.velocity.dot(contact.normal),
            slope: -per_speed * facing,
        };
        let weight = spheres.mass * GRAVITY * up.z;
        // For a sphere on a body, rapier computes the force.
        let borne = contact.sphere.borne;
        let tyre = if borne > 0.0 || facing <= 0.0 {
            Line::NONE
        } else {
            tyre
        };
        let mut change = balance(
            spheres.mass / dt,
            &spring,
            &tyre,
            facing,
            weight - borne * facing,
        );
        let mut load = tyre.at(change);
        if load < 0.0 {
            change = balance(spheres.mass / dt, &spring, &Line::NONE, facing, weight);
            load = 0.0;
        }
        contact.sphere.spring = spring.at(change).max(0.0);
        contact.load = if borne > 0.0 { borne } else { load };
    }

    /// Transfers the forces of a spherical wheel to the hull, and stores the force that remains on
    /// the sphere along its spring, N.
    pub(super) fn hand_on(
        &self,
        state: &CarState,
        number: usize,
        contact: &mut Contact,
        tyre: DVec3,
        wrench: &mut Wrench,
    ) {
        let up = state.up();
        let hub = state.body.rotation * self.model.wheels[number].hub(self.model.radius);
        let pressed = if contact.sphere.borne > 0.0 {
            0.0
        } else {
            contact.load
        };
        let whole = tyre + contact.normal * pressed;
        let lifts = whole.dot(up);
        wrench.add(whole - up * lifts, contact.arm);
        // The lift acts at the centre of the sphere. If that is laterally offset from the hub, the
        // lift rotates the hull.
        wrench.torque += (contact.arm - hub).cross(up * lifts);
        wrench.add(up * contact.sphere.spring, hub);
        contact.sphere.lift = lifts - contact.sphere.spring;
    }
}

/// A force that depends linearly on the change of a speed.
#[derive(Debug, Clone, Copy)]
struct Line {
    now: f64,
    slope: f64,
}

impl Line {
    const NONE: Self = Self {
        now: 0.0,
        slope: 0.0,
    };

    fn at(&self, change: f64) -> f64 {
        self.now + self.slope * change
    }
}

/// Returns the change of speed along the spring that balances the forces at the end of the step:
/// `inertia` times the change equals the sum of tyre force, spring force and weight.
fn balance(inertia: f64, spring: &Line, tyre: &Line, facing: f64, weight: f64) -> f64 {
    let sum = tyre.now * facing - spring.now - weight;
    sum / (inertia + spring.slope - tyre.slope * facing)
}
