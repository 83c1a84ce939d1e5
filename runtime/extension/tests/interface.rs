//! Additions of plugin interface 1.2, and plugins of earlier versions.

use crate::common::{Bench, EXACT, c_source, compile, only, root, run, shipped};
use roadwright_agent::{Controller, Fitness, ModuleKind, Slot, Step};
use roadwright_extension::author::{Language, new_plugin};
use roadwright_extension::{FileState, check_plugin};
use roadwright_plugin_api::description::{Field, RECORDS, Record};
use roadwright_plugin_api::{
    Conduct, ControllerInput, DriveInput, FitnessInput, FitnessOutput, NOTHING, PedalsInput,
    PedalsOutput,
};
use roadwright_scenario::{DynamicsLevel, Edit, ModuleSetting, Scenario, Stack};
use roadwright_simulation::{RunOptions, World};
use std::path::{Path, PathBuf};

const ROWS: &str = "org.roadwright.rows";
const TABLE: &str = "org.roadwright.table";

/// Compiles a test plugin with definitions.
fn built(folder: &Path, source: &str, name: &str, definitions: &[&str]) -> PathBuf {
    c_source(source, &folder.join(name), definitions, &EXACT)
}

/// Returns flags that define the old names for a source that includes only the header.
fn old_names() -> [String; 4] {
    let header = |name: &str| root().join("plugins/api/include").join(name);
    let [header, names] = ["roadwright_plugin.h", "roadwright_plugin_names_1_1.h"].map(header);
    let path = |path: PathBuf| path.to_str().unwrap().to_owned();
    [
        "-include".into(),
        path(header),
        "-include".into(),
        path(names),
    ]
}

/// Returns a drive in which all numbers are different.
fn some_drive() -> FitnessInput {
    FitnessInput {
        crash_rating: 0.5,
        mean_speed: 8.0,
        mean_road_speed: 13.0,
        distance: 800.0,
        time: 100.0,
        mean_squared_acceleration: 0.25,
        mean_squared_jerk: 1.5,
        mean_squared_lateral_acceleration: 0.75,
        conduct: Conduct {
            collision_exposure: 0.125,
            tailgating: 0.0625,
            least_post_encroachment: 3.0,
            time_lost: 0.375,
            speeding: 0.03125,
            off_lane: 0.1875,
            uninvited: 0.4375,
            above_limit: 0.3125,
            overlap: 2.0,
            has_arrived: 1.0,
            goal_distance: 7.0,
            collisions: 4.0,
            kinetic_energy: 900.0,
            segment_crash: 0.625,
            segment_time_lost: 0.875,
            shunts: 5.0,
            mean_lean: 0.5625,
            path_error: 0.6875,
            settled_speed: 9.0,
        },
    }
}

/// Returns the scores that a fitness module of a bench gives to some drives.
fn scores(bench: &Bench, id: &str, inputs: &[FitnessInput]) -> Vec<f64> {
    let registry = bench.host().registry();
    let entries = registry.of::<dyn Fitness>();
    let module = entries.iter().find(|entry| entry.info.id == id).unwrap();
    let mut module = module.make();
    let indices: Vec<u32> = (0..inputs.len() as u32).collect();
    let ids: Vec<u64> = indices.iter().map(|index| u64::from(*index) + 1).collect();
    let step = Step {
        indices: &indices,
        ids: &ids,
        ..Step::default()
    };
    let mut outputs = vec![FitnessOutput::default(); inputs.len()];
    module.step(&step, inputs, &mut outputs);
    assert!(module.logic.take_failure().is_none(), "{}", bench.said());
    outputs.iter().map(|output| output.score).collect()
}

/// Returns the score that `rows.c` computes for rows with the given stride in bytes.
fn seen(input: &FitnessInput, stride: usize) -> f64 {
    let record = RECORDS
        .iter()
        .find(|record| record.name == "rw_fitness_input");
    let conduct = &input.conduct;
    let numbers = [
        input.crash_rating,
        input.mean_speed,
        input.mean_road_speed,
        input.distance,
        input.time,
        input.mean_squared_acceleration,
        input.mean_squared_jerk,
        input.mean_squared_lateral_acceleration,
        conduct.collision_exposure,
        conduct.tailgating,
        conduct.least_post_encroachment,
        conduct.time_lost,
        conduct.speeding,
        conduct.off_lane,
        conduct.uninvited,
        conduct.above_limit,
        conduct.overlap,
        conduct.has_arrived,
        conduct.goal_distance,
        conduct.collisions,
        conduct.kinetic_energy,
        conduct.segment_crash,
        conduct.segment_time_lost,
        conduct.shunts,
        conduct.mean_lean,
        conduct.path_error,
        conduct.settled_speed,
    ];
    assert_eq!(record.unwrap().fields.len(), numbers.len());
    let own = numbers[..stride / 8].iter().enumerate();
    own.fold(1e6 * stride as f64, |sum, (at, number)| {
        sum + (at + 1) as f64 * number
    })
}

