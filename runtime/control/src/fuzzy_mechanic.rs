//! The fuzzy mechanic of [Gerdelan 2011], chapter 12: brake, throttle and steering on open ground.

use crate::fuzzy::{
    Aggregation, COLLISION_TIME, FuzzyController, GOAL_ANGLE, GOAL_DISTANCE, MECHANIC,
    MECHANIC_RULE_COUNT, MECHANIC_RULES, SPEED, THREAT_ANGLE, Variable, joined, with_rules_of,
};
use crate::laws::halting_speed;
use roadwright_agent::{
    Controller, Logic, Lookahead, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Step,
};
use roadwright_plugin_api::{
    ControllerInput, ControllerOutput, NOTHING, PedalsInput, PedalsOutput,
};

static INFO: ModuleInfo = ModuleInfo {
    id: "fuzzy_mechanic",
    name: "Fuzzy mechanic",
    doc: "Drives to its goal over open ground and avoids obstacles with six fuzzy rule tables and switches.",
};

/// Number of parameters that precede the knots.
const PLAIN: usize = 11;
/// Number of knots of the five variables.
const KNOTS: usize = 15;
/// Number of parameters that precede the rules.
const FIRST_RULE: usize = PLAIN + KNOTS;

/// Minimum distance between the knots of a variable, in its unit. Knots that are closer to each other are
/// moved apart.
const LEAST_APART: f64 = 0.01;

const fn knot(
    key: &'static str,
    unit: &'static str,
    max: f64,
    default: f64,
    doc: &'static str,
) -> ParameterInfo {
    ParameterInfo::number(key, unit, (0.0, max), default, doc)
}

const GAINS_AND_KNOTS: [ParameterInfo; FIRST_RULE] = [
    ParameterInfo::choice(
        "aggregation",
        &["max", "sum"],
        "Method of combining rules with the same output term.",
    ),
    ParameterInfo::number(
        "full_throttle",
        "m/s^2",
        (0.1, 10.0),
        2.0,
        "Acceleration at full throttle.",
    ),
    ParameterInfo::number(
        "full_brake",
        "m/s^2",
        (0.5, 12.0),
        6.0,
        "Deceleration at full brake.",
    ),
    ParameterInfo::number(
        "full_lock",
        "rad",
        (0.05, 1.5),
        0.55,
        "Angle of the front wheels at full lock.",
    ),
    ParameterInfo::number(
        "throttle_cut",
        "",
        (0.0, 1.0),
        0.05,
        "Switch S1: brake output above which the throttle is closed.",
    ),
    ParameterInfo::number(
        "avoid_brake_cut",
        "",
        (0.0, 1.0),
        0.05,
        "Switch S3: brake output above which avoidance alone controls brake and throttle.",
    ),
    ParameterInfo::number(
        "avoid_steer_cut",
        "",
        (0.0, 1.0),
        0.1,
        "Switch S3: steering output above which avoidance alone controls the steering.",
    ),
    ParameterInfo::number(
        "lookahead_distance",
        "m",
        (0.5, 100.0),
        20.0,
        "Distance to the waypoint on a road or path.",
    ),
    ParameterInfo::number(
        "speed_time",
        "s",
        (0.05, 10.0),
        0.5,
        "Time constant for reducing excess speed.",
    ),
    ParameterInfo::number(
        "reaction",
        "s",
        (0.0, 3.0),
        0.3,
        "Reaction time before braking for obstacles on the path.",
    ),
    ParameterInfo::choice(
        "pedals",
        &["off", "on"],
        "Whether the throttle and brake outputs are passed directly to the vehicle's pedals.",
    ),
    knot(
        "distance_near",
        "m",
        100.0,
        GOAL_DISTANCE.knots[0],
        "Distance to the waypoint that counts as \"near\".",
    ),
    knot(
        "distance_medium",
        "m",
        100.0,
        GOAL_DISTANCE.knots[1],
        "Distance to the waypoint that counts as \"medium\".",
    ),
    knot(
        "distance_far",
        "m",
        100.0,
        GOAL_DISTANCE.knots[2],
        "Distance to the waypoint that counts as \"far\".",
    ),
    knot(
        "speed_slow",
        "m/s",
        40.0,
        SPEED.knots[0],
        "Speed that counts as \"slow\".",
    ),
    knot(
        "speed_medium",
        "m/s",
        40.0,
        SPEED.knots[1],
        "Speed that counts as \"medium\".",
    ),
    knot(
        "speed_fast",
        "m/s",
        40.0,
        SPEED.knots[2],
        "Speed that counts as \"fast\".",
    ),
    knot(
        "angle_narrow",
        "rad",
        3.2,
        GOAL_ANGLE.knots[0],
        "Angle to the waypoint that counts as \"narrow\".",
    ),
    knot(
        "angle_mid",
        "rad",
        3.2,
        GOAL_ANGLE.knots[1],
        "Angle to the waypoint that counts as \"mid\".",
    ),
    knot(
        "angle_wide",
        "rad",
        3.2,
        GOAL_ANGLE.knots[2],
        "Angle to the waypoint that counts as \"wide\".",
    ),
    knot(
        "time_soon",
        "s",
        20.0,
        COLLISION_TIME.knots[0],
        "Time to collision that counts as \"soon\".",
    ),
    knot(
        "time_medium",
        "s",
        20.0,
        COLLISION_TIME.knots[1],
        "Time to collision that counts as \"medium\".",
    ),
    knot(
        "time_late",
        "s",
        20.0,
        COLLISION_TIME.knots[2],
        "Time to collision that counts as \"late\".",
    ),
    knot(
        "threat_narrow",
        "rad",
        3.2,
        THREAT_ANGLE.knots[0],
        "Angle to the obstacle that counts as \"narrow\".",
    ),
    knot(
        "threat_mid",
        "rad",
        3.2,
        THREAT_ANGLE.knots[1],
        "Angle to the obstacle that counts as \"mid\".",
    ),
    knot(
        "threat_wide",
        "rad",
        3.2,
        THREAT_ANGLE.knots[2],
        "Angle to the obstacle that counts as \"wide\".",
    ),
];

