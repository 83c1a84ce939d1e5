//! A car that backs a trailer along a line: three nested linear laws.

use crate::laws::towards_speed;
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_geometry::math::{atan, sin};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

static INFO: ModuleInfo = ModuleInfo {
    id: "trailer_backing",
    name: "Trailer backing",
    doc: "Backs a trailer along the centre line of a bay. Made for the course \"trailer-reverse\".",
};

static PARAMETERS: [ParameterInfo; 8] = [
    ParameterInfo::number(
        "line_gain",
        "1/m",
        (0.01, 2.0),
        0.25,
        "Heading of the trailer per metre of lateral offset.",
    ),
    ParameterInfo::number(
        "heading_gain",
        "1/m",
        (0.01, 4.0),
        0.5,
        "Curvature of the trailer's path per radian of heading error.",
    ),
    ParameterInfo::number(
        "hitch_gain",
        "1/m",
        (0.05, 5.0),
        1.2,
        "Change of the hitch angle per metre driven and radian of error.",
    ),
    ParameterInfo::number(
        "drawbar",
        "m",
        (0.5, 12.0),
        3.5,
        "Distance from the coupling to the axle of the trailer.",
    ),
    ParameterInfo::number(
        "sharpest",
        "rad",
        (0.1, 1.0),
        0.5,
        "Maximum target hitch angle.",
    ),
    ParameterInfo::number(
        "straighten",
        "rad",
        (0.2, 1.0),
        0.75,
        "Hitch angle above which the vehicle drives forwards until the trailer is straight.",
    ),
    ParameterInfo::number("speed", "m/s", (0.2, 5.0), 1.5, "Maximum speed."),
    ParameterInfo::number(
        "braking",
        "m/s^2",
        (0.1, 4.0),
        0.5,
        "Deceleration for planning the stop in the bay.",
    ),
];

/// Speed below which the car is considered stationary, m/s.
const STANDING: f64 = 0.05;
/// Acceleration per unit of speed error, 1/s.
const SPEED_GAIN: f64 = 3.0;
/// Distance to the end of the path below which the car is considered to have arrived, m.
const THERE: f64 = 0.02;
/// Maximum heading of the trailer relative to the line to which it returns, rad.
const STEEPEST: f64 = 0.6;
/// Lateral offset up to which the trailer is aligned well enough at the end of the path, m.
const BESIDE: f64 = 0.2;
/// Heading error up to which the trailer is aligned well enough at the end of the path, rad.
const ASKEW: f64 = 0.08;
/// Relative growth of [`BESIDE`] and [`ASKEW`] per remaining metre.
const FUNNEL: f64 = 0.25;
/// Distance to the end of the path below which the car shunts if the trailer is not aligned, m.
const LAST: f64 = 2.5;
/// Distance from the end of the path up to which the car drives forwards in a shunt, m.
const OUT: f64 = 9.0;
/// Lateral offset (m) and heading error (rad) below which the car reverses again after a shunt.
const STRAIGHT: (f64, f64) = (0.05, 0.03);
/// Gain of forward driving: curvature per radian of heading error, 1/m.
const FORWARD_GAIN: f64 = 1.0;

/// Backs a trailer into a bay. It reads a row of the course `trailer-reverse`: `stop_distance`, `lane_offset`
/// and `heading_error` describe the trailer, as they describe the car in the course `parking`.
/// `path_curvature` is the hitch angle: the heading of the car minus that of the trailer, rad.
///
/// ```text
/// beside the line -> heading of the trailer -> hitch angle -> angle of the front wheels
/// ```
///
/// In reverse, the trailer turns to the side to which the hitch opens, so the hitch angle grows.
/// Without the innermost law, the combination would jackknife.
pub struct TrailerBacking;

/// Parameter values of `trailer_backing` for one batch.
struct BackingLaw {
    line_gain: f64,
    heading_gain: f64,
    hitch_gain: f64,
    drawbar: f64,
    sharpest: f64,
    straighten: f64,
    speed: f64,
    braking: f64,
}

impl BackingLaw {
    fn new(parameters: &ParameterSet) -> Self {
        Self {
            line_gain: parameters.value("line_gain"),
            heading_gain: parameters.value("heading_gain"),
            hitch_gain: parameters.value("hitch_gain"),
            drawbar: parameters.value("drawbar"),
            sharpest: parameters.value("sharpest"),
            straighten: parameters.value("straighten"),
            speed: parameters.value("speed"),
            braking: parameters.value("braking"),
        }
    }

    /// Whether the trailer is aligned well enough with the line. The tolerances grow with the
    /// remaining distance.
    fn is_in_line(input: &ControllerInput) -> bool {
        let room = FUNNEL * input.stop_distance.max(0.0);
        input.lane_offset.abs() <= BESIDE + room && input.heading_error.abs() <= ASKEW + room
    }

