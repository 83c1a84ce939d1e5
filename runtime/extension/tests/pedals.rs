//! Plugins that drive with pedals.

use crate::common::{Bench, EXACT, c_source, run, shipped};
use roadwright_agent::{Controller, Slot, Step};
use roadwright_extension::FileState;
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};
use roadwright_scenario::{DynamicsLevel, Scenario};
use roadwright_simulation::{Ground, RunOptions, SavedWorld, World};
use std::path::{Path, PathBuf};

const FOOT: &str = "org.roadwright.foot";

fn foot(folder: &Path, name: &str, definitions: &[&str]) -> PathBuf {
    c_source("pedals.c", &folder.join(name), definitions, &EXACT)
}

/// Creates a scenario of vehicles with and without engines.
fn grounds() -> Scenario {
    shipped("proving-ground")
}

fn options(level: DynamicsLevel, threads: usize) -> RunOptions {
    RunOptions {
        threads,
        dynamics: Some(level),
        ..RunOptions::default()
    }
}

fn world(bench: &Bench, level: DynamicsLevel, threads: usize) -> World {
    bench.world(&grounds(), Slot::Controller, FOOT, options(level, threads))
}

#[test]
fn a_plugin_drives_by_pedals_alike_in_this_process_and_in_one_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("foot.so", &foot(folder.path(), "foot", &[]));
    for level in [DynamicsLevel::DynamicOneTrack, DynamicsLevel::OneTrack] {
        let end = |isolated: bool, threads: usize| {
            bench.host().set_isolated(FOOT, isolated);
            let mut world = world(&bench, level, threads);
            run(&mut world, 20.0);
            let gears: Vec<i8> = world
                .snapshot()
                .mechanics
                .iter()
                .filter_map(|one| one.drive.map(|drive| drive.gear))
                .collect();
            (world.state_hash(), gears, world.counts().active)
        };
        let (hash, gears, active) = end(false, 1);
        assert!(active > 0);
        assert_eq!(hash, end(false, 2).0, "{level} with two threads");
        assert_eq!(hash, end(true, 1).0, "{level} in a process of its own");
        if level == DynamicsLevel::DynamicOneTrack {
            assert!(!gears.is_empty(), "no vehicle has an engine");
        }
    }
    let row = bench.row(FOOT);
    assert_eq!(row.faults, 0, "{}", bench.said());
}

#[test]
fn a_saved_world_goes_on_with_pedals_and_with_those_that_were_kept() {
    let folder = tempfile::tempdir().unwrap();
    for (name, definitions) in [("plain", &[][..]), ("keeps", &["KEEP=400"][..])] {
        let bench = Bench::new();
        bench.put_file("foot.so", &foot(folder.path(), name, definitions));
        let level = DynamicsLevel::DynamicOneTrack;
        let mut whole = world(&bench, level, 1);
        run(&mut whole, 5.0);
        let bytes = whole.save().unwrap().to_bytes();
        let saved = SavedWorld::from_bytes(&bytes).unwrap();
        let modules = crate::common::only(Slot::Controller, FOOT);
        let options = RunOptions {
            modules,
            ..options(level, 2)
        };
        let scenario = grounds();
        let ground = Ground::new(&scenario);
        let registry = bench.host().registry();
        let (mut again, notes) =
            World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        for world in [&mut whole, &mut again] {
            run(world, 10.0);
        }
        assert_eq!(whole.state_hash(), again.state_hash(), "{name}");
    }
}

#[test]
fn pedals_out_of_range_are_replaced_by_the_built_in_module_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("foot.so", &foot(folder.path(), "foot", &["NONSENSE"]));
    // The plugin's trial has detected the bad value, so the plugin is not used.
    let files = bench.host().files();
    assert!(matches!(files[0].state, FileState::Rejected(_)));
    let said = bench.said();
    assert!(
        said.contains("controller returned a throttle value outside 0 to 1"),
        "{said}"
    );
}

#[test]
fn a_table_without_the_function_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("foot.so", &foot(folder.path(), "foot", &["SHORT"]));
    // The table does not have `step` either, so the plugin cannot be called.
    assert!(
        bench.said().contains("the plugin does not provide step"),
        "{}",
        bench.said()
    );
}

/// Checks that a course that simulates its own vehicle gets accelerations, even from a controller with
/// pedals.
#[test]
fn who_has_no_vehicle_gets_the_acceleration_of_some_car() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("foot.so", &foot(folder.path(), "foot", &[]));
    let registry = bench.host().registry();
    let entries = registry.of::<dyn Controller>();
    let entry = entries.iter().find(|entry| entry.info.id == FOOT).unwrap();
    let module = entry.make();
    assert!(module.wants_pedals());
    let input = ControllerInput {
        speed: 8.0,
        road_speed: 13.0,
        wheelbase: 2.7,
        waypoint_distance: 10.0,
        leader_gap: NOTHING,
        stop_distance: NOTHING,
        obstacle_distance: NOTHING,
        ..ControllerInput::default()
    };
    let step = Step {
        indices: &[0],
        ids: &[1],
        ..Step::default()
    };
    let mut outputs = [ControllerOutput::default()];
    module.step(&step, &[input], &mut outputs);
    // The plugin presses the pedal to at most 0.6 of 2 m/s^2.
    assert!((outputs[0].acceleration - 1.2).abs() < 1e-9, "{outputs:?}");
}

/// Checks that builds with pedals and builds with accelerations can replace each other.
#[test]
fn builds_with_and_without_pedals_take_over_from_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let steps = |version: &str| {
        let definitions = [format!("VERSION=\"{version}\""), format!("ID=\"{FOOT}\"")];
        let definitions: Vec<&str> = definitions.iter().map(String::as_str).collect();
        crate::common::c_plugin(folder.path(), version, &definitions, &["-lm"])
    };
    bench.put_file("foot.so", &steps("1.0.0"));
    let level = DynamicsLevel::DynamicOneTrack;
    let mut world = world(&bench, level, 1);
    run(&mut world, 2.0);
    let pressed = foot(folder.path(), "pressed", &["VERSION=\"1.1.0\""]);
    bench.put_file("foot.so", &pressed);
    run(&mut world, 2.0);
    bench.put_file("foot.so", &steps("1.2.0"));
    run(&mut world, 2.0);
    let swaps: Vec<String> = world
        .summary()
        .swaps
        .iter()
        .map(|swap| swap.note.clone())
        .collect();
    assert_eq!(swaps.len(), 2, "{swaps:?}");
    assert!(
        swaps[0].contains("1.1.0 active") && swaps[1].contains("1.2.0 active"),
        "{swaps:?}"
    );
    assert_eq!(bench.row(FOOT).faults, 0, "{}", bench.said());
}
