//! The built-in fitness: crashes and speed.

use roadwright_agent::{Entry, Fitness, Logic, ModuleInfo, ParameterInfo, ParameterSet, Step};
use roadwright_plugin_api::{FitnessInput, FitnessOutput};

static INFO: ModuleInfo = ModuleInfo {
    id: "crash_and_speed",
    name: "Crashes and speed",
    doc: "Mean squared penetration plus the missing part of the allowed speed.",
};

static PARAMETERS: [ParameterInfo; 2] = [
    ParameterInfo::number(
        "crash_weight",
        "1/m^2",
        (0.0, 1000.0),
        1.0,
        "Weight of the crash rating.",
    ),
    ParameterInfo::number(
        "speed_weight",
        "",
        (0.0, 1000.0),
        1.0,
        "Weight of the missing speed.",
    ),
];

/// Equation 10.1 of source 003: crash rating times its weight, plus the missing part of the
/// allowed speed times its weight. Lower is better, 0 is perfect.
///
/// The crash rating is already a mean of squared penetrations; it is not squared again. The allowed
/// speed is that of road, bends and vehicle, not what a behaviour allows itself; who is faster gains
/// nothing by it.
pub struct CrashAndSpeed;

impl CrashAndSpeed {
    /// The module as it is registered.
    pub fn entry() -> Entry<dyn Fitness> {
        Entry::<dyn Fitness>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for CrashAndSpeed {}

impl Fitness for CrashAndSpeed {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[FitnessInput],
        outputs: &mut [FitnessOutput],
    ) {
        let crash_weight = parameters.value("crash_weight");
        let speed_weight = parameters.value("speed_weight");
        for (input, output) in inputs.iter().zip(outputs) {
            let share = if input.mean_road_speed > 0.0 {
                (input.mean_speed / input.mean_road_speed).clamp(0.0, 1.0)
            } else {
                0.0
            };
            output.score = crash_weight * input.crash_rating + speed_weight * (1.0 - share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_source() {
        // Crash rating 0.4 m^2, 20 of 30 km/h: 0.7333.
        let input = FitnessInput {
            crash_rating: 0.4,
            mean_speed: 20.0 / 3.6,
            mean_road_speed: 30.0 / 3.6,
            ..FitnessInput::default()
        };
        let mut outputs = [FitnessOutput::default()];
        CrashAndSpeed::entry()
            .make()
            .step(&Step::default(), &[input], &mut outputs);
        assert!((outputs[0].score - 0.733_333).abs() < 1e-6);
    }
}
