//! The segments of a reference line.

use crate::MAX_LENGTH;
use crate::clothoid::displacement;
use crate::cubic::{Cubic, MeasuredCubic};
use crate::math::sin_cos;
use crate::pose::{Pose, left_of, unit};
use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum curvature of an arc or clothoid, 1/m. A larger curvature is always a mistake.
pub(crate) const MAX_CURVATURE: f64 = 1e3;

/// One geometry record of a reference line, as OpenDRIVE's `line`, `arc`, `spiral`, `paramPoly3`.
///
/// A segment starts where the previous one ends, with the same heading, so it contains only its shape.
/// Lengths are in metres, curvatures in 1/m, positive to the left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Segment {
    /// A straight line.
    Line {
        /// Length, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = MAX_LENGTH))]
        length: f64,
    },
    /// A circular arc.
    Arc {
        /// Length, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = MAX_LENGTH))]
        length: f64,
        /// Curvature, 1/m, positive to the left.
        #[schemars(range(min = -MAX_CURVATURE, max = MAX_CURVATURE))]
        curvature: f64,
    },
    /// A clothoid, whose curvature changes linearly along its length.
    Spiral {
        /// Length, m.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = MAX_LENGTH))]
        length: f64,
        /// Curvature at the start, 1/m.
        #[schemars(range(min = -MAX_CURVATURE, max = MAX_CURVATURE))]
        curvature_start: f64,
        /// Curvature at the end, 1/m.
        #[schemars(range(min = -MAX_CURVATURE, max = MAX_CURVATURE))]
        curvature_end: f64,
    },
    /// A cubic polynomial in the local frame of its start.
    Cubic(Cubic),
}

impl Segment {
    /// Arc length, m. A cubic is measured by quadrature.
    pub fn length(&self) -> f64 {
        match *self {
            Self::Line { length } | Self::Arc { length, .. } | Self::Spiral { length, .. } => {
                length
            }
            Self::Cubic(cubic) => MeasuredCubic::new(cubic).length(),
        }
    }

    /// Returns the numbers of the segment, for range checks.
    pub(crate) fn values(&self) -> Vec<f64> {
        match *self {
            Self::Line { length } => vec![length],
            Self::Arc { length, curvature } => vec![length, curvature],
            Self::Spiral {
                length,
                curvature_start,
                curvature_end,
            } => vec![length, curvature_start, curvature_end],
            Self::Cubic(c) => vec![c.bu, c.cu, c.du, c.cv, c.dv],
        }
    }

    /// Returns the mirror image of the segment, in which left and right are swapped.
    pub fn mirrored(&self) -> Self {
        match *self {
            Self::Line { .. } => *self,
            Self::Arc { length, curvature } => Self::Arc {
                length,
                curvature: -curvature,
            },
            Self::Spiral {
                length,
                curvature_start,
                curvature_end,
            } => Self::Spiral {
                length,
                curvature_start: -curvature_start,
                curvature_end: -curvature_end,
            },
            Self::Cubic(cubic) => Self::Cubic(Cubic {
                cv: -cubic.cv,
                dv: -cubic.dv,
                ..cubic
            }),
        }
    }

    /// Returns the same segment in the opposite direction.
    pub fn reversed(&self) -> Self {
        match *self {
            Self::Line { .. } => *self,
            Self::Arc { length, curvature } => Self::Arc {
                length,
                curvature: -curvature,
            },
            Self::Spiral {
                length,
                curvature_start,
                curvature_end,
            } => Self::Spiral {
                length,
                curvature_start: -curvature_end,
                curvature_end: -curvature_start,
            },
            Self::Cubic(cubic) => Self::Cubic(sub_cubic(&cubic, 1.0, 0.0)),
        }
    }
}

/// A segment placed on a line, with its start pose, its start distance and, for a cubic, its table
/// of lengths.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Element {
    pub(crate) s: f64,
    pub(crate) length: f64,
    pub(crate) start: Pose,
    /// Unit vector of the start's heading.
    forward: DVec2,
    shape: Shape,
}

/// Position, unit tangent and curvature at a point of a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) position: DVec2,
    pub(crate) tangent: DVec2,
    pub(crate) curvature: f64,
}

/// The shape of a placed segment. Lines, arcs and spirals share one variant.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Line,
    Clothoid { curvature: f64, sharpness: f64 },
    Cubic(Box<MeasuredCubic>),
}

impl Element {
    /// Places a segment at distance `s` and pose `start`.
    pub(crate) fn new(segment: &Segment, s: f64, start: Pose) -> Self {
        let (length, shape) = match *segment {
            Segment::Line { length } => (length, Shape::Line),
            Segment::Arc { length, curvature } => (
                length,
                Shape::Clothoid {
                    curvature,
                    sharpness: 0.0,
                },
            ),
            Segment::Spiral {
                length,
                curvature_start,
                curvature_end,
            } => (
                length,
                Shape::Clothoid {
                    curvature: curvature_start,
                    sharpness: (curvature_end - curvature_start) / length,
                },
            ),
            Segment::Cubic(cubic) => {
                let measured = MeasuredCubic::new(cubic);
                (measured.length(), Shape::Cubic(Box::new(measured)))
            }
        };
        Self {
            s,
            length,
            start,
            forward: unit(start.heading),
            shape,
        }
    }

