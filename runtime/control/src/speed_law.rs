//! Linear laws for speed and gap, shared by several controllers.

use crate::laws::{STANDSTILL_GAP, halting_speed};
use roadwright_agent::{ParameterInfo, ParameterSet};
use roadwright_plugin_api::ControllerInput;

/// Parameter of the speed law: gain of cruising.
pub(crate) const SPEED_GAIN: ParameterInfo = ParameterInfo::number(
    "speed_gain",
    "1/s",
    (0.05, 10.0),
    0.8,
    "Acceleration per unit of speed error.",
);
/// Parameter of the speed law: gain of the gap.
pub(crate) const GAP_GAIN: ParameterInfo = ParameterInfo::number(
    "gap_gain",
    "1/s^2",
    (0.0, 5.0),
    0.25,
    "Acceleration per metre of gap error.",
);
/// Parameter of the speed law: gain of the closing speed.
pub(crate) const CLOSING_GAIN: ParameterInfo = ParameterInfo::number(
    "closing_gain",
    "1/s",
    (0.0, 10.0),
    0.9,
    "Acceleration per unit of closing speed.",
);
/// Parameter of the speed law: time gap.
pub(crate) const HEADWAY: ParameterInfo =
    ParameterInfo::number("headway", "s", (0.1, 5.0), 1.2, "Time gap to the leader.");
/// Parameter of the speed law: deceleration for stopping.
pub(crate) const BRAKING: ParameterInfo = ParameterInfo::number(
    "braking",
    "m/s^2",
    (0.5, 10.0),
    3.0,
    "Deceleration for planning stops.",
);
/// Parameter of the speed law: reaction time.
pub(crate) const REACTION: ParameterInfo = ParameterInfo::number(
    "reaction",
    "s",
    (0.0, 3.0),
    0.3,
    "Reaction time before braking.",
);

/// Factor by which braking to the allowed speed is stronger than accelerating to it.
const BRAKING_FACTOR: f64 = 4.0;

/// Law for the speed of controllers that have a separate steering law: cruises and follows as in [Wang 2004].
pub(crate) struct SpeedLaw {
    speed_gain: f64,
    gap_gain: f64,
    closing_gain: f64,
    headway: f64,
    braking: f64,
    reaction: f64,
}

impl SpeedLaw {
    /// Reads the law from the parameters of a module. The module must declare all parameters of the
    /// law.
    pub(crate) fn new(parameters: &ParameterSet) -> Self {
        Self {
            speed_gain: parameters.value("speed_gain"),
            gap_gain: parameters.value("gap_gain"),
            closing_gain: parameters.value("closing_gain"),
            headway: parameters.value("headway"),
            braking: parameters.value("braking"),
            reaction: parameters.value("reaction"),
        }
    }

    /// Maximum speed from which the vehicle can still stop where it has to, m/s.
    pub(crate) fn halting(&self, input: &ControllerInput) -> f64 {
        halting_speed(input, self.braking, self.reaction)
    }

    /// Speed that the road and the distance to the next stop allow, m/s.
    pub(crate) fn allowed(&self, input: &ControllerInput) -> f64 {
        input.road_speed.min(self.halting(input))
    }

    /// Acceleration towards the allowed speed, m/s^2.
    pub(crate) fn cruising(&self, input: &ControllerInput) -> f64 {
        let allowed = self.allowed(input);
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
    pub(crate) fn following(&self, input: &ControllerInput) -> f64 {
        let missing_gap = input.leader_gap - STANDSTILL_GAP - self.headway * input.speed;
        self.gap_gain * missing_gap + self.closing_gain * (input.leader_speed - input.speed)
    }

    pub(crate) fn acceleration(&self, input: &ControllerInput) -> f64 {
        let following = self.following(input);
        // If the following law requested more than cruising, the vehicle would race to close a gap,
        // so the law is used only if it brakes.
        self.cruising(input).min(if following < 0.0 {
            following
        } else {
            f64::INFINITY
        })
    }
}
