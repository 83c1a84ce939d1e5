//! The command palette: one field that finds commands, streets and other names, objects by number, and problems.

use super::widgets;
use crate::command::Command;
use crate::model::{Action, Dialog, Model};
use egui::{Key, Role, ScrollArea, WidgetInfo};
use roadwright_geometry::{DVec2, polygon};
use roadwright_scenario::check::Finding;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{
    AgentId, FlowId, ForestId, LandId, NodeId, ObjectId, ObstacleId, PointOfInterestId, RoadId,
};
use std::collections::BTreeSet;

/// Maximum number of entries listed.
const MOST: usize = 60;
/// Best (smallest) rank of a text that contains the letters of a query in order but not the query
/// itself.
const LOOSE: usize = 100;
/// Half the size of the map section shown around a problem, m.
const SURROUNDINGS: f64 = 15.0;

/// An entry of the palette.
#[derive(Clone, Copy)]
enum Entry<'a> {
    Command(Command),
    /// An object, given by its number.
    Object(ObjectId),
    /// The name of a street, a park or a body of water.
    Name(&'a str),
    Problem(&'a Finding),
}

impl Entry<'_> {
    fn text(&self) -> String {
        match self {
            Self::Command(command) => command.title().to_owned(),
            Self::Object(object) => object.to_string(),
            Self::Name(name) => (*name).to_owned(),
            Self::Problem(finding) => problem_text(finding),
        }
    }

    /// Returns the key of a command, or the kind of any other entry.
    fn note(&self, model: &Model) -> String {
        match self {
            Self::Command(command) => model.settings.keys.label(*command),
            Self::Object(_) => "object".into(),
            Self::Name(_) => "name".into(),
            Self::Problem(_) => "problem".into(),
        }
    }

    fn hint(&self) -> String {
        match self {
            Self::Command(command) => command.hint().to_owned(),
            Self::Object(_) => "Selects the object and shows it.".into(),
            Self::Name(_) => "Selects all roads or areas with this name and shows them.".into(),
            Self::Problem(finding) => finding.message.clone(),
        }
    }

    /// Carries out a command, or selects and shows the found objects.
    fn choose(&self, model: &Model, actions: &mut Vec<Action>) {
        match self {
            Self::Command(command) => actions.push(Action::Do(*command)),
            Self::Object(object) => show(model, Objects::from([*object]), actions),
            Self::Name(name) => show(model, objects_called(model, name), actions),
            Self::Problem(finding) => {
                let around = DVec2::splat(SURROUNDINGS);
                actions.push(Action::Jump(finding.place - around, finding.place + around));
                actions.push(Action::Select(Objects::from([finding.object])));
            }
        }
    }
}

fn problem_text(finding: &Finding) -> String {
    format!("{}: {}", finding.code.title(), finding.object)
}

/// Returns the rank of a text for a query; `None` unless the text contains all letters of the query
/// in order. Smaller ranks are better.
fn rank(query: &str, text: &str) -> Option<usize> {
    let text = text.to_lowercase();
    let query = query.trim().to_lowercase();
    if let Some(at) = text.find(&query) {
        return Some(at);
    }
    // The iterator continues after the previous letter, so that order counts.
    let mut letters = text.char_indices();
    let mut last = 0;
    for wanted in query.chars().filter(|c| !c.is_whitespace()) {
        last = letters.find(|(_, c)| *c == wanted)?.0;
    }
    // Ranks after all texts that contain the whole query. The earlier the last letter is found, the better.
    Some(LOOSE + last)
}

