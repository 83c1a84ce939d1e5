//! Lengthways joins: several one-way roads become one road that has as many lanes as they have
//! together.
//!
//! ```text
//!   A -1  --------------------------    A -1 leads to lane -1, A -2 to lane -2, and the ramp to
//!   A -2  --------------------------    lane -3. No lane has two origins, so no vehicle yields.
//!                 .-----------------
//!   ramp --------'
//! ```
//!
//! An arm has a sign only if vehicles of two roads could touch, for example where a ramp joins at a
//! large angle.
//!
//! Lanes are matched by side. Without this rule, the lanes of the main road would be spread over
//! all lanes beyond the junction, and the traffic of a ramp would have to wait for gaps although it
//! has its own lane.

use super::arm::{Arm, ArmLane};
use super::control::Sign;
use super::links::STRAIGHT;
use super::{Conflicts, Junction, Site};
use crate::junction_rules::Control;
use roadwright_geometry::math::wrap_angle;

/// A lane that enters a junction, and the lane in which it continues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Continued {
    /// Index of the arm from which the lane comes.
    pub(super) arm: usize,
    /// Index of the lane among the entering lanes of its arm, from left to right.
    pub(super) from: usize,
    /// Index of the lane among the leaving lanes of the exit, from left to right.
    pub(super) to: usize,
}

/// The lanes that enter a junction from one arm, from left to right.
struct Entering {
    /// Index of the arm.
    arm: usize,
    lanes: Vec<ArmLane>,
}

/// Returns the pairs of lanes that continue each other if the roads join lengthways; otherwise an
/// empty list. Roads join lengthways if all arms are one-way, at least two of them enter the
/// junction, and exactly one leaves it. The leaving arm must be straight ahead of all entering
/// arms, and must have as many lanes as all of them together. The usual rules apply if there are
/// signals, stop signs or crossings, or if the user has changed turns.
pub(super) fn continued(site: &Site<'_>, arms: &[Arm<'_>], trims: &[f64]) -> Vec<Continued> {
    let rules = &site.rules;
    let has_usual_control = matches!(rules.control, None | Some(Control::Priority));
    let is_changed = !rules.crossings.is_empty() || rules.plan.is_some() || !rules.turns.is_empty();
    if arms.len() < 3 || !has_usual_control || is_changed || arms.iter().any(is_ring(site)) {
        return Vec::new();
    }
    let (mut entering, mut exit) = (Vec::new(), None);
    for (i, arm) in arms.iter().enumerate() {
        let (enter, leave) = (
            arm.entering_lanes(trims[i], site.side),
            arm.leaving_lanes(trims[i], site.side),
        );
        match (enter.is_empty(), leave.is_empty()) {
            (false, true) => entering.push(Entering {
                arm: i,
                lanes: enter,
            }),
            (true, false) if exit.is_none() => exit = Some((i, leave)),
            // For example, a path for pedestrians.
            (true, true) => {}
            _ => return Vec::new(),
        }
    }
    let Some((exit_arm, leaving)) = exit else {
        return Vec::new();
    };
    let count: usize = entering.iter().map(|one| one.lanes.len()).sum();
    let leads_on = |one: &Entering| {
        let change = wrap_angle(leaving[0].pose.heading - one.lanes[0].pose.heading);
        let ends = [one.arm, exit_arm].map(|arm| (arms[arm].road_id, arms[arm].end));
        change.abs() < STRAIGHT && (site.allows)(ends[0], ends[1]).is_some()
    };
    if entering.len() < 2 || count != leaving.len() || !entering.iter().all(leads_on) {
        return Vec::new();
    }
    by_side(entering, &leaving)
}

/// Removes the signs of a lengthways join if none of its connections conflict, because no vehicle
/// yields there.
pub(super) fn take_away_signs(junction: &mut Junction) {
    if Conflicts::of(junction).list().is_empty() {
        junction.control = Control::Uncontrolled;
        for arm in &mut junction.arms {
            arm.sign = Sign::None;
        }
    }
}

/// Whether an arm is part of the ring of a roundabout.
fn is_ring(site: &Site<'_>) -> impl Fn(&Arm<'_>) -> bool {
    move |arm| (site.is_ring)(arm.road_id)
}

/// Matches the lanes of the arms to the leaving lanes in order from left to right. Returns an empty
/// list if a lane and the lane that continues it are open to different vehicles.
fn by_side(mut entering: Vec<Entering>, leaving: &[ArmLane]) -> Vec<Continued> {
    // The side on which an arm joins is that of the middle of its lanes, seen in the driving
    // direction of the exit.
    let ahead = leaving[0].pose;
    let beside = |one: &Entering| {
        let lanes = one.lanes.iter();
        let left = lanes.map(|lane| ahead.to_local(lane.pose.position).y);
        left.sum::<f64>() / one.lanes.len() as f64
    };
    entering.sort_by(|a, b| beside(b).total_cmp(&beside(a)).then(a.arm.cmp(&b.arm)));
    let lanes = entering.iter().flat_map(|one| {
        let lanes = one.lanes.iter().enumerate();
        lanes.map(|(from, lane)| (one.arm, from, lane))
    });
    let mut continued = Vec::with_capacity(leaving.len());
    for ((arm, from, lane), (to, next)) in lanes.zip(leaving.iter().enumerate()) {
        if lane.access != next.access {
            return Vec::new();
        }
        continued.push(Continued { arm, from, to });
    }
    continued
}
