//! Lane links: the pairs of lanes that are connected through a junction.
//!
//! ```text
//!     entering lanes 0 1 2, from left to right, where all three turns are possible
//!
//!     left      from lane 0                 into the leftmost lane
//!     ahead     from all lanes              each into the lane that lies ahead of it
//!     right     from lane 2                 into the rightmost lane
//! ```
//!
//! A lane with arrows follows them where the junction offers such a turn. In a merged junction, a
//! turn that no arrow of the arm shows is made from the usual lanes. Afterwards, lanes without a
//! link get one ([`LinkKind::Merge`]), and so do lanes beyond the junction to which no link leads
//! ([`LinkKind::Fan`]). Bus lanes and other lanes are linked separately by the same rules.

use super::arm::{Arm, ArmLane, Pair};
use super::corner::{Corner, Fillet, U_TURN_RADIUS};
use super::curve::{LaneEnds, connecting_bend};
use super::lane_turns::EnteringLanes;
use super::lengthways::{self, Continued};
use super::mini::{LEAST_BEND, Round};
use super::ring_node::RingNode;
use super::{ConnectingPath, Flag, LaneEnd, LinkKind, Site, Turn, Turns, lane_turns};
use crate::access::LaneAccess;
use crate::driving_side::DrivingSide;
use crate::junction_rules::{LaneTurn, RoadLane};
use crate::road::RoadEnd;
use roadwright_geometry::math::wrap_angle;
use roadwright_geometry::{Pose, ReferenceLine};

/// Change of heading below which a turn always counts as straight ahead, rad.
pub(super) const STRAIGHT: f64 = 30.0 * std::f64::consts::PI / 180.0;
/// Maximum change of heading at which an arm counts as ahead if no other arm does, rad.
const NEARLY_STRAIGHT: f64 = 45.0 * std::f64::consts::PI / 180.0;
/// Change of heading above which a turn is a U-turn, rad.
pub(super) const U_TURN: f64 = 170.0 * std::f64::consts::PI / 180.0;

/// Lateral distance above which an exit belongs to a different street and not to the opposite
/// carriageway of the same street, m.
const NEXT_STREET: f64 = 20.0;

/// Maximum number of lanes that a junction connects, entering and leaving together. A large real junction has
/// sixty, and finding links is quadratic in this number.
pub(crate) const MAX_LANES: usize = 200;
/// Maximum total length of all connections of a junction, m. A large real junction has two kilometres, and
/// finding conflicts is quadratic in this length.
pub(crate) const MAX_CONNECTIONS: f64 = 8_000.0;

/// An exit of the junction, seen from one arm.
struct Exit {
    arm: usize,
    lanes: Vec<ArmLane>,
    /// Change of heading, rad, positive to the left.
    change: f64,
    turn: Turn,
    /// Vehicles that may leave the junction by this exit.
    access: LaneAccess,
}

/// A lane link without its curve. The lanes are given as indices into the lanes of both arms.
struct Link {
    from: usize,
    exit: usize,
    to: usize,
    kind: LinkKind,
}

/// The arms of a junction, with the corners and the ring between them.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) arms: &'a [Arm<'a>],
    /// Length by which each arm is cut back, m.
    pub(super) trims: &'a [f64],
    /// The corner after each arm, counter-clockwise.
    pub(super) corners: &'a [Corner],
    /// The ring of a mini roundabout.
    pub(super) round: Option<&'a Round>,
    pub(super) side: DrivingSide,
}

/// Obstacle on the inside of a path through a junction.
#[derive(Clone, Copy)]
pub(super) enum Inside<'a> {
    Nothing,
    /// The island of a mini roundabout.
    Island(&'a Round),
    /// The kerb of a corner.
    Kerb(Fillet),
}

