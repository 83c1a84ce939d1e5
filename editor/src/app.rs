//! The application: assembles the frame and takes in the results of background work.

use crate::autosave::{Recovery, recoveries};
use crate::camera::Camera;
use crate::damaged::Damaged;
use crate::derived::Derivation;
use crate::document::{Document, UNTITLED};
use crate::document_flow::DocumentFlow;
use crate::experiment::ExperimentModel;
use crate::extensions::{Extensions, Folders, Modules};
use crate::folder_list::{self, FolderList, ListedFolder};
use crate::gamepad::Gamepads;
use crate::kept_runs::KeptRuns;
use crate::laboratory::Laboratory;
use crate::lookout::{self, Lookout};
use crate::map::MapPainter;
use crate::map_view::MapView;
use crate::model::{Action, Dialog, Model, Tone};
use crate::panels;
use crate::planned_ways::PlannedWays;
use crate::playing::Playing;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::shipped;
use crate::shop::Shop;
use crate::tools::ToolKind;
use crate::view::ViewState;
use crate::waiting::{Waiting, own};
use crate::worker::Worker;
use crate::workshop::Workshop;
use roadwright_extension::Level;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Scenario, file};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between updates of a job's progress bar.
const JOB_PERIOD: Duration = Duration::from_millis(100);

/// Start options of an editor.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file to open; `None`: the shipped scenario old-town with the welcome panel.
    pub open: Option<PathBuf>,
    /// Where settings are kept.
    pub settings: PathBuf,
    /// Where autosaves are stored.
    pub autosaves: PathBuf,
    /// Folders with plugins and scripts.
    pub modules: Folders,
    /// Whether the GPU draws the map, through eframe's wgpu renderer. Otherwise the map is made of egui
    /// shapes, which any renderer draws.
    pub uses_gpu: bool,
    /// Whether gamepads of the system are read while the user drives by hand.
    pub reads_gamepads: bool,
}

impl Options {
    /// The system's folders for settings and data of programs. `helper` starts the child processes of
    /// plugins.
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
            reads_gamepads: true,
        }
    }
}

/// The editor: the state that panels read, the state of the widgets, and the background parts. Each part is
/// written only in the file that declares it; methods of the editor in the files by subject combine them.
pub struct Editor {
    pub(crate) model: Model,
    pub(crate) view: ViewState,
    /// Actions of the frame, carried out after it.
    pub(crate) actions: Vec<Action>,
    pub(crate) flow: DocumentFlow,
    /// The paused document while something else is shown in its place.
    pub(crate) waiting: Option<Waiting>,
    pub(crate) derived: Derivation,
    /// Reads folders for the path dialog.
    pub(crate) folders: Worker<PathBuf, FolderList>,
    pub(crate) playing: Playing,
    pub(crate) laboratory: Laboratory,
    pub(crate) shop: Shop,
    pub(crate) extensions: Extensions,
    lookout: Lookout,
    pub(crate) gamepads: Gamepads,
    pub(crate) context: egui::Context,
    /// The last copied objects, from this or another window.
    pub(crate) clipboard: Option<Arc<Scenario>>,
    /// The settings folder, and the settings as last written.
    settings_folder: PathBuf,
    saved_settings: Settings,
    started: Instant,
    /// The title of the window.
    window_title: String,
}

impl Editor {
    /// Starts an editor in a window or in a test.
    pub fn new(cc: &eframe::CreationContext<'_>, options: Options) -> Self {
        if let (Some(state), true) = (&cc.wgpu_render_state, options.uses_gpu) {
            crate::map::set_up_gpu(state);
        }
        let context = &cc.egui_ctx;
        // The editor has its own keys for that, and stores the value.
        context.options_mut(|options| options.zoom_with_keyboard = false);
        let settings = Settings::load(&options.settings);
        // Before this session has its own lock in the same folder.
        let recoveries = recoveries(&options.autosaves);
        let (document, dialog, failure) = first_document(&options, &settings, &recoveries);
        let mut model = first_model(document, settings.clone());
        model.dialog = dialog;
        if let Some(path) = model.document.path() {
            // As an absolute path, whatever folder the program is started from next.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            model.settings.remember(&path);
        }
        model.recoveries = recoveries;
        let mut extensions = Extensions::open(&options.modules, model.document.path(), &settings);
        // Modules found at startup are not news.
        let trusted = &model.settings.trusted_folders;
        extensions.look(&mut model.modules, trusted, 0.0);
        let wake = waker(context);
        let mut editor = Self {
            model,
            extensions,
            view: ViewState::new(MapPainter::new(options.uses_gpu, wake.clone())),
            actions: Vec::new(),
            flow: DocumentFlow::new(&options.autosaves),
            waiting: None,
            derived: Derivation::new(wake.clone()),
            folders: Worker::new(|folder: PathBuf| folder_list::read(&folder), wake.clone()),
            laboratory: Laboratory::new(wake.clone()),
            lookout: Lookout::new(wake),
            playing: Playing::default(),
            shop: Shop::default(),
            gamepads: Gamepads::new(options.reads_gamepads),
            context: context.clone(),
            clipboard: None,
            settings_folder: options.settings,
            saved_settings: settings,
            started: now(),
            window_title: String::new(),
        };
        if let Some(damaged) = failure {
            editor.model.damaged = Some(Arc::new(damaged));
            editor.model.dialog = Dialog::Damaged;
        }
        editor.drop_lost_members();
        // The first picture shows the world rather than an empty map.
        editor.derive();
        editor.wait_for_scene();
        editor
    }

