//! Built-in fitness functions. Each states whether lower scores are better. Scores of different
//! functions have different units and are never combined.

use roadwright_agent::{
    Conduct, Fitness, Logic, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Registry, Step,
};
use roadwright_plugin_api::{FitnessInput, FitnessOutput};

/// Adds the built-in fitness functions.
pub(crate) fn register(registry: &mut Registry) {
    for formula in &FORMULAS {
        let make = || Box::new(Formula(formula)) as Box<dyn Fitness>;
        registry.add(ModuleEntry::new(formula.info, formula.parameters, make));
    }
}

/// A score computed from the statistics of a drive.
type Score = fn(&ParameterSet, &FitnessInput, &Conduct) -> f64;

/// A fitness function with its registration data.
struct Described {
    info: ModuleInfo,
    parameters: &'static [ParameterInfo],
    score: Score,
    /// Optional statistics that the fitness function needs.
    wants: Wants,
    /// Whether lower scores are better.
    is_cost: bool,
}

/// Optional statistics that a fitness function requests. Others are not collected.
#[derive(Clone, Copy, PartialEq)]
enum Wants {
    Nothing,
    PostEncroachment,
    /// Collisions and the remaining distance.
    Arrival,
    Account,
}

// Each fitness function is a row of this table: its description, and a function of the statistics.
// None of them has state, so they share one type.
static FORMULAS: [Described; 18] = [
    Described {
        info: ModuleInfo {
            id: "crash_and_speed",
            name: "Crashes and speed",
            doc: "Mean squared penetration plus the shortfall from the allowed speed.",
        },
        parameters: &[
            weight("crash_weight", "1/m^2", "Weight of the crash rating."),
            weight("speed_weight", "", "Weight of the speed shortfall."),
        ],
        score: crash_and_speed,
        wants: Wants::Nothing,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "safe_arrival",
            name: "Safe arrival",
            doc: "Contacts, time lost, time above the speed limit, and whether the destination was \
                  reached.",
        },
        parameters: &[
            ParameterInfo::number(
                "contact_weight",
                "",
                (0.0, 1000.0),
                2.0,
                "Weight of contacts: one contact counts as 0.5, and many contacts approach 1.",
            ),
            weight("time_weight", "", "Weight of the share of time lost."),
            weight(
                "limit_weight",
                "",
                "Weight of the share of time above the speed limit.",
            ),
            ParameterInfo::number(
                "arrival_weight",
                "",
                (0.0, 1000.0),
                4.0,
                "Weight of a missed arrival. The penalty is 1, plus up to 1 for the remaining distance.",
            ),
        ],
        score: safe_arrival,
        wants: Wants::Arrival,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "time_above_limit",
            name: "Time above the limit",
            doc: "Share of time spent more than 5 % above the speed limit, or above the allowed speed on open ground.",
        },
        parameters: &[],
        score: time_above_limit,
        wants: Wants::Nothing,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "contacts",
            name: "Contacts",
            doc: "Number of contacts with obstacles and other vehicles.",
        },
        parameters: &[],
        score: contacts,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "comfort",
            name: "Comfort",
            doc: "Acceleration, jerk and lateral acceleration relative to comfortable values; 1 is \
                  the limit of comfort.",
        },
        parameters: &[
            ParameterInfo::number(
                "acceleration",
                "m/s^2",
                (0.1, 20.0),
                1.5,
                "Root-mean-square longitudinal acceleration that counts as comfortable.",
            ),
            ParameterInfo::number(
                "jerk",
                "m/s^3",
                (0.1, 100.0),
                2.0,
                "Root-mean-square longitudinal jerk that counts as comfortable.",
            ),
            ParameterInfo::number(
                "lateral_acceleration",
                "m/s^2",
                (0.1, 20.0),
                2.0,
                "Root-mean-square lateral acceleration that counts as comfortable.",
            ),
        ],
        score: comfort,
        wants: Wants::Nothing,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "safety",
            name: "Safety",
            doc: "Crashes, short times to collision, short headways, and near misses in junctions.",
        },
        parameters: &[
            weight("crash_weight", "1/m^2", "Weight of the crash rating."),
            weight(
                "collision_weight",
                "",
                "Weight of short times to collision, below 3 s.",
            ),
            weight("headway_weight", "", "Weight of short headways, below 1 s."),
            weight(
                "encroachment_weight",
                "",
                "Weight of the shortest post-encroachment time, below 1.5 s.",
            ),
        ],
        score: safety,
        wants: Wants::PostEncroachment,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "progress",
            name: "Progress",
            doc: "Share of time lost compared with driving at the allowed speed.",
        },
        parameters: &[],
        score: progress,
        wants: Wants::Nothing,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "rule_keeping",
            name: "Rule keeping",
            doc: "Speeding, driving off the lane, and being in junctions without a grant.",
        },
        parameters: &[
            weight(
                "speeding_weight",
                "",
                "Weight of the excess over the speed limit.",
            ),
            weight(
                "lane_weight",
                "",
                "Weight of the share of time off the lane.",
            ),
            weight(
                "junction_weight",
                "",
                "Weight of the share of time in junctions without a grant.",
            ),
        ],
        score: rule_keeping,
        wants: Wants::Nothing,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "time_times_overlap",
            name: "Time times overlap",
            doc: "Duration of the drive, multiplied by the overlap depth with vehicles and \
                  obstacles summed over time.",
        },
        parameters: &[],
        score: time_times_overlap,
        wants: Wants::Nothing,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "arena_score",
            name: "Arena score",
            doc: "Points for few crashes and a short drive; higher is better.",
        },
        parameters: ARENA_PARAMETERS,
        score: arena_score,
        wants: Wants::Nothing,
        is_cost: false,
    },
    Described {
        info: ModuleInfo {
            id: "arena_score_or_failed",
            name: "Arena score with failures",
            doc: "Arena score for drives that arrive, and -1 for all others; higher is better.",
        },
        parameters: ARENA_PARAMETERS,
        score: arena_score_or_failed,
        wants: Wants::Nothing,
        is_cost: false,
    },
    Described {
        info: ModuleInfo {
            id: "segments",
            name: "Route segments",
            doc: "Penetration per length plus speed shortfall, averaged over the segments of the route.",
        },
        parameters: &[
            weight(
                "crash_weight",
                "",
                "Weight of the mean penetration per length.",
            ),
            weight("time_weight", "", "Weight of the speed shortfall."),
        ],
        score: segments,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "forest_score",
            name: "Forest score",
            doc: "Duration of a drive that reaches its goal; otherwise a penalty plus the \
                  remaining distance.",
        },
        parameters: &[
            ParameterInfo::number(
                "time_limit",
                "s",
                (1.0, 3600.0),
                60.0,
                "Time limit for reaching the goal, and penalty for drives that do not reach it.",
            ),
            ParameterInfo::number(
                "goal_radius",
                "m",
                (0.0, 100.0),
                6.0,
                "Distance between body centre and goal within which the goal counts as reached.",
            ),
        ],
        score: forest_score,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "steer_bench",
            name: "SteerBench",
            doc: "Collisions, time, and kinetic energy of a unit mass over time, weighted 50, 1 and 1.",
        },
        parameters: &[
            ParameterInfo::number(
                "collision_weight",
                "",
                (0.0, 1000.0),
                50.0,
                "Weight of each collision.",
            ),
            weight("time_weight", "1/s", "Weight of the duration."),
            weight("energy_weight", "s/m^2", "Weight of the energy."),
        ],
        score: steer_bench,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "balance_score",
            name: "Balance",
            doc: "Shortfall of the drive's duration from the limit, plus the mean angle of the \
                  balanced pole.",
        },
        parameters: &[ParameterInfo::number(
            "time_limit",
            "s",
            (1.0, 3600.0),
            60.0,
            "Time for which the pole must be balanced.",
        )],
        score: balance_score,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "manoeuvre_score",
            name: "Manoeuvre",
            doc: "Duration of a manoeuvre (the limit if it fails), distance from the target, and shunts.",
        },
        parameters: &[
            ParameterInfo::number(
                "time_limit",
                "s",
                (1.0, 3600.0),
                90.0,
                "Time counted for a failed manoeuvre.",
            ),
            weight("distance_weight", "s/m", "Weight of the distance."),
            weight("shunt_weight", "s", "Weight of each shunt."),
        ],
        score: manoeuvre_score,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "path_error",
            name: "Path error",
            doc: "Root mean square of the rear axle's lateral offset from its lane or path, in m, after the first 10 s.",
        },
        parameters: &[],
        score: path_error,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "settled_speed",
            name: "Settled speed",
            doc: "Mean speed after the first 10 s, in m/s.",
        },
        parameters: &[],
        score: settled_speed,
        wants: Wants::Account,
        is_cost: false,
    },
];

