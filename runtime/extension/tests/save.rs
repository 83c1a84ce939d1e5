//! Checks that saved worlds with scripts and plugins continue bit for bit.

use crate::common::{Bench, c_plugin, only, root, run, shipped};
use crate::random_steps::Random;
use roadwright_agent::Slot;
use roadwright_scenario::Scenario;
use roadwright_simulation::{RunOptions, SaveError, SavedWorld, World};

/// Runs to each of the moments, saves and restores the world there, and compares both worlds some time later.
fn hold(bench: &Bench, scenario: &Scenario, options: &RunOptions, moments: &[f64]) {
    let registry = bench.host().registry();
    let mut whole = World::new(scenario, &registry, options).unwrap();
    let mut saves = Vec::new();
    for moment in moments {
        let seconds = moment - whole.time();
        run(&mut whole, seconds);
        saves.push((whole.save().unwrap().to_bytes(), whole.state_hash()));
    }
    run(&mut whole, 8.0);
    for (bytes, hash) in saves {
        let saved = SavedWorld::from_bytes(&bytes).unwrap();
        let ground = whole.ground().clone();
        let (mut world, notes) =
            World::restore(ground, scenario, &registry, options, &saved).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(world.state_hash(), hash);
        let seconds = whole.time() - world.time();
        run(&mut world, seconds);
        assert_eq!(world.state_hash(), whole.state_hash());
        let lines = |world: &World| world.log().cloned().collect::<Vec<_>>();
        assert_eq!(lines(&world), lines(&whole));
    }
}

#[test]
fn scripts_keep_their_memory() {
    for name in ["rush-hour", "convoy", "chase"] {
        let bench = Bench::new();
        let options = RunOptions::default();
        hold(&bench, &shipped(name), &options, &[0.01, 7.37, 23.0]);
    }
    // While driving off, while its trailer is uncoupled, while backing up to it, and after coupling.
    let bench = Bench::new();
    let (scenario, options) = (shipped("trailer-yard"), RunOptions::default());
    hold(&bench, &scenario, &options, &[10.0, 50.0, 95.0, 130.0]);
}

#[test]
fn plugins_get_their_state_back() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        eprintln!("skipped: the kept binaries are for x86-64 Linux");
        return;
    }
    for (name, slot, id, isolated) in [
        (
            "stateful",
            Slot::Controller,
            "org.roadwright.kept.stateful",
            false,
        ),
        (
            "stateful",
            Slot::Controller,
            "org.roadwright.kept.stateful",
            true,
        ),
        (
            "parallel",
            Slot::Controller,
            "org.roadwright.kept.parallel",
            false,
        ),
        (
            "planner",
            Slot::Planner,
            "org.roadwright.kept.planner",
            false,
        ),
        (
            "fitness",
            Slot::Fitness,
            "org.roadwright.kept.fitness",
            false,
        ),
    ] {
        let bench = Bench::with(|options| {
            if isolated {
                options.isolated.insert(id.into());
            }
        });
        let file = format!("runtime/extension/tests/abi/{name}-1.0-x86_64-linux.so");
        bench.put_file("kept.so", &root().join(file));
        let options = RunOptions {
            modules: only(slot, id),
            ..RunOptions::default()
        };
        hold(&bench, &shipped("crossroads"), &options, &[0.5, 11.03]);
    }
}

/// Saves at a random step, and compares all later snapshots with those of the restored world.
fn hold_at_random(bench: &Bench, name: &str, options: &RunOptions, random: &mut Random) {
    let (scenario, registry) = (shipped(name), bench.host().registry());
    let mut whole = World::new(&scenario, &registry, options).unwrap();
    let (first, later) = random.moments(whole.dt());
    (0..first).for_each(|_| whole.step());
    let bytes = whole.save().unwrap().to_bytes();
    let hash = whole.state_hash();
    let seen = |world: &mut World| {
        let step = |_| {
            world.step();
            world.snapshot().hash()
        };
        (0..later).map(step).collect::<Vec<u64>>()
    };
    let pictures = seen(&mut whole);
    let saved = SavedWorld::from_bytes(&bytes).unwrap();
    for threads in [1, 2] {
        let said = format!("{name}, step {first}, {threads} threads, {random}");
        let options = RunOptions {
            threads,
            ..options.clone()
        };
        let ground = whole.ground().clone();
        let (mut world, notes) =
            World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
        assert!(notes.is_empty(), "{said}: {notes:?}");
        assert_eq!(world.state_hash(), hash, "{said}");
        assert!(seen(&mut world) == pictures, "{said}");
        assert_eq!(world.state_hash(), whole.state_hash(), "{said}");
        assert_eq!(world.summary(), whole.summary(), "{said}");
    }
}

