//! Groups: their members after operations, in files, and in copies.

use crate::common::{crate_at, crossroads, pond_at, west_to_east};
use roadwright_geometry::DVec2;
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::operation::groups::{
    dissolved, grouped, lost_members, with_groups, without_lost_members,
};
use roadwright_scenario::operation::{Motion, Objects, copied, deleted, draw, merged, pasted};
use roadwright_scenario::*;

const ROAD: ObjectId = ObjectId::Road(RoadId(1));
const CRATE: ObjectId = ObjectId::Obstacle(ObstacleId(1));
const POND: ObjectId = ObjectId::Land(LandId(1));

fn town() -> Scenario {
    let mut scenario = crossroads();
    for edit in [
        Edit::Agent(AgentId(1), Some(Box::new(west_to_east()))),
        Edit::Obstacle(ObstacleId(1), Some(Box::new(crate_at(30.0, 30.0)))),
        Edit::Land(LandId(1), Some(Box::new(pond_at(50.0, -40.0)))),
    ] {
        scenario.apply(edit).unwrap();
    }
    scenario
}

/// Applies an edit and checks that undo and redo give the same scenarios.
fn applied(scenario: &Scenario, edit: Edit) -> Scenario {
    let mut changed = scenario.clone();
    let undo = changed.apply(edit).unwrap();
    let mut back = changed.clone();
    let redo = back.apply(undo).unwrap();
    assert_eq!(&back, scenario);
    back.apply(redo).unwrap();
    assert_eq!(back, changed);
    changed
}

fn with_group(scenario: &Scenario, members: &[ObjectId]) -> Scenario {
    let objects = members.iter().copied().collect();
    let (edit, _) = grouped(scenario, &objects).unwrap();
    applied(scenario, edit)
}

fn members(scenario: &Scenario, id: u32) -> Vec<ObjectId> {
    let group = &scenario.groups()[&GroupId(id)];
    group.members().iter().copied().collect()
}

#[test]
fn one_is_no_group_and_nobody_is_in_two() {
    let scenario = town();
    assert!(grouped(&scenario, &Objects::new()).is_none());
    assert!(grouped(&scenario, &[ROAD].into()).is_none());
    let node = scenario.network().nodes().next().unwrap().0;
    let with_node = [ROAD, ObjectId::Node(node)].into();
    assert!(
        grouped(&scenario, &with_node).is_none(),
        "nodes do not count"
    );
    let gone = [ROAD, ObjectId::Agent(AgentId(99))].into();
    assert!(grouped(&scenario, &gone).is_none());
    let scenario = with_group(&scenario, &[ROAD, CRATE]);
    assert_eq!(scenario.groups()[&GroupId(1)].name, "Group 1");
    assert_eq!(
        with_groups(&scenario, &[CRATE].into()),
        [ROAD, CRATE].into()
    );
    assert_eq!(with_groups(&scenario, &[POND].into()), [POND].into());
    // An object that joins another group leaves its previous group.
    let scenario = with_group(&scenario, &[CRATE, POND]);
    assert_eq!(members(&scenario, 1), [ROAD]);
    assert_eq!(scenario.group_of(CRATE), Some(GroupId(2)));
    let scenario = with_group(&scenario, &[ROAD, POND]);
    assert_eq!(scenario.groups().len(), 2, "an empty group is no group");
    let (edit, count) = dissolved(&scenario, &[ROAD, CRATE].into());
    assert_eq!(count, 2);
    assert!(applied(&scenario, edit).groups().is_empty());
}

#[test]
fn what_is_deleted_leaves_its_group_and_undo_brings_it_back() {
    let scenario = with_group(&town(), &[ROAD, CRATE, POND]);
    let after = applied(&scenario, deleted(&scenario, &[CRATE].into()));
    assert_eq!(members(&after, 1), [ROAD, POND]);
    // A group is deleted with its last member. Agents that start on a road are deleted with the road.
    let all = [ROAD, CRATE, POND].into();
    let after = applied(&scenario, deleted(&scenario, &all));
    assert!(after.groups().is_empty() && after.agents().is_empty());
    // The id of a deleted obstacle can be reused, but the new obstacle is in no group.
    let after = applied(&scenario, Edit::Obstacle(ObstacleId(1), None));
    let new = Edit::Obstacle(
        after.next_obstacle_id(),
        Some(Box::new(crate_at(0.0, 40.0))),
    );
    assert_eq!(applied(&after, new).group_of(CRATE), None);
}

