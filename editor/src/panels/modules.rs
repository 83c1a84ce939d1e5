//! Plugins and scripts, with their health and actions on them.

use super::PanelFrame;
use super::widgets::{empty, heading};
use crate::model::{Action, Dialog, Model, ModuleAction};
use crate::tools::Tone;
use egui::collapsing_header::CollapsingState;
use egui::{Color32, CornerRadius, Grid, Id, RichText, Sense, Ui, vec2};
use roadwright_agent::ModuleKind;
use roadwright_extension::{Health, ModuleRow};
use roadwright_simulation::agent_name;

/// Time per agent at which the bar of a module is full, microseconds.
const BUDGET_US: f64 = 5.0;
/// Time per agent at which the bar of a script is full, microseconds.
const SCRIPT_BUDGET_US: f64 = 50.0;

/// A module being dragged onto a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dragged {
    pub(super) kind: ModuleKind,
    pub(super) id: String,
}

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    let rows = &model.modules.rows;
    if !model.modules.unallowed.is_empty() {
        let count = model.modules.unallowed.len();
        let text = format!("{count} plugin(s) not allowed yet: review");
        if ui.button(text).clicked() {
            actions.push(Action::Show(Dialog::AllowPlugin));
        }
    }
    folders(ui, model, actions);
    let (native, scripts): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.tier != "script");
    heading(ui, "Plugins");
    if native.is_empty() {
        empty(
            ui,
            "Put a library into the folder \"plugins\" beside the scenario. `roadwright plugin new` creates \
             a template.",
        );
    }
    for row in native {
        card(ui, model, row, actions);
    }
    heading(ui, "Scripts");
    for row in scripts {
        card(ui, model, row, actions);
    }
    log(ui, model);
}

/// Shows the folders whose builds run without confirmation.
fn folders(ui: &mut Ui, model: &Model, actions: &mut Vec<Action>) {
    let trusted = &model.settings.trusted_folders;
    if trusted.is_empty() {
        return;
    }
    heading(ui, "Folders with allowed builds");
    for folder in trusted {
        ui.horizontal(|ui| {
            let hint = "Ask again before running new builds from this folder.";
            let forget = ui.small_button("Ask again").on_hover_text(hint);
            if forget.clicked() {
                let forget = ModuleAction::ForgetFolder(folder.clone());
                actions.push(Action::Module(forget));
            }
            let path = RichText::new(folder.display().to_string()).small();
            ui.add(egui::Label::new(path).truncate());
        });
    }
}

fn lamp_color(model: &Model, lamp: Health) -> Color32 {
    let theme = model.theme();
    match lamp {
        Health::Good => theme.good(),
        Health::Uneasy => theme.tone(Tone::Warning),
        Health::Faulted => theme.tone(Tone::Danger),
        Health::Off => theme.quiet(),
    }
}

fn lamp_word(lamp: Health) -> &'static str {
    match lamp {
        Health::Good => "works",
        Health::Uneasy => "works, with faults",
        Health::Faulted => "built-in module in use",
        Health::Off => "off",
    }
}

fn card(ui: &mut Ui, model: &Model, row: &ModuleRow, actions: &mut Vec<Action>) {
    let id = Id::unique(("module", &row.id, row.kind));
    CollapsingState::load_with_default_open(ui.ctx(), id, false)
        .show_header(ui, |ui| {
            let (rect, lamp) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
            let color = lamp_color(model, row.lamp);
            ui.painter().circle_filled(rect.center(), 5.0, color);
            lamp.on_hover_text(lamp_word(row.lamp));
            // A file of unknown kind fits no slot, so it cannot be dragged.
            let dragged = ModuleKind::from_name(row.kind).map(|kind| Dragged {
                kind,
                id: row.id.clone(),
            });
            let name = RichText::new(&row.name).strong();
            if let Some(dragged) = dragged {
                let drag = ui.dnd_drag_source(id.with("drag"), dragged, |ui| ui.label(name));
                drag.response
                    .on_hover_text("Drag the module onto a stack in the Scenario panel.");
            }
            ui.label(RichText::new(&row.version).weak());
            ui.label(RichText::new(row.kind).weak().small());
            if row.faults > 0 {
                let text = RichText::new(format!("{} faults", row.faults)).small();
                ui.colored_label(model.theme().tone(Tone::Warning), text);
            }
        })
        .body(|ui| {
            if !row.doc.is_empty() {
                ui.label(RichText::new(&row.doc).weak().small());
            }
            figures(ui, model, row);
            if let Some(error) = &row.last_error {
                last_error(ui, model, error);
            }
            buttons(ui, row, actions);
        });
}

