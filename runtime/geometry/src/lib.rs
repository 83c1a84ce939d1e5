//! Geometry for roads and the objects beside them, independent of the road model.
//!
//! Frames: x east, y north, z up, metres; headings in radians counter-clockwise from +x. Along a
//! reference line, `s` is the distance from its start, `t` the distance to its left and `h` the
//! height above its surface, as in [OpenDRIVE 1.8] and in the ribbons of [Wang 2004].
//!
//! ```text
//!          t ^   . point                reference line: lines, arcs, spirals, cubics, each
//!            |  .                       starting where the previous one ends
//!    --------+----------> s
//! ```
//!
//! | part | modules |
//! | --- | --- |
//! | lines of roads | [`ReferenceLine`] of [`Segment`]s; [`clothoid`], [`cubic`], [`fillet`], [`alignment`], [`stroke`] create them |
//! | points of a line | [`projection`] finds s and t; [`centre_line`] serves millions of queries per second |
//! | areas | [`polygon`], [`polyline`], [`oriented_box`] |
//! | paths of vehicles | [`reeds_shepp`]: shortest curves with a turning radius, forwards and in reverse |
//! | grids | [`grid_index`] (points near a position), [`HeightField`], [`occupancy`] |
//! | numbers | [`math`]: functions with bit-identical results on every processor, and streams of random numbers |
//!
//! ```
//! use roadwright_geometry::projection::Projector;
//! use roadwright_geometry::{Pose, ReferenceLine, Segment};
//!
//! let straight = Segment::Line { length: 50.0 };
//! let bend = Segment::Arc { length: 30.0, curvature: 0.02 };
//! let line = ReferenceLine::new(Pose::new(0.0, 0.0, 0.0), vec![straight, bend])?;
//! // In the bend, in the middle of a lane to the left.
//! let point = line.point(60.0, 1.75);
//! let foot = Projector::new(line).closest(point);
//! assert!((foot.s - 60.0).abs() < 1e-6 && (foot.t - 1.75).abs() < 1e-6);
//! # Ok::<(), roadwright_geometry::GeometryError>(())
//! ```

pub mod alignment;
pub mod centre_line;
pub mod clothoid;
pub mod crossings;
pub mod cubic;
mod error;
pub mod fillet;
pub mod grid_index;
pub mod height_field;
pub mod math;
pub mod occupancy;
pub mod oriented_box;
pub mod polygon;
pub mod polyline;
mod pose;
pub mod projection;
pub mod reeds_shepp;
mod reference_line;
mod segment;
pub mod shared_list;
pub mod stroke;
pub mod threads;

pub use error::GeometryError;
pub use glam::DVec2;
pub use height_field::HeightField;
pub use pose::{OwnFrame, Pose, heading_of, left_of, unit};
pub use reference_line::{
    MAX_COORDINATE, MAX_LENGTH, MIN_SEGMENT, ReferenceLine, simplest_segment,
};
pub use segment::Segment;
