//! Findings about roads that end on other roads.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use crate::operation::draw::{self, Surroundings};
use crate::road::RoadEnd;
use crate::road_boxes::RoadBoxes;

/// Finds road ends on the carriageway of another road that they do not join. No vehicle can drive
/// from one of these roads to the other.
pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let network = subjects.scenario.network();
    let boxes = RoadBoxes::new(network);
    let around = Surroundings {
        scenario: subjects.scenario,
        layout: subjects.layout,
        boxes: &boxes,
        is_hidden: &|_| false,
    };
    for (id, road) in network.roads() {
        let line = &road.reference_line;
        for (end, pose) in [(RoadEnd::Start, line.start()), (RoadEnd::End, line.end())] {
            let Some(loose) = draw::loose_end(&around, id, end) else {
                continue;
            };
            let on = loose.on;
            findings.push(Finding {
                severity: Severity::Warning,
                code: Code::EndsOnRoad,
                object: ObjectId::Road(id),
                place: pose.position,
                message: format!(
                    "ends on {on} without joining it, so no vehicle can drive from one to the other; join \
                     them, or move the end off {on}"
                ),
            });
        }
    }
}
