//! Geometry for roads and what stands beside them; knows no roads.
//!
//! Frames: x east, y north, z up, metres; headings in radians counter-clockwise from +x. Along a
//! reference line, `s` is the distance from its start, `t` the distance to its left and `h` the
//! height above its surface (OpenDRIVE's names).

pub mod alignment;
pub mod arc_length_spline;
pub mod centre_line;
pub mod clothoid;
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
mod reference_line;
mod segment;
pub mod stroke;

pub use error::GeometryError;
pub use glam::DVec2;
pub use height_field::HeightField;
pub use pose::{Pose, heading_of, left_of, unit};
pub use reference_line::{
    MAX_COORDINATE, MAX_LENGTH, MIN_SEGMENT, ReferenceLine, simplest_segment,
};
pub use segment::Segment;
