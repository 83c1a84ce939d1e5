//! The application: assembles the frame and collects the results of background work.

use crate::autosave::{Recovery, recoveries};
use crate::camera::Camera;
use crate::clock::now;
use crate::context::{Context, waker};
use crate::damaged::Damaged;
use crate::derived::Derivation;
use crate::document::{Document, UNTITLED};
use crate::document_flow::DocumentFlow;
use crate::edit_commands::Editing;
use crate::experiment::ExperimentModel;
use crate::extensions::{Folders, Modules};
use crate::folder_list::ListedFolder;
use crate::folder_reader::FolderReader;
use crate::gamepad::Gamepads;
use crate::input_order::InputOrder;
use crate::kept_runs::KeptRuns;
use crate::laboratory::Laboratory;
use crate::lookout::{self, Lookout};
use crate::map::MapPainter;
use crate::map_view::MapView;
use crate::model::{Action, Dialog, Model, PlannedRoutes};
use crate::module_actions::ModuleHost;
use crate::move_desk::MoveDesk;
use crate::moves::MoveBench;
use crate::panels;
use crate::playing::Playing;
use crate::race::{RaceAction, RaceOrder};
use crate::racing::Racing;
use crate::route_source::RouteSource;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::sharing;
use crate::shipped;
use crate::shop::Shop;
use crate::tools::ToolKind;
use crate::view::ViewState;
use crate::workshop::Workshop;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Scenario, file};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between updates of a job's progress bar.
const JOB_PERIOD: Duration = Duration::from_millis(100);
/// Size above which the file requested at the start is read in the background, bytes. Smaller files
/// are shown in the first frame.
const LARGE: u64 = 1_000_000;

/// Start options of the editor.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file to open; `None` for the shipped scenario old-town with the welcome panel.
    pub open: Option<PathBuf>,
    /// Folder of the settings file.
    pub settings: PathBuf,
    /// Folder for autosaves.
    pub autosaves: PathBuf,
    /// Folders with plugins and scripts.
    pub modules: Folders,
    /// Whether the GPU draws the map, through eframe's wgpu renderer. Otherwise, the map consists
    /// of egui shapes, which any renderer can draw.
    pub uses_gpu: bool,
    /// Whether system gamepads are read during manual driving.
    pub reads_gamepads: bool,
    /// The course of a race that starts immediately, if any.
    pub race: Option<RaceOrder>,
}

impl Options {
    /// Returns the options for a user's session, with the system's folders for settings and data of
    /// programs. `helper` is the command that starts the child processes of plugins.
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
            race: None,
        }
    }
}

