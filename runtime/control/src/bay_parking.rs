//! Parks backwards in a bay: drives past the bay, then reverses along an arc to its centre line.

use crate::laws::towards_speed;
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_geometry::math::{acos, atan, cos};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

static INFO: ModuleInfo = ModuleInfo {
    id: "bay_parking",
    name: "Bay parking",
    doc: "Drives past a bay and reverses into it, with extra manoeuvres where space is tight. Made for the course \"parking\".",
};

static PARAMETERS: [ParameterInfo; 6] = [
    ParameterInfo::number(
        "radius",
        "m",
        (3.0, 15.0),
        5.0,
        "Radius of the rear axle's arc into the bay.",
    ),
    ParameterInfo::number(
        "speed",
        "m/s",
        (0.2, 5.0),
        1.5,
        "Maximum speed, forwards and backwards.",
    ),
    ParameterInfo::number(
        "braking",
        "m/s^2",
        (0.1, 4.0),
        0.6,
        "Deceleration for planning the stop in the bay.",
    ),
    ParameterInfo::number(
        "heading_gain",
        "1/m",
        (0.1, 5.0),
        1.5,
        "Curvature per radian of heading error.",
    ),
    ParameterInfo::number(
        "margin",
        "m",
        (0.0, 3.0),
        0.25,
        "Distance outside the arc that the car reaches by driving forwards before it reverses.",
    ),
    ParameterInfo::number(
        "tolerance",
        "m",
        (0.05, 3.0),
        0.5,
        "Maximum distance inside the arc while reversing; beyond it, the car drives forwards \
         again.",
    ),
];

/// Speed below which the car is considered stationary, m/s.
const STANDING: f64 = 0.05;
/// Acceleration per unit of speed error, 1/s.
const SPEED_GAIN: f64 = 3.0;
/// Distance to the end of the path below which the car counts as parked, m.
const THERE: f64 = 0.03;
/// Lateral offset below which the arc is replaced by a straight line, m. The heading along the arc
/// grows with the square root of the offset. Close to the centre line, it would therefore have to
/// change faster than the wheels can turn.
const NEAR: f64 = 0.3;
/// Gain on the straight line: heading per metre of lateral offset, 1/m.
const NEAR_GAIN: f64 = 1.0;

/// Reverses into a bay. The controller reads a row of the course `parking`: `stop_distance` is the
/// distance along the bay's centre line, `lane_offset` the distance to the left of this line, and
/// `heading_error` the heading relative to the line. Left and right are those of a car in the bay
/// with its front towards the road.
///
/// ```text
/// h(y) = acos(1 - |y| / radius) to the side of y: the heading of an arc that ends in the line
/// ```
///
/// The controller keeps no state between steps: the driving direction follows from the rolling
/// direction and the position.
pub struct BayParking;

/// Parameter values of `bay_parking` for one batch.
struct ParkingLaw {
    radius: f64,
    speed: f64,
    braking: f64,
    heading_gain: f64,
    margin: f64,
    tolerance: f64,
}

impl ParkingLaw {
    /// Lateral distance between the car and the arc for its heading, m; positive outside the arc. From inside
    /// the arc, the car cannot turn into the bay.
    fn room(&self, input: &ControllerInput) -> f64 {
        let (side, heading) = (side(input.lane_offset), input.heading_error);
        // Lateral distance covered by an arc that ends along the line: radius (1 - cos h). It no longer grows
        // beyond a quarter turn.
        let arc = self.radius * (1.0 - cos(heading.abs().min(FRAC_PI_2)));
        // A car that is turned the other way has to turn back first.
        let is_turned_in = heading * side >= -0.1;
        let offset = input.lane_offset.abs();
        if is_turned_in {
            offset - arc
        } else {
            -offset - arc
        }
    }

    /// Whether the car should drive forwards.
    fn is_forwards(&self, input: &ControllerInput) -> bool {
        if input.stop_distance <= THERE {
            return false;
        }
        // Three limits, -tolerance <= margin - tolerance < margin: a rolling car keeps its
        // direction for longer than a stationary one. With a single limit, it would rock back and
        // forth in place.
        let room = self.room(input);
        if input.speed > STANDING {
            room < self.margin
        } else if input.speed < -STANDING {
            room < -self.tolerance
        } else {
            room < self.margin - self.tolerance
        }
    }

