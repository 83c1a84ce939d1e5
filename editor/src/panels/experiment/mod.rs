//! Experiments: setup, progress, individuals, and use of the result in the scenario.

mod changes;
mod comparison;
mod genes;
mod individuals;
mod race;
mod setup;
mod spending;
mod training;
mod verdict;

use super::PanelFrame;
use super::widgets::{choice, empty, heading};
use crate::command::Command;
use crate::experiment::{ExperimentAction, ExperimentFile, Fault};
use crate::model::{Action, Model};
use crate::tools::Tone;
use egui::{Align, Button, Layout, RichText, Ui, vec2};
use roadwright_training::genetic::CourseEnd;
use roadwright_training::{Course, End};

/// Pages of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum View {
    /// Setup of the training.
    #[default]
    Setup,
    /// Progress of the training.
    Training,
    /// Individuals of the pool and of the last generation.
    Individuals,
    /// Changes made by training.
    Changes,
    /// Comparison of results of `bench run`.
    Compare,
    /// The user's race on a course.
    Race,
}

/// State of the panel.
#[derive(Default)]
pub(super) struct ExperimentPanel {
    view: View,
    /// Seed of the course on which individuals are shown; `None` for the first course of the last generation.
    course: Option<u64>,
    /// The stack into which the champion is written; `None` for a new one.
    target: Option<String>,
    /// Indices of the compared results.
    pair: (usize, usize),
    /// Filter for the names of genes.
    filter: String,
    race: race::RaceChoice,
}

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame {
        model,
        memory,
        actions,
    } = frame;
    let state = &mut memory.experiment;
    let experiment = &model.experiment;
    ui.horizontal_wrapped(|ui| {
        for (view, name) in [
            (View::Setup, "Set up"),
            (View::Training, "Training"),
            (View::Individuals, "Individuals"),
            (View::Changes, "Changes"),
            (View::Compare, "Compare"),
            (View::Race, "Race"),
        ] {
            ui.selectable_value(&mut state.view, view, name);
        }
    });
    ui.separator();
    match (state.view, &experiment.draft, &experiment.training) {
        (View::Setup, Some(draft), _) => setup::ui(ui, model, draft, state, actions),
        (View::Setup, None, _) => begin(ui, actions),
        // Handled before the pages that need a training run, because results can be compared without one.
        (View::Compare, _, _) => comparison::ui(ui, model, state, actions),
        (View::Race, _, _) => race::ui(ui, model, &mut state.race, actions),
        (_, _, None) => empty(ui, "Press Train in Set up to start."),
        (View::Training, _, Some(training)) => {
            beside(ui, |ui, part| match part {
                Part::First => training::ui(ui, model, training, actions),
                Part::Second => verdict::ui(ui, model, training, state, actions),
            });
        }
        (View::Individuals, _, Some(training)) => {
            individuals::ui(ui, model, training, state, actions);
        }
        (View::Changes, _, Some(training)) => changes::ui(ui, model, training),
    }
}

/// Shows the page that is visible before an experiment is opened.
fn begin(ui: &mut Ui, actions: &mut Vec<Action>) {
    heading(ui, "Train a driver");
    ui.label(
        "An experiment breeds parameters of a stack: many individuals drive the same courses, and each \
         generation is bred from the best of the last.",
    );
    ui.add_space(6.0);
    let ask = |action| Action::Experiment(action);
    if ui.button("Open experiment…").clicked() {
        actions.push(ask(ExperimentAction::File(ExperimentFile::Open)));
    }
    if ui.button("New experiment for this scenario").clicked() {
        actions.push(ask(ExperimentAction::New(None)));
    }
    let mut courses = vec![(None, "choose one".to_owned())];
    let all = Course::all().into_iter();
    courses.extend(all.map(|course| (Some(course.name.clone()), course.name)));
    ui.horizontal(|ui| {
        ui.label("New experiment on course");
        if let Some(course) = choice(ui, "New experiment on course", &None, &courses) {
            actions.push(ask(ExperimentAction::New(course)));
        }
    });
}

