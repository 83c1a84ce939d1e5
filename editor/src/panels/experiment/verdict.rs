//! The champion's results on test courses, and the controls that write the champion's values into
//! the scenario.

use super::super::widgets::{choice, heading};
use super::ExperimentPanel;
use crate::experiment::{ExperimentAction, TrainingPicture};
use crate::model::{Action, Model};
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{Color32, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use roadwright_training::experiment::{Estimate, Summary};
use roadwright_training::genetic::put_preset;

/// Height of a row of intervals, points.
const ROW: f32 = 20.0;
/// Half the height of the ends of an interval, points.
const END: f32 = 5.0;

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    training: &TrainingPicture,
    state: &mut ExperimentPanel,
    actions: &mut Vec<Action>,
) {
    let Some(verdict) = &training.verdict else {
        return;
    };
    let theme = model.theme();
    heading(ui, "Champion on the test courses");
    let (after, before) = (&verdict.held_out, &verdict.start);
    let rows = [
        ("champion", &after.fitness, theme.plot(0)),
        ("before", &before.fitness, theme.plot(1)),
    ];
    intervals(ui, theme, &rows);
    ui.label(format!("Champion: {}", in_words(after)));
    ui.label(format!("Before: {}", in_words(before)));
    if let Some(manners) = &verdict.manners {
        ui.label(format!("Driving: {manners}"));
    }
    let difference = format!("Paired difference: {}", spread(&verdict.difference));
    ui.label(difference);
    let better = if after.lower_is_better {
        "Lower"
    } else {
        "Higher"
    };
    ui.label(format!(
        "{better} is better. {:.0} % confidence intervals.",
        100.0 * verdict.difference.level
    ));
    ui.label(format!("Pool {}", training.pool_hash));
    apply(ui, model, training, state, actions);
}

fn in_words(summary: &Summary) -> String {
    let failed = match summary.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    format!(
        "{}; {} of {} drives completed, {} runs{failed}",
        spread(&summary.fitness),
        summary.completed,
        summary.drives,
        summary.runs
    )
}

/// Formats a mean with its interval; a single value has no interval.
fn spread(estimate: &Estimate) -> String {
    match estimate.interval {
        None => format!("{:.4} (one run: no interval)", estimate.mean),
        Some([low, high]) => format!("{:.4} ({low:.4} to {high:.4})", estimate.mean),
    }
}

/// Draws means with their error bars, one below the other.
fn intervals(ui: &mut Ui, theme: Theme, rows: &[(&str, &Estimate, Color32)]) {
    // A single run has no interval, so its bar is a point.
    let ends = |estimate: &Estimate| estimate.interval.unwrap_or([estimate.mean; 2]);
    let all = rows.iter().flat_map(|(_, estimate, _)| ends(estimate));
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let span = if high > low { high - low } else { 1.0 };
    let names = 70.0;
    let width = ui.available_width();
    for (name, estimate, color) in rows {
        let (response, painter) = ui.allocate_painter(vec2(width, ROW), Sense::hover());
        let said = format!("{name}: {}", spread(estimate));
        response.widget_info(move || WidgetInfo::labeled(Role::Label, true, &said));
        let rect = response.rect;
        let at = |value: f64| {
            let share = 0.06 + 0.88 * ((value - low) / span) as f32;
            rect.left() + names + share * (rect.width() - names)
        };
        let middle = rect.center().y;
        painter.text(
            pos2(rect.left(), middle),
            egui::Align2::LEFT_CENTER,
            name,
            egui::FontId::proportional(12.5),
            ui.visuals().text_color(),
        );
        let [first, last] = ends(estimate);
        let stroke = Stroke::new(2.0, *color);
        painter.hline(at(first)..=at(last), middle, stroke);
        for end in [first, last] {
            painter.vline(at(end), middle - END..=middle + END, stroke);
        }
        painter.circle(
            pos2(at(estimate.mean), middle),
            4.0,
            *color,
            Stroke::new(1.0, theme.handle()),
        );
    }
}

/// Shows the controls that write the champion into a stack of the scenario.
fn apply(
    ui: &mut Ui,
    model: &Model,
    training: &TrainingPicture,
    state: &mut ExperimentPanel,
    actions: &mut Vec<Action>,
) {
    let (Some(problem), Some(verdict)) = (&training.problem, &training.verdict) else {
        return;
    };
    heading(ui, "Use in the scenario");
    if let Some(shown) = &model.experiment.shown {
        ui.label(format!("Return to {} first.", shown.origin));
        return;
    }
    let preset = problem.genome().preset(&verdict.champion.genes);
    let stacks = model.document.scenario().listed_stacks().into_iter();
    // Tried on a copy, because only stacks with the modules of the genes are suitable.
    let uses = stacks.filter(|(_, stack)| put_preset(&preset, &mut (*stack).clone()).is_ok());
    let mut all: Vec<(Option<String>, String)> = uses
        .map(|(name, _)| (Some(name.clone()), name.clone()))
        .collect();
    all.push((None, "a new stack".to_owned()));
    // A stack that no longer exists is deselected.
    if !all.iter().any(|(name, _)| *name == state.target) {
        state.target = None;
    }
    ui.horizontal_wrapped(|ui| {
        ui.label("Stack");
        if let Some(target) = choice(ui, "Stack of the scenario", &state.target, &all) {
            state.target = target;
        }
        let hint = "Write the champion's values into the modules of this stack. Selected vehicles use a new stack at once.";
        if ui.button("Apply").on_hover_text(hint).clicked() {
            let action = ExperimentAction::Apply(state.target.clone());
            actions.push(Action::Experiment(action));
        }
    });
    if training.struck_out > 0 {
        ui.colored_label(
            model.theme().tone(Tone::Warning),
            "Individuals were struck out by hand.",
        );
    }
}
