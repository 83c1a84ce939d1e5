//! Selecting objects, and actions on the selection.

use super::*;

#[test]
fn clicks_select_add_cycle_and_boxes_select_what_is_inside() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(-60.0, 0.5);
    let first = bench.editor().model().selection.clone();
    assert!(matches!(first.first(), Some(ObjectId::Road(_))));
    bench.click_with(60.0, 0.5, Modifiers::COMMAND);
    assert_eq!(bench.editor().model().selection.len(), 2);
    bench.drag_with(&[(-140.0, -120.0), (140.0, 120.0)], Modifiers::SHIFT);
    assert_eq!(bench.editor().model().selection.len(), 4);
    // Another click at the same place selects the road below the junction.
    bench.click(0.0, 0.0);
    let upper = bench.editor().model().selection.clone();
    bench.click(0.0, 0.0);
    assert_ne!(bench.editor().model().selection, upper);
    bench.key(Key::Escape);
    assert!(bench.editor().model().selection.is_empty());
}

#[test]
fn copies_are_pasted_within_and_between_scenarios() {
    let mut bench = Bench::crossroads();
    bench.key_with(Modifiers::COMMAND, Key::A);
    assert_eq!(bench.editor().model().selection.len(), 4);
    bench.ask(Action::Do(roadwright_editor::command::Command::Copy));
    let before = bench.scenario().clone();
    bench.key_with(Modifiers::COMMAND, Key::D);
    assert_eq!(bench.scenario().network().road_count(), 8);
    undo_gives_back(&mut bench, &before);
    bench.ask(Action::Go(Next::New));
    assert_eq!(bench.scenario().network().road_count(), 0);
    bench.ask(Action::Do(roadwright_editor::command::Command::Paste));
    assert_eq!(bench.scenario().network().road_count(), 4);
    assert_eq!(bench.scenario().network().node_count(), 5);
}

#[test]
fn values_in_the_inspector_are_one_step_each() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(-60.0, 0.5);
    let before = bench.scenario().clone();
    let role = egui::accesskit::Role::SpinButton;
    let field = bench.harness.get_by_role_and_label(role, "Speed limit");
    let at = field.rect().center();
    bench.harness.hover_at(at);
    bench.harness.drag_at(at);
    bench.harness.step();
    for i in 1..10 {
        bench.harness.hover_at(at + egui::vec2(4.0 * i as f32, 0.0));
        bench.harness.step();
    }
    bench.harness.drop_at(at + egui::vec2(40.0, 0.0));
    bench.settle();
    let steps = bench.undo_steps();
    assert_eq!(steps, 3);
    undo_gives_back(&mut bench, &before);
}

#[test]
fn a_right_click_opens_what_can_be_done_with_a_thing() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    let before = bench.scenario().clone();
    right_click(&mut bench, -60.0, 0.0);
    // The object there is selected, and its menu is open.
    let selection = bench.editor().model().selection.clone();
    assert!(
        matches!(selection.first(), Some(ObjectId::Road(_))),
        "{selection:?}"
    );
    bench.press("Split here");
    assert_eq!(
        bench.scenario().network().road_count(),
        before.network().road_count() + 1
    );
    undo_gives_back_last(&mut bench, &before);
    // A node: crossings on all its arms.
    right_click(&mut bench, 0.0, 0.0);
    let selection = bench.editor().model().selection.clone();
    let Some(ObjectId::Node(node)) = selection.first().copied() else {
        panic!("{selection:?}");
    };
    bench.press("Add crossings on all arms");
    let rules = &bench.scenario().network().node(node).unwrap().rules;
    assert_eq!(rules.crossings.len(), 4);
    // Open ground: a vehicle starts here, and the tool waits for its destination.
    right_click(&mut bench, -100.0, 60.0);
    assert!(bench.editor().model().selection.is_empty());
    bench.press("Drive from here");
    assert_eq!(bench.editor().model().tool, ToolKind::Vehicle);
    bench.click(100.0, 60.0);
    let agent = bench.scenario().agents().values().next().unwrap();
    assert!(agent.destination.is_some());
}

#[test]
fn escape_closes_a_menu_and_keeps_the_selection() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    right_click(&mut bench, -60.0, 0.0);
    let selection = bench.editor().model().selection.clone();
    assert_eq!(selection.len(), 1);
    let is_open = |bench: &Bench| bench.harness.query_by_label("Split here").is_some();
    assert!(is_open(&bench));
    bench.key(Key::Escape);
    bench.settle();
    assert!(!is_open(&bench));
    assert_eq!(bench.editor().model().selection, selection);
    // Without a menu, Esc clears the selection.
    bench.key(Key::Escape);
    assert!(bench.editor().model().selection.is_empty());
}

