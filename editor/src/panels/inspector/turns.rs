//! The turns of a junction: whether each turn is free now, to which traffic it yields and why, and
//! whether it is forbidden.

use super::law::{self, JunctionLaw, turn_title};
use crate::model::{Action, Model, Tone};
use egui::{CollapsingHeader, Id, RichText, Ui};
use roadwright_geometry::DVec2;
use roadwright_scenario::junction::{ConnectingPath, Junction, Meeting, Sign, Turn};
use roadwright_scenario::operation::{slip_lane, with_turn, without_turn};
use roadwright_scenario::{ConnectionIndex, NodeId, RestrictionKind, RoadId};
use std::collections::BTreeSet;

/// Cosine of 135 degrees. Arms whose bearings differ by a larger angle face each other.
const ONCOMING: f64 = -std::f64::consts::FRAC_1_SQRT_2;

/// A movement from one road into another.
type RoadPair = (RoadId, RoadId);

pub(super) fn ui(ui: &mut Ui, model: &Model, id: NodeId, actions: &mut Vec<Action>) {
    let Some(law) = law::of(ui, model, id) else {
        return;
    };
    let pairs: BTreeSet<RoadPair> = law
        .junction
        .paths
        .iter()
        .map(|path| (path.from.road, path.to.road))
        .collect();
    // Forbidden turns have no connection, so without their rows they could not be allowed again.
    let all: BTreeSet<RoadPair> = forbidden(model, &law.junction).chain(pairs).collect();
    if all.is_empty() || law.junction.arms.len() < 2 {
        return;
    }
    // Stored in egui, because the Inspector has no state. The node is included, so that another
    // junction starts with closed explanations.
    let key = Id::unique("turn that is explained");
    let mut explained: Option<(NodeId, RoadPair)> = ui.data(|data| data.get_temp(key)).flatten();
    CollapsingHeader::new(format!("Turns ({})", all.len()))
        .id_salt("turns")
        .show(ui, |ui| {
            for &pair in &all {
                let sheet = Sheet {
                    model,
                    id,
                    law: &law,
                    pair,
                };
                let is_open = explained == Some((id, pair));
                if sheet.row(ui, is_open, actions) {
                    explained = (!is_open).then_some((id, pair));
                }
                if is_open {
                    sheet.explanation(ui);
                }
            }
        });
    ui.data_mut(|data| data.insert_temp(key, explained));
}

/// Returns the turns that any node of a junction forbids.
fn forbidden<'a>(model: &'a Model, junction: &'a Junction) -> impl Iterator<Item = RoadPair> + 'a {
    let network = model.document.scenario().network();
    let nodes = junction.nodes.iter().filter_map(|&id| network.node(id));
    nodes.flat_map(|node| {
        let restrictions = node.rules.restrictions.iter();
        let restrictions = restrictions.filter(|rule| rule.kind == RestrictionKind::No);
        let removed = node.rules.turns.remove.iter();
        let removed = removed.map(|turn| (turn.from.road, turn.to.road));
        restrictions.map(|rule| (rule.from, rule.to)).chain(removed)
    })
}

/// The rows for the turns from one road into another.
struct Sheet<'a> {
    model: &'a Model,
    id: NodeId,
    law: &'a JunctionLaw,
    pair: RoadPair,
}

