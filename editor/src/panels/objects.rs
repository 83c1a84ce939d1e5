//! What the scenario says about itself, and all that is in it.

use super::widgets::{Number, change, choice, heading, level_title, text};
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{About, DrivingSide, DynamicsLevel, Edit, ObjectId};

/// Objects of a kind that are listed at once.
const MOST: usize = 200;

pub(super) fn ui(ui: &mut Ui, model: &Model, filter: &mut String, actions: &mut Vec<Action>) {
    about(ui, model, actions);
    settings(ui, model, actions);
    heading(ui, "Objects");
    let edit = egui::TextEdit::singleline(filter)
        .hint_text("filter by name or number")
        .desired_width(f32::INFINITY);
    let response = ui.add(edit);
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Filter objects"));
    lists(ui, model, filter, actions);
}

fn about(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    heading(ui, "About");
    let about = model.document.scenario().about().clone();
    Grid::new("about").num_columns(2).show(ui, |ui| {
        let mut send = |response: egui::Response, changed: About| {
            change(
                &response,
                "Describe scenario",
                || Edit::About(Box::new(changed)),
                actions,
            );
        };
        let (name, response) = text(ui, "Name", &about.name, "");
        send(
            response,
            About {
                name,
                ..about.clone()
            },
        );
        let (description, response) = text(ui, "Description", &about.description, "");
        send(
            response,
            About {
                description,
                ..about.clone()
            },
        );
        let (attribution, response) = text(ui, "Attribution", &about.attribution, "whose data");
        send(
            response,
            About {
                attribution,
                ..about.clone()
            },
        );
        ui.label("Driving side");
        let sides = [
            (DrivingSide::Right, "right".to_owned()),
            (DrivingSide::Left, "left".to_owned()),
        ];
        if let Some(side) = choice(ui, "Driving side", &about.driving_side, &sides) {
            let changed = About {
                driving_side: side,
                ..about.clone()
            };
            actions.push(Action::Apply(
                "Change driving side".into(),
                Edit::About(Box::new(changed)),
            ));
        }
        ui.end_row();
    });
}

fn settings(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    heading(ui, "Simulation");
    let settings = model.document.scenario().settings();
    Grid::new("settings").num_columns(2).show(ui, |ui| {
        let number = |name, value, range, unit, step, hint| Number {
            name,
            value,
            range,
            unit,
            step,
            hint,
        };
        let (dt, response) = number(
            "Time step",
            settings.dt,
            1e-4..=1.0,
            "s",
            0.001,
            "Simulated time of a step.",
        )
        .ui(ui);
        let edit = || Edit::Settings(roadwright_scenario::Settings { dt, ..settings });
        change(&response, "Change time step", edit, actions);
        let (duration, response) = number(
            "Duration",
            settings.duration,
            0.0..=1e7,
            "s",
            1.0,
            "Simulated time of a run.",
        )
        .ui(ui);
        let edit = || {
            Edit::Settings(roadwright_scenario::Settings {
                duration,
                ..settings
            })
        };
        change(&response, "Change duration", edit, actions);
        let (seed, response) = number(
            "Seed",
            settings.seed as f64,
            0.0..=9e15,
            "",
            1.0,
            "Which of the possible runs it is.",
        )
        .ui(ui);
        let edit = || {
            Edit::Settings(roadwright_scenario::Settings {
                seed: seed as u64,
                ..settings
            })
        };
        change(&response, "Change seed", edit, actions);
        let (time_of_day, response) = number(
            "Time of day",
            settings.time_of_day,
            0.0..=23.999,
            "h",
            0.05,
            "Time of day at which a run begins: scripts read it.",
        )
        .ui(ui);
        let edit = || {
            Edit::Settings(roadwright_scenario::Settings {
                time_of_day,
                ..settings
            })
        };
        change(&response, "Change time of day", edit, actions);
        ui.label("Dynamics").on_hover_text(
            "With which model bodies move, where agents and flows say nothing else.",
        );
        let levels = DynamicsLevel::ALL.map(|level| (level, level_title(level).to_owned()));
        if let Some(dynamics) = choice(ui, "Dynamics", &settings.dynamics, &levels) {
            let edit = Edit::Settings(roadwright_scenario::Settings {
                dynamics,
                ..settings
            });
            actions.push(Action::Apply("Change dynamics".into(), edit));
        }
        ui.end_row();
    });
}

fn lists(ui: &mut Ui, model: &Model, filter: &str, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    let roads: Vec<(ObjectId, String)> = scenario
        .network()
        .roads()
        .map(|(id, road)| (ObjectId::Road(id), road.name.clone()))
        .collect();
    let agents = scenario.agents().iter();
    let agents = agents.map(|(id, agent)| {
        (
            ObjectId::Agent(*id),
            format!("{} {}", agent.vehicle, agent.name),
        )
    });
    let flows = scenario.flows().iter();
    let flows =
        flows.map(|(id, flow)| (ObjectId::Flow(*id), format!("{:.0}/h", flow.rate_per_hour)));
    let obstacles = scenario.obstacles().iter();
    let obstacles = obstacles.map(|(id, o)| (ObjectId::Obstacle(*id), o.name.clone()));
    let forests = scenario.forests().keys();
    let forests = forests.map(|id| (ObjectId::Forest(*id), String::new()));
    let points = scenario.points_of_interest().iter();
    let points = points.map(|(id, point)| (ObjectId::PointOfInterest(*id), point.name.clone()));
    list(ui, model, "Roads", filter, roads, actions);
    list(ui, model, "Agents", filter, agents.collect(), actions);
    list(ui, model, "Flows", filter, flows.collect(), actions);
    list(ui, model, "Obstacles", filter, obstacles.collect(), actions);
    list(ui, model, "Forests", filter, forests.collect(), actions);
    let title = "Points of interest";
    list(ui, model, title, filter, points.collect(), actions);
}

fn list(
    ui: &mut Ui,
    model: &Model,
    title: &str,
    filter: &str,
    all: Vec<(ObjectId, String)>,
    actions: &mut Vec<Action>,
) {
    if all.is_empty() {
        return;
    }
    let filter = filter.to_lowercase();
    let fits = |(id, name): &&(ObjectId, String)| {
        filter.is_empty() || format!("{id} {name}").to_lowercase().contains(&filter)
    };
    let count = all.iter().filter(fits).count();
    egui::CollapsingHeader::new(format!("{title} ({count})"))
        .id_salt(title)
        .show(ui, |ui| {
            for (id, name) in all.iter().filter(fits).take(MOST) {
                let text = format!("{id}  {name}");
                if ui
                    .selectable_label(model.selection.contains(id), text)
                    .clicked()
                {
                    actions.push(Action::Select(Objects::from([*id])));
                    if let Some((low, high)) = model.scene.bounds_of(*id) {
                        actions.push(Action::Jump(low, high));
                    }
                }
            }
            if count > MOST {
                ui.label(format!("and {} more: filter to find them", count - MOST));
            }
        });
}
