//! Pursuit of a point on the route with proportional cruising and proportional-derivative following.

use crate::laws::{halting_speed, steady_steering};
use crate::term::{self, Term};
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};
use std::collections::BTreeMap;

static INFO: ModuleInfo = ModuleInfo {
    id: "pursuit",
    name: "Pursuit point",
    doc: "Steers towards a point on the path; cruises and follows with linear controllers.",
};

static PARAMETERS: [ParameterInfo; 8] = [
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
        "Minimum distance of the pursuit point.",
    ),
    ParameterInfo::number(
        "speed_gain",
        "1/s",
        (0.05, 10.0),
        0.8,
        "Acceleration per unit of missing speed.",
    ),
    ParameterInfo::number(
        "gap_gain",
        "1/s^2",
        (0.0, 5.0),
        0.25,
        "Acceleration per metre of missing gap.",
    ),
    ParameterInfo::number(
        "closing_gain",
        "1/s",
        (0.0, 10.0),
        0.9,
        "Acceleration per unit of closing speed.",
    ),
    ParameterInfo::number("headway", "s", (0.1, 5.0), 1.2, "Time gap to the leader."),
    ParameterInfo::number(
        "braking",
        "m/s^2",
        (0.5, 10.0),
        3.0,
        "Deceleration for planning stops.",
    ),
    ParameterInfo::number(
        "reaction",
        "s",
        (0.0, 3.0),
        0.3,
        "Reaction time before braking.",
    ),
];

/// Steers towards a pursuit point. Cruises and follows as [Wang 2004] describes: a proportional controller
/// for the speed, and a proportional-derivative one for the gap that counts only if it asks for less. Stops
/// before closed junctions.
pub struct Pursuit;

/// Factor by which braking to the allowed speed is stronger than accelerating to it.
const BRAKING_FACTOR: f64 = 4.0;

/// Parameters of the speed law.
struct SpeedLaw {
    speed_gain: f64,
    gap_gain: f64,
    closing_gain: f64,
    headway: f64,
    braking: f64,
    reaction: f64,
}

impl SpeedLaw {
    fn new(parameters: &ParameterSet) -> Self {
        Self {
            speed_gain: parameters.value("speed_gain"),
            gap_gain: parameters.value("gap_gain"),
            closing_gain: parameters.value("closing_gain"),
            headway: parameters.value("headway"),
            braking: parameters.value("braking"),
            reaction: parameters.value("reaction"),
        }
    }

    /// Speed from which the vehicle can still stop where it has to, m/s.
    fn halting(&self, input: &ControllerInput) -> f64 {
        halting_speed(input, self.braking, self.reaction)
    }

    /// Acceleration towards the allowed speed, m/s^2.
    fn cruising(&self, input: &ControllerInput) -> f64 {
        let allowed = input.road_speed.min(self.halting(input));
        let cruising = self.speed_gain * (allowed - input.speed);
        // The allowed speed is the one from which the vehicle can just stop. Above it, braking must be
        // stronger than the gentle gain of cruising, or the vehicle stops too late.
        if allowed < input.speed {
            BRAKING_FACTOR * cruising
        } else {
            cruising
        }
    }

    /// Acceleration that keeps the gap to the leader, m/s^2.
    fn following(&self, input: &ControllerInput) -> f64 {
        let missing_gap =
            input.leader_gap - crate::laws::STANDSTILL_GAP - self.headway * input.speed;
        self.gap_gain * missing_gap + self.closing_gain * (input.leader_speed - input.speed)
    }

    fn acceleration(&self, input: &ControllerInput) -> f64 {
        let following = self.following(input);
        // A following law that asks for more than cruising would race to close a gap, so it counts only when
        // it brakes.
        self.cruising(input).min(if following < 0.0 {
            following
        } else {
            f64::INFINITY
        })
    }
}

impl Pursuit {
    /// Returns the terms of its acceleration for a row, with the given parameters and defaults for the
    /// others: the allowed speeds, m/s, the accelerations of cruising and following, and the smaller of the
    /// two, m/s^2.
    pub fn terms(parameters: &BTreeMap<String, f64>, input: &ControllerInput) -> Vec<Term> {
        let law = SpeedLaw::new(&term::parameters(&PARAMETERS, parameters));
        let (cruising, following) = (law.cruising(input), law.following(input));
        let follows = following < 0.0 && following < cruising;
        let following = if input.leader_gap < NOTHING {
            following
        } else {
            f64::INFINITY
        };
        let halts = law.halting(input) < input.road_speed;
        vec![
            Term::new("road speed", input.road_speed, "m/s").deciding(!follows && !halts),
            Term::new("halting speed", law.halting(input), "m/s").deciding(!follows && halts),
            Term::new("cruising", cruising, "m/s^2").deciding(!follows),
            Term::new("following", following, "m/s^2").deciding(follows),
            Term::new("acceleration", law.acceleration(input), "m/s^2"),
        ]
    }

    /// Registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
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
        let law = SpeedLaw::new(parameters);
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

    fn aims_along_bend(&self, _: &ParameterSet) -> bool {
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn terms_are_those_of_the_law() {
        let free = ControllerInput {
            speed: 8.0,
            road_speed: 12.0,
            wheelbase: 2.7,
            waypoint_distance: 10.0,
            leader_gap: NOTHING,
            obstacle_distance: NOTHING,
            stop_distance: NOTHING,
            ..ControllerInput::default()
        };
        let behind = ControllerInput {
            leader_gap: 6.0,
            leader_speed: 7.0,
            ..free
        };
        let before_a_line = ControllerInput {
            stop_distance: 6.0,
            ..free
        };
        for (input, decides) in [
            (free, ["road speed", "cruising"].as_slice()),
            (behind, &["following"]),
            (before_a_line, &["halting speed", "cruising"]),
        ] {
            let terms = Pursuit::terms(&BTreeMap::new(), &input);
            let mut outputs = [ControllerOutput::default()];
            Pursuit::entry()
                .make()
                .step(&Step::default(), &[input], &mut outputs);
            assert_eq!(terms[4].value, outputs[0].acceleration);
            let deciding = terms.iter().filter(|term| term.decides);
            let deciding: Vec<&str> = deciding.map(|term| term.name).collect();
            assert_eq!(deciding, decides, "{terms:?}");
        }
    }
}
