//! The tool bar.

use crate::command::Command;
use crate::icons;
use crate::model::{Action, Model};
use crate::tools::ToolKind;
use egui::{Align2, FontId, Rect, Role, Sense, Ui, WidgetInfo, vec2};

/// Preferred height of a button, in points.
const HEIGHT: f32 = 50.0;
/// Minimum height of a button, in points.
const LEAST_HEIGHT: f32 = 21.0;
/// Minimum height of a button that shows its name below the icon, points.
const WITH_NAME: f32 = 42.0;
/// Gap between buttons, points.
const GAP: f32 = 3.0;

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    ui.add_space(4.0);
    ui.spacing_mut().item_spacing.y = GAP;
    // All buttons are visible even in a short window.
    let room = ui.available_height() / ToolKind::ALL.len() as f32 - GAP;
    let height = room.clamp(LEAST_HEIGHT, HEIGHT);
    for kind in ToolKind::ALL {
        if button(ui, model, kind, height) {
            actions.push(Action::Tool(kind));
        }
    }
}

fn button(ui: &mut Ui, model: &Model, kind: ToolKind, height: f32) -> bool {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let chosen = model.tool == kind;
    response.widget_info(move || {
        WidgetInfo::selected(Role::Button, true, chosen, format!("{} tool", kind.name()))
    });
    // The icon and the name have the colour of selected text, which is legible on its fill.
    let color = if chosen {
        ui.visuals().selection.stroke.color
    } else {
        ui.visuals().text_color()
    };
    if chosen {
        let fill = ui.visuals().selection.bg_fill;
        ui.painter().rect_filled(rect, 6.0, fill);
    } else if response.hovered() || response.has_focus() {
        let fill = ui.visuals().widgets.hovered.weak_bg_fill;
        ui.painter().rect_filled(rect, 6.0, fill);
    }
    let has_name = height >= WITH_NAME;
    let above = vec2(0.0, if has_name { 8.0 } else { 0.0 });
    let icon = Rect::from_center_size(rect.center() - above, vec2(22.0, 22.0));
    icons::tool(ui.painter(), icon, kind, color);
    if has_name {
        let below = rect.center_bottom() - vec2(0.0, 4.0);
        let font = FontId::proportional(11.5);
        ui.painter()
            .text(below, Align2::CENTER_BOTTOM, kind.name(), font, color);
    }
    let key = model.settings.keys.label(Command::Tool(kind));
    response
        .on_hover_text(format!("{} ({key})", kind.hint()))
        .clicked()
}
