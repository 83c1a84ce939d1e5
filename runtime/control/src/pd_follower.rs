//! Two proportional-derivative laws: speed and turning towards a point on the path.

use crate::laws::{chosen_lookahead, halting_speed};
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_geometry::math::{atan, tan};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

static INFO: ModuleInfo = ModuleInfo {
    id: "pd_follower",
    name: "PD follower",
    doc: "Turns towards a point on the path by one proportional-derivative law, and sets the speed by another.",
};

static PARAMETERS: [ParameterInfo; 13] = [
    ParameterInfo::number(
        "position_gain",
        "1/s",
        (0.05, 20.0),
        1.0,
        "k_p: speed per metre near the goal.",
    ),
    ParameterInfo::number(
        "heading_gain",
        "1/s",
        (0.05, 50.0),
        5.0,
        "k_theta: turn rate per radian of heading error.",
    ),
    ParameterInfo::number(
        "speed_gain",
        "1/s",
        (0.05, 50.0),
        5.0,
        "k_v: acceleration per unit of speed error.",
    ),
    ParameterInfo::number(
        "turn_gain",
        "1/s",
        (0.05, 100.0),
        10.0,
        "k_omega: turn acceleration per unit of turn rate error.",
    ),
    ParameterInfo::number(
        "time_constant",
        "s",
        (0.0, 5.0),
        0.0,
        "Sets all four gains for a response without overshoot: k_omega = 4 k_theta and k_v = 4 \
         k_p; 0 leaves them as given.",
    ),
    ParameterInfo::number(
        "lookahead_distance",
        "m",
        (0.1, 50.0),
        0.5,
        "Minimum lookahead distance.",
    ),
    ParameterInfo::number(
        "lookahead_time",
        "s",
        (0.0, 5.0),
        0.7,
        "Lookahead time; 0 as in the source, which steers animated characters.",
    ),
    ParameterInfo::number(
        "cruising_speed",
        "m/s",
        (0.1, 50.0),
        50.0,
        "Maximum speed; 1.4 is walking speed.",
    ),
    ParameterInfo::number(
        "slow_speed",
        "m/s",
        (0.01, 10.0),
        0.2,
        "Speed while facing away from the point.",
    ),
    ParameterInfo::number(
        "turn_angle",
        "rad",
        (0.1, 3.0),
        0.785,
        "Heading error above which the slow speed applies.",
    ),
    ParameterInfo::number(
        "goal_distance",
        "m",
        (0.0, 50.0),
        1.4,
        "Distance to the stop below which the speed is proportional to the distance.",
    ),
    crate::speed_law::BRAKING,
    crate::speed_law::REACTION,
];

/// Follows a path like the characters of [Kuffner 1998], section 7.3. A vehicle turns no faster than
/// steering, speed and a lateral acceleration of 4 m/s^2 allow.
pub struct PdFollower;

/// Gains of both laws, 1/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PdGains {
    /// k_p: speed per metre of distance.
    pub position: f64,
    /// k_theta: turn rate per radian of heading error.
    pub heading: f64,
    /// k_v: acceleration per unit of speed error.
    pub speed: f64,
    /// k_omega: turn acceleration per unit of turn rate error.
    pub turn: f64,
}

impl PdGains {
    /// Gains of [Kuffner 1998], section 8.
    pub const PRINTED: Self = Self {
        position: 1.0,
        heading: 5.0,
        speed: 5.0,
        turn: 10.0,
    };

    /// Returns the gains for a time constant, s. With them, errors decay as fast as possible
    /// without overshoot.
    pub fn critical(time_constant: f64) -> Self {
        let (inner, outer) = (2.0 / time_constant, 0.5 / time_constant);
        Self {
            position: outer,
            heading: outer,
            speed: inner,
            turn: inner,
        }
    }

    /// Damping ratio of turning: at 1 or above there is no overshoot.
    pub fn damping_ratio(&self) -> f64 {
        // heading'' + k_omega heading' + k_omega k_theta heading = 0.
        0.5 * (self.turn / self.heading).sqrt()
    }

    fn new(parameters: &ParameterSet) -> Self {
        let time_constant = parameters.value("time_constant");
        if time_constant > 0.0 {
            return Self::critical(time_constant);
        }
        Self {
            position: parameters.value("position_gain"),
            heading: parameters.value("heading_gain"),
            speed: parameters.value("speed_gain"),
            turn: parameters.value("turn_gain"),
        }
    }
}

/// Maximum lateral acceleration of turning, m/s^2.
const LATERAL_ACCELERATION: f64 = 4.0;
/// Minimum speed used to convert a turn rate to a steering angle, m/s.
const SLOWEST: f64 = 0.1;

