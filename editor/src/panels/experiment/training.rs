//! The panel of a training run: generation curves, progress bar and controls.

use super::super::plots::{Curve, plot_with};
use super::super::widgets::counted;
use super::individuals;
use crate::experiment::{ExperimentAction, ExperimentFile, GenerationRow, Phase, TrainingPicture};
use crate::model::{Action, Model};
use crate::tools::Tone;
use egui::{ProgressBar, RichText, Ui};
use egui_plot::FilledArea;

/// Height of a tall plot, in points.
const HEIGHT: f32 = 130.0;
/// Height of a short plot, in points.
const LOW: f32 = 64.0;

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    training: &TrainingPicture,
    actions: &mut Vec<Action>,
) {
    state(ui, model, training);
    buttons(ui, model, training, actions);
    if training.struck_out > 0 {
        let text = format!(
            "{} struck out by hand, so rerunning the experiment will not reproduce this result.",
            counted(training.struck_out, "individual")
        );
        ui.colored_label(model.theme().tone(Tone::Warning), text);
    }
    curves(ui, model, training);
}

/// Shows the phase of the training, and its remaining time.
fn state(ui: &mut Ui, model: &Model, training: &TrainingPicture) {
    let progress = model.experiment.progress;
    let of = training
        .experiment
        .as_ref()
        .map_or(0, |experiment| experiment.stop.generations);
    let done = training.generations.len();
    let text = match &training.phase {
        Phase::Preparing => "Preparing the course\u{2026}".to_owned(),
        Phase::Breeding(number) => format!("Generation {number} of {of}"),
        Phase::Choosing => "Choosing and testing the champion".into(),
        Phase::Stopped => format!("Stopped after {}", counted(done, "generation")),
        Phase::Over => format!("Finished after {}", counted(done, "generation")),
        Phase::Failed(why) => {
            ui.colored_label(model.theme().tone(Tone::Danger), why);
            return;
        }
    };
    let paused = if progress.is_paused { ", paused" } else { "" };
    ui.label(RichText::new(format!("{text}{paused}")).strong());
    if !training.phase.is_busy() {
        return;
    }
    let share = progress.done as f32 / progress.planned.max(1) as f32;
    let text = format!("{} of {} runs", progress.done, progress.planned);
    ui.add(ProgressBar::new(share.min(1.0)).text(text));
    if let Some(seconds) = progress.seconds_left {
        ui.label(format!("About {} left.", time(seconds)));
    }
}

/// Formats a duration in seconds, minutes or hours.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn buttons(ui: &mut Ui, model: &Model, training: &TrainingPicture, actions: &mut Vec<Action>) {
    let ask = Action::Experiment;
    let is_stopped = training.phase == Phase::Stopped;
    ui.horizontal_wrapped(|ui| {
        if training.phase.is_busy() {
            let is_paused = model.experiment.progress.is_paused;
            let name = if is_paused { "Continue" } else { "Pause" };
            if ui.button(name).clicked() {
                actions.push(ask(ExperimentAction::Pause(!is_paused)));
            }
            let hint = "Stop training; complete generations are kept.";
            if ui.button("Stop").on_hover_text(hint).clicked() {
                actions.push(ask(ExperimentAction::Stop));
            }
        }
        if is_stopped && ui.button("Continue").clicked() {
            actions.push(ask(ExperimentAction::GoOn));
        }
        let hint = "Choose the champion from the current pool and test it.";
        let has_some = !training.generations.is_empty();
        if is_stopped && has_some && ui.button("Test now").on_hover_text(hint).clicked() {
            actions.push(ask(ExperimentAction::Judge));
        }
        let best = training.best().zip(training.courses.first());
        if let Some((best, course)) = best.filter(|_| training.phase.is_busy()) {
            let hint = "Show the best individual so far on the map while training continues.";
            if ui.button("Show the best").on_hover_text(hint).clicked() {
                actions.push(individuals::show(best, *course));
            }
        }
        let hint = "Write the file for train --resume, train compare and train apply.";
        if has_some && ui.button("Save record…").on_hover_text(hint).clicked() {
            actions.push(ask(ExperimentAction::File(ExperimentFile::Record)));
        }
    });
}

fn curves(ui: &mut Ui, model: &Model, training: &TrainingPicture) {
    let rows = &training.generations;
    let Some(last) = rows.last() else {
        return;
    };
    let better = if training.is_lower_better() {
        "lower"
    } else {
        "higher"
    };
    let number = |value: Option<f64>| value.map_or("none".into(), |value| format!("{value:.4}"));
    ui.label(format!(
        "best {}, mean {}, pool {}; {better} is better",
        number(last.report.best),
        number(last.report.mean),
        number(last.report.pool_best)
    ));
    let report = &last.report;
    ui.label(format!(
        "ended early {}, dropped by racing {}, failed {}",
        report.ended_early, report.raced_out, report.failed
    ));
    // A line needs two points.
    if rows.len() < 2 {
        return;
    }
    let theme = model.theme();
    let curve = |name, color, width, of: fn(&GenerationRow) -> Option<f64>| Curve {
        name,
        color: theme.plot(color),
        width,
        points: points(rows, of),
    };
    let fitness = vec![
        curve("mean", 2, 1.0, |row| row.report.mean),
        curve("best", 1, 1.5, |row| row.report.best),
        curve("pool", 0, 2.5, |row| row.report.pool_best),
    ];
    let spread: Vec<(f64, (f64, f64))> = rows
        .iter()
        .filter_map(|row| Some((row.report.generation as f64, row.spread?)))
        .collect();
    let band = theme.plot(2).gamma_multiply(0.18);
    plot_with(ui, "Fitness", HEIGHT, 1.0, fitness, |plot| {
        let at: Vec<f64> = spread.iter().map(|(at, _)| *at).collect();
        let low: Vec<f64> = spread.iter().map(|(_, (low, _))| *low).collect();
        let high: Vec<f64> = spread.iter().map(|(_, (_, high))| *high).collect();
        if at.len() > 1 {
            plot.add(FilledArea::new("mean ± SD", &at, &low, &high).fill_color(band));
        }
    });
    let hint = "Band: mean of each generation ± standard deviation of its individuals.";
    ui.label(RichText::new(hint).weak().small());
    ui.add_space(4.0);
    let count = |name, color, of: fn(&GenerationRow) -> Option<f64>| curve(name, color, 1.5, of);
    let ended = vec![
        count("raced", 2, |row| Some(row.report.raced_out as f64)),
        count("failed", 3, |row| Some(row.report.failed as f64)),
        count("early", 0, |row| Some(row.report.ended_early as f64)),
    ];
    plot_with(ui, "Ended", LOW, 1.0, ended, |_| {});
}

/// Returns the points of a curve over the generations. Missing values are left out.
fn points(rows: &[GenerationRow], of: fn(&GenerationRow) -> Option<f64>) -> Vec<[f64; 2]> {
    let points = rows
        .iter()
        .filter_map(|row| Some([row.report.generation as f64, of(row)?]));
    points.collect()
}
