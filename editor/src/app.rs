//! The application: it puts the frame together and lets work that is beside it in.

use crate::autosave::{Autosave, Recovery, recoveries};
use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::document::Document;
use crate::extensions::{Extensions, Folders, Modules};
use crate::jobs::Job;
use crate::live::Live;
use crate::map::MapPainter;
use crate::model::{Action, Dialog, Model, Next, Tone};
use crate::panels::{self, PanelState};
use crate::scene::Scene;
use crate::settings::Settings;
use crate::shipped;
use crate::theme;
use crate::tools::{Tool, ToolKind};
use crate::worker::Worker;
use egui_notify::Toasts;
use roadwright_extension::Level;
use roadwright_scenario::check::{Finding, check};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Scenario, file};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How an editor is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file to open; `None`: the shipped scenario old-town with the welcome panel.
    pub open: Option<PathBuf>,
    /// Where settings are kept.
    pub settings: PathBuf,
    /// Where autosaves are kept.
    pub autosaves: PathBuf,
    /// Where plugins and scripts are looked for.
    pub modules: Folders,
    /// Whether the map is drawn by the GPU, through eframe's wgpu renderer. Else it is made of
    /// egui shapes, which any renderer draws.
    pub uses_gpu: bool,
}

impl Options {
    /// The folders that the system has for settings and data of programs. `helper` starts the child
    /// processes of plugins.
    pub fn for_user(open: Option<PathBuf>, helper: Vec<OsString>) -> Self {
        let folders = directories::ProjectDirs::from("", "", "roadwright");
        let temporary = || std::env::temp_dir().join("roadwright");
        Self {
            open,
            settings: folders
                .as_ref()
                .map_or_else(temporary, |f| f.config_dir().to_owned()),
            autosaves: folders
                .as_ref()
                .map_or_else(temporary, |f| f.data_local_dir().join("autosave")),
            modules: Folders {
                helper,
                user: folders
                    .as_ref()
                    .map_or_else(temporary, |f| f.data_dir().to_owned()),
                cache: folders
                    .as_ref()
                    .map_or_else(temporary, |f| f.cache_dir().to_owned()),
            },
            uses_gpu: true,
        }
    }
}

/// A revision of a scenario, and the scene before, whose unchanged roads are taken over.
type SceneQuestion = (Arc<Scenario>, u64, Arc<Scene>);
type CheckQuestion = (Arc<Scenario>, u64);

/// The editor.
pub struct Editor {
    pub(crate) model: Model,
    pub(crate) canvas: Canvas,
    pub(crate) tool: Box<dyn Tool>,
    pub(crate) actions: Vec<Action>,
    pub(crate) live: Option<Live>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) toasts: Toasts,
    pub(crate) panels: PanelState,
    pub(crate) extensions: Extensions,
    pub(crate) autosave: Option<Autosave>,
    pub(crate) options: Options,
    pub(crate) context: egui::Context,
    /// What was copied last, here or in another window.
    pub(crate) clipboard: Option<Arc<Scenario>>,
    /// The last message of the simulation that was shown.
    pub(crate) shown_error: u64,
    /// A save that waits for the one that is being written.
    pub(crate) next_save: Option<(PathBuf, Option<Next>)>,
    /// The state of the document when another one was asked for.
    pub(crate) load_state: Option<(u64, u64)>,
    /// A document that was read while the old one was still edited.
    pub(crate) loaded: Option<Document>,
    /// What was recovered; its files go when this session has kept the edits itself.
    pub(crate) recovered: Option<Recovery>,
    /// The next quit is not asked about.
    pub(crate) may_quit: bool,
    scene_worker: Worker<SceneQuestion, Scene>,
    check_worker: Worker<CheckQuestion, (u64, Vec<Finding>)>,
    asked_revision: u64,
    live_revision: u64,
    saved_settings: Settings,
    disk_looked_at: f64,
    needs_frame: bool,
    themed: Option<bool>,
    started: Instant,
}

