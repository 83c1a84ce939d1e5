//! Properties of an area of land.

use super::super::property::{Choice, OF, Subject, TextProperty, fact};
use super::super::widgets::heading;
use crate::model::Action;
use egui::{Grid, Ui};
use roadwright_scenario::{Edit, Land, LandId, LandUse};

const NAME: TextProperty<Land> = TextProperty {
    name: "Name",
    label: OF,
    hint: "Name shown on the map.",
    wraps: false,
    get: |land| &land.name,
    set: |land, name| land.name = name,
};

const USE: Choice<Land, LandUse> = Choice {
    title: "Use",
    name: "Use",
    label: OF,
    hint: "Use or cover of the land. It is only painted and does not affect driving.",
    get: |land| &land.usage,
    set: |land, usage| land.usage = usage,
};

pub(super) fn ui(ui: &mut Ui, id: LandId, land: &Land, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let mut subject = Subject {
        name: id.to_string(),
        object: land,
        edit: &|land| Edit::Land(id, Some(Box::new(land))),
        actions,
    };
    Grid::new("land").num_columns(2).show(ui, |ui| {
        subject.texts(ui, &[NAME]);
        let uses = LandUse::ALL.map(|usage| (usage, usage.name().to_owned()));
        subject.choose(ui, &USE, &uses);
        fact(ui, "Area", format!("{:.2} ha", land.area() / 1e4));
        fact(ui, "Corners", land.corners().to_string());
        if !land.holes.is_empty() {
            fact(ui, "Holes", land.holes.len().to_string());
        }
    });
    if !land.holes.is_empty() && ui.button("Fill holes").clicked() {
        subject.apply(format!("Fill holes in {id}"), |land| land.holes.clear());
    }
}
