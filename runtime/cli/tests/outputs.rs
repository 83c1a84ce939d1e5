//! Checks that no result replaces an input, another result, or a file of another kind, and that results of an
//! earlier run stay until new ones are complete.
#![cfg(unix)]

use crate::common::{command, files_below, roadwright, root, scenario};
use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// A command that writes a file.
struct Case {
    /// The arguments of the command; `OUT` stands for the file.
    words: &'static str,
    /// Files in the folder that the command reads.
    reads: &'static [&'static str],
    /// An extension that suits the result.
    fits: &'static str,
    /// The extension of another kind of result.
    other: &'static str,
    /// Whether the command can write to pipes and devices.
    streams: bool,
    /// Exit code on success.
    code: i32,
}

/// All commands that write a file, with as few arguments as possible.
const CASES: [Case; 11] = [
    Case {
        words: "run own.scenario.json --restore moment.rwworld --seconds 1.1 --quiet --save OUT",
        reads: RUN,
        fits: ".rwworld",
        other: ".csv",
        streams: true,
        code: 0,
    },
    Case {
        words: "run own.scenario.json --restore moment.rwworld --seconds 1.1 --quiet --trace OUT",
        reads: RUN,
        fits: ".csv",
        other: ".png",
        streams: true,
        code: 0,
    },
    Case {
        words: "run own.scenario.json --restore moment.rwworld --seconds 1.1 --quiet --signals OUT",
        reads: RUN,
        fits: ".csv",
        other: ".rwworld",
        streams: true,
        code: 0,
    },
    Case {
        words: "render own.scenario.json --size 64x64 --out OUT",
        reads: &["own.scenario.json", "scripts/own.rhai", "plugins/own.so"],
        fits: ".png",
        other: ".csv",
        streams: true,
        code: 0,
    },
    Case {
        words: "pack own.scenario.json --quiet --out OUT",
        reads: &["own.scenario.json", "scripts/own.rhai", "plugins/own.so"],
        fits: ".rwz",
        other: ".json",
        streams: true,
        code: 0,
    },
    Case {
        words: "import own.osm --quiet --out OUT",
        reads: &["own.osm"],
        fits: ".scenario.json",
        other: ".osm",
        streams: true,
        code: 0,
    },
    Case {
        words: "controller surface fuzzy_driver.route.speed --out OUT",
        reads: &[],
        fits: ".png",
        other: ".svg",
        streams: true,
        code: 0,
    },
    Case {
        words: "bench run own.scenario.json --runs 1 --out OUT",
        reads: &["own.scenario.json", "scripts/own.rhai", "plugins/own.so"],
        fits: ".json",
        other: ".csv",
        streams: false,
        code: 0,
    },
    Case {
        words: "bench run own.scenario.json --runs 1 --log OUT",
        reads: &["own.scenario.json", "scripts/own.rhai", "plugins/own.so"],
        fits: ".csv",
        other: ".json",
        streams: true,
        code: 0,
    },
    Case {
        words: "train own.experiment.json --generations 1 --quiet --resume --out OUT",
        reads: &["own.experiment.json", "scripts/own.rhai", "plugins/own.so"],
        fits: ".training.json",
        other: ".csv",
        streams: false,
        code: 0,
    },
    Case {
        words: "train apply own.training.json --to own.scenario.json --stack own --out OUT",
        reads: &["own.training.json"],
        fits: ".scenario.json",
        other: ".training.json",
        streams: true,
        code: 0,
    },
];

const RUN: &[&str] = &[
    "own.scenario.json",
    "moment.rwworld",
    "scripts/own.rhai",
    "plugins/own.so",
];

/// A training experiment in the arena that runs for a second.
const EXPERIMENT: &str = r#"{
  "format": "roadwright-experiment",
  "version": 1,
  "course": "arena",
  "stack": "fuzzy_driver",
  "genes": ["fuzzy_driver.rule_avoid_*"],
  "seeds": {"train": [1, 2], "validate": [101, 102], "test": [201, 202]},
  "operators": {"n": 1},
  "runs": 1,
  "stop": {"generations": 1}
}
"#;