fn figures(ui: &mut Ui, model: &Model, row: &ModuleRow) {
    Grid::new(("figures", &row.id))
        .num_columns(2)
        .show(ui, |ui| {
            let mut line = |name: &str, value: String| {
                ui.label(RichText::new(name).weak().small());
                ui.label(RichText::new(value).small());
                ui.end_row();
            };
            line("state", lamp_word(row.lamp).to_owned());
            line("id", row.id.clone());
            line("tier, language", format!("{}, {}", row.tier, row.language));
            if let Some(path) = &row.path {
                line("file", path.display().to_string());
            } else if row.tier == "script" {
                line("file", "ships with Roadwright".to_owned());
            }
            if !row.hash.is_empty() {
                line("hash", row.hash[..16.min(row.hash.len())].to_owned());
            }
            line("generation", row.generation.to_string());
            line("calls", row.calls.to_string());
            line("faults", row.faults.to_string());
            line("agents on fallback", row.fallback_agents.to_string());
            ui.label(RichText::new("time per agent").weak().small());
            ui.horizontal(|ui| {
                // Scripts are interpreted, so times that would be long for a plugin are normal for a script.
                let budget = if row.tier == "script" {
                    SCRIPT_BUDGET_US
                } else {
                    BUDGET_US
                };
                budget_bar(ui, model, row.mean_us / budget);
                let text = format!("{:.2} us, p99 {:.2} us", row.mean_us, row.p99_us);
                ui.label(RichText::new(text).small())
                    .on_hover_text(format!("Budget: {budget} us"));
            });
            ui.end_row();
        });
    for line in row.log.iter().rev().take(5).rev() {
        ui.label(RichText::new(line).small().weak());
    }
}

fn budget_bar(ui: &mut Ui, model: &Model, share: f64) {
    let (rect, _) = ui.allocate_exact_size(vec2(60.0, 8.0), Sense::hover());
    let theme = model.theme();
    let (color, back) = if share > 1.0 {
        (theme.tone(Tone::Warning), 0.25)
    } else {
        (theme.tone(Tone::Accent), 0.15)
    };
    let corner = CornerRadius::same(3);
    ui.painter()
        .rect_filled(rect, corner, color.gamma_multiply(back));
    let mut full = rect;
    // Above the budget the bar is full, and its colour shows the excess.
    full.set_width(rect.width() * share.clamp(0.0, 1.0) as f32);
    ui.painter().rect_filled(full, corner, color);
}

fn last_error(ui: &mut Ui, model: &Model, error: &str) {
    ui.horizontal_wrapped(|ui| {
        let color = model.theme().tone(Tone::Danger);
        ui.label(RichText::new(error).small().monospace().color(color));
    });
    if ui.small_button("Copy error").clicked() {
        ui.ctx().copy_text(error.to_owned());
    }
}

fn buttons(ui: &mut Ui, row: &ModuleRow, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let mut ask = |action: ModuleAction| actions.push(Action::Module(action));
        let id = || row.id.clone();
        if ui.small_button("Reload").clicked() {
            ask(ModuleAction::Reload(id()));
        }
        let word = if row.is_disabled { "Enable" } else { "Disable" };
        if ui.small_button(word).clicked() {
            ask(ModuleAction::Disable(id(), !row.is_disabled));
        }
        if row.tier != "script" {
            let back = egui::Button::new("Roll back").small();
            if ui.add_enabled(row.can_roll_back, back).clicked() {
                ask(ModuleAction::RollBack(id()));
            }
            let isolated = row.tier == "isolated";
            let word = if isolated {
                "Run in process"
            } else {
                "Run isolated"
            };
            let hint = "Run the module in a separate process, so that a crash or hang affects only its own agents.";
            if ui.small_button(word).on_hover_text(hint).clicked() {
                ask(ModuleAction::Isolate(id(), !isolated));
            }
        }
        if let Some(path) = &row.path
            && ui.small_button("Open folder").clicked()
        {
            ask(ModuleAction::OpenFolder(path.clone()));
        }
    });
    ui.add_space(4.0);
}

/// Lists the messages logged by modules in this run.
fn log(ui: &mut Ui, model: &Model) {
    let Some(live) = model.live.as_ref().filter(|live| !live.log.is_empty()) else {
        return;
    };
    heading(ui, "Log of this run");
    for line in live.log.iter().rev().take(30) {
        let text = format!(
            "{:.1} s  {}  {}",
            line.time,
            agent_name(line.agent),
            line.text
        );
        let text = RichText::new(text).small();
        if line.is_fault {
            ui.colored_label(model.theme().tone(Tone::Danger), text.monospace());
        } else {
            ui.label(text);
        }
    }
}
