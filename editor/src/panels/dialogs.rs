//! Dialogs for questions, paths, the palette, keys, search and the welcome panel.

use super::{bundle, damaged, keys, palette, path_dialog, welcome, widgets};
use crate::command::Command;
use crate::model::{Action, Dialog, Model, ModuleAction, Next, Purpose};
use egui::{RichText, Ui};
use roadwright_extension::Hang;

/// The open dialog with its typed text.
#[derive(Default)]
pub(super) struct OpenDialog {
    /// Contents of the dialog when it was opened.
    opened: Dialog,
    /// Current contents of the dialog.
    now: Dialog,
}

impl OpenDialog {
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        model: &Model,
        welcome: &mut welcome::Welcome,
        actions: &mut Vec<Action>,
    ) {
        // Typed text is kept until another dialog opens.
        if self.opened != model.dialog {
            self.opened.clone_from(&model.dialog);
            self.now.clone_from(&model.dialog);
        }
        let context = ui.ctx().clone();
        // A run that waits for a decision is more urgent than an unfinished dialog.
        if let Some(stuck) = &model.modules.hang {
            hang(&context, stuck, actions);
            return;
        }
        if let Some(what) = &model.modules.timed_out {
            timed_out(&context, what, actions);
            return;
        }
        match &mut self.now {
            Dialog::None => {}
            Dialog::Welcome => welcome.ui(&context, model, actions),
            Dialog::Unsaved(next) => unsaved(&context, model, next, actions),
            Dialog::Damaged => damaged::ui(&context, model, actions),
            Dialog::Path {
                purpose,
                text,
                then,
            } => path_dialog::ui(&context, model, *purpose, then, text, actions),
            Dialog::Palette { query, line } => {
                palette::ui(&context, model, query, line, actions);
            }
            Dialog::Keys { waiting, filter } => {
                keys::ui(&context, model, waiting, filter, actions);
            }
            Dialog::Bundle { folder, presets } => {
                bundle::ui(&context, model, folder, presets, actions);
            }
            Dialog::AllowPlugin => allow_plugin(&context, model, actions),
        }
    }

    /// Returns the command whose new key the key sheet waits for.
    pub(super) fn waiting(&self, model: &Model) -> Option<Command> {
        // If the model has closed the dialog since the last frame, nothing waits for a key.
        match &self.now {
            Dialog::Keys { waiting, .. } if self.opened == model.dialog => *waiting,
            _ => None,
        }
    }

    /// Returns the command whose new key the key sheet waits for, and stops waiting for it.
    pub(super) fn take_waiting(&mut self) -> Option<Command> {
        match &mut self.now {
            Dialog::Keys { waiting, .. } => waiting.take(),
            _ => None,
        }
    }
}

fn unsaved(context: &egui::Context, model: &Model, next: &Next, actions: &mut Vec<Action>) {
    let response = widgets::modal(context, "unsaved").show(context, |ui| {
        ui.set_width(380.0);
        ui.heading("Save your changes?");
        ui.label(format!(
            "{} has unsaved changes. They will be lost if you continue without saving.",
            model.document.title()
        ));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if widgets::primary(ui, "Save").clicked() {
                actions.push(Action::Show(Dialog::None));
                match model.document.path() {
                    Some(path) => {
                        let path = path.to_owned();
                        actions.push(Action::Path(path, Purpose::Save, Some(next.clone())));
                    }
                    None => actions.push(Action::Show(Dialog::Path {
                        purpose: Purpose::Save,
                        text: format!(
                            "{}.scenario.json",
                            model.document.title().to_lowercase().replace(' ', "-")
                        ),
                        then: Some(next.clone()),
                    })),
                }
            }
            if ui.button("Don't save").clicked() {
                actions.push(Action::Go(next.clone()));
            }
            if ui.button("Cancel").clicked() {
                actions.push(Action::Show(Dialog::None));
            }
        });
    });
    if response.should_close() {
        actions.push(Action::Show(Dialog::None));
    }
}

/// Warning about native plugins. The documentation of plugins contains the same text.
const WARNING: &str = "Native plugins run with all your permissions: they can read files, use the network \
    and crash or corrupt Roadwright. Allow only plugins that you built or trust.";

