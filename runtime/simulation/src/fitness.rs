//! The built-in fitnesses. Each says whether lower scores are better; they have different units, and
//! are never put together.

use roadwright_agent::{
    Conduct, Entry, Fitness, Logic, ModuleInfo, ParameterInfo, ParameterSet, Registry, Step,
};
use roadwright_plugin_api::{FitnessInput, FitnessOutput};

/// Adds the built-in fitnesses.
pub(crate) fn register(registry: &mut Registry) {
    for formula in &FORMULAS {
        let make = || Box::new(Formula(formula)) as Box<dyn Fitness>;
        registry.add(Entry::new(formula.info, formula.parameters, make));
    }
}

/// A score from what was counted of a drive.
type Score = fn(&ParameterSet, &FitnessInput, &Conduct) -> f64;

/// A fitness as it is registered.
struct Described {
    info: ModuleInfo,
    parameters: &'static [ParameterInfo],
    score: Score,
    /// Whether it looks at times of post-encroachment.
    watches_junctions: bool,
    /// Whether lower scores are better.
    is_cost: bool,
}

// A fitness is a row of this table: what it says about itself, and a function of what was counted.
// None keeps anything, so they share one type.
static FORMULAS: [Described; 8] = [
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
        watches_junctions: false,
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
        watches_junctions: false,
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
        watches_junctions: true,
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
        watches_junctions: false,
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
        watches_junctions: false,
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
        watches_junctions: false,
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
        watches_junctions: false,
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
        watches_junctions: false,
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
        self.0.watches_junctions
    }

    fn lower_is_better(&self) -> bool {
        self.0.is_cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(id: &str, input: FitnessInput, conduct: Conduct) -> f64 {
        let mut registry = Registry::default();
        register(&mut registry);
        let entries = registry.of::<dyn Fitness>();
        let module = entries.iter().find(|e| e.info.id == id).unwrap().make();
        let mut outputs = [FitnessOutput::default()];
        module.step(&Step::default(), &[input], &[conduct], &mut outputs);
        outputs[0].score
    }

    #[test]
    fn the_example_of_the_source() {
        // Crash rating 0.4 m^2, 20 of 30 km/h: 0.7333.
        let input = FitnessInput {
            crash_rating: 0.4,
            mean_speed: 20.0 / 3.6,
            mean_road_speed: 30.0 / 3.6,
            ..FitnessInput::default()
        };
        let found = score("crash_and_speed", input, Conduct::default());
        assert!((found - 0.733_333).abs() < 1e-6);
    }

    #[test]
    fn a_perfect_drive_scores_zero_and_each_fault_counts() {
        let good = FitnessInput {
            mean_speed: 10.0,
            mean_road_speed: 10.0,
            ..FitnessInput::default()
        };
        // The others are points, which nobody can have all of.
        for formula in FORMULAS.iter().filter(|formula| formula.is_cost) {
            assert_eq!(score(formula.info.id, good, Conduct::default()), 0.0);
        }
        let none = Conduct::default();
        let close = Conduct {
            least_post_encroachment: 0.6,
            ..none
        };
        assert!((score("safety", good, close) - 0.6).abs() < 1e-12);
        assert_eq!(
            score(
                "safety",
                good,
                Conduct {
                    tailgating: 0.25,
                    ..none
                }
            ),
            0.25
        );
        assert_eq!(
            score(
                "progress",
                good,
                Conduct {
                    time_lost: 0.5,
                    ..none
                }
            ),
            0.5
        );
        assert_eq!(
            score(
                "rule_keeping",
                good,
                Conduct {
                    speeding: 0.1,
                    ..none
                }
            ),
            0.1
        );
        // At what is comfortable in all three it is 1.
        let just_so = FitnessInput {
            mean_squared_acceleration: 2.25,
            mean_squared_jerk: 4.0,
            mean_squared_lateral_acceleration: 4.0,
            ..good
        };
        assert!((score("comfort", just_so, none) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_score_of_the_arena_is_equation_9_1() {
        let input = FitnessInput {
            time: 45.0,
            ..FitnessInput::default()
        };
        let arrived = Conduct {
            overlap: 12.5,
            has_arrived: true,
            ..Conduct::default()
        };
        let lost = Conduct {
            has_arrived: false,
            ..arrived
        };
        // (200 - 12.5) + (60 - 45), with and without the penalty.
        for (id, conduct, expected) in [
            ("arena_score", arrived, 202.5),
            ("arena_score", lost, 202.5),
            ("arena_score_or_failed", arrived, 202.5),
            ("arena_score_or_failed", lost, -1.0),
            ("time_times_overlap", arrived, 562.5),
        ] {
            assert_eq!(score(id, input, conduct), expected, "{id}");
        }
        let more_is_better: Vec<&str> = FORMULAS
            .iter()
            .filter(|formula| !formula.is_cost)
            .map(|formula| formula.info.id)
            .collect();
        assert_eq!(more_is_better, ["arena_score", "arena_score_or_failed"]);
    }
}
