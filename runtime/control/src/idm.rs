//! The intelligent driver model, with steering towards a pursuit point.

use crate::laws::{STOP_GAP, chosen_lookahead, steady_steering};
use crate::term::{self, Term};
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};
use std::collections::BTreeMap;

static INFO: ModuleInfo = ModuleInfo {
    id: "idm",
    name: "Intelligent driver model",
    doc: "Keeps a time gap to the leader; steers towards a point on the path.",
};

static PARAMETERS: [ParameterInfo; 6] = [
    ParameterInfo::number(
        "acceleration",
        "m/s^2",
        (0.1, 10.0),
        1.5,
        "Acceleration on a free road from rest.",
    ),
    ParameterInfo::number(
        "braking",
        "m/s^2",
        (0.1, 10.0),
        2.5,
        "Comfortable deceleration.",
    ),
    ParameterInfo::number("headway", "s", (0.1, 5.0), 1.2, "Time gap to the leader."),
    ParameterInfo::number(
        "standstill_gap",
        "m",
        (0.1, 20.0),
        2.0,
        "Gap to the leader at standstill.",
    ),
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
];

/// Follows other vehicles by the intelligent driver model of [Treiber 2000], and steers towards a
/// pursuit point on the route.
///
/// A point where the vehicle must stop is treated as a stationary leader.
pub struct Idm;

/// Parameter values of the model for one batch.
struct Model {
    acceleration: f64,
    braking: f64,
    headway: f64,
    standstill_gap: f64,
}

impl Model {
    fn new(parameters: &ParameterSet) -> Self {
        Self {
            acceleration: parameters.value("acceleration"),
            braking: parameters.value("braking"),
            headway: parameters.value("headway"),
            standstill_gap: parameters.value("standstill_gap"),
        }
    }

    /// Deceleration for a leader, as a fraction of the maximum acceleration: (s* / s)^2.
    #[inline]
    fn interaction(&self, speed: f64, gap: f64, standstill_gap: f64, leader_speed: f64) -> f64 {
        let closing =
            speed * (speed - leader_speed) / (2.0 * (self.acceleration * self.braking).sqrt());
        // Clamped at 0, because a leader that drives away fast would make the desired gap smaller than at
        // rest.
        let wanted = standstill_gap + (speed * self.headway + closing).max(0.0);
        // Bodies may touch, and a stop line may be crossed slightly. With a gap of 0 or less the term would
        // become infinite or push forwards.
        let ratio = wanted / gap.max(0.05);
        ratio * ratio
    }

    /// Acceleration on a free road, as a fraction of the maximum acceleration: 1 from rest, 0 at the desired
    /// speed.
    #[inline]
    fn free_road(&self, input: &ControllerInput) -> f64 {
        let share = share_of_wanted(input.speed, input.road_speed);
        // Above the desired speed the model brakes with up to (v / v0)^4; limited to the comfortable
        // deceleration.
        (1.0 - share).max(-self.braking / self.acceleration)
    }

    /// Decelerations for the leader, the stop line and the obstacle, as multiples of the maximum
    /// acceleration.
    #[inline]
    fn taken_away(&self, input: &ControllerInput) -> [f64; 3] {
        let leader = self.interaction(
            input.speed,
            input.leader_gap,
            self.standstill_gap,
            input.leader_speed,
        );
        let stop = self.interaction(input.speed, input.stop_distance, STOP_GAP, 0.0);
        let obstacle = self.interaction(input.speed, gap_ahead(input), self.standstill_gap, 0.0);
        [leader, stop, obstacle]
    }

    #[inline]
    fn acceleration(&self, input: &ControllerInput) -> f64 {
        let [leader, stop, obstacle] = self.taken_away(input);
        // Only the strongest of the three decelerations is used, not their sum. It is limited to 20
        // times the acceleration because it grows without bound in small gaps; the vehicles' own
        // limits are applied later.
        self.acceleration * (self.free_road(input) - leader.max(stop).max(obstacle)).max(-20.0)
    }
}

/// Unit of all terms.
const UNIT: &str = "m/s^2";
/// Fraction of the acceleration below which a term is ignored.
const LEAST_SHARE: f64 = 0.01;

/// Lateral distance from the straight line ahead beyond which obstacles are ignored, m.
const CLEARANCE: f64 = 1.5;

/// Returns (v / v0)^4. A desired speed of 0 means that the vehicle must not move.
#[inline]
fn share_of_wanted(speed: f64, wanted: f64) -> f64 {
    if wanted > 0.0 {
        let ratio = speed / wanted;
        ratio * ratio * ratio * ratio
    } else if speed > 0.0 {
        f64::INFINITY
    } else {
        1.0
    }
}

/// Returns the distance to an obstacle straight ahead, m. Obstacles to the side are ignored, because the
/// model can brake for them but not steer around them.
fn gap_ahead(input: &ControllerInput) -> f64 {
    if input.obstacle_distance >= NOTHING {
        return NOTHING;
    }
    // Clamped at 1.5 rad. Towards pi the sine falls again, and an obstacle behind would count as straight
    // ahead.
    let lateral = input.obstacle_distance
        * roadwright_geometry::math::sin(input.obstacle_angle.abs().min(1.5));
    if lateral < CLEARANCE {
        input.obstacle_distance
    } else {
        NOTHING
    }
}

