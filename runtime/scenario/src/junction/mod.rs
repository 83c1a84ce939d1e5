//! Junctions, derived from the roads that meet at a node.
//!
//! [`build`] is a pure function from the untrimmed ends of the roads to a [`Junction`], which contains the
//! trims of the roads, the outline, and a connecting path for every lane link. It uses no earlier result, so
//! building twice gives bit-identical results. [`layout`](fn@layout) applies it to a whole network and merges
//! nodes whose roads would be used up by their junctions.
//!
//! | step | file |
//! | --- | --- |
//! | the ends of roads, counter-clockwise | `arm.rs` |
//! | corners between them, and trims | `corner.rs` |
//! | which lane leads into which | `links.rs`, `lane_turns.rs`, `turn.rs` |
//! | a curve for each link, around the island of a mini roundabout | `curve.rs`, `mini.rs` |
//! | crossings, set-back stop lines | `crossing.rs`, `setback.rs` |
//! | conflicts of connections, once for each shape | `conflicts.rs`, `sweep.rs`, `meeting.rs`, `shape.rs` |
//! | control, right of way, rings, signals | `control.rs`, `right_of_way.rs`, `rings.rs`, `signals` |
//! | on first use: outline of the carriageway, kerbs and pavements beside it, splitter islands, gores | `surface.rs`, `outline.rs`, `border.rs`, `splitter.rs`, `direct.rs` |
//!
//! Corners, outlines and trims follow from the edges of carriageways. Pavements are outside the carriageways
//! and do not affect them. A direct junction (`direct.rs`) needs none of these steps.

mod arm;
mod border;
mod conflicts;
mod control;
mod corner;
mod crossing;
mod curve;
mod direct;
mod lane_turns;
mod layout;
mod lengthways;
mod links;
mod meeting;
mod mini;
mod outline;
mod right_of_way;
mod ring_node;
pub(crate) mod rings;
mod room;
mod setback;
mod shape;
mod signals;
mod splitter;
mod surface;
mod sweep;
mod traffic_islands;

pub use crate::turn::{Turn, Turns};
pub use arm::{Arm, ArmLane};
pub use border::Border;
pub use conflicts::{ABREAST, Body, Conflict, Conflicts, Interval};
pub use control::Sign;
use corner::CornerDemands;
pub use corner::{Corner, U_TURN_RADIUS};
pub use crossing::{CROSSING_WIDTH, Covered, Crossing, FAST_CROSSING_WIDTH, Taken, crossing_width};
pub use curve::connecting_curve;
pub use direct::Gore;
pub(crate) use layout::MAX_CLUSTER;
pub use layout::{Layout, Trim, Watch, layout, layout_after_edit, layout_watched};
pub(crate) use links::{MAX_CONNECTIONS, MAX_LANES};
pub use meeting::Meeting;
pub use mini::MiniRing;
pub use outline::OutlineEdge;
pub use right_of_way::{GAP_ON_RED, RightOfWay};
pub use room::RoomToWait;
pub use shape::{JunctionShape, JunctionShapes};
pub use signals::{
    Between, DEFAULT_CYCLE, Intergreen, LONGEST_WAIT, Light, MAX_GREEN, MIN_GREEN, Programme,
    SignalPlans, Signals, StageTimes, WALK_WINDOW, WALKING_SPEED, signal_plans,
};
pub use splitter::Splitter;
pub use surface::LazySurface;

use crate::access::LaneAccess;
use crate::country::RoadLaw;
use crate::driving_side::DrivingSide;
use crate::ids::{NodeId, RoadId};
use crate::index::ConnectionIndex;
use crate::junction_rules::{Control, JunctionRules, SignalPlan};
use crate::road::RoadEnd;
use glam::DVec2;
use roadwright_geometry::ReferenceLine;

/// The end of a road where it meets a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmEnd {
    /// The road.
    pub road: RoadId,
    /// The end of the road that meets the junction.
    pub end: RoadEnd,
    /// Length of the reference line that the junction takes up, m.
    pub trim: f64,
    /// Point where the cut meets the left edge of the carriageway, looking outward from the junction, m.
    pub left_cut: DVec2,
    /// Point where the cut meets the right edge of the carriageway, looking outward from the junction, m.
    pub right_cut: DVec2,
    /// Sign that faces traffic entering from this arm.
    pub sign: Sign,
    /// Speed limit of the road, m/s.
    pub speed_limit: f64,
}

