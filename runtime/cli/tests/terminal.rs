//! Checks that the program writes no control sequences to the terminal, reports errors of full or closed
//! devices, and writes a summary when it is requested to end.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed unwrap is a failed test; tests wait in wall time"
)]

use crate::common::roadwright;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Sets the window title, and clears the screen in two different ways.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J";
/// The same text as it appears in JSON.
const EVIL_JSON: &str = r"\u001b]0;owned\u0007\u001b[2J\u009b2J";

/// Creates a folder that contains a script and the crossroads with some of their texts replaced.
fn folder(replaced: &[(&str, &str)], script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let shipped =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/crossroads.scenario.json");
    let mut text = std::fs::read_to_string(shipped).unwrap();
    for (old, new) in replaced {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    std::fs::write(folder.path().join("x.json"), text).unwrap();
    std::fs::create_dir(folder.path().join("scripts")).unwrap();
    std::fs::write(folder.path().join("scripts/x.rhai"), script).unwrap();
    folder
}

/// Returns everything that was printed, on standard output and standard error.
fn printed(output: &Output) -> String {
    String::from_utf8([output.stdout.clone(), output.stderr.clone()].concat()).unwrap()
}

fn is_obeyed(c: char) -> bool {
    c.is_control() && c != '\n'
}

/// Creates a folder with a scenario in which the scenario, a stack, a vehicle and a road have malicious
/// names.
fn evil_folder() -> tempfile::TempDir {
    let evil = |before: &str| format!("{before}{EVIL_JSON}\"");
    let module = "\"module\": ";
    folder(
        &[
            ("\"idm\"", &evil("\"idm")),
            // Module names are restored, so that the stack stays valid.
            (
                &evil(&format!("{module}\"idm")),
                &format!("{module}\"idm\""),
            ),
            ("\"Sunset Avenue\"", &evil("\"Sunset")),
            ("\"name\": \"Car\"", &evil("\"name\": \"Car")),
            ("\"name\": \"crossroads\"", &evil("\"name\": \"x")),
        ],
        &format!("fn behave(agent) {{ agent.log(\"logged{EVIL}\"); agent.mark(\"{EVIL}\"); }}"),
    )
}

#[test]
fn names_and_logs_do_not_reach_the_terminal_as_commands() {
    let folder = evil_folder();
    let broken = format!("fn behave(agent) {{ throw \"thrown{EVIL}\"; }} // {EVIL}");
    std::fs::write(folder.path().join("scripts/broken.rhai"), broken).unwrap();
    let missing = format!("no{EVIL}.json");
    let run = ["run", "x.json", "--seconds", "20"];
    let with = |words: &[&'static str]| [&run[..], words].concat();
    for (words, said) in [
        (
            with(&["--use", "behaviour=x.rhai", "--log"]),
            "logged\\u001b]0;owned",
        ),
        (with(&[]), "thrown\\u001b]0;owned"),
        (with(&[]), "stack idm\\u001b]0;owned"),
        (with(&["--json"]), "idm\\u001b]0;owned"),
        (vec!["check", "x.json"], ""),
        (vec!["check", "x.json", "--json"], ""),
        (vec!["check", &missing], "no\\u001b]0;owned"),
        (
            vec!["script", "check", "scripts/broken.rhai"],
            "thrown\\u001b]0;owned",
        ),
        (
            vec!["script", "run-one", "scripts/x.rhai", "--event", "behave"],
            "logged",
        ),
    ] {
        let printed = printed(&roadwright(folder.path(), &words));
        assert!(!printed.contains(is_obeyed), "{words:?}: {printed:?}");
        assert!(printed.contains(said), "{words:?}: {printed}");
    }
}

#[test]
fn documents_hold_what_was_in_the_file() {
    let folder = evil_folder();
    let output = roadwright(
        folder.path(),
        &["run", "x.json", "--seconds", "20", "--json"],
    );
    assert!(!printed(&output).contains(is_obeyed));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let stacks = document["stacks"].as_array().unwrap();
    let name = format!("idm{EVIL}");
    assert!(stacks.iter().any(|stack| stack["stack"] == name.as_str()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_does_not_end_a_run() {
    use std::fs::File;
    let folder = folder(&[], "fn behave(agent) { agent.log(\"x\"); }");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let run = [
        "run",
        "x.json",
        "--seconds",
        "5",
        "--use",
        "behaviour=x.rhai",
        "--log",
    ];
    let mut command = crate::common::command(folder.path(), &run);
    let output = command.stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(printed(&output).contains("state hash"));
    for words in [
        &run[..],
        &["check", "x.json"],
        &["script", "check", "none.rhai"],
        &["script", "api"],
    ] {
        // An error on standard output is reported where possible.
        let mut command = crate::common::command(folder.path(), words);
        let output = command.stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(printed(&output).contains("error: "), "{words:?}");
        let mut command = crate::common::command(folder.path(), words);
        let output = command.stdout(full()).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}

/// Starts a run that logs endlessly and writes a trace, and reads its first line. From then on, the run
/// catches signals.
#[cfg(unix)]
fn long_run(
    folder: &Path,
    before: &str,
) -> (
    std::process::Child,
    std::io::BufReader<std::process::ChildStderr>,
) {
    use std::io::BufRead;
    use std::process::{Command, Stdio};
    let plain = crate::common::command(folder, &[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{before} exec \"$0\" \"$@\"")])
        .arg(plain.get_program())
        .args(["run", "x.json", "--seconds", "1000000", "--trace", "t.csv"])
        .args(["--use", "behaviour=x.rhai", "--log"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap());
    }
    let mut child = command.spawn().unwrap();
    let mut reader = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("log: ") {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0);
    }
    (child, reader)
}

#[cfg(unix)]
fn signal(child: &std::process::Child, name: &str) {
    let id = child.id().to_string();
    let status = std::process::Command::new("kill")
        .args([name, &id])
        .status();
    assert!(status.unwrap().success());
}

/// Waits for a run that was requested to end, and checks its output.
#[cfg(unix)]
fn ends_in_good_order(folder: &Path, child: std::process::Child, number: i32) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + number));
    let printed = printed(&output);
    assert!(
        printed.contains("the figures cover the run so far"),
        "{printed}"
    );
    let trace = std::fs::read_to_string(folder.join("t.csv")).unwrap();
    assert!(trace.ends_with('\n') && trace.lines().count() > 1);
    assert!(trace.lines().all(|row| row.split(',').count() == 18));
}

/// Gives child processes the default action for SIGHUP, even if `nohup` started the tests. This is needed
/// because ignored signals stay ignored in a child process, whereas caught signals return to the default.
#[cfg(unix)]
fn with_usual_hangup() {
    let caught = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGHUP, caught).unwrap();
}

