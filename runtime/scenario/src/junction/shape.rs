//! Shapes of junctions. Results that depend only on the shapes of the connections are shared.
//!
//! ```text
//!        |     |              The connections are moved to the frame in which the first one starts at
//!   -----+     +-----         the origin and heads along +x, and their numbers are rounded. Junctions
//!     :....                   of one shape then have equal numbers, whatever their position and
//!   ...... :. +-----          rotation, so bodies are swept through only one of them.
//!  O->   |  : |
//! ```
//!
//! Every result is computed from the rounded numbers, whether or not it is shared. Results
//! therefore do not depend on which junction was computed first, on the threads, or on the order of
//! edits.

use super::conflicts::{Body, Conflicts};
use super::sweep::Boxes;
use super::{ConnectingPath, Junction, LaneEnd, setback};
use crate::ids::RoadId;
use crate::index::ConnectionIndex;
use crate::junction_rules::Control;
use crate::road::RoadEnd;
use roadwright_geometry::cubic::Cubic;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, ReferenceLine, Segment};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Number of units per metre. Positions and lengths are rounded to whole units.
const PER_METRE: f64 = 1e6;
/// Number of units per radian and per 1/m. Headings and curvatures are rounded to whole units. Over
/// the length of a connection, the rounding errors add up to less than one unit of length.
const PER_RADIAN: f64 = 1e9;

/// A connection in the frame of its junction, in rounded numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RoundedPath {
    from: LaneEnd,
    to: LaneEnd,
    curve: Option<RoundedCurve>,
    /// Whether the connection is at the ring of a roundabout.
    is_at_ring: bool,
}

/// A curve in the frame of its junction, in rounded numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RoundedCurve {
    x: i64,
    y: i64,
    heading: i64,
    segments: Vec<RoundedSegment>,
}

/// A [`Segment`] in rounded numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RoundedSegment {
    Line {
        length: i64,
    },
    Arc {
        length: i64,
        curvature: i64,
    },
    Spiral {
        length: i64,
        curvature_start: i64,
        curvature_end: i64,
    },
    Cubic {
        bu: i64,
        cu: i64,
        du: i64,
        cv: i64,
        dv: i64,
    },
}

fn metres(value: f64) -> i64 {
    (value * PER_METRE).round() as i64
}

fn radians(value: f64) -> i64 {
    (value * PER_RADIAN).round() as i64
}

fn of_metres(value: i64) -> f64 {
    value as f64 / PER_METRE
}

fn of_radians(value: i64) -> f64 {
    value as f64 / PER_RADIAN
}

impl RoundedSegment {
    fn of(segment: &Segment) -> Self {
        match *segment {
            Segment::Line { length } => Self::Line {
                length: metres(length),
            },
            Segment::Arc { length, curvature } => Self::Arc {
                length: metres(length),
                curvature: radians(curvature),
            },
            Segment::Spiral {
                length,
                curvature_start,
                curvature_end,
            } => Self::Spiral {
                length: metres(length),
                curvature_start: radians(curvature_start),
                curvature_end: radians(curvature_end),
            },
            Segment::Cubic(Cubic { bu, cu, du, cv, dv }) => Self::Cubic {
                bu: metres(bu),
                cu: metres(cu),
                du: metres(du),
                cv: metres(cv),
                dv: metres(dv),
            },
        }
    }

    fn segment(self) -> Segment {
        match self {
            Self::Line { length } => Segment::Line {
                length: of_metres(length),
            },
            Self::Arc { length, curvature } => Segment::Arc {
                length: of_metres(length),
                curvature: of_radians(curvature),
            },
            Self::Spiral {
                length,
                curvature_start,
                curvature_end,
            } => Segment::Spiral {
                length: of_metres(length),
                curvature_start: of_radians(curvature_start),
                curvature_end: of_radians(curvature_end),
            },
            Self::Cubic { bu, cu, du, cv, dv } => Segment::Cubic(Cubic {
                bu: of_metres(bu),
                cu: of_metres(cu),
                du: of_metres(du),
                cv: of_metres(cv),
                dv: of_metres(dv),
            }),
        }
    }
}

