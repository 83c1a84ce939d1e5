//! Tests with scripts that try to do more work than they are charged for. The work is measured in copies of
//! values, because time depends on the machine.

use super::budget::{OPERATIONS, begin_call, charged, limit};
use super::compile::{Parameters, engine};
use super::copies::charge_copies;
use super::rehearsal::made_up;
use rhai::{Dynamic, Engine};
use roadwright_agent::{AgentFacts, Surroundings};
use roadwright_geometry::DVec2;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

thread_local! {
    static COPIES: Cell<u64> = const { Cell::new(0) };
}

/// A value that counts its copies.
struct Counted;

impl Clone for Counted {
    fn clone(&self) -> Self {
        COPIES.set(COPIES.get() + 1);
        Self
    }
}

/// Maximum number of copies in a call that reads all values from variables: four values per operation, each
/// copied up to four times while it is passed to a function and returned.
const MOST: u64 = 16 * OPERATIONS;
/// Maximum number of copies in a call that copies `this`. Rhai has no hook for such copies. The
/// value of `this` has at most 256 elements.
const MOST_OF_THIS: u64 = 256 * OPERATIONS;

/// Beginning of each script: a counted value, a list and a map that contain it, and a function that binds 60
/// arguments.
const BEFORE: &str = "
    fn same(x) { x }
    fn hold() { let t = this; }
    fn hold_on() { loop { let t = this; } }
    let c = counted();
    let list = []; list.pad(250, c);
    let map = #{}; for i in 0..60 { map[\"k\" + i] = c; }
    let f = Fn(\"same\"); for i in 0..60 { f = f.curry(c); }
";

/// Runs a script in an engine. Returns the number of copies, and how the script ended.
fn copies(engine: &mut Engine, script: &str) -> (u64, String) {
    engine.register_fn("counted", || Counted);
    begin_call();
    COPIES.set(0);
    let ended = engine.eval::<Dynamic>(&format!("{BEFORE}{script}"));
    let ended = ended.map_or_else(|error| error.to_string(), |_| String::new());
    (COPIES.get(), ended)
}

#[test]
fn what_a_script_copies_is_within_its_budget() {
    let stopped = "operations";
    for (script, most, ends) in [
        (
            "let g = Fn(\"same\"); loop { g = g.curry(c); }",
            MOST,
            "at most 64 bound",
        ),
        ("loop { f = f.curry(f); }", MOST, "at most 64"),
        (
            "let g = Fn(\"same\"); loop { g = Fn(\"same\").curry(g, g); }",
            MOST,
            stopped,
        ),
        (
            "let g = || c; loop { let h = g; g = || h.call(); }",
            MOST,
            "deep",
        ),
        ("let a = 1; loop { a = [a]; }", MOST, "deep"),
        ("loop { let g = f; }", MOST, stopped),
        ("loop { try { f.call(); } catch {} }", MOST, stopped),
        ("loop { try { call(f); } catch {} }", MOST, stopped),
        (
            "let all = [f, f, f, f, f, f, f, f]; loop { let g = all[3]; }",
            MOST,
            stopped,
        ),
        ("loop { let all = []; all.pad(200, f); }", MOST, stopped),
        (
            "let all = #{ f: f }; loop { try { all.f(); } catch {} }",
            MOST,
            stopped,
        ),
        ("loop { let other = list; }", MOST, stopped),
        ("loop { same(list); }", MOST, stopped),
        ("loop { for x in list { break; } }", MOST, stopped),
        ("loop { let two = [list[0], list]; }", MOST, stopped),
        ("loop { let part = list.extract(1); }", MOST, stopped),
        ("let g = || list; loop { g.call(); }", MOST, stopped),
        ("loop { let other = map; }", MOST, stopped),
        ("loop { let all = map.values(); }", MOST, stopped),
        ("loop { list.hold(); }", MOST, stopped),
        (
            "loop { list.reverse(); list.sort(|a, b| 0); }",
            MOST,
            stopped,
        ),
        (
            "let x = 0; for i in 0..1000000000 { x += i; }",
            MOST,
            stopped,
        ),
        ("for i in range(0, 1000000000, 1) {}", MOST, stopped),
        ("let x = 0; do { x += 1; } while true", MOST, stopped),
        (
            "loop { let t = \"a\"; t.pad(1000, 'b'); t += \"c\"; }",
            MOST,
            stopped,
        ),
        (
            "loop { [3, 2, 1].sort(); parse_int(\"12\"); 1 << 62; 3.0 ** 600.0; }",
            MOST,
            stopped,
        ),
        ("list.hold_on()", MOST_OF_THIS, stopped),
        ("f.hold_on()", MOST_OF_THIS, stopped),
    ] {
        let mut engine = engine(Parameters::default());
        let (copies, ended) = copies(&mut engine, script);
        assert!(copies <= most, "{script} copies {copies} times: {ended}");
        // Rhai reports one message for its own count and the other for charges noticed in between.
        let ended = ended.replace("Script terminated", "Too many operations");
        assert!(ended.contains(ends), "{script} ended with {ended:?}");
    }
}

#[test]
fn without_the_charge_they_copy_millions() {
    let mut engine = Engine::new();
    limit(&mut engine);
    let curried = "let g = Fn(\"same\"); loop { g = g.curry(c); }";
    assert!(copies(&mut engine, curried).0 > 5 * MOST);
    // Without the charge the limit is exceeded, with it the script is stopped.
    charge_copies(&mut engine, BTreeMap::new());
    assert!(copies(&mut engine, curried).0 <= MOST);
}

#[test]
fn library_functions_are_charged_for_their_arguments() {
    let mut plain = engine(Parameters::default());
    for (script, least) in [
        ("let t = \"a\"; t.pad(1000, 'b'); t.split('b')", 1200),
        ("let t = \"a\"; t.pad(1000, 'b'); t.to_chars()", 1200),
        (
            "let t = \"a\"; t.pad(1000, 'b'); t.replace('b', \"cc\")",
            1200,
        ),
        ("list.contains(7)", 1000),
        ("list.to_debug()", 1000),
        ("map.values()", 400),
        ("[3, 1, 2].sort_desc()", 12),
        ("[].pad(100, f)", 3000),
    ] {
        let (_, before) = (copies(&mut plain, ""), charged());
        let (_, ended) = copies(&mut plain, script);
        let cost = charged() - before;
        assert!(cost >= least, "{script} is charged {cost}: {ended}");
    }
}

#[test]
fn nearby_is_charged_for_all_that_it_looks_at() {
    let (agent, scene) = made_up(7, &[]);
    let own = agent.content().facts.unwrap();
    let crowd = (0u32..300).map(|number| AgentFacts {
        id: 100 + u64::from(number),
        index: number,
        position: own.position + DVec2::new(0.05 * f64::from(number), 0.0),
        ..own
    });
    let (vehicles, stacks) = (scene.vehicles.clone(), scene.stacks.clone());
    let crowd = Surroundings::new(crowd.collect(), Vec::new(), vehicles, stacks);
    agent.content().scene = Some(Arc::new(crowd));
    let (others, work) = agent.nearby(30.0);
    assert_eq!(others.len(), 64);
    assert!(work >= 300 + 64, "{work}");
    // A wide search circle costs the grid cells that it covers, however few agents there are.
    let (others, work) = agent.nearby(2.0);
    assert!((1..64).contains(&others.len()) && work < 300, "{work}");
    agent.content().scene = Some(scene);
    let (others, work) = agent.nearby(2000.0);
    assert_eq!(others.len(), 1);
    assert!(work > 600, "{work}");
}

#[test]
fn scripts_of_people_have_enough() {
    let mut plain = engine(Parameters::default());
    let script = "
        let sum = 0;
        for i in 0..64 { let one = list[i]; sum += i; }
        let names = [\"a\", \"b\", \"c\"];
        for name in names { if names.contains(name) { sum += 1; } }
        let twice = [1, 2, 3].map(|x| x * 2);
        for key in map.keys() { let value = map[key]; }
        sum
    ";
    let (_, ended) = copies(&mut plain, script);
    assert_eq!(ended, "");
}
