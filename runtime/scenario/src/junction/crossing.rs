//! Pedestrian crossings: a strip over the carriageway of an arm, and the parts of it that vehicles
//! cover.
//!
//! ```text
//!        left kerb  u = length
//!   ------+----+-----------------------       The strip is between the corners of the junction and the
//!         |####| 1 m |  <- stop line          stop line, so the arm is cut back farther to make room for
//!         |####|     |                        it. Pedestrians walk along its middle line, from u = 0 to
//!         |####|     |   arm, outward ->      its length or back; they can wait at the kerbs and on
//!   ------+----+-----------------------       islands: medians that are at least 1.5 m wide.
//!        right kerb  u = 0
//! ```
//!
//! Where a road merely continues, the strip is centred on the node, with a stop line on either
//! side.

use super::arm::Arm;
use super::conflicts::{Body, Interval};
use super::corner::{self, Corner};
use super::sweep::Track;
use super::{ConnectingPath, Flag, LaneEnd};
use crate::ids::RoadId;
use crate::index::ConnectionIndex;
use crate::junction_rules::CrossingRule;
use crate::lane_type::LaneType;
use crate::road::{Road, RoadEnd};
use glam::DVec2;
use roadwright_geometry::{OwnFrame, Pose, ReferenceLine};

/// Default width of a strip, m. It lets two pedestrians pass two others side by side.
pub const CROSSING_WIDTH: f64 = 3.6;
/// Default width of a strip where the speed limit is above `FAST`, m. A wider strip is visible
/// from farther away.
pub const FAST_CROSSING_WIDTH: f64 = 4.0;
/// Speed limit above which a road counts as fast, m/s: 60 km/h, allowing for limits rounded to
/// hundredths.
const FAST: f64 = 60.0 / 3.6 + 0.005;
/// Distance from the ends of the corners to the strip, m.
const SETBACK: f64 = 0.4;
/// Distance from the strip to the stop line, m.
const GAP: f64 = 1.0;
/// Maximum fraction of an arm for corner, strip and gap together. The junction at the other end of
/// the road may also have a crossing, and some road has to remain between them.
const ARM_SHARE: f64 = 0.42;
/// Minimum width of a median that serves as a refuge island, m.
const LEAST_ISLAND: f64 = 1.5;
/// Lateral margin added to a body when determining what it covers, m.
const BESIDE: f64 = 0.3;
/// Distance between sampled poses of a body, m.
const STEP: f64 = 0.25;

/// A crossing over an arm of a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct Crossing {
    /// The road that is crossed.
    pub road: RoadId,
    /// The end of the road that is crossed.
    pub end: RoadEnd,
    /// Centre of the strip at the right kerb (looking outward), heading outward along the road.
    pub right_kerb: Pose,
    /// Length from kerb to kerb, m.
    pub length: f64,
    /// Extent along the road, m.
    pub width: f64,
    /// Islands between the kerbs where pedestrians can wait, in metres from the right kerb and in
    /// ascending order.
    pub islands: Vec<Interval>,
    /// The connections that lead over the crossing, in order of index.
    pub covered: Vec<Covered>,
    /// Pedestrians per hour at each side; `None` if the scenario does not set a number for this crossing.
    pub people: Option<f64>,
}

/// A connection that leads over a crossing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Covered {
    /// Index of the connection in the junction.
    pub path: ConnectionIndex,
    /// Space on the crossing that a car occupies.
    pub car: Taken,
    /// Space on the crossing that a bus or lorry occupies.
    pub long: Taken,
}

/// The space that a vehicle occupies on a crossing, and when it does so.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Taken {
    /// Interval across the road, m from the right kerb.
    pub across: Interval,
    /// Interval along the connection, m from its start: from where the vehicle's front reaches the strip to where its
    /// rear has left the strip.
    pub along: Interval,
}

impl Crossing {
    /// Returns the position of a pedestrian at the given distance from the right kerb, m.
    pub fn place(&self, across: f64) -> DVec2 {
        self.right_kerb.point(0.0, across)
    }

