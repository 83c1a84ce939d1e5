//! The map, panels, keys and messages of the window.

use super::*;
use roadwright_editor::model::ViewAction;
use roadwright_scenario::check::Code;
use roadwright_scenario::{Edit, NodeId, ObstacleId};

#[test]
fn a_problem_is_repaired_by_a_click() {
    let mut bench = Bench::crossroads();
    bench.ask(Action::Tool(ToolKind::Obstacle));
    bench.drag(&[(-60.0, -4.0), (-50.0, 3.0)]);
    bench.key(Key::V);
    let before = bench.scenario().clone();
    let problems = |bench: &Bench| bench.editor().model().findings.1.len();
    assert_eq!(problems(&bench), 1);
    bench.press_tab("Problems (1)");
    bench.press("Delete the obstacle: obstacle 1");
    assert_eq!(problems(&bench), 0);
    assert!(bench.scenario().obstacles().is_empty());
    undo_gives_back(&mut bench, &before);
}

#[test]
fn problems_are_listed_marked_and_jumped_to() {
    let mut bench = Bench::crossroads();
    bench.key(Key::O);
    bench.drag(&[(50.0, -3.0), (54.0, 0.0)]);
    let finding = bench.editor().model().findings.1.first().unwrap().clone();
    assert_eq!(finding.code.name(), "obstacle-on-road");
    bench.look_at(-1000.0, 0.0, 100.0);
    let title = format!("warning: {}", finding.object);
    let found = bench.harness.query_by_label(&title).is_some();
    bench.press(if found { &title } else { "error: obstacle 1" });
    let camera = bench.editor().model().camera;
    assert!((camera.centre - finding.place).length() < 1.0);
    assert_eq!(
        bench.editor().model().selection,
        Objects::from([finding.object])
    );
}

/// Draws `count` boxes of 2 m on the lanes of the crossroads, 6 m apart.
fn boxes_on_the_road(count: usize) -> Bench {
    let mut bench = Bench::crossroads();
    bench.key(Key::O);
    for i in 0..count {
        let x = 40.0 + 6.0 * i as f64;
        bench.drag(&[(x, -3.0), (x + 2.0, -1.0)]);
    }
    bench.key(Key::V);
    bench.ask(Action::Select(Objects::new()));
    assert_eq!(bench.editor().model().findings.1.len(), count);
    bench
}

#[test]
fn marks_that_are_close_together_become_a_disc_that_zooms_in_and_then_lists() {
    let mut bench = boxes_on_the_road(5);
    bench.look_at(0.0, 0.0, 1000.0);
    let disc = "5 problems on the map";
    // Only the disc under the pointer is a widget.
    assert!(bench.harness.query_by_label(disc).is_none());
    let far = bench.editor().model().camera.scale;
    let first = bench.editor().model().findings.1[0].place;
    bench.hover(first.x, first.y);
    assert!(bench.harness.query_by_label(disc).is_some());
    bench.click(first.x, first.y);
    let camera = bench.editor().model().camera;
    assert!(camera.scale < 0.2 * far, "{}", camera.scale);
    assert!((camera.centre.x - 53.0).abs() < 3.0, "{}", camera.centre);
    // The click did not reach the tool.
    assert!(bench.editor().model().selection.is_empty());
    // Two boxes at the same place do not separate at any zoom, so they are listed.
    let mut bench = boxes_on_the_road(2);
    let mut twin = bench
        .scenario()
        .obstacles()
        .values()
        .next()
        .unwrap()
        .clone();
    twin.name = "twin".into();
    let id = bench.scenario().next_obstacle_id();
    bench.ask(Action::Apply(
        "Add".into(),
        Edit::Obstacle(id, Some(Box::new(twin))),
    ));
    let place = bench.editor().model().findings.1[0].place;
    bench.look_at(place.x, place.y, 40.0);
    // The overlap of the boxes is a problem half a metre beside the others, so its marker separates
    // first.
    bench.click(place.x, place.y);
    bench.click(place.x, place.y);
    let model = bench.editor().model();
    assert!(model.problems.place.is_some());
    let labels = ["warning: obstacle 1", "warning: obstacle 2"];
    let listed = labels.map(|label| bench.harness.query_all_by_label(label).count());
    assert!(listed[0] > 0 && listed[1] == 0, "{listed:?}");
    bench.press("List all problems");
    assert!(bench.harness.query_by_label(labels[1]).is_some());
}

