//! Random input of thousands of tool events. The document must stay valid after each of them.

use roadwright_editor::document::Document;
use roadwright_editor::route_source::RouteSource;
use roadwright_editor::scene::Scene;
use roadwright_editor::tools::{
    Effect, Modifiers, ObstacleKind, Pointer, TerrainMode, ToolContext, ToolEvent, ToolKind,
    ToolOptions,
};
use roadwright_geometry::DVec2;
use roadwright_geometry::math::Stream;
use roadwright_scenario::check::{Code, check};
use roadwright_scenario::operation::{self, Motion, Objects};
use roadwright_scenario::{ObjectId, Scenario, file};
use roadwright_testing::{scaled, seed};
use std::sync::Arc;

/// Number of events in a nightly run. The four runs together make 10,000.
const EVENTS: u64 = 2_500;

struct Hand {
    stream: Stream,
    document: Document,
    scene: Arc<Scene>,
    selection: Objects,
    options: ToolOptions,
    routes: RouteSource,
    kind: ToolKind,
    tool: Box<dyn roadwright_editor::tools::Tool>,
    pressed: bool,
    at: DVec2,
    scale: f64,
}

impl Hand {
    fn new(seed: u64) -> Self {
        Self {
            stream: Stream::new(seed, "hand", 0),
            document: Document::new(Scenario::new("fuzz")),
            scene: Arc::new(Scene::empty()),
            selection: Objects::new(),
            options: ToolOptions::default(),
            routes: RouteSource::default(),
            kind: ToolKind::Select,
            tool: ToolKind::Select.tool(),
            pressed: false,
            at: DVec2::ZERO,
            scale: 0.3,
        }
    }

    fn chance(&mut self, share: f64) -> bool {
        self.stream.next_unit() < share
    }

    /// Moves the pointer. It sometimes jumps, and sometimes returns to an existing object.
    fn wander(&mut self) {
        let scenario = self.document.scenario().clone();
        if self.chance(0.15) && scenario.network().node_count() > 0 {
            let nodes: Vec<DVec2> = scenario
                .network()
                .nodes()
                .map(|(_, n)| n.position())
                .collect();
            self.at = nodes[self.stream.next_index(nodes.len())];
        } else {
            let reach = if self.chance(0.1) { 150.0 } else { 25.0 };
            let step = DVec2::new(
                self.stream.next_in(-reach, reach),
                self.stream.next_in(-reach, reach),
            );
            self.at = (self.at + step).clamp(DVec2::splat(-200.0), DVec2::splat(200.0));
        }
    }

    fn pointer(&mut self) -> Pointer {
        Pointer {
            at: self.at,
            modifiers: Modifiers {
                shift: self.chance(0.1),
                ctrl: self.chance(0.1),
                alt: self.chance(0.05),
            },
        }
    }

    fn send(&mut self, event: ToolEvent) {
        let context = ToolContext {
            scenario: self.document.scenario(),
            scene: &self.scene,
            selection: &self.selection,
            options: &self.options,
            scale: self.scale,
            routes: &self.routes,
            taken: &[],
        };
        let _ = self.tool.marks(&context);
        let _ = self.tool.status(&context);
        for effect in self.tool.event(event, &context) {
            match effect {
                // A refused edit must leave the document unchanged, which is tested here.
                Effect::Apply(label, edit) => drop(self.document.apply(&label, edit)),
                Effect::Preview(label, edit) => drop(self.document.preview(&label, edit)),
                Effect::Commit => self.document.commit(),
                Effect::Abort => self.document.abort(),
                Effect::Select(objects) => self.selection = objects,
                Effect::MoveOverlay(_)
                | Effect::ScaleOverlay(_)
                | Effect::Explain(..)
                | Effect::Measured(_)
                | Effect::Refuse(_) => {}
            }
        }
    }

    fn change_options(&mut self) {
        let kinds = [
            ObstacleKind::Box,
            ObstacleKind::Circle,
            ObstacleKind::Polygon,
        ];
        let modes = [
            TerrainMode::Raise,
            TerrainMode::Lower,
            TerrainMode::Smooth,
            TerrainMode::Flatten,
        ];
        self.options.obstacle.kind = kinds[self.stream.next_index(3)];
        self.options.terrain.mode = modes[self.stream.next_index(4)];
        self.options.forest.erase = self.chance(0.4);
        self.options.paint.erase = self.chance(0.4);
        let uses = roadwright_scenario::LandUse::ALL;
        self.options.land = uses[self.stream.next_index(uses.len())];
        self.options.preset = self.stream.next_index(self.options.presets.len());
        self.options.layer = [None, Some(0), Some(1)][self.stream.next_index(3)];
        self.options.snap.grid = self.chance(0.3);
    }

