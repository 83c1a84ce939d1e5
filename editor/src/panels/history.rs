//! The steps that can be undone and redone; a click goes there.

use crate::model::{Action, Model};
use egui::{RichText, Ui};

pub(super) fn ui(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let history = model.document.history();
    let done: Vec<&str> = history.undo_labels().collect();
    let undone: Vec<&str> = history.redo_labels().collect();
    if done.is_empty() && undone.is_empty() {
        super::widgets::empty(ui, "Nothing has been changed yet.");
        return;
    }
    let mut row = |ui: &mut Ui, step: usize, label: &str, is_now: bool, is_done: bool| {
        let text = format!("{step}  {label}");
        let text = if is_done {
            RichText::new(text)
        } else {
            RichText::new(text).weak()
        };
        if ui.selectable_label(is_now, text).clicked() {
            actions.push(Action::GoToStep(step));
        }
    };
    row(ui, 0, "As it was opened", done.is_empty(), true);
    for (i, label) in done.iter().enumerate() {
        row(ui, i + 1, label, i + 1 == done.len(), true);
    }
    // What was undone can be gone back to until something else is edited.
    for (i, label) in undone.iter().enumerate() {
        row(ui, done.len() + i + 1, label, false, false);
    }
}