    /// Returns the position, tangent and curvature at `u` metres from the start of the element,
    /// computed with as few sines and cosines as possible.
    #[inline]
    pub(crate) fn frame(&self, u: f64) -> Frame {
        let rotated = |local: DVec2| self.forward * local.x + left_of(self.forward) * local.y;
        match &self.shape {
            Shape::Line => Frame {
                position: self.start.position + self.forward * u,
                tangent: self.forward,
                curvature: 0.0,
            },
            Shape::Clothoid {
                curvature,
                sharpness,
            } => {
                // Computed in the frame of the start, so that one sine and one cosine are enough
                // for both. The heading of a clothoid is the integral of its curvature.
                let offset = clothoid_offset(0.0, *curvature, *sharpness, u);
                let (sin, cos) = sin_cos(u * (curvature + 0.5 * sharpness * u));
                Frame {
                    position: self.start.position + rotated(offset),
                    tangent: rotated(DVec2::new(cos, sin)),
                    curvature: curvature + sharpness * u,
                }
            }
            Shape::Cubic(measured) => {
                let p = measured.parameter(u);
                Frame {
                    position: self.start.position + rotated(measured.cubic().point(p)),
                    // A cubic may have zero speed at an end if the handle there has no length.
                    tangent: rotated(measured.cubic().velocity(p).normalize_or(DVec2::X)),
                    curvature: measured.cubic().curvature(p),
                }
            }
        }
    }

    /// Returns the pose at `u` metres from the start of the element.
    pub(crate) fn pose(&self, u: f64) -> Pose {
        let Pose { position, heading } = self.start;
        match &self.shape {
            Shape::Line => Pose {
                position: position + self.forward * u,
                heading,
            },
            Shape::Clothoid {
                curvature,
                sharpness,
            } => Pose {
                position: position + clothoid_offset(heading, *curvature, *sharpness, u),
                heading: heading + u * (curvature + 0.5 * sharpness * u),
            },
            Shape::Cubic(measured) => {
                let p = measured.parameter(u);
                let (local, velocity) = (measured.cubic().point(p), measured.cubic().velocity(p));
                let forward = self.forward;
                Pose {
                    position: position + forward * local.x + left_of(forward) * local.y,
                    heading: heading + crate::math::atan2(velocity.y, velocity.x),
                }
            }
        }
    }

    /// Returns the direction of the whole element if it is straight, otherwise `None`.
    #[inline]
    pub(crate) fn straight_direction(&self) -> Option<DVec2> {
        matches!(self.shape, Shape::Line).then_some(self.forward)
    }

    /// Returns the curvature at `u` metres from the start of the element, 1/m.
    pub(crate) fn curvature(&self, u: f64) -> f64 {
        match &self.shape {
            Shape::Line => 0.0,
            Shape::Clothoid {
                curvature,
                sharpness,
            } => curvature + sharpness * u,
            Shape::Cubic(measured) => measured.cubic().curvature(measured.parameter(u)),
        }
    }

    /// Returns the maximum absolute curvature (exact for lines, arcs and spirals; from 17 samples
    /// for a cubic).
    pub(crate) fn max_curvature(&self) -> f64 {
        match &self.shape {
            Shape::Line => 0.0,
            Shape::Clothoid {
                curvature,
                sharpness,
                // The curvature changes linearly, so its maximum is at an end.
            } => curvature
                .abs()
                .max((curvature + sharpness * self.length).abs()),
            Shape::Cubic(measured) => (0..=16)
                .map(|i| measured.cubic().curvature(f64::from(i) / 16.0).abs())
                .fold(0.0, f64::max),
        }
    }

    /// Returns the piece between two distances from the start of the element, as a segment.
    pub(crate) fn slice(&self, from: f64, to: f64) -> Segment {
        let length = to - from;
        match &self.shape {
            Shape::Line => Segment::Line { length },
            Shape::Clothoid {
                curvature,
                sharpness,
            } if *sharpness == 0.0 => Segment::Arc {
                length,
                curvature: *curvature,
            },
            Shape::Clothoid {
                curvature,
                sharpness,
            } => Segment::Spiral {
                length,
                curvature_start: curvature + sharpness * from,
                curvature_end: curvature + sharpness * to,
            },
            Shape::Cubic(measured) => Segment::Cubic(sub_cubic(
                measured.cubic(),
                measured.parameter(from),
                measured.parameter(to),
            )),
        }
    }
}

/// Returns the displacement along a clothoid. For arcs, the closed form of the chord is used,
/// because it is faster.
fn clothoid_offset(heading: f64, curvature: f64, sharpness: f64, u: f64) -> glam::DVec2 {
    if sharpness != 0.0 {
        return displacement(heading, curvature, sharpness, u);
    }
    let half_turn = 0.5 * curvature * u;
    // Computes sin(x) / x by its series where the quotient would lose precision.
    let sinc = if half_turn.abs() < 1e-4 {
        1.0 - half_turn * half_turn / 6.0
    } else {
        crate::math::sin(half_turn) / half_turn
    };
    unit(heading + half_turn) * (u * sinc)
}

/// Returns the part of a cubic between two parameters, in the local frame of its start. If `to <
/// from`, the part is reversed.
fn sub_cubic(cubic: &Cubic, from: f64, to: f64) -> Cubic {
    // Along the part, v increases from 0 to 1 and p = from + v span, so derivatives are multiplied by the
    // span. For a reversed part the span is negative, which reverses the directions.
    let span = to - from;
    let velocity = cubic.velocity(from) * span;
    let speed = velocity.length();
    let forward = velocity / speed.max(1e-300);
    let local = |v: glam::DVec2| glam::DVec2::new(v.dot(forward), v.dot(left_of(forward)));
    Cubic::hermite(
        speed,
        local(cubic.point(to) - cubic.point(from)),
        local(cubic.velocity(to) * span),
    )
}
