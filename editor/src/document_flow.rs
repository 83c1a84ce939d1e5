//! Opening, importing, saving, recovering and leaving documents.
//!
//! Reading and writing are background jobs, so two questions arise again and again: has the document been
//! edited meanwhile, and is it still the same document? Both are answered by comparing `(id, state)` of the
//! document with the pair at the start of the job.

use crate::app::Editor;
use crate::autosave::{Autosave, Recovery};
use crate::background::Background;
use crate::document::{self, Document, UNTITLED};
use crate::experiment::ExperimentFile;
use crate::import_report::ImportReport;
use crate::jobs::{Job, Outcome, scenario_path};
use crate::laboratory::is_experiment;
use crate::map_view::MapView;
use crate::model::{Dialog, Next, Purpose, Tone};
use crate::panel::PanelId;
use crate::sharing::is_bundle;
use crate::shipped;
use crate::shop::vehicle_path;
use crate::tools::ToolKind;
use crate::waiting::own;
use crate::workshop::Bench;
use roadwright_interchange::osm::ImportSummary;
use roadwright_render::Picture;
use roadwright_scenario::{About, Edit, Scenario};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Interval between checks of the document's file, s.
const DISK_PERIOD: f64 = 1.0;

/// Id and state of a document.
type DocumentState = (u64, u64);

/// Pending operations on documents and files.
pub(crate) struct DocumentFlow {
    pub(crate) jobs: Vec<Job>,
    /// `None` if its folder cannot be written, so that edits are not autosaved.
    autosave: Option<Autosave>,
    /// A save that waits for the one in progress.
    next_save: Option<(PathBuf, Option<Next>)>,
    /// The state of the document when another one was requested.
    load_state: Option<DocumentState>,
    /// A document that was read while the old one was still edited.
    loaded: Option<Document>,
    /// The recovered session; its files are deleted once this session has autosaved the edits.
    recovered: Option<Recovery>,
    /// Whether the next quit needs no confirmation.
    may_quit: bool,
    disk_looked_at: f64,
}

impl DocumentFlow {
    /// Creates it with no pending operations; edits are autosaved in `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            jobs: Vec::new(),
            autosave: Autosave::start(folder).ok(),
            next_save: None,
            load_state: None,
            loaded: None,
            recovered: None,
            may_quit: false,
            disk_looked_at: 0.0,
        }
    }

    /// Whether a job is in progress.
    pub(crate) fn is_busy(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Autosaves a document now and waits until it is written.
    pub(crate) fn keep_now(&mut self, document: &Document) {
        if let Some(autosave) = &mut self.autosave {
            autosave.keep_now(document);
        }
    }

    /// Whether the document's file was checked in the frame of this time.
    pub(crate) fn has_looked(&self, time: f64) -> bool {
        self.disk_looked_at == time
    }

    /// Whether the newest edits of a document are autosaved, or cannot be.
    pub(crate) fn has_kept(&self, document: &Document) -> bool {
        let autosave = self.autosave.as_ref();
        autosave.is_none_or(|autosave| autosave.has_kept(document))
    }

    /// Autosaves a document when due.
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

    /// Ends the session properly, so that nothing has to be recovered.
    pub(crate) fn end(&mut self) {
        if let Some(autosave) = &mut self.autosave {
            autosave.end();
        }
    }
}

fn state_of(document: &Document) -> DocumentState {
    (document.id(), document.state())
}

impl Editor {
    /// Switches to another document and discards the old one.
    pub(crate) fn set_document(&mut self, document: Document) {
        // The document that waits beside the test track is the old one.
        self.leave_track();
        // The autosave belongs to the old document, which is saved or was knowingly discarded.
        if let Some(autosave) = &mut self.flow.autosave {
            autosave.clear();
        }
        self.put_document(document);
        self.drop_lost_members();
        // A run keeps its modules when its scenario is saved elsewhere, but not for another document.
        let path = self.model.document.path();
        self.extensions.follow(path, &self.model.settings);
        self.look_for_background();
    }

