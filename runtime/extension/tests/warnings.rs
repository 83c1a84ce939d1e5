//! Warnings about scripts that run but are probably wrong.

use roadwright_extension::script::{
    ScenarioNames, Surroundings, compile, faults, shipped, warnings,
};
use roadwright_scenario::{Edit, PointOfInterest, PointOfInterestId, Scenario};
use roadwright_simulation::builtin_modules;

/// Returns the warnings for a script, with line and column. `others` are the scripts in the same
/// folder.
fn told(text: &str, others: &[&str]) -> Vec<(usize, String)> {
    let compiled = compile("test.rhai", text, None).unwrap();
    let others: Vec<String> = others.iter().map(|text| (*text).to_owned()).collect();
    let registry = builtin_modules();
    let surroundings = Surroundings {
        registry: &registry,
        plugins: &[],
        others: &others,
        scenario: None,
    };
    let all = warnings(&compiled, &surroundings);
    all.into_iter().map(|w| (w.line, w.message)).collect()
}

/// Returns the warnings for a statement in a branch that is not taken in any trial.
fn of(statement: &str) -> Vec<String> {
    let text = format!(
        "fn behave(agent) {{ if agent.time > 1.0 {{\n{statement}\n}} }}\nfn on_message(agent, message) {{}}"
    );
    let all = told(&text, &[]);
    assert!(all.iter().all(|(line, _)| *line == 2), "{all:?}");
    all.into_iter().map(|(_, message)| message).collect()
}

#[test]
fn numbers_far_from_what_they_are_for_are_told() {
    for (statement, words) in [
        (
            "agent.desired_speed = 500;",
            "desired_speed = 500 is outside the range 0 to 100 (m/s",
        ),
        (
            "agent.speed_factor = 30.0;",
            "speed_factor = 30 is outside the range 0 to 2",
        ),
        ("agent.wait(-5);", "wait: -5 is outside the range 0"),
        (
            "agent.brake(60.0);",
            "brake: 60 is outside the range 0 to 20 (m/s^2)",
        ),
        (
            "agent.park(1.0, 2.0, 90.0);",
            "park: 90 is outside the range -7 to 7 (radians",
        ),
        (
            "agent.every(\"x\", -1.0);",
            "every: -1 is outside the range",
        ),
    ] {
        let told = of(statement);
        assert!(
            told.len() == 1 && told[0].contains(words),
            "{statement}: {told:?}"
        );
    }
    for fine in [
        "agent.desired_speed = 13.9;",
        "agent.desired_speed = 1000000.0;",
        "agent.speed_factor = 0.0;",
        "agent.wait(5);",
        "agent.park(500.0, 900.0, 1.57);",
        "let v = 500.0; agent.memory.v = v;",
    ] {
        assert_eq!(of(fine), [""; 0], "{fine}");
    }
}

#[test]
fn modules_and_their_parameters_are_looked_up() {
    for (statement, words) in [
        (
            "agent.use_module(\"controller\", \"idmm\");",
            "no controller \"idmm\"; did you mean \"idm\"?",
        ),
        (
            "agent.set_parameter(\"controller\", \"headwya\", 1.0);",
            "\"headwya\"; did you mean \"headway\"?",
        ),
        (
            "agent.set_parameter(\"controller\", \"headway\", 1000);",
            "headway = 1000 is outside the range",
        ),
    ] {
        let told = of(statement);
        assert!(
            told.len() == 1 && told[0].contains(words),
            "{statement}: {told:?}"
        );
    }
    for fine in [
        "agent.use_module(\"controller\", \"pursuit\");",
        "agent.set_parameter(\"controller\", \"headway\", 1.2);",
        // The actual id is known only at run time.
        "agent.use_module(\"controller\", \"id\" + agent.vehicle);",
    ] {
        assert_eq!(of(fine), [""; 0], "{fine}");
    }
}

#[test]
fn topics_that_nobody_sends_are_told() {
    let listener = "fn behave(agent) {}\nfn on_message(agent, message) {\nif message.topic == \"sirene\" { agent.stop(); }\n}";
    let sender = |topic: &str| format!("fn behave(agent) {{ agent.broadcast(50.0, {topic}, 1); }}");
    let told_beside = |others: &[&str]| told(listener, others);
    let alone = told_beside(&[]);
    assert!(
        alone[0].1.contains("\"sirene\"") && alone[0].0 == 3,
        "{alone:?}"
    );
    let siren = sender("\"siren\"");
    let close = told_beside(&[&siren]);
    assert!(close[0].1.contains("did you mean \"siren\"?"), "{close:?}");
    assert_eq!(told_beside(&[&sender("\"sirene\"")]), []);
    // A string that is computed at run time may have any value. A script that does not compile may do
    // anything.
    assert_eq!(
        told_beside(&[&sender("\"si\" + \"ren\" + agent.vehicle")]),
        []
    );
    assert_eq!(told_beside(&["fn behave(agent) {"]), []);
    let horn = listener.replace("sirene", "horn");
    assert_eq!(told(&horn, &[]), []);
}