static PARAMETERS: [ParameterInfo; FIRST_RULE + MECHANIC_RULE_COUNT] =
    joined(GAINS_AND_KNOTS, MECHANIC_RULES);

/// Four fuzzy tables that seek the goal and two that avoid the nearest obstacle, combined by three switches
/// ([Gerdelan 2011], figures 12.3 and 12.4, algorithm 3).
///
/// ```text
/// distance, speed ----> arrive brake --\
///                                       S2: the larger --\
/// speed, angle -------> turn brake ----/                  S1: a brake closes the throttle --\
/// angle, distance ----> seek throttle -------------------/                                   \
/// angle, speed -------> seek steer ----------------------------------------------------------- S3
/// time, angle of the obstacle --> avoid brake, avoid steer -----------------------------------/
/// ```
///
/// The outputs are fractions of full braking, full throttle and steering lock. The time to collision is the
/// distance of the nearest obstacle divided by the vehicle's speed. On roads, which the source does not
/// cover, the vehicle keeps the allowed speed and stops behind its leader and at closed junctions.
///
/// In the source, brake and throttle are the pedals of a car with an engine. With `pedals`, they are passed
/// on directly. Otherwise they are fractions of accelerations, which the vehicle's actuators convert to
/// pedals.
pub struct FuzzyMechanic;

/// Parameter values of the fuzzy mechanic for one batch.
struct Settings {
    aggregation: Aggregation,
    full: Full,
    throttle_cut: f64,
    avoid_brake_cut: f64,
    avoid_steer_cut: f64,
    speed_time: f64,
    reaction: f64,
    /// Tables in the order of [`crate::fuzzy::MECHANIC`].
    tables: [FuzzyController; 6],
}

/// Throttle, brake and steering angle that correspond to table outputs of 1.
struct Full {
    throttle: f64,
    brake: f64,
    lock: f64,
}

/// Brake and throttle, 0 to 1, and steering as a fraction of the lock, -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shares {
    brake: f64,
    throttle: f64,
    steer: f64,
}

