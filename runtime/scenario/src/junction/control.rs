//! Control of a junction, and the sign of each of its arms.
//!
//! The user may set the control ([`JunctionRules`](crate::JunctionRules)). Otherwise, it is derived from the
//! roads that meet:
//!
//! | the roads | the control |
//! | --- | --- |
//! | a ring of one-way roads, driven around its island | [`Control::Roundabout`] |
//! | some are of a higher class | [`Control::Priority`]; if that is only one arm, the major road continues in the best-aligned other arm |
//! | equal, [`RoadClass::Collector`] or higher, three arms, two in line | [`Control::Priority`] of the two |
//! | equal, all one-way, two become one | [`Control::Zipper`] |
//! | equal, [`RoadClass::Residential`] or higher, in a country of all-way stops | [`Control::AllWayStop`] |
//! | others | [`Control::Uncontrolled`] |
//!
//! Traffic signals are never derived: they come from the user or from imported data.

use super::Arm;
use crate::driving_side::DrivingSide;
use crate::ids::RoadId;
use crate::junction_rules::Control;
use crate::named::named;
use crate::road::RoadClass;
use roadwright_geometry::math::wrap_angle;
use std::f64::consts::PI;

named! {
    /// Sign that faces the traffic of an arm at its stop line.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Sign {
        /// No sign.
        #[default]
        None = "none",
        /// Give way.
        Yield = "yield",
        /// Stop, then give way.
        Stop = "stop",
        /// Traffic signals.
        Signal = "signal",
    }
}

/// Maximum deviation from a straight line at which two arms can form a through road, rad.
const IN_LINE: f64 = 45.0 * PI / 180.0;

/// An arm with the properties that determine right of way.
struct Approach {
    road: RoadId,
    bearing: f64,
    rank: u8,
    enters: bool,
    leaves: bool,
}

/// Control settings made by the user.
pub(super) struct Decided<'a> {
    pub(super) control: Option<Control>,
    /// The major roads. If the list is empty, they are determined by the ranks of the roads.
    pub(super) major: &'a [RoadId],
    /// Whether the signals of the junction flash or are off, so that signs apply.
    pub(super) has_signs: bool,
    /// Whether streets of equal rank meet at all-way stops.
    pub(super) has_all_way_stops: bool,
}

