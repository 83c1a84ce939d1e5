//! Lists of the scenario's vehicle types and stacks, with their properties.

use super::modules::Dragged;
use super::parameter_table::{self, TouchedCell, without_tables};
use super::property::{OF, Property, Subject};
use super::widgets::{Number, change, choice, heading, named};
use crate::kind_edits::Kind;
use crate::model::{Action, Model, Tone};
use egui::{CollapsingHeader, Grid, Role, Ui, WidgetInfo};
use roadwright_agent::{ParameterInfo, ParameterKind, Slot, write_value};
use roadwright_scenario::{BodyKind, Edit, ModuleSetting, OffRoad, Scenario, Stack, VehicleType};
use std::ops::RangeInclusive;

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    heading(ui, "Vehicle types");
    for (key, kind) in scenario.listed_vehicle_types() {
        let shown = CollapsingHeader::new(key)
            .id_salt(("vehicle type", key))
            .show(ui, |ui| {
                naming(ui, model, Kind::VehicleType, key, actions);
                if kind.body == BodyKind::Vehicle {
                    super::workshop::open_button(ui, key, actions);
                }
                vehicle_type(ui, key, kind, actions);
            });
        let header = &shown.header_response;
        super::reorder::header(ui, header, scenario, Kind::VehicleType, key, actions);
    }
    add_person(ui, scenario, actions);
    heading(ui, "Stacks");
    for (key, stack) in scenario.listed_stacks() {
        let shown = CollapsingHeader::new(key)
            .id_salt(("stack", key))
            .show(ui, |ui| {
                naming(ui, model, Kind::Stack, key, actions);
                self::stack(ui, model, key, stack, actions);
            });
        let header = &shown.header_response;
        super::reorder::header(ui, header, scenario, Kind::Stack, key, actions);
    }
}

/// Shows the button that adds a vehicle type and a stack for people on foot, if the scenario has no characters.
fn add_person(ui: &mut Ui, scenario: &Scenario, actions: &mut Vec<Action>) {
    let mut types = scenario.vehicle_types().values();
    if types.any(|kind| kind.body == BodyKind::Character) {
        return;
    }
    let hint = "Adds a vehicle type for people on foot, and the stack that they use.";
    if ui.button("Add person").on_hover_text(hint).clicked() {
        let free = |taken: &dyn Fn(&str) -> bool, name: &str| {
            let numbered = (2..).map(|number| format!("{name}_{number}"));
            let mut names = std::iter::once(name.to_owned()).chain(numbered);
            names.find(|name| !taken(name)).unwrap_or_default()
        };
        let key = free(&|key| scenario.vehicle_types().contains_key(key), "person");
        let mut edits = vec![Edit::VehicleType(
            key,
            Some(Box::new(VehicleType::person())),
        )];
        let on_foot = Stack::on_foot();
        if !scenario.stacks().values().any(|stack| *stack == on_foot) {
            let key = free(&|key| scenario.stacks().contains_key(key), "on_foot");
            edits.push(Edit::Stack(key, Some(Box::new(on_foot))));
        }
        actions.push(Action::Apply("Add person".into(), Edit::Batch(edits)));
    }
}

/// Returns the keys and names of the available vehicle types, in the order of their list.
pub(super) fn vehicle_types(scenario: &Scenario) -> Vec<(String, String)> {
    let types = scenario.listed_vehicle_types().into_iter();
    types.map(|(k, v)| (k.clone(), v.name.clone())).collect()
}

/// Returns the keys of the available stacks in the order of their list. The key of a stack is also
/// its name.
pub(super) fn stacks(scenario: &Scenario) -> Vec<(String, String)> {
    let stacks = scenario.listed_stacks().into_iter();
    stacks.map(|(key, _)| (key.clone(), key.clone())).collect()
}

