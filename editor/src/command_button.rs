//! The button of a command, as menus and panels show it.

use crate::command::Command;
use crate::model::Model;
use egui::Button;

/// Returns the button of a command with its name and key.
pub(crate) fn command_button(model: &Model, command: Command) -> Button<'static> {
    let button = Button::new(command.title());
    match model.settings.keys.label(command) {
        // An empty shortcut would add a space to the text that screen readers read.
        key if key.is_empty() => button,
        key => button.shortcut_text(key),
    }
}