#[test]
fn a_fitness_gets_the_rows_of_its_own_time() {
    let folder = tempfile::tempdir().unwrap();
    for (minor, stride) in [("MINOR=0", 64), ("MINOR=1", 64), ("MINOR=2", 216)] {
        let bench = Bench::new();
        bench.put_file("rows.so", &built(folder.path(), "rows.c", minor, &[minor]));
        // One row, a few rows, and more rows than the shared memory initially has room for.
        for count in [1, 5, 700] {
            let drive = |number: u32| FitnessInput {
                time: 100.0 + f64::from(number),
                ..some_drive()
            };
            let inputs: Vec<FitnessInput> = (0..count).map(drive).collect();
            let expected: Vec<f64> = inputs.iter().map(|input| seen(input, stride)).collect();
            for isolated in [false, true] {
                bench.host().set_isolated(ROWS, isolated);
                let found = scores(&bench, ROWS, &inputs);
                assert_eq!(
                    found, expected,
                    "{minor}, {count} rows, isolated: {isolated}"
                );
            }
        }
    }
}

#[test]
fn what_a_plugin_declares_counts_since_1_2() {
    let folder = tempfile::tempdir().unwrap();
    let caps = "CAPS=(RW_CAP_HIGHER_IS_BETTER|RW_CAP_FULL_CONDUCT)";
    for (name, definitions, declares) in [
        ("plain", vec![], false),
        ("new", vec![caps], true),
        // In version 1.1, these bits had no meaning.
        ("old", vec![caps, "MINOR=1"], false),
    ] {
        let bench = Bench::new();
        bench.put_file(
            "rows.so",
            &built(folder.path(), "rows.c", name, &definitions),
        );
        for isolated in [false, true] {
            bench.host().set_isolated(ROWS, isolated);
            let registry = bench.host().registry();
            let entries = registry.of::<dyn Fitness>();
            let entry = entries.iter().find(|entry| entry.info.id == ROWS).unwrap();
            let logic = entry.make().logic;
            assert_eq!(!logic.lower_is_better(), declares, "{name}");
            assert_eq!(logic.wants_account(), declares, "{name}");
            assert_eq!(logic.wants_post_encroachment(), declares, "{name}");
        }
    }
}

/// Compares the deviation from the path on a winding road: a controller with the law of `idm` follows bends
/// as closely as `idm` does, because its waypoint is on the bend.
#[test]
fn a_controller_sees_the_waypoint_that_idm_sees() {
    let folder = tempfile::tempdir().unwrap();
    let project = new_plugin(folder.path(), "own", ModuleKind::Controller, Language::C).unwrap();
    let library = folder.path().join("own.so");
    let source = project.join("own.c");
    compile(&source, &library, &["-ffp-contract=off", "-lm"]).unwrap();
    let text = std::fs::read_to_string(&source).unwrap();
    let text = text
        .replace(" | RW_CAP_ALONG_BEND", "")
        .replace("com.example.own", "com.example.cutting");
    let cutting = folder.path().join("cutting.so");
    std::fs::write(&source, text).unwrap();
    compile(&source, &cutting, &["-ffp-contract=off", "-lm"]).unwrap();
    let bench = Bench::new();
    bench.put_file("own.so", &library);
    bench.put_file("cutting.so", &cutting);
    let error = |controller: &str| {
        let mut modules = only(Slot::Controller, controller);
        modules
            .set(Slot::Fitness, vec!["path_error".into()])
            .unwrap();
        let options = RunOptions {
            modules,
            ..RunOptions::default()
        };
        let registry = bench.host().registry();
        let mut world = World::new(&shipped("figure-eight"), &registry, &options).unwrap();
        run(&mut world, 60.0);
        assert_eq!(world.faults().len(), 0, "{controller}");
        let drives = world.drives();
        let errors = drives
            .iter()
            .flat_map(|drive| &drive.scores)
            .map(|(_, score)| *score);
        let errors: Vec<f64> = errors.collect();
        assert!(!errors.is_empty());
        errors.iter().sum::<f64>() / errors.len() as f64
    };
    let [idm, own, cutting] = ["idm", "com.example.own", "com.example.cutting"].map(error);
    println!("idm {idm} m, own {own} m, without the bend {cutting} m");
    assert!(own < 1.1 * idm, "own {own}, idm {idm}");
    assert!(cutting > 1.5 * idm, "cutting {cutting}, idm {idm}");
}

/// Returns a setting that chooses the fitness with a table, parsed from the text of a stack.
fn setting(parameters: &str) -> ModuleSetting {
    let text = format!("{{\"module\":\"{TABLE}\",\"parameters\":{parameters}}}");
    serde_json::from_str(&text).unwrap()
}

/// Puts a fitness into all stacks of a scenario.
fn with_fitness(mut scenario: Scenario, setting: &ModuleSetting) -> Scenario {
    let stacks: Vec<(String, Stack)> = scenario
        .stacks()
        .iter()
        .map(|(name, stack)| (name.clone(), stack.clone()))
        .collect();
    for (name, mut stack) in stacks {
        assert!(stack.set(Slot::Fitness, vec![setting.clone()]));
        scenario
            .apply(Edit::Stack(name, Some(Box::new(stack))))
            .unwrap();
    }
    scenario
}