#[test]
fn a_road_that_is_cut_and_merged_keeps_its_group() {
    let scenario = with_group(&town(), &[ROAD, CRATE]);
    let cut = applied(&scenario, draw::split(&scenario, RoadId(1), 40.0).unwrap());
    let piece = RoadId(5);
    assert!(cut.network().road(piece).is_some());
    assert_eq!(members(&cut, 1), [ROAD, ObjectId::Road(piece), CRATE]);
    let node = cut.network().road(piece).unwrap().from;
    let one = applied(&cut, merged(&cut, node).unwrap());
    assert_eq!(members(&one, 1), [ROAD, CRATE]);
    // Only the road that disappears is in a group, so the remaining road takes its place in the
    // group.
    let (edit, _) = dissolved(&cut, &[CRATE].into());
    let cut = applied(&cut, edit);
    let cut = with_group(&cut, &[ObjectId::Road(piece), POND]);
    let one = applied(&cut, merged(&cut, node).unwrap());
    assert_eq!(members(&one, 1), [ROAD, POND]);
    // A street that is drawn from the middle of a road cuts that road.
    let line = roadwright_geometry::ReferenceLine::straight(
        DVec2::new(-50.0, 0.0),
        DVec2::new(-50.0, 80.0),
    );
    let edit = draw::road(
        &scenario,
        &line.unwrap(),
        &crate::common::street("Side Street"),
    )
    .unwrap();
    let joined = applied(&scenario, edit);
    assert_eq!(members(&joined, 1).len(), 3, "{:?}", members(&joined, 1));
}

#[test]
fn a_copy_is_a_group_of_its_own() {
    let scenario = with_group(&town(), &[ROAD, CRATE, POND]);
    let piece = copied(&scenario, &[ROAD, CRATE].into());
    // As on the clipboard, the piece is converted to text and back.
    let piece = file::from_text(&file::to_text(&piece)).unwrap();
    let motion = Motion::shift(DVec2::new(0.0, 300.0));
    let (edit, new) = pasted(&scenario, &piece, &motion).unwrap();
    let after = applied(&scenario, edit);
    assert_eq!(members(&after, 1), members(&scenario, 1));
    assert_eq!(members(&after, 2), new.iter().copied().collect::<Vec<_>>());
    assert_eq!(new.len(), 2);
    assert!(copied(&scenario, &[CRATE].into()).groups().is_empty());
}

#[test]
fn files_have_groups_only_where_there_are_some() {
    let scenario = town();
    assert!(!file::to_text(&scenario).contains("groups"));
    let scenario = with_group(&scenario, &[ROAD, CRATE, POND, ObjectId::Agent(AgentId(1))]);
    let text = file::to_text(&scenario);
    let line = r#"{"name": "Group 1", "roads": [1], "obstacles": [1], "land": [1], "agents": [1]}"#;
    assert!(
        text.contains(line),
        "{}",
        text.split("\"groups\"").nth(1).unwrap()
    );
    assert_eq!(file::from_text(&text).unwrap(), scenario);
    assert!(check(&scenario).is_empty(), "{:?}", check(&scenario));
    for (wrong, what) in [
        (r#"{"name": "Group 1", "cars": [1]}"#, "cars"),
        (r#"{"name": "Group 1", "roads": [-1]}"#, "roads"),
        (r#"{"name": "Group 1", "roads": "all"}"#, "roads"),
        (r#"[1, 2]"#, "groups"),
    ] {
        let error = file::from_text(&text.replace(line, wrong)).unwrap_err();
        let said = format!("{} {error}", error.key);
        assert!(said.contains(what) && error.line > 0, "{wrong}: {said}");
    }
    // After this id, there are no further ids to assign.
    let large = text.replace(
        "\"1\": {\"name\": \"Group 1\"",
        "\"4294967295\": {\"name\": \"Group 1\"",
    );
    assert_ne!(large, text);
    let error = file::from_text(&large).unwrap_err();
    assert!(error.message.contains("ids must not exceed"), "{error}");
    // All other objects are read, but the groups are not.
    let broken = text.replace(line, r#"{"cars": [1]}"#);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.scenario.json");
    std::fs::write(&path, broken).unwrap();
    let saved = file::salvage(&path).unwrap();
    assert!(saved.scenario.groups().is_empty());
    assert_eq!(saved.left_out.len(), 1, "{:?}", saved.left_out);
}

#[test]
fn members_that_do_not_exist_are_told_and_can_be_taken_out() {
    let scenario = with_group(&town(), &[ROAD, CRATE]);
    let text = file::to_text(&scenario);
    let text = text.replace(
        "\"roads\": [1], \"obstacles\": [1]",
        "\"roads\": [1, 77], \"flows\": [5]",
    );
    let odd = file::from_text(&text).unwrap();
    assert_eq!(lost_members(&odd).len(), 2);
    let findings = check(&odd);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings.iter().all(|f| f.code == Code::GroupMember));
    assert!(
        findings[0].message.contains("group 1"),
        "{}",
        findings[0].message
    );
    assert_eq!(with_groups(&odd, &[ROAD].into()), [ROAD].into());
    let tidy = applied(&odd, without_lost_members(&odd));
    assert_eq!(members(&tidy, 1), [ROAD]);
    assert!(check(&tidy).is_empty());
    // The objects are in two groups at once.
    let twice = Group::new("again", [ROAD, POND]);
    let edit = Edit::Group(GroupId(2), Some(Box::new(twice)));
    let twice = applied(&tidy, edit);
    let findings = check(&twice);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].message.contains("group 1 and in group 2"),
        "{findings:?}"
    );
    assert!(twice.clone().apply(Edit::Group(GroupId(9), None)).is_err());
}
