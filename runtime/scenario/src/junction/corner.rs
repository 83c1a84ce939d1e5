//! Corners between neighbouring arms, and the lengths by which they cut the arms back.
//!
//! ```text
//!                |       |
//!      left edge |  arm  |
//!               .'       |       The left edge of an arm's carriageway meets the right edge of the
//!   _________..'                 next arm counter-clockwise at `+`, `distance` out along the arm and
//!    right edge  +               `next_distance` out along the next arm. An arc rounds the corner; it
//!   next                         touches the edges at its feet, farther out on both. An arm is cut
//!   _________                    back by the larger of the demands of its two corners.
//! ```

use super::arm::{Arm, Flank, Pair};
use super::curve::unit_tangent;
use crate::driving_side::DrivingSide;
use crate::ids::RoadId;
use crate::junction_rules::CornerRule;
use crate::lane_type::LaneType;
use crate::road::{LaneDirection, RoadClass};
use glam::DVec2;
use roadwright_geometry::Pose;
use roadwright_geometry::math::{cos, sin, tan, wrap_angle};
use std::f64::consts::{PI, TAU};

/// Angle between two arms below which they diverge at a gore instead of a corner, rad.
const GORE_ANGLE: f64 = 35.0 * PI / 180.0;
/// Deviation from a straight line below which two arms have no corner, rad. Their edges are joined
/// smoothly.
const STRAIGHT: f64 = 8.0 * PI / 180.0;
/// Deviation from a straight line below which the only two arms of a junction form a gentle bend,
/// rad.
const GENTLE: f64 = 22.5 * PI / 180.0;
/// Smallest corner radius that a car can drive, m.
const CAR_RADIUS: f64 = U_TURN_RADIUS;
/// Smallest corner radius that a bus can drive, m. It applies where two bus lanes meet.
const BUS_RADIUS: f64 = 6.0;
/// Corner radius where bus lanes meet, m.
const BUS_CORNER: f64 = 8.0;
/// Radius of the corner between a road and the ring of a roundabout, m.
const RING_CORNER: f64 = 11.0;
/// Radius of the corner at a small ring, as a fraction of the ring's radius.
const RING_SHARE: f64 = 0.75;
/// Radius of a corner between fast main roads, m.
const RURAL_CORNER: f64 = 12.0;
/// Minimum speed limit of main roads that count as rural, m/s.
const RURAL_SPEED: f64 = 70.0 / 3.6;
/// Radius of the nose at a gore, m.
const NOSE_RADIUS: f64 = 0.6;
/// Trim of a gore whose arms never diverge, m.
const GORE_TRIM: f64 = 25.0;
/// Longest trim of a gore, m. Two arms of two lanes that meet at 5 degrees have diverged within
/// this length.
const LONGEST_GORE: f64 = 90.0;
/// Maximum fraction of an arm's length before the point where the edges of a gore diverge.
const GORE_SHARE: f64 = 0.6;
/// Spacing of the points at which the edges of a gore are checked, m.
const GORE_STEP: f64 = 1.0;
/// Maximum distance between the intersection of two arms' edges and the last sampled point where
/// the arms overlap, m. An intersection farther away does not count as the point where the arms
/// diverge.
const NEAR_OVERLAP: f64 = 10.0;
/// Longest trim of any kind, m. Nearly parallel edges would otherwise meet far out.
const MAX_TRIM: f64 = 200.0;
/// Radius of the bend between two arms, m.
const BEND_RADIUS: f64 = 20.0;
/// Smallest radius of the inner kerb of a bend, m. It allows a car to turn within its lane.
const MIN_BEND_RADIUS: f64 = 5.0;
/// Minimum radius of a U-turn, m. It is the smallest turning radius of a car. Tighter U-turns are
/// not offered.
pub const U_TURN_RADIUS: f64 = 4.5;
/// Clearance beside the path of a vehicle that makes a U-turn at a dead end, m.
const TURNING_MARGIN: f64 = 1.5;
/// Distance between the node and the stop lines of signals where a road merely continues, m.
pub(super) const CROSSING: f64 = 2.5;
/// Minimum length of a taper, m.
const MIN_TAPER: f64 = 0.15;
/// Minimum speed limit of one-way roads whose lanes begin and end with a taper that can be driven
/// at the limit, m/s.
const FAST: f64 = 70.0 / 3.6;
/// Lateral acceleration on a taper that can be driven at the speed limit, m/s^2. It is the same as in bends
/// (`lane_graph/bend.rs`).
const TAPER_ACCELERATION: f64 = 2.5;
/// Maximum curvature of an S-bend, as a multiple of its lateral offset divided by the square of its
/// length.
const S_BEND: f64 = 6.0;

