//! Messages and exit codes of the program when modules misbehave.
#![cfg(unix)]

use roadwright_plugin_api::abi;
use roadwright_testing::plugin_library;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

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
pub(crate) const ID: &str = "org.roadwright.chaos";
pub(crate) const USE: [&str; 2] = ["--use", "controller=org.roadwright.chaos"];
const LIBRARY: &str = "plugins/chaos.so";

/// Creates a folder with a plugin that is capable of every kind of misbehaviour.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    std::fs::copy(plugin_library("rw_chaos"), folder.path().join(LIBRARY)).unwrap();
    folder
}

pub(crate) fn roadwright(folder: &Path, evil: &str, words: &[&str]) -> Output {
    // A separate home folder, because quarantine marks of one run apply to the next.
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_roadwright"))
        .args(words)
        .current_dir(folder)
        .env("HOME", home.path())
        .env("RW_CHAOS", evil)
        .output()
        .unwrap()
}

pub(crate) fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn run(folder: &Path, evil: &str, more: &[&str]) -> Output {
    roadwright(folder, evil, &[&RUN[..], &USE, more].concat())
}

#[test]
fn a_plugin_that_ends_the_program_is_named() {
    let folder = folder();
    let output = run(folder.path(), "late exit", &["--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    let said = told(&output);
    assert!(
        said.contains("org.roadwright.chaos has ended the program"),
        "{said}"
    );
    let output = run(folder.path(), "late null", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    let said = told(&output);
    assert!(
        said.contains("org.roadwright.chaos has crashed (SIGSEGV)"),
        "{said}"
    );
}

#[test]
fn standard_output_belongs_to_the_document() {
    let folder = folder();
    let output = run(folder.path(), "print", &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["reproducible"], true);
    assert!(told(&output).contains("debug 0.045"));
    // The plugin's log lines are printed on request.
    let said = told(&run(folder.path(), "log", &["--log"]));
    assert!(
        said.contains("org.roadwright.chaos: info: an evil word"),
        "{said}"
    );
    assert!(!told(&run(folder.path(), "log", &[])).contains("an evil word"));
}

#[test]
fn the_clock_decides_nothing_unless_it_is_told_to() {
    let folder = folder();
    let isolated = ["--isolate", ID, "--json"];
    let output = run(folder.path(), "sleep once", &isolated);
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
        "sleep once",
        &[&isolated[..], &["--keep-going"]].concat(),
    );
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["reproducible"], false);
    assert!(document["sim_seconds"].as_f64().unwrap() >= 15.0);
    let words = ["--isolate", ID, "--keep-going"];
    let text = run(folder.path(), "sleep once", &words).stdout;
    assert!(String::from_utf8_lossy(&text).contains("NOT REPRODUCIBLE"));
    // Without the sleep, the run succeeds.
    let output = run(folder.path(), "", &isolated);
    assert_eq!(output.status.code(), Some(0));
}

/// Verdict of `plugin check`: either everything passes and this note is printed, or this check is the first
/// to fail, with this message.
enum Verdict {
    Fine(&'static str),
    Fails(&'static str, &'static str),
}
use Verdict::{Fails, Fine};

/// Every kind of misbehaviour with its verdict. Kinds that hang are tested separately below.
const VERDICTS: [(&str, Verdict); 47] = [
    // The same plugin is sound if no misbehaviour is requested.
    ("", Fine("drive")),
    ("print", Fine("1 lines; use host->log instead")),
    ("log", Fine("drive")),
    ("flood", Fine("300000 lines; use host->log instead")),
    ("leave a child", Fine("drive")),
    ("panic in drop", Fine("drive")),
    (
        "rounding mode",
        Fine("its steps change the floating-point mode"),
    ),
    // Misbehaviour while the plugin is loaded, created and called for the first time.
    ("create", Fails("loading", "create panics on request")),
    ("start null", Fails("loading", "SIGSEGV")),
    ("start exit", Fails("loading", "Ended the process")),
    ("claim to be good", Fails("loading", "Ended the process")),
    (
        "panic",
        Fails("loading", "panicked at plugins/rw_chaos/src/lib.rs"),
    ),
    ("null", Fails("loading", "SIGSEGV")),
    ("stack overflow", Fails("loading", "Crashed")),
    ("exit", Fails("loading", "Ended the process")),
    // Invalid answers.
    ("nan", Fails("loading", "NaN acceleration")),
    ("some nan", Fails("loading", "NaN acceleration")),
    ("infinite", Fails("loading", "infinite steering")),
    ("huge", Fails("loading", "outside -50 to 50")),
    ("out of range", Fails("loading", "outside -1.6 to 1.6")),
    ("no status", Fails("usual inputs", "does it set status?")),
    ("write beyond", Fails("usual inputs", "beyond its rows")),
    (
        "write inputs",
        Fails("usual inputs", "inputs, which are const"),
    ),
    // Answers that come too late.
    (
        "exit at the second call",
        Fails("process", "the plugin ended the process (exit status: 0)"),
    ),
    (
        "late exit",
        Fails("process", "the plugin ended the process (exit status: 0)"),
    ),
    ("late null", Fails("process", "SIGSEGV")),
    // Answers that depend on forbidden inputs.
    ("clock", Fails("the same twice", "two fresh instances")),
    ("late clock", Fails("the same twice", "two fresh instances")),
    (
        "time of create",
        Fails("the same twice", "two fresh instances"),
    ),
    (
        "global counter",
        Fails("the same twice", "two fresh instances"),
    ),
    ("process id", Fails("two processes", "differ")),
    ("address", Fails("two processes", "differ")),
    (
        "row number",
        Fails("batches of 1 and 7", "split into slices of 1"),
    ),
    (
        "order dependent",
        Fails("batches of 1 and 7", "split into slices of 1"),
    ),
    ("hidden state", Fails("state", "saved and restored")),
    ("shared scratch", Fails("two threads", "it declares")),
    // Cost.
    (
        "200 us a row",
        Fails("speed", "us per agent (budget: 5 us)"),
    ),
    (
        "20 ms a call",
        Fails("speed", "a call with one agent takes"),
    ),
    // Either many rows or a single call take too long; which one depends on the machine.
    ("much memory", Fails("speed", "times the budget")),
    ("leaked memory", Fails("leaks", "MiB after")),
    ("leaked files", Fails("leaks", "files open")),
    ("leaked threads", Fails("leaks", "threads")),
    // Misbehaviour in parameters and driving.
    ("lie", Fails("parameters", "reads back as 42")),
    (
        "wild steering",
        Fails("drive", "the vehicle leaves its lane by"),
    ),
    (
        "steer away",
        Fails("drive", "the vehicle leaves its lane by"),
    ),
    ("stand", Fails("drive", "does not arrive")),
    ("always the same", Fails("drive", "does not arrive")),
];

/// Adds capabilities to those in the library file, as if the author had declared them.
fn declare(library: &Path, caps: u64) {
    let mut bytes = std::fs::read(library).unwrap();
    let is_info = |at: &usize| bytes[*at..].starts_with(&abi::MAGIC);
    let all = 0..bytes.len() - size_of::<abi::RwPluginInfo>();
    let infos: Vec<usize> = all.step_by(4).filter(is_info).collect();
    assert_eq!(infos.len(), 1, "there is one description");
    let at = infos[0] + std::mem::offset_of!(abi::RwPluginInfo, caps);
    bytes[at] |= u8::try_from(caps).unwrap();
    std::fs::write(library, bytes).unwrap();
}

fn check(folder: &Path, evil: &str) -> (Option<i32>, String) {
    let output = roadwright(folder, evil, &["plugin", "check", LIBRARY]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text)
}

/// Returns the difference from the expected verdict, if any.
fn surprise(folder: &Path, evil: &str, verdict: &Verdict) -> Option<String> {
    let (code, text) = check(folder, evil);
    let failed = text.lines().find(|line| line.starts_with("FAIL"));
    let is_so = match (verdict, failed) {
        (Fine(note), None) => code == Some(0) && text.contains(note) && text.ends_with("fine\n"),
        (Fails(name, why), Some(line)) => {
            let name = format!("FAIL {name:<22} ");
            code == Some(1)
                && line.starts_with(&name)
                && line.contains(why)
                && text.ends_with("unusable\n")
        }
        _ => false,
    };
    (!is_so).then(|| format!("{evil}: {text}"))
}

#[test]
fn every_bad_plugin_has_its_verdict() {
    let folder = folder();
    let parallel = self::folder();
    declare(&parallel.path().join(LIBRARY), abi::CAP_PARALLEL_SLICES);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut surprises = Vec::new();
        while let Some((evil, verdict)) = VERDICTS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let folder = if *evil == "shared scratch" {
                parallel.path()
            } else {
                folder.path()
            };
            surprises.extend(surprise(folder, evil, verdict));
        }
        surprises
    };
    let surprises = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut surprises = work();
        surprises.extend(other.join().unwrap());
        surprises
    });
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn what_hangs_is_ended() {
    let folder = folder();
    let watch = |evil: &str, name, why| {
        let verdict = Fails(name, why);
        let began = std::time::SystemTime::now();
        assert_eq!(surprise(folder.path(), evil, &verdict), None);
        // The plugin hangs only once, not again in each part of the check.
        assert!(began.elapsed().unwrap().as_secs() < 90, "{evil}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| watch("start hang", "loading", "Did not finish"));
        watch("late hang", "process", "took longer than 60 s");
    });
}

