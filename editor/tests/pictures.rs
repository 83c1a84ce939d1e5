//! Pictures of the main screens, drawn on the CPU. They are reviewed by eye and then kept as references.

use crate::common::Bench;
use egui::Key;
use egui_kittest::SnapshotOptions;
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::model::{Action, Dialog, Next, Purpose};
use roadwright_editor::moves::{MovesAction, ShownLibrary};
use roadwright_editor::panel::PanelId;
use roadwright_editor::settings::Heat;
use roadwright_editor::tools::{BayKind, MapPart, ToolKind};
use roadwright_editor::workshop::{Ground, Source, WorkshopAction};
use roadwright_geometry::DVec2;
use roadwright_scenario::junction::Turn;
use roadwright_scenario::{
    Control, Edit, LandId, LandUse, ModuleSetting, NodeId, ObjectId, Obstacle, ObstacleId, RoadId,
    Scenario, Shape, Slot, file,
};
use std::collections::BTreeSet;
use std::path::Path;

/// Number of pixels that may differ. On other processors, letters are placed slightly differently.
const DIFFERENT_PIXELS: usize = 400;

fn hold(bench: &mut Bench, name: &str) {
    bench.settle();
    let options = SnapshotOptions::new()
        .threshold(2.0)
        .max_failed_pixels(DIFFERENT_PIXELS);
    bench.harness.snapshot_options(name, &options);
}

#[test]
fn welcome() {
    let mut bench = Bench::start();
    // The pictures of the scenarios are drawn in the background.
    for _ in 0..6_000 {
        bench.harness.step();
        if bench.editor().has_welcome_pictures() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    hold(&mut bench, "welcome");
}

#[test]
fn town() {
    let mut bench = Bench::start();
    bench.close_dialog();
    hold(&mut bench, "town");
    bench.set(|s| s.dark = true);
    bench.look_at(-140.0, 120.0, 70.0);
    hold(&mut bench, "town_dark");
}

#[test]
fn hidden() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.set(|s| {
        s.tools
            .hidden
            .extend([MapPart::Obstacles, MapPart::Forests])
    });
    bench.press_tab("Scenario");
    hold(&mut bench, "hidden");
    bench.set(|s| {
        s.dark = true;
        s.tools.hidden.extend([MapPart::Roads]);
    });
    bench.press("View");
    bench.press("Hide");
    hold(&mut bench, "hidden_dark");
}

#[test]
fn group() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 120.0);
    bench.drag(&[(-100.0, 0.0), (100.0, 0.0)]);
    bench.ask(Action::Tool(ToolKind::Obstacle));
    bench.drag(&[(-60.0, 20.0), (-30.0, 45.0)]);
    bench.drag(&[(10.0, 20.0), (50.0, 45.0)]);
    bench.key(Key::V);
    bench.key_with(egui::Modifiers::COMMAND, Key::A);
    bench.key_with(egui::Modifiers::COMMAND, Key::G);
    bench.hover(-80.0, -60.0);
    hold(&mut bench, "group");
    bench.set(|s| s.dark = true);
    bench.press_tab("Scenario");
    bench.press("Groups (1)");
    bench.scroll_to("group 1  Group 1 (3 objects)");
    hold(&mut bench, "group_dark");
}

