//! Lane changes between cones.

use super::plot::{Look, Recorder, Trials};
use super::track::{Aim, Car};
use super::{Bound, Measured, Subject};
use crate::dynamic::SingleTrack;
use roadwright_geometry::DVec2;
use roadwright_geometry::math::atan;

const DT: f64 = 0.01;
/// Increment of the tested speeds, m/s.
const STEP: f64 = 0.5;
/// Maximum tested speed, m/s.
const FASTEST: f64 = 150.0;
/// Maximum duration, s.
const LONGEST: f64 = 60.0;
/// Distance before the first cone, m.
const RUN_UP: f64 = 10.0;

/// A lane between two rows of cones.
#[derive(Debug, Clone, Copy)]
struct Gate {
    from: f64,
    to: f64,
    /// Lateral position of the lane's centre, m to the left of the centre of the first lane.
    middle: f64,
    width: f64,
}

/// A course of three consecutive lanes.
pub(super) struct Course {
    gates: [Gate; 3],
    name: &'static str,
}

/// Creates the course of ISO 3888-1, double lane change. The lanes are 15, 25 and 30 m long. The
/// second lane is 3.5 m to the left. The change to it takes place over 30 m, and the change back
/// over 25 m.
pub(super) fn iso_3888_1(width: f64) -> Course {
    let gate = |from: f64, to: f64, left: f64, factor: f64| Gate {
        from,
        to,
        middle: left,
        width: factor * width + 0.25,
    };
    Course {
        gates: [
            gate(0.0, 15.0, 0.0, 1.1),
            gate(45.0, 70.0, 3.5, 1.2),
            gate(95.0, 125.0, 0.0, 1.3),
        ],
        name: "ISO 3888-1",
    }
}

/// Creates the course of ISO 3888-2, obstacle avoidance. The lanes are 12, 11 and 12 m long. The
/// second lane is on the left. The change to it takes place over 13.5 m, and the change back over
/// 12.5 m. The lateral gap between the first lane and the second is one metre wide.
pub(super) fn iso_3888_2(width: f64) -> Course {
    let (first, second) = (1.1 * width + 0.25, width + 1.0);
    let third = (1.3 * width + 0.25).max(3.0);
    let gate = |from: f64, to: f64, middle: f64, width: f64| Gate {
        from,
        to,
        middle,
        width,
    };
    Course {
        gates: [
            gate(0.0, 12.0, 0.0, first),
            gate(25.5, 36.5, 0.5 * first + 1.0 + 0.5 * second, second),
            // Their right edges are aligned.
            gate(49.0, 61.0, 0.5 * (third - first), third),
        ],
        name: "ISO 3888-2",
    }
}

impl Course {
    /// Returns the path of the driver at `x`. It follows the centre lines of the lanes, which are
    /// joined by polynomials of continuous curvature.
    fn line(&self, x: f64) -> Aim {
        let [first, second, third] = self.gates;
        let level = |middle: f64| Aim {
            offset: middle,
            heading: 0.0,
            curvature: 0.0,
        };
        for (before, after) in [(first, second), (second, third)] {
            if x < before.to {
                return level(before.middle);
            }
            if x < after.from {
                return over(before, after, x);
            }
        }
        level(third.middle)
    }

    /// Whether a point of the vehicle is between the cones at its position along the course.
    fn stands(&self, x: f64, y: f64) -> bool {
        // There are no cones between the lanes, so any position is allowed there.
        let mut gates = self.gates.iter();
        gates.all(|gate| {
            let within = x >= gate.from && x <= gate.to;
            !within || (y - gate.middle).abs() <= 0.5 * gate.width
        })
    }

    /// Returns the positions of the cones along both edges of the lanes, five per edge, for
    /// drawing.
    fn cones(&self) -> Vec<[f64; 2]> {
        let of = |gate: &Gate, side: f64| {
            let (gate, edge) = (*gate, gate.middle + 0.5 * side * gate.width);
            let place = move |number: u32| 0.25 * f64::from(number) * (gate.to - gate.from);
            (0..5).map(move |number| [gate.from + place(number), edge])
        };
        let gates = self.gates.iter();
        gates
            .flat_map(|gate| of(gate, 1.0).chain(of(gate, -1.0)))
            .collect()
    }

    /// Returns the approximate speed limit of the course, m/s. It is the speed of a point that
    /// moves from the far edge of the first lane to the near edge of the second with full lateral
    /// grip throughout. The available distance exceeds the gap between the lanes by the length of
    /// the body, because neither end of the body has to be in a lane during that time.
    fn point_limit(&self, grip: f64, length: f64, body: f64) -> f64 {
        let [first, second, _] = self.gates;
        let play = 0.5 * (first.width + second.width) - body;
        let over = (second.middle - first.middle - play).max(0.01);
        let room = second.from - first.to + length;
        // The point accelerates to one side over half of the distance and to the other side over
        // the other half: y = a t^2 / 4.
        0.5 * room * (grip / over).sqrt()
    }
}

