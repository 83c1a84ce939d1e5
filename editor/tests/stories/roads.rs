//! Drawing, bending, joining and splitting roads.

use super::*;
use roadwright_editor::tools::ToolOptions;
use roadwright_scenario::LaneType;

#[test]
fn a_freehand_stroke_is_a_road_of_lines_and_arcs() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    let bend: Vec<(f64, f64)> = (0..=40)
        .map(|i| {
            let angle = f64::from(i) / 40.0 * 1.5;
            let (sin, cos) = roadwright_geometry::math::sin_cos(angle);
            (60.0 * sin, 60.0 - 60.0 * cos)
        })
        .collect();
    let mut points = vec![(-100.0, 0.0)];
    points.extend(bend);
    let empty = bench.scenario().clone();
    bench.drag(&points);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    let radius = 1.0 / road.reference_line.max_curvature();
    assert!((45.0..75.0).contains(&radius), "{radius}");
    assert!(
        road.reference_line.segments().len() <= 5,
        "{:?}",
        road.reference_line.segments()
    );
    undo_gives_back(&mut bench, &empty);
}

#[test]
fn clicks_lay_a_road_point_by_point() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.click(-100.0, 0.0);
    bench.click(0.0, 0.0);
    bench.click(50.0, 60.0);
    bench.click(100.0, 60.0);
    bench.key(Key::Backspace);
    bench.key(Key::Enter);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    let end = road.reference_line.end().position;
    assert!(
        (end.x - 50.0).abs() < 1.0 && (end.y - 60.0).abs() < 1.0,
        "{end}"
    );
}

#[test]
fn a_typed_length_is_kept_and_escape_takes_the_stroke_back() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.click(-100.0, 0.0);
    bench.hover(0.0, 0.0);
    bench.type_text("75");
    bench.key(Key::Enter);
    bench.key(Key::Enter);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    assert!((road.length() - 75.0).abs() < 0.5, "{}", road.length());
    let before = bench.scenario().clone();
    bench.click(-100.0, -50.0);
    bench.hover(0.0, -50.0);
    bench.key(Key::Escape);
    bench.key(Key::Enter);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_road_that_starts_on_another_one_joins_it() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.drag(&[(30.0, 1.0), (30.0, 100.0)]);
    let network = bench.scenario().network();
    assert_eq!(network.road_count(), 3);
    assert!(
        network
            .nodes()
            .any(|(id, _)| network.ends_at(id).len() == 3)
    );
}

#[test]
fn a_road_released_on_the_asphalt_of_another_one_joins_it_at_every_zoom() {
    for half in [40.0, 150.0, 600.0] {
        let mut bench = Bench::empty();
        bench.look_at(0.0, 0.0, half);
        let far = half - 35.0;
        bench.drag(&[(-far, 0.0), (far, 0.0)]);
        let street = bench.scenario().clone();
        // On the far lane of the street, beyond its centre line, and on the near one.
        for y in [-1.5, 2.4] {
            bench.drag(&[(0.3 * far, 0.8 * far), (0.3 * far, y)]);
            let network = bench.scenario().network();
            assert_eq!(network.road_count(), 3, "{half} {y}");
            let joint = network
                .nodes()
                .find(|(id, _)| network.ends_at(*id).len() == 3);
            let at = joint.unwrap().1.position();
            assert!(
                at.y.abs() < 0.01 && (at.x - 0.3 * far).abs() < 1.0 + 0.01 * half,
                "{at}"
            );
            assert!(bench.editor().model().findings.1.is_empty());
            undo_gives_back(&mut bench, &street);
            bench.undo_all();
            bench.drag(&[(-far, 0.0), (far, 0.0)]);
        }
    }
}

