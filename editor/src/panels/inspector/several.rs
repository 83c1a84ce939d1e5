//! Properties of several objects of the same kind, which are changed together in one step.

use super::super::property::{Choice, Property, Subject, TextProperty};
use super::super::widgets::{change, choice, heading};
use super::{agent, road, traffic};
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_scenario::{Edit, Group, ObjectId};

/// The selected objects of a kind, with the function that converts a changed object to an edit.
struct All<'a, I, T> {
    objects: Vec<(I, &'a T)>,
    edit: fn(I, T) -> Edit,
}

impl<I: Copy, T: Clone> All<'_, I, T> {
    /// Shows a number. If the values differ, shows the number of the first object, with a text
    /// beside it.
    fn number(&self, ui: &mut Ui, property: &Property<T>, actions: &mut Vec<Action>) {
        let Some((_, first)) = self.objects.first() else {
            return;
        };
        let Some((value, response)) = property.row(ui, first) else {
            return;
        };
        let shown = (property.get)(first);
        if self
            .objects
            .iter()
            .any(|(_, other)| (property.get)(other) != shown)
        {
            ui.label("");
            ui.weak("mixed");
            ui.end_row();
        }
        let label = self.label(property.name);
        let edit = || self.changed(|object| (property.set)(object, value));
        change(&response, &label, edit, actions);
    }

    fn choice<V: PartialEq + Clone>(
        &self,
        ui: &mut Ui,
        property: &Choice<T, V>,
        all: &[(V, String)],
        actions: &mut Vec<Action>,
    ) {
        let Some((_, first)) = self.objects.first() else {
            return;
        };
        let shown = (property.get)(first);
        ui.label(property.title);
        let differ = self
            .objects
            .iter()
            .any(|(_, other)| (property.get)(other) != shown);
        ui.horizontal(|ui| {
            let chosen = choice(ui, property.name, shown, all);
            // Choosing the same value again sets it for all objects with other values.
            let same = differ && ui.small_button("All").clicked();
            if let Some(value) = chosen.or(same.then(|| shown.clone())) {
                let edit = self.changed(|object| (property.set)(object, value.clone()));
                actions.push(Action::Apply(self.label(property.title), edit));
            }
        });
        ui.end_row();
    }

    fn changed(&self, set: impl Fn(&mut T)) -> Edit {
        let changed = self.objects.iter().map(|(id, object)| {
            let mut object = (*object).clone();
            set(&mut object);
            (self.edit)(*id, object)
        });
        Edit::Batch(changed.collect())
    }

    fn label(&self, name: &str) -> String {
        format!("{name} of {} objects", self.objects.len())
    }
}

const NAME: [TextProperty<Group>; 1] = [TextProperty {
    name: "Group",
    label: "Rename {object}",
    hint: "Name of the group.",
    wraps: false,
    get: |group| &group.name,
    set: |group, name| group.name = name,
}];

/// Shows the name of the group if the whole selection belongs to one.
fn group(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    let first = model.selection.first();
    let Some(id) = first.and_then(|object| scenario.group_of(*object)) else {
        return;
    };
    let Some(group) = scenario.groups().get(&id) else {
        return;
    };
    if !model.selection.is_subset(group.members()) {
        return;
    }
    let mut subject = Subject {
        name: id.to_string(),
        object: group,
        edit: &|group| Edit::Group(id, Some(Box::new(group))),
        actions,
    };
    Grid::new("group")
        .num_columns(2)
        .show(ui, |ui| subject.texts(ui, &NAME));
}

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let count = model.selection.len();
    heading(ui, &format!("{count} objects"));
    ui.label("Move, rotate, copy or delete them together.");
    group(ui, model, actions);
    let scenario = model.document.scenario();
    let roads = model.selection.iter().filter_map(|object| match object {
        ObjectId::Road(id) => Some((*id, scenario.network().road(*id)?)),
        _ => None,
    });
    let roads = All {
        objects: roads.collect(),
        edit: |id, road| Edit::Road(id, Some(Box::new(road))),
    };
    let agents = model.selection.iter().filter_map(|object| match object {
        ObjectId::Agent(id) => Some((*id, scenario.agents().get(id)?)),
        _ => None,
    });
    let agents = All {
        objects: agents.collect(),
        edit: |id, agent| Edit::Agent(id, Some(Box::new(agent))),
    };
    Grid::new("several").num_columns(2).show(ui, |ui| {
        if roads.objects.len() == count {
            roads.choice(ui, &road::CLASS, &road::classes(), actions);
            roads.choice(ui, &road::ACCESS, &road::accesses(), actions);
            for property in &road::NUMBERS {
                roads.number(ui, property, actions);
            }
        } else if agents.objects.len() == count {
            agents.choice(ui, &agent::VEHICLE, &traffic::vehicle_types(model), actions);
            agents.choice(ui, &agent::STACK, &traffic::stacks(model), actions);
            agents.choice(ui, &agent::DYNAMICS, &traffic::levels(model), actions);
            for property in &agent::APPEARANCE {
                agents.number(ui, property, actions);
            }
        }
    });
}
