//! The steps that can be undone and redone. A click on a step returns to the state after that step.

use super::PanelFrame;
use crate::model::Action;
use egui::{RichText, Ui};

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    let history = model.document.history();
    let done: Vec<&str> = history.undo_labels().collect();
    let undone: Vec<&str> = history.redo_labels().collect();
    if done.is_empty() && undone.is_empty() {
        super::widgets::empty(ui, "No changes yet.");
        return;
    }
    // Keeps the current step in view when it changes, without disturbing a user who scrolls back.
    let id = ui.scope_id().with("present");
    let before = ui.data_mut(|data| data.get_temp::<usize>(id));
    ui.data_mut(|data| data.insert_temp(id, done.len()));
    let has_moved = before != Some(done.len());
    let now = done.len();
    let mut row = |ui: &mut Ui, step: usize, label: &str| {
        let is_now = step == now;
        let text = RichText::new(format!("{step}  {label}"));
        // Undone steps can be redone until the next edit.
        let text = if step <= now { text } else { text.weak() };
        let response = ui.selectable_label(is_now, text);
        if is_now && has_moved {
            response.scroll_to_me(None);
        }
        if response.clicked() {
            actions.push(Action::GoToStep(step));
        }
    };
    row(ui, 0, "Opened");
    for (step, label) in (1..).zip(done.iter().chain(&undone)) {
        row(ui, step, label);
    }
}
