//! What panels and keys ask for is done here, after the frame.

use crate::app::Editor;
use crate::background::Background;
use crate::command::Command;
use crate::document::Document;
use crate::jobs::{Job, Outcome};
use crate::model::{Action, Dialog, Next, Purpose, Tone};
use crate::shipped;
use crate::tools::{ToolKind, named};
use roadwright_geometry::DVec2;
use roadwright_geometry::projection::Projector;
use roadwright_render::Picture;
use roadwright_scenario::operation::{self, Motion, Objects};
use roadwright_scenario::{Edit, NodeId, ObjectId, RoadId, Scenario, draw, file};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Speeds of the simulation: the slowest, the fastest by the clock.
pub(crate) const SPEEDS: [f64; 11] = [
    0.1,
    0.25,
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    16.0,
    50.0,
    100.0,
    f64::INFINITY,
];
/// Tolerance of simplifying a road, m.
const SIMPLIFY_TOLERANCE: f64 = 0.5;

/// Whether an object is in a scenario.
pub(crate) fn exists(scenario: &Scenario, object: ObjectId) -> bool {
    match object {
        ObjectId::Node(id) => scenario.network().node(id).is_some(),
        ObjectId::Road(id) => scenario.network().road(id).is_some(),
        ObjectId::Obstacle(id) => scenario.obstacles().contains_key(&id),
        ObjectId::Forest(id) => scenario.forests().contains_key(&id),
        ObjectId::PointOfInterest(id) => scenario.points_of_interest().contains_key(&id),
        ObjectId::Agent(id) => scenario.agents().contains_key(&id),
        ObjectId::Flow(id) => scenario.flows().contains_key(&id),
    }
}

impl Editor {
    /// Does all that was asked for.
    pub(crate) fn run_actions(&mut self) {
        for action in std::mem::take(&mut self.actions) {
            self.run(action);
        }
    }

    fn run(&mut self, action: Action) {
        match action {
            Action::Do(command) => self.command(command),
            Action::Apply(label, edit) => self.apply(&label, edit),
            Action::Preview(label, edit) => {
                if let Err(error) = self.model.document.preview(&label, edit) {
                    self.say(Tone::Refused, &format!("{error}."));
                }
            }
            Action::Commit(None) => self.model.document.commit(),
            Action::Commit(Some(label)) => self.model.document.commit_gesture(&label),
            Action::Abort => self.model.document.abort(),
            Action::Select(objects) => self.select(objects),
            Action::Jump(low, high) => self.jump(low, high),
            Action::GoToStep(steps) => self.model.document.go_to(steps),
            Action::Settings(settings) => self.model.settings = *settings,
            Action::Tool(kind) => self.choose(kind),
            Action::Speed(speed) => {
                self.model.speed = speed;
                if let Some(live) = &mut self.live {
                    live.set_speed(speed);
                }
            }
            Action::Watch(agent) => self.watch(agent),
            Action::Module(action) => self.module(action),
            Action::MoveBackground(by) => {
                if let Some(background) = &mut self.model.background {
                    background.low += by;
                }
            }
            Action::ScaleBackground(by) => {
                if let Some(background) = &mut self.model.background {
                    let scale = background.metres_per_pixel * by;
                    background.metres_per_pixel = scale.clamp(1e-4, 1e4);
                }
            }
            Action::FadeBackground(opacity) => {
                if let Some(background) = &mut self.model.background {
                    background.opacity = opacity;
                }
            }
            Action::DropBackground => self.model.background = None,
            Action::Show(dialog) => self.model.dialog = dialog,
            Action::Browse(purpose, then) => {
                let suggestion = self.suggestion(purpose);
                let name = Path::new(&suggestion).file_name();
                let name = name.map_or_else(String::new, |n| n.to_string_lossy().into_owned());
                self.jobs
                    .push(Job::browse(purpose, &name, then, self.wake()));
            }
            Action::Path(path, purpose, then) => self.take_path(path, purpose, then),
            Action::Leave(next) => self.leave(next),
            Action::Go(next) => self.go(next),
            Action::DiscardRecoveries => {
                for recovery in self.model.recoveries.drain(..) {
                    recovery.discard();
                }
            }
            Action::Reload => {
                if let Some(path) = self.model.document.path().map(Path::to_owned) {
                    self.leave(Next::Open(path));
                }
            }
            Action::KeepMine => {
                self.model.document.accept_disk();
                self.model.document.mark_dirty();
                self.model.changed_on_disk = false;
            }
            Action::CancelJob => {
                // Saving goes on: a file that is half wanted helps nobody.
                self.jobs.retain(|job| {
                    if job.is_long {
                        job.cancel();
                    }
                    !job.is_long
                });
                self.model.job = None;
            }
            Action::Say(tone, text) => self.say(tone, &text),
        }
    }