impl<'a> Surroundings<'a> {
    /// Returns the obstacle on the inside of the path from one arm to another.
    pub(super) fn inside(&self, from: usize, to: usize) -> Inside<'a> {
        match self.round {
            Some(round) => Inside::Island(round),
            None => self.kerb(from, to).map_or(Inside::Nothing, Inside::Kerb),
        }
    }

    /// Returns the kerb between two neighbouring arms, if vehicles that turn from the first arm
    /// into the second pass beside it; otherwise `None`.
    fn kerb(&self, from: usize, to: usize) -> Option<Fillet> {
        // In right-hand traffic, vehicles enter on the left of an arm, looking outward.
        let (arm, next) = match self.side {
            DrivingSide::Right => (from, to),
            DrivingSide::Left => (to, from),
        };
        if (arm + 1) % self.arms.len() != next {
            return None;
        }
        // A dead end has no corners.
        let corner = self.corners.get(arm)?;
        let at = |index: usize| (&self.arms[index], self.trims[index]);
        let ((arm, trim), (next, next_trim)) = (at(arm), at(next));
        let trims = Pair {
            arm: trim,
            next: next_trim,
        };
        let is_round = corner.wanted_radius > 0.0 && corner.radius > 0.0;
        is_round
            .then(|| Fillet::within(Pair { arm, next }, corner.radius, trims))
            .flatten()
    }
}

/// Returns all connecting paths of a junction, ordered by (from, to). Returns no paths if there would be more
/// than in any real junction.
pub(super) fn paths(
    site: &Site<'_>,
    surroundings: &Surroundings<'_>,
    flags: &mut Vec<Flag>,
) -> Vec<ConnectingPath> {
    let arms = surroundings.arms;
    let lanes = |arm: &Arm<'_>| {
        let section = match arm.end {
            RoadEnd::Start => arm.road.lane_sections.first(),
            RoadEnd::End => arm.road.lane_sections.last(),
        };
        let lanes = section.into_iter().flat_map(|section| &section.lanes);
        lanes.filter(|lane| lane.kind.is_drivable()).count()
    };
    if arms.iter().map(lanes).sum::<usize>() > MAX_LANES {
        flags.push(Flag::TooManyLanes);
        return Vec::new();
    }
    let mut paths = all_paths(site, surroundings, flags);
    let lengths = paths.iter().filter_map(|path| path.curve.as_ref());
    if lengths.map(ReferenceLine::length).sum::<f64>() > MAX_CONNECTIONS {
        flags.push(Flag::TooManyLanes);
        paths.clear();
    }
    paths
}

