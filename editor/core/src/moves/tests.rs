use super::*;
use roadwright_geometry::Pose;
use roadwright_moves::Frame;
use roadwright_scenario::{
    AgentId, DynamicsLevel, Edit, ObjectId, Obstacle, ObstacleId, Scenario, Shape, file,
};
use roadwright_simulation::{RunOptions, World, builtin_modules};
use std::path::Path;

/// Creates a straight drive, given the speed in each frame.
fn drive(speeds: impl IntoIterator<Item = f64>) -> Recording {
    let mut x = 100.0;
    let frames = speeds.into_iter().map(|forward| {
        let pose = Pose::new(x, 50.0, 0.0);
        x += 0.04 * forward;
        Frame {
            pose,
            forward,
            ..Frame::default()
        }
    });
    Recording {
        agent: 1,
        begin: 3.0,
        rate: 25.0,
        frames: frames.collect(),
    }
}

/// Creates a straight drive that speeds up from a standstill to `top` m/s and slows down again, in
/// steps of 0.25 m/s.
fn there_and_back(top: u32) -> Recording {
    let up = (0..=4 * top).map(|step| 0.25 * f64::from(step));
    let down = (0..4 * top).rev().map(|step| 0.25 * f64::from(step));
    drive(up.chain(down).chain([0.0; 12]))
}

fn track() -> Scenario {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/kart-track.scenario.json");
    file::load(&path).unwrap()
}

fn source(scenario: &Scenario) -> ClipSource {
    let agent = scenario.agents().values().next().unwrap();
    let kind = &scenario.vehicle_types()[&agent.vehicle];
    let rows = crate::live::ClipRows {
        agent: 1,
        vehicle_type: agent.vehicle.as_str().into(),
        rate_hz: 25.0,
        rows: Vec::new(),
        grip: 1.0,
        slope: 0.0,
        ended: None,
    };
    ClipSource::of_rows(kind, &rows)
}

fn order(bench: &MoveBench, scenario: &Scenario, clips: TrimmedClips) -> BuildOrder {
    BuildOrder {
        revision: bench.revision,
        name: "mine".into(),
        clips,
        rules: bench.rules,
        drawn: None,
        placed: bench.placed(1),
        scenario: Arc::new(scenario.clone()),
    }
}

fn bench() -> (MoveBench, Scenario) {
    let scenario = track();
    let mut bench = MoveBench::default();
    let name = bench
        .add(source(&scenario), &there_and_back(10), None)
        .unwrap();
    assert_eq!(name, "clip 1");
    (bench, scenario)
}

