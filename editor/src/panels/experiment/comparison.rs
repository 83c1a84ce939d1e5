//! Comparison of results of `bench run`: box plots, and the difference between two results.

use super::super::widgets::{choice, empty, heading, named};
use super::{ExperimentPanel, Part, beside};
use crate::experiment::{ExperimentAction, ExperimentFile, OpenResults};
use crate::model::{Action, Model};
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{
    Align2, Button, FontId, Painter, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};
use roadwright_training::statistics::{Interval, Paired, five_numbers};
use std::sync::Arc;

/// Height of a box plot, points.
const ROW: f32 = 26.0;
/// Half the height of a box, points.
const HALF: f32 = 8.0;

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    state: &mut ExperimentPanel,
    actions: &mut Vec<Action>,
) {
    let results = &model.experiment.results;
    let hint = "A file written by roadwright bench run --out.";
    let open = ui
        .horizontal(|ui| ui.button("Open results…").on_hover_text(hint))
        .inner;
    if open.clicked() {
        let file = ExperimentAction::File(ExperimentFile::Results);
        actions.push(Action::Experiment(file));
    }
    if results.is_empty() {
        empty(ui, "Open the results of a benchmark run to compare them.");
        return;
    }
    beside(ui, |ui, part| match part {
        Part::First => boxes(ui, model.theme(), results, actions),
        Part::Second => compare(ui, model.theme(), results, state),
    });
}

/// Draws a box plot for each result, all on one scale.
fn boxes(ui: &mut Ui, theme: Theme, results: &[Arc<OpenResults>], actions: &mut Vec<Action>) {
    heading(ui, "Fitness of the runs");
    let numbers = results.iter().map(|open| five_numbers(&open.fitnesses()));
    let numbers: Vec<[f64; 5]> = numbers.map(Option::unwrap_or_default).collect();
    let low = numbers
        .iter()
        .map(|five| five[0])
        .fold(f64::INFINITY, f64::min);
    let high = numbers
        .iter()
        .map(|five| five[4])
        .fold(f64::NEG_INFINITY, f64::max);
    for (place, (open, five)) in results.iter().zip(&numbers).enumerate() {
        ui.horizontal_wrapped(|ui| {
            ui.colored_label(theme.plot(place), open.name());
            let show = ui.add(Button::new("Show the runs").small());
            let hint = "Repeat the runs and show the driven paths on the course of the first run.";
            let show = show.on_hover_text(hint);
            named(&show, &format!("Show the runs of {}", open.name()));
            if show.clicked() {
                actions.push(Action::Experiment(ExperimentAction::ShowRuns(place)));
            }
            let close = ui.add(Button::new("Close").small());
            named(&close, &format!("Close {}", open.name()));
            if close.clicked() {
                actions.push(Action::Experiment(ExperimentAction::CloseResults(place)));
            }
        });
        ui.label(in_words(open));
        box_plot(ui, theme, open, place, five, [low, high]);
    }
    ui.horizontal(|ui| {
        ui.label(format!("{low:.3}"));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(format!("{high:.3}"));
        });
    });
    ui.label("Boxes: quartiles and median. Lines: minimum and maximum. Dots: means.");
}

fn in_words(open: &OpenResults) -> String {
    let summary = &open.summary;
    let fitness = &summary.fitness;
    let interval = match fitness.interval {
        Some([low, high]) => format!(" ({low:.3} to {high:.3})"),
        None => String::new(),
    };
    let better = if summary.lower_is_better {
        "lower"
    } else {
        "higher"
    };
    format!(
        "{}, {} runs: {} {:.3}{interval}, {better} is better; {} of {} drives completed",
        summary.course,
        summary.runs,
        summary.fitness_module,
        fitness.mean,
        summary.completed,
        summary.drives
    )
}

/// Draws a box on the common scale.
fn box_plot(
    ui: &mut Ui,
    theme: Theme,
    open: &OpenResults,
    place: usize,
    five: &[f64; 5],
    [low, high]: [f64; 2],
) {
    let width = ui.available_width();
    let (response, painter) = ui.allocate_painter(vec2(width, ROW), Sense::hover());
    let [least, first, median, third, greatest] = five;
    let said = format!(
        "{}: {least:.3} to {greatest:.3}, quartiles {first:.3} and {third:.3}, median {median:.3}",
        open.name()
    );
    let label = said.clone();
    response.widget_info(move || WidgetInfo::labeled(Role::Label, true, &label));
    let rect = response.rect;
    response.on_hover_text(said);
    // If all runs are equal, everything is drawn at the left end to avoid a division by zero.
    let span = if high > low { high - low } else { 1.0 };
    let inner = rect.shrink2(vec2(6.0, 0.0));
    let at = |value: f64| inner.left() + ((value - low) / span) as f32 * inner.width();
    let stroke = Stroke::new(1.5, theme.plot(place));
    let middle = rect.center().y;
    line(&painter, at(*least), at(*greatest), middle, stroke);
    let whole = Rect::from_min_max(
        pos2(at(*first), middle - HALF),
        pos2(at(*third), middle + HALF),
    );
    // Filled with the background first, because the line below would show through the pale box.
    painter.rect_filled(whole, 2.0, theme.ground());
    painter.rect_filled(whole, 2.0, theme.plot(place).gamma_multiply(0.3));
    painter.rect_stroke(whole, 2.0, stroke, egui::StrokeKind::Inside);
    painter.vline(
        at(*median),
        whole.y_range(),
        Stroke::new(2.5, theme.plot(place)),
    );
    let mean = open.summary.fitness.mean;
    let edge = Stroke::new(1.0, theme.handle());
    painter.circle(pos2(at(mean), middle), 3.5, theme.plot(place), edge);
}

