//! Tests of red and amber before green: the countries that use it, its duration, and the all-red
//! interval that contains it.

use crate::common::crossroads;
use roadwright_scenario::junction::{Conflicts, Junction, Light, Signals, layout};
use roadwright_scenario::*;
use std::sync::Arc;

/// Returns the signals of a crossing in a country, with a given plan.
fn signals(country: &str, plan: Option<SignalPlan>) -> (Signals, Arc<Junction>) {
    let mut scenario = crossroads();
    let mut about = scenario.about().clone();
    about.country = country.into();
    scenario.apply(Edit::About(Box::new(about))).unwrap();
    let network = scenario.network();
    let id = network
        .nodes()
        .map(|(id, _)| id)
        .find(|&id| network.ends_at(id).len() > 2)
        .unwrap();
    let mut node = network.node(id).unwrap().clone();
    node.rules.control = Some(Control::Signals);
    node.rules.plan = plan;
    scenario.apply(Edit::Node(id, Some(node))).unwrap();
    let layout = layout(scenario.network(), scenario.about());
    let junction = layout.junction_at(id).unwrap().clone();
    let signals = Signals::of(&junction, &Conflicts::of(&junction)).unwrap();
    (signals, junction)
}

/// Returns the duration of red and amber before green for each path during a cycle, s. Fails if the
/// sequence of lights is wrong.
fn shown(signals: &Signals, paths: usize) -> Vec<f64> {
    let step = 0.01;
    let count = (signals.programme.cycle() / step).round() as u32;
    let of_path = |path: usize| {
        let light = |i: u32| signals.light(path, f64::from(i % count) * step);
        for i in 0..count {
            let pair = (light(i), light(i + 1));
            let is_lawful = !matches!(
                pair,
                (Light::RedAmber, Light::Red | Light::Amber)
                    | (Light::Green | Light::Amber, Light::RedAmber)
            );
            assert!(is_lawful, "path {path} at {i}: {pair:?}");
        }
        let red_amber = (0..count).filter(|&i| light(i) == Light::RedAmber);
        red_amber.count() as f64 * step
    };
    (0..paths).map(of_path).collect()
}

#[test]
fn the_country_says_for_how_long_and_the_cycle_stays() {
    let (plain, _) = signals("FR", None);
    for (country, seconds) in [
        ("", 0.0),
        ("US", 0.0),
        ("IE", 0.0),
        ("DE", 1.0),
        ("GB", 2.0),
    ] {
        let (signals, junction) = signals(country, None);
        let shown = shown(&signals, junction.paths.len());
        assert!(!shown.is_empty());
        for shown in shown {
            assert!((shown - seconds).abs() < 0.03, "{country}: {shown} s");
        }
        let (cycle, before) = (signals.programme.cycle(), plain.programme.cycle());
        assert!((cycle - before).abs() < 1e-9, "{country}: {cycle} s");
        for stage in 0..2 {
            let between = signals.programme.intergreen(stage, 1 - stage);
            let known = plain.programme.intergreen(stage, 1 - stage);
            assert_eq!(between.amber, known.amber);
            assert_eq!(between.all_red, known.all_red.max(seconds), "{country}");
        }
        if seconds == 0.0 {
            assert_eq!(signals.programme, plain.programme, "{country}");
        }
    }
}

#[test]
fn a_plan_goes_before_the_country() {
    let plan = |red_amber| SignalPlan {
        red_amber: Some(red_amber).into(),
        ..SignalPlan::default()
    };
    let (plain, _) = signals("FR", None);
    let (off, _) = signals("DE", Some(plan(0.0)));
    assert_eq!(off.programme, plain.programme);
    let (on, junction) = signals("US", Some(plan(1.5)));
    for shown in shown(&on, junction.paths.len()) {
        assert!((shown - 1.5).abs() < 0.03, "{shown} s");
    }
}

#[test]
fn stages_given_by_hand_have_it_too_and_red_is_no_shorter() {
    let (_, junction) = signals("DE", None);
    let roads: Vec<RoadId> = junction.arms.iter().map(|arm| arm.road).collect();
    let stage = |i: usize| SignalStage {
        green: [roads[i], roads[i + 2]]
            .map(|road| Movement {
                road,
                turns: Vec::new(),
            })
            .into(),
        permitted: Vec::new(),
        time: 20.0.into(),
        min: None.into(),
        max: None.into(),
        amber: Some(3.0).into(),
        all_red: Some(0.0).into(),
    };
    for (country, seconds) in [("FR", 0.0), ("DE", 1.0), ("GB", 2.0)] {
        let plan = SignalPlan {
            stages: vec![stage(0), stage(1)],
            ..SignalPlan::default()
        };
        let (signals, junction) = signals(country, Some(plan));
        let between = signals.programme.intergreen(0, 1);
        assert_eq!((between.all_red, between.red_amber), (seconds, seconds));
        for shown in shown(&signals, junction.paths.len()) {
            assert!((shown - seconds).abs() < 0.03, "{country}: {shown} s");
        }
    }
}

#[test]
fn files_keep_it_and_say_what_is_wrong() {
    let plan = SignalPlan {
        red_amber: Some(1.5).into(),
        ..SignalPlan::default()
    };
    let rules = JunctionRules {
        control: Some(Control::Signals),
        plan: Some(plan),
        ..JunctionRules::default()
    };
    let mut scenario = crossroads();
    let id = scenario.network().nodes().next().unwrap().0;
    let mut node = scenario.network().node(id).unwrap().clone();
    node.rules = rules;
    scenario.apply(Edit::Node(id, Some(node))).unwrap();
    let text = file::to_text(&scenario);
    assert!(text.contains("\"red_amber\": 1.5"));
    assert!(file::from_text(&text).unwrap() == scenario);
    for wrong in ["-0.1", "5.1", "1e300", "\"long\"", "true"] {
        let text = text.replace("\"red_amber\": 1.5", &format!("\"red_amber\": {wrong}"));
        let error = file::from_text(&text).unwrap_err();
        assert!(error.line > 0, "{wrong}: {error}");
    }
    for wrong in [f64::NAN, f64::INFINITY, -1.0, 6.0] {
        let mut node = scenario.network().node(id).unwrap().clone();
        node.rules.plan.as_mut().unwrap().red_amber = Some(wrong).into();
        let error = scenario.apply(Edit::Node(id, Some(node))).unwrap_err();
        assert!(error.to_string().contains("plan.red_amber"), "{error}");
    }
}
