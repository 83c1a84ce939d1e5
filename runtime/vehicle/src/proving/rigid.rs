//! Manoeuvres of rigid-body vehicles: slopes, tipping over, bumps, steps and gaps.

use super::grounds::{Course, Obstruction, Slope};
use super::plot::{Look, MarkAxis, Recorder, Trials};
use super::{Bound, Measured};
use crate::dynamic::GRAVITY;
use crate::rigid::{ALL_LAYERS, CarEntry, CarState, Controls, RigidModel, Surface, Yard};
use glam::DQuat;
use roadwright_geometry::Pose;
use roadwright_geometry::math::{atan, sin, sin_cos, tan, wrap_angle};
use std::f64::consts::{FRAC_PI_2, PI};

/// The vehicle must not tip below this fraction of the limit for rigid springs. It is below 1,
/// because the hull leans outwards on its springs.
const SPRUNG: f64 = 0.85;
/// Time after which a pivot turn is steady, s.
const PIVOT_START: f64 = 4.0;
/// Duration of the measurement of a pivot turn, s.
const PIVOT_TIME: f64 = 6.0;
/// Reason why a pivot turn does not apply to a vehicle.
const NO_TRACKS: &str = "only tracked vehicles can turn on the spot";
/// Time step of the world, s.
const DT: f64 = 0.02;
/// Update rate of the forces, Hz.
const RATE_HZ: f64 = 200.0;
/// Number of equal steps in which a slope, speed or height is increased until the vehicle's maximum
/// is found.
const PARTS: u32 = 12;
/// Time in which the hull settles on its springs and tyres, s.
const SETTLING: f64 = 25.0;
/// Maximum number of wheels whose loads are drawn individually.
const MOST_WHEELS: usize = 8;
/// Maximum motion of a parked vehicle in a minute, m.
const PARKED: f64 = 1e-3;
/// Minimum friction on the tilt table, so that vehicles tip rather than slide.
const ROUGH: f64 = 1.2;
/// Radius of the half-round obstacle, m. The NATO trials use 4 to 12 inches.
const HALF_ROUND: f64 = 0.1;
/// Maximum acceleration that a driver tolerates, m/s^2: 2.5 g.
const BEARABLE: f64 = 2.5 * GRAVITY;

/// Maximum duration of a drive over the half-round obstacle, s. Slower vehicles are not tested.
const LONGEST: f64 = 600.0;

#[cfg(test)]
thread_local! {
    /// Number of rigid-body steps taken in this thread.
    pub(super) static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// A vehicle on a test ground.
struct Trial<'a, S> {
    model: &'a RigidModel,
    surface: &'a S,
    state: CarState,
}

impl<'a, S: Surface> Trial<'a, S> {
    fn new(model: &'a RigidModel, surface: &'a S, pose: Pose) -> Self {
        Self {
            model,
            surface,
            state: CarState::at_rest(model, pose, surface),
        }
    }

    /// Simulates for the given time, s. Returns whether the state has stayed valid.
    fn run(&mut self, seconds: f64, controls: Controls) -> bool {
        self.run_seen(seconds, controls, |_, _| {})
    }

    /// Like `run`, but passes the state and the time since the start (s) to a callback after each
    /// step.
    fn run_seen(
        &mut self,
        seconds: f64,
        controls: Controls,
        mut see: impl FnMut(f64, &CarState),
    ) -> bool {
        (1..=(seconds / DT).round() as u32).all(|number| {
            let entry = CarEntry {
                model: self.model,
                state: &mut self.state,
                controls,
                layers: ALL_LAYERS,
                towed: &mut [],
            };
            #[cfg(test)]
            STEPS.set(STEPS.get() + 1);
            let yard = Yard::new(self.surface, RATE_HZ);
            let keeps = yard.step(vec![entry], Vec::new(), DT).is_empty();
            see(f64::from(number) * DT, &self.state);
            keeps
        })
    }
}

const PARK: Controls = Controls {
    acceleration: 0.0,
    steering: 0.0,
    is_reversing: false,
    hand_brake: true,
    pedals: None,
};

