//! Tests of green waves against results computed by hand and against general properties.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::*;
use proptest::prelude::*;

const CYCLE: f64 = 60.0;

fn signal(at: f64, offset: f64, forward: &[(f64, f64)], backward: &[(f64, f64)]) -> WaveSignal {
    let windows = |all: &[(f64, f64)]| {
        let all = all.iter();
        let all = all.map(|&(start, length)| Window { start, length });
        all.collect()
    };
    WaveSignal {
        junction: 0,
        node: NodeId(1),
        at,
        offset,
        greens: [windows(forward), windows(backward)],
    }
}

fn corridor(signals: Vec<WaveSignal>) -> Corridor {
    Corridor {
        signals,
        cycle: CYCLE,
        free_speed: 10.0,
    }
}

fn width(corridor: &Corridor, along: Along, speed: f64) -> f64 {
    corridor.band(along, speed).map_or(0.0, |band| band.width)
}

/// Signals at 0, 100 and 300 m with green for 30, 20 and 25 s, the same in both directions.
fn street(offsets: [f64; 3]) -> Corridor {
    let greens = [(0.0, 30.0), (5.0, 20.0), (0.0, 25.0)];
    let places = [0.0, 100.0, 300.0];
    let each = places.into_iter().zip(offsets).zip(greens);
    corridor(
        each.map(|((at, offset), green)| signal(at, offset, &[green], &[green]))
            .collect(),
    )
}

#[test]
fn bands_are_as_computed_by_hand() {
    // At 10 m/s forward, the other signals appear 10 and 30 s earlier, so the greens are 0 to 30, 55 to 75
    // and 30 to 55.
    let none = street([0.0; 3]);
    assert_eq!(none.band(Along::Forward, 10.0), None);
    // With these offsets, the greens are 0 to 30, 10 + 5 - 10 = 5 to 25, and 20 - 30 = 50 to 75, which is
    // equivalent to a green until 15.
    let some = street([0.0, 10.0, 20.0]);
    let band = some.band(Along::Forward, 10.0).unwrap();
    assert!(
        (band.start - 5.0).abs() < 1e-9 && (band.width - 10.0).abs() < 1e-9,
        "{band:?}"
    );
    // Backward from 300 m, the other signals appear 20 and 30 s earlier, so the greens are 20 to 45, 55 to 75
    // and 30 to 60.
    assert_eq!(some.band(Along::Backward, 10.0), None);
    // For a faster driver, the signals appear 5 and 15 s earlier, so the greens are 0 to 30, 10 to 30, and 5
    // to 30.
    assert!((width(&some, Along::Forward, 20.0) - 20.0).abs() < 1e-9);
}

#[test]
fn a_wave_is_as_computed_by_hand() {
    // A driver who starts at 3 s arrives 10 and 30 s later. The green of the second signal starts 5
    // s after its cycle does.
    let offsets = street([3.0, 50.0, 50.0]).wave(10.0);
    assert_eq!(offsets, [3.0, 8.0, 33.0]);
    let wave = street([3.0, 8.0, 33.0]);
    let band = wave.band(Along::Forward, 10.0).unwrap();
    assert!(
        (band.start - 3.0).abs() < 1e-9 && (band.width - 20.0).abs() < 1e-9,
        "{band:?}"
    );
    // At 4 m/s, the last signal is 75 s away, which is more than a cycle.
    assert_eq!(street([3.0; 3]).wave(4.0), [3.0, 23.0, 18.0]);
}

