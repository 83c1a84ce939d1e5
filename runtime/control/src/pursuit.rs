//! Pursuit of a point on the route with proportional cruising and proportional-derivative following.

use crate::laws::{halting_speed, steady_steering};
use roadwright_agent::{
    Controller, Entry, Logic, Lookahead, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

static INFO: ModuleInfo = ModuleInfo {
    id: "pursuit",
    name: "Pursuit point",
    doc: "Steers for a point on the way; cruises and follows by linear controllers.",
};

static PARAMETERS: [ParameterInfo; 8] = [
    ParameterInfo::number(
        "lookahead_time",
        "s",
        (0.0, 5.0),
        0.6,
        "Time ahead at which the pursuit point lies.",
    ),
    ParameterInfo::number(
        "lookahead_distance",
        "m",
        (0.5, 100.0),
        4.5,
        "Least distance of the pursuit point.",
    ),
    ParameterInfo::number(
        "speed_gain",
        "1/s",
        (0.05, 10.0),
        0.8,
        "Acceleration per missing speed.",
    ),
    ParameterInfo::number(
        "gap_gain",
        "1/s^2",
        (0.0, 5.0),
        0.25,
        "Acceleration per missing gap.",
    ),
    ParameterInfo::number(
        "closing_gain",
        "1/s",
        (0.0, 10.0),
        0.9,
        "Acceleration per closing speed.",
    ),
    ParameterInfo::number("headway", "s", (0.1, 5.0), 1.2, "Time gap to the leader."),
    ParameterInfo::number(
        "braking",
        "m/s^2",
        (0.5, 10.0),
        3.0,
        "Braking that stopping is planned with.",
    ),
    ParameterInfo::number(
        "reaction",
        "s",
        (0.0, 3.0),
        0.3,
        "Time that passes before braking.",
    ),
];

/// Steers for a pursuit point; cruises and follows as [Wang 2004] describes: a proportional
/// controller for the speed, a proportional-derivative one for the gap that counts only when it
/// asks for less, and halts before what is closed.
pub struct Pursuit;

/// Braking to the allowed speed is this much firmer than speeding up to it.
const BRAKING_FACTOR: f64 = 4.0;

/// What the law for the speed depends on.
struct SpeedLaw {
    speed_gain: f64,
    gap_gain: f64,
    closing_gain: f64,
    headway: f64,
    braking: f64,
    reaction: f64,
}

impl SpeedLaw {
    fn acceleration(&self, input: &ControllerInput) -> f64 {
        let halting = halting_speed(input, self.braking, self.reaction);
        let allowed = input.road_speed.min(halting);
        let cruising = self.speed_gain * (allowed - input.speed);
        // The allowed speed is the one from which the vehicle can just stop. Above it, braking must be
        // firmer than the gentle gain of cruising, or the vehicle stops too late.
        let cruising = if allowed < input.speed {
            BRAKING_FACTOR * cruising
        } else {
            cruising
        };
        let missing_gap =
            input.leader_gap - crate::laws::STANDSTILL_GAP - self.headway * input.speed;
        let following =
            self.gap_gain * missing_gap + self.closing_gain * (input.leader_speed - input.speed);
        // A following law that asks for more than cruising would race to close a gap: it counts only
        // where it brakes.
        cruising.min(if following < 0.0 {
            following
        } else {
            f64::INFINITY
        })
    }
}

impl Pursuit {
    /// The module as it is registered.
    pub fn entry() -> Entry<dyn Controller> {
        Entry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for Pursuit {}

impl Controller for Pursuit {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let law = SpeedLaw {
            speed_gain: parameters.value("speed_gain"),
            gap_gain: parameters.value("gap_gain"),
            closing_gain: parameters.value("closing_gain"),
            headway: parameters.value("headway"),
            braking: parameters.value("braking"),
            reaction: parameters.value("reaction"),
        };
        for (input, output) in inputs.iter().zip(outputs) {
            *output = ControllerOutput {
                acceleration: law.acceleration(input),
                steering: steady_steering(input),
            };
        }
    }

    fn lookahead(&self, parameters: &ParameterSet) -> Lookahead {
        Lookahead {
            time: parameters.value("lookahead_time"),
            distance: parameters.value("lookahead_distance"),
        }
    }
}
