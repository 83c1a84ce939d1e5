//! Steps of old-town with 150 vehicles, for each controller. Elements per second are agent updates.

mod allocator;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use roadwright_agent::Slot;
use roadwright_scenario::file;
use roadwright_simulation::{ModuleOverrides, RunOptions, World, builtin_modules};
use std::path::PathBuf;

/// Number of steps in one measurement.
const STEPS: u64 = 100;

fn step(criterion: &mut Criterion) {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/old-town.scenario.json");
    let scenario = file::load(&path).expect("the shipped scenario");
    let mut group = criterion.benchmark_group("old-town, 100 steps");
    group.sample_size(10);
    for controller in ["fuzzy_driver", "idm", "pursuit"] {
        // After 20 s, all vehicles are on their way and none has arrived.
        let under_way = || {
            let mut modules = ModuleOverrides::default();
            let only = vec![controller.into()];
            modules.set(Slot::Controller, only).expect("one controller");
            let options = RunOptions {
                modules,
                ..RunOptions::default()
            };
            let mut world = World::new(&scenario, &builtin_modules(), &options).expect("sound");
            while world.time() < 20.0 {
                world.step();
            }
            world
        };
        let active = under_way().counts().active as u64;
        group.throughput(Throughput::Elements(STEPS * active));
        group.bench_function(controller, |b| {
            b.iter_batched_ref(
                under_way,
                |world| (0..STEPS).for_each(|_| world.step()),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