#[test]
fn a_junction_becomes_a_roundabout_from_its_menu() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    let before = bench.scenario().clone();
    right_click(&mut bench, 0.0, 0.0);
    bench.press("Turn into roundabout");
    bench.settle();
    assert_eq!(bench.scenario().network().road_count(), 8);
    assert!(bench.editor().model().selection.is_empty());
    undo_gives_back_last(&mut bench, &before);
}

fn undo_gives_back_last(bench: &mut Bench, before: &roadwright_scenario::Scenario) {
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), before);
}

/// Creates an empty world with three boxes, all selected.
fn three_boxes() -> Bench {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::O);
    bench.set(|settings| settings.tools.obstacle.kind = ObstacleKind::Box);
    for (x, y) in [(-80.0, 5.0), (-10.0, -20.0), (70.0, 30.0)] {
        bench.drag(&[(x, y), (x + 12.0, y + 9.0)]);
    }
    bench.key(Key::V);
    bench.key_with(Modifiers::COMMAND, Key::A);
    assert_eq!(bench.editor().model().selection.len(), 3);
    bench
}

fn box_bounds(bench: &Bench) -> Vec<(DVec2, DVec2)> {
    let model = bench.editor().model();
    let all = model.selection.iter();
    all.map(|object| model.scene.bounds_of(*object).unwrap())
        .collect()
}

#[test]
fn arrow_keys_nudge_and_menus_align_and_spread() {
    let mut bench = three_boxes();
    let before = box_bounds(&bench);
    bench.key(Key::ArrowRight);
    bench.key(Key::ArrowUp);
    for (new, old) in box_bounds(&bench).iter().zip(&before) {
        assert!(
            (new.0 - old.0 - DVec2::ONE).length() < 1e-6,
            "{new:?} {old:?}"
        );
    }
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(box_bounds(&bench), before);
    right_click(&mut bench, -10.0 + 6.0, -20.0 + 4.0);
    assert_eq!(
        bench.editor().model().selection.len(),
        3,
        "the selection stays"
    );
    bench.press("Align south edges");
    let aligned = box_bounds(&bench);
    assert!(
        aligned
            .iter()
            .all(|b| (b.0.y - aligned[0].0.y).abs() < 1e-6),
        "{aligned:?}"
    );
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(box_bounds(&bench), before);
}

#[test]
fn what_several_roads_share_is_changed_in_one_step() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.key_with(Modifiers::COMMAND, Key::A);
    let before = bench.scenario().clone();
    bench.press("Access: All");
    bench.press("Private");
    let mut roads = bench.scenario().network().roads();
    assert!(roads.all(|(_, road)| road.access == roadwright_scenario::RoadAccess::Private));
    drop(roads);
    undo_gives_back_last(&mut bench, &before);
}

#[test]
fn select_similar_takes_the_roads_of_a_class() {
    let mut bench = Bench::crossroads();
    bench.key(Key::O);
    bench.drag(&[(-80.0, 40.0), (-70.0, 50.0)]);
    bench.key(Key::V);
    bench.click(-60.0, 0.0);
    assert_eq!(bench.editor().model().selection.len(), 1);
    bench.key_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::A);
    let selection = bench.editor().model().selection.clone();
    assert_eq!(selection.len(), 4);
    assert!(
        selection
            .iter()
            .all(|object| matches!(object, ObjectId::Road(_)))
    );
}

#[test]
fn what_is_locked_is_not_taken_by_the_mouse() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(60.0, 0.0);
    assert_eq!(bench.editor().model().selection.len(), 1);
    bench.set(|settings| {
        settings.tools.locks.insert(MapPart::Roads);
    });
    bench.click(60.0, 0.0);
    assert!(bench.editor().model().selection.is_empty());
    let before = bench.scenario().clone();
    bench.drag(&[(60.0, 0.0), (60.0, 30.0)]);
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.key(Key::Delete);
    assert_eq!(bench.scenario(), &before);
    bench.set(|settings| settings.tools.locks.clear());
    bench.click(60.0, 0.0);
    assert_eq!(bench.editor().model().selection.len(), 1);
}
