//! Stacks, their modules, and results of runs.

use super::*;
use roadwright_editor::panel::PanelId;

#[test]
fn parameters_of_a_stack_are_edited_by_their_descriptions() {
    let mut bench = Bench::crossroads();
    bench.press("Scenario");
    bench.press("fuzzy_driver");
    let label = "route_steering_gain";
    assert!(bench.harness.query_all_by_label(label).count() > 0);
    let before = bench.scenario().clone();
    bench.press("aggregation of fuzzy_driver: max");
    bench.press("sum");
    let stack = &bench.scenario().stacks()["fuzzy_driver"];
    assert_eq!(stack.controller.parameters["aggregation"], 1.0);
    undo_gives_back(&mut bench, &before);
}

#[test]
fn a_stack_gets_a_second_fitness_and_loses_the_first() {
    let mut bench = Bench::crossroads();
    bench.press("Scenario");
    bench.press("idm");
    let fitnesses = |bench: &Bench| -> Vec<String> {
        let stack = &bench.scenario().stacks()["idm"];
        let settings = stack.fitness.0.iter();
        settings.map(|setting| setting.module.clone()).collect()
    };
    bench.press("Add fitness to idm: add a fitness");
    bench.press("Safety");
    assert_eq!(fitnesses(&bench), ["safe_arrival", "safety"]);
    let before = bench.scenario().clone();
    bench.press("Remove Fitness of idm");
    assert_eq!(fitnesses(&bench), ["safety"]);
    // A controller cannot be removed, and a second one cannot be added.
    let query = |label: &str| bench.harness.query_all_by_label(label).count();
    assert_eq!(query("Remove Controller of idm"), 0);
    assert_eq!(query("Add controller to idm: add a controller"), 0);
    undo_gives_back(&mut bench, &before);
}

#[test]
fn results_show_curves_and_trips_and_are_written_as_tables() {
    let mut bench = Bench::start();
    bench.close_dialog();
    let shipped = roadwright_editor::shipped::ALL.iter();
    let town = shipped
        .into_iter()
        .position(|s| s.name == "crossroads")
        .unwrap();
    bench.ask(Action::Go(Next::Shipped(town)));
    bench.ask(Action::Speed(f64::INFINITY));
    bench.ask(Action::Do(roadwright_editor::command::Command::Panel(
        PanelId::Results,
    )));
    bench.key(Key::Space);
    assert!(bench.play_until(120.0, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.results.trips.len() > 3)
    }));
    // One step by hand, then it pauses.
    bench.ask(Action::Do(roadwright_editor::command::Command::StepOnce));
    let results = bench.live().results.clone();
    assert!(results.rows.len() > 10 && results.before.is_none());
    // A click on a trip shows the place where it ended.
    let trip = results.trips.last().unwrap();
    let (_, last) = trip.places.unwrap();
    bench.press("Trips");
    let name = roadwright_simulation::agent_name(trip.agent);
    bench.press(&name);
    let centre = bench.editor().model().camera.centre;
    assert!((centre - last).length() < 5.0, "{centre} {last}");
    let folder = bench.folder.path().join("out");
    bench.ask(Action::Path(folder.clone(), Purpose::Results, None));
    let lines = |name: &str| {
        std::fs::read_to_string(folder.join(name))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(lines("timeline.csv"), results.rows.len() + 1);
    assert_eq!(lines("trips.csv"), results.trips.len() + 1);
    assert!(lines("heat.csv") > 10);
    // The previous run is kept for comparison.
    bench.ask(Action::Do(roadwright_editor::command::Command::Reset));
    let again = bench.live().results.clone();
    assert_eq!(again.before.as_ref().unwrap().rows, results.rows);
    assert_eq!(again.rows.len(), 1);
}

#[test]
fn stacks_are_renamed_copied_and_deleted_in_the_window() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.press_tab("Scenario");
    bench.press("idm");
    bench.press("Copy idm");
    assert!(bench.scenario().stacks().contains_key("idm_2"));
    let before = bench.scenario().clone();
    let users = before
        .agents()
        .values()
        .filter(|agent| agent.stack == "idm");
    let users = users.count();
    assert!(users > 0);
    // A stack in use is not deleted.
    bench.press("Delete idm");
    assert_eq!(bench.scenario(), &before);
    bench.press("Name of stack idm");
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.type_text("commuter");
    bench.key(Key::Enter);
    let agents = bench.scenario().agents().values();
    assert_eq!(
        agents.filter(|agent| agent.stack == "commuter").count(),
        users
    );
    assert!(!bench.scenario().stacks().contains_key("idm"));
    undo_gives_back(&mut bench, &before);
    bench.press("idm_2");
    bench.press("Delete idm_2");
    assert!(!bench.scenario().stacks().contains_key("idm_2"));
}
