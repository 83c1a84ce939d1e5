//! Open ground in the editor: painting, the planning data of the watched vehicle, and vehicles without a
//! path.

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::model::Action;
use roadwright_editor::tools::ToolKind;
use roadwright_geometry::DVec2;
use roadwright_scenario::check::Code;
use roadwright_scenario::file::{from_text, to_text};
use roadwright_scenario::{
    Agent, AgentId, Edit, Obstacle, ObstacleId, PaintCost, PaintId, Place, Shape,
};
use roadwright_simulation::PathStatus;

/// Creates a box that stands on the ground, given by its centre and its sides along x and y, m.
pub(crate) fn wall(middle: DVec2, sides: DVec2) -> Obstacle {
    Obstacle {
        name: "wall".into(),
        shape: Shape::Box {
            x: middle.x.into(),
            y: middle.y.into(),
            heading: 0.0.into(),
            length: sides.x.into(),
            width: sides.y.into(),
        },
        base: 0.0.into(),
        height: 3.0.into(),
        mass: None.into(),
    }
}

/// Creates an otherwise empty world with a watched car that drives from west to east over open
/// ground.
pub(crate) fn field(walls: &[Obstacle]) -> Bench {
    let mut bench = Bench::empty();
    let agent = Agent {
        name: "jeep".into(),
        vehicle: "car".into(),
        stack: "idm".into(),
        start: Place::ground(-50.0, 0.0, 0.0),
        via: Vec::new(),
        destination: Some(Place::ground(50.0, 0.0, 0.0)),
        depart: 0.0.into(),
        speed: 0.0.into(),
        dynamics: None,
        repeat: None.into(),
    };
    let mut edits: Vec<Edit> = (1..)
        .zip(walls)
        .map(|(id, wall)| Edit::Obstacle(ObstacleId(id), Some(Box::new(wall.clone()))))
        .collect();
    edits.push(Edit::Agent(AgentId(1), Some(Box::new(agent))));
    bench.ask(Action::Apply("Field".into(), Edit::Batch(edits)));
    bench.look_at(0.0, 0.0, 80.0);
    bench.ask(Action::Watch(Some(1)));
    bench
}

/// Returns the four walls of a room of 30 m around the start.
pub(crate) fn room() -> Vec<Obstacle> {
    [
        (-65.0, 0.0, 1.0, 31.0),
        (-35.0, 0.0, 1.0, 31.0),
        (-50.0, 15.0, 31.0, 1.0),
        (-50.0, -15.0, 31.0, 1.0),
    ]
    .map(|(x, y, length, width)| wall(DVec2::new(x, y), DVec2::new(length, width)))
    .to_vec()
}

/// Brings the Problems panel to the front. Its tab contains the number of problems.
pub(crate) fn open_problems(bench: &mut Bench) {
    let model = bench.editor().model();
    let found = model.findings.1.len() + bench.live().without_path.len();
    bench.press_tab(&format!("Problems ({found})"));
}

