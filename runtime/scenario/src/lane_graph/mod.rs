//! The drivable lanes as lanelets, which are linked to their successors.
//!
//! A lanelet is the stretch of one lane between two junctions (or borders of lane sections), or a
//! connection through a junction. Lanelets are numbered densely, so every look-up uses an index
//! into an array.
//!
//! ```text
//!                    |     |
//!   == lanelet ======+.....+====== lanelet ==>      successors of the left lanelet: two
//!                    | `.  |                        connections, straight on and right
//!                    |  |  |
//!                    |  v  |
//! ```
//!
//! `build.rs` builds the graph, and `after_edit.rs` derives the graph of an edited network from an
//! earlier one. `reach.rs` determines which lanelets can be reached from a lanelet, and
//! `reachability.rs` answers this question for many pairs of lanelets. `via_places.rs` applies
//! restrictions with via ways in both of them and in the searches of planners.

mod after_edit;
mod bend;
mod build;
mod internal;
mod lane_index;
mod reach;
mod reachability;
mod via_places;

pub use after_edit::{Before, copied};
pub use bend::{BEND_REACH, bend_speed};
pub use reach::{ROOM_FOR_CHANGE, ROOM_TO_CHANGE};
pub use reachability::Reachability;
pub use via_places::{SearchPlace, ViaPlaces};

use crate::access::{LaneAccess, RoadAccess, VehicleClass};
use crate::agents::LanePlace;
use crate::ids::RoadId;
pub use crate::index::LaneletIndex;
use crate::index::{ConnectionIndex, JunctionIndex};
use crate::junction::Layout;
use crate::scenario::Scenario;
use crate::turn::Turn;
use crate::via_rules::{Followed, ViaRules};
use lane_index::LaneIndex;
use reachability::Hub;
use roadwright_geometry::centre_line::{CentreLine, CentreLines, LineSpan};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Value that means "no lanelet".
pub const NO_LANELET: LaneletIndex = LaneletIndex::new(u32::MAX);

/// The road or junction to which a lanelet belongs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LaneletKind {
    /// A lane of a road.
    Lane {
        /// The road.
        road: RoadId,
        /// Index of the lane section.
        section: u16,
        /// Lane id.
        lane: i8,
    },
    /// A connection of a junction.
    Connection {
        /// Index of the junction in the layout.
        junction: JunctionIndex,
        /// Index of the path in the junction.
        path: ConnectionIndex,
        /// Direction of the turn.
        turn: Turn,
    },
}

/// A range of lanelets in a shared list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Links {
    first: u32,
    count: u32,
}

/// A stretch of lane on which vehicles follow each other.
///
/// Its centre line, successors and predecessors are stored in the [`LaneGraph`], which all lanelets share.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanelet {
    /// The lane or connection that the lanelet represents.
    pub kind: LaneletKind,
    line: LineSpan,
    /// Speed limit, m/s. For a connection, it is the higher limit of its two roads.
    pub speed_limit: f64,
    /// Average speed without traffic, m/s. It is the speed limit, or lower on connections with
    /// bends.
    pub free_speed: f64,
    successors: Links,
    predecessors: Links,
    /// Lane to the left to which a vehicle can change, or [`NO_LANELET`].
    pub left: LaneletIndex,
    /// Lane to the right to which a vehicle can change, or [`NO_LANELET`].
    pub right: LaneletIndex,
    /// Adjacent lanes with the same direction, to the left and to the right, even if the line between the
    /// lanes must not be crossed; [`NO_LANELET`] if there is none.
    pub beside: [LaneletIndex; 2],
    /// Vehicles that may use the lanelet.
    pub access: LaneAccess,
    /// Access to the lanelet's road. A connection has the most open access of all roads at its junction,
    /// because a vehicle that crosses a public street is on that street for a moment.
    pub road_access: RoadAccess,
    /// Layer of the lanelet's road. Vehicles on other layers pass above or below.
    pub layer: i8,
    /// Mean width, m.
    pub width: f64,
    /// Positions of the lanelet's start and end along the road, m. If the lane is driven against
    /// the reference line, the position of the start is the larger one. Both are 0 for connections.
    pub road_span: (f64, f64),
}

impl Lanelet {
    /// Returns the distance along the road that corresponds to the point at `s` along the lanelet,
    /// m; 0 for connections.
    pub fn road_s(&self, s: f64) -> f64 {
        let share = (s / self.length().max(1e-9)).clamp(0.0, 1.0);
        let (start, end) = self.road_span;
        start + share * (end - start)
    }

    /// Length of the centre line, m.
    #[inline]
    pub fn length(&self) -> f64 {
        self.line.length()
    }

    /// Returns the time for driving a distance along the lanelet without traffic, s.
    #[inline]
    pub fn free_time(&self, distance: f64) -> f64 {
        distance / self.free_speed
    }

    /// Returns the range of the lanelet's points in the list of the points of all lanelets.
    #[inline]
    pub fn line_span(&self) -> LineSpan {
        self.line
    }

