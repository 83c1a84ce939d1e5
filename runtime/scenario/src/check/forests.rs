//! Findings about forests.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use glam::DVec2;

/// Forests that are too much together.
pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    // Forests are planted in order until there are too many places, so the first that is not has the
    // number of those that are.
    let planted = scenario.planted().count();
    if let Some((&id, forest)) = scenario.forests().iter().nth(planted) {
        findings.push(Finding {
            severity: Severity::Error,
            code: Code::TooMuch,
            object: ObjectId::Forest(id),
            place: forest.area.first().copied().unwrap_or(DVec2::ZERO),
            message: "with it the forests have more than four million places for trees, which is \
                      the most: no tree stands in it and in those after it; make the spacing larger"
                .into(),
        });
    }
}
