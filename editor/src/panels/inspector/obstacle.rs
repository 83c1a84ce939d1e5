//! Properties of an obstacle: a box, a circle or a polygon.

use super::super::property::{EXTENT, OF, Property, Subject, TURN, TextProperty, fact};
use super::super::widgets::heading;
use crate::model::Action;
use egui::{Grid, Ui};
use roadwright_scenario::{Edit, Obstacle, ObstacleId, Shape};

const NAME: TextProperty<Obstacle> = TextProperty {
    name: "Name",
    label: "Name {object}",
    hint: "",
    wraps: false,
    get: |obstacle| &obstacle.name,
    set: |obstacle, name| obstacle.name = name,
};

/// The numeric properties of all shapes; each shape uses some of them.
const SHAPE: [Property<Obstacle>; 6] = [
    Property {
        name: "x",
        label: OF,
        unit: "m",
        range: EXTENT,
        step: 0.1,
        hint: "Position of the centre.",
        get: |obstacle| match obstacle.shape {
            Shape::Circle { x, .. } | Shape::Box { x, .. } => Some(x.get()),
            Shape::Polygon { .. } => None,
        },
        set: |obstacle, value| {
            if let Shape::Circle { x, .. } | Shape::Box { x, .. } = &mut obstacle.shape {
                *x = value.into();
            }
        },
    },
    Property {
        name: "y",
        label: OF,
        unit: "m",
        range: EXTENT,
        step: 0.1,
        hint: "Position of the centre.",
        get: |obstacle| match obstacle.shape {
            Shape::Circle { y, .. } | Shape::Box { y, .. } => Some(y.get()),
            Shape::Polygon { .. } => None,
        },
        set: |obstacle, value| {
            if let Shape::Circle { y, .. } | Shape::Box { y, .. } = &mut obstacle.shape {
                *y = value.into();
            }
        },
    },
    Property {
        name: "Radius",
        label: OF,
        unit: "m",
        range: 0.01..=1e4,
        step: 0.05,
        hint: "",
        get: |obstacle| match obstacle.shape {
            Shape::Circle { radius, .. } => Some(radius.get()),
            Shape::Box { .. } | Shape::Polygon { .. } => None,
        },
        set: |obstacle, value| {
            if let Shape::Circle { radius, .. } = &mut obstacle.shape {
                *radius = value.into();
            }
        },
    },
    Property {
        name: "Heading",
        label: OF,
        unit: "°",
        range: TURN,
        step: 1.0,
        hint: "Direction of its lengthwise axis, counter-clockwise from east.",
        get: |obstacle| match obstacle.shape {
            Shape::Box { heading, .. } => Some(heading.to_degrees()),
            Shape::Circle { .. } | Shape::Polygon { .. } => None,
        },
        set: |obstacle, value| {
            if let Shape::Box { heading, .. } = &mut obstacle.shape {
                *heading = value.to_radians().into();
            }
        },
    },
    Property {
        name: "Length",
        label: OF,
        unit: "m",
        range: 0.01..=1e4,
        step: 0.1,
        hint: "",
        get: |obstacle| match obstacle.shape {
            Shape::Box { length, .. } => Some(length.get()),
            Shape::Circle { .. } | Shape::Polygon { .. } => None,
        },
        set: |obstacle, value| {
            if let Shape::Box { length, .. } = &mut obstacle.shape {
                *length = value.into();
            }
        },
    },
    Property {
        name: "Width",
        label: OF,
        unit: "m",
        range: 0.01..=1e4,
        step: 0.1,
        hint: "",
        get: |obstacle| match obstacle.shape {
            Shape::Box { width, .. } => Some(width.get()),
            Shape::Circle { .. } | Shape::Polygon { .. } => None,
        },
        set: |obstacle, value| {
            if let Shape::Box { width, .. } = &mut obstacle.shape {
                *width = value.into();
            }
        },
    },
];

const BODY: [Property<Obstacle>; 3] = [
    Property {
        name: "Base",
        label: OF,
        unit: "m",
        range: 0.0..=1e4,
        step: 0.1,
        hint: "Height of the lower edge above the ground. Lower vehicles pass underneath.",
        get: |obstacle| Some(obstacle.base.get()),
        set: |obstacle, base| obstacle.base = base.into(),
    },
    Property {
        name: "Height",
        label: OF,
        unit: "m",
        range: 0.01..=1e4,
        step: 0.1,
        hint: "Height of the top above the ground.",
        get: |obstacle| Some(obstacle.height.get()),
        set: |obstacle, height| obstacle.height = height.into(),
    },
    Property {
        name: "Mass",
        label: OF,
        unit: "kg",
        range: 0.01..=1e6,
        step: 1.0,
        hint: "Mass of a loose obstacle.",
        get: |obstacle| obstacle.mass.get(),
        set: |obstacle, mass| obstacle.mass = Some(mass).into(),
    },
];

/// Initial mass of an obstacle that becomes loose, kg; the same as in the obstacle tool.
const FIRST_MASS: f64 = 80.0;

pub(super) fn ui(ui: &mut Ui, id: ObstacleId, obstacle: &Obstacle, actions: &mut Vec<Action>) {
    heading(ui, &id.to_string());
    let mut subject = Subject {
        name: id.to_string(),
        object: obstacle,
        edit: &|obstacle| Edit::Obstacle(id, Some(Box::new(obstacle))),
        actions,
    };
    Grid::new("obstacle").num_columns(2).show(ui, |ui| {
        subject.texts(ui, &[NAME]);
        subject.numbers(ui, &SHAPE);
        if let Shape::Polygon { points } = &obstacle.shape {
            fact(ui, "Corners", points.len().to_string());
        }
        subject.numbers(ui, &BODY);
    });
    let mut loose = obstacle.mass.is_some();
    if ui.checkbox(&mut loose, "Can be pushed").changed() {
        let mass = loose.then_some(FIRST_MASS);
        subject.apply(format!("Loosen {id}"), |obstacle| {
            obstacle.mass = mass.into()
        });
    }
}
