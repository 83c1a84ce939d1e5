//! Ground planners as plugins (interface 1.5).

use crate::common::{Bench, EXACT, c_source, check_alike, compile, only, root, run, shipped};
use roadwright_agent::{ModuleKind, Slot};
use roadwright_extension::author::{Language, new_plugin};
use roadwright_extension::{FileState, check_plugin};
use roadwright_scenario::{Edit, Place, Scenario};
use roadwright_simulation::{NoPathKind, PathStatus, RunOptions, SavedWorld, World};
use std::path::{Path, PathBuf};

const GROUND: &str = "org.roadwright.ground";
const HYBRID: &str = "com.example.hybrid_a_star";

/// Compiles the test plugin with definitions.
fn built(folder: &Path, name: &str, definitions: &[&str]) -> PathBuf {
    c_source("ground.c", &folder.join(name), definitions, &EXACT)
}

/// Compiles the example; `None` if there is no C++ compiler.
fn hybrid(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("hybrid_a_star.so");
    let source = root().join("plugins/hybrid_a_star/hybrid_a_star.cpp");
    compile(&source, &library, &["-ffp-contract=off"])?;
    Some(library)
}

/// Returns the field of posts without its posts, where each agent drives straight ahead.
fn open_field() -> Scenario {
    let mut scenario = shipped("obstacle-field");
    let obstacles: Vec<_> = scenario.obstacles().keys().copied().collect();
    let edits = obstacles.into_iter().map(|id| Edit::Obstacle(id, None));
    scenario.apply(Edit::Batch(edits.collect())).unwrap();
    for (id, agent) in scenario.agents().clone() {
        let Place::Ground(start) = agent.start else {
            panic!("agent {id} starts on a road");
        };
        let mut agent = agent;
        agent.destination = Some(Place::ground(160.0, start.y.get(), 0.0));
        scenario
            .apply(Edit::Agent(id, Some(Box::new(agent))))
            .unwrap();
    }
    scenario
}

fn options(threads: usize) -> RunOptions {
    RunOptions {
        threads,
        ..RunOptions::default()
    }
}

/// Returns the positions of all vehicles, by agent.
fn places(world: &World) -> Vec<(u64, f64, f64)> {
    let vehicles = world.snapshot().vehicles;
    let place = |one: &roadwright_simulation::VehicleRecord| {
        let position = one.pose.position;
        (one.agent, position.x, position.y)
    };
    vehicles.iter().map(place).collect()
}

/// Checks each group alone, no group and all groups. The plugin itself compares what it sees with what it has asked
/// for, and its speeds depend on every byte of it.
#[test]
fn a_ground_planner_gets_what_it_asks_for_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = open_field();
    for (name, definitions) in [
        ("none", &["GROUPS=0"][..]),
        ("vehicles", &["GROUPS=2"]),
        ("near", &["GROUPS=8", "NEAR_MOST=1"]),
        ("trees", &["GROUPS=24", "NEAR_MOST=1000", "RADIUS=500.0"]),
        ("map", &["GROUPS=32", "CELL=2.0"]),
        ("all", &["GROUPS=58", "TIMES=1"]),
    ] {
        let bench = Bench::new();
        bench.put_file("ground.so", &built(folder.path(), name, definitions));
        let state = bench.host().files()[0].state.clone();
        assert_eq!(state, FileState::Active, "{name}: {}", bench.said());
        check_alike(&bench, GROUND, name, |threads| {
            let slot = Slot::GroundPlanner;
            let mut world = bench.world(&scenario, slot, GROUND, options(threads));
            run(&mut world, 5.0);
            assert!(world.faults().is_empty(), "{name}: {:?}", world.faults());
            let first = world.path_status(1);
            assert_eq!(first, Some(&PathStatus::Found), "{name}");
            world.state_hash()
        });
    }
}

#[test]
fn groups_that_make_no_sense_are_refused_at_loading() {
    let folder = tempfile::tempdir().unwrap();
    for (name, definitions, problem) in [
        (
            "path",
            &["GROUPS=(4|32)"][..],
            "RW_NEED_PATH, which is only for controllers",
        ),
        (
            "cells",
            &["CELL=0.1"],
            "grid_cell = 0.1, which is outside 0.2 to 4",
        ),
    ] {
        let bench = Bench::new();
        bench.put_file("ground.so", &built(folder.path(), name, definitions));
        let state = bench.host().files()[0].state.clone();
        assert!(
            matches!(&state, FileState::Rejected(why) if why.contains(problem)),
            "{name}: {state:?}"
        );
    }
}

