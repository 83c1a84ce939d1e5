//! Checks all panels for overlapping, cut-off and undersized text, at three window sizes and two font sizes.

use crate::common::Bench;
use egui::epaint::{ClippedShape, Shape};
use egui::{Rect, Vec2};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::experiment::ExperimentAction;
use roadwright_editor::model::{Action, Dialog};
use roadwright_editor::moves::{DrawnGraph, GraphEdit, MovesAction, ShownLibrary};
use roadwright_editor::panel::PanelId;
use roadwright_editor::workshop::{Ground, Source, WorkshopAction};
use roadwright_scenario::{NodeId, ObjectId, RoadId};
use std::collections::BTreeSet;
use std::path::Path;

/// Tolerance for letters at the edge of their area, points. It allows for rounding and descenders.
const SLACK: f32 = 2.0;
/// Tolerance for overlapping texts, points.
const OVERLAP: f32 = 3.0;

/// Minimum size of letters, points.
const SMALLEST: f32 = 11.0;

/// Maximum number of lines of a text. Texts with more lines are treated as code.
const MOST_LINES: usize = 12;

/// A text on the screen, with its position.
#[derive(Debug, Clone)]
struct Words {
    text: String,
    rect: Rect,
    clip: Rect,
    /// Size of the text's smallest letters, points.
    size: f32,
}

/// Minimum width and height of a filled area that counts as a dialog, points. A dialog hides everything below
/// it.
const LEAST_WINDOW: f32 = 150.0;

fn collect(shape: &Shape, clip: Rect, found: &mut Vec<Words>) {
    match shape {
        Shape::Rect(area) if area.fill.is_opaque() => {
            let area = area.rect.intersect(clip);
            if area.width().min(area.height()) > LEAST_WINDOW {
                found.retain(|words| !area.intersects(words.rect.intersect(words.clip)));
            }
        }
        Shape::Text(text) if text.angle == 0.0 && !text.galley.text().trim().is_empty() => {
            let sections = text.galley.job.sections.iter();
            let sizes = sections.map(|section| section.format.font_id.size);
            let size = sizes.fold(f32::INFINITY, f32::min);
            // Line by line, because the first line may begin after other words.
            for line in &text.galley.rows {
                let rect = line.row.visuals.mesh_bounds.translate(line.pos.to_vec2());
                if rect.is_positive() {
                    found.push(Words {
                        text: text.galley.text().to_owned(),
                        rect: rect.translate(text.pos.to_vec2()),
                        clip,
                        size,
                    });
                }
            }
        }
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, clip, found)),
        _ => {}
    }
}

/// Returns the texts of a frame. Texts on the map are left out, because their halos consist of
/// eight copies of the text.
fn words(shapes: &[ClippedShape], map: Rect) -> Vec<Words> {
    let mut found = Vec::new();
    for shape in shapes {
        collect(&shape.shape, shape.clip_rect, &mut found);
    }
    found.retain(|words| {
        let is_on_map = map.expand(1.0).contains_rect(words.clip);
        let is_seen = words.rect.intersects(words.clip);
        is_seen && !is_on_map
    });
    found
}

/// Returns the faults of the texts in a frame.
fn faults(words: &[Words], screen: Rect) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, one) in words.iter().enumerate() {
        let room = one.clip.intersect(screen);
        // Lists scroll vertically but not horizontally. Code does, because its lines do not wrap.
        let is_code = one.text.lines().count() > MOST_LINES;
        if one.size < SMALLEST {
            faults.push(format!("too small: {:?}, {} points", one.text, one.size));
        }
        let is_cut =
            one.rect.left() < room.left() - SLACK || one.rect.right() > room.right() + SLACK;
        if is_cut && !is_code {
            faults.push(format!(
                "cut off: {:?} at {:?} in {room:?}",
                one.text, one.rect
            ));
        }
        for other in &words[number + 1..] {
            let (a, b) = (
                one.rect.intersect(one.clip),
                other.rect.intersect(other.clip),
            );
            let both = a.intersect(b);
            if both.width() > OVERLAP && both.height() > OVERLAP && one.rect != other.rect {
                faults.push(format!(
                    "{:?} lies on {:?} at {both:?}",
                    one.text, other.text
                ));
            }
        }
    }
    faults
}