    pub(crate) fn apply(&mut self, label: &str, edit: Edit) {
        if let Err(error) = self.model.document.apply(label, edit) {
            self.say(Tone::Refused, &format!("{error}."));
        }
    }

    fn select(&mut self, objects: Objects) {
        self.model.selection = objects;
        if let Some(ObjectId::Agent(id)) = self.model.single() {
            self.watch(Some(u64::from(id.0)));
        }
    }

    fn watch(&mut self, agent: Option<u64>) {
        self.model.watched = agent;
        if agent.is_none() {
            self.model.follow = false;
        }
        if let Some(live) = &mut self.live {
            live.watch(agent);
        }
    }

    fn jump(&mut self, low: DVec2, high: DVec2) {
        let pad = DVec2::splat(30.0);
        let rect = self.canvas.rect;
        self.model.follow = false;
        self.model.camera.frame(rect, (low - pad, high + pad));
    }

    fn choose(&mut self, kind: ToolKind) {
        if self.tool.is_busy() {
            self.model.document.abort();
        }
        self.canvas.let_go();
        self.model.tool = kind;
        self.tool = kind.tool();
    }

    fn command(&mut self, command: Command) {
        if let Some(tool) = command.tool() {
            self.choose(tool);
            return;
        }
        if self.tool.is_busy() && command.edits() {
            // A stroke that is under way would bring back what the command changes.
            self.choose(self.model.tool);
        }
        match command {
            Command::New => self.leave(Next::New),
            Command::Open => self.ask_path(Purpose::Open, None),
            Command::Save => self.save(None),
            Command::SaveAs => self.ask_path(Purpose::Save, None),
            Command::Import => self.ask_path(Purpose::Import, None),
            Command::ExportPicture => self.ask_path(Purpose::Picture, None),
            Command::Welcome => self.model.dialog = Dialog::Welcome,
            Command::Quit => self.leave(Next::Quit),
            Command::Undo => self.undo(),
            Command::Redo | Command::RedoToo => self.redo(),
            Command::Copy => self.copy(),
            Command::Cut => {
                self.copy();
                self.delete();
            }
            Command::Paste => self.paste(),
            Command::Duplicate => self.duplicate(),
            Command::Delete => self.delete(),
            Command::SelectAll => self.select_all(),
            Command::SplitRoad => self.split_road(),
            Command::MergeRoads => self.merge_roads(),
            Command::ReverseRoad => {
                self.change_road("Reverse road", operation::reversed);
            }
            Command::SimplifyRoad => self.change_road("Simplify road", |scenario, id| {
                operation::simplified(scenario, id, SIMPLIFY_TOLERANCE)
            }),
            Command::PlayPause => {
                let play = !self.model.is_playing();
                self.live().play(play);
            }
            Command::StepOnce => self.live().step(),
            Command::Reset => self.live().reset(),
            Command::Faster => self.change_speed(1),
            Command::Slower => self.change_speed(-1),
            Command::Follow => {
                self.model.follow = !self.model.follow && self.model.watched.is_some();
            }
            Command::FrameSelection => self.frame_selection(),
            Command::FrameAll => self.frame_all(),
            Command::Search => {
                self.model.dialog = Dialog::Search {
                    query: String::new(),
                }
            }
            Command::ToggleGrid => self.model.settings.grid ^= true,
            Command::ToggleGridSnap => self.model.settings.tools.snap.grid ^= true,
            Command::ToggleMinimap => self.model.settings.minimap ^= true,
            Command::ToggleTheme => self.model.settings.dark ^= true,
            Command::Larger => self.change_zoom(1.1),
            Command::Smaller => self.change_zoom(1.0 / 1.1),
            Command::BrushSmaller => self.change_brush(1.0 / 1.25),
            Command::BrushLarger => self.change_brush(1.25),
            Command::Palette => {
                self.model.dialog = Dialog::Palette {
                    query: String::new(),
                    line: 0,
                }
            }
            Command::Keys => {
                self.model.dialog = Dialog::Keys {
                    waiting: None,
                    filter: String::new(),
                }
            }
            Command::ResetPanels => self.panels.reset(),
            // Tools are chosen above.
            _ => {}
        }
    }