impl RoundedCurve {
    fn of(curve: &ReferenceLine, frame: Pose) -> Self {
        let start = curve.start();
        let place = frame.to_local(start.position);
        let half_turn = radians(std::f64::consts::PI);
        let heading = match radians(wrap_angle(start.heading - frame.heading)) {
            // A half turn can be written as pi or -pi, and rounding errors would decide which.
            heading if heading == -half_turn => half_turn,
            heading => heading,
        };
        Self {
            x: metres(place.x),
            y: metres(place.y),
            heading,
            segments: curve.segments().iter().map(RoundedSegment::of).collect(),
        }
    }

    /// Returns the curve; `None` only if the numbers are beyond the limits for curves.
    fn curve(&self) -> Option<ReferenceLine> {
        let start = Pose::new(
            of_metres(self.x),
            of_metres(self.y),
            of_radians(self.heading),
        );
        let segments = self.segments.iter().map(|segment| segment.segment());
        ReferenceLine::new(start, segments.collect()).ok()
    }
}

/// Returns the connections of a junction in its own frame. Roads are renumbered in the order of
/// their ids, so that the ids have no effect on the shape.
fn rounded(junction: &Junction) -> Vec<RoundedPath> {
    let paths = &junction.paths;
    let road_end = |lane: LaneEnd| (lane.road, lane.end);
    let ends = paths.iter().flat_map(|path| [path.from, path.to]);
    let mut ends: Vec<(RoadId, RoadEnd)> = ends.map(road_end).collect();
    ends.sort_unstable();
    ends.dedup();
    let numbered = |lane: LaneEnd| {
        let number = ends.partition_point(|&end| end < road_end(lane));
        LaneEnd {
            road: RoadId(number as u32),
            end: RoadEnd::Start,
            lane: lane.lane,
        }
    };
    let first = paths.iter().find_map(|path| path.curve.as_ref());
    let frame = first.map_or(Pose::default(), ReferenceLine::start);
    let rounded = |path: &ConnectingPath| RoundedPath {
        from: numbered(path.from),
        to: numbered(path.to),
        curve: (path.curve.as_ref()).map(|curve| RoundedCurve::of(curve, frame)),
        is_at_ring: junction.control == Control::Roundabout,
    };
    paths.iter().map(rounded).collect()
}

/// A connection of a shape.
#[derive(Debug)]
pub(super) struct ShapePath {
    /// The lane that enters the junction. Its road is a number within the shape, not a road id.
    pub(super) from: LaneEnd,
    /// The lane that leaves the junction.
    pub(super) to: LaneEnd,
    /// Centre line in the frame of the shape; `None` if the lanes meet without a gap.
    pub(super) curve: Option<ReferenceLine>,
    /// Whether the connection is at the ring of a roundabout.
    pub(super) is_at_ring: bool,
}

impl ShapePath {
    fn of(path: &RoundedPath) -> Self {
        Self {
            from: path.from,
            to: path.to,
            curve: path.curve.as_ref().and_then(RoundedCurve::curve),
            is_at_ring: path.is_at_ring,
        }
    }

    /// Returns the smallest radius of the centre line, m; infinite if it is straight.
    pub(super) fn min_radius(&self) -> f64 {
        let curve = self.curve.as_ref();
        curve.map_or(f64::INFINITY, |curve| 1.0 / curve.max_curvature())
    }
}

/// The shape of a junction's connections, and the results of sweeping bodies along them. Each
/// result is computed on first use.
#[derive(Debug)]
pub struct JunctionShape {
    paths: Vec<ShapePath>,
    conflicts: OnceLock<Conflicts>,
    wide: OnceLock<Conflicts>,
    swept: OnceLock<Vec<bool>>,
    setbacks: OnceLock<Vec<f64>>,
    car_setbacks: OnceLock<Vec<f64>>,
}

impl JunctionShape {
    /// Returns the shape of a junction. For shapes that many junctions share, use [`JunctionShapes`].
    pub fn of(junction: &Junction) -> Self {
        Self::of_rounded(&rounded(junction))
    }

