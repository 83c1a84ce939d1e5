//! The built-in fitnesses. Each says whether lower scores are better; they have different units, and
//! are never put together.

use roadwright_agent::{
    Conduct, Fitness, Logic, ModuleEntry, ModuleInfo, ParameterInfo, ParameterSet, Registry, Step,
};
use roadwright_plugin_api::{FitnessInput, FitnessOutput};

/// Adds the built-in fitnesses.
pub(crate) fn register(registry: &mut Registry) {
    for formula in &FORMULAS {
        let make = || Box::new(Formula(formula)) as Box<dyn Fitness>;
        registry.add(ModuleEntry::new(formula.info, formula.parameters, make));
    }
}

/// A score from what was counted of a drive.
type Score = fn(&ParameterSet, &FitnessInput, &Conduct) -> f64;

/// A fitness as it is registered.
struct Described {
    info: ModuleInfo,
    parameters: &'static [ParameterInfo],
    score: Score,
    /// What it looks at that is kept only for those who ask.
    wants: Wants,
    /// Whether lower scores are better.
    is_cost: bool,
}

/// What is kept of a drive only if a fitness looks at it.
#[derive(Clone, Copy, PartialEq)]
enum Wants {
    Nothing,
    PostEncroachment,
    Account,
}

// A fitness is a row of this table: what it says about itself, and a function of what was counted.
// None keeps anything, so they share one type.
static FORMULAS: [Described; 18] = [
    Described {
        info: ModuleInfo {
            id: "crash_and_speed",
            name: "Crashes and speed",
            doc: "Mean squared penetration plus the missing part of the allowed speed.",
        },
        parameters: &[
            weight("crash_weight", "1/m^2", "Weight of the crash rating."),
            weight("speed_weight", "", "Weight of the missing speed."),
        ],
        score: crash_and_speed,
        wants: Wants::Nothing,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "safe_arrival",
            name: "Safe arrival",
            doc: "Contacts, time lost, time above the limit, and whether the destination was reached.",
        },
        parameters: &[
            ParameterInfo::number(
                "contact_weight",
                "",
                (0.0, 1000.0),
                2.0,
                "Weight of contacts: one counts half, many nearly one.",
            ),
            weight(
                "time_weight",
                "",
                "Weight of the share of the time that was lost.",
            ),
            weight(
                "limit_weight",
                "",
                "Weight of the share of the time above the limit.",
            ),
            ParameterInfo::number(
                "arrival_weight",
                "",
                (0.0, 1000.0),
                4.0,
                "Weight of not arriving: one, and up to one more for the distance that is left.",
            ),
        ],
        score: safe_arrival,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "time_above_limit",
            name: "Time above the limit",
            doc: "Share of the time more than 5 % above the speed limit, on open ground above what is allowed.",
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
            doc: "How often the vehicle began to touch an obstacle or another vehicle.",
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
            doc: "Acceleration, jerk and lateral acceleration as parts of what is comfortable; 1 is just so.",
        },
        parameters: &[
            ParameterInfo::number(
                "acceleration",
                "m/s^2",
                (0.1, 20.0),
                1.5,
                "Comfortable acceleration along the way, root mean square.",
            ),
            ParameterInfo::number(
                "jerk",
                "m/s^3",
                (0.1, 100.0),
                2.0,
                "Comfortable jerk along the way, root mean square.",
            ),
            ParameterInfo::number(
                "lateral_acceleration",
                "m/s^2",
                (0.1, 20.0),
                2.0,
                "Comfortable lateral acceleration, root mean square.",
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
            doc: "Crashes, short times to collision, short headways, and coming close in junctions.",
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
                "Weight of the shortest time of post-encroachment, below 1.5 s.",
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
            doc: "Share of the time that was lost against driving as fast as is allowed.",
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
            doc: "Speeding, driving beside the lane, and being in junctions without being let in.",
        },
        parameters: &[
            weight(
                "speeding_weight",
                "",
                "Weight of the part by which the limit was exceeded.",
            ),
            weight(
                "lane_weight",
                "",
                "Weight of the share of time beside the lane.",
            ),
            weight(
                "junction_weight",
                "",
                "Weight of the share of time in junctions without being let in.",
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
            doc: "Time of the drive times how deep it was in others and in obstacles, summed over the time.",
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
            doc: "Points for few crashes and for a short time; more are better.",
        },
        parameters: ARENA_PARAMETERS,
        score: arena_score,
        wants: Wants::Nothing,
        is_cost: false,
    },
    Described {
        info: ModuleInfo {
            id: "arena_score_or_failed",
            name: "Arena score, or failed",
            doc: "The same for drives that arrive, and -1 for all others; more are better.",
        },
        parameters: ARENA_PARAMETERS,
        score: arena_score_or_failed,
        wants: Wants::Nothing,
        is_cost: false,
    },
    Described {
        info: ModuleInfo {
            id: "segments",
            name: "Parts of the route",
            doc: "Penetration over length and missing speed of each part of the route, on average.",
        },
        parameters: &[
            weight(
                "crash_weight",
                "",
                "Weight of mean penetration over length.",
            ),
            weight("time_weight", "", "Weight of the missing speed."),
        ],
        score: segments,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "forest_score",
            name: "Forest score",
            doc: "Time of a drive that gets to its goal; of others a penalty plus the way that is left.",
        },
        parameters: &[
            ParameterInfo::number(
                "time_limit",
                "s",
                (1.0, 3600.0),
                60.0,
                "Time within which the goal has to be reached, and penalty of who does not.",
            ),
            ParameterInfo::number(
                "goal_radius",
                "m",
                (0.0, 100.0),
                6.0,
                "The middle of a body that is closer to the goal than this has got there.",
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
            doc: "Collisions, time, and kinetic energy of a unit mass over the time, weighted 50, 1 and 1.",
        },
        parameters: &[
            ParameterInfo::number(
                "collision_weight",
                "",
                (0.0, 1000.0),
                50.0,
                "Weight of each collision.",
            ),
            weight("time_weight", "1/s", "Weight of the time."),
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
            doc: "Time that is missing until the limit, plus the mean angle of what is balanced.",
        },
        parameters: &[ParameterInfo::number(
            "time_limit",
            "s",
            (1.0, 3600.0),
            60.0,
            "Time for which it has to be held.",
        )],
        score: balance_score,
        wants: Wants::Account,
        is_cost: true,
    },
    Described {
        info: ModuleInfo {
            id: "manoeuvre_score",
            name: "Manoeuvre",
            doc: "Time of a manoeuvre (of one that fails the limit), distance from its place, and shunts.",
        },
        parameters: &[
            ParameterInfo::number(
                "time_limit",
                "s",
                (1.0, 3600.0),
                90.0,
                "What a manoeuvre that fails counts for, instead of its time.",
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
            doc: "Root mean square of the rear axle's lateral offset from its lane or path, in m, from 10 s on.",
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
            doc: "Mean speed from 10 s on, in m/s.",
        },
        parameters: &[],
        score: settled_speed,
        wants: Wants::Account,
        is_cost: false,
    },
];

const ARENA_PARAMETERS: &[ParameterInfo] = &[
    weight("crash_weight", "1/(m s)", "Weight of the missing overlap."),
    weight("time_weight", "1/s", "Weight of the time that is left."),
];

/// A time of post-encroachment shorter than this is risky, s [Allen 1978].
const RISKY_POST_ENCROACHMENT: f64 = 1.5;

const fn weight(key: &'static str, unit: &'static str, doc: &'static str) -> ParameterInfo {
    ParameterInfo::number(key, unit, (0.0, 1000.0), 1.0, doc)
}

/// [Gerdelan 2011], equation 10.1: crash rating times its weight, plus the missing part of the
/// allowed speed times its weight.
///
/// The crash rating is already a mean of squared penetrations; it is not squared again. The allowed
/// speed is that of road, bends and vehicle, not what a behaviour allows itself; driving faster
/// gains nothing.
fn crash_and_speed(parameters: &ParameterSet, input: &FitnessInput, _: &Conduct) -> f64 {
    let share = if input.mean_road_speed > 0.0 {
        (input.mean_speed / input.mean_road_speed).clamp(0.0, 1.0)
    } else {
        0.0
    };
    parameters.value("crash_weight") * input.crash_rating
        + parameters.value("speed_weight") * (1.0 - share)
}

/// A destination this far away counts half of what one at infinity does, m.
const FAR: f64 = 100.0;

/// With the weights as they are every drive that arrives is better than any that does not (at most 4, at least
/// 4), and one contact costs as much as losing all the time there is. Time is lost moment by
/// moment, so speeding on one stretch does not make up for another. There is no source for the weights.
fn safe_arrival(parameters: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    let touched = conduct.collisions / (1.0 + conduct.collisions);
    let missed = if conduct.has_arrived {
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

/// Root of the mean of the squared parts.
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
    // Part by which the shortest time falls below the risky one; far times give less than 0.
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

/// [Gerdelan 2011], section 6.4, step 7.
fn time_times_overlap(_: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    input.time * conduct.overlap
}

/// Points without any overlap, m s, and without any time, s ([Gerdelan 2011], equation 9.1).
const ARENA_OVERLAP: f64 = 200.0;
const ARENA_TIME: f64 = 60.0;
/// Points of a drive that does not arrive (figure 9.3, the lower plot).
const ARENA_FAILED: f64 = -1.0;

/// [Gerdelan 2011], equation 9.1.
fn arena_score(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    parameters.value("crash_weight") * (ARENA_OVERLAP - conduct.overlap)
        + parameters.value("time_weight") * (ARENA_TIME - input.time)
}

/// The same with the penalty of figure 9.3.
fn arena_score_or_failed(
    parameters: &ParameterSet,
    input: &FitnessInput,
    conduct: &Conduct,
) -> f64 {
    if conduct.has_arrived {
        arena_score(parameters, input, conduct)
    } else {
        ARENA_FAILED
    }
}

/// [Gerdelan 2011], equation 12.1. Its time over the ideal one grows with the time, and taken from 1 it
/// would fall: ideal over actual is what makes the part 0 where it is ideal, as the text asks.
fn segments(parameters: &ParameterSet, _: &FitnessInput, conduct: &Conduct) -> f64 {
    parameters.value("crash_weight") * conduct.segment_crash
        + parameters.value("time_weight") * conduct.segment_time_lost
}

/// [Gerdelan 2011], equation 12.2, with a plus where it prints a minus: those who fail are ranked by
/// the way that is left, and the further they get the better.
fn forest_score(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    let limit = parameters.value("time_limit");
    // A drive that has lasted no time has measured no distance yet: its 0 is no goal.
    let is_there = conduct.has_arrived
        || input.time > 0.0 && conduct.goal_distance < parameters.value("goal_radius");
    if is_there && input.time < limit {
        input.time
    } else {
        // Behind all who got there, whose times are below the limit.
        limit + conduct.goal_distance
    }
}

/// Who lets fall early has much time missing, and among those who hold on the upright ones are better.
fn balance_score(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    (parameters.value("time_limit") - input.time).max(0.0) + conduct.mean_lean
}

/// Who fails is ranked by how far away he ended, behind all who do not.
fn manoeuvre_score(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    let time = if conduct.has_arrived {
        input.time
    } else {
        parameters.value("time_limit")
    };
    time + parameters.value("distance_weight") * conduct.goal_distance
        + parameters.value("shunt_weight") * conduct.shunts
}

/// The score of [Singh 2009]. Its sum of kinetic energies over frames is an integral over the time
/// here, so that it does not depend on the time step.
fn steer_bench(parameters: &ParameterSet, input: &FitnessInput, conduct: &Conduct) -> f64 {
    parameters.value("collision_weight") * conduct.collisions
        + parameters.value("time_weight") * input.time
        + parameters.value("energy_weight") * conduct.kinetic_energy
}

/// A fitness that is a formula.
struct Formula(&'static Described);

impl Logic for Formula {}

impl Fitness for Formula {
    fn step(
        &self,
        parameters: &ParameterSet,
        _: &Step<'_>,
        inputs: &[FitnessInput],
        conducts: &[Conduct],
        outputs: &mut [FitnessOutput],
    ) {
        let rows = inputs.iter().zip(conducts).zip(outputs);
        for ((input, conduct), output) in rows {
            output.score = (self.0.score)(parameters, input, conduct);
        }
    }

    fn wants_post_encroachment(&self) -> bool {
        self.0.wants == Wants::PostEncroachment
    }

    fn wants_account(&self) -> bool {
        self.0.wants == Wants::Account
    }

    fn lower_is_better(&self) -> bool {
        self.0.is_cost
    }
}

#[cfg(test)]
mod tests;
