//! Messages that fade: dark plates at the bottom centre of the map.

use crate::command::Command;
use crate::model::{Action, Model, Tone};
use crate::theme::Theme;
use egui::{Align2, Area, CornerRadius, Frame, Id, Order, Pos2, RichText, Ui, pos2};
use std::time::{Duration, Instant};

/// Display time of a success message, s. Such a message can be read at a glance.
const SECONDS_DONE: u64 = 3;
/// Display time of a message with an action, or of the reason for a refusal, s. Both take longer to read.
const SECONDS_LONG: u64 = 8;
/// Maximum number of messages at a time.
const MOST: usize = 3;
/// Distance from the lower edge of the map, points. It leaves room for the attribution.
const ABOVE_EDGE: f32 = 36.0;
/// Maximum width of a message, points.
const WIDEST: f32 = 560.0;

/// A message at the bottom of the map.
struct Message {
    tone: Tone,
    text: String,
    /// Number of times that the message was sent.
    times: u32,
    fades: Instant,
    /// Revision of the document after the step that the message offers to undo.
    undoes: Option<u64>,
}

/// The messages that have not faded, oldest first.
#[derive(Default)]
pub(crate) struct Messages {
    shown: Vec<Message>,
}

impl Messages {
    /// Adds a message. A repeated message gets a counter instead of being shown twice. If there are too many
    /// messages, the oldest is removed, so that messages never cover the map. `undoes` is the revision of the
    /// document after the step that the message offers to undo.
    #[expect(clippy::disallowed_methods, reason = "messages fade by the clock")]
    pub(crate) fn say(&mut self, tone: Tone, text: &str, undoes: Option<u64>) {
        let now = Instant::now();
        self.shown.retain(|message| now < message.fades);
        let known = self.shown.iter().position(|message| message.text == text);
        let times = known.map_or(0, |index| self.shown.remove(index).times) + 1;
        if self.shown.len() >= MOST {
            self.shown.remove(0);
        }
        let seconds = match tone {
            Tone::Done if undoes.is_none() => SECONDS_DONE,
            Tone::Done | Tone::Refused | Tone::Failed => SECONDS_LONG,
        };
        self.shown.push(Message {
            tone,
            text: text.to_owned(),
            times,
            fades: now + Duration::from_secs(seconds),
            undoes,
        });
    }

    /// Removes all messages.
    pub(crate) fn clear(&mut self) {
        self.shown.clear();
    }

    /// Shows the messages at the bottom of the map.
    #[expect(clippy::disallowed_methods, reason = "messages fade by the clock")]
    pub(crate) fn ui(
        &mut self,
        context: &egui::Context,
        map: egui::Rect,
        model: &Model,
        actions: &mut Vec<Action>,
    ) {
        let now = Instant::now();
        self.shown.retain(|message| now < message.fades);
        let theme = model.theme();
        let mut bottom = map.bottom() - ABOVE_EDGE;
        for (index, message) in self.shown.iter().enumerate().rev() {
            let at = pos2(map.center().x, bottom);
            // After another edit, Undo would undo that one instead.
            let can_undo = message.undoes == Some(model.document.revision());
            let width = (map.width() - 32.0).clamp(160.0, WIDEST);
            let area = area(index, at, can_undo).show(context, |ui| {
                ui.set_max_width(width);
                plate(ui, theme, message, can_undo)
            });
            if area.inner {
                actions.push(Action::Do(Command::Undo));
            }
            bottom = area.response.rect.top() - 6.0;
            context.request_repaint_after(message.fades - now);
        }
    }
}

/// Creates the screen area for a message. Only a message with a button takes clicks; other clicks
/// reach the map below.
fn area(index: usize, at: Pos2, has_button: bool) -> Area {
    Area::new(Id::unique(("message", index)))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_BOTTOM)
        .fixed_pos(at)
        .interactable(has_button)
}

/// Draws a message. Returns whether its Undo button was clicked.
fn plate(ui: &mut Ui, theme: Theme, message: &Message, can_undo: bool) -> bool {
    let frame = Frame::NONE
        .fill(theme.toast())
        .corner_radius(CornerRadius::same(8))
        .inner_margin(egui::Margin::symmetric(12, 8));
    let shown = frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            let (dot, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
            let color = theme.toast_sign(message.tone);
            ui.painter().circle_filled(dot.center(), 4.5, color);
            let text = match message.times {
                1 => message.text.clone(),
                times => format!("{} (×{times})", message.text),
            };
            let text = RichText::new(text).color(theme.toast_text());
            ui.add(egui::Label::new(text).selectable(false).wrap());
            let undo = RichText::new("Undo").color(theme.toast_action()).strong();
            can_undo && ui.add(egui::Button::new(undo).frame(false)).clicked()
        })
        .inner
    });
    shown.inner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(messages: &Messages) -> Vec<(&str, u32)> {
        let all = messages.shown.iter();
        all.map(|message| (message.text.as_str(), message.times))
            .collect()
    }

    #[test]
    fn repeated_messages_are_counted_and_the_oldest_makes_room() {
        let mut messages = Messages::default();
        for text in ["a", "b", "a", "a"] {
            messages.say(Tone::Refused, text, None);
        }
        assert_eq!(shown(&messages), [("b", 1), ("a", 3)]);
        for text in ["c", "d"] {
            messages.say(Tone::Done, text, None);
        }
        assert_eq!(shown(&messages), [("a", 3), ("c", 1), ("d", 1)]);
    }
}
