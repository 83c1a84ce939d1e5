//! Carries out the actions of a frame after the frame: this file maps actions to methods, and the files by
//! subject contain the methods.
//!
//! Both tables have no wildcard, so that an action or a command without a handler does not compile.

use crate::app::Editor;
use crate::command::Command;
use crate::edit_commands::SIMPLIFY_TOLERANCE;
use crate::hand::context;
use crate::model::{Action, Dialog, Next, Purpose};
use roadwright_scenario::operation;
use roadwright_simulation::CouplingOrder;

/// Factors for the sizes of the interface and of brushes.
const ZOOM_STEP: f32 = 1.1;
const BRUSH_STEP: f64 = 1.25;

impl Editor {
    /// Carries out all actions of the frame in order.
    ///
    /// Changes of the view that the map has already shown come first: a command of the same frame that moves
    /// the view, such as Home, must win.
    pub(crate) fn after_frame(&mut self) {
        let all = std::mem::take(&mut self.actions);
        let is_view = |action: &Action| matches!(action, Action::View(_));
        let (seen, asked): (Vec<_>, Vec<_>) = all.into_iter().partition(is_view);
        for action in seen {
            self.run(action);
        }
        self.frame_first();
        if !asked.is_empty() {
            // Their effect is not on screen yet.
            self.context.request_repaint();
        }
        for action in asked {
            self.run(action);
        }
        let context = context(&self.model, &self.model.camera);
        self.model.status = self.view.canvas.hand.tool().status(&context);
    }

