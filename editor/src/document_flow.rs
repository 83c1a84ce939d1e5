//! Opening, importing, saving, recovering and leaving documents.
//!
//! Reading and writing are background jobs, so the document may be edited or replaced during a job.
//! Both are detected by comparing `(id, state)` of the document with the pair at the start of the
//! job.

use crate::autosave::{Autosave, Recovery};
use crate::context::Context;
use crate::document::{self, Document, UNTITLED};
use crate::experiment::ExperimentFile;
use crate::import_report::ImportReport;
use crate::jobs::{BenchPlace, DocumentOutcome, DocumentState, Job, VehicleUse};
use crate::laboratory::suggested_experiment;
use crate::left_document::LeftDocument;
use crate::map_view::MapView;
use crate::model::{Dialog, Next, Purpose, Tone};
use crate::move_desk;
use crate::panel::PanelId;
use crate::paths::{is_bundle, is_experiment, scenario_path};
use crate::requests::{BundleAction, FlowAction, ModuleRequest, Request};
use crate::run_keeping;
use crate::sharing;
use crate::shipped;
use crate::shop::{self, vehicle_suggestion};
use crate::tools::ToolKind;
use roadwright_interchange::osm::ImportSummary;
use roadwright_render::Picture;
use roadwright_scenario::{About, Edit, Scenario};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Interval between checks of the document's file, s.
const DISK_PERIOD: f64 = 1.0;

/// Pending operations on documents and files.
pub(crate) struct DocumentFlow {
    /// The autosave; `None` if its folder cannot be written to, so that edits are not autosaved.
    autosave: Option<Autosave>,
    /// A save that waits for the current save to finish.
    next_save: Option<(PathBuf, Option<Next>)>,
    /// State that the document had when another document was requested.
    load_state: Option<DocumentState>,
    /// A loaded document that waits for the user's decision, because the current one was edited
    /// meanwhile.
    loaded: Option<Document>,
    /// The previous document. It is kept until the map of the document in the window has been drawn, so that
    /// opening can be cancelled.
    left: Option<LeftDocument>,
    /// The recovered session. Its files are deleted once this session has autosaved the edits.
    recovered: Option<Recovery>,
    /// Whether the next quit skips the confirmation.
    may_quit: bool,
    disk_looked_at: f64,
}

impl DocumentFlow {
    /// Creates the flow without pending operations. Edits are autosaved in `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            autosave: Autosave::start(folder).ok(),
            next_save: None,
            load_state: None,
            loaded: None,
            left: None,
            recovered: None,
            may_quit: false,
            disk_looked_at: 0.0,
        }
    }

    /// Autosaves a document now and waits until it is written.
    fn keep_now(&mut self, document: &Document) {
        if let Some(autosave) = &mut self.autosave {
            autosave.keep_now(document);
        }
    }

    /// Whether the document's file was checked in the frame at `time`.
    pub(crate) fn has_looked(&self, time: f64) -> bool {
        self.disk_looked_at == time
    }

    /// Whether the newest edits of a document need no autosave, because they are autosaved or because
    /// autosaves cannot be written.
    pub(crate) fn has_kept(&self, document: &Document) -> bool {
        let autosave = self.autosave.as_ref();
        autosave.is_none_or(|autosave| autosave.has_kept(document))
    }

    /// Autosaves a document if an autosave is due.
    fn keep(&mut self, document: &Document, time: f64) {
        let Some(autosave) = &mut self.autosave else {
            return;
        };
        autosave.tick(document, time);
        if autosave.has_kept(document)
            && let Some(recovered) = self.recovered.take()
        {
            recovered.discard();
        }
    }

    /// Ends the session properly, so that nothing is offered for recovery.
    pub(crate) fn end(&mut self) {
        if let Some(autosave) = &mut self.autosave {
            autosave.end();
        }
    }
}

