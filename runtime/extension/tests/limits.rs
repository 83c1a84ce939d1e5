//! Resource limits of a plugin in a separate process.
#![cfg(target_os = "linux")]

use crate::common::{Bench, c_plugin, run, shipped, wait_until};
use roadwright_agent::Slot;
use roadwright_extension::Health;
use roadwright_simulation::{RunOptions, World};

const PROBE: &str = "org.roadwright.probe";

fn isolated(definitions: &[&str], memory: u64) -> (Bench, World) {
    let bench = Bench::with(|options| {
        options.isolated.insert(PROBE.into());
        options.isolated_memory = memory;
    });
    let folder = tempfile::tempdir().unwrap();
    bench.put_file(
        "x.so",
        &c_plugin(folder.path(), "probe", definitions, &["-lm"]),
    );
    let scenario = shipped("old-town");
    let world = bench.world(&scenario, Slot::Controller, PROBE, RunOptions::default());
    (bench, world)
}

fn notes(world: &World) -> String {
    world
        .swaps()
        .iter()
        .map(|swap| swap.note.clone() + "\n")
        .collect()
}

#[test]
fn one_that_eats_memory_is_stopped_and_told() {
    let (bench, mut world) = isolated(&["EATS"], 768);
    run(&mut world, 3.0);
    let said = notes(&world);
    assert!(said.contains("its process crashed (SIGSEGV)"), "{said}");
    assert!(said.contains("MiB of its limit of 768 MiB"), "{said}");
    assert!(said.contains("idm drives"), "{said}");
    assert_eq!(bench.row(PROBE).lamp, Health::Faulted);
    assert!(world.counts().active > 0);
    // A plugin that wastes no memory works with the same limit.
    let (bench, mut world) = isolated(&[], 768);
    run(&mut world, 3.0);
    assert_eq!(
        (notes(&world).as_str(), bench.row(PROBE).lamp),
        ("", Health::Good)
    );
}

#[test]
fn one_that_writes_without_end_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("endless");
    let definition = format!("WRITES=\"{}\"", file.display());
    let (_bench, mut world) = isolated(&[&definition], 4096);
    run(&mut world, 3.0);
    let said = notes(&world);
    assert!(
        said.contains("SIGXFSZ: a file of more than 1 GiB"),
        "{said}"
    );
    assert!(file.metadata().unwrap().len() <= 1 << 30);
}

/// Returns the number of processes whose command line contains a word.
fn processes_with(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.filter(|line| line.contains(word)).count()
}

#[test]
fn what_it_has_started_ends_with_it() {
    let (bench, mut world) = isolated(&["FORKS"], 4096);
    let copies = bench.folder.path().to_str().unwrap().to_owned();
    run(&mut world, 1.0);
    assert_eq!(processes_with(&copies), 2, "the process and its child");
    drop(world);
    wait_until("both have ended", || processes_with(&copies) == 0);
}
