//! The report of the last import, with links to omitted items.

use super::PanelFrame;
use super::widgets::{counted, empty, heading};
use crate::import_report::ImportReport;
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_geometry::DVec2;
use roadwright_interchange::osm::ImportWarning;

/// Margin of the map around a place, m.
const AROUND: f64 = 40.0;

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    let Some(report) = &model.import else {
        empty(ui, "Nothing has been imported since the window opened.");
        return;
    };
    heading(ui, &report.file);
    if report.document != model.document.id() {
        ui.label("Another scenario is open now, so the map cannot show these places.");
    }
    Grid::new("import")
        .num_columns(2)
        .striped(true)
        .show(ui, |ui| {
            for (name, value) in report.rows() {
                ui.label(name);
                ui.label(value);
                ui.end_row();
            }
        });
    ui.add_space(8.0);
    let warnings = &report.summary.warnings;
    if warnings.is_empty() {
        ui.label("Nothing was left out or changed.");
        return;
    }
    heading(ui, &format!("Left out or changed: {}", report.left_out()));
    for warning in warnings {
        ui.label(format!("{} x {}", warning.count, warning.reason));
        places(ui, model, report, warning, actions);
        ui.add_space(4.0);
    }
}

/// Lists the first few items of a kind. A click on an item shows its place.
fn places(
    ui: &mut Ui,
    model: &Model,
    report: &ImportReport,
    warning: &ImportWarning,
    actions: &mut Vec<Action>,
) {
    let is_here = report.document == model.document.id();
    ui.horizontal_wrapped(|ui| {
        for (name, place) in warning.examples.iter().zip(&warning.places) {
            match place.filter(|_| is_here) {
                Some(place) => {
                    if ui.link(name).clicked() {
                        let around = DVec2::splat(AROUND);
                        actions.push(Action::Jump(place - around, place + around));
                    }
                }
                None => {
                    ui.label(name);
                }
            }
        }
        let more = warning.count - warning.examples.len();
        if more > 0 {
            ui.weak(format!("and {}", counted(more, "other")));
        }
    });
}
