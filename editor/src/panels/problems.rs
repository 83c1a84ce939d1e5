//! List of problems. Each has a link to its place, and a repair if there is a single obvious one.

use super::PanelFrame;
use crate::live::PathNotice;
use crate::model::{Action, Model};
use crate::tools::Tone;
use egui::{Align, Layout, RichText, Role, Ui, WidgetInfo};
use roadwright_scenario::check::{Finding, Severity};
use roadwright_scenario::operation::Objects;

/// Maximum number of problems listed.
const MOST: usize = 300;

pub(super) fn ui(ui: &mut Ui, frame: PanelFrame<'_>) {
    let PanelFrame { model, actions, .. } = frame;
    let findings = &model.findings.1;
    for notice in model.without_path().iter().take(MOST) {
        path_row(ui, model, notice, actions);
    }
    if model.problem_count() == 0 {
        super::widgets::empty(ui, "No problems found.");
        return;
    }
    for finding in findings.iter().take(MOST) {
        row(ui, model, finding, actions);
    }
    if findings.len() > MOST {
        ui.label(format!("and {} more", findings.len() - MOST));
    }
}

/// Shows an agent of the run that has no path, or is still searching for one.
fn path_row(ui: &mut Ui, model: &Model, notice: &PathNotice, actions: &mut Vec<Action>) {
    let agent = notice.agent;
    let (tone, title, text) = match &notice.reason {
        Some(reason) => (
            Tone::Danger,
            format!("no path: agent {agent}"),
            format!("{reason}; it waits until something changes"),
        ),
        None => (
            Tone::Warning,
            format!("searching: agent {agent}"),
            "it is not known yet whether there is a path to its goal".into(),
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
    let (tone, word) = match finding.severity {
        Severity::Error => (Tone::Danger, "error"),
        Severity::Warning => (Tone::Warning, "warning"),
    };
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
        let name = format!("{title}: {}", finding.object);
        let link = ui.link(RichText::new(title).small());
        link.widget_info(|| WidgetInfo::labeled(Role::Link, true, &name));
        if link.clicked() {
            actions.push(Action::Repair(finding.clone()));
        }
    }
    ui.add_space(4.0);
}