/// Returns the entries for a query, best match first. Without a query these are all commands, in the order of
/// their table, which groups them by subject.
fn entries<'a>(model: &'a Model, query: &str) -> Vec<Entry<'a>> {
    // `RedoToo` is only a second key of Redo.
    let commands = Command::all().iter().filter(|c| **c != Command::RedoToo);
    if query.trim().is_empty() {
        return commands.map(|command| Entry::Command(*command)).collect();
    }
    let commands = commands
        .filter_map(|command| Some((rank(query, command.title())?, Entry::Command(*command))));
    let objects = numbered(model, query).map(|object| (0, Entry::Object(object)));
    // A street consists of many roads with the same name.
    let streets = model.scene.street_names.iter().map(|street| &*street.name);
    let land = model.scene.land_names.iter().map(|land| &*land.name);
    let names: BTreeSet<&str> = streets.chain(land).collect();
    let names = names
        .into_iter()
        .filter_map(|name| Some((rank(query, name)?, Entry::Name(name))));
    // Thousands of problems contain the letters of almost any query.
    let problems = model.findings.1.iter().filter_map(|finding| {
        let rank = rank(query, &problem_text(finding)).filter(|rank| *rank < LOOSE)?;
        Some((rank, Entry::Problem(finding)))
    });
    let mut found: Vec<(usize, Entry<'a>)> = objects
        .chain(commands)
        .chain(names)
        .chain(problems)
        .collect();
    // A stable sort: of equally good matches, commands come before names and problems.
    found.sort_by_key(|(rank, _)| *rank);
    found.truncate(MOST);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns the objects with the number at the end of a query. Letters before it select kinds of objects: "road 12",
/// "r12" and "12" find road 12.
fn numbered(model: &Model, query: &str) -> impl Iterator<Item = ObjectId> {
    let query = query.trim().to_lowercase();
    let kind = query.trim_end_matches(|c: char| c.is_ascii_digit());
    let number: Option<u32> = query[kind.len()..].parse().ok();
    let kind = kind.trim_end_matches(['#', ' ']).to_owned();
    let all = number.map(|n| {
        [
            ObjectId::Road(RoadId(n)),
            ObjectId::Node(NodeId(n)),
            ObjectId::Agent(AgentId(n)),
            ObjectId::Flow(FlowId(n)),
            ObjectId::Obstacle(ObstacleId(n)),
            ObjectId::Forest(ForestId(n)),
            ObjectId::Land(LandId(n)),
            ObjectId::PointOfInterest(PointOfInterestId(n)),
        ]
    });
    let scenario = model.document.scenario();
    all.into_iter().flatten().filter(move |object| {
        scenario.contains(*object) && object.to_string().starts_with(kind.as_str())
    })
}

/// Returns all roads and areas of land with a given name.
fn objects_called(model: &Model, name: &str) -> Objects {
    let network = model.document.scenario().network();
    let roads = network.roads().filter(|(_, road)| road.name == name);
    let mut objects: Objects = roads.map(|(id, _)| ObjectId::Road(id)).collect();
    let land = model.document.scenario().land().iter();
    let land = land.filter(|(_, land)| land.name == name);
    objects.extend(land.map(|(id, _)| ObjectId::Land(*id)));
    objects
}

/// Selects and shows objects.
fn show(model: &Model, objects: Objects, actions: &mut Vec<Action>) {
    let boxes = objects.iter().filter_map(|o| model.scene.bounds_of(*o));
    let corners: Vec<DVec2> = boxes.flat_map(|(low, high)| [low, high]).collect();
    actions.push(Action::Select(objects));
    if let Some((low, high)) = polygon::bounds(&corners) {
        actions.push(Action::Jump(low, high));
    }
}

pub(super) fn ui(
    context: &egui::Context,
    model: &Model,
    query: &mut String,
    line: &mut usize,
    actions: &mut Vec<Action>,
) {
    let mut chosen = None;
    let response = widgets::modal(context, "palette").show(context, |ui| {
        ui.set_width(460.0);
        let hint = "command, street, object or problem";
        let entered = field(ui, query, "Command", hint);
        let found = entries(model, query);
        let last = found.len().saturating_sub(1);
        ui.input(|i| {
            if i.key_pressed(Key::ArrowDown) {
                *line += 1;
            }
            if i.key_pressed(Key::ArrowUp) {
                *line = line.saturating_sub(1);
            }
        });
        *line = (*line).min(last);
        ScrollArea::vertical().max_height(380.0).show(ui, |ui| {
            for (i, entry) in found.iter().enumerate() {
                let button = egui::Button::selectable(i == *line, entry.text())
                    .shortcut_text(entry.note(model))
                    .min_size(egui::vec2(440.0, 0.0))
                    .truncate();
                let response = ui.add(button).on_hover_text(entry.hint());
                if response.clicked() || (i == *line && entered) {
                    chosen = Some(*entry);
                }
            }
            if found.is_empty() {
                ui.label("Nothing matches.");
            }
        });
    });
    if response.should_close() {
        actions.push(Action::Show(Dialog::None));
    }
    if let Some(entry) = chosen {
        actions.push(Action::Show(Dialog::None));
        entry.choose(model, actions);
    }
}

/// Shows a text field and gives it the focus. Returns whether Enter was pressed.
fn field(ui: &mut egui::Ui, text: &mut String, name: &'static str, hint: &str) -> bool {
    let edit = egui::TextEdit::singleline(text)
        .hint_text(hint)
        .desired_width(f32::INFINITY);
    let response = ui.add(edit);
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, name));
    let entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
    // Typed text goes to this field while the dialog is open, wherever the user has clicked.
    if !entered {
        response.request_focus();
    }
    entered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_enough_and_whole_words_are_better() {
        assert!(rank("spro", "Split road").is_some());
        assert!(rank("xyz", "Split road").is_none());
        assert!(rank("road", "Split road") < rank("spro", "Split road"));
        assert_eq!(rank("", "anything"), Some(0));
    }
}
