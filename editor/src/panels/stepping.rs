//! Stepping through a handler of a script, forwards and backwards over the executed statements. The
//! values at each statement are shown.

use super::widgets::choice;
use crate::extensions::StepRequest;
use crate::model::{Action, Model, ModuleAction};
use crate::tools::Tone;
use egui::{Grid, RichText, Slider, Ui};
use roadwright_extension::script::{ApiKind, ScriptError, ScriptStep, Steps, api};
use roadwright_simulation::agent_name;

/// State of the stepping controls.
#[derive(Default)]
pub(super) struct Stepping {
    is_open: bool,
    event: String,
    takes_watched: bool,
    /// Index of the selected statement.
    at: usize,
}

impl Stepping {
    /// Returns the selected line, counted from 1; `None` if the text has changed since the handler
    /// was executed.
    pub(super) fn line(&self, model: &Model, script: &str, text: &str) -> Option<usize> {
        let (request, steps) = model.modules.stepping.as_ref()?;
        // In a changed text the line numbers would be wrong.
        let is_shown = self.is_open && request.script == script && request.text == text;
        let steps = steps.as_ref().ok().filter(|_| is_shown)?;
        steps.steps.get(self.at).map(|step| step.line)
    }

    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        model: &Model,
        script: &str,
        text: &str,
        actions: &mut Vec<Action>,
    ) {
        let was_open = self.is_open;
        ui.horizontal_wrapped(|ui| {
            ui.toggle_value(&mut self.is_open, "Step through")
                .on_hover_text(
                    "Run one handler once, without affecting the run, and show the values at each statement.",
                );
            if self.is_open {
                self.question(ui, model, script, text, actions);
            }
        });
        // Sent once when the row is closed, which discards the results.
        if was_open && !self.is_open {
            actions.push(Action::Module(ModuleAction::EndStepping));
        }
        if !self.is_open {
            return;
        }
        let Some((request, steps)) = &model.modules.stepping else {
            return;
        };
        if request.script != script {
            return;
        }
        if request.text != text {
            ui.weak("The script has changed. Run the handler again.");
        }
        match steps {
            Ok(steps) => self.answer(ui, model, steps),
            Err(error) => wrong(ui, model, error),
        }
        ui.separator();
    }

    /// Shows the choice of the handler and agent, and the button that starts stepping.
    fn question(
        &mut self,
        ui: &mut Ui,
        model: &Model,
        script: &str,
        text: &str,
        actions: &mut Vec<Action>,
    ) {
        let events = handlers(text);
        // Another script is open, or the handler was renamed. The choice is kept while the text contains it,
        // so that another run after a change needs only one click.
        if !events.iter().any(|(event, _)| *event == self.event) {
            self.event = events
                .first()
                .map_or_else(String::new, |(event, _)| event.clone());
        }
        if let Some(event) = choice(ui, "Handler", &self.event, &events) {
            self.event = event;
        }
        let watched = model.watched.filter(|_| model.live.is_some());
        let mut agents = vec![(false, "a made-up agent".to_owned())];
        agents.extend(watched.map(|id| (true, format!("{}, current state", agent_name(id)))));
        // The choice is kept even if no agent is watched.
        let takes_watched = self.takes_watched && watched.is_some();
        if let Some(takes) = choice(ui, "Agent", &takes_watched, &agents) {
            self.takes_watched = takes;
        }
        let run = ui.add_enabled(!events.is_empty(), egui::Button::new("Run once"));
        if run.clicked() {
            self.at = 0;
            actions.push(Action::Module(ModuleAction::StepThrough(StepRequest {
                script: script.to_owned(),
                text: text.to_owned(),
                event: self.event.clone(),
                agent: watched.filter(|_| self.takes_watched),
            })));
        }
    }

    /// Shows the selected statement and its values.
    fn answer(&mut self, ui: &mut Ui, model: &Model, steps: &Steps) {
        let count = steps.steps.len();
        // The handler may have executed fewer statements than in the previous run.
        self.at = self.at.min(count.saturating_sub(1));
        if count > 0 {
            self.walk(ui, count);
            let now = &steps.steps[self.at];
            let before = self.at.checked_sub(1).map(|at| &steps.steps[at]);
            values(ui, model, now, before);
        }
        // The result is shown at the last statement, because it does not exist before.
        if self.at + 1 < count {
            return;
        }
        match &steps.outcome {
            Ok(done) => {
                ui.label(format!("Resulting wishes: {}.", done.wishes));
                for effect in &done.effects {
                    ui.label(RichText::new(format!("{effect:?}")).monospace().small());
                }
            }
            Err(error) => wrong(ui, model, error),
        }
    }

    /// Shows buttons and a slider that select a statement.
    fn walk(&mut self, ui: &mut Ui, count: usize) {
        ui.horizontal_wrapped(|ui| {
            let (first, last) = (self.at == 0, self.at + 1 == count);
            if ui.add_enabled(!first, egui::Button::new("Back")).clicked() {
                self.at -= 1;
            }
            if ui.add_enabled(!last, egui::Button::new("Next")).clicked() {
                self.at += 1;
            }
            let mut number = self.at + 1;
            let slider = Slider::new(&mut number, 1..=count).text(format!("of {count}"));
            if ui.add(slider).changed() {
                self.at = number - 1;
            }
        });
    }
}

fn wrong(ui: &mut Ui, model: &Model, error: &ScriptError) {
    let color = model.theme().tone(Tone::Danger);
    let text = RichText::new(error.to_string()).monospace().small();
    ui.label(text.color(color));
}

/// Returns the handlers in a text.
fn handlers(text: &str) -> Vec<(String, String)> {
    let events = api().iter().filter(|item| item.kind == ApiKind::Event);
    events
        // Searched for in the text instead of compiled, so that it also works for a text with errors.
        .filter(|item| text.contains(&format!("fn {}(", item.name)))
        .map(|item| (item.name.to_owned(), item.name.to_owned()))
        .collect()
}

/// Shows variables and memory. Changes since the previous statement are highlighted.
fn values(ui: &mut Ui, model: &Model, now: &ScriptStep, before: Option<&ScriptStep>) {
    let known = before.map(ScriptStep::all_values).unwrap_or_default();
    let accent = model.theme().tone(Tone::Accent);
    ui.label(format!("Before line {}; wishes: {}.", now.line, now.wishes));
    Grid::new("values")
        .num_columns(2)
        .striped(true)
        .show(ui, |ui| {
            for (name, value) in now.all_values() {
                let is_new = known.get(&name) != Some(&value);
                let mut shown = RichText::new(value).monospace();
                if is_new {
                    shown = shown.color(accent);
                }
                ui.label(RichText::new(name).monospace());
                ui.label(shown);
                ui.end_row();
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_are_found_in_a_text() {
        let found = handlers("fn behave(agent) {}\nfn on_near(agent, other) {}\nfn helper() {}");
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["behave", "on_near"]);
    }
}