impl DocumentFlow {
    /// Carries out an action.
    pub(crate) fn act(&mut self, cx: &mut Context, action: FlowAction) {
        match action {
            FlowAction::Save => self.save(cx, None),
            FlowAction::AskPath(purpose) => self.ask_path(cx, purpose, None),
            FlowAction::Browse(purpose, then) => self.browse(cx, purpose, then),
            FlowAction::Path(path, purpose, then) => self.take_path(cx, path, purpose, then),
            FlowAction::Leave(next) => self.leave(cx, next),
            FlowAction::Go(next) => self.go(cx, next),
            FlowAction::DiscardRecoveries => self.discard_recoveries(cx),
            FlowAction::Reload => self.reload(cx),
            FlowAction::KeepMine => self.keep_mine(cx),
            FlowAction::CancelJobs => self.cancel_jobs(cx),
            FlowAction::Restart => self.restart(cx),
        }
    }

    /// Saves the work and restarts the program.
    fn restart(&mut self, cx: &mut Context) {
        self.keep_now(cx.own_document());
        let program = std::env::current_exe();
        let started = program.and_then(|program| std::process::Command::new(program).spawn());
        match started {
            // Exits without destructors, which would wait for the thread.
            Ok(_) => std::process::exit(0),
            Err(error) => cx.say(Tone::Failed, &format!("cannot restart: {error}")),
        }
    }

    /// Switches to another document. The old document is discarded once the new map has been drawn.
    fn set_document(&mut self, cx: &mut Context, document: Document) {
        // The document set aside for the test track is the old document.
        cx.leave_track();
        // The autosave belongs to the old document, which was saved or deliberately discarded.
        if let Some(autosave) = &mut self.autosave {
            autosave.clear();
        }
        self.left = Some(LeftDocument::leave(cx, document));
        Self::follow_document(cx);
    }

    /// Returns to the previous document if the map of the document in the window is still being drawn.
    fn return_to_left(&mut self, cx: &mut Context) {
        if self.drawing(cx).is_some()
            && let Some(left) = self.left.take()
        {
            let cancelled = cx.model.document.title();
            left.put_back(cx);
            Self::follow_document(cx);
            cx.say(Tone::Done, &format!("Cancelled opening {cancelled}."));
        }
    }

    /// Returns the label and progress of the map being drawn for a newly opened document; `None` if
    /// there is none.
    pub(crate) fn drawing(&self, cx: &Context) -> Option<(String, Option<f32>)> {
        let progress = cx.view.canvas.progress()?;
        let left = self.left.as_ref()?;
        let is_empty = cx.model.document.scenario().is_empty();
        let may_return = left.is_before(cx) && !is_empty;
        may_return.then(|| ("Drawing the map".to_owned(), Some(progress)))
    }

    /// Discards the previous document once the document in the window has been drawn or edited.
    pub(crate) fn look_at_left(&mut self, cx: &Context) {
        let is_drawing = cx.view.canvas.painter.progress().is_some();
        if let Some(left) = self.left.take_if(|left| !is_drawing || !left.is_before(cx)) {
            left.discard();
        }
    }

    /// Prepares the window for the document that was just put into it.
    fn follow_document(cx: &mut Context) {
        cx.drop_lost_members();
        // A run keeps its modules when its scenario is saved elsewhere, but not when another
        // document is opened.
        cx.then(Request::Modules(ModuleRequest::Follow));
        sharing::look_for_background(cx);
    }

    /// Autosaves edits, and checks once a second whether another program has written the file. Returns
    /// whether it checked the file this time.
    pub(crate) fn look_at_files(&mut self, cx: &mut Context, time: f64) -> bool {
        // A world shown in place of the document needs no autosave.
        self.keep(cx.own_document(), time);
        if time - self.disk_looked_at < DISK_PERIOD {
            return false;
        }
        self.disk_looked_at = time;
        cx.model.changed_on_disk = cx.model.document.changed_on_disk();
        true
    }

