//! Straight drives: acceleration, top speed, coasting and grades.

use super::plot::{Look, MarkAxis, Recorder};
use super::{Bound, Measured};
use crate::drive_train::{DriveTrain, Gear, Pedals, StraightRun};
use crate::dynamic::{GRAVITY, SingleTrack};
use roadwright_geometry::math::{atan, cos, ln, sin};
use roadwright_scenario::vehicle_file::VehicleFile;

const DT: f64 = 0.005;
/// Maximum duration, s.
const LONGEST: f64 = 600.0;
/// Number of parts into which a speed interval is divided for numerical integration.
const PARTS: u32 = 20_000;
/// Number of computed points of the reference curve for each plotted point.
const SHOWN: u32 = 100;
/// Number of plotted points of a closed-form curve.
const POINTS: u32 = 100;

const FULL: Pedals = Pedals {
    throttle: 1.0,
    brake: 0.0,
};
const NONE: Pedals = Pedals {
    throttle: 0.0,
    brake: 0.0,
};

/// Measures the time from rest to 80 % of the top speed. The result is compared with the sum of m
/// dv / F over all speeds, gear by gear.
pub(super) fn acceleration(train: &DriveTrain, recorder: &mut Recorder) -> Measured {
    recorder.axes("time, s", "speed, m/s");
    let target = 0.8 * train.top_speed();
    recorder.mark(MarkAxis::Y, target, "80 % of the top speed");
    let gears = train.gears.iter();
    let labels: Vec<_> = gears.map(|gear| format!("gear {}", gear.name)).collect();
    let label =
        |run: &StraightRun<'_>| &labels[usize::from(run.shifting.gear).min(labels.len() - 1)];
    let mut run = StraightRun::new(train, 0.0, 0.0);
    recorder.sample(label(&run), [0.0, 0.0]);
    while run.speed < target && run.time < LONGEST {
        let before = label(&run);
        run.step(FULL, DT);
        recorder.sample(before, [run.time, run.speed]);
        if before != label(&run) {
            // The line of a gear starts where the line of the previous gear ends.
            recorder.sample(label(&run), [run.time, run.speed]);
        }
    }
    let (part, weight) = (target / f64::from(PARTS), train.mass * GRAVITY);
    let times = (0..PARTS).map(|number| {
        let speed = (f64::from(number) + 0.5) * part;
        let gear = gear_for(train, speed);
        let drive = train
            .full_force(gear, speed)
            .min(train.traction(gear, weight));
        part * train.mass / (drive - train.resistance(speed))
    });
    let (mut exact, mut closed) = (0.0, vec![[0.0, 0.0]]);
    let mut gains = true;
    for (number, time) in (1..).zip(times) {
        exact += time;
        // At speeds where the resistance exceeds the force in a gear, the time would decrease.
        gains &= time > 0.0;
        if gains && number % SHOWN == 0 {
            closed.push([exact, f64::from(number) * part]);
        }
    }
    recorder.series("sum of m dv / F", Look::Dashed, closed);
    let note = format!(
        "from rest to {target:.1} m/s at full throttle; {:.4} of the engine's energy is unaccounted for",
        run.energy.unaccounted()
    );
    Measured {
        sound: run.energy.unaccounted() < 0.01,
        ..Measured::near(run.time, exact, 0.02, note)
    }
}

/// Returns the lowest gear whose upshift speed is above the given speed.
fn gear_for(train: &DriveTrain, speed: f64) -> &Gear {
    let mut gears = train.gears.iter();
    let turns = |gear: &&Gear| train.rpm(gear, speed) < 0.995 * train.up_rpm;
    let last = &train.gears[train.gears.len() - 1];
    gears.find(turns).unwrap_or(last)
}

/// Measures the speed after a long time at full throttle. The result is compared with the rev
/// limit, or with the speed at which the forces balance.
pub(super) fn top_speed(train: &DriveTrain, recorder: &mut Recorder) -> Measured {
    recorder.axes("time, s", "speed, m/s");
    recorder.mark(
        MarkAxis::Y,
        train.top_speed(),
        "by rev limit or force balance",
    );
    let mut run = StraightRun::new(train, 0.0, 0.0);
    while run.time < LONGEST {
        recorder.sample("full throttle", [run.time, run.speed]);
        run.step(FULL, 2.0 * DT);
    }
    recorder.sample("full throttle", [run.time, run.speed]);
    Measured::near(
        run.speed,
        train.top_speed(),
        0.02,
        "after 600 s at full throttle",
    )
}

