//! Experiments in the editor: setup, training, watching individuals, and applying champions.

use crate::common::{Bench, SMALL_EXPERIMENT as SMALL, open_experiment};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::experiment::{
    ExperimentAction, ExperimentFile, Fate, Phase, Shown, TrainingPicture,
};
use roadwright_editor::model::{Action, Dialog, Next, Purpose};
use roadwright_editor::panel::PanelId;
use roadwright_scenario::{ObjectId, file};
use roadwright_simulation::builtin_modules;
use roadwright_training::End;
use roadwright_training::genetic::experiment::{Experiment, NameOr};
use roadwright_training::genetic::{Halving, Method, Problem, Record, Training};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

fn ask(bench: &mut Bench, action: ExperimentAction) {
    bench.ask(Action::Experiment(action));
}

fn give_path(bench: &mut Bench, path: &Path, file: ExperimentFile) {
    let purpose = Purpose::Experiment(file);
    bench.ask(Action::Path(path.to_owned(), purpose, None));
}

/// Starts the editor and opens the experiment contained in a text.
fn opened(text: &str) -> (Bench, PathBuf) {
    let mut bench = Bench::start();
    bench.close_dialog();
    let path = open_experiment(&mut bench, text);
    (bench, path)
}

fn draft(bench: &Bench) -> Experiment {
    let draft = bench.editor().model().experiment.draft.as_ref();
    draft.unwrap().experiment.clone()
}

/// Returns the error that prevents the draft from being trained.
fn fault(bench: &Bench) -> Option<(&'static str, String)> {
    let model = &bench.editor().model().experiment;
    let fault = model.checked.as_ref().unwrap().fault.clone();
    fault.map(|fault| (fault.key, fault.message))
}

fn picture(bench: &Bench) -> Arc<TrainingPicture> {
    let training = bench.editor().model().experiment.training.clone();
    training.expect("training was started")
}