/// Shows the editable name of a vehicle type or stack, and buttons to copy and delete it.
fn naming(ui: &mut Ui, model: &Model, kind: Kind, key: &str, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    let word = kind.word();
    // Typed text is kept until the field loses the focus, because a half-typed name may be taken.
    let id = ui.make_persistent_id(("name of", word, key));
    let mut name: String = ui
        .data(|data| data.get_temp(id))
        .unwrap_or_else(|| key.to_owned());
    ui.horizontal_wrapped(|ui| {
        let field = ui.add(egui::TextEdit::singleline(&mut name).desired_width(130.0));
        let label = format!("Name of {word} {key}");
        field.widget_info(move || WidgetInfo::labeled(Role::TextInput, true, &label));
        if field.has_focus() {
            ui.data_mut(|data| data.insert_temp(id, name.clone()));
        }
        if field.lost_focus() {
            ui.data_mut(|data| data.remove_temp::<String>(id));
            if name.trim() != key {
                send(
                    kind.renamed(scenario, key, name.trim()),
                    "Rename",
                    kind,
                    actions,
                );
            }
        }
        if ui.small_button(format!("Copy {key}")).clicked() {
            send(kind.copied(scenario, key), "Copy", kind, actions);
        }
        if ui.small_button(format!("Delete {key}")).clicked() {
            send(kind.deleted(scenario, key), "Delete", kind, actions);
        }
        super::reorder::buttons(ui, scenario, kind, key, actions);
    });
}

/// Requests an edit, or reports why it is impossible.
fn send(edit: Result<Edit, String>, what: &str, kind: Kind, actions: &mut Vec<Action>) {
    actions.push(match edit {
        Ok(edit) => Action::Apply(format!("{what} {}", kind.word()), edit),
        Err(why) => Action::Say(Tone::Refused, why),
    });
}

/// Describes a numeric property of a vehicle type.
const fn number(
    name: &'static str,
    unit: &'static str,
    range: RangeInclusive<f64>,
    step: f64,
    get: fn(&VehicleType) -> Option<f64>,
    set: fn(&mut VehicleType, f64),
) -> Property<VehicleType> {
    Property {
        name,
        label: OF,
        unit,
        range,
        step,
        hint: "Applies to all vehicles of this type.",
        get,
        set,
    }
}

const BODY: [Property<VehicleType>; 6] = [
    number(
        "Length",
        "m",
        0.1..=1e4,
        0.05,
        |vehicle| Some(vehicle.length.get()),
        |vehicle, length| vehicle.length = length.into(),
    ),
    number(
        "Width",
        "m",
        0.1..=1e4,
        0.02,
        |vehicle| Some(vehicle.width.get()),
        |vehicle, width| vehicle.width = width.into(),
    ),
    number(
        "Height",
        "m",
        0.1..=1e4,
        0.02,
        |vehicle| Some(vehicle.height.get()),
        |vehicle, height| vehicle.height = height.into(),
    ),
    number(
        "Wheelbase",
        "m",
        0.1..=1e4,
        0.02,
        |vehicle| Some(vehicle.wheelbase.get()),
        |vehicle, wheelbase| vehicle.wheelbase = wheelbase.into(),
    ),
    number(
        "Rear overhang",
        "m",
        0.01..=1e4,
        0.02,
        |vehicle| Some(vehicle.rear_overhang.get()),
        |vehicle, overhang| vehicle.rear_overhang = overhang.into(),
    ),
    number(
        "Mass",
        "kg",
        1.0..=1e6,
        5.0,
        |vehicle| Some(vehicle.mass.get()),
        |vehicle, mass| vehicle.mass = mass.into(),
    ),
];

const LIMITS: [Property<VehicleType>; 5] = [
    number(
        "Top speed",
        "m/s",
        0.1..=150.0,
        0.2,
        |vehicle| Some(vehicle.max_speed.get()),
        |vehicle, speed| vehicle.max_speed = speed.into(),
    ),
    number(
        "Acceleration",
        "m/s²",
        0.1..=50.0,
        0.05,
        |vehicle| Some(vehicle.max_acceleration.get()),
        |vehicle, acceleration| vehicle.max_acceleration = acceleration.into(),
    ),
    number(
        "Braking",
        "m/s²",
        0.1..=50.0,
        0.05,
        |vehicle| Some(vehicle.max_braking.get()),
        |vehicle, braking| vehicle.max_braking = braking.into(),
    ),
    number(
        "Steering lock",
        "rad",
        0.01..=1.55,
        0.005,
        |vehicle| Some(vehicle.max_steering.get()),
        |vehicle, angle| vehicle.max_steering = angle.into(),
    ),
    number(
        "Steering rate",
        "rad/s",
        0.01..=50.0,
        0.01,
        |vehicle| Some(vehicle.steering_rate.get()),
        |vehicle, rate| vehicle.steering_rate = rate.into(),
    ),
];