impl Settings {
    fn new(parameters: &ParameterSet) -> Self {
        let value = |key| parameters.value(key);
        let knots = |first: usize| [0, 1, 2].map(|knot| parameters.at(PLAIN + first + knot));
        let [distance, speed, angle, time, threat] = [0, 3, 6, 9, 12].map(knots).map(in_order);
        let mut tables = with_rules_of(parameters, FIRST_RULE, MECHANIC);
        // Columns and rows of each table, in the order of `MECHANIC`. Several tables share a variable, so its
        // knots are parameters only once.
        let inputs = [
            (speed, distance),
            (speed, angle),
            (distance, angle),
            (speed, angle),
            (time, threat),
            (time, threat),
        ];
        let with = |variable: &Variable, knots| Variable { knots, ..*variable };
        for (table, (columns, rows)) in tables.iter_mut().zip(inputs) {
            table.distance = with(&table.distance, columns);
            table.angle = with(&table.angle, rows);
        }
        Self {
            aggregation: if value("aggregation") == 0.0 {
                Aggregation::Max
            } else {
                Aggregation::Sum
            },
            full: Full {
                throttle: value("full_throttle"),
                brake: value("full_brake"),
                lock: value("full_lock"),
            },
            throttle_cut: value("throttle_cut"),
            avoid_brake_cut: value("avoid_brake_cut"),
            avoid_steer_cut: value("avoid_steer_cut"),
            speed_time: value("speed_time"),
            reaction: value("reaction"),
            tables,
        }
    }

    /// Seeks the goal without avoidance, with the switches S2 and S1 (figure 12.3).
    fn seek(&self, input: &ControllerInput) -> Shares {
        let [arrive_brake, turn_brake, throttle, steer, ..] = &self.tables;
        let (distance, speed) = (input.waypoint_distance, input.speed.max(0.0));
        let angle = input.waypoint_angle.abs();
        let s2 = arrive_brake
            .output(speed, distance, self.aggregation)
            .max(turn_brake.output(speed, angle, self.aggregation));
        let throttle = throttle.output(distance, angle, self.aggregation);
        Shares {
            brake: s2,
            throttle: if s2 > self.throttle_cut {
                0.0
            } else {
                throttle
            },
            steer: side(input.waypoint_angle) * steer.output(speed, angle, self.aggregation),
        }
    }

    /// Combines seeking and avoidance. Switch S3 gives priority to avoidance (figure 12.4,
    /// algorithm 3).
    fn drive(&self, input: &ControllerInput) -> Shares {
        let mut shares = self.seek(input);
        if input.obstacle_distance >= NOTHING {
            return shares;
        }
        let [.., brake, steer] = &self.tables;
        let time = input.obstacle_distance / input.speed.max(0.1);
        let angle = input.obstacle_angle.abs();
        let brake = brake.output(time, angle, self.aggregation);
        let steer = steer.output(time, angle, self.aggregation);
        if brake > self.avoid_brake_cut {
            (shares.throttle, shares.brake) = (0.0, brake);
        }
        if steer > self.avoid_steer_cut {
            // An obstacle straight ahead counts as being on the right, so that the vehicle avoids it to the
            // left.
            let away = if input.obstacle_angle > 0.0 {
                -1.0
            } else {
                1.0
            };
            shares.steer = away * steer;
        }
        shares
    }

    /// Converts the fractions to an acceleration and a steering angle, so that the vehicle stays within the
    /// allowed speed.
    fn command(&self, input: &ControllerInput) -> ControllerOutput {
        let shares = self.drive(input);
        let wanted = shares.throttle * self.full.throttle - shares.brake * self.full.brake;
        ControllerOutput {
            // Above the allowed speed any deceleration may be requested, up to the full brake.
            acceleration: wanted.min(self.most(input)).max(-self.full.brake),
            steering: shares.steer * self.full.lock,
        }
    }

    /// Maximum acceleration that keeps the vehicle within the allowed speed, m/s^2.
    fn most(&self, input: &ControllerInput) -> f64 {
        let allowed = input
            .road_speed
            .min(halting_speed(input, self.full.brake, self.reaction));
        (allowed - input.speed) / self.speed_time
    }

    /// Converts the fractions to pedals. If they would exceed the acceleration for the allowed speed, the
    /// pedals for that acceleration are used instead.
    fn press(&self, input: &PedalsInput) -> PedalsOutput {
        let shares = self.drive(&input.seen);
        let most = self.most(&input.seen);
        let (mut throttle, mut brake) = (shares.throttle, shares.brake);
        if input.drive.acceleration(throttle, brake) > most {
            (throttle, brake) = input.drive.pedals(most);
        }
        PedalsOutput {
            throttle,
            brake,
            steering: shares.steer * self.full.lock,
            ..PedalsOutput::default()
        }
    }
}