/// Returns the score after some seconds. Checks that it is the same for all agents.
fn shown(world: &World) -> f64 {
    let drives = world.drives();
    let scores: Vec<f64> = drives
        .iter()
        .flat_map(|drive| &drive.scores)
        .map(|(_, s)| *s)
        .collect();
    assert!(scores.iter().all(|score| *score == scores[0]), "{scores:?}");
    scores[0]
}

#[test]
fn a_table_is_a_list_of_rows_in_the_stack() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("table.so", &built(folder.path(), "table.c", "table", &[]));
    let keys: Vec<&str> = bench
        .row(TABLE)
        .parameters
        .iter()
        .map(|info| info.key)
        .collect();
    assert_eq!(keys.len(), 7, "{keys:?}");
    assert_eq!(
        (keys[0], keys[5], keys[6]),
        ("weights[0][0]", "weights[1][2]", "gain")
    );
    let table = bench.row(TABLE).parameters[5].cell.unwrap().table;
    assert_eq!(table.row_names, ["low", "high"]);
    assert_eq!(
        (table.column_names.len(), bench.row(TABLE).parameters[5].doc),
        (0, "Weights.")
    );
    let scenario = with_fitness(
        shipped("figure-eight"),
        &setting(r#"{"weights": [[0.25, -0.5, 1.0], [0.0, 0.125, -1.0]], "gain": 3.0}"#),
    );
    // 0.25 - 1 + 3 + 0 + 0.625 - 6
    for isolated in [false, true] {
        bench.host().set_isolated(TABLE, isolated);
        let registry = bench.host().registry();
        let mut world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
        run(&mut world, 5.0);
        assert_eq!(shown(&world), 30_000.0 - 3.125, "isolated: {isolated}");
        // A saved world continues with the same values.
        let saved = world.save().unwrap();
        let ground = world.ground().clone();
        let options = RunOptions::default();
        let restored = World::restore(ground, &scenario, &registry, &options, &saved);
        let (mut restored, notes) = restored.unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        run(&mut restored, 1.0);
        assert_eq!(shown(&restored), 30_000.0 - 3.125);
    }
    for (parameters, problem) in [
        (
            r#"{"weights": [[0, 0], [0, 0]]}"#,
            "weights has 2 rows of 2, but the module's table has 2 rows of 3",
        ),
        (r#"{"weights": [[0, 0, 0]]}"#, "weights has 1 row of 3, but"),
        (r#"{"weights[0][1]": 0}"#, "weights has 1 of 6 cells, but"),
        (
            r#"{"weights": 1}"#,
            "the module has: weights (2 rows of 3), gain",
        ),
        (
            r#"{"weights": [[0, 0, 5], [0, 0, 0]]}"#,
            "weights[0][2] = 5 is out of range: expected -1 to 1",
        ),
    ] {
        let scenario = with_fitness(shipped("figure-eight"), &setting(parameters));
        let world = World::new(&scenario, &bench.host().registry(), &RunOptions::default());
        let error = world.err().unwrap().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_table_of_another_shape_starts_from_its_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("table.so", &built(folder.path(), "table.c", "first", &[]));
    let given = setting(r#"{"weights": [[1, 1, 1], [1, 1, 1]], "gain": 3.0}"#);
    let scenario = with_fitness(shipped("figure-eight"), &given);
    let registry = bench.host().registry();
    let mut world = World::new(&scenario, &registry, &RunOptions::default()).unwrap();
    run(&mut world, 3.0);
    assert_eq!(shown(&world), 30_021.0);
    let same = built(folder.path(), "table.c", "same", &["VERSION=\"1.1.0\""]);
    bench.put_file("table.so", &same);
    run(&mut world, 1.0);
    assert_eq!(shown(&world), 30_021.0, "the shape is the same");
    let wide = built(
        folder.path(),
        "table.c",
        "wide",
        &["COLUMNS=4", "VERSION=\"2.0.0\""],
    );
    bench.put_file("table.so", &wide);
    run(&mut world, 1.0);
    // Eight cells of 0.5. The number of cells is kept.
    assert_eq!(shown(&world), 30_018.0);
    let notes: Vec<String> = world
        .summary()
        .swaps
        .iter()
        .map(|swap| swap.note.clone())
        .collect();
    let told = "the shape of weights has changed from 2 rows of 3 to 2 rows of 4, so it starts from its defaults";
    assert!(notes[1].contains(told), "{notes:?}");
    assert!(!notes[0].contains("weights"), "{notes:?}");
    assert!(bench.said().contains(told), "{}", bench.said());
    // The scenario has the old shape, which a new world reports.
    let error = World::new(&scenario, &registry, &RunOptions::default());
    let registry = bench.host().registry();
    let error = error
        .err()
        .or(World::new(&scenario, &registry, &RunOptions::default()).err());
    let error = error.unwrap().to_string();
    assert!(
        error.contains("weights has 2 rows of 3, but the module's table has 2 rows of 4"),
        "{error}"
    );
}

#[test]
fn a_script_sets_a_cell_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    bench.put_file("table.so", &built(folder.path(), "table.c", "table", &[]));
    let text = r#"fn on_start(agent) { agent.set_parameter("fitness", "weights[0][1]", 0.25); }
                  fn behave(agent) {}"#;
    bench.put_script("own.rhai", text);
    let scenario = with_fitness(shipped("figure-eight"), &ModuleSetting::new(TABLE));
    let options = RunOptions {
        modules: only(Slot::Behaviour, "own.rhai"),
        ..RunOptions::default()
    };
    let mut world = World::new(&scenario, &bench.host().registry(), &options).unwrap();
    run(&mut world, 3.0);
    assert!(world.faults().is_empty(), "{:?}", world.faults());
    // Six cells of 0.5, the second of which is set to 0.25.
    assert_eq!(shown(&world), 20_010.0);
}

#[test]
fn a_table_without_cells_or_with_too_many_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rows, problem) in [
        (
            "none",
            "ROWS=0",
            "the table weights has 0 rows of 3 numbers; expected 1 to 4096 numbers in total",
        ),
        (
            "many",
            "ROWS=1400",
            "the table weights has 1400 rows of 3 numbers",
        ),
    ] {
        let bench = Bench::new();
        bench.put_file("table.so", &built(folder.path(), "table.c", name, &[rows]));
        let state = &bench.host().files()[0].state;
        assert!(
            matches!(state, FileState::Rejected(why) if why.contains(problem)),
            "{state:?}"
        );
    }
}

#[test]
fn the_check_tries_the_ends_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let library = built(
        folder.path(),
        "table.c",
        "table",
        &["ROWS=30", "COLUMNS=10"],
    );
    let helper = vec![env!("CARGO_BIN_EXE_roadwright-plugin-host").into()];
    let mut lines = Vec::new();
    check_plugin(&library, &helper, |line| lines.push(line.clone()));
    let line = lines
        .iter()
        .find(|line| line.name.contains("parameters"))
        .unwrap();
    assert_eq!(line.problem, None);
    assert_eq!(line.note, "2 described, valid at both ends of their ranges");
}