/// Measures how far the vehicle drifts within a minute on a slope with the hand brake applied. It
/// is parked nose up, nose down and across the slope. The slope is 70 % of the slope on which the
/// held wheels would slide with the nose down.
pub(super) fn rest_on_slope(
    model: &RigidModel,
    recorder: &mut Recorder,
) -> Result<Measured, &'static str> {
    let held: f64 = held_load(model);
    if held == 0.0 {
        return Err("no wheel has a hand brake");
    }
    let angle = 0.7 * atan(holding_slope(model, held)).min(0.45);
    recorder.axes("time, s", "drift, mm");
    recorder.mark(MarkAxis::Y, 1e3 * PARKED, "limit of a parked vehicle");
    let drifts = [("up", 0.0), ("down", PI), ("across", FRAC_PI_2)].map(|(name, heading)| {
        let slope = Slope {
            angle,
            heading: 0.0,
        };
        let mut trial = Trial::new(model, &slope, Pose::new(0.0, 0.0, heading));
        let mut sound = trial.run(SETTLING, PARK);
        let before = trial.state.body.position;
        let label = format!("nose {name}");
        sound &= trial.run_seen(60.0, PARK, |time, state| {
            let drift = (state.body.position - before).length();
            recorder.sample(&label, [time, 1e3 * drift]);
        });
        let drift = (trial.state.body.position - before).length();
        (name, if sound { drift } else { f64::INFINITY })
    });
    let worst = drifts.iter().map(|(_, drift)| *drift).fold(0.0, f64::max);
    let said = drifts.map(|(name, drift)| format!("{name} {:.4} mm", 1e3 * drift));
    Ok(Measured {
        value: worst,
        limit: Some(PARKED),
        bound: Bound::Max,
        tolerance: 0.0,
        sound: true,
        note: format!(
            "parked with the hand brake for 60 s on a slope of {angle:.3} rad: {}",
            said.join(", ")
        ),
    })
}

/// Returns the fraction of the weight that is on the wheels held by the hand brake.
fn held_load(model: &RigidModel) -> f64 {
    let held = model.wheels.iter().filter(|wheel| wheel.hand_brake);
    held.map(|wheel| wheel.load).sum::<f64>() / (model.mass * GRAVITY)
}

/// Returns the tangent of the slope angle at which the held wheels slide with the nose down. The
/// slope unloads the rear wheels: tan a = mu s / (1 + mu h / L).
fn holding_slope(model: &RigidModel, share: f64) -> f64 {
    let lift = model.friction * model.height / model.limits.wheelbase;
    model.friction * share / (1.0 + lift)
}

/// Measures the lateral acceleration at which the upper wheels lift on a tilt table without
/// sliding. The result is compared with g T / 2 h, the value for rigid springs.
pub(super) fn tip_over(model: &RigidModel, recorder: &mut Recorder) -> Measured {
    let rigid = model.tip_acceleration();
    recorder.mark(
        MarkAxis::X,
        atan(rigid / GRAVITY),
        "tips, with rigid springs",
    );
    let mut rough = model.clone();
    rough.friction = ROUGH.max(1.5 * rigid / GRAVITY);
    let angle = tilt_until(&rough, 1.3 * atan(rigid / GRAVITY), recorder, |trial| {
        let upper = trial.model.wheels.iter().zip(&trial.state.loads);
        // The table rises to the left, so the right wheels are the lower wheels.
        let mut lifted = upper.filter(|(wheel, _)| wheel.contact.y > 0.0);
        lifted.all(|(_, load)| *load == 0.0)
    });
    Measured::near(
        GRAVITY * tan(angle),
        rigid,
        0.15,
        format!(
            "tilt table up to {angle:.3} rad; the body leans on its springs before the wheels lift"
        ),
    )
}