#[test]
fn many_selected() {
    let mut scenario = Scenario::new("posts");
    for i in 0..361u32 {
        let (x, y) = (f64::from(i % 19), f64::from(i / 19));
        let post = Obstacle {
            name: String::new(),
            shape: Shape::Circle {
                x: (6.0 * (x - 9.0)).into(),
                y: (6.0 * (y - 9.0)).into(),
                radius: 1.0.into(),
            },
            base: 0.0.into(),
            height: 2.0.into(),
            mass: None.into(),
        };
        let edit = Edit::Obstacle(ObstacleId(i + 1), Some(Box::new(post)));
        scenario.apply(edit).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("posts.scenario.json");
    file::save(&scenario, &path).unwrap();
    let mut bench = Bench::open(&path);
    bench.close_dialog();
    bench.look_at(0.0, 0.0, 90.0);
    bench.key_with(egui::Modifiers::COMMAND, Key::A);
    bench.hover(-80.0, -70.0);
    hold(&mut bench, "many_selected");
}

#[test]
fn drawing() {
    let mut bench = Bench::empty();
    hold(&mut bench, "empty");
    bench.look_at(0.0, 0.0, 100.0);
    bench.drag(&[(-90.0, 0.0), (90.0, 0.0)]);
    bench.set(|s| s.tools.preset = 6);
    bench.click(-50.0, -60.0);
    bench.click(-50.0, 30.0);
    bench.hover(20.0, 60.0);
    hold(&mut bench, "road_by_clicks");
    bench.key(Key::Enter);
    bench.key(Key::V);
    bench.click(40.0, 0.5);
    hold(&mut bench, "selected_road");
}

#[test]
fn layers() {
    let mut bench = crate::overpass::overpass();
    // A road that begins on the bridge, climbs one layer, and is about to end above the street.
    bench.press_at(0.0, -40.0);
    for (x, y) in [(12.0, -41.0), (24.0, -39.0), (36.0, -32.0)] {
        bench.move_to(x, y);
    }
    bench.key(Key::PageUp);
    for (x, y) in [(45.0, -22.0), (51.0, -11.0), (53.0, -1.0)] {
        bench.move_to(x, y);
    }
    hold(&mut bench, "layers");
}

#[test]
fn land() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 120.0);
    bench.ask(Action::Tool(ToolKind::Terrain));
    bench.set(|s| s.tools.terrain.strength = 4.0);
    bench.drag(&[(-60.0, -20.0), (30.0, 40.0)]);
    bench.ask(Action::Tool(ToolKind::Forest));
    bench.drag(&[(20.0, -60.0), (80.0, 0.0)]);
    bench.ask(Action::Tool(ToolKind::Obstacle));
    bench.drag(&[(-90.0, -80.0), (-60.0, -60.0)]);
    hold(&mut bench, "land");
}

#[test]
fn way_points() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 120.0);
    bench.drag(&[(-100.0, -40.0), (100.0, -40.0)]);
    bench.drag(&[(0.0, -39.0), (0.0, 60.0)]);
    bench.key(Key::A);
    bench.drag(&[(-80.0, -42.0), (80.0, -42.0)]);
    bench.key(Key::V);
    bench.drag(&[(0.0, -42.0), (2.0, 40.0)]);
    bench.hover(41.0, -1.0);
    hold(&mut bench, "way_points");
}

#[test]
fn drawn_land() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 110.0);
    bench.ask(Action::Tool(ToolKind::Land));
    bench.drag(&[
        (-110.0, -70.0),
        (90.0, -70.0),
        (90.0, 60.0),
        (-110.0, 60.0),
        (-110.0, -60.0),
    ]);
    bench.set(|s| s.tools.land = LandUse::Water);
    for (x, y) in [
        (-60.0, -40.0),
        (-5.0, -50.0),
        (20.0, -10.0),
        (-20.0, 25.0),
        (-70.0, 10.0),
    ] {
        bench.click(x, y);
    }
    bench.key(Key::Enter);
    let mut lake = bench.scenario().land()[&LandId(2)].clone();
    lake.name = "Mirror Lake".into();
    let island = [(-40.0, -12.0), (-30.0, -14.0), (-32.0, -5.0)].map(DVec2::from);
    lake.holes.push(island.to_vec());
    let edit = Edit::Land(LandId(2), Some(Box::new(lake)));
    bench.ask(Action::Apply("Name it".into(), edit));
    bench.ask(Action::Tool(ToolKind::Road));
    bench.drag(&[(-90.0, 42.0), (100.0, 30.0)]);
    bench.ask(Action::Tool(ToolKind::Obstacle));
    bench.drag(&[(45.0, -40.0), (75.0, -10.0)]);
    bench.key(Key::V);
    bench.click(-10.0, -30.0);
    hold(&mut bench, "land_drawn");
    bench.set(|s| s.dark = true);
    hold(&mut bench, "land_drawn_dark");
}

