//! The status line: what the mouse does, where it is, what is worked on beside the frame.

use super::widgets::counted;
use crate::model::{Action, Model};
use egui::{Align, Label, Layout, ProgressBar, Ui};
use roadwright_geometry::DVec2;
use roadwright_scenario::Scenario;
use roadwright_scenario::check::Severity;

/// Height of the terrain at a point, and its slope where it is steepest; nothing without terrain.
fn ground(scenario: &Scenario, point: DVec2) -> String {
    let Some(terrain) = scenario.terrain() else {
        return String::new();
    };
    let (height, normal) = terrain.surface(point);
    let slope = 100.0 * normal.truncate().length() / normal.z;
    format!("  {height:.1} m high  slope {slope:.0} %")
}

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(point) = model.pointer {
                let ground = ground(model.document.scenario(), point);
                let grip = model.scene.grip.as_ref();
                let grip = grip.map_or(String::new(), |map| {
                    format!("  grip {:.2}", map.at(point, u32::MAX))
                });
                ui.monospace(format!("{:9.1} {:9.1} m{ground}{grip}", point.x, point.y));
                ui.separator();
            }
            ui.label(scale(model.camera.scale));
            ui.separator();
            let count = |severity| {
                let all = model.findings.1.iter();
                all.filter(|finding| finding.severity == severity).count()
            };
            let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
            let text = match (errors, warnings) {
                (0, 0) => "no problems".to_owned(),
                (0, w) => counted(w, "warning"),
                (e, 0) => counted(e, "error"),
                (e, w) => format!("{}, {}", counted(e, "error"), counted(w, "warning")),
            };
            ui.label(text);
            if let Some((label, share)) = &model.job {
                ui.separator();
                if ui.button("Cancel").clicked() {
                    actions.push(Action::CancelJob);
                }
                match share {
                    Some(share) => {
                        ui.add(ProgressBar::new(*share).desired_width(120.0));
                    }
                    None => {
                        ui.spinner();
                    }
                }
                ui.label(label);
            }
            // Last, so that it has what is left and never runs into the others; all of it is in its
            // tool tip.
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(&model.status).truncate());
            });
        });
    });
}

fn scale(metres_per_point: f64) -> String {
    if metres_per_point >= 1.0 {
        format!("{metres_per_point:.1} m/px")
    } else {
        format!("{:.0} cm/px", 100.0 * metres_per_point)
    }
}