/// The shipped scenarios whose stacks name scripts.
const WITH_SCRIPTS: [&str; 5] = ["car-park", "chase", "convoy", "rush-hour", "trailer-yard"];

#[test]
fn every_scenario_with_scripts_goes_on_from_a_random_step() {
    let mut random = Random::from_environment();
    for (number, name) in WITH_SCRIPTS.iter().enumerate() {
        let options = RunOptions {
            threads: 1 + number % 2,
            ..RunOptions::default()
        };
        hold_at_random(&Bench::new(), name, &options, &mut random);
    }
}

#[test]
fn scripts_and_a_plugin_go_on_from_a_random_step() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        eprintln!("skipped: the kept binaries are for x86-64 Linux");
        return;
    }
    let bench = Bench::new();
    let file = "runtime/extension/tests/abi/stateful-1.0-x86_64-linux.so";
    bench.put_file("kept.so", &root().join(file));
    let options = RunOptions {
        modules: only(Slot::Controller, "org.roadwright.kept.stateful"),
        ..RunOptions::default()
    };
    let mut random = Random::from_environment();
    for name in ["crossroads", "convoy"] {
        hold_at_random(&bench, name, &options, &mut random);
    }
}

#[test]
fn a_plugin_and_a_script_in_the_place_of_others_start_fresh() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let library = c_plugin(folder.path(), "p", &["VERSION=\"1.0.0\""], &["-lm"]);
    bench.put_file("p.so", &library);
    let scenario = shipped("convoy");
    let registry = bench.host().registry();
    let mut world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
    run(&mut world, 6.0);
    let saved = world.save().unwrap();
    let id = "org.roadwright.probe";
    for (slot, module, old) in [
        (Slot::Controller, id, "idm"),
        (Slot::Behaviour, "commuter.rhai", "convoy.rhai"),
        (Slot::Behaviour, "lane_keeper", "convoy.rhai"),
    ] {
        let options = RunOptions {
            modules: only(slot, module),
            ..RunOptions::default()
        };
        let ground = world.ground().clone();
        let (mut branch, notes) =
            World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
        let note = format!("{slot} {module}: starts fresh and replaces {old}");
        assert!(notes.contains(&note), "{notes:?}");
        assert_eq!(branch.summary().started_fresh.len(), notes.len());
        run(&mut branch, 4.0);
        assert!(branch.faults().is_empty(), "{:?}", branch.faults());
        let row = bench.host().modules();
        assert!(row.iter().all(|row| row.faults == 0));
    }
}

#[test]
fn a_module_that_cannot_save_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let library = c_plugin(folder.path(), "a", &["SHORT_API"], &["-lm"]);
    bench.put_file("short.so", &library);
    let scenario = shipped("crossroads");
    let id = "org.roadwright.probe";
    let mut world = bench.world(&scenario, Slot::Controller, id, RunOptions::default());
    run(&mut world, 5.0);
    let error = world.save().err().unwrap();
    assert_eq!(error, SaveError::Modules(vec![format!("controller {id}")]));
    assert!(error.to_string().contains(id) && error.to_string().contains("--allow-inexact"));
    // If that is allowed, the save reports what will start fresh, and so does the restored world.
    let saved = world.save_inexact().unwrap();
    assert_eq!(saved.inexact(), [format!("controller {id}")]);
    let options = RunOptions {
        modules: only(Slot::Controller, id),
        ..RunOptions::default()
    };
    let registry = bench.host().registry();
    let ground = world.ground().clone();
    let (_, notes) = World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
    assert_eq!(
        notes,
        [format!(
            "controller {id}: starts fresh: its state could not be saved"
        )]
    );
}

#[test]
fn another_build_of_a_module_starts_fresh_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let build = |name: &str, flags: &[&str]| c_plugin(folder.path(), name, flags, &["-lm"]);
    let bench = Bench::new();
    bench.put_file("p.so", &build("one", &["VERSION=\"1.0.0\""]));
    let scenario = shipped("crossroads");
    let id = "org.roadwright.probe";
    let mut world = bench.world(&scenario, Slot::Controller, id, RunOptions::default());
    run(&mut world, 5.0);
    let saved = world.save().unwrap();
    let ground = world.ground().clone();
    drop(world);
    bench.put_file("p.so", &build("two", &["VERSION=\"2.0.0\"", "GAIN=0.8"]));
    let options = RunOptions {
        modules: only(Slot::Controller, id),
        ..RunOptions::default()
    };
    let registry = bench.host().registry();
    let (mut world, notes) =
        World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
    assert!(
        notes
            .iter()
            .any(|note| note.contains(id) && note.contains("its build has changed")),
        "{notes:?}"
    );
    run(&mut world, 5.0);
    assert_eq!(bench.row(id).faults, 0);
}