    fn undo(&mut self) {
        if self.tool.is_busy() {
            self.choose(self.model.tool);
            return;
        }
        if self.model.document.undo().is_none() {
            self.say(Tone::Refused, "There is nothing to undo.");
        }
    }

    fn redo(&mut self) {
        if self.model.document.redo().is_none() {
            self.say(Tone::Refused, "There is nothing to redo.");
        }
    }

    fn change_speed(&mut self, by: isize) {
        let now = SPEEDS.iter().position(|s| *s >= self.model.speed);
        let now = now.unwrap_or(SPEEDS.len() - 1) as isize;
        let next = (now + by).clamp(0, SPEEDS.len() as isize - 1) as usize;
        self.run(Action::Speed(SPEEDS[next]));
    }

    fn change_zoom(&mut self, factor: f32) {
        let zoom = (self.model.settings.zoom * factor).clamp(0.5, 3.0);
        self.model.settings.zoom = zoom;
    }

    fn change_brush(&mut self, factor: f64) {
        let tools = &mut self.model.settings.tools;
        let radius = match self.model.tool {
            ToolKind::Forest => &mut tools.forest.radius,
            ToolKind::Terrain => &mut tools.terrain.radius,
            _ => return,
        };
        *radius = (*radius * factor).clamp(1.0, 500.0);
    }

    fn copy(&mut self) {
        if self.model.selection.is_empty() {
            self.say(Tone::Refused, "Nothing is selected.");
            return;
        }
        let piece = operation::copied(self.model.document.scenario(), &self.model.selection);
        self.context.copy_text(file::to_text(&piece));
        self.clipboard = Some(Arc::new(piece));
    }

    /// Text that the system's clipboard holds: a piece of a scenario, perhaps of another window.
    pub(crate) fn take_clipboard(&mut self, text: &str) {
        if let Ok(piece) = file::from_text(text) {
            self.clipboard = Some(Arc::new(piece));
        }
    }

    fn paste(&mut self) {
        let Some(piece) = self.clipboard.clone() else {
            self.say(Tone::Refused, "Nothing has been copied.");
            return;
        };
        let (low, high) = piece.bounds().unwrap_or_default();
        let to = self.model.pointer.unwrap_or(self.model.camera.centre);
        self.add_piece("Paste", &piece, to - 0.5 * (low + high));
    }

    fn duplicate(&mut self) {
        if self.model.selection.is_empty() {
            self.say(Tone::Refused, "Nothing is selected.");
            return;
        }
        let piece = operation::copied(self.model.document.scenario(), &self.model.selection);
        let aside = 24.0 * self.model.camera.scale;
        let label = format!("Duplicate {}", named(&self.model.selection));
        self.add_piece(&label, &piece, DVec2::new(aside, -aside));
    }

