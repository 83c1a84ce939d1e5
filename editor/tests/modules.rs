//! Plugins and scripts in the real editor: asked about, driving, changed while they drive.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::Bench;
use egui::Key;
use egui_kittest::kittest::Queryable;
use roadwright_editor::extensions::StepRequest;
use roadwright_editor::model::{Action, Dialog, ModuleAction, Next};
use std::sync::Arc;

/// Child processes of the plugin host run this; else it is nothing.
#[test]
fn plugin_host() {
    let words = std::env::args_os().skip_while(|word| word != "probe" && word != "serve");
    let words: Vec<_> = words.collect();
    if !words.is_empty() {
        std::process::exit(roadwright_extension::helper(&words));
    }
}

/// The library of an example plugin.
fn pure_pursuit() -> std::path::PathBuf {
    let built = std::process::Command::new(env!("CARGO"))
        .args(["build", "--offline", "--locked", "-p", "pure-pursuit"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    assert!(built.status.success());
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap().parent().unwrap();
    folder.join(format!(
        "{}pure_pursuit{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ))
}

fn wait(bench: &mut Bench, what: &str, is_so: impl Fn(&roadwright_editor::Editor) -> bool) {
    for _ in 0..1000 {
        bench.harness.step();
        if is_so(bench.editor()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited for: {what}");
}

#[test]
fn a_plugin_is_asked_about_once_and_drives_then() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("town.scenario.json");
    let scenario = roadwright_editor::shipped::ALL[0].scenario();
    roadwright_scenario::file::save(&scenario, &file).unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    std::fs::copy(pure_pursuit(), folder.path().join("plugins/p.so")).unwrap();
    let id = "com.example.pure_pursuit";
    let is_there = |editor: &roadwright_editor::Editor| {
        let all = editor
            .model()
            .modules
            .registry
            .infos(roadwright_agent::ModuleKind::Controller);
        all.iter().any(|(info, _)| info.id == id)
    };
    let mut bench = Bench::open_in(folder.clone(), Some(file.clone()));
    wait(&mut bench, "the question", |editor| {
        editor.model().dialog == Dialog::AllowPlugin
    });
    assert!(!is_there(bench.editor()));
    bench.press("Let it run");
    wait(&mut bench, "the plugin", is_there);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    // It drives everybody.
    let stack = roadwright_scenario::Stack::with_controller(id);
    let names: Vec<String> = bench.scenario().stacks().keys().cloned().collect();
    for name in names {
        let edit = roadwright_scenario::Edit::Stack(name.clone(), Some(Box::new(stack.clone())));
        bench.ask(Action::Apply(name, edit));
    }
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    assert!(bench.play_until(20.0, |_| false) || bench.editor().model().is_playing());
    bench.key(Key::Space);
    wait(&mut bench, "its figures", |editor| {
        let rows = editor.model().modules.rows.clone();
        rows.iter()
            .any(|row| row.id == id && row.calls > 100 && row.faults == 0)
    });
    bench.press_tab("Modules");
    bench.harness.get_by_label("Pure pursuit");
    drop(bench);
    // The next time it is not asked about.
    let mut bench = Bench::open_in(folder, Some(file));
    wait(&mut bench, "the plugin", is_there);
    assert_ne!(bench.editor().model().dialog, Dialog::AllowPlugin);
}

#[test]
fn a_script_is_changed_in_the_editor_and_acts_on_the_next_step() {
    let mut bench = Bench::start();
    bench.close_dialog();
    let shipped = roadwright_editor::shipped::ALL.iter();
    let convoy = shipped
        .into_iter()
        .position(|s| s.name == "convoy")
        .unwrap();
    bench.ask(Action::Go(Next::Shipped(convoy)));
    bench.key(Key::Space);
    assert!(bench.play_until(8.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.snapshot.vehicles.iter().any(|v| v.speed > 3.0))
    }));
    bench.press_tab("Script");
    let stop = "fn behave(agent) { agent.stop(); agent.mark(\"stopped\"); }";
    let save = |text: &str| {
        let action = ModuleAction::SaveScript("convoy.rhai".into(), text.into());
        Action::Module(action)
    };
    bench.ask(save(stop));
    assert!(bench.play_until(12.0, |editor| {
        let live = editor.model().live.as_ref().unwrap();
        live.swaps > 0
            && !live.marks.is_empty()
            && live.snapshot.vehicles.iter().all(|v| v.speed < 0.1)
    }));
    // It was saved as a file of the user's, before what ships.
    assert!(
        bench
            .folder
            .path()
            .join("user/scripts/convoy.rhai")
            .exists()
    );
    // A mistake is shown where it is, and the last good version goes on.
    bench.ask(save("fn behave(agent) {\n    agent.stpo();\n}"));
    wait(&mut bench, "the mistake", |editor| {
        let scripts = editor.model().modules.scripts.clone();
        let script = scripts
            .iter()
            .find(|script| script.id == "convoy.rhai")
            .unwrap();
        script.error.as_ref().is_some_and(|error| error.line == 2)
    });
    let live = bench.editor().model().live.clone().unwrap();
    assert!(live.snapshot.vehicles.iter().all(|v| v.speed < 0.5));
    // What one handler does is stepped through, for an agent of the run.
    let text = "fn behave(agent) {\n    let there = agent.x;\n    agent.memory.seen = 3;\n    agent.stop();\n}";
    let request = StepRequest {
        script: "convoy.rhai".into(),
        text: text.into(),
        event: "behave".into(),
        agent: Some(live.snapshot.vehicles[0].agent),
    };
    bench.ask(Action::Module(ModuleAction::StepThrough(request)));
    let stepping = bench.editor().model().modules.stepping.clone();
    let steps = stepping.unwrap().1.unwrap();
    let lines: Vec<usize> = steps.steps.iter().map(|step| step.line).collect();
    assert_eq!(lines, [2, 3, 4]);
    let x = live.snapshot.vehicles[0].pose.position.x;
    let there: f64 = steps.steps[1].values["there"].parse().unwrap();
    assert!((there - x).abs() < 1.0, "{there} {x}");
    assert_eq!(steps.steps[2].memory["seen"], "3");
    // It has stopped before: what it wished is known, and nothing is done to it.
    assert!(
        steps.steps[0].wishes.contains("to stand"),
        "{}",
        steps.steps[0].wishes
    );
    bench.ask(Action::Module(ModuleAction::NewScript("mine".into())));
    wait(&mut bench, "the new script", |editor| {
        let scripts = editor.model().modules.scripts.clone();
        scripts
            .iter()
            .any(|script| script.id == "mine.rhai" && script.error.is_none())
    });
}
