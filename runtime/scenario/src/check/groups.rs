//! Findings about groups.

use super::{Code, Finding, Severity, Subjects};
use crate::ids::ObjectId;
use crate::operation::groups::lost_members;
use crate::operation::mirror::middle;
use crate::scenario::Scenario;
use glam::DVec2;
use std::collections::BTreeMap;

/// Finds group members that do not exist, and objects that are in several groups.
pub(super) fn check(subjects: &Subjects<'_>, findings: &mut Vec<Finding>) {
    let scenario = subjects.scenario;
    for (id, member) in lost_members(scenario) {
        let message = format!(
            "is a member of {id} but does not exist; remove it from the group, or open the \
             scenario in the editor and save it"
        );
        findings.push(finding(scenario, member, message));
    }
    let mut seen: BTreeMap<ObjectId, _> = BTreeMap::new();
    for (id, group) in scenario.groups() {
        for member in group.members() {
            if let Some(first) = seen.insert(*member, *id) {
                let message = format!("is in {first} and in {id}; keep it in only one of them");
                findings.push(finding(scenario, *member, message));
            }
        }
    }
}

fn finding(scenario: &Scenario, member: ObjectId, message: String) -> Finding {
    Finding {
        severity: Severity::Warning,
        code: Code::GroupMember,
        object: member,
        place: middle(scenario, &[member].into()).unwrap_or(DVec2::ZERO),
        message,
    }
}