impl Editor {
    /// Starts an editor in a window or in a test.
    pub fn new(cc: &eframe::CreationContext<'_>, options: Options) -> Self {
        if let (Some(state), true) = (&cc.wgpu_render_state, options.uses_gpu) {
            crate::map::set_up_gpu(state);
        }
        let context = &cc.egui_ctx;
        let settings = Settings::load(&options.settings);
        // The editor has keys of its own for that, and remembers it.
        context.options_mut(|options| options.zoom_with_keyboard = false);
        let recoveries = recoveries(&options.autosaves);
        let autosave = Autosave::start(&options.autosaves).ok();
        let (document, dialog, failure) = first_document(&options, &settings, &recoveries);
        let wake = {
            let context = context.clone();
            move || context.request_repaint()
        };
        let mut extensions = Extensions::open(&options.modules, document.path(), &settings);
        let mut model = Model {
            document,
            scene: Arc::new(Scene::empty()),
            findings: (0, Arc::default()),
            modules: Modules::default(),
            selection: Objects::new(),
            tool: ToolKind::Select,
            camera: Camera::default(),
            settings: settings.clone(),
            live: None,
            speed: 1.0,
            watched: None,
            follow: false,
            background: None,
            dialog,
            status: String::new(),
            pointer: None,
            job: None,
            recoveries,
            changed_on_disk: false,
        };
        // What was found at the start is no news.
        extensions.look(&mut model.modules, 0.0);
        let mut editor = Self {
            model,
            extensions,
            canvas: Canvas::new(MapPainter::new(options.uses_gpu, wake.clone())),
            tool: ToolKind::Select.tool(),
            actions: Vec::new(),
            live: None,
            jobs: Vec::new(),
            // Beside the tool bar and above the status line.
            toasts: Toasts::default()
                .with_anchor(egui_notify::Anchor::BottomLeft)
                .with_margin(egui::vec2(78.0, 80.0)),
            panels: PanelState::new(context),
            autosave,
            options,
            context: context.clone(),
            clipboard: None,
            shown_error: 0,
            next_save: None,
            load_state: None,
            loaded: None,
            recovered: None,
            may_quit: false,
            started: now(),
            scene_worker: Worker::new(
                |(scenario, revision, before): SceneQuestion| {
                    Scene::new(scenario, revision, Some(&before))
                },
                wake.clone(),
            ),
            check_worker: Worker::new(
                |(scenario, revision): CheckQuestion| (revision, check(&scenario)),
                wake,
            ),
            asked_revision: 0,
            live_revision: 0,
            saved_settings: settings,
            disk_looked_at: 0.0,
            needs_frame: true,
            themed: None,
        };
        if let Some(message) = failure {
            editor.say(Tone::Failed, &message);
        }
        // The first picture shows the world, not an empty map.
        editor.derive();
        editor.wait_for_scene();
        editor
    }

    /// What panels read.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Asks for something, as a panel would.
    pub fn ask(&mut self, action: Action) {
        self.actions.push(action);
        self.context.request_repaint();
    }

    /// Whether nothing is being worked on beside the frame: derived data, checks, pictures of the
    /// map, files, orders to the simulation.
    pub fn is_settled(&self) -> bool {
        let revision = self.model.document.revision();
        self.actions.is_empty()
            && self.model.scene.revision == revision
            && self.model.findings.0 == revision
            && !self.canvas.is_waiting()
            && self.jobs.is_empty()
            && self.live.as_ref().is_none_or(Live::is_settled)
    }

    /// Whether the welcome panel has all its pictures.
    pub fn has_welcome_pictures(&self) -> bool {
        self.panels.has_welcome_pictures()
    }

    /// Screen point of a world point on the map.
    pub fn screen(&self, point: roadwright_geometry::DVec2) -> egui::Pos2 {
        self.model.camera.screen(self.canvas.rect, point)
    }

