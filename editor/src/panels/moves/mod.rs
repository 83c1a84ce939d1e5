//! The Moves panel: clips of driving, the library built from them, and its use by the watched
//! vehicle.
//!
//! ```text
//!   Record clip (E)  25 frames a second     |  Build  threshold kc ks   Library: built from these clips
//!   clip 1   75 frames, 0 to 12 m/s   x     |  +--------+   o Stop -- o sm1 -- ... -- o Fast
//!   [ |____/---\___|  ]  mirrored           |  | matrix |   states and moves
//!   clip 2   ...                            |  +--------+   Use   played
//! ```
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | the panel, and the watched vehicle |
//! | `clips.rs` | the list of clips, with handles that trim them |
//! | `matrix.rs` | the distance matrix with its transitions |
//! | `graph.rs` | states and moves |
//! | `drawn.rs` | a hand-drawn graph |

mod clips;
mod drawn;
mod graph;
mod matrix;

use super::PanelFrame;
use super::widgets::{choice, counted, heading, named, primary_if};
use crate::command::Command;
use crate::model::{Action, Model, Purpose, Tone as MessageTone};
use crate::moves::{
    BuiltLibrary, DrawnGraph, Execution, GraphEdit, LibraryFigure, MoveView, MovesAction, RATES,
    ShownLibrary, UsedLibrary, words_of,
};
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{CollapsingHeader, DragValue, Grid, RichText, Role, Sense, Ui, WidgetInfo};
use roadwright_moves::{BuildRules, SHIPPED};
use roadwright_simulation::{MoveInspection, WatchedTree, agent_name};
use std::sync::Arc;

/// Minimum width of the panel for showing clips and library side by side, points.
const SIDE_BY_SIDE: f32 = 640.0;
/// Maximum number of omitted moves that are listed.
const MOST_LISTED: usize = 200;

/// State of the panel.
#[derive(Default)]
pub(super) struct MovesPanel {
    clips: clips::ClipList,
    matrix: matrix::MatrixPicture,
    drawn: drawn::DrawnPanel,
    figure: Option<KnownFigure>,
}

/// The diagram of a library and its inputs.
struct KnownFigure {
    shown: ShownLibrary,
    built: Option<Arc<BuiltLibrary>>,
    figure: Option<LibraryFigure>,
}

impl MovesPanel {
    /// Returns the diagram of the shown library; `None` if there is none.
    fn figure(&mut self, model: &Model) -> Option<&LibraryFigure> {
        let bench = &model.moves;
        let is_same = |known: &KnownFigure| {
            let built = known.built.as_ref().map(Arc::as_ptr);
            known.shown == bench.shown && built == bench.built.as_ref().map(Arc::as_ptr)
        };
        if !self.figure.as_ref().is_some_and(is_same) {
            let loaded = bench.library().and_then(|library| library.load().ok());
            self.figure = Some(KnownFigure {
                shown: bench.shown,
                built: bench.built.clone(),
                figure: loaded.map(|loaded| LibraryFigure::of(&loaded.library)),
            });
        }
        self.figure.as_ref()?.figure.as_ref()
    }
}

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame {
        model,
        memory,
        actions,
    } = frame;
    let state = &mut memory.moves;
    watched(ui, model, actions);
    if ui.available_width() < SIDE_BY_SIDE {
        recording(ui, model, actions);
        state.clips.ui(ui, model, actions);
        library(ui, model, state, actions);
        return;
    }
    ui.columns(2, |columns| {
        recording(&mut columns[0], model, actions);
        state.clips.ui(&mut columns[0], model, actions);
        library(&mut columns[1], model, state, actions);
    });
}

fn send(actions: &mut Vec<Action>, action: MovesAction) {
    actions.push(Action::Moves(action));
}

/// Shows the button that starts and ends a clip, and the frame rate of clips.
fn recording(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    heading(ui, "Clips");
    let clip = model.live.as_ref().and_then(|live| live.clip);
    let key = model.settings.keys.label(Command::RecordClip);
    ui.horizontal_wrapped(|ui| {
        let text = match clip {
            Some(_) => format!("End clip ({key})"),
            None => format!("Record clip ({key})"),
        };
        let can_record = clip.is_some() || model.driving.is_some() || model.watched.is_some();
        let button = primary_if(ui, can_record, &text);
        let button = button.on_disabled_hover_text("Watch or drive a vehicle first.");
        if button.on_hover_text(Command::RecordClip.hint()).clicked() {
            actions.push(Action::Do(Command::RecordClip));
        }
        if let Some(clip) = clip {
            let seconds = clip.frames.saturating_sub(1) as f64 / clip.rate_hz;
            let color = model.theme().tone(Tone::Danger);
            let text = format!("Recording {}: {seconds:.1} s", agent_name(clip.agent));
            ui.colored_label(color, text);
            return;
        }
        let rates = RATES.map(|rate| (rate, format!("{rate:.0} frames a second")));
        if let Some(rate) = choice(ui, "Frame rate", &model.moves.rate_hz, &rates) {
            send(actions, MovesAction::Rate(rate));
        }
        if ui.button("Open clips…").clicked() {
            actions.push(Action::AskPath(Purpose::OpenClips));
        }
    });
}

