//! Right of way in a junction, for each pair of connections.
//!
//! Of two conflicting connections, at most one yields. The first of these rules that applies decides:
//!
//! 1. A vehicle that makes a U-turn gives way.
//! 2. A vehicle that faces a sign gives way to one that does not.
//! 3. Of two oncoming vehicles, the one that turns across the other's path gives way.
//! 4. A vehicle gives way to one on its near side: on the right in right-hand traffic.
//!
//! At a mini roundabout, and between vehicles that enter the ring of a roundabout at neighbouring arms, an
//! entering vehicle yields only to vehicles that pass its entry. At an all-way stop
//! and at a zipper merge, no connection yields: the first vehicle to arrive goes first.
//!
//! ```text
//!             |  b  |
//!             |  :  |          In right-hand traffic b comes from the left of a: b has a on its
//!   ----------+  :  +---       right and gives way (4). c turns left across the path of a and
//!     a ......:..:......>      gives way (3). With a yield sign for b only the sign counts (2).
//!             |  :  |
//!   ----------+  v  +---
//!          <.....   .... c
//! ```

use super::{Conflicts, ConnectingPath, Junction, LaneEnd, Sign, Turn};
use crate::driving_side::DrivingSide;
use crate::index::ConnectionIndex;
use crate::junction_rules::Control;
use glam::DVec2;
use roadwright_geometry::heading_of;
use roadwright_geometry::math::wrap_angle;
use std::f64::consts::{PI, TAU};

/// Minimum angle between the bearings or headings of two arms that face each other, rad.
const ONCOMING: f64 = 135.0 * PI / 180.0;

/// Critical gap for a near-side turn, s: the time to the next conflicting vehicle at which half of
/// all drivers accept the gap. [HCM 2000], exhibit 17-5, two lanes.
const GAP_NEAR_TURN: f64 = 6.2;
/// Critical gap for driving straight ahead, s.
const GAP_STRAIGHT: f64 = 6.5;
/// Critical gap for a far-side turn from a minor road, s.
const GAP_FAR_TURN: f64 = 7.1;
/// Critical gap for a far-side turn from a major road, s.
const GAP_FAR_TURN_FROM_MAJOR: f64 = 4.1;
/// Critical gap for entering a roundabout, s. According to [HCM 2016], equation 22-1, it is 5.0 s between two
/// vehicles in the ring. Here, the gap begins when a vehicle starts from its stop line, a few metres before
/// the ring, while the first of the two vehicles is still passing. With this definition, a gap of 3.2 s gives
/// the same entry flow as the equation.
const GAP_ROUNDABOUT: f64 = 3.2;

/// Follow-up time of a near-side turn, s: the time between the departures of two successive vehicles in a
/// queue at a sign while there is no conflicting traffic. Each driver has to look first. The value is from
/// [HCM 2000], exhibit 17-5.
const FOLLOW_UP_NEAR_TURN: f64 = 3.3;
/// Follow-up time for driving straight ahead, s.
const FOLLOW_UP_STRAIGHT: f64 = 4.0;
/// Follow-up time of a far-side turn, s.
const FOLLOW_UP_FAR_TURN: f64 = 3.5;

/// Position of another arm, seen from an arm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Same,
    Oncoming,
    /// On the side whose traffic has priority.
    NearSide,
    FarSide,
}

/// The right of way between each pair of connections of a junction.
#[derive(Debug, Clone, PartialEq)]
pub struct RightOfWay {
    control: Control,
    /// For each path, a row of bits, one for each path to which it yields.
    rows: Vec<u64>,
    words: usize,
    /// Whether any path yields to another path.
    has_order: bool,
    /// The sign of each path.
    signs: Vec<Sign>,
    /// The critical gap of each path, s.
    gaps: Vec<f64>,
    /// The follow-up time of each path, s.
    follow_ups: Vec<f64>,
    /// Whether traffic on each path may turn at a red light. Empty if no path allows it.
    on_red: Vec<bool>,
}

/// Critical gap of a near-side turn at a red light, s. It is the same as at a stop sign ([HCM
/// 2000], exhibit 17-5).
pub const GAP_ON_RED: f64 = GAP_NEAR_TURN;

