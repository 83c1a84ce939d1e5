//! Tests of controllers that push a trailer backwards along paths.

use crate::{LinearMpc, Lqr};
use roadwright_agent::{
    BodyInput, Controller, Module, PATH_PARTS, PathInput, Step, StepBoundary, TowedInput,
};
use roadwright_geometry::math::{Stream, sin_cos, tan, wrap_angle};
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};
use std::f64::consts::PI;

/// Distance from the rear axle back to the coupling of the 5 m trailer, m.
const COUPLING: f64 = 0.9;
/// Distance from the coupling back to the trailer's axle, m.
const TO_AXLE: f64 = 3.5;
/// Wheelbase of the car, m.
const WHEELBASE: f64 = 2.7;
/// Time step, s.
const DT: f64 = 0.02;
/// Distance between samples of a path, m.
const SAMPLE: f64 = 0.02;
/// Distance that the axle of the trailer is driven, m.
const DISTANCE: f64 = 30.0;
/// Speed limit, m/s.
const SPEED: f64 = 1.2;
/// Hitch angle beyond which a trailer has jackknifed, rad.
const JACKKNIFED: f64 = 60.0 / 180.0 * PI;

/// A pose: x, y and heading.
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    y: f64,
    heading: f64,
}

impl Place {
    fn moved(self, along: f64, turn: f64) -> Self {
        let (sin, cos) = sin_cos(self.heading + 0.5 * turn);
        Self {
            x: self.x + along * cos,
            y: self.y + along * sin,
            heading: self.heading + turn,
        }
    }
}

/// A path by its samples, which begin 10 m before the start of the drive.
struct Path {
    curvature: fn(f64) -> f64,
    samples: Vec<Place>,
}

/// Length of a path before its zero point, m.
const BEFORE: f64 = 10.0;

impl Path {
    fn new(curvature: fn(f64) -> f64) -> Self {
        let mut at = Place {
            x: -BEFORE,
            y: 0.0,
            heading: 0.0,
        };
        let mut samples = Vec::new();
        for k in 0..((BEFORE + 3.0 * DISTANCE) / SAMPLE) as usize {
            samples.push(at);
            let along = (k as f64 + 0.5) * SAMPLE - BEFORE;
            at = at.moved(SAMPLE, SAMPLE * curvature(along));
        }
        Self { curvature, samples }
    }

    /// Returns the distance along the path, the offset and the heading error of a pose. `before` is
    /// the previous distance.
    fn errors(&self, place: Place, before: f64) -> [f64; 3] {
        let ahead_of = |at: usize| {
            let sample = self.samples[at];
            let (sin, cos) = sin_cos(sample.heading);
            (place.x - sample.x) * cos + (place.y - sample.y) * sin
        };
        let mut at = ((before + BEFORE) / SAMPLE) as usize;
        while at > 0 && ahead_of(at) < 0.0 {
            at -= 1;
        }
        while at + 1 < self.samples.len() && ahead_of(at) >= SAMPLE {
            at += 1;
        }
        let (sample, ahead) = (self.samples[at], ahead_of(at));
        let (sin, cos) = sin_cos(sample.heading);
        let offset = (place.y - sample.y) * cos - (place.x - sample.x) * sin;
        let along = at as f64 * SAMPLE - BEFORE + ahead;
        let heading = sample.heading + ahead * (self.curvature)(along);
        [along, offset, wrap_angle(place.heading - heading)]
    }

    /// Returns the mean curvatures of the parts of the path ahead of a position.
    fn ahead(&self, from: f64, part: f64) -> [f64; PATH_PARTS] {
        std::array::from_fn(|at| {
            let begin = from + at as f64 * part;
            let inner = (0..8).map(|k| (self.curvature)(begin + (f64::from(k) + 0.5) * part / 8.0));
            inner.sum::<f64>() / 8.0
        })
    }
}

/// A vehicle without slip that drives backwards, and its trailer. Headings refer to the bodies.
struct Drive {
    rear: Place,
    trailer: f64,
    wheels: f64,
    speed: f64,
    rear_along: f64,
    axle_along: f64,
}

impl Drive {
    /// Creates a drive that starts with the trailer's axle beside the beginning of the path.
    fn new(offset: f64, heading: f64, hitch: f64) -> Self {
        let trailer = PI + heading;
        let own = trailer + hitch;
        let ((sin_t, cos_t), (sin, cos)) = (sin_cos(trailer), sin_cos(own));
        Self {
            rear: Place {
                x: TO_AXLE * cos_t + COUPLING * cos,
                y: offset + TO_AXLE * sin_t + COUPLING * sin,
                heading: own,
            },
            trailer,
            wheels: 0.0,
            speed: 0.0,
            rear_along: -TO_AXLE - COUPLING,
            axle_along: 0.0,
        }
    }

    /// Returns the trailer's axle, with its direction of travel.
    fn axle(&self) -> Place {
        let ((sin, cos), (sin_t, cos_t)) = (sin_cos(self.rear.heading), sin_cos(self.trailer));
        Place {
            x: self.rear.x - COUPLING * cos - TO_AXLE * cos_t,
            y: self.rear.y - COUPLING * sin - TO_AXLE * sin_t,
            heading: self.trailer + PI,
        }
    }