fn look(bench: &mut Bench, what: &str, found: &mut BTreeSet<String>) {
    bench.harness.run_steps(3);
    let map = bench.map();
    let screen = bench.harness.ctx.content_rect();
    // Also icons without text: the last tool is fully visible.
    let last = bench.harness.get_by_label("Picture tool").rect();
    assert!(last.bottom() < screen.bottom() - 20.0, "{what}: {last:?}");
    let words = words(&bench.harness.output().shapes, map);
    assert!(words.len() > 10, "{what}: no text is seen");
    found.extend(
        faults(&words, screen)
            .into_iter()
            .map(|fault| format!("{what}: {fault}")),
    );
}

/// The panels.
const PANELS: [PanelId; 11] = [
    PanelId::Inspector,
    PanelId::Vehicle,
    PanelId::Controller,
    PanelId::Scenario,
    PanelId::Script,
    PanelId::Problems,
    PanelId::History,
    PanelId::Modules,
    PanelId::Results,
    PanelId::Experiment,
    PanelId::Workshop,
];
/// Sizes of the window, pixels.
const SIZES: [(f32, f32); 3] = [(1024.0, 700.0), (1280.0, 800.0), (2560.0, 1440.0)];
/// Window height at which long panels are visible to their ends, pixels.
const TALL: f32 = 4000.0;

/// Starts a run of a shipped scenario with a watched vehicle, so that panels have contents. If a
/// stack is given, the vehicle uses it.
fn busy(name: &str, stack: Option<&str>) -> Bench {
    let file = format!("../scenarios/{name}.scenario.json");
    let mut bench = Bench::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    bench.close_dialog();
    let agents = bench.scenario().agents().clone();
    let is_meant = |id: u64| {
        let own = agents.iter().find(|(own, _)| u64::from(own.0) == id);
        stack.is_none_or(|stack| own.is_some_and(|(_, agent)| agent.stack == stack))
    };
    for _ in 0..20 {
        bench.step_run(150);
        bench.settle();
        let live = bench.editor().model().live.clone().unwrap();
        let mut vehicles = live.snapshot.vehicles.iter();
        if let Some(vehicle) = vehicles.find(|vehicle| is_meant(vehicle.agent)) {
            bench.ask(Action::Watch(Some(vehicle.agent)));
            return bench;
        }
    }
    panic!("no vehicle drives in {name}");
}

/// Runs a check at all sizes, in normal and in tall windows.
fn at_all_sizes(
    bench: &mut Bench,
    found: &mut BTreeSet<String>,
    mut show: impl FnMut(&mut Bench, &str, &mut BTreeSet<String>),
) {
    for (width, height) in SIZES {
        for zoom in [1.0, 1.6] {
            for height in [height, TALL] {
                // Larger letters are equivalent to a window with fewer points.
                bench.harness.set_size(Vec2::new(width, height) / zoom);
                bench.harness.run_steps(4);
                let seen = bench.harness.ctx.content_rect().size();
                assert!(
                    (seen * zoom - Vec2::new(width, height)).length() < 3.0,
                    "{seen}"
                );
                show(bench, &format!("{width} x {height} at {zoom}"), found);
            }
        }
    }
}

#[test]
fn no_text_of_panels_lies_on_text_or_is_cut_off() {
    let mut bench = busy("old-town", Some("fuzzy_driver"));
    let mut found = BTreeSet::new();
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Road(RoadId(3))])));
    at_all_sizes(&mut bench, &mut found, |bench, at, found| {
        for panel in PANELS {
            bench.ask(Action::ShowPanel(panel));
            look(bench, &format!("{panel}, {at}"), found);
        }
    });
    assert!(found.is_empty(), "{found:#?}");
}

