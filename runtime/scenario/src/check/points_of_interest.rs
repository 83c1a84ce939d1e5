//! Findings about points of interest. Their names have to be unique, because scripts look them up by name.

use super::{Code, Finding, ObjectId, Severity, Subjects};
use std::collections::BTreeMap;

pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let mut first = BTreeMap::new();
    for (&id, point) in subjects.scenario.points_of_interest() {
        // Scripts find the first of two points with the same name, so the second is the one that has to be
        // renamed.
        let name = point.name.as_str();
        let message = if name.trim().is_empty() {
            "has no name, so scripts cannot find it".to_owned()
        } else if let Some(other) = first.get(name) {
            format!(
                "has the same name \"{name}\" as {other}, so scripts find only that one; rename one of them"
            )
        } else {
            first.insert(name, id);
            continue;
        };
        findings.push(Finding {
            severity: Severity::Warning,
            code: Code::NameUnclear,
            object: ObjectId::PointOfInterest(id),
            place: point.position(),
            message,
        });
    }
}