/// Measures the time from 60 to 30 % of the top speed without throttle. The result is compared with
/// the integral of the resistance.
pub(super) fn coast_down(train: &DriveTrain, recorder: &mut Recorder) -> Measured {
    recorder.axes("time, s", "speed, m/s");
    let (from, to) = (0.6 * train.top_speed(), 0.3 * train.top_speed());
    let mut run = StraightRun::new(train, from, 0.0);
    while run.speed > to && run.time < LONGEST {
        recorder.sample("without throttle", [run.time, run.speed]);
        run.step(NONE, DT);
    }
    recorder.sample("without throttle", [run.time, run.speed]);
    let (c, r) = (train.drag, train.rolling);
    // The integral of m dv / (c v² + r v), or of m dv / c v² without rolling resistance.
    let time_to = |to: f64| match (c > 0.0, r > 0.0) {
        (_, true) => train.mass / r * ln(from * (c * to + r) / (to * (c * from + r))),
        (true, false) => train.mass / c * (1.0 / to - 1.0 / from),
        // Nothing slows the vehicle down.
        (false, false) => LONGEST,
    };
    let exact = time_to(to);
    let speeds = parts_of(POINTS).map(|part| from + part * (to - from));
    let closed = speeds.map(|speed| [time_to(speed), speed]);
    // There is nothing to compare beyond the duration of the drive.
    let closed = closed.filter(|[time, _]| *time <= LONGEST);
    recorder.series("integral of the resistance", Look::Dashed, closed);
    let note = format!("from {from:.1} to {to:.1} m/s");
    Measured::near(run.time, exact.min(LONGEST), 0.02, note)
}

/// Measures the steepest grade on which the vehicle starts and climbs 20 m, however slowly. The
/// result is compared with force divided by weight.
pub(super) fn grade(train: &DriveTrain, recorder: &mut Recorder) -> Measured {
    let climbs = |grade: f64| {
        let mut run = StraightRun::new(train, 0.0, grade);
        while run.time < LONGEST && run.distance < 20.0 {
            run.step(FULL, 2.0 * DT);
        }
        run.distance >= 20.0
    };
    // From level ground to just below vertical.
    let (mut low, mut high) = (0.0, 1.5);
    let mut tried = Vec::new();
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        let climbed = climbs(middle);
        tried.push((middle, climbed));
        if climbed {
            low = middle;
        } else {
            high = middle;
        }
    }
    record_grades(train, &tried, recorder);
    Measured::near(
        low,
        train.limiting_grade(),
        0.02,
        "from rest, at full throttle, 20 m",
    )
}

/// Plots the force in the first gear, the component of the weight along the slope, and the tested slopes.
fn record_grades(train: &DriveTrain, tried: &[(f64, bool)], recorder: &mut Recorder) {
    recorder.axes("slope, rad", "force, kN");
    let (gear, weight) = (&train.gears[0], train.mass * GRAVITY);
    let limit = train.limiting_grade();
    // One and a half times the limiting slope, with a lower bound so that the plot is not empty.
    let steepest = (1.5 * limit).clamp(0.01, 1.5);
    let slopes = || parts_of(POINTS).map(|part| part * steepest);
    let needed = |slope: f64| weight * sin(slope) / 1e3;
    let full = train.full_force(gear, 0.0);
    let given = |slope: f64| full.min(train.traction(gear, weight * cos(slope))) / 1e3;
    let label = format!("gear {} from rest, limited by grip", gear.name);
    recorder.series(
        label,
        Look::Line,
        slopes().map(|slope| [slope, given(slope)]),
    );
    let drawn = slopes().map(|slope| [slope, needed(slope)]);
    recorder.series("weight along the slope", Look::Line, drawn);
    for (label, wanted) in [("climbed", true), ("not climbed", false)] {
        let all = tried.iter().filter(|(slope, _)| *slope <= steepest);
        let such = all.filter(|(_, climbed)| *climbed == wanted);
        let mut slopes: Vec<f64> = such.map(|(slope, _)| *slope).collect();
        slopes.sort_by(f64::total_cmp);
        let points = slopes.iter().map(|slope| [*slope, needed(*slope)]);
        recorder.series(label, Look::Dots, points);
    }
    recorder.mark(MarkAxis::X, limit, "force or grip divided by weight");
}

/// Returns equally spaced values from 0 to 1.
fn parts_of(count: u32) -> impl Iterator<Item = f64> {
    (0..=count).map(move |number| f64::from(number) / f64::from(count))
}

/// Computes the side slope on which the vehicle slides or tips: the smaller of atan(mu) and
/// atan(track / 2 h).
pub(super) fn side_slope(
    file: &VehicleFile,
    model: &SingleTrack,
    recorder: &mut Recorder,
) -> Measured {
    let widths = file.wheels.positions.iter().map(|place| place[1].abs());
    let half_track = widths.fold(f64::INFINITY, f64::min);
    let (slides, tips) = (atan(model.friction), atan(half_track / model.height));
    recorder.axes("angle of the slope, rad", "fraction of the weight");
    let angles = || parts_of(POINTS).map(|part| part * tips.max(slides));
    let lean = |angle: f64| 0.5 * model.height / half_track * sin(angle);
    let on = |side: f64| move |angle: f64| [angle, 0.5 * cos(angle) + side * lean(angle)];
    recorder.series("on the lower wheels", Look::Line, angles().map(on(1.0)));
    recorder.series("on the upper wheels", Look::Line, angles().map(on(-1.0)));
    let pulls = angles().map(|angle| [angle, sin(angle)]);
    recorder.series("down the slope", Look::Line, pulls);
    let grips = angles().map(|angle| [angle, model.friction * cos(angle)]);
    recorder.series("grip", Look::Dashed, grips);
    recorder.mark(MarkAxis::X, slides, "slides");
    recorder.mark(MarkAxis::X, tips, "tips");
    Measured {
        value: slides.min(tips),
        limit: None,
        bound: Bound::Min,
        tolerance: 0.0,
        sound: true,
        note: format!("closed form: slides at {slides:.3} rad, tips at {tips:.3} rad"),
    }
}
