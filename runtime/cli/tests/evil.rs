//! What the program says and gives back when modules do harm.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const RUN: [&str; 7] = [
    "run",
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/crossroads.scenario.json"
    ),
    "--seconds",
    "15",
    "--plugins",
    "plugins",
    "--trust-plugins",
];
const USE: [&str; 2] = ["--use", "controller=com.example.evil"];

/// A folder with the evil plugin in it; `None` without a C compiler.
fn folder() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("evil");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("evil.c"), include_str!("evil.c")).unwrap();
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler");
        return None;
    }
    let built = roadwright(
        folder.path(),
        "",
        &["plugin", "dev", "evil", "--into", "plugins", "--once"],
    );
    assert_eq!(built.status.code(), Some(0), "{}", told(&built));
    Some(folder)
}

fn roadwright(folder: &Path, evil: &str, words: &[&str]) -> Output {
    // A home of its own: what one run quarantines is there for the next.
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_roadwright"))
        .args(words)
        .current_dir(folder)
        .env("HOME", home.path())
        .env("EVIL", evil)
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn run(folder: &Path, evil: &str, more: &[&str]) -> Output {
    roadwright(folder, evil, &[&RUN[..], &USE, more].concat())
}

#[test]
fn a_plugin_that_ends_the_program_is_named() {
    let Some(folder) = folder() else { return };
    let output = run(folder.path(), "exit", &["--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    let said = told(&output);
    assert!(
        said.contains("com.example.evil has ended the program"),
        "{said}"
    );
    let output = run(folder.path(), "crash", &[]);
    assert_eq!(output.status.code(), None, "it dies by the signal");
    let said = told(&output);
    assert!(
        said.contains("com.example.evil has crashed (SIGSEGV)"),
        "{said}"
    );
}

#[test]
fn who_ends_the_program_late_is_named_at_the_next_start_and_then_kept_out() {
    let Some(folder) = folder() else { return };
    let start = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_roadwright"))
            .args([&RUN[..], &USE, more].concat())
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env("EVIL", "crash later")
            .output()
            .unwrap();
        let said = told(&output);
        (output.status.code(), said)
    };
    let (first, second) = (start(&[]), start(&[]));
    let before = "com.example.evil ended the program on ";
    assert!(first.1.contains("has crashed (SIGSEGV)"), "{}", first.1);
    assert!(!first.1.contains(before), "{}", first.1);
    // Named, and loaded all the same.
    assert!(second.1.contains(before), "{}", second.1);
    assert!(
        second.1.contains("UTC (SIGSEGV): with --isolate"),
        "{}",
        second.1
    );
    assert!(second.1.contains("has crashed (SIGSEGV)"), "{}", second.1);
    assert_eq!((first.0, second.0), (None, None), "both died by the signal");
    let (code, said) = start(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("Quarantined: com.example.evil ended the program on"),
        "{said}"
    );
    assert!(said.contains("2 times"), "{said}");
    // In a process of its own it may run; its crashes are those of that process.
    let (code, said) = start(&["--isolate", "com.example.evil"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("its process crashed (SIGSEGV)"), "{said}");
    // Another build is another matter.
    let library = folder.path().join("plugins/evil.so");
    let mut bytes = std::fs::read(&library).unwrap();
    bytes.extend_from_slice(b"another build");
    std::fs::remove_file(&library).unwrap();
    std::fs::write(&library, bytes).unwrap();
    let (_, said) = start(&[]);
    assert!(
        !said.contains(before) && said.contains("has crashed"),
        "{said}"
    );
}

#[test]
fn a_slow_isolated_plugin_is_told_once_while_the_run_waits_for_it() {
    let Some(folder) = folder() else { return };
    // Many agents: what counts is the call, not the share of an agent in it.
    let town = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/old-town.scenario.json"
    );
    let more = ["--isolate", "com.example.evil", "--json"];
    let words = [&["run", town, "--seconds", "0.7"], &RUN[4..], &USE, &more].concat();
    let drive = |evil: &str| {
        let output = roadwright(folder.path(), evil, &words);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["reproducible"], true);
        (document["state_hash"].clone(), told(&output))
    };
    let (slow, said) = drive("drag");
    let warnings = said.matches("ms for a call; the run waits for it").count();
    assert_eq!(warnings, 1, "{said}");
    assert!(said.contains("warning: com.example.evil takes"), "{said}");
    // One that is quick is not told of, and drives the same.
    let (quick, said) = drive("");
    assert!(!said.contains("the run waits for it"), "{said}");
    assert_eq!(slow, quick);
}

#[test]
fn only_what_a_run_uses_is_loaded() {
    let Some(folder) = folder() else { return };
    let mark = folder.path().join("mark");
    let output = roadwright(folder.path(), "leave a mark", &RUN);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(!mark.exists());
    assert!(!told(&output).contains("evil"), "{}", told(&output));
    let output = run(folder.path(), "leave a mark", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(mark.exists());
}

#[test]
fn standard_output_belongs_to_the_document() {
    let Some(folder) = folder() else { return };
    let output = run(folder.path(), "print", &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["reproducible"], true);
    assert!(told(&output).contains("debug 0.045"));
    // Lines of its log are told when they are asked for.
    let said = told(&run(folder.path(), "log", &["--log"]));
    assert!(
        said.contains("com.example.evil: info: an evil word"),
        "{said}"
    );
    assert!(!told(&run(folder.path(), "log", &[])).contains("an evil word"));
}

#[test]
fn the_clock_decides_nothing_unless_it_is_told_to() {
    let Some(folder) = folder() else { return };
    let isolated = ["--isolate", "com.example.evil", "--json"];
    let output = run(folder.path(), "sleep", &isolated);
    assert_eq!(output.status.code(), Some(2));
    let said = told(&output);
    assert!(
        said.contains("did not answer for 2 s") && said.contains("--keep-going"),
        "{said}"
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["reproducible"], false);
    assert!(
        document["sim_seconds"].as_f64().unwrap() < 14.0,
        "it was ended"
    );
    let output = run(
        folder.path(),
        "sleep",
        &[&isolated[..], &["--keep-going"]].concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["reproducible"], false);
    assert!(document["sim_seconds"].as_f64().unwrap() >= 15.0);
    let words = ["--isolate", "com.example.evil", "--keep-going"];
    let text = run(folder.path(), "sleep", &words).stdout;
    assert!(String::from_utf8_lossy(&text).contains("NOT REPRODUCIBLE"));
    // Without the sleep it is.
    let output = run(folder.path(), "", &isolated);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_hang_that_hears_that_it_is_given_up_ends_in_good_order() {
    let Some(folder) = folder() else { return };
    let place = folder.path();
    // One that hears nothing takes the program with it; while that is waited for, one that does.
    std::thread::scope(|scope| {
        let deaf = scope.spawn(|| run(place, "hang", &["--json"]));
        let output = run(
            place,
            "hang until given up",
            &["--json", "--trace", "trace.csv"],
        );
        let said = told(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("has not answered for 2 s"), "{said}");
        let expected = "com.example.evil hangs: it did not answer for 20 s. The run was ended";
        assert!(said.contains(expected), "{said}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["reproducible"], false);
        let simulated = document["sim_seconds"].as_f64().unwrap();
        assert!(0.5 < simulated && simulated < 10.0, "{simulated}");
        let trace = std::fs::read_to_string(place.join("trace.csv")).unwrap();
        assert!(trace.lines().count() > 5, "{trace}");
        let deaf = deaf.join().unwrap();
        assert_eq!(deaf.status.code(), Some(2), "{}", told(&deaf));
        assert!(told(&deaf).contains("com.example.evil hangs: the run is ended"));
        assert!(deaf.stdout.is_empty(), "nothing can be summed up any more");
    });
}

#[test]
fn ctrl_c_gives_a_hang_up_at_once() {
    use std::io::{BufRead, BufReader};
    let Some(folder) = folder() else { return };
    let mut child = Command::new(env!("CARGO_BIN_EXE_roadwright"))
        .args([&RUN[..], &USE, &["--json"]].concat())
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("EVIL", "hang until given up")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stderr.take().unwrap());
    let mut said = said.lines().map(Result::unwrap);
    assert!(said.any(|line| line.contains("has not answered for 2 s")));
    let interrupt = ["-INT", &child.id().to_string()].map(str::to_owned);
    assert!(
        Command::new("kill")
            .args(interrupt)
            .status()
            .unwrap()
            .success()
    );
    let rest: Vec<String> = said.collect();
    assert!(
        rest.iter()
            .any(|line| line.contains("did not answer for 2 s")),
        "{rest:?}"
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["interrupted"], true);
    assert_eq!(document["reproducible"], false);
}

#[test]
fn a_check_cannot_be_talked_into_fine() {
    let Some(folder) = folder() else { return };
    let check = |evil: &str| {
        let output = roadwright(folder.path(), evil, &["plugin", "check", "plugins/evil.so"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    };
    for evil in ["exit early", "claim to be good"] {
        let (code, text) = check(evil);
        assert_eq!(code, Some(1), "{evil}: {text}");
        assert!(
            text.contains("FAIL") && text.contains("not fit"),
            "{evil}: {text}"
        );
    }
    for (evil, name) in [
        ("process id", "two processes"),
        ("late clock", "the same twice"),
        ("share", "two threads"),
        ("leak memory", "leaks"),
        ("leak files", "leaks"),
        ("leak threads", "leaks"),
        ("lie", "parameters"),
        ("slow", "speed"),
        ("write inputs", "usual inputs"),
    ] {
        let (code, text) = check(evil);
        assert_eq!(code, Some(1), "{evil}: {text}");
        let mut failed = text.lines().filter(|line| line.starts_with("FAIL"));
        assert!(failed.any(|line| line.contains(name)), "{evil}: {text}");
    }
    let (code, text) = check("print");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("prints"), "{text}");
    // What does no harm is told to be fine: a flood of output, a child that lives on, and a name
    // without a slash.
    for evil in ["flood", "leave a child"] {
        let began = std::time::SystemTime::now();
        let (code, text) = check(evil);
        assert_eq!(code, Some(0), "{evil}: {text}");
        assert!(began.elapsed().unwrap().as_secs() < 45, "{evil}");
    }
    std::fs::copy(
        folder.path().join("plugins/evil.so"),
        folder.path().join("bare.so"),
    )
    .unwrap();
    let output = roadwright(folder.path(), "", &["plugin", "check", "bare.so"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn flags_that_name_nothing_are_errors() {
    let Some(folder) = folder() else { return };
    for (words, expected) in [
        (["--isolate", "com.example.evli"], "no plugin has this id"),
        (["--allow-plugin", "ab"], "at least 8 hexadecimal digits"),
        (
            ["--allow-plugin", "0123456789"],
            "no plugin there has this hash",
        ),
        (["--plugins", "nowhere"], "there is no such folder"),
        (["--scripts", "nowhere"], "there is no such folder"),
        (
            ["--use", "controller=idm,pursuit"],
            "takes exactly one module",
        ),
        (["--use", "planner=none"], "takes exactly one module"),
    ] {
        let output = roadwright(folder.path(), "", &[&RUN[..], &words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(
            told(&output).contains(expected),
            "{words:?}: {}",
            told(&output)
        );
    }
}

#[test]
fn a_script_that_faults_is_told_and_ends_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = folder.path().join("scripts");
    std::fs::create_dir(&scripts).unwrap();
    let text = "fn behave(agent) {\n  if agent.time > 5.0 { throw \"tired\"; }\n}\n";
    std::fs::write(scripts.join("tired.rhai"), text).unwrap();
    let words = ["--scripts", "scripts", "--use", "behaviour=tired.rhai"];
    let output = roadwright(folder.path(), "", &[&RUN[..4], &words].concat());
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("tired.rhai:2:25: tired"), "{text}");
    let json = [&RUN[..4], &words, &["--json"]].concat();
    let document = roadwright(folder.path(), "", &json).stdout;
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["script_faults"][0]["script"], "tired.rhai");
}

/// A generated project, with a change to its source.
fn project(folder: &Path, language: &str, from: &str, to: &str) -> std::path::PathBuf {
    let words = [
        "plugin",
        "new",
        "mine",
        "--kind",
        "controller",
        "--lang",
        language,
    ];
    let made = roadwright(folder, "", &words);
    assert_eq!(made.status.code(), Some(0), "{}", told(&made));
    let ending = if language == "c" { "c" } else { "cpp" };
    let source = folder.join(format!("mine/mine.{ending}"));
    let text = std::fs::read_to_string(&source).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&source, text.replacen(from, to, 1)).unwrap();
    folder.join("mine")
}

const DEV: [&str; 6] = ["plugin", "dev", "mine", "--into", "plugins", "--once"];

#[test]
fn what_generated_cpp_throws_is_an_error_of_the_plugin() {
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C++ compiler");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let late = "static int calls; if (++calls > 40) throw 42; control(self, in, out);";
    project(folder.path(), "cpp", "control(self, in, out);", late);
    let built = roadwright(folder.path(), "", &DEV);
    assert_eq!(built.status.code(), Some(0), "{}", told(&built));
    let words = [&RUN[..], &["--use", "controller=com.example.mine"]].concat();
    let output = roadwright(folder.path(), "", &words);
    let said = told(&output) + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("an exception that is no std::exception"),
        "{said}"
    );
    // The module that failed is named, not the one that stands in for it.
    assert!(said.contains("com.example.mine: "), "{said}");
}

#[test]
fn plugins_are_built_as_their_folder_says() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let needs = "#ifndef GAIN\n#error GAIN is missing\n#endif\n#include <math.h>";
    let project = project(folder.path(), "c", "#include <math.h>", needs);
    std::fs::remove_file(project.join("Makefile")).unwrap();
    let dev = |flags: &str| {
        Command::new(env!("CARGO_BIN_EXE_roadwright"))
            .args(DEV)
            .current_dir(folder.path())
            .env("CPPFLAGS", flags)
            .output()
            .unwrap()
    };
    let without = dev("");
    assert_eq!(without.status.code(), Some(2));
    let said = told(&without);
    assert!(
        said.contains("GAIN is missing") && said.contains("the build failed"),
        "{said}"
    );
    assert_eq!(
        said.matches("error: #error").count(),
        1,
        "told once: {said}"
    );
    assert_eq!(dev("-DGAIN=2").status.code(), Some(0));
    if Command::new("make").arg("--version").output().is_err() {
        eprintln!("skipped: there is no make");
        return;
    }
    let rule = "mine.so: mine.c\n\t@echo by my own rule >&2\n\t$(CC) -DGAIN=3 -shared -fPIC mine.c -o mine.so -lm\n";
    std::fs::write(project.join("Makefile"), rule).unwrap();
    let made = dev("");
    assert_eq!(made.status.code(), Some(0), "{}", told(&made));
    assert!(told(&made).contains("by my own rule"));
}
