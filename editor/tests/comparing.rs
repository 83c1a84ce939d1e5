//! Keeping and comparing runs with the real editor, and exported pictures of the map view.

use crate::common::Bench;
use egui::Key;
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::comparison::Comparison;
use roadwright_editor::kept_runs::{KeptRunAction, Side};
use roadwright_editor::model::{Action, Next, Purpose};
use roadwright_editor::panel::PanelId;
use roadwright_editor::tools::MapPart;
use roadwright_scenario::Edit;
use std::path::Path;

fn crossroads() -> Bench {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/crossroads.scenario.json");
    let mut bench = Bench::open(&file);
    bench.close_dialog();
    bench.ask(Action::Speed(f64::INFINITY));
    bench
}

/// Plays the run from its start for a while, then pauses it.
fn run(bench: &mut Bench, seconds: f64) {
    bench.ask(Action::Do(Command::Reset));
    bench.key(Key::Space);
    bench.play_until(1e9, |editor| {
        let live = editor.model().live.as_ref();
        live.is_some_and(|live| live.snapshot.time > seconds)
    });
    bench.ask(Action::Do(Command::StepOnce));
}

fn comparison(bench: &Bench) -> Comparison {
    let model = bench.editor().model();
    let runs = &model.kept_runs;
    let [a, b] = [runs.a, runs.b].map(|side| model.run_of(side).unwrap());
    Comparison::new(a, b)
}

/// Halves the speed limits of all roads.
fn slow_down(bench: &mut Bench) {
    let roads = bench.scenario().network().roads();
    let edits = roads.map(|(id, road)| {
        let mut road = road.clone();
        road.speed_limit *= 0.5;
        Edit::Road(id, Some(Box::new(road)))
    });
    let edit = Edit::Batch(edits.collect());
    bench.ask(Action::Apply("Slow down".into(), edit));
}

