//! The Moves panel: from the first recorded clip to a vehicle that drives with it.

use crate::common::Bench;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use roadwright_editor::command::Command;
use roadwright_editor::model::{Action, Purpose};
use roadwright_editor::moves::{DrawnMove, Execution, GraphEdit, MovesAction, ShownLibrary, Trim};
use roadwright_editor::panel::PanelId;
use roadwright_moves::{Corridor, MoveFile, Racer};
use roadwright_scenario::{AgentId, DynamicsLevel, Edit, ObjectId, file};
use roadwright_simulation::SteeringLock;
use std::collections::BTreeSet;

/// Id of the racer on generated tracks.
const RACER: u64 = 1;

/// Creates a wide straight track with a racer at its beginning, as `roadwright generate track`
/// writes it.
pub(crate) fn practice() -> Bench {
    let corridor = Corridor {
        length: 400.0,
        corners: 0,
        sharpness: 0.8,
        width: 80.0,
        seed: 1,
    };
    let course = corridor.course("track", None, 600.0).with_seed(1);
    let scenario = course.scenario("Practice.", &Racer::default()).unwrap();
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let path = folder.path().join("practice.scenario.json");
    std::fs::write(&path, file::text_at(&scenario, &path)).unwrap();
    let mut bench = Bench::open_in(folder, Some(path));
    bench.close_dialog();
    // Time advances only by explicit steps.
    bench.ask(Action::Speed(0.0));
    bench.step_run(1);
    bench.ask(Action::Watch(Some(RACER)));
    bench
}

/// Holds keys for a time, s.
fn drive(bench: &mut Bench, keys: &[Key], seconds: f64) {
    for key in keys {
        bench.hold_key(*key);
    }
    bench.step_run((seconds / 0.02).round() as usize);
    for key in keys {
        bench.release_key(*key);
    }
}

/// Records a clip of driving off, turning left and right, and stopping.
pub(crate) fn record(bench: &mut Bench) {
    bench.ask(Action::Do(Command::Drive));
    bench.key(Key::E);
    drive(bench, &[], 1.0);
    drive(bench, &[Key::W], 1.5);
    drive(bench, &[Key::A], 1.0);
    drive(bench, &[], 1.0);
    drive(bench, &[Key::D], 1.0);
    drive(bench, &[], 1.0);
    // Once the vehicle stands, braking would put it into reverse.
    for _ in 0..40 {
        if bench.live().snapshot.vehicle(RACER).unwrap().speed < 0.5 {
            break;
        }
        drive(bench, &[Key::S], 0.1);
    }
    drive(bench, &[], 2.0);
    bench.key(Key::E);
    bench.ask(Action::Drive(None));
}

fn has_text(bench: &Bench, text: &str) -> bool {
    bench.harness.query_all_by_label_contains(text).count() > 0
}

/// Whether a text is shown. A new message takes a frame to find its size.
fn says(bench: &mut Bench, text: &str) -> bool {
    bench.settle();
    has_text(bench, text)
}

fn select_racer(bench: &mut Bench) {
    let racer = ObjectId::Agent(AgentId(RACER as u32));
    bench.ask(Action::Select(BTreeSet::from([racer])));
}