/// Id of the kept controller with pedals, which is also the id of a new build of its source.
const KEPT: &str = "org.roadwright.kept.pedals";
const TODAY: &str = "org.roadwright.today.pedals";

/// Tests a binary that was built with the header of version 1.1. Its source, `kept_pedals.c`, is in the same
/// folder.
#[test]
fn a_binary_with_pedals_of_abi_1_1_works_for_ever() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        eprintln!("skipped: the kept binary is for x86-64 Linux");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let abi = root().join("runtime/extension/tests/abi");
    let today = folder.path().join("today.so");
    let id = format!("-DID=\"{TODAY}\"");
    let names = old_names();
    let mut flags: Vec<&str> = names.iter().map(String::as_str).collect();
    flags.extend([&id, "-ffp-contract=off", "-lm"]);
    compile(&abi.join("kept_pedals.c"), &today, &flags).unwrap();
    let bench = Bench::new();
    bench.put_file("kept.so", &abi.join("pedals-1.1-x86_64-linux.so"));
    bench.put_file("today.so", &today);
    let end = |id: &str, threads: usize, isolated: bool| {
        bench.host().set_isolated(id, isolated);
        let options = RunOptions {
            threads,
            dynamics: Some(DynamicsLevel::DynamicOneTrack),
            ..RunOptions::default()
        };
        let mut world = bench.world(&shipped("proving-ground"), Slot::Controller, id, options);
        run(&mut world, 20.0);
        assert!(world.faults().is_empty(), "{:?}", world.faults());
        world.snapshot().hash()
    };
    let kept = end(KEPT, 1, false);
    assert_eq!(kept, end(KEPT, 2, false), "with two threads");
    assert_eq!(kept, end(KEPT, 1, true), "in a process of its own");
    assert_eq!(kept, end(TODAY, 1, false), "built with today's header");
    assert_eq!((bench.row(KEPT).faults, bench.row(TODAY).faults), (0, 0));
}

/// Tests binaries that were built with the header of version 1.2. Their sources are in `abi/examples_1_2`.
#[test]
fn binaries_of_abi_1_2_work_for_ever() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        eprintln!("skipped: the kept binaries are for x86-64 Linux");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let abi = root().join("runtime/extension/tests/abi");
    for (name, source, slot) in [
        ("controller", "neural_driver", Slot::Controller),
        ("fitness", "watching_fitness", Slot::Fitness),
    ] {
        let id = format!("com.example.{source}");
        let today = folder.path().join(source).with_extension("so");
        let source = abi.join("examples_1_2").join(source).with_extension("c");
        compile(&source, &today, &["-ffp-contract=off", "-lm"]).unwrap();
        let end = |library: &Path, threads: usize, isolated: bool| {
            let bench = Bench::new();
            bench.put_file("kept.so", library);
            bench.host().set_isolated(&id, isolated);
            let options = RunOptions {
                threads,
                ..RunOptions::default()
            };
            let mut world = bench.world(&shipped("old-town"), slot, &id, options);
            run(&mut world, 20.0);
            assert!(world.faults().is_empty(), "{id}: {:?}", world.faults());
            let drives = world.drives();
            let scores = drives.iter().flat_map(|drive| &drive.scores);
            let scores: Vec<u64> = scores.map(|(_, score)| score.to_bits()).collect();
            (world.state_hash(), scores)
        };
        let kept = abi.join(format!("{name}-1.2-x86_64-linux.so"));
        let expected = end(&kept, 1, false);
        assert_eq!(expected, end(&kept, 2, false), "{id} with two threads");
        assert_eq!(
            expected,
            end(&kept, 1, true),
            "{id} in a process of its own"
        );
        assert_eq!(
            expected,
            end(&today, 1, false),
            "{id} built with today's header"
        );
    }
}

