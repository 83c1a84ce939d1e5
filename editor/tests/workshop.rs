//! The vehicle workshop: numbers with immediate effect, files, trials, and the test track.

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::experiment::ExperimentAction;
use roadwright_editor::model::{Action, Dialog, Purpose};
use roadwright_editor::panel::PanelId;
use roadwright_editor::workshop::{Ground, Source, Workshop, WorkshopAction};
use roadwright_geometry::DVec2;
use roadwright_scenario::vehicle_file::{VehicleFile, WheelShape};
use roadwright_scenario::{AgentId, DynamicsLevel, Edit, Node, NodeId, ObjectId};
use roadwright_vehicle::proving::{MANOEUVRES, prove};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Opens the workshop with a shipped vehicle, fully visible.
fn with(name: &'static str) -> Bench {
    let mut bench = Bench::start();
    bench.close_dialog();
    bench.harness.set_size(egui::vec2(1600.0, 2400.0));
    bench.ask(Action::Do(Command::Panel(PanelId::Workshop)));
    act(&mut bench, WorkshopAction::Open(Source::Shipped(name)));
    bench
}

/// Writes a file of the crossroads into a new folder and returns both.
fn town() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let town = folder.path().join("town.scenario.json");
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    std::fs::copy(source, &town).unwrap();
    (folder, town)
}

fn act(bench: &mut Bench, action: WorkshopAction) {
    bench.ask(Action::Workshop(action));
}

fn shop(bench: &Bench) -> &Workshop {
    &bench.editor().model().workshop
}

fn vehicle(bench: &Bench) -> &VehicleFile {
    &shop(bench).bench.as_ref().unwrap().file
}

fn fact(bench: &Bench, name: &str) -> f64 {
    let facts = &shop(bench).bench.as_ref().unwrap().drawn.facts;
    facts.iter().find(|fact| fact.name == name).unwrap().value
}

