//! Plugins and scripts in the editor, including permission, driving, and changes during a run.

use crate::common::Bench;
use egui::Key;
use egui_kittest::kittest::Queryable;
use roadwright_editor::extensions::StepRequest;
use roadwright_editor::model::{Action, Dialog, ModuleAction, Next};
use roadwright_testing::plugin_library;
use std::path::PathBuf;
use std::sync::Arc;

/// Entry point of the child processes of the plugin host. In a normal test run it does nothing.
#[test]
fn plugin_host() {
    let words = std::env::args_os().skip_while(|word| word != "probe" && word != "serve");
    let words: Vec<_> = words.collect();
    if !words.is_empty() {
        std::process::exit(roadwright_extension::helper(&words));
    }
}

fn wait(bench: &mut Bench, what: &str, is_so: impl Fn(&roadwright_editor::Editor) -> bool) {
    for _ in 0..1000 {
        bench.harness.step();
        if is_so(bench.editor()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("timed out: {what}");
}

#[test]
fn a_plugin_is_asked_about_once_and_drives_then() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("town.scenario.json");
    let scenario = roadwright_editor::shipped::ALL[0].scenario();
    roadwright_scenario::file::save(&scenario, &file).unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    std::fs::copy(
        plugin_library("pure_pursuit"),
        folder.path().join("plugins/p.so"),
    )
    .unwrap();
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
    bench.press("Allow");
    wait(&mut bench, "the plugin", is_there);
    assert_eq!(bench.editor().model().dialog, Dialog::None);
    // The module drives all agents.
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
    // The user is not asked again the next time.
    let mut bench = Bench::open_in(folder, Some(file));
    wait(&mut bench, "the plugin", is_there);
    assert_ne!(bench.editor().model().dialog, Dialog::AllowPlugin);
}

#[test]
fn a_table_among_the_parameters_is_a_grid() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("town.scenario.json");
    let scenario = roadwright_editor::shipped::ALL[0].scenario();
    roadwright_scenario::file::save(&scenario, &file).unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    let plugins = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let built = std::process::Command::new("cc")
        .args(["-std=c11", "-O2", "-shared", "-fPIC", "-I"])
        .arg(plugins.join("api/include"))
        .arg(plugins.join("neural_driver/neural_driver.c"))
        .arg("-o")
        .arg(folder.path().join("plugins/p.so"))
        .arg("-lm")
        .status();
    assert!(built.unwrap().success());
    let id = "com.example.neural_driver";
    let mut bench = Bench::open_in(folder, Some(file));
    wait(&mut bench, "the question", |editor| {
        editor.model().dialog == Dialog::AllowPlugin
    });
    bench.press("Allow");
    wait(&mut bench, "the plugin", |editor| {
        let registry = &editor.model().modules.registry;
        let all = registry.infos(roadwright_agent::ModuleKind::Controller);
        all.iter().any(|(info, _)| info.id == id)
    });
    let name = bench.scenario().stacks().keys().next().unwrap().clone();
    let stack = roadwright_scenario::Stack::with_controller(id);
    let edit = roadwright_scenario::Edit::Stack(name.clone(), Some(Box::new(stack)));
    bench.ask(Action::Apply(name.clone(), edit));
    let before = bench.scenario().clone();
    bench.press("Scenario");
    bench.press(&name);
    for label in [
        "3 parameters",
        "hidden: 12 rows of 23",
        "output: 2 rows of 12",
        "steering",
    ] {
        assert!(
            bench.harness.query_all_by_label(label).count() > 0,
            "{label}"
        );
    }
    // Folded, so that the second table is in view.
    bench.press("hidden: 12 rows of 23");
    let field = bench.field(&format!("output[0][1] of {name}")).center();
    bench.drag_right(field, 20.0);
    // The whole table is written, because a stack has all rows of a table or none.
    let values = &bench.scenario().stacks()[&name].controller.parameters;
    assert_eq!(values.len(), 24, "{values:?}");
    assert!(
        values["output[0][1]"] > -1.0 && values["output[0][0]"] == 1.0,
        "{values:?}"
    );
    bench.key_with(egui::Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before, "one drag is one step");
}

