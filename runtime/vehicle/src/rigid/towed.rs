//! Trailers as rigid bodies, and their joints.
//!
//! A trailer is a hull on one or more undriven axles. A rapier joint connects its coupling to the
//! towing vehicle. The trailer must not roll independently unless its joint allows this, and must
//! not turn beyond the angle at which the bodies touch. Additional torques, which act on both
//! bodies in opposite directions, limit these motions ([`Joint::torque`]).

use super::body::BodyState;
use super::car::CarState;
use super::model::{
    COMMON_ANTI_SWAY, COMMON_TRACK, DISC, HULL_FRICTION, LEAST_LOAD, RigidModel, Wheel,
    common_spring, shell,
};
use super::surface::Surface;
use crate::dynamic::{CENTRE_HEIGHT, GRAVITY};
use crate::one_track::OneTrackLimits;
use crate::trailer::TrailerState;
use glam::DVec3;
use roadwright_geometry::Pose;
use roadwright_geometry::math::atan2;
use roadwright_scenario::vehicle_file::{Trailer, TrailerJoint, VehicleFile};

/// Fraction of an angle error that the torque corrects in one solver step.
const STIFF: f64 = 0.2;
/// Fraction of the angular speed that the torque damps in one solver step.
const DAMPED: f64 = 0.5;

/// A trailer with its joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Towed {
    /// Model of the trailer.
    pub model: RigidModel,
    /// Joint to the towing vehicle.
    pub joint: Joint,
}

/// Joint of a trailer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// Position on the towing vehicle relative to its centre of gravity, m.
    pub ahead: DVec3,
    /// Position on the trailer relative to its centre of gravity, m.
    pub behind: DVec3,
    /// Maximum angle between the two bodies, rad.
    pub lock: f64,
    /// Degrees of freedom of the trailer.
    pub kind: TrailerJoint,
}

/// One of the two bodies that a joint connects.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<'a> {
    pub(super) model: &'a RigidModel,
    pub(super) body: &'a BodyState,
}

impl Held<'_> {
    /// Angular compliance about an axis, 1 / (kg m^2).
    fn give(&self, axis: DVec3) -> f64 {
        let axis = self.body.rotation.inverse() * axis;
        (axis * axis / self.model.inertia).element_sum()
    }
}

impl Joint {
    /// Torque on the trailer, N m. The opposite torque acts on the towing vehicle.
    pub(super) fn torque(&self, ahead: Held<'_>, behind: Held<'_>, dt: f64) -> DVec3 {
        let spin = behind.body.spin - ahead.body.spin;
        let hold = |axis: DVec3, error: f64| {
            let inertia = 1.0 / (ahead.give(axis) + behind.give(axis));
            inertia * (STIFF * error / dt - DAMPED * spin.dot(axis)) / dt
        };
        let mut torque = DVec3::ZERO;
        let up = ahead.body.rotation * DVec3::Z;
        if self.kind == TrailerJoint::Universal {
            // One pin is vertical in the towing vehicle, and the other is lateral in the trailer.
            // They stay perpendicular to each other.
            let across = behind.body.rotation * DVec3::Y;
            if let Some(axis) = up.cross(across).try_normalize() {
                torque += axis * hold(axis, up.dot(across));
            }
        }
        let forward = behind.body.rotation * DVec3::X;
        let seen = ahead.body.rotation.inverse() * forward;
        let angle = atan2(seen.y, seen.x);
        if angle.abs() > self.lock {
            // Bodies that touch push each other apart, but they never pull.
            let inwards = -up * angle.signum();
            torque += inwards * hold(inwards, angle.abs() - self.lock).max(0.0);
        }
        torque
    }
}

impl RigidModel {
    /// Creates the trailers of a vehicle file, from front to back; empty without an `articulation`.
    pub(super) fn trailers_of(&self, file: &VehicleFile) -> Vec<Towed> {
        let Some(articulation) = &file.articulation else {
            return Vec::new();
        };
        let anchor = DVec3::from(articulation.anchor.get());
        // Positions in the file are relative to the centre of the body and apply to the straight
        // train.
        let mut ahead = (self.hull + anchor).with_y(0.0);
        let height = self.height + ahead.z;
        let towed = file.trailers.iter().map(|trailer| {
            let model = self.trailer(trailer);
            let centre = trailer.centre();
            let from_centre = |along: f64| DVec3::new(along - centre, 0.0, height - model.height);
            let joint = Joint {
                ahead,
                behind: from_centre(0.0),
                lock: trailer.lock.get(),
                kind: trailer.joint,
            };
            ahead = from_centre(trailer.next_coupling());
            Towed { model, joint }
        });
        towed.collect()
    }