/// Shows the state of the watched vehicle's move tree.
fn watched(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let live = model.live.as_ref();
    let Some(seen) = live.and_then(|live| live.moves.as_ref()) else {
        return;
    };
    let mut view = model.moves.view;
    ui.label(format!("{} {}", agent_name(seen.agent), doing(seen)));
    if let Some(problem) = &seen.problem {
        ui.colored_label(model.theme().tone(Tone::Warning), format!("{problem}."));
    }
    ui.horizontal(|ui| {
        ui.checkbox(&mut view.route, "Route");
        ui.checkbox(&mut view.tree, "Route tree");
    });
    if let Some(tree) = seen.tree.as_ref().filter(|_| view.tree) {
        ui.horizontal(|ui| branches(ui, tree, &mut view));
    }
    if view != model.moves.view {
        send(actions, MovesAction::View(view));
    }
    ui.separator();
}

/// Shows the slider for the number of drawn branches.
fn branches(ui: &mut Ui, tree: &WatchedTree, view: &mut MoveView) {
    let all = tree.branches.len();
    let mut shown = view.branches.unwrap_or(all).min(all);
    let slider = egui::Slider::new(&mut shown, 0..=all).show_value(false);
    let response = ui.add(slider);
    response.widget_info(move || WidgetInfo::slider(true, shown as f64, "Branches shown"));
    let hint = "Number of branches drawn, in the order in which the search tests them.";
    if response.on_hover_text(hint).changed() {
        view.branches = (shown < all).then_some(shown);
    }
    ui.label(format!(
        "{shown} of {} branches, {} tested",
        tree.nodes, tree.tested
    ));
}

/// Describes the current move of a vehicle.
fn doing(seen: &MoveInspection) -> String {
    match &seen.current {
        Some(current) => format!(
            "drives {} of {}, frame {} of {}, to {}; {} planned; {:.2} m and {:.1}° from the clip.",
            current.name,
            current.library,
            current.frame,
            current.length,
            current.to,
            counted(current.ahead, "more move"),
            current.distance,
            current.heading.to_degrees().abs()
        ),
        None => "drives no move.".to_owned(),
    }
}

/// Shows the settings for building a library, and the library itself.
fn library(ui: &mut Ui, model: &Model, state: &mut MovesPanel, actions: &mut Vec<Action>) {
    heading(ui, "Library");
    rules(ui, model, actions);
    let bench = &model.moves;
    ui.horizontal_wrapped(|ui| {
        let can_build = !bench.clips.is_empty() && !bench.is_building;
        let button = primary_if(ui, can_build, "Build");
        let hint = match bench.shown {
            ShownLibrary::Drawn => "Build a library from the hand-drawn graph.",
            _ => "Find similar frames, cut the clips there, and join the pieces into moves.",
        };
        if button.on_hover_text(hint).clicked() {
            send(actions, MovesAction::Build);
        }
        if bench.is_building {
            ui.spinner();
        }
        shown_library(ui, model, actions);
        let has_built = bench.built.is_some();
        if ui
            .add_enabled(has_built, egui::Button::new("Save moves…"))
            .clicked()
        {
            actions.push(Action::AskPath(Purpose::SaveMoves));
        }
    });
    using(ui, model, actions);
    if let Some(built) = bench.shown_built() {
        ui.label(built.summary());
        if bench.is_stale() {
            let text = "Clips or rules have changed since the last build. Build again.";
            ui.colored_label(model.theme().tone(Tone::Warning), text);
        }
        if let Err(why) = &built.loaded {
            let text = format!("The library cannot be used: {why}.");
            ui.colored_label(model.theme().tone(Tone::Danger), text);
        }
        touching(ui, model.theme(), built);
        if !built.is_drawn {
            state.matrix.ui(ui, model.theme(), built);
            left_out(ui, built);
            draw_by_hand(ui, built, actions);
        }
    }
    if bench.shown == ShownLibrary::Drawn {
        state.drawn.ui(ui, model, actions);
        return;
    }
    let theme = model.theme();
    match state.figure(model) {
        Some(figure) => drop(graph::ui(ui, theme, figure, Sense::hover())),
        None => {
            ui.label(
                RichText::new("Record clips and build a library, or choose a shipped one.").weak(),
            );
        }
    }
}

