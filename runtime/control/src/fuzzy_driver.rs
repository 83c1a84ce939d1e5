//! The fuzzy traffic driver of [Gerdelan 2011], chapter 8.

use crate::fuzzy::{
    Aggregation, CHROMOSOME, FuzzyController, OBSTACLE_ANGLE, OBSTACLE_DISTANCE, RULE_COUNT, RULES,
    joined, with_rules_of,
};
use crate::laws::{chosen_lookahead, halting_speed};
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_geometry::math::atan;
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

/// Limit of the requested acceleration, m/s^2. No vehicle can accelerate this fast.
const MOST_ACCELERATION: f64 = 50.0;

static INFO: ModuleInfo = ModuleInfo {
    id: "fuzzy_driver",
    name: "Fuzzy traffic driver",
    doc: "Follows the route and avoids obstacles with four fuzzy rule tables.",
};

/// Number of parameters that precede the rules.
const PLAIN: usize = 9;

const GAINS: [ParameterInfo; PLAIN] = [
    ParameterInfo::choice(
        "aggregation",
        &["max", "sum"],
        "Method of combining rules with the same output term.",
    ),
    ParameterInfo::number(
        "route_steering_gain",
        "",
        (0.0, 50.0),
        1.0,
        "Scales the steering of route following; 1 gives the printed table.",
    ),
    ParameterInfo::number(
        "avoid_steering_gain",
        "",
        (0.0, 50.0),
        1.0,
        "Scales the steering of obstacle avoidance; 1 gives the printed table.",
    ),
    ParameterInfo::number(
        "lookahead_time",
        "s",
        (0.0, 5.0),
        0.0,
        "Lookahead time of the waypoint.",
    ),
    ParameterInfo::number(
        "lookahead_distance",
        "m",
        (0.5, 100.0),
        28.28,
        "Minimum distance to the waypoint.",
    ),
    ParameterInfo::number(
        "speed_time",
        "s",
        (0.05, 10.0),
        0.5,
        "Time constant of speed control.",
    ),
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
    ParameterInfo::choice(
        "aim",
        &["way", "bend"],
        "Position of the waypoint on a lane: on the path itself, or on the circle that the path \
         follows just ahead, which avoids cutting corners.",
    ),
];

static PARAMETERS: [ParameterInfo; PLAIN + RULE_COUNT] = joined(GAINS, RULES);

/// Two pairs of fuzzy controllers, one for route following and one for obstacle avoidance.
///
/// The free route ends behind the leader and at closed junctions. The allowed speed is the speed from which
/// the vehicle can still stop there, or the speed of the road if that is lower. The smaller of the two speed
/// fractions is commanded. The turn rate is the commanded speed times the sum of the steering factors:
/// towards the waypoint and away from the obstacle.
///
/// The printed factors are gentle: at most 0.04 in the rules of route following, which is a radius of 25 m.
/// For streets with tighter corners, the gains and a closer waypoint calibrate the driver to the vehicle, as
/// [Gerdelan 2011] demands. The rules are also parameters, with the printed tables as defaults, and can be
/// set by hand or by training.
pub struct FuzzyDriver;

/// Parameter values of the fuzzy driver for one batch.
struct Settings {
    aggregation: Aggregation,
    route_gain: f64,
    avoid_gain: f64,
    speed_time: f64,
    braking: f64,
    reaction: f64,
    /// Steering and speed tables for route following, then for obstacle avoidance.
    tables: [FuzzyController; 4],
}

impl Settings {
    #[inline]
    fn drive(&self, input: &ControllerInput) -> ControllerOutput {
        let [route_steer, route_speed, avoid_steer, avoid_speed] = &self.tables;
        let (distance, angle) = (input.waypoint_distance, input.waypoint_angle);
        let mut fraction = route_speed.output(distance, angle.abs(), self.aggregation);
        let seek = route_steer.output(distance, angle.abs(), self.aggregation);
        // The tables only use the magnitude of the angle, so the side is added here. `signum` of 0 is 1, so
        // straight ahead is handled separately.
        let towards = if angle == 0.0 { 0.0 } else { angle.signum() };
        let mut factor = self.route_gain * seek * towards;
        // An obstacle is considered only within the range of its terms.
        let (reach, width) = (OBSTACLE_DISTANCE.knots[2], OBSTACLE_ANGLE.knots[2]);
        let (distance, angle) = (input.obstacle_distance, input.obstacle_angle);
        if distance < reach && angle.abs() < width {
            let avoid = avoid_speed.output(distance, angle.abs(), self.aggregation);
            fraction = fraction.min(avoid);
            let turn = avoid_steer.output(distance, angle.abs(), self.aggregation);
            // An obstacle straight ahead counts as being on the right, so that the vehicle avoids it to the
            // left.
            factor -= self.avoid_gain * turn * if angle > 0.0 { 1.0 } else { -1.0 };
        }
        let allowed = input
            .road_speed
            .min(halting_speed(input, self.braking, self.reaction));
        let commanded = fraction * allowed;
        // The commanded turn rate belongs to the commanded speed. Below that speed the same curve is driven,
        // above it the same turn rate is kept.
        let curvature = factor * commanded / input.speed.max(commanded).max(0.1);
        ControllerOutput {
            acceleration: ((commanded - input.speed) / self.speed_time)
                .clamp(-MOST_ACCELERATION, MOST_ACCELERATION),
            steering: atan(input.wheelbase * curvature),
        }
    }
}