#[test]
fn a_kept_run_stands_beside_the_next_one() {
    let mut bench = crossroads();
    bench.ask(Action::Do(Command::KeepRun));
    assert!(
        bench.editor().model().kept_runs.list().is_empty(),
        "there is nothing yet"
    );
    run(&mut bench, 70.0);
    bench.ask(Action::Do(Command::KeepRun));
    bench.ask(Action::Do(Command::KeepRun));
    assert_eq!(
        bench.editor().model().kept_runs.list().len(),
        1,
        "not twice"
    );
    // Control: the same scenario gives a bit-identical result.
    run(&mut bench, 60.0);
    let same = comparison(&bench);
    assert!(same.until >= 60.0 && same.changes.is_empty());
    for figure in &same.figures {
        assert_eq!(
            (figure.a, figure.better()),
            (figure.b, None),
            "{}",
            figure.name
        );
    }
    assert!(!same.trips.is_empty());
    assert!(same.trips.iter().all(|pair| pair.difference() == Some(0.0)));
    bench.ask(Action::Do(Command::Panel(PanelId::Compare)));
    bench
        .harness
        .get_by_label("Both runs used the same scenario.");
    // Slower roads: later arrivals in figures, trips and text.
    bench.ask(Action::Do(Command::Reset));
    slow_down(&mut bench);
    run(&mut bench, 70.0);
    let slow = comparison(&bench);
    let figure = |name: &str| {
        slow.figures
            .iter()
            .find(|figure| figure.name == name)
            .unwrap()
    };
    assert!(figure("The same trips").difference().unwrap() > 1.0);
    assert!(figure("Mean speed").difference().unwrap() < 0.0);
    assert!(slow.trips[0].difference().unwrap() > 1.0);
    let roads = bench.scenario().network().road_count();
    let words = format!("The scenario of B differs from that of A: roads: {roads} changed.");
    bench.harness.get_by_label(&words);
    // A click on a trip shows its end and selects its agent.
    let pair = &slow.trips[0];
    let (_, last) = pair.any().unwrap().places.unwrap();
    let name = format!("Compare {}", pair.name());
    bench.press("Trips of the same agents");
    bench.press(&name);
    let centre = bench.editor().model().camera.centre;
    assert!((centre - last).length() < 5.0, "{centre} {last}");
    let folder = bench.folder.path().join("out");
    bench.ask(Action::Path(folder.clone(), Purpose::Comparison, None));
    let lines = |name: &str| {
        std::fs::read_to_string(folder.join(name))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(lines("trips.csv"), slow.trips.len() + 1);
    assert_eq!(lines("figures.csv"), slow.figures.len() + 3);
    assert!(lines("timeline.csv") > 70);
}

#[test]
fn kept_runs_are_named_swapped_and_dropped_and_outlive_their_document() {
    let mut bench = crossroads();
    bench.ask(Action::Do(Command::Panel(PanelId::Compare)));
    run(&mut bench, 20.0);
    bench.press("Keep this run");
    slow_down(&mut bench);
    // Edits during the run leave the kept run unchanged, and the current run reports the edit.
    run(&mut bench, 10.0);
    slow_down(&mut bench);
    bench.ask(Action::Do(Command::StepOnce));
    bench.harness.get_by_label("B was edited during the run.");
    let model = bench.editor().model();
    assert!(!model.run_of(Side::Kept(1)).unwrap().is_edited);
    bench.press("Swap");
    let runs = &bench.editor().model().kept_runs;
    assert_eq!((runs.a, runs.b), (Side::Now, Side::Kept(1)));
    bench.press("Kept runs (1 of 8)");
    bench.harness.run_steps(20);
    let name = "Name of Run 1";
    bench.scroll_to(name);
    bench.harness.get_by_label(name).focus();
    bench.harness.step();
    bench
        .harness
        .key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
    bench.type_text("with fast roads");
    bench.key(Key::Enter);
    assert_eq!(
        bench.editor().model().kept_runs.list()[0].name,
        "with fast roads"
    );
    // An empty name is refused.
    bench.ask(Action::KeptRun(KeptRunAction::Rename(1, " ".into())));
    assert_eq!(
        bench.editor().model().kept_runs.list()[0].name,
        "with fast roads"
    );
    bench.ask(Action::Go(Next::New));
    assert!(bench.editor().model().run_of(Side::Now).is_none());
    assert!(bench.editor().model().run_of(Side::Kept(1)).is_some());
    bench.press("Drop with fast roads");
    assert!(bench.editor().model().kept_runs.list().is_empty());
    assert!(bench.editor().model().run_of(Side::Kept(1)).is_none());
}

#[test]
fn an_exported_picture_leaves_out_what_is_hidden() {
    let mut bench = Bench::start();
    bench.close_dialog();
    let folder = bench.folder.path().to_owned();
    let mut export = |hidden: &[MapPart]| {
        bench.set(|settings| settings.tools.hidden = hidden.iter().copied().collect());
        let path = folder.join("map.png");
        bench.ask(Action::Path(path.clone(), Purpose::Picture, None));
        image::open(&path).unwrap().to_rgba8()
    };
    let whole = export(&[]);
    let differing = |other: &image::RgbaImage| {
        let pixels = whole.pixels().zip(other.pixels());
        pixels.filter(|(a, b)| a != b).count()
    };
    let share = |count: usize| count as f64 / whole.pixels().len() as f64;
    for (part, least) in [
        (MapPart::Obstacles, 0.02),
        (MapPart::Forests, 0.005),
        (MapPart::Roads, 0.05),
    ] {
        let share = share(differing(&export(&[part])));
        assert!(share > least, "{part:?}: {share}");
    }
    // Control: hiding missing parts changes nothing, and all parts are shown again.
    assert_eq!(differing(&export(&[MapPart::Layer(7)])), 0);
    assert_eq!(differing(&export(&[])), 0);
    // With all parts hidden, nearly everything is plain ground; only map overlays are left.
    let bare = export(&MapPart::KINDS);
    let ground = bare.get_pixel(bare.width() / 2, bare.height() / 2);
    let plain = bare.pixels().filter(|pixel| *pixel == ground).count();
    assert!(share(plain) > 0.9, "{}", share(plain));
}