    /// Asks for confirmation before the window closes with unsaved changes.
    pub(crate) fn look_at_closing(&mut self, cx: &mut Context) {
        let closing = cx.egui.input(|i| i.viewport().close_requested());
        if closing {
            cx.leave_track();
        }
        let is_dirty = cx.model.document.is_dirty() || cx.is_waiting_dirty();
        if closing && !self.may_quit && is_dirty {
            cx.egui
                // The window has to stay open for the question, and the answer closes it.
                .send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.leave(cx, Next::Quit);
        }
    }

    fn suggestion(&self, cx: &Context, purpose: Purpose) -> String {
        let document = &cx.model.document;
        let title = document.title().replace(['/', '\\'], "-");
        match purpose {
            Purpose::Save => document.path().map_or_else(
                || format!("{}.scenario.json", title.to_lowercase().replace(' ', "-")),
                |path| path.display().to_string(),
            ),
            Purpose::Picture => format!("{title}.png"),
            Purpose::Share => {
                let name = format!("{}.rwz", title.to_lowercase().replace(' ', "-"));
                let folder = document.path().and_then(Path::parent);
                folder.map_or(name.clone(), |folder| {
                    folder.join(name).display().to_string()
                })
            }
            Purpose::Results => format!("{title}-results"),
            Purpose::Comparison => format!("{title}-comparison"),
            Purpose::Drive => format!("{title}-drive.csv"),
            Purpose::Experiment(file) => suggested_experiment(cx, file),
            Purpose::SaveVehicle | Purpose::UseVehicle => vehicle_suggestion(cx),
            Purpose::SaveMoves => move_desk::suggestion(cx),
            Purpose::Open
            | Purpose::OpenClips
            | Purpose::Import
            | Purpose::Background
            | Purpose::OpenVehicle
            | Purpose::CompareVehicle => String::new(),
        }
    }

    fn ask_path(&mut self, cx: &mut Context, purpose: Purpose, then: Option<Next>) {
        if matches!(purpose, Purpose::Save | Purpose::Share) {
            cx.leave_track();
        }
        cx.model.dialog = Dialog::Path {
            purpose,
            text: self.suggestion(cx, purpose),
            then,
        };
    }

    fn save(&mut self, cx: &mut Context, then: Option<Next>) {
        // Saving applies to the scenario, never to the test track.
        cx.leave_track();
        // Checked again, in addition to the check once a second, because overwriting another program's
        // changes cannot be undone.
        if cx.model.document.changed_on_disk() {
            cx.model.changed_on_disk = true;
            cx.say(
                Tone::Refused,
                "Another program has changed the file. Reload it or keep your version first.",
            );
            return;
        }
        match cx.model.document.path().map(Path::to_owned) {
            Some(path) => self.save_to(cx, path, then),
            None => self.ask_path(cx, Purpose::Save, then),
        }
    }

    fn save_to(&mut self, cx: &mut Context, path: PathBuf, then: Option<Next>) {
        if cx.jobs.iter().any(|job| job.is_save) {
            // Saves run one after the other, so that the newest one is written last. While save A is being
            // written, save B waits. When A is finished, B starts, and only the continuation of B is carried
            // out. A third save replaces B while B waits.
            self.next_save = Some((path, then));
            return;
        }
        let document = &cx.model.document;
        // The gesture in progress is left out, because it may still be cancelled.
        let state = DocumentState::of(document);
        let scenario = document.base().clone();
        let wake = cx.wake();
        cx.jobs.push(Job::save(scenario, path, state, then, wake));
    }

    /// Names an unnamed scenario after its first file.
    fn name_after(&mut self, cx: &mut Context, path: &Path) {
        let document = &cx.model.document;
        let about = document.scenario().about();
        if document.path().is_some() || about.name != UNTITLED {
            return;
        }
        if let Some(name) = document::name_of(path) {
            let about = About {
                name,
                ..about.clone()
            };
            cx.apply("Name the scenario", Edit::About(Box::new(about)));
        }
    }

