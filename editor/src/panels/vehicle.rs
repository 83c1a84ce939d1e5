//! The watched vehicle: what it does and did.

use super::widgets::{empty, heading};
use crate::command::Command;
use crate::live::TracePoint;
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use egui_plot::{Legend, Line, Plot, PlotPoints};
use roadwright_plugin_api::NOTHING;
use roadwright_simulation::Waits;
use std::sync::Arc;

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let Some(agent) = model.watched else {
        empty(ui, "Click a vehicle to look into it.");
        return;
    };
    ui.horizontal(|ui| {
        heading(ui, &format!("agent {agent}"));
        let mut follow = model.follow;
        if ui.toggle_value(&mut follow, "Follow").clicked() {
            actions.push(Action::Do(Command::Follow));
        }
        if ui.small_button("Stop watching").clicked() {
            actions.push(Action::Watch(None));
        }
    });
    let Some(live) = &model.live else {
        empty(ui, "Press play to see what it does.");
        return;
    };
    match &live.inspection {
        Some(seen) => facts(ui, seen),
        None => {
            ui.label("It does not drive now: it waits, has arrived, or was taken out.");
        }
    }
    plots(ui, model, &live.trace);
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
    Grid::new("facts")
        .num_columns(2)
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
                "Acceleration",
                format!("{:+.2} m/s²", seen.command.acceleration),
            );
            row("Steering", format!("{:+.1}°", input.steering.to_degrees()));
            row(
                "Way-point",
                format!(
                    "{} at {:+.1}°",
                    distance(input.waypoint_distance),
                    input.waypoint_angle.to_degrees()
                ),
            );
            row("Obstacle", distance(input.obstacle_distance));
            row("Leader", distance(input.leader_gap));
            row("Has to stop in", distance(input.stop_distance));
            let waits = seen.waits.as_ref();
            row(
                "Waits for",
                waits.map_or("nothing".into(), Waits::to_string),
            );
            row(
                "Beside the lane's middle",
                format!("{:+.2} m", input.lane_offset),
            );
        });
}

fn plots(ui: &mut Ui, model: &Model, trace: &Arc<Vec<TracePoint>>) {
    // A line needs two points.
    if trace.len() < 2 {
        return;
    }
    let series = |of: fn(&TracePoint) -> f64| -> PlotPoints<'static> {
        trace.iter().map(|point| [point.time, of(point)]).collect()
    };
    let theme = model.theme();
    let height = 110.0;
    heading(ui, "Speed, m/s");
    let speed = Line::new("speed", series(|p| p.speed))
        .color(theme.plot(0))
        .width(2.0);
    let road = Line::new("allowed", series(|p| p.road_speed)).color(theme.plot(2));
    plot("speed plot", height, 0.0).show(ui, |plot| {
        plot.line(road);
        plot.line(speed);
    });
    heading(ui, "Steering, degrees");
    let steering = Line::new("steering", series(|p| p.steering.to_degrees()))
        .color(theme.plot(1))
        .width(2.0);
    plot("steering plot", height, 0.0).show(ui, |plot| plot.line(steering));
    heading(ui, "Acceleration, m/s²");
    let wanted = Line::new("wanted", series(|p| p.acceleration)).color(theme.plot(3));
    plot("acceleration plot", height, 0.0).show(ui, |plot| plot.line(wanted));
}

/// A plot that scrolls with the time and cannot be dragged away by accident.
fn plot(name: &'static str, height: f32, include: f64) -> Plot<'static> {
    Plot::new(name)
        .height(height)
        .include_y(include)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .legend(Legend::default())
}
