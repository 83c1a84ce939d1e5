//! Properties of an agent: its vehicle, its stack, and its trip.

use super::super::property::{Choice, OF, Property, Subject, TURN, TextProperty, fact};
use super::super::widgets::heading;
use super::traffic::{LEVEL_HINT, levels_of, place_text, route, stacks, vehicle_types};
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_scenario::{Agent, AgentId, DynamicsLevel, Edit, ObjectId, Place};

const NAME: TextProperty<Agent> = TextProperty {
    name: "Name",
    label: "Name {object}",
    hint: "",
    wraps: false,
    get: |agent| &agent.name,
    set: |agent, name| agent.name = name,
};

pub(super) const VEHICLE: Choice<Agent, String> = Choice {
    title: "Vehicle",
    name: "Vehicle",
    label: OF,
    hint: "",
    get: |agent| &agent.vehicle,
    set: |agent, vehicle| agent.vehicle = vehicle,
};

pub(super) const STACK: Choice<Agent, String> = Choice {
    title: "Stack",
    name: "Stack of agent",
    label: OF,
    hint: "",
    get: |agent| &agent.stack,
    set: |agent, stack| agent.stack = stack,
};

pub(super) const DYNAMICS: Choice<Agent, Option<DynamicsLevel>> = Choice {
    title: "Dynamics",
    name: "Dynamics",
    label: OF,
    hint: LEVEL_HINT,
    get: |agent| &agent.dynamics,
    set: |agent, level| agent.dynamics = level,
};

/// Initial delay between an arrival and the next start, s.
const REPEAT: f64 = 10.0;

pub(super) const APPEARANCE: [Property<Agent>; 3] = [
    Property {
        name: "Departs at",
        label: "Departure of {object}",
        unit: "s",
        range: 0.0..=1e7,
        step: 0.5,
        hint: "Time at which the vehicle spawns.",
        get: |agent| Some(agent.depart.get()),
        set: |agent, depart| agent.depart = depart.into(),
    },
    Property {
        name: "Repeats after",
        label: OF,
        unit: "s",
        range: 0.0..=1e7,
        step: 0.5,
        hint: "Delay between arrival and restart. If the start is occupied, the vehicle waits longer.",
        get: |agent| agent.repeat.get(),
        set: |agent, repeat| agent.repeat = Some(repeat).into(),
    },
    Property {
        name: "Start speed",
        label: OF,
        unit: "m/s",
        range: 0.0..=150.0,
        step: 0.2,
        hint: "Speed at which the vehicle spawns.",
        get: |agent| Some(agent.speed.get()),
        set: |agent, speed| agent.speed = speed.into(),
    },
];

/// Heading at the start. Only starts on open ground have this property. On lanes, the lane
/// determines the heading.
const HEADING: Property<Agent> = Property {
    name: "Heading",
    label: "Rotate {object}",
    unit: "°",
    range: TURN,
    step: 1.0,
    hint: "Counter-clockwise from east.",
    get: |agent| match agent.start {
        Place::Ground(ground) => Some(ground.heading.to_degrees()),
        // The lane determines the heading.
        Place::Lane(_) => None,
    },
    set: |agent, degrees| {
        if let Place::Ground(ground) = agent.start {
            agent.start = Place::ground(ground.x.get(), ground.y.get(), degrees.to_radians());
        }
    },
};

pub(super) fn ui(
    ui: &mut Ui,
    model: &Model,
    id: AgentId,
    agent: &Agent,
    actions: &mut Vec<Action>,
) {
    heading(ui, &id.to_string());
    let mut subject = Subject {
        name: id.to_string(),
        object: agent,
        edit: &|agent| Edit::Agent(id, Some(Box::new(agent))),
        actions,
    };
    Grid::new("agent").num_columns(2).show(ui, |ui| {
        subject.texts(ui, &[NAME]);
        subject.choose(ui, &VEHICLE, &vehicle_types(model));
        ui.label("");
        super::super::workshop::open_button(ui, &agent.vehicle, subject.actions);
        ui.end_row();
        subject.choose(ui, &STACK, &stacks(model));
        subject.choose(ui, &DYNAMICS, &levels_of(model, &agent.vehicle));
        subject.numbers(ui, &APPEARANCE);
        repeats(ui, &mut subject);
        trip(ui, model, id, agent);
        subject.numbers(ui, &[HEADING]);
    });
    ui.horizontal(|ui| way_points(ui, &mut subject));
}

/// Shows whether the agent restarts after arrival.
fn repeats(ui: &mut Ui, subject: &mut Subject<'_, Agent>) {
    ui.label("");
    let mut repeats = subject.object.repeat.is_some();
    let hint = "Restart after each arrival, so that the town stays busy.";
    let shown = ui.checkbox(&mut repeats, "Restart after arrival");
    if shown.on_hover_text(hint).changed() {
        let name = subject.name.clone();
        subject.apply(format!("Repeat of {name}"), |agent| {
            agent.repeat = repeats.then_some(REPEAT).into();
        });
    }
    ui.end_row();
}

/// Shows the agent's start, waypoints and destination.
fn trip(ui: &mut Ui, model: &Model, id: AgentId, agent: &Agent) {
    fact(ui, "Start", place_text(&agent.start));
    for via in &agent.via {
        fact(ui, "Via", place_text(via));
    }
    ui.label("Destination");
    match &agent.destination {
        Some(place) => ui.label(place_text(place)),
        None => {
            let color = model.theme().tone(crate::tools::Tone::Warning);
            ui.colored_label(color, "none (the vehicle will not drive)")
        }
    };
    ui.end_row();
    if agent.destination.is_some() {
        route(ui, model, ObjectId::Agent(id));
    }
}

/// Shows two buttons: one turns the destination into a waypoint, so that users can build a trip by
/// dragging one destination after another. The other one clears all waypoints.
fn way_points(ui: &mut Ui, subject: &mut Subject<'_, Agent>) {
    let name = subject.name.clone();
    if subject.object.destination.is_some()
        && ui
            .button("Turn destination into waypoint")
            .on_hover_text(
                "Make the destination a waypoint, so that you can set a new destination.",
            )
            .clicked()
    {
        subject.apply(format!("Add waypoint to {name}"), |agent| {
            agent.via.extend(agent.destination);
        });
    }
    if !subject.object.via.is_empty() && ui.button("Clear waypoints").clicked() {
        subject.apply(format!("Clear waypoints of {name}"), |agent| {
            agent.via.clear();
        });
    }
}
