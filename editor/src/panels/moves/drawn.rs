//! A hand-drawn graph: states as in figure 4.4 of [Adam 2007], and clips that lead from state to
//! state.

use super::graph::{self, DrawnFigure};
use super::send;
use crate::command::Command;
use crate::model::{Action, Model};
use crate::moves::{
    DrawnGraph, DrawnMove, GraphEdit, LibraryFigure, MovesAction, Problems, SeamLimit,
};
use crate::panels::widgets::choice;
use crate::tools::Tone;
use egui::{Align2, CollapsingHeader, FontId, Role, Sense, Stroke, Ui, WidgetInfo};

/// State of the editor of a graph.
#[derive(Default)]
pub(super) struct DrawnPanel {
    /// Clip and states of the next move to be added.
    clip: String,
    from: usize,
    to: usize,
    /// The state at which the drag of a new move started.
    dragged: Option<usize>,
    known: Option<Known>,
}

/// Data derived from a revision of the bench.
struct Known {
    revision: u64,
    /// Names of the clips and of their mirror images.
    clips: Vec<String>,
    figure: LibraryFigure,
    problems: Problems,
}

impl DrawnPanel {
    pub(super) fn ui(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        let graph = model.moves.drawn.graph();
        self.derive(model);
        buttons(ui, model, actions);
        self.picture(ui, model, actions);
        self.new_move(ui, graph, actions);
        seams(ui, model, actions);
        if let Some(known) = &self.known {
            problems(ui, model, &known.problems);
        }
        lists(ui, graph, actions);
    }

    /// Updates the derived data if the clips or the graph have changed.
    fn derive(&mut self, model: &Model) {
        let bench = &model.moves;
        let is_known = |known: &Known| known.revision == bench.revision;
        if self.known.as_ref().is_some_and(is_known) {
            return;
        }
        let graph = bench.drawn.graph();
        let threshold = bench.rules.threshold;
        let (clips, figure, problems) = match bench.trimmed() {
            Ok(clips) => (
                (clips.file.clips.iter())
                    .map(|clip| clip.name.clone())
                    .collect(),
                graph.figure(&clips),
                graph.problems(&clips, threshold),
            ),
            Err(why) => (
                Vec::new(),
                LibraryFigure::of_moves(&graph.states, &[]),
                Problems {
                    listed: vec![format!("{why}.")],
                    more: 0,
                },
            ),
        };
        self.known = Some(Known {
            revision: bench.revision,
            clips,
            figure,
            problems,
        });
        let last = graph.states.len().saturating_sub(1);
        (self.from, self.to) = (self.from.min(last), self.to.min(last));
    }

    /// Returns the edit that adds a move with the chosen clip between two states.
    fn chosen(&self, from: usize, to: usize) -> GraphEdit {
        GraphEdit::AddMove(DrawnMove {
            clip: self.clip.clone(),
            stretch: None,
            from,
            to,
        })
    }

    /// Draws the graph. A drag from one state to another adds a move, and a double-click adds a
    /// state.
    fn picture(&mut self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
        let theme = model.theme();
        let Some(known) = &self.known else { return };
        let drawn = graph::ui(ui, theme, &known.figure, Sense::click_and_drag());
        let DrawnFigure {
            response, painter, ..
        } = &drawn;
        if response.contains_pointer() {
            take_undo(actions);
        }
        let start = model.moves.drawn.graph().start;
        if let Some(place) = drawn.places.get(start) {
            painter.circle_stroke(*place, 13.0, Stroke::new(2.0, theme.tone(Tone::Accent)));
        }
        if drawn.places.is_empty() {
            painter.text(
                response.rect.center(),
                Align2::CENTER_CENTER,
                "Double-click to add a state.",
                FontId::proportional(13.0),
                theme.quiet(),
            );
        }
        let pointer = response.interact_pointer_pos();
        if response.drag_started() {
            let origin = ui.input(|input| input.pointer.press_origin());
            self.dragged = origin.and_then(|origin| drawn.state_at(origin));
        }
        if let (Some(from), Some(pointer)) = (self.dragged, pointer)
            && let Some(place) = drawn.places.get(from)
        {
            let line = Stroke::new(2.0, theme.tone(Tone::Accent));
            painter.line_segment([*place, pointer], line);
            if let Some(to) = drawn.state_at(pointer) {
                painter.circle_stroke(drawn.places[to], 13.0, line);
            }
        }
        if response.drag_stopped()
            && let Some(from) = self.dragged.take()
            && let Some(to) = pointer.and_then(|pointer| drawn.state_at(pointer))
            && !self.clip.is_empty()
        {
            send(actions, MovesAction::Draw(self.chosen(from, to)));
        }
        let is_on_state = pointer.is_some_and(|pointer| drawn.state_at(pointer).is_some());
        if response.double_clicked() && !is_on_state {
            send(actions, MovesAction::Draw(GraphEdit::AddState));
        }
    }