#[test]
fn a_roundabout_with_legs_released_on_its_ring_is_driven_through() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 130.0);
    bench.key(Key::C);
    bench.drag(&[(0.0, 0.0), (20.0, 0.0)]);
    bench.key(Key::R);
    // Legs end on the outer edge of the ring, which is two metres outside its centre line.
    for (x, y) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
        bench.drag(&[(90.0 * x, 90.0 * y), (21.5 * x, 21.5 * y)]);
    }
    let network = bench.scenario().network();
    let joints = network
        .nodes()
        .filter(|(id, _)| network.ends_at(*id).len() == 3);
    assert_eq!(joints.count(), 4);
    assert!(
        bench.editor().model().findings.1.is_empty(),
        "{:?}",
        bench.editor().model().findings
    );
    bench.key(Key::A);
    bench.drag(&[(85.0, 2.0), (-85.0, 2.0)]);
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    assert!(bench.play_until_arrived(120.0));
}

#[test]
fn a_loose_end_is_a_problem_that_a_click_or_a_drag_repairs() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    // Ctrl suspends the joint.
    bench.drag_with(&[(30.0, 100.0), (30.0, 1.0)], Modifiers::CTRL);
    assert_eq!(bench.scenario().network().road_count(), 2);
    let loose = bench.scenario().clone();
    let codes = |bench: &Bench| -> Vec<&'static str> {
        let findings = bench.editor().model().findings.1.iter();
        findings.map(|finding| finding.code.name()).collect()
    };
    assert_eq!(codes(&bench), ["ends-on-road"]);
    bench.press_tab("Problems (1)");
    bench.press("Join the roads: road 2");
    assert_eq!(bench.scenario().network().road_count(), 3);
    assert!(codes(&bench).is_empty());
    undo_gives_back(&mut bench, &loose);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    // Moves the end away from the street, and back onto it, with Select.
    bench.key(Key::V);
    bench.click(30.0, 50.0);
    bench.drag(&[(30.0, 1.0), (30.0, 40.0)]);
    assert!(codes(&bench).is_empty());
    let away = bench.scenario().clone();
    assert_eq!(away.network().road_count(), 2);
    bench.drag(&[(30.0, 40.0), (45.0, 2.0)]);
    assert_eq!(bench.scenario().network().road_count(), 3);
    assert!(codes(&bench).is_empty());
    undo_gives_back(&mut bench, &away);
}

#[test]
fn a_slip_road_dragged_onto_a_motorway_gets_a_lane_of_its_own() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 250.0);
    let preset = |bench: &mut Bench, name: &str| {
        let mut options = bench.editor().model().settings.tools.clone();
        let presets = &options.presets;
        options.preset = presets.iter().position(|p| p.name == name).unwrap();
        bench.set(|settings| settings.tools = options);
    };
    preset(&mut bench, "One-way, 3 lanes");
    bench.drag(&[(-300.0, 0.0), (300.0, 0.0)]);
    let motorway = bench.scenario().clone();
    preset(&mut bench, "Slip road");
    bench.drag(&[(-200.0, -60.0), (-120.0, -32.0), (-10.0, -6.0)]);
    let joined = bench.scenario().network();
    assert_eq!(joined.road_count(), 3);
    let widest = joined
        .roads()
        .map(|(_, road)| road.lanes_forward(1.0, DrivingSide::Right));
    assert_eq!(widest.max(), Some(4));
    undo_gives_back(&mut bench, &motorway);
    // A vehicle from the slip road changes lanes and continues.
    bench.key(Key::A);
    bench.drag(&[(-190.0, -56.0), (280.0, 0.0)]);
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    let arrived = bench.play_until_arrived(120.0);
    assert!(arrived);
    assert!(bench.editor().model().findings.1.is_empty());
}

#[test]
fn a_dragged_point_bends_a_road_and_stays_local() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    bench.key(Key::V);
    bench.double_click(-60.0, 0.0);
    let id = match bench.editor().model().selection.first() {
        Some(ObjectId::Road(id)) => *id,
        other => panic!("{other:?}"),
    };
    let bent = bench.scenario().network().road(id).unwrap().clone();
    assert!(bent.reference_line.segments().len() > 1);
    // The point was put 2 m to the left of the road.
    bench.drag(&[(-60.0, 2.0), (-60.0, 30.0)]);
    let road = bench.scenario().network().road(id).unwrap();
    assert!(
        road.length() > bent.length() + 3.0,
        "{} {}",
        road.length(),
        bent.length()
    );
    for (other, road) in bench.scenario().network().roads().filter(|(r, _)| *r != id) {
        assert_eq!(Some(road), before.network().road(other));
    }
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_dragged_junction_takes_its_roads_along() {
    let mut bench = Bench::crossroads();
    let before = bench.scenario().clone();
    bench.key(Key::V);
    bench.click(0.0, 0.0);
    assert!(matches!(
        bench.editor().model().selection.first(),
        Some(ObjectId::Node(_))
    ));
    bench.drag(&[(0.0, 0.0), (20.0, 15.0)]);
    assert!(
        bench.editor().model().findings.1.is_empty(),
        "{:?}",
        bench.editor().model().findings
    );
    undo_gives_back(&mut bench, &before);
}

