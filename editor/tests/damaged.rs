//! Files that cannot be opened. Their error is shown, and their readable parts are recovered.

use crate::common::Bench;
use egui::Key;
use egui_kittest::kittest::Queryable;
use roadwright_editor::model::{Action, Dialog, Next};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn shipped() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    std::fs::read_to_string(path).unwrap()
}

fn written(text: &str) -> (Arc<tempfile::TempDir>, PathBuf) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let path = folder.path().join("town.scenario.json");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn a_file_that_is_cut_off_is_told_at_the_start_and_saved_as_far_as_it_goes() {
    let text = shipped();
    let cut = text.find("\"flows\"").unwrap() + 40;
    let (folder, path) = written(&text[..cut]);
    let mut bench = Bench::open_in(folder, Some(path.clone()));
    assert_eq!(bench.editor().model().dialog, Dialog::Damaged);
    // No other scenario is shown in its place.
    assert_eq!(bench.scenario().network().road_count(), 0);
    bench
        .harness
        .get_by_label("town.scenario.json cannot be opened");
    let lines = text[..cut].lines().count();
    let damaged = bench.editor().model().damaged.clone().unwrap();
    assert_eq!(damaged.line, lines);
    assert!(damaged.lines.iter().any(|(number, _)| *number == lines));
    bench.press("Open what can be read");
    assert_eq!(bench.scenario().network().road_count(), 4);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    // The recovered document has no file, so nothing overwrites the damaged one, and leaving asks
    // for confirmation.
    assert_eq!(bench.editor().model().document.path(), None);
    assert!(bench.editor().model().document.is_dirty());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text[..cut]);
}

#[test]
fn a_wrong_value_is_told_with_its_line_when_a_file_is_opened() {
    let text = shipped().replacen("\"speed_limit\":", "\"sped_limit\":", 1);
    let (folder, path) = written(&text);
    let mut bench = Bench::open_in(folder, None);
    bench.ask(Action::Go(Next::Open(path)));
    assert_eq!(bench.editor().model().dialog, Dialog::Damaged);
    let damaged = bench.editor().model().damaged.clone().unwrap();
    assert!(
        damaged.message.contains("sped_limit"),
        "{}",
        damaged.message
    );
    let saved = damaged.saved.as_ref().unwrap();
    assert!(saved.left_out.iter().any(|said| said.starts_with("line ")));
    // The open document stays open.
    let roads = bench.scenario().network().road_count();
    bench.key(Key::Escape);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    assert_eq!(bench.scenario().network().road_count(), roads);
    assert!(roads > 4);
}

#[test]
fn what_holds_nothing_says_so() {
    for text in [
        "",
        "hello",
        "{\"format\": \"roadwright-scenario\", \"version\": 99}",
    ] {
        let (folder, path) = written(text);
        let bench = Bench::open_in(folder, Some(path));
        assert_eq!(bench.editor().model().dialog, Dialog::Damaged, "{text}");
        assert!(
            bench
                .harness
                .query_by_label("Open what can be read")
                .is_none()
        );
        bench
            .harness
            .get_by_label("No part of the file can be read.");
    }
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let gone = folder.path().join("gone.scenario.json");
    let bench = Bench::open_in(folder, Some(gone));
    assert_eq!(bench.editor().model().dialog, Dialog::Damaged);
}