    /// Returns the stretches between kerbs and islands, in metres from the right kerb.
    pub fn stretches(&self) -> impl Iterator<Item = Interval> + '_ {
        let starts = std::iter::once(0.0).chain(self.islands.iter().map(|island| island.to));
        let ends = self.islands.iter().map(|island| island.from);
        let ends = ends.chain([self.length]);
        starts.zip(ends).map(|(from, to)| Interval { from, to })
    }

    /// Returns the length of the longest stretch between two waiting places, m.
    pub fn longest_stretch(&self) -> f64 {
        let lengths = self.stretches().map(|stretch| stretch.to - stretch.from);
        lengths.fold(0.0, f64::max)
    }
}

/// Returns the rule for the crossing over an arm; `None` if the arm has no crossing.
fn rule_for<'a>(arm: &Arm<'_>, rules: &'a [CrossingRule]) -> Option<&'a CrossingRule> {
    rules.iter().find(|rule| rule.road == arm.road_id)
}

/// Returns the default width of a crossing over a road, m: [`CROSSING_WIDTH`], or
/// [`FAST_CROSSING_WIDTH`] if the speed limit is above 60 km/h.
pub fn crossing_width(road: &Road) -> f64 {
    match road.speed_limit > FAST {
        true => FAST_CROSSING_WIDTH,
        false => CROSSING_WIDTH,
    }
}

fn width_of(arm: &Arm<'_>, rule: &CrossingRule) -> f64 {
    rule.width.unwrap_or_else(|| crossing_width(arm.road))
}

/// Returns the length that a crossing adds to the trim of its arm, m.
fn depth(arm: &Arm<'_>, rule: &CrossingRule) -> f64 {
    SETBACK + width_of(arm, rule) + GAP
}

/// At a node where a road merely continues, returns the index of the arm with a crossing, and the
/// rule of the crossing; `None` at other nodes or without a crossing. The strip of this crossing is
/// centred on the node.
fn around_node<'a>(
    arms: &[Arm<'_>],
    rules: &'a [CrossingRule],
) -> Option<(usize, &'a CrossingRule)> {
    let [arm, next] = arms else { return None };
    if !corner::continues(arm, next) {
        return None;
    }
    // If both arms have a rule, that of the first road is used, because both describe the same strip.
    let named = (0..2).filter_map(|i| Some((i, rule_for(&arms[i], rules)?)));
    named.min_by_key(|&(i, _)| (arms[i].road_id, i))
}