/// Makes the picture of an imported town for the documentation:
/// `ROADWRIGHT_EXTRACT=trinity.osm.pbf cargo test -p roadwright-editor --test all -- --ignored imported`.
#[test]
#[ignore = "needs an OpenStreetMap extract and writes to docs/pictures"]
fn imported_town() {
    let extract = std::env::var("ROADWRIGHT_EXTRACT").unwrap();
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    let mut bench = Bench::start();
    bench.ask(Action::Path(extract.into(), Purpose::Import, None));
    bench.look_at(130.0, 80.0, 230.0);
    let named = |land: &roadwright_scenario::Land| land.name == "College Park";
    let green = bench.scenario().land().iter().find(|(_, land)| named(land));
    if let Some((&id, _)) = green {
        bench.ask(Action::Select([ObjectId::Land(id)].into()));
    }
    bench.settle();
    // Waits until the message about the import has faded.
    bench.harness.run_steps(900);
    bench.picture(&pictures.join("editor-dublin.png"));
}

#[test]
fn playing() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.look_at(0.0, 230.0, 60.0);
    // Uses explicit steps, so that the picture is the same every time.
    bench.step_run(1500);
    bench.settle();
    let driving = bench.editor().model().live.clone().unwrap();
    let fuzzy = driving.snapshot.vehicles.iter().find(|vehicle| {
        let scenario = bench.editor().model().document.scenario();
        let agents = scenario.agents().iter();
        let mut own = agents.filter(|(id, _)| u64::from(id.0) == vehicle.agent);
        vehicle.speed > 3.0 && own.any(|(_, agent)| agent.stack.contains("fuzzy"))
    });
    let watched = fuzzy.unwrap();
    let at = watched.body.position;
    let agent = watched.agent;
    bench.ask(Action::Watch(Some(agent)));
    bench.look_at(at.x, at.y, 60.0);
    bench.step_run(200);
    bench.press_tab("Vehicle");
    hold(&mut bench, "vehicle");
    bench.press_tab("Controller");
    hold(&mut bench, "controller");
    let by_law = driving.snapshot.vehicles.iter().find(|vehicle| {
        let scenario = bench.editor().model().document.scenario();
        let agents = scenario.agents().iter();
        let mut own = agents.filter(|(id, _)| u64::from(id.0) == vehicle.agent);
        vehicle.speed > 3.0 && own.any(|(_, agent)| agent.stack == "idm")
    });
    bench.ask(Action::Watch(Some(by_law.unwrap().agent)));
    hold(&mut bench, "controller_law");
    bench.ask(Action::Watch(Some(agent)));
    bench.set(|s| s.heat = Heat::Speed);
    bench.ask(Action::Do(roadwright_editor::command::Command::FrameAll));
    hold(&mut bench, "heat");
    // At a large scale, in the dark theme.
    bench.set(|s| (s.heat, s.dark) = (Heat::Traffic, true));
    bench.look_at(at.x, at.y, 90.0);
    hold(&mut bench, "heat-dark");
    bench.set(|s| (s.heat, s.dark) = (Heat::Congestion, false));
    hold(&mut bench, "heat-near");
}