/// The end of a lane where its road meets a junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneEnd {
    /// The road.
    pub road: RoadId,
    /// End of the road.
    pub end: RoadEnd,
    /// Id of the lane in the lane section at this end.
    pub lane: i8,
}

/// The reason for a lane link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// The link follows from the turning rules.
    Normal,
    /// The link leads to an extra lane that opens beyond the junction. Planners prefer other links.
    Fan,
    /// The link gives an exit to a lane that would otherwise have none.
    Merge,
    /// The link leads back into the road from which it comes.
    UTurn,
}

/// The path from one lane through a junction into another.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectingPath {
    /// Lane that enters the junction.
    pub from: LaneEnd,
    /// Lane that leaves the junction.
    pub to: LaneEnd,
    /// Direction of the turn.
    pub turn: Turn,
    /// Reason for the link.
    pub kind: LinkKind,
    /// Centre line; `None` if the lanes meet without a gap.
    pub curve: Option<ReferenceLine>,
    /// Width at the start and at the end, m.
    pub width: (f64, f64),
    /// Vehicles that may use the path.
    pub access: LaneAccess,
}

impl ConnectingPath {
    /// Returns the smallest radius of the centre line, m; infinite if it is straight.
    pub fn min_radius(&self) -> f64 {
        self.curve
            .as_ref()
            .map_or(f64::INFINITY, |curve| 1.0 / curve.max_curvature())
    }
}

/// A problem of a junction that is reported to the author of the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// The outline is only a hull, because corners or edges overlap.
    Degraded,
    /// A road is shorter than its junctions require, so its trims were reduced.
    Squeezed(RoadId),
    /// An entering lane has no exit.
    NoExit(LaneEnd),
    /// The junction has more lanes or longer connections than any real one, so no connections are built.
    TooManyLanes,
    /// There is no room for the ring of a mini roundabout, or a street has too many lanes for a ring.
    NoRoomForRing,
    /// There is no room for a pedestrian crossing over a road.
    NoRoomForCrossing(RoadId),
    /// A lane has an arrow for a turn that the junction does not offer.
    NoSuchTurn(LaneEnd, Turn),
    /// No smooth curve joins these lanes.
    NoCurve(LaneEnd, LaneEnd),
}

/// A junction of roads, with its trims, connections, control and surface.
#[derive(Debug, Clone)]
pub struct Junction {
    /// Nodes that the junction covers; several if short roads between them were absorbed.
    pub nodes: Vec<NodeId>,
    /// Centre, m.
    pub centre: DVec2,
    /// The arms (road ends), counter-clockwise.
    pub arms: Vec<ArmEnd>,
    /// Corner after each arm, towards the next one counter-clockwise.
    pub corners: Vec<Corner>,
    /// Whether each lane continues in exactly one other lane. In this case, no vehicle has to
    /// yield.
    pub is_direct: bool,
    /// Lane links with their curves, ordered by (from, to).
    pub paths: Vec<ConnectingPath>,
    /// Ring that the paths follow; `None` except at mini roundabouts.
    pub ring: Option<MiniRing>,
    /// Pedestrian crossings over the arms of the junction, in order of the arms.
    pub crossings: Vec<Crossing>,
    /// Control of right of way at the junction.
    pub control: Control,
    /// The signal plan set by the scenario.
    pub plan: SignalPlan,
    /// The driving side.
    pub side: DrivingSide,
    /// The traffic law that applies.
    pub law: RoadLaw,
    /// Problems found while building everything except the surface. [`Junction::flags`] returns all
    /// problems.
    pub early_flags: Vec<Flag>,
    /// The surface, which is computed on first use.
    pub surface: LazySurface,
}

impl Junction {
    /// Returns the connections with their indices, in order.
    pub fn numbered_paths(
        &self,
    ) -> impl ExactSizeIterator<Item = (ConnectionIndex, &ConnectingPath)> + Clone {
        ConnectionIndex::up_to(self.paths.len()).zip(&self.paths)
    }

    /// Whether traffic streams cross or merge in the junction, so that right of way matters.
    pub fn is_crossing(&self) -> bool {
        self.arms.len() > 2 && !self.is_direct
    }

