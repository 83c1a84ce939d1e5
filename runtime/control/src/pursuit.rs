//! Pursuit of a point on the route with proportional cruising and proportional-derivative following.

use crate::laws::{chosen_lookahead, steady_steering};
use crate::speed_law::{self, SpeedLaw};
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
        "Minimum distance to the pursuit point.",
    ),
    speed_law::SPEED_GAIN,
    speed_law::GAP_GAIN,
    speed_law::CLOSING_GAIN,
    speed_law::HEADWAY,
    speed_law::BRAKING,
    speed_law::REACTION,
];

/// Steers towards a pursuit point. Cruises and follows as in [Wang 2004]. A proportional controller
/// controls the speed. A proportional-derivative controller controls the gap; it applies only if it
/// requests a lower acceleration. Stops before closed junctions.
pub struct Pursuit;

impl Pursuit {
    /// Returns the terms of the acceleration for a row. Parameters that are not given have their
    /// defaults. The terms are the allowed speeds (m/s), the accelerations of cruising and
    /// following (m/s^2), and the smaller of these two.
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

    /// Returns the registry entry of the module.
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
        chosen_lookahead(parameters)
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
