//! Converts ten million random points within 15 m of a winding road to road coordinates and back.
//!
//! `cargo run --release -p roadwright-geometry --example projection_soak` prints the number of
//! errors above a nanometre. The test suite runs the same test with a hundred thousand points.

#[path = "../benches/winding/mod.rs"]
mod winding;

use roadwright_geometry::math::Stream;
use roadwright_geometry::projection::Projector;

fn main() {
    let mut stream = Stream::new(17, "soak", 0);
    let projector = Projector::new(winding::road());
    let (mut misses, mut worst) = (0u32, 0.0f64);
    for _ in 0..10_000_000 {
        let s = stream.next_in(0.0, projector.line().length());
        let t = stream.next_in(-15.0, 15.0);
        let point = projector.line().point(s, t);
        let guess = s + stream.next_in(-1.0, 1.0);
        for foot in [
            projector.closest(point),
            projector.closest_near(point, guess),
        ] {
            let back = projector.line().point(foot.s, foot.t);
            let error = (back - point)
                .length()
                .max((foot.s - s).abs())
                .max((foot.t - t).abs());
            worst = worst.max(error);
            misses += u32::from(error > 1e-9);
        }
    }
    println!(
        "10,000,000 points, cold and with a guess: {misses} misses, worst error {worst:.2e} m"
    );
}
