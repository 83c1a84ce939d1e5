//! A step of old-town with 150 vehicles, by controller. Elements per second are agent updates.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use roadwright_scenario::file;
use roadwright_simulation::{RunOptions, World, builtin_modules};
use std::path::PathBuf;

fn step(criterion: &mut Criterion) {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/old-town.scenario.json");
    let scenario = file::load(&path).expect("the shipped scenario");
    let mut group = criterion.benchmark_group("old-town step");
    group.sample_size(20);
    for controller in ["fuzzy_driver", "idm", "pursuit"] {
        let options = RunOptions {
            controller: Some(controller.into()),
            ..RunOptions::default()
        };
        let mut world = World::new(&scenario, &builtin_modules(), &options).expect("sound");
        while world.time() < 20.0 {
            world.step();
        }
        group.throughput(Throughput::Elements(world.counts().active as u64));
        group.bench_function(controller, |b| b.iter(|| world.step()));
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
