//! A car that balances a pole on its roof, by textbook state feedback.

use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

static INFO: ModuleInfo = ModuleInfo {
    id: "pole_balance",
    name: "Pole balance",
    doc: "Balances a pole on the roof with a linear law. Made for the course \"pendulum\".",
};

/// Parameters. For a 2 m pole, the default gains place the four poles of the closed loop at -2.7,
/// -2.7, -0.5 and -0.5 1/s. The pole is caught as fast as it falls (2.7 1/s), while the car returns
/// to its mark slowly, because a faster return would tip the pole.
static PARAMETERS: [ParameterInfo; 4] = [
    ParameterInfo::number(
        "lean_gain",
        "m/s^2",
        (0.0, 100.0),
        27.4,
        "Acceleration per radian of lean.",
    ),
    ParameterInfo::number(
        "fall_gain",
        "m/s",
        (0.0, 50.0),
        10.1,
        "Acceleration per rad/s of the pole's angular velocity.",
    ),
    ParameterInfo::number(
        "place_gain",
        "1/s^2",
        (0.0, 5.0),
        0.25,
        "Acceleration per metre of distance from the mark; forwards if the car is past it.",
    ),
    ParameterInfo::number(
        "speed_gain",
        "1/s",
        (0.0, 10.0),
        1.17,
        "Acceleration per m/s of speed.",
    ),
];

/// Accelerates by a weighted sum of the states of pole and car. It reads a row of the course
/// `pendulum`: the lean of the pole in `heading_error`, the pole's angular speed in
/// `path_curvature`, and the distance from the mark in `lane_offset`. All are positive forwards.
pub struct PoleBalance;

impl PoleBalance {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for PoleBalance {}

impl Controller for PoleBalance {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let [lean, fall, place, speed] =
            ["lean_gain", "fall_gain", "place_gain", "speed_gain"].map(|key| parameters.value(key));
        for (input, output) in inputs.iter().zip(outputs) {
            // Away from its mark a car first drives farther away, so that the pole leans back.
            // Position and speed therefore have the same sign as the lean.
            *output = ControllerOutput {
                acceleration: lean * input.heading_error
                    + fall * input.path_curvature
                    + place * input.lane_offset
                    + speed * input.speed,
                steering: 0.0,
            };
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

    fn acceleration(change: impl FnOnce(&mut ControllerInput)) -> f64 {
        let mut input = ControllerInput::default();
        change(&mut input);
        let mut outputs = [ControllerOutput::default()];
        let module = PoleBalance::entry().make();
        module.step(&Step::default(), &[input], &mut outputs);
        assert_eq!(outputs[0].steering, 0.0);
        outputs[0].acceleration
    }

    #[test]
    fn it_drives_under_the_pole() {
        assert_eq!(acceleration(|_| ()), 0.0);
        assert!((acceleration(|i| i.heading_error = 0.1) - 2.74).abs() < 1e-12);
        assert!((acceleration(|i| i.path_curvature = -0.1) + 1.01).abs() < 1e-12);
        assert!(acceleration(|i| i.lane_offset = 1.0) > 0.0);
        assert!(acceleration(|i| i.speed = -1.0) < 0.0);
    }
}
