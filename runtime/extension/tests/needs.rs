//! Controllers that request their motion, their vehicle, the path ahead (interface 1.3) and nearby
//! objects (1.4).

use crate::common::{Bench, EXACT, c_source, check_alike, compile, only, root, run, shipped};
use roadwright_agent::{Controller, Slot, Step};
use roadwright_extension::{FileState, check_plugin};
use roadwright_geometry::math::{tan, wrap_angle};
use roadwright_geometry::{DVec2, Pose};
use roadwright_plugin_api::{ControllerInput, ControllerOutput, NOTHING};
use roadwright_scenario::{AgentId, DynamicsLevel, Edit, LaneletIndex, Scenario};
use roadwright_simulation::{Ground, RunOptions, SavedWorld, World};
use roadwright_testing::{is_slow, plugin_library};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const NEEDS: &str = "org.roadwright.needs";
const MPC: &str = "com.example.mpc_c";
const ORCA: &str = "com.example.orca";

/// Compiles the test plugin with definitions.
fn built(folder: &Path, name: &str, definitions: &[&str]) -> PathBuf {
    c_source("needs.c", &folder.join(name), definitions, &EXACT)
}

fn mpc(folder: &Path) -> PathBuf {
    let library = folder.join("mpc_c.so");
    let source = root().join("plugins/mpc_c/mpc_c.c");
    compile(&source, &library, &["-ffp-contract=off", "-lm"]).unwrap();
    library
}

fn options(level: DynamicsLevel, threads: usize) -> RunOptions {
    RunOptions {
        threads,
        dynamics: Some(level),
        ..RunOptions::default()
    }
}

/// Checks each group alone, no group and all groups, with few and many points. The plugin itself compares
/// what it sees with what it has asked for, and its accelerations depend on every byte of it.
#[test]
fn a_controller_gets_what_it_asks_for_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = shipped("old-town");
    for (name, definitions) in [
        ("motion", &["GROUPS=1"][..]),
        ("vehicles", &["GROUPS=2"]),
        ("path", &["GROUPS=4"]),
        ("few", &["GROUPS=7", "MOST=2"]),
        ("many", &["GROUPS=7", "MOST=1000", "SPACING=0.1"]),
        ("near", &["GROUPS=8"]),
        ("nearest", &["GROUPS=9", "NEAR_MOST=1"]),
        (
            "all around",
            &["GROUPS=31", "NEAR_MOST=1000", "RADIUS=500.0"],
        ),
        ("none", &["GROUPS=0"]),
        ("old", &["GROUPS=7", "MINOR=2"]),
        ("older", &["GROUPS=7", "MINOR=3"]),
        ("slices", &["GROUPS=15", "CAPS=RW_CAP_PARALLEL_SLICES"]),
        ("defaults", &["GROUPS=15", "CAPS=RW_CAP_WANTS_DEFAULTS"]),
        ("pedals", &["GROUPS=15", "PEDALS"]),
    ] {
        let bench = Bench::new();
        bench.put_file("needs.so", &built(folder.path(), name, definitions));
        let state = bench.host().files()[0].state.clone();
        assert_eq!(state, FileState::Active, "{name}: {}", bench.said());
        check_alike(&bench, NEEDS, name, |threads| {
            let options = options(DynamicsLevel::OneTrack, threads);
            let mut world = bench.world(&scenario, Slot::Controller, NEEDS, options);
            run(&mut world, if is_slow() { 3.0 } else { 1.0 });
            assert!(world.faults().is_empty(), "{name}: {:?}", world.faults());
            world.state_hash()
        });
    }
}

