//! Reordering of vehicle types and stacks in their lists, by dragging or by single steps.

use super::widgets::named;
use crate::kind_edits::Kind;
use crate::model::Action;
use egui::{Response, Sense, Ui};
use roadwright_scenario::{Edit, Scenario};

/// The dragged entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Moved {
    kind: Kind,
    key: String,
}

/// Width of the line that shows the drop position, points.
const LINE: f32 = 2.0;

/// Makes the header of an entry draggable within its list, and lets other entries be dropped on it. The
/// context menu moves the entry by single steps.
pub(super) fn header(
    ui: &Ui,
    header: &Response,
    scenario: &Scenario,
    kind: Kind,
    key: &str,
    actions: &mut Vec<Action>,
) {
    let header = header.interact(Sense::click_and_drag());
    let key = key.to_owned();
    header.dnd_set_drag_payload(Moved {
        kind,
        key: key.clone(),
    });
    header.context_menu(|ui| menu(ui, scenario, kind, &key, actions));
    let fits = |moved: &Moved| moved.kind == kind && moved.key != key;
    let held = header
        .dnd_hover_payload::<Moved>()
        .filter(|held| fits(held));
    let Some(held) = held else { return };
    let names = kind.listed(scenario);
    let place = |key: &str| names.iter().position(|name| name == key);
    let (Some(from), Some(to)) = (place(&held.key), place(&key)) else {
        return;
    };
    // The dropped entry takes the place of this entry, which moves towards the old place.
    if header.dnd_release_payload::<Moved>().is_some() {
        send(kind, kind.brought(scenario, &held.key, to), actions);
        return;
    }
    let rect = header.rect;
    let y = if from < to { rect.bottom() } else { rect.top() };
    let stroke = (LINE, ui.visuals().selection.bg_fill);
    ui.painter().hline(rect.x_range(), y, stroke);
}

/// Shows the context menu of an entry.
fn menu(ui: &mut Ui, scenario: &Scenario, kind: Kind, key: &str, actions: &mut Vec<Action>) {
    let names = kind.listed(scenario);
    let place = names.iter().position(|name| name == key).unwrap_or(0);
    let last = names.len().saturating_sub(1);
    let steps = [
        ("Move to top", place > 0, 0),
        ("Move up", place > 0, place.saturating_sub(1)),
        ("Move down", place < last, place + 1),
        ("Move to bottom", place < last, last),
    ];
    for (title, can, to) in steps {
        if ui.add_enabled(can, egui::Button::new(title)).clicked() {
            send(kind, kind.brought(scenario, key, to), actions);
        }
    }
    ui.separator();
    let sorted = kind.sorted(scenario);
    let button = egui::Button::new("Sort by name");
    if ui.add_enabled(sorted.is_some(), button).clicked() {
        send(kind, sorted, actions);
    }
}

/// Shows two buttons that move an entry one place up or down.
pub(super) fn buttons(
    ui: &mut Ui,
    scenario: &Scenario,
    kind: Kind,
    key: &str,
    actions: &mut Vec<Action>,
) {
    let names = kind.listed(scenario);
    let Some(place) = names.iter().position(|name| name == key) else {
        return;
    };
    let up = place.checked_sub(1);
    let down = (place + 1 < names.len()).then_some(place + 1);
    for (sign, word, to) in [("⬆", "up", up), ("⬇", "down", down)] {
        let button = egui::Button::new(sign).small();
        let response = ui.add_enabled(to.is_some(), button);
        named(&response, &format!("Move {} {key} {word}", kind.word()));
        let hint = format!("Move this entry {word} in the list. You can also drag its name.");
        if let Some(to) = to.filter(|_| response.on_hover_text(hint).clicked()) {
            send(kind, kind.brought(scenario, key, to), actions);
        }
    }
}

fn send(kind: Kind, edit: Option<Edit>, actions: &mut Vec<Action>) {
    let label = format!("Order of {}s", kind.word());
    actions.extend(edit.map(|edit| Action::Apply(label, edit)));
}