/// Minimum width of a panel with two columns, points.
const WIDE: f32 = 620.0;

/// Gap between the columns, points.
const GAP: f32 = 18.0;

/// One of the two parts of a panel that are shown side by side or one below the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    First,
    Second,
}

/// Shows two parts side by side if there is room, otherwise one below the other.
fn beside(ui: &mut Ui, mut show: impl FnMut(&mut Ui, Part)) {
    if ui.available_width() < WIDE {
        show(ui, Part::First);
        show(ui, Part::Second);
        return;
    }
    // `Ui::columns` would stretch the words of long lines apart.
    let width = 0.5 * (ui.available_width() - GAP);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        for part in [Part::First, Part::Second] {
            let layout = Layout::top_down(Align::Min);
            ui.allocate_ui_with_layout(vec2(width, 0.0), layout, |ui| {
                // The wide gap applies only between the two columns, not inside them.
                *ui.spacing_mut() = ui.ctx().global_style().spacing.clone();
                ui.set_width(width);
                show(ui, part);
            });
        }
    });
}

/// Shows the experiment's error if it concerns one of the given keys. Without keys, shows any error.
fn fault(ui: &mut Ui, model: &Model, keys: &[&str]) {
    let checked = model.experiment.checked.as_ref();
    let fault = checked.and_then(|checked| checked.fault.as_ref());
    let own = |fault: &&Fault| keys.is_empty() || keys.contains(&fault.key);
    if let Some(fault) = fault.filter(own) {
        let color = model.theme().tone(Tone::Danger);
        ui.label(RichText::new(&fault.message).color(color));
    }
}

/// Shows a button. If the button is disabled, its hint says why.
fn button(ui: &mut Ui, name: &str, is_on: bool, why_not: &str) -> bool {
    let button = ui.add_enabled(is_on, Button::new(name));
    button.on_disabled_hover_text(why_not).clicked()
}

/// Describes when and how a course ends.
fn in_words(end: &CourseEnd, dt: f64) -> String {
    let time = end.steps as f64 * dt;
    let how = |(how, count): (&End, &usize)| {
        let how = match how {
            End::Time => "time limit".to_owned(),
            how => how.name().replace('_', " "),
        };
        let is_one = end.ends.len() == 1 && *count == 1;
        if is_one {
            how
        } else {
            format!("{how} ({count} vehicles)")
        }
    };
    let how: Vec<String> = end.ends.iter().map(how).collect();
    format!("Run ends at {time:.1} s: {}.", how.join(", "))
}

/// Shows the bar over the map while the world of an individual is on the map.
pub(super) fn bar(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some(shown) = &model.experiment.shown else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        let color = model.theme().tone(Tone::Accent);
        let text = match &model.race {
            Some(race) => race.in_words(),
            None => format!("Viewing {} on course {}.", shown.name, shown.course),
        };
        ui.colored_label(color, text);
        if model.experiment.paths.is_some() {
            let color = model.theme().tone(Tone::Danger);
            ui.colored_label(color, "Red: not completed.");
        }
        // An edited world behaves differently, so its end is not known.
        if let Some(end) = shown.end.as_ref().filter(|_| !model.document.is_dirty()) {
            let dt = model.document.scenario().settings().dt;
            ui.label(in_words(end, dt.get()));
        }
        if model.race.is_some() {
            let key = model.settings.keys.label(Command::RaceAgain);
            if ui.button(format!("Restart ({key})")).clicked() {
                actions.push(Action::Do(Command::RaceAgain));
            }
        }
        ui.label(format!("{} is paused.", shown.origin));
        if ui.button("Back to the scenario").clicked() {
            actions.push(Action::Experiment(ExperimentAction::Back));
        }
    });
}
