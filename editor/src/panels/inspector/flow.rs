//! Properties of a flow, which spawns vehicles at a rate.

use super::super::property::{Choice, OF, Property, Subject, fact};
use super::super::widgets::heading;
use super::traffic::{LEVEL_HINT, levels_of, place_text, route, stacks, vehicle_types};
use crate::model::{Action, Model};
use egui::{Grid, Ui};
use roadwright_scenario::{DynamicsLevel, Edit, Flow, FlowId, ObjectId};

const VEHICLE: Choice<Flow, String> = Choice {
    title: "Vehicle",
    name: "Vehicle of flow",
    label: OF,
    hint: "",
    get: |flow| &flow.vehicle,
    set: |flow, vehicle| flow.vehicle = vehicle,
};

const STACK: Choice<Flow, String> = Choice {
    title: "Stack",
    name: "Stack of flow",
    label: OF,
    hint: "",
    get: |flow| &flow.stack,
    set: |flow, stack| flow.stack = stack,
};

const DYNAMICS: Choice<Flow, Option<DynamicsLevel>> = Choice {
    title: "Dynamics",
    name: "Dynamics",
    label: OF,
    hint: LEVEL_HINT,
    get: |flow| &flow.dynamics,
    set: |flow, level| flow.dynamics = level,
};

const NUMBERS: [Property<Flow>; 3] = [
    Property {
        name: "Rate",
        label: OF,
        unit: "/h",
        range: 0.0..=1e5,
        step: 5.0,
        hint: "Average number of vehicles per hour.",
        get: |flow| Some(flow.rate_per_hour.get()),
        set: |flow, rate| flow.rate_per_hour = rate.into(),
    },
    Property {
        name: "From",
        label: OF,
        unit: "s",
        range: 0.0..=1e7,
        step: 1.0,
        hint: "Earliest time at which a vehicle spawns.",
        get: |flow| Some(flow.begin.get()),
        set: |flow, begin| flow.begin = begin.into(),
    },
    Property {
        name: "Until",
        label: OF,
        unit: "s",
        range: 0.0..=1e7,
        step: 1.0,
        hint: "Latest time at which a vehicle spawns.",
        get: |flow| Some(flow.end.get()),
        set: |flow, end| flow.end = end.into(),
    },
];

pub(super) fn ui(ui: &mut Ui, model: &Model, id: FlowId, flow: &Flow, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let mut subject = Subject {
        name: id.to_string(),
        object: flow,
        edit: &|flow| Edit::Flow(id, Some(Box::new(flow))),
        actions,
    };
    Grid::new("flow").num_columns(2).show(ui, |ui| {
        subject.choose(ui, &VEHICLE, &vehicle_types(model));
        ui.label("");
        super::super::workshop::open_button(ui, &flow.vehicle, subject.actions);
        ui.end_row();
        subject.choose(ui, &STACK, &stacks(model));
        subject.choose(ui, &DYNAMICS, &levels_of(model, &flow.vehicle));
        subject.numbers(ui, &NUMBERS);
        fact(ui, "Origin", place_text(&flow.origin));
        fact(ui, "Destination", place_text(&flow.destination));
        route(ui, model, ObjectId::Flow(id));
    });
}
