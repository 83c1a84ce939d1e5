//! A rigid-body vehicle: its state, and the inputs of its driver.

use super::body::{BodyState, heading_rotation, upright_rotation};
use super::brush::Brush;
use super::model::{RigidModel, Wheel};
use super::sphere::SphereState;
use super::surface::Surface;
use super::wheels::WheelState;
use crate::drive_train::{DriveState, PedalCommand};
use glam::{DVec2, DVec3, DVec4};
use roadwright_geometry::Pose;
use roadwright_geometry::math::atan2;
use serde::{Deserialize, Serialize};

/// Inputs of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Controls {
    /// Acceleration in the intended direction of travel, m/s^2; non-finite values mean full braking.
    pub acceleration: f64,
    /// Angle of the front wheels, rad, positive to the left; non-finite values hold them.
    pub steering: f64,
    /// Whether the driver wants to reverse.
    pub is_reversing: bool,
    /// Whether the hand brake is applied.
    pub hand_brake: bool,
    /// Pedal positions that are applied directly, in place of the requested acceleration.
    pub pedals: Option<PedalCommand>,
}

/// State of a rigid-body vehicle.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CarState {
    /// Position and motion of the centre of gravity.
    pub body: BodyState,
    /// Angle of the front wheels, rad, positive to the left.
    pub steering: f64,
    /// State of the drive train, if there is one.
    pub drive: DriveState,
    /// Tyre deflection of each wheel.
    pub brushes: Vec<Brush>,
    /// Wheel loads in the last step, N.
    pub loads: Vec<f64>,
    /// Rotation state of each wheel.
    pub wheels: Vec<WheelState>,
    /// Motion of each wheel if the wheels are spheres; empty for rays.
    pub spheres: Vec<SphereState>,
}

impl CarState {
    /// Creates a vehicle at rest on the ground, with the centre of its rear axle at a pose.
    pub fn at_rest(model: &RigidModel, pose: Pose, surface: &impl Surface) -> Self {
        let middle = pose.position + pose.forward() * model.rear;
        let flat = BodyState {
            position: middle.extend(model.height),
            rotation: heading_rotation(pose.heading),
            ..BodyState::default()
        };
        // The vehicle is tilted like the ground under its wheels.
        let below = |wheel: &Wheel| {
            let place = flat.position + flat.rotation * wheel.contact;
            let (height, normal) = surface.at(place.truncate());
            (height, normal)
        };
        let count = model.wheels.len() as f64;
        let seen: Vec<(f64, DVec3)> = model.wheels.iter().map(below).collect();
        let up = seen.iter().map(|(_, normal)| *normal).sum::<DVec3>();
        let up = up.normalize_or(DVec3::Z);
        let height = seen.iter().map(|(height, _)| height).sum::<f64>() / count;
        let body = BodyState {
            position: middle.extend(height) + up * model.height,
            rotation: upright_rotation(pose.heading, up),
            ..BodyState::default()
        };
        Self {
            body,
            steering: 0.0,
            drive: DriveState::default(),
            brushes: vec![Brush::default(); model.wheels.len()],
            loads: model.wheels.iter().map(|wheel| wheel.load).collect(),
            wheels: vec![WheelState::default(); model.wheels.len()],
            spheres: model.spheres_at(&body, surface),
        }
    }

    /// Gives the vehicle a speed along its hull (m/s), in the gear for this speed. The wheels roll
    /// from the next step onwards.
    pub fn roll(&mut self, speed: f64) {
        self.body.velocity = self.body.rotation * DVec3::X * speed;
        for sphere in &mut self.spheres {
            sphere.velocity = self.body.velocity;
        }
    }

    /// Position of the centre of the rear axle in plan view, and heading.
    pub fn pose(&self, model: &RigidModel) -> Pose {
        let forward = self.forward();
        let flat = forward.truncate().normalize_or(DVec2::X);
        let rear = self.body.position - forward * model.rear;
        Pose {
            position: rear.truncate(),
            heading: atan2(flat.y, flat.x),
        }
    }

    /// Speed of the centre of the rear axle along the hull, m/s; negative backwards.
    pub fn speed(&self, model: &RigidModel) -> f64 {
        let forward = self.forward();
        let arm = -forward * model.rear;
        self.body.velocity_at(arm).dot(forward)
    }

    /// Forward direction of the hull.
    pub fn forward(&self) -> DVec3 {
        self.body.rotation * DVec3::X
    }

    /// Upward direction of the hull.
    pub fn up(&self) -> DVec3 {
        self.body.rotation * DVec3::Z
    }

    /// Sine of the longitudinal slope angle of the ground under the wheels, derived from the pitch
    /// of the hull and the spring travel in the last step. Positive if the nose points up.
    pub fn slope(&self, model: &RigidModel) -> f64 {
        let wheels = model.wheels.iter().zip(&self.wheels);
        // Regression line of the wheel travel over the wheel positions along the hull.
        let sums = wheels.fold(DVec4::ZERO, |sums, (wheel, seen)| {
            let (x, travel) = (wheel.contact.x, seen.travel);
            sums + DVec4::new(x, travel, x * travel, x * x)
        });
        let count = model.wheels.len() as f64;
        let square = count * sums.w - sums.x * sums.x;
        let turned = count * sums.z - sums.x * sums.y;
        self.forward().z + if square > 0.0 { turned / square } else { 0.0 }
    }

    /// Tilt of the hull from upright, rad, 0 to pi.
    pub fn tilt(&self) -> f64 {
        roadwright_geometry::math::acos(self.up().z.clamp(-1.0, 1.0))
    }

    /// Roll angle, rad, positive if the left side is raised.
    pub fn roll_angle(&self) -> f64 {
        let left = self.body.rotation * DVec3::Y;
        atan2(left.z, self.up().z)
    }

    /// Whether the state matches a model. If a save is damaged, it may not.
    pub fn fits(&self, model: &RigidModel) -> bool {
        let count = model.wheels.len();
        let counts = [self.brushes.len(), self.loads.len(), self.wheels.len()];
        let spheres = model.spheres.as_ref().map_or(0, |_| count);
        counts == [count; 3]
            && self.spheres.len() == spheres
            && self.is_sound()
            && self.wheels.iter().all(WheelState::is_sound)
    }

    /// Whether the positions and speeds of the vehicle's bodies are physically plausible.
    pub(super) fn is_sound(&self) -> bool {
        self.body.is_sound() && self.spheres.iter().all(SphereState::is_sound)
    }

    /// Returns the amount by which the circumferential speed of the driven wheels exceeds the
    /// ground speed, as a mean over the wheels, m/s. Rolling wheels count as 0.
    pub(super) fn spinning(&self, model: &RigidModel, speed: f64) -> f64 {
        let Some(train) = &model.train else {
            return 0.0;
        };
        let count = usize::from(self.drive.shifting.gear_of(train).wheels).min(self.wheels.len());
        let sliding = self.wheels[..count].iter().filter(|wheel| wheel.slides);
        let faster = sliding.map(|wheel| wheel.rim(model.radius) - speed);
        faster.sum::<f64>() / count.max(1) as f64
    }

    /// Circumferential speed of the driven wheels, m/s. It determines the engine speed.
    pub fn driven_speed(&self, model: &RigidModel) -> f64 {
        let speed = self.speed(model);
        speed + self.spinning(model, speed)
    }
}
