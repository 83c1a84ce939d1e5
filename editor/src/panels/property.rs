//! Properties of objects. Each is described in one place, from which its row, its range and its history step
//! are derived.

use super::widgets::{Number, change, choice, text};
use crate::model::Action;
use egui::{Response, Ui};
use roadwright_scenario::Edit;
use std::ops::RangeInclusive;

/// Label of most history steps.
pub(super) const OF: &str = "{name} of {object}";

/// Range of positions in files, m.
pub(super) const EXTENT: RangeInclusive<f64> =
    -roadwright_geometry::MAX_COORDINATE..=roadwright_geometry::MAX_COORDINATE;

/// Range of headings in degrees. It is a whole turn in both directions, so that a drag does not
/// stop at east, which is 0.
pub(super) const TURN: RangeInclusive<f64> = -360.0..=360.0;

/// A numeric property of objects of type `T`.
pub(super) struct Property<T> {
    /// Name on the screen, also used by screen readers and tests.
    pub(super) name: &'static str,
    /// Label of the history step, with the placeholders `{name}` and `{object}`. Changes with the
    /// same label form a single gesture. Two properties of an object should therefore have
    /// different labels, unless they belong together.
    pub(super) label: &'static str,
    pub(super) unit: &'static str,
    /// Range in the unit of the property. It must be within the range allowed in files; otherwise, edits
    /// would be refused.
    pub(super) range: RangeInclusive<f64>,
    /// Change of the value per point of dragging.
    pub(super) step: f64,
    pub(super) hint: &'static str,
    /// Returns the value in the unit of the property; `None` if the object does not have this property and
    /// gets no row for it.
    pub(super) get: fn(&T) -> Option<f64>,
    pub(super) set: fn(&mut T, f64),
}

/// A text property of objects of type `T`.
pub(super) struct TextProperty<T> {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    /// Placeholder text in the empty field.
    pub(super) hint: &'static str,
    /// Whether the text may be longer than one line and is wrapped.
    pub(super) wraps: bool,
    pub(super) get: fn(&T) -> &str,
    pub(super) set: fn(&mut T, String),
}

/// A choice between a few values, for objects of type `T`.
pub(super) struct Choice<T, V> {
    /// Label before the field.
    pub(super) title: &'static str,
    /// Name for screen readers and tests, because several fields with this title may be visible.
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) hint: &'static str,
    pub(super) get: fn(&T) -> &V,
    pub(super) set: fn(&mut T, V),
}

impl<T> Property<T> {
    /// Shows the row if the object has this property. Returns the new value and the response.
    pub(super) fn row(&self, ui: &mut Ui, object: &T) -> Option<(f64, Response)> {
        let number = Number {
            name: self.name,
            value: (self.get)(object)?,
            range: self.range.clone(),
            unit: self.unit,
            step: self.step,
            hint: self.hint,
        };
        Some(number.ui(ui))
    }

    /// Returns the label of the history step for a change of an object.
    pub(super) fn label_for(&self, object: &str) -> String {
        label(self.label, self.name, object)
    }
}

fn label(pattern: &str, name: &str, object: &str) -> String {
    pattern.replace("{name}", name).replace("{object}", object)
}

/// An object whose properties are shown, with the function that converts a changed object to an
/// edit.
pub(super) struct Subject<'a, T> {
    /// Name of the object in the history.
    pub(super) name: String,
    pub(super) object: &'a T,
    pub(super) edit: &'a dyn Fn(T) -> Edit,
    pub(super) actions: &'a mut Vec<Action>,
}

impl<T: Clone> Subject<'_, T> {
    /// Shows numeric properties, one per row. A drag is one history step.
    pub(super) fn numbers(&mut self, ui: &mut Ui, properties: &[Property<T>]) {
        for property in properties {
            // An object without this property has no row, so a single list serves all shapes.
            let Some((value, response)) = property.row(ui, self.object) else {
                continue;
            };
            let label = property.label_for(&self.name);
            self.change(&response, &label, |object| (property.set)(object, value));
        }
    }

    /// Shows text properties, one per row. Typing is one history step until the field loses the focus.
    pub(super) fn texts(&mut self, ui: &mut Ui, properties: &[TextProperty<T>]) {
        for property in properties {
            let value = (property.get)(self.object);
            let (value, response) = text(ui, property.name, value, property.wraps, property.hint);
            let label = label(property.label, property.name, &self.name);
            self.change(&response, &label, |object| (property.set)(object, value));
        }
    }

    /// Shows a choice in a row.
    pub(super) fn choose<V: PartialEq + Clone>(
        &mut self,
        ui: &mut Ui,
        property: &Choice<T, V>,
        all: &[(V, String)],
    ) {
        let title = ui.label(property.title);
        if !property.hint.is_empty() {
            title.on_hover_text(property.hint);
        }
        let chosen = choice(ui, property.name, (property.get)(self.object), all);
        if let Some(value) = chosen {
            let label = label(property.label, property.title, &self.name);
            self.apply(label, |object| (property.set)(object, value));
        }
        ui.end_row();
    }

    /// Changes the object in a separate step.
    pub(super) fn apply(&mut self, label: String, change: impl FnOnce(&mut T)) {
        let mut object = self.object.clone();
        change(&mut object);
        self.actions.push(Action::Apply(label, (self.edit)(object)));
    }

    /// Changes the object as part of a gesture if the widget's response reports a change. A drag is one step.
    pub(super) fn change(&mut self, response: &Response, label: &str, set: impl FnOnce(&mut T)) {
        // Created only when the row has changed, so that most frames copy no object.
        let edit = || {
            let mut object = self.object.clone();
            set(&mut object);
            (self.edit)(object)
        };
        change(response, label, edit, self.actions);
    }
}

/// Shows a read-only row with a name and a value.
pub(super) fn fact(ui: &mut Ui, name: &str, value: impl Into<String>) {
    ui.label(name);
    ui.label(value.into());
    ui.end_row();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_the_property_and_the_object() {
        assert_eq!(label(OF, "Width", "obstacle 3"), "Width of obstacle 3");
        assert_eq!(
            label("Rotate {object}", "Heading", "agent 1"),
            "Rotate agent 1"
        );
        assert_eq!(label("Change seed", "Seed", ""), "Change seed");
    }
}