#[test]
fn groups_that_are_unknown_or_make_no_sense_are_refused_at_loading() {
    let folder = tempfile::tempdir().unwrap();
    for (name, definitions, problem) in [
        (
            "later",
            &["GROUPS=(7|64)"][..],
            "it requests the groups 64 through roadwright.needs/1, but this version knows only RW_NEED_MOTION (1)",
        ),
        (
            "beyond its header",
            &["GROUPS=(7|16)", "MINOR=3"],
            "it requests the groups 16 through",
        ),
        (
            "fitness",
            &["KIND=RW_KIND_FITNESS", "GROUPS=7"],
            "RW_NEED_MOTION and RW_NEED_VEHICLES and RW_NEED_PATH, which is only for controllers and ground planners",
        ),
        (
            "points",
            &["MOST=1"],
            "path_most = 1, which is outside 2 to 1000",
        ),
        ("spacing", &["SPACING=1e300"], "path_spacing = 1"),
        (
            "radius",
            &["RADIUS=501.0"],
            "RW_NEED_NEAR with near_radius = 501",
        ),
        (
            "objects",
            &["NEAR_MOST=0u"],
            "near_most = 0, which is outside 1 to 1000",
        ),
        ("failed", &["NEEDS_SIZE=1000"], "needs returned -2"),
    ] {
        let bench = Bench::new();
        bench.put_file("needs.so", &built(folder.path(), name, definitions));
        let state = bench.host().files()[0].state.clone();
        assert!(
            matches!(&state, FileState::Rejected(why) if why.contains(problem)),
            "{name}: {state:?}"
        );
    }
}

#[test]
fn needs_may_change_with_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let definitions = ["GROUPS=7", "MOST=400"];
    bench.put_file("needs.so", &built(folder.path(), "needs", &definitions));
    for isolated in [false, true] {
        bench.host().set_isolated(NEEDS, isolated);
        let registry = bench.host().registry();
        let entries = registry.of::<dyn Controller>();
        let entry = entries.iter().find(|entry| entry.info.id == NEEDS).unwrap();
        let mut module = entry.make();
        let reach = |module: &roadwright_agent::Module<dyn Controller>| {
            module.needs().unwrap().path.unwrap().distance
        };
        assert_eq!(reach(&module), 20.0);
        module.parameters.set("reach", 75.0).unwrap();
        let moment = roadwright_agent::StepBoundary {
            step: 0,
            time: 0.0,
            capacity: 1,
            added: &[0],
            removed: &[],
        };
        module
            .logic
            .at_step_boundary(&mut module.parameters, &moment);
        assert_eq!(reach(&module), 75.0, "isolated: {isolated}");
    }
}

/// Checks that a course with its own vehicle, which has no world, gives rows that refer to nothing.
#[test]
fn without_a_world_there_is_no_vehicle_and_no_path() {
    let folder = tempfile::tempdir().unwrap();
    for (name, definitions) in [
        ("plain", &["GROUPS=14"][..]),
        ("pedals", &["GROUPS=14", "PEDALS"]),
    ] {
        let bench = Bench::new();
        bench.put_file("needs.so", &built(folder.path(), name, definitions));
        let registry = bench.host().registry();
        let entries = registry.of::<dyn Controller>();
        let entry = entries.iter().find(|entry| entry.info.id == NEEDS).unwrap();
        let mut module = entry.make();
        let input = ControllerInput {
            speed: 8.0,
            road_speed: 13.0,
            wheelbase: 2.7,
            waypoint_distance: 10.0,
            leader_gap: NOTHING,
            stop_distance: NOTHING,
            obstacle_distance: NOTHING,
            ..ControllerInput::default()
        };
        let step = Step {
            indices: &[0],
            ids: &[1],
            ..Step::default()
        };
        let mut outputs = [ControllerOutput::default()];
        module.step(&step, &[input], &mut outputs);
        assert!(outputs[0].acceleration > 1.0, "{name}: {outputs:?}");
        assert!(
            module.logic.take_failure().is_none(),
            "{name}: {}",
            bench.said()
        );
    }
}

#[test]
fn a_saved_world_goes_on_with_the_same_paths() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("needs.so", &built(folder.path(), "needs", &["GROUPS=31"]));
    let scenario = shipped("old-town");
    let level = DynamicsLevel::OneTrack;
    let mut whole = bench.world(&scenario, Slot::Controller, NEEDS, options(level, 1));
    run(&mut whole, 4.0);
    let saved = SavedWorld::from_bytes(&whole.save().unwrap().to_bytes()).unwrap();
    let options = RunOptions {
        modules: only(Slot::Controller, NEEDS),
        ..options(level, 2)
    };
    let registry = bench.host().registry();
    let ground = Ground::new(&scenario);
    let restored = World::restore(ground, &scenario, &registry, &options, &saved);
    let (mut again, notes) = restored.unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    for world in [&mut whole, &mut again] {
        run(world, 3.0);
    }
    assert_eq!(whole.state_hash(), again.state_hash());
}

