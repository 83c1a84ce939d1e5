//! Scores the comfort and safety of a drive. The score is a weighted sum of the discomfort, the crash rating
//! and the speed shortfall. Discomfort is the jerk, acceleration and lateral acceleration relative to the
//! values that passengers tolerate. 0 is perfect, and lower is better.

use roadwright_plugin_sdk::prelude::*;

/// The fitness and its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Comfort {
    comfortable_jerk: f64,
    comfortable_acceleration: f64,
    comfortable_lateral_acceleration: f64,
    comfort_weight: f64,
    crash_weight: f64,
    speed_weight: f64,
}

impl Default for Comfort {
    fn default() -> Self {
        Self {
            comfortable_jerk: 10.0,
            comfortable_acceleration: 1.5,
            comfortable_lateral_acceleration: 2.0,
            comfort_weight: 1.0,
            crash_weight: 10.0,
            speed_weight: 1.0,
        }
    }
}

impl Plugin for Comfort {
    const INFO: PluginInfo = PluginInfo::new("com.example.comfort_fitness", "Comfort", "1.0.0")
        .author("Roadwright")
        .doc("Jerk, acceleration and lateral acceleration, plus crashes and speed shortfall.");

    fn parameters(&mut self, list: &mut Parameters<'_>) {
        list.number("comfortable_jerk", &mut self.comfortable_jerk, 0.1..=100.0)
            .unit("m/s^3")
            .group("comfort limits")
            .doc("Root-mean-square jerk that scores 1.");
        list.number(
            "comfortable_acceleration",
            &mut self.comfortable_acceleration,
            0.1..=10.0,
        )
        .unit("m/s^2")
        .group("comfort limits")
        .doc("Root-mean-square acceleration that scores 1.");
        list.number(
            "comfortable_lateral_acceleration",
            &mut self.comfortable_lateral_acceleration,
            0.1..=10.0,
        )
        .unit("m/s^2")
        .group("comfort limits")
        .doc("Root-mean-square lateral acceleration that scores 1.");
        list.number("comfort_weight", &mut self.comfort_weight, 0.0..=100.0)
            .group("weights")
            .doc("Weight of discomfort.");
        list.number("crash_weight", &mut self.crash_weight, 0.0..=1000.0)
            .unit("1/m^2")
            .group("weights")
            .doc("Weight of the crash rating.");
        list.number("speed_weight", &mut self.speed_weight, 0.0..=100.0)
            .group("weights")
            .doc("Weight of the speed shortfall.");
    }
}

impl Fitness for Comfort {
    fn rate(&mut self, _: &Agent, input: &FitnessInput, output: &mut FitnessOutput) {
        // Means of squares are divided by squares, with a single root at the end, so that the result is 1 if
        // all three are exactly at their comfort limits.
        let part = |squared: f64, comfortable: f64| squared / (comfortable * comfortable);
        let discomfort = (part(input.mean_squared_jerk, self.comfortable_jerk)
            + part(
                input.mean_squared_acceleration,
                self.comfortable_acceleration,
            )
            + part(
                input.mean_squared_lateral_acceleration,
                self.comfortable_lateral_acceleration,
            ))
            / 3.0;
        let missing = if input.mean_road_speed > 0.0 {
            1.0 - (input.mean_speed / input.mean_road_speed).clamp(0.0, 1.0)
        } else {
            1.0
        };
        output.score = self.comfort_weight * discomfort.sqrt()
            + self.crash_weight * input.crash_rating
            + self.speed_weight * missing;
    }
}

export_plugin!(Comfort: Fitness);

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(change: impl FnOnce(&mut FitnessInput)) -> f64 {
        let mut input = FitnessInput {
            mean_speed: 10.0,
            mean_road_speed: 10.0,
            ..FitnessInput::default()
        };
        change(&mut input);
        let agent = Agent {
            id: 1,
            index: 0,
            seed: 0,
        };
        let mut output = FitnessOutput::default();
        Comfort::default().rate(&agent, &input, &mut output);
        output.score
    }

    #[test]
    fn a_perfect_drive_is_rated_zero_and_everything_else_is_worse() {
        assert_eq!(rate(|_| ()), 0.0);
        // At all three comfort limits: 1.
        let limit = rate(|i| {
            i.mean_squared_jerk = 100.0;
            i.mean_squared_acceleration = 2.25;
            i.mean_squared_lateral_acceleration = 4.0;
        });
        assert!((limit - 1.0).abs() < 1e-12);
        assert!((rate(|i| i.mean_speed = 5.0) - 0.5).abs() < 1e-12);
        assert_eq!(rate(|i| i.crash_rating = 0.2), 2.0);
    }
}
