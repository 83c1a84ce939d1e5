//! The fuzzy driver: a single rule table, and the whole driver with a batch.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use roadwright_agent::Step;
use roadwright_control::FuzzyDriver;
use roadwright_control::fuzzy::{Aggregation, ROUTE_SPEED};
use roadwright_geometry::math::Stream;
use roadwright_plugin_api::{ControllerInput, ControllerOutput};
use std::hint::black_box;

fn fuzzy(criterion: &mut Criterion) {
    let mut stream = Stream::new(1, "inputs", 0);
    let inputs: Vec<ControllerInput> = (0..4096)
        .map(|_| ControllerInput {
            speed: stream.next_in(0.0, 14.0),
            road_speed: 14.0,
            wheelbase: 2.7,
            waypoint_distance: stream.next_in(5.0, 30.0),
            waypoint_angle: stream.next_in(-0.7, 0.7),
            obstacle_distance: stream.next_in(2.0, 40.0),
            obstacle_angle: stream.next_in(-1.4, 1.4),
            leader_gap: stream.next_in(1.0, 80.0),
            stop_distance: stream.next_in(1.0, 80.0),
            ..ControllerInput::default()
        })
        .collect();
    let mut next = 0;
    criterion.bench_function("one rule table", |b| {
        b.iter(|| {
            next = (next + 1) % inputs.len();
            let row = &inputs[next];
            let (distance, angle) = (row.waypoint_distance, row.waypoint_angle.abs());
            black_box(ROUTE_SPEED.output(distance, angle, Aggregation::Max))
        });
    });
    let mut outputs = vec![ControllerOutput::default(); inputs.len()];
    let step = Step::default();
    let mut group = criterion.benchmark_group("fuzzy driver");
    group.throughput(Throughput::Elements(inputs.len() as u64));
    group.bench_function("batch of 4096", |b| {
        let driver = FuzzyDriver::entry().make();
        b.iter(|| driver.step(&step, black_box(&inputs), black_box(&mut outputs)));
    });
    group.finish();
}

criterion_group!(benches, fuzzy);
criterion_main!(benches);
