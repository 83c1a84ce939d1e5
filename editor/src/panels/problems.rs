//! List of problems by kind. Each problem has a link to its place, and a repair if there is exactly
//! one obvious repair.

use super::PanelFrame;
use super::widgets::counted;
use crate::live::PathNotice;
use crate::model::{Action, Model, ViewAction};
use crate::tools::Tone;
use egui::collapsing_header::CollapsingState;
use egui::{Align, Label, Layout, Response, RichText, Role, Sense, Ui, WidgetInfo};
use roadwright_scenario::check::{Finding, Severity};
use roadwright_scenario::operation::Objects;
use roadwright_simulation::agent_name;

/// Maximum number of listed agents without a path.
const MOST_NOTICES: usize = 300;
/// Maximum number of problems listed of each kind.
const MOST: usize = 100;
/// Maximum number of problems in a kind that is initially unfolded.
const UNFOLDED: usize = 5;

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    for notice in model.without_path().iter().take(MOST_NOTICES) {
        path_row(ui, model, notice, actions);
    }
    if model.problem_count() == 0 {
        super::widgets::empty(ui, "No problems found.");
        return;
    }
    if model.problems.place.is_some() {
        ui.horizontal(|ui| {
            ui.label(RichText::new("Problems at one place on the map").italics());
            if ui.button("List all problems").clicked() {
                actions.push(Action::View(ViewAction::ListProblems(None)));
            }
        });
    }
    let listed: Vec<&Finding> = model.listed_problems().collect();
    let kind = |finding: &Finding| (finding.severity, finding.code);
    for kind in listed.chunk_by(|a, b| kind(a) == kind(b)) {
        group(ui, model, kind, actions);
    }
}

/// Shows the problems of one kind. There is at least one.
fn group(ui: &mut Ui, model: &Model, findings: &[&Finding], actions: &mut Vec<Action>) {
    let (severity, code) = (findings[0].severity, findings[0].code);
    let is_hidden = model.problems.hidden.contains(&code);
    let (tone, word) = of_severity(severity);
    let title = format!("{}: {}", counted(findings.len(), word), code.title());
    let id = ui
        .scope_id()
        .with((severity == Severity::Error, code.name()));
    let is_open = findings.len() <= UNFOLDED || severity == Severity::Error;
    let state = CollapsingState::load_with_default_open(ui, id, is_open);
    let mut toggled = false;
    let mut header = state.show_header(ui, |ui| {
        let text = RichText::new(&title).strong();
        let text = if is_hidden {
            text.weak()
        } else {
            text.color(model.theme().tone(tone))
        };
        let label = Label::new(text).sense(Sense::click()).selectable(false);
        toggled = ui.add(label.wrap()).on_hover_text(code.name()).clicked();
    });
    if toggled {
        header.toggle();
    }
    header.body_unindented(|ui| {
        ui.horizontal(|ui| {
            let (verb, hint) = if is_hidden {
                ("Show", "Shows these problems on the map again.")
            } else {
                ("Hide", "Hides these problems on the map and in the list.")
            };
            let button = ui.small_button(verb).on_hover_text(hint);
            named(&button, format!("{verb}: {}", code.title()));
            if button.clicked() {
                actions.push(Action::View(ViewAction::ToggleProblems(code)));
            }
            if let Some(repair) = code.repair().filter(|_| findings.len() > 1 && !is_hidden) {
                let hint = format!("{repair}, for all problems of this kind in one step.");
                let link = ui.link(RichText::new("Fix all of this kind").small());
                let link = link.on_hover_text(hint);
                named(&link, format!("Fix all: {}", code.title()));
                if link.clicked() {
                    actions.push(Action::RepairAll(code));
                }
            }
        });
        if is_hidden {
            return;
        }
        for finding in findings.iter().take(MOST) {
            row(ui, model, finding, actions);
        }
        if findings.len() > MOST {
            ui.label(format!("and {} more on the map", findings.len() - MOST));
        }
    });
}

fn named(response: &Response, name: String) {
    response.widget_info(|| WidgetInfo::labeled(Role::Link, true, &name));
}

fn of_severity(severity: Severity) -> (Tone, &'static str) {
    match severity {
        Severity::Error => (Tone::Danger, "error"),
        Severity::Warning => (Tone::Warning, "warning"),
    }
}

/// Shows an agent of the run that has no path, or is still searching for one.
fn path_row(ui: &mut Ui, model: &Model, notice: &PathNotice, actions: &mut Vec<Action>) {
    let (agent, name) = (notice.agent, agent_name(notice.agent));
    let (tone, title, text) = match &notice.reason {
        Some(reason) => (
            Tone::Danger,
            format!("no path: {name}"),
            format!("{reason}; the vehicle waits until something changes"),
        ),
        None => (
            Tone::Warning,
            format!("searching: {name}"),
            "whether there is a path to the goal is not known yet".into(),
        ),
    };
    let color = model.theme().tone(tone);
    ui.with_layout(Layout::top_down_justified(Align::LEFT), |ui| {
        let title = RichText::new(title).color(color).strong();
        if ui
            .selectable_label(model.watched == Some(agent), title)
            .on_hover_text("Show and watch the vehicle.")
            .clicked()
        {
            let around = roadwright_geometry::DVec2::splat(15.0);
            actions.push(Action::Jump(notice.at - around, notice.at + around));
            actions.push(Action::Watch(Some(agent)));
        }
    });
    ui.label(RichText::new(text).small());
    ui.add_space(4.0);
}

fn row(ui: &mut Ui, model: &Model, finding: &Finding, actions: &mut Vec<Action>) {
    let (tone, word) = of_severity(finding.severity);
    let color = model.theme().tone(tone);
    ui.with_layout(Layout::top_down_justified(Align::LEFT), |ui| {
        let title = format!("{word}: {}", finding.object);
        let response = ui.selectable_label(
            model.selection.contains(&finding.object),
            RichText::new(title).color(color).strong(),
        );
        if response.on_hover_text(finding.code.name()).clicked() {
            // A problem is at a point; the map shows its surroundings.
            let around = roadwright_geometry::DVec2::splat(15.0);
            actions.push(Action::Jump(finding.place - around, finding.place + around));
            actions.push(Action::Select(Objects::from([finding.object])));
        }
    });
    ui.label(RichText::new(&finding.message).small());
    if let Some(title) = finding.code.repair() {
        let link = ui.link(RichText::new(title).small());
        named(&link, format!("{title}: {}", finding.object));
        if link.clicked() {
            actions.push(Action::Repair(finding.clone()));
        }
    }
    ui.add_space(4.0);
}
