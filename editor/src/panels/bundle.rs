//! The dialog that shows a bundle before it is unpacked.

use super::widgets;
use crate::model::OpenBundle;
use crate::model::{Action, Dialog, Model};
use crate::tools::Tone;
use egui::{RichText, Role, ScrollArea, Ui, WidgetInfo};
use std::path::PathBuf;

pub(super) fn ui(
    context: &egui::Context,
    model: &Model,
    folder: &mut String,
    presets: &mut bool,
    actions: &mut Vec<Action>,
) {
    // The bundle was unpacked or closed in the meantime.
    let Some(open) = &model.bundle else {
        actions.push(Action::Show(Dialog::None));
        return;
    };
    let response = widgets::modal(context, "bundle").show(context, |ui| {
        ui.set_width(520.0);
        ui.heading(&open.bundle.manifest().name);
        contents(ui, open);
        lacks(ui, model, open);
        if !open.presets.is_empty() {
            let text = format!("Add its {} road presets to my presets", open.presets.len());
            ui.checkbox(presets, text);
        }
        ui.add_space(6.0);
        ui.label("Unpack into this new or empty folder:");
        let edit = egui::TextEdit::singleline(folder).desired_width(f32::INFINITY);
        let edit = ui.add(edit);
        edit.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Folder"));
        ui.label(RichText::new("Nothing runs until you press play.").small());
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let has_folder = !folder.trim().is_empty();
            if widgets::primary_if(ui, has_folder, "Unpack and open").clicked() {
                let folder = PathBuf::from(folder.trim());
                let presets = *presets;
                actions.push(Action::Unpack { folder, presets });
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

/// Shows the contents of the bundle and the sources of its data.
fn contents(ui: &mut Ui, open: &OpenBundle) {
    let manifest = open.bundle.manifest();
    let bytes: u64 = manifest.files.values().map(|file| file.bytes).sum();
    let count = manifest.files.len();
    let files = if count == 1 { "file" } else { "files" };
    ui.label(format!(
        "{count} {files}, {:.1} kB unpacked",
        bytes as f64 / 1000.0
    ));
    ScrollArea::vertical().max_height(120.0).show(ui, |ui| {
        for path in manifest.files.keys() {
            ui.label(RichText::new(path).monospace());
        }
    });
    for licence in manifest.licences.values() {
        ui.label(format!("Data: {licence}"));
    }
}

/// Lists modules and files that the scenario of the bundle needs but that are missing here.
fn lacks(ui: &mut Ui, model: &Model, open: &OpenBundle) {
    for lack in &open.lacks {
        let color = model.theme().tone(Tone::Warning);
        ui.colored_label(color, lack.to_string());
    }
}
