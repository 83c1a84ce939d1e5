//! Hands the events of one frame on in several frames, so that each is handled with what the ones before it
//! left behind.
//!
//! After a hitch, all events of the meantime arrive in one frame: a key that selects a tool and a whole stroke,
//! for example. What they ask for changes the document and the tools only after a frame, and egui tests once
//! per frame which widget the pointer is over. So a frame gets the events up to the next one that may change
//! either, and the following ones wait for the next frame:
//!
//! ```text
//! R  move press move move release L  press ...       arrived in one frame
//! R| move press| move move release| L| press| ...    frames
//! ```

use egui::{Context, Event, Key, Plugin, RawInput, Ui};
use std::collections::VecDeque;

/// Longest time for which waiting events wait for the junctions of an edited document, s. The edit came
/// from an event of the same frame.
const LONGEST_WAIT: f64 = 2.0;

/// The events that wait for the next frame.
#[derive(Default)]
pub(crate) struct InputOrder {
    waiting: VecDeque<Event>,
    /// Whether a text field has the focus. Its keys are only text, and need no frame each.
    is_typing: bool,
    /// Whether the data that tools read are those of the document.
    is_current: bool,
    /// Time since which events have been waiting for these data, s.
    waits_since: Option<f64>,
}

impl InputOrder {
    /// Whether no event waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Records whether the data that tools read are those of the document.
    pub(crate) fn set_current(&mut self, is_current: bool) {
        self.is_current = is_current;
    }

    /// Whether events that arrived behind an edit have to wait for the data that are derived from it.
    fn waits(&mut self, had_events: bool, time: f64) -> bool {
        if !had_events || self.is_current {
            self.waits_since = None;
            return false;
        }
        time - *self.waits_since.get_or_insert(time) < LONGEST_WAIT
    }

    /// Number of events for the next frame.
    fn part(&self) -> usize {
        let last = self.waiting.iter().position(|event| self.ends_part(event));
        let Some(last) = last else {
            return self.waiting.len();
        };
        // The text of a key goes with it. Otherwise, it would be typed into a field that the key opens.
        let after = self.waiting.iter().skip(last + 1);
        let text = after.take_while(|event| matches!(event, Event::Text(_)));
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
        self.waiting.extend(input.events.drain(..));
        let time = ctx.input(|input| input.time);
        if !self.waits(had_events, time) {
            let part = self.part();
            input.events.extend(self.waiting.drain(..part));
        }
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

    /// Sizes of the parts in which events are handed on.
    fn parts(events: Vec<Event>, is_typing: bool) -> Vec<usize> {
        let mut order = InputOrder {
            waiting: events.into(),
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
