//! The list of the scenario's groups.

use crate::model::{Action, Model};
use crate::object_menu;
use egui::Ui;
use roadwright_geometry::{DVec2, polygon};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{Group, GroupId};

/// Maximum number of groups listed.
const MOST: usize = 200;

pub(super) fn ui(ui: &mut Ui, model: &Model, filter: &str, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    if scenario.groups().is_empty() {
        return;
    }
    let filter = filter.to_lowercase();
    let fits = |(id, group): &(&GroupId, &Group)| {
        let text = format!("{id} {}", group.name).to_lowercase();
        filter.is_empty() || text.contains(&filter)
    };
    let groups: Vec<_> = scenario.groups().iter().filter(fits).collect();
    egui::CollapsingHeader::new(format!("Groups ({})", groups.len()))
        .id_salt("Groups")
        .show(ui, |ui| {
            for (id, group) in groups.iter().take(MOST) {
                row(ui, model, **id, group, actions);
            }
            if groups.len() > MOST {
                let more = groups.len() - MOST;
                ui.label(format!("and {more} more (use the filter)"));
            }
        });
}

fn row(ui: &mut Ui, model: &Model, id: GroupId, group: &Group, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    let members = group.members().iter().copied();
    let members: Objects = members
        .filter(|member| scenario.contains(*member))
        .collect();
    let text = format!(
        "{id}  {} ({})",
        group.name,
        super::widgets::counted(members.len(), "object")
    );
    let is_selected = model.selection == members;
    let row = ui.selectable_label(is_selected, text);
    if row.secondary_clicked() && !is_selected {
        actions.push(Action::Select(members.clone()));
    }
    row.context_menu(|ui| object_menu::in_list(ui, model, actions));
    if row.clicked() {
        let boxes = members.iter();
        let corners: Vec<DVec2> = boxes
            .filter_map(|member| model.scene.bounds_of(*member))
            .flat_map(|(low, high)| [low, high])
            .collect();
        actions.push(Action::Select(members));
        if let Some((low, high)) = polygon::bounds(&corners) {
            actions.push(Action::Jump(low, high));
        }
    }
}
