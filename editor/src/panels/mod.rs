//! Panels: they read the model, change their own state, and send actions.

mod bottom;
mod bundle;
mod code;
mod compare;
mod controller;
mod damaged;
mod dialogs;
mod docking;
mod driving;
mod experiment;
mod green_wave;
mod ground_plan;
mod groups;
mod history;
mod import;
mod inspector;
mod keys;
mod kinds;
mod menu;
mod modules;
mod moves;
mod objects;
mod opened;
mod palette;
mod parameter_table;
pub(crate) mod past;
mod path_dialog;
mod plots;
mod problems;
mod property;
mod reorder;
mod results;
mod scripts;
mod section_band;
mod status;
mod stepping;
pub(crate) mod timeline;
mod tool_options;
mod tools;
mod vehicle;
mod wait_chain;
mod welcome;
mod widgets;
mod workshop;

pub(crate) use inspector::zones;
pub(crate) use widgets::counted;

use crate::canvas::Canvas;
use crate::command::Command;
use crate::model::{Action, Model, ViewAction};
use crate::panel::PanelId;
use crate::settings::TimelineView;
use egui::{Frame, Panel, Ui, WidgetText};
use egui_tiles::{Behavior, SimplificationOptions, Tile, TileId, Tiles, Tree, UiResponse};
use roadwright_editor_core::for_each_panel;

/// Contents of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pane {
    /// The map of the scenario.
    Map,
    /// The panel with this id.
    Panel(PanelId),
}

impl Pane {
    fn title(self) -> &'static str {
        match self {
            Self::Map => "Map",
            Self::Panel(panel) => panel.title(),
        }
    }
}

/// Docking and state of the panels, and the open dialog.
pub(crate) struct PanelState {
    tree: Tree<Pane>,
    welcome: welcome::Welcome,
    memory: PanelMemory,
    dialog: dialogs::OpenDialog,
}

/// State that panels keep between frames, such as typed text and drafts.
#[derive(Default)]
struct PanelMemory {
    objects_filter: String,
    script: scripts::ScriptPanel,
    results: results::ResultsPanel,
    compare: compare::ComparePanel,
    experiment: experiment::ExperimentPanel,
    green_wave: green_wave::GreenWavePanel,
    moves: moves::MovesPanel,
}

/// References that a panel can use while it is drawn.
struct PanelFrame<'a> {
    model: &'a Model,
    memory: &'a mut PanelMemory,
    actions: &'a mut Vec<Action>,
}

macro_rules! draw_panels {
    ($($name:ident: $id:literal, $title:literal, $dock:ident, $module:ident, $entry:expr;)*) => {
        /// Draws a panel with the function named in its row of the table.
        fn draw(panel: PanelId, ui: &mut Ui, frame: PanelFrame<'_>) {
            match panel {
                $(PanelId::$name => $module::ui(ui, frame),)*
            }
        }
    };
}
for_each_panel!(draw_panels);

impl PanelState {
    /// Creates the panels in their default layout.
    pub(crate) fn new() -> Self {
        Self {
            tree: docking::first_tree(),
            welcome: welcome::Welcome::new(),
            memory: PanelMemory::default(),
            dialog: dialogs::OpenDialog::default(),
        }
    }

    /// Restores the default layout of the panels.
    pub(crate) fn reset(&mut self) {
        self.tree = docking::first_tree();
    }

    /// Brings a panel to the front.
    pub(crate) fn bring_to_front(&mut self, panel: PanelId) {
        let pane = Pane::Panel(panel);
        if panel.is_closable() {
            // The panel may be in no tile yet, or may have been closed.
            opened::open_below_map(&mut self.tree, pane);
        }
        self.tree
            .make_active(|_, tile| matches!(tile, Tile::Pane(own) if *own == pane));
    }

    /// Opens the timeline below the map. If the user has put the map among tabs, the timeline stays behind
    /// the map.
    pub(crate) fn open_timeline(&mut self) {
        opened::open_below_map(&mut self.tree, bottom::TIMELINE);
    }

    /// Shows a script in the script editor.
    pub(crate) fn show_script(&mut self, id: &str) {
        self.memory.script.show(id);
        self.bring_to_front(PanelId::Script);
    }

    /// Whether the key sheet waits for a key. The next key is bound and has no other effect.
    pub(crate) fn waits_for_key(&self, model: &Model) -> bool {
        self.dialog.waiting(model).is_some()
    }

    /// Returns the command whose new key the key sheet waits for, and stops waiting for it.
    pub(crate) fn take_waiting_command(&mut self) -> Option<Command> {
        self.dialog.take_waiting()
    }

    /// Whether the welcome panel has all its pictures.
    pub(crate) fn has_welcome_pictures(&self) -> bool {
        !self.welcome.is_waiting()
    }

    /// Resets all state that belongs to the old document.
    pub(crate) fn forget(&mut self) {
        self.memory.objects_filter.clear();
        self.memory.green_wave = green_wave::GreenWavePanel::default();
    }
}