/// The corner between an arm and the next one counter-clockwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// Distance along this arm to the point where the edges meet, m.
    pub distance: f64,
    /// Distance along the next arm to the point where the edges meet, m.
    pub next_distance: f64,
    /// Radius that the road classes require, m; 0 if there is no kerb to round.
    pub wanted_radius: f64,
    /// The largest radius that fits, at most `wanted_radius`, m.
    pub radius: f64,
    /// Distance along this arm to the start of the arc or, without an arc, to the point where the
    /// edges meet, m.
    pub foot: f64,
    /// Distance along the next arm to the end of the arc or, without an arc, to the point where the
    /// edges meet, m.
    pub next_foot: f64,
}

impl Corner {
    pub(super) fn plain(distance: f64, next_distance: f64) -> Self {
        Self {
            distance,
            next_distance,
            wanted_radius: 0.0,
            radius: 0.0,
            foot: distance,
            next_foot: next_distance,
        }
    }
}

/// Requirements for the corners of a junction, both derived and set by the user.
pub(super) struct CornerDemands<'a> {
    /// Distance between the node and the stop lines where the road merely continues, m; `None` if
    /// vehicles do not have to stop there.
    pub(super) held_back: Option<f64>,
    /// Corners whose radius the user has set.
    pub(super) decided: &'a [CornerRule],
    /// Lower limit for derived radii, m.
    pub(super) least: f64,
}

/// Requirements for the radius of one corner.
#[derive(Clone, Copy)]
struct Radius {
    /// Radius set by the user, m.
    decided: Option<f64>,
    /// Lower limit for a derived radius, m.
    least: f64,
}

/// Preferred and required radius of a corner.
struct Radii {
    /// Radius that the roads require, m.
    wanted: f64,
    /// Radius that turning vehicles need, m.
    needed: f64,
}

/// An arc that touches the left edge of an arm and the right edge of the next arm, or two lines
/// parallel to those edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fillet {
    /// Distances along both arms to the start and the end of the arc, m.
    pub(super) feet: Pair<f64>,
    /// Centre of the circle, m.
    pub(super) centre: DVec2,
    /// Radius of the corner, m.
    pub(super) radius: f64,
}

impl Fillet {
    /// Returns the arc of the given radius between two lines that are `beyond` metres outside the edges;
    /// `None` if no circle of that radius touches both.
    pub(super) fn between(
        Pair { arm, next }: Pair<&Arm<'_>>,
        beyond: Pair<f64>,
        radius: f64,
    ) -> Option<Self> {
        // The centre of a circle is one radius away from each line that it touches, so it is the
        // intersection of the lines that are one radius farther out.
        let meeting = edges_meet(arm, next, beyond.map(|beyond| beyond + radius))?;
        meeting.is_exact.then_some(Self {
            feet: meeting.distances,
            centre: meeting.point,
            radius,
        })
    }

    /// Returns the arc with the largest radius up to `wanted` that begins and ends within the
    /// limits; `None` if there is not even room for a radius of 5 cm.
    pub(super) fn within(arms: Pair<&Arm<'_>>, wanted: f64, limits: Pair<f64>) -> Option<Self> {
        let fits = |radius: f64| {
            Self::between(arms, Pair::both(0.0), radius).filter(|fillet| {
                fillet.feet.arm <= limits.arm + 1e-6 && fillet.feet.next <= limits.next + 1e-6
            })
        };
        if let Some(fillet) = fits(wanted) {
            return Some(fillet);
        }
        // The feet move outwards as the radius grows, so the largest radius that fits is found by bisection.
        let (mut low, mut high): (f64, f64) = (0.05, wanted);
        let mut best = fits(low.min(wanted))?;
        // After 24 bisections of 20 m, the interval is about a micrometre long, which is the unit
        // in which trims are stored.
        for _ in 0..24 {
            let middle = 0.5 * (low + high);
            match fits(middle) {
                Some(fillet) => (best, low) = (fillet, middle),
                None => high = middle,
            }
        }
        Some(best)
    }
}

