//! The context menu of a driving vehicle.

use crate::command::Command;
use crate::live::LivePicture;
use crate::model::{Action, Model};
use egui::Ui;
use roadwright_simulation::{CouplingOrder, agent_name};

/// Shows the part of the menu for a driving vehicle.
pub(crate) fn ui(ui: &mut Ui, model: &Model, agent: u64, actions: &mut Vec<Action>) {
    ui.strong(format!("{}, driving", agent_name(agent)));
    let mut chosen = Vec::new();
    if ui.button("Watch this vehicle").clicked() {
        chosen.push(Action::Watch(Some(agent)));
    }
    if model.driving.is_none() && ui.button("Drive this vehicle").clicked() {
        chosen.push(Action::Watch(Some(agent)));
        chosen.push(Action::Do(Command::Drive));
    }
    if let Some(live) = &model.live {
        trailers(ui, live, agent, &mut chosen);
    }
    if !chosen.is_empty() {
        actions.append(&mut chosen);
        ui.close();
    }
    ui.separator();
}

/// Shows actions on trailers, if there are any.
fn trailers(ui: &mut Ui, live: &LivePicture, agent: u64, chosen: &mut Vec<Action>) {
    let own = live.snapshot.trailers.iter();
    let towed = own.filter(|trailer| trailer.agent == agent).count() as u8;
    for first in (1..=towed).rev() {
        let text = match (first == towed, towed + 1 - first) {
            (true, _) => "Uncouple the last trailer".to_owned(),
            (false, count) => format!("Uncouple the last {count} trailers"),
        };
        if ui.button(text).clicked() {
            let order = CouplingOrder::Uncouple(Some(first));
            chosen.push(Action::Coupling(agent, order));
        }
    }
    if !live.snapshot.standing.is_empty() && ui.button("Couple trailer").clicked() {
        chosen.push(Action::Coupling(agent, CouplingOrder::Couple));
    }
}
