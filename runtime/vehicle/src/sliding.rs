//! The sliding car of [Adam 2007], appendix A.
//!
//! The model has two axles, whose lateral forces grow with the slip angle up to a limit per axle
//! load. A throttle and a brake act on the body, and drag acts along each axis. The car skids in
//! bends and is cheap to compute. Its constants "are arbitrary values, not realistic ones";
//! [`SlidingModel::APPENDIX`] contains them.
//!
//! [`SlidingState::step`] takes one step of the appendix, velocity first. It uses our headings and
//! axes and is therefore mirrored: angles increase to the left, and y points to the left of the
//! car. Where the appendix gives no rule or would divide by zero, slip angles are 0 at v = 0 and
//! use |v| in reverse. The dynamics level uses [`SlidingState::advance`]. It takes shorter steps,
//! so that a slow car does not oscillate, and the car rolls without slip near standstill.
//!
//! ```
//! use roadwright_vehicle::sliding::{Pedals, SlidingModel, SlidingState};
//!
//! let mut car = SlidingState::default();
//! for _ in 0..90 {
//!     let pedals = Pedals { throttle: 60.0, brake: 0.0 };
//!     car = car.step(&SlidingModel::APPENDIX, pedals, 0.0, 1.0 / 30.0);
//! }
//! assert!(car.velocity.x > 10.0 && car.velocity.y == 0.0);
//! ```

use crate::drive_train::PedalCommand;
use crate::grade::{Ask, Grade};
use crate::one_track::{OneTrackLimits, at_rest};
use roadwright_geometry::math::{atan2, cos, sin_cos, tan, wrap_angle};
use roadwright_geometry::{DVec2, Pose, left_of, unit};
use roadwright_scenario::VehicleType;
use roadwright_scenario::vehicle_file::{Sliding, VehicleFile};

/// Acceleration of gravity in the appendix, m/s^2.
pub const GRAVITY: f64 = 9.8;
/// Force per point of throttle or brake, N.
const FORCE: f64 = 100.0;
/// Speed below which the car rolls without slip at the dynamics level, m/s.
const CRAWLING: f64 = 0.3;
/// Maximum length of a substep as a fraction of the time constant of the slip.
const STABLE: f64 = 0.5;
/// Longitudinal speed assumed for a car that slides exactly sideways, m/s.
const HAIR: f64 = 1e-9;
/// Maximum number of substeps per step.
const MOST_SUBSTEPS: f64 = 4096.0;

/// Constants of the appendix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlidingModel {
    /// Drag divided by the square of the speed, N s^2/m^2.
    pub drag: f64,
    /// Rolling resistance divided by the speed, N s/m.
    pub resistance: f64,
    /// Cornering stiffness of the front axle divided by its load, 1/rad; negative, because the force opposes
    /// slip.
    pub front_stiffness: f64,
    /// Cornering stiffness of the rear axle divided by its load, 1/rad; negative.
    pub rear_stiffness: f64,
    /// Maximum lateral force of an axle divided by its load.
    pub grip: f64,
    /// Distance from the centre of gravity to the front axle, m.
    pub front: f64,
    /// Distance from the centre of gravity back to the rear axle, m.
    pub rear: f64,
    /// Mass, kg.
    pub mass: f64,
    /// Moment of inertia about the vertical axis, kg m^2.
    pub inertia: f64,
}

/// Pedal positions in points, 0 to 100 or more. A point is 100 N.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pedals {
    /// Throttle; negative in reverse.
    pub throttle: f64,
    /// Brake, against the motion.
    pub brake: f64,
}

/// State of the model in the appendix, at the centre of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SlidingState {
    /// Position, m.
    pub position: DVec2,
    /// Heading, rad.
    pub heading: f64,
    /// Velocity in the world frame, m/s.
    pub velocity: DVec2,
    /// Yaw rate, rad/s.
    pub yaw_rate: f64,
}

/// A driver's inputs and the vehicle's limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// Acceleration in the intended direction of travel, m/s^2; non-finite values mean full braking.
    pub acceleration: f64,
    /// Whether the driver wants to reverse.
    pub is_reversing: bool,
    /// Angle of the front wheels, rad.
    pub steering: f64,
    /// Limits of pedals and steering.
    pub limits: OneTrackLimits,
    /// Slope under the vehicle; `None` on level ground.
    pub slope: Option<Grade>,
    /// Pedal positions that are applied directly on a slope, in place of the requested acceleration. On level
    /// ground, they are converted to an acceleration ([`OneTrackLimits::pressed`]).
    pub pedals: Option<PedalCommand>,
}

