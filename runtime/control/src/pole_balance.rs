//! A car that balances a pole on its roof: the state feedback of the textbook.

use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

static INFO: ModuleInfo = ModuleInfo {
    id: "pole_balance",
    name: "Pole balance",
    doc: "Balances a pole on the roof by a linear law; for the course pendulum.",
};

/// The gains put the four poles of the car with a pole of 2 m at -2.7, -2.7, -0.5 and -0.5 1/s: the pole
/// is caught as fast as it falls (2.7 1/s), and the car drifts back to its mark slowly, for every haste
/// there tips the pole.
static PARAMETERS: [ParameterInfo; 4] = [
    ParameterInfo::number(
        "lean_gain",
        "m/s^2",
        (0.0, 100.0),
        27.4,
        "Acceleration for each radian that the pole leans.",
    ),
    ParameterInfo::number(
        "fall_gain",
        "m/s",
        (0.0, 50.0),
        10.1,
        "Acceleration for each radian a second that it falls.",
    ),
    ParameterInfo::number(
        "place_gain",
        "1/s^2",
        (0.0, 5.0),
        0.25,
        "Acceleration for each metre from the mark: forwards if the car is before it.",
    ),
    ParameterInfo::number(
        "speed_gain",
        "1/s",
        (0.0, 10.0),
        1.17,
        "Acceleration for each metre a second.",
    ),
];

/// Accelerates by a sum of what the pole and the car do. It reads a row of the course `pendulum`: the
/// lean of the pole stands in `heading_error`, how fast it falls in `path_curvature`, and the way from the
/// mark in `lane_offset`, all positive forwards.
pub struct PoleBalance;

impl PoleBalance {
    /// The module as it is registered.
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
            // Away from its mark a car first drives further away, so that the pole leans back: the
            // signs of place and speed are those of the lean.
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
