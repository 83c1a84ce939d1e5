//! Facts about the scenario, shown if nothing is selected.

use super::super::property::fact;
use super::super::widgets::{empty, heading};
use super::traffic::length_text;
use crate::model::Model;
use egui::{Grid, Id, Ui};
use roadwright_scenario::{DrivingSide, Scenario};
use std::sync::Arc;

/// Minimum number of roads at a node that counts as a junction.
const JUNCTION_ROADS: usize = 3;

/// A name and a value.
struct Fact {
    name: &'static str,
    value: String,
}

/// The facts about a scenario. They are kept until it changes, because a city has thousands of roads.
#[derive(Clone)]
struct Facts {
    scenario: Arc<Scenario>,
    rows: Arc<Vec<Fact>>,
}

pub(super) fn ui(ui: &mut Ui, model: &Model) {
    let scenario = &model.scene.scenario;
    if !scenario.is_empty() {
        let name = &scenario.about().name;
        heading(ui, if name.is_empty() { "Scenario" } else { name });
        let rows = kept(ui, scenario);
        Grid::new("facts").num_columns(2).show(ui, |ui| {
            for row in rows.iter() {
                fact(ui, row.name, row.value.as_str());
            }
        });
    }
    empty(
        ui,
        "Select an object on the map to see and change its properties.",
    );
}

fn kept(ui: &Ui, scenario: &Arc<Scenario>) -> Arc<Vec<Fact>> {
    let id = Id::unique("facts about the scenario");
    let before = ui.data(|data| data.get_temp::<Facts>(id));
    if let Some(facts) = before.filter(|facts| Arc::ptr_eq(&facts.scenario, scenario)) {
        return facts.rows;
    }
    let rows = Arc::new(rows(scenario));
    let facts = Facts {
        scenario: scenario.clone(),
        rows: rows.clone(),
    };
    ui.data_mut(|data| data.insert_temp(id, facts));
    rows
}

/// Returns facts about the contents of the scenario. Kinds that do not occur are left out.
fn rows(scenario: &Scenario) -> Vec<Fact> {
    let network = scenario.network();
    let mut rows = Vec::new();
    let mut add = |name, value| rows.push(Fact { name, value });
    let roads = network.roads().count();
    if roads > 0 {
        let length: f64 = network.roads().map(|(_, road)| road.length()).sum();
        add("Roads", format!("{roads}, {} long", length_text(length)));
        let nodes = network.nodes();
        let junctions = nodes.filter(|(id, _)| network.ends_at(*id).len() >= JUNCTION_ROADS);
        add("Junctions", junctions.count().to_string());
        let side = match scenario.about().driving_side {
            DrivingSide::Right => "on the right",
            DrivingSide::Left => "on the left",
        };
        add("Driving", side.to_owned());
    }
    let counts = [
        ("Agents", scenario.agents().len()),
        ("Flows", scenario.flows().len()),
        ("Obstacles", scenario.obstacles().len()),
        ("Forests", scenario.forests().len()),
        ("Areas of land", scenario.land().len()),
        ("Places", scenario.points_of_interest().len()),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        add(name, count.to_string());
    }
    if let Some((low, high)) = scenario.frame() {
        let size = high - low;
        let extent = format!("{} by {}", length_text(size.x), length_text(size.y));
        add("Extent", extent);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_count_what_there_is() {
        let scenario = crate::shipped::ALL[0].scenario();
        let rows = rows(&scenario);
        let value = |name: &str| {
            let row = rows.iter().find(|row| row.name == name);
            row.map(|row| row.value.clone())
        };
        let roads = scenario.network().roads().count();
        let start = format!("{roads}, ");
        assert!(value("Roads").is_some_and(|value| value.starts_with(&start)));
        assert_eq!(value("Agents"), Some(scenario.agents().len().to_string()));
        assert_eq!(value("Flows"), None);
        assert!(super::rows(&Scenario::default()).is_empty());
    }
}