    /// Whether right of way matters in the junction: streams cross or merge, there are signals, or
    /// pedestrians cross.
    pub fn is_ruled(&self) -> bool {
        self.is_crossing() || self.control == Control::Signals || !self.crossings.is_empty()
    }

    /// Returns the outline as a polygon, with arcs approximated to within 5 cm.
    pub fn polygon(&self) -> Vec<DVec2> {
        self.polygon_within(outline::ARC_TOLERANCE)
    }

    /// Returns the outline as a polygon, with arcs approximated to within `tolerance` metres.
    pub fn polygon_within(&self, tolerance: f64) -> Vec<DVec2> {
        outline::polygon(self.outline(), tolerance)
    }
}

/// All inputs of a junction except its arms.
#[derive(Clone)]
pub struct Site<'a> {
    /// Nodes that the junction covers.
    pub nodes: Vec<NodeId>,
    /// Centre, m: the position of the node, or the mean of several nodes.
    pub centre: DVec2,
    /// The driving side.
    pub side: DrivingSide,
    /// The traffic law.
    pub law: RoadLaw,
    /// Rules that the scenario sets for the junction.
    pub rules: JunctionRules,
    /// Whether a road belongs to the ring of a roundabout.
    pub is_ring: &'a dyn Fn(RoadId) -> bool,
    /// Vehicles that may turn from one arm into another; `None` if the turn is prohibited for all vehicles.
    pub allows: &'a dyn Fn((RoadId, RoadEnd), (RoadId, RoadEnd)) -> Option<LaneAccess>,
    /// Upper limits of the trims by road and end. They apply if a road is too short for its
    /// junctions.
    pub limits: &'a dyn Fn(RoadId, RoadEnd) -> Option<f64>,
}

/// Builds one junction from the untrimmed road ends that meet there.
///
/// Arms may be in any order. O(arms^2 + lanes^2). It never fails, because problems become flags.
pub fn build(site: &Site<'_>, mut arms: Vec<Arm<'_>>) -> Junction {
    // Everything else depends on this order, because each corner is between two consecutive arms.
    arm::sort_counter_clockwise(&mut arms, site.centre);
    let corners = corners(site.centre, &arms, site.side, &site.rules, site.is_ring);
    build_around(site, &arms, corners)
}

/// Builds one junction from its sorted arms and the corners after them.
fn build_around(site: &Site<'_>, arms: &[Arm<'_>], corners: Vec<Corner>) -> Junction {
    let rules = &site.rules.crossings;
    let direct = direct_pairs(arms, site.side, &site.rules);
    let mut flags = Vec::new();
    let trims: Vec<f64> = (0..arms.len())
        .map(|i| {
            let demand = crossing::trim(arms, &corners, rules, i);
            match (site.limits)(arms[i].road_id, arms[i].end) {
                Some(limit) if demand > limit => {
                    flags.push(Flag::Squeezed(arms[i].road_id));
                    limit
                }
                _ => demand,
            }
        })
        .collect();
    let round = is_mini(arms, &site.rules)
        .then(|| MiniRing::within(site.centre, arms, &trims, &corners))
        .map(|ring| ring.ok_or(Flag::NoRoomForRing));
    let round = match round {
        Some(Ok(ring)) => Some(mini::Round::new(ring, arms, &trims, site.side)),
        Some(Err(flag)) => {
            flags.push(flag);
            None
        }
        None => None,
    };
    let paths = match &direct {
        Some(pairs) => direct::paths(arms, pairs),
        None => {
            let surroundings = links::Surroundings {
                arms,
                trims: &trims,
                corners: &corners,
                round: round.as_ref(),
                side: site.side,
            };
            links::paths(site, &surroundings, &mut flags)
        }
    };
    let crossings = crossing::crossings(arms, &trims, &corners, rules, &paths, &mut flags);
    let JunctionRules {
        control: wanted,
        major,
        plan,
        ..
    } = &site.rules;
    let has_signs = plan.as_ref().is_some_and(|plan| !plan.mode.rules());
    let decided = control::Decided {
        control: *wanted,
        major,
        has_signs,
        has_all_way_stops: site.law.all_way_stop,
    };
    let (control, signs) = match direct {
        Some(_) => (Control::Uncontrolled, vec![Sign::None; arms.len()]),
        None => control::control(arms, site.side, decided, site.is_ring),
    };
    let ends = arms
        .iter()
        .zip(trims.iter().zip(signs))
        .map(|(arm, (&trim, sign))| arm.cut(trim, sign))
        .collect();
    // Sorted, so that the order of flags does not depend on the order of the arms.
    flags.sort_unstable();
    let mut junction = Junction {
        nodes: site.nodes.clone(),
        centre: site.centre,
        arms: ends,
        corners,
        is_direct: direct.is_some(),
        paths,
        ring: round.map(|round| round.ring),
        crossings,
        control,
        plan: plan.clone().unwrap_or_default(),
        side: site.side,
        law: site.law,
        early_flags: flags,
        surface: LazySurface::between(arms),
    };
    if site.rules.control.is_none() && !lengthways::continued(site, arms, &trims).is_empty() {
        lengthways::take_away_signs(&mut junction);
    }
    junction
}