/// Parameter values of `pd_follower` for one batch.
struct PdLaw {
    gains: PdGains,
    cruising_speed: f64,
    slow_speed: f64,
    turn_angle: f64,
    goal_distance: f64,
    braking: f64,
    reaction: f64,
}

impl PdLaw {
    fn new(parameters: &ParameterSet) -> Self {
        Self {
            gains: PdGains::new(parameters),
            cruising_speed: parameters.value("cruising_speed"),
            slow_speed: parameters.value("slow_speed"),
            turn_angle: parameters.value("turn_angle"),
            goal_distance: parameters.value("goal_distance"),
            braking: parameters.value("braking"),
            reaction: parameters.value("reaction"),
        }
    }

    /// Commanded speed, m/s.
    fn speed(&self, input: &ControllerInput) -> f64 {
        let allowed = input.road_speed.min(self.cruising_speed);
        let allowed = allowed.min(halting_speed(input, self.braking, self.reaction));
        let facing = if input.waypoint_angle.abs() <= self.turn_angle {
            allowed
        } else {
            allowed.min(self.slow_speed)
        };
        if input.stop_distance < self.goal_distance {
            facing.min(self.gains.position * input.stop_distance.max(0.0))
        } else {
            facing
        }
    }

    fn command(&self, input: &ControllerInput, period: f64) -> ControllerOutput {
        let speed = input.speed.max(SLOWEST);
        let turn = speed * tan(input.steering) / input.wheelbase;
        let wanted = self.gains.heading * input.waypoint_angle;
        // Over a longer period, the turn rate would overshoot its target.
        let share = (self.gains.turn * period).min(1.0);
        let most = LATERAL_ACCELERATION / speed;
        let turn = (turn + share * (wanted - turn)).clamp(-most, most);
        ControllerOutput {
            acceleration: self.gains.speed * (self.speed(input) - input.speed),
            steering: atan(input.wheelbase * turn / speed),
        }
    }
}

impl PdFollower {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for PdFollower {}

impl Controller for PdFollower {
    fn step(
        &self,
        parameters: &ParameterSet,
        step: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let law = PdLaw::new(parameters);
        for (input, output) in inputs.iter().zip(outputs) {
            *output = law.command(input, step.period);
        }
    }

    fn lookahead(&self, parameters: &ParameterSet) -> Lookahead {
        chosen_lookahead(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_plugin_api::NOTHING;

    fn ask(change: impl FnOnce(&mut ControllerInput)) -> ControllerOutput {
        let mut input = ControllerInput {
            speed: 1.4,
            road_speed: 1.4,
            wheelbase: 2.7,
            waypoint_distance: 0.5,
            leader_gap: NOTHING,
            obstacle_distance: NOTHING,
            stop_distance: NOTHING,
            ..ControllerInput::default()
        };
        change(&mut input);
        let mut outputs = [ControllerOutput::default()];
        let step = Step {
            period: 1.0 / 30.0,
            ..Step::default()
        };
        PdFollower::entry()
            .make()
            .step(&step, &[input], &mut outputs);
        outputs[0]
    }

    #[test]
    fn the_printed_gains_have_a_damping_ratio_of_0_71() {
        assert!((PdGains::PRINTED.damping_ratio() - 0.5f64.sqrt()).abs() < 1e-15);
        let critical = PdGains::critical(0.25);
        assert!((critical.damping_ratio() - 1.0).abs() < 1e-15);
        assert!((critical.turn - 4.0 * critical.heading).abs() < 1e-15);
        assert!((critical.speed - 4.0 * critical.position).abs() < 1e-15);
        // Both poles of s^2 + k_omega s + k_omega k_theta lie at -1 / 0.25.
        assert!((0.5 * critical.turn - 4.0).abs() < 1e-15);
    }

    #[test]
    fn it_turns_to_the_point_and_slows_down_where_it_faces_elsewhere() {
        assert_eq!(ask(|_| ()).steering, 0.0);
        assert!(ask(|_| ()).acceleration.abs() < 1e-12);
        // omega = 10 / 30 of 5 x 0.1 rad/s after one period.
        let turning = ask(|i| i.waypoint_angle = 0.1);
        assert!((turning.steering - atan(2.7 * 0.5 / 3.0 / 1.4)).abs() < 1e-12);
        let askew = ask(|i| i.waypoint_angle = -1.0);
        assert!((askew.acceleration - 5.0 * (0.2 - 1.4)).abs() < 1e-12);
        assert!(askew.steering < 0.0);
    }

    #[test]
    fn near_the_goal_its_speed_is_proportional_to_the_distance() {
        let near = ask(|i| (i.stop_distance, i.speed) = (0.7, 0.0));
        // Never above the speed from which it can still stop.
        assert!(near.acceleration > 0.0 && near.acceleration <= 5.0 * 0.7 + 1e-12);
        assert!(ask(|i| i.stop_distance = 0.0).acceleration < 0.0);
    }
}