#[test]
fn a_stroke_may_begin_on_a_disc_of_problems() {
    let mut bench = boxes_on_the_road(3);
    bench.look_at(0.0, 0.0, 600.0);
    let first = bench.editor().model().findings.1[0].place;
    bench.key(Key::R);
    let roads = bench.scenario().network().road_count();
    bench.drag(&[(first.x, first.y), (first.x, first.y + 300.0)]);
    assert!(bench.scenario().network().road_count() > roads);
}

#[test]
fn problems_of_a_kind_are_hidden_together_and_fixed_in_one_step() {
    let mut bench = boxes_on_the_road(3);
    let before = bench.scenario().clone();
    bench.press_tab("Problems (3)");
    let header = "3 warnings: Obstacles on lanes";
    assert!(bench.harness.query_by_label(header).is_some());
    bench.press("Hide: Obstacles on lanes");
    assert!(
        bench
            .harness
            .query_by_label("warning: obstacle 1")
            .is_none()
    );
    assert_eq!(bench.scenario(), &before);
    bench.look_at(0.0, 0.0, 1000.0);
    let first = bench.editor().model().findings.1[0].place;
    bench.hover(first.x, first.y);
    let disc = "3 problems on the map";
    assert!(bench.harness.query_by_label(disc).is_none());
    bench.press("Show: Obstacles on lanes");
    bench.hover(first.x, first.y);
    assert!(bench.harness.query_by_label(disc).is_some());
    let steps = bench.undo_steps();
    bench.press("Fix all: Obstacles on lanes");
    assert_eq!(bench.undo_steps(), steps + 1);
    assert!(bench.editor().model().findings.1.is_empty());
    assert!(bench.scenario().obstacles().is_empty());
    undo_gives_back(&mut bench, &before);
    // Another document begins with everything shown.
    bench.ask(Action::View(ViewAction::ToggleProblems(
        Code::ObstacleOnRoad,
    )));
    bench.ask(Action::Go(Next::New));
    assert!(bench.editor().model().problems.hidden.is_empty());
}

#[test]
fn any_command_is_found_by_name_and_keys_can_be_changed() {
    let mut bench = Bench::crossroads();
    bench.key_with(Modifiers::COMMAND, Key::P);
    bench.type_text("tool: flow");
    bench.key(Key::Enter);
    assert_eq!(bench.editor().model().tool, ToolKind::Flow);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    bench.key_with(Modifiers::SHIFT, Key::Questionmark);
    assert!(matches!(bench.editor().model().dialog, Dialog::Keys { .. }));
    bench
        .harness
        .get_by_label("Key of Tool: Road")
        .scroll_to_me();
    bench.settle();
    bench.press("Key of Tool: Road");
    bench.key(Key::Escape);
    let dialog = &bench.editor().model().dialog;
    assert!(
        matches!(dialog, Dialog::Keys { .. }),
        "Esc leaves the key alone, not the sheet"
    );
    bench.press("Key of Tool: Road");
    bench.key(Key::X);
    bench.close_dialog();
    bench.key(Key::X);
    assert_eq!(bench.editor().model().tool, ToolKind::Road);
}

#[test]
fn streets_are_found_by_their_names() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.key_with(Modifiers::COMMAND, Key::F);
    bench.type_text("parliament");
    bench.key(Key::Enter);
    let model = bench.editor().model();
    let Some(ObjectId::Road(id)) = model.selection.first() else {
        panic!("{:?}", model.selection);
    };
    let road = model.document.scenario().network().road(*id).unwrap();
    assert_eq!(road.name, "Parliament Row");
}

#[test]
fn one_field_finds_commands_objects_and_problems() {
    let mut bench = boxes_on_the_road(2);
    bench.key_with(Modifiers::COMMAND, Key::P);
    bench.type_text("obstacle 2");
    bench.key(Key::Enter);
    let selected = |bench: &Bench| bench.editor().model().selection.clone();
    let obstacle = |id| Objects::from([ObjectId::Obstacle(ObstacleId(id))]);
    assert_eq!(selected(&bench), obstacle(2));
    // The number alone finds all kinds of objects, and the arrow keys choose one.
    bench.key_with(Modifiers::COMMAND, Key::F);
    bench.type_text("1");
    for label in ["road 1", "node 1"] {
        assert!(bench.harness.query_all_by_label_contains(label).count() > 0);
    }
    bench.key(Key::ArrowDown);
    bench.key(Key::Enter);
    assert_eq!(selected(&bench), Objects::from([ObjectId::Node(NodeId(1))]));
    // Part of the title of a problem.
    bench.look_at(-1000.0, 0.0, 100.0);
    bench.key_with(Modifiers::COMMAND, Key::P);
    bench.type_text("obstacles on");
    bench.key(Key::Enter);
    assert_eq!(selected(&bench), obstacle(1));
    let model = bench.editor().model();
    let place = model.findings.1[0].place;
    assert!((model.camera.centre - place).length() < 1.0);
    // Commands of the same rank come first.
    bench.key_with(Modifiers::COMMAND, Key::P);
    bench.type_text("tool: road");
    bench.key(Key::Enter);
    assert_eq!(bench.editor().model().tool, ToolKind::Road);
}

