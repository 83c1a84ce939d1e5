//! Gamepads on systems other than Linux, through the `gilrs` crate.

use super::{Axis, Button, PadEvent, PadId, Source};
use gilrs::{EventType, GamepadId, Gilrs};

/// The `gilrs` library. It starts threads, so it exists only while the user drives.
pub(super) struct Library {
    /// `None` if the library could not start.
    pads: Option<Gilrs>,
    problem: Option<String>,
    /// Whether the first read has reported the pads that were connected from the start.
    is_begun: bool,
}

impl Library {
    pub(super) fn new() -> Self {
        match Gilrs::new() {
            Ok(pads) => Self {
                pads: Some(pads),
                problem: None,
                is_begun: false,
            },
            Err(error) => Self {
                pads: None,
                problem: Some(format!("Gamepads cannot be read: {error}.")),
                is_begun: false,
            },
        }
    }
}

impl Source for Library {
    fn read(&mut self, _: f64, events: &mut Vec<PadEvent>) {
        let Some(pads) = &mut self.pads else {
            return;
        };
        if !self.is_begun {
            self.is_begun = true;
            let there = pads.gamepads();
            events
                .extend(there.map(|(id, pad)| PadEvent::Connected(number(id), pad.name().into())));
        }
        while let Some(event) = pads.next_event() {
            let id = number(event.id);
            let said = match event.event {
                EventType::Connected => {
                    let name = pads.gamepad(event.id).name().to_owned();
                    Some(PadEvent::Connected(id, name))
                }
                EventType::Disconnected => Some(PadEvent::Gone(id)),
                EventType::AxisChanged(gilrs::Axis::LeftStickX, value, _) => {
                    Some(PadEvent::Moved(id, Axis::Steering, value.into()))
                }
                EventType::ButtonChanged(gilrs::Button::LeftTrigger2, value, _) => {
                    Some(PadEvent::Moved(id, Axis::Brake, value.into()))
                }
                EventType::ButtonChanged(gilrs::Button::RightTrigger2, value, _) => {
                    Some(PadEvent::Moved(id, Axis::Throttle, value.into()))
                }
                EventType::ButtonPressed(gilrs::Button::East, _) => {
                    Some(PadEvent::Pressed(id, Button::East))
                }
                _ => None,
            };
            events.extend(said);
        }
    }

    fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}

fn number(id: GamepadId) -> PadId {
    usize::from(id) as PadId
}
