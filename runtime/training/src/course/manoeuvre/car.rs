//! The vehicle of manoeuvres, which follows the kinematic one-track model forwards and backwards.
//!
//! In the simulation, the route determines when to reverse. Here, the driver decides: a vehicle that has
//! braked to a standstill starts in the other direction if the driver keeps requesting the same acceleration.

use roadwright_geometry::Pose;
use roadwright_geometry::math::{sin_cos, tan, wrap_angle};
use roadwright_geometry::oriented_box::OrientedBox;
use roadwright_plugin_api::ControllerOutput;
use roadwright_scenario::VehicleType;
use std::sync::Arc;

/// State of a vehicle: pose of the rear axle, speed and steering, with statistics of the drive.
pub(super) struct Car {
    pub(super) kind: Arc<VehicleType>,
    /// Pose of the centre of the rear axle.
    pub(super) pose: Pose,
    /// Speed, m/s; negative backwards.
    pub(super) speed: f64,
    /// Angle of the front wheels, rad.
    pub(super) steering: f64,
    /// Yaw rate, rad/s.
    pub(super) yaw_rate: f64,
    /// Distance driven forwards and backwards, m.
    pub(super) distance: f64,
    /// Number of changes of direction between forwards and backwards.
    pub(super) shunts: u32,
    /// Direction in which the vehicle last moved: 1 or -1, or 0 if it has not moved yet.
    direction: f64,
}

impl Car {
    pub(super) fn new(kind: &VehicleType, pose: Pose) -> Self {
        Self {
            kind: Arc::new(kind.clone()),
            pose,
            speed: 0.0,
            steering: 0.0,
            yaw_rate: 0.0,
            distance: 0.0,
            shunts: 0,
            direction: 0.0,
        }
    }

    /// Oriented box of the body.
    pub(super) fn body(&self) -> OrientedBox {
        let middle = Pose {
            position: self.pose.point(self.kind.body_centre(), 0.0),
            ..self.pose
        };
        OrientedBox::new(middle, self.kind.length.get(), self.kind.width.get())
    }

    /// Returns the acceleration that the engine and brakes produce for the request `wanted`, m/s^2.
    /// A NaN request means full braking.
    fn pedals(&self, wanted: f64) -> f64 {
        let (gas, brake) = (self.kind.max_acceleration, self.kind.max_braking);
        let direction = if self.speed == 0.0 {
            0.0
        } else {
            self.speed.signum()
        };
        if !wanted.is_finite() {
            return -direction * brake;
        }
        // Requests against the direction of travel use the brakes, and requests in the direction of travel
        // use the engine.
        let (least, most) = match direction {
            1.0 => (-brake, gas),
            -1.0 => (-gas, brake),
            // From a standstill, the engine accelerates in either direction.
            _ => (-gas, gas),
        };
        wanted.clamp(least, most.get())
    }

    /// Advances by `dt` seconds. Returns the acceleration in m/s^2.
    pub(super) fn advance(&mut self, command: ControllerOutput, dt: f64) -> f64 {
        let kind = &self.kind;
        let turn = if command.steering.is_finite() {
            command.steering - self.steering
        } else {
            0.0
        };
        let quickest = kind.steering_rate * dt;
        let steering = (self.steering + turn.clamp(-quickest, quickest))
            .clamp(-kind.max_steering, kind.max_steering.get());
        let wanted = self.speed + self.pedals(command.acceleration) * dt;
        // The vehicle stops before it can move in the other direction.
        let speed = if self.speed * wanted < 0.0 {
            0.0
        } else {
            wanted.clamp(-kind.max_speed, kind.max_speed.get())
        };
        // Uses the mean speed and wheel angle of the step, so that a car that reverses with the opposite
        // speed returns along the same arc.
        let distance = 0.5 * (self.speed + speed) * dt;
        let turned = distance * tan(0.5 * (self.steering + steering)) / kind.wheelbase;
        // Moves along the chord of the arc, whose heading is the mean of the headings before and after.
        let (sin, cos) = sin_cos(self.pose.heading + 0.5 * turned);
        self.pose.position.x += distance * cos;
        self.pose.position.y += distance * sin;
        self.pose.heading = wrap_angle(self.pose.heading + turned);
        let acceleration = (speed - self.speed) / dt;
        (self.speed, self.steering, self.yaw_rate) = (speed, steering, turned / dt);
        self.distance += distance.abs();
        self.note_direction();
        acceleration
    }

    fn note_direction(&mut self) {
        if self.speed == 0.0 {
            return;
        }
        // The direction before a stop is kept, because stopping alone is not a change of direction.
        let direction = self.speed.signum();
        self.shunts += u32::from(self.direction * direction < 0.0);
        self.direction = direction;
    }

    /// Returns all state variables.
    pub(super) fn state(&self) -> Vec<f64> {
        let Pose { position, heading } = self.pose;
        vec![position.x, position.y, heading, self.speed, self.steering]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(car: &mut Car, acceleration: f64, steering: f64, time: f64) {
        let command = ControllerOutput {
            acceleration,
            steering,
        };
        for _ in 0..(time * 120.0).round() as usize {
            car.advance(command, 1.0 / 120.0);
        }
    }

    #[test]
    fn it_speeds_up_as_its_engine_can_and_changes_its_direction_only_at_a_stand() {
        let mut car = Car::new(&VehicleType::car(), Pose::default());
        drive(&mut car, 100.0, 0.0, 2.0);
        // 2.6 m/s^2 for 2 s.
        assert!((car.speed - 5.2).abs() < 1e-9 && (car.pose.position.x - 5.2).abs() < 1e-9);
        assert_eq!(car.shunts, 0);
        drive(&mut car, -2.0, 0.0, 5.2);
        assert!((car.speed + 5.2).abs() < 0.1, "{}", car.speed);
        assert_eq!(car.shunts, 1);
        drive(&mut car, f64::NAN, f64::NAN, 2.0);
        assert_eq!(car.speed, 0.0);
    }

    #[test]
    fn backwards_it_comes_back_along_its_own_arc() {
        let mut car = Car::new(&VehicleType::car(), Pose::default());
        drive(&mut car, 0.0, 0.4, 1.0);
        drive(&mut car, 1.0, 0.4, 2.0);
        drive(&mut car, -1.0, 0.4, 2.0);
        assert!(car.pose.heading > 0.4 && car.speed.abs() < 1e-9);
        drive(&mut car, -1.0, 0.4, 2.0);
        drive(&mut car, 1.0, 0.4, 2.0);
        assert!(car.pose.position.length() < 1e-3 && car.pose.heading.abs() < 1e-3);
    }
}