fn all_paths(
    site: &Site<'_>,
    surroundings: &Surroundings<'_>,
    flags: &mut Vec<Flag>,
) -> Vec<ConnectingPath> {
    let Surroundings { arms, trims, .. } = *surroundings;
    let mut paths = Vec::new();
    let continued = lengthways::continued(site, arms, trims);
    let around = Around {
        goes_round: surroundings.round.is_some(),
        ring: RingNode::of(site, arms, trims),
    };
    for (index, arm) in arms.iter().enumerate() {
        let entering = arm.entering_lanes(trims[index], site.side);
        if entering.is_empty() {
            continue;
        }
        let exits = exits(site, arms, trims, &around, index, entering[0].pose);
        let mut links = match continued.is_empty() {
            true => links(&entering, &exits, site),
            false => links_of(index, &continued),
        };
        let turn = |link: &Link| LaneTurn {
            from: road_lane(arm, entering[link.from].id),
            to: road_lane(
                &arms[exits[link.exit].arm],
                exits[link.exit].lanes[link.to].id,
            ),
        };
        // These links are removed before the search for lanes without an exit, because the user may
        // have removed all links of a lane.
        links.retain(|link| !site.rules.turns.remove.contains(&turn(link)));
        let known: Vec<LaneTurn> = links.iter().map(turn).collect();
        for (from, lane) in entering.iter().enumerate() {
            let leads_on = links.iter().any(|link| link.from == from)
                || lane_turns::leads_on(&site.rules.turns, road_lane(arm, lane.id));
            if !leads_on && arms.len() > 1 {
                flags.push(Flag::NoExit(lane_end(arm, lane.id)));
            }
            // Where roads merely continue, arrows refer to the junction beyond.
            if arms.len() > 2 {
                let turns: Turns = exits.iter().map(|exit| exit.turn).collect();
                let missing = lane.turns.iter().filter(|turn| !turns.contains(*turn));
                flags.extend(missing.map(|turn| Flag::NoSuchTurn(lane_end(arm, lane.id), turn)));
            }
        }
        // Lanes may have lost all their links because there was no room for their U-turns.
        let has_links = |from: usize| links.iter().any(|link| link.from == from);
        let mut left_alone: Vec<bool> = (0..entering.len()).map(has_links).collect();
        for link in links {
            let exit = &exits[link.exit];
            let to_arm = &arms[exit.arm];
            let (from, to) = (&entering[link.from], &exit.lanes[link.to]);
            let inside = surroundings.inside(index, exit.arm);
            match connecting_path(arm, from, to_arm, to, exit.turn, link.kind, inside) {
                // If no car can turn directly from one arm into the next, vehicles drive around the
                // island.
                Some(path) if around.is_beside_ring(index, exit.arm) && is_too_tight(&path) => {
                    continue;
                }
                Some(path) => paths.push(ConnectingPath {
                    access: path.access.and(exit.access),
                    ..path
                }),
                // A dead end that is too narrow for a U-turn offers none. This need not be
                // reported.
                None if exit.turn == Turn::UTurn => continue,
                None => flags.push(Flag::NoCurve(
                    lane_end(arm, from.id),
                    lane_end(to_arm, to.id),
                )),
            }
            left_alone[link.from] = false;
        }
        if arms.len() > 1 {
            let lost = entering
                .iter()
                .zip(left_alone)
                .filter(|(_, is_lost)| *is_lost);
            flags.extend(lost.map(|(lane, _)| Flag::NoExit(lane_end(arm, lane.id))));
        }
        let turns_by_arm: Vec<(usize, Turn)> =
            exits.iter().map(|exit| (exit.arm, exit.turn)).collect();
        let from = EnteringLanes {
            index,
            entering: &entering,
            known: &known,
            exits: &turns_by_arm,
        };
        let added = lane_turns::added(site, surroundings, from);
        for path in added {
            match path {
                Ok(path) => paths.push(path),
                Err(flag) => flags.push(flag),
            }
        }
    }
    paths.sort_by_key(|path| (path.from, path.to));
    paths
}

/// Converts a lane of an arm to the road and lane id that rules refer to.
pub(super) fn road_lane(arm: &Arm<'_>, lane: i8) -> RoadLane {
    RoadLane {
        road: arm.road_id,
        lane,
    }
}

pub(super) fn lane_end(arm: &Arm<'_>, lane: i8) -> LaneEnd {
    LaneEnd {
        road: arm.road_id,
        end: arm.end,
        lane,
    }
}

/// Islands that traffic at a junction drives around.
struct Around {
    /// Whether the junction itself is a mini roundabout.
    goes_round: bool,
    /// Order of the arms if the junction is on the ring of a roundabout.
    ring: Option<RingNode>,
}

impl Around {
    /// Whether both arms are outside the ring of a roundabout, and the ring leads from one to the other.
    fn is_beside_ring(&self, from: usize, to: usize) -> bool {
        let ring = self.ring.as_ref();
        ring.is_some_and(|ring| ring.is_outside(from) && ring.is_outside(to))
    }
}

/// Whether a path is too tight for a car.
fn is_too_tight(path: &ConnectingPath) -> bool {
    path.min_radius() < U_TURN_RADIUS
}