const ARENA_PARAMETERS: &[ParameterInfo] = &[
    weight(
        "crash_weight",
        "1/(m s)",
        "Weight of the amount by which the overlap stays below the limit.",
    ),
    weight("time_weight", "1/s", "Weight of the remaining time."),
];

/// Post-encroachment time below which an encounter is risky, s [Allen 1978].
const RISKY_POST_ENCROACHMENT: f64 = 1.5;

const fn weight(key: &'static str, unit: &'static str, doc: &'static str) -> ParameterInfo {
    ParameterInfo::number(key, unit, (0.0, 1000.0), 1.0, doc)
}

/// [Gerdelan 2011], equation 10.1: weighted crash rating plus weighted shortfall from the allowed
/// speed.
///
/// The crash rating is a mean of squared penetrations, so it is not squared again. The allowed
/// speed depends on the road, its bends and the vehicle, even if the behaviour chooses a lower
/// speed. Driving faster than allowed does not improve the score.
fn crash_and_speed(parameters: &ParameterSet, input: &FitnessInput, _: &Conduct) -> f64 {
    let share = if input.mean_road_speed > 0.0 {
        (input.mean_speed / input.mean_road_speed).clamp(0.0, 1.0)
    } else {
        0.0
    };
    parameters.value("crash_weight") * input.crash_rating
        + parameters.value("speed_weight") * (1.0 - share)
}