    /// Whether the lanelet is a connection through a junction.
    pub fn is_connection(&self) -> bool {
        matches!(self.kind, LaneletKind::Connection { .. })
    }

    /// Returns the road of the lanelet; `None` for a connection.
    pub fn road(&self) -> Option<RoadId> {
        match self.kind {
            LaneletKind::Lane { road, .. } => Some(road),
            LaneletKind::Connection { .. } => None,
        }
    }

    /// Returns the road and the section of the lanelet; `None` for a connection.
    pub(crate) fn section(&self) -> Option<(RoadId, u16)> {
        match self.kind {
            LaneletKind::Lane { road, section, .. } => Some((road, section)),
            LaneletKind::Connection { .. } => None,
        }
    }

    /// Returns the distance along the lanelet that corresponds to a distance along the road, m.
    ///
    /// The distance is scaled, because a lane on the inside of a bend is shorter than its road. The
    /// result is inexact if a lanelet has both bent and straight parts.
    pub fn from_road(&self, road_s: f64) -> f64 {
        let (start, end) = self.road_span;
        let share = (road_s - start) / (end - start);
        (share * self.length()).clamp(0.0, self.length())
    }
}

/// Splits lanelets into runs of consecutive lanelets with equal keys, such as the lanelets of one
/// road or section.
pub(crate) fn runs<K: PartialEq>(
    lanelets: &[Lanelet],
    of: impl Fn(&Lanelet) -> K,
) -> impl Iterator<Item = Range<LaneletIndex>> {
    let mut first = LaneletIndex::new(0);
    let chunks = lanelets.chunk_by(move |a, b| of(a) == of(b));
    chunks.map(move |chunk| {
        let range = first..LaneletIndex::from_index(first.index() + chunk.len());
        first = range.end;
        range
    })
}

/// All lanelets of a network.
#[derive(Debug, Clone, Default)]
pub struct LaneGraph {
    lanelets: Vec<Lanelet>,
    lines: CentreLines,
    /// Successors of all lanelets, followed by their predecessors.
    links: Vec<LaneletIndex>,
    /// Lanelets of roads, by road and lane.
    index: LaneIndex,
    /// Lanelets that represent the lanes of internal roads.
    of_internal: BTreeMap<(RoadId, i8), LaneletIndex>,
    /// The paths of all junctions, junction by junction.
    paths: Vec<PathLanelets>,
    left_out: Option<RoadId>,
    via_rules: ViaRules,
    identity: u64,
    /// Results that all copies of the graph share.
    on_first_use: Arc<OnFirstUse>,
}

/// Results that are computed on first use and shared by all searches.
#[derive(Debug, Default)]
struct OnFirstUse {
    via_places: OnceLock<Option<ViaPlaces>>,
    main_component: OnceLock<Vec<LaneletIndex>>,
    /// Hub of the main streets for each vehicle class; `None` if there is no such hub.
    hubs: [OnceLock<Option<Hub>>; VehicleClass::ALL.len()],
}

/// The lanelets that a path of a junction joins.
#[derive(Debug, Clone, Copy)]
struct PathLanelets {
    from: LaneletIndex,
    to: LaneletIndex,
    /// Lanelet of the path itself; [`NO_LANELET`] if the lanes meet without a gap.
    between: LaneletIndex,
}

impl PathLanelets {
    /// A path that has no lanelet on at least one side of the junction.
    const NONE: Self = Self {
        from: NO_LANELET,
        to: NO_LANELET,
        between: NO_LANELET,
    };
}

impl LaneGraph {
    /// Creates the lanelets of a scenario's network. `layout` contains its junctions.
    pub fn new(scenario: &Scenario, layout: &Layout) -> Self {
        Self::build(scenario, layout, None).0
    }

    /// Returns an identifier that is unique within this process, except that copies of a graph
    /// share it. It is intended only for caches; no result may depend on it.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Returns the lanelets by index.
    pub fn lanelets(&self) -> &[Lanelet] {
        &self.lanelets
    }

    /// Returns the lanelets with their indices, in order.
    pub fn numbered(&self) -> impl ExactSizeIterator<Item = (LaneletIndex, &Lanelet)> + Clone {
        self.indices().zip(&self.lanelets)
    }

    /// Returns the indices of all lanelets, in order.
    pub fn indices(
        &self,
    ) -> impl ExactSizeIterator<Item = LaneletIndex> + DoubleEndedIterator + Clone + use<> {
        LaneletIndex::up_to(self.lanelets.len())
    }

    /// Returns a lanelet.
    #[inline]
    pub fn lanelet(&self, id: LaneletIndex) -> &Lanelet {
        &self.lanelets[id.index()]
    }