fn wait_until(bench: &mut Bench, what: &str, done: impl Fn(&TrainingPicture) -> bool) {
    for _ in 0..6_000 {
        bench.harness.step();
        if done(&picture(bench)) {
            bench.settle();
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{what}: {:?}", picture(bench).phase);
}

fn train(bench: &mut Bench) {
    bench.press("Train");
    wait_until(bench, "over", |picture| !picture.phase.is_busy());
}

/// Trains without a window. Returns the hash of the pool and the champion.
fn trained_in_library(text: &str) -> (String, Vec<f64>) {
    let experiment = Experiment::from_text(text).unwrap();
    let problem = Problem::new(&experiment, None, &builtin_modules()).unwrap();
    let mut training = Training::new(&experiment, problem.genome(), &problem).unwrap();
    while !training.is_over() {
        training.step();
    }
    let champion = training.champion().unwrap();
    (training.pool_hash(), champion.genes)
}

#[test]
fn an_experiment_trains_in_the_window_as_it_does_anywhere() {
    let (mut bench, _) = opened(SMALL);
    assert_eq!(fault(&bench), None);
    train(&mut bench);
    let picture = picture(&bench);
    assert_eq!(picture.phase, Phase::Over);
    assert_eq!(picture.generations.len(), 3);
    let (hash, champion) = trained_in_library(SMALL);
    assert_eq!(picture.pool_hash, hash);
    let verdict = picture.verdict.clone().unwrap();
    assert_eq!(verdict.champion.genes, champion);
    assert!(verdict.held_out.fitness.interval.is_some());
    // The displayed state.
    bench.harness.get_by_label("Finished after 3 generations");
    bench.harness.get_by_label(&format!("Pool {hash}"));
}

#[test]
fn a_training_is_paused_stopped_and_goes_on_to_the_same_pool() {
    let text = SMALL.replace("\"generations\": 3", "\"generations\": 20");
    let (mut bench, _) = opened(&text);
    bench.press("Train");
    wait_until(&mut bench, "a generation", |picture| {
        !picture.generations.is_empty()
    });
    bench.press("Pause");
    let done = |bench: &Bench| bench.editor().model().experiment.progress.done;
    // Runs in progress end, and no others start.
    std::thread::sleep(Duration::from_millis(500));
    bench.settle();
    let before = (done(&bench), picture(&bench).generations.len());
    std::thread::sleep(Duration::from_millis(500));
    bench.settle();
    assert_eq!((done(&bench), picture(&bench).generations.len()), before);
    assert!(before.1 < 20, "training finished before it was paused");
    bench.press("Stop");
    wait_until(&mut bench, "stopped", |picture| {
        picture.phase == Phase::Stopped
    });
    assert!(picture(&bench).verdict.is_none());
    bench.press("Continue");
    wait_until(&mut bench, "over", |picture| picture.phase == Phase::Over);
    assert_eq!(picture(&bench).pool_hash, trained_in_library(&text).0);
}

#[test]
fn a_stopped_training_chooses_its_champion_among_those_it_has() {
    let text = SMALL.replace("\"generations\": 3", "\"generations\": 500");
    let (mut bench, _) = opened(&text);
    bench.press("Train");
    wait_until(&mut bench, "a generation", |picture| {
        !picture.generations.is_empty()
    });
    bench.press("Stop");
    wait_until(&mut bench, "stopped", |picture| {
        picture.phase == Phase::Stopped
    });
    bench.press("Test now");
    wait_until(&mut bench, "over", |picture| picture.phase == Phase::Over);
    assert!(picture(&bench).verdict.is_some());
    // The command line can read the record.
    let path = bench.folder.path().join("small.training.json");
    give_path(&mut bench, &path, ExperimentFile::Record);
    let record = Record::from_text(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(record.champion.is_some());
    assert_eq!(record.generations.len(), picture(&bench).generations.len());
}

#[test]
fn a_new_experiment_is_set_up_by_ticks_and_saved_as_a_file_that_is_one() {
    let mut bench = Bench::open(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/obstacle-field.scenario.json"),
    );
    bench.close_dialog();
    bench.ask(Action::ShowPanel(PanelId::Experiment));
    bench.press("New experiment for this scenario");
    assert_eq!(fault(&bench), None);
    let NameOr::Name(stack) = draft(&bench).stack else {
        panic!("a stack of the scenario");
    };
    assert!(bench.scenario().stacks().contains_key(&stack));
    assert_eq!(draft(&bench).genes, ["fuzzy_driver.rule_*"]);
    // Without a gene there is nothing to train, which is reported.
    bench.press("All of fuzzy_driver rules");
    let (key, message) = fault(&bench).unwrap();
    assert_eq!(key, "genes");
    bench.harness.get_by_label(&message);
    bench.press("All of fuzzy_driver");
    assert!(!draft(&bench).genes.is_empty() && fault(&bench).is_none());
    bench.press("All of fuzzy_driver rules");
    assert_eq!(draft(&bench).genes, ["fuzzy_driver.*"]);
    // Two ticks in quick succession, faster than a course is created.
    for name in ["All of fuzzy_driver rules", "All of fuzzy_driver"] {
        bench.harness.get_by_label(name).click();
        bench.harness.step();
        bench.harness.step();
    }
    assert!(draft(&bench).genes.is_empty());
    bench.settle();
    bench.press("All of fuzzy_driver rules");
    // The experiment is in a folder beside the scenario, and the scenario's path is relative to it.
    let scenario = bench.folder.path().join("field.scenario.json");
    bench.ask(Action::Path(scenario.clone(), Purpose::Save, None));
    let folder = bench.folder.path().join("experiments");
    std::fs::create_dir(&folder).unwrap();
    give_path(&mut bench, &folder.join("mine"), ExperimentFile::Save);
    let path = folder.join("mine.experiment.json");
    let saved = Experiment::from_text(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(saved.scenario.as_deref(), Some("../field.scenario.json"));
    let named = file::load(&folder.join(saved.scenario.as_ref().unwrap())).unwrap();
    Problem::new(&saved, Some(named), &builtin_modules()).unwrap();
    bench.harness.get_by_label("mine");
    // The reopened experiment is the same, and uses the scenario of the window.
    ask(&mut bench, ExperimentAction::Close);
    give_path(&mut bench, &path, ExperimentFile::Open);
    let model = &bench.editor().model().experiment;
    assert!(model.draft.as_ref().unwrap().is_on_document());
    assert_eq!(fault(&bench), None);
}

/// Selects an entry of a list by its name and current value.
fn choose(bench: &mut Bench, list: &str, choice: &str) {
    bench.scroll_to(list);
    let role = egui::accesskit::Role::ComboBox;
    bench.harness.get_by_role_and_label(role, list).click();
    bench.harness.run_steps(4);
    bench.press(choice);
}

/// Types a number into a field.
fn enter(bench: &mut Bench, field: &str, number: &str) {
    let at = bench.field(field).center();
    bench.harness.hover_at(at);
    bench.harness.drag_at(at);
    bench.harness.drop_at(at);
    bench.harness.run_steps(2);
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.type_text(number);
    bench.key(Key::Enter);
}

#[test]
fn how_drives_are_spent_is_set_in_the_panel() {
    let (mut bench, _) = opened(SMALL);
    bench.press("Drive budget");
    choose(&mut bench, "Ends early: none", "cannot win (racing)");
    enter(&mut bench, "Best possible", "-7.5");
    enter(&mut bench, "Courses per block", "5");
    choose(&mut bench, "Drop: only if proven", "also if significant");
    enter(&mut bench, "Significance", "0.2");
    let racing = draft(&bench).racing.unwrap();
    assert_eq!((racing.least, racing.block), (-7.5, 5));
    assert_eq!(racing.doubt, Some(0.2));
    choose(
        &mut bench,
        "Later generations: same number of drives",
        "more drives",
    );
    enter(&mut bench, "Additional drives", "3");
    enter(&mut bench, "Maximum drives", "44");
    let growth = draft(&bench).growth.unwrap();
    assert_eq!((growth.runs, growth.most), (3, 44));
    // Choosing halving switches racing off.
    choose(
        &mut bench,
        "Ends early: cannot win (racing)",
        "worst of each round (halving)",
    );
    enter(&mut bench, "Rounds", "4");
    enter(&mut bench, "Share that continues", "0.4");
    let set = draft(&bench);
    let halving = set.halving.unwrap();
    assert_eq!((halving.rounds, halving.share), (4, 0.4));
    assert_eq!(set.racing, None);
    enter(&mut bench, "Time compression", "2");
    choose(&mut bench, "Stops early: never", "when good enough");
    enter(&mut bench, "Good enough", "190");
    let set = draft(&bench);
    assert_eq!((set.time_compression, set.stop.fitness), (2.0, Some(190.0)));
    // Values out of range are rejected.
    enter(&mut bench, "Rounds", "99");
    assert_eq!(draft(&bench).halving.unwrap().rounds, 10);
    // Each choice is a step that can be undone and redone.
    let has = |bench: &Bench| {
        let draft = bench.editor().model().experiment.draft.as_ref();
        draft.unwrap().history.has()
    };
    let mut steps = 0;
    while has(&bench).0 {
        bench.press("Undo change");
        steps += 1;
    }
    assert_eq!(draft(&bench), Experiment::from_text(SMALL).unwrap());
    assert!((13..40).contains(&steps), "{steps}");
    while has(&bench).1 {
        bench.press("Redo change");
    }
    assert_eq!(draft(&bench).halving.unwrap().rounds, 10);
    assert_eq!(draft(&bench).stop.fitness, Some(190.0));
    // Chooses none of them again.
    choose(
        &mut bench,
        "Ends early: worst of each round (halving)",
        "none",
    );
    choose(
        &mut bench,
        "Later generations: more drives",
        "same number of drives",
    );
    choose(&mut bench, "Stops early: when good enough", "never");
    enter(&mut bench, "Time compression", "1");
    assert_eq!(draft(&bench), Experiment::from_text(SMALL).unwrap());
}

#[test]
fn the_cross_entropy_method_and_weights_are_set_in_the_panel() {
    let (mut bench, _) = opened(&forest());
    assert_eq!(fault(&bench), None);
    bench.press("Breeding options");
    assert!(bench.harness.query_by_label("Learning rate").is_none());
    choose(&mut bench, "Method: genetic", "cross entropy");
    enter(&mut bench, "Learning rate", "0.4");
    enter(&mut bench, "Minimum probability", "0.02");
    let set = draft(&bench);
    assert_eq!(set.method, Method::CrossEntropy);
    assert_eq!((set.learning.rate, set.learning.least), (0.4, 0.02));
    choose(&mut bench, "Restarts: never", "after some generations");
    enter(&mut bench, "After generations", "25");
    assert_eq!(draft(&bench).learning.restart, Some(25));
    // The weights of the course's fitness are listed with their defaults; a changed one is written.
    enter(&mut bench, "time limit", "120");
    let Some(NameOr::Own(setting)) = draft(&bench).fitness else {
        panic!("a fitness with a weight of its own");
    };
    assert_eq!(setting.module, "forest_score");
    assert_eq!(setting.parameters.len(), 1);
    assert_eq!(setting.parameters["time_limit"], 120.0);
    assert_eq!(fault(&bench), None);
    enter(&mut bench, "time limit", "60");
    let plain = Some(NameOr::Name("forest_score".into()));
    assert_eq!(draft(&bench).fitness, plain);
}

/// A change that makes an experiment invalid.
type Change = fn(&mut Experiment);

#[test]
fn what_is_wrong_is_told_in_its_place_and_nothing_is_trained() {
    let (mut bench, _) = opened(SMALL);
    let wrong: [(&str, Change); 10] = [
        ("seeds", |e| e.seeds.test = [50, 60]),
        ("seeds", |e| e.seeds.validate = [9, 1]),
        ("runs", |e| e.runs = 0),
        ("operators", |e| e.operators.r = 7.0),
        ("operators", |e| e.operators.p = usize::MAX),
        ("genes", |e| e.genes = vec!["spoon.*".into()]),
        ("vehicle", |e| e.vehicle = Some("boat".into())),
        ("stack", |e| e.fitness = Some(NameOr::Name("joy".into()))),
        ("halving", |e| {
            e.halving = Some(Halving {
                rounds: 1,
                share: 0.5,
            });
        }),
        ("learning", |e| e.learning.rate = 2.0),
    ];
    for (key, change) in wrong {
        let mut experiment = Experiment::from_text(SMALL).unwrap();
        change(&mut experiment);
        ask(&mut bench, ExperimentAction::Set(Box::new(experiment)));
        let (found, message) = fault(&bench).unwrap_or_else(|| panic!("{key} was not seen"));
        assert_eq!(found, key, "{message}");
        bench.harness.get_by_label(&message);
        bench.press("Train");
        assert!(
            bench.editor().model().experiment.training.is_none(),
            "{key}"
        );
    }
    // Control: without an error the experiment can be trained, with a warning that two drives are
    // too few.
    let mut experiment = Experiment::from_text(SMALL).unwrap();
    ask(
        &mut bench,
        ExperimentAction::Set(Box::new(experiment.clone())),
    );
    assert_eq!(fault(&bench), None);
    bench.harness.get_by_label_contains("mostly luck");
    experiment.runs = 30;
    ask(&mut bench, ExperimentAction::Set(Box::new(experiment)));
    assert!(
        bench
            .harness
            .query_by_label_contains("mostly luck")
            .is_none()
    );
}

#[test]
fn files_that_are_no_experiments_change_nothing() {
    let (mut bench, path) = opened(SMALL);
    let before = draft(&bench);
    let misspelt = SMALL.replace("\"runs\"", "\"ruins\"");
    for text in ["", "{\"format\": \"spoon\"}", &misspelt] {
        std::fs::write(&path, text).unwrap();
        give_path(&mut bench, &path, ExperimentFile::Open);
        assert_eq!(draft(&bench), before);
    }
    give_path(&mut bench, Path::new("/nowhere.json"), ExperimentFile::Open);
    assert_eq!(draft(&bench), before);
    // Control.
    std::fs::write(&path, SMALL.replace("\"runs\": 2", "\"runs\": 5")).unwrap();
    give_path(&mut bench, &path, ExperimentFile::Open);
    assert_eq!(draft(&bench).runs, 5);
}

#[test]
fn the_panel_is_opened_by_its_command_and_an_experiment_by_the_file_menu() {
    let mut bench = Bench::start();
    bench.close_dialog();
    let is_open = |bench: &Bench| bench.harness.query_by_label("Train a driver").is_some();
    assert!(!is_open(&bench));
    bench.ask(Action::Do(Command::Panel(PanelId::Experiment)));
    assert!(is_open(&bench));
    bench.ask(Action::Do(Command::ResetPanels));
    assert!(!is_open(&bench));
    bench.ask(Action::Do(Command::Panel(PanelId::Experiment)));
    assert!(is_open(&bench));
    let before = bench.scenario().clone();
    let path = bench.folder.path().join("x.experiment.json");
    std::fs::write(&path, SMALL).unwrap();
    bench.ask(Action::Path(path, Purpose::Open, None));
    assert_eq!(draft(&bench), Experiment::from_text(SMALL).unwrap());
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn an_individual_drives_in_the_window_and_the_document_waits_as_it_is() {
    let (mut bench, _) = opened(SMALL);
    // An unsaved change.
    bench.key(Key::O);
    bench.look_at(0.0, 0.0, 100.0);
    bench.drag(&[(-20.0, 0.0), (-10.0, 10.0)]);
    let before = bench.scenario().clone();
    let history = bench.editor().model().document.history();
    let steps = history.undo_labels().count();
    assert!(bench.editor().model().document.is_dirty());
    train(&mut bench);
    bench.press("Individuals");
    let best = picture(&bench).best().unwrap().clone();
    bench.press("Show the best");
    let shown = bench.editor().model().experiment.shown.clone().unwrap();
    assert_eq!(shown.name, format!("individual {}", best.name()));
    assert_eq!(shown.course, picture(&bench).courses[0]);
    // The world runs and is watched, and its stack has the values of the individual.
    let is_driving = bench.play_until(30.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.snapshot.time > 3.0 && live.inspection.is_some())
    });
    assert!(is_driving);
    let live = bench.editor().model().live.clone().unwrap();
    let stack = live.inspection.as_ref().unwrap().stack.clone();
    let problem = picture(&bench).problem.clone().unwrap();
    let values = &problem.genome().preset(&best.genes)["fuzzy_driver"];
    let own = &bench.scenario().stacks()[&stack].controller.parameters;
    assert!(values.iter().all(|(key, value)| own[key] == *value));
    // The run ends where its course ends and reports why; it cannot continue.
    bench.ask(Action::Speed(f64::INFINITY));
    let end = shown.end.clone().unwrap();
    assert!(bench.play_until(1e6, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.is_over)
    }));
    bench.settle();
    let step = |bench: &Bench| bench.live().snapshot.step;
    // The last check of the drive is a step or two after its arrival.
    for _ in 0..5 {
        bench.ask(Action::Do(Command::StepOnce));
    }
    assert_eq!(step(&bench), end.steps);
    let how = end.ends.keys().next().unwrap().name().replace('_', " ");
    bench.harness.get_by_label_contains(&format!(" s: {how}."));
    // An experiment set up meanwhile uses the document.
    ask(&mut bench, ExperimentAction::New(None));
    let (fault, draft) = (fault(&bench), draft(&bench));
    assert!(fault.is_none_or(|(_, message)| !message.contains("driver_0")));
    assert!(matches!(draft.stack, NameOr::Name(name) if before.stacks().contains_key(&name)));
    bench.press("Back to the scenario");
    assert_eq!(bench.scenario(), &before);
    assert!(bench.editor().model().document.is_dirty());
    let history = bench.editor().model().document.history();
    assert_eq!(history.undo_labels().count(), steps);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_ne!(bench.scenario(), &before);
}

/// Returns the world that is shown in place of the document.
fn shown(bench: &Bench) -> &Shown {
    bench.editor().model().experiment.shown.as_ref().unwrap()
}

/// Returns the forest course with very few parameters to train.
fn forest() -> String {
    SMALL
        .replace("\"arena\"", "\"forest\"")
        .replace("\"fuzzy_driver", "\"fuzzy_mechanic")
        .replace(", \"fuzzy_mechanic.braking\"", "")
        .replace("\"generations\": 3", "\"generations\": 1")
}

#[test]
fn who_strikes_a_post_is_seen_up_to_there_and_an_edit_goes_on() {
    let (mut bench, _) = opened(&forest());
    train(&mut bench);
    let problem = picture(&bench).problem.clone().unwrap();
    // A vehicle that never steers hits a tree sooner or later on one of these courses.
    let genes: Vec<f64> = problem
        .genome()
        .genes()
        .iter()
        .map(|gene| {
            if gene.key.contains("steer") {
                0.0
            } else {
                gene.start
            }
        })
        .collect();
    let struck = (1..50).find(|course| {
        let end = problem.end_of(&genes, *course).unwrap();
        end.ends.contains_key(&End::Struck)
    });
    let show = ExperimentAction::Show {
        genes,
        course: struck.unwrap(),
        name: "straight".into(),
    };
    ask(&mut bench, show);
    let end = shown(&bench).end.clone().unwrap();
    bench.ask(Action::Speed(f64::INFINITY));
    let is_over = bench.play_until(1e6, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.is_over)
    });
    assert!(is_over);
    bench.settle();
    let live = |bench: &Bench| bench.editor().model().live.clone().unwrap();
    assert_eq!(live(&bench).snapshot.step, end.steps);
    // The vehicle could drive on, but the course ends.
    assert_eq!(live(&bench).counts.active, 1);
    bench.harness.get_by_label_contains(" s: struck.");
    bench.ask(Action::Do(Command::StepOnce));
    bench.ask(Action::Do(Command::PlayPause));
    bench.settle();
    assert_eq!(live(&bench).snapshot.step, end.steps);
    // Rewinding works as usual, up to the end again.
    bench.ask(Action::Do(Command::Reset));
    assert_eq!(live(&bench).snapshot.step, 0);
    bench.ask(Action::Do(Command::StepOnce));
    assert_eq!(live(&bench).snapshot.step, 1);
    // An edited world is different, so its end is unknown.
    bench.step_run(end.steps as usize - 1);
    assert_eq!(live(&bench).snapshot.step, end.steps);
    let edit = roadwright_scenario::Edit::Stack("extra".into(), Some(Box::default()));
    bench.ask(Action::Apply("Add stack".into(), edit));
    bench.step_run(3);
    assert_eq!(live(&bench).snapshot.step, end.steps + 3);
    assert!(
        bench
            .harness
            .query_by_label_contains(" s: struck.")
            .is_none()
    );
}