    /// The state that panels read.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Requests an action, as a panel would.
    pub fn ask(&mut self, action: Action) {
        self.actions.push(action);
        self.context.request_repaint();
    }

    /// Whether no background work is pending: derived data, checks, pictures of the map, files, orders to the
    /// simulation.
    pub fn is_settled(&self) -> bool {
        let revision = self.model.document.revision();
        self.actions.is_empty()
            && self.model.scene.revision == revision
            && self.model.findings.0 == revision
            && self.derived.asked_ways.is_answered()
            && self.is_folder_listed()
            && !self.view.canvas.is_waiting()
            && !self.flow.is_busy()
            && !self.laboratory.is_checking()
            && self.playing.is_settled(&self.model)
            && !self.model.workshop.trial.is_running
    }

    /// Whether the welcome panel has all its pictures.
    pub fn has_welcome_pictures(&self) -> bool {
        self.view.panels.has_welcome_pictures()
    }

    /// Number of skid mark pieces on the map.
    pub fn skid_mark_count(&self) -> usize {
        self.view.canvas.skid_mark_count()
    }

    /// The rectangle of the map on the screen.
    pub fn map_rect(&self) -> egui::Rect {
        self.view.canvas.rect
    }

    /// Screen point of a world point on the map.
    pub fn screen(&self, point: roadwright_geometry::DVec2) -> egui::Pos2 {
        self.model.camera.screen(self.view.canvas.rect, point)
    }

    /// A function that wakes the window from another thread.
    pub(crate) fn wake(&self) -> impl Fn() + Send + Clone + 'static {
        waker(&self.context)
    }

    /// Shows a message.
    pub(crate) fn say(&mut self, tone: Tone, text: &str) {
        self.view.say(tone, text);
    }

    /// Reports plugins and scripts that were added, removed or changed.
    fn look_at_modules(&mut self, time: f64) {
        let trusted = &self.model.settings.trusted_folders;
        let news = self.extensions.look(&mut self.model.modules, trusted, time);
        for event in news.events {
            // A dialog asks for that, in words other than those of the command line.
            if event.text.contains("may not run yet") {
                continue;
            }
            let tone = match event.level {
                Level::Info => Tone::Done,
                Level::Warning => Tone::Refused,
                Level::Error => Tone::Failed,
            };
            self.say(tone, &format!("{}: {}", event.module, event.text));
        }
        // The run learns of modules only here, because it has its own registry.
        if let Some(live) = self.playing.run() {
            if news.has_timed_out {
                // The continuation would depend on the speed of the machine, so the user decides.
                live.play(false);
            }
            if news.has_new_modules {
                live.use_modules(self.model.modules.registry.clone());
            }
        }
        if self.model.dialog == Dialog::None && self.model.modules.asks {
            self.model.dialog = Dialog::AllowPlugin;
        }
    }

    /// Sets the window title: the scenario's name, and whether it has unsaved changes.
    fn name_window(&mut self) {
        let title = format!("{} - Roadwright", self.model.title());
        if self.window_title != title {
            let command = egui::ViewportCommand::Title(title.clone());
            self.context.send_viewport_cmd(command);
            self.window_title = title;
        }
    }

    pub(crate) fn save_settings(&mut self) {
        if self.saved_settings != self.model.settings {
            self.saved_settings = self.model.settings.clone();
            // Failing to store settings is no reason to stop.
            let _ = self.saved_settings.save(&self.settings_folder);
        }
    }

    /// Takes in the results of background work: before the frame, and also while the window is hidden.
    fn work(&mut self) {
        // The time of the frame stands still while the window is hidden.
        let frame_time = self.context.input(|i| i.time);
        let time = frame_time.max(self.started.elapsed().as_secs_f64());
        // In this order, a document from a job is derived and its edits reach the run before it is drawn.
        self.take_answers();
        self.take_jobs();
        self.derive();
        self.look_at_modules(time);
        self.look_at_live();
        self.look_at_experiment();
        self.look_at_workshop();
        self.look_at_files(time);
        self.look_at_folder(frame_time);
        self.look_at_dropped_files();
        self.look_at_closing();
        self.name_window();
        let file = self.model.document.path();
        self.lookout.watch(file, self.extensions.call_watch());
        if let Some(period) = self.next_work(time) {
            self.context.request_repaint_after(period);
        }
    }

    /// Time until the next periodic work. `None`: the window sleeps until the user or the lookout wakes it.
    fn next_work(&self, time: f64) -> Option<Duration> {
        // Jobs wake the window when they finish, but their bars have to move before that.
        if self.flow.is_busy() || self.laboratory.is_training() {
            return Some(JOB_PERIOD);
        }
        // The lookout reports a change once, so it must not arrive at a frame that does not check.
        let is_kept = self.flow.has_looked(time)
            && self.flow.has_kept(own(&self.waiting, &self.model.document))
            && self.saved_settings == self.model.settings;
        let is_listing = matches!(self.model.dialog, Dialog::Path { .. });
        // A run continues while the window is hidden and no frames are drawn.
        let is_quiet = is_kept && !is_listing && !self.model.is_playing() && self.is_settled();
        (!is_quiet).then_some(lookout::PERIOD)
    }
}