    /// Returns the centre line of a lanelet, in driving direction.
    #[inline]
    pub fn line(&self, id: LaneletIndex) -> CentreLine<'_> {
        self.lines.line(self.lanelets[id.index()].line)
    }

    /// Returns the centre line for a range of points ([`Lanelet::line_span`]).
    #[inline]
    pub fn line_at(&self, span: LineSpan) -> CentreLine<'_> {
        self.lines.line(span)
    }

    /// Whether the points of copied lanelets have the same indices in another graph
    /// ([`Lanelet::line_span`]).
    pub fn shares_lines_with(&self, other: &Self) -> bool {
        self.lines.share_with(&other.lines)
    }

    /// Returns the lanelets that follow a lanelet, in a fixed order.
    #[inline]
    pub fn successors(&self, id: LaneletIndex) -> &[LaneletIndex] {
        self.linked(self.lanelets[id.index()].successors)
    }

    /// Returns the lanelets that lead to a lanelet, in a fixed order.
    #[inline]
    pub fn predecessors(&self, id: LaneletIndex) -> &[LaneletIndex] {
        self.linked(self.lanelets[id.index()].predecessors)
    }

    /// Returns the via restrictions that routes have to obey. Via restrictions inside one junction
    /// are already part of its paths.
    pub fn via_rules(&self) -> &ViaRules {
        &self.via_rules
    }

    /// Returns the places that searches distinguish on lanelets with via ways; `None` if there are
    /// no via restrictions.
    pub fn via_places(&self) -> Option<&ViaPlaces> {
        let places = &self.on_first_use.via_places;
        places.get_or_init(|| ViaPlaces::of(self)).as_ref()
    }

    /// Returns the state of the via restrictions for a vehicle that starts on a lanelet.
    pub fn followed_on(&self, id: LaneletIndex) -> Followed {
        let road = self.lanelet(id).road().or_else(|| {
            let before = self.predecessors(id).first();
            self.lanelet(*before?).road()
        });
        let after = road.and_then(|road| self.via_rules.after(&Followed::default(), road));
        after.unwrap_or_default()
    }

    /// Returns the state of the via restrictions for a vehicle that drives from one lanelet onto
    /// the next; `None` if it may not do so.
    pub fn followed_onto(
        &self,
        followed: &Followed,
        from: LaneletIndex,
        to: LaneletIndex,
    ) -> Option<Followed> {
        match (self.lanelet(from).road(), self.lanelet(to).road()) {
            // A connection counts as part of the road that it leaves.
            (_, None) => Some(followed.clone()),
            (Some(own), Some(next)) if own == next => Some(followed.clone()),
            (_, Some(next)) => self.via_rules.after(followed, next),
        }
    }

    /// Whether a sequence of lanelets obeys all via restrictions.
    pub fn keeps_via_rules(&self, route: &[LaneletIndex]) -> bool {
        let Some(&first) = route.first().filter(|_| !self.via_rules.is_empty()) else {
            return true;
        };
        let mut pairs = route.windows(2);
        let onto = |followed: Followed, pair: &[LaneletIndex]| {
            self.followed_onto(&followed, pair[0], pair[1])
        };
        pairs.try_fold(self.followed_on(first), onto).is_some()
    }

    /// Returns the lanelets whose vehicles can change to a given lanelet. A line may be crossable
    /// from one side only, so vehicles cannot always change back.
    pub fn changing_onto(&self, id: LaneletIndex) -> impl Iterator<Item = LaneletIndex> + '_ {
        let beside = self.lanelet(id).beside.into_iter();
        beside.filter(move |&other| {
            other != NO_LANELET && {
                let other = self.lanelet(other);
                other.left == id || other.right == id
            }
        })
    }

    #[inline]
    fn linked(&self, links: Links) -> &[LaneletIndex] {
        &self.links[links.first as usize..(links.first + links.count) as usize]
    }

    /// Returns the first road whose lanes were left out; `None` if there is none. All lanes
    /// together are limited to 20,000 km, and their centre lines to ten million points.
    pub fn left_out(&self) -> Option<RoadId> {
        self.left_out
    }

    /// Returns the drivable lanes of a road in ascending order of id, each with its lanelets in the
    /// order of lane sections.
    pub fn lanes_of(&self, road: RoadId) -> impl Iterator<Item = (i8, &[LaneletIndex])> {
        self.index.lanes_of(road)
    }

    /// Returns the lanelet at a place, and the distance along the lanelet; `None` if there is no
    /// drivable lane.
    ///
    /// A place inside a junction is moved to the nearest part of its lane. A place on an internal
    /// road is moved to the start of the lane on which traffic from this place leaves the junction.
    pub fn locate(&self, place: &LanePlace) -> Option<(LaneletIndex, f64)> {
        let lane = (place.road, place.lane);
        let lanelets = self.index.of_lane(place.road, place.lane);
        if lanelets.is_empty() {
            return self.of_internal.get(&lane).map(|&behind| (behind, 0.0));
        }
        // If the place is inside a junction, it is moved to the nearest part of the lane.
        let miss = |id: &&LaneletIndex| {
            let (a, b) = self.lanelet(**id).road_span;
            (a.min(b) - place.s).max(place.s - a.max(b)).max(0.0)
        };
        let id = lanelets.iter().min_by(|a, b| miss(a).total_cmp(&miss(b)))?;
        Some((*id, self.lanelet(*id).from_road(place.s.get())))
    }
}