impl SlidingModel {
    /// The values of the appendix.
    pub const APPENDIX: Self = Self {
        drag: 4.0,
        resistance: 20.0,
        front_stiffness: -4.0,
        rear_stiffness: -4.2,
        grip: 3.0,
        front: 1.0,
        rear: 1.0,
        mass: 1500.0,
        inertia: 1500.0,
    };

    /// Wheelbase, m.
    pub fn wheelbase(&self) -> f64 {
        self.front + self.rear
    }

    /// Maximum deceleration and acceleration that the grip of both axles allows, m/s^2.
    pub fn hardest(&self) -> f64 {
        self.grip * GRAVITY
    }

    /// Creates the model of a vehicle file; `None` if the file has no part `sliding`.
    pub fn of_file(file: &VehicleFile) -> Option<Self> {
        let Sliding {
            drag,
            resistance,
            front_stiffness,
            rear_stiffness,
            grip,
        } = file.sliding?;
        let (front, rear) = file.axles();
        Some(Self {
            drag: drag.get(),
            resistance: resistance.get(),
            // Stiffnesses are positive in the file and negative in the appendix.
            front_stiffness: -front_stiffness,
            rear_stiffness: -rear_stiffness,
            grip: grip.get(),
            front,
            rear: -rear,
            mass: file.mass(),
            inertia: file.yaw_inertia(),
        })
    }

    /// Fastest decay rate of slip at the given speed, 1/s.
    fn stiffness_rate(&self, speed: f64) -> f64 {
        // With slip angles of v_y / v, both axles make a lateral speed decay at the rate stiffness
        // · g / v, and a yaw rate at m L f / 2 I times this rate. The faster of the two is used.
        let stiffest = self.front_stiffness.abs().max(self.rear_stiffness.abs());
        let lever = self.mass * self.wheelbase() * self.front.max(self.rear) / (2.0 * self.inertia);
        stiffest * GRAVITY * lever.max(1.0) / speed.max(CRAWLING)
    }
}

/// Creates the model from the dimensions and limits of a vehicle type. It slides like the car of
/// the appendix, but with its own mass and yaw inertia.
impl From<&VehicleType> for SlidingModel {
    fn from(kind: &VehicleType) -> Self {
        let of_file = kind
            .file
            .as_ref()
            .and_then(|file| Self::of_file(&file.vehicle));
        of_file.unwrap_or_else(|| {
            let half = 0.5 * kind.wheelbase;
            Self {
                front: half,
                rear: half,
                mass: kind.mass.get(),
                // Inertia of a vehicle that has half of its mass above each axle.
                inertia: kind.mass * half * half,
                ..Self::APPENDIX
            }
        })
    }
}

impl SlidingState {
    /// Takes one step of the appendix, line by line: velocity first, then position.
    pub fn step(&self, model: &SlidingModel, pedals: Pedals, steering: f64, dt: f64) -> Self {
        let (sin, cos_heading) = sin_cos(self.heading);
        let along = cos_heading * self.velocity.x + sin * self.velocity.y;
        let across = -sin * self.velocity.x + cos_heading * self.velocity.y;
        // Speed of the axles due to the rotation of the body. The appendix uses half the wheelbase for both.
        let yaw_speed = model.wheelbase() * 0.5 * self.yaw_rate;
        let (rotation, side_slip) = if along == 0.0 {
            (0.0, 0.0)
        } else {
            let speed = along.abs();
            (atan2(yaw_speed, speed), atan2(across, speed))
        };
        // In reverse, the wheels meet the ground from the opposite side.
        let turned = if along < 0.0 { -steering } else { steering };
        let front_slip = side_slip + rotation - turned;
        let rear_slip = side_slip - rotation;
        let weight = model.mass * GRAVITY * 0.5;
        let capped = |force: f64| force.min(model.grip).max(-model.grip) * weight;
        let front = capped(model.front_stiffness * front_slip);
        let rear = capped(model.rear_stiffness * rear_slip);
        let traction = FORCE * (pedals.throttle - pedals.brake * sign(along));
        let resisted = |speed: f64| -(model.resistance * speed + model.drag * speed * speed.abs());
        // The appendix adds sin(steering) times a longitudinal force of the front wheels. This force is 0, so
        // cornering costs no speed.
        let force = DVec2::new(
            traction + resisted(along),
            cos(steering) * front + rear + resisted(across),
        );
        let torque = model.front * front - model.rear * rear;
        let acceleration = force / model.mass;
        let in_world = DVec2::new(
            cos_heading * acceleration.x - sin * acceleration.y,
            sin * acceleration.x + cos_heading * acceleration.y,
        );
        let velocity = self.velocity + dt * in_world;
        let yaw_rate = self.yaw_rate + dt * (torque / model.inertia);
        Self {
            position: self.position + dt * velocity,
            heading: self.heading + dt * yaw_rate,
            velocity,
            yaw_rate,
        }
    }

