//! The vehicle workshop: numbers that can be changed, their effects, trials, and the test track.

mod curves;
mod numbers;
mod tables;
mod views;

use super::PanelFrame;
use super::widgets::{choice, empty, heading};
use crate::model::{Action, Dialog, Model, Purpose};
use crate::theme::Theme;
use crate::tools::Tone;
use crate::workshop::{Bench, Ground, Source, WorkshopAction};
use egui::{Button, ProgressBar, Ui};
use roadwright_scenario::ObjectId;
use roadwright_scenario::vehicle_file::SHIPPED;

/// Minimum width of a column, in points.
const COLUMN: f32 = 290.0;
/// Maximum number of columns. As many columns are shown as fit.
const MOST_COLUMNS: usize = 3;

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    ui.horizontal_wrapped(|ui| choose(ui, model, actions));
    let Some(bench) = &model.workshop.bench else {
        let text = "Choose a vehicle to change its parameters and see their effects.";
        empty(ui, text);
        return;
    };
    ui.horizontal_wrapped(|ui| deeds(ui, model, bench, actions));
    warnings(ui, model.theme(), bench);
    let columns = (ui.available_width() / COLUMN) as usize;
    // In a single column the views come first, because they respond to each number. With more columns they
    // are beside the numbers.
    match columns.clamp(1, MOST_COLUMNS) {
        1 => {
            views::ui(ui, model, bench);
            numbers::ui(ui, model.theme(), bench, actions);
            curves::ui(ui, model, bench);
            tables::ui(ui, model, bench, actions);
        }
        2 => ui.columns(2, |columns| {
            numbers::ui(&mut columns[0], model.theme(), bench, actions);
            views::ui(&mut columns[1], model, bench);
            curves::ui(&mut columns[1], model, bench);
            tables::ui(&mut columns[1], model, bench, actions);
        }),
        _ => ui.columns(3, |columns| {
            numbers::ui(&mut columns[0], model.theme(), bench, actions);
            curves::ui(&mut columns[1], model, bench);
            views::ui(&mut columns[2], model, bench);
            tables::ui(&mut columns[2], model, bench, actions);
        }),
    }
}

fn send(actions: &mut Vec<Action>, action: WorkshopAction) {
    actions.push(Action::Workshop(action));
}

/// Returns all vehicles that the user can select by name.
fn sources(model: &Model) -> Vec<Source> {
    let shipped = SHIPPED.iter().map(|one| Source::Shipped(one.name));
    // The test track has only one type, which is the vehicle on the bench.
    let types = model.document.scenario().listed_vehicle_types();
    let types = types.into_iter().filter(|_| model.workshop.track.is_none());
    shipped
        .chain(types.map(|(key, _)| Source::Type(key.clone())))
        .collect()
}

fn titled(sources: Vec<Source>) -> Vec<(Option<Source>, String)> {
    let titled = sources.into_iter().map(|source| {
        let title = source.title();
        (Some(source), title)
    });
    titled.collect()
}

/// Returns the vehicle type of the selected or watched vehicle.
fn selected_type(model: &Model) -> Option<String> {
    if model.workshop.track.is_some() {
        return None;
    }
    let scenario = model.document.scenario();
    let selected = model.single().and_then(|object| match object {
        ObjectId::Agent(id) => Some(scenario.agents().get(&id)?.vehicle.clone()),
        ObjectId::Flow(id) => Some(scenario.flows().get(&id)?.vehicle.clone()),
        _ => None,
    });
    selected.or_else(|| {
        let watched = u32::try_from(model.watched?).ok()?;
        let agent = scenario
            .agents()
            .get(&roadwright_scenario::AgentId(watched))?;
        Some(agent.vehicle.clone())
    })
}

/// Shows the choice of the vehicle.
fn choose(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let mut all = titled(sources(model));
    let chosen = model
        .workshop
        .bench
        .as_ref()
        .map(|bench| bench.source.clone());
    // An opened file is not in the list.
    if let Some(source) = &chosen
        && !all.iter().any(|(known, _)| known.as_ref() == Some(source))
    {
        all.insert(0, (chosen.clone(), source.title()));
    }
    if chosen.is_none() {
        all.insert(0, (None, "none".into()));
    }
    ui.label("Vehicle");
    if let Some(Some(source)) = choice(ui, "Vehicle on the bench", &chosen, &all) {
        send(actions, WorkshopAction::Open(source));
    }
    if ui.button("Open vehicle…").clicked() {
        ask(actions, Purpose::OpenVehicle, String::new());
    }
    if let Some(key) = selected_type(model) {
        let button = ui.button("Use selection");
        if button
            .on_hover_text(format!("The type {key} of the selected vehicle."))
            .clicked()
        {
            send(actions, WorkshopAction::Open(Source::Type(key)));
        }
    }
    if model.workshop.bench.is_none() {
        return;
    }
    let mut rivals = vec![(None, "nothing".to_owned())];
    rivals.extend(titled(vec![Source::Unchanged]));
    rivals.extend(titled(sources(model)));
    let rival = model.workshop.rival.as_ref();
    let rival = rival.map(|rival| rival.source.clone());
    if let Some(file @ Source::File(_)) = &rival {
        rivals.push((rival.clone(), file.title()));
    }
    ui.label("compared with");
    if let Some(source) = choice(ui, "Compared with", &rival, &rivals) {
        send(actions, WorkshopAction::Compare(source));
    }
    if ui.button("Compare with a file…").clicked() {
        ask(actions, Purpose::CompareVehicle, String::new());
    }
}