/// Returns the path from one lane to the next, a polynomial of fifth order.
fn over(before: Gate, after: Gate, x: f64) -> Aim {
    let (room, rise) = (after.from - before.to, after.middle - before.middle);
    // 10 u³ - 15 u⁴ + 6 u⁵ has zero slope and curvature at both ends. Its derivatives are
    // 30 u² (1 - u)² and 60 u (1 - u) (1 - 2 u). The curvature is an approximation for small slopes.
    let u = (x - before.to) / room;
    let slope = rise / room * 30.0 * u * u * (1.0 - u) * (1.0 - u);
    let bend = rise / (room * room) * 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u);
    Aim {
        offset: before.middle + rise * u * u * u * (10.0 + u * (6.0 * u - 15.0)),
        heading: atan(slope),
        curvature: bend,
    }
}

/// Measures the maximum entry speed such that no cone is hit at this speed or below. The driver
/// keeps the speed as constant as possible.
pub(super) fn run(
    subject: &Subject<'_>,
    model: &SingleTrack,
    course: &Course,
    recorder: &mut Recorder,
) -> Measured {
    let top = Car::top_speed(subject);
    let (mut highest, mut speed) = (0.0, 5.0f64);
    let mut trials = Trials::default();
    // The test ends at the first speed at which a cone is hit, regardless of what happens at higher
    // speeds.
    while speed <= top.min(FASTEST) {
        let mut trace = Trace::default();
        let passed = passes(subject, model, course, speed, &mut trace);
        trials.add(speed, trace.lines(), passed);
        if !passed {
            break;
        }
        highest = speed;
        speed += STEP;
    }
    recorder.axes(
        "distance, m",
        "to the left, m; thin lines: corners of the body",
    );
    trials.record("m/s", recorder);
    recorder.series("cones", Look::Dots, course.cones());
    let limit = course.point_limit(
        Car::grip(model),
        subject.file.body.length.get(),
        subject.file.body.width.get(),
    );
    Measured {
        value: highest,
        limit: Some(limit.min(top)),
        bound: Bound::Max,
        tolerance: 0.0,
        sound: highest > 0.0,
        note: format!(
            "{}, highest entry speed at which no cone is knocked over; the limit is for a point mass \
             with full grip",
            course.name
        ),
    }
}

/// Recorded motion of a vehicle.
#[derive(Default)]
struct Trace {
    centre: Vec<[f64; 2]>,
    corners: [Vec<[f64; 2]>; 4],
}

impl Trace {
    fn add(&mut self, centre: DVec2, corners: [DVec2; 4]) {
        self.centre.push(centre.to_array());
        for (line, corner) in self.corners.iter_mut().zip(corners) {
            line.push(corner.to_array());
        }
    }

    fn lines(self) -> Vec<(Look, Vec<[f64; 2]>)> {
        let corners = self.corners.into_iter().map(|line| (Look::Thin, line));
        std::iter::once((Look::Line, self.centre))
            .chain(corners)
            .collect()
    }
}

fn passes(
    subject: &Subject<'_>,
    model: &SingleTrack,
    course: &Course,
    speed: f64,
    trace: &mut Trace,
) -> bool {
    let mut car = Car::new(subject, model, speed);
    // The pose refers to the rear axle, whereas the centre of gravity is at the start of the
    // run-up.
    car.state.pose.position.x = -RUN_UP - model.rear;
    let end = course.gates[2].to + subject.file.body.length;
    let mut time = 0.0;
    while car.centre().x < end {
        time += DT;
        let centre = car.centre();
        // The driver looks ahead by a tenth of a second, because wheels and tyres need time to
        // respond.
        let ahead = course.line(centre.x + 0.1 * car.state.speed);
        let aim = Aim {
            offset: centre.y - course.line(centre.x).offset,
            ..ahead
        };
        car.follow(aim, speed, DT);
        let corners = car.corners();
        trace.add(car.centre(), corners);
        let stands = corners
            .iter()
            .all(|corner| course.stands(corner.x, corner.y));
        // A vehicle that spins or stops has failed.
        let drives = car.state.speed >= 1.0 && car.state.pose.heading.abs() < 1.2;
        if !stands || !drives || time > LONGEST {
            return false;
        }
    }
    car.centre().is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn courses_are_as_long_as_the_standards_say() {
        let lengths = [iso_3888_1(1.8), iso_3888_2(1.8)].map(|course| course.gates[2].to);
        assert_eq!(lengths, [125.0, 61.0]);
        // In the second course, the gap between the lanes is one metre.
        let [first, second, _] = iso_3888_2(1.8).gates;
        let gap = (second.middle - 0.5 * second.width) - (first.middle + 0.5 * first.width);
        assert!((gap - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_line_is_smooth_and_cones_stand_on_it() {
        let course = iso_3888_1(1.8);
        let mut last = course.line(-10.0);
        for number in 0..14_000 {
            let x = -10.0 + 0.01 * f64::from(number);
            let aim = course.line(x);
            assert!((aim.offset - last.offset).abs() < 0.005);
            assert!((aim.heading - last.heading).abs() < 0.001);
            assert!(course.stands(x, aim.offset));
            last = aim;
        }
        assert!(!course.stands(10.0, 1.2) && !course.stands(60.0, 0.0));
    }
}