#[test]
fn the_check_tries_roads_and_vehicles() {
    let folder = tempfile::tempdir().unwrap();
    let helper = vec![env!("CARGO_BIN_EXE_roadwright-plugin-host").into()];
    for (name, definitions) in [
        ("all", &["GROUPS=31"][..]),
        ("few", &["GROUPS=14", "NEAR_MOST=1", "RADIUS=5.0"]),
        ("pedals", &["GROUPS=12", "PEDALS"]),
    ] {
        let library = built(folder.path(), name, definitions);
        let mut problems = Vec::new();
        check_plugin(&library, &helper, |line| {
            problems.extend(
                line.problem
                    .clone()
                    .map(|why| format!("{}: {why}", line.name)),
            );
        });
        assert_eq!(problems, Vec::<String>::new(), "{name}");
    }
}

/// Checks that scenarios with other kinds of objects give the same bytes in a separate process:
/// pedestrians, trees, posts that are pushed, and trailers.
#[test]
fn all_kinds_of_objects_reach_a_process_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let definitions = ["GROUPS=31", "NEAR_MOST=30", "RADIUS=100.0"];
    bench.put_file("needs.so", &built(folder.path(), "needs", &definitions));
    for (name, level) in [
        ("crossings", DynamicsLevel::Lane),
        ("obstacle-field", DynamicsLevel::Rigid),
        ("trailer-yard", DynamicsLevel::OneTrack),
    ] {
        let end = |threads: usize, isolated: bool| {
            bench.host().set_isolated(NEEDS, isolated);
            let options = options(level, threads);
            let mut world = bench.world(&shipped(name), Slot::Controller, NEEDS, options);
            run(&mut world, 12.0);
            assert!(world.faults().is_empty(), "{name}: {:?}", world.faults());
            world.state_hash()
        };
        let hash = end(1, false);
        assert_eq!(hash, end(2, false), "{name} with two threads");
        assert_eq!(hash, end(1, true), "{name} in a process of its own");
    }
    assert_eq!(bench.row(NEEDS).faults, 0, "{}", bench.said());
}

/// Creates forty cars on a circle that all drive to the opposite side.
fn circle() -> Scenario {
    let path = root().join("plugins/orca/circle.scenario.json");
    roadwright_scenario::file::load(&path).unwrap()
}

/// Returns the time at which the last car arrives, s, and the hash of the world after 60 s.
fn cross(scenario: &Scenario, bench: &Bench, options: RunOptions) -> (f64, u64) {
    let options = RunOptions {
        verify: true,
        ..options
    };
    let mut world = bench.world(scenario, Slot::Controller, ORCA, options);
    let count = scenario.agents().len();
    let mut last = f64::INFINITY;
    while world.time() < 60.0 {
        world.step();
        if last.is_infinite() && world.counts().arrived == count {
            last = world.time();
        }
    }
    assert!(world.faults().is_empty(), "{:?}", world.faults());
    let collisions = world.summary().collisions;
    assert!(collisions.is_empty(), "{collisions:?}");
    (last, world.state_hash())
}

#[test]
fn forty_cars_cross_a_circle_without_a_contact() {
    let bench = Bench::new();
    bench.put_file("orca.so", &plugin_library("orca"));
    let mut scenario = circle();
    // The time of a car that is alone.
    let mut alone = scenario.clone();
    let others: Vec<_> = alone.agents().keys().copied().skip(1).collect();
    let edits = others.into_iter().map(|id| Edit::Agent(id, None));
    alone.apply(Edit::Batch(edits.collect())).unwrap();
    let (free, _) = cross(&alone, &bench, RunOptions::default());
    assert!(free < 20.0, "{free} s alone");
    for seed in 1..=5 {
        let options = |threads: usize| RunOptions {
            seed: Some(seed),
            threads,
            ..RunOptions::default()
        };
        bench.host().set_isolated(ORCA, false);
        let (last, hash) = cross(&scenario, &bench, options(1));
        println!("seed {seed}: all arrived after {last:.1} s; alone {free:.1} s");
        assert!(last <= 3.0 * free, "{last} s");
        if seed <= 2 {
            assert_eq!(hash, cross(&scenario, &bench, options(2)).1, "two threads");
            bench.host().set_isolated(ORCA, true);
            assert_eq!(hash, cross(&scenario, &bench, options(1)).1, "isolated");
        }
    }
    assert_eq!(bench.row(ORCA).faults, 0, "{}", bench.said());
    // Control: without the plugin they collide.
    scenario = circle();
    let options = RunOptions {
        verify: true,
        ..RunOptions::default()
    };
    let mut world = bench.world(&scenario, Slot::Controller, "pursuit", options);
    run(&mut world, 30.0);
    assert!(!world.summary().collisions.is_empty());
}