const MAP: &str = r#"<osm><node id="1" lat="53.34" lon="-6.262"/><node id="2" lat="53.34" lon="-6.26"/>
<way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way></osm>"#;

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn call(folder: &Path, words: &str) -> Output {
    let words: Vec<&str> = words.split(' ').collect();
    roadwright(folder, &words)
}

fn fine(folder: &Path, words: &str) {
    let output = call(folder, words);
    assert_eq!(output.status.code(), Some(0), "{words}: {}", told(&output));
}

fn refused(folder: &Path, words: &str, expected: &[&str]) {
    let output = call(folder, words);
    let said = told(&output);
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    let is_expected = expected.iter().any(|expected| said.contains(expected));
    assert!(is_expected, "{words}: {said}\nexpected {expected:?}");
}

/// Creates a folder with all files that the commands read.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let text = std::fs::read_to_string(scenario("figure-eight")).unwrap();
    // With a stack for trained values. Vehicles that drive for a second make short benches.
    let mut own: serde_json::Value = serde_json::from_str(&text).unwrap();
    own["settings"]["duration"] = 1.0.into();
    own["stacks"]["own"] = own["stacks"]["idm"].clone();
    own["stacks"]["own"]["controller"] = serde_json::json!({"module": "fuzzy_driver"});
    put("own.scenario.json", &own.to_string());
    put("own.osm", MAP);
    put("own.experiment.json", EXPERIMENT);
    for name in ["scripts", "plugins", "in"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    put("scripts/own.rhai", "fn behave(agent) { }");
    // Not a library. This is only detected when one of its modules is used.
    put("plugins/own.so", "not a library");
    fine(
        folder.path(),
        "run own.scenario.json --seconds 1 --quiet --save moment.rwworld",
    );
    fine(
        folder.path(),
        "train own.experiment.json --quiet --out own.training.json",
    );
    folder
}

/// Returns the contents of all files in a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // The cache has marks of runs that did not end.
                if !path.ends_with(".cache") {
                    folders.push(path);
                }
            } else if path.is_file() {
                files.push(path);
            }
        }
    }
    let read = |path: PathBuf| (path.clone(), std::fs::read(path).unwrap());
    files.into_iter().map(read).collect()
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let folder = folder();
    let folder = folder.path();
    for (number, name) in ["own.scenario.json", "own.osm", "own.experiment.json"]
        .into_iter()
        .chain(["own.training.json", "moment.rwworld"])
        .chain(["scripts/own.rhai", "plugins/own.so"])
        .enumerate()
    {
        let [hard, soft] = ["hard", "soft"].map(|kind| folder.join(format!("{kind}-{number}")));
        std::fs::hard_link(folder.join(name), hard).unwrap();
        symlink(name, soft).unwrap();
    }
    let all = [
        "own.scenario.json",
        "own.osm",
        "own.experiment.json",
        "own.training.json",
        "moment.rwworld",
        "scripts/own.rhai",
        "plugins/own.so",
    ];
    let before = contents(folder);
    let slips = [
        "an input of this command; choose another file",
        "the extension of",
    ];
    for case in &CASES {
        for name in case.reads {
            let number = all.iter().position(|known| known == name).unwrap();
            for out in [
                (*name).to_owned(),
                format!("./{name}"),
                format!("in/../{name}"),
                folder.join(name).display().to_string(),
                format!("hard-{number}"),
                format!("soft-{number}"),
            ] {
                refused(folder, &case.words.replace("OUT", &out), &slips);
            }
        }
    }
    // File names do not identify files of that kind, so the extension did not cause the refusal.
    let words = CASES[1].words.replace("OUT", "hard-4");
    refused(
        folder,
        &words,
        &["hard-4 is the saved world, an input of this command"],
    );
    assert!(before == contents(folder), "something was written");
}

