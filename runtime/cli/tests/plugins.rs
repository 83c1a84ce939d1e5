//! Plugins and scripts on the command line, as authors use them.

use crate::common::{roadwright, scenario};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[track_caller]
fn fine(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn has_cpp() -> bool {
    Command::new("c++").arg("--version").output().is_ok()
}

#[test]
fn new_projects_build_pass_the_check_and_drive() {
    let folder = tempfile::tempdir().unwrap();
    for language in ["rust", "c", "cpp"] {
        if language == "cpp" && !has_cpp() {
            eprintln!("skipped: there is no C++ compiler");
            continue;
        }
        let kinds = ["controller", "planner", "fitness", "signal_controller"];
        // The host's tests check ground planners in C and C++.
        let more = (language == "rust").then_some("ground_planner");
        for kind in kinds.into_iter().chain(more) {
            let name = format!("my_{kind}_{language}");
            fine(&roadwright(
                folder.path(),
                &["plugin", "new", &name, "--kind", kind, "--lang", language],
            ));
            let built = roadwright(
                folder.path(),
                &["plugin", "dev", &name, "--into", "plugins", "--once"],
            );
            fine(&built);
            let said = String::from_utf8_lossy(&built.stderr);
            assert!(!said.contains("warning:"), "{name}: {said}");
            let prefix = if language == "rust" { "lib" } else { "" };
            let library = format!("plugins/{prefix}{name}.so");
            let report = roadwright(folder.path(), &["plugin", "check", &library, "--json"]);
            let report: Value = serde_json::from_str(&fine(&report)).unwrap();
            assert_eq!(report["ok"], true, "{report}");
            assert_eq!(is_driving(&report, kind), Some(true), "{name}: {report}");
            let using = format!("{kind}=com.example.{name}");
            let town = match kind {
                "signal_controller" => "signal-corridor",
                "ground_planner" => "obstacle-field",
                _ => "crossroads",
            };
            let run = roadwright(
                folder.path(),
                &[
                    "run",
                    &scenario(town),
                    "--plugins",
                    "plugins",
                    "--trust-plugins",
                    "--use",
                    &using,
                    "--seconds",
                    "60",
                    "--json",
                ],
            );
            let run: Value = serde_json::from_str(&fine(&run)).unwrap();
            assert!(
                run["agents"]["arrived"].as_u64().unwrap() > 0,
                "{name}: {run}"
            );
            assert_eq!(run["faults"], serde_json::json!({}), "{name}");
            let module = &run["modules"][0];
            assert_eq!(module["module"], format!("com.example.{name}"));
        }
    }
}

/// Returns whether a plugin passes its drive according to the report of a check. A driver must reach the goal
/// of the smoke drive, by paths of a ground planner as well, and a fitness must prefer the vehicle that arrives. With a
/// signal controller, about as many vehicles must arrive as with actuated signals.
fn is_driving(report: &Value, kind: &str) -> Option<bool> {
    let drives = &report["drives"];
    if kind == "fitness" {
        let score = |of: &str| drives["fitness"][of].as_f64();
        Some(score("drives")? < score("stands")?)
    } else if kind == "signal_controller" {
        let arrived = |of: usize| drives["signals"][of]["arrived"].as_u64();
        Some(10 * arrived(0)? >= 9 * arrived(1)?)
    } else if kind == "ground_planner" {
        // The module plans its own paths, so its time differs from the built-in planner's, and the
        // car arrives.
        let plans = drives["ground"][0]["seconds"] != drives["ground"][1]["seconds"];
        Some(plans && drives["ground"][0]["arrived"].as_bool()?)
    } else {
        drives[kind]["arrived"].as_bool()
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

#[test]
fn all_examples_drive_and_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    for (name, kind, language) in [
        ("pure_pursuit", "controller", "rust"),
        ("orca", "controller", "rust"),
        ("lattice_planner", "planner", "rust"),
        ("comfort_fitness", "fitness", "rust"),
        ("stanley_c", "controller", "c"),
        ("pedals_c", "controller", "c"),
        ("watching_fitness", "fitness", "c"),
        ("neural_driver", "controller", "c"),
        ("mpc_c", "controller", "c"),
        ("potential_field", "controller", "cpp"),
        ("hybrid_a_star", "ground_planner", "cpp"),
    ] {
        if language == "cpp" && !has_cpp() {
            eprintln!("skipped: there is no C++ compiler");
            continue;
        }
        let mut project = plugins.join(name);
        let mut prefix = "lib";
        if language != "rust" {
            // Build output of C is beside its sources.
            let copy = folder.path().join(name);
            copy_folder(&project, &copy);
            (project, prefix) = (copy, "");
        }
        let project = project.to_str().unwrap();
        let dev = ["plugin", "dev", project, "--into", "plugins", "--once"];
        // The examples are part of the workspace, which needs its registry.
        let mut dev = crate::common::command(folder.path(), &dev);
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cargo"));
        fine(&dev.env("CARGO_HOME", home).output().unwrap());
        let library = format!("plugins/{prefix}{name}.so");
        let picture = format!("{name}.png");
        let words = ["plugin", "check", &library, "--json", "--picture", &picture];
        let report = fine(&roadwright(folder.path(), &words));
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["ok"], true, "{report}");
        assert_eq!(is_driving(&report, kind), Some(true), "{name}: {report}");
        let png = std::fs::read(folder.path().join(picture)).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000, "{name}");
    }
}