    /// Pose of the centre of the rear axle.
    pub fn pose(&self, model: &SlidingModel) -> Pose {
        let centre = Pose {
            position: self.position,
            heading: self.heading,
        };
        Pose {
            position: centre.point(-model.rear, 0.0),
            heading: wrap_angle(self.heading),
        }
    }

    /// Speed along the body, m/s; negative backwards.
    pub fn along(&self) -> f64 {
        let (sin, cos) = sin_cos(self.heading);
        cos * self.velocity.x + sin * self.velocity.y
    }

    /// Returns the state and the steering angle after `dt` seconds, as computed by the dynamics
    /// level. `wheels` is the previous steering angle. Substeps are at most 1 / `rate_hz` seconds
    /// long.
    pub fn advance(
        &self,
        model: &SlidingModel,
        wanted: &Wanted,
        wheels: f64,
        dt: f64,
        rate_hz: f64,
    ) -> (Self, f64) {
        // The system is stiffer at lower speeds, so the rate is computed for the speed that would
        // remain after braking with 1 g during the step.
        let rate = rate_hz.max(model.stiffness_rate(self.along().abs() - dt * GRAVITY) / STABLE);
        // Slightly reduced, because rounding could otherwise make four substeps of 1/30 s at 90 Hz.
        let count = (dt * rate * (1.0 - 1e-9)).ceil().clamp(1.0, MOST_SUBSTEPS);
        let time = dt / count;
        let (mut state, mut wheels) = (*self, wheels);
        for _ in 0..count as u32 {
            wheels = wanted.limits.turn_wheels(wheels, wanted.steering, time);
            // The slope acts first, so that the brakes can hold the vehicle on it.
            let pull = wanted.slope.map_or(0.0, |slope| slope.pull);
            let bank = wanted.slope.map_or(0.0, |slope| slope.bank);
            let holds = bank.abs() <= model.hardest();
            let ahead = state.along();
            state.pull_across(bank * time, holds);
            if pull != 0.0 {
                state.velocity += unit(state.heading) * (pull * time);
            }
            let before = state.along();
            let pedals = wanted.pedals(model, ahead, before, time);
            let mut after = state.step(model, pedals, wheels, time);
            // A vehicle that slides on a bank too steep for its tyres keeps its slip. The speed is
            // checked both before and after the substep, so that a vehicle that only passes through
            // this speed range also keeps its slip.
            if holds && before.abs() < CRAWLING && after.along().abs() < CRAWLING {
                after = state.roll(model, before, pedals, pull, wheels, time);
            }
            state = after;
        }
        state.heading = wrap_angle(state.heading);
        (state, wheels)
    }

    /// Adds `change` to the lateral speed (m/s, positive to the left). It is the effect of a slope
    /// across the heading. `holds` states whether the vehicle is held in place.
    fn pull_across(&mut self, change: f64, holds: bool) {
        if change == 0.0 {
            return;
        }
        let forward = unit(self.heading);
        self.velocity += left_of(forward) * change;
        if !holds && self.along() == 0.0 {
            // In the appendix, there is no slip at v = 0. With a tiny longitudinal speed, the
            // wheels slide exactly sideways.
            self.velocity += forward * HAIR;
        }
    }