#[test]
fn endings_of_other_kinds_are_refused_and_fresh_names_written() {
    let folder = folder();
    let folder = folder.path();
    for (number, case) in CASES.iter().enumerate() {
        let words = |out: &str| case.words.replace("OUT", out);
        for ending in [".rhai", ".vehicle.json", ".rs", case.other] {
            let name = format!("slip-{number}{ending}");
            refused(folder, &words(&name), &["the extension of"]);
            assert!(!folder.join(&name).exists(), "{name}");
        }
        refused(
            folder,
            &words(&format!("no/such/fresh{}", case.fits)),
            &["the folder no/such does not exist; create it"],
        );
        // None of these is refused on its own.
        for ending in [case.fits, "", ".data"] {
            let name = format!("fresh-{number}{ending}");
            let output = call(folder, &words(&name));
            let said = told(&output);
            assert_eq!(output.status.code(), Some(case.code), "{name}: {said}");
            assert!(folder.join(&name).metadata().unwrap().len() > 0, "{name}");
        }
    }
}

#[test]
fn devices_take_results_and_are_refused_where_results_are_read_again() {
    let folder = folder();
    let folder = folder.path();
    for case in &CASES {
        let words = case.words.replace("OUT", "/dev/null");
        if case.streams {
            fine(folder, &words);
        } else {
            refused(folder, &words, &["is a pipe or a device"]);
        }
    }
    let null = Path::new("/dev/null").metadata().unwrap();
    assert!(null.file_type().is_char_device());
    // Several outputs in one call.
    fine(
        folder,
        "run own.scenario.json --seconds 1 --quiet --trace /dev/null --signals /dev/null",
    );
}

#[test]
fn a_pipe_takes_a_table_and_stays_a_pipe() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = folder();
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    let run = "run own.scenario.json --seconds 1 --quiet --trace";
    fine(folder.path(), &format!("{run} pipe"));
    fine(folder.path(), &format!("{run} file.csv"));
    let table = std::fs::read_to_string(folder.path().join("file.csv")).unwrap();
    assert!(table.lines().count() > 10);
    assert_eq!(reader.join().unwrap(), table);
    assert!(pipe.metadata().unwrap().file_type().is_fifo());
}

#[test]
fn standard_output_takes_a_result_that_has_it_for_itself() {
    let folder = folder();
    let folder = folder.path();
    let run = "run own.scenario.json --seconds 1 --trace /dev/stdout";
    let output = call(folder, &format!("{run} --quiet"));
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.starts_with("time_s,") && table.lines().count() > 10);
    refused(
        folder,
        &format!("{run} --json"),
        &["already used for --json"],
    );
    refused(folder, run, &["--quiet leaves it out"]);
    let render = "render own.scenario.json --size 64x64 --out /dev/stdout";
    assert!(call(folder, render).stdout.starts_with(b"\x89PNG"));
    // A file to which standard output was redirected is not replaced either.
    let redirected = std::fs::File::create(folder.join("all.csv")).unwrap();
    let words: Vec<&str> = "run own.scenario.json --seconds 1 --trace all.csv"
        .split(' ')
        .collect();
    let output = command(folder, &words).stdout(redirected).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
}

#[test]
fn no_result_replaces_another_one() {
    let folder = folder();
    let folder = folder.path();
    symlink("one", folder.join("other")).unwrap();
    let run = "run own.scenario.json --seconds 1 --quiet";
    for (words, what) in [
        ("--save one --trace ./one", "--save"),
        ("--save one --trace other", "--save"),
        ("--trace one --signals in/../one", "--trace"),
        ("--trace a.csv --signals a.scores.csv", "--signals"),
        ("--trace s/timeline.csv --statistics s", "--trace"),
        ("--signals ./s/trips.csv --statistics in/../s", "--signals"),
    ] {
        let expected = format!("is already used for {what}");
        refused(folder, &format!("{run} {words}"), &[&expected]);
    }
    let slip = "--save s/timeline.png --statistics s";
    refused(folder, &format!("{run} {slip}"), &["the extension of"]);
    refused(
        folder,
        &format!("{run} --save one --statistics one"),
        &["already used for --save"],
    );
    let bench = "bench run own.scenario.json --runs 1";
    refused(
        folder,
        &format!("{bench} --out b.json --log ./b.csv"),
        &["already"],
    );
    assert!(!folder.join("one").exists() && !folder.join("b.json").exists());
    // With different names, all outputs are written.
    let words = "--save one --trace a.csv --signals b.csv --statistics s";
    fine(folder, &format!("{run} {words}"));
    fine(
        folder,
        &format!("{bench} --out c.json --log d.csv --plots p"),
    );
    for name in [
        "one",
        "a.csv",
        "a.scores.csv",
        "b.csv",
        "s/timeline.png",
        "c.json",
        "c.csv",
        "d.csv",
    ] {
        assert!(folder.join(name).exists(), "{name}");
    }
}