/// Numeric properties of a character.
const ON_FOOT: [Property<VehicleType>; 7] = [
    number(
        "Diameter",
        "m",
        0.1..=5.0,
        0.01,
        |person| Some(person.length.get()),
        |person, diameter| {
            person.length = diameter.into();
            person.width = diameter.into();
            person.rear_overhang = (0.5 * diameter).into();
        },
    ),
    number(
        "Height",
        "m",
        0.1..=10.0,
        0.02,
        |person| Some(person.height.get()),
        |person, height| person.height = height.into(),
    ),
    number(
        "Mass",
        "kg",
        1.0..=1e6,
        1.0,
        |person| Some(person.mass.get()),
        |person, mass| person.mass = mass.into(),
    ),
    number(
        "Top speed",
        "m/s",
        0.1..=15.0,
        0.05,
        |person| Some(person.max_speed.get()),
        |person, speed| person.max_speed = speed.into(),
    ),
    number(
        "Acceleration",
        "m/s²",
        0.1..=50.0,
        0.05,
        |person| Some(person.max_acceleration.get()),
        |person, acceleration| person.max_acceleration = acceleration.into(),
    ),
    number(
        "Braking",
        "m/s²",
        0.1..=50.0,
        0.05,
        |person| Some(person.max_braking.get()),
        |person, braking| person.max_braking = braking.into(),
    ),
    number(
        "Angular acceleration",
        "rad/s²",
        0.1..=50.0,
        0.1,
        |person| Some(person.steering_rate.get()),
        |person, rate| person.steering_rate = rate.into(),
    ),
];

/// Shows the row for the conditions under which a vehicle type leaves the lanes.
fn off_road(ui: &mut Ui, key: &str, kind: &VehicleType, actions: &mut Vec<Action>) {
    let all = OffRoad::ALL.map(|off_road| {
        let words = match off_road {
            OffRoad::WhenNeeded => "when needed",
            OffRoad::Free => "free",
            OffRoad::Never => "never",
        };
        (off_road, words.to_owned())
    });
    ui.label("Off road").on_hover_text(
        "When vehicles of this type leave the lanes: only if the trip starts or ends off the \
         lanes, also to take short cuts, or never.",
    );
    let label = format!("Off-road use of {key}");
    if let Some(off_road) = choice(ui, &label, &kind.off_road, &all) {
        let changed = VehicleType {
            off_road,
            ..kind.clone()
        };
        let edit = Edit::VehicleType(key.to_owned(), Some(Box::new(changed)));
        actions.push(Action::Apply(label, edit));
    }
    ui.end_row();
}

fn vehicle_type(ui: &mut Ui, key: &str, kind: &VehicleType, actions: &mut Vec<Action>) {
    let mut subject = Subject {
        name: key.to_owned(),
        object: kind,
        edit: &|kind| Edit::VehicleType(key.to_owned(), Some(Box::new(kind))),
        actions,
    };
    Grid::new(("vehicle", key)).num_columns(2).show(ui, |ui| {
        match kind.body {
            BodyKind::Vehicle => {
                subject.numbers(ui, &BODY);
                subject.numbers(ui, &LIMITS);
            }
            BodyKind::Character => subject.numbers(ui, &ON_FOOT),
        }
        off_road(ui, key, kind, subject.actions);
    });
}

fn stack(ui: &mut Ui, model: &Model, key: &str, stack: &Stack, actions: &mut Vec<Action>) {
    for slot in Slot::ALL {
        let Some(settings) = slot_rows(ui, model, key, slot, stack, actions) else {
            continue;
        };
        let mut changed = stack.clone();
        // `set` refuses a number of modules that the slot cannot have.
        if changed.set(slot, settings) {
            let edit = Edit::Stack(key.to_owned(), Some(Box::new(changed)));
            actions.push(Action::Apply(format!("{} of {key}", slot.title()), edit));
        }
    }
}