/// Checks that `drivable_path` plans for agents whose planner does not answer, or whose planner
/// returns paths that cannot be driven.
#[test]
fn the_built_in_planner_takes_the_place_of_one_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = shipped("obstacle-field");
    let bench = Bench::new();
    let slot = Slot::GroundPlanner;
    let mut alone = bench.world(&scenario, slot, "drivable_path", options(1));
    run(&mut alone, 6.0);
    for (answer, faults, why) in [
        ("OPEN", false, ""),
        ("NAN_POSE", true, "a pose that is not finite at pose 1"),
        ("IDLE", true, "RW_ROW_KEEP without further expansions"),
        ("FAILED", true, "no answer (status 3)"),
        ("BENT", true, "a bend of 1.010 rad"),
    ] {
        let bench = Bench::new();
        // It answers at once, so that both planners search in the same steps.
        let definitions = [format!("ANSWER={answer}"), "SEARCH=1".to_owned()];
        let definitions: Vec<&str> = definitions.iter().map(String::as_str).collect();
        let library = built(folder.path(), answer, &definitions);
        bench.put_file("ground.so", &library);
        let mut world = bench.world(&scenario, slot, GROUND, options(1));
        run(&mut world, 6.0);
        assert_eq!(places(&world), places(&alone), "{answer}");
        assert_eq!(bench.row(GROUND).faults > 0, faults, "{answer}");
        let said = bench.said();
        assert!(said.contains(why), "{answer}: {said}");
    }
}

#[test]
fn a_planner_that_finds_no_path_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let library = built(folder.path(), "reason", &["ANSWER=REASON"]);
    bench.put_file("ground.so", &library);
    let slot = Slot::GroundPlanner;
    let mut world = bench.world(&open_field(), slot, GROUND, options(1));
    let is_without = |world: &World| {
        let status = world.path_status(1);
        matches!(status, Some(PathStatus::NoPath(why)) if why.kind == NoPathKind::StartWalledIn)
    };
    run(&mut world, 1.0);
    assert!(is_without(&world), "{:?}", world.path_status(1));
    let mut searches = 0;
    let mut was_without = true;
    while world.time() < 22.0 {
        world.step();
        let now = is_without(&world);
        searches += u32::from(was_without && !now);
        was_without = now;
    }
    assert_eq!(searches, 2, "once in ten seconds");
    assert!(world.faults().is_empty(), "{:?}", world.faults());
}

/// Saves a world at the given times, restores it from each save, and compares both worlds some time
/// later. Returns for each time whether they are equal. `check` inspects the world at each of these
/// times.
fn compare(
    bench: &Bench,
    scenario: &Scenario,
    id: &str,
    steps: &[u64],
    check: impl Fn(&World),
) -> Vec<bool> {
    let registry = bench.host().registry();
    let modules = only(Slot::GroundPlanner, id);
    let options = RunOptions {
        modules,
        ..RunOptions::default()
    };
    let mut whole = World::new(scenario, &registry, &options).unwrap();
    let mut saves = Vec::new();
    for &step in steps {
        while whole.steps() < step {
            whole.step();
        }
        saves.push((whole.save().unwrap().to_bytes(), whole.state_hash()));
        check(&whole);
    }
    run(&mut whole, 3.0);
    assert!(whole.faults().is_empty(), "{:?}", whole.faults());
    let restored = saves.into_iter().map(|(bytes, hash)| {
        let saved = SavedWorld::from_bytes(&bytes).unwrap();
        let ground = whole.ground().clone();
        let (mut world, notes) =
            World::restore(ground, scenario, &registry, &options, &saved).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(world.state_hash(), hash);
        while world.steps() < whole.steps() {
            world.step();
        }
        world.state_hash() == whole.state_hash()
    });
    restored.collect()
}

#[test]
fn a_world_saved_between_two_parts_of_a_search_goes_on_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let steps = [1, 12, 39, 215];
    let check = |world: &World| {
        let searches = world.path_status(1) == Some(&PathStatus::Searching);
        assert_eq!(searches, world.steps() < 40, "step {}", world.steps());
    };
    for (name, definitions) in [
        ("repeats", &["SEARCH=40000"][..]),
        // Its paths depend on vehicles that have moved since, so it saves its searches.
        ("saves", &["SEARCH=40000", "SAVES=1"]),
    ] {
        let library = built(folder.path(), name, definitions);
        for isolated in [false, true] {
            let bench = Bench::new();
            bench.put_file("ground.so", &library);
            bench.host().set_isolated(GROUND, isolated);
            let same = compare(&bench, &open_field(), GROUND, &steps, check);
            assert_eq!(same, [true; 4], "{name}, isolated: {isolated}");
        }
    }
    // Without its state the second one continues differently where a search was in progress.
    let bench = Bench::new();
    let definitions = ["SEARCH=40000", "SAVES=1", "FORGETS=1"];
    bench.put_file("ground.so", &built(folder.path(), "forgets", &definitions));
    let same = compare(&bench, &open_field(), GROUND, &steps[1..3], check);
    assert_eq!(same, [false; 2]);
}