#[test]
fn workshop() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.ask(Action::Do(Command::Panel(PanelId::Workshop)));
    hold(&mut bench, "workshop_empty");
    bench.harness.set_size(egui::vec2(1600.0, 1000.0));
    bench.ask(Action::Workshop(WorkshopAction::Open(Source::Shipped(
        "willys-mb",
    ))));
    hold(&mut bench, "workshop");
    // The vehicle is changed, refused, compared and measured, on a tall screen.
    let model = bench.editor().model();
    let mut file = (*model.workshop.bench.as_ref().unwrap().file).clone();
    file.body.centre_height = Some(1.1).into();
    for mass in [1400.0, -1.0] {
        file.body.mass = mass.into();
        let label = "Body mass of Willys MB".to_owned();
        let change = WorkshopAction::Change(label, Box::new(file.clone()));
        bench.ask(Action::Workshop(change));
    }
    let rival = Some(Source::Unchanged);
    bench.ask(Action::Workshop(WorkshopAction::Compare(rival)));
    bench.ask(Action::Workshop(WorkshopAction::Test));
    bench.harness.set_size(egui::vec2(1500.0, 1700.0));
    hold(&mut bench, "workshop_compare");
    bench.harness.set_size(egui::vec2(1024.0, 700.0) / 1.6);
    hold(&mut bench, "workshop_small");
    bench.harness.set_size(egui::vec2(1024.0, 700.0));
    bench.set(|s| s.dark = true);
    hold(&mut bench, "workshop_dark");
}

#[test]
fn workshop_with_a_trailer() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.ask(Action::Do(Command::Panel(PanelId::Workshop)));
    bench.harness.set_size(egui::vec2(1600.0, 1000.0));
    bench.ask(Action::Workshop(WorkshopAction::Open(Source::Shipped(
        "escort-caravan",
    ))));
    hold(&mut bench, "workshop_trailer");
}

/// Number of steps after which the front wheels are on a ridge.
const TRACK_STEPS: usize = 590;

#[test]
fn test_track() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.harness.set_size(egui::vec2(1500.0, 1100.0));
    bench.ask(Action::Workshop(WorkshopAction::Open(Source::Shipped(
        "willys-mb",
    ))));
    bench.ask(Action::Workshop(WorkshopAction::Drive(Ground::Bumpy)));
    // Driven by its own driver in explicit steps, so that the picture is the same every time.
    bench.ask(Action::Drive(None));
    bench.ask(Action::Do(Command::PlayPause));
    bench.ask(Action::Do(Command::Reset));
    bench.step_run(TRACK_STEPS);
    hold(&mut bench, "test_track");
}

#[test]
fn narrow() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.step_run(1_500);
    bench.settle();
    let node = roadwright_scenario::ObjectId::Node(roadwright_scenario::NodeId(5));
    bench.ask(Action::Select([node].into()));
    // 1024 x 700 with letters of 160 %.
    bench.harness.set_size(egui::vec2(640.0, 437.0));
    bench.ask(Action::Do(roadwright_editor::command::Command::FrameAll));
    hold(&mut bench, "narrow");
    // A high window shows a long sheet to its end.
    bench.harness.set_size(egui::vec2(1024.0, 1500.0));
    bench.press("road 1 left in stage 1: green");
    hold(&mut bench, "stages");
    bench.press("Stage times (2)");
    bench.press("Add stage");
    hold(&mut bench, "stage_times");
}

#[test]
fn sharing_and_results() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.step_run(2_600);
    bench.ask(Action::Do(roadwright_editor::command::Command::Reset));
    bench.step_run(4_500);
    bench.ask(Action::Do(roadwright_editor::command::Command::Panel(
        PanelId::Results,
    )));
    hold(&mut bench, "results");
    bench.press("Trips");
    bench.press_tab("Script");
    hold(&mut bench, "script");
    // A right click on a road.
    let at = bench.at(30.0, 0.0);
    bench.harness.hover_at(at);
    bench.harness.step();
    for pressed in [true, false] {
        bench.harness.event(egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Secondary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        });
        bench.harness.step();
    }
    hold(&mut bench, "object_menu");
}