/// Measures the side slope that makes the vehicle, on its own tyres, slide or tip. The result is
/// compared with the smaller of atan(mu) and atan(T / 2 h), less the effect of the springs.
pub(super) fn side_slope(model: &RigidModel, recorder: &mut Recorder) -> Measured {
    let (slides, tips) = (
        atan(model.friction),
        atan(model.tip_acceleration() / GRAVITY),
    );
    let limit = slides.min(tips);
    recorder.mark(MarkAxis::X, slides, "slides, closed form");
    recorder.mark(MarkAxis::X, tips, "tips, closed form");
    let angle = tilt_until(model, 1.3 * limit, recorder, |trial| {
        // Measured along the table, which rotates about an axis below the vehicle.
        let moved = trial.state.body.position.y.abs() - model.height * sin(1.3 * limit);
        moved > 0.5
            || trial
                .state
                .loads
                .iter()
                .filter(|load| **load == 0.0)
                .count()
                > 1
    });
    Measured {
        value: angle,
        limit: Some(SPRUNG * limit),
        bound: Bound::Min,
        tolerance: 0.0,
        sound: true,
        note: format!("tilt table; closed form: slides at {slides:.3} rad, tips at {tips:.3} rad"),
    }
}

/// Tilts a table, with a vehicle across it, to the left until `is_over` holds or the given angle is
/// reached. Returns the angle.
fn tilt_until(
    model: &RigidModel,
    most: f64,
    recorder: &mut Recorder,
    is_over: impl Fn(&Trial<'_, Slope>) -> bool,
) -> f64 {
    recorder.axes("angle of the table, rad", "load, kN");
    let groups = groups_of(model);
    let step = most / f64::from(PARTS * PARTS);
    let mut state = CarState::at_rest(model, Pose::default(), &level());
    let mut angle = 0.0;
    while angle < most {
        angle += step;
        let table = Slope {
            angle,
            heading: FRAC_PI_2,
        };
        // Each angle starts from the final state at the previous angle, and the vehicle moves with
        // the table.
        tilt(&mut state, step);
        let mut trial = Trial {
            model,
            surface: &table,
            state,
        };
        let keeps = trial.run(0.2, PARK);
        for (label, wheels) in &groups {
            let load: f64 = wheels.iter().map(|&wheel| trial.state.loads[wheel]).sum();
            recorder.sample(label, [angle, load / 1e3]);
        }
        if !keeps || is_over(&trial) {
            return angle;
        }
        state = trial.state;
    }
    most
}

/// Rotates a vehicle about the axis of the table, which is along x.
fn tilt(state: &mut CarState, angle: f64) {
    let (sin, cos) = sin_cos(0.5 * angle);
    let turn = DQuat::from_xyzw(sin, 0.0, 0.0, cos);
    let body = &mut state.body;
    body.position = turn * body.position;
    body.rotation = (turn * body.rotation).normalize();
    for sphere in &mut state.spheres {
        sphere.position = turn * sphere.position;
    }
}

/// Returns groups of wheels, each with its label and wheel indices. The plot has one load curve per
/// group. Each wheel is a group of its own or, if that gives too many curves, each side is a group.
/// The table rises to the left.
fn groups_of(model: &RigidModel) -> Vec<(String, Vec<usize>)> {
    let side = |place: f64| if place > 0.0 { "upper" } else { "lower" };
    if model.wheels.len() > MOST_WHEELS {
        let of = |wanted: &str| {
            let wheels = model.wheels.iter().enumerate();
            let such = wheels.filter(|(_, wheel)| side(wheel.contact.y) == wanted);
            let numbers: Vec<usize> = such.map(|(number, _)| number).collect();
            (
                format!("{} {wanted} wheels together", numbers.len()),
                numbers,
            )
        };
        return vec![of("upper"), of("lower")];
    }
    let mut axles: Vec<f64> = model.wheels.iter().map(|wheel| wheel.contact.x).collect();
    axles.sort_by(|a, b| b.total_cmp(a));
    axles.dedup();
    let name = |number: usize| {
        let place = model.wheels[number].contact;
        let ahead = axles.iter().take_while(|axle| **axle > place.x).count();
        format!("axle {}, {} wheel", ahead + 1, side(place.y))
    };
    let wheels = 0..model.wheels.len();
    let mut groups: Vec<_> = wheels.map(|number| (name(number), vec![number])).collect();
    // Files may list the rear wheels first.
    groups.sort();
    groups
}

fn level() -> Slope {
    Slope {
        angle: 0.0,
        heading: 0.0,
    }
}

/// Measures the highest speed at which the vehicle can cross a half-round obstacle of 10 cm: the
/// upward hull acceleration must not exceed 2.5 g, and the vehicle must stay on its wheels. Speeds
/// above 15 m/s are not tried.
pub(super) fn half_round(model: &RigidModel, recorder: &mut Recorder) -> Measured {
    let top = model.limits.max_speed.min(15.0);
    let course = Course {
        obstruction: Obstruction::HalfRound(HALF_ROUND),
        radius: model.radius,
    };
    let speeds = (1..=PARTS).map(|part| top * f64::from(part) / f64::from(PARTS));
    let mut trials = Trials::default();
    let bears = |speed: &f64| {
        let mut trial = Trial::new(
            model,
            &course,
            Pose::new(-1.5 * model.half_size.x - 5.0, 0.0, 0.0),
        );
        trial.state.roll(*speed);
        let mut worst = 0.0f64;
        let distance = 4.0 * model.half_size.x + 15.0;
        if distance > speed * LONGEST {
            return false;
        }
        let steps = (distance / speed / DT) as u32;
        // Only upward accelerations are used. A falling hull is weightless at most, and its landing
        // is an upward acceleration.
        let mut line = Vec::new();
        let keeps = (1..=steps).all(|number| {
            let before = trial.state.body.velocity.z;
            let sound = trial.run(DT, Controls::default());
            let lift = (trial.state.body.velocity.z - before) / DT;
            worst = worst.max(lift);
            line.push([f64::from(number) * DT, lift]);
            sound && trial.state.tilt() < 0.5
        });
        let passed = keeps && worst < BEARABLE;
        trials.add(*speed, vec![(Look::Line, line)], passed);
        passed
    };
    let highest = speeds.take_while(bears).fold(0.0, f64::max);
    let too_slow = if trials.is_empty() {
        format!(
            "; not tested, because it would take more than {LONGEST} s at {:.1e} m/s",
            top / f64::from(PARTS)
        )
    } else {
        String::new()
    };
    recorder.axes("time, s", "vertical acceleration of the hull, m/s^2");
    trials.record("m/s", recorder);
    recorder.mark(MarkAxis::Y, BEARABLE, "2.5 g");
    Measured {
        value: highest,
        limit: None,
        bound: Bound::Min,
        tolerance: 0.0,
        sound: true,
        note: format!(
            "tested up to {top:.1} m/s on a half-round obstacle of {HALF_ROUND} m; the limit is 2.5 \
             g{too_slow}"
        ),
    }
}

/// Label of the horizontal axis in pictures of a hull that crosses an obstruction.
const CENTRE_X: &str = "position of the centre of gravity, m";
/// Label of the vertical axis in pictures of a hull that crosses an obstruction.
const CENTRE_HEIGHT: &str = "height of the centre of gravity, m";

/// Measures the highest step that the vehicle climbs from rest with full throttle, as a fraction of
/// the wheel radius. No wheel can climb more than its radius.
pub(super) fn step_climb(model: &RigidModel, recorder: &mut Recorder) -> Measured {
    let mut trials = Trials::default();
    let crossed = |height: &f64| {
        let (passed, line) = crosses(model, Obstruction::Step(*height), 0.0);
        trials.add(*height, vec![(Look::Line, line)], passed);
        passed
    };
    let heights = parts_of(model.radius);
    let highest = heights.take_while(crossed).fold(0.0, f64::max);
    recorder.axes(CENTRE_X, CENTRE_HEIGHT);
    trials.record("m high", recorder);
    recorder.mark(MarkAxis::X, 0.0, "edge of the step");
    Measured {
        value: highest,
        limit: Some(model.radius),
        bound: Bound::Max,
        tolerance: 0.0,
        sound: highest > 0.0,
        note: "from rest, at full throttle; compared with the radius of the wheels".into(),
    }
}

/// Measures the widest trench that the vehicle crosses at 2 m/s, as a fraction of the wheel
/// diameter. A wheel falls into a trench that is wider than its diameter.
pub(super) fn gap(model: &RigidModel, recorder: &mut Recorder) -> Measured {
    let diameter = 2.0 * model.radius;
    let mut trials = Trials::default();
    let crossed = |width: &f64| {
        let (passed, line) = crosses(model, Obstruction::Gap(*width), 2.0);
        trials.add(*width, vec![(Look::Line, line)], passed);
        passed
    };
    let widths = parts_of(diameter);
    let widest = widths.take_while(crossed).fold(0.0, f64::max);
    recorder.axes(CENTRE_X, CENTRE_HEIGHT);
    trials.record("m wide", recorder);
    recorder.mark(MarkAxis::X, 0.0, "near edge of the trench");
    Measured {
        value: widest,
        limit: Some(diameter),
        bound: Bound::Max,
        tolerance: 0.0,
        sound: widest > 0.0,
        note: "at 2 m/s, at full throttle; compared with the diameter of the wheels".into(),
    }
}

/// Curve label in the plot of a pivot turn.
const PIVOTS: &str = "at full lock";

/// Measures the yaw rate of a turn on the spot at full lock. The result is compared with the
/// balance of the friction along and across the tracks.
pub(super) fn pivot_turn(
    model: &RigidModel,
    recorder: &mut Recorder,
) -> Result<Measured, &'static str> {
    let tracks = model.tracks.ok_or(NO_TRACKS)?;
    let surface = level();
    let mut trial = Trial::new(model, &surface, Pose::default());
    let turning = Controls {
        acceleration: 1.0,
        steering: model.limits.max_steering,
        ..Controls::default()
    };
    recorder.axes("time, s", "yaw rate, rad/s");
    recorder.sample(PIVOTS, [0.0, 0.0]);
    let mut sound = trial.run_seen(PIVOT_START, turning, |time, state| {
        recorder.sample(PIVOTS, [time, state.body.spin.z]);
    });
    let before = trial.state.body.position;
    let (mut turned, mut heading) = (0.0, trial.state.pose(model).heading);
    let steps = (PIVOT_TIME / DT) as u32;
    for number in 1..=steps {
        sound &= trial.run(DT, turning);
        let time = PIVOT_START + f64::from(number) * DT;
        recorder.sample(PIVOTS, [time, trial.state.body.spin.z]);
        let now = trial.state.pose(model).heading;
        turned += wrap_angle(now - heading);
        heading = now;
    }
    let moved = (trial.state.body.position - before).length();
    let rate = turned / (f64::from(steps) * DT);
    let free = 2.0 * tracks.pivot_speed / tracks.tread;
    recorder.mark(MarkAxis::Y, tracks.pivot_rate(model), "friction balance");
    recorder.mark(MarkAxis::Y, free, "2 v / B, without slip");
    recorder.mark(MarkAxis::X, PIVOT_START, "start of the measurement");
    Ok(Measured {
        sound: sound && moved < 0.1 * model.half_size.x,
        ..Measured::near(
            rate,
            tracks.pivot_rate(model),
            0.15,
            format!("without slip, 2 v / B would be {free:.3}; the centre moved by {moved:.2} m"),
        )
    })
}