#[test]
fn bands_go_over_the_end_of_the_cycle_and_through_signals_that_are_always_green() {
    let always = corridor(vec![
        signal(0.0, 0.0, &[(50.0, 20.0)], &[]),
        signal(100.0, 7.0, &[(0.0, CYCLE)], &[]),
    ]);
    let band = always.band(Along::Forward, 10.0).unwrap();
    assert_eq!((band.start, band.width), (50.0, 20.0));
    assert!(always.is_open(Along::Forward) && !always.is_open(Along::Backward));
    assert_eq!(always.band(Along::Backward, 10.0), None);
    // If there are two greens, the one with the wider overlap counts.
    let two = corridor(vec![
        signal(0.0, 0.0, &[(0.0, 40.0)], &[]),
        signal(0.0, 0.0, &[(0.0, 5.0), (20.0, 10.0)], &[]),
    ]);
    let band = two.band(Along::Forward, 10.0).unwrap();
    assert_eq!((band.start, band.width), (20.0, 10.0));
}

#[test]
fn greens_that_follow_on_each_other_are_one() {
    let window = |start, length| Window { start, length };
    let all = vec![window(0.0, 10.0), window(10.0, 5.0), window(40.0, 20.0)];
    assert_eq!(joined(all, CYCLE), [window(40.0, 35.0)]);
    let apart = vec![window(0.0, 10.0), window(12.0, 5.0)];
    assert_eq!(joined(apart.clone(), CYCLE), apart);
    assert_eq!(
        joined(vec![window(0.0, CYCLE)], CYCLE),
        [window(0.0, CYCLE)]
    );
}

fn streets() -> impl Strategy<Value = Corridor> {
    let one = (
        20.0..400.0,
        0.0..CYCLE,
        0.0..CYCLE,
        5.0..50.0,
        0.0..CYCLE,
        5.0..50.0,
    );
    prop::collection::vec(one, 2..9).prop_map(|all: Vec<(f64, f64, f64, f64, f64, f64)>| {
        let mut at = -all[0].0;
        let signals = all
            .into_iter()
            .map(|(gap, offset, start, length, back, long)| {
                at += gap;
                signal(at, offset, &[(start, length)], &[(back, long)])
            });
        corridor(signals.collect())
    })
}

proptest! {
    #[test]
    fn a_wave_has_the_whole_green_of_the_shortest(street in streets(), speed in 3.0f64..30.0) {
        let wave = street.with_offsets(&street.wave(speed));
        let greens = street.signals.iter().map(|signal| signal.green(Along::Forward)[0].length);
        let shortest = greens.fold(CYCLE, f64::min);
        prop_assert!((width(&wave, Along::Forward, speed) - shortest).abs() < 1e-6);
        prop_assert_eq!(wave.signals[0].offset, street.signals[0].offset);
        prop_assert!(wave.signals[1..].iter().all(|signal| (0.0..CYCLE).contains(&signal.offset)));
    }

    #[test]
    fn shifting_all_offsets_changes_nothing(street in streets(), speed in 3.0f64..30.0, by in 0.0f64..200.0) {
        let offsets: Vec<f64> = street.signals.iter().map(|signal| signal.offset + by).collect();
        let shifted = street.with_offsets(&offsets);
        for along in [Along::Forward, Along::Backward] {
            let difference = width(&shifted, along, speed) - width(&street, along, speed);
            prop_assert!(difference.abs() < 1e-6);
        }
    }

    #[test]
    fn whoever_is_in_the_band_has_green_at_all(street in streets(), speed in 3.0f64..30.0, share in 0.01f64..0.99) {
        for along in [Along::Forward, Along::Backward] {
            let Some(band) = street.band(along, speed) else { continue };
            for signal in &street.signals {
                let passes = band.start + share * band.width + street.travel_time(signal, along, speed);
                let green = signal.green(along)[0];
                let within = (passes - signal.offset - green.start).rem_euclid(CYCLE);
                prop_assert!(within <= green.length + 1e-6 || within > CYCLE - 1e-6);
            }
        }
    }

    #[test]
    fn turned_about_forward_is_backward(street in streets(), speed in 3.0f64..30.0) {
        let turned = street.turned();
        let pairs = [(Along::Forward, Along::Backward), (Along::Backward, Along::Forward)];
        for (one, other) in pairs {
            prop_assert!((width(&turned, one, speed) - width(&street, other, speed)).abs() < 1e-6);
        }
    }
}