/// At this remaining distance, the distance penalty is half of its maximum, m.
const FAR: f64 = 100.0;

/// Rates contacts, lost time, time above the limit, and the remaining distance of drives that do
/// not arrive.
///
/// With the default weights, every drive that arrives scores at most 4 and every other drive at
/// least 4. One contact costs as much as losing all of the time. Lost time is summed step by step,
/// so speeding on one stretch does not compensate for another. The weights have no source.
fn safe_arrival(parameters: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    let touched = conduct.collisions / (1.0 + conduct.collisions);
    let missed = if conduct.has_arrived() {
        0.0
    } else {
        1.0 + conduct.goal_distance / (FAR + conduct.goal_distance)
    };
    parameters.value("contact_weight") * touched
        + parameters.value("time_weight") * conduct.time_lost
        + parameters.value("limit_weight") * conduct.above_limit
        + parameters.value("arrival_weight") * missed
}

fn time_above_limit(_: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    conduct.above_limit
}

fn path_error(_: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    conduct.path_error
}

fn settled_speed(_: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    conduct.settled_speed
}

fn contacts(_: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    conduct.collisions
}

/// Root mean square of acceleration, jerk and lateral acceleration, each relative to its comfort
/// limit.
fn comfort(parameters: &ParameterSet, input: &FitnessInput, _: &Conduct) -> f64 {
    let part = |squared: f64, key: &'static str| squared / parameters.value(key).powi(2);
    let sum = part(input.mean_squared_acceleration, "acceleration")
        + part(input.mean_squared_jerk, "jerk")
        + part(
            input.mean_squared_lateral_acceleration,
            "lateral_acceleration",
        );
    (sum / 3.0).sqrt()
}

fn safety(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    // Relative amount by which the shortest post-encroachment time is below the risky one; negative if it is
    // longer.
    let encroachment = 1.0 - conduct.least_post_encroachment / RISKY_POST_ENCROACHMENT;
    parameters.value("crash_weight") * input.crash_rating
        + parameters.value("collision_weight") * conduct.collision_exposure
        + parameters.value("headway_weight") * conduct.tailgating
        + parameters.value("encroachment_weight") * encroachment.max(0.0)
}

fn progress(_: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    conduct.time_lost
}

fn rule_keeping(parameters: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    parameters.value("speeding_weight") * conduct.speeding
        + parameters.value("lane_weight") * conduct.off_lane
        + parameters.value("junction_weight") * conduct.uninvited
}