#[test]
fn builds_of_a_folder_are_allowed_once_and_asked_about_again() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("town.scenario.json");
    let scenario = roadwright_editor::shipped::ALL[0].scenario();
    roadwright_scenario::file::save(&scenario, &file).unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    let library = folder.path().join("plugins/p.so");
    std::fs::copy(plugin_library("pure_pursuit"), &library).unwrap();
    // Bytes appended to a library change its hash and nothing else.
    let rebuild = || {
        let mut bytes = std::fs::read(&library).unwrap();
        bytes.push(0);
        roadwright_files::write(&library, &bytes).unwrap();
    };
    let asks = |editor: &roadwright_editor::Editor| editor.model().dialog == Dialog::AllowPlugin;
    let mut bench = Bench::open_in(folder.clone(), Some(file.clone()));
    wait(&mut bench, "the question", asks);
    bench.press("Always allow builds from this folder");
    let trusted = bench.editor().model().settings.trusted_folders.clone();
    assert_eq!(trusted.len(), 1);
    let runs = |editor: &roadwright_editor::Editor| {
        let modules = &editor.model().modules;
        let mut rows = modules.rows.iter();
        modules.unallowed.is_empty() && rows.any(|row| row.id == "com.example.pure_pursuit")
    };
    wait(&mut bench, "the plugin", runs);
    // The next build runs without confirmation, in this session and in the next one.
    rebuild();
    for _ in 0..200 {
        bench.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(10));
        assert!(!asks(bench.editor()));
    }
    drop(bench);
    let mut bench = Bench::open_in(folder.clone(), Some(file.clone()));
    wait(&mut bench, "the plugin", runs);
    assert!(!asks(bench.editor()));
    // After revoking, the user is asked about the next build.
    bench.press_tab("Modules");
    bench.press("Ask again");
    assert!(bench.editor().model().settings.trusted_folders.is_empty());
    rebuild();
    wait(&mut bench, "the question", asks);
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
    let text_of = |bench: &Bench| {
        let scripts = bench.editor().model().modules.scripts.clone();
        let script = scripts.iter().find(|script| script.id == "convoy.rhai");
        script.unwrap().text.clone()
    };
    let save = |bench: &mut Bench, text: &str, anyway: bool| {
        let base = text_of(bench);
        bench.ask(Action::Module(ModuleAction::SaveScript {
            id: "convoy.rhai".into(),
            text: text.into(),
            base,
            anyway,
        }));
    };
    save(&mut bench, stop, false);
    assert!(bench.play_until(12.0, |editor| {
        let live = editor.model().live.as_ref().unwrap();
        live.swaps > 0
            && !live.marks.is_empty()
            && live.snapshot.vehicles.iter().all(|v| v.speed < 0.1)
    }));
    // The script was saved as a file of the user, which takes precedence over the shipped one.
    assert!(
        bench
            .folder
            .path()
            .join("user/scripts/convoy.rhai")
            .exists()
    );
    // A script with an error is only written on request.
    let wrong = "fn behave(agent) {\n    agent.stpo();\n}";
    wait(&mut bench, "the new text", |editor| {
        let scripts = editor.model().modules.scripts.clone();
        scripts
            .iter()
            .any(|script| script.id == "convoy.rhai" && script.text == stop)
    });
    save(&mut bench, wrong, false);
    let checked = bench.editor().model().modules.checked.clone().unwrap();
    assert_eq!(checked.2.unwrap().line, 2);
    let place = bench.folder.path().join("user/scripts/convoy.rhai");
    assert_eq!(std::fs::read_to_string(&place).unwrap(), stop);
    // An error is shown at its line, and the last good version continues.
    save(&mut bench, wrong, true);
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
    // Steps through one handler for an agent of the run.
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
    // The agent stopped earlier, so its request to stand is already listed; stepping does not
    // change it.
    assert!(
        steps.steps[0].wishes.contains("to stop"),
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

#[test]
fn a_script_that_another_program_has_changed_is_not_written_over() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let scripts = folder.path().join("user/scripts");
    std::fs::create_dir_all(&scripts).unwrap();
    let place = scripts.join("mine.rhai");
    let text =
        |speed: f64| format!("fn behave(agent) {{\n    agent.desired_speed = {speed:?};\n}}\n");
    std::fs::write(&place, text(1.0)).unwrap();
    let mut bench = Bench::open_in(folder, None);
    bench.close_dialog();
    let has = |wanted: String| {
        move |editor: &roadwright_editor::Editor| {
            let scripts = editor.model().modules.scripts.clone();
            scripts
                .iter()
                .any(|script| script.id == "mine.rhai" && script.text == wanted)
        }
    };
    wait(&mut bench, "the script", has(text(1.0)));
    // Another program writes the file, and a moment later the editor tries to do so.
    std::fs::write(&place, text(2.0)).unwrap();
    let save = |base: String| {
        Action::Module(ModuleAction::SaveScript {
            id: "mine.rhai".into(),
            text: text(3.0),
            base,
            anyway: true,
        })
    };
    bench.ask(save(text(1.0)));
    assert_eq!(std::fs::read_to_string(&place).unwrap(), text(2.0));
    wait(&mut bench, "the other's text", has(text(2.0)));
    // Once the change is known, writing is allowed.
    bench.ask(save(text(2.0)));
    assert_eq!(std::fs::read_to_string(&place).unwrap(), text(3.0));
}

