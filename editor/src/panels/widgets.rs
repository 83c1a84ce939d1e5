//! Widgets shared by several panels. Every input has a name for screen readers and tests.

use crate::model::Action;
use crate::theme::Theme;
use crate::tools::Tone;
use egui::{DragValue, Response, RichText, Role, Ui, WidgetInfo};
use roadwright_scenario::Edit;

/// A number that can be dragged or typed.
pub(super) struct Number<'a> {
    pub(super) name: &'a str,
    pub(super) value: f64,
    pub(super) range: std::ops::RangeInclusive<f64>,
    pub(super) unit: &'a str,
    pub(super) step: f64,
    pub(super) hint: &'a str,
}

impl Number<'_> {
    /// Shows the number in a row with name, value and unit. Returns the new value and the response.
    pub(super) fn ui(self, ui: &mut Ui) -> (f64, Response) {
        ui.label(self.name).on_hover_text(self.hint);
        let mut value = self.value;
        let suffix = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", self.unit)
        };
        let (low, high) = (*self.range.start(), *self.range.end());
        // Numbers without a unit that change in steps of one are integers.
        let whole = self.unit.is_empty() && self.step >= 1.0;
        let drag = DragValue::new(&mut value)
            .range(self.range)
            // An integer changes by one every 20 points; otherwise it would change too fast.
            .speed(if whole { 0.05 } else { self.step })
            .max_decimals(if whole { 0 } else { 6 })
            // A file may contain a value outside the range; showing it must not change it.
            .clamp_existing_to_range(false)
            .suffix(suffix);
        let hint = format!("{}\n{low} to {high} {}", self.hint, self.unit);
        let response = ui.add(drag).on_hover_text(hint);
        named(&response, self.name);
        ui.end_row();
        (value, response)
    }
}

/// Gives an input its accessible name.
pub(super) fn named(response: &Response, name: &str) {
    let name = name.to_owned();
    response.widget_info(move || WidgetInfo::labeled(Role::SpinButton, true, &name));
}

/// Sends each intermediate state of a change, and then its end, so that a drag is one step.
pub(super) fn change(
    response: &Response,
    label: &str,
    edit: impl FnOnce() -> Edit,
    actions: &mut Vec<Action>,
) {
    if response.changed() {
        actions.push(Action::Preview(label.to_owned(), edit()));
    }
    // The label is given, because another gesture may have started before this field lost the focus.
    if response.drag_stopped() || response.lost_focus() {
        actions.push(Action::Commit(Some(label.to_owned())));
    }
}

/// Shows a text field, either with one scrolling line or with as many lines as needed. Returns the new text
/// when typing ends.
pub(super) fn text(
    ui: &mut Ui,
    name: &str,
    value: &str,
    wraps: bool,
    hint: &str,
) -> (String, Response) {
    ui.label(name);
    let mut text = value.to_owned();
    let edit = if wraps {
        // Lines break only where the text would not fit.
        egui::TextEdit::multiline(&mut text)
            .desired_rows(1)
            .return_key(None)
    } else {
        egui::TextEdit::singleline(&mut text)
    };
    let edit = edit.hint_text(hint).desired_width(f32::INFINITY);
    let response = ui.add(edit);
    let label = name.to_owned();
    response.widget_info(move || WidgetInfo::labeled(Role::TextInput, true, &label));
    ui.end_row();
    (text, response)
}

/// Returns a count with its noun, in the plural if needed.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// Maximum height of a list of choices, points. Longer lists scroll.
const LIST_HEIGHT: f32 = 320.0;

/// Shows a choice from a short list.
pub(super) fn choice<T: PartialEq + Clone>(
    ui: &mut Ui,
    name: &str,
    value: &T,
    all: &[(T, String)],
) -> Option<T> {
    let shown = all.iter().find(|(known, _)| known == value);
    // A file may name an entry that does not exist, such as a removed stack.
    let shown = shown.map_or("?", |(_, text)| text.as_str());
    let mut chosen = None;
    let combo = egui::ComboBox::from_id_salt(name)
        .selected_text(shown)
        // High enough for all kinds of junction control.
        .height(LIST_HEIGHT)
        .show_ui(ui, |ui| {
            for (known, text) in all {
                if ui.selectable_label(known == value, text).clicked() {
                    chosen = Some(known.clone());
                }
            }
        });
    let label = format!("{name}: {shown}");
    combo
        .response
        .widget_info(move || WidgetInfo::labeled(Role::ComboBox, true, &label));
    chosen.filter(|new| new != value)
}

/// Shows the main button of a dialog. A dialog has at most one.
pub(super) fn primary(ui: &mut Ui, text: &str) -> Response {
    let button = accented(ui, text);
    ui.add(button)
}

/// Shows the main button of a dialog, which may be disabled.
pub(super) fn primary_if(ui: &mut Ui, is_enabled: bool, text: &str) -> Response {
    let button = if is_enabled {
        accented(ui, text)
    } else {
        egui::Button::new(text)
    };
    ui.add_enabled(is_enabled, button)
}

/// Creates a button in the accent colour.
fn accented<'a>(ui: &Ui, text: &str) -> egui::Button<'a> {
    let theme = Theme {
        dark: ui.visuals().dark_mode,
    };
    egui::Button::new(RichText::new(text).color(theme.handle()).strong())
        .fill(theme.tone(Tone::Accent))
}

/// Shows a dialog with a margin around its contents.
pub(super) fn modal(context: &egui::Context, name: &str) -> egui::Modal {
    let style = context.global_style();
    let frame = egui::Frame::popup(&style).inner_margin(16.0);
    egui::Modal::new(egui::Id::unique(name)).frame(frame)
}

/// Shows the heading of a section of a panel.
pub(super) fn heading(ui: &mut Ui, text: &str) -> egui::Response {
    ui.add_space(4.0);
    let response = ui.label(RichText::new(text).strong());
    ui.add_space(2.0);
    response
}

/// Shows the text of a panel that has no other contents.
pub(super) fn empty(ui: &mut Ui, text: &str) {
    ui.add_space(12.0);
    ui.vertical_centered(|ui| ui.label(RichText::new(text).weak()));
}
