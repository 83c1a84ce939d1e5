//! Tests of the progress of a layout.

use super::*;
use crate::Scenario;
use crate::testing::draw_street;
use std::sync::Mutex;

/// Creates a grid of streets with a junction every 50 m.
fn grid(streets: u32) -> Scenario {
    let mut scenario = Scenario::new("grid");
    let far = 50.0 * f64::from(streets + 1);
    for number in 1..=streets {
        let at = 50.0 * f64::from(number);
        let ends = [((0.0, at), (far, at)), ((at, 0.0), (at, far))];
        for (from, to) in ends {
            let line = ReferenceLine::straight(DVec2::from(from), DVec2::from(to));
            draw_street(&mut scenario, &line.unwrap(), 3.5, 10.0);
        }
    }
    scenario
}

#[test]
fn a_watched_layout_is_the_same_and_reports_every_stage() {
    // This grid has enough junctions for several threads.
    let scenario = grid(16);
    let shares = Mutex::new(Vec::new());
    let watch = |share: f64| shares.lock().unwrap().push(share);
    let watched = layout_watched(scenario.network(), scenario.about(), &watch);
    assert_eq!(watched, layout(scenario.network(), scenario.about()));
    let shares = shares.into_inner().unwrap();
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
    assert_eq!(shares.last(), Some(&1.0));
    // Trims of 256 crossings and 64 ends of streets, then the same junctions, in steps of 32.
    for stage in [0.0..0.45, 0.51..0.99] {
        let own = shares.iter().filter(|share| stage.contains(*share));
        assert!(own.count() >= 8, "{shares:?}");
    }
}
