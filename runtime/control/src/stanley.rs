//! The front-axle law. It steers the front wheels along the path and back to it.

use crate::lqr::SteeringLimits;
use crate::speed_law::{self, SpeedLaw};
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, PathInput,
    PathParts, Step,
};
use roadwright_geometry::math::{atan, cos, sin};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

static INFO: ModuleInfo = ModuleInfo {
    id: "stanley",
    name: "Stanley",
    doc: "Steers the front wheels along the path, with a correction for the front axle's distance \
          from it.",
};

static PARAMETERS: [ParameterInfo; 9] = [
    ParameterInfo::number(
        "gain",
        "1/s",
        (0.05, 20.0),
        2.5,
        "Speed towards the path per metre of offset.",
    ),
    ParameterInfo::number(
        "softening_speed",
        "m/s",
        (0.1, 10.0),
        1.0,
        "Constant added to the speed, so that a slow vehicle does not return too sharply.",
    ),
    ParameterInfo::number(
        "lateral_acceleration",
        "m/s^2",
        (0.5, 15.0),
        4.0,
        "Maximum lateral acceleration that steering may cause.",
    ),
    speed_law::SPEED_GAIN,
    speed_law::GAP_GAIN,
    speed_law::CLOSING_GAIN,
    speed_law::HEADWAY,
    speed_law::BRAKING,
    speed_law::REACTION,
];

/// Parts of the path ahead that the controller uses.
const PARTS: PathParts = PathParts {
    time: 0.02,
    slowest: 5.0,
};

/// Steers by the heading error and the offset of the front axle: [Hoffmann 2007], equation 5, with the
/// softening speed of its section on low speeds. It drives at the speeds of `pursuit`.
///
/// In reverse, the law uses an imaginary leading axle, as far behind the rear axle as the front axle is ahead
/// of it.
pub struct Stanley;

/// Errors of the leading axle.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FrontErrors {
    /// Offset to the left of the path, m.
    offset: f64,
    /// Heading of the body relative to the path at the leading axle, rad.
    heading: f64,
    /// Steering angle that the path requires without errors, rad.
    feed_forward: f64,
}

impl FrontErrors {
    fn of(input: &PathInput) -> Self {
        let ControllerInput {
            wheelbase, speed, ..
        } = input.seen;
        if let Some(curvature) = input.exact_curvature {
            // The path is that of the rear axle. The leading axle swings out in its bends.
            return Self {
                offset: input.offset + wheelbase * sin(input.heading_error),
                heading: input.heading_error,
                feed_forward: atan(wheelbase * curvature),
            };
        }
        let part = PARTS.length(speed);
        // Shape of the path between the axles, relative to the point of the path beside the rear
        // axle.
        let (mut along, mut across, mut heading) = (0.0, 0.0, 0.0);
        for curvature in input.curvature {
            let left = (wheelbase - along).min(part);
            if left <= 0.0 {
                break;
            }
            across += left * sin(heading + 0.5 * left * curvature);
            heading += left * curvature;
            along += left;
        }
        let own = input.offset + wheelbase * sin(input.heading_error);
        Self {
            offset: (own - across) * cos(heading),
            heading: input.heading_error - heading,
            feed_forward: 0.0,
        }
    }
}

impl Stanley {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for Stanley {}

impl Controller for Stanley {
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let inputs: Vec<PathInput> = inputs.iter().copied().map(PathInput::of_waypoint).collect();
        self.follow(parameters, step, &inputs, outputs);
    }

    fn follow(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[PathInput],
        outputs: &mut [ControllerOutput],
    ) {
        let (gain, softening) = (
            parameters.value("gain"),
            parameters.value("softening_speed"),
        );
        let limits = SteeringLimits {
            approach: 0.0,
            lateral_acceleration: parameters.value("lateral_acceleration"),
        };
        let speeds = SpeedLaw::new(parameters);
        for (input, output) in inputs.iter().zip(outputs) {
            let errors = FrontErrors::of(input);
            let back = atan(gain * errors.offset / (softening + input.seen.speed.abs()));
            let steering = errors.feed_forward - errors.heading - back;
            let largest = limits.largest(input);
            *output = ControllerOutput {
                acceleration: speeds.acceleration(&input.seen),
                steering: steering.clamp(-largest, largest),
            };
        }
    }

    fn path_parts(&self, _: &ParameterSet) -> Option<PathParts> {
        Some(PARTS)
    }

    fn lookahead(&self, _: &ParameterSet) -> Lookahead {
        Lookahead {
            time: 0.6,
            distance: 4.5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_agent::PATH_PARTS;

    fn steering(change: impl FnOnce(&mut PathInput)) -> f64 {
        let mut input = PathInput::of_waypoint(ControllerInput {
            speed: 4.0,
            wheelbase: 2.7,
            ..ControllerInput::default()
        });
        change(&mut input);
        let mut outputs = [ControllerOutput::default()];
        Stanley::entry()
            .make()
            .follow(&Step::default(), &[input], &mut outputs);
        outputs[0].steering
    }

    #[test]
    fn the_front_axle_is_steered_back_by_its_own_offset() {
        // 1 m to the left: atan(2.5 / (1 + 4)).
        assert!((steering(|i| i.offset = 1.0) + atan(0.5)).abs() < 1e-12);
        // With a heading error of 0.1 rad, the front axle is off the path as well.
        let askew = steering(|i| i.heading_error = 0.1);
        assert!(
            (askew + 0.1 + atan(0.5 * 2.7 * sin(0.1))).abs() < 1e-12,
            "{askew}"
        );
        assert_eq!(steering(|_| ()), 0.0);
    }

    #[test]
    fn in_a_bend_the_front_axle_is_what_follows() {
        // With its rear axle on a circle to the left, the front axle is outside, and steers back in.
        let turned = steering(|i| i.curvature = [0.05; PATH_PARTS]);
        let circle = 2.7 * 0.05;
        let outside = 2.7 * circle / 2.0;
        let expected = circle + atan(0.5 * outside);
        assert!((turned - expected).abs() < 0.003, "{turned} {expected}");
    }

    #[test]
    fn a_standing_vehicle_does_not_steer_to_its_lock_for_a_small_offset() {
        let slow = steering(|i| {
            (i.offset, i.seen.speed) = (0.02, 0.0);
        });
        assert!((slow + atan(0.05)).abs() < 1e-12);
    }
}
