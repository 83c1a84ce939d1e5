//! Pure pursuit (Coulter, 1992). Steers along the circle through a point on the path, with a lookahead that
//! grows with the speed. A braking law controls the speed for cruising, following and stopping.

use roadwright_plugin_sdk::math::{atan, sin};
use roadwright_plugin_sdk::prelude::*;

/// The controller and its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct PurePursuit {
    lookahead_time: f64,
    lookahead_distance: f64,
    heading_gain: f64,
    speed_gain: f64,
    headway: f64,
    standstill_gap: f64,
    braking: f64,
    comfort: f64,
}

impl Default for PurePursuit {
    fn default() -> Self {
        Self {
            lookahead_time: 0.7,
            lookahead_distance: 4.0,
            heading_gain: 0.0,
            speed_gain: 0.9,
            headway: 1.2,
            standstill_gap: 2.0,
            braking: 2.5,
            comfort: 1.8,
        }
    }
}

impl Plugin for PurePursuit {
    const INFO: PluginInfo = PluginInfo::new("com.example.pure_pursuit", "Pure pursuit", "1.0.0")
        .author("Roadwright")
        .doc("Steers along the circle through a point on the path; follows with a time gap.");

    fn parameters(&mut self, list: &mut Parameters<'_>) {
        list.number("lookahead_time", &mut self.lookahead_time, 0.0..=3.0)
            .unit("s")
            .doc("Lookahead time of the pursuit point.");
        list.number(
            "lookahead_distance",
            &mut self.lookahead_distance,
            1.0..=50.0,
        )
        .unit("m")
        .doc("Minimum distance to the pursuit point.");
        list.number("heading_gain", &mut self.heading_gain, 0.0..=2.0)
            .doc("Additional steering angle per unit of heading error.");
        list.number("speed_gain", &mut self.speed_gain, 0.1..=5.0)
            .unit("1/s")
            .doc("Acceleration per unit of speed error.");
        list.number("headway", &mut self.headway, 0.2..=4.0)
            .unit("s")
            .doc("Time gap to the leader.");
        list.number("standstill_gap", &mut self.standstill_gap, 0.5..=10.0)
            .unit("m")
            .doc("Gap to the leader at standstill.");
        list.number("braking", &mut self.braking, 0.5..=8.0)
            .unit("m/s^2")
            .doc("Deceleration for planning stops.");
        list.number("comfort", &mut self.comfort, 0.5..=5.0)
            .unit("m/s^2")
            .doc("Maximum acceleration.");
    }
}

impl Controller for PurePursuit {
    fn control(&mut self, _: &Agent, input: &ControllerInput, output: &mut ControllerOutput) {
        output.steering = self.steering(input);
        output.acceleration = self.acceleration(input);
    }

    fn lookahead(&self) -> Lookahead {
        Lookahead {
            distance: self.lookahead_distance,
            time: self.lookahead_time,
        }
    }
}

/// Distance to be kept from a stop line, m.
const STOP_GAP: f64 = 0.5;
/// Lateral distance beyond which obstacles do not require braking, m.
const SIDE: f64 = 1.5;

impl PurePursuit {
    /// Returns the steering angle with which the vehicle follows the circle through the pursuit point.
    fn steering(&self, input: &ControllerInput) -> f64 {
        // Limited from below, because the circle shrinks to a point as the vehicle reaches the pursuit point.
        let distance = input.waypoint_distance.max(0.5);
        // Curvature of the circle on which the vehicle moves to the point, from the chord and its angle to
        // the tangent.
        let curvature = 2.0 * sin(input.waypoint_angle) / distance;
        let circle = atan(input.wheelbase * curvature);
        (circle - self.heading_gain * input.heading_error).clamp(-1.5, 1.5)
    }

    /// Returns the highest speed at which the vehicle can still slow down to the leader's speed within the
    /// gap.
    fn safe_speed(&self, gap: f64, leader_speed: f64) -> f64 {
        (leader_speed * leader_speed + 2.0 * self.braking * gap.max(0.0)).sqrt()
    }

    fn acceleration(&self, input: &ControllerInput) -> f64 {
        let gap = input.leader_gap - self.standstill_gap - 0.5 * self.headway * input.speed;
        // Clamped below a right angle. Beyond it the sine decreases again, and obstacles behind would seem
        // near.
        let aside = input.obstacle_distance * sin(input.obstacle_angle.abs().min(1.5));
        let obstacle = if aside < SIDE {
            input.obstacle_distance - self.standstill_gap
        } else {
            NOTHING
        };
        let wanted = input
            .road_speed
            .min(self.safe_speed(gap, input.leader_speed))
            .min(self.safe_speed(input.stop_distance - STOP_GAP - 0.3 * input.speed, 0.0))
            .min(self.safe_speed(obstacle - 0.3 * input.speed, 0.0));
        let missing = wanted - input.speed;
        // The vehicle brakes harder than it accelerates.
        let gain = if missing < 0.0 { 4.0 } else { 1.0 };
        (gain * self.speed_gain * missing).clamp(-8.0, self.comfort)
    }
}

export_plugin!(PurePursuit: Controller);

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_plugin_sdk::math::tan;

    fn free(speed: f64) -> ControllerInput {
        ControllerInput {
            speed,
            road_speed: 14.0,
            wheelbase: 2.7,
            waypoint_distance: 10.0,
            leader_gap: NOTHING,
            obstacle_distance: NOTHING,
            stop_distance: NOTHING,
            ..ControllerInput::default()
        }
    }

    fn drive(input: ControllerInput) -> ControllerOutput {
        let agent = Agent {
            id: 1,
            index: 0,
            seed: 0,
        };
        let mut output = ControllerOutput::default();
        PurePursuit::default().control(&agent, &input, &mut output);
        output
    }

    #[test]
    fn it_drives_the_circle_through_the_point() {
        // A point 10 m away at 30 degrees lies on a circle of radius 10 m.
        let input = ControllerInput {
            waypoint_angle: 30f64.to_radians(),
            ..free(5.0)
        };
        assert!((2.7 / tan(drive(input).steering) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn it_speeds_up_on_a_free_road_and_stops_before_a_line() {
        assert!(drive(free(5.0)).acceleration > 1.0);
        assert!(drive(free(14.0)).acceleration.abs() < 1e-9);
        let line = ControllerInput {
            stop_distance: 12.0,
            ..free(12.0)
        };
        assert!(drive(line).acceleration < -3.0);
        let close = ControllerInput {
            leader_gap: 2.0,
            ..free(0.1)
        };
        assert!(drive(close).acceleration <= 0.0);
    }
}
