//! Signals and scripts: signal controllers, and behaviours that observe signals and request stages.

use crate::common::{Bench, c_source, root, run};
use crate::scenarios::{draw, street};
use roadwright_extension::script::compile;
use roadwright_scenario::junction::Light;
use roadwright_scenario::operation::signals::controlled_by;
use roadwright_scenario::{
    Control, DynamicsLevel, Edit, Flow, FlowId, ModuleSetting, NodeId, Place, RoadId, Scenario,
    SignalControllerSetting, SignalMode, SignalPlan, Stack,
};
use roadwright_simulation::{Ground, RunOptions, SavedWorld, World};
use std::path::PathBuf;

/// Creates a crossing of two streets with signals. `rates` are the numbers of cars per hour from
/// west to east and from south to north. Returns the scenario and the node at the crossing.
fn crossing(rates: [f64; 2]) -> (Scenario, NodeId) {
    let mut scenario = Scenario::new("signals");
    for (from, to) in [
        ((-300.0, 0.0), (0.0, 0.0)),
        ((0.0, 0.0), (300.0, 0.0)),
        ((0.0, -300.0), (0.0, 0.0)),
        ((0.0, 0.0), (0.0, 300.0)),
    ] {
        draw(&mut scenario, from, to, &street("street"));
    }
    let network = scenario.network();
    let mut nodes = network.nodes();
    let middle = nodes.find(|(id, _)| network.ends_at(*id).len() == 4);
    let (node, mut middle) = middle.map(|(id, node)| (id, node.clone())).unwrap();
    drop(nodes);
    middle.rules.control = Some(Control::Signals);
    let mut edits = vec![Edit::Node(node, Some(middle))];
    for (number, rate) in (0u32..).zip(rates).filter(|(_, rate)| *rate > 0.0) {
        let lane = |road, s| Place::lane(RoadId(2 * number + road), -1, s);
        let flow = Flow {
            vehicle: "car".into(),
            stack: "idm".into(),
            dynamics: Some(DynamicsLevel::Lane),
            origin: lane(1, 10.0),
            destination: lane(2, 250.0),
            rate_per_hour: rate.into(),
            begin: 0.0.into(),
            end: 3600.0.into(),
        };
        edits.push(Edit::Flow(FlowId(number + 1), Some(Box::new(flow))));
    }
    scenario.apply(Edit::Batch(edits)).unwrap();
    (scenario, node)
}

/// Sets the plan of a node.
fn with_plan(scenario: &mut Scenario, node: NodeId, plan: SignalPlan) {
    let mut changed = scenario.network().node(node).unwrap().clone();
    changed.rules.plan = Some(plan);
    scenario.apply(Edit::Node(node, Some(changed))).unwrap();
}

/// Returns a plan in which a script controls the signals.
fn by(script: &str) -> SignalPlan {
    SignalPlan {
        controller: Some(SignalControllerSetting::new(script)),
        ..SignalPlan::default()
    }
}

fn actuated() -> SignalPlan {
    SignalPlan {
        mode: SignalMode::Actuated,
        ..SignalPlan::default()
    }
}

