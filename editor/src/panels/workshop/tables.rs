//! Key figures and manoeuvres of the vehicle, beside those of the compared vehicle.

use super::{part, send};
use crate::model::{Action, Model};
use crate::theme::Theme;
use crate::tools::Tone;
use crate::workshop::{Bench, TrialRow, WorkshopAction};
use egui::{Grid, RichText, Ui};
use roadwright_vehicle::proving::Manoeuvre;
use roadwright_vehicle::sheet::Fact;

pub(super) fn ui(ui: &mut Ui, model: &Model, bench: &Bench, actions: &mut Vec<Action>) {
    facts(ui, model, bench);
    manoeuvres(ui, model, bench, actions);
}

/// Formats a number with at most three decimals; larger numbers have fewer.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

fn facts(ui: &mut Ui, model: &Model, bench: &Bench) {
    part(ui, "Key figures");
    let rival = model.workshop.rival.as_ref();
    let others = rival.map(|rival| &rival.drawn.facts[..]);
    let own = &bench.drawn.facts;
    let columns = if rival.is_some() { 4 } else { 3 };
    let widest = ui.available_width() / columns as f32 - 8.0;
    Grid::new("main numbers")
        .num_columns(columns)
        .max_col_width(widest)
        .striped(true)
        .show(ui, |ui| {
            if let Some(rival) = rival {
                ui.label("");
                ui.label(RichText::new("this vehicle").strong());
                ui.label(RichText::new(rival.source.title()).strong());
                ui.end_row();
            }
            // Figures that exist only for the compared vehicle come last.
            let more = others.unwrap_or_default().iter();
            let more = more.filter(|fact| find(own, fact.name).is_none());
            for fact in own.iter().chain(more) {
                ui.label(fact.name);
                number(ui, find(own, fact.name));
                if let Some(others) = others {
                    number(ui, find(others, fact.name));
                }
                ui.label(RichText::new(fact.unit).weak());
                ui.end_row();
            }
        });
}

fn find<'a>(facts: &'a [Fact], name: &str) -> Option<&'a Fact> {
    facts.iter().find(|fact| fact.name == name)
}

fn number(ui: &mut Ui, fact: Option<&Fact>) {
    ui.label(fact.map_or_else(|| "-".to_owned(), |fact| digits(fact.value)));
}

fn manoeuvres(ui: &mut Ui, model: &Model, bench: &Bench, actions: &mut Vec<Action>) {
    part(ui, "Manoeuvres");
    let trial = &model.workshop.trial;
    if let Some(problem) = &trial.problem {
        ui.colored_label(model.theme().tone(Tone::Danger), problem);
    }
    if trial.own.manoeuvres.is_empty() {
        if !trial.is_running && trial.problem.is_none() {
            ui.label("No results yet; press Test.");
        }
        return;
    }
    let is_old = trial.own.file.as_ref() != Some(&bench.file);
    if is_old && !trial.is_running {
        let color = model.theme().tone(Tone::Warning);
        ui.horizontal_wrapped(|ui| {
            ui.colored_label(color, "Measured before the last change.");
            if ui.small_button("Test again").clicked() {
                send(actions, WorkshopAction::Test);
            }
        });
    }
    let rival = model.workshop.rival.as_ref();
    let rival_name = rival.map_or_else(|| "other".into(), |rival| rival.source.title());
    for one in &trial.own.manoeuvres {
        manoeuvre(ui, model.theme(), one, &trial.rival, &rival_name);
    }
}

/// Shows a manoeuvre in two lines: name and verdict, then value and limit. The results of the compared
/// vehicle are below.
fn manoeuvre(ui: &mut Ui, theme: Theme, one: &Manoeuvre, rival: &TrialRow, name: &str) {
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(RichText::new(one.name).strong());
        label.on_hover_text(&one.note);
        verdict(ui, theme, one);
    });
    ui.label(measured(one));
    let mut others = rival.manoeuvres.iter();
    if let Some(other) = others.find(|other| other.name == one.name) {
        ui.horizontal_wrapped(|ui| {
            let text = format!("{name}: {}", measured(other));
            ui.colored_label(theme.plot(2), text);
            verdict(ui, theme, other);
        });
    }
}

fn verdict(ui: &mut Ui, theme: Theme, one: &Manoeuvre) {
    match one.pass {
        Some(true) => ui.colored_label(theme.good(), "pass"),
        Some(false) => ui.colored_label(theme.tone(Tone::Danger), "FAIL"),
        None => ui.label(RichText::new("not judged").weak()),
    };
}

/// Formats value and limit of a manoeuvre, or says why there is no value.
fn measured(one: &Manoeuvre) -> String {
    let Some(value) = one.value else {
        return one.note.clone();
    };
    let limit = match one.limit_text() {
        none if none.is_empty() => String::new(),
        limit => format!(", limit {limit}"),
    };
    format!("{} {}{limit}", digits(value), one.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_count() {
        let texts = [1040.0, 143.72, 31.9, -4.9, 0.0123].map(digits);
        assert_eq!(texts, ["1040", "143.7", "31.90", "-4.90", "0.012"]);
    }
}
