//! Carries out the actions of a frame once the frame is complete. This file maps actions to
//! methods, which are in the files of their subjects.
//!
//! Neither table has a wildcard, so an action or a command without a handler does not compile.

use crate::app::Editor;
use crate::arrangement::MirrorAxis;
use crate::command::Command;
use crate::edit_commands::EditAction;
use crate::hand::context;
use crate::model::{Action, Dialog, Next, Purpose};
use crate::race::RaceAction;
use crate::requests::{BundleAction, FlowAction, ModuleRequest, PlayingAction, Request};
use crate::run_keeping;
use crate::sharing;
use roadwright_geometry::DVec2;
use roadwright_simulation::CouplingOrder;

/// Factor by which one zoom step scales the interface.
const ZOOM_STEP: f32 = 1.1;
/// Factor by which one step resizes a brush.
const BRUSH_STEP: f64 = 1.25;

impl Editor {
    /// Carries out all actions of the frame in order.
    ///
    /// Changes of the view that the map has already shown come first. A command of the same frame,
    /// such as Home, then overrides them.
    pub(crate) fn after_frame(&mut self) {
        let all = std::mem::take(&mut self.cx.actions);
        let is_view = |action: &Action| matches!(action, Action::View(_));
        let (seen, asked): (Vec<_>, Vec<_>) = all.into_iter().partition(is_view);
        for action in seen {
            self.run(action);
        }
        self.cx.frame_first();
        if !asked.is_empty() {
            // The effects of the actions are not on screen yet.
            self.cx.egui.request_repaint();
        }
        for action in asked {
            self.run(action);
        }
        // The camera of an empty document is known immediately, and the next event may be a stroke.
        self.cx.frame_first();
        let context = context(&self.cx.model, &self.cx.model.camera);
        self.cx.model.status = self.cx.view.canvas.hand.tool().status(&context);
    }

    /// Carries out an action and the requests that it triggers.
    fn run(&mut self, action: Action) {
        self.dispatch(action);
        self.do_what_follows();
    }

    /// Carries out the requests that subjects send to each other.
    pub(crate) fn do_what_follows(&mut self) {
        while let Some(request) = self.cx.take_next() {
            self.answer(request);
        }
    }

    fn answer(&mut self, request: Request) {
        match request {
            Request::Action(action) => self.dispatch(*action),
            Request::Flow(action) => self.flow(action),
            Request::Playing(action) => self.play(action),
            Request::Modules(request) => self.modules.act(&mut self.cx, request),
            Request::Bundle(action) => sharing::act(&mut self.cx, &self.modules, action),
            Request::ExperimentPath(path, file) => {
                self.laboratory.take_path(&mut self.cx, path, file);
            }
        }
    }

