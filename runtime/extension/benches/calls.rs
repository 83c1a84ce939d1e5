//! Benchmarks of calls: a batch to a plugin compared with the same logic linked in, a round trip to an
//! isolated plugin, a script, and a reload.
#![allow(
    clippy::unwrap_used,
    reason = "a bench that cannot be set up has nothing to measure"
)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use roadwright_agent::{Behaviour, Controller, Effects, Module, Slot, Step, Surroundings};
use roadwright_extension::{Host, HostOptions, ISOLATED_MEMORY, Trust, Wanted};
use roadwright_plugin_api::{
    BehaviourInput, BehaviourOutput, ControllerInput, ControllerOutput, NOTHING,
};
use roadwright_scenario::ModuleSetting;
use roadwright_simulation::builtin_modules;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const ROWS: usize = 1024;
const ID: &str = "com.example.pure_pursuit";

fn built(package: &str, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--offline", "--locked", "-p", package])
        .current_dir(&root)
        .status();
    assert!(status.unwrap().success());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    target.join("release").join(name)
}

fn host(folder: &Path, isolated: bool) -> Host {
    let plugins = folder.join("plugins");
    std::fs::create_dir_all(&plugins).unwrap();
    Host::open(HostOptions {
        plugins: vec![plugins],
        scripts: Vec::new(),
        cache: folder.join("cache"),
        helper: vec![built("roadwright-extension", "roadwright-plugin-host").into_os_string()],
        trust: Trust::All,
        wanted: Wanted::All,
        isolated: isolated.then(|| ID.to_owned()).into_iter().collect(),
        isolated_memory: ISOLATED_MEMORY,
        watch: false,
        builtin: builtin_modules(),
    })
}

fn inputs() -> Vec<ControllerInput> {
    (0..ROWS)
        .map(|i| ControllerInput {
            speed: 5.0 + (i % 17) as f64 * 0.5,
            road_speed: 13.0,
            wheelbase: 2.7,
            waypoint_distance: 8.0,
            waypoint_angle: (i % 13) as f64 * 0.05 - 0.3,
            leader_gap: if i % 3 == 0 { 12.0 } else { NOTHING },
            leader_speed: 7.0,
            stop_distance: NOTHING,
            obstacle_distance: NOTHING,
            ..ControllerInput::default()
        })
        .collect()
}

fn plugins(criterion: &mut Criterion) {
    let library = built("pure-pursuit", "libpure_pursuit.so");
    let inputs = inputs();
    let mut outputs = vec![ControllerOutput::default(); ROWS];
    let (indices, ids): (Vec<u32>, Vec<u64>) = (0..ROWS as u32)
        .map(|slot| (slot, u64::from(slot) + 1))
        .unzip();
    let step = Step {
        indices: &indices,
        ids: &ids,
        ..Step::default()
    };
    let mut group = criterion.benchmark_group("controller, 1024 agents");
    group.throughput(Throughput::Elements(ROWS as u64));
    group.bench_function("linked in", |b| {
        use pure_pursuit::PurePursuit;
        use roadwright_plugin_sdk::{Agent, Controller};
        let mut logic = PurePursuit::default();
        b.iter(|| {
            for (row, (input, output)) in black_box(&inputs).iter().zip(&mut outputs).enumerate() {
                let agent = Agent {
                    id: ids[row],
                    index: indices[row],
                    seed: 0,
                };
                logic.control(&agent, input, output);
            }
            black_box(&mut outputs);
        });
    });
    for (name, isolated) in [("plugin", false), ("isolated plugin", true)] {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path(), isolated);
        std::fs::copy(&library, folder.path().join("plugins/p.so")).unwrap();
        host.rescan();
        let registry = host.registry();
        let module: Module<dyn Controller> = registry
            .module("bench", Slot::Controller, &ModuleSetting::new(ID))
            .unwrap();
        assert!(!module.logic.version().is_empty());
        group.bench_function(name, |b| {
            b.iter(|| module.step(&step, black_box(&inputs), &mut outputs));
        });
        if isolated {
            let one = Step {
                indices: &indices[..1],
                ids: &ids[..1],
                ..Step::default()
            };
            group.bench_function("isolated plugin, 1 agent", |b| {
                b.iter(|| module.step(&one, black_box(&inputs[..1]), &mut outputs[..1]));
            });
        }
    }
    group.finish();
}

fn reload(criterion: &mut Criterion) {
    let library = std::fs::read(built("pure-pursuit", "libpure_pursuit.so")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path(), false);
    let place = folder.path().join("plugins/p.so");
    let mut number = 0u64;
    let mut group = criterion.benchmark_group("reload");
    group.sample_size(20);
    group.bench_function("look, try in a child process, load", |b| {
        b.iter_batched(
            || {
                number += 1;
                std::fs::write(&place, [&library[..], &number.to_le_bytes()].concat()).unwrap();
            },
            |()| host.rescan(),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn scripts(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path(), false);
    let registry = host.registry();
    let mut group = criterion.benchmark_group("script, 1024 agents");
    group.throughput(Throughput::Elements(ROWS as u64));
    let (indices, ids): (Vec<u32>, Vec<u64>) = (0..ROWS as u32)
        .map(|slot| (slot, u64::from(slot) + 1))
        .unzip();
    let step = Step {
        indices: &indices,
        ids: &ids,
        ..Step::default()
    };
    let inputs = vec![
        BehaviourInput {
            speed: 8.0,
            road_speed: 13.0,
            leader_gap: 20.0,
            junction_distance: 60.0,
            ..BehaviourInput::default()
        };
        ROWS
    ];
    let mut outputs = vec![BehaviourOutput::default(); ROWS];
    for script in ["commuter.rhai", "learner_driver.rhai"] {
        let mut module: Module<dyn Behaviour> = registry
            .module("bench", Slot::Behaviour, &ModuleSetting::new(script))
            .unwrap();
        let moment = roadwright_agent::StepBoundary {
            step: 0,
            time: 0.0,
            capacity: ROWS as u32,
            added: &indices,
            removed: &[],
        };
        module
            .logic
            .at_step_boundary(&mut module.parameters, &moment);
        let scene = Arc::new(Surroundings::default());
        group.bench_function(script, |b| {
            b.iter(|| {
                let mut effects = Effects::default();
                let (logic, parameters) = (&module.logic, &module.parameters);
                logic.step(
                    parameters,
                    &step,
                    Some(&scene),
                    black_box(&inputs),
                    &mut outputs,
                    &mut effects,
                );
                effects
            });
        });
    }
    group.finish();
}

criterion_group!(benches, plugins, reload, scripts);
criterion_main!(benches);