#[test]
fn ground_is_painted_and_erased_and_every_stroke_is_one_step() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 80.0);
    bench.key(Key::I);
    assert_eq!(bench.editor().model().tool, ToolKind::Paint);
    let empty = bench.scenario().clone();
    let steps = bench.undo_steps();
    bench.drag(&[(-30.0, 0.0), (30.0, 0.0)]);
    assert_eq!(bench.undo_steps(), steps + 1);
    let layer = bench.scenario().paint()[&PaintId(1)].clone();
    assert!(layer.contains(DVec2::new(0.0, 7.0)));
    assert!(!layer.contains(DVec2::new(0.0, 9.0)));
    // A second stroke goes into the same layer, and erasing opens a gap.
    bench.drag(&[(0.0, -40.0), (0.0, 40.0)]);
    bench.set(|settings| {
        settings.tools.paint.erase = true;
        settings.tools.paint.radius = 4.0;
    });
    bench.drag(&[(-20.0, -20.0), (-20.0, 20.0)]);
    assert_eq!(bench.scenario().paint().len(), 1);
    let layer = bench.scenario().paint()[&PaintId(1)].clone();
    assert!(layer.contains(DVec2::new(0.0, 30.0)));
    assert!(!layer.contains(DVec2::new(-20.0, 0.0)));
    // The saved file contains the layer.
    let text = to_text(bench.scenario());
    assert_eq!(&from_text(&text).unwrap(), bench.scenario());
    for _ in 0..3 {
        bench.key_with(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(bench.scenario(), &empty);
}

#[test]
fn areas_are_painted_by_their_outlines_erased_saved_and_undone() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 80.0);
    bench.key(Key::I);
    bench.press("By outline");
    let empty = bench.scenario().clone();
    let steps = bench.undo_steps();
    // Drawn corner by corner.
    for (x, y) in [(-30.0, -20.0), (20.0, -20.0), (20.0, 15.0)] {
        bench.click(x, y);
    }
    assert_eq!(bench.undo_steps(), steps);
    bench.key(Key::Enter);
    assert_eq!(bench.undo_steps(), steps + 1);
    let layer = bench.scenario().paint()[&PaintId(1)].clone();
    assert_eq!((layer.outlines.len(), layer.outlines[0].len()), (1, 3));
    assert!(layer.contains(DVec2::new(15.0, -5.0)) && !layer.contains(DVec2::new(-20.0, 5.0)));
    // Drawn freehand, into the same layer.
    bench.drag(&[
        (-60.0, 20.0),
        (-30.0, 20.0),
        (-30.0, 45.0),
        (-60.0, 45.0),
        (-60.0, 21.0),
    ]);
    let layer = bench.scenario().paint()[&PaintId(1)].clone();
    assert_eq!(layer.outlines.len(), 2);
    assert!(layer.contains(DVec2::new(-45.0, 32.0)));
    // The saved file contains both areas.
    let text = to_text(bench.scenario());
    assert_eq!(&from_text(&text).unwrap(), bench.scenario());
    // Two corners do not form an area.
    bench.click(50.0, 50.0);
    bench.click(60.0, 50.0);
    bench.key(Key::Enter);
    assert_eq!(bench.undo_steps(), steps + 2);
    // An outline erases as well; the rest of an area becomes cells.
    bench.press("Erase");
    for (x, y) in [(0.0, -30.0), (40.0, -30.0), (40.0, 30.0), (0.0, 30.0)] {
        bench.click(x, y);
    }
    bench.key(Key::Enter);
    let layer = bench.scenario().paint()[&PaintId(1)].clone();
    assert_eq!(layer.outlines.len(), 1);
    assert!(!layer.contains(DVec2::new(15.0, -5.0)));
    assert!(layer.contains(DVec2::new(-5.0, -15.0)));
    assert_eq!(bench.undo_steps(), steps + 3);
    for _ in 0..3 {
        bench.key_with(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(bench.scenario(), &empty);
}

#[test]
fn layers_have_costs_for_each_vehicle_type_which_follow_its_name() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 80.0);
    bench.ask(Action::Tool(ToolKind::Paint));
    bench.press("New layer");
    bench.press("New layer");
    assert_eq!(bench.scenario().paint().len(), 2);
    // The brush paints in the newest layer.
    bench.drag(&[(-30.0, 0.0), (30.0, 0.0)]);
    assert!(bench.scenario().paint()[&PaintId(1)].cells.is_empty());
    assert!(!bench.scenario().paint()[&PaintId(2)].cells.is_empty());
    bench.press("Blocks all others");
    bench.press("Separate cost for car");
    let cost = |bench: &Bench, key: &str| bench.scenario().paint()[&PaintId(2)].cost_for(key);
    assert_eq!(cost(&bench, "bus"), PaintCost::Blocks);
    assert_eq!(cost(&bench, "car"), PaintCost::Blocks);
    bench.press("Blocks car");
    assert_eq!(cost(&bench, "car"), PaintCost::Adds(32));
    let field = bench.field("Cost for car");
    bench.drag_right(field.center(), 40.0);
    assert!(matches!(cost(&bench, "car"), PaintCost::Adds(more) if more > 32));
    let edit = roadwright_editor::kind_edits::Kind::VehicleType
        .renamed(bench.scenario(), "car", "tank")
        .unwrap();
    bench.ask(Action::Apply("Rename".into(), edit));
    assert!(matches!(cost(&bench, "tank"), PaintCost::Adds(more) if more > 32));
    assert_eq!(cost(&bench, "car"), PaintCost::Blocks);
    bench.press("Delete layer");
    assert_eq!(bench.scenario().paint().len(), 1);
}

#[test]
fn the_hint_about_an_empty_world_is_for_empty_worlds() {
    let mut bench = Bench::empty();
    assert!(bench.scenario().is_empty());
    bench.key(Key::O);
    bench.drag(&[(-20.0, -10.0), (0.0, 0.0)]);
    assert!(!bench.scenario().is_empty());
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert!(bench.scenario().is_empty());
    bench.key(Key::I);
    bench.drag(&[(-20.0, -10.0), (0.0, 0.0)]);
    assert!(!bench.scenario().is_empty());
}

