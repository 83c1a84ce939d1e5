//! Reloading while agents drive, determinism, and compatibility with old binaries.
#![allow(clippy::disallowed_methods, reason = "tests measure wall time")]

use crate::common::{Bench, c_plugin, compile, root, run, shipped, wait_until};
use roadwright_agent::Slot;
use roadwright_extension::{FileState, check_plugin};
use roadwright_scenario::Stack;
use roadwright_simulation::{RunOptions, World};
use roadwright_testing::{is_slow, plugin_library};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[test]
fn the_way_a_file_arrives_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let library = |version: u32| {
        let definition = format!("VERSION=\"{version}.0.0\"");
        let name = format!("v{version}");
        c_plugin(folder.path(), &name, &[&definition], &["-lm"])
    };
    let bench = Bench::with(|options| options.watch = true);
    let place = bench.plugins().join("probe.so");
    let id = "org.roadwright.probe";
    let arrives = |version: u32| {
        let wanted = format!("{version}.0.0");
        wait_until(&wanted, || {
            let rows = bench.host().modules();
            rows.iter().any(|row| row.id == id && row.version == wanted)
        });
    };
    // Copied.
    std::fs::copy(library(1), &place).unwrap();
    arrives(1);
    // Overwritten by a copy.
    std::fs::copy(library(2), &place).unwrap();
    arrives(2);
    // Replaced by a move.
    let third = library(3);
    std::fs::rename(&third, bench.plugins().join(".third")).unwrap();
    std::fs::rename(bench.plugins().join(".third"), &place).unwrap();
    arrives(3);
    // Written by the linker itself.
    let source = root().join("runtime/extension/tests/c/probe.c");
    compile(&source, &place, &["-DVERSION=\"4.0.0\"", "-lm"]).unwrap();
    arrives(4);
    // Written slowly, in pieces.
    let bytes = std::fs::read(library(5)).unwrap();
    let mut file = std::fs::File::create(&place).unwrap();
    for piece in bytes.chunks(bytes.len() / 4 + 1) {
        std::io::Write::write_all(&mut file, piece).unwrap();
        std::thread::sleep(Duration::from_millis(220));
    }
    drop(file);
    arrives(5);
    // Removed and created again.
    std::fs::remove_file(&place).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    std::fs::copy(library(6), &place).unwrap();
    arrives(6);
}

#[test]
fn many_rewrites_end_with_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(c_plugin(folder.path(), "a", &[], &["-lm"])).unwrap();
    let bench = Bench::with(|options| options.watch = true);
    let place = bench.plugins().join("probe.so");
    let mut last = Vec::new();
    for number in 0..100u32 {
        last = [&bytes[..], &number.to_le_bytes()].concat();
        std::fs::write(&place, &last).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    let hash = blake3::hash(&last).to_hex().to_string();
    wait_until("the last build is active", || {
        bench.host().modules().iter().any(|row| row.hash == hash)
    });
}

#[test]
fn a_saved_build_acts_within_half_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::with(|options| options.watch = true);
    let place = bench.plugins().join("probe.so");
    std::fs::copy(c_plugin(folder.path(), "a", &[], &["-lm"]), &place).unwrap();
    let id = "org.roadwright.probe";
    wait_until("it is there", || {
        bench
            .host()
            .modules()
            .iter()
            .any(|row| row.generation == 1 && row.id == id)
    });
    let scenario = shipped("old-town");
    let mut world = bench.world(&scenario, Slot::Controller, id, RunOptions::default());
    run(&mut world, 1.0);
    let second = c_plugin(folder.path(), "b", &["VERSION=\"2.0.0\""], &["-lm"]);
    let began = Instant::now();
    std::fs::copy(second, &place).unwrap();
    while world.swaps().is_empty() {
        world.step();
        assert!(began.elapsed() < Duration::from_secs(60));
    }
    println!("from copy to first step {:?}", began.elapsed());
}

/// Whether all stacks have finite scores.
fn is_rated(summary: &roadwright_simulation::Summary) -> bool {
    let mut scores = summary.stacks.iter().flat_map(|stack| &stack.fitness);
    !summary.stacks.is_empty() && scores.all(|f| f.score.count > 0 && f.score.mean.is_finite())
}