#[test]
fn roads_are_split_merged_reversed_and_simplified() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.key(Key::V);
    bench.click(60.0, 0.5);
    let whole = bench.scenario().clone();
    bench.key(Key::K);
    assert_eq!(bench.scenario().network().road_count(), 2);
    undo_gives_back(&mut bench, &whole);
    let cut = bench.scenario().clone();
    bench.click(60.0, 0.0);
    bench.key(Key::J);
    assert_eq!(bench.scenario().network().road_count(), 1);
    undo_gives_back(&mut bench, &cut);
    let merged = bench.scenario().clone();
    bench.click(20.0, 0.5);
    bench.ask(Action::Do(roadwright_editor::command::Command::ReverseRoad));
    undo_gives_back(&mut bench, &merged);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    assert!(road.reference_line.start().position.x > 100.0);
}

#[test]
fn reversing_a_one_way_road_reverses_its_traffic() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    let presets = &bench.editor().model().settings.tools.presets;
    let one_way = presets
        .iter()
        .position(|preset| preset.name == "One-way, 1 lane");
    let mut settings = bench.editor().model().settings.clone();
    settings.tools.preset = one_way.unwrap();
    bench.ask(Action::Settings(Box::new(settings)));
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.key(Key::V);
    bench.click(60.0, 0.5);
    bench.press("Reverse road");
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    let side = DrivingSide::Right;
    assert_eq!(
        (
            road.lanes_forward(0.0, side),
            road.lanes_backward(0.0, side)
        ),
        (1, 0)
    );
    assert!(road.reference_line.start().position.x > 100.0);
}

#[test]
fn lanes_are_added_and_removed_by_their_cards() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.key(Key::V);
    bench.click(60.0, 0.5);
    let before = bench.scenario().clone();
    bench.press("Add right lane");
    let lanes = |bench: &Bench| {
        let network = bench.scenario().network();
        network.road(RoadId(1)).unwrap().lane_sections[0]
            .lanes
            .len()
    };
    assert_eq!(lanes(&bench), 3);
    undo_gives_back(&mut bench, &before);
    bench.press("Remove the lane (lane -2)");
    assert_eq!(lanes(&bench), 2);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn a_cross_section_is_kept_as_a_preset() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.click(-60.0, 0.5);
    bench.press("Add right lane");
    bench.key(Key::R);
    bench.press("Save as preset");
    let tools = &bench.editor().model().settings.tools;
    assert_eq!(tools.chosen().section.forward.len(), 2);
    bench.drag(&[(-120.0, 60.0), (-40.0, 60.0)]);
    let (_, road) = bench.scenario().network().roads().last().unwrap();
    assert_eq!(road.lane_sections[0].lanes.len(), 3);
}

#[test]
fn the_first_road_of_a_new_user_has_pavements_and_presets_show_their_lanes() {
    let mut bench = Bench::empty();
    bench.set(|settings| settings.tools = ToolOptions::default());
    bench.look_at(0.0, 0.0, 60.0);
    bench.key(Key::R);
    bench.drag(&[(-40.0, 0.0), (40.0, 0.0)]);
    let (_, road) = bench.scenario().network().roads().next().unwrap();
    let kinds: Vec<LaneType> = road.lane_sections[0]
        .lanes
        .iter()
        .map(|lane| lane.kind)
        .collect();
    use LaneType::{Driving, Sidewalk};
    assert_eq!(kinds, [Sidewalk, Driving, Driving, Sidewalk]);
    // Selects another preset from the list.
    bench.press("Cross-section: Street 1+1");
    bench.press("Slip road");
    assert_eq!(
        bench.editor().model().settings.tools.chosen().name,
        "Slip road"
    );
    assert!(
        bench
            .harness
            .query_by_label("Cross-section: Slip road")
            .is_some()
    );
}

