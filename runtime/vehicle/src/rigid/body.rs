//! Position, motion and ground contact of a body.

use super::{Solid, Surface};
use crate::dynamic::GRAVITY;
use glam::{DMat3, DQuat, DVec3};
use roadwright_geometry::math::sin_cos;
use serde::{Deserialize, Serialize};

/// Depth to which a body sinks into the ground under its full weight, m.
const SAG: f64 = 0.005;
/// Speeds below which a loose body may come to rest, m/s and rad/s.
const CALM: f64 = 0.03;
/// Time for which a body has to be slow before it comes to rest, s.
const PATIENCE: f64 = 0.5;
/// Minimum number of corners on the ground at which a body can come to rest.
const FEET: usize = 3;
/// Maximum displacement by other bodies at which a body does not count as pushed, m.
const UNTOUCHED: f64 = 1e-3;

/// Position and motion of a rigid body, at its centre of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BodyState {
    /// Position, m.
    pub position: DVec3,
    /// Rotation from the body frame to the world frame.
    pub rotation: DQuat,
    /// Velocity, m/s.
    pub velocity: DVec3,
    /// Angular velocity in the world frame, rad/s.
    pub spin: DVec3,
}

impl BodyState {
    /// Velocity of the point at `arm` from the centre of gravity, m/s.
    #[inline]
    pub(super) fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(arm)
    }

    /// Whether all values are physically plausible.
    pub(super) fn is_sound(&self) -> bool {
        let (speed, spin) = (self.velocity.length(), self.spin.length());
        self.position.is_finite()
            && self.rotation.is_finite()
            && speed <= FASTEST
            && spin <= FASTEST
            && self.position.abs().max_element() <= 2.0 * roadwright_geometry::MAX_COORDINATE
    }
}

/// Maximum plausible speed in m/s and angular speed in rad/s.
const FASTEST: f64 = 300.0;

/// Returns a rotation about the vertical axis.
pub(super) fn heading_rotation(heading: f64) -> DQuat {
    let (sin, cos) = sin_cos(0.5 * heading);
    DQuat::from_xyzw(0.0, 0.0, sin, cos)
}

/// Returns the rotation whose z axis is `up` and whose x axis points along `heading` in plan view.
pub(super) fn upright_rotation(heading: f64, up: DVec3) -> DQuat {
    let (sin, cos) = sin_cos(heading);
    let left = up.cross(DVec3::new(cos, sin, 0.0)).normalize_or(DVec3::Y);
    DQuat::from_mat3(&DMat3::from_cols(left.cross(up), left, up)).normalize()
}

/// Force and torque about the centre of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Wrench {
    /// Force, N.
    pub(super) force: DVec3,
    /// Torque, N m.
    pub(super) torque: DVec3,
}

impl Wrench {
    /// Returns the same wrench about a point at `arm` from the centre of gravity.
    pub(super) fn about(self, arm: DVec3) -> Self {
        Self {
            torque: self.torque - arm.cross(self.force),
            ..self
        }
    }

    /// Adds a force that acts at `arm` from the centre of gravity.
    #[inline]
    pub(super) fn add(&mut self, force: DVec3, arm: DVec3) {
        self.force += force;
        self.torque += arm.cross(force);
    }
}

/// Contact between points of a body and the ground.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scrape {
    pub(super) mass: f64,
    pub(super) friction: f64,
    pub(super) dt: f64,
}

impl Scrape {
    /// Adds the ground forces on points of a body: springs and dampers act along the normal, and
    /// friction across it. Points are given in the body's frame, relative to its centre of gravity.
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
            // Limited to the force that stops the motion within the step, because friction stops a
            // motion but does not reverse it.
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

    /// Normal force on a point, N. `depth` is its depth in the ground (m), and `rising` is its
    /// upward speed (m/s). The contact is stiff enough for four points to carry the body.
    fn load(&self, depth: f64, rising: f64) -> f64 {
        let stiffness = self.mass * GRAVITY / (4.0 * SAG);
        let damping = 0.5 * (stiffness * self.mass).sqrt();
        (stiffness * depth - damping * rising).max(0.0)
    }
}

/// Model of a loose body: a body that has a mass and can be pushed.
#[derive(Debug, Clone)]
pub struct LooseModel {
    /// Shape relative to the centre of gravity.
    pub solid: Solid,
    /// Mass, kg.
    pub mass: f64,
    /// Moments of inertia about the body's axes, kg m^2.
    pub inertia: DVec3,
    /// Friction coefficient on the ground and on other bodies.
    pub friction: f64,
    /// Height of the centre of gravity above the base, m.
    pub height: f64,
}

/// State of a loose body.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LooseState {
    /// Position and motion.
    pub body: BodyState,
    /// Time for which the body has been slow, s.
    pub calm: f64,
    /// Whether the body is at rest and moves only when pushed.
    pub rests: bool,
}

impl LooseModel {
    /// Creates the state of the body at rest, standing upright on the ground.
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

    /// Returns the depth of the body's deepest corner in the ground (m) and the number of corners
    /// on the ground.
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
    /// Sets the motion that was computed for a step of `dt` seconds. A resting body that was not
    /// pushed stays exactly in place. A body that leans on something other than the ground does not
    /// come to rest.
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
            // A body that was partly inside a slope is lifted out of it. Otherwise, it would be
            // thrown out.
            let (deepest, _) = model.depths(&body, surface);
            self.body.position.z += (deepest - SAG).max(0.0);
        }
        if self.rests {
            (self.body.velocity, self.body.spin) = (DVec3::ZERO, DVec3::ZERO);
        }
    }

    /// Whether the values are physically plausible. If a save is damaged, they may not be.
    pub fn is_sound(&self) -> bool {
        self.body.is_sound() && self.calm.is_finite()
    }

    /// Tilt from upright, rad, 0 to pi.
    pub fn tilt(&self) -> f64 {
        roadwright_geometry::math::acos((self.body.rotation * DVec3::Z).z.clamp(-1.0, 1.0))
    }
}
