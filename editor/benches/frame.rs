//! CPU time of a frame of the editor: the application's part and tessellation, without a window.
//!
//! `cargo bench -p roadwright-editor` measures a city of square blocks with about 10,000 roads and
//! 2,000 vehicles; `ROADWRIGHT_CITY=FILE` measures a scenario file instead, with vehicles added.
//! `ROADWRIGHT_VEHICLES` sets their number. Strokes and dragged flows are compared with the same movements of the
//! pointer with the Select tool. `-- WORD..` measures only the cases whose names contain one of the words.
#![allow(
    clippy::unwrap_used,
    reason = "a bench that cannot be set up has to stop"
)]
#![allow(missing_docs, reason = "a bench has no interface")]

use cpu_time::ThreadTime;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Vec2};
use egui_kittest::Harness;
use roadwright_editor::command::Command;
use roadwright_editor::extensions::Folders;
use roadwright_editor::model::{Action, Dialog};
use roadwright_editor::panel::PanelId;
use roadwright_editor::tools::ToolKind;
use roadwright_editor::{Editor, Options};
use roadwright_geometry::math::Stream;
use roadwright_geometry::{DVec2, ReferenceLine};
use roadwright_scenario::{
    Agent, AgentId, CrossSection, Edit, Node, NodeId, Place, Road, RoadAccess, RoadClass, RoadId,
    Scenario, file,
};
use std::path::PathBuf;
use std::time::Duration;

/// Number of vehicles unless `ROADWRIGHT_VEHICLES` is set.
const VEHICLES: u32 = 2_000;
const BLOCKS: u32 = 71;
const BLOCK: f64 = 110.0;
const FRAMES: usize = 300;

/// Creates a city of square blocks: 2 x 71 x 72 = 10,224 roads.
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
    let vehicles = std::env::var("ROADWRIGHT_VEHICLES");
    let vehicles = vehicles.map_or(VEHICLES, |number| number.parse().unwrap());
    for id in 1..=vehicles {
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

/// Whether a case is measured: if its name contains an argument of the command line, or if there
/// are no arguments.
fn is_wanted(name: &str) -> bool {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    words.is_empty() || words.iter().any(|word| name.contains(word))
}

/// Measures the CPU time per frame of the application and of tessellation, and prints their median
/// and 99th percentile, ms.
fn measure(
    harness: &mut Harness<'_, Editor>,
    name: &str,
    mut before: impl FnMut(&mut Harness<'_, Editor>, usize),
) {
    if !is_wanted(name) {
        return;
    }
    let (mut app, mut tessellation) = (Vec::new(), Vec::new());
    let (mut triangles, mut vehicles) = (0, 0);
    for frame in 0..FRAMES {
        before(harness, frame);
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

/// Presses or releases the primary mouse button at a position on the map.
fn button(harness: &mut Harness<'_, Editor>, pos: Pos2, pressed: bool) {
    harness.event(Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    });
    harness.step();
}

/// Returns the position of the pointer in a frame. The pointer moves all over the map, and crosses
/// many streets per frame when the whole city is shown.
fn pointer(harness: &Harness<'_, Editor>, frame: usize) -> Pos2 {
    let map = harness.state().map_rect();
    let turn = std::f32::consts::TAU * frame as f32 / FRAMES as f32;
    map.center() + Vec2::new(map.width() * turn.sin(), map.height() * (3.0 * turn).sin()) * 0.4
}

/// Measures frames in which the pointer moves with a tool, and drags from the middle of the map
/// unless the tool is Select. Between frames, the routes of trips are found in the background.
fn measure_pointer(harness: &mut Harness<'_, Editor>, name: &str, tool: ToolKind) {
    if !is_wanted(name) {
        return;
    }
    harness.state_mut().ask(Action::Tool(tool));
    settle(harness);
    let start = pointer(harness, 0);
    harness.hover_at(start);
    harness.step();
    if tool != ToolKind::Select {
        button(harness, start, true);
    }
    measure(harness, name, |harness, frame| {
        std::thread::sleep(Duration::from_millis(8));
        let at = pointer(harness, frame + 1);
        harness.event(Event::PointerMoved(at));
    });
    harness.key_press(Key::Escape);
    harness.step();
    let end = pointer(harness, FRAMES);
    if tool != ToolKind::Select {
        button(harness, end, false);
    }
    harness.state_mut().ask(Action::Tool(ToolKind::Select));
    settle(harness);
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
    let options = Options {
        open: Some(path),
        settings: folder.path().join("settings"),
        autosaves: folder.path().join("autosave"),
        modules: Folders {
            user: folder.path().join("user"),
            cache: folder.path().join("cache"),
            ..Folders::default()
        },
        uses_gpu: true,
        reads_gamepads: false,
        race: None,
    };
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1600.0, 1000.0))
        .build_eframe(|cc| Editor::new(cc, options));
    harness.state_mut().ask(Action::Show(Dialog::None));
    settle(&mut harness);
    let middle = scenario
        .bounds()
        .map(|(low, high)| 0.5 * (low + high))
        .unwrap();
    let look = |harness: &mut Harness<'_, Editor>, half: DVec2| {
        let jump = Action::Jump(middle - half, middle + half);
        harness.state_mut().ask(jump);
    };
    let whole = scenario
        .bounds()
        .map(|(low, high)| 0.5 * (high - low))
        .unwrap();
    let near = DVec2::splat(300.0);
    measure(&mut harness, "whole city, standing", |_, _| {});
    for (half, place) in [(whole, "the whole city"), (near, "streets at 600 m")] {
        look(&mut harness, half);
        settle(&mut harness);
        for (tool, what) in [
            (ToolKind::Select, "a pointer"),
            (ToolKind::Road, "a stroke"),
            (ToolKind::Flow, "a dragged flow"),
        ] {
            measure_pointer(&mut harness, &format!("{what} over {place}"), tool);
        }
    }
    look(&mut harness, whole);
    harness.state_mut().ask(Action::Do(Command::PlayPause));
    settle(&mut harness);
    std::thread::sleep(Duration::from_secs(8));
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
        |harness, frame| {
            let half = 60.0 + 2000.0 * (frame as f64 / FRAMES as f64);
            look(harness, DVec2::splat(half));
        },
    );
    look(&mut harness, near);
    settle(&mut harness);
    measure(&mut harness, "streets at 600 m, driving", |_, _| {});
    harness
        .state_mut()
        .ask(Action::Do(Command::Panel(PanelId::Timeline)));
    settle(&mut harness);
    measure(&mut harness, "the same with the timeline", |_, _| {});
}
