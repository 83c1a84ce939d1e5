//! The window after a document was opened or edited, while the workers have not answered yet.

use crate::common::Bench;
use egui::Shape;
use roadwright_editor::model::{Action, Next, Purpose};
use roadwright_geometry::DVec2;
use std::path::Path;

/// Share of the pixels of the map that have its most frequent colour.
fn emptiness(bench: &mut Bench) -> f64 {
    let map = bench.map();
    let picture = bench.harness.render().unwrap();
    let mut counts = std::collections::BTreeMap::new();
    let mut all = 0;
    for y in map.top() as u32 + 2..map.bottom() as u32 - 2 {
        for x in map.left() as u32 + 2..map.right() as u32 - 2 {
            *counts.entry(picture.get_pixel(x, y).0).or_insert(0) += 1;
            all += 1;
        }
    }
    let most = counts.values().copied().max().unwrap_or(0);
    f64::from(most) / f64::from(all)
}

/// The texts in the window.
fn texts(bench: &Bench) -> Vec<String> {
    fn collect(shape: &Shape, texts: &mut Vec<String>) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
            Shape::Text(text) => texts.push(text.galley.text().to_owned()),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for clipped in &bench.harness.output().shapes {
        collect(&clipped.shape, &mut found);
    }
    found
}

fn says_that_it_draws(bench: &Bench) -> bool {
    let texts = texts(bench);
    texts
        .iter()
        .any(|text| text.starts_with("Drawing the map, "))
}

/// Old-town with its run, its selection and its names in view, without the grid.
fn busy_town() -> Bench {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.set(|settings| settings.grid = false);
    bench.look_at(0.0, 0.0, 200.0);
    bench.step_run(200);
    assert!(emptiness(&mut bench) < 0.7);
    bench
}