fn waker(context: &egui::Context) -> impl Fn() + Send + Clone + 'static {
    let context = context.clone();
    move || context.request_repaint()
}

/// The initial state for a document, before anything is derived.
fn first_model(document: Document, settings: Settings) -> Model {
    Model {
        document,
        waiting: None,
        scene: Arc::new(Scene::empty()),
        findings: (0, Arc::default()),
        import: None,
        modules: Modules::default(),
        selection: Objects::new(),
        explained: None,
        ways: PlannedWays::new(),
        tool: ToolKind::Select,
        camera: Camera::default(),
        settings,
        live: None,
        speed: 1.0,
        watched: None,
        follow: false,
        driving: None,
        pad: Default::default(),
        background: None,
        experiment: ExperimentModel::default(),
        dialog: Dialog::None,
        folder: ListedFolder::default(),
        status: String::new(),
        pointer: None,
        job: None,
        recoveries: Vec::new(),
        kept_runs: KeptRuns::default(),
        damaged: None,
        changed_on_disk: false,
        bundle: None,
        workshop: Workshop::default(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "autosaves and people go by the wall clock; no simulation reads it"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The initial document, and the error of the requested file if it cannot be read.
fn first_document(
    options: &Options,
    settings: &Settings,
    recoveries: &[Recovery],
) -> (Document, Dialog, Option<Damaged>) {
    let welcome = settings.welcome || !recoveries.is_empty();
    let dialog = |show: bool| if show { Dialog::Welcome } else { Dialog::None };
    // A shipped scenario is shown behind the welcome panel.
    let Some(path) = &options.open else {
        return (shipped::document(0), dialog(welcome), None);
    };
    match file::load(path) {
        Ok(scenario) => (
            Document::from_file(scenario, path),
            dialog(!recoveries.is_empty()),
            None,
        ),
        // Nothing else is shown in place of the requested file.
        Err(error) => {
            let empty = Document::new(Scenario::new(UNTITLED));
            (empty, Dialog::None, Some(Damaged::look(path, &error)))
        }
    }
}

impl eframe::App for Editor {
    fn logic(&mut self, _: &egui::Context, _: &mut eframe::Frame) {
        self.work();
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        self.read_gamepads();
        // A frame, in order:
        //
        //   logic   work             workers, jobs, the run, files    -> model
        //   ui      read_gamepads    pads                             -> model, actions
        //           keyboard::read   model -> tool in hand, actions
        //           panels::ui       model -> picture, view state, actions
        //           after_frame      actions                          -> model
        let Self {
            model,
            view,
            actions,
            context,
            ..
        } = self;
        // From here on the model is read only, until the frame is drawn.
        let model = &*model;
        view.apply_theme(context, &model.settings);
        crate::keyboard::read(context, model, view, actions);
        panels::ui(ui, model, view, actions);
        view.show_messages(ui.ctx());
        self.after_frame();
        if self.model.is_playing() {
            self.context.request_repaint();
        }
    }

    fn on_exit(&mut self) {
        self.save_settings();
        self.flow.end();
    }
}