#[test]
fn a_world_that_is_shown_and_edited_is_asked_about_and_nothing_is_lost() {
    let (mut bench, _) = opened(SMALL);
    train(&mut bench);
    let before = bench.scenario().clone();
    let best = picture(&bench).best().unwrap().clone();
    let show = |name: &str| ExperimentAction::Show {
        genes: best.genes.clone(),
        course: 5,
        name: name.into(),
    };
    ask(&mut bench, show("a"));
    assert_ne!(bench.scenario(), &before);
    // One world after the other, and still back to the document.
    ask(&mut bench, show("b"));
    assert_eq!(shown(&bench).name, "b");
    let edit = roadwright_scenario::Edit::Stack("extra".into(), Some(Box::default()));
    bench.ask(Action::Apply("Add stack".into(), edit));
    ask(&mut bench, show("c"));
    assert_eq!(shown(&bench).name, "b");
    ask(&mut bench, ExperimentAction::Back);
    assert_eq!(bench.editor().model().dialog, Dialog::Unsaved(Next::Back));
    // A dialog is visible one frame after its layout.
    bench.harness.run_steps(3);
    bench.press("Don't save");
    assert_eq!(bench.scenario(), &before);
    assert!(bench.editor().model().experiment.shown.is_none());
    // Opening another document replaces the document that was set aside, and asks first if that
    // document has unsaved changes.
    let edit = roadwright_scenario::Edit::Stack("extra".into(), Some(Box::default()));
    bench.ask(Action::Apply("Add stack".into(), edit));
    ask(&mut bench, show("d"));
    bench.ask(Action::Leave(Next::New));
    assert_eq!(bench.editor().model().dialog, Dialog::Unsaved(Next::New));
    assert!(bench.scenario().stacks().contains_key("extra"));
    bench.harness.run_steps(3);
    bench.press("Cancel");
    assert!(bench.scenario().stacks().contains_key("extra"));
}