/// Shows the modules of a slot with their parameters. Returns the new list if modules were selected, dropped
/// or removed.
fn slot_rows(
    ui: &mut Ui,
    model: &Model,
    key: &str,
    slot: Slot,
    stack: &Stack,
    actions: &mut Vec<Action>,
) -> Option<Vec<ModuleSetting>> {
    let settings = stack.settings(slot);
    let mut wanted = None;
    for number in 0..settings.len() {
        let row = SlotRow {
            key,
            slot,
            stack,
            number,
        };
        match row.ui(ui, model, actions) {
            Some(RowChange::Use(id)) => {
                let mut list = settings.to_vec();
                // The parameters of the previous module are dropped, because they do not apply to this one.
                list[number] = ModuleSetting::new(&id);
                wanted = Some(list);
            }
            Some(RowChange::TakeOut) => {
                let mut list = settings.to_vec();
                list.remove(number);
                wanted = Some(list);
            }
            None => {}
        }
    }
    if slot.how_many().fits(settings.len() + 1)
        && let Some(id) = added_module(ui, model, key, slot)
    {
        let mut list = settings.to_vec();
        list.push(ModuleSetting::new(&id));
        wanted = Some(list);
    }
    wanted
}

/// Shows the row that adds a module. The user selects the module from a list, or drops it here from
/// the Modules panel.
fn added_module(ui: &mut Ui, model: &Model, key: &str, slot: Slot) -> Option<String> {
    let name = slot.title().to_lowercase();
    let label = format!("Add {name} to {key}");
    let mut choices = vec![(String::new(), format!("add a {name}"))];
    choices.extend(known_modules(model, slot));
    let frame = egui::Frame::NONE.inner_margin(2.0);
    let (chosen, dropped) = ui.dnd_drop_zone::<Dragged, _>(frame, |ui| {
        ui.horizontal(|ui| {
            ui.label(slot.title());
            choice(ui, &label, &String::new(), &choices)
        })
        .inner
    });
    // Modules that do not fit the slot are ignored.
    let dropped = dropped.filter(|dragged| dragged.kind == slot.kind());
    chosen.inner.or_else(|| dropped.map(|one| one.id.clone()))
}

/// Returns the ids and names of the modules that fit into a slot.
fn known_modules(model: &Model, slot: Slot) -> Vec<(String, String)> {
    let infos = model.modules.registry.infos(slot.kind());
    infos
        .iter()
        .map(|(info, _)| (info.id.to_owned(), info.name.to_owned()))
        .collect()
}

/// Change of a module in a slot.
enum RowChange {
    Use(String),
    TakeOut,
}

/// One module of a slot.
struct SlotRow<'a> {
    key: &'a str,
    slot: Slot,
    stack: &'a Stack,
    number: usize,
}