/// Returns the side of an angle: 1 to the left, -1 to the right, 0 straight ahead.
fn side(angle: f64) -> f64 {
    if angle == 0.0 { 0.0 } else { angle.signum() }
}

/// Sorts knots in increasing order and moves them apart, because training may have disordered them.
fn in_order(mut knots: [f64; 3]) -> [f64; 3] {
    knots.sort_by(f64::total_cmp);
    knots[1] = knots[1].max(knots[0] + LEAST_APART);
    knots[2] = knots[2].max(knots[1] + LEAST_APART);
    knots
}

impl FuzzyMechanic {
    /// Returns the registry entry of the module.
    pub fn entry() -> ModuleEntry<dyn Controller> {
        ModuleEntry::<dyn Controller>::new(INFO, &PARAMETERS, || Box::new(Self))
    }
}

impl Logic for FuzzyMechanic {}

impl Controller for FuzzyMechanic {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[ControllerInput],
        outputs: &mut [ControllerOutput],
    ) {
        let settings = Settings::new(parameters);
        for (input, output) in inputs.iter().zip(outputs) {
            *output = settings.command(input);
        }
    }

    fn wants_pedals(&self, parameters: &ParameterSet) -> bool {
        parameters.value("pedals") != 0.0
    }

    fn drive(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[PedalsInput],
        outputs: &mut [PedalsOutput],
    ) {
        let settings = Settings::new(parameters);
        for (input, output) in inputs.iter().zip(outputs) {
            *output = settings.press(input);
        }
    }

    fn lookahead(&self, parameters: &ParameterSet) -> Lookahead {
        Lookahead {
            time: 0.0,
            distance: parameters.value("lookahead_distance"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn input() -> ControllerInput {
        ControllerInput {
            speed: 5.0,
            road_speed: 8.0,
            wheelbase: 2.45,
            waypoint_distance: 60.0,
            leader_gap: NOTHING,
            stop_distance: NOTHING,
            obstacle_distance: NOTHING,
            ..ControllerInput::default()
        }
    }

    fn drive(set: &[(&str, f64)], change: impl FnOnce(&mut ControllerInput)) -> ControllerOutput {
        let mut input = input();
        change(&mut input);
        let mut module = FuzzyMechanic::entry().make();
        for (key, value) in set {
            module.parameters.set(key, *value).unwrap();
        }
        let mut outputs = [ControllerOutput::default()];
        module.step(&Step::default(), &[input], &mut outputs);
        outputs[0]
    }

    #[test]
    fn a_free_road_is_driven_with_the_whole_throttle_up_to_the_allowed_speed() {
        assert_eq!(drive(&[], |_| ()).acceleration, 2.0);
        assert_eq!(drive(&[], |_| ()).steering, 0.0);
        assert!(drive(&[], |i| i.speed = 8.0).acceleration <= 0.0);
        assert!(drive(&[], |i| i.speed = 10.0).acceleration < 0.0);
    }

    #[test]
    fn it_turns_towards_the_goal_and_away_from_obstacles_on_either_side() {
        for side in [1.0, -1.0] {
            let seek = drive(&[], |i| i.waypoint_angle = side * 0.5);
            assert!(seek.steering * side > 0.0);
            let avoid = drive(&[], |i| {
                (i.obstacle_distance, i.obstacle_angle) = (6.0, side * 0.3);
            });
            assert!(avoid.steering * side < 0.0);
        }
    }

    #[test]
    fn with_pedals_the_tables_press_them_and_the_allowed_speed_holds_them_back() {
        let mut module = FuzzyMechanic::entry().make();
        assert!(!module.wants_pedals());
        module.parameters.set("pedals", 1.0).unwrap();
        assert!(module.wants_pedals());
        let press = |set: &[(&str, f64)], road_speed: f64| {
            let mut module = FuzzyMechanic::entry().make();
            for (key, value) in set {
                module.parameters.set(key, *value).unwrap();
            }
            let input = PedalsInput {
                seen: ControllerInput {
                    road_speed,
                    ..input()
                },
                drive: roadwright_plugin_api::DriveInput {
                    full_throttle: 3.0,
                    coasting: -0.4,
                    full_brake: -9.0,
                    ..Default::default()
                },
            };
            let mut outputs = [PedalsOutput::default()];
            module.drive(&Step::default(), &[input], &mut outputs);
            (input, outputs[0])
        };
        // The accelerations of full pedals do not matter here.
        let (_, free) = press(&[("full_throttle", 0.5)], 8.0);
        assert_eq!((free.throttle, free.brake), (1.0, 0.0));
        let (_, braked) = press(&[("rule_turn_brake_narrow_medium", 2.0)], 8.0);
        assert_eq!((braked.throttle, braked.brake), (0.0, 0.5));
        // 0.5 m/s are left, which takes half a second.
        let (input, held) = press(&[], 5.5);
        let given = input.drive.acceleration(held.throttle, held.brake);
        assert!((given - 1.0).abs() < 1e-12, "{held:?}");
        assert!(press(&[], 4.0).1.brake > 0.1);
    }

    #[test]
    fn switch_1_closes_the_throttle_over_its_threshold() {
        // Straight ahead, far and at medium speed, but with a rule that brakes lightly there: 0.25 of 6
        // m/s^2.
        let brakes = ("rule_turn_brake_narrow_medium", 1.0);
        assert_eq!(drive(&[brakes], |_| ()).acceleration, -0.25 * 6.0);
        let deaf = [brakes, ("throttle_cut", 0.25)];
        assert_eq!(drive(&deaf, |_| ()).acceleration, 2.0 - 0.25 * 6.0);
    }

    #[test]
    fn switch_2_takes_the_larger_brake() {
        let at = |arrive, turn| {
            let set = [
                ("rule_turn_brake_narrow_medium", turn),
                ("rule_arrive_brake_far_medium", arrive),
            ];
            drive(&set, |_| ()).acceleration
        };
        assert_eq!(at(2.0, 1.0), -3.0);
        assert_eq!(at(1.0, 2.0), -3.0);
        assert_eq!(at(2.0, 2.0), -3.0, "the larger and not the sum");
    }

    #[test]
    fn switch_3_lets_avoiding_decide_only_over_its_thresholds() {
        // A time to collision of 0.3 s straight ahead fires the rules narrow, soon.
        let ahead = |i: &mut ControllerInput| (i.obstacle_distance, i.waypoint_angle) = (1.5, -0.4);
        let both = drive(&[], ahead);
        // Half brake, no throttle and full lock to the left, although seeking would steer right.
        assert_eq!(both.acceleration, -3.0);
        assert!((both.steering - 0.55).abs() < 1e-12);
        let no_brake = drive(&[("avoid_brake_cut", 0.5)], ahead);
        assert!(no_brake.acceleration > 0.0, "seeking decides");
        let no_steer = drive(&[("avoid_steer_cut", 1.0)], ahead);
        assert!(no_steer.steering < 0.0, "seeking decides");
        assert_eq!(no_steer.acceleration, both.acceleration, "each for itself");
    }

    #[test]
    fn it_halts_behind_leaders_and_at_stop_lines() {
        assert_eq!(drive(&[], |i| i.stop_distance = 0.4).acceleration, -6.0);
        assert_eq!(drive(&[], |i| i.leader_gap = 1.0).acceleration, -6.0);
    }

    proptest! {
        #[test]
        fn whatever_it_is_told_and_trained_it_stays_within_its_brake_and_lock(
            speed in -5.0..50.0f64, distance in 0.0..200.0f64, angle in -3.2..3.2f64,
            obstacle in prop_oneof![Just(NOTHING), 0.0..30.0f64], beside in -1.3..1.3f64,
            knots in prop::array::uniform3(0.0..20.0f64),
        ) {
            let set = [("time_soon", knots[0]), ("time_medium", knots[1]), ("time_late", knots[2])];
            let output = drive(&set, |i| {
                (i.speed, i.waypoint_distance, i.waypoint_angle) = (speed, distance, angle);
                (i.obstacle_distance, i.obstacle_angle) = (obstacle, beside);
            });
            prop_assert!((-6.0..=2.0).contains(&output.acceleration), "{output:?}");
            prop_assert!(output.steering.abs() <= 0.55 + 1e-12, "{output:?}");
        }
    }
}