#[test]
fn the_trained_net_crosses_the_field_between_posts_and_jeeps() {
    let folder = tempfile::tempdir().unwrap();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/neural_driver");
    copy_folder(&project, &folder.path().join("neural_driver"));
    let dev = "plugin dev neural_driver --into plugins --once";
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let call = |words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        fine(&roadwright(folder.path(), &words))
    };
    call(&words(dev));
    let id = "com.example.neural_driver";
    let trusting = "--plugins plugins --trust-plugins";
    let field = scenario("obstacle-field");
    let apply = "train apply neural_driver/field.training.json --stack fuzzy_driver --out trained.scenario.json";
    let apply = format!("{apply} --use controller={id} {trusting}");
    let mut apply = words(&apply);
    apply.extend(["--to".into(), field.clone()]);
    let said = call(&apply);
    assert!(said.contains("300 values"), "{said}");
    let drives = |scenario: &str, more: &str| {
        let run = "--verify --json --use ground_planner=straight --use fitness=time_above_limit";
        let mut run = words(&format!("{run} {trusting}{more}"));
        run.splice(0..0, ["run".into(), scenario.to_owned()]);
        serde_json::from_str::<Value>(&call(&run)).unwrap()
    };
    let trained = drives("trained.scenario.json", "");
    assert_eq!(trained["agents"]["arrived"], 6, "{trained}");
    assert_eq!(trained["collisions"], serde_json::json!([]));
    assert_eq!(trained["faults"], serde_json::json!({}));
    for drive in trained["drives"].as_array().unwrap() {
        assert_eq!(drive["scores"]["time_above_limit"], 0.0, "{drive}");
    }
    // With the weights that were not trained, jeeps wait before posts.
    let before = drives(&field, &format!(" --use controller={id}"));
    assert!(before["agents"]["arrived"].as_u64() < Some(4), "{before}");
}

#[test]
fn plugins_need_permission() {
    let folder = tempfile::tempdir().unwrap();
    let name = ["plugin", "new", "mine", "--lang", "c"];
    fine(&roadwright(folder.path(), &name));
    // The second time, the project already exists.
    let again = roadwright(folder.path(), &name);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("already exists"));
    fine(&roadwright(
        folder.path(),
        &["plugin", "dev", "mine", "--into", "plugins", "--once"],
    ));
    let info = roadwright(
        folder.path(),
        &["plugin", "info", "plugins/mine.so", "--json"],
    );
    let info: Value = serde_json::from_str(&fine(&info)).unwrap();
    let hash = info["hash"].as_str().unwrap();
    let scenario = scenario("crossroads");
    let mut run = vec!["run", &scenario, "--seconds", "5"];
    run.extend([
        "--plugins",
        "plugins",
        "--use",
        "controller=com.example.mine",
    ]);
    let refused = roadwright(folder.path(), &run);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains(&format!("allow its hash {hash}")), "{said}");
    run.extend(["--allow-plugin", &hash[..12]]);
    let said = fine(&roadwright(folder.path(), &run));
    assert!(said.contains("com.example.mine 0.1.0"), "{said}");
    // In a separate process, the plugin drives the same.
    let hash_of = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("state hash"));
        line.unwrap().to_owned()
    };
    run.extend(["--isolate", "com.example.mine"]);
    let isolated = fine(&roadwright(folder.path(), &run));
    assert!(isolated.contains("isolated"), "{isolated}");
    assert_eq!(hash_of(&said), hash_of(&isolated));
    let list = fine(&roadwright(
        folder.path(),
        &["plugin", "list", "--plugins", "plugins"],
    ));
    assert!(list.contains("com.example.mine"), "{list}");
    assert!(list.contains("is not allowed to run"), "{list}");
}