    fn take_path(&mut self, cx: &mut Context, path: PathBuf, purpose: Purpose, then: Option<Next>) {
        cx.model.dialog = Dialog::None;
        let wake = cx.wake();
        match purpose {
            Purpose::Open if is_bundle(&path) => cx.then(Request::Bundle(BundleAction::Open(path))),
            Purpose::Open if is_experiment(&path) => {
                cx.then(Request::ExperimentPath(path, ExperimentFile::Open));
            }
            Purpose::Open => self.leave(cx, Next::Open(path)),
            Purpose::Share => cx.then(Request::Bundle(BundleAction::Share(path))),
            Purpose::Results => {
                if let Some(live) = &cx.model.live {
                    let job = Job::results(live.results.clone(), live.heat.clone(), path, wake);
                    cx.jobs.push(job);
                }
            }
            Purpose::Comparison => run_keeping::export_comparison(cx, path),
            Purpose::Drive => {
                if let Some(live) = &cx.model.live {
                    let job = Job::drive(live.drive.clone(), path, wake);
                    cx.jobs.push(job);
                }
            }
            Purpose::Save => {
                let path = scenario_path(&path);
                self.name_after(cx, &path);
                self.save_to(cx, path, then);
            }
            Purpose::OpenVehicle => {
                cx.jobs
                    .push(Job::open_vehicle(path, BenchPlace::OnBench, wake));
            }
            // The vehicle to compare with is shown beside the vehicle on the bench.
            Purpose::CompareVehicle => {
                cx.jobs
                    .push(Job::open_vehicle(path, BenchPlace::Beside, wake));
            }
            Purpose::SaveVehicle => shop::save_vehicle(cx, &path, VehicleUse::None),
            Purpose::UseVehicle => shop::save_vehicle(cx, &path, VehicleUse::InScenario),
            Purpose::OpenClips => cx.jobs.push(Job::open_clips(path, wake)),
            Purpose::SaveMoves => move_desk::save(cx, path),
            Purpose::Import => self.leave(cx, Next::Import(path)),
            Purpose::Picture => {
                // Unlike a save, this includes the gesture in progress, because the picture has the
                // same contents as the map.
                let scenario = cx.model.document.scenario().clone();
                let live = cx.model.live.as_ref();
                let snapshot = live.map(|live| live.snapshot.clone());
                let rect = cx.view.canvas.rect;
                // Twice the size of the map on the screen.
                let picture = Picture {
                    size: (2 * rect.width() as u32, 2 * rect.height() as u32),
                    view: Some(cx.model.camera.view(rect)),
                    hidden: cx.model.settings.tools.hidden.clone(),
                    signals: live.map(|live| live.signals.clone()).unwrap_or_default(),
                    ..Picture::default()
                };
                let job = Job::draw(scenario, snapshot, picture, path, wake);
                cx.jobs.push(job);
            }
            Purpose::Background => cx.jobs.push(Job::background(path, wake)),
            Purpose::Experiment(file) => cx.then(Request::ExperimentPath(path, file)),
        }
    }

    /// Asks for confirmation before unsaved changes are lost, including a gesture in progress.
    fn leave(&mut self, cx: &mut Context, next: Next) {
        cx.leave_track();
        cx.model.document.commit();
        if cx.model.document.is_dirty() {
            cx.model.dialog = Dialog::Unsaved(next);
        } else {
            self.go(cx, next);
        }
    }

    /// Continues with the next operation without checking for unsaved changes.
    fn go(&mut self, cx: &mut Context, next: Next) {
        cx.model.dialog = Dialog::None;
        // The next document replaces the one set aside, which may have to be saved first.
        if cx.is_showing() {
            cx.end_show();
            return match next {
                Next::Back => {}
                next => self.leave(cx, next),
            };
        }
        match next {
            Next::Back => {}
            Next::New => {
                self.set_document(cx, Document::new(Scenario::new(UNTITLED)));
                cx.choose(ToolKind::Road);
            }
            Next::Open(path) => self.read(cx, path),
            Next::Loaded => {
                if let Some(document) = self.loaded.take() {
                    self.set_document(cx, document);
                }
            }
            Next::Shipped(index) => self.set_document(cx, shipped::document(index)),
            Next::Import(path) => self.load(cx, |wake| Job::import(path, wake)),
            Next::Recover(index) => self.recover(cx, index),
            Next::Salvaged => self.open_salvaged(cx),
            Next::Quit => {
                self.may_quit = true;
                cx.egui.send_viewport_cmd(egui::ViewportCommand::Close);
            }
        }
    }