#[test]
fn recent_files_are_opened_from_the_menu() {
    let mut bench = Bench::empty();
    let path = bench.folder.path().join("lately.scenario.json");
    let scenario = roadwright_scenario::Scenario::new("lately");
    std::fs::write(&path, roadwright_scenario::file::to_text(&scenario)).unwrap();
    bench.set(|settings| settings.recent = vec![path.clone()]);
    bench.press("File");
    bench.press("Open recent");
    bench.press("lately.scenario.json");
    assert_eq!(bench.editor().model().document.path(), Some(path.as_path()));
}

#[test]
fn a_message_about_many_deleted_objects_undoes_them() {
    let mut bench = boxes_on_the_road(3);
    let before = bench.scenario().clone();
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.key(Key::Delete);
    assert_ne!(bench.scenario(), &before);
    bench.press("Undo");
    assert_eq!(bench.scenario(), &before);
    // The document has changed since, so that the message has nothing left to undo.
    assert!(bench.harness.query_by_label("Undo").is_none());
}

#[test]
fn the_history_is_walked_by_clicks() {
    let mut bench = Bench::crossroads();
    bench.press("History");
    let document = &bench.editor().model().document;
    let steps: Vec<String> = document
        .history()
        .undo_labels()
        .map(str::to_owned)
        .collect();
    assert_eq!(steps, ["Draw road, 240 m", "Draw road, 200 m"]);
    bench.press("1  Draw road, 240 m");
    assert_eq!(bench.scenario().network().road_count(), 1);
    bench.press("2  Draw road, 200 m");
    assert_eq!(bench.scenario().network().road_count(), 4);
    bench.press("0  Opened");
    assert_eq!(bench.scenario().network().road_count(), 0);
}

#[test]
fn the_interface_scales_and_changes_its_colours() {
    let mut bench = Bench::start();
    bench.close_dialog();
    let before = bench.harness.ctx.zoom_factor();
    bench.ask(Action::Do(roadwright_editor::command::Command::Larger));
    bench.settle();
    let larger = bench.harness.ctx.zoom_factor();
    assert!(larger > before);
    bench.ask(Action::Do(roadwright_editor::command::Command::ToggleTheme));
    assert!(bench.harness.ctx.global_style().visuals.dark_mode);
    // Both settings are stored, so the next start looks the same.
    for _ in 0..40 {
        bench.harness.step();
    }
    let mut again = Bench::open_in(bench.folder.clone(), None);
    again.settle();
    assert_eq!(again.harness.ctx.zoom_factor(), larger);
    assert!(again.harness.ctx.global_style().visuals.dark_mode);
}

#[test]
fn a_picture_is_traced_over_moved_and_scaled() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 100.0);
    let path = bench.folder.path().join("plan.png");
    image::RgbaImage::from_pixel(64, 32, image::Rgba([200, 40, 40, 255]))
        .save(&path)
        .unwrap();
    bench.ask(Action::Path(path, Purpose::Background, None));
    let background = |bench: &Bench| bench.editor().model().background.clone().unwrap();
    let (low, size) = (background(&bench).low, background(&bench).size());
    assert_eq!(bench.editor().model().tool, ToolKind::Overlay);
    bench.drag(&[(0.0, 0.0), (30.0, 10.0)]);
    let moved = background(&bench).low - low;
    assert!(
        (moved.x - 30.0).abs() < 1.0 && (moved.y - 10.0).abs() < 1.0,
        "{moved}"
    );
    bench.ask(Action::ScaleBackground(2.0));
    assert!((background(&bench).size().x - 2.0 * size.x).abs() < 1e-6);
    bench.press("Remove picture");
    assert!(bench.editor().model().background.is_none());
}

