//! The rule tables of the fuzzy traffic driver: [Gerdelan 2011], tables 8.1 to 8.8.

use super::{FuzzyController, OutputTerm, Variable};

/// Angle to the waypoint (table 8.1).
pub const ROUTE_ANGLE: Variable = Variable {
    name: "angle",
    unit: "rad",
    terms: ["NARROW", "MID", "WIDE"],
    knots: [0.2, 0.4, 0.6],
};

/// Distance to the waypoint (table 8.1).
pub const ROUTE_DISTANCE: Variable = Variable {
    name: "distance",
    unit: "m",
    terms: ["NEAR", "MEDIUM", "FAR"],
    knots: [0.0, 20.0, 28.28],
};

/// Angle to the obstacle (table 8.2).
pub const OBSTACLE_ANGLE: Variable = Variable {
    knots: [0.4, 0.8, 1.2],
    ..ROUTE_ANGLE
};

/// Distance to the obstacle (table 8.2).
pub const OBSTACLE_DISTANCE: Variable = Variable {
    knots: [0.0, 14.14, 28.28],
    ..ROUTE_DISTANCE
};

pub(super) const fn term(name: &'static str, value: f64) -> OutputTerm {
    OutputTerm { name, value }
}

/// Fractions of the allowed speed (tables 8.3 and 8.4).
const SPEEDS: &[OutputTerm] = &[
    term("STOP", 0.0),
    term("VERY SLOW", 0.2),
    term("SLOW", 0.4),
    term("MEDIUM", 0.6),
    term("FAST", 0.8),
    term("TOP", 1.0),
];

/// Turn rate of route following per commanded speed, rad/s per m/s (table 8.3).
const ROUTE_TURNS: &[OutputTerm] = &[
    term("NO TURN", 0.0),
    term("VERY LIGHT", 0.005),
    term("LIGHT", 0.01),
    term("MEDIUM", 0.02),
    term("SHARP", 0.04),
    term("VERY SHARP", 0.06),
    term("FULL", 0.08),
];

/// Turn rate of obstacle avoidance per commanded speed, rad/s per m/s (table 8.4).
const AVOID_TURNS: &[OutputTerm] = &[
    term("NO TURN", 0.0),
    term("VERY LIGHT", 0.01),
    term("LIGHT", 0.02),
    term("MEDIUM", 0.04),
    term("SHARP", 0.08),
    term("VERY SHARP", 0.12),
    term("FULL", 0.16),
];

// The tables below are laid out as printed: rows by angle, columns by distance, with a term of the output in
// each cell. Speed of route following, table 8.7:
//
//             NEAR        MEDIUM   FAR
//   NARROW    VERY SLOW   FAST     TOP        straight ahead and far: top speed
//   MID       VERY SLOW   MEDIUM   FAST
//   WIDE      VERY SLOW   SLOW     MEDIUM     far to the side: slow down to turn

// Indices of the speeds.
const ZER: usize = 0;
const VSL: usize = 1;
const SLO: usize = 2;
const MED: usize = 3;
const FAS: usize = 4;
const TOP: usize = 5;

// Indices of the turns.
const NONE: usize = 0;
const VLI: usize = 1;
const LIG: usize = 2;
const MID: usize = 3;
const SHA: usize = 4;

/// Speed of route following (table 8.7). Rows: angle narrow, mid, wide; columns: near, medium, far.
pub const ROUTE_SPEED: FuzzyController = FuzzyController {
    name: "fuzzy_driver.route.speed",
    output: "fraction of the allowed speed",
    distance: ROUTE_DISTANCE,
    angle: ROUTE_ANGLE,
    terms: SPEEDS,
    rules: [[VSL, FAS, TOP], [VSL, MED, FAS], [VSL, SLO, MED]],
};

/// Steering of route following (table 8.8).
pub const ROUTE_STEER: FuzzyController = FuzzyController {
    name: "fuzzy_driver.route.steer",
    output: "turn rate per unit of speed, 1/m",
    distance: ROUTE_DISTANCE,
    angle: ROUTE_ANGLE,
    terms: ROUTE_TURNS,
    rules: [[NONE, VLI, LIG], [VLI, LIG, MID], [LIG, MID, SHA]],
};

/// Speed of obstacle avoidance (table 8.5).
pub const AVOID_SPEED: FuzzyController = FuzzyController {
    name: "fuzzy_driver.avoid.speed",
    output: "fraction of the allowed speed",
    distance: OBSTACLE_DISTANCE,
    angle: OBSTACLE_ANGLE,
    terms: SPEEDS,
    rules: [[ZER, VSL, ZER], [VSL, SLO, MED], [SLO, MED, FAS]],
};

/// Steering of obstacle avoidance (table 8.6).
pub const AVOID_STEER: FuzzyController = FuzzyController {
    name: "fuzzy_driver.avoid.steer",
    output: "turn rate per unit of speed, 1/m",
    distance: OBSTACLE_DISTANCE,
    angle: OBSTACLE_ANGLE,
    terms: AVOID_TURNS,
    rules: [[SHA, MID, VLI], [MID, VLI, NONE], [VLI, NONE, NONE]],
};

/// The four controllers of the fuzzy driver.
pub const CONTROLLERS: [&FuzzyController; 4] =
    [&ROUTE_SPEED, &ROUTE_STEER, &AVOID_SPEED, &AVOID_STEER];

/// Returns the fuzzy controller with the given full name; `None` if there is none.
pub fn controller(name: &str) -> Option<&'static FuzzyController> {
    CONTROLLERS
        .into_iter()
        .find(|controller| controller.name == name)
}
