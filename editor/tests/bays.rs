//! Parking bays: drawing rows of them, and sending vehicles into them.

use crate::common::Bench;
use egui::{Key, Modifiers};
use roadwright_editor::model::Action;
use roadwright_editor::tools::{BayKind, ToolKind};
use roadwright_geometry::math::wrap_angle;
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::{
    Agent, AgentId, Edit, Place, PointOfInterest, Scenario, Slot, VehicleType,
};
use std::f64::consts::{FRAC_PI_2, PI};

/// Draws a street that is 6.5 m wide from west to east, and selects the place tool.
fn street() -> Bench {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 60.0);
    bench.ask(Action::Tool(ToolKind::Road));
    bench.drag(&[(-60.0, 0.0), (60.0, 0.0)]);
    bench.ask(Action::Tool(ToolKind::Place));
    bench
}

fn choose(bench: &mut Bench, kind: BayKind) {
    bench.set(|settings| settings.tools.bays.kind = kind);
}

fn bays(bench: &Bench) -> Vec<PointOfInterest> {
    bench
        .scenario()
        .points_of_interest()
        .values()
        .cloned()
        .collect()
}

fn assert_at(bay: &PointOfInterest, x: f64, y: f64, heading: f64) {
    let off = (bay.x.get() - x).abs().max((bay.y.get() - y).abs());
    let turned = wrap_angle(bay.heading.unwrap() - heading).abs();
    assert!(
        off < 0.3 && turned < 0.02,
        "{bay:?} instead of {x} {y} {heading}"
    );
}

fn problems(scenario: &Scenario) -> Vec<Code> {
    check(scenario)
        .into_iter()
        .map(|finding| finding.code)
        .collect()
}

#[test]
fn rows_of_bays_are_drawn_along_a_kerb() {
    let mut bench = street();
    let steps = bench.undo_steps();
    choose(&mut bench, BayKind::Parallel);
    // Drawn against the traffic on this side, but the parked vehicles still face in the direction
    // of traffic.
    bench.drag(&[(-10.0, -4.0), (-35.0, -6.0)]);
    let row = bays(&bench);
    assert_eq!(row.len(), 4);
    for (bay, number) in row.iter().zip(0u32..) {
        assert_at(bay, -13.0 - 6.0 * f64::from(number), -4.5, 0.0);
        assert_eq!(bay.name, format!("Bay {}", number + 1));
    }
    assert_eq!(bench.undo_steps(), steps + 1);
    assert_eq!(bench.editor().model().selection.len(), 4);
    // On the other side, traffic drives to the west.
    bench.drag(&[(-35.0, 4.0), (-10.0, 4.0)]);
    assert_at(&bays(&bench)[4], -32.0, 4.5, PI);
    assert_eq!(bays(&bench)[4].name, "Bay 5");
    choose(&mut bench, BayKind::Perpendicular);
    bench.drag(&[(10.0, -3.0), (22.0, -3.0)]);
    let row = bays(&bench).split_off(8);
    assert_eq!(row.len(), 4);
    assert_at(&row[0], 11.25, -5.85, -FRAC_PI_2);
    choose(&mut bench, BayKind::Angled);
    bench.drag(&[(10.0, 3.0), (22.0, 3.0)]);
    let row = bays(&bench).split_off(12);
    assert_eq!(row.len(), 4);
    // The vehicles turn right, out of the westbound traffic.
    for bay in &row {
        assert!(
            wrap_angle(bay.heading.unwrap() - (PI - PI / 3.0)).abs() < 0.02,
            "{bay:?}"
        );
    }
    assert_eq!(problems(bench.scenario()), []);
    for _ in 0..4 {
        bench.key_with(Modifiers::COMMAND, Key::Z);
    }
    assert_eq!(bays(&bench), []);
}

