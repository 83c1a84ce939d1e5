//! Hundreds of reloads with thousands of agents. A normal test run uses a tenth of both numbers. The test
//! runs in a separate process, because it measures memory.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed unwrap is a failed test; the test measures wall time"
)]

mod common;

use common::{Bench, CHAOS, run};
use roadwright_agent::Slot;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::operation::draw;
use roadwright_scenario::{CrossSection, RoadClass, Scenario};
use roadwright_simulation::RunOptions;
use roadwright_testing::{is_slow, plugin_library, scaled};
use std::time::{Duration, Instant};

/// Creates a grid of streets with room for thousands of agents.
fn grid(streets: u32) -> Scenario {
    let mut scenario = Scenario::new("grid");
    let style = draw::RoadStyle {
        name: "street".into(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 10.0,
        section: CrossSection::driving(2, 2, 3.25),
    };
    let far = f64::from(streets + 1) * 150.0;
    for i in 1..=streets {
        let at = f64::from(i) * 150.0;
        for (a, b) in [((0.0, at), (far, at)), ((at, 0.0), (at, far))] {
            let line = ReferenceLine::straight(DVec2::from(a), DVec2::from(b)).unwrap();
            let edit = draw::road(&scenario, &line, &style).unwrap();
            scenario.apply(edit).unwrap();
        }
    }
    scenario
}

fn populated(count: usize, threads: usize) -> RunOptions {
    RunOptions {
        populate: count,
        threads,
        seed: Some(7),
        ..RunOptions::default()
    }
}

/// Returns the memory of this process, bytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<f64>().ok());
    pages.unwrap_or_default() * 4096.0
}

#[test]
fn five_hundred_reloads_under_five_thousand_agents() {
    let (reloads, wanted) = (scaled(500), scaled(5000));
    let scenario = grid(if is_slow() { 20 } else { 7 });
    let bench = Bench::new();
    let library = std::fs::read(plugin_library("rw_chaos")).unwrap();
    // The builds differ only in their bytes, so that each reload saves and restores the state.
    let build = |number: u32| [&library[..], &number.to_le_bytes()].concat();
    bench.put("chaos.so", &build(0));
    let options = || populated(wanted as usize, 1);
    let mut world = bench.world(&scenario, Slot::Controller, CHAOS, options());
    let quiet = Bench::new();
    quiet.put("chaos.so", &build(0));
    let mut steady = quiet.world(&scenario, Slot::Controller, CHAOS, options());
    let agents = world.counts().spawned + world.counts().waiting;
    assert_eq!(agents as u64, wanted);
    run(&mut world, 1.0);
    run(&mut steady, 1.0);
    let (mut before, mut slowest) = (0.0, Duration::ZERO);
    for number in 1..=reloads as u32 {
        let began = Instant::now();
        bench.put("chaos.so", &build(number));
        world.step();
        slowest = slowest.max(began.elapsed());
        let hash = blake3::hash(&build(number)).to_hex();
        let swap = world.swaps().last().unwrap();
        assert_eq!(swap.to, hash.as_str(), "reload {number}");
        assert!(swap.note.contains("state kept"), "{}", swap.note);
        assert!(world.modules()[0].build.contains(&hash.as_str()[..8]));
        let counts = world.counts();
        assert_eq!(
            counts.active + counts.waiting + counts.arrived + counts.refused,
            agents
        );
        if number == 20 {
            before = resident();
        }
    }
    let slope = (resident() - before) / (reloads - 20) as f64 / f64::from(1 << 20);
    println!("{slope:.3} MiB for each reload, slowest reload and step {slowest:?}");
    assert!(slope <= 0.5, "{slope} MiB for each reload");
    // The run without reloads gives the same result.
    for _ in 0..reloads {
        steady.step();
    }
    assert_eq!(steady.swaps().len(), 0);
    assert_eq!(world.state_hash(), steady.state_hash());
    assert_eq!(bench.row(CHAOS).faults, 0);
}
