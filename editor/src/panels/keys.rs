//! The key sheet, which lists all keys and lets users change them.

use super::widgets;
use crate::command::{Command, KeyMap};
use crate::model::{Action, Dialog, Model};
use egui::{Grid, Label, RichText, Role, ScrollArea, Ui, WidgetInfo};

pub(super) fn ui(
    context: &egui::Context,
    model: &Model,
    waiting: &mut Option<Command>,
    filter: &mut String,
    actions: &mut Vec<Action>,
) {
    let response = widgets::modal(context, "keys").show(context, |ui| {
        ui.set_width(560.0);
        ui.heading("Keys");
        ui.label("Click a key to change it, then press the new one. Esc cancels.");
        let edit = egui::TextEdit::singleline(filter).hint_text("find a command");
        let field = ui.add(edit);
        field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Find a command"));
        mouse(ui);
        ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
            table(ui, &model.settings.keys, filter, waiting);
        });
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            if ui.button("Restore defaults").clicked() {
                actions.push(Action::ResetKeys);
            }
            if ui.button("Close").clicked() {
                actions.push(Action::Show(Dialog::None));
            }
        });
    });
    if response.should_close() && waiting.is_none() {
        actions.push(Action::Show(Dialog::None));
    }
}

/// Width of a command's description, points.
const HINT: f32 = 330.0;

/// Lists the commands with their keys, filtered by name.
fn table(ui: &mut Ui, keys: &KeyMap, filter: &str, waiting: &mut Option<Command>) {
    let wanted = filter.to_lowercase();
    let commands = Command::all().iter().copied();
    let fitting = commands.filter(|command| command.title().to_lowercase().contains(&wanted));
    Grid::new("keys")
        .num_columns(3)
        .striped(true)
        .show(ui, |ui| {
            for command in fitting {
                ui.label(command.title());
                let is_waiting = *waiting == Some(command);
                let button = ui.button(key_text(keys, command, is_waiting));
                let name = format!("Key of {}", command.title());
                button.widget_info(move || WidgetInfo::labeled(Role::Button, true, &name));
                if button.clicked() {
                    *waiting = Some(command);
                }
                // Long descriptions take two lines, because a small window with large letters has no more
                // room.
                ui.vertical(|ui| {
                    // Half the height difference between a key and small letters.
                    ui.add_space(4.0);
                    ui.set_max_width(HINT);
                    ui.add(Label::new(RichText::new(command.hint()).weak().small()).wrap());
                });
                ui.end_row();
            }
        });
}

fn key_text(keys: &KeyMap, command: Command, is_waiting: bool) -> String {
    if is_waiting {
        return "press a key".to_owned();
    }
    let label = keys.label(command);
    if label.is_empty() {
        "none".into()
    } else {
        label
    }
}

/// Lists the functions of the mouse, which cannot be changed.
fn mouse(ui: &mut Ui) {
    let lines = [
        "Left button: the tool. Middle or right drag, or Space+drag: pan. Wheel: zoom at the pointer.",
        "Shift+drag: select the objects in a rectangle. Ctrl: no snapping. Esc: cancel the stroke. Backspace: remove \
         its last point.",
    ];
    for line in lines {
        ui.label(RichText::new(line).small());
    }
}
