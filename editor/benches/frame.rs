//! CPU time of a frame of the editor: the application's part and tessellation, without a window.
//!
//! `cargo bench -p roadwright-editor` measures a city of square blocks with about 10,000 roads and
//! 2,000 vehicles; `ROADWRIGHT_CITY=FILE` measures a scenario file instead, with vehicles added.
//! It also opens the city from the shipped scenario and prints the longest frame until the map is there, and
//! cancels opening once. `ROADWRIGHT_EXTRACT=FILE` does the same with an import of a map extract.
#![allow(
    clippy::unwrap_used,
    reason = "a bench that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "a bench has no interface")]

use cpu_time::ThreadTime;
use egui::Vec2;
use egui_kittest::Harness;
use roadwright_editor::extensions::Folders;
use roadwright_editor::model::{Action, Dialog, Next};
use roadwright_editor::{Editor, Options};
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::{
    Agent, AgentId, CrossSection, Edit, Node, NodeId, Place, Road, RoadAccess, RoadClass, RoadId,
    Scenario, file,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

const VEHICLES: u32 = 2_000;
const BLOCKS: u32 = 71;
const BLOCK: f64 = 110.0;
const FRAMES: usize = 300;

/// A city of square blocks: 2 x 71 x 72 = 10,224 roads.
fn blocks() -> Scenario {
    let mut scenario = Scenario::new("blocks");
    let mut edits = Vec::new();
    let at = |column: u32, row: u32| DVec2::new(f64::from(column), f64::from(row)) * BLOCK;
    let node = |column: u32, row: u32| NodeId(row * (BLOCKS + 1) + column + 1);
    for row in 0..=BLOCKS {
        for column in 0..=BLOCKS {
            edits.push(Edit::Node(
                node(column, row),
                Some(Node::at(at(column, row))),
            ));
        }
    }
    let mut id = 1;
    for row in 0..=BLOCKS {
        for column in 0..=BLOCKS {
            for (next_column, next_row) in [(column + 1, row), (column, row + 1)] {
                if next_column > BLOCKS || next_row > BLOCKS {
                    continue;
                }
                let (from, to) = (at(column, row), at(next_column, next_row));
                let (lane_offset, lanes) =
                    CrossSection::driving(1, 1, 3.25).lanes(scenario.about().driving_side);
                let road = Road {
                    from: node(column, row),
                    to: node(next_column, next_row),
                    name: format!(
                        "Street {}",
                        if next_row == row { row } else { 1000 + column }
                    ),
                    class: RoadClass::Residential,
                    layer: 0,
                    access: RoadAccess::All,
                    speed_limit: 13.9.into(),
                    reference_line: ReferenceLine::straight(from, to).unwrap(),
                    lane_offset,
                    lane_sections: vec![lanes],
                };
                edits.push(Edit::Road(RoadId(id), Some(Box::new(road))));
                id += 1;
            }
        }
    }
    scenario.apply(Edit::Batch(edits)).unwrap();
    scenario
}

fn with_vehicles(mut scenario: Scenario) -> Scenario {
    let roads: Vec<(RoadId, i8, f64)> = scenario
        .network()
        .roads()
        .filter_map(|(id, road)| {
            let lane = road
                .section_at(0.0)
                .lanes
                .iter()
                .find(|lane| lane.kind.is_drivable())?;
            (road.length() > 40.0).then_some((id, lane.id, 0.5 * road.length()))
        })
        .collect();
    let mut stream = Stream::new(1, "bench", 0);
    let mut edits = Vec::new();
    for id in 1..=VEHICLES {
        let (start, goal) = (
            roads[stream.next_index(roads.len())],
            roads[stream.next_index(roads.len())],
        );
        let agent = Agent {
            name: String::new(),
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: None,
            start: Place::lane(start.0, start.1, start.2),
            via: vec![],
            destination: Some(Place::lane(goal.0, goal.1, goal.2)),
            depart: 0.0.into(),
            repeat: None.into(),
            speed: 0.0.into(),
        };
        edits.push(Edit::Agent(AgentId(100_000 + id), Some(Box::new(agent))));
    }
    scenario.apply(Edit::Batch(edits)).unwrap();
    scenario
}

fn settle(harness: &mut Harness<'_, Editor>) {
    for _ in 0..20_000 {
        harness.step();
        if harness.state().is_settled() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Median and 99th percentile of the CPU time per frame, ms, for the application and for
/// tessellation.
fn measure(
    harness: &mut Harness<'_, Editor>,
    name: &str,
    mut before: impl FnMut(&mut Editor, usize),
) {
    let (mut app, mut tessellation) = (Vec::new(), Vec::new());
    let (mut triangles, mut vehicles) = (0, 0);
    for frame in 0..FRAMES {
        before(harness.state_mut(), frame);
        let start = ThreadTime::now();
        harness.step();
        app.push(start.elapsed().as_secs_f64() * 1000.0);
        let shapes = harness.output().shapes.clone();
        let start = ThreadTime::now();
        let primitives = harness.ctx.tessellate(shapes, 1.0);
        tessellation.push(start.elapsed().as_secs_f64() * 1000.0);
        triangles = primitives.len();
        let live = harness.state().model().live.clone();
        vehicles = live.map_or(0, |live| live.snapshot.vehicles.len());
    }
    let sum: Vec<f64> = app.iter().zip(&tessellation).map(|(a, t)| a + t).collect();
    let at = |values: &[f64], share: f64| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() - 1) as f64 * share) as usize]
    };
    println!(
        "{name:<34} app {:5.2} ms, tessellation {:5.2} ms, sum {:5.2} (p99 {:5.2}) ms; {vehicles} vehicles, {triangles} primitives",
        at(&app, 0.5),
        at(&tessellation, 0.5),
        at(&sum, 0.5),
        at(&sum, 0.99),
    );
}

