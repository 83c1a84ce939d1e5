//! Opening, importing, saving, recovering and leaving: where documents come from and go to.
//!
//! Reading and writing are jobs beside the frame, so two questions come up again and again: was the
//! document edited meanwhile, and is it the same document still. Both are answered by comparing
//! `(id, state)` of the document with the pair that the job was started with.

use crate::app::Editor;
use crate::autosave::{Autosave, Recovery};
use crate::background::Background;
use crate::document::{self, Document, UNTITLED};
use crate::experiment::ExperimentFile;
use crate::import_report::ImportReport;
use crate::jobs::{Job, Outcome, scenario_path};
use crate::kept_runs;
use crate::laboratory::is_experiment;
use crate::map_view::MapView;
use crate::model::{Dialog, Next, Purpose, Tone};
use crate::panel::PanelId;
use crate::sharing::is_bundle;
use crate::shipped;
use crate::shop::vehicle_path;
use crate::tools::ToolKind;
use crate::workshop::Bench;
use roadwright_interchange::osm::ImportSummary;
use roadwright_render::Picture;
use roadwright_scenario::{About, Edit, Scenario};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often the file of the document is looked at, s.
const DISK_PERIOD: f64 = 1.0;

/// Which document in which state.
type DocumentState = (u64, u64);

/// What is under way with documents and files.
pub(crate) struct DocumentFlow {
    /// `None`: the folder for it cannot be written, and edits are not kept.
    autosave: Option<Autosave>,
    /// A save that waits for the one that is being written.
    next_save: Option<(PathBuf, Option<Next>)>,
    /// The state of the document when another one was asked for.
    load_state: Option<DocumentState>,
    /// A document that was read while the old one was still edited.
    loaded: Option<Document>,
    /// What was recovered; its files go when this session has kept the edits itself.
    recovered: Option<Recovery>,
    /// The next quit is not asked about.
    may_quit: bool,
    disk_looked_at: f64,
}

