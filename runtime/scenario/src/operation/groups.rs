//! Groups of objects: creating them, dissolving them, and updating them when roads change.

use super::Objects;
use crate::edit::Edit;
use crate::group::Group;
use crate::ids::{GroupId, ObjectId, RoadId};
use crate::scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of members of a group.
const LEAST_MEMBERS: usize = 2;

/// Returns the edit that creates a group of objects, and the id of the group. The objects leave their
/// previous groups, because an object is in at most one group. Returns `None` for fewer than two objects, not
/// counting nodes.
pub fn grouped(scenario: &Scenario, objects: &Objects) -> Option<(Edit, GroupId)> {
    let id = scenario.next_group_id();
    let name = format!("Group {}", id.0);
    let there = objects.iter().filter(|object| scenario.contains(**object));
    let group = Group::new(&name, there.copied());
    if group.members().len() < LEAST_MEMBERS {
        return None;
    }
    let mut edits: Vec<Edit> = scenario
        .groups
        .iter()
        .filter(|(_, old)| !old.members().is_disjoint(group.members()))
        .map(|(id, old)| {
            let rest: Vec<ObjectId> = old.members().difference(group.members()).copied().collect();
            let rest = (!rest.is_empty()).then(|| Box::new(old.with_members(rest)));
            Edit::Group(*id, rest)
        })
        .collect();
    edits.push(Edit::Group(id, Some(Box::new(group))));
    Some((Edit::Batch(edits), id))
}

/// Returns the edit that dissolves the groups of objects, and the number of groups.
pub fn dissolved(scenario: &Scenario, objects: &Objects) -> (Edit, usize) {
    let groups: BTreeSet<GroupId> = objects
        .iter()
        .filter_map(|object| scenario.group_of(*object))
        .collect();
    let count = groups.len();
    let edits = groups.into_iter().map(|id| Edit::Group(id, None));
    (Edit::Batch(edits.collect()), count)
}

/// Returns the objects together with the existing members of their groups.
pub fn with_groups(scenario: &Scenario, objects: &Objects) -> Objects {
    let mut all = objects.clone();
    for group in scenario.groups.values() {
        if !group.members().is_disjoint(objects) {
            let members = group.members().iter().copied();
            all.extend(members.filter(|member| scenario.contains(*member)));
        }
    }
    all
}

/// Returns group members that do not exist. Hand-written files may contain such members.
pub fn lost_members(scenario: &Scenario) -> Vec<(GroupId, ObjectId)> {
    let groups = scenario.groups.iter();
    let lost = groups.flat_map(|(id, group)| {
        let members = group.members().iter();
        let lost = members.filter(|member| !scenario.contains(**member));
        lost.map(|member| (*id, *member))
    });
    lost.collect()
}

/// Returns the edit that removes non-existent members from groups and deletes groups that become empty.
pub fn without_lost_members(scenario: &Scenario) -> Edit {
    let changed = scenario.groups.iter().filter_map(|(id, group)| {
        let there = group.members().iter().copied();
        let there = group.with_members(there.filter(|member| scenario.contains(*member)));
        let rest = (!there.members().is_empty()).then(|| Box::new(there.clone()));
        (there != *group || rest.is_none()).then_some(Edit::Group(*id, rest))
    });
    Edit::Batch(changed.collect())
}

/// Returns edits that add each new road to the group of the road that it was made from.
pub(super) fn joining(scenario: &Scenario, roads: &BTreeMap<RoadId, RoadId>) -> Vec<Edit> {
    let mut groups: BTreeMap<GroupId, Vec<ObjectId>> = BTreeMap::new();
    for (new, old) in roads {
        if let Some(id) = scenario.group_of(ObjectId::Road(*old)) {
            groups.entry(id).or_default().push(ObjectId::Road(*new));
        }
    }
    let edit = |(id, new): (GroupId, Vec<ObjectId>)| {
        let group = scenario.groups.get(&id)?;
        let all = group.members().iter().copied().chain(new);
        Some(Edit::Group(id, Some(Box::new(group.with_members(all)))))
    };
    groups.into_iter().filter_map(edit).collect()
}

/// Returns the edit that updates groups after two roads have been merged. The remaining road stays
/// in the group of the first road or, if the first road is in no group, joins that of the second.
pub(super) fn merged(scenario: &Scenario, first: RoadId, second: RoadId) -> Option<Edit> {
    let (first, second) = (ObjectId::Road(first), ObjectId::Road(second));
    let id = scenario.group_of(first).or(scenario.group_of(second))?;
    let group = scenario.groups.get(&id)?;
    let others = group.members().iter().filter(|member| **member != second);
    let all = others.copied().chain([first]);
    Some(Edit::Group(id, Some(Box::new(group.with_members(all)))))
}
