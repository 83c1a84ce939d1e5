//! The command palette and the search for streets.

use super::widgets;
use crate::command::Command;
use crate::model::{Action, Dialog, Model};
use egui::{Key, Role, ScrollArea, WidgetInfo};
use roadwright_geometry::DVec2;
use roadwright_scenario::ObjectId;
use roadwright_scenario::operation::Objects;

/// Maximum number of streets listed.
const MOST: usize = 60;

/// Rank of a text for a query; `None` unless the text contains all letters of the query in order. Smaller
/// ranks are better.
fn rank(query: &str, text: &str) -> Option<usize> {
    let text = text.to_lowercase();
    let query = query.trim().to_lowercase();
    if let Some(at) = text.find(&query) {
        return Some(at);
    }
    // The iterator continues after the previous letter, so that order counts.
    let mut letters = text.char_indices();
    let mut last = 0;
    for wanted in query.chars().filter(|c| !c.is_whitespace()) {
        last = letters.find(|(_, c)| *c == wanted)?.0;
    }
    // Ranks after all texts that contain the whole query. The earlier the last letter is found, the better.
    Some(100 + last)
}

pub(super) fn ui(
    context: &egui::Context,
    model: &Model,
    query: &mut String,
    line: &mut usize,
    actions: &mut Vec<Action>,
) {
    let mut found: Vec<(usize, Command)> = Command::all()
        .iter()
        // `RedoToo` is only a second key of Redo.
        .filter(|command| **command != Command::RedoToo)
        .filter_map(|command| Some((rank(query, command.title())?, *command)))
        .collect();
    // Without a query, the order of the table is better because it groups commands by subject.
    if !query.trim().is_empty() {
        found.sort_by_key(|(rank, _)| *rank);
    }
    *line = (*line).min(found.len().saturating_sub(1));
    let mut chosen = None;
    let response = widgets::modal(context, "palette").show(context, |ui| {
        ui.set_width(460.0);
        let entered = field(ui, query, "Command", "type a command");
        ui.input(|i| {
            if i.key_pressed(Key::ArrowDown) {
                *line = (*line + 1).min(found.len().saturating_sub(1));
            }
            if i.key_pressed(Key::ArrowUp) {
                *line = line.saturating_sub(1);
            }
        });
        ScrollArea::vertical().max_height(380.0).show(ui, |ui| {
            for (i, (_, command)) in found.iter().enumerate() {
                let key = model.settings.keys.label(*command);
                let button = egui::Button::selectable(i == *line, command.title())
                    .shortcut_text(key)
                    .min_size(egui::vec2(440.0, 0.0));
                let response = ui.add(button).on_hover_text(command.hint());
                if i == *line && entered {
                    chosen = Some(*command);
                }
                if response.clicked() {
                    chosen = Some(*command);
                }
            }
            if found.is_empty() {
                ui.label("No matching command.");
            }
        });
    });
    if response.should_close() {
        actions.push(Action::Show(Dialog::None));
    }
    if let Some(command) = chosen {
        actions.push(Action::Show(Dialog::None));
        actions.push(Action::Do(command));
    }
}

pub(super) fn search(
    context: &egui::Context,
    model: &Model,
    query: &mut String,
    actions: &mut Vec<Action>,
) {
    let streets = &model.scene.street_names;
    // A street consists of many roads with the same name.
    let streets = streets.iter().map(|street| &*street.name);
    let land = model.scene.land_names.iter().map(|land| &*land.name);
    let names: std::collections::BTreeSet<&str> = streets.chain(land).collect();
    let ranked = names
        .iter()
        .filter_map(|name| Some((rank(query, name)?, *name)));
    let mut found: Vec<(usize, &str)> = ranked.collect();
    if !query.trim().is_empty() {
        found.sort();
    }
    let mut chosen = None;
    let response = widgets::modal(context, "search").show(context, |ui| {
        ui.set_width(380.0);
        let entered = field(ui, query, "Street", "street, park or water");
        if names.is_empty() {
            ui.label("No street has a name yet.");
        }
        ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
            for (i, (_, name)) in found.iter().take(MOST).enumerate() {
                if ui.selectable_label(i == 0, *name).clicked() || (i == 0 && entered) {
                    chosen = Some((*name).to_owned());
                }
            }
        });
    });
    if response.should_close() {
        actions.push(Action::Show(Dialog::None));
    }
    if let Some(name) = chosen {
        actions.push(Action::Show(Dialog::None));
        jump_to(model, &name, actions);
    }
}

/// Selects and shows all roads and areas of land with a given name.
fn jump_to(model: &Model, name: &str, actions: &mut Vec<Action>) {
    let network = model.document.scenario().network();
    let roads = network.roads().filter(|(_, road)| road.name == name);
    let mut objects: Objects = roads.map(|(id, _)| ObjectId::Road(id)).collect();
    let land = model.document.scenario().land().iter();
    let land = land.filter(|(_, land)| land.name == name);
    objects.extend(land.map(|(id, _)| ObjectId::Land(*id)));
    let boxes = objects.iter().filter_map(|o| model.scene.bounds_of(*o));
    let corners: Vec<DVec2> = boxes.flat_map(|(low, high)| [low, high]).collect();
    if let Some((low, high)) = roadwright_geometry::polygon::bounds(&corners) {
        actions.push(Action::Select(objects));
        actions.push(Action::Jump(low, high));
    }
}

/// Shows a text field that has the focus. Returns whether Enter was pressed.
fn field(ui: &mut egui::Ui, text: &mut String, name: &'static str, hint: &str) -> bool {
    let edit = egui::TextEdit::singleline(text)
        .hint_text(hint)
        .desired_width(f32::INFINITY);
    let response = ui.add(edit);
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, name));
    let entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
    // Typed text goes to this field while the dialog is open, wherever the user has clicked.
    if !entered {
        response.request_focus();
    }
    entered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_enough_and_whole_words_are_better() {
        assert!(rank("spro", "Split road").is_some());
        assert!(rank("xyz", "Split road").is_none());
        assert!(rank("road", "Split road") < rank("spro", "Split road"));
        assert_eq!(rank("", "anything"), Some(0));
    }
}
