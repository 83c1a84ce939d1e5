//! Groups with the real editor.

use crate::common::Bench;
use egui::{Key, Modifiers};
use roadwright_editor::model::Action;
use roadwright_editor::tools::{MapPart, ObstacleKind};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{GroupId, ObjectId};

const BOXES: [(f64, f64); 3] = [(-80.0, 50.0), (-10.0, 60.0), (70.0, 30.0)];

/// Creates a road and three boxes beside it; the first two boxes are a group.
fn street() -> Bench {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.key(Key::O);
    bench.set(|settings| settings.tools.obstacle.kind = ObstacleKind::Box);
    for (x, y) in BOXES {
        bench.drag(&[(x, y), (x + 12.0, y + 9.0)]);
    }
    bench.key(Key::V);
    click_box(&mut bench, 0, Modifiers::NONE);
    click_box(&mut bench, 1, Modifiers::COMMAND);
    bench.key_with(Modifiers::COMMAND, Key::G);
    bench.ask(Action::Select(Objects::new()));
    bench
}

fn click_box(bench: &mut Bench, index: usize, modifiers: Modifiers) {
    let (x, y) = BOXES[index];
    bench.click_with(x + 6.0, y + 4.0, modifiers);
}

fn selected(bench: &Bench) -> usize {
    bench.editor().model().selection.len()
}

fn sizes(bench: &Bench) -> Vec<usize> {
    let groups = bench.scenario().groups().values();
    groups.map(|group| group.members().len()).collect()
}

#[test]
fn a_click_selects_the_whole_group_and_with_ctrl_and_alt_a_single_one() {
    let mut bench = street();
    assert_eq!(sizes(&bench), [2]);
    click_box(&mut bench, 0, Modifiers::NONE);
    assert_eq!(selected(&bench), 2);
    click_box(&mut bench, 2, Modifiers::COMMAND);
    assert_eq!(selected(&bench), 3);
    click_box(&mut bench, 1, Modifiers::COMMAND);
    assert_eq!(selected(&bench), 1, "the group is deleted as a whole");
    click_box(&mut bench, 1, Modifiers::COMMAND | Modifiers::ALT);
    assert_eq!(selected(&bench), 1);
    click_box(&mut bench, 0, Modifiers::NONE);
    assert_eq!(selected(&bench), 2);
    bench.ask(Action::Select(Objects::new()));
    let (x, y) = BOXES[1];
    bench.double_click(x + 6.0, y + 4.0);
    assert_eq!(
        selected(&bench),
        1,
        "a double-click selects a single member"
    );
    // A box around one member of the group selects both; a locked or hidden kind is left out.
    bench.drag_with(
        &[(x - 6.0, y - 6.0), (x + 20.0, y + 16.0)],
        Modifiers::SHIFT,
    );
    assert_eq!(selected(&bench), 2);
    bench.set(|settings| settings.tools.hidden.extend([MapPart::Obstacles]));
    bench.drag_with(
        &[(x - 6.0, y - 6.0), (x + 20.0, y + 16.0)],
        Modifiers::SHIFT,
    );
    assert_eq!(selected(&bench), 0);
}

#[test]
fn a_group_moves_copies_and_goes_together_and_undo_brings_it_back() {
    let mut bench = street();
    let before = bench.scenario().clone();
    let (x, y) = BOXES[0];
    bench.drag(&[(x + 6.0, y + 4.0), (x + 6.0, y + 24.0)]);
    let moved = before.obstacles().iter().filter(|(id, old)| {
        let new = &bench.scenario().obstacles()[id];
        (new.shape.centre() - old.shape.centre()).length() > 10.0
    });
    assert_eq!(moved.count(), 2);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    click_box(&mut bench, 0, Modifiers::NONE);
    bench.key_with(Modifiers::COMMAND, Key::D);
    assert_eq!(sizes(&bench), [2, 2], "the copy is a group of its own");
    assert_eq!(selected(&bench), 2);
    bench.key(Key::Delete);
    assert_eq!(sizes(&bench), [2]);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(sizes(&bench), [2, 2]);
    // After ungrouping, its members are selected individually again.
    bench.ask(Action::Select(Objects::new()));
    click_box(&mut bench, 1, Modifiers::NONE);
    bench.key_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::G);
    assert_eq!(sizes(&bench), [2]);
    assert_eq!(bench.scenario().obstacles().len(), 5);
    click_box(&mut bench, 1, Modifiers::NONE);
    click_box(&mut bench, 2, Modifiers::NONE);
    assert_eq!(selected(&bench), 1);
    // A single object makes no group, and ungrouped objects cannot be ungrouped: a message appears,
    // and no step is added.
    let steps = bench.undo_steps();
    bench.key_with(Modifiers::COMMAND, Key::G);
    bench.key_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::G);
    assert_eq!(bench.undo_steps(), steps);
}

#[test]
fn groups_are_listed_renamed_saved_and_follow_a_road_that_is_cut() {
    let mut bench = street();
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.press("Edit");
    bench.press("Group Ctrl+G");
    assert_eq!(sizes(&bench), [4], "the first group is empty");
    let id = *bench.scenario().groups().keys().next().unwrap();
    let field = bench.field("Group").center();
    bench.harness.hover_at(field);
    bench.harness.drag_at(field);
    bench.harness.drop_at(field);
    bench.settle();
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.type_text("Market");
    bench.ask(Action::Commit(None));
    assert_eq!(bench.scenario().groups()[&id].name, "Market");
    bench.press_tab("Scenario");
    bench.press("Groups (1)");
    bench.ask(Action::Select(Objects::new()));
    bench.press(&format!("{id}  Market (4 objects)"));
    assert_eq!(selected(&bench), 4);
    // A street that joins the road splits it, and both pieces are in the group.
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::R);
    bench.drag(&[(30.0, 0.5), (30.0, -90.0)]);
    assert_eq!(sizes(&bench), [5]);
    let path = bench.folder.path().join("market.scenario.json");
    bench.ask(Action::Path(
        path.clone(),
        roadwright_editor::model::Purpose::Save,
        None,
    ));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"Market\""));
    // A file with a missing member gives a message, and a repair step that can be undone.
    let odd = text.replace("\"obstacles\": [1, 2, 3]}", "\"obstacles\": [1, 2, 3, 99]}");
    assert_ne!(odd, text);
    std::fs::write(&path, odd).unwrap();
    let bench = Bench::open(&path);
    assert_eq!(sizes(&bench), [5]);
    let model = bench.editor().model();
    let obstacle = ObjectId::Obstacle(roadwright_scenario::ObstacleId(99));
    assert_eq!(model.document.scenario().group_of(obstacle), None);
    let last = model.document.history().undo_labels().last();
    assert_eq!(last, Some("Remove missing members from groups"));
    assert!(model.findings.1.is_empty(), "{:?}", model.findings.1);
    assert!(bench.scenario().groups().contains_key(&GroupId(id.0)));
}
