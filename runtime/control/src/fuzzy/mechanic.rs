//! The rule tables of the fuzzy mechanic ([Gerdelan 2011], figures 12.3 and 12.4), and its rules as
//! parameters. Each rule is a parameter whose possible values are the output terms.
//!
//! The source prints the inputs and outputs of the six tables but not their rules, so the rules
//! here were made by hand. As in the other tables, the input of the columns is called `distance`
//! and the input of the rows `angle`, even if they are other quantities.

use super::tables::term;
use super::{FuzzyController, OutputTerm, RulePlace, Variable};
use roadwright_agent::{ParameterInfo, ParameterKind};

/// Number of rules in all six tables.
pub const MECHANIC_RULE_COUNT: usize = MECHANIC.len() * RulePlace::IN_TABLE;

/// Distance to the goal or waypoint, m.
pub const GOAL_DISTANCE: Variable = Variable {
    name: "distance",
    unit: "m",
    terms: ["NEAR", "MEDIUM", "FAR"],
    knots: [2.0, 8.0, 20.0],
};

/// Own speed, m/s.
pub const SPEED: Variable = Variable {
    name: "speed",
    unit: "m/s",
    terms: ["SLOW", "MEDIUM", "FAST"],
    knots: [2.0, 5.0, 7.0],
};

/// Angle to the goal or waypoint, rad.
pub const GOAL_ANGLE: Variable = Variable {
    name: "angle",
    unit: "rad",
    terms: ["NARROW", "MID", "WIDE"],
    knots: [0.0, 0.4, 1.2],
};

/// Time to collision with the nearest obstacle at the current speed, s.
pub const COLLISION_TIME: Variable = Variable {
    name: "time",
    unit: "s",
    terms: ["SOON", "MEDIUM", "LATE"],
    knots: [0.3, 1.0, 2.2],
};

/// Angle to the nearest obstacle, rad.
pub const THREAT_ANGLE: Variable = Variable {
    name: "angle",
    unit: "rad",
    terms: ["NARROW", "MID", "WIDE"],
    knots: [0.2, 0.4, 1.05],
};

/// Output terms of all tables, as fractions of full braking, full throttle or steering lock.
const SHARES: &[OutputTerm] = &[
    term("ZERO", 0.0),
    term("LIGHT", 0.25),
    term("MEDIUM", 0.5),
    term("HARD", 0.75),
    term("FULL", 1.0),
];
/// Names of the terms of `SHARES`.
const WORDS: [&str; 5] = ["ZERO", "LIGHT", "MEDIUM", "HARD", "FULL"];

/// Rule table for braking before the goal. Rows: distance near, medium, far; columns: speed slow, medium,
/// fast.
const ARRIVE_BRAKE: FuzzyController = FuzzyController {
    name: "fuzzy_mechanic.arrive.brake",
    output: "brake, 0 to 1",
    distance: SPEED,
    angle: GOAL_DISTANCE,
    terms: SHARES,
    rules: [[0, 1, 2], [0, 0, 1], [0, 0, 0]],
};

/// Rule table for braking before a sharp turn. Rows: angle; columns: speed.
const TURN_BRAKE: FuzzyController = FuzzyController {
    name: "fuzzy_mechanic.turn.brake",
    output: "brake, 0 to 1",
    distance: SPEED,
    angle: GOAL_ANGLE,
    terms: SHARES,
    rules: [[0, 0, 1], [0, 0, 1], [0, 1, 2]],
};

/// Rule table for the throttle. Rows: angle; columns: distance.
const SEEK_THROTTLE: FuzzyController = FuzzyController {
    name: "fuzzy_mechanic.seek.throttle",
    output: "throttle, 0 to 1",
    distance: GOAL_DISTANCE,
    angle: GOAL_ANGLE,
    terms: SHARES,
    rules: [[1, 3, 4], [1, 2, 3], [1, 1, 2]],
};

/// Rule table for steering towards the goal. Rows: angle; columns: speed.
const SEEK_STEER: FuzzyController = FuzzyController {
    name: "fuzzy_mechanic.seek.steer",
    output: "fraction of the steering lock",
    distance: SPEED,
    angle: GOAL_ANGLE,
    terms: SHARES,
    rules: [[0, 0, 0], [1, 2, 2], [2, 3, 2]],
};

/// Rule table for braking before an obstacle. Rows: angle; columns: time to collision.
const AVOID_BRAKE: FuzzyController = FuzzyController {
    name: "fuzzy_mechanic.avoid.brake",
    output: "brake, 0 to 1",
    distance: COLLISION_TIME,
    angle: THREAT_ANGLE,
    terms: SHARES,
    rules: [[2, 0, 0], [0, 0, 0], [0, 0, 0]],
};

