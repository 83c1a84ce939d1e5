//! Windows over the others: questions, paths, palette, keys, search, welcome.

use super::{keys, palette, welcome, widgets};
use crate::jobs::scenario_path;
use crate::model::{Action, Dialog, Model, ModuleAction, Next, Purpose};
use egui::{Key, RichText, Role, Ui, WidgetInfo};
use roadwright_extension::Hang;
use std::path::PathBuf;

pub(super) fn ui(
    ui: &mut Ui,
    model: &mut Model,
    welcome: &mut welcome::Welcome,
    actions: &mut Vec<Action>,
) {
    let context = ui.ctx().clone();
    if let Some(stuck) = &model.modules.hang {
        hang(&context, stuck, actions);
        return;
    }
    if let Some(what) = &model.modules.timed_out {
        timed_out(&context, what, actions);
        return;
    }
    let mut dialog = std::mem::take(&mut model.dialog);
    match &mut dialog {
        Dialog::None => {}
        Dialog::Welcome => welcome.ui(&context, model, actions),
        Dialog::Unsaved(next) => unsaved(&context, model, next, actions),
        Dialog::Path {
            purpose,
            text,
            then,
        } => path(&context, *purpose, text, then, actions),
        Dialog::Palette { query, line } => palette::ui(&context, model, query, line, actions),
        Dialog::Keys { waiting, filter } => keys::ui(&context, model, waiting, filter, actions),
        Dialog::AllowPlugin => allow_plugin(&context, model, actions),
        Dialog::Search { query } => palette::search(&context, model, query, actions),
    }
    // Text that was typed goes back; what an action closes is closed after the frame.
    if model.dialog == Dialog::None {
        model.dialog = dialog;
    }
}

fn unsaved(context: &egui::Context, model: &Model, next: &Next, actions: &mut Vec<Action>) {
    let response = widgets::modal(context, "unsaved").show(context, |ui| {
        ui.set_width(380.0);
        ui.heading("Save your changes?");
        ui.label(format!(
            "{} has changes that are not saved. They are lost if you go on without saving.",
            model.document.title()
        ));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if ui.button("Save").clicked() {
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

/// What stands in the documentation on security, word by word where it concerns this question.
const WARNING: &str = "Native plugins run with all your rights: they can read files, use the \
    network and crash or corrupt Roadwright. Load only what you built or trust.";

/// Asks once for each build.
fn allow_plugin(context: &egui::Context, model: &Model, actions: &mut Vec<Action>) {
    let Some(file) = model.modules.unallowed.first() else {
        actions.push(Action::Show(Dialog::None));
        return;
    };
    let name = file.info.as_ref().map_or_else(String::new, |info| {
        format!("{} {}", info.name, info.version)
    });
    let response = widgets::modal(context, "allow plugin").show(context, |ui| {
        ui.set_width(460.0);
        ui.heading("Let this plugin run?");
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
            if ui.button("Let it run").clicked() {
                actions.push(Action::Module(ModuleAction::Allow(hash())));
            }
            if ui.button("Not now").clicked() {
                actions.push(Action::Module(ModuleAction::Decline(hash())));
            }
        });
    });
    if response.should_close() {
        actions.push(Action::Module(ModuleAction::Decline(file.hash.clone())));
    }
}

/// A native call that does not come back.
fn hang(context: &egui::Context, hang: &Hang, actions: &mut Vec<Action>) {
    widgets::modal(context, "hang").show(context, |ui| {
        ui.set_width(460.0);
        ui.heading("A plugin does not answer");
        ui.label(format!(
            "{} has been computing for {:.0} s. A native call cannot be stopped: wait for it, or \
             start anew without it. In isolated mode it could be stopped.",
            hang.module,
            hang.milliseconds as f64 / 1000.0
        ));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            // Waiting is what happens anyway: the window goes when the call comes back.
            ui.label("Waiting\u{2026}");
            ui.spinner();
            if ui.button("Keep my work and restart without it").clicked() {
                let restart = ModuleAction::RestartWithout(hang.module.clone());
                actions.push(Action::Module(restart));
            }
        });
    });
}

/// A module that the clock has stopped.
fn timed_out(context: &egui::Context, what: &str, actions: &mut Vec<Action>) {
    widgets::modal(context, "timed out").show(context, |ui| {
        ui.set_width(460.0);
        ui.heading("A module did not answer in time");
        ui.label(format!(
            "{what}. The simulation is paused. If it goes on, a fresh instance or the built-in \
             module drives, and the result depends on the speed of this machine: it cannot be \
             reproduced."
        ));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            for (text, goes_on) in [("Stay paused", false), ("Go on all the same", true)] {
                if ui.button(text).clicked() {
                    actions.push(Action::Module(ModuleAction::TimedOut { goes_on }));
                }
            }
        });
    });
}

fn path(
    context: &egui::Context,
    purpose: Purpose,
    text: &mut String,
    then: &Option<Next>,
    actions: &mut Vec<Action>,
) {
    let (title, button, hint) = match purpose {
        Purpose::Open => ("Open a scenario", "Open", "path of a .scenario.json file"),
        Purpose::Save => ("Save the scenario", "Save", "path of a .scenario.json file"),
        Purpose::Import => (
            "Import OpenStreetMap",
            "Import",
            "path of an .osm or .osm.pbf file",
        ),
        Purpose::Picture => ("Export picture", "Write", "path of a .png file"),
        Purpose::Background => ("Background picture", "Place", "path of a .png or .jpg file"),
    };
    let response = widgets::modal(context, "path").show(context, |ui| {
        ui.set_width(520.0);
        ui.heading(title);
        ui.add_space(4.0);
        let edit = egui::TextEdit::singleline(text)
            .hint_text(hint)
            .desired_width(f32::INFINITY);
        let response = ui.add(edit);
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Path"));
        if !response.has_focus() && !response.lost_focus() {
            response.request_focus();
        }
        let entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
        let typed = PathBuf::from(text.trim());
        let exists = match purpose {
            Purpose::Save => scenario_path(&typed).exists(),
            _ => typed.exists(),
        };
        match purpose {
            Purpose::Save | Purpose::Picture if exists => {
                ui.label(RichText::new("This file exists and will be replaced.").small());
            }
            Purpose::Open | Purpose::Import | Purpose::Background
                if !exists && !text.trim().is_empty() =>
            {
                ui.label(RichText::new("There is no such file.").small());
            }
            _ => {}
        }
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let ready = !text.trim().is_empty();
            let go = ui.add_enabled(ready, egui::Button::new(button)).clicked();
            if (go || entered) && ready {
                actions.push(Action::Path(typed, purpose, then.clone()));
            }
            if ui.button("Browse…").clicked() {
                actions.push(Action::Browse(purpose, then.clone()));
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

/// The bar that says that someone else has written the file.
pub(super) fn changed_on_disk(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let color = model.theme().tone(crate::tools::Tone::Warning);
        ui.colored_label(color, "The file was changed by another program.");
        if ui.button("Reload it").clicked() {
            actions.push(Action::Reload);
        }
        if ui.button("Keep mine").clicked() {
            actions.push(Action::KeepMine);
        }
    });
}
