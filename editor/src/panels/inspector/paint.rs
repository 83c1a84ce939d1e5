//! The layers of painted ground, shown while the paint tool is in use.

use super::super::property::{OF, Property, Subject, TextProperty, fact};
use super::super::widgets::{heading, named};
use crate::model::{Action, Model};
use egui::{DragValue, Grid, Role, Ui, WidgetInfo};
use roadwright_scenario::{Edit, PaintCost, PaintId, PaintLayer};

const NAME: TextProperty<PaintLayer> = TextProperty {
    name: "Name",
    label: OF,
    hint: "Name of the layer, such as \"shrubs\".",
    wraps: false,
    get: |layer| &layer.name,
    set: |layer, name| layer.name = name,
};

const CELL: Property<PaintLayer> = Property {
    name: "Cells",
    label: OF,
    unit: "m",
    range: 0.1..=64.0,
    step: 0.1,
    hint: "Edge length of the cells of this layer. It can only be changed while the layer is empty.",
    get: |layer| Some(layer.cell.get()),
    set: |layer, cell| layer.cell = cell.into(),
};

/// Label of the row for vehicle types without a separate entry.
const OTHERS: &str = "all others";

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let scenario = model.document.scenario();
    let Some(id) = model.settings.tools.paint.chosen(scenario) else {
        super::empty(
            ui,
            "Drag on the map to paint. The first stroke or outline creates a layer.",
        );
        return;
    };
    let Some(layer) = scenario.paint().get(&id) else {
        return;
    };
    heading(ui, &id.to_string());
    let mut subject = Subject {
        name: id.to_string(),
        object: layer,
        edit: &|layer| Edit::Paint(id, Some(Box::new(layer))),
        actions,
    };
    Grid::new("paint").num_columns(2).show(ui, |ui| {
        subject.texts(ui, &[NAME]);
        if layer.is_empty() {
            subject.numbers(ui, &[CELL]);
        } else {
            fact(ui, CELL.name, format!("{} m", layer.cell));
        }
        let area: u64 = layer.painted().runs().map(|(_, run)| run.count()).sum();
        let square = layer.cell.get() * layer.cell.get();
        fact(
            ui,
            "Painted",
            format!("{:.2} ha", area as f64 * square / 1e4),
        );
    });
    ui.add_space(6.0);
    ui.strong("Cost of a cell");
    ui.label("Cost added for vehicles that plan over open ground. Plain ground costs 16.");
    Grid::new("paint costs").num_columns(4).show(ui, |ui| {
        for (key, _) in scenario.listed_vehicle_types() {
            own_cost(ui, &mut subject, id, key);
        }
        cost(ui, &mut subject, OTHERS, layer.cost, |layer, cost| {
            layer.cost = cost
        });
        ui.end_row();
    });
    if ui.button("Delete layer").clicked() {
        let edit = Edit::Paint(id, None);
        actions.push(Action::Apply(format!("Delete {id}"), edit));
    }
}

/// Shows the row of a vehicle type: whether the type has a separate cost, and the cost itself.
fn own_cost(ui: &mut Ui, subject: &mut Subject<'_, PaintLayer>, id: PaintId, key: &str) {
    let own = subject.object.vehicles.get(key).copied();
    let mut is_own = own.is_some();
    let tick = ui.checkbox(&mut is_own, key);
    let label = format!("Separate cost for {key}");
    tick.widget_info(move || WidgetInfo::labeled(Role::CheckBox, true, &label));
    if tick.changed() {
        let usual = subject.object.cost;
        subject.apply(format!("Cost of {id} for {key}"), |layer| {
            if is_own {
                layer.vehicles.insert(key.to_owned(), usual);
            } else {
                layer.vehicles.remove(key);
            }
        });
    }
    if let Some(own) = own {
        cost_fields(ui, subject, key, own, |layer, cost| {
            layer.vehicles.insert(key.to_owned(), cost);
        });
    }
    ui.end_row();
}

fn cost(
    ui: &mut Ui,
    subject: &mut Subject<'_, PaintLayer>,
    name: &str,
    value: PaintCost,
    set: impl Fn(&mut PaintLayer, PaintCost),
) {
    ui.label(name);
    cost_fields(ui, subject, name, value, set);
}

/// Shows a field for the cost, and a checkbox for paint that blocks.
fn cost_fields(
    ui: &mut Ui,
    subject: &mut Subject<'_, PaintLayer>,
    name: &str,
    value: PaintCost,
    set: impl Fn(&mut PaintLayer, PaintCost),
) {
    let label = format!("Cost of {} for {name}", subject.name);
    let mut blocks = value == PaintCost::Blocks;
    if let PaintCost::Adds(amount) = value {
        let mut amount = amount;
        let range = -PaintCost::MOST..=PaintCost::MOST;
        let field = ui.add(DragValue::new(&mut amount).range(range).speed(0.2));
        named(&field, &format!("Cost for {name}"));
        subject.change(&field, &label, |layer| set(layer, PaintCost::Adds(amount)));
    } else {
        ui.label("");
    }
    let tick = ui.checkbox(&mut blocks, "blocks");
    let title = format!("Blocks {name}");
    tick.widget_info(move || WidgetInfo::labeled(Role::CheckBox, true, &title));
    if tick.changed() {
        let cost = if blocks {
            PaintCost::Blocks
        } else {
            PaintCost::Adds(32)
        };
        subject.apply(label, |layer| set(layer, cost));
    }
}
