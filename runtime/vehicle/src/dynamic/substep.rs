//! Integrates the dynamic one-track model in short second-order steps.

use super::{BLEND, DynamicState, GRAVITY, MOST_SUBSTEPS, Propulsion, Push, SingleTrack, Tyre};
use crate::one_track::{OneTrackLimits, at_rest, moving_time};
use roadwright_geometry::math::{sin_cos, tan, wrap_angle};
use roadwright_geometry::{DVec2, Pose};

/// Motions at the beginning and end of a step, and whether the wheels slide during the step.
#[derive(Debug, Clone, Copy)]
struct Motions {
    before: Planar,
    after: Planar,
    slides: bool,
}

/// Motion of the centre of gravity: longitudinal and lateral speed (m/s) and yaw rate (rad/s). Also used for
/// the rates of change of these values.
#[derive(Debug, Clone, Copy)]
struct Planar {
    along: f64,
    across: f64,
    turn: f64,
}

impl Planar {
    fn plus(self, change: Self, time: f64) -> Self {
        Self {
            along: self.along + change.along * time,
            across: self.across + change.across * time,
            turn: self.turn + change.turn * time,
        }
    }

    /// Weight of the tyre model in the motion, 0 to 1. It is 1 if the tyres slide on a bank.
    fn weight(&self, slides: bool) -> f64 {
        if slides {
            return 1.0;
        }
        let speed = DVec2::new(self.along, self.across).length();
        ((speed - BLEND[0]) / (BLEND[1] - BLEND[0])).clamp(0.0, 1.0)
    }
}

impl DynamicState {
    /// Returns the state after `dt` seconds. The wheels turn towards `steering` (rad) within the
    /// limits of lock and steering rate. `propulsion` is queried for forces at least every 1 /
    /// `rate_hz` seconds, and more often if the tyres are very stiff.
    pub fn step(
        &self,
        model: &SingleTrack,
        limits: &OneTrackLimits,
        propulsion: &mut impl Propulsion,
        steering: f64,
        dt: f64,
        rate_hz: f64,
    ) -> Self {
        // The system is stiffest at the lowest speed that it can reach within the step.
        let slowest = self.speed.abs() - model.friction * GRAVITY * dt;
        let rate = rate_hz.max(model.stiffness_rate(slowest));
        let count = (dt * rate * (1.0 - 1e-9)).ceil().clamp(1.0, MOST_SUBSTEPS);
        let time = dt / count;
        let mut state = *self;
        for _ in 0..count as u32 {
            let wheels = limits.turn_wheels(state.steering, steering, time);
            let push = propulsion.push(state.speed, time);
            state = state.substep(model, push, wheels, time);
        }
        state
    }

    fn substep(&self, model: &SingleTrack, push: Push, wheels: f64, time: f64) -> Self {
        let before = self.planar(model);
        let wanted = acceleration(model, before.along, &push);
        let slides = slides(model, &push, wanted);
        let weight = before.weight(slides);
        let (mut after, mut acceleration) = (before, wanted);
        if weight > 0.0 {
            // The midpoint rule keeps the second order of the kinematic model.
            let middle_wheels = 0.5 * (self.steering + wheels);
            let first = rates(model, before, self.steering, &push, wanted);
            let middle = before.plus(first, 0.5 * time);
            let rates = rates(model, middle, middle_wheels, &push, wanted);
            after = before.plus(rates, time);
            // Below the blending range, only the engine and brakes determine the speed.
            acceleration = weight * rates.along + (1.0 - weight) * wanted;
        }
        let (along, moving) = roll(model, before.along, acceleration, &push, time);
        after.along = along;
        if weight == 0.0 || after.weight(slides) == 0.0 {
            after = rolling(model, along, wheels);
        }
        let travelled = 0.5 * (before.along + along) * moving;
        let motions = Motions {
            before,
            after,
            slides,
        };
        self.moved(model, motions, wheels, travelled, moving)
    }

