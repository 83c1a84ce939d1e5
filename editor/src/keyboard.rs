//! Keyboard input, which goes to the tool first and then to commands.

use crate::command::Command;
use crate::model::{Action, Dialog, Model};
use crate::panels::timeline;
use crate::view::ViewState;
use crate::window_keys::chord;
use egui::{Event, Key, Modifiers};
use roadwright_simulation::HandControls;

/// Keys for driving forwards.
const ONWARDS: [Key; 2] = [Key::W, Key::ArrowUp];
/// Keys for braking and driving in reverse.
const BACK: [Key; 2] = [Key::S, Key::ArrowDown];
/// Keys for steering to the left.
const LEFT: [Key; 2] = [Key::A, Key::ArrowLeft];
/// Keys for steering to the right.
const RIGHT: [Key; 2] = [Key::D, Key::ArrowRight];

/// Handles the keyboard events of this frame and updates the controls of the manually driven
/// vehicle.
pub(crate) fn read(
    context: &egui::Context,
    model: &Model,
    view: &mut ViewState,
    actions: &mut Vec<Action>,
) {
    let events = context.input(|i| i.events.clone());
    let is_on_timeline = context.memory(|memory| memory.has_focus(timeline::chart_id()));
    let mut keyboard = Keyboard {
        typing: context.egui_wants_keyboard_input() && !is_on_timeline,
        is_on_timeline,
        is_menu_open: egui::Popup::is_any_open(context),
        model,
        view,
        actions,
    };
    let was_waited_for = keyboard.view.panels.waits_for_key(model);
    for event in events {
        keyboard.event(event);
    }
    keyboard.drive(context);
    if was_waited_for {
        // While the key sheet waits for a key, the key has no other effect. For example, Esc would otherwise close
        // the sheet.
        context.input_mut(|input| {
            input
                .events
                .retain(|event| !matches!(event, Event::Key { .. }))
        });
    }
}

/// The keyboard in one frame.
struct Keyboard<'a> {
    /// Whether a text field has the focus.
    typing: bool,
    /// Whether the timeline has the focus. The timeline then uses some of the keys; the others act as usual.
    is_on_timeline: bool,
    /// Whether a menu or list is open. Esc then only closes it.
    is_menu_open: bool,
    model: &'a Model,
    view: &'a mut ViewState,
    actions: &'a mut Vec<Action>,
}