#[test]
fn the_champion_goes_into_a_stack_in_one_step() {
    let (mut bench, _) = opened(SMALL);
    train(&mut bench);
    let before = bench.scenario().clone();
    let verdict = picture(&bench).verdict.clone().unwrap();
    let problem = picture(&bench).problem.clone().unwrap();
    let values = &problem.genome().preset(&verdict.champion.genes)["fuzzy_driver"];
    ask(
        &mut bench,
        ExperimentAction::Apply(Some("fuzzy_driver".into())),
    );
    let own = &bench.scenario().stacks()["fuzzy_driver"]
        .controller
        .parameters;
    assert!(values.iter().all(|(key, value)| own[key] == *value));
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    // A stack without the module cannot take the values.
    ask(&mut bench, ExperimentAction::Apply(Some("idm".into())));
    ask(&mut bench, ExperimentAction::Apply(Some("nobody".into())));
    assert_eq!(bench.scenario(), &before);
    // The button applies the values to a new stack.
    bench.press("Apply");
    let trained = &bench.scenario().stacks()["trained"];
    assert_eq!(trained, &problem.stack(&verdict.champion.genes));
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
    // Selected vehicles use the new stack.
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::A);
    bench.drag(&[(-50.0, 10.0), (50.0, 10.0)]);
    let (&id, agent) = bench.scenario().agents().first_key_value().unwrap();
    assert_ne!(agent.stack, "trained");
    let with_agent = bench.scenario().clone();
    bench.ask(Action::Select([ObjectId::Agent(id)].into()));
    bench.press("Apply");
    assert_eq!(bench.scenario().agents()[&id].stack, "trained");
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &with_agent);
}