/// The editor: the state that panels read, the state of the widgets, and the background parts. Each
/// part is a struct whose own state is changed by `act`. Parts send requests to each other through
/// the context.
pub struct Editor {
    pub(crate) cx: Context,
    pub(crate) flow: DocumentFlow,
    pub(crate) derived: Derivation,
    pub(crate) folders: FolderReader,
    pub(crate) editing: Editing,
    pub(crate) playing: Playing,
    pub(crate) laboratory: Laboratory,
    pub(crate) shop: Shop,
    pub(crate) move_desk: MoveDesk,
    pub(crate) racing: Racing,
    pub(crate) modules: ModuleHost,
    lookout: Lookout,
    settings: KeptSettings,
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
        // The editor binds these keys itself and stores the zoom.
        context.options_mut(|options| options.zoom_with_keyboard = false);
        context.add_plugin(InputOrder::default());
        let settings = Settings::load(&options.settings);
        // Read before this session has its own lock in the same folder.
        let recoveries = recoveries(&options.autosaves);
        let First {
            document,
            dialog,
            failure,
            later,
        } = First::of(&options, &settings, &recoveries);
        let mut model = first_model(document, settings.clone());
        model.dialog = dialog;
        if let Some(path) = model.document.path() {
            // Made absolute, because the program may be started from another folder next time.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            model.settings.remember(&path);
        }
        model.recoveries = recoveries;
        let modules = ModuleHost::open(&options.modules, &mut model);
        let wake = waker(context);
        let routes = model.route_source.clone();
        let mut editor = Self {
            cx: Context::new(
                model,
                ViewState::new(MapPainter::new(options.uses_gpu, wake.clone())),
                context.clone(),
            ),
            modules,
            flow: DocumentFlow::new(&options.autosaves),
            derived: Derivation::new(routes, wake.clone()),
            folders: FolderReader::new(wake.clone()),
            editing: Editing::default(),
            laboratory: Laboratory::new(wake.clone()),
            lookout: Lookout::new(wake),
            playing: Playing::new(Gamepads::new(options.reads_gamepads)),
            shop: Shop::default(),
            move_desk: MoveDesk::default(),
            racing: Racing::new(&options.modules.user),
            settings: KeptSettings {
                folder: options.settings,
                saved: settings,
            },
            started: now(),
            window_title: String::new(),
        };
        if let Some(damaged) = failure {
            editor.cx.model.damaged = Some(Arc::new(damaged));
            editor.cx.model.dialog = Dialog::Damaged;
        }
        if let Some(path) = later {
            editor.flow.read(&mut editor.cx, path);
        }
        if let Some(order) = options.race {
            editor.cx.model.dialog = Dialog::None;
            editor.ask(Action::Race(RaceAction::Start(Box::new(order))));
        }
        editor.cx.drop_lost_members();
        // Without this, the first picture would show an empty map.
        editor.derived.derive(&mut editor.cx);
        editor.derived.wait_for_scene(&mut editor.cx);
        editor
    }

    /// Removes all messages, which otherwise disappear only after some time. For tests.
    pub fn clear_messages(&mut self) {
        self.cx.view.messages.clear();
    }

    /// Returns the state that panels read.
    pub fn model(&self) -> &Model {
        &self.cx.model
    }

    /// Requests an action, as a panel would.
    pub fn ask(&mut self, action: Action) {
        self.cx.actions.push(action);
        self.cx.egui.request_repaint();
    }

    /// Whether all background work is finished: derived data, checks, map images, file access and simulation
    /// commands.
    pub fn is_settled(&self) -> bool {
        let revision = self.cx.model.document.revision();
        let order = |order: &mut InputOrder| order.is_empty();
        self.cx.actions.is_empty()
            && self.cx.egui.with_plugin(order).unwrap_or(true)
            && self.cx.model.scene.revision == revision
            && self.cx.model.findings.0 == revision
            && self.derived.has_checked_ground(revision)
            && self.derived.knows_routes()
            && self.folders.is_listed(&self.cx.model)
            && !self.cx.view.canvas.is_waiting()
            && self.cx.jobs.is_empty()
            && !self.laboratory.is_checking()
            && self.playing.is_settled(&self.cx)
            && !self.cx.model.workshop.trial.is_running
    }

    /// Holds back the answers of the workers that derive data and draw the map, as if they were
    /// slow. Tests use this to check the window during that time.
    pub fn hold_answers(&mut self) {
        self.derived.hold();
        self.cx.view.canvas.painter.hold();
    }

    /// Stops holding back the answers of the workers.
    pub fn release_answers(&mut self) {
        self.derived.release();
        self.cx.view.canvas.painter.release();
        self.cx.egui.request_repaint();
    }

    /// Whether the welcome panel has all its pictures.
    pub fn has_welcome_pictures(&self) -> bool {
        self.cx.view.panels.has_welcome_pictures()
    }

    /// Returns the number of skid mark pieces on the map.
    pub fn skid_mark_count(&self) -> usize {
        self.cx.view.canvas.skid_mark_count()
    }

    /// Returns the rectangle of the map on the screen.
    pub fn map_rect(&self) -> egui::Rect {
        self.cx.view.canvas.rect
    }

    /// Converts a world point to a screen point on the map.
    pub fn screen(&self, point: roadwright_geometry::DVec2) -> egui::Pos2 {
        self.cx.model.camera.screen(self.cx.view.canvas.rect, point)
    }

    /// Sets the window title to the scenario's name, with a mark if it has unsaved changes.
    fn name_window(&mut self) {
        let title = format!("{} - Roadwright", self.cx.model.title());
        if self.window_title != title {
            let command = egui::ViewportCommand::Title(title.clone());
            self.cx.egui.send_viewport_cmd(command);
            self.window_title = title;
        }
    }

    /// Collects the results of background work, before each frame and also while the window is hidden.
    fn work(&mut self) {
        // The time of the frame does not advance while the window is hidden.
        let frame_time = self.cx.egui.input(|i| i.time);
        let time = frame_time.max(self.started.elapsed().as_secs_f64());
        // This order ensures that data are derived for a document from a job, and that its edits reach the
        // run, before it is drawn.
        self.derived.take_answers(&mut self.cx);
        self.take_jobs();
        self.derived.derive(&mut self.cx);
        self.modules.look(&mut self.cx, time);
        self.do_what_follows();
        self.playing.look(&mut self.cx);
        self.laboratory.look(&mut self.cx);
        self.shop.look(&mut self.cx);
        self.flow.look_at_left(&self.cx);
        self.move_desk.look(&mut self.cx);
        self.racing.look(&mut self.cx);
        if self.flow.look_at_files(&mut self.cx, time) {
            self.settings.save(&self.cx.model.settings);
        }
        self.folders.look(&mut self.cx, frame_time);
        sharing::look_at_dropped_files(&mut self.cx);
        self.do_what_follows();
        self.flow.look_at_closing(&mut self.cx);
        self.do_what_follows();
        self.name_window();
        let file = self.cx.model.document.path();
        self.lookout.watch(file, self.modules.call_watch());
        if let Some(period) = self.next_work(time) {
            self.cx.egui.request_repaint_after(period);
        }
    }

    /// Returns the time until the next periodic task is due. With `None`, the window sleeps until
    /// the user or the lookout wakes it.
    fn next_work(&self, time: f64) -> Option<Duration> {
        // Jobs wake the window when they finish, but their bars have to move before that.
        let is_drawing = self.cx.view.canvas.progress().is_some();
        if !self.cx.jobs.is_empty() || self.laboratory.is_training() || is_drawing {
            return Some(JOB_PERIOD);
        }
        // The lookout reports a change only once, so the frame it wakes must check for changes.
        let is_kept = self.flow.has_looked(time)
            && self.flow.has_kept(self.cx.own_document())
            && self.settings.saved == self.cx.model.settings;
        let is_listing = matches!(self.cx.model.dialog, Dialog::Path { .. });
        // A run continues while the window is hidden and no frames are drawn.
        let is_quiet = is_kept && !is_listing && !self.cx.model.is_playing() && self.is_settled();
        (!is_quiet).then_some(lookout::PERIOD)
    }
}

