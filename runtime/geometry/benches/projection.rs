//! Benchmark of projecting points near a road to road coordinates, with and without the last result
//! as a guess.

mod winding;

use criterion::{Criterion, criterion_group, criterion_main};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_geometry::projection::Projector;
use std::hint::black_box;

fn projection(criterion: &mut Criterion) {
    let projector = Projector::new(winding::road());
    let mut stream = Stream::new(3, "points", 0);
    let points: Vec<(DVec2, f64)> = (0..4096)
        .map(|_| {
            let s = stream.next_in(0.0, projector.line().length());
            let t = stream.next_in(-15.0, 15.0);
            (projector.line().point(s, t), s + stream.next_in(-1.0, 1.0))
        })
        .collect();
    let mut next = 0;
    let mut point = || {
        next = (next + 1) % points.len();
        points[next]
    };
    criterion.bench_function("closest point with a guess", |b| {
        b.iter(|| {
            let (point, guess) = point();
            black_box(projector.closest_near(point, guess))
        });
    });
    criterion.bench_function("closest point from cold", |b| {
        b.iter(|| black_box(projector.closest(point().0)));
    });
    criterion.bench_function("point at (s, t)", |b| {
        b.iter(|| black_box(projector.line().point(point().1, 2.0)));
    });
}

criterion_group!(benches, projection);
criterion_main!(benches);