#[test]
fn scripts_are_made_checked_and_run() {
    let folder = tempfile::tempdir().unwrap();
    fine(&roadwright(folder.path(), &["script", "new", "mood"]));
    let said = fine(&roadwright(
        folder.path(),
        &["script", "check", "scripts/mood.rhai"],
    ));
    assert!(said.contains("fine"), "{said}");
    let scenario = scenario("crossroads");
    let run = ["run", &scenario, "--seconds", "20", "--log"];
    let run = [
        &run[..],
        &["--scripts", "scripts", "--use", "behaviour=mood.rhai"],
    ]
    .concat();
    let output = roadwright(folder.path(), &run);
    fine(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("started"));
    std::fs::write(
        folder.path().join("bad.rhai"),
        "fn behave(agent) { agent.sped }",
    )
    .unwrap();
    let bad = roadwright(folder.path(), &["script", "check", "bad.rhai", "--json"]);
    assert_eq!(bad.status.code(), Some(1));
    let bad: Value = serde_json::from_slice(&bad.stdout).unwrap();
    assert_eq!((&bad["line"], &bad["column"]), (&1.into(), &26.into()));
    let api = fine(&roadwright(folder.path(), &["script", "api", "--json"]));
    let api: Value = serde_json::from_str(&api).unwrap();
    assert!(
        api.as_array()
            .unwrap()
            .iter()
            .any(|item| item["name"] == "desired_speed")
    );
    // A file that is not a plugin fails the check.
    let check = roadwright(folder.path(), &["plugin", "check", "bad.rhai"]);
    assert_eq!(check.status.code(), Some(1));
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let text = "fn behave(agent) {\n  if agent.time > 5.0 { agent.use_module(\"behaviour\", \"othr.rhai\"); }\n}";
    std::fs::write(folder.path().join("one.rhai"), text).unwrap();
    std::fs::write(folder.path().join("other.rhai"), "fn behave(agent) {}").unwrap();
    let check = ["script", "check", "one.rhai"];
    let output = roadwright(folder.path(), &check);
    let said = fine(&output);
    assert!(said.contains("the script runs, with 1 warning."), "{said}");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("one.rhai:2:"), "{error}");
    assert!(error.contains("did you mean \"other.rhai\"?"), "{error}");
    let document = fine(&roadwright(
        folder.path(),
        &[&check[..], &["--json"]].concat(),
    ));
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["warnings"][0]["line"], 2);
}