/// State that tiles can access while they are drawn.
struct Panes<'a> {
    model: &'a Model,
    canvas: &'a mut Canvas,
    actions: &'a mut Vec<Action>,
    memory: &'a mut PanelMemory,
    /// Whether the panels have only their minimum width.
    is_narrow: bool,
}

impl Behavior<Pane> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Pane) -> UiResponse {
        let panel = match pane {
            Pane::Map => {
                self.canvas.ui(ui, self.model, self.actions);
                return UiResponse::None;
            }
            Pane::Panel(panel) => *panel,
        };
        let fill = ui.visuals().panel_fill;
        Frame::NONE.fill(fill).inner_margin(8.0).show(ui, |ui| {
            egui::ScrollArea::vertical()
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    let frame = PanelFrame {
                        model: self.model,
                        memory: self.memory,
                        actions: self.actions,
                    };
                    draw(panel, ui, frame);
                });
        });
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        // The number of problems is visible even while another tab is active.
        let problems = self.model.problem_count();
        if *pane == Pane::Panel(PanelId::Problems) && problems > 0 {
            return format!("Problems ({problems})").into();
        }
        pane.title().into()
    }

    fn tab_title_spacing(&self, _: &egui::Visuals) -> f32 {
        if self.is_narrow { 4.5 } else { 8.0 }
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            // The map needs no tab while it is alone in its tile.
            all_panes_must_have_tabs: false,
            // A panel that is alone in its tile needs a tab, so that it can be closed there.
            prune_single_child_tabs: false,
            ..SimplificationOptions::default()
        }
    }

    fn is_tab_closable(&self, tiles: &Tiles<Pane>, tile: TileId) -> bool {
        // A panel that is closed by default can be reopened by its command.
        let pane = tiles.get(tile);
        matches!(pane, Some(Tile::Pane(Pane::Panel(panel))) if panel.is_closable())
    }

    fn on_tab_close(&mut self, tiles: &mut Tiles<Pane>, tile: TileId) -> bool {
        if tiles.get_pane(&tile) == Some(&bottom::TIMELINE) {
            let view = TimelineView {
                opens: false,
                ..self.model.settings.timeline
            };
            self.actions.push(Action::View(ViewAction::Timeline(view)));
        }
        true
    }

    fn is_tab_bar_visible(&self, _: TileId, _: &egui_tiles::Tabs) -> bool {
        true
    }
}

/// Draws the whole window. A panel can only access the state of the editor, the state of the panel itself and
/// the list of actions. It therefore cannot depend on changes made by another panel in the same frame.
pub(crate) fn ui(
    ui: &mut Ui,
    model: &Model,
    canvas: &mut Canvas,
    panels: &mut PanelState,
    actions: &mut Vec<Action>,
) {
    Panel::top("menu").show(ui, |ui| menu::ui(ui, model, actions));
    Panel::top("tool options").show(ui, |ui| tool_options::ui(ui, model, actions));
    // Temporary bars are shown above the map, each in a separate panel for which the rest of the window makes
    // room.
    if model.changed_on_disk {
        Panel::top("changed").show(ui, |ui| dialogs::changed_on_disk(ui, model, actions));
    }
    // The timeline has the same buttons, and a bar that appears above the map would move it under a drag.
    if past::is_shown(model) && !bottom::is_shown(&panels.tree) {
        Panel::top("past").show(ui, |ui| past::bar(ui, model, actions));
    }
    if model.experiment.shown.is_some() {
        Panel::top("individual").show(ui, |ui| experiment::bar(ui, model, actions));
    }
    if model.workshop.track.is_some() {
        Panel::top("track").show(ui, |ui| workshop::track_bar(ui, model, actions));
    }
    // Added before the centre, because in egui a panel gets the room that earlier ones have left.
    Panel::bottom("status").show(ui, |ui| status::ui(ui, model, actions));
    if model.driving.is_some() {
        Panel::bottom("driving").show(ui, |ui| driving::ui(ui, model, actions));
    }
    Panel::left("tools")
        .resizable(false)
        .exact_size(80.0)
        .show(ui, |ui| tools::ui(ui, model, actions));
    egui::CentralPanel::no_frame().show(ui, |ui| {
        let widened = docking::widen_side(&mut panels.tree, ui.available_width());
        let timeline = model.settings.timeline;
        let row = bottom::give_height(&mut panels.tree, timeline.height);
        let mut panes = Panes {
            is_narrow: widened.is_some(),
            model,
            canvas,
            actions,
            memory: &mut panels.memory,
        };
        panels.tree.ui(&mut panes, ui);
        if let Some(height) = row.and_then(|row| row.dragged(&panels.tree)) {
            let view = TimelineView { height, ..timeline };
            actions.push(Action::View(ViewAction::Timeline(view)));
        }
        if let Some(widened) = widened {
            // Done after the tiles are drawn, so that the shares set by the user are kept between
            // frames.
            widened.restore(&mut panels.tree);
        }
    });
    // Drawn last, so that it covers everything else.
    panels.dialog.ui(ui, model, &mut panels.welcome, actions);
}
