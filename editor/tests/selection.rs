//! The bar beside the selection, the cross-section of a road, and facts about the scenario.

use crate::common::Bench;
use egui::{Key, Modifiers, Rect};
use egui_kittest::kittest::{NodeT, Queryable};
use roadwright_editor::model::Action;
use roadwright_scenario::{Edit, ObjectId, Poly3};

/// Creates two roads that cross; the one from left to right is selected.
fn crossing() -> Bench {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 100.0);
    bench.key(Key::R);
    bench.drag(&[(-80.0, 0.0), (80.0, 0.0)]);
    bench.drag(&[(-40.0, -60.0), (-40.0, 60.0)]);
    bench.key(Key::V);
    bench.click(30.0, 1.0);
    bench.harness.run_steps(2);
    bench
}

/// Returns the button of the bar, which has the name of its command.
fn button(bench: &Bench, name: &str) -> Option<Rect> {
    let found = bench.harness.query_by_label(name);
    found.map(|node| node.rect())
}

fn selected(bench: &Bench) -> Vec<ObjectId> {
    bench.editor().model().selection.iter().copied().collect()
}

#[test]
fn a_bar_beside_the_selection_has_its_commands() {
    let mut bench = crossing();
    let roads = bench.scenario().network().roads().count();
    let selection = selected(&bench);
    assert_eq!(selection.len(), 1);
    let bar = button(&bench, "Delete").unwrap();
    // A click on it reaches neither the map nor the selection.
    bench.press("Duplicate");
    assert!(bench.scenario().network().roads().count() > roads);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.ask(Action::Select(selection.iter().copied().collect()));
    bench.harness.run_steps(2);
    bench.press("Delete");
    assert_eq!(bench.scenario().network().roads().count(), roads - 1);
    bench.harness.run_steps(2);
    assert_eq!(button(&bench, "Duplicate"), None, "nothing is selected");
    assert!(bar.width() > 20.0);
    // Another tool has other options.
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.ask(Action::Select(selection.into_iter().collect()));
    bench.key(Key::R);
    bench.harness.run_steps(2);
    assert_eq!(button(&bench, "Duplicate"), None);
}

#[test]
fn the_bar_covers_neither_the_selection_nor_moves_during_a_drag() {
    let mut bench = crossing();
    let names = ["Split road", "Duplicate", "Delete"];
    let rects = |bench: &Bench| names.map(|name| button(bench, name).unwrap());
    let road = [(-36.0, 0.0), (0.0, 0.0), (40.0, 0.0), (79.0, 0.0)].map(|(x, y)| bench.at(x, y));
    for rect in rects(&bench) {
        assert!(
            road.iter().all(|at| !rect.expand(4.0).contains(*at)),
            "{rect}"
        );
    }
    let before = rects(&bench);
    bench.press_at(30.0, 1.0);
    for y in [5.0, 15.0, 30.0] {
        bench.move_to(30.0, y);
        assert_eq!(rects(&bench), before);
    }
    bench.release_at(30.0, 30.0);
    bench.harness.run_steps(3);
    assert_ne!(rects(&bench), before);
}

#[test]
fn a_click_in_the_cross_section_selects_a_lane() {
    let mut bench = crossing();
    let [ObjectId::Road(road)] = selected(&bench)[..] else {
        panic!("a road is selected");
    };
    // Gives the lanes different widths.
    let mut changed = bench.scenario().network().road(road).unwrap().clone();
    changed.lane_sections[0].lanes[1].width = vec![Poly3::constant(5.0)];
    let edit = Edit::Road(road, Some(Box::new(changed.clone())));
    bench.ask(Action::Apply("Widen".into(), edit));
    bench.settle();
    let section = &changed.lane_sections[0].lanes;
    let lanes: Vec<i8> = section.iter().map(|lane| lane.id).collect();
    let widths = section.iter().map(|lane| Poly3::value_in(&lane.width, 0.0));
    let widths: Vec<f64> = widths.collect();
    let name = |lane: i8| format!("Lane {lane} in the cross-section");
    let places = lanes
        .iter()
        .map(|lane| button(&bench, &name(*lane)).unwrap());
    let places: Vec<Rect> = places.collect();
    assert!(
        places.is_sorted_by(|a, b| a.right() <= b.left() + 0.5),
        "{places:?}"
    );
    let scales = places.iter().zip(&widths);
    let scales: Vec<f64> = scales
        .map(|(place, width)| f64::from(place.width()) / width)
        .collect();
    let is_equal = |scale: &f64| (scale / scales[0] - 1.0).abs() < 0.01;
    assert!(scales.iter().all(is_equal), "{scales:?}");
    let last = *lanes.last().unwrap();
    let toggled = |bench: &Bench, lane: i8| {
        let name = name(lane);
        let node = bench.harness.get_by_label(&name);
        node.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    assert!(!toggled(&bench, last));
    bench.press(&name(last));
    bench.harness.run_steps(20);
    assert!(toggled(&bench, last) && !toggled(&bench, lanes[0]));
    // The card of the lane has scrolled into view.
    let width = format!("Width of lane {last}");
    let card = bench.harness.get_by_label(&width);
    assert!(card.rect().is_positive());
}

#[test]
fn facts_about_the_scenario_are_shown_if_nothing_is_selected() {
    let mut bench = crossing();
    bench.key(Key::Escape);
    bench.harness.run_steps(3);
    assert!(selected(&bench).is_empty());
    let has = |bench: &Bench, text: &str| bench.harness.query_by_label_contains(text).is_some();
    assert!(has(&bench, "4, 280 m long"));
    assert!(has(&bench, "Junctions"));
    assert!(!has(&bench, "Forests"));
    // The facts follow an edit.
    bench.key(Key::T);
    bench.drag(&[(10.0, 30.0), (60.0, 70.0)]);
    bench.key(Key::V);
    bench.key(Key::Escape);
    bench.settle();
    assert!(has(&bench, "Forests"));
}
