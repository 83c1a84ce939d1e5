//! Where a body is and how it moves, and how it lies on the ground.

use super::{Solid, Surface};
use crate::dynamic::GRAVITY;
use glam::{DMat3, DQuat, DVec3};
use roadwright_geometry::math::sin_cos;
use serde::{Deserialize, Serialize};

/// A body that lies on the ground with all its weight sinks in so far, m.
const SAG: f64 = 0.005;
/// Slower than this a loose body comes to rest, m/s and rad/s.
const CALM: f64 = 0.03;
/// It rests after so long, s.
const PATIENCE: f64 = 0.5;
/// A body rests on the ground with so many of its corners at least.
const FEET: usize = 3;
/// What is moved less than this by those around it has not been moved, m.
const UNTOUCHED: f64 = 1e-3;

/// Place and motion of a rigid body: of its centre of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BodyState {
    /// m.
    pub position: DVec3,
    /// From the frame of the body into that of the world.
    pub rotation: DQuat,
    /// m/s.
    pub velocity: DVec3,
    /// rad/s, in the frame of the world.
    pub spin: DVec3,
}

impl BodyState {
    /// Velocity of a point, m/s, that is at `arm` from the centre of gravity.
    #[inline]
    pub(super) fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(arm)
    }

    /// Whether all its numbers are those of something that exists.
    pub(super) fn is_sound(&self) -> bool {
        let (speed, spin) = (self.velocity.length(), self.spin.length());
        self.position.is_finite()
            && self.rotation.is_finite()
            && speed <= FASTEST
            && spin <= FASTEST
            && self.position.abs().max_element() <= 2.0 * roadwright_geometry::MAX_COORDINATE
    }
}

/// Faster than this nothing moves, m/s, or turns, rad/s.
const FASTEST: f64 = 300.0;

/// A turn about the vertical.
pub(super) fn heading_rotation(heading: f64) -> DQuat {
    let (sin, cos) = sin_cos(0.5 * heading);
    DQuat::from_xyzw(0.0, 0.0, sin, cos)
}

/// The rotation whose z is `up` and whose x points along `heading` as seen from above.
pub(super) fn upright_rotation(heading: f64, up: DVec3) -> DQuat {
    let (sin, cos) = sin_cos(heading);
    let left = up.cross(DVec3::new(cos, sin, 0.0)).normalize_or(DVec3::Y);
    DQuat::from_mat3(&DMat3::from_cols(left.cross(up), left, up)).normalize()
}

/// Force and torque about the centre of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Wrench {
    /// N.
    pub(super) force: DVec3,
    /// N m.
    pub(super) torque: DVec3,
}

impl Wrench {
    /// The same about a point at `arm` from the centre of gravity.
    pub(super) fn about(self, arm: DVec3) -> Self {
        Self {
            torque: self.torque - arm.cross(self.force),
            ..self
        }
    }

    /// Adds a force at `arm` from the centre of gravity.
    #[inline]
    pub(super) fn add(&mut self, force: DVec3, arm: DVec3) {
        self.force += force;
        self.torque += arm.cross(force);
    }
}

/// How the points of a body lie on the ground.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scrape {
    pub(super) mass: f64,
    pub(super) friction: f64,
    pub(super) dt: f64,
}

impl Scrape {
    /// Adds what the ground does to the points of a body, given in its frame from its centre of
    /// gravity: springs and dampers along the normal, friction across.
    pub(super) fn add(
        &self,
        points: &[DVec3],
        state: &BodyState,
        surface: &impl Surface,
        wrench: &mut Wrench,
    ) {
        for point in points {
            let arm = state.rotation * *point;
            let place = state.position + arm;
            let (height, normal) = surface.at(place.truncate());
            let depth = (height - place.z) * normal.z;
            if depth <= 0.0 {
                continue;
            }
            let velocity = state.velocity_at(arm);
            let load = self.load(depth, velocity.dot(normal));
            let across = velocity - normal * velocity.dot(normal);
            let speed = across.length();
            // No more than what stops it within the step: friction brakes, and turns nothing about.
            let most = 0.15 * self.mass * speed / self.dt;
            let rubbed = (self.friction * load).min(most);
            let direction = if speed > 0.0 {
                across / speed
            } else {
                DVec3::ZERO
            };
            wrench.add(normal * load - direction * rubbed, arm);
        }
    }