#[cfg(unix)]
#[test]
fn signals_end_a_run_like_ctrl_c() {
    with_usual_hangup();
    let folder = folder(&[], "fn behave(agent) { agent.log(\"x\"); }");
    for (name, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        let (child, mut stderr) = long_run(folder.path(), "");
        let drain = std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        signal(&child, name);
        // When a terminal closes, a second signal follows immediately.
        signal(&child, name);
        ends_in_good_order(folder.path(), child, number);
        drain.join().unwrap().unwrap();
        std::fs::remove_file(folder.path().join("t.csv")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_run_that_ignores_hangups_survives_them() {
    let folder = folder(&[], "fn behave(agent) { agent.log(\"x\"); }");
    let (mut child, mut stderr) = long_run(folder.path(), "trap '' HUP;");
    let drain = std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    signal(&child, "-HUP");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "-TERM");
    ends_in_good_order(folder.path(), child, 15);
    drain.join().unwrap().unwrap();
}

#[cfg(unix)]
#[test]
fn signals_end_measurements_and_trainings_as_they_end_runs() {
    with_usual_hangup();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let experiment = r#"{"format": "roadwright-experiment", "version": 1, "course": "arena",
        "stack": "fuzzy_driver", "genes": ["fuzzy_driver.rule_avoid_*"],
        "seeds": {"train": [1, 50], "validate": [101, 102], "test": [201, 203]},
        "operators": {"n": 3}, "runs": 2, "stop": {"generations": 100000}}"#;
    std::fs::write(folder.join("x.experiment.json"), experiment).unwrap();
    let bench = "bench run arena --runs 100000 --json --out b.json";
    let train = "train x.experiment.json --quiet --out t.json";
    // Each file has a key that only a complete file contains.
    let (bench, train) = ((bench, "b.json", "stopped"), (train, "t.json", "champion"));
    for ((words, kept, last), name, number) in [
        (bench, "-INT", 2),
        (bench, "-TERM", 15),
        (train, "-HUP", 1),
        (train, "-TERM", 15),
    ] {
        let kept = folder.join(kept);
        let _ = std::fs::remove_file(&kept);
        let words: Vec<&str> = words.split(' ').collect();
        let child = crate::common::command(folder, &words)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // The file is kept from the first moment on.
        while !kept.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(128 + number),
            "{words:?}: {said}"
        );
        // The command could resume from it.
        let text = std::fs::read_to_string(&kept).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(document[last].is_null(), "{text}");
    }
    let help = printed(&crate::common::roadwright(folder, &["--help"]));
    for code in ["130", "143", "129"] {
        assert!(help.contains(code), "{help}");
    }
}
