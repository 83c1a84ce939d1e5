//! Queries that a plugin can send to the host: whether its call was abandoned, and which extensions exist.
#![cfg(unix)]

use crate::common::{Bench, c_plugin, shipped, wait_until};
use roadwright_agent::Slot;
use roadwright_simulation::{RunOptions, World};
use std::path::Path;
use std::time::Duration;

const PROBE: &str = "org.roadwright.probe";
/// Definition that sets the number of the call in which the plugin hangs. The call is later than the calls of
/// the trial.
const HANG_AT: &str = "HANG_AT=10";

/// Creates a world driven by a plugin that hangs until it learns that its call was abandoned.
fn hanging(bench: &Bench, folder: &Path, definitions: &[&str]) -> World {
    bench.put_file(
        "probe.so",
        &c_plugin(folder, "probe", definitions, &["-lm"]),
    );
    let scenario = shipped("old-town");
    bench.world(&scenario, Slot::Controller, PROBE, RunOptions::default())
}

/// Returns the largest acceleration or braking of any vehicle, m/s^2.
fn hardest(world: &World) -> f64 {
    let snapshot = world.snapshot();
    let hard = snapshot.vehicles.iter().map(|v| v.acceleration.abs());
    hard.fold(0.0, f64::max)
}

#[test]
fn a_call_that_is_given_up_hears_so_and_its_answer_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let mut world = hanging(&bench, folder.path(), &[HANG_AT]);
    let watch = bench.host().watch_calls();
    let driven = std::thread::spawn(move || {
        let mut worst = 0.0f64;
        for _ in 0..400 {
            world.step();
            worst = worst.max(hardest(&world));
        }
        (world, worst)
    });
    // The plugin hangs, but its call is not abandoned, because the patience is longer.
    wait_until("the hang is seen", || !watch.hangs().is_empty());
    watch.give_up(Duration::from_secs(60));
    assert!(!driven.is_finished());
    assert_eq!(bench.host().timed_out(), None);
    // The plugin's call began a moment after the plugin was entered.
    wait_until("it is given up", || {
        watch.give_up(Duration::from_secs(2));
        bench.host().timed_out().is_some()
    });
    let (world, worst) = driven.join().unwrap();
    let why = bench.host().timed_out().unwrap();
    assert!(
        why.starts_with(PROBE) && why.contains("did not answer for 2 s"),
        "{why}"
    );
    // The run continued without that answer, and with a fresh instance.
    assert!(worst > 0.5 && worst < 20.0, "{worst}");
    let swaps = world.swaps();
    assert_eq!(swaps.len(), 1, "{swaps:?}");
    assert!(swaps[0].note.contains("abandoned because"), "{swaps:?}");
    assert!(swaps[0].note.contains("restart 1 of 3"), "{swaps:?}");
    let log = bench.row(PROBE).log.join("\n");
    assert!(log.contains("heard that it is given up"), "{log}");
    // The plugin saw no cancellation in any other call.
    assert!(!log.contains("without a reason"), "{log}");
}

#[test]
fn an_isolated_call_that_is_given_up_hears_so() {
    let folder = tempfile::tempdir().unwrap();
    let heard = folder.path().join("heard");
    let bench = Bench::with(|options| {
        options.isolated.insert(PROBE.into());
    });
    let file = format!("HEARD=\"{}\"", heard.display());
    let mut world = hanging(&bench, folder.path(), &[HANG_AT, &file]);
    world.step();
    assert!(!heard.exists() && world.swaps().is_empty());
    let mut worst = 0.0f64;
    for _ in 0..400 {
        world.step();
        worst = worst.max(hardest(&world));
    }
    assert!(heard.exists());
    assert!(worst < 20.0, "{worst}");
    let notes: Vec<_> = world.swaps().iter().map(|swap| &swap.note).collect();
    assert!(notes[0].contains("did not answer for 2 s"), "{notes:?}");
    assert!(bench.host().timed_out().is_some());
}

#[test]
fn there_are_no_extensions_of_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("probe.so", &c_plugin(folder.path(), "probe", &[], &["-lm"]));
    let log = bench.row(PROBE).log.join("\n");
    assert!(
        log.contains("no such extension") && !log.contains("a surprise"),
        "{log}"
    );
}
