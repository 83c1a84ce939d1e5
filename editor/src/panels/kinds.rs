//! Vehicle types and stacks: what agents are made of.

use super::modules::Dragged;
use super::widgets::{Number, change, choice, heading};
use crate::model::{Action, Model};
use egui::{CollapsingHeader, Grid, Ui};
use roadwright_agent::{ParameterInfo, ParameterKind, Slot};
use roadwright_scenario::{Edit, ModuleSetting, Stack, VehicleType};

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    heading(ui, "Vehicle types");
    for (key, kind) in model.document.scenario().vehicle_types() {
        CollapsingHeader::new(key)
            .id_salt(("vehicle type", key))
            .show(ui, |ui| vehicle_type(ui, key, kind, actions));
    }
    heading(ui, "Stacks");
    for (key, stack) in model.document.scenario().stacks() {
        CollapsingHeader::new(key)
            .id_salt(("stack", key))
            .show(ui, |ui| self::stack(ui, model, key, stack, actions));
    }
}

/// Name, unit, range, step and place of each property of a vehicle type.
type Property = (
    &'static str,
    &'static str,
    (f64, f64),
    f64,
    fn(&mut VehicleType) -> &mut f64,
);

const PROPERTIES: [Property; 11] = [
    ("Length", "m", (0.1, 1e4), 0.05, |v| &mut v.length),
    ("Width", "m", (0.1, 1e4), 0.02, |v| &mut v.width),
    ("Height", "m", (0.1, 1e4), 0.02, |v| &mut v.height),
    ("Wheelbase", "m", (0.1, 1e4), 0.02, |v| &mut v.wheelbase),
    ("Rear overhang", "m", (0.01, 1e4), 0.02, |v| {
        &mut v.rear_overhang
    }),
    ("Mass", "kg", (1.0, 1e6), 5.0, |v| &mut v.mass),
    ("Top speed", "m/s", (0.1, 150.0), 0.2, |v| &mut v.max_speed),
    ("Acceleration", "m/s²", (0.1, 50.0), 0.05, |v| {
        &mut v.max_acceleration
    }),
    ("Braking", "m/s²", (0.1, 50.0), 0.05, |v| {
        &mut v.max_braking
    }),
    ("Steering lock", "rad", (0.01, 1.55), 0.005, |v| {
        &mut v.max_steering
    }),
    ("Steering rate", "rad/s", (0.01, 50.0), 0.01, |v| {
        &mut v.steering_rate
    }),
];

fn vehicle_type(ui: &mut Ui, key: &str, kind: &VehicleType, actions: &mut Vec<Action>) {
    Grid::new(("vehicle", key)).num_columns(2).show(ui, |ui| {
        for (name, unit, (min, max), step, property) in PROPERTIES {
            let mut changed = kind.clone();
            let number = Number {
                name,
                value: *property(&mut changed),
                range: min..=max,
                unit,
                step,
                hint: "Of all vehicles of this type.",
            };
            let (value, response) = number.ui(ui);
            *property(&mut changed) = value;
            let edit = || Edit::VehicleType(key.to_owned(), Some(Box::new(changed)));
            change(&response, &format!("{name} of {key}"), edit, actions);
        }
    });
}

fn stack(ui: &mut Ui, model: &Model, key: &str, stack: &Stack, actions: &mut Vec<Action>) {
    for slot in Slot::ALL {
        let dropped = slot_rows(ui, model, (key, slot), stack, actions);
        if let Some(id) = dropped {
            let mut changed = stack.clone();
            *slot.setting_mut(&mut changed) = ModuleSetting::new(&id);
            let edit = Edit::Stack(key.to_owned(), Some(Box::new(changed)));
            actions.push(Action::Apply(format!("{} of {key}", title(slot)), edit));
        }
    }
}

fn title(slot: Slot) -> &'static str {
    match slot {
        Slot::Planner => "Planner",
        Slot::Behaviour => "Behaviour",
        Slot::Controller => "Controller",
        Slot::Fitness => "Fitness",
    }
}

/// The module of a slot and its parameters; the id of another one if that was chosen or dropped.
fn slot_rows(
    ui: &mut Ui,
    model: &Model,
    (key, slot): (&str, Slot),
    stack: &Stack,
    actions: &mut Vec<Action>,
) -> Option<String> {
    let setting = slot.setting_mut(&mut stack.clone()).clone();
    let all = model.modules.registry.infos(slot);
    let names: Vec<(String, String)> = all
        .iter()
        .map(|(info, _)| (info.id.to_owned(), info.name.to_owned()))
        .collect();
    let frame = egui::Frame::NONE.inner_margin(2.0);
    let (chosen, dropped) = ui.dnd_drop_zone::<Dragged, _>(frame, |ui| {
        ui.horizontal(|ui| {
            ui.label(title(slot));
            choice(
                ui,
                &format!("{} of {key}", title(slot)),
                &setting.module,
                &names,
            )
        })
        .inner
    });
    let dropped = dropped.filter(|dragged| dragged.slot == slot);
    let chosen = chosen
        .inner
        .or_else(|| dropped.map(|dragged| dragged.id.clone()));
    let Some((info, parameters)) = all.iter().find(|(info, _)| info.id == setting.module) else {
        let text = format!("{} is not there: no folder has it.", setting.module);
        ui.colored_label(model.theme().tone(crate::tools::Tone::Warning), text);
        return chosen;
    };
    ui.label(egui::RichText::new(info.doc).weak().small());
    if parameters.is_empty() {
        return chosen;
    }
    let open = slot == Slot::Controller || !setting.parameters.is_empty();
    CollapsingHeader::new(format!("{} parameters", parameters.len()))
        .id_salt(("parameters of", key, slot.name()))
        .default_open(open)
        .show(ui, |ui| {
            Grid::new(("parameters", key, slot.name()))
                .num_columns(2)
                .show(ui, |ui| {
                    for parameter in *parameters {
                        let value = setting.parameters.get(parameter.key).copied();
                        let value = value.unwrap_or(parameter.default);
                        let with = |value: f64| {
                            let mut changed = stack.clone();
                            let values = &mut slot.setting_mut(&mut changed).parameters;
                            if value == parameter.default {
                                values.remove(parameter.key);
                            } else {
                                values.insert(parameter.key.to_owned(), value);
                            }
                            Edit::Stack(key.to_owned(), Some(Box::new(changed)))
                        };
                        self::parameter(ui, key, parameter, value, with, actions);
                    }
                });
        });
    chosen
}

/// One described parameter, as its description says.
fn parameter(
    ui: &mut Ui,
    stack: &str,
    info: &ParameterInfo,
    value: f64,
    with: impl Fn(f64) -> Edit,
    actions: &mut Vec<Action>,
) {
    let label = format!("{} of {stack}", info.key);
    if let ParameterKind::Choice(words) = info.kind {
        ui.label(info.key).on_hover_text(info.doc);
        let all: Vec<(usize, String)> = words.iter().map(|w| (*w).to_owned()).enumerate().collect();
        if let Some(index) = choice(ui, &label, &(value as usize), &all) {
            actions.push(Action::Apply(label, with(index as f64)));
        }
        ui.end_row();
        return;
    }
    let number = Number {
        name: info.key,
        value,
        range: info.min..=info.max,
        unit: info.unit,
        step: (info.max - info.min) / 500.0,
        hint: info.doc,
    };
    let (value, response) = number.ui(ui);
    change(&response, &label, || with(value), actions);
}