/// Returns the root mean square of the lateral offset (m) and the mean speed (m/s) of all drives of
/// the figure-eight with a controller.
fn in_the_bends(bench: &Bench, controller: &str, options: RunOptions) -> (f64, f64) {
    let mut modules = only(Slot::Controller, controller);
    modules
        .set(Slot::Fitness, vec!["path_error".into()])
        .unwrap();
    let options = RunOptions { modules, ..options };
    let registry = bench.host().registry();
    let mut world = World::new(&shipped("figure-eight"), &registry, &options).unwrap();
    run(&mut world, 40.0);
    assert!(world.faults().is_empty(), "{:?}", world.faults());
    let drives = world.drives();
    let errors = drives.iter().flat_map(|drive| &drive.scores);
    let errors: Vec<f64> = errors.map(|(_, score)| *score).collect();
    assert!(!errors.is_empty());
    let vehicles = world.snapshot().vehicles;
    let speed = vehicles.iter().map(|one| one.speed).sum::<f64>() / vehicles.len() as f64;
    (errors.iter().sum::<f64>() / errors.len() as f64, speed)
}

#[test]
fn the_predictive_controller_keeps_to_winding_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("mpc_c.so", &mpc(folder.path()));
    let level = DynamicsLevel::OneTrack;
    let (idm, idm_speed) = in_the_bends(&bench, "idm", options(level, 1));
    let (own, speed) = in_the_bends(&bench, MPC, options(level, 1));
    bench.host().set_isolated(MPC, true);
    let (apart, _) = in_the_bends(&bench, MPC, options(level, 2));
    println!("idm {idm} m at {idm_speed} m/s, mpc_c {own} m at {speed} m/s");
    assert!(own <= 0.006, "{own} m");
    assert!((speed - idm_speed).abs() < 0.3, "{speed} {idm_speed}");
    assert_eq!(own, apart);
}

/// U-turns in town that are too tight for a vehicle, each as the midpoint between its ends. Their
/// lanes are closer to each other than the diameter of the tightest circle that the vehicle can
/// drive. `radius` is that of this circle, m.
fn turns_too_tight(ground: &Ground, radius: f64) -> Vec<DVec2> {
    let ids = LaneletIndex::up_to(ground.graph().lanelets().len());
    let connections = ids.filter(|id| ground.lanelet(*id).is_connection());
    let ends = connections.map(|id| {
        let line = ground.line(id);
        [line.pose(0.0), line.pose(line.length())]
    });
    let is_back = |[a, b]: &[Pose; 2]| wrap_angle(b.heading - a.heading).abs() > 3.0;
    let is_tight = |[a, b]: &[Pose; 2]| (b.position - a.position).length() < 2.0 * radius;
    let tight = ends.filter(|ends| is_back(ends) && is_tight(ends));
    tight
        .map(|[a, b]| 0.5 * (a.position + b.position))
        .collect()
}

/// Distance from a U-turn that is too tight within which a vehicle may leave its lane, m.
const NEAR_TIGHT: f64 = 15.0;

/// A drive of all agents of old-town until they have arrived.
struct Town {
    /// Number of sampled positions outside lane changes. The next fields are the numbers of those
    /// farther than 0.3 m from the centre line, without and with a U-turn nearby that is too tight
    /// for the vehicle.
    places: usize,
    far: usize,
    beside_tight: usize,
    /// Largest distance from the centre line, m, except near such U-turns.
    farthest: f64,
    contacts: usize,
    held: u64,
    faults: usize,
    mean_time: f64,
}