#[test]
fn signals() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.look_at(0.0, 0.0, 40.0);
    bench.step_run(2_600);
    bench.settle();
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Node(NodeId(5))])));
    hold(&mut bench, "signals");
    // Later there are queues and tickets.
    bench.step_run(900);
    bench.scroll_to("Waiting");
    hold(&mut bench, "junction_now");
    bench.set(|s| s.dark = true);
    hold(&mut bench, "junction_now_dark");
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Road(RoadId(1))])));
    bench.scroll_to("Car lengths of lane -1");
    hold(&mut bench, "road_now_dark");
    bench.set(|s| s.dark = false);
    hold(&mut bench, "road_now");
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Node(NodeId(5))])));
    bench.press("Turns (12)");
    let left = "road 1 to road 3";
    bench.press(&format!("Explain {left}"));
    hold(&mut bench, "turns");
    bench.press("Turns (12)");
    bench.scroll_to("node 5");
    // The user's choice shows immediately.
    let role = egui::accesskit::Role::ComboBox;
    bench
        .harness
        .get_by_role_and_label(role, "Control: signals")
        .click();
    bench.harness.run_steps(4);
    bench.press("stop");
    let stops = bench
        .scenario()
        .network()
        .node(NodeId(5))
        .unwrap()
        .rules
        .control;
    assert_eq!(stops, Some(Control::Stop));
    hold(&mut bench, "stop_signs");
}

#[test]
fn town_driving() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.step_run(1_200);
    hold(&mut bench, "town_driving");
}

#[test]
fn random_trips() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.key(Key::A);
    bench.press("Add");
    hold(&mut bench, "random_trips");
}

/// Opens the shipped scenario hill-country with its loose posts.
fn hill_country() -> Bench {
    let mut bench = Bench::start();
    let all = roadwright_editor::shipped::ALL.iter();
    let hills = all.into_iter().position(|s| s.name == "hill-country");
    bench.ask(Action::Go(Next::Shipped(hills.unwrap())));
    bench
}

/// Makes all agents head straight for their goals, so that they push over anything in between.
fn go_straight(bench: &mut Bench) {
    for (key, mut stack) in bench.scenario().stacks().clone() {
        assert!(stack.set(Slot::GroundPlanner, vec![ModuleSetting::new("straight")]));
        let edit = Edit::Stack(key, Some(Box::new(stack)));
        bench.ask(Action::Apply("Plan no paths".into(), edit));
    }
}

/// Creates a picture of a bus that has driven through a field of posts and knocked many of them down.
#[test]
fn pushed_posts() {
    let mut bench = hill_country();
    go_straight(&mut bench);
    bench.ask(Action::Speed(0.0));
    bench.look_at(-10.0, -50.0, 30.0);
    bench.step_run(900);
    hold(&mut bench, "pushed_posts");
    // The same scene as the solver sees it.
    bench.set(|s| s.rigid_bodies = true);
    hold_both(&mut bench, "rigid_bodies");
}

#[test]
fn first_drive() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 100.0);
    bench.key(Key::R);
    bench.drag(&[(-100.0, -4.0), (-20.0, 0.0), (100.0, 6.0)]);
    bench.drag(&[(-4.0, 90.0), (4.0, -90.0)]);
    bench.key(Key::A);
    bench.drag(&[(-85.0, -6.0), (0.0, 75.0)]);
    bench.step_run(1_050);
    hold(&mut bench, "first_drive");
    bench.key(Key::V);
    bench.click(55.0, 5.5);
    hold(&mut bench, "running_road");
}

/// Copies the pictures that the documentation uses from the reference snapshots: `cargo test
/// -p roadwright-editor --test all -- --ignored docs`.
#[test]
#[ignore = "writes to docs/pictures"]
fn docs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (picture, snapshot) in [
        ("town", "town_driving"),
        ("first-drive", "first_drive"),
        ("road", "running_road"),
        ("heat", "heat"),
        ("controller", "controller"),
        ("script", "script_editor"),
        ("places", "points_of_interest"),
        ("stepping", "stepping"),
        ("junction", "junction_now"),
        ("experiment", "experiment_shown"),
        ("workshop", "workshop_compare"),
        ("test-track", "test_track"),
        ("hidden", "hidden"),
        ("compare", "compare"),
        ("slip-lanes", "slip_lanes"),
        ("merged-junctions", "merged_junctions"),
        ("green-wave", "green_wave"),
        ("way", "explained_way"),
        ("timeline", "timeline"),
        ("moves", "moves_used"),
    ] {
        let from = root.join(format!("tests/snapshots/{snapshot}.png"));
        let to = root.join(format!("../docs/pictures/editor-{picture}.png"));
        std::fs::copy(from, to).unwrap();
    }
}

