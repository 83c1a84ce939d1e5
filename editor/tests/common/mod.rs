//! Drives the real editor without a window, and draws pictures of it without a graphics driver.
#![allow(dead_code, reason = "each test binary uses some of this")]

mod rasterizer;

pub(crate) use rasterizer::Rasterizer;

use egui::{Modifiers, Pos2, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::experiment::ExperimentFile;
use roadwright_editor::extensions::Folders;
use roadwright_editor::live::LivePicture;
use roadwright_editor::model::{Action, Dialog, Purpose};
use roadwright_editor::tools::{PLAIN_STREET, ToolOptions};
use roadwright_editor::{Editor, Options};
use roadwright_geometry::DVec2;
use roadwright_scenario::file::to_text;
use roadwright_scenario::junction::{Junction, layout};
use roadwright_scenario::{ObjectId, Scenario, Stack};
use roadwright_simulation::builtin_modules;
use roadwright_training::experiment as bench;
use roadwright_training::{Course, Setup, measure};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Renderer of the map.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Painting {
    /// Shapes that the rasterizer of the tests draws.
    Rasterizer,
    /// Callbacks for a graphics driver, as in the window. They are not carried out.
    Gpu,
}

/// State of a key.
#[derive(Clone, Copy, PartialEq)]
enum KeyState {
    Down,
    Up,
}

/// The editor in a test.
pub(crate) struct Bench {
    pub(crate) harness: Harness<'static, Editor>,
    /// Folder with settings and autosaves, deleted after the test.
    pub(crate) folder: Arc<tempfile::TempDir>,
}

impl Bench {
    /// Starts the editor with the shipped scenario.
    pub(crate) fn start() -> Self {
        Self::open_in(Arc::new(tempfile::tempdir().unwrap()), None)
    }

    /// Starts the editor with a file.
    pub(crate) fn open(path: &Path) -> Self {
        Self::open_in(
            Arc::new(tempfile::tempdir().unwrap()),
            Some(path.to_owned()),
        )
    }

    /// Starts the editor with the settings and autosaves of a folder.
    pub(crate) fn open_in(folder: Arc<tempfile::TempDir>, open: Option<PathBuf>) -> Self {
        let is_new_user = !folder.path().join("settings").exists();
        let mut bench = Self::unsettled(folder, open);
        bench.settle();
        if is_new_user {
            // Most tests draw on the asphalt or beside it, so they need streets without pavements.
            bench.set(|settings| plain_streets(&mut settings.tools));
        }
        bench
    }

    /// Like `open_in`, but returns after the first frame, with the settings of a new user.
    pub(crate) fn unsettled(folder: Arc<tempfile::TempDir>, open: Option<PathBuf>) -> Self {
        Self::drawn_by(Painting::Rasterizer, folder, open)
    }

    /// Like `unsettled`, with the given renderer of the map.
    pub(crate) fn drawn_by(
        painting: Painting,
        folder: Arc<tempfile::TempDir>,
        open: Option<PathBuf>,
    ) -> Self {
        let options = Options {
            open,
            settings: folder.path().join("settings"),
            autosaves: folder.path().join("autosave"),
            modules: Folders {
                // Child processes run the test `plugin_host` in `modules.rs`.
                helper: vec![
                    std::env::current_exe().unwrap().into(),
                    "modules::plugin_host".into(),
                    "--exact".into(),
                    "--nocapture".into(),
                ],
                user: folder.path().join("user"),
                cache: folder.path().join("cache"),
            },
            uses_gpu: painting == Painting::Gpu,
            reads_gamepads: false,
            race: None,
        };
        let harness = Harness::builder()
            .with_size(Vec2::new(1280.0, 800.0))
            .with_max_steps(600)
            .with_step_dt(0.05)
            .renderer(Rasterizer::default())
            .build_eframe(|cc| Editor::new(cc, options));
        Self { harness, folder }
    }

    /// Starts the editor with an empty scenario, ready to draw on. It opens a file without roads, so that
    /// neither a town nor the pictures of the welcome panel are created first.
    pub(crate) fn empty() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let blank = folder.path().join("blank.scenario.json");
        std::fs::write(&blank, to_text(&Scenario::new("blank"))).unwrap();
        let mut bench = Self::open_in(folder, Some(blank));
        bench.ask(Action::Go(roadwright_editor::model::Next::New));
        bench.set(|settings| settings.recent.clear());
        bench
    }

    /// Draws two roads that cross, and sets the view to 150 m around their crossing.
    pub(crate) fn crossroads() -> Self {
        let mut bench = Self::empty();
        bench.look_at(0.0, 0.0, 150.0);
        bench.key(egui::Key::R);
        bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
        bench.drag(&[(0.0, -100.0), (0.0, 100.0)]);
        bench
    }

    pub(crate) fn editor(&self) -> &Editor {
        self.harness.state()
    }

    /// Returns the newest snapshot of the run.
    pub(crate) fn live(&self) -> &LivePicture {
        let live = self.editor().model().live.as_ref();
        live.expect("there is a run")
    }

    /// Returns the number of steps that can be undone.
    pub(crate) fn undo_steps(&self) -> usize {
        self.editor()
            .model()
            .document
            .history()
            .undo_labels()
            .count()
    }

    pub(crate) fn scenario(&self) -> &Scenario {
        self.editor().model().document.scenario()
    }

    /// Advances a run by a number of steps, so that the result is the same every time.
    pub(crate) fn step_run(&mut self, steps: usize) {
        for step in 1..=steps {
            self.harness.state_mut().ask(Action::Do(Command::StepOnce));
            // A frame takes longer than a step, so frames are drawn only now and then.
            if step % 20 == 0 || step == steps {
                self.harness.step();
            }
        }
        // The run steps in the background, so wait until the next query sees all of it.
        self.settle();
    }

    /// Runs frames until no background work is pending.
    pub(crate) fn settle(&mut self) {
        for _ in 0..2000 {
            self.harness.step();
            if self.editor().is_settled() {
                self.harness.step();
                return;
            }
            // Frames take processor time away from the awaited work.
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the editor does not settle");
    }

    /// Returns the selected junction.
    pub(crate) fn selected_junction(&mut self) -> Arc<Junction> {
        self.settle();
        let model = self.editor().model();
        let Some(ObjectId::Node(node)) = model.single() else {
            panic!("{:?}", model.selection);
        };
        let layout = layout(self.scenario().network(), self.scenario().about());
        layout.junction_at(node).unwrap().clone()
    }

    pub(crate) fn ask(&mut self, action: Action) {
        self.harness.state_mut().ask(action);
        self.settle();
    }

    /// Changes the settings.
    pub(crate) fn set(&mut self, change: impl FnOnce(&mut roadwright_editor::settings::Settings)) {
        let mut settings = self.editor().model().settings.clone();
        change(&mut settings);
        self.ask(Action::Settings(Box::new(settings)));
    }

    pub(crate) fn close_dialog(&mut self) {
        self.ask(Action::Show(Dialog::None));
    }

    /// Converts a world point to a screen point.
    pub(crate) fn at(&self, x: f64, y: f64) -> Pos2 {
        self.editor().screen(DVec2::new(x, y))
    }

    /// Returns the rectangle of the map.
    pub(crate) fn map(&self) -> egui::Rect {
        self.editor().map_rect()
    }

    /// Shows a box of the world.
    pub(crate) fn look_at(&mut self, x: f64, y: f64, half: f64) {
        let (middle, half) = (DVec2::new(x, y), DVec2::splat(half - 30.0));
        self.ask(Action::Jump(middle - half, middle + half));
    }

    /// Drags with the left button along world points.
    pub(crate) fn drag(&mut self, points: &[(f64, f64)]) {
        self.drag_with(points, Modifiers::NONE);
    }

    pub(crate) fn drag_with(&mut self, points: &[(f64, f64)], modifiers: Modifiers) {
        let screen: Vec<Pos2> = points.iter().map(|(x, y)| self.at(*x, *y)).collect();
        self.harness.event(egui::Event::ModifiersChanged(modifiers));
        self.harness.hover_at(screen[0]);
        self.harness.step();
        self.button(screen[0], true, modifiers);
        self.harness.step();
        for pair in screen.windows(2) {
            let steps = ((pair[1] - pair[0]).length() / 8.0).ceil().max(2.0) as usize;
            for i in 1..=steps {
                let at = pair[0] + (pair[1] - pair[0]) * (i as f32 / steps as f32);
                self.harness.event(egui::Event::PointerMoved(at));
                self.harness.step();
            }
        }
        self.button(screen[screen.len() - 1], false, modifiers);
        self.harness.step();
        self.harness
            .event(egui::Event::ModifiersChanged(Modifiers::NONE));
        self.settle();
    }

    /// Presses the left button at a world point.
    pub(crate) fn press_at(&mut self, x: f64, y: f64) {
        let at = self.at(x, y);
        self.harness.hover_at(at);
        self.harness.step();
        self.button(at, true, Modifiers::NONE);
        self.settle();
    }

    /// Moves the pointer to a world point without changing its buttons.
    pub(crate) fn move_to(&mut self, x: f64, y: f64) {
        let at = self.at(x, y);
        self.harness.event(egui::Event::PointerMoved(at));
        self.harness.step();
        self.settle();
    }

    /// Releases the left button at a world point.
    pub(crate) fn release_at(&mut self, x: f64, y: f64) {
        let at = self.at(x, y);
        self.button(at, false, Modifiers::NONE);
        self.settle();
    }

    fn button(&mut self, pos: Pos2, pressed: bool, modifiers: Modifiers) {
        self.harness.event(egui::Event::PointerButton {
            pos,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers,
        });
    }

    /// Clicks on a world point.
    pub(crate) fn click(&mut self, x: f64, y: f64) {
        self.click_with(x, y, Modifiers::NONE);
    }

    pub(crate) fn click_with(&mut self, x: f64, y: f64, modifiers: Modifiers) {
        let at = self.at(x, y);
        self.harness.event(egui::Event::ModifiersChanged(modifiers));
        self.harness.hover_at(at);
        self.harness.step();
        self.button(at, true, modifiers);
        self.harness.step();
        self.button(at, false, modifiers);
        self.harness.step();
        self.harness
            .event(egui::Event::ModifiersChanged(Modifiers::NONE));
        // Far enough from the next click in time not to be a double-click.
        for _ in 0..9 {
            self.harness.step();
        }
        self.settle();
    }

    /// Clicks twice in quick succession.
    pub(crate) fn double_click(&mut self, x: f64, y: f64) {
        let at = self.at(x, y);
        self.harness.hover_at(at);
        self.harness.step();
        for _ in 0..2 {
            self.button(at, true, Modifiers::NONE);
            self.button(at, false, Modifiers::NONE);
        }
        self.harness.step();
        self.settle();
    }

    pub(crate) fn hover(&mut self, x: f64, y: f64) {
        let at = self.at(x, y);
        self.harness.hover_at(at);
        self.settle();
    }

    pub(crate) fn key(&mut self, key: egui::Key) {
        self.key_with(Modifiers::NONE, key);
    }

    pub(crate) fn key_with(&mut self, modifiers: Modifiers, key: egui::Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.harness.step();
        self.settle();
    }

    /// Presses a key and holds it.
    pub(crate) fn hold_key(&mut self, key: egui::Key) {
        self.key_event(key, KeyState::Down);
    }

    /// Releases a key that was held.
    pub(crate) fn release_key(&mut self, key: egui::Key) {
        self.key_event(key, KeyState::Up);
    }

    fn key_event(&mut self, key: egui::Key, state: KeyState) {
        self.harness.event(egui::Event::Key {
            key,
            physical_key: None,
            pressed: state == KeyState::Down,
            repeat: false,
            modifiers: Modifiers::NONE,
        });
        self.harness.step();
    }

    /// Types text into the focused widget.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.harness.event(egui::Event::Text(text.into()));
        self.harness.step();
        self.settle();
    }

    /// Clicks on the button with this name.
    pub(crate) fn press(&mut self, name: &str) {
        self.harness.get_by_label(name).scroll_to_me();
        self.harness.step();
        self.settle();
        self.harness.get_by_label(name).click();
        self.harness.step();
        self.settle();
    }

    /// Scrolls the widget with this name into view, and returns its rectangle.
    pub(crate) fn scroll_to(&mut self, name: &str) -> egui::Rect {
        self.harness.get_by_label(name).scroll_to_me();
        // The list scrolls for a while.
        self.harness.run_steps(30);
        self.settle();
        self.harness.get_by_label(name).rect()
    }

    /// Scrolls the field of a property into view and returns its rectangle. The field is beside its title,
    /// which has the same name.
    pub(crate) fn field(&mut self, name: &str) -> egui::Rect {
        let rightmost = |bench: &Self| {
            let all = bench.harness.query_all_by_label(name);
            let field = all.max_by(|a, b| a.rect().left().total_cmp(&b.rect().left()));
            let field = field.unwrap();
            field.scroll_to_me();
            field.rect()
        };
        rightmost(self);
        self.harness.run_steps(30);
        self.settle();
        rightmost(self)
    }

    /// Drags with the left button to the right from a point of the screen.
    pub(crate) fn drag_right(&mut self, from: Pos2, points: f32) {
        self.harness.hover_at(from);
        self.harness.step();
        self.button(from, true, Modifiers::NONE);
        self.harness.step();
        let mut at = from;
        for i in 1..=10 {
            at = from + Vec2::new(points * i as f32 / 10.0, 0.0);
            self.harness.event(egui::Event::PointerMoved(at));
            self.harness.step();
        }
        self.button(at, false, Modifiers::NONE);
        self.harness.step();
        self.settle();
    }

    /// Clicks on the tab of a panel.
    pub(crate) fn press_tab(&mut self, name: &str) {
        let tabs = self.harness.query_all_by_label(name);
        // Tabs are at the far right; tools and labels of the same name are not.
        let tab = tabs.max_by(|a, b| a.rect().top().total_cmp(&b.rect().top()).reverse());
        let at = tab.unwrap().rect().center();
        self.harness.hover_at(at);
        self.harness.drag_at(at);
        self.harness.drop_at(at);
        self.harness.step();
        self.settle();
    }

    /// Lets simulated time pass until a condition holds, for at most `seconds`. Returns whether the
    /// condition holds.
    pub(crate) fn play_until(&mut self, seconds: f64, done: impl Fn(&Editor) -> bool) -> bool {
        for _ in 0..20_000 {
            self.harness.step();
            if done(self.editor()) {
                return true;
            }
            let live = self.editor().model().live.clone();
            if live.is_some_and(|live| live.snapshot.time > seconds || live.is_over) {
                return done(self.editor());
            }
            std::thread::sleep(Duration::from_millis(4));
        }
        false
    }

    /// Lets simulated time pass until a vehicle has arrived, for at most `seconds`. Returns whether
    /// a vehicle has arrived.
    pub(crate) fn play_until_arrived(&mut self, seconds: f64) -> bool {
        self.play_until(seconds, |editor| {
            let live = editor.model().live.as_ref();
            live.is_some_and(|live| live.counts.arrived == 1)
        })
    }

    /// Undoes all steps.
    pub(crate) fn undo_all(&mut self) {
        self.ask(Action::GoToStep(0));
    }

    /// Writes a picture of the window.
    pub(crate) fn picture(&mut self, path: &Path) {
        self.harness.render().unwrap().save(path).unwrap();
    }
}