    pub(crate) fn wake(&self) -> impl Fn() + Send + Clone + 'static {
        let context = self.context.clone();
        move || context.request_repaint()
    }

    pub(crate) fn say(&mut self, tone: Tone, text: &str) {
        let toast = match tone {
            Tone::Done => self.toasts.success(text),
            Tone::Refused => self.toasts.warning(text),
            Tone::Failed => self.toasts.error(text),
        };
        let seconds = if tone == Tone::Done { 3 } else { 8 };
        toast.duration(Duration::from_secs(seconds));
    }

    /// Another document; the old one is not looked back at.
    pub(crate) fn set_document(&mut self, document: Document) {
        if let Some(autosave) = &mut self.autosave {
            autosave.clear();
        }
        self.model.document = document;
        // A run keeps its modules when its scenario is saved elsewhere; another document does not.
        let path = self.model.document.path();
        self.extensions.follow(path, &self.model.settings);
        self.model.selection.clear();
        self.model.watched = None;
        self.model.follow = false;
        self.model.changed_on_disk = false;
        self.model.dialog = Dialog::None;
        self.live = None;
        self.model.live = None;
        self.canvas.let_go();
        self.tool = self.model.tool.tool();
        self.asked_revision = 0;
        self.model.scene = Arc::new(Scene::empty());
        self.needs_frame = true;
        self.panels.forget();
        self.shown_error = 0;
    }

    /// Plugins and scripts that have come, gone or changed.
    fn look_at_modules(&mut self, time: f64) {
        let news = self.extensions.look(&mut self.model.modules, time);
        for event in news.events {
            let tone = match event.level {
                Level::Info => Tone::Done,
                Level::Warning => Tone::Refused,
                Level::Error => Tone::Failed,
            };
            self.say(tone, &format!("{}: {}", event.module, event.text));
        }
        if news.has_timed_out
            && let Some(live) = &mut self.live
        {
            // What follows would depend on the speed of the machine: somebody decides.
            live.play(false);
        }
        if news.has_new_modules
            && let Some(live) = &mut self.live
        {
            live.use_modules(self.model.modules.registry.clone());
        }
        if self.model.dialog == Dialog::None && self.model.modules.asks {
            self.model.dialog = Dialog::AllowPlugin;
        }
    }

    /// Asks the workers about the newest revision.
    fn derive(&mut self) {
        let revision = self.model.document.revision();
        if self.asked_revision == revision {
            return;
        }
        self.asked_revision = revision;
        let scenario = self.model.document.scenario();
        let before = self.model.scene.clone();
        self.scene_worker.ask((scenario.clone(), revision, before));
        self.check_worker.ask((scenario.clone(), revision));
    }

    fn wait_for_scene(&mut self) {
        if let Some(scene) = self.scene_worker.wait() {
            self.take_scene(scene);
        }
    }

    fn take_scene(&mut self, scene: Scene) {
        self.model.scene = Arc::new(scene);
        // What an undo has taken away is not selected any more.
        let scenario = self.model.document.scenario().clone();
        self.model
            .selection
            .retain(|object| crate::actions::exists(&scenario, *object));
    }

    fn take_answers(&mut self) {
        if let Some(scene) = self.scene_worker.take() {
            self.take_scene(scene);
        }
        if let Some((revision, findings)) = self.check_worker.take() {
            self.model.findings = (revision, Arc::new(findings));
        }
    }

    /// The simulation learns of edits and hands over its newest picture.
    fn look_at_live(&mut self) {
        let Some(live) = &mut self.live else {
            self.model.live = None;
            return;
        };
        let revision = self.model.document.revision();
        if self.live_revision != revision {
            self.live_revision = revision;
            live.update(self.model.document.scenario().clone());
        }
        let picture = live.picture();
        if let Some((number, message)) = &picture.error
            && *number > self.shown_error
        {
            self.shown_error = *number;
            let message = message.clone();
            self.say(Tone::Refused, &message);
        }
        self.model.live = Some(picture);
    }

    /// The simulation, started if there is none yet.
    pub(crate) fn live(&mut self) -> &mut Live {
        let revision = self.model.document.revision();
        let wake = self.wake();
        self.live.get_or_insert_with(|| {
            self.live_revision = revision;
            let registry = self.model.modules.registry.clone();
            let mut live = Live::new(self.model.document.scenario().clone(), registry, wake);
            live.set_speed(self.model.speed);
            live.watch(self.model.watched);
            live
        })
    }

    /// Once a second: has someone else written the file, have the settings changed.
    fn look_at_files(&mut self, time: f64) {
        if let Some(autosave) = &mut self.autosave {
            autosave.tick(&self.model.document, time);
            if autosave.has_kept(&self.model.document)
                && let Some(recovered) = self.recovered.take()
            {
                recovered.discard();
            }
        }
        if time - self.disk_looked_at < 1.0 {
            return;
        }
        self.disk_looked_at = time;
        self.model.changed_on_disk = self.model.document.changed_on_disk();
        self.save_settings();
    }

    fn save_settings(&mut self) {
        if self.saved_settings != self.model.settings {
            self.saved_settings = self.model.settings.clone();
            // Settings that cannot be kept are a pity, not a reason to stop.
            let _ = self.saved_settings.save(&self.options.settings);
        }
    }

    fn apply_theme(&mut self) {
        let dark = self.model.settings.dark;
        if self.themed != Some(dark) {
            self.themed = Some(dark);
            theme::apply(&self.context, dark);
        }
        let zoom = self.model.settings.zoom;
        if (self.context.zoom_factor() - zoom).abs() > 1e-3 {
            self.context.set_zoom_factor(zoom);
        }
    }

    fn close_requested(&mut self) {
        let closing = self.context.input(|i| i.viewport().close_requested());
        if closing && !self.may_quit && self.model.document.is_dirty() {
            self.context
                .send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.model.dialog = Dialog::Unsaved(Next::Quit);
        }
    }

    /// Work that goes on whether the window is seen or not.
    fn work(&mut self) {
        // The time of the frame stands still while the window is hidden.
        let frame_time = self.context.input(|i| i.time);
        let time = frame_time.max(self.started.elapsed().as_secs_f64());
        self.take_answers();
        self.take_jobs();
        self.derive();
        self.look_at_modules(time);
        self.look_at_live();
        self.look_at_files(time);
        self.close_requested();
        if !self.jobs.is_empty() {
            self.context
                .request_repaint_after(Duration::from_millis(100));
        }
        // Files may change under us at any time.
        self.context.request_repaint_after(Duration::from_secs(1));
    }

    fn frame_first(&mut self) {
        let current = self.model.scene.revision == self.model.document.revision();
        if self.needs_frame && self.canvas.has_rect && current {
            self.needs_frame = false;
            self.frame_all();
        }
    }

    pub(crate) fn frame_all(&mut self) {
        self.model.camera = match self.model.document.scenario().bounds() {
            Some(bounds) => {
                let mut camera = Camera::default();
                camera.frame(self.canvas.rect, bounds);
                camera
            }
            None => Camera::default(),
        };
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "autosaves are due by the wall clock; no simulation reads it"
)]
fn now() -> Instant {
    Instant::now()
}