#[test]
fn dialogs() {
    let mut bench = Bench::start();
    bench.ask(Action::Show(Dialog::Palette {
        query: "road".into(),
        line: 0,
    }));
    hold(&mut bench, "palette");
    bench.ask(Action::Show(Dialog::Keys {
        waiting: None,
        filter: String::new(),
    }));
    hold(&mut bench, "keys");
}

#[test]
fn points_of_interest() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 60.0);
    bench.ask(Action::Tool(ToolKind::Road));
    bench.drag(&[(-60.0, 0.0), (60.0, 0.0)]);
    bench.ask(Action::Tool(ToolKind::Place));
    bench.click(-15.0, 12.0);
    for x in [6.0, 9.0, 12.0] {
        bench.drag(&[(x, -9.0), (x, -14.0)]);
    }
    bench.set(|s| s.tools.bays.kind = BayKind::Angled);
    bench.drag(&[(45.0, 3.5), (20.0, 3.5)]);
    hold(&mut bench, "points_of_interest");
}

#[test]
fn modules_and_scripts() {
    let mut bench = Bench::start();
    bench.close_dialog();
    let shipped = roadwright_editor::shipped::ALL.iter();
    let chase = shipped.into_iter().position(|s| s.name == "chase").unwrap();
    bench.ask(Action::Go(Next::Shipped(chase)));
    bench.press_tab("Modules");
    bench.press_tab("Script");
    bench.look_at(150.0, 150.0, 220.0);
    hold(&mut bench, "script_editor");
    bench.press("Step through");
    bench.press("Run once");
    bench.press("Next");
    bench.press("Next");
    hold(&mut bench, "stepping");
    bench.press_tab("Scenario");
    hold(&mut bench, "scenario_panel");
    bench.press("pursuer");
    bench.press("Add fitness to pursuer: add a fitness");
    bench.press("Safety");
    hold(&mut bench, "stack");
}

/// Compares the pictures of the light and the dark theme with their references.
fn hold_both(bench: &mut Bench, name: &str) {
    hold(bench, name);
    bench.set(|s| s.dark = true);
    hold(bench, &format!("{name}_dark"));
    bench.set(|s| s.dark = false);
}

#[test]
fn past() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.look_at(0.0, 0.0, 80.0);
    bench.step_run(3_000);
    bench.ask(Action::ShowPanel(PanelId::Results));
    bench.ask(Action::LookBack(21.5));
    hold_both(&mut bench, "past");
}

#[test]
fn timeline() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.ask(Action::Do(Command::Panel(PanelId::Timeline)));
    bench.look_at(0.0, 0.0, 80.0);
    bench.step_run(7_000);
    bench.ask(Action::Select([ObjectId::Node(NodeId(5))].into()));
    hold(&mut bench, "timeline");
    bench.set(|s| s.dark = true);
    bench.ask(Action::LookBack(31.5));
    hold(&mut bench, "timeline_dark");
}