    /// Moves a slow car that rolls without slip.
    fn roll(
        &self,
        model: &SlidingModel,
        before: f64,
        pedals: Pedals,
        pull: f64,
        wheels: f64,
        time: f64,
    ) -> Self {
        let pushed = before + FORCE * pedals.throttle / model.mass * time;
        let held = FORCE * pedals.brake / model.mass * time;
        let resisted = model.resistance / model.mass * time;
        // Drag is neglected, because it is insignificant at low speed.
        let left = (pushed.abs() * (1.0 - resisted).max(0.0) - held).max(0.0);
        // The tolerance for rounding keeps a vehicle at a standstill if the brake just holds it.
        let rolls = pull.abs() * time > held * (1.0 + 1e-9);
        // A driven vehicle starts, however slowly. Only a coasting vehicle comes to rest.
        let driven = if pedals.throttle == 0.0 && !rolls {
            -1.0
        } else {
            1.0
        };
        let along = at_rest(left, driven).copysign(pushed);
        let yaw_rate = along * tan(wheels) / model.wheelbase();
        if along == 0.0 {
            // A stationary vehicle keeps its position exactly.
            return Self {
                velocity: DVec2::ZERO,
                yaw_rate: 0.0,
                ..*self
            };
        }
        let heading = self.heading + yaw_rate * time;
        let (sin, cos) = sin_cos(heading);
        // Without slip, the rear axle moves along the body. The centre of gravity is ahead of the
        // axle, so it moves sideways as the body turns.
        let across = model.rear * yaw_rate;
        let velocity = DVec2::new(cos * along - sin * across, sin * along + cos * across);
        Self {
            position: self.position + velocity * time,
            heading,
            velocity,
            yaw_rate,
        }
    }
}

impl Wanted {
    /// Returns the pedals for a step of `dt` seconds. `ahead` is the speed along the body before
    /// the slope takes effect, and `speed` is the one afterwards, m/s.
    fn pedals(&self, model: &SlidingModel, ahead: f64, speed: f64, dt: f64) -> Pedals {
        if let Some(slope) = &self.slope {
            return self.pedals_on(slope, model, ahead, speed, dt);
        }
        let direction = if self.is_reversing { -1.0 } else { 1.0 };
        let along = speed * direction;
        let points = model.mass / FORCE;
        let wish = self.limits.acceleration(self.acceleration);
        // The brake can stop the vehicle within the step but not reverse its motion.
        let braked = |braking: f64| Pedals {
            throttle: 0.0,
            brake: braking.min(speed.abs() / dt) * points,
        };
        // The vehicle rolls in the wrong direction, and has to stop before it can drive.
        if along < 0.0 {
            return braked(self.limits.max_braking);
        }
        let resisted = (model.resistance * along + model.drag * along * along) / model.mass;
        // The request is a net acceleration, so drag and rolling resistance are added to it.
        let wish = wish + resisted;
        if wish < 0.0 {
            return if along == 0.0 {
                // The vehicle keeps its speed.
                Pedals {
                    throttle: 0.0,
                    brake: -wish * points,
                }
            } else {
                braked(-wish)
            };
        }
        // Within the step, the vehicle may gain at most the difference from the speed limit. The
        // force that holds the top speed is added.
        let room = (self.limits.max_speed - along).max(0.0) / dt + resisted;
        let most = self.limits.max_acceleration + resisted;
        Pedals {
            throttle: direction * wish.min(room).min(most) * points,
            brake: 0.0,
        }
    }
}

impl Wanted {
    /// Returns the pedals for the request on a slope.
    fn pedals_on(
        &self,
        slope: &Grade,
        model: &SlidingModel,
        ahead: f64,
        speed: f64,
        dt: f64,
    ) -> Pedals {
        // As on level ground, drag and rolling resistance are added to the request.
        let direction = if self.is_reversing { -1.0 } else { 1.0 };
        let resisted = (model.resistance * ahead + model.drag * ahead * ahead.abs()) / model.mass;
        let ask = Ask {
            acceleration: self.acceleration + resisted * direction,
            is_reversing: self.is_reversing,
            max_braking: self.limits.max_braking,
            pedals: self.pedals,
        };
        let points = model.mass / FORCE;
        let stronger = Grade {
            engine: slope.engine + resisted.abs(),
            ..*slope
        };
        let mut effort = match self.pedals {
            // The request is the force of the engine itself, so drag and rolling resistance are added as for
            // a requested acceleration.
            Some(_) => slope.effort(ahead, &ask, dt),
            None => stronger.effort(ahead, &ask, dt),
        };
        if self.pedals.is_some() {
            effort.drive += resisted;
        }
        let direction = effort.drive.signum();
        let room = slope.room(self.limits.max_speed, ahead * direction, effort.drive, dt);
        let most = (room + resisted.abs()).min(slope.hardest);
        let drive = effort.drive.clamp(-most, most);
        // The brake can stop the vehicle within the step but not reverse its motion.
        let brake = effort.brake.min(slope.hardest).min(speed.abs() / dt);
        Pedals {
            throttle: drive * points,
            brake: brake * points,
        }
    }
}