impl Sheet<'_> {
    /// Returns the connections of the turn, with their indices.
    fn paths(&self) -> impl Iterator<Item = (ConnectionIndex, &ConnectingPath)> {
        let paths = self.law.junction.numbered_paths();
        paths.filter(|(_, path)| (path.from.road, path.to.road) == self.pair)
    }

    /// Shows the row. Returns whether the user clicked to open or close its explanation.
    fn row(&self, ui: &mut Ui, is_open: bool, actions: &mut Vec<Action>) -> bool {
        let (from, to) = self.pair;
        let title = format!("{from} to {to}");
        let mut clicked = false;
        ui.horizontal_wrapped(|ui| {
            let Some((_, path)) = self.paths().next() else {
                ui.label(RichText::new(format!("{title}, forbidden")).weak());
                if named_button(ui, "Allow", &format!("Allow {title}")) {
                    self.allow(actions);
                }
                return;
            };
            if let Some(goes) = self.goes() {
                super::junction_now::state(ui, self.model.theme(), goes);
            }
            ui.label(format!("{title}, {}", turn_title(path.turn)));
            let word = if is_open { "Close" } else { "Explain" };
            clicked = named_button(ui, word, &format!("{word} {title}"));
            if named_button(ui, "Forbid", &format!("Forbid {title}")) {
                self.forbid(actions);
            }
            let near = Turn::near(self.model.document.scenario().about().driving_side);
            if path.turn == near && named_button(ui, "Slip lane", &format!("Slip lane {title}")) {
                actions.push(self.slip_lane());
            }
        });
        clicked
    }

    /// Whether any connection of the turn is free now; `None` before the simulation has started.
    fn goes(&self) -> Option<bool> {
        let now = super::junction_now::seen(self.model, self.id)?;
        let mut turns = now.turns.iter();
        Some(turns.any(|turn| (turn.from.road, turn.to.road) == self.pair && turn.goes))
    }

    fn forbid(&self, actions: &mut Vec<Action>) {
        let scenario = self.model.document.scenario();
        let edit = without_turn(
            scenario,
            &self.law.junction,
            self.id,
            self.pair.0,
            self.pair.1,
        );
        actions.extend(edit.map(|edit| Action::Apply("Forbid turn".into(), edit)));
    }

    fn slip_lane(&self) -> Action {
        let (from, to) = self.pair;
        match slip_lane(self.model.document.scenario(), self.id, from, to) {
            Ok(edit) => Action::Apply("Add slip lane".into(), edit),
            Err(error) => Action::Say(Tone::Refused, format!("{error}.")),
        }
    }

    fn allow(&self, actions: &mut Vec<Action>) {
        let scenario = self.model.document.scenario();
        let edit = with_turn(scenario, &self.law.junction, self.pair.0, self.pair.1);
        actions.extend(edit.map(|edit| Action::Apply("Allow turn".into(), edit)));
    }

    /// Shows the traffic that the turn yields to, with the reason, and the other conflicts of the
    /// turn.
    fn explanation(&self, ui: &mut Ui) {
        let (mut yields, mut meets) = (BTreeSet::new(), BTreeSet::new());
        for (number, path) in self.paths() {
            for (other_number, other) in self.law.junction.numbered_paths() {
                // Connections that never touch need no rule.
                if self.law.conflicts.between(number, other_number).is_none() {
                    continue;
                }
                let whom = format!(
                    "{} to {}, {}",
                    other.from.road,
                    other.to.road,
                    turn_title(other.turn)
                );
                if self.law.right.gives_way(number, other_number) {
                    let why = reason(&self.law.junction, path, other);
                    // Collected in sets, because lanes of a road with the same turn produce the same
                    // sentence, which is shown only once.
                    yields.insert(format!("Gives way to {whom}: {why}."));
                } else if self.law.right.gives_way(other_number, number) {
                    meets.insert(format!("Has priority over {whom}."));
                } else if self.law.conflicts.is_merge(number, other_number) {
                    meets.insert(format!("Merges with {whom}. First come, first served."));
                } else if Meeting::of(path, other) == Meeting::Graze {
                    meets.insert(format!("Passes close to {whom}. First come, first served."));
                } else {
                    meets.insert(format!("Crosses {whom}. First come, first served."));
                }
            }
        }
        ui.indent("explained", |ui| {
            if yields.is_empty() && meets.is_empty() {
                ui.label(RichText::new("No conflicts.").weak());
            }
            for line in &yields {
                ui.label(line);
            }
            for line in &meets {
                ui.label(RichText::new(line).weak());
            }
        });
    }
}

/// Returns the first rule by which one connection yields to another.
pub(super) fn reason(
    junction: &Junction,
    path: &ConnectingPath,
    other: &ConnectingPath,
) -> &'static str {
    let arm = |path: &ConnectingPath| {
        let mut arms = junction.arms.iter();
        arms.find(|arm| (arm.road, arm.end) == (path.from.road, path.from.end))
    };
    let (Some(own), Some(theirs)) = (arm(path), arm(other)) else {
        return "the default priority rules apply";
    };
    if path.turn == Turn::UTurn && other.turn != Turn::UTurn {
        return "it makes a U-turn";
    }
    if own.sign != Sign::None && theirs.sign == Sign::None {
        return match own.sign {
            Sign::Stop => "it has a stop sign",
            _ => "it has a yield sign",
        };
    }
    // Bearing from the centre to the middle of an arm's mouth. Arms that face each other have opposite
    // bearings, whose product is -1.
    let bearing = |left: DVec2, right: DVec2| (0.5 * (left + right) - junction.centre).normalize();
    let facing =
        bearing(own.left_cut, own.right_cut).dot(bearing(theirs.left_cut, theirs.right_cut));
    if facing <= ONCOMING {
        "it turns across oncoming traffic"
    } else {
        "the other vehicle comes from the near side"
    }
}

/// Shows a small button with a separate accessible name, because many buttons have the same text.
pub(super) fn named_button(ui: &mut Ui, word: &str, name: &str) -> bool {
    let response = ui.small_button(word);
    let name = name.to_owned();
    response.widget_info(move || egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
    response.clicked()
}