/// Rule table for steering away from an obstacle. Rows: angle; columns: time to collision.
const AVOID_STEER_IN_TIME: FuzzyController = FuzzyController {
    name: "fuzzy_mechanic.avoid.steer",
    output: "fraction of the steering lock",
    distance: COLLISION_TIME,
    angle: THREAT_ANGLE,
    terms: SHARES,
    rules: [[4, 4, 3], [4, 3, 1], [2, 0, 0]],
};

/// Tables of the fuzzy mechanic, in the order of its chromosome.
pub const MECHANIC: [&FuzzyController; 6] = [
    &ARRIVE_BRAKE,
    &TURN_BRAKE,
    &SEEK_THROTTLE,
    &SEEK_STEER,
    &AVOID_BRAKE,
    &AVOID_STEER_IN_TIME,
];

/// Expands to the key and description of each of the nine rules of a table.
macro_rules! nine_rules {
    ($table:literal, $what:literal, $rows:literal ($a:literal, $b:literal, $c:literal),
     $columns:literal $ends:tt) => {
        [
            nine_rules!(@row $table, $what, $rows $a, $columns $ends),
            nine_rules!(@row $table, $what, $rows $b, $columns $ends),
            nine_rules!(@row $table, $what, $rows $c, $columns $ends),
        ]
    };
    (@row $table:literal, $what:literal, $rows:literal $row:literal,
     $columns:literal ($x:literal, $y:literal, $z:literal)) => {
        [
            nine_rules!(@rule $table, $what, $rows $row, $columns $x),
            nine_rules!(@rule $table, $what, $rows $row, $columns $y),
            nine_rules!(@rule $table, $what, $rows $row, $columns $z),
        ]
    };
    (@rule $table:literal, $what:literal, $rows:literal $row:literal, $columns:literal $column:literal) => {
        (
            concat!("rule_", $table, "_", $row, "_", $column),
            concat!($what, " if ", $rows, " is ", $row, " and ", $columns, " ", $column, "."),
        )
    };
}

/// Key and description of each rule, by table, row and column.
const RULE_WORDS: [[[(&str, &str); 3]; 3]; 6] = [
    nine_rules!(
        "arrive_brake",
        "Brake",
        "the distance to the waypoint"("near", "medium", "far"),
        "the speed"("slow", "medium", "fast")
    ),
    nine_rules!(
        "turn_brake",
        "Brake",
        "the angle to the waypoint"("narrow", "mid", "wide"),
        "the speed"("slow", "medium", "fast")
    ),
    nine_rules!(
        "seek_throttle",
        "Throttle",
        "the angle to the waypoint"("narrow", "mid", "wide"),
        "the distance"("near", "medium", "far")
    ),
    nine_rules!(
        "seek_steer",
        "Steer",
        "the angle to the waypoint"("narrow", "mid", "wide"),
        "the speed"("slow", "medium", "fast")
    ),
    nine_rules!(
        "avoid_brake",
        "Brake",
        "the angle to the obstacle"("narrow", "mid", "wide"),
        "the time to collision"("soon", "medium", "late")
    ),
    nine_rules!(
        "avoid_steer",
        "Steer away",
        "the angle to the obstacle"("narrow", "mid", "wide"),
        "the time to collision"("soon", "medium", "late")
    ),
];

const fn rule(number: usize) -> ParameterInfo {
    let RulePlace { table, row, column } = RulePlace::of(number);
    let (key, doc) = RULE_WORDS[table][row][column];
    ParameterInfo {
        key,
        unit: "",
        kind: ParameterKind::Choice(&WORDS),
        min: 0.0,
        max: WORDS.len() as f64 - 1.0,
        default: MECHANIC[table].rules[row][column] as f64,
        doc,
        cell: None,
    }
}

/// The rules of [`MECHANIC`] as parameters.
pub(crate) const MECHANIC_RULES: [ParameterInfo; MECHANIC_RULE_COUNT] = {
    let mut all = [rule(0); MECHANIC_RULE_COUNT];
    let mut number = 1;
    while number < MECHANIC_RULE_COUNT {
        all[number] = rule(number);
        number += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_named_by_the_terms_of_their_table() {
        let names: Vec<_> = SHARES.iter().map(|term| term.name).collect();
        assert_eq!(names, WORDS);
        for (table, rows) in MECHANIC.iter().zip(&RULE_WORDS) {
            for (row, columns) in table.angle.terms.iter().zip(rows) {
                for (column, (key, doc)) in table.distance.terms.iter().zip(columns) {
                    let end = format!("_{}_{}", row.to_lowercase(), column.to_lowercase());
                    assert!(key.ends_with(&end), "{key} {end}");
                    assert!(doc.contains(&row.to_lowercase()), "{doc}");
                }
            }
        }
        let keys = (0..MECHANIC_RULE_COUNT).map(|number| rule(number).key);
        let keys: std::collections::BTreeSet<_> = keys.collect();
        assert_eq!(keys.len(), MECHANIC_RULE_COUNT);
    }
}