#[test]
fn rows_over_open_ground_lie_on_the_left_of_the_drag_or_on_its_right() {
    let mut bench = street();
    choose(&mut bench, BayKind::Perpendicular);
    bench.drag(&[(-20.0, 30.0), (-9.0, 30.0)]);
    assert_eq!(bays(&bench).len(), 4);
    assert_at(&bays(&bench)[0], -18.75, 32.6, FRAC_PI_2);
    bench.drag_with(&[(-20.0, 20.0), (-9.0, 20.0)], Modifiers::SHIFT);
    assert_at(&bays(&bench)[4], -18.75, 17.4, -FRAC_PI_2);
    // With Ctrl, the row does not snap to the kerb. The bays are then on the street, which `check` reports.
    bench.drag_with(&[(0.0, -3.2), (3.0, -3.2)], Modifiers::CTRL);
    assert_at(&bays(&bench)[8], 1.25, -0.6, FRAC_PI_2);
    assert!(problems(bench.scenario()).contains(&Code::BayOnRoad));
    // A click still adds a place without a heading, and a short drag adds a single bay.
    bench.click(40.0, 40.0);
    assert!(bays(&bench).last().unwrap().heading.is_none());
    bench.drag(&[(40.0, 20.0), (41.0, 20.0)]);
    assert_eq!(bays(&bench).len(), 11);
}

#[test]
fn a_vehicle_is_sent_into_a_bay_by_its_destination() {
    let mut bench = street();
    choose(&mut bench, BayKind::Perpendicular);
    bench.drag(&[(0.0, -3.2), (7.5, -3.2)]);
    let bay = bays(&bench)[1].clone();
    bench.ask(Action::Tool(ToolKind::Vehicle));
    bench.drag(&[(-45.0, -1.6), (bay.x.get() + 0.4, bay.y.get() - 1.0)]);
    let agent = bench.scenario().agents()[&AgentId(1)].clone();
    assert_eq!(agent.stack, "parking");
    assert_parked(&agent, &bay);
    let stack = bench.scenario().stacks()["parking"].clone();
    assert_eq!(
        stack.settings(Slot::GroundPlanner)[0].module,
        "drivable_path"
    );
    // The stack and the vehicle were added in one step.
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert!(!bench.scenario().stacks().contains_key("parking"));
}

#[test]
fn a_destination_is_dragged_into_a_bay() {
    let mut bench = street();
    choose(&mut bench, BayKind::Parallel);
    bench.drag(&[(0.0, -3.2), (13.0, -3.2)]);
    let bay = bays(&bench)[1].clone();
    let agent = Agent {
        name: String::new(),
        vehicle: "car".into(),
        stack: "idm".into(),
        dynamics: None,
        start: Place::ground(-40.0, -20.0, 0.0),
        via: Vec::new(),
        destination: Some(Place::ground(30.0, -30.0, 0.0)),
        depart: 0.0.into(),
        repeat: None.into(),
        speed: 0.0.into(),
    };
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    bench.ask(Action::Apply("Add".into(), edit));
    bench.ask(Action::Tool(ToolKind::Select));
    bench.click(-40.0, -20.0);
    bench.drag(&[(30.0, -30.0), (20.0, -20.0), (bay.x.get(), bay.y.get())]);
    let agent = bench.scenario().agents()[&AgentId(1)].clone();
    assert_parked(&agent, &bay);
    assert_eq!(agent.stack, "parking");
}

/// Asserts that the agent's destination is the parking position in a bay.
fn assert_parked(agent: &Agent, bay: &PointOfInterest) {
    let axle = bay
        .parked()
        .unwrap()
        .point(-VehicleType::car().body_centre(), 0.0);
    let Some(Place::Ground(place)) = agent.destination else {
        panic!("{agent:?}");
    };
    let off = (place.x.get() - axle.x)
        .abs()
        .max((place.y.get() - axle.y).abs());
    assert!(off < 1e-6, "{place:?}, {axle}");
    assert!(wrap_angle(place.heading.get() - bay.heading.unwrap()).abs() < 1e-6);
}
