//! Checks docs/plugins.md, docs/benchmarks.md and docs/lane-ends.md by running every command, using every snippet, and
//! comparing the league table and outputs. Also checks that the trips measured in docs/measurements.md exist.
#![cfg(unix)]

use crate::common::roadwright;
use roadwright_testing::is_slow;
use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../../docs/plugins.md");

/// Returns the code blocks of the page on plugins in a language, in order.
fn blocks(language: &str) -> Vec<String> {
    blocks_of(PAGE, language)
}

/// Returns the code blocks of a page in a language, in order.
fn blocks_of(page: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let parts = page.split(&begin).skip(1);
    parts
        .map(|part| part.split("```").next().unwrap().to_owned())
        .collect()
}

/// Returns the source of a project with its `impl` block replaced by a snippet.
fn put_snippet(source: &Path, snippet: &str) {
    let text = std::fs::read_to_string(source).unwrap();
    let head = snippet.lines().next().unwrap();
    let begin = text
        .find(head)
        .unwrap_or_else(|| panic!("no {head} in {text}"));
    let end = begin + text[begin..].find("\n}\n").unwrap() + 3;
    // The project's own tests cover its own control law.
    let tests = text.find("#[cfg(test)]").unwrap_or(text.len());
    let rest = &text[end..tests];
    std::fs::write(source, format!("{}{snippet}{rest}", &text[..begin])).unwrap();
}

#[test]
fn every_command_runs_and_every_snippet_is_sound() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    std::os::unix::fs::symlink(scenarios, folder.path().join("scenarios")).unwrap();
    let commands: Vec<String> = blocks("sh")
        .iter()
        .flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(commands.len() >= 11, "{commands:?}");
    for command in &commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[0], "roadwright", "{command}");
        let output = roadwright(folder.path(), &words[1..]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
        if command.contains("plugin new my_driver ") {
            // The page shows this as the contents of the project.
            let snippet = &blocks("rust")[0];
            put_snippet(&folder.path().join("my_driver/src/lib.rs"), snippet);
        }
        if command.contains("plugin new my_score ") {
            let snippet = &blocks("rust")[4];
            assert!(snippet.contains("input.conduct"), "{snippet}");
            put_snippet(&folder.path().join("my_score/src/lib.rs"), snippet);
        }
    }
    a_table_of_the_page_is_sound(folder.path());
    // The same project with other traits and another last line, for snippets with pedals, a model
    // of the vehicle, and surrounding objects.
    let source = folder.path().join("my_driver/src/lib.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    for (number, kind) in [
        (1, "PedalController"),
        (2, "ModelController"),
        (3, "ModelController"),
    ] {
        let snippet = &blocks("rust")[number];
        assert!(snippet.contains(kind), "{snippet}");
        let begin = text.find("impl Controller for MyDriverPlugin").unwrap();
        let end = begin + text[begin..].find("\n}\n").unwrap() + 3;
        let exported = "export_plugin!(MyDriverPlugin: Controller);";
        assert!(text.contains(exported), "{text}");
        let rest = text[end..].replace(exported, "");
        let head = match snippet.contains("cos(") {
            true => text[..begin].replace("{atan, sin}", "{atan, cos, sin}"),
            false => text[..begin].to_owned(),
        };
        std::fs::write(&source, format!("{head}{snippet}{rest}")).unwrap();
        drives(
            folder.path(),
            "my_driver",
            &format!("{kind}{number}/libmy_driver.so"),
        );
    }
    the_needs_of_the_page_are_sound(folder.path());
    let snippets = blocks("rhai");
    assert!(!snippets.is_empty());
    for (number, snippet) in snippets.iter().enumerate() {
        let file = format!("snippet_{number}.rhai");
        std::fs::write(folder.path().join(&file), snippet).unwrap();
        let output = roadwright(folder.path(), &["script", "check", &file]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{snippet}: {said}");
    }
    for stack in blocks("json") {
        let stack: serde_json::Value = serde_json::from_str(&format!("{{{stack}}}")).unwrap();
        let stack = stack["my_stack"].clone();
        serde_json::from_value::<roadwright_scenario::Stack>(stack).unwrap();
    }
}