    pub(crate) fn run(&mut self, action: Action) {
        match action {
            Action::Do(command) => self.command(command),
            Action::Apply(label, edit) => self.apply(&label, edit),
            Action::Repair(finding) => self.repair(&finding),
            Action::Preview(label, edit) => self.preview(&label, edit),
            Action::Commit(None) => self.model.document.commit(),
            Action::Commit(Some(label)) => self.model.document.commit_gesture(&label),
            Action::Abort => self.model.document.abort(),
            Action::PasteText(text) => self.paste_text(&text),
            Action::GoToStep(steps) => self.model.document.go_to(steps),
            Action::Select(objects) => self.select(objects),
            Action::Explain(way) => self.model.explained = way,
            Action::Speed(speed) => self.set_speed(speed),
            Action::Watch(agent) => self.watch(agent),
            Action::LookBack(time) => self.live().look_back(time),
            Action::BackToPresent => self.live().back_to_present(),
            Action::Drive(controls) => self.move_controls(controls),
            Action::Coupling(agent, order) => self.live().coupling(agent, order),
            Action::Module(action) => self.module(action),
            Action::Experiment(action) => self.experiment(action),
            Action::KeptRun(action) => self.kept_run(action),
            Action::Workshop(action) => self.workshop(action),
            Action::View(action) => self.view_action(action),
            Action::Jump(low, high) => self.jump(low, high),
            Action::Tool(kind) => self.choose(kind),
            Action::Begin(kind, at) => self.begin(kind, at),
            Action::AddRandomTrips => self.edit(Self::add_random_trips),
            Action::Arrange(arrangement) => self.edit(|editor| editor.arrange(arrangement)),
            Action::PasteAt(at) => self.edit(|editor| editor.paste_at(at)),
            Action::Settings(settings) => self.take_settings(*settings),
            Action::BindKey(command, key) => self.model.settings.keys.bind(command, key),
            Action::ResetKeys => self.model.settings.keys.reset(),
            Action::MoveBackground(by) => self.move_background(by),
            Action::ScaleBackground(by) => self.scale_background(by),
            Action::FadeBackground(opacity) => self.fade_background(opacity),
            Action::DropBackground => self.model.background = None,
            Action::Show(dialog) => self.model.dialog = dialog,
            Action::ShowPanel(panel) => self.view.panels.bring_to_front(panel),
            Action::AskPath(purpose) => self.ask_path(purpose, None),
            Action::Browse(purpose, then) => self.browse(purpose, then),
            Action::ListFolder(folder) => self.list_folder(folder),
            Action::Path(path, purpose, then) => self.take_path(path, purpose, then),
            Action::Leave(next) => self.leave(next),
            Action::Go(next) => self.go(next),
            Action::DiscardRecoveries => self.discard_recoveries(),
            Action::Unpack { folder, presets } => self.unpack(folder, presets),
            Action::Reload => self.reload(),
            Action::KeepMine => self.keep_mine(),
            Action::CancelJob => self.cancel_jobs(),
            Action::Say(tone, text) => self.say(tone, &text),
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::New => self.leave(Next::New),
            Command::Open => self.ask_path(Purpose::Open, None),
            Command::Save => self.save(None),
            Command::SaveAs => self.ask_path(Purpose::Save, None),
            Command::Import => self.ask_path(Purpose::Import, None),
            Command::ExportPicture => self.ask_path(Purpose::Picture, None),
            Command::Share => self.ask_path(Purpose::Share, None),
            Command::Welcome => self.model.dialog = Dialog::Welcome,
            Command::Quit => self.leave(Next::Quit),
            Command::Undo => self.undo(),
            Command::Redo | Command::RedoToo => self.edit(Self::redo),
            Command::Copy => self.copy(),
            Command::Cut => self.edit(Self::cut),
            Command::Paste => self.edit(Self::paste),
            Command::Duplicate => self.edit(Self::duplicate),
            Command::Delete => self.edit(Self::delete),
            Command::SelectAll => self.select_all(),
            Command::SelectSimilar => self.select_similar(),
            Command::NudgeWest => self.edit(|editor| editor.nudge(-1.0, 0.0)),
            Command::NudgeEast => self.edit(|editor| editor.nudge(1.0, 0.0)),
            Command::NudgeNorth => self.edit(|editor| editor.nudge(0.0, 1.0)),
            Command::NudgeSouth => self.edit(|editor| editor.nudge(0.0, -1.0)),
            Command::Group => self.edit(Self::group),
            Command::Ungroup => self.edit(Self::ungroup),
            Command::MirrorLeftRight => self.edit(|editor| editor.mirror(true)),
            Command::MirrorUpDown => self.edit(|editor| editor.mirror(false)),
            Command::TurnLeft => self.edit(|editor| editor.turn(1)),
            Command::TurnRight => self.edit(|editor| editor.turn(-1)),
            Command::SplitRoad => self.edit(Self::split_road),
            Command::MergeRoads => self.edit(Self::merge_roads),
            Command::MergeJunctions => self.edit(Self::merge_junctions),
            Command::PartJunctions => self.edit(Self::part_junctions),
            Command::AddTurnLanes => self.edit(Self::add_turn_lanes),
            Command::ReverseRoad => self.change_road("Reverse road", operation::reversed),
            Command::SimplifyRoad => self.change_road("Simplify road", |scenario, id| {
                operation::simplified(scenario, id, SIMPLIFY_TOLERANCE)
            }),
            Command::PlayPause => self.play_or_pause(),
            Command::StepOnce => self.live().step(),
            Command::Reset => self.live().reset(),
            Command::Faster => self.change_speed(1),
            Command::Slower => self.change_speed(-1),
            Command::LookBack => self.look_back(),
            Command::Drive => self.take_the_wheel(),
            Command::Uncouple => self.couple_watched(CouplingOrder::Uncouple(None)),
            Command::Couple => self.couple_watched(CouplingOrder::Couple),
            Command::Follow => self.toggle_follow(),
            Command::FrameSelection => self.frame_selection(),
            Command::FrameAll => self.frame_all(),
            Command::Search => self.model.dialog = Dialog::search(),
            Command::ShowHidden => self.show_hidden(),
            Command::ToggleGrid => self.model.settings.grid ^= true,
            Command::ToggleGridSnap => self.model.settings.tools.snap.grid ^= true,
            Command::ToggleMinimap => self.model.settings.minimap ^= true,
            Command::ToggleTheme => self.model.settings.dark ^= true,
            Command::Larger => self.change_zoom(ZOOM_STEP),
            Command::Smaller => self.change_zoom(1.0 / ZOOM_STEP),
            Command::BrushSmaller => self.change_brush(1.0 / BRUSH_STEP),
            Command::BrushLarger => self.change_brush(BRUSH_STEP),
            Command::Tool(kind) => self.choose(kind),
            Command::Palette => self.model.dialog = Dialog::palette(),
            Command::Keys => self.model.dialog = Dialog::keys(),
            Command::KeepRun => self.keep_run(),
            Command::Panel(panel) => self.view.panels.bring_to_front(panel),
            Command::ResetPanels => self.view.panels.reset(),
        }
    }
}
