//! Capabilities, limits and reloading of behaviour scripts.
#![allow(clippy::disallowed_methods, reason = "tests wait in wall time")]

use crate::common::{Bench, root, run, shipped, wait_until};
use roadwright_agent::Slot;
use roadwright_extension::script::{ApiKind, api, api_markdown, compile, shipped as scripts};
use roadwright_scenario::{BodyKind, Edit, ModuleSetting, PointOfInterest, Scenario, Stack};
use roadwright_simulation::{ModuleOverrides, RunOptions, Status, World};
use roadwright_testing::is_slow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn error(text: &str) -> String {
    match compile("x.rhai", text, None) {
        Ok(_) => panic!("no mistake was found in {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let said = error("fn behave(agent) {\n    agent.speed_factor = ;\n}");
    assert!(said.starts_with("x.rhai:2:26: "), "{said}");
    assert!(said.contains("    agent.speed_factor = ;\n"), "{said}");
    assert!(said.ends_with(&format!("{}^", " ".repeat(29))), "{said}");
    for (text, place, words) in [
        (
            "fn behave(agent) { agent.sped }",
            "x.rhai:1:26",
            "agent has no property \"sped\"; did you mean \"speed\"?",
        ),
        (
            "fn behave(agent) {\n  agent.go_too(1, 2);\n}",
            "x.rhai:2:9",
            "agent has no function \"go_too\"; did you mean \"go_to\"?",
        ),
        (
            "fn behave(agent) { frobnicate(3) }",
            "x.rhai:1:20",
            "there is no function \"frobnicate\"",
        ),
        (
            "fn behave(agent) { let a = b; }",
            "x.rhai:1:28",
            "Undefined variable: b",
        ),
        (
            "fn behave(agent) { agent.speed = 3.0 }",
            "x.rhai:1:26",
            "speed",
        ),
        (
            "fn other(agent) {}",
            "x.rhai: ",
            "a script needs fn behave(agent)",
        ),
        (
            "fn behave(agent) { agent.wait(\"long\") }",
            "x.rhai:1:26",
            "expected a number, found string",
        ),
        ("fn behave(agent) { throw \"no\" }", "x.rhai:1:20", "no"),
        (
            "fn behave(agent) { agent.memory.x = [1] }",
            "x.rhai:1:",
            "only numbers, booleans and strings",
        ),
        ("fn behave(agent) { eval(\"1\") }", "x.rhai:1:20", "eval"),
        (
            "import \"../secret\" as s; fn behave(agent) {}",
            "x.rhai:1:1",
            "import names consist of",
        ),
        (
            "parameter(\"a\", 9.0, 0.0, 1.0, \"\", \"\"); fn behave(agent) {}",
            "x.rhai:1:1",
            "9 is outside the range 0 to 1",
        ),
    ] {
        let said = error(text);
        assert!(said.contains(words), "{said}");
        assert!(said.starts_with(place), "{place}: {said}");
    }
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let shown = |said: &str| -> (String, String) {
        let mut lines = said.lines().skip(1).map(|line| line[4..].to_owned());
        (lines.next().unwrap(), lines.next().unwrap())
    };
    for (before, after) in [(0, 500), (500, 500), (500, 0), (0, 0)] {
        let (before, after) = ("é ".repeat(before / 2), " ü".repeat(after / 2));
        let text = format!("/* {before}*/ fn behave(agent) {{ nobody(1) }} /* {after}*/");
        let (line, caret) = shown(&error(&text));
        assert!(line.chars().count() <= 122, "{line}");
        let below: String = line.chars().skip(caret.len() - 1).take(6).collect();
        assert_eq!(below, "nobody", "{line}\n{caret}");
        assert_eq!(line.starts_with('…'), !before.is_empty(), "{line}");
        assert_eq!(line.ends_with('…'), !after.is_empty(), "{line}");
    }
    // A control character takes one column and is not sent to the terminal.
    let (line, caret) = shown(&error("/* \u{1b}[2J\t*/ fn behave(agent) { nobody(1) }"));
    assert!(line.starts_with("/* \u{fffd}[2J */"), "{line}");
    assert_eq!(line.chars().nth(caret.len() - 1), Some('n'));
}

#[test]
fn functions_have_a_limit_of_parameters() {
    let names: Vec<String> = (0..10_000).map(|at| format!("p{at}")).collect();
    let text = format!("fn fat({}) {{}} fn behave(agent) {{}}", names.join(","));
    let began = Instant::now();
    let said = error(&text);
    assert!(
        said.starts_with("x.rhai:1:4: fn fat has more than 64 parameters"),
        "{said}"
    );
    assert!(said.len() < 500, "{said}");
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn what_can_be_known_is_found_before_running() {
    let inside = |body: &str| format!("fn behave(me) {{\n  if me.time > 1e9 {{ {body} }}\n}}");
    for (text, line, words) in [
        ("fn on_arive(agent) {}\nfn behave(agent) {}".into(), 1, "did you mean \"on_arrive\"?"),
        ("fn on_sunset(agent) {}\nfn behave(agent) {}".into(), 1, "the host never calls the handler"),
        ("fn on_message(agent) {}\nfn behave(agent) {}".into(), 1, "write fn on_message(agent, message)"),
        (inside("me.speed = 5.0;"), 2, "agent.speed is read-only"),
        (inside("me.sped_factor = 1.0;"), 2, "did you mean \"speed_factor\"?"),
        (inside("me.stopp();"), 2, "did you mean \"stop\"?"),
        (inside("for one in me.nearby(5.0) { let x = one.sped; }"), 2, "other has no property \"sped\""),
        (inside("let one = me.find(2); one.dist = 1;"), 2, "other has no property"),
        (inside("me.leader.sped"), 2, "did you mean \"speed\"?"),
        (inside("me.use_module(\"controler\", \"idm\");"), 2, "did you mean \"controller\"?"),
        (inside("me.prefer_lane(\"lft\");"), 2, "did you mean \"left\"?"),
        (inside("me.parameter(\"pase\");"), 2, "no parameter \"pase\""),
        (inside("me.goto(1, 2);"), 2, "did you mean \"go_to\"?"),
        ("fn slow(who) {\n  who.speed_fctor = 0.5;\n}\nfn behave(agent) { if agent.time > 1e9 { slow(agent); } }".into(), 2, "did you mean \"speed_factor\"?"),
        ("fn on_message(a, m) {\n  if m.topc == \"x\" {}\n}\nfn behave(agent) {}".into(), 2, "did you mean \"topic\"?"),
        ("let count = 0;\nfn behave(agent) { count += 1; }".into(), 2, "store values that change in agent.memory"),
        ("fn behave(agent) {\n  agent.memory.laps += 1; }".into(), 2, "agent.memory.name ?? 0"),
    ] {
        let text: String = text;
        let said = error(&text);
        assert!(said.starts_with(&format!("x.rhai:{line}:")), "{text}: {said}");
        assert!(said.contains(words), "{text}: {said}");
    }
    // The same statements without mistakes cause no error, and neither do cases that cannot be checked in
    // advance.
    for text in [
        inside("me.speed_factor = 1.0; me.stop(); me.leader.speed; me.memory.anything = 1;"),
        inside("let one = me.find(2); one.distance; for o in me.nearby(5.0) { o.speed; }"),
        inside("let map = #{speed: 1}; map.speed = 2; map.anything = 3; let a = [1]; a.push(2);"),
        "fn twice(x) { x.value * 2 } fn behave(agent) { twice(#{value: 1}); }".into(),
        "fn leave(agent) { agent.stop(); } fn on_highway(agent) { agent.lane == 1 } fn behave(agent) { if on_highway(agent) { leave(agent); } }".into(),
        inside("let best = me.leader; best = #{gap: 3.0}; best.gap;"),
        inside("let x = me.leader; x.speed; let x = #{a: 1}; x.a;"),
        inside("for o in me.nearby(9.0) { o.speed; } for o in [#{a: 1}] { o.a; }"),
        "fn f(x) { x.gap } fn behave(me) { if me.time > 1e9 { f(me.leader); f(#{gap: 1}); } }".into(),
    ] {
        compile("x.rhai", &text, None).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn nothing_runs_for_ever_or_grows_without_end() {
    for (body, words) in [
        ("loop {}", "endless loop"),
        ("let a = []; loop { a.push(1); }", "Size of array"),
        ("let s = \"x\"; loop { s += s; }", "Length of string"),
        ("f(1)", "Stack overflow"),
        ("let s = \"\"; s.pad(100000000, \"x\");", "Length of string"),
    ] {
        let began = Instant::now();
        let said = error(&format!(
            "fn f(x) {{ f(x + 1) }} fn behave(agent) {{ {body} }}"
        ));
        assert!(said.contains(words), "{body}: {said}");
        assert!(began.elapsed() < Duration::from_secs(10), "{body}");
    }
    let deep = format!(
        "fn behave(agent) {{ {}1{} }}",
        "(".repeat(300),
        ")".repeat(300)
    );
    assert!(error(&deep).contains("complexity") || error(&deep).contains("depth"));
    assert!(error(&"x".repeat(300_000)).contains("at most 256 KiB"));
    // No clock, no files.
    for word in ["timestamp()", "open_file(\"x\")", "sleep(1)"] {
        let said = error(&format!("fn behave(agent) {{ {word} }}"));
        assert!(said.contains("there is no function"), "{said}");
    }
}

#[test]
fn every_documented_item_can_be_written_as_it_is_documented() {
    let value = |part: &str| match part.split(": ").nth(1) {
        // Words that the checker must know.
        _ if part.starts_with("slot") => "\"controller\"",
        _ if part.starts_with("side") => "\"left\"",
        Some("string") => "\"x\"",
        Some("float") => "1.0",
        Some("int") => "1",
        Some("bool") => "true",
        Some("array") => "[]",
        None => "1",
        other => panic!("{part}: {other:?}"),
    };
    let mut calls = 0;
    for item in api() {
        let (signature, _) = item
            .signature
            .split_once(" -> ")
            .unwrap_or((item.signature, ""));
        let text = match item.kind {
            // Functions that the host calls.
            ApiKind::Event => {
                let more = if matches!(item.name, "behave" | "decide") {
                    ""
                } else {
                    "fn behave(agent) {}"
                };
                format!("{signature} {{}} {more}")
            }
            ApiKind::Function if item.name == "parameter" => continue,
            _ => {
                let written = match signature.split_once('(') {
                    Some((name, arguments)) => {
                        let arguments = arguments.trim_end_matches(')');
                        let parts = arguments.split(", ").filter(|part| !part.is_empty());
                        let values: Vec<&str> = parts.map(value).collect();
                        format!("{name}({})", values.join(", "))
                    }
                    None => signature
                        .replace("= float", "= 1.0")
                        .replace("= string", "= \"left\""),
                };
                let written = written
                    .replace("message.", "letter.")
                    .replace("other.", "agent.find(1).")
                    .replace("signal.", "agent.signal(1).");
                format!(
                    "parameter(\"x\", 1.0, 0.0, 2.0, \"\", \"\"); fn on_message(agent, letter) {{ if agent.time < -1.0 {{ {}; }} }} \
                     fn behave(agent) {{ if agent.time < -1.0 {{ {}; }} }}",
                    if written.contains("letter.") {
                        &written
                    } else {
                        ""
                    },
                    if written.contains("letter.") {
                        ""
                    } else {
                        &written
                    },
                )
            }
        };
        if let Err(error) = compile("x.rhai", &text, None) {
            panic!("{}: {error}", item.signature);
        }
        calls += 1;
    }
    assert!(calls > 80, "{calls}");
    // Positive control: a reserved word would be found.
    assert!(error("fn behave(agent) { agent.go(); }").contains("reserved"));
}

/// Names of the API are hashed with a seed that is set once per process, so the order of the first calls matters.
#[test]
fn the_api_may_be_listed_before_the_first_script_is_compiled() {
    let alone = "scripts::every_documented_item_can_be_written_as_it_is_documented";
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    let output = test.args(["--exact", alone]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

/// Returns a script that repeats a statement in a loop.
fn repeated(times: u32, body: &str) -> String {
    format!(
        "fn behave(agent) {{ let a = []; a.pad(250, 1); let m = #{{}}; \
         for i in 0..60 {{ m[\"k\" + i] = i; }} let s = \"\"; s.pad(1000, \"x\"); \
         for turn in 0..{times} {{ {body} }} }}"
    )
}

#[test]
fn what_is_expensive_is_charged_for_its_size() {
    for body in [
        "let x = a == a;",
        "let x = a.contains(2);",
        "let x = a; x.sort();",
        "let x = a; x.dedup();",
        "let x = m == m;",
        "let x = m.to_string();",
        "let x = m.keys();",
        "let x = s; x.replace(\"x\", \"\");",
        "let x = \"\"; x.pad(1000, \"y\");",
        "let x = agent.nearby(2000.0);",
    ] {
        compile("x.rhai", &repeated(5, body), None).expect(body);
        let said = error(&repeated(1000, body));
        assert!(
            said.contains("more than 20000 operations"),
            "{body}: {said}"
        );
        // The same number of cheap operations is allowed.
        compile("x.rhai", &repeated(1000, "let x = turn + 1;"), None).unwrap();
        // The script cannot catch the error.
        let caught = format!("try {{ {} }} catch {{ }}", body);
        assert!(
            error(&repeated(1000, &caught)).contains("operations"),
            "{body}"
        );
    }
}

#[test]
fn charged_functions_do_what_the_library_does() {
    for check in [
        "[3, 1, 2].contains(1) && !([3, 1].contains(7)) && 3 in [3, 1]",
        "[3, 1, 2].index_of(2) == 2 && [3, 1, 3].index_of(3, 1) == 2",
        "let a = [3, 1, 2]; a.sort(); a == [1, 2, 3]",
        "let a = [3, 1, 2]; a.reverse(); a == [2, 1, 3] && a != [2, 1]",
        "let a = [1, 1, 2]; a.dedup(); a == [1, 2]",
        "let a = [1] + [2]; a += [3]; a.append([4]); a == [1, 2, 3, 4]",
        "let a = [1]; a.pad(3, 0); a.insert(1, 7); a == [1, 7, 0, 0]",
        "let a = [1, 2, 3]; a.extract(1) == [2, 3] && a.extract(0, 1) == [1]",
        "let a = [1, 2, 3]; a.chop(2); a.shift() == 2 && a == [3]",
        "let m = #{b: 2}; m += #{a: 1}; m.mixin(#{c: 3}); m == #{a: 1, b: 2, c: 3}",
        "let m = #{a: 1}; m.fill_with(#{a: 5, b: 6}); m == #{a: 1, b: 6} && m.keys().len() == 2",
        "let s = \"ab\"; s.pad(4, 'x'); s.replace(\"b\", \"c\"); s.crop(1, 2); s == \"cx\"",
        "#{a: 1}.to_string() == \"#{\\\"a\\\": 1}\" && [1, 2].to_string() == \"[1, 2]\"",
    ] {
        let (before, last) = check.rsplit_once("; ").unwrap_or(("", check));
        let text = format!("fn behave(agent) {{ {before}; if !({last}) {{ throw \"no\"; }} }}");
        compile("x.rhai", &text, None).expect(check);
    }
    let said = error("fn behave(agent) { const A = [2, 1]; A.sort(); }");
    assert!(said.contains("constant"), "{said}");
}

#[test]
fn endless_loops_are_told_with_their_line() {
    for text in [
        "fn behave(agent) {\n  loop {}\n}",
        "fn behave(agent) {\n  while true {}\n}",
        "fn behave(agent) {\n  loop { let x = 1; }\n}",
        "fn f() {\n  loop {}\n}\nfn behave(agent) { f(); }",
    ] {
        let said = error(text);
        assert!(said.starts_with("x.rhai:2:"), "{said}");
    }
}

/// Keeps all cores busy until it is dropped.
struct Load(Arc<AtomicBool>);

impl Load {
    fn new() -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..4 * cores {
            let goes_on = goes_on.clone();
            std::thread::spawn(move || {
                while goes_on.load(Ordering::Relaxed) {
                    std::hint::black_box((0..1000u64).sum::<u64>());
                }
            });
        }
        Self(goes_on)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn a_busy_machine_changes_nothing() {
    // About 19,000 operations per call: close to the limit, and longer than a time slice on shared cores.
    let heavy = "fn behave(agent) { let x = 0; for i in 0..2700 { x = (x + i) % 17; } agent.speed_factor = 0.5 + x / 34.0; }";
    let bench = Bench::new();
    bench.put_script("lone.rhai", heavy);
    let scenario = shipped("old-town");
    let hash = || {
        let options = RunOptions::default();
        let mut world = bench.world(&scenario, Slot::Behaviour, "lone.rhai", options);
        run(&mut world, if is_slow() { 4.0 } else { 0.4 });
        assert!(world.faults().is_empty(), "{:?}", world.faults());
        world.state_hash()
    };
    let alone = hash();
    let _load = Load::new();
    assert_eq!([hash(), hash()], [alone; 2]);
}

#[test]
fn a_script_that_always_faults_is_switched_off() {
    let (bench, scenario) = lone("fn behave(agent) { if agent.time > 0.5 { throw \"always\"; } }");
    let mut world = world_of(&bench, &scenario);
    run(&mut world, 60.0);
    let faults: Vec<_> = world.log().filter(|line| line.is_fault).collect();
    let told = |words: &str| {
        faults
            .iter()
            .filter(|line| line.text.contains(words))
            .count()
    };
    assert_eq!(
        (told("always"), told("20 consecutive faults")),
        (1, 1),
        "{faults:?}"
    );
    let total: u64 = world.faults().values().sum();
    let agents = world.counts().spawned as u64;
    assert_eq!(
        total,
        21 * agents,
        "each agent: 20 faults, and being switched off"
    );
    // The host tries a changed version of the script.
    bench.put_script("lone.rhai", "fn behave(agent) { agent.log(\"again\"); }");
    run(&mut world, 1.0);
    assert!(log(&world).contains("again"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_script_or_a_mistake(text in ".{0,300}") {
        let _ = compile("x.rhai", &text, None);
    }

    #[test]
    fn any_body_of_known_words_ends(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "agent.", "speed", "memory.", "x", " = ", "1", "loop ", "{", "}", "(", ")", ";", "let ",
            "if ", "else ", "nearby(10)", "agent", "+", "[", "]", "fn f(a) ", "while ", "true",
        ]), 0..40,
    )) {
        let text = format!("fn behave(agent) {{ {} }}", words.concat());
        let _ = compile("x.rhai", &text, None);
    }
}

#[test]
fn all_that_is_registered_is_documented() {
    let items = api();
    assert!(items.len() > 60);
    for item in items {
        assert!(
            item.doc.ends_with('.') || item.doc.ends_with("gives ()."),
            "{}",
            item.signature
        );
        let is_typed = item.kind == ApiKind::Event || item.signature.contains(item.name);
        assert!(is_typed, "{}", item.signature);
    }
    // The page in the documentation equals this list.
    let page = std::fs::read_to_string(root().join("docs/script-api.md")).unwrap();
    assert!(
        page == api_markdown(),
        "docs/script-api.md is out of date; renew with: roadwright script api --markdown > docs/script-api.md"
    );
}

#[test]
fn all_shipped_scripts_compile_and_are_used_by_a_shipped_scenario() {
    let scenarios = ["car-park", "rush-hour", "convoy", "chase", "trailer-yard"].map(shipped);
    for (id, text) in scripts() {
        let compiled = compile(id, text, None).unwrap_or_else(|error| panic!("{error}"));
        assert!(!compiled.doc.is_empty(), "{id} says nothing about itself");
        let uses = |scenario: &Scenario| {
            let named = scenario
                .stacks()
                .iter()
                .find(|(_, s)| s.behaviour.module == *id);
            named.is_some_and(|(name, _)| {
                let agents = scenario.agents().values().map(|agent| &agent.stack);
                let flows = scenario.flows().values().map(|flow| &flow.stack);
                agents.chain(flows).any(|stack| stack == name)
            })
        };
        // Scripts about signals are used in `signals.rs`, by `--use` and by plans of junctions.
        let is_about_signals = matches!(*id, "longest_queue.rhai" | "priority_bus.rhai");
        assert!(
            is_about_signals || scenarios.iter().any(uses),
            "{id} is not used"
        );
    }
}

fn scripted_run(scenario: &Scenario, threads: usize, seconds: f64) -> World {
    let bench = Bench::new();
    let options = RunOptions {
        threads,
        ..RunOptions::default()
    };
    let mut world = World::new(scenario, &bench.host().registry(), &options).unwrap();
    run(&mut world, seconds);
    assert!(world.faults().is_empty(), "{:?}", world.faults());
    world
}

fn log(world: &World) -> String {
    world
        .log()
        .map(|line| format!("{:.1} {} {}\n", line.time, line.agent, line.text))
        .collect()
}

#[test]
fn scripted_scenarios_are_the_same_with_any_number_of_threads() {
    for name in ["rush-hour", "convoy", "chase"] {
        let scenario = shipped(name);
        let one = scripted_run(&scenario, 1, 60.0);
        let two = scripted_run(&scenario, 2, 60.0);
        assert_eq!(one.state_hash(), two.state_hash(), "{name}");
        assert_eq!(log(&one), log(&two), "{name}");
    }
}

#[test]
fn what_scripted_scenarios_show_holds() {
    // See the golden hashes of the simulation crate.
    let mut found = String::new();
    for name in ["car-park", "chase", "convoy", "rush-hour", "trailer-yard"] {
        let world = scripted_run(&shipped(name), 1, 30.0);
        found += &format!("{name} 30 {:016x}\n", world.snapshot().hash());
    }
    let golden = include_str!("golden.txt");
    assert_eq!(golden, found, "golden hashes differ; found:\n{found}");
}

/// A script that clears a corridor between the leftmost lane and the others, as for an ambulance.
const CORRIDOR: &str = "fn behave(agent) {
    agent.lane_offset = if agent.has_lane_left { -1.0 } else { 1.0 };
}";

#[test]
fn an_emergency_corridor_is_formed_without_a_contact() {
    let bench = Bench::new();
    bench.put_script("corridor.rhai", CORRIDOR);
    let mut modules = ModuleOverrides::default();
    let all = vec!["corridor.rhai".to_owned()];
    modules.set(Slot::Behaviour, all).unwrap();
    let options = RunOptions {
        modules,
        verify: true,
        ..RunOptions::default()
    };
    let registry = bench.host().registry();
    let mut world = World::new(&shipped("motorway-m4"), &registry, &options).unwrap();
    let (mut aside, mut seen) = (0, 0);
    while world.time() < 120.0 {
        run(&mut world, 10.0);
        let vehicles = world.snapshot().vehicles;
        seen += vehicles.len();
        aside += vehicles.iter().filter(|v| v.t.abs() > 0.4).count();
    }
    assert!(world.faults().is_empty(), "{:?}", world.faults());
    assert_eq!(world.collisions().len(), 0, "{:?}", world.collisions());
    // Control: most of the others made room.
    assert!(2 * aside > seen, "{aside} of {seen}");
}

#[test]
fn the_chase_ends_with_a_catch() {
    let world = scripted_run(&shipped("chase"), 1, 300.0);
    assert!(log(&world).contains("caught agent 1"), "{}", log(&world));
}

#[test]
fn the_convoy_keeps_together() {
    let mut world = scripted_run(&shipped("convoy"), 1, 25.0);
    let mut widest: f64 = 0.0;
    for _ in 0..10 {
        run(&mut world, 1.0);
        let vehicles = world.snapshot().vehicles;
        let pairs = vehicles.windows(2);
        let gaps = pairs.map(|p| (p[0].pose.position - p[1].pose.position).length());
        widest = gaps.fold(widest, f64::max);
    }
    assert!(widest < 40.0, "{widest} m apart");
    run(&mut world, 120.0);
    assert!(world.counts().arrived >= 1);
}

#[test]
fn the_bus_keeps_its_timetable_and_the_ambulance_returns() {
    let mut world = scripted_run(&shipped("rush-hour"), 1, 0.0);
    let bus = 31;
    let mut stops = Vec::new();
    while world.time() < 400.0 {
        run(&mut world, 1.0);
        let mut marks = world.marks().filter(|mark| mark.agent == bus);
        if let Some(mark) = marks.find(|mark| mark.text.starts_with("stop "))
            && stops
                .last()
                .is_none_or(|(text, _): &(String, f64)| *text != mark.text)
        {
            stops.push((mark.text.clone(), world.time()));
        }
    }
    // More than one round, with the stops in order.
    let order: Vec<&str> = stops.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(
        &order[..5],
        ["stop 1", "stop 2", "stop 3", "stop 4", "stop 1"],
        "{stops:?}"
    );
    let said = log(&world);
    assert!(said.contains("32 arrived after"), "{said}");
    assert!(said.contains("32 back at the base"), "{said}");
}

/// Tests that a truck uncouples its trailer, drives a lap, couples the trailer again and arrives, with one
/// thread and with two.
#[test]
fn the_shuttle_leaves_its_trailer_and_fetches_it() {
    let scenario = shipped("trailer-yard");
    let shuttle = 4;
    let runs = [1, 2].map(|threads| {
        let mut world = scripted_run(&scenario, threads, 3.0);
        let mut stages = Vec::new();
        let (mut place, mut farthest) = (None, 0.0_f64);
        while world.time() < 180.0 {
            run(&mut world, 0.5);
            let snapshot = world.snapshot();
            let Some(vehicle) = snapshot.vehicle(shuttle) else {
                break;
            };
            let of_it = snapshot.trailers.iter().filter(|one| one.agent == shuttle);
            let stage = (of_it.count(), snapshot.standing.len());
            if stages.last() != Some(&stage) {
                stages.push(stage);
            }
            if let Some(standing) = snapshot.standing.first() {
                // The trailer stays exactly where it was left.
                assert_eq!(
                    *place.get_or_insert(standing.trailer.body),
                    standing.trailer.body
                );
                let away = vehicle.pose.position - standing.trailer.coupling;
                farthest = farthest.max(away.length());
            }
        }
        assert_eq!(stages, [(1, 0), (0, 1), (1, 0)], "{}", log(&world));
        assert!(farthest > 40.0, "{farthest}");
        let mut ended = world.finished();
        let drive = ended.find(|drive| drive.id == shuttle).unwrap();
        assert_eq!(drive.status, Status::Arrived, "{}", log(&world));
        let said = log(&world);
        assert!(
            said.contains("uncoupled 1") && said.contains(" coupled 1"),
            "{said}"
        );
        assert!(!said.contains("couple:"), "at once: {said}");
        assert_eq!(world.collisions(), []);
        println!("{said}arrived at {:.0} s", world.time());
        (world.state_hash(), said)
    });
    assert_eq!(runs[0], runs[1]);
}

/// Creates one car on a long road, driven by a script.
fn lone(script: &str) -> (Bench, Scenario) {
    let bench = Bench::new();
    bench.put_script("lone.rhai", script);
    let mut scenario = shipped("convoy");
    let mut behaviour = ModuleSetting::new("lone.rhai");
    behaviour.rate_hz = Some(10.0).into();
    let stack = Stack {
        behaviour,
        ..Stack::with_controller("idm")
    };
    let edit = Edit::Stack("convoy".into(), Some(Box::new(stack)));
    scenario.apply(edit).unwrap();
    (bench, scenario)
}

fn world_of(bench: &Bench, scenario: &Scenario) -> World {
    World::new(scenario, &bench.host().registry(), &RunOptions::default()).unwrap()
}

#[test]
fn scripts_steer_speeds_messages_modules_and_parameters() {
    let (bench, scenario) = lone(
        r#"
fn on_start(agent) {
    agent.desired_speed = if agent.id == 6 { 0.0 } else { 5.0 };
    if agent.id == 1 { agent.send(2, "hello", 7); }
    if agent.id == 3 { agent.use_module("controller", "pursuit"); }
    if agent.id == 4 { agent.set_parameter("controller", "headway", 3.0); }
    if agent.id == 5 { agent.set_parameter("controller", "nonsense", 3.0); }
}
fn on_message(agent, message) {
    agent.log(`${message.topic} ${message.value} from ${message.from}`);
    agent.stop();
}
fn on_near(agent, other) { agent.memory.seen = (agent.memory.seen ?? 0) + 1; }
fn on_blocked(agent) { agent.log("blocked"); }
fn behave(agent) { if agent.time > 9.0 && agent.id == 6 { agent.log(`saw ${agent.memory.seen}`); } }
"#,
    );
    let mut world = world_of(&bench, &scenario);
    run(&mut world, 10.0);
    let said = log(&world);
    assert!(said.contains("2 hello 7.0 from 1"), "{said}");
    assert!(said.contains("6 saw "), "{said}");
    assert!(
        said.contains("5 stack \"convoy\", controller \"idm\": unknown parameter"),
        "{said}"
    );
    assert_eq!(world.inspect(3).unwrap().controller, "pursuit");
    assert_eq!(world.inspect(4).unwrap().controller, "idm");
    let speed = |id: u64| world.inspect(id).unwrap().input.speed;
    assert!((4.0..5.2).contains(&speed(1)), "{}", speed(1));
    assert!(speed(2) < 0.1, "{}", speed(2));
    // A vehicle that is blocked is reported as blocked, but a vehicle that was ordered to stop is not.
    run(&mut world, 20.0);
    let said = log(&world);
    assert!(
        said.contains("6 blocked") && !said.contains("2 blocked"),
        "{said}"
    );
}

#[test]
fn a_runtime_mistake_is_told_once_and_the_agent_drives_on() {
    let (bench, scenario) = lone(
        "fn behave(agent) {\n    if agent.id == 2 && agent.time > 1.0 {\n        agent.memory.nothing.deeper;\n    }\n}",
    );
    let mut world = world_of(&bench, &scenario);
    run(&mut world, 10.0);
    let faults: Vec<_> = world.faults().iter().collect();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[1].0.starts_with("lone.rhai:3:"), "{faults:?}");
    assert_eq!(*faults[1].1, 20, "{faults:?}");
    assert_eq!(world.log().filter(|line| line.is_fault).count(), 2);
    assert!(world.inspect(2).unwrap().input.speed > 3.0);
    assert_eq!(bench.row("lone.rhai").faults, 20);
}

#[test]
fn a_reload_keeps_memory_and_a_mistake_keeps_the_last_good_version() {
    let count = |step: i64| {
        format!(
            "fn behave(agent) {{ agent.memory.count = (agent.memory.count ?? 0) + {step}; agent.log(`${{agent.memory.count}}`); }}"
        )
    };
    let (bench, scenario) = lone(&count(1));
    let mut world = world_of(&bench, &scenario);
    run(&mut world, 1.0);
    let last = |world: &World| -> i64 {
        let lines: Vec<_> = world.log().filter(|line| line.agent == 1).collect();
        lines.last().unwrap().text.parse().unwrap()
    };
    let before = last(&world);
    assert_eq!(before, 10);
    bench.put_script("lone.rhai", &count(1000));
    world.step();
    assert_eq!(world.swaps().len(), 1);
    assert!(world.swaps()[0].note.contains("memory kept"));
    run(&mut world, 0.2);
    assert!(last(&world) >= before + 1000);
    // A mistake is reported with its position, and the running version continues.
    bench.put_script("lone.rhai", "fn behave(agent) { oops(");
    let said = bench.said();
    assert!(said.contains("lone.rhai:1:"), "{said}");
    let value = last(&world);
    run(&mut world, 1.0);
    assert!(last(&world) > value + 5000);
    assert_eq!(world.swaps().len(), 1);
    let row = bench.row("lone.rhai");
    assert!(row.last_error.unwrap().contains("lone.rhai:1:"));
    // Corrected.
    bench.put_script("lone.rhai", &count(0));
    run(&mut world, 0.2);
    assert_eq!(world.swaps().len(), 2);
}

#[test]
fn a_saved_script_acts_in_the_running_world() {
    let bench = Bench::with(|options| options.watch = true);
    bench.put_script("lone.rhai", "fn behave(agent) {}");
    let scenario = shipped("convoy");
    let options = RunOptions::default();
    let mut world = bench.world(&scenario, Slot::Behaviour, "lone.rhai", options);
    run(&mut world, 1.0);
    let began = Instant::now();
    let text = "fn behave(agent) { agent.stop(); }";
    std::fs::write(bench.scripts().join("lone.rhai"), text).unwrap();
    wait_until("the new version is there", || {
        world.step();
        !world.swaps().is_empty()
    });
    println!("from save to step: {:?}", began.elapsed());
}

#[test]
fn imports_come_from_the_folder_and_reload_their_importers() {
    let bench = Bench::new();
    bench.put_script("tools.rhai", "fn pace() { 3.0 }");
    let text = "import \"tools\" as tools;\nconst FACTOR = 2.0;\nfn half() { FACTOR / 4.0 }\nfn behave(agent) { agent.desired_speed = tools::pace() * half() * FACTOR; }";
    bench.put_script("lone.rhai", text);
    let scenario = shipped("convoy");
    let options = RunOptions::default();
    let mut world = bench.world(&scenario, Slot::Behaviour, "lone.rhai", options);
    run(&mut world, 15.0);
    let speed = |world: &World| world.inspect(1).unwrap().input.speed;
    assert!((2.5..3.1).contains(&speed(&world)), "{}", bench.said());
    bench.put_script("tools.rhai", "fn pace() { 6.0 }");
    run(&mut world, 10.0);
    assert!((5.5..6.1).contains(&speed(&world)), "{}", speed(&world));
    // Imports of imports, and a file that appears after the script that imports it.
    bench.put_script(
        "tools.rhai",
        "import \"deep/base\" as base; fn pace() { base::pace() }",
    );
    assert!(bench.said().contains("there is no script"));
    std::fs::create_dir(bench.scripts().join("deep")).unwrap();
    bench.put_script("deep/base.rhai", "fn pace() { 3.0 }");
    run(&mut world, 10.0);
    assert!(
        (2.5..3.1).contains(&speed(&world)),
        "{}: {}",
        speed(&world),
        bench.said()
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/hostname", bench.scripts().join("link.rhai")).unwrap();
        bench.put_script("lone.rhai", "import \"link\" as l; fn behave(agent) {}");
        assert!(bench.said().contains("links are not followed"));
    }
}

#[test]
fn arriving_agents_leave_unless_the_script_wants_otherwise() {
    let (bench, scenario) = lone(
        "fn on_arrive(agent) { if agent.id == 1 { agent.wait(1000.0); } agent.log(\"here\"); } fn behave(agent) {}",
    );
    let mut world = world_of(&bench, &scenario);
    run(&mut world, 150.0);
    assert!(log(&world).contains("1 here"), "{}", log(&world));
    let vehicles = world.snapshot().vehicles;
    assert!(
        vehicles
            .iter()
            .any(|v| v.agent == 1 && v.status == Status::Active)
    );
    assert!(vehicles.iter().find(|v| v.agent == 1).unwrap().speed < 0.1);
}

#[test]
fn parameters_of_scripts_are_set_by_the_stack() {
    let (bench, mut scenario) = lone(
        "parameter(\"pace\", 4.0, 0.0, 9.0, \"m/s\", \"How fast.\"); fn behave(agent) { agent.desired_speed = agent.parameter(\"pace\"); }",
    );
    let row = bench.row("lone.rhai");
    assert_eq!(
        (row.parameters[0].key, row.parameters[0].unit),
        ("pace", "m/s")
    );
    let mut world = world_of(&bench, &scenario);
    run(&mut world, 10.0);
    let speed = |world: &World| world.inspect(1).unwrap().input.speed;
    assert!((3.5..4.1).contains(&speed(&world)));
    let old = scenario.clone();
    let mut stack = scenario.stacks()["convoy"].clone();
    stack.behaviour.parameters.insert("pace".into(), 7.0);
    scenario
        .apply(Edit::Stack("convoy".into(), Some(Box::new(stack))))
        .unwrap();
    world
        .update(&old, &scenario, &bench.host().registry())
        .unwrap();
    run(&mut world, 10.0);
    assert!((6.0..7.1).contains(&speed(&world)), "{}", speed(&world));
}

/// Longest waits in a car park so far, s.
#[derive(Debug, Default)]
struct CarPark {
    /// Times for which vehicles and people have stood outside bays, by agent.
    standing: BTreeMap<u64, f64>,
    longest: f64,
    parked: BTreeSet<u64>,
}

impl CarPark {
    /// Looks at all vehicles and people, once a second.
    fn look(&mut self, world: &World, bays: &[PointOfInterest]) {
        for one in world.snapshot().vehicles {
            let place = one.body.position;
            let mut near = bays.iter();
            let is_in_bay = near.any(|bay| (bay.position() - place).length() < 1.0);
            let stands = one.speed.abs() < 0.05;
            if stands && is_in_bay {
                self.parked.insert(one.agent);
            }
            let wait = self.standing.entry(one.agent).or_default();
            *wait = if stands && !is_in_bay {
                *wait + 1.0
            } else {
                0.0
            };
            self.longest = self.longest.max(*wait);
        }
    }
}

/// Returns the longest time for which a car has waited in its bay after its driver had returned, s,
/// according to the log.
fn longest_wait_to_leave(log: &str) -> u32 {
    let waits = log.split("leaves after waiting ").skip(1);
    let waits = waits.filter_map(|rest| rest.split(' ').next()?.parse().ok());
    waits.max().unwrap_or(0)
}

/// Tests that cars park in bays of three kinds, stay, and leave with their drivers, without a contact, and that no one
/// waits for more than two minutes. An hour in the long tests, a quarter of an hour otherwise.
#[test]
fn cars_park_in_bays_stay_and_leave_without_a_contact() {
    let scenario = shipped("car-park");
    let seconds = if is_slow() { 3600.0 } else { 900.0 };
    let bays: Vec<_> = scenario.points_of_interest().values().cloned().collect();
    let runs = [1, 2].map(|threads| {
        let mut world = scripted_run(&scenario, threads, 0.05);
        let mut car_park = CarPark::default();
        let mut to_leave = 0;
        while world.time() < seconds {
            run(&mut world, 1.0);
            car_park.look(&world, &bays);
            to_leave = to_leave.max(longest_wait_to_leave(&log(&world)));
        }
        assert_eq!(world.collisions(), [], "{}", log(&world));
        assert!(world.faults().is_empty(), "{:?}", world.faults());
        assert!(car_park.longest <= 120.0, "{car_park:?}");
        assert!(to_leave <= 120, "{to_leave}");
        let is_car = |agent: u64| car_park.parked.contains(&agent);
        let left = world.finished().filter(|one| {
            one.status == Status::Arrived && is_car(one.id)
        });
        let left = left.count();
        println!(
            "{} have parked, {left} have left; longest wait {} s on the aisle, {to_leave} s in a bay",
            car_park.parked.len(),
            car_park.longest
        );
        assert!(left >= 1 && car_park.parked.len() >= 8, "{left} {}", car_park.parked.len());
        if is_slow() {
            // Every car that has come has left or stands in a bay.
            let active = world.snapshot().vehicles;
            let outside = active.iter().filter(|one| {
                let is_in_bay = |bay: &PointOfInterest| {
                    (bay.position() - one.body.position).length() < 1.0
                };
                one.body_kind == BodyKind::Vehicle && !bays.iter().any(is_in_bay)
            });
            assert_eq!(outside.count(), 0);
            assert!(left >= 30, "{left}");
        }
        world.state_hash()
    });
    assert_eq!(runs[0], runs[1]);
}
