use super::*;

fn score(id: &str, input: FitnessInput, conduct: Conduct) -> f64 {
    let mut registry = Registry::default();
    register(&mut registry);
    let entries = registry.of::<dyn Fitness>();
    let module = entries.iter().find(|e| e.info.id == id).unwrap().make();
    let mut outputs = [FitnessOutput::default()];
    let input = FitnessInput { conduct, ..input };
    module.step(&Step::default(), &[input], &mut outputs);
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
    // The other functions give points, of which no agent can collect the maximum, or penalise time.
    // A drive that has not arrived is not perfect.
    let by_time = [
        "forest_score",
        "balance_score",
        "manoeuvre_score",
        "safe_arrival",
    ];
    let is_rated = |f: &&Described| f.is_cost && !by_time.contains(&f.info.id);
    for formula in FORMULAS.iter().filter(is_rated) {
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
    // Acceleration, jerk and lateral acceleration are exactly at the comfort limits, so the score
    // is 1.
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
        has_arrived: 1.0,
        ..Conduct::default()
    };
    let lost = Conduct {
        has_arrived: 0.0,
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
    assert_eq!(
        more_is_better,
        ["arena_score", "arena_score_or_failed", "settled_speed"]
    );
}

#[test]
fn the_scores_of_chapter_12_and_of_steer_bench() {
    let input = |time| FitnessInput {
        time,
        ..FitnessInput::default()
    };
    let at = |goal_distance| Conduct {
        goal_distance,
        ..Conduct::default()
    };
    let arrived = Conduct {
        has_arrived: 1.0,
        ..Conduct::default()
    };
    // (time, conduct, score): the score is the time, or 60 plus the remaining distance. A failed
    // drive scores more than one that arrives, and less the farther it gets.
    for (time, conduct, expected) in [
        (21.5, arrived, 21.5),
        (21.5, at(5.9), 21.5),
        (59.9, at(5.9), 59.9),
        (21.5, at(6.1), 66.1),
        (12.0, at(120.0), 180.0),
        (60.0, at(5.9), 65.9),
    ] {
        assert_eq!(score("forest_score", input(time), conduct), expected);
    }
    // 0.2 m on average over 50 m, with half of the speed missing.
    let parts = Conduct {
        segment_crash: 0.2 / 50.0,
        segment_time_lost: 0.5,
        ..Conduct::default()
    };
    let found = score("segments", input(10.0), parts);
    assert!((found - 0.504).abs() < 1e-12);
    // Three collisions, 30 s, 10 m/s throughout: 150 + 30 + 1500.
    let busy = Conduct {
        collisions: 3.0,
        kinetic_energy: 1500.0,
        ..Conduct::default()
    };
    assert_eq!(score("steer_bench", input(30.0), busy), 1680.0);
    assert_eq!(score("steer_bench", input(30.0), Conduct::default()), 30.0);
}

#[test]
fn manoeuvres_are_rated_by_time_place_shunts_and_lean() {
    let input = |time| FitnessInput {
        time,
        ..FitnessInput::default()
    };
    let conduct = |has_arrived, goal_distance, shunts, mean_lean| Conduct {
        has_arrived,
        goal_distance,
        shunts,
        mean_lean,
        ..Conduct::default()
    };
    for (id, time, conduct, expected) in [
        ("manoeuvre_score", 20.0, conduct(1.0, 0.2, 1.0, 0.0), 21.2),
        ("manoeuvre_score", 20.0, conduct(0.0, 4.0, 3.0, 0.0), 97.0),
        ("balance_score", 60.0, conduct(1.0, 0.0, 0.0, 0.05), 0.05),
        ("balance_score", 1.5, conduct(0.0, 0.0, 0.0, 0.3), 58.8),
        ("balance_score", 60.1, conduct(1.0, 0.0, 0.0, 0.0), 0.0),
    ] {
        assert!(
            (score(id, input(time), conduct) - expected).abs() < 1e-12,
            "{id}"
        );
    }
}

/// Score of a drive that arrives after some contacts, with the given fractions of time lost and of time above
/// the limit.
fn arrived(collisions: f64, time_lost: f64, above_limit: f64) -> f64 {
    let conduct = Conduct {
        collisions,
        time_lost,
        above_limit,
        has_arrived: 1.0,
        ..Conduct::default()
    };
    score("safe_arrival", FitnessInput::default(), conduct)
}

#[test]
fn safe_arrival_puts_drives_in_order() {
    let missed = |goal_distance| {
        let conduct = Conduct {
            goal_distance,
            ..Conduct::default()
        };
        score("safe_arrival", FitnessInput::default(), conduct)
    };
    let in_order = [
        ("perfect", arrived(0.0, 0.0, 0.0)),
        ("careful", arrived(0.0, 0.1, 0.0)),
        // Always above the limit, for example 13 m/s where 8 m/s are allowed, so that no time is
        // lost.
        ("too fast", arrived(0.0, 0.0, 1.0)),
        ("one contact", arrived(1.0, 0.05, 0.0)),
        ("reckless", arrived(3.0, 0.0, 1.0)),
        ("the worst that arrives", arrived(1e6, 1.0, 1.0)),
        ("nearly there", missed(5.0)),
        ("far", missed(300.0)),
        ("drives away", missed(2500.0)),
    ];
    for pair in in_order.windows(2) {
        assert!(pair[0].1 < pair[1].1, "{pair:?}");
    }
    assert_eq!(in_order[0].1, 0.0);
    // For comparison: `crash_and_speed` does not distinguish most of these.
    let blind = |conduct| score("crash_and_speed", FitnessInput::default(), conduct);
    let fast = Conduct {
        above_limit: 1.0,
        ..Conduct::default()
    };
    assert_eq!(blind(fast), blind(Conduct::default()));
}
