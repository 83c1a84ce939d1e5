//! Findings about the rules that users set for junctions: lane turns, corners, stages.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::ids::{NodeId, RoadId};
use crate::junction::{Arm, ArmLane, Conflicts, Corner, Junction, Layout, Signals};
use crate::junction_rules::{Control, CornerRule, MAX_STAGES, RoadLane};
use crate::network::Node;
use crate::scenario::Scenario;
use std::collections::BTreeSet;

/// Difference below which two radii count as equal, m.
const SAME_RADIUS: f64 = 0.05;

pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    for (id, node) in subjects.scenario.network().nodes() {
        let Some(junction) = subjects.layout.junction_at(id) else {
            continue;
        };
        let at = At { id, node };
        turns(subjects, junction, at, findings);
        corners(junction, at, findings);
        internal_roads(subjects, at, findings);
        majors(subjects, junction, at, findings);
        stages_of_roads_gone(subjects.scenario, at, findings);
    }
    for junction in &subjects.layout.junctions {
        match junction.plan.stages.is_empty() {
            true => stage_count(junction, findings),
            false => stages(junction, findings),
        }
    }
}

/// The node whose rules are checked, with its junction.
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

/// Finds turn rules whose lanes do not exist.
fn turns(subjects: &Subjects<'_>, junction: &Junction, at: At<'_>, findings: &mut Vec<Finding>) {
    let rules = &at.node.rules.turns;
    if rules.is_empty() {
        return;
    }
    let Leading {
        inward: leading_in,
        outward: leading_out,
    } = Leading::of(subjects.scenario, junction);
    for turn in rules.add.iter().chain(&rules.remove) {
        for (lane, lanes, direction) in [
            (turn.from, &leading_in, "into the junction"),
            (turn.to, &leading_out, "out of the junction"),
        ] {
            if !lanes.contains(&lane) {
                let RoadLane { road, lane } = lane;
                findings.push(at.warning(
                    Code::DanglingTurn,
                    format!(
                        "a turn refers to lane {lane} of {road}, which does not lead {direction} \
                         here"
                    ),
                ));
            }
        }
    }
}

/// Lanes that lead into or out of a junction.
pub(super) struct Leading {
    pub(super) inward: BTreeSet<RoadLane>,
    pub(super) outward: BTreeSet<RoadLane>,
}

impl Leading {
    pub(super) fn of(scenario: &Scenario, junction: &Junction) -> Self {
        let side = scenario.about().driving_side;
        let (mut inward, mut outward) = (BTreeSet::new(), BTreeSet::new());
        for end in &junction.arms {
            let Some(road) = scenario.network().road(end.road) else {
                continue;
            };
            let arm = Arm::new(end.road, road, end.end);
            let named = |lane: &ArmLane| RoadLane {
                road: end.road,
                lane: lane.id,
            };
            inward.extend(arm.entering_lanes(end.trim, side).iter().map(named));
            outward.extend(arm.leaving_lanes(end.trim, side).iter().map(named));
        }
        Self { inward, outward }
    }
}

/// Finds roads that are declared internal but are not inside the junction.
fn internal_roads(subjects: &Subjects<'_>, at: At<'_>, findings: &mut Vec<Finding>) {
    for road in &at.node.rules.internal_roads {
        if !subjects.layout.internal.contains(road) {
            findings.push(at.warning(
                Code::DanglingInternalRoad,
                format!(
                    "{road} cannot be internal to this junction. Either it does not connect this \
                     node to another node, or the junction would exceed 60 m, or a roundabout would lose \
                     its ring. Remove it from the internal roads"
                ),
            ));
        }
    }
}

/// Finds major roads that do not lead to the junction.
fn majors(subjects: &Subjects<'_>, junction: &Junction, at: At<'_>, findings: &mut Vec<Finding>) {
    for road in &at.node.rules.major {
        if !leads_to(subjects.layout, junction, *road) {
            findings.push(at.warning(
                Code::DanglingMajor,
                format!("{road} is a major road here, but does not lead here"),
            ));
        }
    }
}

/// Whether a road is an arm of the junction. Internal roads count as arms.
pub(super) fn leads_to(layout: &Layout, junction: &Junction, road: RoadId) -> bool {
    let is_arm = junction.arms.iter().any(|arm| arm.road == road);
    is_arm || layout.internal.contains(&road)
}