/// The settings folder, and the settings as last written.
struct KeptSettings {
    folder: PathBuf,
    saved: Settings,
}

impl KeptSettings {
    /// Writes the settings if they have changed since the last time.
    fn save(&mut self, settings: &Settings) {
        if self.saved != *settings {
            self.saved = settings.clone();
            // Failing to store settings is no reason to stop.
            let _ = self.saved.save(&self.folder);
        }
    }
}

/// Creates the initial state for a document, before anything is derived from it.
fn first_model(document: Document, settings: Settings) -> Model {
    Model {
        document,
        waiting: None,
        scene: Arc::new(Scene::empty()),
        findings: (0, Arc::default()),
        problems: Default::default(),
        measured: Vec::new(),
        import: None,
        modules: Modules::default(),
        selection: Objects::new(),
        explained: None,
        routes: PlannedRoutes::new(),
        route_source: RouteSource::default(),
        drawn_route: None,
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
        moves: MoveBench::default(),
        race: None,
    }
}

/// The content of the window at the start.
struct First {
    document: Document,
    dialog: Dialog,
    /// The error of the requested file, if it cannot be read.
    failure: Option<Damaged>,
    /// The requested file, if it is so large that it is read in the background.
    later: Option<PathBuf>,
}

impl First {
    fn of(options: &Options, settings: &Settings, recoveries: &[Recovery]) -> Self {
        let welcome = settings.welcome || !recoveries.is_empty();
        let dialog = |show: bool| if show { Dialog::Welcome } else { Dialog::None };
        // A shipped scenario is shown behind the welcome panel.
        let Some(path) = &options.open else {
            return Self::showing(shipped::document(0), dialog(welcome));
        };
        let dialog = dialog(!recoveries.is_empty());
        // If the requested file cannot be read, no other file is shown in its place.
        let empty = || Document::new(Scenario::new(UNTITLED));
        let size = std::fs::metadata(path).map_or(0, |data| data.len());
        if size >= LARGE {
            // Made absolute like the paths of files that are opened immediately.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            return Self {
                later: Some(path),
                ..Self::showing(empty(), dialog)
            };
        }
        match file::load(path) {
            Ok(scenario) => Self::showing(Document::from_file(scenario, path), dialog),
            Err(error) => Self {
                failure: Some(Damaged::look(path, &error)),
                ..Self::showing(empty(), Dialog::None)
            },
        }
    }

    fn showing(document: Document, dialog: Dialog) -> Self {
        Self {
            document,
            dialog,
            failure: None,
            later: None,
        }
    }
}

impl eframe::App for Editor {
    fn logic(&mut self, _: &egui::Context, _: &mut eframe::Frame) {
        self.work();
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        self.playing.read_gamepads(&mut self.cx);
        // A frame, in order:
        //
        //   input   InputOrder       events up to the next key or button
        //   logic   work             workers, jobs, the run, files    -> model
        //   ui      read_gamepads    pads                             -> model, actions
        //           keyboard::read   model -> tool in hand, actions
        //           panels::ui       model -> picture, view state, actions
        //           after_frame      actions                          -> model
        let Context {
            model,
            view,
            actions,
            egui: context,
            ..
        } = &mut self.cx;
        // From here on the model is read only, until the frame is drawn.
        let model = &*model;
        view.apply_theme(context, &model.settings);
        view.canvas.begin_frame();
        crate::keyboard::read(context, model, view, actions);
        panels::ui(ui, model, &mut view.canvas, &mut view.panels, actions);
        let map = view.canvas.rect;
        view.messages.ui(ui.ctx(), map, model, actions);
        self.after_frame();
        // Events that wait for the next frame are handled with the data of the edited document.
        let model = &self.cx.model;
        let is_current = Arc::ptr_eq(&model.scene.scenario, model.document.scenario());
        let order = |order: &mut InputOrder| order.set_current(is_current);
        self.cx.egui.with_plugin(order);
        if self.cx.model.is_playing() {
            self.cx.egui.request_repaint();
        }
    }

    fn on_exit(&mut self) {
        self.settings.save(&self.cx.model.settings);
        self.flow.end();
    }
}