    fn dispatch(&mut self, action: Action) {
        match action {
            Action::Do(command) => self.command(command),
            Action::Apply(label, edit) => self.cx.apply(&label, edit),
            Action::Repair(finding) => self.edit(EditAction::Repair(finding)),
            Action::RepairAll(code) => self.edit(EditAction::RepairAll(code)),
            Action::Preview(label, edit) => self.cx.preview(&label, edit),
            Action::Commit(None) => self.cx.model.document.commit(),
            Action::Commit(Some(label)) => self.cx.model.document.commit_gesture(&label),
            Action::Abort => self.cx.model.document.abort(),
            Action::PasteText(text) => self.edit(EditAction::PasteText(text)),
            Action::GoToStep(steps) => self.cx.model.document.go_to(steps),
            Action::Select(objects) => self.edit(EditAction::Select(objects)),
            Action::Explain(turn) => self.cx.model.explained = turn,
            Action::Measured(line) => self.cx.model.measured = line,
            Action::Speed(speed) => self.play(PlayingAction::Speed(speed)),
            Action::Watch(agent) => self.play(PlayingAction::Watch(agent)),
            Action::LookBack(time) => self.play(PlayingAction::LookAt(time)),
            Action::BackToPresent => self.play(PlayingAction::BackToPresent),
            Action::Drive(controls) => self.play(PlayingAction::Drive(controls)),
            Action::Coupling(agent, order) => self.play(PlayingAction::Coupling(agent, order)),
            Action::Module(action) => self.answer(Request::Modules(ModuleRequest::Action(action))),
            Action::Experiment(action) => self.laboratory.act(&mut self.cx, action),
            Action::KeptRun(action) => run_keeping::act(&mut self.cx, action),
            Action::Workshop(action) => self.shop.act(&mut self.cx, action),
            Action::Moves(action) => self.move_desk.act(&mut self.cx, action),
            Action::Race(action) => self.racing.act(&mut self.cx, action),
            Action::View(action) => self.cx.view_action(action),
            Action::Jump(low, high) => self.cx.jump(low, high),
            Action::Tool(kind) => self.cx.choose(kind),
            Action::Begin(kind, at) => self.cx.begin(kind, at),
            Action::AddRandomTrips => self.edit(EditAction::AddRandomTrips),
            Action::Arrange(arrangement) => self.edit(EditAction::Arrange(arrangement)),
            Action::PasteAt(at) => self.edit(EditAction::PasteAt(at)),
            Action::Settings(settings) => self.edit(EditAction::Settings(settings)),
            Action::BindKey(command, key) => self.cx.model.settings.keys.bind(command, key),
            Action::ResetKeys => self.cx.model.settings.keys.reset(),
            Action::MoveBackground(by) => self.cx.move_background(by),
            Action::ForgetLayer => self.cx.choose_layer(None),
            Action::ScaleBackground(by) => self.cx.scale_background(by),
            Action::FadeBackground(opacity) => self.cx.fade_background(opacity),
            Action::DropBackground => self.cx.model.background = None,
            Action::Show(dialog) => self.cx.model.dialog = dialog,
            Action::ShowPanel(panel) => self.cx.show_panel(panel),
            Action::AskPath(purpose) => self.flow(FlowAction::AskPath(purpose)),
            Action::Browse(purpose, then) => self.flow(FlowAction::Browse(purpose, then)),
            Action::ListFolder(folder) => self.folders.list(&mut self.cx, folder),
            Action::Path(path, purpose, then) => self.flow(FlowAction::Path(path, purpose, then)),
            Action::Leave(next) => self.flow(FlowAction::Leave(next)),
            Action::Go(next) => self.flow(FlowAction::Go(next)),
            Action::DiscardRecoveries => self.flow(FlowAction::DiscardRecoveries),
            Action::Unpack { folder, presets } => {
                self.answer(Request::Bundle(BundleAction::Unpack { folder, presets }));
            }
            Action::Reload => self.flow(FlowAction::Reload),
            Action::KeepMine => self.flow(FlowAction::KeepMine),
            Action::CancelJob => self.flow(FlowAction::CancelJobs),
            Action::Say(tone, text) => self.cx.say(tone, &text),
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::New => self.flow(FlowAction::Leave(Next::New)),
            Command::Open => self.flow(FlowAction::AskPath(Purpose::Open)),
            Command::Save => self.flow(FlowAction::Save),
            Command::SaveAs => self.flow(FlowAction::AskPath(Purpose::Save)),
            Command::Import => self.flow(FlowAction::AskPath(Purpose::Import)),
            Command::ExportPicture => self.flow(FlowAction::AskPath(Purpose::Picture)),
            Command::Share => self.flow(FlowAction::AskPath(Purpose::Share)),
            Command::Welcome => self.cx.model.dialog = Dialog::Welcome,
            Command::Quit => self.flow(FlowAction::Leave(Next::Quit)),
            Command::Undo => self.edit(EditAction::Undo),
            Command::Redo | Command::RedoToo => self.edit(EditAction::Redo),
            Command::Copy => self.edit(EditAction::Copy),
            Command::Cut => self.edit(EditAction::Cut),
            Command::Paste => self.edit(EditAction::Paste),
            Command::Duplicate => self.edit(EditAction::Duplicate),
            Command::Delete => self.edit(EditAction::Delete),
            Command::SelectAll => self.edit(EditAction::SelectAll),
            Command::SelectSimilar => self.edit(EditAction::SelectSimilar),
            Command::NudgeWest => self.edit(EditAction::Nudge(DVec2::NEG_X)),
            Command::NudgeEast => self.edit(EditAction::Nudge(DVec2::X)),
            Command::NudgeNorth => self.edit(EditAction::Nudge(DVec2::Y)),
            Command::NudgeSouth => self.edit(EditAction::Nudge(DVec2::NEG_Y)),
            Command::Group => self.edit(EditAction::Group),
            Command::Ungroup => self.edit(EditAction::Ungroup),
            Command::MirrorLeftRight => self.edit(EditAction::Mirror(MirrorAxis::LeftRight)),
            Command::MirrorUpDown => self.edit(EditAction::Mirror(MirrorAxis::UpDown)),
            Command::TurnLeft => self.edit(EditAction::Turn(1)),
            Command::TurnRight => self.edit(EditAction::Turn(-1)),
            Command::SplitRoad => self.edit(EditAction::SplitRoad),
            Command::MergeRoads => self.edit(EditAction::MergeRoads),
            Command::MergeJunctions => self.edit(EditAction::MergeJunctions),
            Command::PartJunctions => self.edit(EditAction::PartJunctions),
            Command::AddTurnLanes => self.edit(EditAction::AddTurnLanes),
            Command::TurnIntoRoundabout => self.edit(EditAction::TurnIntoRoundabout),
            Command::ReverseRoad => self.edit(EditAction::ReverseRoad),
            Command::SimplifyRoad => self.edit(EditAction::SimplifyRoad),
            Command::PlayPause => self.play(PlayingAction::PlayOrPause),
            Command::StepOnce => self.play(PlayingAction::Step),
            Command::Reset => self.play(PlayingAction::Reset),
            Command::Faster => self.play(PlayingAction::ChangeSpeed(1)),
            Command::Slower => self.play(PlayingAction::ChangeSpeed(-1)),
            Command::LookBack => self.play(PlayingAction::LookBack),
            Command::Drive => self.play(PlayingAction::TakeTheWheel),
            Command::FullLock => self.cx.toggle_full_lock(),
            Command::RecordClip => self.play(PlayingAction::RecordClip),
            Command::RaceAgain => self.racing.act(&mut self.cx, RaceAction::Again),
            Command::Uncouple => {
                self.play(PlayingAction::CoupleWatched(CouplingOrder::Uncouple(None)))
            }
            Command::Couple => self.play(PlayingAction::CoupleWatched(CouplingOrder::Couple)),
            Command::Follow => self.play(PlayingAction::ToggleFollow),
            Command::FrameSelection => self.cx.frame_selection(),
            Command::FrameAll => self.cx.frame_all(),
            Command::ShowHidden => self.edit(EditAction::ShowHidden),
            Command::ToggleGrid => self.cx.model.settings.grid ^= true,
            Command::ToggleGridSnap => self.cx.model.settings.tools.snap.grid ^= true,
            Command::ToggleMinimap => self.cx.model.settings.minimap ^= true,
            Command::ToggleTheme => self.cx.model.settings.dark ^= true,
            Command::Larger => self.cx.change_zoom(ZOOM_STEP),
            Command::Smaller => self.cx.change_zoom(1.0 / ZOOM_STEP),
            Command::BrushSmaller => self.cx.change_brush(1.0 / BRUSH_STEP),
            Command::BrushLarger => self.cx.change_brush(BRUSH_STEP),
            Command::LayerUp => self.cx.change_layer(1),
            Command::LayerDown => self.cx.change_layer(-1),
            Command::Tool(kind) => self.cx.choose(kind),
            Command::Palette | Command::Search => self.cx.model.dialog = Dialog::palette(),
            Command::Keys => self.cx.model.dialog = Dialog::keys(),
            Command::KeepRun => run_keeping::keep_run(&mut self.cx),
            Command::Panel(panel) => self.cx.show_panel(panel),
            Command::ResetPanels => self.cx.reset_panels(),
        }
    }

    fn flow(&mut self, action: FlowAction) {
        self.flow.act(&mut self.cx, action);
    }

    fn edit(&mut self, action: EditAction) {
        self.editing.act(&mut self.cx, action);
    }

    fn play(&mut self, action: PlayingAction) {
        self.playing.act(&mut self.cx, action);
    }
}