/// Gives a behaviour to all cars.
fn driven_by(scenario: &mut Scenario, behaviour: &str) {
    let mut module = ModuleSetting::new(behaviour);
    module.rate_hz = Some(4.0).into();
    let stack = Stack {
        behaviour: module,
        ..Stack::with_controller("idm")
    };
    let edit = Edit::Stack("idm".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
}

fn world(bench: &Bench, scenario: &Scenario, threads: usize) -> World {
    let options = RunOptions {
        threads,
        ..RunOptions::default()
    };
    World::new(scenario, &bench.host().registry(), &options).unwrap()
}

/// Returns the lights that face the lanes from the west and from the south.
fn lights(world: &World) -> [Light; 2] {
    [1, 3].map(|road| {
        let mut heads = world.signals();
        heads.find(|head| head.road == RoadId(road)).unwrap().light
    })
}

/// Returns the number of times that each street turned green within the given number of seconds.
fn greens(world: &mut World, seconds: f64) -> [u32; 2] {
    let mut count = [0; 2];
    let mut before = lights(world);
    let end = world.time() + seconds;
    while world.time() < end {
        world.step();
        let now = lights(world);
        for street in 0..2 {
            count[street] +=
                u32::from(now[street] == Light::Green && before[street] != Light::Green);
        }
        before = now;
    }
    count
}

fn log(world: &World) -> Vec<String> {
    world.log().map(|line| line.text.clone()).collect()
}

#[test]
fn a_script_decides_which_stage_is_next_and_nothing_else() {
    let bench = Bench::new();
    bench.put_script(
        "restless.rhai",
        "fn decide(signal) { (signal.stage + 1) % signal.stages }",
    );
    bench.put_script("idle.rhai", "fn decide(signal) { () }");
    bench.put_script(
        "slow.rhai",
        "parameter(\"green\", 20.0, 5.0, 60.0, \"s\", \"How long.\");
        fn decide(signal) {
            signal.memory.asked = (signal.memory.asked ?? 0) + 1;
            if signal.elapsed >= signal.parameter(\"green\") { return 1 - signal.stage; }
        }",
    );
    let changes = |plan: SignalPlan| {
        let (mut scenario, node) = crossing([0.0, 0.0]);
        with_plan(&mut scenario, node, plan);
        let mut world = world(&bench, &scenario, 1);
        let count = greens(&mut world, 300.0);
        assert!(world.faults().is_empty(), "{:?}", world.faults());
        count
    };
    // Each street needs at least 6 s of green, 3 s of amber and the clearance time, so changes are at least
    // 18 s apart.
    let [east, north] = changes(by("restless.rhai"));
    assert!((10..=16).contains(&north), "{east} {north}");
    assert!(east.abs_diff(north) <= 1);
    assert_eq!(changes(by("idle.rhai")), [0, 0]);
    let [_, usual] = changes(by("slow.rhai"));
    let mut plan = by("slow.rhai");
    let parameters = &mut plan.controller.as_mut().unwrap().parameters;
    parameters.insert("green".into(), 60.0);
    let [_, slower] = changes(plan);
    assert!(
        (5..=7).contains(&usual) && (2..=3).contains(&slower),
        "{usual} {slower}"
    );
    // A parameter out of range, and an unknown one.
    for (key, module, said) in [
        ("green", "slow.rhai", "green"),
        ("green", "nobody", "nobody"),
    ] {
        let (mut scenario, node) = crossing([0.0, 0.0]);
        let mut plan = by(module);
        let parameters = &mut plan.controller.as_mut().unwrap().parameters;
        parameters.insert(key.into(), 1e6);
        with_plan(&mut scenario, node, plan);
        let made = World::new(&scenario, &bench.host().registry(), &RunOptions::default());
        let told = made.err().unwrap().to_string();
        assert!(
            told.contains(said) && told.contains("signals of node"),
            "{told}"
        );
    }
}

#[test]
fn a_script_that_fails_is_stood_in_for_by_demand_and_told_once() {
    let bench = Bench::new();
    let (mut demand, node) = crossing([500.0, 400.0]);
    with_plan(&mut demand, node, actuated());
    let mut sound = world(&bench, &demand, 1);
    let expected = greens(&mut sound, 300.0);
    for (name, text, said) in [
        (
            "loop",
            "fn decide(signal) { if signal.time > 2.0 { loop {} } }",
            "endless loop",
        ),
        (
            "error",
            "fn decide(signal) { if signal.time > 2.0 { throw \"nonsense\" } }",
            "nonsense",
        ),
        (
            "type",
            "fn decide(signal) { if signal.time > 2.0 { \"one\" } }",
            "not string",
        ),
        (
            "range",
            "fn decide(signal) { if signal.time > 2.0 { 7 } }",
            "there is no stage 7; expected 0 to 1",
        ),
    ] {
        let id = format!("{name}.rhai");
        bench.put_script(&id, text);
        let (mut scenario, node) = crossing([500.0, 400.0]);
        with_plan(&mut scenario, node, by(&id));
        let mut world = world(&bench, &scenario, 1);
        let count = greens(&mut world, 300.0);
        for street in 0..2 {
            assert!(
                count[street].abs_diff(expected[street]) <= 2,
                "{name}: {count:?} {expected:?}"
            );
        }
        let faults = world.faults();
        let told = log(&world)
            .iter()
            .filter(|text| text.contains(said))
            .count();
        // One fault has a message of its own, and the other says that the script is disabled.
        assert_eq!((told, faults.len()), (1, 2), "{name}: {faults:?}");
        assert!(log(&world)[0].starts_with(&format!("signals of node {}: ", node.0)));
    }
    // Mistakes are found before anything depends on the script.
    for (text, said) in [
        (
            "fn decide(signal) { signal.stges }",
            "signal has no property \"stges\"; did you mean \"stages\"?",
        ),
        (
            "fn decide(signal) { signal.request(1) }",
            "a signal controller must return the stage from decide instead",
        ),
        ("fn decide() { 1 }", "write fn decide(signal)"),
        (
            "fn decide(signal) {} fn behave(agent) {}",
            "either behave (a behaviour) or decide (a signal controller)",
        ),
        (
            "fn behave(agent) { let s = agent.signal(1); s.stage = 3; }",
            "signal.stage is read-only",
        ),
        (
            "fn behave(agent) { agent.signal(1).request(9) }",
            "there is no stage 9; expected 0 to 1",
        ),
    ] {
        let told = compile("x.rhai", text, None)
            .err()
            .map(|error| error.to_string());
        assert!(
            told.as_ref().is_some_and(|told| told.contains(said)),
            "{text}: {told:?}"
        );
    }
}

#[test]
fn a_newer_version_takes_over_and_keeps_what_was_remembered() {
    let bench = Bench::new();
    let text = |more: &str| {
        format!("fn decide(signal) {{ signal.memory.n = (signal.memory.n ?? 0) + 1; {more} }}")
    };
    bench.put_script("own.rhai", &text(""));
    let (mut scenario, node) = crossing([0.0, 0.0]);
    with_plan(&mut scenario, node, by("own.rhai"));
    let mut world = world(&bench, &scenario, 1);
    assert_eq!(greens(&mut world, 60.0), [0, 0]);
    // The script has been called more than fifty times at this point.
    bench.put_script(
        "own.rhai",
        &text("if signal.memory.n > 50 { return 1 - signal.stage; }"),
    );
    let [_, north] = greens(&mut world, 60.0);
    assert!(north >= 2, "{north}");
    let swap = &world.swaps()[0];
    assert_eq!(
        (swap.slot, &*swap.module),
        ("signal_controller", "own.rhai")
    );
    assert!(world.faults().is_empty(), "{:?}", world.faults());
}

/// A behaviour in which every car requests and holds the stage of its movement.
const ASKING: &str = "fn behave(agent) {
    if agent.signal_node < 0 { return; }
    let signals = agent.signal(agent.signal_node);
    if signals.stage == agent.signal_stage {
        signals.hold(signals.stage, 20.0);
    } else if agent.junction_distance < 100.0 {
        signals.request(agent.signal_stage);
    }
}
fn on_stage(agent, node, stage) { agent.log(`${node} shows ${stage}`); }";

#[test]
fn runs_are_the_same_for_every_number_of_threads_and_from_a_save_in_the_middle_of_a_hold() {
    let bench = Bench::new();
    bench.put_script("asking.rhai", ASKING);
    bench.put_script("own.rhai", "fn decide(signal) { signal.memory.n = (signal.memory.n ?? 0) + 1; if signal.memory.n % 3 == 0 { 1 - signal.stage } }");
    for plan in [SignalPlan::default(), actuated(), by("own.rhai")] {
        let (mut scenario, node) = crossing([600.0, 500.0]);
        with_plan(&mut scenario, node, plan);
        driven_by(&mut scenario, "asking.rhai");
        let hashes = [1, 2, 4].map(|threads| {
            let mut world = world(&bench, &scenario, threads);
            run(&mut world, 150.0);
            assert!(world.faults().is_empty(), "{:?}", world.faults());
            world.state_hash()
        });
        assert_eq!(hashes, [hashes[0]; 3]);
        let mut going = world(&bench, &scenario, 1);
        run(&mut going, 70.0);
        let bytes = going.save().unwrap().to_bytes();
        let saved = SavedWorld::from_bytes(&bytes).unwrap();
        let registry = bench.host().registry();
        let options = RunOptions::default();
        let ground = Ground::new(&scenario);
        let (mut restored, notes) =
            World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(restored.state_hash(), going.state_hash());
        for _ in 0..800 {
            going.step();
            restored.step();
        }
        assert_eq!(restored.state_hash(), going.state_hash());
        // The requests have an effect: without them the run is different.
        driven_by(&mut scenario, "lane_keeper");
        let mut alone = world(&bench, &scenario, 1);
        run(&mut alone, 150.0);
        assert_ne!(greens(&mut alone, 100.0), [0, 0]);
    }
}

#[test]
fn behaviours_see_signals_and_are_told_of_stages() {
    let bench = Bench::new();
    bench.put_script("looking.rhai", "fn behave(agent) {
        let signals = agent.signal(2);
        if agent.once(\"seen\", true) {
            agent.log(`${signals.stages} ${signals.state(1)} ${signals.state(3)} ${signals.state(99)} ${agent.signal_node} ${agent.signal_stage}`);
        }
        if agent.once(\"queue\", signals.queue[1] >= 2) { agent.log(`queue ${signals.waits[1] >= 0.0}`); }
    }
    fn on_stage(agent, node, stage) { agent.log(`${node} shows ${stage}`); }
    ");
    let (mut scenario, node) = crossing([0.0, 900.0]);
    assert_eq!(node.0, 2);
    with_plan(&mut scenario, node, SignalPlan::default());
    driven_by(&mut scenario, "looking.rhai");
    let mut world = world(&bench, &scenario, 1);
    run(&mut world, 120.0);
    assert!(world.faults().is_empty(), "{:?}", world.faults());
    let log = log(&world);
    assert!(
        log.iter()
            .any(|text| text.starts_with("2 green red none 2 1")),
        "{log:?}"
    );
    for said in ["queue true", "2 shows 1", "2 shows 0"] {
        assert!(log.iter().any(|text| text == said), "{said}: {log:?}");
    }
    // A node without signals is reported.
    bench.put_script(
        "lost.rhai",
        "fn behave(agent) { if agent.time > 1.0 { agent.signal(77); } }",
    );
    driven_by(&mut scenario, "lost.rhai");
    let mut world =
        World::new(&scenario, &bench.host().registry(), &RunOptions::default()).unwrap();
    run(&mut world, 30.0);
    let mut faults = world.faults().keys();
    assert!(
        faults.any(|text| text.contains("there are no signals at node 77")),
        "{:?}",
        world.faults()
    );
}

#[test]
fn the_scripts_that_ship_do_what_they_say() {
    let bench = Bench::new();
    // The longest-queue script causes no faults, and at least about as many vehicles pass as with actuated
    // control.
    let through = |module: &str| {
        let (mut scenario, _) = crossing([900.0, 500.0]);
        let edit = controlled_by(&scenario, module);
        scenario.apply(edit).unwrap();
        let mut world = world(&bench, &scenario, 1);
        run(&mut world, 400.0);
        assert!(world.faults().is_empty(), "{:?}", world.faults());
        world.summary().agents.arrived
    };
    let (fixed, queue) = (through("fixed"), through("longest_queue.rhai"));
    assert!(
        queue >= fixed,
        "{queue} with the longest queue, {fixed} with fixed times"
    );
    // Cars that request their stage lose less time at the signals.
    let lost = |behaviour: &str| {
        let (mut scenario, node) = crossing([60.0, 0.0]);
        with_plan(&mut scenario, node, SignalPlan::default());
        driven_by(&mut scenario, behaviour);
        let mut world = world(&bench, &scenario, 1);
        run(&mut world, 900.0);
        assert!(world.faults().is_empty(), "{:?}", world.faults());
        let said = log(&world)
            .iter()
            .any(|text| text.starts_with("green at node"));
        assert_eq!(said, behaviour == "priority_bus.rhai");
        let arrived = world.finished();
        let times: Vec<f64> = arrived.map(|drive| drive.ended - drive.started).collect();
        times.iter().sum::<f64>() / times.len() as f64
    };
    let (usual, first) = (lost("lane_keeper"), lost("priority_bus.rhai"));
    assert!(
        first < usual - 2.0,
        "{first} s with its stage called, {usual} s without"
    );
}

#[test]
fn the_scripts_in_the_page_about_junctions_compile() {
    let page = std::fs::read_to_string(root().join("docs/junctions.md")).unwrap();
    let blocks: Vec<&str> = page.split("```rhai\n").skip(1).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let text = block.split("```").next().unwrap();
        let made = compile("page.rhai", text, None);
        assert!(made.is_ok(), "{:?}", made.err());
    }
}

/// Compiles a signal controller in C whose misbehaviour depends on definitions, see `tests/c/signals.c`.
fn signal_plugin(bench: &Bench, name: &str, definitions: &[&str]) -> PathBuf {
    c_source(
        "signals.c",
        &bench.folder.path().join(name),
        definitions,
        &[],
    )
}

const PLUGIN: &str = "org.roadwright.signals";

/// Returns a world with heavy traffic at the crossing, after 200 s under a plan.
fn driven(bench: &Bench, plan: SignalPlan) -> World {
    let (mut scenario, node) = crossing([700.0, 500.0]);
    with_plan(&mut scenario, node, plan);
    let mut world = world(bench, &scenario, 1);
    run(&mut world, 200.0);
    world
}

#[test]
fn a_plugin_decides_as_the_same_script_does_in_this_process_or_another() {
    let bench = Bench::new();
    bench.put_script(
        "own.rhai",
        "parameter(\"longest\", 3.0, 0.0, 100.0, \"\", \"The longest queue that is left standing.\");
        fn decide(signal) {
            let other = (signal.stage + 1) % signal.stages;
            if signal.queue[other] > signal.parameter(\"longest\") { return other; }
        }",
    );
    let with_parameter = |module: &str, longest: f64| {
        let mut plan = by(module);
        let parameters = &mut plan.controller.as_mut().unwrap().parameters;
        parameters.insert("longest".into(), longest);
        plan
    };
    for longest in [3.0, 8.0] {
        let script = driven(&bench, with_parameter("own.rhai", longest));
        let expected = script.snapshot().hash();
        for (definitions, isolated) in [
            (&[][..], false),
            (&["BY_MOVEMENTS"][..], false),
            (&[][..], true),
        ] {
            let mut bench = Bench::new();
            if isolated {
                bench.open(|options| _ = options.isolated.insert(PLUGIN.into()));
            }
            bench.put_file("own.so", &signal_plugin(&bench, "own", definitions));
            let plugin = driven(&bench, with_parameter(PLUGIN, longest));
            assert!(plugin.faults().is_empty(), "{:?}", plugin.faults());
            assert_eq!(
                plugin.snapshot().hash(),
                expected,
                "{definitions:?} {isolated}"
            );
        }
        // The plugin has an effect, because actuated control alone gives a different run.
        assert_ne!(driven(&bench, actuated()).snapshot().hash(), expected);
    }
}

#[test]
fn what_a_plugin_leaves_open_or_gets_wrong_is_decided_by_demand() {
    let demand = driven(&Bench::new(), actuated()).summary().agents.arrived;
    for (definition, said) in [
        ("LEFT_OPEN", ""),
        ("WRONG_STAGE=2", "stage 2 of 2"),
        ("WRONG_STAGE=-7", "a stage outside -1 to 31"),
        ("FAILS", "returned -6"),
    ] {
        let bench = Bench::new();
        bench.put_file("own.so", &signal_plugin(&bench, "own", &[definition]));
        let world = driven(&bench, by(PLUGIN));
        let arrived = world.summary().agents.arrived;
        assert!(
            arrived * 100 >= demand * 90,
            "{definition}: {arrived} of {demand}"
        );
        assert_eq!(world.faults().is_empty(), said.is_empty(), "{definition}");
        let told = log(&world).iter().any(|text| text.contains(said));
        assert!(told || said.is_empty(), "{definition}: {:?}", log(&world));
    }
}

#[test]
fn a_plugin_that_crashes_in_a_process_of_its_own_is_stood_in_for() {
    let mut bench = Bench::new();
    bench.open(|options| _ = options.isolated.insert(PLUGIN.into()));
    bench.put_file("own.so", &signal_plugin(&bench, "own", &["CRASH_AFTER=20"]));
    let world = driven(&bench, by(PLUGIN));
    let demand = driven(&Bench::new(), actuated()).summary().agents.arrived;
    let arrived = world.summary().agents.arrived;
    assert!(arrived * 100 >= demand * 90, "{arrived} of {demand}");
    assert!(!world.faults().is_empty());
}

#[test]
fn what_a_plugin_keeps_is_saved_and_taken_over_by_the_next_build() {
    let bench = Bench::new();
    bench.put_file("own.so", &signal_plugin(&bench, "own", &["EVERY=13"]));
    let (mut scenario, node) = crossing([600.0, 500.0]);
    with_plan(&mut scenario, node, by(PLUGIN));
    let mut going = world(&bench, &scenario, 1);
    run(&mut going, 70.0);
    let bytes = going.save().unwrap().to_bytes();
    let saved = SavedWorld::from_bytes(&bytes).unwrap();
    let registry = bench.host().registry();
    let ground = Ground::new(&scenario);
    let options = RunOptions::default();
    let (mut restored, notes) =
        World::restore(ground, &scenario, &registry, &options, &saved).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    for _ in 0..800 {
        going.step();
        restored.step();
    }
    assert_eq!(restored.state_hash(), going.state_hash());
    // Another build continues the count of the first build.
    let newer = signal_plugin(&bench, "newer", &["EVERY=13", "VERSION=\"2.0.0\""]);
    bench.put_file("own.so", &newer);
    let mut swapped = World::new(&scenario, &registry, &options).unwrap();
    run(&mut swapped, 10.0);
    let first = signal_plugin(&bench, "first", &["EVERY=13"]);
    bench.put_file("own.so", &first);
    run(&mut swapped, 140.0);
    let swap = &swapped.swaps()[0];
    assert_eq!((swap.slot, &*swap.module), ("signal_controller", PLUGIN));
    let mut plain = world(&bench, &scenario, 1);
    run(&mut plain, 150.0);
    assert_eq!(swapped.snapshot().hash(), plain.snapshot().hash());
}

/// Tests a binary that was built with the header of version 1.1. Its source, `kept_signals.c`, is in the same
/// folder.
#[test]
fn a_binary_of_abi_1_1_works_for_ever() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        eprintln!("skipped: the kept binary is for x86-64 Linux");
        return;
    }
    let bench = Bench::new();
    let kept = root().join("runtime/extension/tests/abi/signals-1.1-x86_64-linux.so");
    bench.put_file("kept.so", &kept);
    bench.put_file("own.so", &signal_plugin(&bench, "own", &[]));
    let [old, new] = ["org.roadwright.kept.signals", PLUGIN].map(|id| {
        let world = driven(&bench, by(id));
        assert!(world.faults().is_empty(), "{:?}", world.faults());
        world.snapshot().hash()
    });
    assert_eq!(old, new);
}

#[test]
fn a_host_that_is_too_old_is_named() {
    let bench = Bench::new();
    let library = signal_plugin(&bench, "own", &["MIN_MINOR=6"]);
    let said = roadwright_extension::inspect(&library)
        .err()
        .unwrap()
        .to_string();
    assert!(
        said.contains("needs ABI 1.6, but this host has 1.5"),
        "{said}"
    );
}
