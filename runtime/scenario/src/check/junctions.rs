//! Findings about what people have decided about junctions: turns of lanes, corners, stages.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::ids::{NodeId, RoadId};
use crate::junction::{Arm, Conflicts, ConnectingPath, Corner, Junction, Signals, Turn};
use crate::junction_rules::{CornerRule, RoadLane};
use crate::network::Node;
use crate::road::DrivingSide;
use std::collections::BTreeSet;

/// Arms whose bearings differ by more face each other: the cosine of 135 degrees.
const ONCOMING: f64 = -std::f64::consts::FRAC_1_SQRT_2;
/// Radii that differ by less are the same, m.
const SAME_RADIUS: f64 = 0.05;

pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    for (id, node) in subjects.scenario.network().nodes() {
        let Some(junction) = subjects.layout.junction_at(id) else {
            continue;
        };
        let at = At { id, node };
        turns(subjects, (junction, at), findings);
        corners(junction, at, findings);
    }
    for junction in &subjects.layout.junctions {
        if !junction.plan.stages.is_empty() {
            stages(junction, findings);
        }
    }
}

/// The node that decides.
#[derive(Clone, Copy)]
struct At<'a> {
    id: NodeId,
    node: &'a Node,
}

impl At<'_> {
    fn warning(self, code: Code, message: String) -> Finding {
        Finding {
            severity: Severity::Warning,
            code,
            object: ObjectId::Node(self.id),
            place: self.node.position(),
            message,
        }
    }
}

/// Turns whose lanes are not there.
fn turns(
    subjects: &Subjects<'_>,
    (junction, at): (&Junction, At<'_>),
    findings: &mut Vec<Finding>,
) {
    let rules = &at.node.rules.turns;
    if rules.is_empty() {
        return;
    }
    let lanes = |entering: bool| lanes(subjects, junction, entering);
    let (leading_in, leading_out) = (lanes(true), lanes(false));
    for turn in rules.add.iter().chain(&rules.remove) {
        for (lane, lanes, way) in [
            (turn.from, &leading_in, "into the junction"),
            (turn.to, &leading_out, "out of it"),
        ] {
            if !lanes.contains(&lane) {
                let RoadLane { road, lane } = lane;
                findings.push(at.warning(
                    Code::DanglingTurn,
                    format!("a turn names lane {lane} of {road}, which does not lead {way} here"),
                ));
            }
        }
    }
}

/// The lanes that lead into a junction, or out of it.
fn lanes(subjects: &Subjects<'_>, junction: &Junction, entering: bool) -> BTreeSet<RoadLane> {
    let scenario = subjects.scenario;
    let side = scenario.about().driving_side;
    let mut all = BTreeSet::new();
    for end in &junction.arms {
        let Some(road) = scenario.network().road(end.road) else {
            continue;
        };
        let lanes = Arm::new(end.road, road, end.end).lanes(end.trim, side, entering);
        all.extend(lanes.iter().map(|lane| RoadLane {
            road: end.road,
            lane: lane.id,
        }));
    }
    all
}

/// Corners that are not there, or have no room.
fn corners(junction: &Junction, at: At<'_>, findings: &mut Vec<Finding>) {
    for rule in &at.node.rules.corners {
        let CornerRule { road, next, radius } = *rule;
        let Some(corner) = corner_of(junction, road, next) else {
            findings.push(at.warning(
                Code::DanglingCorner,
                format!(
                    "a corner is named from {road} to {next}, which is not the next road \
                     counter-clockwise here"
                ),
            ));
            continue;
        };
        if corner.wanted_radius == 0.0 {
            findings.push(at.warning(
                Code::DanglingCorner,
                format!("between {road} and {next} there is no corner to be rounded"),
            ));
        } else if corner.radius < radius - SAME_RADIUS {
            findings.push(at.warning(
                Code::CornerSqueezed,
                format!(
                    "the corner from {road} to {next} is to have a radius of {radius:.1} m, and there \
                     is room for {:.1} m; lengthen the roads, or take a smaller radius",
                    corner.radius
                ),
            ));
        }
    }
}

/// The corner from one road to the next one counter-clockwise.
fn corner_of(junction: &Junction, road: RoadId, next: RoadId) -> Option<&Corner> {
    let arms = &junction.arms;
    let mut corners = junction.corners.iter().enumerate();
    let found =
        corners.find(|(i, _)| (arms[*i].road, arms[(i + 1) % arms.len()].road) == (road, next));
    found.map(|(_, corner)| corner)
}

/// Movements of a stage that cross each other, of which neither gives way.
fn stages(junction: &Junction, findings: &mut Vec<Finding>) {
    let conflicts = Conflicts::of(junction);
    let Some(signals) = Signals::of(junction, &conflicts) else {
        return;
    };
    let across = match junction.side {
        DrivingSide::Right => Turn::Left,
        DrivingSide::Left => Turn::Right,
    };
    for (stage, greens) in signals.greens.iter().enumerate() {
        let mut told = BTreeSet::new();
        for conflict in conflicts.list() {
            let (a, b) = conflict.paths;
            let has_green = greens[a as usize] && greens[b as usize];
            let is_permitted = [a, b].map(|path| signals.is_permitted(path as usize, stage));
            let paths = [a, b].map(|path| &junction.paths[path as usize]);
            // Who turns across the oncoming traffic finds a gap in it; of two that do so whoever comes
            // first goes first.
            let is_across = paths.iter().any(|path| path.turn == across)
                && are_oncoming(junction, paths[0], paths[1]);
            let turns_back = paths.iter().any(|path| path.turn == Turn::UTurn);
            let is_settled = is_across || turns_back || is_permitted[0] != is_permitted[1];
            let roads = [a, b].map(|path| junction.paths[path as usize].from.road);
            let (first, second) = (roads[0].min(roads[1]), roads[0].max(roads[1]));
            if !has_green || is_settled || !told.insert((first, second)) {
                continue;
            }
            findings.push(Finding {
                severity: Severity::Warning,
                code: Code::StageConflict,
                object: ObjectId::Node(junction.nodes[0]),
                place: junction.centre,
                message: format!(
                    "in stage {stage} of the signals vehicles from {first} and from {second} have \
                     green together and meet, and neither gives way; name one of the movements in \
                     `permitted`, or give it another stage"
                ),
            });
        }
    }
}

/// Whether two paths come from arms that face each other.
fn are_oncoming(junction: &Junction, a: &ConnectingPath, b: &ConnectingPath) -> bool {
    let bearing = |path: &ConnectingPath| {
        let mut arms = junction.arms.iter();
        let arm = arms.find(|arm| (arm.road, arm.end) == (path.from.road, path.from.end))?;
        Some((0.5 * (arm.left_cut + arm.right_cut) - junction.centre).normalize_or_zero())
    };
    let facing = bearing(a).zip(bearing(b));
    facing.is_some_and(|(a, b)| a.dot(b) <= ONCOMING)
}