/// Starts the editor with a file; `None` for the shipped scenario.
fn start(folder: &Path, open: Option<PathBuf>) -> Harness<'static, Editor> {
    let options = Options {
        open,
        settings: folder.join("settings"),
        autosaves: folder.join("autosave"),
        modules: Folders {
            user: folder.join("user"),
            cache: folder.join("cache"),
            ..Folders::default()
        },
        uses_gpu: true,
        reads_gamepads: false,
    };
    Harness::builder()
        .with_size(Vec2::new(1600.0, 1000.0))
        .build_eframe(|cc| Editor::new(cc, options))
}

/// Runs a frame with its tessellation. Returns its CPU time, and the time on the clock.
fn frame(harness: &mut Harness<'_, Editor>) -> [Duration; 2] {
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    let begin = (ThreadTime::now(), std::time::Instant::now());
    harness.step();
    let shapes = harness.output().shapes.clone();
    harness.ctx.tessellate(shapes, 1.0);
    [begin.0.elapsed(), begin.1.elapsed()]
}

/// Requests an action, and prints the longest frame until the editor has settled. With `cancels_at`, opening is
/// cancelled as soon as the map has this progress, 0 to 1.
fn longest_frame(
    harness: &mut Harness<'_, Editor>,
    name: &str,
    action: Action,
    cancels_at: Option<f32>,
) {
    harness.state_mut().ask(action);
    let mut longest = [Duration::ZERO; 2];
    let (mut frames, mut cancels) = (0, cancels_at);
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    let begin = std::time::Instant::now();
    loop {
        let spent = frame(harness);
        frames += 1;
        longest = [0, 1].map(|kind| longest[kind].max(spent[kind]));
        let job = harness.state().model().job.clone();
        let drawn = job.filter(|(label, _)| label == "Drawing the map");
        let progress = drawn.and_then(|(_, share)| share);
        if progress.zip(cancels).is_some_and(|(done, at)| done >= at) {
            cancels = None;
            harness.state_mut().ask(Action::CancelJob);
        } else if harness.state().is_settled() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let [cpu, clock] = longest.map(|time| 1e3 * time.as_secs_f64());
    println!(
        "{name:<34} longest of {frames} frames {cpu:5.1} ms of CPU, {clock:5.1} ms by the clock; ready after \
         {:.2} s; {} roads shown",
        begin.elapsed().as_secs_f64(),
        harness
            .state()
            .model()
            .document
            .scenario()
            .network()
            .road_count(),
    );
}

/// Measures the frames while a city is opened, and while opening it is cancelled.
fn opening(city: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = start(folder.path(), None);
    harness.state_mut().ask(Action::Show(Dialog::None));
    settle(&mut harness);
    let open = || Action::Go(Next::Open(city.to_owned()));
    longest_frame(&mut harness, "cancelled at 10 %", open(), Some(0.1));
    longest_frame(&mut harness, "cancelled at 80 %", open(), Some(0.8));
    longest_frame(&mut harness, "opening", open(), None);
    longest_frame(&mut harness, "opening again", open(), None);
    if let Some(extract) = std::env::var_os("ROADWRIGHT_EXTRACT") {
        let import = Action::Go(Next::Import(extract.into()));
        longest_frame(&mut harness, "importing", import, None);
    }
}

fn main() {
    // `cargo test` runs benches too; there is nothing to test here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let scenario = match std::env::var_os("ROADWRIGHT_CITY").map(PathBuf::from) {
        Some(path) => file::load(&path).unwrap(),
        None => blocks(),
    };
    println!(
        "{} roads, {} nodes",
        scenario.network().road_count(),
        scenario.network().node_count()
    );
    let scenario = with_vehicles(scenario);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("city.scenario.json");
    file::save(&scenario, &path).unwrap();
    opening(&path);
    let mut harness = start(folder.path(), Some(path));
    harness.state_mut().ask(Action::Show(Dialog::None));
    settle(&mut harness);
    let middle = scenario
        .bounds()
        .map(|(low, high)| 0.5 * (low + high))
        .unwrap();
    let look = |editor: &mut Editor, half: f64| {
        let half = DVec2::splat(half);
        editor.ask(Action::Jump(middle - half, middle + half));
    };
    measure(&mut harness, "whole city, standing", |_, _| {});
    harness
        .state_mut()
        .ask(Action::Do(roadwright_editor::command::Command::PlayPause));
    settle(&mut harness);
    std::thread::sleep(std::time::Duration::from_secs(8));
    settle(&mut harness);
    if let Some((_, error)) = harness
        .state()
        .model()
        .live
        .as_ref()
        .and_then(|l| l.error.clone())
    {
        println!("{error}");
    }
    measure(&mut harness, "whole city, driving", |_, _| {});
    measure(
        &mut harness,
        "zooming and panning, driving",
        |editor, frame| {
            look(editor, 60.0 + 2000.0 * (frame as f64 / FRAMES as f64));
        },
    );
    look(harness.state_mut(), 300.0);
    settle(&mut harness);
    measure(&mut harness, "streets at 600 m, driving", |_, _| {});
}
