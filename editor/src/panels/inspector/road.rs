//! Properties of a road. Its lanes are shown as separate cards.

use super::super::property::{Choice, OF, Property, Subject, TextProperty, fact};
use super::super::widgets::heading;
use crate::model::Action;
use egui::{Grid, Ui};
use roadwright_scenario::{Edit, Road, RoadAccess, RoadClass, RoadId};

const NAME: TextProperty<Road> = TextProperty {
    name: "Name",
    label: "Name {object}",
    hint: "Name of the street.",
    wraps: false,
    get: |road| &road.name,
    set: |road, name| road.name = name,
};

pub(super) const CLASS: Choice<Road, RoadClass> = Choice {
    title: "Class",
    name: "Class",
    label: OF,
    hint: "",
    get: |road| &road.class,
    set: |road, class| road.class = class,
};

pub(super) const ACCESS: Choice<Road, RoadAccess> = Choice {
    title: "Access",
    name: "Access",
    label: OF,
    hint: "Vehicles that may drive here. Restricted roads carry no through traffic, only trips that start or \
        end there.",
    get: |road| &road.access,
    set: |road, access| road.access = access,
};

/// Classes from the smallest to the largest.
const CLASSES: [RoadClass; 7] = [
    RoadClass::Path,
    RoadClass::Service,
    RoadClass::Residential,
    RoadClass::Collector,
    RoadClass::Arterial,
    RoadClass::Ramp,
    RoadClass::Motorway,
];

pub(super) const NUMBERS: [Property<Road>; 2] = [
    Property {
        name: "Speed limit",
        label: OF,
        unit: "km/h",
        range: 1.0..=540.0,
        step: 1.0,
        hint: "Speed limit of all lanes without a limit of their own.",
        get: |road| Some(3.6 * road.speed_limit),
        set: |road, value| road.speed_limit = (value / 3.6).into(),
    },
    Property {
        name: "Layer",
        label: OF,
        unit: "",
        range: -5.0..=5.0,
        step: 1.0,
        hint: "0: on the ground; 1: bridge; -1: tunnel.",
        get: |road| Some(f64::from(road.layer)),
        // The range of the property keeps it within an i8.
        set: |road, value| road.layer = value.round() as i8,
    },
];

/// Curvature below which a road counts as straight, 1/m. It corresponds to a radius of a million
/// kilometres.
const STRAIGHT: f64 = 1e-9;

/// Returns the road classes with their names on the screen.
pub(super) fn classes() -> Vec<(RoadClass, String)> {
    let named = |class| (class, format!("{class:?}"));
    CLASSES.into_iter().map(named).collect()
}

/// Returns the kinds of access with their names on the screen.
pub(super) fn accesses() -> Vec<(RoadAccess, String)> {
    let named = |access| (access, format!("{access:?}"));
    RoadAccess::ALL.into_iter().map(named).collect()
}

pub(super) fn ui(ui: &mut Ui, id: RoadId, road: &Road, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let mut subject = Subject {
        name: id.to_string(),
        object: road,
        edit: &|road| Edit::Road(id, Some(Box::new(road))),
        actions,
    };
    Grid::new("road").num_columns(2).show(ui, |ui| {
        subject.texts(ui, &[NAME]);
        subject.choose(ui, &CLASS, &classes());
        subject.choose(ui, &ACCESS, &accesses());
        subject.numbers(ui, &NUMBERS);
        fact(ui, "Length", format!("{:.2} m", road.length()));
        let segments = road.reference_line.segments().len();
        fact(
            ui,
            "Shape",
            super::super::widgets::counted(segments, "segment"),
        );
        let tightest = road.reference_line.max_curvature();
        let radius = if tightest > STRAIGHT {
            format!("{:.1} m", 1.0 / tightest)
        } else {
            "straight".into()
        };
        fact(ui, "Tightest radius", radius);
    });
}