#[test]
fn a_script_is_checked_alone_and_named_with_what_its_scenario_has() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("broken.rhai", "fn behave(agent) { agent.sped }");
    write("good.rhai", "fn behave(agent) { agent.log(\"good\"); }");
    let check = |more: &[&str]| roadwright(folder.path(), &[&["script", "check"], more].concat());
    let output = check(&["good.rhai"]);
    assert!(fine(&output).contains("fine"));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "",
        "nothing of its neighbour"
    );
    // A fault in a script makes the check exit with code 1.
    write(
        "late.rhai",
        "fn behave(agent) {\n  if agent.leader.speed < 3.0 { agent.stop(); }\n}",
    );
    let output = check(&["late.rhai"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("fault: late.rhai:2:"), "{said}");
    let output = check(&["late.rhai", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["ok"], false, "{document}");
    assert_eq!(document["faults"][0]["line"], 2, "{document}");
    // Names are taken from the scenario.
    write(
        "place.rhai",
        "fn on_arrive(agent) { let at = agent.place(\"Nowhere\"); agent.go_to(at[0], at[1]); }\nfn behave(agent) {}",
    );
    assert_eq!(String::from_utf8_lossy(&check(&["place.rhai"]).stderr), "");
    let scenario = scenario("old-town");
    let output = check(&["place.rhai", "--scenario", &scenario]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("no point of interest or street \"Nowhere\""),
        "{said}"
    );
}

#[test]
fn the_log_of_a_run_is_told_beside_its_document_and_only_of_scripts_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "used.rhai",
        "fn on_start(agent) { agent.log(\"here I go\"); }\nfn behave(agent) {}",
    );
    write("unused.rhai", "fn behave(agent) {}");
    let scenario = scenario("crossroads");
    let run = [
        "run",
        &scenario,
        "--seconds",
        "12",
        "--scripts",
        ".",
        "--log",
    ];
    let run = [&run[..], &["--use", "behaviour=used.rhai"]].concat();
    let output = roadwright(folder.path(), &run);
    fine(&output);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("used.rhai: version 1 loaded"), "{said}");
    assert!(!said.contains("unused.rhai"), "{said}");
    let output = roadwright(folder.path(), &[&run[..], &["--json"]].concat());
    let document: Value = serde_json::from_str(&fine(&output)).unwrap();
    assert!(document.is_object());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("here I go"), "{said}");
    // Control: without --log there are no such lines.
    let quiet: Vec<&str> = run
        .iter()
        .copied()
        .filter(|word| *word != "--log")
        .collect();
    let output = roadwright(folder.path(), &[&quiet[..], &["--json"]].concat());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn one_handler_is_called_for_an_agent_of_a_run_step_by_step() {
    let folder = tempfile::tempdir().unwrap();
    let text = "fn behave(agent) {\n  let far = agent.speed * 2.0;\n  if far > 1.0 {\n    agent.memory.far = far;\n  }\n}";
    std::fs::write(folder.path().join("look.rhai"), text).unwrap();
    let scenario = scenario("figure-eight");
    let words = [
        "script",
        "run-one",
        "look.rhai",
        "--scenario",
        &scenario,
        "--at",
        "20",
        "--agent",
        "1",
        "--steps",
    ];
    let said = fine(&roadwright(folder.path(), &words));
    for part in [
        "2:3 ",
        "let far = agent.speed * 2.0;",
        "far = ",
        "after 20 s",
        "memory   far = ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let document = fine(&roadwright(
        folder.path(),
        &[&words[..], &["--json"]].concat(),
    ));
    let document: Value = serde_json::from_str(&document).unwrap();
    let lines: Vec<u64> = document["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [2, 3, 4]);
    let gone = roadwright(
        folder.path(),
        &[
            "script",
            "run-one",
            "look.rhai",
            "--scenario",
            &scenario,
            "--at",
            "1",
            "--agent",
            "99",
        ],
    );
    assert_eq!(gone.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("agent 99 is not driving"));
}

#[test]
fn one_handler_is_called_for_a_made_up_agent() {
    let folder = tempfile::tempdir().unwrap();
    let script = "fn on_start(agent) { agent.memory.laps = 3; }\nfn behave(agent) {\n  agent.memory.laps += agent.id;\n  agent.desired_speed = 4.0;\n  agent.log(\"here\");\n}\nfn on_near(agent, other) { throw \"too near\"; }\n";
    let file = folder.path().join("laps.rhai");
    // A script that throws in its trial is refused, so this one is written to pass the trial.
    std::fs::write(
        &file,
        script
            .replace("throw", "if agent.id > 7 { throw")
            .replace("near\"; }", "near\"; } }"),
    )
    .unwrap();
    let said = fine(&roadwright(
        folder.path(),
        &["script", "run-one", "laps.rhai", "--agent", "5"],
    ));
    for words in [
        "behave of laps.rhai for agent 5",
        "at most 4.0 m/s",
        "laps = 8",
        "Log(\"here\")",
    ] {
        assert!(
            said.contains(words) || said.contains(&words.replace("4.0", "4")),
            "{words}: {said}"
        );
    }
    let words = [
        "script",
        "run-one",
        "laps.rhai",
        "--event",
        "on_near",
        "--agent",
        "8",
        "--json",
    ];
    let output = roadwright(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&document["line"], &document["message"]),
        (&7.into(), &"too near".into())
    );
    let output = roadwright(
        folder.path(),
        &["script", "run-one", "laps.rhai", "--event", "on_arrive"],
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("there is no handler on_arrive"));
}