/// Returns equally spaced values from 0 to exactly the given length, m.
fn parts_of(length: f64) -> impl Iterator<Item = f64> {
    let part = move |part: u32| length * f64::from(part) / f64::from(PARTS);
    (1..=PARTS).map(move |number| part(number).min(length))
}

/// Returns whether the vehicle crosses an obstruction within 20 s at the given initial speed (m/s),
/// and the positions and heights of its centre of gravity, m.
fn crosses(model: &RigidModel, obstruction: Obstruction, speed: f64) -> (bool, Vec<[f64; 2]>) {
    let course = Course {
        obstruction,
        radius: model.radius,
    };
    let ahead = model.limits.wheelbase + model.radius + 1.0;
    let mut trial = Trial::new(model, &course, Pose::new(-ahead, 0.0, 0.0));
    trial.state.roll(speed);
    let full = Controls {
        // The requested acceleration exceeds the capability of nearly all engines, so the throttle
        // is fully open at every speed.
        acceleration: model.limits.max_acceleration.max(GRAVITY),
        ..Controls::default()
    };
    let mut line = Vec::new();
    let crossed = (0..20).any(|_| {
        trial.run_seen(1.0, full, |_, state| {
            let place = state.body.position;
            line.push([place.x, place.z]);
        });
        trial.state.pose(model).position.x > 1.5
    });
    (crossed, line)
}