#[test]
fn a_name_without_a_slash_is_a_file_here() {
    let folder = folder();
    let (library, bare) = (folder.path().join(LIBRARY), folder.path().join("bare.so"));
    std::fs::copy(library, bare).unwrap();
    let output = roadwright(folder.path(), "", &["plugin", "check", "bare.so"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn flags_that_name_nothing_are_errors() {
    let folder = folder();
    for (words, expected) in [
        (
            ["--isolate", "org.roadwright.choas"],
            "no plugin has this id",
        ),
        (["--allow-plugin", "ab"], "at least 8 hexadecimal digits"),
        (["--allow-plugin", "0123456789"], "no plugin has this hash"),
        (["--plugins", "nowhere"], "the folder does not exist"),
        (["--scripts", "nowhere"], "the folder does not exist"),
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

#[test]
fn effects_that_cannot_be_carried_out_are_faults_of_their_script() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = folder.path().join("scripts");
    std::fs::create_dir(&scripts).unwrap();
    let run = |key: &str| {
        let text = format!(
            "fn behave(agent) {{ agent.set_parameter(\"controller\", \"{key}\", 1.5); }}\n"
        );
        std::fs::write(scripts.join("tuner.rhai"), text).unwrap();
        let words = ["--scripts", "scripts", "--use", "behaviour=tuner.rhai"];
        let output = roadwright(
            folder.path(),
            "",
            &[&RUN[..4], &words, &["--use", "controller=idm", "--json"]].concat(),
        );
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), document["faults"].clone())
    };
    let (code, faults) = run("no_such_parameter");
    assert_eq!(code, Some(1), "{faults}");
    assert!(faults["tuner.rhai"].as_u64().unwrap() > 0, "{faults}");
    assert_eq!(run("headway"), (Some(0), serde_json::json!({})));
}

/// Creates a project and changes its source.
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
    let late = "static int calls; if (++calls > 40) throw 42; control(self, in, vehicle_of(batch, in), out);";
    let call = "control(self, in, vehicle_of(batch, in), out);";
    project(folder.path(), "cpp", call, late);
    let built = roadwright(folder.path(), "", &DEV);
    assert_eq!(built.status.code(), Some(0), "{}", told(&built));
    let words = [&RUN[..], &["--use", "controller=com.example.mine"]].concat();
    let output = roadwright(folder.path(), "", &words);
    let said = told(&output) + &*String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("an exception that is not a std::exception"),
        "{said}"
    );
    // The failed module is named rather than its replacement.
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

/// Adds a program that is found before others of the same name and that records its arguments.
fn put_first_in_path(folder: &Path, name: &str, script: &str) -> std::ffi::OsString {
    use std::os::unix::fs::PermissionsExt;
    let programs = folder.join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let program = programs.join(name);
    let log = folder.join(format!("{name}.log"));
    let text = format!("#!/bin/sh\necho \"$@\" >> '{}'\n{script}\n", log.display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs).chain(std::env::split_paths(&others));
    std::env::join_paths(folders).unwrap()
}

#[test]
fn packages_that_a_source_names_are_asked_of_pkg_config() {
    let folder = tempfile::tempdir().unwrap();
    let needs = "/* roadwright: pkg-config = fancy plain */\n#ifndef GAIN\n#error GAIN is missing\n#endif\n#include <math.h>";
    let project = project(folder.path(), "c", "#include <math.h>", needs);
    std::fs::remove_file(project.join("Makefile")).unwrap();
    let dev = |script: &str| {
        let path = put_first_in_path(folder.path(), "pkg-config", script);
        Command::new(env!("CARGO_BIN_EXE_roadwright"))
            .args(DEV)
            .current_dir(folder.path())
            .env("PATH", path)
            .env_remove("PKG_CONFIG")
            .output()
            .unwrap()
    };
    let good = dev("case $1 in --cflags) echo -DGAIN=2;; --libs) echo -lm;; esac");
    assert_eq!(good.status.code(), Some(0), "{}", told(&good));
    let asked = std::fs::read_to_string(folder.path().join("pkg-config.log")).unwrap();
    assert_eq!(asked, "--cflags fancy plain\n--libs fancy plain\n");
    // Without the reported information the source does not build, and the complaint is printed.
    let silent = dev("true");
    assert_eq!(silent.status.code(), Some(2));
    assert!(
        told(&silent).contains("GAIN is missing"),
        "{}",
        told(&silent)
    );
    let unknown = dev("echo 'Package fancy was not found' >&2; exit 1");
    assert_eq!(unknown.status.code(), Some(2));
    let said = told(&unknown);
    assert!(said.contains("Package fancy was not found"), "{said}");
}

#[test]
fn who_ends_the_program_late_is_named_at_the_next_start_and_then_kept_out() {
    let folder = folder();
    let start = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_roadwright"))
            .args([&RUN[..], &USE, more].concat())
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env("RW_CHAOS", "crash after its trial")
            .output()
            .unwrap();
        let said = told(&output);
        (output.status.code(), said)
    };
    let (first, second) = (start(&[]), start(&[]));
    let before = "org.roadwright.chaos ended the program on ";
    assert!(first.1.contains("has crashed (SIGSEGV)"), "{}", first.1);
    assert!(!first.1.contains(before), "{}", first.1);
    // The plugin is named, and still loaded.
    assert!(second.1.contains(before), "{}", second.1);
    assert!(
        second.1.contains("UTC (SIGSEGV): use --isolate"),
        "{}",
        second.1
    );
    assert!(second.1.contains("has crashed (SIGSEGV)"), "{}", second.1);
    assert_eq!((first.0, second.0), (Some(2), Some(2)), "both died");
    let (code, said) = start(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("Quarantined: org.roadwright.chaos ended the program on"),
        "{said}"
    );
    assert!(said.contains("2 times"), "{said}");
    assert!(
        said.contains("`roadwright plugin retry org.roadwright.chaos`"),
        "{said}"
    );
    assert!(
        said.contains("org.roadwright.chaos was not loaded; see above"),
        "{said}"
    );
    // The command does what the message says, and only once.
    let retry = || {
        let words = ["plugin", "retry", ID, "--plugins", "plugins"];
        let output = Command::new(env!("CARGO_BIN_EXE_roadwright"))
            .args(words)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(retry().contains("is lifted"));
    assert!(retry().contains("is not in quarantine"));
    for _ in 0..2 {
        let (code, said) = start(&[]);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains("has crashed"),
            "it runs, and crashes again: {said}"
        );
    }
    let (code, said) = start(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("Quarantined"),
        "and is kept out again: {said}"
    );
    let unknown = roadwright(folder.path(), "", &["plugin", "retry", "com.example.none"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(told(&unknown).contains("no plugin in the folders has this id"));
    // In a separate process the plugin may run, and its crashes end only that process.
    let (code, said) = start(&["--isolate", ID]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("its process crashed (SIGSEGV)"), "{said}");
    // Another build is treated separately.
    let library = folder.path().join(LIBRARY);
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
    let folder = folder();
    // With many agents, the duration of the whole call counts, not the share of each agent.
    let town = crate::common::scenario("old-town");
    let more = ["--isolate", ID, "--json"];
    let words = [&["run", &town, "--seconds", "0.7"], &RUN[4..], &USE, &more].concat();
    let drive = |evil: &str| {
        let output = roadwright(folder.path(), evil, &words);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["reproducible"], true);
        (document["state_hash"].clone(), told(&output))
    };
    let (slow, said) = drive("200 ms a call");
    let warnings = said.matches("ms per call; the run waits for it").count();
    assert_eq!(warnings, 1, "{said}");
    assert!(
        said.contains("warning: org.roadwright.chaos takes"),
        "{said}"
    );
    // A fast plugin is not reported, and drives the same.
    let (quick, said) = drive("");
    assert!(!said.contains("the run waits for it"), "{said}");
    assert_eq!(slow, quick);
}

#[test]
#[cfg(target_os = "linux")]
fn an_isolated_plugin_has_the_memory_that_it_is_given() {
    let folder = folder();
    let drive = |evil: &str, memory: &str, code: i32| {
        let output = run(
            folder.path(),
            evil,
            &["--isolate", ID, "--isolated-memory", memory],
        );
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
        told(&output)
    };
    let said = drive("leaked memory", "512", 1);
    // The program's own allocations count too, and must leave the plugin most of the limit.
    let used = said.split(" MiB of its limit of 512 MiB").next();
    let used = used.and_then(|before| before.rsplit(' ').next()?.parse::<u32>().ok());
    assert!(used.is_some_and(|used| used <= 512), "{said}");
    let said = drive("leaked memory", "4096", 0);
    assert!(!said.contains("its process crashed"), "{said}");
}

#[test]
fn only_what_a_run_uses_is_loaded() {
    let folder = folder();
    let mark = folder.path().join("mark");
    let output = roadwright(folder.path(), "leave a mark", &RUN);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(!mark.exists());
    assert!(!told(&output).contains("chaos"), "{}", told(&output));
    let output = run(folder.path(), "leave a mark", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(mark.exists());
}

#[test]
fn a_hang_that_hears_that_it_is_given_up_ends_in_good_order() {
    let folder = folder();
    let place = folder.path();
    // A plugin that ignores signals ends together with the program. Meanwhile, a plugin that
    // handles them is tested.
    std::thread::scope(|scope| {
        let deaf = scope.spawn(|| run(place, "late hang", &["--json"]));
        let output = run(
            place,
            "hang until given up",
            &["--json", "--trace", "trace.csv"],
        );
        let said = told(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("has not answered for 2 s"), "{said}");
        let expected = "org.roadwright.chaos is not responding: it did not answer for 20 s. The run was stopped";
        assert!(said.contains(expected), "{said}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["reproducible"], false);
        let simulated = document["sim_seconds"].as_f64().unwrap();
        assert!(0.5 < simulated && simulated < 10.0, "{simulated}");
        let trace = std::fs::read_to_string(place.join("trace.csv")).unwrap();
        assert!(trace.lines().count() >= 2, "{trace}");
        let deaf = deaf.join().unwrap();
        assert_eq!(deaf.status.code(), Some(2), "{}", told(&deaf));
        assert!(told(&deaf).contains("org.roadwright.chaos is not responding; exiting"));
        assert!(deaf.stdout.is_empty(), "nothing can be summed up any more");
    });
}

#[test]
fn ctrl_c_gives_a_hang_up_at_once() {
    use std::io::{BufRead, BufReader};
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_roadwright"))
        .args([&RUN[..], &USE, &["--json"]].concat())
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("RW_CHAOS", "hang until given up")
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
    // 128 and the number of the signal.
    assert_eq!(output.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["interrupted"], true);
    assert_eq!(document["reproducible"], false);
}

#[test]
fn an_experiment_is_checked_with_the_plugins_that_train_is_given() {
    let folder = folder();
    // Not beside the experiment, where it would be found anyway.
    std::fs::rename(folder.path().join("plugins"), folder.path().join("own")).unwrap();
    let text = r#"{"format": "roadwright-experiment", "version": 1, "course": "arena",
        "stack": {"planner": {"module": "route"}, "behaviour": {"module": "lane_keeper"},
            "controller": {"module": "org.roadwright.chaos"}, "fitness": []},
        "genes": ["org.roadwright.chaos.mode"], "runs": 30, "stop": {"generations": 2},
        "seeds": {"train": [1, 50], "validate": [101, 102], "test": [201, 240]}}"#;
    std::fs::write(folder.path().join("evil.experiment.json"), text).unwrap();
    let check = |more: &[&str]| {
        let words = ["check", "evil.experiment.json", "--plugins", "own"];
        let output = roadwright(folder.path(), "", &[&words[..], more].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = check(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("org.roadwright.chaos is not allowed to run yet; allow it with"),
        "{said}"
    );
    assert!(!said.contains("uses no module"), "{said}");
    let (code, said) = check(&["--trust-plugins"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("cannot-train"), "{said}");
}