#[test]
fn an_individual_is_struck_out_by_hand_and_the_result_says_so() {
    let (mut bench, _) = opened(SMALL);
    train(&mut bench);
    let (hash, best) = {
        let picture = picture(&bench);
        (picture.pool_hash.clone(), picture.best().unwrap().clone())
    };
    bench.press("Individuals");
    bench.press(&format!("Strike out {}", best.name()));
    wait_until(&mut bench, "struck", |picture| picture.struck_out == 1);
    let after = picture(&bench);
    assert_ne!(after.pool_hash, hash);
    assert!(
        after.verdict.is_none(),
        "the champion may be the individual that was struck out"
    );
    let row = after
        .individuals
        .iter()
        .find(|row| row.birth == best.birth)
        .unwrap();
    assert_eq!((row.fate.clone(), row.rank), (Fate::StruckOut, None));
    bench.press("Training");
    bench.harness.get_by_label_contains("struck out by hand");
    bench.press("Test now");
    wait_until(&mut bench, "over", |picture| picture.phase == Phase::Over);
    let verdict = picture(&bench).verdict.clone().unwrap();
    assert_ne!(verdict.champion.genes, best.genes);
}

#[test]
fn whoever_is_struck_out_while_others_train_is_not_bred_from_and_the_record_holds() {
    let text = SMALL.replace("\"generations\": 3", "\"generations\": 40");
    let (mut bench, _) = opened(&text);
    bench.press("Train");
    wait_until(&mut bench, "a generation", |picture| {
        !picture.generations.is_empty()
    });
    bench.press("Pause");
    // Runs in progress end, and no others start.
    std::thread::sleep(Duration::from_millis(500));
    bench.settle();
    let before = picture(&bench).generations.len();
    let best = picture(&bench).best().unwrap().clone();
    ask(&mut bench, ExperimentAction::StrikeOut(best.birth));
    wait_until(&mut bench, "struck", |picture| picture.struck_out == 1);
    // Training stays paused, with the same generations.
    assert_eq!(picture(&bench).generations.len(), before);
    assert!(bench.editor().model().experiment.progress.is_paused);
    bench.press("Continue");
    wait_until(&mut bench, "over", |picture| picture.phase == Phase::Over);
    let picture = picture(&bench);
    assert_eq!((picture.struck_out, picture.generations.len()), (1, 40));
    let experiment = Experiment::from_text(&text).unwrap();
    let problem = Problem::new(&experiment, None, &builtin_modules()).unwrap();
    let record = picture.record.as_ref().unwrap();
    let resumed = Training::resume(&experiment, problem.genome(), &problem, record).unwrap();
    assert_eq!(resumed.pool_hash(), picture.pool_hash);
    let later = record.generations[before..].iter().flatten();
    assert_eq!(later.filter(|judged| judged.birth == best.birth).count(), 0);
}

