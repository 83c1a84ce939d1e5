//! `roadwright script`: creates and checks behaviour scripts.

use super::{load, load_for, print_json, session_at};
use crate::Outcome;
use crate::arguments::{ExtensionFlags, RunOne, ScriptVerb};
use crate::extensions;
use crate::terminal::{self, say};
use anyhow::{Context, bail};
use roadwright_extension::author;
use roadwright_extension::script::{
    ApiKind, Compiled, LONGEST_SCRIPT, Rehearsal, SCRIPT_ENDING, ScenarioNames, ScriptError,
    ScriptStep, Steps, Subject, Surroundings, api, api_markdown, compile, faults, step_through,
    warnings,
};
use roadwright_extension::{FileState, Wanted};
use roadwright_files::read_text;
use roadwright_scenario::Scenario;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Maximum length of a printed line of a script, in characters.
const MOST_SHOWN: usize = 120;
/// Maximum number of words that a message lists.
const MOST_WORDS: usize = 20;

pub(crate) fn script(verb: &ScriptVerb) -> anyhow::Result<Outcome> {
    match verb {
        ScriptVerb::Check {
            file,
            scenario,
            json,
            extensions,
        } => {
            let names = scenario_names(file, scenario.as_deref())?;
            check(file, extensions, &names, *json)
        }
        ScriptVerb::RunOne(arguments) => run_one(arguments),
        ScriptVerb::Api { json: true, .. } => {
            print_json(&api())?;
            Ok(Outcome::Fine)
        }
        ScriptVerb::Api { markdown: true, .. } => {
            write!(terminal::out(), "{}", api_markdown())?;
            Ok(Outcome::Fine)
        }
        ScriptVerb::Api { .. } => {
            let mut out = terminal::out();
            for item in api() {
                let mark = if item.kind == ApiKind::Event {
                    "called"
                } else {
                    ""
                };
                writeln!(out, "{:<64} {mark:<7}{}", item.signature, item.doc)?;
            }
            Ok(Outcome::Fine)
        }
        ScriptVerb::New { name, at } => {
            let path = author::new_script(at, name)?;
            writeln!(
                terminal::out(),
                "{}\nUse it in a stack: \"behaviour\": {{\"module\": \"{name}.rhai\"}}, or --use behaviour={name}.rhai",
                path.display()
            )?;
            Ok(Outcome::Fine)
        }
    }
}

/// Reads a script and returns its name and text.
fn read(file: &Path) -> anyhow::Result<(String, String)> {
    let name = file.display().to_string();
    let text = read_text(file, LONGEST_SCRIPT).with_context(|| format!("cannot read {name}"))?;
    Ok((name, text))
}

/// Returns the error of a script as a document.
fn mistake(name: &str, error: &ScriptError) -> serde_json::Value {
    json!({
        "file": name,
        "ok": false,
        "line": error.line,
        "column": error.column,
        "message": error.message,
    })
}

/// Calls one handler for one agent.
fn run_one(arguments: &RunOne) -> anyhow::Result<Outcome> {
    let (name, text) = read(&arguments.file)?;
    let subject = subject(arguments)?;
    let folder = arguments.file.parent();
    let event = arguments.event.as_str();
    let done = step_through(&name, &text, folder, event, &subject);
    let (steps, done) = match done {
        Ok(Steps { steps, outcome }) => (steps, outcome),
        Err(error) => (Vec::new(), Err(error)),
    };
    if arguments.json {
        let mut document = match &done {
            Ok(done) => outcome_json(&name, arguments, done),
            Err(error) => mistake(&name, error),
        };
        if arguments.steps {
            document["steps"] = serde_json::to_value(&steps)?;
        }
        print_json(&document)?;
    } else {
        let mut out = terminal::out();
        if arguments.steps {
            print_steps(&mut out, &text, &steps)?;
        }
        match &done {
            Ok(done) => print_outcome(&mut out, &name, arguments, done)?,
            Err(error) => writeln!(out, "{error}")?,
        }
    }
    Ok(Outcome::of(done.is_ok()))
}