impl Idm {
    /// Returns the terms of the acceleration for a row, m/s^2. Parameters that are not given have
    /// their defaults. The terms are those of the free road, the leader, the stop line and the
    /// obstacle, followed by the resulting acceleration. Only the strongest of the terms for
    /// leader, stop line and obstacle applies.
    pub fn terms(parameters: &BTreeMap<String, f64>, input: &ControllerInput) -> Vec<Term> {
        let model = Model::new(&term::parameters(&PARAMETERS, parameters));
        let taken = model.taken_away(input);
        let strongest = taken.iter().copied().fold(0.0, f64::max);
        let free = Term::new(
            "free road",
            model.acceleration * model.free_road(input),
            UNIT,
        );
        let names = ["leader", "stop line", "obstacle"].into_iter();
        let others = names.zip(taken).map(|(name, share)| {
            let counts = share == strongest && share > LEAST_SHARE;
            Term::new(name, -model.acceleration * share, UNIT).deciding(counts)
        });
        let sum = Term::new("acceleration", model.acceleration(input), UNIT);
        std::iter::once(free.deciding(strongest <= LEAST_SHARE))
            .chain(others)
            .chain([sum])
            .collect()
    }

    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for Idm {}

impl Controller for Idm {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let model = Model::new(parameters);
        for (input, output) in inputs.iter().zip(outputs) {
            *output = ControllerOutput {
                acceleration: model.acceleration(input),
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

    fn looks_at_path(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn acceleration(input: ControllerInput) -> f64 {
        let mut outputs = [ControllerOutput::default()];
        Idm::entry()
            .make()
            .step(&Step::default(), &[input], &mut outputs);
        outputs[0].acceleration
    }

    #[test]
    fn a_free_road_is_accelerated_on_up_to_its_speed() {
        assert!((acceleration(free(0.0)) - 1.5).abs() < 1e-6);
        assert!(acceleration(free(14.0)).abs() < 1e-3);
        assert!(acceleration(free(20.0)) < -1.0);
    }

    #[test]
    fn the_equilibrium_gap_is_that_of_the_model() {
        // s = (s0 + v T) / sqrt(1 - (v / v0)^4)
        let gap = (2.0 + 7.0 * 1.2) / (1.0f64 - 0.5f64.powi(4)).sqrt();
        let input = ControllerInput {
            leader_gap: gap,
            leader_speed: 7.0,
            ..free(7.0)
        };
        assert!(acceleration(input).abs() < 1e-6);
    }

    #[test]
    fn who_is_to_stand_brakes_to_rest() {
        let wanted = |speed: f64, road_speed: f64| {
            acceleration(ControllerInput {
                road_speed,
                ..free(speed)
            })
        };
        assert!(wanted(0.0, 0.0).abs() < 1e-9);
        // The vehicle brakes at the comfortable deceleration even at walking pace, and does not
        // start to roll.
        for speed in [8.0, 0.01] {
            assert!((wanted(speed, 0.0) + 2.5).abs() < 1e-6, "{speed}");
        }
        assert!(wanted(0.0, 0.05) > 0.0);
    }

    #[test]
    fn terms_add_up_to_what_the_law_wants() {
        let behind = ControllerInput {
            leader_gap: 12.0,
            leader_speed: 6.0,
            stop_distance: 60.0,
            ..free(9.0)
        };
        for (input, decides) in [(behind, "leader"), (free(9.0), "free road")] {
            let terms = Idm::terms(&BTreeMap::new(), &input);
            let value = |name| terms.iter().find(|term| term.name == name).unwrap().value;
            let taken = ["leader", "stop line", "obstacle"].map(value);
            let strongest = taken.into_iter().fold(0.0, f64::min);
            let sum = value("free road") + strongest;
            assert!((value("acceleration") - sum).abs() < 1e-9, "{terms:?}");
            assert!((value("acceleration") - acceleration(input)).abs() < 1e-12);
            let deciding: Vec<_> = terms.iter().filter(|term| term.decides).collect();
            assert_eq!(deciding.len(), 1, "{terms:?}");
            assert_eq!(deciding[0].name, decides);
        }
        // Parameters matter: a vehicle with a longer headway brakes more.
        let wide = BTreeMap::from([("headway".to_owned(), 3.0)]);
        let of = |parameters| Idm::terms(parameters, &behind)[1].value;
        assert!(of(&wide) < of(&BTreeMap::new()));
    }

    #[test]
    fn a_stop_line_and_a_standing_leader_brake() {
        assert!(
            acceleration(ControllerInput {
                stop_distance: 10.0,
                ..free(10.0)
            }) < -2.0
        );
        assert!(
            acceleration(ControllerInput {
                leader_gap: 3.0,
                ..free(3.0)
            }) < -2.0
        );
    }
}
