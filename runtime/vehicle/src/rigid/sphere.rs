//! Wheels as spheres: bodies of their own, each on the spring of the hull.
//!
//! ```text
//!        hull  ───┬───────────┬───
//!                 ⌇ spring    ⌇      the joint lets a sphere move along its spring and nowhere else
//!                (●)         (●)     a sphere
//!                 ⌇ tyre      ⌇      pressed against the ground, stiffer than the spring
//!        ─────────┴───────────┴───
//! ```
//!
//! [Gerdelan 2011], chapter 11, has wheels of this kind. Their weight is not carried by the springs, and
//! they roll over what lies about: contacts with bodies are rapier's. A wheel weighs little beside its
//! hull, so spring and tyre are far too stiff for it to be taken on by what they were before a step:
//! its motion along the spring is found by the implicit rule, and light wheels ask for no shorter steps.
//!
//! What a tyre does along and across the wheel goes to the hull at once, as what the joint would hand
//! on without loss; the joint itself has to hold no more than the inertia of a sphere and what it runs into.

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

/// A tyre gives way so far under the static load where the file has no stiffness, m: a tyre of a passenger
/// car has about 200 N/mm, [Gillespie 1992], chapter 5.
const COMMON_DEFLECTION: f64 = 0.02;
/// Share of its speed with which a wheel bounces where the file does not say it: tyres damp little.
const COMMON_BOUNCE: f64 = 0.5;
/// A sphere goes so far into the hull at most, as a share of its radius.
const MOST_TRAVEL: f64 = 2.0;
/// A spring carries this share of the load of its wheel at least, where a file has wheels heavier than that.
const LEAST_SPRUNG: f64 = 0.02;
/// What presses on a sphere carries it if it does so within 45 degrees of its spring: cosine of that.
const BEARS: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// The hull keeps this share of its inertia at least, whatever its wheels weigh.
const LEAST_INERTIA: f64 = 0.1;

/// What spheres are, and what is left of the vehicle without them.
#[derive(Debug, Clone, PartialEq)]
pub struct Spheres {
    /// Of one wheel, kg.
    pub mass: f64,
    /// Of the hull without its wheels, kg.
    pub hull_mass: f64,
    /// Centre of gravity of the hull from that of the vehicle at rest, m.
    pub(super) hull_centre: DVec3,
    /// Inertia of the hull about its centre of gravity, kg m^2.
    pub(super) hull_inertia: DVec3,
    /// By wheel.
    tyres: Vec<Radial>,
}

/// A tyre as a spring between wheel and ground.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Radial {
    /// N/m.
    stiffness: f64,
    /// N s/m.
    damping: f64,
}

/// Where a sphere is and how it moves.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SphereState {
    /// Of its middle, m.
    pub position: DVec3,
    /// m/s.
    pub velocity: DVec3,
    /// What stands below it pressed on it with this force in the last step, N.
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
    /// The spheres of a vehicle file, if its wheels are such. Takes their weight from the springs.
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

    /// How far a tyre gives way to a force, m/N.
    pub(super) fn tyre_give(&self, wheel: usize) -> f64 {
        1.0 / self.tyres[wheel].stiffness
    }
}

/// Damping ratio of a spring from which a body comes back with a share of its speed.
fn damping_ratio(bounce: f64) -> f64 {
    let decay = -ln(bounce.clamp(1e-6, 1.0));
    decay / (PI * PI + decay * decay).sqrt()
}

impl RigidModel {
    /// How far spheres may move along their springs from where they are at rest, m.
    pub(super) fn sphere_range(&self, wheel: &Wheel) -> [f64; 2] {
        [wheel.longest(), MOST_TRAVEL * self.radius]
    }

    /// Spheres below a hull, where the ground just carries them; none if wheels are rays.
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
    /// Finds out where spheres touch the ground, and what springs and tyres give in this step.
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
            let mut contact = self.contact(wheel, turn, state, (arm, normal));
            contact.compression = place;
            contact.sphere = forces;
            contact
        }));
        for number in 0..contacts.len() {
            self.settle(spheres, state, contacts, number);
        }
    }

    /// Normal of what a sphere stands on, and how it stands there.
    fn ground_below(&self, sphere: &SphereState, up: DVec3) -> (DVec3, SphereForces) {
        // Who stands on something has its tyres on that, not on the ground below; what it runs into
        // carries nothing.
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

    /// The load of a tyre and the force of a spring at the end of the step, by the implicit rule.
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
        // Who stands on something: rapier presses there.
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

    /// What a wheel on a sphere gives to its hull; the rest, N along the spring, is the sphere's.
    pub(super) fn hand_on(
        &self,
        state: &CarState,
        (number, contact): (usize, &mut Contact),
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
        // The sphere is lifted in its middle; what is beside it turns the hull.
        wrench.torque += (contact.arm - hub).cross(up * lifts);
        wrench.add(up * contact.sphere.spring, hub);
        contact.sphere.lift = lifts - contact.sphere.spring;
    }
}

/// A force that changes with the change of a speed.
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

/// Change of speed along the spring at which `mass over time x change` is what tyre, spring and weight
/// give together at the end of the step.
fn balance(inertia: f64, spring: &Line, tyre: &Line, facing: f64, weight: f64) -> f64 {
    let sum = tyre.now * facing - spring.now - weight;
    sum / (inertia + spring.slope - tyre.slope * facing)
}