    /// Puts a document into the window and returns the previous one.
    pub(crate) fn put_document(&mut self, document: Document) -> Document {
        let before = std::mem::replace(&mut self.model.document, document);
        self.model.selection.clear();
        self.model.explained = None;
        self.model.changed_on_disk = false;
        self.model.dialog = Dialog::None;
        self.end_run();
        self.forget_derived();
        self.view.forget(self.model.tool);
        before
    }

    /// Autosaves edits, and checks once a second whether another program has written the file.
    pub(crate) fn look_at_files(&mut self, time: f64) {
        // A world shown in place of the document needs no recovery.
        self.flow
            .keep(own(&self.waiting, &self.model.document), time);
        if time - self.flow.disk_looked_at < DISK_PERIOD {
            return;
        }
        self.flow.disk_looked_at = time;
        self.model.changed_on_disk = self.model.document.changed_on_disk();
        self.save_settings();
    }

    /// Asks for confirmation before the window closes with unsaved changes.
    pub(crate) fn look_at_closing(&mut self) {
        let closing = self.context.input(|i| i.viewport().close_requested());
        if closing {
            self.leave_track();
        }
        let is_dirty = self.model.document.is_dirty() || self.is_waiting_dirty();
        if closing && !self.flow.may_quit && is_dirty {
            self.context
                // The window must stay for the question; the answer closes it.
                .send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.leave(Next::Quit);
        }
    }

