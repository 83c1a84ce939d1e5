//! User stories with the real editor: all tools used by drags and clicks, playing, files, and keys.

mod files;
mod land;
mod roads;
mod selection;
mod stacks;
mod trips;
mod window;

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use roadwright_editor::model::{Action, Dialog, Next, Purpose};
use roadwright_editor::tools::{MapPart, ObstacleKind, TerrainMode, ToolKind};
use roadwright_geometry::DVec2;
use roadwright_scenario::operation::Objects;
use roadwright_scenario::{
    DrivingSide, DynamicsLevel, LandId, LandUse, Node, ObjectId, Place, PointOfInterestId, RoadId,
    Shape,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn undo_gives_back(bench: &mut Bench, before: &roadwright_scenario::Scenario) {
    let after = bench.scenario().clone();
    assert_ne!(&after, before);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), before);
    bench.key_with(Modifiers::COMMAND, Key::Y);
    assert_eq!(bench.scenario(), &after);
}

#[test]
fn from_an_empty_world_to_a_car_through_a_junction_in_six_actions() {
    let mut bench = Bench::empty();
    bench.look_at(0.0, 0.0, 150.0);
    // 1 and 2: two roads; New has selected the road tool. Their crossing is a junction.
    assert_eq!(bench.editor().model().tool, ToolKind::Road);
    bench.drag(&[(-120.0, 0.0), (120.0, 0.0)]);
    bench.drag(&[(0.0, -100.0), (0.0, 100.0)]);
    assert_eq!(bench.scenario().network().road_count(), 4);
    // 3: the vehicle tool. 4: from the start to the destination. 5: play.
    bench.key(Key::A);
    bench.drag(&[(-100.0, -1.6), (1.6, 80.0)]);
    let agent = bench.scenario().agents().values().next().unwrap();
    assert!(matches!(agent.start, Place::Lane(_)), "{agent:?}");
    assert!(
        matches!(agent.destination, Some(Place::Lane(_))),
        "{agent:?}"
    );
    bench.ask(Action::Speed(f64::INFINITY));
    bench.key(Key::Space);
    let arrived = bench.play_until_arrived(120.0);
    assert!(arrived);
    assert!(
        bench.editor().model().findings.1.is_empty(),
        "{:?}",
        bench.editor().model().findings
    );
}

fn right_click(bench: &mut Bench, x: f64, y: f64) {
    let at = bench.at(x, y);
    bench.harness.hover_at(at);
    bench.harness.step();
    for pressed in [true, false] {
        bench.harness.event(egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Secondary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        bench.harness.step();
    }
    bench.settle();
}