/// Checks that the status line shows as many facts about the ground as fit, and omits the rest.
#[test]
fn no_text_of_the_status_line_lies_on_text_or_is_cut_off() {
    let mut bench = busy("hill-country", None);
    let mut found = BTreeSet::new();
    let mut parts = BTreeSet::new();
    at_all_sizes(&mut bench, &mut found, |bench, at, found| {
        bench.look_at(-120.0, 130.0, 60.0);
        bench.hover(-123.4, 134.5);
        look(bench, &format!("Status line, {at}"), found);
        let is_there = |what: &str| bench.harness.query_by_label_contains(what).is_some();
        assert!(
            is_there(", grip "),
            "{at}: {:?}",
            bench.editor().model().pointer
        );
        parts.insert((is_there(" m high"), is_there(" slope")));
    });
    assert!(found.is_empty(), "{found:#?}");
    // All facts are shown in a large window, fewer in a small one.
    assert!(
        parts.contains(&(true, true)) && parts.len() > 1,
        "{parts:?}"
    );
}

#[test]
fn no_text_of_experiments_lies_on_text_or_is_cut_off() {
    let mut bench = busy("old-town", Some("fuzzy_driver"));
    crate::common::small_training(&mut bench);
    crate::common::open_results(&mut bench);
    let mut found = BTreeSet::new();
    at_all_sizes(&mut bench, &mut found, |bench, at, found| {
        for view in ["Set up", "Training", "Individuals", "Changes", "Compare"] {
            bench.press(view);
            look(bench, &format!("{view}, {at}"), found);
        }
    });
    // With an error shown, and while the world of an individual is shown.
    let mut experiment = bench
        .editor()
        .model()
        .experiment
        .draft
        .clone()
        .unwrap()
        .experiment;
    experiment.seeds.test = experiment.seeds.train;
    let set = ExperimentAction::Set(Box::new(experiment));
    bench.ask(Action::Experiment(set));
    let best = bench.editor().model().experiment.training.clone().unwrap();
    let show = ExperimentAction::Show {
        genes: best.best().unwrap().genes.clone(),
        course: 3,
        name: "individual 3.2".into(),
    };
    bench.ask(Action::Experiment(show));
    at_all_sizes(&mut bench, &mut found, |bench, at, found| {
        bench.press("Set up");
        look(bench, &format!("with a fault, {at}"), found);
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_text_of_the_workshop_lies_on_text_or_is_cut_off() {
    let mut bench = busy("crossroads", None);
    let mut found = BTreeSet::new();
    let act = |bench: &mut Bench, action| bench.ask(Action::Workshop(action));
    act(
        &mut bench,
        WorkshopAction::Open(Source::Shipped("willys-mb")),
    );
    let rival = Some(Source::Shipped("semi-trailer-tractor"));
    act(&mut bench, WorkshopAction::Compare(rival));
    act(&mut bench, WorkshopAction::Test);
    // All numbers are marked as changed, and one of them is refused.
    let model = bench.editor().model();
    let mut file = (*model.workshop.bench.as_ref().unwrap().file).clone();
    file.body.centre_height = Some(1.1).into();
    file.suspension.as_mut().unwrap().anti_sway = 1e5.into();
    for mass in [1e5, -1.0] {
        file.body.mass = mass.into();
        let label = "Body mass of Willys MB".to_owned();
        act(
            &mut bench,
            WorkshopAction::Change(label, Box::new(file.clone())),
        );
    }
    at_all_sizes(&mut bench, &mut found, |bench, at, found| {
        bench.ask(Action::ShowPanel(PanelId::Workshop));
        look(bench, &format!("Workshop, {at}"), found);
    });
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    at_all_sizes(&mut bench, &mut found, |bench, at, found| {
        look(bench, &format!("Test track, {at}"), found);
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_text_of_clips_and_libraries_lies_on_text_or_is_cut_off() {
    let mut found = BTreeSet::new();
    let mut bench = crate::moves::practice();
    crate::moves::record(&mut bench);
    bench.ask(Action::Moves(MovesAction::Build));
    let drawn = bench.editor().model().moves.built.clone().unwrap();
    let drawn = DrawnGraph::of_built(&drawn).unwrap();
    bench.ask(Action::Moves(MovesAction::Draw(GraphEdit::Replace(drawn))));
    for shown in [
        ShownLibrary::Built,
        ShownLibrary::Drawn,
        ShownLibrary::Shipped("large"),
    ] {
        bench.ask(Action::Moves(MovesAction::Show(shown)));
        at_all_sizes(&mut bench, &mut found, |bench, at, found| {
            bench.ask(Action::ShowPanel(PanelId::Moves));
            look(bench, &format!("{shown:?}, {at}"), found);
        });
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_text_of_sheets_lies_on_text_or_is_cut_off() {
    let mut found = BTreeSet::new();
    for name in ["crossroads", "old-town"] {
        let mut bench = busy(name, None);
        let scenario = bench.scenario().clone();
        let agents = scenario.agents().keys().map(|id| ObjectId::Agent(*id));
        let flows = scenario.flows().keys().map(|id| ObjectId::Flow(*id));
        let obstacles = scenario
            .obstacles()
            .keys()
            .map(|id| ObjectId::Obstacle(*id));
        let sheets: [BTreeSet<ObjectId>; 7] = [
            BTreeSet::from([ObjectId::Node(NodeId(5))]),
            BTreeSet::from([ObjectId::Road(RoadId(1))]),
            agents.clone().take(1).collect(),
            agents.take(5).collect(),
            flows.take(1).collect(),
            obstacles.take(1).collect(),
            BTreeSet::new(),
        ];
        bench.ask(Action::ShowPanel(PanelId::Inspector));
        at_all_sizes(&mut bench, &mut found, |bench, at, found| {
            for sheet in &sheets {
                bench.ask(Action::Select(sheet.clone()));
                look(
                    bench,
                    &format!("{:?} of {name}, {at}", sheet.first()),
                    found,
                );
            }
        });
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_text_of_dialogs_lies_on_text_or_is_cut_off() {
    let mut bench = busy("crossroads", None);
    let mut found = BTreeSet::new();
    at_all_sizes(&mut bench, &mut found, |bench, at, found| {
        for (name, dialog) in [
            ("Welcome", Dialog::Welcome),
            (
                "Keys",
                Dialog::Keys {
                    waiting: None,
                    filter: String::new(),
                },
            ),
            (
                "Palette",
                Dialog::Palette {
                    query: String::new(),
                    line: 0,
                },
            ),
        ] {
            bench.ask(Action::Show(dialog));
            look(bench, &format!("{name}, {at}"), found);
            bench.close_dialog();
        }
    });
    assert!(found.is_empty(), "{found:#?}");
}

/// Returns the faults of a frame with two texts. The second has the given room and font size.
fn faults_of(second_at: egui::Pos2, room: f32, size: f32) -> Vec<String> {
    let mut harness = egui_kittest::Harness::new_ui(move |ui| {
        let font = egui::FontId::proportional(size);
        let ink = ui.visuals().text_color();
        let put = |painter: &egui::Painter, at, text: &str| {
            let font = font.clone();
            painter.text(at, egui::Align2::LEFT_TOP, text, font, ink);
        };
        put(ui.painter(), egui::pos2(20.0, 20.0), "Bridge Street");
        let clip = Rect::from_min_size(second_at, Vec2::new(room, 40.0));
        put(
            &ui.painter().with_clip_rect(clip),
            second_at,
            "Station Road",
        );
    });
    harness.run_steps(2);
    let words = words(&harness.output().shapes, Rect::NOTHING);
    assert_eq!(words.len(), 2, "{words:?}");
    faults(&words, harness.ctx.content_rect())
}

#[test]
fn the_scan_finds_text_over_text_that_is_cut_and_that_is_too_small() {
    let beside = egui::pos2(20.0, 60.0);
    assert_eq!(faults_of(beside, 300.0, 13.0), Vec::<String>::new());
    let over = faults_of(egui::pos2(60.0, 22.0), 300.0, 13.0);
    assert!(over.len() == 1 && over[0].contains("lies on"), "{over:?}");
    let cut = faults_of(beside, 40.0, 13.0);
    assert!(cut.len() == 1 && cut[0].contains("cut off"), "{cut:?}");
    let small = faults_of(beside, 300.0, 10.0);
    assert!(
        small.len() == 2 && small[0].contains("too small"),
        "{small:?}"
    );
    // A text beyond the edge of the window is also a fault.
    let outside = faults_of(egui::pos2(760.0, 60.0), 300.0, 13.0);
    assert!(
        outside.len() == 1 && outside[0].contains("cut off"),
        "{outside:?}"
    );
}

/// The last command of each menu. Menus must fit into the smallest window without scrolling.
const LAST_OF_MENUS: [(&str, Command); 5] = [
    ("File", Command::Quit),
    ("Edit", Command::SimplifyRoad),
    ("View", Command::ResetPanels),
    ("Simulation", Command::Panel(PanelId::Workshop)),
    ("Help", Command::Welcome),
];

/// Returns the lower edge of the last command of an open menu, points.
fn lowest_item(bench: &Bench, command: Command) -> f32 {
    let shown = bench.harness.query_all_by_label_contains(command.title());
    shown.map(|node| node.rect().bottom()).fold(0.0, f32::max)
}

/// Turns the mouse wheel over the last command of an open menu, far enough to reach the end of any menu.
fn scroll_menu(bench: &mut Bench, command: Command) {
    let items = bench.harness.query_all_by_label_contains(command.title());
    let x = items.fold(0.0, |_, item| item.rect().center().x);
    bench.harness.hover_at(egui::pos2(x, 100.0));
    bench.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: Vec2::new(0.0, -2000.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: egui::Modifiers::NONE,
    });
    bench.harness.run_steps(30);
}

/// Opens each menu, scrolls it to its end, and passes the positions of its last command before and after.
fn scroll_menus(bench: &mut Bench, mut check: impl FnMut(&str, f32, f32)) {
    for (menu, command) in LAST_OF_MENUS {
        bench.press(menu);
        bench.harness.run_steps(4);
        let before = lowest_item(bench, command);
        scroll_menu(bench, command);
        check(menu, before, lowest_item(bench, command));
        bench.press(menu);
        bench.harness.run_steps(4);
    }
}

#[test]
fn menus_need_no_scrolling_in_the_lowest_window_and_in_high_ones() {
    let mut bench = busy("crossroads", None);
    for (width, height) in SIZES {
        bench.harness.set_size(Vec2::new(width, height));
        bench.harness.run_steps(4);
        scroll_menus(&mut bench, |menu, before, after| {
            assert!(before > 30.0 && before < height, "{menu}: {before}");
            assert_eq!(before, after, "{menu} at {width} x {height} scrolls");
        });
    }
}

#[test]
fn menus_with_large_letters_scroll_to_their_last_command() {
    let mut bench = busy("crossroads", None);
    bench.set(|settings| settings.zoom = 1.6);
    // A size that is set in the frame in which the letters grow is lost.
    bench.harness.run_steps(2);
    let (width, height) = SIZES[0];
    bench.harness.set_size(Vec2::new(width, height) / 1.6);
    bench.harness.run_steps(4);
    let seen = bench.harness.ctx.content_rect().height();
    assert!((seen - height / 1.6).abs() < 2.0, "{seen}");
    let mut scrolled = 0;
    scroll_menus(&mut bench, |menu, before, after| {
        scrolled += usize::from(before > seen);
        assert!(after > 30.0 && after < seen, "{menu}: {after}");
    });
    assert!(scrolled > 0, "all menus fit: the test asks for nothing");
}
