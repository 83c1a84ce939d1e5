//! Mini roundabouts: junctions of a single node whose paths lead around a painted island.
//!
//! ```text
//!              |   :   |
//!           __.'   :   '.__         The ring is the circle that vehicles follow. It is centred on the
//!              .--<--.              point that is farthest from the kerbs, and as large as they allow.
//!     - - -   /  (o)  ^   - - -     A path leaves its lane for the ring, follows it and leaves it
//!           __ '-->--'  __          again; a turn to the near side only cuts the corner.
//!             '.   :   .'
//!              |   :   |
//! ```
//!
//! The far side of a T-junction is straight, so the ring is nearer to the stem, as at real mini
//! roundabouts.

use super::Corner;
use super::arm::{Arm, ArmLane};
use super::curve::connecting_curve;
use super::outline;
use crate::driving_side::DrivingSide;
use crate::ids::RoadId;
use crate::road::RoadEnd;
use glam::DVec2;
use roadwright_geometry::{Pose, ReferenceLine, Segment, heading_of, unit};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Maximum radius of a ring, m, used if there is enough room. A larger ring would be built from
/// separate roads.
const MAX_RADIUS: f64 = 6.5;
/// Maximum number of lanes per direction. On wider streets, paths from all lanes to a single ring would cross
/// each other where other vehicles wait.
const MOST_LANES: usize = 2;
/// Minimum radius of a ring, m. A car cannot follow a smaller one.
const LEAST_RADIUS: f64 = 4.0;
/// Ring radius from which corners are not enlarged any further, m.
const ENOUGH: f64 = 5.0;
/// Space that the body of a car needs outside the ring, m: half the width of a car, plus the swing-out of its
/// front at a radius of 5 m, plus a margin.
const OUTSIDE: f64 = 2.1;
/// Corner radii to try, smallest first, m. They replace the `corner_radius` of a road class.
pub(super) const CORNERS: [f64; 4] = [6.0, 8.0, 11.0, 15.0];
/// Radius of the painted island, m. Such an island is at most 4 m across ([DMRB CD 116], section
/// 5).
const ISLAND: f64 = 2.0;
/// Minimum difference between the radii of the ring and the island, m. It keeps the inner wheels
/// clear of the island.
const BESIDE_ISLAND: f64 = 1.9;
/// Angle from the centre of an arm to the point where a path joins or leaves the ring, as a
/// fraction of the angle to the next arm.
const JOIN_SHARE: f64 = 0.6;
/// Upper limit of the angle to the point where a path joins or leaves the ring, rad.
const JOIN: f64 = 55.0 * PI / 180.0;
/// Minimum arc on the ring, rad. A path with a smaller arc skips the ring and cuts the corner.
const LEAST_ARC: f64 = 3.0 * PI / 180.0;
/// Minimum radius of the bend where a path joins or leaves the ring, m.
pub(super) const LEAST_BEND: f64 = LEAST_RADIUS;
/// Step by which the point where a path joins the ring is moved along the ring, rad. It is moved
/// until the bend has at least the radius [`LEAST_BEND`].
const SHIFT: f64 = 2.0 * PI / 180.0;
/// Distance between the kerb points that determine the position of the ring, m.
const STEP: f64 = 0.25;

/// The ring of a mini roundabout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MiniRing {
    /// Centre of the ring, m.
    pub centre: DVec2,
    /// Radius of the circle that vehicles follow, m.
    pub radius: f64,
    /// Radius of the painted island, m. Long vehicles may drive over it.
    pub island: f64,
}

impl MiniRing {
    /// Whether there is enough room for the ring without enlarging corners.
    pub(super) fn is_roomy(&self) -> bool {
        self.radius >= ENOUGH
    }

