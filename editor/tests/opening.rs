//! The window after a document was opened or edited, while the workers have not answered yet.

use crate::common::{Bench, Painting};
use cpu_time::ThreadTime;
use egui::Shape;
use egui_kittest::kittest::Queryable;
use roadwright_editor::model::{Action, Dialog, Next, Purpose};
use roadwright_editor::tools::ToolKind;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::file::to_text;
use roadwright_scenario::operation::draw::{self, RoadStyle};
use roadwright_scenario::{CrossSection, Edit, Node, NodeId, RoadClass, Scenario};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A map extract with two streets.
const OSM: &str = r#"<osm version="0.6"><node id="1" lat="53.0" lon="-6.0"/>
    <node id="2" lat="53.001" lon="-6.0"/><node id="3" lat="53.0005" lon="-6.001"/>
    <way id="4"><nd ref="1"/><nd ref="2"/><tag k="highway" v="secondary"/></way>
    <way id="5"><nd ref="2"/><nd ref="3"/><tag k="highway" v="secondary"/></way></osm>"#;

/// Returns the fraction of the map's pixels that have its most frequent colour.
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

/// Returns all texts in the window.
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

/// Opens old-town with its run, its selection and its names in view, without the grid.
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
            // The action was carried out after this frame, so the next frame is the first one of
            // the new document.
            bench.harness.step();
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("the document does not change");
}

