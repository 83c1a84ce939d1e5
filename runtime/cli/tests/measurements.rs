//! Checks that all programs, options, benches, tests and tools named in docs/measurements.md exist.
//!
//! Running them would take hours. Instead, commands of the program are called with `--help` appended, which
//! succeeds only if everything before it is valid, and cargo's targets are looked up.

use crate::common::{files_below, roadwright, root};
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../docs/measurements.md");

/// Returns all commands in docs/measurements.md, from shell blocks and from code spans.
fn commands() -> Vec<String> {
    let blocks = PAGE.split("```sh\n").skip(1);
    let blocks = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let within = PAGE.split('`').skip(1).step_by(2);
    let is_command = |text: &&str| {
        let first = words(text).into_iter().find(|word| !word.contains('='));
        text.contains(' ') && first.is_some_and(|word| PROGRAMS.contains(&word.as_str()))
    };
    let all = blocks.chain(within).filter(is_command);
    all.map(str::to_owned).collect()
}

const PROGRAMS: [&str; 3] = ["roadwright", "cargo", "python"];

/// Returns the words of a command without optional parts and remarks, with placeholders replaced by a number.
pub(crate) fn words(command: &str) -> Vec<String> {
    let command = command.split('#').next().unwrap();
    let words = command.split_whitespace();
    let words = words.filter(|word| !word.starts_with('[') && !word.ends_with(']'));
    let is_put_in = |word: &str| word.chars().all(|letter| letter.is_ascii_uppercase());
    words
        .map(|word| if is_put_in(word) { "1" } else { word })
        .map(str::to_owned)
        .collect()
}

/// Returns the missing part of a command, if any.
pub(crate) fn missing(command: &str) -> Option<String> {
    let words = words(command);
    let set = words.iter().take_while(|word| word.contains('=')).count();
    for variable in &words[..set] {
        let name = variable.split('=').next().unwrap();
        if !is_read(name) {
            return Some(format!("nothing reads {name}"));
        }
    }
    let given: Vec<&str> = words[set..].iter().map(String::as_str).collect();
    match given[0] {
        "roadwright" => refused(&given[1..]),
        "cargo" => not_there(&given[1..]),
        _ => {
            let tool = root().join(given[1]);
            (!tool.exists()).then(|| format!("there is no {}", given[1]))
        }
    }
}

/// Returns the program's error message about the arguments, if any.
fn refused(arguments: &[&str]) -> Option<String> {
    let arguments = [arguments, &["--help"]].concat();
    let output = roadwright(&root(), &arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code() != Some(0)).then_some(said)
}

/// Returns the missing target of a cargo command, if any.
fn not_there(arguments: &[&str]) -> Option<String> {
    let after = |flag: &str| {
        let place = arguments.iter().position(|word| *word == flag)?;
        arguments.get(place + 1).copied()
    };
    let package = after("-p");
    let packages: Vec<PathBuf> = packages()
        .into_iter()
        .filter(|(name, _)| package.is_none_or(|package| package == name))
        .map(|(_, folder)| folder)
        .collect();
    if packages.is_empty() {
        return Some(format!("there is no package {package:?}"));
    }
    let has = |folder: &str, name: &str| {
        let file = format!("{folder}/{name}.rs");
        packages.iter().any(|package| package.join(&file).exists())
    };
    let runs = [("--bench", "benches"), ("--example", "examples")];
    for (flag, folder) in runs {
        if let Some(name) = after(flag).filter(|name| !has(folder, name)) {
            return Some(format!("there is no {name} in {folder}"));
        }
    }
    // All tests of a package with many tests form one binary, `all`.
    if let Some(name) = after("--test").filter(|name| *name != "all" && !has("tests", name)) {
        return Some(format!("there is no test program {name}"));
    }
    let is_filter =
        |word: &&&str| arguments[0] == "test" && word.contains('_') && !word.contains('-');
    let filter = arguments.iter().find(|word| word.ends_with("::"));
    let filter = filter.or_else(|| arguments.iter().find(is_filter))?;
    let sources = packages.iter().flat_map(|package| sources(package));
    let mut sources = sources.map(|file| std::fs::read_to_string(file).unwrap());
    let is_meant = |line: &str| match filter.strip_suffix("::") {
        Some(module) => line == format!("mod {module};"),
        None => {
            let is_item = line.starts_with("mod ") || line.starts_with("fn ");
            is_item && line.contains(*filter)
        }
    };
    let is_named = |text: String| text.lines().map(str::trim_start).any(is_meant);
    (!sources.any(is_named)).then(|| format!("there is no test {filter}"))
}

/// Returns the packages of the workspace, by name, with their folders.
fn packages() -> Vec<(String, PathBuf)> {
    let runtime = std::fs::read_dir(root().join("runtime")).unwrap();
    let folders = runtime.map(|entry| entry.unwrap().path());
    let folders = folders.chain([root().join("editor/core"), root().join("editor")]);
    let named = folders.filter_map(|folder| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        let (_, rest) = manifest.split_once("name = \"")?;
        Some((rest.split('"').next()?.to_owned(), folder))
    });
    named.collect()
}

/// Returns all sources of a package.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files_below(folder.to_path_buf(), &["rs"], &mut found);
    found
}

/// Whether a source reads an environment variable.
fn is_read(variable: &str) -> bool {
    let quoted = format!("\"{variable}\"");
    let folders = packages().into_iter().map(|(_, folder)| folder);
    let mut files = folders.flat_map(|folder| sources(&folder));
    files.any(|file| std::fs::read_to_string(file).unwrap().contains(&quoted))
}

#[test]
fn all_that_measurements_run_is_there() {
    let commands = commands();
    assert!(commands.len() >= 30, "{commands:?}");
    for command in &commands {
        assert_eq!(missing(command), None, "{command}");
    }
    // A missing part is detected.
    for command in [
        "roadwright run FILE --no-such-option",
        "roadwright bench junctions --control magic",
        "cargo bench -p roadwright-nothing",
        "cargo bench -p roadwright-control --bench nothing",
        "cargo test -p roadwright-simulation --test all nothing::",
        "cargo test --workspace --lib -- how_long_nothing",
        "ROADWRIGHT_NOTHING=1 cargo test -p roadwright-simulation --test all junctions::",
        "python tools/nothing.py",
    ] {
        assert!(missing(command).is_some(), "{command}");
    }
}