    fn hitch(&self) -> f64 {
        wrap_angle(self.rear.heading - self.trailer)
    }

    fn input(&mut self, path: &Path, part: f64) -> PathInput {
        let travels = Place {
            heading: self.rear.heading + PI,
            ..self.rear
        };
        let [rear_along, offset, heading_error] = path.errors(travels, self.rear_along);
        let [axle_along, axle_offset, axle_heading] = path.errors(self.axle(), self.axle_along);
        (self.rear_along, self.axle_along) = (rear_along, axle_along);
        PathInput {
            seen: ControllerInput {
                speed: self.speed,
                road_speed: SPEED,
                wheelbase: WHEELBASE,
                steering: -self.wheels,
                leader_gap: NOTHING,
                stop_distance: NOTHING,
                obstacle_distance: NOTHING,
                ..ControllerInput::default()
            },
            offset,
            heading_error,
            curvature: path.ahead(axle_along, part),
            body: BodyInput::CAR,
            towed: Some(TowedInput {
                coupling: COUPLING,
                to_axle: TO_AXLE,
                hitch: self.hitch(),
                offset: axle_offset,
                heading_error: axle_heading,
            }),
            ..PathInput::default()
        }
    }

    /// Drives a step. The wheels turn as fast as they can, up to their lock.
    fn advance(&mut self, command: ControllerOutput) {
        let body = BodyInput::CAR;
        let most = body.steering_rate * DT;
        let wanted = (-command.steering).clamp(-body.max_steering, body.max_steering);
        self.wheels += (wanted - self.wheels).clamp(-most, most);
        self.speed += DT * command.acceleration;
        let travelled = -self.speed * DT;
        let turn = travelled * tan(self.wheels) / WHEELBASE;
        let (sin, cos) = sin_cos(self.rear.heading - self.trailer);
        self.trailer += (travelled * sin - COUPLING * turn * cos) / TO_AXLE;
        self.rear = self.rear.moved(travelled, turn);
    }
}

/// Lets a module drive along a path from a start, and checks where the trailer's axle ends up.
/// Returns its offset (m), its heading error (rad) and the mean speed (m/s).
fn assert_backs(module: &Module<dyn Controller>, path: &Path, mut drive: Drive) -> [f64; 3] {
    let parts = module.path_parts().unwrap();
    let mut steps = 0u32;
    while drive.axle_along < DISTANCE {
        let input = drive.input(path, parts.length(drive.speed));
        let mut outputs = [ControllerOutput::default()];
        let step = Step {
            time: f64::from(steps) * DT,
            period: DT,
            indices: &[0],
            ids: &[0],
            ..Step::default()
        };
        module.follow(&step, &[input], &mut outputs);
        drive.advance(outputs[0]);
        assert!(drive.hitch().abs() < JACKKNIFED, "jackknifed");
        assert!(drive.speed > 0.0, "the vehicle changed gear");
        assert!(
            steps < 3000,
            "{}: the vehicle makes no progress",
            module.info.id
        );
        steps += 1;
    }
    let [_, offset, heading] = path.errors(drive.axle(), drive.axle_along);
    assert!(offset.abs() < 0.3, "{}: {offset} m", module.info.id);
    assert!(
        heading.abs() < 3f64.to_radians(),
        "{}: {heading} rad",
        module.info.id
    );
    let speed = drive.axle_along / (f64::from(steps) * DT);
    assert!(speed > 0.8, "{}: {speed} m/s", module.info.id);
    [offset.abs(), heading.abs(), speed]
}

fn modules() -> [Module<dyn Controller>; 2] {
    [Lqr::entry(), LinearMpc::entry()].map(|entry| {
        let mut module = entry.make();
        let moment = StepBoundary {
            step: 0,
            time: 0.0,
            capacity: 1,
            added: &[0],
            removed: &[],
        };
        let Module {
            parameters, logic, ..
        } = &mut module;
        assert_eq!(logic.at_step_boundary(parameters, &moment), None);
        module
    })
}

/// Backs from a number of starts, drawn as in the course `trailer-reverse`, along a straight line, an arc
/// with a radius of 25 m and an S of two such arcs.
#[test]
fn a_trailer_is_backed_along_a_line_an_arc_and_an_s() {
    let paths = [
        |_: f64| 0.0,
        |along: f64| if along < 0.0 { 0.0 } else { 0.04 },
        |along: f64| match along {
            0.0..15.0 => 0.04,
            15.0..30.0 => -0.04,
            _ => 0.0,
        },
    ];
    for path in paths.map(Path::new) {
        for module in modules() {
            let (mut widest, mut slowest) = ([0.0f64; 2], f64::INFINITY);
            for start in 0..20 {
                let mut stream = Stream::new(start, "start", 0);
                let mut draw = |most: f64| stream.next_in(-most, most);
                let drive = Drive::new(draw(2.5), draw(0.25), draw(0.15));
                let [offset, heading, speed] = assert_backs(&module, &path, drive);
                widest = [widest[0].max(offset), widest[1].max(heading)];
                slowest = slowest.min(speed);
            }
            println!(
                "{}: at most {:.3} m and {:.2} degrees, at least {slowest:.2} m/s",
                module.info.id,
                widest[0],
                widest[1].to_degrees()
            );
        }
    }
}