    fn command(&self, input: &ControllerInput) -> ControllerOutput {
        let (wanted, curvature) = if self.is_forwards(input) {
            // Straight on, along the road or out of the bay, whichever is closer: heading 0 points out of the
            // bay, and a quarter turn to either side along the road.
            let straight = if input.heading_error.abs() < FRAC_PI_4 {
                0.0
            } else {
                FRAC_PI_2.copysign(input.heading_error)
            };
            let turn = self.heading_gain * (straight - input.heading_error);
            (self.speed, turn)
        } else {
            let left = input.stop_distance.max(0.0);
            // The speed from which it can stop within the remaining distance: v^2 = 2 b x.
            let speed = -self.speed.min((2.0 * self.braking * left).sqrt());
            (speed, self.back(input))
        };
        let is_there = input.stop_distance <= THERE;
        ControllerOutput {
            acceleration: towards_speed(input.speed, wanted, SPEED_GAIN, is_there),
            steering: atan(input.wheelbase * curvature),
        }
    }

    /// Curvature of the path in reverse, 1/m. It is positive if the wheels are turned to the left.
    fn back(&self, input: &ControllerInput) -> f64 {
        let (offset, side) = (input.lane_offset.abs(), side(input.lane_offset));
        let arc = acos(1.0 - (offset / self.radius).min(1.0));
        let heading = side * arc.min(NEAR_GAIN * offset);
        let on_arc = offset > NEAR && offset < self.radius;
        // In reverse the heading changes by minus the curvature. Along the arc the desired heading falls by 1
        // / radius per metre, and this curvature follows it.
        let bend = if on_arc { side / self.radius } else { 0.0 };
        bend + self.heading_gain * (input.heading_error - heading)
    }
}

/// Returns the side of an offset: 1 for the left, -1 for the right.
fn side(offset: f64) -> f64 {
    if offset < 0.0 { -1.0 } else { 1.0 }
}

impl BayParking {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for BayParking {}

impl Controller for BayParking {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let law = ParkingLaw {
            radius: parameters.value("radius"),
            speed: parameters.value("speed"),
            braking: parameters.value("braking"),
            heading_gain: parameters.value("heading_gain"),
            margin: parameters.value("margin"),
            tolerance: parameters.value("tolerance"),
        };
        for (input, output) in inputs.iter().zip(outputs) {
            *output = law.command(input);
        }
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        Lookahead {
            time: 0.0,
            distance: 4.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ask(change: impl FnOnce(&mut ControllerInput)) -> ControllerOutput {
        let mut input = ControllerInput {
            wheelbase: 2.7,
            stop_distance: 7.0,
            ..ControllerInput::default()
        };
        change(&mut input);
        let mut outputs = [ControllerOutput::default()];
        let module = BayParking::entry().make();
        module.step(&Step::default(), &[input], &mut outputs);
        outputs[0]
    }

    #[test]
    fn it_drives_past_the_bay_and_then_backs_to_either_side() {
        for side in [1.0, -1.0] {
            let along = |offset: f64, speed: f64| {
                ask(|i| {
                    (i.lane_offset, i.heading_error) = (side * offset, side * FRAC_PI_2);
                    i.speed = speed;
                })
            };
            assert!(along(-5.0, 0.0).acceleration > 0.0, "before the bay");
            assert!(along(4.0, 1.5).acceleration >= 0.0, "no room to turn yet");
            assert!(along(5.5, 1.5).acceleration < 0.0, "past it");
            let turning = along(4.9, -1.0);
            assert!(turning.acceleration < 0.0 && turning.steering * side > 0.0);
        }
    }

    #[test]
    fn it_stops_at_the_end_of_its_path() {
        let there = ask(|i| (i.stop_distance, i.speed) = (0.0, -0.4));
        assert!(there.acceleration > 0.0);
        let stands = ask(|i| (i.stop_distance, i.speed) = (0.0, 0.0));
        assert_eq!(stands.acceleration, 0.0);
    }

    proptest! {
        #[test]
        fn whatever_it_is_told_its_commands_are_numbers(
            offset in -1e6..1e6f64, heading in -4.0..4.0f64, left in -1e6..1e6f64, speed in -50.0..50.0f64,
        ) {
            let output = ask(|i| {
                (i.lane_offset, i.heading_error) = (offset, heading);
                (i.stop_distance, i.speed) = (left, speed);
            });
            prop_assert!(output.acceleration.is_finite() && output.steering.is_finite());
        }
    }
}