/// Tests binaries that were built with the header of version 1.3. Their sources are `abi/kept_needs.c`, which finds a
/// flaw in each row if rows, views or needs are not exactly those of 1.3, and `abi/examples_1_3`.
#[test]
fn binaries_of_abi_1_3_work_for_ever() {
    const NEEDS: &str = "org.roadwright.kept.needs";
    const PEDALS: &str = "org.roadwright.kept.needs.pedals";
    const MPC: &str = "com.example.mpc_c";
    let kept = |name, source, id, flags| Kept {
        version: "1.3",
        name,
        source,
        id,
        flags,
        slot: Slot::Controller,
        scenario: "old-town",
    };
    kept("needs", "kept_needs.c", NEEDS, &[]).works_for_ever();
    kept("needs-pedals", "kept_needs.c", PEDALS, &["-DPEDALS"]).works_for_ever();
    kept("controller", "examples_1_3/mpc_c.c", MPC, &[]).works_for_ever();
}

/// Tests binaries that were built with the header of version 1.4. Their sources are `abi/kept_near.c`, which finds a
/// flaw in each row if rows, views or needs are not exactly those of 1.4, and `abi/examples_1_4`.
#[test]
fn binaries_of_abi_1_4_work_for_ever() {
    const NEAR: &str = "org.roadwright.kept.near";
    const PEDALS: &str = "org.roadwright.kept.near.pedals";
    const NET: &str = "com.example.neural_driver";
    let kept = |name, source, id, flags| Kept {
        version: "1.4",
        name,
        source,
        id,
        flags,
        slot: Slot::Controller,
        scenario: "old-town",
    };
    kept("near", "kept_near.c", NEAR, &[]).works_for_ever();
    kept("near-pedals", "kept_near.c", PEDALS, &["-DPEDALS"]).works_for_ever();
    kept("controller", "examples_1_4/neural_driver.c", NET, &[]).works_for_ever();
}

/// Tests a binary that was built with the header of version 1.5. Its source is `abi/kept_ground.c`, which finds a flaw in
/// each row if rows, views, poses or needs are not exactly those of 1.5.
#[test]
fn a_ground_planner_of_abi_1_5_works_for_ever() {
    let kept = Kept {
        version: "1.5",
        name: "ground",
        source: "kept_ground.c",
        id: "org.roadwright.kept.ground",
        flags: &[],
        slot: Slot::GroundPlanner,
        scenario: "obstacle-field",
    };
    kept.works_for_ever();
}

/// A kept binary, in `abi`.
struct Kept {
    version: &'static str,
    name: &'static str,
    source: &'static str,
    id: &'static str,
    /// Flags with which it was compiled.
    flags: &'static [&'static str],
    slot: Slot,
    scenario: &'static str,
}

impl Kept {
    /// Checks that the binary drives or plans without a flaw, and that two threads, a separate
    /// process and a build with the current header change nothing.
    fn works_for_ever(&self) {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            eprintln!("skipped: the kept binaries are for x86-64 Linux");
            return;
        }
        let (folder, id) = (tempfile::tempdir().unwrap(), self.id);
        let abi = root().join("runtime/extension/tests/abi");
        let today = folder.path().join(self.name).with_extension("so");
        let flags = [self.flags, &["-ffp-contract=off", "-lm"]].concat();
        compile(&abi.join(self.source), &today, &flags).unwrap();
        let end = |library: &Path, threads: usize, isolated: bool| {
            let bench = Bench::new();
            bench.put_file("kept.so", library);
            let state = bench.host().files()[0].state.clone();
            assert_eq!(state, FileState::Active, "{id}: {}", bench.said());
            bench.host().set_isolated(id, isolated);
            let options = RunOptions {
                threads,
                dynamics: Some(DynamicsLevel::OneTrack),
                ..RunOptions::default()
            };
            let mut world = bench.world(&shipped(self.scenario), self.slot, id, options);
            run(&mut world, 8.0);
            assert!(world.faults().is_empty(), "{id}: {:?}", world.faults());
            assert_eq!(bench.row(id).faults, 0, "{id}: {}", bench.said());
            world.state_hash()
        };
        let kept = abi.join(format!("{}-{}-x86_64-linux.so", self.name, self.version));
        let expected = end(&kept, 1, false);
        assert_eq!(expected, end(&kept, 2, false), "{id} with two threads");
        assert_eq!(
            expected,
            end(&kept, 1, true),
            "{id} in a process of its own"
        );
        // Sources built with the current header get rows of the current version, with the same numbers.
        assert_eq!(
            expected,
            end(&today, 1, false),
            "{id} built with today's header"
        );
    }
}