/// Builds the example fitness in a folder and installs it there as a plugin.
fn watching(folder: &Path) {
    let project = folder.join("watching_fitness");
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    copy_folder(&plugins.join("watching_fitness"), &project);
    let dev = [
        "plugin",
        "dev",
        "watching_fitness",
        "--into",
        "plugins",
        "--once",
    ];
    fine(&roadwright(folder, &dev));
}

/// Checks that an external fitness scores manoeuvres and a drive on open ground, with the same result in this
/// process and in a separate process.
#[test]
fn a_compiled_fitness_scores_parking_and_the_forest() {
    let folder = tempfile::tempdir().unwrap();
    watching(folder.path());
    let id = "com.example.watching_fitness";
    let fitness = format!("fitness={id}");
    for course in ["parking", "forest"] {
        let bench = |more: &[&str]| {
            let mut words = vec!["bench", "run", course, "--runs", "3", "--json"];
            words.extend(["--plugins", "plugins", "--trust-plugins", "--use", &fitness]);
            words.extend(more);
            let said = fine(&roadwright(folder.path(), &words));
            serde_json::from_str::<Value>(&said).unwrap()
        };
        let score = |result: &Value| result["fitness"]["mean"].as_f64().unwrap();
        let here = bench(&[]);
        assert_eq!(here["fitness_module"], id, "{course}");
        assert_eq!(here["completed"], 3, "{course}");
        // In traffic this controller works well, but here no vehicle arrives.
        let lost = bench(&["--use", "controller=idm"]);
        assert_eq!(lost["completed"], 0, "{course}");
        assert!(score(&lost) > 4.0, "{course}: {lost}");
        assert!(score(&here) < score(&lost), "{course}: {here} {lost}");
        let apart = bench(&["--isolate", id]);
        assert_eq!(here["fitness"], apart["fitness"], "{course}");
    }
}

/// Checks that `plugin records` lists the records of the interface, both as text and as JSON.
#[test]
fn the_records_of_the_interface_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let said = fine(&roadwright(folder.path(), &["plugin", "records", "--json"]));
    let all: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(all["interface"], "1.5");
    let find = |list: &Value, name: &str| {
        let mut list = list.as_array().unwrap().iter();
        list.find(|one| one["name"] == name).unwrap().clone()
    };
    let row = find(&all["records"], "rw_fitness_input");
    assert_eq!((&row["size"], &row["since"]), (&216.into(), &"1.0".into()));
    let field = find(&row["fields"], "least_post_encroachment");
    let expected = serde_json::json!({
        "name": "least_post_encroachment", "type": "f64", "count": 1, "offset": 80, "size": 8,
        "unit": "s", "since": "1.2",
    });
    assert_eq!(field, expected);
    let row = find(&all["records"], "rw_controller_input");
    assert_eq!((&row["size"], &row["since"]), (&288.into(), &"1.0".into()));
    let field = find(&row["fields"], "path_s");
    assert_eq!(
        (&field["offset"], &field["since"]),
        (&248.into(), &"1.3".into())
    );
    let point = find(&all["records"], "rw_path_point");
    assert_eq!(
        (&point["size"], &point["since"]),
        (&88.into(), &"1.3".into())
    );
    let field = find(&row["fields"], "near_more");
    assert_eq!(
        (&field["offset"], &field["since"]),
        (&280.into(), &"1.4".into())
    );
    let near = find(&all["records"], "rw_near");
    assert_eq!((&near["size"], &near["since"]), (&72.into(), &"1.4".into()));
    let velocity = find(&near["fields"], "velocity_left");
    assert_eq!(velocity["unit"], "m/s");
    let key = find(&find(&all["records"], "rw_parameter")["fields"], "key");
    assert_eq!((&key["type"], &key["count"]), (&"text".into(), &64.into()));
    let text = fine(&roadwright(folder.path(), &["plugin", "records"]));
    assert!(
        text.contains("rw_fitness_input (216 bytes, since 1.0)"),
        "{text}"
    );
    assert!(
        text.lines().any(|line| line.split_whitespace().eq([
            "64",
            "f64",
            "collision_exposure",
            "1.2"
        ])),
        "{text}"
    );
}