/// Returns how far arms are cut back for a crossing at a node where a road merely continues, m;
/// `None` if there is no crossing.
pub(super) fn held(arms: &[Arm<'_>], rules: &[CrossingRule]) -> Option<f64> {
    let (i, rule) = around_node(arms, rules)?;
    // Half of the strip is on each side of the node. There are no corners from which to keep a
    // distance.
    Some(0.5 * width_of(&arms[i], rule) + GAP)
}

/// Returns how far arm `i` is cut back, m. It is cut back for its corners and, if there is room,
/// for its crossing.
pub(super) fn trim(arms: &[Arm<'_>], corners: &[Corner], rules: &[CrossingRule], i: usize) -> f64 {
    let base = corner::trim(arms, corners, i);
    if arms.len() < 2 || around_node(arms, rules).is_some() {
        return base;
    }
    let Some(rule) = rule_for(&arms[i], rules) else {
        return base;
    };
    // If there is no room, the arm is cut as if there were no crossing. `crossings` detects this
    // and sets a flag.
    let wanted = base + depth(&arms[i], rule);
    if wanted > ARM_SHARE * arms[i].length() {
        return base;
    }
    // Stored in micrometres, like other trims.
    (wanted * 1e6).round() / 1e6
}

/// Returns the crossings of a junction with cut arms, in the order of the arms. Crossings without
/// room get a flag instead.
pub(super) fn crossings(
    arms: &[Arm<'_>],
    trims: &[f64],
    corners: &[Corner],
    rules: &[CrossingRule],
    paths: &[ConnectingPath],
    flags: &mut Vec<Flag>,
) -> Vec<Crossing> {
    if let Some((i, rule)) = around_node(arms, rules) {
        let held = 0.5 * width_of(&arms[i], rule) + GAP;
        if trims.iter().any(|trim| trim + 1e-3 < held) {
            flags.push(Flag::NoRoomForCrossing(arms[i].road_id));
            return Vec::new();
        }
        return vec![crossing(&arms[i], 0.0, rule, paths, |_| true)];
    }
    let mut crossings = Vec::new();
    for (i, arm) in arms.iter().enumerate() {
        let Some(rule) = rule_for(arm, rules) else {
            continue;
        };
        let base = corner::trim(arms, corners, i);
        if arms.len() < 2 || trims[i] + 1e-3 < base + depth(arm, rule) {
            flags.push(Flag::NoRoomForCrossing(arm.road_id));
            continue;
        }
        let middle = trims[i] - GAP - 0.5 * width_of(arm, rule);
        let is_at_arm = |lane: LaneEnd| (lane.road, lane.end) == (arm.road_id, arm.end);
        let leads_over = |path: &ConnectingPath| is_at_arm(path.from) || is_at_arm(path.to);
        crossings.push(crossing(arm, middle, rule, paths, leads_over));
    }
    crossings
}

/// Returns the crossing over an arm, `middle` metres outward from the node.
fn crossing(
    arm: &Arm<'_>,
    middle: f64,
    rule: &CrossingRule,
    paths: &[ConnectingPath],
    leads_over: impl Fn(&ConnectingPath) -> bool,
) -> Crossing {
    let (left, right) = arm.half_widths(middle);
    let mut crossing = Crossing {
        road: arm.road_id,
        end: arm.end,
        right_kerb: arm.outward.offset_pose(middle, -right),
        length: left + right,
        width: width_of(arm, rule),
        islands: islands(arm, middle, right),
        covered: Vec::new(),
        people: rule.people.get(),
    };
    let numbered = ConnectionIndex::up_to(paths.len()).zip(paths);
    let over = numbered.filter(|(_, path)| leads_over(path));
    let covered = over.filter_map(|(number, path)| {
        let curve = path.curve.as_ref()?;
        Some(Covered {
            path: number,
            car: taken(&crossing, curve, Body::CAR)?,
            long: taken(&crossing, curve, Body::LONG)?,
        })
    });
    crossing.covered = covered.collect();
    crossing
}

/// Returns the medians that are wide enough for pedestrians to wait on, as intervals in metres from
/// the right edge, looking outward.
fn islands(arm: &Arm<'_>, middle: f64, right: f64) -> Vec<Interval> {
    let s = arm.road_s(middle);
    let (section, sign) = match arm.end {
        RoadEnd::Start => (arm.road.section_at(s + 1e-6), 1.0),
        RoadEnd::End => (arm.road.section_at(s - 1e-6), -1.0),
    };
    let bands = arm.road.lane_bands(section, s);
    let medians = section.lanes.iter().zip(bands);
    let medians = medians.filter(|(lane, _)| lane.kind == LaneType::Median);
    let mut islands: Vec<Interval> = medians
        .map(|(_, band)| {
            // Bands are positioned to the left of the road. At the end of the road, this is the right when looking
            // outward.
            let at = sign * band.centre + right;
            Interval {
                from: at - 0.5 * band.width,
                to: at + 0.5 * band.width,
            }
        })
        .collect();
    islands.sort_by(|a, b| a.from.total_cmp(&b.from));
    // Two median lanes side by side, one on each side of the reference line, form one island.
    islands.dedup_by(|next, island| {
        let is_one = next.from < island.to + 0.05;
        if is_one {
            island.to = island.to.max(next.to);
        }
        is_one
    });
    let has_room = |island: &Interval| {
        let is_inside = island.from > 0.1 && island.to < arm_width(arm, middle) - 0.1;
        is_inside && island.to - island.from >= LEAST_ISLAND
    };
    islands.retain(has_room);
    islands
}

fn arm_width(arm: &Arm<'_>, distance: f64) -> f64 {
    let (left, right) = arm.half_widths(distance);
    left + right
}

/// Returns the space that a body occupies on a crossing while its rear axle follows a curve; `None` if the
/// body does not reach the crossing.
fn taken(crossing: &Crossing, curve: &ReferenceLine, body: Body) -> Option<Taken> {
    let length = curve.length();
    // From a pose before the front reaches the curve to a pose after the rear has left it.
    let (first, last) = (-body.front - body.rear, length + body.front + body.rear);
    let count = ((last - first) / STEP).ceil() as usize;
    let mut taken: Option<Taken> = None;
    let track = Track::of(curve);
    let kerb = crossing.right_kerb.own_frame();
    let middle = DVec2::new(0.0, 0.5 * crossing.length);
    let half_size = DVec2::new(0.5 * crossing.width, 0.5 * crossing.length);
    // Radius of the circle around the rear axle that contains the whole body.
    let radius = DVec2::new(body.front.max(body.rear), 0.5 * body.width + BESIDE).length();
    let mut next = 0;
    while next <= count {
        let i = next;
        next += 1;
        let s = first + STEP * i as f64;
        let (frame, beyond) = track.at(s);
        let axle = kerb.to_local(frame.point(beyond, 0.0)) - middle;
        let missing = (axle.abs() - half_size).max(DVec2::ZERO).length() - radius;
        if missing > STEP {
            // From one pose to the next, the axle moves by at most one step, so the body cannot
            // reach the crossing earlier.
            next = i + (missing / STEP) as usize;
            continue;
        }
        let corners = outline(&kerb, frame, beyond, body);
        let Some(across) = overlap(crossing.width, crossing.length, &corners) else {
            continue;
        };
        // Each pose is joined to the next one, so that nothing between them is missed.
        let along = Interval {
            from: s + body.front - STEP,
            to: s - body.rear + STEP,
        };
        let all = taken.get_or_insert(Taken { across, along });
        all.across.from = all.across.from.min(across.from);
        all.across.to = all.across.to.max(across.to);
        all.along.to = along.to;
    }
    taken
}

/// Returns the corners of a body whose rear axle is `beyond` metres ahead of a frame, in the frame
/// of a kerb.
fn outline(kerb: &OwnFrame, frame: OwnFrame, beyond: f64, body: Body) -> [DVec2; 4] {
    let half = 0.5 * body.width + BESIDE;
    let corner = |ahead: f64, left: f64| kerb.to_local(frame.point(beyond + ahead, left));
    // Written out because it runs for each pose of each body on each crossing, and `map` over an
    // array of pairs takes several times as long.
    [
        corner(-body.rear, -half),
        corner(body.front, -half),
        corner(body.front, half),
        corner(-body.rear, half),
    ]
}

/// Returns the part of a crossing that a convex area covers, m from the right kerb; `None` if the
/// area does not touch the crossing. The corners of the area are in the frame of the right kerb.
fn overlap(width: f64, length: f64, corners: &[DVec2; 4]) -> Option<Interval> {
    let half = 0.5 * width;
    let mut found: Option<Interval> = None;
    for i in 0..corners.len() {
        let (a, b) = (corners[i], corners[(i + 1) % corners.len()]);
        // The part of the edge between the lines that bound the strip.
        let (low, high) = (a.x.min(b.x), a.x.max(b.x));
        if high < -half || low > half {
            continue;
        }
        for x in [a.x.clamp(-half, half), b.x.clamp(-half, half)] {
            // An edge parallel to the walking direction meets a bounding line either nowhere or
            // everywhere, so both of its ends are used.
            let share = if (b.x - a.x).abs() < 1e-9 {
                [0.0, 1.0]
            } else {
                [(x - a.x) / (b.x - a.x); 2]
            };
            for share in share {
                let y = a.y + (b.y - a.y) * share;
                let place = found.get_or_insert(Interval { from: y, to: y });
                (place.from, place.to) = (place.from.min(y), place.to.max(y));
            }
        }
    }
    found.filter(|place| place.to > 0.0 && place.from < length)
}