/// Creates a picture of the crossroads with slower roads, compared with the shipped crossroads.
#[test]
fn compare() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.look_at(0.0, 0.0, 80.0);
    bench.ask(Action::Speed(0.0));
    let mut settings = bench.scenario().settings();
    settings.dt = 0.05.into();
    let settings = roadwright_scenario::Edit::Settings(settings);
    bench.ask(Action::Apply("Longer steps".into(), settings));
    bench.step_run(1_600);
    bench.ask(Action::Do(Command::KeepRun));
    bench.ask(Action::Do(Command::Reset));
    let roads = bench.scenario().network().roads();
    let edits = roads.map(|(id, road)| {
        let mut road = road.clone();
        road.speed_limit *= 0.6;
        roadwright_scenario::Edit::Road(id, Some(Box::new(road)))
    });
    let edit = roadwright_scenario::Edit::Batch(edits.collect());
    bench.ask(Action::Apply("Slow down".into(), edit));
    bench.step_run(1_800);
    bench.ask(Action::Do(Command::Panel(PanelId::Compare)));
    bench.harness.state_mut().clear_messages();
    bench.settle();
    hold_both(&mut bench, "compare");
    bench.harness.set_size(egui::Vec2::new(1024.0, 700.0));
    bench.harness.run_steps(4);
    hold(&mut bench, "compare_small");
    bench.harness.set_size(egui::Vec2::new(1280.0, 800.0));
    bench.press("Trips of the same agents");
    hold(&mut bench, "compare_trips");
}

/// Checks that houses are faint when seen from far away, and that parapets fade in with the zoom.
#[test]
fn houses_from_far_away() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.look_at(0.0, 0.0, 1000.0);
    hold(&mut bench, "houses_far");
    bench.look_at(0.0, 0.0, 215.0);
    hold(&mut bench, "houses_middle");
}

#[test]
fn driving() {
    let mut bench = hill_country();
    go_straight(&mut bench);
    // Time advances only by explicit steps.
    bench.ask(Action::Speed(0.0));
    bench.step_run(100);
    let live = bench.editor().model().live.clone().unwrap();
    let agent = live.snapshot.vehicles[0].agent;
    bench.ask(Action::Watch(Some(agent)));
    bench.ask(Action::Do(roadwright_editor::command::Command::Drive));
    bench.harness.event(egui::Event::Key {
        key: Key::W,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::NONE,
    });
    bench.step_run(400);
    bench.ask(Action::Speed(1.0));
    bench.ask(Action::ShowPanel(PanelId::Vehicle));
    hold_both(&mut bench, "driving");
}

#[test]
fn experiment() {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.ask(Action::ShowPanel(PanelId::Experiment));
    hold(&mut bench, "experiment_none");
    crate::common::small_training(&mut bench);
    bench.press("Set up");
    hold(&mut bench, "experiment_setup");
    bench.press("Drive budget");
    let set = |bench: &mut Bench, list: &str, choice: &str| {
        bench.scroll_to(list);
        let role = egui::accesskit::Role::ComboBox;
        bench.harness.get_by_role_and_label(role, list).click();
        bench.harness.run_steps(4);
        bench.press(choice);
    };
    set(
        &mut bench,
        "Ends early: none",
        "worst of each round (halving)",
    );
    let grow = "Later generations: same number of drives";
    set(&mut bench, grow, "more drives");
    bench.scroll_to("Stops early: never");
    hold(&mut bench, "experiment_spending");
    bench.press("Drive budget");
    // Restored for the pictures that follow.
    for _ in 0..2 {
        bench.press("Undo change");
    }
    bench.press("Training");
    hold(&mut bench, "experiment_training");
    bench.press("Individuals");
    hold(&mut bench, "experiment_individuals");
    crate::common::open_results(&mut bench);
    bench.press("Compare");
    hold(&mut bench, "experiment_compare");
    bench.press("Show the runs of fuzzy");
    hold(&mut bench, "experiment_runs");
    bench.press("Back to the scenario");
    bench.press("Individuals");
    bench.press("Show the best");
    bench.ask(Action::ShowPanel(PanelId::Controller));
    // Restarted from the beginning and stepped explicitly, because the clock-driven part varies.
    bench.ask(Action::Do(Command::Reset));
    bench.step_run(200);
    hold(&mut bench, "experiment_shown");
    bench.press("Back to the scenario");
    bench.set(|s| s.dark = true);
    bench.press("Changes");
    hold(&mut bench, "experiment_changes_dark");
    bench.press("Training");
    hold(&mut bench, "experiment_training_dark");
    bench.set(|s| {
        s.dark = false;
        s.zoom = 1.6;
    });
    bench.harness.set_size(egui::Vec2::new(1024.0, 700.0) / 1.6);
    bench.harness.run_steps(4);
    bench.press("Set up");
    hold(&mut bench, "experiment_small");
}

