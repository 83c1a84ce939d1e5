//! Delivers the events of one frame over several frames, so that each event sees the effects of the previous ones.
//!
//! After a long frame, many events may arrive together: for example, a key that selects a tool, followed by a whole
//! stroke. The document and the tools change only at the end of a frame. In addition, egui determines only once per
//! frame which widget is under the pointer. A frame therefore receives the events up to the next one that may change
//! either of these. The rest wait for the next frame:
//!
//! ```text
//! R  move press move move release L  press ...       arrived in one frame
//! R| move press| move move release| L| press| ...    frames
//! ```
//!
//! These frames have the time at which their events arrived, so that two fast clicks are a double click however long a
//! frame takes.

use egui::{Context, Event, Key, Plugin, RawInput, Ui};
use std::collections::VecDeque;

/// Longest time that events wait for the junctions of an edited document, s.
const LONGEST_WAIT: f64 = 2.0;

/// Longest press of a finger that counts as a click, s. Longer presses open the context menu of the
/// object below the finger.
const LONGEST_TAP: f64 = 0.8;

/// An event, and the time of the frame in which it arrived, s.
struct Arrived {
    event: Event,
    time: f64,
}

/// Events that wait for the next frame.
#[derive(Default)]
pub(crate) struct InputOrder {
    waiting: VecDeque<Arrived>,
    /// Whether a text field has the focus. If so, the keys are text and need no separate frames.
    is_typing: bool,
    /// Whether the data that tools read belong to the current document.
    is_current: bool,
    /// Time at which events began to wait for these data, s; `None` if no events wait for them.
    waits_since: Option<f64>,
}

impl InputOrder {
    /// Whether no events are waiting.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Records whether the data that tools read belong to the current document.
    pub(crate) fn set_current(&mut self, is_current: bool) {
        self.is_current = is_current;
    }

    /// Whether events after an edit must wait for the data derived from the edited document.
    fn waits(&mut self, had_events: bool, time: f64) -> bool {
        if !had_events || self.is_current {
            self.waits_since = None;
            return false;
        }
        time - *self.waits_since.get_or_insert(time) < LONGEST_WAIT
    }

    /// Returns the number of events to deliver in the next frame.
    fn part(&self) -> usize {
        let ends_part = |arrived: &Arrived| self.ends_part(&arrived.event);
        let last = self.waiting.iter().position(ends_part);
        let Some(last) = last else {
            return self.waiting.len();
        };
        // The text of a key is delivered with the key. Otherwise, it would be typed into a field that the key opens.
        let after = self.waiting.iter().skip(last + 1);
        let text = after.take_while(|arrived| matches!(arrived.event, Event::Text(_)));
        last + 1 + text.count()
    }

    fn ends_part(&self, event: &Event) -> bool {
        match event {
            Event::PointerButton { .. } => true,
            Event::Key {
                key,
                pressed,
                repeat,
                ..
            } => !self.is_typing && !repeat && (*pressed || *key == Key::Space),
            Event::Copy | Event::Cut | Event::Paste(_) => !self.is_typing,
            _ => false,
        }
    }
}

impl Plugin for InputOrder {
    fn debug_name(&self) -> &'static str {
        "input order"
    }

    fn input_hook(&mut self, ctx: &Context, input: &mut RawInput) {
        let had_events = !self.waiting.is_empty();
        let before = ctx.input(|input| input.time);
        let time = input.time.unwrap_or(before);
        let arrived = input.events.drain(..).map(|event| Arrived { event, time });
        self.waiting.extend(arrived);
        if !self.waits(had_events, before) {
            let part = self.part();
            if let Some(first) = self.waiting.front().filter(|_| had_events) {
                input.time = Some(first.time.max(before));
            }
            let part = self.waiting.drain(..part);
            input.events.extend(part.map(|arrived| arrived.event));
        }
        // Press and release of a button arrive in two frames, which may be far apart on a slow computer. The duration
        // of a press therefore does not distinguish a click from a drag. On touch screens, a long press opens a menu.
        let is_touched = ctx.input(egui::InputState::any_touches);
        let longest = if is_touched {
            LONGEST_TAP
        } else {
            f64::INFINITY
        };
        ctx.options_mut(|options| options.input_options.max_click_duration = longest);
    }

    fn on_end_pass(&mut self, ui: &mut Ui) {
        let context = ui.ctx();
        self.is_typing = context.egui_wants_keyboard_input();
        if !self.waiting.is_empty() {
            context.request_repaint();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Modifiers, PointerButton, Pos2};

    fn key(key: Key, repeat: bool) -> Event {
        Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat,
            modifiers: Modifiers::NONE,
        }
    }

    fn button(pressed: bool) -> Event {
        Event::PointerButton {
            pos: Pos2::ZERO,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        }
    }

    /// Returns how many events each of the next frames receives.
    fn parts(events: Vec<Event>, is_typing: bool) -> Vec<usize> {
        let arrived = |event| Arrived { event, time: 0.0 };
        let mut order = InputOrder {
            waiting: events.into_iter().map(arrived).collect(),
            is_typing,
            ..InputOrder::default()
        };
        let mut parts = Vec::new();
        while !order.is_empty() {
            let part = order.part();
            order.waiting.drain(..part);
            parts.push(part);
        }
        parts
    }

    #[test]
    fn keys_and_buttons_end_a_frame_and_movements_do_not() {
        let moved = || Event::PointerMoved(Pos2::ZERO);
        let events = vec![
            key(Key::R, false),
            Event::Text("r".into()),
            moved(),
            button(true),
            moved(),
            moved(),
            button(false),
            moved(),
        ];
        assert_eq!(parts(events, false), [2, 2, 3, 1]);
    }

    #[test]
    fn text_and_held_keys_need_no_frame_each() {
        let word = || {
            let letters = "road".chars();
            let events = letters.flat_map(|c| [key(Key::R, false), Event::Text(c.to_string())]);
            events.collect::<Vec<_>>()
        };
        assert_eq!(parts(word(), true), [8]);
        assert_eq!(parts(word(), false), [2, 2, 2, 2]);
        assert_eq!(parts(vec![key(Key::ArrowUp, true); 5], false), [5]);
    }

    #[test]
    fn events_behind_an_edit_wait_for_its_data_but_not_for_ever() {
        let mut order = InputOrder::default();
        assert!(!order.waits(false, 10.0));
        assert!(order.waits(true, 10.0));
        assert!(order.waits(true, 11.9));
        assert!(!order.waits(true, 12.1));
        order.set_current(true);
        assert!(!order.waits(true, 12.2));
        order.set_current(false);
        assert!(order.waits(true, 13.0));
    }
}
