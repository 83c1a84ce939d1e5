//! The fuzzy traffic driver of [Gerdelan 2011], chapter 8.

use crate::fuzzy::{
    Aggregation, CHROMOSOME, FuzzyController, OBSTACLE_ANGLE, OBSTACLE_DISTANCE, RULE_COUNT, RULES,
    joined, with_rules_of,
};
use crate::laws::halting_speed;
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_geometry::math::atan;
use roadwright_plugin_api::{ControllerInput, ControllerOutput};

/// What the driver asks for at most, m/s^2; vehicles can do much less.
const MOST_ACCELERATION: f64 = 50.0;

static INFO: ModuleInfo = ModuleInfo {
    id: "fuzzy_driver",
    name: "Fuzzy traffic driver",
    doc: "Follows the route and avoids obstacles by four fuzzy rule tables.",
};

/// Parameters before those of the rules.
const PLAIN: usize = 9;

const GAINS: [ParameterInfo; PLAIN] = [
    ParameterInfo::choice(
        "aggregation",
        &["max", "sum"],
        "How rules that name one output term are joined.",
    ),
    ParameterInfo::number(
        "route_steering_gain",
        "",
        (0.0, 50.0),
        1.0,
        "Factor on the steering of route following; 1 is the printed table.",
    ),
    ParameterInfo::number(
        "avoid_steering_gain",
        "",
        (0.0, 50.0),
        1.0,
        "Factor on the steering of obstacle avoidance; 1 is the printed table.",
    ),
    ParameterInfo::number(
        "lookahead_time",
        "s",
        (0.0, 5.0),
        0.0,
        "Time ahead at which the way-point lies.",
    ),
    ParameterInfo::number(
        "lookahead_distance",
        "m",
        (0.5, 100.0),
        28.28,
        "Least distance of the way-point.",
    ),
    ParameterInfo::number(
        "speed_time",
        "s",
        (0.05, 10.0),
        0.5,
        "Time in which a missing speed is made up.",
    ),
    ParameterInfo::number(
        "braking",
        "m/s^2",
        (0.5, 10.0),
        3.0,
        "Braking that the end of the free way is planned with.",
    ),
    ParameterInfo::number(
        "reaction",
        "s",
        (0.0, 3.0),
        0.3,
        "Time that passes before braking.",
    ),
    ParameterInfo::choice(
        "aim",
        &["way", "bend"],
        "Where its way-point lies on a lane: on the way itself, or on the circle that the way follows \
         just ahead, so that bends are not cut.",
    ),
];

static PARAMETERS: [ParameterInfo; PLAIN + RULE_COUNT] = joined(GAINS, RULES);

/// Two pairs of fuzzy controllers, one for following the route and one for avoiding obstacles.
///
/// The free route ends behind the leader and at closed junctions; the speed that
/// still allows to halt there, or the road's if lower, is the allowed speed. The smaller of the
/// two speed fractions is commanded. The turn rate is the commanded speed times the sum of the
/// steering factors: towards the way-point and away from the obstacle.
///
/// The printed factors are gentle (at most 0.04 in the rules of route following, a radius of
/// 25 m). For streets with tighter corners the gains and a nearer way-point calibrate the driver
/// to the vehicle, as [Gerdelan 2011] asks. The rules themselves are parameters as well: those of
/// the printed tables unless they are set, by hand or by training.
pub struct FuzzyDriver;

/// The parameters of one batch.
struct Settings {
    aggregation: Aggregation,
    route_gain: f64,
    avoid_gain: f64,
    speed_time: f64,
    braking: f64,
    reaction: f64,
    /// Steering and speed of the route, steering and speed of avoidance.
    tables: [FuzzyController; 4],
}

impl Settings {
    #[inline]
    fn drive(&self, input: &ControllerInput) -> ControllerOutput {
        let [route_steer, route_speed, avoid_steer, avoid_speed] = &self.tables;
        let (distance, angle) = (input.waypoint_distance, input.waypoint_angle);
        let mut fraction = route_speed.output(distance, angle.abs(), self.aggregation);
        let seek = route_steer.output(distance, angle.abs(), self.aggregation);
        // The tables know only how far to the side the way-point is; the side is put in here. `signum`
        // of 0 is 1, so straight ahead is told apart.
        let towards = if angle == 0.0 { 0.0 } else { angle.signum() };
        let mut factor = self.route_gain * seek * towards;
        // An obstacle counts only within the reach of its terms.
        let (reach, width) = (OBSTACLE_DISTANCE.knots[2], OBSTACLE_ANGLE.knots[2]);
        let (distance, angle) = (input.obstacle_distance, input.obstacle_angle);
        if distance < reach && angle.abs() < width {
            let avoid = avoid_speed.output(distance, angle.abs(), self.aggregation);
            fraction = fraction.min(avoid);
            let turn = avoid_steer.output(distance, angle.abs(), self.aggregation);
            // Straight ahead counts as on the right: away from it is to the left.
            factor -= self.avoid_gain * turn * if angle > 0.0 { 1.0 } else { -1.0 };
        }
        let allowed = input
            .road_speed
            .min(halting_speed(input, self.braking, self.reaction));
        let commanded = fraction * allowed;
        // The commanded turn rate belongs to the commanded speed: below it the same curve is
        // driven, above it the same rate is kept.
        let curvature = factor * commanded / input.speed.max(commanded).max(0.1);
        ControllerOutput {
            acceleration: ((commanded - input.speed) / self.speed_time)
                .clamp(-MOST_ACCELERATION, MOST_ACCELERATION),
            steering: atan(input.wheelbase * curvature),
        }
    }
}

impl FuzzyDriver {
    /// The module as it is registered.
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
        Lookahead {
            time: parameters.value("lookahead_time"),
            distance: parameters.value("lookahead_distance"),
        }
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
        // Another rule, which does not fire here.
        module
            .parameters
            .set("rule_route_steer_mid_far", 6.0)
            .unwrap();
        assert_eq!(answer(&module), printed);
        // FULL is 0.08: twice the printed SHARP.
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