    /// Force along the normal, N: four points carry the body.
    fn load(&self, depth: f64, rising: f64) -> f64 {
        let stiffness = self.mass * GRAVITY / (4.0 * SAG);
        let damping = 0.5 * (stiffness * self.mass).sqrt();
        (stiffness * depth - damping * rising).max(0.0)
    }
}

/// A loose body: something with a mass that can be pushed.
#[derive(Debug, Clone)]
pub struct LooseModel {
    /// Its shape, about its centre of gravity.
    pub solid: Solid,
    /// kg.
    pub mass: f64,
    /// About its axes, kg m^2.
    pub inertia: DVec3,
    /// Coefficient of friction on the ground and on others.
    pub friction: f64,
    /// Of its centre of gravity above its base, m.
    pub height: f64,
}

/// What a loose body keeps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LooseState {
    /// Place and motion.
    pub body: BodyState,
    /// For how long it has been calm, s.
    pub calm: f64,
    /// Whether it rests: nothing moves it but a push.
    pub rests: bool,
}

impl LooseModel {
    /// The body standing upright on the ground, at rest.
    pub fn standing(&self, place: glam::DVec2, heading: f64, surface: &impl Surface) -> LooseState {
        let (height, _) = surface.at(place);
        LooseState {
            body: BodyState {
                position: place.extend(height + self.height - SAG),
                rotation: heading_rotation(heading),
                ..BodyState::default()
            },
            calm: 0.0,
            rests: true,
        }
    }

    /// How deep its deepest corner is in the ground, m, and how many are on it.
    fn depths(&self, body: &BodyState, surface: &impl Surface) -> (f64, usize) {
        let depth = |corner: &DVec3| {
            let place = body.position + body.rotation * *corner;
            surface.at(place.truncate()).0 - place.z
        };
        let depths = self.solid.corners().iter().map(depth);
        depths.fold((0.0, 0), |(deepest, count), depth| {
            (f64::max(deepest, depth), count + usize::from(depth > -SAG))
        })
    }

    pub(super) fn forces(&self, body: &BodyState, surface: &impl Surface, dt: f64) -> Wrench {
        let mut wrench = Wrench::default();
        let scrape = Scrape {
            mass: self.mass,
            friction: self.friction,
            dt,
        };
        scrape.add(self.solid.corners(), body, surface, &mut wrench);
        wrench
    }
}

impl LooseState {
    /// Takes over the motion after a step of `dt` seconds. One that rested and was not pushed stays to
    /// the bit as it was; one that leans on something else than the ground does not come to rest.
    pub(super) fn take(
        &mut self,
        body: BodyState,
        model: &LooseModel,
        surface: &impl Surface,
        dt: f64,
    ) {
        let is_calm = body.velocity.length() < CALM && body.spin.length() < CALM;
        let moved = (body.position - self.body.position).length();
        if self.rests && is_calm && moved < UNTOUCHED {
            return;
        }
        let was_at_rest = self.rests;
        self.calm = if is_calm { self.calm + dt } else { 0.0 };
        self.rests = self.calm >= PATIENCE && model.depths(&body, surface).1 >= FEET;
        self.body = body;
        if was_at_rest && !self.rests {
            // What stood in a slope comes out of it, and is not thrown out.
            let (deepest, _) = model.depths(&body, surface);
            self.body.position.z += (deepest - SAG).max(0.0);
        }
        if self.rests {
            (self.body.velocity, self.body.spin) = (DVec3::ZERO, DVec3::ZERO);
        }
    }

    /// Whether its numbers are those of something that exists: a save may be damaged.
    pub fn is_sound(&self) -> bool {
        self.body.is_sound() && self.calm.is_finite()
    }

    /// How far it leans from upright, rad, 0 to pi.
    pub fn tilt(&self) -> f64 {
        roadwright_geometry::math::acos((self.body.rotation * DVec3::Z).z.clamp(-1.0, 1.0))
    }
}