/// Returns the control of a junction and the sign of each arm. `is_ring` states whether a road is part of the
/// ring of a roundabout.
pub(super) fn control(
    arms: &[Arm<'_>],
    side: DrivingSide,
    decided: Decided<'_>,
    is_ring: &dyn Fn(RoadId) -> bool,
) -> (Control, Vec<Sign>) {
    let approaches: Vec<_> = arms.iter().map(|arm| approach(arm, side)).collect();
    let on_ring = approaches.iter().filter(|arm| is_ring(arm.road)).count();
    let control = decided.control.unwrap_or_else(|| {
        if on_ring >= 2 {
            Control::Roundabout
        } else {
            derived(&approaches, decided.has_all_way_stops)
        }
    });
    let first = |sign: Sign| {
        let majors = if !decided.major.is_empty() {
            let is_major = |arm: &Approach| decided.major.contains(&arm.road);
            approaches.iter().map(is_major).collect()
        } else if control == Control::Roundabout && on_ring > 0 {
            approaches.iter().map(|arm| is_ring(arm.road)).collect()
        } else {
            majors(&approaches)
        };
        let told = |is_major: bool| if is_major { Sign::None } else { sign };
        majors.into_iter().map(told).collect()
    };
    let all = |sign: Sign| vec![sign; arms.len()];
    let mut signs: Vec<Sign> = match control {
        Control::Uncontrolled | Control::Zipper => all(Sign::None),
        Control::Priority | Control::Roundabout => first(Sign::Yield),
        Control::Stop => first(Sign::Stop),
        Control::AllWayStop => all(Sign::Stop),
        Control::MiniRoundabout => all(Sign::Yield),
        Control::Signals if decided.has_signs => first(Sign::Yield),
        Control::Signals => all(Sign::Signal),
    };
    for (sign, approach) in signs.iter_mut().zip(&approaches) {
        // No vehicle enters from this arm, so it needs no sign.
        if !approach.enters {
            *sign = Sign::None;
        }
    }
    (control, signs)
}

fn approach(arm: &Arm<'_>, side: DrivingSide) -> Approach {
    Approach {
        road: arm.road_id,
        bearing: arm.bearing(),
        rank: rank(arm.road.class),
        enters: !arm.entering_lanes(0.0, side).is_empty(),
        leaves: !arm.leaving_lanes(0.0, side).is_empty(),
    }
}

/// Returns the rank of a road class at a junction. A slip road comes from a road of a higher class
/// than the roads where it ends, so it yields to all roads except service roads.
fn rank(class: RoadClass) -> u8 {
    match class {
        RoadClass::Path => 0,
        RoadClass::Service => 1,
        RoadClass::Ramp => 2,
        RoadClass::Residential => 3,
        RoadClass::Collector => 4,
        RoadClass::Arterial => 5,
        RoadClass::Motorway => 6,
    }
}

fn derived(approaches: &[Approach], has_all_way_stops: bool) -> Control {
    let entering = approaches.iter().filter(|arm| arm.enters).count();
    if approaches.len() < 3 || entering < 2 {
        return Control::Uncontrolled;
    }
    let ranks = || approaches.iter().map(|arm| arm.rank);
    let (lowest, highest) = (ranks().min(), ranks().max());
    if lowest != highest {
        return Control::Priority;
    }
    let leaving = approaches.iter().filter(|arm| arm.leaves).count();
    let is_one_way = approaches.iter().all(|arm| arm.enters != arm.leaves);
    if is_one_way && leaving == 1 && approaches.len() == 3 {
        return Control::Zipper;
    }
    let is_main = highest >= Some(rank(RoadClass::Collector));
    if is_main && approaches.len() == 3 && best_pair(approaches).is_some() {
        return Control::Priority;
    }
    let is_street = highest >= Some(rank(RoadClass::Residential));
    match has_all_way_stops && is_street {
        true => Control::AllWayStop,
        false => Control::Uncontrolled,
    }
}

/// Returns, for each arm, whether it belongs to the major road.
fn majors(approaches: &[Approach]) -> Vec<bool> {
    let highest = approaches.iter().map(|arm| arm.rank).max();
    let is_high = |i: usize| Some(approaches[i].rank) == highest;
    let high: Vec<usize> = (0..approaches.len()).filter(|&i| is_high(i)).collect();
    let pair = match high[..] {
        // The major road continues in the arm that is most nearly opposite to it.
        [only] => (0..approaches.len())
            .filter(|&i| i != only)
            .min_by(|&a, &b| {
                let bend = |i: usize| bend(&approaches[only], &approaches[i]);
                bend(a).total_cmp(&bend(b)).then(a.cmp(&b))
            })
            .map(|partner| (only, partner)),
        // If all arms are equal, the two arms that are in line are major.
        _ if high.len() == approaches.len() => best_pair(approaches),
        _ => return (0..approaches.len()).map(is_high).collect(),
    };
    (0..approaches.len())
        .map(|i| pair.is_none_or(|(a, b)| i == a || i == b))
        .collect()
}

/// Finds the two arms that are most nearly in line; `None` if no two arms are in line.
fn best_pair(approaches: &[Approach]) -> Option<(usize, usize)> {
    let n = approaches.len();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let size = |&(a, b): &(usize, usize)| bend(&approaches[a], &approaches[b]);
    pairs
        .filter(|pair| size(pair) < IN_LINE)
        .min_by(|one, other| size(one).total_cmp(&size(other)))
}

/// Returns how far a connection from one arm to another deviates from a straight line, rad.
fn bend(a: &Approach, b: &Approach) -> f64 {
    wrap_angle(a.bearing - b.bearing + PI).abs()
}