impl RightOfWay {
    /// Derives right of way from the layout of a junction. O(pairs of conflicting paths).
    pub fn of(junction: &Junction, conflicts: &Conflicts) -> Self {
        let arms = Arms::new(junction);
        let n = junction.paths.len();
        let words = n.div_ceil(64);
        let mut rows = vec![0; n * words];
        for conflict in conflicts.list() {
            let (a, b) = (conflict.paths.0.index(), conflict.paths.1.index());
            let (one, other) = (&junction.paths[a], &junction.paths[b]);
            // At most one of the two may yield. Otherwise, both would wait for each other.
            if arms.gives_way(one, other) {
                // In row a, bit b is set if a yields to b.
                rows[a * words + b / 64] |= 1 << (b % 64);
            } else if arms.gives_way(other, one) {
                rows[b * words + a / 64] |= 1 << (a % 64);
            }
        }
        let paths = junction.paths.iter();
        Self {
            control: junction.control,
            has_order: rows.iter().any(|word| *word != 0),
            rows,
            words,
            signs: paths.clone().map(|path| arms.sign(path)).collect(),
            gaps: paths.clone().map(|path| arms.critical_gap(path)).collect(),
            follow_ups: paths.clone().map(|path| arms.follow_up(path)).collect(),
            on_red: match junction.law.turn_on_red && junction.control == Control::Signals {
                true => paths.map(|path| arms.is_near_turn(path)).collect(),
                false => Vec::new(),
            },
        }
    }

    /// Returns the control of the junction.
    pub fn control(&self) -> Control {
        self.control
    }

    /// Whether traffic on one path yields to traffic on another. O(1).
    #[inline]
    pub fn gives_way(&self, path: ConnectionIndex, other: ConnectionIndex) -> bool {
        let row = path.index() * self.words;
        let other = other.index();
        self.rows[row + other / 64] & (1 << (other % 64)) != 0
    }

    /// Whether any path yields to another path.
    #[inline]
    pub fn has_order(&self) -> bool {
        self.has_order
    }

    /// Whether a path yields to at least one other path. O(paths / 64).
    #[inline]
    pub fn gives_way_to_any(&self, path: ConnectionIndex) -> bool {
        let row = path.index() * self.words;
        self.rows[row..row + self.words]
            .iter()
            .any(|word| *word != 0)
    }

    /// Returns the sign that faces traffic on a path.
    #[inline]
    pub fn sign(&self, path: ConnectionIndex) -> Sign {
        self.signs[path.index()]
    }

    /// Whether traffic on a path may turn at a red light after a stop, provided that it yields to all
    /// conflicting traffic.
    #[inline]
    pub fn may_turn_on_red(&self, path: ConnectionIndex) -> bool {
        self.on_red.get(path.index()).is_some_and(|may| *may)
    }

    /// Returns the critical gap of traffic on a path, s.
    #[inline]
    pub fn critical_gap(&self, path: ConnectionIndex) -> f64 {
        self.gaps[path.index()]
    }

    /// Returns the follow-up time of a queue at a sign on a path, s; 0 if there is no sign, and at
    /// entries into a roundabout.
    #[inline]
    pub fn follow_up(&self, path: ConnectionIndex) -> f64 {
        self.follow_ups[path.index()]
    }
}

/// The arms of a junction, with the data that determine right of way.
pub(super) struct Arms<'a> {
    junction: &'a Junction,
    /// Bearings seen from the centre of the junction, rad.
    bearings: Vec<f64>,
    /// Outward headings at the cuts, rad. In merged junctions, they differ from the bearings, because the
    /// arms of a straight street may be to one side of the centre.
    headings: Vec<f64>,
}

impl<'a> Arms<'a> {
    pub(super) fn new(junction: &'a Junction) -> Self {
        let middle = |left: DVec2, right: DVec2| 0.5 * (left + right);
        let arms = junction.arms.iter();
        let bearings =
            arms.map(|arm| heading_of(middle(arm.left_cut, arm.right_cut) - junction.centre));
        let arms = junction.arms.iter();
        let headings = arms.map(|arm| heading_of((arm.right_cut - arm.left_cut).perp()));
        Self {
            junction,
            bearings: bearings.collect(),
            headings: headings.collect(),
        }
    }

    /// Returns the outward heading of an arm, rad.
    pub(super) fn heading(&self, arm: usize) -> f64 {
        self.headings[arm]
    }

    fn index(&self, path: &ConnectingPath) -> Option<usize> {
        let arms = &self.junction.arms;
        arms.iter()
            .position(|arm| (arm.road, arm.end) == (path.from.road, path.from.end))
    }

    pub(super) fn sign(&self, path: &ConnectingPath) -> Sign {
        self.index(path)
            .map_or(Sign::None, |arm| self.junction.arms[arm].sign)
    }

    /// Returns the speed limit of the road from which a path comes, m/s.
    pub(super) fn speed_limit(&self, path: &ConnectingPath) -> f64 {
        let arm = self.index(path).map(|arm| &self.junction.arms[arm]);
        arm.map_or(0.0, |arm| arm.speed_limit)
    }

    /// Whether a path turns across oncoming traffic.
    pub(super) fn is_far_turn(&self, path: &ConnectingPath) -> bool {
        path.turn == Turn::far(self.junction.side)
    }

    /// Whether a path turns towards the side on which vehicles drive.
    fn is_near_turn(&self, path: &ConnectingPath) -> bool {
        path.turn == Turn::near(self.junction.side)
    }