/// What is shown at the start, with a message if the wanted file cannot be read.
fn first_document(
    options: &Options,
    settings: &Settings,
    recoveries: &[crate::autosave::Recovery],
) -> (Document, Dialog, Option<String>) {
    let welcome = settings.welcome || !recoveries.is_empty();
    let dialog = |show: bool| if show { Dialog::Welcome } else { Dialog::None };
    let Some(path) = &options.open else {
        return (shipped::document(0), dialog(welcome), None);
    };
    match file::load(path) {
        Ok(scenario) => (
            Document::from_file(scenario, path),
            dialog(!recoveries.is_empty()),
            None,
        ),
        Err(error) => (shipped::document(0), dialog(true), Some(error.to_string())),
    }
}

impl eframe::App for Editor {
    fn logic(&mut self, _: &egui::Context, _: &mut eframe::Frame) {
        self.work();
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        self.apply_theme();
        crate::keyboard::read(self);
        panels::ui(self, ui);
        self.frame_first();
        self.toasts.show(ui.ctx());
        self.run_actions();
        if self.model.is_playing() {
            self.context.request_repaint();
        }
    }

    fn on_exit(&mut self) {
        self.save_settings();
        if let Some(autosave) = &mut self.autosave {
            autosave.end();
        }
    }
}