/// Selects streets without pavements.
pub(crate) fn plain_streets(options: &mut ToolOptions) {
    let mut presets = options.presets.iter();
    options.preset = presets.position(|p| p.name == PLAIN_STREET).unwrap();
}

/// An experiment that takes one or two seconds.
pub(crate) const SMALL_EXPERIMENT: &str = r#"{
  "format": "roadwright-experiment",
  "version": 1,
  "about": "A small one.",
  "course": "arena",
  "vehicle": "willys_mb",
  "stack": "fuzzy_driver",
  "genes": ["fuzzy_driver.rule_*", "fuzzy_driver.braking"],
  "seeds": {"train": [1, 100], "validate": [201, 202], "test": [301, 304]},
  "operators": {"p": 2, "n": 4, "r": 0.3, "m": 3},
  "runs": 2,
  "stop": {"generations": 3}
}"#;

/// Opens the experiment contained in a text.
pub(crate) fn open_experiment(bench: &mut Bench, text: &str) -> PathBuf {
    let path = bench.folder.path().join("small.experiment.json");
    std::fs::write(&path, text).unwrap();
    let purpose = Purpose::Experiment(ExperimentFile::Open);
    bench.ask(Action::Path(path.clone(), purpose, None));
    path
}

/// Trains a small experiment to its end.
pub(crate) fn small_training(bench: &mut Bench) {
    open_experiment(bench, SMALL_EXPERIMENT);
    bench.press("Train");
    for _ in 0..60_000 {
        bench.harness.step();
        let training = bench.editor().model().experiment.training.clone();
        if training.is_some_and(|training| !training.phase.is_busy()) {
            return bench.settle();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the training does not end");
}

/// Writes results of two drivers in the arena in the same form as `bench run`, and opens them.
pub(crate) fn open_results(bench: &mut Bench) {
    for (name, controller) in [("fuzzy", "fuzzy_driver"), ("pursuit", "pursuit")] {
        let setup = Setup::with_driver(Stack::with_controller(controller));
        let experiment = bench::RunSeries {
            course: &Course::named("arena").unwrap(),
            setup: &setup,
            modules: &builtin_modules(),
            first_seed: 1,
            stop: bench::Stop::Runs { runs: 6 },
            against: None,
            level: 0.95,
            threads: 2,
        };
        let row = |seed| measure(experiment.course, &setup, experiment.modules, seed);
        let rows = (1..=6).map(|seed| row(seed).unwrap().row).collect();
        let results = bench::Results::of_rows(experiment.head().unwrap(), rows);
        let path = bench.folder.path().join(format!("{name}.json"));
        std::fs::write(&path, results.to_text()).unwrap();
        let purpose = Purpose::Experiment(ExperimentFile::Results);
        bench.ask(Action::Path(path, purpose, None));
    }
}
