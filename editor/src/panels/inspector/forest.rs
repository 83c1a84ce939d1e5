//! Properties of a forest, which is an area with randomly placed trees.

use super::super::property::{OF, Property, Subject, fact};
use super::super::widgets::heading;
use crate::model::Action;
use egui::{Grid, Ui};
use roadwright_scenario::{Edit, Forest, ForestId};

const NUMBERS: [Property<Forest>; 4] = [
    Property {
        name: "Density",
        label: OF,
        unit: "/ha",
        range: 0.0..=1e5,
        step: 5.0,
        hint: "Trees per hectare before the minimum spacing removes some of them.",
        get: |forest| Some(forest.density.get()),
        set: |forest, density| forest.density = density.into(),
    },
    Property {
        name: "Spacing",
        label: OF,
        unit: "m",
        range: 0.2..=1e4,
        step: 0.1,
        hint: "Minimum distance between trunks.",
        get: |forest| Some(forest.spacing.get()),
        set: |forest, spacing| forest.spacing = spacing.into(),
    },
    Property {
        name: "Trunk radius",
        label: OF,
        unit: "m",
        range: 0.01..=10.0,
        step: 0.01,
        hint: "",
        get: |forest| Some(forest.trunk_radius.get()),
        set: |forest, radius| forest.trunk_radius = radius.into(),
    },
    Property {
        name: "Seed",
        label: OF,
        unit: "",
        // Beyond 2^53 a double cannot represent every integer.
        range: 0.0..=9e15,
        step: 1.0,
        hint: "Seed of the random positions of the trees.",
        get: |forest| Some(forest.seed as f64),
        set: |forest, seed| forest.seed = seed as u64,
    },
];

pub(super) fn ui(ui: &mut Ui, id: ForestId, forest: &Forest, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let mut subject = Subject {
        name: id.to_string(),
        object: forest,
        edit: &|forest| Edit::Forest(id, Some(Box::new(forest))),
        actions,
    };
    Grid::new("forest").num_columns(2).show(ui, |ui| {
        subject.numbers(ui, &NUMBERS);
        let area = roadwright_geometry::polygon::signed_area(&forest.area).abs();
        fact(ui, "Area", format!("{:.2} ha", area / 1e4));
    });
}