impl Town {
    fn drive(bench: &Bench, controller: &str) -> Self {
        let (scenario, level) = (shipped("old-town"), DynamicsLevel::OneTrack);
        let mut world = bench.world(&scenario, Slot::Controller, controller, options(level, 1));
        let kind = |agent: u64| {
            let agent = &scenario.agents()[&AgentId(agent as u32)];
            &scenario.vehicle_types()[&agent.vehicle]
        };
        let mut town = Self {
            places: 0,
            far: 0,
            beside_tight: 0,
            farthest: 0.0,
            contacts: 0,
            held: 0,
            faults: 0,
            mean_time: 0.0,
        };
        // Last offset of each vehicle, and whether it is changing lanes.
        let mut lanes: BTreeMap<u64, (f64, bool)> = BTreeMap::new();
        let mut tight: BTreeMap<u64, Vec<DVec2>> = BTreeMap::new();
        while world.counts().arrived < 150 && world.time() < 600.0 {
            for _ in 0..10 {
                world.step();
            }
            for vehicle in &world.snapshot().vehicles {
                let (last, changes) = lanes.entry(vehicle.agent).or_insert((vehicle.t, true));
                *changes |= (vehicle.t - *last).abs() > 1.0;
                *changes &= vehicle.t.abs() > 0.2;
                *last = vehicle.t;
                if *changes {
                    continue;
                }
                town.places += 1;
                if vehicle.t.abs() <= 0.2 {
                    continue;
                }
                let turns = tight.entry(vehicle.agent).or_insert_with(|| {
                    let kind = kind(vehicle.agent);
                    let radius = kind.wheelbase.get() / tan(kind.max_steering.get());
                    turns_too_tight(world.ground(), radius)
                });
                let is_beside =
                    |turn: &DVec2| (*turn - vehicle.pose.position).length() < NEAR_TIGHT;
                let is_far = usize::from(vehicle.t.abs() > 0.3);
                if turns.iter().any(is_beside) {
                    town.beside_tight += is_far;
                    continue;
                }
                town.far += is_far;
                town.farthest = town.farthest.max(vehicle.t.abs());
            }
        }
        assert_eq!(world.counts().arrived, 150, "{controller}");
        let summary = world.summary();
        town.contacts = summary.collisions.len();
        town.held = summary.law.held_by_law;
        town.faults = world.faults().len();
        town.mean_time = summary.travel_time.mean;
        town
    }
}

#[test]
fn the_predictive_controller_keeps_to_its_lane_in_town() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    // It is watched: the host must not have to limit its commands, and a step must not allocate memory.
    let library = folder.path().join("watched");
    let own = root().join("plugins/mpc_c");
    let include = format!("-I{}", own.display());
    let library = c_source(
        "watched_mpc.c",
        &library,
        &[],
        &[&include, EXACT[0], EXACT[1]],
    );
    bench.put_file("mpc_c.so", &library);
    let (own, idm) = (Town::drive(&bench, MPC), Town::drive(&bench, "idm"));
    for (name, town) in [("mpc_c", &own), ("idm", &idm)] {
        println!(
            "{name}: {} of {} places farther than 0.3 m, most {:.2} m, {} more beside turns that are too tight; \
             {} contacts, mean trip {:.1} s",
            town.far, town.places, town.farthest, town.beside_tight, town.contacts, town.mean_time
        );
    }
    assert_eq!(
        (own.far, own.faults, own.held),
        (0, 0, 0),
        "{}",
        bench.said()
    );
    assert_eq!(bench.row(MPC).faults, 0, "{}", bench.said());
    assert!(own.contacts <= idm.contacts, "{}", own.contacts);
    assert!(own.beside_tight < 200, "{}", own.beside_tight);
    assert!(own.mean_time < 1.1 * idm.mean_time, "{} s", own.mean_time);
}

#[test]
fn the_predictive_controller_allocates_in_create_only() {
    let source = std::fs::read_to_string(root().join("plugins/mpc_c/mpc_c.c")).unwrap();
    let allocations = source.matches("malloc(").count() + source.matches("alloc(").count();
    assert_eq!(allocations, 2, "the one `malloc(` of create, counted twice");
    let folder = tempfile::tempdir().unwrap();
    let symbols = std::process::Command::new("nm")
        .args(["-D", "--undefined-only"])
        .arg(mpc(folder.path()))
        .output();
    let Ok(symbols) = symbols else {
        eprintln!("skipped: there is no nm");
        return;
    };
    let text = String::from_utf8(symbols.stdout).unwrap();
    assert!(
        text.contains("malloc") && !text.contains("calloc") && !text.contains("realloc"),
        "{text}"
    );
}
