//! The parameters of the module that controls signals.

use super::super::kinds::parameter;
use super::super::parameter_table::{self, without_tables};
use super::super::property::Subject;
use super::super::widgets::change;
use crate::model::Model;
use crate::tools::Tone;
use egui::{CollapsingHeader, Grid, RichText, Ui};
use roadwright_agent::{ModuleKind, ParameterInfo, write_value};
use roadwright_scenario::{Edit, Node};

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
    // Parameters missing in the plan have their default.
    let value = |info: &ParameterInfo| {
        let value = setting.parameters.get(info.key).copied();
        value.unwrap_or(info.default)
    };
    let (single, tables) = without_tables(parameters);
    let count = parameter_table::count(parameters);
    CollapsingHeader::new(format!("{count} parameters"))
        .id_salt(("parameters of signals", &subject.name))
        .default_open(true)
        .show(ui, |ui| {
            Grid::new("parameters of signals")
                .num_columns(2)
                .show(ui, |ui| {
                    for info in single {
                        let with = |value: f64| {
                            changed(subject.object, subject.edit, parameters, info, value)
                        };
                        let actions = &mut *subject.actions;
                        parameter(ui, &subject.name, info, value(info), with, actions);
                    }
                });
            for cells in tables {
                for cell in parameter_table::table(ui, &subject.name, cells, value) {
                    let (node, edit) = (subject.object, subject.edit);
                    let label = format!("{} of {}", cell.info.key, subject.name);
                    let with = || changed(node, edit, parameters, cell.info, cell.value);
                    change(&cell.response, &label, with, subject.actions);
                }
            }
        });
}

/// Returns the edit that sets a parameter; a default value is not written.
fn changed(
    node: &Node,
    edit: &dyn Fn(Node) -> Edit,
    all: &[ParameterInfo],
    info: &ParameterInfo,
    value: f64,
) -> Edit {
    let mut node = node.clone();
    let plan = node.rules.plan.as_mut();
    if let Some(setting) = plan.and_then(|plan| plan.controller.as_mut()) {
        write_value(&mut setting.parameters, all, info, value);
    }
    edit(node)
}
