//! The child process that does the work of commands with plugins.
#![cfg(target_os = "linux")]

use crate::evil::{ID, USE, folder, told};
use crate::misbehaviour::write_scenario;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

/// Returns the command for a run with the misbehaving plugin, in which a car drives on a straight
/// road.
fn command(folder: &Path, evil: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roadwright"));
    command
        .args(["run", "straight.scenario.json", "--json"])
        .args(["--plugins", "plugins", "--trust-plugins"])
        .args(USE)
        .args(more)
        .current_dir(folder)
        .env("HOME", folder)
        .env("RW_CHAOS", evil)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn straight() -> tempfile::TempDir {
    let folder = folder();
    write_scenario(&folder.path().join("straight.scenario.json"));
    folder
}

/// Waits until a value is available, for at most half a minute.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let began = SystemTime::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            began.elapsed().unwrap() < Duration::from_secs(30),
            "it never came"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the worker process of a run. It is the longest-lived child, because processes that test
/// plugins end early.
fn worker_of(run: &Child) -> u32 {
    let id = run.id();
    wait_for(|| {
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?;
        let mut children = children.split_whitespace();
        children.find_map(|child| {
            let words = std::fs::read_to_string(format!("/proc/{child}/cmdline")).ok()?;
            words.contains("--worker").then(|| child.parse().ok())?
        })
    })
}

fn send(signal: &str, process: u32) {
    let words = [format!("-{signal}"), process.to_string()];
    assert!(Command::new("kill").args(words).status().unwrap().success());
}

/// Waits until the worker simulates, which the mark for a plugin on trial shows.
fn wait_until_it_drives(folder: &Path) {
    let marks = folder.join(".cache/roadwright/marks");
    wait_for(|| {
        let marks = std::fs::read_dir(&marks).ok()?.flatten();
        let mut names = marks.map(|mark| mark.path());
        names.find(|name| name.extension().is_some_and(|ending| ending == "trial"))
    });
}

const OUTPUTS: [&str; 3] = ["t.csv", "s.rwworld", "lights.csv"];

fn with_outputs(folder: &Path, evil: &str) -> Output {
    let more = [
        "--seconds",
        "2",
        "--trace",
        "t.csv",
        "--save",
        "s.rwworld",
        "--signals",
        "lights.csv",
    ];
    // A separate home folder, because a build that was on trial when its process ended stays out of
    // the next run.
    let home = tempfile::tempdir().unwrap();
    command(folder, evil, &more)
        .env("HOME", home.path())
        .output()
        .unwrap()
}

#[test]
fn outputs_get_their_names_only_when_the_work_is_done() {
    let folder = straight();
    let path = |name: &str| folder.path().join(name);
    let output = with_outputs(folder.path(), "soon thread _exit 0");
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains(&format!("{ID} has ended the program")));
    for name in OUTPUTS {
        assert!(!path(name).exists(), "{name}");
    }
    // The well-behaved plugin writes the outputs, and the next abnormal end leaves them unchanged.
    let output = with_outputs(folder.path(), "");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let kept = OUTPUTS.map(|name| std::fs::read(path(name)).unwrap());
    let output = with_outputs(folder.path(), "soon exec");
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert_eq!(OUTPUTS.map(|name| std::fs::read(path(name)).unwrap()), kept);
}

#[test]
fn signals_and_exit_code_pass_through() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let folder = straight();
        let mut run = command(folder.path(), "20 ms a call", &["--seconds", "1000"]);
        let run = run.spawn().unwrap();
        wait_until_it_drives(folder.path());
        send(signal, run.id());
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["interrupted"], true);
    }
}

#[test]
fn the_worker_ends_with_its_parent() {
    let folder = straight();
    let mut run = command(folder.path(), "20 ms a call", &["--seconds", "1000"])
        .spawn()
        .unwrap();
    let worker = worker_of(&run);
    wait_until_it_drives(folder.path());
    run.kill().unwrap();
    run.wait().unwrap();
    // The process is gone, or dead and not yet collected by the process that inherits it.
    wait_for(|| {
        let status = std::fs::read_to_string(format!("/proc/{worker}/stat"));
        let is_gone = status.map_or(true, |text| text.contains(") Z "));
        is_gone.then_some(())
    });
}