#[test]
fn tables_that_a_command_names_itself_replace_only_such_tables() {
    let folder = folder();
    let folder = folder.path();
    let mine = |name: &str| std::fs::write(folder.join(name), "my,table\n1,2\n").unwrap();
    std::fs::create_dir(folder.join("s")).unwrap();
    for (name, words) in [
        (
            "a.scores.csv",
            "run own.scenario.json --seconds 1 --quiet --trace a.csv",
        ),
        (
            "s/heat.csv",
            "run own.scenario.json --seconds 1 --quiet --statistics s",
        ),
        ("b.csv", "bench run own.scenario.json --runs 1 --out b.json"),
    ] {
        mine(name);
        refused(folder, words, &["exists but is not a table of this kind"]);
        let kept = std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(kept, "my,table\n1,2\n");
        std::fs::remove_file(folder.join(name)).unwrap();
        fine(folder, words);
        // The command may replace its own table.
        fine(folder, words);
    }
}

#[test]
fn a_run_that_is_killed_leaves_the_results_of_an_earlier_one() {
    use std::io::{BufRead, BufReader};
    let folder = folder();
    let folder = folder.path();
    let log = "fn behave(agent) { agent.log(\"x\"); }";
    std::fs::write(folder.join("scripts/own.rhai"), log).unwrap();
    let results = "--trace t.csv --signals g.csv --statistics s --save w.rwworld";
    let run = "run own.scenario.json --use behaviour=own.rhai --log --seconds";
    fine(folder, &format!("{run} 2 {results}"));
    let before = contents(folder);
    let words = format!("{run} 1000000 {results}");
    let words: Vec<&str> = words.split(' ').collect();
    let mut child = command(folder, &words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // The run has started stepping, so all tables are open.
    let seen = lines.map(Result::unwrap).take(200);
    assert!(seen.filter(|line| line.starts_with("log: ")).count() > 100);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut after = contents(folder);
    after.retain(|path, _| !path.to_string_lossy().contains(".saving-"));
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    assert!(before == after, "a result was touched");
    // Another complete run replaces the results.
    fine(folder, &format!("{run} 3 {results}"));
    assert_ne!(before[&folder.join("s/trips.csv")], b"");
    let timeline = folder.join("s/timeline.csv");
    assert_ne!(before[&timeline], std::fs::read(&timeline).unwrap());
}

#[test]
fn nothing_but_the_door_makes_files() {
    /// Calls that create files directly.
    const MAKES: [&str; 7] = [
        "roadwright_files::write",
        "Beside",
        "File::create",
        "fs::write",
        "create_dir",
        "OpenOptions",
        "File::options",
    ];
    let mut sources = Vec::new();
    files_below(root().join("runtime/cli/src"), &["rs"], &mut sources);
    let made = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        MAKES.iter().any(|word| code.contains(word))
    };
    let (door, others): (Vec<_>, Vec<_>) = sources
        .into_iter()
        .partition(|path| path.parent().unwrap().ends_with("outputs"));
    assert!(others.len() > 50);
    // The output module itself uses them, so the search terms are right.
    assert!(door.iter().any(made));
    let others = others.into_iter().filter(made);
    // The worker writes messages into a folder of its parent, but no results.
    let others: Vec<_> = others
        .filter(|path| !path.ends_with("src/worker.rs"))
        .collect();
    assert!(others.is_empty(), "{others:?}");
}