fn ask(actions: &mut Vec<Action>, purpose: Purpose, text: String) {
    actions.push(Action::Show(Dialog::Path {
        purpose,
        text,
        then: None,
    }));
}

/// Shows the actions on the vehicle.
fn deeds(ui: &mut Ui, model: &Model, bench: &Bench, actions: &mut Vec<Action>) {
    let (back, again) = bench.labels();
    let hint = |label: Option<&str>| label.map_or_else(String::new, str::to_owned);
    let undo = ui.add_enabled(back.is_some(), Button::new("Undo change"));
    if undo.on_hover_text(hint(back)).clicked() {
        send(actions, WorkshopAction::Undo);
    }
    let redo = ui.add_enabled(again.is_some(), Button::new("Redo change"));
    if redo.on_hover_text(hint(again)).clicked() {
        send(actions, WorkshopAction::Redo);
    }
    if ui.button("Save vehicle as…").clicked() {
        actions.push(Action::AskPath(Purpose::SaveVehicle));
    }
    if model.workshop.track.is_none() {
        let key = bench.type_key(model.document.scenario());
        let text = "Add a vehicle type with this file to the scenario, for use in the Inspector.";
        let button = ui.button(format!("Use as type {key}"));
        if button.on_hover_text(text).clicked() {
            send(actions, WorkshopAction::Use);
        }
    }
    testing(ui, model, actions);
    driving(ui, model, actions);
}

fn testing(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let trial = &model.workshop.trial;
    if trial.is_running {
        ui.add(ProgressBar::new(trial.share()).desired_width(90.0));
        if ui.button("Stop test").clicked() {
            send(actions, WorkshopAction::StopTest);
        }
    } else {
        let hint = "Run the manoeuvres of the proving ground, as roadwright vehicle test does.";
        if ui.button("Test").on_hover_text(hint).clicked() {
            send(actions, WorkshopAction::Test);
        }
    }
}

fn driving(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let hint = "Drive on a test track with W A S D or the arrow keys. Changing a parameter restarts the \
        drive. Meanwhile, your scenario is paused.";
    for ground in Ground::ALL {
        let is_here = model.workshop.track == Some(ground);
        let button = Button::new(format!("Drive, {}", ground.title())).selected(is_here);
        if ui.add(button).on_hover_text(hint).clicked() {
            send(actions, WorkshopAction::Drive(ground));
        }
    }
    if model.workshop.track.is_some() && ui.button("Leave track").clicked() {
        send(actions, WorkshopAction::LeaveTrack);
    }
}

/// Shows warnings about missing and contradictory numbers.
fn warnings(ui: &mut Ui, theme: Theme, bench: &Bench) {
    let color = theme.tone(Tone::Warning);
    let missing = &bench.drawn.missing;
    if !missing.is_empty() {
        let text = format!(
            "Level rigid is unavailable because the file has no {}. Running at level {} instead.",
            missing.join(", "),
            bench.drawn.level
        );
        ui.colored_label(color, text);
    }
    if bench.drawn.is_too_stiff {
        let text = format!(
            "Level rigid is unavailable because springs or tyres are too stiff for the mass. \
             Running at level {} instead.",
            bench.drawn.level
        );
        ui.colored_label(color, text);
    }
    for finding in &bench.drawn.findings {
        ui.colored_label(color, finding);
    }
}

/// Shows the bar over the map while the test track is on the map.
pub(super) fn track_bar(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let name = model.workshop.bench.as_ref();
    let name = name.map_or("", |bench| &bench.file.name);
    ui.horizontal_wrapped(|ui| {
        let color = model.theme().tone(Tone::Accent);
        ui.colored_label(color, format!("Test track of {name}."));
        ui.label("Your scenario is paused. Changes here are discarded.");
        if ui.button("Back to the scenario").clicked() {
            send(actions, WorkshopAction::LeaveTrack);
        }
    });
}

/// Shows a button that opens a vehicle type in the workshop.
pub(super) fn open_button(ui: &mut Ui, key: &str, actions: &mut Vec<Action>) {
    let hint = "Inspect, change, test and drive this vehicle.";
    if ui
        .small_button(format!("Workshop: {key}"))
        .on_hover_text(hint)
        .clicked()
    {
        send(actions, WorkshopAction::Open(Source::Type(key.to_owned())));
    }
}

/// Shows the heading of a section.
fn part(ui: &mut Ui, title: &str) {
    ui.add_space(4.0);
    heading(ui, title);
}
