//! Benchmark of one simulated second of rigid bodies: one jeep on hills at 400 Hz, and fifty jeeps
//! among 210 loose posts at 200 Hz. A result of 1 ms is a thousand times faster than real time.

use criterion::{BatchSize, Bencher, Criterion, criterion_group, criterion_main};
use glam::{DVec2, DVec3};
use roadwright_geometry::math::{cos, sin};
use roadwright_geometry::{HeightField, Pose};
use roadwright_scenario::vehicle_file::{VehicleFile, WheelShape};
use roadwright_vehicle::rigid::{
    ALL_LAYERS, CarEntry, CarState, Controls, Flat, LooseEntry, LooseModel, LooseState, RigidModel,
    Solid, Yard,
};
use std::path::PathBuf;

/// Time step of the world, s.
const DT: f64 = 0.02;
/// Number of steps per measurement.
const STEPS: u32 = 50;
/// Distance from a jeep within which posts are simulated, m.
const NEAR: f64 = 5.0;

/// The kinds of wheels with which the jeep is measured.
const KINDS: [(&str, WheelShape); 2] = [("rays", WheelShape::Ray), ("spheres", WheelShape::Sphere)];

fn jeep(shape: WheelShape) -> RigidModel {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenarios/vehicles/willys-mb.vehicle.json");
    let mut file = VehicleFile::load(&path).expect("the shipped jeep");
    file.wheels.shape = shape;
    RigidModel::of_file(&file).expect("it has springs")
}

fn hills() -> HeightField {
    let level = HeightField::level(DVec2::splat(-300.0), DVec2::splat(300.0), 5.0).expect("small");
    let heights = (0..level.heights().len()).map(|sample| {
        let (x, y) = (sample % level.columns(), sample / level.columns());
        2.0 * sin(0.2 * x as f64) * cos(0.15 * y as f64)
    });
    level.with_heights(heights.collect()).expect("finite")
}

fn one_jeep(criterion: &mut Criterion) {
    for (kind, shape) in KINDS {
        let name = format!("one jeep on hills, 400 Hz, {kind}, 1 s");
        criterion.bench_function(&name, |bench| drive_hills(bench, &jeep(shape)));
    }
}

fn drive_hills(bench: &mut Bencher<'_>, model: &RigidModel) {
    let land = hills();
    let mut state = CarState::at_rest(model, Pose::default(), &land);
    state.roll(8.0);
    bench.iter_batched_ref(
        || state.clone(),
        |state| {
            for _ in 0..STEPS {
                let controls = Controls {
                    acceleration: 8.0 - state.speed(model),
                    steering: 0.1,
                    ..Controls::default()
                };
                let entry = CarEntry {
                    model,
                    state,
                    controls,
                    layers: ALL_LAYERS,
                    towed: &mut [],
                };
                Yard::new(&land, 400.0).step(vec![entry], Vec::new(), DT);
            }
        },
        BatchSize::SmallInput,
    );
}

/// Creates rows of jeeps in front of rows of posts.
fn field(model: &RigidModel, post: &LooseModel) -> (Vec<CarState>, Vec<LooseState>) {
    let jeeps = (0..50u32).map(|number| {
        let (x, y) = (-8.0 * f64::from(number / 10), 14.0 * f64::from(number % 10));
        let mut state = CarState::at_rest(model, Pose::new(x, y + 0.1, 0.0), &Flat);
        state.roll(6.0);
        state
    });
    let posts = (0..210u32).map(|number| {
        let (x, y) = (
            6.0 + 6.0 * f64::from(number % 21),
            14.0 * f64::from(number / 21),
        );
        post.standing(DVec2::new(x, y), 0.0, &Flat)
    });
    (jeeps.collect(), posts.collect())
}

fn step_field(
    model: &RigidModel,
    post: &LooseModel,
    jeeps: &mut [CarState],
    posts: &mut [LooseState],
) {
    let places: Vec<DVec3> = jeeps.iter().map(|jeep| jeep.body.position).collect();
    let is_near = |state: &LooseState| {
        let place = state.body.position;
        !state.rests || places.iter().any(|jeep| jeep.distance(place) < NEAR)
    };
    let loose = posts.iter_mut().filter(|state| is_near(state));
    let loose = loose.map(|state| LooseEntry { model: post, state });
    let cars = jeeps.iter_mut().map(|state| CarEntry {
        model,
        controls: Controls {
            acceleration: 6.0 - state.speed(model),
            ..Controls::default()
        },
        layers: ALL_LAYERS,
        towed: &mut [],
        state,
    });
    Yard::new(&Flat, 200.0).step(cars.collect(), loose.collect(), DT);
}

fn fifty_jeeps(criterion: &mut Criterion) {
    let post = LooseModel {
        solid: Solid::cylinder(0.2, 0.75),
        mass: 40.0,
        inertia: DVec3::new(7.9, 7.9, 0.8),
        friction: 0.5,
        height: 0.75,
    };
    let mut group = criterion.benchmark_group("fifty jeeps among 210 posts, 200 Hz");
    group.sample_size(10);
    for (kind, shape) in KINDS {
        let model = jeep(shape);
        group.bench_function(format!("{kind}, 1 s"), |bench| {
            bench.iter_batched_ref(
                || field(&model, &post),
                |(jeeps, posts)| (0..STEPS).for_each(|_| step_field(&model, &post, jeeps, posts)),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, one_jeep, fifty_jeeps);
criterion_main!(benches);