    /// Opens the readable part of a damaged file as a document without a file.
    fn open_salvaged(&mut self, cx: &mut Context) {
        let Some(damaged) = cx.model.damaged.take() else {
            return;
        };
        let Some(saved) = &damaged.saved else {
            return;
        };
        let mut document = Document::new(Scenario::clone(&saved.scenario));
        // No file contains this document, so leaving it asks for confirmation.
        document.mark_dirty();
        self.set_document(cx, document);
        let (kept, name) = (saved.kept, damaged.name());
        let text = format!("Opened {kept} objects of {name}; the file is unchanged.");
        cx.say(Tone::Done, &text);
    }

    fn recover(&mut self, cx: &mut Context, index: usize) {
        if index >= cx.model.recoveries.len() {
            return;
        }
        let recovery = cx.model.recoveries.remove(index);
        let scenario = Scenario::clone(&recovery.scenario);
        let mut document = match &recovery.path {
            Some(path) => Document::from_file(scenario, path),
            None => Document::new(scenario),
        };
        // No file contains this document, so leaving it asks for confirmation.
        document.mark_dirty();
        self.set_document(cx, document);
        // This cannot be cancelled, because the recovered files would not be offered again.
        self.left = None;
        let text = format!("Recovered {}. Save it to keep it.", recovery.title);
        cx.say(Tone::Done, &text);
        // The files are deleted once this session has autosaved the edits.
        self.recovered = Some(recovery);
    }

    fn discard_recoveries(&mut self, cx: &mut Context) {
        for recovery in cx.model.recoveries.drain(..) {
            recovery.discard();
        }
    }

    /// Reads the file of the document again.
    fn reload(&mut self, cx: &mut Context) {
        if let Some(path) = cx.model.document.path().map(Path::to_owned) {
            self.leave(cx, Next::Open(path));
        }
    }

    /// Keeps the document although another program has written its file. Saving overwrites that file.
    fn keep_mine(&mut self, cx: &mut Context) {
        cx.model.document.accept_disk();
        // The file no longer contains the state that the window shows.
        cx.model.document.mark_dirty();
        cx.model.changed_on_disk = false;
    }

    /// Opens the system's own dialog for a path.
    fn browse(&mut self, cx: &mut Context, purpose: Purpose, then: Option<Next>) {
        let suggestion = self.suggestion(cx, purpose);
        let name = Path::new(&suggestion).file_name();
        let name = name.map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        cx.jobs.push(Job::browse(purpose, &name, then, cx.wake()));
    }

    /// Cancels the long jobs, or the drawing of a map if there are none. Saving continues, because half a save
    /// would be useless.
    fn cancel_jobs(&mut self, cx: &mut Context) {
        if !cx.jobs.iter().any(|job| job.is_long) {
            self.return_to_left(cx);
        }
        cx.jobs.retain(|job| {
            // Dropping the job drops the receiver of its outcome, so whatever it still does is ignored.
            if job.is_long {
                job.cancel();
            }
            !job.is_long
        });
        cx.model.job = None;
    }

    /// Reads a scenario file and opens it when it has been read.
    pub(crate) fn read(&mut self, cx: &mut Context, path: PathBuf) {
        self.load(cx, |wake| Job::open(path, wake));
    }

    /// Starts a job that loads another document.
    fn load(&mut self, cx: &mut Context, job: impl FnOnce(Box<dyn Fn() + Send>) -> Job) {
        self.load_state = Some(DocumentState::of(&cx.model.document));
        let wake = cx.wake();
        cx.jobs.push(job(Box::new(wake)));
    }

