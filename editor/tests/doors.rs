//! Access rules of the editor, checked in its source. Widgets only read the model, and the dispatcher names
//! all actions and all commands.

use std::path::{Path, PathBuf};

/// Source files that draw a frame or read its input.
const DOORS: [&str; 6] = [
    "canvas.rs",
    "hand.rs",
    "minimap.rs",
    "keyboard.rs",
    "object_menu.rs",
    "vehicle_menu.rs",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_in(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Whether a text mentions a mutable model or editor. Such a mention consists of `mut`, an optional
/// path, and the name. Line breaks and lifetimes in between are ignored.
fn writes_model(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: Vec<&str> = text
        .split(|c| !is_letter(c))
        .filter(|w| !w.is_empty())
        .collect();
    let after_mut = words.iter().enumerate().filter(|(_, word)| **word == "mut");
    let mut named = after_mut.map(|(at, _)| {
        let mut rest = words[at + 1..].iter();
        rest.find(|word| !["crate", "super", "model", "app"].contains(word))
    });
    named.any(|name| matches!(name, Some(&"Model" | &"Editor")))
}

#[test]
fn panels_the_map_and_keys_only_read_the_model() {
    let mut files = Vec::new();
    files_in(&source().join("panels"), &mut files);
    assert!(files.len() > 20, "{} panels", files.len());
    files.extend(DOORS.iter().map(|name| source().join(name)));
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!writes_model(&text), "{} changes the model", path.display());
        assert!(
            !text.contains("impl Editor") && !text.contains("app::Editor"),
            "{} has the whole editor",
            path.display()
        );
    }
}

#[test]
fn a_model_that_can_be_changed_is_found() {
    for text in [
        "fn ui(model: &mut Model)",
        "struct Panes<'a> { model: &'a mut crate::model::Model }",
        "fn read(editor: &mut\n    Editor)",
    ] {
        assert!(writes_model(text), "{text}");
    }
    assert!(!writes_model(
        "fn ui(model: &Model, actions: &mut Vec<Action>)"
    ));
    // Code that runs between frames may change the model, and the same search finds it.
    let app = std::fs::read_to_string(source().join("app.rs")).unwrap();
    assert!(writes_model(&app.replace("&mut self", "&mut Editor")));
}

#[test]
fn the_dispatcher_has_no_wildcard() {
    let text = std::fs::read_to_string(source().join("actions.rs")).unwrap();
    assert!(text.contains("match action {") && text.contains("match command {"));
    assert!(!text.contains("_ =>"));
}
