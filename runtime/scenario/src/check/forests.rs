//! Findings about forests.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use glam::DVec2;

/// Finds forests that exceed the limit on the number of trees.
pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    // Forests are planted in order until the limit is reached, so the number of planted forests is
    // the index of the first forest that is not planted.
    let planted = scenario.planted().count();
    if let Some((&id, forest)) = scenario.forests().iter().nth(planted) {
        findings.push(Finding {
            severity: Severity::Error,
            code: Code::TooMuch,
            object: ObjectId::Forest(id),
            place: forest.area.first().copied().unwrap_or(DVec2::ZERO),
            message:
                "exceeds the limit of four million tree positions across all forests, so this \
                 forest and those after it have no trees; increase the spacing"
                    .into(),
        });
    }
}