impl DocumentFlow {
    /// Nothing is under way; edits are kept in `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            autosave: Autosave::start(folder).ok(),
            next_save: None,
            load_state: None,
            loaded: None,
            recovered: None,
            may_quit: false,
            disk_looked_at: 0.0,
        }
    }

    /// Keeps the edits of a document now, and waits until they are written.
    pub(crate) fn keep_now(&mut self, document: &Document) {
        if let Some(autosave) = &mut self.autosave {
            autosave.keep_now(document);
        }
    }

    /// Whether the file of the document was looked at in the frame of this time.
    pub(crate) fn has_looked(&self, time: f64) -> bool {
        self.disk_looked_at == time
    }

    /// Whether the newest edits of a document are kept, or cannot be.
    pub(crate) fn has_kept(&self, document: &Document) -> bool {
        let autosave = self.autosave.as_ref();
        autosave.is_none_or(|autosave| autosave.has_kept(document))
    }

    /// Keeps the edits of a document when they are due.
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

    /// The session ends properly: nothing has to be recovered.
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
    /// Another document; the old one is not looked back at.
    pub(crate) fn set_document(&mut self, document: Document) {
        // What waits beside the test track is the old document.
        self.cx.leave_track();
        // What was kept belongs to the old document, which is saved, or was given up knowingly.
        if let Some(autosave) = &mut self.flow.autosave {
            autosave.clear();
        }
        self.cx.put_document(document);
        self.cx.drop_lost_members();
        // A run keeps its modules when its scenario is saved elsewhere; another document does not.
        let path = self.cx.model.document.path();
        self.extensions.follow(path, &self.cx.model.settings);
        self.look_for_background();
    }

    /// Keeps edits, and looks once a second whether another program has written the file.
    pub(crate) fn look_at_files(&mut self, time: f64) {
        // What stands in the place of a document is nothing that has to be recovered.
        self.flow.keep(self.cx.own_document(), time);
        if time - self.flow.disk_looked_at < DISK_PERIOD {
            return;
        }
        self.flow.disk_looked_at = time;
        self.cx.model.changed_on_disk = self.cx.model.document.changed_on_disk();
        self.save_settings();
    }

    /// Asks before the window is closed with unsaved changes.
    pub(crate) fn look_at_closing(&mut self) {
        let closing = self.cx.egui.input(|i| i.viewport().close_requested());
        if closing {
            self.cx.leave_track();
        }
        let is_dirty = self.cx.model.document.is_dirty() || self.cx.is_waiting_dirty();
        if closing && !self.flow.may_quit && is_dirty {
            self.cx
                .egui
                // The window has to stay for the question; the answer closes it.
                .send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.leave(Next::Quit);
        }
    }

    fn suggestion(&self, purpose: Purpose) -> String {
        let document = &self.cx.model.document;
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
            self.cx.leave_track();
        }
        self.cx.model.dialog = Dialog::Path {
            purpose,
            text: self.suggestion(purpose),
            then,
        };
    }

    pub(crate) fn save(&mut self, then: Option<Next>) {
        // What is saved is the scenario, never the test track.
        self.cx.leave_track();
        // Looked at again, and not only once a second: saving over the work of others cannot be
        // undone.
        if self.cx.model.document.changed_on_disk() {
            self.cx.model.changed_on_disk = true;
            self.cx.say(
                Tone::Refused,
                "Another program has changed the file: reload it, or keep yours, first.",
            );
            return;
        }
        match self.cx.model.document.path().map(Path::to_owned) {
            Some(path) => self.save_to(path, then),
            None => self.ask_path(Purpose::Save, then),
        }
    }

    fn save_to(&mut self, path: PathBuf, then: Option<Next>) {
        if self.cx.jobs.iter().any(|job| job.is_save) {
            // One after the other, so that the newest is what stays. While A is being written and B
            // waits: when A is written, B is started, and only what was to follow B is done. A
            // third save replaces B.
            self.flow.next_save = Some((path, then));
            return;
        }
        let document = &self.cx.model.document;
        // Without the gesture under way, which may still be taken back.
        let state = state_of(document);
        let scenario = document.base().clone();
        let wake = self.cx.wake();
        self.cx
            .jobs
            .push(Job::save(scenario, path, state, then, wake));
    }

    /// A scenario that nobody has named takes the name of its first file.
    fn name_after(&mut self, path: &Path) {
        let document = &self.cx.model.document;
        let about = document.scenario().about();
        if document.path().is_some() || about.name != UNTITLED {
            return;
        }
        if let Some(name) = document::name_of(path) {
            let about = About {
                name,
                ..about.clone()
            };
            self.cx
                .apply("Name the scenario", Edit::About(Box::new(about)));
        }
    }

    pub(crate) fn take_path(&mut self, path: PathBuf, purpose: Purpose, then: Option<Next>) {
        self.cx.model.dialog = Dialog::None;
        let wake = self.cx.wake();
        match purpose {
            Purpose::Open if is_bundle(&path) => self.open_bundle(path),
            Purpose::Open if is_experiment(&path) => {
                self.take_experiment_path(path, ExperimentFile::Open);
            }
            Purpose::Open => self.leave(Next::Open(path)),
            Purpose::Share => self.share(path),
            Purpose::Results => {
                if let Some(live) = &self.cx.model.live {
                    let job = Job::results(live.results.clone(), live.heat.clone(), path, wake);
                    self.cx.jobs.push(job);
                }
            }
            Purpose::Comparison => kept_runs::export_comparison(&mut self.cx, path),
            Purpose::Drive => {
                if let Some(live) = &self.cx.model.live {
                    let job = Job::drive(live.drive.clone(), path, wake);
                    self.cx.jobs.push(job);
                }
            }
            Purpose::Save => {
                let path = scenario_path(&path);
                self.name_after(&path);
                self.save_to(path, then);
            }
            Purpose::OpenVehicle | Purpose::CompareVehicle => {
                // The rival is shown beside the vehicle on the bench, which stays.
                let is_rival = purpose == Purpose::CompareVehicle;
                self.cx.jobs.push(Job::open_vehicle(path, is_rival, wake));
            }
            Purpose::SaveVehicle | Purpose::UseVehicle => {
                if let Some(bench) = &self.cx.model.workshop.bench {
                    let (file, path) = (bench.file.clone(), vehicle_path(&path));
                    let uses = purpose == Purpose::UseVehicle;
                    self.cx.jobs.push(Job::save_vehicle(file, path, uses, wake));
                }
            }
            Purpose::Import => self.leave(Next::Import(path)),
            Purpose::Picture => {
                // With the gesture under way, unlike a save: the picture is of what the map shows.
                let scenario = self.cx.model.document.scenario().clone();
                let live = self.cx.model.live.as_ref();
                let snapshot = live.map(|live| live.snapshot.clone());
                let rect = self.cx.view.canvas.rect;
                // Twice the size of the map on the screen.
                let picture = Picture {
                    size: (2 * rect.width() as u32, 2 * rect.height() as u32),
                    view: Some(self.cx.model.camera.view(rect)),
                    hidden: self.cx.model.settings.tools.hidden.clone(),
                    signals: live.map(|live| live.signals.clone()).unwrap_or_default(),
                    ..Picture::default()
                };
                let job = Job::draw(scenario, snapshot, picture, path, wake);
                self.cx.jobs.push(job);
            }
            Purpose::Background => self.cx.jobs.push(Job::background(path, wake)),
            Purpose::Experiment(file) => self.take_experiment_path(path, file),
        }
    }

    /// Asks before unsaved changes are lost. A gesture under way is one of them.
    pub(crate) fn leave(&mut self, next: Next) {
        self.cx.leave_track();
        self.cx.model.document.commit();
        if self.cx.model.document.is_dirty() {
            self.cx.model.dialog = Dialog::Unsaved(next);
        } else {
            self.go(next);
        }
    }

    /// Does what unsaved changes are not in the way of any more.
    pub(crate) fn go(&mut self, next: Next) {
        self.cx.model.dialog = Dialog::None;
        // Whatever comes next comes in place of the document that waits: it may have to be saved first.
        if self.cx.is_showing() {
            self.cx.end_show();
            return match next {
                Next::Back => {}
                next => self.leave(next),
            };
        }
        match next {
            Next::Back => {}
            Next::New => {
                self.set_document(Document::new(Scenario::new(UNTITLED)));
                self.cx.choose(ToolKind::Road);
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
                self.cx.egui.send_viewport_cmd(egui::ViewportCommand::Close);
            }
        }
    }

    /// Opens what can be read of a damaged file, as a document without a file.
    fn open_salvaged(&mut self) {
        let Some(damaged) = self.cx.model.damaged.take() else {
            return;
        };
        let Some(saved) = &damaged.saved else {
            return;
        };
        let mut document = Document::new(Scenario::clone(&saved.scenario));
        // No file holds it: leaving asks.
        document.mark_dirty();
        self.set_document(document);
        let (kept, name) = (saved.kept, damaged.name());
        let text = format!("{kept} objects of {name} are here; the file is as it was.");
        self.cx.say(Tone::Done, &text);
    }

    fn recover(&mut self, index: usize) {
        if index >= self.cx.model.recoveries.len() {
            return;
        }
        let recovery = self.cx.model.recoveries.remove(index);
        let scenario = Scenario::clone(&recovery.scenario);
        let mut document = match &recovery.path {
            Some(path) => Document::from_file(scenario, path),
            None => Document::new(scenario),
        };
        // No file holds it: leaving asks.
        document.mark_dirty();
        self.set_document(document);
        let text = format!("{} is recovered; save it to keep it.", recovery.title);
        self.cx.say(Tone::Done, &text);
        // Its files go when this session has kept the edits itself.
        self.flow.recovered = Some(recovery);
    }

    pub(crate) fn discard_recoveries(&mut self) {
        for recovery in self.cx.model.recoveries.drain(..) {
            recovery.discard();
        }
    }

    /// Reads the file of the document again.
    pub(crate) fn reload(&mut self) {
        if let Some(path) = self.cx.model.document.path().map(Path::to_owned) {
            self.leave(Next::Open(path));
        }
    }

    /// Keeps the document although another program has written its file; saving replaces that.
    pub(crate) fn keep_mine(&mut self) {
        self.cx.model.document.accept_disk();
        // The file no longer holds what the window shows.
        self.cx.model.document.mark_dirty();
        self.cx.model.changed_on_disk = false;
    }

    /// Opens the system's own dialog for a path.
    pub(crate) fn browse(&mut self, purpose: Purpose, then: Option<Next>) {
        let suggestion = self.suggestion(purpose);
        let name = Path::new(&suggestion).file_name();
        let name = name.map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        self.cx
            .jobs
            .push(Job::browse(purpose, &name, then, self.cx.wake()));
    }

    /// Gives up the long jobs. Saving goes on: half a save would be no save.
    pub(crate) fn cancel_jobs(&mut self) {
        self.cx.jobs.retain(|job| {
            // Dropped with the end that its outcome would arrive at: what it still does is not
            // heard.
            if job.is_long {
                job.cancel();
            }
            !job.is_long
        });
        self.cx.model.job = None;
    }

    /// Starts a job that brings another document.
    fn load(&mut self, job: impl FnOnce(Box<dyn Fn() + Send>) -> Job) {
        self.flow.load_state = Some(state_of(&self.cx.model.document));
        let wake = self.cx.wake();
        self.cx.jobs.push(job(Box::new(wake)));
    }

    /// Takes a document that was read; edits made meanwhile are asked about.
    fn take_document(&mut self, document: Document) {
        if self.cx.is_showing() {
            self.flow.loaded = Some(document);
            return self.leave(Next::Loaded);
        }
        self.cx.leave_track();
        let state = state_of(&self.cx.model.document);
        // Unchanged since it was asked for: unsaved changes were asked about then.
        if self.flow.load_state == Some(state) || !self.cx.model.document.is_dirty() {
            self.set_document(document);
            return;
        }
        // It was read for a document that has been edited since: the person decides, and it waits.
        self.flow.loaded = Some(document);
        self.cx.model.dialog = Dialog::Unsaved(Next::Loaded);
    }

    /// Takes an imported scenario, and opens what the import tells of it.
    fn take_import(&mut self, path: &Path, (scenario, summary): (Scenario, ImportSummary)) {
        // A document without a file of its own: the extract is not where it is saved.
        let mut document = Document::new(scenario);
        document.mark_dirty();
        let report = ImportReport {
            file: path.display().to_string(),
            document: document.id(),
            summary,
        };
        self.take_document(document);
        self.cx
            .say(Tone::Done, &format!("{}: {}.", report.file, report.line()));
        self.cx.model.import = Some(Arc::new(report));
        self.cx.view.panels.bring_to_front(PanelId::Import);
    }

    /// Takes the outcomes of jobs.
    pub(crate) fn take_jobs(&mut self) {
        // First all are taken, then they act: an outcome may start another job.
        let mut outcomes = Vec::new();
        self.cx.jobs.retain(|job| match job.take() {
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
        let long = self.cx.jobs.iter().find(|job| job.is_long);
        self.cx.model.job = long.map(|job| (job.label.clone(), job.share()));
    }

    fn take_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Opened(path, Ok(scenario)) => {
                self.take_document(Document::from_file(*scenario, &path));
                self.cx.model.settings.remember(&path);
            }
            Outcome::Imported(path, Ok(imported)) => self.take_import(&path, *imported),
            Outcome::Saved(path, state, then, Ok(())) => self.note_saved(&path, state, then),
            Outcome::Drawn(path, Ok(())) => {
                self.cx
                    .say(Tone::Done, &format!("Wrote {}.", path.display()));
            }
            Outcome::Background(Ok((picked, placement))) => {
                let camera = self.cx.model.camera;
                let place = placement.as_ref();
                let background = Background::new(&self.cx.egui, picked, &camera, place);
                self.cx.model.background = Some(background);
                if placement.is_none() {
                    self.cx.choose(ToolKind::Overlay);
                }
            }
            Outcome::Shared(path, Ok(())) => {
                self.cx
                    .say(Tone::Done, &format!("Wrote {}.", path.display()));
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
                let text = "This desktop has no dialog for files: choose from the list, or type.";
                self.cx.say(Tone::Refused, text);
            }
            Outcome::Saved(.., Err(error)) => {
                self.cx.say(Tone::Failed, &error);
                // A save that waits may go elsewhere and succeed. What was to follow the failed one
                // is not done: it would have lost the edits.
                if let Some((path, then)) = self.flow.next_save.take() {
                    self.save_to(path, then);
                }
            }
            Outcome::Opened(_, Err(damaged)) => {
                self.cx.model.damaged = Some(Arc::from(damaged));
                self.cx.model.dialog = Dialog::Damaged;
            }
            Outcome::Imported(_, Err(error))
            | Outcome::Drawn(_, Err(error))
            | Outcome::Background(Err(error))
            | Outcome::Shared(_, Err(error))
            | Outcome::Bundle(_, Err(error))
            | Outcome::Unpacked(Err(error))
            | Outcome::Vehicle(.., Err(error))
            | Outcome::VehicleSaved(.., Err(error)) => self.cx.say(Tone::Failed, &error),
        }
    }

    /// A state of a document has been written; what waited for that goes on.
    fn note_saved(&mut self, path: &Path, (id, state): DocumentState, then: Option<Next>) {
        // Another document may have been opened while this one was written.
        let waiting = self
            .cx
            .waiting
            .as_mut()
            .map(|waiting| &mut waiting.document);
        let mut open = std::iter::once(&mut self.cx.model.document).chain(waiting);
        if let Some(document) = open.find(|document| document.id() == id) {
            document.saved_as(path, state);
        }
        self.cx.model.settings.remember(path);
        self.cx
            .say(Tone::Done, &format!("Saved {}.", path.display()));
        match (self.flow.next_save.take(), then) {
            (Some((path, then)), _) => self.save_to(path, then),
            // Asked once more: edits may have been made while it was written.
            (None, Some(next)) => self.leave(next),
            (None, None) => {}
        }
    }
}
