//! Tests of the coverage of intervals, each with 10,000 simulated experiments.

use super::*;
use rayon::prelude::*;
use roadwright_geometry::math::{Stream, cos, exp, ln};
use std::f64::consts::TAU;

const EXPERIMENTS: u64 = 10_000;

fn uniform(stream: &mut Stream) -> f64 {
    // Never 0, because the logarithm of 0 is not finite.
    1.0 - stream.next_unit()
}

fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * ln(uniform(stream))).sqrt();
    radius * cos(TAU * stream.next_unit())
}

/// Draws from a skewed distribution: exponential with mean 1.
fn exponential(stream: &mut Stream) -> f64 {
    -ln(uniform(stream))
}

/// Draws from a moderately skewed distribution: the exponential of a normal value with a standard
/// deviation of a half.
fn lognormal(stream: &mut Stream) -> f64 {
    exp(0.5 * normal(stream))
}

/// Simulates experiments and returns the fraction in which a condition holds.
fn share(name: &str, experiment: impl Fn(&mut Stream) -> bool + Sync) -> f64 {
    let all = (0..EXPERIMENTS).into_par_iter();
    let count = all
        .filter(|&number| experiment(&mut Stream::new(1908, name, number)))
        .count();
    count as f64 / EXPERIMENTS as f64
}

fn draw(stream: &mut Stream, count: usize, law: fn(&mut Stream) -> f64) -> Vec<f64> {
    (0..count).map(|_| law(stream)).collect()
}

/// Whether the coverage of a 95 % interval is as claimed.
fn keeps_its_word(share: f64) -> bool {
    (0.935..=0.96).contains(&share)
}

#[test]
fn students_t_covers_normal_means() {
    let covered = |count: usize, scale: f64| {
        share("t", |stream| {
            let moments = Moments::of(&draw(stream, count, normal));
            let interval = student_t(&moments, 0.95).unwrap();
            // Control: the same with an interval that is narrower by a tenth.
            let reach = scale * 0.5 * interval.width();
            moments.mean().abs() <= reach
        })
    };
    for count in [5, 30] {
        let found = covered(count, 1.0);
        assert!(keeps_its_word(found), "{count}: {found}");
    }
    let narrow = covered(30, 0.9);
    assert!(!keeps_its_word(narrow), "{narrow}");
}

#[test]
fn the_corrected_bootstrap_covers_skewed_means() {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let covered = |level: f64| {
        share("bca", |stream| {
            let values = draw(stream, 100, exponential);
            let draws = Stream::new(stream.next_u64(), "draws", 0);
            let bootstrap = Bootstrap::of(&values, 400, draws, mean).unwrap();
            bootstrap.bca(level).contains(1.0)
        })
    };
    let found = covered(0.95);
    assert!(keeps_its_word(found), "{found}");
    let narrow = covered(0.9);
    assert!(!keeps_its_word(narrow), "{narrow}");
}

#[test]
fn wilson_covers_shares_on_average() {
    let covered = |level: f64| {
        let of_share = |p: f64| {
            share("wilson", |stream| {
                let successes = (0..50).filter(|_| stream.next_unit() < p).count();
                wilson(successes as u64, 50, level).unwrap().contains(p)
            })
        };
        let shares: Vec<f64> = (1..20).map(|i| of_share(f64::from(i) / 20.0)).collect();
        Moments::of(&shares).mean()
    };
    let found = covered(0.95);
    assert!((0.94..=0.965).contains(&found), "{found}");
    let narrow = covered(0.9);
    assert!(!(0.94..=0.965).contains(&narrow), "{narrow}");
}

/// Number of values that are monitored.
const WATCHED: usize = 1000;

#[test]
fn the_betting_sequence_may_be_watched() {
    // The bets are against the true mean. The sequence misses the mean if any of them succeeds at any time.
    let missed = |p: f64| {
        share("betting", |stream| {
            let mut sequence = BettingSequence::against_one(0.95, p);
            (0..WATCHED).any(|_| {
                sequence.push(f64::from(u8::from(stream.next_unit() < p)));
                sequence.someone_is_rich()
            })
        })
    };
    for p in [0.1, 0.5, 0.9] {
        let found = missed(p);
        assert!(found <= 0.05, "{p}: {found}");
    }
    // Control: an interval for a fixed number of trials misses the mean far more often.
    let watched_fixed = share("betting", |stream| {
        let mut successes = 0;
        (1..=WATCHED as u64).any(|count| {
            successes += u64::from(stream.next_unit() < 0.5);
            let z = 1.959_963_984_540_054;
            let share = successes as f64 / count as f64;
            let error = (share * (1.0 - share) / count as f64).sqrt();
            count >= 30 && (share - 0.5).abs() > z * error
        })
    });
    assert!(watched_fixed > 0.2, "{watched_fixed}");
}

#[test]
fn the_asymptotic_sequence_may_be_watched_from_the_planned_number_on() {
    let missed = |law: fn(&mut Stream) -> f64, mean: f64, planned: u64| {
        share("asymptotic", |stream| {
            let sequence = AsymptoticSequence::new(0.95, planned);
            let mut moments = Moments::default();
            (0..WATCHED).any(|_| {
                moments.push(law(stream));
                let watched = moments.count() >= planned;
                let interval = sequence.interval(&moments);
                watched && interval.is_some_and(|interval| !interval.contains(mean))
            })
        })
    };
    for (name, found) in [
        ("normal", missed(normal, 0.0, 30)),
        ("lognormal", missed(lognormal, exp(0.125), 50)),
        ("exponential", missed(exponential, 1.0, 100)),
    ] {
        assert!(found <= 0.05, "{name}: {found}");
    }
    // Control: the same with an interval for a fixed number of values.
    let watched_t = share("asymptotic", |stream| {
        let mut moments = Moments::default();
        (0..WATCHED).any(|_| {
            moments.push(normal(stream));
            moments.count() >= 30 && moments.mean().abs() > 1.98 * moments.standard_error()
        })
    });
    assert!(watched_t > 0.2, "{watched_t}");
}
