//! Errors of the geometry functions.

use thiserror::Error;

/// Reason why a curve, polygon or grid is invalid or cannot be built.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GeometryError {
    /// A curve has no segments.
    #[error("a reference line needs at least one segment")]
    Empty,
    /// A coordinate is not finite or too large.
    #[error("position ({x}, {y}) is not within 10,000 km of the origin; coordinates are in metres")]
    Position {
        /// x coordinate, m.
        x: f64,
        /// y coordinate, m.
        y: f64,
    },
    /// A heading is not a plausible angle.
    #[error("heading {0} is out of range; headings are in radians")]
    Heading(f64),
    /// A segment has a number that is out of range or not finite.
    #[error("segment {index}: a value is out of range or not finite")]
    Segment {
        /// Index in the list, from 0.
        index: usize,
    },
    /// A segment is too short or far too long.
    #[error("segment {index} is {length} m long; expected 0.000001 to 10,000,000 m")]
    SegmentLength {
        /// Index in the list, from 0.
        index: usize,
        /// Length, m.
        length: f64,
    },
    /// The whole line is too long.
    #[error("the reference line is {0} m long; expected at most 10,000,000 m")]
    Length(f64),
    /// No clothoid joins two poses.
    #[error("no smooth curve connects the two poses")]
    NoJoin,
    /// There are fewer distinct points than the shape needs.
    #[error("expected at least {needed} distinct points, but got {given}")]
    TooFewPoints {
        /// Minimum number of distinct points.
        needed: usize,
        /// Number of distinct points that were given.
        given: usize,
    },
    /// The size of a grid does not match its data, or the grid is too large.
    #[error("a grid of {columns} x {rows} cannot be created: {why}")]
    Grid {
        /// Requested number of columns.
        columns: usize,
        /// Requested number of rows.
        rows: usize,
        /// Reason, as shown in the message.
        why: &'static str,
    },
}
