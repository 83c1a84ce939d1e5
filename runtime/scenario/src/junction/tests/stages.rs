//! Tests of the stages of signals.

use super::*;
use crate::SignalControllerSetting;

#[test]
fn a_plain_crossing_has_two_stages_and_nobody_crosses_green() {
    let junction = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals)
    });
    let conflicts = Conflicts::of(&junction);
    let right = RightOfWay::of(&junction, &conflicts);
    let signals = signals(&junction, 50.0 / 3.6);
    assert_eq!(signals.greens.len(), 2);
    assert!((signals.programme.cycle() - DEFAULT_CYCLE).abs() < 1e-9);
    // Amber lasts 1 + 13.9 / 6.1 s, [ITE 1999].
    let change = signals.programme.intergreen(0, 1);
    assert!((change.amber - 3.277).abs() < 1e-3, "{signals:?}");
    assert!(change.all_red > 0.5 && change.all_red <= 5.0);
    for green in &signals.greens {
        for conflict in conflicts.list() {
            let (a, b) = conflict.paths;
            let both = green[a.index()] && green[b.index()];
            assert!(
                !both
                    || right.gives_way(a, b)
                    || right.gives_way(b, a)
                    || junction.paths[a.index()].turn == junction.paths[b.index()].turn
            );
        }
    }
    // Each path has green once per cycle, then amber, and red otherwise.
    for path in 0..junction.paths.len() {
        let lights: Vec<_> = (0..600)
            .map(|i| signals.light(path, f64::from(i) * 0.1))
            .collect();
        for light in [Light::Red, Light::Amber, Light::Green] {
            assert!(lights.contains(&light), "path {path} never shows {light:?}");
        }
        for pair in lights.windows(2) {
            let is_order = !matches!(
                pair,
                [Light::Green, Light::Red] | [Light::Amber, Light::Green]
            );
            assert!(is_order, "{pair:?}");
        }
    }
    // An offset shifts the whole programme, including the part before time 0.
    let mut later = signals.clone();
    later.programme.offset = 17.0;
    for i in 0..700 {
        let time = f64::from(i) * 0.1;
        assert_eq!(later.light(0, time + 17.0), signals.light(0, time));
    }
}

#[test]
fn the_longest_cycle_is_that_of_the_longest_greens() {
    let junction = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals)
    });
    let mut programme = signals(&junction, 50.0 / 3.6).programme;
    programme.mode = SignalMode::Fixed;
    assert_eq!(programme.longest_cycle(), programme.cycle());
    // With actuated signals, each of the two stages may last up to 50 s, followed by the longest
    // change.
    programme.mode = SignalMode::Actuated;
    let change = programme.longest_intergreen().duration();
    let by_demand = 2.0 * (MAX_GREEN + change);
    assert!((programme.longest_cycle() - by_demand).abs() < 1e-9);
    // A controller may skip a stage until a vehicle has waited there for two minutes.
    programme.controller = Some(SignalControllerSetting::new("longest_queue.rhai"));
    assert!((programme.longest_cycle() - by_demand - 120.0).abs() < 1e-9);
}

#[test]
fn lanes_that_turn_across_several_lanes_get_a_stage_of_their_own() {
    let wide = |roads: &mut [Road], rules: &mut JunctionRules| {
        rules.control = Some(Control::Signals);
        for (road, bearing) in roads.iter_mut().zip(CROSS) {
            *road = arm(bearing, 100.0, CrossSection::driving(3, 3, 3.25), RIGHT);
        }
    };
    let junction = ruled(&CROSS, RIGHT, wide);
    let signals = signals(&junction, 50.0 / 3.6);
    // The innermost of three lanes leads both to the left and straight on, so no lane is only for
    // turning.
    assert_eq!(signals.greens.len(), 2);
    // No turns are made across fast oncoming traffic. The arms have green one after the other
    // instead.
    let fast = self::signals(&junction, 25.0);
    assert_eq!(fast.greens.len(), 4);
}

#[test]
fn given_stages_and_flashing_are_obeyed() {
    let given = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals);
        let movement = |road: u32, turns: Vec<Turn>| crate::Movement {
            road: RoadId(road),
            turns,
        };
        let stage = |green, time| crate::SignalStage {
            green,
            permitted: Vec::new(),
            time,
            min: None.into(),
            max: None.into(),
            amber: Some(4.0).into(),
            all_red: None.into(),
        };
        rules.plan = Some(SignalPlan {
            stages: vec![
                stage(
                    vec![movement(1, vec![]), movement(3, vec![Turn::Straight])],
                    20.0.into(),
                ),
                stage(vec![movement(2, vec![])], 10.0.into()),
            ],
            offset: 5.0.into(),
            ..SignalPlan::default()
        });
    });
    let signals = signals(&given, 13.9);
    assert_eq!(signals.programme.stages[0].green, 20.0);
    assert_eq!(signals.programme.intergreen(0, 1).amber, 4.0);
    assert_eq!(signals.light(path(&given, 3, 1).index(), 6.0), Light::Green);
    // The left turn from road 3 is in no stage, so it always has red.
    assert_eq!(signals.light(path(&given, 3, 2).index(), 6.0), Light::Red);
    assert_eq!(signals.light(path(&given, 2, 4).index(), 6.0), Light::Red);
    let flashing = ruled(&CROSS, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals);
        rules.major = vec![RoadId(1), RoadId(3)];
        rules.plan = Some(SignalPlan {
            mode: SignalMode::Flashing,
            ..SignalPlan::default()
        });
    });
    assert!(Signals::of(&flashing, &Conflicts::of(&flashing)).is_none());
    assert_eq!(
        signs(&flashing),
        [Sign::None, Sign::Yield, Sign::None, Sign::Yield]
    );
}

#[test]
fn signals_on_a_road_that_goes_on_have_stop_lines() {
    let bearings = [0.0, 180.0];
    let plain = ruled(&bearings, RIGHT, |_, _| {});
    assert!(plain.paths.iter().all(|path| path.curve.is_none()));
    let lit = ruled(&bearings, RIGHT, |_, rules| {
        rules.control = Some(Control::Signals)
    });
    assert!(lit.arms.iter().all(|arm| (arm.trim - 2.5).abs() < 1e-9));
    assert!(lit.paths.iter().all(|path| path.curve.is_some()));
    assert_eq!(signs(&lit), [Sign::Signal; 2]);
    let signals = Signals::of(&lit, &Conflicts::of(&lit)).unwrap();
    // First, both directions have green together. Then, pedestrians cross.
    assert_eq!(signals.greens.len(), 2);
    assert!(signals.greens.contains(&vec![true; 2]) && signals.greens.contains(&vec![false; 2]));
}