impl FuzzyDriver {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for FuzzyDriver {}

impl Controller for FuzzyDriver {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let settings = Settings {
            aggregation: if parameters.value("aggregation") == 0.0 {
                Aggregation::Max
            } else {
                Aggregation::Sum
            },
            route_gain: parameters.value("route_steering_gain"),
            avoid_gain: parameters.value("avoid_steering_gain"),
            speed_time: parameters.value("speed_time"),
            braking: parameters.value("braking"),
            reaction: parameters.value("reaction"),
            tables: with_rules_of(parameters, PLAIN, CHROMOSOME),
        };
        for (input, output) in inputs.iter().zip(outputs) {
            *output = settings.drive(input);
        }
    }

    fn lookahead(&self, parameters: &ParameterSet) -> Lookahead {
        chosen_lookahead(parameters)
    }

    fn aims_along_bend(&self, parameters: &ParameterSet) -> bool {
        parameters.value("aim") == 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_geometry::math::tan;
    use roadwright_plugin_api::NOTHING;

    fn drive(change: impl FnOnce(&mut ControllerInput)) -> ControllerOutput {
        let mut input = ControllerInput {
            speed: 10.0,
            road_speed: 10.0,
            wheelbase: 2.7,
            waypoint_distance: 28.28,
            leader_gap: NOTHING,
            obstacle_distance: NOTHING,
            stop_distance: NOTHING,
            ..ControllerInput::default()
        };
        change(&mut input);
        let mut outputs = [ControllerOutput::default()];
        FuzzyDriver::entry()
            .make()
            .step(&Step::default(), &[input], &mut outputs);
        outputs[0]
    }

    #[test]
    fn a_free_straight_road_is_driven_at_full_speed() {
        let full = drive(|_| ());
        assert!(full.acceleration.abs() < 1e-9, "{full:?}");
        assert!(full.steering.abs() < 1e-9, "{full:?}");
        assert!(drive(|i| i.speed = 5.0).acceleration > 1.0);
        assert!(drive(|i| i.speed = 12.0).acceleration < -1.0);
    }

    #[test]
    fn it_turns_towards_the_way_point_and_away_from_the_obstacle() {
        assert!(drive(|i| i.waypoint_angle = 0.4).steering > 0.0);
        assert!(drive(|i| i.waypoint_angle = -0.4).steering < 0.0);
        let beside = |angle| drive(move |i| (i.obstacle_distance, i.obstacle_angle) = (5.0, angle));
        assert!(beside(0.6).steering < 0.0 && beside(-0.6).steering > 0.0);
        assert!(beside(0.6).acceleration < 0.0);
    }

    #[test]
    fn a_far_wide_way_point_gives_the_printed_turn() {
        // Table 8.8 WIDE, FAR: sharp, 0.04; table 8.7: medium speed, 0.6 of 10 m/s. At 6 m/s the
        // turn rate is 0.24 rad/s, a curvature of 0.04.
        let output = drive(|i| (i.waypoint_angle, i.speed) = (0.6, 6.0));
        assert!((tan(output.steering) / 2.7 - 0.04).abs() < 1e-12);
        assert!(output.acceleration.abs() < 1e-9);
    }

    #[test]
    fn a_rule_that_is_set_is_the_one_that_fires() {
        let input = ControllerInput {
            speed: 6.0,
            road_speed: 10.0,
            wheelbase: 2.7,
            waypoint_distance: 28.28,
            waypoint_angle: 0.6,
            leader_gap: NOTHING,
            obstacle_distance: NOTHING,
            stop_distance: NOTHING,
            ..ControllerInput::default()
        };
        let mut module = FuzzyDriver::entry().make();
        let answer = |module: &roadwright_agent::Module<dyn Controller>| {
            let mut outputs = [ControllerOutput::default()];
            module.step(&Step::default(), &[input], &mut outputs);
            outputs[0]
        };
        let printed = answer(&module);
        // Another rule that does not fire here.
        module
            .parameters
            .set("rule_route_steer_mid_far", 6.0)
            .unwrap();
        assert_eq!(answer(&module), printed);
        // FULL is 0.08, twice the printed SHARP.
        module
            .parameters
            .set("rule_route_steer_wide_far", 6.0)
            .unwrap();
        assert!((tan(answer(&module).steering) / 2.7 - 0.08).abs() < 1e-12);
        module
            .parameters
            .set("rule_route_speed_wide_far", 0.0)
            .unwrap();
        assert!(answer(&module).acceleration < -10.0);
        assert!(
            module
                .parameters
                .set("rule_route_speed_wide_far", 6.0)
                .is_err()
        );
    }

    #[test]
    fn obstacles_out_of_reach_do_not_count() {
        let free = drive(|_| ());
        assert_eq!(
            drive(|i| (i.obstacle_distance, i.obstacle_angle) = (28.3, 0.0)),
            free
        );
        assert_eq!(
            drive(|i| (i.obstacle_distance, i.obstacle_angle) = (3.0, 1.3)),
            free
        );
    }

    #[test]
    fn it_halts_behind_a_standing_leader() {
        let near = drive(|i| (i.leader_gap, i.speed) = (2.0, 3.0));
        assert!(near.acceleration <= -3.0 / 0.5 + 1e-9);
        let line = drive(|i| (i.stop_distance, i.speed) = (0.5, 3.0));
        assert!(line.acceleration <= -3.0 / 0.5 + 1e-9);
    }
}
