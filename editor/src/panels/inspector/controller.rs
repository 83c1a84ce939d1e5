//! The parameters of the module that controls signals.

use super::super::kinds::parameter;
use super::super::property::Subject;
use crate::model::Model;
use crate::tools::Tone;
use egui::{CollapsingHeader, Grid, RichText, Ui};
use roadwright_agent::{ModuleKind, ParameterInfo};
use roadwright_scenario::{Edit, Node, SignalControllerSetting};

/// Shows the description and parameters of the signal controller module. Shows nothing if a mode
/// controls the signals.
pub(super) fn ui(ui: &mut Ui, model: &Model, subject: &mut Subject<'_, Node>) {
    let plan = subject.object.rules.plan.as_ref();
    let Some((_, Some(setting))) = plan.map(|plan| plan.decided_by()) else {
        return;
    };
    let all = model.modules.registry.infos(ModuleKind::SignalController);
    let Some((info, parameters)) = all.iter().find(|(info, _)| info.id == setting.module) else {
        let text = format!(
            "{} is missing: no module folder contains it, so a run cannot start.",
            setting.module
        );
        ui.colored_label(model.theme().tone(Tone::Warning), text);
        return;
    };
    ui.label(RichText::new(info.doc).weak().small());
    if parameters.is_empty() {
        return;
    }
    CollapsingHeader::new(format!("{} parameters", parameters.len()))
        .id_salt(("parameters of signals", &subject.name))
        .default_open(true)
        .show(ui, |ui| {
            Grid::new("parameters of signals")
                .num_columns(2)
                .show(ui, |ui| {
                    for info in *parameters {
                        // Parameters missing in the plan have their default.
                        let value = setting.parameters.get(info.key).copied();
                        let value = value.unwrap_or(info.default);
                        let with = |value: f64| changed(subject.object, subject.edit, info, value);
                        parameter(ui, &subject.name, info, value, with, subject.actions);
                    }
                });
        });
}

/// The edit that sets a parameter; a default value is not written.
fn changed(node: &Node, edit: &dyn Fn(Node) -> Edit, info: &ParameterInfo, value: f64) -> Edit {
    let mut node = node.clone();
    let plan = node.rules.plan.as_mut();
    if let Some(setting) = plan.and_then(|plan| plan.controller.as_mut()) {
        set(setting, info, value);
    }
    edit(node)
}

fn set(setting: &mut SignalControllerSetting, info: &ParameterInfo, value: f64) {
    // This keeps files short and follows later changes of the default.
    if value == info.default {
        setting.parameters.remove(info.key);
    } else {
        setting.parameters.insert(info.key.to_owned(), value);
    }
}