    fn add_piece(&mut self, label: &str, piece: &Scenario, shift: DVec2) {
        let pasted =
            operation::pasted(self.model.document.scenario(), piece, &Motion::shift(shift));
        match pasted {
            Ok((edit, objects)) => {
                self.apply(label, edit);
                self.model.selection = objects;
            }
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    fn delete(&mut self) {
        if self.model.selection.is_empty() {
            return;
        }
        let selection = std::mem::take(&mut self.model.selection);
        let edit = operation::deleted(self.model.document.scenario(), &selection);
        self.apply(&format!("Delete {}", named(&selection)), edit);
    }

    fn select_all(&mut self) {
        let scenario = self.model.document.scenario();
        let roads = scenario.network().roads().map(|(id, _)| ObjectId::Road(id));
        let mut all: Objects = roads.collect();
        all.extend(
            scenario
                .obstacles()
                .keys()
                .map(|id| ObjectId::Obstacle(*id)),
        );
        all.extend(scenario.forests().keys().map(|id| ObjectId::Forest(*id)));
        let points = scenario.points_of_interest().keys();
        all.extend(points.map(|id| ObjectId::PointOfInterest(*id)));
        all.extend(scenario.agents().keys().map(|id| ObjectId::Agent(*id)));
        all.extend(scenario.flows().keys().map(|id| ObjectId::Flow(*id)));
        self.model.selection = all;
    }

    fn selected_road(&mut self) -> Option<RoadId> {
        match self.model.single() {
            Some(ObjectId::Road(id)) => Some(id),
            _ => {
                self.say(Tone::Refused, "Select one road first.");
                None
            }
        }
    }

    fn change_road(
        &mut self,
        label: &str,
        change: impl Fn(&Scenario, RoadId) -> Result<Edit, operation::OperationError>,
    ) {
        let Some(id) = self.selected_road() else {
            return;
        };
        match change(self.model.document.scenario(), id) {
            Ok(Edit::Batch(edits)) if edits.is_empty() => {
                self.say(Tone::Done, "It is as simple as it can be.");
            }
            Ok(edit) => self.apply(label, edit),
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    fn split_road(&mut self) {
        let Some(id) = self.selected_road() else {
            return;
        };
        let scenario = self.model.document.scenario();
        let Some(road) = scenario.network().road(id) else {
            return;
        };
        let reach = 20.0 * self.model.camera.scale;
        let at_pointer = self.model.pointer.and_then(|point| {
            let foot = Projector::new(road.reference_line.clone()).closest(point);
            let miss = (road.reference_line.pose(foot.s).position - point).length();
            (miss < reach.max(6.0)).then_some(foot.s)
        });
        let s = at_pointer.unwrap_or(0.5 * road.length());
        match draw::split(scenario, id, s) {
            Ok(edit) => self.apply("Split road", edit),
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    fn merge_roads(&mut self) {
        let Some(node) = self.node_to_merge() else {
            self.say(
                Tone::Refused,
                "Select the node between two roads, or two roads that meet.",
            );
            return;
        };
        match operation::merged(self.model.document.scenario(), node) {
            Ok(edit) => {
                self.model.selection.clear();
                self.apply("Merge roads", edit);
            }
            Err(error) => self.say(Tone::Refused, &format!("{error}.")),
        }
    }

    fn node_to_merge(&self) -> Option<NodeId> {
        let network = self.model.document.scenario().network();
        let chosen: Vec<ObjectId> = self.model.selection.iter().copied().collect();
        match chosen[..] {
            [ObjectId::Node(id)] => Some(id),
            [ObjectId::Road(a), ObjectId::Road(b)] => {
                let (a, b) = (network.road(a)?, network.road(b)?);
                [a.from, a.to]
                    .into_iter()
                    .find(|node| [b.from, b.to].contains(node))
            }
            _ => None,
        }
    }

    fn frame_selection(&mut self) {
        let boxes = self.model.selection.iter();
        let corners: Vec<DVec2> = boxes
            .filter_map(|object| self.model.scene.bounds_of(*object))
            .flat_map(|(low, high)| [low, high])
            .collect();
        match roadwright_geometry::polygon::bounds(&corners) {
            Some((low, high)) => self.jump(low, high),
            None => self.frame_all(),
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
            Purpose::Open | Purpose::Import | Purpose::Background => String::new(),
        }
    }

    fn ask_path(&mut self, purpose: Purpose, then: Option<Next>) {
        self.model.dialog = Dialog::Path {
            purpose,
            text: self.suggestion(purpose),
            then,
        };
    }

    fn save(&mut self, then: Option<Next>) {
        if self.model.document.changed_on_disk() {
            self.model.changed_on_disk = true;
            self.say(
                Tone::Refused,
                "Another program has changed the file: reload it, or keep yours, first.",
            );
            return;
        }
        match self.model.document.path().map(Path::to_owned) {
            Some(path) => self.save_to(path, then),
            None => self.ask_path(Purpose::Save, then),
        }
    }

    fn save_to(&mut self, path: PathBuf, then: Option<Next>) {
        if self.jobs.iter().any(|job| job.is_save) {
            // One after the other, so that the newest is what stays.
            self.next_save = Some((path, then));
            return;
        }
        let document = &self.model.document;
        let state = (document.id(), document.state());
        let scenario = document.base().clone();
        let wake = self.wake();
        self.jobs.push(Job::save(scenario, path, state, then, wake));
    }

    fn take_path(&mut self, path: PathBuf, purpose: Purpose, then: Option<Next>) {
        self.model.dialog = Dialog::None;
        let wake = self.wake();
        match purpose {
            Purpose::Open => self.leave(Next::Open(path)),
            Purpose::Save => {
                self.save_to(crate::jobs::scenario_path(&path), then);
            }
            Purpose::Import => self.leave(Next::Import(path)),
            Purpose::Picture => {
                let scenario = self.model.document.scenario().clone();
                let snapshot = self.model.live.as_ref().map(|live| live.snapshot.clone());
                let rect = self.canvas.rect;
                let picture = Picture {
                    size: (2 * rect.width() as u32, 2 * rect.height() as u32),
                    view: Some(self.model.camera.view(rect)),
                    ..Picture::default()
                };
                let job = Job::draw(scenario, snapshot, picture, path, wake);
                self.jobs.push(job);
            }
            Purpose::Background => self.jobs.push(Job::background(path, wake)),
        }
    }

    /// Asks before unsaved changes are lost.
    fn leave(&mut self, next: Next) {
        self.model.document.commit();
        if self.model.document.is_dirty() {
            self.model.dialog = Dialog::Unsaved(next);
        } else {
            self.go(next);
        }
    }

    fn go(&mut self, next: Next) {
        self.model.dialog = Dialog::None;
        match next {
            Next::New => {
                self.set_document(Document::new(Scenario::new("Untitled")));
                self.choose(ToolKind::Road);
            }
            Next::Open(path) => self.load(|wake| Job::open(path, wake)),
            Next::Loaded => {
                if let Some(document) = self.loaded.take() {
                    self.set_document(document);
                }
            }
            Next::Shipped(index) => self.set_document(shipped::document(index)),
            Next::Import(path) => self.load(|wake| Job::import(path, wake)),
            Next::Recover(index) => {
                if index < self.model.recoveries.len() {
                    let recovery = self.model.recoveries.remove(index);
                    let scenario = Scenario::clone(&recovery.scenario);
                    let mut document = match &recovery.path {
                        Some(path) => Document::from_file(scenario, path),
                        None => Document::new(scenario),
                    };
                    document.mark_dirty();
                    self.set_document(document);
                    let text = format!("{} is recovered; save it to keep it.", recovery.title);
                    self.say(Tone::Done, &text);
                    // Its files go when this session has kept the edits itself.
                    self.recovered = Some(recovery);
                }
            }
            Next::Quit => {
                self.may_quit = true;
                self.context.send_viewport_cmd(egui::ViewportCommand::Close);
            }
        }
    }

    /// Starts a job that brings another document.
    fn load(&mut self, job: impl FnOnce(Box<dyn Fn() + Send>) -> Job) {
        self.load_state = Some((self.model.document.id(), self.model.document.state()));
        let wake = self.wake();
        self.jobs.push(job(Box::new(wake)));
    }

    /// Takes a document that was read; edits made meanwhile are asked about.
    fn take_document(&mut self, document: Document) {
        let state = (self.model.document.id(), self.model.document.state());
        if self.load_state == Some(state) || !self.model.document.is_dirty() {
            self.set_document(document);
            return;
        }
        self.loaded = Some(document);
        self.model.dialog = Dialog::Unsaved(Next::Loaded);
    }

    /// Takes what jobs have come to.
    pub(crate) fn take_jobs(&mut self) {
        let mut outcomes = Vec::new();
        self.jobs.retain(|job| match job.take() {
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
        let long = self.jobs.iter().find(|job| job.is_long);
        self.model.job = long.map(|job| (job.label.clone(), job.share()));
    }

    fn take_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Opened(path, Ok(scenario)) => {
                self.take_document(Document::from_file(scenario, &path));
                self.model.settings.remember(&path);
            }
            Outcome::Imported(path, Ok((scenario, text))) => {
                let mut document = Document::new(scenario);
                document.mark_dirty();
                self.take_document(document);
                self.say(Tone::Done, &format!("{}: {text}.", path.display()));
            }
            Outcome::Saved(path, (id, state), then, Ok(())) => {
                if id == self.model.document.id() {
                    self.model.document.saved_as(&path, state);
                }
                self.model.settings.remember(&path);
                self.say(Tone::Done, &format!("Saved {}.", path.display()));
                match (self.next_save.take(), then) {
                    (Some((path, then)), _) => self.save_to(path, then),
                    (None, Some(next)) => self.leave(next),
                    (None, None) => {}
                }
            }
            Outcome::Drawn(path, Ok(())) => {
                self.say(Tone::Done, &format!("Wrote {}.", path.display()));
            }
            Outcome::Background(Ok(picture)) => {
                let camera = self.model.camera;
                self.model.background = Some(Background::new(&self.context, picture, &camera));
                self.choose(ToolKind::Overlay);
            }
            Outcome::Browsed(purpose, then, Some(path)) => self.take_path(path, purpose, then),
            Outcome::Browsed(_, _, None) => {}
            Outcome::Saved(.., Err(error)) => {
                self.say(Tone::Failed, &error);
                if let Some((path, then)) = self.next_save.take() {
                    self.save_to(path, then);
                }
            }
            Outcome::Opened(_, Err(error))
            | Outcome::Imported(_, Err(error))
            | Outcome::Drawn(_, Err(error))
            | Outcome::Background(Err(error)) => self.say(Tone::Failed, &error),
        }
    }
}
