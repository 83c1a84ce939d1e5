//! A constant speed along the path, without braking for anything.

use crate::laws::{chosen_lookahead, steady_steering};
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

static INFO: ModuleInfo = ModuleInfo {
    id: "constant_speed",
    name: "Constant speed",
    doc: "Follows its path at constant speed, regardless of other vehicles, like the cars on the \
          tracks of [Adam 2007].",
};

static PARAMETERS: [ParameterInfo; 4] = [
    ParameterInfo::number("speed", "m/s", (0.0, 60.0), 5.0, "Constant speed to hold."),
    ParameterInfo::number(
        "speed_gain",
        "1/s",
        (0.05, 10.0),
        2.0,
        "Acceleration per unit of speed error.",
    ),
    ParameterInfo::number(
        "lookahead_time",
        "s",
        (0.0, 5.0),
        0.6,
        "Lookahead time of the pursuit point.",
    ),
    ParameterInfo::number(
        "lookahead_distance",
        "m",
        (0.5, 100.0),
        4.5,
        "Minimum distance to the pursuit point.",
    ),
];

/// Holds a constant speed and steers towards a pursuit point. Other vehicles, obstacles, signals and speed limits are
/// ignored.
pub struct ConstantSpeed;

impl ConstantSpeed {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for ConstantSpeed {}

impl Controller for ConstantSpeed {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let speed = parameters.value("speed");
        let gain = parameters.value("speed_gain");
        let ahead = chosen_lookahead(parameters);
        for (input, output) in inputs.iter().zip(outputs) {
            *output = ControllerOutput {
                acceleration: gain * (speed - input.speed),
                // A goal on open ground may be far away, and the circle through it would be too wide.
                steering: steady_steering(&ControllerInput {
                    waypoint_distance: input
                        .waypoint_distance
                        .min(ahead.distance.max(ahead.time * input.speed)),
                    ..*input
                }),
            };
        }
    }

    fn lookahead(&self, parameters: &ParameterSet) -> Lookahead {
        chosen_lookahead(parameters)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn the_speed_is_held_whatever_is_ahead() {
        let free = ControllerInput {
            speed: 5.0,
            road_speed: 14.0,
            wheelbase: 2.5,
            waypoint_distance: 10.0,
            leader_gap: 1.0,
            leader_speed: 0.0,
            stop_distance: 2.0,
            obstacle_distance: 1.0,
            ..ControllerInput::default()
        };
        let slow = ControllerInput { speed: 4.0, ..free };
        let left = ControllerInput {
            waypoint_angle: 0.2,
            ..free
        };
        let far = ControllerInput {
            waypoint_distance: 100.0,
            ..left
        };
        let mut outputs = [ControllerOutput::default(); 4];
        let module = ConstantSpeed::entry().make();
        module.step(&Step::default(), &[free, slow, left, far], &mut outputs);
        assert_eq!((outputs[0].acceleration, outputs[0].steering), (0.0, 0.0));
        assert_eq!(outputs[1].acceleration, 2.0);
        assert!(outputs[2].steering > 0.0);
        assert_eq!(outputs[3].steering, outputs[2].steering);
    }
}