/// Types a value into the field of a number.
fn type_into(bench: &mut Bench, name: &str, text: &str) {
    let at = bench.field(name).center();
    bench.harness.hover_at(at);
    bench.harness.step();
    for pressed in [true, false] {
        bench.harness.event(egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        bench.harness.step();
    }
    bench.key_with(Modifiers::COMMAND, Key::A);
    bench.type_text(text);
    bench.key(Key::Enter);
    bench.settle();
}

/// Changes numbers in the same way as an unfinished drag.
fn change(bench: &mut Bench, change: impl FnOnce(&mut VehicleFile)) {
    let mut file = vehicle(bench).clone();
    change(&mut file);
    let label = "Change of it".to_owned();
    act(bench, WorkshopAction::Change(label, Box::new(file)));
}

#[test]
fn a_dragged_slider_acts_at_once_is_marked_and_is_one_step_back() {
    let mut bench = with("willys-mb");
    let (before, tips) = (vehicle(&bench).clone(), fact(&bench, "Tips over at"));
    assert!(bench.harness.query_by_label("• Centre height").is_none());
    let slider = bench.scroll_to("Slider of Centre height");
    bench.drag_right(slider.center(), 40.0);
    assert!(*vehicle(&bench).body.centre_height > *before.body.centre_height);
    assert!(fact(&bench, "Tips over at") < tips);
    assert!(bench.harness.query_by_label("• Centre height").is_some());
    bench.press("Undo change");
    assert_eq!(*vehicle(&bench), before);
    bench.press("Redo change");
    assert!(fact(&bench, "Tips over at") < tips);
    // A click on the marked name resets it, which can be undone too.
    bench.press("• Centre height");
    assert_eq!(*vehicle(&bench), before);
    bench.press("Undo change");
    assert_ne!(*vehicle(&bench), before);
    // None of this has changed the scenario.
    assert_eq!(bench.undo_steps(), 0);
}

#[test]
fn wheels_become_spheres_and_rays_again() {
    let mut bench = with("willys-mb");
    let before = vehicle(&bench).clone();
    assert_eq!(before.wheels.shape, WheelShape::Ray);
    bench.press("Spheres");
    assert_eq!(vehicle(&bench).wheels.shape, WheelShape::Sphere);
    bench.press("Undo change");
    assert_eq!(*vehicle(&bench), before);
    bench.press("Redo change");
    bench.press("Rays");
    assert_eq!(*vehicle(&bench), before);
    // Without springs there is no choice.
    let bench = with("ford-escort");
    assert!(bench.harness.query_by_label("Spheres").is_none());
}

#[test]
fn bad_numbers_are_refused_in_place_with_key_and_reason() {
    let mut bench = with("willys-mb");
    let before = vehicle(&bench).clone();
    for (name, text, key) in [
        ("Body mass", "-1000", "body.mass: -1000 is out of range"),
        ("Body mass", "1e9", "body.mass"),
        ("Friction", "77", "wheels.friction: 77 is out of range"),
        // Only invalid together with other numbers.
        (
            "Gear 2",
            "0.5",
            "gearbox.gears.3.ratio: list the forward gears",
        ),
        (
            "Shifts down at",
            "4500",
            "gearbox.down_rpm: expected less than up_rpm",
        ),
    ] {
        type_into(&mut bench, name, text);
        let shown = bench.harness.query_by_label_contains(key);
        assert!(shown.is_some(), "{name} {text}: no {key}");
        assert_eq!(*vehicle(&bench), before, "{name} {text}");
    }
    type_into(&mut bench, "Body mass", "1200");
    assert_eq!(vehicle(&bench).body.mass, 1200.0);
    assert!(shop(&bench).bench.as_ref().unwrap().refused.is_none());
}

#[test]
fn it_opens_from_menu_palette_and_inspector_and_closes_by_its_tab() {
    let mut bench = Bench::start();
    bench.close_dialog();
    assert!(bench.harness.query_by_label("Open vehicle…").is_none());
    bench.key_with(Modifiers::COMMAND, Key::P);
    bench.type_text("workshop");
    bench.key(Key::Enter);
    assert!(bench.harness.query_by_label("Open vehicle…").is_some());
    assert!(shop(&bench).bench.is_none());
    bench.ask(Action::Do(Command::ResetPanels));
    assert!(bench.harness.query_by_label("Open vehicle…").is_none());
    // The type of a selected vehicle has no file, so wheels and springs are the defaults of the level.
    let (id, agent) = bench.scenario().agents().iter().next().unwrap();
    let (id, key) = (*id, agent.vehicle.clone());
    bench.ask(Action::Select(BTreeSet::from([ObjectId::Agent(id)])));
    bench.press(&format!("Workshop: {key}"));
    let kind = bench.scenario().vehicle_types()[&key].clone();
    assert!(kind.file.is_none());
    assert!((vehicle(&bench).mass() - kind.mass).abs() < 1e-6);
    assert_eq!(
        shop(&bench).bench.as_ref().unwrap().drawn.level,
        DynamicsLevel::Rigid
    );
    bench.press("Use selection");
    assert_eq!(
        shop(&bench).bench.as_ref().unwrap().source,
        Source::Type(key)
    );
}

#[test]
fn two_vehicles_stand_side_by_side() {
    let mut bench = with("willys-mb");
    change(&mut bench, |file| file.body.mass = 1500.0.into());
    act(&mut bench, WorkshopAction::Compare(Some(Source::Unchanged)));
    let rival = shop(&bench).rival.as_ref().unwrap();
    assert_eq!(rival.file.body.mass, 1000.0);
    for text in ["this vehicle", "original", "1540", "1040"] {
        let found = bench.harness.query_all_by_label(text).count();
        assert!(found >= 1, "{text}");
    }
    act(
        &mut bench,
        WorkshopAction::Compare(Some(Source::Shipped("t-28"))),
    );
    assert!(bench.harness.query_all_by_label("t-28").count() >= 1);
    // A vehicle without springs lacks the other's numbers.
    act(
        &mut bench,
        WorkshopAction::Open(Source::Shipped("ford-escort")),
    );
    assert!(bench.harness.query_all_by_label("-").count() > 3);
    act(&mut bench, WorkshopAction::Compare(None));
    assert!(shop(&bench).rival.is_none());
}

#[test]
fn manoeuvres_run_beside_the_window_and_are_those_of_the_bench() {
    let mut bench = with("soapbox-kart");
    act(
        &mut bench,
        WorkshopAction::Compare(Some(Source::Shipped("ford-escort"))),
    );
    bench
        .harness
        .state_mut()
        .ask(Action::Workshop(WorkshopAction::Test));
    bench.harness.step();
    assert!(shop(&bench).trial.is_running);
    bench.harness.step();
    assert!(bench.harness.query_by_label("Stop test").is_some());
    bench.settle();
    let trial = &shop(&bench).trial;
    assert_eq!(trial.share(), 1.0);
    assert_eq!(trial.own.manoeuvres, prove(vehicle(&bench)).unwrap());
    let rival = &shop(&bench).rival.as_ref().unwrap().file;
    assert_eq!(trial.rival.manoeuvres, prove(rival).unwrap());
    assert!(bench.harness.query_all_by_label("pass").count() > 8);
    for name in MANOEUVRES {
        assert!(bench.harness.query_by_label(name).is_some(), "{name}");
    }
    // Results that belong to other numbers are marked.
    change(&mut bench, |file| file.body.mass *= 1.1);
    assert!(
        bench
            .harness
            .query_by_label_contains("before the last change")
            .is_some()
    );
}

#[test]
fn a_test_can_be_stopped() {
    let mut bench = with("t-28");
    bench
        .harness
        .state_mut()
        .ask(Action::Workshop(WorkshopAction::Test));
    bench.harness.step();
    act(&mut bench, WorkshopAction::StopTest);
    let count = shop(&bench).trial.own.manoeuvres.len();
    assert!(
        !shop(&bench).trial.is_running && count < MANOEUVRES.len(),
        "{count}"
    );
}

#[test]
fn limits_of_manoeuvres_that_are_none_are_said() {
    let mut bench = with("willys-mb");
    change(&mut bench, |file| {
        file.limits.insert("loop".into(), 1.0);
    });
    act(&mut bench, WorkshopAction::Test);
    assert!(
        bench
            .harness
            .query_by_label_contains("limits.loop")
            .is_some()
    );
}

#[test]
fn a_vehicle_is_saved_beside_the_scenario_and_used_by_it() {
    let (folder, town) = town();
    let mut bench = Bench::open(&town);
    bench.harness.set_size(egui::vec2(1600.0, 1600.0));
    act(
        &mut bench,
        WorkshopAction::Open(Source::Shipped("willys-mb")),
    );
    change(&mut bench, |file| file.body.mass = 1234.0.into());
    // The vehicle has no file yet, so the path is requested.
    bench.press("Use as type willys_mb_2");
    let Dialog::Path { purpose, text, .. } = bench.editor().model().dialog.clone() else {
        panic!("no dialog");
    };
    assert_eq!(purpose, Purpose::UseVehicle);
    assert!(
        text.ends_with("town/willys-mb.vehicle.json") || text.contains("willys-mb.vehicle.json")
    );
    let path = folder.path().join("jeep.vehicle.json");
    bench.ask(Action::Path(
        folder.path().join("jeep"),
        Purpose::UseVehicle,
        None,
    ));
    assert_eq!(VehicleFile::load(&path).unwrap(), *vehicle(&bench));
    let kind = bench.scenario().vehicle_types()["willys_mb_2"].clone();
    assert_eq!(kind.file.as_ref().unwrap().path, "jeep.vehicle.json");
    assert_eq!(kind.mass, 1234.0 + 40.0);
    // One edit; the file stays, and saved changes no longer count as changes.
    assert!(!shop(&bench).bench.as_ref().unwrap().is_changed());
    bench.ask(Action::Do(Command::Undo));
    assert!(!bench.scenario().vehicle_types().contains_key("willys_mb_2"));
    bench.ask(Action::Do(Command::Redo));
    bench.ask(Action::Do(Command::Save));
    let again = roadwright_scenario::file::load(&town).unwrap();
    assert_eq!(
        again.vehicle_types()["willys_mb_2"]
            .file
            .as_ref()
            .unwrap()
            .was,
        None
    );
    assert_eq!(again.vehicle_types()["willys_mb_2"].mass, 1274.0);
    // If it is used again after another change, it is the same type.
    change(&mut bench, |file| file.body.mass = 900.0.into());
    bench.ask(Action::Path(path.clone(), Purpose::SaveVehicle, None));
    act(&mut bench, WorkshopAction::Use);
    assert_eq!(bench.scenario().vehicle_types()["willys_mb_2"].mass, 940.0);
    // A file is opened by its path, and a broken one is refused.
    act(&mut bench, WorkshopAction::Open(Source::Shipped("t-28")));
    bench.ask(Action::Path(path, Purpose::OpenVehicle, None));
    assert_eq!(vehicle(&bench).body.mass, 900.0);
    // A file can also be compared.
    let other = folder.path().join("jeep.vehicle.json");
    bench.ask(Action::Path(other.clone(), Purpose::CompareVehicle, None));
    let rival = shop(&bench).rival.as_ref().unwrap();
    assert_eq!(
        (&rival.source, rival.file.body.mass.get()),
        (&Source::File(other), 900.0)
    );
    let broken = folder.path().join("broken.vehicle.json");
    std::fs::write(&broken, "{\"format\": 3}").unwrap();
    bench.ask(Action::Path(broken, Purpose::OpenVehicle, None));
    assert_eq!(vehicle(&bench).body.mass, 900.0);
}

#[test]
fn without_a_folder_the_scenario_keeps_the_vehicle_itself() {
    let mut bench = Bench::empty();
    act(&mut bench, WorkshopAction::Open(Source::Shipped("t-28")));
    act(&mut bench, WorkshopAction::Use);
    let kind = bench.scenario().vehicle_types()["t_28"].clone();
    assert_eq!(kind.file.as_ref().unwrap().vehicle, *vehicle(&bench));
    let text = roadwright_scenario::file::to_text(bench.scenario());
    let again = roadwright_scenario::file::from_text(&text).unwrap();
    assert_eq!(again.vehicle_types()["t_28"], kind);
}

fn attitude(bench: &Bench) -> (f64, f64) {
    let live = bench.editor().model().live.clone().unwrap();
    let attitude = live.snapshot.vehicles[0].attitude.unwrap();
    (attitude.pitch, attitude.roll)
}

/// Holds keys while driving for the given number of seconds.
fn drive(bench: &mut Bench, keys: &[Key], seconds: f64) {
    for key in keys {
        bench.harness.key_down(*key);
    }
    let time = |bench: &Bench| {
        let live = bench.editor().model().live.as_ref();
        live.map_or(0.0, |live| live.snapshot.time)
    };
    let end = time(bench) + seconds;
    for _ in 0..20_000 {
        bench.harness.step();
        if time(bench) >= end {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(time(bench) >= end, "the vehicle on the track does not move");
    for key in keys {
        bench.harness.key_up(*key);
    }
    bench.harness.step();
}

#[test]
fn the_test_track_is_driven_by_hand_and_starts_again_with_other_numbers() {
    let mut bench = with("willys-mb");
    let edit = Edit::Node(NodeId(900), Some(Node::at(DVec2::new(900.0, 900.0))));
    bench.ask(Action::Apply("Add node".into(), edit));
    let (scenario, camera) = (bench.scenario().clone(), bench.editor().model().camera);
    bench.press("Drive, bumpy");
    assert_eq!(bench.scenario().agents().len(), 1);
    assert_eq!(bench.scenario().settings().dynamics, DynamicsLevel::Rigid);
    assert!(bench.editor().model().driving.is_some());
    assert!(
        bench
            .harness
            .query_by_label("Back to the scenario")
            .is_some()
    );
    drive(&mut bench, &[Key::W], 3.0);
    let live = bench.editor().model().live.clone().unwrap();
    assert!(
        live.snapshot.vehicles[0].speed > 3.0,
        "{:?}",
        live.snapshot.vehicles[0]
    );
    // The vehicle squats as it accelerates, and leans outwards in a left bend.
    assert!(attitude(&bench).0 > 0.0, "{:?}", attitude(&bench));
    drive(&mut bench, &[Key::W, Key::A], 1.5);
    assert!(attitude(&bench).1 > 0.0, "{:?}", attitude(&bench));
    assert!(
        bench
            .harness
            .query_by_label_contains("Side view and rear view: pitch")
            .is_some()
    );
    // A changed number restarts the drive with the new value.
    change(&mut bench, |file| file.body.mass = 2000.0.into());
    act(&mut bench, WorkshopAction::Commit("Change of it".into()));
    assert_eq!(bench.scenario().vehicle_types()["test"].mass, 2040.0);
    let time = bench.live().snapshot.time;
    assert!(time < 2.0, "{time}");
    assert!(bench.editor().model().driving.is_some());
    // A dragged slider does not keep the arrow keys.
    let slider = bench.scroll_to("Slider of Damping");
    bench.drag_right(slider.center(), 30.0);
    let damping = vehicle(&bench).suspension.as_ref().unwrap().damping;
    assert!(damping > 2700.0);
    drive(&mut bench, &[Key::ArrowUp, Key::ArrowRight], 2.0);
    let live = bench.editor().model().live.clone().unwrap();
    assert!(live.snapshot.vehicles[0].speed > 1.0);
    assert_eq!(
        vehicle(&bench).suspension.as_ref().unwrap().damping,
        damping
    );
    // Changes to the other ground, and returns: the scenario, its history and the view are
    // unchanged.
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    assert!(bench.scenario().terrain().is_none());
    bench.press("Back to the scenario");
    assert_eq!(*bench.scenario(), scenario);
    assert_eq!(bench.editor().model().camera, camera);
    assert!(bench.editor().model().document.is_dirty());
    bench.ask(Action::Do(Command::Undo));
    assert!(bench.scenario().network().node(NodeId(900)).is_none());
    assert_eq!(vehicle(&bench).body.mass, 2000.0);
}

/// Returns the number of lines of the map in the colour of rigid bodies.
fn body_lines(bench: &Bench) -> usize {
    fn count(shape: &egui::Shape) -> usize {
        match shape {
            egui::Shape::Vec(shapes) => shapes.iter().map(count).sum(),
            egui::Shape::Path(path) => {
                let color = egui::epaint::ColorMode::Solid(egui::Color32::from_rgb(0xE0, 0, 0x9B));
                usize::from(path.stroke.color == color)
            }
            _ => 0,
        }
    }
    let shapes = bench.harness.output().shapes.iter();
    shapes.map(|clipped| count(&clipped.shape)).sum()
}

#[test]
fn the_view_menu_shows_bodies_as_the_solver_has_them() {
    let mut bench = with("willys-mb");
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    drive(&mut bench, &[Key::W], 1.0);
    // Otherwise the vehicle rolls on to other objects on a slow machine.
    bench.ask(Action::Do(Command::PlayPause));
    assert_eq!(body_lines(&bench), 0);
    bench.press("View");
    bench.press("Rigid bodies");
    assert!(bench.editor().model().settings.rigid_bodies);
    bench.key(Key::Escape);
    bench.harness.run_steps(3);
    // A hull, four wheels and their loads.
    assert_eq!(body_lines(&bench), 9);
    bench.set(|settings| settings.rigid_bodies = false);
    bench.harness.run_steps(3);
    assert_eq!(body_lines(&bench), 0);
}

#[test]
fn locked_wheels_leave_marks_until_the_run_begins_anew() {
    let mut bench = with("willys-mb");
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    drive(&mut bench, &[Key::W], 4.0);
    bench.set(|settings| settings.skid_marks = false);
    drive(&mut bench, &[Key::S, Key::A], 0.5);
    assert_eq!(bench.editor().skid_mark_count(), 0);
    bench.set(|settings| settings.skid_marks = true);
    drive(&mut bench, &[Key::W], 3.0);
    drive(&mut bench, &[Key::S, Key::A], 1.0);
    let live = bench.live();
    let mechanics = live.snapshot.mechanics.clone();
    assert!(bench.editor().skid_mark_count() > 0, "{mechanics:?}");
    bench.ask(Action::Do(Command::PlayPause));
    bench.ask(Action::Do(Command::Reset));
    bench.settle();
    assert_eq!(bench.editor().skid_mark_count(), 0);
}

#[test]
fn who_tips_over_is_told_in_words() {
    let mut bench = with("willys-mb");
    change(&mut bench, |file| {
        file.body.centre_height = Some(2.6).into();
        file.wheels.friction = Some(1.5).into();
        file.suspension.as_mut().unwrap().anti_sway = 0.0.into();
    });
    act(&mut bench, WorkshopAction::Commit("Change of it".into()));
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    bench.press_tab("Vehicle");
    drive(&mut bench, &[Key::W], 4.0);
    let told = |bench: &Bench| {
        let label = "Cannot continue: tipped over.";
        bench.harness.query_by_label(label).is_some()
    };
    assert!(!told(&bench));
    drive(&mut bench, &[Key::W, Key::A], 4.0);
    let live = bench.live();
    let vehicle = live.snapshot.vehicles[0];
    assert!(vehicle.mishap.tipped_over, "{vehicle:?}");
    assert!(told(&bench));
}

#[test]
fn saving_and_opening_on_the_track_mean_the_scenario() {
    let (_folder, town) = town();
    let mut bench = Bench::open(&town);
    let edit = Edit::Node(NodeId(900), Some(Node::at(DVec2::new(900.0, 900.0))));
    bench.ask(Action::Apply("Add node".into(), edit));
    act(
        &mut bench,
        WorkshopAction::Open(Source::Shipped("ford-escort")),
    );
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    assert_eq!(
        bench.scenario().settings().dynamics,
        DynamicsLevel::DynamicOneTrack
    );
    bench.ask(Action::Do(Command::Save));
    assert!(shop(&bench).track.is_none());
    let saved = roadwright_scenario::file::load(&town).unwrap();
    assert!(saved.network().node(NodeId(900)).is_some());
    assert!(!bench.editor().model().document.is_dirty());
    // Leaving from the track asks about the scenario's changes rather than the track's.
    let edit = Edit::Node(NodeId(901), Some(Node::at(DVec2::new(950.0, 900.0))));
    bench.ask(Action::Apply("Add node".into(), edit));
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    bench.ask(Action::Do(Command::New));
    assert!(matches!(bench.editor().model().dialog, Dialog::Unsaved(_)));
    assert!(
        bench
            .scenario()
            .agents()
            .get(&AgentId(1))
            .is_none_or(|agent| agent.vehicle != "test")
    );
}

#[test]
fn absurd_but_legal_vehicles_are_drawn_and_driven() {
    type Change = fn(&mut VehicleFile);
    let changes: [Change; 10] = [
        |file| file.body.mass = 9e5.into(),
        |file| (*file.body.mass, *file.wheels.mass) = (1e-3, 1e-3),
        // As a rigid body, the vehicle would take hours to simulate.
        |file| {
            (*file.body.mass, *file.wheels.mass) = (1e-3, 1e-3);
            file.suspension.as_mut().unwrap().spring = 1e9.into();
        },
        |file| file.suspension.as_mut().unwrap().spring = 0.0.into(),
        |file| file.suspension.as_mut().unwrap().spring = 1e9.into(),
        |file| file.wheels.friction = Some(1e-6).into(),
        |file| file.body.centre_height = Some(1e4).into(),
        |file| (*file.body.length, *file.body.height) = (1e4, 1e-6),
        |file| file.brakes.as_mut().unwrap().foot = 0.0.into(),
        |file| file.engine.as_mut().unwrap().torque_curve_rpm_nm = vec![(1.0, 0.0)].into(),
    ];
    let mut bench = with("willys-mb");
    let mut taken = 0;
    for absurd in changes {
        act(
            &mut bench,
            WorkshopAction::Open(Source::Shipped("willys-mb")),
        );
        change(&mut bench, absurd);
        let on_bench = shop(&bench).bench.as_ref().unwrap();
        assert_ne!(on_bench.is_changed(), on_bench.refused.is_some());
        taken += usize::from(on_bench.is_changed());
        bench.harness.run_steps(2);
        act(&mut bench, WorkshopAction::Drive(Ground::Bumpy));
        drive(&mut bench, &[Key::W], 0.1);
        act(&mut bench, WorkshopAction::LeaveTrack);
    }
    assert!(taken >= 8, "{taken}");
    // A vehicle valid in a file but not in a scenario is refused, and the scenario stays.
    act(
        &mut bench,
        WorkshopAction::Open(Source::Shipped("willys-mb")),
    );
    change(&mut bench, |file| file.body.mass = 1e6.into());
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    assert!(shop(&bench).track.is_none());
}

#[test]
fn a_crash_on_the_track_does_not_cost_the_scenario() {
    let mut bench = with("soapbox-kart");
    let edit = Edit::Node(NodeId(900), Some(Node::at(DVec2::new(987.0, 900.0))));
    bench.ask(Action::Apply("Add node".into(), edit));
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    // Edits are autosaved after a few seconds, including those of the paused scenario.
    let folder = bench.folder.path().join("autosave");
    let is_kept = || {
        let files = std::fs::read_dir(&folder).unwrap();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
        texts.any(|text| text.contains("987"))
    };
    for _ in 0..2_000 {
        bench.harness.step();
        if is_kept() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(is_kept());
    assert!(shop(&bench).track.is_some());
}

#[test]
fn an_individual_and_the_test_track_leave_the_scenario_to_each_other() {
    let mut bench = with("willys-mb");
    let edit = Edit::Node(NodeId(900), Some(Node::at(DVec2::new(900.0, 900.0))));
    bench.ask(Action::Apply("Add node".into(), edit));
    let scenario = bench.scenario().clone();
    crate::common::small_training(&mut bench);
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    assert!(shop(&bench).track.is_some());
    let training = bench.editor().model().experiment.training.clone();
    let show = ExperimentAction::Show {
        genes: training.unwrap().best().unwrap().genes.clone(),
        course: 3,
        name: "the best".into(),
    };
    bench.ask(Action::Experiment(show));
    let is_shown = |bench: &Bench| bench.editor().model().experiment.shown.is_some();
    assert!(shop(&bench).track.is_none() && is_shown(&bench));
    // While the world of an individual is shown, the track cannot be entered, and the scenario
    // takes no vehicle.
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    assert!(shop(&bench).track.is_none() && is_shown(&bench));
    act(&mut bench, WorkshopAction::Use);
    bench.ask(Action::Experiment(ExperimentAction::Back));
    assert!(!is_shown(&bench));
    assert_eq!(*bench.scenario(), scenario);
}

#[test]
fn a_save_under_way_reaches_the_scenario_that_waits() {
    let (_folder, town) = town();
    let mut bench = Bench::open(&town);
    act(
        &mut bench,
        WorkshopAction::Open(Source::Shipped("willys-mb")),
    );
    let edit = Edit::Node(NodeId(900), Some(Node::at(DVec2::new(900.0, 900.0))));
    bench.ask(Action::Apply("Add node".into(), edit));
    assert!(bench.editor().model().document.is_dirty());
    // Both in one frame: the file is written while the track is on the map.
    bench.harness.state_mut().ask(Action::Do(Command::Save));
    act(&mut bench, WorkshopAction::Drive(Ground::Flat));
    assert!(shop(&bench).track.is_some());
    act(&mut bench, WorkshopAction::LeaveTrack);
    assert!(bench.scenario().network().node(NodeId(900)).is_some());
    assert!(!bench.editor().model().document.is_dirty());
}
