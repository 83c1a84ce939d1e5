//! Turns through a junction that the user adds to the turns that follow from the rules.

use super::arm::{Arm, ArmLane};
use super::links::{STRAIGHT, Surroundings, U_TURN, connecting_path, lane_end, road_lane};
use super::{ConnectingPath, Flag, LinkKind, Site, Turn};
use crate::junction_rules::{LaneTurn, RoadLane, TurnRules};
use roadwright_geometry::math::wrap_angle;

/// Whether the user has added a turn that starts on a lane.
pub(super) fn leads_on(turns: &TurnRules, from: RoadLane) -> bool {
    turns.add.iter().any(|turn| turn.from == from)
}

/// The lanes that enter a junction from an arm.
pub(super) struct EnteringLanes<'a> {
    /// Index of the arm.
    pub(super) index: usize,
    pub(super) entering: &'a [ArmLane],
    /// The turns from these lanes that follow from the rules.
    pub(super) known: &'a [LaneTurn],
    /// The arms that the lanes lead to, with the turns.
    pub(super) exits: &'a [(usize, Turn)],
}

/// Returns the turns that the user has added to the lanes of arm `index`, except those already
/// given by the rules. Turns without a possible curve are returned as flags. `exits` contains the
/// turn to each arm according to the rules.
pub(super) fn added(
    site: &Site<'_>,
    surroundings: &Surroundings<'_>,
    from: EnteringLanes<'_>,
) -> Vec<Result<ConnectingPath, Flag>> {
    let EnteringLanes {
        index,
        entering,
        known,
        exits,
    } = from;
    let Surroundings { arms, trims, .. } = *surroundings;
    let arm = &arms[index];
    let mut added = Vec::new();
    for (from, turn) in wanted(site, arm, entering, known) {
        // A loop road ends at the junction twice. Each of its ends by which a vehicle can leave
        // counts.
        for (i, to_arm) in arms.iter().enumerate() {
            let lanes = to_arm.leaving_lanes(trims[i], site.side);
            let leaving = lanes
                .iter()
                .filter(|lane| road_lane(to_arm, lane.id) == turn.to);
            for to in leaving {
                let change = wrap_angle(to.pose.heading - from.pose.heading);
                let by_rule = exits.iter().find(|(arm, _)| *arm == i);
                let taken = match by_rule {
                    _ if i == index => Turn::UTurn,
                    Some((_, turn)) => *turn,
                    None => turn_of(change),
                };
                let kind = match taken {
                    Turn::UTurn => LinkKind::UTurn,
                    _ => LinkKind::Normal,
                };
                let ends = (lane_end(arm, from.id), lane_end(to_arm, to.id));
                let inside = surroundings.inside(index, i);
                let path = connecting_path(arm, from, to_arm, to, taken, kind, inside);
                added.push(path.ok_or(Flag::NoCurve(ends.0, ends.1)));
            }
        }
    }
    added
}

/// Returns the turns that the user has added to the lanes of an arm, except turns in `known`. Each
/// is returned with its first lane.
fn wanted<'a>(
    site: &'a Site<'_>,
    arm: &'a Arm<'_>,
    entering: &'a [ArmLane],
    known: &'a [LaneTurn],
) -> impl Iterator<Item = (&'a ArmLane, LaneTurn)> {
    let mut all = site.rules.turns.add.clone();
    // Several nodes of a merged junction may name the same turn.
    all.sort_unstable();
    all.dedup();
    all.into_iter().filter_map(move |turn| {
        let mut lanes = entering.iter();
        let from = lanes.find(|lane| road_lane(arm, lane.id) == turn.from)?;
        (!known.contains(&turn)).then_some((from, turn))
    })
}

/// Returns the turn for a change of heading in rad, positive to the left.
fn turn_of(change: f64) -> Turn {
    if change.abs() > U_TURN {
        Turn::UTurn
    } else if change.abs() < STRAIGHT {
        Turn::Straight
    } else if change > 0.0 {
        Turn::Left
    } else {
        Turn::Right
    }
}
