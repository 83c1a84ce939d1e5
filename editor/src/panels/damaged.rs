//! The dialog for a file that cannot be opened: the position of the error, and the parts that can
//! be recovered.

use super::widgets;
use crate::command::Command;
use crate::model::{Action, Dialog, Model, Next};
use crate::tools::Tone;
use egui::{RichText, ScrollArea, Ui};

/// Height of the list of omitted entries, points.
const LIST: f32 = 130.0;

pub(super) fn ui(context: &egui::Context, model: &Model, actions: &mut Vec<Action>) {
    let Some(damaged) = &model.damaged else {
        actions.push(Action::Show(Dialog::None));
        return;
    };
    let response = widgets::modal(context, "damaged").show(context, |ui| {
        ui.set_width(560.0);
        ui.heading(format!("{} cannot be opened", damaged.name()));
        ui.label(RichText::new(damaged.path.display().to_string()).small());
        ui.add_space(6.0);
        let place = match damaged.line {
            0 => String::new(),
            line => format!("Line {line}: "),
        };
        let color = model.theme().tone(Tone::Danger);
        ui.colored_label(color, format!("{place}{}", damaged.message));
        lines(ui, model);
        left_out(ui, model);
        ui.add_space(8.0);
        ui.horizontal_wrapped(|ui| buttons(ui, model, actions));
    });
    if response.should_close() {
        actions.push(Action::Show(Dialog::None));
    }
}

/// Shows the lines around the error.
fn lines(ui: &mut Ui, model: &Model) {
    let Some(damaged) = &model.damaged else {
        return;
    };
    for (number, text) in &damaged.lines {
        let text = RichText::new(format!("{number:>5}  {text}")).monospace();
        let text = if *number == damaged.line {
            text.color(model.theme().tone(Tone::Danger))
        } else {
            text.weak()
        };
        ui.add(egui::Label::new(text).truncate());
    }
}

/// Shows the entries that would be left out.
fn left_out(ui: &mut Ui, model: &Model) {
    let saved = model
        .damaged
        .as_ref()
        .and_then(|damaged| damaged.saved.as_ref());
    let Some(saved) = saved else {
        ui.add_space(4.0);
        ui.label("No part of the file can be read.");
        return;
    };
    ui.add_space(6.0);
    ui.label(format!(
        "{} can be read; {} will be left out:",
        widgets::counted(saved.kept, "object"),
        match saved.left_out.len() {
            1 => "1 entry".to_owned(),
            more => format!("{more} entries"),
        }
    ));
    ScrollArea::vertical()
        .id_salt("left out")
        .max_height(LIST)
        .show(ui, |ui| {
            for reason in &saved.left_out {
                ui.label(RichText::new(reason).small());
            }
        });
}

fn buttons(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some(damaged) = &model.damaged else {
        return;
    };
    let hint = "Opens as a new scenario; the file on disk is not changed.";
    if damaged.saved.is_some()
        && ui
            .button("Open what can be read")
            .on_hover_text(hint)
            .clicked()
    {
        actions.push(Action::Leave(Next::Salvaged));
    }
    let mut recoveries = model.recoveries.iter();
    let own = recoveries.position(|recovery| recovery.path.as_ref() == Some(&damaged.path));
    if let Some(own) = own
        && widgets::primary(ui, "Open the backup").clicked()
    {
        actions.push(Action::Leave(Next::Recover(own)));
    }
    if ui.button("Open another…").clicked() {
        actions.push(Action::Do(Command::Open));
    }
    if ui.button("Close").clicked() {
        actions.push(Action::Show(Dialog::None));
    }
}