    /// Moves the body by the weighted mean of the kinematic and dynamic motions. The body moves for
    /// `moving` seconds and covers `travelled` metres along its axis.
    fn moved(
        &self,
        model: &SingleTrack,
        motions: Motions,
        wheels: f64,
        travelled: f64,
        moving: f64,
    ) -> Self {
        let Motions {
            before,
            after,
            slides,
        } = motions;
        let seen = |motion: Planar, wheels: f64| {
            let weight = motion.weight(slides);
            let free = rolling(model, motion.along, wheels);
            let turn = weight * motion.turn + (1.0 - weight) * free.turn;
            // A freely rolling rear axle has no lateral speed.
            (turn, weight * (motion.across - model.rear * motion.turn))
        };
        let (from, to) = (seen(before, self.steering), seen(after, wheels));
        let turned = 0.5 * (from.0 + to.0) * moving;
        let drift = 0.5 * (from.1 + to.1) * moving;
        let mut pose = self.pose;
        // A stationary vehicle keeps its pose exactly.
        if travelled != 0.0 || turned != 0.0 || drift != 0.0 {
            let (sin, cos) = sin_cos(pose.heading + 0.5 * turned);
            let step = DVec2::new(cos * travelled - sin * drift, sin * travelled + cos * drift);
            pose = Pose {
                position: pose.position + step,
                heading: wrap_angle(pose.heading + turned),
            };
        }
        Self {
            pose,
            speed: after.along,
            sideways: after.across - model.rear * after.turn,
            yaw_rate: after.turn,
            steering: wheels,
        }
    }

    fn planar(&self, model: &SingleTrack) -> Planar {
        Planar {
            along: self.speed,
            across: self.sideways + model.rear * self.yaw_rate,
            turn: self.yaw_rate,
        }
    }
}

/// Returns the motion of a vehicle whose wheels roll without slip.
fn rolling(model: &SingleTrack, along: f64, wheels: f64) -> Planar {
    let turn = along * tan(wheels) / model.wheelbase();
    Planar {
        along,
        across: model.rear * turn,
        turn,
    }
}

/// Returns the acceleration due to engine, brakes and resistance, limited by the grip of all
/// wheels, m/s^2. Brakes and resistance do not push the vehicle backwards. A stationary vehicle
/// starts to move if the engine is stronger than they are.
fn acceleration(model: &SingleTrack, along: f64, push: &Push) -> f64 {
    let grip = model.friction * GRAVITY;
    if push.slope != 0.0 {
        return on_slope(grip, along, push);
    }
    if along == 0.0 {
        let left = (push.drive.abs() - push.brake - push.resistance).max(0.0);
        return push.drive.signum() * left.min(grip);
    }
    let tyres = (push.drive - push.brake.copysign(along)).clamp(-grip, grip);
    tyres - push.resistance.copysign(along)
}

/// Returns the acceleration on a slope. The vehicle stands still if its brakes and rolling
/// resistance can hold it with the available grip.
fn on_slope(grip: f64, along: f64, push: &Push) -> f64 {
    if along == 0.0 {
        let net = push.drive.clamp(-grip, grip) + push.slope;
        let held = push.brake.min(grip) + push.resistance;
        return (net.abs() - held).max(0.0).copysign(net);
    }
    let tyres = (push.drive - push.brake.copysign(along)).clamp(-grip, grip);
    tyres - push.resistance.copysign(along) + push.slope
}

/// Whether a bank is so steep that the vehicle slides sideways, given the grip that remains after
/// the longitudinal forces. Tyres that are nearly at rest hold as much as they can, and only the
/// remaining force makes the vehicle slide.
fn slides(model: &SingleTrack, push: &Push, wanted: f64) -> bool {
    if push.bank == 0.0 {
        return false;
    }
    let grip = model.friction * GRAVITY;
    let along = wanted - push.slope;
    push.bank * push.bank + along * along > grip * grip
}