#[test]
fn a_destination_behind_walls_is_listed_before_and_during_the_run() {
    let mut bench = field(&room());
    let codes = |bench: &Bench| -> Vec<Code> {
        let findings = bench.editor().model().findings.1.iter();
        findings.map(|finding| finding.code).collect()
    };
    assert!(codes(&bench).contains(&Code::UnreachableDestination));
    bench.step_run(600);
    let live = bench.live();
    assert_eq!(live.without_path.len(), 1);
    let reason = live.without_path[0].reason.clone().unwrap();
    assert!(reason.contains("walled in"), "{reason}");
    assert!(matches!(
        live.planning.as_ref().unwrap().status,
        PathStatus::NoPath(_)
    ));
    open_problems(&mut bench);
    bench.press("no path: agent 1");
    // The obstacle is removed while the vehicle waits, so it searches again and continues.
    bench.ask(Action::Apply(
        "Open".into(),
        Edit::Obstacle(ObstacleId(2), None),
    ));
    bench.step_run(30);
    assert!(bench.live().without_path.is_empty());
    assert!(!codes(&bench).contains(&Code::UnreachableDestination));
    bench.ask(Action::Speed(f64::INFINITY));
    bench.ask(Action::Do(Command::PlayPause));
    assert!(bench.play_until_arrived(120.0));
}

#[test]
fn painting_and_building_while_it_drives_changes_its_plan() {
    let mut bench = field(&[]);
    bench.step_run(60);
    let straight = bench.live().inspection.clone().unwrap().path;
    assert!(straight.iter().all(|point| point.y.abs() < 1.0));
    // Blocking paint is drawn across its path during the run.
    bench.ask(Action::Tool(ToolKind::Paint));
    bench.press("New layer");
    bench.press("Blocks all others");
    bench.drag(&[(-10.0, -20.0), (-10.0, 20.0)]);
    bench.step_run(60);
    let round = bench.live().inspection.clone().unwrap().path;
    assert!(round.iter().any(|point| point.y.abs() > 20.0), "{round:?}");
    // An obstacle beside the paint, on the side that it passes.
    let side = round
        .iter()
        .find(|point| point.y.abs() > 20.0)
        .unwrap()
        .y
        .signum();
    bench.ask(Action::Tool(ToolKind::Obstacle));
    bench.drag(&[(-14.0, 18.0 * side), (-6.0, 46.0 * side)]);
    assert_eq!(bench.scenario().obstacles().len(), 1);
    bench.step_run(60);
    let other = bench.live().inspection.clone().unwrap().path;
    assert!(
        other.iter().any(|point| -side * point.y > 20.0),
        "{other:?}"
    );
    // All paint is erased again.
    bench.ask(Action::Apply("Erase".into(), Edit::Paint(PaintId(1), None)));
    bench.ask(Action::Speed(f64::INFINITY));
    bench.ask(Action::Do(Command::PlayPause));
    assert!(bench.play_until_arrived(120.0));
    assert!(bench.live().collisions.is_empty());
}

#[test]
fn the_search_is_stepped_through_and_a_measured_path_is_compared() {
    let mut bench = field(&[wall(DVec2::ZERO, DVec2::new(1.0, 40.0))]);
    bench.step_run(120);
    assert_eq!(bench.live().planning.as_ref().unwrap().search, None);
    bench.set(|settings| {
        settings.open_ground.search = true;
        settings.open_ground.costs = true;
        settings.open_ground.forecasts = true;
    });
    let planning = bench.live().planning.clone().unwrap();
    let cells = planning.search.as_ref().unwrap().expanded.len();
    assert!(cells > 50, "{cells}");
    assert!(planning.cells.is_some());
    bench.press_tab("Vehicle");
    let shown = |bench: &Bench| bench.editor().model().settings.open_ground.search_step;
    assert_eq!(shown(&bench), None);
    bench.press("First cell");
    assert_eq!(shown(&bench), Some(1));
    bench.press("One cell forward");
    bench.press("One cell forward");
    bench.press("One cell back");
    assert_eq!(shown(&bench), Some(2));
    bench.press("All cells");
    assert_eq!(shown(&bench), None);
    // A path straight through the wall, clicked with the measure tool.
    bench.key(Key::M);
    bench.click(-45.0, 0.0);
    bench.click(50.0, 0.0);
    bench.key(Key::Enter);
    let comparison = bench.live().planning.as_ref().unwrap().comparison.clone();
    let both = comparison.unwrap();
    assert!(both.other.blocked > 0);
    assert_eq!(both.planned.blocked, 0);
    assert!((both.other.length - 95.0).abs() < 2.0);
    assert!(both.planned.length > 95.0);
    let says = bench
        .harness
        .query_by_label_contains("The measured path crosses");
    assert!(says.is_some());
    // Escape clears the measured line, which also ends the comparison.
    bench.key(Key::Escape);
    assert_eq!(bench.live().planning.as_ref().unwrap().comparison, None);
}