    pub(super) fn are_oncoming(&self, a: &ConnectingPath, b: &ConnectingPath) -> bool {
        self.seen(a, b) == Seen::Oncoming
    }

    fn seen(&self, from: &ConnectingPath, other: &ConnectingPath) -> Seen {
        let (Some(a), Some(b)) = (self.index(from), self.index(other)) else {
            return Seen::Same;
        };
        if a == b {
            return Seen::Same;
        }
        // Seen from the arm in the south (-90 degrees), the arm in the east (0) is on the right, at
        // +90 degrees.
        let apart = wrap_angle(self.bearings[b] - self.bearings[a]);
        let is_right = apart > 0.0;
        let turned = wrap_angle(self.headings[b] - self.headings[a]);
        let is_oncoming = apart.abs().max(turned.abs()) >= ONCOMING;
        match (is_oncoming, self.junction.side) {
            (true, _) => Seen::Oncoming,
            (false, DrivingSide::Right) if is_right => Seen::NearSide,
            (false, DrivingSide::Left) if !is_right => Seen::NearSide,
            (false, _) => Seen::FarSide,
        }
    }

    /// Whether one path of a roundabout passes the arm where another path begins.
    fn passes_entry(&self, path: &ConnectingPath, other: &ConnectingPath) -> bool {
        let index = |lane: LaneEnd| {
            let mut arms = self.junction.arms.iter();
            arms.position(|arm| (arm.road, arm.end) == (lane.road, lane.end))
        };
        let (Some(from), Some(to)) = (index(path.from), index(path.to)) else {
            return false;
        };
        let Some(entry) = index(other.from).filter(|&entry| entry != from) else {
            return false;
        };
        let around = |arm: usize| {
            let turn = self.bearings[arm] - self.bearings[from];
            match self.junction.side {
                DrivingSide::Right => turn.rem_euclid(TAU),
                DrivingSide::Left => (-turn).rem_euclid(TAU),
            }
        };
        // A path that returns to its own arm passes all entries.
        to == from || around(entry) < around(to)
    }

    /// Whether the first of two conflicting paths yields to the other.
    fn gives_way(&self, path: &ConnectingPath, other: &ConnectingPath) -> bool {
        if matches!(self.junction.control, Control::AllWayStop | Control::Zipper) {
            return false;
        }
        if self.junction.control == Control::MiniRoundabout {
            // If each path passes the other's entry, neither yields, and the first vehicle to arrive goes
            // first.
            return self.passes_entry(other, path) && !self.passes_entry(path, other);
        }
        let turns_back = |path: &ConnectingPath| path.turn == Turn::UTurn;
        if turns_back(path) != turns_back(other) {
            return turns_back(path);
        }
        let is_first = |path: &ConnectingPath| self.sign(path) == Sign::None;
        if is_first(path) != is_first(other) {
            return is_first(other);
        }
        if self.junction.control == Control::Roundabout && !is_first(path) {
            // At neighbouring arms of a small ring, the vehicle from the earlier arm is already on
            // the ring when it passes the later arm.
            return self.passes_entry(other, path) && !self.passes_entry(path, other);
        }
        match self.seen(path, other) {
            Seen::Same | Seen::FarSide => false,
            Seen::Oncoming => self.is_far_turn(path) && !self.is_far_turn(other),
            Seen::NearSide => true,
        }
    }

    fn is_roundabout(&self) -> bool {
        let control = self.junction.control;
        matches!(control, Control::Roundabout | Control::MiniRoundabout)
    }

    fn critical_gap(&self, path: &ConnectingPath) -> f64 {
        if self.is_roundabout() {
            return GAP_ROUNDABOUT;
        }
        match (self.sign(path), path.turn) {
            (Sign::None | Sign::Signal, _) => GAP_FAR_TURN_FROM_MAJOR,
            (_, Turn::Straight) => GAP_STRAIGHT,
            (_, Turn::UTurn) => GAP_FAR_TURN,
            (..) if self.is_far_turn(path) => GAP_FAR_TURN,
            (..) => GAP_NEAR_TURN,
        }
    }

    fn follow_up(&self, path: &ConnectingPath) -> f64 {
        match (self.sign(path), path.turn) {
            (Sign::None | Sign::Signal, _) => 0.0,
            // At the entry of a roundabout, the follow-up time is 2.6 s ([HCM 2016], equation 22-1), but
            // moving up to the line takes longer.
            _ if self.is_roundabout() => 0.0,
            (_, Turn::Straight) => FOLLOW_UP_STRAIGHT,
            (_, Turn::UTurn) => FOLLOW_UP_FAR_TURN,
            (..) if self.is_far_turn(path) => FOLLOW_UP_FAR_TURN,
            (..) => FOLLOW_UP_NEAR_TURN,
        }
    }
}
