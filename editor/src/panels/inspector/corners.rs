//! The radii of the corners of a junction.

use super::super::property::Subject;
use super::super::widgets::{Number, change};
use crate::model::{Action, Model};
use egui::{CollapsingHeader, Grid, RichText, Ui};
use roadwright_scenario::junction::{Corner, Junction};
use roadwright_scenario::{Edit, Node, NodeId, RoadId};

/// Range of radii allowed in files, m.
const RADIUS: std::ops::RangeInclusive<f64> = 0.5..=100.0;
/// Difference below which two radii look the same on screen, m.
const SAME: f64 = 0.05;

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, node: &Node, actions: &mut Vec<Action>) {
    let Some(junction) = model.scene.layout.junction_at(id) else {
        return;
    };
    let corners: Vec<(RoadId, RoadId, Corner)> = rounded(junction).collect();
    if corners.is_empty() {
        return;
    }
    let mut subject = Subject {
        name: id.to_string(),
        object: node,
        edit: &|node| Edit::Node(id, Some(node)),
        actions,
    };
    CollapsingHeader::new(format!("Corners ({})", corners.len()))
        .id_salt("corners")
        .show(ui, |ui| {
            let rows = Grid::new("corners").num_columns(2);
            rows.show(ui, |ui| {
                for &(road, next, corner) in &corners {
                    radius(ui, &mut subject, road, next, corner);
                }
            });
        });
}

/// Returns the corners that have an arc, each with the roads on both sides.
fn rounded(junction: &Junction) -> impl Iterator<Item = (RoadId, RoadId, Corner)> + '_ {
    let arms = &junction.arms;
    let corners = junction.corners.iter().enumerate();
    corners
        .filter(|(_, corner)| corner.wanted_radius > 0.0)
        .map(|(i, corner)| (arms[i].road, arms[(i + 1) % arms.len()].road, *corner))
}

/// Shows the radius of a corner in a row, with notes about it.
fn radius(
    ui: &mut Ui,
    subject: &mut Subject<'_, Node>,
    road: RoadId,
    next: RoadId,
    corner: Corner,
) {
    let name = format!("{road} to {next}");
    let number = Number {
        name: &name,
        value: corner.wanted_radius,
        range: RADIUS,
        unit: "m",
        step: 0.1,
        hint: "Radius of the carriageway edge.",
    };
    let (value, response) = number.ui(ui);
    let label = format!("Corner {name} of {}", subject.name);
    let edit = || {
        let mut node = subject.object.clone();
        node.rules.set_corner(road, next, Some(value));
        (subject.edit)(node)
    };
    change(&response, &label, edit, subject.actions);
    let is_squeezed = corner.radius < corner.wanted_radius - SAME;
    let is_decided = subject.object.rules.corner(road, next).is_some();
    if !is_squeezed && !is_decided {
        return;
    }
    if is_squeezed {
        let text = format!("room for a radius of {:.1} m", corner.radius);
        ui.label(RichText::new(text).weak());
    } else {
        ui.label("");
    }
    if is_decided {
        let button = ui.small_button("Automatic");
        let own = format!("Reset corner {name}");
        button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &own));
        if button.clicked() {
            let label = format!("Reset corner {name} of {}", subject.name);
            subject.apply(label, |node| node.rules.set_corner(road, next, None));
        }
    }
    ui.end_row();
}
