//! Converts keys of the window to those of the core.

use crate::input::{self, KeyChord};
use egui::{Key, Modifiers};

/// Converts a key of egui; `None` if the core has no such key.
pub(crate) fn chord(key: Key, modifiers: Modifiers) -> Option<KeyChord> {
    Some(KeyChord {
        modifiers: held(modifiers),
        key: input::Key::from_name(key.name())?,
    })
}

/// Converts modifier keys of egui. Ctrl and Command are treated alike.
pub(crate) fn held(modifiers: Modifiers) -> input::Modifiers {
    input::Modifiers {
        shift: modifiers.shift,
        ctrl: modifiers.ctrl || modifiers.command || modifiers.mac_cmd,
        alt: modifiers.alt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_window_is_one_of_the_core_with_the_same_names() {
        assert_eq!(Key::ALL.len(), input::Key::ALL.len());
        for key in Key::ALL {
            let own = input::Key::from_name(key.name());
            assert_eq!(own.map(input::Key::name), Some(key.name()), "{key:?}");
            // Settings written by hand may name a key by its symbol.
            let named = input::Key::from_name(key.symbol_or_name());
            let theirs = Key::from_name(key.symbol_or_name());
            assert_eq!(named.map(input::Key::name), theirs.map(Key::name));
        }
    }
}