/// Whether a vehicle that has just stopped stays at rest, because its brakes and resistance can
/// hold it.
fn comes_to_stand(model: &SingleTrack, push: &Push) -> bool {
    if push.slope == 0.0 {
        return push.drive.abs() <= push.brake + push.resistance;
    }
    on_slope(model.friction * GRAVITY, 0.0, push) == 0.0
}

/// Returns the speed along the body after a step at the given acceleration, and the time during
/// which the vehicle moves.
fn roll(model: &SingleTrack, along: f64, acceleration: f64, push: &Push, time: f64) -> (f64, f64) {
    let wanted = along + acceleration * time;
    let stops = comes_to_stand(model, push);
    if stops && wanted * along < 0.0 {
        return (0.0, moving_time(along.abs(), -wanted.abs(), time));
    }
    if push.drive == 0.0 && (push.slope == 0.0 || stops) {
        return (at_rest(wanted.abs(), -1.0).copysign(wanted), time);
    }
    (wanted, time)
}

/// Returns the rates of change of the speeds along and across the body and of the turn rate.
fn rates(model: &SingleTrack, motion: Planar, wheels: f64, push: &Push, wanted: f64) -> Planar {
    // The slope acts at the centre of gravity, so only the reaction of the tyres shifts the loads.
    let loads = model.axle_loads(wanted - push.slope);
    // Drag, rolling resistance and the slope act on the body. The tyres transmit the other forces.
    let resisted = match motion.along {
        0.0 => push.slope,
        along => push.resistance.copysign(-along) + push.slope,
    };
    let asked = model.mass * (wanted - resisted);
    let share = match push.driven_front {
        Some(share) if push.brake == 0.0 => share,
        _ => loads[0] / (loads[0] + loads[1]),
    };
    let (sin, cos) = sin_cos(wheels);
    // Velocity of the front axle, rotated into the frame of its wheels.
    let (x, y) = (motion.along, motion.across + model.front * motion.turn);
    let (along, across) = (x * cos + y * sin, y * cos - x * sin);
    let front = axle_force(model, 0, loads[0], along, across, asked * share);
    let (along, across) = (motion.along, motion.across - model.rear * motion.turn);
    let rear = axle_force(model, 1, loads[1], along, across, asked * (1.0 - share));
    let front = (front.0 * cos - front.1 * sin, front.1 * cos + front.0 * sin);
    Planar {
        along: (front.0 + rear.0) / model.mass + resisted + motion.turn * motion.across,
        across: (front.1 + rear.1) / model.mass + push.bank - motion.turn * motion.along,
        turn: (model.front * front.1 - model.rear * rear.1) / model.yaw_inertia,
    }
}