/// Returns the sign of a speed, 0 at rest.
fn sign(speed: f64) -> f64 {
    if speed == 0.0 { 0.0 } else { speed.signum() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::drive_train::tests::shipped;
    use proptest::prelude::*;
    use roadwright_geometry::math::sin;

    /// The appendix as printed, with its names and axes: y points north, angles increase clockwise, and the
    /// car's y axis points to its right.
    #[derive(Debug, Clone, Copy, Default)]
    #[expect(non_snake_case, reason = "the names of the source")]
    struct Appendix {
        gX: f64,
        gY: f64,
        gA: f64,
        gvX: f64,
        gvY: f64,
        gvA: f64,
    }

    #[expect(non_snake_case, reason = "the names of the source")]
    fn appendix(c: &mut Appendix, cartho: f64, carbra: f64, cars: f64, dt: f64) {
        let (DRAG, RESISTANCE, CAR, CAF, MAXGRIP) = (4.0, 20.0, -4.20, -4.0, 3.0);
        let (carb, carc, carm, cari) = (1.0, 1.0, 1500.0, 1500.0);
        let carwb = carb + carc;
        let (sn, cs) = sin_cos(c.gA);
        let vX = cs * c.gvY + sn * c.gvX;
        let vY = -sn * c.gvY + cs * c.gvX;
        let ys = carwb * 0.5 * c.gvA;
        let ra = if vX == 0.0 { 0.0 } else { atan2(ys, vX) };
        let ss = if vX == 0.0 { 0.0 } else { atan2(vY, vX) };
        let saf = ss + ra - cars;
        let sar = ss - ra;
        let w = carm * 9.8 * 0.5;
        let flatfX = 0.0;
        let mut flatfY: f64 = CAF * saf;
        flatfY = flatfY.min(MAXGRIP);
        flatfY = flatfY.max(-MAXGRIP);
        flatfY *= w;
        let flatrX = 0.0;
        let mut flatrY: f64 = CAR * sar;
        flatrY = flatrY.min(MAXGRIP);
        flatrY = flatrY.max(-MAXGRIP);
        flatrY *= w;
        let direction = if vX == 0.0 { 0.0 } else { vX / vX.abs() };
        let ftX = 100.0 * (cartho - carbra * direction);
        let ftY = 0.0;
        let rsX = -(RESISTANCE * vX + DRAG * vX * vX.abs());
        let rsY = -(RESISTANCE * vY + DRAG * vY * vY.abs());
        let fX = ftX + sin(cars) * flatfX + flatrX + rsX;
        let fY = ftY + cos(cars) * flatfY + flatrY + rsY;
        let t = carb * flatfY - carc * flatrY;
        let (aX, aY) = (fX / carm, fY / carm);
        let aa = t / cari;
        let awcX = cs * aY + sn * aX;
        let awcY = -sn * aY + cs * aX;
        c.gvX += dt * awcX;
        c.gvY += dt * awcY;
        c.gX += dt * c.gvX;
        c.gY += dt * c.gvY;
        c.gvA += dt * aa;
        c.gA += dt * c.gvA;
    }

    #[test]
    fn it_is_the_car_of_the_appendix_step_by_step() {
        let (mut theirs, mut ours) = (Appendix::default(), SlidingState::default());
        let model = SlidingModel::of_file(&shipped("sliding-racer")).unwrap();
        assert_eq!(model, SlidingModel::APPENDIX);
        let dt = 1.0 / 30.0;
        let mut skidded = 0.0f64;
        for step in 0..900 {
            let time = f64::from(step) * dt;
            let throttle = if step % 300 < 200 { 80.0 } else { 10.0 };
            let brake = if step % 300 > 260 && theirs.gvX.abs() + theirs.gvY.abs() > 3.0 {
                60.0
            } else {
                0.0
            };
            let steering = 0.5 * sin(0.9 * time);
            appendix(&mut theirs, throttle, brake, steering, dt);
            // The appendix's right is our left.
            let pedals = Pedals { throttle, brake };
            ours = ours.step(&model, pedals, -steering, dt);
            let pairs = [
                (ours.position.x, theirs.gY),
                (ours.position.y, -theirs.gX),
                (ours.velocity.x, theirs.gvY),
                (ours.velocity.y, -theirs.gvX),
                (ours.heading, -theirs.gA),
                (ours.yaw_rate, -theirs.gvA),
            ];
            for (number, (a, b)) in pairs.into_iter().enumerate() {
                let apart = (a - b).abs() / b.abs().max(1.0);
                assert!(apart < 1e-9, "{number} at {step}: {a} {b}");
            }
            let across = ours
                .velocity
                .perp_dot(roadwright_geometry::unit(ours.heading));
            skidded = skidded.max(across.abs());
        }
        assert!(skidded > 1.0, "{skidded}");
    }

    fn wanted(acceleration: f64, steering: f64) -> Wanted {
        Wanted {
            acceleration,
            is_reversing: false,
            steering,
            limits: OneTrackLimits::from(&shipped("sliding-racer").vehicle_type()),
            slope: None,
            pedals: None,
        }
    }

    fn drive(mut car: SlidingState, wish: Wanted, seconds: f64, dt: f64) -> SlidingState {
        let mut wheels = 0.0;
        for _ in 0..(seconds / dt).round() as u32 {
            (car, wheels) = car.advance(&SlidingModel::APPENDIX, &wish, wheels, dt, 200.0);
        }
        car
    }

    #[test]
    fn it_stands_starts_stops_and_reverses_as_asked() {
        let start = SlidingState::default();
        assert_eq!(drive(start, wanted(0.0, 0.3), 2.0, 0.02), start);
        for dt in [0.005, 0.02, 0.05] {
            let fast = drive(start, wanted(2.0, 0.0), 5.0, dt);
            assert!((fast.along() - 10.0).abs() < 0.1, "{dt}: {fast:?}");
            let stopped = drive(fast, wanted(-4.0, 0.0), 5.0, dt);
            assert_eq!(stopped.velocity, DVec2::ZERO, "{dt}");
            let travelled = stopped.position.x - fast.position.x;
            let exact = fast.along() * fast.along() / 8.0;
            assert!(
                (travelled / exact - 1.0).abs() < 0.03,
                "{dt}: {travelled} {exact}"
            );
            let back = Wanted {
                is_reversing: true,
                ..wanted(1.0, 0.3)
            };
            let reversed = drive(stopped, back, 3.0, dt);
            assert!(reversed.along() < -2.0, "{dt}: {reversed:?}");
            // The wheels are turned to the left. In reverse, the car therefore turns to the right.
            assert!(reversed.yaw_rate < -0.05, "{dt}: {reversed:?}");
        }
    }

    /// Checks a steady bend of a car whose axles have nearly equal stiffness.
    #[test]
    fn slow_it_turns_as_its_wheels_point_and_fast_it_slides() {
        let start = SlidingState {
            velocity: DVec2::new(4.0, 0.0),
            ..SlidingState::default()
        };
        let slow = drive(start, wanted(0.0, 0.1), 4.0, 0.02);
        let kinematic = slow.along() * tan(0.1) / 2.0;
        assert!(
            (slow.yaw_rate / kinematic - 1.0).abs() < 0.1,
            "{slow:?} {kinematic}"
        );
        let start = SlidingState {
            velocity: DVec2::new(40.0, 0.0),
            ..SlidingState::default()
        };
        let fast = drive(start, wanted(0.0, 0.4), 0.6, 0.02);
        let across = -fast
            .velocity
            .perp_dot(roadwright_geometry::unit(fast.heading));
        assert!(across.abs() > 3.0, "{across} {fast:?}");
    }

    proptest! {
        #[test]
        fn no_command_makes_it_explode(
            vx in -30.0..60.0f64, vy in -20.0..20.0f64, yaw_rate in -4.0..4.0f64,
            a in proptest::num::f64::ANY, delta in proptest::num::f64::ANY, dt in 0.001..0.2f64,
        ) {
            let mut car = SlidingState {
                velocity: DVec2::new(vx, vy), yaw_rate, ..SlidingState::default()
            };
            let mut wheels = 0.0;
            for _ in 0..60 {
                let wish = wanted(a, delta);
                (car, wheels) = car.advance(&SlidingModel::APPENDIX, &wish, wheels, dt, 200.0);
                prop_assert!(car.position.is_finite() && car.heading.is_finite());
                prop_assert!(car.velocity.length() < 120.0, "{car:?}");
                prop_assert!(car.yaw_rate.abs() < 60.0, "{car:?}");
            }
        }
    }
}