#[test]
fn what_has_changed_is_seen_rule_by_rule() {
    let (mut bench, _) = opened(SMALL);
    train(&mut bench);
    bench.press("Changes");
    let picture = picture(&bench);
    let genome = picture.problem.as_ref().unwrap().genome();
    let champion = &picture.verdict.as_ref().unwrap().champion.genes;
    let start = genome.start();
    let all = genome.genes().iter().zip(&start).zip(champion);
    let mut changed = 0;
    for ((gene, &before), &after) in all.filter(|((gene, _), _)| gene.rule.is_some()) {
        let said = if before == after {
            format!("{}: {}, unchanged", gene.key, gene.in_words(after))
        } else {
            changed += 1;
            let (before, after) = (gene.in_words(before), gene.in_words(after));
            format!("{}: {before} became {after}", gene.key)
        };
        bench.harness.get_by_label(&said);
    }
    assert!(
        changed > 0,
        "training changed nothing, so the test proves nothing"
    );
}

#[test]
fn results_stand_beside_each_other_and_are_compared_seed_by_seed() {
    let mut bench = Bench::start();
    bench.close_dialog();
    crate::common::open_results(&mut bench);
    bench.press("Compare");
    let open = bench.editor().model().experiment.results.clone();
    let names: Vec<String> = open.iter().map(|open| open.name()).collect();
    assert_eq!(names, ["fuzzy", "pursuit"]);
    let pairs = |at: usize| open[at].fitnesses().into_iter();
    let pairs: Vec<(f64, f64)> = pairs(0).zip(pairs(1)).collect();
    let expected = roadwright_training::statistics::paired(&pairs, 0.95).unwrap();
    assert_eq!(open[0].against(&open[1]), Ok(expected));
    let text = format!("difference {:.4} over 6 pairs", expected.mean);
    bench.harness.get_by_label_contains(&text);
    // The shown paths are those of the drives, on one map; the document is set aside meanwhile.
    let before = bench.scenario().clone();
    bench.press("Show the runs of fuzzy");
    let model = &bench.editor().model().experiment;
    let paths = model.paths.clone().unwrap();
    let completed = paths.iter().filter(|path| path.is_complete).count();
    assert_eq!((paths.len(), completed), (6, open[0].summary.completed));
    let name = &model.shown.as_ref().unwrap().name;
    assert!(
        name.starts_with("6 runs of fuzzy") && !name.contains("not as"),
        "{name}"
    );
    assert_ne!(bench.scenario(), &before);
    bench.press("Back to the scenario");
    assert_eq!(bench.scenario(), &before);
    assert!(bench.editor().model().experiment.paths.is_none());
    // Changed rows are refused, and so are files without results.
    let path = bench.folder.path().join("fuzzy.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let fitness = format!("\"fitness\":{}", open[0].results.rows[0].fitness.unwrap());
    let changed = text.replacen(&fitness, "\"fitness\":1.5", 1);
    assert_ne!(changed, text, "{fitness}");
    for wrong in [changed.as_str(), "", "{}"] {
        let path = bench.folder.path().join("wrong.json");
        std::fs::write(&path, wrong).unwrap();
        give_path(&mut bench, &path, ExperimentFile::Results);
        assert_eq!(bench.editor().model().experiment.results.len(), 2);
    }
    // Results with different fitness cannot be compared, which is reported.
    let mut other = open[1].results.clone();
    other.head.fitness = "safety".into();
    let path = bench.folder.path().join("pursuit.json");
    std::fs::write(&path, other.to_text()).unwrap();
    give_path(&mut bench, &path, ExperimentFile::Results);
    assert_eq!(bench.editor().model().experiment.results.len(), 2);
    bench.harness.get_by_label_contains("different fitnesses");
    bench.press("Close pursuit");
    ask(&mut bench, ExperimentAction::CloseResults(7));
    assert_eq!(bench.editor().model().experiment.results.len(), 1);
    bench.harness.get_by_label_contains("Open a second file");
}