/// Returns the corner after each arm. The arms are given counter-clockwise. A single arm has no
/// corner.
pub(super) fn corners(
    arms: &[Arm<'_>],
    side: DrivingSide,
    rules: &CornerDemands<'_>,
    is_ring: &dyn Fn(RoadId) -> bool,
) -> Vec<Corner> {
    if arms.len() < 2 {
        return Vec::new();
    }
    if let [arm, next] = arms
        && let Some(held_back) = rules.held_back
        && continues(arm, next)
    {
        let held = |arm: &Arm<'_>| held_back.min(arm.share());
        let corner = |arm, next| Corner::plain(held(arm), held(next));
        return vec![corner(arm, next), corner(next, arm)];
    }
    (0..arms.len())
        .map(|i| {
            let (arm, next) = (&arms[i], &arms[(i + 1) % arms.len()]);
            let mut decided = rules.decided.iter();
            let rule = decided.find(|rule| rule.is_between(arm.road_id, next.road_id));
            let pair = Pair { arm, next };
            let at_ring = at_ring(pair, pair.map(|arm| is_ring(arm.road_id)));
            let radius = Radius {
                decided: rule.map(|rule| rule.radius.get()),
                least: at_ring.max(rules.least),
            };
            if arms.len() == 2 {
                let angle = (next.bearing() - arm.bearing()).rem_euclid(TAU);
                return bend(arm, next, angle, side, radius.decided);
            }
            between(arm, next, side, radius)
        })
        .collect()
}

/// Returns how far arm `i` is cut back, m. It is the larger of the demands of its two corners.
pub(super) fn trim(arms: &[Arm<'_>], corners: &[Corner], i: usize) -> f64 {
    if corners.is_empty() {
        return turning_space(&arms[i]);
    }
    let (after, before) = (&corners[i], &corners[(i + arms.len() - 1) % arms.len()]);
    let demand = after.foot.max(before.next_foot).max(bend_onwards(arms, i));
    // Rounded to micrometres, as in files, so that reading a file back gives the same junction.
    (demand.min(MAX_TRIM) * 1e6).round() / 1e6
}

/// Returns how far arm `i` is cut back to give its lanes room for a slight bend into an arm that is
/// not its neighbour, m. No corner cuts these two arms back, because there are arms of other nodes
/// between them on both sides.
fn bend_onwards(arms: &[Arm<'_>], i: usize) -> f64 {
    let arm = &arms[i];
    // Neighbouring arms are skipped, because they share a corner with this one.
    let others = (2..arms.len().saturating_sub(1)).map(|ahead| &arms[(i + ahead) % arms.len()]);
    let bends = others.map(|other| {
        let angle = (other.bearing() - arm.bearing()).rem_euclid(TAU);
        (bend_space(arm, other, angle), (angle - PI).abs())
    });
    let slight = bends.filter(|(_, bend)| *bend < GENTLE);
    let space = slight.map(|(space, _)| space).fold(0.0, f64::max);
    space.min(arm.share())
}

/// Returns the length that two arms need so that lanes can bend from one arm into the other, m. It
/// is one metre per radian and lane.
fn bend_space(arm: &Arm<'_>, next: &Arm<'_>, angle: f64) -> f64 {
    // The larger number of lanes is used, so that the mirror image has the same taper.
    (angle - PI).abs() * lane_count(arm).max(lane_count(next)) as f64
}

/// Returns the length required for a U-turn at a dead end, m; 0 if the road is too narrow for a car
/// to turn.
fn turning_space(arm: &Arm<'_>) -> f64 {
    let section = arm.road.section_at(arm.road_s(0.0));
    let bands = arm.road.lane_bands(section, arm.road_s(0.0));
    let drivable = section
        .lanes
        .iter()
        .zip(&bands)
        .filter(|(lane, _)| lane.kind.is_drivable());
    // A vehicle turns from the centre of the outermost lane on one side to the centre of the
    // outermost lane on the other side, so the distance between these centres is the diameter of
    // the turn.
    let places = drivable.filter(|(lane, _)| lane.direction == LaneDirection::Standard);
    let (mut right, mut left) = (0.0f64, 0.0f64);
    for (lane, band) in places {
        if lane.id < 0 {
            right = right.max(-band.centre);
        } else {
            left = left.max(band.centre);
        }
    }
    let radius = 0.5 * (left + right);
    let room = radius + TURNING_MARGIN;
    if left == 0.0 || right == 0.0 || radius < U_TURN_RADIUS || room > arm.share() {
        return 0.0;
    }
    room
}

/// Returns the minimum corner radius where one of two arms is part of a ring, m; 0 if neither is.
fn at_ring(arms: Pair<&Arm<'_>>, is_ring: Pair<bool>) -> f64 {
    let ring = match (is_ring.arm, is_ring.next) {
        (true, false) => arms.arm,
        (false, true) => arms.next,
        _ => return 0.0,
    };
    let bend = ring.outward.curvature(0.0).abs();
    RING_CORNER.min(RING_SHARE / bend.max(1e-6))
}

/// Returns the corner from the left edge of `arm` to the right edge of `next`. A radius set by the user takes
/// precedence. Otherwise, the roads determine the radius, which is at least `least`.
///
/// By the angle between them, counter-clockwise from `arm`:
///
/// ```text
///   0 .. 35 degrees     gore: the arms diverge slowly; a narrow nose and a limited trim
///   35 .. 172           fillet
///   172 .. 188          no corner: arms in line, the far side of a T
///   188 .. 325          none: the outside of a bend, where edges do not meet ahead
///   325 .. 360          a gore whose arms have swapped sides
/// ```
fn between(arm: &Arm<'_>, next: &Arm<'_>, side: DrivingSide, radius: Radius) -> Corner {
    let angle = (next.bearing() - arm.bearing()).rem_euclid(TAU);
    if (angle - PI).abs() < STRAIGHT || is_in_line(arm, next) {
        return taper(arm, next, angle);
    }
    // Arms of a merged junction need not start at the same point, so their order can be reversed.
    let inverted = angle > TAU - GORE_ANGLE;
    if angle > PI && !inverted {
        return Corner::plain(0.0, 0.0);
    }
    if angle < GORE_ANGLE || inverted {
        return gore(Pair { arm, next }, radius.decided.unwrap_or(NOSE_RADIUS));
    }
    let Some(meeting) = edges_meet(arm, next, Pair::both(0.0)) else {
        return shared_stretch(arm, next);
    };
    // If arms are nearly in line but differ in width, their edges meet far out or behind the node.
    if (angle - PI).abs() < GENTLE && !meeting.is_exact {
        return taper(arm, next, angle);
    }
    let radii = radii(Pair { arm, next }, angle, side, radius);
    fillet(Pair { arm, next }, meeting.distances, angle, radii)
}

/// Returns the corner of two arms that start in parallel and diverge only later or never.
fn shared_stretch(arm: &Arm<'_>, next: &Arm<'_>) -> Corner {
    let shared = |arm: &Arm<'_>| GORE_TRIM.min(arm.share());
    Corner::plain(shared(arm), shared(next))
}

/// Returns the corner of two arms that diverge at a gore. It is placed where their edges diverge,
/// because vehicles side by side on overlapping arms would touch.
fn gore(Pair { arm, next }: Pair<&Arm<'_>>, radius: f64) -> Corner {
    let fits = |arm: &Arm<'_>, at: f64| at <= LONGEST_GORE.min(GORE_SHARE * arm.length());
    let fitting = |parting: &Parting| fits(arm, parting.at.arm) && fits(next, parting.at.next);
    if let Some(Parting { at, have_crossed }) = parting(arm, next).filter(fitting) {
        // If the arms have swapped sides, their other edges diverge. There is no nose between these
        // edges.
        return match have_crossed {
            true => Corner::plain(at.arm, at.next),
            false => nose(Pair { arm, next }, at, LONGEST_GORE, radius),
        };
    }
    let Some(meeting) = edges_meet(arm, next, Pair::both(0.0)) else {
        return shared_stretch(arm, next);
    };
    // At the limit angle, the carriageways have diverged after widths / sin(angle). Twice that distance is
    // enough for angles down to about half of the limit.
    let widths = arm.half_widths(0.0).0 + next.half_widths(0.0).1;
    let cap = GORE_TRIM.min(2.0 * widths / sin(GORE_ANGLE));
    nose(Pair { arm, next }, meeting.distances, cap, radius)
}

/// The point where two arms stop overlapping.
struct Parting {
    /// Distances of the point along both arms, m.
    at: Pair<f64>,
    /// Whether the arms swap sides before that point.
    have_crossed: bool,
}

/// Finds the point where two arms stop overlapping; `None` if it is farther out than the longest
/// gore, or if the arms overlap everywhere.
fn parting(arm: &Arm<'_>, next: &Arm<'_>) -> Option<Parting> {
    let near = last_overlap(arm, next)?;
    [false, true].into_iter().find_map(|have_crossed| {
        let (own, other) = match have_crossed {
            true => (Flank::Right, Flank::Left),
            false => (Flank::Left, Flank::Right),
        };
        let flanks = Pair {
            arm: own,
            next: other,
        };
        let meeting = flanks_meet(Pair { arm, next }, flanks, Pair::both(0.0), near)?;
        let at = meeting.distances;
        let off = (at.arm - near.arm).abs().max((at.next - near.next).abs());
        let is_there = off < NEAR_OVERLAP;
        (meeting.is_exact && is_there).then_some(Parting { at, have_crossed })
    })
}

/// Returns the distance along each of two arms to the last sampled point where they overlap, m;
/// `None` if they do not overlap.
fn last_overlap(arm: &Arm<'_>, next: &Arm<'_>) -> Option<Pair<f64>> {
    let (own, other) = (both_edges(arm), both_edges(next));
    let below = |[left, right]: &[Pose; 2]| {
        let to = |i: &usize| (other[*i][1].position - left.position).length_squared();
        let beside = (0..other.len()).min_by(|a, b| to(a).total_cmp(&to(b)))?;
        let [next_left, next_right] = &other[beside];
        let is_over = next_right.to_local(left.position).y > 0.0
            && next_left.to_local(right.position).y < 0.0;
        is_over.then_some(beside)
    };
    let (last, beside) = (0..own.len())
        .rev()
        .find_map(|i| Some((i, below(&own[i])?)))?;
    Some(Pair {
        arm: last as f64 * GORE_STEP,
        next: beside as f64 * GORE_STEP,
    })
}

/// Returns the poses on the left and right edges of an arm, sampled up to the length of the longest
/// gore.
fn both_edges(arm: &Arm<'_>) -> Vec<[Pose; 2]> {
    let count = (arm.length().min(LONGEST_GORE) / GORE_STEP) as usize;
    let places = (0..=count).map(|i| i as f64 * GORE_STEP);
    let edges = |at| [Flank::Left, Flank::Right].map(|flank| arm.beside(flank, at, 0.0));
    places.map(edges).collect()
}

/// Whether two arms start at the same point in opposite directions, even if they bend farther out.
fn is_in_line(arm: &Arm<'_>, next: &Arm<'_>) -> bool {
    let (a, b) = (arm.outward.start(), next.outward.start());
    let turn = (wrap_angle(a.heading - b.heading).abs() - PI).abs();
    turn < STRAIGHT && (a.position - b.position).length() < 0.5
}

/// Returns the corner of a gore. It is rounded only if the arms have diverged within `cap`.
fn nose(arms: Pair<&Arm<'_>>, distances: Pair<f64>, cap: f64, wanted_radius: f64) -> Corner {
    let limits = arms.map(|arm| cap.min(arm.share()));
    let fillet = Fillet::within(arms, wanted_radius, limits);
    let (distance, next_distance) = (distances.arm, distances.next);
    match fillet {
        Some(fillet) => Corner {
            distance,
            next_distance,
            wanted_radius,
            radius: fillet.radius,
            foot: fillet.feet.arm,
            next_foot: fillet.feet.next,
        },
        None => Corner::plain(distance.min(cap), next_distance.min(cap)),
    }
}

/// Returns the radius that the roads require and the radius that turning vehicles need, m. The
/// first radius is at least `least`. A radius set by the user takes precedence, even if vehicles
/// cannot make the turn.
fn radii(
    Pair { arm, next }: Pair<&Arm<'_>>,
    angle: f64,
    side: DrivingSide,
    Radius { decided, least }: Radius,
) -> Radii {
    if let Some(wanted) = decided {
        return Radii {
            wanted,
            needed: 0.0,
        };
    }
    let class = arm.road.class.min(next.road.class);
    let has_buses = has_bus_lane(arm) && has_bus_lane(next);
    let is_rural = (RoadClass::Collector..=RoadClass::Arterial).contains(&class)
        && arm.road.speed_limit.min(next.road.speed_limit.get()) >= RURAL_SPEED;
    let mut base = class.corner_radius().max(least);
    if has_buses {
        base = base.max(BUS_CORNER);
    }
    if is_rural {
        base = base.max(RURAL_CORNER);
    }
    // Acute corners get a smaller kerb radius than obtuse ones. The tangent is radius / tan(angle /
    // 2), so with the same radius the arms of an acute corner would be cut back several times as
    // far. For a base radius of 8 m: 60 degrees: 4.8 m, tangent 8.3 m; 90 degrees: 8 m, 8 m; 120
    // degrees: 11 m, 6.4 m.
    let blunt = if angle <= PI / 3.0 {
        0.6
    } else if angle <= PI / 2.0 {
        0.6 + 0.4 * (angle - PI / 3.0) / (PI / 6.0)
    } else {
        (1.0 + 0.5 * (angle - PI / 2.0) / (40.0 * PI / 180.0)).min(1.5)
    };
    let path_radius = if has_buses { BUS_RADIUS } else { CAR_RADIUS };
    let needed = turning_radius(arm, next, angle, side, path_radius).unwrap_or(0.0);
    Radii {
        wanted: (base * blunt).max(needed),
        needed,
    }
}

/// Whether the only two arms of a junction form a gentle bend. `angle` is the angle between them, rad.
pub(super) fn is_gentle(angle: f64) -> bool {
    PI - angle.abs() < GENTLE
}

fn has_bus_lane(arm: &Arm<'_>) -> bool {
    let lanes = &arm.road.section_at(arm.road_s(0.0)).lanes;
    lanes.iter().any(|lane| lane.kind == LaneType::Bus)
}

/// Returns the kerb radius that lets a path with a radius of at least `path_radius` join the lanes
/// beside the kerb; `None` if no lane turns at this corner.
///
/// ```text
///   lane  :  | kerb         d is the distance from the kerb to the middle of the lane. The path
///      :  :  |              leaves its lane at the foot of the kerb's arc, so its tangent is that
///     .'  .' '._____        of the arc, radius / tan(angle / 2), plus the distance along the lane
///   ..'  :     d            from where the kerbs meet to where the lane centres meet.
///   .....'
/// ```
fn turning_radius(
    arm: &Arm<'_>,
    next: &Arm<'_>,
    angle: f64,
    side: DrivingSide,
    path_radius: f64,
) -> Option<f64> {
    // In right-hand traffic, vehicles enter on the left of an arm, looking outward.
    let arm_enters = side == DrivingSide::Right;
    let d = inset(arm, Flank::Left, side, !arm_enters)?;
    let next_d = inset(next, Flank::Right, side, arm_enters)?;
    // Distances along both arms by which the lane centres meet nearer to the node than the edges
    // do. With u along the arm, v along the next arm, and their left normals m and n, they follow
    // from s u - d m = t v + next_d n: own = -s, other = -t.
    let (own, other) = (
        (next_d + d * cos(angle)) / sin(angle),
        (d + next_d * cos(angle)) / sin(angle),
    );
    let tangent = path_radius * unit_tangent(PI - angle);
    // The lane whose path has to begin farther out determines the radius.
    Some((tangent - own.min(other)) * tan(0.5 * angle))
}

/// Returns the distance between an edge of an arm's carriageway and the centre of the nearest lane
/// that leaves the junction (if `out` is set) or enters it (otherwise), m; `None` if there is no
/// such lane.
fn inset(arm: &Arm<'_>, flank: Flank, side: DrivingSide, out: bool) -> Option<f64> {
    let lanes = match out {
        true => arm.leaving_lanes(0.0, side),
        false => arm.entering_lanes(0.0, side),
    };
    let edge = arm.beside(flank, 0.0, 0.0);
    let distances = lanes
        .iter()
        .map(|lane| (lane.pose.position - edge.position).length());
    distances.min_by(f64::total_cmp)
}

/// Returns a corner rounded by an arc of the preferred radius, or of the largest radius that fits. If cars
/// could not turn such a corner, the arc may use more of the arms.
fn fillet(
    arms: Pair<&Arm<'_>>,
    distances: Pair<f64>,
    angle: f64,
    Radii { wanted, needed }: Radii,
) -> Corner {
    let shares = arms.map(Arm::share);
    let corner = fillet_within(arms, distances, angle, wanted, shares);
    let needed = needed.min(wanted);
    match corner.radius < needed {
        true => {
            let usable = arms.map(Arm::usable);
            fillet_within(arms, distances, angle, needed, usable)
        }
        false => corner,
    }
}

/// Returns a corner rounded by an arc that stays within the limit given for each arm.
fn fillet_within(
    arms: Pair<&Arm<'_>>,
    distances: Pair<f64>,
    angle: f64,
    wanted_radius: f64,
    given: Pair<f64>,
) -> Corner {
    let (distance, next_distance) = (distances.arm, distances.next);
    // The corner extends at least to the point where the edges meet, however short an arm is.
    let limits = Pair {
        arm: distance.max(given.arm),
        next: next_distance.max(given.next),
    };
    let exact = Fillet::within(arms, wanted_radius, limits);
    // If the arms do not start at one point, there may be no such circle. In this case, the arms
    // are cut back as for an arc between straight edges, whose foot is radius / tan(angle / 2)
    // beyond the point where the edges meet. This is done only if both arms are long enough.
    let room = (limits.arm - distance).min(limits.next - next_distance);
    let radius = exact.map_or(wanted_radius.min(room * tan(0.5 * angle)), |f| f.radius);
    let tangent = radius / tan(0.5 * angle);
    let straight = distances.map(|distance| distance + tangent);
    let feet = exact.map_or(straight, |fillet| fillet.feet);
    Corner {
        distance,
        next_distance,
        wanted_radius,
        radius,
        foot: feet.arm,
        next_foot: feet.next,
    }
}

/// Returns the corner of two arms that are in line but may have different widths.
fn taper(arm: &Arm<'_>, next: &Arm<'_>, angle: f64) -> Corner {
    let (a, b) = (arm.half_widths(0.0).0, next.half_widths(0.0).1);
    // Pavements of different widths are joined at an angle of at most 45 degrees.
    let pavements = (arm.pavements(0.0).0 - next.pavements(0.0).1).abs();
    // The taper is longer for a sharper bend. A change of width is spread over five times its size.
    let wanted = MIN_TAPER
        .max(bend_space(arm, next, angle))
        .max((a - b).abs() * 5.0)
        .max(pavements);
    let held = |arm: &Arm<'_>| wanted.min(arm.share());
    Corner::plain(held(arm), held(next))
}

/// Returns the length of the taper where lanes of a fast one-way road end or begin, m; 0 on other
/// roads. The taper can be driven at the speed limit: the largest curvature of an S-bend of length
/// L and offset w is about 6 w / L^2, so L is v sqrt(6 w / a). For an offset of 3.5 m at 120 km/h
/// this is 97 m.
fn fast_taper(arm: &Arm<'_>, next: &Arm<'_>) -> f64 {
    let limit = arm.road.speed_limit.get().min(next.road.speed_limit.get());
    if limit < FAST || !is_one_way(arm) || !is_one_way(next) {
        return 0.0;
    }
    let ((left, right), (next_left, next_right)) = (arm.half_widths(0.0), next.half_widths(0.0));
    if lane_count(arm) == lane_count(next) {
        return 0.0;
    }
    let offset = (left - next_right).abs().max((right - next_left).abs());
    limit * (S_BEND * offset / TAPER_ACCELERATION).sqrt()
}

/// Returns the number of lanes of an arm at the node, of all types.
fn lane_count(arm: &Arm<'_>) -> usize {
    arm.road.section_at(arm.road_s(0.0)).lanes.len()
}

/// Whether all drivable lanes of an arm have the same direction.
fn is_one_way(arm: &Arm<'_>) -> bool {
    let lanes = &arm.road.section_at(arm.road_s(0.0)).lanes;
    let drivable = lanes.iter().filter(|lane| lane.kind.is_drivable());
    let mut along =
        drivable.map(|lane| (lane.id < 0) == (lane.direction == LaneDirection::Standard));
    along
        .next()
        .is_some_and(|first| along.all(|other| other == first))
}

/// Returns the corner of a bend between the only two arms of a junction.
fn bend(
    arm: &Arm<'_>,
    next: &Arm<'_>,
    angle: f64,
    side: DrivingSide,
    decided: Option<f64>,
) -> Corner {
    if continues(arm, next) {
        return Corner::plain(0.0, 0.0);
    }
    let straightness = (angle - PI).abs();
    if straightness < GENTLE {
        // Length of the tangent for an arc of this radius. A gentle bend is smoothed and has no
        // corner.
        let wanted = BEND_RADIUS * tan(0.5 * straightness);
        let wanted = wanted.max(0.5 * fast_taper(arm, next));
        let tapered = taper(arm, next, angle);
        let held = |arm: &Arm<'_>, d: f64| d.max(wanted).min(arm.share());
        return Corner::plain(
            held(arm, tapered.distance),
            held(next, tapered.next_distance),
        );
    }
    // The outer side of the bend needs no corner, because the inner corner cuts both arms back far
    // enough.
    if angle > PI {
        return Corner::plain(0.0, 0.0);
    }
    match edges_meet(arm, next, Pair::both(0.0)) {
        Some(meeting) if angle >= GORE_ANGLE => {
            let radius = Radius {
                decided,
                least: MIN_BEND_RADIUS,
            };
            let radii = radii(Pair { arm, next }, angle, side, radius);
            fillet(Pair { arm, next }, meeting.distances, angle, radii)
        }
        Some(meeting) => {
            let Pair { arm, next } = meeting.distances;
            Corner::plain(arm.min(GORE_TRIM), next.min(GORE_TRIM))
        }
        None => Corner::plain(0.0, 0.0),
    }
}

/// Whether two arms could be one road because they have the same position, heading and lanes.
pub(super) fn continues(arm: &Arm<'_>, next: &Arm<'_>) -> bool {
    let (a, b) = (arm.outward.start(), next.outward.start());
    let same_place = (a.position - b.position).length() < 1e-3;
    let straight = (wrap_angle(a.heading - b.heading).abs() - PI).abs() < 1e-3;
    let (left, right) = arm.half_widths(0.0);
    let (next_left, next_right) = next.half_widths(0.0);
    let same_edges = (left - next_right).abs() < 1e-3 && (right - next_left).abs() < 1e-3;
    let (left, right) = arm.pavements(0.0);
    let (next_left, next_right) = next.pavements(0.0);
    let same_pavements = (left - next_right).abs() < 1e-3 && (right - next_left).abs() < 1e-3;
    same_place && straight && same_edges && same_pavements && lane_count(arm) == lane_count(next)
}

/// The point where the edges of two arms meet.
struct Meeting {
    /// Distances to the point along both arms, clamped to the lengths of the arms.
    distances: Pair<f64>,
    /// The point, or the midpoint between the closest points if the edges stay apart.
    point: DVec2,
    /// Whether the edges meet within the lengths of both arms.
    is_exact: bool,
}

/// Finds where two lines meet: one `beyond` metres outside the left edge of an arm, the other
/// `beyond` metres outside the right edge of the next arm. An arm that is too short for the corner
/// is used up completely, which the layout handles.
///
/// Applies Newton's method to the true offset curves, starting at the node. It is exact after one step for
/// straight arms. Returns `None` if the edges are parallel.
fn edges_meet(arm: &Arm<'_>, next: &Arm<'_>, beyond: Pair<f64>) -> Option<Meeting> {
    let flanks = Pair {
        arm: Flank::Left,
        next: Flank::Right,
    };
    flanks_meet(Pair { arm, next }, flanks, beyond, Pair::both(0.0))
}

/// Finds the intersection of the lines `beyond` metres outside one edge of each of two arms; `None`
/// if the lines are parallel. The search starts at the distances `near` along the arms.
fn flanks_meet(
    Pair { arm, next }: Pair<&Arm<'_>>,
    flanks: Pair<Flank>,
    beyond: Pair<f64>,
    near: Pair<f64>,
) -> Option<Meeting> {
    let (flank, next_flank) = (flanks.arm, flanks.next);
    let (mut distance, mut next_distance) = (near.arm, near.next);
    let limit = |arm: &Arm<'_>| arm.length().min(MAX_TRIM);
    for _ in 0..16 {
        let a = arm.frame_beside(flank, distance, beyond.arm);
        let b = next.frame_beside(next_flank, next_distance, beyond.next);
        let (u, v) = (a.forward, b.forward);
        let cross = u.perp_dot(v);
        // Sine of the angle between the edges. Edges within a twentieth of a degree of each other
        // count as parallel.
        if cross.abs() < 1e-3 {
            return None;
        }
        // Solves a + step u = b + next_step v, the intersection of the two tangents, by Cramer's rule.
        let gap = b.origin - a.origin;
        // Beside a bend, a point moves faster or slower than its distance along the arm. The ratio
        // is clamped to three. Otherwise, Newton's steps would vanish where the radius of the bend
        // equals the distance of the edge.
        let pace = |arm: &Arm<'_>, flank, distance, beyond| {
            arm.stretch_beside(flank, distance, beyond).clamp(0.3, 3.0)
        };
        let step = gap.perp_dot(v) / cross / pace(arm, flank, distance, beyond.arm);
        let next_pace = pace(next, next_flank, next_distance, beyond.next);
        let next_step = gap.perp_dot(u) / cross / next_pace;
        let moved = (distance + step).clamp(0.0, limit(arm)) - distance;
        let next_moved = (next_distance + next_step).clamp(0.0, limit(next)) - next_distance;
        distance += moved;
        next_distance += next_moved;
        if moved.abs() < 1e-9 && next_moved.abs() < 1e-9 {
            break;
        }
    }
    let a = arm.beside(flank, distance, beyond.arm).position;
    let b = next.beside(next_flank, next_distance, beyond.next).position;
    Some(Meeting {
        distances: Pair {
            arm: distance,
            next: next_distance,
        },
        point: 0.5 * (a + b),
        is_exact: (a - b).length() < 1e-5,
    })
}