    /// Creates a trailer with its own springs. Its wheels are like those of this vehicle unless the file
    /// specifies otherwise.
    fn trailer(&self, trailer: &Trailer) -> RigidModel {
        let clearance = trailer.clearance();
        let size = DVec3::new(
            trailer.length.get(),
            trailer.width.get(),
            trailer.height - clearance,
        );
        let height = trailer
            .centre_height
            .unwrap_or(CENTRE_HEIGHT * trailer.height);
        let (centre, axle) = (trailer.centre(), -trailer.coupling_to_axle);
        let middle = DVec3::new(
            trailer.front - 0.5 * trailer.length - centre,
            0.0,
            clearance + 0.5 * size.z - height,
        );
        let mass = trailer.mass;
        let wheels = axle_wheels(trailer, height);
        let square = size * size;
        let along = DVec3::new(
            square.y + square.z,
            square.x + square.z,
            square.x + square.y,
        );
        let own = trailer.wheels.unwrap_or_default();
        let bars = trailer
            .suspension
            .as_ref()
            .map(|suspension| suspension.anti_sway);
        let braked = trailer
            .brakes
            .map(|wheel| wheel * wheels.len() as f64 / mass);
        RigidModel {
            mass: mass.get(),
            inertia: mass / 12.0 * along,
            half_size: 0.5 * size,
            shell: shell(0.5 * size),
            hull: middle,
            height,
            rear: centre - axle,
            radius: own.radius.unwrap_or(self.radius),
            turning_mass: own.mass.map_or(self.turning_mass, |mass| DISC * mass),
            friction: own.friction.unwrap_or(self.friction),
            stiffness: own.cornering_stiffness.unwrap_or(self.stiffness),
            anti_sway: (bars.unwrap_or((COMMON_ANTI_SWAY * wheels[0].spring).into())).get(),
            // A single axle has no other axle to share its load with.
            shares_load: wheels.len() > 2,
            wheels,
            spheres: None,
            most_braking: braked.unwrap_or(f64::INFINITY),
            engine_inertia: 0.0,
            hull_friction: HULL_FRICTION,
            is_locked: false,
            tracks: None,
            limits: OneTrackLimits {
                wheelbase: trailer.coupling_to_axle.get(),
                ..self.limits
            },
            train: None,
            trailers: Vec::new(),
            ..self.clone()
        }
    }
}

/// Creates the left and right wheel of each axle of a trailer, from front to back. `height` is the
/// height of the trailer's centre of gravity, m.
fn axle_wheels(trailer: &Trailer, height: f64) -> Vec<Wheel> {
    let axles = trailer.axles();
    let centre = trailer.centre();
    let mean = axles.iter().sum::<f64>() / axles.len() as f64;
    // Part of the load that is not on the coupling. Beams and bellows distribute it evenly over the
    // axles.
    let share = (centre / mean).max(LEAST_LOAD);
    let load = 0.5 * share * trailer.mass * GRAVITY / axles.len() as f64;
    let (spring, damping) = match &trailer.suspension {
        Some(suspension) => (suspension.spring.get(), suspension.damping.get()),
        None => common_spring(load),
    };
    let side = 0.5 * trailer.track.unwrap_or(COMMON_TRACK * trailer.width);
    let wheel = |along: f64, y: f64, partner: usize| Wheel {
        contact: DVec3::new(along - centre, y, -height),
        load,
        sprung: load,
        spring,
        damping,
        steers: 0.0,
        hand_brake: trailer.brakes != Some(0.0),
        partner: Some(partner),
    };
    let pairs = axles.into_iter().enumerate().flat_map(|(number, along)| {
        let left = 2 * number;
        [wheel(along, side, left + 1), wheel(along, -side, left)]
    });
    pairs.collect()
}

impl CarState {
    /// Creates rigid-body states from the planar kinematic states of trailers that have none. The
    /// new trailers move with the vehicle and are aligned at the couplings. Existing states that
    /// match their trailers are kept, and the others are dropped.
    pub fn join_on(
        &self,
        model: &RigidModel,
        towed: &mut Vec<CarState>,
        states: &[TrailerState],
        surface: &impl Surface,
    ) {
        towed.truncate(model.trailers.len());
        let fitting = towed.iter().zip(&model.trailers);
        let fitting = fitting.take_while(|(state, trailer)| state.fits(&trailer.model));
        towed.truncate(fitting.count());
        for (trailer, state) in model.trailers.iter().zip(states).skip(towed.len()) {
            let ahead = towed.last().unwrap_or(self);
            let coupling = ahead.body.position + ahead.body.rotation * trailer.joint.ahead;
            let along = roadwright_geometry::unit(state.heading);
            let to_axle = trailer.model.limits.wheelbase;
            let pose = Pose {
                position: coupling.truncate() - along * to_axle,
                heading: state.heading,
            };
            let mut car = Self::at_rest(&trailer.model, pose, surface);
            let joined = car.body.position + car.body.rotation * trailer.joint.behind;
            car.body.position += coupling - joined;
            car.body.velocity = ahead.body.velocity;
            towed.push(car);
        }
    }
}