#[test]
fn the_layer_of_a_stroke_is_changed_with_page_up_and_page_down() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::R);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.key(Key::PageUp);
    assert!(bench.editor().model().status.contains("layer (now 1)"));
    bench.drag(&[(0.0, -100.0), (0.0, 100.0)]);
    let layers = |bench: &Bench| -> Vec<i8> {
        let roads = bench.scenario().network().roads();
        roads.map(|(_, road)| road.layer).collect()
    };
    assert_eq!(layers(&bench), [0, 1]);
    // The chosen layer ends with the stroke, so the next stroke joins the street.
    bench.move_to(60.0, -100.0);
    assert!(bench.editor().model().status.contains("layer (now 0)"));
    bench.drag(&[(60.0, -100.0), (60.0, 100.0)]);
    assert_eq!(layers(&bench), [0, 1, 0, 0, 0]);
    // During a stroke, the layer changes at the pointer. The first part ends at its own node.
    bench.press_at(-60.0, -100.0);
    bench.move_to(-60.0, -60.0);
    bench.move_to(-60.0, -40.0);
    bench.key(Key::PageUp);
    assert!(!bench.editor().model().status.contains("layer (now 0)"));
    bench.move_to(-60.0, 0.0);
    bench.move_to(-60.0, 100.0);
    bench.release_at(-60.0, 100.0);
    assert_eq!(layers(&bench), [0, 1, 0, 0, 0, 0, 1]);
    let network = bench.scenario().network();
    let ramp: Vec<_> = network.roads().skip(5).collect();
    assert_eq!(ramp[0].1.to, ramp[1].1.from);
    let middle = network.node(ramp[0].1.to).unwrap().position();
    assert!((middle - DVec2::new(-60.0, -40.0)).length() < 3.0);
    // Cancelling a stroke also resets the layer, as do another tool and another document.
    bench.move_to(80.0, -100.0);
    bench.key(Key::PageDown);
    assert_eq!(bench.editor().model().settings.tools.layer, Some(-1));
    bench.press_at(80.0, -100.0);
    bench.move_to(100.0, -60.0);
    bench.move_to(100.0, -40.0);
    bench.key(Key::Escape);
    bench.release_at(100.0, -40.0);
    assert_eq!(bench.editor().model().settings.tools.layer, None);
    bench.key(Key::PageUp);
    bench.key(Key::V);
    assert_eq!(bench.editor().model().settings.tools.layer, None);
    bench.key(Key::R);
    bench.key(Key::PageUp);
    bench.ask(Action::Go(Next::New));
    assert_eq!(bench.editor().model().settings.tools.layer, None);
}

#[test]
fn points_that_are_clicked_change_the_layer_at_the_last_one() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    bench.key(Key::R);
    bench.drag(&[(0.0, -100.0), (0.0, 100.0)]);
    bench.click(-100.0, 0.0);
    bench.click(-40.0, 0.0);
    bench.key(Key::PageUp);
    bench.click(60.0, 0.0);
    bench.key(Key::PageDown);
    bench.click(100.0, 0.0);
    bench.key(Key::Enter);
    let roads = bench.scenario().network().roads();
    let layers: Vec<i8> = roads.map(|(_, road)| road.layer).collect();
    assert_eq!(layers, [0, 0, 1, 0]);
    // Backspace removes a change of layer together with the points behind it.
    bench.click(-100.0, 50.0);
    bench.click(-40.0, 50.0);
    bench.key(Key::PageUp);
    bench.click(60.0, 50.0);
    bench.key(Key::Backspace);
    bench.key(Key::PageDown);
    bench.click(60.0, 50.0);
    bench.key(Key::Enter);
    assert_eq!(bench.scenario().network().road_count(), 7);
}