#[test]
fn a_recorded_clip_becomes_a_library_with_which_the_vehicle_drives() {
    let mut bench = practice();
    record(&mut bench);
    // The key has opened the panel, and the clip is listed with its length and ends.
    let clips = bench.editor().model().moves.clips.clone();
    assert_eq!(clips.len(), 1);
    let frames = clips[0].frames.len();
    assert!((180..=350).contains(&frames), "{frames}");
    assert!(has_text(&bench, " to 0.0 m/s"), "ends of the clip");
    let top = clips[0].frames.iter().map(|frame| frame.forward);
    assert!(top.fold(0.0, f64::max) > 5.0);
    let turned = clips[0].frames.iter().any(|frame| frame.yaw_rate > 0.3);
    assert!(turned, "the vehicle has turned");
    // Dragging the handle trims the clip.
    let start = bench.scroll_to("Start of clip 1");
    bench.drag_right(start.center(), 12.0);
    let trim = bench.editor().model().moves.clips[0].trim;
    assert!(trim.first > 0 && trim.last == frames - 1, "{trim:?}");
    bench.press("Mirror clip 1");
    // The ghost is on the map while the pointer is on the row.
    let curve = bench.scroll_to("End of clip 1").center();
    bench.harness.hover_at(curve);
    bench.settle();
    assert_eq!(bench.editor().model().moves.hovered, Some(0));
    bench.press("Build");
    assert_eq!(bench.editor().model().moves.hovered, None);
    let built = bench.editor().model().moves.built.clone().unwrap();
    assert!(
        built.loaded.is_ok(),
        "{:?} {}",
        built.loaded.as_ref().err(),
        built.summary()
    );
    assert_eq!(built.clips.file.clips.len(), 2);
    assert!(has_text(&bench, "Distance matrix: "));
    assert!(has_text(&bench, &built.summary()));
    // The library is assigned to the selected vehicle in one step.
    assert!(has_text(&bench, "0 vehicles selected"));
    select_racer(&mut bench);
    let before = bench.scenario().clone();
    bench.press("Use");
    let agent = bench.scenario().agents()[&AgentId(1)].clone();
    let planner = bench.scenario().stacks()[&agent.stack]
        .ground_planner
        .clone();
    assert_eq!(planner.unwrap().parameters["library"], 5.0);
    bench.ask(Action::Do(Command::Reset));
    bench.step_run(400);
    let seen = bench.live().moves.clone().unwrap();
    let current = seen.current.clone();
    let current = current.unwrap_or_else(|| panic!("{:?}", seen.problem));
    assert_eq!(current.library, "moves/my-moves.moves.json");
    assert!(current.distance < 1e-6, "{}", current.distance);
    assert!(seen.route.len() > 2);
    let tree = seen.tree.clone().unwrap();
    assert!(tree.tested > 1 && tree.branches.len() == tree.nodes.min(4000));
    assert!(has_text(&bench, "drives "));
    let own = bench.live().snapshot.vehicle(RACER).unwrap().pose;
    assert!((own.position - current.pose.position).length() < 1e-6);
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.scenario(), &before);
}

#[test]
fn what_cannot_be_recorded_or_used_is_said() {
    let mut bench = practice();
    bench.ask(Action::Watch(None));
    bench.key(Key::E);
    assert!(says(
        &mut bench,
        "Click the vehicle that you want to record first"
    ));
    bench.ask(Action::Do(Command::Panel(PanelId::Moves)));
    bench.ask(Action::Moves(MovesAction::Build));
    assert!(says(&mut bench, "there are no clips"));
    bench.ask(Action::Moves(MovesAction::Use));
    assert!(says(&mut bench, "Build a library first"));
    bench.ask(Action::Moves(MovesAction::Show(ShownLibrary::Shipped(
        "large",
    ))));
    bench.ask(Action::Moves(MovesAction::Use));
    assert!(says(&mut bench, "First select the vehicles"));
    assert!(
        says(&mut bench, "Graph of 7 states and 37 moves") || {
            bench
                .harness
                .query_by_label("Graph of 7 states and 37 moves")
                .is_some()
        }
    );
    select_racer(&mut bench);
    let mut agent = bench.scenario().agents()[&AgentId(1)].clone();
    agent.dynamics = Some(DynamicsLevel::Lane);
    let edit = Edit::Agent(AgentId(1), Some(Box::new(agent)));
    bench.ask(Action::Apply("Level".into(), edit));
    bench.ask(Action::Moves(MovesAction::Use));
    assert!(says(&mut bench, "drives at the level lane"));
    // The vehicle's own level records and drives.
    bench.key_with(Modifiers::COMMAND, Key::Z);
    bench.ask(Action::Moves(MovesAction::Execution(Execution::Replayed)));
    bench.press("Use");
    let agent = bench.scenario().agents()[&AgentId(1)].clone();
    let planner = bench.scenario().stacks()[&agent.stack]
        .ground_planner
        .clone();
    let parameters = planner.unwrap().parameters;
    assert_eq!(
        (parameters.get("library"), parameters["execution"]),
        (None, 1.0)
    );
    // A clip with a single frame is refused.
    bench.ask(Action::Watch(Some(RACER)));
    bench.key(Key::E);
    bench.key(Key::E);
    assert!(says(&mut bench, "fewer than two frames"));
    // 30 frames per second do not fit the time step.
    bench.ask(Action::Moves(MovesAction::Rate(30.0)));
    bench.key(Key::E);
    assert!(says(&mut bench, "30 frames a second"));
    assert!(bench.live().clip.is_none());
}

