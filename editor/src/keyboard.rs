//! Keys: to the tool first, then to the commands.

use crate::app::Editor;
use crate::command::Command;
use crate::model::{Action, Dialog};
use egui::{Event, Key, Modifiers};

/// Reads the keys of this frame.
pub(crate) fn read(editor: &mut Editor) {
    let events = editor.context.input(|i| i.events.clone());
    let typing = editor.context.egui_wants_keyboard_input();
    for event in events {
        match event {
            Event::Key {
                key,
                pressed,
                modifiers,
                repeat,
                ..
            } => {
                if waits_for_key(editor) {
                    if pressed {
                        bind(editor, key, modifiers);
                    }
                } else if key == Key::Space && !pressed {
                    release_space(editor, typing, modifiers);
                } else if key == Key::Space && !typing && is_map_active(editor) {
                    if !repeat {
                        editor.canvas.space(true);
                    }
                } else if pressed {
                    press(editor, key, modifiers, typing);
                }
            }
            Event::Text(text) if !typing && is_map_active(editor) && editor.tool.is_busy() => {
                for c in text.chars() {
                    let (model, tool) = (&editor.model, &mut *editor.tool);
                    editor.canvas.typed(c, model, tool, &mut editor.actions);
                }
            }
            Event::WindowFocused(false) => drop(editor.canvas.space(false)),
            Event::Copy | Event::Cut | Event::Paste(_) if typing || !is_map_active(editor) => {}
            Event::Copy => editor.actions.push(Action::Do(Command::Copy)),
            Event::Cut => editor.actions.push(Action::Do(Command::Cut)),
            Event::Paste(text) => {
                editor.take_clipboard(&text);
                editor.actions.push(Action::Do(Command::Paste));
            }
            _ => {}
        }
    }
}

fn is_map_active(editor: &Editor) -> bool {
    editor.model.dialog == Dialog::None
}

fn waits_for_key(editor: &Editor) -> bool {
    matches!(
        editor.model.dialog,
        Dialog::Keys {
            waiting: Some(_),
            ..
        }
    )
}

/// The key sheet waits for a new key.
fn bind(editor: &mut Editor, key: Key, modifiers: Modifiers) {
    let Dialog::Keys { waiting, .. } = &mut editor.model.dialog else {
        return;
    };
    let command = waiting.take();
    if let (Some(command), true) = (command, key != Key::Escape) {
        let shortcut = egui::KeyboardShortcut::new(modifiers, key);
        editor.model.settings.keys.bind(command, shortcut);
    }
}

/// Space held and dragged pans; Space alone does what it is bound to.
fn release_space(editor: &mut Editor, typing: bool, modifiers: Modifiers) {
    let tapped = editor.canvas.space(false) && !typing && is_map_active(editor);
    if let Some(command) = editor.model.settings.keys.command(Key::Space, modifiers)
        && tapped
    {
        editor.actions.push(Action::Do(command));
    }
}

fn press(editor: &mut Editor, key: Key, modifiers: Modifiers, typing: bool) {
    if editor.model.dialog != Dialog::None {
        if key == Key::Escape {
            editor.actions.push(Action::Show(Dialog::None));
        }
        // A palette that is open takes its own keys.
        return;
    }
    if typing {
        return;
    }
    let (model, tool) = (&editor.model, &mut *editor.tool);
    if modifiers.is_none() && editor.canvas.key(key, model, tool, &mut editor.actions) {
        return;
    }
    // While a number is typed into a stroke, digits and signs belong to it.
    let number = matches!(key, Key::Period | Key::Minus | Key::Comma);
    if editor.tool.is_busy() && modifiers.is_none() && number {
        return;
    }
    // The system's keys for copy, cut and paste come as events of their own.
    let clipboard = modifiers.command && matches!(key, Key::C | Key::X | Key::V);
    if let Some(command) = editor.model.settings.keys.command(key, modifiers)
        && !clipboard
    {
        editor.actions.push(Action::Do(command));
    }
}