    fn of_rounded(paths: &[RoundedPath]) -> Self {
        Self {
            paths: paths.iter().map(ShapePath::of).collect(),
            conflicts: OnceLock::new(),
            wide: OnceLock::new(),
            swept: OnceLock::new(),
            setbacks: OnceLock::new(),
            car_setbacks: OnceLock::new(),
        }
    }

    /// Conflicts between cars.
    #[inline]
    pub fn conflicts(&self) -> &Conflicts {
        self.conflicts
            .get_or_init(|| Conflicts::of_paths(&self.paths, Body::CAR))
    }

    /// Returns the conflicts that involve a bus or lorry.
    #[inline]
    pub fn wide_conflicts(&self) -> &Conflicts {
        self.wide
            .get_or_init(|| Conflicts::of_paths(&self.paths, Body::LONG))
    }

    /// Computes the conflicts of other bodies. The result is not cached.
    pub(super) fn conflicts_of(&self, body: Body) -> Conflicts {
        Conflicts::of_paths(&self.paths, body)
    }

    /// Returns, for each connection, whether a bus on it, or a car on it next to a bus, would touch
    /// traffic on another connection. Opposite directions of a narrow street do not count merely
    /// because they are close to each other along their whole length.
    pub fn swept_by_buses(&self) -> &[bool] {
        self.swept.get_or_init(|| {
            let (wide, paths) = (self.wide_conflicts(), &self.paths);
            let mut swept = vec![false; paths.len()];
            for a in 0..paths.len() {
                for b in 0..a {
                    let pair = [a, b].map(ConnectionIndex::from_index);
                    let is_met = wide.are_in_conflict(pair[0], pair[1])
                        && touches_bus(&paths[a], &paths[b])
                        || wide.again(pair[0], pair[1]).is_some();
                    if is_met {
                        (swept[a], swept[b]) = (true, true);
                    }
                }
            }
            swept
        })
    }

    /// Returns the setback of the stop line of each connection where buses turn, measured from the
    /// cut, m; 0 if no bus swings over the entering lane.
    pub fn setbacks(&self) -> &[f64] {
        self.setbacks
            .get_or_init(|| setback::setbacks(&self.paths, Body::LONG))
    }

    /// Like `setbacks`, for junctions where only cars turn.
    pub fn setbacks_of_cars(&self) -> &[f64] {
        self.car_setbacks
            .get_or_init(|| setback::setbacks(&self.paths, Body::CAR))
    }
}

/// Whether a bus on one of two paths and a car on the other would touch. O(product of their lengths).
fn touches_bus(one: &ShapePath, other: &ShapePath) -> bool {
    let (Some(one), Some(other)) = (&one.curve, &other.curve) else {
        return false;
    };
    let touch = |first: Body, second: Body| {
        let boxes = (Boxes::along(one, first), Boxes::along(other, second));
        boxes.0.meeting(&boxes.1, 0.0, None).is_some()
    };
    touch(Body::LONG, Body::CAR) || touch(Body::CAR, Body::LONG)
}

/// The distinct shapes of many junctions. Junctions with equal shapes share one object.
#[derive(Debug, Default)]
pub struct JunctionShapes(Mutex<BTreeMap<Vec<RoundedPath>, Arc<JunctionShape>>>);

impl JunctionShapes {
    /// Returns the shape of a junction. O(connections × log shapes).
    pub fn shape_of(&self, junction: &Junction) -> Arc<JunctionShape> {
        let rounded = rounded(junction);
        let mut shapes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shapes.get(&rounded) {
            return known.clone();
        }
        let shape = Arc::new(JunctionShape::of_rounded(&rounded));
        shapes.insert(rounded, shape.clone());
        shape
    }

    /// Removes shapes that no junction uses.
    pub fn forget_unused(&self) {
        let mut shapes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shapes.retain(|_, shape| Arc::strong_count(shape) > 1);
    }

    /// Number of distinct shapes.
    pub fn count(&self) -> usize {
        let shapes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shapes.len()
    }
}
