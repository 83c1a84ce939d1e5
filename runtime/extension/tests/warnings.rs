//! What runs and is probably not meant is told before it runs.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use roadwright_extension::script::{Surroundings, compile, shipped, warnings};
use roadwright_simulation::builtin_modules;

/// What is told of a script beside others, with line and column.
fn told(text: &str, others: &[&str]) -> Vec<(usize, String)> {
    let compiled = compile("test.rhai", text, None).unwrap();
    let others: Vec<String> = others.iter().map(|text| (*text).to_owned()).collect();
    let registry = builtin_modules();
    let surroundings = Surroundings {
        registry: &registry,
        plugins: &[],
        others: &others,
    };
    let all = warnings(&compiled, &surroundings);
    all.into_iter().map(|w| (w.line, w.message)).collect()
}

/// One statement in a branch that no trial takes.
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
            "desired_speed = 500 is not in 0 to 100 (m/s",
        ),
        (
            "agent.speed_factor = 30.0;",
            "speed_factor = 30 is not in 0 to 2",
        ),
        ("agent.wait(-5);", "wait: -5 is not in 0"),
        ("agent.brake(60.0);", "brake: 60 is not in 0 to 20 (m/s^2)"),
        (
            "agent.park(1.0, 2.0, 90.0);",
            "park: 90 is not in -7 to 7 (radians",
        ),
        ("agent.every(\"x\", -1.0);", "every: -1 is not in"),
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
            "headway = 1000 is not in",
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
        // Which one is known only when it runs.
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
    // What is put together while it runs may be anything; so may one that does not compile.
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
