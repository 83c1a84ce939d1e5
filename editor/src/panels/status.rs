//! The status line: functions of the mouse buttons, position of the pointer, and background work.

use super::widgets::counted;
use crate::model::{Action, Model};
use crate::scene::Scene;
use egui::{Align, Label, Layout, ProgressBar, TextStyle, Ui};
use roadwright_geometry::DVec2;
use roadwright_scenario::check::Severity;
use roadwright_scenario::{RoadClass, Scenario};

/// Width reserved in the status line for everything except the job and the position, in points.
const OTHERS: f32 = 250.0;
/// Width reserved in the status line for a job, in points.
const JOB: f32 = 260.0;

/// Describes the ground at a point: surface and grip and, on terrain, the height and the steepest
/// slope. The most important fact comes first.
fn ground(scene: &Scene, scenario: &Scenario, point: DVec2) -> Vec<String> {
    let grip = &scenario.settings().grip;
    let (name, grip) = match scene.class_at(point) {
        Some(class) => (name_of(class), grip.of(class)),
        None => ("open ground", grip.open_ground.get()),
    };
    let mut parts = vec![format!("  {name}, grip {grip:.2}")];
    if let Some(terrain) = scenario.terrain() {
        let (height, normal) = terrain.surface(point);
        let slope = 100.0 * normal.truncate().length() / normal.z;
        parts.push(format!("  {height:.1} m high"));
        parts.push(format!("  slope {slope:.0} %"));
    }
    parts
}

/// Returns the name of a road class in files.
fn name_of(class: RoadClass) -> &'static str {
    match class {
        RoadClass::Path => "path",
        RoadClass::Service => "service",
        RoadClass::Residential => "residential",
        RoadClass::Collector => "collector",
        RoadClass::Arterial => "arterial",
        RoadClass::Ramp => "ramp",
        RoadClass::Motorway => "motorway",
    }
}

/// Shows the position of the pointer, and as many facts about the ground as fit.
fn place(ui: &mut Ui, model: &Model, point: DVec2) {
    let font = TextStyle::Monospace.resolve(ui.style());
    let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
    let job = if model.job.is_some() { JOB } else { 0.0 };
    let letters = ((ui.available_width() - OTHERS - job) / letter).max(0.0) as usize;
    let mut text = format!("{:9.1} {:9.1} m", point.x, point.y);
    for part in ground(&model.scene, model.document.scenario(), point) {
        if text.len() + part.len() > letters {
            break;
        }
        text.push_str(&part);
    }
    ui.monospace(text);
}

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(point) = model.pointer {
                place(ui, model, point);
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
            // Added last, so that it takes the remaining room and never overlaps the others. Its tooltip has
            // the full text.
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(&model.status).truncate());
            });
        });
    });
}

fn scale(metres_per_point: f64) -> String {
    if metres_per_point >= 1.0 {
        format!("{metres_per_point:.1} m/px")
    } else if metres_per_point >= 0.01 {
        format!("{:.0} cm/px", 100.0 * metres_per_point)
    } else {
        format!("{:.0} mm/px", 1000.0 * metres_per_point)
    }
}