    /// Applies the effect of a key to the document.
    fn command(&mut self) {
        let scenario = self.document.scenario().clone();
        match self.stream.next_index(6) {
            0 => drop(self.document.undo()),
            1 => drop(self.document.redo()),
            2 if self.chance(0.3) => {
                let edit = operation::deleted(&scenario, &self.selection);
                self.document.apply("Delete", edit).unwrap();
                self.selection.clear();
            }
            3 if self.selection.len() < 8 && scenario.network().road_count() < 60 => {
                let piece = operation::copied(&scenario, &self.selection);
                let motion = Motion::shift(DVec2::new(40.0, -40.0));
                let (edit, objects) = operation::pasted(&scenario, &piece, &motion).unwrap();
                self.document.apply("Duplicate", edit).unwrap();
                self.selection = objects;
            }
            4 => {
                let road = scenario.network().roads().next().map(|(id, _)| id);
                if let Some(edit) = road.and_then(|id| operation::reversed(&scenario, id).ok()) {
                    self.document.apply("Reverse", edit).unwrap();
                }
            }
            5 => {
                let nodes: Vec<_> = scenario.network().nodes().map(|(id, _)| id).collect();
                let merged = nodes
                    .into_iter()
                    .find_map(|id| operation::merged(&scenario, id).ok());
                if let Some(edit) = merged {
                    // A road that became too sharp is refused; nothing else may be.
                    drop(self.document.apply("Merge", edit));
                }
            }
            _ => {}
        }
    }

    /// Deletes most of a town that has grown too large, because it would make the checks slow.
    fn thin_out(&mut self) {
        let scenario = self.document.scenario().clone();
        if self.tool.is_busy() || scenario.network().road_count() < 90 {
            return;
        }
        let roads = scenario.network().roads().skip(8);
        let objects = roads.map(|(id, _)| ObjectId::Road(id)).collect();
        let edit = operation::deleted(&scenario, &objects);
        self.document.apply("Thin out", edit).unwrap();
        self.selection.clear();
    }

    fn event(&mut self) {
        self.thin_out();
        self.wander();
        let pointer = self.pointer();
        if self.pressed {
            if self.chance(0.75) {
                self.send(ToolEvent::Drag(pointer));
            } else {
                self.pressed = false;
                self.send(ToolEvent::Release(pointer));
            }
            return;
        }
        match self.stream.next_index(14) {
            0..=4 => {
                self.pressed = true;
                self.send(ToolEvent::Press(pointer));
            }
            5 | 6 => self.send(ToolEvent::Move(pointer)),
            7 | 8 => {
                self.send(ToolEvent::Press(pointer));
                self.send(ToolEvent::Click(pointer));
                if self.chance(0.2) {
                    self.send(ToolEvent::DoubleClick(pointer));
                }
            }
            9 => self.send(ToolEvent::Enter),
            10 => {
                let events = [ToolEvent::Backspace, ToolEvent::Escape];
                let event = events[self.stream.next_index(2)];
                self.send(event);
            }
            11 => {
                let c = ['1', '7', '.', '<', '-', 'x'][self.stream.next_index(6)];
                self.send(ToolEvent::Type(c));
            }
            12 => self.command(),
            _ => {
                if self.tool.is_busy() {
                    self.send(ToolEvent::Escape);
                    self.document.abort();
                }
                self.kind = ToolKind::ALL[self.stream.next_index(ToolKind::ALL.len())];
                self.tool = self.kind.tool();
                self.change_options();
                self.scale = [0.05, 0.3, 1.5][self.stream.next_index(3)];
            }
        }
    }
}

/// Whether a finding occurs only in an invalid document whose objects do not fit together.
fn is_structural(code: Code) -> bool {
    matches!(code, Code::JointGap | Code::DanglingRestriction)
}

fn run(number: u64) {
    let seed = seed(0).wrapping_add(number);
    let mut hand = Hand::new(seed);
    let (mut derived, mut checked) = (0, 0);
    let events = scaled(EVENTS);
    for number in 0..events {
        hand.event();
        let scenario = hand.document.scenario().clone();
        // The scene lags behind as in the window.
        if hand.document.revision() != derived && hand.chance(0.7) {
            derived = hand.document.revision();
            hand.scene = Arc::new(Scene::after(
                scenario.clone(),
                derived,
                &hand.scene,
                &|_| (),
            ));
        }
        if hand.document.revision() == checked {
            continue;
        }
        checked = hand.document.revision();
        let broken: Vec<_> = check(&scenario)
            .into_iter()
            .filter(|finding| is_structural(finding.code))
            .collect();
        assert!(broken.is_empty(), "seed {seed}, event {number}: {broken:?}");
    }
    hand.document.abort();
    // The resulting scenario can be written and read.
    let scenario = hand.document.scenario();
    assert_eq!(
        &file::from_text(&file::to_text(scenario)).unwrap(),
        &**scenario
    );
    let full = scenario.clone();
    let steps = hand.document.history().undo_labels().count();
    assert!(
        steps as u64 > events / 125,
        "the random input changed hardly anything"
    );
    hand.document.go_to(0);
    assert_eq!(**hand.document.scenario(), Scenario::new("fuzz"));
    hand.document.go_to(steps);
    assert_eq!(hand.document.scenario(), &full);
}

#[test]
fn random_hands_never_break_the_document_1() {
    run(1);
}

#[test]
fn random_hands_never_break_the_document_2() {
    run(2);
}

#[test]
fn random_hands_never_break_the_document_3() {
    run(3);
}

#[test]
fn random_hands_never_break_the_document_4() {
    run(4);
}