    /// Takes a loaded document, and asks for confirmation if edits were made while it was loaded.
    fn take_document(&mut self, cx: &mut Context, document: Document) {
        if cx.is_showing() {
            self.loaded = Some(document);
            return self.leave(cx, Next::Loaded);
        }
        cx.leave_track();
        let state = DocumentState::of(&cx.model.document);
        // Unchanged since the request, for which confirmation was given.
        if self.load_state == Some(state) || !cx.model.document.is_dirty() {
            self.set_document(cx, document);
            return;
        }
        // The document was edited after the request, so the loaded one waits for the user's decision.
        self.loaded = Some(document);
        cx.model.dialog = Dialog::Unsaved(Next::Loaded);
    }

    /// Takes an imported scenario and opens the import report.
    fn take_import(
        &mut self,
        cx: &mut Context,
        path: &Path,
        scenario: Scenario,
        summary: ImportSummary,
    ) {
        // The document gets no file, because a scenario cannot be saved into a map extract.
        let mut document = Document::new(scenario);
        document.mark_dirty();
        let report = ImportReport {
            file: path.display().to_string(),
            document: document.id(),
            summary,
        };
        self.take_document(cx, document);
        cx.say(Tone::Done, &format!("{}: {}.", report.file, report.line()));
        cx.model.import = Some(Arc::new(report));
        cx.view.panels.bring_to_front(PanelId::Import);
    }

    /// Handles the outcome of a job.
    pub(crate) fn take(&mut self, cx: &mut Context, outcome: DocumentOutcome) {
        match outcome {
            DocumentOutcome::Opened(path, Ok(scenario)) => {
                self.take_document(cx, Document::from_file(*scenario, &path));
                cx.model.settings.remember(&path);
            }
            DocumentOutcome::Imported(path, Ok(imported)) => {
                let (scenario, summary) = *imported;
                self.take_import(cx, &path, scenario, summary);
            }
            DocumentOutcome::Saved(path, state, then, Ok(())) => {
                self.note_saved(cx, &path, state, then);
            }
            DocumentOutcome::Browsed(purpose, then, Some(path)) => {
                self.take_path(cx, path, purpose, then);
            }
            DocumentOutcome::Browsed(_, _, None) => {}
            DocumentOutcome::NoDialog => {
                let text = "This desktop has no file dialog. Choose from the list or type a path.";
                cx.say(Tone::Refused, text);
            }
            DocumentOutcome::Saved(.., Err(error)) => {
                cx.say(Tone::Failed, &error);
                // A waiting save may write to another file and succeed. The continuation of the failed save
                // is dropped, because it would have lost the edits.
                if let Some((path, then)) = self.next_save.take() {
                    self.save_to(cx, path, then);
                }
            }
            DocumentOutcome::Opened(_, Err(damaged)) => {
                cx.model.damaged = Some(Arc::from(damaged));
                cx.model.dialog = Dialog::Damaged;
            }
            DocumentOutcome::Imported(_, Err(error)) => cx.say(Tone::Failed, &error),
        }
    }

    /// Handles a successful save and continues the operation that waited for it.
    fn note_saved(
        &mut self,
        cx: &mut Context,
        path: &Path,
        saved: DocumentState,
        then: Option<Next>,
    ) {
        // Another document may have been opened while this one was written.
        let waiting = cx.waiting.as_mut().map(|waiting| &mut waiting.document);
        let mut open = std::iter::once(&mut cx.model.document).chain(waiting);
        if let Some(document) = open.find(|document| document.id() == saved.document) {
            document.saved_as(path, saved.state);
        }
        cx.model.settings.remember(path);
        cx.say(Tone::Done, &format!("Saved {}.", path.display()));
        match (self.next_save.take(), then) {
            (Some((path, then)), _) => self.save_to(cx, path, then),
            // Asks again, because edits may have been made during the save.
            (None, Some(next)) => self.leave(cx, next),
            (None, None) => {}
        }
    }
}