/// A plugin, and the drive in which it is tested with another version of the host.
struct Older {
    /// File of the kept binary, or source of a plugin that is built now.
    file: &'static str,
    id: &'static str,
    minor: u32,
    slot: Slot,
    scenario: &'static str,
    definitions: &'static [&'static str],
}

impl Older {
    /// Returns the hash and the scores at the end of a drive with a library in the plugin's place.
    fn end(&self, library: &Path, id: &str, isolated: bool) -> (u64, Vec<u64>) {
        let bench = Bench::new();
        bench.put_file("own.so", library);
        let state = bench.host().files()[0].state.clone();
        assert_eq!(state, FileState::Active, "{}: {}", self.file, bench.said());
        bench.host().set_isolated(id, isolated);
        let options = RunOptions {
            dynamics: Some(DynamicsLevel::OneTrack),
            ..RunOptions::default()
        };
        let mut world = bench.world(&shipped(self.scenario), self.slot, id, options);
        run(&mut world, 8.0);
        let faults = world.faults();
        assert!(
            faults.is_empty(),
            "{}: {faults:?} {}",
            self.file,
            bench.said()
        );
        assert_eq!(bench.row(id).faults, 0, "{}: {}", self.file, bench.said());
        let drives = world.drives();
        let scores = drives.iter().flat_map(|drive| &drive.scores);
        let scores = scores.map(|(_, score)| score.to_bits()).collect();
        (world.snapshot().hash(), scores)
    }

    /// Returns a library that simulates another host for the plugin, and the plugin itself.
    fn libraries(&self, folder: &Path, mode: &str) -> Option<[PathBuf; 2]> {
        let source = root().join(self.file);
        let mut plugin = source.clone();
        if !self.file.ends_with(".so") {
            plugin = folder.join("plugin.so");
            compile(&source, &plugin, &["-ffp-contract=off", "-lm"])?;
        }
        let target = format!("TARGET=\"{}\"", plugin.display());
        let minor = format!("MINOR={}", self.minor);
        let mut definitions = vec![target.as_str(), minor.as_str(), mode];
        definitions.extend(self.definitions);
        let between = c_source(
            "later_host.c",
            &folder.join("between"),
            &definitions,
            &["-ldl"],
        );
        Some([between, plugin])
    }
}

const LATER: &str = "org.roadwright.later";

/// Simulates a later host, whose rows, records, views, batches and tables are longer, with 0x55 in
/// all bytes that the plugin does not know and after all arrays. Plugins must give the same bits
/// and write nothing there.
#[test]
fn plugins_work_with_a_later_host() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        eprintln!("skipped: the kept binaries are for x86-64 Linux");
        return;
    }
    let kept = |file, id, minor, slot, definitions| Older {
        file,
        id,
        minor,
        slot,
        scenario: "old-town",
        definitions,
    };
    let controller: &[&str] = &["KIND=RW_KIND_CONTROLLER"];
    let along: &[&str] = &["KIND=RW_KIND_CONTROLLER", "CAPS=RW_CAP_ALONG_BEND"];
    let fitness: &[&str] = &["KIND=RW_KIND_FITNESS"];
    let full: &[&str] = &["KIND=RW_KIND_FITNESS", "CAPS=RW_CAP_FULL_CONDUCT"];
    let planner: &[&str] = &["KIND=RW_KIND_PLANNER"];
    let ground: &[&str] = &["KIND=RW_KIND_GROUND_PLANNER", "WRITES_MEMBERS"];
    let (drives, rates, plans) = (Slot::Controller, Slot::Fitness, Slot::Planner);
    for older in [
        kept(
            "runtime/extension/tests/abi/controller-1.0-x86_64-linux.so",
            "org.roadwright.kept",
            0,
            drives,
            controller,
        ),
        kept(
            "runtime/extension/tests/abi/stateful-1.0-x86_64-linux.so",
            "org.roadwright.kept.stateful",
            0,
            drives,
            controller,
        ),
        kept(
            "runtime/extension/tests/abi/planner-1.0-x86_64-linux.so",
            "org.roadwright.kept.planner",
            0,
            plans,
            planner,
        ),
        kept(
            "runtime/extension/tests/abi/fitness-1.0-x86_64-linux.so",
            "org.roadwright.kept.fitness",
            0,
            rates,
            fitness,
        ),
        kept(
            "runtime/extension/tests/abi/pedals-1.1-x86_64-linux.so",
            KEPT,
            1,
            drives,
            controller,
        ),
        kept(
            "runtime/extension/tests/abi/controller-1.2-x86_64-linux.so",
            "com.example.neural_driver",
            2,
            drives,
            along,
        ),
        kept(
            "runtime/extension/tests/abi/fitness-1.2-x86_64-linux.so",
            "com.example.watching_fitness",
            2,
            rates,
            full,
        ),
        kept(
            "runtime/extension/tests/abi/controller-1.3-x86_64-linux.so",
            "com.example.mpc_c",
            3,
            drives,
            along,
        ),
        kept(
            "runtime/extension/tests/abi/controller-1.4-x86_64-linux.so",
            "com.example.neural_driver",
            4,
            drives,
            along,
        ),
        kept(
            "plugins/neural_driver/neural_driver.c",
            "com.example.neural_driver",
            5,
            drives,
            along,
        ),
        Older {
            scenario: "obstacle-field",
            ..kept(
                "plugins/hybrid_a_star/hybrid_a_star.cpp",
                "com.example.hybrid_a_star",
                5,
                Slot::GroundPlanner,
                ground,
            )
        },
    ] {
        let folder = tempfile::tempdir().unwrap();
        let Some([between, plugin]) = older.libraries(folder.path(), "LATER_HOST") else {
            continue;
        };
        let expected = older.end(&plugin, older.id, false);
        assert_eq!(
            older.end(&between, LATER, false),
            expected,
            "{}",
            older.file
        );
        assert_eq!(
            older.end(&between, LATER, true),
            expected,
            "{}, isolated",
            older.file
        );
    }
}