/// Opens the Script panel with a script of the user's own. Returns the path of its file.
fn with_own_script() -> (Bench, PathBuf) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let scripts = folder.path().join("user/scripts");
    std::fs::create_dir_all(&scripts).unwrap();
    let place = scripts.join("aa.rhai");
    std::fs::write(&place, "fn behave(agent) {}\n").unwrap();
    let mut bench = Bench::open_in(folder, None);
    bench.close_dialog();
    bench.press_tab("Script");
    (bench, place)
}

#[test]
fn a_draft_asks_whether_to_reload_or_to_keep() {
    let (mut bench, place) = with_own_script();
    // The first script is shown, because the scenario uses none.
    assert!(bench.harness.query_by_label("Script: aa.rhai").is_some());
    let field = "Text of the script";
    bench.harness.get_by_label(field).focus();
    bench.harness.step();
    bench.key_with(egui::Modifiers::COMMAND, Key::Home);
    bench.type_text("// mine\n");
    assert!(bench.harness.query_by_label("Keep mine").is_none());
    std::fs::write(&place, "fn behave(agent) { agent.stop(); }\n").unwrap();
    wait_for_label(&mut bench, "Keep mine");
    bench.press("Keep mine");
    assert!(bench.harness.query_by_label("Keep mine").is_none());
    bench.press("Save and apply");
    let written = std::fs::read_to_string(&place).unwrap();
    assert!(
        written.contains("// mine") && !written.contains("stop"),
        "{written}"
    );
}

#[test]
fn the_panel_says_when_a_reloaded_script_was_applied() {
    let (mut bench, place) = with_own_script();
    bench.step_run(100);
    assert_eq!(bench.editor().model().modules.applied.len(), 0);
    std::fs::write(&place, "fn behave(agent) { agent.stop(); }\n").unwrap();
    let time = bench.editor().model().live.clone().unwrap().snapshot.time;
    wait_for_label(
        &mut bench,
        &format!("Last reload: version 2, applied at 00:{time:04.1}."),
    );
}

fn wait_for_label(bench: &mut Bench, label: &str) {
    for _ in 0..1000 {
        bench.harness.step();
        if bench.harness.query_by_label(label).is_some() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited for: {label}");
}

#[test]
fn the_script_of_another_scenario_is_shown_with_it() {
    let all = &roadwright_editor::shipped::ALL;
    let index = |name: &str| all.iter().position(|s| s.name == name).unwrap();
    let mut bench = Bench::empty();
    bench.press_tab("Script");
    let shows = |bench: &Bench, id: &str| {
        let label = format!("Script: {id}");
        bench.harness.query_by_label(&label).is_some()
    };
    // The scenario uses no scripts, so the first one is shown.
    assert!(shows(&bench, "ambulance.rhai"));
    bench.ask(Action::Leave(Next::Shipped(index("convoy"))));
    bench.press_tab("Script");
    assert!(shows(&bench, "convoy.rhai"));
    bench.ask(Action::Leave(Next::Shipped(index("chase"))));
    bench.press_tab("Script");
    assert!(shows(&bench, "evader.rhai") || shows(&bench, "pursuer.rhai"));
    // A scenario without scripts leaves the shown one in view.
    bench.ask(Action::Leave(Next::Shipped(index("crossroads"))));
    bench.press_tab("Script");
    assert!(!shows(&bench, "ambulance.rhai"));
}