#[test]
fn lanes_that_end_are_listed_as_on_their_page() {
    let page = include_str!("../../../docs/lane-ends.md");
    let folder = tempfile::tempdir().unwrap();
    let [file] = &blocks_of(page, "xml")[..] else {
        panic!("one file");
    };
    std::fs::write(folder.path().join("ramp.osm"), file).unwrap();
    let [commands] = &blocks_of(page, "sh")[..] else {
        panic!("one list of commands");
    };
    let outputs = commands.lines().map(|command| {
        let words: Vec<&str> = command.split_whitespace().collect();
        let output = roadwright(folder.path(), &words[1..]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    let outputs: Vec<String> = outputs.collect();
    let shown = blocks_of(page, "text");
    assert_eq!((outputs.len(), shown.len()), (3, 2));
    for (shown, output) in shown.iter().zip(&outputs[1..]) {
        assert!(output.contains(shown.as_str()), "{output}");
    }
}

/// Builds a project, checks its library and lets it drive.
fn drives(folder: &Path, project: &str, library: &str) {
    let into = library.split('/').next().unwrap();
    for command in [
        format!("plugin dev {project} --into {into} --once"),
        format!("plugin check {library}"),
        format!(
            "run scenarios/crossroads.scenario.json --dynamics dynamic_one_track --plugins {into} \
             --trust-plugins --use controller=com.example.{project}"
        ),
    ] {
        let words: Vec<&str> = command.split_whitespace().collect();
        let output = roadwright(folder, &words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
}

/// Puts the C snippets of the page into the C project: its needs, and how a row gets its path and
/// surrounding objects.
fn the_needs_of_the_page_are_sound(folder: &Path) {
    let snippet = &blocks("c")[0];
    let (needs, look) = snippet
        .split_once("/* In step, for each row: */\n")
        .unwrap();
    let source = folder.join("my_driver_c/my_driver_c.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let begin = text.find("static int32_t needs(").unwrap();
    let end = begin + text[begin..].find("\n}\n").unwrap() + 3;
    let law = "    control(self, in,";
    assert!(text.contains(law), "{text}");
    let around = blocks("c")[1].replace("/* In needs: */\n", "");
    let (asks, looks) = around.split_once("/* In step, for each row: */\n").unwrap();
    let needs = needs.replace("  return RW_OK;", &format!("{asks}  return RW_OK;"));
    let uses = "    if (here->s > in->path_s || room < 0.0) continue;\n";
    let rest = text[end..].replace(law, &format!("{look}{looks}{uses}{law}"));
    std::fs::write(&source, format!("{}{needs}{rest}", &text[..begin])).unwrap();
    drives(folder, "my_driver_c", "needs/my_driver_c.so");
}

/// Builds a controller with the tables of the page, and uses it with the weights of the page's stack.
fn a_table_of_the_page_is_sound(folder: &Path) {
    let tables = &blocks("rust")[5];
    assert!(tables.contains("list.table("), "{tables}");
    let law = blocks("rust")[0].replace("MyDriverPlugin", "MyNetPlugin");
    let output = roadwright(folder, &["plugin", "new", "my_net"]);
    assert_eq!(output.status.code(), Some(0));
    let source = format!(
        "use roadwright_plugin_sdk::math::{{atan, sin}};\n\
         use roadwright_plugin_sdk::prelude::*;\n\
         struct MyNetPlugin {{ hidden: [f64; 6], output: [f64; 2] }}\n\
         impl Default for MyNetPlugin {{\n\
             fn default() -> Self {{ Self {{ hidden: [0.5; 6], output: [1.0; 2] }} }}\n\
         }}\n{tables}{law}export_plugin!(MyNetPlugin: Controller);\n"
    );
    std::fs::write(folder.join("my_net/src/lib.rs"), source).unwrap();
    for command in [
        "plugin dev my_net --into nets --once",
        "plugin check nets/libmy_net.so",
    ] {
        let words: Vec<&str> = command.split_whitespace().collect();
        let output = roadwright(folder, &words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
    // The stack of the page, used by all agents of a scenario.
    let scenario = std::fs::read_to_string(folder.join("scenarios/crossroads.scenario.json"));
    let mut scenario: serde_json::Value = serde_json::from_str(&scenario.unwrap()).unwrap();
    let stack = blocks("json")
        .into_iter()
        .find(|block| block.contains("my_net"));
    let stack: serde_json::Value =
        serde_json::from_str(&format!("{{{}}}", stack.unwrap())).unwrap();
    for (_, own) in scenario["stacks"].as_object_mut().unwrap() {
        *own = stack["my_stack"].clone();
    }
    let run = |scenario: &serde_json::Value| {
        std::fs::write(folder.join("net.scenario.json"), scenario.to_string()).unwrap();
        let run = "run net.scenario.json --seconds 5 --plugins nets --trust-plugins --json";
        roadwright(folder, &run.split(' ').collect::<Vec<_>>())
    };
    let output = run(&scenario);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    // Rows of another length are refused with both shapes.
    for (_, own) in scenario["stacks"].as_object_mut().unwrap() {
        own["controller"]["parameters"]["output"] = serde_json::json!([[1.0], [2.0]]);
    }
    let output = run(&scenario);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let shapes = "output has 2 rows of 1, but the module's table has 1 row of 2";
    assert!(said.contains(shapes), "{said}");
}

#[test]
fn the_page_of_controllers_is_what_the_program_says() {
    let folder = tempfile::tempdir().unwrap();
    let output = roadwright(folder.path(), &["controller", "list", "--markdown"]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(
        page == include_str!("../../../docs/controllers.md"),
        "docs/controllers.md is out of date; renew with: \
         roadwright controller list --markdown > docs/controllers.md"
    );
    for id in ["idm", "pursuit", "fuzzy_driver", "fuzzy_mechanic"] {
        let output = roadwright(folder.path(), &["controller", "show", id]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("acceleration = ") && text.contains("steering = "),
            "{text}"
        );
    }
}

/// The page about benchmarks.
const BENCHMARKS: &str = include_str!("../../../docs/benchmarks.md");

#[test]
fn every_command_about_benchmarks_runs() {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    std::os::unix::fs::symlink(scenarios, folder.path().join("scenarios")).unwrap();
    let blocks = BENCHMARKS.split("```sh\n").skip(1);
    let commands: Vec<&str> = blocks
        .flat_map(|block| block.split("```").next().unwrap().lines())
        .collect();
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let output = roadwright(folder.path(), &words[1..]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
}

#[test]
fn every_command_about_results_runs() {
    const RESULTS: &str = include_str!("../../../docs/results.md");
    let folder = tempfile::tempdir().unwrap();
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    std::os::unix::fs::symlink(scenarios, folder.path().join("scenarios")).unwrap();
    let (_, block) = RESULTS.split_once("```sh\n").unwrap();
    let commands: Vec<&str> = block.split("```").next().unwrap().lines().collect();
    assert_eq!(commands.len(), 2);
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let output = roadwright(folder.path(), &words[1..]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
}

/// Courses whose runs take little time. The rows of all courses are compared in a slow test.
const QUICK_COURSES: [&str; 3] = ["parking", "pendulum", "trailer-reverse"];

#[test]
fn the_league_is_what_the_program_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut words = vec!["bench", "league", "--markdown"];
    if !is_slow() {
        words.extend(QUICK_COURSES);
    }
    let output = roadwright(folder.path(), &words);
    let printed = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = BENCHMARKS.split_once("<!-- league -->\n").unwrap();
    let (written, _) = rest.split_once("<!-- end of league -->").unwrap();
    let is_run = |line: &&str| {
        let course = line.trim_start_matches("| ").split(" |").next();
        is_slow()
            || matches!(course, Some("course" | "---"))
            || course.is_some_and(|course| QUICK_COURSES.contains(&course))
    };
    let written: Vec<&str> = written.lines().filter(is_run).collect();
    assert_eq!(
        written,
        printed.lines().collect::<Vec<_>>(),
        "put what `roadwright bench league --markdown` prints into docs/benchmarks.md"
    );
}

#[test]
fn the_kept_trips_beside_sumo_lie_in_their_rectangles() {
    let files = [
        (
            include_str!("../../../tools/beside_sumo/ring.csv"),
            [-6.2660, 53.3402, -6.2495, 53.3472],
        ),
        (
            include_str!("../../../tools/beside_sumo/city.csv"),
            [-6.2840, 53.3385, -6.2250, 53.3735],
        ),
    ];
    for (text, [west, south, east, north]) in files {
        let mut rows = text.lines();
        assert_eq!(
            rows.next(),
            Some("from_longitude,from_latitude,to_longitude,to_latitude")
        );
        let pairs: Vec<Vec<f64>> = rows
            .map(|row| row.split(',').map(|value| value.parse().unwrap()).collect())
            .collect();
        assert_eq!(pairs.len(), 150);
        for pair in &pairs {
            let &[x0, y0, x1, y1] = pair.as_slice() else {
                panic!("four numbers, not {pair:?}");
            };
            assert!(
                [x0, x1].iter().all(|x| (west..=east).contains(x)),
                "{pair:?}"
            );
            assert!(
                [y0, y1].iter().all(|y| (south..=north).contains(y)),
                "{pair:?}"
            );
        }
    }
}
