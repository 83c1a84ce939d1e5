//! Manoeuvres with trailers: the distance that a vehicle can reverse before it jackknifes.

use super::plot::{Look, Recorder};
use super::{Measured, Subject};
use crate::one_track::{OneTrackLimits, OneTrackState, step};
use crate::trailer::{TrailerState, Train, distance_to_jackknife};
use roadwright_geometry::Pose;
use roadwright_geometry::math::wrap_angle;
use std::f64::consts::{FRAC_PI_3, PI};

/// Angle of the first trailer at the start of the reverse drive, rad.
const FROM: f64 = 5.0 * PI / 180.0;
/// Angle of the first trailer at which the manoeuvre ends, rad.
const TO: f64 = FRAC_PI_3;
/// Speed in reverse, m/s.
const SPEED: f64 = 1.0;
/// Maximum duration, s.
const LONGEST: f64 = 3600.0;
/// Time steps that have to give the same result, s.
const STEPS: [f64; 3] = [0.05, 0.02, 0.01];
/// Number of plotted points of the closed-form curve.
const POINTS: u32 = 100;

/// Measures the distance in reverse with straight wheels over which the angle of the first trailer
/// grows from 5 to 60 degrees, m. The result is compared with d ln(tan 30 / tan 2.5), and between
/// time steps of 50, 20 and 10 ms.
pub(super) fn jackknife(
    subject: &Subject<'_>,
    recorder: &mut Recorder,
) -> Result<Measured, &'static str> {
    let train = Train::of_file(subject.file);
    let first = train.trailers().first().ok_or("the file has no trailers")?;
    if first.lock < TO {
        return Err("the first trailer touches the towing vehicle before 60 degrees");
    }
    let exact = distance_to_jackknife(first.to_axle, FROM, TO);
    recorder.axes("distance in reverse, m", "angle of the first trailer, rad");
    let distances = STEPS.map(|dt| {
        let mut line = vec![[0.0, FROM]];
        // For a very long trailer, the closed-form distance can be infinite.
        let most = (4.0 * exact).min(SPEED * LONGEST);
        let distance = distance(&train, &subject.limits, most, dt, &mut line);
        recorder.series(format!("steps of {} ms", 1e3 * dt), Look::Line, line);
        distance
    });
    let closed = (0..=POINTS).map(|number| {
        let angle = FROM + (TO - FROM) * f64::from(number) / f64::from(POINTS);
        [distance_to_jackknife(first.to_axle, FROM, angle), angle]
    });
    recorder.series("d ln(tan(a / 2) / tan 2.5 deg)", Look::Dashed, closed);
    let spread = distances.iter().fold(0.0f64, |worst, distance| {
        worst.max((distance - distances[2]).abs())
    }) / exact;
    let behind = -first.coupling;
    let note = format!(
        "the coupling is {behind:.2} m behind the rear axle and {:.2} m ahead of the trailer's axle; the results with \
         steps of 50, 20 and 10 ms differ by {spread:.5}",
        first.to_axle
    );
    Ok(Measured {
        sound: spread < 0.02,
        ..Measured::near(distances[2], exact, 0.02, note)
    })
}

/// Returns the distance after which the first trailer reaches the final hitch angle, m; infinite if it does
/// not reach the angle within `most` metres. Records distances and angles as a line.
fn distance(
    train: &Train,
    limits: &OneTrackLimits,
    most: f64,
    dt: f64,
    line: &mut Vec<[f64; 2]>,
) -> f64 {
    // The model only drives forwards, so a reversing vehicle is represented by one that faces the
    // opposite direction.
    let mut car = OneTrackState {
        pose: Pose::new(0.0, 0.0, PI),
        speed: SPEED,
        ..OneTrackState::default()
    };
    let mut states: Vec<TrailerState> = train.straight(Pose::default());
    let (mut distance, mut before) = (0.0, FROM);
    for state in &mut states {
        state.heading = -FROM;
    }
    // The trailers behind the first one are in line with it.
    let mut ahead = Pose::default();
    for (state, trailer) in states.iter_mut().zip(train.trailers()) {
        state.coupling = ahead.point(trailer.coupling, 0.0);
        ahead = Pose {
            position: state.coupling,
            heading: state.heading,
        };
    }
    while distance < most {
        car = step(&car, limits, 0.0, 0.0, dt);
        let pose = Pose {
            heading: wrap_angle(car.pose.heading - PI),
            ..car.pose
        };
        train.tow(&mut states, pose);
        let angle = wrap_angle(pose.heading - states[0].heading).abs();
        if angle >= TO {
            // Linear interpolation within the step.
            let end = distance + SPEED * dt * (TO - before) / (angle - before);
            line.push([end, TO]);
            return end;
        }
        (distance, before) = (distance + SPEED * dt, angle);
        line.push([distance, angle]);
    }
    f64::INFINITY
}