/// Finds stages that name roads that have been deleted.
fn stages_of_roads_gone(scenario: &Scenario, at: At<'_>, findings: &mut Vec<Finding>) {
    let stages = at.node.rules.plan.iter().flat_map(|plan| &plan.stages);
    for (number, stage) in (1..).zip(stages) {
        let movements = stage.green.iter().chain(&stage.permitted);
        let roads: BTreeSet<RoadId> = movements.map(|movement| movement.road).collect();
        // Checked at every junction, because several junctions may share one plan.
        for road in roads
            .into_iter()
            .filter(|&road| scenario.network().road(road).is_none())
        {
            findings.push(at.warning(
                Code::DanglingStage,
                format!(
                    "stage {number} of the signals here refers to {road}, which does not exist"
                ),
            ));
        }
    }
}

/// Finds corners that do not exist or have no room.
fn corners(junction: &Junction, at: At<'_>, findings: &mut Vec<Finding>) {
    for rule in &at.node.rules.corners {
        let CornerRule { road, next, radius } = *rule;
        let Some(corner) = corner_of(junction, road, next) else {
            findings.push(at.warning(
                Code::DanglingCorner,
                format!(
                    "a corner rule refers to {road} and {next}, which is not the next road \
                     counter-clockwise here"
                ),
            ));
            continue;
        };
        if corner.wanted_radius == 0.0 {
            findings.push(at.warning(
                Code::DanglingCorner,
                format!("there is no corner to round between {road} and {next}"),
            ));
        } else if corner.radius < radius - SAME_RADIUS {
            findings.push(at.warning(
                Code::CornerSqueezed,
                format!(
                    "the corner from {road} to {next} has a set radius of {radius:.1} m, but there \
                     is only room for a radius of {:.1} m; lengthen the roads or set a smaller radius",
                    corner.radius
                ),
            ));
        }
    }
}

/// Returns the corner from one road to the next one counter-clockwise; `None` if the roads are not
/// neighbours.
pub(super) fn corner_of(junction: &Junction, road: RoadId, next: RoadId) -> Option<&Corner> {
    let arms = &junction.arms;
    let mut corners = junction.corners.iter().enumerate();
    let found =
        corners.find(|(i, _)| (arms[*i].road, arms[(i + 1) % arms.len()].road) == (road, next));
    found.map(|(_, corner)| corner)
}

/// Finds signal-controlled junctions that would need too many stages.
fn stage_count(junction: &Junction, findings: &mut Vec<Finding>) {
    // An arm needs at most two stages. Few junctions have enough arms to exceed the limit, so the
    // conflicts are rarely computed here.
    if junction.control != Control::Signals || 2 * junction.arms.len() <= MAX_STAGES {
        return;
    }
    let too_many = Signals::too_many_stages(junction, &Conflicts::of(junction));
    findings.extend(too_many.map(|stages| Finding {
        severity: Severity::Warning,
        code: Code::TooMuch,
        object: ObjectId::Node(junction.nodes[0]),
        place: junction.centre,
        message: format!(
            "the signals here would need {stages} stages, more than {MAX_STAGES}, so the junction has no \
             signals and the first vehicle to arrive goes first; let fewer roads meet, or list the stages in \
             `plan`"
        ),
    }));
}

/// Finds movements of a stage that conflict although neither of them yields.
fn stages(junction: &Junction, findings: &mut Vec<Finding>) {
    let conflicts = Conflicts::of(junction);
    let Some(signals) = Signals::of(junction, &conflicts) else {
        return;
    };
    for stage in 0..signals.greens.len() {
        let mut told = BTreeSet::new();
        for (a, b) in signals.unsettled(junction, &conflicts, stage) {
            let roads = [a, b].map(|path| junction.paths[path.index()].from.road);
            let (first, second) = (roads[0].min(roads[1]), roads[0].max(roads[1]));
            if !told.insert((first, second)) {
                continue;
            }
            findings.push(Finding {
                severity: Severity::Warning,
                code: Code::StageConflict,
                object: ObjectId::Node(junction.nodes[0]),
                place: junction.centre,
                message: format!(
                    "in stage {stage} of the signals the movements from {first} and from {second} \
                     conflict, and neither gives way; list one of them in `permitted`, or move it to \
                     another stage"
                ),
            });
        }
    }
}