/// Returns the agent that the handler is called for.
fn subject(arguments: &RunOne) -> anyhow::Result<Subject> {
    let id = arguments.agent;
    let Some(file) = &arguments.scenario else {
        return Ok(Subject::MadeUp(id));
    };
    let scenario = load_for(file, &arguments.simulate)?;
    let seconds = arguments.at.unwrap_or(0.0);
    let session = session_at(file, &scenario, &arguments.simulate, seconds)?;
    let world = session.world();
    let Some(view) = world.behaviour_view(id) else {
        let driving = world.snapshot().vehicles;
        let ids: Vec<String> = driving.iter().map(|v| v.agent.to_string()).collect();
        bail!(
            "agent {id} is not driving {} s after the start; driving agents: {}",
            world.time(),
            shortened(&ids)
        );
    };
    let script = arguments.file.file_name().unwrap_or_default();
    Ok(Subject::Driving {
        view: Box::new(view),
        script: script.to_string_lossy().into_owned(),
    })
}

/// Returns the first [`MOST_WORDS`] words as text, followed by the number of the remaining ones.
fn shortened(words: &[String]) -> String {
    match words {
        [] => "nobody".to_owned(),
        words if words.len() <= MOST_WORDS => words.join(", "),
        words => format!(
            "{} and {} more",
            words[..MOST_WORDS].join(", "),
            words.len() - MOST_WORDS
        ),
    }
}

fn effects_of(done: &Rehearsal) -> Vec<String> {
    done.effects.iter().map(|e| format!("{e:?}")).collect()
}

fn outcome_json(name: &str, arguments: &RunOne, done: &Rehearsal) -> serde_json::Value {
    let memory = done.memory.iter();
    let memory: serde_json::Map<_, _> = memory
        .map(|(name, value)| (name.clone(), value.clone().into()))
        .collect();
    json!({
        "file": name,
        "ok": true,
        "event": arguments.event,
        "agent": arguments.agent,
        "effects": effects_of(done),
        "memory": memory,
        "wishes": done.wishes,
    })
}

fn print_outcome(
    out: &mut impl Write,
    name: &str,
    arguments: &RunOne,
    done: &Rehearsal,
) -> std::io::Result<()> {
    let RunOne { event, agent, .. } = arguments;
    let place = match &arguments.scenario {
        Some(file) => format!(
            "driving in {} after {} s",
            file.display(),
            arguments.at.unwrap_or(0.0)
        ),
        None => "at 8 m/s on a free road".to_owned(),
    };
    writeln!(out, "{event} of {name} for agent {agent}, {place}")?;
    writeln!(out, "  wishes   {}", done.wishes)?;
    for (name, value) in &done.memory {
        writeln!(out, "  memory   {name} = {value}")?;
    }
    for effect in effects_of(done) {
        writeln!(out, "  effect   {effect}")?;
    }
    Ok(())
}

/// Prints each statement with the values that have changed since the previous one.
fn print_steps(out: &mut impl Write, text: &str, steps: &[ScriptStep]) -> std::io::Result<()> {
    let lines: Vec<&str> = text.lines().collect();
    let mut before: BTreeMap<String, String> = BTreeMap::new();
    for step in steps {
        let now = step.all_values();
        for (name, value) in &now {
            if before.get(name) != Some(value) {
                writeln!(out, "{:>13} {name} = {value}", "")?;
            }
        }
        let line = step.line.checked_sub(1).and_then(|at| lines.get(at));
        let line = line.map_or("", |line| line.trim());
        // A single line of a script can have up to 256 KiB.
        let line: String = line.chars().take(MOST_SHOWN).collect();
        let inside = "  ".repeat(step.depth.saturating_sub(1));
        writeln!(out, "{:>5}:{:<5} {inside}{line}", step.line, step.column)?;
        before = now;
    }
    Ok(())
}