/// Requests an action with the answers of the workers held back, and waits until the document has changed.
fn change_document(bench: &mut Bench, action: Action) {
    let before = bench.editor().model().document.scenario().clone();
    bench.harness.state_mut().hold_answers();
    bench.harness.state_mut().ask(action);
    for _ in 0..2_000 {
        bench.harness.step();
        if !std::sync::Arc::ptr_eq(&before, bench.editor().model().document.scenario()) {
            // The action was carried out after this frame, so the next one is the first of the new document.
            bench.harness.step();
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("the document does not change");
}

/// Checks frames with answers held back, and that the map is there once they are released.
fn nothing_old_is_shown(bench: &mut Bench) {
    for _ in 0..3 {
        // The rest is the message, and one about the import.
        assert!(emptiness(bench) > 0.93, "{}", emptiness(bench));
        assert!(says_that_it_draws(bench), "{:?}", texts(bench));
        let model = bench.editor().model();
        assert!(model.live.is_none() && model.findings.1.is_empty());
        assert!(
            !texts(bench)
                .iter()
                .any(|text| text.contains("College Street"))
        );
        bench.harness.step();
    }
    let before = emptiness(bench);
    bench.harness.state_mut().release_answers();
    bench.settle();
    assert!(!says_that_it_draws(bench));
    assert_ne!(emptiness(bench), before);
}

#[test]
fn nothing_of_the_old_map_is_shown_after_another_file_is_opened() {
    let mut bench = busy_town();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    change_document(&mut bench, Action::Go(Next::Open(path)));
    nothing_old_is_shown(&mut bench);
}

#[test]
fn nothing_of_the_old_map_is_shown_after_an_import() {
    let mut bench = busy_town();
    let path = bench.folder.path().join("small.osm");
    let osm = r#"<osm version="0.6"><node id="1" lat="53.0" lon="-6.0"/>
        <node id="2" lat="53.001" lon="-6.0"/><node id="3" lat="53.0005" lon="-6.001"/>
        <way id="4"><nd ref="1"/><nd ref="2"/><tag k="highway" v="secondary"/></way>
        <way id="5"><nd ref="2"/><nd ref="3"/><tag k="highway" v="secondary"/></way></osm>"#;
    std::fs::write(&path, osm).unwrap();
    change_document(&mut bench, Action::Path(path, Purpose::Import, None));
    nothing_old_is_shown(&mut bench);
}

#[test]
fn a_new_document_is_empty_from_its_first_frame() {
    let mut bench = busy_town();
    change_document(&mut bench, Action::Go(Next::New));
    assert!(emptiness(&mut bench) > 0.95);
    // There is nothing to draw, so nothing says so.
    assert!(!says_that_it_draws(&bench));
    bench.harness.state_mut().release_answers();
    bench.settle();
    assert!(emptiness(&mut bench) > 0.95);
}

#[test]
fn an_edit_after_opening_does_not_bring_the_message_back() {
    let mut bench = Bench::crossroads();
    bench.harness.state_mut().hold_answers();
    let id = bench.scenario().network().roads().next().unwrap().0;
    let edit = roadwright_scenario::Edit::Road(id, None);
    bench
        .harness
        .state_mut()
        .ask(Action::Apply("Delete".into(), edit));
    bench.harness.run_steps(3);
    assert!(!says_that_it_draws(&bench));
    bench.harness.state_mut().release_answers();
    bench.settle();
}

/// Colour of the picture at a world point.
fn color_at(bench: &mut Bench, x: f64, y: f64) -> [u8; 4] {
    let at = bench.at(x, y);
    let picture = bench.harness.render().unwrap();
    picture.get_pixel(at.x as u32, at.y as u32).0
}

/// Drags along a line of the world without waiting for the workers.
fn drag_unsettled(bench: &mut Bench, line: [DVec2; 2]) {
    let [a, b] = line.map(|point| bench.at(point.x, point.y));
    bench.harness.hover_at(a);
    bench.harness.step();
    bench.harness.drag_at(a);
    bench.harness.step();
    for i in 1..=20 {
        bench.harness.hover_at(a + (b - a) * (i as f32 / 20.0));
        bench.harness.step();
    }
}

#[test]
fn a_drawn_road_stays_in_sight_until_the_map_shows_it() {
    let mut bench = Bench::empty();
    bench.set(|settings| settings.grid = false);
    bench.look_at(0.0, 0.0, 100.0);
    bench.key(egui::Key::R);
    // Away from the hint of an empty document.
    let beside = color_at(&mut bench, 70.0, -70.0);
    bench.harness.state_mut().hold_answers();
    drag_unsettled(&mut bench, [DVec2::new(-60.0, 0.0), DVec2::new(60.0, 0.0)]);
    // Beside the middle line, where no point of the stroke is marked.
    let during = color_at(&mut bench, 20.0, 1.5);
    assert_ne!(during, beside);
    let end = bench.at(60.0, 0.0);
    bench.harness.drop_at(end);
    for frame in 0..8 {
        bench.harness.step();
        assert_eq!(color_at(&mut bench, 20.0, 1.5), during, "frame {frame}");
    }
    assert_eq!(bench.scenario().network().road_count(), 1);
    bench.harness.state_mut().release_answers();
    bench.settle();
    let drawn = color_at(&mut bench, 20.0, 1.5);
    assert!(drawn != beside && drawn != during, "{drawn:?}");
    // A deleted road is gone at once, and an undone stroke too.
    bench.harness.state_mut().hold_answers();
    bench
        .harness
        .key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Z);
    for frame in 0..6 {
        bench.harness.step();
        // The key reaches the document after its frame.
        if frame > 1 {
            assert_eq!(color_at(&mut bench, 20.0, 1.5), beside, "frame {frame}");
        }
    }
    assert_eq!(bench.scenario().network().road_count(), 0);
    bench.harness.state_mut().release_answers();
    bench.settle();
    assert_eq!(color_at(&mut bench, 20.0, 1.5), beside);
}