impl SlotRow<'_> {
    fn setting(&self) -> &ModuleSetting {
        &self.stack.settings(self.slot)[self.number]
    }

    /// Returns the accessible name of the row. It has no number for the first module of a slot.
    fn label(&self) -> String {
        match self.number {
            0 => format!("{} of {}", self.slot.title(), self.key),
            more => format!("{} {} of {}", self.slot.title(), more + 1, self.key),
        }
    }

    fn ui(&self, ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) -> Option<RowChange> {
        let setting = self.setting();
        let change = self.header(ui, model);
        let all = model.modules.registry.infos(self.slot.kind());
        let Some((info, parameters)) = all.iter().find(|(info, _)| info.id == setting.module)
        else {
            let text = format!(
                "{} is missing: no module folder contains it.",
                setting.module
            );
            ui.colored_label(model.theme().tone(crate::tools::Tone::Warning), text);
            return change;
        };
        ui.label(egui::RichText::new(info.doc).weak().small());
        if !parameters.is_empty() {
            self.parameters(ui, parameters, actions);
        }
        change
    }

    /// Shows the module, with controls to change it. Returns the requested change.
    fn header(&self, ui: &mut Ui, model: &Model) -> Option<RowChange> {
        let names = known_modules(model, self.slot);
        let count = self.stack.settings(self.slot).len();
        let frame = egui::Frame::NONE.inner_margin(2.0);
        let (change, dropped) = ui.dnd_drop_zone::<Dragged, _>(frame, |ui| {
            ui.horizontal(|ui| {
                ui.label(self.slot.title());
                let label = self.label();
                let chosen = choice(ui, &label, &self.setting().module, &names);
                // A slot that needs a module keeps its last one.
                if !self.slot.how_many().fits(count - 1) {
                    return chosen.map(RowChange::Use);
                }
                let button = ui.small_button("×").on_hover_text("Remove it.");
                named(&button, &format!("Remove {label}"));
                if button.clicked() {
                    return Some(RowChange::TakeOut);
                }
                chosen.map(RowChange::Use)
            })
            .inner
        });
        let dropped = dropped.filter(|dragged| dragged.kind == self.slot.kind());
        let dropped = dropped.map(|dragged| RowChange::Use(dragged.id.clone()));
        change.inner.or(dropped)
    }

    fn parameters(&self, ui: &mut Ui, parameters: &[ParameterInfo], actions: &mut Vec<Action>) {
        let setting = self.setting();
        // Folded while all values are defaults, because otherwise the sheet of a stack with several modules
        // would be long.
        let open = self.slot == Slot::Controller || !setting.parameters.is_empty();
        let id = (self.key, self.slot.name(), self.number);
        let count = parameter_table::count(parameters);
        CollapsingHeader::new(format!("{count} parameters"))
            .id_salt(("parameters of", id))
            .default_open(open)
            .show(ui, |ui| {
                let (single, tables) = without_tables(parameters);
                let is_rule = |parameter: &&ParameterInfo| parameter.key.starts_with(RULE);
                let (rules, plain): (Vec<_>, Vec<_>) = single.into_iter().partition(is_rule);
                self.grid(ui, "parameters", parameters, &plain, actions);
                for cells in tables {
                    self.table(ui, parameters, cells, actions);
                }
                if !rules.is_empty() {
                    // There are dozens of rules, which are rarely set by hand.
                    CollapsingHeader::new(format!("{} rules", rules.len()))
                        .id_salt(("rules of", id))
                        .show(ui, |ui| self.grid(ui, "rules", parameters, &rules, actions));
                }
            });
    }

    fn grid(
        &self,
        ui: &mut Ui,
        name: &str,
        all: &[ParameterInfo],
        shown: &[&ParameterInfo],
        actions: &mut Vec<Action>,
    ) {
        let id = (self.key, self.slot.name(), self.number);
        Grid::new((name, id)).num_columns(2).show(ui, |ui| {
            for parameter in shown {
                // The edit is made only when the row changes, because it copies a stack.
                let with = |value: f64| self.edit(all, parameter, value);
                let value = self.value(parameter);
                self::parameter(ui, self.key, parameter, value, with, actions);
            }
        });
    }

    /// Returns the value of a parameter: the value set by the stack, or else the default.
    fn value(&self, parameter: &ParameterInfo) -> f64 {
        let value = self.setting().parameters.get(parameter.key).copied();
        value.unwrap_or(parameter.default)
    }

    fn table(
        &self,
        ui: &mut Ui,
        all: &[ParameterInfo],
        cells: &[ParameterInfo],
        actions: &mut Vec<Action>,
    ) {
        let owner = self.key;
        for cell in parameter_table::table(ui, owner, cells, |info| self.value(info)) {
            let TouchedCell {
                info,
                value,
                response,
            } = cell;
            let label = format!("{} of {owner}", info.key);
            change(&response, &label, || self.edit(all, info, value), actions);
        }
    }

    /// Returns the edit that sets a parameter; a default value is not written.
    fn edit(&self, all: &[ParameterInfo], parameter: &ParameterInfo, value: f64) -> Edit {
        let mut changed = self.stack.clone();
        let values = &mut changed.settings_mut(self.slot)[self.number].parameters;
        write_value(values, all, parameter, value);
        Edit::Stack(self.key.to_owned(), Some(Box::new(changed)))
    }
}

/// Prefix of the keys of a rule table's rules.
const RULE: &str = "rule_";

/// Shows the row of a parameter, built from its description. `owner` is the object to which the
/// parameter belongs.
pub(super) fn parameter(
    ui: &mut Ui,
    owner: &str,
    info: &ParameterInfo,
    value: f64,
    with: impl Fn(f64) -> Edit,
    actions: &mut Vec<Action>,
) {
    let label = format!("{} of {owner}", info.key);
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
        // Dragging by 500 points covers the whole range.
        step: (info.max - info.min) / 500.0,
        hint: info.doc,
    };
    let (value, response) = number.ui(ui);
    change(&response, &label, || with(value), actions);
}