#[test]
fn slip_lanes() {
    let mut bench = Bench::crossroads();
    bench.key(Key::V);
    bench.look_at(0.0, 0.0, 60.0);
    bench.click(0.0, 0.0);
    bench.press("Turns (12)");
    for _ in 0..4 {
        let junction = bench.selected_junction();
        let mut paths = junction.paths.iter();
        let near = paths.find(|path| path.turn == Turn::Right).unwrap();
        let name = format!("Slip lane {} to {}", near.from.road, near.to.road);
        bench.press(&name);
    }
    hold(&mut bench, "slip_lanes");
}

#[test]
fn merged_junctions() {
    let mut bench = Bench::empty();
    bench.look_at(15.0, 0.0, 75.0);
    bench.key(Key::R);
    bench.drag(&[(-60.0, 0.0), (90.0, 0.0)]);
    bench.drag(&[(0.0, -60.0), (0.0, 60.0)]);
    bench.drag(&[(30.0, -60.0), (30.0, 60.0)]);
    bench.key(Key::V);
    bench.click(0.0, 0.0);
    bench.press("Merge junctions");
    bench.press("Turns (30)");
    hold(&mut bench, "merged_junctions");
}

#[test]
fn green_wave() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut bench = Bench::open(&folder.join("signal-corridor.scenario.json"));
    bench.close_dialog();
    bench.step_run(2_000);
    let ends = [5, 14].map(|id| ObjectId::Node(NodeId(id)));
    bench.ask(Action::Select(ends.into()));
    bench.press("Green wave");
    hold(&mut bench, "green_wave");
    bench.set(|s| s.dark = true);
    hold(&mut bench, "green_wave_dark");
}

#[test]
fn moves() {
    let mut bench = crate::moves::practice();
    bench.harness.set_size(egui::vec2(1500.0, 1200.0));
    crate::moves::record(&mut bench);
    bench.press("Mirror clip 1");
    bench.press("Build");
    let racer = ObjectId::Agent(roadwright_scenario::AgentId(1));
    bench.ask(Action::Select(BTreeSet::from([racer])));
    bench.press("Use");
    bench.ask(Action::Do(Command::Reset));
    bench.step_run(300);
    bench.ask(Action::Select(BTreeSet::new()));
    let at = bench.live().snapshot.vehicles[0].body.position;
    bench.look_at(at.x, at.y + 20.0, 70.0);
    bench.harness.state_mut().clear_messages();
    bench.settle();
    hold(&mut bench, "moves_used");
    // The tree of the source, and the ghost of a clip.
    bench.ask(Action::Moves(MovesAction::Show(ShownLibrary::Shipped(
        "large",
    ))));
    bench.look_at(0.0, 20.0, 70.0);
    bench.ask(Action::Moves(MovesAction::Hover(Some(0))));
    let curve = bench.scroll_to("End of clip 1").center();
    bench.harness.hover_at(curve);
    bench.set(|s| s.dark = true);
    hold(&mut bench, "moves_shipped_dark");
}

#[test]
fn explained_turn() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.look_at(0.0, 0.0, 40.0);
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Node(NodeId(5))])));
    let junction = bench.selected_junction();
    let mut paths = junction.paths.iter();
    let left = paths.find(|path| path.turn == Turn::Left).unwrap();
    bench.ask(Action::Explain(Some((left.from, left.to))));
    hold(&mut bench, "explained_way");
}