/// Returns all example plugins with their slots and ids.
fn examples(folder: &std::path::Path) -> Vec<(Slot, &'static str, PathBuf)> {
    let c = |name: &str, source: &str| {
        let library = folder.join(format!("{name}.so"));
        let flags = ["-ffp-contract=off", "-lm"];
        compile(&root().join(source), &library, &flags).map(|()| library)
    };
    let mut all = vec![
        (
            Slot::Controller,
            "com.example.pure_pursuit",
            plugin_library("pure_pursuit"),
        ),
        (Slot::Controller, "com.example.orca", plugin_library("orca")),
        (
            Slot::Planner,
            "com.example.lattice_planner",
            plugin_library("lattice_planner"),
        ),
        (
            Slot::Fitness,
            "com.example.comfort_fitness",
            plugin_library("comfort_fitness"),
        ),
    ];
    if let Some(library) = c("stanley_c", "plugins/stanley_c/stanley_c.c") {
        all.push((Slot::Controller, "com.example.stanley_c", library));
    }
    if let Some(library) = c(
        "watching_fitness",
        "plugins/watching_fitness/watching_fitness.c",
    ) {
        all.push((Slot::Fitness, "com.example.watching_fitness", library));
    }
    if let Some(library) = c("neural_driver", "plugins/neural_driver/neural_driver.c") {
        all.push((Slot::Controller, "com.example.neural_driver", library));
    }
    if let Some(library) = c("mpc_c", "plugins/mpc_c/mpc_c.c") {
        all.push((Slot::Controller, "com.example.mpc_c", library));
    }
    if let Some(library) = c("pedals_c", "plugins/pedals_c/pedals_c.c") {
        all.push((Slot::Controller, "com.example.pedals_c", library));
    }
    if let Some(library) = c(
        "potential_field",
        "plugins/potential_field/potential_field.cpp",
    ) {
        all.push((Slot::Controller, "com.example.potential_field", library));
    }
    all
}

#[test]
fn all_examples_drive_everybody_home_the_same_way_with_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    for (slot, id, library) in examples(folder.path()) {
        let bench = Bench::new();
        bench.put_file("example.so", &library);
        let scenario = shipped("old-town");
        let end = |threads: usize, isolated: bool| {
            bench.host().set_isolated(id, isolated);
            let options = RunOptions {
                threads,
                ..RunOptions::default()
            };
            let mut world = bench.world(&scenario, slot, id, options);
            run(&mut world, if is_slow() { 60.0 } else { 20.0 });
            (world.state_hash(), world.summary())
        };
        let (hash, summary) = end(1, false);
        assert_eq!(hash, end(2, false).0, "{id} with two threads");
        assert_eq!(hash, end(1, true).0, "{id} in a process of its own");
        assert_eq!(summary.agents.refused, 0, "{id}");
        assert!(is_rated(&summary));
        let row = bench.row(id);
        assert_eq!(row.faults, 0, "{id}: {:?}", row.last_error);
        // The rest of the run. The controllers differ little in it, so one is enough for a usual run.
        if is_slow() || id == "com.example.pure_pursuit" {
            let mut world = bench.world(&scenario, slot, id, RunOptions::default());
            run(&mut world, 420.0);
            assert_eq!(world.counts().arrived, 150, "{id}");
        }
    }
}

#[test]
fn all_examples_pass_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let helper = vec![env!("CARGO_BIN_EXE_roadwright-plugin-host").into()];
    let report = |library: &std::path::Path| {
        let mut lines = Vec::new();
        check_plugin(library, &helper, |line| lines.push(line.clone()));
        lines
    };
    for (_, id, library) in examples(folder.path()) {
        for line in report(&library) {
            assert_eq!(line.problem, None, "{id}: {}", line.name);
        }
    }
    // Control: a plugin that is expected to fail does fail.
    let library = c_plugin(folder.path(), "beyond", &["BEYOND"], &["-lm"]);
    let report = report(&library);
    let problems: Vec<_> = report.into_iter().filter_map(|line| line.problem).collect();
    assert!(
        problems.contains(&"the plugin writes beyond its rows".to_owned()),
        "{problems:?}"
    );
}

/// Binaries that were built with the header of version 1.0. Their source, `kept.c`, is in the same folder.
const KEPT: [(&str, Slot, &str); 5] = [
    ("controller", Slot::Controller, "org.roadwright.kept"),
    ("planner", Slot::Planner, "org.roadwright.kept.planner"),
    ("fitness", Slot::Fitness, "org.roadwright.kept.fitness"),
    ("stateful", Slot::Controller, "org.roadwright.kept.stateful"),
    ("parallel", Slot::Controller, "org.roadwright.kept.parallel"),
];

#[test]
fn binaries_of_abi_1_0_work_for_ever() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        eprintln!("skipped: the kept binaries are for x86-64 Linux");
        return;
    }
    for (name, slot, id) in KEPT {
        let file = format!("runtime/extension/tests/abi/{name}-1.0-x86_64-linux.so");
        let bench = Bench::new();
        bench.put_file("old.so", &root().join(file));
        let state = bench.host().files()[0].state.clone();
        assert_eq!(state, FileState::Active, "{name}: {}", bench.said());
        let hash = |threads: usize| {
            let options = RunOptions {
                threads,
                ..RunOptions::default()
            };
            let mut world = bench.world(&shipped("old-town"), slot, id, options);
            run(&mut world, 60.0);
            assert!(world.counts().arrived > 0, "{name}");
            let summary = world.summary();
            assert!(is_rated(&summary));
            world.state_hash()
        };
        assert_eq!(hash(1), hash(2), "{name}");
        let row = bench.row(id);
        assert_eq!(
            (row.faults, row.fallback_agents),
            (0, 0),
            "{name}: {}",
            bench.said()
        );
        assert!(row.calls > 0, "{name}");
    }
}

