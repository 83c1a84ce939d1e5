//! Straight on: acceleration, top speed, coasting, grades.

use super::{Bound, Measured};
use crate::drive_train::{DriveTrain, Gear, Pedals, Run};
use crate::dynamic::{GRAVITY, SingleTrack};
use roadwright_geometry::math::{atan, ln};
use roadwright_scenario::vehicle_file::VehicleFile;

const DT: f64 = 0.005;
/// Nothing takes longer, s.
const LONGEST: f64 = 600.0;
/// Parts of an interval of speeds over which closed forms are added up.
const PARTS: u32 = 20_000;

const FULL: Pedals = Pedals {
    throttle: 1.0,
    brake: 0.0,
};
const NONE: Pedals = Pedals {
    throttle: 0.0,
    brake: 0.0,
};

/// Time from rest to 80 % of the top speed; held to the sum of m dv / F over speeds, gear by gear.
pub(super) fn acceleration(train: &DriveTrain) -> Measured {
    let target = 0.8 * train.top_speed();
    let mut run = Run::new(train, 0.0, 0.0);
    while run.speed < target && run.time < LONGEST {
        run.step(FULL, DT);
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
    let note = format!(
        "from rest to {target:.1} m/s at full throttle; {:.4} of the engine's energy unaccounted for",
        run.energy.unaccounted()
    );
    Measured {
        sound: run.energy.unaccounted() < 0.01,
        ..Measured::near(run.time, times.sum(), 0.02, note)
    }
}

/// The lowest gear that has not reached its shift at a speed.
fn gear_for(train: &DriveTrain, speed: f64) -> &Gear {
    let mut gears = train.gears.iter();
    let turns = |gear: &&Gear| train.rpm(gear, speed) < 0.995 * train.up_rpm;
    let last = &train.gears[train.gears.len() - 1];
    gears.find(turns).unwrap_or(last)
}

/// Speed after a long time at full throttle; held to revs, or to the balance of forces.
pub(super) fn top_speed(train: &DriveTrain) -> Measured {
    let mut run = Run::new(train, 0.0, 0.0);
    while run.time < LONGEST {
        run.step(FULL, 2.0 * DT);
    }
    Measured::near(
        run.speed,
        train.top_speed(),
        0.02,
        "after 600 s at full throttle",
    )
}

/// Time from 60 to 30 % of the top speed without throttle; held to the integral of the resistance.
pub(super) fn coast_down(train: &DriveTrain) -> Measured {
    let (from, to) = (0.6 * train.top_speed(), 0.3 * train.top_speed());
    let mut run = Run::new(train, from, 0.0);
    while run.speed > to && run.time < LONGEST {
        run.step(NONE, DT);
    }
    let (c, r) = (train.drag, train.rolling);
    // The integral of m dv / (c v² + r v); without rolling, of m dv / c v².
    let exact = match (c > 0.0, r > 0.0) {
        (_, true) => train.mass / r * ln(from * (c * to + r) / (to * (c * from + r))),
        (true, false) => train.mass / c * (1.0 / to - 1.0 / from),
        // Nothing slows it.
        (false, false) => LONGEST,
    };
    let note = format!("from {from:.1} to {to:.1} m/s");
    Measured::near(run.time, exact.min(LONGEST), 0.02, note)
}

/// The steepest grade that it starts on and climbs 20 m, be it slowly; held to force over weight.
pub(super) fn grade(train: &DriveTrain) -> Measured {
    let climbs = |grade: f64| {
        let mut run = Run::new(train, 0.0, grade);
        while run.time < LONGEST && run.distance < 20.0 {
            run.step(FULL, 2.0 * DT);
        }
        run.distance >= 20.0
    };
    // From level ground to just below the vertical.
    let (mut low, mut high) = (0.0, 1.5);
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        if climbs(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Measured::near(
        low,
        train.limiting_grade(),
        0.02,
        "from rest, at full throttle, 20 m",
    )
}

/// The slope across on which it slides or tips: the smaller of atan(mu) and atan(track / 2 h).
pub(super) fn side_slope(file: &VehicleFile, model: &SingleTrack) -> Measured {
    let widths = file.wheels.positions.iter().map(|place| place[1].abs());
    let half_track = widths.fold(f64::INFINITY, f64::min);
    let (slides, tips) = (atan(model.friction), atan(half_track / model.height));
    Measured {
        value: slides.min(tips),
        limit: None,
        bound: Bound::Min,
        tolerance: 0.0,
        sound: true,
        note: format!("closed form: slides at {slides:.3} rad, tips at {tips:.3} rad"),
    }
}
