//! Benchmark of freehand strokes: the cost of a mouse movement, and of releasing the button.

mod winding;

use criterion::{Criterion, criterion_group, criterion_main};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_geometry::stroke::{StrokeOptions, fit, resampled, smoothed};
use std::hint::black_box;

/// A freehand stroke along the first metres of the winding road, with points 1.7 m apart and up to a quarter
/// of a metre off the line.
fn hand(length: f64) -> Vec<DVec2> {
    let road = winding::road();
    let mut stream = Stream::new(1, "hand", 0);
    (0..(length / 1.7) as usize)
        .map(|i| {
            let jitter = DVec2::new(stream.next_in(-0.2, 0.2), stream.next_in(-0.2, 0.2));
            road.pose(1.7 * i as f64).position + jitter
        })
        .collect()
}

fn strokes(criterion: &mut Criterion) {
    let options = StrokeOptions::at_scale(0.25, 8.0);
    for length in [200.0, 1000.0] {
        let points = hand(length);
        criterion.bench_function(&format!("preview of a stroke of {length} m"), |b| {
            b.iter(|| black_box(smoothed(&resampled(&points, options.spacing))));
        });
        criterion.bench_function(&format!("fit of a stroke of {length} m"), |b| {
            b.iter(|| black_box(fit(&points, &options)));
        });
    }
}

criterion_group!(benches, strokes);
criterion_main!(benches);