/// Returns the exits for a vehicle that enters from arm `index` in the given pose.
fn exits(
    site: &Site<'_>,
    arms: &[Arm<'_>],
    trims: &[f64],
    around: &Around,
    index: usize,
    pose: Pose,
) -> Vec<Exit> {
    let from = (arms[index].road_id, arms[index].end);
    let goes_round = around.goes_round;
    // Vehicles that may not continue along the ring keep their other exits.
    let ring = around.ring.as_ref().filter(|ring| {
        let on = &arms[ring.goes_on];
        (site.allows)(from, (on.road_id, on.end)).is_some()
    });
    let is_against_ring = |to| ring.is_some_and(|ring| ring.is_against_ring(index, to));
    let mut exits: Vec<_> = arms
        .iter()
        .enumerate()
        .filter_map(|(i, arm)| {
            let lanes = arm.leaving_lanes(trims[i], site.side);
            let change = change(pose, lanes.first()?.pose);
            // A path leads back into the same road only if the junction has no other arm, or if it leads
            // around an island.
            let back = i == index;
            let is_offered = !back || arms.len() == 1 || goes_round;
            let possible = is_offered && (back || arms.len() > 1);
            let possible = possible && !is_against_ring(i);
            let allowed = possible.then(|| (site.allows)(from, (arm.road_id, arm.end)));
            let access = allowed.flatten()?;
            let turn = if back { Turn::UTurn } else { Turn::Straight };
            Some(Exit {
                arm: i,
                lanes,
                change,
                turn,
                access,
            })
        })
        .collect();
    classify(&mut exits, goes_round);
    exits
}

/// Returns the change of heading from one pose to another, rad, positive to the left. Entering a
/// distant parallel street in the opposite direction counts as two turns to the same side, not as a
/// U-turn.
fn change(from: Pose, to: Pose) -> f64 {
    let change = wrap_angle(to.heading - from.heading);
    let beside = roadwright_geometry::unit(from.heading).perp_dot(to.position - from.position);
    if change.abs() > U_TURN && beside.abs() > NEXT_STREET {
        return U_TURN.copysign(beside);
    }
    change
}

/// Classifies the exits as straight ahead or as turns to the sides.
fn classify(exits: &mut Vec<Exit>, goes_round: bool) {
    let is_back = |exit: &Exit| exit.turn == Turn::UTurn || exit.change.abs() > U_TURN;
    // A U-turn is offered only if there is no other exit, or around an island.
    if !goes_round && exits.iter().any(|exit| !is_back(exit)) {
        exits.retain(|exit| !is_back(exit));
    }
    let size = |exit: &Exit| exit.change.abs();
    // A single road that leaves at 40 degrees is the continuation of this one. If there are two such roads,
    // neither is the continuation, unless one of them leaves at less than 30 degrees.
    let near = exits.iter().filter(|e| size(e) < NEARLY_STRAIGHT).count();
    let limit = if near == 1 { NEARLY_STRAIGHT } else { STRAIGHT };
    // The exit with the smallest change of heading is straight ahead. Other exits that are equally
    // straight count as turns to the sides.
    let ahead = (0..exits.len())
        .filter(|&i| size(&exits[i]) < limit)
        .min_by(|&a, &b| size(&exits[a]).total_cmp(&size(&exits[b])));
    for (i, exit) in exits.iter_mut().enumerate() {
        exit.turn = if exit.turn == Turn::UTurn || exit.change.abs() > U_TURN {
            Turn::UTurn
        } else if Some(i) == ahead {
            Turn::Straight
        } else if exit.change > 0.0 {
            Turn::Left
        } else {
            Turn::Right
        };
    }
}

/// Returns the lane links of one arm at a lengthways join, which has only one exit.
fn links_of(arm: usize, continued: &[Continued]) -> Vec<Link> {
    let own = continued.iter().filter(|lane| lane.arm == arm);
    let links = own.map(|lane| Link {
        from: lane.from,
        exit: 0,
        to: lane.to,
        kind: LinkKind::Normal,
    });
    links.collect()
}

/// Returns the lane links of one arm: first the links from the turning rules, then links
/// for the remaining lanes.
fn links(entering: &[ArmLane], exits: &[Exit], site: &Site<'_>) -> Vec<Link> {
    let side = site.side;
    let mut links = Vec::new();
    // In a merged junction, arrows may refer to the node on the far side, so they do not prohibit a
    // turn at the near node.
    let may_be_meant_for_far = |turn: Turn| site.nodes.len() > 1 && turn != Turn::UTurn;
    // Each kind of lane is linked separately, so that a bus lane at the kerb does not take a turn
    // from the lane beside it. The outermost lane is the outermost one of its kind.
    for access in [LaneAccess::All, LaneAccess::Buses] {
        let own = |lanes: &[ArmLane]| -> Vec<usize> {
            (0..lanes.len())
                .filter(|&i| lanes[i].access == access)
                .collect()
        };
        let from = own(entering);
        let with_lanes = exits.iter().filter(|e| !own(&e.lanes).is_empty());
        let present: Turns = with_lanes.map(|exit| exit.turn).collect();
        for (e, exit) in exits.iter().enumerate() {
            let to = own(&exit.lanes);
            let mut allowed = lanes_for(&from, entering, exit.turn, present, side);
            if allowed.is_empty() && may_be_meant_for_far(exit.turn) {
                allowed = usual_lanes_for(&from, exit.turn, present, side).to_vec();
            }
            map_lanes(&mut links, e, entering, exit, &allowed, &to, side);
        }
    }
    add_merges(&mut links, entering, exits, side);
    add_openings(&mut links, entering, exits, side);
    links
}

/// Returns the lanes from which a turn is made, from left to right. Lanes with arrows follow their arrows,
/// and the other lanes follow the usual turning rules. Arrows that match no turn here are ignored.
fn lanes_for(
    lanes: &[usize],
    entering: &[ArmLane],
    turn: Turn,
    present: Turns,
    side: DrivingSide,
) -> Vec<usize> {
    let usual = usual_lanes_for(lanes, turn, present, side);
    let is_chosen = |lane: &usize| match entering[*lane].turns.and(present) {
        Turns::NONE => usual.contains(lane),
        arrows => arrows.contains(turn),
    };
    lanes.iter().copied().filter(is_chosen).collect()
}

/// Returns the lanes from which `turn` is permitted if no lane has arrows, from left to right. Straight ahead
/// uses all lanes, and left and right turns use the outermost lane. If there is no exit ahead, left and right
/// turns share the lanes between them.
fn usual_lanes_for(lanes: &[usize], turn: Turn, present: Turns, side: DrivingSide) -> &[usize] {
    let n = lanes.len();
    if n <= 1 {
        return lanes;
    }
    let [left, ahead, right] =
        [Turn::Left, Turn::Straight, Turn::Right].map(|turn| present.contains(turn));
    match turn {
        // A U-turn around an island is made from the lane nearest to the island.
        Turn::UTurn if left || ahead || right => match side {
            DrivingSide::Right => &lanes[..1],
            DrivingSide::Left => &lanes[n - 1..],
        },
        Turn::Straight | Turn::UTurn => lanes,
        Turn::Left if ahead => &lanes[..1],
        Turn::Right if ahead => &lanes[n - 1..],
        Turn::Left | Turn::Right if !(left && right) => lanes,
        // At a T-junction with an odd number of lanes, the extra lane goes to the turn that crosses the
        // opposing stream.
        Turn::Left | Turn::Right => {
            let to_left = match side {
                DrivingSide::Right => n.div_ceil(2),
                DrivingSide::Left => n / 2,
            };
            if turn == Turn::Left {
                &lanes[..to_left]
            } else {
                &lanes[to_left..]
            }
        }
    }
}

/// Links the lanes of one movement. Turns use the lanes nearest to the side to which they lead.
/// Straight ahead, lanes are linked by lateral position.
fn map_lanes(
    links: &mut Vec<Link>,
    exit_index: usize,
    entering: &[ArmLane],
    exit: &Exit,
    from: &[usize],
    to: &[usize],
    side: DrivingSide,
) {
    let (n, m) = (from.len(), to.len());
    if n == 0 || m == 0 {
        return;
    }
    // Lane i leads to lane i + shift. Left turns count lanes from the left (lane 0 leads to lane 0), and
    // right turns from the right: from 2 lanes to 3, the shift is 1, so that the last lane leads to the last
    // lane.
    let shift = match exit.turn {
        Turn::Left | Turn::UTurn => 0,
        Turn::Right => m as isize - n as isize,
        Turn::Straight => straight_shift(entering, exit, from, to, side),
    };
    let mut push = |from: usize, to: usize, kind| {
        links.push(Link {
            from,
            exit: exit_index,
            to,
            kind,
        });
    };
    let kind = if exit.turn == Turn::UTurn {
        LinkKind::UTurn
    } else {
        LinkKind::Normal
    };
    for (i, &lane) in from.iter().enumerate() {
        let target = i as isize + shift;
        if (0..m as isize).contains(&target) {
            push(lane, to[target as usize], kind);
        }
    }
    // A lane that opens beyond the junction is linked from the lane that leads to the nearest linked lane.
    for (j, &lane) in to.iter().enumerate() {
        let source = j as isize - shift;
        if source < 0 {
            push(from[0], lane, LinkKind::Fan);
        } else if source >= n as isize {
            push(from[n - 1], lane, LinkKind::Fan);
        }
    }
}

/// Returns the difference between lane indices that keeps lanes aligned. It gives the maximum
/// number of links and, among equal numbers of links, the smallest lateral jump.
fn straight_shift(
    entering: &[ArmLane],
    exit: &Exit,
    from: &[usize],
    to: &[usize],
    side: DrivingSide,
) -> isize {
    let (n, m) = (from.len() as isize, to.len() as isize);
    let jump = |shift: isize| -> (isize, f64) {
        let mut sum = 0.0;
        let mut count = 0;
        for i in 0..n {
            let j = i + shift;
            if (0..m).contains(&j) {
                let a = &entering[from[i as usize]];
                let b = &exit.lanes[to[j as usize]];
                // Only the lateral offset matters to drivers, not the depth of the junction.
                sum += a.pose.to_local(b.pose.position).y.abs();
                count += 1;
            }
        }
        (-count, sum / count.max(1) as f64)
    };
    // All shifts that link at least one pair of lanes. From 3 lanes to 2, these are -2 to 1. Shifts
    // 0 and -1 link two lanes each, so the one with the smaller jump is used.
    (1 - n..m)
        .min_by(|&a, &b| {
            let (count_a, jump_a) = jump(a);
            let (count_b, jump_b) = jump(b);
            let tied = (jump_a - jump_b).abs() < 1e-6;
            let by_jump = if tied {
                kerb_first(a, b, side)
            } else {
                jump_a.total_cmp(&jump_b)
            };
            count_a.cmp(&count_b).then(by_jump)
        })
        .unwrap_or(0)
}

/// Breaks ties in favour of the lane nearer to the kerb, so that junctions in left-hand traffic mirror those
/// in right-hand traffic. Lanes are numbered from the left.
fn kerb_first<T: Ord>(a: T, b: T, side: DrivingSide) -> std::cmp::Ordering {
    match side {
        DrivingSide::Right => b.cmp(&a),
        DrivingSide::Left => a.cmp(&b),
    }
}

/// Adds a link for each entering lane that has none. The link leads to the nearest lane of the
/// straightest exit.
fn add_merges(links: &mut Vec<Link>, entering: &[ArmLane], exits: &[Exit], side: DrivingSide) {
    for from in 0..entering.len() {
        if links.iter().any(|link| link.from == from) {
            continue;
        }
        let access = entering[from].access;
        let usable = |exit: &Exit| exit.lanes.iter().any(|lane| lane.access.includes(access));
        let best = (0..exits.len())
            .filter(|&e| usable(&exits[e]))
            .min_by(|&a, &b| exits[a].change.abs().total_cmp(&exits[b].change.abs()));
        let Some(exit) = best else { continue };
        let lanes = &exits[exit].lanes;
        // Lanes are compared by their position as a fraction of the width: the rightmost of three lanes is at
        // 5/6 and merges into the right one of two lanes, which is at 3/4.
        let place = |i: usize, n: usize| (i as f64 + 0.5) / n as f64;
        let wanted = place(from, entering.len());
        let to = (0..lanes.len())
            .filter(|&i| lanes[i].access.includes(access))
            .min_by(|&a, &b| {
                let miss = |i: usize| (place(i, lanes.len()) - wanted).abs();
                let tied = (miss(a) - miss(b)).abs() < 1e-9;
                if tied {
                    kerb_first(a, b, side)
                } else {
                    miss(a).total_cmp(&miss(b))
                }
            });
        if let Some(to) = to {
            links.push(Link {
                from,
                exit,
                to,
                kind: LinkKind::Merge,
            });
        }
    }
}

/// Adds a link for each lane of an exit to which no link leads. The link starts in the entering
/// lane that is linked to the nearest lane of this exit.
fn add_openings(links: &mut Vec<Link>, entering: &[ArmLane], exits: &[Exit], side: DrivingSide) {
    for (e, exit) in exits.iter().enumerate() {
        for (to, lane) in exit.lanes.iter().enumerate() {
            let reached = links.iter().any(|link| link.exit == e && link.to == to);
            if reached || exit.turn == Turn::UTurn {
                continue;
            }
            let source = links
                .iter()
                .filter(|link| link.exit == e)
                .filter(|link| entering[link.from].access.includes(lane.access))
                .min_by(|a, b| {
                    let distance = |link: &Link| link.to.abs_diff(to);
                    distance(a)
                        .cmp(&distance(b))
                        .then(kerb_first(a.from, b.from, side))
                })
                .map(|link| link.from);
            if let Some(from) = source {
                links.push(Link {
                    from,
                    exit: e,
                    to,
                    kind: LinkKind::Fan,
                });
            }
        }
    }
}

/// Creates the connecting path of a link. At a mini roundabout, its curve leads around the island;
/// at other junctions, it keeps clear of the kerb. Returns `None` if no drivable curve exists.
pub(super) fn connecting_path(
    arm: &Arm<'_>,
    from: &ArmLane,
    to_arm: &Arm<'_>,
    to: &ArmLane,
    turn: Turn,
    kind: LinkKind,
    inside: Inside<'_>,
) -> Option<ConnectingPath> {
    let gap = (to.pose.position - from.pose.position).length();
    let bent = wrap_angle(to.pose.heading - from.pose.heading).abs();
    let (round, kerb) = match &inside {
        Inside::Nothing => (None, None),
        Inside::Island(round) => (Some(*round), None),
        Inside::Kerb(kerb) => (None, Some(kerb)),
    };
    let around = round.and_then(|round| round.curve(arm, from, to_arm, to));
    let goes_round = around.is_some();
    // The headings of roads that continue each other may differ by a milliradian, which amounts to
    // a centimetre at their edges.
    let curve = if goes_round {
        around
    } else if gap < 0.02 && bent < 1e-2 {
        None
    } else {
        // The curvature of a lane's centre line is computed from that of the reference line. If R = 1 /
        // curvature is the radius of the reference line, it is 1 / (R - lateral), where lateral is positive
        // to the left.
        let bend = |lane: &ArmLane| lane.curvature / (1.0 - lane.curvature * lane.lateral);
        let ends = LaneEnds {
            start: from.pose,
            end: to.pose,
            bent_before: bend(from),
            bent_after: bend(to),
        };
        Some(connecting_bend(ends, kerb)?)
    };
    let path = ConnectingPath {
        from: lane_end(arm, from.id),
        to: lane_end(to_arm, to.id),
        turn,
        kind,
        curve,
        width: (from.width, to.width),
        access: from.access.and(to.access),
    };
    // A car that can follow the ring of a mini roundabout can also make a U-turn on it.
    let least = match goes_round {
        true => LEAST_BEND,
        false => U_TURN_RADIUS,
    };
    let drivable = turn != Turn::UTurn || path.min_radius() >= least - 1e-6;
    drivable.then_some(path)
}