/// Shows the rules for building a library.
fn rules(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let before = model.moves.rules;
    let mut rules = before;
    ui.horizontal_wrapped(|ui| {
        let number = |ui: &mut Ui, name: &str, value: &mut f64, step: f64, most: f64, hint: &str| {
            ui.label(name).on_hover_text(hint);
            let decimals = if step < 1.0 { 2 } else { 0 };
            let drag = DragValue::new(value)
                .range(0.0..=most)
                .speed(0.2 * step)
                .max_decimals(decimals);
            let response = ui.add(drag).on_hover_text(hint);
            named(&response, name);
        };
        number(
            ui,
            "Threshold",
            &mut rules.threshold,
            0.05,
            100.0,
            "Two frames are similar if their differences in speed (m/s), lateral speed (m/s) and yaw rate (rad/s) add \
             up to less than this value.",
        );
        let (mut kc, mut ks) = (f64::from(rules.kc), f64::from(rules.ks));
        number(
            ui,
            "kc",
            &mut kc,
            1.0,
            1000.0,
            "Frames of a clip that are skipped after a frame with a transition.",
        );
        number(
            ui,
            "ks",
            &mut ks,
            1.0,
            1000.0,
            "Frames of the other clip that are skipped after a similar frame.",
        );
        (rules.kc, rules.ks) = (kc.round() as u32, ks.round() as u32);
        number(
            ui,
            "Prune",
            &mut rules.prune_distance,
            0.05,
            100.0,
            "A move is left out if it stays this close to another move between the same states, m; \
             0 keeps all.",
        );
        if rules != BuildRules::default() && ui.small_button("Default rules").clicked() {
            rules = BuildRules::default();
        }
    });
    if rules != before {
        send(actions, MovesAction::Rules(rules));
    }
    Grid::new("name of library").num_columns(2).show(ui, |ui| {
        ui.label("Name");
        let mut name = model.moves.name.clone();
        let field = ui.add(egui::TextEdit::singleline(&mut name).desired_width(160.0));
        field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Name of the library"));
        if field.changed() {
            send(actions, MovesAction::Name(name));
        }
    });
}

/// Shows the choice of the library.
fn shown_library(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let built = (ShownLibrary::Built, "built from these clips".to_owned());
    let drawn = (ShownLibrary::Drawn, "drawn by hand".to_owned());
    let shipped = SHIPPED.iter().map(|one| {
        (
            ShownLibrary::Shipped(one.name),
            format!("{} (ships)", one.name),
        )
    });
    let all: Vec<_> = [built, drawn].into_iter().chain(shipped).collect();
    if let Some(shown) = choice(ui, "Library", &model.moves.shown, &all) {
        send(actions, MovesAction::Show(shown));
    }
}

/// Shows the button that assigns the library to the selected agents.
fn using(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let agents = model.selected_agents().len();
    let library = model.moves.library();
    ui.horizontal_wrapped(|ui| {
        let can_use = agents > 0
            && match &library {
                Some(UsedLibrary::Own(built)) => built.loaded.is_ok(),
                Some(UsedLibrary::Shipped(_)) => true,
                None => false,
            };
        let button = primary_if(ui, can_use, "Use");
        let button = button.on_disabled_hover_text(
            "Build or choose a library, and select the vehicles that should use it.",
        );
        let hint = "Use the library in the stacks of the selected vehicles.";
        if button.on_hover_text(hint).clicked() {
            send(actions, MovesAction::Use);
        }
        let all = Execution::ALL.map(|execution| (execution, execution.word().to_owned()));
        if let Some(execution) = choice(ui, "Execution", &model.moves.execution, &all) {
            send(actions, MovesAction::Execution(execution));
        }
        ui.label(format!("{} selected", counted(agents, "vehicle")));
    });
}

/// Names the clips that touch something on the map.
fn touching(ui: &mut Ui, theme: Theme, built: &BuiltLibrary) {
    for one in &built.touching {
        let text = format!(
            "{} touches {} after {:.1} s. Trim the clip so that it ends before that.",
            one.clip, one.object, one.seconds
        );
        ui.colored_label(theme.tone(Tone::Warning), text);
    }
}

/// Shows the button that copies the built library into the hand-drawn graph.
fn draw_by_hand(ui: &mut Ui, built: &BuiltLibrary, actions: &mut Vec<Action>) {
    let button = ui.button("Edit by hand");
    let hint = "Copy these states and moves to the hand-drawn graph.";
    if button.on_hover_text(hint).clicked() {
        match DrawnGraph::of_built(built) {
            Ok(graph) => {
                send(actions, MovesAction::Draw(GraphEdit::Replace(graph)));
                send(actions, MovesAction::Show(ShownLibrary::Drawn));
            }
            Err(why) => actions.push(Action::Say(MessageTone::Refused, why.to_string())),
        }
    }
}

/// Lists the omitted moves, with the reason for each.
fn left_out(ui: &mut Ui, built: &BuiltLibrary) {
    let removed = &built.built.removed;
    if removed.is_empty() {
        return;
    }
    CollapsingHeader::new(format!("Left out: {}", counted(removed.len(), "move")))
        .id_salt("left out")
        .show(ui, |ui| {
            for one in removed.iter().take(MOST_LISTED) {
                let entry = &one.entry;
                ui.label(format!(
                    "{} {}-{}: {}",
                    entry.clip,
                    entry.first,
                    entry.last,
                    words_of(&one.reason)
                ));
            }
            if removed.len() > MOST_LISTED {
                ui.label(format!("and {} more", removed.len() - MOST_LISTED));
            }
        });
}