    /// Shows the choice of a clip and states for a new move.
    fn new_move(&mut self, ui: &mut Ui, graph: &DrawnGraph, actions: &mut Vec<Action>) {
        let Some(known) = &self.known else { return };
        if !known.clips.contains(&self.clip) {
            self.clip = known.clips.first().cloned().unwrap_or_default();
        }
        let clips: Vec<_> = (known.clips.iter())
            .map(|clip| (clip.clone(), clip.clone()))
            .collect();
        let states: Vec<_> = graph.states.iter().cloned().enumerate().collect();
        ui.horizontal_wrapped(|ui| {
            if let Some(clip) = choice(ui, "Clip of the move", &self.clip, &clips) {
                self.clip = clip;
            }
            ui.label("leads from");
            if let Some(from) = choice(ui, "State before", &self.from, &states) {
                self.from = from;
            }
            ui.label("to");
            if let Some(to) = choice(ui, "State after", &self.to, &states) {
                self.to = to;
            }
            let can_add = !clips.is_empty() && !states.is_empty();
            let button = ui.add_enabled(can_add, egui::Button::new("Add move"));
            let hint = "Add a move with this clip from one state to the other. In the picture, \
                        drag from state to state.";
            if button.on_hover_text(hint).clicked() {
                send(actions, MovesAction::Draw(self.chosen(self.from, self.to)));
            }
        });
    }
}

/// Shows the buttons that add states and undo steps.
fn buttons(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let drawn = &model.moves.drawn;
    ui.horizontal_wrapped(|ui| {
        if ui.button("Add state").clicked() {
            send(actions, MovesAction::Draw(GraphEdit::AddState));
        }
        let undo = ui.add_enabled(drawn.can_undo(), egui::Button::new("Undo step"));
        let hint = "Undo the last drawing step. The undo key does the same while the pointer is on \
                    the picture.";
        if undo.on_hover_text(hint).clicked() {
            send(actions, MovesAction::UndoDrawing);
        }
        let redo = ui.add_enabled(drawn.can_redo(), egui::Button::new("Redo step"));
        if redo.clicked() {
            send(actions, MovesAction::RedoDrawing);
        }
    });
}

/// Redirects the undo and redo of this frame from the scenario to the graph.
fn take_undo(actions: &mut [Action]) {
    for action in actions {
        let own = match action {
            Action::Do(Command::Undo) => MovesAction::UndoDrawing,
            Action::Do(Command::Redo | Command::RedoToo) => MovesAction::RedoDrawing,
            _ => continue,
        };
        *action = Action::Moves(own);
    }
}

/// Shows the limit on the motion jump between consecutive moves, if it differs from the threshold
/// of the rules.
fn seams(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let text = match model.moves.drawn.graph().seams {
        SeamLimit::OfRules => return,
        SeamLimit::AtMost(threshold) if threshold == model.moves.rules.threshold => return,
        SeamLimit::AtMost(threshold) => {
            format!("The threshold of this graph is {threshold}, as in its file.")
        }
        SeamLimit::MayJump => "Speeds may jump in this graph, as in its file.".to_owned(),
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(text);
        let button = ui.small_button("Use the threshold of the rules");
        if button.clicked() {
            let edit = GraphEdit::LimitSeams(SeamLimit::OfRules);
            send(actions, MovesAction::Draw(edit));
        }
    });
}

/// Lists the problems of the graph.
fn problems(ui: &mut Ui, model: &Model, problems: &Problems) {
    let color = model.theme().tone(Tone::Warning);
    for problem in &problems.listed {
        ui.colored_label(color, problem);
    }
    if problems.more > 0 {
        ui.colored_label(color, format!("and {} more", problems.more));
    }
}

/// Lists states, which can be renamed and removed, and moves, which can be removed. A graph has at
/// most `MOST_DRAWN` of each.
fn lists(ui: &mut Ui, graph: &DrawnGraph, actions: &mut Vec<Action>) {
    let mut draw = |edit| send(actions, MovesAction::Draw(edit));
    for (state, known) in graph.states.iter().enumerate() {
        ui.push_id(("state", state), |ui| {
            ui.horizontal_wrapped(|ui| {
                let mut name = known.clone();
                let field = ui.add(egui::TextEdit::singleline(&mut name).desired_width(110.0));
                let label = format!("Name of state {}", state + 1);
                field.widget_info(move || WidgetInfo::labeled(Role::TextInput, true, &label));
                if field.changed() {
                    draw(GraphEdit::RenameState(state, name));
                }
                let radio = ui.radio(graph.start == state, "begin here");
                let label = format!("Begin in {known}");
                let is_start = graph.start == state;
                radio.widget_info(move || {
                    WidgetInfo::selected(Role::RadioButton, true, is_start, &label)
                });
                if radio.clicked() {
                    draw(GraphEdit::StartAt(state));
                }
                if ui.small_button(format!("Remove {known}")).clicked() {
                    draw(GraphEdit::RemoveState(state));
                }
            });
        });
    }
    if graph.moves.is_empty() {
        return;
    }
    CollapsingHeader::new(format!("Moves: {}", graph.moves.len()))
        .id_salt("drawn moves")
        .default_open(true)
        .show(ui, |ui| {
            for (number, one) in graph.moves.iter().enumerate() {
                ui.horizontal_wrapped(|ui| {
                    let name = |state: usize| graph.states.get(state).map_or("?", String::as_str);
                    ui.label(format!(
                        "{}: {} to {}",
                        one.words(),
                        name(one.from),
                        name(one.to)
                    ));
                    let button = ui.small_button("Remove");
                    let label = format!("Remove move {}", number + 1);
                    button.widget_info(move || WidgetInfo::labeled(Role::Button, true, &label));
                    if button.clicked() {
                        draw(GraphEdit::RemoveMove(number));
                    }
                });
            }
        });
}