/// Simulates a host of 1.0, with rows of 128 bytes and without views and later extensions. A plugin
/// that is built now and does not require a later host gives the same bits.
#[test]
fn a_plugin_of_today_works_with_the_first_host() {
    let folder = tempfile::tempdir().unwrap();
    let older = Older {
        file: "plugins/stanley_c/stanley_c.c",
        id: "com.example.stanley_c",
        minor: 0,
        slot: Slot::Controller,
        scenario: "old-town",
        definitions: &["KIND=RW_KIND_CONTROLLER"],
    };
    let [between, plugin] = older.libraries(folder.path(), "OLDER").unwrap();
    let expected = older.end(&plugin, older.id, false);
    assert_eq!(older.end(&between, LATER, false), expected);
}

/// Simulates a plugin of a later version, whose description and tables are longer, with 0x55 in the
/// bytes that this host does not know. It drives like a plugin of this version. If it requires the
/// later host, it is refused before any of its code runs.
#[test]
fn the_host_works_with_a_later_plugin() {
    const NEEDS: &str = "org.roadwright.needs";
    let folder = tempfile::tempdir().unwrap();
    let end = |name: &str, definitions: &[&str], isolated: bool| {
        let bench = Bench::new();
        bench.put_file(
            "needs.so",
            &built(folder.path(), "needs.c", name, definitions),
        );
        let state = bench.host().files()[0].state.clone();
        assert_eq!(state, FileState::Active, "{name}: {}", bench.said());
        bench.host().set_isolated(NEEDS, isolated);
        let options = RunOptions::default();
        let mut world = bench.world(&shipped("old-town"), Slot::Controller, NEEDS, options);
        run(&mut world, 3.0);
        assert!(world.faults().is_empty(), "{name}: {:?}", world.faults());
        world.state_hash()
    };
    for pedals in [&[][..], &["PEDALS"]] {
        let definitions = |more: &[&'static str]| [&["GROUPS=15"], pedals, more].concat();
        let expected = end("today", &definitions(&[]), false);
        let later = definitions(&["LATER", "MINOR=6"]);
        assert_eq!(end("later", &later, false), expected);
        assert_eq!(end("later", &later, true), expected, "isolated");
    }
    let bench = Bench::new();
    let required = ["GROUPS=15", "LATER", "MINOR=6", "MIN_HOST=6", "EXITS"];
    bench.put_file(
        "needs.so",
        &built(folder.path(), "needs.c", "required", &required),
    );
    let state = bench.host().files()[0].state.clone();
    assert!(
        matches!(&state, FileState::Rejected(why) if why.contains("1.6") && why.contains("update Roadwright")),
        "{state:?}"
    );
}

/// Checks that long rows of many agents reach an isolated plugin, whose memory has to grow for them.
#[test]
fn many_wide_rows_are_the_same_in_a_process_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let library = built(folder.path(), "pedals.c", "foot", &[]);
    bench.put_file("foot.so", &library);
    let id = "org.roadwright.foot";
    let answers = |isolated: bool| {
        bench.host().set_isolated(id, isolated);
        let registry = bench.host().registry();
        let entries = registry.of::<dyn Controller>();
        let entry = entries.iter().find(|entry| entry.info.id == id).unwrap();
        let mut module = entry.make();
        let mut all = Vec::new();
        for count in [3, 1024, 2000, 1] {
            let indices: Vec<u32> = (0..count).collect();
            let ids: Vec<u64> = indices.iter().map(|index| u64::from(*index)).collect();
            let step = Step {
                indices: &indices,
                ids: &ids,
                ..Step::default()
            };
            let row = |index: &u32| PedalsInput {
                seen: ControllerInput {
                    speed: f64::from(*index) / 100.0,
                    road_speed: 13.0,
                    wheelbase: 2.7,
                    waypoint_distance: 10.0,
                    leader_gap: NOTHING,
                    stop_distance: NOTHING,
                    ..ControllerInput::default()
                },
                drive: DriveInput {
                    full_throttle: 2.0,
                    full_brake: -8.0,
                    ..DriveInput::default()
                },
            };
            let inputs: Vec<PedalsInput> = indices.iter().map(row).collect();
            let mut outputs = vec![PedalsOutput::default(); inputs.len()];
            module.drive(&step, &inputs, &mut outputs);
            all.extend(outputs);
        }
        assert!(module.logic.take_failure().is_none(), "{}", bench.said());
        all
    };
    let here = answers(false);
    assert!(here.iter().any(|output| output.throttle > 0.0));
    assert!(here == answers(true));
}