    fn suggestion(&self, purpose: Purpose) -> String {
        let document = &self.model.document;
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
            Purpose::Experiment(file) => self.suggested_experiment(file),
            Purpose::SaveVehicle | Purpose::UseVehicle => self.vehicle_suggestion(),
            Purpose::Open
            | Purpose::Import
            | Purpose::Background
            | Purpose::OpenVehicle
            | Purpose::CompareVehicle => String::new(),
        }
    }

    pub(crate) fn ask_path(&mut self, purpose: Purpose, then: Option<Next>) {
        if matches!(purpose, Purpose::Save | Purpose::Share) {
            self.leave_track();
        }
        self.model.dialog = Dialog::Path {
            purpose,
            text: self.suggestion(purpose),
            then,
        };
    }

    pub(crate) fn save(&mut self, then: Option<Next>) {
        // Saving applies to the scenario, never to the test track.
        self.leave_track();
        // Checked again, and not only once a second, because overwriting another program's changes cannot be
        // undone.
        if self.model.document.changed_on_disk() {
            self.model.changed_on_disk = true;
            self.say(
                Tone::Refused,
                "Another program has changed the file. Reload it or keep your version first.",
            );
            return;
        }
        match self.model.document.path().map(Path::to_owned) {
            Some(path) => self.save_to(path, then),
            None => self.ask_path(Purpose::Save, then),
        }
    }

    fn save_to(&mut self, path: PathBuf, then: Option<Next>) {
        if self.flow.jobs.iter().any(|job| job.is_save) {
            // One after the other, so that the newest stays. While A is being written, B waits; when A is
            // written, B is started, and only the continuation of B is carried out. A third save replaces B.
            self.flow.next_save = Some((path, then));
            return;
        }
        let document = &self.model.document;
        // Without the gesture in progress, which may still be cancelled.
        let state = state_of(document);
        let scenario = document.base().clone();
        let wake = self.wake();
        self.flow
            .jobs
            .push(Job::save(scenario, path, state, then, wake));
    }

    /// An unnamed scenario takes the name of its first file.
    fn name_after(&mut self, path: &Path) {
        let document = &self.model.document;
        let about = document.scenario().about();
        if document.path().is_some() || about.name != UNTITLED {
            return;
        }
        if let Some(name) = document::name_of(path) {
            let about = About {
                name,
                ..about.clone()
            };
            self.apply("Name the scenario", Edit::About(Box::new(about)));
        }
    }

    pub(crate) fn take_path(&mut self, path: PathBuf, purpose: Purpose, then: Option<Next>) {
        self.model.dialog = Dialog::None;
        let wake = self.wake();
        match purpose {
            Purpose::Open if is_bundle(&path) => self.open_bundle(path),
            Purpose::Open if is_experiment(&path) => {
                self.take_experiment_path(path, ExperimentFile::Open);
            }
            Purpose::Open => self.leave(Next::Open(path)),
            Purpose::Share => self.share(path),
            Purpose::Results => {
                if let Some(live) = &self.model.live {
                    let job = Job::results((live.results.clone(), live.heat.clone()), path, wake);
                    self.flow.jobs.push(job);
                }
            }
            Purpose::Comparison => self.export_comparison(path),
            Purpose::Drive => {
                if let Some(live) = &self.model.live {
                    let job = Job::drive(live.drive.clone(), path, wake);
                    self.flow.jobs.push(job);
                }
            }
            Purpose::Save => {
                let path = scenario_path(&path);
                self.name_after(&path);
                self.save_to(path, then);
            }
            Purpose::OpenVehicle | Purpose::CompareVehicle => {
                // The vehicle to compare with is shown beside the one on the bench, which stays.
                let is_rival = purpose == Purpose::CompareVehicle;
                self.flow.jobs.push(Job::open_vehicle(path, is_rival, wake));
            }
            Purpose::SaveVehicle | Purpose::UseVehicle => {
                if let Some(bench) = &self.model.workshop.bench {
                    let (file, path) = (bench.file.clone(), vehicle_path(&path));
                    let uses = purpose == Purpose::UseVehicle;
                    self.flow
                        .jobs
                        .push(Job::save_vehicle(file, path, uses, wake));
                }
            }
            Purpose::Import => self.leave(Next::Import(path)),
            Purpose::Picture => {
                // With the gesture in progress, unlike a save, because the picture shows what the map shows.
                let scenario = self.model.document.scenario().clone();
                let live = self.model.live.as_ref();
                let snapshot = live.map(|live| live.snapshot.clone());
                let rect = self.view.canvas.rect;
                // Twice the size of the map on the screen.
                let picture = Picture {
                    size: (2 * rect.width() as u32, 2 * rect.height() as u32),
                    view: Some(self.model.camera.view(rect)),
                    hidden: self.model.settings.tools.hidden.clone(),
                    signals: live.map(|live| live.signals.clone()).unwrap_or_default(),
                    ..Picture::default()
                };
                let job = Job::draw(scenario, snapshot, picture, path, wake);
                self.flow.jobs.push(job);
            }
            Purpose::Background => self.flow.jobs.push(Job::background(path, wake)),
            Purpose::Experiment(file) => self.take_experiment_path(path, file),
        }
    }

    /// Asks for confirmation before unsaved changes are lost, including a gesture in progress.
    pub(crate) fn leave(&mut self, next: Next) {
        self.leave_track();
        self.model.document.commit();
        if self.model.document.is_dirty() {
            self.model.dialog = Dialog::Unsaved(next);
        } else {
            self.go(next);
        }
    }

    /// Continues once unsaved changes are no obstacle.
    pub(crate) fn go(&mut self, next: Next) {
        self.model.dialog = Dialog::None;
        // The next document replaces the paused one, which may have to be saved first.
        if self.is_showing() {
            self.end_show();
            return match next {
                Next::Back => {}
                next => self.leave(next),
            };
        }
        match next {
            Next::Back => {}
            Next::New => {
                self.set_document(Document::new(Scenario::new(UNTITLED)));
                self.choose(ToolKind::Road);
            }
            Next::Open(path) => self.load(|wake| Job::open(path, wake)),
            Next::Loaded => {
                if let Some(document) = self.flow.loaded.take() {
                    self.set_document(document);
                }
            }
            Next::Shipped(index) => self.set_document(shipped::document(index)),
            Next::Import(path) => self.load(|wake| Job::import(path, wake)),
            Next::Recover(index) => self.recover(index),
            Next::Salvaged => self.open_salvaged(),
            Next::Quit => {
                self.flow.may_quit = true;
                self.context.send_viewport_cmd(egui::ViewportCommand::Close);
            }
        }
    }

    /// Opens the readable part of a damaged file as a document without a file.
    fn open_salvaged(&mut self) {
        let Some(damaged) = self.model.damaged.take() else {
            return;
        };
        let Some(saved) = &damaged.saved else {
            return;
        };
        let mut document = Document::new(Scenario::clone(&saved.scenario));
        // No file contains it, so leaving asks for confirmation.
        document.mark_dirty();
        self.set_document(document);
        let (kept, name) = (saved.kept, damaged.name());
        let text = format!("Opened {kept} objects of {name}; the file is unchanged.");
        self.say(Tone::Done, &text);
    }

    fn recover(&mut self, index: usize) {
        if index >= self.model.recoveries.len() {
            return;
        }
        let recovery = self.model.recoveries.remove(index);
        let scenario = Scenario::clone(&recovery.scenario);
        let mut document = match &recovery.path {
            Some(path) => Document::from_file(scenario, path),
            None => Document::new(scenario),
        };
        // No file contains it, so leaving asks for confirmation.
        document.mark_dirty();
        self.set_document(document);
        let text = format!("Recovered {}. Save it to keep it.", recovery.title);
        self.say(Tone::Done, &text);
        // Its files are deleted once this session has autosaved the edits.
        self.flow.recovered = Some(recovery);
    }

    pub(crate) fn discard_recoveries(&mut self) {
        for recovery in self.model.recoveries.drain(..) {
            recovery.discard();
        }
    }

    /// Reads the file of the document again.
    pub(crate) fn reload(&mut self) {
        if let Some(path) = self.model.document.path().map(Path::to_owned) {
            self.leave(Next::Open(path));
        }
    }

    /// Keeps the document although another program has written its file; saving overwrites that.
    pub(crate) fn keep_mine(&mut self) {
        self.model.document.accept_disk();
        // The file no longer contains what the window shows.
        self.model.document.mark_dirty();
        self.model.changed_on_disk = false;
    }

    /// Opens the system's own dialog for a path.
    pub(crate) fn browse(&mut self, purpose: Purpose, then: Option<Next>) {
        let suggestion = self.suggestion(purpose);
        let name = Path::new(&suggestion).file_name();
        let name = name.map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        self.flow
            .jobs
            .push(Job::browse(purpose, &name, then, self.wake()));
    }

    /// Cancels the long jobs. Saving continues, because half a save would be useless.
    pub(crate) fn cancel_jobs(&mut self) {
        self.flow.jobs.retain(|job| {
            // Dropped with the receiver of its outcome, so whatever it still does is ignored.
            if job.is_long {
                job.cancel();
            }
            !job.is_long
        });
        self.model.job = None;
    }

    /// Starts a job that loads another document.
    fn load(&mut self, job: impl FnOnce(Box<dyn Fn() + Send>) -> Job) {
        self.flow.load_state = Some(state_of(&self.model.document));
        let wake = self.wake();
        self.flow.jobs.push(job(Box::new(wake)));
    }

    /// Takes a loaded document; asks for confirmation if edits were made meanwhile.
    fn take_document(&mut self, document: Document) {
        if self.is_showing() {
            self.flow.loaded = Some(document);
            return self.leave(Next::Loaded);
        }
        self.leave_track();
        let state = state_of(&self.model.document);
        // Unchanged since the request: confirmation was given then.
        if self.flow.load_state == Some(state) || !self.model.document.is_dirty() {
            self.set_document(document);
            return;
        }
        // The document was edited after the request, so the loaded one waits for the user's decision.
        self.flow.loaded = Some(document);
        self.model.dialog = Dialog::Unsaved(Next::Loaded);
    }

    /// Takes an imported scenario and opens the import report.
    fn take_import(&mut self, path: &Path, (scenario, summary): (Scenario, ImportSummary)) {
        // A document without a file, because it is not saved into the extract.
        let mut document = Document::new(scenario);
        document.mark_dirty();
        let report = ImportReport {
            file: path.display().to_string(),
            document: document.id(),
            summary,
        };
        self.take_document(document);
        self.say(Tone::Done, &format!("{}: {}.", report.file, report.line()));
        self.model.import = Some(Arc::new(report));
        self.view.panels.bring_to_front(PanelId::Import);
    }

    /// Takes the outcomes of jobs.
    pub(crate) fn take_jobs(&mut self) {
        // All outcomes are taken before any is handled, because handling one may start another job.
        let mut outcomes = Vec::new();
        self.flow.jobs.retain(|job| match job.take() {
            None => true,
            Some(Ok(outcome)) => {
                outcomes.push(outcome);
                false
            }
            Some(Err(())) => false,
        });
        for outcome in outcomes {
            self.take_outcome(outcome);
        }
        let long = self.flow.jobs.iter().find(|job| job.is_long);
        self.model.job = long.map(|job| (job.label.clone(), job.share()));
    }

    fn take_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Opened(path, Ok(scenario)) => {
                self.take_document(Document::from_file(*scenario, &path));
                self.model.settings.remember(&path);
            }
            Outcome::Imported(path, Ok(imported)) => self.take_import(&path, *imported),
            Outcome::Saved(path, state, then, Ok(())) => self.note_saved(&path, state, then),
            Outcome::Drawn(path, Ok(())) => {
                self.say(Tone::Done, &format!("Wrote {}.", path.display()));
            }
            Outcome::Background(Ok((picked, placement))) => {
                let camera = self.model.camera;
                let place = placement.as_ref();
                let background = Background::new(&self.context, picked, &camera, place);
                self.model.background = Some(background);
                if placement.is_none() {
                    self.choose(ToolKind::Overlay);
                }
            }
            Outcome::Shared(path, Ok(())) => {
                self.say(Tone::Done, &format!("Wrote {}.", path.display()));
            }
            Outcome::Experiment(arrived) => self.take_arrived(arrived),
            Outcome::Bundle(path, Ok(bundle)) => self.take_bundle(path, *bundle),
            Outcome::Unpacked(Ok(scenario)) => self.open_unpacked(scenario),
            Outcome::Vehicle(path, true, Ok((file, _))) => self.put_beside(path, *file),
            Outcome::Vehicle(path, false, Ok((file, text))) => {
                self.put_on_bench(Bench::from_path(path, *file, &text));
            }
            Outcome::VehicleSaved(path, file, uses, Ok(())) => {
                self.note_vehicle_saved(path, file, uses);
            }
            Outcome::Browsed(purpose, then, Some(path)) => self.take_path(path, purpose, then),
            Outcome::Browsed(_, _, None) => {}
            Outcome::NoDialog => {
                let text = "This desktop has no file dialog. Choose from the list or type a path.";
                self.say(Tone::Refused, text);
            }
            Outcome::Saved(.., Err(error)) => {
                self.say(Tone::Failed, &error);
                // A waiting save may go elsewhere and succeed. The continuation of the failed one is dropped,
                // because it would have lost the edits.
                if let Some((path, then)) = self.flow.next_save.take() {
                    self.save_to(path, then);
                }
            }
            Outcome::Opened(_, Err(damaged)) => {
                self.model.damaged = Some(Arc::from(damaged));
                self.model.dialog = Dialog::Damaged;
            }
            Outcome::Imported(_, Err(error))
            | Outcome::Drawn(_, Err(error))
            | Outcome::Background(Err(error))
            | Outcome::Shared(_, Err(error))
            | Outcome::Bundle(_, Err(error))
            | Outcome::Unpacked(Err(error))
            | Outcome::Vehicle(.., Err(error))
            | Outcome::VehicleSaved(.., Err(error)) => self.say(Tone::Failed, &error),
        }
    }

    /// Handles a successful save and continues what waited for it.
    fn note_saved(&mut self, path: &Path, (id, state): DocumentState, then: Option<Next>) {
        // Another document may have been opened while this one was written.
        let waiting = self.waiting.as_mut().map(|waiting| &mut waiting.document);
        let mut open = std::iter::once(&mut self.model.document).chain(waiting);
        if let Some(document) = open.find(|document| document.id() == id) {
            document.saved_as(path, state);
        }
        self.model.settings.remember(path);
        self.say(Tone::Done, &format!("Saved {}.", path.display()));
        match (self.flow.next_save.take(), then) {
            (Some((path, then)), _) => self.save_to(path, then),
            // Asked again, because edits may have been made during the save.
            (None, Some(next)) => self.leave(next),
            (None, None) => {}
        }
    }
}