    /// Returns the ring between the kerbs of cut arms; `None` if there is not enough room, or if a street has
    /// more than two lanes in each direction.
    pub(super) fn within(
        centre: DVec2,
        arms: &[Arm<'_>],
        trims: &[f64],
        corners: &[Corner],
    ) -> Option<Self> {
        let has_few_lanes = |(arm, trim): (&Arm<'_>, &f64)| {
            // The driving side passed here has no effect, because both directions are counted.
            let side = DrivingSide::Right;
            let lanes = [
                arm.entering_lanes(*trim, side),
                arm.leaving_lanes(*trim, side),
            ];
            lanes.iter().all(|lanes| lanes.len() <= MOST_LANES)
        };
        if !arms.iter().zip(trims).all(has_few_lanes) {
            return None;
        }
        let kerbs = kerbs(arms, trims, corners);
        let centre = farthest_from(&kerbs, centre);
        let room = kerbs.iter().map(|point| (*point - centre).length());
        let radius = (room.fold(f64::INFINITY, f64::min) - OUTSIDE).min(MAX_RADIUS);
        (radius >= LEAST_RADIUS).then_some(Self {
            centre,
            radius,
            island: ISLAND.min(radius - BESIDE_ISLAND),
        })
    }
}

/// Returns the points of the kerbs between the cuts.
fn kerbs(arms: &[Arm<'_>], trims: &[f64], corners: &[Corner]) -> Vec<DVec2> {
    let mut kerbs = Vec::new();
    for side in outline::sides(arms, trims, corners) {
        let last = side.edges.last().map(outline::OutlineEdge::to);
        let mut points = outline::polygon(&side.edges, outline::ARC_TOLERANCE);
        points.extend(last);
        for pair in points.windows(2) {
            let count = ((pair[1] - pair[0]).length() / STEP).ceil().max(1.0) as usize;
            kerbs.extend((0..count).map(|i| pair[0].lerp(pair[1], i as f64 / count as f64)));
        }
        kerbs.extend(last);
    }
    kerbs
}

/// Finds a point near `start` whose distance from the given points is as large as possible.
///
/// The given points repel it with the inverse ninth power of the distance, so only the nearest
/// points matter. Unlike the true farthest point, the result hardly depends on the other points.
fn farthest_from(points: &[DVec2], start: DVec2) -> DVec2 {
    let mut at = start;
    // 60 steps, starting at 0.5 m, each a tenth shorter than the one before. They add up to 5 m, and the last
    // is about a millimetre.
    let mut step = 0.5;
    for _ in 0..60 {
        let (mut push, mut all) = (DVec2::ZERO, 0.0);
        for point in points {
            let away = at - *point;
            let squared = away.length_squared().max(0.01);
            let force = 1.0 / (squared * squared * squared * squared * squared);
            push += force * away;
            all += force * squared.sqrt();
        }
        if all <= 0.0 {
            break;
        }
        at += step * push / all;
        step *= 0.9;
    }
    at
}

/// A ring with the points where paths join and leave it.
pub(super) struct Round {
    pub(super) ring: MiniRing,
    /// 1 if the ring is driven counter-clockwise, -1 otherwise.
    turn: f64,
    arms: Vec<Joined>,
}

/// An arm of a mini roundabout, with the angles where paths join and leave the ring.
struct Joined {
    road: RoadId,
    end: RoadEnd,
    /// Bearing from the centre of the ring, rad.
    bearing: f64,
    /// Angle from the arm to the point where a path joins the ring, in the driving direction, rad.
    join: f64,
    /// Angle from the point where a path leaves the ring to the arm, in the driving direction, rad.
    leave: f64,
}

impl Round {
    pub(super) fn new(ring: MiniRing, arms: &[Arm<'_>], trims: &[f64], side: DrivingSide) -> Self {
        let turn = side.around();
        let middle = |arm: &Arm<'_>, trim| {
            0.5 * (arm.left_edge(trim).position + arm.right_edge(trim).position)
        };
        let bearings: Vec<f64> = (arms.iter().zip(trims))
            .map(|(arm, &trim)| heading_of(middle(arm, trim) - ring.centre))
            .collect();
        // Smallest angle from one arm to the next.
        let gap = |from: usize, turn: f64| {
            let others = (0..arms.len()).filter(|&other| other != from);
            let gaps =
                others.map(|other| (turn * (bearings[other] - bearings[from])).rem_euclid(TAU));
            gaps.fold(TAU, f64::min)
        };
        let share = |gap: f64| (JOIN_SHARE * gap).min(JOIN);
        let joined = (0..arms.len()).map(|i| Joined {
            road: arms[i].road_id,
            end: arms[i].end,
            bearing: bearings[i],
            join: share(gap(i, turn)),
            leave: share(gap(i, -turn)),
        });
        Self {
            ring,
            turn,
            arms: joined.collect(),
        }
    }

    fn arm(&self, arm: &Arm<'_>) -> Option<&Joined> {
        let is_it = |joined: &&Joined| (joined.road, joined.end) == (arm.road_id, arm.end);
        self.arms.iter().find(is_it)
    }

    /// Returns the pose on the ring at the given angle, rad.
    fn on_ring(&self, angle: f64) -> Pose {
        Pose {
            position: self.ring.centre + self.ring.radius * unit(angle),
            heading: angle + self.turn * FRAC_PI_2,
        }
    }

    /// Returns the path from a lane of one arm into a lane of another; `None` if it would not follow the ring
    /// or could not be driven.
    pub(super) fn curve(
        &self,
        arm: &Arm<'_>,
        from: &ArmLane,
        to_arm: &Arm<'_>,
        to: &ArmLane,
    ) -> Option<ReferenceLine> {
        let (start, end) = (self.arm(arm)?, self.arm(to_arm)?);
        let between = (self.turn * (end.bearing - start.bearing)).rem_euclid(TAU);
        let is_back = arm.road_id == to_arm.road_id && arm.end == to_arm.end;
        // A path back into the same arm goes once around the ring.
        let between = if is_back { TAU } else { between };
        let most = between - LEAST_ARC;
        if start.join + end.leave > most {
            return None;
        }
        let lane = from.pose;
        let (join, onto) = smoothest(start.join, most - end.leave, |join| {
            let place = self.on_ring(start.bearing + self.turn * join);
            connecting_curve(lane, place)
        })?;
        let (leave, off) = smoothest(end.leave, most - join, |leave| {
            let place = self.on_ring(end.bearing - self.turn * leave);
            connecting_curve(place, to.pose)
        })?;
        let arc = Segment::Arc {
            length: (between - join - leave) * self.ring.radius,
            curvature: self.turn / self.ring.radius,
        };
        let segments = onto.segments().iter().cloned();
        let segments = segments.chain([arc]).chain(off.segments().iter().cloned());
        let whole = ReferenceLine::new(from.pose, segments.collect()).ok()?;
        let miss = (whole.end().position - to.pose.position).length();
        (miss < 1e-6).then_some(whole)
    }
}

/// Returns a bend that is wide enough, and its angle, which is as near as possible to the preferred
/// angle. The angle is between 0 and `most`, in rad. If no bend is wide enough, returns the angle
/// with the widest bend.
///
/// ```text
///              .--<--.
///      (o)    ^       '      At the preferred angle, a, the lane meets the ring at an angle, so the bend
///           ring       : b   onto the ring would be a kink. Beyond b, it can be driven.
///                     .' |
///                    a   | lane
/// ```
fn smoothest(
    wished: f64,
    most: f64,
    bend: impl Fn(f64) -> Option<ReferenceLine>,
) -> Option<(f64, ReferenceLine)> {
    let steps = (wished.max(most - wished) / SHIFT).floor() as u32;
    let shifts = (1..=steps).flat_map(|step| {
        let shift = f64::from(step) * SHIFT;
        [wished + shift, wished - shift]
    });
    let angles = std::iter::once(wished).chain(shifts.filter(|angle| (0.0..=most).contains(angle)));
    let mut widest: Option<(f64, ReferenceLine)> = None;
    for angle in angles {
        let Some(line) = bend(angle) else {
            continue;
        };
        let sharpest = line.max_curvature();
        if sharpest * LEAST_BEND <= 1.0 {
            return Some((angle, line));
        }
        let is_wider = |(_, other): &(f64, ReferenceLine)| sharpest < other.max_curvature();
        if widest.as_ref().is_none_or(is_wider) {
            widest = Some((angle, line));
        }
    }
    widest
}