/// Checks that no frame shows the old document while answers are held back, and that the map appears once
/// they are released.
fn nothing_old_is_shown(bench: &mut Bench) {
    for _ in 0..3 {
        // The rest is this message, and one about the import.
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
    std::fs::write(&path, OSM).unwrap();
    change_document(&mut bench, Action::Path(path, Purpose::Import, None));
    nothing_old_is_shown(&mut bench);
}

/// Creates a grid of streets with a junction every 100 m.
fn grid(streets: u32) -> Scenario {
    let mut scenario = Scenario::new("grid");
    let style = RoadStyle {
        name: String::new(),
        class: RoadClass::Residential,
        layer: 0,
        speed_limit: 13.9,
        section: CrossSection::driving(1, 1, 3.25),
    };
    let far = 100.0 * f64::from(streets + 1);
    for number in 1..=streets {
        let at = 100.0 * f64::from(number);
        let ends = [
            (DVec2::new(0.0, at), DVec2::new(far, at)),
            (DVec2::new(at, 0.0), DVec2::new(at, far)),
        ];
        for (from, to) in ends {
            let line = ReferenceLine::straight(from, to).unwrap();
            let edit = draw::road(&scenario, &line, &style).unwrap();
            scenario.apply(edit).unwrap();
        }
    }
    scenario
}

/// Returns the path of a shipped scenario.
fn shipped(name: &str) -> PathBuf {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    scenarios.join(format!("{name}.scenario.json"))
}

/// Opens old-town with an unsaved step, at a large scale.
fn edited_town() -> Bench {
    let mut bench = busy_town();
    bench.ask(Action::Apply("Add node".into(), far_node()));
    assert!(bench.undo_steps() == 1 && bench.editor().model().document.is_dirty());
    bench
}

/// Returns an edit that does not depend on any road or agent.
fn far_node() -> Edit {
    let node = Node::at(DVec2::new(500.0, 500.0));
    Edit::Node(NodeId(9_999), Some(node))
}

/// Returns the state that a document keeps when opening another one is cancelled.
fn kept(bench: &Bench) -> (u64, u64, usize, bool, roadwright_editor::camera::Camera) {
    let model = bench.editor().model();
    let document = &model.document;
    let steps = document.history().undo_labels().count();
    (
        document.id(),
        document.revision(),
        steps,
        document.is_dirty(),
        model.camera,
    )
}

#[test]
fn cancelling_while_the_map_is_drawn_returns_to_the_document() {
    let mut bench = edited_town();
    let (before, picture) = (kept(&bench), emptiness(&mut bench));
    change_document(&mut bench, Action::Go(Next::Open(shipped("crossroads"))));
    assert_ne!(kept(&bench).0, before.0);
    // The status line shows the work, with a button.
    bench.harness.get_by_label("Cancel").click();
    bench.harness.run_steps(3);
    assert_eq!(kept(&bench), before);
    assert!(!texts(&bench).contains(&"Drawing the map".to_owned()));
    bench.harness.state_mut().release_answers();
    bench.settle();
    assert_eq!(kept(&bench), before);
    assert!((emptiness(&mut bench) - picture).abs() < 0.1);
    // The step can still be undone, and the run can be started.
    bench.key_with(egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(bench.undo_steps(), 0);
    bench.step_run(2);
    assert_eq!(bench.live().snapshot.step, 2);
}

#[test]
fn cancelling_an_import_while_its_map_is_drawn_returns_to_the_document() {
    let mut bench = edited_town();
    let before = kept(&bench);
    let path = bench.folder.path().join("small.osm");
    std::fs::write(&path, OSM).unwrap();
    change_document(&mut bench, Action::Go(Next::Import(path)));
    assert!(bench.editor().model().import.is_some());
    bench.harness.state_mut().ask(Action::CancelJob);
    bench.harness.run_steps(2);
    assert_eq!(kept(&bench), before);
    assert!(bench.editor().model().import.is_none());
    bench.harness.state_mut().release_answers();
    bench.settle();
    assert_eq!(kept(&bench), before);
}

#[test]
fn cancelling_while_a_file_is_read_keeps_the_document_and_its_run() {
    let mut bench = edited_town();
    bench.step_run(20);
    let before = kept(&bench);
    let step = bench.live().snapshot.step;
    for next in [
        Next::Open(shipped("crossroads")),
        Next::Import(bench.folder.path().join("small.osm")),
    ] {
        std::fs::write(bench.folder.path().join("small.osm"), OSM).unwrap();
        // Both actions are carried out after the same frame, before the file can have been read.
        bench.harness.state_mut().ask(Action::Go(next));
        bench.ask(Action::CancelJob);
        assert_eq!(kept(&bench), before);
        assert_eq!(bench.live().snapshot.step, step);
    }
}

#[test]
fn a_map_that_has_been_drawn_or_edited_is_not_cancelled() {
    let mut bench = edited_town();
    bench.ask(Action::Go(Next::Open(shipped("crossroads"))));
    let opened = kept(&bench);
    bench.ask(Action::CancelJob);
    assert_eq!(kept(&bench), opened);
    // An edit shows that the user wants the new document.
    change_document(&mut bench, Action::Go(Next::Open(shipped("figure-eight"))));
    bench
        .harness
        .state_mut()
        .ask(Action::Apply("Add node".into(), far_node()));
    bench.harness.run_steps(2);
    let edited = kept(&bench);
    assert_eq!(edited.2, 1);
    bench.harness.state_mut().ask(Action::CancelJob);
    bench.harness.run_steps(2);
    assert_eq!(kept(&bench), edited);
    bench.harness.state_mut().release_answers();
    bench.settle();
}

#[test]
fn a_large_file_is_read_after_the_window_has_opened() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let path = folder.path().join("large.scenario.json");
    let text = std::fs::read_to_string(shipped("crossroads")).unwrap();
    // Spaces after the object make the file large.
    std::fs::write(&path, text + " ".repeat(1_500_000).as_str()).unwrap();
    let mut bench = Bench::unsettled(folder, Some(path.clone()));
    bench.settle();
    let model = bench.editor().model();
    assert_eq!(model.document.path(), Some(path.as_path()));
    assert!(!model.document.is_dirty() && model.dialog == Dialog::None);
    assert!(model.settings.recent.contains(&path));
    assert_eq!(bench.scenario().network().road_count(), 4);
    // A file that cannot be read is reported as usual.
    let path = bench.folder.path().join("broken.scenario.json");
    std::fs::write(&path, format!("{{{}", " ".repeat(1_500_000))).unwrap();
    let mut bench = Bench::unsettled(bench.folder.clone(), Some(path));
    bench.settle();
    assert_eq!(bench.editor().model().dialog, Dialog::Damaged);
}

#[test]
fn the_progress_of_a_large_map_grows_step_by_step() {
    let mut bench = Bench::empty();
    let path = bench.folder.path().join("grid.scenario.json");
    std::fs::write(&path, to_text(&grid(20))).unwrap();
    bench.harness.state_mut().ask(Action::Go(Next::Open(path)));
    let mut seen: Vec<u32> = Vec::new();
    for _ in 0..4_000 {
        bench.harness.step();
        let shown: Option<u32> = texts(&bench).into_iter().find_map(|text| {
            let percent = text.strip_prefix("Drawing the map, ")?.strip_suffix(" %")?;
            percent.parse().ok()
        });
        seen.extend(shown);
        if bench.editor().is_settled() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(seen.is_sorted(), "{seen:?}");
    seen.dedup();
    // Junctions are laid out in the first half, beside the frames, so the number of values seen there depends on the
    // machine; a test of the layout counts its steps.
    assert!(seen.len() > 2, "{seen:?}");
    assert!(seen.iter().any(|percent| *percent < 50), "{seen:?}");
    assert!(seen.iter().any(|percent| *percent >= 50), "{seen:?}");
}

/// Requests an action, and prints the longest frame until the editor has settled, with its tessellation. With
/// `cancels_at`, opening is cancelled as soon as the map has this progress, 0 to 1. Returns its CPU time.
#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn longest_frame(
    bench: &mut Bench,
    name: &str,
    action: Action,
    cancels_at: Option<f32>,
) -> Duration {
    bench.harness.state_mut().ask(action);
    let (mut cpu, mut clock) = (Duration::ZERO, Duration::ZERO);
    let (mut frames, mut cancels) = (0, cancels_at);
    let begin = Instant::now();
    loop {
        let begin = (ThreadTime::now(), Instant::now());
        bench.harness.step();
        let shapes = bench.harness.output().shapes.clone();
        bench.harness.ctx.tessellate(shapes, 1.0);
        (cpu, clock) = (cpu.max(begin.0.elapsed()), clock.max(begin.1.elapsed()));
        frames += 1;
        let job = bench.editor().model().job.clone();
        let drawn = job.filter(|(label, _)| label == "Drawing the map");
        let progress = drawn.and_then(|(_, share)| share);
        if progress.zip(cancels).is_some_and(|(done, at)| done >= at) {
            cancels = None;
            bench.harness.state_mut().ask(Action::CancelJob);
        } else if bench.editor().is_settled() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    println!(
        "{name}: longest of {frames} frames {:.1} ms of CPU, {:.1} ms by the clock; ready after {:.2} s, {} roads",
        1e3 * cpu.as_secs_f64(),
        1e3 * clock.as_secs_f64(),
        begin.elapsed().as_secs_f64(),
        bench.scenario().network().road_count(),
    );
    cpu
}

/// Opens the scenario in `ROADWRIGHT_CITY`, and imports the map extract in `ROADWRIGHT_EXTRACT` if there is one.
#[test]
#[ignore = "set ROADWRIGHT_CITY to a large scenario"]
fn no_frame_takes_long_while_a_city_is_opened() {
    let city = PathBuf::from(std::env::var_os("ROADWRIGHT_CITY").unwrap());
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut bench = Bench::drawn_by(Painting::Gpu, folder, Some(city.clone()));
    let mut longest = Vec::new();
    let mut measure = |bench: &mut Bench, name: &str, action: Action, cancels_at: Option<f32>| {
        longest.push(longest_frame(bench, name, action, cancels_at));
    };
    measure(
        &mut bench,
        "started with the city",
        Action::Show(Dialog::None),
        None,
    );
    let open = |path: &Path| Action::Go(Next::Open(path.to_owned()));
    measure(
        &mut bench,
        "opened over the city",
        open(&shipped("crossroads")),
        None,
    );
    let before = bench.editor().model().document.id();
    for at in [0.1, 0.6, 0.8] {
        let name = format!("cancelled at {:.0} %", 100.0 * at);
        measure(&mut bench, &name, open(&city), Some(at));
        assert_eq!(bench.editor().model().document.id(), before);
    }
    measure(&mut bench, "opened", open(&city), None);
    if let Some(extract) = std::env::var_os("ROADWRIGHT_EXTRACT") {
        let import = Action::Go(Next::Import(extract.into()));
        measure(&mut bench, "imported", import, None);
    }
    let longest = longest.into_iter().max().unwrap();
    assert!(longest < Duration::from_millis(100), "{longest:?}");
}

#[test]
fn a_new_document_is_empty_from_its_first_frame() {
    let mut bench = busy_town();
    change_document(&mut bench, Action::Go(Next::New));
    assert!(emptiness(&mut bench) > 0.95);
    // There is nothing to draw, so no progress is shown.
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

/// Returns the colour of the window's picture at a world point.
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
    // A deleted road disappears immediately, as does an undone stroke.
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

#[test]
fn moved_and_redone_roads_are_where_they_belong_before_the_map_shows_them() {
    let mut bench = Bench::empty();
    bench.set(|settings| settings.grid = false);
    bench.look_at(0.0, 0.0, 100.0);
    bench.key(egui::Key::R);
    let beside = color_at(&mut bench, 70.0, -70.0);
    bench.drag(&[(-60.0, 0.0), (60.0, 0.0)]);
    let drawn = color_at(&mut bench, 20.0, 1.5);
    // A split road keeps its appearance: nothing covers it, and nothing is drawn over it.
    bench.harness.state_mut().hold_answers();
    let id = bench.scenario().network().roads().next().unwrap().0;
    let split = roadwright_scenario::operation::draw::split(bench.scenario(), id, 90.0).unwrap();
    let apply = |bench: &mut Bench, edit| {
        let action = Action::Apply("Edit".into(), edit);
        bench.harness.state_mut().ask(action);
        bench.harness.run_steps(3);
    };
    apply(&mut bench, split);
    assert_eq!(bench.scenario().network().road_count(), 2);
    assert_eq!(color_at(&mut bench, 20.0, 1.5), drawn);
    bench.harness.state_mut().release_answers();
    bench.key_with(egui::Modifiers::COMMAND, egui::Key::Z);
    // A moved road disappears from its old place.
    bench.harness.state_mut().hold_answers();
    let (id, road) = bench.scenario().network().roads().next().unwrap();
    let (mut moved, nodes) = (road.clone(), [road.from, road.to]);
    let by = DVec2::new(0.0, 40.0);
    let start = moved.reference_line.start();
    let pose = roadwright_geometry::Pose {
        position: start.position + by,
        ..start
    };
    moved.reference_line =
        roadwright_geometry::ReferenceLine::new(pose, moved.reference_line.segments().to_vec())
            .unwrap();
    let nodes = nodes.map(|node| {
        let at = bench.scenario().network().node(node).unwrap().position();
        roadwright_scenario::Edit::Node(node, Some(roadwright_scenario::Node::at(at + by)))
    });
    let mut edits = vec![roadwright_scenario::Edit::Road(id, Some(Box::new(moved)))];
    edits.extend(nodes);
    apply(&mut bench, roadwright_scenario::Edit::Batch(edits));
    assert_eq!(color_at(&mut bench, 20.0, 1.5), beside);
    assert_ne!(color_at(&mut bench, 20.0, 41.5), beside);
    bench.harness.state_mut().release_answers();
    bench.settle();
    let settled = color_at(&mut bench, 20.0, 41.5);
    // The same applies after undo and redo.
    bench.harness.state_mut().hold_answers();
    let press = |bench: &mut Bench, key| {
        bench
            .harness
            .key_press_modifiers(egui::Modifiers::COMMAND, key);
        bench.harness.run_steps(3);
    };
    press(&mut bench, egui::Key::Z);
    assert_eq!(color_at(&mut bench, 20.0, 41.5), beside);
    assert_ne!(color_at(&mut bench, 20.0, 1.5), beside);
    press(&mut bench, egui::Key::Y);
    assert_eq!(color_at(&mut bench, 20.0, 1.5), beside);
    // The map still shows the road there.
    assert_eq!(color_at(&mut bench, 20.0, 41.5), settled);
    bench.harness.state_mut().release_answers();
    bench.settle();
}

/// Asserts the colour at a world point in the next frames, while the workers are held back.
#[track_caller]
fn stays(bench: &mut Bench, at: DVec2, expected: [u8; 4]) {
    for frame in 0..6 {
        bench.harness.step();
        // A key or an action reaches the document after its frame.
        if frame > 1 {
            assert_eq!(color_at(bench, at.x, at.y), expected, "frame {frame}");
        }
    }
}

/// Draws with a tool, and then moves, deletes, undoes and redoes, all while the workers are held
/// back. In every frame, the map must look as if the workers had drawn the scenario.
fn changes_are_seen_at_once(
    tool: ToolKind,
    corners: &[(f64, f64)],
    moved: impl Fn(&Scenario, DVec2) -> Edit,
    deleted: impl Fn(&Scenario) -> Edit,
) {
    let mut bench = Bench::empty();
    bench.set(|settings| {
        settings.grid = false;
        settings.names = false;
    });
    bench.look_at(0.0, 0.0, 100.0);
    bench.ask(Action::Tool(tool));
    let [old, new] = [DVec2::new(10.0, 10.0), DVec2::new(10.0, -50.0)];
    // Away from the hint of an empty document.
    let empty = color_at(&mut bench, 90.0, -70.0);
    bench.drag(corners);
    bench.ask(Action::Select(BTreeSet::new()));
    bench.ask(Action::Tool(ToolKind::Select));
    bench.settle();
    let drawn = color_at(&mut bench, old.x, old.y);
    assert_ne!(drawn, empty);
    let apply = |bench: &mut Bench, edit: Edit| {
        let action = Action::Apply("Edit".into(), edit);
        bench.harness.state_mut().ask(action);
    };
    let press = |bench: &mut Bench, key| {
        let modifiers = egui::Modifiers::COMMAND;
        bench.harness.key_press_modifiers(modifiers, key);
    };
    bench.harness.state_mut().hold_answers();
    let edit = moved(bench.scenario(), new - old);
    apply(&mut bench, edit);
    stays(&mut bench, old, empty);
    stays(&mut bench, new, drawn);
    let edit = deleted(bench.scenario());
    apply(&mut bench, edit);
    stays(&mut bench, new, empty);
    press(&mut bench, egui::Key::Z);
    stays(&mut bench, new, drawn);
    press(&mut bench, egui::Key::Z);
    stays(&mut bench, old, drawn);
    stays(&mut bench, new, empty);
    // Undoes the drawing itself.
    press(&mut bench, egui::Key::Z);
    stays(&mut bench, old, empty);
    press(&mut bench, egui::Key::Y);
    stays(&mut bench, old, drawn);
    press(&mut bench, egui::Key::Y);
    stays(&mut bench, old, empty);
    stays(&mut bench, new, drawn);
    bench.harness.state_mut().release_answers();
    bench.settle();
    assert_eq!(color_at(&mut bench, new.x, new.y), drawn);
    assert_eq!(color_at(&mut bench, old.x, old.y), empty);
}

#[test]
fn obstacles_are_where_they_belong_before_the_workers_have_drawn_them() {
    let first = |scenario: &Scenario| {
        let (id, obstacle) = scenario.obstacles().iter().next().unwrap();
        (*id, obstacle.clone())
    };
    changes_are_seen_at_once(
        ToolKind::Obstacle,
        &[(-20.0, -10.0), (30.0, 30.0)],
        |scenario, by| {
            let (id, mut obstacle) = first(scenario);
            let outline = obstacle.shape.outline();
            let outline: Vec<DVec2> = outline.into_iter().map(|point| point + by).collect();
            obstacle.shape = roadwright_scenario::Shape::Polygon {
                points: outline.into(),
            };
            Edit::Obstacle(id, Some(Box::new(obstacle)))
        },
        |scenario| Edit::Obstacle(first(scenario).0, None),
    );
}

#[test]
fn land_is_where_it_belongs_before_the_workers_have_drawn_it() {
    let first = |scenario: &Scenario| {
        let (id, land) = scenario.land().iter().next().unwrap();
        (*id, land.clone())
    };
    changes_are_seen_at_once(
        ToolKind::Land,
        &[
            (-20.0, -10.0),
            (30.0, -10.0),
            (30.0, 30.0),
            (-20.0, 30.0),
            (-20.0, -8.0),
        ],
        |scenario, by| {
            let (id, mut land) = first(scenario);
            let outline: Vec<DVec2> = land.outline.iter().map(|point| *point + by).collect();
            land.outline = outline.into();
            Edit::Land(id, Some(Box::new(land)))
        },
        |scenario| Edit::Land(first(scenario).0, None),
    );
}
