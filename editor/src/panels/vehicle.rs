//! State and history of the watched vehicle.

use super::PanelFrame;
use super::past::clock;
use super::plots::{Curve, plot};
use super::wait_chain;
use super::widgets::{empty, heading};
use crate::command::Command;
use crate::live::{LivePicture, TracePoint};
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_plugin_api::NOTHING;
use roadwright_simulation::{Status, Waits, agent_name};
use std::sync::Arc;

/// Height of a plot, points.
const HEIGHT: f32 = 110.0;

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    let Some(agent) = model.watched else {
        empty(ui, "Click a vehicle to inspect it.");
        return;
    };
    ui.horizontal(|ui| {
        heading(ui, &agent_name(agent))
            .on_hover_text(format!("Agent {agent} in results and on the command line."));
        let mut follow = model.follow;
        if ui.toggle_value(&mut follow, "Follow").clicked() {
            actions.push(Action::Do(Command::Follow));
        }
        let mut drives = model.driving.is_some();
        if ui.toggle_value(&mut drives, "Drive").clicked() {
            actions.push(Action::Do(Command::Drive));
        }
        if ui.small_button("Stop watching").clicked() {
            actions.push(Action::Watch(None));
        }
    });
    let Some(live) = &model.live else {
        empty(ui, "Press play to see what the vehicle does.");
        return;
    };
    match &live.inspection {
        Some(seen) => {
            let mut vehicles = live.snapshot.vehicles.iter();
            let vehicle = vehicles.find(|vehicle| vehicle.agent == agent);
            mishap(ui, vehicle.and_then(|vehicle| vehicle.mishap.words()));
            facts(ui, seen);
            if let Some(chain) = &live.wait_chain {
                wait_chain::ui(ui, chain, actions);
            }
            super::ground_plan::ui(ui, model, actions);
        }
        None => {
            ui.label(where_it_is(live));
        }
    }
    if model.driving.is_none()
        && !live.drive.is_empty()
        && ui.button("Save the last drive…").clicked()
    {
        actions.push(super::driving::keep_drive(model));
    }
    plots(ui, model, &live.trace);
}

/// Explains why the watched vehicle is not driving.
fn where_it_is(live: &LivePicture) -> String {
    let Some((status, ended)) = live.ending else {
        return "Not driving yet: waiting for its departure time or for space.".into();
    };
    match status {
        Status::Arrived => format!("Arrived at {}.", clock(ended)),
        Status::Refused => "Not driving: there is no route to its destination.".into(),
        Status::Removed | Status::Active => format!(
            "Removed at {}: an edit changed its road, start or destination.",
            clock(ended)
        ),
    }
}

/// Shows the reason why the vehicle cannot continue.
fn mishap(ui: &mut Ui, words: Option<&str>) {
    if let Some(words) = words {
        let color = ui.visuals().error_fg_color;
        ui.colored_label(color, format!("Cannot continue: {words}."));
    }
}

fn facts(ui: &mut Ui, seen: &roadwright_simulation::Inspection) {
    let input = &seen.input;
    let distance = |d: f64| {
        if d < NOTHING {
            format!("{d:.1} m")
        } else {
            "none".into()
        }
    };
    // Long values wrap instead of running out of the panel.
    let column = ui.available_width() / 2.0;
    Grid::new("facts")
        .num_columns(2)
        .max_col_width(column)
        .striped(true)
        .show(ui, |ui| {
            let mut row = |name: &str, value: String| {
                ui.label(name);
                ui.label(value);
                ui.end_row();
            };
            row("Stack", seen.stack.clone());
            row("Controller", seen.controller.to_owned());
            row(
                "Speed",
                format!("{:.1} of {:.1} m/s", input.speed, input.road_speed),
            );
            row(
                "Desired acceleration",
                format!("{:+.2} m/s²", seen.command.acceleration),
            );
            row("Steering", format!("{:+.1}°", input.steering.to_degrees()));
            row(
                "Waypoint",
                format!(
                    "{} at {:+.1}°",
                    distance(input.waypoint_distance),
                    input.waypoint_angle.to_degrees()
                ),
            );
            row("Obstacle", distance(input.obstacle_distance));
            row("Leader", distance(input.leader_gap));
            row("Must stop in", distance(input.stop_distance));
            let waits = seen.waits.as_ref();
            row(
                "Waiting for",
                waits.map_or("nothing".into(), Waits::to_string),
            );
            row("Lane offset", format!("{:+.2} m", input.lane_offset));
        });
}

fn plots(ui: &mut Ui, model: &Model, trace: &Arc<Vec<TracePoint>>) {
    // A line needs two points.
    if trace.len() < 2 {
        return;
    }
    let theme = model.theme();
    let curve = |name, color, width, of: fn(&TracePoint) -> f64| Curve {
        name,
        color: theme.plot(color),
        width,
        points: trace.iter().map(|point| [point.time, of(point)]).collect(),
    };
    let allowed = curve("allowed", 2, 1.0, |point| point.road_speed);
    let speed = curve("speed", 0, 2.0, |point| point.speed);
    plot(ui, "Speed, m/s", HEIGHT, vec![allowed, speed]);
    let steering = curve("steering", 1, 2.0, |point| point.steering.to_degrees());
    plot(ui, "Steering, degrees", HEIGHT, vec![steering]);
    let wanted = curve("wanted", 3, 1.0, |point| point.acceleration);
    plot(ui, "Acceleration, m/s²", HEIGHT, vec![wanted]);
    if trace.iter().any(|point| point.offset.is_some()) {
        let offset = curve("offset", 0, 2.0, |point| point.offset.unwrap_or(0.0));
        plot(ui, "Offset from the path, m", HEIGHT, vec![offset]);
        let heading = curve("heading error", 1, 2.0, |point| {
            point.heading_error.unwrap_or(0.0).to_degrees()
        });
        plot(ui, "Heading error, degrees", HEIGHT, vec![heading]);
    }
}