#[test]
fn nothing_is_told_of_what_ships() {
    let texts: Vec<&str> = shipped().iter().map(|(_, text)| *text).collect();
    for (id, text) in shipped() {
        assert_eq!(told(text, &texts), [], "{id}");
    }
}

/// Returns the findings of `script check` for a script, in a scenario with a place called Depot.
fn checked(text: &str) -> Vec<String> {
    let compiled = compile("test.rhai", text, None).unwrap();
    let mut scenario = Scenario::new("yard");
    let depot = PointOfInterest {
        name: "Depot".into(),
        x: 0.0.into(),
        y: 0.0.into(),
        heading: None.into(),
    };
    let edit = Edit::PointOfInterest(PointOfInterestId(1), Some(Box::new(depot)));
    scenario.apply(edit).unwrap();
    let registry = builtin_modules();
    let surroundings = Surroundings {
        registry: &registry,
        plugins: &[],
        others: &[],
        scenario: Some(&ScenarioNames::of(&scenario)),
    };
    let found = faults(&compiled, None).into_iter();
    let found = found.chain(warnings(&compiled, &surroundings));
    found.map(|error| error.to_string()).collect()
}

#[test]
fn what_fails_when_it_comes_to_it_is_found_and_what_is_well_formed_is_fine() {
    let in_branch = |statement: &str| {
        format!("fn behave(agent) {{\n  if agent.time > 1.0 {{\n    {statement}\n  }}\n}}")
    };
    let plain = |statement: &str| format!("fn behave(agent) {{ {statement} }}");
    for (wrong, right, words) in [
        (
            plain("if agent.leader.speed < 3.0 { agent.stop(); }"),
            plain("if agent.leader != () && agent.leader.speed < 3.0 { agent.stop(); }"),
            "()",
        ),
        (
            in_branch("if agent.leader.speed < 3.0 { agent.stop(); }"),
            in_branch("if agent.leader_gap < 50.0 && agent.leader.speed < 3.0 { agent.stop(); }"),
            "leader is () if no vehicle is ahead",
        ),
        (
            in_branch("agent.memory.x = agent.find(2).x;"),
            in_branch("let other = agent.find(2); if other != () { agent.memory.x = other.x; }"),
            "find is () if no agent with this id is driving",
        ),
        (
            in_branch("agent.memory.n += 1;"),
            in_branch("agent.memory.n = (agent.memory.n ?? 0) + 1;"),
            "memory.n is () here",
        ),
        (
            in_branch("agent.speed_factor = \"fast\";"),
            in_branch("agent.speed_factor = 1.2;"),
            "expected a number",
        ),
        (
            in_branch("agent.mark(5.0);"),
            in_branch("agent.mark(\"5\");"),
            "mark",
        ),
        (
            in_branch("if agent.signal == \"yellow\" { agent.stop(); }"),
            in_branch("if agent.signal == \"amber\" { agent.stop(); }"),
            "no signal shows a light \"yellow\"",
        ),
        (
            in_branch("agent.add_vehicle(\"carr\", \"idm\", 0, 0, 9, 0);"),
            in_branch("agent.add_vehicle(\"car\", \"idm\", 0, 0, 9, 0);"),
            "vehicle type \"carr\"; did you mean \"car\"?",
        ),
        (
            in_branch("agent.add_vehicle(\"car\", \"idmm\", 0, 0, 9, 0);"),
            in_branch("if agent.stack == \"idm\" { agent.stop(); }"),
            "stack \"idmm\"; did you mean \"idm\"?",
        ),
        (
            in_branch("let at = agent.place(\"nowhere\"); agent.go_to(at[0], at[1]);"),
            in_branch("let at = agent.place(\"Depot\"); agent.go_to(at[0], at[1]);"),
            "point of interest or street \"nowhere\"",
        ),
        (
            "fn decide(signal) { if signal.elapsed > 900.0 { \"green\" } else { 0 } }".into(),
            "fn decide(signal) { if signal.elapsed > 900.0 { () } else { 0 } }".into(),
            "decide must return a stage, or () to keep the current one, not",
        ),
        (
            plain(
                "if agent.time < 1.0 {} else if agent.time < 0.0 { agent.desired_speed = true; }",
            ),
            plain("if agent.time < 1.0 {} else if agent.time < 0.0 { agent.desired_speed = 3; }"),
            "expected a number",
        ),
    ] {
        let found = checked(&wrong);
        assert!(
            found.iter().any(|message| message.contains(words)),
            "{wrong}: {found:#?}"
        );
        assert_eq!(checked(&right), [""; 0], "{right}");
    }
}

#[test]
fn a_fault_is_shown_where_it_stands_in_the_text_of_the_author() {
    let text = "fn behave(agent) {\n  if agent.time > 900.0 && agent.speed > 3.0 {\n    agent.mark(5.0);\n  }\n}";
    let found = checked(text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("test.rhai:3:"), "{found:?}");
    assert!(
        found[0].contains("\n        agent.mark(5.0);\n"),
        "{found:?}"
    );
}

#[test]
fn no_fault_is_found_in_what_ships() {
    for (id, text) in shipped() {
        let compiled = compile(id, text, None).unwrap();
        assert_eq!(faults(&compiled, None), [], "{id}");
    }
}