    fn is_forwards(&self, input: &ControllerInput) -> bool {
        // A car that rolls forwards checks for the end of a shunt; otherwise, it checks for the
        // beginning of one. With the same check for both, it would reverse at the first step of a
        // shunt.
        let hitch = input.path_curvature.abs();
        if input.speed > STANDING {
            let is_straight = input.lane_offset.abs() <= STRAIGHT.0
                && input.heading_error.abs() <= STRAIGHT.1
                && hitch < 0.2;
            // Outside the funnel, the car drives on until the trailer is straight or there is no
            // more room.
            !is_straight && (input.stop_distance < OUT || hitch > 0.2)
        } else {
            hitch > self.straighten || (input.stop_distance < LAST && !Self::is_in_line(input))
        }
    }

    fn command(&self, input: &ControllerInput) -> ControllerOutput {
        let is_forwards = self.is_forwards(input);
        let is_there = input.stop_distance <= THERE && !is_forwards;
        let (wanted, curvature) = if is_forwards {
            (self.speed, self.out(input))
        } else {
            let left = input.stop_distance.max(0.0);
            let speed = -self.speed.min((2.0 * self.braking * left).sqrt());
            (speed, self.back(input))
        };
        ControllerOutput {
            acceleration: towards_speed(input.speed, wanted, SPEED_GAIN, is_there),
            steering: atan(input.wheelbase * curvature),
        }
    }

    /// Curvature of the car's path while it drives forwards, 1/m. The car steers towards the line, so that the
    /// trailer follows.
    fn out(&self, input: &ControllerInput) -> f64 {
        // Heading of the car: that of the trailer plus the hitch angle.
        let heading = input.heading_error + input.path_curvature;
        let wanted = -(self.line_gain * input.lane_offset).clamp(-0.4, 0.4);
        FORWARD_GAIN * (wanted - heading)
    }

    /// Curvature of the car's path in reverse, 1/m.
    fn back(&self, input: &ControllerInput) -> f64 {
        // Per metre backwards, d y = -sin h, d h = -sin(hitch) / drawbar and d hitch = sin(hitch) /
        // drawbar - c, where c is the curvature of the car. Each law sets the next variable so that
        // its own variable decays: h = line_gain y, hitch = drawbar heading_gain (h - heading), and
        // c as returned.
        let heading = (self.line_gain * input.lane_offset).clamp(-STEEPEST, STEEPEST);
        let turn = self.drawbar * self.heading_gain * (input.heading_error - heading);
        let hitch = turn.clamp(-self.sharpest, self.sharpest);
        let now = input.path_curvature;
        sin(now) / self.drawbar + self.hitch_gain * (now - hitch)
    }
}

impl TrailerBacking {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for TrailerBacking {}

impl Controller for TrailerBacking {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let law = BackingLaw::new(parameters);
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
            stop_distance: 20.0,
            speed: -1.0,
            ..ControllerInput::default()
        };
        change(&mut input);
        let mut outputs = [ControllerOutput::default()];
        let module = TrailerBacking::entry().make();
        module.step(&Step::default(), &[input], &mut outputs);
        outputs[0]
    }

    #[test]
    fn a_straight_trailer_is_pushed_straight_and_a_bent_one_is_caught() {
        assert_eq!(ask(|_| ()).steering, 0.0);
        assert!(ask(|i| i.speed = 0.0).acceleration < 0.0);
        for side in [1.0, -1.0] {
            // The wheels turn to the side to which the car already points, so that the hitch angle
            // decreases.
            let bent = ask(|i| i.path_curvature = side * 0.2);
            assert!(bent.steering * side > 0.0);
            // To move to the right a trailer first has to swing its tail there.
            let beside = ask(|i| i.lane_offset = side);
            assert!(beside.steering * side > 0.0);
        }
    }

    #[test]
    fn it_drives_forwards_before_the_trailer_folds_up_and_where_it_stands_askew() {
        assert!(ask(|i| i.path_curvature = 0.9).acceleration > 0.0);
        assert!(ask(|i| (i.stop_distance, i.lane_offset) = (1.0, 1.0)).acceleration > 0.0);
        let there = ask(|i| (i.stop_distance, i.speed) = (0.0, 0.0));
        assert_eq!(there.acceleration, 0.0);
    }

    proptest! {
        #[test]
        fn whatever_it_is_told_its_commands_are_numbers(
            offset in -1e6..1e6f64, heading in -4.0..4.0f64, left in -1e6..1e6f64, hitch in -4.0..4.0f64,
        ) {
            let output = ask(|i| {
                (i.lane_offset, i.heading_error) = (offset, heading);
                (i.stop_distance, i.path_curvature) = (left, hitch);
            });
            prop_assert!(output.acceleration.is_finite() && output.steering.is_finite());
        }
    }
}
