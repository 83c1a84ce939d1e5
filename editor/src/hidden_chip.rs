//! The chip on the map that lists hidden parts. It reminds users that these parts still exist.

use crate::command::Command;
use crate::model::{Action, Model};
use crate::tools::Tone;
use egui::{Align2, Button, FontId, Rect, Ui, vec2};

/// Maximum number of parts listed by name. If there are more, the chip shows only their number.
const MOST_NAMES: usize = 3;
/// Distance from the upper edge of the map, points. It leaves room for the legend of the heat map.
const TOP: f32 = 12.0;
/// Margin around the text, points.
const MARGIN: egui::Vec2 = vec2(12.0, 6.0);

/// The chip at the top centre of the map.
#[derive(Default)]
pub(crate) struct HiddenChip {
    /// Rectangle of the chip on the screen. Clicks in it do not reach the map.
    place: Option<Rect>,
}

impl HiddenChip {
    /// Returns the rectangle of the chip on the screen, if it is shown.
    pub(crate) fn place(&self) -> Option<Rect> {
        self.place
    }

    /// Whether a point of the screen is on the chip.
    pub(crate) fn contains(&self, at: egui::Pos2) -> bool {
        self.place.is_some_and(|place| place.contains(at))
    }

    /// Shows the chip if parts are hidden. A click shows all parts again.
    pub(crate) fn ui(&mut self, ui: &mut Ui, map: Rect, model: &Model, actions: &mut Vec<Action>) {
        self.place = None;
        let Some(text) = text(model) else {
            return;
        };
        let font = FontId::proportional(14.0);
        let color = model.theme().handle();
        let galley = ui.painter().layout_no_wrap(text.clone(), font, color);
        let size = galley.size() + 2.0 * MARGIN;
        let top = map.center_top() + vec2(0.0, TOP);
        let rect = Align2::CENTER_TOP.anchor_size(top, size);
        self.place = Some(rect.expand(2.0));
        let fill = model.theme().tone(Tone::Accent);
        let button = Button::new(galley).fill(fill).corner_radius(0.5 * size.y);
        let response = ui.put(rect, button);
        let key = model.settings.keys.label(Command::ShowHidden);
        let hint = format!("{} ({key})", Command::ShowHidden.hint());
        if response.on_hover_text(hint).clicked() {
            actions.push(Action::Do(Command::ShowHidden));
        }
    }
}

/// Returns the text of the chip; `None` if no part of this scenario is hidden.
fn text(model: &Model) -> Option<String> {
    let scenario = model.document.scenario();
    let hidden = &model.settings.tools.hidden;
    let all = crate::tools::MapPart::all(scenario).into_iter();
    let names: Vec<String> = all
        .filter(|part| hidden.contains(part))
        .map(crate::tools::MapPart::name)
        .collect();
    let text = match names.len() {
        0 => return None,
        n if n > MOST_NAMES => format!("Hidden: {n} kinds. Show all"),
        _ => format!("Hidden: {}. Show all", names.join(", ")),
    };
    Some(text)
}