#[test]
fn the_check_tries_searches_of_ground_planners() {
    let folder = tempfile::tempdir().unwrap();
    let helper = vec![env!("CARGO_BIN_EXE_roadwright-plugin-host").into()];
    let problems = |library: &Path| {
        let mut problems = Vec::new();
        check_plugin(library, &helper, |line| {
            let problem = line.problem.clone();
            problems.extend(problem.map(|why| format!("{}: {why}", line.name)));
        });
        problems
    };
    let project = folder.path().join("projects");
    std::fs::create_dir(&project).unwrap();
    let kind = ModuleKind::GroundPlanner;
    for (name, language, ending) in [("own", Language::C, "c"), ("other", Language::Cpp, "cpp")] {
        let project = new_plugin(&project, name, kind, language).unwrap();
        let library = folder.path().join(name).with_extension("so");
        let source = project.join(name).with_extension(ending);
        if compile(&source, &library, &["-ffp-contract=off", "-lm"]).is_some() {
            assert_eq!(problems(&library), Vec::<String>::new(), "{name}");
        }
    }
    let nan = built(folder.path(), "nan", &["ANSWER=NAN_POSE", "SEARCH=1"]);
    let found = problems(&nan).join("\n");
    assert!(
        found.contains("a pose that is not finite at pose 1"),
        "{found}"
    );
}

/// Drives all six agents of the field of posts. Returns the mean time of a trip, s, and the hash at the end.
fn cross(bench: &Bench, threads: usize) -> (f64, u64) {
    let mut modules = only(Slot::GroundPlanner, HYBRID);
    modules
        .set(Slot::Controller, vec!["pursuit".into()])
        .unwrap();
    let options = RunOptions {
        modules,
        verify: true,
        ..options(threads)
    };
    let registry = bench.host().registry();
    let mut world = World::new(&shipped("obstacle-field"), &registry, &options).unwrap();
    while world.time() < 60.0 && world.counts().arrived < 6 {
        world.step();
    }
    assert_eq!(world.counts().arrived, 6);
    assert!(world.faults().is_empty(), "{:?}", world.faults());
    let collisions = world.summary().collisions;
    assert!(collisions.is_empty(), "{collisions:?}");
    let drives = world.drives();
    let times = drives.iter().map(|drive| drive.ended - drive.started);
    (times.sum::<f64>() / drives.len() as f64, world.state_hash())
}

#[test]
fn hybrid_a_star_crosses_the_field_of_posts() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = hybrid(folder.path()) else {
        return;
    };
    let bench = Bench::new();
    bench.put_file("hybrid_a_star.so", &library);
    let (mean, hash) = cross(&bench, 1);
    println!("mean trip {mean:.2} s");
    assert!(mean <= MOST_MEAN, "{mean} s");
    bench.host().set_isolated(HYBRID, true);
    assert_eq!((mean, hash), cross(&bench, 2), "in a process of its own");
    assert_eq!(bench.row(HYBRID).faults, 0, "{}", bench.said());
}

#[test]
fn hybrid_a_star_saves_the_courses_that_it_expects() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = hybrid(folder.path()) else {
        return;
    };
    for isolated in [false, true] {
        let bench = Bench::new();
        bench.put_file("hybrid_a_star.so", &library);
        bench.host().set_isolated(HYBRID, isolated);
        // The second jeep departs after 2 s and chooses a path that avoids the first one.
        let check = |world: &World| {
            let searches = world.path_status(2) == Some(&PathStatus::Searching);
            assert_eq!(searches, world.steps() < 210, "step {}", world.steps());
        };
        let field = shipped("obstacle-field");
        let same = compare(&bench, &field, HYBRID, &[202, 203, 300], check);
        assert_eq!(same, [true; 3], "isolated: {isolated}");
    }
}

/// Maximum mean time of a trip through the field of posts, s.
const MOST_MEAN: f64 = 26.0;