/// Asks for permission to run a build, once for each build.
fn allow_plugin(context: &egui::Context, model: &Model, actions: &mut Vec<Action>) {
    // No build waits for permission any more.
    let Some(file) = model.modules.unallowed.first() else {
        actions.push(Action::Show(Dialog::None));
        return;
    };
    let name = file.info.as_ref().map_or_else(String::new, |info| {
        format!("{} {}", info.name, info.version)
    });
    let response = widgets::modal(context, "allow plugin").show(context, |ui| {
        ui.set_width(460.0);
        ui.heading("Allow this plugin to run?");
        ui.label(RichText::new(&name).strong());
        if let Some(info) = &file.info {
            ui.label(format!(
                "{} ({}, {})",
                info.doc,
                info.kinds.join(", "),
                info.id
            ));
        }
        ui.label(RichText::new(file.path.display().to_string()).small());
        let hash = RichText::new(format!("hash {}", file.hash))
            .monospace()
            .small();
        ui.label(hash);
        ui.add_space(6.0);
        ui.colored_label(model.theme().tone(crate::tools::Tone::Warning), WARNING);
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let hash = || file.hash.clone();
            if widgets::primary(ui, "Allow").clicked() {
                actions.push(Action::Module(ModuleAction::Allow(hash())));
            }
            always(ui, model, actions);
            if ui.button("Not now").clicked() {
                actions.push(Action::Module(ModuleAction::Decline(hash())));
            }
        });
    });
    if response.should_close() {
        actions.push(Action::Module(ModuleAction::Decline(file.hash.clone())));
    }
}

/// Shows the option to allow all builds of a folder, or the reason why that would be unsafe.
fn always(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some(folder) = model.modules.folders.first() else {
        return;
    };
    let button = egui::Button::new("Always allow builds from this folder");
    let button = ui.add_enabled(folder.is_ok(), button);
    match folder {
        Ok(folder) => {
            let hint = "Newer builds in this folder will run without asking. You can revoke this in the Modules \
                panel.";
            if button.on_hover_text(hint).clicked() {
                actions.push(Action::Module(ModuleAction::AllowFolder(folder.clone())));
            }
        }
        Err(why) => {
            button.on_disabled_hover_text(why);
        }
    }
}

/// Shows the dialog for a native call that hangs.
fn hang(context: &egui::Context, hang: &Hang, actions: &mut Vec<Action>) {
    widgets::modal(context, "hang").show(context, |ui| {
        ui.set_width(460.0);
        ui.heading("A plugin is not responding");
        ui.label(format!(
            "{} has been computing for {:.0} s. A native call cannot be stopped: wait, or restart without \
             the plugin. An isolated plugin can be stopped.",
            hang.module,
            hang.milliseconds as f64 / 1000.0
        ));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            // Waiting is the default: the dialog closes when the call returns.
            ui.label("Waiting\u{2026}");
            ui.spinner();
            if ui.button("Restart without the plugin").clicked() {
                let restart = ModuleAction::RestartWithout(hang.module.clone());
                actions.push(Action::Module(restart));
            }
        });
    });
}

/// Shows the dialog for a module that timed out.
fn timed_out(context: &egui::Context, what: &str, actions: &mut Vec<Action>) {
    widgets::modal(context, "timed out").show(context, |ui| {
        ui.set_width(460.0);
        ui.heading("A module did not respond in time");
        ui.label(format!(
            "{what}. The simulation is paused. If you continue, a fresh instance or the built-in module \
             takes over; the result then depends on the speed of this machine and cannot be reproduced."
        ));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if widgets::primary(ui, "Stay paused").clicked() {
                let pause = ModuleAction::TimedOut { goes_on: false };
                actions.push(Action::Module(pause));
            }
            if ui.button("Continue anyway").clicked() {
                let proceed = ModuleAction::TimedOut { goes_on: true };
                actions.push(Action::Module(proceed));
            }
        });
    });
}

/// Shows a bar with the message that another program has written the file.
pub(super) fn changed_on_disk(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let color = model.theme().tone(crate::tools::Tone::Warning);
        ui.colored_label(color, "Another program has changed the file.");
        if ui.button("Reload").clicked() {
            actions.push(Action::Reload);
        }
        if ui.button("Keep mine").clicked() {
            actions.push(Action::KeepMine);
        }
    });
}
