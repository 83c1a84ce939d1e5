//! Checks that an idle window requests no frames and that external changes wake it up.

use crate::common::Bench;
use egui::ViewportId;
use roadwright_editor::command::Command;
use roadwright_editor::model::Action;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Returns the time until the window requests its next frame.
fn next_frame(bench: &Bench) -> Duration {
    bench.harness.output().viewport_output[&ViewportId::ROOT].repaint_delay
}

/// Draws only requested frames until `holds` returns true, or for at most `seconds`. Returns whether `holds`
/// returned true.
fn draws_until(bench: &mut Bench, seconds: u32, holds: impl Fn(&Bench) -> bool) -> bool {
    for _ in 0..20 * seconds {
        let is_asked = bench.harness.ctx.has_requested_repaint();
        if is_asked || next_frame(bench) <= Duration::from_secs(1) {
            bench.harness.step();
        }
        if holds(bench) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// Draws frames until none has been requested for two seconds. Returns whether that happened.
fn falls_asleep(bench: &mut Bench) -> bool {
    let asleep = std::cell::Cell::new(0);
    draws_until(bench, 20, |bench| {
        let is_awake =
            next_frame(bench) < Duration::MAX || bench.harness.ctx.has_requested_repaint();
        asleep.set(if is_awake { 0 } else { asleep.get() + 1 });
        asleep.get() > 40
    })
}

/// Returns the path of a shipped scenario.
fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// Opens the editor on a copy of a shipped scenario with a folder of scripts beside it.
fn on_a_file() -> (Bench, PathBuf) {
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("town.scenario.json");
    std::fs::copy(shipped("scenarios/crossroads.scenario.json"), &file).unwrap();
    std::fs::create_dir(folder.path().join("scripts")).unwrap();
    (Bench::open_in(folder, Some(file.clone())), file)
}

#[test]
fn a_window_with_nothing_to_do_asks_for_no_frame() {
    let (mut bench, _) = on_a_file();
    bench.close_dialog();
    assert!(falls_asleep(&mut bench));
    // A paused run requests no frames either; a playing one does.
    bench.step_run(3);
    assert!(falls_asleep(&mut bench));
    bench.ask(Action::Do(Command::PlayPause));
    assert!(!falls_asleep(&mut bench), "it plays");
}

#[test]
fn a_file_that_another_program_writes_wakes_the_window() {
    let (mut bench, file) = on_a_file();
    bench.close_dialog();
    assert!(falls_asleep(&mut bench));
    let text = std::fs::read(&file).unwrap();
    std::fs::write(&file, text).unwrap();
    let is_told = |bench: &Bench| bench.editor().model().changed_on_disk;
    assert!(draws_until(&mut bench, 20, is_told));
    assert!(falls_asleep(&mut bench));
}

#[test]
fn a_script_that_comes_to_the_folder_wakes_the_window() {
    let (mut bench, file) = on_a_file();
    bench.close_dialog();
    assert!(falls_asleep(&mut bench));
    let script = file.with_file_name("scripts").join("new_one.rhai");
    std::fs::copy(shipped("scripts/commuter.rhai"), script).unwrap();
    let is_listed = |bench: &Bench| {
        let scripts = &bench.editor().model().modules.scripts;
        let mut paths = scripts.iter().filter_map(|script| script.path.as_deref());
        paths.any(|path| path.ends_with("new_one.rhai"))
    };
    assert!(draws_until(&mut bench, 20, is_listed));
    assert!(falls_asleep(&mut bench));
}

#[test]
fn an_edit_keeps_the_window_awake_until_it_is_written() {
    let (mut bench, _) = on_a_file();
    bench.close_dialog();
    assert!(falls_asleep(&mut bench));
    let autosave = bench.folder.path().join("autosave");
    let is_kept = |_: &Bench| {
        let mut files = std::fs::read_dir(&autosave).unwrap();
        files.any(|file| {
            let name = file.unwrap().file_name();
            name.to_string_lossy().ends_with(".scenario.json")
        })
    };
    assert!(!is_kept(&bench));
    bench.ask(Action::Do(Command::SelectAll));
    bench.ask(Action::Do(Command::Delete));
    assert!(draws_until(&mut bench, 20, is_kept));
    assert!(falls_asleep(&mut bench));
}

#[test]
fn a_file_that_the_program_was_started_with_is_a_recent_one() {
    let (bench, file) = on_a_file();
    assert_eq!(bench.editor().model().settings.recent, [file]);
}
