//! The road on which projections are measured.

use roadwright_geometry::math::Stream;
use roadwright_geometry::{Pose, ReferenceLine, Segment};

/// A winding road of about 5 km: lines, arcs and clothoids, curvature up to 1/30 m.
pub(crate) fn road() -> ReferenceLine {
    let mut stream = Stream::new(11, "bench", 0);
    let mut segments = Vec::new();
    for i in 0..60 {
        let curvature = stream.next_in(0.005, 1.0 / 30.0) * if i % 2 == 0 { 1.0 } else { -1.0 };
        let (length, straight) = (stream.next_in(10.0, 28.0), stream.next_in(10.0, 40.0));
        segments.extend([
            Segment::Spiral {
                length: 12.0,
                curvature_start: 0.0,
                curvature_end: curvature,
            },
            Segment::Arc { length, curvature },
            Segment::Spiral {
                length: 12.0,
                curvature_start: curvature,
                curvature_end: 0.0,
            },
            Segment::Line { length: straight },
        ]);
    }
    ReferenceLine::new(Pose::default(), segments).expect("plain numbers")
}
