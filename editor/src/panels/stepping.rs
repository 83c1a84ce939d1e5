//! Stepping through a handler of a script: forwards and backwards over the statements that were run,
//! with the values at each.

use super::widgets::choice;
use crate::extensions::StepRequest;
use crate::model::{Action, Model, ModuleAction};
use crate::tools::Tone;
use egui::{Grid, RichText, Slider, Ui};
use roadwright_extension::script::{ApiKind, ScriptError, ScriptStep, Steps, api};

/// What the row remembers.
#[derive(Default)]
pub(super) struct Stepping {
    is_open: bool,
    event: String,
    takes_watched: bool,
    /// The statement that is looked at.
    at: usize,
}

impl Stepping {
    /// The line that is looked at, from 1, if the text is still the one that was run.
    pub(super) fn line(&self, model: &Model, script: &str, text: &str) -> Option<usize> {
        let (request, steps) = model.modules.stepping.as_ref()?;
        // With another text the lines would be those of the old one.
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
                    "Runs one handler once, to no effect, and shows the values at each statement.",
                );
            if self.is_open {
                self.question(ui, model, script, text, actions);
            }
        });
        // Told once, when it closes: what was run is then put away.
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
            ui.weak("The text has changed since: run it again.");
        }
        match steps {
            Ok(steps) => self.answer(ui, model, steps),
            Err(error) => wrong(ui, model, error),
        }
        ui.separator();
    }

    /// Which handler, for which agent, and the button.
    fn question(
        &mut self,
        ui: &mut Ui,
        model: &Model,
        script: &str,
        text: &str,
        actions: &mut Vec<Action>,
    ) {
        let events = handlers(text);
        // Another script, or the handler was renamed.
        // Kept as long as the text has it, so that running again after a change needs one click.
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
        agents.extend(watched.map(|id| (true, format!("agent {id} as it is now"))));
        // The wish is kept while no agent is watched.
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

    /// The statement that is looked at, and its values.
    fn answer(&mut self, ui: &mut Ui, model: &Model, steps: &Steps) {
        let count = steps.steps.len();
        // The handler may have taken fewer statements this time.
        self.at = self.at.min(count.saturating_sub(1));
        if count > 0 {
            self.walk(ui, count);
            let now = &steps.steps[self.at];
            let before = self.at.checked_sub(1).map(|at| &steps.steps[at]);
            values(ui, model, now, before);
        }
        // What comes of it is told at the last statement: before, it has not happened.
        if self.at + 1 < count {
            return;
        }
        match &steps.outcome {
            Ok(done) => {
                ui.label(format!("Then it wishes {}.", done.wishes));
                for effect in &done.effects {
                    ui.label(RichText::new(format!("{effect:?}")).monospace().small());
                }
            }
            Err(error) => wrong(ui, model, error),
        }
    }

    /// Buttons and a slider over the statements.
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

/// The handlers that a text has.
fn handlers(text: &str) -> Vec<(String, String)> {
    let events = api().iter().filter(|item| item.kind == ApiKind::Event);
    events
        // By the letters, not by compiling: also a text with a mistake shows what it will have.
        .filter(|item| text.contains(&format!("fn {}(", item.name)))
        .map(|item| (item.name.to_owned(), item.name.to_owned()))
        .collect()
}

/// Variables and memory; what is new since the statement before stands out.
fn values(ui: &mut Ui, model: &Model, now: &ScriptStep, before: Option<&ScriptStep>) {
    let known = before.map(ScriptStep::all_values).unwrap_or_default();
    let accent = model.theme().tone(Tone::Accent);
    ui.label(format!(
        "Before line {}: it wishes {}.",
        now.line, now.wishes
    ));
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