impl Keyboard<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Key {
                key,
                pressed,
                modifiers,
                repeat,
                ..
            } => self.key(key, pressed, modifiers, repeat),
            Event::Text(text) if !self.typing && self.is_map_active() && self.tool_is_busy() => {
                for c in text.chars() {
                    self.view.canvas.typed(c, self.model, self.actions);
                }
            }
            // After the window loses the focus, the release of Space is reported to another window.
            Event::WindowFocused(false) => drop(self.view.canvas.hand.release_space()),
            // Text fields copy and paste their own text.
            Event::Copy | Event::Cut | Event::Paste(_) if self.typing || !self.is_map_active() => {}
            Event::Copy => self.ask(Command::Copy),
            Event::Cut => self.ask(Command::Cut),
            Event::Paste(text) => self.actions.push(Action::PasteText(text)),
            _ => {}
        }
    }

    fn key(&mut self, key: Key, pressed: bool, modifiers: Modifiers, repeat: bool) {
        if self.view.panels.waits_for_key(self.model) {
            if pressed {
                self.bind(key, modifiers);
            }
        } else if key == Key::Space && !pressed {
            self.release_space(modifiers);
        } else if key == Key::Space && !self.typing && self.is_map_active() {
            if !repeat {
                self.view.canvas.hand.press_space();
            }
        } else if pressed {
            self.press(key, modifiers);
        }
    }

    fn ask(&mut self, command: Command) {
        self.actions.push(Action::Do(command));
    }

    /// Returns the command bound to a key.
    fn command(&self, key: Key, modifiers: Modifiers) -> Option<Command> {
        self.model.settings.keys.command(chord(key, modifiers)?)
    }

    fn is_map_active(&self) -> bool {
        self.model.dialog == Dialog::None
    }

    fn tool_is_busy(&self) -> bool {
        self.view.canvas.hand.tool().is_busy()
    }

    /// Passes a key to the key sheet if it waits for one.
    fn bind(&mut self, key: Key, modifiers: Modifiers) {
        let command = self.view.panels.take_waiting_command();
        if let Some(command) = command
            && key != Key::Escape
            && let Some(chord) = chord(key, modifiers)
        {
            self.actions.push(Action::BindKey(command, chord));
        }
    }

    /// Handles the release of Space. If the map was panned while Space was held, nothing else
    /// happens; otherwise the command bound to Space is carried out.
    fn release_space(&mut self, modifiers: Modifiers) {
        let tapped = self.view.canvas.hand.release_space() && !self.typing && self.is_map_active();
        if let Some(command) = self.command(Key::Space, modifiers)
            && tapped
        {
            self.ask(command);
        }
    }

    /// Handles the keys listed on the welcome panel while it is open.
    fn press_in_welcome(&mut self, key: Key, modifiers: Modifiers) {
        let command = self.command(key, modifiers);
        let offered = [Command::New, Command::Open, Command::Import];
        if let Some(command) = command.filter(|command| offered.contains(command)) {
            self.ask(command);
        }
    }

    /// Sets the controls of the manually driven vehicle from the held keys.
    fn drive(&mut self, context: &egui::Context) {
        let Some((_, before)) = self.model.driving else {
            return;
        };
        // While the user types or answers a dialog, keys do not drive.
        let is_free = !self.typing && self.is_map_active();
        let controls = context.input(|input| {
            let held = |keys: [Key; 2]| {
                let is_held = is_free && keys.iter().any(|key| input.key_down(*key));
                f64::from(u8::from(is_held))
            };
            HandControls {
                pedals: held(ONWARDS) - held(BACK),
                steering: held(LEFT) - held(RIGHT),
                lock: self.model.settings.steering_lock(),
            }
        });
        let controls = with_pad(controls, self.model.pad.controls);
        if controls != before {
            self.actions.push(Action::Drive(Some(controls)));
        }
    }

    /// Whether a key controls the manually driven vehicle. Escape returns the vehicle to its modules.
    fn drives(&mut self, key: Key, modifiers: Modifiers) -> bool {
        if self.model.driving.is_none() {
            return false;
        }
        if key == Key::Escape {
            self.actions.push(Action::Drive(None));
            return true;
        }
        let keys = [ONWARDS, BACK, LEFT, RIGHT];
        !modifiers.command && keys.iter().flatten().any(|own| *own == key) && !modifiers.shift
    }

    fn press(&mut self, key: Key, modifiers: Modifiers) {
        if !self.is_map_active() {
            if key == Key::Escape {
                self.actions.push(Action::Show(Dialog::None));
            } else if self.model.dialog == Dialog::Welcome && !self.typing {
                self.press_in_welcome(key, modifiers);
            }
            // An open palette handles its keys itself.
            return;
        }
        if key == Key::Escape && self.is_menu_open {
            return;
        }
        let is_for_timeline = self.is_on_timeline && timeline::takes(key);
        if self.typing || is_for_timeline || self.drives(key, modifiers) {
            return;
        }
        let canvas = &mut self.view.canvas;
        if modifiers.is_none() && canvas.key(key, self.model, self.actions) {
            return;
        }
        // While a number is typed into a stroke, digits and symbols belong to it.
        let number = matches!(key, Key::Period | Key::Minus | Key::Comma);
        if self.tool_is_busy() && modifiers.is_none() && number {
            return;
        }
        // The system's keys for copy, cut and paste arrive as separate events.
        let clipboard = modifiers.command && matches!(key, Key::C | Key::X | Key::V);
        if let Some(command) = self.command(key, modifiers)
            && !clipboard
        {
            self.ask(command);
        }
    }
}

/// Combines the controls from keys and from a gamepad. The gamepad applies to controls without a
/// held key. The steering lock is taken from the keys.
fn with_pad(keys: HandControls, pad: HandControls) -> HandControls {
    let first = |key: f64, pad: f64| if key == 0.0 { pad } else { key };
    HandControls {
        pedals: first(keys.pedals, pad.pedals),
        steering: first(keys.steering, pad.steering),
        lock: keys.lock,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadwright_simulation::SteeringLock;

    #[test]
    fn keys_go_before_a_gamepad() {
        let controls = |pedals, steering| HandControls {
            pedals,
            steering,
            lock: SteeringLock::Full,
        };
        let pad = HandControls {
            lock: SteeringLock::Limited,
            ..controls(0.4, -0.3)
        };
        assert_eq!(with_pad(controls(0.0, 0.0), pad), controls(0.4, -0.3));
        assert_eq!(with_pad(controls(-1.0, 0.0), pad), controls(-1.0, -0.3));
        assert_eq!(with_pad(controls(1.0, 1.0), pad), controls(1.0, 1.0));
    }
}
