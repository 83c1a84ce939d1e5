//! Opening, saving, importing and sharing files.

use super::*;

#[test]
fn saved_files_open_again_and_changes_by_others_are_noticed() {
    let mut bench = Bench::crossroads();
    let path = bench.folder.path().join("mine.scenario.json");
    bench.key_with(Modifiers::COMMAND, Key::S);
    assert!(matches!(
        bench.editor().model().dialog,
        Dialog::Path {
            purpose: Purpose::Save,
            ..
        }
    ));
    bench.ask(Action::Path(path.clone(), Purpose::Save, None));
    assert!(!bench.editor().model().document.is_dirty());
    // The scenario had no name; a name set by the user stays.
    assert_eq!(bench.scenario().about().name, "mine");
    let saved = bench.scenario().clone();
    let again = Bench::open(&path);
    assert_eq!(again.scenario(), &saved);
    bench.key(Key::R);
    bench.drag(&[(-100.0, 60.0), (-20.0, 60.0)]);
    assert!(bench.editor().model().document.is_dirty());
    // Unsaved changes ask for confirmation.
    bench.key_with(Modifiers::COMMAND, Key::N);
    assert!(matches!(
        bench.editor().model().dialog,
        Dialog::Unsaved(Next::New)
    ));
    bench.press("Cancel");
    assert_eq!(bench.scenario().network().road_count(), 5);
    // Another program writes the file.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\"mine\"", "\"Theirs\"");
    std::fs::write(&path, text).unwrap();
    for _ in 0..200 {
        bench.harness.step();
    }
    assert!(bench.editor().model().changed_on_disk);
    // Unsaved edits ask for confirmation here too.
    bench.press("Reload");
    bench.press("Don't save");
    assert_eq!(bench.scenario().about().name, "Theirs");
    assert!(!bench.editor().model().changed_on_disk);
}

#[test]
fn edits_survive_a_crash() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let lost = {
        let mut bench = Bench::open_in(folder.clone(), None);
        bench.ask(Action::Go(Next::New));
        bench.look_at(0.0, 0.0, 150.0);
        bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
        // The edit is autosaved after ten seconds at the latest.
        for _ in 0..(10.0 / 0.05) as usize {
            bench.harness.step();
        }
        bench.settle();
        std::thread::sleep(std::time::Duration::from_millis(300));
        bench.scenario().clone()
        // The editor ends here without shutting down.
    };
    let mut bench = Bench::open_in(folder, None);
    assert_eq!(bench.editor().model().recoveries.len(), 1);
    bench.press("Recover Untitled");
    assert_eq!(bench.scenario(), &lost);
    assert!(bench.editor().model().document.is_dirty());
}

#[test]
fn map_extracts_are_imported_beside_the_frame() {
    let mut bench = Bench::start();
    let path = bench.folder.path().join("small.osm");
    let osm = r#"<osm version="0.6" generator="CGImap"><node id="1" lat="53.0" lon="-6.0"/><node id="2" lat="53.001" lon="-6.0"/>
        <node id="3" lat="53.001" lon="-6.002"/><way id="7"><nd ref="1"/><nd ref="2"/><nd ref="3"/>
        <tag k="highway" v="residential"/><tag k="name" v="Small Street"/></way>
        <way id="8"><nd ref="3"/><nd ref="99"/><tag k="highway" v="residential"/></way></osm>"#;
    std::fs::write(&path, osm).unwrap();
    bench.ask(Action::Path(path, Purpose::Import, None));
    assert!(bench.scenario().network().road_count() >= 1);
    // The report lists the omissions, and a click shows their place.
    bench.harness.get_by_label("Left out or changed: 1");
    bench.press("way 8");
    let centre = bench.editor().model().camera.centre;
    let at_end = |node: &Node| (node.position() - centre).length() < 1.0;
    let mut nodes = bench.scenario().network().nodes();
    assert!(nodes.any(|(_, node)| at_end(node)));
    drop(nodes);
    assert!(
        bench
            .scenario()
            .about()
            .attribution
            .contains("OpenStreetMap")
    );
    let picture = bench.folder.path().join("map.png");
    bench.ask(Action::Path(picture.clone(), Purpose::Picture, None));
    assert!(image::open(&picture).unwrap().width() > 500);
    // For another scenario, the report shows only a note.
    bench.ask(Action::Go(Next::New));
    assert!(
        bench
            .harness
            .query_by_label_contains("Another scenario is open now")
            .is_some()
    );
}

#[test]
fn a_bad_file_says_what_is_wrong_and_nothing_is_lost() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    let path = bench.folder.path().join("bad.scenario.json");
    std::fs::write(&path, "{ \"format\": 3").unwrap();
    bench.ask(Action::Go(Next::Open(path)));
    assert_eq!(bench.scenario(), &before);
    bench.ask(Action::Go(Next::Open("/no/such/file".into())));
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn edits_made_while_a_file_loads_are_asked_about() {
    let mut bench = Bench::crossroads();
    let path = bench.folder.path().join("other.scenario.json");
    roadwright_scenario::file::save(&roadwright_scenario::Scenario::new("other"), &path).unwrap();
    bench.ask(Action::Path(
        bench.folder.path().join("mine"),
        Purpose::Save,
        None,
    ));
    assert!(bench.folder.path().join("mine.scenario.json").exists());
    // The file is requested, and a road is drawn before it is loaded.
    bench.harness.state_mut().ask(Action::Go(Next::Open(path)));
    let edit = roadwright_scenario::Edit::Node(
        roadwright_scenario::NodeId(99),
        Some(roadwright_scenario::Node::at(
            roadwright_geometry::DVec2::new(9.0, 9.0),
        )),
    );
    bench.ask(Action::Apply("Add node".into(), edit));
    assert_eq!(bench.editor().model().dialog, Dialog::Unsaved(Next::Loaded));
    assert_eq!(bench.scenario().network().node_count(), 6);
    bench.press("Don't save");
    assert_eq!(bench.scenario().about().name, "other");
}

