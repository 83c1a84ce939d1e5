//! Manoeuvres with tyre slip: braking, a circle and a step steer.

use super::plot::{Look, MarkAxis, Recorder};
use super::track::{Aim, Car};
use super::{Measured, Subject};
use crate::dynamic::linear::LinearState;
use crate::dynamic::{GRAVITY, SingleTrack};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::atan2;

const DT: f64 = 0.01;
/// Time steps that have to give the same results, s.
const STEPS: [f64; 3] = [0.01, 0.005, 0.0025];
/// Longitudinal acceleration on the circle, m/s^2. It is small, so that nearly all of the grip is
/// available for the bend.
const STAIRCASE: f64 = 0.1;
/// Distance from the circle beyond which the vehicle counts as having left it, m.
const OFF: f64 = 1.0;
/// Number of computed points of the reference curve for each plotted point.
const SHOWN: u32 = 100;

/// Measures the braking distance to rest with full brakes, from 20 m/s or 80 % of the top speed,
/// whichever is less. The result is compared with the integral of v dv over braking and resistance,
/// and between steps of 10, 5 and 2.5 ms.
pub(super) fn braking(
    subject: &Subject<'_>,
    model: &SingleTrack,
    recorder: &mut Recorder,
) -> Measured {
    recorder.axes("distance, m", "speed, m/s");
    let from = (0.8 * Car::top_speed(subject)).min(20.0);
    let [coarse, value, fine] = STEPS.map(|dt| {
        let mut car = Car::new(subject, model, from);
        let mut line = vec![[0.0, from]];
        for _ in 0..(60.0 / dt) as u32 {
            let moves = car.state.speed > 0.0;
            // The requested deceleration exceeds the capability of any brakes.
            car.step(-1e3, 0.0, dt);
            if moves {
                line.push([car.state.pose.position.x, car.state.speed]);
            }
        }
        recorder.series(format!("steps of {} ms", 1e3 * dt), Look::Line, line);
        car.state.pose.position.x
    });
    let spread = (coarse.max(fine).max(value) - coarse.min(fine).min(value)) / value;
    let braking = match &subject.train {
        Some(train) => train.hardest_braking(),
        None => subject.limits.max_braking.min(Car::grip(model)),
    };
    let parts = 10_000;
    let part = from / f64::from(parts);
    let distances = (0..parts).map(|number| {
        let speed = (f64::from(number) + 0.5) * part;
        let train = subject.train.as_ref();
        let resisted = train.map_or(0.0, |train| train.resistance(speed) / train.mass);
        // Grip limits the force of the wheels, but not the drag.
        speed * part / (braking + resisted)
    });
    let (mut exact, mut distances_to) = (0.0, vec![[0.0, 0.0]]);
    for (number, distance) in (1..).zip(distances) {
        exact += distance;
        if number % SHOWN == 0 {
            distances_to.push([exact, f64::from(number) * part]);
        }
    }
    // The distances are summed from rest up to the speed, which is the reverse order of the drive.
    let closed = distances_to
        .iter()
        .rev()
        .map(|[distance, speed]| [exact - distance, *speed]);
    recorder.series("integral of v dv / a", Look::Dashed, closed);
    let note = format!(
        "starts at {from:.1} m/s; the results with steps of 10, 5 and 2.5 ms differ by {spread:.5}"
    );
    Measured {
        sound: spread < 0.02,
        ..Measured::near(value, exact, 0.02, note)
    }
}

/// Measures the highest speed at which the vehicle stays on a circle while its speed rises slowly.
/// The result is compared with sqrt(mu g R), or with the top speed if that is lower.
pub(super) fn circle(
    subject: &Subject<'_>,
    model: &SingleTrack,
    radius: f64,
    recorder: &mut Recorder,
) -> Measured {
    recorder.axes("speed, m/s", "off the circle, m; inside is positive");
    let grip = (Car::grip(model) * radius).sqrt();
    let most = grip.min(Car::top_speed(subject));
    let mut car = Car::new(subject, model, 0.5 * most);
    let centre = DVec2::new(0.0, radius);
    let (mut highest, mut speed) = (0.0f64, 0.5 * most);
    // Because of the slip, the vehicle runs wide.
    let mut left_at = -OFF;
    // One minute longer than the speed needs to rise, because a weak engine lags behind.
    let seconds = 0.7 * most / STAIRCASE + 60.0;
    for _ in 0..(seconds / DT) as u32 {
        speed = (speed + STAIRCASE * DT).min(1.2 * most);
        let from_centre = car.centre() - centre;
        let aim = Aim {
            // The circle is driven counter-clockwise, so its centre is on the left and the left
            // side is the inside.
            offset: radius - from_centre.length(),
            heading: atan2(from_centre.x, -from_centre.y),
            curvature: 1.0 / radius,
        };
        // The offset belongs to the state before the step.
        recorder.sample("centre of gravity", [car.state.speed, aim.offset]);
        car.follow(aim, speed, DT);
        // In the first seconds, the vehicle approaches the circle.
        if aim.offset.abs() > OFF {
            left_at = OFF.copysign(aim.offset);
            break;
        }
        highest = highest.max(car.state.speed);
    }
    recorder.mark(MarkAxis::X, grip, "sqrt(mu g R)");
    if most < grip {
        recorder.mark(MarkAxis::X, most, "top speed");
    }
    recorder.mark(MarkAxis::Y, left_at, "left the circle here");
    let note = format!(
        "circle with a radius of {radius} m; a distance of {OFF} m from it counts as leaving it"
    );
    // Slipping tyres add resistance, so a weak engine reaches its limit before the grip does.
    Measured::near(highest, most, 0.15, note)
}

/// Curve label in the plot of a step steer.
const STEPPED: &str = "after a steering step";

/// Measures the yaw rate 4 s after a step steer. The result is compared with the steady state of
/// the linear model (the manoeuvre of ISO 7401). The step is for a lateral acceleration of 4 m/s^2
/// or 30 % of the grip, whichever is less. The speed is 80 km/h or 60 % of the top speed, whichever
/// is less.
pub(super) fn step_steer(
    subject: &Subject<'_>,
    model: &SingleTrack,
    recorder: &mut Recorder,
) -> Measured {
    recorder.axes("time, s", "yaw rate, rad/s");
    let speed = (0.6 * Car::top_speed(subject)).min(80.0 / 3.6);
    let lateral = (0.3 * model.friction * GRAVITY).min(4.0);
    let gain = LinearState::steady(model, speed, 1.0).yaw_rate;
    // In the linear model, the yaw rate is proportional to the steering angle, so its gain gives the required
    // angle.
    let wheels = lateral / speed / gain;
    let mut car = Car::new(subject, model, speed);
    let mut highest = 0.0f64;
    recorder.sample(STEPPED, [0.0, car.state.yaw_rate]);
    for number in 1..=(4.0 / DT) as u32 {
        car.step(speed - car.state.speed, wheels, DT);
        highest = highest.max(car.state.yaw_rate);
        recorder.sample(STEPPED, [f64::from(number) * DT, car.state.yaw_rate]);
    }
    let value = car.state.yaw_rate;
    // The driver holds the speed only to within a few per cent, so the linear model uses the actual
    // speed.
    let steady = LinearState::steady(model, car.state.speed, wheels).yaw_rate;
    recorder.mark(MarkAxis::Y, steady, "steady state of the linear model");
    let note = format!(
        "wheels turned to {wheels:.4} rad at {speed:.1} m/s; the overshoot is {:.1} %",
        100.0 * (highest / value - 1.0)
    );
    Measured::near(value, steady, 0.1, note)
}
