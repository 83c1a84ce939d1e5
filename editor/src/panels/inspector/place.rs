//! Properties of a point of interest, which is a named place for scripts or a parking bay.

use super::super::property::{EXTENT, OF, Property, Subject, TURN, TextProperty};
use super::super::widgets::heading;
use crate::model::Action;
use egui::{Grid, RichText, Ui};
use roadwright_scenario::{Edit, PointOfInterest, PointOfInterestId};

const NAME: TextProperty<PointOfInterest> = TextProperty {
    name: "Name",
    label: OF,
    hint: "Name used by scripts.",
    wraps: false,
    get: |point| &point.name,
    set: |point, name| point.name = name,
};

const NUMBERS: [Property<PointOfInterest>; 3] = [
    Property {
        name: "x",
        label: OF,
        unit: "m",
        range: EXTENT,
        step: 0.1,
        hint: "Distance east of the origin.",
        get: |point| Some(point.x.get()),
        set: |point, x| point.x = x.into(),
    },
    Property {
        name: "y",
        label: OF,
        unit: "m",
        range: EXTENT,
        step: 0.1,
        hint: "Distance north of the origin.",
        get: |point| Some(point.y.get()),
        set: |point, y| point.y = y.into(),
    },
    Property {
        name: "Heading",
        label: OF,
        unit: "°",
        range: TURN,
        step: 1.0,
        hint: "Direction of a parked vehicle, counter-clockwise from east.",
        get: |point| point.heading.map(f64::to_degrees),
        set: |point, degrees| point.heading = Some(degrees.to_radians()).into(),
    },
];

pub(super) fn ui(
    ui: &mut Ui,
    id: PointOfInterestId,
    point: &PointOfInterest,
    actions: &mut Vec<Action>,
) {
    heading(ui, &id.to_string());
    let mut subject = Subject {
        name: id.to_string(),
        object: point,
        edit: &|point| Edit::PointOfInterest(id, Some(Box::new(point))),
        actions,
    };
    Grid::new("point of interest")
        .num_columns(2)
        .show(ui, |ui| {
            subject.texts(ui, &[NAME]);
            let mut bay = point.heading.is_some();
            ui.label("Bay")
                .on_hover_text("A parking bay, with the heading of a parked vehicle.");
            if ui.checkbox(&mut bay, "").changed() {
                let heading = bay.then_some(0.0);
                subject.apply(format!("Bay at {id}"), |point| {
                    point.heading = heading.into()
                });
            }
            ui.end_row();
            subject.numbers(ui, &NUMBERS);
        });
    script_call(ui, point);
}

/// Shows the script call that drives to this place, with a button that copies it.
fn script_call(ui: &mut Ui, point: &PointOfInterest) {
    let call = if point.heading.is_some() {
        "park"
    } else {
        "go_to"
    };
    let line = format!("agent.{call}(agent.place(\"{}\"));", point.name);
    ui.add_space(4.0);
    ui.label(RichText::new(line).monospace())
        .on_hover_text("Script call that drives to this place.");
}