#[test]
fn a_plugin_that_knows_fewer_functions_works() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file(
        "short.so",
        &c_plugin(folder.path(), "a", &["SHORT_API"], &["-lm"]),
    );
    let id = "org.roadwright.probe";
    let scenario = shipped("old-town");
    let mut world: World = bench.world(&scenario, Slot::Controller, id, RunOptions::default());
    run(&mut world, 5.0);
    assert_eq!(bench.row(id).faults, 0);
    assert!(bench.row(id).parameters.is_empty());
}

#[test]
fn the_header_and_the_records_have_the_same_layout() {
    // The header asserts its layout at compile time, and so do the Rust records, both against the same
    // numbers. This test compiles both languages.
    let folder = tempfile::tempdir().unwrap();
    for name in ["layout.c", "layout.cpp"] {
        let source = folder.path().join(name);
        std::fs::write(&source, "#include \"roadwright_plugin.h\"\n").unwrap();
        let library = folder.path().join("layout.so");
        let _ = compile(&source, &library, &["-Wno-empty-translation-unit"]);
    }
    let header = std::fs::read_to_string(root().join("plugins/api/include/roadwright_plugin.h"));
    let header = header.unwrap();
    let sources = ["plugins/api/src/abi.rs", "plugins/api/src/records.rs"];
    let sources = sources.map(|path| std::fs::read_to_string(root().join(path)).unwrap());
    let records = sources.concat();
    let number = |line: &str| -> Option<(String, u32)> {
        let (left, right) = line.split_once("==")?;
        let digits: String = right.chars().filter(char::is_ascii_digit).collect();
        let name: String = left
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == ',')
            .collect::<String>()
            .to_lowercase();
        Some((name, digits.parse().ok()?))
    };
    let mut compared = 0;
    for line in header.lines().filter(|line| line.starts_with("RW_ASSERT(")) {
        let Some((name, bytes)) = number(line.split(", \"").next().unwrap()) else {
            continue;
        };
        // The number in a line such as `RW_ASSERT(sizeof(rw_batch) == 112)` must also be in the records.
        let plain = name
            .replace("rwassert", "")
            .replace("sizeof", "")
            .replace("offsetof", "");
        let is_same = |line: &str| {
            number(line).is_some_and(|(other, value)| {
                let other = other
                    .replace("assert", "")
                    .replace("sizeof", "")
                    .replace("offsetof", "");
                // In Rust, the fields of `conduct` and `motion` form structures within their rows.
                let other = other.replace("conduct", "").replace(",motion", ",");
                let other = if other.starts_with("rw") {
                    other
                } else {
                    format!("rw{other}")
                };
                other == plain && value == bytes
            })
        };
        if plain == "rwvoid" || plain == "void" {
            continue;
        }
        assert!(
            records
                .lines()
                .filter(|line| line.contains("assert!("))
                .any(is_same),
            "{line}: {plain}"
        );
        compared += 1;
    }
    assert!(compared > 20, "only {compared} asserts compared");
}

#[test]
fn parameters_are_carried_over_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("a.so", &c_plugin(folder.path(), "a", &[], &["-lm"]));
    let id = "org.roadwright.probe";
    let mut scenario = shipped("old-town");
    let stack = Stack {
        controller: roadwright_scenario::ModuleSetting::new(id).with("gain", 1.5),
        ..Stack::with_controller("idm")
    };
    let names: Vec<String> = scenario.stacks().keys().cloned().collect();
    for name in names {
        let edit = roadwright_scenario::Edit::Stack(name, Some(Box::new(stack.clone())));
        scenario.apply(edit).unwrap();
    }
    let registry = bench.host().registry();
    let mut world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
    run(&mut world, 5.0);
    let mut steady = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
    run(&mut steady, 5.0);
    bench.put_file(
        "a.so",
        &c_plugin(folder.path(), "b", &["VERSION=\"2.0.0\""], &["-lm"]),
    );
    run(&mut world, 5.0);
    run(&mut steady, 5.0);
    // `steady` has swapped as well. The same builds at the same steps give the same bits.
    assert_eq!(world.state_hash(), steady.state_hash());
    assert_eq!(world.swaps().len(), 1);
}