/// Checks a script for mistakes and suspicious code.
fn check(
    file: &Path,
    flags: &ExtensionFlags,
    names: &ScenarioNames,
    as_json: bool,
) -> anyhow::Result<Outcome> {
    let (name, text) = read(file)?;
    let folder = file.parent();
    let result = compile(&name, &text, folder);
    let (faults, warnings) = match &result {
        Ok(script) => (
            faults(script, folder),
            warnings_of(script, file, flags, names)?,
        ),
        Err(_) => (Vec::new(), Vec::new()),
    };
    if as_json {
        print_json(&match &result {
            Ok(script) => {
                let parameters: Vec<_> = script.parameters.iter().map(|p| p.key).collect();
                let list =
                    |found: &[ScriptError]| -> Vec<_> { found.iter().map(place_of).collect() };
                let (faults, warnings) = (list(&faults), list(&warnings));
                json!({
                    "file": name,
                    "ok": faults.is_empty(),
                    "doc": script.doc,
                    "parameters": parameters,
                    "faults": faults,
                    "warnings": warnings,
                })
            }
            Err(error) => mistake(&name, error),
        })?;
    } else {
        for fault in &faults {
            say!("fault: {fault}");
        }
        for warning in &warnings {
            say!("warning: {warning}");
        }
        match &result {
            Ok(script) => {
                let verdict = match (faults.len(), warnings.len()) {
                    (0, 0) => "fine".to_owned(),
                    (0, 1) => "the script runs, with 1 warning".to_owned(),
                    (0, count) => format!("the script runs, with {count} warnings"),
                    (1, _) => "the script runs, but has 1 fault".to_owned(),
                    (count, _) => {
                        format!("the script runs, but has {count} faults")
                    }
                };
                writeln!(terminal::out(), "{name}: {verdict}. {}", script.doc)?;
            }
            Err(error) => say!("{error}"),
        }
    }
    Ok(match result {
        Ok(_) if faults.is_empty() => Outcome::Fine,
        _ => Outcome::Findings,
    })
}

/// Returns the folder of a file.
fn folder_of(file: &Path) -> &Path {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Returns the vehicle types, stacks and places to which a script may refer. They come from the given
/// scenario, or else from all scenarios near the script.
fn scenario_names(script: &Path, scenario: Option<&Path>) -> anyhow::Result<ScenarioNames> {
    if let Some(file) = scenario {
        return Ok(ScenarioNames::of(&load(file)?));
    }
    let folder = folder_of(script);
    let is_scripts = folder.file_name().is_some_and(|name| name == "scripts");
    // Scripts are in the folder `scripts` beside their scenario.
    let above = is_scripts.then(|| folder_of(folder));
    let folders = [Some(folder), above].into_iter().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    let is_scenario = |path: &PathBuf| path.to_string_lossy().ends_with(".scenario.json");
    // An unreadable scenario is ignored.
    let names = files
        .filter(is_scenario)
        .filter_map(|path| Some(ScenarioNames::of(&load(&path).ok()?)));
    Ok(names
        .reduce(ScenarioNames::with)
        .unwrap_or_else(|| ScenarioNames {
            places: None,
            ..ScenarioNames::of(&Scenario::new("new"))
        }))
}

/// Returns the warnings about a script, given the available modules and scripts.
fn warnings_of(
    script: &Compiled,
    file: &Path,
    flags: &ExtensionFlags,
    names: &ScenarioNames,
) -> anyhow::Result<Vec<ScriptError>> {
    let folder = folder_of(file);
    let mut flags = flags.clone();
    // Scripts in the same folder are available to this one.
    flags.scripts.push(folder.to_owned());
    // All modules are opened, because a script may choose any of them.
    let host = extensions::open_untold(&flags, None, Wanted::All)?;
    let registry = host.registry();
    let ending = |path: &PathBuf| path.extension().is_some_and(|e| e == SCRIPT_ENDING);
    let paths = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths.filter(ending).collect();
    // Files are listed in any order, but the warnings must always have the same order.
    paths.sort();
    let texts = paths
        .iter()
        .filter(|path| path.file_name() != file.file_name());
    let others: Vec<String> = texts
        .filter_map(|path| read_text(path, LONGEST_SCRIPT).ok())
        .collect();
    let files = host.files().into_iter();
    let plugins: Vec<String> = files
        // Active plugins are in the registry with complete information.
        .filter(|file| file.state != FileState::Active)
        .filter_map(|file| Some(file.info?.id))
        .collect();
    let surroundings = Surroundings {
        registry: &registry,
        plugins: &plugins,
        others: &others,
        scenario: Some(names),
    };
    Ok(warnings(script, &surroundings))
}

/// Returns a position in a script with its message.
fn place_of(error: &ScriptError) -> serde_json::Value {
    json!({"line": error.line, "column": error.column, "message": error.message})
}