#[test]
fn a_clip_ends_before_a_contact_and_clips_are_saved_and_opened() {
    let mut bench = practice();
    bench.ask(Action::Do(Command::Drive));
    bench.key(Key::E);
    // The vehicle drives straight into the wall at the side.
    drive(&mut bench, &[Key::W, Key::A], 2.0);
    for _ in 0..60 {
        if !bench.editor().model().moves.clips.is_empty() {
            break;
        }
        drive(&mut bench, &[Key::W], 0.2);
    }
    let clip = bench.editor().model().moves.clips.first().cloned();
    let clip = clip.expect("the contact has ended the clip");
    assert!(bench.live().clip.is_none());
    assert!(!bench.live().collisions.is_empty());
    let contact = bench.live().collisions[0].time;
    assert!(says(&mut bench, "before the vehicle hits"));
    let seconds = (clip.frames.len() - 1) as f64 / 25.0;
    assert!(seconds < contact, "{seconds} {contact}");
    bench.ask(Action::Drive(None));
    bench.ask(Action::Moves(MovesAction::Trim(
        0,
        Trim { first: 5, last: 60 },
    )));
    bench.ask(Action::Moves(MovesAction::Rename(0, "off".into())));
    let own = bench.editor().model().moves.file().unwrap();
    let path = bench.folder.path().join("kept.clips.json");
    std::fs::write(&path, own.to_text()).unwrap();
    bench.ask(Action::Moves(MovesAction::Remove(0)));
    assert!(bench.editor().model().moves.source.is_none());
    bench.ask(Action::Path(path.clone(), Purpose::OpenClips, None));
    assert_eq!(bench.editor().model().moves.name, "kept");
    assert_eq!(bench.editor().model().moves.file().unwrap(), own);
    std::fs::write(&path, "{").unwrap();
    bench.ask(Action::Path(path, Purpose::OpenClips, None));
    assert!(says(&mut bench, "kept.clips.json"));
    assert_eq!(bench.editor().model().moves.file().unwrap(), own);
}

/// Records a clip of the racer for a time, s, while keys are held.
fn clip(bench: &mut Bench, keys: &[Key], seconds: f64) {
    bench.key(Key::E);
    drive(bench, keys, seconds);
    bench.key(Key::E);
}