/// Returns the pairs of lanes of a direct junction; `None` for other junctions, or if the scenario makes
/// vehicles stop there.
fn direct_pairs(
    arms: &[Arm<'_>],
    side: DrivingSide,
    rules: &JunctionRules,
) -> Option<Vec<[(usize, ArmLane); 2]>> {
    let is_plain = rules.control.is_none()
        && rules.crossings.is_empty()
        && rules.turns.is_empty()
        && rules.corners.is_empty();
    is_plain.then(|| direct::pairs(arms, side)).flatten()
}

/// Whether the paths of a junction follow a ring.
fn is_mini(arms: &[Arm<'_>], rules: &JunctionRules) -> bool {
    arms.len() > 2 && rules.control == Some(Control::MiniRoundabout)
}

/// Returns the corner after each arm. The arms are given counter-clockwise. Corners of a direct junction do
/// not cut any arm back. Corners of a mini roundabout are as large as its ring needs.
fn corners(
    centre: DVec2,
    arms: &[Arm<'_>],
    side: DrivingSide,
    rules: &JunctionRules,
    is_ring: &dyn Fn(RoadId) -> bool,
) -> Vec<Corner> {
    match direct_pairs(arms, side, rules) {
        Some(_) => vec![Corner::plain(0.0, 0.0); arms.len()],
        None => {
            let with_least = |least: f64| {
                let rules = CornerDemands {
                    held_back: held_back(arms, rules),
                    decided: &rules.corners,
                    least,
                };
                corner::corners(arms, side, &rules, is_ring)
            };
            match is_mini(arms, rules) {
                true => corners_of_mini(centre, arms, rules, with_least),
                false => with_least(0.0),
            }
        }
    }
}

/// Returns the smallest corners that leave enough room for the ring of a mini roundabout. If none
/// do, returns the corners that leave the most room.
fn corners_of_mini(
    centre: DVec2,
    arms: &[Arm<'_>],
    rules: &JunctionRules,
    with_least: impl Fn(f64) -> Vec<Corner>,
) -> Vec<Corner> {
    let mut best: Option<(f64, Vec<Corner>)> = None;
    for least in mini::CORNERS {
        let corners = with_least(least);
        let trims: Vec<f64> = (0..arms.len())
            .map(|i| crossing::trim(arms, &corners, &rules.crossings, i))
            .collect();
        let ring = MiniRing::within(centre, arms, &trims, &corners);
        if ring.is_some_and(|ring| ring.is_roomy()) {
            return corners;
        }
        let radius = ring.map_or(0.0, |ring| ring.radius);
        if best.as_ref().is_none_or(|(most, _)| radius > *most) {
            best = Some((radius, corners));
        }
    }
    best.map_or_else(|| with_least(0.0), |(_, corners)| corners)
}

/// Returns how far arms are cut back for signals or a crossing at a node where a road merely
/// continues, m; `None` if there is neither.
fn held_back(arms: &[Arm<'_>], rules: &JunctionRules) -> Option<f64> {
    let for_signals = (rules.control == Some(Control::Signals)).then_some(corner::CROSSING);
    let for_people = crossing::held(arms, &rules.crossings);
    for_signals.into_iter().chain(for_people).reduce(f64::max)
}

#[cfg(test)]
mod tests;