/// Draws a line with a bar at each end.
fn line(painter: &Painter, from: f32, to: f32, y: f32, stroke: Stroke) {
    painter.hline(from..=to, y, stroke);
    for end in [from, to] {
        painter.vline(end, y - 4.0..=y + 4.0, stroke);
    }
}

/// Shows the difference between two results, paired by seeds.
fn compare(ui: &mut Ui, theme: Theme, results: &[Arc<OpenResults>], state: &mut ExperimentPanel) {
    heading(ui, "Difference");
    if results.len() < 2 {
        ui.label("Open a second file to compare the two, seed by seed.");
        return;
    }
    let last = results.len() - 1;
    // A selected result may have been closed meanwhile.
    let (first, second) = (state.pair.0.min(last), state.pair.1.min(last));
    // There are at least two results, so both indices exist.
    state.pair = if first == second {
        (0, 1)
    } else {
        (first, second)
    };
    let names = results.iter().map(|open| open.name()).enumerate();
    let all: Vec<(usize, String)> = names.collect();
    ui.horizontal_wrapped(|ui| {
        if let Some(second) = choice(ui, "Compared", &state.pair.1, &all) {
            state.pair.1 = second;
        }
        ui.label("against");
        if let Some(first) = choice(ui, "Against", &state.pair.0, &all) {
            state.pair.0 = first;
        }
    });
    let (first, second) = (&results[state.pair.0], &results[state.pair.1]);
    match first.against(second) {
        Err(why) => {
            ui.colored_label(theme.tone(Tone::Warning), why);
        }
        Ok(paired) => difference(ui, theme, &paired, second),
    }
}

fn difference(ui: &mut Ui, theme: Theme, paired: &Paired, second: &OpenResults) {
    // The difference is the second minus the first. Where lower is better, a negative one is good.
    let is_better = (paired.mean < 0.0) == second.summary.lower_is_better;
    let (word, color) = match (paired.t.contains(0.0), is_better) {
        // If the interval contains zero, the sign of the mean is not significant.
        (true, _) => ("no visible difference", theme.tone(Tone::Guide)),
        (false, true) => ("better", theme.good()),
        (false, false) => ("worse", theme.tone(Tone::Danger)),
    };
    ui.colored_label(color, format!("{}: {word}", second.name()));
    ui.label(format!(
        "difference {:.4} over {} pairs, p = {:.2e}",
        paired.mean, paired.count, paired.p
    ));
    let ends = |interval: &Interval| format!("{:.4} to {:.4}", interval.low, interval.high);
    ui.label(format!(
        "{:.0} % interval {} (Student's t), {} (bootstrap)",
        100.0 * paired.t.level,
        ends(&paired.t),
        ends(&paired.bootstrap)
    ));
    scale(ui, theme, paired);
}

/// Draws the interval of a difference, with a line at zero.
fn scale(ui: &mut Ui, theme: Theme, paired: &Paired) {
    let (response, painter) = ui.allocate_painter(vec2(ui.available_width(), 40.0), Sense::hover());
    let said = format!(
        "Difference {:.4}, {:.4} to {:.4}",
        paired.mean, paired.t.low, paired.t.high
    );
    response.widget_info(move || WidgetInfo::labeled(Role::Label, true, &said));
    let rect = response.rect;
    // Zero stays in the middle, so the wider side of the interval determines the scale of both sides.
    let reach = paired
        .t
        .low
        .abs()
        .max(paired.t.high.abs())
        .max(f64::MIN_POSITIVE);
    let half = 0.46 * rect.width();
    let at = |value: f64| rect.center().x + (value / reach) as f32 * half;
    let y = rect.top() + 12.0;
    let quiet = Stroke::new(1.0, theme.quiet());
    painter.vline(rect.center().x, rect.top()..=rect.top() + 24.0, quiet);
    let below = pos2(rect.center().x, rect.top() + 25.0);
    let font = FontId::proportional(11.0);
    painter.text(
        below,
        Align2::CENTER_TOP,
        "no difference",
        font,
        theme.quiet(),
    );
    let stroke = Stroke::new(2.0, theme.tone(Tone::Accent));
    line(&painter, at(paired.t.low), at(paired.t.high), y, stroke);
    let edge = Stroke::new(1.0, theme.handle());
    painter.circle(
        pos2(at(paired.mean), y),
        4.0,
        theme.tone(Tone::Accent),
        edge,
    );
}