#[test]
fn undoing_to_what_was_saved_is_clean() {
    let mut bench = Bench::crossroads();
    bench.ask(Action::Path(
        bench.folder.path().join("mine"),
        Purpose::Save,
        None,
    ));
    bench.drag(&[(-100.0, 60.0), (-20.0, 60.0)]);
    assert!(bench.editor().model().document.is_dirty());
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert!(!bench.editor().model().document.is_dirty());
}

#[test]
fn a_scenario_is_shared_and_opened_from_one_file() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut bench = Bench::open_in(folder.clone(), None);
    bench.close_dialog();
    let shipped = roadwright_editor::shipped::ALL.iter();
    let chase = shipped.into_iter().position(|s| s.name == "chase").unwrap();
    bench.ask(Action::Go(Next::Shipped(chase)));
    let scenario = bench.scenario().clone();
    let file = folder.path().join("chase.rwz");
    bench.press("File");
    bench.press("Share… Ctrl+Shift+E");
    assert!(matches!(bench.editor().model().dialog, Dialog::Path { .. }));
    bench.ask(Action::Path(
        folder.path().join("chase"),
        Purpose::Share,
        None,
    ));
    assert!(file.is_file());
    // Dropped into the window of another user it is shown, and nothing is written.
    bench.ask(Action::Go(Next::New));
    let dropped = Arc::new(Dropped(file));
    bench.harness.input_mut().dropped_files.push(dropped);
    bench.harness.step();
    bench.settle();
    assert!(matches!(
        bench.editor().model().dialog,
        Dialog::Bundle { .. }
    ));
    assert!(!folder.path().join("chase").exists());
    assert!(
        bench
            .harness
            .query_by_label("scripts/evader.rhai")
            .is_some()
    );
    bench.press("Unpack and open");
    bench.settle();
    assert_eq!(bench.scenario(), &scenario);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    assert!(folder.path().join("chase/scripts/evader.rhai").is_file());
    assert!(
        bench.editor().model().live.is_none(),
        "nothing runs before play is pressed"
    );
}

/// A file dropped on the window.
#[derive(Debug)]
struct Dropped(std::path::PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &std::path::Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

#[test]
fn a_file_that_is_no_bundle_is_refused_and_the_document_stays() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut bench = Bench::open_in(folder.clone(), None);
    bench.close_dialog();
    let before = bench.scenario().clone();
    let file = folder.path().join("evil.rwz");
    std::fs::write(&file, b"PK\x03\x04 no archive").unwrap();
    bench.ask(Action::Path(file, Purpose::Open, None));
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_file_is_found_in_its_folder_without_a_dialog_of_the_desktop() {
    let folder = tempfile::tempdir().unwrap();
    let towns = folder.path().join("towns");
    std::fs::create_dir(&towns).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "").unwrap();
    let mut bench = Bench::crossroads();
    bench.ask(Action::Path(towns.join("cross"), Purpose::Save, None));
    bench.ask(Action::Leave(Next::New));
    bench.key_with(Modifiers::COMMAND, Key::O);
    // The folder is typed, completed with Tab, then clicked.
    let typed = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    bench.type_text(&typed);
    assert!(bench.harness.query_by_label("towns/").is_some());
    assert!(
        bench.harness.query_by_label("notes.txt").is_none(),
        "it does not fit"
    );
    bench.type_text("to");
    bench.key(Key::Tab);
    bench.press("cross.scenario.json");
    bench.press("Open");
    assert_eq!(bench.scenario().network().road_count(), 4);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    // The next time, the path is among the recent files.
    bench.ask(Action::Leave(Next::New));
    bench.key_with(Modifiers::COMMAND, Key::O);
    bench.press("cross.scenario.json   recent");
    assert_eq!(bench.scenario().network().road_count(), 4);
    // A missing folder is reported, and an existing folder is entered rather than opened.
    bench.key_with(Modifiers::COMMAND, Key::O);
    bench.type_text(&format!("{typed}nowhere/"));
    assert!(
        bench
            .harness
            .query_by_label_contains("cannot be read")
            .is_some()
    );
    bench.close_dialog();
    bench.key_with(Modifiers::COMMAND, Key::O);
    bench.type_text(&folder.path().join("towns").display().to_string());
    bench.press("Open");
    assert!(
        bench
            .harness
            .query_by_label("cross.scenario.json")
            .is_some()
    );
}

#[test]
fn a_typed_path_replaces_the_suggested_name_and_its_folder_has_to_exist() {
    let mut bench = Bench::crossroads();
    let path = bench.folder.path().join("mine.scenario.json");
    let name = bench.scenario().about().name.clone();
    bench.key_with(Modifiers::COMMAND, Key::S);
    let typed = |bench: &mut Bench, path: &std::path::Path| {
        bench.type_text(&path.display().to_string());
        bench.key(Key::Enter);
    };
    let missing = bench.folder.path().join("none").join("mine.scenario.json");
    typed(&mut bench, &missing);
    assert!(matches!(bench.editor().model().dialog, Dialog::Path { .. }));
    bench.harness.get_by_label("This folder does not exist.");
    assert_eq!(bench.scenario().about().name, name);
    bench.key_with(Modifiers::COMMAND, Key::A);
    typed(&mut bench, &path);
    assert!(path.is_file());
    assert!(!bench.editor().model().document.is_dirty());
}