/// Checks that the header needs no other header, has no padding that is not declared, and causes no warning.
#[test]
fn the_header_is_clean_in_every_version_of_c_and_cpp() {
    let folder = tempfile::tempdir().unwrap();
    let mut compiled = 0;
    for (compiler, ending, versions) in [
        ("cc", "c", &["c11", "c17", "c2x"][..]),
        ("c++", "cpp", &["c++11", "c++14", "c++17", "c++20"]),
    ] {
        let source = folder.path().join("alone").with_extension(ending);
        std::fs::write(&source, "#include \"roadwright_plugin.h\"\n").unwrap();
        for version in versions {
            let output = std::process::Command::new(compiler)
                .arg(format!("-std={version}"))
                .args(["-Wall", "-Wextra", "-Wconversion", "-Wpadded", "-pedantic"])
                .args(["-Werror", "-fsyntax-only", "-I"])
                .arg(root().join("plugins/api/include"))
                .arg(&source)
                .output();
            let Ok(output) = output else {
                eprintln!("skipped: there is no {compiler}");
                break;
            };
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{version}: {said}");
            compiled += 1;
        }
    }
    assert!(compiled >= 3, "only {compiled} versions");
}

#[test]
fn sources_of_1_0_and_1_1_compile_unchanged_with_the_old_names() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("old.so");
    let names = old_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let abi = root().join("runtime/extension/tests/abi");
    let mut compiled = 0;
    for folder in [abi.clone(), abi.join("examples_1_1")] {
        let files = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = files.collect();
        files.sort();
        for source in files {
            let ending = source.extension().and_then(|ending| ending.to_str());
            let kinds: &[&str] = match ending {
                Some("c") if source.ends_with("kept.c") => {
                    &["-DKIND=1", "-DKIND=2", "-DKIND=3", "-DKIND=4"]
                }
                Some("c" | "cpp") => &["-DKIND=0"],
                _ => continue,
            };
            for kind in kinds {
                let flags = [&names[..], &[*kind, "-lm"]].concat();
                let _ = compile(&source, &library, &flags);
                compiled += 1;
            }
        }
    }
    assert!(compiled >= 14, "only {compiled} sources");
}

/// Returns the records of the header, each with its name and its fields with their types.
fn records_of(header: &str) -> Vec<(String, Vec<(String, String)>)> {
    // Comments may contain semicolons.
    let mut text = String::new();
    let mut rest = header;
    while let Some((before, after)) = rest.split_once("/*") {
        text += before;
        rest = after.split_once("*/").unwrap().1;
    }
    text += rest;
    let parts = text.split("typedef struct ").skip(1);
    let parts = parts.filter_map(|part| part.split_once(" {"));
    let parts = parts.filter(|(name, _)| name.starts_with("rw_") && !name.contains(';'));
    parts
        .map(|(name, body)| {
            let body = body.split('}').next().unwrap();
            let fields = body
                .split(';')
                .map(str::trim)
                .filter(|line| !line.is_empty());
            (name.to_owned(), fields.map(field_of).collect())
        })
        .collect()
}

/// Returns the name and type of a field of the header, in the notation of the description.
fn field_of(line: &str) -> (String, String) {
    let word = |text: &str| {
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.chars().take_while(|c| name(*c)).collect::<String>()
    };
    if let Some((_, name)) = line.split_once("(*") {
        return (word(name), "function 1".into());
    }
    let (kind, name) = line.rsplit_once([' ', '*']).unwrap();
    let count = name
        .split_once('[')
        .map_or("1", |(_, count)| count.trim_end_matches(']'));
    let count = match count {
        "RW_SIGNAL_STAGES" => "32",
        "RW_SIGNAL_MOVEMENTS" => "48",
        count => count,
    };
    let kind = match kind.trim() {
        _ if line.contains('*') => "pointer",
        "double" => "f64",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "int32_t" => "i32",
        "char" => "text",
        other => other,
    };
    (word(name), format!("{kind} {count}"))
}

#[test]
fn the_description_of_the_records_is_that_of_the_header() {
    let header = root().join("plugins/api/include/roadwright_plugin.h");
    let found = records_of(&std::fs::read_to_string(header).unwrap());
    let field = |field: &Field| {
        (
            field.name.to_owned(),
            format!("{} {}", field.kind, field.count),
        )
    };
    let described = |record: &Record| {
        (
            record.name.to_owned(),
            record.fields.iter().map(field).collect::<Vec<_>>(),
        )
    };
    let mut described: Vec<_> = RECORDS.iter().map(described).collect();
    let mut found: Vec<_> = found
        .into_iter()
        .filter(|(_, fields)| !fields.is_empty())
        .collect();
    described.sort();
    found.sort();
    assert!(found.len() > 20);
    for (found, described) in found.iter().zip(&described) {
        assert_eq!(found, described);
    }
    assert_eq!(found.len(), described.len());
}