/// Driving time multiplied by overlap, as in [Gerdelan 2011], section 6.4, step 7.
fn time_times_overlap(_: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    input.time * conduct.overlap
}

/// Points for a drive without overlap, m s ([Gerdelan 2011], equation 9.1).
const ARENA_OVERLAP: f64 = 200.0;
/// Points for a drive that takes no time, s ([Gerdelan 2011], equation 9.1).
const ARENA_TIME: f64 = 60.0;
/// Score of a drive that does not arrive ([Gerdelan 2011], figure 9.3, the lower plot).
const ARENA_FAILED: f64 = -1.0;

/// Score of a drive in the arena, [Gerdelan 2011], equation 9.1.
fn arena_score(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    parameters.value("crash_weight") * (ARENA_OVERLAP - conduct.overlap)
        + parameters.value("time_weight") * (ARENA_TIME - input.time)
}

/// Like `arena_score`, but with the penalty of figure 9.3.
fn arena_score_or_failed(
    parameters: &ParameterSet,
    input: &FitnessInput,
    conduct: &Conduct,
) -> f64 {
    if conduct.has_arrived() {
        arena_score(parameters, input, conduct)
    } else {
        ARENA_FAILED
    }
}

/// Weighted sum over the segments of a route, [Gerdelan 2011], equation 12.1. The printed ratio of
/// actual to ideal time is inverted, because one minus the printed ratio would fall as the time
/// grows. With the inverse ratio, the term is 0 at the ideal time, as the text requires.
fn segments(parameters: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    parameters.value("crash_weight") * conduct.segment_crash
        + parameters.value("time_weight") * conduct.segment_time_lost
}

/// Score of [Gerdelan 2011], equation 12.2: the driving time, or a penalty if the drive failed. The
/// printed minus is replaced by a plus, so that failed drives with a shorter remaining distance
/// score better.
fn forest_score(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    let limit = parameters.value("time_limit");
    // After a drive of zero duration, the distance has not been measured yet, so 0 does not mean
    // that the agent is at the goal.
    let is_there = conduct.has_arrived()
        || input.time > 0.0 && conduct.goal_distance < parameters.value("goal_radius");
    if is_there && input.time < limit {
        input.time
    } else {
        // This score is worse than those of all drives that arrived, whose times are below the
        // limit.
        limit + conduct.goal_distance
    }
}

/// Scores a balanced pole. If the pole falls early, the missing time dominates. Among poles held
/// for the whole time, a more upright pole scores better.
fn balance_score(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    (parameters.value("time_limit") - input.time).max(0.0) + conduct.mean_lean
}

/// Driving time plus penalties for the remaining distance and for shunts. A failed manoeuvre is
/// charged the time limit instead of its driving time, so that it ranks after all successful ones.
fn manoeuvre_score(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    let time = if conduct.has_arrived() {
        input.time
    } else {
        parameters.value("time_limit")
    };
    time + parameters.value("distance_weight") * conduct.goal_distance
        + parameters.value("shunt_weight") * conduct.shunts
}

/// Score of [Singh 2009]. The sum of kinetic energies over frames is replaced by an integral over time, so
/// that it does not depend on the time step.
fn steer_bench(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    parameters.value("collision_weight") * conduct.collisions
        + parameters.value("time_weight") * input.time
        + parameters.value("energy_weight") * conduct.kinetic_energy
}

/// Fitness function that evaluates one entry of the table of built-in functions.
struct Formula(&'static Described);

impl Logic for Formula {}

impl Fitness for Formula {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[FitnessInput],
        outputs: &mut [FitnessOutput],
    ) {
        for (input, output) in inputs.iter().zip(outputs) {
            output.score = (self.0.score)(parameters, input, &input.conduct);
        }
    }

    fn wants_post_encroachment(&self) -> bool {
        self.0.wants == Wants::PostEncroachment
    }

    fn wants_account(&self) -> bool {
        self.0.wants == Wants::Account
    }

    fn wants_arrival(&self) -> bool {
        self.0.wants == Wants::Arrival
    }

    fn lower_is_better(&self) -> bool {
        self.0.is_cost
    }
}

#[cfg(test)]
mod tests;