/// Returns the longitudinal and lateral force of an axle, N. They share the grip of the axle: if
/// their sum exceeds the grip, it is scaled down without changing its direction.
fn axle_force(
    model: &SingleTrack,
    axle: usize,
    load: f64,
    along: f64,
    across: f64,
    asked: f64,
) -> (f64, f64) {
    let slip = across / along.abs().max(BLEND[0]);
    let stiffness = model.stiffness[axle];
    let force = model.tyre.force_per_load(slip, stiffness, model.friction);
    let (along, across) = (asked, -load * force);
    let (grip, whole) = (model.friction * load, DVec2::new(along, across).length());
    if whole <= grip || model.tyre == Tyre::Linear {
        return (along, across);
    }
    let left = grip / whole;
    (along * left, across * left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::Wish;
    use crate::dynamic::linear::LinearState;
    use crate::dynamic::tests::bmw_320i;
    use crate::one_track::OneTrackState;
    use proptest::prelude::*;
    use roadwright_scenario::VehicleType;

    fn car() -> OneTrackLimits {
        OneTrackLimits::from(&VehicleType::car())
    }

    fn at(speed: f64) -> DynamicState {
        DynamicState {
            speed,
            ..DynamicState::default()
        }
    }

    /// Drives with a constant acceleration request and steering angle. Returns the final state.
    fn drive(
        mut state: DynamicState,
        model: &SingleTrack,
        acceleration: f64,
        steering: f64,
        seconds: f64,
        dt: f64,
    ) -> DynamicState {
        let mut wish = Wish {
            acceleration,
            is_reversing: false,
            limits: car(),
        };
        for _ in 0..(seconds / dt).round() as u32 {
            state = state.step(model, &car(), &mut wish, steering, dt, 200.0);
        }
        state
    }

    #[test]
    fn a_stop_takes_what_brakes_or_grip_allow() {
        let slippery = SingleTrack {
            friction: 0.3,
            ..bmw_320i()
        };
        // The distance is v^2 / 2a with the 8 m/s^2 of the brakes, and v^2 / 2 mu g if there is
        // less grip.
        for (model, braking) in [(bmw_320i(), 8.0), (slippery, 0.3 * GRAVITY)] {
            for dt in [0.0025, 0.01, 0.05] {
                let end = drive(at(20.0), &model, -50.0, 0.0, 20.0, dt);
                assert_eq!(end.speed, 0.0);
                let exact = 400.0 / (2.0 * braking);
                let travelled = end.pose.position.x;
                assert!(
                    (travelled - exact).abs() < 1e-5,
                    "{travelled} m, not {exact} at {dt}"
                );
            }
        }
    }

    #[test]
    fn a_slow_vehicle_drives_as_the_kinematic_one() {
        let limits = OneTrackLimits {
            wheelbase: bmw_320i().wheelbase(),
            ..car()
        };
        let mut state = at(0.9);
        let mut kinematic = OneTrackState {
            speed: 0.9,
            ..OneTrackState::default()
        };
        let mut wish = Wish {
            acceleration: 0.0,
            is_reversing: false,
            limits,
        };
        for _ in 0..1000 {
            state = state.step(&bmw_320i(), &limits, &mut wish, 0.4, 0.01, 200.0);
            kinematic = crate::one_track::step(&kinematic, &limits, 0.0, 0.4, 0.01);
        }
        let apart = (state.pose.position - kinematic.pose.position).length();
        assert!(apart < 1e-4, "{apart} m apart");
    }

    #[test]
    fn small_angles_give_the_circle_of_the_linear_model() {
        let model = bmw_320i();
        for speed in [8.0, 15.0, 25.0] {
            let steady = LinearState::steady(&model, speed, 0.01);
            let linear = SingleTrack {
                tyre: Tyre::Linear,
                ..model
            };
            for (model, tolerance) in [(linear, 0.005), (model, 0.02)] {
                let mut state = at(speed);
                for _ in 0..1000 {
                    let hold = Hold(speed);
                    state = state.step(&model, &car(), &mut { hold }, 0.01, 0.01, 200.0);
                }
                let ratio = state.yaw_rate / steady.yaw_rate;
                assert!((ratio - 1.0).abs() < tolerance, "{ratio} at {speed} m/s");
                let slip = (state.sideways + model.rear * state.yaw_rate) / speed;
                assert!((slip - steady.side_slip).abs() < 1e-3, "{slip} {steady:?}");
            }
        }
    }

    /// Propulsion that keeps a constant speed.
    struct Hold(f64);

    impl Propulsion for Hold {
        fn push(&mut self, speed: f64, dt: f64) -> Push {
            Push {
                drive: ((self.0 - speed) / dt).clamp(-5.0, 5.0),
                ..Push::default()
            }
        }
    }

    /// Returns the velocity of the centre of gravity, m/s.
    fn velocity(state: &DynamicState, model: &SingleTrack) -> DVec2 {
        let across = state.sideways + model.rear * state.yaw_rate;
        state.pose.forward() * state.speed + state.pose.left() * across
    }

    #[test]
    fn grip_bounds_what_a_saturating_tyre_does_and_not_what_a_linear_one_does() {
        let hardest = |tyre: Tyre| {
            let model = SingleTrack { tyre, ..bmw_320i() };
            let (mut state, mut hardest) = (at(25.0), 0.0f64);
            for _ in 0..150 {
                let next = drive(state, &model, -3.0, 0.3, 0.01, 0.01);
                let change = velocity(&next, &model) - velocity(&state, &model);
                hardest = hardest.max(change.length() / 0.01);
                state = next;
            }
            hardest / (model.friction * GRAVITY)
        };
        assert!(hardest(Tyre::Linear) > 1.5);
        let brush = hardest(Tyre::Brush);
        assert!(brush > 0.9 && brush < 1.01, "{brush}");
    }

    #[test]
    fn backwards_it_turns_where_its_wheels_point() {
        let mut wish = Wish {
            acceleration: 1.0,
            is_reversing: true,
            limits: car(),
        };
        let mut state = at(0.0);
        for _ in 0..200 {
            state = state.step(&bmw_320i(), &car(), &mut wish, 0.3, 0.01, 200.0);
        }
        assert!(state.speed < -1.5 && state.pose.position.x < -1.0);
        // The wheels are turned to the left. In reverse, the heading therefore turns to the right.
        assert!(state.pose.heading < -0.1, "{state:?}");
        // In a gear for the opposite direction, the vehicle brakes first and then drives forwards.
        wish.is_reversing = false;
        state = state.step(&bmw_320i(), &car(), &mut wish, 0.3, 0.01, 200.0);
        assert!(state.speed > -1.93 && state.speed < -1.5, "{state:?}");
        for _ in 0..200 {
            state = state.step(&bmw_320i(), &car(), &mut wish, 0.3, 0.01, 200.0);
        }
        assert!(state.speed > 0.0);
    }

    #[test]
    fn a_path_does_not_depend_on_the_step() {
        let end = |dt: f64| {
            let state = drive(at(12.0), &bmw_320i(), 1.0, 0.08, 3.0, dt);
            drive(state, &bmw_320i(), -2.0, -0.08, 3.0, dt)
                .pose
                .position
        };
        let exact = end(0.0005);
        for dt in [0.0025, 0.005, 0.01] {
            let apart = (end(dt) - exact).length();
            assert!(apart < 0.02, "{apart} m at {dt}");
        }
    }

    #[test]
    fn what_stands_keeps_its_pose_to_the_bit() {
        let mut state = at(0.0);
        state.pose = Pose::new(12.3, -4.5, 0.7);
        let after = drive(state, &bmw_320i(), -1.0, 0.4, 1.0, 0.01);
        assert_eq!(after.pose, state.pose);
        assert!(after.steering > 0.3);
    }

    proptest! {
        #[test]
        fn no_command_makes_it_explode(
            speed in -10.0..50.0f64, sideways in -5.0..5.0f64, yaw_rate in -3.0..3.0f64,
            wheel in -0.6..0.6f64, friction in 0.05..2.0f64,
            command in [proptest::num::f64::ANY, proptest::num::f64::ANY],
            dt in 0.001..0.2f64,
        ) {
            let [acceleration, steering] = command;
            let model = SingleTrack { friction, ..bmw_320i() };
            let mut state = DynamicState {
                speed, sideways, yaw_rate, steering: wheel, ..DynamicState::default()
            };
            let mut wish = Wish { acceleration, is_reversing: false, limits: car() };
            for _ in 0..50 {
                state = state.step(&model, &car(), &mut wish, steering, dt, 200.0);
                prop_assert!(state.pose.position.is_finite() && state.pose.heading.is_finite());
                prop_assert!(state.speed.abs() < 80.0 && state.yaw_rate.abs() < 60.0, "{state:?}");
                prop_assert!(state.steering.abs() <= car().max_steering);
            }
        }
    }
}