#[test]
fn clips_of_another_vehicle_or_other_ground_are_refused() {
    let (mut bench, scenario) = bench();
    let own = source(&scenario);
    let short = bench.add(own.clone(), &drive([1.0]), None);
    assert_eq!(short, Err(NotAdded::Short));
    for change in [
        |other: &mut ClipSource| other.ground.grip = 0.8,
        |other: &mut ClipSource| other.ground.slope = 0.1,
        |other: &mut ClipSource| other.rate = 30.0,
        |other: &mut ClipSource| other.vehicle.name = "bus".into(),
    ] {
        let mut other = own.clone();
        change(&mut other);
        let refused = bench.add(other, &there_and_back(5), None);
        assert!(
            matches!(refused, Err(NotAdded::Other { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(
        bench.add(own, &there_and_back(5), None),
        Ok("clip 2".into())
    );
    assert_eq!(bench.revision, 2);
}

#[test]
fn trimmed_and_mirrored_clips_begin_at_the_origin() {
    let (mut bench, _) = bench();
    bench.clips[0].set_trim(Trim {
        first: 4,
        last: 900,
    });
    assert_eq!(bench.clips[0].trim, Trim { first: 4, last: 92 });
    bench.clips[0].set_trim(Trim { first: 4, last: 30 });
    bench.clips[0].is_mirrored = true;
    let file = bench.file().unwrap();
    let names: Vec<&str> = file.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["clip 1", "clip 1 mirrored"]);
    for clip in &file.clips {
        assert_eq!(clip.frames.len(), 27);
        assert_eq!(clip.frames[0].pose, Pose::new(0.0, 0.0, 0.0));
        assert_eq!(clip.frames[0].forward, 1.0);
    }
    // At least two frames are always kept.
    bench.clips[0].set_trim(Trim {
        first: 500,
        last: 0,
    });
    assert_eq!(
        bench.clips[0].trim,
        Trim {
            first: 91,
            last: 92
        }
    );
    bench.clips[0].name.clear();
    assert!(bench.file().is_err());
}

#[test]
fn a_library_built_from_one_drive_is_used_by_its_vehicle() {
    let (mut bench, mut scenario) = bench();
    let file = bench.trimmed().unwrap();
    let built = BuiltLibrary::build(order(&bench, &scenario, file));
    assert!(built.loaded.is_ok(), "{:?}", built.loaded.err());
    let linked = built.linked();
    assert!(linked.iter().any(|one| one.is_used), "{}", built.summary());
    bench.built = Some(Arc::new(built));
    assert!(!bench.is_stale());
    bench.touch();
    assert!(bench.is_stale());
    let library = bench.library().unwrap();
    let registry = builtin_modules();
    let agent = *scenario.agents().keys().next().unwrap();
    let use_it = |scenario: &Scenario, agents: &[AgentId]| {
        use_edit(
            scenario,
            &registry,
            agents,
            &library,
            "moves/mine.moves.json",
            Execution::Played,
        )
    };
    assert_eq!(use_it(&scenario, &[]), Err(UseError::NoAgent));
    let before = scenario.clone();
    let undo = scenario
        .apply(use_it(&scenario, &[agent]).unwrap())
        .unwrap();
    let chosen = scenario.agents()[&agent].clone();
    let planner = scenario.stacks()[&chosen.stack]
        .ground_planner
        .clone()
        .unwrap();
    assert_eq!(planner.module, "move_tree");
    assert_eq!(planner.parameters["library"], 5.0);
    assert!(!planner.parameters.contains_key("execution"));
    let kind = &scenario.vehicle_types()[&chosen.vehicle];
    assert_eq!(kind.move_libraries.len(), 1);
    let options = RunOptions::default();
    World::new(&scenario, &registry, &options).unwrap();
    // Assigning it again changes nothing.
    let again = use_it(&scenario, &[agent]).unwrap();
    let used = scenario.clone();
    scenario.apply(again).unwrap();
    assert_eq!(scenario, used);
    scenario = used;
    scenario.apply(undo).unwrap();
    assert_eq!(scenario, before);
    // The level must be able to drive clips.
    let mut slow = scenario.agents()[&agent].clone();
    slow.dynamics = Some(DynamicsLevel::Lane);
    scenario
        .apply(Edit::Agent(agent, Some(Box::new(slow))))
        .unwrap();
    let refused = use_it(&scenario, &[agent]);
    let level = DynamicsLevel::Lane;
    assert_eq!(refused, Err(UseError::Level { agent, level }));
}

#[test]
fn a_graph_drawn_by_hand_becomes_a_library_and_a_file() {
    let scenario = track();
    let mut bench = MoveBench::default();
    let up = drive((0..=40).map(|step| 0.25 * f64::from(step)));
    let down = drive((0..=40).rev().map(|step| 0.25 * f64::from(step)));
    let stand = drive([0.0; 26]);
    for recording in [&up, &down, &stand] {
        bench.add(source(&scenario), recording, None).unwrap();
    }
    bench.rename(0, "up").unwrap();
    let link = |clip: &str, from, to| {
        GraphEdit::AddMove(DrawnMove {
            clip: clip.into(),
            stretch: None,
            from,
            to,
        })
    };
    for edit in [
        GraphEdit::AddState,
        GraphEdit::AddState,
        GraphEdit::RenameState(0, "Stop".into()),
        link("clip 3", 0, 0),
        link("up", 0, 1),
    ] {
        bench.draw(edit).unwrap();
    }
    let clips = bench.trimmed().unwrap();
    let threshold = bench.rules.threshold;
    let problems = bench.drawn.graph().problems(&clips, threshold);
    assert_eq!(problems.listed, ["No move leaves \"state 2\"."]);
    // The clips are renamed in the graph too, and trimming affects moves of whole clips.
    bench.rename(1, "down").unwrap();
    bench.draw(link("down", 1, 0)).unwrap();
    bench.rename(0, "faster").unwrap();
    let problems = bench.drawn.graph().problems(&clips, threshold);
    assert_eq!((problems.listed.len(), problems.more), (2, 0));
    bench.clips[0].set_trim(Trim { first: 0, last: 20 });
    let clips = bench.trimmed().unwrap();
    let problems = bench.drawn.graph().problems(&clips, threshold);
    assert_eq!(
        problems.listed,
        ["At \"state 2\" the motion jumps by 5.00 from faster to down."]
    );
    bench.clips[0].set_trim(Trim { first: 0, last: 40 });
    let clips = bench.trimmed().unwrap();
    let problems = bench.drawn.graph().problems(&clips, threshold);
    assert_eq!(problems, Problems::default());
    let figure = bench.drawn.graph().figure(&clips);
    assert_eq!(
        (figure.states[0].speed, figure.states[1].speed),
        (0.0, 10.0)
    );
    assert_eq!((figure.states[0].x, figure.states[1].x), (0.0, 1.0));
    assert_eq!(figure.edges.len(), 3);
    let built = BuiltLibrary::build(BuildOrder {
        drawn: Some(bench.drawn.graph().clone()),
        ..order(&bench, &scenario, clips)
    });
    assert!(built.loaded.is_ok(), "{:?}", built.loaded.err());
    let text = built.built.graph.to_text();
    let read = roadwright_moves::MoveFile::from_text(&text).unwrap();
    assert_eq!((read.start.as_str(), read.moves.len()), ("Stop", 3));
    let again = DrawnGraph::of_file(&read, &built.clips.file).unwrap();
    assert_eq!(again.states, bench.drawn.graph().states);
    assert_eq!(again.seams, SeamLimit::AtMost(threshold));
    assert!(!again.is_of_other_clips);
    bench.built = Some(Arc::new(built));
    assert!(bench.library().is_none(), "another library is shown");
    bench.shown = ShownLibrary::Drawn;
    assert!(bench.library().is_some());
    bench.draw(GraphEdit::StartAt(1)).unwrap();
    assert!(bench.is_stale());
}

/// Creates a bench with a move from frame 10 to 30 of a clip that speeds up by 0.25 m/s per frame.
fn stretched() -> (MoveBench, Scenario) {
    let scenario = track();
    let mut bench = MoveBench::default();
    let up = drive((0..=40).map(|step| 0.25 * f64::from(step)));
    bench.add(source(&scenario), &up, None).unwrap();
    bench.draw(GraphEdit::AddState).unwrap();
    let stretch = Some(Stretch {
        first: 10,
        last: 30,
    });
    let one = DrawnMove {
        clip: "clip 1".into(),
        stretch,
        from: 0,
        to: 0,
    };
    bench.draw(GraphEdit::AddMove(one)).unwrap();
    (bench, scenario)
}

#[test]
fn a_name_in_use_is_refused_and_leaves_the_moves_alone() {
    let (mut bench, scenario) = stretched();
    let own = source(&scenario);
    for name in ["clip 2", "clip 3"] {
        assert_eq!(
            bench.add(own.clone(), &there_and_back(2), None),
            Ok(name.into())
        );
    }
    let drawn = bench.drawn.graph().clone();
    let used = |name: &str| Err(NotNamed::Used(name.into()));
    assert_eq!(bench.rename(2, " clip 1 "), used("clip 1"));
    assert_eq!(bench.rename(2, "clip 1 mirrored"), used("clip 1 mirrored"));
    assert_eq!(bench.rename(2, " "), Err(NotNamed::Blank));
    bench.rename(1, "left mirrored").unwrap();
    // Its mirror image would have the same name as the second clip.
    assert_eq!(bench.rename(2, "left"), used("left"));
    assert_eq!(bench.clips[2].name, "clip 3");
    assert_eq!(bench.drawn.graph(), &drawn);
    // The moves of a clip stay distinct from those of its mirror image.
    bench.rename(0, "a mirrored").unwrap();
    let image = DrawnMove {
        clip: "a mirrored mirrored".into(),
        ..bench.drawn.graph().moves[0].clone()
    };
    bench.draw(GraphEdit::AddMove(image)).unwrap();
    bench.rename(0, "a").unwrap();
    let names = bench.drawn.graph().moves.iter();
    let names: Vec<&str> = names.map(|one| one.clip.as_str()).collect();
    assert_eq!(names, ["a", "a mirrored"]);
}

#[test]
fn trimming_keeps_the_frames_of_moves_or_says_that_they_are_cut_off() {
    let (mut bench, scenario) = stretched();
    let speeds = |bench: &MoveBench| {
        let clips = bench.trimmed().unwrap();
        let built = BuiltLibrary::build(BuildOrder {
            drawn: Some(bench.drawn.graph().clone()),
            ..order(bench, &scenario, clips)
        });
        let loaded = built.loaded.as_ref().unwrap();
        let frames = &loaded.library.moves()[0].frames;
        let ends = [frames[0].forward, frames[frames.len() - 1].forward];
        (ends, DrawnGraph::of_built(&built).unwrap())
    };
    assert_eq!(speeds(&bench).0, [2.5, 7.5]);
    bench.clips[0].set_trim(Trim { first: 6, last: 30 });
    let (ends, again) = speeds(&bench);
    assert_eq!(ends, [2.5, 7.5]);
    assert_eq!(again.moves, bench.drawn.graph().moves);
    let problems = |bench: &MoveBench| {
        let clips = bench.trimmed().unwrap();
        (bench.drawn.graph().problems(&clips, 100.0)).listed
    };
    assert!(problems(&bench).is_empty());
    // Trims one frame too many at each end.
    bench.clips[0].set_trim(Trim {
        first: 11,
        last: 29,
    });
    let found = problems(&bench);
    let words = "Frames 10-10 and 30-30 of \"clip 1\" are cut off";
    assert!(found.len() == 1 && found[0].starts_with(words), "{found:?}");
    bench.clips[0].set_trim(Trim { first: 0, last: 5 });
    assert!(problems(&bench)[0].starts_with("Frames 10-30 "));
}

#[test]
fn a_graph_that_was_read_keeps_its_threshold_and_names_other_clips() {
    let (mut bench, _) = stretched();
    let clips = bench.trimmed().unwrap();
    let file = bench.drawn.graph().file(&clips, "own.clips.json", 0.5);
    let problems = |graph: &DrawnGraph| graph.problems(&clips, 100.0).listed.len();
    // The motion jumps by 5 m/s, more than the threshold of the file and less than that of the rules.
    let read = DrawnGraph::of_file(&file, &clips.file).unwrap();
    assert_eq!((read.seams, problems(&read)), (SeamLimit::AtMost(0.5), 1));
    let jumping = roadwright_moves::MoveFile {
        threshold: None,
        ..file.clone()
    };
    let read = DrawnGraph::of_file(&jumping, &clips.file).unwrap();
    assert_eq!((read.seams, problems(&read)), (SeamLimit::MayJump, 0));
    assert_eq!(read.file(&clips, "own.clips.json", 0.5), jumping);
    bench.draw(GraphEdit::Replace(read)).unwrap();
    bench
        .draw(GraphEdit::LimitSeams(SeamLimit::OfRules))
        .unwrap();
    let own = bench.drawn.graph().file(&clips, "own.clips.json", 0.5);
    assert_eq!(own.threshold, Some(0.5));
    let other = roadwright_moves::MoveFile {
        clips_hash: "0".into(),
        ..file
    };
    let read = DrawnGraph::of_file(&other, &clips.file).unwrap();
    let found = read.problems(&clips, 100.0).listed;
    assert!(found[0].contains("have changed since"), "{found:?}");
    // The second problem is the jump.
    assert_eq!(found.len(), 2);
}

#[test]
fn graphs_have_a_largest_size_and_few_problems_are_listed() {
    let (mut bench, _) = stretched();
    for _ in 1..MOST_DRAWN {
        bench.draw(GraphEdit::AddState).unwrap();
    }
    let full = bench.drawn.graph().clone();
    let refused = bench.draw(GraphEdit::AddState);
    let too_large = TooLarge {
        states: MOST_DRAWN + 1,
        moves: 1,
    };
    assert_eq!(refused, Err(too_large));
    assert_eq!(bench.drawn.graph(), &full);
    let clips = bench.trimmed().unwrap();
    let problems = full.problems(&clips, 0.5);
    // No move leaves the other states, and the only move jumps at its own state.
    assert_eq!(problems.listed.len() + problems.more, MOST_DRAWN);
    assert!(problems.listed.len() < 10);
    let mut file = full.file(&clips, "own.clips.json", 0.5);
    assert!(DrawnGraph::of_file(&file, &clips.file).is_ok());
    file.states.push("one more".into());
    assert_eq!(DrawnGraph::of_file(&file, &clips.file), Err(too_large));
}

#[test]
fn a_clip_that_touches_something_on_the_map_is_found() {
    let mut scenario = track();
    let mut bench = MoveBench::default();
    let agent = scenario.agents().values().next().unwrap().clone();
    let origin = ClipOrigin {
        epoch: 1,
        vehicle_type: agent.vehicle,
    };
    // Starts at (1000, 50) and drives east at 10 m/s, away from everything.
    let mut far = drive([10.0; 101]);
    for frame in &mut far.frames {
        frame.pose.position.x += 900.0;
    }
    bench.add(source(&scenario), &far, Some(origin)).unwrap();
    let build = |bench: &MoveBench, scenario: &Scenario| {
        let clips = bench.trimmed().unwrap();
        BuiltLibrary::build(order(bench, scenario, clips)).touching
    };
    assert_eq!(build(&bench, &scenario), []);
    let obstacle = Obstacle {
        name: "post".into(),
        shape: Shape::Box {
            x: 1030.0.into(),
            y: 50.0.into(),
            heading: 0.0.into(),
            length: 1.0.into(),
            width: 1.0.into(),
        },
        base: 0.0.into(),
        height: 2.0.into(),
        mass: None.into(),
    };
    let id = ObstacleId(4711);
    scenario
        .apply(Edit::Obstacle(id, Some(Box::new(obstacle))))
        .unwrap();
    let found = build(&bench, &scenario);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].object, ObjectId::Obstacle(id));
    // A clip that is trimmed before the post or was recorded in another document touches nothing.
    let last = (25.0 * found[0].seconds) as usize;
    assert!(last < 80, "{last}");
    let mut trimmed = bench.clone();
    trimmed.clips[0].set_trim(Trim { first: 0, last: 40 });
    assert_eq!(build(&trimmed, &scenario), []);
    bench.clips[0].origin = None;
    assert_eq!(build(&bench, &scenario), []);
}