#[test]
fn the_map_pans_zooms_and_follows_a_vehicle() {
    let mut bench = Bench::crossroads();
    let before = bench.editor().model().camera;
    let at = bench.at(50.0, 20.0);
    bench.harness.hover_at(at);
    bench.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, 3.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    for _ in 0..20 {
        bench.harness.step();
    }
    let after = bench.editor().model().camera;
    assert!(after.scale < 0.9 * before.scale);
    // The point under the pointer stays in place.
    assert!((bench.at(50.0, 20.0) - at).length() < 1.0);
    bench.key(Key::Home);
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    bench.ask(Action::Speed(8.0));
    bench.key(Key::Space);
    bench.key_with(Modifiers::SHIFT, Key::F);
    assert!(bench.editor().model().follow);
    assert!(bench.play_until(60.0, |e| e.model().camera.centre.x > -60.0));
    let centre = bench.editor().model().camera.centre;
    assert!(centre.y.abs() < 5.0, "{centre}");
}

#[test]
fn a_run_can_be_stepped_and_reset_and_repeats_itself() {
    let mut bench = Bench::crossroads();
    bench.key(Key::A);
    bench.drag(&[(-110.0, -1.6), (100.0, -1.6)]);
    let run = |bench: &mut Bench| {
        bench.step_run(300);
        bench.settle();
        let live = bench.editor().model().live.clone().unwrap();
        (live.snapshot.step, live.hash)
    };
    let first = run(&mut bench);
    assert_eq!(first.0, 300);
    bench.ask(Action::Do(roadwright_editor::command::Command::Reset));
    assert_eq!(bench.live().snapshot.step, 0);
    assert_eq!(run(&mut bench), first);
}

#[test]
fn keys_do_nothing_behind_a_window_that_asks() {
    let mut bench = Bench::crossroads();
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.key_with(Modifiers::COMMAND, Key::N);
    let before = bench.scenario().clone();
    bench.harness.event(egui::Event::Cut);
    bench.key(Key::Delete);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn the_minimap_is_not_the_map() {
    let mut bench = Bench::crossroads();
    // The map shows everything, so no minimap is needed.
    assert!(bench.harness.query_by_label("minimap").is_none());
    bench.look_at(0.0, 0.0, 60.0);
    bench.settle();
    let before = bench.scenario().clone();
    let at = bench.harness.get_by_label("minimap").rect();
    let camera = bench.editor().model().camera;
    bench.harness.hover_at(at.center());
    bench.harness.step();
    bench.harness.drag_at(at.center() + egui::vec2(-40.0, 20.0));
    bench.harness.step();
    bench
        .harness
        .hover_at(at.center() + egui::vec2(40.0, -20.0));
    bench.harness.step();
    bench.harness.drop_at(at.center() + egui::vec2(40.0, -20.0));
    bench.settle();
    assert_eq!(bench.scenario(), &before);
    assert_ne!(bench.editor().model().camera.centre, camera.centre);
}

#[test]
fn distances_are_measured_and_change_nothing() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    bench.key(Key::M);
    bench.drag(&[(-50.0, 40.0), (50.0, 40.0)]);
    bench.click(-50.0, -40.0);
    bench.click(50.0, -40.0);
    bench.key(Key::Escape);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn the_keys_that_the_welcome_panel_names_work_there() {
    let mut bench = Bench::crossroads();
    bench.ask(Action::Show(Dialog::Welcome));
    assert_eq!(bench.editor().model().dialog, Dialog::Welcome);
    // Keys of the map have no effect: nothing is undone behind the dialog.
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario().network().road_count(), 4);
    assert_eq!(bench.editor().model().dialog, Dialog::Welcome);
    // New does have an effect; there are unsaved roads, so it asks first.
    bench.key_with(Modifiers::COMMAND, Key::N);
    assert!(matches!(
        bench.editor().model().dialog,
        Dialog::Unsaved(Next::New)
    ));
}

#[test]
fn the_view_menu_ticks_what_is_on() {
    let mut bench = Bench::empty();
    let ticks = |bench: &mut Bench| {
        bench.press("View");
        let toggled = ["Grid", "Snap to grid", "Minimap"].map(|name| {
            let node = bench.harness.get_by_label_contains(name);
            node.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
        });
        bench.press("View");
        toggled
    };
    let before = ticks(&mut bench);
    bench.key(Key::G);
    bench.key_with(Modifiers::SHIFT, Key::G);
    bench.key(Key::N);
    let after = ticks(&mut bench);
    assert_eq!(after, before.map(|on| !on));
}