#[test]
fn a_graph_is_drawn_by_hand_undone_used_and_saved() {
    let mut bench = practice();
    bench.ask(Action::Do(Command::Drive));
    clip(&mut bench, &[], 1.0);
    clip(&mut bench, &[Key::W], 1.0);
    clip(&mut bench, &[], 1.0);
    bench.ask(Action::Drive(None));
    assert_eq!(bench.editor().model().moves.clips.len(), 3);
    let show = MovesAction::Show(ShownLibrary::Drawn);
    bench.ask(Action::Moves(show));
    bench.settle();
    for _ in 0..3 {
        bench.press("Add state");
    }
    bench.ask(Action::Moves(MovesAction::Draw(GraphEdit::RenameState(
        0,
        "Stop".into(),
    ))));
    bench.settle();
    assert!(has_text(&bench, "Graph of 3 states and 0 moves"));
    assert!(has_text(&bench, "No move leaves \"Stop\"."));
    // A clip is dragged from one state to the next, as in the picture.
    let picture = bench.scroll_to("Graph of 3 states and 0 moves");
    let place = |share: f32| {
        let margin = 34.0;
        let width = picture.width() - 2.0 * margin;
        egui::pos2(picture.left() + margin + share * width, picture.center().y)
    };
    // States without clips are evenly spaced.
    bench.drag_right(place(0.0), place(0.275).x - place(0.0).x);
    bench.settle();
    let moves = bench.editor().model().moves.drawn.graph().moves.clone();
    assert_eq!(moves.len(), 1, "{moves:?}");
    assert_eq!((moves[0].clip.as_str(), moves[0].stretch), ("clip 1", None));
    assert_ne!(moves[0].from, moves[0].to);
    // While the pointer is on the diagram, the keys undo and redo steps of the graph instead of the
    // scenario.
    let before = bench.scenario().clone();
    let picture = bench.scroll_to("Graph of 3 states and 1 move");
    bench
        .harness
        .hover_at(picture.center_bottom() - egui::vec2(0.0, 6.0));
    bench.settle();
    bench.key_with(Modifiers::COMMAND, Key::Z);
    assert!(bench.editor().model().moves.drawn.graph().moves.is_empty());
    bench.key_with(Modifiers::COMMAND, Key::Y);
    assert_eq!(bench.editor().model().moves.drawn.graph().moves, moves);
    assert_eq!(bench.scenario(), &before);
    bench.press("Remove move 1");
    bench.press("Remove state 3");
    bench.press("Add move");
    let link = |clip: &str, from, to| {
        let one = DrawnMove {
            clip: clip.into(),
            stretch: None,
            from,
            to,
        };
        Action::Moves(MovesAction::Draw(GraphEdit::AddMove(one)))
    };
    for action in [
        link("clip 1", 0, 0),
        link("clip 2", 0, 1),
        link("clip 3", 1, 1),
    ] {
        bench.ask(action);
    }
    bench.settle();
    assert!(has_text(
        &bench,
        "No moves lead from \"state 2\" back to \"Stop\"."
    ));
    bench.press("Build");
    let built = bench.editor().model().moves.built.clone().unwrap();
    assert!(built.loaded.is_ok(), "{:?}", built.loaded.as_ref().err());
    assert!(has_text(&bench, "2 states, 3 moves, drawn by hand."));
    select_racer(&mut bench);
    bench.press("Use");
    assert!(
        !bench.scenario().vehicle_types()["racer"]
            .move_libraries
            .is_empty()
    );
    // The graph is saved and opened again.
    let path = bench.folder.path().join("own.moves.json");
    bench.ask(Action::Path(path.clone(), Purpose::SaveMoves, None));
    let text = std::fs::read_to_string(&path).unwrap();
    let saved = MoveFile::from_text(&text).unwrap();
    assert_eq!((saved.start.as_str(), saved.moves.len()), ("Stop", 3));
    bench.ask(Action::Moves(MovesAction::Clear));
    bench.ask(Action::Path(path, Purpose::OpenClips, None));
    let opened = bench.editor().model().moves.clone();
    assert_eq!(opened.shown, ShownLibrary::Drawn);
    assert_eq!((opened.name.as_str(), opened.clips.len()), ("own", 3));
    assert_eq!(opened.drawn.graph().states, ["Stop", "state 2"]);
    assert_eq!(opened.drawn.graph().moves.len(), 3);
    // A clip is renamed when the field loses the focus, so that a half-typed name does not take
    // over the moves of another clip.
    let name = |bench: &Bench| bench.editor().model().moves.clips[2].name.clone();
    let retype = |bench: &mut Bench, texts: &[&str]| {
        let field = "Name of clip 3";
        bench.scroll_to(field);
        bench.harness.get_by_label(field).focus();
        bench.harness.step();
        bench.key_with(Modifiers::COMMAND, Key::A);
        for text in texts {
            bench.type_text(text);
            assert_eq!(name(bench), "clip 3");
        }
        bench.key(Key::Enter);
    };
    retype(&mut bench, &["clip 1"]);
    assert!(says(&mut bench, "is called \"clip 1\""));
    assert_eq!(name(&bench), "clip 3");
    retype(&mut bench, &["clip 1", "b"]);
    assert_eq!(name(&bench), "clip 1b");
    let moves = bench.editor().model().moves.drawn.graph().moves.clone();
    let clips: Vec<&str> = moves.iter().map(|one| one.clip.as_str()).collect();
    assert_eq!(clips, ["clip 1", "clip 2", "clip 1b"]);
    // If a clip is trimmed where a move begins, the library is not built.
    let trim = Trim { first: 3, last: 20 };
    bench.ask(Action::Moves(MovesAction::Trim(0, trim)));
    bench.press("Build");
    assert!(says(&mut bench, "Frames 0-2 and "));
    // A graph without a limit on speed jumps is saved without one, and a graph of other clips is
    // reported.
    let path = bench.folder.path().join("own.moves.json");
    let jumping = MoveFile {
        threshold: None,
        clips_hash: "0".into(),
        ..saved
    };
    std::fs::write(&path, jumping.to_text()).unwrap();
    bench.ask(Action::Path(path.clone(), Purpose::OpenClips, None));
    bench.settle();
    assert!(has_text(
        &bench,
        "Speeds may jump in this graph, as in its file."
    ));
    assert!(has_text(&bench, "The clips have changed since"));
    bench.press("Build");
    let built = bench.editor().model().moves.built.clone().unwrap();
    assert_eq!(built.built.graph.threshold, None);
    bench.press("Use the threshold of the rules");
    bench.settle();
    assert!(!has_text(&bench, "Speeds may jump in this graph"));
    // A graph that is too large to be drawn is not opened.
    let large = MoveFile {
        states: (0..400).map(|number| format!("state {number}")).collect(),
        start: "state 0".into(),
        moves: Vec::new(),
        ..jumping
    };
    std::fs::write(&path, large.to_text()).unwrap();
    bench.ask(Action::Path(path, Purpose::OpenClips, None));
    assert!(says(
        &mut bench,
        "Only the clips were opened. A graph with 400 states"
    ));
}

#[test]
fn the_full_lock_is_chosen_by_key_and_reaches_the_vehicle() {
    let mut bench = practice();
    bench.ask(Action::Do(Command::Drive));
    let lock = |bench: &mut Bench| {
        bench.step_run(2);
        bench.live().driven.unwrap().1.lock
    };
    assert_eq!(lock(&mut bench), SteeringLock::Limited);
    bench.key_with(Modifiers::SHIFT, Key::L);
    assert_eq!(lock(&mut bench), SteeringLock::Full);
    assert!(has_text(&bench, "Full lock (Shift+L)"));
    bench.press("Full lock (Shift+L)");
    assert_eq!(lock(&mut bench), SteeringLock::Limited);
}
